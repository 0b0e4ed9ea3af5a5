//! Privileges on the relations of a statement. They are checked while it is bound.

use super::binder::Binder;
use super::scope::{Reading, ScopeRelation};
use super::view::Names;
use builtin::closed;
use catalog::acl::{Kind, Rights, SELECT, USAGE};
use catalog::{RelationKind, TableDescriptor, is_temporary, predefined};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::Oid;

/// A relation of which the role may not read all columns.
#[derive(Clone, Debug)]
pub struct Partly {
    table: Arc<TableDescriptor>,
    /// Records reads of the columns that the role may not read.
    reading: Arc<Reading>,
    /// Set for a relation below a written view: reads count only if the view itself is read.
    beneath: Option<Arc<Reading>>,
}

impl Partly {
    /// Whether both stand for the same occurrence of a relation in the statement.
    pub fn is(&self, other: &Partly) -> bool {
        Arc::ptr_eq(&self.reading, &other.reading)
    }
}

/// The error 42501 for a relation.
fn denied(table: &TableDescriptor) -> SqlError {
    let kind = match table.kind {
        RelationKind::Sequence => "sequence",
        RelationKind::View => "view",
        RelationKind::Table => "table",
        RelationKind::SystemView => closed::closed_kind(table),
    };
    // PostgreSQL checks when the plan starts, so the error has no position.
    SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("permission denied for {kind} {}", table.name)).of_values()
}

const SCHEMA_DENIED: &str = "permission denied for schema";

/// Whether an error reports a missing USAGE privilege on a schema.
pub fn denies_schema(error: &SqlError) -> bool {
    error.fields().message.starts_with(SCHEMA_DENIED)
}

impl Binder<'_> {
    /// The role whose privileges count: within a view's query, its owner. `None` if privileges are not checked.
    pub fn acting(&self) -> Option<Oid> {
        if !self.context.settings.is_checked() || matches!(self.names, Names::Noting(_)) {
            return None;
        }
        if let Some(owner) = self.owner {
            return Some(owner);
        }
        // A dropped role has the privileges of PUBLIC.
        Some(self.context.catalog.role(self.context.settings.user()).map_or(Oid::MAX, |role| role.oid))
    }
    fn has(&self, role: Oid, table: &TableDescriptor, rights: Rights) -> bool {
        let kind = if table.kind == RelationKind::Sequence { Kind::Sequence } else { Kind::Table };
        if table.kind == RelationKind::SystemView {
            return closed::is_readable(table) || self.context.catalog.is_superuser(role);
        }
        self.context.catalog.rights(role, kind, table.owner, table.acl.as_ref(), rights) == rights
    }
    /// Checks privileges on a relation, except those on columns. Errors: 42501.
    pub fn require(&self, table: &TableDescriptor, rights: Rights) -> Result<()> {
        self.acting().map_or(Ok(()), |role| self.require_as(role, table, rights))
    }
    /// Like [`Binder::require`], for a given role.
    pub fn require_as(&self, role: Oid, table: &TableDescriptor, rights: Rights) -> Result<()> {
        if self.has(role, table, rights) { Ok(()) } else { Err(denied(table)) }
    }
    /// Like [`Binder::require`], but a privilege on each of these columns (by name) also suffices.
    pub fn require_columns<'c>(
        &self,
        table: &TableDescriptor,
        rights: Rights,
        columns: impl IntoIterator<Item = &'c str>,
    ) -> Result<()> {
        self.acting().map_or(Ok(()), |role| self.require_columns_as(role, table, rights, columns))
    }
    /// Like [`Binder::require_columns`], for a given role.
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
        // Without column names, a privilege on any column suffices.
        let some = || {
            table.live_columns().any(|column| {
                self.context.catalog.rights(role, Kind::Column, table.owner, Some(&column.acl), rights) == rights
            })
        };
        if any || some() { Ok(()) } else { Err(denied(table)) }
    }
    /// Records that a relation is read. [`Binder::check_read`] later checks the columns that are used. Errors: 42501 if
    /// the role may read no column, unless the relation is written.
    pub fn require_read(&self, table: &Arc<TableDescriptor>, relation: &mut ScopeRelation) -> Result<()> {
        let Some(role) = self.acting() else { return Ok(()) };
        if !self.writing.get() {
            self.require_columns_as(role, table, SELECT, [])?;
        }
        self.watch(role, table, relation, self.beneath.as_ref());
        Ok(())
    }
    /// Records which of the forbidden columns are read. `beneath` is set if the relation is written through a view.
    pub fn watch(
        &self,
        role: Oid,
        table: &Arc<TableDescriptor>,
        relation: &mut ScopeRelation,
        beneath: Option<&Arc<Reading>>,
    ) {
        if self.has(role, table, SELECT) {
            return;
        }
        let also = relation.reading.clone();
        let reading = Reading::along_with(also);
        for column in &mut relation.columns {
            let held = table
                .column(column.attnum)
                .map(|column| self.context.catalog.rights(role, Kind::Column, table.owner, Some(&column.acl), SELECT));
            if held != Some(SELECT) {
                column.reading = Some(Arc::clone(&reading));
            }
        }
        relation.reading = Some(Arc::clone(&reading));
        self.read.borrow_mut().push(Partly { table: table.clone(), reading, beneath: beneath.cloned() });
    }
    /// Checks the columns that were read. Errors: 42501 for a column without the privilege.
    pub fn check_read(&self) -> Result<()> {
        let read = self.read.borrow();
        let counts = |partly: &&Partly| partly.beneath.as_ref().is_none_or(|view| view.is_noted());
        let wrong = read.iter().filter(counts).find(|partly| partly.reading.is_noted());
        wrong.map_or(Ok(()), |partly| Err(denied(&partly.table)))
    }
    /// Checks a query of `percosql.sequences`: the role must be able to read all sequences. Errors: 42501. A query of
    /// one sequence reads its row there, but needs only the privilege on that sequence.
    pub fn require_all_sequences(&self, table: &TableDescriptor) -> Result<()> {
        match self.acting() {
            Some(role)
                if table.oid == builtin::SEQUENCES_VIEW
                    && !self.context.catalog.owns(role, predefined::READ_ALL_DATA) =>
            {
                Err(denied(table))
            }
            _ => Ok(()),
        }
    }
    /// Checks the USAGE privilege on a schema. Errors: 42501.
    pub fn require_usage(&self, schema: &str) -> Result<()> {
        let Some(role) = self.acting().filter(|_| !is_temporary(schema)) else { return Ok(()) };
        let Some(found) = self.context.catalog.schema(schema) else { return Ok(()) };
        let own = catalog::acl::schema_acl(&found);
        if self.context.catalog.rights(role, Kind::Schema, found.owner, own.as_ref(), USAGE) == USAGE {
            return Ok(());
        }
        Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("{SCHEMA_DENIED} {schema}")))
    }
}
