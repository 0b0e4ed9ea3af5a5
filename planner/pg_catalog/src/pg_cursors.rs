//! `pg_cursors`: the session's cursors.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 12077,
    name: "pg_catalog.pg_cursors",
    columns: "name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool, creation_time \
              timestamptz",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for cursor in context.session.cursors.get().map(|cursors| cursors.shown()).unwrap_or_default() {
        rows.add([
            ("name", value::text(&cursor.name)),
            ("statement", value::text(cursor.statement.as_ref())),
            ("is_holdable", Datum::from(cursor.hold)),
            ("is_binary", Datum::from(cursor.binary)),
            ("is_scrollable", Datum::from(cursor.scroll)),
            ("creation_time", Datum::TimestampMicrosecond(Some(cursor.created), Some("+00:00".into()))),
        ])?;
    }
    Ok(())
}
