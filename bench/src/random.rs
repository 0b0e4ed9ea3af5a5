//! Seeded random streams. They give the same numbers on every machine and with every version of every library, because
//! the population and the inputs of a run are functions of seeds.

/// Scatters the bits of a number (the finaliser of SplitMix64).
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of pseudo-random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Stream(u64);

impl Stream {
    /// The stream of one object, given by a purpose (any constant) and an id.
    pub fn of(seed: u64, purpose: u64, id: u64) -> Stream {
        Stream(mix(mix(seed ^ mix(purpose)) ^ id))
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let value = mix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        value
    }

    /// A uniform number in `0..count`.
    pub fn below(&mut self, count: u64) -> u64 {
        u64::try_from((u128::from(self.bits()) * u128::from(count)) >> 64).unwrap_or(0)
    }

    /// A uniform number in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.abs_diff(low).saturating_add(1);
        low.wrapping_add_unsigned(self.below(span))
    }

    /// Whether an event with this probability in percent occurs.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A uniform number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number with negative exponential distribution and the given mean, at most `limit`.
    pub fn exponential(&mut self, mean: f64, limit: f64) -> f64 {
        (-mean * (1.0 - self.unit()).ln()).min(limit)
    }

    /// A random element of a list. The list must not be empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }

    /// Shuffles a list in place.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            list.swap(place, self.below(place as u64 + 1) as usize);
        }
    }

    /// A skewed number in `low..=high`. It joins two uniform numbers by OR, so values with many one bits are more
    /// frequent.
    pub fn skewed(&mut self, low: i64, high: i64, mask: i64, shift: u32) -> i64 {
        let joined = self.between(low, high) | (self.between(0, mask) << shift);
        (joined % (high - low + 1)) + low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_the_same_for_ever() {
        let mut stream = Stream::of(7, 1, 42);
        let first: Vec<u64> = (0..3).map(|_| stream.bits()).collect();
        let mut again = Stream::of(7, 1, 42);
        assert_eq!(first, (0..3).map(|_| again.bits()).collect::<Vec<_>>());
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn bounds_hold_and_are_reached() {
        let mut stream = Stream::of(1, 2, 3);
        let seen: std::collections::BTreeSet<i64> = (0..1000).map(|_| stream.between(-2, 2)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
        for _ in 0..1000 {
            assert!((5..=90).contains(&stream.skewed(5, 90, 63, 1)));
            assert!(stream.exponential(1.0, 5.0) <= 5.0);
        }
    }
}
