//! [`SlotFunction`]: a function without arguments that reads one slot of its plan instance.
//!
//! DataFusion refuses placeholders in physical plans, so each becomes one of these once logical
//! optimisation is over. Volatile, so that nothing folds it; named like the placeholder, so that
//! schemas and `GROUP BY id + $1` stay as they were.

use super::outer::OuterValues;
use super::slots::{Slots, StatementContext};
use crate::error::{Result, SqlError};
use crate::types::Datum;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Which value of a [`StatementContext`] a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotKey {
    /// `$n`, counted from zero here.
    Parameter(usize),
    /// `now()`, CURRENT_TIMESTAMP: start of the transaction.
    Now,
    /// `statement_timestamp()`.
    StatementTimestamp,
    /// `current_user`.
    CurrentUser,
    /// `session_user`.
    SessionUser,
    /// `current_database()`.
    CurrentDatabase,
    /// `current_schema`.
    CurrentSchema,
}

impl SlotKey {
    /// The slot a placeholder's id names: `$1`, `$:now`. None for other ids.
    pub fn parse(id: &str) -> Option<SlotKey> {
        let name = id.strip_prefix('$')?;
        if let Ok(number) = name.parse::<usize>() {
            return Some(SlotKey::Parameter(number.checked_sub(1)?));
        }
        Some(match name.strip_prefix(':')? {
            "now" | "transaction_timestamp" | "current_timestamp" => SlotKey::Now,
            "statement_timestamp" => SlotKey::StatementTimestamp,
            "current_user" | "user" | "current_role" => SlotKey::CurrentUser,
            "session_user" => SlotKey::SessionUser,
            "current_database" | "current_catalog" => SlotKey::CurrentDatabase,
            "current_schema" => SlotKey::CurrentSchema,
            _ => return None,
        })
    }

    /// The value in `context`.
    pub fn read(&self, context: &StatementContext) -> Result<Datum> {
        let time = |micros| Datum::TimestampMicrosecond(Some(micros), Some("+00:00".into()));
        Ok(match self {
            SlotKey::Parameter(index) => context.parameters.get(*index).cloned().ok_or_else(|| {
                SqlError::new(crate::state::UNDEFINED_PARAMETER, format!("there is no parameter ${}", index + 1))
            })?,
            SlotKey::Now => time(context.transaction_time),
            SlotKey::StatementTimestamp => time(context.statement_time),
            SlotKey::CurrentUser => Datum::Utf8(Some(context.settings.user().to_string())),
            SlotKey::SessionUser => Datum::Utf8(Some(context.settings.session_user())),
            SlotKey::CurrentDatabase => Datum::Utf8(Some(context.catalog.database().name.clone())),
            SlotKey::CurrentSchema => Datum::Utf8(
                context.settings.creation_path().iter().find(|name| context.catalog.schema(name).is_some()).cloned(),
            ),
        })
    }
}

/// The function. Two are equal when they read the same slot of the same plan instance.
#[derive(Debug)]
pub struct SlotFunction {
    name: String,
    key: SlotKey,
    data_type: DataType,
    source: SlotSource,
    signature: Signature,
}

/// Where a slot is.
#[derive(Clone, Debug)]
pub enum SlotSource {
    /// In the statement's context.
    Statement(Arc<Slots>),
    /// In the row for which a correlated subquery runs, at a position.
    Outer(Arc<OuterValues>, usize),
}

impl SlotFunction {
    /// The expression that reads the slot named by a placeholder's id.
    /// Errors: an id that names no slot, or a placeholder whose type was never determined.
    pub fn expression(id: &str, field: Option<&FieldRef>, slots: &Arc<Slots>) -> Result<Expr> {
        let key = SlotKey::parse(id).ok_or_else(|| SqlError::internal(format!("unknown placeholder {id}")))?;
        Self::reading(id, field, key, SlotSource::Statement(Arc::clone(slots)))
    }

    /// The expression that reads the column at `position` of an outer row.
    pub fn outer(id: &str, field: Option<&FieldRef>, row: &Arc<OuterValues>, position: usize) -> Result<Expr> {
        Self::reading(id, field, SlotKey::Parameter(position), SlotSource::Outer(Arc::clone(row), position))
    }

    fn reading(id: &str, field: Option<&FieldRef>, key: SlotKey, source: SlotSource) -> Result<Expr> {
        let data_type = field.map(|field| field.data_type().clone()).ok_or_else(|| {
            SqlError::new(
                crate::state::INDETERMINATE_DATATYPE,
                format!("could not determine data type of parameter {id}"),
            )
        })?;
        let function = SlotFunction {
            name: id.to_string(),
            key,
            data_type,
            source,
            signature: Signature::nullary(Volatility::Volatile),
        };
        Ok(ScalarUDF::from(function).call(vec![]))
    }

    /// The slot's value in the execution under way, in the type of the placeholder.
    pub fn value(&self) -> Result<Datum> {
        match &self.source {
            SlotSource::Statement(slots) => self.typed(self.key.read(slots.get()?.as_ref())?),
            SlotSource::Outer(row, position) => self.typed(row.get(*position)?),
        }
    }

    /// The slot's value in `context`, in the type of the placeholder.
    pub fn value_in(&self, context: &StatementContext) -> Result<Datum> {
        match &self.source {
            SlotSource::Statement(_) => self.typed(self.key.read(context)?),
            SlotSource::Outer(row, position) => self.typed(row.get(*position)?),
        }
    }

    fn typed(&self, value: Datum) -> Result<Datum> {
        if value.data_type() == self.data_type {
            Ok(value)
        } else if value.is_null() {
            Ok(Datum::try_new_null(&self.data_type)?)
        } else {
            Err(SqlError::internal(format!("slot {} holds {}, not {}", self.name, value.data_type(), self.data_type)))
        }
    }
}

impl PartialEq for SlotFunction {
    fn eq(&self, other: &Self) -> bool {
        let same_place = match (&self.source, &other.source) {
            (SlotSource::Statement(a), SlotSource::Statement(b)) => Arc::ptr_eq(a, b),
            (SlotSource::Outer(a, i), SlotSource::Outer(b, j)) => Arc::ptr_eq(a, b) && i == j,
            _ => false,
        };
        same_place && self.key == other.key && self.data_type == other.data_type
    }
}

impl Eq for SlotFunction {}

impl Hash for SlotFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
        match &self.source {
            SlotSource::Statement(slots) => Arc::as_ptr(slots).hash(state),
            SlotSource::Outer(row, position) => (Arc::as_ptr(row), position).hash(state),
        }
    }
}

impl ScalarUDFImpl for SlotFunction {
    fn name(&self) -> &str {
        &self.name
    }
    fn schema_name(&self, _args: &[Expr]) -> DataFusionResult<String> {
        Ok(self.name.clone())
    }
    #[allow(deprecated)]
    fn display_name(&self, _args: &[Expr]) -> DataFusionResult<String> {
        Ok(self.name.clone())
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _arguments: &[DataType]) -> DataFusionResult<DataType> {
        Ok(self.data_type.clone())
    }
    fn return_field_from_args(&self, _args: ReturnFieldArgs) -> DataFusionResult<FieldRef> {
        Ok(Arc::new(Field::new(&self.name, self.data_type.clone(), true)))
    }
    fn invoke_with_args(&self, _args: ScalarFunctionArgs) -> DataFusionResult<ColumnarValue> {
        Ok(ColumnarValue::Scalar(self.value()?))
    }
}

/// The placeholder for a stable value such as `now`, for binders: replaced by a slot later.
pub fn stable_placeholder(name: &str) -> Option<Expr> {
    let id = format!("$:{name}");
    let data_type = match SlotKey::parse(&id)? {
        SlotKey::Now | SlotKey::StatementTimestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
        _ => DataType::Utf8,
    };
    let field = Arc::new(Field::new(&id, data_type, true));
    Some(Expr::Placeholder(datafusion::logical_expr::expr::Placeholder::new_with_field(id, Some(field))))
}
