//! [`Json`]: the values that a jsonpath evaluation handles.

use sql_error::Result;
use std::rc::Rc;
use types::json::{self, Node, Value, quote};
use types::numeric::Numeric;

use super::path_time::Moment;

/// A JSON value with shared contents.
#[derive(Clone, Debug)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(Numeric),
    String(Rc<str>),
    Array(Rc<Vec<Json>>),
    Object(Rc<Vec<(String, Json)>>),
    Moment(Moment),
}

impl Json {
    /// Converts a parsed tree. Errors: 22P02.
    pub(super) fn of(node: &Node<'_>) -> Result<Json> {
        Ok(match &node.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(digits) => Json::Number(Numeric::parse(digits)?),
            Value::String(text) => Json::String(text.as_str().into()),
            Value::Array(elements) => Json::Array(Rc::new(elements.iter().map(Json::of).collect::<Result<_>>()?)),
            Value::Object(pairs) => {
                let pairs = pairs.iter().map(|(key, value)| Ok((key.clone(), Json::of(value)?)));
                Json::Object(Rc::new(pairs.collect::<Result<_>>()?))
            }
        })
    }

    /// The text in jsonb's canonical form.
    pub(super) fn text(&self) -> String {
        match self {
            Json::Null => "null".into(),
            Json::Bool(value) => value.to_string(),
            Json::Number(number) => number.to_string(),
            Json::String(text) => quote(text),
            Json::Array(elements) => json::array(elements.iter().map(Json::text)),
            Json::Object(pairs) => json::object(pairs.iter().map(|(key, value)| (key.clone(), value.text()))),
            Json::Moment(moment) => quote(&moment.text()),
        }
    }

    /// The type's name, as `.type()` gives it.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
            Json::Moment(moment) => moment.type_name(),
        }
    }

    /// The values that it contains.
    pub(super) fn inner(&self) -> Vec<Json> {
        match self {
            Json::Array(elements) => elements.to_vec(),
            Json::Object(pairs) => pairs.iter().map(|(_, value)| value.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether it is an array or an object.
    pub(super) fn is_container(&self) -> bool {
        matches!(self, Json::Array(_) | Json::Object(_))
    }
}
