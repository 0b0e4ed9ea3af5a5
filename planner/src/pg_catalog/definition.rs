//! [`Definition`]: a view as its file declares it (OID, name, columns as text, a function that makes the rows).
//! [`Rows`] collects the rows. Must not know any particular view.

use super::SystemView;
use super::asked::{self, RelationKey};
use super::builtin::{Facts, Row, unescape};
use super::{Asked, Found, IndexedRows};
use crate::catalog::{ColumnDescriptor, ColumnId, RelationKind, SchemaDescriptor, TableDescriptor};
use crate::error::{Result, SqlError};
use crate::execution::StatementContext;
use crate::types::text::{InputContext, input};
use crate::types::{Datum, Oid, SqlType};
use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, new_empty_array};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::scalar::ScalarValue;
use futures::future::BoxFuture;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

/// The source of a view's rows.
pub(super) enum Fill {
    /// The catalog alone supplies the rows.
    Now(fn(&StatementContext, &mut Rows) -> Result<()>),
    /// The catalog and the store.
    Later(for<'a> fn(&'a StatementContext, &'a mut Rows) -> BoxFuture<'a, Result<()>>),
    /// Constant rows, which are made once.
    Fixed(fn(&mut Rows) -> Result<()>),
    /// Rows from the catalog, followed by constant rows.
    Partly(fn(&StatementContext, &mut Rows) -> Result<()>, fn(&mut Rows) -> Result<()>),
    /// The view is always empty.
    Nothing,
}

/// A view as its file declares it.
pub(super) struct Definition {
    /// The fixed OID of the view.
    pub oid: Oid,
    /// Schema and name, separated by a dot.
    pub name: &'static str,
    /// `name type`, then `=value` if the default of a row is not NULL. Columns are separated by commas.
    pub columns: &'static str,
    /// The source of the rows.
    pub fill: Fill,
}

/// The value of the column in rows that do not set it.
#[derive(Debug)]
struct Column {
    ty: SqlType,
    unset: Datum,
}

/// A view with parsed columns.
pub(super) struct View {
    descriptor: Arc<TableDescriptor>,
    columns: Arc<[Column]>,
    places: Arc<HashMap<&'static str, usize>>,
    fill: &'static Fill,
    fixed: OnceLock<IndexedRows>,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "View({})", self.descriptor.name)
    }
}

/// The type of a column. Unsupported types of PostgreSQL become text.
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
    /// Parses the columns. `None` if the definition is malformed, which a test detects.
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

    fn is_of_catalog(&self) -> bool {
        matches!(self.fill, Fill::Now(_) | Fill::Partly(..))
    }

    async fn rows(&self, context: &StatementContext, asked: &Asked) -> Result<Found> {
        match self.fill {
            Fill::Now(fill) => self.made(context, asked, *fill),
            Fill::Later(fill) => {
                let mut rows = Rows::new(&self.columns, &self.places, asked);
                fill(context, &mut rows).await?;
                rows.finish(&self.descriptor)
            }
            Fill::Fixed(fill) => self.fixed(asked, *fill),
            Fill::Partly(now, fixed) => {
                let (made, fixed) = (self.made(context, asked, *now)?, self.fixed(asked, *fixed)?);
                let rows = concat_batches(&made.rows.schema(), [&made.rows, &fixed.rows])?;
                Ok(Found { rows, examined: made.examined + fixed.examined })
            }
            Fill::Nothing => Rows::new(&self.columns, &self.places, asked).finish(&self.descriptor),
        }
    }
}

impl View {
    fn made(
        &self,
        context: &StatementContext,
        asked: &Asked,
        fill: fn(&StatementContext, &mut Rows) -> Result<()>,
    ) -> Result<Found> {
        let mut rows = Rows::new(&self.columns, &self.places, asked);
        fill(context, &mut rows)?;
        rows.finish(&self.descriptor)
    }

    fn fixed(&self, asked: &Asked, fill: fn(&mut Rows) -> Result<()>) -> Result<Found> {
        let fixed = match self.fixed.get() {
            Some(fixed) => fixed,
            None => {
                let mut rows = Rows::new(&self.columns, &self.places, &Asked::everything(&self.descriptor));
                fill(&mut rows)?;
                let made = IndexedRows::new(rows.finish(&self.descriptor)?.rows);
                self.fixed.get_or_init(|| made)
            }
        };
        fixed.find(asked, Some)
    }
}

/// Collects the rows of a view, as far as a scan requests them.
pub(super) struct Rows {
    columns: Arc<[Column]>,
    places: Arc<HashMap<&'static str, usize>>,
    asked: Asked,
    /// For each column of the view its index in `values`, if it is requested.
    kept: Vec<Option<usize>>,
    values: Vec<Vec<Datum>>,
    /// The column indexes for each list of names used so far. Searching every name again would take long.
    named: Vec<Vec<(&'static str, usize)>>,
    count: usize,
    examined: usize,
}

impl Rows {
    /// Adds a row to a view whose columns have the file's names, with further values.
    pub fn add_fact(&mut self, facts: &Facts, row: &Row, beside: &[(&str, &str)]) -> Result<()> {
        let fields = facts.names.iter().copied().zip(row.0.split('\t'));
        let unescaped: Vec<(&str, String)> = fields
            .filter(|(_, field)| *field != "\\N")
            .map(|(name, field)| (name, unescape(field)))
            .chain(beside.iter().map(|(name, value)| (*name, (*value).to_string())))
            .collect();
        self.add_texts(&unescaped)
    }
    fn new(columns: &Arc<[Column]>, places: &Arc<HashMap<&'static str, usize>>, asked: &Asked) -> Rows {
        let kept = (0..columns.len()).map(|column| asked.columns.iter().position(|asked| *asked == column)).collect();
        Rows {
            columns: Arc::clone(columns),
            places: Arc::clone(places),
            asked: asked.clone(),
            kept,
            values: asked.columns.iter().map(|_| Vec::new()).collect(),
            named: Vec::new(),
            count: 0,
            examined: 0,
        }
    }

    /// The permitted values of a column. `None` if every value is permitted.
    pub(super) fn asked(&self, column: &str) -> Option<&HashSet<Datum>> {
        self.asked.key(*self.places.get(column)?)
    }

    /// Whether a row with this OID in a column may be requested.
    pub(super) fn may_have_oid(&self, column: &str, oid: Oid) -> bool {
        self.asked.keys.is_empty() || self.asked(column).is_none_or(|values| values.contains(&value::oid(oid)))
    }

    /// Whether a column is read or used as a key. Otherwise a view skips its costly values.
    pub(super) fn reads(&self, column: &str) -> bool {
        let kept = self.places.get(column).and_then(|place| self.kept.get(*place)).is_some_and(Option::is_some);
        kept || self.asked(column).is_some()
    }

    /// The relations, including system views, that may have requested rows, sorted by OID.
    pub(super) fn relations(&self, context: &StatementContext, keys: &[RelationKey]) -> Vec<Arc<TableDescriptor>> {
        asked::relations(&context.catalog, keys, |column| self.asked(column), true)
    }

    /// The user relations that may have requested rows, sorted by OID.
    pub(super) fn user_relations(&self, context: &StatementContext, keys: &[RelationKey]) -> Vec<Arc<TableDescriptor>> {
        asked::relations(&context.catalog, keys, |column| self.asked(column), false)
    }

    fn place(&self, name: &str) -> Result<usize> {
        let place = self.places.get(name).copied();
        place.ok_or_else(|| SqlError::internal(format!("a system view has no column {name}")))
    }

    /// Adds a row. Columns that are not named take their defaults.
    pub(super) fn add<const N: usize>(&mut self, values: [(&'static str, Datum); N]) -> Result<()> {
        let known = self.named.iter().position(|names| {
            names.len() == N && names.iter().zip(&values).all(|((name, _), (given, _))| std::ptr::eq(*name, *given))
        });
        let known = match known {
            Some(known) => known,
            None => {
                let names = values.iter().map(|(name, _)| Ok((*name, self.place(name)?))).collect::<Result<_>>()?;
                self.named.push(names);
                self.named.len() - 1
            }
        };
        let places = self.named.get(known).into_iter().flatten().map(|(_, place)| *place);
        let row = places.zip(values.into_iter().map(|(_, value)| value)).filter(|(_, value)| !value.is_null());
        let row = row.collect();
        self.push(row);
        Ok(())
    }

    /// Adds a row with values in text form. Columns that are not named take their defaults.
    pub(super) fn add_texts(&mut self, values: &[(&str, String)]) -> Result<()> {
        let mut row = Vec::with_capacity(values.len());
        for (name, text) in values {
            let place = self.place(name)?;
            let ty = self.columns.get(place).map_or(SqlType::TEXT, |column| column.ty);
            row.push((place, input(ty, text, &InputContext::PLAIN)?));
        }
        self.push(row);
        Ok(())
    }

    /// Adds a row if it matches the keys. If a column has two values, the later one counts.
    fn push(&mut self, row: Vec<(usize, Datum)>) {
        self.examined += 1;
        for key in &self.asked.keys {
            let given = row.iter().rev().find(|(place, _)| *place == key.column).map(|(_, value)| value);
            let value = given.or_else(|| self.columns.get(key.column).map(|column| &column.unset));
            if !value.is_some_and(|value| key.values.contains(value)) {
                return;
            }
        }
        for (column, values) in self.asked.columns.iter().zip(&mut self.values) {
            let unset = self.columns.get(*column).map_or(Datum::Null, |column| column.unset.clone());
            values.push(unset);
        }
        for (place, value) in row {
            let values = self.kept.get(place).copied().flatten().and_then(|kept| self.values.get_mut(kept));
            if let Some(last) = values.and_then(|values| values.last_mut()) {
                *last = value;
            }
        }
        self.count += 1;
    }

    fn finish(self, descriptor: &TableDescriptor) -> Result<Found> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.values.len());
        let mut fields: Vec<Field> = Vec::with_capacity(self.values.len());
        let live: Vec<_> = descriptor.live_columns().collect();
        for (place, values) in self.asked.columns.iter().zip(self.values) {
            let (Some(column), Some(described)) = (self.columns.get(*place), live.get(*place)) else {
                return Err(SqlError::internal(format!("{} has no column {place}", descriptor.name)));
            };
            let ty = column.ty.arrow();
            let array = if values.is_empty() { new_empty_array(&ty) } else { ScalarValue::iter_to_array(values)? };
            if *array.data_type() != ty {
                let found = array.data_type();
                return Err(SqlError::internal(format!("{}: a column of {ty} holds {found}", descriptor.name)));
            }
            fields.push(Field::new(&described.name, ty, true));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        let rows = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?;
        Ok(Found { rows, examined: self.examined })
    }
}

/// Makes values in the Arrow form of the types of system views.
pub(super) mod value {
    use crate::types::array::{ArrayValue, Dimension};
    use crate::types::{Datum, Oid};
    use datafusion::arrow::array::{ArrayRef, Float32Array, Int16Array, Int32Array, Int64Array, StringArray};
    use std::sync::Arc;

    /// A value of oid, regproc or regtype.
    pub fn oid(value: Oid) -> Datum {
        Datum::from(i64::from(value))
    }
    /// A value of text, name, varchar or "char".
    pub fn text(value: impl AsRef<str>) -> Datum {
        Datum::from(value.as_ref())
    }
    /// A timestamptz or NULL.
    pub fn moment(value: Option<i64>) -> Datum {
        Datum::TimestampMicrosecond(value, Some("+00:00".into()))
    }
    /// A text or NULL.
    pub fn optional(value: Option<&str>) -> Datum {
        Datum::Utf8(value.map(str::to_string))
    }
    /// An array with the lower bound `lower`.
    fn array(elements: ArrayRef, lower: i32) -> Datum {
        let dimension = Dimension { lower, ..Dimension::of(elements.len()) };
        // This cannot fail: the array has one dimension with as many elements.
        ArrayValue::new(elements, &[dimension]).and_then(ArrayValue::into_datum).unwrap_or(Datum::Null)
    }
    /// A `text[]` of these values.
    pub fn texts(values: impl IntoIterator<Item = String>) -> Datum {
        array(Arc::new(StringArray::from_iter_values(values)), 1)
    }
    /// An `int8[]` of these values.
    pub fn int8s(values: impl IntoIterator<Item = i64>) -> Datum {
        array(Arc::new(Int64Array::from_iter_values(values)), 1)
    }
    /// An `int4[]` of these values.
    pub fn int4s(values: impl IntoIterator<Item = i32>) -> Datum {
        array(Arc::new(Int32Array::from_iter_values(values)), 1)
    }
    /// A `float4[]` of these values.
    pub fn float4s(values: impl IntoIterator<Item = f32>) -> Datum {
        array(Arc::new(Float32Array::from_iter_values(values)), 1)
    }
    /// An `int2[]` of these values.
    pub fn int2s(values: impl IntoIterator<Item = i16>) -> Datum {
        array(Arc::new(Int16Array::from_iter_values(values)), 1)
    }
    /// An `int2vector` of these values.
    pub fn int2_vector(values: impl IntoIterator<Item = i16>) -> Datum {
        array(Arc::new(Int16Array::from_iter_values(values)), 0)
    }
    /// An `oidvector` of these values.
    pub fn oid_vector(values: impl IntoIterator<Item = Oid>) -> Datum {
        array(Arc::new(Int64Array::from_iter_values(values.into_iter().map(i64::from))), 0)
    }
    /// An `oid[]` of these values.
    pub fn oids(values: impl IntoIterator<Item = Oid>) -> Datum {
        array(Arc::new(Int64Array::from_iter_values(values.into_iter().map(i64::from))), 1)
    }
    /// A count as int2, at most its maximum.
    pub fn count(value: usize) -> Datum {
        Datum::from(i16::try_from(value).unwrap_or(i16::MAX))
    }
}
