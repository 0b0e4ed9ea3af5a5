//! ALTER ROLE … SET and RESET, and the settings in ALTER DATABASE. Knows no settings.

use super::cursor::Cursor;
use super::role_statement::{AlterSettings, SettingChange, SettingRole};
use super::settings;
use super::statement::StatementKind;
use sql_error::Result;

/// Parses one of these statements. `None`, with nothing read, for any other.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    let found = if cursor.words(&["alter", "role"]) || cursor.words(&["alter", "user"]) { role(cursor)? } else { None };
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

/// Parses SET or RESET. `None`, with nothing read, for anything else.
pub fn change(cursor: &mut Cursor<'_>) -> Result<Option<SettingChange>> {
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
