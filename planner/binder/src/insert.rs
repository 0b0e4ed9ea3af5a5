//! Binds the statement INSERT.

use super::assignment::{default_element, extension, is_default, refused_part};
use super::binder::Binder;
use super::error_position::{place_of, place_of_target};
use super::expression::{Clause, Env};
use super::name_suggestions::Unseen;
use super::scope::Scope;
use super::table_expression::table_relation;
use super::target::Target;
use super::{BoundKind, Verb};
use catalog::acl::{INSERT, SELECT};
use catalog::{ColumnDescriptor, ColumnId, Identity, TableDescriptor};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use executor::dml::InsertNode;
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use syntax::Span;
use syntax::ast::{self, ColumnTarget, ExprKind, Overriding, QueryBody, Step};
use types::SqlType;

/// Whether an error reports a set-returning function in VALUES.
fn gives_rows(error: &SqlError) -> bool {
    error.fields().message == "set-returning functions are not allowed in VALUES"
}

/// The error 42601 for a column that is assigned twice.
pub fn assigned_twice(column: &str) -> SqlError {
    SqlError::syntax(format!("multiple assignments to same column \"{column}\""))
}

/// A SELECT without FROM that returns one row of VALUES.
fn as_select(row: Vec<ast::Expr>, span: Span) -> ast::Query {
    let select = ast::Select {
        distinct: None,
        targets: row.into_iter().map(|value| ast::Target { value, label: None }).collect(),
        into: None,
        from: Vec::new(),
        filter: None,
        group_by: None,
        having: None,
        windows: Vec::new(),
        span,
    };
    ast::Query {
        with: None,
        body: QueryBody::Select(Box::new(select)),
        order_by: Vec::new(),
        limit: None,
        offset: None,
        locks: Vec::new(),
        as_of: None,
        span,
    }
}

/// The columns that an INSERT writes, and what it does with identity columns.
#[derive(Clone, Copy)]
pub struct Columns<'i> {
    /// The columns. Empty without a list.
    pub list: &'i [ColumnTarget],
    /// OVERRIDING … VALUE.
    pub overriding: Option<Overriding>,
}

impl<'i> Columns<'i> {
    /// The column at a place in the list, if a part of it is written.
    fn part(self, at: usize) -> Option<&'i ColumnTarget> {
        self.list.get(at).filter(|column| !column.steps.is_empty())
    }
}

impl Binder<'_> {
    /// Binds an INSERT to a writing plan. The caller binds its WITH.
    pub fn insert(&self, insert: &ast::Insert) -> Result<BoundKind> {
        let target = self.target(&insert.table, Verb::Insert)?;
        let table = target.table.clone();
        let alias = insert.alias.as_ref().map(|alias| alias.value.clone());
        let shown = alias.unwrap_or_else(|| target.named().name.clone());
        let qualifier = self.qualifier(&shown);
        self.may_meet_conflicts(&target, insert.conflict.as_ref())?;
        let columns = target.named().live_columns().map(|column| column.name.clone());
        let unseen = std::iter::once(Unseen::new(&shown, columns));
        let (input, given) = self.not_seeing(unseen, || self.insert_input(&target, insert))?;
        let (on_conflict, rows) = self.on_conflict(&target, &shown, &qualifier, insert.conflict.as_ref())?;
        let rules = self.target_rules(&target)?;
        let returning = !insert.returning.is_empty();
        let node = InsertNode::new(table.clone(), qualifier.clone(), input, on_conflict, rules, returning)?;
        let node = node.with_rows(rows).with_given(given);
        let plan = extension(node);
        let mut relation = match returning {
            true => self.named_relation(&target, &shown, &qualifier, plan.schema())?,
            false => table_relation(&table, &shown, &qualifier),
        };
        relation.table = Some(target.named().clone());
        let scope = Scope::of(relation, plan.schema().clone(), None);
        // RETURNING cannot see the row that DO UPDATE calls `excluded`.
        let updates = insert.conflict.as_ref().is_some_and(|clause| clause.update.is_some());
        let excluded = updates.then(|| {
            let columns = target.named().live_columns().map(|column| column.name.clone());
            Unseen::new("excluded", columns)
        });
        let returning = || self.returning(plan, &insert.returning, &scope);
        let (plan, columns) = self.not_seeing(excluded.into_iter(), returning)?;
        Ok(BoundKind::Dml { plan, columns, verb: Verb::Insert, table: Some(table) })
    }

    /// Checks the privilege to read the columns of ON CONFLICT's target. Errors: 42501.
    fn may_meet_conflicts(&self, target: &Target, clause: Option<&ast::OnConflict>) -> Result<()> {
        let named = target.named();
        let names: Option<Vec<&str>> = match clause.and_then(|clause| clause.target.as_ref()) {
            None => return Ok(()),
            Some(ast::ConflictTarget::Index { keys, predicate }) => plain_keys(keys, predicate.as_ref())
                .map(|keys| keys.into_iter().map(|ident| ident.value.as_str()).collect()),
            Some(ast::ConflictTarget::Constraint(constraint)) => {
                let is_it =
                    |index: &&catalog::IndexDescriptor| index.constraint.is_some() && index.name == constraint.value;
                // A missing constraint is reported later.
                let Some(index) = named.indexes.iter().find(is_it) else { return Ok(()) };
                let columns = index.columns.iter().filter_map(|key| named.column(key.column));
                Some(columns.map(|column| column.name.as_str()).collect())
            }
        };
        match names.filter(|names| names.iter().all(|name| named.column_named(name).is_some())) {
            Some(names) => self.require_columns(named, SELECT, names),
            // An expression may read any column.
            None => self.require(named, SELECT),
        }
    }

    /// The plan of the given rows with all columns of the table, and the columns that are given.
    fn insert_input(&self, target: &Target, insert: &ast::Insert) -> Result<(LogicalPlan, Vec<ColumnId>)> {
        let table = &target.table;
        let list = Columns { list: &insert.columns, overriding: insert.overriding };
        let Some(query) = &insert.source else {
            self.insert_targets(target, list, 0)?;
            let rows = vec![self.defaults(target)?];
            return Ok((self.table_rows(table, rows)?, Vec::new()));
        };
        let values = match &query.body {
            QueryBody::Values(values, _) if is_plain(query) => values,
            _ => return self.insert_query(target, query, list),
        };
        super::clauses::check_query(query)?;
        let width = values.first().map_or(0, Vec::len);
        let targets = self.insert_targets(target, list, width)?;
        let mut rows = Vec::with_capacity(values.len());
        for row in values {
            if row.len() != width {
                return Err(self.uneven(row));
            }
            match self.insert_row(target, &targets, row, list) {
                Ok(values) => rows.push(values),
                // One row of VALUES is a select list, whose functions may return several rows.
                Err(error) if gives_rows(&error) && values.len() == 1 => break,
                Err(error) => return Err(error),
            }
        }
        if !rows.is_empty() {
            let given = targets.iter().take(width).map(|column| column.id);
            return Ok((self.table_rows(table, rows)?, given.collect()));
        }
        let (row, columns) = self.without_defaults(target, values.first().cloned().unwrap_or_default(), list);
        self.insert_query(target, &as_select(row, query.span), Columns { list: &columns, ..list })
    }

    /// The table's columns that receive values, in the given order. `width` is the number of values. Errors: 42703,
    /// 42701, 42501; 0A000 for a view's column that is not a column of its table.
    fn insert_targets<'t>(
        &self,
        target: &'t Target,
        columns: Columns<'_>,
        width: usize,
    ) -> Result<Vec<&'t ColumnDescriptor>> {
        let targets = self.named_targets(target, columns, width)?;
        if !target.levels.is_empty() {
            for (at, column) in targets.iter().enumerate() {
                // Elements of one column may be given separately.
                if columns.list.is_empty() && targets.iter().take(at).any(|other| other.id == column.id) {
                    return Err(assigned_twice(&column.name));
                }
            }
            self.refuse_lost_defaults(target)?;
        }
        // Columns that are neither named nor given get their defaults.
        let given = if columns.list.is_empty() { width } else { targets.len() };
        let ids: Vec<_> = targets.iter().take(given).map(|column| column.id).collect();
        self.require_written(target, INSERT, &ids)?;
        Ok(targets)
    }

    /// The same without the checks of privileges and of views. Errors: 42703, 42701, 0A000.
    pub fn named_targets<'t>(
        &self,
        target: &'t Target,
        columns: Columns<'_>,
        width: usize,
    ) -> Result<Vec<&'t ColumnDescriptor>> {
        if columns.list.is_empty() {
            if target.levels.is_empty() {
                return Ok(target.table.live_columns().collect());
            }
            let names = target.named().live_columns().take(width);
            return names.map(|column| self.written_column(target, &column.name, Span::NONE)).collect();
        }
        let mut targets: Vec<&ColumnDescriptor> = Vec::new();
        let mut named: Vec<&str> = Vec::new();
        for (at, written) in columns.list.iter().enumerate() {
            let (own, place) = (written.column.value.as_str(), written.span);
            let column = self.written_column(target, own, place)?;
            if let Some(error) = refused_part(written, column, "INSERT") {
                return Err(self.at(error, place));
            }
            // Elements of one column may be given separately.
            let whole = |other: usize| columns.part(at).is_none() || columns.part(other).is_none();
            if targets.iter().enumerate().any(|(other, known)| known.id == column.id && whole(other)) {
                if !named.contains(&own) {
                    // Two columns of a view are the same column of the table.
                    return Err(assigned_twice(&column.name));
                }
                let message = format!("column \"{own}\" specified more than once");
                return Err(self.at(SqlError::new(state::DUPLICATE_COLUMN, message), place));
            }
            targets.push(column);
            named.push(own);
        }
        Ok(targets)
    }

    /// One row of VALUES without DEFAULTs, and the columns without theirs.
    fn without_defaults(
        &self,
        target: &Target,
        mut row: Vec<ast::Expr>,
        columns: Columns<'_>,
    ) -> (Vec<ast::Expr>, Vec<ColumnTarget>) {
        let mut list = columns.list.to_vec();
        if !row.iter().any(is_default) {
            return (row, list);
        }
        if list.is_empty() {
            let made = |column: &ColumnDescriptor| ColumnTarget {
                column: ast::Ident::new(&column.name),
                steps: Vec::new(),
                span: Span::NONE,
            };
            list = target.named().live_columns().map(made).collect();
        }
        let mut given = row.iter().map(|value| !is_default(value));
        list.retain(|_| given.next().unwrap_or(false));
        row.retain(|value| !is_default(value));
        (row, list)
    }

    fn defaults(&self, target: &Target) -> Result<Vec<Expr>> {
        target.table.live_columns().map(|column| self.default_through(target, column)).collect()
    }

    /// One row of VALUES as one expression for each live column.
    fn insert_row(
        &self,
        target: &Target,
        targets: &[&ColumnDescriptor],
        row: &[ast::Expr],
        columns: Columns<'_>,
    ) -> Result<Vec<Expr>> {
        let place = |at: usize| row.get(at).map_or(Span::NONE, place_of);
        self.check_width(targets.len(), row.len(), columns, place)?;
        let scope = Scope::empty(None);
        self.given_values(target, targets, (row, columns), Env::new(&scope, Clause::Values))
    }

    /// The value of each live column in a given row. `targets` are the columns of the list.
    pub fn given_values(
        &self,
        target: &Target,
        targets: &[&ColumnDescriptor],
        (row, columns): (&[ast::Expr], Columns<'_>),
        env: Env<'_>,
    ) -> Result<Vec<Expr>> {
        let mut given: Vec<(i16, Expr)> = Vec::with_capacity(row.len());
        for (place, (value, column)) in row.iter().zip(targets).enumerate() {
            if let Some(part) = columns.part(place) {
                if is_default(value) {
                    return Err(self.at(default_element(), part.span));
                }
                let typed = self.expr(value, env)?;
                self.give_part(&mut given, column, part, typed, env)?;
                continue;
            }
            if is_default(value) {
                continue;
            }
            if self.ignored(column, columns.overriding, true)? {
                continue;
            }
            let typed = self.expr(value, env)?;
            let assigned = self.assign(typed, column, place_of(value))?;
            given.push((column.id, assigned));
        }
        let mut exprs = Vec::new();
        for column in target.table.live_columns() {
            let at = given.iter().position(|(id, _)| *id == column.id);
            exprs.push(match at {
                Some(at) => given.swap_remove(at).1,
                None => self.default_through(target, column)?,
            });
        }
        Ok(exprs)
    }

    /// Assigns to an element of a column's value so far, which is NULL at first.
    fn give_part(
        &self,
        given: &mut Vec<(i16, Expr)>,
        column: &ColumnDescriptor,
        part: &ColumnTarget,
        value: TypedExpr,
        env: Env<'_>,
    ) -> Result<()> {
        let before = given.iter().position(|(id, _)| *id == column.id).map(|at| given.swap_remove(at).1);
        let array = match before {
            Some(expr) => TypedExpr { expr, ty: column.ty },
            None => self.coerce(super::literal::null(), column.ty.plain())?,
        };
        let changed = self.with_part(array, column, &part.steps, (value, part.span), env)?;
        given.push((column.id, self.assign(changed, column, part.span)?));
        Ok(())
    }

    /// Whether OVERRIDING USER VALUE ignores the value given for a column. Errors: 428C9 for a value if the column
    /// allows none.
    fn ignored(&self, column: &ColumnDescriptor, overriding: Option<Overriding>, given: bool) -> Result<bool> {
        if given {
            self.may_give(column)?;
        }
        match (column.identity, overriding) {
            (Some(_), Some(Overriding::User)) => Ok(true),
            (Some(Identity::Always), None) if given => Err(SqlError::new(
                "428C9",
                format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name),
            )
            .detail(format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name))
            .hint("Use OVERRIDING SYSTEM VALUE to override.")),
            _ => Ok(false),
        }
    }

    /// Checks that a column may be given a value. Errors: 428C9 for a generated column.
    pub fn may_give(&self, column: &ColumnDescriptor) -> Result<()> {
        if column.generated.is_none() {
            return Ok(());
        }
        let message = format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name);
        Err(SqlError::new("428C9", message).detail(format!("Column \"{}\" is a generated column.", column.name)))
    }

    fn table_rows(&self, table: &TableDescriptor, rows: Vec<Vec<Expr>>) -> Result<LogicalPlan> {
        let types: Vec<_> = table.live_columns().map(|column| column.ty).collect();
        Ok(self.rows(rows, &types)?.0)
    }

    fn insert_query(
        &self,
        target: &Target,
        query: &ast::Query,
        columns: Columns<'_>,
    ) -> Result<(LogicalPlan, Vec<ColumnId>)> {
        let bound = self.open_query(query)?;
        let targets = self.insert_targets(target, columns, bound.columns.len())?;
        let given = bound.columns.len();
        self.check_width(targets.len(), given, columns, |at| place_of_target(&query.body, at))?;
        // Constants and parameters of unknown type take the column's type.
        let types: Vec<_> = bound
            .columns
            .iter()
            .zip(&targets)
            .enumerate()
            .map(|(at, (column, target))| match columns.part(at) {
                _ if column.ty != SqlType::UNKNOWN => column.ty,
                Some(part) if target.ty.array && !has_slice(&part.steps) => target.ty.element().plain(),
                _ => target.ty.plain(),
            })
            .collect();
        let bound = self.cast_columns(bound, &types)?;
        let mut given = Vec::new();
        let scope = Scope::empty(None);
        for (at, (source, column)) in bound.columns.iter().zip(&targets).enumerate() {
            if let Some(part) = columns.part(at) {
                self.give_part(&mut given, column, part, source.typed(), Env::new(&scope, Clause::Values))?;
            }
        }
        let mut exprs = Vec::new();
        for column in target.table.live_columns() {
            if let Some(at) = given.iter().position(|(id, _)| *id == column.id) {
                exprs.push(given.swap_remove(at).1.alias(self.unique("v")));
                continue;
            }
            let at = targets.iter().position(|target| target.id == column.id);
            let value = match at.and_then(|at| bound.columns.get(at)) {
                Some(source) if !self.ignored(column, columns.overriding, true)? => {
                    self.assign(source.typed(), column, place_of_target(&query.body, at.unwrap_or(0)))?
                }
                _ => self.default_through(target, column)?,
            };
            exprs.push(value.alias(self.unique("v")));
        }
        let ids = targets.iter().take(bound.columns.len()).map(|column| column.id).collect();
        Ok((LogicalPlanBuilder::from(bound.plan).project(exprs)?.build()?, ids))
    }
}

impl Binder<'_> {
    /// Checks the number of values. `place` is the span of a value. Errors: 42601 for more or fewer values than
    /// columns.
    pub fn check_width(
        &self,
        targets: usize,
        given: usize,
        columns: Columns<'_>,
        place: impl Fn(usize) -> Span,
    ) -> Result<()> {
        if given > targets {
            return Err(self.at(SqlError::syntax("INSERT has more expressions than target columns"), place(targets)));
        }
        match columns.list.get(given) {
            Some(name) => Err(self.at(SqlError::syntax("INSERT has more target columns than expressions"), name.span)),
            None => Ok(()),
        }
    }
}

/// The keys of ON CONFLICT if all of them are plain columns, and no condition selects the rows of a partial index.
pub fn plain_keys<'k>(keys: &'k [ast::IndexKey], predicate: Option<&ast::Expr>) -> Option<Vec<&'k ast::Ident>> {
    if predicate.is_some() {
        return None;
    }
    let plain = |key: &'k ast::IndexKey| match &key.value.kind {
        ExprKind::Column(names) if key.collation.is_none() && key.class.is_none() => match names.as_slice() {
            [only] => Some(only),
            _ => None,
        },
        _ => None,
    };
    keys.iter().map(plain).collect()
}

fn has_slice(steps: &[Step]) -> bool {
    steps.iter().any(|step| matches!(step, Step::Slice(..)))
}

/// Whether a query is VALUES without further clauses.
fn is_plain(query: &ast::Query) -> bool {
    query.with.is_none()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locks.is_empty()
}
