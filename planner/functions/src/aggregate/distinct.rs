//! Aggregates of several arguments with DISTINCT. Each distinct row of arguments counts once. The rows are sorted by
//! ORDER BY, then by the remaining arguments.

use super::{own, regression, undecorated};
use crate::{AggregateCall, Resolver, TypedExpr};
use catalog::encoding::{KeyColumn, KeyEncoder};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use sql_error::{Result as SqlResult, SqlError};
use std::collections::BTreeMap;
use types::SqlType;
use types::array::ArrayValue;

/// The result that is made of the distinct rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Made {
    /// An array of one value per row.
    List,
    /// The texts, joined with delimiters.
    Strings,
    /// The regression function with this name, over two floats.
    Regression(&'static str),
}

/// The order of an argument that rows are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    ty: SqlType,
    descending: bool,
    nulls_first: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Distinct {
    made: Made,
    keys: Vec<Key>,
    values: Vec<SqlType>,
    result: SqlType,
    signature: Signature,
    /// The name includes the sort directions: a plan merges calls with equal names and arguments.
    name: String,
}

/// The aggregate `made` over the distinct rows of a call's arguments. `compared` are the arguments that decide
/// distinctness. The result is made of `values`.
pub(crate) fn distinct(
    resolver: &Resolver<'_>,
    call: &AggregateCall,
    compared: &[TypedExpr],
    values: Vec<TypedExpr>,
    made: Made,
    result: SqlType,
) -> SqlResult<TypedExpr> {
    let mut order: Vec<(usize, bool, bool)> = Vec::new();
    for sort in &call.order_by {
        let same = |arg: &TypedExpr| resolver.sort_key(arg.clone()).is_ok_and(|key| key == sort.expr);
        let at = call.args.iter().position(same);
        order.extend(at.map(|at| (at, !sort.asc, sort.nulls_first)));
    }
    order.extend((0..compared.len()).map(|at| (at, false, false)));
    let (mut keys, mut args, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for (at, descending, nulls_first) in order {
        let Some(arg) = compared.get(at).filter(|_| !known.contains(&at)) else { continue };
        known.push(at);
        // Fails with 42883 if the type has no equality.
        resolver.group_key(arg.clone())?;
        keys.push(Key { ty: arg.ty.plain(), descending, nulls_first });
        args.push(arg.expr.clone());
    }
    let types = values.iter().map(|value| value.ty.plain()).collect();
    args.extend(values.into_iter().map(|value| value.expr));
    let directions: Vec<(bool, bool)> = keys.iter().map(|key| (key.descending, key.nulls_first)).collect();
    let name = format!("{made:?} of different {directions:?}");
    let signature = Signature::any(args.len(), Volatility::Immutable);
    let function = own(Distinct { made, keys, values: types, result, signature, name });
    Ok(TypedExpr::new(undecorated(function, args, call.filter.clone()), result))
}

impl Distinct {
    fn encoder(&self) -> KeyEncoder {
        let column = |key: &Key| KeyColumn {
            descending: key.descending,
            nulls_first: key.nulls_first,
            ..KeyColumn::ascending(key.ty)
        };
        KeyEncoder::new(self.keys.iter().map(column).collect())
    }

    /// Whether a row counts, given which of its values are NULL.
    fn counts(&self, nulls: &[bool]) -> bool {
        match self.made {
            Made::List => true,
            Made::Strings => nulls.first() != Some(&true),
            Made::Regression(_) => !nulls.contains(&true),
        }
    }
}

fn list_of(ty: DataType) -> DataType {
    DataType::List(std::sync::Arc::new(Field::new_list_field(ty, true)))
}

impl AggregateUDFImpl for Distinct {
    fn name(&self) -> &str {
        &self.name
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.arrow())
    }
    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let types = std::iter::once(DataType::Binary).chain(self.values.iter().map(|ty| ty.arrow()));
        let field = |(at, ty): (usize, DataType)| {
            std::sync::Arc::new(Field::new(format_state_name(args.name, &at.to_string()), list_of(ty), true))
        };
        Ok(types.enumerate().map(field).collect())
    }
    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Rows { encoder: self.encoder(), of: self.clone(), rows: BTreeMap::new(), bytes: 0 }))
    }
}

/// The distinct rows by the bytes of their sort keys. Of equal rows that look different the first is kept.
#[derive(Debug)]
struct Rows {
    of: Distinct,
    encoder: KeyEncoder,
    rows: BTreeMap<Vec<u8>, Vec<ScalarValue>>,
    bytes: usize,
}

impl Rows {
    fn take(&mut self, key: Vec<u8>, values: &[ArrayRef], row: usize) -> Result<()> {
        if self.rows.contains_key(&key) {
            return Ok(());
        }
        let values = values.iter().map(|array| Ok(ScalarValue::try_from_array(array, row)?.compacted()));
        let values = values.collect::<Result<Vec<ScalarValue>>>()?;
        self.bytes += key.len() + values.iter().map(ScalarValue::size).sum::<usize>() + 2 * size_of::<Vec<u8>>();
        self.rows.insert(key, values);
        Ok(())
    }

    /// The values of one argument in all rows.
    fn column(&self, at: usize) -> Vec<ScalarValue> {
        self.rows.values().filter_map(|values| values.get(at).cloned()).collect()
    }

    fn text(&self) -> ScalarValue {
        let mut text: Option<String> = None;
        for values in self.rows.values() {
            let [ScalarValue::Utf8(Some(value)), ScalarValue::Utf8(delimiter)] = values.as_slice() else { continue };
            match &mut text {
                None => text = Some(value.clone()),
                Some(text) => {
                    text.push_str(delimiter.as_deref().unwrap_or_default());
                    text.push_str(value);
                }
            }
        }
        ScalarValue::Utf8(text)
    }
}

impl Accumulator for Rows {
    fn update_batch(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let Some((keys, values)) = arrays.split_at_checked(self.of.keys.len()) else {
            return Err(SqlError::internal("an aggregate lacks an argument").into());
        };
        let rows = arrays.first().map_or(0, |array| array.len());
        for row in 0..rows {
            let nulls: Vec<bool> = values.iter().map(|array| array.is_null(row)).collect();
            if self.of.counts(&nulls) {
                let mut key = Vec::new();
                self.encoder.encode_row(keys, row, &mut key)?;
                self.take(key, values, row)?;
            }
        }
        Ok(())
    }
    fn evaluate(&mut self) -> Result<ScalarValue> {
        match self.of.made {
            Made::List if self.rows.is_empty() => ScalarValue::try_from(&self.of.result.arrow()),
            Made::List => Ok(ArrayValue::datum_of(&self.column(0), self.of.result.element())?),
            Made::Strings => Ok(self.text()),
            Made::Regression(name) => {
                let pair = |values: &Vec<ScalarValue>| match values.as_slice() {
                    [ScalarValue::Float64(Some(y)), ScalarValue::Float64(Some(x))] => Some((*y, *x)),
                    _ => None,
                };
                regression::of_pairs(name, self.rows.values().filter_map(pair))
            }
        }
    }
    fn size(&self) -> usize {
        size_of_val(self) + self.bytes
    }
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let list =
            |values: Vec<ScalarValue>, ty: &DataType| ScalarValue::List(ScalarValue::new_list_nullable(&values, ty));
        let keys = self.rows.keys().map(|key| ScalarValue::Binary(Some(key.clone()))).collect();
        let mut state = vec![list(keys, &DataType::Binary)];
        state.extend(self.of.values.iter().enumerate().map(|(at, ty)| list(self.column(at), &ty.arrow())));
        Ok(state)
    }
    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let foreign = || SqlError::internal("an aggregate got a foreign state");
        let lists: Option<Vec<_>> = states.iter().map(|state| state.as_list_opt::<i32>().cloned()).collect();
        let lists = lists.ok_or_else(foreign)?;
        let Some((keys, values)) = lists.split_first() else { return Err(foreign().into()) };
        for state in 0..keys.len() {
            let keys = keys.value(state);
            let keys = keys.as_binary_opt::<i32>().ok_or_else(foreign)?;
            let values: Vec<ArrayRef> = values.iter().map(|list| list.value(state)).collect();
            for row in 0..keys.len() {
                self.take(keys.value(row).to_vec(), &values, row)?;
            }
        }
        Ok(())
    }
}
