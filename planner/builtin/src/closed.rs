//! System relations that PUBLIC may not read.

use catalog::{RelationKind, TableDescriptor};

/// System tables that PUBLIC may not read.
const CLOSED_TABLES: [&str; 5] = ["pg_authid", "pg_statistic", "pg_user_mapping", "pg_subscription", "pg_largeobject"];
/// System views that PUBLIC may not read.
const CLOSED_VIEWS: [&str; 4] = ["pg_shadow", "pg_hba_file_rules", "pg_file_settings", "plan_cache"];
/// A closed table of which all columns but one are readable.
const OPEN_IN_PART: &str = "pg_subscription";

/// Whether PUBLIC may read all of a system relation.
pub fn is_open(table: &TableDescriptor) -> bool {
    let name = table.name.as_str();
    table.kind == RelationKind::SystemView && !CLOSED_TABLES.contains(&name) && !CLOSED_VIEWS.contains(&name)
}

/// Whether PUBLIC may name a system relation in a query.
pub fn is_readable(table: &TableDescriptor) -> bool {
    table.name == OPEN_IN_PART || is_open(table)
}

/// The kind of a closed system relation, for the error message.
pub fn closed_kind(table: &TableDescriptor) -> &'static str {
    if CLOSED_VIEWS.contains(&table.name.as_str()) { "view" } else { "table" }
}
