//! CREATE, ALTER and DROP of ROLE, USER and GROUP; DROP OWNED and REASSIGN OWNED.

use super::Parser;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::keyword::Keyword;
use crate::token::TokenKind;
use crate::tree::{
    AlterObject, AlterSetting, DropRole, Ident, ObjectChange, ObjectReference, Owned, OwnedChange, PlainKind, RoleKind,
    RoleOption, RoleOptionKind, RoleSpec, RoleStatement, RoleWord, SettingOwner, Statement,
};

/// 42939: the name belongs to the system.
const RESERVED_NAME: &str = "42939";

impl Parser<'_> {
    /// CREATE ROLE, USER or GROUP, behind these words. Errors: 42601, and 42939 for a reserved name.
    pub(crate) fn create_role(&mut self, start: usize, word: RoleWord) -> Result<Statement> {
        let role = self.role()?;
        role_name(&role)?;
        let options = self.role_options(true)?;
        let span = self.span_since(start);
        let statement = RoleStatement { create: true, word, role, options, members: None, span };
        Ok(Statement::Role(Box::new(statement)))
    }

    /// ALTER ROLE, USER or GROUP, behind these words. Errors: 42601, and 42939 for a reserved name.
    pub(crate) fn alter_role(&mut self, start: usize, word: RoleWord) -> Result<Statement> {
        let role = if word != RoleWord::Group && self.word("all") { None } else { Some(self.role()?) };
        if let Some(role) = &role
            && self.word("rename")
        {
            let old = role_name(role)?;
            self.expect_word("to")?;
            let new = role_name(&self.role()?)?;
            return Ok(Statement::AlterObject(Box::new(AlterObject {
                object: ObjectReference::Plain(PlainKind::Role, old),
                if_exists: false,
                change: ObjectChange::Rename(new),
                span: self.span_since(start),
            })));
        }
        let (mut options, mut members) = (Vec::new(), None);
        let role = match role {
            Some(role) if word == RoleWord::Group => {
                let add = self.one_word_of(&["add", "drop"]).ok_or_else(|| self.error())? == 0;
                self.expect_word("user")?;
                members = Some((add, self.roles()?));
                role
            }
            role => {
                let mut database = None;
                if self.word("in") {
                    self.expect_word("database")?;
                    database = Some(self.column_name()?);
                }
                match (self.setting_change()?, role) {
                    (Some(change), role) => {
                        let of = SettingOwner::Role(role, database);
                        let span = self.span_since(start);
                        return Ok(Statement::AlterSetting(Box::new(AlterSetting { of, change, span })));
                    }
                    (None, Some(role)) if database.is_none() => {
                        options = self.role_options(false)?;
                        role
                    }
                    (None, _) => return Err(self.error()),
                }
            }
        };
        let span = self.span_since(start);
        let statement = RoleStatement { create: false, word, role, options, members, span };
        Ok(Statement::Role(Box::new(statement)))
    }

    /// DROP ROLE, USER or GROUP, behind these words. Errors: 42601.
    pub(crate) fn drop_role(&mut self, start: usize, word: RoleWord) -> Result<Statement> {
        let if_exists = self.if_exists();
        let roles = self.roles()?;
        Ok(Statement::DropRole(Box::new(DropRole { word, if_exists, roles, span: self.span_since(start) })))
    }

    /// DROP OWNED, behind these words. Errors: 42601.
    pub(crate) fn drop_owned(&mut self, start: usize) -> Result<Statement> {
        self.expect_word("by")?;
        let roles = self.roles()?;
        let change = OwnedChange::Drop(self.cascade());
        Ok(Statement::Owned(Box::new(Owned { roles, change, span: self.span_since(start) })))
    }

    /// REASSIGN OWNED, behind REASSIGN. Errors: 42601.
    pub(crate) fn reassign_owned(&mut self, start: usize) -> Result<Statement> {
        self.expect_words(&["owned", "by"])?;
        let roles = self.roles()?;
        self.expect_word("to")?;
        let change = OwnedChange::Reassign(self.role()?);
        Ok(Statement::Owned(Box::new(Owned { roles, change, span: self.span_since(start) })))
    }

    fn role_options(&mut self, create: bool) -> Result<Vec<RoleOption>> {
        self.word("with");
        let mut options = Vec::new();
        loop {
            let start = self.mark();
            let Some(kind) = self.role_option(create)? else { return Ok(options) };
            options.push(RoleOption { kind, span: self.span_since(start) });
        }
    }

    /// An option of a role. `None`, with nothing read, for a token that begins no option.
    fn role_option(&mut self, create: bool) -> Result<Option<RoleOptionKind>> {
        use RoleOptionKind as O;
        let Some(keyword) = self.keyword() else { return self.plain_role_option() };
        let (word, place) = (Keyword::name(keyword), self.here());
        let only_create = ["sysid", "admin", "role", "in"].contains(&word);
        let known = ["password", "encrypted", "unencrypted", "inherit", "connection", "valid", "user"];
        if !(only_create && create || known.contains(&word)) {
            return Ok(None);
        }
        self.skip();
        Ok(Some(match word {
            "password" if self.word("null") => O::Password(None),
            "password" => O::Password(Some(self.expect_string()?)),
            "encrypted" => {
                self.expect_word("password")?;
                O::Password(Some(self.expect_string()?))
            }
            "unencrypted" => {
                self.expect_word("password")?;
                self.expect_string()?;
                let message = "UNENCRYPTED PASSWORD is no longer supported";
                let hint = "Remove UNENCRYPTED to store the password in encrypted form instead.";
                return Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, message).hint(hint).at(place));
            }
            "inherit" => O::Inherit(true),
            "connection" => {
                self.expect_word("limit")?;
                O::ConnectionLimit(self.signed_integer()?)
            }
            "valid" => {
                self.expect_word("until")?;
                O::ValidUntil(self.expect_string()?)
            }
            "sysid" => O::SystemId(self.unsigned_integer()?.to_string()),
            "admin" => O::Admins(self.roles()?),
            "in" => {
                self.one_word_of(&["role", "group"]).ok_or_else(|| self.error())?;
                O::InRole(self.roles()?)
            }
            _ => O::Members(self.roles()?),
        }))
    }

    /// An option whose word is no keyword. Errors: 42601 for an unknown one.
    fn plain_role_option(&mut self) -> Result<Option<RoleOptionKind>> {
        use RoleOptionKind as O;
        let TokenKind::Name { value, .. } = &self.peek().kind else { return Ok(None) };
        let kind = match value.as_str() {
            "superuser" => O::Superuser(true),
            "nosuperuser" => O::Superuser(false),
            "createdb" => O::CreateDatabase(true),
            "nocreatedb" => O::CreateDatabase(false),
            "createrole" => O::CreateRole(true),
            "nocreaterole" => O::CreateRole(false),
            "noinherit" => O::Inherit(false),
            "login" => O::Login(true),
            "nologin" => O::Login(false),
            "replication" => O::Replication(true),
            "noreplication" => O::Replication(false),
            "bypassrls" => O::BypassRowSecurity(true),
            "nobypassrls" => O::BypassRowSecurity(false),
            unknown => {
                let message = format!("unrecognized role option \"{unknown}\"");
                return Err(SyntaxError::syntax(message).at(self.here()));
            }
        };
        self.skip();
        Ok(Some(kind))
    }
}

/// The name of a role where it must be a plain one (RoleId). Errors: 42939.
fn role_name(role: &RoleSpec) -> Result<Ident> {
    let message = match &role.kind {
        RoleKind::Named(name) => return Ok(Ident { value: name.clone(), span: role.span }),
        RoleKind::Public => "role name \"public\" is reserved",
        RoleKind::CurrentRole => "CURRENT_ROLE cannot be used as a role name here",
        RoleKind::CurrentUser => "CURRENT_USER cannot be used as a role name here",
        RoleKind::SessionUser => "SESSION_USER cannot be used as a role name here",
    };
    Err(SyntaxError::new(RESERVED_NAME, message).at(role.span))
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/role.sql"));
    }

    #[test]
    fn keeps_options_in_order() {
        use crate::tree::{RoleOptionKind as O, Statement};
        let text = "CREATE USER x SUPERUSER NOINHERIT PASSWORD NULL CONNECTION LIMIT -1 VALID UNTIL 'v' SYSID 7";
        let Statement::Role(role) = super::super::cases::only(text) else { panic!("{text}") };
        let options: Vec<O> = role.options.into_iter().map(|option| option.kind).collect();
        let expected = [
            O::Superuser(true),
            O::Inherit(false),
            O::Password(None),
            O::ConnectionLimit(-1),
            O::ValidUntil("v".into()),
            O::SystemId("7".into()),
        ];
        assert_eq!(options, expected);
    }
}
