//! The object ids that `.keyvalue()` returns: the byte offset of the object in PostgreSQL's jsonb format.

use super::path_value::Json;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Bytes of the header of an object or array, and of the entry for each key and value.
const HEAD: i64 = 4;
/// Bytes before a number's digits: its length, scale and sign.
const NUMBER_HEAD: [i64; 2] = [6, 8];

fn aligned(place: i64) -> i64 {
    (place + 3) & !3
}

/// Bytes of a number given in decimal notation. Four digits take two bytes.
fn number_size(text: &str) -> i64 {
    let digits = text.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let padding = "0".repeat(whole.len().next_multiple_of(4) - whole.len());
    let all = format!("{padding}{whole}{fraction}{}", "0".repeat(fraction.len().next_multiple_of(4) - fraction.len()));
    let groups: Vec<&[u8]> = all.as_bytes().chunks(4).collect();
    let is_zero = |group: &&&[u8]| group.iter().all(|digit| *digit == b'0');
    let leading = groups.iter().take_while(is_zero).count();
    let trailing = groups.iter().rev().take_while(is_zero).count();
    let count = groups.len().saturating_sub(leading + trailing) as i64;
    // The power of ten thousand of the first nonzero group.
    let weight = (whole.len().div_ceil(4) as i64) - 1 - leading as i64;
    let short = count == 0 || (fraction.len() <= 63 && (-64..=63).contains(&weight));
    let [short_head, long_head] = NUMBER_HEAD;
    (if short { short_head } else { long_head }) + 2 * count
}

/// Lays out a value from offset `at` and continues with the offset behind it. Breaks with the offset of the wanted
/// object.
fn lay(value: &Json, at: i64, wanted: &Rc<Vec<(String, Json)>>) -> ControlFlow<i64, i64> {
    ControlFlow::Continue(match value {
        Json::Null | Json::Bool(_) => at,
        Json::String(text) => at + text.len() as i64,
        Json::Moment(moment) => at + moment.text().len() as i64,
        Json::Number(number) => aligned(at) + number_size(&number.to_string()),
        Json::Array(elements) => {
            let mut at = aligned(at) + HEAD * (1 + elements.len() as i64);
            for element in elements.iter() {
                at = lay(element, at, wanted)?;
            }
            at
        }
        Json::Object(pairs) => {
            let start = aligned(at);
            if Rc::ptr_eq(pairs, wanted) {
                return ControlFlow::Break(start);
            }
            let mut at = start + HEAD * (1 + 2 * pairs.len() as i64);
            at += pairs.iter().map(|(key, _)| key.len() as i64).sum::<i64>();
            for (_, member) in pairs.iter() {
                at = lay(member, at, wanted)?;
            }
            at
        }
    })
}

/// The byte offset of an object within a value; 0 if it is not there.
pub(super) fn place(base: &Json, wanted: &Rc<Vec<(String, Json)>>) -> i64 {
    match lay(base, 0, wanted) {
        ControlFlow::Break(place) => place,
        ControlFlow::Continue(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_size() {
        // pg_column_size of numerics that were not stored.
        for (text, size) in [
            ("0", 6),
            ("1", 8),
            ("-10000", 8),
            ("10001", 10),
            ("1.5", 10),
            ("0.0001", 8),
            ("123456.789", 12),
            ("0.00", 6),
        ] {
            assert_eq!(number_size(text), size, "{text}");
        }
    }
}
