//! Window frames: from the syntax tree to DataFusion's, in a unit that it supports for the sort keys.

use super::binder::Binder;
use super::error_position::place_of;
use super::expression::{Clause, Env};
use super::scope::Scope;
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, WindowFrame, WindowFrameBound, WindowFrameUnits, not, when};
use functions::frame::{Edge, Exclude, Frame, Shape, Units, check_constant, checked_offset};
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use syntax::Span;
use syntax::ast::{self, FrameBound, FrameExclusion, FrameUnits};
use types::{BaseType, Datum, SqlType};

/// The sort order of a window.
pub struct WindowOrder {
    /// The sort keys in order.
    pub sorts: Vec<Sort>,
    /// SQL types of the keys.
    pub types: Vec<SqlType>,
}

impl WindowOrder {
    /// Whether DataFusion supports RANGE frames over these keys.
    fn ranges(&self) -> bool {
        let bytes =
            [BaseType::Numeric, BaseType::Interval, BaseType::Timetz, BaseType::Jsonb, BaseType::Bytea, BaseType::Uuid];
        !self.types.iter().any(|ty| ty.array || bytes.contains(&ty.base))
    }
}

/// The start or end of a frame with its offset.
struct Bound {
    edge: Edge,
    offset: Option<TypedExpr>,
}

impl Bound {
    /// The value of the offset, if it is a constant.
    fn constant(&self) -> Option<&Datum> {
        self.offset.as_ref().and_then(|offset| offset.constant())
    }
    /// Whether the offset, if any, is a constant.
    fn is_constant(&self) -> bool {
        self.offset.is_none() || self.constant().is_some()
    }
    /// Whether a constant offset, if any, cannot lead from a key of this type to infinity or out of int8. DataFusion
    /// would wrap around.
    fn stays_within(&self, ty: SqlType) -> bool {
        match self.constant() {
            Some(Datum::Float64(Some(offset))) => offset.is_finite(),
            Some(Datum::Int64(Some(offset))) => ty.base != BaseType::Int8 && offset.unsigned_abs() < 1 << 62,
            _ => self.is_constant(),
        }
    }
    /// Whether this start is behind an end, by their offsets. Such a frame is empty, and DataFusion cannot express it.
    fn is_behind(&self, end: &Bound) -> bool {
        let (Some(start), Some(other)) = (self.constant(), end.constant()) else { return false };
        match (self.edge, end.edge) {
            (Edge::Preceding, Edge::Preceding) => start < other,
            (Edge::Following, Edge::Following) => start > other,
            _ => false,
        }
    }
    /// The bound for DataFusion. `start` says that it is the frame's start. `unbounded` is the NULL for a missing
    /// offset.
    fn native(&self, start: bool, units: WindowFrameUnits, unbounded: Datum) -> Result<WindowFrameBound> {
        let offset = || match (units, self.constant()) {
            (WindowFrameUnits::Range, Some(value)) => Ok(value.clone()),
            (_, Some(Datum::Int64(Some(rows)))) => Ok(Datum::UInt64(u64::try_from(*rows).ok())),
            _ => Err(SqlError::internal("a frame offset of another type")),
        };
        Ok(match self.edge {
            Edge::Unbounded if start => WindowFrameBound::Preceding(unbounded),
            Edge::Unbounded => WindowFrameBound::Following(unbounded),
            Edge::CurrentRow => WindowFrameBound::CurrentRow,
            Edge::Preceding => WindowFrameBound::Preceding(offset()?),
            Edge::Following => WindowFrameBound::Following(offset()?),
        })
    }
}

impl Binder<'_> {
    /// Binds the frame of a window, whose definition is at `place`. If DataFusion runs a RANGE frame with offsets, the
    /// key is converted to the offsets' type.
    pub fn frame(
        &self,
        written: Option<&ast::WindowFrame>,
        place: Span,
        order: &mut WindowOrder,
        env: Env<'_>,
    ) -> Result<Frame> {
        let mut frame = self.whole_frame(written, place, order, env)?;
        if let Some(exclude) = written.and_then(|written| written.exclude) {
            frame.native = None;
            frame.shape.exclude = match exclude {
                FrameExclusion::CurrentRow => Exclude::CurrentRow,
                FrameExclusion::Group => Exclude::Group,
                FrameExclusion::Ties => Exclude::Ties,
            };
            frame.shape.peers = order.sorts.len();
            let peers = order.sorts.iter().map(|sort| sort.expr.clone());
            frame.arguments = peers.chain(frame.arguments).collect();
        }
        Ok(frame)
    }

    /// The frame before its exclusion clause applies.
    fn whole_frame(
        &self,
        frame: Option<&ast::WindowFrame>,
        place: Span,
        order: &mut WindowOrder,
        env: Env<'_>,
    ) -> Result<Frame> {
        let sorted = !order.sorts.is_empty();
        let ignored = if sorted { unoffset(WindowFrameUnits::Groups) } else { WindowFrame::new(None) };
        let Some(ast::WindowFrame { units, start, end, exclude: _, span: _ }) = frame else {
            let shape = Shape {
                units: Units::Groups,
                start: Edge::Unbounded,
                end: if sorted { Edge::CurrentRow } else { Edge::Unbounded },
                descending: false,
                keys: order.sorts.len(),
                exclude: Exclude::NoOthers,
                peers: 0,
            };
            let native = if sorted && order.ranges() { WindowFrame::new(Some(false)) } else { ignored.clone() };
            let arguments = order.sorts.iter().map(|sort| sort.expr.clone()).collect();
            return Ok(Frame { native: Some(native), ignored, shape, arguments });
        };
        let mut units = match units {
            FrameUnits::Rows => WindowFrameUnits::Rows,
            FrameUnits::Range => WindowFrameUnits::Range,
            FrameUnits::Groups => WindowFrameUnits::Groups,
        };
        if units == WindowFrameUnits::Groups && !sorted {
            let error = SqlError::new(state::WINDOWING_ERROR, "GROUPS mode requires an ORDER BY clause");
            return Err(self.at(error, place));
        }
        let offset = has_offset(start) || end.as_ref().is_some_and(has_offset);
        if units == WindowFrameUnits::Range && offset && order.sorts.len() != 1 {
            let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
            return Err(self.at(SqlError::new(state::WINDOWING_ERROR, message), place));
        }
        let key = order.types.first().copied();
        let start = self.bound(start, units, true, key, env)?;
        let end = match end {
            Some(bound) => self.bound(bound, units, false, key, env)?,
            None => Bound { edge: Edge::CurrentRow, offset: None },
        };
        if units == WindowFrameUnits::Range && offset {
            return self.range(order, start, end, ignored);
        }
        let counted = if units == WindowFrameUnits::Rows { Units::Rows } else { Units::Groups };
        // RANGE without ORDER BY: all rows are peers. A RANGE frame without offsets consists of groups of peers.
        let native = if units == WindowFrameUnits::Range && !sorted {
            Some(WindowFrame::new(None))
        } else if start.is_constant() && end.is_constant() && !start.is_behind(&end) {
            if units == WindowFrameUnits::Range && !order.ranges() {
                units = WindowFrameUnits::Groups;
            }
            // The same as in the frame of an OVER without a frame clause, so that both are computed once.
            let unbounded = Datum::UInt64(None);
            let start = start.native(true, units, unbounded.clone())?;
            Some(WindowFrame::new_bounds(units, start, end.native(false, units, unbounded)?))
        } else {
            None
        };
        let keys: Vec<Expr> = match counted {
            Units::Rows => Vec::new(),
            _ => order.sorts.iter().map(|sort| sort.expr.clone()).collect(),
        };
        let shape = Shape {
            units: counted,
            start: start.edge,
            end: end.edge,
            descending: false,
            keys: keys.len(),
            exclude: Exclude::NoOthers,
            peers: 0,
        };
        let offsets = [(start.offset, true), (end.offset, false)];
        let offsets =
            offsets.into_iter().filter_map(|(offset, start)| Some(checked_offset(offset?, start, false).expr));
        Ok(Frame { native, ignored, shape, arguments: keys.into_iter().chain(offsets).collect() })
    }

    /// Binds a RANGE frame with offsets over one key.
    fn range(&self, order: &mut WindowOrder, start: Bound, end: Bound, ignored: WindowFrame) -> Result<Frame> {
        let (Some(sort), Some(ty)) = (order.sorts.first_mut(), order.types.first().copied()) else {
            return Err(SqlError::internal("a frame of RANGE without a key"));
        };
        let key = TypedExpr { expr: sort.expr.clone(), ty };
        let wide = match ty.base {
            _ if ty.is_integer() => Some(SqlType::INT8),
            BaseType::Float4 | BaseType::Float8 => Some(SqlType::FLOAT8),
            _ => None,
        };
        let native = match wide {
            Some(wide) if start.stays_within(ty) && end.stays_within(ty) && !start.is_behind(&end) => {
                sort.expr = self.resolver.cast(key.clone(), wide, CastContext::Implicit)?.expr;
                let units = WindowFrameUnits::Range;
                let start = start.native(true, units, Datum::Null)?;
                Some(WindowFrame::new_bounds(units, start, end.native(false, units, Datum::Null)?))
            }
            _ => None,
        };
        // The type in which the key is compared with an offset's target: times must not wrap around at midnight.
        let compared = match ty.base {
            _ if ty.is_integer() => SqlType::NUMERIC,
            BaseType::Float4 | BaseType::Float8 => SqlType::FLOAT8,
            BaseType::Date => SqlType::TIMESTAMP,
            BaseType::Time => SqlType::INTERVAL,
            BaseType::Timetz => SqlType::NUMERIC,
            _ => ty.plain(),
        };
        let key = match ty.base {
            BaseType::Timetz => self.zoned_key(key)?,
            _ => self.resolver.cast(key, compared, CastContext::Implicit)?,
        };
        let descending = !sort.asc;
        let mut arguments = vec![key.expr.clone()];
        let shape = Shape {
            units: Units::Range(compared),
            start: start.edge,
            end: end.edge,
            descending,
            keys: 1,
            exclude: Exclude::NoOthers,
            peers: 0,
        };
        for (bound, start) in [(start, true), (end, false)] {
            let Some(offset) = bound.offset else { continue };
            let mut offset = checked_offset(offset, start, true);
            if matches!(ty.base, BaseType::Time | BaseType::Timetz) {
                // Only the offset's time counts.
                let time = self.resolver.function("frame time", vec![offset])?;
                offset = time;
            }
            if ty.base == BaseType::Timetz {
                offset = self.zoned_seconds(offset)?;
            }
            let minus = (bound.edge == Edge::Preceding) != descending;
            let symbol = if minus { "-" } else { "+" };
            let mut edge = self.resolver.operator(symbol, Some(key.clone()), offset)?;
            if compared == SqlType::FLOAT8 {
                // Going back by infinity from infinity reaches everything. All NaNs are equal.
                let float = |value| TypedExpr::literal(Datum::Float64(Some(value)), SqlType::FLOAT8);
                let equal = |one, other| self.resolver.operator("=", Some(one), other);
                let infinity = if start != descending { f64::NEG_INFINITY } else { f64::INFINITY };
                let nowhere =
                    equal(edge.clone(), float(f64::NAN))?.expr.and(not(equal(key.clone(), float(f64::NAN))?.expr));
                edge.expr = when(nowhere, float(infinity).expr).otherwise(edge.expr)?;
            }
            arguments.push(edge.expr);
        }
        Ok(Frame { native, ignored, shape, arguments })
    }

    /// A time with time zone as a number, in the order of such times: first by the moment, then by the zone. Unlike the
    /// type, the number can be before midnight or behind the day's end.
    fn zoned_key(&self, key: TypedExpr) -> Result<TypedExpr> {
        let zone = self.resolver.function("extract", vec![TypedExpr::unknown("timezone"), key.clone()])?;
        self.resolver.operator("-", Some(self.zoned_seconds(key)?), zone)
    }

    /// The seconds of a time with time zone or an interval, in the unit of [`Self::zoned_key`]. A microsecond counts
    /// more than any zone.
    fn zoned_seconds(&self, value: TypedExpr) -> Result<TypedExpr> {
        let seconds = self.resolver.function("extract", vec![TypedExpr::unknown("epoch"), value])?;
        let unit = TypedExpr::literal(Datum::Int64(Some(1_000_000_000_000)), SqlType::INT8);
        let unit = self.resolver.cast(unit, SqlType::NUMERIC, CastContext::Implicit)?;
        self.resolver.operator("*", Some(seconds), unit)
    }

    fn bound(
        &self,
        bound: &FrameBound,
        units: WindowFrameUnits,
        start: bool,
        key: Option<SqlType>,
        env: Env<'_>,
    ) -> Result<Bound> {
        let (edge, expr) = match bound {
            FrameBound::CurrentRow => return Ok(Bound { edge: Edge::CurrentRow, offset: None }),
            FrameBound::UnboundedPreceding | FrameBound::UnboundedFollowing => {
                return Ok(Bound { edge: Edge::Unbounded, offset: None });
            }
            FrameBound::Preceding(expr) => (Edge::Preceding, expr),
            FrameBound::Following(expr) => (Edge::Following, expr),
        };
        let offset = self.frame_offset(expr, units, key, env)?;
        if let Some(value) = offset.constant() {
            check_constant(value, offset.ty, start, units == WindowFrameUnits::Range)?;
        }
        Ok(Bound { edge, offset: Some(offset) })
    }

    /// Binds an offset. It is int8 or, for RANGE, of the type that belongs to the key.
    fn frame_offset(
        &self,
        expr: &ast::Expr,
        units: WindowFrameUnits,
        key: Option<SqlType>,
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        let scope = Scope::empty(None);
        let typed = self.expr(expr, Env::new(&scope, Clause::FrameOffset(units))).map_err(|error| {
            if error.state() == state::UNDEFINED_COLUMN && self.expr(expr, env).is_ok() {
                let message = format!("argument of {units} must not contain variables");
                return self.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, message), place_of(expr));
            }
            error
        })?;
        let (ty, context) = match (units, key) {
            (WindowFrameUnits::Range, Some(key)) => {
                let ty = range_type(key, typed.ty).map_err(|error| self.at(error, place_of(expr)))?;
                (ty, CastContext::Implicit)
            }
            _ => (SqlType::INT8, CastContext::Assignment),
        };
        let from = typed.ty;
        let typed = match key {
            // An offset of unknown type has the key's type.
            Some(key) if typed.is_unknown() && key.is_integer() && units == WindowFrameUnits::Range => {
                self.resolver.cast(typed, key.plain(), CastContext::Implicit)?
            }
            _ => typed,
        };
        let typed = self.resolver.cast(typed, ty, context).map_err(|error| {
            if !matches!(error.state(), state::CANNOT_COERCE | state::DATATYPE_MISMATCH) {
                return error;
            }
            let message = format!("argument of {units} must be type {}, not type {}", ty.name(), from.name());
            self.at(SqlError::new(state::DATATYPE_MISMATCH, message), place_of(expr))
        })?;
        Ok(TypedExpr { expr: self.folded(typed.expr)?, ty })
    }

    /// Evaluates the constant parts of an expression.
    pub fn folded(&self, expr: Expr) -> Result<Expr> {
        use datafusion::logical_expr::simplify::SimplifyContext;
        use datafusion::optimizer::simplify_expressions::ExprSimplifier;
        if matches!(expr, Expr::Literal(..)) {
            return Ok(expr);
        }
        Ok(ExprSimplifier::new(SimplifyContext::default()).simplify(expr)?)
    }
}

/// The frame from the partition's first row to the last peer of the current row.
fn unoffset(units: WindowFrameUnits) -> WindowFrame {
    WindowFrame::new_bounds(units, WindowFrameBound::Preceding(Datum::UInt64(None)), WindowFrameBound::CurrentRow)
}

fn has_offset(bound: &FrameBound) -> bool {
    matches!(bound, FrameBound::Preceding(_) | FrameBound::Following(_))
}

/// The type of the offsets of a RANGE frame over a key.
fn range_type(key: SqlType, offset: SqlType) -> Result<SqlType> {
    // PostgreSQL sorts varchar as text.
    let sorted = if key.base == BaseType::Varchar && !key.array { SqlType::TEXT } else { key.plain() };
    let refused = |and: &str| {
        let message =
            format!("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {}{and}", sorted.name());
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
        BaseType::Numeric if unknown || offset.is_integer() || offset.base == BaseType::Numeric => Ok(SqlType::NUMERIC),
        BaseType::Date | BaseType::Timestamp | BaseType::Timestamptz | BaseType::Interval | BaseType::Time
            if unknown || matches!(offset.base, BaseType::Interval | BaseType::Time) =>
        {
            Ok(SqlType::INTERVAL)
        }
        BaseType::Timetz if unknown || offset.base == BaseType::Interval => Ok(SqlType::INTERVAL),
        BaseType::Int2
        | BaseType::Int4
        | BaseType::Int8
        | BaseType::Float4
        | BaseType::Float8
        | BaseType::Numeric
        | BaseType::Date
        | BaseType::Timestamp
        | BaseType::Timestamptz
        | BaseType::Interval
        | BaseType::Time
        | BaseType::Timetz => Err(other()),
        _ => Err(refused("")),
    }
}
