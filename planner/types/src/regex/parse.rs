//! Parses a pattern to its tree: advanced, extended and basic regular expressions, and literals.

use super::basic::as_extended;
use super::class::{Class, Item, Set};
use super::tree::{Node, Test};
use crate::Ctype;
use sql_error::{Result, SqlError};

/// The syntax of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// PostgreSQL's advanced regular expressions.
    Advanced,
    /// POSIX's extended regular expressions.
    Extended,
    /// POSIX's basic regular expressions.
    Basic,
    /// No syntax: every character stands for itself.
    Literal,
}

/// The options of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The character classification of the database.
    pub ctype: Ctype,
    /// The syntax of the pattern.
    pub syntax: Syntax,
    /// Whether matching ignores case.
    pub insensitive: bool,
    /// Whether `.` and `[^` exclude newlines.
    pub newline_stops: bool,
    /// Whether `^` and `$` match at the start and end of lines.
    pub newline_anchors: bool,
    /// Whether white space and comments in the pattern are ignored.
    pub expanded: bool,
}

impl Options {
    /// The options of a plain pattern. There is no `Default`: each database has its own classification.
    pub fn new(ctype: Ctype) -> Options {
        let syntax = Syntax::Advanced;
        Options { ctype, syntax, insensitive: false, newline_stops: false, newline_anchors: false, expanded: false }
    }
    /// Applies the letter of an option. `None` if the letter is unknown.
    pub fn letter(&mut self, letter: char) -> Option<()> {
        match letter {
            'b' => self.syntax = Syntax::Basic,
            'c' => self.insensitive = false,
            'e' => self.syntax = Syntax::Extended,
            'i' => self.insensitive = true,
            'm' | 'n' => (self.newline_stops, self.newline_anchors) = (true, true),
            'p' => (self.newline_stops, self.newline_anchors) = (true, false),
            'q' => self.syntax = Syntax::Literal,
            's' => (self.newline_stops, self.newline_anchors) = (false, false),
            't' => self.expanded = false,
            'w' => (self.newline_stops, self.newline_anchors) = (false, true),
            'x' => self.expanded = true,
            _ => return None,
        }
        Some(())
    }
}

/// A parsed pattern and its number of groups.
pub(super) struct Tree {
    pub node: Node,
    /// Number of capturing groups.
    pub groups: usize,
}

/// The error 2201B in PostgreSQL's words.
pub(super) fn fault(what: &str) -> SqlError {
    SqlError::new("2201B", format!("invalid regular expression: {what}"))
}

const QUANTIFIER: &str = "quantifier operand invalid";
const PARENTHESES: &str = "parentheses () not balanced";
const BRACKETS: &str = "brackets [] not balanced";
const BRACES: &str = "braces {} not balanced";
const COUNTS: &str = "invalid repetition count(s)";
const ESCAPE: &str = "invalid escape \\ sequence";
const RANGE: &str = "invalid character range";
/// Highest repetition count in braces.
const MOST: u32 = 255;
/// Deepest nesting of parentheses.
const DEPTH: usize = 500;

/// Parses a pattern. Errors: 2201B.
pub(super) fn parse(pattern: &str, mut options: Options) -> Result<Tree> {
    let mut text = pattern;
    let ctype = options.ctype;
    if options.syntax != Syntax::Literal {
        if let Some(rest) = text.strip_prefix("***").filter(|rest| !rest.is_empty()) {
            match rest.chars().next() {
                Some('=') => options.syntax = Syntax::Literal,
                Some(':') => options.syntax = Syntax::Advanced,
                _ => return Err(fault(QUANTIFIER)),
            }
            text = rest.get(1..).unwrap_or_default();
        }
        if options.syntax == Syntax::Advanced
            && let Some(letters) = text.strip_prefix("(?")
            && letters.starts_with(|c: char| ctype.is_alphabetic(c))
        {
            let end = letters.find(|c: char| !ctype.is_alphabetic(c)).unwrap_or(letters.len());
            let (letters, rest) = letters.split_at(end);
            for letter in letters.chars() {
                options.letter(letter).ok_or_else(|| fault("invalid embedded option"))?;
            }
            text = rest.strip_prefix(')').ok_or_else(|| fault("invalid embedded option"))?;
        }
    }
    let basic = options.syntax == Syntax::Basic;
    match options.syntax {
        Syntax::Literal => {
            let nodes = text.chars().map(|c| Node::Set(Set::of(c, options))).collect();
            return Ok(Tree { node: Node::Concat(nodes), groups: 0 });
        }
        Syntax::Advanced | Syntax::Extended | Syntax::Basic => {}
    }
    let advanced = options.syntax == Syntax::Advanced;
    let chars: Vec<char> = if basic { as_extended(text).chars().collect() } else { text.chars().collect() };
    let mut parser =
        Parser { chars, at: 0, options, advanced, basic, groups: 0, closed: Vec::new(), depth: 0, looking: false };
    let node = parser.alternatives()?;
    if parser.at < parser.chars.len() {
        return Err(fault(PARENTHESES));
    }
    Ok(Tree { node, groups: parser.groups })
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    options: Options,
    advanced: bool,
    basic: bool,
    groups: usize,
    /// Closed groups, which back references may name.
    closed: Vec<usize>,
    depth: usize,
    /// Within a look-around, parentheses do not capture.
    looking: bool,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }
    fn ahead(&self, by: usize) -> Option<char> {
        self.chars.get(self.at + by).copied()
    }
    fn take(&mut self, c: char) -> bool {
        let there = self.peek() == Some(c);
        self.at += usize::from(there);
        there
    }
    fn starts(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(at, c)| self.ahead(at) == Some(c))
    }

    /// Skips white space and comments in expanded syntax.
    fn skip(&mut self) {
        loop {
            if self.advanced && self.starts("(?#") {
                while let Some(c) = self.peek() {
                    self.at += 1;
                    if c == ')' {
                        break;
                    }
                }
                continue;
            }
            match self.peek() {
                Some(c) if self.options.expanded && self.options.ctype.is_whitespace(c) => self.at += 1,
                Some('#') if self.options.expanded => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn alternatives(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(super::program::too_complex());
        }
        let mut branches = vec![self.branch()?];
        while self.take('|') {
            branches.push(self.branch()?);
        }
        self.depth -= 1;
        Ok(if branches.len() == 1 { branches.pop().unwrap_or(Node::Empty) } else { Node::Alternate(branches) })
    }

    fn branch(&mut self) -> Result<Node> {
        let mut nodes = Vec::new();
        loop {
            self.skip();
            match self.peek() {
                None | Some('|') => break,
                Some(')') if self.depth > 1 => break,
                Some(')') => return Err(fault(PARENTHESES)),
                Some(_) => {
                    let atom = self.atom()?;
                    let plain = !matches!(atom, Node::Test(_) | Node::Look { .. });
                    nodes.push(if plain { self.quantified(atom)? } else { atom });
                }
            }
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.pop().unwrap_or(Node::Empty),
            _ => Node::Concat(nodes),
        })
    }

    fn quantified(&mut self, atom: Node) -> Result<Node> {
        self.skip();
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') if !self.advanced || self.ahead(1).is_some_and(|c| c.is_ascii_digit()) => {
                self.at += 1;
                let (min, max, fixed) = self.bounds()?;
                return self.preferring(atom, (min, max), fixed);
            }
            _ => return Ok(atom),
        };
        self.at += 1;
        self.preferring(atom, (min, max), false)
    }

    fn preferring(&mut self, atom: Node, (min, max): (u32, Option<u32>), fixed: bool) -> Result<Node> {
        let greedy = !(self.advanced && self.take('?'));
        self.skip();
        if self.peek().is_some_and(|c| matches!(c, '*' | '+' | '?'))
            || self.peek() == Some('{') && self.ahead(1).is_some_and(|c| c.is_ascii_digit())
        {
            return Err(fault(QUANTIFIER));
        }
        Ok(Node::Repeat { node: Box::new(atom), min, max, greedy: (!fixed).then_some(greedy) })
    }

    fn count(&mut self) -> Result<u32> {
        let mut count = 0;
        let mut digits = 0;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            count = count * 10 + digit;
            digits += 1;
            self.at += 1;
            if count > MOST {
                return Err(fault(COUNTS));
            }
        }
        // A missing number before a comma is zero.
        if digits == 0 && self.peek() != Some(',') { Err(fault(COUNTS)) } else { Ok(count) }
    }

    /// Reads the bounds in braces, and whether they are a single number.
    fn bounds(&mut self) -> Result<(u32, Option<u32>, bool)> {
        let min = self.count()?;
        let fixed = self.peek() != Some(',');
        let max = if self.take(',') {
            if self.peek().is_some_and(|c| c.is_ascii_digit()) { Some(self.count()?) } else { None }
        } else {
            Some(min)
        };
        match self.peek() {
            None => return Err(fault(BRACES)),
            Some('}') => self.at += 1,
            Some(_) => return Err(fault(COUNTS)),
        }
        if max.is_some_and(|max| max < min) {
            return Err(fault(COUNTS));
        }
        Ok((min, max, fixed))
    }

    fn atom(&mut self) -> Result<Node> {
        let Some(c) = self.peek() else { return Ok(Node::Empty) };
        match c {
            '(' => self.parentheses(),
            '*' | '+' | '?' => Err(fault(QUANTIFIER)),
            '{' if !self.advanced || self.ahead(1).is_some_and(|c| c.is_ascii_digit()) => Err(fault(QUANTIFIER)),
            '^' => {
                self.at += 1;
                Ok(Node::Test(if self.options.newline_anchors { Test::LineStart } else { Test::TextStart }))
            }
            '$' => {
                self.at += 1;
                Ok(Node::Test(if self.options.newline_anchors { Test::LineEnd } else { Test::TextEnd }))
            }
            '.' => {
                self.at += 1;
                let nothing = Set::new(Vec::new(), Options { insensitive: false, ..self.options });
                Ok(Node::Set(Set { negated: true, no_newline: self.options.newline_stops, ..nothing }))
            }
            '[' => {
                self.at += 1;
                self.brackets()
            }
            '\\' => {
                self.at += 1;
                self.escape()
            }
            c => {
                self.at += 1;
                Ok(Node::Set(Set::of(c, self.options)))
            }
        }
    }

    fn parentheses(&mut self) -> Result<Node> {
        self.at += 1;
        if self.advanced && self.take('?') {
            if self.take(':') {
                let node = self.inner()?;
                // Braces around a sequence keep it one.
                return Ok(node);
            }
            let behind = self.take('<');
            let negative = match self.peek() {
                Some('=') => false,
                Some('!') => true,
                _ => return Err(fault(QUANTIFIER)),
            };
            self.at += 1;
            let outer = std::mem::replace(&mut self.looking, true);
            let node = self.inner()?;
            self.looking = outer;
            return Ok(Node::Look { behind, negative, node: Box::new(node) });
        }
        if self.looking {
            return self.inner();
        }
        self.groups += 1;
        let number = self.groups;
        let node = self.inner()?;
        self.closed.push(number);
        Ok(Node::Group(number, Box::new(node)))
    }

    fn inner(&mut self) -> Result<Node> {
        let node = self.alternatives()?;
        if self.take(')') { Ok(node) } else { Err(fault(PARENTHESES)) }
    }

    fn class(&self, class: Class, negated: bool) -> Node {
        Node::Set(Set::new(vec![Item::Class(class, negated)], self.options))
    }

    fn escape(&mut self) -> Result<Node> {
        let c = self.peek().ok_or_else(|| fault(ESCAPE))?;
        let refers = self.basic && matches!(c, '1'..='9');
        if refers {
            return self.reference();
        }
        if !self.advanced || !c.is_ascii_alphanumeric() {
            self.at += 1;
            return Ok(Node::Set(Set::of(c, self.options)));
        }
        let test = |test| Ok(Node::Test(test));
        if matches!(c, '1'..='9') {
            return self.reference();
        }
        if let Some(c) = self.character()? {
            return Ok(Node::Set(Set::of(c, self.options)));
        }
        self.at += 1;
        match c {
            'd' => Ok(self.class(Class::Digit, false)),
            'D' => Ok(self.class(Class::Digit, true)),
            's' => Ok(self.class(Class::Space, false)),
            'S' => Ok(self.class(Class::Space, true)),
            'w' => Ok(self.class(Class::Word, false)),
            'W' => Ok(self.class(Class::Word, true)),
            'A' => test(Test::TextStart),
            'Z' => test(Test::TextEnd),
            'm' => test(Test::WordStart),
            'M' => test(Test::WordEnd),
            'y' => test(Test::WordEdge),
            'Y' => test(Test::NotWordEdge),
            _ => Err(fault(ESCAPE)),
        }
    }

    /// Reads `\1`. Several digits that name no group are an octal character.
    fn reference(&mut self) -> Result<Node> {
        let start = self.at;
        let mut number = 0usize;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(digit as usize);
            self.at += 1;
            if self.basic {
                break;
            }
        }
        if self.at - start > 1 && number > self.groups {
            self.at = start;
            if let Some(c) = self.octal() {
                return Ok(Node::Set(Set::of(c, self.options)));
            }
        }
        if self.looking || !self.closed.contains(&number) {
            return Err(fault("invalid backreference number"));
        }
        Ok(Node::Reference { group: number, insensitive: self.options.insensitive })
    }

    fn octal(&mut self) -> Option<char> {
        let mut value = 0;
        let mut digits = 0;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(8)).filter(|_| digits < 3) {
            value = value * 8 + digit;
            digits += 1;
            self.at += 1;
        }
        if digits == 0 { None } else { char::from_u32(value) }
    }

    fn hexadecimal(&mut self, least: usize, most: usize) -> Result<char> {
        let mut value = 0u32;
        let mut digits = 0;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)).filter(|_| digits < most) {
            value = value.checked_mul(16).and_then(|value| value.checked_add(digit)).ok_or_else(|| fault(ESCAPE))?;
            digits += 1;
            self.at += 1;
        }
        if digits < least {
            return Err(fault(ESCAPE));
        }
        char::from_u32(value).ok_or_else(|| fault(ESCAPE))
    }

    /// The character that an escape names. `None` if it is not a character escape.
    fn character(&mut self) -> Result<Option<char>> {
        let Some(c) = self.peek() else { return Ok(None) };
        let named = match c {
            'a' => '\x07',
            'b' => '\x08',
            'B' => '\\',
            'e' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'c' => {
                self.at += 1;
                let letter = self.peek().ok_or_else(|| fault(ESCAPE))?;
                char::from_u32(letter as u32 & 0x1f).unwrap_or(letter)
            }
            'u' | 'U' | 'x' => {
                self.at += 1;
                return match c {
                    'u' => self.hexadecimal(4, 4),
                    'U' => self.hexadecimal(8, 8),
                    _ => self.hexadecimal(1, 255),
                }
                .map(Some);
            }
            '0' => return Ok(self.octal()),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(named))
    }

    fn brackets(&mut self) -> Result<Node> {
        for (text, test) in [("[:<:]]", Test::WordStart), ("[:>:]]", Test::WordEnd)] {
            if self.starts(text) {
                self.at += text.len();
                return Ok(Node::Test(test));
            }
        }
        let negated = self.take('^');
        let mut items = Vec::new();
        let mut first = true;
        loop {
            let c = self.peek().ok_or_else(|| fault(BRACKETS))?;
            if c == ']' && !first {
                self.at += 1;
                break;
            }
            first = false;
            match self.member()? {
                Member::Class(class, negated) => {
                    items.push(Item::Class(class, negated));
                    if self.peek() == Some('-') && self.ahead(1).is_some_and(|c| c != ']') {
                        return Err(fault(RANGE));
                    }
                }
                Member::Character(from) => {
                    if self.peek() == Some('-') && self.ahead(1).is_some_and(|c| c != ']') {
                        self.at += 1;
                        let Member::Character(to) = self.member()? else { return Err(fault(RANGE)) };
                        if to < from {
                            return Err(fault(RANGE));
                        }
                        items.push(Item::Range(from, to));
                    } else {
                        items.push(Item::Range(from, from));
                    }
                }
            }
        }
        let no_newline = negated && self.options.newline_stops;
        Ok(Node::Set(Set { negated, no_newline, ..Set::new(items, self.options) }))
    }

    fn member(&mut self) -> Result<Member> {
        let c = self.peek().ok_or_else(|| fault(BRACKETS))?;
        if c == '['
            && let Some(kind @ (':' | '.' | '=')) = self.ahead(1)
        {
            self.at += 2;
            let start = self.at;
            while !(self.peek() == Some(kind) && self.ahead(1) == Some(']')) {
                if self.peek().is_none() {
                    return Err(fault(BRACKETS));
                }
                self.at += 1;
            }
            let name: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
            self.at += 2;
            let mut letters = name.chars();
            return match (kind, letters.next(), letters.next()) {
                (':', ..) => {
                    let class = Class::named(&name).ok_or_else(|| fault("invalid character class"))?;
                    // When case is ignored, both classes match any letter.
                    let any = self.options.insensitive && matches!(class, Class::Upper | Class::Lower);
                    Ok(Member::Class(if any { Class::Alpha } else { class }, false))
                }
                (_, Some(only), None) => Ok(Member::Character(only)),
                _ => Err(fault("invalid collating element")),
            };
        }
        self.at += 1;
        if c != '\\' || !self.advanced {
            return Ok(Member::Character(c));
        }
        let escaped = self.peek().ok_or_else(|| fault(BRACKETS))?;
        if let Some(c) = self.character()? {
            return Ok(Member::Character(c));
        }
        self.at += 1;
        Ok(match escaped {
            'd' => Member::Class(Class::Digit, false),
            'D' => Member::Class(Class::Digit, true),
            's' => Member::Class(Class::Space, false),
            'S' => Member::Class(Class::Space, true),
            'w' => Member::Class(Class::Word, false),
            'W' => Member::Class(Class::Word, true),
            c if c.is_ascii_alphanumeric() => return Err(fault(ESCAPE)),
            c => Member::Character(c),
        })
    }
}

enum Member {
    Character(char),
    Class(Class, bool),
}
