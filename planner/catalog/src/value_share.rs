//! Shares of a table's rows by what ANALYZE keeps of a column: the most common values and a histogram of the others.

use crate::{ColumnStatistics, StoredValue};

/// A value to compare with.
pub enum Constant {
    /// Its key, whose bytes are in the order of values.
    Key(Vec<u8>),
    /// Below all values of the type.
    Below,
    /// Above all of them.
    Above,
    /// NULL, which no comparison finds.
    Null,
}

impl ColumnStatistics {
    /// The share of all rows that have this value.
    pub fn share_equal(&self, value: &Constant, rows: f64) -> f64 {
        let Constant::Key(key) = value else { return 0.0 };
        if let Some((_, share)) = self.common.iter().find(|(common, _)| common.key == *key) {
            return *share;
        }
        // What is not common is at most as common as the least common of those that are.
        let rest = (1.0 - self.null_fraction - self.common_share()).max(0.0);
        let others = self.distinct_among(rows) - self.common.len() as f64;
        let least = self.common.last().map_or(1.0, |(_, share)| *share);
        if others < 1.0 { rest.min(1.0 / rows.max(1.0)) } else { (rest / others).min(least) }
    }

    /// The share of all rows that have an average value.
    pub fn share_equal_unknown(&self, rows: f64) -> f64 {
        let average = (1.0 - self.null_fraction) / self.distinct_among(rows);
        self.common.first().map_or(average, |(_, most)| average.min(*most))
    }

    fn common_share(&self) -> f64 {
        self.common.iter().map(|(_, share)| share).sum()
    }

    /// The share of values, those that are NULL aside, below this one, or equal to it.
    pub fn share_below(&self, value: &Constant, with_equal: bool) -> Option<f64> {
        let key = match value {
            Constant::Key(key) => key,
            Constant::Below => return Some(0.0),
            Constant::Above => return Some(1.0),
            Constant::Null => return None,
        };
        if self.common.is_empty() && self.histogram.len() < 2 {
            return None;
        }
        let inside = |common: &StoredValue| common.key < *key || (with_equal && common.key == *key);
        let common: f64 = self.common.iter().filter(|(common, _)| inside(common)).map(|(_, share)| share).sum();
        let present = (1.0 - self.null_fraction).max(f64::MIN_POSITIVE);
        let others = (present - self.common_share()).max(0.0);
        Some(((common + others * self.place(key)) / present).clamp(0.0, 1.0))
    }

    /// Where in the histogram a value lies, 0 to 1.
    fn place(&self, key: &[u8]) -> f64 {
        let parts = self.histogram.len().saturating_sub(1);
        let after = self.histogram.partition_point(|bound| bound.key.as_slice() < key);
        let (Some(part), Some(high)) = (after.checked_sub(1), self.histogram.get(after)) else {
            return if after == 0 { 0.0 } else { 1.0 };
        };
        let low = self.histogram.get(part).map_or(&[][..], |bound| &bound.key);
        (part as f64 + between(low, key, &high.key)) / parts.max(1) as f64
    }
}

/// How far `key` is on the way from `low` to `high`, which are in this order: by the bytes behind what all begin with.
fn between(low: &[u8], key: &[u8], high: &[u8]) -> f64 {
    let same = low.iter().zip(high).take_while(|(low, high)| low == high).count();
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .skip(same)
            .copied()
            .chain(std::iter::repeat(0))
            .take(8)
            .fold(0.0, |number, byte| number * 256.0 + f64::from(byte))
    };
    let (low, key, high) = (number(low), number(key), number(high));
    if high > low { ((key - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}
