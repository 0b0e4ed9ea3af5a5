//! Computes the frame of each row in a partition.

use super::{Edge, Exclude, Shape, Units};
use catalog::encoding::{KeyColumn, KeyEncoder};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::row::{RowConverter, SortField};
use sql_error::{Result, SqlError};
use std::ops::Range;
use types::SqlType;

/// The frame of each row in a partition. `arguments` begin with the keys, then the offsets.
pub(super) fn frames(shape: Shape, arguments: &[ArrayRef], rows: usize) -> Result<Vec<Range<usize>>> {
    let arguments = arguments.get(shape.peers..).ok_or_else(lacks)?;
    let (keys, rest) = arguments.split_at_checked(shape.keys).ok_or_else(lacks)?;
    let mut rest = rest.iter();
    let mut offset = |edge: Edge| if edge.has_offset() { rest.next().ok_or_else(lacks).map(Some) } else { Ok(None) };
    let (start, end) = (offset(shape.start)?, offset(shape.end)?);
    match shape.units {
        Units::Rows => {
            let (starts, ends) = (counts(start, rows)?, counts(end, rows)?);
            let places = (0..rows).zip(starts.into_iter().zip(ends));
            Ok(places.map(|(row, (before, after))| counted(shape, row, rows, before, after)).collect())
        }
        Units::Groups => {
            let groups = Groups::new(keys, rows)?;
            let (starts, ends) = (counts(start, rows)?, counts(end, rows)?);
            let places = groups.of_row.iter().zip(starts.into_iter().zip(ends));
            Ok(places
                .map(|(group, (before, after))| {
                    let frame = counted(shape, *group, groups.starts.len(), before, after);
                    let start = |group: usize| groups.starts.get(group).copied().unwrap_or(rows);
                    nonempty(start(frame.start), start(frame.end))
                })
                .collect())
        }
        Units::Range(ty) => ranges(shape, ty, keys.first().ok_or_else(lacks)?, [start, end], rows),
    }
}

/// The peers of each row in a partition, for frames that exclude some.
pub(super) fn peers(shape: Shape, arguments: &[ArrayRef], rows: usize) -> Result<Vec<Range<usize>>> {
    let groups = Groups::new(arguments.get(..shape.peers).ok_or_else(lacks)?, rows)?;
    let start = |group: usize| groups.starts.get(group).copied().unwrap_or(rows);
    Ok(groups.of_row.iter().map(|group| start(*group)..start(group + 1)).collect())
}

/// The rest of a row's frame after exclusion: nonempty ranges in order.
pub(super) fn left_of(frame: Range<usize>, row: usize, peers: Range<usize>, exclude: Exclude) -> Vec<Range<usize>> {
    let out = match exclude {
        Exclude::NoOthers => row..row,
        Exclude::CurrentRow => row..row + 1,
        Exclude::Group | Exclude::Ties => peers,
    };
    let within = |range: Range<usize>| range.start.max(frame.start)..range.end.min(frame.end);
    let own = if exclude == Exclude::Ties { row..row + 1 } else { row..row };
    let pieces = [within(0..out.start), within(own), within(out.end..usize::MAX)];
    pieces.into_iter().filter(|piece| piece.start < piece.end).collect()
}

fn lacks() -> SqlError {
    SqlError::internal("a frame lacks an argument")
}

fn nonempty(start: usize, end: usize) -> Range<usize> {
    start..end.max(start)
}

/// The offset of each row; 0 if there is none.
fn counts(offsets: Option<&ArrayRef>, rows: usize) -> Result<Vec<usize>> {
    let Some(offsets) = offsets else { return Ok(vec![0; rows]) };
    let offsets =
        offsets.as_primitive_opt::<Int64Type>().ok_or_else(|| SqlError::internal("a frame offset of another type"))?;
    Ok((0..rows).map(|row| usize::try_from(offsets.value(row)).unwrap_or(usize::MAX)).collect())
}

/// The frame at index `at` of `count` rows, from offsets before and after.
fn counted(shape: Shape, at: usize, count: usize, before: usize, after: usize) -> Range<usize> {
    let start = match shape.start {
        Edge::Unbounded => 0,
        Edge::CurrentRow => at,
        Edge::Preceding => at.saturating_sub(before),
        Edge::Following => at.saturating_add(before),
    };
    let end = match shape.end {
        Edge::Unbounded => count,
        Edge::CurrentRow => at + 1,
        Edge::Preceding => (at + 1).saturating_sub(after),
        Edge::Following => at.saturating_add(after).saturating_add(1),
    };
    nonempty(start.min(count), end.min(count))
}

/// The groups of peers in a partition.
struct Groups {
    of_row: Vec<usize>,
    starts: Vec<usize>,
}

impl Groups {
    fn new(keys: &[ArrayRef], rows: usize) -> Result<Self> {
        let mut groups = Groups { of_row: Vec::with_capacity(rows), starts: Vec::new() };
        if keys.is_empty() {
            // Without keys, all rows are peers.
            return Ok(Groups { of_row: vec![0; rows], starts: vec![0] });
        }
        let fields = keys.iter().map(|key| SortField::new(key.data_type().clone())).collect();
        let encoded = RowConverter::new(fields)?.convert_columns(keys)?;
        let mut last = None;
        for (at, row) in encoded.iter().enumerate() {
            if last.as_ref() != Some(&row) {
                groups.starts.push(at);
                last = Some(row);
            }
            groups.of_row.push(groups.starts.len() - 1);
        }
        Ok(groups)
    }
}

/// RANGE frames by the value of a key. NULLs are at one end and are peers of each other. Another frame contains them
/// only if its edge has no offset.
fn ranges(
    shape: Shape,
    ty: SqlType,
    key: &ArrayRef,
    bounds: [Option<&ArrayRef>; 2],
    rows: usize,
) -> Result<Vec<Range<usize>>> {
    let encoder = KeyEncoder::new(vec![KeyColumn::ascending(ty)]);
    let encoded = |array: &ArrayRef, row: usize| -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        encoder.encode_row(std::slice::from_ref(array), row, &mut bytes)?;
        Ok(bytes)
    };
    let first = (0..rows).find(|row| key.is_valid(*row)).unwrap_or(rows);
    let last = (first..rows).find(|row| key.is_null(*row)).unwrap_or(rows);
    let keys = (first..last).map(|row| encoded(key, row)).collect::<Result<Vec<_>>>()?;
    let before = |a: &[u8], b: &[u8]| if shape.descending { a > b } else { a < b };
    let start_of = |bound: &[u8]| first + keys.partition_point(|key| before(key, bound));
    let end_of = |bound: &[u8]| first + keys.partition_point(|key| !before(bound, key));
    let mut frames = Vec::with_capacity(rows);
    let [start_bound, end_bound] = bounds;
    for row in 0..rows {
        let own = row.checked_sub(first).and_then(|at| keys.get(at));
        let edge = |bound: Option<&ArrayRef>, edge: Edge, start: bool| -> Result<usize> {
            let nulls = if row < first { 0..first } else { last..rows };
            let place = |bytes: &[u8]| if start { start_of(bytes) } else { end_of(bytes) };
            Ok(match (edge, own, bound) {
                (Edge::Unbounded, ..) => {
                    if start {
                        0
                    } else {
                        rows
                    }
                }
                (_, None, _) => {
                    if start {
                        nulls.start
                    } else {
                        nulls.end
                    }
                }
                (Edge::CurrentRow, Some(own), _) => place(own),
                (_, Some(_), Some(bound)) => place(&encoded(bound, row)?),
                (_, Some(_), None) => return Err(lacks()),
            })
        };
        frames.push(nonempty(edge(start_bound, shape.start, true)?, edge(end_bound, shape.end, false)?));
    }
    Ok(frames)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use datafusion::arrow::array::Int64Array;
    use std::sync::Arc;

    const NONE: Shape = Shape {
        units: Units::Rows,
        start: Edge::Unbounded,
        end: Edge::Unbounded,
        descending: false,
        keys: 0,
        exclude: Exclude::NoOthers,
        peers: 0,
    };

    #[test]
    fn what_is_left_out() {
        let left = |exclude| left_of(1..6, 3, 2..5, exclude);
        assert_eq!(left(Exclude::NoOthers), [1..3, 3..6]);
        assert_eq!(left(Exclude::CurrentRow), [1..3, 4..6]);
        assert_eq!(left(Exclude::Group), [1..2, 5..6]);
        assert_eq!(left(Exclude::Ties), [1..2, 3..4, 5..6]);
        assert_eq!(left_of(4..6, 3, 2..5, Exclude::Ties).first(), Some(&(5..6)));
        assert!(left_of(3..4, 3, 3..4, Exclude::CurrentRow).is_empty());
    }

    fn int8(values: Vec<Option<i64>>) -> ArrayRef {
        Arc::new(Int64Array::from(values))
    }

    #[test]
    fn frames_of_a_range() {
        let units = Units::Range(SqlType::INT8);
        let shape = Shape { units, start: Edge::Preceding, end: Edge::Following, descending: false, keys: 1, ..NONE };
        let keys = int8(vec![Some(1), Some(1), Some(2), Some(9), None, None]);
        let shifted = |by: i64| int8(vec![Some(1 + by), Some(1 + by), Some(2 + by), Some(9 + by), None, None]);
        let found = frames(shape, &[keys, shifted(-1), shifted(1)], 6).unwrap();
        assert_eq!(found, [0..3, 0..3, 0..3, 3..4, 4..6, 4..6]);
        let descending = Shape { descending: true, end: Edge::CurrentRow, ..shape };
        let keys = int8(vec![None, Some(9), Some(2), Some(1)]);
        let found = frames(descending, &[keys, int8(vec![None, Some(10), Some(3), Some(2)])], 4).unwrap();
        assert_eq!(found, [0..1, 1..2, 2..3, 2..4]);
    }

    #[test]
    fn frames_of_rows_and_groups() {
        let shape = Shape {
            units: Units::Rows,
            start: Edge::Preceding,
            end: Edge::Preceding,
            descending: false,
            keys: 0,
            ..NONE
        };
        let of = |number: i64| int8(vec![Some(number); 4]);
        assert_eq!(frames(shape, &[of(2), of(1)], 4).unwrap(), [0..0, 0..1, 0..2, 1..3]);
        let shape = Shape { end: Edge::Following, ..shape };
        assert_eq!(frames(shape, &[of(1), of(i64::MAX)], 4).unwrap(), [0..4, 0..4, 1..4, 2..4]);
        let shape = Shape { units: Units::Groups, keys: 1, start: Edge::Following, end: Edge::Unbounded, ..shape };
        let keys = int8(vec![Some(1), Some(1), Some(2), None]);
        assert_eq!(frames(shape, &[keys, of(1)], 4).unwrap(), [2..4, 2..4, 3..4, 4..4]);
    }
}
