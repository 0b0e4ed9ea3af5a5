-- Rows joined with those that their keys name: what is in order stays so, what names nothing has nothing beside it.
create table kind (id varchar(3) primary key, name text, sells bool);
create table place (area int, number int, name text, size numeric(8, 2), primary key (area, number));
create table trade (id int primary key, account int, at timestamp, kind_id varchar(3), area int, number int, price numeric);
create index on trade (account, at);
insert into kind values ('TLB', 'buy', false), ('TLS', 'sell', true), ('TMB', 'market buy', false), ('TMS', 'market sell', null);
insert into place select a, n, 'p' || a || n, a * n + 0.25 from generate_series(1, 12) a, generate_series(1, 9) n;
insert into trade select i, i % 20, timestamp '2024-01-01' + (i * 37 % 1000) * interval '1 minute',
  case i % 6 when 4 then null when 5 then 'TXX' else (array['TLB', 'TLS', 'TMB', 'TMS'])[i % 6 + 1] end,
  case when i % 11 > 0 then i % 13 end, i % 10, i * 0.5 from generate_series(1, 600) i;
analyze;
select trade.id, at, name, sells from trade join kind on kind.id = kind_id where account = 7 order by at desc limit 5;
select trade.id, at, name, sells from trade left join kind on kind.id = kind_id where account = 7 order by at desc limit 5;
select trade.id, at, name, sells from trade left join kind on kind.id = kind_id where account = 7 order by at limit 3 offset 2;
select t.id, t.at, k.name, p.name from trade t join kind k on k.id = t.kind_id join place p on p.area = t.area and p.number = t.number where account in (3, 4) order by account, at limit 6;
select t.id, k.name, p.name, p.size from trade t left join kind k on k.id = t.kind_id left join place p on p.area = t.area and p.number = t.number where account = 5 order by at, t.id;
select t.id, p.name from trade t left join place p on p.area = t.area and p.number = 4 where account = 5 order by at, t.id limit 12;
select t.id, p.name from trade t join place p on p.area = t.area and p.number = 4 and p.size > t.price where account < 5 order by at, t.id;
select t.id, p.name from trade t left join place p on p.area = t.area and p.number = t.number and p.size > t.price where account = 1 order by t.id;
select t.id, k.name from trade t left join (select * from kind where sells) k on k.id = t.kind_id where account = 2 order by t.id limit 12;
select t.id, k.words from trade t left join (select id, upper(name) || '!' as words from kind where sells is not true) k on k.id = t.kind_id where account = 2 order by t.id limit 12;
select t.id, k.name is null, k.sells is null from trade t left join kind k on k.id = t.kind_id and k.name > 'm' where account = 9 order by t.id;
select id from trade where account = 6 and exists (select from kind where kind.id = kind_id) order by at limit 4;
select id from trade where account = 6 and not exists (select from kind where kind.id = kind_id) order by at;
select id from trade where account = 6 and kind_id in (select id from kind where sells) order by at desc limit 4;
select id from trade where account = 6 and kind_id not in (select id from kind where sells) order by at desc limit 4;
select id from trade t where account = 8 and not exists (select from place p where p.area = t.area and p.number = t.number and p.size < t.price) order by at limit 7;
select count(*), sum(price), count(sells) from trade join kind on kind.id = kind_id;
select count(*), count(p.name), sum(p.size) from trade t left join place p on p.area = t.area and p.number = t.number;
select k.name, count(*) from trade t join kind k on k.id = t.kind_id where account between 2 and 6 group by k.name order by k.name;
select distinct k.name from trade t left join kind k on k.id = t.kind_id where account = 11 order by 1;
select t.id, row_number() over (order by at desc) from trade t join kind k on k.id = t.kind_id where account = 12 order by 2 limit 5;

select t.id, p.name from trade t join place p on p.area = t.area and p.number = t.number and p.name = 'p' || t.area || 4 where account < 9 order by t.id;
select t.id, p.name from trade t left join place p on p.area = t.area and p.number = t.number and p.area = t.account where account < 9 and t.area is not null order by t.id limit 30;
select t.id, k.name from trade t join kind k on k.id = t.kind_id and k.name = substr(t.kind_id, 2) || k.id where account < 9;
select t.id, q.name from trade t join place p on p.area = t.area and p.number = t.number join place q on q.area = t.area and q.number = p.area and q.area = p.number where account < 15 order by t.id;
select id from trade t where account < 9 and exists (select from place p where p.area = t.area and p.area = t.number and p.number = 3) order by id;

-- Keys of another type, of ranges, and of what the transaction itself wrote.
select t.id, p.name from trade t join place p on p.area = t.area::bigint and p.number = t.number where account = 4 order by t.id limit 5;
select t.id, p.name from trade t join place p on p.area = t.area and p.number = t.number and p.area between 3 and 6 where account = 4 order by t.id;
select t.id, p.name from trade t left join place p on p.area = t.area and p.number = t.number and p.area > 8 where account = 4 order by t.id;
begin;
insert into kind values ('TXX', 'new', true);
delete from kind where id = 'TMS';
update kind set name = 'bought' where id = 'TLB';
select trade.id, name from trade join kind on kind.id = kind_id where account = 7 order by at desc limit 8;
select count(*), max(name) from trade left join kind on kind.id = kind_id;
rollback;
prepare newest(int, int) as select t.id, k.name, p.name from trade t left join kind k on k.id = t.kind_id join place p on p.area = t.area and p.number = $2 where account = $1 order by at desc limit 3;
execute newest(7, 1);
execute newest(8, 2);
execute newest(null, 2);
execute newest(7, null);
execute newest(7, 1000);
prepare one(int) as select t.id, k.name, p.size from trade t join kind k on k.id = t.kind_id left join place p on p.area = t.area and p.number = t.number where t.id = $1;
execute one(1);
execute one(11);
execute one(5);
execute one(1000);
execute one(null);

-- An order of a subquery, of a WITH query, of keys on both sides.
select * from (select t.id, at, k.name from trade t join kind k on k.id = t.kind_id where account = 3 order by at desc limit 4) x order by id;
with w as (select t.id, at, k.name from trade t join kind k on k.id = t.kind_id where account = 3 order by at desc limit 4) select * from w order by at;
select t.id, k.id from trade t join kind k on k.id = t.kind_id where account = 3 order by k.id, t.id limit 7;
select t.kind_id, k.id, t.id from trade t join kind k on k.id = t.kind_id where account = 3 order by t.kind_id desc, t.id limit 7;
select k.id, t.id from trade t left join kind k on k.id = t.kind_id where t.id < 9 order by t.id;
select t.id, k.name from trade t join kind k on k.id = t.kind_id where t.id between 100 and 110 order by t.id desc;
select p.area, p.number, p.name, q.name from place p join place q on q.area = p.number and q.number = p.area order by p.area desc, p.number limit 6;
select a.id, b.id, c.id from trade a join trade b on b.id = a.id + 1 join trade c on c.id = b.number where a.account = 10 order by a.at limit 5;

-- More rows than are looked up one by one.
create table small (id int primary key, name text); insert into small select i, 'n' || i from generate_series(1, 500) i;
create table large (n int, small_id int); insert into large select i, i * 7 % 600 from generate_series(1, 12000) i;
select count(*), count(name), min(name), max(name) from large left join small on id = small_id;
select count(*), sum(n) from large where not exists (select from small where id = small_id);
select count(*) from large join small on id = small_id and name > 'n4';
analyze small;
select count(*), count(name), min(name), max(name) from large left join small on id = small_id;
select count(*), sum(n) from large where not exists (select from small where id = small_id);
select count(*) from large join small on id = small_id and name > 'n4';
select count(*), sum(n) from large left join small on id = small_id and id between 100 and 200 where name is null;
select name, 10 / (id - 7) from large join small on id = small_id and id <> 7 where n < 4 order by n;
select name, 10 / (id - 7) from large join small on id = small_id where n < 4 order by n;
drop table kind, place, trade, small, large;
