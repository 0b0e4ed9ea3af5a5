//! The own tables and their contents: one table for scans and indexes, and one that COPY fills repeatedly.

use crate::error::{Error, Result};
use crate::random::mix;
use bytes::{Bytes, BytesMut};
use futures::{SinkExt, TryStreamExt};
use std::fmt::Write;
use tokio_postgres::Client;

/// Size of one message of COPY, in bytes.
const MESSAGE_BYTES: usize = 64 * 1024;

/// Size of each row of a long result, in bytes.
const STREAMED_BYTES: usize = 5000;

/// Messages with rows in COPY's text format. They are built in advance, so that building them takes no processor time
/// from the server.
fn messages(rows: u64, row: impl Fn(&mut BytesMut, u64)) -> Vec<Bytes> {
    let mut all = Vec::new();
    let mut message = BytesMut::new();
    for id in 1..=rows {
        row(&mut message, id);
        if message.len() >= MESSAGE_BYTES {
            all.push(message.split().freeze());
        }
    }
    all.push(message.freeze());
    all
}

/// Appends a row as `pgbench -i` sends it: 100,000 accounts per branch, with an empty filler.
fn account(message: &mut BytesMut, id: u64) {
    // Writing to memory cannot fail.
    let _ = writeln!(message, "{id}\t{}\t0\t", (id - 1) / 100_000 + 1);
}

fn scanned(message: &mut BytesMut, id: u64) {
    let drawn = mix(id);
    let _ = writeln!(message, "{id}\t{}\t{}\tnote of row {id}", drawn % 1000, drawn / 1000 % 1_000_000);
}

async fn copy(client: &Client, table: &str, rows: u64, messages: &[Bytes]) -> Result<()> {
    let sink = client.copy_in(&format!("copy {table} from stdin")).await?;
    let mut sink = std::pin::pin!(sink);
    for message in messages {
        sink.send(message.clone()).await?;
    }
    match sink.finish().await? {
        copied if copied == rows => Ok(()),
        copied => Err(Error::other(format!("COPY {table} took {copied} rows of {rows}"))),
    }
}

/// Creates and fills the table for scans and indexes.
pub async fn load_scanned(client: &Client, rows: u64) -> Result<()> {
    let columns = "id bigint primary key, kind int not null, amount bigint not null, note text not null";
    // An earlier attempt may have failed halfway.
    client.batch_execute("drop table if exists bench_scanned").await?;
    client.batch_execute(&format!("create table bench_scanned ({columns})")).await?;
    copy(client, "bench_scanned", rows, &messages(rows, scanned)).await?;
    client.batch_execute("vacuum analyze bench_scanned").await?;
    Ok(())
}

/// Drops the index of an earlier run.
pub async fn drop_index(client: &Client) -> Result<()> {
    Ok(client.batch_execute("drop index if exists bench_scanned_amount").await?)
}

/// Creates an index on the table for scans.
pub async fn create_index(client: &Client) -> Result<()> {
    Ok(client.batch_execute("create index bench_scanned_amount on bench_scanned (amount)").await?)
}

/// Reads five thousand bytes for each row of the table for scans and discards them. Answers the number of rows.
pub async fn stream(client: &Client) -> Result<u64> {
    let query = format!("select id, repeat('0123456789', {}) from bench_scanned", STREAMED_BYTES / 10);
    let parameters: [&str; 0] = [];
    let mut rows = std::pin::pin!(client.query_raw(&query, parameters).await?);
    let mut count = 0;
    while rows.try_next().await?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// COPY of account rows into a table of its own.
pub struct Accounts {
    rows: u64,
    key: bool,
    messages: Vec<Bytes>,
}

impl Accounts {
    /// Builds the rows. `key` tells whether the table has its primary key.
    pub fn new(rows: u64, key: bool) -> Accounts {
        Accounts { rows, key, messages: messages(rows, account) }
    }

    /// Drops the table of an earlier run. Creates the table if it must exist before the run.
    pub async fn prepare(&self, client: &Client) -> Result<()> {
        client.batch_execute("drop table if exists bench_copied").await?;
        match self.key {
            true => self.create(client).await,
            false => Ok(()),
        }
    }

    async fn create(&self, client: &Client) -> Result<()> {
        let key = if self.key { " primary key" } else { "" };
        let columns = format!("aid int not null{key}, bid int, abalance int, filler char(84)");
        Ok(client.batch_execute(&format!("create table bench_copied ({columns})")).await?)
    }

    /// Fills the table with COPY.
    pub async fn run(&self, client: &Client) -> Result<()> {
        if self.key {
            return copy(client, "bench_copied", self.rows, &self.messages).await;
        }
        client.batch_execute("begin").await?;
        self.create(client).await?;
        copy(client, "bench_copied", self.rows, &self.messages).await?;
        Ok(client.batch_execute("commit").await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_whole_and_all_there() {
        let all = messages(150_000, account);
        assert!(all.len() > 10 && all.iter().all(|message| message.is_empty() || message.ends_with(b"\n")));
        let text = String::from_utf8(all.concat()).unwrap();
        assert_eq!(text.lines().count(), 150_000);
        assert_eq!(text.lines().next(), Some("1\t1\t0\t"));
        assert_eq!(text.lines().nth(99_999), Some("100000\t1\t0\t"));
        assert_eq!(text.lines().last(), Some("150000\t2\t0\t"));
    }

    #[test]
    fn about_one_in_a_thousand_passes_the_filter() {
        let text = String::from_utf8(messages(100_000, scanned).concat()).unwrap();
        let passing = text.lines().filter(|line| line.split('\t').nth(1) == Some("7")).count();
        assert!((50..200).contains(&passing), "{passing}");
    }
}
