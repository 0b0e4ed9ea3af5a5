//! Two servers measured in turn: who is first in which pair, and how far the ratios of the pairs can be trusted. Must not know what was
//! measured.

use crate::random::Stream;

/// Samples of the bootstrap.
const SAMPLES: usize = 5000;

/// Who runs first and who second in a pair, counted from 0: A B, B A, … so that neither always finds the machine as the other left it.
pub fn turns(pair: usize) -> [usize; 2] {
    if pair.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

/// The middle of some numbers; not a number when there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// Between which bounds the median lies with 95 % confidence, by drawing again from the same values.
pub fn interval(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let mut stream = Stream::of(1, 0, values.len() as u64);
    let mut medians: Vec<f64> =
        (0..SAMPLES).map(|_| median(&values.iter().map(|_| *stream.pick(values)).collect::<Vec<_>>())).collect();
    medians.sort_by(f64::total_cmp);
    (medians[SAMPLES / 40], medians[SAMPLES - 1 - SAMPLES / 40])
}

/// The median of the pairs' ratios, and the bounds of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// B to A.
    pub median: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// How A and B compare in one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The median of A, where it was measured.
    pub a: Option<f64>,
    /// The median of B, where it was measured.
    pub b: Option<f64>,
    /// Of the pairs in which both were measured and A is not 0; nothing where there is no such pair.
    pub ratio: Option<Ratio>,
}

/// Compares a figure of A with that of B, pair by pair.
pub fn compare(pairs: &[(Option<f64>, Option<f64>)]) -> Comparison {
    let middle = |values: Vec<f64>| (!values.is_empty()).then(|| median(&values));
    let ratios: Vec<f64> = pairs
        .iter()
        .filter_map(|pair| Some((pair.0?, pair.1?)))
        .filter(|(a, _)| *a > 0.0)
        .map(|(a, b)| b / a)
        .collect();
    let (low, high) = interval(&ratios);
    Comparison {
        a: middle(pairs.iter().filter_map(|pair| pair.0).collect()),
        b: middle(pairs.iter().filter_map(|pair| pair.1).collect()),
        ratio: (!ratios.is_empty()).then(|| Ratio { median: median(&ratios), low, high }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_median() {
        let values = [1.0, 1.1, 0.9, 1.05, 0.95];
        let (low, high) = interval(&values);
        assert!(low <= median(&values) && median(&values) <= high && low >= 0.9 && high <= 1.1);
        assert_eq!(median(&[3.0, 1.0]), 2.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert!(median(&[]).is_nan());
        assert_eq!(interval(&[2.0]), (2.0, 2.0));
        // Of three values nothing between them can be said with this confidence.
        assert_eq!(interval(&[3.0, 1.0, 2.0]), (1.0, 3.0));
    }

    #[test]
    fn pairs_take_turns() {
        let order: String = (0..4).flat_map(turns).map(|which| if which == 0 { 'A' } else { 'B' }).collect();
        assert_eq!(order, "ABBAABBA");
    }

    #[test]
    fn ratios_are_of_pairs() {
        // The median of the ratios (2), which is not the ratio of the medians (20 / 4 = 5).
        let pairs = [(Some(10.0), Some(20.0)), (Some(4.0), Some(2.0)), (Some(1.0), Some(100.0))];
        let compared = compare(&pairs);
        assert_eq!((compared.a, compared.b), (Some(4.0), Some(20.0)));
        assert_eq!(compared.ratio, Some(Ratio { median: 2.0, low: 0.5, high: 100.0 }));
    }

    #[test]
    fn what_was_not_measured_or_is_zero_gives_no_ratio() {
        let compared = compare(&[(Some(1.0), None), (None, Some(2.0)), (Some(0.0), Some(1.0))]);
        assert_eq!(compared, Comparison { a: Some(0.5), b: Some(1.5), ratio: None });
        assert_eq!(compare(&[]), Comparison { a: None, b: None, ratio: None });
    }
}
