//! ANALYZE, and the ANALYZE part of VACUUM.

use super::{Notice, Session, TransactionStatus};
use crate::catalog::{Catalog, ColumnId, RelationKind, TableDescriptor, changed_meanwhile};
use crate::error::{Result, SqlError, state};
use crate::parse::{AnalyzedTable, fold_name};
use crate::statistics::gather::{Gathered, Wanted, gather};
use crate::types::Oid;
use std::sync::Arc;
use txn::TransactionOptions;

/// Attempts to store a table's statistics. An attempt fails if another transaction changes
/// the table's definition meanwhile.
const TRIES: usize = 10;

/// A table and the named columns. `None` means all columns.
type Target = (Arc<TableDescriptor>, Option<Vec<ColumnId>>);

impl Session {
    /// Gathers statistics of tables: of all that the user may analyze if the statement names none.
    /// Errors: 42P01, 42703, 42701.
    pub(super) async fn analyze(&mut self, tables: &[AnalyzedTable], verbose: bool) -> Result<()> {
        // Other transactions cannot see what this transaction wrote. Outside a block each table gets a transaction of
        // its own.
        let alone = self.block.status() == TransactionStatus::Idle && self.block.is_renewable();
        let part = self.block.statement(false).await?;
        let catalog = part.catalog;
        let user = catalog.role(self.shared.settings().user()).map_or(self.shared.user_oid, |role| role.oid);
        let mut targets = Vec::new();
        if tables.is_empty() {
            let all = catalog.user_relations().filter(|table| table.kind == RelationKind::Table);
            let path = self.shared.settings();
            let others = |table: &&Arc<TableDescriptor>| {
                crate::catalog::is_temporary(&table.schema) && path.search_path().first() != Some(&table.schema)
            };
            let all = all.filter(|table| !others(table));
            targets
                .extend(all.filter(|table| may_analyze(&catalog, user, table)).map(|table| (Arc::clone(table), None)));
        }
        for named in tables {
            targets.extend(self.target(&catalog, user, named)?);
        }
        let read_only = self.block.read_only();
        for (table, columns) in targets {
            if verbose {
                self.shared.notify(Notice::info(format!("analyzing \"{}.{}\"", table.schema, table.name)));
            }
            if alone || read_only {
                let gathered = self.analyze_alone(&table, columns.as_deref()).await?;
                self.tell(verbose, &table, gathered.as_ref());
                continue;
            }
            let ddl = self.begin_ddl().await?;
            let wanted = self.wanted(columns.as_deref());
            // The catalog of this transaction may hold a newer definition.
            let table = ddl.catalog.relation_by_oid(table.oid).unwrap_or(table);
            let gathered = gather(self.database.env().as_ref(), &ddl.transaction, &table, &wanted).await?;
            self.tell(verbose, &table, Some(&gathered));
            let writer = ddl.store.writer(&ddl.transaction, self.shared.database_oid);
            // If the table's definition changed meanwhile, the gathered statistics are useless.
            let mut writer = writer.waiting(&ddl.locks, ddl.settings.lock_timeout());
            writer.store_statistics(table.oid, &gathered.statistics).await?;
            self.block.catalog_changed();
        }
        if alone {
            // The next statement is planned with the new statistics.
            self.block.end_implicit().await?;
        }
        Ok(())
    }

    fn wanted<'a>(&self, columns: Option<&'a [ColumnId]>) -> Wanted<'a> {
        let target = self.shared.settings().get("default_statistics_target").and_then(|value| value.parse().ok());
        Wanted { columns, target: target.unwrap_or(crate::statistics::gather::DEFAULT_TARGET), automatic: false }
    }

    /// Analyzes one table in a transaction of its own. It retries in a new one after a conflict. `None` if
    /// the table was dropped.
    async fn analyze_alone(&self, table: &TableDescriptor, columns: Option<&[ColumnId]>) -> Result<Option<Gathered>> {
        let (store, database) = (self.database.catalog(), self.shared.database_oid);
        let counted = table.changes.count();
        let locks = store.locks().begin();
        for last in (0..TRIES).rev() {
            let transaction = store.transactions().begin(TransactionOptions::default());
            let done = async {
                let catalog = store.snapshot(&transaction, database).await?;
                let Some(table) = catalog.relation_by_oid(table.oid) else {
                    transaction.rollback().await;
                    return Ok(None);
                };
                let gathered =
                    gather(self.database.env().as_ref(), &transaction, &table, &self.wanted(columns)).await?;
                let writer = store.writer(&transaction, database);
                let mut writer = writer.waiting(&locks, self.shared.settings().lock_timeout());
                if !writer.store_statistics(table.oid, &gathered.statistics).await? {
                    return Err(changed_meanwhile());
                }
                transaction.commit().await?;
                Ok::<_, SqlError>(Some(gathered))
            };
            match done.await {
                Err(error) if error.is_retryable() && last > 0 => transaction.rollback().await,
                Err(error) => {
                    transaction.rollback().await;
                    return Err(error);
                }
                Ok(gathered) => {
                    if columns.is_none() {
                        table.changes.forget(counted);
                    }
                    return Ok(gathered);
                }
            }
        }
        Err(SqlError::internal("a table was analyzed no time at all"))
    }

    fn tell(&self, verbose: bool, table: &TableDescriptor, gathered: Option<&Gathered>) {
        if let (true, Some(gathered)) = (verbose, gathered) {
            let (sampled, rows) = (gathered.sampled, gathered.statistics.rows.round());
            let message = format!("\"{}\": {sampled} rows in sample, {rows} estimated total rows", table.name);
            self.shared.notify(Notice::info(message));
        }
    }

    /// The table named by the statement. `None`, with a warning, if it cannot be analyzed.
    fn target(&self, catalog: &Catalog, user: Oid, named: &AnalyzedTable) -> Result<Option<Target>> {
        let (schema, name) = fold_name(&named.name)?;
        let settings = self.shared.settings();
        let skip = |why: &str| {
            self.shared.notify(Notice::warning(state::WARNING, format!("skipping \"{name}\" --- {why}")));
            Ok(None)
        };
        let Some(table) = catalog.relation(schema.as_deref(), &name, settings.search_path()) else {
            let error = catalog.no_relation(schema.as_deref(), &name, settings.search_path());
            if error.state() == state::WRONG_OBJECT_TYPE {
                return skip("cannot analyze non-tables or special system tables");
            }
            return Err(error);
        };
        if !may_analyze(catalog, user, &table) {
            return skip(match table.kind {
                RelationKind::SystemView => "only superuser can analyze it",
                _ => "only table or database owner can analyze it",
            });
        }
        match table.kind {
            RelationKind::Table => {}
            // System views have no stored statistics.
            RelationKind::SystemView => return Ok(None),
            RelationKind::View | RelationKind::Sequence => {
                return skip("cannot analyze non-tables or special system tables");
            }
        }
        let mut columns = Vec::with_capacity(named.columns.len());
        for column in &named.columns {
            let Some(found) = table.column_named(column) else {
                let message = format!("column \"{column}\" of relation \"{name}\" does not exist");
                return Err(SqlError::new(state::UNDEFINED_COLUMN, message));
            };
            if columns.contains(&found.id) {
                let message = format!("column \"{column}\" of relation \"{name}\" appears more than once");
                return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
            }
            columns.push(found.id);
        }
        Ok(Some((table, (!columns.is_empty()).then_some(columns))))
    }
}

/// Whether a role may analyze or vacuum a table.
pub(super) fn may_analyze(catalog: &Catalog, user: Oid, table: &TableDescriptor) -> bool {
    catalog.owns(user, table.owner) || catalog.owns(user, catalog.database().owner)
}
