//! The functions of large objects (manual, 35). The module `large_object` stores them.

use super::kernel::{Call, Kernel, Stability};
use super::registry::ScalarFunction;
use super::session::wait;
use catalog::acl::{Rights, SELECT, UPDATE};
use context::StatementContext;
use context::large_object::{Descriptor, LARGEST, LargeObject, LargeObjects};
use datafusion::arrow::array::{ArrayRef, NullArray, new_empty_array};
use datafusion::common::ScalarValue;
use futures::FutureExt;
use futures::future::BoxFuture;
use sql_error::value_size;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::{Datum, Oid, SqlType};

/// The mode of lo_open for reading.
const INV_READ: i32 = 0x4_0000;
/// The mode of lo_open for writing, which includes reading.
const INV_WRITE: i32 = 0x2_0000;
/// Most bytes that one call reads: the maximal size of a value.
const MOST_READ: i64 = value_size::MOST as i64;
/// Smaller reads reserve their full size without asking for the object's size.
const SMALL_READ: i64 = 1 << 20;

fn invalid(message: String) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// The arguments of one row, none of which is NULL.
struct Arguments(Vec<Datum>);

impl Arguments {
    fn whole(&self, at: usize) -> Result<i64> {
        match self.0.get(at) {
            Some(Datum::Int32(Some(value))) => Ok(i64::from(*value)),
            Some(Datum::Int64(Some(value))) => Ok(*value),
            other => Err(SqlError::internal(format!("{other:?} as a number of a large object"))),
        }
    }
    fn oid(&self, at: usize) -> Result<Oid> {
        Oid::try_from(self.whole(at)?).map_err(|_| super::cast_kernel::out_of_range("OID"))
    }
    fn int(&self, at: usize) -> Result<i32> {
        i32::try_from(self.whole(at)?).map_err(|_| super::cast_kernel::out_of_range("integer"))
    }
    fn bytes(&self, at: usize) -> Result<&[u8]> {
        match self.0.get(at) {
            Some(Datum::LargeBinary(Some(bytes))) => Ok(bytes),
            other => Err(SqlError::internal(format!("{other:?} as bytes of a large object"))),
        }
    }
}

/// The action of a function for one row.
type Run = for<'a> fn(&'a StatementContext, &'a Arguments) -> BoxFuture<'a, Result<Datum>>;

fn kernel(run: Run) -> Kernel {
    Arc::new(move |call: &Call<'_>| -> Result<ArrayRef> {
        let context = call.context()?;
        let ty = call.result.arrow();
        let null = ScalarValue::try_from(&ty)?;
        let mut results = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let arguments = call
                .arguments
                .iter()
                .map(|array| Ok(ScalarValue::try_from_array(array, Call::row_of(array, row))?))
                .collect::<Result<Vec<_>>>()?;
            let is_null = arguments.iter().any(ScalarValue::is_null);
            results.push(if is_null { null.clone() } else { wait(run(&context, &Arguments(arguments)))? });
            context.session.check_interrupt()?;
        }
        if call.result == SqlType::VOID {
            return Ok(Arc::new(NullArray::new(call.rows)));
        }
        if results.is_empty() {
            return Ok(new_empty_array(&ty));
        }
        Ok(ScalarValue::iter_to_array(results)?)
    })
}

/// Checks that the transaction may write. Errors: 25006.
fn writable(context: &StatementContext, function: &str) -> Result<()> {
    if context.settings.transaction().read_only {
        let message = format!("cannot execute {function}() in a read-only transaction");
        return Err(SqlError::new(state::READ_ONLY_SQL_TRANSACTION, message));
    }
    Ok(())
}

/// Whether privileges on large objects are checked.
fn is_checked(context: &StatementContext) -> bool {
    context.settings.is_checked() && !context.settings.is_on("lo_compat_privileges")
}

/// Checks the role's privileges on a large object. Errors: 42501.
fn allowed(context: &StatementContext, oid: Oid, object: &LargeObject, rights: Rights) -> Result<()> {
    if !is_checked(context) || object.allows(&context.catalog, context.role(), rights) {
        return Ok(());
    }
    let message = format!("permission denied for large object {oid}");
    Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
}

/// Creates an object that the current role owns. 0 asks for a new OID. Errors: 23505.
async fn create(context: &StatementContext, wanted: Oid) -> Result<Oid> {
    let objects = LargeObjects::of(context);
    let mut oid = wanted;
    while oid == 0 {
        let next = context.session.database()?.catalog().numbers().oid().await?;
        // The user may have chosen that OID.
        if objects.find(next).await?.is_none() {
            oid = next;
        }
    }
    objects.create(oid, context.role()).await?;
    Ok(oid)
}

async fn open(context: &StatementContext, oid: Oid, mode: i32) -> Result<i32> {
    let (reads, writes) = (mode & INV_READ != 0, mode & INV_WRITE != 0);
    if !reads && !writes {
        return Err(invalid(format!("invalid flags for opening a large object: {mode}")));
    }
    if writes {
        writable(context, "lo_open(INV_WRITE)")?;
    }
    let objects = LargeObjects::of(context);
    let objects = if writes { objects } else { objects.before(context) };
    let object = objects.known(oid).await?;
    allowed(context, oid, &object, SELECT)?;
    if writes {
        allowed(context, oid, &object, UPDATE)?;
    }
    let seen = (!writes).then(|| (Arc::clone(&context.transaction), context.command));
    let descriptor = Descriptor { oid, place: 0, seen, opened: context.command };
    Ok(context.session.large_objects.lock().open(descriptor))
}

/// An open descriptor and the view of large objects that it reads.
fn opened(context: &StatementContext, number: i32) -> Result<(Descriptor, LargeObjects)> {
    let descriptor = context.session.large_objects.lock().get(number)?.clone();
    let objects = match &descriptor.seen {
        None => LargeObjects::of(context),
        Some((transaction, command)) => {
            LargeObjects::new(transaction, context.catalog.database().oid).before_command(*command)
        }
    };
    Ok((descriptor, objects))
}

/// Like [`opened`], for a descriptor opened for writing. Errors: 55000.
fn opened_to_write(context: &StatementContext, number: i32) -> Result<(Descriptor, LargeObjects)> {
    let (descriptor, objects) = opened(context, number)?;
    if descriptor.seen.is_some() {
        let message = format!("large object descriptor {number} was not opened for writing");
        return Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
    }
    Ok((descriptor, objects))
}

fn move_to(context: &StatementContext, number: i32, place: i64) -> Result<()> {
    context.session.large_objects.lock().get(number)?.place = place;
    Ok(())
}

async fn seek(context: &StatementContext, number: i32, offset: i64, whence: i32) -> Result<i64> {
    let (descriptor, objects) = opened(context, number)?;
    let from = match whence {
        0 => 0,
        1 => descriptor.place,
        2 => objects.size(descriptor.oid).await?,
        _ => return Err(invalid(format!("invalid whence setting: {whence}"))),
    };
    let place = checked_place(from.saturating_add(offset))?;
    move_to(context, number, place)?;
    Ok(place)
}

fn checked_place(place: i64) -> Result<i64> {
    match (0..=LARGEST).contains(&place) {
        true => Ok(place),
        false => Err(invalid(format!("invalid large object seek target: {place}"))),
    }
}

/// A position as an int4, for the older functions. Errors: 22003.
fn narrow(place: i64, function: &str, number: i32) -> Result<Datum> {
    let narrow = i32::try_from(place).map_err(|_| {
        let message = format!("{function} result out of range for large-object descriptor {number}");
        SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, message)
    })?;
    Ok(Datum::from(narrow))
}

/// Number of bytes to reserve for a read of `count` bytes at `from`.
async fn to_read(objects: &LargeObjects, oid: Oid, from: i64, count: i32) -> Result<i64> {
    let count = i64::from(count);
    if count <= SMALL_READ { Ok(count) } else { Ok(count.min(objects.size(oid).await?.saturating_sub(from))) }
}

async fn read(context: &StatementContext, number: i32, count: i32) -> Result<Datum> {
    let (descriptor, objects) = opened(context, number)?;
    let count = to_read(&objects, descriptor.oid, descriptor.place, count).await?;
    let count = usize::try_from(count).unwrap_or(0);
    value_size::room(count)?;
    let bytes = objects.read(descriptor.oid, descriptor.place, count).await?;
    move_to(context, number, descriptor.place.saturating_add(i64::try_from(bytes.len()).unwrap_or(0)))?;
    Ok(Datum::LargeBinary(Some(bytes)))
}

async fn write(context: &StatementContext, number: i32, bytes: &[u8]) -> Result<Datum> {
    writable(context, "lowrite")?;
    let (descriptor, objects) = opened_to_write(context, number)?;
    objects.write(descriptor.oid, descriptor.place, bytes).await?;
    move_to(context, number, descriptor.place.saturating_add(i64::try_from(bytes.len()).unwrap_or(0)))?;
    Ok(Datum::from(i32::try_from(bytes.len()).unwrap_or(i32::MAX)))
}

async fn truncate(context: &StatementContext, number: i32, length: i64, function: &str) -> Result<Datum> {
    writable(context, function)?;
    let (descriptor, objects) = opened_to_write(context, number)?;
    if !(0..=LARGEST).contains(&length) {
        return Err(invalid(format!("invalid large object truncation target: {length}")));
    }
    objects.truncate(descriptor.oid, length).await?;
    Ok(Datum::from(0))
}

async fn unlink(context: &StatementContext, oid: Oid) -> Result<Datum> {
    writable(context, "lo_unlink")?;
    let objects = LargeObjects::of(context);
    let object = objects.known(oid).await?;
    if is_checked(context) && !context.catalog.owns(context.role(), object.owner) {
        return Err(context::large_object::not_owner(oid));
    }
    context.session.large_objects.lock().close_object(oid);
    objects.unlink(oid).await?;
    Ok(Datum::from(1))
}

/// lo_get: the whole object, or a part of it, in the statement's snapshot.
async fn get(context: &StatementContext, oid: Oid, part: Option<(i64, i32)>) -> Result<Datum> {
    let objects = LargeObjects::of(context).before(context);
    let object = objects.known(oid).await?;
    allowed(context, oid, &object, SELECT)?;
    let (from, count) = match part {
        Some((from, count)) => {
            let from = checked_place(from)?;
            (from, to_read(&objects, oid, from, count).await?)
        }
        None => (0, objects.size(oid).await?),
    };
    if count > MOST_READ {
        return Err(invalid("large object read request is too large".to_string()));
    }
    let count = usize::try_from(count).unwrap_or(0);
    value_size::room(count)?;
    let bytes = objects.read(oid, from, count).await?;
    Ok(Datum::LargeBinary(Some(bytes)))
}

async fn put(context: &StatementContext, oid: Oid, at: i64, bytes: &[u8]) -> Result<Datum> {
    writable(context, "lo_put")?;
    let objects = LargeObjects::of(context);
    let object = objects.known(oid).await?;
    allowed(context, oid, &object, UPDATE)?;
    objects.write(oid, checked_place(at)?, bytes).await?;
    Ok(Datum::Null)
}

/// lo_import and lo_export, which would access the server's files. Errors: 42501, 0A000.
fn of_files(context: &StatementContext, function: &str) -> Result<Datum> {
    if !context.catalog.is_superuser(context.role()) {
        let message = format!("permission denied for function {function}");
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
    }
    Err(SqlError::unsupported(format!("{function} of a file of the server")))
}

fn of_oid(oid: Oid) -> Datum {
    Datum::Int64(Some(i64::from(oid)))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (oid, int4, int8, bytea, text) = (SqlType::OID, SqlType::INT4, SqlType::INT8, SqlType::BYTEA, SqlType::TEXT);
    let function = |name: &'static str, arguments: &[SqlType], result: SqlType, run: Run| {
        ScalarFunction::new(name, arguments, result, Stability::Volatile, kernel(run))
    };
    vec![
        function("lo_create", &[oid], oid, |context, given| {
            async move {
                writable(context, "lo_create")?;
                Ok(of_oid(create(context, given.oid(0)?).await?))
            }
            .boxed()
        }),
        function("lo_creat", &[int4], oid, |context, _| {
            async move {
                writable(context, "lo_creat")?;
                Ok(of_oid(create(context, 0).await?))
            }
            .boxed()
        }),
        function("lo_from_bytea", &[oid, bytea], oid, |context, given| {
            async move {
                writable(context, "lo_from_bytea")?;
                let oid = create(context, given.oid(0)?).await?;
                LargeObjects::of(context).write(oid, 0, given.bytes(1)?).await?;
                Ok(of_oid(oid))
            }
            .boxed()
        }),
        function("lo_open", &[oid, int4], int4, |context, given| {
            async move { Ok(Datum::from(open(context, given.oid(0)?, given.int(1)?).await?)) }.boxed()
        }),
        function("lo_close", &[int4], int4, |context, given| {
            async move {
                context.session.large_objects.lock().close(given.int(0)?)?;
                Ok(Datum::from(0))
            }
            .boxed()
        }),
        function("loread", &[int4, int4], bytea, |context, given| {
            async move { read(context, given.int(0)?, given.int(1)?).await }.boxed()
        }),
        function("lowrite", &[int4, bytea], int4, |context, given| {
            async move { write(context, given.int(0)?, given.bytes(1)?).await }.boxed()
        }),
        function("lo_lseek", &[int4, int4, int4], int4, |context, given| {
            async move {
                let place = seek(context, given.int(0)?, given.whole(1)?, given.int(2)?).await?;
                narrow(place, "lo_lseek", given.int(0)?)
            }
            .boxed()
        }),
        function("lo_lseek64", &[int4, int8, int4], int8, |context, given| {
            async move { Ok(Datum::from(seek(context, given.int(0)?, given.whole(1)?, given.int(2)?).await?)) }.boxed()
        }),
        function("lo_tell", &[int4], int4, |context, given| {
            async move { narrow(opened(context, given.int(0)?)?.0.place, "lo_tell", given.int(0)?) }.boxed()
        }),
        function("lo_tell64", &[int4], int8, |context, given| {
            async move { Ok(Datum::from(opened(context, given.int(0)?)?.0.place)) }.boxed()
        }),
        function("lo_truncate", &[int4, int4], int4, |context, given| {
            async move { truncate(context, given.int(0)?, given.whole(1)?, "lo_truncate").await }.boxed()
        }),
        function("lo_truncate64", &[int4, int8], int4, |context, given| {
            async move { truncate(context, given.int(0)?, given.whole(1)?, "lo_truncate64").await }.boxed()
        }),
        function("lo_unlink", &[oid], int4, |context, given| {
            async move { unlink(context, given.oid(0)?).await }.boxed()
        }),
        function("lo_get", &[oid], bytea, |context, given| {
            async move { get(context, given.oid(0)?, None).await }.boxed()
        }),
        function("lo_get", &[oid, int8, int4], bytea, |context, given| {
            async move {
                let count = given.int(2)?;
                if count < 0 {
                    return Err(invalid("requested length cannot be negative".to_string()));
                }
                get(context, given.oid(0)?, Some((given.whole(1)?, count))).await
            }
            .boxed()
        }),
        function("lo_put", &[oid, int8, bytea], SqlType::VOID, |context, given| {
            async move { put(context, given.oid(0)?, given.whole(1)?, given.bytes(2)?).await }.boxed()
        }),
        function("lo_import", &[text], oid, |context, _| async move { of_files(context, "lo_import") }.boxed()),
        function("lo_import", &[text, oid], oid, |context, _| async move { of_files(context, "lo_import") }.boxed()),
        function("lo_export", &[oid, text], int4, |context, _| async move { of_files(context, "lo_export") }.boxed()),
    ]
}
