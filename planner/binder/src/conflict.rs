//! ON CONFLICT: the index that decides, and the action.

use super::assignment::{default_element, is_default, refused_part};
use super::binder::{Binder, column};
use super::error_position::place_of;
use super::expression::{Clause, Env};
use super::insert::{assigned_twice, plain_keys};
use super::scope::Scope;
use super::table_expression::{bind_index, bind_stored};
use super::target::Target;
use crate::canonical;
use catalog::acl::UPDATE;
use catalog::{ColumnId, IndexDescriptor, TableDescriptor};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, TableReference};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, LogicalPlanBuilder};
use executor::dml::{OnConflict, ROW_NUMBER, conflict_schema, excluded};
use executor::held_rows::HeldRowsNode;
use executor::implication::implied;
use executor::subquery::subquery_of;
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use std::collections::HashMap;
use std::sync::Arc;
use syntax::ast::{self, ColumnTarget, ConflictTarget, ExprKind, IndexKey};
use syntax::{Span, parse_expression};
use types::Oid;

/// The value that SET gives a column.
enum Assigned<'a> {
    /// An expression, not bound yet.
    Expr(&'a ast::Expr),
    /// A bound column of a subquery.
    Bound(TypedExpr),
}

/// Whether a field of a row stands for several: `t.*`.
fn is_star(field: &ast::Expr) -> bool {
    match &field.kind {
        ExprKind::Star(_) => true,
        ExprKind::Path { steps, .. } => matches!(steps.last(), Some(ast::Step::All(_))),
        _ => false,
    }
}

/// Whether an expression has a subquery that is not scalar, or that reads the rows in conflict.
fn sees_rows(expr: &Expr) -> bool {
    let hard = |inner: &Expr| match inner {
        Expr::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty(),
        other => subquery_of(other).is_some(),
    };
    expr.exists(|inner| Ok(hard(inner))).unwrap_or(true)
}

impl Binder<'_> {
    /// Binds the ON CONFLICT clause of an INSERT.
    pub fn on_conflict(
        &self,
        target: &Target,
        shown: &str,
        qualifier: &TableReference,
        clause: Option<&ast::OnConflict>,
    ) -> Result<(Option<OnConflict>, Option<(usize, LogicalPlan)>)> {
        let Some(clause) = clause else { return Ok((None, None)) };
        let arbiter = clause.target.as_ref().map(|on| self.arbiter(target, on)).transpose()?;
        let Some(update) = &clause.update else { return Ok((Some(OnConflict::DoNothing { arbiter }), None)) };
        let Some(arbiter) = arbiter else {
            let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
            let error = SqlError::syntax(message).hint("For example, ON CONFLICT (column_name).");
            return Err(self.at(error, clause.span));
        };
        let schema = Arc::new(conflict_schema(&target.table, qualifier)?);
        let there = self.named_relation(target, shown, qualifier, &schema)?;
        let proposed = self.named_relation(target, "excluded", &excluded(qualifier), &schema)?;
        let scope = Scope {
            visible: there.columns.iter().chain(&proposed.columns).cloned().collect(),
            relations: vec![there, proposed],
            schema: Some(schema.clone()),
            ..Scope::default()
        };
        let set = self.assignments(target, &update.assignments, Env::new(&scope, Clause::Update))?;
        let ids: Vec<_> = set.iter().map(|(id, _)| *id).collect();
        self.require_written(target, UPDATE, &ids)?;
        let filter = match &update.filter {
            Some(filter) => Some(self.predicate(filter, Env::new(&scope, Clause::Where))?),
            None => None,
        };
        if set.iter().map(|(_, expr)| expr).chain(&filter).any(sees_rows) {
            let rows = self.planned_rows(&schema, &set, filter)?;
            let set = ids.into_iter().map(|id| (id, Expr::default())).collect();
            return Ok((Some(OnConflict::DoUpdate { arbiter, set, filter: None }), Some(rows)));
        }
        Ok((Some(OnConflict::DoUpdate { arbiter, set, filter }), None))
    }

    /// The plan of new values for rows in conflict, if subqueries read these rows. It returns the number and values of
    /// each row that WHERE keeps. Also answers the statement part that holds the rows.
    fn planned_rows(
        &self,
        schema: &DFSchema,
        set: &[(ColumnId, Expr)],
        filter: Option<Expr>,
    ) -> Result<(usize, LogicalPlan)> {
        let number = Arc::new(Field::new(ROW_NUMBER, DataType::Int64, true));
        let fields = schema.iter().map(|(qualifier, field)| (qualifier.cloned(), field.clone()));
        let fields = fields.chain(std::iter::once((None, number))).collect();
        let schema = Arc::new(DFSchema::new_with_metadata(fields, HashMap::new())?);
        // Parts of WITH are counted from 0.
        let part = usize::MAX - self.next_number();
        let held = LogicalPlan::Extension(Extension { node: Arc::new(HeldRowsNode { part, schema }) });
        let mut plan = LogicalPlanBuilder::from(held);
        if let Some(filter) = filter {
            plan = plan.filter(filter)?;
        }
        let mut exprs = vec![column(ROW_NUMBER)];
        exprs.extend(set.iter().map(|(_, value)| value.clone().alias(self.unique("n"))));
        Ok((part, plan.project(exprs)?.build()?))
    }

    /// The unique index that a conflict target refers to. Errors: 42704, 42P10, 42703, 0A000.
    fn arbiter(&self, written: &Target, target: &ConflictTarget) -> Result<Oid> {
        let table = &written.table;
        match target {
            ConflictTarget::Constraint(constraint) => {
                let name = &constraint.value;
                let found = table.indexes.iter().find(|index| index.constraint.is_some() && index.name == *name);
                let found = found.filter(|_| written.levels.is_empty());
                found.map(|index| index.oid).ok_or_else(|| {
                    let message =
                        format!("constraint \"{name}\" for table \"{}\" does not exist", written.named().name);
                    SqlError::new(state::UNDEFINED_OBJECT, message)
                })
            }
            ConflictTarget::Index { keys, predicate } => {
                let Some(names) = plain_keys(keys, predicate.as_ref()) else {
                    if !written.levels.is_empty() {
                        return Err(SqlError::unsupported("ON CONFLICT of expressions through a view"));
                    }
                    return self.inferred(table, keys, predicate.as_ref());
                };
                let mut wanted: Vec<ColumnId> = Vec::new();
                for ident in names {
                    // A column that does not belong to the table is in no index.
                    let id = self.conflict_column(written, ident)?.unwrap_or_default();
                    if !wanted.contains(&id) {
                        wanted.push(id);
                    }
                }
                let fits = |index: &&IndexDescriptor| {
                    index.is_declared_unique()
                        && !index.is_computed()
                        && index.state == catalog::IndexState::Public
                        && index.columns.len() == wanted.len()
                        && index.columns.iter().all(|column| wanted.contains(&column.column))
                };
                table.indexes.iter().find(fits).map(|index| index.oid).ok_or_else(|| {
                    SqlError::new(
                        state::INVALID_COLUMN_REFERENCE,
                        "there is no unique or exclusion constraint matching the ON CONFLICT specification",
                    )
                })
            }
        }
    }

    /// The unique index over these columns and expressions. `predicate`, the target's condition, must imply the index's
    /// condition.
    fn inferred(&self, table: &TableDescriptor, keys: &[IndexKey], predicate: Option<&ast::Expr>) -> Result<Oid> {
        let (mut columns, mut texts) = (Vec::new(), Vec::new());
        for key in keys {
            let mut item = &key.value;
            while let ExprKind::Collate { operand, .. } = &item.kind {
                item = operand;
            }
            match &item.kind {
                ExprKind::Column(names) if names.len() == 1 => {
                    let name = names.first().map(|ident| ident.value.as_str()).unwrap_or_default();
                    let column = table.column_named(name).ok_or_else(|| {
                        let message = format!("column \"{name}\" does not exist");
                        // PostgreSQL reports the parenthesis before the keys.
                        let first = keys.first().map_or(Span::NONE, |key| key.span);
                        self.at_bracket(SqlError::new(state::UNDEFINED_COLUMN, message), first)
                    })?;
                    columns.push(column.id);
                }
                _ => texts.push(canonical::text(item)),
            }
        }
        let conjuncts = |expr: &ast::Expr| {
            let mut found = Vec::new();
            canonical::conjuncts(expr, &mut found);
            found
        };
        let given = predicate.map(conjuncts).unwrap_or_default();
        // Compare the texts first: equal conditions need not be understood.
        let written = |text: &String| {
            parse_expression(text).is_ok_and(|(expr, _)| conjuncts(&expr).iter().all(|needed| given.contains(needed)))
        };
        let predicate = match predicate {
            Some(predicate) => Some(bind_stored(predicate, self.source, table, "index predicate", &self.context)?.expr),
            None => None,
        };
        let implied = |index: &IndexDescriptor| {
            let Some(text) = &index.predicate else { return true };
            written(text)
                || predicate.as_ref().is_some_and(|given| {
                    let bound = bind_index(table, index, &self.context).ok().and_then(|bound| bound.predicate);
                    bound.is_some_and(|needed| implied(std::slice::from_ref(given), &needed))
                })
        };
        let fits = |index: &&IndexDescriptor| {
            let own = || index.columns.iter().map(|key| key.column).filter(|id| *id != 0);
            index.unique
                && index.state == catalog::IndexState::Public
                && own().all(|id| columns.contains(&id))
                && columns.iter().all(|id| own().any(|other| other == *id))
                && index.expressions.iter().all(|expression| texts.contains(&expression.text))
                && texts.iter().all(|text| index.expressions.iter().any(|expression| expression.text == *text))
                && implied(index)
        };
        table.indexes.iter().find(fits).map(|index| index.oid).ok_or_else(|| {
            SqlError::new(
                state::INVALID_COLUMN_REFERENCE,
                "there is no unique or exclusion constraint matching the ON CONFLICT specification",
            )
        })
    }

    /// The values that SET gives several columns at once. Errors: 42601 for another number of values, 0A000 for what
    /// is no row.
    fn row_of_values<'e>(&self, width: usize, value: &'e ast::Expr, env: Env<'_>) -> Result<Vec<Assigned<'e>>> {
        let uneven = || {
            let error = SqlError::syntax("number of columns does not match number of values");
            self.at(error, place_of(value))
        };
        let values: Vec<Assigned<'e>> = match &value.kind {
            ExprKind::Query(query) => {
                let values = self.row_subquery(query, width, env).map_err(|error| match error.state() {
                    state::SYNTAX_ERROR => uneven(),
                    _ => error,
                })?;
                values.into_iter().map(Assigned::Bound).collect()
            }
            ExprKind::Row { fields, .. } if fields.iter().any(is_star) => {
                self.row_fields(fields, env)?.into_iter().map(Assigned::Bound).collect()
            }
            ExprKind::Row { fields, .. } => fields.iter().map(Assigned::Expr).collect(),
            _ => {
                let message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression";
                return Err(self.at(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), place_of(value)));
            }
        };
        if values.len() == width { Ok(values) } else { Err(uneven()) }
    }

    /// Binds the `SET` list to columns and their new values.
    pub fn assignments(
        &self,
        written: &Target,
        assignments: &[ast::Assignment],
        env: Env<'_>,
    ) -> Result<Vec<(ColumnId, Expr)>> {
        let mut set: Vec<(ColumnId, Expr)> = Vec::new();
        let (mut elements, mut assigned): (Vec<ColumnId>, Vec<&str>) = (Vec::new(), Vec::new());
        for assignment in assignments {
            let pairs: Vec<(&ColumnTarget, Assigned<'_>)> = match assignment {
                ast::Assignment::One(target, value) => vec![(target, Assigned::Expr(value))],
                ast::Assignment::Several(targets, value) => {
                    targets.iter().zip(self.row_of_values(targets.len(), value, env)?).collect()
                }
            };
            for (target, value) in pairs {
                let (named, span) = (target.column.value.as_str(), target.span);
                let column = self.written_column(written, named, span)?;
                if let Some(error) = refused_part(target, column, "UPDATE") {
                    return Err(self.at(error, span));
                }
                let is_element = !target.steps.is_empty();
                let before = set.iter().position(|(id, _)| *id == column.id);
                // Elements of one column may be assigned separately.
                if before.is_some() && !(is_element && elements.contains(&column.id)) {
                    // Two columns of a view may be the same column of the table.
                    let again = assigned.contains(&named);
                    return Err(assigned_twice(if again { named } else { &column.name }));
                }
                assigned.push(named);
                if is_element {
                    let array = match before.and_then(|at| set.get(at)) {
                        Some((_, expr)) => TypedExpr { expr: expr.clone(), ty: column.ty },
                        None => {
                            let columns = env.scope.relations.first().map(|target| target.columns.as_slice());
                            let own = columns.into_iter().flatten().find(|own| own.name == named);
                            own.map(super::scope::ScopeColumn::typed)
                                .ok_or_else(|| SqlError::internal("a column that is written is not read"))?
                        }
                    };
                    let value = match value {
                        Assigned::Expr(value) if is_default(value) => return Err(self.at(default_element(), span)),
                        Assigned::Expr(value) => self.expr(value, env)?,
                        Assigned::Bound(value) => value,
                    };
                    let changed = self.with_part(array, column, &target.steps, (value, span), env);
                    let changed = changed.map_err(|error| self.at(error, span))?;
                    let expr = self.assign(changed, column, span)?;
                    match before.and_then(|at| set.get_mut(at)) {
                        Some(known) => known.1 = expr,
                        None => set.push((column.id, expr)),
                    }
                    elements.push(column.id);
                    continue;
                }
                let is_default = matches!(value, Assigned::Expr(value) if is_default(value));
                let expr = if is_default {
                    self.set_default(written, named, column)?
                } else {
                    if column.generated.is_some() {
                        let message = format!("column \"{}\" can only be updated to DEFAULT", column.name);
                        return Err(SqlError::new("428C9", message)
                            .detail(format!("Column \"{}\" is a generated column.", column.name)));
                    }
                    if column.identity == Some(catalog::Identity::Always) {
                        let message = format!("column \"{}\" can only be updated to DEFAULT", column.name);
                        return Err(SqlError::new("428C9", message).detail(format!(
                            "Column \"{}\" is an identity column defined as GENERATED ALWAYS.",
                            column.name
                        )));
                    }
                    match value {
                        Assigned::Expr(value) => {
                            let typed = self.expr(value, env)?;
                            self.assign(typed, column, place_of(value))?
                        }
                        Assigned::Bound(typed) => self.assign(typed, column, span)?,
                    }
                };
                set.push((column.id, expr));
            }
        }
        Ok(set)
    }
}
