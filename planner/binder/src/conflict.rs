//! ON CONFLICT: the index that decides, and the action.

use super::assignment::is_default;
use super::binder::{Binder, column};
use super::comparison::{is_row, row_items};
use super::element::{ElementValue, element_target, element_value};
use super::expression::{Clause, Env};
use super::insert::assigned_twice;
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
use sqlparser::ast::{self, AssignmentTarget, ConflictTarget, OnConflictAction, OnInsert, Spanned};
use sqlparser::tokenizer::Span;
use std::collections::HashMap;
use std::sync::Arc;
use syntax::{fold, fold_name, parse_expression};
use types::Oid;

/// The value that SET gives a column.
enum Assigned<'a> {
    /// An expression, not bound yet.
    Expr(&'a ast::Expr),
    /// A bound column of a subquery.
    Bound(TypedExpr),
}

/// The value that SET gives an element.
enum Element<'a> {
    /// An expression, not bound yet.
    Written(ElementValue<'a>),
    /// A bound column of a subquery, and the subscripts of the element.
    Bound(TypedExpr, &'a [ast::AccessExpr]),
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
        on: Option<&OnInsert>,
    ) -> Result<(Option<OnConflict>, Option<(usize, LogicalPlan)>)> {
        let clause = match on {
            None => return Ok((None, None)),
            Some(OnInsert::OnConflict(clause)) => clause,
            Some(_) => return Err(SqlError::unsupported("ON DUPLICATE KEY UPDATE")),
        };
        let arbiter = clause.conflict_target.as_ref().map(|on| self.arbiter(target, on)).transpose()?;
        let update = match &clause.action {
            OnConflictAction::DoNothing => return Ok((Some(OnConflict::DoNothing { arbiter }), None)),
            OnConflictAction::DoUpdate(update) => update,
        };
        let Some(arbiter) = arbiter else {
            return Err(SqlError::syntax("ON CONFLICT DO UPDATE requires inference specification or constraint name")
                .about_words(&["on", "conflict"], Span::empty(), 0)
                .hint("For example, ON CONFLICT (column_name)."));
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
        let filter = match &update.selection {
            Some(selection) => Some(self.predicate(selection, Env::new(&scope, Clause::Where))?),
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

    /// The unique index that a conflict target refers to.
    fn arbiter(&self, written: &Target, target: &ConflictTarget) -> Result<Oid> {
        let table = &written.table;
        match target {
            ConflictTarget::OnConstraint(name) => {
                let (_, name) = fold_name(name)?;
                let found = table.indexes.iter().find(|index| index.constraint.is_some() && index.name == name);
                let found = found.filter(|_| written.levels.is_empty());
                found.map(|index| index.oid).ok_or_else(|| {
                    let message =
                        format!("constraint \"{name}\" for table \"{}\" does not exist", written.named().name);
                    SqlError::new(state::UNDEFINED_OBJECT, message)
                })
            }
            ConflictTarget::Columns(names) => {
                if let [only] = names.as_slice()
                    && let Some(number) = only.value.strip_prefix(syntax::CONFLICT_TARGET)
                {
                    let target = number.parse().ok().and_then(|number: usize| self.extras.conflict_targets.get(number));
                    let target = target.ok_or_else(|| SqlError::internal("an unknown conflict target"))?;
                    if !written.levels.is_empty() {
                        return Err(SqlError::unsupported("ON CONFLICT of expressions through a view"));
                    }
                    return self.inferred(table, target);
                }
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

    /// The unique index over these columns and expressions. The target's condition must imply the index's condition.
    fn inferred(&self, table: &TableDescriptor, target: &syntax::ConflictTarget) -> Result<Oid> {
        let (mut columns, mut texts) = (Vec::new(), Vec::new());
        for item in &target.items {
            let mut item = item;
            while let ast::Expr::Nested(inner) | ast::Expr::Collate { expr: inner, .. } = item {
                item = inner;
            }
            match item {
                ast::Expr::Identifier(ident) => {
                    let name = fold(ident);
                    let column = table.column_named(&name).ok_or_else(|| {
                        let message = format!("column \"{name}\" does not exist");
                        self.at_bracket(SqlError::new(state::UNDEFINED_COLUMN, message), ident.span)
                    })?;
                    columns.push(column.id);
                }
                other => texts.push(canonical::text(other)),
            }
        }
        let conjuncts = |expr: &ast::Expr| {
            let mut found = Vec::new();
            canonical::conjuncts(expr, &mut found);
            found
        };
        let given = target.predicate.as_ref().map(conjuncts).unwrap_or_default();
        // Compare the texts first: equal conditions need not be understood.
        let written = |text: &String| {
            parse_expression(text).is_ok_and(|(expr, _)| conjuncts(&expr).iter().all(|needed| given.contains(needed)))
        };
        let predicate = match &target.predicate {
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

    /// Binds the `SET` list to columns and their new values.
    pub fn assignments(
        &self,
        written: &Target,
        assignments: &[ast::Assignment],
        env: Env<'_>,
    ) -> Result<Vec<(ColumnId, Expr)>> {
        let mut set: Vec<(ColumnId, Expr)> = Vec::new();
        let (mut elements, mut assigned): (Vec<ColumnId>, Vec<String>) = (Vec::new(), Vec::new());
        for assignment in assignments {
            let ast::Assignment { target, value } = assignment;
            let mut value = value;
            while let (AssignmentTarget::Tuple(_), ast::Expr::Nested(inner)) = (target, value) {
                value = inner;
            }
            let pairs: Vec<(&ast::ObjectName, Assigned<'_>)> = match (target, value) {
                (AssignmentTarget::ColumnName(name), value) => vec![(name, Assigned::Expr(value))],
                (AssignmentTarget::Tuple(names), ast::Expr::Subquery(query)) => {
                    let values = self.row_subquery(query, names.len(), env).map_err(|error| {
                        if error.state() != state::SYNTAX_ERROR {
                            return error;
                        }
                        let error = SqlError::syntax("number of columns does not match number of values");
                        self.at_bracket(error, query.span())
                    })?;
                    names.iter().zip(values.into_iter().map(Assigned::Bound)).collect()
                }
                (AssignmentTarget::Tuple(names), ast::Expr::Function(ast::Function { args, .. }))
                    if is_row(value) && row_items(value).is_none() =>
                {
                    // The items include the columns of a relation (`v.*`).
                    let ast::FunctionArguments::List(list) = args else { continue };
                    let values = self.row_fields(&list.args, env)?;
                    if values.len() != names.len() {
                        let error = SqlError::syntax("number of columns does not match number of values");
                        return Err(self.at(error, value.span()));
                    }
                    names.iter().zip(values.into_iter().map(Assigned::Bound)).collect()
                }
                (AssignmentTarget::Tuple(names), value) => match (names.as_slice(), row_items(value), value) {
                    (names, Some(values), _) if names.len() == values.len() => {
                        names.iter().zip(values.into_iter().map(Assigned::Expr)).collect()
                    }
                    (_, Some(_), _) => {
                        let error = SqlError::syntax("number of columns does not match number of values");
                        return Err(match value {
                            ast::Expr::Tuple(_) => self.at_bracket(error, value.span()),
                            _ => self.at(error, value.span()),
                        });
                    }
                    _ => {
                        let message =
                            "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression";
                        return Err(self.at(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), value.span()));
                    }
                },
            };
            for (name, value) in pairs {
                let span = super::binder::span_of(name);
                let target = element_target(name)?;
                let (first, last) = match &target {
                    Some((column, _)) => (None, fold(column)),
                    None => fold_name(name)?,
                };
                let named = first.as_deref().unwrap_or(&last);
                let column = self.written_column(written, named, span)?;
                if first.is_some() {
                    let message = format!(
                        "cannot assign to field \"{last}\" of column \"{named}\" because its type {} is not a composite type",
                        column.ty.format()
                    );
                    return Err(self.at(SqlError::new(state::DATATYPE_MISMATCH, message), span));
                }
                let element = match (&value, &target) {
                    (Assigned::Expr(value), _) => element_value(value).map(Element::Written),
                    (Assigned::Bound(value), Some((_, chain))) => Some(Element::Bound(value.clone(), chain)),
                    (Assigned::Bound(_), None) => None,
                };
                let before = set.iter().position(|(id, _)| *id == column.id);
                // Elements of one column may be assigned separately.
                if before.is_some() && (element.is_none() || !elements.contains(&column.id)) {
                    // Two columns of a view may be the same column of the table.
                    let again = assigned.iter().any(|other| other == named);
                    return Err(assigned_twice(if again { named } else { &column.name }));
                }
                assigned.push(named.to_string());
                if let Some(element) = element {
                    let array = match before.and_then(|at| set.get(at)) {
                        Some((_, expr)) => TypedExpr { expr: expr.clone(), ty: column.ty },
                        None => {
                            let columns = env.scope.relations.first().map(|target| target.columns.as_slice());
                            let own = columns.into_iter().flatten().find(|own| own.name == named);
                            own.map(super::scope::ScopeColumn::typed)
                                .ok_or_else(|| SqlError::internal("a column that is written is not read"))?
                        }
                    };
                    let changed = match element {
                        Element::Written(element) => self.assign_element(array, column, &element, span, env)?,
                        Element::Bound(value, chain) => self
                            .with_part(array, column, chain, (value, span), env)
                            .map_err(|error| self.at(error, span))?,
                    };
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
                            self.assign(typed, column, Span::empty())
                                .map_err(|error| self.at(error, self.start_of(value)))?
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
