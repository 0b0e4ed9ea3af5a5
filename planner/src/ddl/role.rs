//! CREATE, ALTER and DROP ROLE.

use super::{DdlContext, scram};
use crate::catalog::RoleDescriptor;
use crate::error::{Result, SqlError, state};
use crate::parse::{fold, fold_name};
use sqlparser::ast::{AlterRoleOperation, CreateRole, Expr, Ident, ObjectName, Password, RoleOption, Value};
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

/// CREATE ROLE. E's parser turns CREATE USER into CREATE ROLE … LOGIN.
pub(super) async fn create(context: &DdlContext, create: &CreateRole) -> Result<String> {
    let refused = [
        (create.bypassrls == Some(true), "BYPASSRLS"),
        (create.replication == Some(true), "REPLICATION"),
        (create.connection_limit.is_some(), "CONNECTION LIMIT"),
        (create.valid_until.is_some(), "VALID UNTIL"),
        (!create.in_role.is_empty() || !create.in_group.is_empty(), "IN ROLE"),
        (!create.role.is_empty() || !create.user.is_empty() || !create.admin.is_empty(), "role membership"),
        (create.authorization_owner.is_some(), "AUTHORIZATION"),
    ];
    if let Some((_, what)) = refused.iter().find(|(is, _)| *is) {
        return Err(SqlError::unsupported(format!("CREATE ROLE with {what}")));
    }
    context.may_create_roles(create.superuser == Some(true), "create role")?;
    let mut writer = context.writer();
    for name in &create.names {
        let name = fold_name(name)?.1;
        if context.catalog.role(&name).is_some() {
            return Err(SqlError::new(state::DUPLICATE_OBJECT, format!("role \"{name}\" already exists")));
        }
        if name.starts_with("pg_") || name == "public" || name == "none" {
            return Err(SqlError::new("42939", format!("role name \"{name}\" is reserved")));
        }
        let role = RoleDescriptor {
            oid: context.store.numbers().oid().await?,
            name,
            superuser: create.superuser.unwrap_or(false),
            login: create.login.unwrap_or(false),
            create_database: create.create_db.unwrap_or(false),
            create_role: create.create_role.unwrap_or(false),
            comment: None,
            password: create.password.as_ref().map_or(Ok(None), |password| context.verifier(password))?,
        };
        writer.put_role(None, &role)?;
    }
    writer.flush().await?;
    Ok("CREATE ROLE".into())
}

/// ALTER ROLE.
pub(super) async fn alter(context: &DdlContext, name: &Ident, operation: &AlterRoleOperation) -> Result<String> {
    let old = context.role(&fold(name))?;
    let mut role = RoleDescriptor::clone(&old);
    let own_password = role.oid == context.user
        && matches!(operation, AlterRoleOperation::WithOptions { options }
            if options.iter().all(|option| matches!(option, RoleOption::Password(_))));
    if !own_password {
        context.may_create_roles(role.superuser, "alter role")?;
    }
    match operation {
        AlterRoleOperation::RenameRole { role_name } => {
            let new = fold(role_name);
            if context.catalog.role(&new).is_some() {
                return Err(SqlError::new(state::DUPLICATE_OBJECT, format!("role \"{new}\" already exists")));
            }
            role.name = new;
        }
        AlterRoleOperation::WithOptions { options } => {
            for option in options {
                match option {
                    RoleOption::CreateDB(value) => role.create_database = *value,
                    RoleOption::CreateRole(value) => role.create_role = *value,
                    RoleOption::Login(value) => role.login = *value,
                    RoleOption::SuperUser(value) => {
                        context.may_create_roles(true, "alter role")?;
                        role.superuser = *value;
                    }
                    RoleOption::Password(password) => role.password = context.verifier(password)?,
                    RoleOption::Inherit(true) | RoleOption::BypassRLS(false) | RoleOption::Replication(false) => {}
                    other => return Err(SqlError::unsupported(format!("ALTER ROLE {other}"))),
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
        let owns = context.catalog.user_relations().any(|table| table.owner == role.oid)
            || context.catalog.enums().any(|ty| ty.owner == role.oid)
            || context.catalog.schemas().iter().any(|schema| schema.owner == role.oid)
            || context.catalog.databases().iter().any(|database| database.owner == role.oid);
        if owns || role.oid == crate::catalog::builder::SUPERUSER_OID {
            let message = format!("role \"{name}\" cannot be dropped because some objects depend on it");
            let mut owned: Vec<String> = Vec::new();
            for table in context.catalog.user_relations().filter(|table| table.owner == role.oid) {
                let by_column = table.sequence.as_ref().is_some_and(|sequence| sequence.owned_by.is_some());
                if !by_column {
                    owned.push(format!("owner of {} {}", super::drop::kind_word(table), context.shown_name(table)));
                }
            }
            let types = context.catalog.enums().filter(|ty| ty.owner == role.oid);
            owned.extend(types.map(|ty| format!("owner of type {}", ty.name)));
            let schemas = context.catalog.schemas();
            owned.extend(schemas.iter().filter(|s| s.owner == role.oid).map(|s| format!("owner of schema {}", s.name)));
            let databases = context.catalog.databases();
            owned.extend(
                databases.iter().filter(|d| d.owner == role.oid).map(|d| format!("owner of database {}", d.name)),
            );
            return Err(SqlError::new(state::DEPENDENT_OBJECTS_STILL_EXIST, message).detail(owned.join("\n")));
        }
        writer.remove_role(&role);
    }
    writer.flush().await?;
    Ok("DROP ROLE".into())
}
