//! DECLARE, FETCH, MOVE and CLOSE.

use super::current_rows;
use super::cursors::{Cursor, Fetched, Followed};
use super::outcome::{Outcome, OutputColumn, RowsTag};
use super::prepared::Prepared;
use super::query::{IdentifiedTables, PlannedQuery, QueryKind};
use super::{Session, TransactionStatus};
use crate::error::{Result, SqlError, state};
use crate::parse::{DeclareCursor, FetchDirection};
use crate::types::Datum;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use std::sync::Arc;

fn done(tag: impl Into<String>) -> Outcome {
    Outcome::Command { tag: tag.into() }
}

impl Session {
    /// DECLARE. Errors: 25P01 outside a block without WITH HOLD, 42P03 for a name in use.
    pub(super) async fn declare_cursor(
        &mut self,
        declare: &DeclareCursor,
        prepared: &Prepared,
        parameters: Vec<Datum>,
    ) -> Result<Outcome> {
        let statement = &prepared.statement;
        if !declare.hold && statement.alone && self.status() != TransactionStatus::InBlock {
            let message = "DECLARE CURSOR can only be used in transaction blocks";
            return Err(SqlError::new(state::NO_ACTIVE_SQL_TRANSACTION, message));
        }
        let (planned, tables) = self.planned_cursor(declare, prepared).await?;
        if let QueryKind::Write { .. } = planned.kind {
            let message = "DECLARE CURSOR must not contain data-modifying statements in WITH";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        if let QueryKind::Query { locks: true } = planned.kind {
            let refused = [
                (declare.hold, "DECLARE CURSOR WITH HOLD ... FOR UPDATE is not supported", "Holdable"),
                (declare.scroll == Some(true), "DECLARE SCROLL CURSOR ... FOR UPDATE is not supported", "Scrollable"),
            ];
            if let Some((_, message, kind)) = refused.iter().find(|(is, ..)| *is) {
                return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, *message)
                    .detail(format!("{kind} cursors must be READ ONLY.")));
            }
            if declare.insensitive {
                let message = "DECLARE INSENSITIVE CURSOR ... FOR UPDATE is not valid";
                return Err(SqlError::new(state::INVALID_CURSOR_DEFINITION, message)
                    .detail("Insensitive cursors must be READ ONLY."));
            }
            if self.block.read_only() {
                return Err(super::dispatch::refused_in_read_only("SELECT FOR UPDATE"));
            }
        }
        if crate::session::cursors::cursors_of(&self.shared).lock().contains(&declare.name) {
            let message = format!("cursor \"{}\" already exists", declare.name);
            return Err(SqlError::new(state::DUPLICATE_CURSOR, message));
        }
        let context = self.begin_statement(parameters).await?;
        let (command, created) = (context.command, context.statement_time);
        let stream = planned.plan.run(context).await?.into_stream();
        let columns = planned.columns.clone().unwrap_or_else(|| Arc::new([]));
        let shown = tables.first().map_or(columns.len(), |followed: &Followed| followed.first);
        let columns = columns.iter().take(shown).cloned().collect();
        let locks = matches!(planned.kind, QueryKind::Query { locks: true });
        // A query that locks rows cannot be read backward.
        let scroll = if locks { Some(false) } else { declare.scroll };
        let (kind, current) = ((scroll, declare.hold), (tables, locks));
        let runtime = self.database.engine().task_context().runtime_env();
        let text = statement.source.text().into();
        let mut cursor = Cursor::new(text, kind, created, columns, command, (stream, &runtime), current);
        cursor.binary = declare.binary;
        crate::session::cursors::cursors_of(&self.shared).lock().insert(declare.name.clone(), cursor)?;
        Ok(done("DECLARE CURSOR"))
    }

    /// The plan of a cursor's query. If its rows can be identified, the plan returns their
    /// identities as further columns.
    async fn planned_cursor(
        &mut self,
        declare: &DeclareCursor,
        prepared: &Prepared,
    ) -> Result<(Arc<PlannedQuery>, Vec<Followed>)> {
        let catalog = self.block.statement(false).await?.catalog;
        let settings = self.shared.settings();
        let query = Arc::new(declare.query.clone());
        let told = current_rows::told(&query, &catalog, settings.search_path());
        let tables: IdentifiedTables = told.iter().map(|told| (told.shown.clone(), told.table)).collect();
        if !told.is_empty()
            && let Ok(planned) = self.planned_identifying(&query, &tables, &prepared.given, settings).await
        {
            // The identities begin after the visible columns.
            let all = planned.columns.as_ref().map_or(0, |columns| columns.len());
            let hidden = told.iter().map(|told| told.columns).sum::<usize>();
            let mut first = all.saturating_sub(hidden);
            let followed = told.iter().map(|told| {
                first += told.columns;
                Followed { table: told.table, first: first - told.columns }
            });
            return Ok((planned, followed.collect()));
        }
        Ok((self.planned(&query, &prepared.given).await?, Vec::new()))
    }

    /// FETCH and MOVE. Errors: 34000, 55000, and what the query raises.
    pub(super) async fn fetch(&mut self, name: &str, direction: FetchDirection, only_move: bool) -> Result<Outcome> {
        // FETCH belongs to the current transaction, like every statement.
        self.block.statement(true).await?;
        let mut cursor = crate::session::cursors::cursors_of(&self.shared).lock().take(name)?;
        let fetched = cursor.fetch(name, direction, only_move).await;
        let (columns, binary) = (cursor.columns.clone(), cursor.binary);
        crate::session::cursors::cursors_of(&self.shared).lock().put_back(name, cursor);
        let Fetched { batches, schema, count, memory } = fetched?;
        if only_move {
            return Ok(done(format!("MOVE {count}")));
        }
        let rows = futures::stream::iter(batches).map(move |batch| {
            // The memory counts until the last batch is sent.
            let _ = &memory;
            Ok(batch)
        });
        let stream = Box::pin(RecordBatchStreamAdapter::new(schema, rows));
        let tag = format!("FETCH {count}");
        let tag = if binary { RowsTag::Binary(tag) } else { RowsTag::Fixed(tag) };
        Ok(Outcome::Rows { columns, stream, tag })
    }

    /// The columns of a cursor. `None` if DECLARE made no cursor of this name.
    pub fn cursor_columns(&self, name: &str) -> Option<Arc<[OutputColumn]>> {
        crate::session::cursors::cursors_of(&self.shared).lock().columns(name)
    }

    /// Closes the cursor of this name, if there is one.
    pub fn forget_cursor(&self, name: &str) {
        // Closing an unknown cursor is not an error.
        let _ = crate::session::cursors::cursors_of(&self.shared).lock().take(name);
    }

    /// CLOSE. `None` means ALL.
    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<Outcome> {
        let mut cursors = crate::session::cursors::cursors_of(&self.shared).lock();
        match name {
            Some(name) => {
                cursors.take(name)?;
                Ok(done("CLOSE CURSOR"))
            }
            None => {
                cursors.clear();
                Ok(done("CLOSE CURSOR ALL"))
            }
        }
    }
}
