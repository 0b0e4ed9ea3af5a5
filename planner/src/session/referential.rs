//! FOREIGN KEYs, looked at when a statement has ended: keys that rows refer with must be there, and are locked so that
//! nobody takes them away before COMMIT; rows that refer to keys which went away are refused, or follow them.
//!
//! Everything is SQL of its own within the statement's transaction, as in PostgreSQL. Under snapshot isolation this is
//! free of races because of the locks: who refers to a row locks it with KEY SHARE, who deletes it or changes its key
//! writes it with UPDATE, and of the two the second to commit fails with 40001.

use super::database::Database;
use super::query::{PlannedQuery, Surroundings};
use super::statement::Statement;
use crate::catalog::{ColumnId, ForeignKeyDescriptor, ReferentialAction, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::execution::StatementContext;
use crate::execution::dml::{KeyChange, Pending};
use crate::parse::names::quote;
use crate::types::text::{OutputContext, output_string};
use crate::types::{Datum, SqlType};
use datafusion::arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use std::collections::HashMap;
use std::sync::Arc;

/// `"s"."t"`.
fn shown(table: &TableDescriptor) -> String {
    format!("{}.{}", quote(&table.schema), quote(&table.name))
}

fn column<'t>(table: &'t TableDescriptor, id: ColumnId) -> Result<(&'t str, SqlType)> {
    let column = table.column(id).ok_or_else(|| SqlError::internal("a FOREIGN KEY without its column"))?;
    Ok((&column.name, column.ty))
}

/// `"a" = $1 AND "b" = $2`, numbered from `first`.
fn condition(table: &TableDescriptor, ids: &[ColumnId], first: usize) -> Result<String> {
    let terms: Vec<String> = (first..)
        .zip(ids)
        .map(|(number, id)| Ok(format!("x.{} = ${number}", quote(column(table, *id)?.0))))
        .collect::<Result<_>>()?;
    Ok(terms.join(" AND "))
}

fn types(table: &TableDescriptor, ids: &[ColumnId]) -> Result<Vec<Option<SqlType>>> {
    ids.iter().map(|id| Ok(Some(column(table, *id)?.1.plain()))).collect()
}

/// `Key (a, b)=(1, 2)`.
fn key_text(
    context: &StatementContext,
    table: &TableDescriptor,
    ids: &[ColumnId],
    key: &[Datum],
    of: &[SqlType],
) -> Result<String> {
    let names: Vec<&str> = ids.iter().map(|id| Ok(column(table, *id)?.0)).collect::<Result<_>>()?;
    let output = OutputContext::of_statement(context);
    let values: Vec<String> = key
        .iter()
        .zip(of)
        .map(|(value, ty)| Ok(output_string(*ty, value.to_array()?.as_ref(), 0, &output)?))
        .collect::<Result<_>>()?;
    Ok(format!("Key ({})=({})", names.join(", "), values.join(", ")))
}

/// Runs statements beside the one that ended.
struct Runner<'a> {
    database: &'a Arc<Database>,
    context: &'a Arc<StatementContext>,
    parsed: HashMap<String, Arc<Statement>>,
}

impl Runner<'_> {
    async fn run(&mut self, text: String, types: Vec<Option<SqlType>>, values: Vec<Datum>) -> Result<Vec<RecordBatch>> {
        let statement = match self.parsed.get(&text) {
            Some(statement) => statement.clone(),
            None => {
                let parsed = crate::parse::parse(&text)?.into_iter().next();
                let parsed = Arc::new(parsed.ok_or_else(|| SqlError::internal("an empty statement"))?);
                self.parsed.insert(text, parsed.clone());
                parsed
            }
        };
        let (catalog, settings) = (&self.context.catalog, &self.context.settings);
        let surroundings = Surroundings::new(catalog, settings);
        let now = self.context.transaction_time;
        let planned = self.database.statements().get_or_plan(&statement, &types, surroundings, || {
            PlannedQuery::new(self.database.engine(), &statement, catalog, settings, &types, now)
        })?;
        let context = Arc::new(StatementContext {
            parameters: values,
            transaction: self.context.transaction.clone(),
            command: self.context.transaction.advance_command(),
            catalog: catalog.clone(),
            settings: settings.clone(),
            session: self.context.session.clone(),
            transaction_time: now,
            statement_time: self.context.statement_time,
        });
        Ok(planned.plan.run(context).await?.try_collect().await?)
    }

    async fn finds(&mut self, text: String, types: Vec<Option<SqlType>>, key: &[Datum]) -> Result<bool> {
        let found = self.run(text, types, key.to_vec()).await?;
        Ok(found.iter().any(|batch| batch.num_rows() > 0))
    }
}

/// A FOREIGN KEY and its two tables.
struct Reference {
    child: Arc<TableDescriptor>,
    parent: Arc<TableDescriptor>,
    key: ForeignKeyDescriptor,
}

impl Reference {
    /// Whether the key is there to be referred to; locks it.
    async fn parent_has(&self, runner: &mut Runner<'_>, key: &[Datum], of: &[Option<SqlType>]) -> Result<bool> {
        let found = condition(&self.parent, &self.key.referenced, 1)?;
        let text = format!("SELECT 1 FROM {} x WHERE {found} FOR KEY SHARE OF x", shown(&self.parent));
        runner.finds(text, of.to_vec(), key).await
    }
    /// Whether a row refers with the key.
    async fn child_has(&self, runner: &mut Runner<'_>, key: &[Datum], of: &[Option<SqlType>]) -> Result<bool> {
        let found = condition(&self.child, &self.key.columns, 1)?;
        let text = format!("SELECT 1 FROM {} x WHERE {found} LIMIT 1", shown(&self.child));
        runner.finds(text, of.to_vec(), key).await
    }
    /// 23503 for a key that is not there.
    fn missing(&self, context: &StatementContext, key: &[Datum]) -> Result<SqlError> {
        let of: Vec<SqlType> = types(&self.child, &self.key.columns)?.into_iter().flatten().collect();
        let text = key_text(context, &self.child, &self.key.columns, key, &of)?;
        let message = format!(
            "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
            self.child.name, self.key.name
        );
        Ok(SqlError::new(state::FOREIGN_KEY_VIOLATION, message)
            .detail(format!("{text} is not present in table \"{}\".", self.parent.name))
            .table(&self.child.schema, &self.child.name)
            .constraint(&self.key.name))
    }
    /// 23503 for a key that is still needed.
    fn needed(&self, context: &StatementContext, key: &[Datum]) -> Result<SqlError> {
        let of: Vec<SqlType> = types(&self.parent, &self.key.referenced)?.into_iter().flatten().collect();
        let text = key_text(context, &self.parent, &self.key.referenced, key, &of)?;
        let message = format!(
            "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
            self.parent.name, self.key.name, self.child.name
        );
        Ok(SqlError::new(state::FOREIGN_KEY_VIOLATION, message)
            .detail(format!("{text} is still referenced from table \"{}\".", self.child.name))
            .table(&self.child.schema, &self.child.name)
            .constraint(&self.key.name))
    }
    /// Deletes or changes the rows that refer with a key that went away.
    async fn follow(&self, runner: &mut Runner<'_>, action: ReferentialAction, pending: &Pending) -> Result<()> {
        let old_types = types(&self.parent, &self.key.referenced)?;
        let table = shown(&self.child);
        let set = |value: &str| -> Result<String> {
            let set: Vec<String> = self
                .key
                .columns
                .iter()
                .map(|id| Ok(format!("{} = {value}", quote(column(&self.child, *id)?.0))))
                .collect::<Result<_>>()?;
            Ok(set.join(", "))
        };
        let found = condition(&self.child, &self.key.columns, 1)?;
        let (text, types, values) = match (action, &pending.change) {
            (ReferentialAction::Cascade, KeyChange::Changed(new)) => {
                let count = self.key.columns.len();
                let set: Vec<String> = (count + 1..)
                    .zip(&self.key.columns)
                    .map(|(number, id)| Ok(format!("{} = ${number}", quote(column(&self.child, *id)?.0))))
                    .collect::<Result<_>>()?;
                let types = [old_types.clone(), old_types].concat();
                let values = [pending.key.clone(), new.clone()].concat();
                (format!("UPDATE {table} x SET {} WHERE {found}", set.join(", ")), types, values)
            }
            (ReferentialAction::Cascade, _) => {
                (format!("DELETE FROM {table} x WHERE {found}"), old_types, pending.key.clone())
            }
            (ReferentialAction::SetNull, _) => {
                (format!("UPDATE {table} x SET {} WHERE {found}", set("NULL")?), old_types, pending.key.clone())
            }
            _ => (format!("UPDATE {table} x SET {} WHERE {found}", set("DEFAULT")?), old_types, pending.key.clone()),
        };
        runner.run(text, types, values).await?;
        Ok(())
    }
}

/// Holds the statement that ended to all FOREIGN KEYs. Errors: 23503, and what the rows that follow raise.
pub async fn enforce(database: &Arc<Database>, context: &Arc<StatementContext>) -> Result<()> {
    if context.session.references.lock().is_empty() {
        return Ok(());
    }
    let enforced = enforce_all(database, context).await;
    context.session.references.lock().clear();
    enforced
}

async fn enforce_all(database: &Arc<Database>, context: &Arc<StatementContext>) -> Result<()> {
    let mut runner = Runner { database, context, parsed: HashMap::new() };
    // What follows may leave rows behind that others refer to: those who must not are asked last.
    let mut last: Vec<(Reference, Pending)> = Vec::new();
    loop {
        let all = std::mem::take(&mut *context.session.references.lock());
        if all.is_empty() {
            break;
        }
        for pending in all {
            context.session.check_interrupt()?;
            let Some((child, key)) = context.catalog.foreign_key(pending.table, pending.constraint) else { continue };
            let Some(parent) = context.catalog.relation_by_oid(key.parent) else { continue };
            let reference = Reference { child, parent, key };
            let action = match &pending.change {
                KeyChange::Referring => ReferentialAction::NoAction,
                KeyChange::Deleted => reference.key.on_delete,
                KeyChange::Changed(_) => reference.key.on_update,
            };
            match action {
                ReferentialAction::NoAction => last.push((reference, pending)),
                ReferentialAction::Restrict => {
                    let of = types(&reference.parent, &reference.key.referenced)?;
                    if reference.child_has(&mut runner, &pending.key, &of).await? {
                        return Err(reference.needed(context, &pending.key)?);
                    }
                }
                action => {
                    reference.follow(&mut runner, action, &pending).await?;
                    if action == ReferentialAction::SetDefault {
                        // The default may be the very key that went away.
                        last.push((reference, pending));
                    }
                }
            }
        }
    }
    for (reference, pending) in last {
        context.session.check_interrupt()?;
        let referring = pending.change == KeyChange::Referring;
        let of = if referring {
            types(&reference.child, &reference.key.columns)?
        } else {
            types(&reference.parent, &reference.key.referenced)?
        };
        if reference.parent_has(&mut runner, &pending.key, &of).await?
            || !reference.child_has(&mut runner, &pending.key, &of).await?
        {
            continue;
        }
        return Err(if referring {
            reference.missing(context, &pending.key)?
        } else {
            reference.needed(context, &pending.key)?
        });
    }
    Ok(())
}

/// Whether every row of a table that has a new FOREIGN KEY refers to a key that is there. Errors: 23503.
pub async fn validate(
    database: &Arc<Database>,
    context: &Arc<StatementContext>,
    child: &Arc<TableDescriptor>,
    parent: &Arc<TableDescriptor>,
    key: &ForeignKeyDescriptor,
) -> Result<()> {
    let mut runner = Runner { database, context, parsed: HashMap::new() };
    let (mut columns, mut present, mut equal) = (Vec::new(), Vec::new(), Vec::new());
    for (own, other) in key.columns.iter().zip(&key.referenced) {
        let (own, other) = (quote(column(child, *own)?.0), quote(column(parent, *other)?.0));
        columns.push(format!("x.{own}"));
        present.push(format!("x.{own} IS NOT NULL"));
        equal.push(format!("y.{other} = x.{own}"));
    }
    let reference = Reference { child: child.clone(), parent: parent.clone(), key: key.clone() };
    let (table, other) = (shown(child), shown(parent));
    if key.match_full && columns.len() > 1 {
        let all = format!("({})", present.join(" AND "));
        let any = format!("({})", present.join(" OR "));
        let text = format!("SELECT 1 FROM {table} x WHERE {any} AND NOT {all} LIMIT 1");
        if runner.finds(text, Vec::new(), &[]).await? {
            return Err(reference.missing(context, &[])?.detail(
                "MATCH FULL does not allow mixing of null and nonnull key values.",
            ));
        }
    }
    let text = format!(
        "SELECT {} FROM {table} x WHERE {} AND NOT EXISTS (SELECT 1 FROM {other} y WHERE {}) LIMIT 1",
        columns.join(", "),
        present.join(" AND "),
        equal.join(" AND ")
    );
    let found = runner.run(text, Vec::new(), Vec::new()).await?;
    match found.iter().find(|batch| batch.num_rows() > 0) {
        None => Ok(()),
        Some(batch) => {
            let key: Vec<Datum> = batch
                .columns()
                .iter()
                .map(|column| Ok(Datum::try_from_array(column, 0)?))
                .collect::<Result<_>>()?;
            Err(reference.missing(context, &key)?)
        }
    }
}
