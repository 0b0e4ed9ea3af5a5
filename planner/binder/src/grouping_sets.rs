//! Several grouping sets: each row is repeated for each set. Keys outside the set are NULL.

use super::binder::{Binder, column};
use super::grouping::GroupBy;
use super::literal::boolean;
use datafusion::functions_aggregate::grouping::grouping_udaf;
use datafusion::logical_expr::{Case, Expr, JoinType, LogicalPlan, LogicalPlanBuilder};
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use types::{Datum, SqlType};

/// GROUPING must have fewer arguments than this.
const GROUPING_BELOW: usize = 32;

/// Rows repeated for each grouping set.
pub struct MultipliedRows {
    /// The plan of the rows, with the columns below added to theirs.
    pub plan: LogicalPlan,
    /// For each key, the expression that is compared and the one that is shown.
    pub keys: Vec<(Expr, Expr)>,
    /// Further keys, which distinguish the sets.
    pub set: Vec<Expr>,
    /// True for real rows. A set without keys has a group even if there are none. `None` if no such set exists.
    pub real: Option<Expr>,
    /// Calls of GROUPING, and their values.
    pub groupings: Vec<(Expr, Expr)>,
}

/// A call of GROUPING before the grouping keys are known.
pub fn grouping_call(args: Vec<TypedExpr>) -> Result<TypedExpr> {
    if args.len() >= GROUPING_BELOW {
        let message = format!("GROUPING must have fewer than {GROUPING_BELOW} arguments");
        return Err(SqlError::new("54023", message));
    }
    let args = args.into_iter().map(|arg| arg.expr).collect();
    Ok(TypedExpr { expr: grouping_udaf().call(args), ty: SqlType::INT4 })
}

/// Whether an aggregate call is GROUPING.
pub fn is_grouping(call: &Expr) -> bool {
    matches!(call, Expr::AggregateFunction(call) if call.func.name() == grouping_udaf().name())
}

/// The positions of GROUPING's arguments among the keys. Errors: 42803 if an argument is not a key.
pub fn grouping_places(call: &Expr, keys: &[TypedExpr]) -> Result<Vec<usize>> {
    let Expr::AggregateFunction(call) = call else { return Err(SqlError::internal("GROUPING is not a call")) };
    let place = |arg: &Expr| {
        keys.iter().position(|key| key.expr == *arg).ok_or_else(|| {
            let message = "arguments to GROUPING must be grouping expressions of the associated query level";
            SqlError::new(state::GROUPING_ERROR, message)
        })
    };
    call.params.args.iter().map(place).collect()
}

/// The value of GROUPING for a set: one bit per argument, set if the set lacks the argument.
fn grouping_value(places: &[usize], set: &[usize]) -> i32 {
    places.iter().fold(0, |bits, place| (bits << 1) | i32::from(!set.contains(place)))
}

impl Binder<'_> {
    /// Repeats rows for the sets of `group_by`. `calls` are the distinct calls of GROUPING.
    pub fn multiply(&self, plan: LogicalPlan, group_by: &GroupBy, calls: &[Expr]) -> Result<MultipliedRows> {
        let GroupBy { keys, sets } = group_by;
        // Evaluate the keys once per row.
        let own: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let mut exprs = own.clone();
        let mut held = |expr: Expr| match expr {
            Expr::Column(_) => expr,
            other => {
                let name = self.unique("k");
                exprs.push(other.alias(&name));
                column(name)
            }
        };
        let mut pairs = Vec::new();
        for typed in keys {
            let key = self.compared(typed)?;
            let same = key == typed.expr;
            let key = held(key);
            let shown = if same { key.clone() } else { held(typed.expr.clone()) };
            pairs.push((key, shown));
        }
        let real = sets.iter().any(Vec::is_empty).then(|| self.unique("k"));
        exprs.extend(real.iter().map(|name| boolean(true).expr.alias(name)));
        let rows = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;

        let calls: Vec<(&Expr, Vec<usize>)> =
            calls.iter().map(|call| Ok((call, grouping_places(call, keys)?))).collect::<Result<_>>()?;
        let (list, names) = self.set_list(group_by, &calls)?;
        let mut names = names.into_iter();
        let (number, empty) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
        let member: Vec<String> = names.by_ref().take(keys.len()).collect();
        let groupings: Vec<(Expr, Expr)> =
            calls.iter().zip(names).map(|((call, _), name)| ((*call).clone(), column(name))).collect();

        let list = LogicalPlanBuilder::from(list);
        let multiplied = match &real {
            None => list.cross_join(rows)?,
            // Without rows, only sets without keys remain.
            Some(real) => {
                let kept = column(empty).or(column(real).is_not_null());
                list.join_on(rows, JoinType::Left, [boolean(true).expr])?.filter(kept)?
            }
        };
        let mut exprs = own;
        let mut of_set = |expr: &Expr, member: &String| {
            let name = self.unique("k");
            let branch = (Box::new(column(member)), Box::new(expr.clone()));
            let case = Case { expr: None, when_then_expr: vec![branch], else_expr: None };
            exprs.push(Expr::Case(case).alias(&name));
            column(name)
        };
        let mut keys = Vec::new();
        for ((key, shown), member) in pairs.iter().zip(&member) {
            let compared = of_set(key, member);
            keys.push((compared.clone(), if key == shown { compared } else { of_set(shown, member) }));
        }
        let mut set = vec![column(number)];
        set.extend(groupings.iter().map(|(_, value)| value.clone()));
        exprs.extend(set.iter().cloned());
        let real = real.map(column);
        exprs.extend(real.clone());
        let plan = multiplied.project(exprs)?.build()?;
        Ok(MultipliedRows { plan, keys, set, real: real.map(Expr::is_not_null), groupings })
    }

    /// A row for each set: its number, whether it is empty, whether it has each key, and the values of GROUPING.
    fn set_list(&self, group_by: &GroupBy, calls: &[(&Expr, Vec<usize>)]) -> Result<(LogicalPlan, Vec<String>)> {
        let literal = |value: Datum| Expr::Literal(value, None);
        let row = |(number, set): (usize, &Vec<usize>)| {
            let mut row = vec![literal(Datum::Int32(i32::try_from(number).ok())), boolean(set.is_empty()).expr];
            row.extend((0..group_by.keys.len()).map(|place| boolean(set.contains(&place)).expr));
            row.extend(calls.iter().map(|(_, places)| literal(Datum::Int32(Some(grouping_value(places, set))))));
            row
        };
        let rows = group_by.sets.iter().enumerate().map(row).collect();
        let mut types = vec![SqlType::INT4, SqlType::BOOL];
        types.extend(group_by.keys.iter().map(|_| SqlType::BOOL));
        types.extend(calls.iter().map(|_| SqlType::INT4));
        self.rows(rows, &types)
    }
}

/// Restricts an aggregate to real rows.
pub fn of_real_rows(call: Expr, real: Option<&Expr>) -> Expr {
    match (call, real) {
        (Expr::AggregateFunction(mut call), Some(real)) => {
            let filter = call.params.filter.take();
            call.params.filter = Some(Box::new(match filter {
                Some(filter) => real.clone().and(*filter),
                None => real.clone(),
            }));
            Expr::AggregateFunction(call)
        }
        (call, _) => call,
    }
}
