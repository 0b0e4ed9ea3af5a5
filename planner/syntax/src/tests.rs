//! Tests of the parser: the tree of each text, and the position of each error.

use super::*;

fn kind(sql: &str) -> StatementKind {
    let mut all = parse(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    assert_eq!(all.len(), 1, "{sql}");
    all.pop().unwrap().kind
}

fn error(sql: &str) -> (String, String, Option<usize>) {
    let error = parse(sql).expect_err(sql);
    (error.state().to_string(), error.fields().message.clone(), error.fields().position)
}

#[test]
fn splits_statements_and_keeps_positions() {
    let all = parse("select 1; ; select 'a;b' ;").unwrap();
    assert_eq!(all.iter().map(|s| s.text.to_string()).collect::<Vec<_>>(), ["select 1", "select 'a;b'"]);
    assert!(parse("  -- nothing\n ;; ").unwrap().is_empty());
}

#[test]
fn syntax_errors_are_worded_as_postgresql_does() {
    assert_eq!(error("selec 1"), ("42601".into(), "syntax error at or near \"selec\"".into(), Some(1)));
    assert_eq!(error("select 1 from"), ("42601".into(), "syntax error at end of input".into(), Some(14)));
    assert_eq!(
        error("select 1;\nselect * frm t x"),
        ("42601".into(), "syntax error at or near \"frm\"".into(), Some(20))
    );
    assert_eq!(error("select 'abc").1, "unterminated quoted string at or near \"'abc\"");
}

#[test]
fn transaction_control_with_all_modes() {
    assert!(matches!(kind("BEGIN"), StatementKind::Begin(m) if m == TransactionModes::default()));
    let StatementKind::Begin(modes) = kind("start transaction isolation level serializable, read only deferrable")
    else {
        panic!()
    };
    assert_eq!(modes.isolation, Some(Isolation::Serializable));
    assert_eq!((modes.read_only, modes.deferrable), (Some(true), Some(true)));
    for (sql, ok) in [
        ("abort", true),
        ("end", true),
        ("end transaction", true),
        ("rollback work and no chain", true),
        ("commit and chain", true),
        ("savepoint \"A b\"", true),
        ("rollback to savepoint x", true),
        ("rollback to x", true),
        ("release x", true),
        ("begin isolation level chaos", false),
    ] {
        assert_eq!(parse(sql).is_ok(), ok, "{sql}");
    }
}

#[test]
fn settings_forms() {
    assert!(matches!(kind("SET TIME ZONE 'UTC'"), StatementKind::Set { name, .. } if name == "timezone"));
    assert!(
        matches!(kind("set local statement_timeout = 100"), StatementKind::Set { local: true, value: Some(v), .. } if v == ["100"])
    );
    assert!(matches!(kind("SET extra_float_digits TO -3"), StatementKind::Set { value: Some(v), .. } if v == ["-3"]));
    assert!(
        matches!(kind("SET search_path TO a, \"B\""), StatementKind::Set { value: Some(v), .. } if v == ["a", "B"])
    );
    assert!(matches!(kind("SET datestyle TO DEFAULT"), StatementKind::Set { value: None, .. }));
    assert!(matches!(kind("SHOW TRANSACTION ISOLATION LEVEL"), StatementKind::Show(n) if n == "transaction_isolation"));
    assert!(matches!(kind("SHOW ALL"), StatementKind::ShowAll));
    assert!(matches!(kind("RESET ALL"), StatementKind::ResetAll));
    assert!(matches!(
        kind("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"),
        StatementKind::SetTransaction { session: true, .. }
    ));
}

#[test]
fn utilities_of_pgbench_and_drivers() {
    assert!(
        matches!(kind("vacuum analyze pgbench_accounts"), StatementKind::Vacuum { options: VacuumOptions { analyze: true, .. }, tables } if tables.len() == 1)
    );
    assert!(matches!(
        kind("vacuum pgbench_branches"),
        StatementKind::Vacuum { options: VacuumOptions { analyze: false, .. }, .. }
    ));
    assert!(
        matches!(kind("VACUUM (ANALYZE, VERBOSE) a, b"), StatementKind::Vacuum { options: VacuumOptions { analyze: true, .. }, tables } if tables.len() == 2)
    );
    assert!(matches!(kind("CHECK INDEX public.i"), StatementKind::CheckIndex(_)));
    assert!(matches!(kind("CHECK TABLE t"), StatementKind::CheckTable(_)));
    assert!(matches!(kind("DISCARD ALL"), StatementKind::Discard(Discard::All)));
    assert!(matches!(kind("DEALLOCATE ALL"), StatementKind::Deallocate(None)));
    assert!(
        matches!(kind("PREPARE p (int, text) AS SELECT $1, $2"), StatementKind::Prepare { types, .. } if types.len() == 2)
    );
    assert!(matches!(kind("EXECUTE p (1, 'a')"), StatementKind::Execute { parameters, .. } if parameters.len() == 2));
    assert!(
        matches!(kind("explain (analyze, costs off) select 1"), StatementKind::Explain(e) if e.analyze && !e.costs)
    );
    assert!(matches!(kind("explain analyze select 1"), StatementKind::Explain(e) if e.analyze));
    assert!(matches!(
        kind("fetch forward 10 from c"),
        StatementKind::Fetch { direction: FetchDirection::Relative(Some(10)), .. }
    ));
    assert!(matches!(kind("fetch c"), StatementKind::Fetch { cursor, .. } if cursor == "c"));
    assert!(matches!(kind("LOCK TABLE t IN ACCESS SHARE MODE"), StatementKind::LockTable { nowait: false, .. }));
    assert!(
        matches!(kind("lock only t, s.u in row exclusive mode nowait"), StatementKind::LockTable { tables, mode: TableLockMode::RowExclusive, nowait: true } if tables.len() == 2)
    );
    assert!(matches!(kind("LOCK t"), StatementKind::LockTable { mode: TableLockMode::AccessExclusive, .. }));
    assert_eq!(error("LOCK TABLE t IN EXCLUSIVE").0, "42601");
    assert_eq!(error("LOCK t IN NO MODE").0, "42601");
}

#[test]
fn copy_options_old_and_new() {
    let StatementKind::Copy(copy) = kind("copy pgbench_accounts from stdin with (freeze on)") else { panic!() };
    assert!(copy.from && copy.options.freeze && copy.options.delimiter == b'\t');
    let StatementKind::Copy(copy) = kind("COPY t (a, b) FROM STDIN CSV HEADER DELIMITER ';' NULL 'x'") else {
        panic!()
    };
    assert_eq!(copy.options.format, copy::CopyFormat::Csv);
    assert_eq!((copy.options.delimiter, copy.options.header), (b';', copy::CopyHeader::Yes));
    let StatementKind::Copy(copy) = kind("COPY (SELECT 1) TO STDOUT WITH (FORMAT csv)") else { panic!() };
    assert!(matches!(copy.target, copy::CopyTarget::Query(_)));
    assert_eq!(error("copy t from '/etc/passwd'").0, "0A000");
    assert_eq!(error("copy t from stdin (quote 'x')").0, "0A000");
}

#[test]
fn what_sqlparser_lacks_is_rewritten_or_noted() {
    for (sql, locks) in [
        ("select * from t for no key update", vec![(LockStrength::NoKeyUpdate, vec![])]),
        ("select * from t for key share of t", vec![(LockStrength::KeyShare, vec!["t"])]),
        ("select * from t for update of T, \"U\" nowait", vec![(LockStrength::Update, vec!["t", "U"])]),
        (
            "select * from (select * from t for share skip locked) t for update",
            vec![(LockStrength::Share, vec![]), (LockStrength::Update, vec![])],
        ),
    ] {
        let found = parse(sql).unwrap()[0].extras.locks.clone();
        let found: Vec<_> =
            found.iter().map(|lock| (lock.strength, lock.of.iter().map(String::as_str).collect::<Vec<_>>())).collect();
        assert_eq!(found, locks, "{sql}");
    }
    let insert = &parse("insert into t (a) overriding system value values (1)").unwrap()[0];
    assert_eq!(insert.extras.overriding, Some(Overriding::System));
    assert!(matches!(kind("TABLE t"), StatementKind::Sql(_)));
    assert!(matches!(kind("CREATE USER u WITH PASSWORD 'p'"), StatementKind::Sql(tree)
        if matches!(tree.as_ref(), ast::Statement::CreateRole(role) if role.login == Some(true) && role.password.is_some())));
    assert!(matches!(kind("ALTER USER u WITH PASSWORD 'p'"), StatementKind::Sql(_)));
    for sql in [
        "ALTER ROLE u PASSWORD 'p'",
        "ALTER TABLE t ADD PRIMARY KEY (a)",
        "alter table pgbench_branches add primary key (bid)",
        "TRUNCATE a, b, c",
        "truncate table a, b",
        "drop table if exists a, b",
        "CREATE UNIQUE INDEX IF NOT EXISTS i ON t (a DESC NULLS LAST, b) INCLUDE (c)",
        "CREATE INDEX i ON t USING btree (a)",
        "create table t(a int not null, filler char(22)) with (fillfactor=100)",
        "CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n serial, x numeric(10,2) DEFAULT 0 CHECK (x >= 0))",
        "insert into t default values",
        "insert into t values (1, default) on conflict (a) do update set b = excluded.b where t.b < 3 returning *",
        "insert into t as x values (1) on conflict on constraint t_pkey do nothing",
        "update t set (a, b) = (1, 2) from u where t.id = u.id",
        "delete from t using u where t.id = u.id returning t.*",
        "select c.relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default",
        "select * from generate_series(1, 3) as g(n), lateral (select n) x",
        "select count(*) filter (where a > 1) over w from t window w as (partition by b)",
        "with recursive r as (select 1) select * from r",
        "select -9223372036854775808, -1, a[1], array[1,2], '2020-01-01'::date, date '2020-01-01'",
    ] {
        if let Err(e) = parse(sql) {
            panic!("{sql}: {e}");
        }
    }
}

#[test]
fn depth_is_limited() {
    let deep = format!("select {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(error(&deep).0, "54001");
    let chain = format!("select 1{}", "+1".repeat(100_000));
    assert_eq!(error(&chain).0, "54001");
    let not = format!("select {} true", "not ".repeat(50_000));
    assert_eq!(error(&not).0, "54001");
    let ok = format!("select {}1{}", "(".repeat(60), ")".repeat(60));
    assert!(parse(&ok).is_ok());
    let list = format!("select 1 in ({})", vec!["1"; 20_000].join(", "));
    assert!(parse(&list).is_ok());
}

#[test]
fn collate_is_read_behind_casts_and_itself() {
    for (written, read) in [
        ("x::text COLLATE \"C\"", "x::TEXT COLLATE \"C\""),
        (
            "x::varchar(3) COLLATE pg_catalog.\"C\" COLLATE \"POSIX\"",
            "x::VARCHAR(3) COLLATE pg_catalog.\"C\" COLLATE \"POSIX\"",
        ),
        ("'a' COLLATE \"C\" COLLATE \"D\"", "'a' COLLATE \"C\" COLLATE \"D\""),
        ("x::s.t[] COLLATE c = y", "x::s.t[] COLLATE c = y"),
        ("x::character varying(2) COLLATE c || y", "x::CHARACTER VARYING(2) COLLATE c || y"),
    ] {
        let (expr, _) = parse_expression(written).unwrap();
        assert_eq!(expr.to_string(), read);
        // Parsing the printed expression gives the same tree.
        assert_eq!(parse_expression(read).unwrap().0, expr, "{read}");
    }
    for wrong in ["x::text COLLATE", "x::text COLLATE 1", "x COLLATE c COLLATE"] {
        assert_eq!(parse_expression(wrong).unwrap_err().state(), "42601", "{wrong}");
    }
}
