//! Start and stop: opens the store and the database, binds the address, prints the banner, and waits for the end.

use crate::config::{Config, IsolationLevel};
use crate::connection::AUTHENTICATION_TIMEOUT;
use crate::connection::auth::AccessRules;
use crate::connection::cancel::Backends;
use crate::connection::tls;
use crate::listener::{self, Listener, Shared};
use crate::reactor::Reactors;
use crate::runtime_watchdog::Lookout;
use crate::types::binary;
use planner::execution::detached::Workers;
use planner::plan::EngineOptions;
use planner::session::{BinaryCodec, Database};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Runs a server until it is told to stop. `workers` run long computations, so that connections are always served.
/// Errors are sentences for a person. After an error, everything that was started has been stopped.
pub async fn run(config: Config, workers: tokio::runtime::Handle) -> Result<(), String> {
    // The handlers are installed before the store opens, so that a signal during a long recovery is not lost.
    let mut terminate = signal(SignalKind::terminate()).map_err(|e| format!("cannot wait for SIGTERM: {e}"))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|e| format!("cannot wait for SIGINT: {e}"))?;
    let tls = match &config.tls {
        Some((certificate, key)) => Some(tls::identity(certificate, key)?),
        None => None,
    };
    let store = crate::store::open(&config).await?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let reactors = Reactors::start(cores, workers.clone(), Arc::clone(&store.env))?;
    let runtimes = vec![tokio::runtime::Handle::current(), workers.clone()];
    let _lookout = Lookout::over(runtimes, reactors.reserves(), &store.env);
    let options = EngineOptions {
        memory_bytes: config.query_memory,
        process_bytes: config.memory,
        prepared_bytes: config.prepared_memory(),
        spill_directory: Some(spill_directory(&config)?),
        workers: Workers::new(workers),
        ..EngineOptions::default()
    };
    let database = Database::open_with(Arc::clone(&store.transactions), Arc::clone(&store.env), options)
        .await
        .map_err(|error| format!("cannot open the database in {}: {error}", config.data_location()))?;
    database.set_isolation(config.isolation.setting());
    database.set_binary(BinaryCodec { write: binary::write, read: binary::read });
    let any_password = database.any_password().await.map_err(|error| format!("cannot read the roles: {error}"))?;
    if config.trust_loopback && !config.listen.ip().is_loopback() {
        return Err(format!("--trust-loopback needs a loopback address to listen on, and {} is none", config.listen));
    }
    if !any_password && !config.listen.ip().is_loopback() {
        return Err(format!(
            "refusing to listen on {}: no role has a password, so anybody could connect as superuser. Start with \
             --listen 127.0.0.1:{port}, set one (ALTER ROLE postgres PASSWORD '...'), and start again.",
            config.listen,
            port = config.listen.port()
        ));
    }
    // The address is bound last, so every client that connects gets an answer.
    let socket = listener::bind(config.listen).await?;
    let address = socket.get_ref().local_addr().map_err(|e| format!("cannot tell the address listened on: {e}"))?;
    let backends = match &config.advertise {
        Some(_) => Backends::among_others(config.max_connections, store.env.random()),
        None => Backends::new(config.max_connections),
    };
    database.set_server_settings(server_settings(&config, address, &backends));
    let secret =
        database.catalog().login_secret().await.map_err(|error| format!("cannot read the login secret: {error}"))?;
    let access = AccessRules { secret, trust_loopback: config.trust_loopback };
    let shared = Arc::new(Shared { database, backends, tls, access, stopping: watch::Sender::new(false) });
    banner(&config, address, any_password);

    let running = tokio::spawn(Listener::new(socket, Arc::clone(&shared), reactors).run(config.shutdown_timeout));
    let failure = tokio::select! {
        _ = terminate.recv() => { tracing::info!("SIGTERM: stopping"); None }
        _ = interrupt.recv() => { tracing::info!("SIGINT: stopping"); None }
        reason = store.failed() => { tracing::error!(%reason, "the store failed: stopping"); Some(reason) }
    };
    shared.stopping.send_replace(true);
    let _ = running.await;
    shared.database.close().await;
    drop(shared);
    store.close().await;
    match failure {
        Some(reason) => Err(format!("the store failed and the server stopped: {reason}")),
        None => {
            tracing::info!("stopped");
            Ok(())
        }
    }
}

/// The settings that are fixed from now on, as SHOW reports them.
fn server_settings(config: &Config, address: SocketAddr, backends: &Backends) -> Vec<(&'static str, String)> {
    let mut settings = config.shown(address);
    settings.extend([
        ("authentication_timeout", format!("{}min", AUTHENTICATION_TIMEOUT.as_secs() / 60)),
        ("max_connections", backends.limit().to_string()),
        ("superuser_reserved_connections", backends.reserved().to_string()),
    ]);
    settings
}

/// The directory for spilled data of operators. Files of an earlier server that was killed are removed.
fn spill_directory(config: &Config) -> Result<PathBuf, String> {
    let folder = config.data_dir.join("query-spill");
    let made = match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder),
    };
    made.map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}

/// Prints that the server is ready, on standard output and independent of the log's settings.
fn banner(config: &Config, address: SocketAddr, any_password: bool) {
    let host = if address.ip().is_unspecified() { "127.0.0.1".to_string() } else { address.ip().to_string() };
    let mut text = format!(
        "PercoSQL {version} is ready\n  address  {address}\n  data     {data}\n  connect  psql -h {host} -p {port} -U postgres\n",
        version = env!("CARGO_PKG_VERSION"),
        data = config.data_location(),
        port = address.port(),
    );
    text.push_str(&level(config.isolation));
    if config.trust_loopback && any_password {
        text.push_str("  trust    --trust-loopback: every connection from this machine is trusted, as any role.\n");
    } else if !any_password {
        text.push_str(
            "  trust    no role has a password yet: every connection from this machine is trusted.\n           \
             Set one with: ALTER ROLE postgres PASSWORD '...';\n",
        );
    }
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// The default isolation level, with a note for applications written for PostgreSQL.
fn level(isolation: IsolationLevel) -> String {
    let mut text = format!("  level    {} is the default isolation level", isolation.setting());
    if isolation != IsolationLevel::ReadCommitted {
        text.push_str(
            ".\n           Applications written for PostgreSQL's default expect --isolation read-committed;\n           \
             pgbench at this level wants --max-tries",
        );
    }
    text + ".\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_says_which_level_is_the_default_and_who_expects_another() {
        let text = level(IsolationLevel::default());
        assert!(text.contains("repeatable read is the default isolation level"), "{text}");
        assert!(text.contains("--isolation read-committed") && text.contains("--max-tries"), "{text}");
        assert!(text.lines().all(|line| line.starts_with("  ")) && text.ends_with(".\n"), "{text}");
        assert_eq!(level(IsolationLevel::ReadCommitted), "  level    read committed is the default isolation level.\n");
    }
}
