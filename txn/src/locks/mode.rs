//! [`LockMode`]: in which way a name is locked, and [`LockName`]: what is. A mode is a number and the set of numbers that
//! it excludes, so that row strengths, table modes and advisory locks all are data to the lock table.

use crate::lock::LockStrength;
use sha2::{Digest, Sha256};
use std::fmt;

/// A way to hold a name. Modes of one kind of name exclude each other mutually: if `a` excludes `b`, `b` excludes `a`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LockMode {
    number: u8,
    excludes: u16,
    /// Modes that make this one superfluous.
    covered_by: u16,
}

impl LockMode {
    /// Mode `number` (0 to 15) of a kind of name; `excludes` has a bit set for each number that others may not hold at
    /// the same time.
    pub const fn new(number: u8, excludes: u16) -> LockMode {
        assert!(number < 16, "sixteen modes at most");
        LockMode { number, excludes, covered_by: 1 << number }
    }

    /// The mode of a row's strength (PostgreSQL's manual, table 13.3).
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

    /// Its number.
    pub const fn number(self) -> u8 {
        self.number
    }

    /// Whether another may not hold `other` at the same time.
    pub const fn excludes_mode(self, other: LockMode) -> bool {
        self.excludes(other.bit())
    }

    /// Whether it goes together with itself and with every mode of a smaller number: those who hold it keep only stronger
    /// ones out.
    pub const fn is_weak(self) -> bool {
        self.excludes & ((2 << self.number) - 1) == 0
    }

    /// All of it in one number, to be sent.
    pub fn to_bits(self) -> u64 {
        u64::from(self.number) | u64::from(self.excludes) << 16 | u64::from(self.covered_by) << 32
    }

    /// The mode in a number; `None` when there is none.
    pub fn from_bits(bits: u64) -> Option<LockMode> {
        let number = u8::try_from(bits & 0xffff).ok().filter(|number| *number < 16)?;
        let part = |shift: u32| (bits >> shift & 0xffff) as u16;
        Some(LockMode { number, excludes: part(16), covered_by: part(32) })
    }

    pub(super) const fn bit(self) -> u16 {
        1 << self.number
    }

    /// Whether it cannot be held while another holds any of `modes`.
    pub(super) const fn excludes(self, modes: u16) -> bool {
        self.excludes & modes != 0
    }

    /// Whether who holds `modes` needs no more to have this one.
    pub(super) const fn is_covered_by(self, modes: u16) -> bool {
        self.covered_by & modes != 0
    }
}

impl fmt::Debug for LockMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mode {}", self.number)
    }
}

/// What is locked: a kind, and a digest (SHA-256, cut) of its bytes, so that a million held rows take little memory; few bytes, as
/// those of a table, stand for themselves. Servers of different builds agree on it. Two names that are one by their digests (a chance of
/// 2^-120 a pair) would only wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LockName(u128);

/// Bytes that need no digest: with their length they take as much as one.
const AS_THEY_ARE: usize = 14;

impl LockName {
    /// The name of `bytes` among those of a kind.
    pub fn new(kind: u8, bytes: &[u8]) -> LockName {
        let append = |name: u128, byte: &u8| name << 8 | u128::from(*byte);
        if bytes.len() <= AS_THEY_ARE {
            // The length goes before, so that no two are alike.
            let length = bytes.len() as u128;
            return LockName(u128::from(kind) << 120 | bytes.iter().fold(length, append));
        }
        let digest = Sha256::new().chain_update([kind]).chain_update(bytes).finalize();
        let low = digest.iter().take(AS_THEY_ARE + 1).fold(0, append);
        LockName(u128::from(kind) << 120 | low)
    }

    /// The digest in two halves, to be sent.
    pub fn to_halves(self) -> (u64, u64) {
        ((self.0 >> 64) as u64, self.0 as u64)
    }

    /// The name of such halves.
    pub fn from_halves(high: u64, low: u64) -> LockName {
        LockName(u128::from(high) << 64 | u128::from(low))
    }

    /// Among which names it is.
    pub fn kind(self) -> u8 {
        (self.0 >> 120) as u8
    }

    /// A row, by its key.
    pub fn row(key: &[u8]) -> LockName {
        LockName::new(ROW, key)
    }
}

/// The kind of names that stand for rows.
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
