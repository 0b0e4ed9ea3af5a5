//! Planted bugs in features that drivers and applications rely on: large objects, disabled triggers, restricted
//! settings, function calls.

use super::Mutant;

/// Bugs in features for applications.
pub const APPLICATIONS: &[Mutant] = &[
    Mutant {
        name: "a page of a large object begins anew with each write",
        file: "planner/src/large_object/mod.rs",
        original: "let mut page = self.transaction.get(&key, self.own).await?.unwrap_or_default().to_vec();",
        broken: "let mut page: Vec<u8> = Vec::new();",
        tests: &["-p", "percosql-tests", "--test", "differential", "psql_prints_the_same"],
    },
    Mutant {
        name: "what is written of a large object survives its removal",
        file: "planner/src/large_object/mod.rs",
        original: "        // Of two that write and remove it at once, one fails.\n        self.transaction.require_unchanged(keys::large_object(self.database, oid));\n",
        broken: "",
        tests: &["-p", "percosql-tests", "--test", "protocol", "a_large_object_is_read"],
    },
    Mutant {
        name: "a large object open for reading shows what came later",
        file: "planner/src/functions/large_object.rs",
        original: "LargeObjects::new(transaction, context.catalog.database().oid).before_command(*command)",
        broken: "{ let _ = (transaction, command); LargeObjects::of(context) }",
        tests: &["-p", "percosql-tests", "--test", "protocol", "a_large_object_is_read"],
    },
    Mutant {
        name: "savepoints leave large objects open",
        file: "planner/src/large_object/descriptors.rs",
        original: "self.close_where(|descriptor| descriptor.opened >= command);",
        broken: "self.close_where(|descriptor| descriptor.opened > command);",
        tests: &["-p", "percosql-planner", "--lib", "large_object"],
    },
    Mutant {
        name: "a disabled trigger of the table that refers is disabled for the other one",
        file: "planner/src/execution/dml/references.rs",
        original: "let [_, _, of_rows, of_changes] = key.triggers.map(fires);",
        broken: "let [of_rows, of_changes, _, _] = key.triggers.map(fires);",
        tests: &["-p", "percosql-tests", "--test", "differential", "psql_prints_the_same"],
    },
    Mutant {
        name: "a parameter of type void counts as an argument",
        file: "planner/src/bind/call.rs",
        original: "argument.ty == SqlType::VOID",
        broken: "argument.ty == SqlType::UNKNOWN",
        tests: &["-p", "percosql-tests", "--test", "protocol", "parameters_of_type_void"],
    },
    Mutant {
        name: "ILIKE has Unicode's cases in a database with LC_CTYPE C",
        file: "planner/src/functions/operator.rs",
        original: "let other_cases = symbol.ends_with('*') && resolver.ctype() != Ctype::Unicode;",
        broken: "let other_cases = symbol.ends_with('*') && resolver.ctype() == Ctype::Unicode;",
        tests: &["-p", "percosql-planner", "--lib", "session::tests::ctype"],
    },
    Mutant {
        name: "keys of a join reach beneath a LIMIT",
        file: "planner/src/plan/passed_columns.rs",
        original: "if plan.fetch().is_some() {",
        broken: "if false {",
        tests: &["-p", "percosql-tests", "--test", "differential", "psql_prints_the_same"],
    },
    Mutant {
        name: "a value that an array does not have is not there although the array has a NULL",
        file: "planner/src/functions/array/members.rs",
        original: "false if self.has_null => None,",
        broken: "false if self.has_null => Some(false),",
        tests: &["-p", "percosql-tests", "--test", "differential", "psql_prints_the_same"],
    },
    Mutant {
        name: "a descriptor that changed is not read again",
        file: "planner/src/catalog/known.rs",
        original: "if entry.0 == value && holds(&entry.1)",
        broken: "if entry.0.len() == value.len() && holds(&entry.1)",
        tests: &["-p", "percosql-planner", "--lib", "catalog::known"],
    },
    Mutant {
        name: "rows of a view are read by the first of several conditions",
        file: "planner/src/plan/alternative_keys.rs",
        original: "let alternatives = split_disjunction(condition);",
        broken: "let alternatives = split_disjunction(condition).into_iter().take(1).collect::<Vec<_>>();",
        tests: &["-p", "percosql-tests", "--test", "differential", "psql_prints_the_same"],
    },
    Mutant {
        name: "keys of a join are used before all of them are known",
        file: "planner/src/execution/key_tap.rs",
        original: "(state.ended && !state.overflowed)",
        broken: "(!state.overflowed)",
        tests: &["-p", "percosql-planner", "--lib", "execution::key_tap"],
    },
    Mutant {
        name: "a subquery over the catalog behind a CASE runs for all rows",
        file: "planner/src/plan/correlated.rs",
        original: "guarded && reads_catalogs_alone(&subquery.subquery)",
        broken: "guarded && all && reads_catalogs_alone(&subquery.subquery)",
        tests: &["-p", "percosql-planner", "--lib", "session::tests::catalog_reads"],
    },
    Mutant {
        name: "keys of a join stop at a function that gives several rows",
        file: "planner/src/plan/passed_columns.rs",
        original: "if let Some(unnest) = plan.downcast_ref::<UnnestExec>() {",
        broken: "if let Some(unnest) = plan.downcast_ref::<UnnestExec>().filter(|_| false) {",
        tests: &["-p", "percosql-planner", "--lib", "session::tests::catalog_reads"],
    },
];
