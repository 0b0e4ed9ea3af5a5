//! Functions over text and bytea.

mod basic;
mod bits;
mod bytes;
mod encoding;
mod format;
mod identifier;
mod like;
mod regex;
mod regex_find;
mod search;
mod similar;
mod unicode;

pub(super) use bits::{BYTES_OF_LETTERS, LETTERS_OF_BYTES};

use super::kernel::{Call, Kernel, Stability};
use super::registry::ScalarFunction;
use super::typed::{Text, unary};
use sql_error::Result;
use std::sync::Arc;
use types::{Ctype, SqlType};

fn immutable(name: &'static str, arguments: &[SqlType], result: SqlType, kernel: Kernel) -> ScalarFunction {
    ScalarFunction::new(name, arguments, result, Stability::Immutable, kernel)
}

/// A strict function of a text that depends on the character classification.
fn of_letters(function: fn(Ctype, &str) -> Result<String>) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let ctype = call.ctype()?;
        unary::<Text, Text, _>(move |text: &str| function(ctype, text))(call)
    })
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    [
        basic::functions(),
        bits::functions(),
        bytes::functions(),
        encoding::functions(),
        format::functions(),
        identifier::functions(),
        like::functions(),
        regex::functions(),
        regex_find::functions(),
        search::functions(),
        similar::functions(),
        unicode::functions(),
    ]
    .concat()
}
