"""Asks a server for values of every type through psycopg 3 and prints what came back, a line each.

Usage: psycopg_types.py PORT. Run against PostgreSQL and PercoSQL, the output is to be the same.
"""

import datetime as dt
import sys
import uuid
from decimal import Decimal

import psycopg
from psycopg.types.json import Json, Jsonb

# Literals of each type; each is read as text and as binary, by itself and as the element of an array.
LITERALS = {
    "bool": ["t", "false", "on"],
    '"char"': ["a", ""],
    "int2": ["-32768", "32767"],
    "int4": ["-2147483648", "0"],
    "int8": ["-9223372036854775808", "9223372036854775807"],
    "float4": ["1.1", "-0", "NaN", "infinity", "3.4028235e38", "1e-45"],
    "float8": ["0.1", "1e300", "-Infinity", "5e-324", "123456789.123456789"],
    "numeric": ["0", "-0.00", "1e100", "NaN", "Infinity", "-infinity", "12345678901234567890.0123456789", "0.00001"],
    "numeric(7,3)": ["1.5", "-9999.9994"],
    "text": ["", "grüß 🐘", "a\\b\"c,{}"],
    "varchar(4)": ["abc", "ab  "],
    "char(4)": ["ab", ""],
    "name": ["pg_class"],
    "bytea": ["\\x", "\\x00ff5c", "a\\\\b\\001"],
    "date": ["2000-01-01", "0044-03-15 BC", "infinity", "-infinity", "5874897-12-31"],
    "time": ["00:00", "24:00", "12:34:56.789012"],
    "time(2)": ["12:34:56.789"],
    "timetz": ["12:00+02", "23:59:59.999999-12:30"],
    "timestamp": ["2000-01-01", "1999-12-31 23:59:59.999999", "infinity", "4713-01-01 BC", "294246-12-31 23:59:59"],
    "timestamp(3)": ["2020-02-29 12:00:00.1235"],
    "timestamptz": ["2000-01-01 12:00+05:30", "-infinity", "1900-01-01 00:00:00+00"],
    "interval": ["1 year 2 months -3 days 04:05:06.7", "0", "-1 microsecond", "P1Y2M3DT4H5M6S"],
    "uuid": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    "json": ['{"b": 1,  "a": [1, null]}', "null"],
    "jsonb": ['{"b": 1,  "a": [1, null, 2.50]}', '"x"', "1e3"],
    "oid": ["4294967295"],
    "regclass": ["pg_type"],
    "regtype": ["timestamp with time zone"],
    "mood": ["sad", "it's"],
}

# Values that psycopg sends by their Python type; each as text and as binary.
VALUES = [
    ("bool", True),
    ("int2", 7),
    ("int4", -70000),
    ("int8", 1 << 40),
    ("float8", 0.1),
    ("float4", 2.5),
    ("numeric", Decimal("123456789012345678901234567890.000100")),
    ("numeric", Decimal("-0.5")),
    ("numeric", Decimal("NaN")),
    ("text", "grüß\n\t'\\"),
    ("varchar", "x"),
    ("bytea", bytes(range(256))),
    ("date", dt.date(1, 1, 1)),
    ("date", dt.date(9999, 12, 31)),
    ("time", dt.time(23, 59, 59, 999999)),
    ("timetz", dt.time(1, 2, 3, tzinfo=dt.timezone(dt.timedelta(hours=-8)))),
    ("timestamp", dt.datetime(1970, 1, 1, 0, 0, 0, 1)),
    ("timestamptz", dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc)),
    ("interval", dt.timedelta(days=-1, seconds=3, microseconds=5)),
    ("uuid", uuid.UUID(int=0x1234567890ABCDEF)),
    ("json", Json({"a": [1, 2.5, None, "ü"]})),
    ("jsonb", Jsonb({"a": [1, 2.5, None, "ü"], "b": {}})),
    ("int4[]", [1, None, 3]),
    ("int8[]", [1 << 40]),
    ("text[]", ["a", "", "NULL", "it's, {so}", None]),
    ("numeric[]", [Decimal("1.50"), Decimal("0")]),
    ("bool[]", [True, False]),
    ("date[]", [dt.date(2024, 1, 1)]),
    ("timestamptz[]", [dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc)]),
    ("uuid[]", [uuid.UUID(int=1)]),
    ("bytea[]", [b"\\x00", b"\x00"]),
    ("float8[]", [0.1, float("inf")]),
    ("int4[]", [[1, 2], [3, None]]),
    ("text[]", [[["a", "b c"]], [["", None]]]),
    ("numeric[]", [[Decimal("1.50")], [Decimal("-2")]]),
    ("mood", "sad"),
]

# Arrays of several dimensions and with bounds, each read as text and as binary.
ARRAYS = {
    "int4[]": ["{{1,2},{3,NULL}}", "[0:1]={7,8}", "[-1:0][2:3]={{1,2},{3,4}}", "{}", "{{{1},{2}}}"],
    "text[]": ['{{a,"b c"},{NULL,"NULL"}}', '[2:2]={"x,{}"}'],
    "numeric[]": ["{{1.50},{NaN}}"],
}


def raw(cursor):
    """The bytes of each column as they came."""
    result = cursor.pgresult
    values = [result.get_value(0, column) for column in range(result.nfields)]
    return [None if value is None else bytes(value).hex() for value in values]


def literals(connection):
    for name, texts in LITERALS.items():
        for text in texts:
            for binary in (False, True):
                with connection.cursor(binary=binary) as cursor:
                    cursor.execute(f"select %t::text::{name}, array[%t::text::{name}, null], null::{name}", (text, text))
                    value, array, null = raw(cursor)
                    # The number of a user's type is the server's own.
                    told = "" if binary and name == "mood" else array
                    print(name, text, "binary" if binary else "text", value, told, null)


def arrays(connection):
    for number, (name, texts) in enumerate(ARRAYS.items()):
        connection.execute(f"create table s{number} (v {name})")
        for text in texts:
            for binary in (False, True):
                with connection.cursor(binary=binary) as cursor:
                    cursor.execute(f"select %t::text::{name}, array_dims(%t::text::{name})", (text, text))
                    print(name, text, "binary" if binary else "text", raw(cursor))
            # What came as bytes goes back as it is.
            with connection.cursor(binary=True) as cursor:
                cursor.execute(f"select %t::text::{name}", (text,))
                came = bytes(cursor.pgresult.get_value(0, 0))
                sent = connection.pgconn.exec_params(
                    f"insert into s{number} values ($1) returning v::text".encode(),
                    [came],
                    [cursor.pgresult.ftype(0)],
                    [1],
                )
                print(name, text, sent.get_value(0, 0), sent.error_message.decode())
        with connection.cursor() as cursor:
            with cursor.copy(f"copy (select v from s{number} order by v) to stdout") as copy:
                print(name, b"".join(bytes(part) for part in copy))


def values(connection):
    for number, (name, value) in enumerate(VALUES):
        connection.execute(f"create table v{number} (k int primary key, v {name})")
        for key, form in enumerate(("%t", "%b")):
            for binary in (False, True):
                if name == "mood" and (binary or form == "%b"):
                    # The driver does not know the type: it would be bytes.
                    continue
                with connection.cursor(binary=binary) as cursor:
                    cursor.execute(f"insert into v{number} values (%s, {form})", (2 * key + binary, value))
                    cursor.execute(f"select v from v{number} where k = %s", (2 * key + binary,))
                    back = cursor.fetchone()[0]
                    sent = value.obj if isinstance(value, (Json, Jsonb)) else value
                    same = back == sent or (isinstance(value, Decimal) and value.is_nan() and back.is_nan())
                    print(name, repr(sent), form, binary, "same" if same else f"DIFFERENT {back!r}")


def uses(connection):
    """What programs do with the driver beside single statements."""
    connection.execute("create table items (id serial primary key, name text not null unique, price numeric(8,2))")
    with connection.transaction():
        with connection.cursor() as cursor:
            rows = [(f"item {number}", Decimal(number) / 4) for number in range(500)]
            cursor.executemany("insert into items (name, price) values (%s, %s) returning id", rows, returning=True)
            ids = [cursor.fetchone()[0]]
            while cursor.nextset():
                ids.append(cursor.fetchone()[0])
            print("executemany", ids[0], ids[-1], len(ids))
    try:
        with connection.transaction():
            connection.execute("insert into items (name) values ('new')")
            try:
                with connection.transaction():
                    connection.execute("insert into items (name) values ('item 3')")
            except psycopg.errors.UniqueViolation as error:
                print("savepoint", error.sqlstate, error.diag.constraint_name, error.diag.message_detail)
            print("within", connection.execute("select count(*) from items").fetchone())
            raise psycopg.Rollback()
    finally:
        print("after", connection.execute("select count(*) from items").fetchone())
    with connection.pipeline() as pipeline:
        cursors = [connection.execute("select name from items where id = %s", (number,)) for number in (1, 2, 3)]
        pipeline.sync()
        print("pipeline", [cursor.fetchone() for cursor in cursors])
    with connection.transaction(), connection.cursor(name="big", scrollable=True) as cursor:
        cursor.execute("select id, price from items order by id")
        print("cursor", cursor.fetchmany(2), cursor.scroll(100), cursor.fetchone(), len(cursor.fetchall()))
        cursor.scroll(0, mode="absolute")
        print("back", cursor.fetchone())
    with connection.cursor() as cursor:
        with cursor.copy("copy items (name, price) from stdin") as copy:
            copy.set_types(["text", "numeric"])
            for number in range(3):
                copy.write_row((f"copied\t{number}\\", None if number == 1 else Decimal("1.5")))
        print("copied", cursor.rowcount)
        with cursor.copy("copy (select name, price from items where name like 'copied%%' order by name) to stdout") as copy:
            print("copy out", list(copy.rows()))
    with connection.cursor() as cursor:
        for _ in range(7):
            # From the sixth time on it is a prepared statement.
            cursor.execute("select price from items where name = %s", ("item 8",))
        print("prepared", cursor.fetchone())
    with connection.cursor() as cursor:
        # Small numbers go as int2, and the column is int4: the list is long and its members are cast.
        marks = ", ".join(["%s"] * 2000)
        cursor.execute(f"select count(*) from generate_series(1, 3000) g where g in ({marks})", list(range(2000)))
        print("long list", cursor.fetchone())
        for numbers in ((1, 2, 3, 4, 5), (6, 7, 8, 9, 10)) * 4:
            cursor.execute("select g from generate_series(1, 9) g where g in (%s, %s, %s, %s, %s) order by g", numbers)
            print("list", cursor.fetchall())
    try:
        connection.execute("select 1 / %s", (0,))
    except psycopg.errors.DivisionByZero as error:
        print("error", error.diag.severity_nonlocalized, error.diag.message_primary)
    print("done", connection.info.transaction_status, connection.info.encoding, connection.info.server_version // 10000)


def main():
    with psycopg.connect(f"host=127.0.0.1 port={sys.argv[1]} user=postgres dbname=postgres", autocommit=True) as connection:
        connection.execute("set timezone = 'UTC'")
        connection.execute("create type mood as enum ('sad', 'it''s')")
        literals(connection)
        arrays(connection)
        values(connection)
        uses(connection)


main()
