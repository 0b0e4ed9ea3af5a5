//! [`Value`]: a parameter of a statement or a field of a row, in PostgreSQL's binary form and as a literal.

use crate::decimal::Decimal;
use crate::tpce::calendar::{date_text, moment_text};
use bytes::{BufMut, BytesMut};
use std::error::Error;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};

type AnyError = Box<dyn Error + Sync + Send>;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    Decimal(Decimal),
    /// Moment in microseconds since 2000-01-01.
    Moment(i64),
    /// Day in days since 2000-01-01.
    Day(i64),
    Ints(Vec<i64>),
    Texts(Vec<String>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_string())
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Value {
        Value::Text(value.clone())
    }
}

impl From<Decimal> for Value {
    fn from(value: Decimal) -> Value {
        Value::Decimal(value)
    }
}

fn wrong(value: &Value, ty: &Type) -> AnyError {
    format!("{value:?} is no {ty}").into()
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, AnyError> {
        match self {
            Value::Null => return Ok(IsNull::Yes),
            Value::Bool(value) if *ty == Type::BOOL => value.to_sql(ty, out)?,
            Value::Int(value) => match *ty {
                Type::INT2 => i16::try_from(*value)?.to_sql(ty, out)?,
                Type::INT4 => i32::try_from(*value)?.to_sql(ty, out)?,
                Type::INT8 => value.to_sql(ty, out)?,
                Type::NUMERIC => {
                    Decimal { units: *value, scale: 0 }.to_binary(out);
                    IsNull::No
                }
                _ => return Err(wrong(self, ty)),
            },
            Value::Text(value) if <&str as ToSql>::accepts(ty) => value.to_sql(ty, out)?,
            Value::Decimal(value) if *ty == Type::NUMERIC => {
                value.to_binary(out);
                IsNull::No
            }
            Value::Moment(value) if *ty == Type::TIMESTAMP => {
                out.put_i64(*value);
                IsNull::No
            }
            Value::Day(value) if *ty == Type::DATE => {
                out.put_i32(i32::try_from(*value)?);
                IsNull::No
            }
            Value::Ints(values) if *ty == Type::INT8_ARRAY => values.to_sql(ty, out)?,
            Value::Texts(values) if <Vec<String> as ToSql>::accepts(ty) => values.to_sql(ty, out)?,
            _ => return Err(wrong(self, ty)),
        };
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Value, AnyError> {
        Ok(match *ty {
            Type::BOOL => Value::Bool(bool::from_sql(ty, raw)?),
            Type::INT2 => Value::Int(i64::from(i16::from_sql(ty, raw)?)),
            Type::INT4 => Value::Int(i64::from(i32::from_sql(ty, raw)?)),
            Type::INT8 => Value::Int(i64::from_sql(ty, raw)?),
            Type::NUMERIC => Value::Decimal(Decimal::from_binary(raw).ok_or("a numeric that does not fit")?),
            Type::TIMESTAMP => Value::Moment(i64::from_be_bytes(raw.try_into()?)),
            Type::DATE => Value::Day(i64::from(i32::from_be_bytes(raw.try_into()?))),
            _ => Value::Text(String::from_utf8(raw.to_vec())?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Value, AnyError> {
        Ok(Value::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Value {
    /// The value as a literal in a statement's text.
    pub fn literal(&self) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        match self {
            Value::Null => "null".into(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) if *value < 0 => format!("({value})"),
            Value::Int(value) => value.to_string(),
            Value::Decimal(value) => format!("({value})"),
            Value::Text(text) => quoted(text),
            Value::Moment(micros) => format!("timestamp '{}'", moment_text(*micros)),
            Value::Day(day) => format!("date '{}'", date_text(*day)),
            Value::Ints(values) => {
                let all: Vec<String> = values.iter().map(ToString::to_string).collect();
                format!("'{{{}}}'", all.join(","))
            }
            Value::Texts(values) => {
                let all: Vec<String> = values.iter().map(|text| format!("\"{text}\"")).collect();
                quoted(&format!("{{{}}}", all.join(",")))
            }
        }
    }
}

/// Replaces `$1` and so on in a statement by the values as literals.
pub fn substitute(sql: &str, values: &[Value]) -> String {
    let mut text = String::with_capacity(sql.len() * 2);
    let mut rest = sql;
    while let Some(place) = rest.find('$') {
        let (before, after) = rest.split_at(place);
        text.push_str(before);
        let digits = after[1..].chars().take_while(char::is_ascii_digit).count();
        let value = after[1..=digits].parse::<usize>().ok().and_then(|number| values.get(number.checked_sub(1)?));
        match value {
            Some(value) => text.push_str(&value.literal()),
            None => text.push_str(&after[..=digits]),
        }
        rest = &after[1 + digits..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_stand_where_parameters_stood() {
        let values = [Value::Int(-5), Value::from("o'k"), Value::Ints(vec![1, 2])];
        assert_eq!(
            substitute("select $1, $2 where a = any($3) and $1 > 0", &values),
            "select (-5), 'o''k' where a = any('{1,2}') and (-5) > 0"
        );
    }
}
