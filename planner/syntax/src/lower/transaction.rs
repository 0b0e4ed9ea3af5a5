//! BEGIN, COMMIT, ROLLBACK, savepoints and transaction modes.

use crate::statement::{Isolation, StatementKind, TransactionModes};
use grammar::tree::{self as ast, IsolationLevel, TransactionStatement as T};
use sql_error::{Result, SqlError, state};

/// A statement of transaction control. Errors: 55000 for prepared transactions.
pub(super) fn transaction(statement: T) -> Result<StatementKind> {
    let disabled = || SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, "prepared transactions are disabled");
    Ok(match statement {
        T::Begin(_, modes) => StatementKind::Begin(self::modes(&modes)),
        T::Commit(chain) => StatementKind::Commit { chain },
        T::Rollback(chain) => StatementKind::Rollback { chain },
        T::Savepoint(name) => StatementKind::Savepoint(name.value),
        T::Release(name) => StatementKind::Release(name.value),
        T::RollbackTo(name) => StatementKind::RollbackTo(name.value),
        T::Prepare(_) => return Err(disabled().hint("Set max_prepared_transactions to a nonzero value.")),
        T::CommitPrepared(_) | T::RollbackPrepared(_) => return Err(disabled()),
        T::Set(modes) => StatementKind::SetTransaction { modes: self::modes(&modes), session: false },
        T::SetSession(modes) => StatementKind::SetTransaction { modes: self::modes(&modes), session: true },
        T::Snapshot(name) => StatementKind::SetSnapshot(name),
    })
}

fn modes(modes: &ast::TransactionModes) -> TransactionModes {
    let isolation = modes.isolation.map(|level| match level {
        IsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
        IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
        IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
        IsolationLevel::Serializable => Isolation::Serializable,
    });
    TransactionModes { isolation, read_only: modes.read_only, deferrable: modes.deferrable }
}
