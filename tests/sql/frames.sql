-- Window frames: RANGE with offsets over every type that has them, offsets and arguments that are not constants.
create table framed(id int primary key, n numeric, m numeric(10,2), d date, t timestamp, z timestamptz, iv interval, tm time, i int, f float8, g int);
insert into framed values
  (1, 1.0, 1, '2020-01-01', '2020-01-01', '2020-01-01', '1 day', '00:30', 1, 1.5, 1),
  (2, 1.0, 2, '2020-01-02', '2020-01-02 12:00', '2020-01-02', '2 day', '01:00', 2, 2.5, 1),
  (3, 2, 2, '2020-01-05', 'infinity', '2020-03-29', '1 day', '23:30', 3, 'NaN', 1),
  (4, null, null, null, null, null, null, null, null, null, 2),
  (5, 10, 3, '2020-02-01', '2020-02-01', '2020-03-30', '1 mon', '12:00', 10, 'Infinity', 2),
  (6, 9, 3, '2020-02-01', '-infinity', '2020-03-31', '30 days', '12:30', 9, -1, 2),
  (7, 'NaN', 3.5, '2020-03-01', '2020-02-28', '2020-04-01', '31 days', null, null, null, 2),
  (8, -3, -1, 'infinity', '2020-03-31', 'infinity', '-1 day', '24:00', -4, 0, 3);
select id, sum(id) over (order by n range between 1 preceding and 1 following) from framed order by id;
select id, sum(id) over (order by n range between 1.5 preceding and current row), count(*) over (order by n range between current row and 0.5 following) from framed order by id;
select id, sum(id) over (order by n desc nulls last range between 1.5 preceding and 1 following) from framed order by id;
select id, sum(id) over (order by m nulls first range between unbounded preceding and 1 following), array_agg(id) over (order by m desc, id rows between 1 preceding and current row) from framed order by id;
select id, sum(id) over (partition by g order by n range between 1 following and 10 following), min(n) over (order by n range between 1 preceding and 1 following), max(n) over (order by n range between 8 preceding and 1 preceding) from framed order by id;
select id, avg(n) over (order by m range between 1 preceding and 1 following), stddev(m) over (order by m range between 1 preceding and 1 following) from framed order by id;
select id, first_value(id) over w, last_value(n) over w, nth_value(id, 2) over w, rank() over w, row_number() over (order by n, id), lag(id) over (order by n, id) from framed window w as (order by n, id range between unbounded preceding and current row) order by id;
select id, first_value(n) over w, last_value(n) over w, nth_value(n, 2) over w, rank() over w, ntile(2) over w from framed window w as (order by n range between 1 preceding and 1 following) order by id;
select id, count(*) filter (where id % 2 = 0) over (order by n range between 1 preceding and 8 following), string_agg(m::text, ',') over (order by m range between 1 preceding and current row) from framed order by id;
select id, sum(id) over (order by d range between '1 day' preceding and current row), count(*) over (order by d range between '1 month' preceding and '1 day' following) from framed order by id;
select id, sum(id) over (order by d desc range between interval '1 month' preceding and current row) from framed order by id;
select id, sum(id) over (order by t range between '1 month' preceding and '1 day 12 hours' following) from framed order by id;
select id, sum(id) over (order by t desc range between '1 month' preceding and '1 day 12 hours' following) from framed order by id;
set timezone = 'Europe/Berlin';
select id, sum(id) over (order by z range between '1 day' preceding and current row), sum(id) over (order by z range between '24 hours' preceding and current row) from framed order by id;
reset timezone;
select id, sum(id) over (order by iv range between '1 day' preceding and '1 day' following), count(*) over (order by iv desc range between '30 days' preceding and current row) from framed order by id;
select id, sum(id) over (order by tm range between '1 hour' preceding and '1 hour' following), sum(id) over (order by tm desc range between '1 day 1 hour' preceding and current row) from framed order by id;
select id, sum(id) over (order by i range between 1 preceding and 1 following), sum(id) over (order by f range between 1 preceding and 1 following) from framed order by id;
select id, sum(id) over (order by n range '1.5' preceding), sum(id) over (order by i range between '1' preceding and '2' following) from framed order by id;
-- Errors.
select sum(id) over (order by n range between -1 preceding and current row) from framed;
select sum(id) over (order by n range between 'NaN' preceding and current row) from framed;
select sum(id) over (order by n range between null preceding and current row) from framed;
select sum(id) over (order by d range between interval '-1 day' preceding and current row) from framed;
select sum(id) over (order by d range between 1 preceding and current row) from framed;
select sum(id) over (order by n range between interval '1 day' preceding and current row) from framed;
select sum(id) over (order by n range between 1::float8 preceding and current row) from framed;
select sum(id) over (order by n, id range between 1 preceding and current row) from framed;
select sum(id) over (order by iv range between 1 preceding and current row) from framed;
select sum(id) over (order by g::text range between 1 preceding and current row) from framed;
select sum(id) over (order by n range between n preceding and current row) from framed;
select sum(id) over (order by id rows between -1 preceding and current row) from framed;
-- What is not a constant.
prepare by_rows(int) as select id, sum(id) over (order by id rows between $1 preceding and current row), first_value(id) over (order by id desc rows between $1 preceding and 1 preceding) from framed order by id;
execute by_rows(1);
execute by_rows(2);
execute by_rows(-1);
execute by_rows(null);
prepare by_groups(int) as select id, sum(id) over (order by g groups between $1 preceding and $1 following), count(*) over (order by g groups between $1 following and unbounded following) from framed order by id;
execute by_groups(1);
execute by_groups(0);
prepare by_range(numeric) as select id, sum(id) over (order by n range between $1 preceding and $1 following), sum(n) filter (where n < 5) over (order by n range $1 preceding) from framed order by id;
execute by_range(1);
execute by_range(8.5);
execute by_range(-1);
prepare by_whole(int) as select id, sum(id) over (order by i range between $1 preceding and $1 following) from framed order by id;
execute by_whole(1);
execute by_whole(2147483647);
prepare by_time(interval) as select id, sum(id) over (order by d range between $1 preceding and current row) from framed order by id;
execute by_time('1 month');
execute by_time('-1 month');
select id, lag(id, g) over (order by id), lead(id, g, i) over (order by id), lag(n, 1, m) over (order by id), nth_value(id, g) over (order by id) from framed order by id;
select id, lag(id, null::int) over (order by id), lead(id, -1) over (order by id), lag(id, i) over (order by id) from framed order by id;
prepare shifted(int) as select id, lag(id, $1) over (order by id), lead(id, $1, -1) over (order by id), ntile($1) over (order by id), nth_value(id, $1) over (order by id) from framed order by id;
execute shifted(2);
execute shifted(0);
execute shifted(null);
prepare keyed(numeric) as select id, rank() over (order by case when n > $1 then n else 0 end), sum(n + $1) over (order by n + $1, id) from framed order by id;
execute keyed(1.5);
select id, rank() over (order by t - now()) from framed where isfinite(t) order by id;
deallocate all;
drop table framed;
-- A key that comes twice counts once.
select x, sum(x) over (order by x, x range between 1 preceding and 1 following), sum(x) over (order by x, x desc range between 1 preceding and current row) from (values (1),(1),(2),(4)) t(x);
