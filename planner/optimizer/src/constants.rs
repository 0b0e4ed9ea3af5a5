//! [`check_constants`]: evaluates a statement's constant expressions while it is planned. So `SELECT 1/0 FROM t` fails
//! with 22012 even if the table is empty, as in PostgreSQL. It does not change the plan: the optimizer folds constants.
//!
//! The order is PostgreSQL's (manual, 4.2.14 and 38.7). Constants exclude branches of CASE, COALESCE, AND and OR; such
//! branches are not evaluated. Expressions that depend on a row or on the session are not evaluated either.

use super::correlated::subquery_of;
use super::strict::{folded, strict_type};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::expr::Exists;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{BinaryExpr, Case, Expr, LogicalPlan, Operator};
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_expr::create_physical_expr;
use functions::COALESCE;
use functions::guarded_case::is_searched;
use sql_error::value_size::folding;
use sql_error::{Result, SqlError};
use std::sync::Arc;

/// Evaluates the constant expressions of a plan. Errors: those of the expressions.
pub fn check_constants(plan: &LogicalPlan, optimizer: &dyn OptimizerConfig) -> Result<()> {
    let Err(error) = Constants { needed: None }.check(plan) else { return Ok(()) };
    // PostgreSQL does not evaluate subquery columns that are not used.
    let needed = Constants { needed: Some(optimizer) };
    match pruned(plan, optimizer) {
        Ok(pruned) => needed.check(&pruned),
        Err(_) => Err(error),
    }
}

/// The plan without unused columns.
fn pruned(plan: &LogicalPlan, optimizer: &dyn OptimizerConfig) -> Result<LogicalPlan> {
    Ok(OptimizeProjections::new().rewrite(plan.clone(), optimizer)?.data)
}

struct Constants<'a> {
    /// The optimizer that removes unused columns. `None` keeps all columns.
    needed: Option<&'a dyn OptimizerConfig>,
}

impl Constants<'_> {
    fn check(&self, plan: &LogicalPlan) -> Result<()> {
        for expression in plan.expressions() {
            self.fold(expression).map_err(SqlError::from)?;
        }
        plan.inputs().into_iter().try_for_each(|input| self.check(input))
    }

    fn check_subquery(&self, plan: &LogicalPlan) -> Result<()> {
        match self.needed {
            Some(optimizer) => self.check(&pruned(plan, optimizer)?),
            None => self.check(plan),
        }
    }

    /// The columns of EXISTS are not used.
    fn check_exists(&self, plan: &LogicalPlan) -> Result<()> {
        match plan {
            LogicalPlan::Projection(projection) if self.needed.is_some() => self.check_exists(&projection.input),
            other => self.check_subquery(other),
        }
    }

    /// Evaluates the constant parts of an expression.
    fn fold(&self, expression: Expr) -> DataFusionResult<Expr> {
        match expression {
            Expr::Literal(..) | Expr::Column(_) | Expr::Placeholder(_) => Ok(expression),
            Expr::Case(case) => self.fold_case(case),
            Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
                let left = self.fold(*left)?;
                if truth(&left) == Some(op == Operator::Or) {
                    return Ok(left);
                }
                let right = self.fold(*right)?;
                if truth(&right) == Some(op == Operator::Or) {
                    return Ok(right);
                }
                computed(Expr::BinaryExpr(BinaryExpr { left: Box::new(left), op, right: Box::new(right) }))
            }
            Expr::ScalarFunction(mut call) if call.name() == COALESCE => {
                let mut left = Vec::with_capacity(call.args.len());
                for argument in call.args {
                    match self.fold(argument)? {
                        Expr::Literal(value, _) if value.is_null() => {}
                        value @ Expr::Literal(..) => {
                            left.push(value);
                            break;
                        }
                        other => left.push(other),
                    }
                }
                match left.as_slice() {
                    [only @ Expr::Literal(..)] => Ok(only.clone()),
                    _ => {
                        call.args = left;
                        Ok(Expr::ScalarFunction(call))
                    }
                }
            }
            Expr::Exists(Exists { ref subquery, .. }) => {
                self.check_exists(&subquery.subquery)?;
                Ok(expression)
            }
            other if strict_type(&other).is_some() => {
                // A NULL operand is found before the other operands' subqueries are evaluated.
                let subqueries = |child: &Expr| child.exists(|part| Ok(subquery_of(part).is_some()));
                let fold = |child: Expr| self.fold(child).map(Transformed::yes);
                let plain = |child: Expr| if subqueries(&child)? { Ok(Transformed::no(child)) } else { fold(child) };
                match folded(other.map_children(plain)?.data)? {
                    Transformed { data, transformed: true, .. } => Ok(data),
                    Transformed { data, .. } => {
                        let rest =
                            |child: Expr| if subqueries(&child)? { fold(child) } else { Ok(Transformed::no(child)) };
                        computed(folded(data.map_children(rest)?.data)?.data)
                    }
                }
            }
            other => {
                if let Some(subquery) = subquery_of(&other) {
                    self.check_subquery(&subquery.subquery)?;
                }
                computed(other.map_children(|child| self.fold(child).map(Transformed::yes))?.data)
            }
        }
    }

    /// Evaluates all branches except those that a constant condition excludes: a row may choose any of them.
    fn fold_case(&self, case: Case) -> DataFusionResult<Expr> {
        // `CASE x WHEN y` compares values, which is left to DataFusion.
        if !is_searched(&case) {
            return Ok(Expr::Case(case));
        }
        let Case { expr: _, when_then_expr, else_expr } = case;
        let (mut branches, mut certain) = (Vec::with_capacity(when_then_expr.len()), None);
        for (when, then) in when_then_expr {
            let when = self.fold(*when)?;
            match (&when, truth(&when)) {
                (_, Some(true)) => {
                    certain = Some(self.fold(*then)?);
                    break;
                }
                (Expr::Literal(..), _) => {}
                _ => branches.push((Box::new(when), Box::new(self.fold(*then)?))),
            }
        }
        let otherwise = match (certain, else_expr) {
            (Some(certain), _) => Some(certain),
            (None, Some(otherwise)) => Some(self.fold(*otherwise)?),
            (None, None) => None,
        };
        match otherwise {
            Some(certain) if branches.is_empty() => Ok(certain),
            otherwise => Ok(Expr::Case(Case::new(None, branches, otherwise.map(Box::new)))),
        }
    }
}

/// The truth value of a constant condition. `None` for NULL and for other expressions.
fn truth(expression: &Expr) -> Option<bool> {
    match expression {
        Expr::Literal(ScalarValue::Boolean(value), _) => *value,
        _ => None,
    }
}

/// The value of an expression whose parts are constants.
fn computed(expression: Expr) -> DataFusionResult<Expr> {
    use Expr as E;
    let kept = matches!(
        expression,
        E::ScalarFunction(_)
            | E::BinaryExpr(_)
            | E::Cast(_)
            | E::Not(_)
            | E::IsNull(_)
            | E::IsNotNull(_)
            | E::IsTrue(_)
            | E::IsFalse(_)
            | E::Negative(_)
            | E::Alias(_)
    );
    if !kept || expression.is_volatile_node() {
        return Ok(expression);
    }
    let mut constant = true;
    expression.apply_children(|child| {
        constant &= matches!(child, Expr::Literal(..));
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !constant {
        return Ok(expression);
    }
    let (schema, options) = (Arc::new(Schema::empty()), RecordBatchOptions::new().with_row_count(Some(1)));
    let row = RecordBatch::try_new_with_options(schema, vec![], &options)?;
    let physical = match create_physical_expr(
        &expression,
        &DFSchema::empty(),
        &ExecutionProps::new(),
        &PhysicalPlanningContext::default(),
    ) {
        Ok(physical) => physical,
        // An expression that needs its context is not a constant.
        Err(_) => return Ok(expression),
    };
    let value = match folding(|| physical.evaluate(&row)) {
        // A value that is too large for a plan is computed at run time.
        (_, true) => return Ok(expression),
        (value, false) => value?.into_array(1)?,
    };
    Ok(Expr::Literal(ScalarValue::try_from_array(&value, 0)?, None))
}
