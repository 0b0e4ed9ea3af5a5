//! The kernels of casts.

use super::kernel::{Call, Kernel, Stability};
use super::typed::{
    Bool, Column, Date, Float4, Float8, Int2, Int4, Int8, Interval, Nullable, Numeric, Outcome, SqlWrite, Text, TimeTz,
    Timestamp, Timestamptz, unary,
};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::Array;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::array::ArrayValue;
use types::interval::Interval as IntervalValue;
use types::numeric::Numeric as NumericValue;
use types::text::{InputContext, ObjectNames, OutputContext, input, output_string};
use types::time::TimeTz as TimeTzValue;
use types::value::ValueRef;
use types::{BaseType, SqlType, datetime, json, length, tid, time};

pub(super) fn out_of_range(type_name: &str) -> SqlError {
    SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, format!("{type_name} out of range"))
}

/// Whether both types have the same Arrow form, so that a cast computes nothing.
pub(super) fn same_bytes(from: SqlType, to: SqlType) -> bool {
    use BaseType as B;
    if from.array || to.array {
        return from.array == to.array && same_bytes(from.element(), to.element());
    }
    let text = |base| matches!(base, B::Text | B::Varchar | B::Unknown);
    if let (B::Record(from), B::Record(to)) = (from.base, to.base) {
        return from.is_any() || to.is_any() || from.same_fields(to);
    }
    from.base == to.base
        || (text(from.base) || from.base == B::Name) && text(to.base)
        || matches!(from.base, B::Text | B::Varchar) && to.base == B::Char
        || from.base.is_oid() && (to.base.is_oid() || to.base == B::Int8)
}

/// Rounds half to even, as casts of floats do.
fn float_to_integer(value: f64, min: f64, end: f64, type_name: &str) -> Result<i64> {
    let rounded = value.round_ties_even();
    if rounded >= min && rounded < end { Ok(rounded as i64) } else { Err(out_of_range(type_name)) }
}

fn to_int2(value: i64) -> Result<i16> {
    i16::try_from(value).map_err(|_| out_of_range("smallint"))
}

fn to_int4(value: i64) -> Result<i32> {
    i32::try_from(value).map_err(|_| out_of_range("integer"))
}

fn to_oid(value: i64) -> Result<i64> {
    if (0..=i64::from(u32::MAX)).contains(&value) {
        Ok(value)
    } else {
        Err(SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "OID out of range"))
    }
}

fn float_from_numeric(value: &NumericValue) -> Result<f32> {
    let wide = value.to_f64()?;
    let narrow = wide as f32;
    if narrow.is_infinite() && wide.is_finite() || narrow == 0.0 && wide != 0.0 {
        return Err(SqlError::new(
            state::NUMERIC_VALUE_OUT_OF_RANGE,
            format!("\"{value}\" is out of range for type real"),
        ));
    }
    Ok(narrow)
}

/// The kernel of a cast between different types, and its stability. Errors: 42846 if there is no cast.
pub(super) fn kernel(from: SqlType, to: SqlType) -> Result<(Kernel, Stability)> {
    use BaseType as B;
    if from.array && to.array {
        let (inner, stability) = kernel(from.element(), to.element())?;
        return Ok((array_kernel(inner, from, to), stability));
    }
    if from.array || to.array {
        return Ok((text_kernel(from, to), Stability::Stable));
    }
    const I16: (f64, f64) = (-32_768.0, 32_768.0);
    const I32: (f64, f64) = (-2_147_483_648.0, 2_147_483_648.0);
    const I64: (f64, f64) = (-9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0);
    let immutable = match (from.base, to.base) {
        (B::Int2, B::Int4) => unary::<Int2, Int4, _>(|v| Ok(i32::from(v))),
        (B::Int2, B::Int8) => unary::<Int2, Int8, _>(|v| Ok(i64::from(v))),
        (B::Int2, B::Float4) => unary::<Int2, Float4, _>(|v| Ok(f32::from(v))),
        (B::Int2, B::Float8) => unary::<Int2, Float8, _>(|v| Ok(f64::from(v))),
        (B::Int2, B::Numeric) => unary::<Int2, Numeric, _>(|v| Ok(NumericValue::from(i64::from(v)))),
        (B::Int4, B::Int2) => unary::<Int4, Int2, _>(|v| to_int2(i64::from(v))),
        (B::Int4, B::Int8) => unary::<Int4, Int8, _>(|v| Ok(i64::from(v))),
        (B::Int4, to) if to.is_oid() => unary::<Int4, Int8, _>(|v| Ok(i64::from(v as u32))),
        (B::Int2, to) if to.is_oid() => unary::<Int2, Int8, _>(|v| Ok(i64::from(v as u32))),
        (B::Xid8, B::Xid) => unary::<Int8, Int8, _>(|v| Ok(i64::from(tid::xid8_number(v) as u32))),
        (B::Int4, B::Float4) => unary::<Int4, Float4, _>(|v| Ok(v as f32)),
        (B::Int4, B::Float8) => unary::<Int4, Float8, _>(|v| Ok(f64::from(v))),
        (B::Int4, B::Numeric) => unary::<Int4, Numeric, _>(|v| Ok(NumericValue::from(i64::from(v)))),
        (B::Int4, B::Bool) => unary::<Int4, Bool, _>(|v| Ok(v != 0)),
        (B::Int4, B::SingleChar) => unary::<Int4, Text, _>(|v| {
            i8::try_from(v)
                .map(|byte| match byte.cast_unsigned() {
                    0 => String::new(),
                    byte => char::from(byte).to_string(),
                })
                .map_err(|_| out_of_range("\"char\""))
        }),
        (B::SingleChar, B::Int4) => unary::<Text, Int4, _>(|v: &str| {
            let byte = v.chars().next().and_then(|c| u8::try_from(c).ok()).unwrap_or(0);
            Ok(i32::from(byte.cast_signed()))
        }),
        (B::Bool, B::Int4) => unary::<Bool, Int4, _>(|v| Ok(i32::from(v))),
        (B::Int8, B::Int2) => unary::<Int8, Int2, _>(to_int2),
        (B::Int8, B::Int4) => unary::<Int8, Int4, _>(to_int4),
        (B::Int8, to) if to.is_oid() => unary::<Int8, Int8, _>(to_oid),
        (B::Int8, B::Float4) => unary::<Int8, Float4, _>(|v| Ok(v as f32)),
        (B::Int8, B::Float8) => unary::<Int8, Float8, _>(|v| Ok(v as f64)),
        (B::Int8, B::Numeric) => unary::<Int8, Numeric, _>(|v| Ok(NumericValue::from(v))),
        (from, B::Int4) if from.is_oid() => unary::<Int8, Int4, _>(|v| Ok(v as u32 as i32)),
        (B::Float4, B::Int2) => {
            unary::<Float4, Int2, _>(|v| to_int2(float_to_integer(f64::from(v), I16.0, I16.1, "smallint")?))
        }
        (B::Float4, B::Int4) => {
            unary::<Float4, Int4, _>(|v| to_int4(float_to_integer(f64::from(v), I32.0, I32.1, "integer")?))
        }
        (B::Float4, B::Int8) => unary::<Float4, Int8, _>(|v| float_to_integer(f64::from(v), I64.0, I64.1, "bigint")),
        (B::Float4, B::Float8) => unary::<Float4, Float8, _>(|v| Ok(f64::from(v))),
        (B::Float4, B::Numeric) => unary::<Float4, Numeric, _>(|v| Ok(NumericValue::from_f32(v))),
        (B::Float8, B::Int2) => unary::<Float8, Int2, _>(|v| to_int2(float_to_integer(v, I16.0, I16.1, "smallint")?)),
        (B::Float8, B::Int4) => unary::<Float8, Int4, _>(|v| to_int4(float_to_integer(v, I32.0, I32.1, "integer")?)),
        (B::Float8, B::Int8) => unary::<Float8, Int8, _>(|v| float_to_integer(v, I64.0, I64.1, "bigint")),
        (B::Float8, B::Float4) => unary::<Float8, Float4, _>(|v| {
            let narrow = v as f32;
            if narrow.is_infinite() && v.is_finite() {
                return Err(SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow"));
            }
            if narrow == 0.0 && v != 0.0 {
                return Err(SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow"));
            }
            Ok(narrow)
        }),
        (B::Float8, B::Numeric) => unary::<Float8, Numeric, _>(|v| Ok(NumericValue::from_f64(v))),
        (B::Numeric, B::Int2) => unary::<Numeric, Int2, _>(|v: NumericValue| to_int2(v.to_i64("smallint")?)),
        (B::Numeric, B::Int4) => unary::<Numeric, Int4, _>(|v: NumericValue| to_int4(v.to_i64("integer")?)),
        (B::Numeric, B::Int8) => unary::<Numeric, Int8, _>(|v: NumericValue| v.to_i64("bigint")),
        (B::Numeric, B::Float4) => unary::<Numeric, Float4, _>(|v: NumericValue| float_from_numeric(&v)),
        (B::Numeric, B::Float8) => unary::<Numeric, Float8, _>(|v: NumericValue| match v.to_f64()? {
            0.0 if !v.is_zero() => Err(SqlError::new(
                state::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("\"{v}\" is out of range for type double precision"),
            )),
            value => Ok(value),
        }),
        (B::Date, B::Timestamp) => unary::<Date, Timestamp, _>(datetime::date_to_timestamp),
        (B::Timestamp, B::Date) => unary::<Timestamp, Date, _>(|v| Ok(datetime::timestamp_to_date(v))),
        (B::Json, B::Jsonb) => unary::<Text, Text, _>(|v: &str| json::to_jsonb(v)),
        (B::Jsonb, B::Json) => unary::<Text, Text, _>(|v: &str| Ok(v.to_string())),
        (B::Jsonb, B::Bool | B::Numeric | B::Int2 | B::Int4 | B::Int8 | B::Float4 | B::Float8) => {
            return jsonb_scalar(to);
        }
        (B::Time, B::Interval) => unary::<Int8, Interval, _>(|v| Ok(IntervalValue::new(0, 0, v))),
        (B::Interval, B::Time) => unary::<Interval, Int8, _>(|v: IntervalValue| Ok(v.micros.rem_euclid(datetime::DAY))),
        (B::Timetz, B::Time) => unary::<TimeTz, Int8, _>(|v: TimeTzValue| Ok(v.micros)),
        (B::Timestamp, B::Time) => {
            unary::<Timestamp, Int8, _>(|v| Nullable(Ok(datetime::is_finite(v).then(|| v.rem_euclid(datetime::DAY)))))
        }
        (B::Time, B::Timetz) | (B::Timestamptz, B::Time | B::Timetz) => {
            return Ok((zoned(from, to), Stability::Stable));
        }
        (B::Char, B::Text | B::Varchar | B::Name | B::SingleChar) => {
            let single = to.base == B::SingleChar;
            unary::<Text, Text, _>(move |v: &str| {
                Ok(if single { length::single_char(v) } else { v.trim_end_matches(' ').to_string() })
            })
        }
        (B::Text | B::Varchar, B::Name) => unary::<Text, Text, _>(|v: &str| Ok(length::name(v).to_string())),
        (B::Text | B::Varchar | B::Name, B::SingleChar) => unary::<Text, Text, _>(|v: &str| Ok(length::single_char(v))),
        (B::SingleChar, B::Text | B::Varchar | B::Char | B::Name) => {
            unary::<Text, Text, _>(|v: &str| Ok(length::shown_single_char(v).into_owned()))
        }
        (B::Name, B::Char) => unary::<Text, Text, _>(|v: &str| Ok(v.to_string())),
        (B::Bool, B::Text | B::Varchar | B::Char) => {
            unary::<Bool, Text, _>(|v| Ok(if v { "true" } else { "false" }.to_string()))
        }
        (B::Text | B::Varchar, B::Regclass) => {
            let kernel: Kernel = Arc::new(|call: &Call<'_>| {
                let context = call.context()?;
                let search_path = context.settings.search_path();
                map::<Text, Int8, _>(call, |name: &str| context.catalog.relation_oid(name, search_path))
            });
            return Ok((kernel, Stability::Stable));
        }
        (B::Date, B::Timestamptz) => return Ok((zoned(from, to), Stability::Stable)),
        (B::Timestamp, B::Timestamptz) | (B::Timestamptz, B::Timestamp | B::Date) => {
            return Ok((zoned(from, to), Stability::Stable));
        }
        _ => {
            let depends = [from.base, to.base].iter().any(|base| {
                matches!(base, B::Timestamptz | B::Timestamp | B::Date | B::Time | B::Timetz) || base.is_object_name()
            });
            // Parsing dates depends on 'now' and the zone. Writing times depends on nothing.
            let writes_plain = matches!(from.base, B::Time | B::Timetz);
            // The text of intervals, floats and bytea depends on the session's settings.
            let depends = depends || matches!(from.base, B::Interval | B::Float4 | B::Float8 | B::Bytea);
            let stability = if depends && !writes_plain { Stability::Stable } else { Stability::Immutable };
            return Ok((text_kernel(from, to), stability));
        }
    };
    Ok((immutable, Stability::Immutable))
}

/// Casts a jsonb number or boolean. Errors: 22023 for other jsonb, null included.
fn jsonb_scalar(to: SqlType) -> Result<(Kernel, Stability)> {
    // The cast goes through numeric, as in PostgreSQL.
    let convert = if to.is_number() && to != SqlType::NUMERIC { Some(kernel(SqlType::NUMERIC, to)?.0) } else { None };
    let boolean = to == SqlType::BOOL;
    let name = to.name();
    let read: Kernel = Arc::new(move |call: &Call<'_>| {
        let texts: Column<'_, Text> = call.column(0)?;
        let mut builder = ColumnBuilder::new(if boolean { SqlType::BOOL } else { SqlType::NUMERIC }, call.rows);
        for row in 0..call.rows {
            let Some(text) = texts.get(row)? else {
                builder.append_null();
                continue;
            };
            let node = json::parse(text)?;
            match (&node.value, boolean) {
                (json::Value::Bool(value), true) => builder.append_datum(&(*value).into())?,
                (json::Value::Number(digits), false) => {
                    builder.append(&ValueRef::Bytes(&NumericValue::parse(digits)?.to_bytes()))?;
                }
                _ => {
                    let kind = match node.type_name() {
                        "number" => "numeric",
                        other => other,
                    };
                    return Err(SqlError::new(
                        state::INVALID_PARAMETER_VALUE,
                        format!("cannot cast jsonb {kind} to type {name}"),
                    ));
                }
            }
        }
        let read = builder.finish()?;
        match &convert {
            Some(convert) => {
                let (arguments, types) = ([read], [SqlType::NUMERIC]);
                convert(&call.nested(&arguments, &types, call.result).with_rows(call.rows))
            }
            None => Ok(read),
        }
    });
    Ok((read, Stability::Immutable))
}

/// Casts that depend on the session's time zone.
fn zoned(from: SqlType, to: SqlType) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let zone = call.context()?.settings.time_zone();
        match (from.base, to.base) {
            (BaseType::Date, _) => map::<Date, Timestamptz, _>(call, |date| {
                let local = datetime::date_to_timestamp(date)?;
                datetime::checked_timestamp(datetime::to_utc(local, zone))
            }),
            (BaseType::Timestamp, _) => map::<Timestamp, Timestamptz, _>(call, |local| {
                datetime::checked_timestamp(datetime::to_utc(local, zone))
            }),
            (BaseType::Time, _) => {
                let now = call.context()?.transaction_time;
                let offset = datetime::offset_at_utc(zone, now) as i32;
                map::<Int8, TimeTz, _>(call, |micros| Ok(TimeTzValue { micros, offset }))
            }
            (_, BaseType::Time) => map::<Timestamptz, Int8, _>(call, |utc| {
                let time = datetime::to_local(utc, zone).rem_euclid(datetime::DAY);
                Nullable(Ok(datetime::is_finite(utc).then_some(time)))
            }),
            (_, BaseType::Timetz) => map::<Timestamptz, TimeTz, _>(call, |utc| {
                let micros = datetime::to_local(utc, zone).rem_euclid(datetime::DAY);
                let time = TimeTzValue { micros, offset: datetime::offset_at_utc(zone, utc) as i32 };
                Nullable(Ok(datetime::is_finite(utc).then_some(time)))
            }),
            (_, BaseType::Date) => {
                map::<Timestamptz, Date, _>(call, |utc| Ok(datetime::timestamp_to_date(datetime::to_local(utc, zone))))
            }
            _ => {
                map::<Timestamptz, Timestamp, _>(call, |utc| datetime::checked_timestamp(datetime::to_local(utc, zone)))
            }
        }
    })
}

/// Applies a strict function to the first argument, within a kernel.
pub(super) fn map<A: super::typed::SqlRead, R: SqlWrite, O: Outcome<R::Owned>>(
    call: &Call<'_>,
    function: impl for<'a> Fn(A::Item<'a>) -> O,
) -> Result<datafusion::arrow::array::ArrayRef> {
    let column: Column<'_, A> = call.column(0)?;
    let mut builder = R::builder(call.rows);
    for row in 0..call.rows {
        let value = column.get(row)?.map(|value| function(value).outcome()).transpose()?.flatten();
        R::append(&mut builder, value)?;
    }
    Ok(R::finish(builder))
}

/// A cast through the text form: of any type to a string, or of a string to any type.
fn text_kernel(from: SqlType, to: SqlType) -> Kernel {
    let to_string = !to.array && is_text(to);
    if to_string {
        return Arc::new(move |call: &Call<'_>| {
            // Casts whose text does not depend on the session also run while planning, without a statement's context.
            let context = call.context().ok();
            let context = match &context {
                Some(context) => context.text_output(),
                None => OutputContext::PLAIN,
            };
            let array = call.array(0)?;
            let mut builder = Text::builder(call.rows);
            for row in 0..call.rows {
                let at = Call::row_of(array, row);
                let value =
                    if array.is_null(at) { None } else { Some(output_string(from, array.as_ref(), at, &context)?) };
                Text::append(&mut builder, value)?;
            }
            Ok(Text::finish(builder))
        });
    }
    Arc::new(move |call: &Call<'_>| {
        let context = call.context().ok();
        let context = match &context {
            Some(context) => context.text_input(),
            None => InputContext::PLAIN,
        };
        let texts: Column<'_, Text> = call.column(0)?;
        let mut builder = ColumnBuilder::new(to, call.rows);
        for row in 0..call.rows {
            match texts.get(row)? {
                Some(text) => builder.append_datum(&input(to, text, &context)?)?,
                None => builder.append_null(),
            }
        }
        builder.finish()
    })
}

fn is_text(ty: SqlType) -> bool {
    matches!(ty.base, BaseType::Text | BaseType::Varchar | BaseType::Char | BaseType::Name)
}

/// Applies an element's cast to arrays.
fn array_kernel(inner: Kernel, from: SqlType, to: SqlType) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let arrays = call.array(0)?;
        let converted = ArrayValue::map_column(arrays.as_ref(), |elements| {
            let types = [from.element()];
            let arguments = [Arc::clone(elements)];
            inner(&call.nested(&arguments, &types, to.element()))
        })?;
        if arrays.len() == 1 && call.rows != 1 {
            let indices = datafusion::arrow::array::UInt32Array::from(vec![0u32; call.rows]);
            return Ok(datafusion::arrow::compute::take(&converted, &indices, None)?);
        }
        Ok(converted)
    })
}

/// The kernel that applies a type's modifier. `None` if the type has no modifier.
pub(super) fn modifier_kernel(to: SqlType, explicit: bool) -> Option<Kernel> {
    let modifier = to.modifier;
    let element = match to.base {
        BaseType::Varchar => {
            unary::<Text, Text, _>(move |v: &str| length::varchar(v, modifier, explicit).map(str::to_string))
        }
        BaseType::Char => {
            unary::<Text, Text, _>(move |v: &str| length::character(v, modifier, explicit).map(|v| v.into_owned()))
        }
        BaseType::Numeric => unary::<Numeric, Numeric, _>(move |v: NumericValue| v.apply_modifier(modifier)),
        BaseType::Interval => unary::<Interval, Interval, _>(move |v: IntervalValue| v.restrict(modifier)),
        BaseType::Time => unary::<Int8, Int8, _>(move |v: i64| Ok(time::round_time(v, modifier))),
        BaseType::Timetz => unary::<TimeTz, TimeTz, _>(move |v: TimeTzValue| {
            Ok(TimeTzValue { micros: time::round_time(v.micros, modifier), ..v })
        }),
        BaseType::Timestamp => {
            unary::<Timestamp, Timestamp, _>(move |v: i64| Ok(datetime::round_timestamp(v, modifier)))
        }
        BaseType::Timestamptz => {
            unary::<Timestamptz, Timestamptz, _>(move |v: i64| Ok(datetime::round_timestamp(v, modifier)))
        }
        _ => return None,
    };
    Some(if to.array { array_kernel(element, to, to) } else { element })
}
