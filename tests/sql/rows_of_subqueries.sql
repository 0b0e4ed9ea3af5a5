-- Subqueries of FROM: what they see, what they are called, and what of them is computed.
create table f1 (k int, a int);
insert into f1 values (1, 10), (2, 20), (3, null);
create table f2 (x int);
insert into f2 values (1), (2), (3);
select * from f1, lateral (select count(*)) q order by 1;
select * from f1, lateral (select sum(a)) q;
select * from f1, lateral (select row_number() over ()) q order by 1;
select k, g from f1, lateral (select generate_series(1, k)) q (g) order by 1, 2;
select * from f1 left join lateral (select count(*), 1) q on true order by 1;
select * from f1, lateral (select k + 1, (select max(x) from f2 where x <= k)) q (b, c) order by 1;
select * from f1, lateral (select a) f1;
select * from f1, lateral generate_series(1, k) f1;
select * from f1 join lateral (select k) f1 on true;
select k, u from f1, lateral unnest(array(select f1.k from f2)) u order by 1, 2;
select k, g from f1, lateral generate_series(1, (select count(*) from f2 where f2.x <= f1.k)) g order by 1, 2;
select k, e from f1, lateral jsonb_array_elements((select jsonb_agg(x order by x) from f2 where x >= f1.k)) e order by 1, 2::int;
select k, g from f1 left join lateral generate_series(1, (select max(x) - 2 from f2 where f2.x <= f1.k)) g on true order by 1, 2;
select t.k, (select max(x) from (select sum(t.a) over () as s, x from f2) q where s > 5) from f1 t order by 1;
select t.k, (select array_agg(r order by r) from (select rank() over (order by x * t.k) as r from f2) q) from f1 t order by 1;
select t.k, (select string_agg(s::text, ',' order by s) from (select sum(x + t.k) as s from f2 group by x % t.k) q) from f1 t order by 1;
select k as x, a as x from f1 group by x;
select k as x, k as x from f1 group by x order by x;
select k as x, a as x from f1 order by x;
select * from nosuch.generate_series(1, 2);
select * from public.generate_series(1, 2);
select * from pg_catalog.generate_series(1, 2);
select * from rows from (nosuch.generate_series(1, 2), generate_series(1, 3));
select * from information_schema._pg_expandarray(array[7, 8]);
select distinct on (generate_series(1, 2)) generate_series(1, 2), k from f1 order by 1, 2;
select distinct on (generate_series(1, 2)) k from f1 order by generate_series(1, 2), k;
select k, generate_series(1, 2) from f1 order by generate_series(1, 2) desc, k;
-- What nobody reads is computed all the same where it does something.
create sequence s;
select count(*) from (select nextval('s') from f2) q;
select x from (select x, nextval('s') as n from f2) q order by x;
with w as (select nextval('s') from f2) select 1 from w limit 3;
select last_value from s;
select count(*) from (select pg_advisory_lock(x) from f2) q;
select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid();
select count(*) from (select pg_advisory_unlock_all()) q;
select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid();
-- What is asked anew for each row is asked of the rows that stand below it.
select count(*) between 380 and 620 from generate_series(1, 1000) where random() < 0.5;
select count(*) between 380 and 620 from (values (1)) v, generate_series(1, 1000) where random() < 0.5;
select min(c) = max(c) and max(c) = 1000 from (select *, count(*) over () c from generate_series(1, 1000)) q where random() < 0.5;
select max(n) = 100 from (select m, count(*) as n from (select g % 10 as m from generate_series(1, 1000) g) q group by m having random() < 0.8) q;
select count(*) from (values (1)) v, generate_series(1, 3) where random() < 2 and exists (select count(*) from f2 having (select false));
-- Operands are computed once.
select count(*) from generate_series(1, 1000) where case floor(random() * 2)::int when 0 then 'a' when 1 then 'b' end is null;
select count(*) from generate_series(1, 1000) where nullif(floor(random() * 2)::int, 0) = 0;
create sequence t;
select case nextval('t') when -1 then 'a' when -2 then 'b' else 'c' end, nullif(nextval('t'), -1), nextval('t');
select case a + 0 when 10 then 'ten' when 20 then 'twenty' else 'other' end, nullif(a + 0, 10), nullif(a::float8 * 0, -0.0), case a * 1.0 when 10 then 1 when null then 2 end from f1 order by k;
select nullif('a'::char(3) || '', 'a'), nullif(interval '24 hours' * 1, interval '1 day'), nullif(1.50 + 0, 1.5), case 1.50 + 0 when 1.5 then 'equal' end, case interval '24 hours' * 1 when '1 day' then 'equal' end;
-- Brackets around an item.
select k from f1 order by (1) desc;
select k from f1 order by (9);
select k from f1 order by ('x');
select k as z from f1 order by (z) desc;
select k as z from f1 order by ((z)) desc;
select k from f1 union all select 7 order by (1) desc;
select distinct on ((1)) k, a from f1 order by 1;
select k from f1 order by - -1 desc;
select k, count(*) from f1 group by grouping sets ((k, (1))) order by 1;
select k, count(*) from f1 group by (1) order by (1);
select (k, a) = ((1, 10)) as e, ((k, a)) in ((1, 10), (2, 20)) as i from f1 order by k;
-- Chains of joins whose columns are merged.
create table j (id int, v text);
insert into j values (1, 'a'), (2, 'b');
select * from j j1 full join j j2 using (id) full join j j3 using (id) full join j j4 using (id) full join j j5 using (id) order by 1;
select id, j1.v, j9.v from j j1 full join (select id + 1 as id, v from j) j2 using (id) full join (select id + 2 as id, v from j) j9 using (id) order by 1;
select count(*) from j a1 full join j a2 using (id) full join j a3 using (id) full join j a4 using (id) full join j a5 using (id) full join j a6 using (id)
  full join j a7 using (id) full join j a8 using (id) full join j a9 using (id) full join j b1 using (id) full join j b2 using (id) full join j b3 using (id)
  full join j b4 using (id) full join j b5 using (id) full join j b6 using (id) full join j b7 using (id) full join j b8 using (id) full join j b9 using (id);
-- LATERAL with a condition that is never true.
select f1.k, q.a from f1, lateral (select f2.x + 2 as a from f2 where f2.x = f1.k and 2 = any (array[7, 7])) q;
select f1.k, q.a from f1 left join lateral (select f2.x + 2 as a from f2 where f2.x = f1.k and 1 = 2) q on true order by 1;
select f1.k, q.a from f1, lateral (select count(*) as a from f2 where f2.x = f1.k and false) q order by 1;
