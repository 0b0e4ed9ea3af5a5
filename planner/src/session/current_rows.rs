//! Extends a cursor's query so that WHERE CURRENT OF finds its rows. The query gets further columns: the primary key of
//! each table, or the row key if there is none. Knows the parsed query and the catalog.

use crate::bind::ROW_KEY;
use crate::catalog::{Catalog, RelationKind};
use crate::parse::{Statement, StatementKind, fold, fold_name, plain_call};
use crate::types::Oid;
use sqlparser::ast::{self, Expr, Ident, SelectItem, SetExpr, TableFactor};
use std::sync::Arc;

fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

/// The table behind a relation of the query, with the relation's name there.
fn relation(factor: &TableFactor, catalog: &Catalog, path: &[String]) -> Option<(String, Oid)> {
    let TableFactor::Table { name, alias, args: None, sample: None, .. } = factor else { return None };
    let (schema, name) = fold_name(name).ok()?;
    let table = catalog.relation(schema.as_deref(), &name, path)?;
    let shown = alias.as_ref().map_or(name, |alias| fold(&alias.name));
    (table.kind == RelationKind::Table).then_some((shown, table.oid))
}

/// The columns that identify a row of a table.
fn items(shown: &str, table: Oid, catalog: &Catalog) -> Option<Vec<SelectItem>> {
    let table = catalog.relation_by_oid(table)?;
    let Some(primary) = table.primary_key() else {
        let call = plain_call(quoted(ROW_KEY), Expr::Identifier(quoted(shown)));
        return Some(vec![SelectItem::UnnamedExpr(Expr::Function(call))]);
    };
    let column = |part: &crate::catalog::IndexColumn| {
        let column = table.column(part.column)?;
        Some(SelectItem::UnnamedExpr(Expr::CompoundIdentifier(vec![quoted(shown), quoted(&column.name)])))
    };
    primary.columns.iter().map(column).collect()
}

/// A query with the row identities of its tables as further columns, and how many columns each table takes. `None`
/// unless its rows come from one table, or from tables that it locks.
pub fn telling(query: &Statement, catalog: &Catalog, path: &[String]) -> Option<(Statement, Vec<(Oid, usize)>)> {
    let mut telling = query.clone();
    let StatementKind::Sql(tree) = &mut telling.kind else { return None };
    let ast::Statement::Query(tree) = tree.as_mut() else { return None };
    let locks = tree.locks.clone();
    if tree.with.is_some() {
        return None;
    }
    let SetExpr::Select(select) = tree.body.as_mut() else { return None };
    let grouped = !matches!(&select.group_by, ast::GroupByExpr::Expressions(by, _) if by.is_empty());
    if grouped || select.distinct.is_some() || select.having.is_some() {
        return None;
    }
    let mut relations: Vec<(String, Oid)> = Vec::new();
    if locks.is_empty() {
        let [ast::TableWithJoins { relation: only, joins }] = select.from.as_slice() else { return None };
        relations.extend(relation(only, catalog, path).filter(|_| joins.is_empty()));
    } else {
        let of: Vec<&[String]> =
            locks.iter().filter_map(|clause| Some(query.extras.lock(clause)?.of.as_slice())).collect();
        let locked = |name: &String| of.iter().any(|names| names.is_empty() || names.contains(name));
        for item in &select.from {
            let factors = std::iter::once(&item.relation).chain(item.joins.iter().map(|join| &join.relation));
            relations.extend(factors.filter_map(|factor| relation(factor, catalog, path)));
        }
        relations.retain(|(name, _)| locked(name));
    }
    let mut tables = Vec::new();
    for (shown, table) in relations {
        let items = items(&shown, table, catalog)?;
        tables.push((table, items.len()));
        select.projection.extend(items);
    }
    // The text is the key in the plan cache. The suffix distinguishes it from all other statements.
    telling.text = Arc::from(format!("{}\u{1}", query.text));
    (!tables.is_empty()).then_some((telling, tables))
}
