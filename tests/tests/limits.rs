//! Statements beyond Bigtable's limits fail with an SQLSTATE and a size, and the session continues.

use percosql_tests::Bigtable;

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_rows_beyond_bigtables_limits_are_54000() {
    let bigtable = Bigtable::start();
    let server = bigtable.table().serve();
    let client = server.connect().await;
    client.batch_execute("create table t (k text primary key, v text); create index on t (v)").await.expect("a table");
    let refused = [
        ("insert into t values (repeat('k', 5000), 'v')", "4095"),
        ("insert into t values ('k', repeat('v', 5000))", "4095"),
        ("insert into t values (repeat('k', 70000000), 'v')", "4095"),
    ];
    for (statement, limit) in refused {
        let error = client.batch_execute(statement).await.expect_err(statement);
        let error = error.as_db_error().expect("an answer of the server");
        assert_eq!(error.code().code(), "54000", "{statement}: {error}");
        assert!(error.message().contains(limit), "{statement}: {error}");
    }
    // The refused statements leave no locks behind.
    client.batch_execute("insert into t values ('k', 'v'), (repeat('k', 4000), 'v')").await.expect("what fits");
    let count = client.query_one("select count(*) from t", &[]).await.expect("a count");
    assert_eq!(count.get::<_, i64>(0), 2);
}
