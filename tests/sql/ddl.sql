-- Tables, indexes, schemas, sequences.
create table t (a int, b text, c int default 5);
insert into t values (1, 'one'), (2, 'two'), (3, null);
create index t_b on t (b desc) include (c);
create unique index t_a on t (a);
create unique index if not exists t_a on t (a);
create unique index t_a on t (a);
insert into t values (1, 'dup');
select a from t where b = 'two';
select a, b, c from t order by b desc, a;
alter table t add primary key (a);
alter table t add column d int;
alter table t add column e text default 'new';
select * from t order by a;
alter table t drop column c;
alter table t rename column e to f;
alter table t rename to u;
select * from u order by a;
insert into u values (3, 'x', 1, 'y');
insert into u (a) values (null);
drop table t;
drop table if exists t;
create table u (a int);
create table if not exists u (a int);
create schema s;
create table s.inner_table (a int primary key, b int unique);
insert into s.inner_table values (1, 2);
select * from s.inner_table;
drop schema s;
drop schema s cascade;
select * from s.inner_table;
create sequence q start 10 increment 5;
select nextval('q'), nextval('q'), currval('q');
select setval('q', 100), nextval('q');
drop sequence q;
select nextval('q');
create table w (a int primary key, a int);
create table w (a nosuchtype);
create table w (a int check (a > 0), constraint odd check (a % 2 = 1));
insert into w values (0);
insert into w values (2);
insert into w values (3);
begin;
create table rolled (a int);
insert into rolled values (1);
rollback;
select * from rolled;
create table n (a int);
insert into n values (1), (1);
create unique index n_a on n (a);
alter table n add primary key (a);
truncate n;
alter table n add primary key (a);
drop index n_pkey;
drop table u, w;
-- A default that names its sequence by type is tied to it too.
create sequence tied;
create table takes (a int default nextval('tied'::regclass));
drop sequence tied;
drop table takes;
drop sequence tied;

-- Options of databases.
CREATE ROLE of_databases;
CREATE DATABASE opted WITH OWNER = of_databases ENCODING 'UTF8' TEMPLATE template0 CONNECTION LIMIT 3 IS_TEMPLATE false ALLOW_CONNECTIONS true TABLESPACE pg_default;
CREATE DATABASE opted_too ENCODING DEFAULT TEMPLATE DEFAULT OWNER DEFAULT CONNECTION LIMIT DEFAULT LOCALE DEFAULT STRATEGY = file_copy;
CREATE DATABASE opted_3 OWNER nosuch;
CREATE DATABASE opted_3 TEMPLATE nosuch;
CREATE DATABASE opted_3 ENCODING 'nope';
CREATE DATABASE opted_3 ENCODING 99;
CREATE DATABASE opted_3 CONNECTION LIMIT -2;
CREATE DATABASE opted_3 CONNECTION LIMIT 2.5;
CREATE DATABASE opted_3 IS_TEMPLATE maybe;
CREATE DATABASE opted_3 TABLESPACE nosuch;
CREATE DATABASE opted_3 TABLESPACE pg_global;
CREATE DATABASE opted_3 STRATEGY foo;
CREATE DATABASE opted_3 LOCALE_PROVIDER icu;
CREATE DATABASE opted_3 ICU_LOCALE 'en';
CREATE DATABASE opted_3 foo 1;
CREATE DATABASE opted_3 OWNER postgres OWNER postgres;
CREATE DATABASE opted OWNER postgres;
BEGIN;
CREATE DATABASE opted_3 OWNER postgres;
ROLLBACK;
ALTER DATABASE opted WITH CONNECTION LIMIT 5 IS_TEMPLATE true;
DROP DATABASE opted;
ALTER DATABASE opted TABLESPACE pg_default;
ALTER DATABASE opted SET TABLESPACE pg_default;
ALTER DATABASE opted SET TABLESPACE nosuch;
ALTER DATABASE opted IS_TEMPLATE false ALLOW_CONNECTIONS false;
ALTER DATABASE opted foo 1;
SELECT datname, pg_get_userbyid(datdba), encoding, datistemplate, datallowconn, datconnlimit FROM pg_database WHERE datname LIKE 'opted%' ORDER BY 1;
DROP DATABASE opted WITH (FORCE);
DROP DATABASE opted_too (force, force);
DROP DATABASE IF EXISTS opted_too;
BEGIN;
DROP DATABASE opted_too;
ROLLBACK;
DROP DATABASE template1;
DROP ROLE of_databases;

-- Who may be given a table, and what goes along.
CREATE ROLE giver;
CREATE ROLE taker;
CREATE TABLE given (id serial, a int GENERATED ALWAYS AS IDENTITY);
ALTER TABLE given OWNER TO giver;
SELECT relname, pg_get_userbyid(relowner) FROM pg_class WHERE relname LIKE 'given%' ORDER BY 1;
SET ROLE giver;
ALTER TABLE given OWNER TO taker;
RESET ROLE;
GRANT taker TO giver;
SET ROLE giver;
ALTER TABLE given OWNER TO taker;
RESET ROLE;
GRANT CREATE ON SCHEMA public TO taker;
SET ROLE giver;
ALTER TABLE given OWNER TO taker;
RESET ROLE;
SELECT relname, pg_get_userbyid(relowner) FROM pg_class WHERE relname LIKE 'given%' ORDER BY 1;
DROP TABLE given;
REVOKE ALL ON SCHEMA public FROM taker;
DROP ROLE giver, taker;
CREATE ROLE IF NOT EXISTS giver;

-- ALTER INDEX renames any relation; nothing is selected into a table.
CREATE TABLE called_so (a int);
CREATE VIEW called_view AS SELECT a FROM called_so;
ALTER INDEX called_so RENAME TO called_otherwise;
ALTER INDEX called_view RENAME TO called_view_otherwise;
ALTER INDEX called_otherwise SET (fillfactor = 70);
SELECT INTO called_nothing FROM called_otherwise;
SELECT INTO called_none;
SELECT count(*) FROM called_none;
SELECT 1 FOR UPDATE;
SELECT (SELECT 2 FOR SHARE) AS x FOR NO KEY UPDATE;
SELECT 1 FOR SHARE OF x;
DROP TYPE int4;
DROP TYPE IF EXISTS text CASCADE;
DROP TYPE int4, nope;
DROP TYPE nope.int4;
DROP DOMAIN int4;
DROP TYPE pg_class;

-- What a column's new type means for how it is stored; NOT NULL of identity columns.
CREATE TABLE retyped (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a text, b numeric);
ALTER TABLE retyped ALTER a SET STORAGE external, ALTER b SET STORAGE external;
ALTER TABLE retyped ALTER a TYPE varchar(3), ALTER b TYPE int;
SELECT attname, attstorage FROM pg_attribute WHERE attrelid = 'retyped'::regclass AND attnum > 0 ORDER BY attnum;
ALTER TABLE retyped ALTER id DROP NOT NULL;

-- Temporary tables and FOREIGN KEYs.
CREATE TEMP TABLE emptied (a int PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE kept (a int REFERENCES emptied);
CREATE TEMP TABLE emptied_too (a int REFERENCES emptied) ON COMMIT DELETE ROWS;

-- NULLS NOT DISTINCT of a constraint with a name.
CREATE TABLE nulls_once (a int, b int, CONSTRAINT once UNIQUE NULLS NOT DISTINCT (a), UNIQUE NULLS NOT DISTINCT (b), CONSTRAINT often UNIQUE NULLS DISTINCT (a, b));
\d nulls_once
INSERT INTO nulls_once VALUES (NULL, 1), (NULL, 2);
INSERT INTO nulls_once VALUES (1, NULL), (2, NULL);

-- A CHECK is named after the one column that it names, wherever it stands.
CREATE TABLE checked (a int CHECK (true), b int CHECK (checked.a > b), c int CHECK (c > 0 AND c < 5), CHECK (c <> 3));
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'checked'::regclass ORDER BY 1;
-- Operator classes that are not a type's default.
CREATE TABLE classed (a text, b varchar(5), c char(3), d int);
CREATE UNIQUE INDEX classed_a ON classed (a text_pattern_ops DESC);
CREATE INDEX classed_b ON classed (b varchar_pattern_ops, lower(a) text_pattern_ops, c bpchar_pattern_ops, d int4_ops, a text_ops);
SELECT indexdef FROM pg_indexes WHERE tablename = 'classed' ORDER BY 1;
SELECT indexrelid::regclass, indclass::text FROM pg_index WHERE indrelid = 'classed'::regclass ORDER BY 1::text;
ALTER TABLE classed ADD UNIQUE USING INDEX classed_a;
ALTER TABLE classed ALTER b TYPE int USING 1;
CREATE TABLE classed_too (LIKE classed INCLUDING INDEXES);
SELECT indexdef FROM pg_indexes WHERE tablename = 'classed_too' ORDER BY 1;
CREATE INDEX classed_v ON classed (b varchar_ops);
SELECT pg_get_indexdef('classed_v'::regclass);
