//! `pg_largeobject` and `pg_largeobject_metadata`: large objects, and their pages for superusers.

use super::definition::{Definition, Fill, Rows, value};
use super::privileges;
use context::large_object::LargeObjects;
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::Result;
use types::{Datum, Oid};

pub(super) const VIEW: Definition = Definition {
    oid: CLASS,
    name: "pg_catalog.pg_largeobject",
    columns: "loid oid=0, pageno int4=0, data bytea",
    fill: Fill::Later(pages),
};

pub(super) const METADATA: Definition = Definition {
    oid: 2995,
    name: "pg_catalog.pg_largeobject_metadata",
    columns: "oid oid=0, lomowner oid=0, lomacl text[]",
    fill: Fill::Later(metadata),
};

/// The OID of `pg_largeobject`.
pub(super) const CLASS: Oid = 2613;
/// The greatest number of bytes in all pages that one read returns.
const MOST: usize = 256 << 20;

fn pages<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        for (oid, page, data) in LargeObjects::of(context).before(context).all_pages(MOST).await? {
            rows.add([
                ("loid", value::oid(oid)),
                ("pageno", Datum::from(i32::try_from(page).unwrap_or(i32::MAX))),
                ("data", Datum::LargeBinary(Some(data.to_vec()))),
            ])?;
        }
        Ok(())
    })
}

fn metadata<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        for (oid, object) in LargeObjects::of(context).before(context).all().await? {
            rows.add([
                ("oid", value::oid(oid)),
                ("lomowner", value::oid(object.owner)),
                ("lomacl", privileges::shown(&context.catalog, object.acl.as_ref())),
            ])?;
        }
        Ok(())
    })
}
