//! [`Binder`]: the shared state of one binding: context, resolver, unique names, relations seen.

use super::error_position::place_of;
use super::with::CommonTables;
use super::writing_with::Parts;
use super::{BindContext, Bound, BoundKind};
use catalog::TableDescriptor;
use datafusion::arrow::datatypes::Field;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, TableReference};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use functions::{CastContext, ParameterTypes, Resolver, TypedExpr};
use sql_error::{Result, SqlError, state};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use syntax::source::Source;
use syntax::{Span, Statement, StatementKind, ast, fold_name};
use types::SqlType;

/// Binds a SELECT, VALUES, INSERT, UPDATE or DELETE.
pub fn bind(statement: &Statement, context: &BindContext<'_>) -> Result<Bound> {
    let StatementKind::Sql(tree) = &statement.kind else {
        return Err(SqlError::internal("only queries and writes are bound"));
    };
    let parameters = ParameterTypes::new(context.parameters.to_vec());
    let binder = Binder::new(*context, &statement.source, &parameters);
    let kind = match tree.as_ref() {
        ast::Statement::Query(query) => binder.with_parts(binder.query_statement(query)?),
        write => binder.write(write, true)?,
    };
    binder.finish(kind)
}

/// Binds the arguments of EXECUTE: constants of the parameters' types, for a plan of one row to evaluate.
pub fn bind_parameter_values(
    statement: &Statement,
    values: &[ast::Expr],
    types: &[SqlType],
    context: &BindContext<'_>,
) -> Result<Bound> {
    if values.len() != types.len() {
        return Err(SqlError::syntax("wrong number of parameters for the prepared statement").detail(format!(
            "Expected {} parameters but got {}.",
            types.len(),
            values.len()
        )));
    }
    let parameters = ParameterTypes::new(context.parameters.to_vec());
    let binder = Binder::new(*context, &statement.source, &parameters);
    let mut exprs = Vec::new();
    for (at, (value, ty)) in values.iter().zip(types).enumerate() {
        if let Some(place) = super::canonical::first_subquery(value) {
            let message = "cannot use subquery in EXECUTE parameter";
            return Err(binder.at(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), place));
        }
        let typed = binder.constant(value, "EXECUTE parameters")?;
        let from = typed.ty;
        let cast = binder.resolver.cast(typed, *ty, CastContext::Assignment).map_err(|error| {
            if error.state() != state::CANNOT_COERCE && error.state() != state::DATATYPE_MISMATCH {
                return error;
            }
            let message = format!(
                "parameter ${} of type {} cannot be coerced to the expected type {}",
                at + 1,
                from.name(),
                ty.name()
            );
            let error = SqlError::new(state::DATATYPE_MISMATCH, message);
            binder.at(error.hint("You will need to rewrite or cast the expression."), place_of(value))
        })?;
        exprs.push(cast.expr.alias(binder.unique("p")));
    }
    let plan = LogicalPlanBuilder::empty(true).project(exprs)?.build()?;
    binder.finish(BoundKind::Query { plan, columns: Vec::new(), locks: false })
}

/// The state of one binding.
pub struct Binder<'a> {
    /// The context of the binding.
    pub context: BindContext<'a>,
    /// The statement's text, which maps spans to positions.
    pub source: &'a Source,
    /// PostgreSQL's rules for functions, operators and casts.
    pub resolver: Resolver<'a>,
    parameters: &'a ParameterTypes,
    /// The visible WITH queries.
    pub with: RefCell<CommonTables>,
    next: Cell<usize>,
    qualifiers: RefCell<HashMap<String, usize>>,
    relations: RefCell<Vec<Arc<TableDescriptor>>>,
    untyped: Cell<bool>,
    /// Set-returning functions of the current select list.
    pub row_functions: RefCell<Vec<super::row_function::RowFunction>>,
    /// Data-modifying WITH queries, in order.
    pub parts: RefCell<Parts>,
    /// Row locks of the query, until they are added to its plan.
    pub locks: RefCell<Vec<super::lock::PendingLock>>,
    /// Whether a view that is read locks rows itself.
    pub views_lock: Cell<bool>,
    /// Row locks that apply to tables in subqueries and views.
    pub pushes: RefCell<super::pushed_lock::Pushes>,
    /// How relation names are looked up.
    pub names: super::view::Names<'a>,
    /// Nesting depth of views, including parentheses in their queries.
    pub depth: usize,
    /// The clauses that contain the current queries, outermost first.
    pub clauses: RefCell<Vec<super::expression::Clause>>,
    /// Relations of the current queries that the current expression cannot see.
    pub unseen: super::name_suggestions::AllUnseen,
    /// Relations of the current SELECTs that an alias of a join hides.
    pub hidden: super::name_suggestions::AllUnseen,
    /// Subqueries of the current SELECT by their text, if it groups. Subqueries with the same text are bound once.
    pub subqueries: RefCell<Option<HashMap<String, TypedExpr>>>,
    /// Whether the expression is stored in the catalog.
    pub kept: bool,
    /// Owner of the view whose query is bound.
    pub owner: Option<types::Oid>,
    /// Relations of which the role may read only some columns.
    pub read: RefCell<Vec<super::privilege::Partly>>,
    /// Reads of the view through which the scanned relation is written.
    pub beneath: Option<Arc<super::scope::Reading>>,
    /// Whether the scanned relation is the written one.
    pub writing: Cell<bool>,
}

impl<'a> Binder<'a> {
    /// Starts a binding of one statement.
    pub fn new(context: BindContext<'a>, source: &'a Source, parameters: &'a ParameterTypes) -> Self {
        Binder {
            context,
            source,
            resolver: Resolver::new(parameters, context.slots, context.settings, context.catalog, context.now),
            parameters,
            with: RefCell::default(),
            next: Cell::new(0),
            qualifiers: RefCell::default(),
            relations: RefCell::default(),
            untyped: Cell::new(false),
            row_functions: RefCell::default(),
            parts: RefCell::default(),
            locks: RefCell::default(),
            views_lock: Cell::default(),
            pushes: RefCell::default(),
            names: super::view::Names::Catalog,
            depth: 0,
            clauses: RefCell::default(),
            unseen: RefCell::default(),
            hidden: RefCell::default(),
            subqueries: RefCell::default(),
            kept: false,
            owner: None,
            read: RefCell::default(),
            beneath: None,
            writing: Cell::new(false),
        }
    }

    /// A name that is unique in this binding and that no table's column has.
    pub fn unique(&self, letter: &str) -> String {
        format!("{}{letter}{}", super::INTERNAL, self.next_number())
    }

    /// A number that is unique in this binding.
    pub fn next_number(&self) -> usize {
        let number = self.next.get();
        self.next.set(number + 1);
        number
    }

    /// Continues the unique names of another binding, so that one plan can become part of the other.
    pub fn share_names_with(&self, other: &Binder<'_>) {
        self.next.set(other.next.get());
        self.qualifiers.replace(other.qualifiers.borrow().clone());
        for table in other.relations.borrow().iter() {
            self.note(table);
        }
        for partly in other.read.borrow().iter() {
            let mut read = self.read.borrow_mut();
            if !read.iter().any(|known| known.is(partly)) {
                read.push(partly.clone());
            }
        }
    }

    /// A qualifier that is unique in this binding: the name, with a number from the second use on.
    pub fn qualifier(&self, name: &str) -> TableReference {
        let mut qualifiers = self.qualifiers.borrow_mut();
        let uses = qualifiers.entry(name.to_string()).or_insert(0);
        *uses += 1;
        let unique = if *uses == 1 { name.to_string() } else { format!("{name}_{}", *uses - 1) };
        if *uses > 1 {
            qualifiers.entry(unique.clone()).or_insert(1);
        }
        TableReference::bare(unique)
    }

    /// Records that a relation is read or written.
    pub fn note(&self, table: &Arc<TableDescriptor>) {
        let mut relations = self.relations.borrow_mut();
        if !relations.iter().any(|known| known.oid == table.oid) {
            relations.push(table.clone());
        }
    }

    /// Records that a parameter is used without its type being determined.
    pub fn note_untyped(&self, typed: &TypedExpr) {
        if typed.ty == SqlType::UNKNOWN && matches!(typed.expr, Expr::Placeholder(_)) {
            self.untyped.set(true);
        }
    }

    /// Looks a relation up in the catalog. Errors: 42P01 if there is none.
    pub fn table(&self, name: &ast::Name) -> Result<Arc<TableDescriptor>> {
        let (schema, relation) = fold_name(name)?;
        if let [database, schema, relation] = name.parts.as_slice() {
            let shown = format!("\"{}.{}.{}\"", database.value, schema.value, relation.value);
            self.own_database(&database.value, &shown).map_err(|error| self.at(error, name.span))?;
        }
        if let Some(found) = self.named_by_view(schema.as_deref(), &relation) {
            return found.inspect(|table| self.note(table));
        }
        let found = self.context.catalog.relation(schema.as_deref(), &relation, self.context.settings.search_path());
        let Some(table) = found else {
            let path = self.context.settings.search_path();
            let error = self.context.catalog.no_relation(schema.as_deref(), &relation, path);
            if let Some(schema) = schema.as_ref().filter(|schema| self.context.catalog.schema(schema).is_some()) {
                self.require_usage(schema).map_err(|error| self.at(error, name.span))?;
            }
            let missing = schema.is_none() && error.state() == state::UNDEFINED_TABLE;
            let error = if missing { self.explain_missing(error, &relation) } else { error };
            return Err(self.at(error, name.span));
        };
        if catalog::is_temporary(&table.schema) && self.context.settings.temporary() != Some(table.schema.as_str()) {
            let message = "cannot access temporary tables of other sessions";
            return Err(self.at(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), name.span));
        }
        if schema.is_some() || table.kind != catalog::RelationKind::SystemView {
            let usage = self.require_usage(&table.schema);
            usage.map_err(|error| match &schema {
                Some(_) => self.at(error, name.span),
                // A schema without the USAGE privilege is not on the path.
                None => {
                    let message = format!("relation \"{relation}\" does not exist");
                    self.at(SqlError::new(state::UNDEFINED_TABLE, message), name.span)
                }
            })?;
        }
        self.require_all_sequences(&table)?;
        self.note(&table);
        self.note_name(schema.as_deref(), &relation, &table);
        Ok(table)
    }

    /// Rejects the name of another database. `shown` is the whole name as written. Errors: 0A000.
    pub fn own_database(&self, database: &str, shown: &str) -> Result<()> {
        syntax::own_database(database, &self.context.catalog.database().name, shown)
    }

    /// Adds a position to an error that has none.
    pub fn at(&self, error: SqlError, span: Span) -> SqlError {
        self.source.error(error, span)
    }

    /// Casts an expression implicitly.
    pub fn coerce(&self, typed: TypedExpr, to: SqlType) -> Result<TypedExpr> {
        if typed.ty == to {
            return Ok(typed);
        }
        self.resolver.cast(typed, to, CastContext::Implicit)
    }

    /// Converts an expression of unknown type to text, as PostgreSQL does in a select list.
    pub fn settle(&self, typed: TypedExpr) -> Result<TypedExpr> {
        self.resolver.resolve_unknown(typed)
    }

    /// Checks that a condition is boolean. Errors: 42804.
    pub fn condition(&self, typed: TypedExpr, clause: &str, expr: &ast::Expr) -> Result<Expr> {
        self.resolver.boolean(typed, clause).map_err(|error| self.at(error, place_of(expr)))
    }

    /// Ends the binding. Errors: 42P18 if the type of a parameter is still unknown.
    pub fn finish(self, kind: BoundKind) -> Result<Bound> {
        let parameters = self.parameters.finish(false)?;
        let kind = if self.untyped.get() {
            match kind {
                BoundKind::Query { plan, columns, locks } => {
                    BoundKind::Query { plan: type_placeholders(plan, &parameters)?, columns, locks }
                }
                BoundKind::Dml { plan, columns, verb, table } => {
                    BoundKind::Dml { plan: type_placeholders(plan, &parameters)?, columns, verb, table }
                }
            }
        } else {
            kind
        };
        self.check_read()?;
        let own = match &kind {
            BoundKind::Dml { table, .. } => table.as_ref().map(|table| table.oid),
            BoundKind::Query { .. } => None,
        };
        let (mut parts, overlapping) = self.parts.into_inner().finish(own);
        if self.untyped.get() {
            for part in &mut parts {
                part.plan = type_placeholders(std::mem::take(&mut part.plan), &parameters)?;
            }
        }
        Ok(Bound { kind, parts, overlapping, parameters, relations: self.relations.into_inner() })
    }
}

/// Sets the types of placeholders that were made before their type was known.
fn type_placeholders(plan: LogicalPlan, types: &[SqlType]) -> Result<LogicalPlan> {
    let transformed = plan.transform_up_with_subqueries(|plan| {
        plan.map_expressions(|expr| {
            expr.transform_up(|expr| match expr {
                Expr::Placeholder(mut placeholder) if placeholder.field.is_none() => {
                    let number = placeholder.id.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
                    if let Some(ty) = number.and_then(|number| types.get(number.wrapping_sub(1))) {
                        placeholder.field = Some(Arc::new(Field::new(&placeholder.id, ty.arrow(), true)));
                    }
                    Ok(Transformed::yes(Expr::Placeholder(placeholder)))
                }
                other => Ok(Transformed::no(other)),
            })
        })
    })?;
    Ok(transformed.data)
}

/// A column of a plan whose name is unique in it.
pub fn column(name: impl Into<String>) -> Expr {
    Expr::Column(Column::from_name(name))
}
