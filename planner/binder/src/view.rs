//! Views: replaces a view by its query, and records what a new view names and needs.

use super::binder::Binder;
use super::from::{Source, rename, shown_name};
use super::scope::{Scope, ScopeColumn, ScopeRelation};
use super::{BindContext, BoundKind};
use catalog::{ColumnId, RelationKind, TableDescriptor, ViewDescriptor, ViewRelation};
use context::output_column::OutputColumn;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, TableReference};
use datafusion::logical_expr::{Expr, LogicalPlan};
use functions::ParameterTypes;
use sql_error::{Result, SqlError, state};
use std::cell::RefCell;
use std::sync::Arc;
use syntax::{Statement, StatementKind, ast};
use types::{Oid, SqlType};

/// Deepest nesting of views, including parentheses in their queries.
const DEEPEST: usize = 96;

/// How relation names are looked up.
pub enum Names<'a> {
    /// In the catalog, along the search_path.
    Catalog,
    /// In the catalog, and the names found are recorded: a view is being created.
    Noting(RefCell<Noted>),
    /// By the names stored with a view.
    Of(&'a ViewDescriptor),
}

/// The relations that the query of a new view names.
#[derive(Default)]
pub struct Noted {
    relations: Vec<ViewRelation>,
    keys: Vec<Oid>,
    scans: Vec<(TableReference, Arc<TableDescriptor>)>,
}

/// The bound query of a new view.
#[derive(Debug)]
pub struct BoundView {
    /// Columns of the view.
    pub columns: Vec<OutputColumn>,
    /// The relations it names, with the columns that it needs.
    pub relations: Vec<ViewRelation>,
    /// OIDs of the PRIMARY KEYs that its GROUP BY relies on.
    pub keys: Vec<Oid>,
}

/// Binds the query of a view that is being created. Errors: as for a query; 42P02 for parameters.
pub fn bind_view(statement: &Statement, context: &BindContext<'_>) -> Result<BoundView> {
    // First bind it as a query, including nested views: the role must be able to read them.
    bind_once(statement, context, Names::Catalog)?;
    bind_once(statement, context, Names::Noting(RefCell::default()))
}

/// Binds the stored query of a view. Errors: as for a query.
pub fn bind_stored_view(view: &ViewDescriptor, context: &BindContext<'_>) -> Result<()> {
    bind_once(&view_statement(view)?, context, Names::Of(view)).map(|_| ())
}

fn bind_once(statement: &Statement, context: &BindContext<'_>, names: Names<'_>) -> Result<BoundView> {
    let query = the_query(statement)?;
    let parameters = ParameterTypes::new(Vec::new());
    let mut binder = Binder::new(*context, &statement.source, &parameters);
    binder.names = names;
    let bound = binder.query_statement(query)?;
    if binder.has_parts() {
        let message = "views must not contain data-modifying statements in WITH";
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
    }
    let BoundKind::Query { plan, columns, .. } = bound else {
        return Err(SqlError::internal("a query bound to something else"));
    };
    if !parameters.finish(true)?.is_empty() {
        return Err(SqlError::new(state::UNDEFINED_PARAMETER, "there is no parameter $1").about("$1"));
    }
    let Names::Noting(noted) = binder.names else {
        return Ok(BoundView { columns, relations: Vec::new(), keys: Vec::new() });
    };
    let Noted { mut relations, keys, scans } = noted.into_inner();
    let mut used = Vec::new();
    visit_columns(&plan, &mut |column| {
        let scan = scans.iter().find(|(qualifier, _)| column.relation.as_ref() == Some(qualifier));
        if let Some((_, table)) = scan
            && let Some(descriptor) = table.column_named(&column.name)
        {
            used.push((table.oid, descriptor.id));
        }
    })?;
    for relation in &mut relations {
        let mut ids: Vec<ColumnId> = used.iter().filter(|(oid, _)| *oid == relation.oid).map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        relation.used = ids;
    }
    Ok(BoundView { columns, relations, keys })
}

fn visit_columns(plan: &LogicalPlan, visit: &mut dyn FnMut(&Column)) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                match part {
                    Expr::Column(column) | Expr::OuterReferenceColumn(_, column) => visit(column),
                    _ => {}
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(())
}

/// The query of a statement that is one.
pub fn the_query(statement: &Statement) -> Result<&ast::Query> {
    match &statement.kind {
        StatementKind::Sql(tree) => match tree.as_ref() {
            ast::Statement::Query(query) => Ok(query),
            _ => Err(SqlError::internal("a view of something that is no query")),
        },
        _ => Err(SqlError::internal("a view of something that is no query")),
    }
}

/// Parses the query of a view. `TABLE name` becomes the SELECT that it means.
pub fn view_statement(view: &ViewDescriptor) -> Result<Statement> {
    let parsed = syntax::parse(&view.query)?.into_iter().next();
    let mut statement = parsed.ok_or_else(|| SqlError::internal("a view without a query"))?;
    if let StatementKind::Sql(tree) = &mut statement.kind
        && let ast::Statement::Query(query) = tree.as_mut()
        && let ast::QueryBody::Table(relation, span) = &query.body
    {
        let select = ast::Select::whole_table(relation, *span);
        query.body = ast::QueryBody::Select(Box::new(select));
    }
    Ok(statement)
}

/// Deepest nesting of parentheses in a text.
fn depth_of(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

impl<'a> Binder<'a> {
    /// The relation that a name refers to within the query of a view.
    pub fn named_by_view(&self, schema: Option<&str>, name: &str) -> Option<Result<Arc<TableDescriptor>>> {
        let Names::Of(view) = self.names else { return None };
        let known = view
            .relations
            .iter()
            .find(|relation| relation.schema.as_deref() == schema && relation.name == name)
            .and_then(|relation| self.context.catalog.relation_by_oid(relation.oid));
        Some(known.ok_or_else(|| SqlError::internal(format!("a view names \"{name}\", which it does not know"))))
    }

    /// Records the relation that a name refers to, if a view is being created.
    pub fn note_name(&self, schema: Option<&str>, name: &str, table: &TableDescriptor) {
        let Names::Noting(noted) = &self.names else { return };
        let relations = &mut noted.borrow_mut().relations;
        if relations.iter().any(|known| known.schema.as_deref() == schema && known.name == name) {
            return;
        }
        let columns = match table.kind {
            RelationKind::Table | RelationKind::View => {
                table.live_columns().map(|column| (column.id, column.name.clone())).collect()
            }
            RelationKind::Sequence | RelationKind::SystemView => Vec::new(),
        };
        relations.push(ViewRelation {
            schema: schema.map(str::to_string),
            name: name.to_string(),
            oid: table.oid,
            columns,
            used: Vec::new(),
        });
    }

    /// Records the qualifier under which a relation is read.
    pub fn note_scan(&self, qualifier: &TableReference, table: &Arc<TableDescriptor>) {
        if let Names::Noting(noted) = &self.names {
            noted.borrow_mut().scans.push((qualifier.clone(), table.clone()));
        }
    }

    /// Records that a GROUP BY relies on a PRIMARY KEY, by the OID of its constraint.
    pub fn note_key(&self, constraint: Option<Oid>) {
        if let (Names::Noting(noted), Some(constraint)) = (&self.names, constraint) {
            let keys = &mut noted.borrow_mut().keys;
            if !keys.contains(&constraint) {
                keys.push(constraint);
            }
        }
    }

    /// Whether views are replaced by their queries here.
    pub fn looks_into_views(&self) -> bool {
        !matches!(self.names, Names::Noting(_))
    }

    /// The columns of a relation that the query can see. Within a view, they are the columns at its creation, with
    /// their names of that time.
    pub fn seen_columns(&self, table: Oid, columns: Vec<ScopeColumn>) -> Vec<ScopeColumn> {
        let Names::Of(view) = self.names else { return columns };
        let Some(relation) = view.relations.iter().find(|relation| relation.oid == table) else { return columns };
        if relation.columns.is_empty() {
            return columns;
        }
        let mut seen = Vec::with_capacity(relation.columns.len());
        for (id, name) in &relation.columns {
            if let Some(column) = columns.iter().find(|column| column.attnum == *id) {
                seen.push(ScopeColumn { name: name.clone(), ..column.clone() });
            }
        }
        seen
    }

    /// The rows of a view's query.
    pub fn view_rows<'p>(
        &self,
        view: &Arc<TableDescriptor>,
        alias: Option<&ast::Alias>,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let stored = view.view.as_ref().ok_or_else(|| SqlError::internal("a view without a query"))?;
        let depth = self.depth + 1 + depth_of(&stored.query);
        if depth > DEEPEST {
            return Err(SqlError::new(state::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .hint("Views stand too deep within views."));
        }
        let statement = view_statement(stored)?;
        let parameters = ParameterTypes::new(Vec::new());
        let mut inner = Binder::new(self.context, &statement.source, &parameters);
        inner.names = Names::Of(stored);
        inner.depth = depth;
        inner.owner = super::role_below(view);
        inner.share_names_with(self);
        let name = shown_name(alias, &view.name);
        self.push_into(&name);
        inner.share_pushes_with(self);
        let bound = inner.query(the_query(&statement)?, None).map_err(SqlError::without_position);
        self.share_names_with(&inner);
        self.share_pushes_with(&inner);
        if inner.views_lock.get() {
            self.views_lock.set(true);
        }
        let mut types: Vec<SqlType> = view.live_columns().map(|column| column.ty).collect();
        let bound = bound?;
        // If the view is locked, row keys follow its columns.
        let shown = types.len();
        types.extend(bound.columns.iter().skip(shown).map(|column| column.ty));
        let mut hidden = bound.columns.iter().skip(shown).cloned().collect();
        self.strip_hidden(&mut hidden);
        if bound.columns.len() != types.len() || !hidden.is_empty() {
            return Err(SqlError::internal(format!("the query of view \"{}\" has other columns", view.name)));
        }
        let bound = self.cast_columns(bound, &types)?;
        let keys = self.strip_hidden(&mut bound.columns.clone());
        let columns = bound.columns.into_iter().zip(view.live_columns()).map(|(column, described)| ScopeColumn {
            name: described.name.clone(),
            table_oid: view.oid,
            attnum: described.id,
            reading: None,
            ..column
        });
        let mut columns = self.seen_columns(view.oid, columns.collect());
        rename(&name, &mut columns, alias)?;
        let mut relation = ScopeRelation {
            present: None,
            scalar: false,
            name,
            schema: alias.is_none().then(|| view.schema.clone()),
            columns,
            table: Some(view.clone()),
            row_of: view.oid,
            key: None,
            keys,
            unlockable: None,
            reading: None,
        };
        self.require_read(view, &mut relation)?;
        Ok(Source::of(bound.plan, relation, parent))
    }
}
