//! Settings that name the server's files, sockets and certificates. The server supplies their values at start. A value
//! is empty if the server has no such file, as in PostgreSQL.

use super::registry::{Changeable, Definition, Kind, Unit};

const fn started(name: &'static str, default: &'static str, description: &'static str) -> Definition {
    Definition { name, default, kind: Kind::Text, changeable: Changeable::AtServerStart, reported: false, description }
}

const fn configured(name: &'static str, default: &'static str, description: &'static str) -> Definition {
    Definition { changeable: Changeable::ByConfiguration, ..started(name, default, description) }
}

const fn preset(name: &'static str, default: &'static str, description: &'static str) -> Definition {
    Definition { changeable: Changeable::Never, ..started(name, default, description) }
}

/// The settings, by the group that shows them.
pub const GROUPS: &[(&str, &[Definition])] = &[
    (
        "File Locations",
        &[
            started("config_file", "", "Sets the server's main configuration file."),
            started("data_directory", "", "Sets the server's data directory."),
            started("external_pid_file", "", "Writes the postmaster PID to the specified file."),
            started("hba_file", "", "Is empty: roles and passwords alone say who may connect."),
            started("ident_file", "", "Is empty: names of the operating system are not asked for."),
        ],
    ),
    (
        "Connections and Authentication / Authentication",
        &[configured("krb_server_keyfile", "", "Is empty: there is no Kerberos.")],
    ),
    (
        "Connections and Authentication / Connection Settings",
        &[
            started("listen_addresses", "localhost", "Sets the host name or IP address(es) to listen to."),
            started("port", "5432", "Sets the TCP port the server listens on."),
            started("unix_socket_directories", "", "Is empty: the server listens on no Unix-domain sockets."),
            started("unix_socket_group", "", "Is empty: the server listens on no Unix-domain sockets."),
        ],
    ),
    (
        "Connections and Authentication / SSL",
        &[
            configured("ssl", "off", "Enables SSL connections."),
            configured("ssl_ca_file", "", "Is empty: certificates of clients are not asked for."),
            configured("ssl_cert_file", "", "Location of the SSL server certificate file."),
            configured("ssl_crl_dir", "", "Is empty: certificates of clients are not asked for."),
            configured("ssl_crl_file", "", "Is empty: certificates of clients are not asked for."),
            configured("ssl_dh_params_file", "", "Is empty: keys are agreed upon by elliptic curves alone."),
            configured("ssl_key_file", "", "Location of the SSL server private key file."),
            configured("ssl_max_protocol_version", "", "Is empty: the newest version that the client has is taken."),
            configured("ssl_min_protocol_version", "TLSv1.2", "Sets the minimum SSL/TLS protocol version to use."),
            configured("ssl_passphrase_command", "", "Is empty: the key is read without a passphrase."),
            configured("ssl_prefer_server_ciphers", "off", "The client's order of ciphers is followed."),
        ],
    ),
    (
        "Preset Options",
        &[
            preset("data_directory_mode", "0700", "Shows the mode of the data directory."),
            preset("ssl_library", "rustls", "Shows the name of the SSL library."),
        ],
    ),
    (
        "Autovacuum",
        &[Definition {
            kind: Kind::Int { min: -1, max: 100, unit: Unit::Milliseconds },
            ..configured("autovacuum_vacuum_cost_delay", "2ms", super::registry::NO_EFFECT)
        }],
    ),
];
