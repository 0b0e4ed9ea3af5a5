//! Descriptors of a table's constraints: CHECK, FOREIGN KEY, and deferrable UNIQUE. They are plain data, stored as JSON
//! within the table's descriptor.

use super::descriptor::ColumnId;
use serde::{Deserialize, Serialize};
use types::Oid;

/// When a DEFERRABLE constraint UNIQUE or PRIMARY KEY is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deferral {
    /// INITIALLY DEFERRED: checked at COMMIT unless SET CONSTRAINTS changes that. Otherwise checked at the statement's
    /// end.
    pub deferred: bool,
    /// Whether it is PRIMARY KEY rather than UNIQUE.
    pub primary: bool,
}

/// A CHECK constraint of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckDescriptor {
    /// Its OID in pg_constraint.
    pub oid: Oid,
    /// Name of the constraint.
    pub name: String,
    /// Expression as SQL text in canonical form.
    pub expression: String,
    /// NOT VALID: rows that existed before it may violate it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_valid: bool,
    /// NO INHERIT. It is shown but has no effect, because tables have no children.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_inherit: bool,
}

/// The action for a row whose referenced row is deleted or changes its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferentialAction {
    /// An error, unless the key exists again at the statement's end.
    NoAction,
    /// An error in any case.
    Restrict,
    /// The row is deleted, or gets the new key.
    Cascade,
    /// Its columns are set to NULL.
    SetNull,
    /// Its columns are set to their defaults.
    SetDefault,
}

impl ReferentialAction {
    /// The letter in `pg_constraint.confupdtype` and `confdeltype`.
    pub fn code(self) -> &'static str {
        match self {
            ReferentialAction::NoAction => "a",
            ReferentialAction::Restrict => "r",
            ReferentialAction::Cascade => "c",
            ReferentialAction::SetNull => "n",
            ReferentialAction::SetDefault => "d",
        }
    }
    /// The SQL words behind ON UPDATE or ON DELETE.
    pub fn words(self) -> &'static str {
        match self {
            ReferentialAction::NoAction => "NO ACTION",
            ReferentialAction::Restrict => "RESTRICT",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET NULL",
            ReferentialAction::SetDefault => "SET DEFAULT",
        }
    }
}

/// When a trigger fires (`pg_trigger.tgenabled`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TriggerState {
    /// It fires unless session_replication_role is replica.
    #[default]
    Origin,
    /// It does not fire at all.
    Disabled,
    /// It fires only if session_replication_role is replica.
    Replica,
    /// It fires in any case.
    Always,
}

impl TriggerState {
    /// The letter in `pg_trigger.tgenabled`.
    pub fn code(self) -> &'static str {
        match self {
            TriggerState::Origin => "O",
            TriggerState::Disabled => "D",
            TriggerState::Replica => "R",
            TriggerState::Always => "A",
        }
    }
    /// Whether it fires. `replica` says that session_replication_role is replica.
    pub fn fires(self, replica: bool) -> bool {
        match self {
            TriggerState::Origin => !replica,
            TriggerState::Disabled => false,
            TriggerState::Replica => replica,
            TriggerState::Always => true,
        }
    }
}

/// The states of a FOREIGN KEY's triggers, in this order: a referenced row is deleted, its key changes, a referring row
/// is added, its key changes.
pub type KeyTriggers = [TriggerState; 4];

fn all_fire(triggers: &KeyTriggers) -> bool {
    *triggers == KeyTriggers::default()
}

/// A FOREIGN KEY of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignKeyDescriptor {
    /// Its OID in pg_constraint.
    pub oid: Oid,
    /// Name of the constraint.
    pub name: String,
    /// Referring columns of this table.
    pub columns: Vec<ColumnId>,
    /// OID of the referenced table.
    pub parent: Oid,
    /// Referenced columns, in the order of `columns`.
    pub referenced: Vec<ColumnId>,
    /// OID of the unique index over the referenced columns.
    pub index: Oid,
    /// The action of ON UPDATE.
    pub on_update: ReferentialAction,
    /// The action of ON DELETE.
    pub on_delete: ReferentialAction,
    /// Whether it is MATCH FULL rather than SIMPLE.
    pub match_full: bool,
    /// DEFERRABLE: SET CONSTRAINTS may defer its checks to COMMIT.
    #[serde(default)]
    pub deferrable: bool,
    /// INITIALLY DEFERRED: checks are deferred unless SET CONSTRAINTS changes that.
    #[serde(default)]
    pub deferred: bool,
    /// NOT VALID: rows that existed before it may refer to nothing.
    #[serde(default)]
    pub not_valid: bool,
    /// The columns that ON DELETE SET NULL or SET DEFAULT sets. Empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_columns: Vec<ColumnId>,
    /// States of its triggers (ENABLE and DISABLE TRIGGER).
    #[serde(default, skip_serializing_if = "all_fire")]
    pub triggers: KeyTriggers,
}
