//! Decodes the values of Bind from text or binary into the form of their parameters' types.

use super::binary;
use crate::error::protocol_violation;
use bytes::Bytes;
use datafusion::scalar::ScalarValue;
use planner::types::encoding::Encoding;
use planner::types::text::{self, InputContext};
use planner::types::{Datum, SqlType};
use planner::{SqlError, state};

/// Decodes parameters whose text is in the client's encoding. `formats`: none (all text), one for all, or one each.
/// Errors: 08P01 for another count of formats, 22023 for an unknown format, and errors of the types.
pub fn decode(
    types: &[SqlType],
    formats: &[i16],
    values: &[Option<Bytes>],
    encoding: Encoding,
    context: &InputContext<'_>,
) -> Result<Vec<Datum>, SqlError> {
    if formats.len() > 1 && formats.len() != values.len() {
        return Err(protocol_violation(format!(
            "bind message has {} parameter formats but {} parameters",
            formats.len(),
            values.len()
        )));
    }
    let format = |index: usize| match formats {
        [] => 0,
        [all] => *all,
        each => each.get(index).copied().unwrap_or(0),
    };
    types
        .iter()
        .zip(values)
        .enumerate()
        .map(|(index, (ty, value))| {
            let decoded = match value {
                None => ScalarValue::try_from(&ty.arrow()).map_err(SqlError::from),
                Some(bytes) => match format(index) {
                    0 => encoding.decode(bytes).and_then(|value| text::input(*ty, &value, context)),
                    1 => binary::read(*ty, bytes, encoding),
                    code => {
                        Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("unsupported format code: {code}")))
                    }
                },
            };
            decoded.map_err(|error| match error.fields().context {
                None => error.context(format!("unnamed portal parameter ${}", index + 1)),
                Some(_) => error,
            })
        })
        .collect()
}
