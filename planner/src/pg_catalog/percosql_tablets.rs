//! `percosql.tablets`: the tablets of the store, with the relation that each begins with.

use super::definition::{Definition, Fill, Rows, value};
use crate::catalog::Catalog;
use crate::error::Result;
use crate::execution::StatementContext;
use crate::types::Datum;
use futures::future::BoxFuture;
use std::fmt::Write;
use storage::RowRange;

/// `percosql.tablets`.
pub(super) const VIEW: Definition = Definition {
    oid: 15_000,
    name: "percosql.tablets",
    columns: "tablet_id int8, start_key text, end_key text, relation text, bytes int8, reads int8, writes int8",
    fill: Fill::Later(rows),
};

fn hexadecimal(key: &[u8]) -> String {
    key.iter().fold(String::from("\\x"), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The table or index whose rows begin at a key.
fn relation(catalog: &Catalog, key: &[u8]) -> Option<String> {
    let storage_id = crate::encoding::storage_id_of(key)?;
    let (table, position) = catalog.by_storage_id(storage_id)?;
    let index = table.indexes.get(position).filter(|index| !index.primary && index.storage_id == storage_id);
    Some(format!("{}.{}", table.schema, index.map_or(&table.name, |index| &index.name)))
}

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let number = |value: u64| Datum::from(i64::try_from(value).unwrap_or(i64::MAX));
        for tablet in context.transaction.tablets(&RowRange::all()).await? {
            rows.add([
                ("tablet_id", number(tablet.id)),
                ("start_key", value::text(hexadecimal(&tablet.range.start))),
                ("end_key", value::optional(tablet.range.end.as_deref().map(hexadecimal).as_deref())),
                ("relation", value::optional(relation(&context.catalog, &tablet.range.start).as_deref())),
                ("bytes", number(tablet.bytes)),
                ("reads", number(tablet.reads)),
                ("writes", number(tablet.writes)),
            ])?;
        }
        Ok(())
    })
}
