//! Functions over records: construction, fields, sort keys and NULL tests.

use super::TypedExpr;
use super::kernel::{Call, Kernel, KernelFunction, Stability};
use super::typed::{NumericBytes, unary};
use catalog::encoding::{ColumnBuilder, append_field, push_record, record_fields};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, BooleanBuilder};
use sql_error::{Result, SqlError, state};
use std::collections::HashSet;
use std::sync::Arc;
use types::record::RecordType;
use types::value::{ValueRef, value_at};
use types::{BaseType, SqlType};

/// `ROW(…)` with named fields.
pub fn row(fields: Vec<(String, TypedExpr)>) -> TypedExpr {
    let result = SqlType::record(fields.iter().map(|(name, typed)| (name.clone(), typed.ty)).collect());
    row_of(fields.into_iter().map(|(_, typed)| typed).collect(), result)
}

/// A row of the type `result`, from its fields.
pub fn row_of(fields: Vec<TypedExpr>, result: SqlType) -> TypedExpr {
    let types: Vec<SqlType> = fields.iter().map(|typed| typed.ty).collect();
    let kernel: Kernel = Arc::new(|call: &Call<'_>| {
        let mut builder = BinaryBuilder::with_capacity(call.rows, call.rows * 16);
        let mut bytes = Vec::new();
        for row in 0..call.rows {
            let values: Vec<_> = call
                .arguments
                .iter()
                .map(|array| value_at(array.as_ref(), Call::row_of(array, row)))
                .collect::<Result<_>>()?;
            bytes.clear();
            push_record(call.types.iter().copied(), &values, &mut bytes)?;
            builder.append_value(&bytes);
        }
        Ok(Arc::new(builder.finish()) as ArrayRef)
    });
    KernelFunction::new("row", types, result, Stability::Immutable, kernel, None)
        .call(fields.into_iter().map(|typed| typed.expr).collect())
}

/// Zips lists into one list of records with these field names. NULL if a list is NULL.
pub fn rows(lists: Vec<(String, TypedExpr)>) -> TypedExpr {
    let types: Vec<SqlType> = lists.iter().map(|(_, list)| list.ty).collect();
    let fields = lists.iter().map(|(name, list)| (name.clone(), list.ty.element())).collect();
    let result = SqlType::record(fields).array_of();
    let kernel: Kernel = Arc::new(|call: &Call<'_>| {
        let mut builder = ColumnBuilder::new(call.result, call.rows);
        let mut bytes = Vec::new();
        for row in 0..call.rows {
            let mut lists = Vec::with_capacity(call.arguments.len());
            for array in call.arguments {
                if let ValueRef::Array(list) = value_at(array.as_ref(), Call::row_of(array, row))? {
                    lists.push(list.into_elements());
                }
            }
            if lists.len() < call.arguments.len() {
                builder.append_null();
                continue;
            }
            let count = lists.iter().map(|list| list.len()).max().unwrap_or(0);
            let mut records = BinaryBuilder::with_capacity(count, count * 16);
            for item in 0..count {
                let values: Vec<_> = lists
                    .iter()
                    .map(|list| if item < list.len() { value_at(list.as_ref(), item) } else { Ok(ValueRef::Null) })
                    .collect::<Result<_>>()?;
                bytes.clear();
                push_record(call.types.iter().map(|ty| ty.element()), &values, &mut bytes)?;
                records.append_value(&bytes);
            }
            builder.append(&ValueRef::array(Arc::new(records.finish())))?;
        }
        builder.finish()
    });
    KernelFunction::new("rows", types, result, Stability::Immutable, kernel, None)
        .call(lists.into_iter().map(|(_, list)| list.expr).collect())
}

/// The field of a record at a position.
pub fn field(record: TypedExpr, place: usize, ty: SqlType) -> TypedExpr {
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let array = call.array(0)?;
        let records = binary(array)?;
        let mut builder = ColumnBuilder::new(call.result, call.rows);
        for row in 0..call.rows {
            let at = Call::row_of(array, row);
            if array.is_null(at) {
                builder.append_null();
                continue;
            }
            append_field(&mut builder, record_fields(records.value(at))?.get(place).copied().flatten())?;
        }
        builder.finish()
    });
    KernelFunction::new(format!("field {place}"), vec![record.ty], ty, Stability::Immutable, kernel, None)
        .call(vec![record.expr])
}

fn binary(array: &ArrayRef) -> Result<&datafusion::arrow::array::BinaryArray> {
    array.as_binary_opt::<i32>().ok_or_else(|| SqlError::internal("a record that is no bytes"))
}

/// IS NULL and IS NOT NULL of a record: true if all its fields are NULL, or none is.
pub fn null_test(record: TypedExpr, negated: bool) -> TypedExpr {
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let array = call.array(0)?;
        let records = binary(array)?;
        let mut builder = BooleanBuilder::with_capacity(call.rows);
        for row in 0..call.rows {
            let at = Call::row_of(array, row);
            builder.append_value(if array.is_null(at) {
                !negated
            } else {
                record_fields(records.value(at))?.into_iter().all(|field| field.is_none() != negated)
            });
        }
        Ok(Arc::new(builder.finish()) as ArrayRef)
    });
    let name = if negated { "record is not null" } else { "record is null" };
    KernelFunction::new(name, vec![record.ty], SqlType::BOOL, Stability::Immutable, kernel, None)
        .call(vec![record.expr])
}

/// The record's sort key: equal records have equal keys.
pub(super) fn record_key(record: TypedExpr) -> TypedExpr {
    let ty = record.ty;
    let untyped = ty.as_record().and_then(|record| record.types().position(|ty| ty.base == BaseType::Unknown));
    if let Some(place) = untyped {
        return record_key_before(record, place);
    }
    let kernel =
        unary::<NumericBytes, NumericBytes, _>(|bytes: &[u8]| Ok(catalog::encoding::record_key(bytes)?.to_vec()));
    let function = KernelFunction::new("record_key", vec![ty], ty, Stability::Immutable, kernel, None);
    function.strict(true).call(vec![record.expr])
}

/// Like [`record_key`], if the field at `place` has no type and cannot be compared. Errors: 42883 if two records are
/// equal before that field.
fn record_key_before(record: TypedExpr, place: usize) -> TypedExpr {
    let ty = record.ty;
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let array = call.array(0)?;
        let records = binary(array)?;
        let mut seen = HashSet::new();
        let mut builder = BinaryBuilder::new();
        for row in 0..call.rows {
            let at = Call::row_of(array, row);
            if array.is_null(at) {
                builder.append_null();
                continue;
            }
            let before: Vec<Option<Vec<u8>>> = record_fields(records.value(at))?
                .into_iter()
                .take(place)
                .map(|field| field.map(<[u8]>::to_vec))
                .collect();
            if !seen.insert(before) {
                let message = "could not identify a comparison function for type unknown";
                return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
            }
            builder.append_value(catalog::encoding::record_key(records.value(at))?);
        }
        Ok(Arc::new(builder.finish()) as ArrayRef)
    });
    KernelFunction::new("record_key_before", vec![ty], ty, Stability::Immutable, kernel, None).call(vec![record.expr])
}

/// Checks that records can be compared. Errors: 42804 for different fields, 42883 for a field without comparison.
pub(super) fn comparable(_symbol: &str, left: RecordType, right: RecordType) -> Result<()> {
    if left.fields().len() != right.fields().len() {
        let message = "cannot compare record types with different numbers of columns";
        return Err(SqlError::new(state::DATATYPE_MISMATCH, message).of_values());
    }
    for (at, (left, right)) in left.types().zip(right.types()).enumerate() {
        let both = |left: SqlType, right: SqlType| match (left.base, right.base) {
            (BaseType::Record(left), BaseType::Record(right)) => left.same_fields(right),
            (left, right) => left == right,
        };
        if left.array != right.array || !both(left, right) {
            let (left, right) = (left.name(), right.name());
            let message =
                format!("cannot compare dissimilar column types {left} and {right} at record column {}", at + 1);
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message).of_values());
        }
    }
    has_order(left)
}

/// Checks that all fields have an order. Errors: 42883.
pub(super) fn has_order(record: RecordType) -> Result<()> {
    for ty in record.types() {
        match ty.base {
            BaseType::Json => {
                let message = format!("could not identify a comparison function for type {}", ty.name());
                return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
            }
            BaseType::Record(inner) => has_order(inner)?,
            _ => {}
        }
    }
    Ok(())
}
