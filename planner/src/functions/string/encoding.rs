//! Character encodings: convert, convert_to, convert_from, length of bytes in an encoding. UTF8, SQL_ASCII and the encodings of
//! one byte for Western Europe.

use super::immutable;
use crate::error::{Result, SqlError, state};
use crate::functions::registry::ScalarFunction;
use crate::functions::typed::{Bytea, Int4, Text, binary, ternary, unary};
use crate::types::SqlType;

/// An encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    SqlAscii,
    /// ISO 8859-1.
    Latin1,
    /// ISO 8859-15.
    Latin9,
    /// Windows CP1252.
    Win1252,
}

/// What CP1252 has between 0x80 and 0x9f; `\0` for what it has not.
const WIN1252: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”', '•',
    '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];
/// Where ISO 8859-15 differs from ISO 8859-1.
const LATIN9: [(u8, char); 8] =
    [(0xa4, '€'), (0xa6, 'Š'), (0xa8, 'š'), (0xb4, 'Ž'), (0xb8, 'ž'), (0xbc, 'Œ'), (0xbd, 'œ'), (0xbe, 'Ÿ')];
/// Encodings that PostgreSQL has and we do not.
const OTHERS: [&str; 30] = [
    "BIG5",
    "EUCCN",
    "EUCJP",
    "EUCJIS2004",
    "EUCKR",
    "EUCTW",
    "GB18030",
    "GBK",
    "ISO88595",
    "ISO88596",
    "ISO88597",
    "ISO88598",
    "JOHAB",
    "KOI8R",
    "KOI8U",
    "LATIN2",
    "LATIN3",
    "LATIN4",
    "LATIN5",
    "LATIN6",
    "LATIN7",
    "LATIN8",
    "LATIN10",
    "MULEINTERNAL",
    "SJIS",
    "UHC",
    "WIN1250",
    "WIN1251",
    "WIN866",
    "WIN874",
];

impl Encoding {
    /// An encoding by its name; `role` is what it is to be. Errors: 22023, 0A000.
    fn named(name: &str, role: &str) -> Result<Encoding> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = plain.to_ascii_uppercase();
        Ok(match plain.as_str() {
            "UTF8" | "UNICODE" => Encoding::Utf8,
            "SQLASCII" => Encoding::SqlAscii,
            "LATIN1" | "ISO88591" => Encoding::Latin1,
            "LATIN9" | "ISO885915" => Encoding::Latin9,
            "WIN1252" | "WINDOWS1252" => Encoding::Win1252,
            other if OTHERS.contains(&other) => return Err(SqlError::unsupported(format!("encoding \"{name}\""))),
            _ => {
                let message = format!("invalid {role}encoding name \"{name}\"");
                return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
            }
        })
    }
    fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF8",
            Encoding::SqlAscii => "SQL_ASCII",
            Encoding::Latin1 => "LATIN1",
            Encoding::Latin9 => "LATIN9",
            Encoding::Win1252 => "WIN1252",
        }
    }
    fn byte_of(self, c: char) -> Option<u8> {
        let plain = u8::try_from(u32::from(c)).ok();
        match self {
            Encoding::Latin9 => LATIN9
                .iter()
                .find(|(_, known)| *known == c)
                .map(|(byte, _)| *byte)
                .or_else(|| plain.filter(|byte| !LATIN9.iter().any(|(known, _)| known == byte))),
            Encoding::Win1252 => WIN1252
                .iter()
                .position(|known| *known == c && c != '\0')
                .map(|at| at as u8 + 0x80)
                .or_else(|| plain.filter(|byte| !(0x80..0xa0).contains(byte))),
            _ => plain,
        }
    }
    fn char_of(self, byte: u8) -> Option<char> {
        match (self, byte) {
            (Encoding::Win1252, 0x80..0xa0) => WIN1252.get(usize::from(byte - 0x80)).copied().filter(|c| *c != '\0'),
            (Encoding::Latin9, _) => {
                Some(LATIN9.iter().find(|(known, _)| *known == byte).map_or(char::from(byte), |(_, c)| *c))
            }
            _ => Some(char::from(byte)),
        }
    }
    /// Bytes of this encoding as text. Errors: 22021, 22P05.
    fn decode(self, bytes: &[u8]) -> Result<String> {
        match self {
            Encoding::Utf8 | Encoding::SqlAscii => String::from_utf8(bytes.to_vec()).map_err(|error| {
                let from = error.utf8_error().valid_up_to();
                invalid_sequence(Encoding::Utf8, bytes.get(from..).unwrap_or_default())
            }),
            _ => bytes
                .iter()
                .map(|byte| {
                    if *byte == 0 {
                        return Err(invalid_sequence(self, &[0]));
                    }
                    self.char_of(*byte).ok_or_else(|| no_equivalent(&[*byte], self, Encoding::Utf8))
                })
                .collect(),
        }
    }
    /// Text as bytes of this encoding. Errors: 22P05.
    fn encode(self, text: &str) -> Result<Vec<u8>> {
        match self {
            Encoding::Utf8 | Encoding::SqlAscii => Ok(text.as_bytes().to_vec()),
            _ => text
                .chars()
                .map(|c| {
                    let mut bytes = [0; 4];
                    let shown = c.encode_utf8(&mut bytes).as_bytes().to_vec();
                    self.byte_of(c).ok_or_else(|| no_equivalent(&shown, Encoding::Utf8, self))
                })
                .collect(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// 22021, with as many bytes as the first says that its character has.
fn invalid_sequence(encoding: Encoding, bytes: &[u8]) -> SqlError {
    let length = match bytes.first() {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => 1,
    };
    let shown = hex(bytes.get(..length.min(bytes.len())).unwrap_or_default());
    let message = format!("invalid byte sequence for encoding \"{}\": {shown}", encoding.name());
    SqlError::new(state::CHARACTER_NOT_IN_REPERTOIRE, message)
}

fn no_equivalent(bytes: &[u8], from: Encoding, to: Encoding) -> SqlError {
    let message = format!(
        "character with byte sequence {} in encoding \"{}\" has no equivalent in encoding \"{}\"",
        hex(bytes),
        from.name(),
        to.name()
    );
    SqlError::new("22P05", message)
}

fn convert(bytes: &[u8], from: &str, to: &str) -> Result<Vec<u8>> {
    let (from, to) = (Encoding::named(from, "source ")?, Encoding::named(to, "destination ")?);
    to.encode(&from.decode(bytes)?)
}

fn length(bytes: &[u8], name: &str) -> Result<i32> {
    match Encoding::named(name, "")? {
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
    vec![
        immutable("convert", &[bytea, text, text], bytea, ternary::<Bytea, Text, Text, Bytea, _>(convert)),
        immutable(
            "convert_to",
            &[text, text],
            bytea,
            binary::<Text, Text, Bytea, _>(|v: &str, name: &str| Encoding::named(name, "destination ")?.encode(v)),
        ),
        immutable(
            "convert_from",
            &[bytea, text],
            text,
            binary::<Bytea, Text, Text, _>(|v: &[u8], name: &str| Encoding::named(name, "source ")?.decode(v)),
        ),
        immutable("length", &[bytea, text], SqlType::INT4, binary::<Bytea, Text, Int4, _>(length)),
        immutable("to_ascii", &[text], text, unary::<Text, Text, _>(ascii)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn encodings_of_one_byte() {
        // Checked against PostgreSQL 15.
        assert_eq!(convert(b"text", "UTF8", "LATIN1").unwrap(), b"text");
        assert_eq!(Encoding::Latin1.encode("é").unwrap(), [0xe9]);
        assert_eq!(Encoding::Latin9.encode("€").unwrap(), [0xa4]);
        assert_eq!(Encoding::Win1252.encode("€").unwrap(), [0x80]);
        assert_eq!(Encoding::Latin1.decode(&[0xe9]).unwrap(), "é");
        let error = Encoding::Latin1.encode("€").unwrap_err();
        assert_eq!(
            (error.state(), error.fields().message.as_str()),
            (
                "22P05",
                "character with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\""
            )
        );
        assert_eq!(Encoding::named("nosuch", "source ").unwrap_err().state(), "22023");
        assert_eq!(Encoding::Utf8.decode(&[0xff]).unwrap_err().state(), "22021");
        assert_eq!(length("é".as_bytes(), "utf-8").unwrap(), 1);
    }
}
