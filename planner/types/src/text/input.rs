//! Parses the text form of values.

use super::InputContext;
use super::float::{parse_float4, parse_float8};
use crate::array::{ArrayValue, Dimension, literal, values_array};
use crate::interval::{Restriction, parse_interval_signed};
use crate::numeric::Numeric;
use crate::value::{ValueRef, value_of};
use crate::{BaseType, Datum, SqlType, datetime, json, length, tid, time};
use datafusion_common::ScalarValue;
use sql_error::interrupt;
use sql_error::value_size::room;
use sql_error::{Result, SqlError, state};

fn invalid(type_name: &str, text: &str) -> SqlError {
    SqlError::new(state::INVALID_TEXT_REPRESENTATION, format!("invalid input syntax for type {type_name}: \"{text}\""))
}

/// Reads an integer of digits and an optional minus, the most common form. `None` if the general parser must decide.
fn plain_integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    // At most 18 digits cannot overflow.
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// Parses an integer of a type between `min` and `max`. Errors: 22P02, 22003.
pub fn parse_integer(text: &str, min: i64, max: i64, type_name: &str) -> Result<i64> {
    if let Some(value) = plain_integer(text).filter(|value| (min..=max).contains(value)) {
        return Ok(value);
    }
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid(type_name, text));
    }
    match trimmed.parse::<i64>() {
        Ok(value) if (min..=max).contains(&value) => Ok(value),
        _ => Err(SqlError::new(
            state::NUMERIC_VALUE_OUT_OF_RANGE,
            format!("value \"{text}\" is out of range for type {type_name}"),
        )),
    }
}

/// Parses a boolean: any unambiguous prefix of true, false, yes, no, and on, off, 1, 0.
pub fn parse_bool(text: &str) -> Result<bool> {
    let lower = text.trim().to_ascii_lowercase();
    let is = |word: &str, least: usize| lower.len() >= least && word.starts_with(lower.as_str());
    if is("true", 1) || is("yes", 1) || lower == "on" || lower == "1" {
        Ok(true)
    } else if is("false", 1) || is("no", 1) || is("off", 2) || lower == "0" {
        Ok(false)
    } else {
        Err(invalid("boolean", text))
    }
}

/// Parses a bytea in hex (`\x01ff`) or escape form.
pub fn parse_bytea(text: &str) -> Result<Vec<u8>> {
    if let Some(hex) = text.strip_prefix("\\x") {
        room(hex.len() / 2)?;
        let mut out = Vec::with_capacity(hex.len() / 2);
        let mut high: Option<u8> = None;
        for c in hex.chars() {
            interrupt::step()?;
            let Some(digit) = c.to_digit(16) else {
                if c.is_ascii_whitespace() && high.is_none() {
                    continue;
                }
                return Err(SqlError::new(
                    state::INVALID_PARAMETER_VALUE,
                    format!("invalid hexadecimal digit: \"{c}\""),
                ));
            };
            match high.take() {
                None => high = Some(digit as u8),
                Some(high) => out.push(high << 4 | digit as u8),
            }
        }
        if high.is_some() {
            return Err(SqlError::new(
                state::INVALID_PARAMETER_VALUE,
                "invalid hexadecimal data: odd number of digits",
            ));
        }
        return Ok(out);
    }
    room(text.len())?;
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        interrupt::step()?;
        rest = tail;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        match rest {
            [b'\\', tail @ ..] => {
                out.push(b'\\');
                rest = tail;
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = tail;
            }
            _ => {
                return Err(SqlError::new(state::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea"));
            }
        }
    }
    Ok(out)
}

/// Parses a uuid: 32 hex digits, optional hyphens after each group of four, optional braces.
pub fn parse_uuid(text: &str) -> Result<[u8; 16]> {
    let body = match text.strip_prefix('{') {
        Some(body) => body.strip_suffix('}').ok_or_else(|| invalid("uuid", text))?,
        None => text,
    };
    let mut bytes = [0u8; 16];
    let mut digits = 0usize;
    let mut hyphen = false;
    for c in body.chars() {
        if c == '-' {
            if digits == 0 || !digits.is_multiple_of(4) || digits == 32 || hyphen {
                return Err(invalid("uuid", text));
            }
            hyphen = true;
            continue;
        }
        hyphen = false;
        let digit = c.to_digit(16).ok_or_else(|| invalid("uuid", text))?;
        let byte = bytes.get_mut(digits / 2).ok_or_else(|| invalid("uuid", text))?;
        *byte = *byte << 4 | digit as u8;
        digits += 1;
    }
    if digits == 32 { Ok(bytes) } else { Err(invalid("uuid", text)) }
}

/// Parses a value as [`input`] does and passes it to `take`. Numbers and text are passed without making a datum.
pub fn with_input<T>(
    ty: SqlType,
    text: &str,
    context: &InputContext<'_>,
    take: impl FnOnce(&ValueRef<'_>) -> Result<T>,
) -> Result<T> {
    if !ty.array
        && ty.base == BaseType::Int4
        && let Some(value) = plain_integer(text).and_then(|value| i32::try_from(value).ok())
    {
        return take(&ValueRef::Int4(value));
    }
    if !ty.array && !text.contains('\0') {
        match ty.base {
            BaseType::Int4 => {
                let value = parse_integer(text, i64::from(i32::MIN), i64::from(i32::MAX), "integer")?;
                return take(&ValueRef::Int4(value as i32));
            }
            BaseType::Int8 => return take(&ValueRef::Int8(parse_integer(text, i64::MIN, i64::MAX, "bigint")?)),
            BaseType::Text => return take(&ValueRef::Text(text)),
            BaseType::Varchar => return take(&ValueRef::Text(length::varchar(text, ty.modifier, false)?)),
            BaseType::Char => return take(&ValueRef::Text(&length::character(text, ty.modifier, false)?)),
            _ => {}
        }
    }
    take(&value_of(&input(ty, text, context)?)?)
}

/// Parses a value of `ty` and applies its modifier as an assignment does. Errors include 22001 (too long) and 22003
/// (too large).
pub fn input(ty: SqlType, text: &str, context: &InputContext<'_>) -> Result<Datum> {
    if ty.array {
        let element = ty.element();
        let (parts, dimensions) = if ty.is_vector() {
            // A vector is counted from 0.
            let parts: Vec<_> = text.split_ascii_whitespace().map(|part| Some(part.to_string())).collect();
            let dimension = Dimension { lower: 0, ..Dimension::of(parts.len()) };
            (parts, vec![dimension])
        } else {
            literal::parse(text)?
        };
        let values = parts
            .into_iter()
            .map(|value| match value {
                Some(value) => {
                    interrupt::step()?;
                    input(element, &value, context)
                }
                None => Ok(ScalarValue::try_from(&element.arrow())?),
            })
            .collect::<Result<Vec<_>>>()?;
        return ArrayValue::new(values_array(&values, element)?, &dimensions)?.into_datum();
    }
    if text.contains('\0') {
        return Err(SqlError::new(
            state::CHARACTER_NOT_IN_REPERTOIRE,
            "invalid byte sequence for encoding \"UTF8\": 0x00",
        ));
    }
    Ok(match ty.base {
        BaseType::Bool => ScalarValue::Boolean(Some(parse_bool(text)?)),
        BaseType::Int2 => {
            ScalarValue::Int16(Some(parse_integer(text, i64::from(i16::MIN), i64::from(i16::MAX), "smallint")? as i16))
        }
        BaseType::Int4 => {
            ScalarValue::Int32(Some(parse_integer(text, i64::from(i32::MIN), i64::from(i32::MAX), "integer")? as i32))
        }
        BaseType::Int8 => ScalarValue::Int64(Some(parse_integer(text, i64::MIN, i64::MAX, "bigint")?)),
        BaseType::Oid => ScalarValue::Int64(Some(parse_oid(text)?)),
        BaseType::Float4 => ScalarValue::Float32(Some(parse_float4(text)?)),
        BaseType::Float8 => ScalarValue::Float64(Some(parse_float8(text)?)),
        BaseType::Numeric => ScalarValue::Binary(Some(Numeric::parse(text)?.apply_modifier(ty.modifier)?.to_bytes())),
        BaseType::Text | BaseType::Unknown => ScalarValue::Utf8(Some(text.to_string())),
        BaseType::Varchar => ScalarValue::Utf8(Some(length::varchar(text, ty.modifier, false)?.to_string())),
        BaseType::Char => ScalarValue::Utf8(Some(length::character(text, ty.modifier, false)?.into_owned())),
        BaseType::Name => ScalarValue::Utf8(Some(length::name(text).to_string())),
        BaseType::SingleChar => ScalarValue::Utf8(Some(length::single_char(text))),
        BaseType::Json => {
            json::check(text)?;
            ScalarValue::Utf8(Some(text.to_string()))
        }
        BaseType::Jsonb => ScalarValue::Utf8(Some(json::to_jsonb(text)?)),
        BaseType::Jsonpath => ScalarValue::Utf8(Some(crate::jsonpath::canonical(text)?)),
        BaseType::Bytea => ScalarValue::LargeBinary(Some(parse_bytea(text)?)),
        BaseType::Date => ScalarValue::Date32(Some(datetime::parse_date(text, &context.reading())?)),
        BaseType::Timestamp => {
            let moment = datetime::parse_timestamp(text, &context.reading())?;
            ScalarValue::TimestampMicrosecond(Some(datetime::round_timestamp(moment, ty.modifier)), None)
        }
        BaseType::Timestamptz => {
            let moment = datetime::parse_timestamptz(text, &context.reading())?;
            ScalarValue::TimestampMicrosecond(
                Some(datetime::round_timestamp(moment, ty.modifier)),
                Some("+00:00".into()),
            )
        }
        BaseType::Interval => {
            let restriction = Restriction::of_modifier(ty.modifier);
            ScalarValue::Binary(Some(parse_interval_signed(text, restriction, context.one_sign)?.to_bytes()))
        }
        BaseType::Time => {
            let micros = datetime::parse_time(text, &context.reading())?;
            ScalarValue::Int64(Some(time::round_time(micros, ty.modifier)))
        }
        BaseType::Timetz => {
            let read = datetime::parse_timetz(text, &context.reading())?;
            let rounded = time::TimeTz { micros: time::round_time(read.micros, ty.modifier), ..read };
            ScalarValue::Binary(Some(rounded.to_bytes()))
        }
        BaseType::Enum(ty) => ScalarValue::Int64(Some(ty.value(text)?)),
        BaseType::Uuid => ScalarValue::FixedSizeBinary(16, Some(parse_uuid(text)?.to_vec())),
        crate::object_name_type!() => ScalarValue::Int64(Some(object_oid(ty.base, text, context)?)),
        BaseType::Xid | BaseType::Cid => ScalarValue::Int64(Some(i64::from(tid::read_number(text) as u32))),
        BaseType::Xid8 => ScalarValue::Int64(Some(tid::xid8_value(tid::read_number(text)))),
        BaseType::Tid => ScalarValue::Int64(Some(tid::read_tid(text)?)),
        BaseType::Record(ty) if ty.row_of().is_some() => super::record_input::read_record(ty, text, context)?,
        BaseType::Record(_) => {
            let message = "input of anonymous composite types is not implemented";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        BaseType::Void => ScalarValue::Null,
    })
}

fn object_oid(base: BaseType, text: &str, context: &InputContext<'_>) -> Result<i64> {
    match context.names {
        Some(names) => names.oid_of(base, text, context.search_path),
        None if text == "-" && !matches!(base, BaseType::Regoper | BaseType::Regoperator) => Ok(0),
        None if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => parse_oid(text),
        None => Err(SqlError::unsupported("looking up a name here")),
    }
}

/// Reads an OID. PostgreSQL accepts negative numbers as their unsigned counterpart. Errors: 22P02, 22003.
pub fn parse_oid(text: &str) -> Result<i64> {
    let value = parse_integer(text, -i64::from(i32::MAX) - 1, i64::from(u32::MAX), "oid")?;
    Ok(i64::from(value as u32))
}
