//! Functions over the system catalog. The crate of the system views implements them and [`install`]s them before a call is resolved.

use crate::{Resolver, ScalarFunction, TypedExpr};
use sql_error::Result;
use std::sync::OnceLock;

/// The columns of a call with rows, as named arrays.
pub type RowLists = Vec<(&'static str, TypedExpr)>;

/// What that crate implements.
#[derive(Clone, Copy, Debug)]
pub struct CatalogFunctions {
    /// The scalar functions.
    pub scalar: fn() -> Vec<ScalarFunction>,
    /// Whether a function of this name answers rows.
    pub exists: fn(&str) -> bool,
    /// The rows of a call. `None` for other functions. Errors: 42883.
    pub row_lists: fn(&Resolver<'_>, &str, &[TypedExpr]) -> Result<Option<RowLists>>,
}

static INSTALLED: OnceLock<CatalogFunctions> = OnceLock::new();

/// Makes the functions known to the whole process. The first call counts.
pub fn install(functions: CatalogFunctions) {
    let _ = INSTALLED.set(functions);
}

pub(crate) fn scalar() -> Vec<ScalarFunction> {
    INSTALLED.get().map(|functions| (functions.scalar)()).unwrap_or_default()
}

pub(crate) fn exists(name: &str) -> bool {
    INSTALLED.get().is_some_and(|functions| (functions.exists)(name))
}

pub(crate) fn row_lists(resolver: &Resolver<'_>, name: &str, args: &[TypedExpr]) -> Result<Option<RowLists>> {
    match INSTALLED.get() {
        Some(functions) => (functions.row_lists)(resolver, name, args),
        None => Ok(None),
    }
}
