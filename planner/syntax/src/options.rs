//! Lists of options: their values as texts and as Booleans. Must not know which options exist.

use grammar::tree::{OptionItem, OptionValue};
use sql_error::{Result, SqlError};

/// Folded names of parameters with their values. A missing value means `true`.
pub type Parameters = Vec<(String, Option<String>)>;

/// The names, qualified by their namespace, and the values of storage parameters and of options of views.
pub fn parameters(items: &[OptionItem]) -> Result<Parameters> {
    Ok(items.iter().map(|item| (name(item), item.value.as_ref().map(text_of))).collect())
}

/// The names in the parentheses of RESET. Errors: 42601 for values.
pub fn names_to_reset(items: &[OptionItem]) -> Result<Vec<String>> {
    if items.iter().any(|item| item.value.is_some()) {
        return Err(SqlError::syntax("RESET must not include values for parameters"));
    }
    Ok(items.iter().map(name).collect())
}

fn name(item: &OptionItem) -> String {
    match &item.namespace {
        Some(namespace) => format!("{}.{}", namespace.value, item.name.value),
        None => item.name.value.clone(),
    }
}

/// A value in its stored form: a string, a number as written, or a folded word.
pub fn text_of(value: &OptionValue) -> String {
    match value {
        OptionValue::Word(text) | OptionValue::String(text) | OptionValue::Number(text) => text.clone(),
        OptionValue::Type(data_type) => data_type.to_string(),
        OptionValue::Operator(operator) => {
            let schema = operator.schema.iter().map(|part| part.value.as_str());
            schema.chain([operator.sign.as_str()]).collect::<Vec<_>>().join(".")
        }
        OptionValue::Star => "*".into(),
        OptionValue::List(values) => values.iter().map(text_of).collect::<Vec<_>>().join("."),
    }
}

/// The value of a Boolean option. A missing value means true. Errors: 42601.
pub fn truth(item: &OptionItem) -> Result<bool> {
    let Some(value) = &item.value else { return Ok(true) };
    match text_of(value).to_ascii_lowercase().as_str() {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(SqlError::syntax(format!("{} requires a Boolean value", item.name.value))),
    }
}

/// The value of an option that needs one. Errors: 42601.
pub fn required(item: &OptionItem) -> Result<String> {
    match &item.value {
        Some(value) => Ok(text_of(value)),
        None => Err(SqlError::syntax(format!("{} requires a parameter", item.name.value))),
    }
}
