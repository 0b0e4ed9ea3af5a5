//! The roles that PostgreSQL brings along (manual, chapter 22.5): always there, never stored unless something is said of
//! them.

use super::acl::{self, Kind, Rights};
use super::{Membership, RoleDescriptor};
use types::Oid;

/// Whoever owns the database is a member of it.
pub const DATABASE_OWNER: Oid = 6171;
/// Reads all tables, views and sequences, and uses all schemas.
pub const READ_ALL_DATA: Oid = 6181;
/// Writes them, and uses all schemas.
pub const WRITE_ALL_DATA: Oid = 6182;
/// Sees what others do.
pub const READ_ALL_STATISTICS: Oid = 3375;
/// Ends what others do.
pub const SIGNAL_BACKEND: Oid = 4200;
/// Starts checkpoints.
pub const CHECKPOINT: Oid = 4544;
/// Sees settings that tell of the machine.
pub const READ_ALL_SETTINGS: Oid = 3374;
/// Sees all of these things.
pub const MONITOR: Oid = 3373;

const ALL: &[(Oid, &str)] = &[
    (MONITOR, "pg_monitor"),
    (READ_ALL_SETTINGS, "pg_read_all_settings"),
    (READ_ALL_STATISTICS, "pg_read_all_stats"),
    (3377, "pg_stat_scan_tables"),
    (SIGNAL_BACKEND, "pg_signal_backend"),
    (CHECKPOINT, "pg_checkpoint"),
    (4569, "pg_read_server_files"),
    (4570, "pg_write_server_files"),
    (4571, "pg_execute_server_program"),
    (DATABASE_OWNER, "pg_database_owner"),
    (READ_ALL_DATA, "pg_read_all_data"),
    (WRITE_ALL_DATA, "pg_write_all_data"),
];

/// Whether a role is one of them.
pub fn is_predefined(role: Oid) -> bool {
    ALL.iter().any(|(oid, _)| *oid == role)
}

/// All of them, as they are at first.
pub fn roles() -> impl Iterator<Item = RoleDescriptor> {
    ALL.iter().map(|(oid, name)| {
        let of = |role| Membership { role, grantor: super::builder::SUPERUSER_OID, admin: false };
        let member_of =
            if *oid == MONITOR { vec![of(READ_ALL_SETTINGS), of(READ_ALL_STATISTICS), of(3377)] } else { Vec::new() };
        RoleDescriptor { oid: *oid, name: (*name).to_string(), member_of, ..Default::default() }
    })
}

/// The privileges on everything of a kind that whoever acts for these roles has.
pub fn rights(roles: &[Oid], kind: Kind) -> Rights {
    let (reads, writes) = (roles.contains(&READ_ALL_DATA), roles.contains(&WRITE_ALL_DATA));
    let (read, written) = match kind {
        Kind::Table | Kind::Sequence | Kind::Column => (acl::SELECT, acl::INSERT | acl::UPDATE | acl::DELETE),
        Kind::Schema => (acl::USAGE, acl::USAGE),
        Kind::Database | Kind::Type | Kind::Function | Kind::LargeObject => (0, 0),
    };
    (if reads { read } else { 0 }) | (if writes { written } else { 0 })
}
