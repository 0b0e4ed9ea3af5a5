//! Character encodings: convert, convert_to, convert_from, and the length of bytes in an encoding.

use super::immutable;
use crate::registry::ScalarFunction;
use crate::typed::{Bytea, Int4, Text, binary, ternary, unary};
use sql_error::{Result, SqlError, state};
use types::SqlType;
use types::encoding::{Encoding, canonical};

/// Cyrillic encodings, which PostgreSQL converts to each other directly.
const CYRILLIC: [&str; 4] = ["KOI8R", "WIN1251", "WIN866", "ISO_8859_5"];
const CENTRAL: [&str; 2] = ["LATIN2", "WIN1250"];

/// Looks up an encoding. `role` describes its use in error messages. Errors: 22023, 0A000.
fn named(name: &str, role: &str) -> Result<Encoding> {
    Encoding::named(name).ok_or_else(|| match canonical(name) {
        Some(known) => SqlError::unsupported(format!("encoding \"{known}\"")),
        None => SqlError::new(state::INVALID_PARAMETER_VALUE, format!("invalid {role}encoding name \"{name}\"")),
    })
}

/// Converts bytes between encodings. Errors: 22021, 22P05; 42883 if PostgreSQL has no such conversion.
fn convert(bytes: &[u8], from: &str, to: &str) -> Result<Vec<u8>> {
    let (from, to) = (named(from, "source ")?, named(to, "destination ")?);
    let pair = [from.name(), to.name()];
    let plain = [from, to].contains(&Encoding::SqlAscii) || from == to;
    if plain && (from.converts() || to.converts()) {
        // The bytes are only validated: an unassigned byte passes.
        let encoding = if from.converts() { from } else { to };
        return match bytes.contains(&0) {
            true => Err(types::encoding::invalid_sequence(encoding, &[0])),
            false => Ok(bytes.to_vec()),
        };
    }
    let related = |family: &[&str]| pair.iter().all(|name| family.contains(name));
    if !plain && !pair.contains(&"UTF8") && !related(&CYRILLIC) && !related(&CENTRAL) {
        let [from, to] = pair;
        let message = format!("default conversion function for encoding \"{from}\" to \"{to}\" does not exist");
        return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
    }
    let text = from.decode(bytes)?;
    Ok(to.encode(&text)?.into_owned())
}

fn length(bytes: &[u8], name: &str) -> Result<i32> {
    match named(name, "")? {
        Encoding::Utf8 => Ok(Encoding::Utf8.decode(bytes)?.chars().count() as i32),
        _ => Ok(bytes.len() as i32),
    }
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, bytea) = (SqlType::TEXT, SqlType::BYTEA);
    let ascii = |_: &str| -> Result<String> {
        let message = "encoding conversion from UTF8 to ASCII not supported";
        Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message))
    };
    let to = |v: &str, name: &str| Ok(named(name, "destination ")?.encode(v)?.into_owned());
    let from = |v: &[u8], name: &str| Ok(named(name, "source ")?.decode(v)?.into_owned());
    vec![
        immutable("convert", &[bytea, text, text], bytea, ternary::<Bytea, Text, Text, Bytea, _>(convert)),
        immutable("convert_to", &[text, text], bytea, binary::<Text, Text, Bytea, _>(to)),
        immutable("convert_from", &[bytea, text], text, binary::<Bytea, Text, Text, _>(from)),
        immutable("length", &[bytea, text], SqlType::INT4, binary::<Bytea, Text, Int4, _>(length)),
        immutable("to_ascii", &[text], text, unary::<Text, Text, _>(ascii)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bytes_between_encodings() {
        // Checked against PostgreSQL 15.
        assert_eq!(convert(b"text", "UTF8", "LATIN1").unwrap(), b"text");
        assert_eq!(convert(b"\xc4", "koi8", "win").unwrap(), b"\xe4");
        assert_eq!(convert(b"\xe4", "sql_ascii", "latin1").unwrap(), b"\xe4");
        assert_eq!(convert(b"\x81", "win1252", "win1252").unwrap(), b"\x81");
        assert_eq!(convert(b"\xe4", "utf8", "sql_ascii").unwrap_err().state(), "22021");
        assert_eq!(convert(b"\xe4", "latin1", "latin9").unwrap_err().state(), "42883");
        assert_eq!(named("nosuch", "source ").unwrap_err().state(), "22023");
        assert_eq!(named("sjis", "source ").unwrap_err().state(), "0A000");
        assert_eq!(length("é".as_bytes(), "utf-8").unwrap(), 1);
    }
}
