//! Writes ALTER TABLE and its kin.

use super::option;
use super::table::identity;
use super::writer::{Print, Writer};
use crate::tree::{
    AlterColumn, AlterTable, AlterTableAction, AlterTableKind, ColumnReference, Detach, RelationKind, ReplicaIdentity,
    SequenceOption, TriggerChoice, TriggerSwitch,
};

impl Print for AlterTable {
    fn print(&self, out: &mut Writer) {
        out.word("ALTER").word(match self.kind {
            RelationKind::Table => "TABLE",
            RelationKind::View => "VIEW",
            RelationKind::MaterializedView => "MATERIALIZED VIEW",
            RelationKind::Index => "INDEX",
            RelationKind::Sequence => "SEQUENCE",
            RelationKind::ForeignTable => "FOREIGN TABLE",
        });
        out.word_if(self.if_exists, "IF EXISTS").node(&self.relation).list(&self.actions);
    }
}

impl Print for TriggerSwitch {
    fn print(&self, out: &mut Writer) {
        out.word(match self {
            TriggerSwitch::Disable => "DISABLE",
            TriggerSwitch::Enable => "ENABLE",
            TriggerSwitch::EnableReplica => "ENABLE REPLICA",
            TriggerSwitch::EnableAlways => "ENABLE ALWAYS",
        });
    }
}

impl Print for AlterTableAction {
    fn print(&self, out: &mut Writer) {
        match &self.kind {
            AlterTableKind::AddColumn { if_not_exists, column } => {
                out.word("ADD COLUMN").word_if(*if_not_exists, "IF NOT EXISTS").node(column);
            }
            AlterTableKind::DropColumn { if_exists, name, cascade } => {
                out.word("DROP COLUMN").word_if(*if_exists, "IF EXISTS").node(name).word_if(*cascade, "CASCADE");
            }
            AlterTableKind::AlterColumn(column, change) => {
                out.word("ALTER COLUMN").node(column).node(change);
            }
            AlterTableKind::AddConstraint(constraint) => {
                out.word("ADD").node(constraint);
            }
            AlterTableKind::AlterConstraint(name, deferral) => {
                out.word("ALTER CONSTRAINT").node(name).node(deferral);
            }
            AlterTableKind::ValidateConstraint(name) => {
                out.word("VALIDATE CONSTRAINT").node(name);
            }
            AlterTableKind::DropConstraint { if_exists, name, cascade } => {
                out.word("DROP CONSTRAINT").word_if(*if_exists, "IF EXISTS").node(name).word_if(*cascade, "CASCADE");
            }
            AlterTableKind::SetOptions(options) => option::equated(options, out.word("SET")),
            AlterTableKind::ResetOptions(options) => option::equated(options, out.word("RESET")),
            AlterTableKind::RenameColumn(from, to) => {
                out.word("RENAME COLUMN").node(from).word("TO").node(to);
            }
            AlterTableKind::RenameConstraint(from, to) => {
                out.word("RENAME CONSTRAINT").node(from).word("TO").node(to);
            }
            AlterTableKind::Rename(name) => {
                out.word("RENAME TO").node(name);
            }
            AlterTableKind::SetSchema(schema) => {
                out.word("SET SCHEMA").node(schema);
            }
            AlterTableKind::SequenceOptions(options) => {
                out.sequence(options);
            }
            kind => property(kind, out),
        }
    }
}

/// Writes an action on a property of the table as a whole.
fn property(kind: &AlterTableKind, out: &mut Writer) {
    match kind {
        AlterTableKind::Trigger(switch, choice) => {
            out.node(switch).word("TRIGGER");
            match choice {
                TriggerChoice::All => out.word("ALL"),
                TriggerChoice::User => out.word("USER"),
                TriggerChoice::Named(name) => out.node(name),
            }
        }
        AlterTableKind::Rule(switch, name) => out.node(switch).word("RULE").node(name),
        AlterTableKind::RowSecurity(on) => out.either(*on, "ENABLE ROW LEVEL SECURITY", "DISABLE ROW LEVEL SECURITY"),
        AlterTableKind::ForceRowSecurity(on) => {
            out.either(*on, "FORCE ROW LEVEL SECURITY", "NO FORCE ROW LEVEL SECURITY")
        }
        AlterTableKind::Cluster(Some(index)) => out.word("CLUSTER ON").node(index),
        AlterTableKind::Cluster(None) => out.word("SET WITHOUT CLUSTER"),
        AlterTableKind::WithoutOids => out.word("SET WITHOUT OIDS"),
        AlterTableKind::AccessMethod(method) => out.word("SET ACCESS METHOD").node(method),
        AlterTableKind::Tablespace(name) => out.word("SET TABLESPACE").node(name),
        AlterTableKind::Logged(logged) => out.either(*logged, "SET LOGGED", "SET UNLOGGED"),
        AlterTableKind::Inherit(parent) => out.word("INHERIT").node(parent),
        AlterTableKind::NoInherit(parent) => out.word("NO INHERIT").node(parent),
        AlterTableKind::OfType(name) => out.word("OF").node(name),
        AlterTableKind::NotOf => out.word("NOT OF"),
        AlterTableKind::Owner(role) => out.word("OWNER TO").node(role),
        AlterTableKind::ReplicaIdentity(identity) => {
            out.word("REPLICA IDENTITY");
            match identity {
                ReplicaIdentity::Default => out.word("DEFAULT"),
                ReplicaIdentity::Full => out.word("FULL"),
                ReplicaIdentity::Nothing => out.word("NOTHING"),
                ReplicaIdentity::Index(index) => out.word("USING INDEX").node(index),
            }
        }
        AlterTableKind::AttachPartition(name, bound) => out.word("ATTACH PARTITION").node(name).optional(bound),
        AlterTableKind::DetachPartition(name, how) => {
            out.word("DETACH PARTITION").node(name);
            match how {
                Some(Detach::Concurrently) => out.word("CONCURRENTLY"),
                Some(Detach::Finalize) => out.word("FINALIZE"),
                None => out,
            }
        }
        // The caller writes all others.
        _ => out,
    };
}

impl Print for ColumnReference {
    fn print(&self, out: &mut Writer) {
        match self {
            ColumnReference::Name(name) => out.node(name),
            ColumnReference::Number(number, _) => out.word(&number.to_string()),
        };
    }
}

impl Print for AlterColumn {
    fn print(&self, out: &mut Writer) {
        match self {
            AlterColumn::SetDefault(value) => {
                out.word("SET DEFAULT").node(value);
            }
            AlterColumn::DropDefault => {
                out.word("DROP DEFAULT");
            }
            AlterColumn::SetNotNull => {
                out.word("SET NOT NULL");
            }
            AlterColumn::DropNotNull => {
                out.word("DROP NOT NULL");
            }
            AlterColumn::DropExpression(if_exists) => {
                out.word("DROP EXPRESSION").word_if(*if_exists, "IF EXISTS");
            }
            AlterColumn::SetStatistics(number) => {
                out.word("SET STATISTICS").word(&number.to_string());
            }
            AlterColumn::SetOptions(options) => option::equated(options, out.word("SET")),
            AlterColumn::ResetOptions(options) => option::equated(options, out.word("RESET")),
            AlterColumn::SetStorage(word) => {
                out.word("SET STORAGE").node(word);
            }
            AlterColumn::SetCompression(word) => {
                out.word("SET COMPRESSION");
                if word.value == "default" {
                    out.word("DEFAULT");
                } else {
                    out.node(word);
                }
            }
            AlterColumn::AddIdentity { always, options } => identity(*always, options, out.word("ADD")),
            AlterColumn::SetIdentity { always, options } => {
                out.choice(*always, "SET GENERATED ALWAYS", "SET GENERATED BY DEFAULT");
                for option in options {
                    out.word_if(!matches!(option, SequenceOption::Restart(..)), "SET").node(option);
                }
            }
            AlterColumn::DropIdentity(if_exists) => {
                out.word("DROP IDENTITY").word_if(*if_exists, "IF EXISTS");
            }
            AlterColumn::Type { data_type, collation, using } => {
                out.word("TYPE").node(data_type).clause("COLLATE", collation).clause("USING", using);
            }
        }
    }
}
