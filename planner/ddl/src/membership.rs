//! Role membership: GRANT and REVOKE of roles, and the members listed in CREATE ROLE.

use super::DdlContext;
use super::grant::invalid;
use catalog::{CatalogWriter, Membership, RoleDescriptor, predefined};
use sql_error::{Result, SqlError, state};
use std::collections::BTreeMap;
use syntax::ast::RoleSpec;
use syntax::{Grant, role_name};
use types::Oid;

/// The roles that a statement creates or changes, in their present state.
pub(super) struct Memberships<'c> {
    context: &'c DdlContext,
    changed: BTreeMap<Oid, RoleDescriptor>,
}

impl<'c> Memberships<'c> {
    pub(super) fn new(context: &'c DdlContext) -> Self {
        Memberships { context, changed: BTreeMap::new() }
    }
    /// Adds a role that the statement creates.
    pub(super) fn make(&mut self, role: RoleDescriptor) {
        self.changed.insert(role.oid, role);
    }
    /// A role by name, including those that the statement created. Errors: 42704.
    pub(super) fn named(&self, name: &str) -> Result<Oid> {
        match self.changed.values().find(|role| role.name == name) {
            Some(made) => Ok(made.oid),
            None => super::owner::role_called(self.context, name),
        }
    }
    /// Several roles by name. Errors: 42704.
    pub(super) fn all_named(&self, roles: &[RoleSpec]) -> Result<Vec<Oid>> {
        roles.iter().map(|role| self.named(&role_name(role))).collect()
    }
    fn role(&self, oid: Oid) -> Result<RoleDescriptor> {
        let known = || self.context.catalog.role_by_oid(oid).map(|role| RoleDescriptor::clone(&role));
        let missing = || SqlError::new(state::UNDEFINED_OBJECT, format!("role with OID {oid} does not exist"));
        self.changed.get(&oid).cloned().or_else(known).ok_or_else(missing)
    }
    /// Whether a role is another one or a direct or indirect member of it.
    fn reaches(&self, role: Oid, of: Oid) -> bool {
        let mut roles = vec![role];
        let mut at = 0;
        while let Some(next) = roles.get(at).copied() {
            at += 1;
            if next == of {
                return true;
            }
            let memberships = self.role(next).map(|role| role.member_of).unwrap_or_default();
            for membership in memberships {
                if !roles.contains(&membership.role) {
                    roles.push(membership.role);
                }
            }
        }
        false
    }
    /// Errors: 42501 if the user may not change the members of a role.
    fn may_administer(&self, role: &RoleDescriptor, grantor: Oid) -> Result<()> {
        let catalog = &self.context.catalog;
        let user = catalog.role_by_oid(self.context.user);
        let (superuser, creates) = user.map_or((false, false), |user| (user.superuser, user.create_role));
        if superuser || !role.superuser && (creates || catalog.administers(grantor, role.oid)) {
            return Ok(());
        }
        let message = match role.superuser {
            true => "must be superuser to alter superusers".to_string(),
            false => format!("must have admin option on role \"{}\"", role.name),
        };
        Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message))
    }
    /// Makes roles members of another. Errors: 42501, and 0LP01 for pg_database_owner and for a cycle.
    pub(super) fn add(&mut self, role: Oid, members: &[Oid], grantor: Oid, admin: bool) -> Result<()> {
        if members.is_empty() {
            return Ok(());
        }
        let role = self.role(role)?;
        self.may_administer(&role, grantor)?;
        if role.oid == predefined::DATABASE_OWNER {
            return Err(invalid(format!("role \"{}\" cannot have explicit members", role.name)));
        }
        if grantor != self.context.user && !self.context.catalog.is_superuser(self.context.user) {
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, "must be superuser to set grantor"));
        }
        for member in members {
            let mut member = self.role(*member)?;
            if member.oid == predefined::DATABASE_OWNER {
                return Err(invalid(format!("role \"{}\" cannot be a member of any role", member.name)));
            }
            if self.reaches(role.oid, member.oid) {
                return Err(invalid(format!("role \"{}\" is a member of role \"{}\"", role.name, member.name)));
            }
            match member.member_of.iter_mut().find(|membership| membership.role == role.oid) {
                Some(known) if known.admin || !admin => self.context.notice(
                    state::SUCCESSFUL_COMPLETION,
                    format!("role \"{}\" is already a member of role \"{}\"", member.name, role.name),
                ),
                Some(known) => *known = Membership { grantor, admin: true, ..*known },
                None => member.member_of.push(Membership { role: role.oid, grantor, admin }),
            }
            self.changed.insert(member.oid, member);
        }
        Ok(())
    }
    /// Ends memberships, or only their ADMIN OPTION. Errors: 42501.
    fn remove(&mut self, role: Oid, members: &[Oid], grantor: Oid, option_only: bool) -> Result<()> {
        let role = self.role(role)?;
        self.may_administer(&role, grantor)?;
        for member in members {
            let mut member = self.role(*member)?;
            match member.member_of.iter().position(|membership| membership.role == role.oid) {
                None => {
                    let message = format!("role \"{}\" is not a member of role \"{}\"", member.name, role.name);
                    self.context.warning(state::WARNING, message);
                }
                Some(at) if option_only => {
                    if let Some(known) = member.member_of.get_mut(at) {
                        known.admin = false;
                    }
                }
                Some(at) => {
                    member.member_of.remove(at);
                }
            }
            self.changed.insert(member.oid, member);
        }
        Ok(())
    }
    /// Stores the changed roles.
    pub(super) async fn store(self, writer: &mut CatalogWriter<'_>) -> Result<()> {
        for role in self.changed.values() {
            writer.put_role(self.context.catalog.role_by_oid(role.oid).as_deref(), role)?;
        }
        writer.flush().await
    }
}

/// GRANT role TO role, REVOKE role FROM role.
pub(super) async fn grant(context: &DdlContext, grant: &Grant) -> Result<()> {
    let mut memberships = Memberships::new(context);
    let grantor = grant.by.as_deref().map_or(Ok(context.user), |by| memberships.named(by))?;
    let members = grant.roles.iter().map(|name| memberships.named(name)).collect::<Result<Vec<_>>>()?;
    for (name, _) in &grant.privileges {
        let role = context.role(name)?.oid;
        match grant.grants {
            true => memberships.add(role, &members, grantor, grant.option)?,
            false => memberships.remove(role, &members, grantor, grant.option_only)?,
        }
    }
    memberships.store(&mut context.writer()).await
}

/// ALTER GROUP … ADD USER and DROP USER. Errors: 42704, 42501, 42939, 0LP01.
pub(super) async fn alter_group(context: &DdlContext, group: &str, adds: bool, members: &[String]) -> Result<()> {
    let mut memberships = Memberships::new(context);
    let group = memberships.role(memberships.named(group)?)?;
    super::role::may_alter_group(context, &group)?;
    let members = members.iter().map(|name| memberships.named(name)).collect::<Result<Vec<_>>>()?;
    match adds {
        true => memberships.add(group.oid, &members, context.user, false)?,
        false => memberships.remove(group.oid, &members, context.user, false)?,
    }
    memberships.store(&mut context.writer()).await
}
