//! Costs of the layers beneath SQL, each beside the layer below it: timestamps, Percolator against the bare store, and
//! the store under the workloads of Bigtable's paper. `cargo bench -p percosql --bench layers` prints Markdown tables
//! on standard output. It asserts nothing about time.

#![allow(clippy::print_stdout)]

mod bigtable;
mod percolator;
mod timestamps;

use bytes::Bytes;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::{
    CellBlock, CommitBatch, CommitCell, EmbeddedOptions, EmbeddedStore, EnvRef, Family, ReadFilter, Stamp, StoreRef,
    SystemEnv, Timestamp, TimestampRange, TimestampSource,
};
use txn::{Oracle, TransactionStore, TransactionStoreOptions};

#[global_allocator]
static ALLOCATOR: percosql::allocator::Allocator = percosql::allocator::Allocator;

pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The measurements that the command line can select.
const ALL: [&str; 3] = ["timestamps", "percolator", "bigtable"];

fn main() -> Outcome<()> {
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if let Some(unknown) = asked.iter().find(|word| !ALL.contains(&word.as_str())) {
        return Err(format!("nothing is called {unknown}; there are {}", ALL.join(", ")).into());
    }
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|word| word == name);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let env: EnvRef = SystemEnv::current()?;
        if wanted("timestamps") {
            timestamps::measure(&env).await?;
        }
        if wanted("percolator") {
            percolator::measure(&env).await?;
        }
        if wanted("bigtable") {
            bigtable::measure(&env).await?;
        }
        Ok(())
    })
}

/// Opens an embedded store in a folder, and transactions over it.
pub(crate) async fn open(
    env: &EnvRef,
    folder: &Path,
    options: EmbeddedOptions,
) -> Outcome<(StoreRef, Arc<TransactionStore>)> {
    let oracle = Oracle::new(env.clone());
    let store: StoreRef =
        EmbeddedStore::open(folder, Arc::clone(&oracle) as Arc<dyn TimestampSource>, env.clone(), options)?;
    let transactions =
        TransactionStore::open(store.clone(), oracle, env.clone(), TransactionStoreOptions::default()).await?;
    Ok((store, transactions))
}

/// The key of a row. It is as long as the key of a table with an integer primary key.
pub(crate) fn key(number: u64) -> Vec<u8> {
    [b"t\0\0\0\x01\0\0\0\x01".as_slice(), &number.to_be_bytes()].concat()
}

/// Loads `rows` rows whose values have `bytes` bytes, in the form of transaction records written at `at`. The values
/// compress to about half.
pub(crate) async fn load(store: &StoreRef, rows: u64, bytes: usize, at: Timestamp) -> Outcome<()> {
    let Some(bulk) = store.bulk() else { return Err("this store takes no bulk".into()) };
    let mut block = CellBlock::new();
    for number in 0..rows {
        block.push(&key(number), |out| {
            // The form of a committed, updated value: see `txn::write`.
            out.extend([b'U', b'P']);
            out.extend(at.0.to_be_bytes());
            value(number, bytes, out);
        });
        if block.is_full() {
            bulk.load(at, std::mem::take(&mut block)).await?;
        }
    }
    bulk.load(at, block).await?;
    Ok(())
}

/// Appends a value in which every other byte is noise.
pub(crate) fn value(number: u64, bytes: usize, out: &mut Vec<u8>) {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for index in 0..bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.push(if index % 2 == 0 { state.to_le_bytes()[3] } else { b'x' });
    }
}

/// A filter for the newest version of a row at or below a timestamp.
pub(crate) fn newest(at: Timestamp) -> ReadFilter {
    ReadFilter::new().with(Family::Write, TimestampRange::up_to(at), 1)
}

/// Reads a row from the bare store. Answers 1, so that the caller can sum the calls. Errors: the row is absent.
pub(crate) async fn read_bare(store: &StoreRef, row: u64) -> Outcome<u64> {
    let rows = store.read(&[Bytes::from(key(row))], &newest(Timestamp::MAX)).await?;
    rows.first().and_then(|row| row.cells.first()).ok_or("no row")?;
    Ok(1)
}

/// Writes a version of a row into the bare store as a batch of its own. Answers 1, so that the caller can sum the
/// calls.
pub(crate) async fn write_bare(store: &StoreRef, row: u64, bytes: Vec<u8>, durable: bool) -> Outcome<u64> {
    let atomic = store.atomic().ok_or("this store has no atomic commits")?;
    let (key, value) = (Bytes::from(key(row)), Some(bytes.into()));
    let cell = CommitCell { key, family: Family::Write, stamp: Stamp::AtCommit, value };
    let batch = CommitBatch { cells: vec![cell], publishes: true, durable, ..CommitBatch::default() };
    atomic.commit_atomic(batch).await?.map_err(|_| "a batch without conditions was refused")?;
    Ok(1)
}

/// Calls `work` from `tasks` concurrent tasks for the given time. Each task makes its calls one after the other.
/// Answers calls per second.
pub(crate) async fn rate<W: Future<Output = Outcome<u64>> + Send + 'static>(
    tasks: u64,
    lasting: Duration,
    work: impl Fn(u64) -> W + Clone + Send + Sync + 'static,
) -> Outcome<f64> {
    let begin = Instant::now();
    let running: Vec<_> = (0..tasks)
        .map(|task| {
            let work = work.clone();
            tokio::spawn(async move {
                let mut done = 0;
                let mut turn = 0;
                while begin.elapsed() < lasting {
                    done += work(task + turn * tasks).await?;
                    turn += 1;
                }
                Outcome::Ok(done)
            })
        })
        .collect();
    let mut done = 0;
    for task in running {
        done += task.await??;
    }
    Ok(done as f64 / begin.elapsed().as_secs_f64())
}

/// A pseudo-random number below `limit`.
pub(crate) fn drawn(number: u64, limit: u64) -> u64 {
    let mixed = (number ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 32)) % limit
}

/// The median of the values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
