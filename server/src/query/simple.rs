//! The simple protocol: one string with any number of statements in one implicit transaction.

use super::retry::{Tries, is_transaction_control};
use super::rows::{Formats, Rows};
use crate::connection::Connection;
use crate::error::{ConnectionError, Result};
use planner::session::{Outcome, Prepared, RowsTag, Statement, TransactionStatus};
use planner::types::Datum;
use planner::{SqlError, state};
use std::sync::Arc;

/// A message with at most this many statements counts as short.
const MANY: usize = 16;

impl Connection {
    /// Runs a query string and answers up to ReadyForQuery.
    pub(crate) async fn simple_query(&mut self, sql: &str) -> Result<()> {
        self.statements.remove("");
        self.portals.remove("");
        let alone = !self.batch.is_open();
        self.batch.close();
        self.statements.end_log();
        if alone {
            self.backend.cancel.reset();
        }
        self.out.begin_batch();
        let position = self.out.position();
        let mut repeatable = alone && self.session.status() == TransactionStatus::Idle;
        let mut tries = Tries::default();
        self.session.set_retries(0);
        loop {
            match self.run_string(sql, &mut repeatable).await {
                Ok(()) => break,
                Err(ConnectionError::Sql(error)) => {
                    if repeatable && !self.out.was_sent() && error.is_retryable() {
                        self.undo().await;
                        if tries.again(&error, &self.backend.cancel).await {
                            self.session.set_retries(tries.count());
                            self.session.take_notices();
                            self.out.take_back(position);
                            continue;
                        }
                    }
                    self.report(&error).await;
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        self.ready().await
    }

    async fn run_string(&mut self, sql: &str, repeatable: &mut bool) -> Result<()> {
        if let Some((prepared, values)) = self.session.prepare_lifted(sql).await {
            self.run_one(&prepared, values, true, repeatable).await?;
            return Ok(self.session.end_implicit().await?);
        }
        let statements = self.session.parse(sql)?;
        if statements.is_empty() {
            self.out.bare(b'I');
        }
        let count = statements.len();
        for (index, statement) in statements.into_iter().enumerate() {
            // Many short statements can take long together, so the loop yields to other connections of the thread.
            if count > MANY {
                tokio::task::yield_now().await;
            }
            self.run_statement(statement, index + 1 == count, repeatable).await?;
        }
        Ok(self.session.end_implicit().await?)
    }

    async fn run_statement(&mut self, statement: Arc<Statement>, last: bool, repeatable: &mut bool) -> Result<()> {
        let prepared = self.session.prepare(statement, &[]).await?;
        if !prepared.parameter_types().is_empty() {
            return Err(SqlError::new(state::UNDEFINED_PARAMETER, "there is no parameter $1").into());
        }
        self.run_one(&prepared, Vec::new(), last, repeatable).await
    }

    async fn run_one(
        &mut self,
        prepared: &Arc<Prepared>,
        parameters: Vec<Datum>,
        last: bool,
        repeatable: &mut bool,
    ) -> Result<()> {
        let tag = match self.run_prepared(prepared, parameters).await? {
            Outcome::Command { tag } => {
                *repeatable &= !is_transaction_control(&tag);
                self.forget_ended()?;
                tag
            }
            Outcome::Rows { columns, stream, tag } => {
                let formats = if matches!(tag, RowsTag::Binary(_)) { Formats::binary() } else { Formats::text() };
                self.out.row_description(&columns, |index| formats.code(index));
                let mut rows = Rows::new(columns, formats, stream, tag);
                self.send_rows(&mut rows, None).await?;
                rows.tag()
            }
            Outcome::CopyIn(copy) => {
                *repeatable = false;
                Box::pin(self.copy_in(*copy)).await?
            }
            Outcome::CopyOut(copy) => Box::pin(self.copy_out(copy)).await?,
            Outcome::Empty => {
                self.out.bare(b'I');
                return Ok(());
            }
        };
        // The transaction commits before the last statement's CommandComplete, which tells the client of the commit.
        if last {
            self.session.end_implicit().await?;
        }
        self.send_notices();
        self.out.complete(&tag);
        Ok(())
    }
}
