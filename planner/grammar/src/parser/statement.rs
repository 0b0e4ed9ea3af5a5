//! Statements, told apart by their first words. Each is read in the file of its kind.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::keyword::Keyword;
use crate::tree::{Drop, ObjectReference, RelationKind, RoleKind, RoleSpec, RoleWord, Statement};

impl Parser<'_> {
    /// One statement of any kind, without its semicolon. Errors: 42601.
    pub fn statement(&mut self) -> Result<Statement> {
        if self.is_sign('(') {
            return self.query_or_write();
        }
        let start = self.mark();
        let Some(word) = self.keyword().map(Keyword::name) else { return Err(self.error()) };
        if ["select", "values", "table", "with", "insert", "update", "delete", "merge"].contains(&word) {
            return self.query_or_write();
        }
        self.skip();
        match word {
            "abort" => self.rollback(true),
            "alter" => self.alter(start),
            "analyze" | "analyse" => self.analyze(start),
            "begin" => self.begin(),
            "call" => self.call_statement(start),
            "check" => self.check(start),
            "checkpoint" => Ok(Statement::Checkpoint),
            "close" => self.close(),
            "cluster" => self.cluster(),
            "comment" => {
                self.expect_word("on")?;
                self.comment(start)
            }
            "commit" => self.commit(false),
            "copy" => self.copy(start),
            "create" => self.create(start),
            "deallocate" => self.deallocate(),
            "declare" => self.declare_cursor(),
            "discard" => self.discard(),
            "do" => self.do_block(start),
            "drop" => self.drop_any(start),
            "end" => self.commit(true),
            "execute" => self.execute(start),
            "explain" => self.explain(),
            "fetch" => self.fetch(false),
            "grant" => self.grant(start),
            "import" => {
                self.expect_words(&["foreign", "schema"])?;
                Err(SyntaxError::unsupported("IMPORT FOREIGN SCHEMA"))
            }
            "listen" => self.listen(),
            "load" => self.load(),
            "lock" => self.lock_tables(start),
            "move" => self.fetch(true),
            "notify" => self.notify(),
            "prepare" => self.prepare(),
            "reassign" => self.reassign_owned(start),
            "refresh" => self.refresh(start),
            "reindex" => self.reindex(start),
            "release" => self.release(),
            "reset" => self.reset(),
            "revoke" => self.revoke(start),
            "rollback" => self.rollback(false),
            "savepoint" => self.savepoint(),
            "security" => {
                self.expect_word("label")?;
                Err(SyntaxError::unsupported("SECURITY LABEL"))
            }
            "set" => self.set(),
            "show" => self.show(),
            "start" => self.start_transaction(),
            "truncate" => self.truncate(start),
            "unlisten" => self.unlisten(),
            "vacuum" => self.vacuum(start),
            _ => {
                self.back_to(start);
                Err(self.error())
            }
        }
    }

    /// ALTER, behind that word.
    fn alter(&mut self, start: usize) -> Result<Statement> {
        let refuse = |what: &str| Err(SyntaxError::unsupported(format!("ALTER {what}")));
        match () {
            () if self.word("table") => self.alter_relation(start, RelationKind::Table),
            () if self.word("view") => self.alter_relation(start, RelationKind::View),
            () if self.word("index") => self.alter_relation(start, RelationKind::Index),
            () if self.word("sequence") => self.alter_relation(start, RelationKind::Sequence),
            () if self.word("materialized") => {
                self.expect_word("view")?;
                self.alter_relation(start, RelationKind::MaterializedView)
            }
            () if self.word("foreign") => {
                if self.word("table") {
                    return self.alter_relation(start, RelationKind::ForeignTable);
                }
                self.expect_words(&["data", "wrapper"])?;
                refuse("FOREIGN DATA WRAPPER")
            }
            () if self.word("server") => refuse("SERVER"),
            () if self.words(&["user", "mapping", "for"]) => refuse("USER MAPPING"),
            () if self.word("type") => self.alter_type(start),
            () if self.word("domain") => self.alter_domain(start),
            () if self.word("role") => self.alter_role(start, RoleWord::Role),
            () if self.word("user") => self.alter_role(start, RoleWord::User),
            () if self.word("group") => self.alter_role(start, RoleWord::Group),
            () if self.word("database") => self.alter_database(start),
            () if self.word("system") => self.alter_system(start),
            () if self.word("default") => {
                self.expect_word("privileges")?;
                self.default_privileges(start)
            }
            () => self.alter_object(start),
        }
    }

    /// DROP USER MAPPING, behind DROP.
    fn drop_user_mapping(&mut self, start: usize) -> Result<Statement> {
        self.expect_words(&["user", "mapping"])?;
        let if_exists = self.if_exists();
        self.expect_word("for")?;
        // USER means the current role here.
        let place = self.here();
        let role = match self.word("user") {
            true => RoleSpec { kind: RoleKind::CurrentUser, span: place },
            false => self.role()?,
        };
        self.expect_word("server")?;
        let objects = vec![ObjectReference::UserMapping(role, self.column_name()?)];
        let span = self.span_since(start);
        Ok(Statement::Drop(Box::new(Drop {
            objects,
            if_exists,
            cascade: false,
            concurrently: false,
            force: false,
            span,
        })))
    }

    /// DROP, behind that word.
    fn drop_any(&mut self, start: usize) -> Result<Statement> {
        match () {
            () if self.are_words(&["user", "mapping", "for"]) || self.are_words(&["user", "mapping", "if"]) => {
                self.drop_user_mapping(start)
            }
            () if self.word("role") => self.drop_role(start, RoleWord::Role),
            () if self.word("user") => self.drop_role(start, RoleWord::User),
            () if self.word("group") => self.drop_role(start, RoleWord::Group),
            () if self.word("owned") => self.drop_owned(start),
            () => self.drop(start),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/statement.sql"));
    }
}
