//! Writes CREATE FUNCTION, triggers, policies, rules and casts.

use super::routine::reference;
use super::writer::{Print, Writer};
use crate::tree::{
    AlterPolicy, AtomicStatement, CastMethod, CreateCast, CreateEventTrigger, CreateFunction, CreateOperatorClass,
    CreatePolicy, CreateRule, CreateTrigger, Do, OperatorClassItem, SqlBody, TriggerEvent, TriggerTiming,
};

impl Print for CreateFunction {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE").word_if(self.or_replace, "OR REPLACE").either(self.procedure, "PROCEDURE", "FUNCTION");
        out.node(&self.name).arguments(&self.parameters).clause("RETURNS", &self.returns);
        if !self.returns_table.is_empty() {
            out.word("RETURNS TABLE").enclosed(&self.returns_table);
        }
        out.sequence(&self.options).optional(&self.body);
    }
}

impl Print for SqlBody {
    fn print(&self, out: &mut Writer) {
        match self {
            SqlBody::Return(value) => out.word("RETURN").node(value),
            SqlBody::Atomic(statements) => {
                out.word("BEGIN ATOMIC");
                for statement in statements {
                    match statement {
                        AtomicStatement::Statement(statement) => out.node(statement),
                        AtomicStatement::Return(value) => out.word("RETURN").node(value),
                    };
                    out.sign(";");
                }
                out.word("END")
            }
        };
    }
}

impl Print for Do {
    fn print(&self, out: &mut Writer) {
        out.word("DO").clause("LANGUAGE", &self.language).string(&self.source);
    }
}

impl Print for CreateTrigger {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE").word_if(self.or_replace, "OR REPLACE").word_if(self.constraint, "CONSTRAINT");
        out.word("TRIGGER").node(&self.name).word(match self.timing {
            TriggerTiming::Before => "BEFORE",
            TriggerTiming::After => "AFTER",
            TriggerTiming::InsteadOf => "INSTEAD OF",
        });
        for (at, event) in self.events.iter().enumerate() {
            out.word_if(at > 0, "OR").node(event);
        }
        out.word("ON").node(&self.table).clause("FROM", &self.from).node(&self.deferral);
        out.word_if(!self.transitions.is_empty(), "REFERENCING");
        for (new, name) in &self.transitions {
            out.either(*new, "NEW TABLE AS", "OLD TABLE AS").node(name);
        }
        out.either(self.for_each_row, "FOR EACH ROW", "FOR EACH STATEMENT");
        if let Some(condition) = &self.condition {
            out.word("WHEN").open().node(condition).close();
        }
        out.word("EXECUTE FUNCTION").node(&self.function).tie("(").each(&self.arguments, |out, argument| {
            out.string(argument);
        });
        out.close();
    }
}

impl Print for TriggerEvent {
    fn print(&self, out: &mut Writer) {
        match self {
            TriggerEvent::Insert => out.word("INSERT"),
            TriggerEvent::Delete => out.word("DELETE"),
            TriggerEvent::Update(columns) => out.word("UPDATE").list_clause("OF", columns),
            TriggerEvent::Truncate => out.word("TRUNCATE"),
        };
    }
}

impl Print for CreateEventTrigger {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE EVENT TRIGGER").node(&self.name).word("ON").node(&self.event);
        for (at, (variable, values)) in self.filters.iter().enumerate() {
            out.either(at > 0, "AND", "WHEN").node(variable).word("IN").open().each(values, |out, value| {
                out.string(value);
            });
            out.close();
        }
        out.word("EXECUTE FUNCTION").node(&self.function).sign("()");
    }
}

impl Print for CreatePolicy {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE POLICY").node(&self.name).word("ON").node(&self.table);
        out.word_if(!self.permissive, "AS RESTRICTIVE");
        if self.command != "all" {
            out.word("FOR").word(&self.command.to_uppercase());
        }
        out.list_clause("TO", &self.roles);
        policy_conditions(&self.using, &self.check, out);
    }
}

impl Print for AlterPolicy {
    fn print(&self, out: &mut Writer) {
        out.word("ALTER POLICY").node(&self.name).word("ON").node(&self.table).list_clause("TO", &self.roles);
        policy_conditions(&self.using, &self.check, out);
    }
}

fn policy_conditions(using: &Option<crate::tree::Expr>, check: &Option<crate::tree::Expr>, out: &mut Writer) {
    if let Some(using) = using {
        out.word("USING").open().node(using).close();
    }
    if let Some(check) = check {
        out.word("WITH CHECK").open().node(check).close();
    }
}

impl Print for CreateRule {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE").word_if(self.or_replace, "OR REPLACE").word("RULE").node(&self.name).word("AS ON");
        out.word(&self.event.to_uppercase()).word("TO").node(&self.table).clause("WHERE", &self.condition);
        out.word("DO").word_if(self.instead, "INSTEAD");
        match self.commands.as_slice() {
            [] => out.word("NOTHING"),
            [only] => out.node(only),
            several => {
                out.open();
                for (at, command) in several.iter().enumerate() {
                    if at > 0 {
                        out.sign(";");
                    }
                    out.node(command);
                }
                out.close()
            }
        };
    }
}

impl Print for CreateCast {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE CAST").open().node(&self.source).word("AS").node(&self.target).close();
        match &self.method {
            CastMethod::Function(function) => reference(function, false, out.word("WITH FUNCTION")),
            CastMethod::WithoutFunction => {
                out.word("WITHOUT FUNCTION");
            }
            CastMethod::InOut => {
                out.word("WITH INOUT");
            }
        }
        out.choice(self.implicit, "AS IMPLICIT", "AS ASSIGNMENT");
    }
}

impl Print for CreateOperatorClass {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE OPERATOR CLASS").node(&self.name).word_if(self.default, "DEFAULT");
        out.word("FOR TYPE").node(&self.data_type).word("USING").node(&self.method).clause("FAMILY", &self.family);
        out.word("AS").list(&self.items);
    }
}

impl Print for OperatorClassItem {
    fn print(&self, out: &mut Writer) {
        match self {
            OperatorClassItem::Operator(number, operator, types, family) => {
                out.word("OPERATOR").word(&number.to_string());
                super::object::any_operator(operator, out);
                out.enclosed_if_any(types).clause("FOR ORDER BY", family);
            }
            OperatorClassItem::Function(number, types, function) => {
                out.word("FUNCTION").word(&number.to_string()).enclosed_if_any(types).node(function);
            }
            OperatorClassItem::Storage(data_type) => {
                out.word("STORAGE").node(data_type);
            }
        }
    }
}
