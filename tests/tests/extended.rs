//! Unusual conversations, byte by byte the same with PostgreSQL and with PercoSQL. The replies must be equal too.

use percosql_tests::raw::{Raw, Reply, bind, close, describe, execute, message, parse};
use percosql_tests::{Postgres, Server};
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// The compared parts of a reply: SQLSTATEs, but not message texts.
fn shown(reply: &Reply) -> Option<String> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_string();
    let kind = char::from(reply.kind);
    Some(match kind {
        'S' => return None,
        'E' => format!("E {} {}", reply.field(b'S')?, reply.field(b'C')?),
        'N' => format!("N {} {}", reply.field(b'S')?, reply.field(b'C')?),
        'C' => format!("C {}", text(&reply.body)),
        // Names, types and formats. OIDs of tables differ.
        'T' => {
            let mut rest = reply.body.get(2..)?;
            let mut columns = Vec::new();
            while let Some(end) = rest.iter().position(|byte| *byte == 0) {
                let fixed = rest.get(end + 1..end + 19)?;
                columns.push(format!("{}:{}:{}", text(&rest[..end]), hex(&fixed[6..10]), hex(&fixed[16..18])));
                rest = &rest[end + 19..];
            }
            format!("T {}", columns.join(" "))
        }
        _ => format!("{kind} {}", hex(&reply.body)),
    })
}

/// One step of a conversation.
enum Step {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Reads replies up to ReadyForQuery or the end of the connection.
    Ready,
    /// Reads replies up to one of this type.
    Until(u8),
}

fn converse(port: u16, steps: &[Step]) -> Vec<String> {
    let mut raw = Raw::connect_port(port);
    raw.patience(Duration::from_secs(8));
    let mut lines = Vec::new();
    // A server that does not answer is an outcome too.
    let talked = std::panic::catch_unwind(AssertUnwindSafe(|| talk(&mut raw, steps, &mut lines)));
    if talked.is_err() {
        lines.push("silence".into());
    }
    lines
}

fn talk(raw: &mut Raw, steps: &[Step], lines: &mut Vec<String>) {
    for step in steps {
        match step {
            Step::Send(bytes) => raw.bytes(bytes),
            Step::Ready => {
                let replies = raw.until_ready();
                lines.extend(replies.iter().filter_map(shown));
                if replies.last().is_none_or(|last| last.kind != b'Z') {
                    lines.push("closed".into());
                }
            }
            Step::Until(kind) => {
                while let Some(reply) = raw.reply() {
                    lines.extend(shown(&reply));
                    if reply.kind == *kind {
                        break;
                    }
                }
            }
        }
    }
}

fn query(sql: &str) -> Vec<u8> {
    message(b'Q', &[sql.as_bytes(), b"\0"].concat())
}

fn sync() -> Vec<u8> {
    message(b'S', b"")
}

/// Encodes a Parse with parameter types.
fn typed(name: &str, sql: &str, oids: &[u32]) -> Vec<u8> {
    let mut body = [name.as_bytes(), b"\0", sql.as_bytes(), b"\0"].concat();
    body.extend_from_slice(&(oids.len() as u16).to_be_bytes());
    oids.iter().for_each(|oid| body.extend_from_slice(&oid.to_be_bytes()));
    message(b'P', &body)
}

/// Encodes a Bind with formats and values.
fn bound(portal: &str, statement: &str, formats: &[i16], values: &[Option<&[u8]>], results: &[i16]) -> Vec<u8> {
    let mut body = [portal.as_bytes(), b"\0", statement.as_bytes(), b"\0"].concat();
    let codes = |body: &mut Vec<u8>, codes: &[i16]| {
        body.extend_from_slice(&(codes.len() as u16).to_be_bytes());
        codes.iter().for_each(|code| body.extend_from_slice(&code.to_be_bytes()));
    };
    codes(&mut body, formats);
    body.extend_from_slice(&(values.len() as u16).to_be_bytes());
    for value in values {
        match value {
            None => body.extend_from_slice(&(-1i32).to_be_bytes()),
            Some(value) => {
                body.extend_from_slice(&(value.len() as u32).to_be_bytes());
                body.extend_from_slice(value);
            }
        }
    }
    codes(&mut body, results);
    message(b'B', &body)
}

/// Messages followed by a Sync, and the replies to them.
fn batch(messages: &[Vec<u8>]) -> Vec<Step> {
    vec![Step::Send([messages.concat(), sync()].concat()), Step::Ready]
}

fn simple(sql: &str) -> Vec<Step> {
    vec![Step::Send(query(sql)), Step::Ready]
}

fn all(parts: Vec<Vec<Step>>) -> Vec<Step> {
    parts.into_iter().flatten().collect()
}

const SERIES: &str = "select * from generate_series(1, 5)";

fn portals() -> Vec<(&'static str, Vec<Step>)> {
    let some = |portal: &str, rows| execute(portal, rows);
    vec![
        (
            "a suspended portal across other statements of a block",
            all(vec![
                simple("begin"),
                batch(&[parse("s", SERIES), bind("p", "s"), some("p", 2)]),
                batch(&[parse("", "select 'between'"), bind("", ""), some("", 0), some("p", 1)]),
                simple("select 'simple'"),
                batch(&[some("p", 0), some("p", 0)]),
                batch(&[describe(b'P', "p"), close(b'P', "p"), some("p", 0)]),
                simple("rollback"),
            ]),
        ),
        (
            "a portal ends with its transaction",
            all(vec![
                simple("begin"),
                batch(&[parse("s", SERIES), bind("p", "s"), some("p", 2)]),
                simple("commit"),
                batch(&[some("p", 2)]),
                batch(&[bind("p", "s"), some("p", 2)]),
                batch(&[some("p", 2)]),
            ]),
        ),
        (
            "limits",
            all(vec![
                batch(&[parse("", SERIES), bind("", ""), some("", i32::MAX)]),
                batch(&[bind("", ""), some("", -1)]),
                batch(&[bind("", ""), some("", i32::MIN)]),
                batch(&[bind("", ""), some("", 5), some("", 1)]),
                batch(&[bind("", ""), some("", 6), some("", 6)]),
            ]),
        ),
        (
            "a portal of a write runs once",
            all(vec![
                simple("create table once (a int)"),
                batch(&[parse("", "insert into once values (1)"), bind("p", ""), some("p", 0), some("p", 0)]),
                simple("select count(*) from once"),
                simple("begin"),
                batch(&[
                    parse("", "insert into once select * from generate_series(1, 3) returning a"),
                    bind("p", ""),
                    some("p", 1),
                ]),
                batch(&[some("p", 1), some("p", 1), some("p", 1)]),
                simple("commit; select count(*) from once; drop table once"),
            ]),
        ),
        (
            "an unnamed portal and statement give way to a simple query",
            all(vec![
                simple("begin"),
                batch(&[parse("", "select 1"), bind("", "")]),
                simple("select 2"),
                batch(&[some("", 0)]),
                simple("rollback"),
                batch(&[parse("", "select 1")]),
                simple("select 2"),
                batch(&[bind("", "")]),
            ]),
        ),
        (
            "describe without portals, close twice",
            all(vec![
                batch(&[describe(b'S', "none")]),
                batch(&[describe(b'P', "none")]),
                batch(&[close(b'S', "none"), close(b'P', "none"), close(b'S', "none")]),
                batch(&[parse("a", "select 1"), close(b'S', "a"), bind("", "a")]),
                batch(&[parse("a", "select 1"), bind("p", "a"), close(b'S', "a"), some("p", 0)]),
                batch(&[execute("", 0)]),
                batch(&[]),
            ]),
        ),
    ]
}

fn errors() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        (
            "an error skips up to Sync",
            all(vec![
                simple("create table skip (a int primary key)"),
                batch(&[
                    parse("", "insert into skip values (1)"),
                    bind("", ""),
                    execute("", 0),
                    parse("", "insert into skip values (1)"),
                    bind("", ""),
                    execute("", 0),
                    parse("x", "select 1"),
                    query("select 'skipped'"),
                    message(b'H', b""),
                ]),
                batch(&[bind("", "x")]),
                simple("select count(*) from skip; drop table skip"),
            ]),
        ),
        (
            "a failed block",
            all(vec![
                simple("begin"),
                batch(&[parse("ok", "select 1"), parse("", "select * from nowhere"), bind("", ""), execute("", 0)]),
                batch(&[bind("", "ok")]),
                batch(&[parse("", "select 2")]),
                batch(&[describe(b'S', "ok")]),
                batch(&[parse("", "")]),
                batch(&[parse("r", "rollback"), bind("", "r"), execute("", 0)]),
                batch(&[bind("", "ok"), execute("", 0)]),
            ]),
        ),
        (
            "savepoints heal",
            all(vec![
                simple("begin; savepoint s; select * from nowhere"),
                simple("select 1"),
                simple("savepoint t"),
                simple("release s"),
                simple("rollback to s"),
                simple("select 1"),
                simple("rollback to nosuch"),
                simple("rollback to s; select 2; commit"),
                simple("release s"),
                simple("rollback to s"),
                simple("savepoint s"),
            ]),
        ),
        (
            "portals and savepoints",
            all(vec![
                simple("begin"),
                batch(&[parse("", "select generate_series(1, 9)"), bind("old", ""), execute("old", 2)]),
                simple("savepoint s"),
                batch(&[parse("n", "select generate_series(11, 19)"), bind("new", "n"), execute("new", 2)]),
                batch(&[execute("old", 2)]),
                simple("select * from nowhere"),
                batch(&[execute("old", 2)]),
                simple("rollback to s"),
                batch(&[execute("old", 2)]),
                batch(&[execute("new", 2)]),
                simple("rollback to s"),
                batch(&[bind("again", "n"), execute("again", 2)]),
                batch(&[parse("", "rollback to s"), bind("", ""), execute("", 0), execute("old", 2)]),
                batch(&[execute("again", 2)]),
                simple("rollback to s"),
                batch(&[bind("kept", "n"), execute("kept", 2)]),
                simple("release s"),
                batch(&[execute("kept", 2)]),
                simple("commit"),
                batch(&[execute("old", 2)]),
            ]),
        ),
        (
            "several statements, an error in the middle",
            all(vec![
                simple("create table m (a int)"),
                simple("insert into m values (1); select * from nowhere; insert into m values (2)"),
                simple("select count(*) from m"),
                simple("insert into m values (1); begin; insert into m values (2); select * from nowhere; commit"),
                simple("select count(*) from m"),
                simple("rollback; select count(*) from m"),
                simple("insert into m values (1); commit; insert into m values (2); select * from nowhere"),
                simple("select count(*) from m"),
                simple("begin; insert into m values (3); commit; select count(*) from m; select * from nowhere"),
                simple("select count(*) from m"),
                simple("begin; begin; commit; commit; rollback"),
                simple("insert into m values (9); rollback; select count(*) from m"),
                simple("insert into m values (9); savepoint s"),
                simple(";;select 1;;select 2;"),
                simple(""),
                simple(";"),
                simple("  -- nothing\n /* at all */ "),
                simple("drop table m"),
            ]),
        ),
        (
            "binds that do not fit",
            all(vec![
                batch(&[parse("s", "select $1::int4, $2::text"), describe(b'S', "s")]),
                batch(&[bound("", "s", &[], &[Some(b"1")], &[])]),
                batch(&[bound("", "s", &[], &[Some(b"1"), Some(b"x"), None], &[])]),
                batch(&[bound("", "s", &[0, 0, 0], &[Some(b"1"), Some(b"x")], &[])]),
                batch(&[bound("", "s", &[7], &[Some(b"1"), Some(b"x")], &[])]),
                batch(&[bound("", "s", &[], &[Some(b"1"), Some(b"x")], &[1, 0, 1]), execute("", 0)]),
                batch(&[
                    bound("", "s", &[1, 0], &[Some(b"\0\0\0\x07"), Some(b"x")], &[1]),
                    describe(b'P', ""),
                    execute("", 0),
                ]),
                batch(&[bound("", "s", &[1, 0], &[Some(b"\0\0\x07"), Some(b"x")], &[])]),
                batch(&[bound("", "s", &[1, 0], &[Some(b"\0\0\0\0\x07"), Some(b"x")], &[])]),
                batch(&[bound("", "s", &[], &[Some(b"1x"), Some(b"x")], &[])]),
                batch(&[bound("", "s", &[], &[Some(b"99999999999"), Some(b"x")], &[])]),
                batch(&[bound("", "s", &[], &[None, None], &[1]), execute("", 0)]),
                batch(&[bound("", "s", &[], &[Some(b"1"), Some(b"a\0b")], &[])]),
                batch(&[bound("", "s", &[0, 1], &[Some(b"1"), Some(b"a\0b")], &[])]),
                batch(&[bound("", "s", &[], &[Some(b"1"), Some(b"\xc3\x28")], &[])]),
                batch(&[bound("", "s", &[0, 1], &[Some(b"1"), Some(b"\xff")], &[])]),
                batch(&[bound("", "s", &[], &[Some(b"1"), Some(b"\xed\xa0\x80")], &[])]),
                batch(&[bound("", "s", &[], &[Some(b""), Some(b"")], &[])]),
                batch(&[bound("", "s", &[], &[Some(b" 5 "), Some(b"")], &[]), execute("", 0)]),
            ]),
        ),
        (
            "parameter types",
            all(vec![
                batch(&[typed("", "select $1", &[]), describe(b'S', "")]),
                batch(&[typed("", "select $1", &[25]), describe(b'S', "")]),
                batch(&[typed("", "select $1 + 1", &[]), describe(b'S', "")]),
                batch(&[typed("", "select $1 + 1", &[20]), describe(b'S', "")]),
                batch(&[typed("", "select $2::int", &[0, 0]), describe(b'S', "")]),
                batch(&[typed("", "select $3::int", &[]), describe(b'S', "")]),
                batch(&[typed("", "select 1", &[23, 23]), describe(b'S', "")]),
                batch(&[typed("", "select $0", &[])]),
                batch(&[typed("", "begin", &[]), describe(b'S', ""), bind("", ""), execute("", 0)]),
                batch(&[typed("", "select $1::int", &[23])]),
                simple("rollback"),
                simple("select $1"),
            ]),
        ),
        (
            "texts that are none",
            all(vec![
                vec![Step::Send(message(b'Q', b"select '\xff'\0")), Step::Ready],
                vec![Step::Send(message(b'Q', b"select '\xc3\x28'\0")), Step::Ready],
                batch(&[message(b'P', b"\0select '\xff'\0\0\0")]),
                batch(&[message(b'P', b"\xff\0select 1\0\0\0")]),
                vec![Step::Send(message(b'Q', b"select 1\0select 2\0")), Step::Ready],
                vec![Step::Send(message(b'Q', b"select 1")), Step::Ready],
                vec![Step::Send(message(b'Q', b"")), Step::Ready],
            ]),
        ),
        (
            "messages cut short",
            all(vec![
                batch(&[message(b'P', b"s\0select 1\0\0\x05\0")]),
                batch(&[message(b'P', b"s\0select 1\0\0\0extra")]),
                batch(&[message(b'D', b"X\0")]),
                batch(&[message(b'C', b"X\0")]),
                batch(&[message(b'E', b"\0\0")]),
                batch(&[message(b'D', b"")]),
                simple("select 1"),
            ]),
        ),
    ]
}

fn copies() -> Vec<(&'static str, Vec<Step>)> {
    let data = |bytes: &[u8]| message(b'd', bytes);
    let done = || message(b'c', b"");
    let fail = || message(b'f', b"no\0");
    let begin = || vec![Step::Send(query("copy k from stdin")), Step::Until(b'G')];
    let send = |bytes: Vec<u8>| vec![Step::Send(bytes), Step::Ready];
    let count = || simple("select count(*) from k");
    vec![
        (
            "COPY in the simple protocol",
            all(vec![
                simple("create table k (a int primary key)"),
                begin(),
                send([data(b"1\n2"), data(b"\n"), data(b"3"), done()].concat()),
                count(),
                begin(),
                send([data(b"4\n"), fail()].concat()),
                count(),
                begin(),
                send([data(b"4\n1\n"), data(b"5\n"), done()].concat()),
                count(),
                begin(),
                send([data(b"x\n"), data(b"5\n"), done()].concat()),
                count(),
                begin(),
                send([data(b"6\n"), message(b'H', b""), sync(), data(b"7\n"), done()].concat()),
                count(),
                begin(),
                send([data(b"\xff\n"), done()].concat()),
                count(),
                begin(),
                send([data(b""), done()].concat()),
                count(),
                begin(),
                send([data(b"8\n\\.\n9\n"), done()].concat()),
                count(),
                simple("drop table k"),
            ]),
        ),
        (
            "COPY between statements of one string",
            all(vec![
                simple("create table k (a int primary key)"),
                vec![
                    Step::Send(query("insert into k values (1); copy k from stdin; insert into k values (3)")),
                    Step::Until(b'G'),
                ],
                send([data(b"2\n"), done()].concat()),
                count(),
                vec![
                    Step::Send(query("insert into k values (4); copy k from stdin; insert into k values (6)")),
                    Step::Until(b'G'),
                ],
                send([data(b"1\n"), done()].concat()),
                count(),
                simple("copy (select a from k order by a) to stdout; select 1; copy k to stdout csv header"),
                simple("drop table k"),
            ]),
        ),
        (
            "COPY in the extended protocol",
            all(vec![
                simple("create table k (a int primary key)"),
                vec![Step::Send(
                    [
                        parse("", "copy k from stdin"),
                        describe(b'S', ""),
                        bind("", ""),
                        describe(b'P', ""),
                        execute("", 0),
                    ]
                    .concat(),
                )],
                send([data(b"1\n2\n"), done(), sync()].concat()),
                count(),
                // Drivers send the Sync directly after Execute. The server ignores it while it expects data.
                vec![Step::Send([parse("", "copy k from stdin"), bind("", ""), execute("", 0), sync()].concat())],
                send([data(b"3\n"), done(), sync()].concat()),
                count(),
                vec![Step::Send([parse("", "copy k from stdin"), bind("", ""), execute("", 0)].concat())],
                send([data(b"4\n"), fail(), sync()].concat()),
                count(),
                vec![Step::Send([parse("", "copy k from stdin"), bind("", ""), execute("", 0)].concat())],
                send([data(b"1\n"), data(b"9\n"), done(), sync()].concat()),
                count(),
                batch(&[
                    parse("", "copy k to stdout"),
                    bind("", ""),
                    execute("", 0),
                    parse("", "select 1"),
                    bind("", ""),
                    execute("", 0),
                ]),
                batch(&[parse("", "copy k to stdout"), bind("", ""), execute("", 1)]),
                simple("drop table k"),
            ]),
        ),
        (
            "left-overs of COPY",
            all(vec![
                send([data(b"x"), done(), fail(), query("select 1")].concat()),
                batch(&[data(b"x"), parse("", "select 1"), data(b"y"), bind("", ""), done(), execute("", 0)]),
            ]),
        ),
    ]
}

/// The statements of one query string form a block. Rows precede the error that ends them.
fn blocks() -> Vec<(&'static str, Vec<Step>)> {
    const FAILS: &str = "select 1/(g-3) from generate_series(1,5) g";
    let shows = "show search_path; show transaction_read_only";
    let run = |sql| vec![parse("", sql), bind("", ""), execute("", 0)];
    vec![
        (
            "SET LOCAL among the statements of one text",
            all(vec![
                simple("set local search_path = pg_catalog; show search_path"),
                simple("show search_path"),
                simple("set local search_path = pg_catalog"),
                simple("select 1; set transaction isolation level serializable"),
                simple("set transaction isolation level serializable, read only; show transaction_read_only"),
                simple(&format!("set local search_path = x; commit; {shows}")),
                simple("set local role pg_monitor; select current_user"),
                simple("select current_user; set constraints all deferred"),
                simple("set constraints all deferred"),
                simple(
                    "set search_path = y; set local search_path = x; set local search_path to default; show search_path",
                ),
                simple("show search_path; reset search_path"),
                batch(&[run("set local search_path = z"), run("show search_path")].concat()),
                simple("show search_path"),
            ]),
        ),
        (
            "rows come before the error",
            all(vec![
                simple(FAILS),
                simple(&format!("select 'before'; {FAILS}; select 'behind'")),
                simple(&format!("{FAILS} limit 2")),
                batch(&run(FAILS)),
                batch(&[parse("", FAILS), bind("", ""), execute("", 1), execute("", 1), execute("", 1)]),
                simple("select a / 0 from (values (1), (2)) v (a)"),
                simple("select 10 / a, b / (a - 2) from (values (1, 1), (2, 1), (0, 1)) v (a, b)"),
                simple(&format!("copy ({FAILS}) to stdout")),
            ]),
        ),
        (
            "cursors that fail",
            all(vec![
                simple("begin; declare c cursor for select 1/0"),
                simple("rollback"),
                simple(&format!("begin; declare c cursor for {FAILS}")),
                simple("fetch 2 from c"),
                simple("fetch 2 from c"),
                simple("rollback"),
                simple(&format!("begin; declare c cursor for {FAILS}; savepoint s")),
                simple("fetch 3 from c"),
                simple("rollback to s; fetch 1 from c"),
                simple("rollback"),
                simple(&format!("begin; declare c cursor with hold for {FAILS}")),
                simple("commit"),
                simple(&format!("declare c cursor with hold for {FAILS}")),
                simple("begin; create table held (a int); insert into held values (1), (2)"),
                simple(
                    "declare c cursor with hold for select a from held; insert into held values (3); fetch 1 from c",
                ),
                simple("update held set a = a + 10; commit"),
                simple("fetch all from c; close c; drop table held"),
                simple("begin; declare c cursor for select 'x'::int"),
                simple("rollback; begin; declare c cursor for select count(*)/0 from generate_series(1, 3)"),
                simple("fetch 1 from c"),
                simple("rollback"),
            ]),
        ),
    ]
}

#[test]
fn conversations_go_as_with_postgresql() {
    let (postgres, server) = (Postgres::start(), Server::start());
    let mut wrong = Vec::new();
    for (name, steps) in portals().into_iter().chain(errors()).chain(copies()).chain(blocks()) {
        let (expected, found) = (converse(postgres.port(), &steps), converse(server.port(), &steps));
        if expected != found {
            let at = expected.iter().zip(&found).position(|(e, f)| e != f).unwrap_or(expected.len().min(found.len()));
            let part = |lines: &[String]| {
                lines.iter().skip(at.saturating_sub(4)).take(12).cloned().collect::<Vec<_>>().join("\n    ")
            };
            wrong.push(format!(
                "{name}, line {at}\n  PostgreSQL\n    {}\n  PercoSQL\n    {}",
                part(&expected),
                part(&found)
            ));
        }
    }
    assert!(!server.log().contains("panic"), "{}", server.log());
    assert!(wrong.is_empty(), "{} conversations differ\n{}", wrong.len(), wrong.join("\n"));
}
