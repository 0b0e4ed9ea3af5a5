//! Decodes strings with escapes: `E'…'` and `U&'…'`.

use sql_error::{SqlError, state};

/// The kind of escapes in a string.
#[derive(Clone, Copy, Debug)]
pub enum StringKind {
    /// Backslash escapes as in C.
    Escaped,
    /// Code points after an escape character.
    Unicode {
        /// The character that begins an escape.
        escape: char,
        /// The quote. A doubled quote stands for one.
        quote: char,
    },
}

/// The error in a string. The offset, in bytes of the raw text, tells what it is near, if that is reported.
pub type Broken = (SqlError, Option<usize>);

type Decoded<T> = std::result::Result<T, Broken>;

/// Decodes the text between the quotes. Errors: 22025 and 42601 for broken escapes, 22021 for bytes that are not text.
pub fn decode(inside: &str, kind: StringKind) -> Decoded<String> {
    match kind {
        StringKind::Escaped => escaped(inside),
        StringKind::Unicode { escape, quote } => unicode(inside, escape, quote),
    }
}

/// Collects the code points of a string. A pair of surrogates forms one.
struct Points<'t> {
    bytes: Vec<u8>,
    high: Option<u32>,
    /// The raw text and the offset read so far.
    inside: &'t str,
    at: usize,
    /// Whether errors report their position: the scanner does so for `E'…'`, and a later check for `U&'…'`.
    names: bool,
}

impl<'t> Points<'t> {
    fn new(inside: &'t str, names: bool) -> Self {
        Points { bytes: Vec::new(), high: None, inside, at: 0, names }
    }
    /// An error at the characters read last. `length` is the number of bytes to show.
    fn wrong(&self, what: &str, length: usize) -> Broken {
        let near = self.inside.get(self.at..self.at + length).filter(|near| !near.is_empty()).unwrap_or("'");
        let message = if self.names { format!("{what} at or near \"{near}\"") } else { what.to_string() };
        (SqlError::syntax(message), Some(self.at))
    }
    fn broken(&self) -> Decoded<()> {
        match self.high {
            Some(_) => {
                let length = self.inside.get(self.at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                Err(self.wrong("invalid Unicode surrogate pair", length))
            }
            None => Ok(()),
        }
    }
    fn push(&mut self, character: char) -> Decoded<()> {
        self.broken()?;
        self.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }
    /// Adds a code point from an escape of `length` bytes.
    fn point(&mut self, point: u32, length: usize) -> Decoded<()> {
        let low = (0xdc00..0xe000).contains(&point);
        let point = match self.high.take() {
            Some(high) if low => 0x1_0000 + ((high - 0xd800) << 10) + (point - 0xdc00),
            None if !low => point,
            _ => return Err(self.wrong("invalid Unicode surrogate pair", length)),
        };
        if (0xd800..0xdc00).contains(&point) {
            self.high = Some(point);
            return Ok(());
        }
        match char::from_u32(point).filter(|character| *character != '\0') {
            Some(character) => self.push(character),
            None => Err(self.wrong("invalid Unicode escape value", length)),
        }
    }
    fn finish(mut self) -> Decoded<String> {
        self.at = self.inside.len();
        self.broken()?;
        if self.bytes.contains(&0) {
            return Err((no_text(&[0]), None));
        }
        String::from_utf8(self.bytes).map_err(|error| {
            let from = error.utf8_error().valid_up_to();
            let bad = error.as_bytes().get(from..).unwrap_or_default();
            let length = match bad.first() {
                Some(0xc0..=0xdf) => 2,
                Some(0xe0..=0xef) => 3,
                Some(0xf0..=0xf7) => 4,
                _ => 1,
            };
            (no_text(bad.get(..length).unwrap_or(bad)), None)
        })
    }
}

fn no_text(bytes: &[u8]) -> SqlError {
    let shown: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    let message = format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" "));
    SqlError::new(state::CHARACTER_NOT_IN_REPERTOIRE, message)
}

/// The number in this many hexadecimal digits.
fn hexadecimal(text: &str, digits: usize) -> Option<u32> {
    let text = text.get(..digits)?;
    if text.bytes().all(|byte| byte.is_ascii_hexdigit()) { u32::from_str_radix(text, 16).ok() } else { None }
}

fn escaped(inside: &str) -> Decoded<String> {
    let mut points = Points::new(inside, true);
    let mut rest = inside;
    while let Some(character) = rest.chars().next() {
        points.at = inside.len() - rest.len();
        rest = rest.get(character.len_utf8()..).unwrap_or("");
        if character == '\'' {
            // The second surrogate of a pair.
            rest = rest.get(1..).unwrap_or("");
        }
        if character != '\\' {
            points.push(character)?;
            continue;
        }
        let Some(escape) = rest.chars().next() else { break };
        let after = rest.get(escape.len_utf8()..).unwrap_or("");
        rest = after;
        match escape {
            'b' => points.push('\u{8}')?,
            'f' => points.push('\u{c}')?,
            'n' => points.push('\n')?,
            'r' => points.push('\r')?,
            't' => points.push('\t')?,
            'u' | 'U' => {
                let digits = if escape == 'u' { 4 } else { 8 };
                let Some(point) = hexadecimal(after, digits) else {
                    let error = SqlError::new(state::INVALID_ESCAPE_SEQUENCE, "invalid Unicode escape")
                        .hint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX.");
                    return Err((error, Some(points.at)));
                };
                points.point(point, digits + 2)?;
                rest = after.get(digits..).unwrap_or("");
            }
            'x' if after.starts_with(|next: char| next.is_ascii_hexdigit()) => {
                let digits = after.bytes().take(2).take_while(u8::is_ascii_hexdigit).count();
                points.broken()?;
                points.bytes.push(hexadecimal(after, digits).unwrap_or(0) as u8);
                rest = after.get(digits..).unwrap_or("");
            }
            '0'..='7' => {
                let more = after.bytes().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                let octal = format!("{escape}{}", after.get(..more).unwrap_or(""));
                points.broken()?;
                points.bytes.push(u32::from_str_radix(&octal, 8).unwrap_or(0) as u8);
                rest = after.get(more..).unwrap_or("");
            }
            other => points.push(other)?,
        }
    }
    points.finish()
}

fn unicode(inside: &str, escape: char, quote: char) -> Decoded<String> {
    let mut points = Points::new(inside, false);
    let mut rest = inside;
    while let Some(character) = rest.chars().next() {
        points.at = inside.len() - rest.len();
        rest = rest.get(character.len_utf8()..).unwrap_or("");
        if character == quote {
            rest = rest.get(quote.len_utf8()..).unwrap_or("");
        }
        if character != escape {
            points.push(character)?;
            continue;
        }
        if rest.starts_with(escape) {
            points.push(escape)?;
            rest = rest.get(escape.len_utf8()..).unwrap_or("");
            continue;
        }
        let (from, digits) = if rest.starts_with('+') { (1, 6) } else { (0, 4) };
        let Some(point) = rest.get(from..).and_then(|text| hexadecimal(text, digits)) else {
            let error = SqlError::syntax("invalid Unicode escape").hint("Unicode escapes must be \\XXXX or \\+XXXXXX.");
            return Err((error, Some(points.at)));
        };
        points.point(point, 0)?;
        rest = rest.get(from + digits..).unwrap_or("");
    }
    points.finish()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn escapes_say_what_they_say_in_postgresql() {
        let ok = |text| decode(text, StringKind::Escaped).unwrap();
        assert_eq!(ok(r"a\nb\\\'''\x41\101\u0041\U0001F600\q"), "a\nb\\''AAA\u{1F600}q");
        assert_eq!(ok(r"\uD83D\uDE00\xc3\xa4"), "\u{1F600}ä");
        let bad = |text| decode(text, StringKind::Escaped).unwrap_err().0.state();
        assert_eq!(bad(r"\u12"), "22025");
        assert_eq!(bad(r"\xff"), "22021");
        assert_eq!(bad(r"\000"), "22021");
        assert_eq!(bad(r"\uD83D"), "42601");
        assert_eq!(bad(r"\uD83Dx"), "42601");
        let place = |text| decode(text, StringKind::Escaped).unwrap_err().1;
        assert_eq!(
            [place(r"ab\u12"), place(r"\uD83D"), place(r"\uD83Dx\n"), place(r"\xff")],
            [Some(2), Some(6), Some(6), None]
        );
        let kind = StringKind::Unicode { escape: '!', quote: '\'' };
        assert_eq!(decode(r"d!0061t!+000061!!''\", kind).unwrap(), "data!'\\");
        assert_eq!(decode("!00", kind).unwrap_err().0.state(), "42601");
    }
}
