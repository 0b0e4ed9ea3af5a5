//! [`CursorRows`]: the rows that a cursor has read and may go back to. Large parts are on disk. The rows in memory
//! count against the memory of all statements. Must not know the cursor's position.

use crate::error::Result;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::spill_file::SpillFile;
use datafusion::physical_plan::SpillManager;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use futures::TryStreamExt;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of rows in memory above which they spill, if few rows are kept.
const IN_MEMORY: usize = 1 << 20;
/// The same if many rows are kept. Each spilled part is an open file, so parts grow with the total.
const MOST_IN_MEMORY: usize = 64 << 20;
/// Bytes that may stay in memory between two FETCH statements.
const AT_REST: usize = 256 << 10;

/// The rows of one cursor.
pub struct CursorRows {
    /// The kept batches, in row order.
    parts: VecDeque<Part>,
    /// The bytes of all parts, spilled ones included at their size in memory.
    bytes: usize,
    /// The reservation of the parts in memory.
    memory: MemoryReservation,
    disk: SpillManager,
    /// The spilled part that was read last.
    read: Option<ReadBack>,
}

struct ReadBack {
    /// The number of the first row.
    first: u64,
    batches: Vec<RecordBatch>,
    /// Shared with those who received rows of the part.
    memory: Arc<MemoryReservation>,
}

struct Part {
    /// The number of the first row.
    first: u64,
    rows: u64,
    bytes: usize,
    place: Place,
}

enum Place {
    Memory(RecordBatch),
    Disk(Arc<dyn SpillFile>),
}

impl Part {
    fn end(&self) -> u64 {
        self.first + self.rows
    }
    fn in_memory(&self) -> Option<&RecordBatch> {
        match &self.place {
            Place::Memory(batch) => Some(batch),
            Place::Disk(_) => None,
        }
    }
}

impl CursorRows {
    /// An empty set of rows with this schema.
    pub fn new(runtime: &Arc<RuntimeEnv>, schema: SchemaRef) -> CursorRows {
        let metrics = SpillMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
        CursorRows {
            parts: VecDeque::new(),
            bytes: 0,
            memory: MemoryConsumer::new("Cursor").register(&runtime.memory_pool),
            disk: SpillManager::new(Arc::clone(runtime), metrics, schema),
            read: None,
        }
    }

    /// The number of the first row kept.
    pub fn first(&self) -> Option<u64> {
        self.parts.front().map(|part| part.first)
    }

    /// Drops all rows and their files.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.bytes = 0;
        self.memory.free();
        self.read = None;
    }

    /// Appends a batch whose first row has the number `first`. Errors: 53200, 53100.
    pub fn push(&mut self, first: u64, batch: RecordBatch) -> Result<()> {
        let bytes = batch.get_array_memory_size();
        let rows = batch.num_rows() as u64;
        let room = self.memory.size() + bytes <= self.most_in_memory() && self.memory.try_grow(bytes).is_ok();
        self.bytes += bytes;
        self.parts.push_back(Part { first, rows, bytes, place: Place::Memory(batch) });
        if room { Ok(()) } else { self.spill() }
    }

    fn most_in_memory(&self) -> usize {
        (self.bytes / 32).clamp(IN_MEMORY, MOST_IN_MEMORY)
    }

    /// Drops the oldest parts while all rows take more than `keep` bytes. The part with the row `position` stays.
    pub fn let_go(&mut self, keep: usize, position: u64) {
        while self.bytes > keep && self.parts.front().is_some_and(|part| part.end() <= position) {
            let Some(part) = self.parts.pop_front() else { return };
            self.bytes -= part.bytes;
            if part.in_memory().is_some() {
                self.memory.shrink(part.bytes.min(self.memory.size()));
            }
        }
        if self.read.as_ref().is_some_and(|read| self.first().is_none_or(|first| read.first < first)) {
            self.read = None;
        }
    }

    /// The FETCH has ended: rows in memory spill, unless they take at most `AT_REST` bytes. Errors: 53100.
    pub fn rest(&mut self) -> Result<()> {
        if self.memory.size() <= AT_REST { Ok(()) } else { self.spill() }
    }

    /// Writes the parts in memory to one file.
    fn spill(&mut self) -> Result<()> {
        let from = self.parts.iter().rposition(|part| part.in_memory().is_none()).map_or(0, |last| last + 1);
        let batches: Vec<RecordBatch> = self.parts.range(from..).filter_map(Part::in_memory).cloned().collect();
        let Some(first) = self.parts.get(from).map(|part| part.first) else { return Ok(()) };
        let rows = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let bytes = self.parts.range(from..).map(|part| part.bytes).sum();
        let file = crate::interrupt::long(|| self.disk.spill_record_batch_and_finish(&batches, "Cursor"))?;
        self.parts.truncate(from);
        self.memory.free();
        if let Some(file) = file {
            self.parts.push_back(Part { first, rows, bytes, place: Place::Disk(file) });
        }
        Ok(())
    }

    /// The rows between two numbers, both inclusive, and the reservations of those that were on disk. Errors: 53200.
    pub async fn between(&mut self, first: u64, last: u64) -> Result<(Vec<RecordBatch>, Vec<Arc<MemoryReservation>>)> {
        let (mut found, mut memory) = (Vec::new(), Vec::new());
        for at in 0..self.parts.len() {
            let Some(part) = self.parts.get(at) else { break };
            if part.end() <= first || part.first > last {
                continue;
            }
            if let Some(batch) = part.in_memory() {
                cut(part.first, std::slice::from_ref(batch), (first, last), &mut found);
                continue;
            }
            self.read_back(at).await?;
            if let Some(read) = &self.read {
                cut(read.first, &read.batches, (first, last), &mut found);
                memory.push(Arc::clone(&read.memory));
            }
        }
        Ok((found, memory))
    }

    /// Loads the spilled part with this row, so that [`CursorRows::row`] finds it. Errors: 53200.
    pub async fn look_at(&mut self, number: u64) -> Result<()> {
        match self.parts.iter().position(|part| (part.first..part.end()).contains(&number)) {
            Some(at) => self.read_back(at).await,
            None => Ok(()),
        }
    }

    /// Loads a spilled part. Errors: 53200.
    async fn read_back(&mut self, at: usize) -> Result<()> {
        let Some(Part { first, bytes, place: Place::Disk(file), .. }) = self.parts.get(at) else { return Ok(()) };
        let (first, bytes, file) = (*first, *bytes, Arc::clone(file));
        if self.read.as_ref().is_some_and(|read| read.first == first) {
            return Ok(());
        }
        // Frees the part that was loaded before, to make room.
        self.read = None;
        let memory = self.memory.new_empty();
        memory.try_grow(bytes)?;
        let rows = self.disk.read_spill_as_stream(file, None)?;
        let batches: Vec<RecordBatch> = rows.try_collect().await?;
        self.read = Some(ReadBack { first, batches, memory: Arc::new(memory) });
        Ok(())
    }

    /// The batch with this row and the row's index in it, if it is in memory. See [`CursorRows::look_at`].
    pub fn row(&self, number: u64) -> Option<(RecordBatch, usize)> {
        let mut found = Vec::new();
        for part in &self.parts {
            if let Some(batch) = part.in_memory() {
                cut(part.first, std::slice::from_ref(batch), (number, number), &mut found);
            }
        }
        if let Some(read) = &self.read {
            cut(read.first, &read.batches, (number, number), &mut found);
        }
        found.pop().map(|batch| (batch, 0))
    }
}

/// Cuts the rows between two numbers out of consecutive batches.
fn cut(mut start: u64, batches: &[RecordBatch], (first, last): (u64, u64), found: &mut Vec<RecordBatch>) {
    for batch in batches {
        let end = start + batch.num_rows() as u64;
        let (from, to) = (first.max(start), last.saturating_add(1).min(end));
        if from < to {
            let place = |number: u64| usize::try_from(number - start).unwrap_or(usize::MAX);
            found.push(batch.slice(place(from), place(to) - place(from)));
        }
        start = end;
    }
}
