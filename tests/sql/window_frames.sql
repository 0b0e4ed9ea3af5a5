-- Several frames of one function over one order.
create table wf (a int, b int, t text, c bool);
insert into wf values (1, 5, 'x', true), (2, 5, 'y', false), (3, 5, null, true), (4, 6, 'x', null), (5, 8, 'z', false), (6, 8, 'z', true);
select a, count(*) over (order by b, a rows between unbounded preceding and current row), count(*) over (order by b, a range between unbounded preceding and current row), count(*) over (order by b, a) from wf order by a;
select b, array_agg(r order by r), array_agg(g order by g), array_agg(n order by n) from (select b, count(*) over (order by b rows between unbounded preceding and current row) r, count(*) over (order by b range between unbounded preceding and current row) g, count(*) over (order by b) n from wf) q group by b order by b;
select a, sum(b) over (order by a groups unbounded preceding), sum(b) over (order by a range unbounded preceding), sum(b) over (order by a rows unbounded preceding), sum(b) over (order by a) from wf order by a;
select a, sum(b) over (), sum(b) over (rows between unbounded preceding and unbounded following), sum(b) over (range between unbounded preceding and unbounded following) from wf order by a;
select a, count(*) over w, count(*) over (w rows 1 preceding), count(*) over (w groups 1 preceding), count(*) over (w rows 1 preceding exclude ties), count(*) over (w groups 1 preceding exclude group) from wf window w as (order by b, a) order by a;
select a, count(*) over w, count(*) over (w rows 1 preceding), count(*) over (w range 1 preceding), count(*) over (w groups 1 preceding), count(*) over (w groups 1 preceding exclude group) from wf window w as (order by a) order by a;
select a, max(a::int8) over (order by a), max(a::float8) over (order by a), max(a) over (order by a), max(a::numeric) over (order by a) from wf order by a;
select a, lag(a) over (order by a), lag(a::int8) over (order by a), lag(a::text) over (order by a), first_value(b) over (order by a), first_value(b::text) over (order by a) from wf order by a;
select a, count(*) over (order by b::int8, a), count(*) over (order by b::numeric, a), count(*) over (partition by b::int8), count(*) over (partition by b::text) from wf order by a;
select a, count(*) filter (where c) over (order by b, a), count(*) filter (where c is null) over (order by b, a) from wf order by a;
select a, rank() over (order by b rows 1 preceding), rank() over (order by b) from wf order by a, b;
-- DISTINCT and LIMIT.
select distinct every(c) over (partition by c order by b), c from wf order by 1, 2 limit 3;
select distinct c, row_number() over (order by a) from wf order by 2 limit 3;
select distinct sum(a) over (partition by a order by a) from wf order by 1 limit 3;
select distinct count(*) over (partition by c order by c) from wf order by 1 limit 3;
select count(*) from (select distinct every(c) over (partition by c order by b), c from wf limit 3) q;
select distinct on (c) c, max(a) over (partition by c order by a) from wf order by c, 2 desc limit 2;
-- Windows over rows of a query around them.
select a, (select row_number() over (order by x.a)) from wf x order by a;
select (select row_number() over ()) from wf x;
select (select sum(x.a) over (partition by x.b order by x.a)) from wf x order by 1;
select (select count(*) over (order by x.a rows 1 preceding)), (select lag(x.a) over (order by x.b)), (select first_value(x.t) over (order by x.a)) from wf x order by x.a;
select x.a from wf x where exists (select sum(1) over (order by x.a)) order by 1;
select a, (select max(s) from (select sum(y.a) over (partition by x.b order by y.a) s from wf y where y.b = x.b) q) from wf x order by a;
select a, r from wf x, lateral (select row_number() over (order by x.a) r) l order by a;
select a, r from wf x, lateral (select y.a ya, row_number() over (order by x.a, y.a desc) r from wf y where y.b = x.b) l order by a, ya;
select r from wf x, lateral (select row_number() over (order by x.a) r, 1 where false) l;
select a, r from wf x left join lateral (select row_number() over (order by x.a) r where x.a > 3) l on true order by a;
select 1 from wf x, lateral (select x.a where false) l where exists (select 1 from wf where false);
update wf set (a, t) = (select row_number() over (order by a), '1');
update wf set (a, t) = (select row_number() over (order by 1), '1');
select * from wf order by b, c;
-- An order opposite to that of the key.
create table wk (id int primary key, t text);
insert into wk select g, 't' || g % 3 from generate_series(1, 6) g;
select id, array_agg(id) over (order by id desc), string_agg(t, ',') over (order by id desc), json_agg(id) over (order by id desc) from wk order by id;
select id, array_agg(id) over (order by id desc rows 2 preceding), array_agg(t) over (order by id desc rows between 1 preceding and 1 following), array_agg(id) over (order by id) from wk order by id;
select id, array_agg(array[id, 0]) over (order by id desc), nth_value(id, 2) over (order by id desc rows 2 preceding), first_value(id) over (order by id desc) from wk order by id;
select id, lag(id) over (order by id desc), lead(t, 2) over (order by id desc), row_number() over (order by id desc), ntile(2) over (order by id desc) from wk order by id;
