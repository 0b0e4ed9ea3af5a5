//! System columns: `tableoid`, `ctid`, `xmin`, `xmax`, `cmin`, `cmax`, as far as this store can provide them.
//!
//! `ctid` is computed from the row's hidden number, or from its primary key if that is one integer. It identifies rows
//! within a table and does not change on update. `xmin` is a digest of the row's values. It changes when one of them
//! does, as optimistic concurrency control requires. Rows store neither lock holders nor commands within a transaction.
//! So `xmax`, `cmin` and `cmax` are 0, with one exception: in INSERT … ON CONFLICT DO UPDATE … RETURNING, `xmax` tells
//! whether a row was updated.

use super::scope::ScopeRelation;
use catalog::{RelationKind, TableDescriptor};
use datafusion::arrow::array::{Array, AsArray};
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::Expr;
use datafusion::scalar::ScalarValue;
use executor::dml::node::UPDATED_BY;
use functions::TypedExpr;
use functions::kernel::{Call, Kernel, KernelFunction, Stability};
use functions::typed::{Int8, SqlWrite};
use sql_error::{Result, SqlError, state};
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::ast;
use syntax::visit::visit_expressions;
use types::text::{OutputContext, output};
use types::{BaseType, Oid, SqlType, tid};

/// Name, number and type of each system column, ordered by number.
pub const SYSTEM_COLUMNS: [(&str, i16, SqlType); 6] = [
    ("tableoid", -6, SqlType::OID),
    ("cmax", -5, SqlType::of(BaseType::Cid)),
    ("xmax", -4, SqlType::of(BaseType::Xid)),
    ("cmin", -3, SqlType::of(BaseType::Cid)),
    ("xmin", -2, SqlType::of(BaseType::Xid)),
    ("ctid", -1, SqlType::of(BaseType::Tid)),
];

/// Only row numbers and keys below this have a ctid, and as many below zero.
const PLACES: i64 = 1 << 46;
/// The functions that compute a ctid.
const PLACE_OF_NUMBER: &str = "ctid of a number";
const PLACE_OF_KEY: &str = "ctid of a key";
/// Row numbers within a block; 0 is invalid.
const BLOCK: i64 = 65_535;

/// Whether a relation has system columns: all but views have them.
pub fn has_system_columns(table: &TableDescriptor) -> bool {
    table.kind != RelationKind::View && table.view.is_none()
}

/// The system column of a relation, as an expression over its columns. `None` for other names. Errors: 0A000 if this
/// store cannot provide it.
pub fn system_column(relation: &ScopeRelation, schema: Option<&DFSchema>, name: &str) -> Result<Option<TypedExpr>> {
    let Some((name, _, ty)) = SYSTEM_COLUMNS.into_iter().find(|(known, ..)| *known == name) else { return Ok(None) };
    let Some(table) = relation.table.as_ref().filter(|table| has_system_columns(table)) else { return Ok(None) };
    let number = |number: Oid| TypedExpr::literal(ScalarValue::Int64(Some(i64::from(number))), ty);
    Ok(Some(match name {
        "tableoid" => number(table.oid),
        "xmin" => digest(relation, ty),
        "ctid" => place_of(relation, table, schema)?,
        "xmax" if schema.is_some_and(|schema| schema.has_column_with_unqualified_name(UPDATED_BY)) => {
            TypedExpr::new(Expr::Column(Column::new_unqualified(UPDATED_BY)), ty)
        }
        _ => number(0),
    }))
}

/// Whether an item of RETURNING names a column.
pub fn mentions(item: &ast::Target, name: &str) -> bool {
    let found = visit_expressions(item, |expr| match &expr.kind {
        ast::ExprKind::Column(parts) if parts.last().is_some_and(|ident| ident.value == name) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

/// A digest of the row's values. Like a transaction number, it is at least 3.
fn digest(relation: &ScopeRelation, ty: SqlType) -> TypedExpr {
    let types: Vec<SqlType> = relation.columns.iter().map(|column| column.ty).collect();
    let kernel: Kernel = Arc::new(|call: &Call<'_>| {
        let mut builder = Int8::builder(call.rows);
        let mut text = Vec::new();
        for row in 0..call.rows {
            text.clear();
            for (array, ty) in call.arguments.iter().zip(call.types) {
                let at = Call::row_of(array, row);
                text.push(0);
                if !array.is_null(at) {
                    text.push(1);
                    output(*ty, array.as_ref(), at, &OutputContext::PLAIN, &mut text)?;
                }
            }
            // FNV-1a.
            let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
            let folded = (hash ^ (hash >> 32)) as u32;
            Int8::append(&mut builder, Some(i64::from(folded.max(3))))?;
        }
        Ok(Int8::finish(builder))
    });
    let arguments = relation.columns.iter().map(|column| column.expr.clone()).collect();
    KernelFunction::new(format!("xmin of {}", relation.name), types, ty, Stability::Immutable, kernel, None)
        .call(arguments)
}

fn place_of(relation: &ScopeRelation, table: &TableDescriptor, schema: Option<&DFSchema>) -> Result<TypedExpr> {
    let ty = SqlType::of(BaseType::Tid);
    let refused = |what: &str| SqlError::unsupported(format!("ctid of {what}"));
    if table.kind != RelationKind::Table {
        return Err(refused("a system catalog or sequence"));
    }
    let Some(primary) = table.primary_key() else {
        let key = relation.key.clone().filter(|key| schema.is_none_or(|schema| schema.has_column(key)));
        let key = key.ok_or_else(|| refused("a written row of a table without primary key"))?;
        // Row keys and numerics are both binary in Arrow.
        let function =
            KernelFunction::new(PLACE_OF_NUMBER, vec![SqlType::NUMERIC], ty, Stability::Immutable, numbered(), None);
        return Ok(function.call(vec![Expr::Column(key)]));
    };
    let [column] = primary.columns.as_slice() else {
        return Err(refused("a table whose primary key has several columns"));
    };
    let found = relation.columns.iter().find(|found| found.table_oid == table.oid && found.attnum == column.column);
    let key = found.ok_or_else(|| SqlError::internal("a primary key's column is not there"))?;
    let kernel: Kernel = match key.ty.base {
        BaseType::Int2 | BaseType::Int4 | BaseType::Int8 if !key.ty.array => Arc::new(keyed),
        _ => return Err(refused("a table whose primary key is not an integer")),
    };
    let function = KernelFunction::new(PLACE_OF_KEY, vec![key.ty], ty, Stability::Immutable, kernel, None);
    Ok(function.call(vec![key.expr.clone()]))
}

/// The ctid of a number below [`PLACES`].
fn numbered_place(number: i64) -> Result<i64> {
    if !(-PLACES..PLACES).contains(&number) {
        let message = format!("ctid of the row {number}: there are {PLACES} places");
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
    }
    // Negative numbers follow the others.
    let number = if number < 0 { PLACES - 1 - number } else { number };
    let block = u32::try_from(number / BLOCK).map_err(SqlError::internal)?;
    let within = u16::try_from(number % BLOCK + 1).map_err(SqlError::internal)?;
    Ok(tid::tid(block, within))
}

fn numbered() -> Kernel {
    Arc::new(|call: &Call<'_>| {
        let keys = call.array(0)?;
        let keys = keys.as_binary_opt::<i32>().ok_or_else(|| SqlError::internal("a row key is not binary"))?;
        let mut builder = Int8::builder(call.rows);
        for row in 0..call.rows {
            let at = if keys.len() == 1 { 0 } else { row };
            if keys.is_null(at) {
                Int8::append(&mut builder, None)?;
                continue;
            }
            // The number is the end of the key.
            let number = keys.value(at).last_chunk::<8>().map(|bytes| i64::from_be_bytes(*bytes));
            let number = number.ok_or_else(|| SqlError::internal("a row key without number"))?;
            Int8::append(&mut builder, Some(numbered_place(number)?))?;
        }
        Ok(Int8::finish(builder))
    })
}

fn keyed(call: &Call<'_>) -> Result<datafusion::arrow::array::ArrayRef> {
    use datafusion::arrow::compute::cast;
    use datafusion::arrow::datatypes::{DataType, Int64Type};
    let keys = cast(call.array(0)?, &DataType::Int64)?;
    let keys = keys.as_primitive::<Int64Type>();
    let mut builder = Int8::builder(call.rows);
    for row in 0..call.rows {
        let at = if keys.len() == 1 { 0 } else { row };
        let value = if keys.is_null(at) { None } else { Some(numbered_place(keys.value(at))?) };
        Int8::append(&mut builder, value)?;
    }
    Ok(Int8::finish(builder))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place_of_its_own() {
        let mut numbers: Vec<i64> = (-3..=3).chain([65_533, 65_534, 65_535, 65_536, PLACES - 1, -PLACES]).collect();
        numbers.dedup();
        let mut places: Vec<i64> = numbers.iter().map(|number| numbered_place(*number).unwrap()).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), numbers.len());
        assert!(places.iter().all(|place| place % 65_536 != 0 && *place > 0), "{places:?}");
        assert_eq!(numbered_place(PLACES).unwrap_err().state(), "0A000");
        assert_eq!(numbered_place(-PLACES - 1).unwrap_err().state(), "0A000");
    }
}
