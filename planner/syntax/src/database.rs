//! CREATE DATABASE, ALTER DATABASE and DROP DATABASE. Knows no databases, and only the syntax of options.

use super::cursor::Cursor;
use super::role_statement::{
    AlterSettings, DatabaseChange, DatabaseOption, DatabaseStatement, DatabaseValue, SettingRole,
};
use super::statement::StatementKind;
use sql_error::Result;
use sqlparser::tokenizer::Token;

/// Parses one of these statements. `None`, with nothing read, for any other.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let statement = if cursor.words(&["create", "database"]) {
        let name = cursor.plain_name()?;
        cursor.word("with");
        DatabaseStatement::Create { name, options: options(cursor)? }
    } else if cursor.words(&["drop", "database"]) {
        drop(cursor)?
    } else if cursor.words(&["alter", "database"]) {
        let name = cursor.plain_name()?;
        if cursor.words(&["set", "tablespace"]) {
            DatabaseStatement::Alter { name, change: DatabaseChange::Tablespace(cursor.plain_name()?) }
        } else if let Some(change) = super::alter_setting::change(cursor)? {
            let alter = AlterSettings { role: SettingRole::All, database: Some(name), change };
            cursor.end()?;
            return Ok(Some(StatementKind::AlterSettings(Box::new(alter))));
        } else {
            DatabaseStatement::Alter { name, change: change(cursor)? }
        }
    } else {
        return Ok(None);
    };
    cursor.end()?;
    Ok(Some(StatementKind::Database(Box::new(statement))))
}

fn drop(cursor: &mut Cursor<'_>) -> Result<DatabaseStatement> {
    let if_exists = cursor.words(&["if", "exists"]);
    let name = cursor.plain_name()?;
    let with = cursor.word("with");
    let force = cursor.peek().is_some_and(|token| token.token == Token::LParen) || with;
    if force {
        cursor.expect_sign(&Token::LParen)?;
        cursor.expect_word("force")?;
        while cursor.sign(&Token::Comma) {
            cursor.expect_word("force")?;
        }
        cursor.expect_sign(&Token::RParen)?;
    }
    Ok(DatabaseStatement::Drop { name, if_exists, force })
}

fn change(cursor: &mut Cursor<'_>) -> Result<DatabaseChange> {
    Ok(if cursor.words(&["rename", "to"]) {
        DatabaseChange::Rename(cursor.plain_name()?)
    } else if cursor.words(&["owner", "to"]) {
        DatabaseChange::Owner(cursor.name()?)
    } else if cursor.words(&["refresh", "collation", "version"]) {
        DatabaseChange::RefreshCollation
    } else {
        cursor.word("with");
        DatabaseChange::Options(options(cursor)?)
    })
}

/// Parses options up to the end of the statement.
fn options(cursor: &mut Cursor<'_>) -> Result<Vec<DatabaseOption>> {
    let mut options = Vec::new();
    while let Some(first) = cursor.peek() {
        let name = match cursor.words(&["connection", "limit"]) {
            true => "connection_limit".to_string(),
            false => cursor.plain_name()?,
        };
        cursor.sign(&Token::Eq);
        let value = value(cursor)?;
        options.push(DatabaseOption { name, value, position: cursor.source.start(first.span) });
    }
    Ok(options)
}

/// Parses the value of an option. `None` for DEFAULT.
fn value(cursor: &mut Cursor<'_>) -> Result<Option<DatabaseValue>> {
    if cursor.word("default") {
        return Ok(None);
    }
    if let Some(text) = cursor.string() {
        return Ok(Some(DatabaseValue::Text(text)));
    }
    let sign = if cursor.sign(&Token::Minus) { "-" } else { "" };
    if sign.is_empty() {
        cursor.sign(&Token::Plus);
    }
    if let Some(Token::Number(digits, _)) = cursor.peek().map(|token| &token.token) {
        cursor.next();
        return Ok(Some(DatabaseValue::Number(format!("{sign}{digits}"))));
    }
    for word in ["true", "on"] {
        if sign.is_empty() && cursor.word(word) {
            return Ok(Some(DatabaseValue::Text(word.into())));
        }
    }
    match sign {
        "" if cursor.word("false") => Ok(Some(DatabaseValue::Text("false".into()))),
        "" => Ok(Some(DatabaseValue::Text(cursor.plain_name()?))),
        _ => Err(cursor.error()),
    }
}
