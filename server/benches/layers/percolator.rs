//! Percolator beside the bare store (the paper's section 3.1 measures the same over Bigtable): a row that is read at a snapshot beside one
//! look at the store, and a row that is written by a transaction beside one synced batch.

use crate::{Outcome, drawn, first, key, load, median, newest, open, rate, value};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use storage::{CommitBatch, CommitCell, EmbeddedOptions, EnvRef, Family, Stamp, StoreRef};
use txn::{LockStrength, OwnWrites, TransactionOptions, TransactionStore, Write, WriteKind};

const ROWS: u64 = 500_000;
const BYTES: usize = 100;
const LASTING: Duration = Duration::from_secs(1);
/// Runs of each, in turn.
const PAIRS: usize = 7;

pub(crate) async fn measure(env: &EnvRef) -> Outcome<()> {
    println!("## Percolator beside the bare store\n");
    println!("{ROWS} rows of {BYTES} bytes; medians of {PAIRS} interleaved pairs of runs of {LASTING:?}.\n");
    println!("| | tasks | bare store, a second | Percolator, a second | ratio |\n|---|---:|---:|---:|---:|");
    let folder = tempfile::tempdir()?;
    for (hot_row_bytes, what) in [(0, "read"), (256 << 20, "read, rows kept in memory")] {
        let folder = folder.path().join(hot_row_bytes.to_string());
        let options = EmbeddedOptions { hot_row_bytes, ..EmbeddedOptions::default() };
        let (store, transactions) = open(env, &folder, options).await?;
        let at = transactions.oracle().timestamp().await?.timestamp;
        load(&store, ROWS, BYTES, at).await?;
        // Snapshots begin at what was committed last.
        write_one(&transactions, 0).await?;
        for tasks in [1, 2] {
            let mut pairs = Vec::new();
            for _ in 0..PAIRS {
                pairs.push((read_bare(&store, tasks).await?, read(&transactions, tasks).await?));
            }
            print_row(what, tasks, &pairs);
        }
        if hot_row_bytes == 0 {
            for tasks in [1, 16] {
                let mut pairs = Vec::new();
                for _ in 0..PAIRS {
                    pairs.push((write_bare(&store, tasks).await?, write(&transactions, tasks).await?));
                }
                print_row("write", tasks, &pairs);
            }
        }
    }
    println!();
    Ok(())
}

fn print_row(what: &str, tasks: u64, pairs: &[(f64, f64)]) {
    let of = |pick: fn(&(f64, f64)) -> f64| median(pairs.iter().map(pick).collect());
    let (bare, percolator) = (of(|pair| pair.0), of(|pair| pair.1));
    println!("| {what} | {tasks} | {bare:.0} | {percolator:.0} | {:.2} |", of(|pair| pair.1 / pair.0));
}

async fn read_bare(store: &StoreRef, tasks: u64) -> Outcome<f64> {
    let store = Arc::clone(store);
    rate(tasks, LASTING, move |turn| {
        let store = Arc::clone(&store);
        async move {
            let keys = [Bytes::from(key(drawn(turn, ROWS)))];
            let rows = store.read(&keys, &newest(storage::Timestamp(u64::MAX))).await?;
            let row = rows.first().ok_or("no row")?;
            first(&row.cells)?;
            Ok(1)
        }
    })
    .await
}

async fn read(transactions: &Arc<TransactionStore>, tasks: u64) -> Outcome<f64> {
    let transactions = Arc::clone(transactions);
    rate(tasks, LASTING, move |turn| {
        let transactions = Arc::clone(&transactions);
        async move {
            let transaction =
                transactions.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
            transaction.get(&key(drawn(turn, ROWS)), OwnWrites::All).await?.ok_or("no row")?;
            transaction.commit().await?;
            Ok(1)
        }
    })
    .await
}

async fn write_bare(store: &StoreRef, tasks: u64) -> Outcome<f64> {
    let store = Arc::clone(store);
    rate(tasks, LASTING, move |turn| {
        let store = Arc::clone(&store);
        async move {
            let atomic = store.atomic().ok_or("no atomic commits")?;
            // As long as a transaction's record.
            let mut bytes = b"UP12345678".to_vec();
            value(turn, BYTES, &mut bytes);
            let key = Bytes::from(key(drawn(turn, ROWS)));
            let cell = CommitCell { key, family: Family::Write, stamp: Stamp::AtCommit, value: Some(bytes.into()) };
            let batch = CommitBatch { cells: vec![cell], publishes: true, durable: true, ..CommitBatch::default() };
            atomic.commit_atomic(batch).await?.map_err(|_| "a batch without conditions was refused")?;
            Ok(1)
        }
    })
    .await
}

async fn write(transactions: &Arc<TransactionStore>, tasks: u64) -> Outcome<f64> {
    let transactions = Arc::clone(transactions);
    rate(tasks, LASTING, move |turn| {
        let transactions = Arc::clone(&transactions);
        async move { write_one(&transactions, turn).await }
    })
    .await
}

/// How many rows were written: none where another task drew the same one at the same time.
async fn write_one(transactions: &Arc<TransactionStore>, turn: u64) -> Outcome<u64> {
    let mut bytes = Vec::with_capacity(BYTES);
    value(turn, BYTES, &mut bytes);
    let transaction = transactions.begin(TransactionOptions::default());
    let key = Bytes::from(key(drawn(turn, ROWS)));
    let kind = WriteKind::Put(bytes.into());
    transaction.write(vec![Write { key, kind, strength: LockStrength::Update }]).await?;
    match transaction.commit().await {
        Ok(_) => Ok(1),
        Err(txn::TxnError::Conflict(_)) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
