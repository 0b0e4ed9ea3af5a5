-- What a tester met chapter by chapter: limits of numerics, sets of constants, rows before they are grouped, orders of aggregates.
select exp(5999.0) > 0, exp(-6000.0) = 0;
select exp(6000.0);
select exp(10000.0);
select power(1.5, 20000.5);
select power(1.0000001, 200000000) > 0;
select power('-inf'::numeric, 4.5);
select power(0, '-inf'::numeric);
select power('-inf'::numeric, 3), power(0.5, '-inf'::numeric);
select 1e-16383::numeric = 0, 1e131071::numeric > 0;
select 1e-16384;
select '1e-20000'::numeric;
select 1e131071 * 10;
select 1e-400::numeric::float8;
select width_bucket(1.0, 'inf'::numeric, 4.0, 5);
select width_bucket(1::float8, 0, 'inf', 5);
select sign(-0.0::float8), sign('nan'::float8), sign('-inf'::float8), sinh(1000), cosh(-1000);
select stddev(x), variance(x), stddev_pop(x), var_pop(x) from (values (2147483647),(2147483647),(-2147483648)) v(x);
select stddev(x), stddev_samp(x) from (values (5200),(4200),(4800),(4800),(3500)) v(x);
select var_pop(x) from (values (1e200::float8), (-1e200)) v(x);
select var_pop(x), stddev(x) from (values ('inf'::float8), (1)) v(x);
select to_number('12345', '999V99'), to_number('5', ''), to_number(' . 0 1-', ' 9 9 . 9 9 S'), to_number('$1,234.5', 'L9G999D9'), to_number('.0-', '99.99S');
select to_number('1.5E3', '9.9EEEE');
select to_number('XII', 'RN');
select to_timestamp('nan'::float8);
select interval 'PT', interval 'P1YT';
-- Sets and windows over what is the same in every row.
select 2 intersect all (select 2 union all select 2 union all select 2);
select * from (values (2), (2), (3)) v(a) intersect all (select 2 union all select 2) order by 1;
select row_number() over (partition by x) from (select 2 as x union all select 2) s order by 1;
select sum(x) over (partition by x), rank() over (partition by x order by y) from (select 2 as x, 3 as y union all select 2, 3) s;
-- Functions of rows that are grouped by.
create table few (id int primary key, a int, b text);
insert into few values (1, 1, 'x'), (2, 2, 'y'), (3, 2, 'x'), (4, null, 'z');
select generate_series(1, 2), count(*) from few group by 1 order by 1;
select generate_series(1, 2) as g, sum(a) from few group by g having count(*) > 1 order by g desc;
select unnest(array[b, 'x']) as u, count(*), sum(a) from few group by u order by u;
select b, generate_series(1, a) as g, count(*) from few group by b, g order by b, g;
select b, generate_series(1, count(*)::int) from few group by b order by 1, 2;
-- Aggregates with different orders, and without one.
select array_agg(x order by x), array_agg(x order by x desc), array_agg(x) from (values (1), (3), (2)) v(x);
select string_agg(x, ','), string_agg(x, ',' order by x desc), json_agg(x), jsonb_agg(x order by x) from (values ('b'), ('c'), ('a')) v(x);
select k, array_agg(x), array_agg(x order by x) from (values (1, 9), (2, 8), (1, 7), (2, 10)) v(k, x) group by k order by k;
select sum(distinct x), avg(distinct x) from (values (interval '1 day'), ('24 hours'), ('1 month'), (null)) v(x);
select k, sum(distinct x) from (values (1, interval '1 day'), (1, '1 day'), (2, '2:00'), (2, '3:00')) v(k, x) group by k order by k;
-- Offsets of frames.
select id, sum(id) over (order by id rows 1.5 preceding) from few order by id;
select id, sum(id) over (order by id rows between '1' preceding and current row) from few order by id;
select id, sum(id) over (order by id range between '1' preceding and '1'::int following) from few order by id;
select sum(id) over (order by id rows 'x' preceding) from few;
select id, sum(id) over (order by d range between '1 month' preceding and '1 day'::interval following) from (select id, date '2001-01-01' + id * 20 as d from few) s order by id;
select id, sum(id) over (order by id rows between (select 1) preceding and (select max(a) from few) following) from few order by id;
select id, sum(id) over (order by id range between (select min(a) from few) preceding and current row) from few order by id;
-- Constraints, settings, prepared statements.
create table kept (a int check (a > 0) no inherit, constraint c check (a < 10) no inherit);
insert into kept values (0);
insert into kept values (10);
select conname, connoinherit, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'kept'::regclass order by 1;
set my.var = 'x';
reset my.var;
show my.var;
select current_setting('my.var'), current_setting('my.other', true);
prepare q2 as select $1::text || $2;
prepare q3(int) as insert into few values ($1, 0, '') returning *;
select name, statement, parameter_types, from_sql, generic_plans from pg_prepared_statements order by name;
deallocate q2;
select name from pg_prepared_statements;
deallocate all;
select count(*) from pg_prepared_statements;
select json_build_object(array[1], 1);
drop table few, kept;
select array_to_json(array[1, null], true), array_to_json(array[[1, 2], [3, 4]], true), array_to_json('{}'::int[], true), array_to_json(array['a'], false), array_to_json(array[1], null);
-- Expressions in MERGE are those of other statements.
create table merged (id int primary key, d date, s text);
insert into merged values (1, '2001-01-01', 'abc'), (2, '2002-01-01', ' b '), (3, null, 'c');
merge into merged using (values (1), (2), (9)) v(k) on k = id
  when matched and d between symmetric date '2001-12-31' and date '2000-12-31' then update set s = substring(s similar 'a#"%#"c' escape '#')
  when matched then update set s = trim(both from s)
  when not matched and k in ((select 9), 10) then insert values (k, date '2003-01-01', trim(leading 'x' from 'xxy'));
select * from merged order by id;
drop table merged;
select to_jsonb('a');
select to_json(null);
select to_jsonb('a'::text), to_json(null::int);
