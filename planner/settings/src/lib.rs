//! [`Settings`]: the run-time parameters of a session (SET, SHOW, pg_settings). Must not know transactions:
//! [`stack::SettingsStack`] applies their effect on settings.

pub mod category;
mod derived;
mod inert;
pub mod list;
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

/// The characteristics of the current transaction: the three settings `transaction_…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Characteristics {
    /// The value of the setting `transaction_isolation`.
    pub isolation: Isolation,
    /// The value of the setting `transaction_read_only`.
    pub read_only: bool,
    /// The value of the setting `transaction_deferrable`.
    pub deferrable: bool,
}

/// The values of all settings. Immutable: SET makes a new one. A transaction's settings share
/// all but its characteristics.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The values that differ from the default, by the definition's name. Custom settings are
    /// stored by lower-cased name.
    values: Arc<BTreeMap<String, String>>,
    /// Computed on first use. In a series of changes only the last result is used.
    derived: Arc<OnceLock<Derived>>,
    transaction: Characteristics,
    /// The role that logged in.
    login: Arc<str>,
    /// Whether privileges are checked.
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
    /// The default settings of `user`, the role that `"$user"` in search_path stands for.
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

    /// A copy with other values.
    fn with_values(&self, values: BTreeMap<String, String>) -> Settings {
        Settings { values: Arc::new(values), derived: Arc::default(), ..self.clone() }
    }
    fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| Derived::new(&self.values, &self.login, self.temporary.as_deref()))
    }
    /// A copy for a transaction with these characteristics.
    pub fn in_transaction(&self, transaction: Characteristics) -> Settings {
        Settings { transaction, ..self.clone() }
    }
    /// The characteristics of the current transaction.
    pub fn transaction(&self) -> Characteristics {
        self.transaction
    }
    /// The characteristics of a transaction that specifies none (`default_transaction_…`).
    pub fn transaction_defaults(&self) -> Characteristics {
        self.derived().defaults
    }
    /// The name of the current role: `current_user`.
    pub fn user(&self) -> &Arc<str> {
        &self.derived().user
    }
    /// The name of the session's role: `session_user`.
    pub fn session_user(&self) -> String {
        self.values.get("session_authorization").cloned().unwrap_or_else(|| self.login.to_string())
    }
    /// Whether binding with these settings checks privileges.
    pub fn is_checked(&self) -> bool {
        self.checked
    }
    /// A copy for the server's own statements: it checks no privileges.
    pub fn unchecked(&self) -> Settings {
        Settings { checked: false, ..self.clone() }
    }
    /// A copy that reads constants of dates and intervals as `other` does.
    pub fn reading_as(&self, other: &Settings) -> Result<Settings> {
        ["TimeZone", "DateStyle", "IntervalStyle"].into_iter().try_fold(self.clone(), |settings, name| {
            match other.get(name) {
                Some(value) => settings.with_fixed(name, &value),
                None => Ok(settings),
            }
        })
    }
    /// The schemas searched for unqualified names. `"$user"` is replaced. pg_catalog is included only if named. The
    /// session's schema of temporary tables comes first, unless it is named.
    pub fn search_path(&self) -> &[String] {
        &self.derived().search_path
    }
    /// The same as a shared list.
    pub fn shared_search_path(&self) -> &Arc<[String]> {
        &self.derived().search_path
    }
    /// The schemas as search_path lists them. New relations go to the first existing one, which is `current_schema`.
    pub fn creation_path(&self) -> &[String] {
        &self.derived().creation_path
    }
    /// The session's schema of temporary tables, once there is one.
    pub fn temporary(&self) -> Option<&str> {
        self.temporary.as_deref()
    }
    /// A copy for a session with a schema of temporary tables.
    pub fn with_temporary(&self, schema: &str) -> Settings {
        Settings { temporary: Some(schema.into()), ..self.clone() }.with_values(self.values.as_ref().clone())
    }
    /// The parsed value of `TimeZone`.
    pub fn time_zone(&self) -> TimeZone {
        self.derived().time_zone
    }
    /// The parsed value of `DateStyle`.
    pub fn date_format(&self) -> DateFormat {
        self.derived().date_format
    }
    /// The value of `extra_float_digits`.
    pub fn extra_float_digits(&self) -> i32 {
        self.derived().float_digits
    }
    /// Whether bytea_output is `escape`.
    pub fn bytea_escape(&self) -> bool {
        self.derived().bytea_escape
    }
    /// The parsed value of `client_encoding`.
    pub fn client_encoding(&self) -> Encoding {
        self.derived().encoding
    }
    /// The parsed value of `IntervalStyle`.
    pub fn interval_style(&self) -> types::interval::Style {
        self.derived().interval_style
    }
    /// The statement_timeout. `None` if 0.
    pub fn statement_timeout(&self) -> Option<Duration> {
        self.derived().statement_timeout
    }
    /// The lock_timeout. `None` if 0.
    pub fn lock_timeout(&self) -> Option<Duration> {
        self.derived().lock_timeout
    }
    /// Whether COMMIT waits for the sync: true for every value of synchronous_commit except `off`.
    pub fn durable(&self) -> bool {
        self.derived().durable
    }
    /// The transaction_timeout. `None` if 0.
    pub fn transaction_timeout(&self) -> Option<Duration> {
        self.derived().transaction_timeout
    }
    /// The idle_session_timeout. `None` if 0.
    pub fn idle_session_timeout(&self) -> Option<Duration> {
        self.derived().idle_session_timeout
    }
    /// The idle_in_transaction_session_timeout. `None` if 0.
    pub fn idle_in_transaction_timeout(&self) -> Option<Duration> {
        self.derived().idle_in_transaction_timeout
    }
    /// Whether session_replication_role is `replica`.
    pub fn is_replica(&self) -> bool {
        self.derived().replica
    }
    /// The value of `application_name`.
    pub fn application_name(&self) -> &Arc<str> {
        &self.derived().application_name
    }
    /// The value of `client_min_messages`.
    pub fn client_min_messages(&self) -> &str {
        &self.derived().client_min_messages
    }
    /// Whether `standard_conforming_strings` is on.
    pub fn has_conforming_strings(&self) -> bool {
        self.derived().conforming_strings
    }
    /// The reported settings with their values, except those with the same value in `other`.
    pub fn reported_beside(&self, other: Option<&Settings>) -> impl Iterator<Item = &(&'static str, String)> {
        // Settings of one transaction, or of consecutive ones, usually share their values.
        let (ours, theirs): (&[_], &[_]) = match other {
            Some(other) if Arc::ptr_eq(&self.derived, &other.derived) => (&[], &[]),
            Some(other) => (&self.derived().reported, &other.derived().reported),
            None => (&self.derived().reported, &[]),
        };
        // Both lists hold the same settings in the same order.
        ours.iter()
            .enumerate()
            .filter(|(at, reported)| theirs.get(*at) != Some(*reported))
            .map(|(_, reported)| reported)
    }
    /// Whether a Boolean setting is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).as_deref() == Some("on")
    }
    /// The value of a setting as SHOW prints it. The name is case-insensitive.
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
    /// Every listed setting with its value as SHOW prints it, sorted by name.
    pub fn all(&self) -> Vec<(&'static Definition, String)> {
        let listed = definitions().iter().copied().filter(|definition| definition.is_listed());
        listed.map(|definition| (definition, self.value_of(definition).to_string())).collect()
    }
    /// Errors: 42501 if only a superuser may set the setting and the user is none.
    pub fn may_set(&self, name: &str) -> Result<()> {
        let Some(definition) = registry::find(name) else { return Ok(()) };
        if definition.changeable != Changeable::BySuperuser || self.is_on("is_superuser") {
            return Ok(());
        }
        let message = format!("permission denied to set parameter \"{}\"", definition.name);
        Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
    }
    /// A copy with one setting changed. Errors: 42704 for an unknown setting, 55P02 if it cannot be changed, 22023 for
    /// a bad value, 0A000 for an unsupported one.
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
            // The parts that the list does not mention keep their values.
            "DateStyle" => value::date_style(self.date_format(), value)?,
            _ => value::canonical(definition, value)?,
        };
        self.with_fixed(definition.name, &canonical)
    }
    /// Sets a value without checking whether it may be changed, for the session's own decisions (`is_superuser`). The
    /// value must be canonical.
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
    /// The same for several settings, by their definitions' names.
    pub fn with_all_fixed(&self, several: &[(&'static str, String)]) -> Settings {
        if several.is_empty() {
            return self.clone();
        }
        let mut values = self.values.as_ref().clone();
        values.extend(several.iter().map(|(name, value)| ((*name).to_string(), value.clone())));
        self.with_values(values)
    }
    /// A copy with one setting at its value in `reset`.
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
            // A custom setting stays known.
            None if registry::find(name).is_none() => values.insert(key, String::new()),
            None => values.remove(&key),
        };
        Ok(self.with_values(values))
    }
    /// A copy that also knows the custom settings of `others`, as empty texts.
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

/// 42704: the setting does not exist.
pub fn unknown(name: &str) -> SqlError {
    SqlError::new(state::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\""))
}

fn not_changeable(message: String) -> SqlError {
    SqlError::new("55P02", message)
}

/// Whether this is the name of a custom setting: `extension.name`.
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
