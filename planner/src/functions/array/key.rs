//! Arrays in the one form of all that equal them, where equal elements may look different (numeric 1.0 and 1.00).

use crate::encoding::ColumnBuilder;
use crate::error::Result;
use crate::functions::TypedExpr;
use crate::functions::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::functions::typed::List;
use crate::types::numeric::{Numeric, key_of};
use crate::types::value::{ValueRef, value_at};
use crate::types::{BaseType, SqlType, interval};
use datafusion::arrow::array::{Array, ArrayRef};
use std::sync::Arc;

/// The array by which another is grouped and compared: itself, unless its elements have several forms.
pub(in crate::functions) fn array_key(expr: TypedExpr) -> TypedExpr {
    if !matches!(expr.ty.base, BaseType::Numeric | BaseType::Interval | BaseType::Char) {
        return expr;
    }
    let ty = expr.ty.plain();
    let kernel: Kernel = Arc::new(canonical);
    KernelFunction::new("array_key", vec![ty], ty, Stability::Immutable, kernel, None).call(vec![expr.expr])
}

fn canonical(call: &Call<'_>) -> Result<ArrayRef> {
    let element: SqlType = call.result.element();
    let lists = call.column::<List>(0)?;
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let Some(elements) = lists.get(row)? else {
            builder.append_null();
            continue;
        };
        let mut made = ColumnBuilder::new(element, elements.len());
        for at in 0..elements.len() {
            match (value_at(elements.as_ref(), at)?, element.base) {
                (ValueRef::Bytes(bytes), BaseType::Numeric) => {
                    made.append(&ValueRef::Bytes(&Numeric::from_key(key_of(bytes), 0)?.0.to_bytes()))?;
                }
                (ValueRef::Bytes(bytes), _) => made.append(&ValueRef::Bytes(&interval::canonical(bytes)))?,
                (ValueRef::Text(text), _) => made.append(&ValueRef::Text(text.trim_end_matches(' ')))?,
                (other, _) => made.append(&other)?,
            }
        }
        builder.append(&ValueRef::List(made.finish()?))?;
    }
    builder.finish()
}
