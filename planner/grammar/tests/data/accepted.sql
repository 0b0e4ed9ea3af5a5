select region, product, count(*) from sales group by (region, product) order by 1, 2
----
reset datestyle
----
create table t (a int primary key, b text not null default 'x', c numeric(10,2))
----
alter default privileges in schema nosuch grant select on tables to other
----
alter table def add constraint c49 check ((a, b) < (1, 2))
----
drop owned by postgres
----
select (1, 2) between (1, 2, 3) and (1, 2)
----
select 0.1 = 0.1::float8
----
select 1 = '1', 1 = '1.5', 'a' = 'b', '1' < '2'
----
select pg_typeof(t4) from t4
----
alter table t alter column a drop not null
----
select id, n as id from a order by id
----
select a.b.c from held
----
update c set k = k - 2
----
create schema s1 create table t1 (a int primary key, b text) create view v1 as select a from t1 create index t1_b on t1 (b) create sequence q
----
select cardinality(array[[1,2],[3,4]])
----
select region, product, year, sum(amount) from sales group by rollup (region), cube (product, year) order by 1, 2, 3, 4, grouping(region, product, year)
----
select date '2020-01-01' - '2019-12-01', timestamp '2020-01-01' - '2019-12-01', timestamp '2020-01-01' + '1 day', '1 day' + timestamp '2020-01-01', pg_typeof(timestamp '2020-01-01' - '2019-12-01')
----
with x as (select 1) select * from x union all select 2 order by 1
----
select * from wn_ia where id in (select wn_ic.id from wn_ib, wn_ic where wn_ib.id > wn_ia.v)
----
select (t1).name from t1 order by num
----
select oid::regtype, typlen, typcategory, typispreferred from pg_type where oid in (16, 20, 21, 23, 25, 700, 701, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950, 3802) order by oid
----
create index on t ((a * 2), (c * 2))
----
select l.x, s, s.d from (values (1), (3)) l (x) left join lateral (select sum(b) as d, count(*) as c from t where a = l.x) s on s.c = 0 order by 1
----
SELECT datname, usename, state, query FROM pg_stat_activity WHERE pid = pg_backend_pid()
----
select a.x, b.y, s.z from (values (1), (2)) a(x) cross join (values (10), (20)) b(y) cross join lateral (select b.y + 1 union all select b.y + 2) s(z) where a.x < s.z order by 1, 2, 3
----
alter role ra set search_path to sx, "Public", public
----
insert into keyed values ('sad', 4)
----
update t set (n, a[1]) = (select 10, 11) where id = 1 returning *
----
declare c cursor for select * from t for update
----
set my.other = 5
----
update vz.of_a2 set id = 23 where id = 22 returning id
----
alter default privileges grant select (a) on tables to other
----
set search_path = resolution
----
select t1, '(1,2)'::t1, row(1, 2)::t1 from t1 order by a
----
select * from lk where a like 'ab%' order by a
----
select p.nm, count(*) from pkt p join t2 on true group by p.id order by 1
----
update d set (a, b) = ((default), 7) where b = 3
----
copy g from stdin
----
select reverse('ab')
----
select i, sum(i) over (order by i rows between 1 preceding and current row), rank() over (order by i) from (values (interval '1 mon'), ('30 days'), ('2 mons'), ('1 day')) v(i) order by i, 2
----
select x, row_number() over (partition by l.e order by x) from w2 left join (select d, true e from w1 where d < 3) l on l.d = w2.x order by 1
----
insert into t values (11, 1); begin; insert into t values (12, 1); rollback; select a from t where a in (11, 12)
----
select array_position(array[array[1]], array[1])
----
select pg_get_userbyid(grantor), admin_option from pg_auth_members where member = (select oid from pg_roles where rolname = 'rb')
----
select array_agg(x order by x desc), array_agg(distinct x), array_agg(x) filter (where x[1] = 1) from (values (array[[1,2]]), (array[[3,4]]), ('{{1,2}}')) v(x)
----
create table kept (a int, b int)
----
select 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz'::name
----
select table_name, view_definition, is_updatable from information_schema.views where table_schema = 'app'
----
select 1 <> 2, 1 != 2, 1 is distinct from null, null is distinct from null, 1 is not distinct from 1
----
DROP DATABASE opted_too (force, force)
----
SELECT attname, attstorage FROM pg_attribute WHERE attrelid = 'retyped'::regclass AND attnum > 0 ORDER BY attnum
----
select id, percent_rank() over (order by u desc nulls last range between unbounded preceding and current row) from wz order by id
----
update t1 set b = (row(1, 'z')::t1).b where a = 4 returning t1, t1.*
----
select a + 1, count(*) from sets group by rollup (a, a + 1) having a + 1 > 1 order by 1, 2
----
comment on index p_e is 'an index'
----
select 1::int::bool::text
----
drop table w
----
alter table def add constraint c23 check (length(t) < 10)
----
insert into t values (1, 'x', 1, 1) on conflict do nothing
----
select cos(0)
----
fetch next from c
----
select true::int, 1::bool, 0::text::bool, 'on'::bool, 'tru'::bool
----
drop table nosuch
----
create table t as select * from t where a = 1
----
comment on index t_pkey is 'index of the key'
----
insert into c values (1, 9, 'n'), (5, 5, 'e') on conflict do nothing returning *
----
select pg_typeof('a' || 'b')
----
update cv set id = 2 where n = 3
----
insert into public.t values (10, 'permanent')
----
select t.id, row_number() over (order by at desc) from trade t join kind k on k.id = t.kind_id where account = 12 order by 2 limit 5
----
insert into w (x, y) values (1, 'ww') on conflict on constraint t_pkey do nothing
----
select 1 from asked_a q1, asked_a q2 where exists (select 1 from asked_a q7 where q2.a+1>q7.a)
----
SELECT abs(a) WITHIN GROUP (ORDER BY a) FROM beside
----
update p set nosuch = 1
----
update child set sec = null where n = 3
----
select make_interval(days => 1, 5)
----
select 1.5 = 1.50
----
grant connect on database taken_far to taken_three
----
select id from (select id, v from ordered order by v desc, id limit 9) q order by id limit 3
----
create table nn (a int, b int generated always as (a) stored not null)
----
select o.f, count(o.z), max(o.t), sum(distinct o.a) from fo o group by o.f order by 1, 2, 3, 4
----
alter database postgres reset all
----
select id from o order by (select count(*) from p where p.oid = o.id) desc, id
----
select x in (1, 2.0, 3000000000), x in (1, 2.5), x not in (0, 3000000000, null) from n order by x
----
select grouping(region), pg_typeof(grouping(region)) from sales group by region limit 1
----
select region from sales group by rollup (region) for update
----
select (select count(*) from va) as c, exists (select 1 from va where bs > 100) as e
----
create table z as select * from (values (1,'0'::float8),(2,'-0'::float8),(3,'1'::float8)) v(id,x)
----
select (select 1 limit 0)
----
create table x (a int, b int, foreign key (a, b) references p (c, c))
----
select json_agg(json_build_object('id', id, 'name', b ->> 'name') order by id) from doc
----
select n, n2, rank() over (order by n::text), rank() over (order by n + n2) from w order by id
----
select array[], 1
----
alter table def add constraint c75 check (a & 3 = 1 and a | 1 > 0 and a << 2 > 1)
----
create view w56 as select coalesce(b, d, 'x') as co, nullif(a, 0), greatest(a, 1) from p where b in ('x', 'y') and d in ('x', 'y') and a between 1 and 5
----
select '{"a": [1,2,3,4]}'::jsonb @? '$.a[*] ? (@ > 2)', '{"a": [1,2,3,4]}'::jsonb @@ '$.a[*] > 2', jsonb '{"a":1}' @? '$.b', jsonb '{"a":1}' @@ '$.a', jsonb '{"a":1}' @@ 'strict $.b == 1'
----
select timestamp '4714-11-24 BC' at time zone interval '1 hour'
----
select regr_avgx(y, x) from (values (1::float8, 1.7e308::float8), (2, 1.7e308)) v (y, x)
----
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM of_defaults
----
select min(g), max(g), min(h), max(h) from "T x"
----
insert into t1 (id, u) values (11, 1) on conflict on constraint t1_pkey do nothing returning id
----
insert into mixing values (1, null)
----
CREATE INDEX classed_b ON classed (b varchar_pattern_ops, lower(a) text_pattern_ops, c bpchar_pattern_ops, d int4_ops, a text_ops)
----
declare broken cursor for select 1 / (a - 3) from t order by a
----
select sign(0)
----
select id, cume_dist() over (order by t  groups between unbounded preceding and 1 preceding) from wz order by id
----
insert into o (x) values (1),(2),(3) returning id
----
create unique index ue_lower on ue (lower(e))
----
select count(*), sum(i.id), sum(a.n) from asked a join items i on i.kind = a.kind where i.kind >= 3 and a.n < 8
----
select 1 union (select 2 except select 2)
----
drop function nosuch()
----
select k, m, sum(k) over (partition by k, m order by m) from (select k, min(c) m from wn_t2 group by k order by k) s
----
select 'é' like '_', char_length('é'), translate('é', 'é', 'x'), strpos('aé', 'é'), position('é' in 'aé'), reverse('éa'), left('éa', 1), ascii('é'), lpad('é', 3, 'è')
----
update cells set a[1] = 'x'::text where id = 1
----
select a from s group by a, ctid order by a
----
select * from la, (lb join lateral (select la.x as w) s on true) order by 1, 3
----
insert into o values (1,10,1.0,'a','2020-01-01'),(2,20,2.50,'b','2020-02-01'),(3,null,null,null,null),(4,10,4,'d','2021-01-01')
----
select power(2.5, -2.5)
----
select statement_timestamp() >= transaction_timestamp()
----
create table t (a int, b int, s text, arr int[])
----
create role pqc connection limit -2
----
select usename from pg_shadow limit 0
----
update c as q set b = q.b || 'q' where current of s returning q.*
----
select width_bucket(now(), array['yesterday', 'today', 'tomorrow']::timestamptz[])
----
alter table products add column qty int not null default 3 check (qty > 0)
----
select json '1' except all select json '2'
----
select o.v from fo o where o.m < case when o.a = o.m then o.f else o.f end union select p.v from fp p where 1 < p.m order by 1
----
select o.id, p.pid from fo o full join fp p on o.a = p.b and o.b <= 3 order by 1, 2
----
select mod(5::float8, 2)
----
select region, product, count(*) from sales group by grouping sets ((region, product), grouping sets ((region), rollup (product))) order by 1, 2, 3
----
select quote_literal('ab'::char(4)), quote_nullable('a'::char(3)), quote_nullable(null::char(3)), quote_literal(array['a'::char(3)]), format('%L', 'a'::char(3))
----
select * from generate_series(timestamptz '2024-01-02', '2024-01-01', '-12 hours') g
----
select * from kc order by id
----
insert into g (a) values (null)
----
select n, count(*), sum(n) from sales group by rollup (n) order by 1, 2
----
select * from e order by id for share
----
select o.id from o join p on p.oid = o.id and p.v > (select avg(v) from p) order by 1
----
select o.id from fo o where o.t <= o.t order by 1
----
alter table def add constraint c70 check (row(a, b) is not null)
----
create view x9 as select y from q group by (y) order by (y), 1+1, 'x'||y
----
select id from t order by id limit 3 offset 2
----
select 3.10::text
----
select id from a order by 'x'
----
select id from vz.other join vz.v using (id)
----
select * from nosuch
----
delete from t1 returning count(*)
----
select * from prv
----
select * from unnest(array[1,2]) u
----
create table d (id integer default 7, n text default 'x' || 'y', ts timestamp default now(), b boolean default true not null)
----
select session_user
----
select y, count(*) from a group by y order by y
----
grant insert (a, b) on pt to view_owner
----
select a.id, b.id from a left join b on b.id = any (select c.id from b c where c.a_id = a.id) and b.w > all (select 1) order by 1, 2
----
select a.name, b.title from author a full join book b on b.author_id = a.id order by a.id, b.id
----
set seed = 0.5
----
select o.id, p.pid from fo o right join fp p on o.a = p.b and p.b = 1 order by 1, 2
----
select lo_put(5002, 2147483648, 'far'), lo_unlink(5001 + 1)
----
select name, name, 'p' from a union all select name, coalesce(name, 'n'), name from c order by 1, 2, 3
----
select count(*) >= 0 from pg_stat_user_tables
----
with d as (delete from log returning what) select what, count(*) from d where what in (select what from d) group by rollup (what) order by 1
----
select substring('Thomas', 2, 3)
----
CREATE TABLE classed_too (LIKE classed INCLUDING INDEXES)
----
prepare s(int, int) as select a from m where a in ($1, $2) order by a limit $1
----
select sum(id) over (order by id rows between -1 preceding and current row) from framed
----
select x.a, l.y, z.a from t x, lateral (select x.a+1) l(y) full join t z on l.y=z.a order by 1,2,3
----
select * from clock order by t
----
with w as (select 7) insert into log(what) values ((select 'v' || max(id) from stock)) returning what
----
select distinct on (r.b) r.b, l.a from pk1 l join pk2 r on l.k = r.k order by r.b, l.a desc
----
create table keyed (k jsonb primary key, v int)
----
copy c to stdout (header match)
----
select max(i) from listed having max(i) = '{1,null}'
----
select o.f, count(o.f), count(o.f), avg(o.m) from fo o where (((o.t || o.t) > o.v and o.n not in (o.b, null, 2)) or (o.f * o.m) <= 2) group by o.f order by 1, 2, 3, 4
----
select t.id, p.name from trade t left join place p on p.area = t.area and p.number = 4 where account = 5 order by at, t.id limit 12
----
select constraint_name, constraint_type from information_schema.table_constraints where table_schema = 'app' and constraint_type <> 'CHECK' order by 1
----
select stddev(d), variance(f) from a where id < 3
----
select chr(-1)
----
select id from far where d = t order by id
----
with u as (update stock set n = 0 where id = 1 returning *) select id, n from stock order by id
----
select xmin < '5'::xid from k
----
select jsonb_path_exists('{"a": 1}', 'strict $.b', silent => true)
----
select pg_typeof(now())
----
select o.v from fo o where o.a = (select min(s1.b) from fp s1 where s1.z) except select p.v from fp p where (p.b >= p.m or p.b >= (p.m - p.m)) order by 1
----
create table l1 (a int, b int generated always as (a * 3) stored)
----
select id from words where w ilike 'é%' order by id
----
select 'abc'::bytea
----
select date_bin('15 minutes', timestamp '2020-02-11 15:44:17', timestamp '2001-01-01'), date_bin('1 day', timestamptz '2020-02-11 15:44:17', '2001-01-01 12:00'), date_bin('7 days', date '2020-02-11', '2001-01-01')
----
deallocate inferred
----
select sum(id) over (order by n range between -1 preceding and current row) from framed
----
select make_timestamp(year => 2020, month => 2, mday => 29, hour => 1, min => 2, sec => 3)
----
create sequence pairs
----
insert into parent values (1, 'm@x', 'S1'), (2, 'n@x', 'S2')
----
select o.id, (nullif(o.b, o.f) > o.b) as p from fo o order by 1
----
prepare excluding(int) as select id, sum(id) over (order by id rows between $1 preceding and $1 following exclude current row) from excluded_rows order by id
----
update uv set d = 1
----
create view w51 as select a as "A b", b as "select" from p
----
select 'abc'::name like 'ab%'
----
alter table products add column description text
----
select o.id from vz.other o join vz.v on o.s = v.secret
----
select pg_current_xact_id()::text <> ''
----
select 5::oid < 6::oid
----
select date '2020-01-01' + 1/0 from e
----
select 1 / v from a where v = 0
----
select '192.168.0.0/24'::cidr
----
alter type z_s.e owner to z_plain
----
select percentile_disc(0.5) within group (order by x), mode() within group (order by x) from (values (interval '1 day'), (interval '24 hours'), (interval '3 days')) v(x)
----
select generate_series(3, 1), 1
----
select o.id from fo o where (o.v is null) is not false order by 1
----
select id + 1, id * 2, id - 1, id / 2, id % 2, -id from item order by id
----
select t.id, p.name from trade t left join place p on p.area = t.area and p.number = t.number and p.area > 8 where account = 4 order by t.id
----
select interval '100' second
----
drop view uvg, uvc, uv
----
select array[[1, 2], ['x'::text, '3']]::numeric[]
----
savepoint outside
----
select '{"a":1,"b":2,"c":3}'::jsonb - array['a','b']
----
select greatest('-0'::float8, 0), least(0, '-0'::float8), greatest(0::float8, '-0'::float8), least('-0'::float8, '0'::float8), greatest('-0'::float4, 0::float4), greatest('nan'::float8, 'infinity', null)
----
create table parts (item int, part int, note text, primary key (item, part))
----
create view cv as select * from child
----
create table if not exists fresh as values (1, 'a'), (2, 'b')
----
select count(*), sum(i.id), count(a.n) from items i left join asked a on a.n = i.kind - 1 where i.id <= 900
----
CREATE INDEX ON indexed ((null))
----
create sequence app.seq start 5
----
select o.id from o where k = all (select k from o o2 where o2.id = o.id) order by 1
----
select coalesce(row(1,2), row(3,4)), case when false then row(1,2) end
----
select ((((select 1 as a) union all (select 2)) order by a desc) limit 1)
----
SELECT (1, 2) OVERLAPS (3, 4)
----
select jsonb_path_query('[1,[2]]','strict $.**[0]'); select '[1,"x",null,true,{"a":2}]'::jsonb @? 'strict $.**{1}[0]'
----
update doc set b = jsonb_set(b, '{age}', '37') where id = 1 returning b
----
create type seen.mood as enum ('a')
----
select array_length(histogram_bounds::text::text[], 1), (histogram_bounds::text::text[])[1:3] from pg_stats where tablename = 'anl' and attname = 'a'
----
execute queue(2)
----
set time zone interval '90' minute; show timezone
----
select jsonb_each('{"a":1}')
----
alter table passes alter b type int using length(c) * 10, alter c type int using a * 100, drop column nosuch
----
insert into vz.v (id) values (1) on conflict (id) do update set secret = 'e'
----
drop schema if exists nosuch
----
create database letters_copy template letters_c
----
select min(n), max(n) from a where n > 2
----
select * from jsonb_each_text('{"a":"foo", "b":null, "c":[1]}')
----
SELECT column_name, ordinal_position, dtd_identifier FROM information_schema.columns WHERE table_name = 'numbered' ORDER BY 2
----
select a, count(*) from nothing group by a, ()
----
select 1e308::float8 * 10
----
alter table def add constraint c18 check (v ~ '^[a-z]+$')
----
select * from pv order by 1
----
ALTER TABLE d1 ADD CONSTRAINT d1_u UNIQUE USING INDEX d1_b DEFERRABLE INITIALLY DEFERRED
----
select a, b from s order by a
----
select id, first_value(id) over (order by f desc, a desc, id rows between 1 preceding and 1 following) from wz order by id
----
delete from o where id not in (select oid from p where oid is not null) returning id
----
explain (costs off) execute ins(8)
----
drop owned by r1b, r2
----
select ('{"a": {"b": 5}}'::jsonb)['a']['b'], ('[1,2]'::jsonb)[1], ('{"a":1}'::jsonb)['zz'], ('[1,2]'::jsonb)['-1'], ('{"1":2}'::jsonb)[1]
----
select * from (select count(*) c from t) q where now() < '2000-01-01'
----
drop type _pqmood
----
create table placed (a int check (exists (select 1)))
----
select date '2001-09-28' + 7
----
update span set i = i + interval '1 us', y = y * 2 where i = '2 hours' returning *
----
select id, sum(id) over (w rows between 1 preceding and 1 following exclude current row), sum(id) over (w rows unbounded preceding exclude ties) from excluded_rows window w as (partition by g order by t) order by id
----
grant rc to rb granted by nosuch
----
select a, b from tied order by b desc nulls last fetch first 2 rows with ties
----
select case when true then '2020-01-01'::date else '2021-01-01'::timestamp end
----
ALTER DATABASE postgres OWNER TO ra
----
select count(*) over (order by t range '-1 hour' preceding) from (values ('10:00+00'::timetz)) v(t)
----
select pg_size_pretty(1e15::numeric)
----
insert into uqn values (null)
----
SELECT x.a, (SELECT count(*) FROM beside y GROUP BY y.b HAVING count(*) NOT IN (SELECT x.a) LIMIT 1) FROM beside x ORDER BY 1
----
select o.id from fo o where (o.b - o.n) not in (o.a, null, 0) order by 1
----
select id, sum(n) over (partition by u order by f , id rows between 1 following and 3 following) from wz order by id
----
set default_statistics_target = 10
----
select id, (select count(*) from u where u.t_id = t.id) from t order by id
----
select coalesce(id, name) from hinted
----
select jsonb '{"a":1}' - 'b'
----
copy t to stdout with (format binary)
----
select * from v1 where a > 0 and x::int > 7
----
select '3'::xid = any (array[3, 4]), '3'::xid = all (array[3, 4])
----
select id, sum(i) over (order by b8 range between 4 preceding and current row) from w order by id
----
select percentile_cont(x) within group (order by y) from (values (0.5, 1), (0.5, 2)) t(x, y) group by x
----
with i as (insert into stock values (20, 'new', 1) returning *) update stock set n = 5 where id = 20 returning *
----
select sum(sum(i)) over (), count(*) from w
----
create index expr on t ((a || ' ' || b))
----
select fl.g, fr.g from fl join fr on fl.g = fr.g where fr.g::text = '0' order by fl.a
----
select ceil(-42.8)
----
select extract(epoch from timestamp '2001-02-16 20:38:40.12')
----
select sum(i) as s, sum(i) * 2 as d from a having sum(i) > 5
----
select a from lo_a a order by a desc
----
lock table v
----
with a as (insert into stock values (1, 1) on conflict (id) do update set n = (select 11 from log where log.id = stock.id limit 1) returning n), b as (insert into stock values (2, 1) on conflict (id) do update set n = (select 22 from log where log.id = stock.id limit 1) returning n) select * from a union all select * from b order by 1
----
select pg_sleep(0)::bytea
----
select * from unnest(array['a','b']) with ordinality as u(x, n)
----
INSERT INTO te VALUES ('c')
----
select i from asg where t = 5
----
select * from (select a as x, a as y, count(*) from twice group by cube (1, 2)) s order by 1, 2, 3
----
create view tv2 as select * from p
----
select count(*) from z where x between '-0' and '0'
----
select tableowner from pg_tables where tablename = 'mine'
----
select jsonb_typeof('1')
----
execute by_groups(1)
----
select * from information_schema.referential_constraints where constraint_schema = 'app'
----
create view x20 as select now() - interval '1 hour' as ago, date_trunc('day', ts), extract(epoch from ts), age(ts), to_char(ts, 'YYYY') from p
----
select @ -5.0
----
select x from (values (1),(2)) v(x) where x = (select max(column1) from (values (1),(2)) w) 
----
grant select on private.p to bob
----
alter role rset set work_mem to '7MB'
----
select o.id, (select sum(s1.a) from fp s1 where nullif(s1.n, s1.m) in (s1.f, 2.5, 2)) from fo o order by 1
----
insert into t values (1, 10), (2, 20)
----
select (1, null) is distinct from (1, null), (1, null) is not distinct from (1, null), (1, 2) is distinct from (1, null), row(1) is not distinct from row(1), row(1, 2, 'x') is distinct from row(1, 2, 'y')
----
select id from l where a is distinct from 10 order by 1 nulls first
----
select h.b from held * as h join held* k using (a) order by 1
----
update t set (n, a[1]) = (select 1) where id = 1
----
create index defi9 on def ((case when a > 0 then a end))
----
grant select on s to m
----
insert into idn (v) values ('a') returning id
----
select enum_first(null::mood), enum_last(null::mood), enum_range(null::mood), enum_range('ok'::mood, null), enum_range(null, 'ok'::mood), enum_range('sad'::mood, 'ok'::mood)
----
select timestamp(0) '1999-01-08 04:05:06.5'
----
select (row(1,'b'::text)).*
----
select column_name, column_default from information_schema.columns where table_schema in ('q', 'r') order by table_name, 1
----
select x from (values ('{1.0,2}'::jsonb[]), ('{1,10}')) t(x) order by x
----
select mod(null, 2)
----
select interval '1 day' + timestamptz '2020-01-01', interval '1 day' + time '10:00', interval '1 day' + date '2020-01-01', timetz '10:00+02' + date '2020-01-01'
----
select m.A from "Mixed" as M
----
select id, rank() over (order by a nulls first, t desc range between current row and unbounded following) from wz order by id
----
select "für" from enc
----
select unnest(null)
----
select * from e order by pay desc nulls last, name desc
----
select extract(century from timestamp '2000-12-16')
----
create table identified (id int primary key, a int not null)
----
select plainto_tsquery('english', 'The Fat Rats')
----
with recursive q(n, p) as (select 1, 1 union all select n + 1, p from q where n < 5) cycle n set c using path select * from q
----
create role st_b
----
select case when v > 5 then 'big' when v is null then 'none' else 'small' end as size, count(*) from a group by 1 order by 2 desc, 1
----
insert into t2 (s) values ('abc')
----
select * from generate_series(1.0, 2.0, 0.25)
----
insert into con values (1, 1), (1, 2)
----
begin isolation level repeatable read; select 1; set transaction snapshot 'x'; rollback
----
select count(*) > 0 from pg_stats where schemaname = 'nosuch'
----
select min(x), max(x) from (values (array[1,2]), (array[[1,2]]), ('[0:1]={1,2}'), (null)) v(x)
----
select right('abcde', 2)
----
select o.id, (((o.m in (case when o.b > o.b then o.b else o.n end, 2.5, 1)) is not false and (o.n + o.m) < o.n)) as p from fo o order by 1
----
select id, ntile(null) over (order by id) from w
----
select (select count(*) from q, a) from (select 1) z, lateral (select 1) y, (with q as (select random() r) select count(*) from q x, q y where x.r = y.r) q
----
select timetz '04:05:06 PST'
----
explain select 1 from pg_authid where false
----
insert into s values (5, 'dup', 1), (5, 'dup2', 2)
----
select (select max(k) from kk group by v order by v limit 1)
----
select clock_timestamp() >= now()
----
create view no3 as select count(*) from t for share
----
select id from trade t where account < 9 and exists (select from place p where p.area = t.area and p.area = t.number and p.number = 3) order by id
----
select '5' - 2::int8
----
select id, count(*) over (order by at desc range between '3 days' preceding and current row) from w order by id
----
insert into ident (c) values (1) returning *
----
select * from s order by k
----
create table t1 (id int primary key, v varchar(5) not null default 'dflt', n numeric(4,1) check (n > 0), u int unique, ts timestamptz default now())
----
select table_name from information_schema.view_table_usage where view_schema = 'app'
----
delete from pv where a = 1
----
with recursive t(n) as (select 1, 2 union all select 1 from t) select n from t
----
select stddev(i), var_pop(i) from a where i = 1
----
select to_char(null, 'x')
----
alter view v alter column b drop default
----
select ctid from (select * from s) q
----
select count(*) from sales group by cube (id, region, product, year, amount, n), cube (id, region, product, year, amount, n), cube (id)
----
select (select array_agg(w order by w) from b where b.a_id = a.id) from a order by id
----
insert into t(s) values ('toolong')
----
select numeric_add(1, 2.5)
----
alter sequence t cache 0
----
select id, avg(n) over w, max(n) over w, min(t) over w, stddev(id) over w, bool_or(id > 4) over w from excluded_rows window w as (order by id rows 3 preceding exclude current row) order by id
----
select string_agg(id::text, ',') from (select id, v from ordered order by v desc, id) q join generate_series(1, 1) g on true
----
select name, context, vartype from pg_settings where name in ('config_file', 'data_directory', 'external_pid_file', 'hba_file', 'ident_file', 'krb_server_keyfile', 'listen_addresses', 'port', 'ssl', 'ssl_ca_file', 'ssl_cert_file', 'ssl_library', 'unix_socket_directories', 'unix_socket_group') order by 1
----
select array(select x from (values (3), (1)) v(x) order by x)
----
create table pk (a int, b int, primary key (a, b))
----
update twice set aa = 3, aa = 4
----
select set_bit(b'101010101010101010', 6, 0)
----
select '-9223372036854775808 us'::interval, '9223372036854775807 us'::interval, 'PT10'::interval, 'PT1'::interval, 'P1YT2'::interval
----
select extract(timezone_h from date '2020-08-11')
----
create table n (x int)
----
select a.name, b.title from author a left join book b on b.author_id = a.id order by a.id, b.id
----
create table last (a int references p, b int references p)
----
select a.id, v.x from a cross join lateral (values (a.id * 2), (a.id * 3)) v(x) order by 1, 2
----
set default_transaction_isolation = 'repeatable read'
----
update typed_parent set code = 'z' where id = 2
----
select * from t1 natural inner join t2 order by 1
----
create table n (a int, b text)
----
select la.a, lb.a from la left join lb on la.b is not distinct from lb.b order by 1, 2
----
update pv set a = 5
----
select constraint_name, check_clause from information_schema.check_constraints where constraint_schema = 'app' and constraint_name like '%note%' order by 1
----
drop view low cascade
----
create table pr (product_no integer, name text, price numeric check (price > 0), discounted numeric, constraint valid_discount check (price > discounted))
----
select '"Some One"'::regrole, '"Some One"'::regrole::text, to_regrole('"Some One"'), to_regrole('Some One')
----
alter schema z_s2 owner to postgres
----
discard all
----
select interval '9999999999999 s', interval '3000000000 days'
----
select oprname, oprcode, oprleft::regtype, oprright::regtype, oprresult::regtype, oprcom::regoperator, oprnegate::regoperator from pg_operator where oprname in ('=', '<') and oprleft in (20, 21, 23, 25, 1082, 1700) order by oid
----
grant usage on schema vn to vz_bob
----
select 1::varchar
----
select * from private.p
----
execute pp('294276-12-31', '5874897-01-01')
----
insert into w values (1, 22)
----
drop table if exists t
----
insert into excluding values (1, 2) on conflict (a) do update set b = excluded.b returning a, (select excluded.a)
----
insert into x (b, c) values (null, '2020-02-03')
----
select cardinality(array[[1,2],[3,4]]), cardinality('{}'::int[]), cardinality(null::int[]), cardinality('[0:3]={1,2,3,4}'::int[])
----
select (c).x, c from hascomp
----
with q as (select 1 as x) select * from q for update of q
----
insert into stock values (1, 1), (3, 3) on conflict (id) do update set n = (select count(*) from log where log.id = excluded.id) returning *
----
drop view moody
----
CREATE TABLE numbered (a int, b text[], c varchar(5)[], d numeric(5, 2)[])
----
insert into gv (id, x) overriding system value values (9, 5) returning *
----
create view w37 as select g from generate_series(1, 3) g
----
select r1 < r2 from (select row(1,2) r1, row(1,'a'::text) r2) x
----
move s
----
SELECT typacl FROM pg_type WHERE typname = 'of_nobody'
----
alter table products rename to items3
----
select a from asked_a where null::bool union select distinct b from asked_a order by 1
----
select pg_conf_load_time() < now()
----
execute moving(20, 'moved ')
----
grant all privileges on all tables in schema public to r2
----
select o.id, ((o.m + o.n) > case when o.v <= o.v then o.b else o.m end) as p from fo o order by 1
----
select array[1,2,3] || array[[1,2]]
----
delete from labelled where a = 2 returning a not
----
create schema s1 create table t1 (a int) create view v1 as select * from t1
----
select time with time zone '04:05:06.789-8'
----
update on_hand set item.price = 2.5 returning item
----
select 'postgres'::regrole::oid, 'postgres'::regrole::text, 'postgres'::regrole::regproc
----
alter table g alter column e drop default
----
insert into stock values (1, 1) on conflict (id) do update set n = (select at from log where log.id = stock.id)
----
select min('pg_class'::regclass)
----
copy c from stdin (escape 'a')
----
reset seed
----
create table defr (a int unique deferrable initially deferred)
----
create index on unseen.inside (a)
----
select * from srf(2)
----
select '1' + 1, pg_typeof('1' + 1), '2.5' + 1.0, pg_typeof('2'+1.5::float8)
----
select format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'v'::regclass and attnum > 0 order by attnum
----
alter sequence t start 0
----
create table comp (a text compression pglz)
----
select percentile_cont(g) within group (order by x) from generate_series(2,3) g, generate_series(1,5) x group by g
----
select array_ndims(array[[1,2]] || array[[3,4]]), cardinality('{{}}'::int[])
----
explain (costs off) execute q
----
select o.d, count(o.b), count(distinct o.c), sum(o.m) from fo o group by o.d order by 1, 2, 3, 4
----
select x, l.m from w2 left join (select max(k) m from w1) l on l.m = w2.x + 2 order by l.m, x
----
select c.relname, d.objsubid, d.description from pg_description d join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
  where c.relname in ('t', 'v', 't_b', 't_pkey', 's') order by 1, 2
----
insert into mdf values ('[1:1][1:1]={{8}}')
----
insert into pv values (4, 4) returning a
----
select x.a, g from t x, t y right join generate_series(1,2) g on false order by 1,2
----
select a from q order by a
----
execute shifted(2)
----
select (date '2020-01-01', interval '1 day') overlaps (date '2020-01-01', null::date)
----
drop table k
----
alter type mood add value if not exists 'meh'
----
insert into passes values (1, 10, 'x'), (2, 20, 'y')
----
select count(*) from pg_range where rngtypid = 'int4range'::regtype
----
select o.id, p.pid from fo o full join fp p on o.b = p.a order by 1, 2
----
insert into f1 values (1, 10), (2, 20), (3, null)
----
select o.d from fo o where o.a in (select s1.a from fp s1 where (s1.f = s1.f) and s1.b < o.a) intersect all select p.d from fp p where not exists (select 1 from fo s2 where s2.c < (s2.v || s2.v)) order by 1
----
select array[2] > array[1,9]
----
select y.k from wn_t0 s left join wn_t2 y on 3 = y.a where 3 = y.a order by 1
----
select a, count(*) over (order by b, a rows between unbounded preceding and current row), count(*) over (order by b, a range between unbounded preceding and current row), count(*) over (order by b, a) from wf order by a
----
select "varchar"('abc'::varchar, 6, false)
----
select * from ix where lower(b) = 'v9' and a > 3
----
select id from words where w ~* '^é' order by id
----
select (row(1, 2)).f1
----
select obj_description(5001, 'pg_largeobject')
----
SELECT enum_last(NULL::e)
----
select * from (values (1,2)) x(a,b) join (values (1,3)) y(a,c) using (a)
----
select sqrt(2)
----
comment on column t.nosuch is 'x'
----
select regr_sxx(y, x) from (values (1::float8, 1e200::float8), (2, -1e200)) v (y, x)
----
select id, lag(pay, 1, 'x') over (order by id) from w
----
set log_connections = on
----
select 1 = any (values (1))
----
create table a (id int primary key, g text not null, v int, n numeric(10,2) not null, at timestamptz)
----
select * from json_each('{"a":"foo", "b":"bar"}')
----
select a.g, b.w from a left join b on b.a_id = a.id and b.w <> 'p' order by a.id, b.id
----
select jsonb_agg(to_jsonb(a) || jsonb_build_object('bs', (select coalesce(jsonb_agg(b order by k), '[]') from lo_b b where b.i = a.i)) order by a.i) from lo_a a
----
select count(*) from (select generate_series(1, 5)) s
----
insert into placed (c[1]) values ('x'), (now())
----
create table r.f (id int default nextval('r.t'))
----
select -5 / 2
----
truncate i
----
select regexp_matches('foobarbequebaz', '(bar)(beque)')
----
drop sequence st_s
----
select * from tree
----
alter sequence t as smallint maxvalue 40000
----
select * from (select id, row_number() over (partition by dep order by pay desc nulls last) as rn from w) s where rn = 1 order by id
----
insert into pk values (1, null)
----
select indexname, indexdef from pg_indexes where tablename = 'def' order by 1
----
select count(*), sum(n) from large where not exists (select from small where id = small_id)
----
insert into ixn_b values (1)
----
insert into ue values ('a', 1) on conflict (upper(e)) do nothing
----
select 1.0 in (select 1.00)
----
analyze goods (kind)
----
alter table con add unique using index con_b
----
delete from kind where id = 'TMS'
----
select * from nosuch_seq
----
select x, count(*) from (values ('{{1.0}}'::numeric[]), ('{{1.00}}'), ('{1.0}')) v(x) group by x order by x
----
alter table i add primary key (a) deferrable
----
select e.a from e join t on e.a = t.a and 1/0 = 1
----
create role "Some One"
----
create view v05 as select j.a, t.b, u.c from t join u using (a) as j
----
create sequence s2 as smallint start 32767 no cycle
----
select o.id, p.pid from fo o right join fp p on o.a = p.b order by 1, 2
----
select (4.35 * 100)::int
----
drop sequence cw_s
----
select power('-inf'::numeric, 4.5)
----
select count(*) from hp
----
create view x8 as select string_agg(distinct y, ',' order by y desc) from q having count(*) > 1
----
alter table o alter id set maxvalue 2
----
update p set (name, price) = ('new', 5) where no = 2 returning *
----
lock table t in access exclusive mode
----
select 5::oid
----
select typname, typtype, typcategory, typlen, typbyval, typalign, typstorage from pg_type where typname in ('feeling', '_feeling', 'empty') order by 1
----
select sum(i) over (w1) from w window w1 as (order by i2 rows 1 preceding)
----
select pg_get_replica_identity_index('identified'), relreplident from pg_class where relname = 'identified'
----
select * from pg_authid
----
create view seen as select id, a from one
----
select extract(nosuch from time '10:00')
----
create table a (id int primary key, g text, v numeric)
----
select t from b where not a
----
select * from aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggghhhhh
----
insert into p values (1, 'c') on conflict on constraint p_pkey do update set name = 'c' returning name
----
select a from t group by a having sum(1) in (select 2) order by 1
----
create view w47 as select b, d, grouping(b, d), count(*) from p group by grouping sets ((b), (b, d), ())
----
create unique index nnd on t (e) nulls not distinct
----
alter table wp add constraint wpu unique (a) include (b) with (fillfactor = 75), add c int unique with (fillfactor = 33)
----
select array[1,2]::text
----
select to_json(array[1,2]), array_to_json(array[1.5, null]), to_jsonb('x'::varchar(3)), to_json('infinity'::timestamp)
----
select distinct on (g) id from a order by g, id
----
drop view nosuch.v
----
INSERT INTO gv VALUES (1, DEFAULT)
----
select array[1] || array[[[1]]]
----
select (1)
----
select array[1,2] = '{1,2}'
----
insert into hp select generate_series(1, 10)
----
select oj_a.i, count(s), count(s.*), json_agg(s), s is null from oj_a left join (select * from oj_b) s using (i) group by oj_a.i, s order by 1
----
select k, count(*) from f1 group by (1) order by (1)
----
select 'abc' like any (select null::text), 'abc' like all (select b from listed where false), 'abc' like any (select b from listed where false)
----
select '0001-01-01 BC'::date, '0001-01-01'::date, '0000-01-01'::date
----
select o.id, p.pid from fo o full join fp p on o.a = p.a where p.b > all (select 2.50 from fo s1 where (((s1.f - s1.b) not in (s1.n, 1, 1)) is not null) and s1.b = p.a) order by 1, 2
----
insert into fk2 values (1, null)
----
select * from (values (1,'a'),(2,null)) v(x, y) order by x
----
prepare r(int, int) as select count(*), sum(i.id) from asked a join items i on i.kind = a.kind where i.id between $1 and $2 and a.n = 2
----
copy (select 1) to stdout (format csv, format text)
----
with d(key, rest) as (delete from stock where id = 1 returning id, item) select d.rest, key + 1 as next from d
----
ALTER TABLE classed ADD UNIQUE USING INDEX classed_a
----
select * from t where 'true' limit 0
----
select jsonb_path_query('[1, 15, -10]', '$[*].abs()'), jsonb_path_query('[1,2,3]', '$.size()'), jsonb_path_query('{"x":"2"}', '$.x.double() * 3')
----
create view moody as select mood 'sad' as m, id from moods where m <> mood 'sad'
----
alter table def add constraint c77 check (date_trunc('month', ts) = ts and to_char(ts, 'YYYY') = '2020')
----
select id from t where c = 2 and b = 'Name5'
----
select cardinality(null)
----
select max('a'::"char"), pg_typeof(max('a'::"char")); select max(row(1,2)); select mode() within group (order by json '1')
----
create table t (a int primary key, b int)
----
(select id from (select id, v from ordered order by v desc) q order by id limit 3) union all select 0 order by 1
----
select o.a, sum(distinct o.m), avg(o.m), count(*) filter (where case when (o.m * o.f) < o.b then o.b else o.f end in (select s2.m from fo s2 where (s2.v || s2.c) <> s2.t)) from fo o where ((o.b <= (o.m + o.f) and (o.n - o.m) > nullif(o.n, o.a)) or least(o.f, o.b) not in (o.n, 1, 2)) group by o.a having count(*) <> (select count(*) from fp where fp.a = 1) order by 1, 2, 3, 4
----
create view va as select x, z from a
----
create table q (a int primary key)
----
select rolname, rolconfig from pg_roles where rolname in ('ra', 'rb') order by 1
----
select enum_range('ok'::mood, null)
----
prepare shifted(int) as select id, lag(id, $1) over (order by id), lead(id, $1, -1) over (order by id), ntile($1) over (order by id), nth_value(id, $1) over (order by id) from framed order by id
----
select * from ((values (1)) as t(a) join (values (1)) as u(b) on a = b) as x(c, d) where a = 1
----
create index on ts (a) tablespace pg_default
----
select * from d order by i
----
select '{"a":1}'::jsonb #- array[null]::text[]
----
select unnest(array[1,2,3])
----
drop function nosuch(int, numeric(3,2))
----
insert into big values (1, 'abcde', 'x', 1.005), (2, '', 'abc', 9999.994), (9223372036854775807, null, null, null)
----
execute w
----
select id from author except select author_id from book order by 1
----
update o set (k, t) = (1, 'zz') where id = 1 returning *
----
select * from information_schema.sequences where sequence_name = 'c'
----
update t1 set id = 1 where id = 102
----
reassign owned by r1b to postgres
----
select * from ident order by 1
----
drop table wn_ia, wn_ib, wn_ic, wn_u1, wn_u2, wn_t0, wn_t1, wn_t2, wn_t3, wn_e0, wn_p, wn_q, wn_r, wn_tab
----
alter table nv add constraint pos check (a > 0) not valid
----
insert into r.b values (default, 2) returning *
----
insert into i values (5, 'e'), (5, 'f')
----
select sinh(1)
----
select mood 'sad', mood 'sad' < mood 'happy', pg_typeof(mood 'ok'), other.size 'm', "Odd name" 'x', mood 'sad'::text || 'der'
----
update v set b = (select max(b) from w where w.x = v.a) where a = 71 returning b
----
select date '2020-01-01' = timestamp '2020-01-01 00:00'
----
insert into kind values ('TXX', 'new', true)
----
with w as (select 1 as one) (table w) union all table w
----
select id, rank() over (order by tz), sum(i) over (order by tz) from w order by id
----
select pg_backend_pid() > 0
----
execute cell(null, 77)
----
select id, first_value(u) over w1, last_value(y) over w1, nth_value(bo, 2) over w1 from w window w1 as (order by dt, id) order by id
----
create index gist_t on t using gist (id)
----
select * from low where id = 1
----
create table t (id int primary key, a int, b text, c numeric(8,2), d int[])
----
update p set price = 1/0 where false
----
select pg_relation_is_updatable('t', false), pg_relation_is_updatable('ww', false), pg_relation_is_updatable('v_computed', false), pg_relation_is_updatable('v_agg', false), pg_relation_is_updatable(0, false)
----
create table once (v int primary key, id int)
----
select o.a from fo o where o.f >= (select avg(s1.a) from fo s1 where (s1.z) and s1.a = o.b) intersect all select p.a from fp p where p.d is null order by 1
----
create index con_c on con (c)
----
declare u cursor for select x from k where t = 'a' order by x for update
----
select + 3.5
----
create table g3 (a int generated always as (b) stored, b int generated always as (a) stored)
----
select x, count(*) over (order by x range between 10 preceding and 10 following) from (values (-9223372036854775808::int8), (-9223372036854775805), (9223372036854775800), (9223372036854775807)) v(x)
----
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' AND conrelid = 'behind'::regclass ORDER BY 1
----
select 0.1::float8 + 0.2::float8
----
select has_column_privilege('bob', 'mine', 'a', 'select'), has_schema_privilege('alice', 'public', 'create'), has_schema_privilege('bob', 'public', 'create'), has_schema_privilege('bob', 'public', 'usage')
----
with recursive q as (select 1 as n union select 2 from q union select 3) cycle n set c using p select * from q
----
insert into loc values (-60, 5)
----
select a.n, i.name, p.note, o.n from asked a join items i on i.id = a.item left join parts p on p.item = i.id and p.part = 2
  left join asked o on o.n = i.kind where a.n in (1, 3, 5, 7, 11) order by 1
----
create table ixn (a int primary key, b text)
----
create table too_long (a int default 7, b varchar(3) default 'abcd', c numeric(3,1) default 12345, d char(2) default 'abc' check (d <> ''))
----
select '2020-01-01T10:00:00Z'::timestamptz, '2020-01-01 10:00+05:30'::timestamptz, '2020-01-01 10:00 PST'::timestamptz, '2020-01-01 10:00 America/New_York'::timestamptz
----
update low set c = c + 20 where a = 50
----
create table p (no int primary key, name text default 'none', price numeric(10,2) default 9.99)
----
select cast(-44 as bit(12))
----
select array_fill(7, array[3]), array_fill('x'::text, array[2]), array_fill(null::int, array[2]), array_fill(1, array[0])
----
select * from current_date as d where d is null
----
select word, catcode from pg_get_keywords() where word in ('select', 'table', 'zone') order by word
----
insert into n values (1.00, 'b')
----
select extract(epoch from timestamptz '2001-02-16 20:38:40.12-08')
----
create schema myschema
----
update placed set c = array['x', 'y']::text[]
----
select name, statement, parameter_types, from_sql, prepare_time <= now() from pg_prepared_statements where name in ('listed', 'without') order by 1
----
select array[1.0, 2.00] = array[1, 2]
----
CREATE INDEX ON indexed (b text_pattern_ops, b text_ops, b COLLATE "default")
----
select jsonb_concat('{"a":1}', '{"b":2}')
----
delete from t using (values (12)) as v(k) where t.a = v.k
----
select id, k in (select v * 2 from p where p.oid = o.id) from o order by id
----
select * from ctas
----
drop table d, c
----
execute p (71, 'prepared')
----
select id from far where t > tz order by id
----
select extract(epoch from date '2020-01-01')
----
select a from e order by 1/0
----
select (select count(*) from p where p.oid = o.id), count(*) from o group by 1 order by 1
----
create view x34 as select p.a from p cross join lateral generate_series(1, p.a) as g(i) where g.i > 1
----
copy t2 to stdout (format binary, delimiter ',')
----
alter table ul alter b type int[] using '{1}'
----
select q2.e, (1 in (select abs(q2.a) from asked_b q12)) from asked_a q2 where q2.d >= all (select q7.d from asked_a q7 where q7.d<-1)
----
select date_part('year', '2020-02-03'::date), date_part('epoch', '2020-02-03'::timestamptz), pg_typeof(extract(year from now())), pg_typeof(date_part('year', now()))
----
comment on sequence s is 'numbers'
----
insert into vz.other values (1, 'topsecret')
----
select pg_describe_object('pg_class'::regclass, 't'::regclass, 0), pg_identify_object('pg_class'::regclass, 't'::regclass, 0)
----
select sum(id) over (order by d range between interval '-1 day' preceding and current row) from framed
----
select 'one' -- but here
' and two' as b
----
SELECT udt_name, table_name, column_name FROM information_schema.column_udt_usage WHERE table_name LIKE 'i_' ORDER BY 2, 3
----
select 2 ^ -1
----
select '{"reading": 1.230e-5}'::json, '{"reading": 1.230e-5}'::jsonb
----
create table s.k (a int, b int)
----
select id from a order by id limit '2'
----
create view v_agg as select max(a) from t
----
select '{1,2}'::_int4 as a, array['a']::_text as b, '{}'::_int2 as c, '{x}'::_name as d, pg_typeof('{1}'::_numeric)
----
update vz.v set secret = 'q' where exists (select 1 from vz.other o where o.s = v.secret)
----
select t.id, k.name from trade t join kind k on k.id = t.kind_id and k.name = substr(t.kind_id, 2) || k.id where account < 9
----
alter table def add constraint c13 check (a not in (1, 2))
----
select x, (select k from (select count(*) c, 'k' k from u where u.t_id = n.x) q) from n order by 1
----
select nextval('s'::regclass) > 0
----
select a.name, b.name, c.name from b right join a on b.aid=a.id left join c on c.aid=b.id where b.name is null and c.name is null order by a.id
----
create table n (a numeric unique deferrable, t text unique deferrable)
----
drop view t
----
checkpoint
----
select pg_indexes_size('t') >= 0
----
insert into v (b) values ('no key')
----
alter default privileges for role owner1 revoke select on tables from reader
----
select id, extract(julian from d), extract(year from t), extract(dow from d), extract(isodow from t), extract(week from d), extract(doy from t), extract(century from tz) from far order by id
----
reset my.var
----
select inet_client_addr() is not null
----
insert into d values (1)
----
select grouping(region), region from sales group by region order by 2
----
select array_agg(x) from (values ('{}'::int[])) v(x)
----
comment on role r is 'a role'
----
select id from (select id from (select id, v from ordered order by v) p order by v desc limit 30) q order by id limit 3
----
create table t (a int, b text, c int)
----
drop view joined, counted, some_of, united
----
select * from l natural join r order by 1
----
alter sequence s rename to s_new
----
set search_path = enums
----
select date_trunc('month', '2020-02-03 14:05:06.789'::timestamp), date_trunc('week', '2020-02-03'::date), date_trunc('quarter', '2020-02-03'::timestamp), date_trunc('hour', '2020-02-03 14:05:06.789+00'::timestamptz), date_trunc('decade', '2025-02-03'::timestamp), date_trunc('century', '2025-02-03'::timestamp), date_trunc('milliseconds', '2020-02-03 14:05:06.789123'::timestamp)
----
ALTER ROLE rb SET log_statement = 'all'
----
SELECT column_name, collation_schema, collation_name FROM information_schema.columns WHERE table_name LIKE 'i_' ORDER BY table_name, 1
----
select y from span order by y desc nulls last limit 2
----
select round('4.567', 2), round(4.567::float8::numeric, 2)
----
select quote_ident('Foo bar')
----
create table copied as select 1
----
select (null::t1).c
----
select (select 0.5 * 2 from wn_e0 limit 1), case case case when s.c0 < r.k then r.k end when 1 then r.k end when 0 then true end from (select case when 1.50 < 0.5 then 1 end c0, null::text c1 except select 1, x.d from wn_t3 x where x.k = any (select y.k from wn_t3 y)) s right join wn_t3 r on s.c1 = r.d
----
create type floatrange as range (subtype = float8)
----
select id, count(*) over (partition by a <> 0 and b / a > 4) from ratio order by id
----
select current_database()
----
select 1::int8::bool
----
fetch absolute -99 from c
----
prepare p as select secret from vz.v
----
select m, count(*) from (select max(k) over (order by d) m from w1) q group by m order by m
----
select * from na, nb natural join generate_series(1, 2) id order by 1, 2, 3, 4
----
with d as (delete from s returning ctid is not null as c) select count(*) from d
----
end
----
create table pr (a timestamp(7), b timestamptz(8) default current_timestamp(9), c time(7), d interval(7), e timetz(7)[], f time(6))
----
create table items (id int primary key, city text references cities on delete cascade on update cascade)
----
select has_column_privilege('t', 'a', 'select')
----
select generate_series(1, generate_series(1, 3))
----
create table hasdom (p posint)
----
create table wp2 (a int primary key with (fillfactor = 1))
----
create table placed (a int check (a + 1))
----
update t set b = 'new' where c = 5
----
select b'101' & b'110'
----
insert into vz.t values (1, 'topsecret', 3)
----
select to_char(now(), '') is null, to_char(timestamp '2020-01-01', '') is null, to_char(interval '1 day', '') is null, to_char(1, '') is null
----
select null = null, null is null, null || null
----
select usename, usesuper from pg_user where usename = 'postgres'
----
select o.id from fo o where (1.0 = any (select nullif(s1.a, s1.n) from fp s1 where (exists (select 1 from fo s2 where s2.m <> 1)) and s1.a < o.a) or exists (select 1 from fo s3 where (1 <= all (select s4.f from fp s4 where (s4.v = 'ab') and s4.a < s3.a)) and s3.b = o.b)) order by 1
----
update v_sub2 set a = 100 where a = 44 returning *
----
select name, now() - prepare_time < interval '1 hour' from pg_prepared_statements
----
create table o (x int primary key, y text, z int)
----
select '1'::xid = '1'::xid, '1'::xid <> '2'::xid, '1'::xid = 1, '4294967295'::xid = -1
----
create sequence bad start 0
----
create index one_a on one (a)
----
select constraint_name from information_schema.referential_constraints where constraint_schema = 'seen'
----
insert into d values (4, 4) on conflict do nothing
----
prepare by_mood(mood) as select id from person where m = $1 order by id
----
alter table products alter column name type varchar(20) using upper(name)
----
create table b (a boolean, t text)
----
select abs('-5'), abs(-5), abs(-5.5), pg_typeof(abs('-5')), sqrt(4), sqrt(4.0), round(2.5), round(2.5::float8), round('2.567', 2)
----
select nextval('s') * 100 + nextval('s') from t
----
select array_remove(null, 1)
----
rollback to savepoint s1
----
select o.id, p.pid from fo o join fp p on o.b = p.a and o.b = 2 order by 1, 2
----
set role pq_b
----
create sequence cps
----
select lo_get(4999)
----
create table pst (a int, constraint c check (a > 0), constraint c check (a > 1))
----
select f3(functional) from functional
----
insert into v as w (a, c) values (10, 5) returning w.a, w.b, c + 1 as d
----
create table placed (a int primary key, primary key (a))
----
select rolconfig from pg_roles where rolname = 'rset'
----
alter sequence t increment 2 increment 3
----
select sum(a) over (groups 1 preceding) from placed
----
PREPARE q AS SELECT $1::e AS p, x FROM te WHERE x = $1
----
grant staff to alice
----
select * from t1 union all (table t1) order by num
----
select extract(nosuch from '2020-02-03'::timestamp)
----
drop index concurrently conc2
----
select count(*) from inv
----
select id, row_number() over (order by a desc nulls last, id rows between 1 following and 3 following) from wz order by id
----
select a is, not a = 1 not from labelled
----
begin; select lo_from_bytea(5002, 'kept'); savepoint s; select lo_put(5002, 2, 'xyz'); select lo_get(5002); rollback to s; select lo_get(5002); commit
----
drop table counts
----
alter role rset set port = 1
----
set datestyle='postgres, dmy'; select date '1999-01-08', timestamp '1999-01-08 04:05:06.5', timestamptz '1999-07-08 04:05:06'; reset datestyle; set timezone = 'UTC'
----
set session_replication_role = replica
----
select title, row_number() over (order by pages), rank() over (partition by author_id order by pages desc) from book order by id
----
(select 1 limit 1) union all (select 2 order by 1 limit 1)
----
set constraints nowdef_pkey deferred
----
CREATE SEQUENCE s2 RESTART WITH 5 INCREMENT 2
----
select json_agg(x order by x desc) from (values (1), (2), (null)) v(x)
----
drop table rest
----
select case null when null then 1 else 2 end
----
select case when x = 0 then null else 10 / x end from (values (0), (5)) v(x)
----
insert into colwritten values (2, 2, 'x')
----
select id from compared where b between symmetric 10 and 3 and a between symmetric 0 and 6 or t = 'b' order by id
----
select jsonb_path_exists_tz('["2015-08-01 12:00:00 -05"]', '$[*] ? (@.datetime() < "2015-08-02".datetime())')
----
alter table altt alter column id drop identity
----
select t from b where t
----
select id from l for update of nosuch
----
insert into d values (1, 77)
----
select (sum(1), count(*)) in (select 3, 3) from t
----
update p set a = a + 10 where a < 3
----
select array[[1,2],[3,4]], array[array[1,2], array[3,4]], array[[[1],[2]],[[3],[4]]]
----
select * from json_object_keys('{"f1":"abc","f2":{"f3":"a", "f4":"b"}}')
----
create type dm as enum ('a')
----
select cotd(45)
----
drop role ro
----
select id, sum(i) over (order by i rows between null preceding and 1 following) from w order by id
----
select id, g, v, n from a order by id
----
select corr(distinct i, f order by n) from pair
----
alter table def add constraint c69 check (at @> array['x'] and at <> '{}' and ai = array[1, 2] and ai <> array[]::int[])
----
select '[{"a":"foo"},{"b":"bar"},{"c":"baz"}]'::json -> 2
----
create table looked_up (a int, t text, n numeric, d date)
----
select array['sad', 'ok']::mood[], array_agg(current_mood order by current_mood) from person
----
select o.d, count(distinct o.c), bool_or(o.z), count(*) from fo o group by o.d order by 1, 2, 3, 4
----
update p set name = (select max(name) from p)
----
table vz.v
----
select nchar 'x', nchar varying 'y'
----
insert into nv values (-2)
----
select pg_typeof(date_part('second', now()))
----
with recursive q as (select 1 as n union all select 2 from q) cycle n set c to 1 default 'x' using p select * from q
----
select 'sad'::mood like 's%'
----
create table r (a int references i)
----
select o.id from fo o where (o.c < o.c) is null order by 1
----
select 2 ^ 3, pg_typeof(2 ^ 3), |/ 40, pg_typeof(|/ 40)
----
delete from held using (select x from seen where x = held.a) s
----
select corr(i, f), covar_pop(i, f), covar_samp(i, f) from a
----
select * from sized order by n
----
analyze nosuch
----
alter table wp2 add primary key (a) using index tablespace pg_default
----
select id, r in (0.1, 0.2, id), r in (0.1, 1), case when r in (0.1, 0.5) then 'y' end from narrow order by id
----
select name 'a' = name 'a ' as same, name 'abc'
----
create table one (name text, pay int[])
----
with recursive w1(c1) as (with w2(c2) as (select 1) select c2 + 1 from w2 union all select c1 + 1 from w1 where c1 < 4) select * from w1
----
set seed to -0.3
----
SELECT pg_get_serial_sequence('s5', 'd')
----
create table l3 (a int, b int)
----
merge into t using s on t.a = s.k when not matched then insert (nosuch) values (1)
----
create table orders (order_id int primary key, product int references pk3)
----
grant create on schema z_s to z_adm
----
alter table def add constraint c84 check (jb @> '{"a": 1}' and jb['x'] is null and j ->> 0 is null)
----
create table ja (id int, k int)
----
select power(1.0000001, 200000000) > 0
----
select json_populate_recordset(null::t1, '[{"a": 1}, {"b": "c"}]')
----
select 1 as q where false union all select b from asked_a where b>2 union all select 2 where false
----
select a from (select 1 as a, 2 as a) s
----
select timestamptz '1800-01-01', timestamptz '1930-07-01', timestamptz '2020-07-01'
----
select g, sum(10 / a) filter (where a <> 0) from fl group by g order by g
----
select pg_has_role('alice', 'staff', 'member'), pg_has_role('bob', 'staff', 'member')
----
update vz.v set secret = 'a'
----
SELECT setval('ts', 5)
----
select extract(day from time '10:00')
----
select pg_typeof(array[1,2])
----
select o.id, p.pid from fo o right join fp p on o.a = p.b and p.b <= 2 order by 1, 2
----
drop role far_role
----
select o.id from fo o where (o.f + o.a) <> o.a order by 1
----
CREATE ROLE rb LOGIN
----
select * from u join lateral (select * from vv where vv.a = u.a) l on true order by u.a
----
select array(select null::int)
----
select count(*) from goods g, sales s, days d where g.id = s.goods and d.day = s.day + 1 and kind is null
----
select (1,2) = (1,2,3)
----
create table "Mixed" (a int)
----
select octet_length('日本語')
----
select max(id) from a having max(id) > 1000
----
create view twice as select a, b, a as aa from below
----
select a from (values (array[1]), (array[2])) v(a) union select array[1] order by 1
----
insert into told values (1) returning *
----
select collation for (1)
----
select last_value from pairs
----
select pg_table_is_visible('t'::regclass)
----
select '"Mixed"'::regclass::text
----
select s.id, (select count(*) from sales t where t.region = s.region) from sales s group by rollup (s.id, s.region) order by 1, 2
----
select regr_avgx(distinct y, x), regr_avgy(distinct y, x), regr_sxx(distinct y, x), regr_syy(distinct y, x), regr_sxy(distinct y, x)
    from (values (1.5, 2), (1.5, 2), (2.25, 7), (3, 1), (null, 4), (5, null)) s (y, x)
----
select id, min(id) over (order by m , id rows between 1 preceding and 1 following) from wz order by id
----
prepare texts(text[], numeric[], date[]) as
  select count(*) filter (where t = any($1)), count(*) filter (where t <> all($1)), count(*) filter (where n = any($2)),
    count(*) filter (where d = any($3)), count(*) filter (where t = any($1) is null) from looked_up
----
rollback
----
alter table child owner to postgres
----
create view counted as select lo, count(*) as c from li group by lo
----
alter table products drop constraint if exists some_name
----
select 'now'::timestamptz - now(), 'today'::date = current_date, 'tomorrow'::timestamp - 'yesterday'::timestamp, current_date - now()::date
----
drop index by_index_a
----
create table w as with w as (select a from t) select a, a * 2 as double from w order by a desc limit 2
----
execute ins(7, 50)
----
create table wn_ib(id int)
----
prepare given as select 1 as one
----
SELECT 1 FROM beside HAVING max('a') NOT IN (SELECT 'b' FROM beside)
----
select aggfnoid, aggkind, aggtransfn, aggfinalfn, aggtranstype::regtype, agginitval, aggsortop::regoperator from pg_aggregate where aggfnoid in ('sum(int4)'::regprocedure, 'avg(numeric)'::regprocedure, 'max(text)'::regprocedure) order by 1
----
select * from e where 1/0 = 1
----
select o.id from fo o where greatest(o.f, o.m) <= o.f order by 1
----
create view ww as select x as k, y as l, z from w where x > 5
----
select 1 from pg_largeobject where loid = 0
----
select 2.0 ^ -1
----
with d as (delete from stock where id = 1 returning *) insert into stock select id, item, n + 100 from d returning *
----
create view w61 as select 1 as a where false
----
ANALYZE (FULL) t1
----
select constraint_name, constraint_type, is_deferrable, initially_deferred from information_schema.table_constraints where constraint_type = 'FOREIGN KEY' order by 1
----
insert into pi (a) values (7) on conflict (a) where a > 6 or a < 1 do nothing
----
copy (select 1) to stdout (format csv, force_quote t)
----
prepare few(int) as select * from (select id, v from ordered order by v, id limit $1) q order by id
----
select 1 = any(array[1,2]), 1 = all(array[1,1]), null = any(array[1]), 1 = any(array[null::int]), 1 <> all(array[2,null]), 1 = any('{1,2}')
----
select current_schema, current_schemas(true), current_schemas(false)
----
select pg_catalog.substr('abc', 2), pg_catalog.substring('abc', 2, 1), pg_catalog.ceil(1.5), pg_catalog.floor(1.5)
----
select to_regtype('int8')
----
alter sequence os owner to ro
----
select * from l where id = '1'
----
SET log_statement = 'all'
----
declare c cursor with hold for select * from t for update
----
select '1 2 3'::int2vector, ('1 2 3'::int2vector)[0], ('1 2 3'::int2vector)[3], array_lower('1 2'::oidvector, 1), array_dims('1 2'::int2vector), '1 2'::int2vector::int2[]
----
create table t (a int primary key, b text default 'none', c int check (c >= 0), d int not null default 7, unique (b, c))
----
select 1, 2 union select 1
----
insert into asg (t) values (true), (1.50) returning t
----
select json_agg(x), jsonb_agg(x), jsonb_agg(y), json_agg(y) filter (where x > 1), json_object_agg(y, x), jsonb_object_agg(y, x), json_agg(x) filter (where false) from (values (1, 'a'), (2, 'b'), (null, 'c')) v(x, y)
----
select o.id from fo o where o.f = any (select coalesce(s1.m, s1.f) from fo s1 where (s1.c < s1.c) and s1.b < o.b) order by 1
----
select array[1,2]::text[], array[1,2]::text, '{1,2}'::text::int[], array['1','2']::int[], array[1.6,2.4]::int[], array[1,0]::bool[], array['a','bcd']::varchar(2)[], '{2020-01-01}'::date[]::timestamp[]
----
CREATE TABLE sx.te (a sx.en DEFAULT 'q', b int, CHECK (a <> 'r'))
----
insert into mdk values ('{{1,2}}', 'again')
----
select o.id, p.pid from fo o join fp p on o.b = p.b order by 1, 2
----
update lkt set a.b = 1
----
alter default privileges for user owner1 revoke all on sequences from owner1
----
select attname, attnum from pg_attribute where attrelid = 'app.parent'::regclass and attnum < 0 order by attnum
----
alter table symmetric_between add column e bool generated always as (a between symmetric 4 and b) stored
----
select a.i, s, s.* from lo_a a left join lateral (values (a.i, a.t), (a.i + 1, null)) s(p,q) on s.p > 2 order by 1, s.p
----
create view v as select a, b, c from t where c < 100
----
select setval('s', 42, false), nextval('s')
----
drop materialized view held
----
create sequence z_s.q
----
select id, cume_dist() over (order by t desc nulls last, n desc nulls last groups between 1 preceding and 1 following) from wz order by id
----
create role z_evil login in group z_super
----
select pg_get_keywords() is not null limit 1
----
alter view v alter column a set not null
----
select oj_a.i from oj_a left join (select 2 as x, 3 as y) s on s.x = oj_a.i where s is null
----
lock table v in share mode
----
delete from v_agg
----
select scale(5)
----
create view w28 as select a from p where a in (select a from q where q.x > 1)
----
select id from e order by id offset -1
----
update arr set i = i || 10, t = array_append(t, 'z') where id <= 2 returning id, i, t
----
select b::oid = '"T x"'::regclass, b = '"T x"'::regclass::oid, b::text, b::regclass::varchar from "T x" where a = 1
----
select 'pg_class'::regclass, 'pg_catalog.pg_class'::regclass, 1259::regclass, 'nosuch'::regclass
----
select case when true then generate_series(1, 2) end
----
select id from a where (id, 7) in (select a_id, w from b) or id > 3 order by 1
----
comment on column t.a is 'its key'
----
create table two (z int, like some_other, like plain including defaults, w int)
----
select count(*) from (select x from z group by x) y
----
select array[[]]
----
select to_char(now(), 'YYYY')::int >= 2020
----
select c || '|' from l join r using (c) order by 1
----
select case when exists (select 1 from c where c.sid = s.id and c.id > 2) then n else 'none' end, count(*) from s group by case when exists (select 1 from c where c.sid = s.id and c.id > 2) then n else 'none' end order by 1
----
select ceiling(-95.3)
----
select zzzzzz from hinted
----
select i::text, i::varchar as v, i::time as t, '1 day'::text::interval, '1:00'::time::interval from span order by i
----
reindex table nosuch
----
select t1.num, (select sum(t1.num) from t2) from t1 order by 1
----
select 1 in ((select 2 limit 1) union select 1), 1 not in (((select 1 limit 1) union select 2) order by 1)
----
select power(null, 2)
----
insert into cas values (-60, 5)
----
CREATE DATABASE opted OWNER postgres
----
create view w14 as select lower(b) as lb, count(distinct d) from p group by lower(b) order by lower(b) desc nulls last
----
select '{"a":1,"b":2}'::jsonb - 'a'
----
select date_trunc('week', date '2020-01-01')
----
select array[[1,2]] || array[[1,2,3]]
----
select id, (select 1 where o.k is null) from o order by id
----
select percentile_cont(0.5) within group (order by i), percentile_cont(0.5) within group (order by f), percentile_disc(0.5) within group (order by t) from a
----
comment on function nosuch(int, text[], feeling) is 'x'
----
alter table ul alter c type timestamp using null
----
select pg_describe_object('pg_attrdef'::regclass, oid, 0) from pg_attrdef where adrelid='t'::regclass
----
insert into part (a, b, c, y) values (1, '', 1, 1)
----
fetch prior from h
----
select * from unions
----
create table numbered (a int default nextval('numbers'), b int default nextval('numbers'))
----
with q(a,b) as (select 1) select * from q
----
insert into t values (1, 10, 'one', 1.50, '{1,2,3}'), (2, 20, 'two', 2.25, '{4,5}'), (3, null, null, null, null)
----
insert into numbered (c) values ('z') returning *
----
CREATE TABLE s6 (a int DEFAULT nextval('s1'))
----
select row(1)::t1
----
select pg_typeof('{1}'::int2[])
----
select sum(x) from (values (interval '1 day'), ('2 hours')) v(x)
----
select to_char(timestamptz '2002-04-20 05:06:07+00', 'TZ tz TZH:TZM OF')
----
select trim(both 'xyz' from 'yxTomxx')
----
select reltuples, relname from pg_class where relname = 'anl'
----
select pg_typeof(date '2001-09-28' + interval '1 day')
----
select v.id, i.name from (values (5), (7), (null), (5)) v(id) left join items i on i.id = v.id order by 1, 2
----
alter view seen.v owner to st_b
----
select md5('abc')
----
merge into t using s on t.a = s.k when not matched then insert values (t.a)
----
create index on far (t)
----
revoke update on t from postgres
----
select 1 union select 1.0
----
listen compat_b
----
explain (format text, format json, costs off) select 1
----
select row_to_json(t) from (values (1, 'x'), (2, null)) t(a, b)
----
insert into t select 7, 8 fetch first 1 rows only returning *
----
create table parent (id int primary key)
----
select id from t where id = 5::bigint
----
select x.a,l.y from t x, t z right join lateral (select x.a+1) l(y) on l.y=z.a order by 1,2
----
alter database of_dollars connection limit 3
----
select tgfoid::regproc, tgenabled from pg_trigger where tgrelid = 'child'::regclass and tgconstrrelid = 'parent'::regclass order by 1
----
select jsonb_set('{"a": 1}', '{b}', replacement => '2', create_if_missing => false)
----
select rolname, rolcanlogin, rolcreatedb from pg_roles where rolname in ('r1b', 'r2', 'u1') order by 1
----
select 'infinity'::timestamp at time zone 'bar', 'infinity'::timestamp at time zone interval '1 mon', '-infinity'::timestamptz at time zone 'bar', 'infinity'::timestamptz at time zone interval '1 mon'
----
update k set x = x + 1 where current of u
----
insert into keyed values ('{1,2}', 'a'), ('{1}', 'b'), ('{}', 'c'), ('{1,2,3}', 'd')
----
copy g (a, b) from stdin
----
lock table v in exclusive mode
----
select not null::boolean
----
alter table g alter column a drop expression if exists
----
DROP TYPE i1
----
select nosuch.* from (select 1) t
----
select count(*), sum(i.id), sum(a.n) from asked a join items i on i.id = a.item where i.id > 37 * 5 and i.id < 37 * 9 and a.n < 20
----
CREATE TABLE given (id serial, a int GENERATED ALWAYS AS IDENTITY)
----
GRANT pg_write_all_data TO rb
----
copy vz.t (id, pub) to stdout
----
create view lower as select * from low where id > 1
----
select array['a', date '2020-01-01']::text[], array[1.7, 2, '3']::int[], array[100::bigint, 'x']::varchar(1)[], array[null, 'b']::text[]
----
select t.id, k.name, p.name, p.size from trade t left join kind k on k.id = t.kind_id left join place p on p.area = t.area and p.number = t.number where account = 5 order by at, t.id
----
with c as (select 1 as x, 2 as y) select oj_a.i, c from oj_a left join c on c.x = oj_a.i order by 1
----
select * from e where id = 1 for key share skip locked
----
alter sequence t minvalue 100 maxvalue 1
----
select @ '1'
----
select ('{"a": 1}'::jsonb)[1.5]
----
create table ch (a int references p (a) on delete cascade, b int references p (b))
----
select current_setting('my.var'), current_setting('my.other', true)
----
create role r1
----
select column_name, data_type from information_schema.columns where table_name = 'pst' order by ordinal_position
----
create role compat_joe
----
select * from l a join l b on a.id = b.id - 1 order by 1
----
drop table merged
----
select indexname, indexdef from pg_indexes where tablename = 't' and indexname in ('test1_id', 'mm', 'un', 'inc') order by 1
----
select round(-0.5::float8)
----
update sal set pay = '{25000,25000,27000,27000}' where name = 'Carol' returning pay
----
select json_object_agg(k, v) from (values (null, 1)) t(k, v)
----
select json_agg(x) from (select num, array[num] as l from t1 order by num) x
----
update kind set name = 'bought' where id = 'TLB'
----
select id from o where k in (select v from p where false) order by id
----
drop table pr, prt
----
select * from t where a = 2 for share
----
grant update on pt to pq_a
----
select * from pv
----
select 1/0 is null from e
----
select tgrelid::regclass, tgconstrrelid::regclass, tgfoid::regproc, tgenabled from pg_trigger order by 1, 2, 3
----
delete from o where exists (select 1 from p where p.oid = o.id and p.v > 100) returning id
----
select '[0:0][5:6]={{1,2}}'::int[] || '[5:6]={3,4}'::int[], '[5:6]={3,4}'::int[] || '[0:0][5:6]={{1,2}}'::int[]
----
set session authorization z_cr
----
select 1e-20 / 7
----
prepare h(int) as select count(*) from wn_t0 having $1 > 5
----
select m[1::int8][2::int2] from md where id = 1
----
select * from t1 left join t2 using (num) order by 1
----
select row(1,2) union select row(1,2)
----
insert into rest values (1, 3)
----
grant select on kept to eve
----
create unique index by_index_a on by_index (a)
----
select id, sum(id) over (order by g groups between 1 preceding and current row exclude current row), sum(id) over (order by g groups between 1 preceding and current row exclude group), sum(id) over (order by g groups between 1 preceding and current row exclude ties), sum(id) over (order by g groups between 1 preceding and current row exclude no others) from excluded_rows order by id
----
select id, m[1][2], m[2][3], m[1], m[3][1], m[0][1], m[1][2][3], t[2][1], b[0], b[2], b[3], b[-1] from md order by id
----
CREATE TABLE c3 (a text COLLATE "nope")
----
insert into up values (1, 'i', true) on conflict (k) where live and v is not null do nothing returning *
----
insert into person values (4, 'ok'::text)
----
select min(n), max(n) from a where n between 1 and 1.5
----
select power(2, 10), power(2.0, 3), 2 ^ 3, 2.0 ^ 0.5, 2::float8 ^ 0.5, power(0, 0), power(0, -1)
----
select 1 having count(*) = 1
----
select coalesce(nextval('s1'), 1 / 0), currval('s1')
----
select distinct on (a, g) a, b, generate_series(1, 2) g from (values (3, 2), (3, 1), (1, 1), (1, 4)) t(a, b) order by a, g, b desc
----
select array_agg(x) from (values (1), (null), (3)) v(x)
----
drop table ft
----
with q as (select 1 as a) select * from q, q as r
----
select (1, 'a') >= (1, 'A')
----
select id, sum(id) over (order by t range between '1 month' preceding and '1 day 12 hours' following) from framed order by id
----
insert into p values (1, 'c') on conflict do update set name = 'q'
----
merge into t using s on t.a = s.k when not matched then do nothing when not matched then insert default values
----
prepare pq11 (text) as select concat($1, 'x')
----
create table pst (a cstring)
----
create unique index if not exists t_a on t (a)
----
select jsonb_array_elements('[1,2,1]'), count(*) from t group by 1 order by 1
----
select catalog_name from information_schema.information_schema_catalog_name where catalog_name = current_database()
----
insert into p values (3)
----
select interval '1 day' + interval '1 hour'
----
insert into "T x" (a, c) values (3, '{upper}')
----
select id from far where t < date '5874897-01-01' order by id
----
DROP ROLE of_databases
----
select '101'::bit(3)
----
declare c cursor for select * from (select id, v from lo) x order by id for update
----
select distinct on (c) c, max(a) over (partition by c order by a) from wf order by c, 2 desc limit 2
----
UPDATE d1 SET a = a + 1
----
alter table typed_parent alter column id type bigint using id + 10
----
update one set pay = pay || 1 where name = 'Bill' returning pay
----
select a, generate_series(1, a) from t1 order by 1, 2
----
comment on type nosuch is 'x'
----
select id, ntile(3) over (order by m desc nulls last, id rows between 1 following and 3 following) from wz order by id
----
alter table products alter column qty type bigint
----
alter sequence o_id_seq owned by o.x
----
comment on function upper(text) is 'x'
----
create or replace view names (x, z) as select a, b, c from t
----
select nosuch_function(1)
----
select id, sum(id) over (order by id range between '1' preceding and '1'::int following) from few order by id
----
select sum(*) from a
----
select o.id from o where id in (select x.oid from p x where x.v > (select avg(v) from p y where y.oid = x.oid)) order by 1
----
insert into c as old values (1, 7, 'v') on conflict (b) do update set d = old.d || '+' where old.a = 1 returning old.d
----
drop table arr; drop table keyed
----
create table q.a (id serial primary key, x int)
----
insert into last values (77, 77)
----
select 1 offset 'x'
----
select id, sum(id) over (order by id range between 2 preceding and 2 following exclude current row) from excluded_rows order by id
----
select * from grandchild
----
create view w as select c as z, a as x, b || '?' as q, b as y from t
----
alter table r add constraint rb foreign key (b) references q not valid
----
select id, u, n from arr left join lateral unnest(t) with ordinality as x(u, n) on true order by id, n
----
select (array[1,2,3])[2:3], ('{1,2,3}'::int[])[1], (array[1,2,3])[1][1], i[1][2] from arr where id = 1
----
select sum(count(*)) over (partition by generate_series(1, 3) order by generate_series(1, 3)), generate_series(1, 3) g from (values (1), (2)) t(a) group by g order by 2
----
select id, percent_rank() over (partition by m order by m desc nulls last, a desc range between unbounded preceding and current row) from wz order by id
----
alter table def add constraint c07 check (a not between 1 and 10 and b > 1)
----
create sequence sq
----
release a
----
with r as (select region, year, sum(amount) s from sales group by rollup (region, year)) select * from r where year is null order by 1, 3
----
select t1.num, x.b from t1, json_to_record('{"b": 7}') as x(b int) order by 1
----
select (select count(b) from (values (1)) v(x)) * b from (values (1, 2)) as t(a, b)
----
select u.y from (select 1 as y) t
----
select collation for ('a'::text), collation for ('a'), collation for ('a' collate "C")
----
select o.b, count(o.n), max(o.d), count(distinct o.v) from fo o group by o.b having max(o.m) is not null order by 1, 2, 3, 4
----
select '(1,2)'::point, point(1, 2) + point(3, 4)
----
create view x39 as select unnest(f) as u, generate_series(1, 2) as g from p
----
fetch forward 3 from c
----
comment on schema nosuch is 'x'
----
select l.id, x.id from l, (select * from r where a > 5) x where l.id = x.id order by 1
----
alter table s enable row level security
----
create sequence cw_s
----
insert into items (id, name) values (5001, 'new')
----
insert into pi (a) values (7) on conflict (a) where a = 7 do nothing
----
select interval '1 day' % 2
----
select x from (values (1, 2), (2, 2), (3, null)) v(x, y) where x in (nullif(x, y), 5) order by x
----
select 2.00 / 1.0
----
select array(select array[id, id * 2] from t order by id)
----
select id, ntile(4) over (order by id), ntile(2) over (partition by dep order by id) from w order by id
----
select o.id, (not exists (select 1 from fp s1 where case when s1.z then s1.b else s1.a end <= s1.b)) as p from fo o order by 1
----
update t1 set u = 3 where sum(u) > 1
----
create table kept (a int)
----
select current_date = now()::date
----
select id, sum(pay) over (order by id rows between 1 preceding and 1 following) from w order by id
----
select array[1,2,3] || array[4,5,6,7], array[1,2,3] || array[[4,5,6],[7,8,9.9]]
----
insert into tv(n) values (999.994), (-999.994)
----
create view v15 as select t.b, x.n from t left join lateral rows from (generate_series(1, t.a)) x (n) on true
----
select a from (values (array[1,2]), (array[3])) v(a) where a = '{3}'
----
create table placed (like nosuch)
----
insert into v values ('x', 'y', 'z', 'w  ') returning *, d || '|'
----
create table v (
  id int primary key, b bool, i2 int2, i8 int8, f4 float4, f8 float8, n numeric(20,6), t text, vc varchar(10), c char(4),
  y bytea, d date, ts timestamp, tz timestamptz, u uuid)
----
select greatest(1, 2.5, '3'), least(1, null, -4), greatest('a','b'), pg_typeof(greatest(1,2::int8))
----
select a / 3, a % 3, a * 1.5, -a, +a, a ^ 2 from l order by a
----
select 1 = all (select 'x'::text)
----
select t.* from t, lateral (select count(*) from t u where u.a = t.a having count(*) > 5) x
----
select char_length('é')
----
select 1 = all ((select 1) union all (select 1))
----
alter table lkt rename ctid to x
----
SELECT nspname, nspowner::regrole FROM pg_namespace WHERE nspname IN ('of_mine', 'postgres') ORDER BY 1
----
select o.id from fo o where o.c in (select s1.t from fo s1 where (s1.m >= s1.n) and s1.b <> o.a) order by 1
----
prepare newest(int, int) as select t.id, k.name, p.name from trade t left join kind k on k.id = t.kind_id join place p on p.area = t.area and p.number = $2 where account = $1 order by at desc limit 3
----
select a::text::int from t order by id
----
select o.id, p.pid from fo o right join fp p on o.a = p.a and p.b >= 2 order by 1, 2
----
drop view v2
----
select (select a, b from ep)
----
select (row('int4'::regtype)::text)::text
----
create view x6 as select count(*) from (select 1, 2) s
----
declare j cursor for select x.b from c x, c y where x.a = 1 and y.a = 3 for update
----
select * from kinds order by n
----
select * from wn_ia where not exists (select 1 from wn_ib, wn_ic where wn_ib.id=wn_ia.id and wn_ic.id-wn_ib.id>wn_ia.v)
----
alter table t set schema public
----
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY b::text) FROM beside
----
select id, rank() over (order by y), sum(i) over (order by y) from w order by id
----
comment on role nosuch is 'x'
----
select o.c, count(*) filter (where o.v in (select s1.c from fo s1 where s1.a <> s1.a)), avg(o.a), count(*) from fo o group by o.c having max(o.m) is not null order by 1, 2, 3, 4
----
select nextval(n), nextval(n) from (values ('r'), ('s'), ('r')) v (n)
----
select id from t where a + c = 5 order by 1
----
select a, c from tied where a < 6 order by c, b fetch first row with ties
----
drop table kc, pi
----
select count(*) from a having count(*) > 10
----
update v set b = n from (values (1, 'from')) x(k, n) where x.k = v.a returning v.*, n
----
delete from information_schema.tables
----
select id, sum(id) over (order by f desc nulls last, m nulls first groups between 1 preceding and 1 following) from wz order by id
----
analyze small
----
select sum(1) not in (select b from t) from t
----
create table author (id int primary key, name text not null)
----
select * from kk join nk using (k, k)
----
select * from jb cross join ja left join jc on r = id and n = k + i order by 1, 2, 3, 4, 5
----
set role ro
----
create table r (c) as select 1
----
select case 1 when 'a'::text then 2 end
----
drop table lo, li
----
select pg_get_userbyid(10), pg_get_functiondef('upper(text)'::regprocedure) is not null
----
insert into w values (0)
----
select a.n, count(*), sum(i.id) from asked a join items i on i.kind = a.kind where a.n < 12 group by 1 order by 1
----
select o.id, p.pid from fo o full join fp p on o.b = p.a and p.b > 1 order by 1, 2
----
select id from e order by id offset 1 row fetch next row only
----
select name + 1 from item
----
create table x (a date default '01/02/2020', b timestamptz default '01/02/2020 03:04', c date check (c <> '03/02/2020'),
    d bool generated always as (a = '01/02/2020') stored)
----
delete from parent
----
select (array[1,2,3])[4]
----
select id, sum(id) over (order by id rows between (select 1) preceding and (select max(a) from few) following) from few order by id
----
select * from t order by a
----
select * from json_to_record('{"a": [[1,2],[3]]}') as x (a int[])
----
alter table def rename column a to "A b"
----
select count(*) over (), v from ordered group by v order by v limit 2
----
select count(*), array_agg(a), max(b), grouping(a) from nothing group by cube (a) having count(*) = 0
----
select regexp_match('aa','(a*)*'); select regexp_match('aaa','x*'); select regexp_match('a{','a{'); select regexp_match('abc','(|b)c')
----
select generate_series(1, a) as g, count(*) from t group by generate_series(1, a) order by 1
----
DROP TYPE nope.int4
----
insert into up values (1, 'j', true) on conflict do nothing returning *
----
select id from listed where b like any (select left(b, 1) || '%' from listed where id = 1) order by id
----
set local role alice
----
alter table g add column c text generated always as (a::text || '!') stored
----
select a.id, x.w from a left join lateral (select w from b where b.a_id = a.id union all select -a.id) x on true order by 1, 2
----
create view v as select a, b from t
----
create temp table t5 as execute q(2)
----
show transaction_isolation
----
select array_prepend(2, array[[1]])
----
select o.id, p.pid from fo o join fp p on o.b = p.b where p.b < (select sum(s1.a) from fo s1 where (0.5 in (select least(s2.b, s2.n) from fo s2 where (s2.z) and s2.a < s1.a)) and s1.b < p.a) order by 1, 2
----
prepare pq2 as select format('%s', $1)
----
select trim(trailing 'x' from 'axx')
----
select 1.5::int, 2.5::int, -2.5::int, 2.5::float8::int, 3.5::float8::int, '1.5'::int
----
update p set a = 30 where a = 3
----
select id from o where k in (select v * 2 from p where p.oid = o.id) order by id
----
select x from generate_subscripts('{a,b}'::text[], 1, null) x
----
select (select * from (select 1 as zz) s)
----
select round(-2.5)
----
select -0.0::float8
----
insert into too_long (b, c, d) values ('x', 1, 'y') returning *
----
create table dk (d date primary key, v int)
----
select count(*) over (order by x range between 'infinity' preceding and 'infinity' following)
  from (values ('-infinity'::float8), ('infinity'), (2), ('nan')) v(x)
----
alter table q rename to qq
----
create table ii (a bool, b bool)
----
insert into too_long (b, d) values ('x', 'y')
----
insert into t values (2)
----
select (1, 2) = (1, 2), (1, 'a') < (2, 'a'), (1, null) = (1, 2), row(1,2) = row(1,'2')
----
select * from t1 where num in (select num from t2) order by 1
----
copy c from stdin (force_quote *)
----
select 1::int2 & 3
----
select (array[1,2,3])[3:2]
----
select parse_ident('a.b c', strict => false), parse_ident(str => '"A".b')
----
insert into stock values (1, 1) on conflict (id) do update set note = (select max(what) from log where log.id = stock.id) returning *
----
drop role nosuch
----
delete from n where current of o
----
select * from b right join a on b.aid=a.id where b.name is null and a.name <> 'zz' order by a.id
----
drop role bob, staff
----
prepare p(t1) as select $1, ($1).b
----
select array_upper('{1}', 1)
----
alter sequence s maxvalue 5
----
CREATE INDEX ON indexed (b text_pattern_ops, text_ops b, b COLLATE "default")
----
begin work
----
select (select count(*) from p where p.oid = o.id), count(*)  o group by 1 order by 1
----
create table x (a date default '01/02/2020', b timestamptz default '01/02/2020 03:04', c date check (c  '03/02/2020'),
    d bool generated always as (a = '01/02/2020') stored)
----
select a from q q order by a
----
update typed_parent typed_parent set code = 'z' where id = 2
----
create role r with superuser createdb createrole inherit login replication  connection limit 5 password 'x' valid until '2030-01-01'
----
select  from pg_authid
----
alter database allow_connections d = false
----
with d as (delete from log returning what) select what, count() from d where what in (select what from d) group by rollup (what) order by 1
----
select clock_timestamp() >= (now)
----
end transaction
----
show all
----
select (ceil-42.8)
----
prepare p(t1) as select $1, (1).b
----
select (select count(*) from q, a) from (select 1) z,  (select 1) y, (with q as (select random() r) select count(*) from q x, q y where x.r = y.r) q
----
create view x9 as select y from q group by (y) order by y(), 1+1, 'x'||y
----
select
----
select '0001-01-01 BC'::date date, '0001-01-01'::date, '0000-01-01'::date
----
ANALYZE (FULLt1 )
----
delete from kind where id  'TMS'
----
vacuum t
----
select reltuples, relname from pg_class pg_class where relname = 'anl'
----
alter table if exists st set schema x
----
grant usage, select on sequence  to a
----
select date
----
create view w37 as select  from generate_series(1, 3) g
----
select null, true, false, $1, $2::int int, unknown, current_date, current_time, current_time(3), current_timestamp(0), localtime, localtimestamp(2)
----
select id from words w where ilike 'é%' order by id
----
select e'\xZZ'
----
reset all
----
select ('aa','(a*)*'); select regexp_match('aaa','x*'); select regexp_match('a{','a{'); select regexp_match('abc','(|b)c')
----
lock t in  exclusive mode nowait
----
select @ @ -5.0
----
select array[1, 2], array[]::int[], array[[1, 2], [3, 4]], array[array[1], array[2]], array[[[1]]], array(select 1), (array[1, 2])[1], array[(1), (2)], array[[]], array(values (1))
----
select char_length()
----
explain (text format, format json, costs off) select 1
----
 table w
----
select  from nosuch
----
select b'2'
----
select 1 intersect (select 2 intersect all select )
----
select aselect ;
----
prepare r(int, int) as select count(*), (i.id) from asked a join items i on i.kind = a.kind where i.id between $1 and $2 and a.n = 2
----
create view lower as select  from low where id > 1
----
CREATE INDEX ON indexed (b text_pattern_ops, b , b COLLATE "default")
----
select a "b", a as "select", a as select, a b, 1 as c, a as "A", a c from t as "T" (a, "B"), u , w (x)
----
select  from nosuch_seq
----
SELECT abs(a) WITHIN GROUP (ORDER BY a)  beside
----
select a local into temp x from t
----
begin
----
select 1  pg_largeobject where loid = 0
----
select (5)
----
select from i asg where t = 5
----
select * from json_to_record() as x (a int[])
----
create table ixn (int a primary key, b text)
----
set constraints a, sb immediate
----
reset a
----
select sumid() over (order by n range between -1 preceding and current row) from framed
----
select pg_get_userbyid(), pg_get_functiondef('upper(text)'::regprocedure) is not null
----
set time zone 5
----
discard temporary
----
select from "für" enc
----
alter  table t rename to u
----
update update p set a = 30 where a = 3
----
create view w14 as select lower(b) as lb, count(distinct d) from p group by lower(b) order by lower(b)  nulls last
----
select (to_charnull, 'x')
----
select null, true, false$ ,1, $2::int, unknown, current_date, current_time, current_time(3), current_timestamp(0), localtime, localtimestamp(2)
----
select (unnestnull)
----
select n n, n2, rank() over (order by n::text), rank() over (order by n + n2) from w order by id
----
select 1 / v from a a where v = 0
----
select default
----
table t
----
alter view if exists v rename rename to w
----
select  into a union select 2 into b
----
execute p
----
select zzzzzz  hinted
----
select '[0:0][5:6]={{1,2}}'::int[] || || '[5:6]={3,4}'::int[], '[5:6]={3,4}'::int[] || '[0:0][5:6]={{1,2}}'::int[]
----
select json_agg(x), jsonb_agg(x), jsonb_agg(y), json_aggy() filter (where x > 1), json_object_agg(y, x), jsonb_object_agg(y, x), json_agg(x) filter (where false) from (values (1, 'a'), (2, 'b'), (null, 'c')) v(x, y)
----
select json_agg(x) from (select num num, array[num] as l from t1 order by num) x
----
select id  far where t > tz order by id
----
select  from kinds order by n
----
create sequence z_sq
----
analyze
----
cluster t
----
drop table if exists t, su cascade
----
show ab
----
fetch  3 from c
----
select id + 1, id * 2, id - - 1, id / 2, id % 2, -id from item order by id
----
create database d with owner a template = b encoding 'utf8' connection limit 5 tablespace default lc_collate 'C' lc_ctype = 'C' is_template true allow_connections  false strategy wal_log
----
discard temp
----
select extract(epoch from  '2001-02-16 20:38:40.12-08')
----
select a.bc. from held
----
select  '04:05:06 PST'
----
select grouping(region), pg_typeof(grouping(region)) from sales sales group by region limit 1
----
select (to_chartimestamptz '2002-04-20 05:06:07+00', 'TZ tz TZH:TZM OF')
----
select date_trunc('week',  '2020-01-01')
----
do 'x'
----
select ceil-(42.8)
----
discard plans
----
select ('4.567', 2), round(4.567::float8::numeric, 2)
----
with q as (select 1 as a) select * from q q, q as r
----
update  x set a = 1 where current of c
----
select from a q order by a
----
update v set b = n from (values (1, 'from')) x(k, n) where xk = v.a returning v.*, n
----
drop view  cascade
----
set session session authorization default
----
alter table products rename rename to items3
----
create view w as select c as z, a as xb , || '?' as q, b as y from t
----
select  from aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggghhhhh
----
lock  v
----
set session session authorization z_cr
----
select interval  years
----
select a a -- b
----
update child child set sec = null where n = 3
----
select usename, usesuper from pg_user pg_user where usename = 'postgres'
----
select ('{"a":1}', '{"b":2}')
----
select int
----
select id, cume_dist() over (order by t desc nulls last, n desc nulls last groups between 1 preceding and 1 following)  wz order by id
----
set session characteristics as transaction read write isolation level read committed
----
create view w28 as select a from p where a in (select a a from q where q.x > 1)
----
select max('a'::"char"), pg_typeof(('a'::"char")); select max(row(1,2)); select mode() within group (order by json '1')
----
select a global into temporary x from t
----
select a b from s order by a
----
select (grantor), admin_option from pg_auth_members where member = (select oid from pg_roles where rolname = 'rb')
----
set names
----
copy t to stdout csv quote  '"' escape as '\' force quote a, b
----
update update t set (a) = 1
----
select xmin < '5'::xid  k
----
with recursive a as (select 1 all union select 2) cycle n set m to true default false using p select 1
----
select x'1g'
----
close all
----
select i::text, i::varchar as v, i::time  t, '1 day'::text::interval, '1:00'::time::interval from span order by i
----
select (1, 2) = (1, 2), (1, 'a') < (2, 'a'), (1, null) = (1, 2), row(1,2) = (1,'2')
----
create index on unseeninside (a)
----
select nextval(n), (nextvaln) from (values ('r'), ('s'), ('r')) v (n)
----
select tgrelid::regclass, tgconstrrelid::regclass, tgfoidregproc, tgenabled from pg_trigger order by 1, 2, 3
----
update update t set (a, b) = c
----
select string_agg(id::text, ',') from (select id, v from ordered ordered order by v desc, id) q join generate_series(1, 1) g on true
----
comment on column ta is 'its key'
----
listen a
----
select  from low where id = 1
----
select jsonb_each()
----
commit
----
select * from f(1), f(2) as a, f(3) a (b), f4() with ordinality, f(5) with ordinality as a (b, c), lateral f(6) g, s.f(7), coalesce(1, 2) c, current_date, cast(1 as int) x
----
select o.id, (not not exists (select 1 from fp s1 where case when s1.z then s1.b else s1.a end <= s1.b)) as p from fo o order by 1
----
select g, sum(10 / a) filter (where a <> 0)  fl group by g order by g
----
select * from a  join b using (c, d)
----
select i::text, i::varchar as v, i::time as t, '1 day'::text::interval interval, '1:00'::time::interval from span order by i
----
select * from (((a a cross join b)))
----
select sum(x) from (values (interval ), ('2 hours')) v(x)
----
select '1800-01-01' timestamptz, timestamptz '1930-07-01', timestamptz '2020-07-01'
----
select 'one' -- but here
' and two'  b
----
select '[{"a":"foo"},{"b":"bar"},{"c":"baz"}]'::json -> -> 2
----
start transaction
----
create table defr (a int unique deferrable deferrable initially deferred)
----
drop owned by a,  cascade
----
with a as (select 1) update t t set b = (select * from a)
----
select sum(i) over ()w1 from w window w1 as (order by i2 rows 1 preceding)
----
select a.name, b.title from author  full join book b on b.author_id = a.id order by a.id, b.id
----
select (regexp_matches'foobarbequebaz', '(bar)(beque)')
----
select format_type(atttypid, atttypmodfrom ) pg_attribute where attrelid = 'v'::regclass and attnum > 0 order by attnum
----
select * from t where a == == b
----
select interval
----
update p set name = (select max()name from p)
----
select sum(sum()) over (), count(*) from w
----
select ('{1}'::int2[])
----
select sign0()
----
select (select 1), (select a from b limit 1) + 1, exists (select 1), not exists (select 1), ((select 1)), (((select 1))), (select 1)::int, (select (a, b)).f1, ((select 1) union (select 2)), (select row(1, 2)) = (1, 2)
----
select id from l l for update of nosuch
----
copy c to stdout (header )
----
create index expr on t (a( || ' ' || b))
----
select a a from t group by distinct a, rollup (b)
----
vacuum full freeze verbose analyze st (a, b), u
----
show a
----
copy t from  'cat' where a > 1
----
select percentile_contx() within group (order by y) from (values (0.5, 1), (0.5, 2)) t(x, y) group by x
----
select * from d d order by i
----
select a < b, a > b, a = b, a <= b, a >= b, a <> b, a != b, (a < b) = c, a < (b = c), (a = b) is null, a = b is null, a  (b is null), (a < b) < c
----
select  from b where t
----
grant usage, select on  s to a
----
select array_fill(7, array[3]), ('x'::text, array[2]), array_fill(null::int, array[2]), array_fill(1, array[0])
----
insert into t values (11, 1); begin; ; insert into t values (12, 1); rollback; select a from t where a in (11, 12)
----
merge into t using s on ta = s.a when matched then delete
----
select (select count(*)  va) as c, exists (select 1 from va where bs > 100) as e
----
select date '2020-01-01' - '2019-12-01', timestamp '2020-01-01' - '2019-12-01', timestamp '2020-01-01' + '1 day', '1 day' +  '2020-01-01', pg_typeof(timestamp '2020-01-01' - '2019-12-01')
----
select (date '2001-09-28' + interval '1 day')
----
drop owned by  restrict
----
select null = null, null is null, null || || null
----
vacuum analyze
----
select row(), row(1), (row1, 2), (1, 2), (1, (2, 3)), row((1, 2)), (row(1, 2)).f1, row(t.*), row(1, t.*), (t.*, 1)
----
select 1 = all ((select 1) union  (select 1))
----
create view x20 as select now() - interval '1 hour' as ago, date_trunc('day', ts), extract(epoch from ts), age(ts), to_char(ts 'YYYY') from p
----
set session session authorization a
----
select count() from goods g, sales s, days d where g.id = s.goods and d.day = s.day + 1 and kind is null
----
deallocate p
----
lock t
----
grant all on  r to a
----
select from id e order by id offset 1 row fetch next row only
----
select (date '2020-01-01', interval '1 day') overlaps (date , null::date)
----
select  + 1, count(*) from sets group by rollup (a, a + 1) having a + 1 > 1 order by 1, 2
----
create table t (a int not null, int b null, c int default 1, d int default -1 + 2, e int default (a and b), f int default 'x' || 'y' not null, g text default now()::text collate "C")
----
select a + b - c * d / e % f ^ g ^ h, a ^ (b ^ c), (a + b) * c, a - ( - c), a - b - c, (a ^ b) ^ c, -a ^ 2, (-1) ^ 2, -(1 ^ 2), -1 ^ 2
----
create role r nosuperuser nocreatedb nocreaterole  nologin noreplication nobypassrls encrypted password 'x' in role a, b role c user d admin e sysid 5
----
select id, rank() over (order by y), sum(i) over (order by y)  w order by id
----
fetch c
----
SELECT (pg_get_serial_sequence's5', 'd')
----
create role  login in group z_super
----
select id, avg(n) over w, max(n)  w, min(t) over w, stddev(id) over w, bool_or(id > 4) over w from excluded_rows window w as (order by id rows 3 preceding exclude current row) order by id
----
select  from information_schema.view_table_usage where view_schema = 'app'
----
cluster
----
select id id from a where (id, 7) in (select a_id, w from b) or id > 3 order by 1
----
explain (format text, json format, costs off) select 1
----
select  '1' except all select json '2'
----
 delete from t
----
select name 'a' = name  as same, name 'abc'
----
select o.id from o join p on p.oid = o.id and p.v > (select (v) from p) order by 1
----
create schema  "A"
----
select p.nm, count(*) pkt from p join t2 on true group by p.id order by 1
----
select id, lag(pay, 1, 'x') over (order by id)  w
----
select '1' + 1, pg_typeof('1' + 1), '2.5' + 1.0, pg_typeof(+1.5::float8)
----
select ('s') * 100 + nextval('s') from t
----
cluster verbose
----
select a::text::int  t order by id
----
select row(), row(1), row(1, 2), (1, 2), (1, (2, 3)), row((1, 2)), (row(1, 2)).f1, row(t.*), row(1, t.*), (t.*, 1)
----
select  '1 day' % 2
----
select * from l a join l b on aid = b.id - 1 order by 1
----
select * from lk where a like like 'ab%' order by a
----
delete from information_schematables
----
select count() from hp
----
insert into excluding values (1, 2) on conflict (a) do update set b = excluded.b returning a a, (select excluded.a)
----
select id u, n from arr left join lateral unnest(t) with ordinality as x(u, n) on true order by id, n
----
select a into  x from t
----
alter  table if exists t add column a int
----
select 1::intbool::text
----
select (select count(*) from va) as cexists , (select 1 from va where bs > 100) as e
----
fetch  all from c
----
select x.a, l.y, z.a from t xlateral , (select x.a+1) l(y) full join t z on l.y=z.a order by 1,2,3
----
select abs('-5'), abs(-5), abs(-5.5), pg_typeof(('-5')), sqrt(4), sqrt(4.0), round(2.5), round(2.5::float8), round('2.567', 2)
----
select k, count(*) from f1 group by by (1) order by (1)
----
copy t2 to stdout (binary format, delimiter ',')
----
copy t to program 'gzip' with (format )
----
select * from t1 union  (table t1) order by num
----
fetch forward  from c
----
select * from a, b as c,  e
----
explain (format text,  json, costs off) select 1
----
select exists
----
alter function f(int) strict immutable cost 5
----
deallocate all
----
select ((((select 1 as a) union all (select 2)) order by a ) limit 1)
----
select  from prv
----
