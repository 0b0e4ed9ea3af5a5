//! C15: foreign keys, primary keys, and indexes that agree with their tables.

use crate::error::Result;
use crate::tpce::schema::{FOREIGN_KEYS, INDEXES, TABLES};
use tokio_postgres::{Client, SimpleQueryMessage};

/// For each foreign key, the statement that finds rows without a referenced row.
pub fn foreign_keys() -> Vec<String> {
    let one = |(table, columns, other, keys): &(&str, &str, &str, &str)| {
        let columns: Vec<&str> = columns.split(", ").collect();
        let pairs: Vec<String> =
            columns.iter().zip(keys.split(", ")).map(|(column, key)| format!("there.{key} = here.{column}")).collect();
        let shown: Vec<String> = columns.iter().map(|column| format!("here.{column}")).collect();
        // The key values, preceded by the table's name.
        format!(
            "select '{table}' as of_table, {} from {table} here left join {other} there on {} where there.{} is null",
            shown.join(", "),
            pairs.join(" and "),
            keys.split(", ").next().unwrap_or_default()
        )
    };
    FOREIGN_KEYS.iter().map(one).collect()
}

/// For each table, the statement that finds duplicate keys.
pub fn primary_keys() -> Vec<String> {
    let one = |(table, columns): (&str, &str)| {
        format!("select '{table}' as of_table, {columns}, count(*) from {table} group by {columns} having count(*) > 1")
    };
    TABLES.iter().map(|table| one((table.name, primary_key(table.columns)))).collect()
}

/// The columns of the primary key in a table's definition.
fn primary_key(columns: &str) -> &str {
    match columns.split_once("primary key (") {
        Some((_, rest)) => rest.split(')').next().unwrap_or_default(),
        None => columns.split_whitespace().next().unwrap_or_default(),
    }
}

/// Checks that indexes agree with their tables. PercoSQL has a statement for it. On PostgreSQL the check reads the same
/// rows without the indexes and through them.
pub async fn indexes(client: &Client, is_percosql: bool) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    if is_percosql {
        for table in TABLES {
            let found = client.simple_query(&format!("check table {}", table.name)).await?;
            faults.extend(found.iter().filter_map(super::shown).map(|row| format!("{}: {row}", table.name)));
        }
        return Ok(faults);
    }
    for (index, table, columns) in INDEXES {
        let shown: Vec<String> = columns.split(", ").map(|column| format!("{column}::text")).collect();
        let sql = format!(
            "select count(*), sum(hashtext(concat_ws('|', {})))
            from (select {columns} from {table} order by {columns}) ordered",
            shown.join(", ")
        );
        client
            .batch_execute("set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off")
            .await?;
        let without = client.simple_query(&sql).await?;
        client
            .batch_execute(
                "reset enable_indexscan; reset enable_indexonlyscan; set enable_seqscan = off; set enable_sort = off",
            )
            .await?;
        let through = client.simple_query(&sql).await?;
        client.batch_execute("reset all").await?;
        let text = |rows: &[SimpleQueryMessage]| rows.iter().filter_map(super::shown).collect::<Vec<_>>().join(" ");
        if text(&without) != text(&through) {
            faults.push(format!("{index}: {} through it, {} without", text(&through), text(&without)));
        }
    }
    Ok(faults)
}
