//! A server with little memory for statements. Operators spill if they can and fail with an error otherwise. The server
//! stays up.

use percosql_tests::Server;
use percosql_tests::clients::{psql, value};
use percosql_tests::raw::{Raw, column, error_state, kinds};

const LITTLE: [&str; 2] = ["--query-memory", "4MB"];

/// Resident memory of the server, in MB.
fn resident(server: &Server) -> usize {
    let text = std::fs::read_to_string(format!("/proc/{}/statm", server.pid())).expect("a running process");
    (text.split(' ').nth(1).expect("a field").parse::<usize>().expect("pages") * 4096) >> 20
}

#[test]
fn a_sort_of_more_than_the_memory_spills() {
    let server = Server::start_with(&LITTLE);
    // 80,000 rows of about 120 bytes, twice the limit.
    let rows = "select g, repeat(md5(g::text), 3) t from generate_series(1, 80000) g";
    let sql = format!("select count(*), count(distinct g) from (select * from ({rows}) r order by t, g offset 1) s");
    assert_eq!(value(&server, &sql), "79999|79999");
    assert_eq!(value(&server, &format!("select max(n) from (select t, count(*) n from ({rows}) r group by t) s")), "1");
    let left = std::fs::read_dir(server.data_dir().join("query-spill")).expect("the folder of spilled rows");
    let files: usize =
        left.map(|entry| std::fs::read_dir(entry.expect("an entry").path()).expect("a folder").count()).sum();
    assert_eq!(files, 0, "spilled rows are removed");
}

#[test]
fn what_cannot_spill_is_refused_and_the_server_lives() {
    let server = Server::start_with(&LITTLE);
    let mut raw = Raw::connect(&server);
    raw.query("create table t (a int primary key, b text)");
    let rows = |name: &str| format!("(select g, repeat(md5(g::text), 3) t from generate_series(1, 60000) g) {name}");
    let big = [
        format!("select count(*) from {} join {} on x.t = y.t", rows("x"), rows("y")),
        "select array_agg(g) from generate_series(1, 1500000) g".to_string(),
        "select string_agg(g::text, ',') from generate_series(1, 1500000) g".to_string(),
        format!("select sum(g) over (), t from {}", rows("x")),
        format!("insert into t select g, t from {} returning *", rows("x")),
    ];
    for sql in &big {
        let replies = raw.query(sql);
        assert_eq!(error_state(&replies), "53200", "{sql}");
        let error = replies.iter().find(|reply| reply.kind == b'E').expect("an error");
        assert_eq!(error.field(b'M').as_deref(), Some("out of memory"), "{sql}");
        assert!(error.field(b'H').is_some_and(|hint| hint.contains("--query-memory")), "{sql}");
        assert_eq!(column(&raw.query("select count(*) from t")), ["0"]);
    }
    // The statements released all memory, so the same memory serves repeated runs.
    for _ in 0..3 {
        let sql = format!("select count(*) from (select * from {} order by t offset 1) s", rows("x"));
        assert_eq!(column(&raw.query(&sql)), ["59999"]);
    }
}

#[test]
fn memory_of_a_join_is_given_back_when_it_ends() {
    let server = Server::start_with(&LITTLE);
    let mut raw = Raw::connect(&server);
    // Each statement uses about 2 MB while it runs. Its plan stays in the plan cache.
    for number in 0..8 {
        let sql = format!(
            "select count(*) + {number} from generate_series(1, 30000) x join generate_series(1, 30000) y on x = y"
        );
        assert_eq!(column(&raw.query(&sql)), [(30_000 + number).to_string()]);
    }
}

#[test]
fn rows_stream_through_little_memory() {
    let server = Server::start_with(&LITTLE);
    let mut raw = Raw::connect(&server);
    raw.query("create table t (a int primary key, b text)");
    for part in 0..8 {
        let sql = format!(
            "insert into t select g, repeat(md5(g::text), 16) from generate_series({}, {}) g",
            part * 25_000 + 1,
            (part + 1) * 25_000
        );
        assert_eq!(kinds(&raw.query(&sql)), "CZ");
    }
    assert_eq!(value(&server, "select count(*) from t"), "200000");
    // 100 MB of rows through SELECT, COPY TO and COPY FROM.
    let file = server.folder().join("rows");
    let file = file.to_str().expect("a path");
    psql(&server, &["-qAt", "-c", &format!("\\copy t to {file}")]).success();
    let before = resident(&server);
    psql(&server, &["-qAt", "-v", "FETCH_COUNT=0", "-o", "/dev/null", "-c", "select * from t"]).success();
    psql(&server, &["-qAt", "-c", &format!("\\copy t to {file}")]).success();
    let grown = resident(&server).saturating_sub(before);
    assert!(grown < 48, "{grown} MB for rows that pass through");
    psql(
        &server,
        &["-qAt", "-c", "create table u (a int primary key, b text)", "-c", &format!("\\copy u from {file}")],
    )
    .success();
    assert_eq!(value(&server, "select count(*) from u"), "200000");
}

#[test]
fn a_value_is_as_long_as_in_postgresql_and_counts() {
    let server = Server::start_with(&["--query-memory", "64MB"]);
    let mut raw = Raw::connect(&server);
    let before = resident(&server);
    for (sql, state) in [
        ("select length(repeat('x', 1 << 30))", "54000"),
        ("select length(repeat('x', 1073741820))", "54000"),
        ("select length(format('%2000000000s', 'x'))", "54000"),
        ("select length(lpad('x', 1 << 28, 'ab'))", "54000"),
        ("select length(repeat('x', 1073741819))", "53200"),
        ("select length(repeat('x', 900000000) || repeat('y', 900000000))", "53200"),
        ("select length(replace(repeat('x', 10000000), 'x', repeat('y', 1000)))", "54000"),
        ("select length(replace(repeat('x', 1000000), 'x', repeat('y', 900)))", "53200"),
        ("select length(overlay(repeat('x', 40000000) placing repeat('y', 40000000) from 1 for 1))", "53200"),
        ("select length(string_agg(repeat('x', 10000000), ',')) from generate_series(1, 20)", "53200"),
        ("select array_length(array_fill(1, array[100000000]), 1)", "53200"),
    ] {
        assert_eq!(error_state(&raw.query(sql)), state, "{sql}");
    }
    let grown = resident(&server).saturating_sub(before);
    assert!(grown < 200, "{grown} MB for values that were refused");
    // A value that fits is computed once, and its memory is released.
    for _ in 0..5 {
        assert_eq!(column(&raw.query("select length(repeat('x', 40000000))")), ["40000000"]);
    }
    // Rows that do not fit together are sent one after the other.
    let replies = raw.query("select repeat('x', 5000000) from generate_series(1, 30)");
    assert_eq!(replies.iter().filter(|reply| reply.kind == b'D' && reply.body.len() > 5_000_000).count(), 30);
    let grown = resident(&server).saturating_sub(before);
    assert!(grown < 250, "{grown} MB");
}

#[test]
fn held_cursors_go_to_disk() {
    let server = Server::start_with(&["--query-memory", "16MB"]);
    let mut raw = Raw::connect(&server);
    let before = resident(&server);
    // About 20 MB each.
    for number in 0..12 {
        let rows = "select g, repeat(md5(g::text), 10) t from generate_series(1, 50000) g";
        let replies = raw.query(&format!("begin; declare c{number} scroll cursor with hold for {rows}; commit"));
        assert_eq!(kinds(&replies), "CCCZ", "{number}");
    }
    let grown = resident(&server).saturating_sub(before);
    assert!(grown < 120, "{grown} MB");
    assert_eq!(column(&raw.query("fetch absolute 49999 from c3")), ["49999"]);
    assert_eq!(column(&raw.query("fetch backward 2 from c3")), ["49998", "49997"]);
    assert_eq!(column(&raw.query("fetch first from c3")), ["1"]);
    assert_eq!(column(&raw.query("fetch relative 20000 from c3")), ["20001"]);
    raw.query("close all");
    let spilled = std::fs::read_dir(server.data_dir().join("query-spill")).expect("the folder of spilled rows");
    let files: usize =
        spilled.map(|entry| std::fs::read_dir(entry.expect("an entry").path()).expect("a folder").count()).sum();
    assert_eq!(files, 0);
}

#[test]
fn prepared_statements_are_bounded_in_bytes() {
    let server = Server::start_with(&["--memory", "1GB"]);
    let mut raw = Raw::connect(&server);
    let before = resident(&server);
    let text = format!("select 1 in ({}1)", "2,".repeat(10_000));
    let kept = (0..100).take_while(|number| kinds(&raw.query(&format!("prepare p{number} as {text}"))) == "CZ");
    let kept = kept.count();
    assert!((3..20).contains(&kept), "{kept} statements");
    assert_eq!(error_state(&raw.query(&format!("prepare q as {text}"))), "53200");
    let grown = resident(&server).saturating_sub(before);
    assert!(grown < 600, "{grown} MB");
    // Other sessions have memory. This session has it again after it released some.
    let sql =
        "select used_bytes > 0 and used_bytes <= limit_bytes from percosql.memory where area = 'prepared statements'";
    assert_eq!(value(&server, sql), "t");
    assert_eq!(column(&raw.query("prepare s as select 1; execute s")), ["1"]);
    raw.query("deallocate all");
    assert_eq!(value(&server, "select used_bytes from percosql.memory where area = 'prepared statements'"), "0");
    assert_eq!(kinds(&raw.query("prepare s as select 1")), "CZ");
}

#[test]
fn memory_is_shown_to_who_may_monitor() {
    let server = Server::start_with(&["--memory", "1GB"]);
    let mut raw = Raw::connect(&server);
    let limits =
        "select limit_bytes >> 20 from percosql.memory where area in ('process', 'queries', 'block cache') order by 1";
    assert_eq!(column(&raw.query(limits)), ["80", "256", "1024"]);
    assert_eq!(column(&raw.query("select used_bytes > 1000000 from percosql.memory where area = 'process'")), ["t"]);
    raw.query("create role nobody; create role watcher in role pg_monitor");
    raw.query("set role nobody");
    assert_eq!(error_state(&raw.query("select * from percosql.memory")), "42501");
    raw.query("set role watcher");
    assert_eq!(column(&raw.query("select count(*) > 5 from percosql.memory")), ["t"]);
}

/// More row locks in one transaction than the server lists in memory.
#[test]
fn many_row_locks_take_little_memory_and_hold() {
    let server = Server::start_with(&["--isolation", "read-committed"]);
    let mut raw = Raw::connect(&server);
    raw.query(
        "create table t (id int primary key, v int); insert into t select g, 0 from generate_series(1, 150000) g",
    );
    let locks = "select used_bytes >> 20 from percosql.memory where area = 'locks'";
    assert_eq!(column(&raw.query(locks)), ["0"]);
    assert_eq!(kinds(&raw.query("begin; update t set v = 1; savepoint s; select 1")), "CCCTDCZ");
    assert_eq!(kinds(&raw.query("insert into t select g, 1 from generate_series(150001, 160000) g")), "CZ");
    let mut other = Raw::connect(&server);
    let held: u64 = column(&other.query(locks))[0].parse().expect("megabytes");
    assert!((1..12).contains(&held), "{held} MB");
    for id in [1, 70_000, 149_999] {
        let sql = format!("select v from t where id = {id} for update nowait");
        assert_eq!(error_state(&other.query(&sql)), "55P03", "{id}");
    }
    assert_eq!(column(&other.query("select count(*) from (select id from t for key share skip locked) s")), ["150000"]);
    assert_eq!(column(&other.query("select count(*) from (select id from t for update skip locked) s")), ["0"]);
    let insert = "set lock_timeout = 200; insert into t values (155000, 2)";
    assert_eq!(error_state(&other.query(insert)), "55P03");
    raw.query("rollback to s");
    assert_eq!(kinds(&other.query(insert)), "CCZ", "it was given back");
    assert_eq!(error_state(&other.query("update t set v = 3 where id = 140000")), "55P03");
    assert_eq!(kinds(&raw.query("commit")), "CZ");
    assert_eq!(kinds(&other.query("update t set v = v + 1 where id = 140000")), "CZ");
    assert_eq!(column(&other.query("select sum(v) from t")), ["150003"]);
    assert_eq!(column(&other.query(locks)), ["0"]);
}

/// Linux clears huge pages in whole, and most of their memory stays unused.
#[test]
fn the_server_asks_for_no_huge_pages() {
    let server = Server::start();
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("a running process");
    // Older kernels do not report this field.
    if let Some(line) = status.lines().find(|line| line.starts_with("THP_enabled:")) {
        assert_eq!(line.split_whitespace().last(), Some("0"));
    }
}
