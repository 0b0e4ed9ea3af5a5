-- Statements of every kind of the tree: one a line. PostgreSQL 15's grammar takes all of them.
-- Expressions
select a, t.a, s.t.a, d.s.t.a, t.*, s.t.*, "T"."A b", "select", "A""b"
select 1, 007, 1.5, .5, 1., 1e10, 1.5e-3, 99999999999999999999999, -1, - 1, +1, - - 1, -(-1), -(1), -a, - -a, -(-a), + -a
select 'a', 'it''s', e'a\nb\\c\'', E'\x41\101\u0041', u&'\0041', U&'!0041' uescape '!', n'abc', $$a'b$$, $x$a$$b$x$, b'101', x'1F', B'', ''
select null, true, false, $1, $2::int, unknown, current_date, current_time, current_time(3), current_timestamp(0), localtime, localtimestamp(2)
select current_role, current_user, user, session_user, current_catalog, current_schema, current_schema(), current_schemas(true)
select a and b and c or d or e and not f, not not a, (a or b) and (c or d), not (a and b), (a and b) and c, a and (b and c), (a or b) or c
select a + b - c * d / e % f ^ g ^ h, a ^ (b ^ c), (a + b) * c, a - (b - c), a - b - c, (a ^ b) ^ c, -a ^ 2, (-1) ^ 2, -(1 ^ 2), -1 ^ 2
select a < b, a > b, a = b, a <= b, a >= b, a <> b, a != b, (a < b) = c, a < (b = c), (a = b) is null, a = b is null, a = (b is null), (a < b) < c
select a || b || c, a || (b || c), a # b, # a, @ a, @ @ a, ~ a, a ~ b, a !~* b, a -> b ->> c, a @> b, a <-> b, a && b, a ? b, |/ 25, ||/ 27, @ a + b, (@ a) + b, @ (a || b), (@ a) || b
select a operator(pg_catalog.+) b * c, (a operator(pg_catalog.+) b) * c, operator(pg_catalog.-) a, a operator(+) b, operator(s."T".@@) x, a operator(x.=) any (b)
select a is null, a is not null, a isnull, a notnull, a is true, a is not true, a is false, a is not false, a is unknown, a is not unknown, (a is null) is true, a is null is not null
select a is distinct from b, a is not distinct from b, (a is distinct from b) is distinct from c, a is normalized, a is not nfc normalized, a is nfd normalized, a is nfkc normalized, a is not nfkd normalized
select a between 1 and 2, a not between 1 and 2, a between symmetric 1 and 2, a not between symmetric b and c, a between asymmetric 1 and 2, a between (b and c) and d, a between b = c and d, a between (b is null) and c
select a between 1 + 2 and 3 + 4 and b, (a between 1 and 2) between b and c, not a between 1 and 2, a between -1 and - 1, a between (x in (1)) and y
select a in (1, 2, 3), a not in (1), a in (select 1), a not in (select b from c), (a, b) in ((1, 2), (3, 4)), a in ((select 1), 2), a in (((select 1))), a in (((1))), (a in (1)) in (true)
select a like b, a not like b, a ilike b, a not ilike b, a like b escape c, a similar to b, a not similar to b escape '\', (a like b) like c, a like (b like c), a like b || c escape d || e, a like b and c
select a like any (array['x']), a not like all (b), a ilike some (b), a not ilike all (array[b]), a ~~ b, a !~~ b, a = any (b), a = some (select 1), a <> all (array[1, 2]), a < any (values (1)), a || b = any (c), (a = any (b)) = c, a + any (b), a = any (((select 1)))
select a::int, a::int::text, (a + b)::int, -a::int, (-1)::int, (-a)::int, 'x'::text, a::int[], a::int[3][4], a::int array, a::int array[3], cast(a as int), cast(a + b as numeric(10, 2)), int '1', float8 '1.5', pg_catalog.int4 '1', "T" 'x', numeric(10, 2) '1.5', s.t(3) 'x'
select date '2020-01-01', time '1:00', time(3) with time zone '1:00', timestamp '2020-01-01', timestamp with time zone 'now', timestamp(3) without time zone 'now', timestamptz 'now', timetz '1:00', char 'a', char(3) 'abc', varchar(3) 'abc', bit '1', bit(3) '101', bit varying(5) '1', boolean 't', double precision '1', dec '1', real '1', nchar 'a', national character varying(3) 'x', character varying 'x'
select interval '1', interval '1' year, interval '1' month, interval '1' day, interval '1' hour, interval '1' minute, interval '1' second, interval '1' second(3), interval '1' year to month, interval '1' day to hour, interval '1' day to minute, interval '1' day to second(2), interval '1' hour to minute, interval '1' hour to second, interval '1' minute to second(0), interval(3) '1'
select a::interval, a::interval(3), a::interval year, a::interval year to month, a::interval second(3), a::interval day to second(3), a::interval hour to second, a::interval minute to second, a::interval day to hour, a::interval day to minute, a::interval hour to minute
select a::bool, a::boolean, a::smallint, a::int, a::integer, a::bigint, a::real, a::float, a::float(24), a::float(25), a::double precision, a::numeric, a::decimal(3), a::dec(3, 1), a::char, a::char(3), a::character(3), a::nchar, a::national char(2), a::varchar, a::varchar(3), a::character varying, a::char varying(3), a::nchar varying, a::bit, a::bit(3), a::bit varying, a::bit varying(3)
select a::time, a::time(3), a::time with time zone, a::time(3) with time zone, a::time without time zone, a::timestamp, a::timestamp(3) with time zone, a::timestamptz(3), a::"char", a::"time", a::s.t, a::d.s.t, a::s.t(1, 2)[], a::json, a::regclass, a::"Point", a::setof int
select a collate "C", a collate pg_catalog."default", (a || b) collate "C", a || b collate "C", a collate "C" collate "D", -a collate "C", (a collate "C")::text, a < b collate "C"
select a at time zone 'UTC', a at time zone b at time zone c, a at time zone (b at time zone c), (a + b) at time zone c, a + b at time zone c, a::timestamp at time zone 'x', -a at time zone b, a collate "C" at time zone b, a at time zone (b + c)
select (a, b) overlaps (c, d), row(a, b) overlaps row(c, d), (a, b) overlaps row(c, d), ((a, b) overlaps (c, d)) = true, not (a, b) overlaps (c, d)
select case when a then b end, case a when b then c when d then e else f end, case when a then case b when 1 then 2 end else null end, case when a and b or c then d + 1 else e::int end
select f(), f(a), f(a, b), f(*), s.f(a), d.s.f(a), f(distinct a), f(distinct a, b order by c desc), f(all a), f(a order by b, c nulls first), f(a => 1), f(a := 1, b => 2), f(a, b => 2), f(variadic a), f(a, variadic b), f(a, variadic b => c), f(variadic a order by b), f(t.*), count(*), "F"(1), f(a) filter (where b), f(distinct t.*)
select f(a) within group (order by b), f(a) within group (order by b desc, c) filter (where d > 1), f() over (), f() over w, f() over (w), f(a) filter (where b) over (partition by c order by d), f(*) over (order by a rows 1 preceding)
select f() over (rows unbounded preceding), f() over (rows current row), f() over (range between unbounded preceding and unbounded following), f() over (groups between 1 preceding and 1 following), f() over (rows between current row and unbounded following), f() over (rows between 1 following and 2 following exclude current row), f() over (range between '1 day' preceding and current row exclude group), f() over (rows 1 preceding exclude ties), f() over (rows 1 preceding exclude no others)
select f() over ("partition"), f() over ("rows" order by a), f() over (order by range range 1 preceding), f() over (rows a + 1 preceding), f() over (partition by a, b), f() over (w partition by a order by b using < nulls last groups between a preceding and b following)
select coalesce(a, b), greatest(a), least(a, b, c), nullif(a, b), coalesce(a and b, c), grouping(a, b), treat(a as t), collation for (a), normalize(a), normalize(a, nfc), normalize(a || b, nfkd)
select extract(year from a), extract(epoch from a), extract('hour' from a), extract("dow" from a), extract(second from a + b), extract(timezone_hour from now()), extract('WEEK' from a), extract(isodow from a)
select position(a in b), position(a || b in c), position((a in (1)) in b), overlay(a placing b from c), overlay(a placing b from c for d), overlay(a, b, c), substring(a from b), substring(a from b for c), substring(a for b), substring(a for b from c), substring(a similar b escape c), substring(a, b), substring(a, b, c), substring(a), "substring"(a), "position"(a, b)
select trim(a), trim(both from a), trim(leading a from b), trim(trailing 'x' from b), trim(both a from b), trim(a from b), trim(a, b), trim(from a), trim(leading from a, b), trim(a from b, c), trim(trailing a, b, c)
select substring((a like b) similar c escape d), substring(a = b from c), substring((a similar to b) similar (c like d) escape e)
select row(), row(1), row(1, 2), (1, 2), (1, (2, 3)), row((1, 2)), (row(1, 2)).f1, row(t.*), row(1, t.*), (t.*, 1)
select array[1, 2], array[]::int[], array[[1, 2], [3, 4]], array[array[1], array[2]], array[[[1]]], array(select 1), (array[1, 2])[1], array[(1), (2)], array[[]], array(values (1))
select (select 1), (select a from b limit 1) + 1, exists (select 1), not exists (select 1), ((select 1)), (((select 1))), (select 1)::int, (select (a, b)).f1, ((select 1) union (select 2)), (select row(1, 2)) = (1, 2)
select a[1], a[1][2], a[1:2], a[:2], a[1:], a[:], a.b[1], (a).b, (a).*, (a.b).c, (a[1]).b, a[1].b, (f(x)).a, (f(x)).*, (f(x))[1], $1[1], $1.a, (select a)[1], (select a).b, a[b + 1][c[1]:d], (a::int[])[1], (a || b)[1:2], ((a).b).c, (a)[1], ((a)[1])[2], (t.*).a, a.b.c[1].d[2:3].*
select a "b", a as "select", a as select, a b, 1 as c, a as "A", a c from t as "T" (a, "B"), u v, w (x)
select all a from t
select distinct a, b from t
select distinct on (a, b + 1) a, b from t
select from t
select
select * from only t, only (u) as x, v *, s.w as y (a, b)
select * into x from t
select a into temp x from t
select a into temporary table s.x from t
select a into local temp x from t
select a into global temporary x from t
select a into unlogged table x from t
select a into table x from t
select * from t where a group by b having c window w as (partition by d), x as (w order by e) order by f limit 1 offset 2 for update
select a from t group by (), a, (b), (c, d), rollup (a, b), cube (a, (b, c)), grouping sets ((), a, (a, b), rollup (c), grouping sets (d, cube (e)))
select a from t group by distinct a, rollup (b)
select a from t group by all a
select a from t group by "cube" (a), "rollup" (b), cube, rollup
select a from t order by a, b asc, c desc, d nulls first, e desc nulls last, f using <, g using operator(pg_catalog.>) nulls last, 1
select a from t limit 10
select a from t limit all
select a from t limit null offset 5
select a from t offset 5 rows limit 10
select a from t offset 5 row fetch first 10 rows only
select a from t fetch next row only
select a from t order by a fetch first 5 rows with ties
select a from t order by a fetch first (a + 1) rows with ties
select a from t order by a fetch first -1 rows with ties
select a from t order by a fetch first $1 rows with ties for share
select a from t limit (select 1) offset a + 1
select a from t for update
select a from t for no key update of t, u nowait
select a from t for share skip locked for key share of s.x
select a from t for update for update
select a from t for read only
values (1)
values (1, 'a'), (2, default), (null, row(1, 2))
values (1), (2) order by 1 desc limit 1
table t
table only t
table s.t order by 1
(select 1)
((select 1))
(select 1) order by 1
(select 1 limit 1) order by 1
(select 1 order by 1) limit 1
select 1 union select 2
select 1 union all select 2 union all select 3
select 1 union select 2 union all select 3 union select 4
select 1 union distinct select 2 intersect all select 3 except select 4
(select 1 union select 2) intersect select 3
select 1 union (select 2 union select 3)
select 1 except (select 2 except select 3)
select 1 intersect (select 2 intersect all select 3)
(select 1) union (select 2) order by 1
(select 1 order by 1 limit 1) union all (select 2 for update)
(select 1) union all ((select 2) union all (select 3))
(with a as (select 1) select * from a) union select 2
values (1) union table t intersect values (2)
select 1 intersect select 2 intersect all select 3 union all select 4 intersect select 5
with a as (select 1) select * from a
with a (b, c) as (select 1, 2), d as materialized (select 3), e as not materialized (table t) select * from a, d, e
with recursive a as (select 1 union all select n + 1 from a) select * from a
with recursive a as (select 1 union all select 2) search depth first by x, y set o select 1
with recursive a as (select 1 union all select 2) search breadth first by x set o cycle x, y set m to 'Y' default 'N' using p select 1
with recursive a (n) as (select 1 union all select 2) cycle n set m using p select 1
with recursive a as (select 1 union all select 2) cycle n set m to true default false using p select 1
with a as (insert into t values (1) returning *), b as (update t set a = 1 returning a), c as (delete from t returning 1) select 1
with a as (with b as (select 1) select * from b) select * from a
with a as (values (1)) (select * from a) order by 1
select (with a as (select 1) select * from a)
-- FROM
select * from a, b as c, d e
select * from a join b on c
select * from a inner join b using (c, d)
select * from a join b using (c) as x
select * from a left join b on true right outer join c on false full join d using (e)
select * from a cross join b natural join c natural left join d natural full outer join e natural right join f natural inner join g
select * from a join (b join c on d) on e
select * from a join b join c on d on e
select * from a left join b left join c cross join d on e on f
select * from (a join b on c) as x
select * from (a join b on c) x (d, e) join f on g
select * from (a cross join b) cross join (c cross join d)
select * from ((a cross join b) as x cross join c) as y
select * from (((a cross join b)))
select * from (select 1) a, (values (1)) as b (c), lateral (select 2) d, ((select 3)) e, (table t) f
select * from ((select 1) union (select 2)) a, (select 1 union select 2) as b (c) cross join lateral (select 3) d
select * from f(1), f(2) as a, f(3) a (b), f(4) with ordinality, f(5) with ordinality as a (b, c), lateral f(6) g, s.f(7), coalesce(1, 2) c, current_date, cast(1 as int) x
select * from f(1) as (a int, b text), f(2) as x (a int, b text collate "C"), f(3) x (a s.t[])
select * from rows from (f(1), g(2)), rows from (f(1) as (a int), g(2)) with ordinality as x (b, c), lateral rows from (f(1)) y
select * from t tablesample system (10), t as x tablesample bernoulli (1 + 1) repeatable (5), t tablesample s.m (1, 'a')
-- Writes
insert into t values (1)
insert into t default values
insert into t (a, b) values (1, default), (2, null)
insert into s.t as x (a.b, c[1], d[1:2], e.f[1].g) select 1, 2, 3, 4
insert into t (select 1)
insert into t ((select 1) union (select 2))
insert into t (a) (select 1)
insert into t (a) overriding system value values (1)
insert into t overriding user value select 1
insert into t table u
insert into t with a as (select 1) select * from a
with a as (select 1) insert into t select * from a returning *
insert into t values (1) on conflict do nothing
insert into t values (1) on conflict (a) do nothing
insert into t values (1) on conflict (a, lower(b) collate "C" text_pattern_ops, (c + 1)) where d do update set a = excluded.a, (b, c) = (1, 2), (d) = row(3) where t.e returning a, b as c
insert into t values (1) on conflict on constraint x do update set (a, b) = (select 1, 2)
insert into t values (1) returning *, a + 1 as b, t.*
update t set a = 1
update only t as x set a = default, b.c = 2, d[1] = 3, (e, f) = (4, 5), (g) = row(6), (h, i) = (select 7, 8), (j, k) = row(default, 1) from u join v on w, x where y returning z
update t x set a = 1 where current of c
with a as (select 1) update t set b = (select * from a)
update t * set a = b = c
delete from t
delete from only t as x using u, v where a returning *
delete from t where current of c
with a as (select 1) delete from t using a where true
merge into t using s on t.a = s.a when matched then delete
merge into only t as x using (select 1) as s (a) on true when matched and x.b then update set c = 1, (d, e) = (2, 3) when not matched and s.f then insert (a, b.c) values (1, default) when not matched then insert default values when matched then do nothing when not matched then do nothing
with a as (select 1) merge into t using a on b when not matched then insert overriding system value values (1)
merge into t using a join b on c on d when not matched then insert (x) overriding user value values (1)
copy t from stdin
copy t to stdout
copy s.t (a, b) from 'file' with (format csv, header, delimiter ',', null '', quote '"', escape '\', force_not_null (a, b), encoding 'utf8', freeze false)
copy t to 'file' (format text, header true, force_quote *)
copy t to program 'gzip' with (format 'binary')
copy t from program 'cat' where a > 1
copy (select 1) to stdout with csv header
copy (insert into t values (1) returning *) to stdout
copy (update t set a = 1 returning a) to stdout (format csv, header match)
copy (with a as (select 1) select * from a) to 'x'
copy t from stdin with binary
copy binary t from stdin
copy t from stdin delimiter '|' null as 'x'
copy t from stdin using delimiters ','
copy t to stdout csv quote as '"' escape as '\' force quote a, b
copy t from stdin csv force not null a, b force null c encoding 'x'
copy t to stdout csv force quote *
copy t from stdin freeze header
copy t from stdin (a on, b off, c 1, d -1.5, e default_, f "X", g true)
truncate t
truncate table only t, s.u, v * restart identity cascade
truncate t continue identity restrict
-- Tables
create table t ()
create table if not exists s.t (a int, b text)
create temp table t (a int) on commit drop
create temporary table t (a int) on commit delete rows
create local temporary table t (a int) on commit preserve rows
create global temp table t (a int)
create unlogged table t (a int)
create table t (a int not null, b int null, c int default 1, d int default -1 + 2, e int default (a and b), f int default 'x' || 'y' not null, g text default now()::text collate "C")
create table t (a int check (a > 0), b int constraint x check (b > 0) no inherit, c int unique, d int primary key, e int unique nulls not distinct, f int unique nulls distinct, g int unique with (fillfactor = 70) using index tablespace s)
create table t (a int references u, b int references s.u (c), c int references u match full on delete cascade on update set null, d int references u on delete set default on update restrict, e int references u on delete no action deferrable initially deferred, f int references u match simple not deferrable initially immediate)
create table t (a int constraint x not null constraint y unique deferrable constraint z default 1)
create table t (a int generated always as identity, b int generated by default as identity (start 5 increment by 2 minvalue 1 maxvalue 10 cache 3 cycle), c int generated always as (a + 1) stored, d int generated always as identity (no minvalue no maxvalue no cycle sequence name s.x owned by none as bigint restart))
create table t (a text collate "C" not null, b text compression pglz, c text compression default collate pg_catalog."C")
create table t (a int, check (a > 0), constraint x check (a > 1) no inherit, constraint y check (a > 2) not valid)
create table t (unique (a, b), primary key (c) include (d), unique nulls not distinct (e) with (fillfactor = 10) using index tablespace x, constraint x primary key (f) deferrable initially deferred)
create table t (foreign key (a, b) references u (c, d) match full on delete set null (a) on update cascade, constraint x foreign key (a) references u not valid, foreign key (a) references u on delete set default (a, b) deferrable)
create table t (exclude (a with =), constraint x exclude using gist (a with &&, (b + 1) with operator(pg_catalog.=), c collate "C" text_ops desc nulls last with <>) include (d) with (fillfactor = 10) using index tablespace s where (e > 0) deferrable)
create table t (like u, like s.v including all excluding defaults including comments including compression including constraints including generated including identity including indexes including statistics including storage)
create table t (a int) inherits (u, s.v)
create table t (a int) partition by range (a, (b + 1) collate "C" text_ops, lower(c))
create table t (a int) partition by list (a) using heap with (fillfactor = 70, toast.autovacuum_enabled = false, x) tablespace y
create table t (a int) without oids
create table t of s.u
create table if not exists t of u (a with options not null, b default 1, primary key (a)) with (fillfactor = 10)
create table t partition of u default
create table t partition of s.u for values in (1, 'a', null)
create table t partition of u (a not null, constraint x check (a > 1)) for values from (minvalue, 1) to (maxvalue, 1 + 1) partition by hash (a)
create table if not exists t partition of u for values with (modulus 4, remainder 1)
create table t (a int[], b int array[3], c double precision[], d timestamp(3) with time zone, e setof int)
create table t (exclude int, like_ int, "like" int, key int, value int, type text)
create table t as select 1
create table if not exists t (a, b) using heap with (fillfactor = 10) on commit drop tablespace x as values (1, 2) with no data
create temp table t as table u with data
create unlogged table t as (select 1)
create table t as execute p
create table t as execute p(1, 'a') with no data
create temp table if not exists t as execute p
create table t as with a as (select 1) select * from a
create materialized view v as select 1
create materialized view if not exists s.v (a, b) using heap with (fillfactor = 10) tablespace x as select 1, 2 with no data
create unlogged materialized view v as select 1
refresh materialized view v
refresh materialized view concurrently s.v with no data
refresh materialized view v with data
create view v as select 1
create or replace temp view v (a, b) with (security_barrier, check_option = local, x = true) as select 1, 2 with check option
create recursive view v (a) as select 1
create or replace temporary recursive view s.v (a) as values (1) union all select a + 1 from v
create view v as select 1 with local check option
create view v as select 1 with cascaded check option
create index on t (a)
create unique index concurrently if not exists x on only s.t using gist (a, lower(b), (c || d) collate "C" s.text_ops (siglen = 32, x = 'a') desc nulls first, e asc nulls last) include (f, g) nulls not distinct with (fillfactor = 70) tablespace y where h > 0
create index x on t (a) nulls distinct
create index x on t (coalesce(a, b), (a is null), cast(a as int), (f(a) over ()), ((a).b), current_date)
create sequence s
create temp sequence if not exists s.x as int increment 2 minvalue -5 maxvalue 1.5 start with 3 restart cache 5 no cycle owned by t.a
create unlogged sequence s increment by -1 no minvalue no maxvalue start 1 restart with 5 cycle owned by none
create schema s
create schema if not exists s authorization current_user
create schema authorization "A"
create schema s create table t (a int) create view v as select 1 create index on t (a) create sequence q grant select on t to public create trigger x before insert on t for each row execute function f()
create statistics x on a, b from t
create statistics if not exists s.x (ndistinct, dependencies, mcv) on a, (b + 1), lower(c) from s.t
-- ALTER TABLE
alter table t add a int, add column b text not null default 'x', add column if not exists c int collate "C", add if not exists d int
alter table if exists only s.t drop a, drop column b cascade, drop column if exists c restrict, drop if exists d
alter table t alter a set default 1 + 1, alter column b drop default, alter c set not null, alter d drop not null, alter e drop expression, alter f drop expression if exists
alter table t alter a set statistics -1, alter b set (n_distinct = 5, x), alter c reset (n_distinct), alter d set storage external, alter e set compression lz4, alter f set compression default, alter g set storage default_
alter table t alter a add generated always as identity (start 5), alter b add generated by default as identity, alter c set generated always, alter d set generated by default set increment 5 restart, alter e restart with 3, alter f set start 1 set no cycle, alter g drop identity, alter h drop identity if exists
alter table t alter a type int, alter b set data type text collate "C" using b::text, alter c type int using (c + 1)
alter table t add constraint x check (a > 0), add unique (a), add primary key using index i, add constraint y unique using index j deferrable initially deferred, add foreign key (a) references u not valid, add constraint z check (b) not valid no inherit
alter table t alter constraint x deferrable initially deferred, validate constraint y, drop constraint z cascade, drop constraint if exists w
alter table t disable trigger x, enable trigger all, disable trigger user, enable replica trigger y, enable always trigger z, disable rule a, enable rule b, enable replica rule c, enable always rule d
alter table t enable row level security, disable row level security, force row level security, no force row level security
alter table t cluster on x, set without cluster, set without oids, set access method heap, set tablespace y, set logged, set unlogged, set (fillfactor = 10, toast.x = 1), reset (fillfactor, toast.x)
alter table t inherit u, no inherit s.v, of w, not of, owner to current_role, replica identity default, replica identity full, replica identity nothing, replica identity using index x
alter table t attach partition u for values in (1)
alter table t attach partition s.u default
alter table t detach partition u
alter table t detach partition u concurrently
alter table if exists t detach partition u finalize
alter table t rename a to b
alter table if exists t rename column a to b
alter table t rename constraint a to b
alter table t rename to u
alter table if exists s.t set schema x
alter index x rename to y
alter index if exists x set (fillfactor = 10)
alter index x attach partition y
alter index x alter column 1 set statistics 100
alter index x alter 2 set statistics -1
alter index x set tablespace y
alter index x depends on extension y
alter index x no depends on extension y
alter view v alter column a set default 1
alter view if exists v rename to w
alter view v rename column a to b
alter view v set schema s
alter view v owner to x
alter view v set (security_barrier = true)
alter view v reset (security_barrier)
alter materialized view v rename to w
alter materialized view if exists v rename a to b
alter materialized view v cluster on x
alter materialized view v set schema s
alter materialized view v depends on extension x
alter sequence s increment 5 restart
alter sequence if exists s owned by t.a as bigint restart with 5
alter sequence s rename to t
alter sequence s owner to x
alter sequence s set schema x
alter sequence s set logged
alter foreign table t rename to u
alter foreign table if exists t add column a int
-- Types
create type t as (a int, b text collate "C")
create type t as ()
create type s.t as enum ('a', 'it''s')
create type t as enum ()
create type t as range (subtype = int4, subtype_opclass = x, multirange_type_name = s.y)
create type t
create type t (input = f, output = s.g, internallength = variable, like = int4, passedbyvalue, alignment = double, storage = plain, category = 'A', preferred = true, default = 'x', element = int, delimiter = ',', collatable = false)
alter type t add value 'a'
alter type t add value if not exists 'b' before 'a'
alter type t add value 'c' after 'b'
alter type t rename value 'a' to 'b'
alter type t add attribute a int cascade, drop attribute b, drop attribute if exists c cascade, alter attribute d type text collate "C" restrict, alter attribute e set data type int cascade
alter type t rename attribute a to b cascade
alter type t rename to u
alter type t owner to x
alter type t set schema s
alter type t set (send = f, receive = none)
create domain d as int
create domain s.d text collate "C" default 'x' not null constraint c check (value > 'a') null check (value is not null)
alter domain d set default 1
alter domain d drop default
alter domain d set not null
alter domain d drop not null
alter domain d add constraint c check (value > 0) not valid
alter domain d add check (value > 0)
alter domain d drop constraint if exists c cascade
alter domain d validate constraint c
alter domain d rename constraint a to b
alter domain d rename to e
alter domain d owner to session_user
alter domain d set schema s
-- Functions
create function f() returns int language sql as 'select 1'
create or replace function s.f(a int, in b text default 'x', out c int, inout d int = 5, variadic e int[]) returns record as $$select 1$$ language sql immutable strict security definer leakproof cost 5 rows 10 support g parallel safe window
create function f(int, double precision, setof text) returns setof s.t language plpgsql stable called on null input security invoker not leakproof as 'x'
create function f(a int) returns table (b int, c text) language sql volatile returns null on null input external security definer as 'a', 'b'
create function f() returns int set search_path to a, b set x = 1 set y from current set work_mem to default reset z transform for type int, for type text language c as 'obj', 'sym'
create function f(a int) returns int return a + 1
create function f(a int) returns int language sql begin atomic select 1; insert into t values (1); return 5; end
create function f() returns void begin atomic end
create function f(a t.b%type, b setof t.c%type) returns t.d%type as 'x' language sql
create procedure p(inout a int) language plpgsql as 'x'
create or replace procedure s.p() begin atomic delete from t; end
create function f(out int, inout text, a_b in int) as 'x' language 'sql'
alter function f(int) immutable strict cost 5
alter function s.f rename to g
alter function f(a int, out b text, variadic c int[]) owner to x
alter function f() set schema s
alter function f depends on extension x
alter function f(int) no depends on extension x
alter function f() set a to 1 reset b reset all restrict
alter procedure p(int) security definer
alter procedure p rename to q
alter routine r(int) parallel restricted
alter routine r owner to x
create aggregate a (int) (sfunc = f, stype = int, initcond = '0')
create or replace aggregate s.a (x int, y text) (sfunc = f, stype = s.t, parallel = safe, sortop = <)
create aggregate a (*) (sfunc = f, stype = int8)
create aggregate a (int order by text) (sfunc = f, stype = internal, hypothetical)
create aggregate a (variadic int[] order by variadic int[]) (sfunc = f, stype = internal)
create aggregate a (order by text) (sfunc = f, stype = internal)
create aggregate a (basetype = int, sfunc = f, stype = int, sortop = operator(pg_catalog.>), x = none, y = setof int)
create operator + (leftarg = int, rightarg = int, function = f, commutator = +, negator = operator(s.-), hashes, merges)
create operator s.@@ (rightarg = double precision, procedure = s.f, restrict = eqsel, join = eqjoinsel)
create operator class c default for type int using btree family s.f as operator 1 <, operator 2 s.<= (int, int8), operator 3 = for search, operator 4 <-> (int, int) for order by s.float_ops, function 1 f, function 2 (int, int8) s.g(int, text), storage text
create operator class c for type text using gin as storage text
create operator family f using btree
create text search parser p (start = a, gettoken = b, end = c, lextypes = d)
create text search dictionary d (template = simple, stopwords = 'x', a = 1, b = s.c)
create text search template t (lexize = f)
create text search configuration c (parser = default)
create text search configuration c (copy = s.english)
create collation c (locale = 'x', provider = icu, deterministic = false)
create collation if not exists s.c from "C"
create collation c from pg_catalog."x"
create collation if not exists c (lc_collate = 'x', lc_ctype = 'y')
create cast (int as text) with function f(int) as implicit
create cast (s.t as double precision) without function as assignment
create cast (int[] as text) with inout
create cast (int as text) with function s.f
do 'x'
do $$begin end$$ language plpgsql
do language plpgsql 'x'
call p()
call s.p(1, a => 2, variadic b)
create trigger x before insert on t execute function f()
create or replace trigger x after insert or update of a, b or delete or truncate on s.t referencing old table as o new table n for each row when (old.a is distinct from new.a) execute procedure s.f('a', 1, 1.5, b)
create trigger x instead of update on v for row execute function f()
create trigger x before delete on t for each statement execute function f(true)
create constraint trigger x after insert on t from s.u deferrable initially deferred for each row when (a) execute function f()
create constraint trigger x after update on t not deferrable initially immediate for each row execute function f()
create event trigger x on ddl_command_start execute function f()
create event trigger x on sql_drop when tag in ('DROP TABLE', 'x') and a in ('b') execute procedure s.f()
create policy p on t
create policy p on s.t as restrictive for select to public, current_user, "A" using (a > 0) with check (b)
create policy p on t as permissive for all
create policy p on t for update with check (true)
alter policy p on t rename to q
alter policy p on t to x, session_user using (a) with check (b)
alter policy p on t with check (a)
create rule r as on insert to t do nothing
create or replace rule r as on update to s.t where old.a > 1 do instead (update u set a = 1; delete from v; notify x)
create rule r as on select to t do instead select 1
create rule r as on delete to t do also insert into u values (1)
create rule r as on delete to t do instead nothing
create extension x
create extension if not exists "x-y" with schema s version '1.0' cascade
create extension x version abc
create publication p
create publication p for all tables with (publish = 'insert')
create publication p for table only t (a, b) where (a > 1), s.u, tables in schema x, current_schema
create publication p for tables in schema a, table t, u
alter publication p add table t, tables in schema s
alter publication p set table t (a)
alter publication p drop table t, u
alter publication p set (publish = 'insert, update')
alter publication p rename to q
alter publication p owner to x
create subscription s connection 'x' publication a, b with (enabled = false, slot_name = none)
alter subscription s connection 'x'
alter subscription s set publication a, b with (refresh = false)
alter subscription s add publication a
alter subscription s drop publication a with (refresh)
alter subscription s refresh publication with (copy_data = true)
alter subscription s enable
alter subscription s disable
alter subscription s set (synchronous_commit = off)
alter subscription s skip (lsn = '0/1')
alter subscription s rename to t
alter subscription s owner to x
-- Objects
drop table t
drop table if exists t, s.u cascade
drop view v restrict
drop materialized view if exists v, w
drop index concurrently if exists x
drop index x, s.y cascade
drop sequence s
drop foreign table t
drop collation if exists c
drop conversion c
drop statistics s, t
drop text search parser p
drop text search dictionary if exists d cascade
drop text search template t
drop text search configuration c, s.d
drop schema if exists a, b cascade
drop database d
drop database if exists d with (force)
drop database d (force, force)
drop extension a, b cascade
drop language if exists plpgsql
drop event trigger t
drop publication p, q
drop subscription if exists s
drop type t, s.u cascade
drop domain if exists d
drop function f, s.g(int, text), h()
drop procedure if exists p(inout a int) cascade
drop routine r
drop aggregate a(int), s.b(*), c(int order by text)
drop operator + (int, int), s.- (none, int), @@ (double precision, text)
drop operator class if exists c using btree
drop operator family s.f using hash cascade
drop cast (int as text)
drop cast if exists (s.t as int) cascade
drop trigger t on s.u
drop trigger if exists t on u cascade
drop rule r on t
drop policy if exists p on t
drop role a, b
drop user if exists a, current_user
drop group g
drop owned by a, session_user cascade
drop owned by a restrict
reassign owned by a, b to c
comment on table t is 'x'
comment on column s.t.a is null
comment on constraint c on t is 'x'
comment on constraint c on domain d is 'x'
comment on trigger x on s.t is 'x'
comment on rule r on t is 'x'
comment on policy p on t is 'x'
comment on function f(a int, b text) is 'x'
comment on procedure p is 'x'
comment on routine r() is 'x'
comment on aggregate a(*) is 'x'
comment on aggregate a(int, text) is 'x'
comment on operator + (int, int) is 'x'
comment on operator s.@ (none, int) is 'x'
comment on operator class c using btree is 'x'
comment on operator family f using btree is 'x'
comment on cast (int as text) is 'x'
comment on type s.t is 'x'
comment on domain d is 'x'
comment on large object 123 is 'x'
comment on database d is 'x'
comment on schema s is e'a\\b'
comment on role r is 'x'
comment on extension e is 'x'
comment on event trigger e is 'x'
comment on language l is 'x'
comment on publication p is 'x'
comment on subscription s is 'x'
comment on tablespace t is 'x'
comment on access method m is 'x'
comment on server s is 'x'
comment on foreign data wrapper w is 'x'
comment on index i is 'x'
comment on sequence s is 'x'
comment on view v is 'x'
comment on materialized view v is 'x'
comment on foreign table t is 'x'
comment on collation c is 'x'
comment on conversion c is 'x'
comment on statistics s is 'x'
comment on text search parser p is 'x'
comment on text search dictionary d is 'x'
comment on text search template t is 'x'
comment on text search configuration c is 'x'
alter schema s rename to t
alter schema s owner to public_
alter database d rename to e
alter database d owner to x
alter language plpgsql rename to x
alter language plpgsql owner to x
alter role a rename to b
alter user a rename to b
alter group a rename to b
alter extension e update
alter extension e update to '1.1'
alter extension e set schema s
alter extension e add table t
alter extension e drop function f(int)
alter extension e add aggregate a(int)
alter extension e add cast (int as text)
alter extension e add operator + (int, int)
alter extension e drop operator class c using btree
alter extension e add type t
alter extension e add schema s
alter event trigger x disable
alter event trigger x enable
alter event trigger x enable replica
alter event trigger x enable always
alter event trigger x rename to y
alter event trigger x owner to y
alter collation c refresh version
alter collation c rename to d
alter collation c owner to x
alter collation s.c set schema x
alter statistics s set statistics 100
alter statistics if exists s set statistics -1
alter statistics s rename to t
alter statistics s owner to x
alter statistics s set schema x
alter aggregate a(int) rename to b
alter aggregate a(*) owner to x
alter aggregate s.a(int order by text) set schema x
alter operator + (int, int) owner to x
alter operator + (int, int) set schema s
alter operator s.@@ (none, int) set (restrict = f, join = none)
alter operator class c using btree rename to d
alter operator class c using btree owner to x
alter operator class c using btree set schema s
alter operator family f using btree rename to g
alter operator family f using btree owner to x
alter trigger t on s.u rename to v
alter trigger t on u depends on extension x
alter rule r on t rename to s
alter large object 5 owner to x
alter text search parser p rename to q
alter text search dictionary d owner to x
alter text search template t set schema s
alter text search configuration c rename to d
-- Roles and privileges
grant select on t to a
grant all on t to public
grant all privileges on table s.t, u to a, current_user, session_user with grant option
grant select (a, b), insert (c), update, delete, truncate, references (d), trigger on t to a granted by current_user
grant all (a) on t to b
grant usage, select on sequence s to a
grant usage on schema a, b to c
grant create, connect, temporary, temp on database d to a
grant execute on function f(int), s.g to a
grant execute on procedure p() to a
grant all on routine r to a
grant usage on language plpgsql to a
grant usage on type t, s.u to a
grant usage on domain d to a
grant usage on foreign data wrapper w to a
grant usage on foreign server s to a
grant create on tablespace t to a
grant select on large object 1, 2 to a
grant set, alter system on parameter a.b, work_mem to c
grant select on all tables in schema a, b to c
grant usage on all sequences in schema a to c
grant execute on all functions in schema a to c
grant execute on all procedures in schema a to c
grant execute on all routines in schema a to c
revoke select on t from a
revoke grant option for all on t from a, public cascade
revoke insert (a) on t from b granted by session_user restrict
grant a to b
grant a, b to c, current_role with admin option granted by d
revoke a from b
revoke admin option for a, b from c granted by current_user cascade
alter default privileges grant select on tables to a
alter default privileges for role a, current_user in schema b, c grant all on sequences to public with grant option
alter default privileges for user a revoke execute on functions from public
alter default privileges in schema s revoke grant option for usage on types from a cascade
alter default privileges grant usage on schemas to a
alter default privileges grant all privileges on routines to a
create role r
create role r with superuser createdb createrole inherit login replication bypassrls connection limit 5 password 'x' valid until '2030-01-01'
create role r nosuperuser nocreatedb nocreaterole noinherit nologin noreplication nobypassrls encrypted password 'x' in role a, b role c user d admin e sysid 5
create user u password null in group g
create group g user a, b
create role "A" connection limit -1
alter role r with nologin
alter role current_user password 'x'
alter user u superuser
alter user u user a, b
alter group g add user a, b
alter group g drop user a
alter role r set a to 1, 'x', y
alter role all set a.b = on
alter role r in database d set x from current
alter role r in database d reset all
alter user u reset a
alter role all in database d set timezone to 'utc'
alter database d set a to default
alter database d reset a
alter system set a = 1
alter system reset a
alter system reset all
create database d
create database d with owner a template = b encoding 'utf8' connection limit 5 tablespace default lc_collate 'C' lc_ctype = 'C' is_template true allow_connections = false strategy wal_log
create database d owner = default location default
alter database d with connection limit 5 is_template true
alter database d allow_connections = false
alter database d set tablespace x
alter database d refresh collation version
-- The session
begin
begin work
begin transaction isolation level serializable, read only, deferrable
start transaction isolation level repeatable read read write not deferrable
start transaction
begin isolation level read committed
begin isolation level read uncommitted
commit
commit work and chain
commit and no chain
end
end transaction
rollback
abort
rollback and chain
savepoint a
release a
release savepoint a
rollback to a
rollback work to savepoint a
prepare transaction 'x'
commit prepared 'x'
rollback prepared 'x'
set transaction isolation level serializable
set local transaction read only
set session characteristics as transaction read write, isolation level read committed
set transaction snapshot 'x'
set constraints all deferred
set constraints a, s.b immediate
set a = 1
set a to 1, -2.5, 'x', y, on, true, false
set session a.b.c to default
set local a to "X"
set time zone 'utc'
set time zone local
set time zone default
set time zone -5
set time zone 1.5
set time zone interval '1' hour to minute
set local time zone interval '-3:00'
set time zone utc
set timezone to 'x'
set schema 'a'
set names 'utf8'
set names default
set names
set role none
set role a
set role 'b'
set local role c
set session authorization a
set session authorization 'a'
set session authorization default
set session session authorization a
set xmloption_ to 1
set a from current
set search_path = a, "B", 'c'
set datestyle to iso, mdy
set "Foo".bar to 1
reset a
reset a.b
reset all
reset time zone
reset transaction isolation level
reset session authorization
show a
show a.b
show all
show time zone
show transaction isolation level
show session authorization
prepare p as select 1
prepare p (int, text[], double precision) as insert into t values ($1, $2)
prepare p as update t set a = $1
prepare p as delete from t
prepare p as merge into t using u on true when matched then delete
prepare transaction as select 1
execute p
execute p(1, 'a', b + 1)
deallocate p
deallocate prepare p
deallocate all
deallocate prepare all
declare c cursor for select 1
declare c binary insensitive no scroll cursor with hold for select 1 for update
declare c asensitive scroll cursor without hold for (select 1)
declare c cursor for values (1)
fetch c
fetch from c
fetch next from c
fetch prior in c
fetch first c
fetch last from c
fetch absolute -5 from c
fetch relative 3 from c
fetch 5 c
fetch -5 from c
fetch all c
fetch forward c
fetch forward 5 from c
fetch forward all in c
fetch backward from c
fetch backward 5 c
fetch backward all from c
move 5 from c
move backward all in c
close c
close all
listen a
unlisten a
unlisten *
notify a
notify a, 'x'
lock t
lock table only t, s.u in access share mode
lock t in row share mode nowait
lock t in row exclusive mode
lock t in share update exclusive mode
lock t in share mode
lock t in share row exclusive mode
lock t in exclusive mode
lock t in access exclusive mode nowait
lock t nowait
discard all
discard plans
discard sequences
discard temp
discard temporary
-- Upkeep
explain select 1
explain analyze select 1
explain verbose select 1
explain analyze verbose insert into t values (1)
explain (analyze, verbose false, costs off, buffers on, format json, x 5, y 'a', timing true) update t set a = 1
explain delete from t
explain merge into t using u on true when matched then delete
explain declare c cursor for select 1
explain create table t as select 1
explain create materialized view v as select 1
explain refresh materialized view v
explain execute p(1)
explain (select 1)
explain (analyze) (select 1)
vacuum
vacuum t
vacuum full freeze verbose analyze s.t (a, b), u
vacuum (full, freeze off, parallel 4, index_cleanup auto, analyze) t, u (a)
vacuum analyze
analyze
analyse verbose t
analyze s.t (a, b), u
analyze (verbose, skip_locked true) t
cluster
cluster t
cluster verbose t using i
cluster i on t
cluster (verbose, x) s.t using i
cluster verbose
reindex table t
reindex index concurrently s.i
reindex (verbose, concurrently off, tablespace x) schema s
reindex database d
reindex system concurrently d
checkpoint
load 'x'
-- What looks wrong, but is not
select
select * from t where a == b
select 1 select
select a in
select a is
select a like
select a and
select a is null is
select exists
select a collate
select interval
select interval '1' years
select date
select int
select default
select t.* as x
select e'\xZZ'
select b'2'
select x'1g'
select a -- b
select a; select
select 1 into a union select 2 into b
update t set (a) = 1
update t set (a, b) = 1
update t set (a, b) = c
update t set t.* = 1
copy t from stdin with
create table t (a int) partition by x (a)
create unlogged view v as select 1
create function f()
alter index i alter a set statistics 1
alter database d
alter default privileges grant select (a) on tables to b
drop operator + (int, none)
comment on column a is 'x'
set time zone interval(3) '1'
do language x
