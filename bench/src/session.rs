//! [`Session`]: a connection, its prepared statements, and the two protocol styles.

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::value::{Value, substitute};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, Statement};

/// The protocol style of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Style {
    /// Prepared once per connection, with binary parameters.
    Prepared,
    /// Text with literals, in the simple query protocol.
    Simple,
}

/// A row of a result.
pub struct Record(Vec<Value>);

fn unlike(value: Option<&Value>, wanted: &str) -> Error {
    Error::other(format!("the server answered {value:?} where {wanted} was expected"))
}

impl Record {
    pub fn int(&self, place: usize) -> Result<i64> {
        match self.0.get(place) {
            Some(Value::Int(value)) => Ok(*value),
            Some(Value::Decimal(value)) => Ok(value.at(0)),
            Some(Value::Text(text)) => text.parse().map_err(|_| unlike(self.0.get(place), "an integer")),
            other => Err(unlike(other, "an integer")),
        }
    }

    pub fn is_null(&self, place: usize) -> bool {
        matches!(self.0.get(place), None | Some(Value::Null))
    }

    pub fn flag(&self, place: usize) -> Result<bool> {
        match self.0.get(place) {
            Some(Value::Bool(value)) => Ok(*value),
            Some(Value::Text(text)) => Ok(text == "t"),
            other => Err(unlike(other, "a boolean")),
        }
    }

    pub fn text(&self, place: usize) -> Result<&str> {
        match self.0.get(place) {
            Some(Value::Text(text)) => Ok(text),
            other => Err(unlike(other, "text")),
        }
    }

    /// The field as a decimal, in units of the given scale.
    pub fn decimal(&self, place: usize, scale: u32) -> Result<i64> {
        match self.0.get(place) {
            Some(Value::Decimal(value)) => Ok(value.at(scale)),
            Some(Value::Int(value)) => Ok(Decimal { units: *value, scale: 0 }.at(scale)),
            Some(Value::Text(text)) => {
                Decimal::parse(text).map(|value| value.at(scale)).ok_or_else(|| unlike(self.0.get(place), "a number"))
            }
            other => Err(unlike(other, "a number")),
        }
    }

    pub fn cents(&self, place: usize) -> Result<i64> {
        self.decimal(place, 2)
    }
}

/// A connection with its prepared statements.
pub struct Session {
    pub client: Client,
    style: Style,
    statements: HashMap<&'static str, Statement>,
    /// The statements since the last [`Session::take_times`], with the time of each answer. `None` if times are not
    /// recorded.
    times: Option<Vec<(&'static str, Duration)>>,
}

/// Opens a connection to the server.
pub async fn connect(config: &Config) -> Result<Client> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(async move {
        // A broken connection also fails the client's calls, so this error is ignored.
        let _ = connection.await;
    });
    Ok(client)
}

impl Session {
    pub async fn open(config: &Config, style: Style) -> Result<Session> {
        Ok(Session { client: connect(config).await?, style, statements: HashMap::new(), times: None })
    }

    /// Starts to record the time of each statement, for [`Session::take_times`].
    pub fn keep_times(&mut self) {
        self.times.get_or_insert_default();
    }

    /// The recorded statements and times. Clears the record.
    pub fn take_times(&mut self) -> Vec<(&'static str, Duration)> {
        self.times.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note_time(&mut self, sql: &'static str, begin: Instant) {
        if let Some(times) = &mut self.times {
            times.push((sql, begin.elapsed()));
        }
    }

    async fn statement(&mut self, sql: &'static str) -> Result<Statement> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// Runs a statement and answers its rows.
    pub async fn rows(&mut self, sql: &'static str, values: &[Value]) -> Result<Vec<Record>> {
        let begin = Instant::now();
        let rows = self.ask_for_rows(sql, values).await;
        self.note_time(sql, begin);
        rows
    }

    async fn ask_for_rows(&mut self, sql: &'static str, values: &[Value]) -> Result<Vec<Record>> {
        if self.style == Style::Simple {
            let answer = self.client.simple_query(&substitute(sql, values)).await?;
            let record = |row: &tokio_postgres::SimpleQueryRow| {
                Record((0..row.len()).map(|place| row.get(place).map_or(Value::Null, Value::from)).collect())
            };
            return Ok(answer
                .iter()
                .filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => Some(record(row)),
                    _ => None,
                })
                .collect());
        }
        let statement = self.statement(sql).await?;
        let parameters: Vec<_> =
            values.iter().map(|value| value as &(dyn tokio_postgres::types::ToSql + Sync)).collect();
        let rows = self.client.query(&statement, &parameters).await?;
        rows.iter()
            .map(|row| {
                let fields: std::result::Result<Vec<Value>, _> =
                    (0..row.len()).map(|place| row.try_get(place)).collect();
                Ok(Record(fields?))
            })
            .collect()
    }

    /// Runs a statement and answers its only row.
    pub async fn row(&mut self, sql: &'static str, values: &[Value]) -> Result<Record> {
        let found = self.maybe(sql, values).await?;
        found.ok_or_else(|| Error::other(format!("no row: {}", substitute(sql, values))))
    }

    /// Runs a statement and answers its first row, if there is one.
    pub async fn maybe(&mut self, sql: &'static str, values: &[Value]) -> Result<Option<Record>> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// Runs a statement and answers the number of affected rows.
    pub async fn run(&mut self, sql: &'static str, values: &[Value]) -> Result<u64> {
        let begin = Instant::now();
        let count = self.ask_to_run(sql, values).await;
        self.note_time(sql, begin);
        count
    }

    async fn ask_to_run(&mut self, sql: &'static str, values: &[Value]) -> Result<u64> {
        if self.style == Style::Simple {
            let answer = self.client.simple_query(&substitute(sql, values)).await?;
            let count = |message: &SimpleQueryMessage| match message {
                SimpleQueryMessage::CommandComplete(count) => *count,
                _ => 0,
            };
            return Ok(answer.iter().map(count).sum());
        }
        let statement = self.statement(sql).await?;
        let parameters: Vec<_> =
            values.iter().map(|value| value as &(dyn tokio_postgres::types::ToSql + Sync)).collect();
        Ok(self.client.execute(&statement, &parameters).await?)
    }

    /// Like [`Session::run`], but the number of affected rows must be `expected`.
    pub async fn change(&mut self, expected: u64, sql: &'static str, values: &[Value]) -> Result<()> {
        match self.run(sql, values).await? {
            count if count == expected => Ok(()),
            count => Err(Error::other(format!("{count} rows instead of {expected}: {}", substitute(sql, values)))),
        }
    }

    /// Runs BEGIN, COMMIT or ROLLBACK.
    pub async fn command(&mut self, sql: &str) -> Result<()> {
        let begin = Instant::now();
        let done = self.client.batch_execute(sql).await;
        if let Some(name) = ["begin", "commit", "rollback"].into_iter().find(|name| sql.starts_with(name)) {
            self.note_time(name, begin);
        }
        Ok(done?)
    }
}
