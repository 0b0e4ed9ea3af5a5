//! [`Sample`]: some of many, each as likely as any other.

/// Keeps so many of what is offered (reservoir sampling: Vitter 1985, algorithm R).
#[derive(Debug)]
pub struct Sample<T> {
    kept: Vec<T>,
    most: usize,
    offered: u64,
    random: u64,
}

impl<T> Sample<T> {
    /// Keeps `most` at most; `seed` is any number.
    pub fn new(most: usize, seed: u64) -> Sample<T> {
        Sample { kept: Vec::new(), most, offered: 0, random: seed }
    }

    /// Takes one, or not; answers what is not kept for it.
    pub fn offer(&mut self, item: T) -> Option<T> {
        self.offered += 1;
        if self.kept.len() < self.most {
            self.kept.push(item);
            return None;
        }
        // One in `offered` for each place; the remainder's bias is below 2^-32 for what a table can have.
        let place = usize::try_from(self.next() % self.offered).unwrap_or(usize::MAX);
        match self.kept.get_mut(place) {
            Some(kept) => Some(std::mem::replace(kept, item)),
            None => Some(item),
        }
    }

    /// Keeps fewer from now on: no more than `most`, drawn from what is kept.
    pub fn keep_at_most(&mut self, most: usize) {
        self.most = self.most.min(most.max(1));
        while self.kept.len() > self.most {
            let place = usize::try_from(self.next() % self.kept.len() as u64).unwrap_or(0);
            self.kept.swap_remove(place);
        }
    }

    /// What is kept.
    pub fn kept(&self) -> &[T] {
        &self.kept
    }

    /// How many were offered.
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// What was kept.
    pub fn into_kept(self) -> Vec<T> {
        self.kept
    }

    /// The next of a series of numbers that look random (SplitMix64: Steele, Lea, Flood 2014).
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
        // Each tenth is drawn from about as often as any other: 100 expected, a standard deviation of 9.5.
        for tenth in 0..10 {
            let drawn = kept.iter().filter(|number| **number / 10_000 == tenth).count();
            assert!((60..=140).contains(&drawn), "{drawn} of the tenth {tenth}");
        }
    }
}
