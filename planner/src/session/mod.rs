//! [`Session`]: a client's conversation below the wire: settings, transaction, statements.

pub mod settings;
pub mod shared;
