//! [`Options`] of CREATE DATABASE and ALTER DATABASE: parses their values and refuses unsupported ones. Must not know
//! how databases are stored.

use super::DdlContext;
use catalog::{DatabaseDescriptor, LOCALE};
use context::notice::Notice;
use sql_error::{Result, SqlError, state};
use syntax::{DatabaseOption, DatabaseValue};
use types::{Ctype, encoding};

/// The options of a database. DEFAULT counts as absent.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) owner: Option<String>,
    pub(super) source: Option<String>,
    /// ENCODING, as PostgreSQL's number.
    encoding: Option<i32>,
    /// From LC_COLLATE or LOCALE.
    pub(super) collate: Option<String>,
    /// From LC_CTYPE or LOCALE.
    pub(super) ctype: Option<String>,
    /// Whether LOCALE_PROVIDER is icu.
    icu: bool,
    icu_locale: Option<String>,
    pub(super) is_template: Option<bool>,
    pub(super) allow_connections: Option<bool>,
    /// CONNECTION LIMIT. The inner `None` means no limit.
    pub(super) connection_limit: Option<Option<u32>>,
    tablespace: Option<String>,
    strategy: Option<String>,
    collation_version: bool,
}

/// Options that ALTER DATABASE supports too.
const CHANGEABLE: [&str; 4] = ["is_template", "allow_connections", "connection_limit", "tablespace"];
const OTHERS: [&str; 12] = [
    "owner",
    "template",
    "encoding",
    "locale",
    "lc_collate",
    "lc_ctype",
    "icu_locale",
    "locale_provider",
    "strategy",
    "oid",
    "collation_version",
    "location",
];

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

fn placed(error: SqlError, option: &DatabaseOption) -> SqlError {
    match option.position {
        Some(position) => error.at(position),
        None => error,
    }
}

/// Errors: 42601 for an unknown or repeated option.
fn known(options: &[DatabaseOption], create: bool) -> Result<()> {
    for (at, option) in options.iter().enumerate() {
        let name = option.name.as_str();
        let is_option = CHANGEABLE.contains(&name) || create && OTHERS.contains(&name);
        if !is_option {
            return Err(placed(SqlError::syntax(format!("option \"{name}\" not recognized")), option));
        }
        // LOCATION is an old option without an effect.
        if name != "location" && options.iter().take(at).any(|other| other.name == name) {
            return Err(placed(SqlError::syntax("conflicting or redundant options"), option));
        }
    }
    Ok(())
}

fn text(value: &DatabaseValue) -> String {
    let (DatabaseValue::Text(text) | DatabaseValue::Number(text)) = value;
    text.clone()
}

fn truth(name: &str, value: &DatabaseValue) -> Result<bool> {
    match value {
        DatabaseValue::Text(text) if ["true", "on"].iter().any(|word| text.eq_ignore_ascii_case(word)) => Ok(true),
        DatabaseValue::Text(text) if ["false", "off"].iter().any(|word| text.eq_ignore_ascii_case(word)) => Ok(false),
        DatabaseValue::Number(number) if number == "1" => Ok(true),
        DatabaseValue::Number(number) if number == "0" => Ok(false),
        _ => Err(SqlError::syntax(format!("{name} requires a Boolean value"))),
    }
}

fn limit(value: &DatabaseValue) -> Result<Option<u32>> {
    let number = match value {
        DatabaseValue::Number(number) => number.parse::<i32>().ok(),
        DatabaseValue::Text(_) => None,
    };
    match number {
        None => Err(SqlError::syntax("connection_limit requires an integer value")),
        Some(-1) => Ok(None),
        Some(number) => match u32::try_from(number) {
            Ok(limit) => Ok(Some(limit)),
            Err(_) => Err(invalid(format!("invalid connection limit: {number}"))),
        },
    }
}

/// The first of PostgreSQL's encoding numbers that only clients may use.
const FIRST_OF_CLIENTS: i32 = 35;

fn number_of_encoding(option: &DatabaseOption, value: &DatabaseValue) -> Result<i32> {
    let of_servers = |number: &i32| (0..FIRST_OF_CLIENTS).contains(number);
    let found = match value {
        DatabaseValue::Number(number) => number.parse::<i32>().ok().filter(of_servers).ok_or_else(|| number.clone()),
        DatabaseValue::Text(name) => encoding::number_of(name).filter(of_servers).ok_or_else(|| name.clone()),
    };
    found.map_err(|given| {
        let what = if matches!(value, DatabaseValue::Number(_)) { "code" } else { "name" };
        let message = format!("{given} is not a valid encoding {what}");
        placed(SqlError::new(state::UNDEFINED_OBJECT, message), option)
    })
}

impl Options {
    /// Parses the options of CREATE DATABASE. Errors: 42601, 42704, 22023, 42P17.
    pub(super) fn of_new(context: &DdlContext, given: &[DatabaseOption]) -> Result<Options> {
        for option in given.iter().filter(|option| option.name == "location") {
            let mut warning = Notice::warning(state::FEATURE_NOT_SUPPORTED, "LOCATION is not supported anymore");
            warning.fields.hint = Some("Consider using tablespaces instead.".into());
            warning.fields.position = option.position;
            context.session.notify(warning);
        }
        known(given, true)?;
        let mut options = Options::default();
        let mut locale = None;
        for option in given {
            let Some(value) = &option.value else { continue };
            match option.name.as_str() {
                "owner" => options.owner = Some(text(value)),
                "template" => options.source = Some(text(value)),
                "encoding" => options.encoding = Some(number_of_encoding(option, value)?),
                "locale" => locale = Some(text(value)),
                "lc_collate" => options.collate = Some(text(value)),
                "lc_ctype" => options.ctype = Some(text(value)),
                "icu_locale" => options.icu_locale = Some(text(value)),
                "locale_provider" => match text(value).to_ascii_lowercase().as_str() {
                    "icu" => options.icu = true,
                    "libc" => {}
                    _ => {
                        let message = format!("unrecognized locale provider: {}", text(value));
                        return Err(SqlError::new(state::INVALID_OBJECT_DEFINITION, message));
                    }
                },
                "strategy" => options.strategy = Some(text(value)),
                "oid" => match text(value).parse::<u32>() {
                    Ok(oid) if oid >= 16384 => return Err(SqlError::unsupported("CREATE DATABASE with an OID")),
                    Ok(_) => return Err(invalid("OIDs less than 16384 are reserved for system objects")),
                    Err(_) => return Err(SqlError::syntax("oid requires a numeric value")),
                },
                "collation_version" => options.collation_version = true,
                _ => options.take(option, value)?,
            }
        }
        options.collate = options.collate.or_else(|| locale.clone()).map(canonical);
        options.ctype = options.ctype.or(locale).map(canonical);
        Ok(options)
    }
    /// Parses the options of ALTER DATABASE. Errors: 42601, 22023, 0A000.
    pub(super) fn of_old(given: &[DatabaseOption]) -> Result<Options> {
        known(given, false)?;
        let mut options = Options::default();
        for option in given {
            if option.name == "tablespace" && given.len() > 1 {
                let message = "option \"tablespace\" cannot be specified with other options";
                return Err(placed(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), option));
            }
            if let Some(value) = &option.value {
                options.take(option, value)?;
            }
        }
        if let Some(name) = &options.tablespace {
            tablespace(name)?;
        }
        Ok(options)
    }
    fn take(&mut self, option: &DatabaseOption, value: &DatabaseValue) -> Result<()> {
        match option.name.as_str() {
            "is_template" => self.is_template = Some(truth(&option.name, value)?),
            "allow_connections" => self.allow_connections = Some(truth(&option.name, value)?),
            "connection_limit" => self.connection_limit = Some(limit(value)?),
            "tablespace" => self.tablespace = Some(text(value)),
            _ => {}
        }
        Ok(())
    }
    /// Errors: PostgreSQL's for invalid options, and 0A000 for unsupported ones.
    pub(super) fn refuse_others(&self) -> Result<()> {
        if let Some(name) = &self.tablespace {
            tablespace(name)?;
        }
        if self.encoding.is_some_and(|number| number != UTF8) {
            return Err(SqlError::unsupported("a database in another encoding than UTF8"));
        }
        if self.collation_version {
            return Err(SqlError::unsupported("COLLATION_VERSION of a database"));
        }
        Ok(())
    }
}

/// PostgreSQL's number of UTF8.
const UTF8: i32 = 6;
/// PostgreSQL's number of SQL_ASCII, which is valid with every locale.
const SQL_ASCII: i32 = 0;

/// Locales that order by code points, as all databases here do.
const BY_CODE_POINTS: [&str; 4] = ["C", "POSIX", LOCALE, "C.utf8"];

/// The stored name of a locale: POSIX is another name of C.
fn canonical(locale: String) -> String {
    if locale == "POSIX" { "C".to_string() } else { locale }
}

/// Checks that locale and encoding are supported and compatible. Errors: 22023, 42P17, 0A000.
pub(super) fn check_locale(options: &Options, source: &DatabaseDescriptor) -> Result<()> {
    if let Some(strategy) = &options.strategy
        && !["wal_log", "file_copy"].iter().any(|known| strategy.eq_ignore_ascii_case(known))
    {
        return Err(invalid(format!("invalid create database strategy \"{strategy}\""))
            .hint("Valid strategies are \"wal_log\" and \"file_copy\"."));
    }
    for (what, locale) in [("LC_COLLATE", &options.collate), ("LC_CTYPE", &options.ctype)] {
        if let Some(locale) = locale.as_ref().filter(|locale| !BY_CODE_POINTS.contains(&locale.as_str())) {
            return Err(SqlError::unsupported(format!("{what} \"{locale}\" of a database")));
        }
    }
    if options.icu {
        if options.icu_locale.is_none() {
            return Err(invalid("ICU locale must be specified"));
        }
        return Err(SqlError::unsupported("the locale provider icu"));
    }
    if options.icu_locale.is_some() {
        let message = "ICU locale cannot be specified unless locale provider is ICU";
        return Err(SqlError::new(state::INVALID_OBJECT_DEFINITION, message));
    }
    let ctype = options.ctype.as_deref().unwrap_or_else(|| source.lc_ctype());
    if let Some(number) = options.encoding.filter(|number| !matches!(*number, UTF8 | SQL_ASCII))
        && Ctype::of_locale(ctype) != Ctype::Ascii
    {
        let name = encoding::name_of(number).unwrap_or_default();
        return Err(invalid(format!("encoding \"{name}\" does not match locale \"{ctype}\""))
            .detail("The chosen LC_CTYPE setting requires encoding \"UTF8\"."));
    }
    Ok(())
}

/// Checks that a copy has its template's encoding and locale. Errors: 22023.
pub(super) fn check_template(options: &Options, source: &DatabaseDescriptor) -> Result<()> {
    if let Some(number) = options.encoding.filter(|number| *number != UTF8) {
        let name = encoding::name_of(number).unwrap_or_default();
        let message =
            format!("new encoding ({name}) is incompatible with the encoding of the template database (UTF8)");
        return Err(
            invalid(message).hint("Use the same encoding as in the template database, or use template0 as template.")
        );
    }
    for (what, name, given, own) in [
        ("collation", "collation", &options.collate, source.collation()),
        ("LC_CTYPE", "LC_CTYPE", &options.ctype, source.lc_ctype()),
    ] {
        if let Some(given) = given.as_deref().filter(|given| *given != own) {
            let message =
                format!("new {what} ({given}) is incompatible with the {name} of the template database ({own})");
            return Err(invalid(message)
                .hint(format!("Use the same {name} as in the template database, or use template0 as template.")));
        }
    }
    Ok(())
}

/// Checks the name of a tablespace: only the default one exists. Errors: 22023, 42704.
pub(super) fn tablespace(name: &str) -> Result<()> {
    match name {
        "pg_default" => Ok(()),
        "pg_global" => Err(invalid("pg_global cannot be used as default tablespace")),
        other => Err(SqlError::new(state::UNDEFINED_OBJECT, format!("tablespace \"{other}\" does not exist"))),
    }
}
