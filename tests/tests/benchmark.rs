//! The benchmark against the finished server: loads a small population, runs, and checks it. The check also finds
//! deliberate damage.

use percosql_tests::{Server, psql, server};
use std::process::{Command, Output};

/// Runs `percosql-bench tpce` against a server.
fn bench(server: &Server, arguments: &[&str]) -> Output {
    let program = server::binary().with_file_name("percosql-bench");
    assert!(program.is_file(), "{} is missing: cargo build --workspace", program.display());
    let dsn = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", server.port());
    let output = Command::new(program)
        .arg("tpce")
        .args(arguments)
        .env("PERCOSQL_BENCH_DSN", dsn)
        .current_dir(server.folder())
        .output()
        .expect("percosql-bench runs");
    eprintln!("{}{}", text(&output.stdout), text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_brokerage_is_loaded_run_and_checked() {
    let server = Server::start();
    let init = ["init", "--scale", "tiny"];
    assert!(bench(&server, &init).status.success());
    // An existing population is kept. A different population is refused.
    let again = bench(&server, &init);
    assert!(again.status.success() && !text(&again.stdout).contains("differs"));
    assert!(!bench(&server, &["init", "--scale", "tiny", "--seed", "2"]).status.success());

    for style in ["prepared", "simple"] {
        let asked = ["--clients", "4", "--duration", "8s", "--ramp", "1s", "--maintenance", "1s"];
        let ledger = format!("{style}.ledger");
        let json = format!("{style}.json");
        let files = ["--ledger", &ledger, "--json", &json, "--style", style, "--quiet"];
        let run = bench(&server, &[["run"].as_slice(), &asked, &files].concat());
        assert!(run.status.success());
        // The driver repeats conflicting transactions. No transaction may fail for another reason.
        assert!(!text(&run.stdout).contains("given up"), "a transaction failed");
        assert!(text(&run.stdout).contains("trade-results per second"));
        assert!(server.folder().join(&json).is_file());
        let check = bench(&server, &["check", "--ledger", &ledger]);
        assert!(check.status.success(), "a condition does not hold");
        assert_eq!(text(&check.stdout).matches(" holds ").count(), 16);
    }

    let plant =
        "update holding_summary set hs_qty = hs_qty + 1 where hs_ca_id = (select min(hs_ca_id) from holding_summary);
        update trade set t_st_id = 'SBMT' where t_id = (select max(t_id) from trade where t_st_id = 'CMPT');
        update last_trade set lt_vol = lt_vol + 1 where lt_s_symb = (select min(lt_s_symb) from last_trade)";
    psql(&server, &["-c", plant]).success();
    let check = bench(&server, &["check", "--ledger", "simple.ledger"]);
    assert!(!check.status.success());
    for name in ["C1 ", "C3 ", "C4 ", "C8 ", "C12 ", "C13 ", "C14 "] {
        let failed = text(&check.stdout).lines().any(|line| line.starts_with(name) && line.contains("FAILS"));
        assert!(failed, "{name} found nothing");
    }

    assert!(bench(&server, &["cleanup"]).status.success());
    let left = psql(&server, &["-At", "-c", "select count(*) from pg_tables where schemaname = 'public'"]);
    assert_eq!(left.out.trim(), "0");
}
