//! The rules of PostgreSQL's scanner that differ from sqlparser's tokenizer: `E'…'` and `U&'…'` strings, `U&"…"` names,
//! tokens after a number, and the end of operators. Scans a text, and knows no grammar.

use super::strings::{Broken, StringKind, decode};
use sql_error::{SqlError, state};
use sqlparser::tokenizer::Location;
use std::ops::Range;

/// The result of scanning a text.
#[derive(Debug, Default)]
pub struct Scanned {
    /// The text with those strings blanked that sqlparser cannot read. It has as many characters and lines. `None`
    /// if it is unchanged.
    pub text: Option<String>,
    /// The strings and names that were blanked.
    pub literals: Vec<Literal>,
    /// Operators of several characters: position, number of characters, and text.
    pub operators: Vec<(Location, u64, String)>,
}

/// A string or name with escapes.
#[derive(Debug)]
pub struct Literal {
    /// The position of its first quote.
    pub start: Location,
    /// The number of characters before the quote: those of `E` or `U&`.
    pub prefix: u64,
    /// The value after decoding the escapes.
    pub text: String,
}

/// An error and its position.
pub type Misread = (SqlError, Location);

/// The replacement for blanked characters.
#[derive(Clone, Copy)]
enum Fill {
    Blank,
    Letters,
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    line: u64,
    column: u64,
    found: Scanned,
    hidden: Vec<(Range<usize>, Fill)>,
    /// With `standard_conforming_strings = off`: the plain strings with backslashes, and the character after
    /// each one's first backslash.
    escapes: Option<Vec<(usize, char)>>,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, escapes: Option<Vec<(usize, char)>>) -> Self {
        let (found, hidden) = (Scanned::default(), Vec::new());
        Scanner { text, at: 0, line: 1, column: 1, found, hidden, escapes }
    }
}

/// Rewrites a text written under `standard_conforming_strings = off`: plain strings with backslashes get an E before
/// them. Also returns the character after the first backslash of each. Errors: 0A000 for `U&'…'`.
pub fn standard(text: &str) -> Result<(String, Vec<char>), SqlError> {
    let mut scanner = Scanner::new(text, Some(Vec::new()));
    match scanner.run() {
        Err((error, _)) if error.state() == state::FEATURE_NOT_SUPPORTED => return Err(error),
        // Parsing the text finds the other errors again.
        Ok(()) | Err(_) => {}
    }
    let (mut written, mut done, mut escaped) = (String::with_capacity(text.len()), 0, Vec::new());
    for (at, first) in scanner.escapes.unwrap_or_default() {
        written.push_str(text.get(done..at).unwrap_or(""));
        written.push('E');
        done = at;
        escaped.push(first);
    }
    written.push_str(text.get(done..).unwrap_or(""));
    Ok((written, escaped))
}

/// Scans a text. The tokenizer refuses unterminated strings and comments.
pub fn scan(text: &str) -> Result<Scanned, Misread> {
    let mut scanner = Scanner::new(text, None);
    scanner.run()?;
    if !scanner.hidden.is_empty() {
        scanner.found.text = Some(hide(text, &scanner.hidden));
    }
    Ok(scanner.found)
}

fn hide(text: &str, hidden: &[(Range<usize>, Fill)]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for (range, fill) in hidden {
        shown.push_str(text.get(done..range.start).unwrap_or(""));
        for character in text.get(range.clone()).unwrap_or("").chars() {
            shown.push(match (character, fill) {
                ('\n', _) => '\n',
                (_, Fill::Blank) => ' ',
                (_, Fill::Letters) => 'a',
            });
        }
        done = range.end;
    }
    shown.push_str(text.get(done..).unwrap_or(""));
    shown
}

fn starts_word(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_' || !character.is_ascii()
}

fn continues_word(character: char) -> bool {
    starts_word(character) || character.is_ascii_digit() || character == '$'
}

fn is_operator(character: char) -> bool {
    "~!@#^&|`?+-*/%<>=".contains(character)
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }
    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
    fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }
    fn location(&self) -> Location {
        Location::new(self.line, self.column)
    }
    fn bump(&mut self) {
        if let Some(character) = self.peek() {
            self.at += character.len_utf8();
            if character == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
    }
    fn skip(&mut self, characters: usize) {
        (0..characters).for_each(|_| self.bump());
    }
    fn skip_while(&mut self, test: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&test) {
            self.bump();
        }
    }

    fn run(&mut self) -> Result<(), Misread> {
        while let Some(character) = self.peek() {
            let next = self.second();
            match character {
                '-' if next == Some('-') => self.skip_while(|character| character != '\n'),
                '/' if next == Some('*') => self.comment(),
                '\'' if self.escapes.is_some() => {
                    let start = self.at;
                    let inside = self.quoted('\'', true).unwrap_or("");
                    let first = inside.split_once('\\').and_then(|(_, behind)| behind.chars().next());
                    if let (Some(first), Some(escapes)) = (first, &mut self.escapes) {
                        escapes.push((start, first));
                    }
                }
                '\'' => self.plain('\''),
                '"' => self.plain('"'),
                '$' => self.dollar()?,
                'e' | 'E' if next == Some('\'') => {
                    self.hide_next(1);
                    self.escaped()?;
                }
                'u' | 'U' if next == Some('&') && matches!(self.rest().chars().nth(2), Some('\'' | '"')) => {
                    self.hide_next(2);
                    self.unicode()?;
                }
                character if starts_word(character) => self.skip_while(continues_word),
                character if character.is_ascii_digit() => self.number()?,
                '.' if next.is_some_and(|next| next.is_ascii_digit()) => self.number()?,
                character if is_operator(character) => self.operator(),
                _ => self.bump(),
            }
        }
        Ok(())
    }

    fn hide_next(&mut self, characters: usize) {
        let start = self.at;
        self.skip(characters);
        self.hidden.push((start..self.at, Fill::Blank));
    }

    fn comment(&mut self) {
        let mut depth = 0usize;
        while !self.rest().is_empty() {
            if self.rest().starts_with("/*") {
                depth += 1;
                self.skip(2);
            } else if self.rest().starts_with("*/") {
                self.skip(2);
                depth -= 1;
                if depth == 0 {
                    return;
                }
            } else {
                self.bump();
            }
        }
    }

    /// Skips a string or name without escapes.
    fn plain(&mut self, quote: char) {
        self.bump();
        while let Some(character) = self.peek() {
            self.bump();
            if character == quote {
                if self.peek() != Some(quote) {
                    return;
                }
                self.bump();
            }
        }
    }

    /// Skips a dollar-quoted string or a parameter.
    fn dollar(&mut self) -> Result<(), Misread> {
        let start = self.location();
        let from = self.at;
        self.bump();
        if self.peek().is_some_and(|character| character.is_ascii_digit()) {
            self.skip_while(|character| character.is_ascii_digit());
            return self.junk(from, start, "parameter");
        }
        if self.peek().is_some_and(starts_word) {
            self.skip_while(|character| starts_word(character) || character.is_ascii_digit());
        }
        if self.peek() != Some('$') {
            return Ok(());
        }
        self.bump();
        let tag = self.text.get(from..self.at).unwrap_or("$$");
        let inside = self.rest().find(tag);
        let end = inside.map_or(self.text.len(), |inside| self.at + inside + tag.len());
        while self.at < end {
            self.bump();
        }
        Ok(())
    }

    /// Reads up to the quote that ends the string, and returns the raw text. `None` if it is unterminated.
    fn quoted(&mut self, quote: char, backslash: bool) -> Option<&'t str> {
        let (before, start) = (self.at, self.at + 1);
        self.bump();
        loop {
            match self.peek() {
                None => {
                    self.at = before;
                    // Skips the rest: the tokenizer reports the error.
                    self.skip_while(|_| true);
                    return None;
                }
                Some('\\') if backslash => self.skip(2),
                Some(character) if character == quote => {
                    if self.second() != Some(quote) {
                        let inside = self.text.get(start..self.at);
                        self.hidden.push((start..self.at, Fill::Letters));
                        self.bump();
                        return inside;
                    }
                    self.skip(2);
                }
                Some(_) => self.bump(),
            }
        }
    }

    /// Reads `'…'` after E, and its continuations on other lines.
    fn escaped(&mut self) -> Result<(), Misread> {
        let mut prefix = 1;
        loop {
            let start = self.location();
            let Some(inside) = self.quoted('\'', true) else { return Ok(()) };
            let decoded = decode(inside, StringKind::Escaped);
            let text = decoded.map_err(|broken| placed(broken, inside, start))?;
            self.found.literals.push(Literal { start, prefix, text });
            prefix = 0;
            let blank = self.rest().len() - self.rest().trim_start().len();
            let between = self.rest().get(..blank).unwrap_or("");
            if !between.contains('\n') || !self.rest().get(blank..).unwrap_or("").starts_with('\'') {
                return Ok(());
            }
            self.skip_while(char::is_whitespace);
        }
    }

    /// Reads `'…'` or `"…"` after U&, with its UESCAPE.
    fn unicode(&mut self) -> Result<(), Misread> {
        let start = self.location();
        let quote = self.peek().unwrap_or('\'');
        if self.escapes.is_some() && quote == '\'' {
            let message = "unsafe use of string constant with Unicode escapes";
            let detail =
                "String constants with Unicode escapes cannot be used when standard_conforming_strings is off.";
            return Err((SqlError::new(state::FEATURE_NOT_SUPPORTED, message).detail(detail), start));
        }
        let Some(inside) = self.quoted(quote, false) else { return Ok(()) };
        let rest = self.rest();
        let trimmed = rest.trim_start();
        let mut escape = '\\';
        let named = trimmed.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("uescape"));
        let after = trimmed.get(7..).unwrap_or("");
        if named && !after.starts_with(continues_word) {
            let value = after.trim_start();
            let mut characters = value.chars();
            let given = match (characters.next(), characters.next(), characters.next()) {
                (Some('\''), Some(given), Some('\'')) => Some(given),
                _ => None,
            };
            let valid = |given: &char| {
                !given.is_ascii_hexdigit() && !matches!(given, '+' | '\'' | '"') && !given.is_whitespace()
            };
            let Some(given) = given.filter(valid) else {
                self.skip(rest.len() - value.len());
                if !value.starts_with('\'') {
                    let first = value.chars().next().unwrap_or(';');
                    let same = |c: char| if continues_word(first) { continues_word(c) } else { c == first };
                    let near = value.get(..value.find(|c| !same(c)).unwrap_or(value.len())).unwrap_or(value);
                    let message = format!("UESCAPE must be followed by a simple string literal at or near \"{near}\"");
                    return Err((SqlError::syntax(message), self.location()));
                }
                let end = value.get(1..).and_then(|inside| inside.find('\'')).map_or(value.len(), |end| end + 2);
                let near = value.get(..end).unwrap_or(value);
                let message = format!("invalid Unicode escape character at or near \"{near}\"");
                return Err((SqlError::syntax(message), self.location()));
            };
            escape = given;
            let length = rest.len() - value.len() + 2 + given.len_utf8();
            let from = self.at;
            while self.at < from + length {
                self.bump();
            }
            self.hidden.push((from..self.at, Fill::Blank));
        }
        let decoded = decode(inside, StringKind::Unicode { escape, quote });
        let text = decoded.map_err(|broken| placed(broken, inside, start))?;
        self.found.literals.push(Literal { start, prefix: 2, text });
        Ok(())
    }

    fn number(&mut self) -> Result<(), Misread> {
        let (from, start) = (self.at, self.location());
        let digit = |character: char| character.is_ascii_digit();
        self.skip_while(digit);
        if self.peek() == Some('.') && self.second() != Some('.') {
            self.bump();
            self.skip_while(digit);
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            let mut after = self.rest().chars().skip(1);
            let exponent = match after.next() {
                Some('+' | '-') => after.next().filter(|next| next.is_ascii_digit()).map(|_| 2),
                Some(next) if next.is_ascii_digit() => Some(1),
                _ => None,
            };
            if let Some(signs) = exponent {
                self.skip(signs);
                self.skip_while(digit);
            }
        }
        self.junk(from, start, "numeric literal")
    }

    /// 42601 if a word begins directly here.
    fn junk(&mut self, from: usize, start: Location, after: &str) -> Result<(), Misread> {
        if !self.peek().is_some_and(starts_word) {
            return Ok(());
        }
        self.skip_while(continues_word);
        let mut near = self.text.get(from..self.at).unwrap_or("");
        // For an exponent without digits the sign is part of the token.
        let mantissa = near.strip_suffix(['e', 'E']);
        if mantissa.is_some_and(|mantissa| mantissa.chars().all(|c| c.is_ascii_digit() || c == '.'))
            && matches!(self.peek(), Some('+' | '-'))
        {
            near = self.text.get(from..self.at + 1).unwrap_or(near);
        }
        Err((SqlError::syntax(format!("trailing junk after {after} at or near \"{near}\"")), start))
    }

    fn operator(&mut self) {
        let start = self.location();
        let rest = self.rest();
        let mut length = rest.find(|character| !is_operator(character)).unwrap_or(rest.len());
        for comment in ["--", "/*"] {
            length = rest.get(..length).and_then(|run| run.find(comment)).unwrap_or(length);
        }
        let mut text = rest.get(..length).unwrap_or("");
        // A sign at the end is a separate operator, unless the operator contains a character that only PostgreSQL's
        // operators have.
        while text.len() > 1
            && text.ends_with(['+', '-'])
            && !text.contains(['~', '!', '@', '#', '%', '^', '&', '|', '`', '?'])
        {
            text = text.get(..text.len() - 1).unwrap_or("");
        }
        if text.len() > 1 || text.len() < length {
            self.found.operators.push((start, text.len() as u64, text.to_string()));
        }
        self.skip(text.len().max(1));
    }
}

/// A string's error with its position in the text, for a string that begins at `start`.
fn placed((error, at): Broken, inside: &str, start: Location) -> Misread {
    let Some(at) = at else { return (error.of_values(), start) };
    // Directly after the quote.
    let (mut line, mut column) = (start.line, start.column + 1);
    for character in inside.get(..at).unwrap_or(inside).chars() {
        (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
    }
    (error, Location::new(line, column))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn plain_strings_with_backslashes_become_strings_with_escapes() {
        for (text, said) in [
            (r"select 'a\nb', 'c'", r"select E'a\nb', 'c'"),
            (r"select 'it\'s', e'\\', date'x'", r"select E'it\'s', e'\\', date'x'"),
            (r#"select "a\'", $$\'$$, $x$ '\' $x$, a$b$, '\\'"#, r#"select "a\'", $$\'$$, $x$ '\' $x$, a$b$, E'\\'"#),
            ("select 1 -- '\\\n, '\\t' /* '\\' /* */ '\\' */", "select 1 -- '\\\n, E'\\t' /* '\\' /* */ '\\' */"),
            (r"select $1, 'a''\b'", r"select $1, E'a''\b'"),
        ] {
            assert_eq!(standard(text).unwrap().0, said);
        }
        assert_eq!(standard(r"select U&'\0041'").unwrap_err().state(), state::FEATURE_NOT_SUPPORTED);
    }
}
