//! PostgreSQL's binary format of every type: encoding (`write`) and decoding (`read`).
//!
//! Integers and floats are big-endian. Dates and timestamps count from 2000-01-01. Numerics use base-10000 digits.
//! Arrays carry their dimensions and the OID of their element type.

use crate::error::protocol_violation;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use datafusion::arrow::array::{
    Array, BinaryArray, BooleanArray, Date32Array, FixedSizeBinaryArray, Float32Array, Float64Array, Int16Array,
    Int32Array, Int64Array, LargeBinaryArray, StringArray, StructArray, TimestampMicrosecondArray, new_empty_array,
};
use datafusion::scalar::ScalarValue;
use planner::types::array::{self, ArrayValue, Dimension, MOST_DIMENSIONS, too_many_dimensions};
use planner::types::datetime;
use planner::types::encoding::Encoding;
use planner::types::interval::Interval;
use planner::types::numeric::Numeric;
use planner::types::tid;
use planner::types::time::TimeTz;
use planner::types::{BaseType, Datum, SqlType};
use planner::{SqlError, state};

type Result<T> = std::result::Result<T, SqlError>;

/// The array as the Arrow type of its SQL type. Errors: an internal error if a plan gave another type.
pub fn cast<T: 'static>(array: &dyn Array, ty: SqlType) -> Result<&T> {
    array
        .as_any()
        .downcast_ref::<T>()
        .ok_or_else(|| SqlError::internal(format!("a column of type {} holds {}", ty.format(), array.data_type())))
}

/// Appends the binary form of a value that is not NULL, without its length. Text is in the client's encoding. Errors:
/// 22P05.
pub fn write(ty: SqlType, array: &dyn Array, row: usize, encoding: Encoding, out: &mut BytesMut) -> Result<()> {
    if ty.array {
        return write_array(ty, &ArrayValue::at(cast::<StructArray>(array, ty)?, row)?, encoding, out);
    }
    match ty.base {
        BaseType::Bool => out.put_u8(u8::from(cast::<BooleanArray>(array, ty)?.value(row))),
        BaseType::Int2 => out.put_i16(cast::<Int16Array>(array, ty)?.value(row)),
        BaseType::Int4 => out.put_i32(cast::<Int32Array>(array, ty)?.value(row)),
        BaseType::Int8 => out.put_i64(cast::<Int64Array>(array, ty)?.value(row)),
        BaseType::Oid | planner::object_name_type!() | BaseType::Xid | BaseType::Cid => {
            let oid = cast::<Int64Array>(array, ty)?.value(row);
            out.put_u32(u32::try_from(oid).map_err(|_| SqlError::internal(format!("OID {oid} out of range")))?);
        }
        BaseType::Xid8 => out.put_u64(tid::xid8_number(cast::<Int64Array>(array, ty)?.value(row))),
        BaseType::Tid => out.put_slice(&tid::wire_of_tid(cast::<Int64Array>(array, ty)?.value(row))),
        BaseType::Float4 => out.put_f32(cast::<Float32Array>(array, ty)?.value(row)),
        BaseType::Float8 => out.put_f64(cast::<Float64Array>(array, ty)?.value(row)),
        BaseType::Numeric => {
            let mut wire = Vec::with_capacity(24);
            Numeric::from_bytes(cast::<BinaryArray>(array, ty)?.value(row))?.write_wire(&mut wire);
            out.put_slice(&wire);
        }
        BaseType::Text | BaseType::Varchar | BaseType::Char | BaseType::Name | BaseType::Unknown => {
            out.put_slice(&encoding.encode(cast::<StringArray>(array, ty)?.value(row))?);
        }
        BaseType::Json => out.put_slice(&encoding.encode(cast::<StringArray>(array, ty)?.value(row))?),
        BaseType::Jsonb | BaseType::Jsonpath => {
            // The version byte of the binary form precedes the text.
            out.put_u8(1);
            out.put_slice(&encoding.encode(cast::<StringArray>(array, ty)?.value(row))?);
        }
        BaseType::SingleChar => {
            let kept = cast::<StringArray>(array, ty)?.value(row).chars().next();
            out.put_u8(kept.and_then(|c| u8::try_from(c).ok()).unwrap_or(0));
        }
        BaseType::Bytea => out.put_slice(cast::<LargeBinaryArray>(array, ty)?.value(row)),
        // The stored form counts from 2000-01-01, as the protocol does.
        BaseType::Date => out.put_i32(cast::<Date32Array>(array, ty)?.value(row)),
        BaseType::Timestamp | BaseType::Timestamptz => {
            out.put_i64(cast::<TimestampMicrosecondArray>(array, ty)?.value(row));
        }
        BaseType::Interval => {
            let interval = Interval::from_bytes(cast::<BinaryArray>(array, ty)?.value(row))?;
            out.put_i64(interval.micros);
            out.put_i32(interval.days);
            out.put_i32(interval.months);
        }
        BaseType::Time => out.put_i64(cast::<Int64Array>(array, ty)?.value(row)),
        BaseType::Timetz => {
            let time = TimeTz::from_bytes(cast::<BinaryArray>(array, ty)?.value(row))?;
            out.put_i64(time.micros);
            // PostgreSQL counts time zone offsets westwards.
            out.put_i32(-time.offset);
        }
        BaseType::Enum(labels) => {
            out.put_slice(&encoding.encode(labels.label(cast::<Int64Array>(array, ty)?.value(row))?)?);
        }
        BaseType::Uuid => out.put_slice(cast::<FixedSizeBinaryArray>(array, ty)?.value(row)),
        BaseType::Record(fields) => {
            let columns = planner::encoding::record_columns(fields, cast::<BinaryArray>(array, ty)?.value(row))?;
            let too_long = || SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "record too long");
            out.put_i32(i32::try_from(columns.len()).map_err(|_| too_long())?);
            for (ty, column) in columns {
                out.put_u32(ty.oid());
                let start = out.len();
                out.put_i32(-1);
                if column.is_null(0) {
                    continue;
                }
                write(ty, column.as_ref(), 0, encoding, out)?;
                let length = i32::try_from(out.len() - start - 4).map_err(|_| too_long())?;
                if let Some(place) = out.get_mut(start..start + 4) {
                    place.copy_from_slice(&length.to_be_bytes());
                }
            }
        }
        BaseType::Void => {}
    }
    Ok(())
}

fn write_array(ty: SqlType, array: &ArrayValue, encoding: Encoding, out: &mut BytesMut) -> Result<()> {
    let element = ty.element();
    let elements = array.elements();
    let too_long = || SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "array too long");
    let dimensions = array.dimensions();
    out.put_i32(i32::try_from(dimensions.len()).map_err(|_| too_long())?);
    out.put_i32(i32::from(elements.null_count() > 0));
    out.put_u32(element.oid());
    for dimension in dimensions {
        out.put_i32(dimension.length);
        out.put_i32(dimension.lower);
    }
    for row in 0..elements.len() {
        if elements.is_null(row) {
            out.put_i32(-1);
            continue;
        }
        let start = out.len();
        out.put_i32(0);
        write(element, elements.as_ref(), row, encoding, out)?;
        let length = i32::try_from(out.len() - start - 4).map_err(|_| too_long())?;
        if let Some(place) = out.get_mut(start..start + 4) {
            place.copy_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}

/// Decodes a value that is not NULL. Errors: 08P01 for too few bytes, 22P03 for too many or invalid bytes, 22021,
/// 22008, 22003.
pub fn read(ty: SqlType, bytes: &Bytes, encoding: Encoding) -> Result<Datum> {
    if ty.array {
        return read_array(ty, bytes.clone(), encoding);
    }
    let mut value = bytes.clone();
    Ok(match ty.base {
        BaseType::Bool => match fixed::<1>(bytes)? {
            [0] => Datum::Boolean(Some(false)),
            _ => Datum::Boolean(Some(true)),
        },
        BaseType::Int2 => Datum::Int16(Some(i16::from_be_bytes(fixed(bytes)?))),
        BaseType::Int4 => Datum::Int32(Some(i32::from_be_bytes(fixed(bytes)?))),
        BaseType::Int8 => Datum::Int64(Some(i64::from_be_bytes(fixed(bytes)?))),
        BaseType::Xid8 => Datum::Int64(Some(tid::xid8_value(u64::from_be_bytes(fixed(bytes)?)))),
        BaseType::Tid => Datum::Int64(Some(tid::tid_of_wire(fixed(bytes)?))),
        BaseType::Oid | planner::object_name_type!() | BaseType::Xid | BaseType::Cid => {
            Datum::Int64(Some(i64::from(u32::from_be_bytes(fixed(bytes)?))))
        }
        BaseType::Float4 => Datum::Float32(Some(f32::from_be_bytes(fixed(bytes)?))),
        BaseType::Float8 => Datum::Float64(Some(f64::from_be_bytes(fixed(bytes)?))),
        BaseType::Numeric => Datum::Binary(Some(Numeric::from_wire(bytes)?.apply_modifier(ty.modifier)?.to_bytes())),
        BaseType::Text | BaseType::Varchar | BaseType::Char | BaseType::Name | BaseType::Unknown => {
            Datum::Utf8(Some(encoding.decode(bytes)?.into_owned()))
        }
        BaseType::Json => {
            let text = encoding.decode(bytes)?;
            planner::types::json::check(&text)?;
            Datum::Utf8(Some(text.to_string()))
        }
        BaseType::Jsonb => match bytes.split_first() {
            Some((1, rest)) => Datum::Utf8(Some(planner::types::json::to_jsonb(&encoding.decode(rest)?)?)),
            Some((version, _)) => {
                return Err(invalid(format!("unsupported jsonb version number {version}")));
            }
            None => return Err(insufficient()),
        },
        BaseType::Jsonpath => match bytes.split_first() {
            Some((1, rest)) => Datum::Utf8(Some(planner::types::jsonpath::canonical(&encoding.decode(rest)?)?)),
            Some((version, _)) => {
                return Err(invalid(format!("unsupported jsonpath version number: {version}")));
            }
            None => return Err(insufficient()),
        },
        BaseType::SingleChar => {
            let [byte] = fixed::<1>(bytes)?;
            Datum::Utf8(Some(if byte == 0 { String::new() } else { char::from(byte).to_string() }))
        }
        BaseType::Bytea => Datum::LargeBinary(Some(bytes.to_vec())),
        BaseType::Date => Datum::Date32(Some(match i32::from_be_bytes(fixed(bytes)?) {
            infinite @ (i32::MIN | i32::MAX) => infinite,
            days if datetime::in_date_range(i64::from(days)) => days,
            _ => return Err(datetime::out_of_range("date")),
        })),
        BaseType::Timestamp | BaseType::Timestamptz => {
            let micros = datetime::checked_timestamp(i64::from_be_bytes(fixed(bytes)?))?;
            let zone = (ty.base == BaseType::Timestamptz).then(|| "+00:00".into());
            Datum::TimestampMicrosecond(Some(micros), zone)
        }
        BaseType::Interval => {
            let [a, b, c, d, e, f, g, h, days @ ..] = fixed::<16>(bytes)?;
            let [i, j, k, l, months @ ..] = days;
            let interval = Interval {
                months: i32::from_be_bytes(months),
                days: i32::from_be_bytes([i, j, k, l]),
                micros: i64::from_be_bytes([a, b, c, d, e, f, g, h]),
            };
            Datum::Binary(Some(interval.restrict(ty.modifier)?.to_bytes()))
        }
        BaseType::Time => Datum::Int64(Some(time_of_day(i64::from_be_bytes(fixed(bytes)?))?)),
        BaseType::Timetz => {
            let [a, b, c, d, e, f, g, h, west @ ..] = fixed::<12>(bytes)?;
            let micros = time_of_day(i64::from_be_bytes([a, b, c, d, e, f, g, h]))?;
            let west = i32::from_be_bytes(west);
            if !(-57_599..=57_599).contains(&west) {
                return Err(SqlError::new("22009", "time zone displacement out of range"));
            }
            Datum::Binary(Some(TimeTz { micros, offset: -west }.to_bytes()))
        }
        BaseType::Record(_) => {
            let message = "input of anonymous composite types is not implemented";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        BaseType::Enum(labels) => Datum::Int64(Some(labels.value(&encoding.decode(bytes)?)?)),
        BaseType::Uuid => Datum::FixedSizeBinary(16, Some(fixed::<16>(bytes)?.to_vec())),
        BaseType::Void => {
            value.advance(value.len());
            Datum::Null
        }
    })
}

fn time_of_day(micros: i64) -> Result<i64> {
    if (0..=86_400_000_000).contains(&micros) {
        return Ok(micros);
    }
    Err(SqlError::new(state::DATETIME_FIELD_OVERFLOW, "time out of range"))
}

fn read_array(ty: SqlType, mut bytes: Bytes, encoding: Encoding) -> Result<Datum> {
    let short = |_| insufficient();
    let element = ty.element();
    let dimensions = bytes.try_get_i32().map_err(short)?;
    let flags = bytes.try_get_i32().map_err(short)?;
    let oid = bytes.try_get_u32().map_err(short)?;
    if !matches!(flags, 0 | 1) {
        return Err(invalid(format!("invalid array flags {flags}")));
    }
    if oid != element.oid() {
        return Err(SqlError::new(
            state::DATATYPE_MISMATCH,
            format!("binary data has array element type {oid} instead of expected {}", element.oid()),
        ));
    }
    let dimensions = match usize::try_from(dimensions) {
        Ok(dimensions) if dimensions <= MOST_DIMENSIONS => dimensions,
        Ok(dimensions) => return Err(too_many_dimensions(dimensions)),
        Err(_) => return Err(invalid(format!("invalid number of dimensions: {dimensions}"))),
    };
    let mut shape = Vec::with_capacity(dimensions);
    for _ in 0..dimensions {
        let length = bytes.try_get_i32().map_err(short)?;
        shape.push(Dimension { length, lower: bytes.try_get_i32().map_err(short)? });
    }
    let count = array::count(&shape)?;
    // Each element takes at least the bytes of its length.
    if count.saturating_mul(4) > bytes.len() {
        return Err(insufficient());
    }
    let mut elements = Vec::with_capacity(count);
    for _ in 0..count {
        let length = bytes.try_get_i32().map_err(short)?;
        elements.push(match usize::try_from(length) {
            Ok(length) if length <= bytes.len() => read(element, &bytes.split_to(length), encoding)?,
            Err(_) if length == -1 => ScalarValue::try_from(&element.arrow()).map_err(SqlError::from)?,
            _ => return Err(insufficient()),
        });
    }
    if !bytes.is_empty() {
        return Err(invalid("incorrect binary data format"));
    }
    let elements = match elements.is_empty() {
        true => new_empty_array(&element.arrow()),
        false => ScalarValue::iter_to_array(elements)?,
    };
    ArrayValue::new(elements, &shape)?.into_datum()
}

/// 22P03: invalid binary representation.
fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(state::INVALID_BINARY_REPRESENTATION, message)
}

/// 08P01: too few bytes in the message.
fn insufficient() -> SqlError {
    protocol_violation("insufficient data left in message")
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    if bytes.len() < N {
        return Err(insufficient());
    }
    bytes.try_into().map_err(|_| invalid("incorrect binary data format"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn written(ty: SqlType, datum: &Datum) -> Bytes {
        let mut out = BytesMut::new();
        write(ty, &datum.to_array().unwrap(), 0, Encoding::Utf8, &mut out).unwrap();
        out.freeze()
    }

    fn round_trip(ty: SqlType, datum: Datum) {
        let bytes = written(ty, &datum);
        assert_eq!(read(ty, &bytes, Encoding::Utf8).unwrap(), datum, "{}", ty.name());
        // A truncated or extended form of a fixed-length value must fail, and no form may panic.
        for end in 0..bytes.len() {
            let cut = read(ty, &bytes.slice(..end), Encoding::Utf8);
            assert!(cut.is_err() || ty.length() < 0 || ty.length() == 64, "{} cut at {end}", ty.name());
        }
    }

    #[test]
    fn every_type_comes_back() {
        round_trip(SqlType::BOOL, Datum::Boolean(Some(true)));
        round_trip(SqlType::INT2, Datum::Int16(Some(-7)));
        round_trip(SqlType::INT4, Datum::Int32(Some(i32::MIN)));
        round_trip(SqlType::INT8, Datum::Int64(Some(i64::MAX)));
        round_trip(SqlType::OID, Datum::Int64(Some(4_294_967_295)));
        round_trip(SqlType::FLOAT4, Datum::Float32(Some(1.5)));
        round_trip(SqlType::FLOAT8, Datum::Float64(Some(f64::NEG_INFINITY)));
        round_trip(SqlType::TEXT, Datum::Utf8(Some("grüß".into())));
        round_trip(SqlType::SINGLE_CHAR, Datum::Utf8(Some("r".into())));
        round_trip(SqlType::BYTEA, Datum::LargeBinary(Some(vec![0, 255])));
        round_trip(SqlType::DATE, Datum::Date32(Some(i32::MAX)));
        round_trip(SqlType::DATE, Datum::Date32(Some(-1)));
        round_trip(SqlType::TIMESTAMP, Datum::TimestampMicrosecond(Some(1), None));
        round_trip(SqlType::TIMESTAMPTZ, Datum::TimestampMicrosecond(Some(i64::MIN), Some("+00:00".into())));
        round_trip(SqlType::JSON, Datum::Utf8(Some("{\"a\" :1}".into())));
        round_trip(SqlType::JSONB, Datum::Utf8(Some("{\"a\": 1}".into())));
        round_trip(SqlType::INTERVAL, Datum::Binary(Some(Interval::new(-5, 6, -7).to_bytes())));
        round_trip(SqlType::TIME, Datum::Int64(Some(86_400_000_000)));
        round_trip(SqlType::TIMETZ, Datum::Binary(Some(TimeTz { micros: 5, offset: -3600 }.to_bytes())));
        round_trip(SqlType::UUID, Datum::FixedSizeBinary(16, Some((0..16).collect())));
        for text in ["0", "-12.340", "123456789012345678901234567890.001", "NaN", "1e-20"] {
            round_trip(SqlType::NUMERIC, Datum::Binary(Some(Numeric::parse(text).unwrap().to_bytes())));
        }
    }

    #[test]
    fn arrays_come_back_with_their_nulls() {
        let ints = [Datum::Int32(Some(1)), Datum::Int32(None), Datum::Int32(Some(3))];
        for elements in [&ints[..], &[]] {
            let list = ArrayValue::datum_of(elements, SqlType::INT4).unwrap();
            let ty = SqlType::INT4.array_of();
            let bytes = written(ty, &list);
            assert_eq!(read(ty, &bytes, Encoding::Utf8).unwrap(), list);
            for end in 0..bytes.len() {
                assert!(read(ty, &bytes.slice(..end), Encoding::Utf8).is_err());
            }
        }
    }

    #[test]
    fn arrays_of_any_shape_come_back() {
        use planner::types::text::{InputContext, input};
        for text in ["{{1,2},{3,NULL}}", "[0:1]={7,8}", "[-1:-1][2:3]={{1,2}}"] {
            let ty = SqlType::INT4.array_of();
            let datum = input(ty, text, &InputContext::PLAIN).unwrap();
            assert_eq!(read(ty, &written(ty, &datum), Encoding::Utf8).unwrap(), datum, "{text}");
        }
    }

    #[test]
    fn timestamps_count_from_2000() {
        assert_eq!(written(SqlType::DATE, &Datum::Date32(Some(0))).as_ref(), [0; 4]);
        let midnight = Datum::TimestampMicrosecond(Some(0), None);
        assert_eq!(written(SqlType::TIMESTAMP, &midnight).as_ref(), [0; 8]);
    }

    #[test]
    fn absurd_values_are_errors() {
        let read = |ty, bytes: &'static [u8]| {
            read(ty, &Bytes::from_static(bytes), Encoding::Utf8).map_err(|error| error.state())
        };
        assert_eq!(read(SqlType::INT4, b"abc"), Err("08P01"));
        assert_eq!(read(SqlType::TEXT, b"a\0b"), Err("22021"));
        assert_eq!(read(SqlType::TEXT, b"\xc3\x28"), Err("22021"));
        assert_eq!(read(SqlType::DATE, &[0x7f, 0xff, 0xff, 0xf0]), Err("22008"));
        assert_eq!(read(SqlType::DATE, &[0x80, 0, 0, 1]), Err("22008"));
        // 294277-01-01, and a microsecond before it.
        assert_eq!(read(SqlType::TIMESTAMP, &[0x7f, 0xff, 0xff, 0x5b, 0xb3, 0xb2, 0xa0, 0]), Err("22008"));
        assert!(read(SqlType::TIMESTAMP, &[0x7f, 0xff, 0xff, 0x5b, 0xb3, 0xb2, 0x9f, 0xff]).is_ok());
        let huge = b"\0\0\0\x01\0\0\0\0\0\0\0\x17\x7f\xff\xff\xff\0\0\0\x01";
        assert_eq!(read(SqlType::INT4.array_of(), huge), Err("54000"));
        let cut = b"\0\0\0\x01\0\0\0\0\0\0\0\x17\0\0\xff\xff\0\0\0\x01";
        assert_eq!(read(SqlType::INT4.array_of(), cut), Err("08P01"));
    }
}
