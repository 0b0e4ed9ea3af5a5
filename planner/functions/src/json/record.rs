//! json as rows with given columns: json_to_record, json_populate_record and similar functions. Each column is an array
//! with one element per row, which a plan unnests.

use super::super::kernel::{Call, Kernel, KernelFunction, Stability};
use super::super::typed::Text;
use super::super::{CastContext, Resolver, TypedExpr};
use catalog::encoding::{ColumnBuilder, append_field, push_record, record_fields};
use datafusion::arrow::array::{Array, AsArray};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::array::{ArrayValue, Dimension};
use types::json::{Node, Value, parse, to_jsonb};
use types::text::{InputContext, OutputContext, input, output_string};
use types::value::{ValueRef, value_at};
use types::{BaseType, Datum, SqlType};

/// The kind of function that the rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Whether the json is an array of objects rather than one object.
    pub set: bool,
    /// Whether the first argument is a row that supplies missing values.
    pub populate: bool,
    /// Whether the argument is jsonb rather than json.
    binary: bool,
}

impl Source {
    /// Looks up a function by name.
    pub fn named(name: &str) -> Option<Source> {
        let (binary, rest) = match name.strip_prefix("jsonb_") {
            Some(rest) => (true, rest),
            None => (false, name.strip_prefix("json_")?),
        };
        let (set, populate) = match rest {
            "to_record" => (false, false),
            "to_recordset" => (true, false),
            "populate_record" => (false, true),
            "populate_recordset" => (true, true),
            _ => return None,
        };
        Some(Source { set, populate, binary })
    }
}

/// The row that supplies missing values, if any, and the json. Errors: 42883.
pub(super) fn arguments(
    resolver: &Resolver<'_>,
    name: &str,
    source: Source,
    mut args: Vec<TypedExpr>,
) -> Result<(Option<TypedExpr>, TypedExpr)> {
    let missing = resolver.no_function(name, &args);
    let base = if source.populate && !args.is_empty() { Some(args.remove(0)) } else { None };
    let [text] = <[TypedExpr; 1]>::try_from(args).map_err(|_| missing.clone())?;
    let wanted = if source.binary { SqlType::JSONB } else { SqlType::JSON };
    Ok((base, resolver.cast(text, wanted, CastContext::Implicit).map_err(|_| missing)?))
}

/// The members of an object.
pub(super) type Pairs<'t> = Vec<(String, Node<'t>)>;

/// The objects of a call. Errors: 22023.
pub(super) fn objects<'n, 't>(node: &'n Node<'t>, name: &str, set: bool) -> Result<Vec<&'n Pairs<'t>>> {
    let objects: Vec<&Node<'_>> = match (&node.value, set) {
        (Value::Array(elements), true) => elements.iter().collect(),
        (_, true) if name.starts_with("jsonb") => return Err(wrong(format!("cannot call {name} on a non-array"))),
        (Value::Object(_), true) => return Err(wrong(format!("cannot call {name} on an object"))),
        (_, true) => return Err(wrong(format!("cannot call {name} on a scalar"))),
        _ => vec![node],
    };
    let pairs = objects.into_iter().map(|object| match (&object.value, set) {
        (Value::Object(pairs), _) => Ok(pairs),
        (_, true) => Err(wrong(format!("argument of {name} must be an array of objects"))),
        (Value::Array(_), false) => Err(wrong("cannot call populate_composite on an array".to_string())),
        _ => Err(wrong("cannot call populate_composite on a scalar".to_string())),
    });
    pairs.collect()
}

/// The columns of a call as arrays. Errors: 42883.
pub fn record_lists(
    resolver: &Resolver<'_>,
    name: &str,
    source: Source,
    args: Vec<TypedExpr>,
    columns: &[(String, SqlType)],
) -> Result<Vec<TypedExpr>> {
    let (base, text) = arguments(resolver, name, source, args)?;
    let mut lists = Vec::new();
    for (place, (column, ty)) in columns.iter().enumerate() {
        let (column, ty, set) = (column.clone(), *ty, source.set);
        let called = name.to_string();
        let key = format!("{name} {column} {}", ty.format());
        let kernel: Kernel = Arc::new(move |call: &Call<'_>| column_values(call, &called, &column, place, ty, set));
        let mut types = vec![text.ty];
        let mut exprs = vec![text.expr.clone()];
        if let Some(base) = &base {
            types.push(base.ty);
            exprs.push(base.expr.clone());
        }
        let slots = Some(Arc::clone(resolver.slots));
        // There are no arrays of arrays. An array column is passed as text until it belongs to a row.
        let item = if ty.array { SqlType::TEXT } else { ty };
        lists.push(KernelFunction::new(key, types, item.array_of(), Stability::Stable, kernel, slots).call(exprs));
    }
    Ok(lists)
}

fn column_values(
    call: &Call<'_>,
    name: &str,
    column: &str,
    place: usize,
    ty: SqlType,
    set: bool,
) -> Result<datafusion::arrow::array::ArrayRef> {
    let texts = call.column::<Text>(0)?;
    let base = call.arguments.get(1);
    let statement = call.context().ok();
    let context = statement.as_ref().map_or(InputContext::PLAIN, |statement| statement.text_input());
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let mut values = ColumnBuilder::new(ty, 1);
        let default = |values: &mut ColumnBuilder| -> Result<()> {
            let base = base.map(|array| (array, Call::row_of(array, row))).filter(|(array, at)| !array.is_null(*at));
            match base.and_then(|(array, at)| Some(array.as_binary_opt::<i32>()?.value(at))) {
                Some(record) => append_field(values, record_fields(record)?.get(place).copied().flatten()),
                None => {
                    values.append_null();
                    Ok(())
                }
            }
        };
        match texts.get(row)? {
            // No json: a set has no rows, and a single row keeps the base's values.
            None if set => {}
            None => default(&mut values)?,
            Some(text) => {
                let node = parse(text)?;
                for pairs in objects(&node, name, set)? {
                    match pairs.iter().rev().find(|(key, _)| key == column) {
                        Some((_, value)) => values.append_datum(&datum(value, ty, &context)?)?,
                        None => default(&mut values)?,
                    }
                }
            }
        }
        let made = values.finish()?;
        if !ty.array {
            builder.append(&ValueRef::array(made))?;
            continue;
        }
        let output = statement.as_ref().map_or(OutputContext::PLAIN, |statement| statement.text_output());
        let mut texts = ColumnBuilder::new(SqlType::TEXT, made.len());
        for at in 0..made.len() {
            match made.is_null(at) {
                true => texts.append_null(),
                false => texts.append(&ValueRef::Text(&output_string(ty, made.as_ref(), at, &output)?))?,
            }
        }
        builder.append(&ValueRef::array(texts.finish()?))?;
    }
    builder.finish()
}

pub(super) fn wrong(message: String) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// Appends the elements of a json array, which may be nested. `level` is the nesting depth. Errors: 22P02 if arrays of
/// a level differ in length.
fn nested(
    elements: &[Node<'_>],
    ty: SqlType,
    context: &InputContext<'_>,
    made: &mut ColumnBuilder,
    dimensions: &mut Vec<Dimension>,
    level: usize,
) -> Result<()> {
    let malformed = |detail: &str| {
        SqlError::new(state::INVALID_TEXT_REPRESENTATION, "malformed JSON array").detail(detail.to_string())
    };
    // The first element of a level decides whether there is another level.
    let arrays = match dimensions.get(level) {
        Some(dimension) if dimension.length as usize != elements.len() => {
            return Err(malformed("Multidimensional arrays must have sub-arrays with matching dimensions."));
        }
        Some(_) => dimensions.len() > level + 1,
        None => {
            dimensions.push(Dimension::of(elements.len()));
            let json = matches!(ty.base, BaseType::Json | BaseType::Jsonb);
            !json && matches!(elements.first().map(|first| &first.value), Some(Value::Array(_)))
        }
    };
    for element in elements {
        match &element.value {
            Value::Array(inner) if arrays => nested(inner, ty, context, made, dimensions, level + 1)?,
            _ if arrays => return Err(SqlError::new(state::INVALID_TEXT_REPRESENTATION, "expected JSON array")),
            _ => made.append_datum(&datum(element, ty, context)?)?,
        }
    }
    Ok(())
}

/// Converts a json value to a value of a type.
pub(super) fn datum(node: &Node<'_>, ty: SqlType, context: &InputContext<'_>) -> Result<Datum> {
    if matches!(node.value, Value::Null) {
        return Ok(Datum::try_from(&ty.arrow())?);
    }
    match (&node.value, ty.base) {
        (Value::Array(elements), _) if ty.array => {
            let mut made = ColumnBuilder::new(ty.element(), elements.len());
            let mut dimensions = Vec::new();
            nested(elements, ty.element(), context, &mut made, &mut dimensions, 0)?;
            ArrayValue::new(made.finish()?, &dimensions)?.into_datum()
        }
        (_, _) if ty.array && !matches!(node.value, Value::String(_)) => {
            Err(SqlError::new(state::INVALID_TEXT_REPRESENTATION, "expected JSON array"))
        }
        (Value::Object(pairs), BaseType::Record(record)) => {
            let mut columns = Vec::new();
            for (name, ty) in record.fields() {
                let found = pairs.iter().rev().find(|(key, _)| key == name);
                let value = match found {
                    Some((_, value)) => datum(value, *ty, context)?,
                    None => Datum::try_from(&ty.arrow())?,
                };
                columns.push(value.to_array()?);
            }
            let values = columns.iter().map(|column| value_at(column.as_ref(), 0)).collect::<Result<Vec<_>>>()?;
            let mut bytes = Vec::new();
            push_record(record.types(), &values, &mut bytes)?;
            Ok(Datum::Binary(Some(bytes)))
        }
        (_, BaseType::Json) => Ok(Datum::Utf8(Some(node.text.to_string()))),
        (_, BaseType::Jsonb) => Ok(Datum::Utf8(Some(to_jsonb(node.text)?))),
        _ => input(ty, &node.as_text().unwrap_or_default(), context),
    }
}
