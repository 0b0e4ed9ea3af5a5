//! json_agg, json_object_agg and their jsonb variants. They write the result of array_agg as JSON.

use super::build::key_text;
use super::to_json::{json_of, object_of, with_context};
use crate::aggregate::distinct::{Made, distinct};
use crate::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::registry::{Param, ResultType, ScalarFunction};
use crate::typed::{List, SqlWrite, Text};
use crate::{AggregateCall, Resolver, TypedExpr};
use catalog::encoding::{push_record, record_columns};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::json::{array, to_jsonb};
use types::text::OutputContext;
use types::value::value_at;

/// Names of these aggregates.
pub(crate) const NAMES: [&str; 4] = ["json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"];

/// Resolves a call. Errors: 42883.
pub(crate) fn aggregate(resolver: &Resolver<'_>, name: &str, call: AggregateCall) -> Result<TypedExpr> {
    let expected = if name.contains("object") { 2 } else { 1 };
    if call.args.len() != expected {
        return Err(resolver.no_function(name, &call.args));
    }
    if expected == 1 && call.args.first().is_some_and(TypedExpr::is_unknown) {
        let message = "could not determine polymorphic type because input has type unknown";
        return Err(SqlError::new(state::DATATYPE_MISMATCH, message).of_values());
    }
    if expected == 2 && call.distinct {
        return distinct_pairs(resolver, name, &call);
    }
    // Distinct arrays are compared as arrays, not by their JSON.
    let distinct_arrays = call.distinct && expected == 1 && call.args.first().is_some_and(|arg| arg.ty.array);
    let collect = |arg: &TypedExpr| {
        let mut arg = resolver.resolve_unknown(arg.clone())?;
        if distinct_arrays && arg.ty.array {
            resolver.group_key(arg.clone())?;
            arg = wrapped(arg);
        } else if arg.ty.array {
            // Arrays of different shapes cannot form an array, so each is converted to json first.
            arg = resolver.function(if name.starts_with("jsonb") { "to_jsonb" } else { "to_json" }, vec![arg])?;
        }
        resolver.aggregate("array_agg", AggregateCall { args: vec![arg], ..call.clone() })
    };
    let of_arrays = call.args.first().is_some_and(|arg| arg.ty.array);
    let lists = call.args.iter().map(collect).collect::<Result<Vec<_>>>()?;
    let written = match of_arrays {
        true if distinct_arrays => "wrapped",
        true if name == "json_agg" => "lines",
        _ => "arrays",
    };
    resolver.function(&format!("{name} of {written}"), lists)
}

/// An object of the distinct pairs.
fn distinct_pairs(resolver: &Resolver<'_>, name: &str, call: &AggregateCall) -> Result<TypedExpr> {
    let settled = call.args.iter().map(|arg| resolver.resolve_unknown(arg.clone())).collect::<Result<Vec<_>>>()?;
    let list = |arg: &TypedExpr| {
        // Arrays of different shapes cannot form an array, so each is converted to json first.
        let value = match arg.ty.array {
            true if name.starts_with("jsonb") => resolver.function("to_jsonb", vec![arg.clone()])?,
            true => resolver.function("to_json", vec![arg.clone()])?,
            false => arg.clone(),
        };
        let result = value.ty.plain().array_of();
        distinct(resolver, call, &settled, vec![value], Made::List, result)
    };
    let lists = settled.iter().map(list).collect::<Result<Vec<_>>>()?;
    resolver.function(&format!("{name} of arrays"), lists)
}

/// Wraps each array in a record of one field: records of arrays with any shapes form an array. NULL stays.
fn wrapped(array: TypedExpr) -> TypedExpr {
    let result = SqlType::record(vec![("f1".to_string(), array.ty)]);
    let kernel: Kernel = Arc::new(|call: &Call<'_>| {
        let array = call.array(0)?;
        let mut builder = BinaryBuilder::with_capacity(call.rows, call.rows * 16);
        let mut bytes = Vec::new();
        for row in 0..call.rows {
            let at = Call::row_of(array, row);
            if array.is_null(at) {
                builder.append_null();
                continue;
            }
            bytes.clear();
            push_record(call.types.iter().copied(), &[value_at(array.as_ref(), at)?], &mut bytes)?;
            builder.append_value(&bytes);
        }
        Ok(Arc::new(builder.finish()) as ArrayRef)
    });
    KernelFunction::new("wrapped", vec![array.ty], result, Stability::Immutable, kernel, None).call(vec![array.expr])
}

/// The kind of items that are collected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    /// Values other than arrays.
    Plain,
    /// Values that were arrays; each begins a line.
    Arrays,
    /// Arrays as [`wrapped`] makes them.
    Wrapped,
}

/// The JSON of one item.
fn item_json(
    element: SqlType,
    items: &ArrayRef,
    at: usize,
    kind: Items,
    context: &OutputContext<'_>,
) -> Result<String> {
    if let (Items::Wrapped, Some(record), false) = (kind, element.as_record(), items.is_null(at)) {
        let records = items.as_binary_opt::<i32>().ok_or_else(|| SqlError::internal("a record that is no bytes"))?;
        let mut fields = record_columns(record, records.value(at))?.into_iter();
        let (ty, column) = fields.next().ok_or_else(|| SqlError::internal("a record without a field"))?;
        return json_of(ty, column.as_ref(), 0, context);
    }
    json_of(element, items.as_ref(), at, context)
}

fn collected(call: &Call<'_>, binary: bool, kind: Items) -> Result<ArrayRef> {
    let element = call.types.first().copied().unwrap_or(SqlType::TEXT).element();
    let lines = !binary && (kind != Items::Plain || matches!(element.base, types::BaseType::Record(_)));
    with_context(call, |context| {
        let lists = call.column::<List>(0)?;
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let value = match lists.get(row)? {
                Some(elements) => {
                    let mut parts = Vec::with_capacity(elements.len());
                    for at in 0..elements.len() {
                        let text = item_json(element, elements.elements(), at, kind, context)?;
                        // Records and arrays after the first begin a line.
                        let line = lines && at > 0 && !elements.is_null(at);
                        parts.push(match (binary, line) {
                            (true, _) => to_jsonb(&text)?,
                            (false, true) => format!("\n {text}"),
                            (false, false) => text,
                        });
                    }
                    Some(array(parts))
                }
                None => None,
            };
            Text::append(&mut builder, value)?;
        }
        Ok(Text::finish(builder))
    })
}

fn paired(call: &Call<'_>, binary: bool) -> Result<ArrayRef> {
    let [keys_type, values_type] = call.types else { return Err(SqlError::internal("an aggregate of two lists")) };
    with_context(call, |context| {
        let (keys, values) = (call.column::<List>(0)?, call.column::<List>(1)?);
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let (Some(keys), Some(values)) = (keys.get(row)?, values.get(row)?) else {
                Text::append(&mut builder, None)?;
                continue;
            };
            let mut pairs = Vec::with_capacity(keys.len());
            for at in 0..keys.len().min(values.len()) {
                if keys.is_null(at) {
                    return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "field name must not be null"));
                }
                let key = key_text(keys_type.element(), keys.as_ref(), at, context)?;
                pairs.push((key, json_of(values_type.element(), values.as_ref(), at, context)?));
            }
            Text::append(&mut builder, Some(object_of(pairs, binary, " ")?))?;
        }
        Ok(Text::finish(builder))
    })
}

/// The functions of this module, over the arrays that the aggregates collect.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let stable = Stability::Stable;
    let mut all = Vec::new();
    let lines: Kernel = Arc::new(|call: &Call<'_>| collected(call, false, Items::Arrays));
    let json = ResultType::Is(SqlType::JSON);
    all.push(ScalarFunction::polymorphic("json_agg of lines", &[Param::AnyArray], false, json, stable, lines));
    for (binary, ty, one, two, distinct) in [
        (false, SqlType::JSON, "json_agg of arrays", "json_object_agg of arrays", "json_agg of wrapped"),
        (true, SqlType::JSONB, "jsonb_agg of arrays", "jsonb_object_agg of arrays", "jsonb_agg of wrapped"),
    ] {
        let list: Kernel = Arc::new(move |call: &Call<'_>| collected(call, binary, Items::Plain));
        let arrays: Kernel = Arc::new(move |call: &Call<'_>| collected(call, binary, Items::Wrapped));
        let pairs: Kernel = Arc::new(move |call: &Call<'_>| paired(call, binary));
        let result = ResultType::Is(ty);
        all.push(ScalarFunction::polymorphic(one, &[Param::AnyArray], false, result, stable, list));
        all.push(ScalarFunction::polymorphic(distinct, &[Param::AnyArray], false, result, stable, arrays));
        all.push(ScalarFunction::polymorphic(two, &[Param::AnyArray, Param::AnyArray], false, result, stable, pairs));
    }
    all
}
