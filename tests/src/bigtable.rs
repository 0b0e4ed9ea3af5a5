//! [`Bigtable`]: Bigtable's emulator with tables, and servers that share a table.

use crate::server::{Server, binary, free_port};
use bytes::Bytes;
use futures::StreamExt;
use std::process::{Command, Stdio};
use storage::bigtable::{BigtableAddress, BigtableOptions, BigtableStore};
use storage::testing::Emulator;
use storage::{Family, ReadFilter, RowRange, ScanOptions, Store, SystemEnv, TimestampRange};

/// A running emulator. Dropping it stops the emulator.
pub struct Bigtable {
    emulator: Emulator,
}

/// A table that is initialized for servers.
pub struct Table {
    host: String,
    store: String,
}

impl Bigtable {
    /// Starts an emulator as described at `storage::testing::Emulator`.
    pub fn start() -> Bigtable {
        Bigtable { emulator: Emulator::start().expect("a Bigtable emulator") }
    }

    /// `HOST:PORT` of the emulator.
    pub fn host(&self) -> &str {
        self.emulator.address()
    }

    /// Creates a table by `percosql init-store`.
    pub fn table(&self) -> Table {
        let table = Table { host: self.host().to_owned(), store: format!("bigtable://p/i/{}", self.emulator.table()) };
        let output = Command::new(binary())
            .args(["init-store", &table.store])
            .env("BIGTABLE_EMULATOR_HOST", &table.host)
            .stdin(Stdio::null())
            .output()
            .expect("percosql runs");
        assert!(output.status.success(), "init-store: {}", String::from_utf8_lossy(&output.stderr));
        table
    }
}

impl Table {
    /// The table's address for `--store`: `bigtable://…`.
    pub fn store(&self) -> &str {
        &self.store
    }

    /// Keys of the rows that hold a lock. Reads the table directly, without a server.
    pub async fn locked_rows(&self) -> Vec<Bytes> {
        let address: BigtableAddress = self.store.parse().expect("an address");
        let options = BigtableOptions { emulator: Some(self.host.clone()), ..BigtableOptions::default() };
        let env = SystemEnv::current().expect("a runtime");
        let store = BigtableStore::open(address, options, env).await.expect("the table");
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::ALL, usize::MAX);
        let mut batches = store.scan(RowRange::all(), filter, ScanOptions::default());
        let mut found = Vec::new();
        while let Some(batch) = batches.next().await {
            let rows = batch.expect("rows").into_iter().filter(|row| row.newest(Family::Lock).is_some());
            found.extend(rows.map(|row| row.key));
        }
        found
    }

    /// Starts the only server over the table.
    pub fn serve(&self) -> Server {
        Server::start_where(&["--store", &self.store], &[("BIGTABLE_EMULATOR_HOST", &self.host)])
    }

    /// Starts one of several servers over the table.
    pub fn node(&self) -> Server {
        self.node_through(&self.host)
    }

    /// Like [`Table::node`], but the server reaches the emulator at another `HOST:PORT`, such as a proxy.
    pub fn node_through(&self, host: &str) -> Server {
        let advertised = format!("127.0.0.1:{}", free_port());
        let arguments = ["--store", &self.store, "--advertise", &advertised];
        Server::start_where(&arguments, &[("BIGTABLE_EMULATOR_HOST", host)])
    }
}
