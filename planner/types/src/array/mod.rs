//! [`ArrayValue`]: a value of an array type. It holds the elements in row-major order and a shape (dimensions and lower
//! bounds).
//!
//! In Arrow, an array is a struct of two columns. `elements` is a list in the element's Arrow form. `shape` is bytes,
//! and NULL for the ordinary shape: one dimension that begins with 1, or no elements. So a plain array costs as much as
//! a list. Equal arrays have equal structs wherever equal elements have one form. No other module knows this form:
//! functions see elements and dimensions.

mod form;
pub mod literal;
mod subscript;

pub use form::{ShapesBuilder, data_type, elements_of, of_elements};
pub use form::{shape_length, values_array};
pub use subscript::Span;

use arrow::array::{Array, ArrayRef};
use sql_error::{Result, SqlError, state};
use std::ops::Deref;

/// Most dimensions of an array.
pub const MOST_DIMENSIONS: usize = 6;
/// Most elements of an array, as in PostgreSQL.
pub const MOST_ELEMENTS: usize = 134_217_727;

/// One dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Number of elements along this dimension.
    pub length: i32,
    /// Subscript of the first element.
    pub lower: i32,
}

impl Dimension {
    /// A dimension of `length` elements whose lower bound is 1.
    pub fn of(length: usize) -> Self {
        Dimension { length: i32::try_from(length).unwrap_or(i32::MAX), lower: 1 }
    }
    /// Subscript of the last element.
    pub fn upper(&self) -> i32 {
        self.lower.wrapping_add(self.length).wrapping_sub(1)
    }
}

/// An array value. It derefs to its elements, in row-major order: the last subscript varies first.
#[derive(Clone, Debug)]
pub struct ArrayValue {
    elements: ArrayRef,
    /// `None` is the ordinary shape.
    shape: Option<Box<[Dimension]>>,
}

/// Makes an array of the ordinary shape: one dimension that begins with 1, or none if it is empty.
impl From<ArrayRef> for ArrayValue {
    fn from(elements: ArrayRef) -> Self {
        ArrayValue { elements, shape: None }
    }
}

impl Deref for ArrayValue {
    type Target = ArrayRef;
    fn deref(&self) -> &ArrayRef {
        &self.elements
    }
}

impl ArrayValue {
    /// An array of these dimensions, or of none if there are no elements. Errors: as [`count`], and XX000 if the
    /// dimensions do not hold exactly these elements.
    pub fn new(elements: ArrayRef, dimensions: &[Dimension]) -> Result<Self> {
        if count(dimensions)? != elements.len() {
            return Err(SqlError::internal("an array whose elements do not fill its dimensions"));
        }
        let ordinary = elements.is_empty() || matches!(dimensions, [Dimension { lower: 1, .. }]);
        Ok(ArrayValue { elements, shape: (!ordinary).then(|| dimensions.into()) })
    }
    /// An array of the same shape with other elements. Errors: XX000 if their number differs.
    pub fn with_elements(&self, elements: ArrayRef) -> Result<Self> {
        if elements.len() != self.elements.len() {
            return Err(SqlError::internal("an array with other elements than it had"));
        }
        Ok(ArrayValue { elements, shape: self.shape.clone() })
    }
    /// The elements in row-major order.
    pub fn elements(&self) -> &ArrayRef {
        &self.elements
    }
    /// Takes the elements and drops the shape.
    pub fn into_elements(self) -> ArrayRef {
        self.elements
    }
    /// Whether the array has the ordinary shape: one dimension that begins with 1, or no elements.
    pub fn is_ordinary(&self) -> bool {
        self.shape.is_none()
    }
    /// Number of dimensions; 0 for an array without elements.
    pub fn dimension_count(&self) -> usize {
        match &self.shape {
            Some(shape) => shape.len(),
            None => usize::from(!self.elements.is_empty()),
        }
    }
    /// The dimension at a position, counted from 0.
    pub fn dimension(&self, at: usize) -> Option<Dimension> {
        match &self.shape {
            Some(shape) => shape.get(at).copied(),
            None => (at == 0 && !self.elements.is_empty()).then(|| Dimension::of(self.elements.len())),
        }
    }
    /// All dimensions, outermost first.
    pub fn dimensions(&self) -> Vec<Dimension> {
        match &self.shape {
            Some(shape) => shape.to_vec(),
            None => self.dimension(0).into_iter().collect(),
        }
    }
    /// Number of elements in one slot of the outermost dimension.
    pub fn stride(&self) -> usize {
        match self.dimension(0) {
            Some(outer) => self.elements.len() / (outer.length.max(1) as usize),
            None => 0,
        }
    }
    /// Appends the shape as bytes: the number of dimensions, their lengths, their lower bounds. The order of arrays
    /// compares these after the elements (manual, 9.19).
    pub fn push_shape(&self, out: &mut Vec<u8>) {
        form::push_dimensions(&self.dimensions(), out);
    }
}

/// The error 54000 for `count` dimensions, which are too many.
pub fn too_many_dimensions(count: usize) -> SqlError {
    let message = format!("number of array dimensions ({count}) exceeds the maximum allowed ({MOST_DIMENSIONS})");
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message).of_values()
}

/// The error 54000 for too many elements.
pub fn too_large() -> SqlError {
    let message = format!("array size exceeds the maximum allowed ({MOST_ELEMENTS})");
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message)
}

/// The error 2202E for a subscript or shape that is not allowed.
pub fn subscript_error(message: impl Into<String>) -> SqlError {
    SqlError::new("2202E", message)
}

/// Number of elements that the dimensions hold. Errors: 54000 for too many of either, and for bounds beyond int4.
pub fn count(dimensions: &[Dimension]) -> Result<usize> {
    if dimensions.len() > MOST_DIMENSIONS {
        return Err(too_many_dimensions(dimensions.len()));
    }
    let mut count = usize::from(!dimensions.is_empty());
    for dimension in dimensions {
        let length = usize::try_from(dimension.length).map_err(|_| too_large())?;
        count = count.checked_mul(length).filter(|count| *count <= MOST_ELEMENTS).ok_or_else(too_large)?;
    }
    match dimensions.iter().find(|dimension| dimension.lower.checked_add(dimension.length).is_none()) {
        Some(beyond) => {
            let message = format!("array lower bound is too large: {}", beyond.lower);
            Err(SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message))
        }
        None => Ok(count),
    }
}

#[cfg(test)]
mod tests;
