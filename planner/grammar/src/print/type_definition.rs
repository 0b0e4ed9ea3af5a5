//! Writes CREATE TYPE, CREATE DOMAIN, their changes, and objects that a list of options defines.

use super::option;
use super::routine::reference;
use super::writer::{Print, Writer};
use crate::tree::{
    AlterDomain, AlterType, CreateDomain, CreateExtension, CreateType, Define, DefineKind, TypeDefinition, TypeName,
};

impl Print for CreateType {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE TYPE").node(&self.name);
        match &self.definition {
            TypeDefinition::Composite(attributes) => {
                out.word("AS").enclosed(attributes);
            }
            TypeDefinition::Enum(labels) => {
                out.word("AS ENUM").open().each(labels, |out, (label, _)| {
                    out.string(label);
                });
                out.close();
            }
            TypeDefinition::Range(options) => option::equated(options, out.word("AS RANGE")),
            TypeDefinition::Shell => {}
        }
    }
}

impl Print for (TypeName, Vec<AlterType>) {
    fn print(&self, out: &mut Writer) {
        out.word("ALTER TYPE").node(&self.0).list(&self.1);
    }
}

impl Print for AlterType {
    fn print(&self, out: &mut Writer) {
        match self {
            AlterType::AddValue { if_not_exists, label, neighbour } => {
                out.word("ADD VALUE").word_if(*if_not_exists, "IF NOT EXISTS").string(label);
                if let Some((before, neighbour)) = neighbour {
                    out.either(*before, "BEFORE", "AFTER").string(neighbour);
                }
            }
            AlterType::RenameValue(from, to) => {
                out.word("RENAME VALUE").string(from).word("TO").string(to);
            }
            AlterType::AddAttribute(attribute, cascade) => {
                out.word("ADD ATTRIBUTE").node(attribute).word_if(*cascade, "CASCADE");
            }
            AlterType::DropAttribute(if_exists, name, cascade) => {
                out.word("DROP ATTRIBUTE").word_if(*if_exists, "IF EXISTS").node(name).word_if(*cascade, "CASCADE");
            }
            AlterType::AlterAttribute(attribute, cascade) => {
                out.word("ALTER ATTRIBUTE").node(&attribute.name).word("TYPE").node(&attribute.data_type);
                out.clause("COLLATE", &attribute.collation).word_if(*cascade, "CASCADE");
            }
            AlterType::RenameAttribute(from, to, cascade) => {
                out.word("RENAME ATTRIBUTE").node(from).word("TO").node(to).word_if(*cascade, "CASCADE");
            }
            AlterType::SetOptions(options) => option::equated(options, out.word("SET")),
        }
    }
}

impl Print for CreateDomain {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE DOMAIN").node(&self.name).word("AS").node(&self.data_type);
        out.clause("COLLATE", &self.collation).sequence(&self.constraints);
    }
}

impl Print for (TypeName, AlterDomain) {
    fn print(&self, out: &mut Writer) {
        out.word("ALTER DOMAIN").node(&self.0).node(&self.1);
    }
}

impl Print for AlterDomain {
    fn print(&self, out: &mut Writer) {
        match self {
            AlterDomain::Default(Some(value)) => out.word("SET DEFAULT").node(value),
            AlterDomain::Default(None) => out.word("DROP DEFAULT"),
            AlterDomain::NotNull(set) => out.either(*set, "SET NOT NULL", "DROP NOT NULL"),
            AlterDomain::AddConstraint(constraint) => out.word("ADD").node(constraint),
            AlterDomain::DropConstraint { if_exists, name, cascade } => {
                out.word("DROP CONSTRAINT").word_if(*if_exists, "IF EXISTS").node(name).word_if(*cascade, "CASCADE")
            }
            AlterDomain::ValidateConstraint(name) => out.word("VALIDATE CONSTRAINT").node(name),
            AlterDomain::RenameConstraint(from, to) => {
                out.word("RENAME CONSTRAINT").node(from).word("TO").node(to);
                out
            }
        };
    }
}

impl DefineKind {
    /// Its words, in upper case.
    pub fn words(self) -> &'static str {
        match self {
            DefineKind::Aggregate => "AGGREGATE",
            DefineKind::Operator => "OPERATOR",
            DefineKind::Type => "TYPE",
            DefineKind::TextSearchParser => "TEXT SEARCH PARSER",
            DefineKind::TextSearchDictionary => "TEXT SEARCH DICTIONARY",
            DefineKind::TextSearchTemplate => "TEXT SEARCH TEMPLATE",
            DefineKind::TextSearchConfiguration => "TEXT SEARCH CONFIGURATION",
            DefineKind::Collation => "COLLATION",
        }
    }
}

impl Print for Define {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE").word_if(self.or_replace, "OR REPLACE").word(self.kind.words());
        out.word_if(self.if_not_exists, "IF NOT EXISTS");
        match (&self.routine, self.kind) {
            (Some(routine), _) => reference(routine, true, out),
            (None, DefineKind::Operator) => super::object::operator_name(&self.name, out),
            (None, _) => self.name.print(out),
        }
        out.clause("FROM", &self.from);
        if !self.options.is_empty() {
            option::equated(&self.options, out);
        }
    }
}

impl Print for CreateExtension {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE EXTENSION").word_if(self.if_not_exists, "IF NOT EXISTS").node(&self.name);
        out.clause("SCHEMA", &self.schema);
        if let Some(version) = &self.version {
            out.word("VERSION").string(version);
        }
        out.word_if(self.cascade, "CASCADE");
    }
}
