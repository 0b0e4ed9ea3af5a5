//! What the string literals of an expression were read as where they are dates and times: such a text may mean something else at another
//! moment (`'now'`) and under other settings, and who keeps the expression keeps what it meant.

use super::place::position_of;
use crate::types::{BaseType, SqlType};
use datafusion::common::metadata::FieldMetadata;
use datafusion::scalar::ScalarValue;
use std::cell::RefCell;

/// A literal that was read.
#[derive(Clone, Debug)]
pub struct ReadTime {
    /// Where it stands.
    pub position: usize,
    /// What it says.
    pub text: String,
    /// Its type.
    pub ty: SqlType,
    /// Its value.
    pub value: ScalarValue,
}

thread_local! {
    /// What this thread has read, while somebody wants to know.
    static READ: RefCell<Option<Vec<ReadTime>>> = const { RefCell::new(None) };
}

/// What `bind`, which must not leave this thread, answers, and the literals that it read as dates and times.
pub fn times_read<T>(bind: impl FnOnce() -> T) -> (T, Vec<ReadTime>) {
    let before = READ.replace(Some(Vec::new()));
    let answer = bind();
    (answer, READ.replace(before).unwrap_or_default())
}

/// Notes that a literal was read.
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
