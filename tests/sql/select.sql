-- Queries of one table and of none.
create table item (id int primary key, name text not null, price numeric(10,2), kind text, made date);
insert into item values
  (1, 'anvil', 19.90, 'tool', '2024-01-31'),
  (2, 'bolt', 0.05, 'part', '2024-02-29'),
  (3, 'crane', 125000.00, 'machine', null),
  (4, 'drill', 89.50, 'tool', '2023-12-24'),
  (5, 'engine', null, 'machine', '2020-07-01');
select * from item order by id;
select id, name from item where kind = 'tool' order by name desc;
select 1, 'a', null, true, 1.50, 2.5e3;
select 1 as one, name "Name" from item where id = 1;
select count(*), count(price), sum(price), min(name), max(made) from item;
select kind, count(*), sum(price) from item group by kind order by kind;
select kind, count(*) filter (where price > 50) from item group by kind having count(*) > 1 order by 1;
select distinct kind from item order by kind;
select id from item order by price nulls first, id;
select id from item order by price desc nulls last, id;
select id from item order by id limit 2 offset 1;
select name from item where name like '%n%' order by 1;
select name from item where id in (1, 3, 99) order by id;
select name from item where price between 1 and 100 order by id;
select name, case when price > 100 then 'dear' when price is null then 'unknown' else 'cheap' end from item order by id;
select coalesce(price, 0), nullif(kind, 'tool') from item order by id;
select id from item where price is null;
select id from item where not (price > 1) order by id;
select upper(name) || '-' || id from item where id < 3 order by id;
select id + 1, id * 2, id - 1, id / 2, id % 2, -id from item order by id;
select name from item where made >= '2024-01-01' order by made;
values (1, 'x'), (2, 'y');
select * from (values (1, 'x'), (2, 'y')) as v(a, b) order by a desc;
select * from generate_series(1, 5);
select i * i from generate_series(1, 9, 3) as g(i);
table item;
select x from item;
select * from nowhere;
select id from item group by kind;
select name + 1 from item;
select 1 / 0;
select 'abc'::int;
select 2147483647 + 1;
selec 1;
select * from item where id = 'x';
create table zero (x int);
insert into zero values (1), (2), (3);
select union select;
select union all select;
select from zero intersect select from zero;
select from zero except select;
select from zero except all select;
select count(*) from (select union all select) q;
select distinct from zero;
select distinct on () 1;
select 1 offset all;
(select 1 limit 1) limit 1;
(select 1 order by 1) order by 1;
((select 1 limit 2)) limit 3;
(select 1 offset 1) offset 2;
(select 1 limit 1) offset 2;
(select 1 limit 2) order by 1;
with a as (select 1) (with b as (select 2) select * from b);
with a as (select 1) (select * from a);
select * from ((select 1 limit 1) limit 1) q;
select x, (select count(*) from (select 1 from zero limit z.x) q) from zero z order by 1;
select x, (select y.x from zero y order by 1 offset z.x limit 1) from zero z order by 1;
select x, array(select y.x from zero y order by 1 limit z.x) from zero z order by 1;
select z.x, q.* from zero z, lateral (select y.x as y from zero y order by 1 limit z.x) q order by 1, 2;
select x from zero order by x for read only;
select x from zero order by x limit 2 for read only;
select x from zero order by x for update fetch first 1 row only;
select x from zero order by x for update limit 1 offset 1;
drop table zero;

-- Collations that contradict each other, and rows that are patterns.
SELECT 'a' COLLATE "C" < 'b' COLLATE "POSIX";
SELECT 'a' COLLATE "C" || 'b' LIKE ('b' COLLATE "POSIX");
SELECT 'a' COLLATE "C" < 'b' COLLATE "C", ('a' COLLATE "C") || 'x' = 'ax' COLLATE "C";
SELECT (1, 2) LIKE (1, 3);
SELECT ('a', 'b') LIKE ('a', 'c');
