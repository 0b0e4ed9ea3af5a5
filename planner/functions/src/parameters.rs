//! [`ParameterTypes`]: the types of `$1`, `$2`, … as binding determines them.

use sql_error::{Result, SqlError, state};
use std::cell::RefCell;
use types::SqlType;

/// Types of the parameters of one statement. The first determination sticks.
#[derive(Debug, Default)]
pub struct ParameterTypes(RefCell<Vec<Option<SqlType>>>);

impl ParameterTypes {
    /// Starts with the types that the client gave. `None` marks an open type.
    pub fn new(types: Vec<Option<SqlType>>) -> Self {
        ParameterTypes(RefCell::new(types))
    }
    /// Notes that `$number` is used.
    pub fn mention(&self, number: usize) {
        let mut types = self.0.borrow_mut();
        if types.len() < number {
            types.resize(number, None);
        }
    }
    /// The type of `$number`, if it is known.
    pub fn get(&self, number: usize) -> Option<SqlType> {
        number.checked_sub(1).and_then(|at| self.0.borrow().get(at).copied().flatten())
    }
    /// Sets the type of `$number` unless it is known. Answers its type.
    pub fn determine(&self, number: usize, ty: SqlType) -> SqlType {
        self.mention(number);
        let mut types = self.0.borrow_mut();
        match number.checked_sub(1).and_then(|at| types.get_mut(at)) {
            Some(slot) => *slot.get_or_insert(ty.plain()),
            None => ty,
        }
    }
    /// The types of all parameters. If `lenient`, a type that is still open becomes text. Errors: 42P18 otherwise.
    pub fn finish(&self, lenient: bool) -> Result<Vec<SqlType>> {
        self.0
            .borrow()
            .iter()
            .enumerate()
            .map(|(at, ty)| match ty {
                Some(ty) => Ok(*ty),
                None if lenient => Ok(SqlType::TEXT),
                None => Err(undetermined(at + 1)),
            })
            .collect()
    }
}

/// The error 42P18: the type of a parameter cannot be determined.
pub(super) fn undetermined(number: usize) -> SqlError {
    let message = format!("could not determine data type of parameter ${number}");
    SqlError::new(state::INDETERMINATE_DATATYPE, message)
}

/// The number of a parameter's placeholder: 2 for `$2`, `None` for `$:now`.
pub fn parameter_number(id: &str) -> Option<usize> {
    id.strip_prefix('$')?.parse().ok()
}
