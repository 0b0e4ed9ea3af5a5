//! Bits and bytes of bytea, such as get_bit, trim, overlay, position.

use super::immutable;
use crate::registry::ScalarFunction;
use crate::typed::{Bytea, Int4, Int8, Text, binary, quaternary, ternary, unary};
use sql_error::interrupt::Steps;
use sql_error::value_size::room;
use sql_error::{Result, SqlError, state};
use std::collections::HashSet;
use types::SqlType;

/// Name of the internal function that converts bytea to text, each byte to the character of its number.
pub(crate) const LETTERS_OF_BYTES: &str = "letters of bytes";
/// Name of the inverse function of [`LETTERS_OF_BYTES`].
pub(crate) const BYTES_OF_LETTERS: &str = "bytes of letters";

/// The error 2202E for a bad index.
fn out_of_range(at: i64, length: usize) -> SqlError {
    let message = format!("index {at} out of valid range, 0..{}", length as i64 - 1);
    SqlError::new("2202E", message)
}

/// The byte index, and the bit in that byte, of a bit number.
fn place(bytes: &[u8], at: i64) -> Result<(usize, u32)> {
    let byte = usize::try_from(at / 8).ok().filter(|byte| at >= 0 && *byte < bytes.len());
    byte.map(|byte| (byte, (at % 8) as u32)).ok_or_else(|| out_of_range(at, bytes.len() * 8))
}

fn get_bit(bytes: &[u8], at: i64) -> Result<i32> {
    let (byte, bit) = place(bytes, at)?;
    Ok(bytes.get(byte).map_or(0, |byte| i32::from(byte >> bit & 1)))
}

fn set_bit(bytes: &[u8], at: i64, value: i32) -> Result<Vec<u8>> {
    let (byte, bit) = place(bytes, at)?;
    if !(0..=1).contains(&value) {
        return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "new bit must be 0 or 1"));
    }
    let mut out = bytes.to_vec();
    if let Some(byte) = out.get_mut(byte) {
        *byte = *byte & !(1 << bit) | (value as u8) << bit;
    }
    Ok(out)
}

fn get_byte(bytes: &[u8], at: i32) -> Result<i32> {
    let found = usize::try_from(at).ok().and_then(|at| bytes.get(at));
    found.map(|byte| i32::from(*byte)).ok_or_else(|| out_of_range(i64::from(at), bytes.len()))
}

fn set_byte(bytes: &[u8], at: i32, value: i32) -> Result<Vec<u8>> {
    let mut out = bytes.to_vec();
    match usize::try_from(at).ok().and_then(|at| out.get_mut(at)) {
        Some(byte) => *byte = value as u8,
        None => return Err(out_of_range(i64::from(at), bytes.len())),
    }
    Ok(out)
}

fn trim<'a>(bytes: &'a [u8], set: &[u8], start: bool, end: bool) -> &'a [u8] {
    let set: HashSet<u8> = set.iter().copied().collect();
    let kept = |byte: &u8| !set.contains(byte);
    let from = if start { bytes.iter().position(kept).unwrap_or(bytes.len()) } else { 0 };
    let to = if end { bytes.iter().rposition(kept).map_or(from, |at| at + 1) } else { bytes.len() };
    bytes.get(from..to.max(from)).unwrap_or_default()
}

fn overlay(bytes: &[u8], new: &[u8], start: i32, count: i32) -> Result<Vec<u8>> {
    if start <= 0 {
        return Err(SqlError::new(state::SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    if start.checked_add(count).is_none() {
        return Err(crate::cast_kernel::out_of_range("integer"));
    }
    let before = (start as usize - 1).min(bytes.len());
    let after = (i64::from(start) - 1 + i64::from(count)).clamp(0, bytes.len() as i64) as usize;
    let parts = [bytes.get(..before).unwrap_or_default(), new, bytes.get(after..).unwrap_or_default()];
    room(parts.iter().map(|part| part.len()).sum())?;
    Ok(parts.concat())
}

fn position(bytes: &[u8], part: &[u8]) -> Result<i32> {
    if part.is_empty() {
        return Ok(1);
    }
    let mut steps = Steps::default();
    for (at, window) in bytes.windows(part.len()).enumerate() {
        // The compared bytes may be equal up to their last one.
        steps.many(1 + part.len() / 16)?;
        if window == part {
            return Ok(at as i32 + 1);
        }
    }
    Ok(0)
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (bytea, int4, int8) = (SqlType::BYTEA, SqlType::INT4, SqlType::INT8);
    let text = SqlType::TEXT;
    let mut all = vec![
        immutable(
            LETTERS_OF_BYTES,
            &[bytea],
            text,
            unary::<Bytea, Text, _>(|v: &[u8]| Ok(v.iter().map(|byte| char::from(*byte)).collect())),
        ),
        immutable(
            BYTES_OF_LETTERS,
            &[text],
            bytea,
            unary::<Text, Bytea, _>(|v: &str| Ok(v.chars().map(|c| u32::from(c) as u8).collect())),
        ),
        immutable("get_bit", &[bytea, int8], int4, binary::<Bytea, Int8, Int4, _>(get_bit)),
        immutable("set_bit", &[bytea, int8, int4], bytea, ternary::<Bytea, Int8, Int4, Bytea, _>(set_bit)),
        immutable("get_byte", &[bytea, int4], int4, binary::<Bytea, Int4, Int4, _>(get_byte)),
        immutable("set_byte", &[bytea, int4, int4], bytea, ternary::<Bytea, Int4, Int4, Bytea, _>(set_byte)),
        immutable(
            "bit_count",
            &[bytea],
            int8,
            unary::<Bytea, Int8, _>(|v: &[u8]| Ok(v.iter().map(|byte| i64::from(byte.count_ones())).sum())),
        ),
        immutable("bit_length", &[bytea], int4, unary::<Bytea, Int4, _>(|v: &[u8]| Ok(v.len() as i32 * 8))),
        immutable("position", &[bytea, bytea], int4, binary::<Bytea, Bytea, Int4, _>(position)),
        immutable(
            "overlay",
            &[bytea, bytea, int4, int4],
            bytea,
            quaternary::<Bytea, Bytea, Int4, Int4, Bytea, _>(overlay),
        ),
        immutable(
            "overlay",
            &[bytea, bytea, int4],
            bytea,
            ternary::<Bytea, Bytea, Int4, Bytea, _>(|v: &[u8], new: &[u8], start: i32| {
                overlay(v, new, start, new.len() as i32)
            }),
        ),
    ];
    for (name, start, end) in [("btrim", true, true), ("ltrim", true, false), ("rtrim", false, true)] {
        let kernel =
            binary::<Bytea, Bytea, Bytea, _>(move |v: &[u8], set: &[u8]| Ok(trim(v, set, start, end).to_vec()));
        all.push(immutable(name, &[bytea, bytea], bytea, kernel));
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_bytes_as_in_postgresql() {
        // Checked against PostgreSQL 15.
        let bytes = [0x12, 0x34, 0x56, 0x78, 0x90];
        assert_eq!(get_bit(&bytes, 30).unwrap(), 1);
        assert_eq!(set_bit(&bytes, 30, 0).unwrap(), [0x12, 0x34, 0x56, 0x38, 0x90]);
        assert_eq!(get_byte(&bytes, 4).unwrap(), 144);
        assert_eq!(set_byte(&bytes, 4, 64).unwrap(), [0x12, 0x34, 0x56, 0x78, 0x40]);
        assert_eq!(get_bit(&[0x12], 8).unwrap_err().state(), "2202E");
        assert_eq!(get_byte(&[0x12], -1).unwrap_err().fields().message, "index -1 out of valid range, 0..0");
        assert_eq!(trim(&[0x12, 0x34, 0x12], &[0x12], true, true), [0x34]);
        assert_eq!(trim(&[0x12, 0x12], &[0x12], true, true), [0u8; 0]);
        assert_eq!(overlay(&bytes, &[2, 3], 2, 3).unwrap(), [0x12, 2, 3, 0x90]);
        assert_eq!(overlay(&bytes, &[2], 0, 1).unwrap_err().state(), "22011");
        assert_eq!(position(&bytes, &[0x56, 0x78]).unwrap(), 3);
    }
}
