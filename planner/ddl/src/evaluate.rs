//! Evaluates the expressions of DDL (DEFAULT and CHECK), at definition time and over existing rows.

use super::DdlContext;
use super::backfill::{self, Rows};
use super::fixed_times::fixed_expression;
use binder::canonical;
use binder::with_binding;
use binder::{BindContext, bind_constant, bind_stored, bind_table_expression, cast_to};
use catalog::{Catalog, CheckDescriptor, ColumnDescriptor, TableDescriptor};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{DFSchema, TableReference};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use executor::dml::table_schema;
use executor::parameter_binding::fill_expression;
use executor::short_circuit_bool::compiled;
use executor::{Slots, StatementContext};
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::source::Source;
use syntax::{ast, parse_expression};
use types::SqlType;
use types::text::{Numbers, OutputContext, output_string};

/// Slots filled for this statement.
fn slots(context: &DdlContext, catalog: &Arc<Catalog>) -> Arc<Slots> {
    let slots = Slots::new();
    let now = context.transaction_time;
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
        for_reference: false,
        view_rows: Default::default(),
    }));
    slots
}

/// Binds a stored expression with the settings of the statement. Errors get no position.
pub(super) fn bound<T>(
    context: &DdlContext,
    catalog: &Arc<Catalog>,
    slots: &Arc<Slots>,
    bind: impl FnOnce(&BindContext<'_>) -> Result<T>,
) -> Result<T> {
    // These positions refer to the expression's own text.
    bound_in_place(context, catalog, slots, bind).map_err(SqlError::without_position)
}

/// Binds a part of the statement itself. Errors keep their position.
pub(super) fn bound_in_place<T>(
    context: &DdlContext,
    catalog: &Arc<Catalog>,
    slots: &Arc<Slots>,
    bind: impl FnOnce(&BindContext<'_>) -> Result<T>,
) -> Result<T> {
    let now = context.transaction_time;
    with_binding(catalog, &context.settings, slots, now, bind)
}

/// The same for an expression that other roles will run. It checks no privileges: they are checked then.
pub(super) fn bound_unchecked<T>(
    context: &DdlContext,
    slots: &Arc<Slots>,
    bind: impl FnOnce(&BindContext<'_>) -> Result<T>,
) -> Result<T> {
    let now = context.transaction_time;
    with_binding(&context.catalog, &Arc::new(context.settings.unchecked()), slots, now, bind)
}

fn check_expression(
    context: &DdlContext,
    table: &TableDescriptor,
    expr: &ast::Expr,
    source: &Source,
    slots: &Arc<Slots>,
) -> Result<Expr> {
    let typed = bound(context, &context.catalog, slots, |bind| bind_table_expression(expr, source, table, bind))?;
    if typed.ty != SqlType::BOOL {
        let message = format!("argument of CHECK must be type boolean, not type {}", typed.ty.name());
        return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
    }
    Ok(typed.expr)
}

/// Checks that a CHECK is valid over a table's columns. Returns the text to store if it differs. Errors:
/// as in a statement.
pub(super) fn validate_check_text(
    context: &DdlContext,
    table: &TableDescriptor,
    stored: &str,
) -> Result<Option<String>> {
    let bind = |expr: &ast::Expr, source: &Source| check_expression(context, table, expr, source, &Slots::new());
    Ok(fixed_expression(stored, "check constraint", bind)?.1)
}

/// The first value of an array as a constant in stored expressions: `'…'::type`. It does not depend on settings,
/// and `encoding` recognizes it.
pub(super) fn constant(ty: SqlType, values: &dyn Array) -> Result<String> {
    let text = constant_text(ty, values)?;
    Ok(format!("'{}'::{}", text.replace('\'', "''"), canonical::stored_name(&ty)))
}

/// The text of that constant, without the type.
pub(super) fn constant_text(ty: SqlType, values: &dyn Array) -> Result<String> {
    // Objects stand as numbers: the text is read where no catalog is.
    output_string(ty, values, 0, &OutputContext { names: Some(&Numbers), ..OutputContext::PLAIN })
}

pub(super) fn moving(what: &str) -> SqlError {
    SqlError::unsupported(format!("a constant of the time that it is read at in {what}"))
        .hint("Use current_date or current_timestamp, or write the time out.")
}

/// Binds a stored expression over a table's live columns. Also returns the text to store if it differs. `what` names it
/// in messages. Errors: as in a statement.
pub(super) fn stored(
    context: &DdlContext,
    table: &TableDescriptor,
    text: &str,
    what: &str,
) -> Result<(TypedExpr, Option<String>)> {
    let slots = Slots::new();
    fixed_expression(text, what, |expr, source| {
        bound(context, &context.catalog, &slots, |bind| bind_stored(expr, source, table, what, bind))
    })
}

/// Checks that a DEFAULT can be converted to the column's type. Errors: as in a statement.
pub(super) fn validate_default(context: &DdlContext, column: &str, ty: SqlType, stored: &str) -> Result<()> {
    let (expr, source) = parse_expression(stored)?;
    let slots = Slots::new();
    bound(context, &context.catalog, &slots, |bind| bind_constant(&expr, &source, column, ty, bind)).map(|_| ())
}

/// The same for a new DEFAULT. Returns the text to store if it differs. Errors: as in a statement.
pub(super) fn new_default(context: &DdlContext, column: &str, ty: SqlType, stored: &str) -> Result<Option<String>> {
    let slots = Slots::new();
    let bind = |expr: &ast::Expr, source: &Source| {
        bound(context, &context.catalog, &slots, |bind| bind_constant(expr, source, column, ty, bind))
    };
    Ok(fixed_expression(stored, "DEFAULT", bind)?.1)
}

/// Checks that every row of a table satisfies a CHECK. Errors: 23514.
pub(super) async fn validate_check(
    context: &DdlContext,
    table: &TableDescriptor,
    check: &CheckDescriptor,
) -> Result<()> {
    let slots = slots(context, &context.catalog);
    let (expr, source) = parse_expression(&check.expression)?;
    let expr = fill_expression(check_expression(context, table, &expr, &source, &slots)?, &slots)?;
    let schema = table_schema(table, &TableReference::bare(table.name.as_str()))?;
    let physical = compiled(&expr, &schema)?;
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

/// A batch of these columns. The schema may have a row key after them, which is omitted.
fn batch(schema: &DFSchema, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let fields: Vec<_> = schema.fields().iter().take(columns.len()).cloned().collect();
    let fields: Vec<_> = fields.iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)?)
}

/// Converts existing rows to a column's new type.
pub(super) struct Converted {
    physical: Arc<dyn PhysicalExpr>,
    schema: DFSchema,
    ty: SqlType,
    /// Keeps the slots alive that the expression reads at run time.
    _slots: Arc<Slots>,
}

impl Converted {
    /// Prepares the USING expression, or the column itself, with an assignment cast to `ty`. Errors: 42804, and
    /// as in a statement.
    pub(super) fn new(
        context: &DdlContext,
        table: &TableDescriptor,
        column: &ColumnDescriptor,
        ty: SqlType,
        using: Option<&ast::Expr>,
    ) -> Result<Self> {
        let slots = slots(context, &context.catalog);
        let text = match using {
            Some(using) => using.to_string(),
            None => syntax::names::quote(&column.name),
        };
        let (expr, source) = parse_expression(&text)?;
        let typed = bound(context, &context.catalog, &slots, |bind| {
            let typed = bind_stored(&expr, &source, table, "transform expression", bind)?;
            cast_to(typed, ty, bind)
        });
        let typed = typed.map_err(|error| {
            if error.state() != state::CANNOT_COERCE && error.state() != state::DATATYPE_MISMATCH {
                return error;
            }
            let (name, to) = (&column.name, ty.format());
            if using.is_some() {
                let message =
                    format!("result of USING clause for column \"{name}\" cannot be cast automatically to type {to}");
                return SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("You might need to add an explicit cast.");
            }
            let message = format!("column \"{name}\" cannot be cast automatically to type {to}");
            SqlError::new(state::DATATYPE_MISMATCH, message)
                .hint(format!("You might need to specify \"USING {}::{to}\".", syntax::names::quote(name)))
        })?;
        let schema = table_schema(table, &TableReference::bare(table.name.as_str()))?;
        let expr = fill_expression(typed, &slots)?;
        let physical = compiled(&expr, &schema)?;
        Ok(Converted { physical, schema, ty, _slots: slots })
    }
    /// The converted values of rows with these live columns.
    pub(super) fn values(&self, columns: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let batch = batch(&self.schema, columns.to_vec(), rows)?;
        let array = self.physical.evaluate(&batch)?.into_array(rows)?;
        if *array.data_type() != self.ty.arrow() {
            return Err(SqlError::internal(format!("a column is {} and not {}", array.data_type(), self.ty.arrow())));
        }
        Ok(array)
    }
}

/// Computes the DEFAULT of a new column for existing rows.
pub(super) struct AddedDefault {
    physical: Arc<dyn PhysicalExpr>,
    ty: SqlType,
    /// Keeps the slots alive that the expression reads at run time.
    _slots: Arc<Slots>,
}

impl AddedDefault {
    /// Prepares the default of `column`. The catalog must know the column's sequence.
    pub(super) fn new(context: &DdlContext, catalog: &Arc<Catalog>, column: &ColumnDescriptor) -> Result<Self> {
        let stored = column.default.as_deref().unwrap_or("NULL");
        let (expr, source) = parse_expression(stored)?;
        let slots = slots(context, catalog);
        let typed =
            bound(context, catalog, &slots, |bind| bind_constant(&expr, &source, &column.name, column.ty, bind))?;
        let expr = fill_expression(typed.expr, &slots)?;
        let physical = compiled(&expr, &DFSchema::empty())?;
        Ok(AddedDefault { physical, ty: column.ty, _slots: slots })
    }
    /// The default's values for `rows` rows.
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
