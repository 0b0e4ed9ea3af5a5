//! Functions that return rows: `generate_series`, `unnest`. Their rows are the items of a list, which a plan unnests.

use super::binder::{Binder, column};
use super::expression::{Clause, Env};
use crate::error::{Result, SqlError, state};
use crate::functions::{CastContext, TypedExpr};
use crate::types::SqlType;
use datafusion::common::{Column, UnnestOptions};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

/// A call in a select list.
pub struct RowFunction {
    /// The column its items will be in.
    name: String,
    /// The list.
    list: TypedExpr,
    /// What stands for it in the select list until then.
    stand_in: Expr,
}

impl Binder<'_> {
    /// The rows of a function as a list.
    pub fn list_of_rows(&self, name: &str, args: Vec<TypedExpr>) -> Result<TypedExpr> {
        if name == "generate_series" {
            return self.generate_series(args);
        }
        let [array] = args.as_slice() else {
            return Err(SqlError::unsupported("unnest with several arguments"));
        };
        if !array.ty.array {
            let message = format!("function unnest({}) does not exist", array.ty.name());
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
        }
        Ok(array.clone())
    }

    /// `generate_series` of integers as a list.
    fn generate_series(&self, args: Vec<TypedExpr>) -> Result<TypedExpr> {
        if !(2..=3).contains(&args.len()) {
            let types: Vec<String> = args.iter().map(|arg| arg.ty.name()).collect();
            let message = format!("function generate_series({}) does not exist", types.join(", "));
            return Err(SqlError::new(state::UNDEFINED_FUNCTION, message));
        }
        let types: Vec<SqlType> = args.iter().map(|arg| arg.ty).collect();
        let common = self.resolver.common_type("generate_series", &types)?.plain();
        let ty = match common {
            SqlType::INT2 | SqlType::INT4 | SqlType::UNKNOWN => SqlType::INT4,
            SqlType::INT8 => SqlType::INT8,
            other => return Err(SqlError::unsupported(format!("generate_series of type {}", other.name()))),
        };
        let mut values = Vec::new();
        for arg in args {
            let arg = self.coerce(arg, ty)?;
            values.push(self.coerce(arg, SqlType::INT8)?.expr);
        }
        let list = datafusion::functions_nested::range::gen_series_udf().call(values);
        Ok(TypedExpr { expr: list, ty: ty.array_of() })
    }

    /// The items of a series of int8 as a type.
    pub fn row_item(&self, plan: &LogicalPlan, name: &str, ty: SqlType) -> Result<Expr> {
        let item = column(name);
        let have = plan.schema().field_with_unqualified_name(name)?.data_type().clone();
        if have == ty.arrow() {
            return Ok(item);
        }
        Ok(self.resolver.cast(TypedExpr { expr: item, ty: SqlType::INT8 }, ty, CastContext::Explicit)?.expr)
    }

    /// A call in a select list: a column that [`Binder::unnest_row_functions`] makes.
    pub fn row_function(&self, function: &str, args: Vec<TypedExpr>, env: Env<'_>) -> Result<TypedExpr> {
        if env.clause != Clause::Select {
            let message = format!("set-returning functions are not allowed in {}", env.clause.name());
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        let list = self.list_of_rows(function, args)?;
        let ty = list.ty.element();
        let name = self.unique("f");
        let stand_in = column(&name);
        self.row_functions.borrow_mut().push(RowFunction { name, list, stand_in: stand_in.clone() });
        Ok(TypedExpr { expr: stand_in, ty })
    }

    /// Puts the items of lists beside the rows of a plan, all lists in step. Answers what stands for each call.
    pub fn unnest_row_functions(
        &self,
        plan: LogicalPlan,
        calls: Vec<RowFunction>,
    ) -> Result<(LogicalPlan, Vec<(Expr, Expr)>)> {
        let mut exprs: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let mut columns = Vec::new();
        for call in &calls {
            exprs.push(call.list.expr.clone().alias(&call.name));
            columns.push(Column::from_name(&call.name));
        }
        let options = UnnestOptions::new().with_preserve_nulls(false);
        let plan =
            LogicalPlanBuilder::from(plan).project(exprs)?.unnest_columns_with_options(columns, options)?.build()?;
        let mut items = Vec::new();
        for call in calls {
            items.push((call.stand_in, self.row_item(&plan, &call.name, call.list.ty.element())?));
        }
        Ok((plan, items))
    }
}
