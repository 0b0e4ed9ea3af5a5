//! The actions of ALTER TABLE that a list may hold.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::tree::{AlterTableAction, AlterTableKind as Kind, ReplicaIdentity, TriggerChoice, TriggerSwitch};

impl Parser<'_> {
    /// An action of ALTER TABLE (alter_table_cmd). Errors: 42601, 0A000.
    pub(crate) fn alter_table_action(&mut self) -> Result<AlterTableAction> {
        let start = self.mark();
        let kind = self.alter_table_kind()?;
        Ok(AlterTableAction { kind, span: self.span_since(start) })
    }

    fn alter_table_kind(&mut self) -> Result<Kind> {
        const WORDS: [&str; 17] = [
            "add", "drop", "alter", "validate", "enable", "disable", "force", "no", "cluster", "set", "reset",
            "inherit", "of", "not", "owner", "replica", "options",
        ];
        let here = self.here();
        let Some(word) = WORDS.iter().find(|word| self.is_word(word)) else { return Err(self.error()) };
        self.skip();
        match *word {
            "add" => self.add_to_table(),
            "drop" => self.drop_from_table(),
            "alter" => self.alter_in_table(),
            "validate" => {
                self.expect_word("constraint")?;
                Ok(Kind::ValidateConstraint(self.column_name()?))
            }
            "enable" => self.switch_in_table(true),
            "disable" => self.switch_in_table(false),
            "force" => {
                self.expect_words(&["row", "level", "security"])?;
                Ok(Kind::ForceRowSecurity(true))
            }
            "no" if self.word("inherit") => Ok(Kind::NoInherit(self.qualified_name()?)),
            "no" => {
                self.expect_words(&["force", "row", "level", "security"])?;
                Ok(Kind::ForceRowSecurity(false))
            }
            "cluster" => {
                self.expect_word("on")?;
                Ok(Kind::Cluster(Some(self.column_name()?)))
            }
            "set" => self.set_of_table(),
            "reset" => Ok(Kind::ResetOptions(self.storage_options()?)),
            "inherit" => Ok(Kind::Inherit(self.qualified_name()?)),
            "of" => Ok(Kind::OfType(self.name()?)),
            "not" => {
                self.expect_word("of")?;
                Ok(Kind::NotOf)
            }
            "owner" => {
                self.expect_word("to")?;
                Ok(Kind::Owner(self.role()?))
            }
            "replica" => {
                self.expect_word("identity")?;
                Ok(Kind::ReplicaIdentity(self.replica_identity()?))
            }
            _ => {
                self.expect_sign('(')?;
                Err(SyntaxError::unsupported("ALTER FOREIGN TABLE … OPTIONS").at(here))
            }
        }
    }

    /// ADD of a column or a constraint.
    fn add_to_table(&mut self) -> Result<Kind> {
        if self.is_table_constraint() {
            return Ok(Kind::AddConstraint(self.table_constraint()?));
        }
        self.word("column");
        let if_not_exists = self.if_not_exists()?;
        Ok(Kind::AddColumn { if_not_exists, column: self.column()? })
    }

    /// DROP of a column or a constraint.
    fn drop_from_table(&mut self) -> Result<Kind> {
        let constraint = self.word("constraint");
        if !constraint {
            self.word("column");
        }
        let if_exists = self.if_exists();
        let name = self.column_name()?;
        let cascade = self.cascade();
        Ok(if constraint {
            Kind::DropConstraint { if_exists, name, cascade }
        } else {
            Kind::DropColumn { if_exists, name, cascade }
        })
    }

    /// ALTER of a column or a constraint.
    fn alter_in_table(&mut self) -> Result<Kind> {
        if self.word("constraint") {
            let name = self.column_name()?;
            return Ok(Kind::AlterConstraint(name, self.foreign_key_deferral()?));
        }
        self.word("column");
        let (column, action) = self.alter_column()?;
        Ok(Kind::AlterColumn(column, action))
    }

    /// What stands behind SET.
    fn set_of_table(&mut self) -> Result<Kind> {
        if self.is_sign('(') {
            return Ok(Kind::SetOptions(self.storage_options()?));
        }
        Ok(match self.one_word_of(&["without", "access", "tablespace", "logged", "unlogged"]) {
            Some(0) => match self.one_word_of(&["oids", "cluster"]) {
                Some(0) => Kind::WithoutOids,
                Some(_) => Kind::Cluster(None),
                None => return Err(self.error()),
            },
            Some(1) => {
                self.expect_word("method")?;
                Kind::AccessMethod(self.column_name()?)
            }
            Some(2) => Kind::Tablespace(self.column_name()?),
            Some(at) => Kind::Logged(at == 3),
            None => return Err(self.error()),
        })
    }

    /// What stands behind ENABLE and DISABLE.
    fn switch_in_table(&mut self, enable: bool) -> Result<Kind> {
        let special = if enable { self.one_word_of(&["always", "replica"]) } else { None };
        let switch = match special {
            Some(0) => TriggerSwitch::EnableAlways,
            Some(_) => TriggerSwitch::EnableReplica,
            None if enable => TriggerSwitch::Enable,
            None => TriggerSwitch::Disable,
        };
        Ok(match self.one_word_of(&["trigger", "rule"]) {
            Some(0) => Kind::Trigger(switch, self.trigger_choice(special.is_none())?),
            Some(_) => Kind::Rule(switch, self.column_name()?),
            None if special.is_none() => {
                self.expect_words(&["row", "level", "security"])?;
                Kind::RowSecurity(enable)
            }
            None => return Err(self.error()),
        })
    }

    fn trigger_choice(&mut self, groups: bool) -> Result<TriggerChoice> {
        Ok(match () {
            () if groups && self.word("all") => TriggerChoice::All,
            () if groups && self.word("user") => TriggerChoice::User,
            () => TriggerChoice::Named(self.column_name()?),
        })
    }

    fn replica_identity(&mut self) -> Result<ReplicaIdentity> {
        Ok(match self.one_word_of(&["default", "full", "nothing", "using"]) {
            Some(0) => ReplicaIdentity::Default,
            Some(1) => ReplicaIdentity::Full,
            Some(2) => ReplicaIdentity::Nothing,
            Some(_) => {
                self.expect_word("index")?;
                ReplicaIdentity::Index(self.column_name()?)
            }
            None => return Err(self.error()),
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/alter_action.sql"));
    }
}
