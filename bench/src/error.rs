//! [`Error`]: failures of the benchmark, with the full text of server errors.

use tokio_postgres::error::SqlState;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", full(.0))]
    Server(#[from] tokio_postgres::Error),
    #[error("{0}")]
    File(#[from] std::io::Error),
    #[error("{0}")]
    Other(String),
}

impl Error {
    pub fn other(text: impl Into<String>) -> Error {
        Error::Other(text.into())
    }

    /// The SQLSTATE of the server. `closed` means a lost connection, `client` an error of this program.
    pub fn code(&self) -> &str {
        match self {
            Error::Server(error) => {
                error.code().map_or(if is_lost(error) { "closed" } else { "client" }, SqlState::code)
            }
            Error::File(_) | Error::Other(_) => "client",
        }
    }

    /// Whether the transaction conflicted, so that a repeat may succeed.
    pub fn is_conflict(&self) -> bool {
        matches!(self.code(), "40001" | "40P01")
    }

    /// Whether the connection is still usable, because the server answered with an error.
    pub fn is_answer(&self) -> bool {
        match self {
            Error::Server(error) => error.as_db_error().is_some_and(|error| !error.code().code().starts_with("57P")),
            Error::File(_) | Error::Other(_) => true,
        }
    }
}

/// Whether the connection is lost or could not be made.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    use std::error::Error as _;
    error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>())
}

fn full(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    match error.as_db_error() {
        Some(answer) => {
            let detail = answer.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
            format!("{} {}{detail}", answer.code().code(), answer.message())
        }
        None => error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}")),
    }
}
