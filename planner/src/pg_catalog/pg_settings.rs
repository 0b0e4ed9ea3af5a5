//! `pg_settings`: the run-time parameters of the session.

use super::definition::{Definition, Fill, Rows, value};
use crate::error::Result;
use crate::execution::StatementContext;

/// `pg_catalog.pg_settings`.
pub(super) const VIEW: Definition = Definition {
    oid: 12104,
    name: "pg_catalog.pg_settings",
    columns: "name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, \
              vartype text, source text, min_val text, max_val text, enumvals text[], boot_val text, reset_val text, \
              sourcefile text, sourceline int4, pending_restart bool",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for (definition, setting) in context.settings.all() {
        rows.add([
            ("name", value::text(definition.name)),
            ("setting", value::text(&setting)),
            ("short_desc", value::text(definition.description)),
            ("reset_val", value::text(definition.default)),
            ("boot_val", value::text(definition.default)),
            ("source", value::text("default")),
        ])?;
    }
    Ok(())
}
