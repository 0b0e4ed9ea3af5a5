//! [`parse`]: parses JSON to a tree that borrows from the text.

use sql_error::interrupt;
use sql_error::value_size::scratch_to_the_end;
use sql_error::{Result, SqlError, state};

/// A parsed value and its source text.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// The source text, without surrounding white space.
    pub text: &'a str,
    /// The value that was parsed.
    pub value: Value<'a>,
}

/// A JSON value by its kind.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    /// A number, with its digits as written.
    Number(&'a str),
    /// A string, with its escapes resolved.
    String(String),
    Array(Vec<Node<'a>>),
    /// The members in the order written. A key may occur twice.
    Object(Vec<(String, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// The type's name, as `json_typeof` gives it.
    pub fn type_name(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }
    /// The value of a key: the last one, if the key occurs twice.
    pub fn field(&self, key: &str) -> Option<&Node<'a>> {
        match &self.value {
            Value::Object(pairs) => pairs.iter().rev().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }
    /// The element at `index`, counted from 0, or from the end if negative.
    pub fn element(&self, index: i64) -> Option<&Node<'a>> {
        match &self.value {
            Value::Array(elements) => {
                let at = if index < 0 { index.checked_add(i64::try_from(elements.len()).ok()?)? } else { index };
                elements.get(usize::try_from(at).ok()?)
            }
            _ => None,
        }
    }
    /// The text that `->>` gives: a string without quotes, `None` for null.
    pub fn as_text(&self) -> Option<String> {
        match &self.value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            _ => Some(self.text.to_string()),
        }
    }
}

/// Memory is reserved for this many items of an array or object at once.
const COUNTED: usize = 16 << 10;
/// Approximate bytes of an item that is parsed and written again.
const ITEM_BYTES: usize = 128;
/// Maximum nesting depth of arrays and objects.
const DEPTH: usize = 512;

fn invalid(detail: String) -> SqlError {
    SqlError::new(state::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json").detail(detail)
}

fn ended() -> SqlError {
    invalid("The input string ended unexpectedly.".into())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Whether escapes must denote characters. For json they are not checked.
    strict: bool,
    /// Whether the reader is within a string.
    within: bool,
}

/// Parses a JSON text. Errors: 22P02 with PostgreSQL's detail, 54001 if it is nested too deeply.
pub fn parse(text: &str) -> Result<Node<'_>> {
    read(text, true)
}

/// Checks that a text is a json. Errors: as [`parse`], but an escape need not denote a character.
pub fn check(text: &str) -> Result<()> {
    read(text, false).map(|_| ())
}

fn read(text: &str, strict: bool) -> Result<Node<'_>> {
    let mut reader = Reader { text, at: 0, depth: 0, strict, within: false };
    reader.whole().map_err(|error| {
        if error.state() != state::INVALID_TEXT_REPRESENTATION {
            return error;
        }
        let end = if reader.within { reader.at } else { reader.at + reader.token().len() };
        error.context(place(text, end))
    })
}

/// An error shows about this many bytes of the line before its position.
const SHOWN: usize = 50;

/// The line with the error, up to its position, for the error's context.
fn place(text: &str, end: usize) -> String {
    let (before, after) = text.split_at_checked(end).unwrap_or((text, ""));
    let number = before.matches('\n').count() + 1;
    let line = before.rsplit('\n').next().unwrap_or_default();
    let skipped = line.len().saturating_sub(SHOWN - 1);
    let skipped = (skipped..line.len()).find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    let (prefix, shown) = if skipped <= 3 { ("", line) } else { ("...", line.get(skipped..).unwrap_or_default()) };
    let suffix = if after.is_empty() || after.starts_with(['\n', '\r']) { "" } else { "..." };
    format!("JSON data, line {number}: {prefix}{shown}{suffix}")
}

impl<'a> Reader<'a> {
    fn whole(&mut self) -> Result<Node<'a>> {
        let node = self.value("Expected JSON value")?;
        self.skip();
        match self.token() {
            "" => Ok(node),
            token => Err(invalid(format!("Expected end of input, but found \"{token}\"."))),
        }
    }
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
    fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }
    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }
    /// The token at the current position, for messages.
    fn token(&self) -> &'a str {
        let rest = self.rest();
        let end = match rest.chars().next() {
            None => 0,
            Some('"') => {
                let mut escaped = false;
                let close = rest.char_indices().skip(1).find(|(_, c)| {
                    let closes = *c == '"' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    closes
                });
                close.map_or(rest.len(), |(at, _)| at + 1)
            }
            Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || !c.is_ascii() => {
                let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.') || !c.is_ascii();
                rest.find(|c| !word(c)).unwrap_or(rest.len())
            }
            Some(c) => c.len_utf8(),
        };
        rest.get(..end).unwrap_or_default()
    }
    /// The error for a token that is not allowed here.
    fn unexpected(&self, expected: &str) -> SqlError {
        let token = self.token();
        if token.is_empty() {
            return ended();
        }
        let known = token.starts_with(['{', '}', '[', ']', ':', ',', '"'])
            || matches!(token, "true" | "false" | "null")
            || is_number(token);
        if known { invalid(format!("{expected}, but found \"{token}\".")) } else { bad_token(token) }
    }
    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(SqlError::new(state::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        Ok(())
    }
    fn value(&mut self, expected: &str) -> Result<Node<'a>> {
        self.skip();
        let start = self.at;
        let value = match self.next() {
            Some('{') => self.object()?,
            Some('[') => self.array()?,
            Some('"') => Value::String(self.string()?),
            Some(_) => {
                let token = self.token();
                let value = match token {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "null" => Value::Null,
                    number if is_number(number) => Value::Number(number),
                    _ => return Err(self.unexpected(expected)),
                };
                self.at += token.len();
                value
            }
            None => return Err(ended()),
        };
        Ok(Node { text: self.text.get(start..self.at).unwrap_or_default(), value })
    }
    fn array(&mut self) -> Result<Value<'a>> {
        let elements = self.items(']', |reader, first| {
            reader.value(if first { "Expected array element or \"]\"" } else { "Expected JSON value" })
        })?;
        Ok(Value::Array(elements))
    }
    fn object(&mut self) -> Result<Value<'a>> {
        let pairs = self.items('}', |reader, first| {
            reader.skip();
            if reader.next() != Some('"') {
                return Err(reader.unexpected(if first { "Expected string or \"}\"" } else { "Expected string" }));
            }
            let key = reader.string()?;
            reader.skip();
            if reader.next() != Some(':') {
                return Err(reader.unexpected("Expected \":\""));
            }
            reader.at += 1;
            Ok((key, reader.value("Expected JSON value")?))
        })?;
        Ok(Value::Object(pairs))
    }
    /// Reads the items between brackets, separated by commas. `item` is told whether it reads the first.
    fn items<T>(&mut self, close: char, item: impl Fn(&mut Self, bool) -> Result<T>) -> Result<Vec<T>> {
        self.enter()?;
        self.at += 1;
        let mut items = Vec::new();
        self.skip();
        let mut more = self.next() != Some(close);
        while more {
            interrupt::step()?;
            if items.len().is_multiple_of(COUNTED) && !items.is_empty() {
                scratch_to_the_end(COUNTED * ITEM_BYTES)?;
            }
            items.push(item(self, items.is_empty())?);
            self.skip();
            match self.next() {
                Some(',') => self.at += 1,
                Some(c) if c == close => more = false,
                _ => return Err(self.unexpected(&format!("Expected \",\" or \"{close}\""))),
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(items)
    }
    /// Reads a string with its quotes.
    fn string(&mut self) -> Result<String> {
        let start = self.at;
        self.within = true;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(['"', '\\']).unwrap_or(rest.len());
            let piece = rest.get(..plain).unwrap_or_default();
            if let Some((at, control)) = piece.char_indices().find(|(_, c)| u32::from(*c) < 0x20) {
                self.at += at;
                return Err(invalid(format!("Character with value 0x{:02x} must be escaped.", u32::from(control))));
            }
            out.push_str(piece);
            self.at += plain;
            match self.next() {
                None => {
                    let token = self.text.get(start..).unwrap_or_default();
                    return Err(bad_token(token));
                }
                Some('"') => {
                    self.at += 1;
                    self.within = false;
                    return Ok(out);
                }
                _ => {
                    interrupt::step()?;
                    self.at += 1;
                    self.escape(start, &mut out)?;
                }
            }
        }
    }
    /// Reads an escape behind its backslash.
    fn escape(&mut self, start: usize, out: &mut String) -> Result<()> {
        let Some(c) = self.next() else {
            return Err(bad_token(self.text.get(start..).unwrap_or_default()));
        };
        self.at += c.len_utf8();
        match c {
            '"' | '\\' | '/' => out.push(c),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => {
                let first = self.hex()?;
                let code = match first {
                    _ if !self.strict => first,
                    0xd800..=0xdbff => {
                        let low = self.rest().strip_prefix("\\u").map(|_| ());
                        if low.is_none() {
                            self.at += self.next().map_or(0, char::len_utf8);
                            return Err(surrogate());
                        }
                        self.at += 2;
                        match self.hex()? {
                            0xd800..=0xdbff => {
                                return Err(invalid("Unicode high surrogate must not follow a high surrogate.".into()));
                            }
                            low @ 0xdc00..=0xdfff => 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00),
                            _ => return Err(surrogate()),
                        }
                    }
                    0xdc00..=0xdfff => return Err(surrogate()),
                    other => other,
                };
                // A json may contain \u0000, but no text can.
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            other => return Err(invalid(format!("Escape sequence \"\\{other}\" is invalid."))),
        }
        Ok(())
    }
    fn hex(&mut self) -> Result<u32> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let Some(digits) = digits else {
            // The message shows the text up to and including the first character that is not a digit.
            let rest = self.rest();
            let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            self.at += end + rest.get(end..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            return Err(invalid("\"\\u\" must be followed by four hexadecimal digits.".into()));
        };
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(SqlError::internal)
    }
}

fn bad_token(token: &str) -> SqlError {
    invalid(format!("Token \"{token}\" is invalid."))
}

fn surrogate() -> SqlError {
    invalid("Unicode low surrogate must follow a high surrogate.".into())
}

/// Whether a token is a number in JSON's syntax.
fn is_number(token: &str) -> bool {
    let body = token.strip_prefix('-').unwrap_or(token);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (body.get(..at).unwrap_or_default(), body.get(at + 1..)),
        None => (body, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_their_text() {
        let node = parse(r#" {"a" : [1, {"b":"x\u00e9\n"}], "a": 2 , "c":null} "#).unwrap();
        assert_eq!(node.type_name(), "object");
        assert_eq!(node.field("a").unwrap().text, "2");
        assert!(node.field("c").unwrap().as_text().is_none());
        let array = parse("[1, [2 , 3], true]").unwrap();
        assert_eq!(array.element(1).unwrap().text, "[2 , 3]");
        assert_eq!(array.element(-1).unwrap().text, "true");
        assert!(array.element(3).is_none());
        assert_eq!(parse("\"\\ud83d\\ude00\"").unwrap().as_text().unwrap(), "\u{1f600}");
    }

    #[test]
    fn errors_have_postgresqls_details() {
        let detail = |text: &str| parse(text).unwrap_err().fields().detail.clone().unwrap_or_default();
        for (text, expected) in [
            ("", "The input string ended unexpectedly."),
            ("{", "The input string ended unexpectedly."),
            ("abc", "Token \"abc\" is invalid."),
            ("{\"a\"}", "Expected \":\", but found \"}\"."),
            ("{1:2}", "Expected string or \"}\", but found \"1\"."),
            ("[1 2]", "Expected \",\" or \"]\", but found \"2\"."),
            ("1 2", "Expected end of input, but found \"2\"."),
            ("01", "Token \"01\" is invalid."),
            ("\"a", "Token \"\"a\" is invalid."),
            ("\"\\x\"", "Escape sequence \"\\x\" is invalid."),
        ] {
            assert_eq!(detail(text), expected, "{text}");
        }
        assert_eq!(parse(&"[".repeat(100_000)).unwrap_err().state(), state::STATEMENT_TOO_COMPLEX);
    }
}
