//! ALTER TABLE and its kin.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::tree::{
    AlterTable, AlterTableAction, AlterTableKind as Kind, Detach, NamedKind, ObjectChange, ObjectReference,
    RelationKind, RelationName, Statement,
};

impl Parser<'_> {
    /// ALTER of a relation behind the word of its kind (AlterTableStmt, RenameStmt and others). Errors: 42601, 0A000.
    pub(crate) fn alter_relation(&mut self, start: usize, kind: RelationKind) -> Result<Statement> {
        if let Some(words) = of_tablespace(kind).filter(|_| self.is_word("all")) {
            self.skip();
            self.expect_words(&["in", "tablespace"])?;
            return Err(SyntaxError::unsupported(words).at(self.span_since(start)));
        }
        let if_exists = self.if_exists();
        let relation = match kind {
            RelationKind::Table | RelationKind::ForeignTable => self.relation_name()?,
            _ => RelationName { name: self.qualified_name()?, only: false },
        };
        if !if_exists && let Some((without, extension)) = self.depends_on_extension(kind)? {
            let named = if kind == RelationKind::Index { NamedKind::Index } else { NamedKind::MaterializedView };
            let change = ObjectChange::DependsOnExtension(without, extension);
            return Ok(self.altered(start, ObjectReference::Named(named, relation.name), change));
        }
        let first = self.mark();
        let actions = match self.lone_action(kind, if_exists)? {
            Some(kind) => vec![AlterTableAction { kind, span: self.span_since(first) }],
            None => self.list(Parser::alter_table_action)?,
        };
        let span = self.span_since(start);
        Ok(Statement::AlterTable(Box::new(AlterTable { kind, if_exists, relation, actions, span })))
    }

    /// \[NO\] DEPENDS ON EXTENSION, if it is next and fits the kind (AlterObjectDependsStmt).
    fn depends_on_extension(&mut self, kind: RelationKind) -> Result<Option<(bool, crate::tree::Ident)>> {
        if !matches!(kind, RelationKind::Index | RelationKind::MaterializedView) {
            return Ok(None);
        }
        let without = self.are_words(&["no", "depends"]);
        if !without && !self.is_word("depends") {
            return Ok(None);
        }
        self.word("no");
        self.expect_words(&["depends", "on", "extension"])?;
        Ok(Some((without, self.column_name()?)))
    }

    /// An action that stands for itself, if it is next.
    fn lone_action(&mut self, kind: RelationKind, if_exists: bool) -> Result<Option<Kind>> {
        let table = kind == RelationKind::Table;
        Ok(Some(match () {
            () if self.word("rename") => self.rename_relation(kind)?,
            () if kind != RelationKind::Index && self.words(&["set", "schema"]) => Kind::SetSchema(self.column_name()?),
            () if table && self.word("attach") => {
                self.expect_word("partition")?;
                let name = self.qualified_name()?;
                Kind::AttachPartition(name, Some(self.partition_bound()?))
            }
            () if kind == RelationKind::Index && !if_exists && self.word("attach") => {
                self.expect_word("partition")?;
                Kind::AttachPartition(self.qualified_name()?, None)
            }
            () if table && self.word("detach") => {
                self.expect_word("partition")?;
                let name = self.qualified_name()?;
                let how = match self.one_word_of(&["concurrently", "finalize"]) {
                    Some(0) => Some(Detach::Concurrently),
                    Some(_) => Some(Detach::Finalize),
                    None => None,
                };
                Kind::DetachPartition(name, how)
            }
            () if kind == RelationKind::Sequence => match self.sequence_change()? {
                Some(change) => change,
                None => return Ok(None),
            },
            () => return Ok(None),
        }))
    }

    /// The options of ALTER SEQUENCE, if one is next (AlterSeqStmt).
    fn sequence_change(&mut self) -> Result<Option<Kind>> {
        // NO begins an action of tables too.
        if self.are_words(&["no", "inherit"]) || self.are_words(&["no", "force"]) {
            return Ok(None);
        }
        let options = self.sequence_options()?;
        Ok(if options.is_empty() { None } else { Some(Kind::SequenceOptions(options)) })
    }

    /// What stands behind RENAME (RenameStmt).
    fn rename_relation(&mut self, kind: RelationKind) -> Result<Kind> {
        if self.word("to") {
            return Ok(Kind::Rename(self.column_name()?));
        }
        if matches!(kind, RelationKind::Index | RelationKind::Sequence) {
            return Err(self.error());
        }
        let constraint = kind == RelationKind::Table && self.word("constraint");
        if !constraint {
            self.word("column");
        }
        let old = self.column_name()?;
        self.expect_word("to")?;
        let new = self.column_name()?;
        Ok(if constraint { Kind::RenameConstraint(old, new) } else { Kind::RenameColumn(old, new) })
    }
}

/// The first words of the statement about all relations of a tablespace, for the kinds that have one.
fn of_tablespace(kind: RelationKind) -> Option<&'static str> {
    match kind {
        RelationKind::Table => Some("ALTER TABLE ALL IN TABLESPACE"),
        RelationKind::Index => Some("ALTER INDEX ALL IN TABLESPACE"),
        RelationKind::MaterializedView => Some("ALTER MATERIALIZED VIEW ALL IN TABLESPACE"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::tree::Statement;

    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/alter_table.sql"));
    }

    #[test]
    #[allow(clippy::panic)]
    fn actions_have_places() {
        let text = "alter table only t add a int, drop column if exists b cascade";
        let Statement::AlterTable(table) = super::super::cases::only(text) else { panic!() };
        let places: Vec<&str> =
            table.actions.iter().map(|action| &text[action.span.start as usize..action.span.end as usize]).collect();
        assert_eq!(places, ["add a int", "drop column if exists b cascade"]);
        assert!(table.relation.only);
    }
}
