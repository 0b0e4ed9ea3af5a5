-- FETCH FIRST … WITH TIES.
create table tied (a int primary key, b int, c numeric);
insert into tied values (1, 1, 1.0), (2, 1, 1.00), (3, 2, 2), (4, 2, 3), (5, 3, 3), (6, null, null);
select a from tied order by b fetch first 1 rows with ties;
select a, b from tied order by b desc nulls last fetch first 2 rows with ties;
select a, c from tied where a < 6 order by c, b fetch first row with ties;
select * from (select b, count(*) from tied group by b order by count(*) desc fetch first 1 row with ties) t order by b;
select a from tied order by c desc nulls last offset 1 fetch next 2 rows with ties;
select a from tied order by b offset 4 rows fetch first 5 rows with ties;
select a from tied order by b fetch first 0 rows with ties;
select a from tied fetch first 1 rows with ties;
select a + 1 as x from tied order by b % 2, a / 10 fetch first 2 rows with ties;
select b from tied union select 7 order by b fetch first 2 rows with ties;
select * from (select a from tied order by b fetch first 1 rows with ties) t order by a;
select distinct b from tied order by b fetch first 2 rows with ties;
prepare first(int) as select a from tied order by b fetch first $1 rows with ties;
execute first(3);
drop table tied;
-- Smaller things.
select jsonb_insert('[1,2]', '{0}', '9'), jsonb_insert('[1,2]', '{0}', '9', true), jsonb_insert('[1,2]', '{-1}', '9', true), jsonb_insert('[1,2]', '{7}', '9'), jsonb_insert('[1,2]', '{-7}', '9');
select jsonb_insert('{"a":1}', '{b}', '2'), jsonb_insert('{"a":{"b":[1]}}', '{a,b,0}', '{"x":1}'), jsonb_insert('{"a":1}', '{b,c}', '2'), jsonb_insert('{"a":1}', null, '2');
select jsonb_insert('{"a":1}', '{a}', '2');
select regexp_split_to_array('abc', ''), regexp_split_to_array('a,b,,c,', ','), regexp_split_to_array('abc', 'x*'), regexp_split_to_array('', ','), regexp_split_to_array('aXbXXc', 'X*');
select chr(-1);
select chr(0);
