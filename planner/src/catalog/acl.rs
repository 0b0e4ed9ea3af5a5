//! Privileges on objects as lists of grants, and the roles whose privileges a role has.

use super::{Catalog, ColumnId, DatabaseDescriptor, RoleDescriptor, TableDescriptor, predefined};
use crate::parse::names::quote;
use crate::types::Oid;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The grantee PUBLIC, which stands for all roles.
pub const PUBLIC: Oid = 0;

/// A set of privileges: one bit each, in the order of [`LETTERS`].
pub type Rights = u32;

/// The letters of privileges in `aclitem`.
pub const LETTERS: &str = "arwdDxtXUCTc";

/// The privilege INSERT, letter `a`.
pub const INSERT: Rights = 1;
/// The privilege SELECT, letter `r`.
pub const SELECT: Rights = 1 << 1;
/// The privilege UPDATE, letter `w`.
pub const UPDATE: Rights = 1 << 2;
/// The privilege DELETE, letter `d`.
pub const DELETE: Rights = 1 << 3;
/// The privilege TRUNCATE, letter `D`.
pub const TRUNCATE: Rights = 1 << 4;
/// The privilege REFERENCES, letter `x`.
pub const REFERENCES: Rights = 1 << 5;
/// The privilege TRIGGER, letter `t`.
pub const TRIGGER: Rights = 1 << 6;
/// The privilege EXECUTE, letter `X`.
pub const EXECUTE: Rights = 1 << 7;
/// The privilege USAGE, letter `U`.
pub const USAGE: Rights = 1 << 8;
/// The privilege CREATE, letter `C`.
pub const CREATE: Rights = 1 << 9;
/// The privilege TEMPORARY, letter `T`.
pub const TEMPORARY: Rights = 1 << 10;
/// The privilege CONNECT, letter `c`.
pub const CONNECT: Rights = 1 << 11;

/// Names of privileges in SQL.
pub const NAMES: &[(&str, Rights)] = &[
    ("INSERT", INSERT),
    ("SELECT", SELECT),
    ("UPDATE", UPDATE),
    ("DELETE", DELETE),
    ("TRUNCATE", TRUNCATE),
    ("REFERENCES", REFERENCES),
    ("TRIGGER", TRIGGER),
    ("EXECUTE", EXECUTE),
    ("USAGE", USAGE),
    ("CREATE", CREATE),
    ("TEMPORARY", TEMPORARY),
    ("TEMP", TEMPORARY),
    ("CONNECT", CONNECT),
];

/// The kind of object that privileges apply to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A table or view.
    Table,
    /// A column of a table or view.
    Column,
    /// A sequence, also one of a column.
    Sequence,
    /// A schema in a database.
    Schema,
    /// A database of the cluster.
    Database,
    /// A type, such as an enum.
    Type,
    /// A function, which only the system defines.
    Function,
    /// A large object in a database.
    LargeObject,
}

impl Kind {
    /// All privileges that exist for this kind.
    pub fn all(self) -> Rights {
        match self {
            Kind::Table => INSERT | SELECT | UPDATE | DELETE | TRUNCATE | REFERENCES | TRIGGER,
            Kind::Column => INSERT | SELECT | UPDATE | REFERENCES,
            Kind::Sequence => SELECT | UPDATE | USAGE,
            Kind::Schema => USAGE | CREATE,
            Kind::Database => CREATE | TEMPORARY | CONNECT,
            Kind::Type => USAGE,
            Kind::Function => EXECUTE,
            Kind::LargeObject => SELECT | UPDATE,
        }
    }
    /// The kind's name in error messages.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Table => "table",
            Kind::Column => "column",
            Kind::Sequence => "sequence",
            Kind::Schema => "schema",
            Kind::Database => "database",
            Kind::Type => "type",
            Kind::Function => "function",
            Kind::LargeObject => "large object",
        }
    }
}

/// A grant from one role to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// The role that has the privileges. [`PUBLIC`] stands for all roles.
    pub grantee: Oid,
    /// The role that granted the privileges.
    pub grantor: Oid,
    /// The privileges that are granted.
    pub rights: Rights,
    /// The privileges that the grantee may grant to others (WITH GRANT OPTION).
    pub grantable: Rights,
}

/// All grants on an object.
pub type Acl = Vec<Grant>;

/// The default grants on new objects of a role (`pg_default_acl`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultAcl {
    /// Its OID in pg_default_acl.
    pub oid: Oid,
    /// OID of the role that will own the objects.
    pub role: Oid,
    /// OID of the schema of the objects. 0 means any schema.
    pub schema: Oid,
    /// Kind of objects: `r` tables and views, `S` sequences, `n` schemas, `T` types, `f` functions.
    pub kind: char,
    /// Replaces PostgreSQL's default grants. For a schema, it adds to them.
    pub acl: Acl,
}

impl DefaultAcl {
    /// The kind of object that the privileges apply to.
    pub fn kind(&self) -> Kind {
        match self.kind {
            'S' => Kind::Sequence,
            'n' => Kind::Schema,
            'T' => Kind::Type,
            'f' => Kind::Function,
            _ => Kind::Table,
        }
    }
}

/// Whether both lists contain the same grants in any order.
pub fn same(one: &Acl, other: &Acl) -> bool {
    one.len() == other.len() && one.iter().all(|grant| other.contains(grant))
}

/// PostgreSQL's default grants on a new object. Columns have none.
pub fn default_acl(kind: Kind, owner: Oid) -> Acl {
    let grant = |grantee, rights| Grant { grantee, grantor: owner, rights, grantable: 0 };
    match kind {
        Kind::Column => Vec::new(),
        Kind::Database => vec![grant(PUBLIC, TEMPORARY | CONNECT), grant(owner, kind.all())],
        Kind::Type | Kind::Function => vec![grant(PUBLIC, kind.all()), grant(owner, kind.all())],
        _ => vec![grant(owner, kind.all())],
    }
}

/// Adds a grant to a list. `option` includes the grant option.
pub fn grant(acl: &mut Acl, grantee: Oid, grantor: Oid, rights: Rights, option: bool) {
    let grantable = if option { rights } else { 0 };
    match acl.iter_mut().find(|grant| grant.grantee == grantee && grant.grantor == grantor) {
        Some(found) => {
            found.rights |= rights;
            found.grantable |= grantable;
        }
        None => acl.push(Grant { grantee, grantor, rights, grantable }),
    }
}

/// Revokes privileges, or only the grant option. Grants that the grantee made with them depend on it: `cascade` revokes
/// these too. False if there are such grants and `cascade` is not set.
pub fn revoke(
    acl: &mut Acl,
    grantee: Oid,
    grantor: Oid,
    rights: Rights,
    option_only: bool,
    cascade: bool,
    owner: Oid,
) -> bool {
    if let Some(found) = acl.iter_mut().find(|grant| grant.grantee == grantee && grant.grantor == grantor) {
        found.grantable &= !rights;
        if !option_only {
            found.rights &= !rights;
        }
    }
    acl.retain(|grant| grant.rights != 0);
    if grantee == owner || grantee == PUBLIC {
        return true;
    }
    // Privileges that it may still grant because of other grantors.
    let left = acl.iter().filter(|grant| grant.grantee == grantee).fold(0, |all, grant| all | grant.grantable);
    loop {
        let dependent =
            acl.iter().find(|grant| grant.grantor == grantee && grant.rights & rights & !left != 0).copied();
        let Some(dependent) = dependent else { return true };
        if !cascade {
            return false;
        }
        let lost = dependent.rights & rights & !left;
        revoke(acl, dependent.grantee, grantee, lost, false, true, owner);
    }
}

/// The roles whose privileges a role has: itself, and those that it is a member of and inherits from. `owner` is the
/// database's owner.
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

/// Whether a role may connect to a database. `all` are the cluster's roles.
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
    /// Whether a role is a direct or indirect member of another, so that it may SET ROLE to it. INHERIT does not
    /// matter.
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
    /// Whether a role may grant membership in `of`: the role, or one it belongs to, has ADMIN OPTION. A role never has
    /// it on itself.
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
    /// Whether a role has all rights on the objects of `owner`.
    pub fn owns(&self, role: Oid, owner: Oid) -> bool {
        role == owner || self.is_superuser(role) || self.acts_for(role).contains(&owner)
    }
    /// The privileges among `wanted` that a role has on an object with these grants.
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
    /// Whether a role may read columns of a table. For an index expression (column 0), it must be able to read all
    /// columns.
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
    /// Whether a role may see values of a table's columns that others write. It must be able to read the columns, or be
    /// a member of pg_read_all_stats, which sees others' statements.
    pub fn watches(&self, role: Oid, table: &TableDescriptor, columns: impl IntoIterator<Item = ColumnId>) -> bool {
        self.acts_for(role).contains(&predefined::READ_ALL_STATISTICS) || self.reads(role, table, columns)
    }
    /// The privileges among `wanted` that a role may grant.
    pub fn grantable(&self, role: Oid, kind: Kind, owner: Oid, acl: Option<&Acl>, wanted: Rights) -> Rights {
        if self.owns(role, owner) {
            return wanted & kind.all();
        }
        let roles = self.acts_for(role);
        let held = acl.into_iter().flatten().filter(|grant| roles.contains(&grant.grantee));
        held.fold(0, |all, grant| all | grant.grantable) & wanted
    }
    /// The grantor for grants by a role. It is the owner for roles that act for it. Otherwise it is the first role that
    /// the role acts for and that may grant all privileges.
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
    /// The text of a grant as `aclitem` prints it.
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn what_was_granted_on_goes_with_cascade_only() {
        let mut acl = default_acl(Kind::Table, 1);
        grant(&mut acl, 2, 1, SELECT | INSERT, true);
        grant(&mut acl, 3, 2, SELECT, false);
        let mut refused = acl.clone();
        assert!(!revoke(&mut refused, 2, 1, SELECT, false, false, 1));
        assert!(revoke(&mut acl, 2, 1, SELECT, false, true, 1));
        assert!(!acl.iter().any(|grant| grant.grantee == 3));
        assert_eq!(acl.iter().find(|grant| grant.grantee == 2).unwrap().rights, INSERT);
        // A grantee keeps the grants it made as long as another grantor gave it the same privilege.
        let mut acl = default_acl(Kind::Table, 1);
        grant(&mut acl, 2, 1, SELECT, true);
        grant(&mut acl, 2, 4, SELECT, true);
        grant(&mut acl, 3, 2, SELECT, false);
        assert!(revoke(&mut acl, 2, 1, SELECT, false, false, 1));
        assert!(acl.iter().any(|grant| grant.grantee == 3));
    }
}
