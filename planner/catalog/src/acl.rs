//! The privileges of roles: whose privileges a role has, and what the grants on an object give it.

use super::{Catalog, ColumnId, DatabaseDescriptor, RoleDescriptor, SchemaDescriptor, TableDescriptor, predefined};
use std::sync::Arc;
use types::Oid;
use types::keyword::quote;

pub use types::acl::*;

/// The roles whose privileges a role has: itself, and those that it is a member of and inherits from. `owner`: that of the database.
fn inherited(role: Oid, owner: Oid, known: impl Fn(Oid) -> Option<Arc<RoleDescriptor>>) -> Vec<Oid> {
    let mut roles = vec![role];
    let mut at = 0;
    while let Some(next) = roles.get(at).copied() {
        at += 1;
        if next == owner && !roles.contains(&predefined::DATABASE_OWNER) {
            roles.push(predefined::DATABASE_OWNER);
        }
        let Some(descriptor) = known(next).filter(|role| role.inherits()) else { continue };
        for membership in &descriptor.member_of {
            if !roles.contains(&membership.role) {
                roles.push(membership.role);
            }
        }
    }
    roles
}

/// Whether a role may connect to a database, by the roles of the server.
pub fn may_connect(role: &RoleDescriptor, database: &DatabaseDescriptor, all: &[Arc<RoleDescriptor>]) -> bool {
    let Some(acl) = database.acl.as_ref().filter(|_| !role.superuser) else { return true };
    let roles = inherited(role.oid, database.owner, |oid| all.iter().find(|role| role.oid == oid).cloned());
    let held = acl.iter().filter(|grant| grant.grantee == PUBLIC || roles.contains(&grant.grantee));
    held.fold(0, |all, grant| all | grant.rights) & CONNECT != 0
}

impl Catalog {
    /// The roles whose privileges a role has: itself, and those that it is a member of and inherits from.
    pub fn acts_for(&self, role: Oid) -> Vec<Oid> {
        inherited(role, self.database().owner, |role| self.role_by_oid(role))
    }
    /// Whether a role is a member of another, however far, whether it inherits or not: it may SET ROLE to it.
    pub fn is_member(&self, role: Oid, of: Oid) -> bool {
        let mut roles = vec![role];
        let mut at = 0;
        while let Some(next) = roles.get(at).copied() {
            at += 1;
            if next == of || of == predefined::DATABASE_OWNER && next == self.database().owner {
                return true;
            }
            for membership in self.role_by_oid(next).iter().flat_map(|role| role.member_of.iter()) {
                if !roles.contains(&membership.role) {
                    roles.push(membership.role);
                }
            }
        }
        false
    }
    /// Whether a role may make others members of `of`: a role that it is or belongs to has ADMIN OPTION. No role has it on itself.
    pub fn administers(&self, role: Oid, of: Oid) -> bool {
        if self.is_superuser(role) {
            return true;
        }
        let mut roles = vec![role];
        let mut at = 0;
        while let Some(next) = roles.get(at).copied().filter(|_| role != of) {
            at += 1;
            for membership in self.role_by_oid(next).iter().flat_map(|role| role.member_of.iter()) {
                if membership.role == of && membership.admin {
                    return true;
                }
                if !roles.contains(&membership.role) {
                    roles.push(membership.role);
                }
            }
        }
        false
    }
    /// Whether a role is a superuser.
    pub fn is_superuser(&self, role: Oid) -> bool {
        self.role_by_oid(role).is_some_and(|role| role.superuser)
    }
    /// Whether a role may do everything with what `owner` owns.
    pub fn owns(&self, role: Oid, owner: Oid) -> bool {
        role == owner || self.is_superuser(role) || self.acts_for(role).contains(&owner)
    }
    /// Which of the privileges `wanted` a role has on an object with these grants.
    pub fn rights(&self, role: Oid, kind: Kind, owner: Oid, acl: Option<&Acl>, wanted: Rights) -> Rights {
        if self.is_superuser(role) {
            return wanted;
        }
        let roles = self.acts_for(role);
        let default;
        let acl = match acl {
            Some(acl) => acl,
            None => {
                default = default_acl(kind, owner);
                &default
            }
        };
        let held = acl.iter().filter(|grant| grant.grantee == PUBLIC || roles.contains(&grant.grantee));
        let everywhere = predefined::rights(&roles, kind);
        held.fold(everywhere, |all, grant| all | grant.rights) & wanted
    }
    /// Whether a role may read columns of a table. It reads an expression of an index (column 0) if it may read all columns.
    pub fn reads(&self, role: Oid, table: &TableDescriptor, columns: impl IntoIterator<Item = ColumnId>) -> bool {
        if self.rights(role, Kind::Table, table.owner, table.acl.as_ref(), SELECT) == SELECT {
            return true;
        }
        columns.into_iter().all(|id| {
            let column = table.column(id).filter(|_| id != 0);
            column
                .is_some_and(|column| self.rights(role, Kind::Column, table.owner, Some(&column.acl), SELECT) == SELECT)
        })
    }
    /// Whether a role may know the values of a table's columns that others write: it may read them, or sees the statements of others
    /// as a member of pg_read_all_stats.
    pub fn watches(&self, role: Oid, table: &TableDescriptor, columns: impl IntoIterator<Item = ColumnId>) -> bool {
        self.acts_for(role).contains(&predefined::READ_ALL_STATISTICS) || self.reads(role, table, columns)
    }
    /// Which of the privileges `wanted` a role may grant.
    pub fn grantable(&self, role: Oid, kind: Kind, owner: Oid, acl: Option<&Acl>, wanted: Rights) -> Rights {
        if self.owns(role, owner) {
            return wanted & kind.all();
        }
        let roles = self.acts_for(role);
        let held = acl.into_iter().flatten().filter(|grant| roles.contains(&grant.grantee));
        held.fold(0, |all, grant| all | grant.grantable) & wanted
    }
    /// By whom a role grants privileges: the owner for those who act for it, else the first of the roles it acts for that
    /// may grant all of them.
    pub fn grantor(&self, role: Oid, owner: Oid, acl: Option<&Acl>, wanted: Rights) -> Oid {
        if self.owns(role, owner) {
            return owner;
        }
        let may = |candidate: Oid| {
            let held = acl.into_iter().flatten().filter(|grant| grant.grantee == candidate);
            held.fold(0, |all, grant| all | grant.grantable) & wanted
        };
        let roles = self.acts_for(role);
        let best = roles.iter().copied().find(|candidate| may(*candidate) == wanted);
        best.or_else(|| roles.iter().copied().max_by_key(|candidate| may(*candidate).count_ones())).unwrap_or(role)
    }
    /// A grant as `aclitem` prints it.
    pub fn shown_grant(&self, grant: &Grant) -> String {
        let name = |oid: Oid| match oid {
            PUBLIC => String::new(),
            oid => self.role_by_oid(oid).map_or_else(|| oid.to_string(), |role| quote(&role.name)),
        };
        let mut letters = String::new();
        for (bit, letter) in LETTERS.chars().enumerate() {
            if grant.rights & (1 << bit) != 0 {
                letters.push(letter);
                if grant.grantable & (1 << bit) != 0 {
                    letters.push('*');
                }
            }
        }
        format!("{}={letters}/{}", name(grant.grantee), name(grant.grantor))
    }
}

/// The role whose privileges count on what a view reads and writes: its owner. `None` stands for the role that runs the
/// statement (security_invoker).
pub fn role_below(view: &TableDescriptor) -> Option<Oid> {
    let invokes = view.view.as_ref().is_some_and(|view| view.security_invoker == Some(true));
    (!invokes).then_some(view.owner)
}

/// The grants on a schema, including implicit ones: every role has USAGE on `public` and the system schemas.
pub fn schema_acl(schema: &SchemaDescriptor) -> Option<Acl> {
    let open = schema.oid == crate::builder::PUBLIC_SCHEMA_OID
        || crate::SYSTEM_SCHEMAS.iter().any(|(oid, _)| *oid == schema.oid);
    if schema.acl.is_none() && open {
        let mut acl = default_acl(Kind::Schema, schema.owner);
        grant(&mut acl, PUBLIC, schema.owner, USAGE, false);
        return Some(acl);
    }
    schema.acl.clone()
}
