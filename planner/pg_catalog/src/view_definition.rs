//! The query of a view as `pg_get_viewdef` prints it. If PostgreSQL's text is not certain, it is the written text with
//! the present names of relations. A simple query still gets PostgreSQL's layout.

use super::deparse::{self, Context};
use super::describe;
use catalog::{Catalog, TableDescriptor, ViewDescriptor, ViewRelation};
use sqlparser::ast::{self, Expr, Ident, SelectItem, SetExpr, TableFactor, VisitMut, VisitorMut};
use std::fmt::Write;
use std::ops::ControlFlow;
use syntax::names::quote;
use syntax::{StatementKind, fold, fold_name};

/// The definition of a view, ending in a semicolon. `None` for other relations.
pub fn view_definition(context: &Context<'_>, view: &TableDescriptor, layout: Layout) -> Option<String> {
    deparse::view(context, view, layout.pretty, layout.wrap).or_else(|| as_written(context, view))
}

/// The layout of a definition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// Whether redundant parentheses are omitted.
    pub pretty: bool,
    /// The longest line in characters. 0 puts each item on its own line, and `None` sets no limit.
    pub wrap: Option<usize>,
}

impl Layout {
    /// The layout in the lists of views.
    pub const PLAIN: Layout = Layout { pretty: false, wrap: Some(0) };
}

fn as_written(context: &Context<'_>, view: &TableDescriptor) -> Option<String> {
    let Context { catalog, search_path, .. } = *context;
    let stored = view.view.as_ref()?;
    let parsed = syntax::parse(&stored.query).ok()?.into_iter().next()?;
    if !parsed.extras.locks.is_empty() {
        // The tree does not contain the locking clauses.
        return Some(format!(" {};", stored.query));
    }
    let StatementKind::Sql(tree) = parsed.kind else { return None };
    let ast::Statement::Query(mut query) = *tree else { return None };
    let mut names = Names { catalog, stored, search_path, common: Vec::new(), queries: 0 };
    let _ = query.visit(&mut names);
    if names.queries == 1 {
        qualify(&mut query, stored);
    }
    let text = laid_out(&query, view).unwrap_or_else(|| format!(" {query}"));
    Some(format!("{text};"))
}

/// Replaces the names in the query by the present ones.
struct Names<'a> {
    catalog: &'a Catalog,
    stored: &'a ViewDescriptor,
    search_path: &'a [String],
    /// The names of WITH queries.
    common: Vec<String>,
    queries: usize,
}

impl VisitorMut for Names<'_> {
    type Break = ();
    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
        self.queries += 1;
        if let Some(with) = &query.with {
            self.common.extend(with.cte_tables.iter().map(|table| fold(&table.alias.name)));
        }
        ControlFlow::Continue(())
    }
    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: None, alias, .. } = factor
            && let Ok((schema, written)) = fold_name(name)
            && !(schema.is_none() && self.common.contains(&written))
        {
            let known = self.stored.relations.iter();
            let mut known = known.filter(|relation| relation.schema == schema && relation.name == written);
            if let Some(relation) = known.next()
                && let Some(table) = self.catalog.relation_by_oid(relation.oid)
            {
                let visible = describe::relation_is_visible(self.catalog, table.oid, self.search_path) == Some(true);
                let mut parts = vec![ident(&table.name)];
                if !visible {
                    parts.insert(0, ident(&table.schema));
                }
                let shown = ast::ObjectName::from(parts);
                if has_other_columns(&table, relation) {
                    if let Some(derived) = renamed(&table, relation, &shown, alias.as_ref(), &written) {
                        *factor = derived;
                    }
                    return ControlFlow::Continue(());
                }
                if alias.is_none() && table.name != written {
                    *alias = Some(plain_alias(&written));
                }
                *name = shown;
            }
        }
        ControlFlow::Continue(())
    }
}

fn ident(name: &str) -> Ident {
    let quoted = quote(name);
    if quoted == name { Ident::new(name) } else { Ident::with_quote('"', name) }
}

fn plain_alias(name: &str) -> ast::TableAlias {
    ast::TableAlias { explicit: false, name: ident(name), columns: Vec::new(), at: None }
}

/// Whether a relation's columns or their names differ from those at the view's creation.
fn has_other_columns(table: &TableDescriptor, relation: &ViewRelation) -> bool {
    !relation.columns.is_empty()
        && !table
            .live_columns()
            .map(|column| (column.id, &column.name))
            .eq(relation.columns.iter().map(|(id, name)| (*id, name)))
}

/// A subquery that gives a relation its former columns.
fn renamed(
    table: &TableDescriptor,
    relation: &ViewRelation,
    shown: &ast::ObjectName,
    alias: Option<&ast::TableAlias>,
    written: &str,
) -> Option<TableFactor> {
    let columns: Vec<String> = relation
        .columns
        .iter()
        .filter_map(|(id, name)| {
            let now = &table.column(*id).filter(|column| !column.dropped)?.name;
            Some(if now == name { quote(now) } else { format!("{} AS {}", quote(now), quote(name)) })
        })
        .collect();
    let alias = alias.cloned().unwrap_or_else(|| plain_alias(written));
    let text = format!("SELECT * FROM (SELECT {} FROM {shown}) {alias}", columns.join(", "));
    let StatementKind::Sql(tree) = syntax::parse(&text).ok()?.into_iter().next()?.kind else { return None };
    let ast::Statement::Query(query) = *tree else { return None };
    let SetExpr::Select(select) = *query.body else { return None };
    Some(select.from.into_iter().next()?.relation)
}

/// Qualifies each column with the query's only relation, and expands `*`.
fn qualify(query: &mut ast::Query, stored: &ViewDescriptor) {
    struct Columns<'a> {
        alias: Ident,
        relation: &'a ViewRelation,
        outputs: Vec<String>,
    }
    impl VisitorMut for Columns<'_> {
        type Break = ();
        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let Expr::Identifier(name) = expr {
                let folded = fold(name);
                let known = self.relation.columns.iter().any(|(_, column)| *column == folded);
                if known && !self.outputs.contains(&folded) {
                    *expr = Expr::CompoundIdentifier(vec![self.alias.clone(), ident(&folded)]);
                }
            }
            ControlFlow::Continue(())
        }
    }
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    let [ast::TableWithJoins { relation: TableFactor::Table { name, alias, args: None, .. }, joins }] =
        select.from.as_slice()
    else {
        return;
    };
    let ([relation], true) = (stored.relations.as_slice(), joins.is_empty()) else { return };
    let alias = match alias {
        Some(alias) if alias.columns.is_empty() => alias.name.clone(),
        Some(_) => return,
        None => match fold_name(name) {
            Ok((_, name)) => ident(&name),
            Err(_) => return,
        },
    };
    if relation.columns.is_empty() {
        return;
    }
    let column = |name: &String| Expr::CompoundIdentifier(vec![alias.clone(), ident(name)]);
    let mut items = Vec::new();
    for item in std::mem::take(&mut select.projection) {
        match item {
            SelectItem::Wildcard(_) => {
                items.extend(relation.columns.iter().map(|(_, name)| SelectItem::UnnamedExpr(column(name))));
            }
            other => items.push(other),
        }
    }
    let outputs = items.iter().filter_map(|item| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(fold(alias)),
        _ => None,
    });
    let mut columns = Columns { outputs: outputs.collect(), alias: alias.clone(), relation };
    select.projection = items;
    let _ = query.visit(&mut columns);
}

/// Prints a plain SELECT in PostgreSQL's layout, with the names of the view's columns.
fn laid_out(query: &ast::Query, view: &TableDescriptor) -> Option<String> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let ast::Select { distinct, projection, from, selection, group_by, having, .. } = select.as_ref();
    let bare = ast::Select {
        distinct: None,
        projection: Vec::new(),
        from: Vec::new(),
        selection: None,
        group_by: ast::GroupByExpr::Expressions(Vec::new(), Vec::new()),
        having: None,
        ..select.as_ref().clone()
    };
    // All other clauses must be absent.
    if query.with.is_some() || query.fetch.is_some() || bare.to_string().trim() != "SELECT" {
        return None;
    }
    let items: Vec<String> = match projection
        .iter()
        .any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)))
    {
        true => projection.iter().map(ToString::to_string).collect(),
        false => {
            projection.iter().zip(view.live_columns()).map(|(item, column)| shown_item(item, &column.name)).collect()
        }
    };
    let mut text = " SELECT ".to_string();
    if let Some(distinct) = distinct {
        let _ = write!(text, "{distinct} ");
    }
    text.push_str(&items.join(",\n    "));
    if !from.is_empty() {
        let from: Vec<String> = from.iter().map(ToString::to_string).collect();
        let _ = write!(text, "\n   FROM {}", from.join(",\n    "));
    }
    if let Some(selection) = selection {
        let _ = write!(text, "\n  WHERE {selection}");
    }
    if !matches!(group_by, ast::GroupByExpr::Expressions(exprs, more) if exprs.is_empty() && more.is_empty()) {
        let _ = write!(text, "\n  {group_by}");
    }
    if let Some(having) = having {
        let _ = write!(text, "\n HAVING {having}");
    }
    if let Some(order_by) = &query.order_by {
        let _ = write!(text, "\n  {}", order_by.to_string().trim());
    }
    if let Some(limit) = &query.limit_clause {
        let _ = write!(text, "\n {}", limit.to_string().trim());
    }
    Some(text)
}

/// An item of the select list, with an alias if its own name differs.
fn shown_item(item: &SelectItem, name: &str) -> String {
    let expr = match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr,
        other => return other.to_string(),
    };
    let own = match expr {
        Expr::Identifier(own) => Some(own),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    match own {
        Some(own) if fold(own) == name => expr.to_string(),
        _ => format!("{expr} AS {}", quote(name)),
    }
}
