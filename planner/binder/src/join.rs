//! JOIN: binds conditions, USING and NATURAL.

use super::binder::{Binder, column};
use super::expression::{Clause, Env};
use super::from::{Source, is_lateral};
use super::scope::{Scope, ScopeColumn, ScopeRelation};
use super::subquery::is_ungrouped_aggregate;
use super::table_arguments::table_function;
use super::volatile::{calls, is_volatile_function};
use datafusion::common::{Column, JoinType};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Subquery};
use functions::volatile_join_filter::of_pair;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::Span;
use syntax::ast::{self, FromItem, JoinCondition, JoinKind};
use types::{Datum, SqlType};

/// Prefix of columns that are NULL if an outer join found no row.
const PRESENT: &str = "\0present";

impl Binder<'_> {
    /// The cross product of both sides.
    pub fn cross<'p>(&self, left: Source<'p>, right: Source<'p>) -> Result<Source<'p>> {
        let lateral = matches!(right.plan, LogicalPlan::Subquery(_));
        let scope = self.joined_scope(left.scope, right.scope)?;
        let builder = LogicalPlanBuilder::from(left.plan);
        let builder = if lateral {
            // The decorrelation rule expects a join with a condition.
            let on = Expr::Literal(Datum::Boolean(Some(true)), None);
            builder.join_on(right.plan, JoinType::Inner, Some(on))?
        } else {
            builder.cross_join(right.plan)?
        };
        finish(builder, scope)
    }

    fn joined_scope<'p>(&self, left: Scope<'p>, right: Scope<'p>) -> Result<Scope<'p>> {
        no_clash(&left, &right.relations)?;
        let mut scope = left;
        scope.relations.extend(right.relations);
        scope.visible.extend(right.visible);
        Ok(scope)
    }

    /// Binds a join of `left`, which is bound, with the item on the right.
    pub fn join<'p>(&self, left: Source<'p>, join: &ast::Join, parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        let kind = match join.kind {
            JoinKind::Cross | JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
        };
        let condition = &join.condition;
        let crossed = matches!(condition, JoinCondition::None);
        if let FromItem::Query { lateral: true, query, .. } = &join.right
            && self.single_row(query).is_some()
            && (crossed
                || (kind == JoinType::Inner && matches!(condition, JoinCondition::On(_)))
                || (kind == JoinType::Left && always(condition)))
        {
            let source = self.lateral(left, &join.right, parent)?;
            return if crossed { Ok(source) } else { self.filtered(source, condition) };
        }
        let nested = matches!(join.right, FromItem::Join(_));
        let right = if nested && is_lateral(&join.right) {
            let right = self.lateral_join(&left, &join.right, parent)?;
            one_sided(self, &left, &right, kind, &join.right)?;
            right
        } else if !nested && is_lateral(&join.right) {
            if table_function(&join.right)?.is_some() {
                if crossed {
                    return self.lateral(left, &join.right, parent);
                }
                match self.factor(&join.right, parent) {
                    // It does not refer to the left side.
                    Ok(source) => source,
                    Err(error) if kind == JoinType::Inner && matches!(condition, JoinCondition::On(_)) => {
                        let source = self.lateral(left, &join.right, parent).map_err(|_| error)?;
                        return self.filtered(source, condition);
                    }
                    Err(error) if kind == JoinType::Left && always(condition) => {
                        return self
                            .lateral_outer(left, &join.right, parent)
                            .map_err(|inner| if inner.state() == state::UNDEFINED_COLUMN { error } else { inner });
                    }
                    Err(_) => {
                        let right = self.lateral_call(&left, &join.right, parent)?;
                        one_sided(self, &left, &right, kind, &join.right)?;
                        right
                    }
                }
            } else {
                let right = self.lateral_subquery(&left, &join.right, parent)?;
                one_sided(self, &left, &right, kind, &join.right)?;
                right
            }
        } else {
            self.beside(&left.scope.relations, || self.factor(&join.right, parent))?
        };
        if crossed {
            return self.cross(left, right);
        }
        let left = if matches!(kind, JoinType::Right | JoinType::Full) { self.marked(left)? } else { left };
        let within = match &right.plan {
            LogicalPlan::Subquery(subquery) => &subquery.subquery,
            plan => plan,
        };
        let never_lacks = always(condition) && is_ungrouped_aggregate(within);
        let lacks = matches!(kind, JoinType::Left | JoinType::Full) && !never_lacks;
        let right = if lacks { self.marked(right)? } else { right };
        match condition {
            JoinCondition::On(condition) => {
                let left_plan = left.plan;
                let right_plan = right.plan;
                let sides = [first_column(&left.scope), first_column(&right.scope)];
                let mut scope = self.joined_scope(left.scope, right.scope)?;
                let schema = left_plan.schema().join(right_plan.schema())?;
                scope.schema = Some(Arc::new(schema));
                // For an inner join, a NULL condition has the effect of false.
                let on = self.on(condition, &scope, kind == JoinType::Inner)?;
                let (mut on, mut of_pairs) = (split_conjunction_owned(on), Vec::new());
                if kind == JoinType::Inner {
                    // A volatile condition is evaluated for each pair, as in WHERE. It has no column by which to push
                    // it to a side.
                    (of_pairs, on) = on.into_iter().partition(|part| calls(part, is_volatile_function));
                } else if let [Some(of_left), Some(of_right)] = sides {
                    // The same holds for an outer join, but there it must stay in the condition.
                    let tied = |part: Expr| match calls(&part, is_volatile_function) {
                        true => of_pair(part, of_left.clone(), of_right.clone()),
                        false => part,
                    };
                    on = on.into_iter().map(tied).collect();
                }
                let left_plan = LogicalPlanBuilder::from(left_plan);
                let on = conjunction(on).unwrap_or_else(|| Expr::Literal(Datum::Boolean(Some(true)), None));
                let joined = left_plan.join_on(right_plan, kind, Some(on))?;
                match conjunction(of_pairs) {
                    Some(of_pairs) => finish(joined.filter(of_pairs)?, scope),
                    None => finish(joined, scope),
                }
            }
            JoinCondition::Using(columns, alias) => {
                let names: Vec<String> = columns.iter().map(|name| name.value.clone()).collect();
                if let Some(name) =
                    names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|other| other == *name))
                {
                    let message = format!("column name \"{}\" appears more than once in USING clause", name.1);
                    return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
                }
                let mut source = self.using(left, right, kind, &names)?;
                if let Some(alias) = alias {
                    let name = alias.value.clone();
                    if source.scope.relations.iter().any(|relation| relation.name == name) {
                        let message = format!("table name \"{name}\" specified more than once");
                        return Err(SqlError::new(state::DUPLICATE_ALIAS, message));
                    }
                    let columns = source.scope.split_columns().1.iter().take(names.len()).cloned().collect();
                    let unlockable = Some("a join");
                    let relation = ScopeRelation { unlockable, ..ScopeRelation::of_columns(name, columns) };
                    source.scope.relations.push(relation);
                }
                Ok(source)
            }
            JoinCondition::Natural => {
                let mut names = Vec::new();
                for column in left.scope.split_columns().1 {
                    if right.scope.visible.iter().any(|other| other.name == column.name)
                        && !names.contains(&column.name)
                    {
                        names.push(column.name.clone());
                    }
                }
                self.using(left, right, kind, &names)
            }
            JoinCondition::None => self.cross(left, right),
        }
    }

    /// Marks an optional side of an outer join. For relations without row keys it adds a column that is NULL if there
    /// is no row. Then their whole row is NULL, not a row of NULLs.
    fn marked<'p>(&self, mut source: Source<'p>) -> Result<Source<'p>> {
        let lacks = |relation: &ScopeRelation| relation.key.is_none() && relation.present.is_none() && !relation.scalar;
        if !source.scope.relations.iter().any(lacks) {
            return Ok(source);
        }
        let name = format!("{PRESENT}{}", self.unique(""));
        let mark = |plan: LogicalPlan| {
            let mut columns: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
            columns.push(Expr::Literal(Datum::Boolean(Some(true)), None).alias(&name));
            LogicalPlanBuilder::from(plan).project(columns)
        };
        let builder = match source.plan {
            // A subquery that refers to the other side is marked within.
            LogicalPlan::Subquery(subquery) => {
                let within = mark(Arc::unwrap_or_clone(subquery.subquery))?.build()?;
                let subquery = Subquery { subquery: Arc::new(within), ..subquery };
                LogicalPlanBuilder::from(LogicalPlan::Subquery(subquery))
            }
            plan => mark(plan)?,
        };
        let present = Column::new_unqualified(&name);
        for relation in source.scope.relations.iter_mut().filter(|relation| lacks(relation)) {
            relation.present = Some(present.clone());
        }
        finish(builder, source.scope)
    }

    fn filtered<'p>(&self, source: Source<'p>, condition: &JoinCondition) -> Result<Source<'p>> {
        match condition {
            JoinCondition::On(condition) => {
                let on = self.on(condition, &source.scope, false)?;
                finish(LogicalPlanBuilder::from(source.plan).filter(on)?, source.scope)
            }
            _ => Err(SqlError::unsupported("USING with a LATERAL function")),
        }
    }

    /// Binds the condition of a join, which cannot see the items before the comma.
    fn on(&self, condition: &ast::Expr, scope: &Scope<'_>, conjunct: bool) -> Result<Expr> {
        let bind = |scope: &Scope<'_>| self.predicate(condition, Env { conjunct, ..Env::new(scope, Clause::JoinOn) });
        match scope.behind_comma() {
            Some((behind, before)) => self.beside(before, || bind(&behind)),
            None => bind(scope),
        }
    }

    /// Converts a column of USING to the common type of both sides.
    fn merged(&self, column: ScopeColumn, ty: SqlType) -> Result<ScopeColumn> {
        if column.ty == ty {
            return Ok(column);
        }
        let expr = self.coerce(column.typed(), ty)?.expr;
        Ok(ScopeColumn { expr, ty, table_oid: 0, attnum: 0, ..column })
    }

    /// USING: the named columns are compared and merged.
    fn using<'p>(&self, left: Source<'p>, right: Source<'p>, kind: JoinType, names: &[String]) -> Result<Source<'p>> {
        let (left, right) = match kind {
            JoinType::Full => (self.with_computed(left, names)?, self.with_computed(right, names)?),
            _ => (left, right),
        };
        let mut merged = Vec::new();
        let mut conditions = Vec::new();
        for name in names {
            let of_left = only(&left.scope, name, "left")?;
            let of_right = only(&right.scope, name, "right")?;
            let equal = self.resolver.operator("=", Some(of_left.read()), of_right.read())?;
            conditions.push(equal.expr);
            let ty = if of_left.ty == of_right.ty {
                of_left.ty
            } else {
                self.resolver.common_type("JOIN/USING", &[of_left.ty, of_right.ty])?.plain()
            };
            // Use the side without a conversion, the left one first. An outer join uses the side that is always
            // present.
            let mut column = match kind {
                JoinType::Full => {
                    let both = vec![self.coerce(of_left.typed(), ty)?.expr, self.coerce(of_right.typed(), ty)?.expr];
                    let expr = functions::coalesce(both);
                    ScopeColumn { name: name.clone(), expr, ty, table_oid: 0, attnum: 0, reading: None }
                }
                JoinType::Right => self.merged(of_right, ty)?,
                JoinType::Inner if of_left.ty != ty && of_right.ty == ty => of_right,
                _ => self.merged(of_left, ty)?,
            };
            column.name.clone_from(name);
            merged.push(column);
        }
        let rest = |scope: &Scope<'p>| -> Vec<ScopeColumn> {
            scope.split_columns().1.iter().filter(|column| !names.contains(&column.name)).cloned().collect()
        };
        let mut visible = left.scope.split_columns().0.to_vec();
        visible.extend(merged);
        visible.extend(rest(&left.scope));
        visible.extend(rest(&right.scope));
        let left_plan = left.plan;
        let right_plan = right.plan;
        let mut scope = self.joined_scope(left.scope, right.scope)?;
        scope.visible = visible;
        if conditions.is_empty() {
            let on = Expr::Literal(Datum::Boolean(Some(true)), None);
            conditions.push(on);
        }
        finish(LogicalPlanBuilder::from(left_plan).join_on(right_plan, kind, conditions)?, scope)
    }

    /// A side of a join whose named columns are computed as columns of its plan. A FULL JOIN evaluates a merged value
    /// twice. So a chain of n such joins would evaluate it 2^n times.
    fn with_computed<'p>(&self, source: Source<'p>, names: &[String]) -> Result<Source<'p>> {
        let Source { plan, mut scope } = source;
        let mut exprs: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let known = exprs.len();
        for seen in scope.visible.iter_mut().filter(|seen| names.contains(&seen.name)) {
            if !matches!(seen.expr, Expr::Column(_)) {
                let name = self.unique("c");
                exprs.push(std::mem::replace(&mut seen.expr, column(name.clone())).alias(name));
            }
        }
        if exprs.len() == known {
            return Ok(Source { plan, scope });
        }
        finish(LogicalPlanBuilder::from(plan).project(exprs)?, scope)
    }
}

/// The error 42P10 for a LATERAL reference to a side that may have no row.
fn one_sided(
    binder: &Binder<'_>,
    left: &Source<'_>,
    right: &Source<'_>,
    kind: JoinType,
    written: &FromItem,
) -> Result<()> {
    if !matches!(kind, JoinType::Right | JoinType::Full) || !matches!(right.plan, LogicalPlan::Subquery(_)) {
        return Ok(());
    }
    let outer = super::subquery::outer_columns(&right.plan);
    let is_outer = |column: &ScopeColumn| {
        outer.iter().any(|outer| match (outer, &column.expr) {
            (Expr::OuterReferenceColumn(_, outer), Expr::Column(own)) => outer == own,
            _ => false,
        })
    };
    let Some(seen) = left.scope.relations.iter().find(|relation| relation.columns.iter().any(is_outer)) else {
        return Ok(());
    };
    let message = format!("invalid reference to FROM-clause entry for table \"{}\"", seen.name);
    let error = SqlError::new(state::INVALID_COLUMN_REFERENCE, message)
        .detail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.");
    let column = seen.columns.iter().find(|column| is_outer(column));
    let place = column.and_then(|column| binder.place_of_column(written, &seen.name, &column.name));
    Err(binder.at(error, place.unwrap_or(Span::NONE)))
}

/// A column of one side of a join.
fn first_column(side: &Scope<'_>) -> Option<Expr> {
    let columns = side.relations.iter().flat_map(|relation| &relation.columns);
    columns.map(|column| &column.expr).find(|expr| matches!(expr, Expr::Column(_))).cloned()
}

/// Whether a join's condition is `ON true`.
fn always(condition: &JoinCondition) -> bool {
    match condition {
        JoinCondition::On(condition) => {
            matches!(condition.kind, ast::ExprKind::Literal(ast::Literal::Boolean(true)))
        }
        _ => false,
    }
}

fn only(scope: &Scope<'_>, name: &str, side: &str) -> Result<ScopeColumn> {
    let mut found = scope.split_columns().1.iter().filter(|column| column.name == name);
    match (found.next(), found.next()) {
        (Some(column), None) => Ok(column.clone()),
        (Some(_), Some(_)) => {
            let message = format!("common column name \"{name}\" appears more than once in {side} table");
            Err(SqlError::new(state::AMBIGUOUS_COLUMN, message))
        }
        (None, _) => {
            let message = format!("column \"{name}\" specified in USING clause does not exist in {side} table");
            Err(SqlError::new(state::UNDEFINED_COLUMN, message))
        }
    }
}

fn finish(builder: LogicalPlanBuilder, mut scope: Scope<'_>) -> Result<Source<'_>> {
    let plan = builder.build()?;
    scope.schema = Some(plan.schema().clone());
    Ok(Source { plan, scope })
}

/// The error 42712 for a name that already exists on the left.
pub fn no_clash(left: &Scope<'_>, right: &[ScopeRelation]) -> Result<()> {
    for relation in right {
        let clash = left.relations.iter().any(|other| {
            other.name == relation.name
                && (other.schema == relation.schema || other.schema.is_none() || relation.schema.is_none())
        });
        if clash {
            let message = format!("table name \"{}\" specified more than once", relation.name);
            return Err(SqlError::new(state::DUPLICATE_ALIAS, message));
        }
    }
    Ok(())
}
