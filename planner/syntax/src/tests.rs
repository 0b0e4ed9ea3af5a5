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
    assert!(matches!(kind("SET ROLE NONE"), StatementKind::Set { value: None, .. }));
    assert!(matches!(kind("SET TIME ZONE INTERVAL '+1' HOUR TO MINUTE"), StatementKind::Set { value: Some(v), .. }
        if v == ["INTERVAL '+1' HOUR TO MINUTE"]));
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
fn trees_keep_every_clause() {
    use ast::LockStrength as L;
    let query = |sql: &str| match kind(sql) {
        StatementKind::Sql(tree) => match *tree {
            ast::Statement::Query(query) => query,
            other => panic!("{sql}: {other:?}"),
        },
        other => panic!("{sql}: {other:?}"),
    };
    for (sql, strength, of) in [
        ("select * from t for no key update", L::NoKeyUpdate, vec![]),
        ("select * from t for key share of t", L::KeyShare, vec!["t"]),
        ("select * from t for update of T, \"U\" nowait", L::Update, vec!["t", "U"]),
        ("select * from (select * from t for share skip locked) t for update", L::Update, vec![]),
    ] {
        let query = query(sql);
        let [lock] = query.locks.as_slice() else { panic!("{sql}") };
        let names: Vec<String> = lock.of.iter().map(ToString::to_string).collect();
        assert_eq!((lock.strength, names), (strength, of.into_iter().map(names::quote).collect()), "{sql}");
    }
    assert!(matches!(kind("insert into t (a) overriding system value values (1)"), StatementKind::Sql(tree)
        if matches!(tree.as_ref(), ast::Statement::Insert(insert) if insert.overriding == Some(ast::Overriding::System))));
    assert!(matches!(kind("TABLE t"), StatementKind::Sql(_)));
    assert!(matches!(kind("CREATE USER u WITH PASSWORD 'p'"), StatementKind::Sql(tree)
        if matches!(tree.as_ref(), ast::Statement::Role(role) if role.word == ast::RoleWord::User && role.options.len() == 1)));
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
    let deep = |depth: usize| format!("select {}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(error(&deep(10_000)).0, "54001");
    assert!(parse(&deep(2_000)).is_ok());
    let not = format!("select {} true", "not ".repeat(50_000));
    assert_eq!(error(&not).0, "54001");
    let chain = format!("select 1{}", " or a = 1".repeat(20_000));
    assert!(parse(&chain).is_ok());
    let list = format!("select 1 in ({})", vec!["1"; 20_000].join(", "));
    assert!(parse(&list).is_ok());
}

#[test]
fn collate_is_read_behind_casts_and_itself() {
    for (written, read) in [
        ("x::text COLLATE \"C\"", "x::text COLLATE \"C\""),
        ("x::s.t[] COLLATE c = y", "x::s.t[] COLLATE c = y"),
        ("'a' COLLATE \"C\" COLLATE \"D\"", "'a' COLLATE \"C\" COLLATE \"D\""),
    ] {
        let (expr, _) = parse_expression(written).unwrap();
        // Parsing the printed expression gives the same tree.
        assert_eq!(parse_expression(&expr.to_string()).unwrap().0, expr, "{written}");
        assert_eq!(parse_expression(read).unwrap().0, expr, "{read}");
    }
    for wrong in ["x::text COLLATE", "x::text COLLATE 1", "x COLLATE c COLLATE", "x y"] {
        assert_eq!(parse_expression(wrong).unwrap_err().state(), "42601", "{wrong}");
    }
}

#[test]
fn types_are_read_alone() {
    assert_eq!(parse_type("numeric(10, 2)[]").unwrap().to_string(), "NUMERIC(10, 2)[]");
    assert_eq!(parse_type("int x").unwrap_err().fields().position, Some(5));
}

#[test]
fn select_into_makes_a_table() {
    let StatementKind::CreateTableAs(create) = kind("select 1 as a into temp s.t from u union select 2") else {
        panic!()
    };
    assert!(create.into && create.with_data && create.persistence == ast::Persistence::Temporary);
    assert_eq!(create.name.to_string(), "s.t");
    assert!(matches!(&create.query.kind, StatementKind::Sql(tree) if !tree.to_string().contains("INTO")));
    let StatementKind::CreateTableAs(create) =
        kind("create unlogged table t (a, B) with (fillfactor = 70) as select 1 with no data")
    else {
        panic!()
    };
    assert!(!create.into && !create.with_data && create.persistence == ast::Persistence::Unlogged);
    assert_eq!((create.columns, &*create.query.text), (vec!["a".to_string(), "b".into()], "select 1"));
    for (sql, state, message) in [
        ("create view v as select 1 into t", "0A000", "views must not contain SELECT INTO"),
        ("copy (select 1 into t) to stdout", "0A000", "COPY (SELECT INTO) is not supported"),
        ("declare c cursor for select 1 into t", "42601", INTO_NOT_HERE),
        ("create table t as (select 1 into u) union select 2", "42601", INTO_NOT_HERE),
        ("prepare p as select 1 into t", "42P14", "utility statements cannot be prepared"),
    ] {
        let found = error(sql);
        assert_eq!((found.0.as_str(), found.1.as_str()), (state, message), "{sql}");
    }
    assert!(matches!(kind("explain select 1 into t"), StatementKind::Explain(e)
        if matches!(e.statement.kind, StatementKind::CreateTableAs(_))));
}

#[test]
fn views_keep_their_text_and_options() {
    let view = |sql: &str| match kind(sql) {
        StatementKind::CreateView(view) => view,
        other => panic!("{sql}: {other:?}"),
    };
    let plain = view("create or replace temp view v (A) with (security_barrier) as (select 1) with local check option");
    assert!(plain.or_replace && plain.temporary && !plain.recursive);
    assert_eq!((&*plain.query.text, plain.columns.as_slice()), ("(select 1)", ["a".to_string()].as_slice()));
    let options = [("security_barrier".to_string(), None), ("check_option".into(), Some("local".into()))];
    assert_eq!(plain.options, options);
    let recursive = view("create recursive view \"R\" (a) as values (1) union all select a + 1 from \"R\"");
    let text = "WITH RECURSIVE \"R\" (a) AS (values (1) union all select a + 1 from \"R\") SELECT a FROM \"R\"";
    assert_eq!(&*recursive.query.text, text);
    let StatementKind::Sql(read) = kind(text) else { panic!() };
    assert!(matches!(&recursive.query.kind, StatementKind::Sql(tree) if *tree == read));
    // Its parts stand where the client wrote them.
    assert_eq!(recursive.query.source.text().find("values"), Some(33));
}

#[test]
fn what_is_lacking_is_refused_by_name() {
    for (sql, what) in [
        ("create or replace function f() returns int language sql as 'select 1'", "CREATE OR REPLACE FUNCTION"),
        ("create trigger t before insert on u execute function f()", "CREATE TRIGGER"),
        ("create materialized view v as select 1", "CREATE MATERIALIZED VIEW"),
        ("refresh materialized view v", "REFRESH MATERIALIZED VIEW"),
        ("create domain d as int", "CREATE DOMAIN"),
        ("alter type t add attribute a int", "ALTER TYPE of an attribute"),
        ("alter table t inherit u", "ALTER TABLE INHERIT"),
        ("alter sequence s set logged", "ALTER SEQUENCE SET LOGGED"),
        ("alter system set a = 1", "ALTER SYSTEM"),
        ("grant execute on function f() to u", "GRANT on FUNCTION"),
        ("comment on access method heap is 'x'", "COMMENT ON ACCESS METHOD"),
        ("do 'x'", "DO"),
        ("call f()", "CALL"),
        ("cluster t", "CLUSTER"),
        ("select 1 from t as of system time 1", "AS OF SYSTEM TIME"),
        ("create index i on t using gin (a)", "the index access method \"gin\""),
        ("create table t (a text compression lz4)", "COMPRESSION lz4"),
    ] {
        let found = error(sql);
        assert_eq!((found.0.as_str(), found.1), ("0A000", format!("{what} is not supported")), "{sql}");
    }
    for (sql, state) in [
        ("create table t (a int) tablespace x", "42704"),
        ("create table t (a int unique using index tablespace pg_global)", "22023"),
        ("create table t (a int) using heap", ""),
        ("create table t (a int) using btree", "42809"),
        ("create sequence s cache 1 cache 2", "42601"),
        ("create sequence s start 9223372036854775808", "22003"),
        ("alter table t alter 1 set statistics 1", "0A000"),
        ("alter index i alter 40000 set statistics 1", "22023"),
        ("drop index concurrently a, b", "0A000"),
        ("insert into t values (1) on conflict (a desc) do nothing", "42P10"),
        ("select 1 from t for update of s.t", "42601"),
        ("create role r connection limit -2", "22023"),
        ("commit prepared 'x'", "55000"),
    ] {
        assert_eq!(parse(sql).err().map_or("", |error| error.state()), state, "{sql}");
    }
}

#[test]
fn privileges_and_objects() {
    let grant = |sql: &str| match kind(sql) {
        StatementKind::Grant(grant) => grant,
        other => panic!("{sql}: {other:?}"),
    };
    let one = grant("revoke grant option for select (A), insert on t from \"U\", public cascade");
    assert!(!one.grants && one.option_only && !one.option && one.cascade && one.all.is_none());
    assert_eq!(one.privileges, [("select".to_string(), vec!["a".to_string()]), ("insert".into(), vec![])]);
    assert_eq!(one.roles, ["U", "public"]);
    assert_eq!(grant("grant all on schema s to current_user").all, Some(vec![]));
    assert!(grant("grant r to u with admin option").objects.is_none());
    assert!(grant("alter group g drop user u").of_group);
    let drop = |sql: &str| match kind(sql) {
        StatementKind::DropAbsent(drop) => drop,
        other => panic!("{sql}: {other:?}"),
    };
    let one = drop("drop operator if exists s.@@ (none, int), + (int, int)");
    assert!(one.kind == "OPERATOR" && one.if_exists && one.objects.len() == 2);
    let parts: Vec<&str> = one.objects[0].name.parts.iter().map(|part| part.value.as_str()).collect();
    assert_eq!((parts, one.objects[0].arguments.as_ref().map(Vec::len)), (vec!["s", "@@"], Some(1)));
    assert_eq!(drop("drop trigger a on s.t").objects[0].on.as_ref().map(ToString::to_string), Some("s.t".into()));
    assert!(matches!(kind("drop function f(int)"), StatementKind::Sql(_)));
    assert!(matches!(kind("drop database d with (force)"), StatementKind::Database(d)
        if matches!(*d, DatabaseStatement::Drop { force: true, .. })));
    assert!(matches!(kind("alter large object 7 owner to u"), StatementKind::AlterLargeObject { oid: 7, .. }));
    assert!(matches!(kind("alter role all in database d set a.b to 1, 'x'"), StatementKind::AlterSettings(alter)
        if alter.role == SettingRole::All && alter.change == SettingChange::Set("a.b".into(), vec!["1".into(), "x".into()])));
    let StatementKind::CreateSchema(schema) =
        kind("create schema authorization u create view v as select 1 create table t (a int)")
    else {
        panic!()
    };
    assert_eq!((schema.name, schema.owner.as_deref()), (None, Some("u")));
    let texts: Vec<&str> = schema.elements.iter().map(|element| &*element.text).collect();
    assert_eq!(texts, ["create table t (a int)", "create view v as select 1"]);
}
