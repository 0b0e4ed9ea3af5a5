//! Arrays as text: `{{a,"b c"},{NULL,d}}`, `[0:1]={a,b}`.

use super::{Dimension, MOST_DIMENSIONS, count, too_many_dimensions};
use sql_error::interrupt;
use sql_error::{Result, SqlError, state};

/// A parsed array: the texts of its elements (`None` for NULL) and its dimensions.
pub type Parsed = (Vec<Option<String>>, Vec<Dimension>);

/// The white space that array literals allow.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// The kind of the last token within braces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Open,
    Element,
    Quoted,
    Comma,
    Close,
    CommaBehindClose,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn malformed(&self, detail: impl Into<String>) -> SqlError {
        let message = format!("malformed array literal: \"{}\"", self.text);
        SqlError::new(state::INVALID_TEXT_REPRESENTATION, message).detail(detail.into())
    }
    fn unexpected(&self, byte: u8) -> SqlError {
        self.malformed(format!("Unexpected \"{}\" character.", char::from(byte)))
    }
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }
    /// Reads digits and signs as C's `atoi` does. `None` if there are none.
    fn number(&mut self) -> Option<i64> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+')) {
            self.at += 1;
        }
        let text = self.text.get(start..self.at).filter(|text| !text.is_empty())?;
        let (sign, digits) = match text.as_bytes().first() {
            Some(b'-') => (-1, text.get(1..).unwrap_or_default()),
            Some(b'+') => (1, text.get(1..).unwrap_or_default()),
            _ => (1, text),
        };
        let digits = digits.split(['-', '+']).next().unwrap_or_default();
        Some(sign * digits.parse::<i64>().unwrap_or(0))
    }

    /// Reads the bounds `[1:2][0:3]` that precede the equals sign.
    fn bounds(&mut self) -> Result<Vec<Dimension>> {
        let mut dimensions = Vec::new();
        loop {
            self.skip_space();
            if self.peek() != Some(b'[') {
                return Ok(dimensions);
            }
            self.at += 1;
            if dimensions.len() >= MOST_DIMENSIONS {
                return Err(too_many_dimensions(dimensions.len() + 1));
            }
            let Some(first) = self.number() else {
                return Err(self.malformed("\"[\" must introduce explicitly-specified array dimensions."));
            };
            let (lower, upper) = if self.peek() == Some(b':') {
                self.at += 1;
                (first, self.number().ok_or_else(|| self.malformed("Missing array dimension value."))?)
            } else {
                (1, first)
            };
            if self.peek() != Some(b']') {
                return Err(self.malformed("Missing \"]\" after array dimensions."));
            }
            self.at += 1;
            // PostgreSQL computes bounds in 32 bits, where they wrap around.
            let (lower, upper) = (lower as i32, upper as i32);
            if upper < lower {
                return Err(super::subscript_error("upper bound cannot be less than lower bound"));
            }
            dimensions.push(Dimension { length: upper.wrapping_sub(lower).wrapping_add(1), lower });
        }
    }

    /// Reads the braces and everything in them, to the end of the text.
    fn contents(&mut self) -> Result<Parsed> {
        let mut elements: Vec<Option<String>> = Vec::new();
        let mut last = Last::Nothing;
        // Per level: the items so far, and the item count of the sibling arrays.
        let mut levels: Vec<i32> = Vec::new();
        let mut fellows: [Option<i32>; MOST_DIMENSIONS] = [None; MOST_DIMENSIONS];
        let mut deepest = 0;
        loop {
            interrupt::step()?;
            let Some(byte) = self.peek() else { return Err(self.malformed("Unexpected end of input.")) };
            match byte {
                b'{' => {
                    if !matches!(last, Last::Nothing | Last::Open | Last::CommaBehindClose) {
                        return Err(self.unexpected(b'{'));
                    }
                    if levels.len() >= MOST_DIMENSIONS {
                        return Err(too_many_dimensions(levels.len() + 1));
                    }
                    levels.push(1);
                    deepest = deepest.max(levels.len());
                    last = Last::Open;
                    self.at += 1;
                }
                b'}' => {
                    let nothing = last == Last::Open && levels.len() == 1;
                    if !nothing && !matches!(last, Last::Element | Last::Quoted | Last::Close) {
                        return Err(self.unexpected(b'}'));
                    }
                    let items = levels.pop().unwrap_or(0);
                    match fellows.get_mut(levels.len()) {
                        Some(Some(had)) if *had != items => {
                            let detail = "Multidimensional arrays must have sub-arrays with matching dimensions.";
                            return Err(self.malformed(detail));
                        }
                        Some(had) => *had = Some(items),
                        None => {}
                    }
                    last = Last::Close;
                    self.at += 1;
                    if levels.is_empty() {
                        break;
                    }
                }
                b',' => {
                    if !matches!(last, Last::Element | Last::Quoted | Last::Close) {
                        return Err(self.unexpected(b','));
                    }
                    last = if last == Last::Close { Last::CommaBehindClose } else { Last::Comma };
                    if let Some(items) = levels.last_mut() {
                        *items += 1;
                    }
                    self.at += 1;
                }
                byte if is_space(byte) => self.at += 1,
                _ => {
                    if !matches!(last, Last::Open | Last::Comma) {
                        let detail =
                            if byte == b'\\' { "Unexpected \"\\\" character." } else { "Unexpected array element." };
                        return Err(self.malformed(detail));
                    }
                    // Elements may stand on the innermost level only.
                    let (element, quoted) = self.element()?;
                    elements.push(element);
                    last = if quoted { Last::Quoted } else { Last::Element };
                }
            }
        }
        self.skip_space();
        if self.peek().is_some() {
            return Err(self.malformed("Junk after closing right brace."));
        }
        if elements.is_empty() {
            return Ok((elements, Vec::new()));
        }
        let lengths = fellows.iter().take(deepest).map(|items| items.unwrap_or(0));
        let dimensions: Vec<Dimension> = lengths.map(|length| Dimension { length, lower: 1 }).collect();
        if count(&dimensions)? != elements.len() {
            return Err(self.malformed("Multidimensional arrays must have sub-arrays with matching dimensions."));
        }
        Ok((elements, dimensions))
    }

    /// Reads an element. Also answers whether it was quoted.
    fn element(&mut self) -> Result<(Option<String>, bool)> {
        let end = |reader: &Self| reader.malformed("Unexpected end of input.");
        let mut bytes = Vec::new();
        let quoted = self.peek() == Some(b'"');
        let mut escaped = false;
        // Length up to the last significant byte: trailing white space does not count.
        let mut kept = 0;
        if quoted {
            self.at += 1;
        }
        loop {
            let byte = self.peek().ok_or_else(|| end(self))?;
            match byte {
                b'\\' => {
                    self.at += 1;
                    bytes.push(self.peek().ok_or_else(|| end(self))?);
                    escaped = true;
                    kept = bytes.len();
                }
                b'"' if quoted => {
                    self.at += 1;
                    kept = bytes.len();
                    break;
                }
                _ if quoted => bytes.push(byte),
                b'"' => return Err(self.malformed("Unexpected array element.")),
                b'{' => return Err(self.unexpected(b'{')),
                b',' | b'}' => break,
                _ => {
                    bytes.push(byte);
                    if !is_space(byte) {
                        kept = bytes.len();
                    }
                }
            }
            self.at += 1;
        }
        bytes.truncate(kept);
        let null = !quoted && !escaped && bytes.eq_ignore_ascii_case(b"null");
        let text = String::from_utf8(bytes).map_err(SqlError::internal)?;
        Ok(((!null).then_some(text), quoted))
    }
}

/// Parses an array literal. Errors: 22P02, 2202E and 54000, as in PostgreSQL.
pub fn parse(text: &str) -> Result<Parsed> {
    let mut reader = Reader { text, at: 0 };
    let bounds = reader.bounds()?;
    if bounds.is_empty() {
        if reader.peek() != Some(b'{') {
            return Err(reader.malformed("Array value must start with \"{\" or dimension information."));
        }
        return reader.contents();
    }
    if reader.peek() != Some(b'=') {
        return Err(reader.malformed("Missing \"=\" after array dimensions."));
    }
    reader.at += 1;
    reader.skip_space();
    if reader.peek() != Some(b'{') {
        return Err(reader.malformed("Array contents must start with \"{\"."));
    }
    let (elements, dimensions) = reader.contents()?;
    let lengths = |dimensions: &[Dimension]| dimensions.iter().map(|dimension| dimension.length).collect::<Vec<_>>();
    if lengths(&bounds) != lengths(&dimensions) {
        return Err(reader.malformed("Specified array dimensions do not match array contents."));
    }
    count(&bounds)?;
    Ok((elements, bounds))
}

/// Appends the bounds, as in `[0:1][1:2]=`, if a lower bound is not 1.
pub fn write_bounds(dimensions: &[Dimension], out: &mut Vec<u8>) {
    if dimensions.iter().all(|dimension| dimension.lower == 1) {
        return;
    }
    for dimension in dimensions {
        out.extend_from_slice(format!("[{}:{}]", dimension.lower, dimension.upper()).as_bytes());
    }
    out.push(b'=');
}

/// Appends the elements within nested brackets, braces in SQL. `element` writes the element at a position.
pub fn write_nested(
    dimensions: &[Dimension],
    brackets: (u8, u8),
    out: &mut Vec<u8>,
    element: &mut impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    if dimensions.is_empty() {
        out.extend_from_slice(&[brackets.0, brackets.1]);
        return Ok(());
    }
    let mut next = 0;
    write_level(dimensions, brackets, out, &mut next, element)
}

fn write_level(
    dimensions: &[Dimension],
    brackets: (u8, u8),
    out: &mut Vec<u8>,
    next: &mut usize,
    element: &mut impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let Some((outer, inner)) = dimensions.split_first() else {
        element(*next, out)?;
        *next += 1;
        return Ok(());
    };
    out.push(brackets.0);
    for at in 0..outer.length {
        if at > 0 {
            out.push(b',');
        }
        write_level(inner, brackets, out, next, element)?;
    }
    out.push(brackets.1);
    Ok(())
}

/// Appends an element, quoted if necessary.
pub fn write_element(element: &[u8], out: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | b'{' | b'}' | b',') || is_space(*byte);
    if !element.is_empty() && !element.eq_ignore_ascii_case(b"null") && !element.iter().any(special) {
        out.extend_from_slice(element);
        return;
    }
    out.push(b'"');
    for byte in element {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
}
