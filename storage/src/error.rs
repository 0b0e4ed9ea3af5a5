//! [`StoreError`]: what can go wrong in a store, by what the caller should do.

use std::fmt;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// There is no free space, or less than the reserve: nothing was written, reads go on. SQLSTATE 53100.
    DiskFull(String),
    /// The store no longer takes writes until it is restarted (a write or sync failed).
    ReadOnly(String),
    /// The write may or may not have happened: find out by reading. SQLSTATE 40003 at last.
    Undetermined(String),
    /// Another process has the store open.
    InUse(String),
    /// Files are damaged. Restore from a backup. SQLSTATE XX001.
    Corrupted(String),
    /// The store was written by another version of the format.
    Format(String),
    /// The operating system refused: permissions, missing folder.
    Io(String),
    /// The engine cannot do this; the caller should not have asked.
    Unsupported(String),
    /// A key, value or request beyond the engine's limits. SQLSTATE 54000.
    TooLarge(String),
    /// The store did not answer in time; nothing is known to have happened.
    Unavailable(String),
}

/// A result of the store.
pub type Result<T> = std::result::Result<T, StoreError>;

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, detail) = match self {
            StoreError::DiskFull(s) => ("disk full", s),
            StoreError::ReadOnly(s) => ("the store is read-only until restart", s),
            StoreError::Undetermined(s) => ("the outcome of a write is not known", s),
            StoreError::InUse(s) => ("the store is in use", s),
            StoreError::Corrupted(s) => ("the store is corrupted", s),
            StoreError::Format(s) => ("unsupported store format", s),
            StoreError::Io(s) => ("input/output error", s),
            StoreError::Unsupported(s) => ("not supported by this engine", s),
            StoreError::TooLarge(s) => ("beyond a limit of the store", s),
            StoreError::Unavailable(s) => ("the store is unavailable", s),
        };
        write!(f, "{what}: {detail}")
    }
}

impl std::error::Error for StoreError {}
