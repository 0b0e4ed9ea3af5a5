//! nextval, currval, lastval and setval. The catalog implements them.

use super::TypedExpr;
use super::kernel::{Call, KernelFunction, Stability};
use super::registry::ScalarFunction;
use super::session::{of_context, with_context};
use super::typed::{Bool, Int8, SqlWrite};
use catalog::Persistence;
use catalog::acl::{Kind, Rights, SELECT, UPDATE, USAGE};
use context::{Slots, StatementContext};
use datafusion::logical_expr::Expr;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::{Datum, Oid, SqlType};

fn oid(value: i64) -> Result<Oid> {
    Oid::try_from(value).map_err(|_| super::cast_kernel::out_of_range("OID"))
}

/// Checks that the transaction may change a sequence. In a read-only transaction, only temporary sequences are allowed.
fn writable(context: &StatementContext, sequence: Oid, what: &str) -> Result<()> {
    let temporary = || {
        let found = context.catalog.relation_by_oid(sequence);
        found.is_some_and(|sequence| sequence.persistence == Persistence::Temporary)
    };
    if context.settings.transaction().read_only && !temporary() {
        return Err(SqlError::new(
            state::READ_ONLY_SQL_TRANSACTION,
            format!("cannot execute {what} in a read-only transaction"),
        ));
    }
    Ok(())
}

/// Checks that the role has one of these privileges on a sequence. Errors: 42501.
fn allowed(context: &StatementContext, sequence: Oid, rights: Rights) -> Result<()> {
    if !context.settings.is_checked() {
        return Ok(());
    }
    let Some(table) = context.catalog.relation_by_oid(sequence) else { return Ok(()) };
    let held = context.catalog.rights(context.role(), Kind::Sequence, table.owner, table.acl.as_ref(), rights);
    if held != 0 || table.sequence.is_none() {
        return Ok(());
    }
    let message = format!("permission denied for sequence {}", table.name);
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
}

/// The next value of an identity column's sequence. The privilege to insert suffices, and SQL cannot call this.
pub fn next_identity(sequence: Oid, slots: &Arc<Slots>) -> TypedExpr {
    let kernel = with_context::<Int8, Int8>(|context, sequence| {
        writable(context, oid(sequence)?, "nextval()")?;
        let store = context.session.database()?.catalog();
        store.sequences().next_value(context, oid(sequence)?).map(Some)
    });
    let (types, slots) = (vec![SqlType::REGCLASS], Some(Arc::clone(slots)));
    let next = KernelFunction::new("nextval", types, SqlType::INT8, Stability::Volatile, kernel, slots);
    next.call(vec![Expr::Literal(Datum::Int64(Some(i64::from(sequence))), None)])
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (int8, regclass) = (SqlType::INT8, SqlType::REGCLASS);
    let volatile = Stability::Volatile;
    let set_value = |call: &Call<'_>| {
        let context = call.context()?;
        let (sequences, values) = (call.column::<Int8>(0)?, call.column::<Int8>(1)?);
        let called = if call.arguments.len() > 2 { Some(call.column::<Bool>(2)?) } else { None };
        let mut builder = Int8::builder(call.rows);
        for row in 0..call.rows {
            let called = match &called {
                Some(called) => called.get(row)?,
                None => Some(true),
            };
            let result = match (sequences.get(row)?, values.get(row)?, called) {
                (Some(sequence), Some(value), Some(called)) => {
                    writable(&context, oid(sequence)?, "setval()")?;
                    allowed(&context, oid(sequence)?, UPDATE)?;
                    let store = context.session.database()?.catalog();
                    Some(store.sequences().set_value(context.as_ref(), oid(sequence)?, value, called)?)
                }
                _ => None,
            };
            Int8::append(&mut builder, result)?;
        }
        Ok(Int8::finish(builder))
    };
    vec![
        ScalarFunction::new(
            "nextval",
            &[regclass],
            int8,
            volatile,
            with_context::<Int8, Int8>(|context, sequence| {
                writable(context, oid(sequence)?, "nextval()")?;
                allowed(context, oid(sequence)?, USAGE | UPDATE)?;
                let store = context.session.database()?.catalog();
                store.sequences().next_value(context, oid(sequence)?).map(Some)
            }),
        ),
        ScalarFunction::new(
            "currval",
            &[regclass],
            int8,
            volatile,
            with_context::<Int8, Int8>(|context, sequence| {
                allowed(context, oid(sequence)?, USAGE | SELECT)?;
                let store = context.session.database()?.catalog();
                store.sequences().current_value(context, oid(sequence)?).map(Some)
            }),
        ),
        ScalarFunction::new(
            "lastval",
            &[],
            int8,
            volatile,
            of_context::<Int8>(|context| {
                let store = context.session.database()?.catalog();
                store.sequences().last_value(context).map(Some)
            }),
        ),
        ScalarFunction::new("setval", &[regclass, int8], int8, volatile, Arc::new(set_value)),
        ScalarFunction::new("setval", &[regclass, int8, SqlType::BOOL], int8, volatile, Arc::new(set_value)),
    ]
}
