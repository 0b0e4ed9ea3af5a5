//! `pg_options_to_table`: options in the form `name=value`, as rows. psql and pg_dump call it for foreign data.

use super::kernel::{Call, Kernel, Stability};
use super::registry::ScalarFunction;
use super::typed::{Column, List, Text};
use super::{Resolver, TypedExpr};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::{Array, ArrayRef, StringArray};
use sql_error::Result;
use std::sync::Arc;
use types::SqlType;
use types::value::ValueRef;

const NAMES: &str = "pg_options_to_table names";
const VALUES: &str = "pg_options_to_table values";

/// Whether `name` is this function.
pub(super) fn exists(name: &str) -> bool {
    name == "pg_options_to_table"
}

/// The columns of a call, with their names, as arrays. Errors: 42883.
pub(super) fn row_lists(resolver: &Resolver<'_>, args: &[TypedExpr]) -> Result<Vec<(&'static str, TypedExpr)>> {
    let list = |function: &str| resolver.function(function, args.to_vec());
    Ok(vec![("option_name", list(NAMES)?), ("option_value", list(VALUES)?)])
}

/// The functions that compute the columns.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let texts = SqlType::TEXT.array_of();
    let function = |name, part| ScalarFunction::new(name, &[texts], texts, Stability::Immutable, parts(part));
    vec![
        function(NAMES, |option| Some(option.split_once('=').map_or(option, |(name, _)| name))),
        function(VALUES, |option| option.split_once('=').map(|(_, value)| value)),
    ]
}

/// Extracts a part of each option. It is NULL for an option without a value.
fn parts(part: fn(&str) -> Option<&str>) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let lists = call.column::<List>(0)?;
        let mut builder = ColumnBuilder::new(call.result, call.rows);
        for row in 0..call.rows {
            let Some(options) = lists.get(row)? else {
                builder.append_null();
                continue;
            };
            let texts = Column::<Text>::new(&options)?;
            let mut found = Vec::with_capacity(options.len());
            for at in 0..options.len() {
                found.push(texts.get(at)?.and_then(part));
            }
            let items: ArrayRef = Arc::new(StringArray::from(found));
            builder.append(&ValueRef::array(items))?;
        }
        builder.finish()
    })
}
