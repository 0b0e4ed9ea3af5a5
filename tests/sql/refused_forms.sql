-- More than PostgreSQL has room for, and what its grammar has not.
-- Lists: of columns, values, rows, arguments, keys.
select 'select count(*) from (select ' || string_agg(format('%s as c%s', i, i), ',') || ') s' from generate_series(1, 1664) i \gexec
select 'select ' || string_agg(i::text, ',') from generate_series(1, 1665) i \gexec
select 'select count(*) from (select ' || string_agg(format('%s as c%s', i, i), ',') || ') s' from generate_series(1, 1665) i \gexec
select 'values (' || string_agg(i::text, ',') || ')' from generate_series(1, 1665) i \gexec
select 'select row(' || string_agg(i::text, ',') || ')' from generate_series(1, 1665) i \gexec
select 'select 1 order by ' || string_agg(format('%s + length(version())', i), ',') from generate_series(1, 1665) i \gexec
select 'create table wide (' || string_agg(format('c%s int', i), ',') || ')' from generate_series(1, 1600) i \gexec
select 'create table wider (' || string_agg(format('c%s int', i), ',') || ')' from generate_series(1, 1601) i \gexec
select 'create table wider as select ' || string_agg(format('%s as c%s', i, i), ',') from generate_series(1, 1601) i \gexec
select 'create view wider as select ' || string_agg(format('%s as c%s', i, i), ',') from generate_series(1, 1601) i \gexec
alter table wide add c int;
select * from wide, wide b;
select count(*) from wide, wide b;
select 'select length(concat(' || string_agg(i::text, ',') || '))' from generate_series(1, 100) i \gexec
select 'select length(concat(' || string_agg(i::text, ',') || '))' from generate_series(1, 101) i \gexec
select 'select greatest(' || l || '), coalesce(' || l || '), cardinality(array[' || l || '])'
    from (select string_agg(i::text, ',') as l from generate_series(1, 120) i) s \gexec
select 'create index on wide (' || string_agg(format('c%s', i), ',') || ')' from generate_series(1, 33) i \gexec
select 'create index on wide (' || string_agg(format('c%s', i), ',') || ') include (c40, c41, c42)' from generate_series(1, 30) i \gexec
select 'alter table wide add unique (' || string_agg(format('c%s', i), ',') || ')' from generate_series(1, 33) i \gexec
drop table wide;
-- Words that are values take no brackets, or a number in them.
select current_date();
select current_user();
select current_time(0,1);
select localtime();
select localtime(0) is null, current_timestamp(3) is null, current_schema() is null, current_schema is null;
select session_user();
select current_role();
select user();
select current_catalog();
-- POSITION, INTERVAL.
select position('a','b');
select position('a');
select position();
select position('a' in 'ba'), "position"('ba', 'a'), pg_catalog.position('ba', 'a');
select position('a' collate "C" in 'b');
select position('a' in 'b' collate "C");
select position(('a' collate "C") in 'b');
with position (a, b) as (select 1, 2) select a, b from position;
create table position (a int, b int);
insert into position (a, b) values (1, 2);
insert into position (a) select position('b' in 'ab') returning a;
select a, b from position;
drop table position;
select interval('1 day');
select interval ('1 day');
select interval(0) '1 day 1.5 s', "interval"('1 day');
-- ONLY and a star.
create table t (a int, b int);
insert into t values (1, 1), (1, 2);
delete from only t *;
update only t * set a = 1;
select * from only t *;
select count(*) from only (t);
update t * set a = 1;
table only t;
table user;
-- Nothing in the brackets of CUBE and ROLLUP.
select a, b, count(*) from t group by cube((a, b), ());
select a, b, count(*) from t group by rollup((a, b), ());
select a, b, count(*) from t group by grouping sets((a, b), ()) order by a, b;
select a, b, count(*) from t group by grouping sets(cube((a, b), ()));
select a, b, count(*) from t group by cube();
select a, count(*) from t group by cube(a, length(current_schema())) order by 1, 2;
-- CREATE TABLE without columns.
create table p () tablespace pg_default;
create table q () with (fillfactor = 50);
create table r with (fillfactor = 50);
create table r tablespace pg_default;
create table r with (fillfactor = 50) as select 1 as a;
drop table p, q, r;
-- Settings.
set table = 1;
set user.x = 1;
set local select to 1;
show table;
reset table;
set seed = 0.5;
select random(), random();
set seed to -0.3;
select random();
show seed;
set seed to default;
reset seed;
set seed = 2;
set seed to 'x';
select current_setting('seed'), set_config('seed', '0.5', false);
select random();
begin;
set local seed = 0.5;
select random();
rollback;
select count(*) from pg_settings where name = 'seed';
-- What is looked at later.
create table c (a int check (a > 0) deferrable);
create table c (a int check (a > 0) initially deferred);
create table c (a int unique check (a > 0) not deferrable);
create table c (a int check (a > 0) initially immediate);
create table c (a int, check (a > 0) deferrable);
create table c (a int, constraint n check (a > 0) initially deferred);
alter table t add check (a > 0) deferrable;
alter table t add constraint c check (a > 0) not valid deferrable;
alter table t add column x int check (x > 0) deferrable;
create table c (a int not null deferrable);
create table c (a int default 1 deferrable);
create table c (a int deferrable);
create table c (a int unique deferrable initially deferred check (a > 0), b int primary key);
create table d (a int references c on delete set null deferrable, b int references c on update set default initially deferred, c int);
select conname, condeferrable, condeferred from pg_constraint where conrelid in ('c'::regclass, 'd'::regclass) order by 1;
drop table d, c;
-- Numbers of many digits.
select length(factorial(20000)::text), left(factorial(20000)::text, 10);
select factorial(40000) > 0;
-- Reserved words in the places of columns.
insert into t (user) values (1);
insert into t (table) values (1);
insert into t (a, select) values (1, 2);
insert into t (select 5, 6);
create index on t (table);
create index on t (a, (b + 1), lower(current_user)) include (b);
create unique index on t (cast(a as bigint), b);
create table r (a int, unique (user));
create table r (a int, primary key (table));
create table r (a int, foreign key (a, table) references t);
create table r (a int references t (user));
create table r (a int, unique nulls not distinct (all));
alter table t drop column table;
alter table t drop column if exists user;
alter table t rename column a to user;
alter table t rename to select;
alter table t alter column table set default 1;
alter table t rename a to "user";
alter table t rename "user" to a;
copy t (table) to stdout;
create view w (table) as select 1;
create table r (user) as select 1;
create table r (c) as select 1;
grant select (a, table) on t to postgres;
analyze t (table);
insert into t (a, b) values (1, 2) on conflict (table) do nothing;
insert into t (a, b) values (1, 2) on conflict (lower(user)) do nothing;
drop table r;
-- INTERSECT ALL and EXCEPT ALL of groups with constants beside.
select a, count(*), 'x' from t group by a intersect all select a, count(*), 'x' from t group by a except all select 1, 1, 'x' order by 1;
select 1 as k, count(*) from t group by a intersect all select 1, 2::bigint except all select 1, 1::bigint;
(select 'x' as c, a from t group by a intersect all select 'x', a from t group by a) except all select 'x', 1;
select 'x', a, count(*) from t group by a intersect all (select 'x', a, count(*) from t group by a except all select 'x', 1, 1) order by 2;
-- What is like it and is in the grammar.
insert into t select 7, 8 fetch first 1 rows only returning *;
select position(case when a in (1, 7) then 'x' else 'y' end in 'yx') from t order by 1;
select a from t order by a fetch first row only;
