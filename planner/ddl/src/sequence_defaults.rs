//! Column defaults that use a sequence: they prevent dropping it, or are dropped with it. Must not know
//! what drops the sequence.

use super::DdlContext;
use super::create_table::Making;
use binder::canonical::next_value_text;
use catalog::{CatalogWriter, ColumnDescriptor, ColumnId, TableDescriptor};
use sql_error::Result;
use std::sync::Arc;

/// A column whose default is the next value of a sequence.
pub(super) struct TakenDefault {
    /// The table of the column.
    pub table: Arc<TableDescriptor>,
    /// The column with the default.
    pub column: ColumnDescriptor,
    /// The sequence that the default uses.
    pub sequence: Arc<TableDescriptor>,
}

/// The defaults that use sequences to be dropped. `stays` tells which columns remain.
pub(super) fn of(
    context: &DdlContext,
    sequences: &[Arc<TableDescriptor>],
    stays: impl Fn(&TableDescriptor, &ColumnDescriptor) -> bool,
) -> Vec<TakenDefault> {
    let texts: Vec<String> = sequences.iter().map(|found| next_value_text(&found.schema, &found.name)).collect();
    let mut found = Vec::new();
    for table in context.catalog.user_relations() {
        for column in table.live_columns().filter(|column| stays(table, column)) {
            let taken = texts.iter().position(|text| column.default.as_ref() == Some(text));
            if let Some(sequence) = taken.and_then(|at| sequences.get(at)) {
                let (table, column, sequence) = (table.clone(), column.clone(), sequence.clone());
                found.push(TakenDefault { table, column, sequence });
            }
        }
    }
    found
}

/// The detail lines of a 2BP01.
pub(super) fn lines(context: &DdlContext, taken: &[TakenDefault]) -> Vec<String> {
    let line = |taken: &TakenDefault| {
        format!("{} depends on sequence {}", taken.shown(context), context.shown_name(&taken.sequence))
    };
    taken.iter().map(line).collect()
}

impl TakenDefault {
    /// The default as messages name it.
    pub(super) fn shown(&self, context: &DdlContext) -> String {
        format!("default value for column {} of table {}", self.column.name, context.shown_name(&self.table))
    }
}

/// Removes defaults from their columns. Returns their descriptions.
pub(super) async fn remove(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    taken: &[TakenDefault],
) -> Result<Vec<String>> {
    for TakenDefault { table, column, .. } in taken {
        context.take_alone(table).await?;
        // The same statement may have changed the table before.
        let Some(mut changed) = writer.stored(table.oid).await? else { continue };
        changed.version = table.version + 1;
        forget(&mut changed, column);
        writer.put_table(&changed).await?;
    }
    Ok(taken.iter().map(|taken| taken.shown(context)).collect())
}

fn forget(table: &mut TableDescriptor, column: &ColumnDescriptor) {
    for found in table.columns.iter_mut().filter(|found| found.id == column.id) {
        found.default = None;
    }
}

impl Making<'_> {
    /// The defaults of other columns, in this table's present state and in other tables, that use
    /// a column's own sequence.
    pub(super) fn taking_from(&self, column: ColumnId) -> Vec<TakenDefault> {
        let owned = self.context.catalog.owned_sequence(self.table.oid, column);
        let owned: Vec<Arc<TableDescriptor>> = owned.into_iter().collect();
        of(self.context, &owned, |table, other| {
            table.oid != self.table.oid
                || other.id != column && self.table.column(other.id).is_some_and(|found| found.default == other.default)
        })
    }

    /// Removes defaults, which may include those of the table being changed. Returns their descriptions.
    pub(super) async fn remove_defaults(&mut self, taken: Vec<TakenDefault>) -> Result<Vec<String>> {
        let (own, others): (Vec<_>, Vec<_>) = taken.into_iter().partition(|taken| taken.table.oid == self.table.oid);
        for taken in &own {
            forget(&mut self.table, &taken.column);
        }
        let mut gone: Vec<String> = own.iter().map(|taken| taken.shown(self.context)).collect();
        gone.extend(remove(self.context, &mut self.writer, &others).await?);
        Ok(gone)
    }
}
