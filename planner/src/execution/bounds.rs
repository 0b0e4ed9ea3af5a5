//! [`KeyBounds`]: which keys of a table or index a scan reads, computed when it starts.
//!
//! Values bound a prefix of the key's columns: equalities first, then a range of one column. A
//! comparison with NULL is true of no row, so its bounds are empty.

use super::slots::StatementContext;
use super::value::{Fitted, Value};
use crate::catalog::StorageId;
use crate::encoding::{KeyColumn, KeyEncoder, table_prefix};
use crate::error::{Result, SqlError};
use crate::state;
use crate::types::Datum;
use bytes::Bytes;
use std::fmt;
use storage::{RowRange, prefix_end};

/// Ranges that one scan may fall into, at most; beyond it, a person is told rather than memory eaten.
const MOST_RANGES: usize = 1 << 20;

/// The values that one leading key column must have.
#[derive(Clone, Debug)]
pub enum Equality {
    /// One value.
    Value(Value),
    /// Any of these.
    OneOf(Vec<Value>),
    /// Any element of this array.
    AnyOf(Value),
    /// NULL.
    Null,
}

/// A bound of the column behind the equalities.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The bounding value.
    pub value: Value,
    /// Whether it is a lower bound.
    pub lower: bool,
    /// Whether the value itself is inside.
    pub inclusive: bool,
}

/// The keys that a scan reads.
#[derive(Debug)]
pub struct KeyBounds {
    prefix: Bytes,
    columns: Vec<KeyColumn>,
    names: Vec<String>,
    encoder: KeyEncoder,
    equalities: Vec<Equality>,
    limits: Vec<Limit>,
}

impl KeyBounds {
    /// Bounds over the key columns of a table or index: `equalities` for the first of them,
    /// `limits` for the next. Without any, every key.
    pub fn new(
        storage_id: StorageId,
        columns: Vec<(String, KeyColumn)>,
        equalities: Vec<Equality>,
        limits: Vec<Limit>,
    ) -> KeyBounds {
        let (names, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let encoder = KeyEncoder::new(columns.clone());
        KeyBounds { prefix: table_prefix(storage_id), columns, names, encoder, equalities, limits }
    }

    /// How many leading columns are fixed to one value.
    pub fn single_values(&self) -> usize {
        self.equalities.iter().take_while(|equality| matches!(equality, Equality::Value(_) | Equality::Null)).count()
    }

    /// How many leading columns have equalities.
    pub fn equalities(&self) -> usize {
        self.equalities.len()
    }

    /// Whether every key column has an equality.
    pub fn is_points(&self) -> bool {
        self.equalities.len() == self.columns.len() && !self.columns.is_empty()
    }

    /// Whether it bounds nothing.
    pub fn is_full(&self) -> bool {
        self.equalities.is_empty() && self.limits.is_empty()
    }

    /// The keys, encoded, when every key column has an equality: in key order, each once.
    pub fn points(&self, context: &StatementContext) -> Result<Vec<Bytes>> {
        let mut keys = Vec::new();
        self.each_prefix(context, |bounds, values| {
            keys.push(bounds.encode(values)?);
            Ok(())
        })?;
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// The ranges of keys: in key order, disjoint, none empty.
    pub fn ranges(&self, context: &StatementContext) -> Result<Vec<RowRange>> {
        let limits = self
            .limits
            .iter()
            .map(|limit| Ok((limit.value.evaluate(context)?, limit.lower, limit.inclusive)))
            .collect::<Result<Vec<_>>>()?;
        let mut ranges = Vec::new();
        self.each_prefix(context, |bounds, values| {
            if let Some(range) = bounds.range(values, &limits)? {
                ranges.push(range);
            }
            Ok(())
        })?;
        ranges.sort_unstable_by(|a: &RowRange, b| a.start.cmp(&b.start));
        ranges.dedup();
        Ok(ranges)
    }

    fn encode(&self, values: &[Datum]) -> Result<Bytes> {
        let mut key = self.prefix.to_vec();
        self.encoder.encode_datums(values, &mut key)?;
        Ok(key.into())
    }

    /// Calls `each` with every combination of the equalities' values.
    fn each_prefix(
        &self,
        context: &StatementContext,
        mut each: impl FnMut(&KeyBounds, &mut Vec<Datum>) -> Result<()>,
    ) -> Result<()> {
        let mut choices: Vec<Vec<Datum>> = Vec::with_capacity(self.equalities.len());
        let mut combinations = 1usize;
        for (equality, column) in self.equalities.iter().zip(&self.columns) {
            let values = match equality {
                Equality::Value(value) => vec![value.evaluate(context)?],
                Equality::OneOf(values) => {
                    values.iter().map(|value| value.evaluate(context)).collect::<Result<Vec<_>>>()?
                }
                Equality::AnyOf(value) => value.evaluate_elements(context)?.into_iter().map(Fitted::Is).collect(),
                Equality::Null => {
                    choices.push(vec![Datum::try_new_null(&column.ty.arrow())?]);
                    continue;
                }
            };
            let values: Vec<Datum> = values
                .into_iter()
                .filter_map(|value| match value {
                    Fitted::Is(value) if !value.is_null() => Some(value),
                    _ => None,
                })
                .collect();
            combinations = combinations.saturating_mul(values.len());
            if combinations > MOST_RANGES {
                return Err(SqlError::new(state::STATEMENT_TOO_COMPLEX, "too many values in IN lists")
                    .detail(format!("They make {combinations} keys; {MOST_RANGES} are read in one scan at most.")));
            }
            choices.push(values);
        }
        if combinations == 0 {
            return Ok(());
        }
        let mut picked = vec![0usize; choices.len()];
        loop {
            let mut values: Vec<Datum> =
                choices.iter().zip(&picked).filter_map(|(values, index)| values.get(*index).cloned()).collect();
            each(self, &mut values)?;
            // The next combination, the last column fastest.
            let mut column = choices.len();
            loop {
                let Some(previous) = column.checked_sub(1) else { return Ok(()) };
                column = previous;
                let (Some(index), Some(values)) = (picked.get_mut(column), choices.get(column)) else { return Ok(()) };
                *index += 1;
                if *index < values.len() {
                    break;
                }
                *index = 0;
            }
        }
    }

    fn range(&self, values: &mut Vec<Datum>, limits: &[(Fitted, bool, bool)]) -> Result<Option<RowRange>> {
        let mut range = RowRange::prefix(self.encode(values)?);
        if limits.is_empty() {
            return Ok(Some(range));
        }
        let Some(column) = self.columns.get(values.len()) else {
            return Err(SqlError::internal("a range behind the last key column"));
        };
        // A comparison leaves NULLs out: they stand at one end of the range.
        values.push(Datum::try_new_null(&column.ty.arrow())?);
        let null = self.encode(values)?;
        values.pop();
        if column.nulls_first {
            range = range.intersect(&after(&null));
        } else {
            range = range.intersect(&before(null));
        }
        for (value, lower, inclusive) in limits {
            let value = match (value, lower) {
                (Fitted::Is(value), _) if value.is_null() => return Ok(None),
                (Fitted::Is(value), _) => value,
                (Fitted::Below, true) | (Fitted::Above, false) => continue,
                (Fitted::Below, false) | (Fitted::Above, true) => return Ok(None),
            };
            values.push(value.clone());
            let key = self.encode(values)?;
            values.pop();
            // Descending columns are stored complemented: their greater values come first.
            range = range.intersect(&match (*lower != column.descending, inclusive) {
                (true, true) => RowRange { start: key, end: None },
                (true, false) => after(&key),
                (false, true) => RowRange { start: Bytes::new(), end: prefix_end(&key) },
                (false, false) => before(key),
            });
        }
        Ok((!range.is_empty()).then_some(range))
    }
}

fn before(key: Bytes) -> RowRange {
    RowRange { start: Bytes::new(), end: Some(key) }
}

fn after(key: &[u8]) -> RowRange {
    match prefix_end(key) {
        Some(start) => RowRange { start, end: None },
        // Nothing comes after a key of 0xff bytes only.
        None => RowRange { start: Bytes::new(), end: Some(Bytes::new()) },
    }
}

impl fmt::Display for KeyBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        let mut and = |f: &mut fmt::Formatter<'_>| {
            let word = if std::mem::take(&mut first) { "" } else { " AND " };
            f.write_str(word)
        };
        for (name, equality) in self.names.iter().zip(&self.equalities) {
            and(f)?;
            match equality {
                Equality::Value(value) => write!(f, "({name} = {value})")?,
                Equality::AnyOf(value) => write!(f, "({name} = ANY ({value}))")?,
                Equality::Null => write!(f, "({name} IS NULL)")?,
                Equality::OneOf(values) => {
                    write!(f, "({name} IN (")?;
                    for (index, value) in values.iter().enumerate() {
                        write!(f, "{}{value}", if index == 0 { "" } else { ", " })?;
                    }
                    f.write_str("))")?;
                }
            }
        }
        if let Some(name) = self.names.get(self.equalities.len()) {
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
        }
        Ok(())
    }
}
