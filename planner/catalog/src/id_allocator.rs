//! [`Numbers`]: OIDs, storage ids and catalog versions, each assigned once. Ranges are reserved durably in separate
//! transactions, which neither conflict with DDL nor roll back with it.

use super::keys;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use tokio::sync::Mutex;
use txn::{LockStrength, OwnWrites, TransactionOptions, TransactionStore, TxnError, Write, WriteKind};
use types::Oid;

/// The kind of number to assign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Object identifiers, from 16384.
    Oid,
    /// Storage ids of rows, from 1000.
    Storage,
    /// Versions of the catalog.
    Version,
    /// Hidden row numbers for all tables without a primary key.
    Row,
}

impl Counter {
    fn name(self) -> &'static str {
        match self {
            Counter::Oid => "oid",
            Counter::Storage => "storage",
            Counter::Version => "version",
            Counter::Row => "row",
        }
    }
    fn first(self) -> u64 {
        match self {
            Counter::Oid => u64::from(keys::FIRST_USER_OID),
            Counter::Storage => keys::FIRST_USER_STORAGE_ID,
            Counter::Version | Counter::Row => 1,
        }
    }
}

/// Number of values that one transaction reserves. Values that a stopped server had left are never used.
const RESERVED_AT_ONCE: u64 = 64;
/// The same for row numbers, of which a bulk load needs many.
const ROWS_RESERVED_AT_ONCE: u64 = 1 << 20;

/// Assigns numbers of all kinds.
pub struct Numbers {
    transactions: Arc<TransactionStore>,
    oid: Mutex<std::ops::Range<u64>>,
    storage: Mutex<std::ops::Range<u64>>,
    version: Mutex<std::ops::Range<u64>>,
    row: Mutex<std::ops::Range<u64>>,
}

impl Numbers {
    /// Uses this store. Nothing is reserved yet.
    pub fn new(transactions: Arc<TransactionStore>) -> Self {
        Numbers {
            transactions,
            oid: Mutex::new(0..0),
            storage: Mutex::new(0..0),
            version: Mutex::new(0..0),
            row: Mutex::new(0..0),
        }
    }
    /// Assigns the next number. Errors: those of the store.
    pub async fn next(&self, counter: Counter) -> Result<u64> {
        let mut range = match counter {
            Counter::Oid => &self.oid,
            Counter::Storage => &self.storage,
            Counter::Version => &self.version,
            Counter::Row => &self.row,
        }
        .lock()
        .await;
        if let Some(number) = range.next() {
            return Ok(number);
        }
        *range = self.reserve(counter, RESERVED_AT_ONCE).await?;
        range.next().ok_or_else(|| SqlError::internal("an empty range of numbers was reserved"))
    }
    /// Assigns the next OID.
    pub async fn oid(&self) -> Result<Oid> {
        Oid::try_from(self.next(Counter::Oid).await?).map_err(|_| SqlError::internal("OIDs are exhausted"))
    }
    /// Assigns the next storage id.
    pub async fn storage_id(&self) -> Result<u64> {
        self.next(Counter::Storage).await
    }

    /// Assigns consecutive row numbers: at least one and at most `count`.
    pub async fn rows(&self, count: u64) -> Result<std::ops::Range<u64>> {
        let mut range = self.row.lock().await;
        if range.is_empty() {
            *range = self.reserve(Counter::Row, ROWS_RESERVED_AT_ONCE).await?;
        }
        let taken = range.start..range.end.min(range.start.saturating_add(count.max(1)));
        range.start = taken.end;
        Ok(taken)
    }

    async fn reserve(&self, counter: Counter, count: u64) -> Result<std::ops::Range<u64>> {
        let key = keys::counter(counter.name());
        loop {
            let transaction = self.transactions.begin(TransactionOptions::default());
            let from = match transaction.get(&key, OwnWrites::All).await? {
                Some(value) => number(&value)?,
                None => counter.first(),
            };
            let to = from + count;
            let value = to.to_be_bytes().to_vec().into();
            transaction
                .write(vec![Write { key: key.clone(), kind: WriteKind::Put(value), strength: LockStrength::Update }])
                .await?;
            match transaction.commit().await {
                Ok(_) => return Ok(from..to),
                Err(TxnError::Conflict(_)) => continue,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl std::fmt::Debug for Numbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Numbers")
    }
}

fn number(value: &[u8]) -> Result<u64> {
    let bytes =
        value.try_into().map_err(|_| SqlError::new(crate::state::DATA_CORRUPTED, "a counter is not eight bytes"))?;
    Ok(u64::from_be_bytes(bytes))
}
