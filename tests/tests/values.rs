//! Every type over the protocol in both directions, as binary (tokio-postgres) and as text (simple queries).

use percosql_tests::Server;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut};

/// A value in its binary form, of any type.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wire(Vec<u8>);

impl<'a> FromSql<'a> for Wire {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Wire(raw.to_vec()))
    }
    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ToSql for Wire {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    tokio_postgres::types::to_sql_checked!();
}

/// Type, literal, text form and binary form.
const VALUES: &[(&str, &str, &str, &[u8])] = &[
    ("bool", "true", "t", &[1]),
    ("int2", "-2", "-2", &[0xff, 0xfe]),
    ("int4", "2147483647", "2147483647", &[0x7f, 0xff, 0xff, 0xff]),
    ("int8", "-1", "-1", &[0xff; 8]),
    ("float4", "1.5", "1.5", &[0x3f, 0xc0, 0, 0]),
    ("float8", "-0.1", "-0.1", &[0xbf, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]),
    ("numeric", "0", "0", &[0, 0, 0, 0, 0, 0, 0, 0]),
    ("numeric", "12345.6700", "12345.6700", &[0, 3, 0, 1, 0, 0, 0, 4, 0, 1, 0x09, 0x29, 0x1a, 0x2c]),
    ("numeric", "-0.0001", "-0.0001", &[0, 1, 0xff, 0xff, 0x40, 0, 0, 4, 0, 1]),
    ("numeric(6,2)", "1.5", "1.50", &[0, 2, 0, 0, 0, 0, 0, 2, 0, 1, 0x13, 0x88]),
    ("text", "grüß", "grüß", "grüß".as_bytes()),
    ("varchar(5)", "abc", "abc", b"abc"),
    ("char(5)", "abc", "abc  ", b"abc  "),
    ("bytea", "\\x00ff", "\\x00ff", &[0, 255]),
    ("date", "2000-01-02", "2000-01-02", &[0, 0, 0, 1]),
    ("date", "infinity", "infinity", &[0x7f, 0xff, 0xff, 0xff]),
    ("timestamp", "2000-01-01 00:00:00.000001", "2000-01-01 00:00:00.000001", &[0, 0, 0, 0, 0, 0, 0, 1]),
    ("timestamp", "1999-12-31 23:59:59", "1999-12-31 23:59:59", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xf0, 0xbd, 0xc0]),
    ("timestamptz", "2000-01-01 01:00:00+01", "2000-01-01 00:00:00+00", &[0; 8]),
    (
        "uuid",
        "00010203-0405-0607-0809-0a0b0c0d0e0f",
        "00010203-0405-0607-0809-0a0b0c0d0e0f",
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    ),
];

#[tokio::test]
async fn values_leave_as_text_and_as_binary() {
    let server = Server::start();
    let client = server.connect().await;
    client.batch_execute("set timezone = 'UTC'").await.expect("a setting");
    for (ty, literal, text, binary) in VALUES {
        let sql = format!("select '{literal}'::{ty}, null::{ty}");
        let messages = client.simple_query(&sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        let row = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some((row.get(0).map(str::to_string), row.get(1).map(str::to_string))),
            _ => None,
        });
        assert_eq!(row, Some((Some((*text).to_string()), None)), "{sql}");
        let row = client.query_one(&sql, &[]).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(row.get::<_, Wire>(0).0, *binary, "{sql}");
        assert_eq!(row.get::<_, Option<Wire>>(1), None, "{sql}");
    }
}

#[tokio::test]
async fn binary_parameters_are_stored_and_come_back() {
    let server = Server::start();
    let client = server.connect().await;
    for (number, (ty, _, _, binary)) in VALUES.iter().enumerate() {
        client.batch_execute(&format!("create table v{number} (k int primary key, v {ty})")).await.expect("a table");
        let value = Wire(binary.to_vec());
        let insert = format!("insert into v{number} values ($1, $2), ($3, null)");
        client.execute(&insert, &[&1i32, &value, &2i32]).await.unwrap_or_else(|e| panic!("{insert}: {e:?}"));
        let row = client.query_one(&format!("select v from v{number} where k = $1"), &[&1i32]).await.expect("a row");
        assert_eq!(row.get::<_, Wire>(0), value, "{ty}");
        let row = client.query_one(&format!("select v from v{number} where k = $1"), &[&2i32]).await.expect("a row");
        assert_eq!(row.get::<_, Option<Wire>>(0), None, "{ty}");
    }
}

#[tokio::test]
async fn bad_binary_parameters_are_refused() {
    let server = Server::start();
    let client = server.connect().await;
    for (ty, bytes, state) in [
        ("int4", &[0u8, 1][..], "08P01"),
        ("int4", &[0u8, 1, 2, 3, 4], "22P03"),
        ("text", b"a\0", "22021"),
        ("uuid", &[1], "08P01"),
        ("timestamp", &[0; 9], "22P03"),
    ] {
        let error = client.query(&format!("select $1::{ty}"), &[&Wire(bytes.to_vec())]).await.expect_err(ty);
        assert_eq!(error.code().map(|code| code.code()), Some(state), "{ty}: {error:?}");
    }
    assert_eq!(client.query_one("select 1", &[]).await.expect("still there").get::<_, i32>(0), 1);
}

#[tokio::test]
async fn drivers_know_enums() {
    use tokio_postgres::types::Kind;
    let server = Server::start();
    let client = server.connect().await;
    client.batch_execute("create type mood as enum ('sad', 'ok'); create table m (v mood, a mood[])").await.unwrap();
    let insert = client.prepare("insert into m values ($1, $2)").await.unwrap();
    let [mood, moods] = insert.params() else { panic!("two parameters") };
    let labels = vec!["sad".to_string(), "ok".to_string()];
    assert_eq!((mood.name(), mood.schema(), mood.kind()), ("mood", "public", &Kind::Enum(labels)));
    assert_eq!(moods.kind(), &Kind::Array(mood.clone()));
    // An array of one dimension with one element, `sad`.
    let array =
        [&[0, 0, 0, 1, 0, 0, 0, 0][..], &mood.oid().to_be_bytes(), &[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3], b"sad"];
    let array = Wire(array.concat());
    client.execute(&insert, &[&Wire(b"ok".to_vec()), &array]).await.unwrap();
    let error = client.execute(&insert, &[&Wire(b"none".to_vec()), &array]).await.unwrap_err();
    assert_eq!(error.code().unwrap().code(), "22P02");
    let row = client.query_one("select v, a from m where v = $1", &[&Wire(b"ok".to_vec())]).await.unwrap();
    assert_eq!((row.get::<_, Wire>(0), row.get::<_, Wire>(1)), (Wire(b"ok".to_vec()), array));
    let messages = client.simple_query("select v, a from m").await.unwrap();
    let texts = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some((row.get(0), row.get(1))),
        _ => None,
    });
    assert_eq!(texts, Some((Some("ok"), Some("{sad}"))));
}
