//! Window frames that DataFusion does not run itself: RANGE with offsets over numerics, dates, times and intervals, and
//! offsets that are not constants. [`Framed`] is a window function around another. It receives the bounds of each row's
//! frame as columns and passes the rows between them to the other function.
//!
//! Its arguments are, in order:
//! - the sort keys that define excluded peers, if any;
//! - the sort keys that define peers (RANGE has one key);
//! - the offset or bound of the start and of the end, where they have one;
//! - the arguments of the inner function;
//! - the filter.

mod bounds;
mod evaluate;
mod shift;

pub(super) use shift::Shift;

use super::kernel::{Call, Kernel, KernelFunction, Stability};
use super::{TypedExpr, WindowCall};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    AggregateUDF, Expr, PartitionEvaluator, Signature, Volatility, WindowFrame, WindowUDF, WindowUDFImpl,
};
use sql_error::{Result, SqlError, state};
use std::ops::Range;
use std::sync::Arc;
use types::SqlType;
use types::interval::Interval;
use types::numeric::Numeric;
use types::value::{ValueRef, value_at};
use types::{BaseType, Datum};

/// The unit that a frame's offsets count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Units {
    /// Single rows, as in ROWS.
    Rows,
    /// Groups of peers: GROUPS.
    Groups,
    /// Values of the one key, which has this type. An offset is given as the key that it leads to.
    Range(SqlType),
}

/// Start or end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// The edge of the partition.
    Unbounded,
    /// The current row or its peers.
    CurrentRow,
    /// An offset before the current row.
    Preceding,
    /// An offset after the current row.
    Following,
}

impl Edge {
    fn has_offset(self) -> bool {
        matches!(self, Edge::Preceding | Edge::Following)
    }
}

/// The rows that a frame excludes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Exclude {
    /// Excludes no rows: EXCLUDE NO OTHERS.
    #[default]
    NoOthers,
    /// Excludes the current row.
    CurrentRow,
    /// Excludes the current row and its peers.
    Group,
    /// Excludes the current row's peers, but not itself.
    Ties,
}

/// The properties of a frame that are known while planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The unit of the offsets.
    pub units: Units,
    /// The start of the frame.
    pub start: Edge,
    /// The end of the frame.
    pub end: Edge,
    /// Whether the key of RANGE sorts descending.
    pub descending: bool,
    /// Number of keys that define peers.
    pub keys: usize,
    /// The rows that are excluded.
    pub exclude: Exclude,
    /// Number of keys that define excluded peers. They precede all other arguments.
    pub peers: usize,
}

/// The bound frame of a window.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The frame as DataFusion runs it. `None` if it cannot.
    pub native: Option<WindowFrame>,
    /// The frame for functions that ignore it.
    pub ignored: WindowFrame,
    /// The frame as [`Framed`] runs it.
    pub shape: Shape,
    /// The first arguments of [`Framed`]: keys, then offsets.
    pub arguments: Vec<Expr>,
}

/// The function that is computed over each frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Inner {
    /// An aggregate over the frame's rows.
    Aggregate(Arc<AggregateUDF>),
    /// The first argument in the frame's first row: first_value.
    First,
    /// The first argument in the frame's last row: last_value.
    Last,
    /// The first argument in the row numbered by the second: nth_value.
    Nth,
}

impl Inner {
    fn name(&self) -> &str {
        match self {
            Inner::Aggregate(function) => function.name(),
            Inner::First => "first_value",
            Inner::Last => "last_value",
            Inner::Nth => "nth_value",
        }
    }
}

/// A window function around another; the module head describes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Framed {
    /// The name includes all parameters: DataFusion identifies columns by name.
    name: String,
    inner: Inner,
    shape: Shape,
    filtered: bool,
    signature: Signature,
}

impl Framed {
    /// Which of `count` arguments belong to the inner function.
    fn inner_arguments(&self, count: usize) -> Range<usize> {
        let offsets = [self.shape.start, self.shape.end].into_iter().filter(|edge| edge.has_offset()).count();
        let start = self.shape.peers + self.shape.keys + offsets;
        start..count.saturating_sub(usize::from(self.filtered)).max(start)
    }
    /// The result type for arguments of these types.
    fn result(&self, fields: &[FieldRef]) -> Result<DataType> {
        let inner = fields.get(self.inner_arguments(fields.len())).unwrap_or_default();
        match (&self.inner, inner) {
            (Inner::Aggregate(function), _) => Ok(function.return_field(inner)?.data_type().clone()),
            (_, [value, ..]) => Ok(value.data_type().clone()),
            (_, []) => Err(SqlError::internal("a function lacks its argument")),
        }
    }
}

/// Wraps a function for a frame that DataFusion cannot run. Answers the wrapper and its arguments.
pub(super) fn framed(inner: Inner, args: Vec<Expr>, call: &WindowCall) -> (Arc<WindowUDF>, Vec<Expr>) {
    let shape = call.frame.shape;
    let Shape { units, start, end, descending, exclude, .. } = shape;
    let units = match units {
        Units::Rows => "rows",
        Units::Groups => "groups",
        Units::Range(_) if descending => "range down",
        Units::Range(_) => "range",
    };
    let function = Framed {
        name: format!("{} {units} {start:?} {end:?} {exclude:?}", inner.name()),
        inner,
        shape,
        filtered: call.filter.is_some(),
        signature: Signature::variadic_any(Volatility::Immutable),
    };
    let arguments = call.frame.arguments.iter().cloned().chain(args).chain(call.filter.clone()).collect();
    (Arc::new(WindowUDF::new_from_impl(function)), arguments)
}

impl WindowUDFImpl for Framed {
    fn name(&self) -> &str {
        &self.name
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn field(&self, arguments: WindowUDFFieldArgs<'_>) -> DataFusionResult<FieldRef> {
        Ok(Arc::new(Field::new(arguments.name(), self.result(arguments.input_fields())?, true)))
    }
    fn partition_evaluator(
        &self,
        arguments: PartitionEvaluatorArgs<'_>,
    ) -> DataFusionResult<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(evaluate::Evaluator::new(self.clone(), &arguments)))
    }
}

/// Checks an offset while running. Errors then: 22004 for NULL, 22013 for a negative one.
pub fn checked_offset(offset: TypedExpr, start: bool, range: bool) -> TypedExpr {
    let ty = offset.ty.plain();
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let offsets = call.array(0)?;
        for row in 0..offsets.len() {
            check(&value_at(offsets.as_ref(), row)?, ty, start, range)?;
        }
        Ok(Arc::clone(offsets) as ArrayRef)
    });
    let name = format!("frame {} offset{}", if start { "start" } else { "end" }, if range { " of RANGE" } else { "" });
    KernelFunction::new(name, vec![ty], ty, Stability::Immutable, kernel, None).call(vec![offset.expr])
}

fn check(value: &ValueRef<'_>, ty: SqlType, start: bool, range: bool) -> Result<()> {
    let side = if start { "starting" } else { "ending" };
    let negative = match value {
        ValueRef::Null => {
            let message = format!("frame {side} offset must not be null");
            return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, message).of_values());
        }
        ValueRef::Int8(value) => *value < 0,
        ValueRef::Float8(value) => value.is_nan() || *value < 0.0,
        ValueRef::Bytes(bytes) if ty.base == BaseType::Interval => Interval::from_bytes(bytes)?.span() < 0,
        ValueRef::Bytes(bytes) => {
            let number = Numeric::from_bytes(bytes)?;
            number.is_nan() || number.signum() < 0
        }
        _ => return Err(SqlError::internal("a frame offset of another type")),
    };
    match (negative, range) {
        (false, _) => Ok(()),
        (true, true) => {
            Err(SqlError::new("22013", "invalid preceding or following size in window function").of_values())
        }
        (true, false) => Err(SqlError::new("22013", format!("frame {side} offset must not be negative")).of_values()),
    }
}

/// Like [`checked_offset`], for a constant.
pub fn check_constant(value: &Datum, ty: SqlType, start: bool, range: bool) -> Result<()> {
    let array = value.to_array()?;
    check(&value_at(array.as_ref(), 0)?, ty, start, range)
}
