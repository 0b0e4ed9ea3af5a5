//! [`summarize`]: from a sample of a column's values to what is known of the column.
//!
//! Most common values and a histogram of the others, as the manual tells of `pg_stats` (chapter 54.27); the number of different
//! values by the estimator of Haas and Stokes (1998, "Duj1").

use crate::catalog::{ColumnId, ColumnStatistics, StoredValue};
use crate::encoding::{KeyColumn, KeyEncoder};
use crate::error::Result;
use crate::types::text::{OutputContext, output_string};
use crate::types::{BaseType, SqlType};
use datafusion::arrow::array::{Array, ArrayRef};

/// Values with longer keys are counted, and not kept.
const LONGEST_KEY: usize = 1024;
/// A common value is so many times as common as values are on average.
const COMMON: f64 = 1.25;
/// From this share of rows on, the number of different values is taken to grow with the table.
const GROWING: f64 = 0.1;

/// A column of a sample.
pub struct Sampled<'a> {
    /// The column.
    pub column: ColumnId,
    /// Its type.
    pub ty: SqlType,
    /// Its values in the sample.
    pub values: &'a ArrayRef,
    /// Rows of the table.
    pub rows: f64,
    /// Common values and histogram bounds kept, at most.
    pub target: usize,
}

/// A value of the sample and how often it is there.
struct Run {
    key: Vec<u8>,
    row: usize,
    times: usize,
}

/// What is known of a column; of values that have no order only how long they are.
pub fn summarize(sampled: &Sampled<'_>) -> Result<ColumnStatistics> {
    let Sampled { column, ty, values, rows, target } = *sampled;
    let sampled_rows = values.len();
    let present = sampled_rows - values.null_count();
    let mut statistics = ColumnStatistics {
        column,
        ty,
        null_fraction: share(values.null_count(), sampled_rows),
        width: 0.0,
        distinct: 0.0,
        common: Vec::new(),
        histogram: Vec::new(),
    };
    if present == 0 {
        return Ok(statistics);
    }
    if matches!(ty.base, BaseType::Json | BaseType::Jsonpath) {
        let mut bytes = 0;
        for row in (0..values.len()).filter(|row| values.is_valid(*row)) {
            bytes += output_string(ty, values.as_ref(), row, &OutputContext::PLAIN)?.len();
        }
        statistics.width = bytes as f64 / present as f64;
        return Ok(statistics);
    }
    let (runs, bytes) = runs(ty, values)?;
    statistics.width = bytes as f64 / present as f64;
    let repeated = runs.iter().filter(|run| run.times > 1).count();
    let all = rows * (1.0 - statistics.null_fraction);
    statistics.distinct = different(runs.len(), runs.len() - repeated, present, all, rows);

    let text = |run: &Run| -> Result<StoredValue> {
        Ok(StoredValue {
            key: run.key.clone(),
            text: output_string(ty, values.as_ref(), run.row, &OutputContext::PLAIN)?,
        })
    };
    // All of them, when these are all there are; else those that stand out.
    let complete = statistics.distinct > 0.0 && runs.len() <= target && statistics.distinct <= runs.len() as f64;
    let least = if complete { 1.0 } else { (COMMON * present as f64 / runs.len() as f64).max(2.0) };
    let mut common: Vec<&Run> =
        runs.iter().filter(|run| run.times as f64 >= least && run.key.len() <= LONGEST_KEY).collect();
    common.sort_by(|one, other| other.times.cmp(&one.times).then_with(|| one.key.cmp(&other.key)));
    common.truncate(target);
    for run in &common {
        statistics.common.push((text(run)?, share(run.times, sampled_rows)));
    }
    let is_common = |run: &Run| common.iter().any(|one| one.row == run.row);
    let others: Vec<&Run> = runs.iter().filter(|run| run.key.len() <= LONGEST_KEY && !is_common(run)).collect();
    let bounds = others.len().min(target + 1);
    if bounds >= 2 {
        let total: usize = others.iter().map(|run| run.times).sum();
        let (mut at, mut before) = (others.iter(), 0);
        let mut current = at.next();
        for bound in 0..bounds {
            let wanted = bound * (total - 1) / (bounds - 1);
            while let Some(run) = current
                && before + run.times <= wanted
            {
                before += run.times;
                current = at.next();
            }
            if let Some(run) = current {
                statistics.histogram.push(text(run)?);
            }
        }
    }
    Ok(statistics)
}

/// The values in order, each once, and the bytes of all.
fn runs(ty: SqlType, values: &ArrayRef) -> Result<(Vec<Run>, usize)> {
    let encoder = KeyEncoder::new(vec![KeyColumn::ascending(ty)]);
    let arrays = std::slice::from_ref(values);
    let mut keys = Vec::with_capacity(values.len());
    let mut bytes = 0;
    for row in (0..values.len()).filter(|row| values.is_valid(*row)) {
        let mut key = Vec::new();
        encoder.encode_row(arrays, row, &mut key)?;
        // The marker before a value is not its own.
        bytes += key.len() - 1;
        keys.push((key, row));
    }
    keys.sort_unstable();
    let mut runs: Vec<Run> = Vec::new();
    for (key, row) in keys {
        match runs.last_mut() {
            Some(run) if run.key == key => run.times += 1,
            _ => runs.push(Run { key, row, times: 1 }),
        }
    }
    Ok((runs, bytes))
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// How many different values there are in `all`, when of `sampled` ones `found` differ and `once` of those came once; below zero when
/// that is to be taken as a multiple of `rows`.
fn different(found: usize, once: usize, sampled: usize, all: f64, rows: f64) -> f64 {
    let (n, d, f1) = (sampled as f64, found as f64, once as f64);
    let estimate = if once == found && all > n { all } else { (n * d / (n - f1 + f1 * n / all)).clamp(d, all.max(d)) };
    let estimate = estimate.round();
    if estimate > GROWING * rows { -(estimate / rows).min(1.0) } else { estimate }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use datafusion::arrow::array::Int32Array;
    use std::sync::Arc;

    fn of(values: Vec<Option<i32>>, rows: f64, target: usize) -> ColumnStatistics {
        let values: ArrayRef = Arc::new(Int32Array::from(values));
        let sampled = Sampled { column: 1, ty: SqlType::INT4, values: &values, rows, target };
        summarize(&sampled).unwrap()
    }

    fn texts(values: &[StoredValue]) -> Vec<&str> {
        values.iter().map(|value| value.text.as_str()).collect()
    }

    #[test]
    fn a_key_has_as_many_values_as_rows() {
        let known = of((0..1000).map(Some).collect(), 1000.0, 4);
        assert_eq!(known.distinct, -1.0);
        assert!(known.common.is_empty());
        assert_eq!(texts(&known.histogram), ["0", "249", "499", "749", "999"]);
        // Nothing came twice in the sample: so it will be in the table.
        assert_eq!(of((0..1000).map(Some).collect(), 1e6, 4).distinct, -1.0);
    }

    #[test]
    fn few_values_are_all_common() {
        let known = of((0..1000).map(|number| (number % 10 != 0).then_some(number % 3)).collect(), 1000.0, 4);
        assert_eq!(known.distinct, 3.0);
        assert_eq!(known.null_fraction, 0.1);
        assert_eq!(known.common.len(), 3);
        assert!(known.histogram.is_empty());
        let sum: f64 = known.common.iter().map(|(_, share)| share).sum();
        assert!((sum - 0.9).abs() < 1e-9);
        assert_eq!(known.width, 4.0);
    }

    #[test]
    fn what_stands_out_is_common_and_the_rest_a_histogram() {
        let known = of((0..1000).map(|number| Some(if number < 400 { 7 } else { number })).collect(), 1000.0, 10);
        assert_eq!(known.common.len(), 1);
        assert_eq!(known.common[0].0.text, "7");
        assert_eq!(known.common[0].1, 0.4);
        assert_eq!(known.histogram.len(), 11);
        assert_eq!((known.histogram[0].text.as_str(), known.histogram[10].text.as_str()), ("400", "999"));
    }

    #[test]
    fn the_number_of_values_is_estimated_from_those_that_came_once() {
        // 30,000 of a million rows, 5,000 different values: almost all came several times.
        let known = of((0..30_000).map(|number: i32| Some((number * 7919) % 5000)).collect(), 1e6, 100);
        assert_eq!(known.distinct, 5000.0);
    }

    #[test]
    fn nothing_but_nulls() {
        let known = of(vec![None; 10], 10.0, 100);
        assert_eq!((known.null_fraction, known.distinct), (1.0, 0.0));
    }
}
