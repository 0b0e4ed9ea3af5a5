-- COPY FROM … WHERE: which of the rows that were read go in.
create table cw (a int, b text, c int default 7, g int generated always as (a * 2) stored, check (a <> 4));
copy cw (a, b) from stdin where a > 1 and b <> 'x';
1	q
2	x
3	y
5	z
\.
copy cw (a, b) from stdin where a in (4, 6);
5	q
6	x
4	z
\.
copy cw (a, b) from stdin where 10 / (a - 3) > 0;
1	a
5	b
3	c
\.
copy cw (a) from stdin where b is null;
11
\.
copy cw (a, b) from stdin with (format csv) where a between symmetric 9 and 7 and cw.b like '%q%';
8,qq
7,pp
\.
copy cw from stdin where g = 7;
\.
copy cw from stdin where a;
\.
copy cw from stdin where a = max(a);
\.
copy cw from stdin where a in (select 1);
\.
copy cw from stdin where a in (generate_series(1, 5));
\.
copy cw from stdin where a = row_number() over (order by b);
\.
copy cw from stdin where f > 60003;
\.
copy cw to stdout where a = 1;
select * from cw order by a;
truncate cw;
create sequence cw_s;
alter table cw add column n int default nextval('cw_s'), add column i int generated always as identity, add column t text default upper('abc') || 'd';
copy cw (a) from stdin where c = 7 and n % 2 = 1;
1
2
3
\.
copy cw (a, c) from stdin where c > 7 and t = 'ABCd' and i <> 5;
5	8
6	7
7	9
\.
copy cw (a, n) from stdin where n is null or i > 100;
8	\N
9	1
\.
select a, c, n, i, t from cw order by a;
select last_value from cw_s;
drop table cw;
drop sequence cw_s;
