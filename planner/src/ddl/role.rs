//! CREATE, ALTER and DROP ROLE.

use super::{DdlContext, scram};
use crate::catalog::acl::Acl;
use crate::catalog::{Catalog, Membership, RoleDescriptor, predefined};
use crate::error::{Result, SqlError, state};
use crate::parse::{fold, fold_name};
use crate::types::text::{InputContext, input};
use crate::types::{Datum, Oid, SqlType};
use sqlparser::ast::{
    AlterRoleOperation, CreateRole, Expr, Ident, ObjectName, ObjectNamePart, Password, RoleOption, Value, ValueWithSpan,
};
use std::sync::Arc;

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
    /// The moment of VALID UNTIL. Errors: 22007 and its like.
    fn moment(&self, expr: &Expr) -> Result<Option<i64>> {
        let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = expr else {
            return Err(SqlError::syntax(format!("syntax error at or near \"{expr}\"")));
        };
        let now = self.transaction_time;
        match input(SqlType::TIMESTAMPTZ, text, &InputContext::new(&self.settings, &self.catalog, now))? {
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
        if scram::is_verifier(text) {
            return Ok(Some(text.clone()));
        }
        if text.starts_with("md5") && text.len() == 35 {
            return Err(SqlError::unsupported("an MD5 password"));
        }
        if text.is_empty() {
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

/// CREATE ROLE. E's parser turns CREATE USER into CREATE ROLE … LOGIN.
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
    let mut writer = context.writer();
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
            member_of: create
                .in_role
                .iter()
                .chain(&create.in_group)
                .map(|role| {
                    Ok(Membership { role: context.role(&fold(role))?.oid, grantor: context.user, admin: false })
                })
                .collect::<Result<_>>()?,
            no_inherit: create.inherit == Some(false),
            connection_limit: create.connection_limit.as_ref().map_or(Ok(None), connection_limit)?,
            valid_until: create.valid_until.as_ref().map_or(Ok(None), |until| context.moment(until))?,
            password: create.password.as_ref().map_or(Ok(None), |password| context.verifier(password))?,
            ..Default::default()
        };
        writer.put_role(None, &role)?;
        for (members, admin) in [(&create.role, false), (&create.user, false), (&create.admin, true)] {
            for member in members {
                let old = context.role(&fold(member))?;
                let mut member = RoleDescriptor::clone(&old);
                member.member_of.push(Membership { role: role.oid, grantor: context.user, admin });
                writer.put_role(Some(&old), &member)?;
            }
        }
    }
    writer.flush().await?;
    Ok("CREATE ROLE".into())
}

/// The words that stand for a role where one is meant.
fn is_special(name: &Ident) -> bool {
    name.quote_style.is_none()
        && ["current_user", "current_role", "session_user"].contains(&name.value.to_ascii_lowercase().as_str())
}

/// A name that a role may get. Errors: 42939.
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

/// CONNECTION LIMIT: -1 for none. Errors: 22023.
fn connection_limit(expr: &Expr) -> Result<Option<u32>> {
    let text = expr.to_string().replace(' ', "");
    match text.parse::<i64>() {
        // As the parser writes -1.
        Ok(-1 | 4_294_967_295) => Ok(None),
        Ok(limit) if limit >= 0 => Ok(u32::try_from(limit).ok()),
        _ => Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("invalid connection limit: {text}"))),
    }
}

/// ALTER ROLE.
pub(super) async fn alter(context: &DdlContext, name: &Ident, operation: &AlterRoleOperation) -> Result<String> {
    let old = match is_special(name) {
        true => context.catalog.role_by_oid(context.grantee(&fold(name))?),
        false => Some(context.role(&fold(name))?),
    };
    let old = old.ok_or_else(|| SqlError::internal("a session without a role"))?;
    if predefined::is_predefined(old.oid) {
        return Err(SqlError::new("42939", format!("role name \"{}\" is reserved", old.name))
            .detail("Cannot alter reserved roles."));
    }
    let mut role = RoleDescriptor::clone(&old);
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
            AlterRoleOperation::RenameRole { .. } => SqlError::new(error.state(), "permission denied to rename role"),
            _ => error,
        })?;
    }
    match operation {
        AlterRoleOperation::RenameRole { role_name } => {
            let new = new_name(role_name)?;
            if context.catalog.role(&new).is_some() {
                return Err(SqlError::new(state::DUPLICATE_OBJECT, format!("role \"{new}\" already exists")));
            }
            role.name = new;
        }
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

/// DROP ROLE.
pub(super) async fn drop(context: &DdlContext, if_exists: bool, names: &[ObjectName]) -> Result<String> {
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
        context.may_create_roles(role.superuser, "drop role")?;
        if role.oid == context.user {
            return Err(SqlError::new(state::OBJECT_IN_USE, "current user cannot be dropped"));
        }
        if predefined::is_predefined(role.oid) || role.oid == crate::catalog::builder::SUPERUSER_OID {
            let message = format!("cannot drop role {name} because it is required by the database system");
            return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message));
        }
        let mut depends = dependents(context, &role);
        for database in context.catalog.databases() {
            if database.oid == context.catalog.database().oid {
                continue;
            }
            let other = context.store.snapshot(&context.transaction, database.oid).await?;
            let count = within(context, &other, &role).len();
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

/// What a role owns, and what was granted to it, in this database, and databases themselves, oldest first, for messages.
fn dependents(context: &DdlContext, role: &RoleDescriptor) -> Vec<String> {
    let mut found = within(context, &context.catalog, role);
    for database in context.catalog.databases() {
        let what = format!("database {}", database.name);
        found.extend(
            dependence(role, database.owner, granted(role, &database.acl), &what).map(|what| (database.oid, what)),
        );
    }
    found.sort_by_key(|(oid, _)| *oid);
    found.into_iter().map(|(_, what)| what).collect()
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

/// What in a database a role owns, and what was granted to it there.
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
            crate::catalog::acl::Kind::Sequence => "sequences",
            crate::catalog::acl::Kind::Schema => "schemas",
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
