//! Analyzes queries: WITH, SELECT, VALUES, set operations, and the clauses after them.

use super::Analysis;
use super::call::sort_by;
use super::node::{Body, Common, Group, Key, Lock, Node, Query, RelationKind, Select, SetArm, Sort, Wait};
use super::scope::Scope;
use super::types::{Ty, oid};
use binder::output_name;
use syntax::ast::{
    self, Expr, ExprKind, GroupItem, Literal, LockStrength, LockWait, QueryBody, SetOperation, SetOperator, SortItem,
    Statement,
};
use syntax::{deeper, fold_name};
use types::Oid;

/// Names and types of a query's columns.
type Columns = Vec<(String, Ty)>;

impl Analysis<'_> {
    /// Analyzes a query. Untyped strings in its columns become text.
    pub fn query(&self, query: &ast::Query, outer: Option<&Scope<'_>>) -> Option<Query> {
        self.any_query(query, outer, true)
    }

    fn any_query(&self, query: &ast::Query, outer: Option<&Scope<'_>>, settle: bool) -> Option<Query> {
        self.inner_query(|made| self.whole_query(query, outer, settle, made))
    }

    /// A query that `analyze` fills in.
    fn inner_query(&self, analyze: impl FnOnce(&mut Query) -> Option<()>) -> Option<Query> {
        if self.depth.get() > 100 {
            return None;
        }
        let known = self.common.borrow().len();
        self.depth.set(self.depth.get() + 1);
        let mut made = Query::default();
        let found = analyze(&mut made);
        self.depth.set(self.depth.get() - 1);
        self.common.borrow_mut().truncate(known);
        found.map(|()| made)
    }

    fn whole_query(&self, query: &ast::Query, outer: Option<&Scope<'_>>, settle: bool, made: &mut Query) -> Option<()> {
        if query.as_of.is_some() {
            return None;
        }
        if let Some(with) = &query.with {
            made.recursive = with.recursive;
            for table in &with.queries {
                made.with.push(self.common_query(table, with.recursive, outer)?);
            }
        }
        let mut body = &query.body;
        // Parentheses around a query without clauses of its own are redundant.
        while let QueryBody::Nested(inner) = body {
            if !is_bare(inner) {
                return None;
            }
            body = &inner.body;
        }
        self.body(body, &query.order_by, outer, settle, made)?;
        let empty = Scope::within(outer);
        let number = |expr: &Expr| -> Option<Node> {
            let node = self.expr(expr, &empty)?;
            match node.ty().oid {
                oid::INT8 | oid::INT4 | oid::INT2 => Some(node),
                _ => self.coerce(node, oid::INT8),
            }
        };
        if let Some(limit) = &query.limit {
            made.limit = Some(number(&limit.count)?);
            made.with_ties = limit.with_ties;
        }
        if let Some(offset) = &query.offset {
            made.offset = Some(number(offset)?);
        }
        for clause in &query.locks {
            self.lock(clause, made)?;
        }
        Some(())
    }

    /// Analyzes the body of a query, and its ORDER BY.
    fn body(
        &self,
        body: &QueryBody,
        order: &[SortItem],
        outer: Option<&Scope<'_>>,
        settle: bool,
        made: &mut Query,
    ) -> Option<()> {
        match body {
            QueryBody::Select(select) => self.select(select, order, &mut Scope::within(outer), settle, made),
            QueryBody::Table(relation, place) => {
                let select = ast::Select::whole_table(relation, *place);
                self.select(&select, order, &mut Scope::within(outer), settle, made)
            }
            QueryBody::Values(rows, _) => {
                let (rows, columns) = self.values(rows, outer)?;
                (made.body, made.columns) = (Body::Values(rows), columns);
                order.is_empty().then_some(())
            }
            QueryBody::Set(operation) => {
                let (arm, columns) = self.arms(operation, &operation.arms, outer)?;
                let SetArm::Set { words, all, left, right } = arm else { return None };
                (made.body, made.columns) = (Body::Set { words, all, left, right }, columns);
                for item in order {
                    let number = self.output_number(&item.value, &made.columns)?;
                    let key = Key { node: Node::unknown(None), number: Some(number) };
                    made.order_by.push(sort_by(item, key)?);
                }
                Some(())
            }
            QueryBody::Nested(_) => None,
        }
    }

    /// Analyzes a locking clause. It applies to the named relations, or to all that have rows to lock.
    fn lock(&self, clause: &ast::LockClause, query: &mut Query) -> Option<()> {
        let wait = match clause.wait {
            LockWait::Wait => Wait::Block,
            LockWait::SkipLocked => Wait::Skip,
            LockWait::NoWait => Wait::Error,
        };
        let relations = self.relations.borrow();
        let has_rows = |at: &usize| {
            let kind = relations.get(*at).map(|relation| &relation.kind);
            matches!(kind, Some(RelationKind::Table { .. } | RelationKind::Query(_)))
        };
        let mut meant: Vec<usize> = Vec::new();
        for name in &clause.of {
            let (_, name) = fold_name(name).ok()?;
            let named = |at: &usize| relations.get(*at).is_some_and(|found| found.name.as_ref() == Some(&name));
            meant.push(query.relations.iter().copied().find(named)?);
        }
        if clause.of.is_empty() {
            meant.extend(query.relations.iter().copied().filter(has_rows));
        }
        for relation in meant {
            match query.locks.iter_mut().find(|other| other.relation == relation) {
                Some(other) => {
                    other.strength = stronger(other.strength, clause.strength);
                    other.wait = other.wait.max(wait);
                }
                None => query.locks.push(Lock { relation, strength: clause.strength, wait }),
            }
        }
        Some(())
    }

    fn common_query(&self, table: &ast::CommonTable, recursive: bool, outer: Option<&Scope<'_>>) -> Option<Common> {
        let Statement::Query(query) = table.statement.as_ref() else { return None };
        if table.search.is_some() || table.cycle.is_some() {
            return None;
        }
        let name = table.name.value.clone();
        let aliases: Vec<String> = table.columns.iter().map(|column| column.value.clone()).collect();
        if recursive
            && let QueryBody::Set(operation) = &query.body
            && let [first @ .., _] = operation.arms.as_slice()
        {
            // All operands but the last determine the names of the columns.
            let (_, mut columns) = self.arms(operation, first, outer)?;
            for (_, ty) in columns.iter_mut().filter(|(_, ty)| ty.oid == oid::UNKNOWN) {
                *ty = Ty::of(oid::TEXT);
            }
            self.common.borrow_mut().push((name.clone(), named(columns, &aliases)));
        }
        let query = self.query(query, outer)?;
        self.common.borrow_mut().push((name.clone(), named(query.columns.clone(), &aliases)));
        Some(Common { name, aliases, materialized: table.materialized, query })
    }

    /// Analyzes the rows of VALUES.
    fn values(&self, rows: &[Vec<Expr>], outer: Option<&Scope<'_>>) -> Option<(Vec<Vec<Node>>, Columns)> {
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
    fn arm(&self, body: &QueryBody, outer: Option<&Scope<'_>>) -> Option<(SetArm, Columns)> {
        let made = match body {
            QueryBody::Set(operation) => return self.arms(operation, &operation.arms, outer),
            QueryBody::Nested(query) if is_bare(query) => return deeper(|| self.arm(&query.body, outer)),
            QueryBody::Nested(query) => self.any_query(query, outer, false)?,
            body => self.inner_query(|made| self.body(body, &[], outer, false, made))?,
        };
        let columns = made.columns.clone();
        Some((SetArm::Query(Box::new(made)), columns))
    }

    /// Analyzes these operands of a set operation, each with what precedes it.
    fn arms(
        &self,
        operation: &SetOperation,
        arms: &[QueryBody],
        outer: Option<&Scope<'_>>,
    ) -> Option<(SetArm, Columns)> {
        let words = match operation.operator {
            SetOperator::Union => "UNION",
            SetOperator::Intersect => "INTERSECT",
            SetOperator::Except => "EXCEPT",
        };
        let (first, others) = arms.split_first()?;
        let (mut left, mut columns) = deeper(|| self.arm(first, outer))?;
        for right in others {
            let (mut right, of_right) = deeper(|| self.arm(right, outer))?;
            if columns.len() != of_right.len() {
                return None;
            }
            for (at, ((_, ty), (_, other))) in columns.iter_mut().zip(of_right).enumerate() {
                let oid = super::coerce::common(self.types(), &[ty.oid, other.oid])?;
                let modifier = if *ty == other { ty.modifier } else { -1 };
                self.settle_column(&mut left, at, oid)?;
                self.settle_column(&mut right, at, oid)?;
                *ty = Ty { oid, modifier };
            }
            left = SetArm::Set { words, all: operation.all, left: Box::new(left), right: Box::new(right) };
        }
        Some((left, columns))
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
        order: &[SortItem],
        scope: &mut Scope<'_>,
        settle: bool,
        query: &mut Query,
    ) -> Option<()> {
        if select.into.is_some() {
            return None;
        }
        let mut made = Select { from: self.from(&select.from, scope, &mut query.relations)?, ..Select::default() };
        for ast::Target { value, label } in &select.targets {
            match &value.kind {
                ExprKind::Star(names) => match names.last() {
                    Some(relation) => {
                        self.all_columns(scope.relation(self, &relation.value)?, &mut made, query)?;
                    }
                    None => {
                        for at in scope.items.iter().filter(|item| item.bare).map(|item| item.relation) {
                            self.all_columns(at, &mut made, query)?;
                        }
                    }
                },
                _ => {
                    let name = label.as_ref().map_or_else(|| output_name(value), |label| label.value.clone());
                    self.item(value, name, scope, settle, &mut made, query)?;
                }
            }
        }
        if let Some(filter) = &select.filter {
            made.filter = Some(self.boolean(self.expr(filter, scope)?)?);
        }
        let outputs = Outputs { items: &made.items, columns: &query.columns };
        if let Some(group_by) = &select.group_by {
            made.group_distinct = group_by.distinct;
            made.group_by =
                group_by.items.iter().map(|item| self.group(item, &outputs, scope)).collect::<Option<_>>()?;
        }
        if let Some(having) = &select.having {
            made.having = Some(self.boolean(self.expr(having, scope)?)?);
        }
        for window in &select.windows {
            made.windows.push((window.name.value.clone(), self.window_spec(&window.spec, scope)?));
        }
        if let Some(distinct) = &select.distinct {
            made.distinct = distinct.on.is_empty();
            for key in &distinct.on {
                made.distinct_on.push(self.output_key(key, &outputs, scope)?);
            }
        }
        let mut sorts: Vec<Sort> = Vec::new();
        for item in order {
            sorts.push(sort_by(item, self.output_key(&item.value, &outputs, scope)?)?);
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
        match plain_name(expr) {
            Some(name) => {
                let mut found = columns.iter().enumerate().filter(|(_, (known, _))| known == name);
                let (at, _) = found.next()?;
                found.next().is_none().then_some(at + 1)
            }
            None => number_of(expr).filter(|number| (1..=columns.len()).contains(number)),
        }
    }

    fn group(&self, item: &GroupItem, outputs: &Outputs<'_>, scope: &Scope<'_>) -> Option<Group> {
        let key = |expr: &Expr| -> Option<Key> {
            // A column of FROM takes precedence over an output column of the same name.
            match plain_name(expr).and_then(|name| scope.column(self, name)) {
                Some(node) => Some(Key { node, number: None }),
                None => self.output_key(expr, outputs, scope),
            }
        };
        // A row without ROW is a set of several keys.
        let keys = |set: &Expr| -> Option<Vec<Key>> {
            match &set.kind {
                ExprKind::Row { fields, explicit: false } => fields.iter().map(key).collect(),
                _ => Some(vec![key(set)?]),
            }
        };
        let sets = |sets: &[Expr]| sets.iter().map(keys).collect::<Option<Vec<Vec<Key>>>>();
        match item {
            GroupItem::Expr(Expr { kind: ExprKind::Row { explicit: false, .. }, .. }) | GroupItem::Empty(_) => None,
            GroupItem::Expr(expr) => key(expr).map(Group::Key),
            GroupItem::Rollup(exprs, _) => Some(Group::Sets("ROLLUP", sets(exprs)?)),
            GroupItem::Cube(exprs, _) => Some(Group::Sets("CUBE", sets(exprs)?)),
            GroupItem::Sets(..) => {
                let mut flat = Vec::new();
                flatten(item, &mut flat);
                let set = |item: &GroupItem| match item {
                    GroupItem::Empty(_) => Some(Group::Set(Vec::new())),
                    GroupItem::Expr(expr) => keys(expr).map(Group::Set),
                    inner => deeper(|| self.group(inner, outputs, scope)),
                };
                Some(Group::Nested(flat.into_iter().map(set).collect::<Option<_>>()?))
            }
        }
    }
}

/// The items of GROUPING SETS. Those within them are items of the outermost, as PostgreSQL stores them.
fn flatten<'q>(item: &'q GroupItem, flat: &mut Vec<&'q GroupItem>) {
    match item {
        GroupItem::Sets(items, _) => deeper(|| items.iter().for_each(|item| flatten(item, flat))),
        item => flat.push(item),
    }
}

/// Whether a query has no clauses around its body.
fn is_bare(query: &ast::Query) -> bool {
    let ast::Query { with, body: _, order_by, limit, offset, locks, as_of, span: _ } = query;
    with.is_none() && order_by.is_empty() && limit.is_none() && offset.is_none() && locks.is_empty() && as_of.is_none()
}

/// The stronger of two locks.
fn stronger(one: LockStrength, other: LockStrength) -> LockStrength {
    let rank = |strength: LockStrength| match strength {
        LockStrength::KeyShare => 0,
        LockStrength::Share => 1,
        LockStrength::NoKeyUpdate => 2,
        LockStrength::Update => 3,
    };
    if rank(one) < rank(other) { other } else { one }
}

/// The output columns that ORDER BY and GROUP BY can refer to.
struct Outputs<'q> {
    items: &'q [Node],
    columns: &'q Columns,
}

impl Outputs<'_> {
    fn named(&self, expr: &Expr) -> Option<Node> {
        let name = plain_name(expr)?;
        let found = self.columns.iter().position(|(known, _)| known == name)?;
        self.items.get(found).cloned()
    }
    fn numbered(&self, expr: &Expr) -> Option<Node> {
        self.items.get(number_of(expr)?.checked_sub(1)?).cloned()
    }
}

/// The name that an expression is.
fn plain_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Column(names) => match names.as_slice() {
            [name] => Some(name.value.as_str()),
            _ => None,
        },
        _ => None,
    }
}

fn number_of(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::Literal(Literal::Integer(digits)) => digits.parse().ok(),
        _ => None,
    }
}

/// Renames the first columns.
pub fn named(columns: Columns, names: &[String]) -> Columns {
    let mut names = names.iter();
    columns.into_iter().map(|(name, ty)| (names.next().cloned().unwrap_or(name), ty)).collect()
}
