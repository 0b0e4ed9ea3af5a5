CREATE TABLE t (x int) WITH (a = operator(‸1))
CREATE TABLE t (x int) WITH (a = operator(pg_catalog.+), b = setof foo, c = foo.bar%type, d = none, e.f = - 5, g = -, h = *, i = integer[], select = true, j.k)
CREATE TABLE t (x int) WITH (a.b‸.c = 1)
CREATE TABLE t (x int) WITH (‸)
CREATE TABLE t (a int) WITHOUT OIDS ON COMMIT DELETE ROWS TABLESPACE x
VACUUM (analyse, verbose on, foo 5, bar -5.5, baz 'x', freeze true, ‸select 1) t
VACUUM (‸) t
VACUUM (analyse, verbose on, foo 5, bar -5.5, baz 'x', freeze true, a left, x none, y values) t
CREATE TABLE t (a int) ‸WITH TIME
CREATE TYPE t (a = b, c = 5, d = "e")
CREATE TYPE t (‸)
CREATE TABLE t (a int) WITH (fillfactor = 'x', b = true, c = on, toast.d = off, e = 1.5e3, f = bit, g = char(3), h = varying)
CREATE TABLE t (a int) WITH (fillfactor = x ‸y)
CREATE TABLE t (a int) WITH (fillfactor = ‸$1)
CREATE TABLE t (a int) WITH (f = ‸values)
CREATE TYPE t (a‸.b = 1)
