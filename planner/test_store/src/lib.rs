//! The store that tests of this crate run over. `PERCOSQL_TEST_STORE` chooses: unset, the engine in memory; `rows`, the
//! same without commits across rows; `bigtable`, a table of its own in Bigtable's emulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{Arc, OnceLock};
use storage::bigtable::{BigtableAddress, BigtableOptions, BigtableStore, init_store};
use storage::testing::{Emulator, MemoryOptions, MemoryStore};
use storage::{EnvRef, StoreRef};
use txn::Oracle;

fn chosen() -> Option<String> {
    std::env::var("PERCOSQL_TEST_STORE").ok().filter(|name| !name.is_empty())
}

/// Whether that store is Bigtable's emulator.
pub fn is_bigtable() -> bool {
    chosen().as_deref() == Some("bigtable")
}

/// Whether that store can be read backwards. Bigtable's emulator cannot.
pub fn reads_backwards() -> bool {
    !is_bigtable()
}

/// A new, empty store, as `PERCOSQL_TEST_STORE` says.
pub async fn open(oracle: &Arc<Oracle>, env: &EnvRef) -> StoreRef {
    match chosen().as_deref() {
        None => MemoryStore::new(oracle.clone()),
        Some(_) => open_by_row(oracle, env).await,
    }
}

/// A new, empty store that several servers can share: in memory, unless `PERCOSQL_TEST_STORE` says `bigtable`.
pub async fn open_by_row(oracle: &Arc<Oracle>, env: &EnvRef) -> StoreRef {
    match chosen().as_deref() {
        None | Some("rows") => {
            MemoryStore::with_options(oracle.clone(), MemoryOptions { atomic: false, ..MemoryOptions::default() })
        }
        Some("bigtable") => bigtable(env).await,
        Some(other) => panic!("PERCOSQL_TEST_STORE={other}: say rows or bigtable"),
    }
}

async fn bigtable(env: &EnvRef) -> StoreRef {
    // All tests of the process share one emulator, which ends with the process.
    static EMULATOR: OnceLock<Emulator> = OnceLock::new();
    let emulator = EMULATOR.get_or_init(|| Emulator::start().unwrap());
    let address: BigtableAddress = format!("bigtable://p/i/{}", emulator.table()).parse().unwrap();
    let options = BigtableOptions { emulator: Some(emulator.address().to_owned()), ..BigtableOptions::default() };
    init_store(address.clone(), options.clone(), env.clone()).await.unwrap();
    BigtableStore::open(address, options, env.clone()).await.unwrap()
}
