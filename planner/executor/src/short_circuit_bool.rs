//! [`LazyJunction`]: AND and OR that evaluate their right side only for rows that the left side leaves undecided, as in
//! PostgreSQL. An example is `a <> 0 AND 10 / a > 1`. DataFusion evaluates the right side for all rows of a batch
//! unless few are undecided. A lazy junction also does so if the right side has no side effects. If that fails, it
//! evaluates the right side again for just the undecided rows.
//!
//! [`guarded`] inserts lazy junctions if a right side may fail. It moves operands that cannot fail to the front.

use super::lazy_coalesce::LazyCoalesce;
use super::one_value::{OneValue, takes_scalars};
use datafusion::arrow::array::{AsArray, BooleanArray};
use datafusion::arrow::compute::{and_kleene, or_kleene};
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, internal_err};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{ColumnarValue, Expr, Operator, Volatility};
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr, create_physical_expr, split_conjunction};
use functions::COALESCE;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Rewrites an expression so that AND and OR do not evaluate a right side that may fail for rows that do not need it.
pub fn guarded(expr: &Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
    let junction = expr.downcast_ref::<BinaryExpr>().filter(|it| matches!(it.op(), Operator::And | Operator::Or));
    let Some(junction) = junction else {
        let children = expr.children();
        let mut guarded = children.iter().map(|child| guarded(child)).collect::<Result<Vec<_>>>()?;
        if takes_scalars(expr) {
            guarded = guarded.into_iter().map(OneValue::of).collect();
        }
        let coalesce = expr.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| call.fun().name() == COALESCE);
        if coalesce && !children.iter().skip(1).all(|operand| is_safe(operand)) {
            return Ok(Arc::new(LazyCoalesce::new(guarded)));
        }
        let same = children.iter().zip(&guarded).all(|(before, after)| Arc::ptr_eq(before, after));
        return if same { Ok(Arc::clone(expr)) } else { Arc::clone(expr).with_new_children(guarded) };
    };
    if is_safe(expr) {
        return Ok(Arc::clone(expr));
    }
    if *junction.op() == Operator::Or {
        return Ok(joined(guarded(junction.left())?, Operator::Or, guarded(junction.right())?));
    }
    let mut parts = split_conjunction(expr).into_iter().map(guarded).collect::<Result<Vec<_>>>()?;
    if !parts.iter().any(has_effects) {
        // The sort is stable: operands that may fail keep their order.
        parts.sort_by_key(|part| !is_safe(part));
    }
    let all = parts.into_iter().reduce(|left, right| joined(left, Operator::And, right));
    all.map_or_else(|| internal_err!("an AND of nothing"), Ok)
}

/// Like [`guarded`], for a condition that keeps the rows for which it is true. There NULL decides like false.
pub fn guarded_condition(expr: &Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
    let guarded = guarded(expr)?;
    Ok(strict(&guarded))
}

/// Marks the top-level junctions as part of a condition.
fn strict(expr: &Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    match expr.downcast_ref::<LazyJunction>() {
        Some(junction) if junction.op == Operator::And => Arc::new(LazyJunction {
            left: strict(&junction.left),
            op: junction.op,
            right: strict(&junction.right),
            whole: junction.whole,
            condition: true,
        }),
        _ => Arc::clone(expr),
    }
}

/// Compiles an expression over rows of a schema, with lazy junctions.
pub fn compiled(expr: &Expr, schema: &DFSchema) -> Result<Arc<dyn PhysicalExpr>> {
    guarded(&create_physical_expr(expr, schema, &ExecutionProps::new(), &PhysicalPlanningContext::default())?)
}

fn joined(left: Arc<dyn PhysicalExpr>, op: Operator, right: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    match is_safe(&right) {
        true => Arc::new(BinaryExpr::new(left, op, right)),
        false => {
            let whole = !has_effects(&right);
            Arc::new(LazyJunction { left, op, right, whole, condition: false })
        }
    }
}

/// Whether an expression cannot fail for any row.
fn is_safe(expr: &Arc<dyn PhysicalExpr>) -> bool {
    const FUNCTIONS: [&str; 8] = [
        functions::NUMERIC_KEY,
        functions::INTERVAL_KEY,
        functions::distinctness::NOT_DISTINCT,
        functions::in_list::NAME,
        "= any",
        functions::COALESCE,
        "cast_implicit_bigint",
        "cast_implicit_integer",
    ];
    let safe = if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        binary.op().is_logic_operator()
            || binary.op().supports_propagation()
            || *binary.op() == Operator::IsDistinctFrom
    } else if let Some(call) = expr.downcast_ref::<ScalarFunctionExpr>() {
        // A slot function has the name of its placeholder.
        let matches = ["textregexeq", "texticregexeq"].contains(&call.fun().name());
        // A constant pattern was checked while planning. Another pattern may be invalid.
        let pattern = call.args().get(1).is_some_and(|pattern| pattern.is::<Literal>());
        call.name().starts_with('$') || FUNCTIONS.contains(&call.fun().name()) || matches && pattern
    } else {
        expr.is::<Column>()
            || expr.is::<Literal>()
            || expr.is::<NotExpr>()
            || expr.is::<IsNullExpr>()
            || expr.is::<IsNotNullExpr>()
            || expr.is::<InListExpr>()
            || expr.is::<LikeExpr>()
            || expr.is::<OneValue>()
    };
    safe && expr.children().into_iter().all(is_safe)
}

/// Whether it has side effects, so that it must be evaluated exactly once.
pub fn has_effects(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let mut found = false;
    let walked = expr.apply(|part| {
        found |= part.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| {
            call.fun().signature().volatility == Volatility::Volatile && !call.name().starts_with('$')
        });
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || walked.is_err()
}

/// AND or OR with a lazy right side.
#[derive(Debug)]
struct LazyJunction {
    left: Arc<dyn PhysicalExpr>,
    op: Operator,
    right: Arc<dyn PhysicalExpr>,
    /// Whether the right side may be evaluated for all rows first, and again for just the undecided rows if that fails.
    whole: bool,
    /// Whether it is at the top level of a condition, where NULL counts as false.
    condition: bool,
}

impl LazyJunction {
    /// The value of the left side that decides the result.
    fn decides(&self) -> bool {
        self.op == Operator::Or
    }
}

impl fmt::Display for LazyJunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        BinaryExpr::new(Arc::clone(&self.left), self.op, Arc::clone(&self.right)).fmt(f)
    }
}

impl PartialEq for LazyJunction {
    fn eq(&self, other: &Self) -> bool {
        self.op == other.op && self.left.eq(&other.left) && self.right.eq(&other.right)
    }
}

impl Eq for LazyJunction {}

impl Hash for LazyJunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.op.hash(state);
        self.left.hash(state);
        self.right.hash(state);
    }
}

fn booleans(value: ColumnarValue, rows: usize) -> Result<BooleanArray> {
    match value.into_array(rows)?.as_boolean_opt() {
        Some(array) => Ok(array.clone()),
        None => internal_err!("a condition that is not boolean"),
    }
}

impl PhysicalExpr for LazyJunction {
    fn data_type(&self, _schema: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }
    fn nullable(&self, schema: &Schema) -> Result<bool> {
        Ok(self.left.nullable(schema)? || self.right.nullable(schema)?)
    }
    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        BinaryExpr::new(Arc::clone(&self.left), self.op, Arc::clone(&self.right)).return_field(schema)
    }
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        /// If at least one in this many rows needs the right side, evaluating it for all rows is cheaper than copying
        /// those rows.
        const FEW: usize = 5;
        let rows = batch.num_rows();
        let left = booleans(self.left.evaluate(batch)?, rows)?;
        let decides = self.decides();
        let needs = |value: Option<bool>| match self.condition {
            true => value == Some(true),
            false => value != Some(decides),
        };
        let open: BooleanArray = left.iter().map(|value| Some(needs(value))).collect();
        let needed = open.true_count();
        if needed == 0 {
            return Ok(ColumnarValue::Array(Arc::new(left)));
        }
        let at_once = needed == rows || self.whole && needed.saturating_mul(FEW) >= rows;
        let right = match at_once.then(|| self.right.evaluate(batch)) {
            Some(Ok(right)) => right,
            Some(Err(error)) if needed == rows => return Err(error),
            Some(Err(_)) | None => self.right.evaluate_selection(batch, &open)?,
        };
        let right = booleans(right, rows)?;
        let both = if decides { or_kleene(&left, &right)? } else { and_kleene(&left, &right)? };
        debug_assert_eq!(both.len(), rows);
        Ok(ColumnarValue::Array(Arc::new(both)))
    }
    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.left, &self.right]
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        let Ok([left, right]) = <[_; 2]>::try_from(children) else {
            return internal_err!("a junction has two sides");
        };
        let whole = !has_effects(&right);
        Ok(Arc::new(LazyJunction { left, op: self.op, right, whole, condition: self.condition }))
    }
    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        BinaryExpr::new(Arc::clone(&self.left), self.op, Arc::clone(&self.right)).fmt_sql(f)
    }
}
