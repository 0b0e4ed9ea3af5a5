//! Constraints on a single row, NOT NULL and CHECK, and the errors for violations.

use super::codec::TableCodec;
use crate::StatementContext;
use catalog::{IndexDescriptor, TableDescriptor};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::physical_expr::PhysicalExpr;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::text::{OutputContext, output_string};

/// A CHECK constraint or CHECK OPTION, compiled over the live columns.
#[derive(Clone, Debug)]
pub struct Check {
    /// Name of the constraint or of the view.
    pub name: String,
    /// Whether it is a view's CHECK OPTION.
    pub view: bool,
    /// The condition over the live columns.
    pub expression: Arc<dyn PhysicalExpr>,
}

/// Arrow schema of a table's live columns, all nullable. Checks and conflict expressions are evaluated over it.
pub fn live_schema(table: &TableDescriptor) -> SchemaRef {
    let fields: Vec<Field> =
        table.live_columns().map(|column| Field::new(&column.name, column.ty.arrow(), true)).collect();
    Arc::new(Schema::new(fields))
}

/// Columns as a batch of `rows` rows.
pub fn batch_of(schema: &SchemaRef, columns: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns.to_vec(), &options)?)
}

/// The first row that violates NOT NULL, CHECK or a view's CHECK OPTION, with its error. Errors: those of evaluating
/// the checks.
pub fn first_failure(
    codec: &TableCodec,
    checks: &[Check],
    schema: &SchemaRef,
    columns: &[ArrayRef],
    rows: usize,
    shown: Shown<'_>,
) -> Result<Option<(usize, SqlError)>> {
    let table = &codec.table;
    let mut first: Option<(usize, SqlError)> = None;
    for (column, array) in table.live_columns().zip(columns) {
        if !column.not_null || array.null_count() == 0 {
            continue;
        }
        let Some(row) = (0..rows).find(|row| array.is_null(*row)) else { continue };
        if first.as_ref().is_none_or(|(found, _)| row < *found) {
            let error = SqlError::new(
                state::NOT_NULL_VIOLATION,
                format!(
                    "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                    column.name, table.name
                ),
            )
            .table(&table.schema, &table.name)
            .column(&column.name);
            first = Some((row, shown.with_failing_row(error, table, columns, row)));
        }
    }
    if !checks.is_empty() {
        // Ignore rows after the first failure: PostgreSQL would not reach them.
        let rows = first.as_ref().map_or(rows, |(row, _)| *row);
        let columns: Vec<ArrayRef> = columns.iter().map(|column| column.slice(0, rows)).collect();
        let batch = batch_of(schema, &columns, rows)?;
        for check in checks {
            let result = check.expression.evaluate(&batch)?.into_array(rows)?;
            if result.data_type() == &DataType::Null {
                continue;
            }
            let result = result
                .as_boolean_opt()
                .ok_or_else(|| SqlError::internal(format!("check {} is not boolean", check.name)))?;
            let failed = result.iter().position(|passed| passed == Some(false));
            if let Some(row) = failed
                && first.as_ref().is_none_or(|(found, _)| row < *found)
            {
                if check.view {
                    let message = format!("new row violates check option for view \"{}\"", check.name);
                    let error = SqlError::new("44000", message);
                    first = Some((row, shown.with_failing_row(error, table, &columns, row)));
                    continue;
                }
                let error = SqlError::new(
                    state::CHECK_VIOLATION,
                    format!("new row for relation \"{}\" violates check constraint \"{}\"", table.name, check.name),
                )
                .table(&table.schema, &table.name)
                .constraint(&check.name);
                first = Some((row, shown.with_failing_row(error, table, &columns, row)));
            }
        }
    }
    Ok(first)
}

/// The values of a row that an error may show, as in PostgreSQL. These are values that the role may read and those that
/// the statement gave.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// Decides what the role may read.
    pub context: &'a StatementContext,
    /// Positions, among the live columns, of the columns that the statement gave values.
    pub given: &'a [usize],
}

impl Shown<'_> {
    /// Adds the failing row to the error's detail, as far as it may be shown.
    fn with_failing_row(self, error: SqlError, table: &TableDescriptor, columns: &[ArrayRef], row: usize) -> SqlError {
        let values = table.live_columns().zip(columns).enumerate();
        let all = self.context.shows_all(table);
        let mut names = Vec::new();
        let mut texts = Vec::new();
        for (place, (column, array)) in values {
            if all || self.given.contains(&place) || self.context.shows(table, [column.id]) {
                names.push(column.name.as_str());
                texts.push(cut(value_text(column.ty, array, row)));
            }
        }
        let texts = texts.join(", ");
        match names.is_empty() {
            _ if all => error.detail(format!("Failing row contains ({texts}).")),
            true => error,
            false => error.detail(format!("Failing row contains ({}) = ({texts}).", names.join(", "))),
        }
    }
}

/// The error 23505 for the row whose key exists. Its detail has the key if the role may read the index's columns.
pub fn unique_violation(
    context: &StatementContext,
    table: &TableDescriptor,
    index: &IndexDescriptor,
    columns: &[ArrayRef],
    expressions: &[ArrayRef],
    row: usize,
) -> SqlError {
    let message = format!("duplicate key value violates unique constraint \"{}\"", index.name);
    let error =
        SqlError::new(state::UNIQUE_VIOLATION, message).table(&table.schema, &table.name).constraint(&index.name);
    if !context.shows(table, index.columns.iter().map(|key| key.column)) {
        return error;
    }
    error.detail(format!("Key {} already exists.", key_text(table, index, columns, expressions, row)))
}

/// The key of a row such as `(a, b)=(1, x)`. `expressions` are the values of the key's expressions for this row.
pub fn key_text(
    table: &TableDescriptor,
    index: &IndexDescriptor,
    columns: &[ArrayRef],
    expressions: &[ArrayRef],
    row: usize,
) -> String {
    let mut names = Vec::new();
    let mut values = Vec::new();
    let mut expressions = expressions.iter();
    for (key, expression) in index.parts() {
        if let Some(expression) = expression {
            names.push(expression.text.clone());
            values
                .push(expressions.next().map_or_else(|| "?".to_string(), |array| value_text(expression.ty, array, 0)));
            continue;
        }
        let Some((column, array)) = table.live_columns().zip(columns).find(|(column, _)| column.id == key.column)
        else {
            continue;
        };
        names.push(syntax::names::quote(&column.name));
        values.push(value_text(column.ty, array, row));
    }
    format!("({})=({})", names.join(", "), values.join(", "))
}

fn value_text(ty: types::SqlType, array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "null".to_string();
    }
    output_string(ty, array.as_ref(), row, &OutputContext::PLAIN).unwrap_or_else(|_| "?".to_string())
}

/// Truncates a value in an error's detail as PostgreSQL does.
fn cut(mut text: String) -> String {
    const LONGEST: usize = 64;
    if text.len() > LONGEST {
        let mut end = LONGEST;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str("...");
    }
    text
}
