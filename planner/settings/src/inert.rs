//! PostgreSQL's settings that have no effect here: of its planner, memory, log, workers, vacuum, write-ahead
//! log and replication. They exist so that clients can set and read them. Settings that name files of the
//! server are in `server`.

use super::registry::{Changeable, Definition, Kind, LOG_LEVELS, MESSAGE_LEVELS, NO_EFFECT, Unit};

const fn setting(name: &'static str, default: &'static str, kind: Kind, changeable: Changeable) -> Definition {
    Definition { name, default, kind, changeable, reported: false, description: NO_EFFECT }
}

const fn user(name: &'static str, default: &'static str, kind: Kind) -> Definition {
    setting(name, default, kind, Changeable::Always)
}

const fn superuser(name: &'static str, default: &'static str, kind: Kind) -> Definition {
    setting(name, default, kind, Changeable::BySuperuser)
}

const fn configured(name: &'static str, default: &'static str, kind: Kind) -> Definition {
    setting(name, default, kind, Changeable::ByConfiguration)
}

const fn started(name: &'static str, default: &'static str, kind: Kind) -> Definition {
    setting(name, default, kind, Changeable::AtServerStart)
}

const fn connected(name: &'static str, default: &'static str, kind: Kind) -> Definition {
    setting(name, default, kind, Changeable::AtConnection)
}

const fn preset(name: &'static str, default: &'static str, kind: Kind) -> Definition {
    setting(name, default, kind, Changeable::Never)
}

const fn between(min: i64, max: i64, unit: Unit) -> Kind {
    Kind::Int { min, max, unit }
}

const fn from(min: i64, unit: Unit) -> Kind {
    between(min, 2_147_483_647, unit)
}

const FLAG: Kind = Kind::Bool;

/// The settings, by the group that shows them.
pub const GROUPS: &[(&str, &[Definition])] = &[
    (
        "Autovacuum",
        &[
            configured("autovacuum", "on", FLAG),
            configured("autovacuum_analyze_scale_factor", "0.1", Kind::Real { min: 0.0, max: 100.0 }),
            configured("autovacuum_analyze_threshold", "50", from(0, Unit::One)),
            started("autovacuum_freeze_max_age", "200000000", between(100_000, 2_000_000_000, Unit::One)),
            started("autovacuum_max_workers", "3", between(1, 262_143, Unit::One)),
            started("autovacuum_multixact_freeze_max_age", "400000000", between(10_000, 2_000_000_000, Unit::One)),
            configured("autovacuum_naptime", "1min", between(1, 2_147_483, Unit::Seconds)),
            configured("autovacuum_vacuum_cost_limit", "-1", between(-1, 10_000, Unit::One)),
            configured("autovacuum_vacuum_insert_scale_factor", "0.2", Kind::Real { min: 0.0, max: 100.0 }),
            configured("autovacuum_vacuum_insert_threshold", "1000", from(-1, Unit::One)),
            configured("autovacuum_vacuum_scale_factor", "0.2", Kind::Real { min: 0.0, max: 100.0 }),
            configured("autovacuum_vacuum_threshold", "50", from(0, Unit::One)),
        ],
    ),
    (
        "Client Connection Defaults / Locale and Formatting",
        &[user("timezone_abbreviations", "Default", Kind::Partial(&["Default"], &["Australia", "India"]))],
    ),
    ("Client Connection Defaults / Other Defaults", &[superuser("dynamic_library_path", "$libdir", Kind::Text)]),
    (
        "Client Connection Defaults / Shared Library Preloading",
        &[
            started("jit_provider", "llvmjit", Kind::Text),
            user("local_preload_libraries", "", Kind::Text),
            superuser("session_preload_libraries", "", Kind::Text),
            started("shared_preload_libraries", "", Kind::Text),
        ],
    ),
    (
        "Client Connection Defaults / Statement Behavior",
        &[
            user("gin_pending_list_limit", "4MB", from(64, Unit::Kilobytes)),
            user("vacuum_failsafe_age", "1600000000", between(0, 2_100_000_000, Unit::One)),
            user("vacuum_freeze_min_age", "50000000", between(0, 1_000_000_000, Unit::One)),
            user("vacuum_freeze_table_age", "150000000", between(0, 2_000_000_000, Unit::One)),
            user("vacuum_multixact_failsafe_age", "1600000000", between(0, 2_100_000_000, Unit::One)),
            user("vacuum_multixact_freeze_min_age", "5000000", between(0, 1_000_000_000, Unit::One)),
            user("vacuum_multixact_freeze_table_age", "150000000", between(0, 2_000_000_000, Unit::One)),
        ],
    ),
    (
        "Connections and Authentication / Authentication",
        &[
            configured("authentication_timeout", "1min", between(1, 600, Unit::Seconds)),
            configured("db_user_namespace", "off", FLAG),
            configured("krb_caseins_users", "off", FLAG),
            user("password_encryption", "scram-sha-256", Kind::Partial(&["scram-sha-256"], &["md5"])),
        ],
    ),
    (
        "Connections and Authentication / Connection Settings",
        &[
            started("bonjour", "off", FLAG),
            started("bonjour_name", "", Kind::Text),
            user("client_connection_check_interval", "0", from(0, Unit::Milliseconds)),
            started("superuser_reserved_connections", "3", between(0, 262_143, Unit::One)),
            user("tcp_keepalives_count", "0", from(0, Unit::One)),
            user("tcp_keepalives_interval", "0", from(0, Unit::Seconds)),
            user("tcp_user_timeout", "0", from(0, Unit::Milliseconds)),
        ],
    ),
    (
        "Developer Options",
        &[
            superuser("allow_in_place_tablespaces", "off", FLAG),
            superuser("allow_system_table_mods", "off", Kind::OnlyBool(false)),
            superuser("backtrace_functions", "", Kind::Text),
            superuser("debug_discard_caches", "0", between(0, 0, Unit::One)),
            user("force_parallel_mode", "off", Kind::Enum(&["off", "on", "regress"])),
            superuser("ignore_checksum_failure", "off", FLAG),
            started("ignore_invalid_pages", "off", FLAG),
            connected("ignore_system_indexes", "off", FLAG),
            connected("jit_debugging_support", "off", FLAG),
            superuser("jit_dump_bitcode", "off", FLAG),
            user("jit_expressions", "on", FLAG),
            connected("jit_profiling_support", "off", FLAG),
            user("jit_tuple_deforming", "on", FLAG),
            connected("post_auth_delay", "0", between(0, 2147, Unit::Seconds)),
            configured("pre_auth_delay", "0", between(0, 60, Unit::Seconds)),
            configured("remove_temp_files_after_crash", "on", FLAG),
            user("trace_notify", "off", FLAG),
            configured("trace_recovery_messages", "log", MESSAGE_LEVELS),
            user("trace_sort", "off", FLAG),
            superuser("wal_consistency_checking", "", Kind::Text),
            superuser("zero_damaged_pages", "off", FLAG),
        ],
    ),
    (
        "Error Handling",
        &[
            started("data_sync_retry", "off", FLAG),
            user("exit_on_error", "off", Kind::OnlyBool(false)),
            configured("recovery_init_sync_method", "fsync", Kind::Enum(&["fsync", "syncfs"])),
            configured("restart_after_crash", "on", FLAG),
        ],
    ),
    (
        "Lock Management",
        &[
            configured("max_pred_locks_per_page", "2", from(0, Unit::One)),
            configured("max_pred_locks_per_relation", "-2", from(-2_147_483_648, Unit::One)),
            started("max_pred_locks_per_transaction", "64", from(10, Unit::One)),
        ],
    ),
    (
        "Preset Options",
        &[
            preset("debug_assertions", "off", FLAG),
            preset("segment_size", "1GB", between(131_072, 131_072, Unit::Blocks)),
            preset("shared_memory_size", "0", from(0, Unit::Megabytes)),
            preset("shared_memory_size_in_huge_pages", "-1", from(-1, Unit::One)),
            preset("wal_block_size", "8192", between(8192, 8192, Unit::One)),
            preset("wal_segment_size", "16MB", between(1_048_576, 1_073_741_824, Unit::Bytes)),
        ],
    ),
    (
        "Query Tuning / Genetic Query Optimizer",
        &[
            user("geqo_effort", "5", between(1, 10, Unit::One)),
            user("geqo_generations", "0", from(0, Unit::One)),
            user("geqo_pool_size", "0", from(0, Unit::One)),
            user("geqo_seed", "0", Kind::Real { min: 0.0, max: 1.0 }),
            user("geqo_selection_bias", "2", Kind::Real { min: 1.5, max: 2.0 }),
        ],
    ),
    (
        "Query Tuning / Other Planner Options",
        &[
            user("cursor_tuple_fraction", "0.1", Kind::Real { min: 0.0, max: 1.0 }),
            user("recursive_worktable_factor", "10", Kind::Real { min: 0.001, max: 1e6 }),
        ],
    ),
    (
        "Query Tuning / Planner Cost Constants",
        &[
            user("jit_inline_above_cost", "500000", Kind::Real { min: -1.0, max: f64::MAX }),
            user("jit_optimize_above_cost", "500000", Kind::Real { min: -1.0, max: f64::MAX }),
        ],
    ),
    (
        "Replication / Primary Server",
        &[
            configured("synchronous_standby_names", "", Kind::Text),
            configured("vacuum_defer_cleanup_age", "0", between(0, 1_000_000, Unit::One)),
        ],
    ),
    (
        "Replication / Sending Servers",
        &[
            started("max_replication_slots", "10", between(0, 262_143, Unit::One)),
            configured("max_slot_wal_keep_size", "-1", from(-1, Unit::Megabytes)),
            started("max_wal_senders", "10", between(0, 262_143, Unit::One)),
            started("track_commit_timestamp", "off", FLAG),
            configured("wal_keep_size", "0", from(0, Unit::Megabytes)),
            user("wal_sender_timeout", "1min", from(0, Unit::Milliseconds)),
        ],
    ),
    (
        "Replication / Standby Servers",
        &[
            started("hot_standby", "on", FLAG),
            configured("hot_standby_feedback", "off", FLAG),
            configured("max_standby_archive_delay", "30s", from(-1, Unit::Milliseconds)),
            configured("max_standby_streaming_delay", "30s", from(-1, Unit::Milliseconds)),
            configured("primary_conninfo", "", Kind::Text),
            configured("primary_slot_name", "", Kind::Text),
            configured("promote_trigger_file", "", Kind::Text),
            configured("recovery_min_apply_delay", "0", from(0, Unit::Milliseconds)),
            configured("wal_receiver_create_temp_slot", "off", FLAG),
            configured("wal_receiver_status_interval", "10s", between(0, 2_147_483, Unit::Seconds)),
            configured("wal_receiver_timeout", "1min", from(0, Unit::Milliseconds)),
            configured("wal_retrieve_retry_interval", "5s", from(1, Unit::Milliseconds)),
        ],
    ),
    (
        "Replication / Subscribers",
        &[
            started("max_logical_replication_workers", "4", between(0, 262_143, Unit::One)),
            configured("max_sync_workers_per_subscription", "2", between(0, 262_143, Unit::One)),
        ],
    ),
    (
        "Reporting and Logging / Process Title",
        &[started("cluster_name", "", Kind::Text), superuser("update_process_title", "on", FLAG)],
    ),
    (
        "Reporting and Logging / What to Log",
        &[
            user("debug_pretty_print", "on", FLAG),
            user("debug_print_parse", "off", FLAG),
            user("debug_print_plan", "off", FLAG),
            user("debug_print_rewritten", "off", FLAG),
            configured("log_autovacuum_min_duration", "10min", from(-1, Unit::Milliseconds)),
            configured("log_checkpoints", "on", FLAG),
            connected("log_connections", "off", FLAG),
            connected("log_disconnections", "off", FLAG),
            superuser("log_duration", "off", FLAG),
            superuser("log_error_verbosity", "default", Kind::Enum(&["terse", "default", "verbose"])),
            configured("log_hostname", "off", FLAG),
            configured("log_line_prefix", "%m [%p] ", Kind::Text),
            superuser("log_lock_waits", "off", FLAG),
            superuser("log_parameter_max_length", "-1", between(-1, 1_073_741_823, Unit::Bytes)),
            user("log_parameter_max_length_on_error", "0", between(-1, 1_073_741_823, Unit::Bytes)),
            configured("log_recovery_conflict_waits", "off", FLAG),
            superuser("log_replication_commands", "off", FLAG),
            superuser("log_temp_files", "-1", from(-1, Unit::Kilobytes)),
            configured("log_timezone", "UTC", Kind::Text),
        ],
    ),
    (
        "Reporting and Logging / When to Log",
        &[
            superuser("log_min_duration_sample", "-1", from(-1, Unit::Milliseconds)),
            superuser("log_min_error_statement", "error", LOG_LEVELS),
            configured("log_startup_progress_interval", "10s", from(0, Unit::Milliseconds)),
            superuser("log_statement_sample_rate", "1", Kind::Real { min: 0.0, max: 1.0 }),
            superuser("log_transaction_sample_rate", "0", Kind::Real { min: 0.0, max: 1.0 }),
        ],
    ),
    (
        "Reporting and Logging / Where to Log",
        &[
            started("event_source", "PostgreSQL", Kind::Text),
            configured("log_destination", "stderr", Kind::Text),
            configured("log_directory", "log", Kind::Text),
            configured("log_file_mode", "384", between(0, 511, Unit::One)),
            configured("log_filename", "postgresql-%Y-%m-%d_%H%M%S.log", Kind::Text),
            configured("log_rotation_age", "1d", between(0, 35_791_394, Unit::Minutes)),
            configured("log_rotation_size", "10MB", between(0, 2_097_151, Unit::Kilobytes)),
            configured("log_truncate_on_rotation", "off", FLAG),
            started("logging_collector", "off", FLAG),
            configured(
                "syslog_facility",
                "local0",
                Kind::Enum(&["local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"]),
            ),
            configured("syslog_ident", "postgres", Kind::Text),
            configured("syslog_sequence_numbers", "on", FLAG),
            configured("syslog_split_messages", "on", FLAG),
        ],
    ),
    (
        "Resource Usage / Asynchronous Behavior",
        &[
            user("backend_flush_after", "0", between(0, 256, Unit::Blocks)),
            user("effective_io_concurrency", "1", between(0, 1000, Unit::One)),
            user("maintenance_io_concurrency", "10", between(0, 1000, Unit::One)),
            user("max_parallel_maintenance_workers", "2", between(0, 1024, Unit::One)),
            started("old_snapshot_threshold", "-1", between(-1, 86_400, Unit::Minutes)),
        ],
    ),
    (
        "Resource Usage / Background Writer",
        &[
            configured("bgwriter_delay", "200ms", between(10, 10_000, Unit::Milliseconds)),
            configured("bgwriter_flush_after", "512kB", between(0, 256, Unit::Blocks)),
            configured("bgwriter_lru_maxpages", "100", between(0, 1_073_741_823, Unit::One)),
            configured("bgwriter_lru_multiplier", "2", Kind::Real { min: 0.0, max: 10.0 }),
        ],
    ),
    (
        "Resource Usage / Cost-Based Vacuum Delay",
        &[
            user("vacuum_cost_limit", "200", between(1, 10_000, Unit::One)),
            user("vacuum_cost_page_dirty", "20", between(0, 10_000, Unit::One)),
            user("vacuum_cost_page_hit", "1", between(0, 10_000, Unit::One)),
            user("vacuum_cost_page_miss", "2", between(0, 10_000, Unit::One)),
        ],
    ),
    ("Resource Usage / Disk", &[superuser("temp_file_limit", "-1", from(-1, Unit::Kilobytes))]),
    ("Resource Usage / Kernel Resources", &[started("max_files_per_process", "1000", from(64, Unit::One))]),
    (
        "Resource Usage / Memory",
        &[
            configured("autovacuum_work_mem", "-1", from(-1, Unit::Kilobytes)),
            started("dynamic_shared_memory_type", "posix", Kind::Enum(&["posix", "sysv", "mmap"])),
            started("huge_page_size", "0", from(0, Unit::Kilobytes)),
            started("huge_pages", "try", Kind::Enum(&["off", "on", "try"])),
            user("logical_decoding_work_mem", "64MB", from(64, Unit::Kilobytes)),
            superuser("max_stack_depth", "2MB", from(100, Unit::Kilobytes)),
            started("min_dynamic_shared_memory", "0", from(0, Unit::Megabytes)),
            started("shared_memory_type", "mmap", Kind::Enum(&["sysv", "mmap"])),
        ],
    ),
    (
        "Statistics / Cumulative Query and Index Statistics",
        &[
            user("stats_fetch_consistency", "cache", Kind::Enum(&["none", "cache", "snapshot"])),
            superuser("track_activities", "on", FLAG),
            started("track_activity_query_size", "1kB", between(100, 1_048_576, Unit::Bytes)),
            superuser("track_counts", "on", FLAG),
            superuser("track_functions", "none", Kind::Enum(&["none", "pl", "all"])),
            superuser("track_io_timing", "off", FLAG),
            superuser("track_wal_io_timing", "off", FLAG),
        ],
    ),
    (
        "Statistics / Monitoring",
        &[
            superuser("compute_query_id", "auto", Kind::Enum(&["auto", "regress", "on", "off"])),
            superuser("log_executor_stats", "off", FLAG),
            superuser("log_parser_stats", "off", FLAG),
            superuser("log_planner_stats", "off", FLAG),
            superuser("log_statement_stats", "off", FLAG),
        ],
    ),
    (
        "Version and Platform Compatibility / Previous PostgreSQL Versions",
        &[superuser("lo_compat_privileges", "off", FLAG)],
    ),
    (
        "Write-Ahead Log / Archive Recovery",
        &[
            configured("archive_cleanup_command", "", Kind::Text),
            configured("recovery_end_command", "", Kind::Text),
            configured("restore_command", "", Kind::Text),
        ],
    ),
    (
        "Write-Ahead Log / Archiving",
        &[
            configured("archive_command", "", Kind::Text),
            configured("archive_library", "", Kind::Text),
            started("archive_mode", "off", Kind::Enum(&["always", "on", "off"])),
            configured("archive_timeout", "0", between(0, 1_073_741_823, Unit::Seconds)),
        ],
    ),
    (
        "Write-Ahead Log / Checkpoints",
        &[
            configured("checkpoint_completion_target", "0.9", Kind::Real { min: 0.0, max: 1.0 }),
            configured("checkpoint_flush_after", "256kB", between(0, 256, Unit::Blocks)),
            configured("checkpoint_timeout", "5min", between(30, 86_400, Unit::Seconds)),
            configured("checkpoint_warning", "30s", from(0, Unit::Seconds)),
            configured("max_wal_size", "1GB", from(2, Unit::Megabytes)),
            configured("min_wal_size", "80MB", from(2, Unit::Megabytes)),
        ],
    ),
    (
        "Write-Ahead Log / Recovery",
        &[
            configured("recovery_prefetch", "try", Kind::Enum(&["off", "on", "try"])),
            started("wal_decode_buffer_size", "512kB", between(65_536, 1_073_741_823, Unit::Bytes)),
        ],
    ),
    (
        "Write-Ahead Log / Recovery Target",
        &[
            started("recovery_target", "", Kind::Text),
            started("recovery_target_action", "pause", Kind::Enum(&["pause", "promote", "shutdown"])),
            started("recovery_target_inclusive", "on", FLAG),
            started("recovery_target_lsn", "", Kind::Text),
            started("recovery_target_name", "", Kind::Text),
            started("recovery_target_time", "", Kind::Text),
            started("recovery_target_timeline", "latest", Kind::Text),
            started("recovery_target_xid", "", Kind::Text),
        ],
    ),
    (
        "Write-Ahead Log / Settings",
        &[
            superuser("commit_delay", "0", between(0, 100_000, Unit::One)),
            user("commit_siblings", "5", between(0, 1000, Unit::One)),
            configured("fsync", "on", FLAG),
            configured("full_page_writes", "on", FLAG),
            started("wal_buffers", "-1", between(-1, 262_143, Unit::Blocks)),
            superuser("wal_compression", "off", Kind::Enum(&["pglz", "lz4", "zstd", "on", "off"])),
            superuser("wal_init_zero", "on", FLAG),
            started("wal_log_hints", "off", FLAG),
            superuser("wal_recycle", "on", FLAG),
            user("wal_skip_threshold", "2MB", from(0, Unit::Kilobytes)),
            configured(
                "wal_sync_method",
                "fdatasync",
                Kind::Enum(&["fsync", "fdatasync", "open_sync", "open_datasync"]),
            ),
            configured("wal_writer_delay", "200ms", between(1, 10_000, Unit::Milliseconds)),
            configured("wal_writer_flush_after", "1MB", from(0, Unit::Blocks)),
        ],
    ),
];
