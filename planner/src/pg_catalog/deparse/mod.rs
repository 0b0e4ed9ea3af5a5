//! Expressions and queries as PostgreSQL's catalog functions print them. What is stored is what was written; here it is read
//! again, its names and types are found by PostgreSQL's rules over PostgreSQL's own lists of functions, operators and casts, and
//! it is printed with the casts, brackets and lines that PostgreSQL puts. Nothing that is executed comes from here, so whatever is
//! not known exactly is `None`, and shown as it was written.

mod call;
mod coerce;
mod comparison;
mod expression;
mod from;
mod node;
mod print_query;
mod printer;
mod query;
pub(super) mod resolve;
mod scope;
mod subquery;
pub(super) mod types;

use crate::catalog::{Catalog, TableDescriptor, ViewDescriptor};
use crate::execution::StatementContext;
use crate::parse::{Extras, parse_expression};
use crate::types::SqlType;
use crate::types::text::{InputContext, OutputContext};
use node::{Node, Query, Relation, RelationKind, Syntax};
use print_query::Names;
use printer::Printer;
use scope::{Item, Scope};
use std::cell::{Cell, RefCell};
use types::{Ty, Types, oid};

/// Who reads what is printed.
pub struct Context<'a> {
    /// What names mean.
    pub catalog: &'a Catalog,
    /// Schemas that are left out.
    pub search_path: &'a [String],
    /// How constants are read.
    pub input: InputContext<'a>,
    /// How they are written.
    pub output: OutputContext<'a>,
}

impl<'a> Context<'a> {
    /// Of a statement under way.
    pub fn of_statement(context: &'a StatementContext) -> Context<'a> {
        Context {
            catalog: &context.catalog,
            search_path: context.settings.search_path(),
            input: context.text_input(),
            output: context.text_output(),
        }
    }
    /// Of a catalog, with the settings that nobody changed.
    #[cfg(test)]
    pub fn plain(catalog: &'a Catalog) -> Context<'a> {
        Context { catalog, search_path: &[], input: InputContext::PLAIN, output: OutputContext::PLAIN }
    }
}

/// The reading of one expression or query.
struct Analysis<'a> {
    context: &'a Context<'a>,
    /// The relations of all queries.
    relations: RefCell<Vec<Relation>>,
    /// Queries of WITH in sight, the nearest last, with their columns.
    common: RefCell<Vec<(String, Vec<(String, Ty)>)>>,
    /// What the names of relations mean.
    view: Option<&'a ViewDescriptor>,
    /// What its tree has no place for.
    extras: Option<&'a Extras>,
    depth: Cell<usize>,
}

impl<'a> Analysis<'a> {
    fn new(context: &'a Context<'a>, view: Option<&'a ViewDescriptor>) -> Analysis<'a> {
        let (relations, common) = Default::default();
        Analysis { context, relations, common, view, extras: None, depth: Cell::new(0) }
    }

    fn types(&self) -> Types<'a> {
        Types { catalog: self.context.catalog }
    }

    /// Adds a relation; its place.
    fn add(&self, relation: Relation) -> usize {
        let mut relations = self.relations.borrow_mut();
        relations.push(relation);
        relations.len() - 1
    }
}

fn ty_of(ty: SqlType) -> Ty {
    Ty { oid: ty.oid(), modifier: if ty.is_vector() { -1 } else { ty.modifier } }
}

/// The columns of a table by their names alone.
fn plain_columns(table: &TableDescriptor) -> Vec<(String, Node)> {
    let column = |name: &String, ty| (name.clone(), Node::Column { relation: None, name: name.clone(), ty: ty_of(ty) });
    table.live_columns().map(|found| column(&found.name, found.ty)).collect()
}

/// An expression of a table in its stored form; of a default also the type of its column.
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
        // A constant takes the column's length.
        (Some(to), Node::Const(ty, value)) if ty.oid == to.oid && to.modifier < 0 => Some(Node::Const(to, value)),
        // What becomes the column's type stands within a cast that is not shown, but for its brackets.
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

/// A condition, a default or the like of a table; `to` is the type of a column that gets its value.
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

/// An expression of an index, and whether it stands without brackets there.
pub fn index_key(context: &Context<'_>, table: &TableDescriptor, stored: &str, pretty: bool) -> Option<(String, bool)> {
    let node = analysed(context, stored, Some(table), None)?;
    // Since 15.20 a call that looks like an operator has brackets of its own.
    let call = match &node {
        Node::Call(call) => !call.syntax.is_some_and(Syntax::looks_like_an_operator),
        node => matches!(node, Node::Listed { .. } | Node::Keyword { .. }),
    };
    Some((printed(context, &node, pretty), call))
}

/// The query of a view, a line an item, or lines of `wrap`.
pub fn view(context: &Context<'_>, view: &TableDescriptor, pretty: bool, wrap: Option<usize>) -> Option<String> {
    let stored = view.view.as_ref()?;
    let statement = crate::bind::view_statement(stored).ok()?;
    let tree = crate::bind::the_query(&statement).ok()?;
    let analysis = Analysis { extras: Some(&statement.extras), ..Analysis::new(context, Some(stored)) };
    let query: Query = analysis.query(tree, None)?;
    let relations = analysis.relations.into_inner();
    let mut printer = Printer::new(context, pretty, &relations);
    printer.wrap = wrap;
    let names: Vec<String> = view.live_columns().map(|column| column.name.clone()).collect();
    printer.query(&query, Names { of_view: Some(&names), called: true });
    Some(format!("{};", printer.text))
}
