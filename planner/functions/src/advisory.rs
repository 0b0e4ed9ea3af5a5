//! Advisory locks (manual, 9.27.10). The session holds the locks.

use super::kernel::{Call, Stability};
use super::registry::ScalarFunction;
use super::session::wait;
use super::typed::{Int4, Int8};
use context::StatementContext;
use context::advisory::{AdvisoryKey, AdvisoryLocks, not_owned};
use datafusion::arrow::array::{ArrayRef, BooleanArray, NullArray};
use sql_error::{Result, SqlError};
use std::sync::Arc;
use std::time::Duration;
use txn::locks::LockWait;
use types::{BaseType, SqlType};

/// Interval at which a waiting statement checks for cancellation.
const LOOK: Duration = Duration::from_millis(20);

fn locks(context: &StatementContext) -> Result<&AdvisoryLocks> {
    if !context.transaction.can_lock_rows() {
        return Err(SqlError::unsupported("advisory locks on this store"));
    }
    context.session.advisory().ok_or_else(|| SqlError::internal("a session without locks"))
}

/// The lock key in a row of the arguments. `None` if an argument is NULL.
fn key(call: &Call<'_>, context: &StatementContext, row: usize) -> Result<Option<AdvisoryKey>> {
    let database = context.session.database_oid;
    if call.arguments.len() == 1 {
        return Ok(call.column::<Int8>(0)?.get(row)?.map(|number| AdvisoryKey::one(database, number)));
    }
    let numbers = (call.column::<Int4>(0)?.get(row)?, call.column::<Int4>(1)?.get(row)?);
    Ok(match numbers {
        (Some(first), Some(second)) => Some(AdvisoryKey::two(database, first, second)),
        _ => None,
    })
}

/// The action of a function on a lock key.
#[derive(Clone, Copy)]
struct Act {
    shared: bool,
    of_transaction: bool,
    tries: bool,
}

fn lock(call: &Call<'_>, context: &StatementContext, key: AdvisoryKey, act: Act) -> Result<bool> {
    let locks = locks(context)?;
    let command = act.of_transaction.then_some(context.command);
    let patience = if act.tries { LockWait::No } else { LockWait::For(context.settings.lock_timeout()) };
    wait(async {
        let taken = locks.lock(key, act.shared, command, patience);
        tokio::pin!(taken);
        loop {
            let look = tokio::time::sleep(LOOK);
            tokio::pin!(look);
            match futures::future::select(taken.as_mut(), look).await {
                futures::future::Either::Left((taken, _)) => return taken,
                // A statement that has ended has no context any more.
                futures::future::Either::Right(_) => call.context()?.session.check_interrupt()?,
            }
        }
    })
}

fn taking(name: &'static str, arguments: &[SqlType], act: Act) -> ScalarFunction {
    let kernel = move |call: &Call<'_>| {
        let context = call.context()?;
        let mut taken = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            taken.push(match key(call, &context, row)? {
                Some(key) => Some(lock(call, &context, key, act)?),
                None => None,
            });
        }
        Ok(if act.tries {
            Arc::new(BooleanArray::from(taken)) as ArrayRef
        } else {
            Arc::new(NullArray::new(call.rows))
        })
    };
    let result = if act.tries { SqlType::BOOL } else { SqlType::of(BaseType::Void) };
    ScalarFunction::new(name, arguments, result, Stability::Volatile, Arc::new(kernel))
}

fn giving_back(name: &'static str, arguments: &[SqlType], shared: bool) -> ScalarFunction {
    let kernel = move |call: &Call<'_>| {
        let context = call.context()?;
        let locks = locks(&context)?;
        let mut done = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let Some(key) = key(call, &context, row)? else {
                done.push(None);
                continue;
            };
            let held = locks.unlock(key, shared);
            if !held {
                context.session.notify(not_owned(shared));
            }
            done.push(Some(held));
        }
        Ok(Arc::new(BooleanArray::from(done)) as ArrayRef)
    };
    ScalarFunction::new(name, arguments, SqlType::BOOL, Stability::Volatile, Arc::new(kernel))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (one, two) = ([SqlType::INT8], [SqlType::INT4, SqlType::INT4]);
    let mut all = Vec::new();
    for arguments in [&one[..], &two[..]] {
        for (name, tries, of_transaction, shared) in [
            ("pg_advisory_lock", false, false, false),
            ("pg_advisory_lock_shared", false, false, true),
            ("pg_advisory_xact_lock", false, true, false),
            ("pg_advisory_xact_lock_shared", false, true, true),
            ("pg_try_advisory_lock", true, false, false),
            ("pg_try_advisory_lock_shared", true, false, true),
            ("pg_try_advisory_xact_lock", true, true, false),
            ("pg_try_advisory_xact_lock_shared", true, true, true),
        ] {
            all.push(taking(name, arguments, Act { shared, of_transaction, tries }));
        }
        all.push(giving_back("pg_advisory_unlock", arguments, false));
        all.push(giving_back("pg_advisory_unlock_shared", arguments, true));
    }
    let all_of_session = |call: &Call<'_>| {
        let context = call.context()?;
        locks(&context)?.unlock_all();
        Ok(Arc::new(NullArray::new(call.rows)) as ArrayRef)
    };
    let void = SqlType::of(BaseType::Void);
    all.push(ScalarFunction::new("pg_advisory_unlock_all", &[], void, Stability::Volatile, Arc::new(all_of_session)));
    all
}
