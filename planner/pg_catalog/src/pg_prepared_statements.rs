//! `pg_prepared_statements`: the session's prepared statements, of PREPARE and of the protocol.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 12095,
    name: "pg_catalog.pg_prepared_statements",
    columns: "name text, statement text, prepare_time timestamptz, parameter_types regtype[], from_sql bool, \
              generic_plans int8, custom_plans int8",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for (name, prepared) in context.session.prepared.lock().iter() {
        rows.add([
            ("name", value::text(name)),
            ("statement", value::text(&prepared.text)),
            ("prepare_time", Datum::TimestampMicrosecond(Some(prepared.created), Some("+00:00".into()))),
            ("parameter_types", value::int8s(prepared.parameters.iter().map(|ty| i64::from(ty.oid())))),
            ("from_sql", Datum::from(prepared.by_statement)),
            ("generic_plans", Datum::from(0i64)),
            ("custom_plans", Datum::from(0i64)),
        ])?;
    }
    Ok(())
}
