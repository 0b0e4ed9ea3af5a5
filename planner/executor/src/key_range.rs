//! [`Limits`]: a range of one key column. The values of the preceding columns are known.
//!
//! It is computed once for a scan and then applied to any prefix of a key. A comparison with NULL is true for no row,
//! so it gives an empty range.

use super::slots::StatementContext;
use super::value::{Fitted, Value};
use bytes::Bytes;
use catalog::encoding::{KeyColumn, KeyEncoder};
use sql_error::{Result, SqlError};
use std::fmt;
use storage::{RowRange, prefix_end};

/// A lower or upper bound of the column.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The value of the bound.
    pub value: Value,
    /// Whether it is a lower bound.
    pub lower: bool,
    /// Whether the value itself is included.
    pub inclusive: bool,
}

/// Approximate bytes of a key column's value.
const PIECE_BYTES: usize = 16;

/// The filters' limits on the first key column without an equality.
#[derive(Clone, Debug)]
pub struct Limits {
    limits: Vec<Limit>,
    column: Option<KeyColumn>,
    /// Encoder of that column.
    encoder: KeyEncoder,
}

/// A bound, encoded as a piece of a key.
#[derive(Debug)]
struct Edge {
    piece: Vec<u8>,
    /// Whether it excludes the keys before it. Otherwise it excludes those behind it.
    lower: bool,
    inclusive: bool,
}

/// [`Limits`] whose values were computed.
#[derive(Debug)]
pub struct LimitedKeys {
    edges: Vec<Edge>,
}

impl Limits {
    /// `limits` of `column`, the key column behind the known ones. Without limits, `column` may be missing.
    pub fn new(limits: Vec<Limit>, column: Option<KeyColumn>) -> Limits {
        let encoder = KeyEncoder::new(column.into_iter().collect());
        Limits { limits, column, encoder }
    }

    /// Whether there are no limits.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// Whether the limits are the same in each execution.
    pub fn are_constant(&self) -> bool {
        self.limits.iter().all(|limit| limit.value.is_constant())
    }

    /// Computes the values. `None` if no key can be within the limits.
    pub fn evaluate(&self, context: &StatementContext) -> Result<Option<LimitedKeys>> {
        let mut edges = Vec::with_capacity(self.limits.len() + 1);
        if self.limits.is_empty() {
            return Ok(Some(LimitedKeys { edges }));
        }
        let column = self.column.ok_or_else(|| SqlError::internal("a range behind the last key column"))?;
        // Exclude NULLs, which are at one end of the range.
        edges.push(Edge { piece: vec![column.null_marker()], lower: column.nulls_first, inclusive: false });
        for limit in &self.limits {
            let value = match (limit.value.evaluate(context)?, limit.lower) {
                (Fitted::Is(value), _) if value.is_null() => return Ok(None),
                (Fitted::Is(value), _) => value,
                (Fitted::Below, true) | (Fitted::Above, false) => continue,
                (Fitted::Below, false) | (Fitted::Above, true) => return Ok(None),
            };
            // Descending columns are stored complemented: their greater values come first.
            let lower = limit.lower != column.descending;
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            self.encoder.encode_column(0, &value, &mut piece)?;
            edges.push(Edge { piece, lower, inclusive: limit.inclusive });
        }
        Ok(Some(LimitedKeys { edges }))
    }

    /// Describes the limits of a column with this name for EXPLAIN. `and` is called before each.
    pub fn describe(
        &self,
        name: &str,
        f: &mut fmt::Formatter<'_>,
        mut and: impl FnMut(&mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        for limit in &self.limits {
            and(f)?;
            let sign = match (limit.lower, limit.inclusive) {
                (true, true) => ">=",
                (true, false) => ">",
                (false, true) => "<=",
                (false, false) => "<",
            };
            write!(f, "({name} {sign} {})", limit.value)?;
        }
        Ok(())
    }
}

impl LimitedKeys {
    /// The range of keys with this prefix within the limits. `None` if it is empty.
    pub fn behind(&self, prefix: Bytes) -> Option<RowRange> {
        let mut end = prefix_end(&prefix);
        let mut start = prefix.clone();
        for edge in &self.edges {
            let mut key = Vec::with_capacity(prefix.len() + edge.piece.len());
            key.extend_from_slice(&prefix);
            key.extend_from_slice(&edge.piece);
            // There is no key behind one that consists only of 0xff bytes.
            if edge.lower {
                start = start.max(if edge.inclusive { key.into() } else { prefix_end(&key)? });
                continue;
            }
            let bound = if edge.inclusive { prefix_end(&key) } else { Some(key.into()) };
            end = match (end, bound) {
                (Some(end), Some(bound)) => Some(end.min(bound)),
                (end, bound) => end.or(bound),
            };
        }
        let range = RowRange { start, end };
        (!range.is_empty()).then_some(range)
    }
}
