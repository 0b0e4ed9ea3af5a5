//! ALTER ROLE … SET and ALTER DATABASE … SET: the settings that sessions begin with. They are stored as written, and
//! validated again when a session begins.

use super::DdlContext;
use catalog::{DatabaseDescriptor, RoleDescriptor, StoredSettings};
use settings::is_custom_name;
use settings::list::flattened;
use settings::{Settings, registry, unknown};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::{AlterSettings, SettingChange, SettingRole};

fn denied(message: &str) -> SqlError {
    SqlError::new(state::INSUFFICIENT_PRIVILEGE, message)
}

impl DdlContext {
    /// A database by name. Errors: 3D000.
    pub(super) fn database_named(&self, name: &str) -> Result<Arc<DatabaseDescriptor>> {
        self.catalog
            .databases()
            .into_iter()
            .find(|database| database.name == name)
            .ok_or_else(|| SqlError::new(state::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist")))
    }
    /// Errors: 42501 if the user does not own the database.
    pub(super) fn must_own_database(&self, database: &DatabaseDescriptor) -> Result<()> {
        if self.is_owner(database.owner) {
            return Ok(());
        }
        Err(denied(&format!("must be owner of database {}", database.name)))
    }
}

/// ALTER ROLE … [IN DATABASE …] SET and RESET, ALTER DATABASE … SET and RESET. Errors: 42704, 3D000, 42501,
/// and those of SET.
pub async fn alter_settings(context: &DdlContext, alter: &AlterSettings) -> Result<String> {
    let catalog = &context.catalog;
    let role = match &alter.role {
        SettingRole::All => None,
        SettingRole::Named(name) => Some(match name.as_str() {
            "current_user" | "current_role" => context.role(context.settings.user())?,
            "session_user" => context.role(&context.settings.session_user())?,
            name => context.role(name)?,
        }),
    };
    if let Some(role) = &role {
        super::role::must_not_be_reserved(role)?;
        let user = catalog.role_by_oid(context.user);
        let superuser = user.as_ref().is_some_and(|user| user.superuser);
        if role.superuser && !superuser {
            return Err(denied("must be superuser to alter superusers"));
        }
        if !superuser && role.oid != context.user && !user.is_some_and(|user| user.create_role) {
            return Err(denied("permission denied"));
        }
    }
    let database = alter.database.as_deref().map(|name| context.database_named(name)).transpose()?;
    let mut writer = context.writer();
    let tag = match (&role, &database) {
        (Some(role), database) => {
            let mut changed = RoleDescriptor::clone(role);
            let of = database.as_ref().map_or(0, |database| database.oid);
            let at = changed.settings.iter().position(|(known, _)| *known == of);
            let mut settings = at.map(|at| changed.settings.remove(at).1).unwrap_or_default();
            change(context, &mut settings, &alter.change)?;
            if !settings.is_empty() {
                changed.settings.push((of, settings));
            }
            writer.put_role(Some(role), &changed)?;
            "ALTER ROLE"
        }
        (None, Some(database)) => {
            context.must_own_database(database)?;
            let mut changed = DatabaseDescriptor::clone(database);
            change(context, &mut changed.settings, &alter.change)?;
            writer.put_database(Some(database), &changed)?;
            "ALTER DATABASE"
        }
        (None, None) => {
            if !catalog.is_superuser(context.user) {
                return Err(denied("must be superuser to alter settings globally"));
            }
            // They are stored with the superuser, the role that always exists.
            let first = catalog.role_by_oid(catalog::builder::SUPERUSER_OID);
            let first = first.ok_or_else(|| SqlError::internal("the first superuser is not there"))?;
            let mut changed = RoleDescriptor::clone(&first);
            change(context, &mut changed.settings_of_all, &alter.change)?;
            writer.put_role(Some(&first), &changed)?;
            "ALTER ROLE"
        }
    };
    writer.flush().await?;
    Ok(tag.into())
}

/// The stored form of a setting's name. Errors: 42704.
fn kept_name(name: &str) -> Result<String> {
    match registry::find(name) {
        Some(definition) => Ok(definition.name.to_string()),
        None if is_custom_name(name) => Ok(name.to_lowercase()),
        None => Err(unknown(name)),
    }
}

fn change(context: &DdlContext, settings: &mut StoredSettings, change: &SettingChange) -> Result<()> {
    let (name, value) = match change {
        SettingChange::ResetAll => {
            // RESET ALL keeps settings that the user may not set.
            settings.retain(|(name, _)| context.settings.may_set(name).is_err());
            return Ok(());
        }
        SettingChange::Reset(name) => {
            context.settings.may_set(name)?;
            (kept_name(name)?, None)
        }
        SettingChange::FromCurrent(name) => {
            context.settings.may_set(name)?;
            let value = context.settings.get(name).ok_or_else(|| unknown(name))?;
            (kept_name(name)?, Some(value))
        }
        SettingChange::Set(name, values) => {
            let value = flattened(name, values)?;
            context.settings.may_set(name)?;
            context.settings.with(name, &value)?;
            (kept_name(name)?, Some(value))
        }
    };
    let at = settings.iter().position(|(known, _)| *known == name);
    match (at.and_then(|at| settings.get_mut(at)), at, value) {
        (Some(known), _, Some(value)) => known.1 = value,
        (None, _, Some(value)) => settings.push((name, value)),
        (_, Some(at), None) => {
            settings.remove(at);
        }
        (_, None, None) => {}
    }
    Ok(())
}

/// The initial settings of a session of a role in a database, in PostgreSQL's order: those of all sessions, of
/// the database, of the role, and of the role in the database. The second part holds the errors of settings that
/// are no longer valid.
pub fn first_settings(
    mut settings: Settings,
    roles: &[Arc<RoleDescriptor>],
    role: &RoleDescriptor,
    database: &DatabaseDescriptor,
) -> (Settings, Vec<SqlError>) {
    let of_all = roles.iter().find(|role| role.oid == catalog::builder::SUPERUSER_OID);
    let of_role = |database| role.settings.iter().filter(move |(of, _)| *of == database).flat_map(|(_, list)| list);
    let all = of_all.into_iter().flat_map(|role| &role.settings_of_all);
    let mut wrong = Vec::new();
    for (name, value) in all.chain(&database.settings).chain(of_role(0)).chain(of_role(database.oid)) {
        match settings.with(name, value) {
            Ok(with) => settings = with,
            Err(error) => wrong.push(error),
        }
    }
    (settings, wrong)
}
