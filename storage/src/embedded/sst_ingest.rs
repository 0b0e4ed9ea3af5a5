//! [`BulkLoad`](crate::bulk::BulkLoad) and the files of [`BulkCommit`](crate::BulkCommit) of the embedded engine. A block becomes an
//! SSTable, which RocksDB ingests. So the cells are sorted and written once, and pass neither the log nor a memtable.
//!
//! A crash may leave a file in the folder `load` before RocksDB has ingested it. The folder is emptied when
//! the store is opened.

use super::folder::free_bytes;
use super::hot::Hot;
use super::log::Database;
use super::options;
use super::{database_error, key};
use crate::bulk::{CellBlock, CellValue, Medium, PreparedCells, TemporaryFile, are_alike};
use crate::committer::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::contract::Family;
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use rocksdb::{IngestExternalFileOptions, Options, SstFileWriter};
use std::ffi::CString;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Loads wait above this number of level-0 files, because RocksDB slows down writers when more files overlap there.
const MOST_FIRST_LEVEL_FILES: u64 = 8;

/// Makes files and lets RocksDB ingest them.
pub struct Loader {
    database: Arc<Database>,
    hot: Arc<Hot>,
    folder: PathBuf,
    path: CString,
    reserve_bytes: u64,
    options: Options,
    next: AtomicU64,
}

impl Loader {
    /// A loader that makes its files in `folder`, after emptying it. `path` is the store's directory, for the free
    /// space of its file system.
    pub fn new(
        database: Arc<Database>,
        hot: Arc<Hot>,
        folder: &Path,
        path: CString,
        reserve_bytes: u64,
    ) -> std::io::Result<Loader> {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?,
        }
        let options = options::loaded_tables();
        let (folder, next) = (folder.to_owned(), AtomicU64::new(0));
        Ok(Loader { database, hot, folder, path, reserve_bytes, options, next })
    }

    fn load(&self, timestamp: Timestamp, block: &CellBlock) -> Result<()> {
        let Some((first, last)) = block.ends() else { return Ok(()) };
        let mut file = self.begin_file(timestamp, block.bytes())?;
        block.iter().try_for_each(|(key, value)| file.put(key, value))?;
        take_in(&self.database, Family::Write, &[&file.finish()?])?;
        self.hot.loaded(first, last);
        Ok(())
    }

    /// Makes a separate file for each table and index, so that no file spans two of them.
    fn prepare(&self, family: Family, timestamp: Timestamp, block: &CellBlock) -> Result<Vec<PreparedCells>> {
        let mut prepared = Vec::new();
        let mut finish = |(file, first, last): (OpenFile<'_>, &[u8], &[u8])| -> Result<()> {
            prepared.push(PreparedCells {
                family,
                timestamp,
                ends: (Bytes::copy_from_slice(first), Bytes::copy_from_slice(last)),
                medium: Arc::new(Medium::File(file.finish()?)),
            });
            Ok(())
        };
        let mut open: Option<(OpenFile<'_>, &[u8], &[u8])> = None;
        for (key, value) in block.iter() {
            if let Some(done) = open.take_if(|(_, first, _)| !are_alike(first, key)) {
                finish(done)?;
            }
            let (file, _, last) = match &mut open {
                Some(open) => open,
                None => open.insert((self.begin_file(timestamp, block.bytes())?, key, key)),
            };
            file.put(key, value)?;
            *last = key;
        }
        open.map_or(Ok(()), finish)?;
        Ok(prepared)
    }

    /// Starts a file for cells of `timestamp`. `bytes` is the approximate size of this file and of
    /// others made beside it.
    fn begin_file(&self, timestamp: Timestamp, bytes: usize) -> Result<OpenFile<'_>> {
        let free = free_bytes(&self.path).map_err(|error| StoreError::Io(format!("free space: {error}")))?;
        if free < self.reserve_bytes.saturating_add(2 * bytes as u64) {
            return Err(StoreError::DiskFull(format!(
                "{free} bytes are free, {} are kept in reserve",
                self.reserve_bytes
            )));
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let file = TemporaryFile(self.folder.join(format!("{number}.sst")));
        let writer = SstFileWriter::create(&self.options);
        writer.open(&file.0).map_err(database_error)?;
        let (head, cell_key, scratch) = (key::Head::default(), Vec::with_capacity(64), Vec::new());
        Ok(OpenFile { writer, file, timestamp, head, cell_key, scratch })
    }

    /// Whether a load should wait for compaction. Files with overlapping keys enter the first level, which must
    /// not hold too many.
    fn is_behind(&self) -> Result<bool> {
        let family = self.database.family(Family::Write)?;
        let files = self.database.rocks().property_int_value_cf(family, "rocksdb.num-files-at-level0");
        Ok(files.map_err(database_error)?.unwrap_or(0) > MOST_FIRST_LEVEL_FILES)
    }
}

/// A file that is being written.
struct OpenFile<'a> {
    writer: SstFileWriter<'a>,
    file: TemporaryFile,
    timestamp: Timestamp,
    head: key::Head,
    cell_key: Vec<u8>,
    scratch: Vec<u8>,
}

impl OpenFile<'_> {
    /// Adds a cell. Its key must be greater than the one before.
    fn put(&mut self, key: &[u8], value: CellValue<'_>) -> Result<()> {
        if key.len() > MAX_KEY_BYTES || value.len() > MAX_VALUE_BYTES {
            return Err(StoreError::TooLarge(format!(
                "a key of {} bytes with a value of {} exceeds {MAX_KEY_BYTES} or {MAX_VALUE_BYTES}",
                key.len(),
                value.len()
            )));
        }
        self.cell_key.clear();
        self.head.push_prefix(key, &mut self.cell_key);
        key::push_timestamp(self.timestamp, &mut self.cell_key);
        self.writer.put(&self.cell_key, value.joined(&mut self.scratch)).map_err(database_error)
    }

    /// Finishes the file and answers it.
    fn finish(mut self) -> Result<TemporaryFile> {
        self.writer.finish().map_err(database_error)?;
        Ok(self.file)
    }
}

/// Lets RocksDB ingest files, all of them or none.
pub(super) fn take_in(database: &Database, family: Family, files: &[&TemporaryFile]) -> Result<()> {
    let mut options = IngestExternalFileOptions::default();
    options.set_move_files(true);
    let paths = files.iter().map(|file| &file.0).collect();
    let family = database.family(family)?;
    database.take_in(|rocks| rocks.ingest_external_file_cf_opts(family, &options, paths)).map_err(database_error)
}

/// Lets RocksDB ingest prepared files, all or nothing for each family. Those of [`Family::Write`] come last, because
/// they are the commit.
pub(super) fn take_in_all(database: &Database, cells: &[PreparedCells]) -> Result<()> {
    for family in Family::ALL.into_iter().filter(|family| *family != Family::Write).chain([Family::Write]) {
        let mut files = Vec::new();
        for cells in cells.iter().filter(|cells| cells.family == family) {
            match &*cells.medium {
                Medium::File(file) => files.push(file),
                Medium::Block(_) => return Err(StoreError::Unsupported("cells that lie in memory".to_owned())),
            }
        }
        if !files.is_empty() {
            take_in(database, family, &files)?;
        }
    }
    Ok(())
}

/// The loads under way. Dropping it waits for them, so that none uses the database afterwards.
pub struct Loads {
    loader: Arc<Loader>,
    running: Arc<Running>,
}

#[derive(Default)]
struct Running {
    count: Mutex<usize>,
    ended: Condvar,
}

impl Loads {
    /// No load is under way.
    pub fn new(loader: Loader) -> Loads {
        Loads { loader: Arc::new(loader), running: Arc::default() }
    }

    /// Whether the next load should wait for compaction.
    pub fn are_behind(&self) -> Result<bool> {
        self.loader.is_behind()
    }

    /// Begins a load, which may continue on another thread.
    pub fn begin(&self) -> Load {
        *self.running.count.lock() += 1;
        Load { loader: Some(self.loader.clone()), running: self.running.clone() }
    }
}

impl Drop for Loads {
    fn drop(&mut self) {
        let mut count = self.running.count.lock();
        while *count > 0 {
            self.running.ended.wait(&mut count);
        }
    }
}

/// A load under way. The store is not closed before it is dropped.
pub struct Load {
    loader: Option<Arc<Loader>>,
    running: Arc<Running>,
}

impl Load {
    /// Writes a block and blocks the thread meanwhile. Errors: as [`BulkLoad::load`](crate::BulkLoad::load).
    pub fn run(&self, timestamp: Timestamp, block: &CellBlock) -> Result<()> {
        match &self.loader {
            Some(loader) => loader.load(timestamp, block),
            None => Ok(()),
        }
    }

    /// Makes files for a later commit, and blocks the thread meanwhile. Errors: those of
    /// [`BulkCommit::prepare`](crate::BulkCommit::prepare) in the contract.
    pub fn prepare(&self, family: Family, timestamp: Timestamp, block: &CellBlock) -> Result<Vec<PreparedCells>> {
        match &self.loader {
            Some(loader) => loader.prepare(family, timestamp, block),
            None => Ok(Vec::new()),
        }
    }
}

impl Load {
    /// Writes a named value durably. Blocks the thread.
    pub(super) fn put_meta(&self, name: &str, value: &[u8]) -> Result<()> {
        match &self.loader {
            Some(loader) => loader.database.put_meta(name, value),
            None => Ok(()),
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // The database is released before the waiter is told.
        self.loader = None;
        *self.running.count.lock() -= 1;
        self.running.ended.notify_all();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::super::tests::{commit, open, small};
    use super::*;
    use crate::contract::{BulkLoad, FamilyFilter, ReadFilter, RowRange, ScanOptions, Store, TimestampRange};
    use crate::embedded::{EmbeddedOptions, EmbeddedStore};
    use crate::testing::contract;
    use bytes::Bytes;
    use futures::executor::block_on;

    fn block(keys: &[&str], value: &str) -> CellBlock {
        let mut block = CellBlock::new();
        for key in keys {
            assert!(block.push(key.as_bytes(), |out| out.extend_from_slice(value.as_bytes())));
        }
        block
    }

    /// The key and the newest value at or below a timestamp, for each row.
    fn seen(store: &EmbeddedStore, at: Timestamp) -> Vec<(String, String)> {
        let filter = ReadFilter::new().with(Family::Write, TimestampRange::up_to(at), 1);
        let rows = contract::scan(store, RowRange::all(), filter, ScanOptions::default());
        let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        rows.iter().map(|row| (text(&row.key), text(&row.cells[0].value))).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_was_loaded_is_durable_and_lies_beneath_later_commits() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        let first = commit(&store, &["b"], "first");
        let second = commit(&store, &["c"], "second");
        // The row's newest cell is cached.
        assert_eq!(
            block_on(
                store.read(&[Bytes::from_static(b"c")], &ReadFilter::new().with(Family::Write, TimestampRange::ALL, 1))
            )
            .unwrap()
            .len(),
            1
        );
        let newest = |key: &'static str| {
            let filter = ReadFilter::new().with(Family::Write, TimestampRange::ALL, 1);
            let rows = block_on(store.read(&[Bytes::from_static(key.as_bytes())], &filter)).unwrap();
            String::from_utf8(rows[0].cells[0].value.to_vec()).unwrap()
        };
        assert_eq!(newest("b"), "first");
        block_on(store.load(second, block(&["b"], "later"))).unwrap();
        assert_eq!(newest("b"), "later");
        block_on(store.load(first, block(&["a", "c", "d\0e"], "loaded"))).unwrap();
        let check = |store: &EmbeddedStore| {
            let old = [("a", "loaded"), ("b", "first"), ("c", "loaded"), ("d\0e", "loaded")];
            assert_eq!(seen(store, first), pairs(&old));
            let new = [("a", "loaded"), ("b", "later"), ("c", "second"), ("d\0e", "loaded")];
            assert_eq!(seen(store, second), pairs(&new));
            assert_eq!(seen(store, Timestamp(first.0 - 1)), []);
        };
        check(&store);
        assert_eq!(std::fs::read_dir(folder.path().join("load")).unwrap().count(), 0);
        std::fs::write(folder.path().join("load/9.sst"), "half a file").unwrap();
        drop(store);
        let store = open(folder.path(), small()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path().join("load")).unwrap().count(), 0);
        check(&store);
        store.compact().unwrap();
        check(&store);
        block_on(store.delete_range(RowRange { start: "b".into(), end: None })).unwrap();
        assert_eq!(seen(&store, second), pairs(&[("a", "loaded")]));
    }

    #[test]
    fn a_range_that_is_hot_shows_what_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        let at = commit(&store, &["a table: b"], "first");
        let wanted = FamilyFilter { family: Family::Write, range: TimestampRange::up_to(at), cells: 1 };
        let range = RowRange::prefix("a table: ");
        let seen = || contract::scan_packed(&*store, range.clone(), wanted, ScanOptions::default()).len();
        assert_eq!([seen(), seen(), seen()], [1; 3]);
        block_on(store.load(at, block(&["a table: a", "a table: c"], "loaded"))).unwrap();
        assert_eq!([seen(), seen(), seen()], [3; 3]);
    }

    #[test]
    fn a_load_that_is_refused_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        let at = commit(&store, &["a"], "first");
        let long = "k".repeat(MAX_KEY_BYTES + 1);
        let failed = block_on(store.load(at, block(&["b", &long], "x")));
        assert!(matches!(failed, Err(StoreError::TooLarge(_))), "{failed:?}");
        // A block that is not in key order.
        assert!(block_on(store.load(at, block(&["d", "c"], "x"))).is_err());
        assert_eq!(seen(&store, at), pairs(&[("a", "first")]));
        assert_eq!(std::fs::read_dir(folder.path().join("load")).unwrap().count(), 0);
        drop(store);
        // No disk has so much room.
        let full = open(folder.path(), EmbeddedOptions { reserve_bytes: u64::MAX / 2, ..small() }).unwrap();
        let failed = block_on(full.load(at, block(&["b"], "x")));
        assert!(matches!(failed, Err(StoreError::DiskFull(_))), "{failed:?}");
    }

    #[test]
    fn closing_waits_for_a_load() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), small()).unwrap();
        let at = commit(&store, &["z"], "first");
        let keys: Vec<String> = (0..50_000).map(|number| format!("{number:08}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        // The load runs on although nobody waits for its answer.
        let mut load = store.load(at, block(&keys, "x"));
        let waker = std::task::Waker::noop();
        assert!(load.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        drop(load);
        drop(store);
        let store = open(folder.path(), small()).unwrap();
        assert_eq!(seen(&store, at).len(), 50_001);
    }
}
