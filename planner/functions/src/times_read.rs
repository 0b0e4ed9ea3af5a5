//! Records how an expression's string literals were parsed as dates and times. Such a text may mean something else at
//! another time (`'now'`) or with other settings. A stored expression must keep the original meaning.

use super::error_position::position_of;
use datafusion::common::metadata::FieldMetadata;
use datafusion::scalar::ScalarValue;
use std::cell::RefCell;
use types::{BaseType, SqlType};

/// A date or time literal that was parsed.
#[derive(Clone, Debug)]
pub struct ReadTime {
    /// Position of the literal in the query.
    pub position: usize,
    /// Text of the literal.
    pub text: String,
    /// The type that it was parsed as.
    pub ty: SqlType,
    /// The value that it was parsed to.
    pub value: ScalarValue,
}

thread_local! {
    /// Literals parsed on this thread. `None` unless [`times_read`] is running.
    static READ: RefCell<Option<Vec<ReadTime>>> = const { RefCell::new(None) };
}

/// Runs `bind` and answers its result and the date and time literals that it parsed. `bind` must stay on this thread.
pub fn times_read<T>(bind: impl FnOnce() -> T) -> (T, Vec<ReadTime>) {
    let before = READ.replace(Some(Vec::new()));
    let answer = bind();
    (answer, READ.replace(before).unwrap_or_default())
}

/// Records a parsed literal if it is of a date or time type.
pub(super) fn note(metadata: Option<&FieldMetadata>, text: &str, ty: SqlType, value: &ScalarValue) {
    let of_time = matches!(
        ty.base,
        BaseType::Date | BaseType::Timestamp | BaseType::Timestamptz | BaseType::Time | BaseType::Timetz
    );
    let Some(position) = metadata.filter(|_| of_time).and_then(position_of) else { return };
    READ.with_borrow_mut(|read| {
        if let Some(read) = read {
            read.push(ReadTime { position, text: text.to_string(), ty, value: value.clone() });
        }
    });
}
