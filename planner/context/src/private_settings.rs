//! Settings that reveal facts of the machine: which roles may read them.

use catalog::{Catalog, predefined};
use settings::registry;
use sql_error::{SqlError, state};
use types::Oid;

/// Whether a role may see private settings, which reveal facts of the machine.
pub fn sees_private(catalog: &Catalog, role: Oid) -> bool {
    catalog.owns(role, predefined::READ_ALL_SETTINGS)
}

/// 42501 for reading a private setting.
pub fn private(name: &str) -> SqlError {
    let name = registry::find(name).map_or(name, |definition| definition.name);
    let message = format!("must be superuser or have privileges of pg_read_all_settings to examine \"{name}\"");
    SqlError::new(state::INSUFFICIENT_PRIVILEGE, message)
}
