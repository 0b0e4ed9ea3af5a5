//! Splits the text of a date or time into words and classifies each by its characters.

use super::keyword::keyword;

/// The class of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Digits, perhaps with a fraction.
    Number,
    Text,
    /// Parts separated by `-`, `/` or `.`; also a zone's name.
    Date,
    Time,
    Zone,
    Special,
}

/// A lower-case word and its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub shape: Shape,
    pub text: String,
}

/// Most words of a date. The same limit applies to longer texts.
const MAX_WORDS: usize = 25;
const MAX_LENGTH: usize = 150;

struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Text<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }
    fn take(&mut self, word: &mut String, fits: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && fits(self.peek()) {
            word.push(char::from(self.peek()));
            self.at += 1;
        }
    }
    fn one(&mut self, word: &mut String) {
        word.push(char::from(self.peek()));
        self.at += 1;
    }
}

/// Splits a text into words. `None` if a character cannot occur in a date.
pub(super) fn split(text: &str) -> Option<Vec<Word>> {
    split_within(text, MAX_LENGTH)
}

/// The words of a text of a length at most.
pub fn split_within(text: &str, most: usize) -> Option<Vec<Word>> {
    let lower = text.to_ascii_lowercase();
    if lower.len() > most {
        return None;
    }
    let digit = |byte: u8| byte.is_ascii_digit();
    let letter = |byte: u8| byte.is_ascii_alphabetic();
    let mut input = Text { bytes: lower.as_bytes(), at: 0 };
    let mut words = Vec::new();
    while input.at < input.bytes.len() {
        let first = input.peek();
        let mut text = String::new();
        let shape = if first.is_ascii_whitespace() || first == 0x0b {
            input.at += 1;
            continue;
        } else if digit(first) {
            input.take(&mut text, digit);
            match input.peek() {
                b':' => {
                    input.take(&mut text, |byte| digit(byte) || matches!(byte, b':' | b'.'));
                    Shape::Time
                }
                separator @ (b'-' | b'/' | b'.') => {
                    input.one(&mut text);
                    if digit(input.peek()) {
                        let mut shape = if separator == b'.' { Shape::Number } else { Shape::Date };
                        input.take(&mut text, digit);
                        if input.peek() == separator {
                            shape = Shape::Date;
                            input.take(&mut text, |byte| digit(byte) || byte == separator);
                        }
                        shape
                    } else {
                        input.take(&mut text, |byte| byte.is_ascii_alphanumeric() || byte == separator);
                        Shape::Date
                    }
                }
                _ => Shape::Number,
            }
        } else if first == b'.' {
            input.one(&mut text);
            input.take(&mut text, digit);
            Shape::Number
        } else if letter(first) {
            input.take(&mut text, letter);
            let next = input.peek();
            // Zone names may contain signs and digits. A known word ends before a digit.
            let longer =
                matches!(next, b'-' | b'/' | b'.') || ((next == b'+' || digit(next)) && keyword(&text).is_none());
            if longer {
                let part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-/_.:".contains(&byte);
                input.take(&mut text, part);
                Shape::Date
            } else {
                Shape::Text
            }
        } else if first == b'+' || first == b'-' {
            input.one(&mut text);
            while input.peek().is_ascii_whitespace() {
                input.at += 1;
            }
            if digit(input.peek()) {
                input.take(&mut text, |byte| digit(byte) || matches!(byte, b':' | b'.' | b'-'));
                Shape::Zone
            } else if letter(input.peek()) {
                input.take(&mut text, letter);
                Shape::Special
            } else {
                return None;
            }
        } else if first.is_ascii_punctuation() {
            input.at += 1;
            continue;
        } else {
            return None;
        };
        words.push(Word { shape, text });
        if words.len() > MAX_WORDS {
            return None;
        }
    }
    Some(words)
}
