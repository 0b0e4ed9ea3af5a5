//! Functions over text and bytea.

use super::registry::ScalarFunction;

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    Vec::new()
}
