//! Functions that look at the session: settings, sequences, the process.

use super::registry::ScalarFunction;

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    Vec::new()
}
