//! Tests of the system views over a catalog built in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use catalog::{Catalog, TableBuilder};
use types::SqlType;

fn catalog() -> Catalog {
    let table = TableBuilder::new(20_000, "t")
        .column("a", SqlType::INT4)
        .column("b", SqlType::VARCHAR.with_modifier(14))
        .default_value("'x'::character varying")
        .column("c", SqlType::NUMERIC)
        .primary_key(&["a"])
        .index("t_b", &["b", "c"], &["a"], true)
        .check("t_c_check", "(c > 0)")
        .build();
    Catalog::builder(crate::SystemViews::get()).table(table).build()
}

#[test]
fn every_definition_is_well_formed_and_names_and_oids_are_unique() {
    let defined = FILLED.len() + empty::VIEWS.len();
    assert_eq!(views().count(), defined);
    assert_eq!(VIEWS.by_oid.len(), defined);
    assert_eq!(VIEWS.by_name.values().map(HashMap::len).sum::<usize>(), defined);
    for definition in FILLED.iter().copied().chain(empty::VIEWS.iter()) {
        assert!(definition.view().is_some(), "{}", definition.name);
    }
}

#[test]
fn views_have_postgresqls_columns() {
    let mut wrong = Vec::new();
    let columns = |text: &str| -> Vec<(String, SqlType)> {
        let one = |column: &str| {
            let (name, ty) = column.split_once(' ').unwrap();
            (name.to_string(), definition::type_named(ty.split('=').next().unwrap()))
        };
        text.split(',').map(str::trim).map(one).collect()
    };
    for definition in FILLED {
        let Some(row) = builtin::RELATIONS.rows.iter().find(|row| row.field(0) == Some(definition.name)) else {
            continue;
        };
        let (ours, theirs) = (columns(definition.columns), columns(row.field(3).unwrap()));
        let different: Vec<_> = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).collect();
        if ours.len() != theirs.len() || !different.is_empty() {
            wrong.push(format!("{} ({} of {}): {different:?}", definition.name, ours.len(), theirs.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pg_catalog_is_searched_first_and_only_implicitly() {
    let catalog = catalog();
    let path = ["public".to_string()];
    assert_eq!(catalog.relation(None, "pg_class", &path).unwrap().oid, 1259);
    assert_eq!(catalog.relation(None, "t", &path).unwrap().oid, 20_000);
    assert_eq!(catalog.relation(None, "tables", &path), None);
    assert!(catalog.relation(Some("information_schema"), "tables", &path).is_some());
    assert_eq!(catalog.effective_path(&path), ["pg_catalog", "public"]);
}

#[test]
fn definitions_are_postgresqls() {
    let catalog = catalog();
    let reader = super::deparse::Context::plain(&catalog);
    let table = catalog.relation_by_oid(20_000).unwrap();
    let index = &table.indexes[1];
    assert_eq!(
        describe::index_definition(&reader, &table, index, true, false),
        "CREATE UNIQUE INDEX t_b ON public.t USING btree (b, c) INCLUDE (a)"
    );
    assert_eq!(describe::index_column(&reader, &table, index, 2, false).unwrap(), "c");
    assert_eq!(describe::index_column(&reader, &table, index, 4, false), None);
    let primary = table.primary_key().unwrap().constraint.unwrap();
    assert_eq!(describe::constraint_definition(&reader, primary, true).unwrap(), "PRIMARY KEY (a)");
    let check = table.checks[0].oid;
    assert_eq!(describe::constraint_definition(&reader, check, true).unwrap(), "CHECK (c > 0::numeric)");
    assert_eq!(describe::constraint_definition(&reader, check, false).unwrap(), "CHECK ((c > (0)::numeric))");
    assert_eq!(describe::pretty_expression("((a > 0) AND ((b < 5) OR (c = 1)))"), "a > 0 AND (b < 5 OR c = 1)");
    assert_eq!(describe::format_type(1043, Some(14)), "character varying(10)");
    assert_eq!(describe::format_type(23, None), "integer");
    assert_eq!(describe::format_type(1042, Some(-1)), "bpchar");
}

#[test]
fn expressions_have_postgresqls_parentheses() {
    let catalog = catalog();
    let reader = super::deparse::Context::plain(&catalog);
    let table = catalog.relation_by_oid(20_000).unwrap();
    for (stored, plain, pretty) in [
        (
            "a > 1 and (b = 'x' or not c < 2)",
            "((a > 1) AND (((b)::text = 'x'::text) OR (NOT (c < (2)::numeric))))",
            "a > 1 AND (b::text = 'x'::text OR NOT c < 2::numeric)",
        ),
        ("(a > 1 and a < 5) and a <> 3", "((a > 1) AND (a < 5) AND (a <> 3))", "a > 1 AND a < 5 AND a <> 3"),
        ("a + 1 * 2 > (a + 1) * 2", "((a + (1 * 2)) > ((a + 1) * 2))", "(a + 1 * 2) > ((a + 1) * 2)"),
        ("-a > -1", "((- a) > '-1'::integer)", "(- a) > '-1'::integer"),
        ("a between 1 and 2", "((a >= 1) AND (a <= 2))", "a >= 1 AND a <= 2"),
        ("a in (1, 2)", "(a = ANY (ARRAY[1, 2]))", "a = ANY (ARRAY[1, 2])"),
        ("(a, 1) = (2, a)", "((a = 2) AND (1 = a))", "a = 2 AND 1 = a"),
        ("b not like 'x%'", "((b)::text !~~ 'x%'::text)", "b::text !~~ 'x%'::text"),
        (
            "a is distinct from 1 or c is null",
            "((a IS DISTINCT FROM 1) OR (c IS NULL))",
            "a IS DISTINCT FROM 1 OR c IS NULL",
        ),
    ] {
        let printed = |pretty| super::deparse::expression(&reader, Some(&table), stored, Some(SqlType::BOOL), pretty);
        assert_eq!(printed(false).as_deref(), Some(plain), "{stored}");
        assert_eq!(printed(true).as_deref(), Some(pretty), "{stored}");
    }
}

#[test]
fn functions_over_the_catalog_are_resolved_and_kept_no_longer_than_postgresql_says() {
    use ::functions::Stability;
    use ::functions::registry::all;
    crate::SystemViews::get();
    let mut found = all().filter(|function| function.name == "pg_database_size").peekable();
    assert!(found.peek().is_some() && found.all(|function| function.stability == Stability::Volatile));
}
