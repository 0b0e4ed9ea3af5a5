//! A crash of the machine, in which unsynced data is lost. The kernel keeps the page cache after kill -9. The test
//! therefore derives the loss from a trace of the system calls (see [`percosql_tests::unsynced`]).

use percosql_tests::clients::value;
use percosql_tests::unsynced::{Disk, STRACE};
use percosql_tests::{Server, psql};
use std::time::Duration;

/// Inserts single rows until the server dies. Answers the last acknowledged one.
async fn insert(settings: String, table: &'static str) -> i64 {
    let Ok((client, connection)) = tokio_postgres::connect(&settings, tokio_postgres::NoTls).await else { return -1 };
    tokio::spawn(async move {
        let _ = connection.await;
    });
    for n in 0.. {
        let text = format!("row {n} {}", "x".repeat(n as usize % 3000));
        let insert = format!("insert into {table} values ($1, nextval('numbers'), $2)");
        if client.execute(&insert, &[&n, &text]).await.is_err() {
            return n - 1;
        }
    }
    -1
}

/// Starts psql with statements that run in parallel.
fn beside(server: &Server, statements: &[&str]) -> std::process::Child {
    let mut command = std::process::Command::new("psql");
    command.args(["-X", "-h", "127.0.0.1", "-p", &server.port().to_string(), "-U", "postgres"]);
    for statement in statements {
        command.args(["-c", statement]);
    }
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().expect("psql runs")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_that_drops_what_was_not_synced_loses_nothing_acknowledged() {
    for (round, wait) in [900, 2000, 3500].into_iter().enumerate() {
        let trace = tempfile::NamedTempFile::new().expect("a trace file");
        let path = trace.path().to_string_lossy().into_owned();
        let mut server = Server::start_under(&[&STRACE[..], &[&path]].concat());
        psql(
            &server,
            &[
                "-c",
                "create sequence numbers",
                "-c",
                "create table a (n int8 primary key, s int8 unique, t text); create index on a (t)",
                "-c",
                "create table b (n int8 primary key, s int8, t text)",
            ],
        )
        .success();
        let settings = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", server.port());
        let writers = ["a", "b"].map(|table| tokio::spawn(insert(settings.clone(), table)));
        // A concurrent two-phase transaction, with an intent and a spilled buffer.
        let large = format!(
            "insert into b select -i, -i, repeat('{}', 10) from generate_series(1, 70000) as g(i)",
            "0123456789012345678901234567890123456789012345678"
        );
        let mut client = beside(&server, &[&large]);
        // Rows and index entries that enter the store beside its log.
        let made = format!(
            "create table c as select i as n, repeat('{round}', 1200) as t from generate_series(1, 30000) as g(i)"
        );
        let mut loads = beside(&server, &[&made, "create unique index c_n on c (n)"]);
        tokio::time::sleep(Duration::from_millis(wait)).await;
        if round == 2 {
            let _ = (client.wait(), loads.wait());
        }
        server.kill9();
        let loaded = String::from_utf8_lossy(&loads.wait_with_output().expect("its output").stdout).into_owned();
        let large_done = !client.wait_with_output().expect("its output").stdout.is_empty();
        let mut acknowledged = Vec::new();
        for writer in writers {
            acknowledged.push(writer.await.expect("a writer"));
        }
        let disk = Disk::from_trace(&std::fs::read_to_string(trace.path()).expect("the trace"));
        let folder = tempfile::tempdir().expect("a folder");
        let (bytes, files) = disk.crash(&server.data_dir(), &folder.path().join("data"));
        println!("{acknowledged:?}, large: {large_done}; {} syncs; {bytes} bytes and {files} files lost", disk.syncs);
        assert!(acknowledged.iter().sum::<i64>() > 0 && disk.syncs > 10, "nothing happened: {}", server.log());
        let after = Server::start_in(folder, &[]);
        for (table, last) in ["a", "b"].into_iter().zip(&acknowledged) {
            // All acknowledged rows are there without a gap, perhaps with one unacknowledged row at the end.
            let found =
                value(&after, &format!("select count(*) - max(n) - 1, max(n) >= {last} from {table} where n >= 0"));
            assert_eq!(found, "0|t", "round {round}, table {table}, {last} acknowledged");
            assert_eq!(value(&after, &format!("check table {table}")), "");
        }
        let negative = value(&after, "select count(*) from b where n < 0");
        match large_done {
            true => assert_eq!(negative, "70000"),
            false => assert!(negative == "0" || negative == "70000", "half of a transaction: {negative}"),
        }
        if value(&after, "select to_regclass('c') is null") == "f" {
            assert_eq!(value(&after, "select count(*), sum(n) from c"), "30000|450015000");
            assert_eq!(value(&after, "check table c"), "");
        } else {
            assert!(!loaded.contains("SELECT"), "a table that was acknowledged: {loaded}");
        }
        assert!(round != 2 || loaded.contains("CREATE INDEX"), "neither was waited for: {loaded}");
        if loaded.contains("CREATE INDEX") {
            assert_eq!(value(&after, "select indisvalid from pg_index where indexrelid = 'c_n'::regclass"), "t");
        }
        // The sequence's mark was durable before its values were returned.
        let fresh = "select nextval('numbers') > greatest((select max(s) from a), (select max(s) from b))";
        assert_eq!(value(&after, fresh), "t", "a value of the sequence comes twice");
        psql(&after, &["-c", "insert into a values (-1, -1, 'goes on')"]).success();
    }
}
