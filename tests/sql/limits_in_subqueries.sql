-- IN a subquery whose LIMIT is no constant.
create table t (id int primary key, n int); insert into t select g, g % 3 from generate_series(1, 10) g;
create table u (tid int references t (id), k text, primary key (tid, k)); insert into u values (1, 'x'), (1, 'y'), (2, 'x');
select count(*) from t where id in (select id from t limit (select 2));
select count(*) from t where id not in (select id from t limit (select 2));
select id from t where id in (select tid from u order by 1 limit (select 1)) order by id;
select id from t where id in (select id from t order by id limit (select count(*) from u)) order by id;
prepare few(int) as select id from t where id in (select tid from u order by tid limit $1) order by id;
execute few(3);
execute few(2);
execute few(0);
execute few(null);
prepare some(int, int) as select count(*) from t where n in (select id from t offset $1 limit $2);
execute some(0, 1);
execute some(0, 10);
prepare queue(int) as update t set n = n + 10 where id in (select id from t where n < 10 order by id limit $1 for update skip locked) returning *;
execute queue(2);
execute queue(1);
select t.id, x.tid from t join u x on t.id in (select tid from u order by tid limit (select 1)) and x.tid = t.id order by x.k;

-- UNION ALL in an order of columns that are constant or equal in one branch.
create table a (id int primary key, k int, name text); create table c (id int primary key, k int, name text);
insert into a values (1, 4, 'x'), (2, 2, 'y'), (4, 1, null); insert into c values (1, 3, 'z'), (5, 3, 'q');
select id, id, 6 from a where id in (4, null) union all select distinct id, k, k from c order by 1, 2, 3;
select id, id, 6 from a union all select distinct id, k, k from c order by 1, 2, 3;
select id, id, 6 from a union all select id, k, k from c order by 1, 2, 3;
select id, id, 6 from a union all select id, k, k from c order by 1 desc, 2, 3 limit 3;
select name, name, 'p' from a union all select name, coalesce(name, 'n'), name from c order by 1, 2, 3;
select name, name, 'p' from a where k > 0 union all select name, coalesce(name, 'n'), name from c where k > 0 order by 1, 2, 3;
select name as n, 'p' as t, k from a union all select name, 'q', k from c order by t, n;
select x, row_number() over (order by x, y, z) from (select id as x, id as y, 6 as z from a union all select id, k, k from c) q order by 1, 2;
select x, y from (select 1 as x, id as y from a union all select k, k from c union all select id, 3 from a) q order by x, y;

-- DEFAULT in brackets, and lag and lead of words.
create table d (a int default 5, b int, c int generated always as (a + 1) stored);
insert into d values ((default), 1), (2, (default));
insert into d (a, b) values (((default)), 3);
update d set a = (default) where a = 2;
update d set (a, b) = ((default), 7) where b = 3;
select * from d order by b;
select (default);
select lead('a', 2, 'b') over (), lag('a', 1, null) over (), lag(null, 1, 'x') over (order by id) from a limit 2;
select lag('a') over () from a;
select lead(id, 1, 'x') over () from a;

-- A char(n) is quoted as the text that it becomes.
select quote_literal('ab'::char(4)), quote_nullable('a'::char(3)), quote_nullable(null::char(3)), quote_literal(array['a'::char(3)]), format('%L', 'a'::char(3));
select degrees(123457), degrees(123456.789::float4), degrees(round(1e10::float4)), degrees(0.5), radians(180), radians(5e-324);
select degrees(1e19::float4), degrees(123456.78), radians(-0.0::float8), radians('NaN'), degrees('-Infinity');
select degrees(1e308);
