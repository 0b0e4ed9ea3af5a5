//! The words of statements that PercoSQL lacks.

use grammar::tree::{DefineKind, Statement};

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
        S::AlterFunction(function) => format!("ALTER {}", function.kind.words()),
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
        S::Define(define) => create(define.or_replace, define.kind.words()),
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
