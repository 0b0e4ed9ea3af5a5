//! Analyzes queries: WITH, SELECT, VALUES, set operations, and the clauses after them.

use super::Analysis;
use super::call::sort_by;
use super::node::{Body, Common, Group, Key, Lock, Node, Query, RelationKind, Select, SetArm, Sort, Wait, Window};
use super::scope::Scope;
use super::types::{Ty, oid};
use binder::{called, output_name};
use sqlparser::ast::{
    self, Distinct, Expr, GroupByExpr, LimitClause, NamedWindowExpr, OrderByKind, SelectItem, SetExpr, SetOperator,
    SetQuantifier, Value,
};
use syntax::{CYCLE, GROUP_BY_DISTINCT, NOTHING, SEARCH, fold, fold_name};
use types::Oid;

/// Names and types of a query's columns.
type Columns = Vec<(String, Ty)>;

impl Analysis<'_> {
    /// Analyzes a query. Untyped strings in its columns become text.
    pub fn query(&self, query: &ast::Query, outer: Option<&Scope<'_>>) -> Option<Query> {
        self.any_query(query, outer, true)
    }

    fn any_query(&self, query: &ast::Query, outer: Option<&Scope<'_>>, settle: bool) -> Option<Query> {
        let plain = query.for_clause.is_none()
            && query.settings.is_none()
            && query.format_clause.is_none()
            && query.pipe_operators.is_empty();
        if !plain || self.depth.get() > 100 {
            return None;
        }
        let known = self.common.borrow().len();
        self.depth.set(self.depth.get() + 1);
        let found = self.whole_query(query, outer, settle);
        self.depth.set(self.depth.get() - 1);
        self.common.borrow_mut().truncate(known);
        found
    }

    fn whole_query(&self, query: &ast::Query, outer: Option<&Scope<'_>>, settle: bool) -> Option<Query> {
        let mut made = Query::default();
        if let Some(with) = &query.with {
            made.recursive = with.recursive;
            for table in &with.cte_tables {
                made.with.push(self.common_query(table, with.recursive, outer)?);
            }
        }
        let order: &[ast::OrderByExpr] = match query.order_by.as_ref().map(|order| (&order.kind, &order.interpolate)) {
            None => &[],
            Some((OrderByKind::Expressions(order), None)) => order,
            Some(_) => return None,
        };
        let mut body = query.body.as_ref();
        // Parentheses around a query without clauses of its own are redundant.
        while let SetExpr::Query(inner) = body {
            if inner.with.is_some() || inner.order_by.is_some() || inner.limit_clause.is_some() || inner.fetch.is_some()
            {
                return None;
            }
            body = &inner.body;
        }
        let mut scope = Scope::within(outer);
        match body {
            SetExpr::Select(select) => {
                self.select(select, order, &mut scope, settle, &mut made)?;
            }
            SetExpr::Values(values) => {
                let rows = values.rows.iter().map(|row| row.content.as_slice()).collect::<Vec<&[Expr]>>();
                let (rows, columns) = self.values(&rows, outer)?;
                (made.body, made.columns) = (Body::Values(rows), columns);
                if !order.is_empty() {
                    return None;
                }
            }
            SetExpr::SetOperation { .. } => {
                let (arm, columns) = self.arm(body, outer)?;
                let SetArm::Set { words, all, left, right } = arm else { return None };
                (made.body, made.columns) = (Body::Set { words, all, left, right }, columns);
                for item in order {
                    let number = self.output_number(&item.expr, &made.columns)?;
                    let key = Key { node: Node::unknown(None), number: Some(number) };
                    made.order_by.push(sort_by(item, key)?);
                }
            }
            _ => return None,
        }
        let empty = Scope::within(outer);
        let number = |expr: &Expr| -> Option<Node> {
            let node = self.expr(expr, &empty)?;
            match node.ty().oid {
                oid::INT8 | oid::INT4 | oid::INT2 => Some(node),
                _ => self.coerce(node, oid::INT8),
            }
        };
        match &query.limit_clause {
            None => {}
            Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
                if let Some(limit) = limit {
                    made.limit = Some(number(limit)?);
                }
                if let Some(offset) = offset {
                    made.offset = Some(number(&offset.value)?);
                }
            }
            Some(_) => return None,
        }
        if let Some(fetch) = &query.fetch {
            if fetch.percent || made.limit.is_some() {
                return None;
            }
            made.with_ties = fetch.with_ties;
            made.limit = Some(match &fetch.quantity {
                Some(quantity) => number(quantity)?,
                None => Node::Const(Ty::of(oid::INT8), Some("1".to_string())),
            });
        }
        for clause in &query.locks {
            self.lock(clause, &mut made)?;
        }
        Some(made)
    }

    /// Analyzes a locking clause. It applies to the named relations, or to all that have rows to lock.
    fn lock(&self, clause: &ast::LockClause, query: &mut Query) -> Option<()> {
        let lock = self.extras?.lock(clause)?;
        let wait = match clause.nonblock {
            None => Wait::Block,
            Some(ast::NonBlock::SkipLocked) => Wait::Skip,
            Some(ast::NonBlock::Nowait) => Wait::Error,
        };
        let relations = self.relations.borrow();
        let has_rows = |at: &usize| {
            let kind = relations.get(*at).map(|relation| &relation.kind);
            matches!(kind, Some(RelationKind::Table { .. } | RelationKind::Query(_)))
        };
        let mut meant: Vec<usize> = Vec::new();
        for name in &lock.of {
            let named = |at: &usize| relations.get(*at).is_some_and(|found| found.name.as_ref() == Some(name));
            meant.push(query.relations.iter().copied().find(named)?);
        }
        if lock.of.is_empty() {
            meant.extend(query.relations.iter().copied().filter(has_rows));
        }
        for relation in meant {
            match query.locks.iter_mut().find(|other| other.relation == relation) {
                Some(other) => {
                    other.strength = other.strength.max(lock.strength);
                    other.wait = other.wait.max(wait);
                }
                None => query.locks.push(Lock { relation, strength: lock.strength, wait }),
            }
        }
        Some(())
    }

    fn common_query(&self, table: &ast::Cte, recursive: bool, outer: Option<&Scope<'_>>) -> Option<Common> {
        let name = fold(&table.alias.name);
        if name == SEARCH || name == CYCLE || table.from.is_some() {
            return None;
        }
        let aliases: Vec<String> = table.alias.columns.iter().map(|column| fold(&column.name)).collect();
        if recursive && let SetExpr::SetOperation { left, .. } = table.query.body.as_ref() {
            // The first operand determines the names of the columns.
            let (_, mut columns) = self.arm(left, outer)?;
            for (_, ty) in columns.iter_mut().filter(|(_, ty)| ty.oid == oid::UNKNOWN) {
                *ty = Ty::of(oid::TEXT);
            }
            self.common.borrow_mut().push((name.clone(), named(columns, &aliases)));
        }
        let query = self.query(&table.query, outer)?;
        self.common.borrow_mut().push((name.clone(), named(query.columns.clone(), &aliases)));
        let materialized = table.materialized.as_ref().map(|how| matches!(how, ast::CteAsMaterialized::Materialized));
        Some(Common { name, aliases, materialized, query })
    }

    /// Analyzes the rows of VALUES.
    fn values(&self, rows: &[&[Expr]], outer: Option<&Scope<'_>>) -> Option<(Vec<Vec<Node>>, Columns)> {
        let scope = Scope::within(outer);
        let mut made: Vec<Vec<Node>> = Vec::new();
        for row in rows {
            made.push(row.iter().map(|value| self.expr(value, &scope)).collect::<Option<_>>()?);
        }
        let width = made.first()?.len();
        let mut columns = Vec::with_capacity(width);
        for at in 0..width {
            let mut column = Vec::with_capacity(made.len());
            for row in &made {
                column.push(row.get(at)?.clone());
            }
            let order: Vec<Oid> = column.iter().map(|node| node.ty().oid).collect();
            let (nodes, ty) = self.unify(column, &order)?;
            for (row, node) in made.iter_mut().zip(nodes) {
                *row.get_mut(at)? = node;
            }
            columns.push((format!("column{}", at + 1), ty));
        }
        Some((made, columns))
    }

    /// Analyzes an operand of a set operation. Its untyped strings stay untyped.
    fn arm(&self, body: &SetExpr, outer: Option<&Scope<'_>>) -> Option<(SetArm, Columns)> {
        match body {
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let words = match op {
                    SetOperator::Union => "UNION",
                    SetOperator::Intersect => "INTERSECT",
                    SetOperator::Except => "EXCEPT",
                    SetOperator::Minus => return None,
                };
                let all = match set_quantifier {
                    SetQuantifier::All => true,
                    SetQuantifier::None | SetQuantifier::Distinct => false,
                    _ => return None,
                };
                let ((mut left, of_left), (mut right, of_right)) = (self.arm(left, outer)?, self.arm(right, outer)?);
                if of_left.len() != of_right.len() {
                    return None;
                }
                let mut columns = Vec::with_capacity(of_left.len());
                for (at, ((name, one), (_, other))) in of_left.into_iter().zip(of_right).enumerate() {
                    let oid = super::coerce::common(self.types(), &[one.oid, other.oid])?;
                    let modifier = if one == other { one.modifier } else { -1 };
                    self.settle_column(&mut left, at, oid)?;
                    self.settle_column(&mut right, at, oid)?;
                    columns.push((name, Ty { oid, modifier }));
                }
                Some((SetArm::Set { words, all, left: Box::new(left), right: Box::new(right) }, columns))
            }
            SetExpr::Query(query) => {
                let bare = query.with.is_none()
                    && query.order_by.is_none()
                    && query.limit_clause.is_none()
                    && query.fetch.is_none();
                if bare {
                    return self.arm(&query.body, outer);
                }
                let made = self.any_query(query, outer, false)?;
                let columns = made.columns.clone();
                Some((SetArm::Query(Box::new(made)), columns))
            }
            body => {
                let query = ast::Query {
                    with: None,
                    body: Box::new(body.clone()),
                    order_by: None,
                    limit_clause: None,
                    fetch: None,
                    locks: Vec::new(),
                    for_clause: None,
                    settings: None,
                    format_clause: None,
                    pipe_operators: Vec::new(),
                };
                let made = self.any_query(&query, outer, false)?;
                let columns = made.columns.clone();
                Some((SetArm::Query(Box::new(made)), columns))
            }
        }
    }

    /// Gives an untyped string of an operand's column the type of the operation's column.
    fn settle_column(&self, arm: &mut SetArm, at: usize, to: Oid) -> Option<()> {
        let SetArm::Query(query) = arm else { return Some(()) };
        let Body::Select(select) = &mut query.body else { return Some(()) };
        let item = select.items.get_mut(at)?;
        if item.ty().oid == oid::UNKNOWN {
            *item = self.coerce(item.clone(), to)?;
        }
        Some(())
    }

    fn select(
        &self,
        select: &ast::Select,
        order: &[ast::OrderByExpr],
        scope: &mut Scope<'_>,
        settle: bool,
        query: &mut Query,
    ) -> Option<()> {
        let bare = select.top.is_none()
            && select.into.is_none()
            && select.lateral_views.is_empty()
            && select.prewhere.is_none()
            && select.connect_by.is_empty()
            && select.cluster_by.is_empty()
            && select.distribute_by.is_empty()
            && select.sort_by.is_empty()
            && select.qualify.is_none()
            && select.exclude.is_none();
        if !bare {
            return None;
        }
        let mut made = Select { from: self.from(&select.from, scope, &mut query.relations)?, ..Select::default() };
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(Expr::Identifier(name)) if name.value == NOTHING => {}
                SelectItem::UnnamedExpr(expr) => self.item(expr, output_name(expr), scope, settle, &mut made, query)?,
                SelectItem::ExprWithAlias { expr, alias } => {
                    self.item(expr, fold(alias), scope, settle, &mut made, query)?;
                }
                SelectItem::Wildcard(options) if *options == ast::WildcardAdditionalOptions::default() => {
                    for at in scope.items.iter().filter(|item| item.bare).map(|item| item.relation) {
                        self.all_columns(at, &mut made, query)?;
                    }
                }
                SelectItem::QualifiedWildcard(ast::SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    let (_, name) = fold_name(name).ok()?;
                    self.all_columns(scope.relation(self, &name)?, &mut made, query)?;
                }
                _ => return None,
            }
        }
        if let Some(filter) = &select.selection {
            made.filter = Some(self.boolean(self.expr(filter, scope)?)?);
        }
        let outputs = Outputs { items: &made.items, columns: &query.columns };
        made.group_by = match &select.group_by {
            GroupByExpr::Expressions(items, modifiers) if modifiers.is_empty() => {
                let distinct = |item: &Expr| matches!(item, Expr::Identifier(name) if name.value == GROUP_BY_DISTINCT);
                made.group_distinct = items.first().is_some_and(distinct);
                let items = items.iter().skip(usize::from(made.group_distinct));
                items.map(|item| self.group(item, &outputs, scope)).collect::<Option<_>>()?
            }
            _ => return None,
        };
        if let Some(having) = &select.having {
            made.having = Some(self.boolean(self.expr(having, scope)?)?);
        }
        for definition in &select.named_window {
            let window = match &definition.1 {
                NamedWindowExpr::WindowSpec(spec) => self.window_spec(spec, scope)?,
                NamedWindowExpr::NamedWindow(base) => Window { base: Some(fold(base)), ..Window::default() },
            };
            made.windows.push((fold(&definition.0), window));
        }
        match &select.distinct {
            None | Some(Distinct::All) => {}
            Some(Distinct::Distinct) => made.distinct = true,
            Some(Distinct::On(keys)) => {
                for key in keys {
                    made.distinct_on.push(self.output_key(key, &outputs, scope)?);
                }
            }
        }
        let mut sorts: Vec<Sort> = Vec::new();
        for item in order {
            sorts.push(sort_by(item, self.output_key(&item.expr, &outputs, scope)?)?);
        }
        query.order_by = sorts;
        query.body = Body::Select(Box::new(made));
        Some(())
    }

    fn item(
        &self,
        expr: &Expr,
        name: String,
        scope: &Scope<'_>,
        settle: bool,
        select: &mut Select,
        query: &mut Query,
    ) -> Option<()> {
        let node = self.expr(expr, scope)?;
        let node = if settle { self.settle(node)? } else { node };
        query.columns.push((name, node.ty()));
        select.items.push(node);
        Some(())
    }

    /// Adds all columns of a relation, for `*`.
    fn all_columns(&self, relation: usize, select: &mut Select, query: &mut Query) -> Option<()> {
        let relations = self.relations.borrow();
        for (name, node) in &relations.get(relation)?.columns {
            query.columns.push((name.clone(), node.ty()));
            select.items.push(node.clone());
        }
        Some(())
    }

    /// A key of ORDER BY or DISTINCT ON: the name or number of an output column, or an expression.
    fn output_key(&self, expr: &Expr, outputs: &Outputs<'_>, scope: &Scope<'_>) -> Option<Key> {
        let node = match outputs.named(expr).or_else(|| outputs.numbered(expr)) {
            Some(node) => node,
            None => self.settle(self.expr(expr, scope)?)?,
        };
        Some(Key { node, number: None })
    }

    /// The number of an output column of a set operation.
    fn output_number(&self, expr: &Expr, columns: &Columns) -> Option<usize> {
        match expr {
            Expr::Identifier(name) => {
                let name = fold(name);
                let mut found = columns.iter().enumerate().filter(|(_, (known, _))| *known == name);
                let (at, _) = found.next()?;
                found.next().is_none().then_some(at + 1)
            }
            expr => number_of(expr).filter(|number| (1..=columns.len()).contains(number)),
        }
    }

    fn group(&self, item: &Expr, outputs: &Outputs<'_>, scope: &Scope<'_>) -> Option<Group> {
        let key = |expr: &Expr| -> Option<Key> {
            // A column of FROM takes precedence over an output column of the same name.
            let own = match expr {
                Expr::Identifier(name) => scope.column(self, &fold(name)),
                _ => None,
            };
            match own {
                Some(node) => Some(Key { node, number: None }),
                None => self.output_key(expr, outputs, scope),
            }
        };
        let keys = |set: &Vec<Expr>| -> Option<Vec<Key>> {
            match set.as_slice() {
                [Expr::Tuple(items)] => items.iter().map(key).collect(),
                items => items.iter().map(key).collect(),
            }
        };
        match item {
            Expr::Rollup(sets) => Some(Group::Sets("ROLLUP", sets.iter().map(keys).collect::<Option<_>>()?)),
            Expr::Cube(sets) => Some(Group::Sets("CUBE", sets.iter().map(keys).collect::<Option<_>>()?)),
            Expr::GroupingSets(sets) => {
                let set = |set: &Vec<Expr>| match set.as_slice() {
                    [inner @ (Expr::Rollup(_) | Expr::Cube(_) | Expr::GroupingSets(_))] => {
                        self.group(inner, outputs, scope)
                    }
                    // sqlparser reads ROLLUP and CUBE as calls here.
                    [Expr::Function(call)] => match (called(call, "rollup"), called(call, "cube")) {
                        (Some(sets), _) => self.group(&Expr::Rollup(owned(&sets)), outputs, scope),
                        (_, Some(sets)) => self.group(&Expr::Cube(owned(&sets)), outputs, scope),
                        _ => keys(set).map(Group::Set),
                    },
                    _ => keys(set).map(Group::Set),
                };
                Some(Group::Nested(sets.iter().map(set).collect::<Option<_>>()?))
            }
            Expr::Tuple(_) => None,
            Expr::Nested(inner) => self.group(inner, outputs, scope),
            expr => key(expr).map(Group::Key),
        }
    }
}

fn owned(sets: &[Vec<&Expr>]) -> Vec<Vec<Expr>> {
    sets.iter().map(|set| set.iter().map(|expr| (*expr).clone()).collect()).collect()
}

/// The output columns that ORDER BY and GROUP BY can refer to.
struct Outputs<'q> {
    items: &'q [Node],
    columns: &'q Columns,
}

impl Outputs<'_> {
    fn named(&self, expr: &Expr) -> Option<Node> {
        let Expr::Identifier(name) = expr else { return None };
        let name = fold(name);
        let found = self.columns.iter().position(|(known, _)| *known == name)?;
        self.items.get(found).cloned()
    }
    fn numbered(&self, expr: &Expr) -> Option<Node> {
        self.items.get(number_of(expr)?.checked_sub(1)?).cloned()
    }
}

fn number_of(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Renames the first columns.
pub fn named(columns: Columns, names: &[String]) -> Columns {
    let mut names = names.iter();
    columns.into_iter().map(|(name, ty)| (names.next().cloned().unwrap_or(name), ty)).collect()
}
