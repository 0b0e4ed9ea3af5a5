//! [`EmbeddedOptions`], and the RocksDB options that follow from it.

use super::key;
use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType, DBRecoveryMode, LogLevel, Options,
    SliceTransform,
};
use std::time::Duration;

/// Options of an embedded store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedOptions {
    /// Size of the cache of SSTable blocks, in bytes.
    pub cache_bytes: usize,
    /// Size of the cache of recently read rows, in bytes.
    pub hot_row_bytes: u64,
    /// Size of the cache of short ranges of rows, in bytes.
    pub hot_range_bytes: u64,
    /// Size of all memtables together, in bytes. Also bounds the log, and so the time to reopen.
    pub memtable_bytes: usize,
    /// The store refuses writes with `DiskFull` if they would leave fewer free bytes than this.
    pub reserve_bytes: u64,
    /// Memory for recent commits in the committer, in bytes.
    pub recent_bytes: usize,
    /// A tablet larger than this, in bytes, is split.
    pub tablet_bytes: u64,
    /// A tablet with more reads and writes per second than this is split. Neighbours with more than a quarter of
    /// it are not merged.
    pub tablet_operations: u64,
    /// The interval between passes over the tablets.
    pub tablet_interval: Duration,
    /// Commits that did not wait for the sync are synced within this time.
    pub sync_interval: Duration,
}

impl EmbeddedOptions {
    /// Divides `bytes` of memory among the caches: five eighths for blocks, a quarter for rows and an eighth for
    /// short ranges. Rows and ranges take more memory than blocks, but are found in a fraction of the time.
    #[must_use]
    pub fn with_cache(self, bytes: usize) -> EmbeddedOptions {
        let (rows, ranges) = (bytes / 4, bytes / 8);
        let (hot_row_bytes, hot_range_bytes) = (rows as u64, ranges as u64);
        EmbeddedOptions { cache_bytes: bytes - rows - ranges, hot_row_bytes, hot_range_bytes, ..self }
    }

    /// Takes shares of a process's `bytes` of memory: an eighth for memtables and a sixteenth for recent commits. Neither exceeds
    /// its default, which more memory would not make quicker.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> EmbeddedOptions {
        let memtable_bytes = (bytes / 8).clamp(16 << 20, self.memtable_bytes.max(16 << 20));
        let recent_bytes = (bytes / 16).clamp(8 << 20, self.recent_bytes.max(8 << 20));
        EmbeddedOptions { memtable_bytes, recent_bytes, ..self }
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

/// Name of the RocksDB column family for data that is not a row.
pub const META_FAMILY: &str = "default";
/// Names of the RocksDB column families, in the order of [`Family::ALL`](crate::Family::ALL).
pub const FAMILY_NAMES: [&str; 4] = ["d", "l", "w", "r"];

/// The options of the whole database.
pub fn database(options: &EmbeddedOptions) -> Options {
    let mut database = Options::default();
    database.create_if_missing(true);
    database.create_missing_column_families(true);
    // RocksDB's default mode opens a log damaged in its middle as a shorter history. log_check.rs finds damage that
    // even this mode tolerates.
    database.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
    database.set_track_and_verify_wals_in_manifest(true);
    database.set_paranoid_checks(true);
    // Recycled logs could not be told from damaged ones.
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

/// The cache of blocks, filters and indexes. Its look-ups take no mutex, and each of its shards has at least 32 MiB.
/// The filter of a 64 MB table of short rows takes megabytes. Filters that do not fit into a shard together would be
/// read and checked again for each row.
fn cache(bytes: usize) -> Cache {
    Cache::new_hyper_clock_cache(bytes, 0)
}

/// The layout of SSTables. Their blocks are cached in `cache`, if given.
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
    // Readers seek to versions, so filters hold rows, not cells.
    blocks.set_bloom_filter(10.0, false);
    blocks.set_whole_key_filtering(false);
    blocks.set_optimize_filters_for_memory(true);
    blocks
}

/// The options of a family of rows and its SSTables.
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

/// The options of SSTables that are made for ingestion.
pub fn loaded_tables() -> Options {
    family(&blocks(None))
}

/// The column families with their options.
pub fn families(options: &EmbeddedOptions) -> Vec<ColumnFamilyDescriptor> {
    let blocks = blocks(Some(&cache(options.cache_bytes)));
    let mut descriptors = vec![ColumnFamilyDescriptor::new(META_FAMILY, Options::default())];
    for name in FAMILY_NAMES {
        let mut family = family(&blocks);
        family.set_memtable_prefix_bloom_ratio(0.1);
        family.set_level_compaction_dynamic_level_bytes(true);
        family.set_write_buffer_size((options.memtable_bytes / 2).max(1 << 20));
        family.set_target_file_size_base(64 << 20);
        // Where garbage collection left many tombstones, scans are slow until compaction drops them.
        family.add_compact_on_deletion_collector_factory(4096, 2048, 0.5);
        descriptors.push(ColumnFamilyDescriptor::new(name, family));
    }
    descriptors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_memory_gives_small_memtables_and_much_memory_the_defaults() {
        let shares = |bytes: usize| {
            let options = EmbeddedOptions::default().with_memory(bytes);
            (options.memtable_bytes >> 20, options.recent_bytes >> 20)
        };
        assert_eq!(shares(128 << 20), (16, 8));
        assert_eq!(shares(256 << 20), (32, 16));
        assert_eq!(shares(24 << 30), (128, 64));
        let small = EmbeddedOptions { memtable_bytes: 1 << 20, recent_bytes: 0, ..EmbeddedOptions::default() };
        assert_eq!(small.with_memory(1 << 30).memtable_bytes, 16 << 20);
    }
}
