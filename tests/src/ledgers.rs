//! Clients that write until the server is gone and keep account of what they were told, for tests that kill it:
//! schema changes, sequences, TRUNCATE, large transactions. Each ledger checks itself against a server that was
//! started again.

use crate::Server;
use std::collections::HashSet;
use tokio_postgres::Client;

/// Whether a failure leaves the connection alive: then the statement did nothing.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    // 40003: nobody knows. 57P01: the server goes down.
    error.code().is_some_and(|code| code.code() != "40003" && !code.code().starts_with("57P"))
}

async fn count(client: &Client, table: &str) -> Option<i64> {
    let row = client.query_one(&format!("select count(*) from {table}"), &[]).await;
    match row {
        Ok(row) => Some(row.get(0)),
        Err(error) if error.code().is_some_and(|code| code.code() == "42P01") => None,
        Err(error) => panic!("{table}: {error:?}"),
    }
}

/// What the statement under way does, and what was told of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Absent,
    Rows(i64),
}

/// A table that is made with rows in one transaction, changed by ALTER, truncated, filled and dropped, again and again.
pub struct SchemaLedger {
    name: &'static str,
    /// What it was when the last statement was acknowledged.
    told: Table,
    /// What it is if the one under way was done.
    tried: Table,
    /// Statements acknowledged.
    pub done: u64,
}

impl SchemaLedger {
    /// Nothing is there.
    pub fn new(name: &'static str) -> SchemaLedger {
        SchemaLedger { name, told: Table::Absent, tried: Table::Absent, done: 0 }
    }

    /// Works until the server is gone.
    pub async fn run(&mut self, client: &Client) {
        let name = self.name;
        for step in self.done.. {
            let (sql, becomes) = match self.told {
                Table::Absent => (
                    format!(
                        "begin; create table {name} (a int8 primary key, b text unique);
                         create index on {name} (b desc) include (a);
                         insert into {name} select i, 'row ' || i from generate_series(1, 50) as g(i); commit"
                    ),
                    Table::Rows(50),
                ),
                Table::Rows(0) if step % 2 == 0 => (format!("drop table {name}"), Table::Absent),
                Table::Rows(0) => {
                    let fill = format!("insert into {name} select i, 'r' || i from generate_series(1, 70) as g(i)");
                    (fill, Table::Rows(70))
                }
                Table::Rows(50) => {
                    let alter = format!("alter table {name} add column c{step} int; delete from {name} where a > 20");
                    (format!("begin; {alter}; commit"), Table::Rows(20))
                }
                Table::Rows(_) => (format!("truncate {name}"), Table::Rows(0)),
            };
            self.tried = becomes;
            match client.batch_execute(&sql).await {
                Ok(()) => (self.told, self.done) = (becomes, self.done + 1),
                Err(error) if is_refusal(&error) => {
                    self.tried = self.told;
                    let _ = client.batch_execute("rollback").await;
                }
                Err(_) => return,
            }
        }
    }

    /// What is there is what was told, or what was tried last.
    pub async fn check(&mut self, client: &Client) {
        let found = count(client, self.name).await.map_or(Table::Absent, Table::Rows);
        assert!(
            found == self.told || found == self.tried,
            "{}: {found:?} is neither {:?} nor {:?}",
            self.name,
            self.told,
            self.tried
        );
        (self.told, self.tried) = (found, found);
        if found != Table::Absent {
            let faults = client.query(&format!("check table {}", self.name), &[]).await.expect("a check");
            assert!(faults.is_empty(), "{}: {faults:?}", self.name);
        }
    }
}

/// Every value that a sequence gave out.
#[derive(Default)]
pub struct SequenceLedger {
    /// The values.
    pub values: HashSet<i64>,
}

impl SequenceLedger {
    /// Takes values until the server is gone.
    pub async fn run(&mut self, client: &Client) {
        loop {
            match client.query_one("select nextval('ticket')", &[]).await {
                Ok(row) => assert!(self.values.insert(row.get(0)), "the sequence repeats {}", row.get::<_, i64>(0)),
                Err(error) if is_refusal(&error) => {}
                Err(_) => return,
            }
        }
    }
}

/// A table that grows by transactions too large for one batch.
pub struct LargeLedger {
    told: i64,
}

/// Rows of one large transaction: wide ones, more than one batch takes.
const LARGE_ROWS: i64 = 72_000;

impl LargeLedger {
    /// Makes the table `large`.
    pub async fn create(client: &Client) -> LargeLedger {
        client.batch_execute("create table large (a int8 primary key, b text)").await.expect("the table");
        LargeLedger { told: 0 }
    }

    /// Adds rows until the server is gone.
    pub async fn run(&mut self, client: &Client) {
        let insert = "insert into large select $1 * 1000000 + i, repeat('percosql ', 50) from generate_series(1, $2::int8) as g(i)";
        while client.execute(insert, &[&(self.told / LARGE_ROWS), &LARGE_ROWS]).await.is_ok() {
            self.told += LARGE_ROWS;
        }
    }

    /// All of each or nothing is there; starts again when it has become much.
    pub async fn check(&mut self, client: &Client) {
        let found = count(client, "large").await.expect("the table");
        assert!(found == self.told || found == self.told + LARGE_ROWS, "{found} rows, {} acknowledged", self.told);
        client.batch_execute("truncate large").await.expect("a truncate");
        self.told = 0;
    }
}

/// A connection, or nothing when the server is gone already.
pub async fn connect(server_port: u16) -> Option<Client> {
    let settings = format!("host=127.0.0.1 port={server_port} user=postgres dbname=postgres");
    let (client, connection) = tokio_postgres::connect(&settings, tokio_postgres::NoTls).await.ok()?;
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Some(client)
}

/// All ledgers of a test.
pub struct Ledgers {
    schemas: Vec<SchemaLedger>,
    /// Of the sequence `ticket`.
    pub sequence: SequenceLedger,
    large: LargeLedger,
}

impl Ledgers {
    /// Makes what they need.
    pub async fn create(client: &Client) -> Ledgers {
        client.batch_execute("create sequence ticket").await.expect("the sequence");
        let schemas = ["first", "second"].map(SchemaLedger::new).into();
        Ledgers { schemas, sequence: SequenceLedger::default(), large: LargeLedger::create(client).await }
    }

    /// All of them work, each on a connection of its own, until the server is gone; the large one when asked.
    pub async fn run(&mut self, port: u16, with_large: bool) {
        let schemas = self.schemas.iter_mut().map(|ledger| async move {
            if let Some(client) = connect(port).await {
                ledger.run(&client).await;
            }
        });
        let sequence = async {
            if let Some(client) = connect(port).await {
                self.sequence.run(&client).await;
            }
        };
        let large = async {
            if let (true, Some(client)) = (with_large, connect(port).await) {
                self.large.run(&client).await;
            }
        };
        futures::join!(futures::future::join_all(schemas), sequence, large);
    }

    /// Compares all of them with a server that was started again.
    pub async fn check(&mut self, server: &Server) {
        let client = server.connect().await;
        for ledger in &mut self.schemas {
            ledger.check(&client).await;
        }
        self.large.check(&client).await;
    }

    /// Schema changes acknowledged.
    pub fn schema_changes(&self) -> u64 {
        self.schemas.iter().map(|ledger| ledger.done).sum()
    }
}
