-- GROUPING SETS, ROLLUP, CUBE and GROUPING.
create table sales(id int primary key, region text, product text, year int, amount numeric(10,2), n numeric);
insert into sales values
  (1, 'north', 'apple', 2020, 10.50, 1.0), (2, 'north', 'apple', 2021, 20, 1.00), (3, 'north', 'pear', 2020, 5, 2),
  (4, 'south', 'apple', 2020, 7.25, 2.0), (5, 'south', 'pear', 2021, 1, null), (6, null, 'pear', 2021, 3, 3),
  (7, 'south', null, 2020, 2, null);
select region, product, sum(amount) from sales group by grouping sets ((region), (product)) order by 1, 2, 3;
select region, product, count(*), sum(amount), avg(amount) from sales group by rollup (region, product) order by 1, 2, 3, 4;
select region, product, grouping(region), grouping(product), grouping(region, product), grouping(product, region), count(*) from sales group by cube (region, product) order by 5, 1, 2;
select region, count(*) from sales group by grouping sets (region, ()) order by grouping(region), region;
select count(*), sum(amount), max(region) from sales group by grouping sets ((), ()) order by 1;
select count(*) from sales group by ();
select grouping(region), region from sales group by region order by 2;
select region, year, sum(amount) from sales group by region, rollup (year) order by 1, 2, 3;
select region, product, year, sum(amount) from sales group by rollup (region), cube (product, year) order by 1, 2, 3, 4, grouping(region, product, year);
select region, product, year, count(*) from sales group by rollup ((region, product), year) order by 1, 2, 3, 4;
select region, product, year, count(*) from sales group by cube ((region, product), year) order by 1, 2, 3, 4, grouping(region, year);
select region, product, year, count(*) from sales group by grouping sets (rollup (region, product), cube (year), (product, year)) order by 1, 2, 3, 4, grouping(region, product, year);
select region, product, count(*) from sales group by grouping sets (grouping sets (region, product), ()) order by 1, 2, 3;
select region, product, count(*) from sales group by grouping sets ((region, product), grouping sets ((region), rollup (product))) order by 1, 2, 3;
select region, product, count(*) from sales group by distinct rollup (region, product), rollup (region) order by 1, 2, 3;
select region, product, count(*) from sales group by rollup (region, product), rollup (region) order by 1, 2, 3;
select region, product, count(*) from sales group by all rollup (region), rollup (product) order by 1, 2, 3;
select region, count(*) from sales group by (region) order by 1;
select region, product, count(*) from sales group by (region, product) order by 1, 2;
select region, product, count(*) from sales group by (region, product), () order by 1, 2;
-- Expressions, numbers, aliases.
select year % 2 as odd, year / 10 as decade, count(*) from sales group by rollup (odd, 2) order by 1, 2, 3;
select upper(region) u, upper(region) || '!', count(*) from sales group by rollup (upper(region)) order by 1, 3;
select year + 1, (year + 1) * 2, count(*) from sales group by grouping sets ((year + 1), ()) order by 1, 3;
select (year + id) / 2, count(*) from sales group by rollup ((year + id) / 2) order by 1, 2;
select (year + id) / 2, count(*) from sales group by grouping sets ((year + id) / 2, ()) order by 1, 2;
select 'x' as k, count(*), 'x' || 'y' from sales group by rollup (k) order by 2;
select 1 as k, count(*) from sales group by cube (1) order by 2;
select region as r, grouping(region) from sales group by rollup (r) order by 2, 1;
select coalesce(region, case grouping(region) when 1 then 'all' else 'none' end) as r, sum(amount) from sales group by rollup (region) order by 1;
select n, count(*), sum(n) from sales group by rollup (n) order by 1, 2;
select n, product, count(*), grouping(n, product) from sales group by cube (n, product) order by 4, 1, 2;
-- What is computed of groups.
select region, count(*) filter (where year = 2020), count(distinct product), array_agg(id order by id desc), string_agg(product, ',' order by id) from sales group by rollup (region) order by 1, 2;
select product, percentile_cont(0.5) within group (order by amount), mode() within group (order by year), bool_and(year > 2019), stddev(amount) from sales group by rollup (product) order by 1, 2;
select region, sum(sum(amount)) over (partition by grouping(region)), rank() over (order by sum(amount) desc), count(*) from sales group by rollup (region) order by 1, 2, 3;
select region, product, rank() over (partition by grouping(region, product) order by sum(amount) desc nulls last) from sales group by cube (region, product) order by grouping(region, product), 1, 2;
select region, sum(amount) from sales group by rollup (region) having grouping(region) = 0 order by 1;
select region, product, sum(amount) from sales group by cube (region, product) having sum(amount) > 10 order by 1, 2, 3;
select region, product from sales group by rollup (region, product) having region is null order by 1, 2;
select distinct region from sales group by rollup (region, product) order by 1;
select distinct on (region) region, product, count(*) from sales group by rollup (region, product) order by 1, 2 desc, 3;
select region, count(*) from sales group by rollup (region) order by count(*) desc, region limit 2;
select sum(grouping(region)) over (), region from sales group by rollup (region) order by 2;
select max(c), g from (select count(*) c, grouping(region) g from sales group by cube (region, product)) t group by rollup (g) order by 2, 1;
select * from (select region, sum(amount) s from sales group by rollup (region)) a full join (select region, count(*) c from sales group by grouping sets (region)) b using (region) order by 1, 2, 3;
select id, region, amount from sales group by grouping sets ((id), (id, year)) order by 1, 2;
select id, region, count(*) from sales group by id, rollup (year) order by 1, 3 limit 3;
select s.id, (select count(*) from sales t where t.region = s.region) from sales s group by rollup (s.id, s.region) order by 1, 2;
select y, (select sum(v) from (select year, count(*) v from sales s where s.year >= y group by rollup (s.year)) z) from (values (2020), (2021), (2022)) w(y) order by 1;
select y, (select count(*) from (select 1 from sales s where s.year = y group by cube (s.region, s.product)) z) from (values (2020), (2021), (2022)) w(y) order by 1;
select region, product from sales group by rollup (region, product) union all select 'z', 'z' order by 1, 2;
with r as (select region, year, sum(amount) s from sales group by rollup (region, year)) select * from r where year is null order by 1, 3;
create view totals as select region, grouping(region) as g, sum(amount) as total from sales group by rollup (region);
select * from totals order by 2, 1;
drop view totals;
prepare by_year(int) as select region, year > $1 as late, count(*) from sales group by rollup (region, year > $1) order by 1, 2, 3;
execute by_year(2020);
execute by_year(2021);
deallocate by_year;
-- No rows.
create table nothing(a int, b text);
select a, count(*), sum(a) from nothing group by rollup (a);
select a, b, count(*) from nothing group by grouping sets (a, (b), (), ());
select a, count(*) from nothing group by grouping sets (a, (a, b));
select count(*), array_agg(a), max(b), grouping(a) from nothing group by cube (a) having count(*) = 0;
select a, count(*) from nothing group by a, ();
select (select count(*) from nothing group by rollup (a));
-- Names and types.
select grouping(region), pg_typeof(grouping(region)) from sales group by region limit 1;
select grouping(a.region) + 1 as x from sales a group by rollup (a.region) order by 1 limit 1;
-- Errors.
select region, product from sales group by rollup (region);
select grouping(product) from sales group by rollup (region);
select grouping(region) from sales;
select grouping() from sales group by region;
select * from sales where grouping(region) = 1;
select count(*) from sales group by grouping(region);
select count(*) from sales a join sales b on grouping(a.region) = 1;
select sum(grouping(region)) from sales group by rollup (region);
select grouping(sum(id)) from sales group by region;
select count(*) from sales group by rollup (sum(id));
select count(*) from sales group by rollup (5);
select count(*) from sales group by rollup (nowhere);
select id, amount from sales group by grouping sets ((id), (year)) order by 1;
select id from sales group by cube (1,1,1,1,1,1,1,1,1,1,1,1,1);
select count(*) from sales group by cube (id, region, product, year, amount, n), cube (id, region, product, year, amount, n), cube (id);
select region from sales group by rollup (region) for update;
select region, count(*) from sales group by grouping sets ();
drop table sales;
drop table nothing;
