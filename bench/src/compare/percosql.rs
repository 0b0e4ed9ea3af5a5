//! Starts PercoSQL as a separate process.

use super::folders::{free_port, temporary};
use super::options::Options;
use super::server::{Launch, Server};
use crate::error::{Error, Result};
use std::path::PathBuf;
use std::process::Command;

/// The binary from the options, or the one beside this program.
fn program(options: &Options) -> Result<PathBuf> {
    let path = match &options.percosql {
        Some(path) => path.clone(),
        None => std::env::current_exe()?.with_file_name("percosql"),
    };
    // The path must be absolute, because the server starts in another folder.
    path.canonicalize().map_err(|error| {
        Error::other(format!("{}: {error}: build PercoSQL, or say where it is with --percosql", path.display()))
    })
}

/// Starts the server on a new folder with its shipped settings. Answers the server and the next port to try.
pub async fn start(options: &Options, first_port: u16) -> Result<(Server, u16)> {
    let folder = temporary(options, "percosql")?;
    let port = free_port(first_port)?;
    let mut command = Command::new(program(options)?);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PERCOSQL_") {
            command.env_remove(name);
        }
    }
    command
        .arg("start")
        .arg("--data-dir")
        .arg(folder.path().join("data"))
        .arg("--listen")
        .arg(format!("127.0.0.1:{port}"));
    let server = Server::start(Launch { name: "PercoSQL", command, stop: None, port, folder }).await?;
    Ok((server, port))
}
