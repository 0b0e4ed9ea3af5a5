//! `information_schema.table_privileges`, `role_table_grants`,
//! `column_privileges`, `enabled_roles` and `applicable_roles`.

use super::definition::{Definition, Fill, Rows, value};
use catalog::acl::{self, Grant, Kind, PUBLIC};
use catalog::{RelationKind, TableDescriptor, predefined};
use executor::StatementContext;
use sql_error::Result;
use types::Oid;

const OF_TABLES: &str = "grantor name, grantee name, table_catalog name, table_schema name, table_name name, \
                         privilege_type varchar, is_grantable varchar, with_hierarchy varchar";

pub(super) const TABLES: Definition =
    Definition { oid: 13220, name: "information_schema.table_privileges", columns: OF_TABLES, fill: Fill::Now(tables) };

pub(super) const GRANTS: Definition = Definition {
    oid: 13221,
    name: "information_schema.role_table_grants",
    columns: OF_TABLES,
    fill: Fill::Now(grants),
};

const OF_COLUMNS: &str = "grantor name, grantee name, table_catalog name, table_schema name, table_name name, \
                          column_name name, privilege_type varchar, is_grantable varchar";

pub(super) const COLUMNS: Definition = Definition {
    oid: 13222,
    name: "information_schema.column_privileges",
    columns: OF_COLUMNS,
    fill: Fill::Now(|context, rows| columns(context, rows, true)),
};

pub(super) const COLUMN_GRANTS: Definition = Definition {
    oid: 13344,
    name: "information_schema.role_column_grants",
    columns: OF_COLUMNS,
    fill: Fill::Now(|context, rows| columns(context, rows, false)),
};

pub(super) const ENABLED: Definition = Definition {
    oid: 13223,
    name: "information_schema.enabled_roles",
    columns: "role_name name",
    fill: Fill::Now(enabled),
};

pub(super) const APPLICABLE: Definition = Definition {
    oid: 13224,
    name: "information_schema.applicable_roles",
    columns: "grantee name, role_name name, is_grantable varchar",
    fill: Fill::Now(applicable),
};

pub(super) const ADMINISTRABLE: Definition = Definition {
    oid: 13241,
    name: "information_schema.administrable_role_authorizations",
    columns: "grantee name, role_name name, is_grantable varchar",
    fill: Fill::Now(|context, rows| memberships(context, rows, true)),
};

pub(super) fn role_name(context: &StatementContext, oid: Oid) -> String {
    match oid {
        PUBLIC => "PUBLIC".to_string(),
        oid => context.catalog.role_by_oid(oid).map(|role| role.name.clone()).unwrap_or_default(),
    }
}

/// The roles whose grants the user sees. A superuser sees those of all roles.
pub(super) fn acting(context: &StatementContext) -> Vec<Oid> {
    match context.catalog.is_superuser(context.role()) {
        true => context.catalog.roles().iter().map(|role| role.oid).collect(),
        false => context.catalog.acts_for(context.role()),
    }
}

/// Whether a user with `roles` sees a grant: by or to one of them, or with `all` to PUBLIC.
pub(super) fn seen(roles: &[Oid], grant: &Grant, all: bool) -> bool {
    roles.contains(&grant.grantor) || roles.contains(&grant.grantee) || all && grant.grantee == PUBLIC
}

fn add(context: &StatementContext, rows: &mut Rows, all: bool) -> Result<()> {
    let roles = acting(context);
    for table in context.catalog.user_relations().filter(|table| table.kind != RelationKind::Sequence) {
        for grant in of(table) {
            if !seen(&roles, &grant, all) {
                continue;
            }
            for (name, right) in acl::NAMES.iter().filter(|(name, right)| *name != "TEMP" && grant.rights & right != 0)
            {
                let own = grant.grantee == table.owner || grant.grantable & right != 0;
                rows.add([
                    ("grantor", value::text(role_name(context, grant.grantor))),
                    ("grantee", value::text(role_name(context, grant.grantee))),
                    ("table_catalog", value::text(&context.catalog.database().name)),
                    ("table_schema", value::text(&table.schema)),
                    ("table_name", value::text(&table.name)),
                    ("privilege_type", value::text(*name)),
                    ("is_grantable", value::text(if own { "YES" } else { "NO" })),
                    ("with_hierarchy", value::text(if *name == "SELECT" { "YES" } else { "NO" })),
                ])?;
            }
        }
    }
    Ok(())
}

fn of(table: &TableDescriptor) -> Vec<Grant> {
    table.acl.clone().unwrap_or_else(|| acl::default_acl(Kind::Table, table.owner))
}

fn tables(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    add(context, rows, true)
}

fn grants(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    add(context, rows, false)
}

fn columns(context: &StatementContext, rows: &mut Rows, all: bool) -> Result<()> {
    let roles = acting(context);
    for table in context.catalog.user_relations().filter(|table| table.kind != RelationKind::Sequence) {
        let whole = of(table);
        for column in table.live_columns() {
            for grant in whole.iter().chain(&column.acl).filter(|grant| seen(&roles, grant, all)) {
                let rights = grant.rights & Kind::Column.all();
                for (name, right) in acl::NAMES.iter().filter(|(_, right)| rights & right != 0) {
                    let own = grant.grantee == table.owner || grant.grantable & right != 0;
                    rows.add([
                        ("grantor", value::text(role_name(context, grant.grantor))),
                        ("grantee", value::text(role_name(context, grant.grantee))),
                        ("table_catalog", value::text(&context.catalog.database().name)),
                        ("table_schema", value::text(&table.schema)),
                        ("table_name", value::text(&table.name)),
                        ("column_name", value::text(&column.name)),
                        ("privilege_type", value::text(*name)),
                        ("is_grantable", value::text(if own { "YES" } else { "NO" })),
                    ])?;
                }
            }
        }
    }
    Ok(())
}

fn enabled(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let superuser = context.catalog.is_superuser(context.role());
    let roles = context.catalog.acts_for(context.role());
    for role in context.catalog.roles().iter().filter(|role| superuser || roles.contains(&role.oid)) {
        rows.add([("role_name", value::text(&role.name))])?;
    }
    Ok(())
}

fn applicable(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    memberships(context, rows, false)
}

/// The memberships among the roles that the user acts for. `only_admin` selects those with ADMIN OPTION.
fn memberships(context: &StatementContext, rows: &mut Rows, only_admin: bool) -> Result<()> {
    let roles = acting(context);
    for role in context.catalog.roles().iter().filter(|role| roles.contains(&role.oid)) {
        let mut of: Vec<(Oid, bool)> = role.member_of.iter().map(|known| (known.role, known.admin)).collect();
        if role.oid == context.catalog.database().owner {
            of.push((predefined::DATABASE_OWNER, false));
        }
        for (other, admin) in of.into_iter().filter(|(_, admin)| *admin || !only_admin) {
            rows.add([
                ("grantee", value::text(&role.name)),
                ("role_name", value::text(role_name(context, other))),
                ("is_grantable", value::text(if admin { "YES" } else { "NO" })),
            ])?;
        }
    }
    Ok(())
}
