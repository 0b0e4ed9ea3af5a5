//! The registry of settings: names, defaults and permitted values. `pg_settings` lists them. Must not know a session.

use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The permitted values of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A Boolean: `on` or `off`.
    Bool,
    /// A whole number in a range.
    Int {
        /// The least permitted value, in `unit`.
        min: i64,
        /// The greatest permitted value, in `unit`.
        max: i64,
        /// The unit of a value written without one.
        unit: Unit,
    },
    /// A floating-point number in a range.
    Real {
        /// The least permitted value.
        min: f64,
        /// The greatest permitted value.
        max: f64,
    },
    /// One of these words.
    Enum(&'static [&'static str]),
    /// Words that PostgreSQL knows: the first list is supported, the second is refused with 0A000.
    Partial(&'static [&'static str], &'static [&'static str]),
    /// A text without any rules.
    Text,
    /// `on` or `off`, but only this one is supported. The other is refused with 0A000.
    OnlyBool(bool),
    /// A text with its own rules (`settings::value`).
    Special,
}

/// The base unit of a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number without a unit.
    One,
    /// A duration; the base unit is the millisecond.
    Milliseconds,
    /// A duration; the base unit is the second.
    Seconds,
    /// A duration; the base unit is the minute.
    Minutes,
    /// An amount of memory; the base unit is the byte.
    Bytes,
    /// Memory in units of 1024 bytes.
    Kilobytes,
    /// Memory in blocks of 8192 bytes.
    Blocks,
    /// Memory in units of 1024 kilobytes.
    Megabytes,
}

/// Who may change a setting, and when. The words in parentheses are those of `pg_settings.context`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changeable {
    /// Any user at any time (`user`).
    Always,
    /// Superusers at any time (`superuser`).
    BySuperuser,
    /// Nobody: it describes the server (`internal`).
    Never,
    /// The server's operator, before the server starts (`postmaster`).
    AtServerStart,
    /// The server's operator, in its configuration (`sighup`).
    ByConfiguration,
    /// The client, before the session begins (`backend`).
    AtConnection,
}

impl Definition {
    /// Whether SHOW ALL and pg_settings list it. Settings of the user's identity and a write-only one are
    /// only available by name.
    pub fn is_listed(&self) -> bool {
        !matches!(self.name, "role" | "is_superuser" | "seed" | "session_authorization")
    }
}

impl Changeable {
    /// Whether SET can change it, even if only for a superuser.
    pub fn by_session(self) -> bool {
        matches!(self, Changeable::Always | Changeable::BySuperuser)
    }
}

/// Settings that reveal facts of the machine, sorted. Only superusers and members of
/// pg_read_all_settings may read them.
const PRIVATE: [&str; 20] = [
    "config_file",
    "data_directory",
    "dynamic_library_path",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "jit_provider",
    "krb_server_keyfile",
    "log_directory",
    "log_filename",
    "primary_conninfo",
    "session_preload_libraries",
    "shared_preload_libraries",
    "ssl_ciphers",
    "ssl_dh_params_file",
    "ssl_ecdh_curve",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "ssl_passphrase_command",
    "unix_socket_directories",
];

/// Whether a setting reveals facts of the machine.
pub fn is_private(name: &str) -> bool {
    PRIVATE.binary_search(&name.to_ascii_lowercase().as_str()).is_ok()
}

/// The definition of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Definition {
    /// The name as SHOW ALL prints it.
    pub name: &'static str,
    /// The initial value, as SHOW prints it.
    pub default: &'static str,
    /// The values that it permits.
    pub kind: Kind,
    /// Who may change it.
    pub changeable: Changeable,
    /// Whether the client is told of changes (ParameterStatus).
    pub reported: bool,
    /// A description of one line.
    pub description: &'static str,
}

const fn user(name: &'static str, default: &'static str, kind: Kind, description: &'static str) -> Definition {
    Definition { name, default, kind, changeable: Changeable::Always, reported: false, description }
}

const fn superuser(definition: Definition) -> Definition {
    Definition { changeable: Changeable::BySuperuser, ..definition }
}

const fn internal(name: &'static str, default: &'static str, description: &'static str) -> Definition {
    Definition { name, default, kind: Kind::Text, changeable: Changeable::Never, reported: false, description }
}

const fn server(name: &'static str, default: &'static str, description: &'static str) -> Definition {
    Definition { name, default, kind: Kind::Text, changeable: Changeable::AtServerStart, reported: false, description }
}

const fn reported(definition: Definition) -> Definition {
    Definition { reported: true, ..definition }
}

const fn milliseconds() -> Kind {
    Kind::Int { min: 0, max: 2_147_483_647, unit: Unit::Milliseconds }
}

const fn kilobytes(min: i64) -> Kind {
    Kind::Int { min, max: 2_147_483_647, unit: Unit::Kilobytes }
}

const fn blocks(min: i64) -> Kind {
    Kind::Int { min, max: 2_147_483_647, unit: Unit::Blocks }
}

const fn cost() -> Kind {
    Kind::Real { min: 0.0, max: f64::MAX }
}

/// The description of settings for PostgreSQL's planner, memory or workers, which have no effect on results.
pub const NO_EFFECT: &str = "Has no effect: kept for clients that set it.";

/// The levels of messages to a client, in increasing order.
pub const MESSAGE_LEVELS: Kind =
    Kind::Enum(&["debug5", "debug4", "debug3", "debug2", "debug1", "debug", "log", "notice", "warning", "error"]);
/// The same levels in the order of PostgreSQL's log.
pub const LOG_LEVELS: Kind = Kind::Enum(&[
    "debug5", "debug4", "debug3", "debug2", "debug1", "debug", "info", "notice", "warning", "error", "log", "fatal",
    "panic",
]);
const ISOLATION_LEVELS: Kind = Kind::Enum(&["serializable", "repeatable read", "read committed", "read uncommitted"]);

/// The version that we announce (`server_version`).
pub const SERVER_VERSION: &str = "15.0 (PercoSQL)";

/// Settings with an effect, now or formerly, sorted case-insensitively by name.
const DEFINITIONS: &[Definition] = &[
    reported(user(
        "application_name",
        "",
        Kind::Text,
        "Sets the application name to be reported in statistics and logs.",
    )),
    user("array_nulls", "on", Kind::OnlyBool(true), "Enable input of NULL elements in arrays."),
    user(
        "backslash_quote",
        "safe_encoding",
        Kind::Partial(&["safe_encoding", "on"], &["off"]),
        "Sets whether \"\\'\" is allowed in string literals.",
    ),
    internal("block_size", "8192", "Shows the size of a disk block."),
    user("bytea_output", "hex", Kind::Enum(&["escape", "hex"]), "Sets the output format for bytea."),
    user("check_function_bodies", "on", Kind::Bool, "Check routine bodies during creation."),
    reported(user("client_encoding", "UTF8", Kind::Special, "Sets the client's character set encoding.")),
    user("client_min_messages", "notice", MESSAGE_LEVELS, "Sets the message levels that are sent to the client."),
    user("constraint_exclusion", "partition", Kind::Enum(&["partition", "on", "off"]), NO_EFFECT),
    user("cpu_index_tuple_cost", "0.005", cost(), NO_EFFECT),
    user("cpu_operator_cost", "0.0025", cost(), NO_EFFECT),
    user("cpu_tuple_cost", "0.01", cost(), NO_EFFECT),
    internal("data_checksums", "on", "Shows whether data checksums are turned on."),
    reported(user("DateStyle", "ISO, MDY", Kind::Special, "Sets the display format for date and time values.")),
    superuser(user(
        "deadlock_timeout",
        "1s",
        Kind::Int { min: 1, max: 2_147_483_647, unit: Unit::Milliseconds },
        "Sets the time to wait on a lock before checking for deadlock.",
    )),
    user(
        "default_statistics_target",
        "100",
        Kind::Int { min: 1, max: 10_000, unit: Unit::One },
        "Sets the default statistics target.",
    ),
    user("default_toast_compression", "pglz", Kind::Enum(&["pglz"]), NO_EFFECT),
    user(
        "default_table_access_method",
        "heap",
        Kind::Partial(&["heap"], &[]),
        "Sets the default table access method for new tables.",
    ),
    user("default_tablespace", "", Kind::Special, "Sets the default tablespace to create tables and indexes in."),
    user("default_text_search_config", "pg_catalog.english", Kind::Text, "Has no effect: there is no text search."),
    user(
        "default_transaction_deferrable",
        "off",
        Kind::Bool,
        "Sets the default deferrable status of new transactions.",
    ),
    user(
        "default_transaction_isolation",
        "repeatable read",
        ISOLATION_LEVELS,
        "Sets the transaction isolation level of each new transaction.",
    ),
    reported(user(
        "default_transaction_read_only",
        "off",
        Kind::Bool,
        "Sets the default read-only status of new transactions.",
    )),
    user("effective_cache_size", "4GB", blocks(1), NO_EFFECT),
    user("enable_async_append", "on", Kind::Bool, NO_EFFECT),
    user("enable_bitmapscan", "on", Kind::Bool, NO_EFFECT),
    user("enable_gathermerge", "on", Kind::Bool, NO_EFFECT),
    user("enable_hashagg", "on", Kind::Bool, NO_EFFECT),
    user("enable_hashjoin", "on", Kind::Bool, NO_EFFECT),
    user("enable_incremental_sort", "on", Kind::Bool, NO_EFFECT),
    user("enable_indexonlyscan", "on", Kind::Bool, NO_EFFECT),
    user("enable_indexscan", "on", Kind::Bool, NO_EFFECT),
    user("enable_material", "on", Kind::Bool, NO_EFFECT),
    user("enable_memoize", "on", Kind::Bool, NO_EFFECT),
    user("enable_mergejoin", "on", Kind::Bool, NO_EFFECT),
    user("enable_nestloop", "on", Kind::Bool, NO_EFFECT),
    user("enable_parallel_append", "on", Kind::Bool, NO_EFFECT),
    user("enable_parallel_hash", "on", Kind::Bool, NO_EFFECT),
    user("enable_partition_pruning", "on", Kind::Bool, NO_EFFECT),
    user("enable_partitionwise_aggregate", "off", Kind::Bool, NO_EFFECT),
    user("enable_partitionwise_join", "off", Kind::Bool, NO_EFFECT),
    user("enable_seqscan", "on", Kind::Bool, NO_EFFECT),
    user("enable_sort", "on", Kind::Bool, NO_EFFECT),
    user("enable_tidscan", "on", Kind::Bool, NO_EFFECT),
    user("escape_string_warning", "on", Kind::Bool, "Warn about backslash escapes in ordinary string literals."),
    user("extra_float_digits", "1", Kind::Special, "Sets the number of digits displayed for floating-point values."),
    user("from_collapse_limit", "8", Kind::Int { min: 1, max: 2_147_483_647, unit: Unit::One }, NO_EFFECT),
    user("geqo", "on", Kind::Bool, NO_EFFECT),
    user("geqo_threshold", "12", Kind::Int { min: 2, max: 2_147_483_647, unit: Unit::One }, NO_EFFECT),
    user(
        "gin_fuzzy_search_limit",
        "0",
        Kind::Int { min: 0, max: 2_147_483_647, unit: Unit::One },
        "Has no effect: there are no GIN indexes.",
    ),
    user("hash_mem_multiplier", "2", Kind::Real { min: 1.0, max: 1000.0 }, NO_EFFECT),
    user(
        "idle_in_transaction_session_timeout",
        "0",
        milliseconds(),
        "Sets the maximum allowed idle time between queries, when in a transaction.",
    ),
    user(
        "idle_session_timeout",
        "0",
        milliseconds(),
        "Sets the maximum allowed idle time between queries, when not in a transaction.",
    ),
    reported(internal("in_hot_standby", "off", "Shows whether hot standby is currently active.")),
    reported(internal("integer_datetimes", "on", "Shows whether datetimes are integer based.")),
    reported(user(
        "IntervalStyle",
        "postgres",
        Kind::Enum(&["postgres", "postgres_verbose", "sql_standard", "iso_8601"]),
        "Sets the display format for interval values.",
    )),
    reported(internal("is_superuser", "off", "Shows whether the current user is a superuser.")),
    user("jit", "off", Kind::Bool, NO_EFFECT),
    user("jit_above_cost", "100000", Kind::Real { min: -1.0, max: f64::MAX }, NO_EFFECT),
    user("join_collapse_limit", "8", Kind::Int { min: 1, max: 2_147_483_647, unit: Unit::One }, NO_EFFECT),
    internal("lc_collate", "C.UTF-8", "Shows the collation order locale."),
    internal("lc_ctype", "C.UTF-8", "Shows the character classification and case conversion locale."),
    superuser(user("lc_messages", "C", Kind::Special, "Sets the language in which messages are displayed.")),
    user("lc_monetary", "C", Kind::Special, "Sets the locale for formatting monetary amounts."),
    user("lc_numeric", "C", Kind::Special, "Sets the locale for formatting numbers."),
    user("lc_time", "C", Kind::Special, "Sets the locale for formatting date and time values."),
    user("lock_timeout", "0", milliseconds(), "Sets the maximum allowed duration of any wait for a lock."),
    superuser(user(
        "log_min_duration_statement",
        "-1",
        Kind::Int { min: -1, max: 2_147_483_647, unit: Unit::Milliseconds },
        "Has no effect: statements are not logged.",
    )),
    superuser(user("log_min_messages", "warning", LOG_LEVELS, "Has no effect: the server's log level is its own.")),
    superuser(user(
        "log_statement",
        "none",
        Kind::Enum(&["none", "ddl", "mod", "all"]),
        "Has no effect: statements are not logged.",
    )),
    user("maintenance_work_mem", "64MB", kilobytes(1024), NO_EFFECT),
    server("max_connections", "100", "Sets the maximum number of concurrent connections."),
    internal("max_function_args", "100", "Shows the maximum number of function arguments."),
    internal("max_identifier_length", "63", "Shows the maximum identifier length."),
    internal("max_index_keys", "32", "Shows the maximum number of index keys."),
    server(
        "max_locks_per_transaction",
        "64",
        "Kept for clients that read it: a session may hold 65536 locks that are not on rows.",
    ),
    user("max_parallel_workers", "8", Kind::Int { min: 0, max: 1024, unit: Unit::One }, NO_EFFECT),
    user("max_parallel_workers_per_gather", "2", Kind::Int { min: 0, max: 1024, unit: Unit::One }, NO_EFFECT),
    server("max_prepared_transactions", "0", "Sets the maximum number of simultaneously prepared transactions."),
    server("max_worker_processes", "8", "Kept for clients that read it."),
    user(
        "min_parallel_index_scan_size",
        "512kB",
        Kind::Int { min: 0, max: 715_827_882, unit: Unit::Blocks },
        NO_EFFECT,
    ),
    user("min_parallel_table_scan_size", "8MB", Kind::Int { min: 0, max: 715_827_882, unit: Unit::Blocks }, NO_EFFECT),
    user("parallel_leader_participation", "on", Kind::Bool, NO_EFFECT),
    user("parallel_setup_cost", "1000", cost(), NO_EFFECT),
    user("parallel_tuple_cost", "0.1", cost(), NO_EFFECT),
    user("plan_cache_mode", "auto", Kind::Enum(&["auto", "force_generic_plan", "force_custom_plan"]), NO_EFFECT),
    user(
        "quote_all_identifiers",
        "off",
        Kind::OnlyBool(false),
        "When generating SQL fragments, quote all identifiers.",
    ),
    user("random_page_cost", "4", cost(), NO_EFFECT),
    internal("role", "none", "Sets the current role."),
    user("row_security", "on", Kind::Bool, "Has no effect: there are no row security policies."),
    user(
        "search_path",
        "\"$user\", public",
        Kind::Special,
        "Sets the schema search order for names that are not schema-qualified.",
    ),
    user("seq_page_cost", "1", cost(), NO_EFFECT),
    user("seed", "unavailable", Kind::Text, "Sets the seed for random-number generation."),
    reported(internal("server_encoding", "UTF8", "Shows the server (database) character set encoding.")),
    reported(internal("server_version", SERVER_VERSION, "Shows the server version.")),
    internal("server_version_num", "150000", "Shows the server version as an integer."),
    reported(internal("session_authorization", "", "Shows the session user name.")),
    superuser(user(
        "session_replication_role",
        "origin",
        Kind::Enum(&["origin", "replica", "local"]),
        "Sets the session's behavior for triggers and rewrite rules.",
    )),
    server("shared_buffers", "128MB", "Kept for clients that read it."),
    reported(user(
        "standard_conforming_strings",
        "on",
        Kind::Special,
        "Causes '...' strings to treat backslashes literally.",
    )),
    user("statement_timeout", "0", milliseconds(), "Sets the maximum allowed duration of any statement."),
    user("synchronize_seqscans", "on", Kind::Bool, "Has no effect: scans run in key order."),
    user(
        "synchronous_commit",
        "on",
        Kind::Enum(&["local", "remote_write", "remote_apply", "on", "off"]),
        "Sets the current transaction's synchronization level.",
    ),
    user("tcp_keepalives_idle", "0", Kind::Int { min: 0, max: 2_147_483_647, unit: Unit::Seconds }, NO_EFFECT),
    user("temp_buffers", "8MB", Kind::Int { min: 100, max: 1_073_741_823, unit: Unit::Blocks }, NO_EFFECT),
    user("temp_tablespaces", "", Kind::Special, "Sets the tablespaces to use for temporary tables and sort files."),
    reported(user("TimeZone", "UTC", Kind::Special, "Sets the time zone for displaying and interpreting time stamps.")),
    user("transaction_deferrable", "off", Kind::Bool, "Whether to defer a read-only serializable transaction."),
    user(
        "transaction_isolation",
        "repeatable read",
        ISOLATION_LEVELS,
        "Sets the current transaction's isolation level.",
    ),
    user("transaction_read_only", "off", Kind::Bool, "Sets the current transaction's read-only status."),
    user(
        "transaction_timeout",
        "0",
        milliseconds(),
        "Sets the maximum allowed duration of any transaction within a session (as PostgreSQL 17 has it).",
    ),
    user("transform_null_equals", "off", Kind::OnlyBool(false), "Treats expr=NULL as expr IS NULL."),
    user("vacuum_cost_delay", "0", Kind::Int { min: 0, max: 100, unit: Unit::Milliseconds }, NO_EFFECT),
    server("wal_level", "replica", "Kept for clients that read it."),
    user("work_mem", "4MB", kilobytes(64), NO_EFFECT),
    user("xmlbinary", "base64", Kind::Enum(&["base64", "hex"]), "Has no effect: there is no xml."),
    user("xmloption", "content", Kind::Enum(&["content", "document"]), "Has no effect: there is no xml."),
];

/// Every setting, sorted case-insensitively by name.
pub fn definitions() -> &'static [&'static Definition] {
    static ALL: LazyLock<Vec<&Definition>> = LazyLock::new(|| {
        let groups = super::inert::GROUPS.iter().chain(super::server::GROUPS);
        let grouped = groups.flat_map(|(_, settings)| settings.iter());
        let mut all: Vec<&Definition> = DEFINITIONS.iter().chain(grouped).collect();
        all.sort_by_cached_key(|definition| definition.name.to_ascii_lowercase());
        all
    });
    &ALL
}

/// The settings that clients are told of.
pub fn reported_definitions() -> &'static [&'static Definition] {
    static REPORTED: LazyLock<Vec<&Definition>> =
        LazyLock::new(|| definitions().iter().copied().filter(|definition| definition.reported).collect());
    &REPORTED
}

/// The setting called `name`, in any case.
pub fn find(name: &str) -> Option<&'static Definition> {
    // Each transaction looks up several settings, with names spelled as here.
    static BY_NAME: LazyLock<HashMap<&str, &Definition, RandomState>> =
        LazyLock::new(|| definitions().iter().map(|definition| (definition.name, *definition)).collect());
    if let Some(found) = BY_NAME.get(name) {
        return Some(found);
    }
    definitions().iter().copied().find(|definition| definition.name.eq_ignore_ascii_case(name))
}
