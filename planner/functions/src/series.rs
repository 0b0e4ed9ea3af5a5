//! [`Series`]: the integers of `generate_series`, and a list of them for callers that need all at once.

use super::TypedExpr;
use super::kernel::{Call, Kernel, KernelFunction, Stability};
use super::typed::{Interval, Numeric, Timestamp};
use context::Slots;
use datafusion::arrow::array::{Array, AsArray, BinaryBuilder, Int64Builder, ListBuilder, TimestampMicrosecondBuilder};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature};
use datafusion::logical_expr::{TypeSignature, Volatility};
use sql_error::interrupt;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::array::of_elements;
use types::datetime::is_finite;
use types::numeric::Numeric as NumericValue;

/// Most integers that one evaluation of [`list`] may hold in memory, over all its rows.
pub const LIST_LIMIT: u64 = 1 << 25;

/// The integers from a start to an inclusive stop. The series ends where the next value would overflow int8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    next: Option<i64>,
    stop: i64,
    step: i64,
}

impl Series {
    /// Makes a series. Errors: 22023 for a step of zero.
    pub fn new(start: i64, stop: i64, step: i64) -> Result<Series> {
        if step == 0 {
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "step size cannot equal zero"));
        }
        Ok(Series { next: Some(start), stop, step }.checked())
    }

    fn checked(mut self) -> Self {
        self.next = self.next.filter(|next| if self.step > 0 { *next <= self.stop } else { *next >= self.stop });
        self
    }

    /// Number of integers left.
    pub fn remaining(&self) -> u64 {
        let Some(next) = self.next else { return 0 };
        let distance = (i128::from(self.stop) - i128::from(next)) / i128::from(self.step);
        u64::try_from(distance).unwrap_or(u64::MAX).saturating_add(1)
    }
}

impl Iterator for Series {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let found = self.next?;
        *self = Series { next: found.checked_add(self.step), ..*self }.checked();
        Some(found)
    }
}

/// The integers as an array of int8. NULL if an argument is NULL. All arguments are int8. Errors while running: 22023
/// for a step of zero, 54000 for more than [`LIST_LIMIT`] integers.
pub fn list(start: Expr, stop: Expr, step: Expr) -> Expr {
    let int8 = || DataType::Int64;
    // Volatile, so that it is not folded: the plan would keep a constant list and print it in column names.
    let signature = Signature::new(TypeSignature::Exact(vec![int8(), int8(), int8()]), Volatility::Volatile);
    ScalarUDF::from(ListFunction { signature }).call(vec![start, stop, step])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ListFunction {
    signature: Signature,
}

impl ScalarUDFImpl for ListFunction {
    fn name(&self) -> &str {
        "generate_series"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _arguments: &[DataType]) -> DataFusionResult<DataType> {
        Ok(SqlType::INT8.array_of().arrow())
    }
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DataFusionResult<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [start, stop, step] = arrays.as_slice() else {
            return Err(SqlError::internal("generate_series takes three arguments").into());
        };
        let (start, stop) = (start.as_primitive::<Int64Type>(), stop.as_primitive::<Int64Type>());
        let step = step.as_primitive::<Int64Type>();
        let mut lists = ListBuilder::new(Int64Builder::new());
        let mut total = 0u64;
        for row in 0..start.len() {
            if start.is_null(row) || stop.is_null(row) || step.is_null(row) {
                lists.append(false);
                continue;
            }
            let series = Series::new(start.value(row), stop.value(row), step.value(row))?;
            total = total.saturating_add(series.remaining());
            if total > LIST_LIMIT {
                return Err(SqlError::new(
                    state::PROGRAM_LIMIT_EXCEEDED,
                    format!("generate_series beside another function of a select list exceeds {LIST_LIMIT} rows"),
                )
                .hint("Call it in FROM instead.")
                .into());
            }
            for value in series {
                interrupt::step()?;
                lists.values().append_value(value);
            }
            lists.append(true);
        }
        Ok(ColumnarValue::Array(of_elements(lists.finish())?))
    }
}

/// The numerics from a start to a stop, as a list. NULL if an argument is NULL. All arguments are numeric. Errors while
/// running: as [`list`], and 22023 for arguments that are not finite.
pub fn numeric_list(start: TypedExpr, stop: TypedExpr, step: Option<TypedExpr>) -> TypedExpr {
    let kernel: Kernel = Arc::new(|call: &Call<'_>| {
        let (starts, stops) = (call.column::<Numeric>(0)?, call.column::<Numeric>(1)?);
        let steps = if call.arguments.len() > 2 { Some(call.column::<Numeric>(2)?) } else { None };
        let mut lists = ListBuilder::new(BinaryBuilder::new());
        let mut total = 0u64;
        for row in 0..call.rows {
            let step = match &steps {
                Some(steps) => steps.get(row)?,
                None => Some(NumericValue::new(1, 0)),
            };
            let (Some(start), Some(stop), Some(step)) = (starts.get(row)?, stops.get(row)?, step) else {
                lists.append(false);
                continue;
            };
            for (value, what) in [(&start, "start"), (&stop, "stop"), (&step, "step")] {
                if !value.is_finite() {
                    let kind = if value.is_nan() { "NaN" } else { "infinity" };
                    let what = if what == "step" { "step size".to_string() } else { format!("{what} value") };
                    return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("{what} cannot be {kind}")));
                }
            }
            if step.signum() == 0 {
                return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "step size cannot equal zero"));
            }
            let mut value = start;
            while if step.signum() > 0 { value <= stop } else { value >= stop } {
                total += 1;
                if total > LIST_LIMIT {
                    let message = format!("generate_series of numeric exceeds {LIST_LIMIT} rows");
                    return Err(SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message));
                }
                interrupt::step()?;
                lists.values().append_value(value.to_bytes());
                value = value.add(&step);
            }
            lists.append(true);
        }
        of_elements(lists.finish())
    });
    let ty = SqlType::NUMERIC;
    let args: Vec<TypedExpr> = [Some(start), Some(stop), step].into_iter().flatten().collect();
    // Volatile for the same reason as `list`.
    KernelFunction::new("generate_series", vec![ty; args.len()], ty.array_of(), Stability::Volatile, kernel, None)
        .call(args.into_iter().map(|arg| arg.expr).collect())
}

/// The moments from a start to a stop by an interval, as a list. NULL if an argument is NULL. Start and stop are both
/// timestamp or both timestamptz. For timestamptz, days and months follow the clock of the session's zone. Errors while
/// running: as [`list`], and 22008 beyond timestamps.
pub fn moment_list(start: TypedExpr, stop: TypedExpr, step: TypedExpr, slots: &Arc<Slots>) -> TypedExpr {
    let ty = start.ty.plain();
    let zoned = ty == SqlType::TIMESTAMPTZ;
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let zone = if zoned { call.context()?.settings.time_zone() } else { types::datetime::TimeZone::UTC };
        let (starts, stops) = (call.column::<Timestamp>(0)?, call.column::<Timestamp>(1)?);
        let steps = call.column::<Interval>(2)?;
        let values = TimestampMicrosecondBuilder::new().with_data_type(call.result.element().arrow());
        let mut lists = ListBuilder::new(values);
        let mut total = 0u64;
        for row in 0..call.rows {
            let (Some(start), Some(stop), Some(step)) = (starts.get(row)?, stops.get(row)?, steps.get(row)?) else {
                lists.append(false);
                continue;
            };
            let up = match step.span() {
                0 => return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "step size cannot equal zero")),
                span => span > 0,
            };
            let mut value = start;
            while if up { value <= stop } else { value >= stop } {
                total += 1;
                if total > LIST_LIMIT || !is_finite(value) {
                    let message = format!("generate_series of timestamps exceeds {LIST_LIMIT} rows");
                    return Err(SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message));
                }
                interrupt::step()?;
                lists.values().append_value(value);
                value = step.after_in(value, zone)?;
            }
            lists.append(true);
        }
        of_elements(lists.finish())
    });
    let types = vec![ty, ty, SqlType::INTERVAL];
    let function = KernelFunction::new(
        "generate_series",
        types,
        ty.array_of(),
        Stability::Volatile,
        kernel,
        Some(Arc::clone(slots)),
    );
    function.call(vec![start.expr, stop.expr, step.expr])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn all(start: i64, stop: i64, step: i64) -> Vec<i64> {
        Series::new(start, stop, step).unwrap().collect()
    }

    #[test]
    fn series_include_their_stop_and_end_at_the_type() {
        assert_eq!(all(1, 3, 1), [1, 2, 3]);
        assert_eq!(all(1, 6, 2), [1, 3, 5]);
        assert_eq!(all(3, 1, -1), [3, 2, 1]);
        assert_eq!(all(3, 1, 1), [0; 0]);
        assert_eq!(all(1, 3, -1), [0; 0]);
        assert_eq!(all(5, 5, i64::MIN), [5]);
        assert_eq!(all(i64::MAX - 1, i64::MAX, 1), [i64::MAX - 1, i64::MAX]);
        assert_eq!(all(i64::MIN + 1, i64::MIN, -3), [i64::MIN + 1]);
        assert_eq!(Series::new(1, 2, 0).unwrap_err().state(), "22023");
    }

    #[test]
    fn the_rest_is_counted() {
        for (start, stop, step) in [(1, 3, 1), (1, 6, 2), (3, 1, -1), (3, 1, 1), (0, 10, 11)] {
            assert_eq!(Series::new(start, stop, step).unwrap().remaining(), all(start, stop, step).len() as u64);
        }
        assert_eq!(Series::new(i64::MIN, i64::MAX, 1).unwrap().remaining(), u64::MAX);
    }
}
