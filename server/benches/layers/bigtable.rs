//! The workloads of table 1 in Chang et al., "Bigtable: A Distributed Storage System for Structured Data" (OSDI 2006),
//! on this store in this process. The paper asked one tablet server over the network, and that server wrote without a
//! sync to a file system of several machines. The table prints both figures side by side; they are not comparable.

use crate::{Outcome, drawn, load, newest, open, rate, read_bare, value, write_bare};
use futures::TryStreamExt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::{EmbeddedOptions, EnvRef, RowRange, ScanOptions, StoreRef, Timestamp};

const ROWS: u64 = 1_000_000;
const BYTES: usize = 1000;
const LASTING: Duration = Duration::from_secs(5);
/// Tasks that read or write concurrently.
const TASKS: u64 = 16;

pub(crate) async fn measure(env: &EnvRef) -> Outcome<()> {
    println!("## Bigtable's own table\n");
    println!(
        "{ROWS} rows of {BYTES} bytes, {TASKS} tasks, {LASTING:?} each; 1000-byte values read or written a second.\n"
    );
    println!("| | a tablet server of 2006 | this store |\n|---|---:|---:|");
    let folder = tempfile::tempdir()?;
    let small =
        EmbeddedOptions { cache_bytes: 64 << 20, hot_row_bytes: 0, hot_range_bytes: 0, ..EmbeddedOptions::default() };
    let (store, transactions) = open(env, folder.path(), small).await?;
    let at = transactions.oracle().timestamp().await?.timestamp;
    load(&store, ROWS, BYTES, at).await?;
    let print = |what: &str, then: u32, now: f64| println!("| {what} | {then} | {now:.0} |");
    print("random reads", 1212, reads(&store, |turn| drawn(turn, ROWS)).await?);
    drop((store, transactions));
    let large =
        EmbeddedOptions { cache_bytes: 2 << 30, hot_row_bytes: 0, hot_range_bytes: 0, ..EmbeddedOptions::default() };
    let (store, transactions) = open(env, folder.path(), large).await?;
    scans(&store, Duration::from_secs(1)).await?;
    print("random reads (mem)", 10_811, reads(&store, |turn| drawn(turn, ROWS)).await?);
    print("sequential reads", 4425, reads(&store, |turn| turn % ROWS).await?);
    print("scans", 15_385, scans(&store, LASTING).await?);
    for (durable, how) in [(true, "synced"), (false, "synced ten times a second")] {
        print(&format!("random writes, {how}"), 8850, writes(&store, durable, |turn| drawn(turn, ROWS)).await?);
        print(&format!("sequential writes, {how}"), 8547, writes(&store, durable, |turn| turn % ROWS).await?);
    }
    println!();
    drop((store, transactions));
    Ok(())
}

async fn reads(store: &StoreRef, row: fn(u64) -> u64) -> Outcome<f64> {
    let store = Arc::clone(store);
    rate(TASKS, LASTING, move |turn| {
        let store = Arc::clone(&store);
        async move { read_bare(&store, row(turn)).await }
    })
    .await
}

async fn writes(store: &StoreRef, durable: bool, row: fn(u64) -> u64) -> Outcome<f64> {
    let store = Arc::clone(store);
    rate(TASKS, LASTING, move |turn| {
        let store = Arc::clone(&store);
        let mut bytes = Vec::with_capacity(BYTES);
        value(turn, BYTES, &mut bytes);
        async move { write_bare(&store, row(turn), bytes, durable).await }
    })
    .await
}

/// Scans all rows repeatedly in one task, for `lasting`. Answers rows per second.
async fn scans(store: &StoreRef, lasting: Duration) -> Outcome<f64> {
    let (begin, mut done) = (Instant::now(), 0);
    while begin.elapsed() < lasting {
        let mut rows = store.scan(RowRange::all(), newest(Timestamp::MAX), ScanOptions::default());
        while let Some(batch) = rows.try_next().await? {
            done += batch.len();
            if begin.elapsed() > lasting {
                break;
            }
        }
    }
    Ok(done as f64 / begin.elapsed().as_secs_f64())
}
