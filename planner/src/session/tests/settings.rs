//! SET, SHOW, RESET, DISCARD, PREPARE.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn set_is_transactional() {
    let mut c = client().await;
    assert_eq!(c.tag("SET application_name = 'a'").await, "SET");
    c.run("BEGIN; SET application_name = 'b'; ROLLBACK").await;
    assert_eq!(c.value("SHOW application_name").await, "a");
    c.run("BEGIN; SET LOCAL application_name = 'c'").await;
    assert_eq!(c.value("SHOW application_name").await, "c");
    c.run("COMMIT").await;
    assert_eq!(c.value("SHOW application_name").await, "a");
    c.run("RESET application_name").await;
    assert_eq!(c.value("SHOW application_name").await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_query_string_takes_its_settings_back() {
    let mut c = client().await;
    assert_eq!(c.state("SET application_name = 'x'; SET no_such_thing = 1").await, "42704");
    assert_eq!(c.value("SHOW application_name").await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn set_local_outside_a_block_warns() {
    let mut c = client().await;
    c.run("SET LOCAL application_name = 'x'").await;
    assert_eq!(c.notices(), ["25P01 SET LOCAL can only be used in transaction blocks"]);
    assert_eq!(c.value("SHOW application_name").await, "");
}

/// The statements of one text are a transaction block, as in PostgreSQL.
#[tokio::test(flavor = "multi_thread")]
async fn set_local_holds_for_the_statements_behind_it() {
    let mut c = client().await;
    assert_eq!(c.value("SET LOCAL application_name = 'x'; SHOW application_name").await, "x");
    assert_eq!(c.value("SHOW application_name").await, "");
    c.run("CREATE ROLE ada; SET application_name = 'y'").await;
    assert_eq!(c.value("SET LOCAL ROLE ada; SELECT current_user").await, "ada");
    assert_eq!(c.value("SET LOCAL application_name TO DEFAULT; SHOW application_name").await, "");
    assert_eq!(c.rows("SHOW application_name").await, ["y"]);
    assert_eq!(c.value("SET TRANSACTION READ ONLY; SHOW transaction_read_only").await, "on");
    assert_eq!(c.value("SELECT current_user; SHOW transaction_read_only").await, "off");
    assert!(c.notices().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_applications_are_cut_as_other_names() {
    let mut c = client().await;
    let long = "n".repeat(70);
    c.run(&format!("SET application_name = '{long}'")).await;
    let told = format!("42622 identifier \"{long}\" will be truncated to \"{}\"", "n".repeat(63));
    assert_eq!(c.notices(), [told]);
    assert_eq!(c.value("SHOW application_name").await, "n".repeat(63));
    // A two-byte character that does not fit is dropped completely.
    c.run(&format!("SET application_name = '{}'", "ä".repeat(40))).await;
    assert_eq!(c.value("SHOW application_name").await, "?".repeat(62));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_get_to_know_what_changed() {
    let mut c = client().await;
    let first = c.session.take_parameter_changes();
    for name in ["server_version", "client_encoding", "DateStyle", "TimeZone", "integer_datetimes", "is_superuser"] {
        assert!(first.iter().any(|(reported, _)| reported == name), "{name}");
    }
    c.run("SET TIME ZONE 'europe/berlin'").await;
    assert_eq!(c.session.take_parameter_changes(), [("TimeZone".to_string(), "Europe/Berlin".to_string())]);
    c.run("SET work_mem = '8MB'").await;
    assert_eq!(c.session.take_parameter_changes(), []);
    c.run("SET TIME ZONE 'Europe/Berlin'").await;
    assert_eq!(c.session.take_parameter_changes(), [], "that it is told already");
    let told = |changes: Vec<(String, String)>| changes.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    c.run("BEGIN").await;
    c.run("SET application_name = 'x'").await;
    c.run("SET LOCAL DateStyle = 'German'").await;
    assert_eq!(told(c.session.take_parameter_changes()), ["application_name", "DateStyle"]);
    c.run("ROLLBACK").await;
    let back = [("application_name", ""), ("DateStyle", "ISO, MDY")].map(|(name, value)| (name.into(), value.into()));
    assert_eq!(c.session.take_parameter_changes(), back);
    assert_eq!(c.session.take_parameter_changes(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_drivers_send_at_the_start_works() {
    let database = database().await;
    let options = [
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO"),
        ("extra_float_digits", "3"),
        ("TimeZone", "Etc/UTC"),
        ("application_name", "psql"),
        ("client_min_messages", "warning"),
        ("standard_conforming_strings", "on"),
        ("search_path", "\"$user\", public"),
        ("statement_timeout", "30s"),
        ("jit", "off"),
        ("default_transaction_read_only", "off"),
        ("synchronous_commit", "off"),
    ];
    let startup = Startup {
        user: "postgres".into(),
        database: "postgres".into(),
        options: options.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        backend_pid: 1,
        link: crate::session::Link::default(),
        cancel: CancelToken::new(),
    };
    let mut c = Client { session: Session::start(database, startup).await.unwrap() };
    assert_eq!(c.value("SHOW statement_timeout").await, "30s");
    c.run("SET statement_timeout = 0; RESET ALL").await;
    assert_eq!(c.value("SHOW statement_timeout").await, "30s");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_databases_and_roles_are_refused() {
    let database = database().await;
    let startup = |user: &str, database: &str| Startup {
        user: user.into(),
        database: database.into(),
        options: Vec::new(),
        backend_pid: 1,
        link: crate::session::Link::default(),
        cancel: CancelToken::new(),
    };
    let error = Session::start(database.clone(), startup("nobody", "postgres")).await.err().unwrap();
    assert_eq!(error.state(), "28000");
    let error = Session::start(database, startup("postgres", "nothing")).await.err().unwrap();
    assert_eq!(error.state(), "3D000");
}

#[tokio::test(flavor = "multi_thread")]
async fn search_path_keeps_its_quotes() {
    let mut c = client().await;
    c.run("SET search_path = \"My Schema\", app").await;
    assert_eq!(c.value("SHOW search_path").await, "\"My Schema\", app");
    assert_eq!(c.session.settings().search_path(), ["My Schema", "app"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn prepare_execute_deallocate() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b text)").await;
    c.run("PREPARE put (int, text) AS INSERT INTO t VALUES ($1, $2)").await;
    assert_eq!(c.tag("EXECUTE put (1, 'x')").await, "INSERT 0 1");
    assert_eq!(c.tag("EXECUTE put (1 + 1, 'y')").await, "INSERT 0 1");
    c.run("PREPARE find AS SELECT b FROM t WHERE a = $1").await;
    assert_eq!(c.rows("EXECUTE find (2)").await, ["y"]);
    assert_eq!(c.state("EXECUTE find (1, 2)").await, "42601");
    assert_eq!(c.state("PREPARE find AS SELECT 1").await, "42P05");
    c.run("DEALLOCATE find").await;
    assert_eq!(c.state("EXECUTE find (2)").await, "26000");
    c.run("DISCARD ALL").await;
    assert_eq!(c.state("EXECUTE put (3, 'z')").await, "26000");
    assert_eq!(c.session.take_deallocated(), [Deallocated::Named("find".to_string()), Deallocated::All]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_follows_the_catalog() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int)").await;
    c.run("PREPARE find AS SELECT a FROM t WHERE b = 20").await;
    assert_eq!(c.rows("EXECUTE find").await, Vec::<String>::new());
    c.run("CREATE INDEX t_b ON t (b)").await;
    c.run("INSERT INTO t VALUES (1, 10), (2, 20)").await;
    assert_eq!(c.rows("EXECUTE find").await, ["2"]);
    c.run("PREPARE everything AS SELECT * FROM t").await;
    c.run("ALTER TABLE t ADD COLUMN c int").await;
    assert_eq!(c.state("EXECUTE everything").await, "0A000");
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_stop_when_they_are_told_to() {
    let mut c = client().await;
    c.session.shared.cancel.cancel();
    assert_eq!(c.state("SELECT 1").await, "57014");
    assert_eq!(c.value("SELECT 1").await, "1");
}
