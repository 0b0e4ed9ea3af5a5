//! CREATE, ALTER and DROP ROLE.

use super::membership::Memberships;
use super::{DdlContext, owner, scram};
use catalog::acl::Acl;
use catalog::{Catalog, RoleDescriptor, predefined};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast::{DropRole, RoleKind, RoleOption, RoleOptionKind, RoleSpec, RoleStatement, RoleWord};
use syntax::role_name;
use types::text::{Moment, input};
use types::{Datum, Oid, SqlType};

impl DdlContext {
    /// The role with this name. Errors: 42704.
    pub(super) fn role(&self, name: &str) -> Result<Arc<RoleDescriptor>> {
        self.catalog
            .role(name)
            .ok_or_else(|| SqlError::new(state::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist")))
    }
    fn may_create_roles(&self, superuser: bool, what: &str) -> Result<()> {
        let own = self.catalog.role_by_oid(self.user);
        let allowed = own.is_some_and(|role| role.superuser || (role.create_role && !superuser));
        if allowed {
            Ok(())
        } else {
            Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("permission denied to {what}")))
        }
    }
    fn must_be_superuser(&self, what: &str) -> Result<()> {
        if self.catalog.is_superuser(self.user) {
            return Ok(());
        }
        Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("must be superuser to {what}")))
    }
    /// The moment of VALID UNTIL. Errors: 22007 and similar.
    fn moment(&self, text: &str) -> Result<Option<i64>> {
        let now = self.transaction_time;
        match input(
            SqlType::TIMESTAMPTZ,
            text,
            &self.settings.text_input(Some(self.catalog.as_ref()), Moment::Is(now)),
        )? {
            Datum::TimestampMicrosecond(micros, _) => Ok(micros),
            _ => Err(SqlError::internal("a moment that is none")),
        }
    }
    /// The stored form of a password. `None` for none.
    fn verifier(&self, text: &str) -> Result<Option<String>> {
        if scram::is_verifier(text) && !scram::is_of_empty_password(text) {
            return Ok(Some(text.to_string()));
        }
        if text.starts_with("md5") && text.len() == 35 {
            return Err(SqlError::unsupported("an MD5 password"));
        }
        if text.is_empty() || scram::is_verifier(text) {
            self.notice(state::SUCCESSFUL_COMPLETION, "empty string is not a valid password, clearing password");
            return Ok(None);
        }
        let mut salt = Vec::with_capacity(16);
        for _ in 0..2 {
            salt.extend_from_slice(&self.store.env().random().to_be_bytes());
        }
        Ok(Some(scram::verifier(text, &salt)))
    }
}

fn invalid(message: String) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// The options of a statement, sorted.
#[derive(Default)]
struct Options<'a> {
    superuser: Option<bool>,
    create_database: Option<bool>,
    create_role: Option<bool>,
    inherit: Option<bool>,
    login: Option<bool>,
    replication: Option<bool>,
    bypass_rls: Option<bool>,
    /// The inner `None` means no limit.
    connection_limit: Option<Option<u32>>,
    /// The inner `None` is that of PASSWORD NULL.
    password: Option<Option<&'a str>>,
    valid_until: Option<&'a str>,
    in_roles: Option<&'a [RoleSpec]>,
    members: Option<&'a [RoleSpec]>,
    admins: Option<&'a [RoleSpec]>,
}

impl<'a> Options<'a> {
    /// Errors: 42601 for an option that is written twice, 22023.
    fn of(context: &DdlContext, given: &'a [RoleOption]) -> Result<Self> {
        let mut options = Options::default();
        let mut limit = None;
        let mut kinds = Vec::with_capacity(given.len());
        for option in given {
            let kind = std::mem::discriminant(&option.kind);
            if kinds.contains(&kind) {
                return Err(SqlError::syntax("conflicting or redundant options").about_part(option.span));
            }
            match &option.kind {
                // PostgreSQL takes this one any number of times.
                RoleOptionKind::SystemId(_) => {
                    context.notice(state::SUCCESSFUL_COMPLETION, "SYSID can no longer be specified");
                    continue;
                }
                RoleOptionKind::Superuser(value) => options.superuser = Some(*value),
                RoleOptionKind::CreateDatabase(value) => options.create_database = Some(*value),
                RoleOptionKind::CreateRole(value) => options.create_role = Some(*value),
                RoleOptionKind::Inherit(value) => options.inherit = Some(*value),
                RoleOptionKind::Login(value) => options.login = Some(*value),
                RoleOptionKind::Replication(value) => options.replication = Some(*value),
                RoleOptionKind::BypassRowSecurity(value) => options.bypass_rls = Some(*value),
                RoleOptionKind::ConnectionLimit(number) => limit = Some(*number),
                RoleOptionKind::Password(text) => options.password = Some(text.as_deref()),
                RoleOptionKind::ValidUntil(text) => options.valid_until = Some(text.as_str()),
                RoleOptionKind::InRole(roles) => options.in_roles = Some(roles.as_slice()),
                RoleOptionKind::Members(roles) => options.members = Some(roles.as_slice()),
                RoleOptionKind::Admins(roles) => options.admins = Some(roles.as_slice()),
            }
            kinds.push(kind);
        }
        options.connection_limit = limit.map(connection_limit).transpose()?;
        Ok(options)
    }
    /// Changes a role as the options say, except for its members. Errors: 22007 and similar, 0A000.
    fn apply(&self, context: &DdlContext, role: &mut RoleDescriptor) -> Result<()> {
        for (field, value) in [
            (&mut role.superuser, self.superuser),
            (&mut role.create_database, self.create_database),
            (&mut role.create_role, self.create_role),
            (&mut role.no_inherit, self.inherit.map(|inherit| !inherit)),
            (&mut role.login, self.login),
            (&mut role.replication, self.replication),
            (&mut role.bypass_rls, self.bypass_rls),
        ] {
            if let Some(value) = value {
                *field = value;
            }
        }
        if let Some(limit) = self.connection_limit {
            role.connection_limit = limit;
        }
        if let Some(until) = self.valid_until {
            role.valid_until = context.moment(until)?;
        }
        if let Some(password) = self.password {
            role.password = match password {
                Some(text) => context.verifier(text)?,
                None => None,
            };
        }
        Ok(())
    }
}

/// CREATE ROLE and ALTER ROLE, except for settings and names. Returns the command tag.
pub(super) async fn execute(context: &DdlContext, statement: &RoleStatement) -> Result<String> {
    match statement.create {
        true => create(context, statement).await,
        false => alter(context, statement).await,
    }
}

/// CREATE ROLE. CREATE USER implies LOGIN.
async fn create(context: &DdlContext, create: &RoleStatement) -> Result<String> {
    let options = Options::of(context, &create.options)?;
    let superuser = context.catalog.is_superuser(context.user);
    for (is, what) in [
        (options.superuser, "create superusers"),
        (options.replication, "create replication users"),
        (options.bypass_rls, "create bypassrls users"),
    ] {
        if is == Some(true) && !superuser {
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("must be superuser to {what}")));
        }
    }
    context.may_create_roles(options.superuser == Some(true), "create role")?;
    let mut memberships = Memberships::new(context);
    let name = new_name(&role_name(&create.role))?;
    if context.catalog.role(&name).is_some() {
        return Err(SqlError::new(state::DUPLICATE_OBJECT, format!("role \"{name}\" already exists")));
    }
    let mut role = RoleDescriptor {
        oid: context.store.numbers().oid().await?,
        name,
        login: create.word == RoleWord::User,
        ..Default::default()
    };
    options.apply(context, &mut role)?;
    let made = role.oid;
    memberships.make(role);
    for role in options.in_roles.unwrap_or_default() {
        let role = memberships.named(&role_name(role))?;
        memberships.add(role, &[made], context.user, false)?;
    }
    for (members, admin) in [(options.admins, true), (options.members, false)] {
        let members = memberships.all_named(members.unwrap_or_default())?;
        memberships.add(made, &members, context.user, admin)?;
    }
    memberships.store(&mut context.writer()).await?;
    Ok("CREATE ROLE".into())
}

/// Errors: 42939 for a predefined role, which cannot be changed.
pub(super) fn must_not_be_reserved(role: &RoleDescriptor) -> Result<()> {
    if !predefined::is_predefined(role.oid) {
        return Ok(());
    }
    let message = format!("role name \"{}\" is reserved", role.name);
    Err(SqlError::new("42939", message).detail("Cannot alter reserved roles."))
}

/// Errors: 42501 if the user may not change a role by ALTER GROUP. ADMIN OPTION does not suffice. 42939.
pub(super) fn may_alter_group(context: &DdlContext, role: &RoleDescriptor) -> Result<()> {
    must_not_be_reserved(role)?;
    if role.superuser {
        return context.must_be_superuser("alter superuser roles or change superuser attribute");
    }
    if role.replication {
        return context.must_be_superuser("alter replication roles or change replication attribute");
    }
    context.may_create_roles(false, "").map_err(|error| SqlError::new(error.state(), "permission denied"))
}

/// The name of a new role, which is no word such as PUBLIC. Errors: 42939.
fn new_name(name: &str) -> Result<String> {
    if name.starts_with("pg_") {
        return Err(SqlError::new("42939", format!("role name \"{name}\" is reserved"))
            .detail("Role names starting with \"pg_\" are reserved."));
    }
    Ok(name.to_string())
}

/// CONNECTION LIMIT. -1 means no limit. Errors: 22023.
fn connection_limit(limit: i32) -> Result<Option<u32>> {
    match limit {
        -1 => Ok(None),
        limit => match u32::try_from(limit) {
            Ok(limit) => Ok(Some(limit)),
            Err(_) => Err(invalid(format!("invalid connection limit: {limit}"))),
        },
    }
}

/// ALTER ROLE with options.
async fn alter(context: &DdlContext, alter: &RoleStatement) -> Result<String> {
    let options = Options::of(context, &alter.options)?;
    let old = owner::role_of(context, &alter.role)?;
    let old = context.catalog.role_by_oid(old).ok_or_else(|| SqlError::internal("a session without a role"))?;
    must_not_be_reserved(&old)?;
    // PASSWORD alone.
    let own_password = old.oid == context.user && alter.options.len() == 1 && options.password.is_some();
    if old.superuser || options.superuser.is_some() {
        context.must_be_superuser("alter superuser roles or change superuser attribute")?;
    } else if old.replication || options.replication.is_some() {
        context.must_be_superuser("alter replication roles or change replication attribute")?;
    } else if options.bypass_rls.is_some() {
        context.must_be_superuser("change bypassrls attribute")?;
    } else if !own_password {
        let allowed = context.may_create_roles(false, "alter role");
        allowed.map_err(|error| SqlError::new(error.state(), "permission denied"))?;
    }
    let mut role = RoleDescriptor::clone(&old);
    options.apply(context, &mut role)?;
    let mut memberships = Memberships::new(context);
    memberships.make(role);
    let members = memberships.all_named(options.members.unwrap_or_default())?;
    memberships.add(old.oid, &members, context.user, false)?;
    memberships.store(&mut context.writer()).await?;
    Ok("ALTER ROLE".into())
}

/// ALTER ROLE … RENAME TO. Returns the command tag.
pub(super) async fn rename(context: &DdlContext, name: &str, new: &str) -> Result<String> {
    let old = context.role(name)?;
    must_not_be_reserved(&old)?;
    let mut role = RoleDescriptor::clone(&old);
    role.name = renamed(context, &old, new)?;
    let mut writer = context.writer();
    writer.put_role(Some(&old), &role)?;
    writer.flush().await?;
    Ok("ALTER ROLE".into())
}

/// The new name of a role. Errors: 42501, 42939, 42710, and 0A000 for a role that the session uses.
fn renamed(context: &DdlContext, old: &RoleDescriptor, name: &str) -> Result<String> {
    let session = context.catalog.role(&context.settings.session_user()).map(|role| role.oid);
    for (is, what) in [(session == Some(old.oid), "session"), (old.oid == context.user, "current")] {
        if is {
            let message = format!("{what} user cannot be renamed");
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
    }
    let new = new_name(name)?;
    if context.catalog.role(&new).is_some() {
        return Err(SqlError::new(state::DUPLICATE_OBJECT, format!("role \"{new}\" already exists")));
    }
    match old.superuser {
        true => context.must_be_superuser("rename superusers")?,
        false => context.may_create_roles(false, "rename role")?,
    }
    Ok(new)
}

/// DROP ROLE. Returns the command tag.
pub(super) async fn drop(context: &DdlContext, statement: &DropRole) -> Result<String> {
    context.may_create_roles(false, "drop role")?;
    let session = context.catalog.role(&context.settings.session_user()).map(|role| role.oid);
    let mut writer = context.writer();
    for role in &statement.roles {
        let RoleKind::Named(name) = &role.kind else {
            return Err(invalid("cannot use special role specifier in DROP ROLE".into()));
        };
        let Some(role) = context.catalog.role(name) else {
            if statement.if_exists {
                context.notice(state::SUCCESSFUL_COMPLETION, format!("role \"{name}\" does not exist, skipping"));
                continue;
            }
            return Err(SqlError::new(state::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist")));
        };
        for (is, what) in [(role.oid == context.user, "current"), (session == Some(role.oid), "session")] {
            if is {
                return Err(SqlError::new(state::OBJECT_IN_USE, format!("{what} user cannot be dropped")));
            }
        }
        if role.superuser {
            context.must_be_superuser("drop superusers")?;
        }
        if predefined::is_predefined(role.oid) || role.oid == catalog::builder::SUPERUSER_OID {
            let message = format!("cannot drop role {name} because it is required by the database system");
            return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message));
        }
        let mut depends = dependents(context, &role).await?;
        for database in context.catalog.databases() {
            if database.oid == context.catalog.database().oid {
                continue;
            }
            let other = context.store.snapshot(&context.transaction, database.oid).await?;
            let large = super::large_object::dependents(context, database.oid, role.oid).await?;
            let count = within(context, &other, &role).len() + large.len();
            if count > 0 {
                let plural = if count == 1 { "" } else { "s" };
                depends.push(format!("{count} object{plural} in database {}", database.name));
            }
        }
        if !depends.is_empty() {
            let message = format!("role \"{name}\" cannot be dropped because some objects depend on it");
            return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message).detail(depends.join("\n")));
        }
        writer.remove_role(&role);
        for member in context.catalog.roles() {
            let mut changed = RoleDescriptor::clone(&member);
            changed.member_of.retain(|membership| membership.role != role.oid);
            if changed != *member {
                writer.put_role(Some(&member), &changed)?;
            }
        }
    }
    writer.flush().await?;
    Ok("DROP ROLE".into())
}

/// The objects that a role owns or has privileges on in this database, and databases. The messages
/// list the oldest first.
async fn dependents(context: &DdlContext, role: &RoleDescriptor) -> Result<Vec<String>> {
    let mut found = within(context, &context.catalog, role);
    found.extend(super::large_object::dependents(context, context.catalog.database().oid, role.oid).await?);
    for database in context.catalog.databases() {
        let what = format!("database {}", database.name);
        found.extend(
            dependence(role, database.owner, granted(role, &database.acl), &what).map(|what| (database.oid, what)),
        );
    }
    found.sort_by_key(|(oid, _)| *oid);
    Ok(found.into_iter().map(|(_, what)| what).collect())
}

fn granted(role: &RoleDescriptor, acl: &Option<Acl>) -> bool {
    acl.iter().flatten().any(|grant| grant.grantee == role.oid)
}

fn dependence(role: &RoleDescriptor, owner: Oid, granted: bool, what: &str) -> Option<String> {
    match owner == role.oid {
        true => Some(format!("owner of {what}")),
        false => granted.then(|| format!("privileges for {what}")),
    }
}

/// The objects in a database that a role owns or has privileges on.
fn within(context: &DdlContext, catalog: &Catalog, role: &RoleDescriptor) -> Vec<(Oid, String)> {
    let mut found: Vec<(Oid, String)> = Vec::new();
    let mut add = |oid, owner, granted: bool, what: String| {
        found.extend(dependence(role, owner, granted, &what).map(|what| (oid, what)));
    };
    for table in catalog.user_relations() {
        let by_column = table.sequence.as_ref().is_some_and(|sequence| sequence.owned_by.is_some());
        let of_columns = table.columns.iter().flat_map(|column| &column.acl).any(|grant| grant.grantee == role.oid);
        let what = format!("{} {}", super::drop::kind_word(table), context.shown_name(table));
        if !by_column || table.owner != role.oid {
            add(table.oid, table.owner, granted(role, &table.acl) || of_columns, what);
        }
    }
    for ty in catalog.enums() {
        add(ty.oid, ty.owner, granted(role, &ty.acl), format!("type {}", ty.name));
    }
    for schema in catalog.schemas() {
        add(schema.oid, schema.owner, granted(role, &schema.acl), format!("schema {}", schema.name));
    }
    for entry in &catalog.database().default_acls {
        let what = match entry.kind() {
            catalog::acl::Kind::Sequence => "sequences",
            catalog::acl::Kind::Schema => "schemas",
            _ => "relations",
        };
        let owner = catalog.role_by_oid(entry.role).map(|role| role.name.clone()).unwrap_or_default();
        let schema = catalog.schema_by_oid(entry.schema);
        let place = schema.map(|schema| format!(" in schema {}", schema.name)).unwrap_or_default();
        let granted = entry.acl.iter().any(|grant| grant.grantee == role.oid);
        let what = format!("default privileges on new {what} belonging to role {owner}{place}");
        add(entry.oid, entry.role, granted, what);
    }
    found
}
