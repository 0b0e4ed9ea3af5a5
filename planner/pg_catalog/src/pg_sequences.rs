//! `pg_sequences`: sequences with their last values.

use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use catalog::acl::{Kind, SELECT, USAGE};
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 12048,
    name: "pg_catalog.pg_sequences",
    columns: "schemaname name, sequencename name, sequenceowner name, data_type regtype, start_value int8, min_value \
              int8, max_value int8, increment_by int8, cycle bool, cache_size int8, last_value int8",
    fill: Fill::Later(rows),
};

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let role = context.role();
        for table in context.catalog.user_relations() {
            let Some(sequence) = &table.sequence else { continue };
            let stored = context.catalog.sequences()?.stored(&context.transaction, table).await?;
            let (kind, rights) = (Kind::Sequence, SELECT | USAGE);
            let shown = context.catalog.rights(role, kind, table.owner, table.acl.as_ref(), rights) != 0;
            rows.add([
                ("schemaname", value::text(&table.schema)),
                ("sequencename", value::text(&table.name)),
                ("sequenceowner", value::text(describe::role_name(&context.catalog, table.owner))),
                ("data_type", value::oid(sequence.ty.oid())),
                ("start_value", Datum::from(sequence.start)),
                ("min_value", Datum::from(sequence.min)),
                ("max_value", Datum::from(sequence.max)),
                ("increment_by", Datum::from(sequence.increment)),
                ("cycle", Datum::from(sequence.cycle)),
                ("cache_size", Datum::from(sequence.cache)),
                ("last_value", Datum::Int64((shown && stored.is_called).then_some(stored.last_value))),
            ])?;
        }
        Ok(())
    })
}
