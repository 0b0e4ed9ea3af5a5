-- COPY: what goes wrong, and where it says it did.
\set SHOW_CONTEXT always
create table c (id int primary key, a int not null, u int unique, k int check (k > 0));
copy c from stdin;
1	1	1	1
2	\N	2	2
\.
copy c from stdin;
1	1	1	1
1	2	2	2
\.
copy c from stdin;
1	1	1	1
2	2	1	2
\.
copy c from stdin;
1	1	1	1
2	2	3	-2
\.
copy c from stdin;
1	1	1	1
x	2	3	-2
\.
copy c from stdin;
1	1	1	1
2	2	3
\.
copy c from stdin;
1	1	1	1
2	2	3	4	5
\.
copy c (id, a) from stdin;
1	1
\N	2
\.
copy c from stdin csv;
1,1,1,1
2,2,"
3",4
5,5,5,x
\.
copy c from stdin csv;
1,1,1,1
2,1,1,"1
x"
\.
-- The first failing row counts, whatever its failure.
copy c from stdin;
1	1	1	1
2	2	1	2
3	\N	3	3
\.
copy c from stdin;
1	1	1	1
3	\N	3	3
2	2	1	2
\.
select count(*) from c;
copy c from stdin (delimiter '');
\.
copy c from stdin (delimiter 'ab');
\.
copy c from stdin (delimiter 'a');
\.
copy c from stdin (delimiter E'\n');
\.
copy c from stdin (delimiter '\');
\.
copy c from stdin (delimiter '.');
\.
copy c from stdin (delimiter 'é');
\.
copy c from stdin (null E'a\nb');
\.
copy c from stdin (format csv, delimiter '"');
\.
copy c from stdin (format csv, quote 'ab');
\.
copy c from stdin (quote 'a');
\.
copy c from stdin (escape 'a');
\.
copy c from stdin (format csv, escape 'ab');
\.
copy c from stdin (format csv, null '"');
\.
copy c from stdin (format csv, null ',');
\.
copy c from stdin (format text, null E'\t');
\.
copy c from stdin (force_quote *);
\.
copy c to stdout (force_null (a));
copy c to stdout (format csv, force_null (a));
copy c to stdout (format csv, force_not_null (a));
copy c from stdin (format csv, force_quote *);
\.
copy c to stdout (header match);
\echo :LAST_ERROR_SQLSTATE
copy c from stdin (header maybe);
\.
copy c from stdin (delimiter ',', quote '''', format csv);
1,2,'3',4
'5',6,'7
',8
\.
copy c to stdout (format csv, quote '''', force_quote *, header);
copy c to stdout (delimiter '|', null 'none');
deallocate nosuch;
\echo :LAST_ERROR_SQLSTATE
prepare s as select 1;
deallocate s;
deallocate s;
drop table c;
copy (select 1 into z) to stdout;
copy (select 1, 'a') to stdout using delimiters '|';
create table delimited (a int, b int);
insert into delimited values (1, 2);
copy delimited to stdout using delimiters '|';
drop table delimited;
copy (select 1, 'a') to stdout (delimiter x, format csv);
copy (select 1, 'a') to stdout (freeze maybe);
copy (select 1, 'a') to stdout (delimiter);
create table broken (i int, t text);
copy broken from stdin;

\.
copy broken from stdin;
x
\.
copy broken from stdin;
1	a	b
\.
copy broken from stdin (format csv, header match);
i,x
\.
drop table broken;

-- The marker behind the data of a line ends it all.
CREATE TABLE marked (a text);
COPY marked FROM stdin;
a
1\.
b
\.
SELECT * FROM marked;
COPY marked FROM stdin;
c
\.x
d
\.
COPY marked FROM stdin;
c
x\.y
d
\.
COPY marked FROM stdin;
c\\.
d
\.
SELECT * FROM marked;
