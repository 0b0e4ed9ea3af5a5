//! [`Config`]: the settings of `percosql start`, from flags, `PERCOSQL_*` variables and a TOML file, in that order of
//! precedence. It opens no other file.

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Deserialize;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use storage::BigtableAddress;

/// The parsed command line of `percosql`.
#[derive(Debug, Parser)]
#[command(
    name = "percosql",
    version,
    about = "A PostgreSQL-compatible SQL database with Percolator transactions",
    long_about = "PercoSQL speaks PostgreSQL's wire protocol and SQL, and keeps its tables in a \
                  multi-version, tablet-sharded store with Percolator's transactions.\n\n\
                  Start it:      percosql start\n\
                  Connect to it: psql -h 127.0.0.1 -U postgres",
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// The subcommand to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands of `percosql`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the server and run it until SIGTERM or Ctrl-C
    Start(Box<StartOptions>),
    /// Make the table of a store in Google Cloud Bigtable, or complete it; harmless when it is there already
    InitStore {
        /// Where: bigtable://PROJECT/INSTANCE/TABLE. With BIGTABLE_EMULATOR_HOST set, in that emulator
        #[arg(value_name = "STORE")]
        store: String,
    },
}

/// Options of `percosql start`. `None` means that the command line and the environment do not set the option.
#[derive(Args, Clone, Debug, Default)]
pub struct StartOptions {
    /// Folder that holds the data; made when it does not exist [default: ./percosql-data]. With a store elsewhere it
    /// holds only what does not fit in memory [default then: a temporary folder]
    #[arg(long, value_name = "DIR", env = "PERCOSQL_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address and port to listen on [default: 127.0.0.1:5432]
    #[arg(long, value_name = "ADDR", env = "PERCOSQL_LISTEN")]
    pub listen: Option<String>,
    /// Storage of the tablets: `embedded` is a local folder, `bigtable://PROJECT/INSTANCE/TABLE` a table of Google
    /// Cloud Bigtable that `percosql init-store` made [default: embedded]
    #[arg(long, value_name = "STORE", env = "PERCOSQL_STORE")]
    pub store: Option<String>,
    /// Host and port at which the other servers of the same Bigtable store reach this one, in plain text, which asks for a
    /// private network; needed by each as soon as there are two [default: the only server of its store]
    #[arg(long, value_name = "HOST:PORT", env = "PERCOSQL_ADVERTISE")]
    pub advertise: Option<String>,
    /// TOML file with the same settings, `data_dir = "..."`; flags and variables go before it
    #[arg(long, value_name = "FILE", env = "PERCOSQL_CONFIG")]
    pub config: Option<PathBuf>,
    /// Connections served at a time [default: 200]
    #[arg(long, value_name = "COUNT", env = "PERCOSQL_MAX_CONNECTIONS")]
    pub max_connections: Option<usize>,
    /// Memory that the server is to stay within, such as 2GB: caches, statements, sessions and all else. What single parts
    /// may take follows from it [default: the machine's, or that of the control group]
    #[arg(long, value_name = "SIZE", env = "PERCOSQL_MEMORY")]
    pub memory: Option<String>,
    /// Memory that all statements' sorts, joins, aggregations and large values together may hold, such as 512MB or 4GB; beyond it
    /// they spill to the data directory, or fail with 53200 [default: a quarter of --memory]
    #[arg(long, value_name = "SIZE", env = "PERCOSQL_QUERY_MEMORY")]
    pub query_memory: Option<String>,
    /// Memory that the embedded store keeps data in once it was read, such as 512MB or 4GB; it is taken as it is needed
    /// [default: an eighth of --memory]
    #[arg(long, value_name = "SIZE", env = "PERCOSQL_CACHE_MEMORY")]
    pub cache_memory: Option<String>,
    /// A tablet of the embedded store is split when it has grown larger than this, such as 256MB [default: 64MB]
    #[arg(long, value_name = "SIZE", env = "PERCOSQL_TABLET_SIZE")]
    pub tablet_size: Option<String>,
    /// Isolation level of transactions that do not name one: snapshot (PostgreSQL's repeatable read: writers do not wait, the
    /// first to commit wins), read-committed (writers wait, as PostgreSQL's do by default) or serializable (as if one
    /// transaction ran after the other; more are refused with 40001) [default: snapshot]
    #[arg(long, value_name = "LEVEL", env = "PERCOSQL_ISOLATION")]
    pub isolation: Option<IsolationLevel>,
    /// Certificate chain in PEM; with --tls-key, clients may ask for TLS
    #[arg(long, value_name = "FILE", env = "PERCOSQL_TLS_CERT")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", env = "PERCOSQL_TLS_KEY")]
    pub tls_key: Option<PathBuf>,
    /// Trust every connection from this machine, as any role and whatever passwords there are: for a superuser who has lost theirs. Only
    /// together with a loopback address to listen on
    #[arg(long, env = "PERCOSQL_TRUST_LOOPBACK", value_parser = clap::builder::BoolishValueParser::new())]
    pub trust_loopback: bool,
    /// Seconds that running statements get to finish at shutdown [default: 10]
    #[arg(long, value_name = "SECONDS", env = "PERCOSQL_SHUTDOWN_TIMEOUT")]
    pub shutdown_timeout: Option<u64>,
    /// Form of the log [default: text]
    #[arg(long, value_name = "FORMAT", env = "PERCOSQL_LOG_FORMAT")]
    pub log_format: Option<LogFormat>,
    /// What is logged: error, warn, info, debug, trace, or a `tracing` filter [default: info]
    #[arg(long, value_name = "FILTER", env = "PERCOSQL_LOG")]
    pub log: Option<String>,
}

/// Format of the log's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One readable line an event.
    #[default]
    Text,
    /// One JSON object an event.
    Json,
}

/// Isolation level of transactions that do not name one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IsolationLevel {
    /// A snapshot for the whole transaction.
    #[default]
    Snapshot,
    /// A snapshot for each statement.
    ReadCommitted,
    /// A snapshot for the whole transaction, and what it has read validated at COMMIT.
    Serializable,
}

impl IsolationLevel {
    /// The level's name in `default_transaction_isolation`.
    pub fn setting(self) -> &'static str {
        match self {
            IsolationLevel::Snapshot => "repeatable read",
            IsolationLevel::ReadCommitted => "read committed",
            IsolationLevel::Serializable => "serializable",
        }
    }
}

/// The settings file: the names of the flags, with underscores.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    data_dir: Option<PathBuf>,
    listen: Option<String>,
    store: Option<String>,
    advertise: Option<String>,
    max_connections: Option<usize>,
    memory: Option<String>,
    query_memory: Option<String>,
    cache_memory: Option<String>,
    tablet_size: Option<String>,
    isolation: Option<IsolationLevel>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    trust_loopback: Option<bool>,
    shutdown_timeout: Option<u64>,
    log_format: Option<LogFormat>,
    log: Option<String>,
}

/// Checks that the address has the form `HOST:PORT` and can be reachable from other machines.
fn check_advertise(address: Option<&str>, store: &StoreKind) -> Result<(), String> {
    let Some(address) = address else { return Ok(()) };
    if *store == StoreKind::Embedded {
        return Err("--advertise is for servers that share a store: it needs --store bigtable://...".to_string());
    }
    let parts = address
        .rsplit_once(':')
        .filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0));
    match parts {
        None => Err(format!("--advertise {address}: a host and a port are expected, such as 10.0.0.1:6501")),
        Some(("0.0.0.0" | "[::]" | "*", _)) => Err(format!(
            "--advertise {address}: other servers cannot reach this host by that; give its own name or address"
        )),
        Some(_) => Ok(()),
    }
}

/// The storage engine that holds the tablets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// A folder on this machine.
    Embedded,
    /// A table of Cloud Bigtable, by its address.
    Bigtable(BigtableAddress),
}

/// All settings, complete and validated as far as possible without opening the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Folder that holds the data.
    pub data_dir: PathBuf,
    /// Path of the settings file; `None` without one.
    pub config_file: Option<PathBuf>,
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Storage engine of the tablets.
    pub store: StoreKind,
    /// `HOST:PORT` at which the other servers of the store reach this one. `None` means that this is the only server of
    /// its store.
    pub advertise: Option<String>,
    /// Connections served at a time, at most.
    pub max_connections: usize,
    /// Memory limit of the process, in bytes.
    pub memory: usize,
    /// Memory limit of all statements together, in bytes.
    pub query_memory: usize,
    /// Cache of the embedded store, in bytes.
    pub cache_memory: usize,
    /// Size above which a tablet of the embedded store is split, in bytes.
    pub tablet_size: usize,
    /// Isolation level of transactions that do not name one.
    pub isolation: IsolationLevel,
    /// Paths of the certificate chain and of its key; `None` without TLS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Whether connections from this machine are trusted, whatever passwords there are.
    pub trust_loopback: bool,
    /// Time that running statements get to finish at shutdown.
    pub shutdown_timeout: Duration,
    /// Format of the log's lines.
    pub log_format: LogFormat,
    /// Filter of the log, in `tracing`'s syntax.
    pub log: String,
}

impl Config {
    /// Completes the options from the settings file and the defaults. Errors are sentences for a person.
    pub fn resolve(options: StartOptions) -> Result<Config, String> {
        let file = match &options.config {
            Some(path) => read_file(path)?,
            None => File::default(),
        };
        let listen = options.listen.or(file.listen).unwrap_or_else(|| "127.0.0.1:5432".to_string());
        let store = options.store.or(file.store).unwrap_or_else(|| "embedded".to_string());
        let tls = match (options.tls_cert.or(file.tls_cert), options.tls_key.or(file.tls_key)) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            (Some(_), None) => return Err("--tls-cert needs --tls-key".to_string()),
            (None, Some(_)) => return Err("--tls-key needs --tls-cert".to_string()),
        };
        let store = parse_store(&store)?;
        let advertise = options.advertise.or(file.advertise);
        check_advertise(advertise.as_deref(), &store)?;
        let data_dir = || match store {
            StoreKind::Embedded => PathBuf::from("./percosql-data"),
            StoreKind::Bigtable(_) => std::env::temp_dir().join(format!("percosql-{}", std::process::id())),
        };
        let memory = match options.memory.or(file.memory) {
            Some(text) => parse_size(&text, 128 << 20).map_err(|error| format!("--memory {text}: {error}"))?,
            None => crate::memory_limit::of_this_process(),
        };
        Ok(Config {
            memory,
            data_dir: options.data_dir.or(file.data_dir).unwrap_or_else(data_dir),
            config_file: options.config,
            listen: parse_listen(&listen)?,
            store,
            advertise,
            max_connections: options.max_connections.or(file.max_connections).unwrap_or(200).max(1),
            query_memory: match options.query_memory.or(file.query_memory) {
                Some(text) => parse_size(&text, 1 << 20).map_err(|error| format!("--query-memory {text}: {error}"))?,
                None => memory / 4,
            },
            cache_memory: match options.cache_memory.or(file.cache_memory) {
                Some(text) => parse_size(&text, 8 << 20).map_err(|error| format!("--cache-memory {text}: {error}"))?,
                None => (memory / 8).max(MIN_CACHE),
            },
            tablet_size: match options.tablet_size.or(file.tablet_size) {
                Some(text) => parse_size(&text, 64 << 10).map_err(|error| format!("--tablet-size {text}: {error}"))?,
                None => 64 << 20,
            },
            isolation: options.isolation.or(file.isolation).unwrap_or_default(),
            tls,
            trust_loopback: options.trust_loopback || file.trust_loopback.unwrap_or(false),
            shutdown_timeout: Duration::from_secs(options.shutdown_timeout.or(file.shutdown_timeout).unwrap_or(10)),
            log_format: options.log_format.or(file.log_format).unwrap_or_default(),
            log: options.log.or(file.log).unwrap_or_else(|| "info".to_string()),
        })
    }
}

/// A smaller cache slows every statement down.
const MIN_CACHE: usize = 64 << 20;

impl Config {
    /// Limit of the write buffers of all transactions together, in bytes.
    pub fn buffer_memory(&self) -> usize {
        (self.memory / 8).max(16 << 20)
    }

    /// Limit of the large commits in progress together, in bytes. The write buffers are not included.
    pub fn commit_memory(&self) -> usize {
        (self.memory / 8).max(16 << 20)
    }

    /// Limit of the named prepared statements of all sessions together, in bytes.
    pub fn prepared_memory(&self) -> usize {
        (self.memory / 16).max(16 << 20)
    }

    /// The settings as SHOW reports them to clients, for a server that listens at `address`.
    pub fn shown(&self, address: SocketAddr) -> Vec<(&'static str, String)> {
        let whole =
            |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string();
        let mut shown = vec![
            ("data_directory", whole(&self.data_dir)),
            ("listen_addresses", address.ip().to_string()),
            ("port", address.port().to_string()),
        ];
        if let Ok(folder) = std::fs::metadata(&self.data_dir) {
            shown.push(("data_directory_mode", format!("{:04o}", folder.permissions().mode() & 0o777)));
        }
        shown.extend(self.config_file.as_deref().map(|path| ("config_file", whole(path))));
        if let Some((certificate, key)) = &self.tls {
            let files = [("ssl_cert_file", whole(certificate)), ("ssl_key_file", whole(key))];
            shown.extend(std::iter::once(("ssl", "on".to_string())).chain(files));
        }
        shown
    }

    /// Location of the data, for messages to people.
    pub fn data_location(&self) -> String {
        match &self.store {
            StoreKind::Embedded => self.data_dir.display().to_string(),
            StoreKind::Bigtable(address) => address.to_string(),
        }
    }
}

fn read_file(path: &Path) -> Result<File, String> {
    let text =
        std::fs::read_to_string(path).map_err(|e| format!("cannot read settings file {}: {e}", path.display()))?;
    toml::from_str(&text).map_err(|e| format!("settings file {}: {e}", path.display()))
}

/// Parses a number of bytes such as `65536`, `64kB`, `512MB` or `2GB`, of at least `least` bytes. Units are multiples
/// of 1024, as in PostgreSQL's settings.
fn parse_size(text: &str, least: usize) -> Result<usize, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "kb" => 10,
        "mb" => 20,
        "gb" => 30,
        "tb" => 40,
        _ => return Err("write a number and kB, MB, GB or TB, such as 512MB".to_string()),
    };
    let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift));
    match bytes {
        Some(bytes) if bytes >= least => Ok(bytes),
        Some(_) => Err(format!("at least {}kB are needed", least >> 10)),
        None => Err("write a number and kB, MB, GB or TB, such as 512MB".to_string()),
    }
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    use std::net::ToSocketAddrs;
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    // The text may be a bare port, a bare address, or a host name with a port.
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    if let Ok(ip) = text.parse::<std::net::IpAddr>() {
        return Ok(SocketAddr::new(ip, 5432));
    }
    match text.to_socket_addrs() {
        Ok(mut addresses) => addresses.next().ok_or_else(|| format!("--listen {text}: the name has no address")),
        Err(e) => Err(format!("--listen {text}: {e} (write ADDRESS:PORT, such as 127.0.0.1:5432)")),
    }
}

fn parse_store(text: &str) -> Result<StoreKind, String> {
    match text {
        "embedded" => Ok(StoreKind::Embedded),
        other if other.starts_with("bigtable:") => {
            other.parse().map(StoreKind::Bigtable).map_err(|error| format!("--store {error}"))
        }
        other => Err(format!("--store {other}: unknown store; use embedded, or bigtable://PROJECT/INSTANCE/TABLE")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_loopback_and_embedded() {
        let config = Config::resolve(StartOptions::default()).unwrap();
        assert_eq!(config.listen, "127.0.0.1:5432".parse().unwrap());
        assert_eq!(config.store, StoreKind::Embedded);
        assert_eq!(config.data_dir, PathBuf::from("./percosql-data"));
    }

    #[test]
    fn a_flag_goes_before_the_file_and_the_file_before_the_default() {
        let folder = std::env::temp_dir().join(format!("percosql-config-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("percosql.toml");
        std::fs::write(&path, "listen = \"127.0.0.1:1\"\nmax_connections = 7\n").unwrap();
        let options = StartOptions {
            config: Some(path.clone()),
            listen: Some("127.0.0.1:2".to_string()),
            ..StartOptions::default()
        };
        let config = Config::resolve(options).unwrap();
        assert_eq!(config.listen.port(), 2);
        assert_eq!(config.max_connections, 7);
        std::fs::write(&path, "lisen = \"127.0.0.1:1\"\n").unwrap();
        let error = Config::resolve(StartOptions { config: Some(path), ..StartOptions::default() }).unwrap_err();
        assert!(error.contains("lisen"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("2097152", 1 << 20), Ok(2 << 20));
        assert_eq!(parse_size("64 MB", 1 << 20), Ok(64 << 20));
        assert_eq!(parse_size("3gb", 1 << 20), Ok(3 << 30));
        for bad in ["", "1kB", "12 apples", "MB", "-1GB", "99999999999999999999GB"] {
            assert!(parse_size(bad, 1 << 20).is_err(), "{bad}");
        }
        assert!(crate::memory_limit::of_this_process() > 1 << 20);
        assert_eq!(parse_size("64kB", 64 << 10), Ok(64 << 10));
        assert_eq!(parse_size("65535", 64 << 10), Err("at least 64kB are needed".to_string()));
        let options = StartOptions { query_memory: Some("lots".into()), ..StartOptions::default() };
        assert!(Config::resolve(options).unwrap_err().starts_with("--query-memory lots: "));
        let options = StartOptions { cache_memory: Some("1MB".into()), ..StartOptions::default() };
        assert_eq!(Config::resolve(options).unwrap_err(), "--cache-memory 1MB: at least 8192kB are needed");
        let options = StartOptions { cache_memory: Some("1GB".into()), ..StartOptions::default() };
        assert_eq!(Config::resolve(options).unwrap().cache_memory, 1 << 30);
    }

    #[test]
    fn half_a_tls_pair_and_unknown_stores_are_refused() {
        let options = StartOptions { tls_cert: Some("a".into()), ..StartOptions::default() };
        assert!(Config::resolve(options).is_err());
        for wrong in ["bigtable://a/b", "bigtable:a/b/c", "postgres"] {
            let options = StartOptions { store: Some(wrong.into()), ..StartOptions::default() };
            let told = Config::resolve(options).unwrap_err();
            assert!(told.starts_with("--store ") && told.contains("bigtable://PROJECT/INSTANCE/TABLE"), "{told}");
        }
        let options = StartOptions { store: Some("bigtable://a/b/c".into()), ..StartOptions::default() };
        let config = Config::resolve(options).unwrap();
        assert_eq!(config.data_location(), "bigtable://a/b/c");
        assert_ne!(config.data_dir, PathBuf::from("./percosql-data"));
    }
}
