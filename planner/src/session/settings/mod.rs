//! [`Settings`]: the run-time parameters of a session (SET, SHOW, pg_settings). Must not know transactions: their effect
//! on settings is [`stack::SettingsStack`]'s.

pub mod registry;
pub mod stack;
pub mod value;

use crate::error::{Result, SqlError, state};
use crate::types::datetime::{DateFormat, TimeZone};
use registry::{Changeable, DEFINITIONS, Definition};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Values of all settings. Immutable; SET makes a new one.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What differs from the definition's first value, by definition's name; and settings with a dot, by lower-cased name.
    values: BTreeMap<String, String>,
    /// Who logged in.
    login: Arc<str>,
    /// The role in force.
    user: Arc<str>,
    /// Whether privileges are asked for.
    checked: bool,
    search_path: Arc<[String]>,
    /// The same without the schema of temporary tables, unless search_path names it.
    creation_path: Arc<[String]>,
    /// The session's schema of temporary tables.
    temporary: Option<Arc<str>>,
    time_zone: TimeZone,
    date_format: DateFormat,
    float_digits: i32,
    bytea_escape: bool,
    statement_timeout: Option<Duration>,
    lock_timeout: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings::new("postgres")
    }
}

impl Settings {
    /// First values for `user`, who stands for `"$user"` in search_path.
    pub fn new(user: &str) -> Self {
        let mut settings = Settings {
            values: BTreeMap::new(),
            login: user.into(),
            user: user.into(),
            checked: true,
            search_path: Arc::new([]),
            creation_path: Arc::new([]),
            temporary: None,
            time_zone: TimeZone::UTC,
            date_format: DateFormat::ISO,
            float_digits: 1,
            bytea_escape: false,
            statement_timeout: None,
            lock_timeout: None,
        };
        settings.derive();
        settings
    }

    /// The name of the role in force: `current_user`.
    pub fn user(&self) -> &str {
        &self.user
    }
    /// `session_user`.
    pub fn session_user(&self) -> String {
        self.values.get("session_authorization").cloned().unwrap_or_else(|| self.login.to_string())
    }
    /// Whether what is bound with these settings needs privileges.
    pub fn is_checked(&self) -> bool {
        self.checked
    }
    /// These settings for what the server does by itself: no privileges are asked for.
    pub fn unchecked(&self) -> Settings {
        Settings { checked: false, ..self.clone() }
    }
    /// The schemas searched for unqualified names, `"$user"` already replaced, pg_catalog not
    /// included unless named; the session's schema of temporary tables first, unless it is named.
    pub fn search_path(&self) -> &[String] {
        &self.search_path
    }
    /// The same as search_path says it: the first that exists is `current_schema`, where new relations go.
    pub fn creation_path(&self) -> &[String] {
        &self.creation_path
    }
    /// The session's schema of temporary tables, once there is one.
    pub fn temporary(&self) -> Option<&str> {
        self.temporary.as_deref()
    }
    /// These settings of a session with a schema of temporary tables.
    pub fn with_temporary(&self, schema: &str) -> Settings {
        let mut settings = Settings { temporary: Some(schema.into()), ..self.clone() };
        settings.derive();
        settings
    }
    /// TimeZone.
    pub fn time_zone(&self) -> TimeZone {
        self.time_zone
    }
    /// DateStyle.
    pub fn date_format(&self) -> DateFormat {
        self.date_format
    }
    /// extra_float_digits.
    pub fn extra_float_digits(&self) -> i32 {
        self.float_digits
    }
    /// Whether bytea_output is `escape`.
    pub fn bytea_escape(&self) -> bool {
        self.bytea_escape
    }
    /// IntervalStyle.
    pub fn interval_style(&self) -> crate::types::interval::Style {
        self.values.get("IntervalStyle").map(|name| crate::types::interval::Style::named(name)).unwrap_or_default()
    }
    /// statement_timeout, unless 0.
    pub fn statement_timeout(&self) -> Option<Duration> {
        self.statement_timeout
    }
    /// lock_timeout, unless 0.
    pub fn lock_timeout(&self) -> Option<Duration> {
        self.lock_timeout
    }
    /// Whether COMMIT waits for the sync: every value of synchronous_commit but `off`.
    pub fn durable(&self) -> bool {
        self.get("synchronous_commit").as_deref() != Some("off")
    }
    /// Whether a Boolean setting is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).as_deref() == Some("on")
    }
    /// The value of a setting as SHOW prints it. Names are case-insensitive.
    pub fn get(&self, name: &str) -> Option<String> {
        match registry::find(name) {
            Some(definition) => Some(self.value_of(definition).to_string()),
            None => self.values.get(&name.to_lowercase()).cloned(),
        }
    }
    fn value_of(&self, definition: &Definition) -> &str {
        self.values.get(definition.name).map_or(definition.default, String::as_str)
    }
    /// Every setting with its value as SHOW prints it, by name.
    pub fn all(&self) -> Vec<(&'static Definition, String)> {
        DEFINITIONS.iter().map(|definition| (definition, self.value_of(definition).to_string())).collect()
    }
    /// These settings with one more set. Errors: 42704 unknown, 55P02 not to be changed, 22023 a bad value, 0A000 a
    /// value that is not supported.
    pub fn with(&self, name: &str, value: &str) -> Result<Settings> {
        let Some(definition) = registry::find(name) else {
            return self.with_custom(name, value);
        };
        match definition.changeable {
            Changeable::Always => {}
            Changeable::Never => {
                return Err(not_changeable(format!("parameter \"{}\" cannot be changed", definition.name)));
            }
            Changeable::AtServerStart => {
                return Err(not_changeable(format!(
                    "parameter \"{}\" cannot be changed without restarting the server",
                    definition.name
                )));
            }
            Changeable::ByConfiguration => {
                return Err(not_changeable(format!("parameter \"{}\" cannot be changed now", definition.name)));
            }
        }
        let canonical = match definition.name {
            // What a list does not say stays.
            "DateStyle" => value::date_style(self.date_format, value)?,
            _ => value::canonical(definition, value)?,
        };
        self.with_fixed(definition.name, &canonical)
    }
    /// Sets without asking whether it may be changed: for what the session itself decides (`is_superuser`). The value
    /// must be canonical.
    pub fn with_fixed(&self, name: &str, value: &str) -> Result<Settings> {
        let definition = registry::find(name).ok_or_else(|| unknown(name))?;
        let mut settings = self.clone();
        settings.values.insert(definition.name.to_string(), value.to_string());
        settings.derive();
        Ok(settings)
    }
    /// These settings with one back at its value in `reset`.
    pub fn with_reset(&self, name: &str, reset: &Settings) -> Result<Settings> {
        let key = match registry::find(name) {
            Some(definition) if definition.changeable == Changeable::Always => definition.name.to_string(),
            Some(definition) => return self.with(definition.name, definition.default),
            None if self.values.contains_key(&name.to_lowercase()) => name.to_lowercase(),
            None => return Err(unknown(name)),
        };
        let mut settings = self.clone();
        match reset.values.get(&key) {
            Some(value) => settings.values.insert(key, value.clone()),
            // A name of the user's stays known.
            None if registry::find(name).is_none() => settings.values.insert(key, String::new()),
            None => settings.values.remove(&key),
        };
        settings.derive();
        Ok(settings)
    }
    fn with_custom(&self, name: &str, value: &str) -> Result<Settings> {
        if !is_custom_name(name) {
            return Err(unknown(name));
        }
        let mut settings = self.clone();
        settings.values.insert(name.to_lowercase(), value.to_string());
        Ok(settings)
    }

    /// Works out what is asked for often.
    fn derive(&mut self) {
        let role = self.values.get("role").filter(|role| *role != "none");
        self.user = role.map_or_else(|| self.session_user().into(), |role| role.as_str().into());
        let path = self.get("search_path").unwrap_or_default();
        self.search_path = value::split_identifiers(&path)
            .unwrap_or_default()
            .into_iter()
            .map(|name| match (name.as_str(), &self.temporary) {
                ("$user", _) => self.user.to_string(),
                ("pg_temp", Some(temporary)) => temporary.to_string(),
                _ => name,
            })
            .collect();
        self.creation_path = Arc::clone(&self.search_path);
        if let Some(temporary) = &self.temporary
            && !self.search_path.iter().any(|name| **name == **temporary)
        {
            let own = std::iter::once(temporary.to_string());
            self.search_path = own.chain(self.creation_path.iter().cloned()).collect();
        }
        self.time_zone =
            self.get("TimeZone").and_then(|zone| value::time_zone(&zone).ok()).map_or(TimeZone::UTC, |(zone, _)| zone);
        self.date_format =
            self.get("DateStyle").and_then(|list| DateFormat::ISO.changed(&list).ok()).unwrap_or_default();
        self.float_digits = self.get("extra_float_digits").and_then(|digits| digits.parse().ok()).unwrap_or(1);
        self.bytea_escape = self.get("bytea_output").as_deref() == Some("escape");
        self.statement_timeout = self.timeout("statement_timeout");
        self.lock_timeout = self.timeout("lock_timeout");
    }
    /// The value of a setting in milliseconds, unless 0.
    pub fn timeout(&self, name: &str) -> Option<Duration> {
        let definition = registry::find(name)?;
        let milliseconds = value::number(definition, self.value_of(definition))?;
        u64::try_from(milliseconds).ok().filter(|milliseconds| *milliseconds > 0).map(Duration::from_millis)
    }
}

/// 42704 for an unknown setting.
pub fn unknown(name: &str) -> SqlError {
    SqlError::new(state::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\""))
}

fn not_changeable(message: String) -> SqlError {
    SqlError::new("55P02", message)
}

/// `extension.name`: a setting of the client's own.
pub fn is_custom_name(name: &str) -> bool {
    let mut parts = 0;
    for part in name.split('.') {
        let mut characters = part.chars();
        let first = characters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !first || !characters.all(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            return false;
        }
        parts += 1;
    }
    parts >= 2
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn user_stands_in_the_search_path() {
        let settings = Settings::new("alice");
        assert_eq!(settings.search_path(), ["alice", "public"]);
        assert_eq!(settings.get("SEARCH_PATH").unwrap(), "\"$user\", public");
        assert_eq!(settings.with("search_path", "app").unwrap().search_path(), ["app"]);
    }

    #[test]
    fn unknown_and_fixed_settings_are_refused() {
        let settings = Settings::default();
        assert_eq!(settings.with("no_such", "1").unwrap_err().state(), "42704");
        assert_eq!(settings.with("server_version", "16").unwrap_err().state(), "55P02");
        assert_eq!(settings.with("port", "1").unwrap_err().state(), "55P02");
        assert_eq!(settings.with("my.own", "x").unwrap().get("My.Own").unwrap(), "x");
    }

    #[test]
    fn reset_goes_back_to_the_start_of_the_session() {
        let start = Settings::default().with("statement_timeout", "5s").unwrap();
        let changed = start.with("statement_timeout", "1s").unwrap();
        assert_eq!(changed.statement_timeout(), Some(Duration::from_secs(1)));
        assert_eq!(changed.with_reset("statement_timeout", &start).unwrap().get("statement_timeout").unwrap(), "5s");
    }
}
