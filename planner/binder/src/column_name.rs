//! Names of output columns, as PostgreSQL's FigureColname determines them.

use super::type_name::sql_type;
use syntax::ast::{
    CurrentValue, Expr, ExprKind, FromItem, QueryBody, SpecialCall, Step, Target, TrimSide, TypeBase, TypeName,
};
use syntax::deeper;
use types::{BaseType, SqlType};

/// The name of a select item without a label.
pub fn column_name(expr: &Expr) -> String {
    figure(expr).map_or_else(|| "?column?".to_string(), |(name, _)| name)
}

/// The name, and whether it is strong: a cast does not replace a strong name.
fn figure(expr: &Expr) -> Option<(String, bool)> {
    deeper(|| figure_kind(&expr.kind))
}

fn figure_kind(kind: &ExprKind) -> Option<(String, bool)> {
    let strong = |name: &str| Some((name.to_string(), true));
    match kind {
        ExprKind::Column(names) => names.last().map(|name| (name.value.clone(), true)),
        ExprKind::Collate { operand, .. } => figure(operand),
        ExprKind::Path { operand, steps } => {
            let field = steps.iter().rev().find_map(|step| match step {
                Step::Field(name) => Some((name.value.clone(), true)),
                _ => None,
            });
            field.or_else(|| figure(operand))
        }
        ExprKind::Call(call) => call.name.parts.last().map(|name| (name.value.clone(), true)),
        ExprKind::Special(call) => strong(&special_name(call)),
        ExprKind::Cast { operand, data_type, .. } => match figure(operand) {
            Some((name, true)) => Some((name, true)),
            weak => type_name(data_type).map(|name| (name, false)).or(weak),
        },
        ExprKind::Case { otherwise, .. } => match otherwise.as_deref().map(figure) {
            Some(Some((name, true))) => Some((name, true)),
            _ => Some(("case".into(), false)),
        },
        ExprKind::Exists(_) => strong("exists"),
        ExprKind::Array(_) | ExprKind::ArrayQuery(_) => strong("array"),
        ExprKind::Row { .. } => strong("row"),
        // The subquery's column has a name by now, possibly just the default name.
        ExprKind::Query(query) => {
            figure_query(&query.body).map_or_else(|| strong("?column?"), |(name, _)| strong(&name))
        }
        ExprKind::Overlaps { .. } => strong("overlaps"),
        ExprKind::IsNormalized { negated: false, .. } => strong("is_normalized"),
        ExprKind::AtTimeZone { .. } => strong("timezone"),
        _ => None,
    }
}

/// The name of a call with a grammar of its own: that of its function.
fn special_name(call: &SpecialCall) -> String {
    let name = match call {
        SpecialCall::Coalesce(_) => "coalesce",
        SpecialCall::Greatest(_) => "greatest",
        SpecialCall::Least(_) => "least",
        SpecialCall::NullIf(..) => "nullif",
        SpecialCall::Grouping(_) => "grouping",
        SpecialCall::Extract(..) => "extract",
        SpecialCall::Position(..) => "position",
        SpecialCall::Overlay(..) => "overlay",
        SpecialCall::Substring(..) | SpecialCall::SubstringSimilar(..) => "substring",
        SpecialCall::Trim(TrimSide::Both, _) => "btrim",
        SpecialCall::Trim(TrimSide::Leading, _) => "ltrim",
        SpecialCall::Trim(TrimSide::Trailing, _) => "rtrim",
        SpecialCall::Normalize(..) => "normalize",
        SpecialCall::Treat(_, data_type) => return type_name(data_type).unwrap_or_else(|| "treat".to_string()),
        SpecialCall::CollationFor(_) => "pg_collation_for",
        SpecialCall::Current(value, _) => match value {
            CurrentValue::Date => "current_date",
            CurrentValue::Time => "current_time",
            CurrentValue::Timestamp => "current_timestamp",
            CurrentValue::LocalTime => "localtime",
            CurrentValue::LocalTimestamp => "localtimestamp",
            CurrentValue::Role => "current_role",
            CurrentValue::User => "current_user",
            CurrentValue::PlainUser => "user",
            CurrentValue::SessionUser => "session_user",
            CurrentValue::Catalog => "current_catalog",
            CurrentValue::Schema => "current_schema",
        },
    };
    name.to_string()
}

/// The name of a query's first column, as far as its text tells.
fn figure_query(body: &QueryBody) -> Option<(String, bool)> {
    deeper(|| match body {
        QueryBody::Select(select) => match (select.targets.first(), select.from.as_slice()) {
            (Some(Target { label: Some(label), .. }), _) => Some((label.value.clone(), true)),
            // All columns of a single subquery.
            (Some(Target { value: Expr { kind: ExprKind::Star(names), .. }, .. }), from) => match from {
                [FromItem::Query { query, alias, .. }] if names.is_empty() => {
                    let renamed = alias.as_ref().and_then(|alias| alias.columns.first());
                    renamed.map_or_else(|| figure_query(&query.body), |column| Some((column.value.clone(), true)))
                }
                _ => None,
            },
            (Some(target), _) => figure(&target.value),
            (None, _) => None,
        },
        QueryBody::Values(..) => Some(("column1".to_string(), true)),
        QueryBody::Set(operation) => figure_query(operation.arms.first()?),
        QueryBody::Nested(query) => figure_query(&query.body),
        QueryBody::Table(..) => None,
    })
}

/// Whether a query's first column is the first column of what it reads.
pub fn begins_with_star(body: &QueryBody) -> bool {
    deeper(|| match body {
        QueryBody::Select(select) => {
            let star = |target: &Target| matches!(target.value.kind, ExprKind::Star(_));
            select.targets.first().is_some_and(star) && figure_query(body).is_none()
        }
        QueryBody::Set(operation) => operation.arms.first().is_some_and(begins_with_star),
        QueryBody::Nested(query) => begins_with_star(&query.body),
        QueryBody::Table(..) => true,
        QueryBody::Values(..) => false,
    })
}

/// The name that a cast to a type gives.
fn type_name(data_type: &TypeName) -> Option<String> {
    match (sql_type(data_type), &data_type.base) {
        (Ok(ty), _) => Some(internal_name(ty)),
        (Err(_), TypeBase::Named(name)) => name.parts.last().map(|name| name.value.clone()),
        (Err(_), TypeBase::Bit) => Some("bit".to_string()),
        (Err(_), TypeBase::BitVarying) => Some("varbit".to_string()),
        _ => None,
    }
}

/// The name of a type in `pg_type`, without the underscore of arrays, as FigureColname uses it.
pub fn internal_name(ty: SqlType) -> String {
    if ty.is_vector() {
        return ty.name();
    }
    let name = match ty.base {
        BaseType::Bool => "bool",
        BaseType::Int2 => "int2",
        BaseType::Int4 => "int4",
        BaseType::Int8 => "int8",
        BaseType::Float4 => "float4",
        BaseType::Float8 => "float8",
        BaseType::Varchar => "varchar",
        BaseType::Char => "bpchar",
        BaseType::SingleChar => "char",
        BaseType::Timestamp => "timestamp",
        BaseType::Timestamptz => "timestamptz",
        BaseType::Time => "time",
        BaseType::Timetz => "timetz",
        _ => return ty.element().name(),
    };
    name.to_string()
}
