//! Evaluates the expressions of DDL, DEFAULT and CHECK, when they are written and over the rows
//! that are there already.

use super::DdlContext;
use super::backfill::{self, Rows};
use crate::bind::{BindContext, bind_constant, bind_table_expression};
use crate::catalog::{Catalog, CheckDescriptor, ColumnDescriptor, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::execution::dml::table_schema;
use crate::execution::{Slots, StatementContext, table_source};
use crate::parse::parse_expression;
use crate::plan::slotting::fill_expression;
use crate::types::SqlType;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{DFSchema, TableReference};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use std::sync::Arc;

/// Slots filled for this DDL statement.
fn slots(context: &DdlContext, catalog: &Arc<Catalog>) -> Arc<Slots> {
    let slots = Slots::new();
    let now = i64::try_from(context.store.env().now_micros()).unwrap_or(i64::MAX);
    slots.fill(Arc::new(StatementContext {
        parameters: Vec::new(),
        transaction: Arc::clone(&context.transaction),
        command: context.transaction.command(),
        catalog: Arc::clone(catalog),
        settings: Arc::clone(&context.settings),
        session: Arc::clone(&context.session),
        transaction_time: now,
        statement_time: now,
        held: Default::default(),
    }));
    slots
}

/// Binds something with the settings of a DDL statement, positions left out.
pub(super) fn bound<T>(
    context: &DdlContext,
    catalog: &Arc<Catalog>,
    slots: &Arc<Slots>,
    bind: impl FnOnce(&BindContext<'_>) -> Result<T>,
) -> Result<T> {
    let source = |table: Arc<TableDescriptor>| table_source(table, Arc::clone(slots));
    let now = i64::try_from(context.store.env().now_micros()).unwrap_or(i64::MAX);
    bind(&BindContext { catalog, settings: &context.settings, slots, parameters: &[], now, table_source: &source })
        // Positions are those in the expression's own text.
        .map_err(SqlError::without_position)
}

fn check_expression(context: &DdlContext, table: &TableDescriptor, stored: &str, slots: &Arc<Slots>) -> Result<Expr> {
    let (expr, source) = parse_expression(stored)?;
    let typed = bound(context, &context.catalog, slots, |bind| bind_table_expression(&expr, &source, table, bind))?;
    if typed.ty != SqlType::BOOL {
        let message = format!("argument of CHECK must be type boolean, not type {}", typed.ty.name());
        return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
    }
    Ok(typed.expr)
}

/// Checks that a CHECK means something over a table's columns. Errors: as in a statement.
pub(super) fn validate_check_text(context: &DdlContext, table: &TableDescriptor, stored: &str) -> Result<()> {
    check_expression(context, table, stored, &Slots::new()).map(|_| ())
}

/// Checks that a DEFAULT can become the type of its column. Errors: as in a statement.
pub(super) fn validate_default(context: &DdlContext, column: &str, ty: SqlType, stored: &str) -> Result<()> {
    let (expr, source) = parse_expression(stored)?;
    let slots = Slots::new();
    bound(context, &context.catalog, &slots, |bind| bind_constant(&expr, &source, column, ty, bind)).map(|_| ())
}

/// Checks that every row of a table satisfies a CHECK. Errors: 23514.
pub(super) async fn validate_check(
    context: &DdlContext,
    table: &TableDescriptor,
    check: &CheckDescriptor,
) -> Result<()> {
    let slots = slots(context, &context.catalog);
    let expr = fill_expression(check_expression(context, table, &check.expression, &slots)?, &slots)?;
    let schema = table_schema(table, &TableReference::bare(table.name.as_str()))?;
    let physical = create_physical_expr(&expr, &schema, &ExecutionProps::new(), &PhysicalPlanningContext::default())?;
    let reader = backfill::reader(context, table.storage_id).await?;
    let mut rows = Rows::new(&reader, table)?;
    while let Some((columns, keys)) = rows.next().await? {
        let batch = batch(&schema, columns, keys.len())?;
        let result = physical.evaluate(&batch)?.into_array(keys.len())?;
        let failed = result
            .as_boolean_opt()
            .is_some_and(|result| (0..result.len()).any(|row| result.is_valid(row) && !result.value(row)));
        if failed {
            let message =
                format!("check constraint \"{}\" of relation \"{}\" is violated by some row", check.name, table.name);
            return Err(SqlError::new(state::CHECK_VIOLATION, message)
                .table(&table.schema, &table.name)
                .constraint(&check.name));
        }
    }
    Ok(())
}

/// The columns as a batch of the schema, which may have a row key behind them that is left out.
fn batch(schema: &DFSchema, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let fields: Vec<_> = schema.fields().iter().take(columns.len()).cloned().collect();
    let fields: Vec<_> = fields.iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
}

/// The DEFAULT of a new column, ready to be computed for the rows that are there.
pub(super) struct AddedDefault {
    physical: Arc<dyn PhysicalExpr>,
    ty: SqlType,
    /// Kept for what the expression reads when it runs.
    _slots: Arc<Slots>,
}

impl AddedDefault {
    /// Prepares the default of `column`, found in a catalog that knows the column's sequence.
    pub(super) fn new(context: &DdlContext, catalog: &Arc<Catalog>, column: &ColumnDescriptor) -> Result<Self> {
        let stored = column.default.as_deref().unwrap_or("NULL");
        let (expr, source) = parse_expression(stored)?;
        let slots = slots(context, catalog);
        let typed =
            bound(context, catalog, &slots, |bind| bind_constant(&expr, &source, &column.name, column.ty, bind))?;
        let expr = fill_expression(typed.expr, &slots)?;
        let physical = create_physical_expr(
            &expr,
            &DFSchema::empty(),
            &ExecutionProps::new(),
            &PhysicalPlanningContext::default(),
        )?;
        Ok(AddedDefault { physical, ty: column.ty, _slots: slots })
    }
    /// The values of so many rows.
    pub(super) fn values(&self, rows: usize) -> Result<ArrayRef> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let empty = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)?;
        let array = self.physical.evaluate(&empty)?.into_array(rows)?;
        if *array.data_type() != self.ty.arrow() {
            return Err(SqlError::internal(format!("a default is {} and not {}", array.data_type(), self.ty.arrow())));
        }
        Ok(array)
    }
}
