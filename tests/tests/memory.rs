//! A server with little memory for statements: what can spill spills, what cannot is refused, and the server lives on.

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
    // 80,000 rows of some 120 bytes, twice the limit.
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
    // Nothing is left of what they held: the same memory serves again, and again.
    for _ in 0..3 {
        let sql = format!("select count(*) from (select * from {} order by t offset 1) s", rows("x"));
        assert_eq!(column(&raw.query(&sql)), ["59999"]);
    }
}

#[test]
fn memory_of_a_join_is_given_back_when_it_ends() {
    let server = Server::start_with(&LITTLE);
    let mut raw = Raw::connect(&server);
    // Each holds some 2 MB while it runs; plans stay in the cache.
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
    // 100 MB of rows: through SELECT, COPY TO, and COPY FROM.
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

/// Pages of 2 MB are cleared in whole and mostly not used.
#[test]
fn the_server_asks_for_no_huge_pages() {
    let server = Server::start();
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("a running process");
    // Older kernels do not tell.
    if let Some(line) = status.lines().find(|line| line.starts_with("THP_enabled:")) {
        assert_eq!(line.split_whitespace().last(), Some("0"));
    }
}
