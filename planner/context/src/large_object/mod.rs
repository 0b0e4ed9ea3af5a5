//! Large objects (PostgreSQL's manual, chapter 35): up to 4 TB of bytes under an OID, read and written in parts.
//! [`LargeObjects`] keeps them in the current transaction, so they are visible, committed and rolled back like rows.
//!
//! Each database has a key space of its own. The key `m` and OID holds an object's metadata as JSON. The key `p`, OID
//! and page number holds the bytes of a page, at most [`PAGE`]. A page that was never written is not stored, and reads
//! as zeroes. Must not know SQL text.

mod descriptors;

pub use descriptors::{Descriptor, Descriptors};

use crate::StatementContext;
use bytes::Bytes;
use catalog::acl::{Acl, Kind, Rights};
use catalog::{Catalog, keys};
use futures::TryStreamExt;
use serde::{Deserialize, Serialize};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use storage::RowRange;
use txn::{CommandNumber, LockStrength, OwnWrites, Transaction, TxnScanOptions, Write, WriteKind};
use types::Oid;

/// The size of a page in bytes, as in PostgreSQL.
pub const PAGE: usize = 2048;
/// The greatest size of a large object in bytes, as in PostgreSQL.
pub const LARGEST: i64 = i32::MAX as i64 * PAGE as i64;

/// The metadata of a large object (`pg_largeobject_metadata`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LargeObject {
    /// The OID of the owning role.
    pub owner: Oid,
    /// The granted privileges. `None` before the first GRANT or REVOKE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
    /// The text of COMMENT ON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

impl LargeObject {
    /// Whether a role has one of these privileges on the object.
    pub fn allows(&self, catalog: &Catalog, role: Oid, rights: Rights) -> bool {
        catalog.rights(role, Kind::LargeObject, self.owner, self.acl.as_ref(), rights) != 0
    }
}

/// 42704: no large object has this OID.
pub fn missing(oid: Oid) -> SqlError {
    SqlError::new(state::UNDEFINED_OBJECT, format!("large object {oid} does not exist"))
}

/// 42501: only the owner may do this.
pub fn not_owner(oid: Oid) -> SqlError {
    SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("must be owner of large object {oid}"))
}

/// The large objects of a database, as a transaction sees them.
#[derive(Clone)]
pub struct LargeObjects {
    transaction: Arc<Transaction>,
    database: Oid,
    /// The transaction's own writes that are visible.
    own: OwnWrites,
}

impl LargeObjects {
    /// The large objects that a statement sees, including all writes of its transaction.
    pub fn of(context: &StatementContext) -> LargeObjects {
        LargeObjects::new(&context.transaction, context.catalog.database().oid)
    }
    /// The large objects of a database, including all writes of the transaction.
    pub fn new(transaction: &Arc<Transaction>, database: Oid) -> LargeObjects {
        LargeObjects { transaction: Arc::clone(transaction), database, own: OwnWrites::All }
    }
    /// The same without the statement's own writes.
    pub fn before(self, context: &StatementContext) -> LargeObjects {
        self.before_command(context.command)
    }
    /// The same without the writes of a command and later ones.
    pub fn before_command(self, command: CommandNumber) -> LargeObjects {
        LargeObjects { own: OwnWrites::Before(command), ..self }
    }

    /// The metadata of an object, or `None` if it does not exist.
    pub async fn find(&self, oid: Oid) -> Result<Option<LargeObject>> {
        let found = self.transaction.get(&keys::large_object(self.database, oid), self.own).await?;
        found.map(|value| catalog::parse(&value)).transpose()
    }
    /// The metadata of an object. Errors: 42704.
    pub async fn known(&self, oid: Oid) -> Result<LargeObject> {
        self.find(oid).await?.ok_or_else(|| missing(oid))
    }
    /// All large objects of the database, sorted by OID.
    pub async fn all(&self) -> Result<Vec<(Oid, LargeObject)>> {
        let range = keys::large_objects(self.database);
        let batches = self.transaction.scan(range, TxnScanOptions::default(), self.own);
        let batches: Vec<Vec<(Bytes, Bytes)>> = batches.try_collect().await?;
        let all = batches.into_iter().flatten();
        all.map(|(key, value)| Ok((keys::large_object_of(&key)?, catalog::parse(&value)?))).collect()
    }
    /// Stores the metadata of an object.
    pub async fn put(&self, oid: Oid, object: &LargeObject) -> Result<()> {
        let value = serde_json::to_vec(object).map_err(SqlError::internal)?;
        self.write_keys(vec![(keys::large_object(self.database, oid), Some(value.into()))]).await
    }
    /// Creates an object. Errors: 23505.
    pub async fn create(&self, oid: Oid, owner: Oid) -> Result<()> {
        if self.find(oid).await?.is_some() {
            let index = "pg_largeobject_metadata_oid_index";
            let message = format!("duplicate key value violates unique constraint \"{index}\"");
            return Err(SqlError::new(state::UNIQUE_VIOLATION, message)
                .detail(format!("Key (oid)=({oid}) already exists."))
                .table("pg_catalog", "pg_largeobject_metadata")
                .constraint(index));
        }
        self.put(oid, &LargeObject { owner, ..LargeObject::default() }).await
    }
    /// Removes an object with all its pages.
    pub async fn unlink(&self, oid: Oid) -> Result<()> {
        self.write_keys(vec![(keys::large_object(self.database, oid), None)]).await?;
        self.remove_pages(keys::large_object_pages(self.database, oid)).await
    }

    /// The size of an object in bytes.
    pub async fn size(&self, oid: Oid) -> Result<i64> {
        let last = match self.transaction.can_scan_reverse() {
            true => self.first_page(keys::large_object_pages(self.database, oid), true).await?,
            false => self.last_page_forwards(oid).await?,
        };
        Ok(last.map_or(0, |(page, bytes)| start_of(page) + bytes as i64))
    }
    /// The last page and its length, found by binary search for stores that only read forwards. A probe asks for any
    /// page from a number on. Holes are harmless: if a page follows one number, a page follows each smaller number too.
    async fn last_page_forwards(&self, oid: Oid) -> Result<Option<(u32, usize)>> {
        let mut last = None;
        let (mut first, mut end, mut step) = (0u32, u32::MAX, 1u32);
        while first < end {
            // Most large objects are small, so the steps double before they halve.
            let probe = first.saturating_add(step - 1).min(first + (end - first) / 2);
            match self.first_page(self.pages(oid, probe, None), false).await? {
                Some((page, bytes)) => {
                    last = Some((page, bytes));
                    first = page.saturating_add(1);
                    step = step.saturating_mul(2);
                }
                None => end = probe,
            }
        }
        Ok(last)
    }
    /// The first or last page of a range, and its length in bytes.
    async fn first_page(&self, range: RowRange, reverse: bool) -> Result<Option<(u32, usize)>> {
        let options = TxnScanOptions { reverse, limit: Some(1), ..TxnScanOptions::default() };
        let mut pages = self.transaction.scan(range, options, self.own);
        while let Some(batch) = pages.try_next().await? {
            if let Some((key, page)) = batch.first() {
                return Ok(Some((keys::page_of(key)?, page.len())));
            }
        }
        Ok(None)
    }
    /// Reads up to `count` bytes from an offset: fewer at the end of the object.
    pub async fn read(&self, oid: Oid, from: i64, count: usize) -> Result<Vec<u8>> {
        let end = from.saturating_add(i64::try_from(count).unwrap_or(i64::MAX)).min(LARGEST);
        if end <= from {
            return Ok(Vec::new());
        }
        let range = self.pages(oid, page_at(from), Some(page_at(end - 1) + 1));
        let mut pages = self.transaction.scan(range, TxnScanOptions::default(), self.own);
        let mut read: Vec<u8> = Vec::new();
        while let Some(batch) = pages.try_next().await? {
            for (key, page) in batch {
                let start = start_of(keys::page_of(&key)?);
                let skipped = usize::try_from(from - start).unwrap_or(0);
                let wanted = usize::try_from(end - start).unwrap_or(0).min(page.len());
                let Some(part) = page.get(skipped..wanted) else { continue };
                // Pages between this one and the one before were never written, so they read as zeroes.
                let place = usize::try_from(start.max(from) - from).unwrap_or(0);
                read.resize(place, 0);
                read.extend_from_slice(part);
            }
        }
        // Bytes after the last page found are zeroes too, if a later page exists.
        let wanted = usize::try_from(end - from).unwrap_or(0);
        if read.len() < wanted {
            let there = usize::try_from(self.size(oid).await? - from).unwrap_or(0);
            read.resize(read.len().max(wanted.min(there)), 0);
        }
        Ok(read)
    }
    /// Writes bytes at an offset, which may lie after the end. Errors: 22023 beyond [`LARGEST`].
    pub async fn write(&self, oid: Oid, at: i64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let end = at.saturating_add(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
        if end > LARGEST {
            let message = format!("invalid large object write request size: {}", bytes.len());
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
        // A concurrent write and unlink of one object conflict through this key.
        self.transaction.require_unchanged(keys::large_object(self.database, oid));
        let (first, last) = (page_at(at), page_at(end - 1));
        let mut writes = Vec::new();
        let mut rest = bytes;
        for number in first..=last {
            let skipped = usize::try_from(at - start_of(number)).unwrap_or(0);
            let (part, behind) = rest.split_at(rest.len().min(PAGE - skipped));
            rest = behind;
            let key = keys::large_object_page(self.database, oid, number);
            let page = match part.len() {
                PAGE => part.to_vec(),
                length => {
                    let mut page = self.transaction.get(&key, self.own).await?.unwrap_or_default().to_vec();
                    page.resize(page.len().max(skipped + length), 0);
                    if let Some(place) = page.get_mut(skipped..skipped + length) {
                        place.copy_from_slice(part);
                    }
                    page
                }
            };
            writes.push((key, Some(page.into())));
        }
        self.write_keys(writes).await
    }
    /// Sets the length of an object. It may grow.
    pub async fn truncate(&self, oid: Oid, length: i64) -> Result<()> {
        self.transaction.require_unchanged(keys::large_object(self.database, oid));
        let (page, kept) = (page_at(length), usize::try_from(length % PAGE as i64).unwrap_or(0));
        self.remove_pages(self.pages(oid, page + 1, None)).await?;
        let key = keys::large_object_page(self.database, oid, page);
        // As in PostgreSQL the last page exists even if no byte of it is left.
        let mut last = self.transaction.get(&key, self.own).await?.unwrap_or_default().to_vec();
        last.resize(kept, 0);
        self.write_keys(vec![(key, Some(last.into()))]).await
    }
    /// All pages of all large objects, with OID and page number. Errors: 53200 for more than `most` bytes.
    pub async fn all_pages(&self, most: usize) -> Result<Vec<(Oid, u32, Bytes)>> {
        let mut batches =
            self.transaction.scan(keys::all_large_object_pages(self.database), TxnScanOptions::once(), self.own);
        let (mut pages, mut bytes) = (Vec::new(), 0);
        while let Some(batch) = batches.try_next().await? {
            for (key, page) in batch {
                bytes += page.len();
                if bytes > most {
                    let message = format!("the large objects have more than {most} bytes: they are not read as rows");
                    return Err(SqlError::new(state::OUT_OF_MEMORY, message).hint("Read them with lo_get or loread."));
                }
                pages.push((keys::large_object_of(&key)?, keys::page_of(&key)?, page));
            }
        }
        Ok(pages)
    }

    fn pages(&self, oid: Oid, first: u32, end: Option<u32>) -> RowRange {
        let whole = keys::large_object_pages(self.database, oid);
        let key = |page| keys::large_object_page(self.database, oid, page);
        RowRange { start: key(first), end: end.map(key).or(whole.end) }
    }
    async fn remove_pages(&self, range: RowRange) -> Result<()> {
        let mut batches = self.transaction.scan(range, TxnScanOptions::once(), self.own);
        let mut gone = Vec::new();
        while let Some(batch) = batches.try_next().await? {
            gone.extend(batch.into_iter().map(|(key, _)| (key, None)));
        }
        self.write_keys(gone).await
    }
    async fn write_keys(&self, writes: Vec<(Bytes, Option<Bytes>)>) -> Result<()> {
        let writes = writes.into_iter().map(|(key, value)| Write {
            key,
            kind: value.map_or(WriteKind::Delete, WriteKind::Put),
            strength: LockStrength::Update,
        });
        Ok(self.transaction.write(writes.collect()).await?)
    }
}

/// The number of the page that holds a byte. Offsets are at most [`LARGEST`].
fn page_at(place: i64) -> u32 {
    u32::try_from(place / PAGE as i64).unwrap_or(u32::MAX)
}

/// The offset of a page's first byte.
fn start_of(page: u32) -> i64 {
    i64::from(page) * PAGE as i64
}
