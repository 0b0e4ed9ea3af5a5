//! Descriptions of objects, and privileges on objects that all roles or only superusers may use:
//! functions, types, languages, parameters.

use super::super::definition::value;
use super::super::object_names::{Found, Place, find};
use super::descriptions::described;
use super::objects::function_of;
use super::{Arguments, function, role, some_bool};
use catalog::acl::{Kind, USAGE};
use catalog::predefined;
use datafusion::arrow::array::{Array, AsArray, BooleanArray, NullArray, new_null_array};
use datafusion::arrow::datatypes::Int32Type;
use datafusion::scalar::ScalarValue;
use executor::StatementContext;
use functions::{Call, Kernel, Param, ResultType, ScalarFunction, Stability, wait};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::array::ArrayValue;
use types::{BaseType, Datum, Oid, SqlType};

/// Every function of this file.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, oid, int4) = (SqlType::TEXT, SqlType::OID, SqlType::INT4);
    let mut all = privileges();
    all.push(function("pg_describe_object", &[oid, oid, int4], text, |context, arguments| {
        let part = arguments.integer(2).unwrap_or(0);
        let (class, object) = (arguments.oid(0).unwrap_or(0), arguments.oid(1).unwrap_or(0));
        Ok(described(context, class, object, part).map(|text| Datum::Utf8(Some(text))))
    }));
    all.push(collation_for());
    all.push(function("pg_blocking_pids", &[int4], int4.array_of(), |context, arguments| {
        Ok(Some(value::int4s(blockers(context, arguments.integer(0).unwrap_or(0))?)))
    }));
    // PostgreSQL's isolation tester calls this to see whether a step waits.
    all.push(function(
        "pg_isolation_test_session_is_blocked",
        &[int4, int4.array_of()],
        SqlType::BOOL,
        |context, arguments| {
            let interesting = arguments.0.get(1).map(ArrayValue::of).transpose()?.flatten();
            let Some(interesting) = interesting else { return Ok(None) };
            let pids = interesting.elements().as_primitive_opt::<Int32Type>();
            let pids = pids.ok_or_else(|| SqlError::internal("process numbers that are no integers"))?;
            if pids.null_count() > 0 {
                return Err(SqlError::internal("array must not contain nulls"));
            }
            let blockers = blockers(context, arguments.integer(0).unwrap_or(0))?;
            some_bool(blockers.iter().any(|blocker| pids.values().contains(blocker)))
        },
    ));
    // A read-only serializable transaction waits for no other here.
    all.push(function("pg_safe_snapshot_blocking_pids", &[int4], int4.array_of(), |_, _| Ok(Some(value::int4s([])))));
    // No counters are kept, so these have nothing to reset.
    for name in ["pg_stat_reset", "pg_stat_clear_snapshot"] {
        let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
            may_call(&*call.context()?, name)?;
            Ok(Arc::new(NullArray::new(call.rows)) as _)
        });
        all.push(ScalarFunction::new(name, &[], SqlType::VOID, Stability::Volatile, kernel));
    }
    // The server writes no log file of its own.
    for arguments in [&[][..], &[text]] {
        let kernel: Kernel = Arc::new(|call: &Call<'_>| {
            may_call(&*call.context()?, "pg_current_logfile")?;
            Ok(new_null_array(&call.result.arrow(), call.rows))
        });
        all.push(ScalarFunction::new("pg_current_logfile", arguments, text, Stability::Volatile, kernel));
    }
    all
}

/// The process numbers of the sessions that block a session, sorted.
fn blockers(context: &StatementContext, pid: i64) -> Result<Vec<i32>> {
    let waiting = match context.session.database() {
        Ok(database) => wait(database.transactions().seen_locks())?.waiting,
        Err(_) => Vec::new(),
    };
    let waits = waiting.into_iter().filter(|wait| i64::from(wait.label) == pid);
    let mut blockers: Vec<i32> = waits.flat_map(|wait| wait.blocked_by).collect();
    blockers.sort_unstable();
    blockers.dedup();
    Ok(blockers)
}

/// `pg_collation_for`: the only collation, or NULL for an untyped value. Errors: 42804 for types without collation.
fn collation_for() -> ScalarFunction {
    let kernel: Kernel = Arc::new(|call: &Call<'_>| {
        let ty = call.types.first().copied().unwrap_or(SqlType::TEXT);
        let answer = match ty.element().base {
            BaseType::Text | BaseType::Varchar | BaseType::Char => Some("\"default\""),
            BaseType::Name => Some("\"C\""),
            BaseType::Unknown => None,
            _ => {
                let message = format!("collations are not supported by type {}", ty.name());
                return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
            }
        };
        Ok(ScalarValue::Utf8(answer.map(str::to_string)).to_array_of_size(call.rows)?)
    });
    let result = ResultType::Is(SqlType::TEXT);
    ScalarFunction::polymorphic("pg_collation_for", &[Param::Any], false, result, Stability::Immutable, kernel)
}

/// Functions that only superusers and members of a role may call.
const RESTRICTED: [(&str, Option<Oid>); 39] = [
    ("lo_export", None),
    ("lo_import", None),
    ("pg_backup_start", None),
    ("pg_backup_stop", None),
    ("pg_config", None),
    ("pg_create_restore_point", None),
    ("pg_current_logfile", None),
    ("pg_get_backend_memory_contexts", Some(predefined::READ_ALL_STATISTICS)),
    ("pg_get_shmem_allocations", Some(predefined::READ_ALL_STATISTICS)),
    ("pg_hba_file_rules", None),
    ("pg_ident_file_mappings", None),
    ("pg_log_backend_memory_contexts", None),
    ("pg_ls_archive_statusdir", Some(predefined::MONITOR)),
    ("pg_ls_dir", None),
    ("pg_ls_logdir", Some(predefined::MONITOR)),
    ("pg_ls_logicalmapdir", Some(predefined::MONITOR)),
    ("pg_ls_logicalsnapdir", Some(predefined::MONITOR)),
    ("pg_ls_replslotdir", Some(predefined::MONITOR)),
    ("pg_ls_tmpdir", Some(predefined::MONITOR)),
    ("pg_ls_waldir", Some(predefined::MONITOR)),
    ("pg_promote", None),
    ("pg_read_binary_file", None),
    ("pg_read_file", None),
    ("pg_reload_conf", None),
    ("pg_rotate_logfile", None),
    ("pg_show_all_file_settings", None),
    ("pg_show_replication_origin_status", None),
    ("pg_stat_file", None),
    ("pg_stat_have_stats", None),
    ("pg_stat_reset", None),
    ("pg_stat_reset_replication_slot", None),
    ("pg_stat_reset_shared", None),
    ("pg_stat_reset_single_function_counters", None),
    ("pg_stat_reset_single_table_counters", None),
    ("pg_stat_reset_slru", None),
    ("pg_stat_reset_subscription_stats", None),
    ("pg_switch_wal", None),
    ("pg_wal_replay_pause", None),
    ("pg_wal_replay_resume", None),
];

/// Whether a role may call a function.
fn calls(context: &StatementContext, role: Oid, function: &str) -> bool {
    match RESTRICTED.iter().find(|(name, _)| *name == function) {
        None => true,
        Some((_, Some(members))) => context.catalog.owns(role, *members),
        Some((_, None)) => context.catalog.is_superuser(role),
    }
}

/// Errors: 42501 if a role may not call a function.
fn may_call(context: &StatementContext, function: &str) -> Result<()> {
    if calls(context, context.role(), function) {
        return Ok(());
    }
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("permission denied for function {function}")))
}

/// A kind of object that all roles or only superusers may use.
struct Granted {
    name: &'static str,
    privileges: &'static [&'static str],
    everybody: bool,
    /// Finds an object by its text. Errors: if it does not exist.
    find: fn(&StatementContext, &str) -> Result<Oid>,
    /// Whether an object with this OID exists. `None` if such objects have no OIDs.
    exists: Option<fn(&StatementContext, Oid) -> bool>,
}

fn named(base: BaseType, context: &StatementContext, text: &str) -> Result<Oid> {
    let place = Place { catalog: &context.catalog, search_path: context.settings.search_path() };
    match find(base, text, place)? {
        Found::One(oid) => Ok(oid),
        Found::None(error) | Found::Many(error) => Err(error),
    }
}

fn undefined(message: String) -> SqlError {
    SqlError::new(state::UNDEFINED_OBJECT, message)
}

static GRANTED: [Granted; 4] = [
    Granted {
        name: "has_function_privilege",
        privileges: &["EXECUTE"],
        everybody: true,
        find: |context, text| named(BaseType::Regprocedure, context, text),
        exists: Some(|_, oid| function_of(Some(oid)).is_some()),
    },
    Granted {
        name: "has_type_privilege",
        privileges: &["USAGE"],
        everybody: true,
        find: |context, text| named(BaseType::Regtype, context, text),
        exists: Some(|context, oid| context.catalog.type_by_oid(oid).is_some()),
    },
    Granted {
        name: "has_language_privilege",
        privileges: &["USAGE"],
        everybody: true,
        find: |_, text| match text {
            "internal" => Ok(12),
            "sql" => Ok(14),
            _ => Err(undefined(format!("language \"{text}\" does not exist"))),
        },
        exists: Some(|_, oid| [12, 14].contains(&oid)),
    },
    Granted {
        name: "has_parameter_privilege",
        privileges: &["SET", "ALTER SYSTEM"],
        everybody: false,
        find: |context, text| match context.settings.get(text) {
            Some(_) => Ok(0),
            None => Err(undefined(format!("unrecognized configuration parameter \"{text}\""))),
        },
        exists: None,
    },
];

fn holds(
    granted: &Granted,
    context: &StatementContext,
    arguments: &Arguments,
    user: Oid,
    at: usize,
) -> Result<Option<Datum>> {
    let oid = match (arguments.text(at), granted.exists) {
        (Some(text), _) => (granted.find)(context, text)?,
        (None, Some(exists)) if exists(context, arguments.oid(at).unwrap_or(0)) => arguments.oid(at).unwrap_or(0),
        _ => return Ok(None),
    };
    let open = match granted.name {
        "has_function_privilege" => function_of(Some(oid)).is_none_or(|function| calls(context, user, function.name)),
        "has_type_privilege" => context
            .catalog
            .enums()
            .find(|ty| ty.oid == oid)
            .is_none_or(|ty| context.catalog.rights(user, Kind::Type, ty.owner, ty.acl.as_ref(), USAGE) != 0),
        _ => granted.everybody,
    };
    let superuser = context.catalog.is_superuser(user);
    let mut any = false;
    for wanted in arguments.text(at + 1).unwrap_or_default().split(',') {
        let upper = wanted.trim().to_ascii_uppercase();
        let plain = upper.strip_suffix(" WITH GRANT OPTION");
        if !granted.privileges.contains(&plain.unwrap_or(&upper)) {
            let message = format!("unrecognized privilege type: \"{}\"", wanted.trim());
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
        any |= superuser || (open && plain.is_none());
    }
    some_bool(any)
}

fn privileges() -> Vec<ScalarFunction> {
    let (text, oid, name) = (SqlType::TEXT, SqlType::OID, SqlType::NAME);
    let mut all = Vec::new();
    for granted in &GRANTED {
        let objects = [Some(text), granted.exists.map(|_| oid)];
        for object in objects.into_iter().flatten() {
            for user in [None, Some(name), Some(oid)] {
                let arguments: Vec<SqlType> = user.into_iter().chain([object, text]).collect();
                let kernel = asked(granted, user.is_some());
                all.push(ScalarFunction::new(granted.name, &arguments, SqlType::BOOL, Stability::Stable, kernel));
            }
        }
    }
    all
}

fn asked(granted: &'static Granted, user_first: bool) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let context = call.context()?;
        let mut found = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let mut values = Vec::with_capacity(call.arguments.len());
            for array in call.arguments {
                values.push(ScalarValue::try_from_array(array, Call::row_of(array, row))?);
            }
            let arguments = Arguments(values);
            if arguments.0.iter().any(ScalarValue::is_null) {
                found.push(None);
                continue;
            }
            let user = if user_first { role(&context, &arguments, 0)? } else { context.role() };
            found.push(match holds(granted, &context, &arguments, user, usize::from(user_first))? {
                Some(Datum::Boolean(answer)) => answer,
                _ => None,
            });
        }
        Ok(Arc::new(BooleanArray::from(found)) as _)
    })
}
