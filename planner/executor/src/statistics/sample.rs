//! [`Sample`]: a uniform random sample of a stream of items.

/// Keeps a fixed number of the offered items (reservoir sampling: Vitter 1985, algorithm R).
#[derive(Debug)]
pub struct Sample<T> {
    kept: Vec<T>,
    most: usize,
    offered: u64,
    random: u64,
}

impl<T> Sample<T> {
    /// Keeps at most `most` items. `seed` is any number.
    pub fn new(most: usize, seed: u64) -> Sample<T> {
        Sample { kept: Vec::new(), most, offered: 0, random: seed }
    }

    /// Offers an item. Answers the item that is not kept, if any.
    pub fn offer(&mut self, item: T) -> Option<T> {
        self.offered += 1;
        if self.kept.len() < self.most {
            self.kept.push(item);
            return None;
        }
        // Each place has the probability of one in `offered`. The bias of the remainder is below 2^-32 for any possible
        // table.
        let place = usize::try_from(self.next() % self.offered).unwrap_or(usize::MAX);
        match self.kept.get_mut(place) {
            Some(kept) => Some(std::mem::replace(kept, item)),
            None => Some(item),
        }
    }

    /// Reduces the sample to at most `most` items, chosen at random.
    pub fn keep_at_most(&mut self, most: usize) {
        self.most = self.most.min(most.max(1));
        while self.kept.len() > self.most {
            let place = usize::try_from(self.next() % self.kept.len() as u64).unwrap_or(0);
            self.kept.swap_remove(place);
        }
    }

    /// The items that are kept.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }

    /// Number of items offered so far.
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// Takes the items that are kept.
    pub fn into_kept(self) -> Vec<T> {
        self.kept
    }

    /// The next pseudorandom number (SplitMix64: Steele, Lea, Flood 2014).
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn all_of_few_and_some_of_many() {
        let mut few = Sample::new(10, 1);
        for number in 0..7 {
            let _ = few.offer(number);
        }
        assert_eq!(few.into_kept(), (0..7).collect::<Vec<_>>());
        let mut many = Sample::new(1000, 1);
        for number in 0..100_000 {
            let _ = many.offer(number);
        }
        assert_eq!(many.offered(), 100_000);
        let kept = many.into_kept();
        assert_eq!(kept.len(), 1000);
        let mut fewer = Sample::new(1000, 1);
        for number in 0..500 {
            let _ = fewer.offer(number);
        }
        fewer.keep_at_most(100);
        for number in 500..1000 {
            let _ = fewer.offer(number);
        }
        let late = fewer.kept().iter().filter(|number| **number >= 500).count();
        assert!(fewer.kept().len() == 100 && (30..70).contains(&late), "{late}");
        // Each tenth is drawn about equally often: 100 times are expected, with a standard deviation of 9.5.
        for tenth in 0..10 {
            let drawn = kept.iter().filter(|number| **number / 10_000 == tenth).count();
            assert!((60..=140).contains(&drawn), "{drawn} of the tenth {tenth}");
        }
    }
}
