//! Data-modifying WITH: INSERT, UPDATE and DELETE as WITH queries. Each is a part of the statement with its own plan,
//! which runs exactly once to its end. References to it read the returned rows. All parts see one snapshot.

use super::binder::{Binder, column};
use super::query::BoundQuery;
use super::scope::ScopeColumn;
use super::{BoundKind, Verb};
use datafusion::logical_expr::{Extension, LogicalPlan};
use executor::held_rows::HeldRowsNode;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast;
use types::Oid;

/// A data-modifying WITH query as a part of the statement.
#[derive(Debug)]
pub struct Part {
    /// Plan of the part.
    pub plan: LogicalPlan,
    /// Whether its rows are not read. Then it runs after the main statement.
    pub last: bool,
}

/// The parts of a statement that is being bound.
#[derive(Default)]
pub struct Parts {
    parts: Vec<Part>,
    /// The written tables; a table occurs once per write.
    tables: Vec<Oid>,
}

impl Parts {
    /// The parts, and whether two writes (including the statement itself) have the same table.
    pub fn finish(self, own: Option<Oid>) -> (Vec<Part>, bool) {
        let mut tables = self.tables;
        tables.extend(own);
        let written = tables.len();
        tables.sort_unstable();
        tables.dedup();
        (self.parts, tables.len() < written)
    }
}

/// The WITH of a query or write. `None` also for other statements.
pub fn with_of(statement: &ast::Statement) -> Option<&ast::With> {
    match statement {
        ast::Statement::Query(query) => query.with.as_ref(),
        ast::Statement::Insert(insert) => insert.with.as_ref(),
        ast::Statement::Update(update) => update.with.as_ref(),
        ast::Statement::Delete(delete) => delete.with.as_ref(),
        ast::Statement::Merge(merge) => merge.with.as_ref(),
        _ => None,
    }
}

impl Binder<'_> {
    /// Binds INSERT, UPDATE, DELETE or MERGE with its WITH clause. `top` says whether it is the whole statement.
    pub fn write(&self, statement: &ast::Statement, top: bool) -> Result<BoundKind> {
        let depth = self.enter_with_of_write(statement, top)?;
        let bound = match statement {
            ast::Statement::Insert(insert) => self.insert(insert),
            ast::Statement::Update(update) => self.update(update),
            ast::Statement::Delete(delete) => self.delete(delete),
            ast::Statement::Merge(_) if !top => {
                Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "MERGE not supported in WITH query"))
            }
            ast::Statement::Merge(merge) => self.merge(merge),
            _ => Err(SqlError::internal("a statement that does not write")),
        };
        self.leave_with(depth);
        bound
    }

    /// Whether the statement has a data-modifying WITH query so far.
    pub fn has_parts(&self) -> bool {
        !self.parts.borrow().parts.is_empty()
    }

    /// Binds a data-modifying WITH query to a new part. The answer includes its rows, or `None` without RETURNING.
    pub fn part(&self, table: &ast::CommonTable, statement: &ast::Statement) -> Result<(usize, Option<BoundQuery>)> {
        let bound = self.write(statement, false).map_err(|error| match statement {
            ast::Statement::Merge(_) => self.at(error, table.name.span),
            _ => error,
        })?;
        let BoundKind::Dml { plan, columns, table: written, .. } = bound else {
            return Err(SqlError::internal("a write bound to something else"));
        };
        let mut parts = self.parts.borrow_mut();
        let number = parts.parts.len();
        let rows = columns.map(|columns| {
            let names = plan.schema().fields().iter().map(|field| field.name().clone());
            let columns = columns.into_iter().zip(names).map(|(output, internal)| ScopeColumn {
                name: output.name,
                expr: column(internal),
                ty: output.ty,
                table_oid: output.table_oid,
                attnum: output.attnum,
                reading: None,
            });
            let node = Arc::new(HeldRowsNode { part: number, schema: plan.schema().clone() });
            BoundQuery { columns: columns.collect(), plan: LogicalPlan::Extension(Extension { node }) }
        });
        parts.tables.extend(written.map(|table| table.oid));
        parts.parts.push(Part { plan, last: true });
        Ok((number, rows))
    }

    /// Records that a part's rows are read.
    pub fn note_read(&self, part: usize) {
        if let Some(part) = self.parts.borrow_mut().parts.get_mut(part) {
            part.last = false;
        }
    }

    /// Turns a query whose WITH writes into a write that returns rows.
    pub fn with_parts(&self, kind: BoundKind) -> BoundKind {
        match kind {
            BoundKind::Query { plan, columns, .. } if self.has_parts() => {
                BoundKind::Dml { plan, columns: Some(columns), verb: Verb::Select, table: None }
            }
            other => other,
        }
    }
}

/// The error 0A000 for reading a WITH query without RETURNING.
pub fn no_returning(name: &str) -> SqlError {
    let message = format!("WITH query \"{name}\" does not have a RETURNING clause");
    SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
}

/// The error 0A000 for a data-modifying WITH query that does not belong to the top-level statement.
pub fn not_at_the_top() -> SqlError {
    let message = "WITH clause containing a data-modifying statement must be at the top level";
    SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
}
