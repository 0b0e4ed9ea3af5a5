//! LOCK TABLE: locks tables in one of eight modes until the transaction ends (PostgreSQL's manual, table 13.2). A
//! writer of a table holds ROW EXCLUSIVE. A transaction that locks rows holds ROW SHARE. A reader holds nothing,
//! because no mode excludes readers.

use super::lock_tag;
use bytes::Bytes;
use catalog::acl::{DELETE, INSERT, Kind, SELECT, TRUNCATE, UPDATE};
use catalog::{Catalog, RelationKind, TableDescriptor};
use settings::Settings;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
pub use syntax::TableLockMode;
use txn::Transaction;
use txn::locks::{LockFailure, LockMode, LockName, LockWait};
use types::Oid;

/// The lock-name kind of tables.
pub const TABLE: u8 = 2;

/// The lock tag of a table, for other servers.
fn tag(database: Oid, table: Oid) -> Bytes {
    lock_tag::of(TABLE, &[database, table])
}

/// Decodes the database and table of a tag. `None` for another kind of lock.
pub fn from_tag(tag: &[u8]) -> Option<(Oid, Oid)> {
    lock_tag::numbers(tag, TABLE).map(|[database, table]| (database, table))
}

/// The mode in terms of the lock table.
pub const fn lock_mode(mode: TableLockMode) -> LockMode {
    use TableLockMode as M;
    const fn of(modes: &[M]) -> u16 {
        let (mut bits, mut at) = (0, 0);
        while at < modes.len() {
            bits |= 1 << modes[at] as u8;
            at += 1;
        }
        bits
    }
    let excludes = match mode {
        M::AccessShare => of(&[M::AccessExclusive]),
        M::RowShare => of(&[M::Exclusive, M::AccessExclusive]),
        M::RowExclusive => of(&[M::Share, M::ShareRowExclusive, M::Exclusive, M::AccessExclusive]),
        M::ShareUpdateExclusive => {
            of(&[M::ShareUpdateExclusive, M::Share, M::ShareRowExclusive, M::Exclusive, M::AccessExclusive])
        }
        M::Share => {
            of(&[M::RowExclusive, M::ShareUpdateExclusive, M::ShareRowExclusive, M::Exclusive, M::AccessExclusive])
        }
        M::ShareRowExclusive => of(&[
            M::RowExclusive,
            M::ShareUpdateExclusive,
            M::Share,
            M::ShareRowExclusive,
            M::Exclusive,
            M::AccessExclusive,
        ]),
        M::Exclusive => 0b1111_1110,
        M::AccessExclusive => 0b1111_1111,
    };
    LockMode::new(mode as u8, excludes)
}

/// Locks a table until the transaction ends. Errors: 55P03, 40P01, 53200.
pub async fn acquire(
    transaction: &Transaction,
    database: Oid,
    table: Oid,
    mode: TableLockMode,
    wait: LockWait,
) -> Result<()> {
    if !transaction.can_lock_rows() {
        return Ok(());
    }
    let tag = tag(database, table);
    let name = LockName::new(TABLE, &tag);
    transaction.lock_name(name, lock_mode(mode), &tag, wait).await.map_err(|failure: LockFailure| failure.into())
}

/// The same. Returns whether it had to wait.
pub async fn acquire_or_wait(
    transaction: &Transaction,
    database: Oid,
    table: Oid,
    mode: TableLockMode,
    wait: LockWait,
) -> Result<bool> {
    if !transaction.can_lock_rows() {
        return Ok(false);
    }
    let tag = tag(database, table);
    match transaction.lock_name(LockName::new(TABLE, &tag), lock_mode(mode), &tag, LockWait::No).await {
        Ok(()) => Ok(false),
        Err(LockFailure::Held) => Box::pin(acquire(transaction, database, table, mode, wait)).await.map(|()| true),
        Err(failure) => Err(failure.into()),
    }
}

/// The relations that LOCK TABLE of a relation locks, and the role whose privileges each needs. `None` skips the check.
/// For a view these are the view and the relations of its query, which its owner locks.
pub fn locked_with(
    catalog: &Catalog,
    settings: &Settings,
    relation: Arc<TableDescriptor>,
) -> Vec<(Arc<TableDescriptor>, Option<Oid>)> {
    // A dropped role has only the privileges of PUBLIC.
    let user = || catalog.role(settings.user()).map_or(Oid::MAX, |role| role.oid);
    let role = settings.is_checked().then(user);
    let mut found = vec![(relation, role)];
    let mut at = 0;
    while let Some((view, asks)) = found.get(at).cloned() {
        at += 1;
        let Some(query) = &view.view else { continue };
        let asks = asks.and(catalog::acl::role_below(&view).or(role));
        for named in &query.relations {
            let known = |(other, by): &(Arc<TableDescriptor>, Option<Oid>)| other.oid == named.oid && *by == asks;
            if let Some(relation) = catalog.relation_by_oid(named.oid).filter(|_| !found.iter().any(known)) {
                found.push((relation, asks));
            }
        }
    }
    found
}

/// Errors: 42501 if a role may not lock a table in this mode.
pub fn may_lock(catalog: &Catalog, role: Option<Oid>, table: &TableDescriptor, mode: TableLockMode) -> Result<()> {
    let Some(role) = role else { return Ok(()) };
    let writes = UPDATE | DELETE | TRUNCATE;
    let wanted = match mode {
        TableLockMode::AccessShare => SELECT,
        TableLockMode::RowExclusive => writes | INSERT,
        _ => writes,
    };
    if catalog.rights(role, Kind::Table, table.owner, table.acl.as_ref(), wanted) != 0 {
        return Ok(());
    }
    let kind = if table.kind == RelationKind::View { "view" } else { "table" };
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("permission denied for {kind} {}", table.name)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use TableLockMode as M;

    #[test]
    fn modes_exclude_each_other_mutually_and_as_the_manual_says() {
        let all = M::ALL;
        // Table 13.2, a row for each mode.
        let manual = ["       X", "      XX", "    XXXX", "   XXXXX", "  XX XXX", "  XXXXXX", " XXXXXXX", "XXXXXXXX"];
        let text = |mode: M| -> String {
            let shown = format!("{:?}", lock_mode(mode));
            assert_eq!(shown, format!("mode {}", mode as u8));
            all.iter().map(|other| if lock_mode(mode).excludes_mode(lock_mode(*other)) { 'X' } else { ' ' }).collect()
        };
        for (mode, row) in all.iter().zip(manual) {
            assert_eq!(text(*mode), row, "{mode:?}");
        }
        assert_eq!(from_tag(&tag(5, 16_385)), Some((5, 16_385)));
    }
}
