//! Assignment to jsonb subscripts, as UPDATE does it, and jsonb_set_lax.

use super::change::{Change, changed_container};
use crate::TypedExpr;
use crate::kernel::{Call, KernelFunction, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Bool, List, SqlWrite, Text};
use datafusion::arrow::array::ArrayRef;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::json::{Node, Value, array, object, parse};

/// The jsonb with a value assigned to subscripts. The jsonb may be NULL; the value is jsonb, the subscripts are text.
/// `of_array` says whether the first subscript is a number, so that NULL becomes an array.
pub fn with_part(json: TypedExpr, subscripts: Vec<TypedExpr>, value: TypedExpr, of_array: bool) -> TypedExpr {
    let mut types = vec![SqlType::JSONB, SqlType::JSONB];
    let mut exprs = vec![json.expr, value.expr];
    for subscript in subscripts {
        types.push(SqlType::TEXT);
        exprs.push(subscript.expr);
    }
    let name = if of_array { "jsonb array with part" } else { "jsonb object with part" };
    let kernel = Arc::new(move |call: &Call<'_>| assign(call, of_array));
    KernelFunction::new(name, types, SqlType::JSONB, Stability::Immutable, kernel, None).call(exprs)
}

fn assign(call: &Call<'_>, of_array: bool) -> Result<ArrayRef> {
    let (targets, values) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
    let mut builder = Text::builder(call.rows);
    for row in 0..call.rows {
        let mut path = Vec::new();
        for at in 2..call.arguments.len() {
            let step = call.column::<Text>(at)?.get(row)?.ok_or_else(|| {
                SqlError::new(state::NULL_VALUE_NOT_ALLOWED, "jsonb subscript in assignment must not be null")
            })?;
            path.push(step);
        }
        let empty = if of_array { "[]" } else { "{}" };
        let node = parse(targets.get(row)?.unwrap_or(empty))?;
        let assigned = part(Some(&node), &path, 1, values.get(row)?.unwrap_or("null"))?;
        Text::append(&mut builder, Some(assigned))?;
    }
    Ok(Text::finish(builder))
}

/// A value with `new` at a path. Missing parts are created, and gaps in arrays are null. `position` counts from 1.
fn part(node: Option<&Node<'_>>, path: &[&str], position: usize, new: &str) -> Result<String> {
    let Some((step, rest)) = path.split_first() else { return Ok(new.to_string()) };
    let invalid = |message: String| SqlError::new(state::INVALID_PARAMETER_VALUE, message);
    let gaps = |count: usize| std::iter::repeat_n("null".to_string(), count);
    match node.map(|node| &node.value) {
        None => match step.parse::<i32>() {
            Ok(place) => {
                let place = usize::try_from(place)
                    .map_err(|_| invalid(format!("path element at position {position} is out of range: {place}")))?;
                Ok(array(gaps(place).chain([part(None, rest, position + 1, new)?])))
            }
            Err(_) => Ok(object([((*step).to_string(), part(None, rest, position + 1, new)?)])),
        },
        Some(Value::Object(pairs)) => {
            let held = pairs.iter().rev().find(|(key, _)| key == step).map(|(_, value)| value);
            let assigned = part(held, rest, position + 1, new)?;
            let others =
                pairs.iter().filter(|(key, _)| key != step).map(|(key, value)| (key.clone(), value.text.to_string()));
            Ok(object(others.chain([((*step).to_string(), assigned)])))
        }
        Some(Value::Array(elements)) => {
            let place: i64 = step.parse::<i32>().map(i64::from).map_err(|_| {
                let message = format!("path element at position {position} is not an integer: \"{step}\"");
                SqlError::new(state::INVALID_TEXT_REPRESENTATION, message)
            })?;
            let from_start = if place < 0 { place + elements.len() as i64 } else { place };
            let at = usize::try_from(from_start)
                .map_err(|_| invalid(format!("path element at position {position} is out of range: {place}")))?;
            let assigned = part(elements.get(at), rest, position + 1, new)?;
            let mut made: Vec<String> = elements.iter().map(|element| element.text.to_string()).collect();
            made.extend(gaps(at.saturating_sub(elements.len())));
            match made.get_mut(at) {
                Some(slot) => *slot = assigned,
                None => made.push(assigned),
            }
            Ok(array(made))
        }
        Some(_) => Err(invalid("cannot replace existing key".to_string())
            .detail("The path assumes key is a composite object, but it is a scalar value.")),
    }
}

/// `jsonb_set_lax(target, path, value [, create [, treatment of NULL]])`.
fn set_lax(call: &Call<'_>) -> Result<ArrayRef> {
    let (targets, paths, values) = (call.column::<Text>(0)?, call.column::<List>(1)?, call.column::<Text>(2)?);
    let creates = if call.arguments.len() > 3 { Some(call.column::<Bool>(3)?) } else { None };
    let treatments = if call.arguments.len() > 4 { Some(call.column::<Text>(4)?) } else { None };
    let mut builder = Text::builder(call.rows);
    for row in 0..call.rows {
        let create = match &creates {
            Some(creates) => creates.get(row)?,
            None => Some(true),
        };
        let (Some(target), Some(path), Some(create)) = (targets.get(row)?, paths.get(row)?, create) else {
            Text::append(&mut builder, None)?;
            continue;
        };
        let treatment = match &treatments {
            Some(treatments) => treatments.get(row)?,
            None => Some("use_json_null"),
        };
        super::change::one_dimension(&path)?;
        let node = parse(target)?;
        let change = match (values.get(row)?, treatment) {
            (_, None) => return Err(unknown_treatment()),
            (Some(new), _) => Change::Set(new, create),
            (None, Some("use_json_null")) => Change::Set("null", create),
            (None, Some("delete_key")) => Change::Delete,
            (None, Some("return_target")) => {
                Text::append(&mut builder, Some(target.to_string()))?;
                continue;
            }
            (None, Some("raise_exception")) => {
                return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, "JSON value must not be null")
                    .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
                    .hint(
                        "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.",
                    ));
            }
            _ => return Err(unknown_treatment()),
        };
        Text::append(&mut builder, Some(changed_container(&node, &path, &change)?))?;
    }
    Ok(Text::finish(builder))
}

fn unknown_treatment() -> SqlError {
    let message =
        "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"";
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (jsonb, text) = (SqlType::JSONB, SqlType::TEXT);
    let arguments = [jsonb, text.array_of(), jsonb, SqlType::BOOL, text];
    let make = |count: usize| {
        let arguments = arguments.get(..count).unwrap_or_default();
        ScalarFunction::new("jsonb_set_lax", arguments, jsonb, Stability::Immutable, Arc::new(set_lax))
    };
    (3..=5).map(make).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_assigned_as_in_postgresql() {
        // Checked against PostgreSQL 15.
        for (json, path, new, made) in [
            (r#"{"a": 1}"#, &["b"][..], "2", r#"{"a": 1, "b": 2}"#),
            (r#"{"a": 1}"#, &["a"], "2", r#"{"a": 2}"#),
            ("{}", &["a", "0", "b"], "1", r#"{"a": [{"b": 1}]}"#),
            ("[1]", &["3"], "2", "[1, null, null, 2]"),
            ("[1, 2]", &["-1"], "3", "[1, 3]"),
        ] {
            assert_eq!(part(Some(&parse(json).unwrap()), path, 1, new).unwrap(), made, "{json}");
        }
        let scalar = parse(r#"{"a": 1}"#).unwrap();
        assert_eq!(part(Some(&scalar), &["a", "b"], 1, "1").unwrap_err().state(), "22023");
        let list = parse("[1]").unwrap();
        assert_eq!(part(Some(&list), &["x"], 1, "1").unwrap_err().state(), "22P02");
        assert_eq!(part(Some(&list), &["-5"], 1, "1").unwrap_err().state(), "22023");
    }
}
