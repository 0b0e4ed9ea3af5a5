//! Functions, operators and casts, resolved as in chapter 10 of PostgreSQL's manual.

use crate::types::SqlType;
use datafusion::logical_expr::Expr;

/// An expression and its SQL type. Its Arrow type is `ty.arrow()`, except that a literal or
/// placeholder of type unknown is not yet anything.
#[derive(Clone, Debug)]
pub struct TypedExpr {
    /// DataFusion's expression.
    pub expr: Expr,
    /// SQL type.
    pub ty: SqlType,
}
