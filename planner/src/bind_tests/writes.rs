//! INSERT, UPDATE, DELETE: the plans of writing nodes.

use super::Bench;
use crate::bind::{BoundKind, Verb};
use crate::execution::Slots;
use crate::types::SqlType;

/// The plan of a write, with one line per node.
fn plan(bench: &Bench, sql: &str) -> String {
    let bound = bench.bind(sql, &Slots::new()).unwrap_or_else(|e| panic!("{sql}: {e}"));
    match bound.kind {
        BoundKind::Dml { plan, .. } | BoundKind::Query { plan, .. } => plan.display_indent().to_string(),
    }
}

#[tokio::test]
async fn insert_fills_in_defaults_and_casts() {
    let bench = Bench::new().await;
    let text = plan(&bench, "insert into t (b, id) values ('x', 1.4)");
    assert!(text.contains("Insert: t"), "{text}");
    assert!(text.contains("Projection: Int32(1) AS"), "{text}");
    assert!(text.contains("Int32(7)") && text.contains("Utf8(\"x\")"), "{text}");
    let text = plan(&bench, "insert into t select id + 100 from t");
    assert!(text.contains("Insert: t") && text.contains("TableScan"), "{text}");
    assert!(plan(&bench, "insert into t default values").contains("Int32(7)"));
    assert!(plan(&bench, "insert into t values (1), (2)").contains("Values"));
}

#[tokio::test]
async fn writes_name_their_parameters_and_columns() {
    let bench = Bench::new().await;
    let bound = bench
        .bind(
            "insert into t values ($1, $2, $3) on conflict (id) do update set a = excluded.a + $4 returning id, b",
            &Slots::new(),
        )
        .unwrap();
    assert_eq!(bound.parameters, [SqlType::INT4, SqlType::INT4, SqlType::TEXT, SqlType::INT4]);
    let BoundKind::Dml { columns: Some(columns), verb: Verb::Insert, table, .. } = bound.kind else { panic!() };
    assert_eq!(columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["id", "b"]);
    assert_eq!((columns[0].table_oid, columns[0].attnum), (table.unwrap().oid, 1));
    let bound = bench.bind("update t set a = a + $1 where id = $2", &Slots::new()).unwrap();
    assert_eq!(bound.parameters, [SqlType::INT4, SqlType::INT4]);
    assert!(matches!(bound.kind, BoundKind::Dml { columns: None, verb: Verb::Update, .. }));
    let bound = bench.bind("delete from t where b = $1 returning *", &Slots::new()).unwrap();
    assert_eq!(bound.parameters, [SqlType::TEXT]);
}

#[tokio::test]
async fn writes_with_other_tables() {
    let bench = Bench::new().await;
    let text = plan(&bench, "update t set a = u.id from u where u.t_id = t.id returning t.*, u.name");
    assert!(text.contains("Update: t") && text.contains("Projection"), "{text}");
    let text = plan(&bench, "delete from t using u where u.t_id = t.id returning u.name, t.b");
    assert!(text.contains("Delete: t"), "{text}");
    let text = plan(&bench, "select id from t order by b limit 1 for no key update");
    assert!(text.contains("LockRows: t NoKeyUpdate"), "{text}");
    assert!(text.find("Limit") < text.find("LockRows"), "no more rows are locked than are taken: {text}");
}
