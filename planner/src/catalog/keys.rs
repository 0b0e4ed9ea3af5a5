//! Row keys of the system's own key spaces. Storage ids below [`FIRST_USER_STORAGE_ID`] are the
//! system's, so that no row of a table can lie among them.

use super::StorageId;
use crate::types::Oid;
use bytes::Bytes;
use storage::RowRange;

/// Tables and indexes take storage ids from here on.
pub const FIRST_USER_STORAGE_ID: StorageId = 1000;
/// Objects of users take OIDs from here on, as in PostgreSQL.
pub const FIRST_USER_OID: Oid = 16384;

/// Descriptors, as JSON.
const DESCRIPTORS: StorageId = 1;
/// Number counters.
const COUNTERS: StorageId = 2;
/// Values of sequences.
const SEQUENCES: StorageId = 3;
/// Ranges that wait for their removal.
const DROPPED: StorageId = 4;

fn prefix(space: StorageId) -> Vec<u8> {
    crate::encoding::table_prefix(space).to_vec()
}

fn key(space: StorageId, rest: &[&[u8]]) -> Bytes {
    let mut key = prefix(space);
    for part in rest {
        key.extend_from_slice(part);
    }
    key.into()
}

/// The row whose value changes with every change of any descriptor.
pub fn version() -> Bytes {
    key(DESCRIPTORS, &[b"V"])
}
/// A database.
pub fn database(oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"D", &oid.to_be_bytes()])
}
/// Every database.
pub fn databases() -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"D"]))
}
/// A role.
pub fn role(oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"R", &oid.to_be_bytes()])
}
/// Every role.
pub fn roles() -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"R"]))
}
/// A schema of a database.
pub fn schema(database: Oid, oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"N", &database.to_be_bytes(), &oid.to_be_bytes()])
}
/// Every schema of a database.
pub fn schemas(database: Oid) -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"N", &database.to_be_bytes()]))
}
/// A table or sequence of a database. Writers of a table require this row to stay unchanged.
pub fn table(database: Oid, oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"T", &database.to_be_bytes(), &oid.to_be_bytes()])
}
/// Every table and sequence of a database.
pub fn tables(database: Oid) -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"T", &database.to_be_bytes()]))
}
/// A counter of numbers.
pub fn counter(name: &str) -> Bytes {
    key(COUNTERS, &[name.as_bytes()])
}
/// The value of a sequence, by its storage id.
pub fn sequence(storage_id: StorageId) -> Bytes {
    key(SEQUENCES, &[&storage_id.to_be_bytes()])
}
/// A storage id whose rows are to be removed.
pub fn dropped(storage_id: StorageId) -> Bytes {
    key(DROPPED, &[&storage_id.to_be_bytes()])
}
/// Every storage id whose rows are to be removed.
pub fn all_dropped() -> RowRange {
    RowRange::prefix(prefix(DROPPED))
}
/// The rows of a storage id.
pub fn rows_of(storage_id: StorageId) -> RowRange {
    RowRange::prefix(prefix(storage_id))
}
