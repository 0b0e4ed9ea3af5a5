//! [`Definition`]: a view as its file writes it down (OID, name, columns as text, a function that
//! makes the rows), and [`Rows`], which collects them. Must not know any particular view.

use super::SystemView;
use crate::catalog::{ColumnDescriptor, ColumnId, RelationKind, SchemaDescriptor, TableDescriptor};
use crate::error::{Result, SqlError};
use crate::execution::StatementContext;
use crate::types::text::{InputContext, input};
use crate::types::{Datum, Oid, SqlType};
use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, new_empty_array};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::scalar::ScalarValue;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Makes the rows of a view.
pub(super) enum Fill {
    /// From the catalog.
    Now(fn(&StatementContext, &mut Rows) -> Result<()>),
    /// From the store as well.
    Later(for<'a> fn(&'a StatementContext, &'a mut Rows) -> BoxFuture<'a, Result<()>>),
    /// The same rows always: they are made once.
    Fixed(fn(&mut Rows) -> Result<()>),
    /// There is nothing of the kind.
    Nothing,
}

/// A view as its file writes it down.
pub(super) struct Definition {
    /// Fixed OID.
    pub oid: Oid,
    /// Schema and name, with a point between them.
    pub name: &'static str,
    /// `name type`, then `=value` where a row that does not set the column has something other
    /// than NULL; separated by commas.
    pub columns: &'static str,
    /// The rows.
    pub fill: Fill,
}

/// A column's value where a row does not set it.
#[derive(Debug)]
struct Column {
    ty: SqlType,
    unset: Datum,
}

/// A view, ready to be read.
pub(super) struct View {
    descriptor: Arc<TableDescriptor>,
    columns: Arc<[Column]>,
    places: Arc<HashMap<&'static str, usize>>,
    fill: &'static Fill,
    /// The rows, where they are always the same.
    fixed: OnceLock<RecordBatch>,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "View({})", self.descriptor.name)
    }
}

/// The type of a column. What PostgreSQL has of types that are not here is text.
pub(super) fn type_named(name: &str) -> SqlType {
    let (element, array) = name.strip_suffix("[]").map_or((name, false), |element| (element, true));
    let ty = match element {
        "char" | "\"char\"" => SqlType::SINGLE_CHAR,
        element => crate::types::type_named(element).unwrap_or(SqlType::TEXT),
    };
    if array { ty.array_of() } else { ty }
}

fn unset(ty: SqlType, default: Option<&str>) -> Option<Datum> {
    let Some(default) = default else { return ScalarValue::try_from(&ty.arrow()).ok() };
    Some(match ty.arrow() {
        DataType::Boolean => Datum::from(default == "t"),
        DataType::Int16 => Datum::from(default.parse::<i16>().ok()?),
        DataType::Int32 => Datum::from(default.parse::<i32>().ok()?),
        DataType::Int64 => Datum::from(default.parse::<i64>().ok()?),
        DataType::Float32 => Datum::from(default.parse::<f32>().ok()?),
        DataType::Utf8 => Datum::from(default),
        _ => return None,
    })
}

impl Definition {
    /// Reads the columns. `None` when the definition is wrong, which a test would find.
    pub(super) fn view(&'static self) -> Option<View> {
        let (schema, name) = self.name.split_once('.')?;
        let schema_oid = super::SYSTEM_SCHEMAS.iter().find(|(_, known)| *known == schema)?.0;
        let schema =
            SchemaDescriptor { oid: schema_oid, name: schema.into(), owner: 10, comment: None, ..Default::default() };
        let (mut columns, mut places, mut described) = (Vec::new(), HashMap::new(), Vec::new());
        for text in self.columns.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let (name, rest) = text.split_once(' ')?;
            let (ty, default) = match rest.split_once('=') {
                Some((ty, default)) => (ty, Some(default)),
                None => (rest, None),
            };
            let ty = type_named(ty);
            places.insert(name, columns.len());
            columns.push(Column { ty, unset: unset(ty, default)? });
            described.push(ColumnDescriptor {
                id: ColumnId::try_from(columns.len()).ok()?,
                name: name.into(),
                ty,
                not_null: false,
                default: None,
                identity: None,
                missing: None,
                dropped: false,
                ..Default::default()
            });
        }
        let descriptor = Arc::new(TableDescriptor {
            oid: self.oid,
            schema_oid: schema.oid,
            schema: schema.name,
            name: name.into(),
            kind: RelationKind::SystemView,
            version: 1,
            storage_id: 0,
            columns: described,
            indexes: Vec::new(),
            checks: Vec::new(),
            sequence: None,
            view: None,
            foreign_keys: Vec::new(),
            comments: Vec::new(),
            owner: 10,
            ..Default::default()
        });
        Some(View {
            descriptor,
            columns: columns.into(),
            places: Arc::new(places),
            fill: &self.fill,
            fixed: OnceLock::new(),
        })
    }
}

#[async_trait]
impl SystemView for View {
    fn descriptor(&self) -> &Arc<TableDescriptor> {
        &self.descriptor
    }

    async fn rows(&self, context: &StatementContext) -> Result<RecordBatch> {
        let mut rows = Rows {
            columns: Arc::clone(&self.columns),
            places: Arc::clone(&self.places),
            values: self.columns.iter().map(|_| Vec::new()).collect(),
            count: 0,
        };
        match self.fill {
            Fill::Now(fill) => fill(context, &mut rows)?,
            Fill::Later(fill) => fill(context, &mut rows).await?,
            Fill::Fixed(fill) => {
                if let Some(fixed) = self.fixed.get() {
                    return Ok(fixed.clone());
                }
                fill(&mut rows)?;
                let fixed = rows.finish(&self.descriptor)?;
                return Ok(self.fixed.get_or_init(|| fixed).clone());
            }
            Fill::Nothing => {}
        }
        rows.finish(&self.descriptor)
    }
}

/// The rows of a view in the making.
pub(super) struct Rows {
    columns: Arc<[Column]>,
    places: Arc<HashMap<&'static str, usize>>,
    values: Vec<Vec<Datum>>,
    count: usize,
}

impl Rows {
    /// Adds a row: some columns by name, the others as the definition says.
    pub(super) fn add<const N: usize>(&mut self, values: [(&str, Datum); N]) -> Result<()> {
        let mut row: Vec<Datum> = self.columns.iter().map(|column| column.unset.clone()).collect();
        for (name, value) in values {
            let place = self.places.get(name).and_then(|place| row.get_mut(*place));
            let Some(place) = place else {
                return Err(SqlError::internal(format!("a system view has no column {name}")));
            };
            if !value.is_null() {
                *place = value;
            }
        }
        for (values, value) in self.values.iter_mut().zip(row) {
            values.push(value);
        }
        self.count += 1;
        Ok(())
    }

    /// Adds a row of values in their text form: some columns by name, the others as the definition says.
    pub(super) fn add_texts(&mut self, values: &[(&str, String)]) -> Result<()> {
        let mut row: Vec<Datum> = self.columns.iter().map(|column| column.unset.clone()).collect();
        for (name, text) in values {
            let place = self.places.get(name).copied();
            let (Some(column), Some(place)) =
                (place.and_then(|at| self.columns.get(at)), place.and_then(|at| row.get_mut(at)))
            else {
                return Err(SqlError::internal(format!("a system view has no column {name}")));
            };
            *place = input(column.ty, text, &InputContext::PLAIN)?;
        }
        for (values, value) in self.values.iter_mut().zip(row) {
            values.push(value);
        }
        self.count += 1;
        Ok(())
    }

    fn finish(self, descriptor: &TableDescriptor) -> Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (column, values) in self.columns.iter().zip(self.values) {
            let ty = column.ty.arrow();
            let array = if values.is_empty() { new_empty_array(&ty) } else { ScalarValue::iter_to_array(values)? };
            if *array.data_type() != ty {
                let found = array.data_type();
                return Err(SqlError::internal(format!("{}: a column of {ty} holds {found}", descriptor.name)));
            }
            arrays.push(array);
        }
        let fields: Vec<Field> =
            descriptor.live_columns().map(|column| Field::new(&column.name, column.ty.arrow(), true)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?)
    }
}

/// Values in the Arrow form of the types of system views.
pub(super) mod value {
    use crate::types::array::{ArrayValue, Dimension};
    use crate::types::{Datum, Oid};
    use datafusion::arrow::array::{ArrayRef, Float32Array, Int16Array, Int32Array, Int64Array, StringArray};
    use std::sync::Arc;

    /// oid, regproc, regtype.
    pub fn oid(value: Oid) -> Datum {
        Datum::from(i64::from(value))
    }
    /// text, name, varchar, "char".
    pub fn text(value: impl AsRef<str>) -> Datum {
        Datum::from(value.as_ref())
    }
    /// A moment, or NULL.
    pub fn moment(value: Option<i64>) -> Datum {
        Datum::TimestampMicrosecond(value, Some("+00:00".into()))
    }
    /// A text, or NULL.
    pub fn optional(value: Option<&str>) -> Datum {
        Datum::Utf8(value.map(str::to_string))
    }
    /// An array, whose places are counted from `lower`.
    fn array(elements: ArrayRef, lower: i32) -> Datum {
        let dimension = Dimension { lower, ..Dimension::of(elements.len()) };
        // Cannot fail: there is one dimension, of as many elements.
        ArrayValue::new(elements, &[dimension]).and_then(ArrayValue::into_datum).unwrap_or(Datum::Null)
    }
    /// An array of text.
    pub fn texts(values: impl IntoIterator<Item = String>) -> Datum {
        array(Arc::new(StringArray::from_iter_values(values)), 1)
    }
    /// An array of int8.
    pub fn int8s(values: impl IntoIterator<Item = i64>) -> Datum {
        array(Arc::new(Int64Array::from_iter_values(values)), 1)
    }
    /// An array of int4.
    pub fn int4s(values: impl IntoIterator<Item = i32>) -> Datum {
        array(Arc::new(Int32Array::from_iter_values(values)), 1)
    }
    /// An array of float4.
    pub fn float4s(values: impl IntoIterator<Item = f32>) -> Datum {
        array(Arc::new(Float32Array::from_iter_values(values)), 1)
    }
    /// An array of int2.
    pub fn int2s(values: impl IntoIterator<Item = i16>) -> Datum {
        array(Arc::new(Int16Array::from_iter_values(values)), 1)
    }
    /// An int2vector.
    pub fn int2_vector(values: impl IntoIterator<Item = i16>) -> Datum {
        array(Arc::new(Int16Array::from_iter_values(values)), 0)
    }
    /// An oidvector.
    pub fn oid_vector(values: impl IntoIterator<Item = Oid>) -> Datum {
        array(Arc::new(Int64Array::from_iter_values(values.into_iter().map(i64::from))), 0)
    }
    /// An array of oid.
    pub fn oids(values: impl IntoIterator<Item = Oid>) -> Datum {
        array(Arc::new(Int64Array::from_iter_values(values.into_iter().map(i64::from))), 1)
    }
    /// A count, as int2.
    pub fn count(value: usize) -> Datum {
        Datum::from(i16::try_from(value).unwrap_or(i16::MAX))
    }
}
