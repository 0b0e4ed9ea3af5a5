//! COALESCE, as one of two plans. A CASE is used if a later operand may fail or has side effects: it evaluates an
//! operand only for rows without a value so far. Otherwise a function evaluates each operand once. The function is also
//! used if an operand before the last has side effects (see `execution::lazy_coalesce`). A nested COALESCE is
//! flattened. DataFusion's own coalesce exists only in plans that it has simplified. All operands have the same type.

use super::guarded_case;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::compute::is_not_null;
use datafusion::arrow::compute::kernels::zip::zip;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use std::sync::{Arc, LazyLock};

/// Name of the function.
pub const COALESCE: &str = "coalesce";

/// The first of `operands` that is not NULL. There must be at least one operand.
pub fn coalesce(operands: Vec<Expr>) -> Expr {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Arc::new(ScalarUDF::from(Coalesce::new())));
    // Flatten nested calls: a CASE evaluates its operands twice.
    let mut operands: Vec<Expr> = operands.into_iter().flat_map(operands_of).collect();
    // A CASE evaluates all operands but the last twice.
    let once = operands.iter().rev().skip(1).any(has_effects);
    if once || operands.iter().skip(1).all(is_harmless) {
        return if operands.len() == 1 { operands.remove(0) } else { FUNCTION.call(operands) };
    }
    let last = operands.pop();
    let branches = operands.into_iter().map(|operand| (operand.clone().is_not_null(), operand)).collect();
    guarded_case::case(branches, last)
}

/// The operands of an expression that [`coalesce`] made. For others, the expression itself.
fn operands_of(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::ScalarFunction(call) if call.name() == COALESCE => call.args,
        Expr::Case(case) if case.expr.is_some() && guarded_case::is_searched(&case) && is_coalesce(&case) => {
            let operands = case.when_then_expr.into_iter().map(|(_, then)| *then);
            operands.chain(case.else_expr.map(|last| *last)).collect()
        }
        other => vec![other],
    }
}

fn is_coalesce(case: &Case) -> bool {
    let asked =
        |(when, then): &(Box<Expr>, Box<Expr>)| matches!(when.as_ref(), Expr::IsNotNull(inner) if inner == then);
    case.else_expr.is_some() && case.when_then_expr.iter().all(asked)
}

fn has_effects(operand: &Expr) -> bool {
    operand.is_volatile()
}

/// Whether evaluating an operand in vain is cheap, cannot fail and has no side effects.
fn is_harmless(operand: &Expr) -> bool {
    match operand {
        Expr::Literal(..) | Expr::Column(_) | Expr::Placeholder(_) | Expr::OuterReferenceColumn(..) => true,
        Expr::ScalarFunction(call) if call.name() == COALESCE => call.args.iter().all(is_harmless),
        _ => false,
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Coalesce {
    signature: Signature,
}

impl Coalesce {
    fn new() -> Self {
        Coalesce { signature: Signature::variadic_any(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Coalesce {
    fn name(&self) -> &str {
        COALESCE
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn short_circuits(&self) -> bool {
        true
    }
    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        let (first, rest) = args.split_first()?;
        Some((vec![first], rest.iter().collect()))
    }
    fn return_type(&self, operands: &[DataType]) -> Result<DataType> {
        Ok(operands.iter().find(|ty| **ty != DataType::Null).cloned().unwrap_or(DataType::Null))
    }
    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let types: Vec<DataType> = arguments.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        // Declared nullable: DataFusion skips the evaluation of IS NULL for others, which would hide an operand's
        // error.
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, true)))
    }
    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let mut operands = arguments.args.into_iter().filter(|operand| operand.data_type() != DataType::Null);
        let Some(mut found) = operands.next() else {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_new_null(arguments.return_field.data_type())?));
        };
        for next in operands {
            found = match (&found, next) {
                (ColumnarValue::Scalar(value), next) if value.is_null() => next,
                (ColumnarValue::Scalar(_), _) => return Ok(found),
                (ColumnarValue::Array(array), _) if array.null_count() == 0 => return Ok(found),
                (ColumnarValue::Array(array), next) => ColumnarValue::Array(filled(array, next, rows)?),
            };
        }
        Ok(found)
    }
}

/// Fills the NULLs of an array with the values of another.
pub fn filled(array: &ArrayRef, next: ColumnarValue, rows: usize) -> Result<ArrayRef> {
    let mask = is_not_null(array.as_ref())?;
    Ok(match next {
        ColumnarValue::Scalar(value) => zip(&mask, array, &value.to_scalar()?)?,
        ColumnarValue::Array(next) => {
            debug_assert_eq!(next.len(), rows);
            zip(&mask, array, &next)?
        }
    })
}
