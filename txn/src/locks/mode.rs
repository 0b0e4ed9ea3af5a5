//! [`LockMode`]: the mode in which a name is locked. [`LockName`]: the locked name. A mode is a number and the set of
//! numbers that it excludes. So row strengths, table modes and advisory locks are all data to the lock table.

use crate::lock::LockStrength;
use sha2::{Digest, Sha256};
use std::fmt;

/// A mode of holding a name. Within one kind of name, exclusion is symmetric: if `a` excludes `b`, `b` excludes `a`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LockMode {
    number: u8,
    excludes: u16,
    /// The modes that make this one superfluous, as a set of bits.
    covered_by: u16,
}

impl LockMode {
    /// Mode `number` (0 to 15) of a kind of name. `excludes` has a bit for each number that others may not hold
    /// at the same time.
    pub const fn new(number: u8, excludes: u16) -> LockMode {
        assert!(number < 16, "sixteen modes at most");
        LockMode { number, excludes, covered_by: 1 << number }
    }

    /// The mode for a row lock of this strength (PostgreSQL's manual, table 13.3).
    pub const fn of_row(strength: LockStrength) -> LockMode {
        let (number, excludes) = match strength {
            LockStrength::KeyShare => (0, 0b1000),
            LockStrength::Share => (1, 0b1100),
            LockStrength::NoKeyUpdate => (2, 0b1110),
            LockStrength::Update => (3, 0b1111),
        };
        LockMode { number, excludes, covered_by: 0b1111 & !((1 << number) - 1) }
    }

    /// The strength of a row's mode.
    pub const fn strength(self) -> LockStrength {
        match self.number {
            0 => LockStrength::KeyShare,
            1 => LockStrength::Share,
            2 => LockStrength::NoKeyUpdate,
            _ => LockStrength::Update,
        }
    }

    /// The mode's number, from 0 to 15.
    pub const fn number(self) -> u8 {
        self.number
    }

    /// Whether another locker may not hold `other` at the same time.
    pub const fn excludes_mode(self, other: LockMode) -> bool {
        self.excludes(other.bit())
    }

    /// Whether the mode is compatible with itself and with all modes of smaller numbers, so that it
    /// excludes only stronger ones.
    pub const fn is_weak(self) -> bool {
        self.excludes & ((2 << self.number) - 1) == 0
    }

    /// The whole mode as one number, for sending it.
    pub fn to_bits(self) -> u64 {
        u64::from(self.number) | u64::from(self.excludes) << 16 | u64::from(self.covered_by) << 32
    }

    /// The mode in a number of [`LockMode::to_bits`]. `None` if it is not valid.
    pub fn from_bits(bits: u64) -> Option<LockMode> {
        let number = u8::try_from(bits & 0xffff).ok().filter(|number| *number < 16)?;
        let part = |shift: u32| (bits >> shift & 0xffff) as u16;
        Some(LockMode { number, excludes: part(16), covered_by: part(32) })
    }

    pub(super) const fn bit(self) -> u16 {
        1 << self.number
    }

    /// Whether it cannot be held while another locker holds any of `modes`.
    pub(super) const fn excludes(self, modes: u16) -> bool {
        self.excludes & modes != 0
    }

    /// Whether a holder of `modes` need not also take this one.
    pub(super) const fn is_covered_by(self, modes: u16) -> bool {
        self.covered_by & modes != 0
    }
}

impl fmt::Debug for LockMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mode {}", self.number)
    }
}

/// A locked name: a kind, and a truncated SHA-256 digest of its bytes. So a million held rows take little memory.
/// Short byte strings, such as those of a table, stand for themselves. Servers of different builds agree on the
/// names. Two names with the same digest (probability 2^-120 per pair) would only wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LockName(u128);

/// The longest byte string that is not digested. With its length it is as long as a digest.
const AS_THEY_ARE: usize = 14;

impl LockName {
    /// The name of `bytes` among the names of a kind.
    pub fn new(kind: u8, bytes: &[u8]) -> LockName {
        let append = |name: u128, byte: &u8| name << 8 | u128::from(*byte);
        if bytes.len() <= AS_THEY_ARE {
            // The length comes first, so that no two names are equal.
            let length = bytes.len() as u128;
            return LockName(u128::from(kind) << 120 | bytes.iter().fold(length, append));
        }
        let digest = Sha256::new().chain_update([kind]).chain_update(bytes).finalize();
        let low = digest.iter().take(AS_THEY_ARE + 1).fold(0, append);
        LockName(u128::from(kind) << 120 | low)
    }

    /// The digest in two halves, for sending it.
    pub fn to_halves(self) -> (u64, u64) {
        ((self.0 >> 64) as u64, self.0 as u64)
    }

    /// The name with these halves.
    pub fn from_halves(high: u64, low: u64) -> LockName {
        LockName(u128::from(high) << 64 | u128::from(low))
    }

    /// The kind of the name.
    pub fn kind(self) -> u8 {
        (self.0 >> 120) as u8
    }

    /// The name of the row with this key.
    pub fn row(key: &[u8]) -> LockName {
        LockName::new(ROW, key)
    }
}

/// The kind of the names of rows.
pub const ROW: u8 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_modes_are_the_strengths() {
        use LockStrength::*;
        let all = [KeyShare, Share, NoKeyUpdate, Update];
        for a in all {
            for b in all {
                let (one, other) = (LockMode::of_row(a), LockMode::of_row(b));
                assert_eq!(one.excludes(other.bit()), a.conflicts_with(b), "{a:?} {b:?}");
                assert_eq!(one.strength(), a);
                assert_eq!(one.is_covered_by(other.bit()), a <= b, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn modes_and_names_are_sent_whole() {
        let row = LockMode::of_row(LockStrength::NoKeyUpdate);
        for mode in [row, LockMode::new(0, 0b10), LockMode::new(15, u16::MAX)] {
            assert_eq!(LockMode::from_bits(mode.to_bits()), Some(mode));
        }
        assert_eq!(LockMode::from_bits(16), None);
        assert!(LockMode::of_row(LockStrength::KeyShare).is_weak() && !row.is_weak());
        assert_eq!(LockName::new(3, b"name").0, 0x0300_0000_0000_0000_0000_0004_6e61_6d65);
        let name = LockName::new(3, b"a name of many bytes");
        // printf '\003a name of many bytes' | sha256sum
        assert_eq!(name.0, 0x0329177a5d683ca18e1c3ca5c5850724);
        let (high, low) = name.to_halves();
        assert_eq!(LockName::from_halves(high, low), name);
    }

    #[test]
    fn names_differ_by_kind_and_bytes() {
        let zeros = [0; AS_THEY_ARE + 2];
        let mut names = vec![LockName::row(b"a"), LockName::row(b"b"), LockName::new(1, b"a")];
        names.extend((0..=zeros.len()).filter_map(|length| zeros.get(..length)).map(LockName::row));
        names.push(LockName::row(&[0xff; AS_THEY_ARE]));
        for (at, name) in names.iter().enumerate() {
            assert_eq!(name.kind(), u8::from(at == 2));
            assert_eq!(names.iter().position(|other| other == name), Some(at));
        }
    }
}
