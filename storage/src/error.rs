//! [`StoreError`]: the errors of a store, divided by what the caller should do.

use std::fmt;

/// An error of the store. Each variant carries a message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Free space is below the reserve. Nothing was written; reads go on. SQLSTATE 53100.
    DiskFull(String),
    /// A write or sync failed earlier. The store takes no more writes until it is restarted.
    ReadOnly(String),
    /// The write may or may not have happened: the caller finds out by reading. SQLSTATE 40003 if it cannot.
    Undetermined(String),
    /// Another process has the store open.
    InUse(String),
    /// Files are damaged. Restore from a backup. SQLSTATE XX001.
    Corrupted(String),
    /// The files have another format version.
    Format(String),
    /// The operating system refused an operation, for example for lack of permissions.
    Io(String),
    /// The engine cannot do this. The caller should not have asked.
    Unsupported(String),
    /// A key, a value or a request exceeds the engine's limits. SQLSTATE 54000.
    TooLarge(String),
    /// The store did not answer in time. The request is not known to have had an effect.
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
