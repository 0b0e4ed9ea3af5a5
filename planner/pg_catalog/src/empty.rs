//! Relations of PostgreSQL's `pg_catalog` and `information_schema` about unsupported objects (policies, foreign tables,
//! extended statistics, …). They have PostgreSQL's columns and no rows.

use super::FILLED;
use super::builtin::{RELATIONS, Row};
use super::definition::{Definition, Fill};
use std::sync::LazyLock;

/// The views without rows.
pub(super) static VIEWS: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    let empty = |row: &Row| {
        let name = row.field(0)?;
        let filled = FILLED.iter().any(|definition| definition.name == name);
        (!filled).then_some(Definition { oid: row.oid(1), name, columns: row.field(3)?, fill: Fill::Nothing })
    };
    RELATIONS.rows.iter().filter_map(empty).collect()
});
