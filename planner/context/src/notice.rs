//! [`Notice`]: messages to a client that are no errors.

use sql_error::{Fields, SqlError, SqlState};

/// A message that is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `WARNING`, `NOTICE`, `INFO`, `LOG` or `DEBUG`.
    pub severity: &'static str,
    /// The fields of the message, including the SQLSTATE.
    pub fields: Fields,
}

impl Notice {
    /// A NOTICE with a message.
    #[allow(clippy::self_named_constructors)]
    pub fn notice(message: impl Into<String>) -> Self {
        Self::new("NOTICE", sql_error::state::SUCCESSFUL_COMPLETION, message)
    }
    /// An INFO, which the client gets whatever client_min_messages says.
    pub fn info(message: impl Into<String>) -> Self {
        Self::new("INFO", sql_error::state::SUCCESSFUL_COMPLETION, message)
    }
    /// The NOTICE for an identifier cut to the maximum length.
    pub fn truncated(name: &str) -> Self {
        let cut = syntax::names::fold_text(name, true);
        let message = format!("identifier \"{name}\" will be truncated to \"{cut}\"");
        Self::notice(message).state(sql_error::state::NAME_TOO_LONG)
    }
    /// A WARNING with an SQLSTATE and a message.
    pub fn warning(state: SqlState, message: impl Into<String>) -> Self {
        Self::new("WARNING", state, message)
    }
    fn new(severity: &'static str, state: SqlState, message: impl Into<String>) -> Self {
        Notice { severity, fields: SqlError::new(state, message).fields().clone() }
    }
    /// Replaces the SQLSTATE of the message.
    #[must_use]
    pub fn state(mut self, state: SqlState) -> Self {
        self.fields.state = state;
        self
    }
    /// Sets the `HINT` field.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.fields.hint = Some(hint.into());
        self
    }
    /// Sets the `DETAIL` field.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.fields.detail = Some(detail.into());
        self
    }
}
