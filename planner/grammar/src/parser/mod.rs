//! [`Parser`]: reads the tokens of a text. Recursive descent; each file reads the trees of one kind.

mod alias;
mod alter_action;
mod alter_column;
mod alter_object;
mod alter_table;
mod alter_type;
mod assignment;
mod case;
#[cfg(test)]
mod cases;
mod column;
mod copy;
mod create;
mod create_table;
mod cursor;
mod database;
mod definition;
mod domain;
mod explain;
mod expression;
#[cfg(test)]
mod expression_tests;
mod extension;
mod from;
mod function;
mod function_call;
mod group_by;
mod index;
mod insert;
mod join;
mod lock;
mod merge;
mod names;
mod notify;
mod object;
mod operator;
mod operator_class;
mod operator_stack;
mod option_value;
mod options;
mod parentheses;
mod partition;
mod path;
mod policy;
mod predicate;
mod prepare;
mod primary;
mod privilege;
mod publication;
mod query;
mod query_clause;
mod role;
mod routine;
mod rule;
mod schema;
mod select;
mod sequence;
mod setting;
mod sort;
mod special_call;
mod statement;
mod table_constraint;
mod transaction;
mod trigger;
mod type_definition;
mod type_name;
mod upkeep;
mod view;
mod window;
mod with;
mod write;

use crate::error::{Result, STATEMENT_TOO_COMPLEX, SyntaxError};
use crate::keyword::Keyword;
use crate::lexer::{self, LexOptions};
use crate::span::Span;
use crate::token::{Token, TokenKind};
use crate::tree::Statement;

/// The greatest depth of brackets and operators within each other. PostgreSQL's own limit lies in this region.
pub const MOST_DEPTH: usize = 5_000;
/// Below this many free bytes the stack grows.
const RED_ZONE: usize = 256 << 10;
/// By so many bytes.
const GROWTH: usize = 4 << 20;

/// A statement of a text, and its place without the semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// Its place.
    pub span: Span,
}

/// Parses the statements of a text, separated by semicolons. Empty ones are left out. Errors: 42601, 0A000, 54001, and
/// those of the lexer.
pub fn parse(text: &str) -> Result<Vec<Parsed>> {
    let mut parser = Parser::new(text)?;
    let mut statements = Vec::new();
    loop {
        while parser.sign(';') {}
        if parser.at_end() {
            return Ok(statements);
        }
        let start = parser.mark();
        let statement = parser.statement()?;
        statements.push(Parsed { statement, span: parser.span_since(start) });
        if !parser.at_end() && !parser.is_sign(';') {
            return Err(parser.error());
        }
    }
}

/// A position in the tokens of a text.
pub struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    long_names: Vec<(String, Span)>,
    escaped_strings: Vec<(char, Span)>,
    /// The index of the next token. Never beyond the last one, which is [`TokenKind::End`].
    at: usize,
    depth: usize,
    /// The height of the expressions read so far within the one that is being read.
    height: usize,
}

impl<'t> Parser<'t> {
    /// Reads the tokens of a text. What is wrong in one becomes an error when the parser gets there. Errors: 54000 for
    /// texts beyond 4 GiB, 22021 for a zero byte.
    pub fn new(text: &'t str) -> Result<Self> {
        Parser::with_options(text, LexOptions::default())
    }

    /// The same under other settings.
    pub fn with_options(text: &'t str, options: LexOptions) -> Result<Self> {
        let lexer::Lexed { tokens, long_names, escaped_strings } = lexer::lex(text, options)?;
        Ok(Parser { text, tokens, long_names, escaped_strings, at: 0, depth: 0, height: 0 })
    }

    /// The names that were cut to 63 bytes, folded but whole.
    pub fn long_names(&self) -> &[(String, Span)] {
        &self.long_names
    }

    /// The plain strings with backslashes, if those begin escapes there, and the character behind the first one.
    pub fn escaped_strings(&self) -> &[(char, Span)] {
        &self.escaped_strings
    }

    /// The number of tokens of the text, without the end.
    pub fn token_count(&self) -> usize {
        self.tokens.len().saturating_sub(1)
    }

    /// The whole text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The next token.
    pub fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// The token this many tokens behind the next one. Behind the end stands the end.
    pub fn peek_at(&self, offset: usize) -> &Token {
        static END: Token = Token { kind: TokenKind::End, span: Span::NONE };
        self.tokens.get(self.at + offset).or_else(|| self.tokens.last()).unwrap_or(&END)
    }

    /// Takes the next token. The end stays.
    pub fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.skip();
        token
    }

    /// Steps over the next token.
    pub fn skip(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    /// Whether all tokens were read.
    pub fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    /// The position, for [`Parser::back_to`] and [`Parser::span_since`].
    pub fn mark(&self) -> usize {
        self.at
    }

    /// Goes back to an earlier position.
    pub fn back_to(&mut self, mark: usize) {
        self.at = mark;
    }

    /// The text from the token at a position to the last token read.
    pub fn span_since(&self, mark: usize) -> Span {
        let first = self.tokens.get(mark).map_or(Span::NONE, |token| token.span);
        match self.at.checked_sub(1).filter(|last| *last >= mark).and_then(|last| self.tokens.get(last)) {
            Some(last) => first.to(last.span),
            None => Span { start: first.start, end: first.start },
        }
    }

    /// The place of the next token.
    pub fn here(&self) -> Span {
        self.peek().span
    }

    /// The place of the last token read.
    pub fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(Span::NONE, |token| token.span)
    }

    /// The text of a place.
    pub fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// 42601 at the next token.
    pub fn error(&self) -> SyntaxError {
        self.error_at(self.peek())
    }

    /// 42601 at a token.
    pub fn error_at(&self, token: &Token) -> SyntaxError {
        let error = match &token.kind {
            TokenKind::Broken(error) => return error.clone(),
            TokenKind::End => SyntaxError::syntax("syntax error at end of input"),
            _ => SyntaxError::syntax(format!("syntax error at or near \"{}\"", self.slice(token.span))),
        };
        error.at(token.span)
    }

    /// The keyword that the next token is.
    pub fn keyword(&self) -> Option<Keyword> {
        self.keyword_at(0)
    }

    /// The keyword that a later token is.
    pub fn keyword_at(&self, offset: usize) -> Option<Keyword> {
        match self.peek_at(offset).kind {
            TokenKind::Name { keyword, .. } => keyword,
            _ => None,
        }
    }

    /// Whether the next token is this word without quotes. The word need not be a keyword.
    pub fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    /// The same for a later token.
    pub fn is_word_at(&self, offset: usize, word: &str) -> bool {
        matches!(&self.peek_at(offset).kind, TokenKind::Name { value, quoted: false, .. } if value == word)
    }

    /// Whether the next tokens are these words.
    pub fn are_words(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.is_word_at(offset, word))
    }

    /// Takes this word, if it is next.
    pub fn word(&mut self, word: &str) -> bool {
        self.words(&[word])
    }

    /// Takes these words, if all of them are next.
    pub fn words(&mut self, words: &[&str]) -> bool {
        let found = self.are_words(words);
        if found {
            words.iter().for_each(|_| self.skip());
        }
        found
    }

    /// Takes one of these words. Answers its index.
    pub fn one_word_of(&mut self, words: &[&str]) -> Option<usize> {
        let found = words.iter().position(|word| self.is_word(word))?;
        self.skip();
        Some(found)
    }

    /// Takes this word. Errors: 42601.
    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.word(word) { Ok(()) } else { Err(self.error()) }
    }

    /// Takes these words. Errors: 42601 at the first that is another one.
    pub fn expect_words(&mut self, words: &[&str]) -> Result<()> {
        words.iter().try_for_each(|word| self.expect_word(word))
    }

    /// Whether the next token is this sign: one of `( ) [ ] , ; .`.
    pub fn is_sign(&self, sign: char) -> bool {
        self.is_sign_at(0, sign)
    }

    /// The same for a later token.
    pub fn is_sign_at(&self, offset: usize, sign: char) -> bool {
        self.peek_at(offset).kind == TokenKind::Sign(sign)
    }

    /// Takes this sign, if it is next.
    pub fn sign(&mut self, sign: char) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.skip();
        }
        found
    }

    /// Takes this sign. Errors: 42601.
    pub fn expect_sign(&mut self, sign: char) -> Result<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.error()) }
    }

    /// Whether the next token is this operator.
    pub fn is_operator(&self, sign: &str) -> bool {
        self.is_operator_at(0, sign)
    }

    /// The same for a later token.
    pub fn is_operator_at(&self, offset: usize, sign: &str) -> bool {
        matches!(&self.peek_at(offset).kind, TokenKind::Operator(found) if found == sign)
    }

    /// Takes this operator, if it is next.
    pub fn operator(&mut self, sign: &str) -> bool {
        let found = self.is_operator(sign);
        if found {
            self.skip();
        }
        found
    }

    /// Takes a token of this kind, if it is next.
    pub fn kind(&mut self, kind: &TokenKind) -> bool {
        let found = self.peek().kind == *kind;
        if found {
            self.skip();
        }
        found
    }

    /// Takes a string, if it is next.
    pub fn string(&mut self) -> Option<String> {
        let TokenKind::String(value) = &self.peek().kind else { return None };
        let value = value.clone();
        self.skip();
        Some(value)
    }

    /// Takes a string. Errors: 42601.
    pub fn expect_string(&mut self) -> Result<String> {
        match self.string() {
            Some(value) => Ok(value),
            None => Err(self.error()),
        }
    }

    /// Takes items between commas, at least one.
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.sign(',') {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Takes items between commas in parentheses, at least one.
    pub fn list_in_parentheses<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_sign('(')?;
        let items = self.list(item)?;
        self.expect_sign(')')?;
        Ok(items)
    }

    /// Runs `read` one level deeper, on a stack that suffices. Every function that may call itself goes through here.
    /// Errors: 54001 beyond [`MOST_DEPTH`].
    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.deeper_by(1, read)
    }

    /// The same by several levels, for trees that take more of the stack where they are dropped.
    pub(crate) fn deeper_by<T>(&mut self, levels: usize, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth + levels > MOST_DEPTH {
            let error = SyntaxError::new(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded");
            return Err(error.at(self.here()));
        }
        self.depth += levels;
        let result = stacker::maybe_grow(RED_ZONE, GROWTH, || read(self));
        self.depth -= levels;
        result
    }
}
