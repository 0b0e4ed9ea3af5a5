//! Names of output columns, as PostgreSQL's FigureColname determines them.

use super::type_name::sql_type;
use sqlparser::ast::{self, AccessExpr, Expr, SelectItem, SetExpr, TableFactor, TrimWhereField};
use syntax::{fold, fold_name};
use types::{BaseType, SqlType};

/// The name of a select item without an alias.
pub fn column_name(expr: &Expr) -> String {
    figure(expr).map_or_else(|| "?column?".to_string(), |(name, _)| name)
}

/// The name, and whether it is strong: a cast does not replace a strong name.
fn figure(expr: &Expr) -> Option<(String, bool)> {
    let strong = |name: &str| Some((name.to_string(), true));
    match expr {
        Expr::Identifier(ident) => Some((fold(ident), true)),
        Expr::CompoundIdentifier(parts) => parts.last().map(|ident| (fold(ident), true)),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => figure(inner),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|access| match access {
                AccessExpr::Dot(Expr::Identifier(ident)) => Some((fold(ident), true)),
                _ => None,
            });
            field.or_else(|| figure(root))
        }
        Expr::Function(function) => match fold_name(&function.name).ok()? {
            (None, name) if name == "values" => strong("column1"),
            (_, name) => Some((name, true)),
        },
        Expr::Cast { expr, data_type, .. } => match figure(expr) {
            Some((name, true)) => Some((name, true)),
            weak => cast_name(data_type).map(|name| (name, false)).or(weak),
        },
        Expr::TypedString(typed) => cast_name(&typed.data_type).map(|name| (name, false)),
        Expr::Value(value) if matches!(value.value, ast::Value::NationalStringLiteral(_)) => {
            Some(("bpchar".into(), false))
        }
        Expr::Interval(_) => Some(("interval".into(), false)),
        Expr::Case { else_result, .. } => match else_result.as_deref().map(|result| (result, figure(result))) {
            Some((_, Some((name, true)))) => Some((name, true)),
            _ => Some(("case".into(), false)),
        },
        Expr::Exists { negated: false, .. } => strong("exists"),
        Expr::Array(_) => strong("array"),
        Expr::Tuple(_) => strong("row"),
        // The subquery's column has a name by now, possibly just the default name.
        Expr::Subquery(query) => {
            figure_query(&query.body).map_or_else(|| strong("?column?"), |(name, _)| strong(&name))
        }
        Expr::Extract { .. } => strong("extract"),
        Expr::Position { .. } => strong("position"),
        Expr::Substring { shorthand, .. } => strong(if *shorthand { "substr" } else { "substring" }),
        Expr::BinaryOp { op: ast::BinaryOperator::Overlaps, .. } => strong("overlaps"),
        Expr::IsNormalized { negated: false, .. } => strong("is_normalized"),
        Expr::Overlay { .. } => strong("overlay"),
        Expr::Ceil { .. } => strong("ceil"),
        Expr::Floor { .. } => strong("floor"),
        Expr::Trim { trim_where, .. } => match trim_where {
            None | Some(TrimWhereField::Both) => strong("btrim"),
            Some(TrimWhereField::Leading) => strong("ltrim"),
            Some(TrimWhereField::Trailing) => strong("rtrim"),
        },
        Expr::AtTimeZone { .. } => strong("timezone"),
        _ => None,
    }
}

/// The name of a query's first column, as far as its text tells.
fn figure_query(body: &SetExpr) -> Option<(String, bool)> {
    match body {
        SetExpr::Select(select) => match (select.projection.first(), select.from.as_slice()) {
            (Some(SelectItem::ExprWithAlias { alias, .. }), _) => Some((fold(alias), true)),
            (Some(SelectItem::UnnamedExpr(inner)), _) => figure(inner),
            // All columns of a single subquery.
            (Some(SelectItem::Wildcard(_)), [from]) if from.joins.is_empty() => match &from.relation {
                TableFactor::Derived { subquery, alias, .. } => {
                    let renamed = alias.as_ref().and_then(|alias| alias.columns.first());
                    renamed.map_or_else(|| figure_query(&subquery.body), |column| Some((fold(&column.name), true)))
                }
                _ => None,
            },
            _ => None,
        },
        SetExpr::Values(_) => Some(("column1".to_string(), true)),
        SetExpr::SetOperation { left, .. } => figure_query(left),
        SetExpr::Query(query) => figure_query(&query.body),
        _ => None,
    }
}

/// Whether a query's first column is the first column of what it reads.
pub fn begins_with_star(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => {
            let star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
            select.projection.first().is_some_and(star) && figure_query(body).is_none()
        }
        SetExpr::SetOperation { left, .. } => begins_with_star(left),
        SetExpr::Query(query) => begins_with_star(&query.body),
        _ => false,
    }
}

fn cast_name(data_type: &ast::DataType) -> Option<String> {
    match (sql_type(data_type), data_type) {
        (Ok(ty), _) => Some(internal_name(ty)),
        (Err(_), ast::DataType::Custom(name, _)) => fold_name(name).ok().map(|(_, name)| name),
        (Err(_), ast::DataType::Array(ast::ArrayElemTypeDef::SquareBracket(element, _))) => cast_name(element),
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
