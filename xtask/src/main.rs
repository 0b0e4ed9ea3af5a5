//! `cargo xtask …`: the common entry point for checks, tests and benchmarks. Continuous integration and developers run
//! the same commands. It must not depend on the crates that it builds.

mod bench;
mod check;
mod compat;
mod dist;
mod mutants;
mod packages;
mod run;
mod test;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  setup      installs what building and testing need (Debian, Ubuntu), and says what
  check      formatting, clippy with warnings denied, tidy, licences (where cargo-deny is installed)
  tidy       the project's rules alone: files, layers (against ARCHITECTURE.md), documents, prose
  test       setup, then every test
  compat     asks PostgreSQL and PercoSQL the statements of tests/compat and writes the table of COMPAT.md;
             --list shows what differs instead, --check fails if an answer is not the recorded one, a word chooses sections
  bench      builds optimized binaries (thin LTO), then compares PostgreSQL 15 and PercoSQL on this machine; --pairs, --duration, --only NAME
             and others go to `percosql-bench compare` (its --help has them all); the report goes to bench/results
  dist       the optimized build, laid out anew by what was seen to run under load: target/dist/percosql (x86-64; installs LLVM's BOLT)
  mutants    plants known bugs, one at a time, and shows that the tests catch each
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let done = match command.as_str() {
        "bench" => bench::bench(&rest),
        "check" => check::check(),
        "setup" => packages::setup(),
        "dist" => dist::dist(&rest),
        "tidy" => tidy::tidy(),
        "test" => test::test(&rest),
        "compat" => compat::compat(&rest),
        "mutants" => mutants::mutants(&rest),
        _ => {
            run::say(HELP);
            return if command.is_empty() || command == "help" || command == "--help" {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(2)
            };
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            run::complain(&error);
            ExitCode::FAILURE
        }
    }
}
