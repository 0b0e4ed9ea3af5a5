//! The command line: reads it, initializes the log, runs the command, and maps failures to exit codes.

use crate::config::{Cli, Command, Config, LogFormat};
use crate::runtime;
use clap::Parser;
use std::io::IsTerminal;
use std::io::Write;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// Runs the program. The exit code is 0 on success and 1 after a failure.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Start(options) => Config::resolve(*options).and_then(start),
        Command::InitStore { store } => init_store(&store),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "percosql: {message}");
            ExitCode::FAILURE
        }
    }
}

fn start(config: Config) -> Result<(), String> {
    init_log(&config)?;
    crate::data_directory::claim(&config.data_dir)?;
    let runtime = runtime::start("percosql", None)?;
    // A sort or join may compute for seconds without a pause. On threads of its own it delays no connection.
    let workers = runtime::start("percosql-query", None)?;
    let result = runtime.block_on(crate::server::run(config, workers.handle().clone()));
    // A task that still computes or blocks must not keep the process alive. Dropping a connection in mid-statement can
    // leave one.
    workers.shutdown_timeout(std::time::Duration::from_secs(1));
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    result
}

fn init_store(store: &str) -> Result<(), String> {
    let said = runtime::start("percosql", None)?.block_on(crate::store::init(store))?;
    writeln!(std::io::stdout(), "{said}").map_err(|e| format!("cannot write to standard output: {e}"))
}

fn init_log(config: &Config) -> Result<(), String> {
    let filter = EnvFilter::try_new(&config.log).map_err(|e| format!("--log {}: {e}", config.log))?;
    // Log files and journals have no terminal, so their lines carry no colour codes.
    let colours = std::io::stderr().is_terminal();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours);
    let set = match config.log_format {
        LogFormat::Text => builder.fmt_fields(crate::log_text::fields()).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    set.map_err(|e| format!("cannot start the log: {e}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
        let cli = Cli::try_parse_from(["percosql", "start", "--data-dir", "d", "--listen", "127.0.0.1:1"]).unwrap();
        let Command::Start(options) = cli.command else { panic!("{:?}", cli.command) };
        assert_eq!(options.data_dir.unwrap().to_str(), Some("d"));
        assert!(Cli::try_parse_from(["percosql", "stop"]).is_err());
        assert!(Cli::try_parse_from(["percosql", "init-store"]).is_err());
        assert!(init_store("embedded").unwrap_err().contains("bigtable://PROJECT/INSTANCE/TABLE"));
    }
}
