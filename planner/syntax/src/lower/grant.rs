//! GRANT and REVOKE, ALTER DEFAULT PRIVILEGES, REASSIGN OWNED and DROP OWNED. Knows no roles.

use super::object::large_object;
use super::values;
use crate::names::role_name;
use crate::role_statement::{DefaultKind, DefaultPrivileges, Grant, GrantObjects};
use crate::statement::StatementKind;
use grammar::tree::{self as ast, OwnedChange, PlainKind, Privilege, RoleSpec, RoutineKind};
use sql_error::{Result, SqlError};

/// The names of privileges with their columns, and the columns of ALL.
type Privileges = (Vec<(String, Vec<String>)>, Option<Vec<String>>);

fn names(roles: &[RoleSpec]) -> Vec<String> {
    roles.iter().map(role_name).collect()
}

fn kind(grant: Grant) -> StatementKind {
    StatementKind::Grant(Box::new(grant))
}

fn split(privileges: Vec<Privilege>) -> Privileges {
    if privileges.is_empty() {
        return (Vec::new(), Some(Vec::new()));
    }
    let mut all = None;
    let mut named = Vec::with_capacity(privileges.len());
    for privilege in privileges {
        let columns = values(privilege.columns);
        match privilege.name == "all" {
            true => all = Some(columns),
            false => named.push((privilege.name, columns)),
        }
    }
    (named, all)
}

/// GRANT and REVOKE of privileges. Errors: 0A000 for objects of other kinds.
pub(super) fn privileges(grant: ast::Grant) -> Result<StatementKind> {
    let (privileges, all) = split(grant.privileges);
    Ok(kind(Grant {
        grants: grant.grants,
        privileges,
        all,
        objects: Some(objects(grant.objects)?),
        roles: names(&grant.roles),
        option: grant.grants && grant.option,
        option_only: !grant.grants && grant.option,
        cascade: grant.cascade,
        by: grant.by.as_ref().map(role_name),
        of_group: false,
    }))
}

fn objects(objects: ast::GrantObjects) -> Result<GrantObjects> {
    use ast::GrantObjects as O;
    let refused = |what: &str| Err(SqlError::unsupported(format!("GRANT on {what}")));
    Ok(match objects {
        O::Tables(names) => GrantObjects::Tables(names),
        O::Sequences(names) => GrantObjects::Sequences(names),
        O::Types(names) => GrantObjects::Types { domains: false, names },
        O::Domains(names) => GrantObjects::Types { domains: true, names },
        O::Plain(PlainKind::Database, names) => GrantObjects::Databases(values(names)),
        O::Plain(PlainKind::Schema, names) => GrantObjects::Schemas(values(names)),
        O::Plain(PlainKind::Language, _) => return refused("LANGUAGE"),
        O::Plain(PlainKind::Tablespace, _) => return refused("TABLESPACE"),
        O::Plain(PlainKind::Server, _) => return refused("FOREIGN SERVER"),
        O::Plain(..) => return refused("FOREIGN DATA WRAPPER"),
        O::Routines(RoutineKind::Procedure, _) => return refused("PROCEDURE"),
        O::Routines(RoutineKind::Routine, _) => return refused("ROUTINE"),
        O::Routines(..) => return refused("FUNCTION"),
        O::Parameters(_) => return refused("PARAMETER"),
        O::LargeObjects(objects) => {
            let oids = objects.iter().map(|(digits, _)| large_object(digits));
            GrantObjects::LargeObjects(oids.collect::<Result<_>>()?)
        }
        O::AllTables(schemas) => GrantObjects::AllIn { sequences: false, schemas: values(schemas) },
        O::AllSequences(schemas) => GrantObjects::AllIn { sequences: true, schemas: values(schemas) },
        O::AllRoutines(_, schemas) => GrantObjects::FunctionsIn(values(schemas)),
    })
}

/// GRANT and REVOKE of roles.
pub(super) fn roles(grant: &ast::GrantRole) -> StatementKind {
    kind(Grant {
        grants: grant.grants,
        privileges: grant.granted.iter().map(|role| (role.value.clone(), Vec::new())).collect(),
        all: None,
        objects: None,
        roles: names(&grant.roles),
        option: grant.grants && grant.option,
        option_only: !grant.grants && grant.option,
        cascade: grant.cascade,
        by: grant.by.as_ref().map(role_name),
        of_group: false,
    })
}

/// ALTER GROUP … ADD USER and DROP USER.
pub(super) fn members(group: &RoleSpec, add: bool, members: &[RoleSpec]) -> StatementKind {
    kind(Grant {
        grants: add,
        privileges: vec![(role_name(group), Vec::new())],
        all: None,
        objects: None,
        roles: names(members),
        option: false,
        option_only: false,
        cascade: false,
        by: None,
        of_group: true,
    })
}

/// ALTER DEFAULT PRIVILEGES.
pub(super) fn default_privileges(alter: ast::DefaultPrivileges) -> StatementKind {
    let (privileges, all) = split(alter.privileges);
    let grant = Grant {
        grants: alter.grants,
        privileges,
        all,
        objects: Some(GrantObjects::Tables(Vec::new())),
        roles: names(&alter.grantees),
        option: alter.grants && alter.option,
        option_only: !alter.grants && alter.option,
        cascade: alter.cascade,
        by: None,
        of_group: false,
    };
    let kind = match alter.kind {
        ast::DefaultKind::Tables => DefaultKind::Tables,
        ast::DefaultKind::Sequences => DefaultKind::Sequences,
        ast::DefaultKind::Schemas => DefaultKind::Schemas,
        ast::DefaultKind::Types => DefaultKind::Types,
        ast::DefaultKind::Functions | ast::DefaultKind::Routines => DefaultKind::Functions,
    };
    let (roles, schemas) = (names(&alter.roles), values(alter.schemas));
    StatementKind::DefaultPrivileges(Box::new(DefaultPrivileges { roles, schemas, kind, grant }))
}

/// DROP OWNED and REASSIGN OWNED.
pub(super) fn owned(owned: &ast::Owned) -> StatementKind {
    let roles = names(&owned.roles);
    match &owned.change {
        OwnedChange::Drop(cascade) => StatementKind::DropOwned { of: roles, cascade: *cascade },
        OwnedChange::Reassign(to) => StatementKind::ReassignOwned { from: roles, to: role_name(to) },
    }
}
