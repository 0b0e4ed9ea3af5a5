//! Typed access to Arrow arrays, so that kernels are Rust functions over plain values.
//!
//! For example, `unary::<Text, Int4>(|text| Ok(text.len() as i32))` is a strict kernel: a NULL argument gives NULL.

use super::kernel::{Call, Kernel};
use datafusion::arrow::array::{
    Array, ArrayRef, BinaryArray, BinaryBuilder, BooleanArray, BooleanBuilder, Date32Array, Date32Builder,
    FixedSizeBinaryArray, FixedSizeBinaryBuilder, Float32Array, Float32Builder, Float64Array, Float64Builder,
    Int16Array, Int16Builder, Int32Array, Int32Builder, Int64Array, Int64Builder, LargeBinaryArray, LargeBinaryBuilder,
    StringArray, StringBuilder, StructArray, TimestampMicrosecondArray, TimestampMicrosecondBuilder,
};
use sql_error::interrupt;
use sql_error::value_size::{room_among, room_behind};
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::array::ArrayValue;
use types::numeric::Numeric as NumericValue;

/// A SQL type that kernels read.
pub trait SqlRead: 'static {
    /// The Arrow array that holds its values.
    type Array: Array + 'static;
    /// The Rust type of a borrowed value.
    type Item<'a>;
    /// The value at a row, which must not be NULL.
    fn item(array: &Self::Array, row: usize) -> Result<Self::Item<'_>>;
}

/// A SQL type that kernels write.
pub trait SqlWrite: 'static {
    /// The Rust type of an owned value.
    type Owned;
    /// The builder of the Arrow array.
    type Builder;
    /// An empty builder with room for `rows` values.
    fn builder(rows: usize) -> Self::Builder;
    /// Appends a value. `None` appends NULL.
    fn append(builder: &mut Self::Builder, value: Option<Self::Owned>) -> Result<()>;
    /// Finishes the builder and returns its array.
    fn finish(builder: Self::Builder) -> ArrayRef;
}

/// A column of arguments: one value per row, or one for all rows.
pub struct Column<'a, T: SqlRead> {
    array: &'a T::Array,
    broadcast: bool,
}

impl<'a, T: SqlRead> Column<'a, T> {
    /// Wraps an array. Errors: XX000 if it is of another type.
    pub fn new(array: &'a ArrayRef) -> Result<Self> {
        let typed = array
            .as_any()
            .downcast_ref::<T::Array>()
            .ok_or_else(|| SqlError::internal(format!("a function got {}", array.data_type())))?;
        Ok(Column { array: typed, broadcast: array.len() == 1 })
    }
    /// The value for a row. `None` for NULL.
    pub fn get(&self, row: usize) -> Result<Option<T::Item<'a>>> {
        let row = if self.broadcast { 0 } else { row };
        if self.array.is_null(row) { Ok(None) } else { T::item(self.array, row).map(Some) }
    }
}

macro_rules! copied {
    ($($(#[$doc:meta])* $name:ident: $value:ty, $array:ty, $builder:ty;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl SqlRead for $name {
            type Array = $array;
            type Item<'a> = $value;
            fn item(array: &$array, row: usize) -> Result<$value> {
                Ok(array.value(row))
            }
        }
        impl SqlWrite for $name {
            type Owned = $value;
            type Builder = $builder;
            fn builder(rows: usize) -> $builder {
                <$builder>::with_capacity(rows)
            }
            fn append(builder: &mut $builder, value: Option<$value>) -> Result<()> {
                builder.append_option(value);
                Ok(())
            }
            fn finish(mut builder: $builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
        }
    )*};
}

copied! {
    /// The SQL type bool.
    Bool: bool, BooleanArray, BooleanBuilder;
    /// The SQL type int2.
    Int2: i16, Int16Array, Int16Builder;
    /// The SQL type int4.
    Int4: i32, Int32Array, Int32Builder;
    /// The SQL types int8 and oid.
    Int8: i64, Int64Array, Int64Builder;
    /// The SQL type float4.
    Float4: f32, Float32Array, Float32Builder;
    /// The SQL type float8.
    Float8: f64, Float64Array, Float64Builder;
    /// The SQL type date, in days since 2000-01-01.
    Date: i32, Date32Array, Date32Builder;
    /// The SQL type timestamp, in microseconds since 2000-01-01.
    Timestamp: i64, TimestampMicrosecondArray, TimestampMicrosecondBuilder;
}

/// The SQL type timestamptz, in microseconds of UTC since 2000-01-01.
pub struct Timestamptz;
impl SqlRead for Timestamptz {
    type Array = TimestampMicrosecondArray;
    type Item<'a> = i64;
    fn item(array: &TimestampMicrosecondArray, row: usize) -> Result<i64> {
        Ok(array.value(row))
    }
}
impl SqlWrite for Timestamptz {
    type Owned = i64;
    type Builder = TimestampMicrosecondBuilder;
    fn builder(rows: usize) -> TimestampMicrosecondBuilder {
        TimestampMicrosecondBuilder::with_capacity(rows).with_data_type(types::SqlType::TIMESTAMPTZ.arrow())
    }
    fn append(builder: &mut TimestampMicrosecondBuilder, value: Option<i64>) -> Result<()> {
        builder.append_option(value);
        Ok(())
    }
    fn finish(mut builder: TimestampMicrosecondBuilder) -> ArrayRef {
        Arc::new(builder.finish())
    }
}

macro_rules! borrowed {
    ($($(#[$doc:meta])* $name:ident: $item:ty, $owned:ty, $array:ty, $builder:ty, $new:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl SqlRead for $name {
            type Array = $array;
            type Item<'a> = &'a $item;
            fn item(array: &$array, row: usize) -> Result<&$item> {
                Ok(array.value(row))
            }
        }
        impl SqlWrite for $name {
            type Owned = $owned;
            type Builder = $builder;
            fn builder(rows: usize) -> $builder {
                $new(rows)
            }
            fn append(builder: &mut $builder, value: Option<$owned>) -> Result<()> {
                match value {
                    Some(value) => {
                        room_among(builder.values_slice().len(), value.len())?;
                        builder.append_value(value);
                    }
                    None => builder.append_null(),
                }
                Ok(())
            }
            fn finish(mut builder: $builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
        }
    )*};
}

borrowed! {
    /// The SQL type bytea.
    Bytea: [u8], Vec<u8>, LargeBinaryArray, LargeBinaryBuilder, |rows| LargeBinaryBuilder::with_capacity(rows, rows * 16);
    /// The SQL type numeric as encoded bytes.
    NumericBytes: [u8], Vec<u8>, BinaryArray, BinaryBuilder, |rows| BinaryBuilder::with_capacity(rows, rows * 12);
}

/// The SQL type text and other string types.
pub struct Text;
impl SqlRead for Text {
    type Array = StringArray;
    type Item<'a> = &'a str;
    fn item(array: &StringArray, row: usize) -> Result<&str> {
        Ok(array.value(row))
    }
}
impl SqlWrite for Text {
    type Owned = String;
    type Builder = StringBuilder;
    fn builder(rows: usize) -> StringBuilder {
        StringBuilder::with_capacity(rows, rows * 16)
    }
    fn append(builder: &mut StringBuilder, value: Option<String>) -> Result<()> {
        match value {
            Some(value) => {
                room_behind(builder.values_slice().len(), value.len())?;
                builder.append_value(value);
            }
            None => builder.append_null(),
        }
        Ok(())
    }
    fn finish(mut builder: StringBuilder) -> ArrayRef {
        Arc::new(builder.finish())
    }
}

/// The SQL type numeric, decoded.
pub struct Numeric;
impl SqlRead for Numeric {
    type Array = BinaryArray;
    type Item<'a> = NumericValue;
    fn item(array: &BinaryArray, row: usize) -> Result<NumericValue> {
        NumericValue::from_bytes(array.value(row))
    }
}
impl SqlWrite for Numeric {
    type Owned = NumericValue;
    type Builder = (BinaryBuilder, Vec<u8>);
    fn builder(rows: usize) -> Self::Builder {
        (BinaryBuilder::with_capacity(rows, rows * 12), Vec::new())
    }
    fn append((builder, scratch): &mut Self::Builder, value: Option<NumericValue>) -> Result<()> {
        match value {
            Some(value) => {
                value.check_size()?;
                scratch.clear();
                value.write_bytes(scratch);
                builder.append_value(scratch);
            }
            None => builder.append_null(),
        }
        Ok(())
    }
    fn finish((mut builder, _): Self::Builder) -> ArrayRef {
        Arc::new(builder.finish())
    }
}

macro_rules! of_bytes {
    ($($(#[$doc:meta])* $name:ident: $value:ty;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl SqlRead for $name {
            type Array = BinaryArray;
            type Item<'a> = $value;
            fn item(array: &BinaryArray, row: usize) -> Result<$value> {
                <$value>::from_bytes(array.value(row))
            }
        }
        impl SqlWrite for $name {
            type Owned = $value;
            type Builder = BinaryBuilder;
            fn builder(rows: usize) -> BinaryBuilder {
                BinaryBuilder::with_capacity(rows, rows * 18)
            }
            fn append(builder: &mut BinaryBuilder, value: Option<$value>) -> Result<()> {
                builder.append_option(value.map(<$value>::to_bytes));
                Ok(())
            }
            fn finish(mut builder: BinaryBuilder) -> ArrayRef {
                Arc::new(builder.finish())
            }
        }
    )*};
}

of_bytes! {
    /// The SQL type interval.
    Interval: types::interval::Interval;
    /// The SQL type timetz.
    TimeTz: types::time::TimeTz;
}

/// The SQL type uuid.
pub struct Uuid;
impl SqlRead for Uuid {
    type Array = FixedSizeBinaryArray;
    type Item<'a> = &'a [u8];
    fn item(array: &FixedSizeBinaryArray, row: usize) -> Result<&[u8]> {
        Ok(array.value(row))
    }
}
impl SqlWrite for Uuid {
    type Owned = [u8; 16];
    type Builder = FixedSizeBinaryBuilder;
    fn builder(rows: usize) -> FixedSizeBinaryBuilder {
        FixedSizeBinaryBuilder::with_capacity(rows, 16)
    }
    fn append(builder: &mut FixedSizeBinaryBuilder, value: Option<[u8; 16]>) -> Result<()> {
        match value {
            Some(value) => builder.append_value(value)?,
            None => builder.append_null(),
        }
        Ok(())
    }
    fn finish(mut builder: FixedSizeBinaryBuilder) -> ArrayRef {
        Arc::new(builder.finish())
    }
}

/// An array of any element type.
pub struct List;
impl SqlRead for List {
    type Array = StructArray;
    type Item<'a> = ArrayValue;
    fn item(array: &StructArray, row: usize) -> Result<ArrayValue> {
        ArrayValue::at(array, row)
    }
}

/// The result of a kernel's function: a value, or an optional one.
pub trait Outcome<T> {
    /// The result with `None` for NULL.
    fn outcome(self) -> Result<Option<T>>;
}

impl<T> Outcome<T> for Result<T> {
    fn outcome(self) -> Result<Option<T>> {
        self.map(Some)
    }
}

/// A result that may be NULL for non-NULL arguments.
pub struct Nullable<T>(pub Result<Option<T>>);

impl<T> Outcome<T> for Nullable<T> {
    fn outcome(self) -> Result<Option<T>> {
        self.0
    }
}

/// Number of rows between two checks for cancellation.
const ROWS_BETWEEN_CHECKS: usize = 64;

macro_rules! strict {
    ($($(#[$doc:meta])* $name:ident($($argument:ident $index:tt),*);)*) => {$(
        $(#[$doc])*
        #[allow(non_snake_case)]
        pub fn $name<$($argument: SqlRead,)* R: SqlWrite, O: Outcome<R::Owned>>(
            function: impl for<'a> Fn($($argument::Item<'a>),*) -> O + Send + Sync + 'static,
        ) -> Kernel {
            Arc::new(move |call: &Call<'_>| {
                $(let $argument = call.column::<$argument>($index)?;)*
                let mut builder = R::builder(call.rows);
                for row in 0..call.rows {
                    if row % ROWS_BETWEEN_CHECKS == ROWS_BETWEEN_CHECKS - 1 {
                        interrupt::check()?;
                    }
                    let value = match ($($argument.get(row)?,)*) {
                        ($(Some($argument),)*) => function($($argument),*).outcome()?,
                        _ => None,
                    };
                    R::append(&mut builder, value)?;
                }
                Ok(R::finish(builder))
            })
        }
    )*};
}

strict! {
    /// Makes a strict kernel of one argument.
    unary(A 0);
    /// Makes a strict kernel of two arguments.
    binary(A 0, B 1);
    /// Makes a strict kernel of three arguments.
    ternary(A 0, B 1, C 2);
    /// Makes a strict kernel of four arguments.
    quaternary(A 0, B 1, C 2, D 3);
}
