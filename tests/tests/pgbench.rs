//! Unmodified pgbench 15: initialisation, every built-in script in every query mode, and the bank's sums.

use percosql_tests::clients::value;
use percosql_tests::{Server, pgbench, psql};

/// The invariant of pgbench's transfers: every delta reached an account, a teller and a branch.
fn assert_sums_agree(server: &Server) {
    let sums = value(
        server,
        "select (select coalesce(sum(abalance), 0) from pgbench_accounts),
                (select coalesce(sum(tbalance), 0) from pgbench_tellers),
                (select coalesce(sum(bbalance), 0) from pgbench_branches),
                (select coalesce(sum(delta), 0) from pgbench_history)",
    );
    let parts: Vec<&str> = sums.split('|').collect();
    assert_eq!(parts.len(), 4, "{sums}");
    assert!(parts.iter().all(|part| *part == parts[0]), "the sums differ: {sums}");
}

fn assert_processed(run: &percosql_tests::ClientOutput) {
    assert!(run.ok, "pgbench failed:\n{}\n{}", run.out, run.err);
    assert!(run.out.contains("number of failed transactions: 0 "), "{}\n{}", run.out, run.err);
}

#[test]
fn built_in_scripts_in_every_mode() {
    let server = Server::start();
    pgbench(&server, &["-i", "-s", "1"]).success();
    assert_eq!(value(&server, "select count(*) from pgbench_accounts"), "100000");
    for mode in ["simple", "extended", "prepared"] {
        assert_processed(&pgbench(&server, &["-n", "-S", "-M", mode, "-c", "4", "-t", "100"]));
        for script in ["-N", "-b tpcb-like"] {
            let mut arguments = vec!["-n", "-M", mode, "-c", "8", "-t", "20", "--max-tries=100"];
            arguments.extend(script.split(' '));
            assert_processed(&pgbench(&server, &arguments));
        }
    }
    assert_sums_agree_without_n(&server);
    psql(&server, &["-c", "check table pgbench_accounts"]).success();
}

/// `-N` updates accounts and writes history, but not tellers and branches. Accounts and history agree.
fn assert_sums_agree_without_n(server: &Server) {
    let sums = value(
        server,
        "select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history),
                (select sum(tbalance) from pgbench_tellers) = (select sum(bbalance) from pgbench_branches)",
    );
    assert_eq!(sums, "t|t");
}

#[test]
fn the_bank_survives_kill_nine() {
    let mut server = Server::start();
    pgbench(&server, &["-i", "-s", "1"]).success();
    // Eight clients contend for one branch, and none of them starves.
    assert_processed(&pgbench(&server, &["-n", "-c", "8", "-t", "50", "--max-tries=50"]));
    assert_sums_agree(&server);
    let before = value(&server, "select count(*) from pgbench_history");
    server.restart();
    assert_eq!(value(&server, "select count(*) from pgbench_history"), before);
    assert_sums_agree(&server);
}
