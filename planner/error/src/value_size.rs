//! How large a value may be, and where the memory of a large one is counted.
//!
//! Every function that builds a value calls [`room`] before it allocates. `room` refuses what PostgreSQL refuses (54000), and claims
//! the memory of a large value from the pool of the statement that computes (53200). The claim lasts until the function returns;
//! `counted` then ties one to the buffers of the result, so that a large value counts for as long as it lives.
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

/// Bytes of a value, at most: what PostgreSQL allocates at once, without the header of a text or bytea.
pub const MOST: usize = 0x3fff_ffff - 4;
/// From so many bytes on a value is counted.
const LARGE: usize = 1 << 20;
/// Values that are not large are counted by so many bytes of them together.
const MUCH: usize = 16 << 20;
/// Bytes of a constant that a plan holds, at most.
const FOLDED: usize = 1 << 20;

thread_local! {
    /// Claims of the function under way on this thread. `None`: there is no function that would give them back.
    static CLAIMED: RefCell<Option<Claims>> = const { RefCell::new(None) };
    static FOLDING: Cell<Folding> = const { Cell::new(Folding::No) };
}

/// Empty until something large is asked for.
type Claims = Option<MemoryReservation>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Folding {
    No,
    Yes,
    /// Something was too large for a plan.
    Deferred,
}

/// 54000.
pub fn too_long() -> SqlError {
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// To be called before a value of so many bytes is built. Errors: 54000, 53200; while a plan is made any, which defers the
/// computation.
#[inline]
pub fn room(bytes: usize) -> Result<()> {
    room_to_grow(0, bytes)
}

/// The same for a value under construction that there was room for before, of fewer bytes.
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

/// The same for a value that comes behind others of a column, which take so many bytes.
#[inline]
pub fn room_among(before: usize, bytes: usize) -> Result<()> {
    room(bytes)?;
    // Many values that are just not large are much together. A large one was counted.
    if bytes < LARGE && before.saturating_add(bytes) / MUCH > before / MUCH {
        claim_more(MUCH)?;
    }
    Ok(())
}

/// Memory of a function for itself, which counts until this is dropped.
#[must_use]
pub struct Scratch(#[allow(dead_code)] Claims);

/// To be called before a function allocates so much for itself, for as long as it holds the answer. Errors: 53200.
pub fn scratch(bytes: usize) -> Result<Scratch> {
    Ok(Scratch(if bytes < LARGE { None } else { claim(bytes)? }))
}

/// The same for what is kept until the function returns.
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

/// To be called before a value is added to a column that holds so many bytes. Errors: those of [`room`], and 54000 for more bytes than
/// a batch of rows has place for.
pub fn room_behind(before: usize, bytes: usize) -> Result<()> {
    room_among(before, bytes)?;
    // The places of a batch's texts are 32 bits wide.
    if before.saturating_add(bytes) > i32::MAX as usize { Err(too_many()) } else { Ok(()) }
}

/// 54000 for the values of a batch of rows together.
pub fn too_many() -> SqlError {
    SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, TOO_MANY).detail("A batch of rows holds 2 GiB of each column at most.")
}

const TOO_MANY: &str = "the values of a column are too long together";

/// Whether fewer rows at once may have room where some had none.
pub fn is_of_batch(error: &SqlError) -> bool {
    error.state() == state::OUT_OF_MEMORY || error.fields().message == TOO_MANY
}

/// A value for each of so many rows. Errors: 54000, 53200.
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

/// The value of an array of one, for operators that take it for every row. A scalar is not counted. Errors: 53200.
pub fn scalar(array: &ArrayRef) -> Result<ScalarValue> {
    /// Copies of it at once: a comparison makes two more.
    const COPIES: usize = 3;
    let bytes = bytes_of(array.as_ref());
    // It cannot be counted for longer, but where there is no room it is not begun.
    let _room = scratch(bytes.saturating_mul(COPIES))?;
    Ok(ScalarValue::try_from_array(array, 0)?)
}

/// So many bytes of the memory of the statement that computes on this thread. Errors: 53200.
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

/// Calls what makes a plan, or a part of one. The flag tells whether a constant in it is left to be computed when the plan runs.
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

/// Bytes of the values of an array's rows, without those that other rows of the same buffers have.
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
        // Those of array values: their elements lie in one child.
        DataType::Struct(_) => array.to_data().get_slice_memory_size().unwrap_or(0),
        _ => 0,
    }
}

/// Whether the values of an array together take so much that a copy is to be avoided.
pub fn is_large(array: &dyn Array) -> bool {
    bytes_of(array) >= LARGE
}

/// Whether those of a text or bytea do.
pub fn is_long(array: &dyn Array) -> bool {
    !matches!(array.data_type(), DataType::Struct(_)) && is_large(array)
}

/// Calls a function over values. What it claims is given back when it returns, and its result is counted instead. Works of many
/// bytes leave this thread's other work to other threads meanwhile.
pub fn call(arguments: &[ArrayRef], function: impl FnOnce() -> Result<ArrayRef>) -> Result<ArrayRef> {
    let bytes: usize = arguments.iter().map(|array| bytes_of(array.as_ref())).sum();
    if bytes > FOLDED {
        defer()?;
    }
    interrupt::long_when(bytes, || called(function))
}

fn called(function: impl FnOnce() -> Result<ArrayRef>) -> Result<ArrayRef> {
    /// Gives claims back, also when the function panics.
    struct Outer(Option<Claims>);
    impl Drop for Outer {
        fn drop(&mut self) {
            CLAIMED.set(self.0.take());
        }
    }
    let _outer = Outer(CLAIMED.replace(Some(None)));
    let made = function()?;
    // Counted beside the claim, there would have to be room for it twice.
    CLAIMED.set(None);
    counted(made)
}

/// The same array; if its values are large, their memory is counted until its buffers are dropped. Errors: 53200; while a plan is
/// made any.
fn counted(array: ArrayRef) -> Result<ArrayRef> {
    /// Mean bytes of a value from which the values of an array are large.
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

/// A text under construction. There is room for it, and its statement can be stopped meanwhile.
#[derive(Debug, Default)]
pub struct LongText {
    text: String,
    steps: Steps,
}

impl LongText {
    /// With room for so many bytes. Errors: 54000, 53200.
    pub fn new(bytes: usize) -> Result<LongText> {
        room(bytes)?;
        Ok(LongText { text: String::with_capacity(bytes), steps: Steps::default() })
    }
    /// Appends a part. Errors: 54000, 53200, and when the statement is to stop.
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
    /// Appends a character so many times. Errors: as [`LongText::add`].
    pub fn fill(&mut self, character: char, times: usize) -> Result<()> {
        self.grow(times.saturating_mul(character.len_utf8()))?;
        (0..times).try_for_each(|_| self.push(character))
    }
    /// The text.
    pub fn finish(self) -> String {
        self.text
    }
    fn grow(&mut self, more: usize) -> Result<()> {
        let (held, wanted) = (self.text.capacity(), self.text.len().saturating_add(more));
        if wanted <= held {
            return Ok(());
        }
        let at_most = |bytes: usize| bytes.clamp(wanted, MOST.max(wanted));
        // Where there is no room for twice as much, each step is still a long one: a step copies what there is.
        let longer = [at_most(held.saturating_mul(2)), at_most(wanted.saturating_add(LARGE))];
        let next = match longer.into_iter().find(|next| room_to_grow(held, *next).is_ok()) {
            Some(next) => next,
            None => room_to_grow(held, wanted).map(|()| wanted)?,
        };
        self.text.reserve_exact(next - self.text.len());
        Ok(())
    }
}

/// A text of many characters, about so many bytes. Errors: when the statement is to stop; 54000, 53200.
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
