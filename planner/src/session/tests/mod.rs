//! Sessions over the engine in memory, called as the server calls them.

mod analyze;
mod answers;
mod catalog_reads;
mod consistency;
mod copy;
mod ctype;
mod definitions;
mod foreign_keys;
mod foreign_keys_levels;
mod large;
mod lifted;
mod lookups;
mod notifications;
mod plan_cache;
mod privileges;
mod series;
mod settings;
mod transactions;
mod writes;

use super::*;
use crate::types::text::{OutputContext, output_string};
use futures::StreamExt;
use std::time::{Duration, Instant};
use storage::env::{EnvRef, SystemEnv};
use txn::{Oracle, TransactionStore, TransactionStoreOptions};

/// The time limit for events that must happen, on a slow and busy machine.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The result of one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub tag: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

pub struct Client {
    pub session: Session,
}

pub async fn database() -> Arc<Database> {
    let env: EnvRef = SystemEnv::current().unwrap();
    let oracle = Oracle::new(env.clone());
    let store = test_store::open(&oracle, &env).await;
    let options = TransactionStoreOptions::default();
    let transactions = TransactionStore::open(store, oracle, env.clone(), options).await.unwrap();
    Database::open(transactions, env).await.unwrap()
}

pub async fn connect(database: &Arc<Database>) -> Client {
    connect_as(database, "postgres", Vec::new()).await.unwrap()
}

/// A session of a role with start-up options.
pub async fn connect_as(database: &Arc<Database>, user: &str, options: Vec<(String, String)>) -> Result<Client> {
    let startup = Startup {
        user: user.into(),
        database: "postgres".into(),
        options,
        backend_pid: 1,
        link: crate::session::Link::default(),
        cancel: CancelToken::new(),
    };
    Ok(Client { session: Session::start(database.clone(), startup).await? })
}

pub async fn client() -> Client {
    connect(&database().await).await
}

impl Client {
    /// Runs a simple query as the server does. `data` is the input of COPY FROM STDIN.
    pub async fn try_run_with(&mut self, sql: &str, data: &str) -> Result<Vec<Reply>> {
        let result = self.run_string(sql, data).await;
        if result.is_err() {
            self.session.fail().await;
        }
        result
    }
    async fn run_string(&mut self, sql: &str, data: &str) -> Result<Vec<Reply>> {
        let mut replies = Vec::new();
        if let Some((prepared, values)) = self.session.prepare_lifted(sql).await {
            replies.push(self.run_prepared(&prepared, values, data).await?);
            self.session.end_implicit().await?;
            return Ok(replies);
        }
        for statement in self.session.parse(sql)? {
            let prepared = self.session.prepare(statement, &[]).await?;
            replies.push(self.run_prepared(&prepared, Vec::new(), data).await?);
        }
        self.session.end_implicit().await?;
        Ok(replies)
    }
    pub async fn run_prepared(&mut self, prepared: &Arc<Prepared>, values: Vec<Datum>, data: &str) -> Result<Reply> {
        let no_rows = |tag: String| Reply { tag, columns: Vec::new(), rows: Vec::new() };
        match self.session.execute(prepared, values).await? {
            Outcome::Command { tag } => Ok(no_rows(tag)),
            Outcome::Empty => Ok(no_rows(String::new())),
            Outcome::CopyIn(mut copy) => {
                for piece in data.as_bytes().chunks(1000) {
                    copy.data(bytes::Bytes::copy_from_slice(piece)).await?;
                }
                Ok(no_rows(copy.finish().await?))
            }
            Outcome::CopyOut(mut copy) => {
                let (mut text, mut rows) = (String::new(), 0);
                while let Some(chunk) = copy.stream.next().await {
                    let chunk = chunk?;
                    text.push_str(std::str::from_utf8(&chunk.bytes).unwrap());
                    rows += chunk.rows;
                }
                Ok(Reply { tag: format!("COPY {rows}"), columns: Vec::new(), rows: vec![vec![text]] })
            }
            Outcome::Rows { columns, mut stream, tag } => {
                let mut rows = Vec::new();
                while let Some(batch) = stream.next().await {
                    let batch = batch?;
                    for row in 0..batch.num_rows() {
                        let text = |(column, array): (&OutputColumn, &datafusion::arrow::array::ArrayRef)| {
                            if array.is_null(row) {
                                return "NULL".to_string();
                            }
                            output_string(column.ty, array.as_ref(), row, &OutputContext::PLAIN).unwrap()
                        };
                        rows.push(columns.iter().zip(batch.columns()).map(text).collect());
                    }
                }
                let tag = match tag {
                    RowsTag::Select => format!("SELECT {}", rows.len()),
                    RowsTag::Fixed(tag) | RowsTag::Binary(tag) => tag,
                };
                Ok(Reply { tag, columns: columns.iter().map(|column| column.name.clone()).collect(), rows })
            }
        }
    }
    /// Runs a query that must succeed, and returns its last reply.
    pub async fn run(&mut self, sql: &str) -> Reply {
        match self.try_run_with(sql, "").await {
            Ok(mut replies) => replies.pop().unwrap(),
            Err(error) => panic!("{sql}: {:?}", error.fields()),
        }
    }
    /// Runs a statement as the server does, with retries after conflicts. Returns its tag.
    pub async fn again(&mut self, sql: &str) -> Result<String> {
        let begin = Instant::now();
        loop {
            match self.try_run_with(sql, "").await {
                Err(error) if error.is_retryable() => {
                    assert!(begin.elapsed() < LIMIT, "{sql} conflicts again and again: {:?}", error.fields());
                }
                done => return Ok(done?.pop().unwrap().tag),
            }
        }
    }
    /// Repeats a query until it returns these rows.
    pub async fn until(&mut self, sql: &str, wanted: &[&str]) {
        let begin = Instant::now();
        loop {
            let found = self.rows(sql).await;
            if found == wanted {
                return;
            }
            assert!(begin.elapsed() < LIMIT, "{sql}: {found:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    pub async fn tag(&mut self, sql: &str) -> String {
        self.run(sql).await.tag
    }
    /// The rows of the last statement, with fields joined by `|`.
    pub async fn rows(&mut self, sql: &str) -> Vec<String> {
        self.run(sql).await.rows.into_iter().map(|row| row.join("|")).collect()
    }
    /// The single value of a query.
    pub async fn value(&mut self, sql: &str) -> String {
        let reply = self.run(sql).await;
        assert_eq!((reply.rows.len(), reply.rows.first().map(Vec::len)), (1, Some(1)), "{sql}");
        reply.rows[0][0].clone()
    }
    /// The error of a query that must fail.
    pub async fn error(&mut self, sql: &str) -> SqlError {
        match self.try_run_with(sql, "").await {
            Ok(replies) => panic!("{sql} succeeded: {replies:?}"),
            Err(error) => error,
        }
    }
    pub async fn state(&mut self, sql: &str) -> &'static str {
        self.error(sql).await.state()
    }
    pub fn status(&self) -> TransactionStatus {
        self.session.status()
    }
    /// SQLSTATEs and messages of the notices since the last call.
    pub fn notices(&mut self) -> Vec<String> {
        self.session.take_notices().into_iter().map(|n| format!("{} {}", n.fields.state, n.fields.message)).collect()
    }
}
