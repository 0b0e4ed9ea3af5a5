//! Two servers measured in turn: the order within each pair, and a confidence interval of the pairs' ratios.

/// With this many values the interval has 95 % confidence. With fewer it is only the observed range.
pub const ENOUGH: usize = 6;

/// The order of the servers in a pair, with pairs counted from 0: A B, B A, … It alternates, so that neither server
/// always inherits the machine's state from the other.
pub fn turns(pair: usize) -> [usize; 2] {
    if pair.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

/// The median of the values; NaN if there are none.
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

/// The 95 % confidence interval of the median, independent of the distribution: each value lies below the median with
/// probability one half (sign test; Conover, Practical Nonparametric Statistics, 3.2). With fewer than [`ENOUGH`]
/// values, the smallest and the largest.
pub fn interval(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // `tail` is the probability that fewer than `below` values lie below the median. `term` is the probability of
    // exactly `below` values.
    let (mut below, mut term, mut tail) = (0, 0.5f64.powi(i32::try_from(n).unwrap_or(i32::MAX)), 0.0);
    while below < n && 2.0 * (tail + term) <= 0.05 {
        tail += term;
        term *= (n - below) as f64 / (below + 1) as f64;
        below += 1;
    }
    let at = below.saturating_sub(1);
    match (sorted.get(at), sorted.get(n.wrapping_sub(at + 1))) {
        (Some(low), Some(high)) => (*low, *high),
        _ => (f64::NAN, f64::NAN),
    }
}

/// The median of the pairs' ratios, and the bounds of its [`interval`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Median of the ratios of B to A.
    pub median: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
}

/// Comparison of A and B in one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The median of A, if it was measured.
    pub a: Option<f64>,
    /// The median of B, if it was measured.
    pub b: Option<f64>,
    /// Ratio over the pairs in which both were measured and A is not 0. `None` if there is no such pair.
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
        // Three values give no narrower interval at this confidence.
        assert_eq!(interval(&[3.0, 1.0, 2.0]), (1.0, 3.0));
        assert!(interval(&[]).0.is_nan());
        // As in tables of the sign test: all six values, all but one at each end of nine, all but two of twelve.
        let bounds = |n: u32| interval(&(1..=n).map(f64::from).collect::<Vec<_>>());
        assert_eq!([6, 8, 9, 12, 20].map(bounds), [(1.0, 6.0), (1.0, 8.0), (2.0, 8.0), (3.0, 10.0), (6.0, 15.0)]);
    }

    #[test]
    fn pairs_take_turns() {
        let order: String = (0..4).flat_map(turns).map(|which| if which == 0 { 'A' } else { 'B' }).collect();
        assert_eq!(order, "ABBAABBA");
    }

    #[test]
    fn ratios_are_of_pairs() {
        // The median of the ratios is 2. The ratio of the medians would be 20 / 4 = 5.
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
