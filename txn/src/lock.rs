//! [`LockStrength`]: how strongly a transaction holds a key.

/// The strength of a lock or lock-only record, PostgreSQL's four row locks (manual, chapter
/// 13.3.2). The number is the class byte of the record, so that conflicts are ranges of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum LockStrength {
    /// `FOR KEY SHARE`: a foreign-key check; only a delete or key change conflicts.
    KeyShare = 1,
    /// `FOR SHARE`: the row must not change.
    Share = 2,
    /// `FOR NO KEY UPDATE`: an update that leaves the keys alone.
    NoKeyUpdate = 3,
    /// `FOR UPDATE`: a delete, an insert, or an update of a key.
    Update = 4,
}

impl LockStrength {
    /// The weakest strength that conflicts with this one; all stronger ones do too.
    pub fn weakest_conflicting(self) -> LockStrength {
        match self {
            LockStrength::KeyShare => LockStrength::Update,
            LockStrength::Share => LockStrength::NoKeyUpdate,
            LockStrength::NoKeyUpdate => LockStrength::Share,
            LockStrength::Update => LockStrength::KeyShare,
        }
    }

    /// Whether holders of the two strengths exclude each other.
    pub fn conflicts_with(self, other: LockStrength) -> bool {
        other >= self.weakest_conflicting()
    }
}
