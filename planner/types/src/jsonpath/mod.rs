//! jsonpath (manual, 9.16.2): paths as trees, parsed and written. A value of the type is its text, in the canonical
//! form that PostgreSQL prints. The evaluation is in `functions::json::path`.

mod parse;
mod write;

pub use parse::parse;

use sql_error::Result;

/// A parsed jsonpath expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Strict mode: structural errors are reported.
    pub strict: bool,
    /// The expression to evaluate.
    pub root: Item,
}

/// An operand and the accessors behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The operand that the accessors start from.
    pub node: Node,
    /// The accessors, applied in order.
    pub steps: Vec<Step>,
}

/// An arithmetic or comparison operator.
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

/// An operand of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// The literal `null` of JSON.
    Null,
    /// The literal `true` or `false`.
    Bool(bool),
    /// A number as numeric prints it.
    Number(String),
    /// A string literal, with escapes resolved.
    String(String),
    /// A passed variable, `$name`, without the dollar sign.
    Variable(String),
    /// The context item, `$`.
    Root,
    /// The item under test in a filter, `@`.
    Current,
    /// The last index of an array, `last`.
    Last,
    /// A binary operator and its operands.
    Binary(Operator, Box<Item>, Box<Item>),
    /// A sign before an operand: `+` (false) or `-` (true).
    Sign(bool, Box<Item>),
    /// The negation `!(…)` of a predicate.
    Not(Box<Item>),
    /// The test `(…) is unknown` of a predicate.
    IsUnknown(Box<Item>),
    /// The test `exists (…)` of a path.
    Exists(Box<Item>),
    /// The test `… starts with …` of two operands.
    StartsWith(Box<Item>, Box<Item>),
    /// The test `… like_regex "…" flag "…"`: operand, pattern, flags.
    LikeRegex(Box<Item>, String, Flags),
}

/// The flags of a `like_regex` pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Flags {
    pub insensitive: bool,
    pub dot_all: bool,
    pub lines: bool,
    pub literal: bool,
    pub expanded: bool,
}

/// An item method without arguments.
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
    /// The name of the method.
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

/// An accessor behind an operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A member accessor, `.key`, without the dot.
    Key(String),
    /// The accessor `.*` of all members.
    AnyKey,
    /// The accessor `[*]` of all elements.
    AnyElement,
    /// An array accessor such as `[a, b to c]`. A single subscript has no second item.
    Elements(Vec<(Item, Option<Item>)>),
    /// The accessor `.**{first to last}`; `u32::MAX` is `last`.
    Levels(u32, u32),
    /// An item method such as `.size()`.
    Method(Method),
    /// The method `.datetime("template")`; the template is optional.
    Datetime(Option<String>),
    /// A filter expression, `?(…)`, with its predicate.
    Filter(Box<Item>),
}

impl Operator {
    /// The operator's symbol in a path.
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
    /// Whether the item is a predicate: its result is true, false or unknown.
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

/// The canonical form of a path. Errors: 42601, 22P02.
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
