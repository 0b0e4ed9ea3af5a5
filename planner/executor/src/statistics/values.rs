//! [`summarize`]: computes a column's statistics from a sample of its values.
//!
//! They are the most common values and a histogram of the others, as in `pg_stats` (manual, 54.27). The number of
//! distinct values follows the estimator of Haas and Stokes (1998, "Duj1").

use catalog::encoding::{KeyColumn, KeyEncoder};
use catalog::{ColumnId, ColumnStatistics, StoredValue};
use datafusion::arrow::array::{Array, ArrayRef};
use sql_error::Result;
use types::text::{OutputContext, output_string};
use types::{BaseType, SqlType};

/// Values with longer keys are counted but not kept.
const LONGEST_KEY: usize = 1024;
/// A common value is at least this many times as frequent as the average.
const COMMON: f64 = 1.25;
/// From this share of rows on, the number of distinct values is assumed to grow with the table.
const GROWING: f64 = 0.1;

/// A column of a sample.
pub struct Sampled<'a> {
    /// Id of the column.
    pub column: ColumnId,
    /// SQL type of the column.
    pub ty: SqlType,
    /// The column's values in the sample.
    pub values: &'a ArrayRef,
    /// Number of rows of the table.
    pub rows: f64,
    /// Most common values and most histogram bounds to keep.
    pub target: usize,
}

/// A distinct value of the sample and its number of occurrences.
struct Run {
    key: Vec<u8>,
    row: usize,
    times: usize,
}

/// Computes the statistics of a column. Values without an order give only their average length.
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
    // All values if the sample contains every one. Otherwise only those that stand out.
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

/// The distinct values in order, and the bytes of all values.
fn runs(ty: SqlType, values: &ArrayRef) -> Result<(Vec<Run>, usize)> {
    let encoder = KeyEncoder::new(vec![KeyColumn::ascending(ty)]);
    let arrays = std::slice::from_ref(values);
    let mut keys = Vec::with_capacity(values.len());
    let mut bytes = 0;
    for row in (0..values.len()).filter(|row| values.is_valid(*row)) {
        let mut key = Vec::new();
        encoder.encode_row(arrays, row, &mut key)?;
        // The key's marker byte is not part of the value.
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

/// Estimates the number of distinct values in `all` rows. The sample of `sampled` rows has `found` distinct values, of
/// which `once` occur once. A negative result is a multiple of `rows`.
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
        // No value occurs twice in the sample, so all values of the table are assumed to be distinct.
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
        // 30,000 of a million rows with 5,000 distinct values: almost all occur several times.
        let known = of((0..30_000).map(|number: i32| Some((number * 7919) % 5000)).collect(), 1e6, 100);
        assert_eq!(known.distinct, 5000.0);
    }

    #[test]
    fn nothing_but_nulls() {
        let known = of(vec![None; 10], 10.0, 100);
        assert_eq!((known.null_fraction, known.distinct), (1.0, 0.0));
    }
}
