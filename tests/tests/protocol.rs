//! The wire protocol over bare sockets, with valid and invalid messages.

use percosql_tests::Server;
use percosql_tests::raw::{Raw, bind, close, column, describe, error_state, execute, kinds, message, parse, status};
use std::time::{Duration, Instant};

fn batch(raw: &mut Raw, messages: &[Vec<u8>]) -> Vec<percosql_tests::raw::Reply> {
    raw.bytes(&messages.concat());
    raw.sync()
}

#[test]
fn encryption_is_declined_and_the_connection_goes_on() {
    let server = Server::start();
    let mut raw = Raw::open(&server);
    raw.packet(80_877_104, b"");
    assert_eq!(raw.byte(), b'N');
    raw.packet(80_877_103, b"");
    assert_eq!(raw.byte(), b'N');
    raw.packet(3 << 16, b"user\0postgres\0\0");
    let replies = raw.until_ready();
    assert_eq!(replies[0].kind, b'R');
    assert_eq!(status(&replies), 'I');
}

#[test]
fn start_up_tells_what_clients_need() {
    let server = Server::start();
    let raw = Raw::connect(&server);
    let value = |name: &str| {
        raw.parameters.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str()).unwrap_or_else(|| panic!("{name}"))
    };
    assert!(value("server_version").starts_with("15"), "{}", value("server_version"));
    assert_eq!(value("server_encoding"), "UTF8");
    assert_eq!(value("client_encoding"), "UTF8");
    assert_eq!(value("integer_datetimes"), "on");
    assert_eq!(value("standard_conforming_strings"), "on");
    assert_eq!(value("is_superuser"), "on");
    assert_eq!(value("session_authorization"), "postgres");
    assert_eq!(value("DateStyle"), "ISO, MDY");
    for name in ["IntervalStyle", "TimeZone", "application_name", "default_transaction_read_only", "in_hot_standby"] {
        value(name);
    }
    assert_ne!(raw.key.0, 0);
    assert_eq!(raw.key.1.len(), 4);
}

#[test]
fn newer_protocols_and_unknown_options_are_negotiated() {
    let server = Server::start();
    let mut raw = Raw::open(&server);
    raw.packet(3 << 16 | 9999, b"user\0postgres\0_pq_.wishes\0on\0\0");
    let replies = raw.until_ready();
    assert_eq!(replies[0].kind, b'v', "{}", kinds(&replies));
    assert_eq!(replies[0].body, b"\0\x03\0\x02\0\0\0\x01_pq_.wishes\0");
    let key = replies.iter().find(|reply| reply.kind == b'K').unwrap();
    assert!(key.body.len() > 8, "a long secret in protocol 3.2");
}

#[test]
fn bad_starts_are_refused() {
    let server = Server::start();
    let refused = |bytes: &[u8]| {
        let mut raw = Raw::open(&server);
        raw.bytes(bytes);
        let replies = raw.until_ready();
        let error = replies.iter().find(|reply| reply.kind == b'E').expect("an error");
        assert_eq!(error.field(b'S').unwrap(), "FATAL");
        error_state(&replies)
    };
    let packet =
        |version: u32, body: &[u8]| [&(body.len() as u32 + 8).to_be_bytes()[..], &version.to_be_bytes(), body].concat();
    assert_eq!(refused(&packet(3 << 16, b"user\0nobody\0\0")), "28000");
    assert_eq!(refused(&packet(3 << 16, b"user\0postgres\0database\0nowhere\0\0")), "3D000");
    assert_eq!(refused(&packet(3 << 16, b"\0")), "28000");
    assert_eq!(refused(&packet(3 << 16, b"user\0postgres")), "08P01");
    assert_eq!(refused(&packet(2 << 16, b"user\0postgres\0\0")), "0A000");
    assert_eq!(refused(&u32::MAX.to_be_bytes()), "08P01");
    assert_eq!(refused(&4u32.to_be_bytes()), "08P01");
    assert_eq!(refused(&100_000u32.to_be_bytes()), "08P01");
    // A client that speaks HTTP.
    assert_eq!(refused(b"GET / HTTP/1.1\r\n\r\n"), "08P01");
    assert!(Raw::connect(&server).query("select 1").len() == 4);
}

#[test]
fn several_statements_share_one_implicit_transaction() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    assert_eq!(kinds(&raw.query("create table t (a int primary key)")), "CZ");
    assert_eq!(kinds(&raw.query("")), "IZ");
    assert_eq!(kinds(&raw.query("select 1; select 2")), "TDCTDCZ");
    let replies = raw.query("insert into t values (1); select * from nowhere; insert into t values (2)");
    assert_eq!(kinds(&replies), "CEZ");
    assert_eq!(error_state(&replies), "42P01");
    assert_eq!(column(&raw.query("select count(*) from t")), ["0"]);
    // Statements that cannot be undone are refused in a batch.
    for alone in ["vacuum", "create database d", "drop database d", "discard all"] {
        for sql in [format!("{alone}; select 1"), format!("select 1; {alone}")] {
            assert_eq!(error_state(&raw.query(&sql)), "25001", "{sql}");
        }
    }
    assert_eq!(kinds(&raw.query("vacuum")), "CZ");
}

#[test]
fn ready_for_query_tells_the_transactions_state() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    assert_eq!(status(&raw.query("begin")), 'T');
    assert_eq!(status(&raw.query("selec")), 'E');
    let replies = raw.query("select 1");
    assert_eq!((error_state(&replies).as_str(), status(&replies)), ("25P02", 'E'));
    assert_eq!(status(&raw.query("rollback")), 'I');
}

#[test]
fn the_extended_protocol_describes_runs_and_closes() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    let replies = batch(
        &mut raw,
        &[
            parse("s", "select 41 + 1 as answer"),
            describe(b'S', "s"),
            bind("p", "s"),
            describe(b'P', "p"),
            execute("p", 0),
            close(b'P', "p"),
            close(b'P', "never there"),
        ],
    );
    assert_eq!(kinds(&replies), "1tT2TDC33Z");
    assert_eq!(column(&replies), ["42"]);
    // The statement outlives the batch. The portal's name is free again.
    assert_eq!(kinds(&batch(&mut raw, &[bind("p", "s"), execute("p", 0)])), "2DCZ");
    assert_eq!(kinds(&batch(&mut raw, &[parse("", ""), describe(b'S', ""), bind("", ""), execute("", 0)])), "1tn2IZ");
}

#[test]
fn after_an_error_everything_is_skipped_until_sync() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    let replies = batch(
        &mut raw,
        &[
            parse("", "selec 1"),
            bind("", ""),
            execute("", 0),
            message(b'Q', b"select 1\0"),
            message(b'H', b""),
            parse("x", "select 1"),
        ],
    );
    assert_eq!(kinds(&replies), "EZ");
    assert_eq!(error_state(&replies), "42601");
    assert_eq!(error_state(&batch(&mut raw, &[bind("", "x")])), "26000");
    assert_eq!(kinds(&raw.query("select 1")), "TDCZ");
}

#[test]
fn errors_do_not_wait_for_sync() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    let flush = || message(b'H', b"");
    let waiting = [
        (vec![parse("", "select nope"), describe(b'S', ""), flush()], "42703", "E"),
        (vec![describe(b'S', "nobody"), flush()], "26000", "E"),
        (vec![parse("", "select 1/0"), bind("", ""), execute("", 0), flush()], "22012", "12E"),
        (vec![parse("", "select 1"), bind("nameless", "nobody"), flush()], "26000", "1E"),
        // The same error reaches a client that forgets the Flush.
        (vec![parse("", "select nope")], "42703", "E"),
        // Later messages are skipped, including their errors.
        (vec![parse("", "select nope"), parse("", "selec"), message(b'Q', b"selec\0"), flush(), flush()], "42703", "E"),
    ];
    for (messages, state, expected) in waiting {
        raw.bytes(&messages.concat());
        let replies: Vec<_> = expected.chars().map(|_| raw.reply().expect("a reply")).collect();
        assert_eq!((kinds(&replies).as_str(), error_state(&replies).as_str()), (expected, state));
        assert_eq!(kinds(&raw.sync()), "Z", "once is enough");
    }
    // The way in which asyncpg asks for a statement's shape. After the error no message follows until Sync, whatever
    // the client sends.
    raw.bytes(&[parse("s", "select * from nowhere where a = $1"), describe(b'S', "s"), flush()].concat());
    assert_eq!(raw.reply().map(|reply| reply.kind), Some(b'E'));
    raw.bytes(&[parse("", "select 1"), bind("", ""), execute("", 0), flush()].concat());
    assert_eq!(kinds(&raw.sync()), "Z");
    raw.bytes(&[parse("s", "select 1"), describe(b'S', "s"), flush()].concat());
    let replies: Vec<_> = (0..3).map(|_| raw.reply().expect("a reply")).collect();
    assert_eq!(kinds(&replies), "1tT");
    assert_eq!(kinds(&batch(&mut raw, &[bind("", "s"), execute("", 0)])), "2DCZ");
}

#[test]
fn a_conflict_is_told_only_where_nobody_runs_the_batch_again() {
    let server = Server::start();
    let (mut raw, mut other) = (Raw::connect(&server), Raw::connect(&server));
    raw.query("create table t (a int primary key, n int)");
    raw.query("insert into t values (1, 0)");
    let counted = "update t set n = n + 1";
    let run = |sql: &str| [parse("", sql), bind("", ""), execute("", 0)].concat();
    let barrier = |raw: &mut Raw, expected: &str| {
        raw.send(b'H', b"");
        let replies: Vec<_> = expected.chars().map(|_| raw.reply().expect("a reply")).collect();
        assert_eq!(kinds(&replies), expected);
        replies
    };
    // The client saw no reply, so the server repeats the batch after the conflict.
    raw.bytes(&[parse("", counted), bind("", "")].concat());
    raw.bytes(&run("select n from t"));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(kinds(&other.query(counted)), "CZ");
    raw.bytes(&run(counted));
    assert_eq!(kinds(&raw.sync()), "1212DC12CZ");
    assert_eq!(column(&raw.query("select n from t")), ["2"]);
    // The client has seen the first answer, so the server must report the conflict. It does so at the client's next
    // Flush.
    raw.bytes(&run("select n from t"));
    assert_eq!(column(&barrier(&mut raw, "12DC")), ["2"]);
    assert_eq!(kinds(&other.query(counted)), "CZ");
    raw.bytes(&run(counted));
    assert_eq!(error_state(&barrier(&mut raw, "12E")), "40001");
    assert_eq!(kinds(&raw.sync()), "Z");
    // The client saw no reply but sends a Flush in the middle. The server then reports the conflict that it kept for
    // Sync.
    raw.bytes(&run("select n from t"));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(kinds(&other.query(counted)), "CZ");
    raw.bytes(&run(counted));
    raw.send(b'H', b"");
    let mut replies = Vec::new();
    while replies.last().is_none_or(|reply: &percosql_tests::raw::Reply| reply.kind != b'E') {
        replies.push(raw.reply().expect("a reply"));
    }
    assert_eq!(error_state(&replies), "40001");
    assert_eq!(kinds(&raw.sync()), "Z");
    assert_eq!(column(&raw.query("select n from t")), ["4"]);
}

#[test]
fn rows_of_a_binary_copy_come_one_a_message_behind_the_header() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    let data = |raw: &mut Raw, sql: &str| -> Vec<Vec<u8>> {
        let replies = raw.query(sql);
        replies.into_iter().filter(|reply| reply.kind == b'd').map(|reply| reply.body).collect()
    };
    let header = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
    let row = |value: u8| vec![0, 1, 0, 0, 0, 4, 0, 0, 0, value];
    let trailer = vec![0xff, 0xff];
    let rows = data(&mut raw, "copy (select * from generate_series(1, 3)) to stdout (format binary)");
    assert_eq!(rows, [[header.to_vec(), row(1)].concat(), row(2), row(3), trailer.clone()]);
    let none = data(&mut raw, "copy (select 1 where false) to stdout (format binary)");
    assert_eq!(none, [[header.to_vec(), trailer].concat()]);
}

#[test]
fn names_in_use_and_names_unknown_have_their_states() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    let state = |raw: &mut Raw, messages: &[Vec<u8>]| error_state(&batch(raw, messages));
    assert_eq!(kinds(&batch(&mut raw, &[parse("s", "select 1")])), "1Z");
    assert_eq!(state(&mut raw, &[parse("s", "select 1")]), "42P05");
    assert_eq!(state(&mut raw, &[bind("p", "s"), bind("p", "s")]), "42P03");
    assert_eq!(state(&mut raw, &[bind("", "t")]), "26000");
    assert_eq!(state(&mut raw, &[describe(b'S', "t")]), "26000");
    assert_eq!(state(&mut raw, &[describe(b'P', "t")]), "34000");
    assert_eq!(state(&mut raw, &[execute("t", 0)]), "34000");
    assert_eq!(state(&mut raw, &[parse("", "select 1; select 2")]), "42601");
    // Portals end with their transaction, here at Sync.
    assert_eq!(kinds(&batch(&mut raw, &[bind("p", "s")])), "2Z");
    assert_eq!(state(&mut raw, &[execute("p", 0)]), "34000");
}

#[test]
fn portals_stop_at_their_row_limit_and_go_on() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    raw.query("begin");
    let replies = batch(&mut raw, &[parse("", "select * from generate_series(1, 5)"), bind("p", ""), execute("p", 2)]);
    assert_eq!((kinds(&replies).as_str(), column(&replies)), ("12DDsZ", vec!["1".to_string(), "2".to_string()]));
    // In a block the portal survives Sync.
    let replies = batch(&mut raw, &[execute("p", 2), execute("p", 2), execute("p", 2)]);
    assert_eq!(kinds(&replies), "DDsDCCZ");
    assert_eq!(column(&replies), ["3", "4", "5"]);
    raw.query("commit");
    assert_eq!(error_state(&batch(&mut raw, &[execute("p", 2)])), "34000");
}

#[test]
fn portals_of_one_batch_do_not_disturb_each_other() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    raw.query("create table t (a int primary key)");
    let replies = batch(
        &mut raw,
        &[
            parse("i", "insert into t values (1)"),
            parse("s", "select 7"),
            bind("first", "i"),
            bind("second", "s"),
            execute("first", 0),
            execute("second", 0),
        ],
    );
    assert_eq!(kinds(&replies), "1122CDCZ");
    // An error after an insert undoes the whole batch.
    let replies =
        batch(&mut raw, &[parse("", "insert into t values (2)"), bind("", ""), execute("", 0), parse("", "selec")]);
    assert_eq!(kinds(&replies), "12CEZ");
    assert_eq!(column(&raw.query("select count(*) from t")), ["1"]);
}

#[test]
fn extreme_row_limits_are_safe() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    for limit in [i32::MAX, i32::MIN, -1, 0] {
        let replies =
            batch(&mut raw, &[parse("", "select * from generate_series(1, 1000)"), bind("", ""), execute("", limit)]);
        assert_eq!(column(&replies).len(), 1000, "limit {limit}");
        assert_eq!(status(&replies), 'I');
    }
}

#[test]
fn malformed_messages_are_errors_and_the_server_lives() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    let bodies: [(u8, &[u8]); 14] = [
        (b'P', b""),
        (b'P', b"s"),
        (b'P', b"s\0select 1\0\0\x05\0"),
        (b'P', b"s\0select 1\0\xff\xff"),
        (b'P', b"\0select 1\0\0\0more"),
        (b'B', b"\0\0\0\x09"),
        (b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xff\0\0"),
        (b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0"),
        (b'B', b"\0\0\0\0\xff\xff\0\0"),
        (b'D', b"X\0"),
        (b'D', b""),
        (b'E', b"\0\0"),
        (b'C', b"S"),
        (b'P', b"\0\xc3\x28\0\0\0"),
    ];
    for (kind, body) in bodies {
        let replies = batch(&mut raw, &[message(kind, body)]);
        let state = error_state(&replies);
        assert!(state == "08P01" || state == "22021", "{} {body:?}: {state}", kind as char);
        assert_eq!(status(&replies), 'I');
    }
    // A Sync with a body is an error too, and it undoes the messages before it.
    raw.query("create table s (a int)");
    let insert = [parse("", "insert into s values (1)"), bind("", ""), execute("", 0), message(b'S', b"\0")];
    raw.bytes(&insert.concat());
    let replies = raw.until_ready();
    assert_eq!((kinds(&replies).as_str(), error_state(&replies).as_str(), status(&replies)), ("12CEZ", "08P01", 'I'));
    assert_eq!(column(&raw.query("select count(*) from s")), ["0"]);
    assert_eq!(error_state(&raw.query("select \u{1}")), "42601");
    raw.send(b'Q', b"select 1");
    assert_eq!(error_state(&raw.until_ready()), "08P01");
    for body in
        [&b"\0\0\0\0"[..], b"\0\0\x03\xbb\0\0\0\x01\0\0\0\x09\0", b"\0\0\x03\x67\0\0\0\x01\xff\xff\xff\xff\0\0more"]
    {
        raw.send(b'F', body);
        assert_eq!(error_state(&raw.until_ready()), "08P01", "{body:?}");
    }
    // Rest of a failed COPY, which the server ignores.
    raw.send(b'd', b"data");
    raw.send(b'c', b"");
    raw.send(b'f', b"why\0");
    assert_eq!(kinds(&raw.query("select 1")), "TDCZ");
}

#[test]
fn hopeless_messages_close_the_connection_with_an_error() {
    let server = Server::start();
    let hopeless: [&[u8]; 6] =
        [b"\0\0\0\0\x04", b"?\0\0\0\x04", b"Q\0\0\0\0", b"Q\xff\xff\xff\xff", b"Q\x7f\xff\xff\xff", b"p\0\0\0\x04"];
    for bytes in hopeless {
        let mut raw = Raw::connect(&server);
        raw.bytes(bytes);
        let replies = raw.until_ready();
        assert_eq!(error_state(&replies), "08P01", "{bytes:?}");
        assert_eq!(kinds(&replies), "E");
        assert!(raw.reply().is_none());
    }
    // An incomplete message takes no memory and does not disturb other clients.
    let mut raw = Raw::connect(&server);
    raw.bytes(b"Q\x3f\xff\xff\xff");
    drop(raw);
    assert_eq!(kinds(&Raw::connect(&server).query("select 1")), "TDCZ");
}

#[test]
fn noise_never_stops_the_server() {
    let server = Server::start();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..50 {
        let mut raw = Raw::connect(&server);
        for _ in 0..20 {
            let kind = b"QPBDCEHSdcfF"[(next() % 12) as usize];
            let body: Vec<u8> = (0..next() % 30).map(|_| if next() % 3 == 0 { next() as u8 } else { 0 }).collect();
            raw.send(kind, &body);
        }
        raw.send(b'X', b"");
        while raw.reply().is_some() {}
    }
    assert_eq!(kinds(&Raw::connect(&server).query("select 1")), "TDCZ");
    assert!(!server.log().contains("panic"), "{}", server.log());
}

#[test]
fn formats_must_fit() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    let two = parse("", "select 1, 2");
    let formats = |codes: &[u8]| {
        let count = (codes.len() as u16).to_be_bytes();
        let codes: Vec<u8> = codes.iter().flat_map(|code| [0, *code]).collect();
        message(b'B', &[b"\0\0\0\0\0\0", &count[..], &codes].concat())
    };
    let state = |raw: &mut Raw, bind: Vec<u8>| error_state(&batch(raw, &[two.clone(), bind]));
    assert_eq!(state(&mut raw, formats(&[0, 1, 0])), "08P01");
    assert_eq!(state(&mut raw, formats(&[7])), "22023");
    // A parameter that the statement does not have.
    assert_eq!(state(&mut raw, message(b'B', b"\0\0\0\0\0\x01\0\0\0\x011\0\0")), "08P01");
    let replies = batch(&mut raw, &[two.clone(), formats(&[0, 1]), execute("", 0)]);
    assert_eq!(replies[2].body, b"\0\x02\0\0\0\x011\0\0\0\x04\0\0\0\x02");
}

#[test]
fn cancel_stops_rows_that_stream() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    raw.send(b'Q', b"select * from generate_series(1, 1000000000)\0");
    assert_eq!(raw.reply().unwrap().kind, b'T');
    let cancel = |secret: &[u8]| {
        let body = [&raw.key.0.to_be_bytes()[..], secret].concat();
        Raw::open(&server).packet(80_877_102, &body);
    };
    cancel(b"nope");
    cancel(&raw.key.1.clone());
    let begin = Instant::now();
    loop {
        let reply = raw.reply().unwrap();
        if reply.kind == b'E' {
            assert_eq!(reply.field(b'C').unwrap(), "57014");
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "not cancelled");
    }
    assert_eq!(status(&raw.until_ready()), 'I');
    assert_eq!(kinds(&raw.query("select 1")), "TDCZ");
}

#[test]
fn a_copy_that_the_client_gives_up_is_57014() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    raw.query("create table t (a int)");
    raw.send(b'Q', b"copy t from stdin\0");
    assert_eq!(raw.reply().unwrap().kind, b'G');
    raw.send(b'd', b"1\n2\n");
    raw.send(b'f', b"changed my mind\0");
    assert_eq!(error_state(&raw.until_ready()), "57014");
    raw.send(b'Q', b"copy t from stdin\0");
    assert_eq!(raw.reply().unwrap().kind, b'G');
    raw.send(b'd', b"1\n2");
    raw.send(b'd', b"\n");
    raw.send(b'c', b"");
    assert_eq!(kinds(&raw.until_ready()), "CZ");
    let replies = raw.query("copy t to stdout");
    assert_eq!(kinds(&replies), "HddcCZ");
    assert_eq!(replies[1].body, b"1\n");
    raw.send(b'Q', b"copy t from stdin\0");
    assert_eq!(raw.reply().unwrap().kind, b'G');
    raw.send(b'Q', b"select 1\0");
    assert_eq!(error_state(&raw.until_ready()), "08P01");
    assert_eq!(column(&raw.query("select count(*) from t")), ["2"]);
}

#[test]
fn too_many_connections_are_refused() {
    let server = Server::start_with(&["--max-connections", "2"]);
    let first = Raw::connect(&server);
    let _second = Raw::connect(&server);
    let mut third = Raw::open(&server);
    third.packet(3 << 16, b"user\0postgres\0\0");
    assert_eq!(error_state(&third.until_ready()), "53300");
    drop(first);
    let begin = Instant::now();
    loop {
        let mut raw = Raw::open(&server);
        raw.packet(3 << 16, b"user\0postgres\0\0");
        if !raw.until_ready().iter().any(|reply| reply.kind == b'E') {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "the place was not given back");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn superusers_have_places_of_their_own() {
    let server = Server::start_with(&["--max-connections", "5"]);
    let mut admin = Raw::connect(&server);
    admin.query("create role ada login");
    let shown = ["max_connections", "superuser_reserved_connections", "authentication_timeout", "port"]
        .map(|name| column(&admin.query(&format!("show {name}"))).concat());
    assert_eq!(shown, ["5".to_string(), "3".to_string(), "1min".to_string(), server.port().to_string()]);
    let user = |name: &str| {
        let mut raw = Raw::open(&server);
        raw.packet(3 << 16, format!("user\0{name}\0database\0postgres\0\0").as_bytes());
        let replies = raw.until_ready();
        (raw, replies)
    };
    let (_ada, replies) = user("ada");
    assert_eq!(status(&replies), 'I');
    let (_, replies) = user("ada");
    let refused = replies.last().expect("an error").clone();
    assert_eq!(refused.field(b'C').as_deref(), Some("53300"));
    assert!(refused.field(b'M').is_some_and(|says| says.starts_with("remaining connection slots are reserved for")));
    let admins: Vec<_> = (0..3).map(|_| user("postgres")).collect();
    assert!(admins.iter().all(|(_, replies)| status(replies) == 'I'));
    assert_eq!(error_state(&user("postgres").1), "53300");
}

#[test]
fn sockets_that_say_nothing_lock_nobody_out() {
    let mut server = Server::start_with(&["--max-connections", "2"]);
    let mut silent: Vec<Raw> = (0..150).map(|_| Raw::open(&server)).collect();
    let mut raw = Raw::connect(&server);
    assert_eq!(kinds(&raw.query("select 1")), "TDCZ");
    assert_eq!(silent[0].reply(), None, "it gave way to newer ones");
    let newest = silent.last_mut().expect("a socket");
    newest.packet(3 << 16, b"user\0postgres\0\0");
    assert_eq!(status(&newest.until_ready()), 'I');
    // They do not delay the stop of the server either.
    let begin = Instant::now();
    assert_eq!(server.stop(), Some(0));
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
}
