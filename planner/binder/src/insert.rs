//! Binds the statement INSERT.

use super::assignment::{extension, is_default};
use super::binder::{Binder, span_of};
use super::error_position::place_of_target;
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
use sqlparser::ast::{self, SetExpr, Spanned, TableObject};
use sqlparser::tokenizer::Span;
use syntax::{Overriding, StatementKind, fold, fold_name};
use types::SqlType;

/// Whether an error reports a set-returning function in VALUES.
fn gives_rows(error: &SqlError) -> bool {
    error.fields().message == "set-returning functions are not allowed in VALUES"
}

/// The error 42601 for a column that is assigned twice.
pub fn assigned_twice(column: &str) -> SqlError {
    SqlError::syntax(format!("multiple assignments to same column \"{column}\""))
}

/// Converts a query of VALUES with one row to a SELECT without FROM.
fn as_select(query: &ast::Query, values: &ast::Values) -> Result<ast::Query> {
    let unexpected = || SqlError::internal("a query of one item");
    let StatementKind::Sql(tree) = syntax::parse("SELECT 1")?.pop().ok_or_else(unexpected)?.kind else {
        return Err(unexpected());
    };
    let ast::Statement::Query(plain) = *tree else { return Err(unexpected()) };
    let SetExpr::Select(mut select) = *plain.body else { return Err(unexpected()) };
    let row = values.rows.first().map(|row| row.content.as_slice()).unwrap_or_default();
    select.projection = row.iter().cloned().map(ast::SelectItem::UnnamedExpr).collect();
    Ok(ast::Query { body: Box::new(SetExpr::Select(select)), ..query.clone() })
}

impl Binder<'_> {
    /// Binds an INSERT to a writing plan.
    pub fn insert(&self, insert: &ast::Insert) -> Result<BoundKind> {
        super::clauses::check_insert(insert)?;
        let TableObject::TableName(name) = &insert.table else {
            return Err(SqlError::unsupported("INSERT into something that is not a table"));
        };
        let target = self.target(name, Verb::Insert)?;
        let table = target.table.clone();
        let alias = insert.table_alias.as_ref().map(|alias| fold(&alias.alias));
        let shown = alias.unwrap_or_else(|| target.named().name.clone());
        let qualifier = self.qualifier(&shown);
        self.may_meet_conflicts(&target, insert.on.as_ref())?;
        let columns = target.named().live_columns().map(|column| column.name.clone());
        let unseen = std::iter::once(Unseen::new(&shown, columns));
        let (input, given) = self.not_seeing(unseen, || self.insert_input(&target, insert))?;
        let (on_conflict, rows) = self.on_conflict(&target, &shown, &qualifier, insert.on.as_ref())?;
        let rules = self.target_rules(&target)?;
        let returning = insert.returning.is_some();
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
        let updates = |clause: &ast::OnConflict| matches!(clause.action, ast::OnConflictAction::DoUpdate(_));
        let excluded = matches!(&insert.on, Some(ast::OnInsert::OnConflict(clause)) if updates(clause)).then(|| {
            let columns = target.named().live_columns().map(|column| column.name.clone());
            Unseen::new("excluded", columns)
        });
        let returning = || self.returning(plan, insert.returning.as_deref(), &scope);
        let (plan, columns) = self.not_seeing(excluded.into_iter(), returning)?;
        Ok(BoundKind::Dml { plan, columns, verb: Verb::Insert, table: Some(table) })
    }

    /// Checks the privilege to read the columns of ON CONFLICT's target. Errors: 42501.
    fn may_meet_conflicts(&self, target: &Target, on: Option<&ast::OnInsert>) -> Result<()> {
        let Some(ast::OnInsert::OnConflict(clause)) = on else { return Ok(()) };
        let named = target.named();
        let names: Vec<String> = match &clause.conflict_target {
            None => return Ok(()),
            Some(ast::ConflictTarget::Columns(columns)) => columns.iter().map(fold).collect(),
            Some(ast::ConflictTarget::OnConstraint(name)) => {
                let constraint = fold_name(name)?.1;
                let index = named.indexes.iter().find(|index| index.constraint.is_some() && index.name == constraint);
                // A missing column is reported later.
                let Some(index) = index else { return Ok(()) };
                let columns = index.columns.iter().filter_map(|key| named.column(key.column));
                columns.map(|column| column.name.clone()).collect()
            }
        };
        // An expression may read any column.
        match names.iter().all(|name| named.column_named(name).is_some()) {
            true => self.require_columns(named, SELECT, names.iter().map(String::as_str)),
            false => self.require(named, SELECT),
        }
    }

    /// The plan of the given rows with all columns of the table, and the columns that are given.
    fn insert_input(&self, target: &Target, insert: &ast::Insert) -> Result<(LogicalPlan, Vec<ColumnId>)> {
        let table = &target.table;
        Ok(match &insert.source {
            None => {
                self.insert_targets(target, insert, 0)?;
                let rows = vec![self.defaults(target)?];
                (self.table_rows(table, rows)?, Vec::new())
            }
            Some(query) => match query.body.as_ref() {
                SetExpr::Values(values) if is_plain(query) => {
                    super::clauses::check_query(query)?;
                    super::clauses::check_values(values)?;
                    let width = values.rows.first().map_or(0, |row| row.content.len());
                    let targets = self.insert_targets(target, insert, width)?;
                    let mut rows = Vec::with_capacity(values.rows.len());
                    for row in &values.rows {
                        if values.rows.first().is_some_and(|first| first.content.len() != row.content.len()) {
                            return Err(self.uneven(row));
                        }
                        match self.insert_row(target, &targets, &row.content, insert) {
                            Ok(values) => rows.push(values),
                            // One row of VALUES is a select list, whose functions may return several rows.
                            Err(error) if gives_rows(&error) && values.rows.len() == 1 => break,
                            Err(error) => return Err(error),
                        }
                    }
                    match rows.is_empty() {
                        false => {
                            let given = targets.iter().take(width).map(|column| column.id);
                            (self.table_rows(table, rows)?, given.collect())
                        }
                        true => {
                            let (values, insert) = self.without_defaults(target, values, insert);
                            self.insert_query(target, &as_select(query, &values)?, &insert)?
                        }
                    }
                }
                _ => self.insert_query(target, query, insert)?,
            },
        })
    }

    /// The table's columns that receive values, in the given order. `width` is the number of values. Errors: 42703,
    /// 42701, 42501; 0A000 for a view's column that is not a column of its table.
    fn insert_targets<'t>(
        &self,
        target: &'t Target,
        insert: &ast::Insert,
        width: usize,
    ) -> Result<Vec<&'t ColumnDescriptor>> {
        let targets = self.named_targets(target, insert, width)?;
        if !target.levels.is_empty() {
            for (at, column) in targets.iter().enumerate() {
                // Elements of one column may be given separately.
                if insert.columns.is_empty() && targets.iter().take(at).any(|other| other.id == column.id) {
                    return Err(assigned_twice(&column.name));
                }
            }
            self.refuse_lost_defaults(target)?;
        }
        // Columns that are neither named nor given get their defaults.
        let given = if insert.columns.is_empty() { width } else { targets.len() };
        let ids: Vec<_> = targets.iter().take(given).map(|column| column.id).collect();
        self.require_written(target, INSERT, &ids)?;
        Ok(targets)
    }

    fn named_targets<'t>(
        &self,
        target: &'t Target,
        insert: &ast::Insert,
        width: usize,
    ) -> Result<Vec<&'t ColumnDescriptor>> {
        if insert.columns.is_empty() {
            if target.levels.is_empty() {
                return Ok(target.table.live_columns().collect());
            }
            let names = target.named().live_columns().take(width);
            return names
                .map(|column| self.written_column(target, &column.name, sqlparser::tokenizer::Span::empty()))
                .collect();
        }
        let mut targets: Vec<&ColumnDescriptor> = Vec::new();
        let mut named: Vec<String> = Vec::new();
        let parts = parts_of(insert)?;
        for (at, name) in insert.columns.iter().enumerate() {
            let part = parts.get(at).and_then(Option::as_ref);
            let (qualifier, column) = match part {
                Some((column, _)) => (None, fold(column)),
                None => fold_name(name)?,
            };
            if let Some(of) = qualifier {
                let of = self.written_column(target, &of, span_of(name))?;
                if of.ty.as_record().is_some() {
                    return Err(SqlError::unsupported("a field of a composite column as the target of INSERT"));
                }
                let message = format!(
                    "cannot assign to field \"{column}\" of column \"{}\" because its type {} is not a composite type",
                    of.name,
                    of.ty.name()
                );
                return Err(self.at(SqlError::new(state::DATATYPE_MISMATCH, message), span_of(name)));
            }
            let own = column;
            let column = self.written_column(target, &own, span_of(name))?;
            // Elements of one column may be given separately.
            let whole = |other: usize| part.is_none() || parts.get(other).is_none_or(Option::is_none);
            if targets.iter().enumerate().any(|(at, other)| other.id == column.id && whole(at)) {
                if !named.contains(&own) {
                    // Two columns of a view are the same column of the table.
                    return Err(assigned_twice(&column.name));
                }
                let message = format!("column \"{own}\" specified more than once");
                return Err(self.at(SqlError::new(state::DUPLICATE_COLUMN, message), span_of(name)));
            }
            targets.push(column);
            named.push(own);
        }
        Ok(targets)
    }

    /// Removes DEFAULTs from one row of VALUES, and their columns from the INSERT.
    fn without_defaults(
        &self,
        target: &Target,
        values: &ast::Values,
        insert: &ast::Insert,
    ) -> (ast::Values, ast::Insert) {
        let (mut values, mut insert) = (values.clone(), insert.clone());
        let Some(row) = values.rows.first_mut() else { return (values, insert) };
        if !row.content.iter().any(is_default) {
            return (values, insert);
        }
        if insert.columns.is_empty() {
            let names = target.named().live_columns().map(|column| ast::Ident::with_quote('"', &column.name));
            insert.columns = names.map(|name| ast::ObjectName::from(vec![name])).collect();
        }
        let mut given = row.content.iter().map(|value| !is_default(value));
        insert.columns.retain(|_| given.next().unwrap_or(false));
        row.content.retain(|value| !is_default(value));
        (values, insert)
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
        insert: &ast::Insert,
    ) -> Result<Vec<Expr>> {
        let names: Vec<Span> = insert.columns.iter().map(span_of).collect();
        self.check_width(targets.len(), row.len(), &names, |at| row.get(at).map_or_else(Span::empty, Spanned::span))?;
        let scope = Scope::empty(None);
        self.given_values(target, targets, (row, &parts_of(insert)?), Env::new(&scope, Clause::Values))
    }

    /// The value of each live column in a given row. `parts` tells which targets are elements.
    pub fn given_values(
        &self,
        target: &Target,
        targets: &[&ColumnDescriptor],
        (row, parts): (&[ast::Expr], &[Part]),
        env: Env<'_>,
    ) -> Result<Vec<Expr>> {
        let mut given: Vec<(i16, Expr)> = Vec::with_capacity(row.len());
        for (place, (value, column)) in row.iter().zip(targets).enumerate() {
            if let Some(Some((_, chain))) = parts.get(place) {
                if is_default(value) {
                    let message = "cannot set an array element to DEFAULT";
                    return Err(self.at(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), value.span()));
                }
                let value = (self.expr(value, env)?, value.span());
                self.give_part(&mut given, column, chain, value, env)?;
                continue;
            }
            if is_default(value) {
                continue;
            }
            if self.ignored(column, true)? {
                continue;
            }
            let typed = self.expr(value, env)?;
            let assigned = self.assign(typed, column, Span::empty());
            given.push((column.id, assigned.map_err(|error| self.at(error, self.start_of(value)))?));
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
        chain: &[ast::AccessExpr],
        value: (TypedExpr, Span),
        env: Env<'_>,
    ) -> Result<()> {
        let before = given.iter().position(|(id, _)| *id == column.id).map(|at| given.swap_remove(at).1);
        let array = match before {
            Some(expr) => TypedExpr { expr, ty: column.ty },
            None => self.coerce(super::literal::null(), column.ty.plain())?,
        };
        let span = value.1;
        let changed = self.with_part(array, column, chain, value, env)?;
        given.push((column.id, self.assign(changed, column, span)?));
        Ok(())
    }

    /// Whether OVERRIDING USER VALUE ignores the value given for a column. Errors: 428C9 for a value if the column
    /// allows none.
    fn ignored(&self, column: &ColumnDescriptor, given: bool) -> Result<bool> {
        if given {
            self.may_give(column)?;
        }
        match (column.identity, self.extras.overriding) {
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
        insert: &ast::Insert,
    ) -> Result<(LogicalPlan, Vec<ColumnId>)> {
        let bound = self.open_query(query)?;
        let targets = self.insert_targets(target, insert, bound.columns.len())?;
        let names: Vec<Span> = insert.columns.iter().map(span_of).collect();
        let given = bound.columns.len();
        self.check_width(targets.len(), given, &names, |at| place_of_target(&query.body, at))?;
        let parts = parts_of(insert)?;
        // Constants and parameters of unknown type take the column's type.
        let types: Vec<_> = bound
            .columns
            .iter()
            .zip(&targets)
            .enumerate()
            .map(|(at, (column, target))| match parts.get(at) {
                _ if column.ty != SqlType::UNKNOWN => column.ty,
                Some(Some((_, chain))) if target.ty.array && !has_slice(chain) => target.ty.element().plain(),
                _ => target.ty.plain(),
            })
            .collect();
        let bound = self.cast_columns(bound, &types)?;
        let mut given = Vec::new();
        let scope = Scope::empty(None);
        for (at, (source, column)) in bound.columns.iter().zip(&targets).enumerate() {
            if let Some(Some((_, chain))) = parts.get(at) {
                let value = (source.typed(), query.span());
                self.give_part(&mut given, column, chain, value, Env::new(&scope, Clause::Values))?;
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
                Some(source) if !self.ignored(column, true)? => {
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
    /// Checks the number of values. `names` are the spans of the column names, if given. `place` is the span of a
    /// value. Errors: 42601 for more or fewer values than columns.
    pub fn check_width(
        &self,
        targets: usize,
        given: usize,
        names: &[Span],
        place: impl Fn(usize) -> Span,
    ) -> Result<()> {
        if given > targets {
            return Err(self.at(SqlError::syntax("INSERT has more expressions than target columns"), place(targets)));
        }
        match names.get(given) {
            Some(name) => Err(self.at(SqlError::syntax("INSERT has more target columns than expressions"), *name)),
            None => Ok(()),
        }
    }
}

/// The column and subscripts of a target that is an element. `None` for a whole column.
pub type Part = Option<(ast::Ident, Vec<ast::AccessExpr>)>;

/// The targets that are elements, by position.
fn parts_of(insert: &ast::Insert) -> Result<Vec<Part>> {
    insert.columns.iter().map(super::element::element_target).collect()
}

fn has_slice(chain: &[ast::AccessExpr]) -> bool {
    chain.iter().any(|access| matches!(access, ast::AccessExpr::Subscript(ast::Subscript::Slice { .. })))
}

/// Whether a query is VALUES without further clauses.
fn is_plain(query: &ast::Query) -> bool {
    query.with.is_none()
        && query.order_by.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty()
}
