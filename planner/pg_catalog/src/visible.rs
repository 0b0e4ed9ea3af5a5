//! [`Visible`]: the objects that a role sees in `information_schema`. The standard's views show objects that a role
//! owns or has privileges on. The rules are those of PostgreSQL's `information_schema.sql`.

pub use ::builtin::closed::{closed_kind, is_open, is_readable};
use catalog::acl::{self, Acl, Kind, Rights};
use catalog::{ColumnDescriptor, SchemaDescriptor, TableDescriptor, is_temporary, predefined};
use executor::StatementContext;
use types::Oid;

/// Any privilege on a column.
pub(super) const ON_COLUMNS: Rights = acl::SELECT | acl::INSERT | acl::UPDATE | acl::REFERENCES;

/// Any privilege on a table except SELECT.
pub(super) const BEYOND_SELECT: Rights =
    acl::INSERT | acl::UPDATE | acl::DELETE | acl::TRUNCATE | acl::REFERENCES | acl::TRIGGER;

/// Any privilege on a table.
pub(super) const ON_TABLES: Rights = BEYOND_SELECT | acl::SELECT;

/// The objects that a statement's role sees.
pub(super) struct Visible<'c> {
    context: &'c StatementContext,
    superuser: bool,
    roles: Vec<Oid>,
}

impl<'c> Visible<'c> {
    /// The view of the role that runs a statement.
    pub(super) fn new(context: &'c StatementContext) -> Self {
        let role = context.role();
        Visible { context, superuser: context.catalog.is_superuser(role), roles: context.catalog.acts_for(role) }
    }
    /// Whether the role has the privileges of an owner: `pg_has_role(owner, 'USAGE')`.
    pub(super) fn owns(&self, owner: Oid) -> bool {
        self.superuser || self.roles.contains(&owner)
    }
    fn holds(&self, kind: Kind, acl: Option<&Acl>, rights: Rights) -> bool {
        let granted = |grant: &acl::Grant| {
            grant.rights & rights != 0 && (grant.grantee == acl::PUBLIC || self.roles.contains(&grant.grantee))
        };
        predefined::rights(&self.roles, kind) & rights != 0 || acl.is_some_and(|acl| acl.iter().any(granted))
    }
    /// Whether a relation is temporary and belongs to another session.
    fn is_of_another(&self, table: &TableDescriptor) -> bool {
        is_temporary(&table.schema) && self.context.settings.temporary() != Some(table.schema.as_str())
    }
    /// Whether the role has one of `rights` on a table, or one of `of_columns` on one of its columns.
    pub(super) fn table(&self, table: &TableDescriptor, rights: Rights, of_columns: Rights) -> bool {
        if self.is_of_another(table) {
            return false;
        }
        self.owns(table.owner)
            || self.of_system(table, rights)
            || self.holds(Kind::Table, table.acl.as_ref(), rights)
            || table.live_columns().any(|column| self.holds(Kind::Column, Some(&column.acl), of_columns))
    }
    /// Whether the role has a privilege on a column of a table.
    pub(super) fn column(&self, table: &TableDescriptor, column: &ColumnDescriptor) -> bool {
        if self.is_of_another(table) {
            return false;
        }
        self.owns(table.owner)
            || self.of_system(table, ON_COLUMNS)
            || self.holds(Kind::Table, table.acl.as_ref(), ON_COLUMNS)
            || self.holds(Kind::Column, Some(&column.acl), ON_COLUMNS)
    }
    fn of_system(&self, table: &TableDescriptor, rights: Rights) -> bool {
        rights & acl::SELECT != 0 && is_open(table)
    }
    /// Whether the role has a privilege on a sequence.
    pub(super) fn sequence(&self, sequence: &TableDescriptor) -> bool {
        !self.is_of_another(sequence)
            && (self.owns(sequence.owner) || self.holds(Kind::Sequence, sequence.acl.as_ref(), Kind::Sequence.all()))
    }
    /// Whether the role has a privilege on a schema.
    pub(super) fn schema(&self, schema: &SchemaDescriptor) -> bool {
        self.owns(schema.owner) || self.holds(Kind::Schema, acl::schema_acl(schema).as_ref(), Kind::Schema.all())
    }
}
