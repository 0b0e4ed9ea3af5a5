//! The Arrow form of array columns, and the byte encoding of their shapes.

use super::{ArrayValue, Dimension, MOST_DIMENSIONS};
use crate::{Datum, SqlType};
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, ListArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;

/// Column positions within the struct.
const ELEMENTS: usize = 0;
const SHAPE: usize = 1;

/// The field of the list's items, which are nullable.
fn item(element: DataType) -> FieldRef {
    Arc::new(Field::new_list_field(element, true))
}

fn fields(element: DataType) -> Fields {
    Fields::from(vec![
        Field::new("elements", DataType::List(item(element)), true),
        Field::new("shape", DataType::Binary, true),
    ])
}

/// The Arrow type of arrays whose elements have the Arrow type `element`.
pub fn data_type(element: DataType) -> DataType {
    DataType::Struct(fields(element))
}

fn foreign() -> SqlError {
    SqlError::internal("an array that does not stand as one")
}

fn parts(array: &StructArray) -> Result<(&ListArray, &BinaryArray)> {
    let (Some(elements), Some(shapes)) = (array.columns().get(ELEMENTS), array.columns().get(SHAPE)) else {
        return Err(foreign());
    };
    match (elements.as_list_opt::<i32>(), shapes.as_binary_opt::<i32>()) {
        (Some(elements), Some(shapes)) => Ok((elements, shapes)),
        _ => Err(foreign()),
    }
}

/// Builds arrays of the ordinary shape from the lists of their elements.
pub fn of_elements(lists: ListArray) -> Result<ArrayRef> {
    let (_, offsets, values, nulls) = lists.into_parts();
    assembled(offsets, values, nulls, None)
}

fn assembled(
    offsets: OffsetBuffer<i32>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
    shapes: Option<ArrayRef>,
) -> Result<ArrayRef> {
    let rows = offsets.len() - 1;
    let fields = fields(values.data_type().clone());
    let lists: ArrayRef = Arc::new(ListArray::try_new(item(values.data_type().clone()), offsets, values, None)?);
    let shapes = shapes.unwrap_or_else(|| Arc::new(BinaryArray::new_null(rows)));
    Ok(Arc::new(StructArray::try_new(fields, vec![lists, shapes], nulls)?))
}

/// The elements of each array as a list; NULL for NULL.
pub fn elements_of(array: &dyn Array) -> Result<ListArray> {
    let array = array.as_struct_opt().ok_or_else(foreign)?;
    let (field, offsets, values, nulls) = parts(array)?.0.clone().into_parts();
    Ok(ListArray::try_new(field, offsets, values, NullBuffer::union(nulls.as_ref(), array.nulls()))?)
}

impl ArrayValue {
    /// The array at a row, which is not NULL. Errors: XX000 when the column is none of arrays.
    pub fn at(array: &StructArray, row: usize) -> Result<Self> {
        let (lists, shapes) = parts(array)?;
        let elements = lists.value(row);
        let shape = if shapes.is_null(row) { None } else { Some(read_dimensions(shapes.value(row))?.into()) };
        Ok(ArrayValue { elements, shape })
    }
    /// The array of a datum; `None` for NULL. Errors: XX000 when it is none.
    pub fn of(datum: &Datum) -> Result<Option<Self>> {
        match datum {
            Datum::Struct(array) if array.is_null(0) => Ok(None),
            Datum::Struct(array) => Self::at(array, 0).map(Some),
            Datum::Null => Ok(None),
            _ => Err(foreign()),
        }
    }
    /// Converts the array to a datum of a struct with one row.
    pub fn into_datum(self) -> Result<Datum> {
        let offsets = OffsetBuffer::from_lengths([self.elements.len()]);
        let shapes = self.shape.as_deref().map(|dimensions| {
            let mut bytes = Vec::new();
            push_dimensions(dimensions, &mut bytes);
            Arc::new(BinaryArray::from(vec![bytes.as_slice()])) as ArrayRef
        });
        let array = assembled(offsets, self.elements, None, shapes)?;
        Ok(Datum::Struct(Arc::new(array.as_struct_opt().ok_or_else(foreign)?.clone())))
    }
    /// A one-dimensional array of `values`, which are of type `element`, as a datum.
    pub fn datum_of(values: &[Datum], element: SqlType) -> Result<Datum> {
        Self::from(values_array(values, element)?).into_datum()
    }
    /// Applies `change` to the elements of all arrays in a column at once. The shapes stay.
    pub fn map_column(array: &dyn Array, change: impl FnOnce(&ArrayRef) -> Result<ArrayRef>) -> Result<ArrayRef> {
        let array = array.as_struct_opt().ok_or_else(foreign)?;
        let (lists, _) = parts(array)?;
        let values = change(lists.values())?;
        let shapes = array.columns().get(SHAPE).cloned();
        assembled(lists.offsets().clone(), values, array.nulls().cloned(), shapes)
    }
}

/// Converts values of one type to an Arrow array.
pub fn values_array(values: &[Datum], element: SqlType) -> Result<ArrayRef> {
    if values.is_empty() {
        return Ok(arrow::array::new_empty_array(&element.arrow()));
    }
    Ok(Datum::iter_to_array(values.iter().cloned())?)
}

/// Builds a column of arrays. The caller collects their elements in a builder of its own.
#[derive(Debug)]
pub struct ShapesBuilder {
    ends: Vec<i32>,
    valid: Vec<bool>,
    shapes: BinaryBuilder,
    scratch: Vec<u8>,
}

impl ShapesBuilder {
    /// An empty builder with room for `capacity` arrays.
    pub fn new(capacity: usize) -> Self {
        ShapesBuilder {
            ends: Vec::with_capacity(capacity),
            valid: Vec::with_capacity(capacity),
            shapes: BinaryBuilder::with_capacity(capacity, 0),
            scratch: Vec::new(),
        }
    }
    fn end(&mut self, count: usize) -> Result<()> {
        let before = self.ends.last().copied().unwrap_or(0);
        let end = i32::try_from(count).ok().and_then(|count| before.checked_add(count));
        let message = "arrays of one batch have too many elements";
        self.ends.push(end.ok_or_else(|| SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message))?);
        Ok(())
    }
    /// Appends a NULL array to the column.
    pub fn append_null(&mut self) {
        self.ends.push(self.ends.last().copied().unwrap_or(0));
        self.valid.push(false);
        self.shapes.append_null();
    }
    /// Appends an array of the next `count` elements, with the shape of `like`.
    pub fn append(&mut self, count: usize, like: &ArrayValue) -> Result<()> {
        match &like.shape {
            Some(shape) => {
                let mut scratch = std::mem::take(&mut self.scratch);
                scratch.clear();
                push_dimensions(shape, &mut scratch);
                self.append_bytes(count, Some(&scratch))?;
                self.scratch = scratch;
                Ok(())
            }
            None => self.append_bytes(count, None),
        }
    }
    /// Appends an array of the next `count` elements, with a shape as bytes. `None` is the ordinary shape.
    pub fn append_bytes(&mut self, count: usize, shape: Option<&[u8]>) -> Result<()> {
        self.end(count)?;
        self.valid.push(true);
        self.shapes.append_option(shape);
        Ok(())
    }
    /// Ends the column: splits `elements` among the appended arrays. The builder is empty afterwards.
    pub fn finish(&mut self, elements: ArrayRef) -> Result<ArrayRef> {
        let mut offsets = Vec::with_capacity(self.ends.len() + 1);
        offsets.push(0);
        offsets.append(&mut self.ends);
        let nulls = NullBuffer::from(std::mem::take(&mut self.valid));
        assembled(OffsetBuffer::new(offsets.into()), elements, Some(nulls), Some(Arc::new(self.shapes.finish())))
    }
}

/// Appends the number of dimensions (one byte), their lengths and their lower bounds (four bytes each).
pub(super) fn push_dimensions(dimensions: &[Dimension], out: &mut Vec<u8>) {
    out.push(dimensions.len() as u8);
    for dimension in dimensions {
        out.extend_from_slice(&dimension.length.to_be_bytes());
    }
    for dimension in dimensions {
        out.extend_from_slice(&(dimension.lower as u32 ^ 1 << 31).to_be_bytes());
    }
}

/// Length in bytes of a shape of `dimensions` dimensions. `None` if an array cannot have that many.
pub fn shape_length(dimensions: u8) -> Option<usize> {
    (usize::from(dimensions) <= MOST_DIMENSIONS).then(|| 1 + usize::from(dimensions) * 8)
}

/// Reads the bytes that [`push_dimensions`] wrote.
fn read_dimensions(bytes: &[u8]) -> Result<Vec<Dimension>> {
    let bad = || SqlError::new(state::DATA_CORRUPTED, "invalid bytes of an array's shape");
    let (count, rest) = bytes.split_first().ok_or_else(bad)?;
    if shape_length(*count) != Some(bytes.len()) {
        return Err(bad());
    }
    let (lengths, lowers) = rest.split_at_checked(usize::from(*count) * 4).ok_or_else(bad)?;
    let number = |bytes: &[u8]| bytes.try_into().map(u32::from_be_bytes).map_err(|_| bad());
    let pairs = lengths.chunks_exact(4).zip(lowers.chunks_exact(4));
    pairs
        .map(|(length, lower)| {
            Ok(Dimension { length: number(length)? as i32, lower: (number(lower)? ^ 1 << 31) as i32 })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_where_they_are_looked_for() {
        let fields = fields(DataType::Int32);
        assert_eq!(fields.iter().position(|field| field.name() == "elements"), Some(ELEMENTS));
        assert_eq!(fields.iter().position(|field| field.name() == "shape"), Some(SHAPE));
    }
}
