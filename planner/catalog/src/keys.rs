//! Row keys of the system's own key spaces. Storage ids below [`FIRST_USER_STORAGE_ID`] are the
//! system's, so that no row of a table can lie among them.

use super::StorageId;
use bytes::Bytes;
use sql_error::Result;
use storage::RowRange;
use types::Oid;

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
/// What nodes say of themselves, beside all transactions.
const NODES: StorageId = 5;
/// What no role may read.
const SECRETS: StorageId = 6;

/// Storage ids from here on are those of databases' large objects: this and the database's OID. Tables never get so far.
const LARGE_OBJECTS: StorageId = 1 << 63;

/// Rows of tables and entries of indexes: everything but the system's own.
pub fn rows_of_users() -> RowRange {
    RowRange { start: crate::encoding::table_prefix(FIRST_USER_STORAGE_ID), end: None }
}

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

/// A row whose value changes with every change of any descriptor by whoever has this slot
/// (`versions`): slot 0 is the first.
pub fn version(slot: u8) -> Bytes {
    match slot {
        0 => key(DESCRIPTORS, &[b"V"]),
        slot => key(DESCRIPTORS, &[b"V", &[slot]]),
    }
}
/// Every version row.
pub fn versions() -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"V"]))
}
/// A name of a table, sequence or index in a schema; its value is the OID. Whoever takes a name
/// writes it, so that of two who take one at the same time one fails.
pub fn relation_name(database: Oid, schema: Oid, name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MC", &database.to_be_bytes(), &schema.to_be_bytes(), name.as_bytes()])
}
/// A name of a schema.
pub fn schema_name(database: Oid, name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MN", &database.to_be_bytes(), name.as_bytes()])
}
/// A name of a database.
pub fn database_name(name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MD", name.as_bytes()])
}
/// A name of a role.
pub fn role_name(name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MR", name.as_bytes()])
}
/// What writers by this version of a table's descriptor require to be unchanged. It is written
/// when such writers must not commit any more: at once by a change that they would harm, one
/// version late by a step of an index build, so that writers by two neighbouring versions may
/// commit side by side. Versions of the same parity share a row: who began after it was written
/// knows the newer one.
pub fn fence(database: Oid, table: Oid, version: u64) -> Bytes {
    let parity = [u8::from(version % 2 == 1)];
    key(DESCRIPTORS, &[b"F", &database.to_be_bytes(), &table.to_be_bytes(), &parity])
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
/// A name of an enum in a schema.
pub fn type_name(database: Oid, schema: Oid, name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MT", &database.to_be_bytes(), &schema.to_be_bytes(), name.as_bytes()])
}
/// An enum of a database.
pub fn enumeration(database: Oid, oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"E", &database.to_be_bytes(), &oid.to_be_bytes()])
}
/// Every enum of a database.
pub fn enumerations(database: Oid) -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"E", &database.to_be_bytes()]))
}
/// A table or sequence of a database. Writers of a table require this row to stay unchanged.
pub fn table(database: Oid, oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"T", &database.to_be_bytes(), &oid.to_be_bytes()])
}
/// Every table and sequence of a database.
pub fn tables(database: Oid) -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"T", &database.to_be_bytes()]))
}
/// What ANALYZE found out about a table.
pub fn statistics(database: Oid, table: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"S", &database.to_be_bytes(), &table.to_be_bytes()])
}
/// What ANALYZE found out about every table of a database.
pub fn all_statistics(database: Oid) -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"S", &database.to_be_bytes()]))
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
/// The secret that answers to unknown roles are derived from.
pub fn login_secret() -> Bytes {
    key(SECRETS, &[b"login"])
}
/// The storage id of a database's large objects.
pub fn large_object_storage(database: Oid) -> StorageId {
    LARGE_OBJECTS | StorageId::from(database)
}
/// What is known of a large object.
pub fn large_object(database: Oid, oid: Oid) -> Bytes {
    key(large_object_storage(database), &[b"m", &oid.to_be_bytes()])
}
/// What is known of all large objects of a database.
pub fn large_objects(database: Oid) -> RowRange {
    RowRange::prefix(key(large_object_storage(database), &[b"m"]))
}
/// A page of a large object.
pub fn large_object_page(database: Oid, oid: Oid, page: u32) -> Bytes {
    key(large_object_storage(database), &[b"p", &oid.to_be_bytes(), &page.to_be_bytes()])
}
/// The pages of a large object.
pub fn large_object_pages(database: Oid, oid: Oid) -> RowRange {
    RowRange::prefix(key(large_object_storage(database), &[b"p", &oid.to_be_bytes()]))
}
/// The pages of all large objects of a database.
pub fn all_large_object_pages(database: Oid) -> RowRange {
    RowRange::prefix(key(large_object_storage(database), &[b"p"]))
}
/// The OID in a key of one of these. Errors: XX001.
pub fn large_object_of(key: &[u8]) -> Result<Oid> {
    number_in(key, 1)
}
/// The number of a page in its key. Errors: XX001.
pub fn page_of(key: &[u8]) -> Result<u32> {
    number_in(key, 5)
}
fn number_in(key: &[u8], at: usize) -> Result<u32> {
    let bytes = key.get(crate::encoding::PREFIX_LENGTH + at..).and_then(|rest| rest.first_chunk::<4>());
    bytes.map(|bytes| u32::from_be_bytes(*bytes)).ok_or_else(|| crate::encoding::corrupted("a large object's key"))
}
/// What a node says of itself.
pub fn node(node: u64) -> Bytes {
    key(NODES, &[&node.to_be_bytes()])
}
/// What every node says of itself.
pub fn nodes() -> RowRange {
    RowRange::prefix(prefix(NODES))
}
/// What the definitions of a node require to be unchanged: written by whoever gives the node up.
pub fn node_fence(node: u64) -> Bytes {
    key(DESCRIPTORS, &[b"X", &node.to_be_bytes()])
}
/// Whether a key is such a fence.
pub fn is_node_fence(key: &[u8]) -> bool {
    key.starts_with(&self::key(DESCRIPTORS, &[b"X"]))
}
