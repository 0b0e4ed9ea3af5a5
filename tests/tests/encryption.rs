//! TLS and passwords with a real psql.

use percosql_tests::raw::Raw;
use percosql_tests::{Server, psql};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

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
    // The server reports the TLS parameters that the client sees.
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
    psql(&server, &["-c", "alter role postgres password 'top'"]).success();
    let run = |sql: &str| {
        let (ok, text) = ask(&server, "user=postgres", "top", &[sql]);
        assert!(ok, "{sql}: {text}");
        text
    };
    run("create role ada login password 'secret'");
    assert_eq!(login(&server, "user=ada", "secret"), (true, "ada".into()));
    for wrong in ["Secret", "", "secret "] {
        let (ok, text) = login(&server, "user=ada", wrong);
        assert!(!ok, "{wrong:?}: {text}");
    }
    let refused = |user: &str, password: &str| {
        let (ok, text) = login(&server, &format!("user={user}"), password);
        let says = format!("password authentication failed for user \"{user}\"");
        assert!(!ok && text.contains(&says), "{user}: {text}");
    };
    refused("ada", "wrong");
    run("alter role ada valid until '2001-01-01'");
    refused("ada", "secret");
    run("alter role ada valid until 'infinity'");
    assert_eq!(login(&server, "user=ada", "secret"), (true, "ada".into()));
    // A role without a password cannot log in. It gets the same error as an unknown role.
    run("create role bob login");
    for user in ["bob", "nobody"] {
        refused(user, "x");
        let (ok, text) = login(&server, &format!("user={user}"), "");
        assert!(!ok && text.contains("no password supplied"), "{text}");
    }
    run("create role cid password 'c' nologin");
    let (ok, text) = login(&server, "user=cid", "c");
    assert!(!ok && text.contains("role \"cid\" is not permitted to log in"), "{text}");
    // An empty password clears the password.
    let said = run("alter role ada password ''");
    assert!(said.contains("empty string is not a valid password, clearing password"), "{said}");
    refused("ada", "secret");
    let said = run("alter role postgres password null; alter role cid password null");
    assert_eq!(said, "ALTER ROLE\nALTER ROLE");
    assert_eq!(login(&server, "user=ada", ""), (true, "ada".into()), "no role has one");
}

/// Salt and iterations from SCRAM's server-first message, which follow the nonce.
fn challenge(server: &Server, user: &str) -> String {
    let mut raw = Raw::open(server);
    raw.packet(3 << 16, format!("user\0{user}\0database\0postgres\0\0").as_bytes());
    let asked = raw.reply().expect("an answer");
    assert!(asked.kind == b'R' && asked.body.ends_with(b"SCRAM-SHA-256\0\0"), "{asked:?}");
    let first = b"n,,n=,r=abc";
    raw.send(b'p', &[b"SCRAM-SHA-256\0", &[0, 0, 0, first.len() as u8][..], first].concat());
    let text = String::from_utf8_lossy(&raw.reply().expect("a challenge").body[4..]).into_owned();
    text.split_once(",s=").expect("a salt").1.to_string()
}

#[test]
fn roles_that_do_not_exist_are_asked_for_a_password_like_others() {
    let server = Server::start();
    psql(&server, &["-c", "create role bob login", "-c", "create role ada login password 'secret'"]).success();
    let known = challenge(&server, "ada");
    assert_eq!(challenge(&server, "ada"), known);
    let mut salts = vec![known.clone()];
    for user in ["bob", "nobody", "nobody2"] {
        let salt = challenge(&server, user);
        assert_eq!(challenge(&server, user), salt, "it is the same each time");
        assert_eq!(salt.len(), known.len());
        assert!(salt.ends_with(",i=4096") && !salts.contains(&salt), "{salt} {salts:?}");
        salts.push(salt);
    }
}

#[test]
fn a_password_that_is_lost_can_be_set_anew() {
    let mut server = Server::start();
    psql(&server, &["-c", "create role ada login password 'secret'"]).success();
    assert!(!login(&server, "user=postgres", "").0, "every role needs one");
    server.stop();
    let server = server.restarted_with(&["--trust-loopback"]);
    // openssl listens before it reports readiness.
    let begin = std::time::Instant::now();
    while !server.log().contains("--trust-loopback") {
        assert!(begin.elapsed() < std::time::Duration::from_secs(10), "{}", server.log());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    psql(&server, &["-c", "alter role postgres password 'top'"]).success();
}

#[test]
fn passwords_are_bound_to_the_channel() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = openssl(folder.path());
    let server = Server::start_with(&["--tls-cert", &certificate, "--tls-key", &key]);
    psql(&server, &["-c", "create role ada login password 'secret'"]).success();
    let required = "user=ada sslmode=require channel_binding=require";
    assert_eq!(login(&server, required, "secret"), (true, "ada".into()));
    assert!(!login(&server, required, "wrong").0);
    for other in ["sslmode=require channel_binding=disable", "sslmode=disable channel_binding=prefer"] {
        assert_eq!(login(&server, &format!("user=ada {other}"), "secret"), (true, "ada".into()), "{other}");
    }
    let (ok, text) = login(&server, "user=ada sslmode=disable channel_binding=require", "secret");
    assert!(!ok && text.contains("channel binding"), "{text}");
}

/// The first reply of the server to a start-up packet under direct TLS. Empty if the server closes the connection.
fn direct(server: &Server, arguments: &[&str]) -> Vec<u8> {
    let mut client = Command::new("openssl")
        .args(["s_client", "-quiet", "-connect", &format!("127.0.0.1:{}", server.port())])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("openssl");
    let body = b"\0\x03\0\0user\0postgres\0\0";
    let packet = [&(body.len() as u32 + 4).to_be_bytes()[..], body].concat();
    // A server that refuses may have closed the connection already.
    let _ = client.stdin.as_mut().expect("its input").write_all(&packet);
    let mut first = vec![0; 1];
    let read = client.stdout.as_mut().expect("its output").read(&mut first).expect("an answer or none");
    first.truncate(read);
    let _ = client.kill();
    let _ = client.wait();
    first
}

#[test]
fn tls_may_begin_with_the_first_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = openssl(folder.path());
    let server = Server::start_with(&["--tls-cert", &certificate, "--tls-key", &key]);
    assert_eq!(direct(&server, &["-alpn", "postgresql"]), b"R");
    assert_eq!(direct(&server, &[]), b"", "the protocol has to be named");
    assert_eq!(direct(&server, &["-alpn", "http/1.1"]), b"");
    assert_eq!(direct(&Server::start(), &["-alpn", "postgresql"]), b"");
    assert_eq!(login(&server, "user=postgres sslmode=require", ""), (true, "postgres".into()));
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = openssl(folder.path());
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("a file of ours");
    let refused = Server::try_start_with(&["--tls-cert", &certificate, "--tls-key", &key]).err();
    assert!(refused.is_some_and(|said| said.contains("has group or world access")));
}

#[test]
fn who_has_not_said_who_he_is_can_send_nothing_long() {
    let server = Server::start();
    psql(&server, &["-c", "create role ada login password 'secret'"]).success();
    let mut raw = Raw::open(&server);
    raw.packet(3 << 16, b"user\0ada\0database\0postgres\0\0");
    assert_eq!(raw.reply().map(|reply| reply.kind), Some(b'R'));
    // Only the header of a query of a gigabyte. The server refuses it at once because of its type and length.
    raw.bytes(&[b'Q', 0x3f, 0xff, 0xff, 0xff]);
    let refused = raw.reply().and_then(|reply| reply.field(b'C'));
    assert_eq!(refused.as_deref(), Some("08P01"));
    assert_eq!(raw.reply(), None);
}
