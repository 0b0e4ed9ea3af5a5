//! [`Fixed`]: an Arrow array of values of one size, under construction. Arrow's own builders end by way of untyped data, which for the
//! one row of a short statement costs more than all else that is done to its values.

use arrow::array::{ArrowPrimitiveType, NullBufferBuilder, PrimitiveArray};
use arrow::datatypes::DataType;
use std::fmt;

/// See the head of the module.
pub struct Fixed<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    nulls: NullBufferBuilder,
    /// Where it is another than the type's own: a time zone.
    data_type: Option<DataType>,
}

impl<T: ArrowPrimitiveType> Fixed<T> {
    /// An empty one with room for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Self {
        Fixed { values: Vec::with_capacity(capacity), nulls: NullBufferBuilder::new(capacity), data_type: None }
    }

    /// The same, of another type with the same values.
    pub fn with_data_type(self, data_type: DataType) -> Self {
        Fixed { data_type: Some(data_type), ..self }
    }

    /// Makes room for so many more values.
    pub fn reserve(&mut self, values: usize) {
        self.values.reserve(values);
    }

    /// Appends a value.
    pub fn append_value(&mut self, value: T::Native) {
        self.values.push(value);
        self.nulls.append_non_null();
    }

    /// Appends NULL.
    pub fn append_null(&mut self) {
        self.values.push(T::Native::default());
        self.nulls.append_null();
    }

    /// The array; this is empty afterwards.
    pub fn finish(&mut self) -> PrimitiveArray<T> {
        let array = PrimitiveArray::new(std::mem::take(&mut self.values).into(), self.nulls.finish());
        match &self.data_type {
            Some(data_type) => array.with_data_type(data_type.clone()),
            None => array,
        }
    }
}

impl<T: ArrowPrimitiveType> fmt::Debug for Fixed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixed").field("values", &self.values.len()).finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use arrow::array::{Int32Array, TimestampMicrosecondArray};
    use arrow::datatypes::{Int32Type, TimestampMicrosecondType};

    #[test]
    fn values_and_nulls_come_out_as_they_went_in_time_and_again() {
        let mut builder = Fixed::<Int32Type>::with_capacity(1);
        builder.append_value(1);
        builder.append_null();
        assert_eq!(builder.finish(), Int32Array::from(vec![Some(1), None]));
        assert_eq!(builder.finish(), Int32Array::from(Vec::<i32>::new()));
        builder.append_value(2);
        assert_eq!(builder.finish(), Int32Array::from(vec![2]));
    }

    #[test]
    fn a_time_zone_stays() {
        let zoned = DataType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, Some("+00:00".into()));
        let mut builder = Fixed::<TimestampMicrosecondType>::with_capacity(1).with_data_type(zoned.clone());
        for value in [5, 6] {
            builder.append_value(value);
            let expected = TimestampMicrosecondArray::from(vec![value]).with_data_type(zoned.clone());
            assert_eq!(builder.finish(), expected);
        }
    }
}
