//! Roles without privileges: their rights and errors where PostgreSQL has no equivalent or another SQLSTATE.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn pg_database_owner_has_no_members_but_the_owner() {
    let mut c = client().await;
    c.run("CREATE ROLE creator CREATEROLE; CREATE ROLE plain").await;
    for role in ["postgres", "creator"] {
        c.run(&format!("SET ROLE {role}")).await;
        for sql in [
            "GRANT pg_database_owner TO plain",
            "GRANT plain TO pg_database_owner",
            "CREATE ROLE evil IN ROLE pg_database_owner",
            "CREATE ROLE evil ROLE pg_database_owner",
            "CREATE ROLE evil ADMIN pg_database_owner",
        ] {
            assert_eq!(c.state(sql).await, "0LP01", "{sql} as {role}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_needs_connect_by_oneself_or_a_role() {
    let database = database().await;
    let mut c = connect(&database).await;
    c.run("CREATE ROLE team; CREATE ROLE bob LOGIN; REVOKE CONNECT ON DATABASE postgres FROM PUBLIC").await;
    let refused = |result: Result<Client>| result.map(|_| ()).unwrap_err();
    let error = refused(connect_as(&database, "bob", Vec::new()).await);
    assert_eq!(
        (error.state(), error.fields().message.as_str()),
        ("42501", "permission denied for database \"postgres\"")
    );
    assert_eq!(error.fields().detail.as_deref(), Some("User does not have CONNECT privilege."));
    // Superusers can still connect.
    connect(&database).await;
    c.run("GRANT CONNECT ON DATABASE postgres TO team; GRANT team TO bob").await;
    connect_as(&database, "bob", Vec::new()).await.unwrap();
    c.run("ALTER ROLE bob NOINHERIT").await;
    refused(connect_as(&database, "bob", Vec::new()).await);
    c.run("GRANT CONNECT ON DATABASE postgres TO bob").await;
    connect_as(&database, "bob", Vec::new()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn start_up_options_are_held_to_privileges() {
    let database = database().await;
    connect(&database).await.run("CREATE ROLE bob LOGIN").await;
    let options = |name: &str, value: &str| vec![(name.to_string(), value.to_string())];
    let error = connect_as(&database, "bob", options("log_statement", "all")).await.map(|_| ()).unwrap_err();
    assert_eq!(error.state(), "42501");
    connect_as(&database, "bob", options("work_mem", "1MB")).await.unwrap();
    connect_as(&database, "postgres", options("log_statement", "all")).await.unwrap();
}

/// The detail of a conflict on the row with key 77 of `t`, as a role sees it.
async fn lost(database: &Arc<Database>, role: &str) -> String {
    let (mut one, mut other) = (connect(database).await, connect(database).await);
    one.run(&format!("SET ROLE {role}; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")).await;
    one.run("SELECT count(*) FROM pg_class").await;
    other.run("UPDATE t SET a = a + 1").await;
    let mut error = one.try_run_with("UPDATE t SET a = 5", "").await.err();
    if error.is_none() {
        error = one.try_run_with("COMMIT", "").await.err();
    }
    let error = error.unwrap();
    assert_eq!(error.state(), "40001");
    one.try_run_with("ROLLBACK", "").await.unwrap();
    error.fields().detail.clone().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_conflicts_are_shown_to_readers_only() {
    let database = database().await;
    let mut c = connect(&database).await;
    c.run("CREATE TABLE t (id int PRIMARY KEY, a int); INSERT INTO t VALUES (77, 1)").await;
    c.run("CREATE ROLE bob; CREATE ROLE reader; CREATE ROLE watcher; GRANT UPDATE (a), SELECT (a) ON t TO bob").await;
    c.run("GRANT UPDATE, SELECT (id, a) ON t TO reader; GRANT pg_monitor TO watcher").await;
    let shown = lost(&database, "reader").await;
    assert!(shown.contains("77"), "{shown}");
    let hidden = lost(&database, "bob").await;
    assert!(!hidden.contains("77") && hidden.contains("\"t\""), "{hidden}");
    let known = "SELECT count(*) > 0 FROM percosql.contention WHERE detail LIKE '%77%'";
    for (role, sees) in [("postgres", "t"), ("bob", "f"), ("reader", "t"), ("watcher", "t")] {
        c.run(&format!("SET ROLE {role}")).await;
        assert_eq!(c.value(known).await, sees, "{role}");
        assert_eq!(c.value("SELECT count(*) > 0 FROM percosql.contention").await, "t", "{role}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_and_states_of_sequences_are_for_owners_and_readers() {
    let mut c = client().await;
    c.run("CREATE TABLE t (id int PRIMARY KEY); CREATE SEQUENCE s; CREATE VIEW v AS SELECT last_value FROM s").await;
    c.run("CREATE ROLE bob; GRANT SELECT ON t, v TO bob; CREATE ROLE reader; GRANT pg_read_all_data TO reader").await;
    c.run("SET ROLE bob").await;
    for sql in ["CHECK TABLE t", "CHECK INDEX t_pkey", "SELECT * FROM percosql.sequences", "SELECT last_value FROM s"] {
        assert_eq!(c.state(sql).await, "42501", "{sql}");
    }
    // A view reads with its owner's privileges.
    assert_eq!(c.value("SELECT last_value FROM v").await, "1");
    c.run("SET ROLE reader").await;
    assert_eq!(c.value("SELECT count(*) FROM percosql.sequences").await, "1");
    c.run("RESET ROLE; ALTER TABLE t OWNER TO bob; SET ROLE bob; CHECK TABLE t; CHECK INDEX t_pkey").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_is_gone_may_lock_nothing() {
    let database = database().await;
    let (mut c, mut other) = (connect(&database).await, connect(&database).await);
    c.run("CREATE TABLE t (a int); CREATE ROLE bob; SET ROLE bob").await;
    other.run("DROP ROLE bob").await;
    c.run("BEGIN").await;
    assert_eq!(c.state("LOCK TABLE t IN ACCESS SHARE MODE").await, "42501");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_makes_roles_becomes_no_other() {
    let mut c = client().await;
    c.run("CREATE ROLE creator CREATEROLE; GRANT CREATE ON DATABASE postgres TO creator; CREATE ROLE plain").await;
    c.run("CREATE ROLE super SUPERUSER; SET ROLE creator").await;
    for sql in [
        "CREATE ROLE evil LOGIN IN ROLE postgres",
        "CREATE ROLE evil IN GROUP super",
        "GRANT super TO creator",
        "ALTER GROUP super ADD USER creator",
        "CREATE SCHEMA s AUTHORIZATION postgres",
        "CREATE SCHEMA s AUTHORIZATION plain CREATE VIEW v AS SELECT 1 AS a",
    ] {
        assert_eq!(c.state(sql).await, "42501", "{sql}");
    }
    c.run("CREATE SCHEMA s; CREATE TYPE s.e AS ENUM ('a')").await;
    for sql in ["ALTER SCHEMA s OWNER TO postgres", "ALTER TYPE s.e OWNER TO postgres"] {
        assert_eq!(c.state(sql).await, "42501", "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_of_views_need_privileges() {
    let mut c = client().await;
    c.run("CREATE TABLE t (id int PRIMARY KEY, secret text); INSERT INTO t VALUES (1, 'x')").await;
    c.run("CREATE VIEW v AS SELECT id, secret FROM t; CREATE ROLE bob").await;
    c.run("GRANT SELECT (id), UPDATE ON v TO bob; GRANT SELECT (id), UPDATE ON t TO bob; SET ROLE bob").await;
    assert_eq!(c.rows("SELECT id FROM v").await, ["1"]);
    assert_eq!(c.rows("SELECT count(*) FROM v").await, ["1"]);
    for of in ["v", "t"] {
        for sql in [
            format!("SELECT secret FROM {of}"),
            format!("SELECT {of} FROM {of}"),
            format!("SELECT * FROM {of}"),
            format!("SELECT id FROM {of} WHERE secret = 'x'"),
            format!("SELECT 1 WHERE EXISTS (SELECT 1 FROM {of} WHERE secret = 'x')"),
            format!("SELECT 1 FROM (VALUES ('x')) AS w (secret) JOIN {of} USING (secret)"),
            format!("UPDATE {of} SET id = 1 RETURNING secret"),
            format!("UPDATE {of} SET id = 1 WHERE EXISTS (SELECT 1 FROM pg_class WHERE relname = {of}.secret)"),
            format!("UPDATE {of} SET secret = (SELECT {of}.secret)"),
        ] {
            assert_eq!(c.state(&sql).await, "42501", "{sql}");
        }
        assert_eq!(c.tag(&format!("UPDATE {of} SET secret = 'y' WHERE id = 1")).await, "UPDATE 1");
    }
    // A security_invoker view is read with the caller's privileges, whoever owns the view above it.
    c.run("RESET ROLE; CREATE VIEW inv WITH (security_invoker) AS SELECT * FROM t; CREATE VIEW above AS TABLE inv")
        .await;
    c.run("GRANT SELECT ON inv, above TO bob; SET ROLE bob").await;
    assert_eq!(c.state("SELECT * FROM above").await, "42501");
    c.run("RESET ROLE; GRANT SELECT ON t TO bob; SET ROLE bob").await;
    assert_eq!(c.rows("SELECT * FROM above").await, ["1|y"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_show_what_the_role_may_read() {
    let mut c = client().await;
    c.run("CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (id int PRIMARY KEY, mail text, n int CHECK (n < 9) REFERENCES p)").await;
    c.run("INSERT INTO p VALUES (1); INSERT INTO t VALUES (1, 'm@x', 1); CREATE ROLE bob; GRANT UPDATE, INSERT ON t TO bob; SET ROLE bob")
        .await;
    let detail = |error: SqlError| error.fields().detail.clone();
    let of_row = |text: &str| Some(format!("Failing row contains {text}."));
    assert_eq!(detail(c.error("UPDATE t SET n = 10").await), of_row("(n) = (10)"));
    assert_eq!(detail(c.error("INSERT INTO t (n, mail) VALUES (2, 'a')").await), of_row("(mail, n) = (a, 2)"));
    assert_eq!(detail(c.error("INSERT INTO t VALUES (1, 'b')").await), None);
    let missing = Some("Key is not present in table \"p\".".to_string());
    assert_eq!(detail(c.error("UPDATE t SET n = 5").await), missing);
    c.run("RESET ROLE; GRANT SELECT ON t TO bob; SET ROLE bob").await;
    assert_eq!(detail(c.error("UPDATE t SET n = 10").await), of_row("(1, m@x, 10)"));
    assert_eq!(detail(c.error("INSERT INTO t VALUES (1, 'b')").await), Some("Key (id)=(1) already exists.".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn information_schema_shows_what_the_role_has() {
    let mut c = client().await;
    c.run("CREATE TABLE t (id int PRIMARY KEY, a int); CREATE VIEW v AS SELECT a FROM t; CREATE ROLE bob").await;
    c.run("GRANT SELECT (id) ON t TO bob; CREATE SCHEMA hidden; SET ROLE bob").await;
    let columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'";
    assert_eq!(c.rows(columns).await, ["t|id"]);
    for view in ["table_constraints", "check_constraints", "constraint_column_usage", "view_table_usage", "views"] {
        let schema = if view.starts_with("view") { "table_schema" } else { "constraint_schema" };
        let sql = format!("SELECT count(*) FROM information_schema.{view} WHERE {schema} = 'public'");
        assert_eq!(c.value(&sql).await, "0", "{view}");
    }
    let schemata = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'hidden'";
    assert_eq!(c.value(schemata).await, "0");
}
