//! MERGE: joins each source row to its target row, if any, and applies the first WHEN clause that matches.

use super::assignment::extension;
use super::binder::{Binder, column};
use super::error_position::place_of;
use super::expression::{Clause, Env};
use super::from::Source;
use super::insert::Columns;
use super::scope::Scope;
use super::target::Target;
use super::{BoundKind, KEY_COLUMN, Verb};
use catalog::acl::{DELETE, INSERT, UPDATE};
use catalog::{ColumnId, RelationKind, TableDescriptor};
use datafusion::common::{Column, DFSchema, ExprSchema, JoinType};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, LogicalPlanBuilder, case, lit, when};
use executor::dml::{MergeAction, MergeAgain, MergeNode};
use executor::held_rows::HeldRowsNode;
use sql_error::{Result, SqlError, state};
use std::collections::HashMap;
use std::sync::Arc;
use syntax::{Span, ast};
use types::Datum;

/// A bound WHEN clause.
struct When {
    matched: bool,
    condition: Option<Expr>,
    action: MergeAction,
    /// The values that it assigns.
    values: Vec<(ColumnId, Expr)>,
}

/// The parts of a MERGE.
struct Merged<'a> {
    table: &'a TableDescriptor,
    /// The column with the target's row key.
    key: &'a Column,
    /// The target's live columns.
    old: &'a [Expr],
    /// Columns of the source.
    source: &'a [Column],
    whens: &'a [When],
}

fn whole_number(number: usize) -> Result<Expr> {
    Ok(lit(Datum::Int32(Some(i32::try_from(number).map_err(SqlError::internal)?))))
}

impl Binder<'_> {
    /// Binds a MERGE to a writing plan. The caller binds its WITH.
    pub fn merge(&self, merge: &ast::Merge) -> Result<BoundKind> {
        if merge.with.as_ref().is_some_and(|with| with.recursive) {
            return Err(SqlError::syntax("WITH RECURSIVE is not supported for MERGE statement"));
        }
        let name = &merge.table.name;
        let named = self.table(name)?;
        if named.kind == RelationKind::View {
            let message = format!("cannot execute MERGE on relation \"{}\"", named.name);
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
                .detail("This operation is not supported for views."));
        }
        let target = self.target(name, Verb::Merge)?;
        let table = target.table.clone();
        let rows = self.target_rows(&target, merge.alias.as_ref())?;
        let old: Vec<Expr> = rows.columns.clone();
        let Source { plan: target_plan, scope: target_scope } = rows.source;
        let source = self.from(std::slice::from_ref(&merge.source), None)?;
        let Source { plan: source_plan, scope: source_scope } = source;
        let shown = target_scope.relations.first().map(|relation| relation.name.clone()).unwrap_or_default();
        if source_scope.relations.iter().any(|relation| relation.name == shown) {
            return Err(SqlError::new(state::DUPLICATE_ALIAS, format!("name \"{shown}\" specified more than once"))
                .detail("The name is used both as MERGE target table and data source."));
        }
        let schema = Arc::new(source_plan.schema().join(target_plan.schema())?);
        let both = Scope {
            relations: target_scope.relations.iter().chain(&source_scope.relations).cloned().collect(),
            visible: target_scope.visible.iter().chain(&source_scope.visible).cloned().collect(),
            schema: Some(schema.clone()),
            ..Scope::default()
        };
        // A source row without a target row cannot see the target.
        let alone = Scope { schema: Some(schema), barred: Some(shown), ..source_scope };

        let on = self.predicate(&merge.on, Env::new(&both, Clause::JoinOn))?;
        let mut whens: Vec<When> = Vec::new();
        let mut ended = [false, false];
        for clause in &merge.clauses {
            let matched = clause.matched;
            let over = ended.get_mut(usize::from(matched)).ok_or_else(|| SqlError::internal("a kind of WHEN"))?;
            if *over {
                return Err(SqlError::syntax("unreachable WHEN clause specified after unconditional WHEN clause"));
            }
            *over = clause.condition.is_none();
            whens.push(self.merge_when(&target, clause, if matched { &both } else { &alone })?);
        }

        let kind = if whens.iter().any(|when| !when.matched) { JoinType::Left } else { JoinType::Inner };
        let source: Vec<Column> = source_plan.schema().columns();
        let merged = Merged { table: &table, key: &rows.key, old: &old, source: &source, whens: &whens };
        let again = self.merge_again(&merged, &both, &on)?;
        let joined = LogicalPlanBuilder::from(source_plan).join_on(target_plan, kind, Some(on))?.build()?;
        let input = self.outcome(&merged, joined)?;
        let actions = whens.into_iter().map(|when| when.action).collect();
        let node = MergeNode::new(table.clone(), input, actions, self.target_rules(&target)?, again)?;
        Ok(BoundKind::Dml { plan: extension(node), columns: None, verb: Verb::Merge, table: Some(table) })
    }

    /// Computes the actions for source rows joined to target rows: the input of [`MergeNode`].
    fn outcome(&self, merged: &Merged<'_>, joined: LogicalPlan) -> Result<LogicalPlan> {
        let Merged { table, key, old, source, whens } = merged;
        let key = Expr::Column((*key).clone());
        // Determine the WHEN clause before evaluating anything else of it.
        let number = self.unique("m");
        let choose = |matched: bool| -> Result<Option<Expr>> {
            let mut choice = None;
            let mine = whens.iter().enumerate().filter(|(_, when)| when.matched == matched);
            for (at, when_clause) in mine.rev() {
                choice = Some(match (&when_clause.condition, choice) {
                    (None, _) => whole_number(at)?,
                    (Some(condition), None) => when(condition.clone(), whole_number(at)?).end()?,
                    (Some(condition), Some(rest)) => when(condition.clone(), whole_number(at)?).otherwise(rest)?,
                });
            }
            Ok(choice)
        };
        let none = || lit(Datum::Int32(None));
        let choice = when(key.clone().is_not_null(), choose(true)?.unwrap_or_else(none))
            .otherwise(choose(false)?.unwrap_or_else(none))?;
        let mut exprs: Vec<Expr> = joined.schema().columns().into_iter().map(Expr::Column).collect();
        exprs.push(choice.alias(&number));
        let plan = LogicalPlanBuilder::from(joined).project(exprs)?.build()?;

        let mut exprs = vec![key.alias(format!("{KEY_COLUMN}{}", self.unique("")))];
        exprs.extend(old.iter().cloned());
        exprs.push(column(&number));
        for (live, old) in table.live_columns().zip(old.iter()) {
            let mut given = Vec::new();
            for (at, when) in whens.iter().enumerate() {
                if let Some((_, value)) = when.values.iter().find(|(id, _)| *id == live.id) {
                    given.push((whole_number(at)?, value.clone()));
                }
            }
            let mut given = given.into_iter();
            let value = match given.next() {
                None => old.clone(),
                Some((at, value)) => {
                    let mut choice = case(column(&number)).when(at, value);
                    for (at, value) in given {
                        choice = choice.when(at, value);
                    }
                    choice.otherwise(old.clone())?
                }
            };
            exprs.push(value.alias(self.unique("n")));
        }
        exprs.extend(source.iter().map(|column| Expr::Column(column.clone()).alias(self.unique("s"))));
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }

    /// The recheck of rows that changed while their lock was awaited (manual, 13.2.1). If the join condition still
    /// holds, the action is chosen again. Otherwise the source row is treated as unmatched.
    fn merge_again(&self, merged: &Merged<'_>, both: &Scope<'_>, on: &Expr) -> Result<MergeAgain> {
        let schema = both.schema.as_ref().ok_or_else(|| SqlError::internal("MERGE has no schema"))?;
        let met: Vec<Column> = std::iter::once(merged.key.clone())
            .chain(merged.old.iter().filter_map(|old| old.try_as_col().cloned()))
            .collect();
        let mut fields = Vec::new();
        for column in merged.source.iter().chain(&met) {
            let field = schema.field_from_column(column)?.as_ref().clone().with_nullable(true);
            fields.push((column.relation.clone(), Arc::new(field)));
        }
        let schema = Arc::new(DFSchema::new_with_metadata(fields, HashMap::new())?);
        // Parts of WITH are counted from 0.
        let part = usize::MAX - self.next_number();
        let held = LogicalPlan::Extension(Extension { node: Arc::new(HeldRowsNode { part, schema }) });
        let mut exprs: Vec<Expr> = merged.source.iter().cloned().map(Expr::Column).collect();
        for column in met {
            let (relation, name) = (column.relation.clone(), column.name.clone());
            exprs.push(when(on.clone(), Expr::Column(column)).end()?.alias_qualified(relation, name));
        }
        let joined = LogicalPlanBuilder::from(held).project(exprs)?.build()?;
        Ok(MergeAgain { part, plan: self.outcome(merged, joined)? })
    }

    /// Binds one WHEN clause.
    fn merge_when(&self, target: &Target, clause: &ast::MergeClause, scope: &Scope<'_>) -> Result<When> {
        let condition = match &clause.condition {
            Some(condition) => {
                let typed = self.expr(condition, Env::new(scope, Clause::MergeWhen))?;
                Some(self.condition(typed, "WHEN", condition)?)
            }
            None => None,
        };
        let (action, values) = match &clause.action {
            ast::MergeAction::Nothing => (MergeAction::Nothing, Vec::new()),
            ast::MergeAction::Delete => {
                self.require_whole(target, DELETE)?;
                (MergeAction::Delete, Vec::new())
            }
            ast::MergeAction::Update(assignments) => {
                let set = self.assignments(target, assignments, Env::new(scope, Clause::Update))?;
                let ids: Vec<ColumnId> = set.iter().map(|(id, _)| *id).collect();
                self.require_written(target, UPDATE, &ids)?;
                (MergeAction::Update(ids), set)
            }
            ast::MergeAction::Insert { columns, overriding, values } => {
                let columns = Columns { list: columns, overriding: *overriding };
                let row = values.as_deref().unwrap_or_default();
                (MergeAction::Insert, self.merge_insert(target, columns, row, scope)?)
            }
        };
        Ok(When { matched: clause.matched, condition, action, values })
    }

    /// Binds the INSERT of a WHEN clause. DEFAULT VALUES is a row without values.
    fn merge_insert(
        &self,
        target: &Target,
        columns: Columns<'_>,
        row: &[ast::Expr],
        scope: &Scope<'_>,
    ) -> Result<Vec<(ColumnId, Expr)>> {
        let mut targets = self.named_targets(target, columns, row.len())?;
        let place = |at: usize| row.get(at).map_or(Span::NONE, place_of);
        self.check_width(targets.len(), row.len(), columns, place)?;
        targets.truncate(row.len());
        let ids: Vec<ColumnId> = targets.iter().map(|column| column.id).collect();
        self.require_written(target, INSERT, &ids)?;
        let given = self.given_values(target, &targets, (row, columns), Env::new(scope, Clause::Values))?;
        Ok(target.table.live_columns().map(|column| column.id).zip(given).collect())
    }
}
