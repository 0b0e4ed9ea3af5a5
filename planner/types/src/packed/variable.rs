//! [`Variable`]: builds an Arrow array of texts or bytes; see [`Fixed`](super::fixed::Fixed). All appended bytes are
//! validated at once when the array is made.

use arrow::array::{GenericByteArray, NullBufferBuilder};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::ByteArrayType;
use sql_error::Result;
use sql_error::value_size::{room_among, too_many};
use std::fmt;
use std::marker::PhantomData;

/// Builds an Arrow array of texts or bytes.
pub struct Variable<T> {
    /// Start of each value, and the end of the last one.
    offsets: Vec<i32>,
    values: Vec<u8>,
    nulls: NullBufferBuilder,
    of: PhantomData<T>,
}

impl<T: ByteArrayType<Offset = i32>> Variable<T> {
    /// An empty builder with room for `capacity` values of `bytes` bytes in total.
    pub fn with_capacity(capacity: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(capacity + 1);
        offsets.push(0);
        Variable {
            offsets,
            values: Vec::with_capacity(bytes),
            nulls: NullBufferBuilder::new(capacity),
            of: PhantomData,
        }
    }

    /// Reserves room for `values` more values.
    pub fn reserve_values(&mut self, values: usize) {
        self.offsets.reserve(values);
    }

    /// Reserves room for `bytes` bytes in total.
    pub fn reserve(&mut self, bytes: usize) {
        self.values.reserve(bytes.saturating_sub(self.values.len()));
    }

    /// Appends a value. Errors: 54000 if the array would exceed its maximal size.
    pub fn append_value(&mut self, value: &[u8]) -> Result<()> {
        self.append_padded(value, 0)
    }

    /// Appends a value and `spaces` spaces. Errors: 54000 if the array would exceed its maximal size.
    pub fn append_padded(&mut self, value: &[u8], spaces: usize) -> Result<()> {
        room_among(self.values.len(), value.len().saturating_add(spaces))?;
        let end = self.values.len().saturating_add(value.len()).saturating_add(spaces);
        let offset = i32::try_from(end).map_err(|_| too_many())?;
        self.values.extend_from_slice(value);
        self.values.resize(end, b' ');
        self.offsets.push(offset);
        self.nulls.append_non_null();
        Ok(())
    }

    /// Appends a NULL value.
    pub fn append_null(&mut self) {
        self.offsets.push(self.offsets.last().copied().unwrap_or(0));
        self.nulls.append_null();
    }

    /// Finishes the array and clears the builder. `None` if the bytes are not valid text.
    pub fn finish(&mut self) -> Option<GenericByteArray<T>> {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        let values = std::mem::take(&mut self.values);
        GenericByteArray::try_new(OffsetBuffer::new(offsets.into()), values.into(), self.nulls.finish()).ok()
    }
}

impl<T> fmt::Debug for Variable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable").field("bytes", &self.values.len()).finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use arrow::array::{BinaryArray, StringArray};
    use arrow::datatypes::{BinaryType, Utf8Type};

    #[test]
    fn values_and_nulls_come_out_as_they_went_in_time_and_again() {
        let mut texts = Variable::<Utf8Type>::with_capacity(1, 1);
        texts.append_value("ä".as_bytes()).unwrap();
        texts.append_null();
        texts.append_value(b"").unwrap();
        assert_eq!(texts.finish().unwrap(), StringArray::from(vec![Some("ä"), None, Some("")]));
        assert_eq!(texts.finish().unwrap(), StringArray::from(Vec::<&str>::new()));
        let mut bytes = Variable::<BinaryType>::with_capacity(0, 0);
        bytes.append_value(&[0xff]).unwrap();
        assert_eq!(bytes.finish().unwrap(), BinaryArray::from(vec![&[0xff_u8][..]]));
    }

    #[test]
    fn bytes_that_are_no_text_are_found_also_where_they_are_one_together() {
        let whole = "ä".as_bytes();
        for parts in [vec![&[0xff_u8][..]], vec![&whole[..1], &whole[1..]]] {
            let mut texts = Variable::<Utf8Type>::with_capacity(2, 2);
            parts.iter().for_each(|part| texts.append_value(part).unwrap());
            assert!(texts.finish().is_none());
            texts.append_value(whole).unwrap();
            assert_eq!(texts.finish().unwrap(), StringArray::from(vec!["ä"]));
        }
    }
}
