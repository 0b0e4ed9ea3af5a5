//! [`Set`]: a set of characters, as brackets and class escapes name them.

/// A named class.
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
    fn has(self, c: char) -> bool {
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
            Class::Word => is_word(c),
            Class::Ascii => c.is_ascii(),
        }
    }
    /// As an item of a class of the crate `regex`.
    fn translated(self) -> &'static str {
        match self {
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
        }
    }
}

/// Whether a character is of a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// An item of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Range(char, char),
    Class(Class, bool),
}

/// A set of characters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Set {
    pub items: Vec<Item>,
    pub negated: bool,
    pub insensitive: bool,
    /// Whether a line's end is never in it.
    pub no_newline: bool,
}

impl Set {
    /// One character.
    pub(super) fn of(c: char, insensitive: bool) -> Set {
        Set { items: vec![Item::Range(c, c)], insensitive, ..Set::default() }
    }

    fn listed(&self, c: char) -> bool {
        self.items.iter().any(|item| match item {
            Item::Range(from, to) => (*from..=*to).contains(&c),
            Item::Class(class, negated) => class.has(c) != *negated,
        })
    }

    /// Whether a character is in it.
    pub(super) fn has(&self, c: char) -> bool {
        if self.no_newline && c == '\n' {
            return false;
        }
        let mut listed = self.listed(c);
        if !listed && self.insensitive {
            listed = other_cases(c).any(|c| self.listed(c));
        }
        listed != self.negated
    }

    /// In the syntax of the crate `regex`.
    pub(super) fn translated(&self) -> String {
        let mut inner = String::new();
        for item in &self.items {
            match item {
                Item::Range(from, to) => {
                    inner += &format!("\\x{{{:x}}}-\\x{{{:x}}}", *from as u32, *to as u32);
                }
                Item::Class(class, false) => inner += &format!("[{}]", class.translated()),
                Item::Class(class, true) => inner += &format!("[^{}]", class.translated()),
            }
        }
        // Nothing, and everything.
        let mut out = match (inner.is_empty(), self.negated) {
            (true, true) => "[\\x00-\\x{10ffff}]".to_string(),
            (true, false) => "[^\\x00-\\x{10ffff}]".to_string(),
            (false, true) => format!("[^{inner}]"),
            (false, false) => format!("[{inner}]"),
        };
        if self.no_newline {
            out = format!("[{out}&&[^\\n]]");
        }
        if self.insensitive { format!("(?i:{out})") } else { out }
    }
}

/// The other cases of a character, of one character each.
pub(super) fn other_cases(c: char) -> impl Iterator<Item = char> {
    let single = |mut cases: Box<dyn Iterator<Item = char>>| cases.next().filter(|_| cases.next().is_none());
    let lower = single(Box::new(c.to_lowercase()));
    let upper = single(Box::new(c.to_uppercase()));
    [lower, upper].into_iter().flatten().filter(move |other| *other != c)
}
