//! DROP of kinds of objects that cannot exist here. PostgreSQL, too, answers that the named object does not exist.

use super::cursor::{Cursor, is_word};
use super::statement::StatementKind;
use super::utility::types_in_brackets;
use super::with_parser;
use sql_error::{Result, SqlError};
use sqlparser::ast::{self, DataType, ObjectName};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// A DROP of objects of a kind that cannot exist here.
#[derive(Clone, Debug)]
pub struct DropAbsent {
    /// The kind in capitals, as in the command tag.
    pub kind: &'static str,
    /// Whether IF EXISTS was written.
    pub if_exists: bool,
    /// The objects that it names.
    pub objects: Vec<AbsentObject>,
}

/// An object named in a DROP.
#[derive(Clone, Debug)]
pub struct AbsentObject {
    /// The name of the object.
    pub name: ObjectName,
    /// The types of its arguments, if the kind has arguments.
    pub arguments: Option<Vec<DataType>>,
    /// The relation that it belongs to, for a rule, policy or trigger.
    pub on: Option<ObjectName>,
    /// Its access method, language or server.
    pub of: Option<String>,
}

/// The syntax of an object's name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Name,
    Arguments,
    /// A name ON a relation.
    On,
    /// A name USING an access method.
    Using,
    /// An operator sign and the types of its operands.
    Sign,
    /// Two types in parentheses.
    Cast,
    /// FOR a type LANGUAGE a language.
    Transform,
    /// FOR a role SERVER a server.
    Mapping,
}

const KINDS: [(&[&str], &str, Naming); 32] = [
    (&["access", "method"], "ACCESS METHOD", Naming::Name),
    (&["aggregate"], "AGGREGATE", Naming::Arguments),
    (&["cast"], "CAST", Naming::Cast),
    (&["collation"], "COLLATION", Naming::Name),
    (&["conversion"], "CONVERSION", Naming::Name),
    (&["domain"], "DOMAIN", Naming::Name),
    (&["event", "trigger"], "EVENT TRIGGER", Naming::Name),
    (&["extension"], "EXTENSION", Naming::Name),
    (&["foreign", "data", "wrapper"], "FOREIGN DATA WRAPPER", Naming::Name),
    (&["foreign", "table"], "FOREIGN TABLE", Naming::Name),
    (&["language"], "LANGUAGE", Naming::Name),
    (&["materialized", "view"], "MATERIALIZED VIEW", Naming::Name),
    (&["operator", "class"], "OPERATOR CLASS", Naming::Using),
    (&["operator", "family"], "OPERATOR FAMILY", Naming::Using),
    (&["operator"], "OPERATOR", Naming::Sign),
    (&["policy"], "POLICY", Naming::On),
    (&["procedural", "language"], "LANGUAGE", Naming::Name),
    (&["procedure"], "PROCEDURE", Naming::Arguments),
    (&["publication"], "PUBLICATION", Naming::Name),
    (&["routine"], "ROUTINE", Naming::Arguments),
    (&["rule"], "RULE", Naming::On),
    (&["server"], "SERVER", Naming::Name),
    (&["statistics"], "STATISTICS", Naming::Name),
    (&["subscription"], "SUBSCRIPTION", Naming::Name),
    (&["tablespace"], "TABLESPACE", Naming::Name),
    (&["text", "search", "configuration"], "TEXT SEARCH CONFIGURATION", Naming::Name),
    (&["text", "search", "dictionary"], "TEXT SEARCH DICTIONARY", Naming::Name),
    (&["text", "search", "parser"], "TEXT SEARCH PARSER", Naming::Name),
    (&["text", "search", "template"], "TEXT SEARCH TEMPLATE", Naming::Name),
    (&["transform"], "TRANSFORM", Naming::Transform),
    (&["trigger"], "TRIGGER", Naming::On),
    (&["user", "mapping"], "USER MAPPING", Naming::Mapping),
];

/// Parses such a DROP. `None` for other kinds of objects. Errors: 42601.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    let found = cursor.word("drop").then(|| KINDS.into_iter().find(|(words, ..)| cursor.words(words))).flatten();
    let Some((_, kind, naming)) = found else {
        cursor.back_to(mark);
        return Ok(None);
    };
    let if_exists = cursor.words(&["if", "exists"]);
    let mut objects = Vec::new();
    loop {
        objects.push(object(cursor, kind, naming)?);
        let many = matches!(naming, Naming::Name | Naming::Arguments | Naming::Sign);
        if !many || !cursor.sign(&Token::Comma) {
            break;
        }
    }
    let _ = cursor.word("cascade") || cursor.word("restrict");
    Ok(Some(StatementKind::DropAbsent(Box::new(DropAbsent { kind, if_exists, objects }))))
}

fn object(cursor: &mut Cursor<'_>, kind: &str, naming: Naming) -> Result<AbsentObject> {
    let unnamed = || ObjectName(Vec::new());
    let mut found = AbsentObject { name: unnamed(), arguments: None, on: None, of: None };
    match naming {
        Naming::Name | Naming::On | Naming::Using => found.name = cursor.object_name()?,
        Naming::Arguments => {
            found.name = cursor.object_name()?;
            let bracket = cursor.peek().is_some_and(|token| token.token == Token::LParen);
            if bracket {
                found.arguments = Some(arguments(cursor)?);
            } else if kind == "AGGREGATE" {
                return Err(cursor.error());
            }
        }
        Naming::Sign => {
            let (schema, sign) = sign(cursor)?;
            let parts = schema.into_iter().chain([sign]);
            found.name = ObjectName(
                parts.map(|part| ast::ObjectNamePart::Identifier(ast::Ident::with_quote('"', part))).collect(),
            );
            found.arguments = Some(operands(cursor)?);
        }
        Naming::Cast => {
            let tokens = cursor.bracketed()?;
            let types = with_parser(cursor.source, tokens, |parser| {
                let from = parser.parse_data_type()?;
                parser.expect_keyword(Keyword::AS)?;
                Ok(vec![from, parser.parse_data_type()?])
            })?;
            found.arguments = Some(types);
        }
        Naming::Transform => {
            cursor.expect_word("for")?;
            let rest = cursor.rest();
            let at = rest.iter().position(|token| is_word(token, "language")).ok_or_else(|| cursor.error())?;
            let tokens = rest.get(..at).unwrap_or_default();
            found.arguments = Some(vec![with_parser(cursor.source, tokens, |parser| parser.parse_data_type())?]);
            cursor.back_to(cursor.mark() + at);
            cursor.expect_word("language")?;
            found.of = Some(cursor.name()?);
        }
        Naming::Mapping => {
            cursor.expect_word("for")?;
            found.name = cursor.object_name()?;
            cursor.expect_word("server")?;
            found.of = Some(cursor.name()?);
        }
    }
    if naming == Naming::On {
        cursor.expect_word("on")?;
        found.on = Some(cursor.object_name()?);
    }
    if naming == Naming::Using {
        cursor.expect_word("using")?;
        found.of = Some(cursor.name()?);
    }
    Ok(found)
}

/// `schema.@@` or `@@`, as an optional schema and the sign.
fn sign(cursor: &mut Cursor<'_>) -> Result<(Option<String>, String)> {
    let rest = cursor.rest();
    let at = rest.iter().position(|token| token.token == Token::LParen).ok_or_else(|| cursor.error())?;
    let tokens = rest.get(..at).unwrap_or_default();
    let qualified =
        matches!(tokens, [schema, dot, ..] if matches!(schema.token, Token::Word(_)) && dot.token == Token::Period);
    let schema = if qualified { Some(cursor.name()?) } else { None };
    if qualified {
        cursor.expect_sign(&Token::Period)?;
    }
    let signs = tokens.get(if qualified { 2 } else { 0 }..).unwrap_or_default();
    let text: String = signs.iter().map(|token| token.token.to_string()).collect();
    if text.is_empty() || !text.chars().all(|sign| "+-*/<>=~!@#%^&|`?".contains(sign)) {
        return Err(cursor.error());
    }
    for _ in signs {
        cursor.next();
    }
    Ok((schema, text))
}

/// `(int, NONE)`: the types of two operands. `NONE` stands for a missing operand.
fn operands(cursor: &mut Cursor<'_>) -> Result<Vec<DataType>> {
    let types = types_in_brackets(cursor)?;
    let none = |ty: &DataType| ty.to_string().eq_ignore_ascii_case("none");
    match types.as_slice() {
        [_] => {
            Err(SqlError::syntax("missing argument")
                .hint("Use NONE to denote the missing argument of a unary operator."))
        }
        [_, right] if none(right) => Err(SqlError::syntax("postfix operators are not supported")),
        [_, _] => Ok(types.into_iter().filter(|ty| !none(ty)).collect()),
        _ => Err(cursor.error()),
    }
}

/// `(int, text)` or `(*)`: argument types.
fn arguments(cursor: &mut Cursor<'_>) -> Result<Vec<DataType>> {
    let mark = cursor.mark();
    if cursor.sign(&Token::LParen) && cursor.sign(&Token::Mul) && cursor.sign(&Token::RParen) {
        return Ok(Vec::new());
    }
    cursor.back_to(mark);
    types_in_brackets(cursor)
}
