//! Transaction control: BEGIN, COMMIT, SAVEPOINT and their kin, SET CONSTRAINTS, and the checks before COMMIT. Must not
//! know how a transaction commits.

use super::Session;
use super::dispatch::{done, starts_with};
use super::outcome::Outcome;
use super::statement::Statement;
use crate::error::{Result, SqlError, state};
use crate::parse::{StatementKind, ast};

/// Whether a statement begins or ends a transaction or a part of it.
pub fn controls_transactions(kind: &StatementKind) -> bool {
    use StatementKind as K;
    matches!(
        kind,
        K::Begin(_) | K::Commit { .. } | K::Rollback { .. } | K::Savepoint(_) | K::Release(_) | K::RollbackTo(_)
    )
}

impl Session {
    /// Runs a statement of transaction control.
    pub(super) async fn transaction_control(&mut self, statement: &Statement) -> Result<Outcome> {
        Ok(match &statement.kind {
            StatementKind::Begin(modes) => {
                self.block.begin(*modes).await?;
                done(if starts_with(&statement.text, "start") { "START TRANSACTION" } else { "BEGIN" })
            }
            StatementKind::Commit { chain } => {
                self.before_commit().await?;
                let tag = self.block.commit(*chain).await?;
                match tag {
                    "COMMIT" => self.tell_others(),
                    _ => self.shared.said.lock().forget(),
                }
                done(tag)
            }
            StatementKind::Rollback { chain } => {
                self.block.rollback(*chain).await?;
                self.shared.said.lock().forget();
                done("ROLLBACK")
            }
            StatementKind::Savepoint(name) => {
                self.block.savepoint(name)?;
                self.shared.said.lock().savepoint(name);
                done("SAVEPOINT")
            }
            StatementKind::Release(name) => {
                self.block.release(name)?;
                self.shared.said.lock().release(name);
                done("RELEASE")
            }
            StatementKind::RollbackTo(name) => {
                self.block.rollback_to(name).await?;
                self.shared.said.lock().rollback_to(name);
                done("ROLLBACK")
            }
            _ => return Err(SqlError::internal("a statement that controls no transaction")),
        })
    }

    /// Does the work that precedes a commit, with or without a block. Errors: 23503, 54000, and the
    /// errors of that work.
    pub(super) async fn before_commit(&mut self) -> Result<()> {
        if crate::session::referential::references_of(&self.shared).lock().has_later() {
            Box::pin(self.hold_to_deferred()).await?;
        }
        if !crate::session::cursors::cursors_of(&self.shared).lock().is_empty() {
            Box::pin(self.read_held_cursors()).await?;
        }
        if self.shared.has_on_commit() {
            Box::pin(self.on_commit()).await?;
        }
        if self.block.is_failed() {
            return Ok(());
        }
        let room = self.shared.said.lock().prepare(self.database.channels(), self.shared.database_oid);
        if room.is_err() {
            self.block.abort().await;
        }
        room
    }

    /// Checks the deferred FOREIGN KEYs of the transaction that is about to commit. A failure rolls
    /// it back. Errors: 23503.
    async fn hold_to_deferred(&mut self) -> Result<()> {
        if self.block.is_failed() || !crate::session::referential::references_of(&self.shared).lock().has_later() {
            return Ok(());
        }
        let limits = self.block.limits();
        self.shared.set_deadline(limits.deadline());
        let context = self.begin_statement(Vec::new()).await?;
        let held = limits.run(super::referential::enforce_later(&self.database, &context)).await;
        if held.is_err() {
            self.block.abort().await;
        }
        held
    }

    /// Reads the WITH HOLD cursors to their ends, as PostgreSQL does at COMMIT. If a query fails, the transaction fails
    /// with the same error and is rolled back.
    async fn read_held_cursors(&mut self) -> Result<()> {
        if self.block.is_failed() {
            return Ok(());
        }
        let limits = self.block.limits();
        self.shared.set_deadline(limits.deadline());
        loop {
            let unread = crate::session::cursors::cursors_of(&self.shared).lock().take_unread_held();
            let Some((name, mut cursor)) = unread else { return Ok(()) };
            let read = limits.run(cursor.materialize()).await;
            if let Err(error) = read {
                drop(cursor);
                self.block.abort().await;
                return Err(error);
            }
            crate::session::cursors::cursors_of(&self.shared).lock().put_back(&name, cursor);
        }
    }

    pub(super) async fn set_constraints(
        &mut self,
        alone: bool,
        names: Option<&[ast::Name]>,
        deferred: bool,
    ) -> Result<Outcome> {
        if alone && self.block.status() == super::TransactionStatus::Idle {
            self.shared.notify(super::Notice::warning(
                state::NO_ACTIVE_SQL_TRANSACTION,
                "SET CONSTRAINTS can only be used in transaction blocks",
            ));
            if let Some(names) = names {
                let context = self.begin_statement(Vec::new()).await?;
                super::referential::find_constraints(&context, names, deferred)?;
            }
            return Ok(done("SET CONSTRAINTS"));
        }
        let context = self.begin_statement(Vec::new()).await?;
        super::referential::set_constraints(&self.database, &context, names, deferred).await?;
        Ok(done("SET CONSTRAINTS"))
    }
}
