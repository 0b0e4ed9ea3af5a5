//! [`Cursors`]: the cursors that DECLARE makes and FETCH reads. A cursor reads rows from its running query on demand.
//! It keeps those that it may go back to. Must not know statements or the wire.

use super::cursor_rows::CursorRows;
use super::outcome::OutputColumn;
use crate::catalog::TableDescriptor;
use crate::error::{Result, SqlError, state};
use crate::parse::FetchDirection;
use crate::types::{Datum, Oid};
use context::cursor_list::{CursorList, ShownCursor, missing};
use context::shared::SessionShared;
use datafusion::arrow::array::UInt64Array;
use datafusion::arrow::compute::{concat_batches, take_record_batch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::execution::runtime_env::RuntimeEnv;
use futures::StreamExt;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::CommandNumber;

/// Bytes of rows that a cursor keeps to go back to if SCROLL was not specified.
const KEPT_UNASKED: usize = 16 << 20;
/// The greatest number of cursors in one session.
const MOST: usize = 10_000;

/// One cursor of a session.
pub struct Cursor {
    /// The text of the DECLARE.
    pub statement: Arc<str>,
    /// Whether it was declared WITH HOLD.
    pub hold: bool,
    /// Whether it was declared BINARY.
    pub binary: bool,
    /// SCROLL (true), NO SCROLL (false), or neither.
    pub scroll: Option<bool>,
    /// The time of the DECLARE, as a datum of timestamptz.
    pub created: i64,
    /// The columns that the client sees.
    pub columns: Arc<[OutputColumn]>,
    /// The command of the DECLARE. Rolling back to an earlier savepoint removes the cursor. `None`
    /// once its transaction committed.
    command: Option<CommandNumber>,
    /// The schema of the rows read: the visible columns, then the row identities (see `tables`).
    schema: SchemaRef,
    /// The tables whose rows WHERE CURRENT OF can find.
    tables: Vec<Followed>,
    /// Whether the query locks rows. Then CURRENT OF means a locked table.
    locks: bool,
    /// The rest of the query. `None` at its end, or after an error.
    stream: Option<SendableRecordBatchStream>,
    /// Whether an error ended the cursor.
    failed: bool,
    /// The rows read that the cursor still keeps.
    kept: CursorRows,
    /// The number of rows read.
    read: u64,
    /// The cursor's position: 0 before the first row, and one more than the number of rows after the last.
    position: u64,
}

/// A table whose rows a cursor identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The OID of the table.
    pub table: Oid,
    /// The first column of the row's identity among the columns read.
    pub first: usize,
}

/// The rows of a FETCH.
pub struct Fetched {
    /// The rows in order, with the visible columns only.
    pub batches: Vec<RecordBatch>,
    /// The schema of the batches.
    pub schema: SchemaRef,
    /// The number of rows passed, including those that MOVE does not return.
    pub count: u64,
    /// The reservations of the rows that were loaded from disk.
    pub memory: Vec<Arc<MemoryReservation>>,
}

/// The rows to return: first, last (inclusive), and whether they come backward.
struct Span {
    first: u64,
    last: u64,
    backward: bool,
}

impl Cursor {
    /// A cursor over a running query.
    pub fn new(
        statement: Arc<str>,
        (scroll, hold): (Option<bool>, bool),
        created: i64,
        columns: Arc<[OutputColumn]>,
        command: CommandNumber,
        (stream, runtime): (SendableRecordBatchStream, &Arc<RuntimeEnv>),
        (tables, locks): (Vec<Followed>, bool),
    ) -> Cursor {
        let kept = CursorRows::new(runtime, stream.schema());
        Cursor {
            statement,
            hold,
            binary: false,
            scroll,
            created,
            columns,
            command: Some(command),
            schema: stream.schema(),
            tables,
            locks,
            stream: Some(stream),
            failed: false,
            kept,
            read: 0,
            position: 0,
        }
    }

    /// Reads all rows, so that the cursor no longer needs its transaction.
    pub async fn materialize(&mut self) -> Result<()> {
        self.read_to(u64::MAX, usize::MAX).await?;
        self.kept.rest()
    }

    /// Reads until `row` rows are read, or the query ends. Rows beyond `keep` bytes are dropped, oldest first, unless
    /// the cursor must keep them.
    async fn read_to(&mut self, row: u64, keep: usize) -> Result<()> {
        while self.read < row {
            let Some(stream) = &mut self.stream else { return Ok(()) };
            match stream.next().await {
                None => self.stream = None,
                Some(Err(error)) => {
                    self.stream = None;
                    self.failed = true;
                    return Err(error.into());
                }
                Some(Ok(batch)) if batch.num_rows() == 0 => {}
                Some(Ok(batch)) => {
                    let rows = batch.num_rows() as u64;
                    if let Err(error) = self.kept.push(self.read + 1, batch) {
                        self.failed = true;
                        self.stream = None;
                        self.kept.clear();
                        return Err(error);
                    }
                    self.read += rows;
                    self.let_go(keep);
                }
            }
        }
        Ok(())
    }

    /// Drops rows before the position that do not fit in `keep` bytes.
    fn let_go(&mut self, keep: usize) {
        if !self.hold && self.scroll != Some(true) {
            self.kept.let_go(keep, self.position);
        }
    }

    fn forward_only() -> SqlError {
        SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
            .hint("Declare it with SCROLL option to enable backward scan.")
    }

    /// Moves the cursor and returns the rows passed. Errors: 55000 for going back without SCROLL.
    pub async fn fetch(&mut self, name: &str, direction: FetchDirection, only_move: bool) -> Result<Fetched> {
        if self.failed {
            let message = format!("portal \"{name}\" cannot be run");
            return Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        let fetched = self.fetch_open(direction, only_move).await;
        if fetched.is_err() {
            // As in PostgreSQL, where a failed portal stays failed.
            self.failed = true;
            self.stream = None;
        }
        fetched
    }

    async fn fetch_open(&mut self, direction: FetchDirection, only_move: bool) -> Result<Fetched> {
        let keep = if self.scroll == Some(false) { 0 } else { KEPT_UNASKED };
        let fetched = match self.go(direction, only_move.then_some(keep)).await? {
            None => Fetched { batches: Vec::new(), schema: self.shown()?, count: 0, memory: Vec::new() },
            Some(span) => self.rows(&span, only_move).await?,
        };
        if !self.tables.is_empty() && (1..=self.read).contains(&self.position) {
            // WHERE CURRENT OF looks the row up during planning, when nothing can be read from disk.
            self.kept.look_at(self.position).await?;
        }
        self.let_go(keep);
        Ok(fetched)
    }

    /// Moves the cursor. `None` if it passes no row. With `unseen`, no row passed is returned, and at most that
    /// many bytes are kept.
    async fn go(&mut self, direction: FetchDirection, unseen: Option<usize>) -> Result<Option<Span>> {
        match direction {
            FetchDirection::Relative(None) => self.forward(u64::MAX, unseen).await,
            FetchDirection::Relative(Some(count)) if count > 0 => self.forward(count.unsigned_abs(), unseen).await,
            FetchDirection::Relative(Some(0)) | FetchDirection::RelativeRow(0) => self.again(),
            FetchDirection::Relative(Some(count)) => self.backward(count.unsigned_abs()),
            FetchDirection::BackwardAll => self.backward(u64::MAX),
            FetchDirection::RelativeRow(count) => match self.position.checked_add_signed(count) {
                Some(row) => self.to(row).await,
                None => self.to(0).await,
            },
            FetchDirection::Absolute(row) if row >= 0 => self.to(row.unsigned_abs()).await,
            FetchDirection::Absolute(from_end) => {
                self.read_to(u64::MAX, KEPT_UNASKED).await?;
                self.position = self.read + 1;
                self.to((self.read + 1).saturating_sub(from_end.unsigned_abs())).await
            }
        }
    }

    async fn forward(&mut self, count: u64, unseen: Option<usize>) -> Result<Option<Span>> {
        let first = self.position + 1;
        let last = self.position.saturating_add(count);
        while let Some(keep) = unseen.filter(|_| self.read < last && self.stream.is_some()) {
            // The position follows the rows read, so that they can be dropped.
            self.position = self.position.max(self.read);
            self.read_to(self.read + 1, keep).await?;
        }
        self.read_to(last, usize::MAX).await?;
        if last > self.read {
            self.position = self.read + 1;
        } else {
            self.position = last;
        }
        let last = last.min(self.read);
        Ok((first <= last).then_some(Span { first, last, backward: false }))
    }

    fn backward(&mut self, count: u64) -> Result<Option<Span>> {
        if self.scroll == Some(false) {
            return Err(Self::forward_only());
        }
        let last = self.position.saturating_sub(1);
        self.position = self.position.saturating_sub(count);
        let first = self.position.max(1);
        Ok((first <= last).then_some(Span { first, last, backward: true }))
    }

    /// The row at the position, once more.
    fn again(&self) -> Result<Option<Span>> {
        let on_row = self.position >= 1 && self.position <= self.read;
        if on_row && self.scroll == Some(false) {
            return Err(Self::forward_only());
        }
        Ok(on_row.then_some(Span { first: self.position, last: self.position, backward: false }))
    }

    /// Moves to a row. 0 is before the first row.
    async fn to(&mut self, row: u64) -> Result<Option<Span>> {
        if row <= self.position && self.position > 0 && self.scroll == Some(false) {
            return Err(Self::forward_only());
        }
        self.read_to(row, KEPT_UNASKED).await?;
        self.position = row.min(self.read + 1);
        Ok((row >= 1 && row <= self.read).then_some(Span { first: row, last: row, backward: false }))
    }

    async fn rows(&mut self, span: &Span, only_move: bool) -> Result<Fetched> {
        let count = span.last - span.first + 1;
        let (mut batches, mut memory) = (Vec::new(), Vec::new());
        if !only_move {
            if self.kept.first().is_none_or(|first| first > span.first) {
                return Err(Self::forward_only());
            }
            (batches, memory) = self.kept.between(span.first, span.last).await?;
            if span.backward {
                let all = concat_batches(&self.schema, &batches)?;
                let order: UInt64Array = (0..all.num_rows() as u64).rev().collect();
                batches = vec![take_record_batch(&all, &order)?];
            }
        }
        let shown: Vec<usize> = (0..self.columns.len()).collect();
        let batches = batches.iter().map(|batch| batch.project(&shown)).collect::<std::result::Result<_, _>>()?;
        Ok(Fetched { batches, schema: self.shown()?, count, memory })
    }

    /// The schema of the visible columns.
    fn shown(&self) -> Result<SchemaRef> {
        Ok(Arc::new(self.schema.project(&(0..self.columns.len()).collect::<Vec<_>>())?))
    }

    /// A column of the identity of the row at the position. Errors: 24000.
    fn current(&self, name: &str, table: &TableDescriptor, place: usize) -> Result<Datum> {
        let wrong = |what: String| SqlError::new(state::INVALID_CURSOR_STATE, format!("cursor \"{name}\" {what}"));
        if self.command.is_none() {
            return Err(wrong("is held from a previous transaction".into()));
        }
        let mut found = self.tables.iter().filter(|followed| followed.table == table.oid);
        let followed = match (found.next(), self.locks) {
            (Some(followed), _) => followed,
            (None, true) => {
                return Err(wrong(format!("does not have a FOR UPDATE/SHARE reference to table \"{}\"", table.name)));
            }
            (None, false) => {
                return Err(wrong(format!("is not a simply updatable scan of table \"{}\"", table.name)));
            }
        };
        if found.next().is_some() {
            return Err(wrong(format!("has multiple FOR UPDATE/SHARE references to table \"{}\"", table.name)));
        }
        if let Some((batch, row)) = self.kept.row(self.position) {
            let array = batch.columns().get(followed.first + place);
            let array = array.ok_or_else(|| SqlError::internal("a cursor does not tell its rows"))?;
            return Ok(Datum::try_from_array(array, row)?);
        }
        Err(wrong("is not positioned on a row".into()))
    }
}

/// The cursors of a session, by name.
#[derive(Default)]
pub struct Cursors {
    by_name: BTreeMap<String, Cursor>,
}

impl Cursors {
    /// Adds a cursor. Errors: 53400 if the session has too many.
    pub fn insert(&mut self, name: String, cursor: Cursor) -> Result<()> {
        if self.by_name.len() >= MOST {
            return Err(SqlError::new("53400", "too many cursors").detail(format!("A session may have {MOST}.")));
        }
        self.by_name.insert(name, cursor);
        Ok(())
    }
    /// Whether the session has no cursor.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
    /// Whether a cursor of this name exists.
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }
    /// The visible columns of a cursor.
    pub fn columns(&self, name: &str) -> Option<Arc<[OutputColumn]>> {
        self.by_name.get(name).map(|cursor| cursor.columns.clone())
    }
    /// A column of the identity of the row that a cursor stands on: of its primary key, by index, or the row
    /// key. Errors: 34000, 24000.
    pub fn current(&self, name: &str, table: &TableDescriptor, place: usize) -> Result<Datum> {
        let cursor = self.by_name.get(name).ok_or_else(|| missing(name))?;
        cursor.current(name, table, place)
    }
    /// Removes a cursor, to read or close it. Errors: 34000.
    pub fn take(&mut self, name: &str) -> Result<Cursor> {
        self.by_name.remove(name).ok_or_else(|| missing(name))
    }
    /// Removes a WITH HOLD cursor that is not read to its end yet, and returns it with its name.
    pub fn take_unread_held(&mut self) -> Option<(String, Cursor)> {
        let unread = |(_, cursor): &(&String, &Cursor)| cursor.hold && cursor.stream.is_some();
        let name = self.by_name.iter().find(unread)?.0.clone();
        self.by_name.remove_entry(&name)
    }
    /// Adds a cursor again that was removed for reading.
    pub fn put_back(&mut self, name: &str, cursor: Cursor) {
        self.by_name.insert(name.to_string(), cursor);
    }
    /// All cursors with their names, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Cursor)> {
        self.by_name.iter()
    }
    /// Closes all cursors, for CLOSE ALL.
    pub fn clear(&mut self) {
        self.by_name.clear();
    }
    /// Closes the cursors without WITH HOLD, before a commit.
    pub fn before_commit(&mut self) {
        self.by_name.retain(|_, cursor| cursor.hold);
    }
    /// Marks the remaining cursors as independent of any transaction, after a commit.
    pub fn after_commit(&mut self) {
        for cursor in self.by_name.values_mut() {
            cursor.command = None;
        }
    }
    /// Closes the cursors that the rolled back transaction declared.
    pub fn after_rollback(&mut self) {
        self.by_name.retain(|_, cursor| cursor.command.is_none());
    }
    /// Closes the cursors that were declared after a savepoint.
    pub fn rolled_back_to(&mut self, savepoint: CommandNumber) {
        self.by_name.retain(|_, cursor| cursor.command.is_none_or(|command| command < savepoint));
    }
}

/// The cursors of a session.
pub fn cursors_of(session: &SessionShared) -> &Mutex<Cursors> {
    let list: &dyn Any = session.cursors.get_or_init(|| Box::new(SessionCursors::default())).as_ref();
    match list.downcast_ref::<SessionCursors>() {
        Some(cursors) => &cursors.0,
        None => unreachable!("a session has other cursors"),
    }
}

/// The cursors as the layers below know them.
#[derive(Default)]
struct SessionCursors(Mutex<Cursors>);

impl CursorList for SessionCursors {
    fn current(&self, name: &str, table: &TableDescriptor, place: usize) -> Result<Datum> {
        self.0.lock().current(name, table, place)
    }
    fn shown(&self) -> Vec<ShownCursor> {
        let shown = |(name, cursor): (&String, &Cursor)| ShownCursor {
            name: name.clone(),
            statement: cursor.statement.clone(),
            hold: cursor.hold,
            binary: cursor.binary,
            scroll: cursor.scroll != Some(false),
            created: cursor.created,
        };
        self.0.lock().iter().map(shown).collect()
    }
}
