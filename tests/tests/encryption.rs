//! TLS and passwords, with real psql.

use percosql_tests::raw::Raw;
use percosql_tests::{Server, psql};
use std::process::Command;

fn openssl(folder: &std::path::Path) -> (String, String) {
    let (certificate, key) = (folder.join("server.crt"), folder.join("server.key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .expect("openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (certificate.display().to_string(), key.display().to_string())
}

fn login(server: &Server, settings: &str, password: &str) -> (bool, String) {
    ask(server, settings, password, &["select current_user"])
}

fn ask(server: &Server, settings: &str, password: &str, commands: &[&str]) -> (bool, String) {
    let settings = format!("host=127.0.0.1 port={} dbname=postgres {settings}", server.port());
    let output = Command::new("psql")
        .args(["-X", "-At", "-w"])
        .args(commands.iter().flat_map(|command| ["-c", command]))
        .arg(&settings)
        .env("PGPASSWORD", password)
        .output()
        .expect("psql");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), text.trim().to_string())
}

#[test]
fn tls_is_spoken_where_it_is_configured() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = openssl(folder.path());
    let server = Server::start_with(&["--tls-cert", &certificate, "--tls-key", &key]);
    assert_eq!(login(&server, "user=postgres sslmode=require", ""), (true, "postgres".into()));
    let verified = format!("user=postgres sslmode=verify-full sslrootcert={certificate}");
    assert_eq!(login(&server, &verified, ""), (true, "postgres".into()));
    assert_eq!(login(&server, "user=postgres sslmode=disable", ""), (true, "postgres".into()));
    // What the server says of it is what the client found.
    let shown = "select format('protocol: %s, cipher: %s', version, cipher) from pg_stat_ssl where bits in (128, 256)";
    for version in ["TLSv1.2", "TLSv1.3"] {
        let settings = format!("user=postgres sslmode=require ssl_min_protocol_version={version}");
        let settings = format!("{settings} ssl_max_protocol_version={version}");
        let (ok, text) = ask(&server, &settings, "", &[shown, "\\conninfo"]);
        let (says, knows) = text.split_once('\n').unwrap_or_default();
        assert!(ok && says.contains(version) && knows.contains(says), "{text}");
    }
    let (_, clear) = ask(&server, "user=postgres sslmode=disable", "", &["select ssl, version from pg_stat_ssl"]);
    assert_eq!(clear, "f|");
    let plain = Server::start();
    let (ok, text) = login(&plain, "user=postgres sslmode=require", "");
    assert!(!ok && text.contains("SSL"), "{text}");
}

#[test]
fn a_role_with_a_password_must_give_it() {
    let server = Server::start();
    psql(&server, &["-c", "create role ada login password 'secret'"]).success();
    assert_eq!(login(&server, "user=ada", "secret"), (true, "ada".into()));
    for wrong in ["Secret", "", "secret "] {
        let (ok, text) = login(&server, "user=ada", wrong);
        assert!(!ok, "{wrong:?}: {text}");
    }
    let (_, text) = login(&server, "user=ada", "wrong");
    assert!(text.contains("password authentication failed for user \"ada\""), "{text}");
    psql(&server, &["-c", "alter role ada valid until '2001-01-01'"]).success();
    let (ok, text) = login(&server, "user=ada", "secret");
    assert!(!ok && text.contains("password authentication failed for user \"ada\""), "{text}");
    psql(&server, &["-c", "alter role ada valid until 'infinity'"]).success();
    assert_eq!(login(&server, "user=ada", "secret"), (true, "ada".into()));
    // Nobody else was asked for one.
    assert_eq!(login(&server, "user=postgres", ""), (true, "postgres".into()));
}

#[test]
fn who_has_not_said_who_he_is_can_send_nothing_long() {
    let server = Server::start();
    psql(&server, &["-c", "create role ada login password 'secret'"]).success();
    let mut raw = Raw::open(&server);
    raw.packet(3 << 16, b"user\0ada\0database\0postgres\0\0");
    assert_eq!(raw.reply().map(|reply| reply.kind), Some(b'R'));
    // A query of a gigabyte, of which only the head comes: it is refused by its first byte.
    raw.bytes(&[b'Q', 0x3f, 0xff, 0xff, 0xff]);
    let refused = raw.reply().and_then(|reply| reply.field(b'C'));
    assert_eq!(refused.as_deref(), Some("08P01"));
    assert_eq!(raw.reply(), None);
}
