//! [`Sequences`]: nextval, setval and the stored values. Before a value is handed out, a range is reserved durably in a
//! separate transaction. So nextval never waits for, rolls back with, or conflicts with the calling transaction.
//! RESTART gives the sequence a new storage id within its transaction. That invalidates values reserved under the old
//! one.

use super::schema_leases::Nodes;
use super::store::parse;
use super::{RelationKind, SequenceDescriptor, StorageId, TableDescriptor, keys};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sql_error::{Result, SqlError, state};
use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use txn::{LockStrength, OwnWrites, Transaction, TransactionOptions, TransactionStore, TxnError, Write, WriteKind};
use types::Oid;

/// Number of values reserved at first. It is doubled as they are used up, up to [`MOST_RESERVED`].
const FIRST_RESERVED: i64 = 32;
/// Most values reserved at once.
const MOST_RESERVED: i64 = 4096;
/// SQLSTATE of a sequence that has reached its limit.
const SEQUENCE_LIMIT_EXCEEDED: &str = "2200H";

/// The stored value of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceValue {
    /// The last value reserved. If `is_called` is false, the next value.
    pub last_value: i64,
    /// Whether `last_value` was handed out.
    pub is_called: bool,
    /// Raised by setval: ranges reserved under another epoch are void.
    pub epoch: u64,
}

impl SequenceValue {
    /// The value of a new sequence.
    pub fn starting_at(start: i64) -> Self {
        SequenceValue { last_value: start, is_called: false, epoch: 0 }
    }
}

/// Increment, lower and upper bound, and whether the sequence cycles.
type Steps = (i64, i64, i64, bool);

fn steps(sequence: &SequenceDescriptor) -> Steps {
    (sequence.increment, sequence.min, sequence.max, sequence.cycle)
}

/// Values reserved and not yet handed out.
#[derive(Clone, Copy, Debug, Default)]
struct Reserved {
    next: i64,
    left: i64,
    step: i64,
    size: i64,
    /// Parameters of the sequence at reservation. After ALTER SEQUENCE, the values are not handed out any more.
    steps: Steps,
    /// The [`SequenceValue::epoch`] at reservation.
    epoch: u64,
}

impl Reserved {
    /// The stored value after returning the remaining values. It stays the same if another server has reserved further
    /// values.
    fn given_back(&self, stored: SequenceValue) -> SequenceValue {
        let last = i128::from(self.next) + (i128::from(self.left) - 1) * i128::from(self.step);
        if self.left == 0 || i128::from(stored.last_value) != last || !stored.is_called || stored.epoch != self.epoch {
            return stored;
        }
        SequenceValue { last_value: self.next.saturating_sub(self.step), ..stored }
    }
}

#[derive(Debug, Default)]
struct Entry {
    reserved: Mutex<Reserved>,
    reserving: tokio::sync::Mutex<()>,
    /// Number of other nodes that are setting the value. Nothing is reserved meanwhile.
    voided: AtomicU32,
    /// Grows when reserved values are dropped. A reservation in progress at that time is not kept either.
    forgotten: AtomicU64,
    /// The last value stored by the transaction that creates the sequence. ROLLBACK TO SAVEPOINT undoes the write but
    /// must not return values.
    uncommitted: Mutex<Option<SequenceValue>>,
}

/// Prevents reservations for a sequence until it is dropped.
pub(super) struct Voided(Arc<Entry>);

impl Drop for Voided {
    fn drop(&mut self) {
        self.0.voided.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A session's memory of sequences, for currval and lastval.
#[derive(Debug, Default)]
pub struct SequenceMemory {
    state: Mutex<(HashMap<Oid, i64>, Option<Oid>)>,
}

impl SequenceMemory {
    fn remember(&self, sequence: Oid, value: i64) {
        let mut state = self.state.lock();
        state.0.insert(sequence, value);
        state.1 = Some(sequence);
    }
    /// Clears the memory (DISCARD SEQUENCES, DISCARD ALL).
    pub fn clear(&self) {
        *self.state.lock() = (HashMap::new(), None);
    }
}

/// The values of all sequences. Each server has one instance.
pub struct Sequences {
    transactions: Arc<TransactionStore>,
    entries: Mutex<HashMap<StorageId, Arc<Entry>>>,
    /// The other nodes, if there can be any.
    nodes: OnceLock<Weak<Nodes>>,
}

impl Sequences {
    pub(super) fn new(transactions: Arc<TransactionStore>) -> Self {
        Sequences { transactions, entries: Mutex::new(HashMap::new()), nodes: OnceLock::new() }
    }
    /// From now on, other nodes may set values too.
    pub(super) fn spread(&self, nodes: &Arc<Nodes>) {
        let _ = self.nodes.set(Arc::downgrade(nodes));
    }
    /// Drops the reserved values of all sequences: others may have set their values.
    pub(super) fn forget_reserved(&self) {
        for entry in self.entries.lock().values() {
            let mut reserved = entry.reserved.lock();
            entry.forgotten.fetch_add(1, Ordering::SeqCst);
            *reserved = Reserved::default();
        }
    }
    /// Drops the reserved values of a sequence, and prevents reservations until the answer is dropped.
    pub(super) async fn void(&self, storage_id: StorageId) -> Voided {
        let entry = self.entry(storage_id);
        entry.voided.fetch_add(1, Ordering::SeqCst);
        // Wait for a reservation in progress.
        let reserving = entry.reserving.lock().await;
        *entry.reserved.lock() = Reserved::default();
        drop(reserving);
        Voided(entry)
    }
    /// Whether reserved values may be handed out: no other node can have set a value since.
    fn may_take(&self) -> bool {
        match self.nodes.get() {
            None => true,
            Some(nodes) => nodes.upgrade().is_some_and(|nodes| nodes.has_lease()),
        }
    }
    /// `nextval`. Waits for the store when nothing is reserved; may be called from within a
    /// running plan. Errors: 2200H at the limit, 42809 when `oid` is no sequence, 25006 in a
    /// read-only transaction is the caller's.
    pub fn next_value(&self, context: &impl SequenceUser, oid: Oid) -> Result<i64> {
        let table = sequence_table(context, oid)?;
        let (sequence, entry) = (parameters(&table)?, self.entry(table.storage_id));
        let reserved = if self.may_take() { Self::take(&entry, sequence) } else { None };
        let value = match reserved {
            Some(value) => value,
            None => wait(self.reserve_and_take(context.transaction(), &table, sequence, &entry))?,
        };
        context.memory().remember(oid, value);
        Ok(value)
    }
    /// `currval`. Errors: 55000 when this session has not called nextval for it.
    pub fn current_value(&self, context: &impl SequenceUser, oid: Oid) -> Result<i64> {
        let table = sequence_table(context, oid)?;
        context.memory().state.lock().0.get(&oid).copied().ok_or_else(|| {
            let message = format!("currval of sequence \"{}\" is not yet defined in this session", table.name);
            SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        })
    }
    /// `lastval`. Errors: 55000 when this session has not called nextval.
    pub fn last_value(&self, context: &impl SequenceUser) -> Result<i64> {
        let memory = context.memory().state.lock();
        // Of a sequence that was dropped nothing is told.
        let last = memory.1.filter(|oid| context.catalog().relation_by_oid(*oid).is_some());
        last.and_then(|oid| memory.0.get(&oid).copied()).ok_or_else(|| {
            SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, "lastval is not yet defined in this session")
        })
    }
    /// `setval`. Takes effect at once and is not rolled back, as in PostgreSQL.
    /// Errors: 22003 when the value is outside the sequence's bounds.
    pub fn set_value(&self, context: &impl SequenceUser, oid: Oid, value: i64, is_called: bool) -> Result<i64> {
        let table = sequence_table(context, oid)?;
        let sequence = parameters(&table)?;
        if value < sequence.min || value > sequence.max {
            let message = format!(
                "setval: value {value} is out of bounds for sequence \"{}\" ({}..{})",
                table.name, sequence.min, sequence.max
            );
            return Err(SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, message));
        }
        let entry = self.entry(table.storage_id);
        wait(async {
            let nodes = self.nodes.get().and_then(Weak::upgrade);
            let _voided = match nodes {
                Some(nodes) => Some(nodes.void_reserved(table.storage_id).await?),
                None => None,
            };
            let _one = entry.reserving.lock().await;
            self.change(context.transaction(), &table, |stored, _| {
                let epoch = stored.epoch + 1;
                Ok(((), SequenceValue { last_value: value, is_called, epoch }))
            })
            .await?;
            *entry.reserved.lock() = Reserved::default();
            Ok::<(), SqlError>(())
        })?;
        if is_called {
            context.memory().remember(oid, value);
        }
        Ok(value)
    }
    /// Returns this server's unused reserved values of a sequence, if nothing was reserved behind them. The next values
    /// then continue where users saw the last one. Answers the sequence's value. Ranges of other servers stay reserved.
    pub async fn give_back(&self, transaction: &Arc<Transaction>, table: &TableDescriptor) -> Result<SequenceValue> {
        let entry = self.entry(table.storage_id);
        let _one = entry.reserving.lock().await;
        let reserved = std::mem::take(&mut *entry.reserved.lock());
        if reserved.left > 0 {
            self.change(transaction, table, |stored, _| Ok(((), reserved.given_back(stored)))).await?;
        }
        self.stored(transaction, table).await
    }
    /// The stored value of a sequence as `transaction`, or any newer one, sees it. `SELECT * FROM sequence` and
    /// pg_sequences show it.
    pub async fn stored(&self, transaction: &Arc<Transaction>, table: &TableDescriptor) -> Result<SequenceValue> {
        let key = keys::sequence(table.storage_id);
        let fresh = self.transactions.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
        let found = match fresh.get(&key, OwnWrites::All).await? {
            Some(value) => Some(value),
            None => transaction.get(&key, OwnWrites::All).await?,
        };
        fresh.rollback().await;
        let mut value: SequenceValue = match found {
            Some(value) => parse(&value)?,
            None => return Err(missing(table)),
        };
        let reserved = *self.entry(table.storage_id).reserved.lock();
        if reserved.left > 0 && value.is_called {
            // To users, values that are reserved but not handed out were not called.
            value.last_value = reserved.next.saturating_sub(reserved.step);
            if reserved.left == reserved.size && reserved.step != 0 {
                value = SequenceValue { last_value: reserved.next, is_called: false, ..value };
            }
        }
        Ok(value)
    }
    /// Approximate bytes on disk of a storage id's rows.
    pub fn bytes_of(&self, storage_id: StorageId) -> Result<u64> {
        let range = keys::rows_of(storage_id);
        Ok(wait(self.transactions.store().approximate_bytes(&range))?)
    }

    /// Approximate bytes on disk of a range of rows.
    pub async fn approximate_bytes(&self, range: &storage::RowRange) -> Result<u64> {
        Ok(self.transactions.store().approximate_bytes(range).await?)
    }

    /// Drops the state of sequences that do not exist any more: checks `most` of them behind `from`. Answers where to
    /// continue.
    pub(super) async fn forget_removed(&self, from: StorageId, most: usize) -> Result<StorageId> {
        let mut known: Vec<StorageId> = self.entries.lock().keys().copied().filter(|id| *id > from).collect();
        known.sort_unstable();
        known.truncate(most);
        let reader = self.transactions.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
        for storage_id in &known {
            if reader.get(&keys::sequence(*storage_id), OwnWrites::All).await?.is_some() {
                continue;
            }
            // No caller waits for it, and no transaction is creating it.
            let idle = |entry: &Arc<Entry>| Arc::strong_count(entry) == 1 && entry.uncommitted.lock().is_none();
            let mut entries = self.entries.lock();
            if entries.get(storage_id).is_some_and(idle) {
                entries.remove(storage_id);
            }
        }
        reader.rollback().await;
        Ok(known.last().copied().filter(|_| known.len() == most).unwrap_or_default())
    }

    fn entry(&self, storage_id: StorageId) -> Arc<Entry> {
        Arc::clone(self.entries.lock().entry(storage_id).or_default())
    }
    fn take(entry: &Entry, sequence: &SequenceDescriptor) -> Option<i64> {
        let mut reserved = entry.reserved.lock();
        if reserved.left == 0 || reserved.steps != steps(sequence) {
            return None;
        }
        let value = reserved.next;
        reserved.left -= 1;
        reserved.next = reserved.next.saturating_add(reserved.step);
        Some(value)
    }
    async fn reserve_and_take(
        &self,
        transaction: &Arc<Transaction>,
        table: &TableDescriptor,
        sequence: &SequenceDescriptor,
        entry: &Entry,
    ) -> Result<i64> {
        let _one = entry.reserving.lock().await;
        if self.may_take()
            && let Some(value) = Self::take(entry, sequence)
        {
            return Ok(value);
        }
        let forgotten = entry.forgotten.load(Ordering::SeqCst);
        let left = *entry.reserved.lock();
        let size = left.size;
        let size = if size == 0 { FIRST_RESERVED } else { (size * 2).min(MOST_RESERVED) }.max(sequence.cache);
        let (found, shared) = self
            .change(transaction, table, |stored, shared| {
                let stored = left.given_back(stored);
                let wanted = if shared && entry.voided.load(Ordering::SeqCst) == 0 { size } else { 1 };
                let (first, count, last) = range_after(&stored, sequence, wanted, &table.name)?;
                let value = SequenceValue { last_value: last, is_called: true, epoch: stored.epoch };
                Ok(((first, count, stored.epoch), value))
            })
            .await?;
        let (first, count, epoch) = found;
        let mut reserved = entry.reserved.lock();
        if shared && entry.forgotten.load(Ordering::SeqCst) == forgotten {
            *reserved = Reserved {
                next: first.saturating_add(sequence.increment),
                left: count - 1,
                step: sequence.increment,
                size,
                steps: steps(sequence),
                epoch,
            };
        }
        Ok(first)
    }
    /// Changes the stored value in a separate transaction. If the sequence is not committed yet, it uses the
    /// transaction that created it. Then the second part of the answer is false, and one value is taken at a time.
    async fn change<T>(
        &self,
        transaction: &Arc<Transaction>,
        table: &TableDescriptor,
        change: impl Fn(SequenceValue, bool) -> Result<(T, SequenceValue)> + Send,
    ) -> Result<(T, bool)> {
        let key = keys::sequence(table.storage_id);
        loop {
            let own = self.transactions.begin(TransactionOptions::default());
            let Some(stored) = own.get(&key, OwnWrites::All).await? else {
                own.rollback().await;
                let Some(stored) = transaction.get(&key, OwnWrites::All).await? else {
                    return Err(missing(table));
                };
                let entry = self.entry(table.storage_id);
                let last = *entry.uncommitted.lock();
                let (answer, value) = change(last.map_or_else(|| parse(&stored), Ok)?, false)?;
                transaction.write(vec![put(&key, &value)?]).await?;
                *entry.uncommitted.lock() = Some(value);
                return Ok((answer, false));
            };
            let entry = self.entry(table.storage_id);
            let last = *entry.uncommitted.lock();
            let stored = parse(&stored)?;
            let (answer, value) = change(last.map_or(stored, |last| further(stored, last, table)), true)?;
            own.write(vec![put(&key, &value)?]).await?;
            match own.commit().await {
                Ok(_) => {
                    *entry.uncommitted.lock() = None;
                    return Ok((answer, true));
                }
                Err(TxnError::Conflict(_)) => continue,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl std::fmt::Debug for Sequences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sequences")
    }
}

/// The value from which a sequence continues in the transaction that created it. ROLLBACK TO SAVEPOINT returns no
/// values, and another node may be ahead by now.
fn further(stored: SequenceValue, last: SequenceValue, table: &TableDescriptor) -> SequenceValue {
    let Some(sequence) = table.sequence.as_ref().filter(|sequence| !sequence.cycle) else { return stored };
    let way = |value: SequenceValue| {
        (i128::from(value.last_value) * i128::from(sequence.increment.signum()), value.is_called)
    };
    // If the value was set since, the stored one is newer.
    if last.epoch == stored.epoch && way(last) > way(stored) { last } else { stored }
}

fn put(key: &bytes::Bytes, value: &SequenceValue) -> Result<Write> {
    let value = serde_json::to_vec(value).map_err(SqlError::internal)?;
    Ok(Write { key: key.clone(), kind: WriteKind::Put(value.into()), strength: LockStrength::Update })
}

fn missing(table: &TableDescriptor) -> SqlError {
    SqlError::new(state::UNDEFINED_TABLE, format!("relation \"{}\" does not exist", table.name))
}

/// A statement that uses sequences.
pub trait SequenceUser {
    /// The transaction it runs in.
    fn transaction(&self) -> &Arc<Transaction>;
    /// The catalog as of the transaction.
    fn catalog(&self) -> &crate::Catalog;
    /// What the session remembers of sequences.
    fn memory(&self) -> &SequenceMemory;
}

/// The sequence of this OID. Errors: 42P01, 42809.
pub fn sequence_table(context: &impl SequenceUser, oid: Oid) -> Result<Arc<TableDescriptor>> {
    let not_one = |name: &str| SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a sequence"));
    if let Some((table, position)) = context.catalog().index(oid) {
        return Err(not_one(table.indexes.get(position).map_or("", |index| index.name.as_str())));
    }
    let table = context
        .catalog()
        .relation_by_oid(oid)
        .ok_or_else(|| SqlError::new(state::UNDEFINED_TABLE, format!("could not open relation with OID {oid}")))?;
    if table.kind != RelationKind::Sequence {
        return Err(not_one(&table.name));
    }
    Ok(table)
}

fn parameters(table: &TableDescriptor) -> Result<&SequenceDescriptor> {
    table
        .sequence
        .as_ref()
        .ok_or_else(|| SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{}\" is not a sequence", table.name)))
}

/// The next values: the first, their number (at most `wanted`), and the last. Errors: 2200H if there is none and the
/// sequence does not cycle.
fn range_after(
    stored: &SequenceValue,
    sequence: &SequenceDescriptor,
    wanted: i64,
    name: &str,
) -> Result<(i64, i64, i64)> {
    let step = sequence.increment;
    let mut first = stored.last_value;
    if stored.is_called {
        let next = stored.last_value.checked_add(step).filter(|next| *next >= sequence.min && *next <= sequence.max);
        first = match next {
            Some(next) => next,
            None if sequence.cycle => {
                if step > 0 {
                    sequence.min
                } else {
                    sequence.max
                }
            }
            None => {
                let (what, limit) = if step > 0 { ("maximum", sequence.max) } else { ("minimum", sequence.min) };
                let message = format!("nextval: reached {what} value of sequence \"{name}\" ({limit})");
                return Err(SqlError::new(SEQUENCE_LIMIT_EXCEEDED, message));
            }
        };
    }
    let room = if step > 0 {
        (i128::from(sequence.max) - i128::from(first)) / i128::from(step)
    } else {
        (i128::from(first) - i128::from(sequence.min)) / -i128::from(step)
    };
    let count = room.saturating_add(1).clamp(1, i128::from(wanted));
    let last = i128::from(first) + (count - 1) * i128::from(step);
    let narrow = |value: i128| i64::try_from(value).map_err(SqlError::internal);
    Ok((first, narrow(count)?, narrow(last)?))
}

/// Blocks on a future within a synchronous function that a plan calls.
fn wait<T>(future: impl Future<Output = T>) -> T {
    match tokio::runtime::Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(|| handle.block_on(future))
        }
        _ => futures::executor::block_on(future),
    }
}
