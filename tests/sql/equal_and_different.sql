-- Values that are equal and written differently, and what compares them.
create table listed (id int primary key, a int[], f float8, n numeric, j jsonb, b text);
insert into listed values (1, '{1,2}', 0, 1.0, '{"a": 1}', 'abc'), (2, '{1,null}', '-0', 1.00, '{"a": 1.0}', 'xbc'), (3, null, null, null, null, null);

-- WITH RECURSIVE … UNION: rows that equal one before them are none.
with recursive r(x) as (select 1.0::numeric union select x * 1.00 from r) select x from r;
with recursive r(x) as (select interval '1 day' union select interval '24 hours' from r) select x from r;
with recursive r(x) as (select '{"a": 1}'::jsonb union select '{"a": 1.0}'::jsonb from r) select x from r;
with recursive r(x) as (select array[1.0] union select array[1.00] from r) select x from r;
with recursive r(x) as (select row(1.0, 'a'::text) union select row(1.00, 'a'::text) from r) select x from r;
with recursive r(x) as (select 0::float8 union select '-0'::float8 from r) select x from r;
with recursive r(x) as (select 'NaN'::float8 union select 'NaN'::float8 from r) select x from r;
with recursive r(x) as (select 'a'::char(3) union select 'a  '::char(3) from r) select x || '.' from r;
with recursive r(n, x) as (select 1, 1.0::numeric union select n + 1, x * 1.00 from r where n < 3) select * from r;
with recursive r(n, x) as (select id, n from listed union select id, n * 1.000 from r join listed using (id)) select * from r order by n;
with recursive r(x) as (select n from listed union select x + 1 from r where x < 4.5) select a.x, b.x from r a join r b on a.x = b.x order by 1;
with recursive r(x) as (select n from listed union select x + 1 from r where x < 4) select x from r order by x limit 2;
select id, (with recursive r(x) as (select l.n union select x + 0.5 from r where x < 3) select count(*) from r) from listed l order by id;
select l.id, c.* from listed l, lateral (with recursive r(x) as (select l.n union select x * 1.0 + 1 from r where x < 3) select array_agg(x order by x) from r) c order by id;
with recursive r(x) as (select 1.0::numeric union (with recursive s(y) as (select x from r union select y + 1.0 from s where y < 3) select y from s)) select x from r order by x;
with recursive r(x) as (select '{}'::json union select x from r) select * from r;
prepare rounds(numeric) as with recursive r(x) as (select $1 union select x + 1.0 from r where x < 3) select x from r order by 1;
execute rounds(1.00);
execute rounds(2);
execute rounds(1.00);

-- Comparisons with all values of a subquery.
select id from listed where '{1,3}'::int[] < any (select a from listed) order by id;
select id, a < any (select a from listed), a <= all (select a from listed where a is not null), a > any (select a from listed), a >= all (select a from listed) from listed order by id;
select id from listed o where a < any (select a from listed i where i.id <> o.id) order by id;
select id, j < any (select j from listed), n > all (select n from listed where n < 1) from listed order by id;

-- Operators that are no comparisons.
select id, b like any (select b from listed), b not like any (select b from listed), b ilike all (select '%BC') from listed order by id;
select id from listed where b like any (select left(b, 1) || '%' from listed where id = 1) order by id;
select id from listed where b not like all (select left(b, 1) || '%' from listed where id = 1) order by id;
select id from listed o where b like any (select '%' || right(i.b, 2) from listed i where i.id <> o.id) order by id;
select id, b ~ any (select '^' || left(b, 1) from listed) from listed order by id;
select 'abc' like any (select null::text), 'abc' like all (select b from listed where false), 'abc' like any (select b from listed where false);
select 'a' like any (select 1);
select 'a' like any (select 'a', 'b');

-- 0 and -0 are one value, NaN is one.
select avg(distinct f), count(distinct f), sum(distinct f), stddev(distinct f), array_agg(distinct f), json_agg(distinct f), jsonb_agg(distinct f) from listed;
select avg(distinct f::float4), array_agg(distinct f::float4), sum(distinct f::float4) from listed;
select mode() within group (order by f) from (values (1::float8), (0), ('-0'), (1), ('0')) v(f);
select avg(distinct f), array_agg(distinct f order by f desc), var_pop(distinct f) from (values ('NaN'::float8), ('NaN'), ('-0'), (0)) v(f);

-- RANGE frames whose edges lie beyond their type.
select x, count(*) over (order by x range between 9223372036854775807 following and 9223372036854775807 following) from (values (1::int8), (5), (9223372036854775807)) v(x);
select x, count(*) over (order by x range between 10 preceding and 10 following) from (values (-9223372036854775808::int8), (-9223372036854775805), (9223372036854775800), (9223372036854775807)) v(x);
select x, count(x) over (order by x desc range between 10 preceding and 10 following) from (values (-9223372036854775808::int8), (-9223372036854775805), (9223372036854775800), (9223372036854775807)) v(x);
select x, sum(x) over (order by x range between 1 following and 9223372036854775807 following), sum(x) over (order by x range between 9223372036854775807 preceding and current row) from (values (1), (5)) v(x);
select x, sum(x) over (order by x range between 2 preceding and 1 following exclude current row), max(x) over (order by x range 3 preceding) from generate_series(1::int8, 6) x;
