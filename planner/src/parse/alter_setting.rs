//! ALTER ROLE … SET and RESET, ALTER DATABASE. Knows no settings.

use super::cursor::Cursor;
use super::role_statement::{AlterDatabase, AlterSettings, DatabaseChange, SettingChange, SettingRole};
use super::settings;
use super::statement::StatementKind;
use crate::error::{Result, SqlError};

/// Parses one of these statements; `None`, and nothing read, when it is none.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    let found = if cursor.words(&["alter", "role"]) || cursor.words(&["alter", "user"]) {
        role(cursor)?
    } else if cursor.words(&["alter", "database"]) {
        Some(database(cursor)?)
    } else {
        None
    };
    if found.is_none() {
        cursor.back_to(mark);
    } else {
        cursor.end()?;
    }
    Ok(found)
}

fn role(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let role = if cursor.word("all") {
        SettingRole::All
    } else {
        let Ok(name) = cursor.name() else { return Ok(None) };
        SettingRole::Named(name)
    };
    let database = if cursor.words(&["in", "database"]) { Some(cursor.name()?) } else { None };
    match change(cursor)? {
        Some(change) => Ok(Some(StatementKind::AlterSettings(Box::new(AlterSettings { role, database, change })))),
        None if database.is_some() || role == SettingRole::All => Err(cursor.error()),
        None => Ok(None),
    }
}

/// SET or RESET.
fn change(cursor: &mut Cursor<'_>) -> Result<Option<SettingChange>> {
    if cursor.word("reset") {
        return Ok(Some(match cursor.word("all") {
            true => SettingChange::ResetAll,
            false => SettingChange::Reset(settings::variable(cursor)?),
        }));
    }
    if !cursor.word("set") {
        return Ok(None);
    }
    let mark = cursor.mark();
    let name = settings::variable(cursor)?;
    if cursor.words(&["from", "current"]) {
        return Ok(Some(SettingChange::FromCurrent(name)));
    }
    cursor.back_to(mark);
    match settings::assignment(cursor, false)? {
        StatementKind::Set { name, value: Some(value), .. } => Ok(Some(SettingChange::Set(name, value))),
        StatementKind::Set { name, value: None, .. } => Ok(Some(SettingChange::Reset(name))),
        _ => Err(cursor.error()),
    }
}

fn database(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let name = cursor.name()?;
    if cursor.words(&["set", "tablespace"]) {
        return Err(SqlError::unsupported("ALTER DATABASE SET TABLESPACE"));
    }
    if cursor.words(&["refresh", "collation", "version"]) {
        return Err(SqlError::unsupported("ALTER DATABASE REFRESH COLLATION VERSION"));
    }
    if let Some(change) = change(cursor)? {
        let alter = AlterSettings { role: SettingRole::All, database: Some(name), change };
        return Ok(StatementKind::AlterSettings(Box::new(alter)));
    }
    let mut changes = Vec::new();
    if cursor.words(&["rename", "to"]) {
        changes.push(DatabaseChange::Rename(cursor.name()?));
    } else if cursor.words(&["owner", "to"]) {
        changes.push(DatabaseChange::Owner(cursor.name()?));
    } else {
        cursor.word("with");
        while cursor.peek().is_some() {
            if cursor.words(&["connection", "limit"]) || cursor.word("connection_limit") {
                cursor.sign(&sqlparser::tokenizer::Token::Eq);
                changes.push(DatabaseChange::ConnectionLimit(cursor.integer().ok_or_else(|| cursor.error())?));
            } else if cursor.word("allow_connections") {
                cursor.sign(&sqlparser::tokenizer::Token::Eq);
                changes.push(DatabaseChange::AllowConnections(cursor.boolean("allow_connections")?));
            } else if cursor.word("is_template") {
                return Err(SqlError::unsupported("ALTER DATABASE IS_TEMPLATE"));
            } else {
                return Err(cursor.error());
            }
        }
    }
    Ok(StatementKind::AlterDatabase(Box::new(AlterDatabase { name, changes })))
}
