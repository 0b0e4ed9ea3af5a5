//! Access control lists: privileges and grants as plain data (PostgreSQL's `aclitem`). Which role acts for which others is the
//! catalog's to say.

use crate::Oid;
use serde::{Deserialize, Serialize};

/// Everybody, as a grantee.
pub const PUBLIC: Oid = 0;

/// A set of privileges, one bit each in the order of [`LETTERS`].
pub type Rights = u32;

/// The letters of `aclitem`.
pub const LETTERS: &str = "arwdDxtXUCTc";

/// INSERT.
pub const INSERT: Rights = 1;
/// SELECT.
pub const SELECT: Rights = 1 << 1;
/// UPDATE.
pub const UPDATE: Rights = 1 << 2;
/// DELETE.
pub const DELETE: Rights = 1 << 3;
/// TRUNCATE.
pub const TRUNCATE: Rights = 1 << 4;
/// REFERENCES.
pub const REFERENCES: Rights = 1 << 5;
/// TRIGGER.
pub const TRIGGER: Rights = 1 << 6;
/// EXECUTE.
pub const EXECUTE: Rights = 1 << 7;
/// USAGE.
pub const USAGE: Rights = 1 << 8;
/// CREATE.
pub const CREATE: Rights = 1 << 9;
/// TEMPORARY.
pub const TEMPORARY: Rights = 1 << 10;
/// CONNECT.
pub const CONNECT: Rights = 1 << 11;

/// The names of privileges.
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

/// The kinds of objects that have privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A table or view.
    Table,
    /// A column.
    Column,
    /// A sequence.
    Sequence,
    /// A schema.
    Schema,
    /// A database.
    Database,
    /// A type.
    Type,
    /// A function.
    Function,
    /// A large object.
    LargeObject,
}

impl Kind {
    /// All privileges that there are of it.
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
    /// As messages name it.
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

/// What one role granted another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// To whom; [`PUBLIC`] for everybody.
    pub grantee: Oid,
    /// By whom.
    pub grantor: Oid,
    /// What.
    pub rights: Rights,
    /// The privileges that the grantee may grant on.
    pub grantable: Rights,
}

/// The grants on an object.
pub type Acl = Vec<Grant>;

/// The grants on new objects of a role (`pg_default_acl`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultAcl {
    /// OID.
    pub oid: Oid,
    /// The role that will own them.
    pub role: Oid,
    /// The schema that they will be in; 0 for any.
    pub schema: Oid,
    /// What they are: `r` tables and views, `S` sequences, `n` schemas, `T` types, `f` functions.
    pub kind: char,
    /// All grants in place of PostgreSQL's own; of a schema those beside.
    pub acl: Acl,
}

impl DefaultAcl {
    /// The kind of object that its privileges are of.
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

/// Whether two lists grant the same, in whatever order.
pub fn same(one: &Acl, other: &Acl) -> bool {
    one.len() == other.len() && one.iter().all(|grant| other.contains(grant))
}

/// The grants on a new object: what PostgreSQL grants by itself. Column have none of their own.
pub fn default_acl(kind: Kind, owner: Oid) -> Acl {
    let grant = |grantee, rights| Grant { grantee, grantor: owner, rights, grantable: 0 };
    match kind {
        Kind::Column => Vec::new(),
        Kind::Database => vec![grant(PUBLIC, TEMPORARY | CONNECT), grant(owner, kind.all())],
        Kind::Type | Kind::Function => vec![grant(PUBLIC, kind.all()), grant(owner, kind.all())],
        _ => vec![grant(owner, kind.all())],
    }
}

/// Adds a grant.
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

/// Takes privileges back, or only the right to grant them on. What the grantee granted on depends on it: `cascade` takes
/// it along. Answers false when there is such a thing, and `cascade` is not said.
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
    // What it may still grant by others' leave.
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
        // Who was granted the same by another keeps what came from it.
        let mut acl = default_acl(Kind::Table, 1);
        grant(&mut acl, 2, 1, SELECT, true);
        grant(&mut acl, 2, 4, SELECT, true);
        grant(&mut acl, 3, 2, SELECT, false);
        assert!(revoke(&mut acl, 2, 1, SELECT, false, false, 1));
        assert!(acl.iter().any(|grant| grant.grantee == 3));
    }
}
