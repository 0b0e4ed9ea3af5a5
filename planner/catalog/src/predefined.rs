//! The predefined roles of PostgreSQL (manual, 22.5). They always exist, and are stored only once they were altered.

use super::acl::{self, Kind, Rights};
use super::{Membership, RoleDescriptor};
use types::Oid;

/// Role pg_database_owner, whose only member is the database's owner.
pub const DATABASE_OWNER: Oid = 6171;
/// Role pg_read_all_data: reads all tables, views and sequences, and uses all schemas.
pub const READ_ALL_DATA: Oid = 6181;
/// Role pg_write_all_data: writes all tables, views and sequences, and uses all schemas.
pub const WRITE_ALL_DATA: Oid = 6182;
/// Role pg_read_all_stats: sees the statements of others.
pub const READ_ALL_STATISTICS: Oid = 3375;
/// Role pg_signal_backend: cancels statements and sessions of others.
pub const SIGNAL_BACKEND: Oid = 4200;
/// Role pg_checkpoint: runs checkpoints.
pub const CHECKPOINT: Oid = 4544;
/// Role pg_read_all_settings: sees settings that reveal details of the machine.
pub const READ_ALL_SETTINGS: Oid = 3374;
/// Role pg_monitor: has all monitoring roles.
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

/// Whether a role is predefined.
pub fn is_predefined(role: Oid) -> bool {
    ALL.iter().any(|(oid, _)| *oid == role)
}

/// All predefined roles in their initial form.
pub fn roles() -> impl Iterator<Item = RoleDescriptor> {
    ALL.iter().map(|(oid, name)| {
        let of = |role| Membership { role, grantor: super::builder::SUPERUSER_OID, admin: false };
        let member_of =
            if *oid == MONITOR { vec![of(READ_ALL_SETTINGS), of(READ_ALL_STATISTICS), of(3377)] } else { Vec::new() };
        RoleDescriptor { oid: *oid, name: (*name).to_string(), member_of, ..Default::default() }
    })
}

/// The privileges that members of these roles have on all objects of a kind.
pub fn rights(roles: &[Oid], kind: Kind) -> Rights {
    let (reads, writes) = (roles.contains(&READ_ALL_DATA), roles.contains(&WRITE_ALL_DATA));
    let (read, written) = match kind {
        Kind::Table | Kind::Sequence | Kind::Column => (acl::SELECT, acl::INSERT | acl::UPDATE | acl::DELETE),
        Kind::Schema => (acl::USAGE, acl::USAGE),
        Kind::Database | Kind::Type | Kind::Function | Kind::LargeObject => (0, 0),
    };
    (if reads { read } else { 0 }) | (if writes { written } else { 0 })
}
