//! Temporary folders and free ports for servers.

use super::options::Options;
use crate::error::{Error, Result};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use tempfile::TempDir;

/// Number of ports to try.
const PORTS: u16 = 48;

/// The folder that contains both servers' folders, so that they write to the same disk.
pub fn parent(options: &Options) -> PathBuf {
    options.folder.clone().unwrap_or_else(std::env::temp_dir)
}

/// Creates a folder that is removed when it is dropped.
pub fn temporary(options: &Options, name: &str) -> Result<TempDir> {
    let parent = parent(options);
    tempfile::Builder::new()
        .prefix(&format!("percosql-bench-{name}-"))
        .tempdir_in(&parent)
        .map_err(|error| Error::other(format!("a folder cannot be made in {}: {error}", parent.display())))
}

/// The first port from `first` on without a listener.
pub fn free_port(first: u16) -> Result<u16> {
    let last = first.saturating_add(PORTS);
    (first..=last).find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()).ok_or_else(|| {
        Error::other(format!("none of the ports {first} to {last} is free: choose others with --first-port"))
    })
}
