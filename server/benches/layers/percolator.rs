//! Percolator against the bare store; section 3.1 of the paper measures the same over Bigtable. One pair compares a
//! snapshot read with a bare lookup. The other compares a transaction that writes a row with one synced batch.

use crate::{Outcome, drawn, key, load, median, open, rate, read_bare, value, write_bare};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use storage::{EmbeddedOptions, EnvRef, StoreRef};
use txn::{LockStrength, OwnWrites, TransactionOptions, TransactionStore, Write, WriteKind};

const ROWS: u64 = 500_000;
const BYTES: usize = 100;
const LASTING: Duration = Duration::from_secs(1);
/// Runs of each side, alternating.
const PAIRS: usize = 7;

pub(crate) async fn measure(env: &EnvRef) -> Outcome<()> {
    println!("## Percolator beside the bare store\n");
    println!("{ROWS} rows of {BYTES} bytes; medians of {PAIRS} interleaved pairs of runs of {LASTING:?}.\n");
    println!("| | tasks | bare store, a second | Percolator, a second | ratio |\n|---|---:|---:|---:|---:|");
    let folder = tempfile::tempdir()?;
    for (hot_row_bytes, what) in [(0, "read"), (256 << 20, "read, rows kept in memory")] {
        let folder = folder.path().join(hot_row_bytes.to_string());
        let options = EmbeddedOptions { hot_row_bytes, hot_range_bytes: 0, ..EmbeddedOptions::default() };
        let (store, transactions) = open(env, &folder, options).await?;
        let at = transactions.oracle().timestamp().await?.timestamp;
        load(&store, ROWS, BYTES, at).await?;
        // A snapshot begins at the newest commit, so one commit is needed first.
        write_one(&transactions, 0).await?;
        for tasks in [1, 2] {
            let mut pairs = Vec::new();
            for _ in 0..PAIRS {
                pairs.push((reads_bare(&store, tasks).await?, reads(&transactions, tasks).await?));
            }
            print_row(what, tasks, &pairs);
        }
        if hot_row_bytes == 0 {
            for tasks in [1, 16] {
                let mut pairs = Vec::new();
                for _ in 0..PAIRS {
                    pairs.push((writes_bare(&store, tasks).await?, writes(&transactions, tasks).await?));
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

async fn reads_bare(store: &StoreRef, tasks: u64) -> Outcome<f64> {
    let store = Arc::clone(store);
    rate(tasks, LASTING, move |turn| {
        let store = Arc::clone(&store);
        async move { read_bare(&store, drawn(turn, ROWS)).await }
    })
    .await
}

async fn reads(transactions: &Arc<TransactionStore>, tasks: u64) -> Outcome<f64> {
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

async fn writes_bare(store: &StoreRef, tasks: u64) -> Outcome<f64> {
    let store = Arc::clone(store);
    rate(tasks, LASTING, move |turn| {
        let store = Arc::clone(&store);
        // As long as the record that a transaction writes.
        let mut bytes = b"UP12345678".to_vec();
        value(turn, BYTES, &mut bytes);
        async move { write_bare(&store, drawn(turn, ROWS), bytes, true).await }
    })
    .await
}

async fn writes(transactions: &Arc<TransactionStore>, tasks: u64) -> Outcome<f64> {
    let transactions = Arc::clone(transactions);
    rate(tasks, LASTING, move |turn| {
        let transactions = Arc::clone(&transactions);
        async move { write_one(&transactions, turn).await }
    })
    .await
}

/// Answers the rows written: 1, or 0 if another task wrote the same row at the same time.
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
