//! SET, RESET and SHOW; ALTER ROLE … SET and ALTER DATABASE … SET. Knows no settings.

use crate::names::role_name;
use crate::role_statement::{AlterSettings, SettingChange, SettingRole};
use crate::statement::StatementKind;
use grammar::tree::{self as ast, IntervalFields, SettingOwner, SettingStatement as S, SettingValue};
use sql_error::{Result, SqlError};

/// SET, RESET or SHOW. Errors: 0A000 for SET … FROM CURRENT, which changes nothing.
pub(super) fn setting(statement: S) -> Result<StatementKind> {
    Ok(match statement {
        S::Set { local, name, values } => {
            let value = values.map(texts).filter(|value| name != "role" || *value != ["none"]);
            StatementKind::Set { local, name, value }
        }
        S::FromCurrent(_) => return Err(SqlError::unsupported("SET FROM CURRENT")),
        S::Reset(name) => StatementKind::Reset(name),
        S::ResetAll => StatementKind::ResetAll,
        S::Show(name) => StatementKind::Show(name),
        S::ShowAll => StatementKind::ShowAll,
    })
}

/// ALTER ROLE … SET and ALTER DATABASE … SET. Errors: 0A000 for ALTER SYSTEM.
pub(super) fn alter(alter: ast::AlterSetting) -> Result<StatementKind> {
    let (role, database) = match alter.of {
        SettingOwner::Role(None, database) => (SettingRole::All, database),
        SettingOwner::Role(Some(role), database) => (SettingRole::Named(role_name(&role)), database),
        SettingOwner::Database(database) => (SettingRole::All, Some(database)),
        SettingOwner::System => return Err(SqlError::unsupported("ALTER SYSTEM")),
    };
    let change = match alter.change {
        ast::SettingChange::Set(name, Some(values)) => SettingChange::Set(name, texts(values)),
        ast::SettingChange::Set(name, None) | ast::SettingChange::Reset(name) => SettingChange::Reset(name),
        ast::SettingChange::FromCurrent(name) => SettingChange::FromCurrent(name),
        ast::SettingChange::ResetAll => SettingChange::ResetAll,
    };
    let database = database.map(|database| database.value);
    Ok(StatementKind::AlterSettings(Box::new(AlterSettings { role, database, change })))
}

fn texts(values: Vec<SettingValue>) -> Vec<String> {
    let text = |value| match value {
        SettingValue::Text(text) | SettingValue::Number(text) => text,
        SettingValue::Interval(text, fields) => {
            let fields = match fields {
                Some(IntervalFields::Hour) => " HOUR",
                Some(IntervalFields::HourToMinute) => " HOUR TO MINUTE",
                Some(IntervalFields::Minute) => " MINUTE",
                _ => "",
            };
            format!("INTERVAL '{}'{fields}", text.replace('\'', ""))
        }
    };
    values.into_iter().map(text).collect()
}
