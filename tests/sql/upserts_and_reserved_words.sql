-- Small things that random statements found: each answers as PostgreSQL.
create table excluded (a int primary key, b int);
insert into excluded values (1, 1);
insert into excluded values (1, 2) on conflict (a) do update set b = excluded.b;
insert into excluded values (1, 2) on conflict (a) do update set b = b + 1;
insert into excluded values (1, 2) on conflict (a) do update set b = 7;
insert into excluded as t values (1, 2) on conflict (a) do update set b = excluded.b + t.b returning *;
drop table excluded;
create table counts (a int primary key, b int);
insert into counts values (1, 2) on conflict (a) do update set b = b + 1;
insert into counts values (1, 2) on conflict (a) do update set b = 3 where b > 2;
insert into counts values (1, 2) on conflict (a) do update set b = counts.b + 1;
drop table counts;
select generate_series(1, generate_series(1, 3));
select generate_series(1, 2), generate_series(1, generate_series(1, 3));
select generate_series(1, generate_series(1, 2)) x, count(*) from (values (1)) v group by 1 order by 1;
select unnest(array[generate_series(1, 2), 5]);
select array_agg(null);
select count(*) over (order by x range between 'infinity' preceding and 'infinity' following)
  from (values ('-infinity'::float8), ('infinity'), (2), ('nan')) v(x);
select x, count(*) over (order by x desc range between 'infinity' preceding and 'infinity' preceding)
  from (values ('-infinity'::float8), ('infinity'), (2), ('nan')) v(x);
select x, count(*) over (order by x range between 'infinity' following and 'infinity' following)
  from (values ('-infinity'::float8), ('infinity'), (2), ('nan')) v(x);
select x, count(*) over (order by x range between 3 preceding and 2 following)
  from (values ('-infinity'::float8), ('infinity'), (2), ('nan'), (4)) v(x);
select '1'::xid = 1::bigint;
select '1'::xid = 1;
select ln(repeat('9', 1000)::numeric), ln(12345678901234567890::numeric), log(3, repeat('9', 500)::numeric);
select ln(123456e70), ln(1e65), ln(1e64), ln(7e-65), ln(7e-64), log(repeat('7', 300)::numeric), log(0.5, 1e300);
select 1e100::numeric ^ 0.33, 2::numeric ^ 1000.5, 1e-100::numeric ^ 0.5;
select length(factorial(12000)::text), factorial(25);
select factorial(32178);
select length((9.9e1000)::text), scale(1e-1000), 10::numeric ^ 500 = ('1' || repeat('0', 500))::numeric;
create table too_long (a int default 7, b varchar(3) default 'abcd', c numeric(3,1) default 12345, d char(2) default 'abc' check (d <> ''));
insert into too_long (b, c, d) values ('x', 1, 'y') returning *;
insert into too_long (c, d) values (1, 'y');
insert into too_long (b, d) values ('x', 'y');
alter table too_long alter a type text using a::text || 'x';
alter table too_long alter a type int using length(a);
insert into too_long (b, c, d) values ('x', 1, 'y') returning a;
alter table too_long alter b set default 'wxyz', alter a set default 'abc';
\d too_long
drop table too_long;
set intervalstyle to nosuch;
set client_min_messages = nosuch;
select regexp_replace('a', 'b', 'c', '1'), 1;
