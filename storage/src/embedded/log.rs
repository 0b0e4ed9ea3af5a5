//! [`RocksLog`]: the committer's log over RocksDB. A record is one write batch, and so one record
//! of the write-ahead log.

use super::committer::SyncLog;
use super::folder::free_bytes;
use super::hot::Hot;
use super::wal_preallocate::ZeroesAhead;
use super::wal_trailer::Mark;
use super::{database_error, key, options};
use crate::bulk::PreparedCells;
use crate::committer::{Change, CommitLog, LogRecord, Recovered, VersionReader};
use crate::contract::{Family, LogStatistics, RowRange, TimestampRange};
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use rocksdb::{ColumnFamily, DB, DBRawIterator, ReadOptions, WriteBatch, WriteOptions};
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Key in the meta family of the record that every write batch renews. It holds the newest commit timestamp and the
/// greatest timestamp of any cell, eight big-endian bytes each.
const COMMITTER_KEY: &[u8] = b"committer";
/// Key in the meta family of the record that announces files of a commit. It holds the commit timestamp (eight
/// big-endian bytes) and the key of one of the cells. That cell tells after a crash whether the files were ingested.
const TAKING_IN_KEY: &[u8] = b"taking-in";
/// Bytes of RocksDB's header for a record that fits into one block of the log.
const RECORD_HEADER: u64 = 7;
/// Prefix of the keys of [`Store::put_meta`](crate::Store::put_meta).
const META_PREFIX: &str = "meta/";

/// The open database with its column families.
pub struct Database {
    db: DB,
    /// Held while a record is written, so that records follow each other in the order of their numbers. Never held
    /// during a sync, because a thread that also serves other clients may want it.
    writing: Mutex<()>,
    /// The number of ingestions under way. RocksDB blocks all writers during an ingestion, until
    /// its manifest is synced.
    taking_in: AtomicUsize,
    /// The sync that failed. After it the operating system's copy of the log cannot be trusted, so every
    /// later sync fails too.
    failed: Mutex<Option<StoreError>>,
    /// Tells this process's records from those of other processes.
    process: u32,
    /// The number of the newest record that is known to be synced.
    synced: AtomicU64,
    ahead: Mutex<ZeroesAhead>,
    /// The counters of [`LogStatistics`]. `records` counts records that are in the log, so it is also
    /// the newest record's number.
    records: AtomicU64,
    bytes: AtomicU64,
    syncs: AtomicU64,
    /// A test's hook, called before each sync.
    #[cfg(test)]
    pub(super) before_sync: Mutex<Box<dyn FnMut() -> Result<()> + Send>>,
}

impl Database {
    /// Wraps an open database that has all families. `process` identifies this process's records and is not 0.
    pub fn new(db: DB, process: u32) -> Arc<Database> {
        let [synced, records, bytes, syncs] = std::array::from_fn(|_| AtomicU64::new(0));
        let ahead = Mutex::new(ZeroesAhead::new(db.path()));
        let (writing, taking_in, failed) = (Mutex::new(()), AtomicUsize::new(0), Mutex::new(None));
        Arc::new(Database {
            db,
            writing,
            taking_in,
            failed,
            process,
            synced,
            ahead,
            records,
            bytes,
            syncs,
            #[cfg(test)]
            before_sync: Mutex::new(Box::new(|| Ok(()))),
        })
    }

    /// The underlying RocksDB handle.
    pub fn rocks(&self) -> &DB {
        &self.db
    }

    /// The column family for a family of cells.
    pub fn family(&self, family: Family) -> Result<&ColumnFamily> {
        let name = options::FAMILY_NAMES.get(family as usize).copied().unwrap_or(options::META_FAMILY);
        self.db.cf_handle(name).ok_or_else(|| StoreError::Corrupted(format!("column family {name} is missing")))
    }

    /// An iterator that finds single rows: it stays within the row that it was set to.
    pub fn row_iterator(&self, family: Family, mut options: ReadOptions) -> Result<DBRawIterator<'_>> {
        options.set_prefix_same_as_start(true);
        Ok(self.db.raw_iterator_cf_opt(self.family(family)?, options))
    }

    /// The timestamps of the last record, and which families are empty.
    pub fn recovered(&self) -> Result<Recovered> {
        let mut recovered = Recovered::default();
        for (family, empty) in Family::ALL.into_iter().zip(&mut recovered.empty) {
            let mut options = ReadOptions::default();
            options.set_total_order_seek(true);
            let mut iterator = self.db.raw_iterator_cf_opt(self.family(family)?, options);
            iterator.seek_to_first();
            *empty = !iterator.valid();
            iterator.status().map_err(database_error)?;
        }
        let Some(record) = self.db.get_pinned(COMMITTER_KEY).map_err(database_error)? else {
            return Ok(recovered);
        };
        let numbers = record.split_first_chunk::<8>().and_then(|(visible, max)| Some((visible, max.try_into().ok()?)));
        let Some((visible, max)) = numbers else {
            return Err(StoreError::Corrupted("the committer's record has a wrong length".to_owned()));
        };
        recovered.visible = Timestamp(u64::from_be_bytes(*visible));
        recovered.max_timestamp = Timestamp(u64::from_be_bytes(max));
        if let Some(timestamp) = self.taking_in_at()? {
            recovered.visible = recovered.visible.max(timestamp);
        }
        Ok(recovered)
    }

    /// The timestamp of a commit whose files were being ingested when the process ended, if there was one.
    ///
    /// This timestamp becomes the newest readable one. Either all files of its writes are there, or none is, and the
    /// commit is empty. Files of other families may be there without those of the writes: records of locks that
    /// nobody holds. Above the newest readable timestamp they would refuse all writes of their rows until the next
    /// commit. Below it they refuse nothing, and garbage collection removes them.
    fn taking_in_at(&self) -> Result<Option<Timestamp>> {
        let Some(record) = self.db.get_pinned(TAKING_IN_KEY).map_err(database_error)? else { return Ok(None) };
        match record.split_first_chunk::<8>() {
            Some((timestamp, _)) => Ok(Some(Timestamp(u64::from_be_bytes(*timestamp)))),
            None => Err(StoreError::Corrupted("the record of files that are taken in has a wrong length".to_owned())),
        }
    }

    /// Records durably that `cells` and others are about to be ingested as a commit. Makes all
    /// earlier writes durable too.
    pub(super) fn begin_taking_in(&self, cells: &PreparedCells, visible: Timestamp, max: Timestamp) -> Result<()> {
        let mut cell = Vec::new();
        encode(&cells.ends.0, cells.timestamp, &mut cell);
        let mut batch = WriteBatch::default();
        batch.put(TAKING_IN_KEY, [&cells.timestamp.0.to_be_bytes()[..], &cell].concat());
        put_numbers(&mut batch, visible, max);
        self.write(batch, true)
    }

    /// Writes a record and, if `sync`, syncs the log. Blocks the thread.
    fn write(&self, batch: WriteBatch, sync: bool) -> Result<()> {
        self.append(&self.writing.lock(), batch, &WriteOptions::default()).map_err(database_error)?;
        if sync { self.sync() } else { Ok(()) }
    }

    /// Writes a record if RocksDB need not wait. False otherwise. Never blocks the thread.
    pub(super) fn write_at_once(&self, batch: WriteBatch) -> Result<bool> {
        let mut options = WriteOptions::default();
        options.set_no_slowdown(true);
        let Some(writing) = self.writing.try_lock() else { return Ok(false) };
        if self.taking_in.load(Ordering::SeqCst) > 0 {
            return Ok(false);
        }
        match self.append(&writing, batch, &options) {
            Err(error) if error.kind() == rocksdb::ErrorKind::Incomplete => Ok(false),
            done => done.map(|()| true).map_err(database_error),
        }
    }

    fn append(
        &self,
        _writing: &MutexGuard<'_, ()>,
        mut batch: WriteBatch,
        options: &WriteOptions,
    ) -> std::result::Result<(), rocksdb::Error> {
        let number = self.records.load(Ordering::Relaxed) + 1;
        let mark = Mark { number, process: self.process, synced: self.synced.load(Ordering::Acquire) };
        batch.put_log_data(mark.encode());
        let bytes = batch.size_in_bytes() as u64;
        self.db.write_opt(batch, options)?;
        self.records.store(number, Ordering::Release);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Runs `work`, which ingests files. RocksDB may block writers meanwhile, so writers that must not
    /// wait are turned away.
    pub(super) fn take_in<T>(&self, work: impl FnOnce(&DB) -> T) -> T {
        // The lock ensures that a writer that must not wait has either seen the counter or is done.
        let writing = self.writing.lock();
        self.taking_in.fetch_add(1, Ordering::SeqCst);
        drop(writing);
        let done = work(&self.db);
        self.taking_in.fetch_sub(1, Ordering::SeqCst);
        done
    }

    /// The sync failure after which nothing can be made durable, if there was one.
    pub fn failure(&self) -> Option<StoreError> {
        self.failed.lock().clone()
    }

    /// Syncs everything written before. Blocks the thread. Errors: this sync or an earlier one failed. An earlier
    /// failure counts because it may have lost data without its caller noticing.
    fn sync(&self) -> Result<()> {
        self.failure().map_or(Ok(()), Err)?;
        if let Err(error) = self.sync_log() {
            self.failed.lock().get_or_insert(error);
        }
        self.failure().map_or(Ok(()), Err)
    }

    fn sync_log(&self) -> Result<()> {
        #[cfg(test)]
        (self.before_sync.lock())()?;
        // Read first, because a record written during the sync may not be covered.
        let records = self.records.load(Ordering::Acquire);
        if let Some(mut ahead) = self.ahead.try_lock() {
            ahead.before_sync(self.bytes.load(Ordering::Relaxed) + records * RECORD_HEADER);
        }
        self.db.flush_wal(true).map_err(database_error)?;
        self.synced.fetch_max(records, Ordering::AcqRel);
        self.syncs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// The log's counters since the store was opened.
    pub fn log_statistics(&self) -> LogStatistics {
        let [records, bytes, syncs] = [&self.records, &self.bytes, &self.syncs].map(|one| one.load(Ordering::Relaxed));
        LogStatistics { records, bytes, syncs }
    }

    /// Reads a named value. `None` if it was never put.
    pub fn get_meta(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.db.get([META_PREFIX, name].concat()).map_err(database_error)
    }

    /// Writes a named value durably. Blocks the thread.
    pub fn put_meta(&self, name: &str, value: &[u8]) -> Result<()> {
        let mut batch = WriteBatch::default();
        batch.put([META_PREFIX, name].concat(), value);
        self.write(batch, true)
    }
}

/// The committer's log over RocksDB.
pub struct RocksLog {
    database: Arc<Database>,
    hot: Arc<Hot>,
    /// The store's directory, for the free space of its file system.
    path: CString,
    reserve_bytes: u64,
}

impl RocksLog {
    /// A log that keeps at least `reserve_bytes` free on the file system of `path`.
    pub fn new(database: Arc<Database>, hot: Arc<Hot>, path: CString, reserve_bytes: u64) -> RocksLog {
        RocksLog { database, hot, path, reserve_bytes }
    }
}

impl RocksLog {
    /// A function that syncs all earlier writes, concurrently with new ones.
    pub fn syncer(&self) -> SyncLog {
        let database = self.database.clone();
        Box::new(move || database.sync())
    }

    /// The write batch for a record.
    fn batch(&self, record: &LogRecord<'_>) -> Result<WriteBatch> {
        let mut batch = WriteBatch::default();
        let mut buffer = Vec::with_capacity(128);
        for change in record.changes {
            match change {
                Change::Set { key, family, timestamp, value } => {
                    encode(key, *timestamp, &mut buffer);
                    batch.put_cf(self.database.family(*family)?, &buffer, value);
                }
                Change::Remove { key, family, timestamp } => {
                    encode(key, *timestamp, &mut buffer);
                    batch.delete_cf(self.database.family(*family)?, &buffer);
                }
                Change::RemoveRange(range) => {
                    let start = key::bound(&range.start);
                    for family in Family::ALL {
                        let end = match &range.end {
                            Some(end) => key::bound(end),
                            None => self.behind_all(family, record.changes)?,
                        };
                        if start < end {
                            batch.delete_range_cf(self.database.family(family)?, &start, &end);
                        }
                    }
                }
            }
        }
        put_numbers(&mut batch, record.visible, record.max_timestamp);
        Ok(batch)
    }

    /// A bound behind every row of a family, those that `changes` set included. RocksDB's range tombstones need an
    /// end, and there is no greatest key.
    fn behind_all(&self, family: Family, changes: &[Change]) -> Result<Vec<u8>> {
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        let rocks = self.database.rocks();
        let mut iterator = rocks.raw_iterator_cf_opt(self.database.family(family)?, options);
        iterator.seek_to_last();
        let mut greatest = iterator.key().map(|last| key::prefix_of(last).to_vec()).unwrap_or_default();
        iterator.status().map_err(database_error)?;
        for change in changes {
            if let Change::Set { key, .. } = change {
                let mut prefix = Vec::new();
                key::push_prefix(key, &mut prefix);
                greatest = greatest.max(prefix);
            }
        }
        key::to_end_of_row(&mut greatest);
        Ok(greatest)
    }
}

/// Reads rows for the committer. It uses one iterator per family for the whole group.
pub struct RocksReader<'a> {
    database: &'a Database,
    iterators: [Option<DBRawIterator<'a>>; Family::ALL.len()],
    prefix: Vec<u8>,
}

impl VersionReader for RocksReader<'_> {
    fn versions(
        &mut self,
        key: &[u8],
        family: Family,
        range: TimestampRange,
        visit: &mut dyn FnMut(Timestamp, &[u8]) -> bool,
    ) -> Result<()> {
        let Some(slot) = self.iterators.get_mut(family as usize) else { return Ok(()) };
        let iterator = match slot {
            Some(iterator) => iterator,
            None => slot.insert(self.database.row_iterator(family, ReadOptions::default())?),
        };
        self.prefix.clear();
        key::push_prefix(key, &mut self.prefix);
        super::reader::versions(iterator, &self.prefix, range, visit)
    }

    fn rows(
        &mut self,
        rows: &RowRange,
        family: Family,
        visit: &mut dyn FnMut(&[u8], Timestamp, &[u8]) -> bool,
    ) -> Result<()> {
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        if let Some(end) = &rows.end {
            options.set_iterate_upper_bound(key::bound(end));
        }
        let rocks = self.database.rocks();
        let mut iterator = rocks.raw_iterator_cf_opt(self.database.family(family)?, options);
        iterator.seek(key::bound(&rows.start));
        while let Some((found, value)) = iterator.item() {
            let Some((prefix, timestamp)) = key::split(found) else { break };
            let Some(row) = key::decode_prefix(prefix) else { break };
            if !visit(&row, timestamp, value) {
                return Ok(());
            }
            iterator.next();
        }
        iterator.status().map_err(database_error)
    }
}

impl CommitLog for RocksLog {
    type Reader<'a> = RocksReader<'a>;

    fn reader(&self) -> RocksReader<'_> {
        RocksReader { database: &self.database, iterators: [None, None, None, None], prefix: Vec::new() }
    }

    fn reserve(&self, bytes: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let free = free_bytes(&self.path).map_err(|error| StoreError::Io(format!("free space: {error}")))?;
        // A batch is written to the log, and again to an SSTable when its memtable is flushed.
        if free < self.reserve_bytes.saturating_add(bytes.saturating_mul(2)) {
            return Err(StoreError::DiskFull(format!(
                "{free} bytes are free, {} are kept in reserve",
                self.reserve_bytes
            )));
        }
        Ok(())
    }

    fn write(&mut self, record: &LogRecord<'_>, sync: bool) -> Result<()> {
        self.database.write(self.batch(record)?, sync)?;
        // Before anybody can have a snapshot that shows the changes.
        self.hot.changed(record.changes);
        Ok(())
    }

    fn write_at_once(&mut self, record: &LogRecord<'_>) -> Result<bool> {
        let written = self.database.write_at_once(self.batch(record)?)?;
        if written {
            self.hot.changed(record.changes);
        }
        Ok(written)
    }

    fn sync(&mut self) -> Result<()> {
        self.database.sync()
    }

    /// Announces the files in the log and syncs it before ingesting them. The sync covers the earlier writes that
    /// the commit rests on. It also covers the greatest timestamp, so no timestamp at or below that of the files
    /// is handed out again.
    fn take_in(&mut self, cells: &[PreparedCells], before: Timestamp, record: &LogRecord<'_>) -> Result<()> {
        let Some(first) = cells.iter().find(|cells| cells.is_write()) else {
            return Err(StoreError::Unsupported("a prepared commit without writes".to_owned()));
        };
        self.database.begin_taking_in(first, before, record.max_timestamp)?;
        super::sst_ingest::take_in_all(&self.database, cells)?;
        let writes = cells.iter().filter(|cells| cells.is_write());
        writes.for_each(|cells| self.hot.loaded(&cells.ends.0, &cells.ends.1));
        let mut batch = WriteBatch::default();
        batch.delete(TAKING_IN_KEY);
        put_numbers(&mut batch, record.visible, record.max_timestamp);
        // The next sync makes it durable. Until then the announcement gives the same answer.
        self.database.write(batch, false)
    }
}

/// Adds the committer's record to a batch.
fn put_numbers(batch: &mut WriteBatch, visible: Timestamp, max_timestamp: Timestamp) {
    let mut numbers = [0; 16];
    let (first, second) = numbers.split_at_mut(8);
    first.copy_from_slice(&visible.0.to_be_bytes());
    second.copy_from_slice(&max_timestamp.0.to_be_bytes());
    batch.put(COMMITTER_KEY, numbers);
}

fn encode(key: &[u8], timestamp: Timestamp, buffer: &mut Vec<u8>) {
    buffer.clear();
    key::push_prefix(key, buffer);
    key::push_timestamp(timestamp, buffer);
}
