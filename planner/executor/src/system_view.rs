//! [`SystemViewExec`]: reads a system view, whose rows are computed.
//!
//! Conditions `column = value`, IN and `= ANY` are its keys. Their values are computed when a scan starts, and the view
//! makes just the rows with these values. Columns that a join equates are keys too, if the other side is read first
//! ([`KeyTap`]).

use super::bounds::Equality;
use super::condition::{Test, conditions};
use super::leaf::{self, Estimate, leaf_methods};
use super::row_counter::Returned;
use super::runtime_join_filter::KeyTap;
use super::slots::{Slots, StatementContext};
use super::value::{Fitted, Value};
use builtin::sizes::{expected_rows, unique_keys};
use context::system_view::{Asked, AskedKey, SystemView};
use datafusion::arrow::array::Array;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::Statistics;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use sql_error::Result;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use types::{Datum, SqlType};

/// Estimated rows of a view for one value of a key.
const ROWS_OF_A_KEY: usize = 10;

/// Estimated number of distinct values of a view's column in `rows` rows. `None` if neither name nor type tells.
fn distinct_values(view: &str, name: &str, ty: SqlType, rows: usize) -> Option<usize> {
    match ty {
        _ if unique_keys(view).contains(&&[name][..]) => Some(rows),
        _ if ty.arrow() == DataType::Boolean => Some(2),
        _ if ty == SqlType::SINGLE_CHAR => Some(4),
        _ if ty == SqlType::OID => Some((rows / ROWS_OF_A_KEY).max(1)),
        _ => None,
    }
}

/// A column that has one of some values.
#[derive(Clone, Debug)]
struct ViewKey {
    column: usize,
    name: String,
    values: Equality,
}

/// The columns whose values come from the other side of a join.
#[derive(Clone, Debug)]
struct Tapped {
    tap: Arc<KeyTap>,
    /// By position of the join key: the column of the view, and its name.
    columns: Vec<(usize, usize, String)>,
}

/// Reads the rows of a system view.
#[derive(Clone, Debug)]
pub struct SystemViewExec {
    view: Arc<dyn SystemView>,
    positions: Vec<usize>,
    schema: SchemaRef,
    slots: Arc<Slots>,
    properties: Arc<PlanProperties>,
    keys: Arc<[ViewKey]>,
    tapped: Vec<Tapped>,
    returned: Returned,
    /// Number of rows computed or examined.
    examined: Returned,
}

impl SystemViewExec {
    /// Reads the live columns at these positions, whose schema is `schema`.
    pub fn new(view: Arc<dyn SystemView>, positions: Vec<usize>, schema: SchemaRef, slots: Arc<Slots>) -> Self {
        let properties = leaf::properties(&schema, vec![], &[], 1);
        let (returned, examined) = (Returned::default(), Returned::default());
        SystemViewExec {
            view,
            positions,
            schema,
            slots,
            properties,
            keys: Arc::new([]),
            tapped: Vec::new(),
            returned,
            examined,
        }
    }

    /// Uses the filters (a conjunction) as keys where they test single columns. The filters must still be applied.
    pub fn with_filters(
        self,
        filters: &[Expr],
        physical: &dyn Fn(&Expr) -> Result<Arc<dyn PhysicalExpr>>,
    ) -> Result<Self> {
        let table = Arc::clone(self.view.descriptor());
        let mut keys = Vec::new();
        for condition in filters.iter().filter_map(|filter| conditions(filter, &table)).flatten() {
            let found = table.live_columns().enumerate().find(|(_, column)| column.id == condition.column);
            let Some((place, column)) = found.filter(|(_, column)| is_key(&column.ty.arrow())) else { continue };
            let value = |expr: &Expr| Value::new(expr, column.ty.arrow(), condition.conversion, physical);
            let values = match &condition.test {
                Test::Equal(expr) => Equality::Value(value(expr)?),
                Test::OneOf(exprs) => Equality::OneOf(exprs.iter().map(value).collect::<Result<_>>()?),
                Test::AnyOf(expr) => Equality::AnyOf(value(expr)?),
                Test::IsNull | Test::Above { .. } | Test::Below { .. } => continue,
            };
            keys.push(ViewKey { column: place, name: column.name.clone(), values });
        }
        Ok(SystemViewExec { keys: keys.into(), ..self })
    }

    /// Restricts the rows to those with values that a tap has recorded. `columns` are pairs of output position and
    /// position of the join key.
    pub fn with_tap(&self, tap: Arc<KeyTap>, columns: &[(usize, usize)]) -> Option<Self> {
        let fields = self.schema.fields();
        let tapped = columns.iter().filter_map(|(key, position)| {
            let field = fields.get(*position).filter(|field| is_key(field.data_type()))?;
            Some((*key, *self.positions.get(*position)?, field.name().clone()))
        });
        let columns: Vec<_> = tapped.collect();
        if columns.is_empty() {
            return None;
        }
        let tapped = self.tapped.iter().cloned().chain([Tapped { tap, columns }]).collect();
        Some(SystemViewExec { tapped, ..self.clone() })
    }

    /// Name of the view.
    pub fn view_name(&self) -> &str {
        &self.view.descriptor().name
    }

    /// The keys for EXPLAIN. Empty if it reads all rows.
    pub fn key_names(&self) -> String {
        let values = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        let keys = self.keys.iter().map(|key| match &key.values {
            Equality::Value(value) => format!("{} = {value}", key.name),
            Equality::OneOf(list) => format!("{} IN ({})", key.name, values(list)),
            Equality::AnyOf(value) => format!("{} = ANY ({value})", key.name),
            Equality::Null => format!("{} IS NULL", key.name),
        });
        let tapped = self.tapped.iter().flat_map(|tapped| tapped.columns.iter().map(|(_, _, name)| name.clone()));
        keys.chain(tapped).collect::<Vec<_>>().join(", ")
    }

    /// Number of rows computed or examined since the plan was reset.
    pub fn examined(&self) -> Option<usize> {
        self.examined.metrics().output_rows()
    }

    fn estimate(&self) -> Estimate {
        let descriptor = self.view.descriptor();
        let rows = expected_rows(&descriptor.name);
        let columns: Vec<_> = descriptor.live_columns().collect();
        let distinct = |place: usize| {
            let column = columns.get(place)?;
            distinct_values(&descriptor.name, &column.name, column.ty, rows)
        };
        let of_key = |key: &ViewKey| {
            let of_value = distinct(key.column).map_or(ROWS_OF_A_KEY, |distinct| rows / distinct.max(1)).max(1);
            match &key.values {
                Equality::OneOf(values) => values.len().saturating_mul(of_value),
                Equality::AnyOf(_) => of_value.saturating_mul(ROWS_OF_A_KEY),
                _ => of_value,
            }
        };
        let rows = self.keys.iter().map(of_key).min().unwrap_or(rows).min(rows);
        let distinct = self.positions.iter().map(|place| distinct(*place)).collect();
        Estimate { distinct, ..Estimate::guess(rows) }
    }

    fn asked(&self, context: &StatementContext) -> Result<Asked> {
        let mut keys = Vec::new();
        for key in self.keys.iter() {
            let values: Vec<Fitted> = match &key.values {
                Equality::Value(value) => vec![value.evaluate(context)?],
                Equality::OneOf(values) => values.iter().map(|value| value.evaluate(context)).collect::<Result<_>>()?,
                Equality::AnyOf(value) => value.evaluate_elements(context)?.into_iter().map(Fitted::Is).collect(),
                Equality::Null => continue,
            };
            let values = values.into_iter().filter_map(|value| match value {
                Fitted::Is(value) if !value.is_null() => Some(value),
                _ => None,
            });
            keys.push(AskedKey { column: key.column, values: values.collect() });
        }
        let noted = self.tapped.iter().filter_map(|tapped| Some((tapped, tapped.tap.keys()?)));
        for (tapped, batches) in noted {
            for (key, column, _) in &tapped.columns {
                let mut values = HashSet::new();
                for array in batches.iter().filter_map(|arrays| arrays.get(*key)) {
                    for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
                        values.insert(Datum::try_from_array(array, row)?);
                    }
                }
                keys.push(AskedKey { column: *column, values });
            }
        }
        Ok(Asked { columns: self.positions.clone(), keys })
    }
}

/// Whether equal values of a type are identical.
fn is_key(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8 | DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Boolean)
}

impl DisplayAs for SystemViewExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "SystemViewExec: {}", self.view_name())?;
        match self.key_names().as_str() {
            "" => Ok(()),
            keys => write!(f, " ({keys})"),
        }
    }
}

impl ExecutionPlan for SystemViewExec {
    leaf_methods!("SystemViewExec", |view: &Self| {
        view.examined.clear();
        None
    });

    fn statistics_from_inputs(
        &self,
        _inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> datafusion::error::Result<Arc<Statistics>> {
        Ok(self.estimate().statistics(&self.schema, None))
    }

    fn execute(
        &self,
        _partition: usize,
        _context: Arc<TaskContext>,
    ) -> datafusion::error::Result<SendableRecordBatchStream> {
        let context = self.slots.get()?;
        let this = self.clone();
        let examined = self.examined.counter();
        // At the first poll, and not before, the other side of the join has been read to its end.
        let read = async move {
            // Do this even if there can be no rows: a view may reject the read.
            let asked = this.asked(&context)?;
            let (rows, count) = context.view_rows.read(&this.view, &context, &asked).await?;
            examined.add(count);
            leaf::batch(&this.schema, rows.columns().to_vec(), rows.num_rows())
        };
        let rows = self.returned.counter();
        Ok(leaf::stream(&self.schema, futures::stream::once(read), rows))
    }
}
