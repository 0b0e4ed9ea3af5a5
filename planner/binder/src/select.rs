//! SELECT: binds its clauses in PostgreSQL's order of evaluation.

use super::binder::{Binder, column};
use super::call::{has_aggregate, has_window};
use super::clauses::check_select;
use super::column_name::column_name;
use super::deferred_projection;
use super::error_position::{place_of_item, place_of_star, written_place};
use super::expression::{Clause, Env};
use super::from::Source;
use super::order::{OrderTarget, plain_name};
use super::query::{BoundQuery, Tail};
use super::record::{all_fields, relation_of};
use super::scope::{Scope, ScopeColumn};
use super::window::windows_over;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use functions::TypedExpr;
use functions::error_position::without_place;
use sql_error::{Result, SqlError, state};
use std::collections::HashMap;
use syntax::Span;
use syntax::ast::{self, ExprKind};
use types::BaseType;

/// An item of a select list, after stars were expanded.
pub struct Item {
    /// Name of the output column.
    pub name: String,
    /// Value of the item.
    pub typed: TypedExpr,
    /// The table it comes from unchanged, or 0.
    pub table_oid: u32,
    /// Its column number in that table, or 0.
    pub attnum: i16,
}

/// An ORDER BY item: an output column or an expression.
struct OrderItem {
    output: Option<usize>,
    typed: Option<TypedExpr>,
    asc: bool,
    nulls_first: bool,
    span: Span,
}

impl Binder<'_> {
    /// Binds a SELECT with the clauses that follow it.
    pub fn select(&self, select: &ast::Select, tail: Tail<'_>, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        check_select(select).map_err(|(error, place)| self.at(error, place))?;
        let around = self.subqueries.take();
        let bound = self.hiding(|| self.select_parts(select, tail, parent));
        self.subqueries.replace(around);
        bound
    }

    fn select_parts(&self, select: &ast::Select, tail: Tail<'_>, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        let around = self.begin_pushing(tail.locks, tail.pushed);
        let from = self.from(&select.from, parent);
        self.end_pushing(around);
        let Source { mut plan, scope } = from?;
        if select.group_by.is_some() {
            // A subquery in GROUP BY is the same as one with equal text in the select list.
            self.subqueries.replace(Some(HashMap::new()));
        }
        let env = Env { scope: &scope, clause: Clause::Select, windows: &select.windows, conjunct: false };
        self.check_windows(env)?;
        let around = self.row_functions.take();
        // Bind in the order in which PostgreSQL reports errors.
        let mut items = self.items(&select.targets, env)?;
        items.extend(self.identities(select, env)?);
        if let Some(filter) = &select.filter {
            let filter = self.predicate(filter, env.within(Clause::Where))?;
            plan = LogicalPlanBuilder::from(plan).filter(filter)?.build()?;
        }
        let names: Vec<String> = items.iter().map(|item| item.name.clone()).collect();
        let mut having =
            select.having.as_ref().map(|having| self.predicate(having, env.within(Clause::Having))).transpose()?;
        let mut order = self.order_items(tail.order_by, &items, &names, env.within(Clause::OrderBy))?;
        let group_by = self.group_by(select.group_by.as_ref(), &mut items, &select.targets, env)?;
        let mut distinct_on = Vec::new();
        if let Some(ast::Distinct { on, .. }) = &select.distinct {
            for expr in on {
                let key = self.target_or_expr(expr, &items, &names, env.within(Clause::OrderBy), "DISTINCT ON")?;
                distinct_on.push(key);
            }
            check_distinct_on(&distinct_on, &order, &items).map_err(|key| {
                let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
                let place = on.get(key).map_or(Span::NONE, written_place);
                self.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, message), place)
            })?;
        }
        let mut row_functions = self.row_functions.replace(around);

        // Aggregates and groups.
        let grouped = group_by.is_some()
            || having.is_some()
            || items.iter().any(|item| has_aggregate(&item.typed.expr))
            || row_functions.iter().any(|function| function.source.expressions().into_iter().any(has_aggregate))
            || order.iter().filter_map(|item| item.typed.as_ref()).any(|typed| has_aggregate(&typed.expr))
            || {
                let mut claimed = Vec::new();
                let sorted = order.iter().filter_map(|item| item.typed.as_ref());
                for typed in items.iter().map(|item| &item.typed).chain(sorted).chain(&distinct_on) {
                    super::outer_aggregate::claimed(&typed.expr, plan.schema(), &mut claimed)?;
                }
                !claimed.is_empty()
            };
        if grouped {
            let what = match (&group_by, &having) {
                (Some(_), _) => "is not allowed with GROUP BY clause",
                (None, Some(_)) => "is not allowed with HAVING clause",
                (None, None) => "is not allowed with aggregate functions",
            };
            self.refuse_locks(tail.locks, what)?;
            self.refuse_pushed(tail.pushed, what)?;
            let mut group_by = group_by.unwrap_or_default();
            for item in &mut items {
                item.typed.expr = without_place(std::mem::take(&mut item.typed.expr));
            }
            // Set-returning calls in grouping keys are evaluated before grouping.
            let keys: Vec<Expr> = group_by.keys.iter().map(|key| key.expr.clone()).collect();
            let sorted = order.iter_mut().filter_map(|item| item.typed.as_mut());
            let listed = items.iter_mut().map(|item| &mut item.typed);
            let parts = listed.chain(sorted).chain(&mut distinct_on).chain(&mut group_by.keys);
            let parts = parts.map(|typed| &mut typed.expr).collect();
            (plan, row_functions) = self.rows_before(plan, row_functions, &keys, parts)?;
            let mut used: Vec<&Expr> = items.iter().map(|item| &item.typed.expr).collect();
            used.extend(having.as_ref());
            used.extend(order.iter().filter_map(|item| item.typed.as_ref().map(|typed| &typed.expr)));
            used.extend(distinct_on.iter().map(|typed| &typed.expr));
            used.extend(row_functions.iter().flat_map(|function| function.source.expressions()));
            let (groups, grouping) = self.group(plan, &scope, group_by, &used).map_err(|error| {
                let place = self.place_of_grouping(&select.targets).filter(|_| error.state() == state::GROUPING_ERROR);
                match place {
                    Some(place) => self.at(error, place),
                    None => error,
                }
            })?;
            let list = &select.targets;
            let whole = list.len() != items.len();
            for (at, item) in items.iter_mut().enumerate() {
                let rebased = grouping.rebase(item.typed.expr.clone())?;
                item.typed.expr = rebased.map_err(|left_over| match list.get(at).filter(|_| !whole) {
                    Some(item) => self.ungrouped(&scope, &left_over, item),
                    None => {
                        let error = self.ungrouped(&scope, &left_over, list);
                        match place_of_star(list).filter(|_| error.fields().position.is_none()) {
                            Some(star) => self.at(error, star),
                            None => error,
                        }
                    }
                })?;
            }
            if let Some(condition) = &mut having {
                let rebased = grouping.rebase(condition.clone())?;
                *condition = rebased.map_err(|left_over| self.ungrouped(&scope, &left_over, &select.having))?;
            }
            for typed in order.iter_mut().filter_map(|item| item.typed.as_mut()).chain(&mut distinct_on) {
                let rebased = grouping.rebase(typed.expr.clone())?;
                typed.expr = rebased.map_err(|left_over| self.ungrouped(&scope, &left_over, tail.order_by))?;
            }
            let mut moved = Vec::with_capacity(row_functions.len());
            for mut function in row_functions {
                function.source = function
                    .source
                    .map(|expr| grouping.rebase(expr)?.map_err(|left_over| self.ungrouped(&scope, &left_over, list)))?;
                moved.push(function);
            }
            row_functions = moved;
            plan = groups;
            if let Some(having) = having {
                plan = LogicalPlanBuilder::from(plan).filter(having)?.build()?;
            }
        }

        // Window functions are next.
        let windowed = items.iter().any(|item| has_window(&item.typed.expr))
            || order.iter().filter_map(|item| item.typed.as_ref()).any(|typed| has_window(&typed.expr))
            || row_functions.iter().flat_map(|function| function.source.expressions()).any(has_window);
        if windowed {
            self.refuse_locks(tail.locks, "is not allowed with window functions")?;
            self.refuse_pushed(tail.pushed, "is not allowed with window functions")?;
            if !row_functions.is_empty() {
                // The same holds for window partition and sort keys.
                let sorted = order.iter_mut().filter_map(|item| item.typed.as_mut());
                let mut parts: Vec<&mut Expr> =
                    items.iter_mut().map(|item| &mut item.typed).chain(sorted).map(|typed| &mut typed.expr).collect();
                let windows = window_calls(&parts)?;
                parts.extend(distinct_on.iter_mut().map(|typed| &mut typed.expr));
                (plan, row_functions) = self.rows_before(plan, row_functions, &windows, parts)?;
            }
            let mut calls = Vec::new();
            let sorted = order.iter_mut().filter_map(|item| item.typed.as_mut());
            let arguments = row_functions.iter().flat_map(|function| function.source.expressions());
            let mut arguments: Vec<Expr> = arguments.cloned().collect();
            let listed = items.iter_mut().map(|item| &mut item.typed).chain(sorted).map(|typed| &mut typed.expr);
            let mut exprs: Vec<&mut Expr> = listed.chain(&mut arguments).collect();
            plan = self.window_keys(plan, exprs.iter_mut().map(|expr| &mut **expr).collect())?;
            for expr in exprs {
                *expr = self.take_windows(expr.clone(), &mut calls)?;
            }
            plan = windows_over(plan, calls)?;
            let mut arguments = arguments.into_iter();
            row_functions.iter_mut().try_for_each(|function| function.set_arguments(&mut arguments))?;
        }

        if select.distinct.is_some() {
            self.refuse_locks(tail.locks, "is not allowed with DISTINCT clause")?;
            self.refuse_pushed(tail.pushed, "is not allowed with DISTINCT clause")?;
        }

        // Set-returning functions are next.
        if !row_functions.is_empty() {
            self.refuse_locks(tail.locks, "is not allowed with set-returning functions in the target list")?;
            self.refuse_pushed(tail.pushed, "is not allowed with set-returning functions in the target list")?;
            let mut rows_decide = tail.ties || select.distinct.is_some() && distinct_on.is_empty();
            let listed = |item: &OrderItem| item.output.and_then(|place| items.get(place)).map(|item| &item.typed);
            for typed in order.iter().flat_map(|item| item.typed.iter().chain(listed(item))).chain(&distinct_on) {
                for function in &row_functions {
                    rows_decide |= function.is_in(&typed.expr)?;
                }
            }
            if !rows_decide && !order.is_empty() {
                let (order, distinct_on) = (std::mem::take(&mut order), std::mem::take(&mut distinct_on));
                plan = self.sorted_before_rows(plan, order, distinct_on, &items)?;
            }
            let (unnested, stand_ins) = self.unnest_row_functions(plan, row_functions)?;
            plan = unnested;
            for item in &mut items {
                item.typed.expr = replace(item.typed.expr.clone(), &stand_ins)?;
            }
            for typed in order.iter_mut().filter_map(|item| item.typed.as_mut()).chain(&mut distinct_on) {
                typed.expr = replace(typed.expr.clone(), &stand_ins)?;
            }
        }

        // The select list, with additional sort keys.
        let distinct = select.distinct.as_ref().is_some_and(|distinct| distinct.on.is_empty());
        let mut exprs = Vec::new();
        let mut columns = Vec::new();
        for item in items {
            let name = self.unique("c");
            let typed = if tail_needs_types(distinct, &order) { self.settle(item.typed)? } else { item.typed };
            exprs.push(typed.expr.alias(&name));
            columns.push(ScopeColumn {
                name: item.name,
                expr: column(name),
                ty: typed.ty,
                table_oid: item.table_oid,
                attnum: item.attnum,
                reading: None,
            });
        }
        let mut sorts = Vec::new();
        let mut places = Vec::new();
        for item in order {
            let OrderItem { output, typed, asc, nulls_first, span } = item;
            let sort_key = |typed| self.resolver.sort_key(typed).map_err(|error| self.at(error, span));
            let equal = |typed: &TypedExpr| exprs.iter().position(|expr| expr.clone().unalias() == typed.expr);
            let place = output.or_else(|| typed.as_ref().and_then(equal)).filter(|place| *place < columns.len());
            let expr = match (place.and_then(|place| columns.get(place)), typed) {
                (Some(output), _) => sort_key(output.typed())?,
                (None, Some(_)) if distinct => {
                    let message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
                    return Err(self.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, message), span));
                }
                (None, Some(typed)) => {
                    let name = self.unique("s");
                    let typed = self.settle(typed)?;
                    exprs.push(sort_key(typed)?.alias(&name));
                    column(name)
                }
                (None, None) => return Err(SqlError::internal("an ORDER BY item stands for nothing")),
            };
            places.extend(place.map(|place| (place, asc, nulls_first)));
            sorts.push(Sort { expr, asc, nulls_first });
        }
        super::clauses::at_most(exprs.len(), "target lists")?;
        exprs.extend(self.lock_columns(&scope, tail.locks)?);
        if !tail.pushed.is_empty() {
            for (expr, carried) in self.hidden_columns(&scope)? {
                exprs.push(expr);
                columns.push(carried);
            }
        }
        let keys = self.distinct_keys(distinct_on, &mut exprs)?;
        if !distinct && keys.is_empty() && !sorts.is_empty() {
            return Ok(BoundQuery { plan: deferred_projection::sorted_list(plan, exprs, sorts)?, columns });
        }
        plan = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        if distinct {
            let json = columns.iter().position(|column| column.ty.base == BaseType::Json);
            let bound = self.distinct(BoundQuery { plan, columns }).map_err(|error| match json {
                Some(at) => self.at(error, place_of_item(select, at)),
                None => error,
            })?;
            // The columns have new names: sort by these.
            let sorts = self.distinct_sorts(&bound, &places)?;
            return self.sorted(bound, sorts);
        }
        if !keys.is_empty() {
            return self.distinct_on(BoundQuery { plan, columns }, keys, sorts);
        }
        self.sorted(BoundQuery { plan, columns }, sorts)
    }

    /// Sorts a plan and keeps all columns. Set-returning functions that are not sort keys run after the sort and
    /// DISTINCT ON. So their rows stay in order, as in PostgreSQL.
    fn sorted_before_rows(
        &self,
        plan: LogicalPlan,
        order: Vec<OrderItem>,
        distinct_on: Vec<TypedExpr>,
        items: &[Item],
    ) -> Result<LogicalPlan> {
        let mut exprs: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let mut sorts = Vec::with_capacity(order.len());
        for OrderItem { output, typed, asc, nulls_first, span } in order {
            let listed = output.and_then(|place| items.get(place)).map(|item| item.typed.clone());
            let typed = typed.or(listed).ok_or_else(|| SqlError::internal("an ORDER BY item stands for nothing"))?;
            let name = self.unique("s");
            let key = self.resolver.sort_key(self.settle(typed)?).map_err(|error| self.at(error, span))?;
            exprs.push(key.alias(&name));
            sorts.push(Sort { expr: column(name), asc, nulls_first });
        }
        let keys = self.distinct_keys(distinct_on, &mut exprs)?;
        let plan = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        let bound = BoundQuery { plan, columns: Vec::new() };
        let sorted = if keys.is_empty() { self.sorted(bound, sorts) } else { self.distinct_on(bound, keys, sorts) };
        Ok(sorted?.plan)
    }

    /// Adds the keys of DISTINCT ON to a list. Answers their columns.
    fn distinct_keys(&self, distinct_on: Vec<TypedExpr>, list: &mut Vec<Expr>) -> Result<Vec<Expr>> {
        let mut keys = Vec::with_capacity(distinct_on.len());
        for typed in distinct_on {
            let name = self.unique("k");
            let typed = self.settle(typed)?;
            list.push(self.resolver.group_key(typed)?.alias(&name));
            keys.push(column(name));
        }
        Ok(keys)
    }

    fn sorted(&self, bound: BoundQuery, sorts: Vec<Sort>) -> Result<BoundQuery> {
        if sorts.is_empty() {
            return Ok(bound);
        }
        let plan = LogicalPlanBuilder::from(bound.plan).sort(sorts)?.build()?;
        Ok(BoundQuery { plan, columns: bound.columns })
    }

    /// The sort keys of SELECT DISTINCT over the distinct rows: each item is one of their columns.
    fn distinct_sorts(&self, bound: &BoundQuery, places: &[(usize, bool, bool)]) -> Result<Vec<Sort>> {
        let mut sorts = Vec::new();
        for (place, asc, nulls_first) in places {
            let Some(column) = bound.columns.get(*place) else {
                return Err(SqlError::internal("an output column is missing"));
            };
            let expr = self.resolver.sort_key(column.typed())?;
            sorts.push(Sort { expr, asc: *asc, nulls_first: *nulls_first });
        }
        Ok(sorts)
    }

    /// DISTINCT ON: keeps the first row of each group in the order of ORDER BY.
    fn distinct_on(&self, bound: BoundQuery, keys: Vec<Expr>, sorts: Vec<Sort>) -> Result<BoundQuery> {
        use datafusion::functions_window::row_number::row_number_udwf;
        use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
        use datafusion::logical_expr::{WindowFrame, WindowFunctionDefinition};
        let number = Expr::WindowFunction(Box::new(WindowFunction {
            fun: WindowFunctionDefinition::WindowUDF(row_number_udwf()),
            params: WindowFunctionParams {
                args: Vec::new(),
                partition_by: keys,
                order_by: sorts.clone(),
                window_frame: WindowFrame::new(if sorts.is_empty() { None } else { Some(true) }),
                filter: None,
                null_treatment: None,
                distinct: false,
            },
        }));
        let one = Expr::Literal(types::Datum::UInt64(Some(1)), None);
        let held = column(number.schema_name().to_string());
        let plan = LogicalPlanBuilder::window_plan(bound.plan, vec![number])?;
        let plan = LogicalPlanBuilder::from(plan).filter(held.eq(one))?.build()?;
        self.sorted(BoundQuery { plan, columns: bound.columns }, sorts)
    }

    /// Binds a select list and expands its stars.
    pub fn items(&self, targets: &[ast::Target], env: Env<'_>) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        for ast::Target { value, label } in targets {
            // PostgreSQL ignores the label of a star.
            if let ExprKind::Star(names) = &value.kind {
                items.extend(self.star(names, value.span, env)?);
                continue;
            }
            if let Some(row) = all_fields(value) {
                items.extend(self.expanded_row(&row, env)?);
                continue;
            }
            let name = match label {
                Some(label) => label.value.clone(),
                None => self.item_name(value, env)?,
            };
            items.push(self.item(value, name, env)?);
        }
        Ok(items)
    }

    /// The columns of `*` or, with names, of `t.*`. Errors: 42601, 42P01.
    fn star(&self, names: &[ast::Ident], span: Span, env: Env<'_>) -> Result<Vec<Item>> {
        if names.is_empty() {
            if env.scope.relations.is_empty() {
                let error = SqlError::syntax("SELECT * with no tables specified is not valid");
                return Err(self.at(error, span));
            }
            return Ok(env.scope.visible.iter().map(star_item).collect());
        }
        let (schema, relation) = relation_of(names).map_err(|error| self.at(error, span))?;
        let (found, scope, depth) = env
            .scope
            .find_relation(schema, relation)
            .map_err(|error| self.explain_name(error, env.scope, Some(relation), ""))
            .map_err(|error| self.at(error, span))?;
        let item = |column| Ok(Item { typed: scope.seen_from(column, depth)?, ..star_item(column) });
        found.columns.iter().map(item).collect()
    }

    /// The name of an item without an alias.
    fn item_name(&self, expr: &ast::Expr, env: Env<'_>) -> Result<String> {
        match &expr.kind {
            // Only the query knows the name of a table's first column.
            ExprKind::Query(query) if super::column_name::begins_with_star(&query.body) => {
                let bound = self.inner_query(query, env)?;
                Ok(bound.columns.first().map_or_else(|| column_name(expr), |column| column.name.clone()))
            }
            _ => Ok(column_name(expr)),
        }
    }

    fn item(&self, expr: &ast::Expr, name: String, env: Env<'_>) -> Result<Item> {
        let typed = self.expr(expr, env)?;
        let from = env.scope.relations.iter().flat_map(|relation| &relation.columns);
        let source = from.into_iter().find(|column| column.expr == typed.expr && matches!(typed.expr, Expr::Column(_)));
        let (table_oid, attnum) = source.map_or((0, 0), |column| (column.table_oid, column.attnum));
        Ok(Item { name, typed, table_oid, attnum })
    }

    fn order_items(
        &self,
        order_by: &[ast::SortItem],
        items: &[Item],
        names: &[String],
        env: Env<'_>,
    ) -> Result<Vec<OrderItem>> {
        let mut order = Vec::new();
        for item in order_by {
            let (asc, nulls_first) = self.direction(item)?;
            let mut output = match self.order_target(&item.value, names, "ORDER BY")? {
                OrderTarget::Output(place) => Some(place),
                OrderTarget::Expression => None,
            };
            // A bare name is first an output column.
            if let (None, Some(name)) = (output, plain_name(&item.value)) {
                output =
                    self.output_place(&name.value, items, "ORDER BY").map_err(|error| self.at(error, name.span))?;
            }
            let typed = match output {
                Some(_) => None,
                None => Some(self.expr(&item.value, env)?),
            };
            order.push(OrderItem { output, typed, asc, nulls_first, span: written_place(&item.value) });
        }
        Ok(order)
    }

    /// The position of the output column with a name. Errors: 42702 if several differ, naming `clause`.
    pub fn output_place(&self, name: &str, items: &[Item], clause: &str) -> Result<Option<usize>> {
        let mut found = items.iter().enumerate().filter(|(_, item)| item.name == name);
        let Some((place, first)) = found.next() else { return Ok(None) };
        if found.any(|(_, other)| other.typed.expr != first.typed.expr) {
            return Err(SqlError::new(state::AMBIGUOUS_COLUMN, format!("{clause} \"{name}\" is ambiguous")));
        }
        Ok(Some(place))
    }

    fn target_or_expr(
        &self,
        expr: &ast::Expr,
        items: &[Item],
        names: &[String],
        env: Env<'_>,
        clause: &str,
    ) -> Result<TypedExpr> {
        let place = match self.order_target(expr, names, clause)? {
            OrderTarget::Output(place) => Some(place),
            OrderTarget::Expression => match plain_name(expr) {
                Some(name) => {
                    self.output_place(&name.value, items, clause).map_err(|error| self.at(error, name.span))?
                }
                None => None,
            },
        };
        match place.and_then(|place| items.get(place)) {
            Some(item) => Ok(item.typed.clone()),
            None => self.expr(expr, env),
        }
    }

    /// Replaces window functions by the columns that will hold them.
    fn take_windows(&self, expr: Expr, calls: &mut Vec<(Expr, String)>) -> Result<Expr> {
        let taken = expr.transform_down(|mut expr| {
            if !matches!(expr, Expr::WindowFunction(_)) {
                return Ok(Transformed::no(expr));
            }
            self.beneath(&mut expr, calls);
            Ok(Transformed::new(expr, true, TreeNodeRecursion::Jump))
        })?;
        Ok(taken.data)
    }
}

/// Whether ORDER BY begins with the expressions of DISTINCT ON, in any order. Errors: the index of a missing one.
fn check_distinct_on(keys: &[TypedExpr], order: &[OrderItem], items: &[Item]) -> std::result::Result<(), usize> {
    let expr = |item: &OrderItem| match (&item.typed, item.output.and_then(|place| items.get(place))) {
        (Some(typed), _) => Some(typed.expr.clone()),
        (None, output) => output.map(|item| item.typed.expr.clone()),
    };
    // A repeated sort key has no effect.
    let mut sorted: Vec<Option<Expr>> = Vec::with_capacity(order.len());
    for expr in order.iter().map(expr) {
        if !sorted.contains(&expr) {
            sorted.push(expr);
        }
    }
    let is_key = |sorted: &Option<Expr>| keys.iter().any(|key| Some(&key.expr) == sorted.as_ref());
    let first_other = sorted.iter().position(|sorted| !is_key(sorted));
    let (before, after) = sorted.split_at(first_other.unwrap_or(sorted.len()));
    let missing = keys.iter().position(|key| !before.iter().any(|sorted| sorted.as_ref() == Some(&key.expr)));
    if after.iter().any(is_key) || (first_other.is_some() && missing.is_some()) {
        return Err(missing.unwrap_or(0));
    }
    Ok(())
}

/// The window functions in some expressions.
fn window_calls(exprs: &[&mut Expr]) -> Result<Vec<Expr>> {
    let mut calls = Vec::new();
    for expr in exprs {
        expr.apply(|part| {
            calls.extend(matches!(part, Expr::WindowFunction(_)).then(|| part.clone()));
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(calls)
}

/// Replaces whole parts of an expression.
pub(super) fn replace(expr: Expr, parts: &[(Expr, Expr)]) -> Result<Expr> {
    let replaced = expr.transform_down(|expr| match parts.iter().find(|(from, _)| *from == expr) {
        Some((_, to)) => Ok(Transformed::new(to.clone(), true, TreeNodeRecursion::Jump)),
        None => Ok(Transformed::no(expr)),
    })?;
    Ok(replaced.data)
}

/// A column of `*`.
fn star_item(column: &ScopeColumn) -> Item {
    Item { name: column.name.clone(), typed: column.read(), table_oid: column.table_oid, attnum: column.attnum }
}

/// Whether the select list's types must be known now: its values are compared or sorted.
fn tail_needs_types(distinct: bool, order: &[OrderItem]) -> bool {
    distinct || !order.is_empty()
}
