//! [`Derived`]: the settings that every statement needs, parsed once after each change. Must not know transactions.

use super::registry::{self, Definition};
use super::{Characteristics, value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use syntax::Isolation;
use types::datetime::{DateFormat, TimeZone};
use types::encoding::Encoding;
use types::interval::Style;

/// Parsed values of settings.
#[derive(Debug)]
pub(super) struct Derived {
    /// The name of the current role.
    pub user: Arc<str>,
    pub search_path: Arc<[String]>,
    /// `search_path` without the schema of temporary tables, unless the setting names it.
    pub creation_path: Arc<[String]>,
    pub time_zone: TimeZone,
    pub date_format: DateFormat,
    pub interval_style: Style,
    pub float_digits: i32,
    pub bytea_escape: bool,
    pub encoding: Encoding,
    pub durable: bool,
    /// Whether session_replication_role is `replica`.
    pub replica: bool,
    pub statement_timeout: Option<Duration>,
    pub lock_timeout: Option<Duration>,
    pub transaction_timeout: Option<Duration>,
    pub idle_session_timeout: Option<Duration>,
    pub idle_in_transaction_timeout: Option<Duration>,
    pub application_name: Arc<str>,
    pub client_min_messages: Arc<str>,
    pub conforming_strings: bool,
    /// The characteristics of a transaction that specifies none.
    pub defaults: Characteristics,
    /// The settings that clients are told of (ParameterStatus).
    pub reported: Vec<(&'static str, String)>,
}

/// The current value of a setting.
pub(super) fn value_of<'a>(values: &'a BTreeMap<String, String>, definition: &'a Definition) -> &'a str {
    values.get(definition.name).map_or(definition.default, String::as_str)
}

impl Derived {
    /// Parses the values. `login` is the role that logged in. `temporary` is the session's schema of temporary tables.
    pub fn new(values: &BTreeMap<String, String>, login: &Arc<str>, temporary: Option<&str>) -> Derived {
        let get = |name: &str| registry::find(name).map_or("", |definition| value_of(values, definition));
        let timeout = |name: &str| {
            let definition = registry::find(name)?;
            let milliseconds = value::number(definition, value_of(values, definition))?;
            u64::try_from(milliseconds).ok().filter(|milliseconds| *milliseconds > 0).map(Duration::from_millis)
        };
        let session_user: Arc<str> =
            values.get("session_authorization").map_or_else(|| Arc::clone(login), |name| name.as_str().into());
        let role = values.get("role").filter(|role| *role != "none");
        let user = role.map_or(session_user, |role| role.as_str().into());
        let named = |name: String| match (name.as_str(), temporary) {
            ("$user", _) => user.to_string(),
            ("pg_temp", Some(temporary)) => temporary.to_string(),
            _ => name,
        };
        let path = value::split_identifiers(get("search_path")).unwrap_or_default();
        let creation_path: Arc<[String]> = path.into_iter().map(named).collect();
        let search_path = match temporary {
            Some(temporary) if !creation_path.iter().any(|name| name == temporary) => {
                std::iter::once(temporary.to_string()).chain(creation_path.iter().cloned()).collect()
            }
            _ => Arc::clone(&creation_path),
        };
        let reported = registry::reported_definitions().iter();
        Derived {
            user,
            search_path,
            creation_path,
            time_zone: value::time_zone(get("TimeZone")).map_or(TimeZone::UTC, |(zone, _)| zone),
            date_format: DateFormat::ISO.changed(get("DateStyle")).unwrap_or_default(),
            interval_style: values.get("IntervalStyle").map(|name| Style::named(name)).unwrap_or_default(),
            float_digits: get("extra_float_digits").parse().unwrap_or(1),
            bytea_escape: get("bytea_output") == "escape",
            encoding: Encoding::named(get("client_encoding")).unwrap_or_default(),
            durable: get("synchronous_commit") != "off",
            replica: get("session_replication_role") == "replica",
            statement_timeout: timeout("statement_timeout"),
            lock_timeout: timeout("lock_timeout"),
            transaction_timeout: timeout("transaction_timeout"),
            idle_session_timeout: timeout("idle_session_timeout"),
            idle_in_transaction_timeout: timeout("idle_in_transaction_session_timeout"),
            application_name: get("application_name").into(),
            client_min_messages: get("client_min_messages").into(),
            conforming_strings: get("standard_conforming_strings") != "off",
            defaults: Characteristics {
                isolation: Isolation::named(get("default_transaction_isolation")).unwrap_or(Isolation::RepeatableRead),
                read_only: get("default_transaction_read_only") == "on",
                deferrable: get("default_transaction_deferrable") == "on",
            },
            reported: reported.map(|definition| (definition.name, value_of(values, definition).to_string())).collect(),
        }
    }
}
