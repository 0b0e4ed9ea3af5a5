//! Determines from their queries which views can be written: PostgreSQL's automatically updatable views.

use super::from::shown_name;
use super::row_function::is_row_function;
use super::view::{the_query, view_statement};
use catalog::{Catalog, ColumnId, RelationKind, TableDescriptor};
use functions::{is_aggregate, is_json_row_function};
use sql_error::{Result, SqlError};
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::ast::{self, ExprKind, FromItem, QueryBody};
use syntax::fold_name;
use syntax::visit::{Visit, Visitor};

/// The reason why a view or column cannot be written, in PostgreSQL's words.
pub type Reason = &'static str;

const NOT_A_COLUMN: Reason = "View columns that are not columns of their base relation are not updatable.";
const SYSTEM_COLUMN: Reason = "View columns that refer to system columns are not updatable.";
const WHOLE_ROW: Reason = "View columns that return whole-row references are not updatable.";
/// A view without writable columns allows only DELETE.
pub const NO_COLUMNS: Reason = "Views that have no updatable columns are not automatically updatable.";
const NOT_ONE_TABLE: Reason = "Views that do not select from a single table or view are not automatically updatable.";

/// A view whose own query allows writing.
#[derive(Clone, Debug)]
pub struct Level {
    /// Descriptor of the view.
    pub view: Arc<TableDescriptor>,
    /// The relation that it reads.
    pub below: Arc<TableDescriptor>,
    /// For each live column: the column of the relation below, or the reason why it cannot be written.
    pub columns: Vec<std::result::Result<ColumnId, Reason>>,
}

impl Level {
    /// The column below a live column of the view. Errors: the reason why there is none.
    pub fn below_of(&self, id: ColumnId) -> std::result::Result<ColumnId, Reason> {
        let position = self.view.live_columns().position(|column| column.id == id);
        position.and_then(|at| self.columns.get(at).copied()).unwrap_or(Err(NOT_A_COLUMN))
    }
    /// Whether any of its columns can be written.
    pub fn has_columns(&self) -> bool {
        self.columns.iter().any(std::result::Result::is_ok)
    }
}

/// Analyzes a view: its writable parts, or the reason why it cannot be written.
pub fn level(catalog: &Catalog, view: &Arc<TableDescriptor>) -> Result<std::result::Result<Level, Reason>> {
    let Some(stored) = &view.view else { return Ok(Err(NOT_ONE_TABLE)) };
    let statement = view_statement(stored)?;
    let select = match the_select(the_query(&statement)?) {
        Ok(select) => select,
        Err(reason) => return Ok(Err(reason)),
    };
    let (name, alias) = match the_relation(select) {
        Ok(found) => found,
        Err(reason) => return Ok(Err(reason)),
    };
    let (schema, relation) = fold_name(name)?;
    let known = stored.relations.iter().find(|known| known.schema == schema && known.name == relation);
    let below = known.and_then(|known| catalog.relation_by_oid(known.oid));
    let (Some(known), Some(below)) = (known, below) else { return Ok(Err(NOT_ONE_TABLE)) };
    if !matches!(below.kind, RelationKind::Table | RelationKind::View) {
        return Ok(Err(NOT_ONE_TABLE));
    }
    let mut names: Vec<(ColumnId, String)> = known
        .columns
        .iter()
        .filter(|(id, _)| below.column(*id).is_some_and(|column| !column.dropped))
        .cloned()
        .collect();
    for (column, given) in names.iter_mut().zip(alias.into_iter().flat_map(|alias| &alias.columns)) {
        column.1.clone_from(&given.value);
    }
    let shown = shown_name(alias, &relation);
    let columns = columns(select, &names, &shown);
    if columns.len() != view.live_columns().count() {
        return Err(SqlError::internal(format!("the query of view \"{}\" has other columns", view.name)));
    }
    Ok(Ok(Level { view: view.clone(), below, columns }))
}

/// The SELECT of a query with nothing else, or the reason why a view of it cannot be written.
pub fn the_select(query: &ast::Query) -> std::result::Result<&ast::Select, Reason> {
    let (mut with, mut limited) = (false, false);
    let mut query = query;
    let select = loop {
        with |= query.with.is_some();
        limited |= query.limit.is_some() || query.offset.is_some();
        match &query.body {
            QueryBody::Nested(inner) => query = inner,
            QueryBody::Select(select) => break select,
            QueryBody::Set(_) => {
                return Err("Views containing UNION, INTERSECT, or EXCEPT are not automatically updatable.");
            }
            QueryBody::Values(..) | QueryBody::Table(..) => return Err(NOT_ONE_TABLE),
        }
    };
    if select.distinct.is_some() {
        return Err("Views containing DISTINCT are not automatically updatable.");
    }
    if select.group_by.is_some() {
        return Err("Views containing GROUP BY are not automatically updatable.");
    }
    if select.having.is_some() {
        return Err("Views containing HAVING are not automatically updatable.");
    }
    if with {
        return Err("Views containing WITH are not automatically updatable.");
    }
    if limited {
        return Err("Views containing LIMIT or OFFSET are not automatically updatable.");
    }
    let mut calls = Calls::default();
    let _ = select.targets.visit(&mut calls);
    if calls.aggregate {
        return Err("Views that return aggregate functions are not automatically updatable.");
    }
    if calls.window {
        return Err("Views that return window functions are not automatically updatable.");
    }
    if calls.rows {
        return Err("Views that return set-returning functions are not automatically updatable.");
    }
    Ok(select)
}

/// The single relation of a SELECT.
pub fn the_relation(select: &ast::Select) -> std::result::Result<(&ast::Name, Option<&ast::Alias>), Reason> {
    match select.from.as_slice() {
        [FromItem::Table { relation, alias, sample: None, span: _ }] => Ok((&relation.name, alias.as_ref())),
        [FromItem::Table { .. }] => Err("Views containing TABLESAMPLE are not automatically updatable."),
        _ => Err(NOT_ONE_TABLE),
    }
}

/// The columns below the columns of a SELECT.
fn columns(
    select: &ast::Select,
    names: &[(ColumnId, String)],
    relation: &str,
) -> Vec<std::result::Result<ColumnId, Reason>> {
    let all = || names.iter().map(|(id, _)| Ok(*id));
    let mut found = Vec::new();
    for target in &select.targets {
        match target.value.kind {
            ExprKind::Star(_) => found.extend(all()),
            _ => found.push(column(&target.value, names, relation)),
        }
    }
    found
}

fn column(expr: &ast::Expr, names: &[(ColumnId, String)], relation: &str) -> std::result::Result<ColumnId, Reason> {
    const SYSTEM: [&str; 6] = ["tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"];
    let ExprKind::Column(parts) = &expr.kind else { return Err(NOT_A_COLUMN) };
    let Some(name) = parts.last().map(|ident| ident.value.as_str()) else { return Err(NOT_A_COLUMN) };
    match names.iter().find(|(_, known)| *known == name) {
        Some((id, _)) => Ok(*id),
        None if SYSTEM.contains(&name) => Err(SYSTEM_COLUMN),
        None if name == relation => Err(WHOLE_ROW),
        None => Err(NOT_A_COLUMN),
    }
}

/// Searches for calls in a select list, except in subqueries.
#[derive(Default)]
struct Calls {
    depth: usize,
    aggregate: bool,
    window: bool,
    rows: bool,
}

impl Visitor for Calls {
    type Break = ();

    fn pre_visit_query(&mut self, _query: &ast::Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }
    fn post_visit_query(&mut self, _query: &ast::Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<()> {
        if let (0, ExprKind::Call(call)) = (self.depth, &expr.kind)
            && let Ok((_, name)) = fold_name(&call.name)
        {
            self.window |= call.over.is_some();
            self.aggregate |= call.over.is_none() && is_aggregate(&name);
            self.rows |= is_row_function(&name) || is_json_row_function(&name);
        }
        ControlFlow::Continue(())
    }
}

/// `1 << CMD_UPDATE`, as pg_relation_is_updatable counts.
const UPDATE: i32 = 4;
/// The bit `1 << CMD_INSERT`.
const INSERT: i32 = 8;
/// The bit `1 << CMD_DELETE`.
const DELETE: i32 = 16;

/// The allowed writes of a relation, or of one of its columns: a sum of 4 (UPDATE), 8 (INSERT) and 16 (DELETE).
pub fn events(catalog: &Catalog, relation: &Arc<TableDescriptor>, column: Option<ColumnId>) -> i32 {
    let mut relation = relation.clone();
    let mut ids: Option<Vec<ColumnId>> = column.map(|id| vec![id]);
    let mut possible = UPDATE | INSERT | DELETE;
    loop {
        match relation.kind {
            RelationKind::Table => return possible,
            RelationKind::View => {}
            RelationKind::Sequence | RelationKind::SystemView => return 0,
        }
        let Ok(Ok(level)) = level(catalog, &relation) else { return 0 };
        let own: Vec<ColumnId> = match ids {
            Some(ids) => ids,
            None => relation.live_columns().map(|column| column.id).collect(),
        };
        let below: Vec<ColumnId> = own.into_iter().filter_map(|id| level.below_of(id).ok()).collect();
        if below.is_empty() {
            possible &= DELETE;
        }
        ids = Some(below);
        relation = level.below;
    }
}
