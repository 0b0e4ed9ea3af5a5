//! [`Set`]: a set of characters from a bracket expression or class escape.

use super::parse::Options;
use crate::Ctype;

/// A named character class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Alpha,
    Digit,
    Alnum,
    Upper,
    Lower,
    Space,
    Blank,
    Punct,
    Print,
    Graph,
    Cntrl,
    Xdigit,
    Word,
    Ascii,
}

impl Class {
    pub(super) fn named(name: &str) -> Option<Class> {
        Some(match name {
            "alpha" => Class::Alpha,
            "digit" => Class::Digit,
            "alnum" => Class::Alnum,
            "upper" => Class::Upper,
            "lower" => Class::Lower,
            "space" => Class::Space,
            "blank" => Class::Blank,
            "punct" => Class::Punct,
            "print" => Class::Print,
            "graph" => Class::Graph,
            "cntrl" => Class::Cntrl,
            "xdigit" => Class::Xdigit,
            "word" => Class::Word,
            "ascii" => Class::Ascii,
            _ => return None,
        })
    }
    fn has(self, c: char, ctype: Ctype) -> bool {
        if ctype == Ctype::Ascii && !c.is_ascii() && !self.ignores_ctype() {
            return false;
        }
        let punct = || {
            if c.is_ascii() {
                c.is_ascii_punctuation()
            } else {
                !c.is_alphanumeric() && !c.is_control() && !c.is_whitespace()
            }
        };
        match self {
            Class::Alpha => c.is_alphabetic(),
            Class::Digit => c.is_ascii_digit(),
            Class::Alnum => c.is_alphanumeric(),
            Class::Upper => c.is_uppercase(),
            Class::Lower => c.is_lowercase(),
            Class::Space => c.is_whitespace(),
            Class::Blank => c == ' ' || c == '\t',
            Class::Punct => punct(),
            Class::Print => !c.is_control(),
            Class::Graph => !c.is_control() && !c.is_whitespace(),
            Class::Cntrl => c.is_control(),
            Class::Xdigit => c.is_ascii_hexdigit(),
            Class::Word => is_word(c, ctype),
            Class::Ascii => c.is_ascii(),
        }
    }
    /// Whether the class does not depend on the locale: control characters are listed by code.
    fn ignores_ctype(self) -> bool {
        self == Class::Cntrl
    }
    /// The class as items of the crate `regex`.
    fn translated(self, ctype: Ctype) -> String {
        let all = match self {
            Class::Alpha => "\\p{Alphabetic}",
            Class::Digit => "0-9",
            Class::Alnum => "\\p{Alphabetic}\\p{N}",
            Class::Upper => "\\p{Uppercase}",
            Class::Lower => "\\p{Lowercase}",
            Class::Space => "\\s",
            Class::Blank => " \\t",
            Class::Punct => "[[:punct:]][[^\\x00-\\x7f]&&[^\\p{Alphabetic}\\p{N}\\p{Cc}\\s]]",
            Class::Print => "[^\\p{Cc}]",
            Class::Graph => "[^\\p{Cc}\\s]",
            Class::Cntrl => "\\p{Cc}",
            Class::Xdigit => "0-9a-fA-F",
            Class::Word => "\\p{Alphabetic}\\p{N}_",
            Class::Ascii => "\\x00-\\x7f",
        };
        if ctype == Ctype::Ascii && !self.ignores_ctype() { format!("[{all}]&&[\\x00-\\x7f]") } else { all.to_string() }
    }
}

/// Whether a character belongs to a word.
pub(super) fn is_word(c: char, ctype: Ctype) -> bool {
    ctype.is_alphanumeric(c) || c == '_'
}

/// An item of a bracket expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Range(char, char),
    Class(Class, bool),
}

/// The characters that a position of a pattern matches.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Set {
    pub items: Vec<Item>,
    pub negated: bool,
    pub insensitive: bool,
    /// Whether newlines are always excluded.
    pub no_newline: bool,
    pub ctype: Ctype,
}

impl Set {
    /// A set of items. The pattern's options determine case sensitivity.
    pub(super) fn new(items: Vec<Item>, options: Options) -> Set {
        let Options { insensitive, ctype, .. } = options;
        Set { items, negated: false, insensitive, no_newline: false, ctype }
    }

    /// The set of one character.
    pub(super) fn of(c: char, options: Options) -> Set {
        Set::new(vec![Item::Range(c, c)], options)
    }

    fn listed(&self, c: char) -> bool {
        self.items.iter().any(|item| match item {
            Item::Range(from, to) => (*from..=*to).contains(&c),
            Item::Class(class, negated) => class.has(c, self.ctype) != *negated,
        })
    }

    /// Whether the set contains a character.
    pub(super) fn has(&self, c: char) -> bool {
        if self.no_newline && c == '\n' {
            return false;
        }
        let mut listed = self.listed(c);
        if !listed && self.insensitive {
            listed = other_cases(c, self.ctype).any(|c| self.listed(c));
        }
        listed != self.negated
    }

    /// The set in the syntax of the crate `regex`.
    pub(super) fn translated(&self) -> String {
        let range = |(from, to): (char, char)| format!("\\x{{{:x}}}-\\x{{{:x}}}", from as u32, to as u32);
        // The crate knows only Unicode case folding.
        let ascii_cases = self.insensitive && self.ctype == Ctype::Ascii;
        let mut inner = String::new();
        for item in &self.items {
            match item {
                Item::Range(from, to) => {
                    inner += &range((*from, *to));
                    if ascii_cases {
                        inner.extend(other_ascii_cases(*from, *to).map(range));
                    }
                }
                Item::Class(class, false) => inner += &format!("[{}]", class.translated(self.ctype)),
                Item::Class(class, true) => inner += &format!("[^{}]", class.translated(self.ctype)),
            }
        }
        // An empty set, or its complement.
        let mut out = match (inner.is_empty(), self.negated) {
            (true, true) => "[\\x00-\\x{10ffff}]".to_string(),
            (true, false) => "[^\\x00-\\x{10ffff}]".to_string(),
            (false, true) => format!("[^{inner}]"),
            (false, false) => format!("[{inner}]"),
        };
        if self.no_newline {
            out = format!("[{out}&&[^\\n]]");
        }
        if self.insensitive && !ascii_cases { format!("(?i:{out})") } else { out }
    }
}

/// The other cases of a character that are single characters.
pub(super) fn other_cases(c: char, ctype: Ctype) -> impl Iterator<Item = char> {
    let single = |mut cases: Box<dyn Iterator<Item = char>>| cases.next().filter(|_| cases.next().is_none());
    let (lower, upper) = match ctype {
        Ctype::Ascii => (Some(c.to_ascii_lowercase()), Some(c.to_ascii_uppercase())),
        Ctype::Unicode => (single(Box::new(c.to_lowercase())), single(Box::new(c.to_uppercase()))),
    };
    [lower, upper].into_iter().flatten().filter(move |other| *other != c)
}

/// The ASCII letters in a range, as ranges of their other case.
fn other_ascii_cases(from: char, to: char) -> impl Iterator<Item = (char, char)> {
    let other = |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    [('a', 'z'), ('A', 'Z')].into_iter().filter_map(move |(first, last)| {
        let (from, to) = (from.max(first), to.min(last));
        (from <= to).then(|| (other(from), other(to)))
    })
}
