//! Clients that write until the server dies and record what the server acknowledged. Tests that kill the server use
//! them for schema changes, sequences, TRUNCATE and large transactions. Each ledger checks itself against the restarted
//! server.

use crate::Server;
use std::collections::HashSet;
use tokio_postgres::Client;

/// Whether the connection is alive after a failure. In that case the statement did nothing.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    // 40003 means an unknown outcome. 57P01 means that the server goes down.
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

/// State of a table: absent, or present with a number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Absent,
    Rows(i64),
}

/// A table that one transaction creates with rows. It is then altered, truncated, filled and dropped in a cycle.
pub struct SchemaLedger {
    name: &'static str,
    /// State after the last acknowledged statement.
    told: Table,
    /// State if the running statement succeeds.
    tried: Table,
    /// Number of acknowledged statements.
    pub done: u64,
}

impl SchemaLedger {
    /// Creates a ledger for a table that does not exist yet.
    pub fn new(name: &'static str) -> SchemaLedger {
        SchemaLedger { name, told: Table::Absent, tried: Table::Absent, done: 0 }
    }

    /// Runs statements until the server dies.
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

    /// Checks that the table has the acknowledged state or the state of the last attempt.
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

/// The values that a sequence returned.
#[derive(Default)]
pub struct SequenceLedger {
    /// All acknowledged values of the sequence.
    pub values: HashSet<i64>,
}

impl SequenceLedger {
    /// Takes values until the server dies.
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

/// Rows of one large transaction. The rows are wide, so they exceed one batch.
const LARGE_ROWS: i64 = 72_000;

impl LargeLedger {
    /// Creates the table `large`.
    pub async fn create(client: &Client) -> LargeLedger {
        client.batch_execute("create table large (a int8 primary key, b text)").await.expect("the table");
        LargeLedger { told: 0 }
    }

    /// Inserts rows until the server dies.
    pub async fn run(&mut self, client: &Client) {
        let insert = "insert into large select $1 * 1000000 + i, repeat('percosql ', 50) from generate_series(1, $2::int8) as g(i)";
        while client.execute(insert, &[&(self.told / LARGE_ROWS), &LARGE_ROWS]).await.is_ok() {
            self.told += LARGE_ROWS;
        }
    }

    /// Checks that each transaction is there in whole or not at all. Then truncates the table.
    pub async fn check(&mut self, client: &Client) {
        let found = count(client, "large").await.expect("the table");
        assert!(found == self.told || found == self.told + LARGE_ROWS, "{found} rows, {} acknowledged", self.told);
        client.batch_execute("truncate large").await.expect("a truncate");
        self.told = 0;
    }
}

/// Connects to a server. `None` if the server is already dead.
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
    /// Ledger of the sequence `ticket`.
    pub sequence: SequenceLedger,
    large: LargeLedger,
}

impl Ledgers {
    /// Creates the tables and the sequence of the ledgers.
    pub async fn create(client: &Client) -> Ledgers {
        client.batch_execute("create sequence ticket").await.expect("the sequence");
        let schemas = ["first", "second"].map(SchemaLedger::new).into();
        Ledgers { schemas, sequence: SequenceLedger::default(), large: LargeLedger::create(client).await }
    }

    /// Runs all ledgers, each on a connection of its own, until the server dies. The large one runs only if
    /// `with_large` is set.
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

    /// Checks all ledgers against the restarted server.
    pub async fn check(&mut self, server: &Server) {
        let client = server.connect().await;
        for ledger in &mut self.schemas {
            ledger.check(&client).await;
        }
        self.large.check(&client).await;
    }

    /// Number of acknowledged schema changes.
    pub fn schema_changes(&self) -> u64 {
        self.schemas.iter().map(|ledger| ledger.done).sum()
    }
}
