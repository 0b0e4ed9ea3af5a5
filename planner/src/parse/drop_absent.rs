//! DROP of kinds of objects of which there are none here. That one is not there is PostgreSQL's answer as well.

use super::cursor::Cursor;
use super::statement::StatementKind;
use super::utility::types_in_brackets;
use crate::error::Result;
use sqlparser::ast::{DataType, ObjectName};
use sqlparser::tokenizer::Token;

/// DROP of objects of a kind of which there are none.
#[derive(Clone, Debug)]
pub struct DropAbsent {
    /// The kind, in capitals, as the command tag has it.
    pub kind: &'static str,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Which ones.
    pub objects: Vec<AbsentObject>,
}

/// What a DROP names.
#[derive(Clone, Debug)]
pub struct AbsentObject {
    /// Its name.
    pub name: ObjectName,
    /// The types of its arguments, where it has some.
    pub arguments: Option<Vec<DataType>>,
    /// The relation of which it is a part.
    pub on: Option<ObjectName>,
}

/// How an object is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Name,
    Arguments,
    /// As a part of a relation.
    On,
}

const KINDS: [(&[&str], &str, Naming); 16] = [
    (&["aggregate"], "AGGREGATE", Naming::Arguments),
    (&["domain"], "DOMAIN", Naming::Name),
    (&["event", "trigger"], "EVENT TRIGGER", Naming::Name),
    (&["extension"], "EXTENSION", Naming::Name),
    (&["foreign", "data", "wrapper"], "FOREIGN DATA WRAPPER", Naming::Name),
    (&["foreign", "table"], "FOREIGN TABLE", Naming::Name),
    (&["materialized", "view"], "MATERIALIZED VIEW", Naming::Name),
    (&["policy"], "POLICY", Naming::On),
    (&["procedure"], "PROCEDURE", Naming::Arguments),
    (&["publication"], "PUBLICATION", Naming::Name),
    (&["rule"], "RULE", Naming::On),
    (&["server"], "SERVER", Naming::Name),
    (&["statistics"], "STATISTICS", Naming::Name),
    (&["subscription"], "SUBSCRIPTION", Naming::Name),
    (&["tablespace"], "TABLESPACE", Naming::Name),
    (&["trigger"], "TRIGGER", Naming::On),
];

/// Parses such a DROP; `None` when it is one of something else. Errors: 42601.
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
        let name = cursor.object_name()?;
        let bracket = cursor.peek().is_some_and(|token| token.token == Token::LParen);
        let arguments = match naming {
            Naming::Arguments if bracket => Some(arguments(cursor)?),
            Naming::Arguments if kind == "AGGREGATE" => return Err(cursor.error()),
            _ => None,
        };
        let on = match naming {
            Naming::On => {
                cursor.expect_word("on")?;
                Some(cursor.object_name()?)
            }
            _ => None,
        };
        objects.push(AbsentObject { name, arguments, on });
        if naming == Naming::On || !cursor.sign(&Token::Comma) {
            break;
        }
    }
    let _ = cursor.word("cascade") || cursor.word("restrict");
    Ok(Some(StatementKind::DropAbsent(Box::new(DropAbsent { kind, if_exists, objects }))))
}

/// `(int, text)`, `(*)`.
fn arguments(cursor: &mut Cursor<'_>) -> Result<Vec<DataType>> {
    let mark = cursor.mark();
    if cursor.sign(&Token::LParen) && cursor.sign(&Token::Mul) && cursor.sign(&Token::RParen) {
        return Ok(Vec::new());
    }
    cursor.back_to(mark);
    types_in_brackets(cursor)
}
