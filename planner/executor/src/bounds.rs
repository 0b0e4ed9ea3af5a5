//! [`KeyBounds`]: the keys of a table or index that a scan reads. They are computed when the scan starts.
//!
//! Values bound a prefix of the key's columns: first equalities, then a range of one column. A comparison with NULL is
//! true for no row, so its bounds are empty.

use super::key_range::{Limit, Limits};
use super::slots::StatementContext;
use super::value::{Fitted, Value};
use bytes::Bytes;
use catalog::StorageId;
use catalog::encoding::{KeyColumn, KeyEncoder, table_prefix};
use sql_error::state;
use sql_error::{Result, SqlError};
use std::fmt;
use storage::RowRange;
use types::Datum;

/// Most ranges of one scan. More are an error, so that a scan does not exhaust the memory.
const MOST_RANGES: usize = 1 << 20;

/// Approximate bytes of a key column.
const KEY_COLUMN_BYTES: usize = 9;

/// The values that one leading key column may have.
#[derive(Clone, Debug)]
pub enum Equality {
    /// The column equals one value.
    Value(Value),
    /// Any of these values.
    OneOf(Vec<Value>),
    /// Any element of this array.
    AnyOf(Value),
    /// The column is NULL.
    Null,
}

/// The bounds of the keys that a scan reads.
#[derive(Debug)]
pub struct KeyBounds {
    prefix: Bytes,
    columns: Vec<KeyColumn>,
    names: Vec<String>,
    encoder: KeyEncoder,
    equalities: Vec<Equality>,
    limits: Limits,
}

impl KeyBounds {
    /// Bounds over the key columns of a table or index. `equalities` apply to the first columns, `limits` to the next
    /// one. Without both, the bounds include every key.
    pub fn new(
        storage_id: StorageId,
        columns: Vec<(String, KeyColumn)>,
        equalities: Vec<Equality>,
        limits: Vec<Limit>,
    ) -> KeyBounds {
        let (names, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let encoder = KeyEncoder::new(columns.clone());
        let limits = Limits::new(limits, columns.get(equalities.len()).copied());
        KeyBounds { prefix: table_prefix(storage_id), columns, names, encoder, equalities, limits }
    }

    /// Number of leading columns that are fixed to one value.
    pub fn single_values(&self) -> usize {
        self.equalities.iter().take_while(|equality| matches!(equality, Equality::Value(_) | Equality::Null)).count()
    }

    /// Number of leading columns with equalities.
    pub fn equalities(&self) -> usize {
        self.equalities.len()
    }

    /// Whether every key column has an equality.
    pub fn is_points(&self) -> bool {
        self.equalities.len() == self.columns.len() && !self.columns.is_empty()
    }

    /// Whether the bounds include all keys.
    pub fn is_full(&self) -> bool {
        self.equalities.is_empty() && self.limits.is_empty()
    }

    /// Whether the bounds are just a range of the first key column, which is at most one range of keys.
    pub fn is_one_range(&self) -> bool {
        self.equalities.is_empty() && !self.limits.is_empty()
    }

    /// Whether the limits are the same in each execution.
    pub fn has_constant_limits(&self) -> bool {
        self.limits.are_constant()
    }

    /// The encoded key, if each key column has one value. `None` if a value equals nothing.
    pub fn point(&self, context: &StatementContext) -> Result<Option<Bytes>> {
        let mut key = Vec::with_capacity(self.prefix.len() + self.columns.len() * KEY_COLUMN_BYTES);
        key.extend_from_slice(&self.prefix);
        // Evaluate all values: one may fail.
        let mut some = true;
        for (position, (equality, column)) in self.equalities.iter().zip(&self.columns).enumerate() {
            let value = match equality {
                Equality::Value(value) => value.evaluate(context)?,
                Equality::Null => Fitted::Is(Datum::try_new_null(&column.ty.arrow())?),
                Equality::OneOf(_) | Equality::AnyOf(_) => {
                    return Err(SqlError::internal("a key of several values where one was expected"));
                }
            };
            match value {
                Fitted::Is(value) if !value.is_null() || matches!(equality, Equality::Null) => {
                    self.encoder.encode_column(position, &value, &mut key)?;
                }
                _ => some = false,
            }
        }
        Ok(some.then(|| key.into()))
    }

    /// The encoded keys, if every key column has an equality. They are sorted and distinct.
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

    /// The ranges of keys: sorted, disjoint and nonempty.
    pub fn ranges(&self, context: &StatementContext) -> Result<Vec<RowRange>> {
        let Some(limits) = self.limits.evaluate(context)? else { return Ok(vec![]) };
        let mut ranges = Vec::new();
        self.each_prefix(context, |bounds, values| {
            ranges.extend(limits.behind(bounds.encode(values)?));
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

    /// Calls `each` with each combination of the equalities' values.
    fn each_prefix(
        &self,
        context: &StatementContext,
        mut each: impl FnMut(&KeyBounds, &[Datum]) -> Result<()>,
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
            let values: Vec<Datum> =
                choices.iter().zip(&picked).filter_map(|(values, index)| values.get(*index).cloned()).collect();
            each(self, &values)?;
            // Advance to the next combination; the last column varies fastest.
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
        match self.names.get(self.equalities.len()) {
            Some(name) => self.limits.describe(name, f, and),
            None => Ok(()),
        }
    }
}
