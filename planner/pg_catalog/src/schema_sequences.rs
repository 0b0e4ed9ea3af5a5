//! `information_schema.sequences`.

use super::definition::{Definition, Fill, Rows, value};
use super::visible::Visible;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 13386,
    name: "information_schema.sequences",
    columns: "sequence_catalog name, sequence_schema name, sequence_name name, data_type varchar, numeric_precision \
              int4, numeric_precision_radix int4, numeric_scale int4, start_value varchar, minimum_value varchar, \
              maximum_value varchar, increment varchar, cycle_option varchar",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let visible = Visible::new(context);
    for table in context.catalog.user_relations().filter(|table| visible.sequence(table)) {
        let Some(sequence) = &table.sequence else { continue };
        // Sequences of identity columns are not listed.
        let owner = sequence.owned_by.and_then(|(table, id)| {
            context.catalog.relation_by_oid(table)?.column(id).map(|column| column.identity.is_some())
        });
        if owner == Some(true) {
            continue;
        }
        let bits = i32::from(sequence.ty.length()) * 8;
        rows.add([
            ("sequence_catalog", value::text(&context.catalog.database().name)),
            ("sequence_schema", value::text(&table.schema)),
            ("sequence_name", value::text(&table.name)),
            ("data_type", value::text(sequence.ty.name())),
            ("numeric_precision", Datum::from(bits)),
            ("numeric_precision_radix", Datum::from(2)),
            ("numeric_scale", Datum::from(0)),
            ("start_value", value::text(sequence.start.to_string())),
            ("minimum_value", value::text(sequence.min.to_string())),
            ("maximum_value", value::text(sequence.max.to_string())),
            ("increment", value::text(sequence.increment.to_string())),
            ("cycle_option", value::text(if sequence.cycle { "YES" } else { "NO" })),
        ])?;
    }
    Ok(())
}
