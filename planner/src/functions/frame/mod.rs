//! Window frames that DataFusion does not run itself: RANGE with offsets over numerics, dates, times and intervals, and
//! offsets that are not constants. [`Framed`] is a window function around another: it gets the bounds of each row's frame
//! as columns and gives the other function the rows between them.
//!
//! Its arguments: the sort keys that say which peers are left out, if any; the sort keys that say what peers are (of RANGE the one key), the offset or bound of the start and of
//! the end where they have one, the arguments of the inner function, and the filter.

mod bounds;
mod evaluate;
mod shift;

pub(super) use shift::Shift;

use super::kernel::{Call, Kernel, KernelFunction, Stability};
use super::{TypedExpr, WindowCall};
use crate::error::{Result, SqlError, state};
use crate::types::SqlType;
use crate::types::interval::Interval;
use crate::types::numeric::Numeric;
use crate::types::value::{ValueRef, value_at};
use crate::types::{BaseType, Datum};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    AggregateUDF, Expr, PartitionEvaluator, Signature, Volatility, WindowFrame, WindowUDF, WindowUDFImpl,
};
use std::ops::Range;
use std::sync::Arc;

/// In what the offsets of a frame are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Units {
    /// Rows.
    Rows,
    /// Peers of one group.
    Groups,
    /// The value of the one key, of this type. Offsets are given as the key that they lead to.
    Range(SqlType),
}

/// Where a frame starts or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// With the partition.
    Unbounded,
    /// At the current row, or its peers.
    CurrentRow,
    /// Before it by an offset.
    Preceding,
    /// After it by an offset.
    Following,
}

impl Edge {
    fn has_offset(self) -> bool {
        matches!(self, Edge::Preceding | Edge::Following)
    }
}

/// Which rows of a frame are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Exclude {
    /// None.
    #[default]
    NoOthers,
    /// The current row.
    CurrentRow,
    /// The current row and its peers.
    Group,
    /// The current row's peers, but not itself.
    Ties,
}

/// What is known of a frame while planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// What is counted.
    pub units: Units,
    /// The start.
    pub start: Edge,
    /// The end.
    pub end: Edge,
    /// Whether the one key of RANGE descends.
    pub descending: bool,
    /// How many keys say what peers are.
    pub keys: usize,
    /// What is left out.
    pub exclude: Exclude,
    /// How many keys say whose peers are left out; they come before all else.
    pub peers: usize,
}

/// The frame of a window, bound.
#[derive(Clone, Debug)]
pub struct Frame {
    /// As DataFusion runs it; `None` when it does not.
    pub native: Option<WindowFrame>,
    /// For functions that do not look at the frame.
    pub ignored: WindowFrame,
    /// As [`Framed`] runs it.
    pub shape: Shape,
    /// The first arguments of [`Framed`]: keys, then offsets.
    pub arguments: Vec<Expr>,
}

/// The function that is computed over each frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Inner {
    /// An aggregate.
    Aggregate(Arc<AggregateUDF>),
    /// The first argument in the frame's first row.
    First,
    /// … in its last row.
    Last,
    /// … in the row whose number is the second argument.
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

/// See the module head.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Framed {
    /// Its name says all that tells it from others: DataFusion knows columns by names.
    name: String,
    inner: Inner,
    shape: Shape,
    filtered: bool,
    signature: Signature,
}

impl Framed {
    /// Which of so many arguments are those of the inner function.
    fn inner_arguments(&self, count: usize) -> Range<usize> {
        let offsets = [self.shape.start, self.shape.end].into_iter().filter(|edge| edge.has_offset()).count();
        let start = self.shape.peers + self.shape.keys + offsets;
        start..count.saturating_sub(usize::from(self.filtered)).max(start)
    }
    /// The type of the result, for arguments of these types.
    fn result(&self, fields: &[FieldRef]) -> Result<DataType> {
        let inner = fields.get(self.inner_arguments(fields.len())).unwrap_or_default();
        match (&self.inner, inner) {
            (Inner::Aggregate(function), _) => Ok(function.return_field(inner)?.data_type().clone()),
            (_, [value, ..]) => Ok(value.data_type().clone()),
            (_, []) => Err(SqlError::internal("a function lacks its argument")),
        }
    }
}

/// The function and its arguments for a call over a frame of ours.
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

/// An offset that is checked while running. Errors then: 22004 for NULL, 22013 for a negative one.
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

/// As [`checked_offset`], of a constant.
pub fn check_constant(value: &Datum, ty: SqlType, start: bool, range: bool) -> Result<()> {
    let array = value.to_array()?;
    check(&value_at(array.as_ref(), 0)?, ty, start, range)
}
