//! Writes publications and subscriptions.

use super::option;
use super::writer::{Print, Writer};
use crate::tree::{Publication, PublicationAction, PublicationObject, Subscription, SubscriptionAction};

impl Print for Publication {
    fn print(&self, out: &mut Writer) {
        out.either(self.action.is_some(), "ALTER PUBLICATION", "CREATE PUBLICATION").node(&self.name);
        match self.action {
            None if self.all_tables => out.word("FOR ALL TABLES"),
            None => out.list_clause("FOR", &self.objects),
            Some(PublicationAction::Add) => out.list_clause("ADD", &self.objects),
            Some(PublicationAction::Set) => out.list_clause("SET", &self.objects),
            Some(PublicationAction::Drop) => out.list_clause("DROP", &self.objects),
            Some(PublicationAction::SetOptions) => {
                option::equated(&self.options, out.word("SET"));
                return;
            }
        };
        option::with(&self.options, out);
    }
}

impl Print for PublicationObject {
    fn print(&self, out: &mut Writer) {
        match self {
            PublicationObject::Table(table, columns, filter) => {
                out.word("TABLE").node(table).enclosed_if_any(columns);
                if let Some(filter) = filter {
                    out.word("WHERE").open().node(filter).close();
                }
            }
            PublicationObject::Schema(Some(schema)) => {
                out.word("TABLES IN SCHEMA").node(schema);
            }
            PublicationObject::Schema(None) => {
                out.word("TABLES IN SCHEMA CURRENT_SCHEMA");
            }
        }
    }
}

impl Print for Subscription {
    fn print(&self, out: &mut Writer) {
        let create = self.action == SubscriptionAction::Create;
        out.either(create, "CREATE SUBSCRIPTION", "ALTER SUBSCRIPTION").node(&self.name);
        if let Some(connection) = &self.connection {
            out.word("CONNECTION").string(connection);
        }
        match self.action {
            SubscriptionAction::Create => out.word("PUBLICATION"),
            SubscriptionAction::Connection => out,
            SubscriptionAction::SetPublication => out.word("SET PUBLICATION"),
            SubscriptionAction::AddPublication => out.word("ADD PUBLICATION"),
            SubscriptionAction::DropPublication => out.word("DROP PUBLICATION"),
            SubscriptionAction::Refresh => out.word("REFRESH PUBLICATION"),
            SubscriptionAction::Enable => out.word("ENABLE"),
            SubscriptionAction::Disable => out.word("DISABLE"),
            SubscriptionAction::SetOptions => out.word("SET"),
            SubscriptionAction::Skip => out.word("SKIP"),
        };
        out.list(&self.publications);
        match self.action {
            SubscriptionAction::SetOptions | SubscriptionAction::Skip => option::equated(&self.options, out),
            _ => option::with(&self.options, out),
        }
    }
}
