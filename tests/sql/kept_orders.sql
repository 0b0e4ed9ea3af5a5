-- Orders that are written: of subqueries, below limits, before what numbers, collects or writes rows; and what is computed after a sort.
create table ordered (id int primary key, v int, w int);
insert into ordered select g, 1000 - g % 7, g from generate_series(1, 20) g;
create index on ordered (w);
select id from (select id, v from ordered order by v desc) q order by id limit 3;
select id, v + 1 from (select id, v from ordered order by v desc) q order by id limit 3 offset 2;
select id, v from (select id, v from ordered order by v desc) q where v > 996 order by id limit 3;
select id, lag(v) over (order by id) from (select id, v from ordered order by v desc) q order by id limit 3;
select q.id, q.v from ordered u join (select id, v from ordered order by v desc) q on u.w = q.id order by q.id limit 3;
select q.id from ordered u left join (select id, v from ordered order by v desc) q on u.w = q.id order by q.id limit 2;
select id from (select id, v from ordered order by v desc, id limit 9) q order by id limit 3;
select id from (select id, v from ordered order by v desc, id) q order by id fetch first 3 rows with ties;
select w from (select w, v from ordered order by v desc) q where w > 4 order by w desc limit 3;
select id from (select id from (select id, v from ordered order by v) p order by v desc limit 30) q order by id limit 3;
with q as (select id, v from ordered order by v desc) select id from q order by id limit 3;
select id from ordered where id in (select id from (select id, v from ordered order by v desc) q order by id limit 3) order by 1;
select array(select id from (select id, v from ordered order by v desc) q order by id limit 3);
select max(id) from (select id from (select id, v from ordered order by v desc) q order by id limit 3) q;
(select id from (select id, v from ordered order by v desc) q order by id limit 3) union all select 0 order by 1;
-- The same where the limit is known when the statement runs.
prepare few(int) as select * from (select id, v from ordered order by v, id limit $1) q order by id;
execute few(3);
prepare counted(int) as select count(*) from (select id from ordered order by v limit $1) q where id > 10;
execute counted(3);
prepare chosen(int) as select id from ordered where id in (select id from ordered order by v, id desc limit $1) order by 1;
execute chosen(3);
prepare joined(int) as (select id from ordered order by v, id limit $1) union all select 0 order by 1;
execute joined(3);
select array(select id from ordered order by v, id limit (select 3));
select * from (select id, v from ordered order by v, id offset 15) q order by id;
select * from (select id, v from ordered order by v, id limit 1 + 2) q order by id;
select count(*) from (select id from ordered order by v, id limit (select 3)) q where id > 10;
select o.id, (select p.id from ordered p where p.id > o.id order by p.v, p.id offset o.id - 1 limit 1) from ordered o where o.id < 4 order by 1;
begin;
prepare gone(int) as delete from ordered where id in (select id from ordered order by v, id desc limit $1) returning id;
execute gone(2);
rollback;
-- What numbers, collects and writes rows sees their order.
select row_number() over () as n, id from (select id from ordered order by v, id desc) q limit 4;
select n, id from (select row_number() over () as n, id from (select id from ordered order by v, id desc) q) r order by id limit 4;
select string_agg(id::text, ',') from (select id from ordered order by v, id desc) q;
select string_agg(id::text, ',') from (select id, v from ordered order by v desc, id) q join generate_series(1, 1) g on true;
select sum(id) over (rows unbounded preceding) from (select id from ordered order by v, id desc) q limit 3;
with q as materialized (select id from ordered order by v, id desc) select string_agg(id::text, ',') from q;
(select id from ordered order by v, id desc limit 2) union all (select id from ordered order by w desc limit 2);
create table numbered (n serial, id int);
insert into numbered (id) select id from ordered order by v, id desc;
select * from numbered order by n limit 4;
prepare more(int) as insert into numbered (id) select id + 100 from ordered order by v, id desc limit $1 returning n, id;
execute more(2);
create table once (v int primary key, id int);
insert into once select v, id from ordered order by id desc on conflict do nothing;
select * from once order by v;
create table copied as select id from ordered order by v, id desc;
select * from copied limit 4;
-- Volatile functions of the select list are computed for the rows that come, in their order; so are rows of functions.
create sequence numbers;
select nextval('numbers'), id from ordered order by v, id desc limit 3;
select last_value from numbers;
select nextval('numbers'), id from (select id, v from ordered order by v) q order by id desc limit 2 offset 1;
select nextval('numbers') from ordered limit 2;
select last_value from numbers;
prepare next(int) as select nextval('numbers'), id from ordered order by v, id desc limit $1;
execute next(2);
select nextval('numbers') as n, id from ordered order by n desc limit 2;
select id, nextval('numbers') from ordered order by v, id desc fetch first 2 rows with ties;
insert into numbered select nextval('numbers') + 100, id from ordered order by v, id desc;
select id from numbered where n > 100 order by n limit 3;
select id, unnest(array[3, 1, 2]) from ordered order by id desc limit 5;
select generate_series(1, 3) g, id from ordered order by v, id desc limit 5;
select generate_series(1, 3) g, id from ordered order by g desc, id limit 5;
select unnest(array[v, id]), id from ordered where id < 3 order by id desc;
select v, count(*), generate_series(1, 2) from ordered group by v order by v desc limit 3;
select distinct on (v) v, id from (select v, id from ordered order by v, id desc) q;
select distinct on (v) id from ordered order by v, id, v;
-- A limit does not go below a window that needs more rows.
select count(*) over (), v from ordered group by v order by v limit 2;
select sum(v) over (), v from ordered group by v order by v limit 2;
select rank() over (order by v desc), v from (select distinct v from ordered) q order by v limit 2;
select id, sum(l) over (order by v, id rows between current row and 3 following)
  from (select v, id, sum(id) over (order by v, id rows between current row and 5 following) l from ordered) q order by v, id limit 3;
-- Unions of sorted and limited queries.
select 1 union all (select id from ordered order by 1 limit 2) union select 3 order by 1;
select v from ordered union all select distinct w from ordered union select 77 order by 1 limit 3;
select 5 union (select id from ordered order by id desc limit 1) union all (select 6 order by 1) order by 1;

-- commas behind LIMIT that are not its own
select 1 as one limit 1\; select 1 as one, 2 as two;
create table limited (a int primary key, b int, c int);
insert into limited select 1, 2, 3 limit 1 on conflict (a) do update set b = 4, c = 5;
insert into limited select 1, 2, 3 limit 1 on conflict (a) do update set b = 4, c = 5 returning a, b, c;
create table limited2 as select 1 as a, 2 as b limit 1 with no data;
select 1 limit 1, 2;
