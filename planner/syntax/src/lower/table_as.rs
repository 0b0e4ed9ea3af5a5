//! CREATE TABLE AS and SELECT INTO. Knows no tables.

use super::{inner, query, table};
use crate::source::Source;
use crate::statement::{CreateTableAs, Statement, StatementKind};
use grammar::Span;
use grammar::tree::{self as ast, QueryBody};
use sql_error::{Result, SqlError};
use std::sync::Arc;

/// The error for SELECT … INTO within another statement.
pub const INTO_NOT_HERE: &str = "SELECT ... INTO is not allowed here";

/// CREATE TABLE AS. Errors: 0A000 for a materialized view, and those of its clauses.
pub(super) fn create(source: &Arc<Source>, create: ast::CreateTableAs) -> Result<StatementKind> {
    if create.materialized_view {
        return Err(SqlError::unsupported("CREATE MATERIALIZED VIEW"));
    }
    table::check_storage(&create.storage)?;
    if let Some(into) = into_of(&create.source) {
        return Err(source.error(SqlError::syntax(INTO_NOT_HERE), into.name.span));
    }
    Ok(StatementKind::CreateTableAs(Box::new(CreateTableAs {
        name: create.name,
        if_not_exists: create.if_not_exists,
        columns: super::values(create.columns),
        query: inner(source, *create.source)?,
        with_data: create.with_data,
        into: false,
        persistence: create.persistence,
        storage: create.storage,
    })))
}

/// A query. SELECT … INTO is a CREATE TABLE AS.
pub(super) fn query(source: &Arc<Source>, mut query: Box<ast::Query>, span: Span) -> Result<StatementKind> {
    let into = first_select_mut(&mut query.body).and_then(|select| select.into.take());
    let tree = ast::Statement::Query(query);
    let Some(into) = into else {
        query::check(source, &tree)?;
        return Ok(StatementKind::Sql(Box::new(tree)));
    };
    let query: Statement = super::statement(source, tree, span)?;
    Ok(StatementKind::CreateTableAs(Box::new(CreateTableAs {
        name: into.name,
        if_not_exists: false,
        columns: Vec::new(),
        query,
        with_data: true,
        into: true,
        persistence: into.persistence,
        storage: ast::TableStorage::default(),
    })))
}

/// The INTO of a query.
pub(super) fn into_of(tree: &ast::Statement) -> Option<&ast::Into> {
    let ast::Statement::Query(query) = tree else { return None };
    let mut body = &query.body;
    loop {
        body = match body {
            QueryBody::Select(select) => return select.into.as_ref(),
            QueryBody::Set(set) => set.arms.first()?,
            QueryBody::Nested(query) => &query.body,
            QueryBody::Values(..) | QueryBody::Table(..) => return None,
        };
    }
}

/// The first SELECT, which INTO belongs to.
fn first_select_mut(body: &mut QueryBody) -> Option<&mut ast::Select> {
    let mut body = body;
    loop {
        body = match body {
            QueryBody::Select(select) => return Some(select),
            QueryBody::Set(set) => set.arms.first_mut()?,
            QueryBody::Nested(query) => &mut query.body,
            QueryBody::Values(..) | QueryBody::Table(..) => return None,
        };
    }
}
