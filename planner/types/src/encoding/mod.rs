//! [`Encoding`]: the character encodings that text is converted to and from. These are UTF8 (the server's), SQL_ASCII
//! (no conversion) and all one-byte encodings that PostgreSQL converts.

mod tables;

use sql_error::{Result, SqlError, state};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A character encoding that clients may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, the server's encoding.
    #[default]
    Utf8,
    /// SQL_ASCII: bytes are not converted, but must be UTF-8 here.
    SqlAscii,
    /// ISO 8859-1: the first 256 characters of Unicode.
    Latin1,
    /// A one-byte encoding, by its index in the list of tables.
    Table(u8),
}

/// PostgreSQL's encoding names, in the order of its numbers, from 0.
const NAMES: &str = "\
    SQL_ASCII EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 UTF8 MULE_INTERNAL LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 \
    LATIN6 LATIN7 LATIN8 LATIN9 LATIN10 WIN1256 WIN1258 WIN866 WIN874 KOI8R WIN1251 WIN1252 ISO_8859_5 \
    ISO_8859_6 ISO_8859_7 ISO_8859_8 WIN1250 WIN1253 WIN1254 WIN1255 WIN1257 KOI8U SJIS BIG5 GBK UHC GB18030 \
    JOHAB SHIFT_JIS_2004";

/// Aliases (lower case, without punctuation) and the encodings they name.
const ALIASES: &str = "\
    abc=WIN1258 alt=WIN866 iso88591=LATIN1 iso885910=LATIN6 iso885913=LATIN7 iso885914=LATIN8 iso885915=LATIN9 \
    iso885916=LATIN10 iso88592=LATIN2 iso88593=LATIN3 iso88594=LATIN4 iso88599=LATIN5 koi8=KOI8R mskanji=SJIS \
    shiftjis=SJIS tcvn=WIN1258 tcvn5712=WIN1258 unicode=UTF8 vscii=WIN1258 win=WIN1251 win932=SJIS win936=GBK \
    win949=UHC win950=BIG5 windows1250=WIN1250 windows1251=WIN1251 windows1252=WIN1252 windows1253=WIN1253 \
    windows1254=WIN1254 windows1255=WIN1255 windows1256=WIN1256 windows1257=WIN1257 windows1258=WIN1258 \
    windows866=WIN866 windows874=WIN874 windows932=SJIS windows936=GBK windows949=UHC windows950=BIG5";

/// A one-byte encoding with a table.
struct Table {
    name: &'static str,
    /// Characters of the bytes from 0x80 on.
    chars: Vec<char>,
    bytes: HashMap<char, u8>,
}

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    tables::ALL
        .into_iter()
        .map(|(name, text)| {
            let controls = if text.chars().count() == 96 { '\u{80}'..='\u{9f}' } else { '\u{80}'..='\u{7f}' };
            let chars: Vec<char> = controls.chain(text.chars()).collect();
            let known = chars.iter().zip(0x80..=0xff_u8).filter(|(c, _)| **c != char::REPLACEMENT_CHARACTER);
            let bytes = known.map(|(c, byte)| (*c, byte)).collect();
            Table { name, chars, bytes }
        })
        .collect()
});

/// The name of an encoding, by PostgreSQL's number.
pub fn name_of(number: i32) -> Option<&'static str> {
    NAMES.split(' ').nth(usize::try_from(number).ok()?)
}

/// PostgreSQL's number of an encoding, by name or alias.
pub fn number_of(name: &str) -> Option<i32> {
    let canonical = canonical(name)?;
    NAMES.split(' ').position(|known| known == canonical).and_then(|at| i32::try_from(at).ok())
}

/// PostgreSQL's own name of an encoding, by name or alias.
pub fn canonical(name: &str) -> Option<&'static str> {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let wanted = plain(name);
    let alias = ALIASES.split(' ').filter_map(|alias| alias.split_once('=')).find(|(alias, _)| *alias == wanted);
    alias.map(|(_, name)| name).or_else(|| NAMES.split(' ').find(|known| plain(known) == wanted))
}

impl Encoding {
    /// Looks up an encoding by name or alias. `None` if the name is unknown, or if there is no conversion for it here.
    pub fn named(name: &str) -> Option<Encoding> {
        // Most clients and settings say UTF8. The other names need a search of long lists.
        if name == "UTF8" {
            return Some(Encoding::Utf8);
        }
        Some(match canonical(name)? {
            "UTF8" => Encoding::Utf8,
            "SQL_ASCII" => Encoding::SqlAscii,
            "LATIN1" => Encoding::Latin1,
            canonical => {
                let at = TABLES.iter().position(|table| table.name == canonical)?;
                Encoding::Table(u8::try_from(at).ok()?)
            }
        })
    }
    fn table(self) -> Option<&'static Table> {
        match self {
            Encoding::Table(at) => TABLES.get(usize::from(at)),
            _ => None,
        }
    }
    /// PostgreSQL's name of the encoding.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF8",
            Encoding::SqlAscii => "SQL_ASCII",
            Encoding::Latin1 => "LATIN1",
            Encoding::Table(_) => self.table().map_or("", |table| table.name),
        }
    }
    /// Whether text needs conversion to or from the server's encoding.
    pub fn converts(self) -> bool {
        !matches!(self, Encoding::Utf8 | Encoding::SqlAscii)
    }
    fn byte_of(self, c: char) -> Option<u8> {
        match self.table() {
            _ if c.is_ascii() => u8::try_from(c).ok(),
            Some(table) => table.bytes.get(&c).copied(),
            None => u8::try_from(c).ok(),
        }
    }
    fn char_of(self, byte: u8) -> Option<char> {
        match self.table() {
            Some(table) if byte >= 0x80 => {
                table.chars.get(usize::from(byte - 0x80)).copied().filter(|c| *c != char::REPLACEMENT_CHARACTER)
            }
            _ => Some(char::from(byte)),
        }
    }
    /// Decodes bytes to text. Errors: 22021, 22P05.
    pub fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>> {
        if !self.converts() {
            return match std::str::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => Ok(Cow::Borrowed(text)),
                Ok(_) => Err(invalid_sequence(Encoding::Utf8, &[0])),
                Err(error) => {
                    let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
                    let bad =
                        if before.contains(&0) { &[0][..] } else { bytes.get(before.len()..).unwrap_or_default() };
                    Err(invalid_sequence(Encoding::Utf8, bad))
                }
            };
        }
        if bytes.contains(&0) {
            return Err(invalid_sequence(self, &[0]));
        }
        if bytes.is_ascii()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return Ok(Cow::Borrowed(text));
        }
        let chars =
            bytes.iter().map(|byte| self.char_of(*byte).ok_or_else(|| no_equivalent(&[*byte], self, Encoding::Utf8)));
        chars.collect::<Result<String>>().map(Cow::Owned)
    }
    /// Encodes text to bytes. Errors: 22P05.
    pub fn encode(self, text: &str) -> Result<Cow<'_, [u8]>> {
        if !self.converts() || text.is_ascii() {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        let bytes = text.chars().map(|c| {
            let mut buffer = [0; 4];
            let shown = c.encode_utf8(&mut buffer).as_bytes();
            self.byte_of(c).ok_or_else(|| no_equivalent(shown, Encoding::Utf8, self))
        });
        bytes.collect::<Result<Vec<u8>>>().map(Cow::Owned)
    }
    /// Encodes text for a message. A character that the encoding lacks becomes a question mark.
    pub fn encode_message(self, text: &str) -> Cow<'_, [u8]> {
        if !self.converts() || text.is_ascii() {
            return Cow::Borrowed(text.as_bytes());
        }
        Cow::Owned(text.chars().map(|c| self.byte_of(c).unwrap_or(b'?')).collect())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("0x{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// The error 22021. It shows as many bytes as the lead byte announces.
pub fn invalid_sequence(encoding: Encoding, bytes: &[u8]) -> SqlError {
    let length = match (encoding, bytes.first()) {
        (Encoding::Utf8, Some(0xc0..=0xdf)) => 2,
        (Encoding::Utf8, Some(0xe0..=0xef)) => 3,
        (Encoding::Utf8, Some(0xf0..=0xf7)) => 4,
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_whole_and_goes_both_ways() {
        for table in TABLES.iter() {
            assert_eq!(table.chars.len(), 128, "{}", table.name);
            let encoding = Encoding::named(table.name).unwrap();
            let known: Vec<u8> = (1..=255).filter(|byte| encoding.char_of(*byte).is_some()).collect();
            let text = encoding.decode(&known).unwrap();
            assert_eq!(*encoding.encode(&text).unwrap(), known, "{}", table.name);
            assert!(canonical(table.name) == Some(table.name));
        }
        assert_eq!(Encoding::Latin1.decode(&[0x80, 0xe9]).unwrap(), "\u{80}é");
    }

    #[test]
    fn what_is_in_one_encoding_only() {
        // Checked against PostgreSQL 15.
        let win = Encoding::named("windows-1252").unwrap();
        assert_eq!(*win.encode("€").unwrap(), [0x80]);
        assert_eq!(win.decode(&[0x81]).unwrap_err().state(), "22P05");
        let error = Encoding::Latin1.encode("a€").unwrap_err();
        assert_eq!(
            (error.state(), error.fields().message.as_str()),
            (
                "22P05",
                "character with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\""
            )
        );
        assert_eq!(*Encoding::Latin1.encode_message("a€é"), *b"a?\xe9");
        assert_eq!(Encoding::Utf8.decode(&[0xff]).unwrap_err().state(), "22021");
        assert_eq!(Encoding::Latin1.decode(&[b'a', 0]).unwrap_err().state(), "22021");
    }

    #[test]
    fn names() {
        assert_eq!(canonical("ISO-8859-1"), Some("LATIN1"));
        assert_eq!(canonical("iso 8859 5"), Some("ISO_8859_5"));
        assert_eq!(canonical("Tcvn"), Some("WIN1258"));
        assert_eq!(canonical("nosuch"), None);
        assert_eq!((number_of("koi8"), name_of(22), name_of(42), name_of(-1)), (Some(22), Some("KOI8R"), None, None));
        assert!(Encoding::named("sjis").is_none());
    }
}
