//! [`NodeRow`]: what each node of a store says of itself to the others, and how these rows are read and written: beside
//! all transactions, in one version that is overwritten in place.

use crate::{StorageId, keys};
use bytes::Bytes;
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sql_error::{Result, SqlError};
use std::collections::BTreeMap;
use storage::{
    COMPARED_BYTES, ClassRange, Condition, Family, Mutation, ReadFilter, RowRange, ScanOptions, StoreError, StoreRef,
    Timestamp, TimestampRange,
};
use txn::TxnError;
use types::Oid;

/// Who a node is: drawn at its start, and again when the others gave it up.
pub(super) type NodeId = u64;

/// The one version of the cell.
const VERSION: Timestamp = Timestamp(1);
/// That of another beside it, which tells what is in the first: by this one changes are conditional, because a row that speaks of
/// hundreds of tables is longer than what a store compares.
const DIGEST: Timestamp = Timestamp(2);

fn digest(value: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&Sha256::digest(value))
}

/// What a node asks of all others. Each answers when it is so, and keeps it so until the wish is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Wish {
    /// Descriptors are about to change: look into the store at the beginning of every transaction.
    Definition,
    /// The metadata lock of a table, for DDL: nobody writes to it.
    Table {
        /// The transaction that asks, among those of its node.
        owner: u64,
        /// The table.
        oid: Oid,
    },
    /// The right to begin a change of a table.
    Change {
        /// The transaction that asks, among those of its node.
        owner: u64,
        /// The table.
        oid: Oid,
    },
    /// Nobody writes to a table by a version of its descriptor below this one.
    Drain {
        /// The transaction that asks, among those of its node.
        owner: u64,
        /// The table.
        oid: Oid,
        /// Of its descriptor.
        version: u64,
    },
    /// No value of a sequence is given out that was reserved earlier.
    Sequence(StorageId),
}

impl Wish {
    /// Whether transactions of another node have to end, or to wait: its silence does not say that they do.
    pub(super) fn is_lock(&self) -> bool {
        matches!(self, Wish::Table { .. } | Wish::Change { .. } | Wish::Drain { .. })
    }
    /// The table that two nodes cannot both have, when it is about one.
    pub(super) fn contested(&self) -> Option<Oid> {
        match self {
            Wish::Table { oid, .. } | Wish::Change { oid, .. } => Some(*oid),
            _ => None,
        }
    }
}

/// An answer to a wish of another node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) node: NodeId,
    pub(super) wish: u64,
    /// False: it would never come true, because transactions wait for each other.
    pub(super) granted: bool,
}

/// What a node says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NodeRow {
    pub(super) node: NodeId,
    /// Grows with every sign of life.
    pub(super) beat: u64,
    pub(super) wishes: BTreeMap<u64, Wish>,
    pub(super) answers: Vec<Answer>,
}

/// The rows of all nodes.
pub(super) struct NodeRows {
    pub(super) store: StoreRef,
}

impl NodeRows {
    /// All rows, each as it is stored and as it reads.
    pub(super) async fn read(&self, range: RowRange) -> Result<Vec<(Bytes, NodeRow)>> {
        let filter = ReadFilter::new().with(Family::Data, TimestampRange::at(VERSION), 1);
        let batches: Vec<Vec<storage::Row>> =
            self.store.scan(range, filter, ScanOptions::default()).try_collect().await.map_err(failed)?;
        let mut rows = Vec::new();
        for row in batches.iter().flatten() {
            if let Some(cell) = row.newest(Family::Data) {
                rows.push((cell.value.clone(), crate::store::parse(&cell.value)?));
            }
        }
        Ok(rows)
    }
    /// One node's row, as it is stored.
    pub(super) async fn read_one(&self, node: NodeId) -> Result<Option<Bytes>> {
        let filter = ReadFilter::new().with(Family::Data, TimestampRange::at(VERSION), 1);
        let rows = self.store.read(&[keys::node(node)], &filter).await.map_err(failed)?;
        Ok(rows.first().and_then(|row| row.newest(Family::Data)).map(|cell| cell.value.clone()))
    }
    /// Writes a node's row in place of what was `seen`. `None`: something else is there, or nobody can tell.
    pub(super) async fn write(&self, seen: Option<&Bytes>, row: &NodeRow) -> Result<Option<Bytes>> {
        let value: Bytes = serde_json::to_vec(row).map_err(SqlError::internal)?.into();
        let set = |timestamp, value| Mutation::Set { family: Family::Data, timestamp, value };
        let set = vec![set(VERSION, value.clone()), set(DIGEST, digest(&value))];
        let done = self.change(row.node, seen, set).await?;
        Ok(done.then_some(value))
    }
    /// Removes a node's row if it is still what was `seen`. Answers whether it did.
    pub(super) async fn remove(&self, node: NodeId, seen: &Bytes) -> Result<bool> {
        let all = Mutation::Delete { family: Family::Data, range: TimestampRange::ALL };
        self.change(node, Some(seen), vec![all]).await
    }
    async fn change(&self, node: NodeId, seen: Option<&Bytes>, mutations: Vec<Mutation>) -> Result<bool> {
        let Some(value) = seen else {
            let (family, range, class) = (Family::Data, TimestampRange::ALL, ClassRange::ANY);
            let condition = Condition::NoCell { family, range, class, except: None };
            return self.change_if(node, condition, mutations).await;
        };
        let equals = |timestamp, value| Condition::CellEquals { family: Family::Data, timestamp, value };
        if self.change_if(node, equals(DIGEST, digest(value)), mutations.clone()).await? {
            return Ok(true);
        }
        // Versions of this program up to 0.1.0 wrote no digest; theirs is to be removed too when they are gone.
        if value.len() > COMPARED_BYTES {
            return Ok(false);
        }
        self.change_if(node, equals(VERSION, value.clone()), mutations).await
    }
    async fn change_if(&self, node: NodeId, condition: Condition, mutations: Vec<Mutation>) -> Result<bool> {
        match self.store.check_and_mutate(keys::node(node), vec![condition], mutations).await {
            Ok(done) => Ok(done),
            Err(StoreError::Undetermined(_)) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }
    /// Whether a two-phase commit has a lock in a range: how it ends may still be open.
    pub(super) async fn any_lock(&self, range: RowRange) -> Result<bool> {
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::ALL, 1);
        let mut rows = self.store.scan(range, filter, ScanOptions { limit: Some(1), ..ScanOptions::default() });
        while let Some(batch) = rows.try_next().await.map_err(failed)? {
            if batch.iter().any(|row| !row.cells.is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn failed(error: StoreError) -> SqlError {
    TxnError::Store(error).into()
}
