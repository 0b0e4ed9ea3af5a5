-- CREATE VIEW, what reads through it, what depends on it.
create table t (a int primary key, b text, c numeric(8,2), d varchar(10));
insert into t values (1, 'one', 1.50, 'x'), (2, 'two', 2.25, 'y'), (3, null, null, 'z');
create view v as select * from t;
select * from v order by a;
select b, count(*) from v group by b order by b;
select v.a, w.a from v join v as w on v.a = w.a + 1 order by 1;
select public.v.a from public.v where v.b is null;
create view v as select 1;
create view names (x, y) as select a, b, c from t where a > 1;
select * from names order by x;
create view too_many (x, y) as select a from t;
create view twice as select a, b as a from t;
create view unnamed as select 1 as one, 'text' as word, null as nothing, 2.5;
select * from unnamed;
select pg_typeof(word), pg_typeof(nothing) from unnamed;
create view parameters as select $1::int;
create view broken as select nosuch from t;
create view broken as select a from nosuch;
create view broken as insert into t values (9);
-- views over views
create view sums as select x, sum(c) as total from names group by x;
select * from sums order by x;
create view joined as select n.x, s.total, t.b from names n left join sums s using (x) join t on t.a = n.x;
select * from joined order by x;
create or replace view names (x, y) as select a, b, c, d from t where a > 1;
select * from names order by x;
create or replace view names (x, z) as select a, b, c from t;
create or replace view names (x) as select a from t;
create or replace view names (x, y) as select a::bigint, b, c, d from t;
create or replace view t as select 1;
create or replace view sums as select x, sum(c) as total from names group by x having sum(c) is not null;
select * from sums;
\d v
\d names
select table_name, table_type from information_schema.tables where table_schema = 'public' order by 1;
select column_name, data_type, ordinal_position, is_nullable from information_schema.columns where table_name = 'v' order by 3;
select schemaname, viewname, viewowner from pg_views where schemaname = 'public' order by 2;
select relname, relkind, relhasrules, relnatts from pg_class where relname in ('v', 'names', 't') order by 1;
select distinct v.relname, d.refobjid::regclass, d.refobjsubid, d.deptype from pg_depend d join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
  join pg_class v on v.oid = r.ev_class where v.relname in ('v', 'names') order by 1, 2, 3, 4;
select * from information_schema.view_column_usage where view_name = 'sums' order by column_name;
\dv
\dt
-- dependencies
drop table t;
alter table t drop column d;
drop view names;
drop view v, names;
drop view t;
drop table v;
drop sequence v;
drop view nosuch;
drop view if exists nosuch;
drop view nosuch.v;
-- names below may change
alter table t rename to u;
alter table u rename column b to bb;
alter table u add column e int default 7;
select * from v order by a;
select * from joined order by x;
create table t (z int);
select * from v order by a;
drop table t;
select * from u order by a;
-- names above
alter view v rename to vv;
alter view vv rename column a to aa;
alter table vv rename column aa to a;
alter view vv rename column nosuch to x;
alter view vv rename column b to c;
alter view vv rename to u;
alter view u rename to x;
alter view nosuch rename to x;
alter view if exists nosuch rename to x;
select * from vv order by a;
alter table vv add column x int;
create index on vv (a);
truncate vv;
copy vv to stdout;
copy (select a, b from vv order by a) to stdout;
explain (costs off) select 1 from unnamed;
-- search_path at the time of making
create schema s;
create table s.k (a int, b int);
insert into s.k values (1, 10);
set search_path = s, public;
create view public.k_view as select k.a, b from k;
reset search_path;
create table k (a int, b int);
select * from k_view;
select pg_get_viewdef('k_view'::regclass) ~ 's\.k';
drop schema s;
drop schema s cascade;
select * from k_view;
drop table k;
-- within a transaction
begin;
create view inside as select a from u;
select * from inside order by a;
rollback;
select * from inside;
-- queries of many kinds
create view kinds as with w as (select a, c from u) select a, (select max(c) from w) as top, exists (select from u where u.a > w.a) as more from w;
select * from kinds order by a;
create view unions as select a from u union all select a + 10 from u union select 1 order by 1 limit 5;
select * from unions;
create view valued as values (1, 'a'), (2, 'b');
select * from valued;
create view tabled as table u;
select count(*) from tabled;
create recursive view numbers (n) as values (1) union all select n + 1 from numbers where n < 5;
select sum(n) from numbers;
create view series as select g, g * 2 as twice from generate_series(1, 3) g;
select * from series;
create view nested as select * from (select a, bb from u) s where a in (select a from vv);
select * from nested order by a;
create view windows as select a, row_number() over (order by a desc) as r from u;
select * from windows order by a;
select * from u join lateral (select * from vv where vv.a = u.a) l on true order by u.a;
select (select count(*) from vv where vv.a <= u.a) from u order by 1;
update u set c = v2.a from vv v2 where v2.a = u.a and u.a = 1 returning u.a, u.c;
insert into u (a, bb) select a + 100, b from vv where a = 1 returning a, bb;
delete from u using vv where vv.a = u.a and u.a = 101;
prepare p as select * from vv where a = $1;
execute p (2);
drop view vv;
drop table u cascade;
select * from kinds;
drop view valued, unnamed, numbers, series cascade;
\dv
-- definitions in PostgreSQL's form, where the query is simple
create table d (a int, b text, c numeric);
create view d1 as select a, b from d where a > 1;
create view d2 as select * from d order by b limit 3;
create view d3 as select b as x, count(*) as n from d group by b having count(*) > 1;
create view d4 (p, q) as select a, c from d;
\d+ d1
\d+ d2
\d+ d3
\d+ d4
alter table d rename to dd;
alter table dd rename column b to bb;
select * from d1;
create view d5 as select * from d1;
create view d6 as select * from dd;
drop schema public cascade;
create schema public;
