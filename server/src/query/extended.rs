//! The extended protocol: Parse, Bind, Describe, Execute, Close, Flush and Sync.
//!
//! The messages between two Syncs form a batch. Its replies wait in the output buffer. The server keeps up to
//! 1 MiB of its messages. If a batch outside a transaction block meets a conflict, the server runs it again
//! from these messages.

use super::portal::{Portal, PortalState, already_there};
use super::retry::{Tries, is_transaction_control};
use super::rows::{Formats, Rows};
use crate::connection::Connection;
use crate::error::{ConnectionError, Result, protocol_violation};
use crate::protocol::frontend::{Bind, Target};
use crate::protocol::{Frame, Message};
use crate::types::parameters;
use planner::session::{Outcome, RowsTag, TransactionStatus};
use planner::types::text::{Moment, ObjectNames};
use planner::{SqlError, state};

/// Bytes of messages that are kept to run a batch again. A longer batch runs once.
const KEPT_BYTES: usize = 1024 * 1024;

/// The messages since the last Sync.
#[derive(Debug, Default)]
pub struct Batch {
    open: bool,
    /// An error was reported, so messages are skipped until Sync.
    skipping: bool,
    /// A conflict that is not reported yet. Sync runs the batch again.
    conflict: Option<SqlError>,
    /// The messages of the batch. `None` if the batch cannot run again.
    frames: Option<Vec<Frame>>,
    kept_bytes: usize,
    /// Length of the output buffer before the batch.
    position: usize,
}

impl Batch {
    /// Whether the batch has messages and no Sync yet.
    pub fn is_open(&self) -> bool {
        self.open
    }
    /// Whether messages are skipped until Sync.
    pub fn is_skipping(&self) -> bool {
        self.skipping
    }
    /// Whether a conflict is kept for Sync.
    pub fn has_conflict(&self) -> bool {
        self.conflict.is_some()
    }
    /// Ends the batch and forgets its messages.
    pub fn close(&mut self) {
        *self = Batch::default();
    }
    fn keep(&mut self, frame: &Frame) {
        self.kept_bytes += frame.body.len() + size_of::<Frame>();
        if self.kept_bytes > KEPT_BYTES {
            self.frames = None;
        } else if let Some(frames) = &mut self.frames {
            frames.push(frame.clone());
        }
    }
}

impl Connection {
    /// Handles one message of a batch, other than Sync.
    pub(crate) async fn extended(&mut self, frame: Frame) -> Result<()> {
        if !self.batch.open {
            self.open_batch();
        }
        if frame.kind == b'H' {
            self.fail_with_conflict().await?;
            return self.flush().await;
        }
        self.batch.keep(&frame);
        if self.batch.conflict.is_some() {
            return Ok(());
        }
        match self.run_frame(frame).await {
            Err(ConnectionError::Sql(error)) => self.batch_error(error).await,
            other => other,
        }
    }

    /// Ends the batch: commits its implicit transaction, or runs the batch again after a conflict.
    pub(crate) async fn sync(&mut self) -> Result<()> {
        let mut tries = Tries::default();
        while !self.batch.skipping {
            let error = match self.batch.conflict.take() {
                Some(error) => error,
                None => match self.session.end_implicit().await {
                    Ok(()) => break,
                    Err(error) => {
                        self.undo().await;
                        error
                    }
                },
            };
            let frames = self.batch.frames.clone().filter(|_| !self.out.was_sent() && error.is_retryable());
            let Some(frames) = frames else {
                self.fail_batch(&error).await?;
                break;
            };
            if !tries.again(&error, &self.backend.cancel).await {
                self.fail_batch(&error).await?;
                break;
            }
            self.session.set_retries(tries.count());
            self.session.take_notices();
            self.statements.take_back();
            self.out.take_back(self.batch.position);
            Box::pin(self.run_again(frames)).await?;
        }
        self.batch.close();
        self.statements.end_log();
        self.ready().await
    }

    /// Handles a malformed Sync: reports the error, undoes the batch and ends it.
    pub(crate) async fn wrong_sync(&mut self, error: &SqlError) -> Result<()> {
        self.report(error).await;
        self.batch.close();
        self.statements.end_log();
        self.ready().await
    }

    async fn run_again(&mut self, frames: Vec<Frame>) -> Result<()> {
        for frame in frames {
            match self.run_frame(frame).await {
                Ok(()) => {}
                Err(ConnectionError::Sql(error)) => {
                    self.batch_error(error).await?;
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    fn open_batch(&mut self) {
        self.backend.cancel.reset();
        self.session.set_retries(0);
        self.out.begin_batch();
        self.batch.open = true;
        self.batch.position = self.out.position();
        if self.session.status() == TransactionStatus::Idle {
            self.batch.frames = Some(Vec::new());
            self.statements.begin_log();
        }
    }

    /// Handles the error of a message. Keeps a conflict for Sync if the batch can run again. Reports every other error.
    async fn batch_error(&mut self, error: SqlError) -> Result<()> {
        if error.is_retryable() && self.batch.frames.is_some() && !self.out.was_sent() {
            self.undo().await;
            self.batch.conflict = Some(error);
            return Ok(());
        }
        self.fail_batch(&error).await
    }

    /// Reports a conflict that was kept for Sync, because another message needs an answer first. Later messages are
    /// skipped up to Sync.
    pub(crate) async fn fail_with_conflict(&mut self) -> Result<()> {
        match self.batch.conflict.take() {
            Some(error) => self.fail_batch(&error).await,
            None => Ok(()),
        }
    }

    /// Reports an error and flushes it at once. A Flush after the failed message is skipped like all messages up to
    /// Sync. A client that waits for the answer therefore sends no Sync before it.
    async fn fail_batch(&mut self, error: &SqlError) -> Result<()> {
        self.report(error).await;
        self.batch.skipping = true;
        self.batch.frames = None;
        self.say_last_word()?;
        self.flush().await
    }

    async fn run_frame(&mut self, frame: Frame) -> Result<()> {
        match Message::decode(frame, self.encoding())? {
            Message::Parse { name, sql, parameter_oids } => Box::pin(self.parse(name, &sql, &parameter_oids)).await,
            Message::Bind(bind) => self.bind(bind),
            Message::Describe { target, name } => self.describe(target, &name),
            Message::Execute { portal, max_rows } => self.execute(portal, max_rows).await,
            Message::Close { target, name } => {
                match target {
                    Target::Statement => {
                        self.statements.remove(&name);
                        self.session.note_prepared(&name, None);
                    }
                    Target::Portal => {
                        self.portals.remove(&name);
                        self.session.forget_cursor(&name);
                    }
                }
                self.out.bare(b'3');
                Ok(())
            }
            other => Err(protocol_violation(format!("unexpected message {other:?}")).into()),
        }
    }

    async fn parse(&mut self, name: String, sql: &str, parameter_oids: &[u32]) -> Result<()> {
        self.statements.check_free(&name)?;
        if name.is_empty() {
            // A failed Parse removes the statement of that name.
            self.statements.remove(&name);
        }
        let mut statements = self.session.parse_again(sql)?;
        if statements.len() > 1 {
            return Err(SqlError::syntax("cannot insert multiple commands into a prepared statement").into());
        }
        let statement = match statements.pop() {
            Some(statement) => Some(self.session.prepare(statement, parameter_oids).await?),
            None => None,
        };
        if !name.is_empty() {
            if let Some(prepared) = statement.as_deref() {
                self.session.keep(prepared)?;
            }
            self.session.note_prepared(&name, statement.as_deref());
        }
        self.statements.insert(name, statement);
        self.out.bare(b'1');
        Ok(())
    }

    fn bind(&mut self, bind: Bind) -> Result<()> {
        let statement = self.statements.get(&bind.statement)?.clone();
        self.session.check_usable(statement.as_deref())?;
        self.portals.check_free(&bind.portal)?;
        if self.session.cursor_columns(&bind.portal).is_some() {
            return Err(already_there(&bind.portal).into());
        }
        let types = statement.as_ref().map_or(&[][..], |prepared| prepared.parameter_types());
        let name = &bind.statement;
        if bind.parameters.len() != types.len() {
            return Err(protocol_violation(format!(
                "bind message supplies {} parameters, but prepared statement \"{name}\" requires {}",
                bind.parameters.len(),
                types.len()
            ))
            .into());
        }
        let (settings, catalog) = (self.session.settings(), self.session.catalog());
        let now = || self.session.transaction_time();
        let context =
            settings.text_input(catalog.as_deref().map(|catalog| catalog as &dyn ObjectNames), Moment::Asked(&now));
        let current = |ty: &planner::types::SqlType| catalog.as_ref().map_or(*ty, |catalog| catalog.current_type(*ty));
        let types: Vec<_> = types.iter().map(current).collect();
        let parameters =
            parameters::decode(&types, &bind.parameter_formats, &bind.parameters, self.encoding(), &context)?;
        let columns = statement.as_ref().and_then(|prepared| self.session.portal_columns(prepared));
        let columns = columns.map(|columns| columns.len());
        let formats = Formats::new(bind.result_formats, columns)?;
        let (state, after) = (PortalState::Bound(parameters), self.session.command());
        self.portals.insert(bind.portal, Portal { statement, formats, state, after })?;
        self.out.bare(b'2');
        Ok(())
    }

    fn describe(&mut self, target: Target, name: &str) -> Result<()> {
        let (statement, formats) = match target {
            Target::Statement => {
                let statement = self.statements.get(name)?.clone();
                (statement, Formats::text())
            }
            Target::Portal => match self.session.cursor_columns(name) {
                // A cursor of DECLARE is a portal too.
                Some(columns) => {
                    self.out.row_description(&columns, |_| Formats::text().code(0));
                    return Ok(());
                }
                None => {
                    let portal = self.portals.get(name)?;
                    (portal.statement.clone(), portal.formats.clone())
                }
            },
        };
        if let Some(prepared) = statement.as_deref().filter(|prepared| prepared.columns().is_some()) {
            self.session.check_usable(Some(prepared))?;
        }
        if target == Target::Statement {
            let types = statement.as_ref().map_or(&[][..], |prepared| prepared.parameter_types());
            self.out.parameter_description(types.iter().map(|ty| ty.oid()));
        }
        match statement.as_ref().and_then(|prepared| self.session.portal_columns(prepared)) {
            Some(columns) => self.out.row_description(&columns, |index| formats.code(index)),
            None => self.out.bare(b'n'),
        }
        Ok(())
    }

    async fn execute(&mut self, name: String, max_rows: i32) -> Result<()> {
        // Zero means no limit. PostgreSQL treats negative numbers the same way.
        let limit = u64::try_from(max_rows).ok().filter(|rows| *rows > 0);
        if self.session.cursor_columns(&name).is_some() {
            return Box::pin(self.execute_cursor(&name, limit)).await;
        }
        if let Some(statement) = &self.portals.get(&name)?.statement {
            self.session.check_usable(Some(statement))?;
        }
        let mut portal = self.portals.take(&name)?;
        let Some(prepared) = portal.statement.clone() else {
            self.out.bare(b'I');
            self.portals.put_back(name, portal);
            return Ok(());
        };
        let mut rows = match std::mem::replace(&mut portal.state, PortalState::Finished) {
            PortalState::Suspended(rows) => rows,
            PortalState::Exhausted => {
                portal.state = PortalState::Exhausted;
                self.portals.put_back(name, portal);
                self.out.complete("SELECT 0");
                return Ok(());
            }
            PortalState::Finished => {
                self.portals.put_back(name.clone(), portal);
                return Err(SqlError::new(
                    state::OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("portal \"{name}\" cannot be run"),
                )
                .into());
            }
            PortalState::Bound(parameters) => match self.run_prepared(&prepared, parameters).await? {
                Outcome::Rows { columns, stream, tag } => {
                    portal.formats.check(columns.len())?;
                    Box::new(Rows::new(columns, portal.formats.clone(), stream, tag))
                }
                other => {
                    self.finish_command(other).await?;
                    self.portals.put_back(name, portal);
                    return Ok(());
                }
            },
        };
        if self.send_rows(&mut rows, limit).await? {
            self.send_notices();
            self.out.complete(&rows.tag());
            if matches!(rows.kind(), RowsTag::Select) {
                portal.state = PortalState::Exhausted;
            }
        } else {
            self.out.bare(b's');
            portal.state = PortalState::Suspended(rows);
        }
        self.portals.put_back(name, portal);
        Ok(())
    }

    /// Execute of a cursor that DECLARE made: sends rows from its current position.
    async fn execute_cursor(&mut self, name: &str, limit: Option<u64>) -> Result<()> {
        let count = limit.map_or("ALL".to_string(), |limit| limit.to_string());
        let sql = format!("FETCH FORWARD {count} FROM \"{}\"", name.replace('"', "\"\""));
        for statement in self.session.parse(&sql)? {
            let prepared = self.session.prepare(statement, &[]).await?;
            let Outcome::Rows { columns, stream, .. } = self.run_prepared(&prepared, Vec::new()).await? else {
                return Err(SqlError::internal("FETCH without rows").into());
            };
            let mut rows = Rows::new(columns, Formats::text(), stream, RowsTag::Select);
            let ended = self.send_rows(&mut rows, limit).await?;
            self.send_notices();
            if ended {
                self.out.complete(&rows.tag());
            } else {
                self.out.bare(b's');
            }
        }
        Ok(())
    }

    async fn finish_command(&mut self, outcome: Outcome) -> Result<()> {
        let tag = match outcome {
            Outcome::Command { tag } => {
                self.forget_ended()?;
                if is_transaction_control(&tag) {
                    self.batch.frames = None;
                    if self.session.status() == TransactionStatus::Idle {
                        self.portals.clear();
                    }
                }
                tag
            }
            Outcome::CopyIn(copy) => {
                self.batch.frames = None;
                Box::pin(self.copy_in(*copy)).await?
            }
            Outcome::CopyOut(copy) => Box::pin(self.copy_out(copy)).await?,
            Outcome::Empty => {
                self.out.bare(b'I');
                return Ok(());
            }
            Outcome::Rows { .. } => return Err(SqlError::internal("rows where a command was expected").into()),
        };
        self.send_notices();
        self.out.complete(&tag);
        Ok(())
    }
}
