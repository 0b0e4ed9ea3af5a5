//! Converts values to JSON: to_json, to_jsonb, array_to_json, and the output of the builders and aggregates.

use crate::kernel::{Call, Kernel, Stability};
use crate::registry::{Param, ResultType, ScalarFunction};
use crate::typed::{Bool, Column, SqlWrite, Text};
use catalog::encoding::record_columns;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, new_null_array};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::array::ArrayValue;
use types::array::literal::write_nested;
use types::datetime::DateFormat;
use types::json::{Value, object, quote, to_jsonb};
use types::record::RecordType;
use types::text::{OutputContext, output_string};
use types::{BaseType, SqlType};

/// The JSON text of a row's value. NULL becomes null.
pub(super) fn json_of(ty: SqlType, array: &dyn Array, row: usize, context: &OutputContext<'_>) -> Result<String> {
    use BaseType as B;
    if array.is_null(row) {
        return Ok("null".to_string());
    }
    if ty.array {
        let foreign = || SqlError::internal("an array that is no array");
        let value = ArrayValue::at(array.as_struct_opt().ok_or_else(foreign)?, row)?;
        let mut text = Vec::new();
        write_nested(&value.dimensions(), (b'[', b']'), &mut text, &mut |at, text| {
            text.extend_from_slice(json_of(ty.element(), value.elements().as_ref(), at, context)?.as_bytes());
            Ok(())
        })?;
        return String::from_utf8(text).map_err(SqlError::internal);
    }
    if let B::Record(fields) = ty.base {
        let record =
            array.as_binary_opt::<i32>().ok_or_else(|| SqlError::internal("a record that is no bytes"))?.value(row);
        return record_as_json(fields, record, ",", context);
    }
    let text = output_string(ty, array, row, context)?;
    Ok(match ty.base {
        B::Json | B::Jsonb => text,
        B::Bool => if text == "t" { "true" } else { "false" }.to_string(),
        B::Int2 | B::Int4 | B::Int8 | B::Float4 | B::Float8 | B::Numeric
            if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && !text.ends_with('y') =>
        {
            text
        }
        // ISO 8601 requires a T between date and time.
        B::Timestamp | B::Timestamptz => {
            let mut text = text;
            if let Some(at) = text.find(' ').filter(|at| text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit)) {
                text.replace_range(at..=at, "T");
            }
            if ty.base == B::Timestamptz { quote(&with_minutes(&text)) } else { quote(&text) }
        }
        _ => quote(&text),
    })
}

/// A record as an object. `separator` stands between its members.
fn record_as_json(ty: RecordType, record: &[u8], separator: &str, context: &OutputContext<'_>) -> Result<String> {
    let mut pairs = Vec::new();
    for ((name, _), (ty, column)) in ty.fields().iter().zip(record_columns(ty, record)?) {
        pairs.push(format!("{}:{}", quote(name), json_of(ty, column.as_ref(), 0, context)?));
    }
    Ok(format!("{{{}}}", pairs.join(separator)))
}

/// row_to_json, optionally with one line per member.
fn row_to_json(call: &Call<'_>) -> Result<ArrayRef> {
    let ty = call.types.first().and_then(SqlType::as_record);
    // A bare NULL has no known type.
    let array = call.array(0)?;
    if ty.is_none() && array.null_count() == array.len() {
        return Ok(new_null_array(&call.result.arrow(), call.rows));
    }
    let Some(ty) = ty else {
        let shown = call.types.first().map_or(String::new(), SqlType::name);
        return Err(SqlError::new(state::UNDEFINED_FUNCTION, format!("function row_to_json({shown}) does not exist"))
            .hint(
                "No function matches the given name and argument types. You might need to add explicit type casts.",
            ));
    };
    with_context(call, |context| {
        let array = call.array(0)?;
        let records = array.as_binary_opt::<i32>().ok_or_else(|| SqlError::internal("a record that is no bytes"))?;
        let pretty = if call.arguments.len() > 1 { Some(call.column::<Bool>(1)?) } else { None };
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let at = Call::row_of(array, row);
            let lines = match &pretty {
                Some(pretty) => pretty.get(row)?,
                None => Some(false),
            };
            let value = match lines.filter(|_| !array.is_null(at)) {
                Some(lines) => {
                    let separator = if lines { ",\n " } else { "," };
                    Some(record_as_json(ty, records.value(at), separator, context)?)
                }
                None => None,
            };
            Text::append(&mut builder, value)?;
        }
        Ok(Text::finish(builder))
    })
}

/// array_to_json, optionally with one line per element.
fn array_to_json(call: &Call<'_>) -> Result<ArrayRef> {
    let made = converted(false)(call)?;
    let (made, lines) = (Column::<Text>::new(&made)?, call.column::<Bool>(1)?);
    let mut builder = Text::builder(call.rows);
    for row in 0..call.rows {
        let value = match (made.get(row)?, lines.get(row)?) {
            (Some(text), Some(true)) => match types::json::parse(text)?.value {
                Value::Array(elements) => {
                    let elements: Vec<&str> = elements.iter().map(|element| element.text).collect();
                    Some(format!("[{}]", elements.join(",\n ")))
                }
                _ => Some(text.to_string()),
            },
            (Some(text), Some(false)) => Some(text.to_string()),
            _ => None,
        };
        Text::append(&mut builder, value)?;
    }
    Ok(Text::finish(builder))
}

/// Completes an offset such as `+02` to `+02:00`.
fn with_minutes(text: &str) -> String {
    let (moment, era) = match text.strip_suffix(" BC") {
        Some(moment) => (moment, " BC"),
        None => (text, ""),
    };
    let bytes = moment.as_bytes();
    match bytes.len().checked_sub(3).and_then(|at| bytes.get(at)) {
        Some(b'+' | b'-') if moment.contains('T') => format!("{moment}:00{era}"),
        _ => text.to_string(),
    }
}

/// An object from keys and JSON texts. With `binary` it is in jsonb's canonical form. Otherwise members stay as they
/// are, with `padding` inside the braces. Errors: as [`to_jsonb`].
pub(super) fn object_of(pairs: Vec<(String, String)>, binary: bool, padding: &str) -> Result<String> {
    if binary {
        let pairs: Result<Vec<_>> = pairs.into_iter().map(|(key, value)| Ok((key, to_jsonb(&value)?))).collect();
        return Ok(object(pairs?));
    }
    let parts: Vec<String> = pairs.into_iter().map(|(key, value)| format!("{} : {value}", quote(&key))).collect();
    Ok(format!("{{{padding}{}{padding}}}", parts.join(", ")))
}

/// Runs `work` with the settings of text output, or with defaults outside a statement.
pub(super) fn with_context<T>(call: &Call<'_>, work: impl FnOnce(&OutputContext<'_>) -> Result<T>) -> Result<T> {
    let context = call.context().ok();
    let context = match &context {
        // Dates are ISO's in JSON, whatever DateStyle says.
        Some(context) => OutputContext { date_format: DateFormat::ISO, ..context.text_output() },
        None => OutputContext::PLAIN,
    };
    work(&context)
}

fn converted(binary: bool) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        with_context(call, |context| {
            let array = call.array(0)?;
            let ty = call.types.first().copied().unwrap_or(SqlType::TEXT);
            let mut builder = Text::builder(call.rows);
            for row in 0..call.rows {
                let at = Call::row_of(array, row);
                let value = if array.is_null(at) {
                    None
                } else {
                    let text = json_of(ty, array.as_ref(), at, context)?;
                    Some(if binary { to_jsonb(&text)? } else { text })
                };
                Text::append(&mut builder, value)?;
            }
            Ok(Text::finish(builder))
        })
    })
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let make = |name, parameter, result, kernel| {
        ScalarFunction::polymorphic(name, &[parameter], false, ResultType::Is(result), Stability::Stable, kernel)
    };
    vec![
        make("row_to_json", Param::Any, SqlType::JSON, Arc::new(row_to_json)),
        ScalarFunction::polymorphic(
            "row_to_json",
            &[Param::Any, Param::Is(SqlType::BOOL)],
            false,
            ResultType::Is(SqlType::JSON),
            Stability::Stable,
            Arc::new(row_to_json),
        ),
        make("to_json", Param::Any, SqlType::JSON, converted(false)),
        make("to_jsonb", Param::Any, SqlType::JSONB, converted(true)),
        make("array_to_json", Param::AnyArray, SqlType::JSON, converted(false)),
        ScalarFunction::polymorphic(
            "array_to_json",
            &[Param::AnyArray, Param::Is(SqlType::BOOL)],
            false,
            ResultType::Is(SqlType::JSON),
            Stability::Stable,
            Arc::new(array_to_json),
        ),
    ]
}
