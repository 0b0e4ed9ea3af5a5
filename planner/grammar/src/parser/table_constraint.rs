//! Constraints of tables, and the parts that they share with those of columns.

use super::Parser;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::tree::{
    Deferral, ForeignAction, ForeignMatch, Ident, IndexClauses, IndexKey, Operator, References, TableConstraint,
    TableConstraintKind as Kind,
};

/// What stands behind a constraint of a table.
#[derive(Default)]
struct Attributes {
    deferral: Deferral,
    not_valid: bool,
    no_inherit: bool,
}

/// The attributes that a kind of constraint may have.
struct Allowed {
    kind: &'static str,
    deferral: bool,
    not_valid: bool,
    no_inherit: bool,
}

/// Those of a constraint with an index.
const fn of_index(kind: &'static str) -> Allowed {
    Allowed { kind, deferral: true, not_valid: false, no_inherit: false }
}

impl Parser<'_> {
    /// Whether a constraint of a table is next, and no column.
    pub(crate) fn is_table_constraint(&self) -> bool {
        ["constraint", "check", "unique", "primary", "foreign"].iter().any(|word| self.is_word(word))
            || self.is_word("exclude") && (self.is_word_at(1, "using") || self.is_sign_at(1, '('))
    }

    /// A constraint of a table (TableConstraint), CONSTRAINT included. Errors: 42601; 0A000 for an attribute that does not
    /// fit.
    pub fn table_constraint(&mut self) -> Result<TableConstraint> {
        let start = self.mark();
        let name = if self.word("constraint") { Some(self.column_name()?) } else { None };
        let (kind, allowed) = match () {
            () if self.word("check") => {
                self.expect_sign('(')?;
                let condition = self.expr()?;
                self.expect_sign(')')?;
                let allowed = Allowed { kind: "CHECK", deferral: false, not_valid: true, no_inherit: true };
                (Kind::Check(condition), allowed)
            }
            () if self.word("unique") => (self.unique_constraint()?, of_index("UNIQUE")),
            () if self.word("primary") => {
                self.expect_word("key")?;
                (self.primary_key_constraint()?, of_index("PRIMARY KEY"))
            }
            () if self.word("foreign") => {
                self.expect_word("key")?;
                let columns = self.list_in_parentheses(Parser::column_name)?;
                self.expect_word("references")?;
                (Kind::ForeignKey(columns, self.references()?), of_foreign_key())
            }
            () if self.word("exclude") => (self.exclude_constraint()?, of_index("EXCLUDE")),
            () => return Err(self.error()),
        };
        let Attributes { deferral, not_valid, no_inherit } = self.constraint_attributes(&allowed)?;
        Ok(TableConstraint { name, kind, deferral, not_valid, no_inherit, span: self.span_since(start) })
    }

    /// The attributes of ALTER CONSTRAINT, whose constraint is a foreign key. Errors: 42601, 0A000.
    pub(crate) fn foreign_key_deferral(&mut self) -> Result<Deferral> {
        Ok(self.constraint_attributes(&Allowed { not_valid: false, ..of_foreign_key() })?.deferral)
    }

    fn unique_constraint(&mut self) -> Result<Kind> {
        if self.is_word("using") {
            return self.existing_index(false);
        }
        let nulls_not_distinct = self.nulls_not_distinct()?;
        let columns = self.list_in_parentheses(Parser::column_name)?;
        let include = self.included_columns()?;
        Ok(Kind::Unique(columns, self.index_clauses(nulls_not_distinct, include)?))
    }

    fn primary_key_constraint(&mut self) -> Result<Kind> {
        if self.is_word("using") {
            return self.existing_index(true);
        }
        let columns = self.list_in_parentheses(Parser::column_name)?;
        let include = self.included_columns()?;
        Ok(Kind::PrimaryKey(columns, self.index_clauses(false, include)?))
    }

    fn existing_index(&mut self, primary: bool) -> Result<Kind> {
        self.expect_words(&["using", "index"])?;
        Ok(Kind::UsingIndex(primary, self.column_name()?))
    }

    fn included_columns(&mut self) -> Result<Vec<Ident>> {
        if self.word("include") { self.list_in_parentheses(Parser::column_name) } else { Ok(Vec::new()) }
    }

    fn exclude_constraint(&mut self) -> Result<Kind> {
        let method = self.access_method()?;
        let elements = self.list_in_parentheses(Parser::exclusion)?;
        let include = self.included_columns()?;
        let index: IndexClauses = self.index_clauses(false, include)?;
        let mut predicate = None;
        if self.word("where") {
            self.expect_sign('(')?;
            predicate = Some(self.expr()?);
            self.expect_sign(')')?;
        }
        Ok(Kind::Exclude { method, elements, index, predicate })
    }

    /// A key and its operator (ExclusionConstraintElem).
    fn exclusion(&mut self) -> Result<(IndexKey, Operator)> {
        let key = self.index_key()?;
        self.expect_word("with")?;
        let operator = if self.is_word("operator") && self.is_sign_at(1, '(') {
            self.any_operator()?
        } else {
            self.operator_name()?
        };
        Ok((key, operator))
    }

    /// What stands behind REFERENCES of a foreign key. Errors: 42601, 0A000.
    pub(crate) fn references(&mut self) -> Result<References> {
        let table = self.qualified_name()?;
        let columns = self.optional_columns()?;
        let matching = self.foreign_match()?;
        let mut on_delete = None;
        let mut on_update = None;
        while !(on_delete.is_some() && on_update.is_some()) && self.is_word("on") {
            let start = self.mark();
            self.skip();
            if on_delete.is_none() && self.word("delete") {
                on_delete = Some(self.foreign_action()?);
            } else if on_update.is_none() && self.word("update") {
                let (action, columns) = self.foreign_action()?;
                if !columns.is_empty() {
                    let words = if action == ForeignAction::SetNull { "SET NULL" } else { "SET DEFAULT" };
                    let message = format!("a column list with {words} is only supported for ON DELETE actions");
                    return Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, message).at(self.span_since(start)));
                }
                on_update = Some(action);
            } else {
                return Err(self.error());
            }
        }
        let (on_delete, on_delete_columns) = on_delete.unwrap_or_default();
        let on_update = on_update.unwrap_or_default();
        Ok(References { table, columns, matching, on_delete, on_delete_columns, on_update })
    }

    /// MATCH, if it is next (key_match).
    fn foreign_match(&mut self) -> Result<ForeignMatch> {
        let start = self.mark();
        if !self.word("match") {
            return Ok(ForeignMatch::Simple);
        }
        match self.one_word_of(&["simple", "full", "partial"]) {
            Some(0) => Ok(ForeignMatch::Simple),
            Some(1) => Ok(ForeignMatch::Full),
            Some(_) => {
                let error = SyntaxError::new(FEATURE_NOT_SUPPORTED, "MATCH PARTIAL not yet implemented");
                Err(error.at(self.span_since(start)))
            }
            None => Err(self.error()),
        }
    }

    /// An action and its columns (key_action).
    fn foreign_action(&mut self) -> Result<(ForeignAction, Vec<Ident>)> {
        let action = match self.one_word_of(&["no", "restrict", "cascade", "set"]) {
            Some(0) => {
                self.expect_word("action")?;
                ForeignAction::NoAction
            }
            Some(1) => ForeignAction::Restrict,
            Some(2) => ForeignAction::Cascade,
            Some(_) => {
                let action = match self.one_word_of(&["null", "default"]) {
                    Some(0) => ForeignAction::SetNull,
                    Some(_) => ForeignAction::SetDefault,
                    None => return Err(self.error()),
                };
                return Ok((action, self.optional_columns()?));
            }
            None => return Err(self.error()),
        };
        Ok((action, Vec::new()))
    }

    /// The attributes of a constraint (ConstraintAttributeSpec). PostgreSQL says no place where one does not fit.
    fn constraint_attributes(&mut self, allowed: &Allowed) -> Result<Attributes> {
        let mut found = Attributes::default();
        loop {
            let start = self.mark();
            let mut deferrable = None;
            let mut deferred = None;
            match self.one_word_of(&["not", "deferrable", "initially", "no"]) {
                Some(0) if self.word("deferrable") => deferrable = Some(false),
                Some(0) => {
                    self.expect_word("valid")?;
                    found.not_valid = true;
                }
                Some(1) => deferrable = Some(true),
                Some(2) => match self.one_word_of(&["deferred", "immediate"]) {
                    Some(at) => deferred = Some(at == 0),
                    None => return Err(self.error()),
                },
                Some(_) => {
                    self.expect_word("inherit")?;
                    found.no_inherit = true;
                }
                None => break,
            }
            let conflicts = [(deferrable, found.deferral.deferrable), (deferred, found.deferral.deferred)];
            let conflict = conflicts.iter().any(|(new, old)| new.is_some() && old.is_some() && new != old);
            found.deferral.deferrable = deferrable.or(found.deferral.deferrable);
            found.deferral.deferred = deferred.or(found.deferral.deferred);
            let contrary = found.deferral.deferrable == Some(false) && found.deferral.deferred == Some(true);
            let message = match () {
                () if contrary => "constraint declared INITIALLY DEFERRED must be DEFERRABLE",
                () if conflict => "conflicting constraint properties",
                () => continue,
            };
            return Err(SyntaxError::syntax(message).at(self.span_since(start)));
        }
        let deferred = found.deferral.deferrable == Some(true) || found.deferral.deferred == Some(true);
        let words = match () {
            () if deferred && !allowed.deferral => "DEFERRABLE",
            () if found.not_valid && !allowed.not_valid => "NOT VALID",
            () if found.no_inherit && !allowed.no_inherit => "NO INHERIT",
            () => return Ok(found),
        };
        let message = format!("{} constraints cannot be marked {words}", allowed.kind);
        Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, message))
    }
}

fn of_foreign_key() -> Allowed {
    Allowed { kind: "FOREIGN KEY", deferral: true, not_valid: true, no_inherit: false }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/table_constraint.sql"));
    }
}
