//! Deep statements run on a server's own threads as in PostgreSQL, or fail with 54001. None stops the server.

use percosql_tests::Server;
use percosql_tests::clients::value;
use percosql_tests::raw::{Raw, error_state};

fn list(count: usize, between: &str, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(between)
}

#[test]
fn deep_statements_run_or_are_told() {
    let server = Server::start();
    let from = "from (values (1)) v(x)";
    for (sql, answer) in [
        (format!("select count(*) {from} where {}", list(3_000, " or ", |at| format!("x = {at}"))), "1"),
        (format!("select count(*) {from} where {}", list(3_900, " and ", |at| format!("x <> {}", at + 2))), "1"),
        (format!("select case x {} end {from}", list(1_000, " ", |at| format!("when {at} then {at}"))), "1"),
        (format!("select {}x{} {from}", "(".repeat(200), "+ 1)".repeat(200)), "201"),
        (format!("select {}(x = 1) {from}", "not ".repeat(200)), "t"),
        (format!("select length({}) from (values ('a')) v(x)", list(201, " || ", |_| "x".to_string())), "201"),
        (format!("select {} {from}", list(201, " + ", |_| "x".to_string())), "201"),
        (format!("select count(*) from ({}) u", list(50, " union all ", |at| format!("select {at}"))), "50"),
        (format!("select * {}", "from (select * ".repeat(90) + "from (select 1) s" + &") s".repeat(90)), "1"),
    ] {
        assert_eq!(value(&server, &sql), answer, "{sql:.60}");
    }
    let mut raw = Raw::connect(&server);
    for sql in [
        format!("select {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("select {}x {from}", "- ".repeat(100_000)),
        format!("select {}1{}", "(select ".repeat(10_000), ")".repeat(10_000)),
        format!("select {}1{}", "array[".repeat(100_000), "]".repeat(100_000)),
        format!("select count(*) {from} where {}", list(100_000, " and ", |at| format!("x <> {at}"))),
        format!("select 1 from {}", list(2_000, ", ", |at| format!("(select {at}) t{at}"))),
        format!("select 1 from (select 1) t {}", list(2_000, " ", |at| format!("join (select 1) t{at} on true"))),
        list(1_000, " intersect ", |at| format!("select {at}")),
        list(1_000, " union select 1 union all ", |at| format!("select {at}")),
    ] {
        assert_eq!(error_state(&raw.query(&sql)), "54001", "{sql:.60}");
        assert_eq!(value(&server, "select 1"), "1");
    }
}
