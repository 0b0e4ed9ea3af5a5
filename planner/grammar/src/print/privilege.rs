//! Writes GRANT, REVOKE and ALTER DEFAULT PRIVILEGES.

use super::object::plain_kind;
use super::role::setting_name;
use super::routine::reference;
use super::writer::{Print, Writer};
use crate::tree::{
    DefaultKind, DefaultPrivileges, Grant, GrantObjects, GrantRole, Privilege, RoutineKind, RoutineReference,
};

impl Print for Grant {
    fn print(&self, out: &mut Writer) {
        out.either(self.grants, "GRANT", "REVOKE").word_if(self.option && !self.grants, "GRANT OPTION FOR");
        privileges(&self.privileges, out);
        out.word("ON").node(&self.objects).either(self.grants, "TO", "FROM").list(&self.roles);
        out.word_if(self.option && self.grants, "WITH GRANT OPTION").clause("GRANTED BY", &self.by);
        out.word_if(self.cascade, "CASCADE");
    }
}

fn privileges(privileges: &[Privilege], out: &mut Writer) {
    if privileges.is_empty() {
        out.word("ALL");
    } else {
        out.list(privileges);
    }
}

impl Print for Privilege {
    fn print(&self, out: &mut Writer) {
        let known = [
            "all",
            "select",
            "insert",
            "update",
            "delete",
            "truncate",
            "references",
            "trigger",
            "usage",
            "create",
            "connect",
            "temporary",
            "temp",
            "execute",
            "set",
            "alter system",
        ];
        if known.contains(&self.name.as_str()) {
            out.word(&self.name.to_uppercase());
        } else {
            out.name(&self.name);
        }
        out.enclosed_if_any(&self.columns);
    }
}

impl Print for GrantObjects {
    fn print(&self, out: &mut Writer) {
        match self {
            GrantObjects::Tables(names) => out.word("TABLE").list(names),
            GrantObjects::Sequences(names) => out.word("SEQUENCE").list(names),
            GrantObjects::Types(names) => out.word("TYPE").list(names),
            GrantObjects::Domains(names) => out.word("DOMAIN").list(names),
            GrantObjects::Routines(kind, routines) => {
                out.node(kind).each(routines, |out, routine: &RoutineReference| reference(routine, false, out))
            }
            GrantObjects::Plain(kind, names) => {
                // These two have longer names here than elsewhere.
                out.word(match kind {
                    crate::tree::PlainKind::Server => "FOREIGN SERVER",
                    kind => plain_kind(*kind),
                });
                out.list(names)
            }
            GrantObjects::LargeObjects(numbers) => out.word("LARGE OBJECT").each(numbers, |out, (digits, _)| {
                out.word(digits);
            }),
            GrantObjects::Parameters(names) => out.word("PARAMETER").each(names, |out, name| setting_name(name, out)),
            GrantObjects::AllTables(schemas) => out.word("ALL TABLES IN SCHEMA").list(schemas),
            GrantObjects::AllSequences(schemas) => out.word("ALL SEQUENCES IN SCHEMA").list(schemas),
            GrantObjects::AllRoutines(kind, schemas) => {
                out.word(match kind {
                    RoutineKind::Procedure => "ALL PROCEDURES IN SCHEMA",
                    RoutineKind::Routine => "ALL ROUTINES IN SCHEMA",
                    RoutineKind::Function | RoutineKind::Aggregate => "ALL FUNCTIONS IN SCHEMA",
                });
                out.list(schemas)
            }
        };
    }
}

impl Print for GrantRole {
    fn print(&self, out: &mut Writer) {
        out.either(self.grants, "GRANT", "REVOKE").word_if(self.option && !self.grants, "ADMIN OPTION FOR");
        out.list(&self.granted).either(self.grants, "TO", "FROM").list(&self.roles);
        out.word_if(self.option && self.grants, "WITH ADMIN OPTION").clause("GRANTED BY", &self.by);
        out.word_if(self.cascade, "CASCADE");
    }
}

impl Print for DefaultPrivileges {
    fn print(&self, out: &mut Writer) {
        out.word("ALTER DEFAULT PRIVILEGES").list_clause("FOR ROLE", &self.roles);
        out.list_clause("IN SCHEMA", &self.schemas).either(self.grants, "GRANT", "REVOKE");
        out.word_if(self.option && !self.grants, "GRANT OPTION FOR");
        privileges(&self.privileges, out);
        out.word(match self.kind {
            DefaultKind::Tables => "ON TABLES",
            DefaultKind::Sequences => "ON SEQUENCES",
            DefaultKind::Schemas => "ON SCHEMAS",
            DefaultKind::Types => "ON TYPES",
            DefaultKind::Functions => "ON FUNCTIONS",
            DefaultKind::Routines => "ON ROUTINES",
        });
        out.either(self.grants, "TO", "FROM").list(&self.grantees);
        out.word_if(self.option && self.grants, "WITH GRANT OPTION").word_if(self.cascade, "CASCADE");
    }
}
