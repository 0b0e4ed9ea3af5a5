//! ALTER TABLE, as far as sqlparser does not know it: each action is one of ours or one of sqlparser's. Knows no tables.

use super::cursor::{Cursor, is_word};
use super::statement::{AlterAction, AlterRelation, StatementKind};
use super::tokens::{bare_word, between_commas};
use super::with_parser;
use crate::error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// ALTER TABLE, VIEW, SEQUENCE or INDEX with an action of ours among its actions; `None`, and nothing read, else.
pub fn alter(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    let found = read(cursor)?;
    if found.is_none() {
        cursor.back_to(mark);
    }
    Ok(found)
}

fn read(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    if !cursor.word("alter") {
        return Ok(None);
    }
    let kinds = ["table", "view", "sequence", "index"];
    let Some(kind) = kinds.into_iter().find(|kind| cursor.word(kind)) else { return Ok(None) };
    let if_exists = cursor.words(&["if", "exists"]);
    cursor.word("only");
    let Ok(name) = cursor.object_name() else { return Ok(None) };
    cursor.sign(&Token::Mul);
    let rest = cursor.take_rest();
    let mut own = Vec::new();
    for tokens in between_commas(rest) {
        let mut action = Cursor::new(cursor.source, tokens);
        let found = one(&mut action, kind)?;
        if found.is_some() {
            action.end()?;
        }
        own.push((found, tokens));
    }
    let of_table = kind == "table" || kind == "view";
    if own.iter().all(|(found, _)| found.is_none()) || !of_table && own.iter().any(|(found, _)| found.is_none()) {
        return Ok(None);
    }
    let mut actions = Vec::with_capacity(own.len());
    for (found, tokens) in own {
        match found {
            Some(action) => actions.push(action),
            None => {
                // Whatever its name, sqlparser reads the action alone.
                let mut statement = vec![
                    bare_word(Keyword::ALTER, "ALTER"),
                    bare_word(Keyword::TABLE, "TABLE"),
                    bare_word(Keyword::NoKeyword, "t"),
                ];
                statement.extend_from_slice(tokens);
                super::sequence::reorder(cursor.source, &mut statement)?;
                let tree = with_parser(cursor.source, &statement, |parser| parser.parse_statement())?;
                let ast::Statement::AlterTable(alter) = tree else { return Err(cursor.error()) };
                actions.extend(alter.operations.into_iter().map(|operation| AlterAction::Sql(Box::new(operation))));
            }
        }
    }
    Ok(Some(StatementKind::AlterRelation(Box::new(AlterRelation { kind, if_exists, name, actions }))))
}

/// One of our actions.
fn one(cursor: &mut Cursor<'_>, kind: &str) -> Result<Option<AlterAction>> {
    if kind != "index" && cursor.words(&["set", "schema"]) {
        return Ok(Some(AlterAction::SetSchema(cursor.name()?)));
    }
    if kind == "sequence" || kind == "view" {
        if kind == "sequence" && (cursor.words(&["set", "logged"]) || cursor.words(&["set", "unlogged"])) {
            return Err(SqlError::unsupported("ALTER SEQUENCE SET LOGGED"));
        }
        if kind == "view" {
            if cursor.at_word("set") && cursor.rest().get(1).is_some_and(|next| next.token == Token::LParen) {
                cursor.word("set");
                return Ok(Some(AlterAction::ViewOptions(super::view::options(cursor)?)));
            }
            if cursor.word("reset") {
                return Ok(Some(AlterAction::ResetViewOptions(parameters(cursor)?)));
            }
        }
        return Ok(None);
    }
    if cursor.words(&["set", "tablespace"]) {
        super::table_clauses::tablespace(cursor)?;
        return Ok(Some(AlterAction::Nothing));
    }
    if kind == "index" {
        if cursor.words(&["rename", "to"]) {
            return Ok(Some(AlterAction::RenameIndex(cursor.name()?)));
        }
        if cursor.word("set") || cursor.word("reset") {
            return Ok(Some(AlterAction::StorageParameters(parameters(cursor)?)));
        }
        if cursor.words(&["alter", "column"]) || cursor.word("alter") {
            return Err(SqlError::unsupported("ALTER INDEX ALTER COLUMN"));
        }
        return Ok(None);
    }
    if cursor.word("reset") {
        return Ok(Some(AlterAction::StorageParameters(parameters(cursor)?)));
    }
    if cursor.words(&["set", "logged"]) {
        return Ok(Some(AlterAction::SetLogged(true)));
    }
    if cursor.words(&["set", "unlogged"]) {
        return Ok(Some(AlterAction::SetLogged(false)));
    }
    if cursor.words(&["set", "without", "oids"]) {
        return Ok(Some(AlterAction::Nothing));
    }
    if cursor.words(&["set", "without", "cluster"]) {
        return Ok(Some(AlterAction::Nothing));
    }
    if cursor.words(&["cluster", "on"]) {
        return Ok(Some(AlterAction::ClusterOn(cursor.name()?)));
    }
    if cursor.words(&["replica", "identity"]) {
        if cursor.word("default") {
            return Ok(Some(AlterAction::Nothing));
        }
        return Err(SqlError::unsupported("REPLICA IDENTITY"));
    }
    for words in [
        &["inherit"][..],
        &["no", "inherit"],
        &["of"],
        &["not", "of"],
        &["attach", "partition"],
        &["detach", "partition"],
    ] {
        if cursor.words(words) {
            return Err(SqlError::unsupported(format!("ALTER TABLE {}", words.join(" ").to_uppercase())));
        }
    }
    if cursor.words(&["set", "access", "method"]) {
        return match cursor.name()?.as_str() {
            "heap" => Ok(Some(AlterAction::Nothing)),
            other => Err(SqlError::new(state::UNDEFINED_OBJECT, format!("access method \"{other}\" does not exist"))),
        };
    }
    if cursor.words(&["alter", "constraint"]) {
        return alter_constraint(cursor).map(Some);
    }
    if cursor.word("add") {
        return add(cursor);
    }
    if cursor.word("alter") {
        return column(cursor);
    }
    Ok(None)
}

fn parameters(cursor: &mut Cursor<'_>) -> Result<Vec<String>> {
    let inside = cursor.bracketed()?;
    inside
        .split(|token| token.token == Token::Comma)
        .map(|option| match option.first().map(|token| &token.token) {
            Some(Token::Word(word)) => Ok(super::names::fold_text(&word.value, word.quote_style.is_some())),
            _ => Err(cursor.error()),
        })
        .collect()
}

fn alter_constraint(cursor: &mut Cursor<'_>) -> Result<AlterAction> {
    let name = cursor.name()?;
    let (mut deferrable, mut deferred) = (None, None);
    while cursor.peek().is_some() {
        if cursor.words(&["not", "deferrable"]) {
            deferrable = Some(false);
        } else if cursor.word("deferrable") {
            deferrable = Some(true);
        } else if cursor.words(&["initially", "deferred"]) {
            deferred = Some(true);
        } else if cursor.words(&["initially", "immediate"]) {
            deferred = Some(false);
        } else {
            return Err(cursor.error());
        }
    }
    Ok(AlterAction::AlterConstraint { name, deferrable, deferred })
}

/// ADD [CONSTRAINT name] {UNIQUE | PRIMARY KEY} USING INDEX.
fn add(cursor: &mut Cursor<'_>) -> Result<Option<AlterAction>> {
    let name = if cursor.word("constraint") { Some(cursor.name()?) } else { None };
    let primary = cursor.words(&["primary", "key"]);
    if !primary && !cursor.word("unique") || !cursor.words(&["using", "index"]) {
        return Ok(None);
    }
    let index = cursor.name()?;
    if cursor.peek().is_some() && !cursor.words(&["not", "deferrable"]) && !cursor.words(&["initially", "immediate"]) {
        return Err(SqlError::unsupported("a deferrable constraint USING INDEX"));
    }
    Ok(Some(AlterAction::AddUsingIndex { name, index, primary }))
}

/// ALTER [COLUMN] name …
fn column(cursor: &mut Cursor<'_>) -> Result<Option<AlterAction>> {
    cursor.word("column");
    if let Some(number) = cursor.integer() {
        return Err(SqlError::new(
            state::FEATURE_NOT_SUPPORTED,
            format!("cannot refer to non-index column by number {number}"),
        ));
    }
    let Ok(name) = cursor.name() else { return Ok(None) };
    let missing_ok = |cursor: &mut Cursor<'_>| cursor.words(&["if", "exists"]);
    if cursor.words(&["set", "statistics"]) {
        let value = cursor.integer().ok_or_else(|| cursor.error())?;
        return Ok(Some(AlterAction::SetStatistics(name, value)));
    }
    if cursor.words(&["set", "storage"]) {
        return Ok(Some(AlterAction::SetStorage(name, cursor.name()?)));
    }
    if cursor.words(&["set", "compression"]) {
        return match cursor.name()?.as_str() {
            "pglz" | "default" => Ok(Some(AlterAction::SetCompression(name))),
            "lz4" => Err(SqlError::unsupported("COMPRESSION lz4")),
            other => {
                Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("invalid compression method \"{other}\"")))
            }
        };
    }
    if cursor.words(&["drop", "expression"]) {
        return Ok(Some(AlterAction::DropExpression(name, missing_ok(cursor))));
    }
    if cursor.words(&["drop", "identity"]) {
        return Ok(Some(AlterAction::DropIdentity(name, missing_ok(cursor))));
    }
    if cursor.words(&["add", "generated"]) {
        let always = cursor.word("always");
        if !always && !cursor.words(&["by", "default"]) {
            return Err(cursor.error());
        }
        if !cursor.words(&["as", "identity"]) {
            return Err(cursor.error());
        }
        let (sequence, options) = if cursor.peek().is_some() {
            let (name, rest) = sequence_name(cursor)?;
            (name, super::sequence::options(cursor.source, &rest)?)
        } else {
            (None, Vec::new())
        };
        return Ok(Some(AlterAction::AddIdentity { name, always, sequence, options }));
    }
    let mut generated = None;
    let mut restart = None;
    let mut clauses: Vec<TokenWithSpan> = Vec::new();
    let begun = cursor.mark();
    loop {
        if cursor.words(&["set", "generated"]) {
            let always = cursor.word("always");
            if !always && !cursor.words(&["by", "default"]) {
                return Err(cursor.error());
            }
            generated = Some(always);
        } else if cursor.word("restart") {
            cursor.word("with");
            restart = Some(cursor.integer());
        } else if ["increment", "minvalue", "maxvalue", "start", "cache", "cycle", "no"]
            .iter()
            .any(|word| cursor.rest().get(1).is_some_and(|next| is_word(next, word)))
            && cursor.word("set")
        {
            while let Some(token) = cursor.peek().filter(|token| !is_word(token, "set") && !is_word(token, "restart")) {
                clauses.push(token.clone());
                cursor.next();
            }
        } else {
            break;
        }
    }
    if cursor.mark() == begun {
        return Ok(None);
    }
    cursor.end()?;
    let options = super::sequence::options(cursor.source, &clauses)?;
    Ok(Some(AlterAction::ChangeIdentity { name, always: generated, restart, options }))
}

/// `(SEQUENCE NAME s …)`: the name, and the other clauses.
fn sequence_name(cursor: &mut Cursor<'_>) -> Result<(Option<ast::ObjectName>, Vec<TokenWithSpan>)> {
    let inside = cursor.bracketed()?;
    for at in 0..inside.len() {
        let mut inner = Cursor::new(cursor.source, inside);
        inner.back_to(at);
        if inner.words(&["sequence", "name"]) {
            let name = inner.object_name()?;
            let mut rest = inside.get(..at).unwrap_or_default().to_vec();
            rest.extend_from_slice(inner.rest());
            return Ok((Some(name), rest));
        }
    }
    Ok((None, inside.to_vec()))
}
