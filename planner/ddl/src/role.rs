//! CREATE, ALTER and DROP ROLE.

use super::membership::Memberships;
use super::{DdlContext, scram};
use catalog::acl::Acl;
use catalog::{Catalog, RoleDescriptor, predefined};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{
    AlterRoleOperation, CreateRole, Expr, Ident, ObjectName, ObjectNamePart, Password, RoleOption, Value, ValueWithSpan,
};
use std::sync::Arc;
use syntax::{fold, fold_name};
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
    fn moment(&self, expr: &Expr) -> Result<Option<i64>> {
        let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = expr else {
            return Err(SqlError::syntax(format!("syntax error at or near \"{expr}\"")));
        };
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
    fn verifier(&self, password: &Password) -> Result<Option<String>> {
        let expr = match password {
            Password::NullPassword => return Ok(None),
            Password::Password(expr) => expr,
        };
        let Expr::Value(value) = expr else { return Err(SqlError::syntax("the password must be a string")) };
        let Value::SingleQuotedString(text) = &value.value else {
            return Err(SqlError::syntax("the password must be a string"));
        };
        if scram::is_verifier(text) && !scram::is_of_empty_password(text) {
            return Ok(Some(text.clone()));
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

/// CREATE ROLE. The parser turns CREATE USER into CREATE ROLE … LOGIN.
pub(super) async fn create(context: &DdlContext, create: &CreateRole) -> Result<String> {
    if create.authorization_owner.is_some() {
        return Err(SqlError::unsupported("CREATE ROLE with AUTHORIZATION"));
    }
    let superuser = context.catalog.is_superuser(context.user);
    for (is, what) in [
        (create.superuser, "create superusers"),
        (create.replication, "create replication users"),
        (create.bypassrls, "create bypassrls users"),
    ] {
        if is == Some(true) && !superuser {
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, format!("must be superuser to {what}")));
        }
    }
    context.may_create_roles(create.superuser == Some(true), "create role")?;
    let mut memberships = Memberships::new(context);
    for name in &create.names {
        let word = name.0.last().and_then(ObjectNamePart::as_ident).ok_or_else(|| SqlError::internal("no name"))?;
        let name = new_name(word)?;
        if context.catalog.role(&name).is_some() {
            return Err(SqlError::new(state::DUPLICATE_OBJECT, format!("role \"{name}\" already exists")));
        }
        let role = RoleDescriptor {
            oid: context.store.numbers().oid().await?,
            name,
            superuser: create.superuser.unwrap_or(false),
            login: create.login.unwrap_or(false),
            create_database: create.create_db.unwrap_or(false),
            create_role: create.create_role.unwrap_or(false),
            replication: create.replication.unwrap_or(false),
            bypass_rls: create.bypassrls.unwrap_or(false),
            comment: None,
            no_inherit: create.inherit == Some(false),
            connection_limit: create.connection_limit.as_ref().map_or(Ok(None), connection_limit)?,
            valid_until: create.valid_until.as_ref().map_or(Ok(None), |until| context.moment(until))?,
            password: create.password.as_ref().map_or(Ok(None), |password| context.verifier(password))?,
            ..Default::default()
        };
        let made = role.oid;
        memberships.make(role);
        for role in create.in_role.iter().chain(&create.in_group) {
            let role = memberships.named(&fold(role))?;
            memberships.add(role, &[made], context.user, false)?;
        }
        for (members, admin) in [(&create.admin, true), (&create.role, false), (&create.user, false)] {
            let members = members.iter().map(|member| memberships.named(&fold(member))).collect::<Result<Vec<_>>>()?;
            memberships.add(made, &members, context.user, admin)?;
        }
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

/// Errors: 42501 if the user may not change a role by ALTER GROUP. ADMIN OPTION does not suffice. 42704, 42939.
pub(super) fn may_alter_group(context: &DdlContext, name: &str) -> Result<()> {
    let role = context.role(name)?;
    must_not_be_reserved(&role)?;
    if role.superuser {
        return context.must_be_superuser("alter superuser roles or change superuser attribute");
    }
    if role.replication {
        return context.must_be_superuser("alter replication roles or change replication attribute");
    }
    context.may_create_roles(false, "").map_err(|error| SqlError::new(error.state(), "permission denied"))
}

/// Whether a name is a word that stands for a role.
fn is_special(name: &Ident) -> bool {
    name.quote_style.is_none()
        && ["current_user", "current_role", "session_user"].contains(&name.value.to_ascii_lowercase().as_str())
}

/// The name of a new role. Errors: 42939.
fn new_name(name: &Ident) -> Result<String> {
    let reserved = |message: String| SqlError::new("42939", message).about(&name.value);
    if is_special(name) {
        return Err(reserved(format!("{} cannot be used as a role name here", name.value.to_uppercase())));
    }
    let name = fold(name);
    if name == "public" || name == "none" {
        return Err(reserved(format!("role name \"{name}\" is reserved")));
    }
    if name.starts_with("pg_") {
        return Err(SqlError::new("42939", format!("role name \"{name}\" is reserved"))
            .detail("Role names starting with \"pg_\" are reserved."));
    }
    Ok(name)
}

/// CONNECTION LIMIT. -1 means no limit. Errors: 22023.
fn connection_limit(expr: &Expr) -> Result<Option<u32>> {
    let text = expr.to_string().replace(' ', "");
    match text.parse::<i64>() {
        // This is how the parser represents -1.
        Ok(-1 | 4_294_967_295) => Ok(None),
        Ok(limit) if limit >= 0 => Ok(u32::try_from(limit).ok()),
        _ => Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("invalid connection limit: {text}"))),
    }
}

pub(super) async fn alter(context: &DdlContext, name: &Ident, operation: &AlterRoleOperation) -> Result<String> {
    let old = match is_special(name) {
        true => context.catalog.role_by_oid(context.grantee(&fold(name))?),
        false => Some(context.role(&fold(name))?),
    };
    let old = old.ok_or_else(|| SqlError::internal("a session without a role"))?;
    must_not_be_reserved(&old)?;
    let mut role = RoleDescriptor::clone(&old);
    if let AlterRoleOperation::RenameRole { role_name } = operation {
        role.name = renamed(context, &old, role_name)?;
        let mut writer = context.writer();
        writer.put_role(Some(&old), &role)?;
        writer.flush().await?;
        return Ok("ALTER ROLE".into());
    }
    let own_password = role.oid == context.user
        && matches!(operation, AlterRoleOperation::WithOptions { options }
            if options.iter().all(|option| matches!(option, RoleOption::Password(_))));
    let options = match operation {
        AlterRoleOperation::WithOptions { options } => options.as_slice(),
        _ => &[],
    };
    let says = |is: fn(&RoleOption) -> bool| options.iter().any(is);
    if old.superuser || says(|option| matches!(option, RoleOption::SuperUser(_))) {
        context.must_be_superuser("alter superuser roles or change superuser attribute")?;
    } else if old.replication || says(|option| matches!(option, RoleOption::Replication(_))) {
        context.must_be_superuser("alter replication roles or change replication attribute")?;
    } else if says(|option| matches!(option, RoleOption::BypassRLS(_))) {
        context.must_be_superuser("change bypassrls attribute")?;
    } else if !own_password {
        let allowed = context.may_create_roles(false, "alter role");
        allowed.map_err(|error| match operation {
            AlterRoleOperation::WithOptions { .. } => SqlError::new(error.state(), "permission denied"),
            _ => error,
        })?;
    }
    match operation {
        AlterRoleOperation::WithOptions { options } => {
            let kinds: Vec<_> = options.iter().map(std::mem::discriminant).collect();
            if kinds.iter().enumerate().any(|(at, kind)| kinds.iter().skip(at + 1).any(|other| other == kind)) {
                return Err(SqlError::syntax("conflicting or redundant options"));
            }
            for option in options {
                match option {
                    RoleOption::CreateDB(value) => role.create_database = *value,
                    RoleOption::CreateRole(value) => role.create_role = *value,
                    RoleOption::Login(value) => role.login = *value,
                    RoleOption::SuperUser(value) => role.superuser = *value,
                    RoleOption::Password(password) => role.password = context.verifier(password)?,
                    RoleOption::ValidUntil(until) => role.valid_until = context.moment(until)?,
                    RoleOption::Inherit(inherit) => role.no_inherit = !*inherit,
                    RoleOption::ConnectionLimit(limit) => role.connection_limit = connection_limit(limit)?,
                    RoleOption::BypassRLS(value) => role.bypass_rls = *value,
                    RoleOption::Replication(value) => role.replication = *value,
                }
            }
        }
        other => return Err(SqlError::unsupported(format!("ALTER ROLE {other}"))),
    }
    let mut writer = context.writer();
    writer.put_role(Some(&old), &role)?;
    writer.flush().await?;
    Ok("ALTER ROLE".into())
}

/// The new name of a role. Errors: 42501, 42939, 42710, and 0A000 for a role that the session uses.
fn renamed(context: &DdlContext, old: &RoleDescriptor, name: &Ident) -> Result<String> {
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

pub(super) async fn drop(context: &DdlContext, if_exists: bool, names: &[ObjectName]) -> Result<String> {
    context.may_create_roles(false, "drop role")?;
    let session = context.catalog.role(&context.settings.session_user()).map(|role| role.oid);
    let mut writer = context.writer();
    for name in names {
        let public = |name: &Ident| fold(name) == "public";
        if name.0.last().and_then(ObjectNamePart::as_ident).is_some_and(|name| is_special(name) || public(name)) {
            return Err(invalid("cannot use special role specifier in DROP ROLE".into()));
        }
        let name = fold_name(name)?.1;
        let Some(role) = context.catalog.role(&name) else {
            if if_exists {
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
