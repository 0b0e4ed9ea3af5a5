//! Planted bugs in privileges: which roles may become others, read data and see settings.

use super::Mutant;

const COMPARED: &[&str] = &["-p", "percosql-planner", "--lib", "session::tests::privileges"];

/// Bugs in the checks of privileges.
pub const PRIVILEGES: &[Mutant] = &[
    Mutant {
        name: "CREATEROLE gives memberships of superusers",
        file: "planner/src/ddl/membership.rs",
        original: "if superuser || !role.superuser && (creates",
        broken: "if superuser || (creates",
        tests: COMPARED,
    },
    Mutant {
        name: "pg_database_owner takes members",
        file: "planner/src/ddl/membership.rs",
        original: "if role.oid == predefined::DATABASE_OWNER {",
        broken: "if role.oid == 0 {",
        tests: COMPARED,
    },
    Mutant {
        name: "a schema is made for any role",
        file: "planner/src/ddl/schema.rs",
        original: "    owner::must_be_member(context, owner)?;\n    if context.catalog.schema(&name).is_some() {\n        if if_not_exists {",
        broken: "    if context.catalog.schema(&name).is_some() {\n        if if_not_exists {",
        tests: COMPARED,
    },
    Mutant {
        name: "columns of views are read without a privilege",
        file: "planner/src/bind/view.rs",
        original: "        self.require_read(view, &mut relation)?;\n",
        broken: "",
        tests: COMPARED,
    },
    Mutant {
        name: "names that stand for columns are not noted",
        file: "planner/src/bind/scope.rs",
        original: "        self.read.store(true, Ordering::Relaxed);\n",
        broken: "",
        tests: COMPARED,
    },
    Mutant {
        name: "a view that invokes is read as the owner of the view above it",
        file: "planner/src/bind/view.rs",
        original: "inner.owner = super::role_below(view);",
        broken: "inner.owner = super::role_below(view).or(self.owner);",
        tests: COMPARED,
    },
    Mutant {
        name: "errors show rows to those who may not read them",
        file: "planner/src/execution/dml/check.rs",
        original: "let all = self.context.shows_all(table);",
        broken: "let all = true;",
        tests: COMPARED,
    },
    Mutant {
        name: "errors show keys to those who may not read them",
        file: "planner/src/execution/dml/check.rs",
        original: "    if !context.shows(table, index.columns.iter().map(|key| key.column)) {\n        return error;\n    }\n",
        broken: "",
        tests: COMPARED,
    },
    Mutant {
        name: "conflicts show keys to those who may not read them",
        file: "planner/src/session/conflict.rs",
        original: "        let text = match catalog.reads(role, &table, key_columns(&table, index)) {",
        broken: "        let text = match catalog.reads(role, &table, []) {",
        tests: COMPARED,
    },
    Mutant {
        name: "a login needs no CONNECT",
        file: "planner/src/session/mod.rs",
        original: "if !crate::catalog::acl::may_connect(&role, &descriptor, &roles) {",
        broken: "if false {",
        tests: COMPARED,
    },
    Mutant {
        name: "information_schema shows what one has no privilege on",
        file: "planner/src/pg_catalog/visible.rs",
        original: "self.superuser || self.roles.contains(&owner)",
        broken: "self.superuser || self.roles.contains(&owner) || true",
        tests: COMPARED,
    },
    Mutant {
        name: "everybody may name a closed catalog",
        file: "planner/src/bind/privilege.rs",
        original: "return pg_catalog::is_readable(table) || self.context.catalog.is_superuser(role);",
        broken: "return true;",
        tests: &["-p", "percosql-tests", "--test", "differential", "psql_prints_the_same"],
    },
];
