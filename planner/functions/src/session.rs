//! Functions about the session: settings, transaction, process.

use super::kernel::{Call, Kernel, Stability};
use super::registry::ScalarFunction;
use super::typed::{Bool, Date, Float8, Int4, Int8, Interval, SqlRead, SqlWrite, Text, Timestamp, Timestamptz, Uuid};
use catalog::encoding::ColumnBuilder;
use catalog::predefined;
use context::StatementContext;
use context::activity::Backend;
use context::exported;
use context::link::Link;
use context::notice::Notice;
use context::private_settings::{private, sees_private};
use datafusion::arrow::array::{ArrayRef, StringArray};
use settings::registry;
use sql_error::{Result, SqlError, state};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use types::datetime::{timestamp_to_date, to_local, wall_clock};
use types::tid::{xid8_number, xid8_value};
use types::value::ValueRef;
use types::{BaseType, Oid, SqlType};

/// The answer of `version()`. Clients search it for `PostgreSQL` and a version.
const VERSION: &str = concat!("PostgreSQL 15.0 (PercoSQL ", env!("CARGO_PKG_VERSION"), ")");

fn no_recovery() -> SqlError {
    SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, "recovery is not in progress")
        .hint("Recovery control functions can only be executed during recovery.")
}

fn fill<R: SqlWrite>(call: &Call<'_>, value: impl Fn() -> Result<Option<R::Owned>>) -> Result<ArrayRef> {
    let mut builder = R::builder(call.rows);
    for _ in 0..call.rows {
        R::append(&mut builder, value()?)?;
    }
    Ok(R::finish(builder))
}

/// A function without arguments that reads the statement's context.
pub(super) fn of_context<R: SqlWrite>(value: fn(&StatementContext) -> Result<Option<R::Owned>>) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let context = call.context()?;
        fill::<R>(call, || value(&context))
    })
}

/// A strict function of one argument and the statement's context.
pub(super) fn with_context<A: SqlRead, R: SqlWrite>(
    value: impl for<'a> Fn(&StatementContext, A::Item<'a>) -> Result<Option<R::Owned>> + Send + Sync + 'static,
) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let context = call.context()?;
        let column = call.column::<A>(0)?;
        let mut builder = R::builder(call.rows);
        for row in 0..call.rows {
            let result = match column.get(row)? {
                Some(argument) => value(&context, argument)?,
                None => None,
            };
            R::append(&mut builder, result)?;
        }
        Ok(R::finish(builder))
    })
}

fn current_setting(context: &StatementContext, name: &str, missing_ok: bool) -> Result<Option<String>> {
    match context.session.settings().get(name) {
        Some(_) if registry::is_private(name) && !sees_private(&context.catalog, context.role()) => Err(private(name)),
        Some(value) => Ok(Some(value)),
        None if missing_ok => Ok(None),
        None => Err(SqlError::new(state::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\""))),
    }
}

/// Runs a future within a kernel and blocks this thread. The server's runtime has several threads.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    match tokio::runtime::Handle::try_current() {
        Ok(handle) => tokio::task::block_in_place(|| handle.block_on(future)),
        Err(_) => futures::executor::block_on(future),
    }
}

fn sleep(call: &Call<'_>, seconds: f64) -> Result<()> {
    // Sleep in steps, so that a cancelled statement, or one that ended (without a context), stops sleeping.
    let mut left = seconds.clamp(0.0, 1e9);
    while left > 0.0 && !call.context()?.session.cancel.is_cancelled() {
        let step = left.min(0.05);
        wait(tokio::time::sleep(Duration::from_secs_f64(step)));
        left -= step;
    }
    Ok(())
}

/// A function that sleeps, for each row, the number of seconds that `seconds` returns.
fn sleeping(
    name: &'static str,
    argument: SqlType,
    seconds: fn(&Call<'_>, usize) -> Result<Option<f64>>,
) -> ScalarFunction {
    let kernel = move |call: &Call<'_>| {
        for row in 0..call.rows {
            if let Some(seconds) = seconds(call, row)? {
                sleep(call, seconds)?;
            }
        }
        Ok(Arc::new(datafusion::arrow::array::NullArray::new(call.rows)) as _)
    };
    let void = SqlType::of(BaseType::Void);
    ScalarFunction::new(name, &[argument], void, Stability::Volatile, Arc::new(kernel))
}

/// pg_notify: sends a notification at COMMIT. Errors: 22023.
fn notify() -> ScalarFunction {
    let kernel = move |call: &Call<'_>| {
        let context = call.context()?;
        let (channels, payloads) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
        for row in 0..call.rows {
            let (channel, payload) = (channels.get(row)?, payloads.get(row)?);
            let mut said = context.session.said.lock();
            said.notify(channel.unwrap_or_default(), payload.unwrap_or_default())?;
        }
        Ok(Arc::new(datafusion::arrow::array::NullArray::new(call.rows)) as _)
    };
    let void = SqlType::of(BaseType::Void);
    ScalarFunction::new("pg_notify", &[SqlType::TEXT, SqlType::TEXT], void, Stability::Volatile, Arc::new(kernel))
}

/// Checks that the role may signal a session of `owner`. It must be able to act for `owner` or for pg_signal_backend. A
/// superuser's session requires a superuser. Errors: 42501.
fn may_signal(context: &StatementContext, owner: Oid, function: &str) -> Result<()> {
    let (catalog, user) = (&context.catalog, context.role());
    let cancels = function.contains("cancel");
    let message = if catalog.is_superuser(user) {
        return Ok(());
    } else if catalog.is_superuser(owner) {
        let what = if cancels { "cancel superuser query" } else { "terminate superuser process" };
        format!("must be a superuser to {what}")
    } else {
        let roles = catalog.acts_for(user);
        if roles.contains(&owner) || roles.contains(&predefined::SIGNAL_BACKEND) {
            return Ok(());
        }
        let what = if cancels { "query is being canceled" } else { "process is being terminated" };
        format!("must be a member of the role whose {what} or member of pg_signal_backend")
    };
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
}

/// A function that signals the session of a process id. False, with a warning, if there is none. Errors: 42501.
fn signal(name: &'static str, act: fn(&Backend)) -> ScalarFunction {
    let kernel = move |call: &Call<'_>| {
        let context = call.context()?;
        let pids = call.column::<Int4>(0)?;
        let mut done = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let Some(pid) = pids.get(row)? else {
                done.push(None);
                continue;
            };
            let session = &context.session;
            let Some(found) = session.database()?.activities().find(pid) else {
                let message = format!("PID {pid} is not a PostgreSQL backend process");
                session.notify(Notice::warning(state::WARNING, message));
                done.push(Some(false));
                continue;
            };
            may_signal(&context, found.backend.user.0, name)?;
            act(&found.backend);
            done.push(Some(true));
        }
        Ok(Arc::new(datafusion::arrow::array::BooleanArray::from(done)) as _)
    };
    ScalarFunction::new(name, &[SqlType::INT4], SqlType::BOOL, Stability::Volatile, Arc::new(kernel))
}

/// One end of the client's connection. `None` if the session has no client.
fn end(context: &StatementContext, of: fn(&Link) -> Option<SocketAddr>) -> Option<SocketAddr> {
    let database = context.session.database().ok()?;
    of(&database.activities().find(context.session.backend_pid)?.backend.link)
}

/// The address of an end as text, because the type inet does not exist here.
fn address(name: &'static str, of: fn(&Link) -> Option<SocketAddr>) -> ScalarFunction {
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let context = call.context()?;
        fill::<Text>(call, || Ok(end(&context, of).map(|at| at.ip().to_canonical().to_string())))
    });
    ScalarFunction::new(name, &[], SqlType::TEXT, Stability::Stable, kernel)
}

/// The port of an end as an int4.
fn port(name: &'static str, of: fn(&Link) -> Option<SocketAddr>) -> ScalarFunction {
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let context = call.context()?;
        fill::<Int4>(call, || Ok(end(&context, of).map(|at| i32::from(at.port()))))
    });
    ScalarFunction::new(name, &[], SqlType::INT4, Stability::Stable, kernel)
}

fn schemas(context: &StatementContext, implicit: bool) -> Vec<String> {
    let settings = &context.settings;
    if implicit {
        return context.catalog.effective_path(settings.search_path()).into_iter().map(str::to_string).collect();
    }
    settings.creation_path().iter().filter(|schema| context.catalog.schema(schema).is_some()).cloned().collect()
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, int4, boolean) = (SqlType::TEXT, SqlType::INT4, SqlType::BOOL);
    let (stable, volatile) = (Stability::Stable, Stability::Volatile);
    let names = SqlType::NAME.array_of();
    let mut all = vec![
        ScalarFunction::new("version", &[], text, stable, of_context::<Text>(|_| Ok(Some(VERSION.to_string())))),
        ScalarFunction::new(
            "pg_backend_pid",
            &[],
            int4,
            stable,
            of_context::<Int4>(|context| Ok(Some(context.session.backend_pid))),
        ),
        ScalarFunction::new(
            "pg_export_snapshot",
            &[],
            text,
            volatile,
            of_context::<Text>(|context| Ok(Some(exported::name(wait(context.transaction.snapshot_ts())?)))),
        ),
        ScalarFunction::new("pg_is_in_recovery", &[], boolean, stable, of_context::<Bool>(|_| Ok(Some(false)))),
        ScalarFunction::new(
            "pg_is_wal_replay_paused",
            &[],
            boolean,
            volatile,
            of_context::<Bool>(|_| Err(no_recovery())),
        ),
        ScalarFunction::new(
            "pg_get_wal_replay_pause_state",
            &[],
            text,
            volatile,
            of_context::<Text>(|_| Err(no_recovery())),
        ),
        address("inet_client_addr", |link| link.client),
        address("inet_server_addr", |link| link.server),
        port("inet_client_port", |link| link.client),
        port("inet_server_port", |link| link.server),
        ScalarFunction::new(
            "current_database",
            &[],
            SqlType::NAME,
            stable,
            of_context::<Text>(|context| Ok(Some(context.session.database_name.clone()))),
        ),
        ScalarFunction::new(
            "current_schema",
            &[],
            SqlType::NAME,
            stable,
            of_context::<Text>(|context| Ok(schemas(context, false).into_iter().next())),
        ),
        ScalarFunction::new(
            "current_schemas",
            &[boolean],
            names,
            stable,
            Arc::new(move |call: &Call<'_>| {
                let context = call.context()?;
                let implicit = call.column::<Bool>(0)?;
                let mut builder = ColumnBuilder::new(names, call.rows);
                for row in 0..call.rows {
                    match implicit.get(row)? {
                        Some(implicit) => {
                            builder
                                .append(&ValueRef::array(Arc::new(StringArray::from(schemas(&context, implicit)))))?;
                        }
                        None => builder.append_null(),
                    }
                }
                builder.finish()
            }),
        ),
        ScalarFunction::new(
            "pg_my_temp_schema",
            &[],
            SqlType::OID,
            stable,
            of_context::<Int8>(|context| {
                let schema = context.settings.temporary().and_then(|name| context.catalog.schema(name));
                Ok(Some(schema.map_or(0, |schema| i64::from(schema.oid))))
            }),
        ),
        ScalarFunction::new(
            "current_setting",
            &[text],
            text,
            stable,
            with_context::<Text, Text>(|context, name: &str| current_setting(context, name, false)),
        ),
        ScalarFunction::new(
            "current_setting",
            &[text, boolean],
            text,
            stable,
            Arc::new(|call: &Call<'_>| {
                let context = call.context()?;
                let (names, missing) = (call.column::<Text>(0)?, call.column::<Bool>(1)?);
                let mut builder = Text::builder(call.rows);
                for row in 0..call.rows {
                    let value = match (names.get(row)?, missing.get(row)?) {
                        (Some(name), Some(missing)) => current_setting(&context, name, missing)?,
                        _ => None,
                    };
                    Text::append(&mut builder, value)?;
                }
                Ok(Text::finish(builder))
            }),
        ),
        ScalarFunction::new(
            "set_config",
            &[text, text, boolean],
            text,
            volatile,
            Arc::new(|call: &Call<'_>| {
                let context = call.context()?;
                let (names, values, local) =
                    (call.column::<Text>(0)?, call.column::<Text>(1)?, call.column::<Bool>(2)?);
                let mut builder = Text::builder(call.rows);
                for row in 0..call.rows {
                    let Some(name) = names.get(row)? else {
                        return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, "SET requires parameter name"));
                    };
                    let local = local.get(row)?.unwrap_or(false);
                    let set = match values.get(row)? {
                        Some(value) => context.session.set_config(name, value, local)?,
                        None => context.session.reset_config(name, local)?,
                    };
                    Text::append(&mut builder, Some(set))?;
                }
                Ok(Text::finish(builder))
            }),
        ),
        ScalarFunction::new(
            "gen_random_uuid",
            &[],
            SqlType::UUID,
            volatile,
            Arc::new(|call: &Call<'_>| fill::<Uuid>(call, || Ok(Some(*uuid::Uuid::new_v4().as_bytes())))),
        ),
        ScalarFunction::new(
            "clock_timestamp",
            &[],
            SqlType::TIMESTAMPTZ,
            volatile,
            Arc::new(|call: &Call<'_>| fill::<Timestamptz>(call, || Ok(Some(wall_clock())))),
        ),
        ScalarFunction::new(
            "statement_timestamp",
            &[],
            SqlType::TIMESTAMPTZ,
            stable,
            of_context::<Timestamptz>(|context| Ok(Some(context.statement_time))),
        ),
        signal("pg_cancel_backend", |backend| backend.cancel.cancel()),
        signal("pg_terminate_backend", |backend| {
            backend.terminate.cancel();
            backend.cancel.cancel();
        }),
        notify(),
        sleeping("pg_sleep", SqlType::FLOAT8, |call, row| call.column::<Float8>(0)?.get(row)),
    ];
    all.push(ScalarFunction::new(
        "pg_client_encoding",
        &[],
        SqlType::NAME,
        stable,
        of_context::<Text>(|context| Ok(context.settings.get("client_encoding"))),
    ));
    all.push(sleeping("pg_sleep_for", SqlType::INTERVAL, |call, row| {
        let span = call.column::<Interval>(0)?.get(row)?;
        Ok(span.map(|span| span.span() as f64 / 1e6))
    }));
    all.push(sleeping("pg_sleep_until", SqlType::TIMESTAMPTZ, |call, row| {
        let until = call.column::<Timestamptz>(0)?.get(row)?;
        Ok(until.map(|until| until.saturating_sub(wall_clock()) as f64 / 1e6))
    }));
    all.push(ScalarFunction::new(
        "current_date",
        &[],
        SqlType::DATE,
        stable,
        of_context::<Date>(|context| {
            let local = to_local(context.transaction_time, context.settings.time_zone());
            Ok(Some(timestamp_to_date(local)))
        }),
    ));
    all.push(ScalarFunction::new(
        "localtimestamp",
        &[],
        SqlType::TIMESTAMP,
        stable,
        of_context::<Timestamp>(|context| Ok(Some(to_local(context.transaction_time, context.settings.time_zone())))),
    ));
    for name in ["now", "transaction_timestamp", "current_timestamp"] {
        all.push(ScalarFunction::new(
            name,
            &[],
            SqlType::TIMESTAMPTZ,
            stable,
            of_context::<Timestamptz>(|context| Ok(Some(context.transaction_time))),
        ));
    }
    all.extend(transactions());
    all
}

/// The transaction's id. A transaction that has written nothing gets one only if it `must`.
fn transaction_id(context: &StatementContext, must: bool) -> Result<Option<u64>> {
    if !must && !context.transaction.has_writes() {
        return Ok(None);
    }
    Ok(Some(wait(context.transaction.start_ts())?.0))
}

/// Functions for the ids and states of transactions: the names before PostgreSQL 13 (int8) and those since (xid8).
fn transactions() -> Vec<ScalarFunction> {
    let (int8, xid8) = (SqlType::INT8, SqlType::of(BaseType::Xid8));
    let current = |name, ty, value| ScalarFunction::new(name, &[], ty, Stability::Stable, of_context::<Int8>(value));
    let mut all = vec![
        current("txid_current", int8, |context| {
            Ok(transaction_id(context, true)?.and_then(|number| i64::try_from(number).ok()))
        }),
        current("txid_current_if_assigned", int8, |context| {
            Ok(transaction_id(context, false)?.and_then(|number| i64::try_from(number).ok()))
        }),
        current("pg_current_xact_id", xid8, |context| Ok(transaction_id(context, true)?.map(xid8_value))),
        current("pg_current_xact_id_if_assigned", xid8, |context| Ok(transaction_id(context, false)?.map(xid8_value))),
    ];
    for (name, ty) in [("txid_status", int8), ("pg_xact_status", xid8)] {
        all.push(ScalarFunction::new(
            name,
            &[ty],
            SqlType::TEXT,
            Stability::Volatile,
            with_context::<Int8, Text>(move |context, id: i64| {
                let shown = if ty == xid8 { xid8_number(id).to_string() } else { id.to_string() };
                let future = || {
                    let what = format!("transaction ID {shown} is in the future");
                    SqlError::new(state::INVALID_PARAMETER_VALUE, what)
                };
                let start_ts = if ty == xid8 { xid8_number(id) } else { u64::try_from(id).map_err(|_| future())? };
                let status = match wait(context.transaction.outcome_of(storage::Timestamp(start_ts))) {
                    Err(txn::TxnError::Invalid(_)) => return Err(future()),
                    outcome => match outcome? {
                        txn::Outcome::Committed(_) => "committed",
                        txn::Outcome::Aborted => "aborted",
                        txn::Outcome::InProgress => "in progress",
                        txn::Outcome::Forgotten => return Ok(None),
                    },
                };
                Ok(Some(status.to_string()))
            }),
        ));
    }
    all
}
