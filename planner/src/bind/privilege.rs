//! Privileges: what a statement needs of the relations that it names, asked while it is bound.

use super::binder::Binder;
use super::scope::Scope;
use super::view::Names;
use crate::catalog::acl::{Kind, Rights, SELECT, USAGE};
use crate::catalog::{RelationKind, TableDescriptor, is_temporary};
use crate::error::{Result, SqlError, state};
use crate::types::Oid;
use datafusion::common::TableReference;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use std::sync::Arc;

/// A relation of which a role may read some columns only.
#[derive(Clone, Debug, PartialEq)]
pub struct Partly {
    /// Under which it is read.
    qualifier: TableReference,
    table: Arc<TableDescriptor>,
    role: Oid,
    /// Whether it is the one that is written.
    target: bool,
}

/// 42501.
fn denied(table: &TableDescriptor) -> SqlError {
    let kind = match table.kind {
        RelationKind::Sequence => "sequence",
        RelationKind::View => "view",
        RelationKind::Table | RelationKind::SystemView => "table",
    };
    SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("permission denied for {kind} {}", table.name))
}

const SCHEMA_DENIED: &str = "permission denied for schema";

/// Whether an error is that a schema is not to be looked into.
pub fn denies_schema(error: &SqlError) -> bool {
    error.fields().message.starts_with(SCHEMA_DENIED)
}

impl Binder<'_> {
    /// The role whose privileges count: within a view's query its owner's. `None` where none are asked for.
    pub fn acting(&self) -> Option<Oid> {
        if !self.context.settings.is_checked() || matches!(self.names, Names::Noting(_)) {
            return None;
        }
        if let Some(owner) = self.owner {
            return Some(owner);
        }
        // Who is no role any more has what everybody has.
        Some(self.context.catalog.role(self.context.settings.user()).map_or(Oid::MAX, |role| role.oid))
    }
    fn has(&self, role: Oid, table: &TableDescriptor, rights: Rights) -> bool {
        let kind = if table.kind == RelationKind::Sequence { Kind::Sequence } else { Kind::Table };
        table.kind == RelationKind::SystemView
            || self.context.catalog.rights(role, kind, table.owner, table.acl.as_ref(), rights) == rights
    }
    /// Errors: 42501 for a relation on which the privileges are not there, those on columns aside.
    pub fn require(&self, table: &TableDescriptor, rights: Rights) -> Result<()> {
        self.acting().map_or(Ok(()), |role| self.require_as(role, table, rights))
    }
    /// The same of a role.
    pub fn require_as(&self, role: Oid, table: &TableDescriptor, rights: Rights) -> Result<()> {
        if self.has(role, table, rights) { Ok(()) } else { Err(denied(table)) }
    }
    /// The same for some columns (by name): a privilege on each of them is enough.
    pub fn require_columns<'c>(
        &self,
        table: &TableDescriptor,
        rights: Rights,
        columns: impl IntoIterator<Item = &'c str>,
    ) -> Result<()> {
        self.acting().map_or(Ok(()), |role| self.require_columns_as(role, table, rights, columns))
    }
    /// The same of a role.
    pub fn require_columns_as<'c>(
        &self,
        role: Oid,
        table: &TableDescriptor,
        rights: Rights,
        columns: impl IntoIterator<Item = &'c str>,
    ) -> Result<()> {
        if self.has(role, table, rights) {
            return Ok(());
        }
        let mut any = false;
        for name in columns {
            any = true;
            let held = table
                .column_named(name)
                .map(|column| self.context.catalog.rights(role, Kind::Column, table.owner, Some(&column.acl), rights));
            if held != Some(rights) {
                return Err(denied(table));
            }
        }
        // Who names no column needs a privilege on some.
        let some = || {
            table.live_columns().any(|column| {
                self.context.catalog.rights(role, Kind::Column, table.owner, Some(&column.acl), rights) == rights
            })
        };
        if any || some() { Ok(()) } else { Err(denied(table)) }
    }
    /// Notes that a relation is read under a qualifier: what is read of it must be allowed, which the end of the binding
    /// tells. Errors: 42501 when nothing of it is.
    pub fn require_read(&self, table: &Arc<TableDescriptor>, qualifier: &TableReference) -> Result<()> {
        let Some(role) = self.acting() else { return Ok(()) };
        if self.has(role, table, SELECT) {
            return Ok(());
        }
        let target = self.writing.get();
        if !target {
            self.require_columns(table, SELECT, [])?;
        }
        let partly = Partly { qualifier: qualifier.clone(), table: table.clone(), role, target };
        self.read.borrow_mut().push(partly);
        Ok(())
    }
    /// Errors: 42501 for an expression that reads columns on which the privilege to read is not there.
    pub fn check_read(&self, expr: &Expr) -> Result<()> {
        self.wrongly_read(expr, true).map_or(Ok(()), |table| Err(denied(&table)))
    }
    /// The relation of a column that an expression reads and may not; `targets`: also of the one that is written.
    fn wrongly_read(&self, expr: &Expr, targets: bool) -> Option<Arc<TableDescriptor>> {
        let read = self.read.borrow();
        if read.is_empty() {
            return None;
        }
        let mut wrong = None;
        // The visitor cannot fail.
        let _ = expr.apply(|part| {
            // A place is made of a number that is no column, or of one that may be read; to read it takes the whole table.
            if let Expr::ScalarFunction(call) = part
                && super::system_column::is_place(call.name())
                && let Some(Expr::Column(key) | Expr::OuterReferenceColumn(_, key)) = call.args.first()
                && let Some(partly) = read.iter().find(|partly| key.relation.as_ref() == Some(&partly.qualifier))
                && (targets || !partly.target)
            {
                wrong = Some(partly.table.clone());
                return Ok(TreeNodeRecursion::Stop);
            }
            if let Expr::Column(column) | Expr::OuterReferenceColumn(_, column) = part
                && let Some(partly) = read.iter().find(|partly| column.relation.as_ref() == Some(&partly.qualifier))
                && (targets || !partly.target)
                && let Some(named) = partly.table.column_named(&column.name)
                && self.context.catalog.rights(partly.role, Kind::Column, partly.table.owner, Some(&named.acl), SELECT)
                    != SELECT
            {
                wrong = Some(partly.table.clone());
                return Ok(TreeNodeRecursion::Stop);
            }
            Ok(TreeNodeRecursion::Continue)
        });
        wrong
    }
    /// Errors: 42501 for expressions of RETURNING that read columns of the written relation, the scope's first, which may
    /// not be read.
    pub fn require_returned<'e>(&self, scope: &Scope<'_>, exprs: impl Iterator<Item = &'e Expr>) -> Result<()> {
        let Some(target) = scope.relations.first() else { return Ok(()) };
        let table = target.columns.first().and_then(|column| self.context.catalog.relation_by_oid(column.table_oid));
        let Some(table) = table else { return Ok(()) };
        let mut names: Vec<&str> = Vec::new();
        for expr in exprs {
            // The visitor cannot fail.
            let _ = expr.apply(|part| {
                let read = target.columns.iter().find(|column| matches!(part, Expr::Column(_)) && column.expr == *part);
                names.extend(read.and_then(|read| table.column(read.attnum)).map(|column| column.name.as_str()));
                Ok(TreeNodeRecursion::Continue)
            });
        }
        if names.is_empty() { Ok(()) } else { self.require_columns(&table, SELECT, names) }
    }
    /// The same for all that a plan reads of relations that it does not write.
    pub fn check_plan(&self, plan: &LogicalPlan) -> Result<()> {
        if self.read.borrow().is_empty() {
            return Ok(());
        }
        let mut wrong = None;
        plan.apply_with_subqueries(|node| {
            node.apply_expressions(|expr| {
                wrong = wrong.take().or_else(|| self.wrongly_read(expr, false));
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        wrong.map_or(Ok(()), |table| Err(denied(&table)))
    }
    /// Errors: 42501 for a schema that is not to be looked into.
    pub fn require_usage(&self, schema: &str) -> Result<()> {
        let Some(role) = self.acting().filter(|_| !is_temporary(schema)) else { return Ok(()) };
        let Some(found) = self.context.catalog.schema(schema) else { return Ok(()) };
        let own = crate::ddl::schema_acl(&found);
        if self.context.catalog.rights(role, Kind::Schema, found.owner, own.as_ref(), USAGE) == USAGE {
            return Ok(());
        }
        Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("{SCHEMA_DENIED} {schema}")))
    }
}
