//! The tables of our own, and filling them: one that is scanned and indexed, one that COPY fills again and again.

use crate::error::{Error, Result};
use crate::random::mix;
use bytes::{Bytes, BytesMut};
use futures::{SinkExt, TryStreamExt};
use std::fmt::Write;
use tokio_postgres::Client;

/// Bytes of one message of COPY.
const MESSAGE_BYTES: usize = 64 * 1024;

/// Bytes of each row of a long result.
const STREAMED_BYTES: usize = 5000;

/// Rows as COPY takes them, in messages that are made beforehand, so that making them takes no time from the server.
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

/// A row as `pgbench -i` sends it: 100,000 accounts a branch, nothing in the filler.
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

/// Makes and fills the table that is scanned and indexed.
pub async fn load_scanned(client: &Client, rows: u64) -> Result<()> {
    let columns = "id bigint primary key, kind int not null, amount bigint not null, note text not null";
    // An earlier attempt may have come half way.
    client.batch_execute("drop table if exists bench_scanned").await?;
    client.batch_execute(&format!("create table bench_scanned ({columns})")).await?;
    copy(client, "bench_scanned", rows, &messages(rows, scanned)).await?;
    client.batch_execute("vacuum analyze bench_scanned").await?;
    Ok(())
}

/// Takes the index of an earlier run away.
pub async fn drop_index(client: &Client) -> Result<()> {
    Ok(client.batch_execute("drop index if exists bench_scanned_amount").await?)
}

/// Makes an index on the scanned table.
pub async fn create_index(client: &Client) -> Result<()> {
    Ok(client.batch_execute("create index bench_scanned_amount on bench_scanned (amount)").await?)
}

/// Reads five thousand bytes for each row of the scanned table, and drops them. Answers how many rows there were.
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

/// COPY of accounts into a table of its own.
pub struct Accounts {
    rows: u64,
    key: bool,
    messages: Vec<Bytes>,
}

impl Accounts {
    /// Makes the rows; `key` says whether the table has its primary key.
    pub fn new(rows: u64, key: bool) -> Accounts {
        Accounts { rows, key, messages: messages(rows, account) }
    }

    /// Takes the table of an earlier run away, and makes it where it must be there before.
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

    /// Fills the table.
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
