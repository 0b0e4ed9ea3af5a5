//! `percosql.sequences`: the state of every sequence, for roles that may read all of them. `SELECT * FROM
//! sequence` reads its row.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::Result;
use types::Datum;

pub use ::builtin::SEQUENCES_VIEW as OID;

pub(super) const VIEW: Definition = Definition {
    oid: OID,
    name: "percosql.sequences",
    columns: "oid oid, last_value int8, log_cnt int8, is_called bool",
    fill: Fill::Later(rows),
};

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        for table in context.catalog.user_relations().filter(|table| table.sequence.is_some()) {
            let stored = context.catalog.sequences()?.stored(&context.transaction, table).await?;
            rows.add([
                ("oid", value::oid(table.oid)),
                ("last_value", Datum::from(stored.last_value)),
                // PostgreSQL's prefetching through the log does not exist here.
                ("log_cnt", Datum::from(0i64)),
                ("is_called", Datum::from(stored.is_called)),
            ])?;
        }
        Ok(())
    })
}
