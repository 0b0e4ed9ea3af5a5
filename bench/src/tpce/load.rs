//! `tpce init`: creates the tables, loads the population by COPY, adds indexes and foreign keys, and verifies the row
//! counts. An interrupted load can continue, because each part is one transaction that also records its name.

use super::population::{Part, Population};
use super::scale::Scale;
use super::schema::{FOREIGN_KEYS, INDEXES, OWN, SEQUENCE, TABLES, foreign_key_name};
use super::setting;
use crate::error::{Error, Result};
use crate::session::connect;
use futures::SinkExt;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;
use tokio_postgres::{Client, Config};

/// Size of one message of COPY, in bytes.
const COPY_BYTES: usize = 128 * 1024;
/// Generated parts that wait for a connection, at most. The limit keeps the generator from running ahead of the server.
const PARTS_AHEAD: usize = 4;
/// Tries of a part that conflicts, at most.
const TRIES: usize = 5;

/// Loads a population with `jobs` connections.
pub async fn init(config: &Config, scale: Scale, jobs: usize) -> Result<()> {
    let client = connect(config).await?;
    create_tables(&client, &scale).await?;
    let population = Arc::new(Population::new(scale));
    // A complete earlier load is only counted again.
    if setting::loaded(&client).await.is_err() {
        load(config, &client, Arc::clone(&population), jobs.max(1)).await?;
        finish(&client, &population.scale).await?;
    }
    summarise(&client, &population.scale).await
}

async fn create_tables(client: &Client, scale: &Scale) -> Result<()> {
    for table in OWN.iter().chain(TABLES) {
        client.batch_execute(&format!("create table if not exists {} ({})", table.name, table.columns)).await?;
    }
    match setting::stored(client).await? {
        None => setting::store(client, scale).await,
        Some(there) if there == *scale => Ok(()),
        Some(there) => Err(Error::other(format!("another population is there ({there:?}): run `tpce cleanup` first"))),
    }
}

/// Approximate number of rows in all tables. The progress bar corrects itself at the end.
fn estimate(scale: &Scale) -> u64 {
    let known: i64 = scale.fixed_counts().iter().map(|(_, count)| count).sum();
    let derived = scale.trades() * 466 / 100 + scale.customers * (100 + 7 + 100);
    (known + derived).unsigned_abs()
}

async fn load(config: &Config, client: &Client, population: Arc<Population>, jobs: usize) -> Result<()> {
    let mut done: HashSet<String> = HashSet::new();
    let mut rows_there = 0;
    for row in client.query("select part, row_count from bench_part", &[]).await? {
        let part: String = row.try_get(0)?;
        rows_there += row.try_get::<_, i64>(1)?.unsigned_abs();
        done.extend(part.rsplit_once('/').map(|(name, _)| name.to_string()));
    }
    let style = ProgressStyle::with_template(
        "{elapsed_precise} {bar:40} {percent}% {human_pos} rows, {per_sec}, {eta} left  {msg}",
    )
    .map_err(|error| Error::other(error.to_string()))?;
    let bar = ProgressBar::new(estimate(&population.scale)).with_style(style);
    bar.set_position(rows_there);
    bar.reset_eta();

    let (sender, receiver) = mpsc::channel::<Part>(PARTS_AHEAD);
    let receiver = Arc::new(tokio::sync::Mutex::new(receiver));
    let mut loaders = tokio::task::JoinSet::new();
    for _ in 0..jobs {
        let (config, receiver, bar) = (config.clone(), Arc::clone(&receiver), bar.clone());
        loaders.spawn(async move {
            let client = connect(&config).await?;
            loop {
                let part = receiver.lock().await.recv().await;
                let Some(part) = part else { return Ok::<(), Error>(()) };
                bar.set_message(part.name.clone());
                copy_part(&client, &part).await?;
                bar.inc(part.tables.iter().map(|rows| rows.count.unsigned_abs()).sum());
            }
        });
    }
    let work = Arc::new((population.jobs(), AtomicUsize::new(0)));
    let done = Arc::new(done);
    let producers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(jobs);
    for _ in 0..producers {
        let (population, work, done, sender) =
            (Arc::clone(&population), Arc::clone(&work), Arc::clone(&done), sender.clone());
        tokio::task::spawn_blocking(move || {
            while let Some(job) = work.0.get(work.1.fetch_add(1, Ordering::Relaxed)) {
                // If the receiver is gone, a loader has failed and reports the reason.
                population.produce(*job, &mut |part| done.contains(&part.name) || sender.blocking_send(part).is_ok());
            }
        });
    }
    drop(sender);
    let mut result = Ok(());
    while let Some(ended) = loaders.join_next().await {
        let ended = ended.map_err(|error| Error::other(error.to_string())).and_then(|own| own);
        if ended.is_err() && result.is_ok() {
            result = ended;
            // The closed channel ends the producers.
            receiver.lock().await.close();
        }
    }
    bar.finish_with_message("loaded");
    result
}

async fn copy_part(client: &Client, part: &Part) -> Result<()> {
    let mut tries = 0;
    loop {
        match try_copy_part(client, part).await {
            Err(error) if error.is_conflict() && tries < TRIES => {
                tries += 1;
                client.batch_execute("rollback").await?;
            }
            Err(error) => return Err(Error::other(format!("part {}: {error}", part.name))),
            Ok(()) => return Ok(()),
        }
    }
}

async fn try_copy_part(client: &Client, part: &Part) -> Result<()> {
    client.batch_execute("begin").await?;
    for rows in part.tables.iter().filter(|rows| rows.count > 0) {
        let sink = client.copy_in(&format!("copy {} from stdin", rows.table)).await?;
        let mut sink = std::pin::pin!(sink);
        for piece in rows.text.as_bytes().chunks(COPY_BYTES) {
            sink.send(bytes::Bytes::copy_from_slice(piece)).await?;
        }
        let copied = sink.finish().await?;
        if copied != rows.count.unsigned_abs() {
            return Err(Error::other(format!("COPY {} took {copied} rows of {}", rows.table, rows.count)));
        }
    }
    let notes: Vec<String> =
        part.tables.iter().map(|rows| format!("('{}/{}', {})", part.name, rows.table, rows.count)).collect();
    client.batch_execute(&format!("insert into bench_part values {}", notes.join(", "))).await?;
    Ok(client.batch_execute("commit").await?)
}

/// Creates the sequence, indexes, foreign keys and statistics, except for existing ones.
async fn finish(client: &Client, scale: &Scale) -> Result<()> {
    let start = scale.last_trade_id() + 1;
    client.batch_execute(&format!("create sequence if not exists {SEQUENCE} start with {start} cache 20")).await?;
    let rows = client.query("select conname::text from pg_constraint where contype = 'f'", &[]).await?;
    let there: HashSet<String> = rows.iter().map(|row| row.try_get(0)).collect::<std::result::Result<_, _>>()?;
    let bar = ProgressBar::new((INDEXES.len() + FOREIGN_KEYS.len()) as u64).with_style(
        ProgressStyle::with_template("{elapsed_precise} {bar:40} {pos} of {len} indexes and foreign keys  {msg}")
            .map_err(|error| Error::other(error.to_string()))?,
    );
    for (name, table, columns) in INDEXES {
        bar.set_message(*name);
        client.batch_execute(&format!("create index if not exists {name} on {table} ({columns})")).await?;
        bar.inc(1);
    }
    for (place, (table, columns, other, keys)) in FOREIGN_KEYS.iter().enumerate() {
        let name = foreign_key_name(place);
        bar.set_message(name.clone());
        if !there.contains(&name) {
            let sql = format!(
                "alter table {table} add constraint {name} foreign key ({columns}) references {other} ({keys})"
            );
            client.batch_execute(&sql).await.map_err(|error| Error::other(format!("{sql}: {}", Error::from(error))))?;
        }
        bar.inc(1);
    }
    bar.finish_with_message("");
    client.batch_execute("analyze").await?;
    setting::mark_loaded(client).await
}

/// Prints the rows of each table beside the required numbers.
#[allow(clippy::print_stdout)]
async fn summarise(client: &Client, scale: &Scale) -> Result<()> {
    let mut expected: BTreeMap<&str, i64> = TABLES.iter().map(|table| (table.name, 0)).collect();
    for row in client.query("select part, row_count from bench_part", &[]).await? {
        let part: String = row.try_get(0)?;
        let table = part.rsplit_once('/').map_or("", |(_, table)| table).to_string();
        if let Some(sum) = expected.get_mut(table.as_str()) {
            *sum += row.try_get::<_, i64>(1)?;
        }
    }
    for (table, count) in scale.fixed_counts() {
        let loaded = expected.insert(table, count);
        if loaded != Some(count) {
            return Err(Error::other(format!("{table}: {loaded:?} rows were generated instead of {count}")));
        }
    }
    println!("{:<20} {:>12} {:>12}", "table", "rows", "expected");
    let last = scale.last_trade_id();
    let traded: bool =
        client.query_one("select exists (select 1 from trade where t_id > $1)", &[&last]).await?.try_get(0)?;
    let mut wrong = Vec::new();
    for (table, count) in &expected {
        let there: i64 = client.query_one(&format!("select count(*) from {table}"), &[]).await?.try_get(0)?;
        // Runs add trades. The loaded rows stay, except for holdings, which are sold.
        println!("{table:<20} {there:>12} {count:>12}{}", if there == *count { "" } else { "  differs" });
        if there < *count && !(traded && matches!(*table, "holding" | "holding_summary")) {
            wrong.push(*table);
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Error::other(format!("rows are missing in {}", wrong.join(", ")))),
    }
}
