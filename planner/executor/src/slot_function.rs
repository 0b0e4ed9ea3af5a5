//! [`SlotFunction`]: a function without arguments that reads one slot of its plan instance.
//!
//! DataFusion rejects placeholders in physical plans. So each becomes a slot function after logical optimization. It is
//! volatile, so that it is not folded. It has the placeholder's name, so that schemas and `GROUP BY id + $1` stay
//! valid.

use super::outer::OuterValues;
use super::slots::{Slots, StatementContext};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use sql_error::{Result, SqlError};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use types::Datum;

/// The value of a [`StatementContext`] that a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotKey {
    /// The parameter `$n`, counted from zero here.
    Parameter(usize),
    /// `now()`, CURRENT_TIMESTAMP: start of the transaction.
    Now,
    /// `statement_timestamp()`: start of the statement.
    StatementTimestamp,
    /// `current_user`: name of the current role.
    CurrentUser,
    /// `session_user`: name of the session's role.
    SessionUser,
    /// `current_database()`: name of the database.
    CurrentDatabase,
    /// `current_schema`: first schema of the search path that exists.
    CurrentSchema,
}

impl SlotKey {
    /// The slot that a placeholder's id names: `$1`, `$:now`. `None` for other ids.
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

    /// Reads the value from `context`.
    pub fn read(&self, context: &StatementContext) -> Result<Datum> {
        let time = |micros| Datum::TimestampMicrosecond(Some(micros), Some("+00:00".into()));
        Ok(match self {
            SlotKey::Parameter(index) => context.parameters.get(*index).cloned().ok_or_else(|| {
                SqlError::new(sql_error::state::UNDEFINED_PARAMETER, format!("there is no parameter ${}", index + 1))
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

/// A function that reads a slot. Two are equal if they read the same slot of the same plan instance.
#[derive(Debug)]
pub struct SlotFunction {
    name: String,
    key: SlotKey,
    data_type: DataType,
    source: SlotSource,
    signature: Signature,
}

/// The place that a slot function reads.
#[derive(Clone, Debug)]
pub enum SlotSource {
    /// The context of the statement.
    Statement(Arc<Slots>),
    /// The current outer row of a correlated subquery, at a position.
    Outer(Arc<OuterValues>, usize),
}

impl SlotFunction {
    /// The expression that reads the slot of a placeholder's id. Errors: the id names no slot, or the placeholder's
    /// type was not determined.
    pub fn expression(id: &str, field: Option<&FieldRef>, slots: &Arc<Slots>) -> Result<Expr> {
        let key = SlotKey::parse(id).ok_or_else(|| SqlError::internal(format!("unknown placeholder {id}")))?;
        Self::reading(id, field, key, SlotSource::Statement(Arc::clone(slots)))
    }

    /// The expression that reads the outer row's column at `position`.
    pub fn outer(id: &str, field: Option<&FieldRef>, row: &Arc<OuterValues>, position: usize) -> Result<Expr> {
        Self::reading(id, field, SlotKey::Parameter(position), SlotSource::Outer(Arc::clone(row), position))
    }

    fn reading(id: &str, field: Option<&FieldRef>, key: SlotKey, source: SlotSource) -> Result<Expr> {
        let data_type = field.map(|field| field.data_type().clone()).ok_or_else(|| {
            SqlError::new(
                sql_error::state::INDETERMINATE_DATATYPE,
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

    /// The slot's value in the current execution, in the placeholder's type.
    pub fn value(&self) -> Result<Datum> {
        match &self.source {
            SlotSource::Statement(slots) => self.typed(self.key.read(slots.get()?.as_ref())?),
            SlotSource::Outer(row, position) => self.typed(row.get(*position)?),
        }
    }

    /// The slot's value in `context`, in the placeholder's type.
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

/// The placeholder for a stable value such as `now`. A slot function replaces it later.
pub fn stable_placeholder(name: &str) -> Option<Expr> {
    let id = format!("$:{name}");
    let data_type = match SlotKey::parse(&id)? {
        SlotKey::Now | SlotKey::StatementTimestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
        _ => DataType::Utf8,
    };
    let field = Arc::new(Field::new(&id, data_type, true));
    Some(Expr::Placeholder(datafusion::logical_expr::expr::Placeholder::new_with_field(id, Some(field))))
}
