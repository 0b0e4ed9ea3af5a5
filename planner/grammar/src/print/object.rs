//! Writes objects of any kind, and DROP, COMMENT and ALTER of them.

use super::name::path;
use super::option;
use super::routine::reference;
use super::writer::{Print, Writer};
use crate::tree::{
    AlterObject, Comment, Drop, Name, NamedKind, ObjectChange, ObjectReference, OfTableKind, Operator, PlainKind,
    RoutineKind, TypeName,
};

impl ObjectReference {
    /// The words for its kind, in upper case as in command tags.
    pub fn words(&self) -> &'static str {
        match self {
            ObjectReference::Named(kind, _) => match kind {
                NamedKind::Table => "TABLE",
                NamedKind::View => "VIEW",
                NamedKind::MaterializedView => "MATERIALIZED VIEW",
                NamedKind::Index => "INDEX",
                NamedKind::Sequence => "SEQUENCE",
                NamedKind::ForeignTable => "FOREIGN TABLE",
                NamedKind::Collation => "COLLATION",
                NamedKind::Conversion => "CONVERSION",
                NamedKind::Statistics => "STATISTICS",
                NamedKind::TextSearchParser => "TEXT SEARCH PARSER",
                NamedKind::TextSearchDictionary => "TEXT SEARCH DICTIONARY",
                NamedKind::TextSearchTemplate => "TEXT SEARCH TEMPLATE",
                NamedKind::TextSearchConfiguration => "TEXT SEARCH CONFIGURATION",
            },
            ObjectReference::Plain(kind, _) => plain_kind(*kind),
            ObjectReference::OfTable(kind, ..) => match kind {
                OfTableKind::Constraint => "CONSTRAINT",
                OfTableKind::Policy => "POLICY",
                OfTableKind::Rule => "RULE",
                OfTableKind::Trigger => "TRIGGER",
            },
            ObjectReference::Column(_) => "COLUMN",
            ObjectReference::Type(_) => "TYPE",
            ObjectReference::Domain(_) => "DOMAIN",
            ObjectReference::DomainConstraint(..) => "CONSTRAINT",
            ObjectReference::Routine(kind, _) => kind.words(),
            ObjectReference::Operator(..) => "OPERATOR",
            ObjectReference::OperatorClass(..) => "OPERATOR CLASS",
            ObjectReference::OperatorFamily(..) => "OPERATOR FAMILY",
            ObjectReference::Cast(..) => "CAST",
            ObjectReference::Transform(..) => "TRANSFORM",
            ObjectReference::LargeObject(..) => "LARGE OBJECT",
            ObjectReference::UserMapping(..) => "USER MAPPING",
        }
    }

    /// Writes all but the words for its kind.
    fn print_name(&self, out: &mut Writer) {
        match self {
            ObjectReference::Named(_, name) | ObjectReference::Column(name) => out.node(name),
            ObjectReference::Plain(_, name) => out.node(name),
            ObjectReference::OfTable(_, name, table) => out.node(name).word("ON").node(table),
            ObjectReference::Type(data_type) | ObjectReference::Domain(data_type) => out.node(data_type),
            ObjectReference::DomainConstraint(name, domain) => out.node(name).word("ON DOMAIN").node(domain),
            ObjectReference::Routine(kind, routine) => {
                reference(routine, *kind == RoutineKind::Aggregate, out);
                out
            }
            ObjectReference::Operator(operator, left, right) => {
                any_operator(operator, out);
                out.open();
                operand_type(left, out);
                operand_type(right, out.sign(","));
                out.close()
            }
            ObjectReference::OperatorClass(name, method) | ObjectReference::OperatorFamily(name, method) => {
                out.node(name).word("USING").node(method)
            }
            ObjectReference::Cast(source, target) => out.open().node(source).word("AS").node(target).close(),
            ObjectReference::Transform(data_type, language) => {
                out.word("FOR").node(data_type).word("LANGUAGE").node(language)
            }
            ObjectReference::LargeObject(digits, _) => out.word(digits),
            ObjectReference::UserMapping(role, server) => out.word("FOR").node(role).word("SERVER").node(server),
        };
    }
}

/// The words for a kind of object with a single name.
pub(super) fn plain_kind(kind: PlainKind) -> &'static str {
    match kind {
        PlainKind::AccessMethod => "ACCESS METHOD",
        PlainKind::Database => "DATABASE",
        PlainKind::EventTrigger => "EVENT TRIGGER",
        PlainKind::Extension => "EXTENSION",
        PlainKind::ForeignDataWrapper => "FOREIGN DATA WRAPPER",
        PlainKind::Language => "LANGUAGE",
        PlainKind::Publication => "PUBLICATION",
        PlainKind::Role => "ROLE",
        PlainKind::Schema => "SCHEMA",
        PlainKind::Server => "SERVER",
        PlainKind::Subscription => "SUBSCRIPTION",
        PlainKind::Tablespace => "TABLESPACE",
    }
}

fn operand_type(data_type: &Option<TypeName>, out: &mut Writer) {
    match data_type {
        Some(data_type) => out.node(data_type),
        None => out.word("NONE"),
    };
}

/// Writes an operator as the name of an object: `schema.sign`.
pub(super) fn any_operator(operator: &Operator, out: &mut Writer) {
    path(&operator.schema, out);
    if !operator.schema.is_empty() {
        out.tie(".");
    }
    out.word(&operator.sign);
}

/// Writes a name whose last part is an operator's sign.
pub(super) fn operator_name(name: &Name, out: &mut Writer) {
    if let Some((sign, schema)) = name.parts.split_last() {
        path(schema, out);
        if !schema.is_empty() {
            out.tie(".");
        }
        out.word(&sign.value);
    }
}

impl Print for ObjectReference {
    fn print(&self, out: &mut Writer) {
        out.word(self.words());
        self.print_name(out);
    }
}

impl Print for Drop {
    fn print(&self, out: &mut Writer) {
        out.word("DROP");
        if let Some(first) = self.objects.first() {
            out.word(first.words());
        }
        out.word_if(self.concurrently, "CONCURRENTLY").word_if(self.if_exists, "IF EXISTS");
        out.each(&self.objects, |out, object| object.print_name(out));
        out.word_if(self.cascade, "CASCADE").word_if(self.force, "WITH (FORCE)");
    }
}

impl Print for Comment {
    fn print(&self, out: &mut Writer) {
        out.word("COMMENT ON").node(&self.object).word("IS");
        match &self.text {
            Some(text) => out.string(text),
            None => out.word("NULL"),
        };
    }
}

impl Print for AlterObject {
    fn print(&self, out: &mut Writer) {
        out.word("ALTER").word(self.object.words()).word_if(self.if_exists, "IF EXISTS");
        self.object.print_name(out);
        self.change.print(out);
    }
}

impl Print for ObjectChange {
    fn print(&self, out: &mut Writer) {
        match self {
            ObjectChange::Rename(name) => {
                out.word("RENAME TO").node(name);
            }
            ObjectChange::Owner(role) => {
                out.word("OWNER TO").node(role);
            }
            ObjectChange::Schema(schema) => {
                out.word("SET SCHEMA").node(schema);
            }
            ObjectChange::DependsOnExtension(no, extension) => {
                out.word_if(*no, "NO").word("DEPENDS ON EXTENSION").node(extension);
            }
            ObjectChange::RefreshVersion => {
                out.word("REFRESH VERSION");
            }
            ObjectChange::UpdateExtension(version) => {
                out.word("UPDATE");
                if let Some(version) = version {
                    out.word("TO").string(version);
                }
            }
            ObjectChange::ExtensionMember(add, object) => {
                out.either(*add, "ADD", "DROP").node(object);
            }
            ObjectChange::SetStatistics(number) => {
                out.word("SET STATISTICS").word(&number.to_string());
            }
            ObjectChange::Switch(switch) => {
                out.node(switch);
            }
            ObjectChange::SetOptions(options) => option::equated(options, out.word("SET")),
            ObjectChange::ResetOptions(options) => option::equated(options, out.word("RESET")),
        }
    }
}
