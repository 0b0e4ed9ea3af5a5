//! [`CopyFilter`]: WHERE of COPY FROM over the rows read, and the defaults that it reads. Must not know their text.

use super::target::CopyTable;
use crate::bind::with_binding;
use crate::bind::{BindContext, TableExpression, bind_default, bind_stored};
use crate::catalog::TableDescriptor;
use crate::error::{Result, SqlError, state};
use crate::execution::dml::table_schema;
use crate::execution::short_circuit_bool::compiled;
use crate::execution::{Slots, StatementContext};
use crate::parse::copy::CopyCondition;
use crate::plan::parameter_binding::fill_expression;
use crate::types::SqlType;
use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, new_null_array};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{DFSchema, TableReference};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use std::sync::Arc;

/// The filter of a COPY FROM: its condition, over all columns of the table.
pub struct CopyFilter {
    condition: Arc<dyn PhysicalExpr>,
    schema: SchemaRef,
    /// For each column of the table its index among the columns read. `None` reads as NULL.
    places: Vec<Option<usize>>,
    /// The defaults of columns that the condition names and the data lacks.
    defaults: Vec<Arc<dyn PhysicalExpr>>,
    /// Keeps the slots alive that the condition reads at run time.
    _slots: Arc<Slots>,
}

/// The condition, bound to the columns of its table.
pub struct BoundCondition {
    expression: TableExpression,
    slots: Arc<Slots>,
}

impl BoundCondition {
    /// Binds the condition. Errors: as in a statement, and 42804 if it is not boolean.
    pub fn new(
        context: &Arc<StatementContext>,
        condition: &CopyCondition,
        table: &TableDescriptor,
    ) -> Result<BoundCondition> {
        let slots = Slots::new();
        let bind = |binding: &BindContext<'_>| {
            bind_stored(&condition.expr, &condition.source, table, "COPY FROM WHERE condition", binding)
        };
        let (catalog, settings, now) = (&context.catalog, &context.settings, context.transaction_time);
        let expression = with_binding(catalog, settings, &slots, now, bind)?;
        if expression.ty != SqlType::BOOL {
            let message = format!("argument of WHERE must be type boolean, not type {}", expression.ty.name());
            let error = SqlError::new(state::DATATYPE_MISMATCH, message);
            return Err(condition.source.error(error, condition.expr.span));
        }
        Ok(BoundCondition { expression, slots })
    }
}

impl CopyFilter {
    /// Prepares the condition. Columns that it names, that the data lacks and that have a default become further
    /// columns of `target`. Errors: 42P10 for a generated column.
    pub fn new(
        context: &Arc<StatementContext>,
        condition: BoundCondition,
        target: &mut CopyTable,
    ) -> Result<CopyFilter> {
        let table = &Arc::clone(&target.table);
        let BoundCondition { expression: typed, slots } = condition;
        let named = typed.expr.column_refs();
        let (mut places, mut defaults) = (Vec::new(), Vec::new());
        for column in table.live_columns() {
            let mut place = target.columns.iter().position(|other| other.id == column.id);
            let is_named = named.iter().any(|named| named.name == column.name);
            if is_named && column.generated.is_some() {
                let message = "generated columns are not supported in COPY FROM WHERE conditions";
                return Err(SqlError::new(state::INVALID_COLUMN_REFERENCE, message)
                    .detail(format!("Column \"{}\" is a generated column.", column.name)));
            }
            if place.is_none() && (column.default.is_some() || column.identity.is_some()) {
                // A default is computed once for each row read, so the filter sees the value that is stored.
                let (catalog, settings, now) = (&context.catalog, &context.settings, context.transaction_time);
                let bind = |binding: &BindContext<'_>| bind_default(table, column, binding);
                defaults.push(with_binding(catalog, settings, &slots, now, bind)?);
                place = Some(target.columns.len());
                target.columns.push(column.clone());
            }
            places.push(place);
        }
        let schema = table_schema(table, &TableReference::bare(table.name.as_str()))?;
        slots.fill(Arc::clone(context));
        let physical = |expr: Expr, schema: &DFSchema| -> Result<Arc<dyn PhysicalExpr>> {
            let expr = fill_expression(expr, &slots)?;
            Ok(compiled(&expr, schema)?)
        };
        let condition = physical(typed.expr, &schema)?;
        let nothing = DFSchema::empty();
        let defaults = defaults.into_iter().map(|expr| physical(expr, &nothing)).collect::<Result<_>>()?;
        let fields: Vec<Field> =
            schema.fields().iter().take(places.len()).map(|field| field.as_ref().clone()).collect();
        let fields: Vec<Field> = fields.into_iter().map(|field| field.with_nullable(true)).collect();
        Ok(CopyFilter { condition, schema: Arc::new(Schema::new(fields)), places, defaults, _slots: slots })
    }

    /// The defaults of the target's further columns for `rows` rows.
    pub fn defaults(&self, rows: usize) -> Result<Vec<ArrayRef>> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)?;
        self.defaults.iter().map(|expr| Ok(expr.evaluate(&batch)?.into_array(rows)?)).collect()
    }

    /// For each row whether the condition is true. Errors: those of the condition, with the index of
    /// the first failing row.
    pub fn holds(&self, columns: &[ArrayRef], rows: usize) -> std::result::Result<BooleanArray, (usize, SqlError)> {
        let of = |columns: &[ArrayRef], rows: usize| -> Result<BooleanArray> {
            let all = self.places.iter().zip(self.schema.fields()).map(|(place, field)| {
                let read = place.and_then(|place| columns.get(place));
                read.cloned().unwrap_or_else(|| new_null_array(field.data_type(), rows))
            });
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), all.collect(), &options)?;
            let values = self.condition.evaluate(&batch)?.into_array(rows)?;
            let values =
                values.as_boolean_opt().ok_or_else(|| SqlError::internal("a condition that is not boolean"))?;
            Ok(values.iter().map(|value| Some(value == Some(true))).collect())
        };
        of(columns, rows).map_err(|error| {
            let mut each = (0..rows).map(|row| {
                let one: Vec<ArrayRef> = columns.iter().map(|column| column.slice(row, 1)).collect();
                of(&one, 1)
            });
            each.position(|result| result.is_err()).map_or_else(|| (0, error.clone()), |row| (row, error.clone()))
        })
    }
}
