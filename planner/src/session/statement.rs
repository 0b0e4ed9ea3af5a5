//! [`Statement`]: one parsed statement, opaque to the server.

/// One parsed statement.
#[derive(Debug)]
pub struct Statement {
    _todo: (),
}
