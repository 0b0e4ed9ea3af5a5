//! SET, RESET and SHOW.

use super::cursor::Cursor;
use super::statement::StatementKind;
use super::transaction::modes;
use sql_error::{Result, SqlError};
use sqlparser::ast;
use sqlparser::tokenizer::Token;

/// Parses SET, RESET or SHOW. `None` for any other statement.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let kind = if cursor.word("set") {
        set(cursor)?
    } else if cursor.word("reset") {
        if cursor.word("all") { StatementKind::ResetAll } else { StatementKind::Reset(variable(cursor)?) }
    } else if cursor.word("show") {
        if cursor.word("all") { StatementKind::ShowAll } else { StatementKind::Show(variable(cursor)?) }
    } else {
        return Ok(None);
    };
    cursor.end()?;
    Ok(Some(kind))
}

/// SET CONSTRAINTS, after these words.
fn constraints(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let names = if cursor.word("all") {
        None
    } else {
        let mut names = vec![cursor.object_name()?];
        while cursor.sign(&Token::Comma) {
            names.push(cursor.object_name()?);
        }
        Some(names)
    };
    let deferred = cursor.word("deferred");
    if !deferred {
        cursor.expect_word("immediate")?;
    }
    Ok(StatementKind::SetConstraints { names, deferred })
}

fn set(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    if cursor.words(&["session", "characteristics", "as", "transaction"]) {
        return Ok(StatementKind::SetTransaction { modes: modes(cursor)?, session: true });
    }
    if cursor.words(&["transaction", "snapshot"]) {
        let name = cursor.string().ok_or_else(|| cursor.error())?;
        return Ok(StatementKind::SetSnapshot(name));
    }
    if cursor.word("transaction") {
        let modes = modes(cursor)?;
        return Ok(StatementKind::SetTransaction { modes, session: false });
    }
    if cursor.word("constraints") {
        return constraints(cursor);
    }
    let local = cursor.word("local");
    if !local {
        cursor.word("session");
    }
    assignment(cursor, local)
}

/// Parses the text after SET.
pub(super) fn assignment(cursor: &mut Cursor<'_>, local: bool) -> Result<StatementKind> {
    if cursor.words(&["time", "zone"]) {
        let value =
            if cursor.word("local") || cursor.word("default") { None } else { Some(vec![single_value(cursor)?]) };
        return Ok(StatementKind::Set { local, name: "timezone".into(), value });
    }
    if cursor.word("names") {
        let value =
            if cursor.word("default") || cursor.peek().is_none() { None } else { Some(vec![single_value(cursor)?]) };
        return Ok(StatementKind::Set { local, name: "client_encoding".into(), value });
    }
    if cursor.word("role") {
        let _ = cursor.sign(&Token::Eq) || cursor.word("to");
        let value = if cursor.word("none") { None } else { Some(vec![single_value(cursor)?]) };
        return Ok(StatementKind::Set { local, name: "role".into(), value });
    }
    if cursor.word("authorization") {
        let value = if cursor.word("default") { None } else { Some(vec![single_value(cursor)?]) };
        return Ok(StatementKind::Set { local, name: "session_authorization".into(), value });
    }
    let mark = cursor.mark();
    if cursor.word("schema") {
        if let Some(schema) = cursor.string() {
            return Ok(StatementKind::Set { local, name: "search_path".into(), value: Some(vec![schema]) });
        }
        cursor.back_to(mark);
    }
    if cursor.words(&["xml", "option"]) {
        let option = if cursor.word("document") { "document" } else { "content" };
        if option == "content" {
            cursor.expect_word("content")?;
        }
        return Ok(StatementKind::Set { local, name: "xmloption".into(), value: Some(vec![option.into()]) });
    }
    let name = dotted(cursor)?;
    if !cursor.sign(&Token::Eq) && !cursor.word("to") {
        return Err(cursor.error());
    }
    if cursor.word("default") {
        return Ok(StatementKind::Set { local, name, value: None });
    }
    let mut values = vec![single_value(cursor)?];
    while cursor.sign(&Token::Comma) {
        values.push(single_value(cursor)?);
    }
    Ok(StatementKind::Set { local, name, value: Some(values) })
}

/// The name of a setting, as in SHOW and RESET.
pub(super) fn variable(cursor: &mut Cursor<'_>) -> Result<String> {
    if cursor.words(&["time", "zone"]) {
        return Ok("timezone".into());
    }
    if cursor.words(&["transaction", "isolation", "level"]) {
        return Ok("transaction_isolation".into());
    }
    if cursor.words(&["session", "authorization"]) {
        return Ok("session_authorization".into());
    }
    dotted(cursor)
}

fn dotted(cursor: &mut Cursor<'_>) -> Result<String> {
    let mut name = cursor.name()?;
    while cursor.sign(&Token::Period) {
        name = format!("{name}.{}", cursor.name()?);
    }
    Ok(name.to_ascii_lowercase())
}

fn single_value(cursor: &mut Cursor<'_>) -> Result<String> {
    if let Some(text) = cursor.string() {
        return Ok(text);
    }
    let sign = if cursor.sign(&Token::Minus) {
        "-"
    } else {
        cursor.sign(&Token::Plus);
        ""
    };
    match cursor.peek().map(|token| &token.token) {
        Some(Token::Number(digits, _)) => {
            let text = format!("{sign}{digits}");
            cursor.next();
            Ok(text)
        }
        Some(Token::Word(_)) if sign.is_empty() => {
            if cursor.word("interval") {
                return interval(cursor);
            }
            cursor.name()
        }
        _ => Err(cursor.error()),
    }
}

/// `INTERVAL '+05:30' HOUR TO MINUTE` as a value of the setting TimeZone.
fn interval(cursor: &mut Cursor<'_>) -> Result<String> {
    let precise = cursor.sign(&Token::LParen);
    if precise {
        match cursor.next().map(|token| &token.token) {
            Some(Token::Number(digits, _)) if digits.parse::<u32>().is_ok() => {}
            _ => return Err(cursor.error()),
        }
        if !cursor.sign(&Token::RParen) {
            return Err(cursor.error());
        }
    }
    let text = cursor.string().ok_or_else(|| cursor.error())?;
    let fields = if precise {
        ""
    } else if cursor.word("hour") {
        if cursor.word("to") {
            cursor.expect_word("minute")?;
            " HOUR TO MINUTE"
        } else {
            " HOUR"
        }
    } else if cursor.word("minute") {
        " MINUTE"
    } else {
        ""
    };
    Ok(format!("INTERVAL '{}'{fields}", text.replace('\'', "")))
}

/// Refuses statements that only other databases have, and unsupported ones.
pub fn refuse_foreign(tree: &ast::Statement) -> Result<()> {
    use ast::Statement as S;
    match tree {
        S::Query(_) | S::Insert(_) | S::Update(_) | S::Delete(_) | S::Merge(_) => Ok(()),
        S::CreateTable(_) | S::CreateIndex(_) => Ok(()),
        S::CreateSchema { .. } | S::CreateSequence { .. } | S::CreateRole(_) => Ok(()),
        S::CreateType { .. } | S::AlterType(_) => Ok(()),
        S::AlterTable(_) | S::AlterIndex { .. } | S::AlterRole { .. } | S::AlterSchema(_) => Ok(()),
        S::Drop { .. } | S::Truncate(_) | S::Comment { .. } | S::Grant(_) | S::Revoke(_) => Ok(()),
        S::CreateExtension(_) | S::DropExtension(_) | S::DropFunction(_) => Ok(()),
        other => {
            let text = other.to_string();
            let head: Vec<&str> = text.split_whitespace().take(2).collect();
            Err(SqlError::unsupported(head.join(" ")))
        }
    }
}
