//! Constraints of a table as descriptors: CHECK, FOREIGN KEY, and when UNIQUE is looked at.
//! Plain data, stored as JSON within a table's descriptor.

use super::descriptor::ColumnId;
use serde::{Deserialize, Serialize};
use types::Oid;

/// When a UNIQUE or PRIMARY KEY constraint that is DEFERRABLE is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deferral {
    /// INITIALLY DEFERRED: at COMMIT unless SET CONSTRAINTS says otherwise; else when a statement ends.
    pub deferred: bool,
    /// PRIMARY KEY rather than UNIQUE.
    pub primary: bool,
}

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckDescriptor {
    /// OID in pg_constraint.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Expression as SQL text in canonical form.
    pub expression: String,
    /// NOT VALID: rows that were there before it may violate it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_valid: bool,
    /// NO INHERIT, which is shown and means nothing: tables have no children.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_inherit: bool,
}

/// What becomes of a row that refers to one that is deleted, or whose key changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferentialAction {
    /// Refused, unless the key is there again at the statement's end.
    NoAction,
    /// Refused.
    Restrict,
    /// It is deleted, or gets the new key.
    Cascade,
    /// Its columns become NULL.
    SetNull,
    /// Its columns get their defaults.
    SetDefault,
}

impl ReferentialAction {
    /// `pg_constraint.confupdtype` and `confdeltype`.
    pub fn code(self) -> &'static str {
        match self {
            ReferentialAction::NoAction => "a",
            ReferentialAction::Restrict => "r",
            ReferentialAction::Cascade => "c",
            ReferentialAction::SetNull => "n",
            ReferentialAction::SetDefault => "d",
        }
    }
    /// As it is written behind ON UPDATE.
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
    /// Unless session_replication_role is replica.
    #[default]
    Origin,
    /// Never.
    Disabled,
    /// Only where session_replication_role is replica.
    Replica,
    /// Always.
    Always,
}

impl TriggerState {
    /// The letter that pg_trigger has.
    pub fn code(self) -> &'static str {
        match self {
            TriggerState::Origin => "O",
            TriggerState::Disabled => "D",
            TriggerState::Replica => "R",
            TriggerState::Always => "A",
        }
    }
    /// Whether it fires. `replica`: session_replication_role is replica.
    pub fn fires(self, replica: bool) -> bool {
        match self {
            TriggerState::Origin => !replica,
            TriggerState::Disabled => false,
            TriggerState::Replica => replica,
            TriggerState::Always => true,
        }
    }
}

/// When the triggers of a FOREIGN KEY fire: when a row that is referred to is deleted, when its key changes, when a row that refers is
/// added, when its key changes.
pub type KeyTriggers = [TriggerState; 4];

fn all_fire(triggers: &KeyTriggers) -> bool {
    *triggers == KeyTriggers::default()
}

/// A FOREIGN KEY.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForeignKeyDescriptor {
    /// OID in pg_constraint.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Columns of this table.
    pub columns: Vec<ColumnId>,
    /// The table they refer to.
    pub parent: Oid,
    /// Its columns, in the order of `columns`.
    pub referenced: Vec<ColumnId>,
    /// Its unique index over them.
    pub index: Oid,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// MATCH FULL rather than SIMPLE.
    pub match_full: bool,
    /// DEFERRABLE: SET CONSTRAINTS may put its checks off to COMMIT.
    #[serde(default)]
    pub deferrable: bool,
    /// INITIALLY DEFERRED: they are put off unless SET CONSTRAINTS says otherwise.
    #[serde(default)]
    pub deferred: bool,
    /// NOT VALID: rows that were there before it may refer to nothing.
    #[serde(default)]
    pub not_valid: bool,
    /// ON DELETE SET NULL or SET DEFAULT of these columns alone; empty: of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_columns: Vec<ColumnId>,
    /// ENABLE and DISABLE TRIGGER.
    #[serde(default, skip_serializing_if = "all_fire")]
    pub triggers: KeyTriggers,
}
