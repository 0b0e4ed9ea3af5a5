//! Writes roles, their settings, and databases.

use super::option::{label, plain_value};
use super::writer::{Print, Writer};
use crate::keyword::{Category, Keyword};
use crate::tree::{
    AlterSetting, DatabaseAction, DatabaseStatement, DropRole, OptionItem, Owned, OwnedChange, RoleOption,
    RoleOptionKind, RoleStatement, RoleWord, SettingChange, SettingOwner, SettingValue,
};

impl Print for RoleWord {
    fn print(&self, out: &mut Writer) {
        out.word(match self {
            RoleWord::Role => "ROLE",
            RoleWord::User => "USER",
            RoleWord::Group => "GROUP",
        });
    }
}

impl Print for RoleStatement {
    fn print(&self, out: &mut Writer) {
        out.either(self.create, "CREATE", "ALTER").node(&self.word).node(&self.role).sequence(&self.options);
        if let Some((add, members)) = &self.members {
            out.either(*add, "ADD USER", "DROP USER").list(members);
        }
    }
}

impl Print for RoleOption {
    fn print(&self, out: &mut Writer) {
        match &self.kind {
            RoleOptionKind::Superuser(yes) => out.either(*yes, "SUPERUSER", "NOSUPERUSER"),
            RoleOptionKind::CreateDatabase(yes) => out.either(*yes, "CREATEDB", "NOCREATEDB"),
            RoleOptionKind::CreateRole(yes) => out.either(*yes, "CREATEROLE", "NOCREATEROLE"),
            RoleOptionKind::Inherit(yes) => out.either(*yes, "INHERIT", "NOINHERIT"),
            RoleOptionKind::Login(yes) => out.either(*yes, "LOGIN", "NOLOGIN"),
            RoleOptionKind::Replication(yes) => out.either(*yes, "REPLICATION", "NOREPLICATION"),
            RoleOptionKind::BypassRowSecurity(yes) => out.either(*yes, "BYPASSRLS", "NOBYPASSRLS"),
            RoleOptionKind::ConnectionLimit(limit) => out.word("CONNECTION LIMIT").word(&limit.to_string()),
            RoleOptionKind::Password(Some(password)) => out.word("PASSWORD").string(password),
            RoleOptionKind::Password(None) => out.word("PASSWORD NULL"),
            RoleOptionKind::ValidUntil(time) => out.word("VALID UNTIL").string(time),
            RoleOptionKind::InRole(roles) => out.word("IN ROLE").list(roles),
            // ROLE is for CREATE alone.
            RoleOptionKind::Members(roles) => out.word("USER").list(roles),
            RoleOptionKind::Admins(roles) => out.word("ADMIN").list(roles),
            RoleOptionKind::SystemId(digits) => out.word("SYSID").word(digits),
        };
    }
}

impl Print for DropRole {
    fn print(&self, out: &mut Writer) {
        out.word("DROP").node(&self.word).word_if(self.if_exists, "IF EXISTS").list(&self.roles);
    }
}

impl Print for Owned {
    fn print(&self, out: &mut Writer) {
        match &self.change {
            OwnedChange::Drop(cascade) => {
                out.word("DROP OWNED BY").list(&self.roles).word_if(*cascade, "CASCADE");
            }
            OwnedChange::Reassign(role) => {
                out.word("REASSIGN OWNED BY").list(&self.roles).word("TO").node(role);
            }
        }
    }
}

impl Print for SettingValue {
    fn print(&self, out: &mut Writer) {
        match self {
            SettingValue::Text(text) => out.string(text),
            SettingValue::Number(number) => out.word(number),
            SettingValue::Interval(text, fields) => {
                out.word("INTERVAL").string(text);
                match fields {
                    Some(fields) => out.word(super::type_name::fields_words(*fields)),
                    None => out,
                }
            }
        };
    }
}

/// Writes the name of a setting. Every keyword in it is quoted: many have a grammar of their own behind SET.
pub(super) fn setting_name(name: &str, out: &mut Writer) {
    for (at, part) in name.split('.').enumerate() {
        if at > 0 {
            out.tie(".");
        }
        if Keyword::named(part).is_some() {
            out.word(&super::name::always_quoted(part));
        } else {
            out.name(part);
        }
    }
}

/// Writes what stands behind SET.
pub(super) fn setting_values(name: &str, values: &Option<Vec<SettingValue>>, out: &mut Writer) {
    match values.as_deref() {
        // A time zone alone may be an interval.
        Some([interval @ SettingValue::Interval(..)]) => {
            out.word("TIME ZONE").node(interval);
        }
        Some(values) => {
            setting_name(name, out);
            out.word("TO").list(values);
        }
        None => {
            setting_name(name, out);
            out.word("TO DEFAULT");
        }
    }
}

/// Writes SET or RESET.
pub(super) fn setting_change(change: &SettingChange, out: &mut Writer) {
    match change {
        SettingChange::Set(name, values) => setting_values(name, values, out.word("SET")),
        SettingChange::FromCurrent(name) => {
            setting_name(name, out.word("SET"));
            out.word("FROM CURRENT");
        }
        SettingChange::Reset(name) => setting_name(name, out.word("RESET")),
        SettingChange::ResetAll => {
            out.word("RESET ALL");
        }
    }
}

impl Print for AlterSetting {
    fn print(&self, out: &mut Writer) {
        match &self.of {
            SettingOwner::Role(role, database) => {
                match role {
                    Some(role) => out.word("ALTER ROLE").node(role),
                    None => out.word("ALTER ROLE ALL"),
                };
                out.clause("IN DATABASE", database);
            }
            SettingOwner::Database(name) => {
                out.word("ALTER DATABASE").node(name);
            }
            SettingOwner::System => {
                out.word("ALTER SYSTEM");
            }
        }
        setting_change(&self.change, out);
    }
}

impl Print for DatabaseStatement {
    fn print(&self, out: &mut Writer) {
        out.either(matches!(self.action, DatabaseAction::Create(_)), "CREATE DATABASE", "ALTER DATABASE");
        out.node(&self.name);
        match &self.action {
            DatabaseAction::Create(options) | DatabaseAction::Alter(options) => {
                options.iter().for_each(|option| database_option(option, out));
            }
            DatabaseAction::Tablespace(name) => {
                out.word("SET TABLESPACE").node(name);
            }
            DatabaseAction::RefreshCollation => {
                out.word("REFRESH COLLATION VERSION");
            }
        }
    }
}

fn database_option(option: &OptionItem, out: &mut Writer) {
    match option.name.value.as_str() {
        "connection_limit" => out.word("CONNECTION LIMIT"),
        name @ ("encoding" | "location" | "owner" | "tablespace" | "template") => out.word(&name.to_uppercase()),
        name => match Keyword::named(name).map(Keyword::category) {
            Some(Category::Unreserved) => out.word(&super::name::always_quoted(name)),
            Some(_) => out.name(name),
            None => out.word(&label(name)),
        },
    };
    match &option.value {
        Some(value) => plain_value(value, out.word("=")),
        None => {
            out.word("= DEFAULT");
        }
    }
}
