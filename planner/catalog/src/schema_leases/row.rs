//! [`NodeRow`]: the row by which each node of a store informs the others. The rows are read and written outside
//! transactions. Each has one version, which is overwritten in place.

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

/// Identity of a node, drawn at random when it starts and again when the others gave it up.
pub(super) type NodeId = u64;

/// The only version of the cell.
const VERSION: Timestamp = Timestamp(1);
/// Version of a second cell with a digest of the first. Writes are conditional on the digest. A row that mentions
/// hundreds of tables exceeds the length that a store compares.
const DIGEST: Timestamp = Timestamp(2);

fn digest(value: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&Sha256::digest(value))
}

/// A request to all other nodes. Each answers once it is fulfilled, and keeps it so until the wish is withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Wish {
    /// Descriptors are about to change: read the version slots at the start of each transaction.
    Definition,
    /// The metadata lock of a table, for DDL: no transaction writes to it.
    Table {
        /// The requesting transaction's number within its node.
        owner: u64,
        /// OID of the table.
        oid: Oid,
    },
    /// The right to change a table.
    Change {
        /// The requesting transaction's number within its node.
        owner: u64,
        /// OID of the table.
        oid: Oid,
    },
    /// No transaction writes to a table with a version of its descriptor below this one.
    Drain {
        /// The requesting transaction's number within its node.
        owner: u64,
        /// OID of the table.
        oid: Oid,
        /// Version of the descriptor.
        version: u64,
    },
    /// No value of a sequence is handed out that was reserved earlier.
    Sequence(StorageId),
}

impl Wish {
    /// Whether the wish concerns transactions of other nodes, which must end or wait. A silent node's transactions may
    /// continue.
    pub(super) fn is_lock(&self) -> bool {
        matches!(self, Wish::Table { .. } | Wish::Change { .. } | Wish::Drain { .. })
    }
    /// The table that only one node can have at a time, if the wish is for one.
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
    /// False if granting would never succeed, because transactions wait for each other.
    pub(super) granted: bool,
}

/// The information that a node publishes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NodeRow {
    pub(super) node: NodeId,
    /// Grows with each beat.
    pub(super) beat: u64,
    pub(super) wishes: BTreeMap<u64, Wish>,
    pub(super) answers: Vec<Answer>,
}

/// Reads and writes the rows of all nodes.
pub(super) struct NodeRows {
    pub(super) store: StoreRef,
}

impl NodeRows {
    /// All rows, in stored and parsed form.
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
    /// The stored row of one node.
    pub(super) async fn read_one(&self, node: NodeId) -> Result<Option<Bytes>> {
        let filter = ReadFilter::new().with(Family::Data, TimestampRange::at(VERSION), 1);
        let rows = self.store.read(&[keys::node(node)], &filter).await.map_err(failed)?;
        Ok(rows.first().and_then(|row| row.newest(Family::Data)).map(|cell| cell.value.clone()))
    }
    /// Writes a node's row if the stored one is still `seen`. `None` if it is another one, or if the outcome is
    /// unknown.
    pub(super) async fn write(&self, seen: Option<&Bytes>, row: &NodeRow) -> Result<Option<Bytes>> {
        let value: Bytes = serde_json::to_vec(row).map_err(SqlError::internal)?.into();
        let set = |timestamp, value| Mutation::Set { family: Family::Data, timestamp, value };
        let set = vec![set(VERSION, value.clone()), set(DIGEST, digest(&value))];
        let done = self.change(row.node, seen, set).await?;
        Ok(done.then_some(value))
    }
    /// Removes a node's row if it is still `seen`. Answers whether it did.
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
        // Versions up to 0.1.0 wrote no digest. Their rows must be removable too.
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
    /// Whether a two-phase commit holds a lock in a range, so that its outcome may be open.
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
