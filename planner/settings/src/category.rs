//! The groups of settings, as in chapter 20 of the manual. Must not know values.

/// `pg_settings.category` of a setting.
pub fn category(name: &str) -> &'static str {
    if name.starts_with("enable_") {
        return "Query Tuning / Planner Method Configuration";
    }
    let found = GROUPS.iter().find(|(_, names)| names.contains(&name));
    let mut groups = super::inert::GROUPS.iter().chain(super::server::GROUPS);
    let mut grouped = || groups.find(|(_, settings)| settings.iter().any(|setting| setting.name == name));
    let group = found.map(|(group, _)| *group).or_else(|| grouped().map(|(group, _)| *group));
    group.unwrap_or("Customized Options")
}

const GROUPS: &[(&str, &[&str])] = &[
    ("Reporting and Logging / What to Log", &["application_name", "log_statement"]),
    ("Reporting and Logging / When to Log", &["log_min_duration_statement", "log_min_messages"]),
    (
        "Version and Platform Compatibility / Previous PostgreSQL Versions",
        &[
            "array_nulls",
            "backslash_quote",
            "escape_string_warning",
            "quote_all_identifiers",
            "standard_conforming_strings",
            "synchronize_seqscans",
        ],
    ),
    ("Version and Platform Compatibility / Other Platforms and Clients", &["transform_null_equals"]),
    (
        "Preset Options",
        &[
            "block_size",
            "data_checksums",
            "in_hot_standby",
            "integer_datetimes",
            "lc_collate",
            "lc_ctype",
            "max_function_args",
            "max_identifier_length",
            "max_index_keys",
            "server_encoding",
            "server_version",
            "server_version_num",
        ],
    ),
    (
        "Client Connection Defaults / Statement Behavior",
        &[
            "bytea_output",
            "check_function_bodies",
            "client_min_messages",
            "default_table_access_method",
            "default_tablespace",
            "default_toast_compression",
            "default_transaction_deferrable",
            "default_transaction_isolation",
            "default_transaction_read_only",
            "gin_fuzzy_search_limit",
            "idle_in_transaction_session_timeout",
            "idle_session_timeout",
            "lock_timeout",
            "row_security",
            "search_path",
            "session_replication_role",
            "statement_timeout",
            "temp_tablespaces",
            "transaction_deferrable",
            "transaction_isolation",
            "transaction_read_only",
            "transaction_timeout",
            "xmlbinary",
            "xmloption",
        ],
    ),
    (
        "Client Connection Defaults / Locale and Formatting",
        &[
            "client_encoding",
            "DateStyle",
            "default_text_search_config",
            "extra_float_digits",
            "IntervalStyle",
            "lc_messages",
            "lc_monetary",
            "lc_numeric",
            "lc_time",
            "TimeZone",
        ],
    ),
    (
        "Query Tuning / Other Planner Options",
        &[
            "constraint_exclusion",
            "default_statistics_target",
            "from_collapse_limit",
            "jit",
            "join_collapse_limit",
            "plan_cache_mode",
        ],
    ),
    (
        "Query Tuning / Planner Cost Constants",
        &[
            "cpu_index_tuple_cost",
            "cpu_operator_cost",
            "cpu_tuple_cost",
            "effective_cache_size",
            "jit_above_cost",
            "min_parallel_index_scan_size",
            "min_parallel_table_scan_size",
            "parallel_setup_cost",
            "parallel_tuple_cost",
            "random_page_cost",
            "seq_page_cost",
        ],
    ),
    ("Query Tuning / Genetic Query Optimizer", &["geqo", "geqo_threshold"]),
    ("Lock Management", &["deadlock_timeout", "max_locks_per_transaction"]),
    (
        "Resource Usage / Memory",
        &[
            "hash_mem_multiplier",
            "maintenance_work_mem",
            "max_prepared_transactions",
            "shared_buffers",
            "temp_buffers",
            "work_mem",
        ],
    ),
    (
        "Resource Usage / Asynchronous Behavior",
        &[
            "max_parallel_workers",
            "max_parallel_workers_per_gather",
            "max_worker_processes",
            "parallel_leader_participation",
        ],
    ),
    ("Resource Usage / Cost-Based Vacuum Delay", &["vacuum_cost_delay"]),
    ("Connections and Authentication / Connection Settings", &["max_connections"]),
    ("Connections and Authentication / TCP Settings", &["tcp_keepalives_idle"]),
    ("Ungrouped", &["is_superuser", "role", "session_authorization"]),
    ("Write-Ahead Log / Settings", &["synchronous_commit", "wal_level"]),
];
