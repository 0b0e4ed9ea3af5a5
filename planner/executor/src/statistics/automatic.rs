//! `Changes` counts the rows written to a table. [`keep_fresh`] gathers the statistics of tables that changed much.

use super::gather::{DEFAULT_TARGET, Gathered, Wanted, gather};
use catalog::{Catalog, CatalogStore, Persistence, RelationKind, TableDescriptor};
use sql_error::Result;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use txn::TransactionOptions;
use types::text::parse_bool;

/// Interval between two passes (`autovacuum_naptime`).
const REST: Duration = Duration::from_secs(60);
/// Rows that must have changed (`autovacuum_analyze_threshold`).
const THRESHOLD: f64 = 50.0;
/// The additional share of the table that must have changed (`autovacuum_analyze_scale_factor`).
const SHARE: f64 = 0.1;

/// Gathers statistics in the background for tables that have none or changed much, until the store is closed.
pub fn keep_fresh(store: &Arc<CatalogStore>) {
    let (weak, env) = (Arc::downgrade(store), Arc::clone(store.env()));
    let task = async move {
        let mut looked_at = HashSet::new();
        loop {
            let rest = match weak.upgrade() {
                Some(store) => store.env().sleep(REST),
                None => return,
            };
            rest.await;
            let Some(store) = weak.upgrade() else { return };
            if let Err(error) = look(&store, &mut looked_at).await {
                tracing::warn!(%error, "statistics could not be gathered; it is tried again");
            }
        }
    };
    env.spawn("statistics", Box::pin(task));
}

/// One pass over all tables of all databases. `looked_at` remembers, by database and table, those without statistics.
/// Errors: those of the store.
pub async fn look(store: &Arc<CatalogStore>, looked_at: &mut HashSet<(u32, u32)>) -> Result<()> {
    let reader = || store.transactions().begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
    let first = reader();
    let databases = store.databases(&first).await;
    first.rollback().await;
    // Of several nodes, only one examines tables without writes.
    let first_node = store.nodes().is_none_or(|nodes| nodes.is_first());
    let mut there = HashSet::new();
    for database in databases? {
        let reading = reader();
        let catalog = store.snapshot(&reading, database.oid).await;
        reading.rollback().await;
        let Ok(catalog) = catalog else { continue };
        for table in catalog.user_relations() {
            there.insert((database.oid, table.oid));
            let kept = table.kind == RelationKind::Table
                && table.persistence != Persistence::Temporary
                && !is_left_alone(table);
            let unknown = first_node && table.statistics.is_none() && looked_at.insert((database.oid, table.oid));
            if kept && (unknown || is_stale(table)) {
                // Another transaction may define or analyze the table at the same time. The next pass finds the rest.
                if let Err(error) = refresh(store, &catalog, table).await {
                    tracing::info!(%error, table = table.name, "its statistics were not gathered");
                }
            }
        }
    }
    looked_at.retain(|table| there.contains(table));
    Ok(())
}

/// Whether the table's `autovacuum_enabled` is off.
fn is_left_alone(table: &TableDescriptor) -> bool {
    let off = |value: &str| parse_bool(value).is_ok_and(|on| !on);
    table.parameters.iter().any(|(name, value)| name == "autovacuum_enabled" && off(value))
}

fn is_stale(table: &TableDescriptor) -> bool {
    let rows = table.statistics.as_ref().map_or(0.0, |known| known.rows);
    table.changes.count() as f64 > THRESHOLD + SHARE * rows
}

/// Gathers and stores the statistics of one table.
async fn refresh(store: &Arc<CatalogStore>, catalog: &Catalog, table: &TableDescriptor) -> Result<()> {
    let transaction = store.transactions().begin(TransactionOptions::default());
    let counted = table.changes.count();
    let done = async {
        let wanted = Wanted { columns: None, target: DEFAULT_TARGET, automatic: true };
        let Gathered { statistics, .. } = gather(store.env().as_ref(), &transaction, table, &wanted).await?;
        if statistics.rows == 0.0 && table.statistics.is_none() {
            // There is nothing to store, so plans stay valid.
            return Ok(false);
        }
        // Do not wait for locks: the next pass finds the rest.
        let mut writer = store.writer(&transaction, catalog.database().oid).impatient();
        writer.store_statistics(table.oid, &statistics).await
    };
    match done.await {
        Ok(true) => {
            transaction.commit().await?;
            table.changes.forget(counted);
            Ok(())
        }
        other => {
            transaction.rollback().await;
            other.map(|_| ())
        }
    }
}
