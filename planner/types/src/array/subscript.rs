//! Reads and assigns elements and slices of arrays (manual, 8.15.3 and 8.15.4). An assignment makes a new array.

use super::{ArrayValue, Dimension, MOST_DIMENSIONS, count, subscript_error, too_large, too_many_dimensions};
use arrow::array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow::compute::{concat, take};
use sql_error::{Result, SqlError};

/// The bounds of a slice in one dimension. A bound that is left out is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first subscript, inclusive.
    pub lower: Option<i32>,
    /// The last subscript, inclusive.
    pub upper: Option<i32>,
}

/// First and last subscript, both inclusive.
type Range = (i32, i32);

fn wrong_number() -> SqlError {
    subscript_error("wrong number of array subscripts")
}

fn out_of_range() -> SqlError {
    subscript_error("array subscript out of range")
}

/// Number of subscripts in a range.
fn extent((lower, upper): Range) -> i64 {
    i64::from(upper) - i64::from(lower) + 1
}

fn length_of(extent: i64) -> Result<i32> {
    i32::try_from(extent).map_err(|_| too_large())
}

/// Positions of the elements within `ranges`, in row-major order. The ranges must lie within the dimensions.
fn places(dimensions: &[Dimension], ranges: &[Range]) -> Vec<u32> {
    let mut places = vec![0u32];
    for (dimension, range) in dimensions.iter().zip(ranges) {
        let first = (i64::from(range.0) - i64::from(dimension.lower)) as u32;
        let extent = extent(*range).max(0) as u32;
        let outer = places;
        places = Vec::with_capacity(outer.len() * extent as usize);
        for place in outer {
            let start = place * dimension.length as u32 + first;
            places.extend(start..start + extent);
        }
    }
    places
}

impl ArrayValue {
    /// Position of the element with these subscripts. `None` if there is no such element.
    pub fn place(&self, subscripts: &[i32]) -> Option<usize> {
        if subscripts.len() != self.dimension_count() || subscripts.is_empty() {
            return None;
        }
        let mut place = 0usize;
        for (at, subscript) in subscripts.iter().enumerate() {
            let dimension = self.dimension(at)?;
            let offset = i64::from(*subscript) - i64::from(dimension.lower);
            if !(0..i64::from(dimension.length)).contains(&offset) {
                return None;
            }
            place = place * dimension.length as usize + offset as usize;
        }
        Some(place)
    }

    /// The slice of the array within the spans, with lower bounds of 1. Dimensions without a span are kept whole.
    pub fn slice(&self, spans: &[Span]) -> Result<ArrayValue> {
        let dimensions = self.dimensions();
        let empty = || Ok(ArrayValue::from(self.elements.slice(0, 0)));
        if dimensions.len() < spans.len() {
            return empty();
        }
        let mut ranges = Vec::with_capacity(dimensions.len());
        for (at, dimension) in dimensions.iter().enumerate() {
            let span = spans.get(at).copied().unwrap_or(Span { lower: None, upper: None });
            let lower = span.lower.unwrap_or(dimension.lower).max(dimension.lower);
            let upper = span.upper.unwrap_or(dimension.upper()).min(dimension.upper());
            if lower > upper {
                return empty();
            }
            ranges.push((lower, upper));
        }
        let made: Vec<Dimension> =
            ranges.iter().map(|range| Dimension { length: extent(*range) as i32, lower: 1 }).collect();
        if let ([dimension], [range]) = (dimensions.as_slice(), ranges.as_slice()) {
            let from = (i64::from(range.0) - i64::from(dimension.lower)) as usize;
            return Ok(ArrayValue::from(self.elements.slice(from, extent(*range) as usize)));
        }
        let elements = take(&self.elements, &UInt32Array::from(places(&dimensions, &ranges)), None)?;
        ArrayValue::new(elements, &made)
    }

    /// The array with one element replaced or added. A one-dimensional array grows and fills gaps with NULL; an empty
    /// array takes any subscripts. `element` is an array that holds just the new element. Errors: 2202E, 54000.
    pub fn with_element(&self, subscripts: &[i32], element: &ArrayRef) -> Result<ArrayValue> {
        let mut dimensions = self.dimensions();
        if subscripts.len() > MOST_DIMENSIONS {
            return Err(too_many_dimensions(subscripts.len()));
        }
        if dimensions.is_empty() {
            let made: Vec<Dimension> = subscripts.iter().map(|lower| Dimension { length: 1, lower: *lower }).collect();
            return ArrayValue::new(element.clone(), &made);
        }
        if dimensions.len() != subscripts.len() {
            return Err(wrong_number());
        }
        let ([dimension], [subscript]) = (dimensions.as_mut_slice(), subscripts) else {
            let place = self.place(subscripts).ok_or_else(out_of_range)?;
            return self.with_elements(self.replaced(place, 1, element)?);
        };
        let range = (*subscript, *subscript);
        let elements = self.extended(dimension, range, element)?;
        ArrayValue::new(elements, &dimensions)
    }

    /// The array with a slice replaced by the first elements of `source`, whatever its shape. Errors: 2202E, 54000.
    pub fn with_slice(&self, spans: &[Span], source: &ArrayValue) -> Result<ArrayValue> {
        let mut dimensions = self.dimensions();
        let small = || subscript_error("source array too small");
        if dimensions.is_empty() {
            let mut made = Vec::with_capacity(spans.len());
            for span in spans {
                let (Some(lower), Some(upper)) = (span.lower, span.upper) else {
                    let detail =
                        "When assigning to a slice of an empty array value, slice boundaries must be fully specified.";
                    return Err(subscript_error("array slice subscript must provide both boundaries").detail(detail));
                };
                made.push(Dimension { length: length_of(extent((lower, upper)))?, lower });
            }
            let wanted = count(&made)?;
            if source.len() < wanted {
                return Err(small());
            }
            return ArrayValue::new(source.elements.slice(0, wanted), &made);
        }
        if dimensions.len() < spans.len() {
            return Err(wrong_number());
        }
        let mut ranges = Vec::with_capacity(dimensions.len());
        let alone = dimensions.len() == 1;
        for (at, dimension) in dimensions.iter().enumerate() {
            let span = spans.get(at).copied().unwrap_or(Span { lower: None, upper: None });
            let range = (span.lower.unwrap_or(dimension.lower), span.upper.unwrap_or(dimension.upper()));
            if range.0 > range.1 {
                return Err(subscript_error("upper bound cannot be less than lower bound"));
            }
            if !alone && (range.0 < dimension.lower || range.1 > dimension.upper()) {
                return Err(out_of_range());
            }
            ranges.push(range);
        }
        let wanted: i64 = ranges.iter().map(|range| extent(*range)).product();
        let elements = |source: &ArrayValue| -> Result<ArrayRef> {
            match usize::try_from(wanted).ok().filter(|wanted| *wanted <= source.len()) {
                Some(wanted) => Ok(source.elements.slice(0, wanted)),
                None => Err(small()),
            }
        };
        if let ([dimension], [range]) = (dimensions.as_mut_slice(), ranges.as_slice()) {
            // Check the resulting size before building anything.
            let union = (range.0.min(dimension.lower), range.1.max(dimension.upper()));
            count(&[Dimension { length: length_of(extent(union))?, lower: union.0 }])?;
            let elements = self.extended(dimension, *range, &elements(source)?)?;
            return ArrayValue::new(elements, &dimensions);
        }
        let new = elements(source)?;
        let old = self.elements.len() as u32;
        let mut from: Vec<u32> = (0..old).collect();
        for (at, place) in places(&dimensions, &ranges).into_iter().enumerate() {
            if let Some(slot) = from.get_mut(place as usize) {
                *slot = old + at as u32;
            }
        }
        let both = concat(&[self.elements.as_ref(), new.as_ref()])?;
        self.with_elements(take(&both, &UInt32Array::from(from), None)?)
    }

    /// Replaces `gone` elements from position `place` on.
    fn replaced(&self, place: usize, gone: usize, new: &ArrayRef) -> Result<ArrayRef> {
        let rest = place + gone;
        let (head, tail) = (self.elements.slice(0, place), self.elements.slice(rest, self.elements.len() - rest));
        Ok(concat(&[head.as_ref(), new.as_ref(), tail.as_ref()])?)
    }

    /// Replaces a range of a one-dimensional array, which grows to hold the range.
    fn extended(&self, dimension: &mut Dimension, range: Range, new: &ArrayRef) -> Result<ArrayRef> {
        let (lower, upper) = (i64::from(dimension.lower), i64::from(dimension.upper()));
        let (from, to) = (i64::from(range.0), i64::from(range.1));
        let union = (range.0.min(dimension.lower), range.1.max(dimension.upper()));
        let made = Dimension { length: length_of(extent(union))?, lower: union.0 };
        count(&[made])?;
        *dimension = made;
        let nulls = |count: i64| new_null_array(self.elements.data_type(), count.max(0) as usize);
        // The old elements before and behind the new ones, and the gaps between them.
        let head = self.elements.slice(0, (from - lower).clamp(0, upper - lower + 1) as usize);
        let behind = (to - lower + 1).clamp(0, upper - lower + 1) as usize;
        let tail = self.elements.slice(behind, self.elements.len() - behind);
        let (gap_before, gap_behind) = (nulls(from - upper - 1), nulls(lower - to - 1));
        Ok(concat(&[head.as_ref(), gap_before.as_ref(), new.as_ref(), gap_behind.as_ref(), tail.as_ref()])?)
    }
}
