//! Functions over text and bytea.

mod basic;
mod bytes;
mod format;
mod regex;
mod regex_find;
mod search;
mod similar;

use super::kernel::{Kernel, Stability};
use super::registry::ScalarFunction;
use crate::types::SqlType;

fn immutable(name: &'static str, arguments: &[SqlType], result: SqlType, kernel: Kernel) -> ScalarFunction {
    ScalarFunction::new(name, arguments, result, Stability::Immutable, kernel)
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    [
        basic::functions(),
        bytes::functions(),
        format::functions(),
        regex::functions(),
        regex_find::functions(),
        search::functions(),
        similar::functions(),
    ]
    .concat()
}
