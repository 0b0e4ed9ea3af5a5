//! [`Buffer`]: the uncommitted writes of a transaction, several versions per key, each with its command number. It
//! keeps them in memory up to a limit, then in sorted runs on local disk.
//!
//! The buffer also remembers which runs were sent to the store before COMMIT, and so what the locks there say. A
//! key's lock says what the first sent run with that key says, whatever was undone since.

use crate::buffer_memory::{BufferMemory, Part};
use crate::buffer_merge::{Entries, Head, Source};
use crate::error::Result;
use crate::lock::LockStrength;
use crate::put_batch::Puts;
use crate::sorted_run::SortedRun;
use crate::transaction::{CommandNumber, OwnWrites, Write, WriteKind};
use crate::version_table::{Entry, Packed, VersionTable, Versions};
use bytes::Bytes;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use storage::RowRange;

/// One write of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// The command that wrote it.
    pub(crate) command: CommandNumber,
    /// The strength of the lock on the key.
    pub(crate) strength: LockStrength,
    pub(crate) kind: WriteKind,
}

/// The net effect of a transaction on a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FinalWrite {
    pub(crate) key: Bytes,
    /// The last put or delete. A lock if there was neither.
    pub(crate) kind: WriteKind,
    /// The strongest of all its versions.
    pub(crate) strength: LockStrength,
    /// The first command that changed the key, or locked it with the final strength.
    pub(crate) command: CommandNumber,
    /// Whether the first change put a value and the last one removed it. If the key had no value in the snapshot,
    /// only a check remains that it has none.
    pub(crate) put_then_deleted: bool,
    /// The state of the key's lock in the store.
    pub(crate) early: Early,
}

/// Whether a key's lock was sent before COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// The lock was not sent.
    Not,
    /// The lock is in the store and says what the write says.
    Held,
    /// The lock may be in the store, and may say something else.
    Maybe,
}

impl FinalWrite {
    /// Approximate size in a batch, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.key.len() + value_bytes(&self.kind) + 32
    }
}

/// An own change as reads see it: the value put, or `None` for a delete.
pub(crate) type OwnChange = (Bytes, Option<Bytes>);

/// Approximate memory per key and per version beside its bytes: nodes and headers.
const KEY_OVERHEAD: usize = 80;
const VERSION_OVERHEAD: usize = 48;
/// Approximate memory per row of [`Puts`] beside its bytes: the ends of its key and value.
const PACKED_OVERHEAD: usize = 8;

struct Run {
    entries: SortedRun,
    keys: u64,
    sent: Sent,
}

/// How many locks of a run are in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    No,
    /// Some locks may be in the store.
    Begun,
    /// All locks are in the store.
    Whole,
}

/// The uncommitted writes of a transaction. See the module documentation.
pub(crate) struct Buffer {
    memory: VersionTable,
    memory_bytes: usize,
    /// Bytes of keys and values, spilled ones included.
    total_bytes: u64,
    writes: u64,
    limit: usize,
    spill_dir: Option<Arc<Path>>,
    /// This buffer's share of the memory of all buffers.
    part: Part,
    /// Spilled runs, oldest first.
    runs: Vec<Run>,
    /// Ranges of rolled-back commands whose versions may still be in runs.
    dropped: Vec<(CommandNumber, CommandNumber)>,
    /// Whether a key was deleted that this transaction may have written before.
    deletes_of_own: bool,
}

impl Buffer {
    /// An empty buffer that spills to `spill_dir` beyond `limit` bytes. Without a folder it stays in memory.
    pub(crate) fn new(limit: usize, spill_dir: Option<Arc<Path>>) -> Self {
        Buffer {
            memory: VersionTable::default(),
            memory_bytes: 0,
            total_bytes: 0,
            writes: 0,
            limit,
            spill_dir,
            part: Part::default(),
            runs: Vec::new(),
            dropped: Vec::new(),
            deletes_of_own: false,
        }
    }

    /// Makes the buffer also spill when `all` buffers together exceed their limit.
    pub(crate) fn counted(mut self, all: &Arc<BufferMemory>) -> Self {
        self.part = Part::new(Arc::clone(all));
        self
    }

    /// Whether nothing was written, or all of it was rolled back in memory.
    pub(crate) fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.runs.is_empty()
    }

    /// The number of buffered writes.
    pub(crate) fn writes(&self) -> u64 {
        self.writes
    }

    /// The memory in use, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes + self.runs.iter().map(|run| run.entries.memory_bytes()).sum::<usize>()
    }

    /// The bytes of all keys and values, spilled ones included.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Whether any part is on disk.
    pub(crate) fn spilled(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether any key may have been put and then deleted.
    pub(crate) fn has_deletes_of_own(&self) -> bool {
        self.deletes_of_own
    }

    /// Adds a write of `command`.
    pub(crate) fn write(&mut self, command: CommandNumber, write: Write) -> Result<()> {
        let Write { key, kind, strength } = write;
        let size = key.len() + value_bytes(&kind);
        let (keys, packed, key_bytes) = (self.memory.len(), self.memory.packed(), key.len());
        let versions = self.memory.versions_of(key);
        let held = |version: &Version| version.command == command && version.strength >= strength;
        let known = kind == WriteKind::Lock && versions.iter().any(held);
        if !known {
            self.deletes_of_own |= kind == WriteKind::Delete && !(versions.is_empty() && self.runs.is_empty());
            self.memory_bytes += VERSION_OVERHEAD + value_bytes(&kind);
            versions.push(Version { command, strength, kind });
        }
        // The write may have unpacked the rows beside it.
        let loosened = packed - self.memory.packed();
        self.memory_bytes += loosened * (KEY_OVERHEAD + VERSION_OVERHEAD - PACKED_OVERHEAD);
        if known {
            return Ok(());
        }
        self.total_bytes += size as u64;
        self.writes += 1;
        if self.memory.len() > keys {
            self.memory_bytes += key_bytes + KEY_OVERHEAD;
        }
        self.spill_beyond_limit()
    }

    /// Adds rows that `command` puts. They stay packed if no other key lies among them.
    pub(crate) fn put(&mut self, command: CommandNumber, puts: Puts) -> Result<()> {
        let (rows, bytes) = (puts.len(), puts.bytes());
        match self.memory.add_packed(Packed { puts, command }) {
            Ok(()) => {
                self.memory_bytes += bytes + rows * PACKED_OVERHEAD;
                self.total_bytes += bytes as u64;
                self.writes += rows as u64;
                self.spill_beyond_limit()
            }
            Err(packed) => packed.puts.into_writes().into_iter().try_for_each(|write| self.write(command, write)),
        }
    }

    fn spill_beyond_limit(&mut self) -> Result<()> {
        self.part.set(self.memory_bytes);
        if self.memory_bytes > self.limit || self.part.is_over(self.memory_bytes, self.runs.len()) {
            self.spill()?;
            self.part.set(self.memory_bytes);
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        let Some(folder) = &self.spill_dir else { return Ok(()) };
        let entries = SortedRun::write(folder, self.memory.iter())?;
        self.runs.push(Run { entries, keys: self.memory.len() as u64, sent: Sent::No });
        self.memory.clear();
        self.memory_bytes = 0;
        Ok(())
    }

    /// Drops the writes of `command` and later commands, up to `last`.
    pub(crate) fn rollback_to(&mut self, command: CommandNumber, last: CommandNumber) {
        let (bytes, total, writes) = (&mut self.memory_bytes, &mut self.total_bytes, &mut self.writes);
        let (mut gone_bytes, mut gone_total, mut gone_writes) = (0, 0, 0);
        let keep_packed = |packed: &Packed| {
            let keep = packed.command < command;
            if !keep {
                gone_bytes += packed.puts.bytes() + packed.puts.len() * PACKED_OVERHEAD;
                gone_total += packed.puts.bytes() as u64;
                gone_writes += packed.puts.len() as u64;
            }
            keep
        };
        let keep = |key: &Bytes, versions: &mut Versions| {
            versions.retain(|version| {
                let keep = version.command < command;
                if !keep {
                    let size = value_bytes(&version.kind);
                    *bytes = bytes.saturating_sub(VERSION_OVERHEAD + size);
                    *total = total.saturating_sub((key.len() + size) as u64);
                    *writes = writes.saturating_sub(1);
                }
                keep
            });
            if versions.is_empty() {
                *bytes = bytes.saturating_sub(key.len() + KEY_OVERHEAD);
            }
            !versions.is_empty()
        };
        self.memory.retain(keep, keep_packed);
        self.memory_bytes = self.memory_bytes.saturating_sub(gone_bytes);
        self.part.set(self.memory_bytes);
        self.total_bytes = self.total_bytes.saturating_sub(gone_total);
        self.writes = self.writes.saturating_sub(gone_writes);
        if !self.runs.is_empty() {
            self.dropped.push((command, last));
        }
    }

    fn is_dropped(&self, version: &Version) -> bool {
        self.dropped.iter().any(|(from, to)| (*from..=*to).contains(&version.command))
    }

    /// The versions of `key`, oldest first.
    fn versions(&self, key: &[u8]) -> Result<Vec<Version>> {
        let mut found = Vec::new();
        for run in &self.runs {
            run.entries.get(key, &mut found)?;
        }
        found.retain(|version| !self.is_dropped(version));
        if let Some(entry) = self.memory.get(key) {
            entry.with_versions(|versions| found.extend_from_slice(versions));
        }
        Ok(found)
    }

    /// The transaction's own change of `key`: `None` if there is none, `Some(None)` for a delete.
    pub(crate) fn get(&self, key: &[u8], own: OwnWrites) -> Result<Option<Option<Bytes>>> {
        if self.runs.is_empty() {
            return Ok(self.memory.get(key).and_then(|entry| entry.with_versions(|versions| newest(versions, own))));
        }
        Ok(newest(&self.versions(key)?, own))
    }

    /// The strength in which COMMIT holds `key`. `None` if it does not.
    pub(crate) fn strength_of(&self, key: &[u8]) -> Result<Option<LockStrength>> {
        let strongest = |versions: &[Version]| versions.iter().map(|version| version.strength).max();
        let mut found = self.memory.get(key).and_then(|entry| entry.with_versions(strongest));
        let mut versions = Vec::new();
        for run in &self.runs {
            run.entries.get(key, &mut versions)?;
            // Writes of a sent run are never undone.
            versions.retain(|version| run.sent != Sent::No || !self.is_dropped(version));
            found = found.max(strongest(&versions));
            versions.clear();
        }
        Ok(found)
    }

    /// Up to `limit` changes in `range`, in key order, and whether these are all.
    pub(crate) fn changes(
        &self,
        range: &RowRange,
        reverse: bool,
        own: OwnWrites,
        limit: usize,
    ) -> Result<(Vec<OwnChange>, bool)> {
        let mut found = Vec::new();
        let mut complete = true;
        self.visit(range, reverse, |key, versions, _| {
            if let Some(change) = newest(versions, own) {
                if found.len() >= limit {
                    complete = false;
                    return ControlFlow::Break(());
                }
                found.push((key.clone(), change));
            }
            ControlFlow::Continue(())
        })?;
        Ok((found, complete))
    }

    /// The final writes from the key `from` on, in key order: at least one if there is one, at most `rows` and about
    /// `bytes`. Also answers the key to continue at, or `None` at the end.
    pub(crate) fn final_writes(
        &self,
        from: &Bytes,
        rows: usize,
        bytes: usize,
    ) -> Result<(Vec<FinalWrite>, Option<Bytes>)> {
        let mut found: Vec<FinalWrite> = Vec::new();
        let mut size = 0;
        let mut next = None;
        let range = RowRange { start: from.clone(), end: None };
        if self.runs.is_empty() {
            found.reserve_exact(rows.min(self.memory.len()));
            for entry in self.memory.range(&range) {
                // Packed rows begin a step of their own.
                let is_full = found.len() >= rows || size >= bytes || matches!(entry, Entry::Packed(_, _, 0));
                if !found.is_empty() && is_full {
                    return Ok((found, Some(entry.to_key())));
                }
                if let Some(write) = final_write_of(entry) {
                    size += write.bytes();
                    found.push(write);
                }
            }
            return Ok((found, None));
        }
        self.visit(&range, false, |key, versions, sent| {
            if !found.is_empty() && (found.len() >= rows || size >= bytes) {
                next = Some(key.clone());
                return ControlFlow::Break(());
            }
            if let Some(write) = with_sent(final_write(key, versions), sent) {
                size += write.bytes();
                found.push(write);
            }
            ControlFlow::Continue(())
        })?;
        Ok((found, next))
    }

    /// The packed rows that begin with the first key at or behind `from`, and the key to continue at behind them.
    pub(crate) fn packed_from(&self, from: &[u8]) -> Option<(&Packed, Option<Bytes>)> {
        if self.runs.is_empty() { self.memory.packed_from(from) } else { None }
    }

    /// The number of keys whose locks are in the store.
    pub(crate) fn locked(&self) -> u64 {
        self.runs.iter().filter(|run| run.sent == Sent::Whole).map(|run| run.keys).sum()
    }

    /// Whether any run was not sent.
    pub(crate) fn has_unsent(&self) -> bool {
        self.runs.last().is_some_and(|run| run.sent == Sent::No)
    }

    /// Begins to send the oldest unsent run. Answers its number.
    pub(crate) fn begin_sending(&mut self) -> Option<usize> {
        let (number, run) = self.runs.iter_mut().enumerate().find(|(_, run)| run.sent == Sent::No)?;
        run.sent = Sent::Begun;
        Some(number)
    }

    /// Notes that every lock of run `number` is in the store.
    pub(crate) fn sent(&mut self, number: usize) {
        if let Some(run) = self.runs.get_mut(number) {
            run.sent = Sent::Whole;
        }
    }

    /// The final writes within run `number` alone, in the form of [`Buffer::final_writes`].
    pub(crate) fn writes_of_run(
        &self,
        number: usize,
        from: &Bytes,
        rows: usize,
    ) -> Result<(Vec<FinalWrite>, Option<Bytes>)> {
        let mut found = Vec::new();
        let Some(run) = self.runs.get(number) else { return Ok((found, None)) };
        for entry in run.entries.range(&RowRange { start: from.clone(), end: None }, false) {
            let (key, versions) = entry?;
            if found.len() >= rows {
                return Ok((found, Some(key)));
            }
            // If an earlier run has sent a lock for the key, COMMIT changes that lock, once.
            if !self.was_sent_before(number, &key)? {
                found.extend(final_write(&key, &versions));
            }
        }
        Ok((found, None))
    }

    fn was_sent_before(&self, number: usize, key: &[u8]) -> Result<bool> {
        let mut versions = Vec::new();
        for run in self.runs.iter().take(number) {
            run.entries.get(key, &mut versions)?;
        }
        Ok(!versions.is_empty())
    }

    /// Visits each key in `range` with its remaining versions, oldest first, and the lock that was sent for it.
    fn visit(
        &self,
        range: &RowRange,
        reverse: bool,
        mut show: impl FnMut(&Bytes, &[Version], Option<SentKey>) -> ControlFlow<()>,
    ) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        if self.runs.is_empty() {
            let mut show = |entry: Entry<'_>| entry.with_versions(|versions| show(&entry.to_key(), versions, None));
            if reverse {
                let _ = self.memory.range_reverse(range).try_for_each(&mut show);
            } else {
                let _ = self.memory.range(range).try_for_each(&mut show);
            }
            return Ok(());
        }
        let mut sources: Vec<Source<'_>> = Vec::with_capacity(self.runs.len() + 1);
        for run in &self.runs {
            sources.push(Source::new(Box::new(run.entries.range(range, reverse)), run.sent));
        }
        let in_memory = |entry: Entry<'_>| Ok((entry.to_key(), entry.with_versions(<[Version]>::to_vec)));
        let entries: Entries<'_> = if reverse {
            Box::new(self.memory.range_reverse(range).map(in_memory))
        } else {
            Box::new(self.memory.range(range).map(in_memory))
        };
        sources.push(Source::new(entries, Sent::No));
        let mut heads = BinaryHeap::with_capacity(sources.len());
        for (number, source) in sources.iter_mut().enumerate() {
            heads.extend(source.head(number, reverse)?);
        }
        while let Some(Head { key, mut versions, number, .. }) = heads.pop() {
            let mut sent: Option<(Sent, usize)> = None;
            let mut number = number;
            loop {
                if let Some(source) = sources.get_mut(number) {
                    if source.sent != Sent::No && sent.is_none() {
                        sent = Some((source.sent, versions.len()));
                    }
                    heads.extend(source.head(number, reverse)?);
                }
                // The same key in a later run.
                if heads.peek().is_none_or(|next| next.key != key) {
                    break;
                }
                let Some(next) = heads.pop() else { break };
                versions.extend(next.versions);
                number = next.number;
            }
            let sent = sent.and_then(|(sent, first)| {
                let lock = final_write(&key, versions.get(..first)?)?;
                Some(SentKey { lock, whole: sent == Sent::Whole })
            });
            versions.retain(|version| !self.is_dropped(version));
            if (!versions.is_empty() || sent.is_some()) && show(&key, &versions, sent).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A key whose lock was sent.
struct SentKey {
    /// The contents of the lock.
    lock: FinalWrite,
    /// Whether the lock is certainly in the store.
    whole: bool,
}

fn value_bytes(kind: &WriteKind) -> usize {
    match kind {
        WriteKind::Put(value) => value.len(),
        WriteKind::Delete | WriteKind::Lock => 0,
    }
}

/// The newest change that a read sees.
fn newest(versions: &[Version], own: OwnWrites) -> Option<Option<Bytes>> {
    let seen = |version: &&Version| match own {
        OwnWrites::All | OwnWrites::Newest => true,
        OwnWrites::Before(command) => version.command < command,
    };
    versions.iter().rev().filter(seen).find_map(|version| match &version.kind {
        WriteKind::Put(value) => Some(Some(value.clone())),
        WriteKind::Delete => Some(None),
        WriteKind::Lock => None,
    })
}

/// The net effect of all versions of a key.
fn final_write(key: &Bytes, versions: &[Version]) -> Option<FinalWrite> {
    let strength = versions.iter().map(|version| version.strength).max()?;
    let is_change = |version: &&Version| version.kind != WriteKind::Lock;
    let kind = versions.iter().rev().find(is_change).map_or(WriteKind::Lock, |version| version.kind.clone());
    let first = versions.iter().find(is_change).map(|version| &version.kind);
    let put_then_deleted = kind == WriteKind::Delete && matches!(first, Some(WriteKind::Put(_)));
    // A command that locked the key weakly let others change it until a stronger lock was taken.
    let command = versions.iter().find(|version| is_change(version) || version.strength == strength)?.command;
    Some(FinalWrite { key: key.clone(), kind, strength, command, put_then_deleted, early: Early::Not })
}

/// The net effect of all versions of a key in memory.
fn final_write_of(entry: Entry<'_>) -> Option<FinalWrite> {
    match entry {
        Entry::Loose(key, versions) => final_write(key, versions),
        Entry::Packed(_, Packed { puts, command }, at) => Some(FinalWrite {
            key: entry.to_key(),
            kind: puts.kind(at),
            strength: puts.strength(),
            command: *command,
            put_then_deleted: false,
            early: Early::Not,
        }),
    }
}

/// The remaining write to a key whose lock may have been sent. A sent lock is never withdrawn, because a delayed copy
/// of the request could write it again. If all writes of the key were undone, the lock alone remains, in its
/// strength. The strength never decreases, so that COMMIT's record refuses such a copy.
fn with_sent(write: Option<FinalWrite>, sent: Option<SentKey>) -> Option<FinalWrite> {
    let Some(SentKey { lock, whole }) = sent else { return write };
    let undone = FinalWrite { kind: WriteKind::Lock, put_then_deleted: false, ..lock.clone() };
    let mut write = write.unwrap_or(undone);
    write.strength = write.strength.max(lock.strength);
    let same = write.kind == lock.kind && write.strength == lock.strength;
    write.early = if whole && same { Early::Held } else { Early::Maybe };
    Some(write)
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
