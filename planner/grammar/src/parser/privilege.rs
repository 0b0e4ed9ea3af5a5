//! GRANT, REVOKE and ALTER DEFAULT PRIVILEGES.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::tree::{
    DefaultKind, DefaultPrivileges, Grant, GrantObjects, GrantRole, Ident, PlainKind, Privilege, RoleSpec, RoutineKind,
    Statement,
};

/// 0LP01: what is granted is no role.
const INVALID_GRANT_OPERATION: &str = "0LP01";

impl Parser<'_> {
    /// GRANT, behind that word. Errors: 42601.
    pub(crate) fn grant(&mut self, start: usize) -> Result<Statement> {
        let all = self.is_word("all");
        let privileges = self.privileges()?;
        if all || self.is_word("on") {
            self.expect_word("on")?;
            let objects = self.grant_objects()?;
            self.expect_word("to")?;
            let roles = self.grantees()?;
            let option = self.with_option("grant")?;
            let by = self.granted_by()?;
            let span = self.span_since(start);
            let cascade = false;
            let grant = Grant { grants: true, privileges, objects, roles, option, by, cascade, span };
            return Ok(Statement::Grant(Box::new(grant)));
        }
        self.expect_word("to")?;
        let roles = self.roles()?;
        let option = self.with_option("admin")?;
        let by = self.granted_by()?;
        let (granted, span) = (granted_roles(privileges)?, self.span_since(start));
        let grant = GrantRole { grants: true, granted, roles, option, by, cascade: false, span };
        Ok(Statement::GrantRole(Box::new(grant)))
    }

    /// REVOKE, behind that word. Errors: 42601.
    pub(crate) fn revoke(&mut self, start: usize) -> Result<Statement> {
        let admin = self.are_words(&["admin", "option"]);
        let option = self.option_for()?;
        let all = self.is_word("all");
        let privileges = self.privileges()?;
        if !admin && (option || all || self.is_word("on")) {
            self.expect_word("on")?;
            let objects = self.grant_objects()?;
            self.expect_word("from")?;
            let roles = self.grantees()?;
            let by = self.granted_by()?;
            let cascade = self.cascade();
            let span = self.span_since(start);
            let grant = Grant { grants: false, privileges, objects, roles, option, by, cascade, span };
            return Ok(Statement::Grant(Box::new(grant)));
        }
        self.expect_word("from")?;
        let roles = self.roles()?;
        let by = self.granted_by()?;
        let cascade = self.cascade();
        let (granted, span) = (granted_roles(privileges)?, self.span_since(start));
        let grant = GrantRole { grants: false, granted, roles, option, by, cascade, span };
        Ok(Statement::GrantRole(Box::new(grant)))
    }

    /// GRANT OPTION FOR or ADMIN OPTION FOR. A role may be named `admin`.
    fn option_for(&mut self) -> Result<bool> {
        if !self.is_word("grant") && !self.are_words(&["admin", "option"]) {
            return Ok(false);
        }
        self.skip();
        self.expect_words(&["option", "for"])?;
        Ok(true)
    }

    fn with_option(&mut self, word: &str) -> Result<bool> {
        let with = self.word("with");
        if with {
            self.expect_words(&[word, "option"])?;
        }
        Ok(with)
    }

    fn granted_by(&mut self) -> Result<Option<RoleSpec>> {
        if !self.word("granted") {
            return Ok(None);
        }
        self.expect_word("by")?;
        self.role().map(Some)
    }

    fn grantees(&mut self) -> Result<Vec<RoleSpec>> {
        self.list(|parser| {
            parser.word("group");
            parser.role()
        })
    }

    /// Privileges, or ALL, which without columns is no privilege.
    fn privileges(&mut self) -> Result<Vec<Privilege>> {
        let start = self.mark();
        if !self.word("all") {
            return self.list(Parser::privilege);
        }
        self.word("privileges");
        let columns = self.optional_columns()?;
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![Privilege { name: "all".into(), columns, span: self.span_since(start) }])
    }

    /// A privilege, or a role in its place.
    fn privilege(&mut self) -> Result<Privilege> {
        let start = self.mark();
        if self.words(&["alter", "system"]) {
            return Ok(Privilege { name: "alter system".into(), columns: Vec::new(), span: self.span_since(start) });
        }
        let reserved = ["select", "references", "create"].iter().any(|word| self.is_word(word));
        let name = if reserved { self.take_ident()? } else { self.column_name()? };
        let columns = self.optional_columns()?;
        Ok(Privilege { name: name.value, columns, span: self.span_since(start) })
    }

    /// The objects behind ON (privilege_target). Most words for kinds of objects may name a table.
    fn grant_objects(&mut self) -> Result<GrantObjects> {
        use PlainKind as P;
        if self.word("all") {
            return self.all_in_schemas();
        }
        if self.word("foreign") {
            if self.word("server") {
                return Ok(GrantObjects::Plain(P::Server, self.plain_names()?));
            }
            self.expect_words(&["data", "wrapper"])?;
            return Ok(GrantObjects::Plain(P::ForeignDataWrapper, self.plain_names()?));
        }
        if self.are_words(&["large", "object"]) {
            self.words(&["large", "object"]);
            return Ok(GrantObjects::LargeObjects(self.list(Parser::signed_number)?));
        }
        if self.is_column_name_at(1) || self.is_function_name_at(1) {
            let routines = [("function", RoutineKind::Function), ("procedure", RoutineKind::Procedure)];
            for (word, kind) in routines.into_iter().chain([("routine", RoutineKind::Routine)]) {
                if self.word(word) {
                    return Ok(GrantObjects::Routines(kind, self.list(Parser::routine_reference)?));
                }
            }
        }
        if self.is_column_name_at(1) {
            let plain = [
                ("database", P::Database),
                ("language", P::Language),
                ("schema", P::Schema),
                ("tablespace", P::Tablespace),
            ];
            for (word, kind) in plain {
                if self.word(word) {
                    return Ok(GrantObjects::Plain(kind, self.plain_names()?));
                }
            }
            match self.one_word_of(&["sequence", "domain", "type", "parameter"]) {
                Some(0) => return Ok(GrantObjects::Sequences(self.list(Parser::qualified_name)?)),
                Some(1) => return Ok(GrantObjects::Domains(self.list(Parser::name)?)),
                Some(2) => return Ok(GrantObjects::Types(self.list(Parser::name)?)),
                Some(_) => return Ok(GrantObjects::Parameters(self.list(Parser::parameter_name)?)),
                None => {}
            }
        }
        self.word("table");
        Ok(GrantObjects::Tables(self.list(Parser::qualified_name)?))
    }

    fn all_in_schemas(&mut self) -> Result<GrantObjects> {
        let Some(kind) = self.one_word_of(&["tables", "sequences", "functions", "procedures", "routines"]) else {
            return Err(self.error());
        };
        self.expect_words(&["in", "schema"])?;
        let schemas = self.plain_names()?;
        Ok(match kind {
            0 => GrantObjects::AllTables(schemas),
            1 => GrantObjects::AllSequences(schemas),
            2 => GrantObjects::AllRoutines(RoutineKind::Function, schemas),
            3 => GrantObjects::AllRoutines(RoutineKind::Procedure, schemas),
            _ => GrantObjects::AllRoutines(RoutineKind::Routine, schemas),
        })
    }

    fn plain_names(&mut self) -> Result<Vec<Ident>> {
        self.list(Parser::column_name)
    }

    /// The name of a server's parameter (parameter_name).
    fn parameter_name(&mut self) -> Result<String> {
        let mut name = self.column_name()?.value;
        while self.sign('.') {
            name = format!("{name}.{}", self.column_name()?.value);
        }
        Ok(name)
    }

    /// ALTER DEFAULT PRIVILEGES, behind these words. Errors: 42601.
    pub(crate) fn default_privileges(&mut self, start: usize) -> Result<Statement> {
        let (mut roles, mut schemas, mut repeated) = (Vec::new(), Vec::new(), None);
        loop {
            let option = self.mark();
            if self.word("for") {
                self.one_word_of(&["role", "user"]).ok_or_else(|| self.error())?;
                let again = std::mem::replace(&mut roles, self.roles()?);
                repeated = repeated.or_else(|| (!again.is_empty()).then(|| self.span_since(option)));
            } else if self.word("in") {
                self.expect_word("schema")?;
                let again = std::mem::replace(&mut schemas, self.plain_names()?);
                repeated = repeated.or_else(|| (!again.is_empty()).then(|| self.span_since(option)));
            } else {
                break;
            }
        }
        let grants = self.one_word_of(&["grant", "revoke"]).ok_or_else(|| self.error())? == 0;
        let mut option = false;
        if !grants && self.word("grant") {
            self.expect_words(&["option", "for"])?;
            option = true;
        }
        let privileges = self.privileges()?;
        self.expect_word("on")?;
        let kind = self.default_kind()?;
        self.expect_word(if grants { "to" } else { "from" })?;
        let grantees = self.grantees()?;
        let mut cascade = false;
        if grants {
            option = self.with_option("grant")?;
        } else {
            cascade = self.cascade();
        }
        if let Some(place) = repeated {
            return Err(SyntaxError::syntax("conflicting or redundant options").at(place));
        }
        let span = self.span_since(start);
        Ok(Statement::DefaultPrivileges(Box::new(DefaultPrivileges {
            roles,
            schemas,
            grants,
            privileges,
            kind,
            grantees,
            option,
            cascade,
            span,
        })))
    }

    fn default_kind(&mut self) -> Result<DefaultKind> {
        let words = ["tables", "sequences", "schemas", "types", "functions", "routines"];
        Ok(match self.one_word_of(&words) {
            Some(0) => DefaultKind::Tables,
            Some(1) => DefaultKind::Sequences,
            Some(2) => DefaultKind::Schemas,
            Some(3) => DefaultKind::Types,
            Some(4) => DefaultKind::Functions,
            Some(_) => DefaultKind::Routines,
            None => return Err(self.error()),
        })
    }
}

/// The roles of a GRANT without ON. PostgreSQL's grammar takes privileges there.
fn granted_roles(privileges: Vec<Privilege>) -> Result<Vec<Ident>> {
    let role = |privilege: Privilege| match privilege.columns.is_empty() {
        true => Ok(Ident { value: privilege.name, span: privilege.span }),
        false => {
            let message = "column names cannot be included in GRANT/REVOKE ROLE";
            Err(SyntaxError::new(INVALID_GRANT_OPERATION, message))
        }
    };
    privileges.into_iter().map(role).collect()
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/privilege.sql"));
    }

    #[test]
    fn tells_kinds_of_objects_from_names_of_tables() {
        use crate::tree::{GrantObjects as O, Ident, Name, PlainKind, Statement};
        let cases = [
            ("schema", O::Tables(vec![Name::new("schema")])),
            ("SCHEMA schema", O::Plain(PlainKind::Schema, vec![Ident::new("schema")])),
            ("sequence", O::Tables(vec![Name::new("sequence")])),
            ("SEQUENCE s", O::Sequences(vec![Name::new("s")])),
            ("function", O::Tables(vec![Name::new("function")])),
            ("TYPE t", O::Types(vec![Name::new("t")])),
            ("PARAMETER a.b", O::Parameters(vec!["a.b".into()])),
            ("ALL SEQUENCES IN SCHEMA s", O::AllSequences(vec![Ident::new("s")])),
        ];
        for (objects, expected) in cases {
            let text = format!("GRANT ALL ON {objects} TO x");
            let Statement::Grant(grant) = super::super::cases::only(&text) else { panic!("{text}") };
            assert_eq!(grant.objects, expected, "{text}");
        }
    }
}
