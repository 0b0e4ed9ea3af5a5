//! [`EmbeddedOptions`], and what of them RocksDB is told.

use super::key;
use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType, DBRecoveryMode, LogLevel, Options,
    SliceTransform,
};
use std::time::Duration;

/// How an embedded store runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedOptions {
    /// Bytes of SSTable blocks kept in memory.
    pub cache_bytes: usize,
    /// Bytes of rows that were read lately, kept apart from their blocks.
    pub hot_row_bytes: u64,
    /// The same for short ranges of rows.
    pub hot_range_bytes: u64,
    /// Bytes of memtables, over all families. Also bounds the log, and with it the time to reopen.
    pub memtable_bytes: usize,
    /// Writes are refused with `DiskFull` when less than this would be left free.
    pub reserve_bytes: u64,
    /// Bytes of recent commits that the committer remembers.
    pub recent_bytes: usize,
    /// A tablet is split when it is larger than this.
    pub tablet_bytes: u64,
    /// A tablet is split when it is read and written more often than this a second, and two neighbours
    /// are not merged above a quarter of it.
    pub tablet_operations: u64,
    /// How often tablets are looked at.
    pub tablet_interval: Duration,
    /// Within this time, commits that did not wait for the sync are synced.
    pub sync_interval: Duration,
}

impl EmbeddedOptions {
    /// The same with `bytes` of memory for what was read: five eighths for blocks, a quarter for rows and an eighth for short
    /// ranges of them, which take more memory but are found in a fraction of the time.
    #[must_use]
    pub fn with_cache(self, bytes: usize) -> EmbeddedOptions {
        let (rows, ranges) = (bytes / 4, bytes / 8);
        let (hot_row_bytes, hot_range_bytes) = (rows as u64, ranges as u64);
        EmbeddedOptions { cache_bytes: bytes - rows - ranges, hot_row_bytes, hot_range_bytes, ..self }
    }
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        EmbeddedOptions {
            cache_bytes: 256 << 20,
            hot_row_bytes: 32 << 20,
            hot_range_bytes: 16 << 20,
            memtable_bytes: 128 << 20,
            reserve_bytes: 256 << 20,
            recent_bytes: 64 << 20,
            tablet_bytes: 64 << 20,
            tablet_operations: 100_000,
            tablet_interval: Duration::from_secs(10),
            sync_interval: Duration::from_millis(100),
        }
    }
}

/// Name of the column family of RocksDB that holds what is not a row.
pub const META_FAMILY: &str = "default";
/// Names of the column families of RocksDB, in the order of [`Family::ALL`](crate::Family::ALL).
pub const FAMILY_NAMES: [&str; 4] = ["d", "l", "w", "r"];

/// Options of the whole database.
pub fn database(options: &EmbeddedOptions) -> Options {
    let mut database = Options::default();
    database.create_if_missing(true);
    database.create_missing_column_families(true);
    // The default mode opens with a shorter history when the log is damaged in its middle. log_check.rs
    // finds what even this mode lets pass.
    database.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
    database.set_track_and_verify_wals_in_manifest(true);
    database.set_paranoid_checks(true);
    // Logs that are used again could not be told from damaged ones.
    database.set_recycle_log_file_num(0);
    database.set_max_total_wal_size(options.memtable_bytes as u64);
    database.set_db_write_buffer_size(options.memtable_bytes);
    database.set_max_background_jobs(2);
    database.set_bytes_per_sync(1 << 20);
    database.set_max_open_files(768);
    database.set_keep_log_file_num(4);
    database.set_log_level(LogLevel::Warn);
    database
}

/// Keeps blocks, filters and indexes. Lookups take no mutex, and RocksDB gives each of its shards 32 MiB at least: the filter
/// of a table of 64 MB of short rows takes megabytes, and where blocks did not fit a shard beside each other, each read of a
/// row read and checked its filter anew.
fn cache(bytes: usize) -> Cache {
    Cache::new_hyper_clock_cache(bytes, 0)
}

/// How SSTables are laid out; blocks are kept in `cache`, or not at all.
fn blocks(cache: Option<&Cache>) -> BlockBasedOptions {
    let mut blocks = BlockBasedOptions::default();
    if let Some(cache) = cache {
        blocks.set_block_cache(cache);
    }
    blocks.set_block_size(8 << 10);
    blocks.set_format_version(5);
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_cache_index_and_filter_blocks_with_high_priority(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    // Versions are found by seeking, so filters hold rows, not cells.
    blocks.set_bloom_filter(10.0, false);
    blocks.set_whole_key_filtering(false);
    blocks.set_optimize_filters_for_memory(true);
    blocks
}

/// Options of a family of rows, and of its SSTables.
fn family(blocks: &BlockBasedOptions) -> Options {
    let mut family = Options::default();
    family.set_block_based_table_factory(blocks);
    family.set_prefix_extractor(SliceTransform::create(
        "percosql.row",
        key::prefix_of,
        Some(|cell_key| cell_key.len() > key::TIMESTAMP_BYTES),
    ));
    family.set_compression_type(DBCompressionType::Lz4);
    family
}

/// Options of SSTables that are made beside the families' own.
pub fn loaded_tables() -> Options {
    family(&blocks(None))
}

/// The column families.
pub fn families(options: &EmbeddedOptions) -> Vec<ColumnFamilyDescriptor> {
    let blocks = blocks(Some(&cache(options.cache_bytes)));
    let mut descriptors = vec![ColumnFamilyDescriptor::new(META_FAMILY, Options::default())];
    for name in FAMILY_NAMES {
        let mut family = family(&blocks);
        family.set_memtable_prefix_bloom_ratio(0.1);
        family.set_level_compaction_dynamic_level_bytes(true);
        family.set_write_buffer_size((options.memtable_bytes / 2).max(1 << 20));
        family.set_target_file_size_base(64 << 20);
        // Where GC left many tombstones, scans are slow until they are compacted away.
        family.add_compact_on_deletion_collector_factory(4096, 2048, 0.5);
        descriptors.push(ColumnFamilyDescriptor::new(name, family));
    }
    descriptors
}
