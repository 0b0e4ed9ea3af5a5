//! Options of sequences and identity columns. Knows no sequences.

use crate::source::Source;
use grammar::Span;
use grammar::tree::SequenceOption;
use sql_error::{Result, SqlError, state};
use std::mem::{Discriminant, discriminant};

/// Checks that no option is repeated, and that numbers are of type bigint. Errors: 42601, 22003, 22P02.
pub(super) fn check(source: &Source, options: &[SequenceOption]) -> Result<()> {
    let mut seen: Vec<Discriminant<SequenceOption>> = Vec::new();
    for option in options {
        let (number, span) = parts(option);
        if seen.contains(&discriminant(option)) {
            return Err(source.error(SqlError::syntax("conflicting or redundant options"), span));
        }
        seen.push(discriminant(option));
        if let Some(number) = number.filter(|number| number.parse::<i64>().is_err()) {
            return Err(match number.trim_start_matches('-').bytes().all(|digit| digit.is_ascii_digit()) {
                true => {
                    let message = format!("value \"{number}\" is out of range for type bigint");
                    SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, message)
                }
                false => {
                    let message = format!("invalid input syntax for type bigint: \"{number}\"");
                    SqlError::new(state::INVALID_TEXT_REPRESENTATION, message)
                }
            });
        }
    }
    Ok(())
}

/// The number of an option, and its place.
fn parts(option: &SequenceOption) -> (Option<&String>, Span) {
    use SequenceOption as O;
    match option {
        O::As(data_type) => (None, data_type.span),
        O::Cycle(_, span) | O::OwnedBy(_, span) | O::SequenceName(_, span) | O::Logged(_, span) => (None, *span),
        O::Cache(number, span) | O::Increment(number, span) | O::Start(number, span) => (Some(number), *span),
        O::MaxValue(number, span) | O::MinValue(number, span) | O::Restart(number, span) => (number.as_ref(), *span),
    }
}
