//! Timestamps: the time of one in this process, and how many per second other nodes receive over the network.

use crate::{Outcome, median, open, rate};
use percosql::oracle::{OracleClient, OracleService};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use storage::testing::{CountingTimestamps, MemoryOptions, MemoryStore};
use storage::{EmbeddedOptions, EnvRef, StoreRef, Timestamp};
use txn::{Oracle, OracleNode};

/// Timestamps per measured interval. Reading the clock takes as long as one timestamp.
const TOGETHER: u32 = 100;
/// Transactions that begin concurrently on another node.
const WAITING: u64 = 30_000;
/// Duration of the measurement.
const LASTING: Duration = Duration::from_secs(60);

pub(crate) async fn measure(env: &EnvRef) -> Outcome<()> {
    println!("## Timestamps\n");
    let folder = tempfile::tempdir()?;
    let (_store, transactions) = open(env, folder.path(), EmbeddedOptions::default()).await?;
    let mut times = Vec::new();
    for _ in 0..20_000 {
        // The clock yields at most one timestamp per microsecond, so the loop must not outrun it.
        tokio::time::sleep(Duration::from_micros(50)).await;
        let begin = Instant::now();
        for _ in 0..TOGETHER {
            transactions.oracle().timestamp().await?;
        }
        times.push(begin.elapsed().as_secs_f64() * 1e6 / f64::from(TOGETHER));
    }
    println!("In this process, of an embedded store: p50 {:.3} µs.", median(times));
    let (rate, ahead) = over_the_wire(env).await?;
    println!(
        "Over the wire, {WAITING} waiting on another node, {} s: {rate:.0} a second, at most {:.3} s ahead of the clock.\n",
        LASTING.as_secs(),
        ahead as f64 / 1e6
    );
    Ok(())
}

/// Answers timestamps per second, and the largest lead of a timestamp over the clock in microseconds.
async fn over_the_wire(env: &EnvRef) -> Outcome<(f64, u64)> {
    let options = MemoryOptions { atomic: false, ..MemoryOptions::default() };
    let store: StoreRef = MemoryStore::with_options(Arc::new(CountingTimestamps::after(Timestamp(1))), options);
    let (holder, other) = (OracleService::bind("127.0.0.1:0").await?, OracleService::bind("127.0.0.1:0").await?);
    let join = async |service: &OracleService| {
        let address = service.address().to_string();
        let node = OracleNode { name: address.clone(), address: Some(address) };
        Oracle::join(&store, env, node, Arc::new(OracleClient::default())).await
    };
    let (first, second) = (join(&holder).await?, join(&other).await?);
    let _serving = (holder.serve(Arc::clone(&first)), other.serve(Arc::clone(&second)));
    let ahead = Arc::new(AtomicU64::new(0));
    let (furthest, clock) = (Arc::clone(&ahead), env.clone());
    let rate = rate(WAITING, LASTING, move |_| {
        let (second, furthest, clock) = (Arc::clone(&second), Arc::clone(&furthest), clock.clone());
        async move {
            let reading = second.timestamp().await?;
            furthest.fetch_max(reading.timestamp.0.saturating_sub(clock.now_micros()), Ordering::Relaxed);
            Ok(1)
        }
    })
    .await?;
    Ok((rate, ahead.load(Ordering::Relaxed)))
}
