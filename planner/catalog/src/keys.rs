//! Row keys of the system's own key spaces. Storage ids below [`FIRST_USER_STORAGE_ID`] are reserved for the system, so
//! that no table's rows can be among them.

use super::StorageId;
use bytes::Bytes;
use sql_error::Result;
use storage::RowRange;
use types::Oid;

/// First storage id of tables and indexes.
pub const FIRST_USER_STORAGE_ID: StorageId = 1000;
/// First OID of users' objects, as in PostgreSQL.
pub const FIRST_USER_OID: Oid = 16384;

/// Key space of descriptors, stored as JSON.
const DESCRIPTORS: StorageId = 1;
/// Key space of number counters.
const COUNTERS: StorageId = 2;
/// Key space of sequence values.
const SEQUENCES: StorageId = 3;
/// Key space of ranges to remove.
const DROPPED: StorageId = 4;
/// Key space of the nodes' rows, which are written outside transactions.
const NODES: StorageId = 5;
/// Key space of secrets that no role may read.
const SECRETS: StorageId = 6;

/// Storage ids of databases' large objects: this plus the database's OID. Tables never reach these ids.
const LARGE_OBJECTS: StorageId = 1 << 63;

/// The range of all tables' rows and indexes' entries, without the system's own rows.
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

/// A version slot (`versions`), which a transaction writes whenever it changes descriptors. Slot 0 is the first one.
pub fn version(slot: u8) -> Bytes {
    match slot {
        0 => key(DESCRIPTORS, &[b"V"]),
        slot => key(DESCRIPTORS, &[b"V", &[slot]]),
    }
}
/// The range of all version slots.
pub fn versions() -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"V"]))
}
/// The name of a table, sequence or index in a schema. Its value is the OID. Taking a name writes this row, so that one
/// of two concurrent takers fails.
pub fn relation_name(database: Oid, schema: Oid, name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MC", &database.to_be_bytes(), &schema.to_be_bytes(), name.as_bytes()])
}
/// The name of a schema in a database.
pub fn schema_name(database: Oid, name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MN", &database.to_be_bytes(), name.as_bytes()])
}
/// The name of a database.
pub fn database_name(name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MD", name.as_bytes()])
}
/// The name of a role.
pub fn role_name(name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MR", name.as_bytes()])
}
/// The row that writers with this version of a table's descriptor require to be unchanged. Writing it keeps such
/// writers from committing. A change that is incompatible with them writes it at once. A step of an index build writes
/// it one version later, so that writers with two adjacent versions may commit concurrently. Versions with the same
/// parity share a row: a transaction that began after it was written knows the newer version.
pub fn fence(database: Oid, table: Oid, version: u64) -> Bytes {
    let parity = [u8::from(version % 2 == 1)];
    key(DESCRIPTORS, &[b"F", &database.to_be_bytes(), &table.to_be_bytes(), &parity])
}
/// The descriptor of a database.
pub fn database(oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"D", &oid.to_be_bytes()])
}
/// The range of all databases' descriptors.
pub fn databases() -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"D"]))
}
/// The descriptor of a role.
pub fn role(oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"R", &oid.to_be_bytes()])
}
/// The range of all roles' descriptors.
pub fn roles() -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"R"]))
}
/// The descriptor of a schema in a database.
pub fn schema(database: Oid, oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"N", &database.to_be_bytes(), &oid.to_be_bytes()])
}
/// The range of all schemas' descriptors in a database.
pub fn schemas(database: Oid) -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"N", &database.to_be_bytes()]))
}
/// The name of an enum in a schema.
pub fn type_name(database: Oid, schema: Oid, name: &str) -> Bytes {
    key(DESCRIPTORS, &[b"MT", &database.to_be_bytes(), &schema.to_be_bytes(), name.as_bytes()])
}
/// The descriptor of an enum in a database.
pub fn enumeration(database: Oid, oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"E", &database.to_be_bytes(), &oid.to_be_bytes()])
}
/// The range of all enums' descriptors in a database.
pub fn enumerations(database: Oid) -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"E", &database.to_be_bytes()]))
}
/// The descriptor of a table or sequence in a database. Writers of a table require this row to stay unchanged.
pub fn table(database: Oid, oid: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"T", &database.to_be_bytes(), &oid.to_be_bytes()])
}
/// The range of all tables' and sequences' descriptors in a database.
pub fn tables(database: Oid) -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"T", &database.to_be_bytes()]))
}
/// The statistics of a table.
pub fn statistics(database: Oid, table: Oid) -> Bytes {
    key(DESCRIPTORS, &[b"S", &database.to_be_bytes(), &table.to_be_bytes()])
}
/// The range of all tables' statistics in a database.
pub fn all_statistics(database: Oid) -> RowRange {
    RowRange::prefix(key(DESCRIPTORS, &[b"S", &database.to_be_bytes()]))
}
/// A counter of numbers, by name.
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
/// The range of all storage ids whose rows are to be removed.
pub fn all_dropped() -> RowRange {
    RowRange::prefix(prefix(DROPPED))
}
/// The range of a storage id's rows.
pub fn rows_of(storage_id: StorageId) -> RowRange {
    RowRange::prefix(prefix(storage_id))
}
/// The secret from which answers to unknown roles are derived.
pub fn login_secret() -> Bytes {
    key(SECRETS, &[b"login"])
}
/// The storage id of a database's large objects.
pub fn large_object_storage(database: Oid) -> StorageId {
    LARGE_OBJECTS | StorageId::from(database)
}
/// The metadata of a large object.
pub fn large_object(database: Oid, oid: Oid) -> Bytes {
    key(large_object_storage(database), &[b"m", &oid.to_be_bytes()])
}
/// The range of all large objects' metadata in a database.
pub fn large_objects(database: Oid) -> RowRange {
    RowRange::prefix(key(large_object_storage(database), &[b"m"]))
}
/// A page of a large object, by its number.
pub fn large_object_page(database: Oid, oid: Oid, page: u32) -> Bytes {
    key(large_object_storage(database), &[b"p", &oid.to_be_bytes(), &page.to_be_bytes()])
}
/// The range of a large object's pages.
pub fn large_object_pages(database: Oid, oid: Oid) -> RowRange {
    RowRange::prefix(key(large_object_storage(database), &[b"p", &oid.to_be_bytes()]))
}
/// The range of all large objects' pages in a database.
pub fn all_large_object_pages(database: Oid) -> RowRange {
    RowRange::prefix(key(large_object_storage(database), &[b"p"]))
}
/// The OID in a key of a large object. Errors: XX001.
pub fn large_object_of(key: &[u8]) -> Result<Oid> {
    number_in(key, 1)
}
/// The page number in a key of a page. Errors: XX001.
pub fn page_of(key: &[u8]) -> Result<u32> {
    number_in(key, 5)
}
fn number_in(key: &[u8], at: usize) -> Result<u32> {
    let bytes = key.get(crate::encoding::PREFIX_LENGTH + at..).and_then(|rest| rest.first_chunk::<4>());
    bytes.map(|bytes| u32::from_be_bytes(*bytes)).ok_or_else(|| crate::encoding::corrupted("a large object's key"))
}
/// The row of a node.
pub fn node(node: u64) -> Bytes {
    key(NODES, &[&node.to_be_bytes()])
}
/// The range of all nodes' rows.
pub fn nodes() -> RowRange {
    RowRange::prefix(prefix(NODES))
}
/// The row that a node's definitions require to be unchanged. Other nodes write it when they give the node up.
pub fn node_fence(node: u64) -> Bytes {
    key(DESCRIPTORS, &[b"X", &node.to_be_bytes()])
}
/// Whether a key is the fence of a node.
pub fn is_node_fence(key: &[u8]) -> bool {
    key.starts_with(&self::key(DESCRIPTORS, &[b"X"]))
}
