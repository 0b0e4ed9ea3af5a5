//! [`Value`]: an expression without columns whose value bounds a scan. It is computed when the scan starts.
//!
//! It knows the type of the column that it is compared with, and handles values that do not fit it.

use super::leaf;
use super::slot_function::SlotFunction;
use super::slots::StatementContext;
use datafusion::arrow::array::Array;
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::Datum;
use types::array::ArrayValue;

/// The relation of the value's type to the column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Both types are the same.
    None,
    /// The column was widened for the comparison. The value must be narrowed to its integer type.
    Integer,
    /// The comparison is between `numeric_key`s, so the display scale does not matter, as in keys.
    NumericKey,
}

/// A value fitted to a column of a narrower type.
#[derive(Clone, Debug, PartialEq)]
pub enum Fitted {
    /// The value in the column's type. It may be NULL.
    Is(Datum),
    /// Less than every value of the column.
    Below,
    /// Greater than every value of the column.
    Above,
}

/// A value that is known when the scan starts.
#[derive(Clone, Debug)]
pub struct Value {
    source: Source,
    text: String,
    target: DataType,
    conversion: Conversion,
}

#[derive(Clone, Debug)]
enum Source {
    Constant(Datum),
    /// The frequent case, which needs no evaluation of an expression.
    Slot(Arc<datafusion::logical_expr::ScalarUDF>),
    Expression(Arc<dyn PhysicalExpr>),
}

impl Value {
    /// A value for a column of type `target`. `physical` converts an expression to a physical one.
    pub fn new(
        expression: &Expr,
        target: DataType,
        conversion: Conversion,
        physical: &dyn Fn(&Expr) -> Result<Arc<dyn PhysicalExpr>>,
    ) -> Result<Value> {
        let source = match expression {
            Expr::Literal(value, _) => Source::Constant(value.clone()),
            Expr::ScalarFunction(call) if as_slot(&call.func).is_some() => Source::Slot(Arc::clone(&call.func)),
            other => Source::Expression(physical(other)?),
        };
        let text = match expression {
            Expr::Literal(value, _) => crate::expression_text::literal(value),
            _ => None,
        };
        let text = text.unwrap_or_else(|| crate::expression_text::readable(&expression.human_display().to_string()));
        Ok(Value { source, text, target, conversion })
    }

    /// Whether the value is the same in each execution.
    pub fn is_constant(&self) -> bool {
        matches!(self.source, Source::Constant(_))
    }

    fn raw(&self, context: &StatementContext) -> Result<Datum> {
        match &self.source {
            Source::Constant(value) => Ok(value.clone()),
            Source::Slot(function) => match as_slot(function) {
                Some(slot) => slot.value_in(context),
                None => Err(SqlError::internal("a slot that is none")),
            },
            Source::Expression(expression) => {
                let array = expression.evaluate(&leaf::one_row())?.into_array(1)?;
                Ok(Datum::try_from_array(&array, 0)?)
            }
        }
    }

    /// Computes the value in the column's type.
    pub fn evaluate(&self, context: &StatementContext) -> Result<Fitted> {
        self.fit(self.raw(context)?)
    }

    /// Computes the elements of an array value in the column's type. NULLs are left out, as are values that do not fit:
    /// they equal nothing.
    pub fn evaluate_elements(&self, context: &StatementContext) -> Result<Vec<Datum>> {
        let Some(elements) = ArrayValue::of(&self.raw(context)?)? else { return Ok(vec![]) };
        let mut values = Vec::with_capacity(elements.len());
        for index in 0..elements.len() {
            if let Fitted::Is(value) = self.fit(Datum::try_from_array(elements.elements(), index)?)?
                && !value.is_null()
            {
                values.push(value);
            }
        }
        Ok(values)
    }

    fn fit(&self, value: Datum) -> Result<Fitted> {
        fit(value, &self.target, self.conversion)
    }
}

/// Converts a value to the type of the column that it is compared with.
pub fn fit(value: Datum, target: &DataType, conversion: Conversion) -> Result<Fitted> {
    if value.is_null() {
        return Ok(Fitted::Is(Datum::try_new_null(target)?));
    }
    match conversion {
        Conversion::Integer => narrow(&value, target),
        _ if value.data_type() == *target => Ok(Fitted::Is(value)),
        _ => Err(SqlError::internal(format!("a bound of type {} for {target}", value.data_type()))),
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// The slot function behind a function, if it is one.
pub fn as_slot(function: &datafusion::logical_expr::ScalarUDF) -> Option<&SlotFunction> {
    (function.inner().as_ref() as &dyn std::any::Any).downcast_ref::<SlotFunction>()
}

/// Whether a function reads a slot: its value cannot change while a statement runs.
pub fn is_slot(function: &datafusion::logical_expr::ScalarUDF) -> bool {
    as_slot(function).is_some()
}

fn narrow(value: &Datum, target: &DataType) -> Result<Fitted> {
    let wide = match value {
        Datum::Int16(Some(value)) => i64::from(*value),
        Datum::Int32(Some(value)) => i64::from(*value),
        Datum::Int64(Some(value)) => *value,
        other => return Err(SqlError::internal(format!("an integer of type {}", other.data_type()))),
    };
    let narrowed = match target {
        DataType::Int16 => i16::try_from(wide).ok().map(|value| Datum::Int16(Some(value))),
        DataType::Int32 => i32::try_from(wide).ok().map(|value| Datum::Int32(Some(value))),
        DataType::Int64 => Some(Datum::Int64(Some(wide))),
        other => return Err(SqlError::internal(format!("an integer column of type {other}"))),
    };
    Ok(match narrowed {
        Some(value) => Fitted::Is(value),
        None if wide < 0 => Fitted::Below,
        None => Fitted::Above,
    })
}
