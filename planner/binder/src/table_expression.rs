//! Expressions that the catalog stores as text, such as DEFAULT and CHECK.

use super::BindContext;
use super::binder::Binder;
use super::call::{has_aggregate, has_window};
use super::expression::{Clause, Env};
use super::scope::{Scope, ScopeColumn, ScopeRelation};
use super::system_column::SYSTEM_COLUMNS;
use catalog::{ColumnDescriptor, IndexDescriptor, TableDescriptor};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, TableReference};
use datafusion::logical_expr::{Expr, Volatility};
use executor::dml::{Computed, IndexExpressions, Rules};
use functions::{CastContext, ParameterTypes, TypedExpr, next_identity};
use sql_error::{Result, SqlError, state};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use syntax::source::Source;
use syntax::visit::{visit_expressions, visit_expressions_mut};
use syntax::{Span, ast, parse_expression};
use types::{Datum, Oid, SqlType};

/// A bound expression of a table.
pub type TableExpression = TypedExpr;

/// Binds an expression over a table's live columns, qualified by its name: a CHECK constraint. Errors: as in a
/// statement; 0A000 for subqueries, 42803 for aggregates, 42P02 for parameters.
pub fn bind_table_expression(
    expr: &ast::Expr,
    source: &Source,
    table: &TableDescriptor,
    context: &BindContext<'_>,
) -> Result<TableExpression> {
    let qualifier = TableReference::bare(table.name.as_str());
    standalone(context, source, |binder| {
        let scope = table_scope(table, &table.name, &qualifier)?;
        let invalid = |name: &str| format!("system column \"{name}\" reference in check constraint is invalid");
        let expr = of_this_table(binder, expr, table, invalid)?;
        let typed = binder.expr(&expr, Env::new(&scope, Clause::Check))?;
        refuse(&typed.expr, "check constraint")?;
        Ok(typed)
    })
}

/// Binds an expression without columns and casts it by assignment: a DEFAULT. Errors: 42804 if the type does not fit,
/// 0A000 for columns and subqueries.
pub fn bind_constant(
    expr: &ast::Expr,
    source: &Source,
    column: &str,
    ty: SqlType,
    context: &BindContext<'_>,
) -> Result<TableExpression> {
    standalone(context, source, |binder| {
        let scope = Scope::empty(None);
        let typed = binder.expr(expr, Env::new(&scope, Clause::Default)).map_err(|error| {
            if error.state() == state::UNDEFINED_COLUMN {
                return SqlError::new(
                    state::FEATURE_NOT_SUPPORTED,
                    "cannot use column reference in DEFAULT expression",
                );
            }
            error
        })?;
        refuse(&typed.expr, "DEFAULT expression")?;
        let from = typed.ty;
        binder.resolver.cast(typed, ty, CastContext::Assignment).map_err(|error| {
            if error.state() == state::CANNOT_COERCE || error.state() == state::DATATYPE_MISMATCH {
                let message = format!(
                    "column \"{column}\" is of type {} but default expression is of type {}",
                    ty.format(),
                    from.name()
                );
                return SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("You will need to rewrite or cast the expression.");
            }
            error
        })
    })
}

/// Binds the generated columns of a table and the expressions of its indexes. Errors: as in a statement.
pub fn bind_computed(table: &TableDescriptor, context: &BindContext<'_>) -> Result<Computed> {
    let mut computed = Computed::default();
    for column in table.live_columns() {
        if let Some(text) = &column.generated {
            let (expr, source) = parse_expression(text)?;
            computed.generated.push((column.id, bind_generated(&expr, &source, table, column, context)?));
        }
    }
    for index in table.indexes.iter().filter(|index| index.is_computed()) {
        computed.indexes.push(bind_index(table, index, context)?);
    }
    Ok(computed)
}

/// Binds the expressions and the condition of an index.
pub fn bind_index(
    table: &TableDescriptor,
    index: &IndexDescriptor,
    context: &BindContext<'_>,
) -> Result<IndexExpressions> {
    let bind = |text: &String| {
        let (expr, source) = parse_expression(text)?;
        bind_stored(&expr, &source, table, "index expression", context)
    };
    let expressions = index.expressions.iter().map(|expression| Ok(bind(&expression.text)?.expr));
    Ok(IndexExpressions {
        index: index.oid,
        expressions: expressions.collect::<Result<_>>()?,
        predicate: index.predicate.as_ref().map(|text| Ok::<_, SqlError>(bind(text)?.expr)).transpose()?,
    })
}

/// Binds the expression of a generated column and casts it to the column's type by assignment. Errors: 42804, 42P17,
/// and as in a statement.
pub fn bind_generated(
    expr: &ast::Expr,
    source: &Source,
    table: &TableDescriptor,
    column: &ColumnDescriptor,
    context: &BindContext<'_>,
) -> Result<Expr> {
    let qualifier = TableReference::bare(table.name.as_str());
    standalone(context, source, |binder| {
        let scope = table_scope(table, &table.name, &qualifier)?;
        let env = Env::new(&scope, Clause::Generated);
        refuse_whole_row(binder, expr, table)?;
        let invalid = |name: &str| format!("cannot use system column \"{name}\" in column generation expression");
        let expr = of_this_table(binder, expr, table, invalid)?;
        let typed = binder.expr(&expr, env)?;
        refuse(&typed.expr, "column generation expression")?;
        let from = typed.ty;
        let cast = binder.resolver.cast(typed, column.ty, CastContext::Assignment).map_err(|error| {
            if error.state() == state::CANNOT_COERCE || error.state() == state::DATATYPE_MISMATCH {
                let message = format!(
                    "column \"{}\" is of type {} but default expression is of type {}",
                    column.name,
                    column.ty.format(),
                    from.name()
                );
                return SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("You will need to rewrite or cast the expression.");
            }
            error
        })?;
        Ok(cast.expr)
    })
}

/// Replaces `tableoid` in an expression by the table's OID. Errors: 42P10 for system columns that differ from row to
/// row.
fn of_this_table<'e>(
    binder: &Binder<'_>,
    expr: &'e ast::Expr,
    table: &TableDescriptor,
    invalid: impl Fn(&str) -> String,
) -> Result<Cow<'e, ast::Expr>> {
    let system = |part: &ast::Expr| {
        let ast::ExprKind::Column(parts) = &part.kind else { return None };
        let name = match parts.as_slice() {
            [ident] => &ident.value,
            [of, ident] if of.value == table.name => &ident.value,
            _ => return None,
        };
        SYSTEM_COLUMNS.iter().any(|(known, ..)| known == name).then(|| (name.clone(), part.span))
    };
    let mut found = false;
    let other = visit_expressions(expr, |part| match system(part) {
        Some((name, place)) if name != "tableoid" => ControlFlow::Break((name, place)),
        one => {
            found |= one.is_some();
            ControlFlow::Continue(())
        }
    });
    if let Some((name, place)) = other.break_value() {
        return Err(binder.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, invalid(&name)), place));
    }
    if !found {
        return Ok(Cow::Borrowed(expr));
    }
    let mut expr = expr.clone();
    let _ = visit_expressions_mut(&mut expr, |part| {
        if system(part).is_some() {
            *part = oid_constant(table.oid);
        }
        ControlFlow::<()>::Continue(())
    });
    Ok(Cow::Owned(expr))
}

/// `oid::pg_catalog.oid`, which no text says.
fn oid_constant(oid: Oid) -> ast::Expr {
    let made = |kind| ast::Expr { kind, span: Span::NONE };
    let parts = vec![ast::Ident::new(catalog::PG_CATALOG), ast::Ident::new("oid")];
    let data_type = ast::TypeName {
        base: ast::TypeBase::Named(ast::Name { parts, span: Span::NONE }),
        modifiers: Vec::new(),
        array_bounds: Vec::new(),
        set_of: false,
        span: Span::NONE,
    };
    let operand = Box::new(made(ast::ExprKind::Literal(ast::Literal::Integer(oid.to_string()))));
    made(ast::ExprKind::Cast { operand, data_type, form: ast::CastForm::DoubleColon, at: Span::NONE })
}

/// Rejects the whole row in the expression of a generated column. Errors: 42P17.
fn refuse_whole_row(binder: &Binder<'_>, expr: &ast::Expr, table: &TableDescriptor) -> Result<()> {
    if table.column_named(&table.name).is_some() {
        return Ok(());
    }
    let found = visit_expressions(expr, |part| match &part.kind {
        ast::ExprKind::Column(parts) => match parts.as_slice() {
            [name] if name.value == table.name => ControlFlow::Break(name.span),
            _ => ControlFlow::Continue(()),
        },
        _ => ControlFlow::Continue(()),
    });
    match found.break_value() {
        None => Ok(()),
        Some(place) => {
            let message = "cannot use whole-row variable in column generation expression";
            let error = SqlError::new("42P17", message)
                .detail("This would cause the generated column to depend on its own value.");
            Err(binder.at(error, place))
        }
    }
}

/// Binds an expression over a table's live columns that is stored with it. `what` names it in messages. Errors: as in a
/// statement.
pub fn bind_stored(
    expr: &ast::Expr,
    source: &Source,
    table: &TableDescriptor,
    what: &str,
    context: &BindContext<'_>,
) -> Result<TableExpression> {
    let qualifier = TableReference::bare(table.name.as_str());
    standalone(context, source, |binder| {
        let scope = table_scope(table, &table.name, &qualifier)?;
        let clause = match what {
            "index expression" => Clause::IndexExpression,
            "index predicate" => Clause::IndexPredicate,
            "COPY FROM WHERE condition" => Clause::CopyFrom,
            _ => Clause::Transform,
        };
        let mut typed = binder.expr(expr, Env::new(&scope, clause))?;
        // An expression that will be cast keeps an unknown type until then.
        if what != "transform expression" {
            typed = binder.settle(typed)?;
        }
        refuse(&typed.expr, what)?;
        Ok(typed)
    })
}

/// Casts a bound expression by assignment. Errors: 42846 and those of the cast.
pub fn cast_to(typed: TableExpression, ty: SqlType, context: &BindContext<'_>) -> Result<Expr> {
    let source = Source::new("");
    standalone(context, &source, |binder| Ok(binder.resolver.cast(typed, ty, CastContext::Assignment)?.expr))
}

/// Binds the default value of a table's column.
pub fn bind_default(table: &TableDescriptor, column: &ColumnDescriptor, context: &BindContext<'_>) -> Result<Expr> {
    standalone(context, &Source::new(""), |binder| binder.default_of(table, column))
}

/// Whether an expression always has the same result for the same row: it does not depend on time, settings or chance.
pub fn is_immutable(expr: &Expr) -> bool {
    let mut immutable = true;
    // The visitor cannot fail.
    let _ = expr.apply(|inner| {
        immutable &= match inner {
            Expr::ScalarFunction(call) => call.func.signature().volatility == Volatility::Immutable,
            Expr::Placeholder(_) => false,
            _ => true,
        };
        Ok(if immutable { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    immutable
}

/// The text of an expression in the form that the catalog stores and shows.
pub fn canonical_text(expr: &ast::Expr) -> String {
    expr.to_string()
}

fn standalone<T>(context: &BindContext<'_>, source: &Source, bind: impl FnOnce(&Binder<'_>) -> Result<T>) -> Result<T> {
    let parameters = ParameterTypes::new(Vec::new());
    let mut binder = Binder::new(*context, source, &parameters);
    binder.kept = true;
    let bound = bind(&binder).map_err(|error| source.about_token(error))?;
    if !parameters.finish(true)?.is_empty() {
        return Err(SqlError::new(state::UNDEFINED_PARAMETER, "there is no parameter $1").about("$1"));
    }
    Ok(bound)
}

fn refuse(expr: &Expr, what: &str) -> Result<()> {
    if has_aggregate(expr) {
        let message = format!("aggregate functions are not allowed in {what}s");
        return Err(SqlError::new(state::GROUPING_ERROR, message));
    }
    if has_window(expr) {
        let message = format!("window functions are not allowed in {what}s");
        return Err(SqlError::new(state::WINDOWING_ERROR, message));
    }
    if has_subquery(expr) {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("cannot use subquery in {what}")));
    }
    Ok(())
}

/// Whether an expression contains a subquery.
pub fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    // The visitor cannot fail.
    let _ = expr.apply(|inner| {
        found |=
            matches!(inner, Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_));
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found
}

/// A scope of a table's live columns under a qualifier, without a plan.
pub fn table_scope(table: &TableDescriptor, name: &str, qualifier: &TableReference) -> Result<Scope<'static>> {
    let schema = executor::dml::table_schema(table, qualifier)?;
    Ok(Scope::of(table_relation(table, name, qualifier), Arc::new(schema), None))
}

/// A table as a relation of a scope.
pub fn table_relation(table: &TableDescriptor, name: &str, qualifier: &TableReference) -> ScopeRelation {
    let columns = table
        .live_columns()
        .map(|column| ScopeColumn {
            name: column.name.clone(),
            expr: Expr::Column(Column::new(Some(qualifier.clone()), &column.name)),
            ty: column.ty,
            table_oid: table.oid,
            attnum: column.id,
            reading: None,
        })
        .collect();
    let schema = (name == table.name).then(|| table.schema.clone());
    ScopeRelation {
        present: None,
        scalar: false,
        name: name.into(),
        schema,
        columns,
        table: None,
        row_of: table.oid,
        key: None,
        keys: Vec::new(),
        unlockable: None,
        reading: None,
    }
}

/// Concatenates two qualified schemas.
pub fn both(left: &DFSchema, right: &DFSchema) -> Result<DFSchema> {
    let fields =
        left.iter().chain(right.iter()).map(|(qualifier, field)| (qualifier.cloned(), field.clone())).collect();
    Ok(DFSchema::new_with_metadata(fields, HashMap::new())?)
}

impl Binder<'_> {
    /// Binds the constraints and computed expressions of a table.
    pub fn rules(&self, table: &TableDescriptor) -> Result<Rules> {
        Ok(Rules { checks: self.checks(table)?, views: Vec::new(), computed: bind_computed(table, &self.context)? })
    }

    /// Binds the CHECK constraints of a table.
    fn checks(&self, table: &TableDescriptor) -> Result<Vec<(String, Expr)>> {
        let mut checks = Vec::new();
        for check in &table.checks {
            let (expr, source) = parse_expression(&check.expression)?;
            let typed = bind_table_expression(&expr, &source, table, &self.context)?;
            checks.push((check.name.clone(), self.resolver.boolean(typed, "CHECK")?));
        }
        Ok(checks)
    }

    /// Binds the default value of a table's column.
    pub fn default_of(&self, table: &TableDescriptor, column: &ColumnDescriptor) -> Result<Expr> {
        let owned = || self.context.catalog.owned_sequence(table.oid, column.id);
        if let Some(sequence) = column.identity.and_then(|_| owned()) {
            let next = next_identity(sequence.oid, self.context.slots);
            return Ok(self.resolver.cast(next, column.ty, CastContext::Assignment)?.expr);
        }
        if let Some(text) = &column.default {
            let (expr, source) = parse_expression(text)?;
            return Ok(bind_constant(&expr, &source, &column.name, column.ty, &self.context)?.expr);
        }
        Ok(Expr::Literal(Datum::try_from(&column.ty.arrow())?, None))
    }
}
