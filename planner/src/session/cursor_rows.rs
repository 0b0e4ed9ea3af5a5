//! [`CursorRows`]: the rows that a cursor has read and may go back to. What is much of them is on disk, and what is in memory counts
//! against the memory of all statements. Must not know where the cursor stands.

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

/// Bytes of rows in memory from which they go to disk.
const IN_MEMORY: usize = 1 << 20;
/// So few stay in memory while nobody reads.
const AT_REST: usize = 64 << 10;

/// See the head of the module.
pub struct CursorRows {
    /// In order.
    parts: VecDeque<Part>,
    /// What they take in memory, or took before they went to disk, in bytes.
    bytes: usize,
    /// Those in memory, in bytes.
    memory: MemoryReservation,
    disk: SpillManager,
    /// The part on disk that was read last, by its first row.
    read: Option<(u64, Vec<RecordBatch>)>,
}

struct Part {
    /// The number of its first row.
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
    /// None yet, of this form.
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

    /// The number of the first.
    pub fn first(&self) -> Option<u64> {
        self.parts.front().map(|part| part.first)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.bytes = 0;
        self.memory.free();
        self.read = None;
    }

    /// Adds a batch of rows, of which `first` is the number of the first. Errors: 53200, 53100.
    pub fn push(&mut self, first: u64, batch: RecordBatch) -> Result<()> {
        let bytes = batch.get_array_memory_size();
        let rows = batch.num_rows() as u64;
        let room = self.memory.size() + bytes <= IN_MEMORY && self.memory.try_grow(bytes).is_ok();
        self.bytes += bytes;
        self.parts.push_back(Part { first, rows, bytes, place: Place::Memory(batch) });
        if room { Ok(()) } else { self.spill() }
    }

    /// Lets the first rows go, as long as all take more than `keep` bytes, up to those that the row with a number is among.
    pub fn let_go(&mut self, keep: usize, position: u64) {
        while self.bytes > keep && self.parts.front().is_some_and(|part| part.end() <= position) {
            let Some(part) = self.parts.pop_front() else { return };
            self.bytes -= part.bytes;
            if part.in_memory().is_some() {
                self.memory.shrink(part.bytes.min(self.memory.size()));
            }
        }
    }

    /// No more come: what is in memory goes to disk, unless it is little. Errors: 53100.
    pub fn rest(&mut self) -> Result<()> {
        if self.memory.size() <= AT_REST { Ok(()) } else { self.spill() }
    }

    /// Writes what is in memory to one file.
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

    /// Rows by their numbers, the last inclusive, and the memory of those that were on disk. Errors: 53200.
    pub async fn between(&mut self, first: u64, last: u64) -> Result<(Vec<RecordBatch>, MemoryReservation)> {
        let (mut found, memory) = (Vec::new(), self.memory.new_empty());
        for at in 0..self.parts.len() {
            let Some(part) = self.parts.get(at) else { break };
            if part.end() <= first || part.first > last {
                continue;
            }
            let start = part.first;
            match &part.place {
                Place::Memory(batch) => cut(start, std::slice::from_ref(batch), (first, last), &mut found),
                Place::Disk(file) => {
                    if self.read.as_ref().is_none_or(|(read, _)| *read != start) {
                        let rows = self.disk.read_spill_as_stream(Arc::clone(file), None)?;
                        self.read = Some((start, rows.try_collect().await?));
                    }
                    memory.try_grow(part.bytes)?;
                    let batches = self.read.as_ref().map_or(&[][..], |(_, batches)| batches);
                    cut(start, batches, (first, last), &mut found);
                }
            }
        }
        Ok((found, memory))
    }

    /// The batch of the row with a number, and its place there, if it is in memory.
    pub fn row(&self, number: u64) -> Option<(RecordBatch, usize)> {
        let mut found = Vec::new();
        for part in &self.parts {
            if let Some(batch) = part.in_memory() {
                cut(part.first, std::slice::from_ref(batch), (number, number), &mut found);
            }
        }
        if let Some((start, batches)) = &self.read {
            cut(*start, batches, (number, number), &mut found);
        }
        found.pop().map(|batch| (batch, 0))
    }
}

/// The rows of batches in a row that lie between two numbers.
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
