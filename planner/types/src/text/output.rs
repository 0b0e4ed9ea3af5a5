//! Writes the text form of values.

use super::OutputContext;
use crate::array::ArrayValue;
use crate::array::literal::{write_bounds, write_element, write_nested};
use crate::interval::{Interval, write_interval};
use crate::length::shown_single_char;
use crate::numeric::Numeric;
use crate::packed::record_columns;
use crate::record::RecordType;
use crate::{BaseType, Datum, SqlType, datetime, tid, time};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{
    Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use sql_error::{Result, SqlError};
use std::io::Write;

/// Writes an integer. `write!` takes several times as long.
fn write_integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Writes a float in PostgreSQL's layout from its scientific notation.
fn write_float(scientific: &str, fixed_below: i32, out: &mut Vec<u8>) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    out.extend_from_slice(sign.as_bytes());
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    if (-4..fixed_below).contains(&exponent) {
        if exponent < 0 {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + (-exponent - 1) as usize, b'0');
            out.extend_from_slice(digits.as_bytes());
        } else {
            let whole = exponent as usize + 1;
            match digits.split_at_checked(whole) {
                Some((digits, "")) => out.extend_from_slice(digits.as_bytes()),
                Some((digits, fraction)) => {
                    out.extend_from_slice(digits.as_bytes());
                    out.push(b'.');
                    out.extend_from_slice(fraction.as_bytes());
                }
                None => {
                    out.extend_from_slice(digits.as_bytes());
                    out.resize(out.len() + whole - digits.len(), b'0');
                }
            }
        }
        return;
    }
    out.extend_from_slice(mantissa.as_bytes());
    let (sign, exponent) = if exponent < 0 { ('-', -exponent) } else { ('+', exponent) };
    let _ = write!(out, "e{sign}{exponent:02}");
}

/// Whether a decimal is the midpoint of two floats whose mantissas have one bit less than `bits`. Such a decimal reads
/// as one of them only because ties round to even.
fn is_midpoint(scientific: &str, bits: u32) -> bool {
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return false };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len()) as i32;
    let (Ok(mut number), Ok(exponent)) = (digits.parse::<u128>(), exponent.parse::<i32>()) else { return false };
    let power = exponent - places;
    // Beyond these powers, a decimal cannot be a number of 54 bits.
    let Some(fives) = (power.unsigned_abs() <= 27).then(|| 5u128.pow(power.unsigned_abs())) else { return false };
    if power >= 0 {
        let Some(product) = number.checked_mul(fives) else { return false };
        number = product;
    } else if number.is_multiple_of(fives) {
        number /= fives;
    } else {
        return false;
    }
    number != 0 && 128 - (number >> number.trailing_zeros()).leading_zeros() == bits
}

/// The shortest digits that are nearer to a float than to any other. That is `text` if it is not a midpoint. Otherwise
/// it is the first longer text that reads back as the same value.
fn nearest(text: String, bits: u32, longer: impl Fn(usize) -> (String, bool)) -> String {
    if !is_midpoint(&text, bits) {
        return text;
    }
    let fits = |(longer, same): (String, bool)| (same && !is_midpoint(&longer, bits)).then_some(longer);
    (1..17).map(longer).find_map(fits).unwrap_or(text)
}

/// Writes a float8 such as `1.5`, `1e+20`, `Infinity` or `NaN`.
pub fn write_float8(value: f64, out: &mut Vec<u8>) {
    match value {
        v if v.is_nan() => out.extend_from_slice(b"NaN"),
        f64::INFINITY => out.extend_from_slice(b"Infinity"),
        f64::NEG_INFINITY => out.extend_from_slice(b"-Infinity"),
        v => {
            let longer = |digits| {
                let text = format!("{v:.digits$e}");
                let same = text.parse() == Ok(v);
                (text, same)
            };
            write_float(&nearest(format!("{v:e}"), 54, longer), 15, out);
        }
    }
}

/// Like [`write_float8`], with the digits of a float4.
pub fn write_float4(value: f32, out: &mut Vec<u8>) {
    match value {
        v if v.is_nan() => out.extend_from_slice(b"NaN"),
        f32::INFINITY => out.extend_from_slice(b"Infinity"),
        f32::NEG_INFINITY => out.extend_from_slice(b"-Infinity"),
        v => {
            let longer = |digits| {
                let text = format!("{v:.digits$e}");
                let same = text.parse() == Ok(v);
                (text, same)
            };
            write_float(&nearest(format!("{v:e}"), 25, longer), 6, out);
        }
    }
}

/// Decimal digits that float4 and float8 keep.
const FLOAT4_DIGITS: i32 = 6;
const FLOAT8_DIGITS: i32 = 15;

/// Writes a float rounded to `digits` digits, as C's `%g` does.
fn write_digits(value: f64, digits: i32, out: &mut Vec<u8>) {
    if !value.is_finite() {
        return write_float8(value, out);
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    write_float(&format!("{mantissa}e{exponent}"), digits, out);
}

/// Writes bytes in the escape form: unprintable ones as octal digits.
pub fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x20..=0x7e => out.push(*byte),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(HEX.get(usize::from(digit)).copied().unwrap_or(b'0'));
        }
    }
}

/// Writes a bytea in hex, such as `\x01ff`.
pub fn write_bytea(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\x");
    write_hex(bytes, out);
}

/// Writes a uuid such as `a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11`.
pub fn write_uuid(bytes: &[u8], out: &mut Vec<u8>) {
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        write_hex(std::slice::from_ref(byte), out);
    }
}

fn mismatch(ty: SqlType, array: &dyn Array) -> SqlError {
    SqlError::internal(format!("a value of type {} stands as {}", ty.name(), array.data_type()))
}

/// Appends the text of the value at `row`, which must not be NULL. Errors: XX000 if the Arrow array is not of the
/// type's form.
pub fn output(
    ty: SqlType,
    array: &dyn Array,
    row: usize,
    context: &OutputContext<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let wrong = || mismatch(ty, array);
    if ty.array {
        let value = ArrayValue::at(array.as_struct_opt().ok_or_else(wrong)?, row)?;
        return write_array(ty, &value, context, out);
    }
    match ty.base {
        BaseType::Bool => out.push(if array.as_boolean_opt().ok_or_else(wrong)?.value(row) { b't' } else { b'f' }),
        BaseType::Int2 => {
            write_integer(array.as_primitive_opt::<Int16Type>().ok_or_else(wrong)?.value(row), out);
        }
        BaseType::Int4 => {
            write_integer(array.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?.value(row), out);
        }
        BaseType::Int8 | BaseType::Oid | BaseType::Xid | BaseType::Cid => {
            write_integer(array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?.value(row), out);
        }
        BaseType::Float4 => {
            let value = array.as_primitive_opt::<Float32Type>().ok_or_else(wrong)?.value(row);
            match context.float_digits {
                1.. => write_float4(value, out),
                fewer => write_digits(f64::from(value), FLOAT4_DIGITS + fewer, out),
            }
        }
        BaseType::Float8 => {
            let value = array.as_primitive_opt::<Float64Type>().ok_or_else(wrong)?.value(row);
            match context.float_digits {
                1.. => write_float8(value, out),
                fewer => write_digits(value, FLOAT8_DIGITS + fewer, out),
            }
        }
        BaseType::Numeric => {
            let value = Numeric::from_bytes(array.as_binary_opt::<i32>().ok_or_else(wrong)?.value(row))?;
            let _ = write!(out, "{value}");
        }
        BaseType::Json | BaseType::Jsonb | BaseType::Jsonpath => {
            out.extend_from_slice(array.as_string_opt::<i32>().ok_or_else(wrong)?.value(row).as_bytes());
        }
        BaseType::Text | BaseType::Varchar | BaseType::Char | BaseType::Name | BaseType::Unknown => {
            out.extend_from_slice(array.as_string_opt::<i32>().ok_or_else(wrong)?.value(row).as_bytes())
        }
        BaseType::SingleChar => {
            let kept = array.as_string_opt::<i32>().ok_or_else(wrong)?.value(row);
            out.extend_from_slice(shown_single_char(kept).as_bytes());
        }
        BaseType::Bytea => {
            let bytes = array.as_binary_opt::<i64>().ok_or_else(wrong)?.value(row);
            if context.bytea_escape { write_escaped(bytes, out) } else { write_bytea(bytes, out) }
        }
        BaseType::Date => {
            let value = array.as_primitive_opt::<Date32Type>().ok_or_else(wrong)?.value(row);
            datetime::write_date(value, context.date_format, out);
        }
        BaseType::Timestamp => {
            let value = array.as_primitive_opt::<TimestampMicrosecondType>().ok_or_else(wrong)?.value(row);
            datetime::write_timestamp(value, context.date_format, out);
        }
        BaseType::Interval => {
            let bytes = array.as_binary_opt::<i32>().ok_or_else(wrong)?.value(row);
            write_interval(&Interval::from_bytes(bytes)?, context.interval_style, out);
        }
        BaseType::Time => time::write_time(array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?.value(row), out),
        BaseType::Timetz => {
            let bytes = array.as_binary_opt::<i32>().ok_or_else(wrong)?.value(row);
            time::write_timetz(time::TimeTz::from_bytes(bytes)?, out);
        }
        BaseType::Timestamptz => {
            let value = array.as_primitive_opt::<TimestampMicrosecondType>().ok_or_else(wrong)?.value(row);
            datetime::write_timestamptz(value, context.time_zone, context.date_format, out);
        }
        BaseType::Enum(ty) => {
            let place = array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?.value(row);
            out.extend_from_slice(ty.label(place)?.as_bytes());
        }
        BaseType::Uuid => write_uuid(array.as_fixed_size_binary_opt().ok_or_else(wrong)?.value(row), out),
        crate::object_name_type!() => {
            let oid = array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?.value(row);
            out.extend_from_slice(name_of(ty.base, oid, context).as_bytes());
        }
        BaseType::Xid8 => {
            let number = tid::xid8_number(array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?.value(row));
            let _ = write!(out, "{number}");
        }
        BaseType::Tid => tid::write_tid(array.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?.value(row), out),
        BaseType::Record(ty) => {
            write_record(ty, array.as_binary_opt::<i32>().ok_or_else(wrong)?.value(row), context, out)?
        }
        BaseType::Void => {}
    }
    Ok(())
}

/// Writes an array such as `{1,NULL}`, or a vector such as `1 2`.
fn write_array(ty: SqlType, value: &ArrayValue, context: &OutputContext<'_>, out: &mut Vec<u8>) -> Result<()> {
    let element_type = ty.element();
    let elements = value.elements().as_ref();
    if ty.is_vector() {
        for at in 0..elements.len() {
            if at > 0 {
                out.push(b' ');
            }
            output(element_type, elements, at, context, out)?;
        }
        return Ok(());
    }
    let dimensions = value.dimensions();
    write_bounds(&dimensions, out);
    let mut text = Vec::new();
    write_nested(&dimensions, (b'{', b'}'), out, &mut |at, out| {
        if elements.is_null(at) {
            out.extend_from_slice(b"NULL");
            return Ok(());
        }
        text.clear();
        output(element_type, elements, at, context, &mut text)?;
        write_element(&text, out);
        Ok(())
    })
}

/// Writes a record such as `(1,"a b",)`.
fn write_record(ty: RecordType, record: &[u8], context: &OutputContext<'_>, out: &mut Vec<u8>) -> Result<()> {
    out.push(b'(');
    let mut text = Vec::new();
    for (at, (ty, column)) in record_columns(ty, record)?.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        if column.is_null(0) {
            continue;
        }
        text.clear();
        output(ty, column.as_ref(), 0, context, &mut text)?;
        let special = |byte: &u8| {
            matches!(byte, b'"' | b'\\' | b'(' | b')' | b',') || byte.is_ascii_whitespace() || *byte == 0x0b
        };
        if !text.is_empty() && !text.iter().any(special) {
            out.extend_from_slice(&text);
            continue;
        }
        out.push(b'"');
        for byte in &text {
            if matches!(byte, b'"' | b'\\') {
                out.push(*byte);
            }
            out.push(*byte);
        }
        out.push(b'"');
    }
    out.push(b')');
    Ok(())
}

fn name_of(base: BaseType, oid: i64, context: &OutputContext<'_>) -> String {
    let number = u32::try_from(oid).unwrap_or(0);
    if number == 0 {
        return if matches!(base, BaseType::Regoper | BaseType::Regoperator) { "0" } else { "-" }.to_string();
    }
    let names = context.names.or_else(|| super::SYSTEM_NAMES.get().copied());
    let found = names.and_then(|names| names.name_of(base, number, context.search_path));
    found.unwrap_or_else(|| number.to_string())
}

/// Quotes a name for SQL unless it consists of lower-case letters, digits and underscores. Keywords are not considered.
pub fn quote_identifier(name: &str) -> String {
    let plain = name.bytes().enumerate().all(|(at, byte)| {
        byte.is_ascii_lowercase() || byte == b'_' || (at > 0 && (byte.is_ascii_digit() || byte == b'$'))
    });
    if plain && !name.is_empty() { name.to_string() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// The text of a datum. `None` for NULL.
pub fn output_datum(ty: SqlType, datum: &Datum, context: &OutputContext<'_>) -> Result<Option<String>> {
    if datum.is_null() {
        return Ok(None);
    }
    let array = datum.to_array()?;
    output_string(ty, array.as_ref(), 0, context).map(Some)
}

/// The text of the value at `row`, which must not be NULL.
pub fn output_string(ty: SqlType, array: &dyn Array, row: usize, context: &OutputContext<'_>) -> Result<String> {
    let mut out = Vec::new();
    output(ty, array, row, context, &mut out)?;
    String::from_utf8(out).map_err(SqlError::internal)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{InputContext, input};
    use super::*;
    use crate::make_numeric_modifier;
    use sql_error::state;

    fn round(ty: SqlType, text: &str) -> String {
        let datum = input(ty, text, &InputContext::PLAIN).unwrap();
        assert_eq!(datum.data_type(), ty.arrow(), "{text}");
        output_datum(ty, &datum, &OutputContext::PLAIN).unwrap().unwrap()
    }
    fn fails(ty: SqlType, text: &str) -> (String, &'static str) {
        let error = input(ty, text, &InputContext::PLAIN).unwrap_err();
        (error.fields().message.clone(), error.state())
    }

    #[test]
    fn values_print_as_in_postgresql() {
        for (ty, text, printed) in [
            (SqlType::BOOL, " yes ", "t"),
            (SqlType::BOOL, "of", "f"),
            (SqlType::INT4, " -12 ", "-12"),
            (SqlType::INT8, "9223372036854775807", "9223372036854775807"),
            (SqlType::FLOAT8, "1e20", "1e+20"),
            (SqlType::FLOAT8, "123456789012345", "123456789012345"),
            (SqlType::FLOAT8, "1e15", "1e+15"),
            (SqlType::FLOAT8, "0.0001", "0.0001"),
            (SqlType::FLOAT8, "0.00001", "1e-05"),
            (SqlType::FLOAT8, "-1.5", "-1.5"),
            (SqlType::FLOAT8, "inf", "Infinity"),
            (SqlType::FLOAT8, "-0", "-0"),
            (SqlType::FLOAT8, "100", "100"),
            (SqlType::FLOAT8, "0.1", "0.1"),
            (SqlType::FLOAT8, "1e23", "9.999999999999999e+22"),
            (SqlType::FLOAT8, "9.5e22", "9.5e+22"),
            (SqlType::FLOAT8, "5e-324", "5e-324"),
            (SqlType::FLOAT4, "1000000", "1e+06"),
            (SqlType::FLOAT4, "1.1", "1.1"),
            (SqlType::FLOAT4, "123456", "123456"),
            (SqlType::NUMERIC.with_modifier(make_numeric_modifier(10, 2)), "1.005", "1.01"),
            (SqlType::CHAR.with_modifier(9), "ab", "ab   "),
            (SqlType::VARCHAR.with_modifier(6), "ab  ", "ab"),
            (SqlType::BYTEA, "\\x01FF", "\\x01ff"),
            (SqlType::BYTEA, "a\\\\b\\001", "\\x615c6201"),
            (SqlType::UUID, "{A0EEBC99-9C0B4EF8-BB6D6BB9-BD380A11}", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
            (SqlType::INT4.array_of(), "{1,NULL, 3}", "{1,NULL,3}"),
            (SqlType::TEXT.array_of(), r#"{a,"b c","",null,"NULL","q\"x"}"#, r#"{a,"b c","",NULL,"NULL","q\"x"}"#),
            (SqlType::TIMESTAMPTZ, "2024-01-01 00:00+01", "2023-12-31 23:00:00+00"),
            (SqlType::OID, "-1", "4294967295"),
        ] {
            assert_eq!(round(ty, text), printed, "{text}");
        }
    }

    #[test]
    fn settings_change_the_form() {
        // Checked against PostgreSQL 15.
        let print = |ty: SqlType, text: &str, context: &OutputContext<'_>| {
            output_datum(ty, &input(ty, text, &InputContext::PLAIN).unwrap(), context).unwrap().unwrap()
        };
        let escape = OutputContext { bytea_escape: true, ..OutputContext::PLAIN };
        assert_eq!(print(SqlType::BYTEA, "\\x00414242ff5c7f", &escape), "\\000ABB\\377\\\\\\177");
        for (digits, ty, text, printed) in [
            (0, SqlType::FLOAT8, "0.30000000000000004", "0.3"),
            (0, SqlType::FLOAT4, "0.33333334", "0.333333"),
            (-14, SqlType::FLOAT8, "123", "1e+02"),
            (-15, SqlType::FLOAT4, "0.19", "0.2"),
            (0, SqlType::FLOAT8, "1e15", "1e+15"),
            (0, SqlType::FLOAT8, "123456789012345", "123456789012345"),
            (0, SqlType::FLOAT8, "-Infinity", "-Infinity"),
            (0, SqlType::FLOAT8, "0", "0"),
        ] {
            let context = OutputContext { float_digits: digits, ..OutputContext::PLAIN };
            assert_eq!(print(ty, text, &context), printed, "{text}");
        }
    }

    #[test]
    fn errors_have_postgresqls_words() {
        let syntax = state::INVALID_TEXT_REPRESENTATION;
        let range = state::NUMERIC_VALUE_OUT_OF_RANGE;
        assert_eq!(fails(SqlType::INT4, "x"), ("invalid input syntax for type integer: \"x\"".into(), syntax));
        assert_eq!(fails(SqlType::INT4, ""), ("invalid input syntax for type integer: \"\"".into(), syntax));
        assert_eq!(fails(SqlType::INT2, "40000"), ("value \"40000\" is out of range for type smallint".into(), range));
        assert_eq!(
            fails(SqlType::FLOAT8, "1e400"),
            ("\"1e400\" is out of range for type double precision".into(), range)
        );
        assert_eq!(fails(SqlType::BOOL, "o"), ("invalid input syntax for type boolean: \"o\"".into(), syntax));
        assert_eq!(
            fails(SqlType::VARCHAR.with_modifier(9), "abcdef"),
            ("value too long for type character varying(5)".into(), state::STRING_DATA_RIGHT_TRUNCATION)
        );
        assert_eq!(fails(SqlType::UUID, "x").1, syntax);
        assert_eq!(fails(SqlType::BYTEA, "\\x0").1, state::INVALID_PARAMETER_VALUE);
    }
}
