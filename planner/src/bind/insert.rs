//! INSERT.

use super::assignment::{extension, is_default};
use super::binder::{Binder, span_of};
use super::expression::{Clause, Env};
use super::scope::Scope;
use super::table_expression::table_relation;
use super::{BoundKind, Verb};
use crate::catalog::acl::{INSERT, SELECT};
use crate::catalog::{ColumnDescriptor, Identity, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::execution::dml::InsertNode;
use crate::parse::{Overriding, fold, fold_name};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use sqlparser::ast::{self, SetExpr, Spanned, TableObject};

impl Binder<'_> {
    /// INSERT.
    pub fn insert(&self, insert: &ast::Insert) -> Result<BoundKind> {
        super::clauses::check_insert(insert)?;
        let TableObject::TableName(name) = &insert.table else {
            return Err(SqlError::unsupported("INSERT into something that is not a table"));
        };
        let table = self.writable(name, "INSERT")?;
        let alias = insert.table_alias.as_ref().map(|alias| fold(&alias.alias));
        let shown = alias.unwrap_or_else(|| table.name.clone());
        let qualifier = self.qualifier(&shown);
        let targets = self.insert_targets(&table, insert)?;
        self.require_columns(&table, INSERT, targets.iter().map(|column| column.name.as_str()))?;
        if insert.on.is_some() {
            self.require(&table, SELECT)?;
        }
        let input = match &insert.source {
            None => {
                let rows = vec![self.defaults(&table)?];
                self.table_rows(&table, rows)?
            }
            Some(query) => match query.body.as_ref() {
                SetExpr::Values(values) if is_plain(query) => {
                    super::clauses::check_query(query)?;
                    super::clauses::check_values(values)?;
                    let mut rows = Vec::with_capacity(values.rows.len());
                    for row in &values.rows {
                        if values.rows.first().is_some_and(|first| first.content.len() != row.content.len()) {
                            return Err(SqlError::syntax("VALUES lists must all be the same length"));
                        }
                        rows.push(self.insert_row(&table, &targets, &row.content, insert)?);
                    }
                    self.table_rows(&table, rows)?
                }
                _ => self.insert_query(&table, &targets, query, insert)?,
            },
        };
        let relation = table_relation(&table, &shown, &qualifier);
        let on_conflict = self.on_conflict(&table, &shown, &qualifier, insert.on.as_ref())?;
        let rules = self.rules(&table)?;
        let returning = insert.returning.is_some();
        let node = InsertNode::new(table.clone(), qualifier, input, on_conflict, rules, returning)?;
        let plan = extension(node);
        let scope = Scope::of(relation, plan.schema().clone(), None);
        let (plan, columns) = self.returning(plan, insert.returning.as_deref(), &scope)?;
        Ok(BoundKind::Dml { plan, columns, verb: Verb::Insert, table: Some(table) })
    }

    /// The columns that values are given for, in the order they are given.
    fn insert_targets<'t>(
        &self,
        table: &'t TableDescriptor,
        insert: &ast::Insert,
    ) -> Result<Vec<&'t ColumnDescriptor>> {
        if insert.columns.is_empty() {
            return Ok(table.live_columns().collect());
        }
        let mut targets: Vec<&ColumnDescriptor> = Vec::new();
        for name in &insert.columns {
            let (qualifier, column) = fold_name(name)?;
            if qualifier.is_some() {
                return Err(SqlError::unsupported("a field of a composite column as the target of INSERT"));
            }
            let column = self.target_column(table, &column, span_of(name))?;
            if targets.iter().any(|other| other.id == column.id) {
                let message = format!("column \"{}\" specified more than once", column.name);
                return Err(self.at(SqlError::new(state::DUPLICATE_COLUMN, message), span_of(name)));
            }
            targets.push(column);
        }
        Ok(targets)
    }

    fn defaults(&self, table: &TableDescriptor) -> Result<Vec<Expr>> {
        table.live_columns().map(|column| self.default_of(table, column)).collect()
    }

    /// One row of VALUES as one expression for each live column.
    fn insert_row(
        &self,
        table: &TableDescriptor,
        targets: &[&ColumnDescriptor],
        row: &[ast::Expr],
        insert: &ast::Insert,
    ) -> Result<Vec<Expr>> {
        check_width(targets.len(), row.len(), insert)?;
        let scope = Scope::empty(None);
        let env = Env::new(&scope, Clause::Values);
        let mut given: Vec<(i16, Expr)> = Vec::with_capacity(row.len());
        for (value, column) in row.iter().zip(targets) {
            if is_default(value) {
                continue;
            }
            if self.ignored(column, true)? {
                continue;
            }
            let typed = self.expr(value, env)?;
            given.push((column.id, self.assign(typed, column, value.span())?));
        }
        let mut exprs = Vec::new();
        for column in table.live_columns() {
            let at = given.iter().position(|(id, _)| *id == column.id);
            exprs.push(match at {
                Some(at) => given.swap_remove(at).1,
                None => self.default_of(table, column)?,
            });
        }
        Ok(exprs)
    }

    /// Whether OVERRIDING USER VALUE leaves out what is given for a column. Errors: 428C9 for a value where the column
    /// allows none.
    fn ignored(&self, column: &ColumnDescriptor, given: bool) -> Result<bool> {
        if column.generated.is_some() && given {
            let message = format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name);
            return Err(
                SqlError::new("428C9", message).detail(format!("Column \"{}\" is a generated column.", column.name))
            );
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

    fn table_rows(&self, table: &TableDescriptor, rows: Vec<Vec<Expr>>) -> Result<LogicalPlan> {
        let types: Vec<_> = table.live_columns().map(|column| column.ty).collect();
        Ok(self.rows(rows, &types)?.0)
    }

    fn insert_query(
        &self,
        table: &TableDescriptor,
        targets: &[&ColumnDescriptor],
        query: &ast::Query,
        insert: &ast::Insert,
    ) -> Result<LogicalPlan> {
        let bound = self.open_query(query)?;
        check_width(targets.len(), bound.columns.len(), insert)?;
        // Constants and parameters of unknown type take the column's type.
        let types: Vec<_> = bound
            .columns
            .iter()
            .zip(targets)
            .map(
                |(column, target)| {
                    if column.ty == crate::types::SqlType::UNKNOWN { target.ty.plain() } else { column.ty }
                },
            )
            .collect();
        let bound = self.cast_columns(bound, &types)?;
        let mut exprs = Vec::new();
        for column in table.live_columns() {
            let at = targets.iter().position(|target| target.id == column.id);
            let value = match at.and_then(|at| bound.columns.get(at)) {
                Some(source) if !self.ignored(column, true)? => self.assign(source.typed(), column, query.span())?,
                _ => self.default_of(table, column)?,
            };
            exprs.push(value.alias(self.unique("v")));
        }
        Ok(LogicalPlanBuilder::from(bound.plan).project(exprs)?.build()?)
    }
}

fn check_width(targets: usize, given: usize, insert: &ast::Insert) -> Result<()> {
    if given > targets {
        return Err(SqlError::syntax("INSERT has more expressions than target columns"));
    }
    if given < targets && !insert.columns.is_empty() {
        return Err(SqlError::syntax("INSERT has more target columns than expressions"));
    }
    Ok(())
}

/// Whether nothing stands around VALUES.
fn is_plain(query: &ast::Query) -> bool {
    query.with.is_none()
        && query.order_by.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && query.locks.is_empty()
}
