//! Window frames: from the syntax tree to DataFusion's, in the unit that it can run over the keys sorted by.

use super::binder::Binder;
use super::expression::{Clause, Env};
use super::scope::Scope;
use crate::error::{Result, SqlError, state};
use crate::functions::{CastContext, TypedExpr};
use crate::types::{BaseType, Datum, SqlType};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, WindowFrame, WindowFrameBound, WindowFrameUnits};
use sqlparser::ast::{self, Spanned};

/// What a window is sorted by.
pub struct WindowOrder {
    /// The keys.
    pub sorts: Vec<Sort>,
    /// Their types.
    pub types: Vec<SqlType>,
}

impl WindowOrder {
    /// Whether DataFusion compares these keys in RANGE frames.
    fn ranges(&self) -> bool {
        let bytes =
            [BaseType::Numeric, BaseType::Interval, BaseType::Timetz, BaseType::Jsonb, BaseType::Bytea, BaseType::Uuid];
        !self.types.iter().any(|ty| !ty.array && bytes.contains(&ty.base))
    }
}

impl Binder<'_> {
    /// The frame of a window. The key of a RANGE frame with offsets is made the type of its offsets.
    pub fn frame(
        &self,
        frame: Option<&ast::WindowFrame>,
        order: &mut WindowOrder,
        env: Env<'_>,
    ) -> Result<WindowFrame> {
        let sorted = !order.sorts.is_empty();
        let Some(ast::WindowFrame { units, start_bound, end_bound }) = frame else {
            return Ok(if sorted && !order.ranges() {
                unoffset(WindowFrameUnits::Groups)
            } else {
                WindowFrame::new(sorted.then_some(false))
            });
        };
        let mut units = match units {
            ast::WindowFrameUnits::Rows => WindowFrameUnits::Rows,
            ast::WindowFrameUnits::Range => WindowFrameUnits::Range,
            ast::WindowFrameUnits::Groups => WindowFrameUnits::Groups,
        };
        if units == WindowFrameUnits::Groups && !sorted {
            return Err(SqlError::new(state::WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause"));
        }
        let offset = [Some(start_bound), end_bound.as_ref()].into_iter().flatten().any(has_offset);
        if units == WindowFrameUnits::Range {
            if offset && order.sorts.len() != 1 {
                let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
                return Err(SqlError::new(state::WINDOWING_ERROR, message));
            }
            // Without offsets, a RANGE frame is one of groups of peers.
            if !offset && !order.ranges() {
                units = WindowFrameUnits::Groups;
            }
        }
        let key = order.types.first().copied();
        let start = self.bound(start_bound, units, true, key, env)?;
        let end = match end_bound {
            Some(bound) => self.bound(bound, units, false, key, env)?,
            None => WindowFrameBound::CurrentRow,
        };
        let rank = |bound: &WindowFrameBound| match bound {
            WindowFrameBound::Preceding(_) => 0,
            WindowFrameBound::CurrentRow => 1,
            WindowFrameBound::Following(_) => 2,
        };
        if rank(&start) > rank(&end) {
            let message = if rank(&start) == 1 {
                "frame starting from current row cannot have preceding rows"
            } else if rank(&end) == 1 {
                "frame starting from following row cannot end with current row"
            } else {
                "frame starting from following row cannot have preceding rows"
            };
            return Err(SqlError::new(state::WINDOWING_ERROR, message));
        }
        // RANGE without ORDER BY: all rows are peers.
        if units == WindowFrameUnits::Range && !sorted {
            return Ok(WindowFrame::new(None));
        }
        if units == WindowFrameUnits::Range
            && offset
            && let (Some(sort), Some(ty)) = (order.sorts.first_mut(), key)
        {
            let wide = if ty.is_integer() { SqlType::INT8 } else { SqlType::FLOAT8 };
            let typed = TypedExpr { expr: sort.expr.clone(), ty };
            sort.expr = self.resolver.cast(typed, wide, CastContext::Implicit)?.expr;
        }
        Ok(WindowFrame::new_bounds(units, start, end))
    }

    fn bound(
        &self,
        bound: &ast::WindowFrameBound,
        units: WindowFrameUnits,
        start: bool,
        key: Option<SqlType>,
        env: Env<'_>,
    ) -> Result<WindowFrameBound> {
        let preceding = matches!(bound, ast::WindowFrameBound::Preceding(_));
        let offset = match bound {
            ast::WindowFrameBound::CurrentRow => return Ok(WindowFrameBound::CurrentRow),
            ast::WindowFrameBound::Preceding(offset) | ast::WindowFrameBound::Following(offset) => offset,
        };
        let value = match offset {
            None if preceding && !start => {
                return Err(SqlError::new(state::WINDOWING_ERROR, "frame end cannot be UNBOUNDED PRECEDING"));
            }
            None if !preceding && start => {
                return Err(SqlError::new(state::WINDOWING_ERROR, "frame start cannot be UNBOUNDED FOLLOWING"));
            }
            None if units == WindowFrameUnits::Range => Datum::Null,
            None => Datum::UInt64(None),
            Some(expr) => {
                let value = self.frame_offset(expr, units, key, env)?;
                if value.is_null() {
                    let side = if start { "starting" } else { "ending" };
                    let message = format!("frame {side} offset must not be null");
                    return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, message));
                }
                let negative = match value {
                    Datum::Int64(Some(value)) => value < 0,
                    Datum::Float64(Some(value)) => value.is_nan() || value < 0.0,
                    _ => false,
                };
                if negative && units == WindowFrameUnits::Range {
                    return Err(SqlError::new("22013", "invalid preceding or following size in window function"));
                }
                if negative {
                    let side = if start { "starting" } else { "ending" };
                    return Err(SqlError::new("22013", format!("frame {side} offset must not be negative")));
                }
                match (units, value) {
                    (WindowFrameUnits::Range, value) => value,
                    (_, Datum::Int64(Some(rows))) => Datum::UInt64(u64::try_from(rows).ok()),
                    _ => return Err(SqlError::internal("a frame offset of another type")),
                }
            }
        };
        Ok(if preceding { WindowFrameBound::Preceding(value) } else { WindowFrameBound::Following(value) })
    }

    /// The value of an offset: of type int8, or float8 where the key of a RANGE frame is a float.
    fn frame_offset(
        &self,
        expr: &ast::Expr,
        units: WindowFrameUnits,
        key: Option<SqlType>,
        env: Env<'_>,
    ) -> Result<Datum> {
        let scope = Scope::empty(None);
        let typed = self.expr(expr, Env::new(&scope, Clause::Execute)).map_err(|error| {
            if error.state() == state::UNDEFINED_COLUMN && self.expr(expr, env).is_ok() {
                let message = format!("argument of {units} must not contain variables");
                return self.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, message), expr.span());
            }
            error
        })?;
        let ty = match (units, key) {
            (WindowFrameUnits::Range, Some(key)) => range_type(key, typed.ty)?,
            _ => SqlType::INT8,
        };
        let from = typed.ty;
        let typed = self.resolver.cast(typed, ty, CastContext::Implicit).map_err(|error| {
            if error.state() != state::CANNOT_COERCE {
                return error;
            }
            let message = format!("argument of {units} must be type {}, not type {}", ty.name(), from.name());
            self.at(SqlError::new(state::DATATYPE_MISMATCH, message), expr.span())
        })?;
        match self.folded(typed.expr)? {
            Expr::Literal(value, _) => Ok(value),
            _ => Err(SqlError::unsupported("a window frame offset that is not a constant")),
        }
    }

    /// An expression with its constant parts computed.
    pub fn folded(&self, expr: Expr) -> Result<Expr> {
        use datafusion::logical_expr::simplify::SimplifyContext;
        use datafusion::optimizer::simplify_expressions::ExprSimplifier;
        if matches!(expr, Expr::Literal(..)) {
            return Ok(expr);
        }
        Ok(ExprSimplifier::new(SimplifyContext::default()).simplify(expr)?)
    }
}

/// From the first row of the partition to the last peer of the current row.
fn unoffset(units: WindowFrameUnits) -> WindowFrame {
    WindowFrame::new_bounds(units, WindowFrameBound::Preceding(Datum::UInt64(None)), WindowFrameBound::CurrentRow)
}

fn has_offset(bound: &ast::WindowFrameBound) -> bool {
    use ast::WindowFrameBound as B;
    matches!(bound, B::Preceding(Some(_)) | B::Following(Some(_)))
}

/// The type in which the offsets of a RANGE frame over a key are counted.
fn range_type(key: SqlType, offset: SqlType) -> Result<SqlType> {
    let refused = |and: &str| {
        let message = format!(
            "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}{and}",
            key.plain().name()
        );
        SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
    };
    let unknown = offset == SqlType::UNKNOWN;
    let other = || {
        refused(&format!(" and offset type {}", offset.plain().name()))
            .hint("Cast the offset value to an appropriate type.")
    };
    match key.base {
        _ if key.array => Err(refused("")),
        BaseType::Int2 | BaseType::Int4 | BaseType::Int8 if unknown || offset.is_integer() => Ok(SqlType::INT8),
        BaseType::Float4 | BaseType::Float8 if unknown || offset.is_number() => Ok(SqlType::FLOAT8),
        BaseType::Numeric if unknown || offset.is_integer() || offset.base == BaseType::Numeric => {
            Err(SqlError::unsupported("RANGE with an offset over numeric"))
        }
        BaseType::Date | BaseType::Timestamp | BaseType::Timestamptz if unknown => {
            Err(SqlError::unsupported("the type interval"))
        }
        BaseType::Int2
        | BaseType::Int4
        | BaseType::Int8
        | BaseType::Float4
        | BaseType::Float8
        | BaseType::Numeric
        | BaseType::Date
        | BaseType::Timestamp
        | BaseType::Timestamptz => Err(other()),
        _ => Err(refused("")),
    }
}
