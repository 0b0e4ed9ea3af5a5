//! CREATE VIEW. Knows no views.

use super::{table_as, values};
use crate::names::quote;
use crate::options::parameters;
use crate::source::Source;
use crate::statement::{CreateView, StatementKind};
use grammar::Span;
use grammar::tree::{self as ast, CheckOption, Expr, ExprKind, FromItem, Ident, Name, QueryBody, RelationName, Target};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;

/// CREATE VIEW. Errors: 0A000 for SELECT INTO.
pub(super) fn create(source: &Arc<Source>, create: ast::CreateView) -> Result<StatementKind> {
    let mut options = parameters(&create.options)?;
    if let Some(check) = create.check_option {
        let check = match check {
            CheckOption::Local => "local",
            CheckOption::Cascaded => "cascaded",
        };
        options.push(("check_option".to_string(), Some(check.to_string())));
    }
    let span = create.query.span;
    let mut tree = ast::Statement::Query(create.query);
    if table_as::into_of(&tree).is_some() {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "views must not contain SELECT INTO"));
    }
    let mut text = None;
    if create.recursive
        && let Some(name) = create.name.parts.last()
    {
        let list = create.columns.iter().map(|column| quote(&column.value)).collect::<Vec<_>>().join(", ");
        let (name_text, query_text) = (quote(&name.value), source.slice(span));
        text = Some(format!("WITH RECURSIVE {name_text} ({list}) AS ({query_text}) SELECT {list} FROM {name_text}"));
        tree = recursive(name, &create.columns, tree, span);
    }
    let mut query = super::statement(source, tree, span)?;
    if let Some(text) = text {
        query.text = text.into();
    }
    Ok(StatementKind::CreateView(Box::new(CreateView {
        or_replace: create.or_replace,
        name: create.name,
        columns: values(create.columns),
        query,
        temporary: create.temporary,
        options,
        recursive: create.recursive,
    })))
}

/// `WITH RECURSIVE name (columns) AS (query) SELECT columns FROM name`. Only the query stands in the text.
fn recursive(name: &Ident, columns: &[Ident], query: ast::Statement, span: Span) -> ast::Statement {
    let name = || Ident::new(name.value.clone());
    let columns = || columns.iter().map(|column| Ident::new(column.value.clone()));
    let column =
        |column| Target { value: Expr { kind: ExprKind::Column(vec![column]), span: Span::NONE }, label: None };
    let table = FromItem::Table {
        relation: RelationName { name: Name { parts: vec![name()], span: Span::NONE }, only: false },
        alias: None,
        sample: None,
        span: Span::NONE,
    };
    let select = ast::Select {
        distinct: None,
        targets: columns().map(column).collect(),
        into: None,
        from: vec![table],
        filter: None,
        group_by: None,
        having: None,
        windows: Vec::new(),
        span: Span::NONE,
    };
    let common = ast::CommonTable {
        name: name(),
        columns: columns().collect(),
        materialized: None,
        statement: Box::new(query),
        search: None,
        cycle: None,
        span,
    };
    ast::Statement::Query(Box::new(ast::Query {
        with: Some(ast::With { recursive: true, queries: vec![common], span: Span::NONE }),
        body: QueryBody::Select(Box::new(select)),
        order_by: Vec::new(),
        limit: None,
        offset: None,
        locks: Vec::new(),
        as_of: None,
        span,
    }))
}
