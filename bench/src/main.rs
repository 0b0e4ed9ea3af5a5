//! `percosql-bench`: benchmarks for any server with PostgreSQL's protocol. It runs outside the server and uses none of
//! PercoSQL's crates.

mod cli;
mod compare;
mod cpu;
mod decimal;
mod error;
mod random;
mod ratio;
mod session;
mod tpce;
mod value;

use clap::Parser;

#[tokio::main]
#[allow(clippy::print_stderr)]
async fn main() -> std::process::ExitCode {
    match cli::execute(cli::Cli::parse()).await {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("percosql-bench: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
