//! Function calls of the protocol, large objects, parameters of type void, and settings from the start in SHOW.

use percosql_tests::Server;
use percosql_tests::raw::{Raw, column, error_state, execute, kinds, message, status};

/// Encodes a call of a function by its OID. All arguments have one format.
fn call(function: u32, format: i16, arguments: &[Option<&[u8]>], result_format: i16) -> Vec<u8> {
    let mut body = function.to_be_bytes().to_vec();
    body.extend([1_i16.to_be_bytes(), format.to_be_bytes()].concat());
    body.extend((arguments.len() as i16).to_be_bytes());
    for argument in arguments {
        body.extend(argument.map_or(-1, |bytes| bytes.len() as i32).to_be_bytes());
        body.extend(argument.unwrap_or_default());
    }
    body.extend(result_format.to_be_bytes());
    body
}

#[test]
fn functions_are_called_by_number() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    let mut answer = |body: Vec<u8>| {
        raw.send(b'F', &body);
        let replies = raw.until_ready();
        match kinds(&replies).as_str() {
            "VZ" => Ok(replies[0].body.clone()),
            _ => Err(error_state(&replies)),
        }
    };
    // upper(text) in text and in binary, int4pl(int4, int4), and a NULL argument of a strict function.
    assert_eq!(answer(call(871, 0, &[Some(b"abc")], 0)), Ok(b"\0\0\0\x03ABC".to_vec()));
    assert_eq!(answer(call(871, 1, &[Some(b"abc")], 1)), Ok(b"\0\0\0\x03ABC".to_vec()));
    let sum = answer(call(177, 1, &[Some(b"\0\0\0\x02"), Some(b"\0\0\0\x03")], 1));
    assert_eq!(sum, Ok(b"\0\0\0\x04\0\0\0\x05".to_vec()));
    assert_eq!(answer(call(871, 0, &[None], 0)), Ok(b"\xff\xff\xff\xff".to_vec()));
    // An unknown function, a wrong number of arguments, an aggregate, and an error of the function itself.
    assert_eq!(answer(call(1, 0, &[], 0)), Err("42883".to_string()));
    assert_eq!(answer(call(871, 0, &[], 0)), Err("08P01".to_string()));
    assert_eq!(answer(call(2108, 0, &[Some(b"1")], 0)), Err("22023".to_string()));
    assert_eq!(answer(call(177, 0, &[Some(b"2147483647"), Some(b"1")], 0)), Err("22003".to_string()));
    // A large object stays open within a transaction. A call outside a block is a transaction of its own.
    let oid = answer(call(715, 0, &[Some(b"0")], 0)).expect("a large object")[4..].to_vec();
    assert_eq!(answer(call(952, 0, &[Some(&oid), Some(b"393216")], 0)), Ok(b"\0\0\0\x010".to_vec()));
    assert_eq!(answer(call(955, 0, &[Some(b"0"), Some(b"x")], 0)), Err("42704".to_string()));
    raw.query("begin");
    let mut answer = |body: Vec<u8>| {
        raw.send(b'F', &body);
        let replies = raw.until_ready();
        assert_eq!((kinds(&replies).as_str(), status(&replies)), ("VZ", 'T'));
        replies[0].body[4..].to_vec()
    };
    assert_eq!(answer(call(952, 0, &[Some(&oid), Some(b"393216")], 0)), b"0");
    assert_eq!(answer(call(955, 1, &[Some(b"\0\0\0\0"), Some(b"hello")], 1)), b"\0\0\0\x05");
    assert_eq!(answer(call(956, 0, &[Some(b"0"), Some(b"1"), Some(b"0")], 0)), b"1");
    assert_eq!(answer(call(954, 1, &[Some(b"\0\0\0\0"), Some(b"\0\0\0\x03")], 1)), b"ell");
    raw.query("commit");
    let read = format!("select lo_get({})", String::from_utf8_lossy(&oid));
    assert_eq!(column(&raw.query(&read)), ["\\x68656c6c6f"]);
    raw.query("begin");
    raw.query("select 1 / 0");
    raw.send(b'F', &call(871, 0, &[Some(b"abc")], 0));
    let replies = raw.until_ready();
    assert_eq!((error_state(&replies).as_str(), status(&replies)), ("25P02", 'E'));
}

/// Runs a statement with parameters of these types in text. Answers the first value of each row.
fn with_types(raw: &mut Raw, sql: &str, parameters: &[(u32, Option<&str>)]) -> Result<Vec<String>, String> {
    let count = (parameters.len() as i16).to_be_bytes();
    let mut types = [&b"\0"[..], sql.as_bytes(), b"\0", &count].concat();
    let mut values = [&b"\0\0\0\0"[..], &count].concat();
    for (oid, value) in parameters {
        types.extend(oid.to_be_bytes());
        values.extend(value.map_or(-1, |text| text.len() as i32).to_be_bytes());
        values.extend(value.unwrap_or_default().as_bytes());
    }
    values.extend([0, 0]);
    raw.bytes(&[message(b'P', &types), message(b'B', &values), execute("", 0)].concat());
    let replies = raw.sync();
    if replies.iter().any(|reply| reply.kind == b'E') { Err(error_state(&replies)) } else { Ok(column(&replies)) }
}

#[test]
fn parameters_of_type_void_are_left_out_of_calls() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    const VOID: u32 = 2278;
    let both = [(VOID, None), (1043, Some("abc"))];
    for sql in [
        "select * from upper($1, $2) as result",
        "select upper($1, $2)",
        "select upper($2, $1)",
        "select * from rows from (upper($1, $2)) as r",
        "select max(upper($1, $2)) from (select 1) x",
    ] {
        assert_eq!(with_types(&mut raw, sql, &both), Ok(vec!["ABC".to_string()]), "{sql}");
    }
    let rows = with_types(&mut raw, "select count(*) from generate_series($1, 1, 3)", &[(VOID, None)]);
    assert_eq!(rows, Ok(vec!["3".to_string()]));
    // A void parameter counts as absent, and no function upper() without arguments exists.
    assert_eq!(with_types(&mut raw, "select upper($1)", &[(VOID, None)]), Err("42883".to_string()));
}

#[test]
fn a_large_object_is_read_as_it_was_when_it_was_opened() {
    let server = Server::start();
    let (mut raw, mut other) = (Raw::connect(&server), Raw::connect(&server));
    raw.query("select lo_from_bytea(5000, 'before')");
    for level in ["repeatable read", "read committed"] {
        raw.query("select lo_put(5000, 0, 'before')");
        raw.query(&format!("begin isolation level {level}"));
        assert_eq!(column(&raw.query("select lo_open(5000, 262144)")), ["0"]);
        other.query("select lo_put(5000, 0, 'behind')");
        assert_eq!(column(&raw.query("select encode(loread(0, 100), 'escape')")), ["before"], "{level}");
        raw.query("rollback");
        assert_eq!(column(&raw.query("select encode(lo_get(5000), 'escape')")), ["behind"]);
    }
    // Two writers of one page conflict, as do a writer and a removal. One of the two fails.
    for (first, second) in
        [("lo_put(5000, 0, 'a')", "lo_put(5000, 1, 'b')"), ("lo_put(5000, 5000, 'a')", "lo_unlink(5000)")]
    {
        raw.query("begin isolation level repeatable read");
        raw.query(&format!("select {first}"));
        other.query(&format!("select {second}"));
        assert_eq!(error_state(&raw.query("commit")), "40001", "{first} beside {second}");
    }
    assert_eq!(error_state(&raw.query("select lo_get(5000)")), "42704");
    assert_eq!(column(&raw.query("select count(*) from pg_largeobject")), ["0"]);
    // Each database has its own large objects.
    raw.query("select lo_create(5001)");
    raw.query("create database other");
    let mut other =
        Raw::try_connect_with(server.port(), &["user", "postgres", "database", "other"]).expect("a connection");
    assert_eq!(error_state(&other.query("select lo_get(5001)")), "42704");
    other.query("select lo_from_bytea(5001, 'x')");
    assert_eq!(column(&raw.query("select length(lo_get(5001))")), ["0"]);
    raw.query("create role owning");
    other.query("alter large object 5001 owner to owning");
    assert_eq!(error_state(&raw.query("drop role owning")), "2BP01");
    drop(other);
    raw.query("drop database other with (force)");
    assert_eq!(kinds(&raw.query("drop role owning")), "CZ");
}

#[test]
fn what_the_server_was_started_with_is_shown() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    assert_eq!(column(&raw.query("show port")), [server.port().to_string()]);
    assert_eq!(column(&raw.query("show listen_addresses")), ["127.0.0.1"]);
    let folder = column(&raw.query("show data_directory")).pop().unwrap_or_default();
    assert!(std::path::Path::new(&folder).is_absolute() && std::path::Path::new(&folder).is_dir(), "{folder}");
    let row = "select setting = reset_val and source = 'override' from pg_settings where name = 'data_directory'";
    assert_eq!(column(&raw.query(row)), ["t"]);
    raw.query("create role plain");
    raw.query("set role plain");
    assert_eq!(column(&raw.query("show port")), [server.port().to_string()]);
    assert_eq!(error_state(&raw.query("show data_directory")), "42501");
    assert!(!column(&raw.query("show all")).iter().any(|name| name == "data_directory"));
}
