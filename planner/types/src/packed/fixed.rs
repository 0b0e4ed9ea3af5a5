//! [`Fixed`]: builds an Arrow array of fixed-size values. Arrow's own builders finish through untyped data. For the
//! single row of a short statement, that costs more than everything else done to its values.

use arrow::array::{ArrowPrimitiveType, NullBufferBuilder, PrimitiveArray};
use arrow::datatypes::DataType;
use std::fmt;

/// Builds an Arrow array of fixed-size values.
pub struct Fixed<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    nulls: NullBufferBuilder,
    /// The data type, if it is not the type's default, as with a time zone.
    data_type: Option<DataType>,
}

impl<T: ArrowPrimitiveType> Fixed<T> {
    /// An empty builder with room for `capacity` values.
    pub fn with_capacity(capacity: usize) -> Self {
        Fixed { values: Vec::with_capacity(capacity), nulls: NullBufferBuilder::new(capacity), data_type: None }
    }

    /// Sets another data type with the same native values.
    pub fn with_data_type(self, data_type: DataType) -> Self {
        Fixed { data_type: Some(data_type), ..self }
    }

    /// Reserves room for `values` more values.
    pub fn reserve(&mut self, values: usize) {
        self.values.reserve(values);
    }

    /// Appends a value that is not NULL.
    pub fn append_value(&mut self, value: T::Native) {
        self.values.push(value);
        self.nulls.append_non_null();
    }

    /// Appends a NULL value.
    pub fn append_null(&mut self) {
        self.values.push(T::Native::default());
        self.nulls.append_null();
    }

    /// Finishes the array and clears the builder.
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
