//! Prints expressions and queries as PostgreSQL's catalog functions do. The catalog stores the written text. This
//! module parses it again and resolves names and types by PostgreSQL's rules, over PostgreSQL's own lists of functions,
//! operators and casts. It prints the result with PostgreSQL's casts, parentheses and lines.
//!
//! The output is never executed. Anything uncertain is `None`, and the caller then shows the written text. Must not
//! know how statements are bound.

mod call;
mod coerce;
mod comparison;
mod expression;
mod from;
mod node;
mod print_query;
mod printer;
mod query;
pub use ::builtin::resolve;
mod scope;
mod subquery;
pub use ::builtin::conversions as types;

use ::types::SqlType;
use ::types::text::{InputContext, OutputContext};
use catalog::{Catalog, TableDescriptor, ViewDescriptor};
use executor::StatementContext;
use node::{Node, Query, Relation, RelationKind, Syntax};
use print_query::Names;
use printer::Printer;
use scope::{Item, Scope};
use std::cell::{Cell, RefCell};
use syntax::parse_expression;
use types::{Ty, Types, oid};

/// The reader of a printed text: names and settings.
pub struct Context<'a> {
    /// The catalog that resolves names.
    pub catalog: &'a Catalog,
    /// The schemas whose names are omitted.
    pub search_path: &'a [String],
    /// The settings for reading constants.
    pub input: InputContext<'a>,
    /// The settings for printing constants.
    pub output: OutputContext<'a>,
}

impl<'a> Context<'a> {
    /// The context of a statement.
    pub fn of_statement(context: &'a StatementContext) -> Context<'a> {
        Context {
            catalog: &context.catalog,
            search_path: context.settings.search_path(),
            input: context.text_input(),
            output: context.text_output(),
        }
    }
    /// The context of a catalog with default settings.
    #[cfg(test)]
    pub fn plain(catalog: &'a Catalog) -> Context<'a> {
        Context { catalog, search_path: &[], input: InputContext::PLAIN, output: OutputContext::PLAIN }
    }
}

/// The analysis of one expression or query.
struct Analysis<'a> {
    context: &'a Context<'a>,
    /// The relations of all queries.
    relations: RefCell<Vec<Relation>>,
    /// The visible WITH queries with their columns, the innermost last.
    common: RefCell<Vec<(String, Vec<(String, Ty)>)>>,
    /// The view that resolves names of relations.
    view: Option<&'a ViewDescriptor>,
    depth: Cell<usize>,
}

impl<'a> Analysis<'a> {
    fn new(context: &'a Context<'a>, view: Option<&'a ViewDescriptor>) -> Analysis<'a> {
        let (relations, common) = Default::default();
        Analysis { context, relations, common, view, depth: Cell::new(0) }
    }

    fn types(&self) -> Types<'a> {
        Types { catalog: self.context.catalog }
    }

    /// Adds a relation and returns its index.
    fn add(&self, relation: Relation) -> usize {
        let mut relations = self.relations.borrow_mut();
        relations.push(relation);
        relations.len() - 1
    }
}

fn ty_of(ty: SqlType) -> Ty {
    Ty { oid: ty.oid(), modifier: if ty.is_vector() { -1 } else { ty.modifier } }
}

/// The columns of a table as unqualified names.
fn plain_columns(table: &TableDescriptor) -> Vec<(String, Node)> {
    let column = |name: &String, ty| (name.clone(), Node::Column { relation: None, name: name.clone(), ty: ty_of(ty) });
    table.live_columns().map(|found| column(&found.name, found.ty)).collect()
}

/// Analyzes a stored expression of a table. `to` is the column's type for a default.
fn analysed(context: &Context<'_>, stored: &str, table: Option<&TableDescriptor>, to: Option<Ty>) -> Option<Node> {
    let (expr, _) = parse_expression(stored).ok()?;
    let analysis = Analysis::new(context, None);
    let mut scope = Scope::default();
    if let Some(table) = table {
        let relation = analysis.add(Relation {
            kind: RelationKind::Join,
            name: Some(table.name.clone()),
            printed: None,
            aliased: false,
            aliases: Vec::new(),
            lateral: false,
            columns: plain_columns(table),
        });
        scope.items.push(Item { relation, qualified: true, bare: true });
    }
    let node = analysis.expr(&expr, &scope)?;
    match (to, node) {
        (Some(to), node) if node.ty().oid == oid::UNKNOWN => analysis.coerce(node, to.oid),
        // A constant takes the column's modifier.
        (Some(to), Node::Const(ty, value)) if ty.oid == to.oid && to.modifier < 0 => Some(Node::Const(to, value)),
        // The cast to the column's type is not shown, except for its parentheses.
        (Some(to), node) => {
            let hidden = |node: Node, ty: Ty, call: bool| Node::Cast { arg: Box::new(node), ty, implicit: true, call };
            let (from, length) = (node.ty(), to.modifier >= 0 && node.ty().modifier != to.modifier);
            let node = match from.oid == to.oid {
                true => node,
                false => {
                    let call = analysis.types().cast_is_call(from.oid, to.oid);
                    hidden(node, Ty::of(to.oid), call)
                }
            };
            Some(if length { hidden(node, to, true) } else { node })
        }
        (None, node) => analysis.settle(node),
    }
}

fn printed(context: &Context<'_>, node: &Node, pretty: bool) -> String {
    let mut printer = Printer::new(context, pretty, &[]);
    printer.node(node, false);
    printer.text
}

/// Prints a condition, default or similar expression of a table. `to` is the type of the column that takes its value.
pub fn expression(
    context: &Context<'_>,
    table: Option<&TableDescriptor>,
    stored: &str,
    to: Option<SqlType>,
    pretty: bool,
) -> Option<String> {
    let node = analysed(context, stored, table, to.map(ty_of))?;
    Some(printed(context, &node, pretty))
}

/// Prints an index expression, and tells whether it needs no parentheses.
pub fn index_key(context: &Context<'_>, table: &TableDescriptor, stored: &str, pretty: bool) -> Option<(String, bool)> {
    let node = analysed(context, stored, Some(table), None)?;
    // Since 15.20 a call in operator syntax has its own parentheses.
    let call = match &node {
        Node::Call(call) => !call.syntax.is_some_and(Syntax::looks_like_an_operator),
        node => matches!(node, Node::Listed { .. } | Node::Keyword { .. }),
    };
    Some((printed(context, &node, pretty), call))
}

/// Prints the query of a view: one item a line, or lines of `wrap` characters.
pub fn view(context: &Context<'_>, view: &TableDescriptor, pretty: bool, wrap: Option<usize>) -> Option<String> {
    let stored = view.view.as_ref()?;
    let statement = binder::view_statement(stored).ok()?;
    let tree = binder::the_query(&statement).ok()?;
    let analysis = Analysis::new(context, Some(stored));
    let query: Query = analysis.query(tree, None)?;
    let relations = analysis.relations.into_inner();
    let mut printer = Printer::new(context, pretty, &relations);
    printer.wrap = wrap;
    let names: Vec<String> = view.live_columns().map(|column| column.name.clone()).collect();
    printer.query(&query, Names { of_view: Some(&names), called: true });
    Some(format!("{};", printer.text))
}
