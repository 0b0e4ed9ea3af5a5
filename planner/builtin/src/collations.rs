//! The collations that every database has.

use types::Oid;

/// All collations: OID and name.
pub const COLLATIONS: [(Oid, &str); 5] =
    [(100, "default"), (950, "C"), (951, "POSIX"), (12_340, "ucs_basic"), (12_341, "C.utf8")];

/// The OID of a collation. 0 if there is none of this name.
pub fn collation_oid(name: &str) -> Oid {
    COLLATIONS.iter().find(|(_, known)| *known == name).map_or(0, |(oid, _)| *oid)
}

/// The name of a collation.
pub fn collation_name(oid: Oid) -> Option<&'static str> {
    COLLATIONS.iter().find(|(known, _)| *known == oid).map(|(_, name)| *name)
}
