//! Limits the size of a value, and accounts for the memory of large values.
//!
//! Every function that builds a value calls [`room`] before it allocates. `room` refuses what PostgreSQL refuses
//! (54000). It claims the memory of a large value from the pool of the current statement (53200). The claim lasts
//! until the function returns. `counted` then ties a claim to the buffers of the result, so a large value counts for
//! as long as it lives.
//!
//! While a plan is made ([`folding`]) no large constant is computed: a plan would hold it, and each rule would copy it.

use crate::interrupt::{self, Steps};
use crate::{Result, SqlError, state};
use arrow::array::{Array, ArrayRef, AsArray, GenericByteArray};
use arrow::buffer::Buffer;
use arrow::datatypes::{ArrowNativeType, BinaryType, ByteArrayType, DataType, LargeBinaryType, Utf8Type};
use bytes::Bytes;
use datafusion_common::Result as DataFusionResult;
use datafusion_common::ScalarValue;
use datafusion_execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion_expr_common::columnar_value::ColumnarValue;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::sync::Arc;
use std::task::Poll;

/// The greatest size of a value in bytes: PostgreSQL's allocation limit less the header of a text or bytea.
pub const MOST: usize = 0x3fff_ffff - 4;
/// A value of at least this many bytes is counted.
const LARGE: usize = 1 << 20;
/// Smaller values are counted together, one step for each such number of bytes.
const MUCH: usize = 16 << 20;
/// The greatest constant in bytes that a plan may hold.
const FOLDED: usize = 1 << 20;

thread_local! {
    /// The claims of the function that runs on this thread. `None` if no function would release them.
    static CLAIMED: RefCell<Option<Claims>> = const { RefCell::new(None) };
    static FOLDING: Cell<Folding> = const { Cell::new(Folding::No) };
}

/// Empty until the function asks for a large value.
type Claims = Option<MemoryReservation>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Folding {
    No,
    Yes,
    /// A value was too large for a plan.
    Deferred,
}

/// 54000 for one value.
pub fn too_long() -> SqlError {
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// Call this before building a value of `bytes` bytes. Errors: 54000, 53200. While a plan is made, a large value is
/// refused, which defers the computation to run time.
#[inline]
pub fn room(bytes: usize) -> Result<()> {
    room_to_grow(0, bytes)
}

/// The same for a value that grows from `before` bytes, for which room was claimed already.
#[inline]
pub fn room_to_grow(before: usize, bytes: usize) -> Result<()> {
    if bytes > MOST {
        return Err(too_long());
    }
    if bytes > FOLDED {
        defer()?;
    }
    if bytes < LARGE {
        return Ok(());
    }
    claim_more(bytes - if before < LARGE { 0 } else { before.min(bytes) })
}

/// The same for a further value of a column that holds `before` bytes already.
#[inline]
pub fn room_among(before: usize, bytes: usize) -> Result<()> {
    room(bytes)?;
    // Many values just below the limit add up. A large value was counted by itself.
    if bytes < LARGE && before.saturating_add(bytes) / MUCH > before / MUCH {
        claim_more(MUCH)?;
    }
    Ok(())
}

/// Claims working memory of a function until dropped.
#[must_use]
pub struct Scratch(#[allow(dead_code)] Claims);

/// Call this before a function allocates working memory. The memory counts until the result is dropped. Errors: 53200.
pub fn scratch(bytes: usize) -> Result<Scratch> {
    Ok(Scratch(if bytes < LARGE { None } else { claim(bytes)? }))
}

/// The same for memory that the function holds until it returns.
pub fn scratch_to_the_end(bytes: usize) -> Result<()> {
    if bytes < LARGE { Ok(()) } else { claim_more(bytes) }
}

fn claim_more(bytes: usize) -> Result<()> {
    CLAIMED.with_borrow_mut(|claimed| match claimed {
        Some(Some(claimed)) => Ok(claimed.try_grow(bytes)?),
        Some(claimed) => {
            *claimed = claim(bytes)?;
            Ok(())
        }
        None => Ok(()),
    })
}

/// Call this before adding a value to a column that holds `before` bytes. Errors: those of [`room`], and 54000 if a
/// batch of rows cannot hold more bytes.
pub fn room_behind(before: usize, bytes: usize) -> Result<()> {
    room_among(before, bytes)?;
    // A batch addresses its text bytes with 32 bits.
    if before.saturating_add(bytes) > i32::MAX as usize { Err(too_many()) } else { Ok(()) }
}

/// 54000 for the values of a batch together.
pub fn too_many() -> SqlError {
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, TOO_MANY).detail("A batch of rows holds 2 GiB of each column at most.")
}

const TOO_MANY: &str = "the values of a column are too long together";

/// Whether a smaller batch of rows may succeed after this error.
pub fn is_of_batch(error: &SqlError) -> bool {
    error.state() == state::OUT_OF_MEMORY || error.fields().message == TOO_MANY
}

/// Repeats a value for `rows` rows. Errors: 54000, 53200.
pub fn repeated(value: ColumnarValue, rows: usize) -> Result<ArrayRef> {
    let ColumnarValue::Scalar(scalar) = &value else { return Ok(value.into_array(rows)?) };
    let bytes = match scalar {
        ScalarValue::Utf8(Some(text)) => text.len(),
        ScalarValue::Binary(Some(bytes)) | ScalarValue::LargeBinary(Some(bytes)) => bytes.len(),
        _ => 0,
    };
    let bytes = bytes.saturating_mul(rows);
    if bytes < LARGE {
        return Ok(value.into_array(rows)?);
    }
    if bytes > i32::MAX as usize {
        return Err(too_many());
    }
    called(|| {
        CLAIMED.set(Some(claim(bytes)?));
        Ok(value.into_array(rows)?)
    })
}

/// The value of a one-element array, for operators that use it for every row. A scalar is not counted. Errors: 53200.
pub fn scalar(array: &ArrayRef) -> Result<ScalarValue> {
    /// Copies that exist at once: a comparison makes two more.
    const COPIES: usize = 3;
    let bytes = bytes_of(array.as_ref());
    // The scalar cannot be counted longer than this call. Without room the work does not begin.
    let _room = scratch(bytes.saturating_mul(COPIES))?;
    Ok(ScalarValue::try_from_array(array, 0)?)
}

/// Claims memory from the pool of the current statement. Errors: 53200.
fn claim(bytes: usize) -> Result<Claims> {
    let Some(pool) = interrupt::memory() else { return Ok(None) };
    let claim = MemoryConsumer::new("Values").register(&pool);
    claim.try_grow(bytes)?;
    Ok(Some(claim))
}

/// Errors while a plan is made.
fn defer() -> Result<()> {
    if FOLDING.get() == Folding::No {
        return Ok(());
    }
    FOLDING.set(Folding::Deferred);
    Err(SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "a constant is too large for a plan"))
}

/// Runs planning code. The flag tells whether a constant was left to be computed at run time.
pub fn folding<T>(work: impl FnOnce() -> T) -> (T, bool) {
    let outer = FOLDING.replace(Folding::Yes);
    let _restore = Restore(outer);
    let done = work();
    (done, FOLDING.get() == Folding::Deferred)
}

/// The same for a future.
pub async fn folding_within<F: Future>(work: F) -> F::Output {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(move |context| -> Poll<F::Output> { folding(|| work.as_mut().poll(context)).0 }).await
}

struct Restore(Folding);

impl Drop for Restore {
    fn drop(&mut self) {
        FOLDING.set(self.0);
    }
}

/// Bytes of the values in an array's own rows. Other rows of shared buffers do not count.
pub fn bytes_of(array: &dyn Array) -> usize {
    fn between<T: ByteArrayType>(array: &dyn Array) -> usize {
        let Some(array) = array.as_bytes_opt::<T>() else { return 0 };
        let place = |at: Option<&T::Offset>| at.map_or(0, |at| at.as_usize());
        place(array.value_offsets().last()).saturating_sub(place(array.value_offsets().first()))
    }
    match array.data_type() {
        DataType::Utf8 => between::<Utf8Type>(array),
        DataType::Binary => between::<BinaryType>(array),
        DataType::LargeBinary => between::<LargeBinaryType>(array),
        // This is how array values are stored: their elements lie in one child.
        DataType::Struct(_) => array.to_data().get_slice_memory_size().unwrap_or(0),
        _ => 0,
    }
}

/// Whether the values of an array together are so large that copies should be avoided.
pub fn is_large(array: &dyn Array) -> bool {
    bytes_of(array) >= LARGE
}

/// Whether the values of a text or bytea array are that large.
pub fn is_long(array: &dyn Array) -> bool {
    !matches!(array.data_type(), DataType::Struct(_)) && is_large(array)
}

/// Calls a function over values. Its claims end when it returns, and its result is counted instead. While it processes
/// many bytes, other tasks of this thread move to other threads.
pub fn call(arguments: &[ArrayRef], function: impl FnOnce() -> Result<ArrayRef>) -> Result<ArrayRef> {
    let bytes: usize = arguments.iter().map(|array| bytes_of(array.as_ref())).sum();
    if bytes > FOLDED {
        defer()?;
    }
    interrupt::long_when(bytes, || called(function))
}

fn called(function: impl FnOnce() -> Result<ArrayRef>) -> Result<ArrayRef> {
    /// Releases claims, even if the function panics.
    struct Outer(Option<Claims>);
    impl Drop for Outer {
        fn drop(&mut self) {
            CLAIMED.set(self.0.take());
        }
    }
    let _outer = Outer(CLAIMED.replace(Some(None)));
    let made = function()?;
    // If both were counted, the value would need its memory twice.
    CLAIMED.set(None);
    counted(made)
}

/// Counts the memory of large values in the array until its buffers are dropped. Errors: 54000, 53200. While a plan is
/// made, large values are refused.
fn counted(array: ArrayRef) -> Result<ArrayRef> {
    /// The mean size of a value in bytes from which an array counts as large.
    const WIDE: usize = 16 << 10;
    let bytes = bytes_of(array.as_ref());
    if bytes > FOLDED {
        defer()?;
    }
    if bytes > MOST && array.len() == 1 {
        return Err(too_long());
    }
    if bytes < LARGE || bytes / array.len().max(1) < WIDE {
        return Ok(array);
    }
    let Some(claim) = claim(bytes)? else { return Ok(array) };
    let made = match array.data_type() {
        DataType::Utf8 => held::<Utf8Type>(&array, claim),
        DataType::Binary => held::<BinaryType>(&array, claim),
        DataType::LargeBinary => held::<LargeBinaryType>(&array, claim),
        _ => return Ok(array),
    };
    Ok(made?.unwrap_or(array))
}

/// A text under construction. It claims memory as it grows, and its statement can be stopped.
#[derive(Debug, Default)]
pub struct LongText {
    text: String,
    steps: Steps,
}

impl LongText {
    /// Reserves room for this many bytes. Errors: 54000, 53200.
    pub fn new(bytes: usize) -> Result<LongText> {
        room(bytes)?;
        Ok(LongText { text: String::with_capacity(bytes), steps: Steps::default() })
    }
    /// Appends a part. Errors: 54000, 53200, and if the statement must stop.
    pub fn add(&mut self, part: &str) -> Result<()> {
        // What is copied was searched before, mostly.
        self.steps.many(1 + part.len() / 8)?;
        self.grow(part.len())?;
        self.text.push_str(part);
        Ok(())
    }
    /// Appends a character. Errors: as [`LongText::add`].
    pub fn push(&mut self, character: char) -> Result<()> {
        self.steps.step()?;
        self.grow(character.len_utf8())?;
        self.text.push(character);
        Ok(())
    }
    /// Appends a character `times` times. Errors: as [`LongText::add`].
    pub fn fill(&mut self, character: char, times: usize) -> Result<()> {
        self.grow(times.saturating_mul(character.len_utf8()))?;
        (0..times).try_for_each(|_| self.push(character))
    }
    /// Returns the finished text.
    pub fn finish(self) -> String {
        self.text
    }
    fn grow(&mut self, more: usize) -> Result<()> {
        let (held, wanted) = (self.text.capacity(), self.text.len().saturating_add(more));
        if wanted <= held {
            return Ok(());
        }
        let at_most = |bytes: usize| bytes.clamp(wanted, MOST.max(wanted));
        // Without room for twice the size, each step is still at least `LARGE`. A step copies all bytes, so small
        // ones would be slow.
        let longer = [at_most(held.saturating_mul(2)), at_most(wanted.saturating_add(LARGE))];
        let next = match longer.into_iter().find(|next| room_to_grow(held, *next).is_ok()) {
            Some(next) => next,
            None => room_to_grow(held, wanted).map(|()| wanted)?,
        };
        self.text.reserve_exact(next - self.text.len());
        Ok(())
    }
}

/// Collects characters into a text of about `bytes` bytes. Errors: 54000, 53200, and if the statement must stop.
pub fn collected(mut characters: impl Iterator<Item = char>, bytes: usize) -> Result<String> {
    let mut text = LongText::new(bytes)?;
    characters.try_for_each(|character| text.push(character))?;
    Ok(text.finish())
}

/// A buffer and the claim to its memory.
struct Held(Buffer, #[allow(dead_code)] MemoryReservation);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

fn held<T: ByteArrayType>(array: &ArrayRef, claim: MemoryReservation) -> DataFusionResult<Option<ArrayRef>> {
    let Some(array) = array.as_bytes_opt::<T>() else { return Ok(None) };
    let values = Buffer::from(Bytes::from_owner(Held(array.values().clone(), claim)));
    let made = GenericByteArray::<T>::try_new(array.offsets().clone(), values, array.nulls().cloned())?;
    Ok(Some(Arc::new(made)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::interrupt::{Interrupt, within};
    use arrow::array::StringArray;
    use datafusion_execution::memory_pool::{FairSpillPool, MemoryPool};
    use std::time::Duration;

    struct Statement(Arc<dyn MemoryPool>);

    impl Interrupt for Statement {
        fn check(&self) -> Result<()> {
            Ok(())
        }
        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }
        fn memory(&self) -> Option<Arc<dyn MemoryPool>> {
            Some(Arc::clone(&self.0))
        }
    }

    /// A value of so many bytes.
    fn value(bytes: usize) -> Result<ArrayRef> {
        room(bytes)?;
        Ok(Arc::new(StringArray::from(vec!["x".repeat(bytes)])))
    }

    fn with_pool<T>(bytes: usize, work: impl FnOnce(&Arc<dyn MemoryPool>) -> T) -> T {
        let pool: Arc<dyn MemoryPool> = Arc::new(FairSpillPool::new(bytes));
        let statement: Arc<dyn Interrupt> = Arc::new(Statement(Arc::clone(&pool)));
        within(&statement, || work(&pool))
    }

    #[test]
    fn a_value_is_as_long_as_in_postgresql() {
        assert!(room(MOST).is_ok());
        assert_eq!(room(MOST + 1).unwrap_err().state(), "54000");
    }

    #[test]
    fn a_large_value_counts_for_as_long_as_it_lives() {
        with_pool(10 << 20, |pool| {
            let made = call(&[], || value(4 << 20)).unwrap();
            let part = made.slice(0, 1);
            assert_eq!((pool.reserved(), bytes_of(&made)), (4 << 20, 4 << 20));
            assert_eq!(call(&[], || value(7 << 20)).unwrap_err().state(), "53200");
            drop(made);
            assert_eq!(pool.reserved(), 4 << 20);
            drop(part);
            assert_eq!(pool.reserved(), 0);
        });
    }

    #[test]
    fn what_a_function_claims_is_given_back_when_it_ends() {
        with_pool(10 << 20, |pool| {
            let two = || room(4 << 20).and_then(|()| room(4 << 20)).and_then(|()| value(10));
            assert_eq!(call(&[], two).unwrap().len(), 1);
            assert_eq!(pool.reserved(), 0);
            assert_eq!(
                call(&[], || room(8 << 20).and_then(|()| room(4 << 20)).and_then(|()| value(10))).unwrap_err().state(),
                "53200"
            );
            assert_eq!(pool.reserved(), 0);
        });
    }

    #[test]
    fn many_values_that_are_just_not_large_count_together() {
        with_pool(40 << 20, |pool| {
            let many = |values: usize| {
                call(&[], || {
                    (0..values).try_for_each(|at| room_among(at * 1_000_000, 1_000_000))?;
                    value(10)
                })
            };
            assert!(many(30).is_ok());
            assert_eq!(many(60).unwrap_err().state(), "53200");
            assert_eq!(pool.reserved(), 0);
        });
    }

    #[test]
    fn what_one_row_needs_is_given_back_before_the_next() {
        with_pool(10 << 20, |pool| {
            let rows = || (0..4).try_for_each(|_| scratch(8 << 20).map(drop)).and_then(|()| value(10));
            assert!(call(&[], rows).is_ok());
            assert_eq!(scratch(11 << 20).map(drop).unwrap_err().state(), "53200");
            assert_eq!(pool.reserved(), 0);
        });
    }

    #[test]
    fn a_plan_holds_no_large_constant() {
        let (made, deferred) = folding(|| call(&[], || value(2 << 20)));
        assert!(made.is_err() && deferred);
        let large = value(2 << 20).unwrap();
        let (made, deferred) = folding(|| call(&[large], || value(10)));
        assert!(made.is_err() && deferred);
        let (made, deferred) = folding(|| call(&[], || value(10)));
        assert!(made.is_ok() && !deferred);
        assert!(call(&[], || value(2 << 20)).is_ok());
    }
}
