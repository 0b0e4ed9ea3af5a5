//! `percosql.tablets`: the tablets of the store, with every table and index that may have rows in each.

use super::definition::{Definition, Fill, Rows, value};
use catalog::{Catalog, RelationKind, keys, predefined};
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::Result;
use std::fmt::Write;
use storage::{RowRange, TabletInfo};
use types::Datum;

/// `bytes` is the tablet's size, and `relation_bytes` that of each of `relations` within it, as the engine estimates
/// them. A role sees a key if it may read the key's columns or is a member of pg_read_all_stats.
pub(super) const VIEW: Definition = Definition {
    oid: 15_000,
    name: "percosql.tablets",
    columns: "tablet_id int8, start_key text, end_key text, relation text, bytes int8, reads int8, writes int8, \
              relations text[], relation_bytes int8[]",
    fill: Fill::Later(rows),
};

/// A key in hexadecimal, unless it contains values that the role may not read. Keys outside this database's tables are
/// visible only to superusers and members of pg_read_all_stats.
fn shown_key(context: &StatementContext, key: &[u8]) -> Option<String> {
    let catalog = &context.catalog;
    let found = catalog::encoding::storage_id_of(key).and_then(|storage| catalog.by_storage_id(storage));
    let known = match found {
        _ if key.is_empty() => true,
        Some((table, index)) => {
            let ids = context::conflict::key_columns(&table, index);
            let plain = table.indexes.iter().any(|index| keys::rows_of(index.storage_id).start == key)
                || keys::rows_of(table.storage_id).start == key;
            plain || catalog.watches(context.role(), &table, ids)
        }
        None => {
            let role = context.role();
            catalog.is_superuser(role) || catalog.acts_for(role).contains(&predefined::READ_ALL_STATISTICS)
        }
    };
    known.then(|| hexadecimal(key))
}

fn hexadecimal(key: &[u8]) -> String {
    key.iter().fold(String::from("\\x"), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The table or index whose key range contains a key.
fn relation(catalog: &Catalog, key: &[u8]) -> Option<String> {
    let storage_id = catalog::encoding::storage_id_of(key)?;
    let (table, position) = catalog.by_storage_id(storage_id)?;
    let index = table.indexes.get(position).filter(|index| !index.primary && index.storage_id == storage_id);
    Some(format!("{}.{}", table.schema, index.map_or(&table.name, |index| &index.name)))
}

/// Names and key ranges of tables and indexes, in key order.
fn ranges(catalog: &Catalog) -> Vec<(String, RowRange)> {
    let mut all = Vec::new();
    for table in catalog.user_relations().filter(|table| table.kind == RelationKind::Table) {
        all.push((format!("{}.{}", table.schema, table.name), keys::rows_of(table.storage_id)));
        for index in table.secondary_indexes() {
            all.push((format!("{}.{}", table.schema, index.name), keys::rows_of(index.storage_id)));
        }
    }
    all.sort_by(|one, other| one.1.start.cmp(&other.1.start));
    all
}

/// The intersection of two ranges. `None` if it is empty.
fn common(one: &RowRange, other: &RowRange) -> Option<RowRange> {
    let end = match (&one.end, &other.end) {
        (Some(one), Some(other)) => Some(one.min(other).clone()),
        (one, other) => one.clone().or_else(|| other.clone()),
    };
    let range = RowRange { start: one.start.clone().max(other.start.clone()), end };
    (!range.is_empty()).then_some(range)
}

async fn inside(context: &StatementContext, tablet: &TabletInfo, all: &[(String, RowRange)]) -> Result<(Datum, Datum)> {
    let (mut names, mut sizes) = (Vec::new(), Vec::new());
    let sequences = context.catalog.sequences()?;
    for (name, range) in all {
        if let Some(range) = common(&tablet.range, range) {
            names.push(name.clone());
            let bytes = sequences.approximate_bytes(&range).await?;
            sizes.push(i64::try_from(bytes).unwrap_or(i64::MAX));
        }
    }
    Ok((value::texts(names), value::int8s(sizes)))
}

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let number = |value: u64| Datum::from(i64::try_from(value).unwrap_or(i64::MAX));
        let all = ranges(&context.catalog);
        for tablet in context.transaction.tablets(&RowRange::all()).await? {
            let (relations, sizes) = inside(context, &tablet, &all).await?;
            rows.add([
                ("tablet_id", number(tablet.id)),
                ("start_key", value::optional(shown_key(context, &tablet.range.start).as_deref())),
                (
                    "end_key",
                    value::optional(tablet.range.end.as_deref().and_then(|key| shown_key(context, key)).as_deref()),
                ),
                ("relation", value::optional(relation(&context.catalog, &tablet.range.start).as_deref())),
                ("bytes", number(tablet.bytes)),
                ("reads", number(tablet.reads)),
                ("writes", number(tablet.writes)),
                ("relations", relations),
                ("relation_bytes", sizes),
            ])?;
        }
        Ok(())
    })
}
