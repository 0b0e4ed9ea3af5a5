//! The words of statements that PercoSQL lacks.

use grammar::tree::{DefineKind, ObjectReference, RoutineKind, Statement};
use grammar::tree::{NamedKind, OfTableKind, PlainKind};

/// The first words of a statement in capitals.
pub(super) fn words(tree: &Statement) -> String {
    use Statement as S;
    let create = |or_replace: bool, what: &str| {
        let replace = if or_replace { "OR REPLACE " } else { "" };
        format!("CREATE {replace}{what}")
    };
    match tree {
        S::Refresh(_) => "REFRESH MATERIALIZED VIEW".into(),
        S::CreateDomain(_) => create(false, "DOMAIN"),
        S::AlterDomain(_) => "ALTER DOMAIN".into(),
        S::CreateFunction(function) => {
            create(function.or_replace, if function.procedure { "PROCEDURE" } else { "FUNCTION" })
        }
        S::AlterFunction(function) => format!("ALTER {}", routine(function.kind)),
        S::Call(_) => "CALL".into(),
        S::Do(_) => "DO".into(),
        S::CreateTrigger(trigger) => {
            create(trigger.or_replace, if trigger.constraint { "CONSTRAINT TRIGGER" } else { "TRIGGER" })
        }
        S::CreateEventTrigger(_) => create(false, "EVENT TRIGGER"),
        S::CreatePolicy(_) => create(false, "POLICY"),
        S::AlterPolicy(_) => "ALTER POLICY".into(),
        S::CreateRule(rule) => create(rule.or_replace, "RULE"),
        S::Define(define) if define.kind == DefineKind::Type => "CREATE TYPE of anything but an enum".into(),
        S::Define(define) => create(define.or_replace, defined(define.kind)),
        S::CreateCast(_) => create(false, "CAST"),
        S::CreateOperatorClass(_) => create(false, "OPERATOR CLASS"),
        S::CreateOperatorFamily(..) => create(false, "OPERATOR FAMILY"),
        S::CreateStatistics(_) => create(false, "STATISTICS"),
        S::Publication(publication) => {
            format!("{} PUBLICATION", if publication.action.is_none() { "CREATE" } else { "ALTER" })
        }
        S::Subscription(subscription) => {
            let creates = subscription.action == grammar::tree::SubscriptionAction::Create;
            format!("{} SUBSCRIPTION", if creates { "CREATE" } else { "ALTER" })
        }
        S::Cluster(_) => "CLUSTER".into(),
        S::Load(_) => "LOAD".into(),
        _ => "this statement".into(),
    }
}

fn defined(kind: DefineKind) -> &'static str {
    match kind {
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

fn routine(kind: RoutineKind) -> &'static str {
    match kind {
        RoutineKind::Function => "FUNCTION",
        RoutineKind::Procedure => "PROCEDURE",
        RoutineKind::Routine => "ROUTINE",
        RoutineKind::Aggregate => "AGGREGATE",
    }
}

/// The kind of an object in capitals, as in command tags.
pub(super) fn kind_of(object: &ObjectReference) -> &'static str {
    match object {
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
        ObjectReference::Plain(kind, _) => match kind {
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
        },
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
        ObjectReference::Routine(kind, _) => routine(*kind),
        ObjectReference::Operator(..) => "OPERATOR",
        ObjectReference::OperatorClass(..) => "OPERATOR CLASS",
        ObjectReference::OperatorFamily(..) => "OPERATOR FAMILY",
        ObjectReference::Cast(..) => "CAST",
        ObjectReference::Transform(..) => "TRANSFORM",
        ObjectReference::LargeObject(..) => "LARGE OBJECT",
        ObjectReference::UserMapping(..) => "USER MAPPING",
    }
}
