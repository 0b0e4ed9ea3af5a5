//! `pg_extension` and the lists of available extensions. They contain PL/pgSQL, as in each new database of PostgreSQL,
//! because clients look for it before they define anything. Definitions in that language are refused separately, so
//! `pg_language` has no row for it.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;
use types::{Datum, Oid};

pub(super) const VIEW: Definition = Definition {
    oid: CLASS,
    name: "pg_catalog.pg_extension",
    columns: "oid oid=0, extname name=, extowner oid=0, extnamespace oid=0, extrelocatable bool=f, extversion text=, \
              extconfig oid[], extcondition text[]",
    fill: Fill::Now(rows),
};

pub(super) const AVAILABLE: Definition = Definition {
    oid: 12081,
    name: "pg_catalog.pg_available_extensions",
    columns: "name name, default_version text, installed_version text, comment text",
    fill: Fill::Now(available),
};

pub(super) const VERSIONS: Definition = Definition {
    oid: 12085,
    name: "pg_catalog.pg_available_extension_versions",
    columns: "name name, version text, installed bool, superuser bool, trusted bool, relocatable bool, schema name, \
              requires name[], comment text",
    fill: Fill::Now(versions),
};

/// The OID of the catalog `pg_extension`.
pub(super) const CLASS: Oid = 3079;
/// The OID of the extension plpgsql.
pub(super) const PLPGSQL: Oid = 13_559;
/// PostgreSQL's comment on the extension.
pub(super) const COMMENT: &str = "PL/pgSQL procedural language";
const NAME: &str = "plpgsql";
const VERSION: &str = "1.0";

fn rows(_: &StatementContext, rows: &mut Rows) -> Result<()> {
    rows.add([
        ("oid", value::oid(PLPGSQL)),
        ("extname", value::text(NAME)),
        ("extowner", value::oid(10)),
        ("extnamespace", value::oid(11)),
        ("extversion", value::text(VERSION)),
    ])
}

fn available(_: &StatementContext, rows: &mut Rows) -> Result<()> {
    rows.add([
        ("name", value::text(NAME)),
        ("default_version", value::text(VERSION)),
        ("installed_version", value::text(VERSION)),
        ("comment", value::text(COMMENT)),
    ])
}

fn versions(_: &StatementContext, rows: &mut Rows) -> Result<()> {
    rows.add([
        ("name", value::text(NAME)),
        ("version", value::text(VERSION)),
        ("installed", Datum::from(true)),
        ("superuser", Datum::from(true)),
        ("trusted", Datum::from(true)),
        ("relocatable", Datum::from(false)),
        ("schema", value::text("pg_catalog")),
        ("comment", value::text(COMMENT)),
    ])
}
