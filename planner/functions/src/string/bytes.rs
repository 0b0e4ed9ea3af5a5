//! bytea: lengths, encodings, digests.

use super::immutable;
use crate::registry::ScalarFunction;
use crate::typed::{Bytea, Float4, Float8, Int2, Int4, Int8, Text, binary, ternary, unary};
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use sql_error::interrupt::{Steps, in_pieces};
use sql_error::value_size::{LongText, collected, room};
use sql_error::{Result, SqlError, state};
use std::sync::LazyLock;
use types::SqlType;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn unknown_format(format: &str) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, format!("unrecognized encoding: \"{format}\""))
}

const HEX: &[u8; 16] = b"0123456789abcdef";

fn hex_digit(value: u8) -> char {
    HEX.get(usize::from(value & 15)).copied().map_or('0', char::from)
}

fn encode(bytes: &[u8], format: &str) -> Result<String> {
    match format.to_ascii_lowercase().as_str() {
        "hex" => collected(
            bytes.iter().flat_map(|byte| [hex_digit(byte >> 4), hex_digit(*byte)]),
            bytes.len().saturating_mul(2),
        ),
        "base64" => {
            let mut out = LongText::new(bytes.len() / 57 * 77 + 80)?;
            let mut line = 0;
            for chunk in bytes.chunks(3) {
                let word =
                    chunk.iter().enumerate().fold(0u32, |word, (at, byte)| word | u32::from(*byte) << (16 - 8 * at));
                for at in 0..4 {
                    let digit = BASE64.get((word >> (18 - 6 * at) & 63) as usize).copied().unwrap_or(b'=');
                    out.push(if at <= chunk.len() { char::from(digit) } else { '=' })?;
                }
                line += 4;
                // MIME breaks lines after 76 characters.
                if line == 76 {
                    out.push('\n')?;
                    line = 0;
                }
            }
            let mut out = out.finish();
            if out.ends_with('\n') && bytes.len().is_multiple_of(57) {
                out.pop();
            }
            Ok(out)
        }
        "escape" => {
            let mut out = LongText::new(bytes.len())?;
            for byte in bytes {
                match byte {
                    0 | 128.. => {
                        out.push('\\')?;
                        for shift in [6, 3, 0] {
                            out.push(hex_digit(byte >> shift & 7))?;
                        }
                    }
                    b'\\' => out.add("\\\\")?,
                    _ => out.push(char::from(*byte))?,
                }
            }
            Ok(out.finish())
        }
        _ => Err(unknown_format(format)),
    }
}

fn decode(text: &str, format: &str) -> Result<Vec<u8>> {
    match format.to_ascii_lowercase().as_str() {
        "hex" => types::text::parse_bytea(&format!("\\x{text}")),
        // bytea input would read this prefix as hex, but the escape format does not allow it.
        "escape" if text.starts_with("\\x") => {
            Err(SqlError::new(state::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea"))
        }
        "escape" => types::text::parse_bytea(text),
        "base64" => {
            let invalid = |message: String| SqlError::new(state::INVALID_PARAMETER_VALUE, message);
            // Four digits are three bytes. `=` as the third or fourth digit leaves the first one or two bytes.
            let (mut out, mut word, mut digits, mut kept) = (Vec::new(), 0u32, 0, 3);
            room(text.len() / 4 * 3)?;
            let mut steps = Steps::default();
            for c in text.bytes().filter(|c| !c.is_ascii_whitespace()) {
                steps.step()?;
                let digit = if c == b'=' {
                    kept = match (kept, digits) {
                        (3, 2) => 1,
                        (3, 3) => 2,
                        (3, _) => return Err(invalid("unexpected \"=\" while decoding base64 sequence".into())),
                        (kept, _) => kept,
                    };
                    0
                } else {
                    BASE64.iter().position(|digit| *digit == c).ok_or_else(|| {
                        let shown = char::from(c);
                        invalid(format!("invalid symbol \"{shown}\" found while decoding base64 sequence"))
                    })?
                };
                word = word << 6 | digit as u32;
                digits += 1;
                if digits == 4 {
                    out.extend(word.to_be_bytes().into_iter().skip(1).take(kept));
                    (word, digits) = (0, 0);
                }
            }
            if digits != 0 {
                return Err(invalid("invalid base64 end sequence".into())
                    .hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
            }
            Ok(out)
        }
        _ => Err(unknown_format(format)),
    }
}

/// The constants of MD5's steps.
static SINES: LazyLock<[u32; 64]> =
    LazyLock::new(|| std::array::from_fn(|step| (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32));

/// The MD5 digest (RFC 1321) in hex. Errors: those of a cancelled statement.
fn md5(bytes: &[u8]) -> Result<String> {
    let mut digest = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let whole = bytes.len() / 64 * 64;
    let (blocks, rest) = bytes.split_at_checked(whole).unwrap_or((bytes, &[]));
    in_pieces(blocks, |piece| piece.chunks_exact(64).for_each(|block| md5_block(&mut digest, block)))?;
    let mut end = rest.to_vec();
    end.push(0x80);
    while end.len() % 64 != 56 {
        end.push(0);
    }
    end.extend_from_slice(&(bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    end.chunks_exact(64).for_each(|block| md5_block(&mut digest, block));
    let bytes = digest.iter().flat_map(|word| word.to_le_bytes());
    Ok(bytes.flat_map(|byte| [hex_digit(byte >> 4), hex_digit(byte)]).collect())
}

fn md5_block(digest: &mut [u32; 4], block: &[u8]) {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut words = [0u32; 16];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
    }
    let [mut a, mut b, mut c, mut d] = *digest;
    for (step, constant) in SINES.iter().enumerate() {
        let (mixed, word) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), (7 * step) % 16),
        };
        let shift = SHIFTS.get(step / 16).and_then(|round| round.get(step % 4)).copied().unwrap_or(0);
        let sum = a.wrapping_add(mixed).wrapping_add(*constant).wrapping_add(words.get(word).copied().unwrap_or(0));
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(shift));
    }
    for (total, part) in digest.iter_mut().zip([a, b, c, d]) {
        *total = total.wrapping_add(part);
    }
}

/// A digest of the bytes. Errors: those of a cancelled statement.
fn digest<D: Digest>(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut digest = D::new();
    in_pieces(bytes, |piece| digest.update(piece))?;
    Ok(digest.finalize().to_vec())
}

/// Concatenates both. Errors: 54000, 53200.
fn joined(a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
    room(a.len().saturating_add(b.len()))?;
    Ok([a, b].concat())
}

fn substring(bytes: &[u8], start: i32, length: Option<i32>) -> Result<Vec<u8>> {
    let from = i64::from(start);
    let end = match length {
        Some(length) if length < 0 => {
            return Err(SqlError::new(state::SUBSTRING_ERROR, "negative substring length not allowed"));
        }
        Some(length) => from + i64::from(length) - 1,
        None => i64::MAX,
    };
    let skip = ((from - 1).max(0) as usize).min(bytes.len());
    let rest = bytes.get(skip..).unwrap_or_default();
    let taken = usize::try_from(end - skip as i64).unwrap_or(0).min(rest.len());
    let part = rest.get(..taken).unwrap_or_default();
    room(part.len())?;
    Ok(part.to_vec())
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, bytea, int4) = (SqlType::TEXT, SqlType::BYTEA, SqlType::INT4);
    let mut all = vec![
        immutable("float4send", &[SqlType::FLOAT4], bytea, unary::<Float4, Bytea, _>(|v| Ok(v.to_be_bytes().to_vec()))),
        immutable("float8send", &[SqlType::FLOAT8], bytea, unary::<Float8, Bytea, _>(|v| Ok(v.to_be_bytes().to_vec()))),
        immutable("int2send", &[SqlType::INT2], bytea, unary::<Int2, Bytea, _>(|v| Ok(v.to_be_bytes().to_vec()))),
        immutable("int4send", &[SqlType::INT4], bytea, unary::<Int4, Bytea, _>(|v| Ok(v.to_be_bytes().to_vec()))),
        immutable("int8send", &[SqlType::INT8], bytea, unary::<Int8, Bytea, _>(|v| Ok(v.to_be_bytes().to_vec()))),
        immutable("length", &[bytea], int4, unary::<Bytea, Int4, _>(|v: &[u8]| Ok(v.len() as i32))),
        immutable("octet_length", &[bytea], int4, unary::<Bytea, Int4, _>(|v: &[u8]| Ok(v.len() as i32))),
        immutable("byteacat", &[bytea, bytea], bytea, binary::<Bytea, Bytea, Bytea, _>(joined)),
        immutable("encode", &[bytea, text], text, binary::<Bytea, Text, Text, _>(encode)),
        immutable("decode", &[text, text], bytea, binary::<Text, Text, Bytea, _>(decode)),
        immutable("md5", &[text], text, unary::<Text, Text, _>(|v: &str| md5(v.as_bytes()))),
        immutable("sha224", &[bytea], bytea, unary::<Bytea, Bytea, _>(digest::<Sha224>)),
        immutable("sha256", &[bytea], bytea, unary::<Bytea, Bytea, _>(digest::<Sha256>)),
        immutable("sha384", &[bytea], bytea, unary::<Bytea, Bytea, _>(digest::<Sha384>)),
        immutable("sha512", &[bytea], bytea, unary::<Bytea, Bytea, _>(digest::<Sha512>)),
        immutable("md5", &[bytea], text, unary::<Bytea, Text, _>(md5)),
    ];
    for name in ["substring", "substr"] {
        all.push(immutable(
            name,
            &[bytea, int4],
            bytea,
            binary::<Bytea, Int4, Bytea, _>(|v: &[u8], start: i32| substring(v, start, None)),
        ));
        all.push(immutable(
            name,
            &[bytea, int4, int4],
            bytea,
            ternary::<Bytea, Int4, Int4, Bytea, _>(|v: &[u8], start: i32, n: i32| substring(v, start, Some(n))),
        ));
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(md5(b"").unwrap(), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(md5(b"abc").unwrap(), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(md5(&[b'a'; 100]).unwrap(), "36a92cc94a9e0fa21f625f8bfb007adf");
        assert_eq!(encode(b"hello", "base64").unwrap(), "aGVsbG8=");
        assert_eq!(decode("aGVsbG8=", "base64").unwrap(), b"hello");
        assert!(decode("aGVsbG8", "base64").is_err());
        assert_eq!(encode(b"a\\\x00\xff", "escape").unwrap(), "a\\\\\\000\\377");
        assert_eq!(decode("0aff", "hex").unwrap(), [0x0a, 0xff]);
        assert_eq!(substring(b"hello", 2, Some(3)).unwrap(), b"ell");
    }
}
