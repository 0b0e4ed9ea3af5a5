//! `pg_stats`: the statistics of columns that ANALYZE gathered.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use catalog::StoredValue;
use catalog::acl::{Kind, SELECT};
use executor::StatementContext;
use sql_error::Result;
use types::text::{OutputContext, output_datum};
use types::{Datum, SqlType};

/// PostgreSQL shows values of all types as `anyarray`. Here they are texts.
pub(super) const VIEW: Definition = Definition {
    oid: 12053,
    name: "pg_catalog.pg_stats",
    columns: "schemaname name, tablename name, attname name, inherited bool=f, null_frac float4, avg_width int4, n_distinct \
              float4, most_common_vals anyarray, most_common_freqs float4[], histogram_bounds anyarray, correlation float4, \
              most_common_elems anyarray, most_common_elem_freqs float4[], elem_count_histogram float4[]",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Name("tablename"), RelationKey::SchemaName("schemaname")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let role = context.role();
    let catalog = &context.catalog;
    for table in &rows.user_relations(context, &KEYS) {
        let Some(statistics) = &table.statistics else { continue };
        let readable = |acl| catalog.rights(role, Kind::Table, table.owner, acl, SELECT) == SELECT;
        let all = readable(table.acl.as_ref());
        for column in table.live_columns() {
            let Some(known) = statistics.column(column.id, column.ty) else { continue };
            if !all && !readable(Some(&column.acl)) {
                continue;
            }
            // The text of an array.
            let texts = |values: Vec<&StoredValue>| -> Result<Datum> {
                if values.is_empty() {
                    return Ok(Datum::Null);
                }
                let array = value::texts(values.into_iter().map(|value| value.text.clone()));
                Ok(Datum::Utf8(output_datum(SqlType::TEXT.array_of(), &array, &OutputContext::PLAIN)?))
            };
            let shares = match known.common.is_empty() {
                true => Datum::Null,
                false => value::float4s(known.common.iter().map(|(_, share)| *share as f32)),
            };
            rows.add([
                ("schemaname", value::text(&table.schema)),
                ("tablename", value::text(&table.name)),
                ("attname", value::text(&column.name)),
                ("null_frac", Datum::from(known.null_fraction as f32)),
                ("avg_width", Datum::from(known.width.round() as i32)),
                ("n_distinct", Datum::from(known.distinct as f32)),
                ("most_common_vals", texts(known.common.iter().map(|(value, _)| value).collect())?),
                ("most_common_freqs", shares),
                ("histogram_bounds", texts(known.histogram.iter().collect())?),
            ])?;
        }
    }
    Ok(())
}
