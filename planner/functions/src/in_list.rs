//! `IN (list)`: whether a value equals one of several. DataFusion's own list has two faults. It keeps the values that a
//! list of parameters had when the plan was made. It also intersects two lists over one value by their text, ignoring
//! NULL. [`constant_list`] converts lists of constants to DataFusion's once the rewrites are done.

use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray};
use datafusion::arrow::compute::or_kleene;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::{PhysicalExpr, expressions as physical};
use datafusion::physical_expr_common::datum::apply_cmp;
use datafusion::scalar::ScalarValue;
use std::sync::{Arc, LazyLock};

/// Name of the function.
pub const NAME: &str = "in list";

/// `value IN (members)`. All have one Arrow type, for which `=` compares correctly.
pub fn one_of(value: Expr, members: Vec<Expr>) -> Expr {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Arc::new(ScalarUDF::from(OneOf::new())));
    let mut arguments = vec![value];
    arguments.extend(members);
    FUNCTION.call(arguments)
}

/// The value and the members of an expression that [`one_of`] made.
pub fn parts(expr: &Expr) -> Option<(&Expr, &[Expr])> {
    let Expr::ScalarFunction(call) = expr else { return None };
    if call.name() != NAME {
        return None;
    }
    call.args.split_first()
}

/// Converts a list of literals, or its negation, to DataFusion's list, which hashes them. `None` for other expressions.
pub fn constant_list(expr: &Expr) -> Option<Expr> {
    let (inner, negated) = match expr {
        Expr::Not(inner) => (inner.as_ref(), true),
        other => (other, false),
    };
    if let (Expr::InList(list), true) = (inner, negated) {
        return (!list.negated).then(|| Expr::InList(InList { negated: true, ..list.clone() }));
    }
    let (value, members) = parts(inner)?;
    // DataFusion's list distinguishes 0 from -0.
    let exact = |value: &ScalarValue| !value.data_type().is_floating();
    let literals = members.iter().all(|member| matches!(member, Expr::Literal(value, _) if exact(value)));
    literals.then(|| Expr::InList(InList { expr: Box::new(value.clone()), list: members.to_vec(), negated }))
}

/// Merges the operands of OR that compare one column with literals. DataFusion would merge them into its own list.
pub fn merged(operands: Vec<Expr>) -> Vec<Expr> {
    let mut merged: Vec<Expr> = Vec::with_capacity(operands.len());
    // Per column and type: position of the list, and its members.
    let mut lists: Vec<(Expr, DataType, usize, Vec<Expr>)> = Vec::new();
    for operand in operands {
        let Some((column, members, data_type)) = literals_of(&operand) else {
            merged.push(operand);
            continue;
        };
        match lists.iter_mut().find(|(other, other_type, ..)| *other == column && *other_type == data_type) {
            Some((.., all)) => all.extend(members),
            None => {
                lists.push((column, data_type, merged.len(), members));
                merged.push(operand);
            }
        }
    }
    for (column, _, place, members) in lists {
        if let (Some(operand), true) = (merged.get_mut(place), members.len() > 1) {
            *operand = one_of(column, members);
        }
    }
    merged
}

/// The column, the literals and their type, of `column = literal` or of a list of literals.
fn literals_of(operand: &Expr) -> Option<(Expr, Vec<Expr>, DataType)> {
    let (column, members) = match operand {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => match (left.as_ref(), right.as_ref()) {
            (column, literal @ Expr::Literal(..)) => (column, std::slice::from_ref(literal)),
            (literal @ Expr::Literal(..), column) => (column, std::slice::from_ref(literal)),
            _ => return None,
        },
        other => parts(other)?,
    };
    let mut types = members.iter().map(|member| match member {
        Expr::Literal(value, _) => Some(value.data_type()),
        _ => None,
    });
    let data_type = types.next()??;
    let alike = matches!(column, Expr::Column(_)) && types.all(|other| other.as_ref() == Some(&data_type));
    alike.then(|| (column.clone(), members.to_vec(), data_type))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OneOf {
    signature: Signature,
}

impl OneOf {
    fn new() -> Self {
        OneOf { signature: Signature::variadic_any(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for OneOf {
    fn name(&self) -> &str {
        NAME
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }
    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let mut values = arguments.args.into_iter();
        let missing = || DataFusionError::Internal("a list without a value".into());
        let value = values.next().ok_or_else(missing)?;
        if let Some(found) = found_by_hash(&value, values.as_slice())? {
            return Ok(found);
        }
        let mut found: Option<ColumnarValue> = None;
        for member in values {
            let equal = equal(&value, &member)?;
            found = Some(match found {
                None => equal,
                Some(found) => either(found, equal, rows)?,
            });
        }
        found.ok_or_else(missing)
    }
}

/// Looks the value up in a hash set of members that are the same for all rows. `None` if there are few members, or if
/// equal values may hash differently.
fn found_by_hash(value: &ColumnarValue, members: &[ColumnarValue]) -> Result<Option<ColumnarValue>> {
    /// Up to this many members are compared one by one.
    const FEW: usize = 8;
    let ColumnarValue::Array(array) = value else { return Ok(None) };
    let data_type = array.data_type();
    if members.len() <= FEW || data_type.is_nested() || data_type.is_floating() || *data_type == DataType::Null {
        return Ok(None);
    }
    let literal = |member: &ColumnarValue| -> Option<Arc<dyn PhysicalExpr>> {
        match member {
            ColumnarValue::Scalar(value) if value.data_type() == *data_type => Some(physical::lit(value.clone())),
            _ => None,
        }
    };
    let Some(list) = members.iter().map(literal).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let schema = Arc::new(Schema::new(vec![Field::new("value", data_type.clone(), true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(array)])?;
    let column: Arc<dyn PhysicalExpr> = Arc::new(physical::Column::new("value", 0));
    Ok(Some(physical::in_list(column, list, &false, &schema)?.evaluate(&batch)?))
}

fn equal(value: &ColumnarValue, member: &ColumnarValue) -> Result<ColumnarValue> {
    if value.data_type() == DataType::Null || member.data_type() == DataType::Null {
        return Ok(ColumnarValue::Scalar(ScalarValue::Boolean(None)));
    }
    apply_cmp(Operator::Eq, value, member)
}

fn either(left: ColumnarValue, right: ColumnarValue, rows: usize) -> Result<ColumnarValue> {
    if let (ColumnarValue::Scalar(ScalarValue::Boolean(a)), ColumnarValue::Scalar(ScalarValue::Boolean(b))) =
        (&left, &right)
    {
        let either = match (a, b) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
        return Ok(ColumnarValue::Scalar(ScalarValue::Boolean(either)));
    }
    let both = [left.into_array(rows)?, right.into_array(rows)?];
    let [left, right] = both.each_ref().map(|array: &ArrayRef| array.as_boolean_opt());
    let (Some(left), Some(right)): (Option<&BooleanArray>, Option<&BooleanArray>) = (left, right) else {
        return Err(DataFusionError::Internal("a comparison that is not boolean".into()));
    };
    Ok(ColumnarValue::Array(Arc::new(or_kleene(left, right)?)))
}
