//! [`ArrayValue`]: a value of an array type: its elements, row by row, and its shape (dimensions and lower bounds).
//!
//! In Arrow an array is a struct of two columns: `elements`, a list in the element's Arrow form, and `shape`, bytes that are
//! NULL for the ordinary shape (one dimension that begins with 1, or no elements). So plain arrays cost what a list costs, and
//! equal arrays have equal structs wherever equal elements have one form. Nothing else knows this form: functions see
//! elements and dimensions.

mod form;
pub mod literal;
mod subscript;

pub use form::{ShapesBuilder, data_type, elements_of, of_elements};
pub use form::{shape_length, values_array};
pub use subscript::Span;

use arrow::array::{Array, ArrayRef};
use sql_error::{Result, SqlError, state};
use std::ops::Deref;

/// Dimensions of an array, at most.
pub const MOST_DIMENSIONS: usize = 6;
/// Elements of an array, at most, as in PostgreSQL.
pub const MOST_ELEMENTS: usize = 134_217_727;

/// One dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// How many places it has.
    pub length: i32,
    /// The subscript of the first place.
    pub lower: i32,
}

impl Dimension {
    /// One that begins with 1.
    pub fn of(length: usize) -> Self {
        Dimension { length: i32::try_from(length).unwrap_or(i32::MAX), lower: 1 }
    }
    /// The subscript of the last place.
    pub fn upper(&self) -> i32 {
        self.lower.wrapping_add(self.length).wrapping_sub(1)
    }
}

/// An array: derefs to its elements, of which the last subscript varies first.
#[derive(Clone, Debug)]
pub struct ArrayValue {
    elements: ArrayRef,
    /// None: the ordinary shape.
    shape: Option<Box<[Dimension]>>,
}

/// An array of one dimension that begins with 1, or an empty one.
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
    /// An array of these dimensions; without elements it has none. Errors: as [`count`], XX000 when they hold another number
    /// of elements.
    pub fn new(elements: ArrayRef, dimensions: &[Dimension]) -> Result<Self> {
        if count(dimensions)? != elements.len() {
            return Err(SqlError::internal("an array whose elements do not fill its dimensions"));
        }
        let ordinary = elements.is_empty() || matches!(dimensions, [Dimension { lower: 1, .. }]);
        Ok(ArrayValue { elements, shape: (!ordinary).then(|| dimensions.into()) })
    }
    /// The same shape with other elements. Errors: XX000 when they are more or less.
    pub fn with_elements(&self, elements: ArrayRef) -> Result<Self> {
        if elements.len() != self.elements.len() {
            return Err(SqlError::internal("an array with other elements than it had"));
        }
        Ok(ArrayValue { elements, shape: self.shape.clone() })
    }
    /// Its elements.
    pub fn elements(&self) -> &ArrayRef {
        &self.elements
    }
    /// Its elements, without the shape.
    pub fn into_elements(self) -> ArrayRef {
        self.elements
    }
    /// Whether it has one dimension that begins with 1, or no elements.
    pub fn is_ordinary(&self) -> bool {
        self.shape.is_none()
    }
    /// How many dimensions there are; none without elements.
    pub fn dimension_count(&self) -> usize {
        match &self.shape {
            Some(shape) => shape.len(),
            None => usize::from(!self.elements.is_empty()),
        }
    }
    /// A dimension, counted from 0.
    pub fn dimension(&self, at: usize) -> Option<Dimension> {
        match &self.shape {
            Some(shape) => shape.get(at).copied(),
            None => (at == 0 && !self.elements.is_empty()).then(|| Dimension::of(self.elements.len())),
        }
    }
    /// All dimensions, from outside to inside.
    pub fn dimensions(&self) -> Vec<Dimension> {
        match &self.shape {
            Some(shape) => shape.to_vec(),
            None => self.dimension(0).into_iter().collect(),
        }
    }
    /// The elements of the outermost dimension's places: how many of them make one.
    pub fn stride(&self) -> usize {
        match self.dimension(0) {
            Some(outer) => self.elements.len() / (outer.length.max(1) as usize),
            None => 0,
        }
    }
    /// Dimensions and lower bounds as bytes, in their order (manual, 9.19: after the elements the number of dimensions counts,
    /// then their lengths, then their lower bounds).
    pub fn push_shape(&self, out: &mut Vec<u8>) {
        form::push_dimensions(&self.dimensions(), out);
    }
}

/// 54000: too many dimensions. `count`: how many.
pub fn too_many_dimensions(count: usize) -> SqlError {
    let message = format!("number of array dimensions ({count}) exceeds the maximum allowed ({MOST_DIMENSIONS})");
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message).of_values()
}

/// 54000: too many elements.
pub fn too_large() -> SqlError {
    let message = format!("array size exceeds the maximum allowed ({MOST_ELEMENTS})");
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message)
}

/// 2202E: what a subscript or shape does not allow.
pub fn subscript_error(message: impl Into<String>) -> SqlError {
    SqlError::new("2202E", message)
}

/// How many elements dimensions hold. Errors: 54000 for too many of either, and for bounds beyond int4.
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
