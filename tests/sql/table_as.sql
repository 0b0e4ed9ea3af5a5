-- CREATE TABLE AS, SELECT INTO.
create table t (a int primary key, b varchar(10) not null default 'x', c numeric(8,2));
insert into t values (1, 'one', 1.5), (2, 'two', 2.5), (3, 'three', null);
\set QUIET off
create table copied as select * from t;
create table named (x, y) as select a, b, c from t where a > 1;
create table empty as select * from t with no data;
create table filled as select count(*), sum(c), 'text' as word, null as nothing from t with data;
create table if not exists copied as select 1;
create table if not exists fresh as values (1, 'a'), (2, 'b');
create table listed as table t;
create table w as with w as (select a from t) select a, a * 2 as double from w order by a desc limit 2;
create table bracketed as (select a from t);
select a, b into chosen from t where a < 3;
select a into public.chosen2 from t union all select 9;
\set QUIET on
\d copied
\d named
\d filled
\d fresh
select * from copied order by a;
select * from named order by x;
select * from empty;
select * from filled;
select * from fresh order by 1;
select * from listed order by a;
select * from w order by a;
select * from chosen order by a;
select * from chosen2 order by a;
insert into copied values (1, null, null);
create table copied as select 1;
select 1 into copied;
create table too_many (a, b) as select 1;
create table twice as select 1 as a, 2 as a;
create table twice (a, a) as select 1, 2;
create table broken as select nosuch from t;
create table broken as select 1/(a-1) from t;
select * from broken;
create table parameters as select $1::int;
create table broken as insert into t values (1);
begin;
create table inside as select a from t;
insert into inside values (10);
select sum(a) from inside;
create table inside2 as select * from inside;
select * from inside2 order by a;
rollback;
select * from inside;
begin read only;
create table refused as select 1;
rollback;
create schema s;
set search_path = s, public;
create table t as select * from t where a = 1;
select count(*) from s.t;
select count(*) from public.t;
reset search_path;
create table nosuch.t as select 1;
create table generated as select g, g::text as word, now() > '2020-01-01' as later from generate_series(1, 1000) g;
select count(*), sum(g), min(word), bool_and(later) from generated;
create view v as select a from t;
create table of_view as select * from v;
select * from of_view order by a;
drop schema s cascade;
