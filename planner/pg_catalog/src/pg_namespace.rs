//! `pg_namespace`: schemas.

use super::definition::{Definition, Fill, Rows, value};
use super::describe::role_name;
use catalog::SchemaDescriptor;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 2615,
    name: "pg_catalog.pg_namespace",
    columns: "oid oid=0, nspname name=, nspowner oid=0, nspacl text[]",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for schema in context.catalog.schemas() {
        rows.add([
            ("oid", value::oid(schema.oid)),
            ("nspname", value::text(&schema.name)),
            ("nspowner", value::oid(schema.owner)),
            ("nspacl", acl(context, &schema)),
        ])?;
    }
    Ok(())
}

/// Includes USAGE on `public` for PUBLIC in PostgreSQL's form, so that pg_dump sees no change.
fn acl(context: &StatementContext, schema: &SchemaDescriptor) -> Datum {
    if schema.acl.is_some() || schema.name != "public" {
        return super::privileges::shown(&context.catalog, schema.acl.as_ref());
    }
    let owner = role_name(&context.catalog, schema.owner);
    let items = [format!("{owner}=UC/{owner}"), format!("=U/{owner}")];
    value::texts(items)
}
