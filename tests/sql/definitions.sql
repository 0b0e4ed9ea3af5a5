-- What the catalog says of expressions: constraints, defaults, generated columns, indexes.
create type defmood as enum ('sad', 'ok', 'happy');
create table def (
  a int primary key, b bigint, s smallint, n numeric, n2 numeric(10,2), f float8, r real, t text, v varchar(10), c char(5),
  d date, ts timestamp, tz timestamptz, i interval, u uuid, j json, jb jsonb, x bytea, bo boolean, m defmood, ai int[], at text[],
  tm time, av varchar(10)[], constraint c65 check (a between symmetric 10 and 1));
alter table def add constraint c01 check (n > 0);
alter table def add constraint c02 check (n2 >= 0 and n2 < 100);
alter table def add constraint c03 check (a > 0 and b > 0 and s > 0);
alter table def add constraint c04 check (a > 0 and (b > 0 and s > 0));
alter table def add constraint c05 check (a > 0 or b > 0 and s > 0);
alter table def add constraint c06 check (a between 1 and 10);
alter table def add constraint c07 check (a not between 1 and 10 and b > 1);
alter table def add constraint c08 check (t in ('a', 'b', 'c'));
alter table def add constraint c09 check (v in ('a', 'b'));
alter table def add constraint c10 check (c in ('a', 'b'));
alter table def add constraint c11 check (a in (1, 2, 3));
alter table def add constraint c12 check (a in (1));
alter table def add constraint c13 check (a not in (1, 2));
alter table def add constraint c14 check (b in (1, 2));
alter table def add constraint c15 check (n in (1, 2.5));
alter table def add constraint c16 check (t like 'a%');
alter table def add constraint c17 check (t not like 'a%' and v ilike 'b_');
alter table def add constraint c18 check (v ~ '^[a-z]+$');
alter table def add constraint c19 check (t is not null and v is null);
alter table def add constraint c20 check (bo);
alter table def add constraint c21 check (not bo);
alter table def add constraint c22 check (bo is true or bo is unknown);
alter table def add constraint c23 check (length(t) < 10);
alter table def add constraint c24 check (lower(v) = v);
alter table def add constraint c25 check (v = 'x');
alter table def add constraint c26 check (d > '2020-01-01');
alter table def add constraint c27 check (d > date '2020-1-2');
alter table def add constraint c28 check (ts < '2030-01-01 10:00');
alter table def add constraint c29 check (extract(year from d) > 2000);
alter table def add constraint c30 check (coalesce(t, v, 'x') <> '');
alter table def add constraint c31 check (case when a > 0 then b > 0 else s > 0 end);
alter table def add constraint c32 check (case a when 1 then 'x' when 2 then 'y' end = t);
alter table def add constraint c33 check (m = 'sad' or m in ('ok', 'happy'));
alter table def add constraint c34 check (ai[1] > 0 and array_length(ai, 1) = 2);
alter table def add constraint c35 check (a = any (ai));
alter table def add constraint c36 check (t = any (array['a', 'b']));
alter table def add constraint c37 check (t = any ('{a,b}'));
alter table def add constraint c38 check (a > all (array[1, b]));
alter table def add constraint c39 check (jb ->> 'x' = 'y' and jb ? 'z');
alter table def add constraint c40 check (a + b * 2 > s - 1);
alter table def add constraint c41 check ((a + b) * 2 > -5);
alter table def add constraint c42 check (a::text = t);
alter table def add constraint c43 check (cast(t as varchar(5)) = v);
alter table def add constraint c44 check (n::int = 5);
alter table def add constraint c45 check (f > 1.5 and f < 10);
alter table def add constraint c46 check (a is distinct from b);
alter table def add constraint c47 check (a is not distinct from 3);
alter table def add constraint c48 check ((a, b) = (1, 2));
alter table def add constraint c49 check ((a, b) < (1, 2));
alter table def add constraint c50 check (t || v <> 'x');
alter table def add constraint c51 check (substring(t from 1 for 2) = 'ab' and substring(t, 1, 2) = 'ab' and substr(t, 2) = 'b');
alter table def add constraint c52 check (position('a' in t) > 0 and strpos(t, 'a') > 0);
alter table def add constraint c53 check (trim(t) = t and trim(leading 'x' from t) = t and btrim(t, 'y') = t);
alter table def add constraint c54 check (greatest(a, b) > least(s, 1) and nullif(a, 0) = 1);
alter table def add constraint c55 check (tz at time zone 'UTC' > ts);
alter table def add constraint c56 check (d + 1 > d and d + interval '1 day' > ts);
alter table def add constraint c57 check (i > interval '1 day 2 hours');
alter table def add constraint c58 check (u <> '6f5cd3c5-2c3b-4b9e-9a5e-0e4e5a3f0c11');
alter table def add constraint c59 check (x <> '\x00ff');
alter table def add constraint c60 check (bo = true and bo <> 'f');
alter table def add constraint c61 check (a % 2 = 0 and -a < 0 and @ a > 0 and a ^ 2 > 0);
alter table def add constraint c62 check (t similar to '(a|b)%');
alter table def add constraint c63 check (n > 10000000000 and b > 10000000000 and n > 1e3);
alter table def add constraint c64 check (round(n, 2) = n and round(f) = f and abs(a) = a);
alter table def add constraint c66 check (t like 'a\_%' escape '\');
alter table def add constraint c67 check (concat(t, ' ', a) <> '' and format('%s', t) <> '');
alter table def add constraint c68 check (overlay(t placing 'x' from 1 for 2) <> '');
alter table def add constraint c69 check (at @> array['x'] and at <> '{}' and ai = array[1, 2] and ai <> array[]::int[]);
alter table def add constraint c70 check (row(a, b) is not null);
alter table def add constraint c71 check (t collate "C" > 'a');
alter table def add constraint c72 check (left(t, 1) = 'a' and "right"(v, 1) = 'b');
alter table def add constraint c73 check (a::numeric(10,2) > 1.50::numeric(10,2) and v::varchar(3) = 'abc'::char(3));
alter table def add constraint c74 check ('a' = t and 5 < a and null::text is null and 'it''s\' <> t);
alter table def add constraint c75 check (a & 3 = 1 and a | 1 > 0 and a << 2 > 1);
alter table def add constraint c76 check ((ts, ts) overlaps (ts, ts));
alter table def add constraint c77 check (date_trunc('month', ts) = ts and to_char(ts, 'YYYY') = '2020');
alter table def add constraint c78 check (s > 1 and s + 1 < 10 and s * 2.5 > 1);
alter table def add constraint c79 check (av[1] = 'x' and v = any (av));
alter table def add constraint c80 check (c = 'ab' and c like 'a%' and length(c) = 2);
alter table def add constraint c81 check (case when t is null then null else 1 end > 0) not valid;
alter table def add constraint c82 check (make_interval(days => 1) < i);
alter table def add constraint c83 check (tm > '10:00' and tm < time '12:00:00.5');
alter table def add constraint c84 check (jb @> '{"a": 1}' and jb['x'] is null and j ->> 0 is null);
select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'def'::regclass and contype = 'c' order by 1;
select conname, pg_get_constraintdef(oid, true) from pg_constraint where conrelid = 'def'::regclass and contype = 'c' order by 1;
select constraint_name, check_clause from information_schema.check_constraints where constraint_name like 'c__' order by 1;
create sequence defseq;
create table defd (
  a int default 5, a2 int default -1, b bigint default -1, b2 bigint default 5, b3 bigint default 10000000000, s smallint default 3,
  n numeric default 1, n2 numeric(10,2) default 1.50, n3 numeric default -1.5, n4 numeric(5,1) default '2.5', f float8 default 0,
  f2 float8 default 1.5, t text default 'x', t2 text default 'a' || 'b', t3 text default 5, v varchar(10) default 'x',
  v2 varchar(3) default 'abc'::varchar(3), c char(5) default 'x', c2 char(3) default 'abc'::char(3), d date default current_date,
  d2 date default '2020-01-01', d3 date default date '2020-2-3', ts timestamp default now(), ts2 timestamptz default current_timestamp,
  ts3 timestamp(3) default current_timestamp(3), ts4 timestamp default localtimestamp, tz timestamptz default '2020-01-01 00:00:00+00',
  i interval default '1 day', i2 interval default interval '2' hour, bo boolean default true, bo2 boolean default 'f', m defmood default 'sad',
  ai int[] default '{}', ai2 int[] default array[1, 2], at text[] default array['a', 'b'], at2 text[] default '{}'::text[],
  at3 varchar(5)[] default array['a']::varchar(5)[], j json default '{}', jb jsonb default '{"b": 1, "a": 2}', u uuid default gen_random_uuid(),
  x bytea default '\xdeadbeef', usr text default current_user, su name default session_user, nu text default null,
  e text default E'tab\there', q text default 'it''s', z text default upper('x'), tm time default '10:00', k int default (1 + 2) * 3,
  cs text default case when true then 'x' else 'y' end, co text default coalesce(null, 'x'), ro int default round(1.5),
  sq bigint default nextval('defseq'), ex double precision default extract(epoch from now()), md text default md5('x'::text));
select attname, pg_get_expr(adbin, adrelid), pg_get_expr(adbin, adrelid, true) from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum where adrelid = 'defd'::regclass order by adnum;
select column_name, column_default from information_schema.columns where table_name = 'defd' order by ordinal_position;
insert into defd (a) values (1);
select a2, b, n3, c, v from defd;
alter table defd add column added int default -7;
select added from defd;
create table defg (a int, b int, t text, v varchar(5), g1 int generated always as (a + b) stored, g2 text generated always as (upper(t)) stored,
  g3 numeric generated always as (a * 2) stored, g4 text generated always as (v || 'x') stored, g5 text generated always as ('k') stored);
select attname, pg_get_expr(adbin, adrelid) from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum where adrelid = 'defg'::regclass order by adnum;
select column_name, generation_expression, column_default from information_schema.columns where table_name = 'defg' order by ordinal_position;
create index defi1 on def (lower(t));
create index defi2 on def ((a + b));
create index defi3 on def (t) where t is not null;
create index defi4 on def (a) where a > 0 and t = 'x';
create index defi5 on def ((a + b) desc, upper(v), coalesce(t, v));
create index defi6 on def ((jb ->> 'a')) where bo;
create index defi7 on def (a) where t in ('a', 'b') or v like 'x%';
create index defi8 on def ((t::varchar(3)), (a::text), (n is null));
create index defi9 on def ((case when a > 0 then a end));
create index defi10 on def (extract(year from ts), (ts at time zone 'UTC'));
create index defi11 on def (a) where not bo;
create unique index defi12 on def (a, lower(v)) include (t) where b between 1 and 2;
select indexname, indexdef from pg_indexes where tablename = 'def' order by 1;
select c.relname, pg_get_indexdef(indexrelid, 0, true), pg_get_indexdef(indexrelid, 1, false), pg_get_indexdef(indexrelid, 1, true) from pg_index join pg_class c on c.oid = indexrelid where indrelid = 'def'::regclass order by 1;
select c.relname, pg_get_expr(indpred, indrelid) from pg_index join pg_class c on c.oid = indexrelid where indrelid = 'def'::regclass and indpred is not null order by 1;
-- after names have changed
alter table def rename column a to "A b";
alter table def rename column t to text;
select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'def'::regclass and conname in ('c06', 'c08', 'c31', 'c40', 'c51', 'c65') order by 1;
set datestyle = 'German';
select pg_get_constraintdef(oid) from pg_constraint where conrelid = 'def'::regclass and conname in ('c26', 'c28');
reset datestyle;
drop table def, defd, defg;
drop sequence defseq;
drop type defmood;
-- Dimensions are kept as they were declared, and say nothing of values.
create table dims (a int[][], b int[3], c text, d int array);
alter table dims add column e text[][][];
alter table dims alter column d type bigint[][];
create view dimv as select * from dims;
create table diml (like dims);
select attrelid::regclass, attname, attndims from pg_attribute where attrelid in ('dims'::regclass, 'dimv'::regclass, 'diml'::regclass) and attnum > 0 order by 1, attnum;
drop table dims cascade;
drop table diml;
