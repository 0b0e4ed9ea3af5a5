//! jsonpath (manual, 9.16.2): paths as trees, read and written. A value of the type is its text in the one form that
//! PostgreSQL prints. `functions::json::path` follows a path.

mod parse;
mod write;

pub use parse::parse;

use sql_error::Result;

/// A path.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Whether structural errors count.
    pub strict: bool,
    /// What it computes.
    pub root: Item,
}

/// An operand and the accessors behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The operand.
    pub node: Node,
    /// What is done to it, in order.
    pub steps: Vec<Step>,
}

/// An operator of two numbers, or of two values that it compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// As numeric prints it.
    Number(String),
    /// A string.
    String(String),
    /// `$name`
    Variable(String),
    /// `$`
    Root,
    /// `@`
    Current,
    /// `last`
    Last,
    /// Two operands.
    Binary(Operator, Box<Item>, Box<Item>),
    /// `+` (false) or `-` (true) before an operand.
    Sign(bool, Box<Item>),
    /// `!(…)`
    Not(Box<Item>),
    /// `(…) is unknown`
    IsUnknown(Box<Item>),
    /// `exists (…)`
    Exists(Box<Item>),
    /// `… starts with …`
    StartsWith(Box<Item>, Box<Item>),
    /// `… like_regex "…" flag "…"`
    LikeRegex(Box<Item>, String, Flags),
}

/// Flags of like_regex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Flags {
    pub insensitive: bool,
    pub dot_all: bool,
    pub lines: bool,
    pub literal: bool,
    pub expanded: bool,
}

/// A method without an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Method {
    Type,
    Size,
    Abs,
    Floor,
    Ceiling,
    Double,
    KeyValue,
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Type => "type",
            Method::Size => "size",
            Method::Abs => "abs",
            Method::Floor => "floor",
            Method::Ceiling => "ceiling",
            Method::Double => "double",
            Method::KeyValue => "keyvalue",
        }
    }
}

/// An accessor.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `.key`
    Key(String),
    /// `.*`
    AnyKey,
    /// `[*]`
    AnyElement,
    /// `[a, b to c]`
    Elements(Vec<(Item, Option<Item>)>),
    /// `.**{first to last}`; `u32::MAX` is `last`.
    Levels(u32, u32),
    /// `.size()` and its kin.
    Method(Method),
    /// `.datetime("template")`
    Datetime(Option<String>),
    /// `?(…)`
    Filter(Box<Item>),
}

impl Operator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Or => "||",
            Operator::And => "&&",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Modulo => "%",
        }
    }
    fn priority(self) -> u8 {
        match self {
            Operator::Or => 0,
            Operator::And => 1,
            Operator::Add | Operator::Subtract => 3,
            Operator::Multiply | Operator::Divide | Operator::Modulo => 4,
            _ => 2,
        }
    }
}

impl Node {
    /// Whether it is true, false or unknown rather than a value.
    pub fn is_predicate(&self) -> bool {
        match self {
            Node::Binary(operator, ..) => operator.priority() <= 2,
            Node::Not(_) | Node::IsUnknown(_) | Node::Exists(_) | Node::StartsWith(..) | Node::LikeRegex(..) => true,
            _ => false,
        }
    }
    fn priority(&self) -> u8 {
        match self {
            Node::Binary(operator, ..) => operator.priority(),
            Node::StartsWith(..) => 2,
            Node::Sign(..) => 5,
            _ => 6,
        }
    }
}

/// The one form of a path's text. Errors: 42601, 22P02.
pub fn canonical(text: &str) -> Result<String> {
    Ok(parse(text)?.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn paths_print_as_in_postgresql() {
        // Checked against PostgreSQL 15.
        for (text, printed) in [
            ("$.a[*] ? (@ > 2)", "$.\"a\"[*]?(@ > 2)"),
            ("strict $", "strict $"),
            ("lax $.a", "$.\"a\""),
            ("$.a.b.**.c", "$.\"a\".\"b\".**.\"c\""),
            ("$.**{2 to last}", "$.**{2 to last}"),
            ("$.**{3}", "$.**{3}"),
            ("$[1, 2 to last, $.x]", "$[1,2 to last,$.\"x\"]"),
            ("$.a + 1 * 2", "($.\"a\" + 1 * 2)"),
            ("($.a + 1) * 2", "(($.\"a\" + 1) * 2)"),
            ("-$.a", "(-$.\"a\")"),
            ("-1", "-1"),
            ("(-1).abs()", "(-1).abs()"),
            ("1 - 2 - 3", "((1 - 2) - 3)"),
            ("$ ? (@.a == 1 && (@.b > 2 || !(@.c < 3)))", "$?(@.\"a\" == 1 && (@.\"b\" > 2 || !(@.\"c\" < 3)))"),
            ("$ ? ((@ > 1) is unknown)", "$?((@ > 1) is unknown)"),
            ("exists($.a ? (@ starts with \"x\"))", "exists ($.\"a\"?(@ starts with \"x\"))"),
            ("$ ? (@ like_regex \"^a\" flag \"iq\")", "$?(@ like_regex \"^a\" flag \"iq\")"),
            ("$.type().size()", "$.type().size()"),
            ("$.x.datetime(\"HH24\")", "$.\"x\".datetime(\"HH24\")"),
            ("$foo.bar", "$\"foo\".\"bar\""),
            ("\"a\\u0041\\x42\\n\"", "\"aAB\\n\""),
            ("$ /* c */ . \"a b\" . *", "$.\"a b\".*"),
            ("1.50", "1.50"),
            ("null", "null"),
            ("$.null.true.type", "$.\"null\".\"true\".\"type\""),
        ] {
            assert_eq!(canonical(text).unwrap(), printed, "{text}");
            assert_eq!(canonical(printed).unwrap(), printed, "{text}");
        }
        for bad in
            ["", "$.", "$[", "a b", "@", "last", "$ ? (@.a)", "$ ? (1 + 1)", "\"x", "$ ? (@ like_regex \"(\")", "1x"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
