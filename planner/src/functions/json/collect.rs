//! json_agg, json_object_agg and their kin of jsonb: what array_agg collects, written as JSON.

use super::to_json::{json_of, object_of, with_context};
use crate::error::{Result, SqlError, state};
use crate::functions::kernel::{Call, Kernel, Stability};
use crate::functions::registry::{Param, ResultType, ScalarFunction};
use crate::functions::typed::{List, SqlWrite, Text};
use crate::functions::{AggregateCall, Resolver, TypedExpr};
use crate::types::SqlType;
use crate::types::json::{array, to_jsonb};
use crate::types::text::output_string;
use datafusion::arrow::array::{Array, ArrayRef};
use std::sync::Arc;

/// The names of the aggregates.
pub(in crate::functions) const NAMES: [&str; 4] = ["json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"];

/// A call of one of them. Errors: 42883.
pub(in crate::functions) fn aggregate(resolver: &Resolver<'_>, name: &str, call: AggregateCall) -> Result<TypedExpr> {
    let expected = if name.contains("object") { 2 } else { 1 };
    if call.args.len() != expected {
        return Err(resolver.no_function(name, &call.args));
    }
    let collect = |arg: &TypedExpr| {
        let arg = resolver.resolve_unknown(arg.clone())?;
        if arg.ty.array {
            return Err(SqlError::unsupported(format!("{name} of arrays")));
        }
        resolver.aggregate("array_agg", AggregateCall { args: vec![arg], ..call.clone() })
    };
    if expected == 2 && call.distinct {
        return Err(SqlError::unsupported(format!("{name} with DISTINCT")));
    }
    let lists = call.args.iter().map(collect).collect::<Result<Vec<_>>>()?;
    resolver.function(&format!("{name} of arrays"), lists)
}

fn collected(call: &Call<'_>, binary: bool) -> Result<ArrayRef> {
    let element = call.types.first().copied().unwrap_or(SqlType::TEXT).element();
    let lines = !binary && matches!(element.base, crate::types::BaseType::Record(_));
    with_context(call, |context| {
        let lists = call.column::<List>(0)?;
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let value = match lists.get(row)? {
                Some(elements) => {
                    let mut parts = Vec::with_capacity(elements.len());
                    for at in 0..elements.len() {
                        let text = json_of(element, elements.as_ref(), at, context)?;
                        parts.push(if binary { to_jsonb(&text)? } else { text });
                    }
                    // Each record on a line of its own.
                    Some(if lines { format!("[{}]", parts.join(", \n ")) } else { array(parts) })
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
                let key = output_string(keys_type.element(), keys.as_ref(), at, context)?;
                pairs.push((key, json_of(values_type.element(), values.as_ref(), at, context)?));
            }
            Text::append(&mut builder, Some(object_of(pairs, binary, " ")?))?;
        }
        Ok(Text::finish(builder))
    })
}

/// The functions of this module: over the arrays that the aggregates collect.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let stable = Stability::Stable;
    let mut all = Vec::new();
    for (binary, ty, one, two) in [
        (false, SqlType::JSON, "json_agg of arrays", "json_object_agg of arrays"),
        (true, SqlType::JSONB, "jsonb_agg of arrays", "jsonb_object_agg of arrays"),
    ] {
        let list: Kernel = Arc::new(move |call: &Call<'_>| collected(call, binary));
        let pairs: Kernel = Arc::new(move |call: &Call<'_>| paired(call, binary));
        let result = ResultType::Is(ty);
        all.push(ScalarFunction::polymorphic(one, &[Param::AnyArray], false, result, stable, list));
        all.push(ScalarFunction::polymorphic(two, &[Param::AnyArray, Param::AnyArray], false, result, stable, pairs));
    }
    all
}
