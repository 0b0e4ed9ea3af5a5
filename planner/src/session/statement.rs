//! [`Statement`]: one parsed statement, opaque to the server.

pub use crate::parse::Statement;
