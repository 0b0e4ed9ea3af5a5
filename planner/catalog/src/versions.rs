//! [`Versions`]: tells whether a cached catalog is the one that a transaction sees, without a single row on which all
//! data definition would conflict.
//!
//! A transaction that changes descriptors writes an unused number into a *slot*, a row that no other current
//! transaction has. The contents of all slots together are a *stamp*. Equal stamps mean equal catalogs. Two
//! transactions on different objects thus write different rows and can both commit.
//!
//! On a single log, nobody has to read the slots: a [`Watch`] tells whether a slot was written since a snapshot whose
//! stamp is known.
//!
//! The existing slots, and the slots in use, are process-local. With several nodes, the slots are read as a range, and
//! each node starts with another slot. Two transactions that take the same slot conflict (40001), which is rare and
//! harmless.

use super::id_allocator::{Counter, Numbers};
use super::keys;
use super::store::{parse, scan_all};
use parking_lot::Mutex;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use storage::{RowRange, Timestamp, Watch};
use txn::{
    LockStrength, OwnWrites, Transaction, TransactionHandle, TransactionOptions, TransactionStore, Write, WriteKind,
};

/// Number of transactions that may change descriptors concurrently without conflict. Further ones share the last slot.
const MOST_SLOTS: u8 = 128;

/// The contents of all slots. Equal stamps are equal catalogs.
pub(super) type Stamp = Vec<u64>;

/// The version slots. Each server has one instance.
pub(super) struct Versions {
    transactions: Arc<TransactionStore>,
    /// The transactions that have slots, by slot number.
    taken: Mutex<Vec<TransactionHandle>>,
    /// The first slot that this node takes.
    first: u8,
    /// The range of all slots' rows.
    rows: RowRange,
    watch: Option<Arc<Watch>>,
    /// The newest snapshot whose stamp was read.
    newest: Mutex<Option<(Timestamp, Stamp)>>,
}

impl Versions {
    /// Uses this store. [`Versions::find_slots`] must follow.
    pub(super) fn new(transactions: Arc<TransactionStore>) -> Self {
        Self::over(transactions, 1, 0)
    }
    /// Like [`Versions::new`], for one of several nodes.
    pub(super) fn of_node(transactions: Arc<TransactionStore>, random: u64) -> Self {
        let first = u8::try_from(random % u64::from(MOST_SLOTS)).unwrap_or(0);
        Self::over(transactions, usize::from(MOST_SLOTS), first)
    }
    fn over(transactions: Arc<TransactionStore>, slots: usize, first: u8) -> Self {
        let taken = vec![TransactionHandle::default(); slots];
        let rows = keys::versions();
        let watch = transactions.store().atomic().map(|atomic| atomic.watch(rows.clone()));
        Versions { transactions, taken: Mutex::new(taken), first, rows, watch, newest: Mutex::default() }
    }
    /// Finds the slots that were ever used. Errors: those of the store.
    pub(super) async fn find_slots(&self) -> Result<()> {
        let reader = self.fresh();
        let found = scan_all(&reader, keys::versions()).await?;
        reader.rollback().await;
        let last = found.last().and_then(|(key, _)| (0..MOST_SLOTS).find(|slot| keys::version(*slot) == *key));
        let mut taken = self.taken.lock();
        let wanted = usize::from(last.unwrap_or(0)) + 1;
        if taken.len() < wanted {
            taken.resize(wanted, TransactionHandle::default());
        }
        Ok(())
    }
    fn fresh(&self) -> Arc<Transaction> {
        self.transactions.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() })
    }
    /// The stamp that `transaction` sees, if it is known without reading.
    pub(super) async fn known(&self, transaction: &Arc<Transaction>) -> Result<Option<Stamp>> {
        let Some(watch) = &self.watch else { return Ok(None) };
        let Some(at) = transaction.plain_snapshot(&self.rows).await? else { return Ok(None) };
        let newest = self.newest.lock();
        // Ask the watch after the snapshot was taken: it then knows all writes in the snapshot.
        let known = newest.as_ref().filter(|(since, _)| *since <= at && watch.newest() <= *since);
        Ok(known.map(|(_, stamp)| stamp.clone()))
    }
    /// Records the stamp that was read for `transaction`.
    pub(super) async fn remember(&self, transaction: &Arc<Transaction>, stamp: &Stamp) -> Result<()> {
        if self.watch.is_none() {
            return Ok(());
        }
        let Some(at) = transaction.plain_snapshot(&self.rows).await? else { return Ok(()) };
        let mut newest = self.newest.lock();
        if newest.as_ref().is_none_or(|(since, _)| *since < at) {
            *newest = Some((at, stamp.clone()));
        }
        Ok(())
    }
    /// The stamp that `transaction` sees. Errors: XX001 if there is no version at all.
    pub(super) async fn stamp(&self, transaction: &Arc<Transaction>) -> Result<Stamp> {
        let stamp = if self.transactions.store().atomic().is_some() {
            // Take the snapshot first: its writes went into slots that are known by now.
            transaction.snapshot_ts().await?;
            let slots = self.taken.lock().len();
            if slots == 1 {
                transaction.get(&keys::version(0), OwnWrites::All).await?.iter().map(|value| parse(value)).collect()
            } else {
                let keys: Vec<_> = (0..MOST_SLOTS).take(slots).map(keys::version).collect();
                let found = Box::pin(transaction.get_many(&keys, OwnWrites::All)).await?;
                // A slot without a number counts as 0, so that positions keep their meaning.
                let number = |value: &Option<bytes::Bytes>| value.as_ref().map_or(Ok(0), |value| parse::<u64>(value));
                found.iter().map(number).collect()
            }
        } else {
            let found = Box::pin(scan_all(transaction, keys::versions())).await?;
            found.iter().map(|(_, value)| parse::<u64>(value)).collect::<Result<Stamp>>()
        };
        let mut stamp: Stamp = stamp?;
        while stamp.len() > 1 && stamp.last() == Some(&0) {
            stamp.pop();
        }
        if stamp.first().is_none_or(|first| *first == 0) {
            return Err(SqlError::new(state::DATA_CORRUPTED, "the catalog has no version"));
        }
        Ok(stamp)
    }
    /// Whether the store has a version. Otherwise it is empty.
    pub(super) async fn any(&self, transaction: &Arc<Transaction>) -> Result<bool> {
        if self.transactions.store().atomic().is_none() {
            return Ok(!scan_all(transaction, keys::versions()).await?.is_empty());
        }
        Ok(transaction.get(&keys::version(0), OwnWrites::All).await?.is_some())
    }
    /// The write that announces a change of descriptors by `transaction`.
    pub(super) async fn change(&self, transaction: &Arc<Transaction>, numbers: &Numbers) -> Result<Write> {
        let slot = self.slot_of(transaction).await?;
        let version = numbers.next(Counter::Version).await?;
        let value = serde_json::to_vec(&version).map_err(SqlError::internal)?;
        Ok(Write { key: keys::version(slot), kind: WriteKind::Put(value.into()), strength: LockStrength::Update })
    }
    /// A free slot that nobody wrote since the transaction's snapshot.
    async fn slot_of(&self, transaction: &Arc<Transaction>) -> Result<u8> {
        let mut from = 0;
        while let Some((place, slot)) = self.take(transaction, from) {
            let key = keys::version(slot);
            // The stored value, as the transaction sees it and as the newest reader sees it.
            let seen = transaction.get(&key, OwnWrites::Before(0)).await?;
            let own = transaction.get(&key, OwnWrites::All).await?;
            let reader = self.fresh();
            let newest = reader.get(&key, OwnWrites::All).await?;
            reader.rollback().await;
            if own != seen || newest == seen {
                return Ok(slot);
            }
            if let Some(place) = self.taken.lock().get_mut(usize::from(slot)) {
                *place = TransactionHandle::default();
            }
            from = place + 1;
        }
        Ok(MOST_SLOTS - 1)
    }
    /// The transaction's slot, or the first free one from `from` on. Answers its position in this node's order, and its
    /// number.
    fn take(&self, transaction: &Arc<Transaction>, from: u8) -> Option<(u8, u8)> {
        let mut taken = self.taken.lock();
        // Use a handle of the transaction: at READ COMMITTED, each statement has a transaction object of its own.
        if let Some(own) = taken.iter().position(|place| place.is_of(transaction)) {
            let slot = u8::try_from(own).ok()?;
            return Some(((slot + MOST_SLOTS - self.first) % MOST_SLOTS, slot));
        }
        for place in from..MOST_SLOTS {
            let slot = (self.first + place) % MOST_SLOTS;
            match taken.get_mut(usize::from(slot)) {
                Some(other) if !other.is_gone() => {}
                Some(other) => {
                    *other = transaction.handle();
                    return Some((place, slot));
                }
                None => {
                    taken.push(transaction.handle());
                    return Some((place, slot));
                }
            }
        }
        None
    }
}
