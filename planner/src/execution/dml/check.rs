//! What a row must satisfy by itself: NOT NULL and CHECK; and how violations are worded.

use super::codec::TableCodec;
use crate::catalog::{IndexDescriptor, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::types::text::{OutputContext, output_string};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::physical_expr::PhysicalExpr;
use std::sync::Arc;

/// A CHECK constraint or CHECK OPTION, ready to run over the live columns.
#[derive(Clone, Debug)]
pub struct Check {
    /// Name of the constraint, or of the view.
    pub name: String,
    /// Whether it is a view's.
    pub view: bool,
    /// Over the live columns.
    pub expression: Arc<dyn PhysicalExpr>,
}

/// Arrow schema of a table's live columns, all nullable: what checks and conflict expressions are evaluated over.
pub fn live_schema(table: &TableDescriptor) -> SchemaRef {
    let fields: Vec<Field> =
        table.live_columns().map(|column| Field::new(&column.name, column.ty.arrow(), true)).collect();
    Arc::new(Schema::new(fields))
}

/// Columns as a batch.
pub fn batch_of(schema: &SchemaRef, columns: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns.to_vec(), &options)?)
}

/// The first row that fails NOT NULL, CHECK or a view's CHECK OPTION, with its error. Errors: what the checks themselves raise.
pub fn first_failure(
    codec: &TableCodec,
    checks: &[Check],
    schema: &SchemaRef,
    columns: &[ArrayRef],
    rows: usize,
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
            .detail(failing_row(table, columns, row))
            .table(&table.schema, &table.name)
            .column(&column.name);
            first = Some((row, error));
        }
    }
    if !checks.is_empty() {
        // Rows after the first failure are not looked at: PostgreSQL would not have come to them.
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
                    let detail = failing_row(table, &columns, row);
                    first = Some((row, SqlError::new("44000", message).detail(detail)));
                    continue;
                }
                let error = SqlError::new(
                    state::CHECK_VIOLATION,
                    format!("new row for relation \"{}\" violates check constraint \"{}\"", table.name, check.name),
                )
                .detail(failing_row(table, &columns, row))
                .table(&table.schema, &table.name)
                .constraint(&check.name);
                first = Some((row, error));
            }
        }
    }
    Ok(first)
}

/// 23505 for the row whose key exists.
pub fn unique_violation(
    table: &TableDescriptor,
    index: &IndexDescriptor,
    columns: &[ArrayRef],
    expressions: &[ArrayRef],
    row: usize,
) -> SqlError {
    SqlError::new(state::UNIQUE_VIOLATION, format!("duplicate key value violates unique constraint \"{}\"", index.name))
        .detail(format!("Key {} already exists.", key_text(table, index, columns, expressions, row)))
        .table(&table.schema, &table.name)
        .constraint(&index.name)
}

/// `(a, b)=(1, x)`. `expressions`: the values of the key's expressions in this row alone.
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
        names.push(crate::parse::names::quote(&column.name));
        values.push(value_text(column.ty, array, row));
    }
    format!("({})=({})", names.join(", "), values.join(", "))
}

fn value_text(ty: crate::types::SqlType, array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "null".to_string();
    }
    output_string(ty, array.as_ref(), row, &OutputContext::PLAIN).unwrap_or_else(|_| "?".to_string())
}

/// `Failing row contains (1, null).`, long values cut as PostgreSQL cuts them.
fn failing_row(table: &TableDescriptor, columns: &[ArrayRef], row: usize) -> String {
    const LONGEST: usize = 64;
    let values: Vec<String> = table
        .live_columns()
        .zip(columns)
        .map(|(column, array)| {
            let mut text = value_text(column.ty, array, row);
            if text.len() > LONGEST {
                let mut end = LONGEST;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                text.truncate(end);
                text.push_str("...");
            }
            text
        })
        .collect();
    format!("Failing row contains ({}).", values.join(", "))
}
