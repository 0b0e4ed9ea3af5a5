//! [`Source`]: the text of a client, its tokens, and positions in it as PostgreSQL counts them.

use sql_error::{About, Result, SqlError, state};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace};
use std::sync::Arc;

/// The distance in characters between two marks.
const MARKED: usize = 256;

/// A text that statements were parsed from.
#[derive(Debug)]
pub struct Source {
    text: Arc<str>,
    /// For each line the number of characters before it.
    lines: Vec<usize>,
    /// The byte offset of every [`MARKED`]th character. A text of many statements may be one long line, in which
    /// each is looked up.
    marks: Vec<usize>,
    /// Names beyond the maximum length, folded, in order.
    long_names: Vec<String>,
    /// The number of tokens, once they were read.
    tokens_read: usize,
}

impl Source {
    /// Takes a client's text.
    pub fn new(text: &str) -> Self {
        let (mut lines, mut marks) = (vec![0], Vec::new());
        let mut characters = 0;
        for (byte, character) in text.char_indices() {
            if characters % MARKED == 0 {
                marks.push(byte);
            }
            characters += 1;
            if character == '\n' {
                lines.push(characters);
            }
        }
        Source { text: text.into(), lines, marks, long_names: Vec::new(), tokens_read: 0 }
    }

    /// Records the tokens that are names beyond the maximum length.
    pub fn note_long_names(&mut self, tokens: &[TokenWithSpan]) {
        self.tokens_read = tokens.len();
        for token in tokens {
            if let Token::Word(word) = &token.token
                && word.value.len() > super::names::LONGEST
            {
                self.long_names.push(match word.quote_style {
                    Some(_) => word.value.clone(),
                    None => word.value.to_ascii_lowercase(),
                });
            }
        }
    }

    /// Names beyond the maximum length, folded, in order.
    pub fn long_names(&self) -> &[String] {
        &self.long_names
    }

    /// The number of tokens, once they were read.
    pub fn tokens_read(&self) -> usize {
        self.tokens_read
    }

    /// The whole text, as a shared reference.
    pub fn shared_text(&self) -> &Arc<str> {
        &self.text
    }

    /// The whole text of the client.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The position of a location in characters from 1. `None` for the empty location of generated nodes.
    pub fn position(&self, location: Location) -> Option<usize> {
        if location.line == 0 || location.column == 0 {
            return None;
        }
        let characters = self.lines.get(usize::try_from(location.line).ok()?.checked_sub(1)?)?;
        Some(characters + usize::try_from(location.column).ok()?)
    }

    /// The position of a span's start in characters from 1.
    pub fn start(&self, span: Span) -> Option<usize> {
        self.position(span.start)
    }

    fn byte(&self, location: Location) -> usize {
        let line = usize::try_from(location.line).unwrap_or(usize::MAX).saturating_sub(1);
        let Some(before) = self.lines.get(line) else { return self.text.len() };
        let column = usize::try_from(location.column).unwrap_or(usize::MAX).saturating_sub(1);
        let character = before.saturating_add(column);
        let Some(mark) = self.marks.get(character / MARKED) else { return self.text.len() };
        let rest = self.text.get(*mark..).unwrap_or("");
        mark + rest.char_indices().nth(character % MARKED).map_or(rest.len(), |(byte, _)| byte)
    }

    /// The byte range of a span.
    pub fn bytes(&self, span: Span) -> std::ops::Range<usize> {
        self.byte(span.start)..self.byte(span.end)
    }

    /// The text between two locations.
    pub fn slice(&self, start: Location, end: Location) -> &str {
        self.text.get(self.byte(start)..self.byte(end)).unwrap_or("").trim()
    }

    /// The tokens without white space and comments.
    pub fn tokens(&self) -> Result<Vec<TokenWithSpan>> {
        let scanned =
            super::lexical::scan(&self.text).map_err(|(error, location)| positioned(error, self.position(location)))?;
        let text = scanned.text.as_deref().unwrap_or(&self.text);
        let tokens = Tokenizer::new(&super::DIALECT, text).tokenize_with_location().map_err(|error| {
            let message = if error.message.starts_with("Unterminated string") {
                "unterminated quoted string"
            } else if error.message.starts_with("Unterminated dollar") {
                "unterminated dollar-quoted string"
            } else if error.message.contains("multi-line comment") {
                "unterminated /* comment"
            } else if error.message.contains("close delimiter") {
                "unterminated quoted identifier"
            } else {
                "syntax error"
            };
            let near = self.text.get(self.byte(error.location)..).unwrap_or("");
            let near = near.split_whitespace().next().unwrap_or("");
            let text = if near.is_empty() {
                format!("{message} at end of input")
            } else {
                format!("{message} at or near \"{near}\"")
            };
            positioned(SqlError::syntax(text), self.position(error.location))
        })?;
        let mut kept: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
        let mut literals = scanned.literals.into_iter().peekable();
        let (mut commented, mut dollars) = (false, false);
        for mut token in tokens {
            // A dollar-quoted string is like any other, except that no string continues it.
            let quoted = match &mut token.token {
                Token::DollarQuotedString(quoted) => Some(std::mem::take(&mut quoted.value)),
                _ => None,
            };
            let behind_dollars = std::mem::replace(&mut dollars, quoted.is_some());
            if let Some(text) = quoted {
                if kept.last().is_some_and(|last| is_string(&last.token)) {
                    return Err(self.syntax_error_at(&token));
                }
                kept.push(TokenWithSpan { token: Token::SingleQuotedString(text), span: token.span });
                commented = false;
                continue;
            }
            if let Some(literal) = literals.next_if(|literal| literal.start == token.span.start) {
                say(&mut token.token, literal.text);
                // The prefix before the quote belongs to the string.
                token.span.start.column = token.span.start.column.saturating_sub(literal.prefix);
            }
            match &token.token {
                Token::Whitespace(Whitespace::MultiLineComment(_)) => {
                    (commented, dollars) = (true, behind_dollars);
                    continue;
                }
                Token::Whitespace(_) | Token::EOF => {
                    dollars = behind_dollars;
                    continue;
                }
                // Strings with a line break between them are one. Without one, or with a C-style comment, the second is
                // a syntax error.
                Token::SingleQuotedString(more) if kept.last().is_some_and(|last| is_string(&last.token)) => {
                    match kept.last_mut() {
                        Some(last) if last.span.end.line < token.span.start.line && !commented && !behind_dollars => {
                            append_string(&mut last.token, more);
                            last.span.end = token.span.end;
                        }
                        _ => return Err(self.syntax_error_at(&token)),
                    }
                }
                Token::Word(word) if word.quote_style.is_some() && word.value.is_empty() => {
                    let error = SqlError::syntax("zero-length delimited identifier at or near \"\"\"\"");
                    return Err(positioned(error, self.start(token.span)));
                }
                _ => kept.push(token),
            }
            commented = false;
        }
        self.join_operators(&mut kept, scanned.operators)?;
        Ok(kept)
    }

    /// Merges the tokens that form one operator in PostgreSQL.
    fn join_operators(&self, tokens: &mut Vec<TokenWithSpan>, operators: Vec<(Location, u64, String)>) -> Result<()> {
        if operators.is_empty() {
            return Ok(());
        }
        let mut joined: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
        let mut operators = operators.into_iter().peekable();
        let before = |one: Location, other: Location| (one.line, one.column) < (other.line, other.column);
        for token in std::mem::take(tokens) {
            while operators.peek().is_some_and(|(start, length, _)| {
                let end = Location::new(start.line, start.column + length);
                !before(token.span.start, end)
            }) {
                operators.next();
            }
            let Some((start, length, text)) = operators.peek() else {
                joined.push(token);
                continue;
            };
            let end = Location::new(start.line, start.column + length);
            let whole = token.span.start == *start && token.span.end == end && token.token != Token::DoubleEq;
            if before(token.span.start, *start) || whole {
                joined.push(token);
                continue;
            }
            if token.span.start == *start && before(end, token.span.end) {
                // sqlparser took signs for a part of this token.
                let written = token.token.to_string();
                joined.push(TokenWithSpan { token: operator_token(text), span: Span::new(*start, end) });
                let mut at = end;
                for sign in written.chars().skip(usize::try_from(*length).unwrap_or(usize::MAX)) {
                    let next = Location::new(at.line, at.column + 1);
                    joined.push(TokenWithSpan { token: operator_token(&sign.to_string()), span: Span::new(at, next) });
                    at = next;
                }
                continue;
            }
            if token.span.start != *start {
                // A later part of an operator that was merged already.
                continue;
            }
            if !joined.last().is_some_and(|last| ends_operand(&last.token)) {
                let error = SqlError::new(state::UNDEFINED_FUNCTION, format!("operator does not exist: {text}"));
                return Err(positioned(error, self.position(*start)));
            }
            joined
                .push(TokenWithSpan { token: Token::CustomBinaryOperator(text.clone()), span: Span::new(*start, end) });
        }
        *tokens = joined;
        Ok(())
    }

    /// `syntax error at or near "token"`, or at the end of the input.
    pub fn syntax_error_at(&self, token: &TokenWithSpan) -> SqlError {
        let near = self.slice(token.span.start, token.span.end);
        if token.token == Token::EOF || near.is_empty() {
            return self.syntax_error_behind(None);
        }
        positioned(SqlError::syntax(format!("syntax error at or near \"{near}\"")), self.start(token.span))
    }

    /// A syntax error at the end of the statement with this last token: at the semicolon after it, or at the
    /// end of the input.
    pub fn syntax_error_behind(&self, last: Option<&TokenWithSpan>) -> SqlError {
        let tokens = self.tokens().unwrap_or_default();
        let behind = |token: &&TokenWithSpan| last.is_none_or(|last| token.span.start >= last.span.end);
        match tokens.iter().filter(behind).find(|token| token.token == Token::SemiColon) {
            Some(semicolon) => self.error(SqlError::syntax("syntax error at or near \";\""), semicolon.span),
            None => SqlError::syntax("syntax error at end of input").at(self.text.chars().count() + 1),
        }
    }

    /// The same from sqlparser's message, which ends in `at Line: 1, Column: 8`.
    pub fn syntax_error_from(&self, message: &str, tokens: &[TokenWithSpan], fallback: &TokenWithSpan) -> SqlError {
        let location = message.rsplit_once(" at Line: ").and_then(|(_, place)| {
            let (line, column) = place.split_once(", Column: ")?;
            Some(Location::new(line.trim().parse().ok()?, column.trim().parse().ok()?))
        });
        let found = location.and_then(|at| tokens.iter().find(|token| token.span.start == at));
        match found {
            Some(token) => self.syntax_error_at(token),
            None if message.contains("found: EOF") || fallback.token == Token::EOF => {
                self.syntax_error_behind(tokens.last())
            }
            None => self.syntax_error_at(fallback).detail(format!("{message}.")),
        }
    }

    /// Adds the position of a span to an error.
    pub fn error(&self, error: SqlError, span: Span) -> SqlError {
        positioned(error, self.start(span))
    }

    /// Records which token of this text an error points at, for a later display of this text within another.
    pub fn about_token(&self, error: SqlError) -> SqlError {
        let Some(position) = error.fields().position else { return error };
        let tokens = self.tokens().unwrap_or_default();
        let token = tokens.iter().find(|token| self.start(token.span) == Some(position));
        match token {
            Some(token) => error.about(self.slice(token.span.start, token.span.end)),
            None => error,
        }
    }

    /// A syntax error with the token in its written form instead of lower case.
    fn as_written(&self, error: SqlError, token: &TokenWithSpan) -> SqlError {
        let text = self.slice(token.span.start, token.span.end);
        let near = |word: &str| format!("syntax error at or near \"{word}\"");
        match error.fields().message == near(&text.to_lowercase()) {
            true => SqlError::syntax(near(text)),
            false => error,
        }
    }
    /// Adds the position of the part that an error is about. A token must occur once in this text.
    pub fn error_at_its_token(&self, error: SqlError) -> SqlError {
        let fields = error.fields();
        if fields.position.is_some() {
            return error;
        }
        let near = || {
            let near = fields.message.strip_prefix("syntax error at or near \"")?.strip_suffix('"')?;
            Some(About::Token(near.to_string()))
        };
        let Some(about) = fields.about.clone().or_else(near) else { return error };
        let tokens = self.tokens().unwrap_or_default();
        match about {
            About::Part(part) => self.error(error, part),
            About::Before(part, count) => {
                let at = tokens.iter().position(|token| token.span.start >= part.start);
                let found = at.and_then(|at| at.checked_sub(count)).and_then(|at| tokens.get(at));
                found.map_or(error.clone(), |token| self.error(error, token.span))
            }
            About::Behind(part, count) => {
                let at = tokens.iter().position(|token| token.span.start >= part.end);
                let found = at.and_then(|at| tokens.get(at + count));
                found.map_or(error.clone(), |token| self.error(error, token.span))
            }
            About::Words { words, behind, nth } => {
                let says = |token: &TokenWithSpan, word: &str| {
                    self.slice(token.span.start, token.span.end).eq_ignore_ascii_case(word)
                };
                let here = |at: &usize| {
                    tokens.get(*at..*at + words.len()).is_some_and(|here| {
                        let first = here.first().is_some_and(|token| token.span.start >= behind.end);
                        first && here.iter().zip(words).all(|(token, word)| says(token, word))
                    })
                };
                let found = (0..tokens.len()).filter(here).nth(nth).and_then(|at| tokens.get(at));
                found.map_or(error.clone(), |token| self.error(self.as_written(error, token), token.span))
            }
            About::Token(about) => {
                let mut same = tokens.iter().filter(|token| {
                    let text = self.slice(token.span.start, token.span.end);
                    text.eq_ignore_ascii_case(&about) || text.trim_matches('"') == about
                });
                match (same.next(), same.next()) {
                    (Some(token), None) => self.error(self.as_written(error, token), token.span),
                    _ => error,
                }
            }
        }
    }

    /// Adds the position of the first token that satisfies `is`, or of the last one if `last`. Only tokens after `from`
    /// and before `to` count. Without a match the position is that of `otherwise`.
    pub fn error_at_token(
        &self,
        error: SqlError,
        (from, to): (Option<Location>, Option<Location>),
        last: bool,
        is: impl Fn(&str) -> bool,
        otherwise: Span,
    ) -> SqlError {
        let tokens = self.tokens().unwrap_or_default();
        let mut within = tokens.iter().filter(|token| {
            from.is_none_or(|from| from <= token.span.start) && to.is_none_or(|to| token.span.end <= to)
        });
        let says = |token: &&TokenWithSpan| is(self.slice(token.span.start, token.span.end));
        let found = if last { within.rfind(says) } else { within.find(says) };
        self.error(error, found.map_or(otherwise, |token| token.span))
    }
}

/// Puts the decoded value of a blanked string or name into its token.
fn say(token: &mut Token, text: String) {
    match token {
        Token::Word(word) => word.value = text,
        Token::SingleQuotedString(shown) => *shown = text,
        _ => {}
    }
}

/// The token of an operator.
fn operator_token(text: &str) -> Token {
    match text {
        "+" => Token::Plus,
        "-" => Token::Minus,
        "*" => Token::Mul,
        "/" => Token::Div,
        "%" => Token::Mod,
        "<" => Token::Lt,
        ">" => Token::Gt,
        "=" => Token::Eq,
        "<=" => Token::LtEq,
        ">=" => Token::GtEq,
        "<>" => Token::Neq,
        other => Token::CustomBinaryOperator(other.into()),
    }
}

/// Whether an operand may end with this token.
pub(super) fn ends_operand(token: &Token) -> bool {
    match token {
        Token::RParen | Token::RBracket | Token::Number(..) | Token::Placeholder(_) => true,
        Token::Word(word) => {
            word.quote_style.is_some() || !STARTS_OPERAND.contains(&word.value.to_ascii_lowercase().as_str())
        }
        other => is_string(other),
    }
}

/// Words before an operand.
const STARTS_OPERAND: &[&str] = &[
    "select",
    "where",
    "and",
    "or",
    "not",
    "on",
    "having",
    "by",
    "when",
    "then",
    "else",
    "case",
    "in",
    "between",
    "like",
    "ilike",
    "returning",
    "values",
    "limit",
    "offset",
    "set",
    "distinct",
    "all",
    "any",
    "is",
    "from",
    "using",
];

fn is_string(token: &Token) -> bool {
    use Token as T;
    matches!(
        token,
        T::SingleQuotedString(_)
            | T::EscapedStringLiteral(_)
            | T::UnicodeStringLiteral(_)
            | T::NationalStringLiteral(_)
            | T::SingleQuotedByteStringLiteral(_)
            | T::HexStringLiteral(_)
    )
}

fn append_string(token: &mut Token, more: &str) {
    use Token as T;
    if let T::SingleQuotedString(text)
    | T::EscapedStringLiteral(text)
    | T::UnicodeStringLiteral(text)
    | T::NationalStringLiteral(text)
    | T::SingleQuotedByteStringLiteral(text)
    | T::HexStringLiteral(text) = token
    {
        text.push_str(more);
    }
}

fn positioned(error: SqlError, position: Option<usize>) -> SqlError {
    match position {
        Some(position) if error.fields().position.is_none() && !error.fields().run_time => error.at(position),
        _ => error,
    }
}

/// 54000: a limit of the statement is exceeded.
pub fn too_large(what: impl Into<String>) -> SqlError {
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, what)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_long_lines_and_among_wide_characters() {
        for piece in ["a", "ä", "€x", "\n", "ab\nç", "𝄞yz\n\n"] {
            let text = piece.repeat(3 * MARKED);
            let source = Source::new(&text);
            let (mut line, mut column) = (1, 1);
            for (byte, character) in text.char_indices() {
                let location = Location { line, column };
                assert_eq!(source.byte(location), byte, "{piece:?} {location:?}");
                (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            assert_eq!(source.byte(Location { line, column }), text.len());
            assert_eq!(source.byte(Location { line, column: column + 2 * MARKED as u64 }), text.len());
            assert_eq!(source.byte(Location { line: line + 1, column: 1 }), text.len());
        }
        assert_eq!(Source::new("").byte(Location { line: 1, column: 1 }), 0);
    }
}
