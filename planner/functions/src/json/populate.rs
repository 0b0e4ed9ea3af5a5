//! json_populate_record and similar functions in an expression: a row, or the rows as an array.

use super::record::{Pairs, Source, arguments, datum, objects};
use crate::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::typed::Text;
use crate::{Resolver, TypedExpr};
use catalog::encoding::{ColumnBuilder, push_record, record_columns};
use datafusion::arrow::array::{Array, AsArray, BinaryBuilder};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::json::parse;
use types::record::RecordType;
use types::text::InputContext;
use types::value::{ValueRef, value_at};
use types::{Datum, SqlType};

/// The row of a call, or all rows of a set as an array. Errors: 42804, 0A000, 42883.
pub fn populated(resolver: &Resolver<'_>, name: &str, source: Source, args: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (base, text) = arguments(resolver, name, source, args)?;
    let undetermined = || {
        let message = format!("could not determine row type for result of {name}");
        SqlError::new(state::FEATURE_NOT_SUPPORTED, message).of_values().hint(
            "Provide a non-null record argument, or call the function in the FROM clause using a column definition \
             list.",
        )
    };
    let base = base.ok_or_else(undetermined)?;
    let Some(row) = base.ty.as_record() else {
        let message = format!("first argument of {name} must be a row type");
        return Err(SqlError::new(state::DATATYPE_MISMATCH, message).of_values());
    };
    if row.is_any() {
        return Err(undetermined());
    }
    let called = name.to_string();
    let set = source.set;
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let texts = call.column::<Text>(1)?;
        let statement = call.context().ok();
        let context = statement.as_ref().map_or(InputContext::PLAIN, |statement| statement.text_input());
        let mut builder = ColumnBuilder::new(call.result, call.rows);
        for at in 0..call.rows {
            let array = call.array(0)?;
            let place = Call::row_of(array, at);
            let base = array.as_binary_opt::<i32>().filter(|array| !array.is_null(place));
            let base = base.map(|array| array.value(place));
            match (texts.get(at)?, set) {
                (None, true) => builder.append_null(),
                (None, false) => builder.append(&base.map_or(ValueRef::Null, ValueRef::Bytes))?,
                (Some(text), _) => {
                    let node = parse(text)?;
                    let rows = objects(&node, &called, set)?.into_iter();
                    let rows = rows.map(|pairs| filled(row, pairs, base, &context)).collect::<Result<Vec<_>>>()?;
                    match rows.as_slice() {
                        [only] if !set => builder.append(&ValueRef::Bytes(only))?,
                        all => {
                            let mut list = BinaryBuilder::new();
                            all.iter().for_each(|row| list.append_value(row));
                            builder.append(&ValueRef::array(Arc::new(list.finish())))?;
                        }
                    }
                }
            }
        }
        builder.finish()
    });
    let result = if set { base.ty.array_of() } else { base.ty };
    let slots = Some(Arc::clone(resolver.slots));
    let types: Vec<SqlType> = vec![base.ty, text.ty];
    let function = KernelFunction::new(name.to_string(), types, result, Stability::Stable, kernel, slots);
    Ok(function.call(vec![base.expr, text.expr]))
}

/// A row of an object's values. Missing values come from `base`.
fn filled(row: RecordType, pairs: &Pairs<'_>, base: Option<&[u8]>, context: &InputContext<'_>) -> Result<Vec<u8>> {
    let mut columns = match base {
        Some(base) => record_columns(row, base)?.into_iter().map(|(_, column)| column).collect(),
        None => Vec::with_capacity(row.fields().len()),
    };
    for (place, (name, ty)) in row.fields().iter().enumerate() {
        let found = pairs.iter().rev().find(|(key, _)| key == name);
        let value = match (found, columns.get_mut(place)) {
            (None, Some(_)) => continue,
            (None, None) => Datum::try_from(&ty.arrow())?,
            (Some((_, value)), _) => datum(value, *ty, context)?,
        };
        let value = value.to_array()?;
        match columns.get_mut(place) {
            Some(column) => *column = value,
            None => columns.push(value),
        }
    }
    let values = columns.iter().map(|column| value_at(column.as_ref(), 0)).collect::<Result<Vec<_>>>()?;
    let mut bytes = Vec::new();
    push_record(row.types(), &values, &mut bytes)?;
    Ok(bytes)
}
