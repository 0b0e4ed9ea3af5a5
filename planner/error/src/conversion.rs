//! Errors of DataFusion, of the grammar, of transactions and of the store as [`SqlError`], and back.

use crate::{SqlError, state};
use datafusion_common::DataFusionError;
use storage::StoreError;
use txn::locks::{CircleMember, LockFailure};
use txn::{ConflictKind, TxnError};

impl From<grammar::SyntaxError> for SqlError {
    /// Without a position: the text tells it (`syntax::Source`).
    fn from(error: grammar::SyntaxError) -> Self {
        let fields = error.fields();
        let mut made = SqlError::new(fields.state, fields.message.clone());
        if let Some(detail) = &fields.detail {
            made = made.detail(detail.clone());
        }
        match &fields.hint {
            Some(hint) => made.hint(hint.clone()),
            None => made,
        }
    }
}

impl From<SqlError> for DataFusionError {
    fn from(error: SqlError) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

impl From<SqlError> for arrow::error::ArrowError {
    fn from(error: SqlError) -> Self {
        arrow::error::ArrowError::ExternalError(Box::new(error))
    }
}

impl From<arrow::error::ArrowError> for SqlError {
    fn from(error: arrow::error::ArrowError) -> Self {
        DataFusionError::from(error).into()
    }
}

impl From<DataFusionError> for SqlError {
    fn from(error: DataFusionError) -> Self {
        use arrow::error::ArrowError;
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(inner) = source {
            if let Some(sql) = inner.downcast_ref::<SqlError>() {
                return sql.clone();
            }
            if let Some(txn) = inner.downcast_ref::<TxnError>() {
                return txn.clone().into();
            }
            if inner.downcast_ref::<std::io::Error>().is_some_and(is_full_disk) {
                return full_disk(inner.to_string());
            }
            match inner.downcast_ref::<ArrowError>() {
                Some(ArrowError::DivideByZero) => {
                    return SqlError::new(state::DIVISION_BY_ZERO, "division by zero");
                }
                Some(ArrowError::ArithmeticOverflow(_)) => {
                    return SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range");
                }
                _ => {}
            }
            // `DataFusionError::Shared` and `External` expose what they wrap as their source.
            source = match inner.downcast_ref::<DataFusionError>() {
                Some(DataFusionError::External(boxed)) => Some(boxed.as_ref()),
                Some(DataFusionError::ArrowError(boxed, _)) => Some(boxed.as_ref()),
                Some(DataFusionError::Shared(shared)) => Some(shared.as_ref()),
                Some(DataFusionError::Context(_, boxed)) => Some(boxed.as_ref()),
                _ => inner.source(),
            };
        }
        match error.find_root() {
            DataFusionError::NotImplemented(what) => {
                SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("not supported: {what}"))
            }
            DataFusionError::Plan(what) if what.starts_with("Aggregate function calls cannot be nested") => {
                // An outer query's aggregate inside another of its aggregates: only the whole plan shows that.
                SqlError::new(state::GROUPING_ERROR, "aggregate function calls cannot be nested")
            }
            DataFusionError::ResourcesExhausted(what) if what.contains("disk space") => {
                full_disk(what.clone())
            }
            DataFusionError::ResourcesExhausted(what) => SqlError::new(state::OUT_OF_MEMORY, "out of memory")
                .detail(what.clone())
                .hint("What the statement holds does not fit and cannot spill. Make it need less, or start the server with more --query-memory."),
            other => SqlError::internal(other),
        }
    }
}

/// Whether the disk or the user's quota is full.
fn is_full_disk(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

fn full_disk(detail: String) -> SqlError {
    SqlError::new(state::DISK_FULL, "no more disk space for temporary files").detail(detail)
}

/// PostgreSQL's message for a conflict of this kind.
pub fn serialization_message(kind: ConflictKind) -> &'static str {
    match kind {
        ConflictKind::Read => "could not serialize access due to read/write dependencies among transactions",
        _ => "could not serialize access due to concurrent update",
    }
}

/// The `DETAIL` of an error that reports lost locks.
pub const LOCKS_LOST: &str = "The server that keeps the locks of all did not hear of this one for too long, or took over from one \
                              that died and did not hear of this one in time; others may have had them meanwhile.";

impl From<TxnError> for SqlError {
    /// The message contains key bytes. `session` replaces them by table and key where it can.
    fn from(error: TxnError) -> Self {
        match error {
            TxnError::Conflict(conflict) => {
                SqlError::new(state::SERIALIZATION_FAILURE, serialization_message(conflict.kind))
                    .detail(format!("Key {:?} was changed at {}.", conflict.key, conflict.found))
                    .hint("The transaction might succeed if retried.")
            }
            TxnError::Undetermined { start_ts } => {
                SqlError::new(state::STATEMENT_COMPLETION_UNKNOWN, "the outcome of the commit is not known")
                    .detail(format!("Transaction {start_ts}."))
                    .hint(format!("Once the store answers, pg_xact_status('{start_ts}') on this server tells."))
            }
            TxnError::SnapshotTooOld { .. } => {
                SqlError::new(state::SNAPSHOT_TOO_OLD, "snapshot too old").detail(error.to_string())
            }
            TxnError::NotLocked { failure, .. } => failure.into(),
            TxnError::LocksLost => {
                SqlError::new(state::SERIALIZATION_FAILURE, "could not serialize access due to locks that were lost")
                    .detail(LOCKS_LOST)
                    .hint("The transaction might succeed if retried.")
            }
            error @ TxnError::Unlooked => SqlError::internal(error.to_string()),
            TxnError::Invalid(what) => SqlError::internal(what),
            TxnError::Store(error) => error.into(),
            TxnError::Spill(what) => SqlError::new(state::IO_ERROR, what),
        }
    }
}

impl From<LockFailure> for SqlError {
    fn from(failure: LockFailure) -> Self {
        match failure {
            LockFailure::Held => SqlError::new(state::LOCK_NOT_AVAILABLE, "could not obtain lock"),
            LockFailure::TimedOut => SqlError::new(state::LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout"),
            LockFailure::Deadlock(circle) => {
                let waits = |at: &CircleMember| {
                    format!("Process {} waits for a lock; blocked by process {}.", at.label, at.blocked_by)
                };
                let detail: Vec<String> = circle.iter().map(waits).collect();
                SqlError::new(state::DEADLOCK_DETECTED, "deadlock detected")
                    .detail(detail.join("\n"))
                    .hint("The transaction might succeed if retried.")
            }
            LockFailure::TooMany => SqlError::new(state::OUT_OF_MEMORY, "out of shared memory")
                .hint("Too many rows are locked at the same time. Change fewer in one transaction, or use REPEATABLE READ, which locks none before COMMIT."),
            LockFailure::TooManyNamed => SqlError::new(state::OUT_OF_MEMORY, "out of shared memory")
                .hint("You might need to increase max_locks_per_transaction."),
            LockFailure::Unavailable => SqlError::new(state::IO_ERROR, "the server that keeps the locks does not answer"),
            LockFailure::NotSpilled { full: true } => SqlError::new(state::DISK_FULL, "no room on disk for the row locks of a transaction"),
            LockFailure::NotSpilled { full: false } => SqlError::new(state::IO_ERROR, "could not write or read the row locks of a transaction"),
        }
    }
}

impl From<StoreError> for SqlError {
    fn from(error: StoreError) -> Self {
        let sqlstate = match &error {
            StoreError::DiskFull(_) => state::DISK_FULL,
            StoreError::ReadOnly(_) => state::READ_ONLY_SQL_TRANSACTION,
            StoreError::Undetermined(_) => state::STATEMENT_COMPLETION_UNKNOWN,
            StoreError::InUse(_) => state::OBJECT_IN_USE,
            StoreError::Corrupted(_) | StoreError::Format(_) => state::DATA_CORRUPTED,
            StoreError::Io(_) | StoreError::Unavailable(_) => state::IO_ERROR,
            StoreError::Unsupported(_) => state::FEATURE_NOT_SUPPORTED,
            StoreError::TooLarge(_) => state::PROGRAM_LIMIT_EXCEEDED,
        };
        SqlError::new(sqlstate, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilling_onto_a_full_disk_is_no_internal_error() {
        let full = || std::io::Error::from_raw_os_error(28);
        let told = arrow::error::ArrowError::IoError("cannot write".to_owned(), full());
        for error in [DataFusionError::IoError(full()), told.into()] {
            let shared = DataFusionError::Shared(std::sync::Arc::new(error));
            assert_eq!(SqlError::from(shared).0.state, state::DISK_FULL);
        }
        let other = DataFusionError::IoError(std::io::Error::from_raw_os_error(5));
        assert_ne!(SqlError::from(other).0.state, state::DISK_FULL);
    }
}
