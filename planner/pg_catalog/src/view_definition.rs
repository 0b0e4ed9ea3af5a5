//! The query of a view as `pg_get_viewdef` prints it. If PostgreSQL's text is not certain, it is the written text with
//! the present names of relations. A simple query still gets PostgreSQL's layout.

use super::deparse::{self, Context};
use super::describe;
use catalog::{Catalog, TableDescriptor, ViewDescriptor, ViewRelation};
use std::fmt::{Display, Write};
use std::ops::ControlFlow;
use syntax::ast::{self, Alias, Expr, ExprKind, FromItem, Ident, Name, QueryBody, Target};
use syntax::names::quote;
use syntax::visit::{VisitMut, VisitorMut};
use syntax::{Span, StatementKind, fold_name};

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
    let mut query = parsed(&stored.query)?;
    let mut names = Names { catalog, stored, search_path, common: Vec::new(), queries: 0 };
    let _ = query.visit(&mut names);
    if names.queries == 1 {
        qualify(&mut query, stored);
    }
    let text = laid_out(&query, view).unwrap_or_else(|| format!(" {query}"));
    Some(format!("{text};"))
}

fn parsed(text: &str) -> Option<ast::Query> {
    let StatementKind::Sql(tree) = syntax::parse(text).ok()?.into_iter().next()?.kind else { return None };
    let ast::Statement::Query(query) = *tree else { return None };
    Some(*query)
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
            self.common.extend(with.queries.iter().map(|table| table.name.value.clone()));
        }
        ControlFlow::Continue(())
    }
    fn post_visit_from(&mut self, item: &mut FromItem) -> ControlFlow<()> {
        if let FromItem::Table { relation, alias, .. } = item
            && let Ok((schema, written)) = fold_name(&relation.name)
            && !(schema.is_none() && self.common.contains(&written))
        {
            let known = self.stored.relations.iter();
            let mut known = known.filter(|relation| relation.schema == schema && relation.name == written);
            if let Some(known) = known.next()
                && let Some(table) = self.catalog.relation_by_oid(known.oid)
            {
                let visible = describe::relation_is_visible(self.catalog, table.oid, self.search_path) == Some(true);
                let mut shown = Name::new(table.name.clone());
                if !visible {
                    shown.parts.insert(0, Ident::new(table.schema.clone()));
                }
                if has_other_columns(&table, known) {
                    if let Some(derived) = renamed(&table, known, &shown, alias.as_ref(), &written) {
                        *item = derived;
                    }
                    return ControlFlow::Continue(());
                }
                if alias.is_none() && table.name != written {
                    *alias = Some(plain_alias(&written));
                }
                relation.name = shown;
            }
        }
        ControlFlow::Continue(())
    }
}

fn plain_alias(name: &str) -> Alias {
    Alias { name: Some(Ident::new(name)), columns: Vec::new(), definitions: Vec::new(), span: Span::NONE }
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
    shown: &Name,
    alias: Option<&Alias>,
    written: &str,
) -> Option<FromItem> {
    let columns: Vec<String> = relation
        .columns
        .iter()
        .filter_map(|(id, name)| {
            let now = &table.column(*id).filter(|column| !column.dropped)?.name;
            Some(if now == name { quote(now) } else { format!("{} AS {}", quote(now), quote(name)) })
        })
        .collect();
    let alias = Some(alias.cloned().unwrap_or_else(|| plain_alias(written)));
    let query = Box::new(parsed(&format!("SELECT {} FROM {shown}", columns.join(", ")))?);
    Some(FromItem::Query { lateral: false, query, alias, span: Span::NONE })
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
            if let ExprKind::Column(names) = &mut expr.kind
                && let [name] = names.as_slice()
                && self.relation.columns.iter().any(|(_, column)| *column == name.value)
                && !self.outputs.contains(&name.value)
            {
                names.insert(0, self.alias.clone());
            }
            ControlFlow::Continue(())
        }
    }
    let QueryBody::Select(select) = &mut query.body else { return };
    let [FromItem::Table { relation: written, alias, .. }] = select.from.as_slice() else { return };
    let [relation] = stored.relations.as_slice() else { return };
    let alias = match alias {
        Some(Alias { name: Some(name), columns, .. }) if columns.is_empty() => name.clone(),
        Some(_) => return,
        None => match fold_name(&written.name) {
            Ok((_, name)) => Ident::new(name),
            Err(_) => return,
        },
    };
    if relation.columns.is_empty() {
        return;
    }
    let column = |name: &String| {
        let kind = ExprKind::Column(vec![alias.clone(), Ident::new(name.clone())]);
        Target { value: Expr { kind, span: Span::NONE }, label: None }
    };
    let mut targets = Vec::new();
    for target in std::mem::take(&mut select.targets) {
        match &target.value.kind {
            ExprKind::Star(names) if names.is_empty() => {
                targets.extend(relation.columns.iter().map(|(_, name)| column(name)));
            }
            _ => targets.push(target),
        }
    }
    let outputs = targets.iter().filter_map(|target| target.label.as_ref()).map(|label| label.value.clone()).collect();
    let mut columns = Columns { outputs, alias: alias.clone(), relation };
    select.targets = targets;
    let _ = query.visit(&mut columns);
}

/// Prints a plain SELECT in PostgreSQL's layout, with the names of the view's columns.
fn laid_out(query: &ast::Query, view: &TableDescriptor) -> Option<String> {
    let QueryBody::Select(select) = &query.body else { return None };
    let ast::Select { distinct, targets, into, from, filter, group_by, having, windows, span: _ } = select.as_ref();
    // All other clauses must be absent.
    let ties = query.limit.as_ref().is_some_and(|limit| limit.with_ties);
    let others = into.is_some() || !windows.is_empty() || !query.locks.is_empty() || query.as_of.is_some();
    if query.with.is_some() || ties || others {
        return None;
    }
    let items: Vec<String> = match targets.iter().any(|target| matches!(target.value.kind, ExprKind::Star(_))) {
        true => targets.iter().map(ToString::to_string).collect(),
        false => {
            targets.iter().zip(view.live_columns()).map(|(target, column)| shown_target(target, &column.name)).collect()
        }
    };
    let mut text = " SELECT ".to_string();
    if let Some(distinct) = distinct {
        text.push_str("DISTINCT ");
        if !distinct.on.is_empty() {
            let _ = write!(text, "ON ({}) ", list(&distinct.on, ", "));
        }
    }
    text.push_str(&items.join(",\n    "));
    if !from.is_empty() {
        let _ = write!(text, "\n   FROM {}", list(from, ",\n    "));
    }
    if let Some(filter) = filter {
        let _ = write!(text, "\n  WHERE {filter}");
    }
    if let Some(group_by) = group_by {
        let distinct = if group_by.distinct { "DISTINCT " } else { "" };
        let _ = write!(text, "\n  GROUP BY {distinct}{}", list(&group_by.items, ", "));
    }
    if let Some(having) = having {
        let _ = write!(text, "\n HAVING {having}");
    }
    if !query.order_by.is_empty() {
        let _ = write!(text, "\n  ORDER BY {}", list(&query.order_by, ", "));
    }
    if let Some(limit) = &query.limit {
        let _ = write!(text, "\n LIMIT {}", limit.count);
    }
    if let Some(offset) = &query.offset {
        let _ = write!(text, "{}OFFSET {offset}", if query.limit.is_some() { " " } else { "\n " });
    }
    Some(text)
}

fn list(items: &[impl Display], between: &str) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// An item of the select list, with an alias if its own name differs.
fn shown_target(target: &Target, name: &str) -> String {
    let value = &target.value;
    match &value.kind {
        ExprKind::Column(names) if names.last().is_some_and(|own| own.value == name) => value.to_string(),
        _ => format!("{value} AS {}", quote(name)),
    }
}
