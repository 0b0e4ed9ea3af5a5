//! Computes index entries with expressions or conditions, and generated columns, for definitions that process rows
//! themselves. Stored expressions are immutable, so they mean the same under every setting.

use binder::with_binding;
use binder::{BindContext, bind_computed, bind_index};
use catalog::{Catalog, IndexDescriptor, TableDescriptor};
use datafusion::common::{DFSchema, TableReference};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use executor::Slots;
use executor::dml::{IndexWriter, RowComputer, table_schema};
use executor::parameter_binding::fill_expression;
use executor::short_circuit_bool::compiled;
use settings::Settings;
use sql_error::Result;
use std::sync::Arc;

/// Calls `make` with two functions: one binds a table's stored expressions, the other makes them physical.
fn with_compiler<T>(
    catalog: &Arc<Catalog>,
    table: &TableDescriptor,
    make: impl FnOnce(&BindContext<'_>, &dyn Fn(&Expr) -> Result<Arc<dyn PhysicalExpr>>) -> Result<T>,
) -> Result<T> {
    let (slots, settings) = (Slots::new(), Settings::default());
    let schema: DFSchema = table_schema(table, &TableReference::bare(table.name.as_str()))?;
    let physical = |expr: &Expr| -> Result<Arc<dyn PhysicalExpr>> {
        let expr = fill_expression(expr.clone(), &slots)?;
        Ok(compiled(&expr, &schema)?)
    };
    with_binding(catalog, &settings, &slots, 0, |context| make(context, &physical))
}

/// Makes a writer for the entries of a table's index.
pub fn index_writer(catalog: &Arc<Catalog>, table: &TableDescriptor, index: &IndexDescriptor) -> Result<IndexWriter> {
    with_compiler(catalog, table, |context, physical| {
        let expressions = if index.is_computed() { Some(bind_index(table, index, context)?) } else { None };
        IndexWriter::new(table, index, expressions.as_ref(), physical)
    })
}

/// Makes a computer of a table's generated columns.
pub(super) fn row_computer(catalog: &Arc<Catalog>, table: &TableDescriptor) -> Result<RowComputer> {
    with_compiler(catalog, table, |context, physical| {
        RowComputer::new(table, &bind_computed(table, context)?, physical)
    })
}
