//! `information_schema.udt_privileges`, `role_udt_grants`, `usage_privileges` and `role_usage_grants`: USAGE
//! on types and sequences.

use super::definition::{Definition, Fill, Rows, value};
use super::schema_privileges::{acting, role_name, seen};
use catalog::acl::{self, Acl, Grant, Kind};
use catalog::{Catalog, RelationKind};
use executor::StatementContext;
use sql_error::Result;
use types::Oid;

const OF_TYPES: &str = "grantor name, grantee name, udt_catalog name, udt_schema name, udt_name name, privilege_type \
                        varchar, is_grantable varchar";
const OF_OBJECTS: &str = "grantor name, grantee name, object_catalog name, object_schema name, object_name name, \
                          object_type varchar, privilege_type varchar, is_grantable varchar";

pub(super) const TYPES: Definition = Definition {
    oid: 13445,
    name: "information_schema.udt_privileges",
    columns: OF_TYPES,
    fill: Fill::Now(|context, rows| types(context, rows, true)),
};

pub(super) const TYPE_GRANTS: Definition = Definition {
    oid: 13450,
    name: "information_schema.role_udt_grants",
    columns: OF_TYPES,
    fill: Fill::Now(|context, rows| types(context, rows, false)),
};

pub(super) const USAGE: Definition = Definition {
    oid: 13454,
    name: "information_schema.usage_privileges",
    columns: OF_OBJECTS,
    fill: Fill::Now(|context, rows| usage(context, rows, true)),
};

pub(super) const USAGE_GRANTS: Definition = Definition {
    oid: 13459,
    name: "information_schema.role_usage_grants",
    columns: OF_OBJECTS,
    fill: Fill::Now(|context, rows| usage(context, rows, false)),
};

/// The columns that `information_schema` shows of a grant of USAGE.
fn shown(context: &StatementContext, grant: &Grant, owner: Oid) -> [(&'static str, types::Datum); 3] {
    let own = grant.grantee == owner || grant.grantable & acl::USAGE != 0;
    [
        ("grantor", value::text(role_name(context, grant.grantor))),
        ("grantee", value::text(role_name(context, grant.grantee))),
        ("is_grantable", value::text(if own { "YES" } else { "NO" })),
    ]
}

/// All types. Privileges on row types cannot be changed, so every role has USAGE on them.
fn all_types(catalog: &Catalog) -> Vec<(String, String, Oid, Option<Acl>)> {
    let rows = catalog.user_relations().filter(|table| table.kind != RelationKind::Sequence);
    rows.map(|table| (table.schema.clone(), table.name.clone(), table.owner, None)).collect()
}

fn types(context: &StatementContext, rows: &mut Rows, all: bool) -> Result<()> {
    let roles = acting(context);
    for (schema, name, owner, held) in all_types(&context.catalog) {
        for grant in held.unwrap_or_else(|| acl::default_acl(Kind::Type, owner)) {
            if !seen(&roles, &grant, all) {
                continue;
            }
            let [grantor, grantee, grantable] = shown(context, &grant, owner);
            rows.add([
                grantor,
                grantee,
                grantable,
                ("udt_catalog", value::text(&context.catalog.database().name)),
                ("udt_schema", value::text(&schema)),
                ("udt_name", value::text(&name)),
                ("privilege_type", value::text("TYPE USAGE")),
            ])?;
        }
    }
    Ok(())
}

fn usage(context: &StatementContext, rows: &mut Rows, all: bool) -> Result<()> {
    let roles = acting(context);
    for sequence in context.catalog.user_relations().filter(|table| table.kind == RelationKind::Sequence) {
        // As in PostgreSQL a sequence without grants is not listed.
        for grant in sequence.acl.iter().flatten().filter(|grant| grant.rights & acl::USAGE != 0) {
            if !seen(&roles, grant, all) {
                continue;
            }
            let [grantor, grantee, grantable] = shown(context, grant, sequence.owner);
            rows.add([
                grantor,
                grantee,
                grantable,
                ("object_catalog", value::text(&context.catalog.database().name)),
                ("object_schema", value::text(&sequence.schema)),
                ("object_name", value::text(&sequence.name)),
                ("object_type", value::text("SEQUENCE")),
                ("privilege_type", value::text("USAGE")),
            ])?;
        }
    }
    Ok(())
}
