//! The tables of a cursor's query whose rows WHERE CURRENT OF can find. The plan of the query gets further columns for
//! them: the primary key of each table, or the row key if there is none. The tree of the query stays as it is. Knows
//! the parsed query and the catalog.

use crate::catalog::{Catalog, RelationKind};
use crate::parse::ast::{self, FromItem, Name, QueryBody};
use crate::parse::{Span, Statement, StatementKind, fold_name};
use crate::types::Oid;

/// A table of the query.
pub struct Told {
    /// Its name in the FROM clause.
    pub shown: String,
    /// The OID of the table.
    pub table: Oid,
    /// The number of columns that identify a row of it.
    pub columns: usize,
}

/// The query of a statement.
fn query_of(statement: &Statement) -> Option<&ast::Query> {
    let StatementKind::Sql(tree) = &statement.kind else { return None };
    match tree.as_ref() {
        ast::Statement::Query(query) => Some(query),
        _ => None,
    }
}

/// The place of the SELECT whose plan gets the columns. `TABLE t` is one too.
pub fn place_of_select(statement: &Statement) -> Option<Span> {
    match &query_of(statement)?.body {
        QueryBody::Select(select) => Some(select.span),
        QueryBody::Table(_, span) => Some(*span),
        _ => None,
    }
}

/// The table of this name. `shown` is its alias.
fn table(name: &Name, shown: Option<&ast::Ident>, catalog: &Catalog, path: &[String]) -> Option<Told> {
    let (schema, name) = fold_name(name).ok()?;
    let table = catalog.relation(schema.as_deref(), &name, path).filter(|table| table.kind == RelationKind::Table)?;
    let columns = table.primary_key().map_or(1, |primary| primary.columns.len());
    let shown = shown.map_or(name, |alias| alias.value.clone());
    Some(Told { shown, table: table.oid, columns })
}

/// The table behind an item of FROM.
fn table_of(item: &FromItem, catalog: &Catalog, path: &[String]) -> Option<Told> {
    match item {
        FromItem::Table { relation, alias, sample: None, .. } => {
            let shown = alias.as_ref().and_then(|alias| alias.name.as_ref());
            table(&relation.name, shown, catalog, path)
        }
        _ => None,
    }
}

/// The tables of FROM, in order. The alias of a join hides those within it.
fn tables_of(from: &[FromItem], catalog: &Catalog, path: &[String]) -> Vec<Told> {
    let mut found = Vec::new();
    let mut rest: Vec<&FromItem> = from.iter().rev().collect();
    while let Some(item) = rest.pop() {
        match item {
            FromItem::Join(join) if join.alias.is_none() => rest.extend([&join.right, &join.left]),
            item => found.extend(table_of(item, catalog, path)),
        }
    }
    found
}

/// The tables whose rows the query identifies. None unless its rows come from one table, or from tables that it locks.
pub fn told(statement: &Statement, catalog: &Catalog, path: &[String]) -> Vec<Told> {
    let Some(query) = query_of(statement).filter(|query| query.with.is_none()) else { return Vec::new() };
    let select = match &query.body {
        QueryBody::Table(relation, _) => return table(&relation.name, None, catalog, path).into_iter().collect(),
        QueryBody::Select(select) => select,
        _ => return Vec::new(),
    };
    if select.group_by.is_some() || select.distinct.is_some() || select.having.is_some() {
        return Vec::new();
    }
    if query.locks.is_empty() {
        return match select.from.as_slice() {
            [only] => table_of(only, catalog, path).into_iter().collect(),
            _ => Vec::new(),
        };
    }
    let named = |clause: &ast::LockClause, shown: &str| {
        let is_it = |name: &Name| name.parts.last().is_some_and(|ident| ident.value == shown);
        clause.of.is_empty() || clause.of.iter().any(is_it)
    };
    let mut tables = tables_of(&select.from, catalog, path);
    tables.retain(|told| query.locks.iter().any(|clause| named(clause, &told.shown)));
    tables
}
