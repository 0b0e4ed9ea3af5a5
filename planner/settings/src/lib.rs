//! [`Settings`]: the run-time parameters of a session (SET, SHOW, pg_settings). The effect of transactions on settings
//! is [`stack::SettingsStack`]'s.

pub mod category;
mod derived;
mod inert;
pub mod registry;
mod server;
pub mod stack;
mod text;
pub mod value;

use derived::Derived;
use registry::{Changeable, Definition, definitions};
use sql_error::{Result, SqlError, state};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;
use syntax::Isolation;
use types::datetime::{DateFormat, TimeZone};
use types::encoding::Encoding;

/// What SET TRANSACTION says of the transaction under way: the three settings `transaction_…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Characteristics {
    /// `transaction_isolation`.
    pub isolation: Isolation,
    /// `transaction_read_only`.
    pub read_only: bool,
    /// `transaction_deferrable`.
    pub deferrable: bool,
}

/// Values of all settings. Immutable; SET makes a new one. That of a transaction shares all but its characteristics.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What differs from the definition's first value, by definition's name; and settings with a dot, by lower-cased name.
    values: Arc<BTreeMap<String, String>>,
    /// Worked out when it is first asked for: of settings that are made one after the other the last alone is.
    derived: Arc<OnceLock<Derived>>,
    transaction: Characteristics,
    /// Who logged in.
    login: Arc<str>,
    /// Whether privileges are asked for.
    checked: bool,
    /// The session's schema of temporary tables.
    temporary: Option<Arc<str>>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings::new("postgres")
    }
}

impl Settings {
    /// First values for `user`, who stands for `"$user"` in search_path.
    pub fn new(user: &str) -> Self {
        static DEFAULTS: LazyLock<Characteristics> =
            LazyLock::new(|| Derived::new(&BTreeMap::new(), &Arc::from(""), None).defaults);
        Settings {
            values: Arc::default(),
            derived: Arc::default(),
            transaction: *DEFAULTS,
            login: Arc::from(user),
            checked: true,
            temporary: None,
        }
    }

    /// These settings with other values.
    fn with_values(&self, values: BTreeMap<String, String>) -> Settings {
        Settings { values: Arc::new(values), derived: Arc::default(), ..self.clone() }
    }
    fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| Derived::new(&self.values, &self.login, self.temporary.as_deref()))
    }
    /// These settings in a transaction of such characteristics.
    pub fn in_transaction(&self, transaction: Characteristics) -> Settings {
        Settings { transaction, ..self.clone() }
    }
    /// The characteristics of the transaction under way.
    pub fn transaction(&self) -> Characteristics {
        self.transaction
    }
    /// Those of a transaction that begins and says nothing else (`default_transaction_…`).
    pub fn transaction_defaults(&self) -> Characteristics {
        self.derived().defaults
    }
    /// The name of the role in force: `current_user`.
    pub fn user(&self) -> &Arc<str> {
        &self.derived().user
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
    /// These settings, which read constants of dates and intervals as others do.
    pub fn reading_as(&self, other: &Settings) -> Result<Settings> {
        ["TimeZone", "DateStyle", "IntervalStyle"].into_iter().try_fold(self.clone(), |settings, name| {
            match other.get(name) {
                Some(value) => settings.with_fixed(name, &value),
                None => Ok(settings),
            }
        })
    }
    /// The schemas searched for unqualified names, `"$user"` already replaced, pg_catalog not
    /// included unless named; the session's schema of temporary tables first, unless it is named.
    pub fn search_path(&self) -> &[String] {
        &self.derived().search_path
    }
    /// The same, to be kept.
    pub fn shared_search_path(&self) -> &Arc<[String]> {
        &self.derived().search_path
    }
    /// The same as search_path says it: the first that exists is `current_schema`, where new relations go.
    pub fn creation_path(&self) -> &[String] {
        &self.derived().creation_path
    }
    /// The session's schema of temporary tables, once there is one.
    pub fn temporary(&self) -> Option<&str> {
        self.temporary.as_deref()
    }
    /// These settings of a session with a schema of temporary tables.
    pub fn with_temporary(&self, schema: &str) -> Settings {
        Settings { temporary: Some(schema.into()), ..self.clone() }.with_values(self.values.as_ref().clone())
    }
    /// TimeZone.
    pub fn time_zone(&self) -> TimeZone {
        self.derived().time_zone
    }
    /// DateStyle.
    pub fn date_format(&self) -> DateFormat {
        self.derived().date_format
    }
    /// extra_float_digits.
    pub fn extra_float_digits(&self) -> i32 {
        self.derived().float_digits
    }
    /// Whether bytea_output is `escape`.
    pub fn bytea_escape(&self) -> bool {
        self.derived().bytea_escape
    }
    /// client_encoding.
    pub fn client_encoding(&self) -> Encoding {
        self.derived().encoding
    }
    /// IntervalStyle.
    pub fn interval_style(&self) -> types::interval::Style {
        self.derived().interval_style
    }
    /// statement_timeout, unless 0.
    pub fn statement_timeout(&self) -> Option<Duration> {
        self.derived().statement_timeout
    }
    /// lock_timeout, unless 0.
    pub fn lock_timeout(&self) -> Option<Duration> {
        self.derived().lock_timeout
    }
    /// Whether COMMIT waits for the sync: every value of synchronous_commit but `off`.
    pub fn durable(&self) -> bool {
        self.derived().durable
    }
    /// transaction_timeout, unless 0.
    pub fn transaction_timeout(&self) -> Option<Duration> {
        self.derived().transaction_timeout
    }
    /// idle_session_timeout, unless 0.
    pub fn idle_session_timeout(&self) -> Option<Duration> {
        self.derived().idle_session_timeout
    }
    /// idle_in_transaction_session_timeout, unless 0.
    pub fn idle_in_transaction_timeout(&self) -> Option<Duration> {
        self.derived().idle_in_transaction_timeout
    }
    /// Whether session_replication_role is `replica`.
    pub fn is_replica(&self) -> bool {
        self.derived().replica
    }
    /// application_name.
    pub fn application_name(&self) -> &Arc<str> {
        &self.derived().application_name
    }
    /// client_min_messages.
    pub fn client_min_messages(&self) -> &str {
        &self.derived().client_min_messages
    }
    /// standard_conforming_strings.
    pub fn has_conforming_strings(&self) -> bool {
        self.derived().conforming_strings
    }
    /// The settings that clients are told of, with their values, but for those whose values are the same in `other`.
    pub fn reported_beside(&self, other: Option<&Settings>) -> impl Iterator<Item = &(&'static str, String)> {
        // They surely are where the two are of one transaction, or of one after the other.
        let (ours, theirs): (&[_], &[_]) = match other {
            Some(other) if Arc::ptr_eq(&self.derived, &other.derived) => (&[], &[]),
            Some(other) => (&self.derived().reported, &other.derived().reported),
            None => (&self.derived().reported, &[]),
        };
        // Both have the same settings in the same order.
        ours.iter()
            .enumerate()
            .filter(|(at, reported)| theirs.get(*at) != Some(*reported))
            .map(|(_, reported)| reported)
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
    fn value_of<'a>(&'a self, definition: &'a Definition) -> &'a str {
        match definition.name {
            "transaction_isolation" => self.transaction.isolation.name(),
            "transaction_read_only" => on_off(self.transaction.read_only),
            "transaction_deferrable" => on_off(self.transaction.deferrable),
            _ => derived::value_of(&self.values, definition),
        }
    }
    /// Every setting that lists have, with its value as SHOW prints it, by name.
    pub fn all(&self) -> Vec<(&'static Definition, String)> {
        let listed = definitions().iter().copied().filter(|definition| definition.is_listed());
        listed.map(|definition| (definition, self.value_of(definition).to_string())).collect()
    }
    /// Errors: 42501 for a setting that only a superuser may set, where the user is none.
    pub fn may_set(&self, name: &str) -> Result<()> {
        let Some(definition) = registry::find(name) else { return Ok(()) };
        if definition.changeable != Changeable::BySuperuser || self.is_on("is_superuser") {
            return Ok(());
        }
        let message = format!("permission denied to set parameter \"{}\"", definition.name);
        Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
    }
    /// These settings with one more set. Errors: 42704 unknown, 55P02 not to be changed, 22023 a bad value, 0A000 a
    /// value that is not supported.
    pub fn with(&self, name: &str, value: &str) -> Result<Settings> {
        let Some(definition) = registry::find(name) else {
            return self.with_custom(name, value);
        };
        match definition.changeable {
            Changeable::Always | Changeable::BySuperuser => {}
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
            Changeable::AtConnection => {
                let message = format!("parameter \"{}\" cannot be set after connection start", definition.name);
                return Err(not_changeable(message));
            }
        }
        let canonical = match definition.name {
            // What a list does not say stays.
            "DateStyle" => value::date_style(self.date_format(), value)?,
            _ => value::canonical(definition, value)?,
        };
        self.with_fixed(definition.name, &canonical)
    }
    /// Sets without asking whether it may be changed: for what the session itself decides (`is_superuser`). The value
    /// must be canonical.
    pub fn with_fixed(&self, name: &str, value: &str) -> Result<Settings> {
        let definition = registry::find(name).ok_or_else(|| unknown(name))?;
        let mut transaction = self.transaction;
        match definition.name {
            "transaction_isolation" => transaction.isolation = Isolation::named(value).unwrap_or(transaction.isolation),
            "transaction_read_only" => transaction.read_only = value == "on",
            "transaction_deferrable" => transaction.deferrable = value == "on",
            _ => {
                let mut values = self.values.as_ref().clone();
                values.insert(definition.name.to_string(), value.to_string());
                return Ok(self.with_values(values));
            }
        }
        Ok(self.in_transaction(transaction))
    }
    /// The same of several, by their definitions' names.
    pub fn with_all_fixed(&self, several: &[(&'static str, String)]) -> Settings {
        if several.is_empty() {
            return self.clone();
        }
        let mut values = self.values.as_ref().clone();
        values.extend(several.iter().map(|(name, value)| ((*name).to_string(), value.clone())));
        self.with_values(values)
    }
    /// These settings with one back at its value in `reset`.
    pub fn with_reset(&self, name: &str, reset: &Settings) -> Result<Settings> {
        let key = match registry::find(name) {
            Some(definition) if definition.changeable.by_session() => definition.name.to_string(),
            Some(definition) => return self.with(definition.name, definition.default),
            None if self.values.contains_key(&name.to_lowercase()) => name.to_lowercase(),
            None => return Err(unknown(name)),
        };
        let mut values = self.values.as_ref().clone();
        match reset.values.get(&key) {
            Some(value) => values.insert(key, value.clone()),
            // A name of the user's stays known.
            None if registry::find(name).is_none() => values.insert(key, String::new()),
            None => values.remove(&key),
        };
        Ok(self.with_values(values))
    }
    /// These settings, and names of the user's own that only others have: they stay known, as empty texts.
    pub fn knowing(self: &Arc<Settings>, others: &Settings) -> Arc<Settings> {
        let own = |name: &String| registry::find(name).is_none() && !self.values.contains_key(name);
        if Arc::ptr_eq(&self.values, &others.values) || !others.values.keys().any(own) {
            return self.clone();
        }
        let mut values = self.values.as_ref().clone();
        values.extend(others.values.keys().filter(|name| own(name)).map(|name| (name.clone(), String::new())));
        Arc::new(self.with_values(values))
    }
    fn with_custom(&self, name: &str, value: &str) -> Result<Settings> {
        if !is_custom_name(name) {
            if name.contains('.') {
                let message = format!("invalid configuration parameter name \"{name}\"");
                return Err(SqlError::new(state::INVALID_NAME, message)
                    .detail("Custom parameter names must be two or more simple identifiers separated by dots."));
            }
            return Err(unknown(name));
        }
        let mut values = self.values.as_ref().clone();
        values.insert(name.to_lowercase(), value.to_string());
        Ok(self.with_values(values))
    }
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
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
