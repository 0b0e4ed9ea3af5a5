//! Functions, operators and casts, resolved as in chapter 10 of PostgreSQL's manual.
//!
//! [`Resolver`] converts names, symbols and typed arguments to typed DataFusion expressions. [`registry`] lists the
//! scalar functions. Their computations are [`kernel::Kernel`]s over Arrow arrays.

pub mod advisory;
mod aggregate;
mod arithmetic;
mod array;
mod cast;
mod cast_kernel;
pub mod catalog_functions;
mod coalesce;
mod comparison;
mod degrees;
pub mod distinctness;
mod enumeration;
pub mod error_position;
pub mod frame;
pub mod guarded_case;
mod hash;
pub mod in_list;
pub mod json;
pub mod kernel;
mod large_object;
mod math;
mod operator;
mod operator_names;
mod options;
mod overload_resolution;
mod parameters;
pub mod random;
pub mod record;
pub mod registry;
mod resolver;
mod sequence;
pub mod series;
mod session;
pub mod signature;
mod size;
mod string;
mod time;
pub mod times_read;
pub mod typed;
mod variadic;
pub mod volatile_join_filter;
mod width_bucket;
mod window;

pub use aggregate::exists as is_aggregate;
pub use array::element as array_element;
pub use array::elements as array_elements;
pub use cast::{CastContext, cast_exists};
pub use coalesce::{COALESCE, coalesce, filled};
pub use comparison::balanced;
pub use comparison::{INTERVAL_KEY, NUMERIC_KEY, numeric_key};
pub use json::is_row_function as is_json_row_function;
pub use json::with_part as jsonb_with_part;
pub use kernel::{Call, Kernel, Stability};
pub use parameters::ParameterTypes;
pub use parameters::parameter_number;
pub use registry::{Param, ResultType, ScalarFunction, is_internal};
pub use resolver::Resolver;
pub use sequence::next_identity;
pub use session::wait;
pub use window::WindowCall;

use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, Volatility};
use datafusion::scalar::ScalarValue;
use types::SqlType;

/// Whether DataFusion considers an expression volatile. Parameters are not volatile until they have values.
pub fn differs_by_run(expr: &Expr) -> bool {
    let volatile = |part: &Expr| match part {
        Expr::ScalarFunction(call) => Ok(call.func.signature().volatility == Volatility::Volatile),
        _ => Ok(false),
    };
    // An expression that cannot be walked is treated as volatile.
    expr.exists(volatile).unwrap_or(true)
}

/// An expression and its SQL type. Its Arrow type is `ty.arrow()`, except for a literal or placeholder whose type is
/// still unknown.
#[derive(Clone, Debug)]
pub struct TypedExpr {
    /// The expression for DataFusion.
    pub expr: Expr,
    /// The expression's SQL type.
    pub ty: SqlType,
}

impl TypedExpr {
    /// An expression of a given type.
    pub fn new(expr: Expr, ty: SqlType) -> Self {
        TypedExpr { expr, ty }
    }
    /// A constant of a given type.
    pub fn literal(value: ScalarValue, ty: SqlType) -> Self {
        TypedExpr { expr: Expr::Literal(value, None), ty }
    }
    /// A string literal whose type is not resolved yet.
    pub fn unknown(text: impl Into<String>) -> Self {
        Self::literal(ScalarValue::Utf8(Some(text.into())), SqlType::UNKNOWN)
    }
    /// A NULL whose type is not resolved yet.
    pub fn null() -> Self {
        Self::literal(ScalarValue::Utf8(None), SqlType::UNKNOWN)
    }
    /// Whether the type is not resolved yet.
    pub fn is_unknown(&self) -> bool {
        self.ty.base == types::BaseType::Unknown && !self.ty.array
    }
    /// The value, if the expression is a constant.
    pub fn constant(&self) -> Option<&ScalarValue> {
        match &self.expr {
            Expr::Literal(value, _) => Some(value),
            _ => None,
        }
    }
}

/// A call of an aggregate function.
#[derive(Clone, Debug, Default)]
pub struct AggregateCall {
    /// Arguments; none for `count(*)`.
    pub args: Vec<TypedExpr>,
    /// Whether the call has DISTINCT.
    pub distinct: bool,
    /// The condition of FILTER (WHERE …), of type bool.
    pub filter: Option<Expr>,
    /// The sort keys of ORDER BY within the call.
    pub order_by: Vec<Sort>,
}
