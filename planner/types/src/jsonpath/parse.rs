//! Parses a jsonpath text to a [`Path`].

use super::{Flags, Item, Method, Node, Operator, Path, Step};
use crate::Ctype;
use crate::numeric::Numeric;
use crate::regex::{Options, Pattern, Syntax};
use sql_error::{Result, SqlError, state};

/// Most nested brackets in a path.
const DEPTH: usize = 500;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A word; the parser decides whether it is a keyword.
    Word(String),
    String(String),
    Variable(String),
    Number(String),
    Sign(&'static str),
}

const SIGNS: [&str; 32] = [
    "**", "==", "!=", "<>", "<=", ">=", "&&", "||", "$", "@", ".", "*", "[", "]", "(", ")", "{", "}", "?", "!", "<",
    ">", "+", "-", "/", "%", ",", "=", "&", "|", ":", "#",
];

fn syntax(near: &str) -> SqlError {
    let what = if near.is_empty() {
        "syntax error at end of jsonpath input".to_string()
    } else {
        format!("syntax error at or near \"{near}\" of jsonpath input")
    };
    SqlError::syntax(what)
}

/// Reads exactly `digits` hexadecimal digits.
fn hex(chars: &mut std::str::Chars<'_>, digits: usize) -> Result<u32> {
    let rest = chars.as_str();
    let value = rest.get(..digits).and_then(|piece| u32::from_str_radix(piece, 16).ok()).ok_or_else(|| syntax("\\"))?;
    *chars = rest.get(digits..).unwrap_or_default().chars();
    Ok(value)
}

/// Reads a string up to its quote, or a word, and resolves escapes. Also answers the rest.
fn text(rest: &str, quoted: bool) -> Result<(String, &str)> {
    let special = |c: char| "?%$.[]{}()|&!=<>@#,*:-+/\"".contains(c) || c.is_ascii_whitespace();
    let mut out = String::new();
    let mut chars = rest.chars();
    let mut high: Option<u32> = None;
    loop {
        let before = chars.as_str();
        let Some(c) = chars.next() else {
            if quoted {
                return Err(SqlError::syntax("unterminated quoted string at end of jsonpath input"));
            }
            return Ok((out, ""));
        };
        if c == '\\' {
            let escaped = chars.next().ok_or_else(|| syntax("\\"))?;
            let code = match escaped {
                'b' => 8,
                'f' => 12,
                'n' => 10,
                'r' => 13,
                't' => 9,
                'v' => 11,
                'x' => hex(&mut chars, 2)?,
                'u' => match chars.as_str().strip_prefix('{') {
                    Some(inner) => {
                        let (digits, after) = inner.split_once('}').ok_or_else(|| syntax("\\u"))?;
                        chars = after.chars();
                        u32::from_str_radix(digits, 16).map_err(|_| syntax("\\u"))?
                    }
                    None => hex(&mut chars, 4)?,
                },
                other => u32::from(other),
            };
            let code = match (high.take(), code) {
                (None, 0xd800..=0xdbff) => {
                    high = Some(code);
                    continue;
                }
                (Some(high), 0xdc00..=0xdfff) => 0x10000 + ((high - 0xd800) << 10) + (code - 0xdc00),
                (None, code) => code,
                (Some(_), _) => {
                    return Err(SqlError::new(
                        state::INVALID_TEXT_REPRESENTATION,
                        "invalid input syntax for type jsonpath",
                    )
                    .detail("Unicode low surrogate must follow a high surrogate."));
                }
            };
            if code == 0 {
                return Err(SqlError::new("22P05", "unsupported Unicode escape sequence")
                    .detail("\\u0000 cannot be converted to text."));
            }
            out.push(char::from_u32(code).ok_or_else(|| syntax("\\u"))?);
            continue;
        }
        if quoted && c == '"' {
            return Ok((out, chars.as_str()));
        }
        if !quoted && special(c) {
            return Ok((out, before));
        }
        out.push(c);
    }
}

fn tokens(input: &str) -> Result<Vec<Token>> {
    let mut out = Vec::new();
    let mut rest = input;
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_whitespace() {
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            let (_, after) = comment
                .split_once("*/")
                .ok_or_else(|| SqlError::syntax("unexpected end of comment at end of jsonpath input"))?;
            rest = after;
            continue;
        }
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let digit_follows = after.starts_with(|c: char| c.is_ascii_digit());
        if c == '"' {
            let (string, tail) = text(after, true)?;
            out.push(Token::String(string));
            rest = tail;
        } else if c.is_ascii_digit()
            || c == '.'
                && digit_follows
                && !matches!(out.last(), Some(Token::Word(_) | Token::Sign("]" | ")" | "$" | "@")))
        {
            let digits = |from: usize| {
                let tail = rest.get(from..).unwrap_or_default();
                from + tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len())
            };
            let mut end = digits(0);
            if rest.get(end..).is_some_and(|tail| tail.starts_with('.')) {
                end = digits(end + 1);
            }
            if rest.get(end..).is_some_and(|tail| tail.starts_with(['e', 'E'])) {
                let sign = usize::from(rest.get(end + 1..).is_some_and(|tail| tail.starts_with(['+', '-'])));
                let after = digits(end + 1 + sign);
                if after == end + 1 + sign {
                    return Err(SqlError::syntax(format!(
                        "invalid numeric literal at or near \"{rest}\" of jsonpath input"
                    )));
                }
                end = after;
            }
            let (number, tail) = rest.split_at(end);
            if tail.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                return Err(SqlError::syntax(format!(
                    "trailing junk after numeric literal at or near \"{rest}\" of jsonpath input"
                )));
            }
            if number.len() > 1 && number.starts_with('0') && number.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
                return Err(SqlError::syntax(format!(
                    "trailing junk after numeric literal at or near \"{number}\" of jsonpath input"
                )));
            }
            out.push(Token::Number(Numeric::parse(number)?.to_string()));
            rest = tail;
        } else if c == '$' {
            if let Some(quoted) = after.strip_prefix('"') {
                let (name, tail) = text(quoted, true)?;
                out.push(Token::Variable(name));
                rest = tail;
            } else {
                let (name, tail) = text(after, false)?;
                out.push(if name.is_empty() { Token::Sign("$") } else { Token::Variable(name) });
                rest = tail;
            }
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            out.push(Token::Sign(sign));
            rest = rest.get(sign.len()..).unwrap_or_default();
        } else {
            let (word, tail) = text(rest, false)?;
            if word.is_empty() {
                return Err(syntax(rest));
            }
            out.push(Token::Word(word));
            rest = tail;
        }
    }
    Ok(out)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// Nesting of filters, where `@` is allowed, and of subscripts, where `last` is.
    filters: usize,
    subscripts: usize,
}

/// Parses a path. Errors: 42601, 22P02.
pub fn parse(input: &str) -> Result<Path> {
    let tokens = tokens(input)?;
    if tokens.is_empty() {
        return Err(SqlError::new(
            state::INVALID_TEXT_REPRESENTATION,
            format!("invalid input syntax for type jsonpath: \"{input}\""),
        ));
    }
    let mut parser = Parser { tokens, at: 0, depth: 0, filters: 0, subscripts: 0 };
    let strict = parser.keyword("strict");
    if !strict {
        parser.keyword("lax");
    }
    let root = parser.expression(0)?;
    if parser.at < parser.tokens.len() {
        return Err(parser.unexpected());
    }
    Ok(Path { strict, root })
}

fn item(node: Node) -> Item {
    Item { node, steps: Vec::new() }
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }
    fn sign(&mut self, sign: &str) -> bool {
        let there = matches!(self.peek(), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(there);
        there
    }
    fn expect(&mut self, sign: &str) -> Result<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }
    fn keyword(&mut self, word: &str) -> bool {
        // The case of these three words counts.
        let exact = matches!(word, "null" | "true" | "false");
        let there = matches!(self.peek(), Some(Token::Word(found))
            if if exact { found == word } else { found.eq_ignore_ascii_case(word) });
        self.at += usize::from(there);
        there
    }
    fn unexpected(&self) -> SqlError {
        match self.peek() {
            None => syntax(""),
            Some(Token::Sign(sign)) => syntax(sign),
            Some(Token::Word(text) | Token::String(text) | Token::Variable(text) | Token::Number(text)) => syntax(text),
        }
    }

    fn operator(&self) -> Option<Operator> {
        Some(match self.peek()? {
            Token::Sign("||") => Operator::Or,
            Token::Sign("&&") => Operator::And,
            Token::Sign("==") => Operator::Equal,
            Token::Sign("!=" | "<>") => Operator::NotEqual,
            Token::Sign("<") => Operator::Less,
            Token::Sign("<=") => Operator::LessOrEqual,
            Token::Sign(">") => Operator::Greater,
            Token::Sign(">=") => Operator::GreaterOrEqual,
            Token::Sign("+") => Operator::Add,
            Token::Sign("-") => Operator::Subtract,
            Token::Sign("*") => Operator::Multiply,
            Token::Sign("/") => Operator::Divide,
            Token::Sign("%") => Operator::Modulo,
            _ => return None,
        })
    }

    /// Parses operators of priority `least` or higher.
    fn expression(&mut self, least: u8) -> Result<Item> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(SqlError::new("54001", "stack depth limit exceeded"));
        }
        let mut left = self.operand()?;
        loop {
            if least <= 2 && self.keyword("starts") {
                if !self.keyword("with") {
                    return Err(self.unexpected());
                }
                let initial = match self.peek().cloned() {
                    Some(Token::String(text)) => Node::String(text),
                    Some(Token::Variable(name)) => Node::Variable(name),
                    _ => return Err(self.unexpected()),
                };
                self.at += 1;
                self.value(&left)?;
                left = item(Node::StartsWith(Box::new(left), Box::new(item(initial))));
                continue;
            }
            if least <= 2 && self.keyword("like_regex") {
                self.value(&left)?;
                left = self.like_regex(left)?;
                continue;
            }
            let Some(operator) = self.operator().filter(|operator| operator.priority() >= least) else { break };
            self.at += 1;
            let right = self.expression(operator.priority() + 1)?;
            match operator {
                Operator::Or | Operator::And => {
                    self.predicate(&left)?;
                    self.predicate(&right)?;
                }
                _ => {
                    self.value(&left)?;
                    self.value(&right)?;
                }
            }
            left = item(Node::Binary(operator, Box::new(left), Box::new(right)));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn is_predicate(item: &Item) -> bool {
        item.steps.is_empty() && item.node.is_predicate()
    }
    fn predicate(&self, item: &Item) -> Result<()> {
        if Self::is_predicate(item) { Ok(()) } else { Err(self.unexpected()) }
    }
    fn value(&self, item: &Item) -> Result<()> {
        if Self::is_predicate(item) { Err(self.unexpected()) } else { Ok(()) }
    }

    fn like_regex(&mut self, left: Item) -> Result<Item> {
        let Some(Token::String(pattern)) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        let mut flags = Flags::default();
        if self.keyword("flag") {
            let Some(Token::String(letters)) = self.peek().cloned() else { return Err(self.unexpected()) };
            self.at += 1;
            for letter in letters.chars() {
                match letter {
                    'i' => flags.insensitive = true,
                    's' => flags.dot_all = true,
                    'm' => flags.lines = true,
                    'q' => flags.literal = true,
                    'x' => flags.expanded = true,
                    _ => {
                        return Err(SqlError::syntax("invalid input syntax for type jsonpath")
                            .detail(format!("Unrecognized flag character \"{letter}\" in LIKE_REGEX predicate.")));
                    }
                }
            }
        }
        // Case classification does not affect a pattern's validity.
        flags.compile(&pattern, Ctype::Unicode)?;
        Ok(item(Node::LikeRegex(Box::new(left), pattern, flags)))
    }

    fn operand(&mut self) -> Result<Item> {
        for (sign, negative) in [("+", false), ("-", true)] {
            if self.sign(sign) {
                self.depth += 1;
                if self.depth > DEPTH {
                    return Err(SqlError::new("54001", "stack depth limit exceeded"));
                }
                let inner = self.operand()?;
                self.depth -= 1;
                self.value(&inner)?;
                return Ok(match &inner.node {
                    Node::Number(digits) if inner.steps.is_empty() && negative => {
                        item(Node::Number(Numeric::parse(digits)?.neg().to_string()))
                    }
                    Node::Number(_) if inner.steps.is_empty() => inner,
                    _ => item(Node::Sign(negative, Box::new(inner))),
                });
            }
        }
        let mut primary = self.primary()?;
        while let Some(step) = self.step()? {
            primary.steps.push(step);
        }
        Ok(primary)
    }

    fn primary(&mut self) -> Result<Item> {
        if self.sign("!") {
            let inner = if self.keyword("exists") { self.exists()? } else { self.bracketed()? };
            self.predicate(&inner)?;
            return Ok(item(Node::Not(Box::new(inner))));
        }
        if self.sign("(") {
            let inner = self.expression(0)?;
            self.expect(")")?;
            if Self::is_predicate(&inner) && self.keyword("is") {
                if !self.keyword("unknown") {
                    return Err(self.unexpected());
                }
                return Ok(item(Node::IsUnknown(Box::new(inner))));
            }
            return Ok(inner);
        }
        let node = match self.peek().cloned() {
            Some(Token::String(text)) => Node::String(text),
            Some(Token::Variable(name)) => Node::Variable(name),
            Some(Token::Number(digits)) => Node::Number(digits),
            Some(Token::Sign("$")) => Node::Root,
            Some(Token::Sign("@")) => {
                if self.filters == 0 {
                    return Err(SqlError::syntax("@ is not allowed in root expressions"));
                }
                Node::Current
            }
            Some(Token::Word(_)) => {
                if self.keyword("null") {
                    return Ok(item(Node::Null));
                } else if self.keyword("true") {
                    return Ok(item(Node::Bool(true)));
                } else if self.keyword("false") {
                    return Ok(item(Node::Bool(false)));
                } else if self.keyword("last") {
                    if self.subscripts == 0 {
                        return Err(SqlError::syntax("LAST is allowed only in array subscripts"));
                    }
                    return Ok(item(Node::Last));
                } else if self.keyword("exists") {
                    return self.exists();
                }
                return Err(self.unexpected());
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(item(node))
    }

    fn bracketed(&mut self) -> Result<Item> {
        self.expect("(")?;
        let inner = self.expression(0)?;
        self.expect(")")?;
        Ok(inner)
    }

    fn exists(&mut self) -> Result<Item> {
        let inner = self.bracketed()?;
        self.value(&inner)?;
        Ok(item(Node::Exists(Box::new(inner))))
    }

    fn level(&mut self) -> Result<u32> {
        if self.keyword("last") {
            return Ok(u32::MAX);
        }
        match self.peek().cloned() {
            Some(Token::Number(digits)) => {
                self.at += 1;
                digits.parse().map_err(|_| syntax(&digits))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn step(&mut self) -> Result<Option<Step>> {
        if self.sign("[") {
            if self.sign("*") {
                self.expect("]")?;
                return Ok(Some(Step::AnyElement));
            }
            self.subscripts += 1;
            let mut subscripts = Vec::new();
            loop {
                let from = self.expression(3)?;
                let to = if self.keyword("to") { Some(self.expression(3)?) } else { None };
                subscripts.push((from, to));
                if !self.sign(",") {
                    break;
                }
            }
            self.subscripts -= 1;
            self.expect("]")?;
            return Ok(Some(Step::Elements(subscripts)));
        }
        if self.sign("?") {
            self.expect("(")?;
            self.filters += 1;
            let inner = self.expression(0)?;
            self.filters -= 1;
            self.predicate(&inner)?;
            self.expect(")")?;
            return Ok(Some(Step::Filter(Box::new(inner))));
        }
        if !self.sign(".") {
            return Ok(None);
        }
        if self.sign("*") {
            return Ok(Some(Step::AnyKey));
        }
        if self.sign("**") {
            if !self.sign("{") {
                return Ok(Some(Step::Levels(0, u32::MAX)));
            }
            let first = self.level()?;
            let last = if self.keyword("to") { self.level()? } else { first };
            self.expect("}")?;
            return Ok(Some(Step::Levels(first, last)));
        }
        let name = match self.peek().cloned() {
            Some(Token::String(text)) => {
                self.at += 1;
                return Ok(Some(Step::Key(text)));
            }
            Some(Token::Word(name)) => name,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        if !matches!(self.peek(), Some(Token::Sign("("))) {
            return Ok(Some(Step::Key(name)));
        }
        self.at += 1;
        let method = match name.to_ascii_lowercase().as_str() {
            "type" => Method::Type,
            "size" => Method::Size,
            "abs" => Method::Abs,
            "floor" => Method::Floor,
            "ceiling" => Method::Ceiling,
            "double" => Method::Double,
            "keyvalue" => Method::KeyValue,
            "datetime" => {
                let template = match self.peek().cloned() {
                    Some(Token::String(text)) => {
                        self.at += 1;
                        Some(text)
                    }
                    _ => None,
                };
                self.expect(")")?;
                return Ok(Some(Step::Datetime(template)));
            }
            _ => return Err(syntax("(")),
        };
        self.expect(")")?;
        Ok(Some(Step::Method(method)))
    }
}

impl Flags {
    /// Compiles a pattern. Errors: 2201B; 0A000 for the flag `x`, unless the flag `q` makes the pattern literal.
    pub fn compile(self, pattern: &str, ctype: Ctype) -> Result<Pattern> {
        if self.expanded && !self.literal {
            let message = "XQuery \"x\" flag (expanded regular expressions) is not implemented";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        let options = Options {
            ctype,
            syntax: if self.literal { Syntax::Literal } else { Syntax::Advanced },
            insensitive: self.insensitive,
            newline_stops: !self.dot_all,
            newline_anchors: self.lines,
            expanded: false,
        };
        Pattern::new(pattern, options)
    }
}
