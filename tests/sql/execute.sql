-- EXPLAIN and CREATE TABLE AS of EXECUTE, COPY in format binary, ALTER INDEX IF EXISTS, SET CONSTRAINTS of nothing.
create table t (a int primary key, b text);
insert into t select n, 'x' || n from generate_series(1, 20) n;
prepare q as select a, b from t where a < $1 order by a;
create table t2 as execute q(4);
select * from t2 order by a;
create table t3 (x) as execute q(3) with no data;
select * from t3;
create table t4 as execute nosuch;
prepare w as insert into t values (100, 'w');
create table t4 as execute w;
create table t4 as execute q;
create temp table t5 as execute q(2);
select * from t5;
explain (costs off) execute nosuch;
explain (costs off) execute q;
alter index if exists nosuch rename to x;
alter index nosuch rename to x;
alter index t_pkey rename to t_key;
alter index if exists t_key rename to t_pkey;
set constraints nosuch immediate;
begin;
set constraints nosuch deferred;
rollback;
set constraints all immediate;
copy t2 to stdout (format binary, delimiter ',');
copy t2 to stdout (format binary, null 'x');
copy t2 to stdout (format binary, header);
copy t2 to stdout (format nosuch);
copy t2 to stdout (format binary);
copy (select a, b, a * 1.5 as c, null::int as d from t2 order by a) to stdout (format binary);
create table b (a int, b varchar(3), c numeric(4,1));
\copy b (a, b) from program 'printf "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\2\0\0\0\4\0\0\0\7\0\0\0\1x\0\2\377\377\377\377\377\377\377\377\377\377"' with (format binary)
select * from b;
\copy b (a, b) from program 'printf "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\1\0\0\0\4\0\0\0\7"' with (format binary)
\copy b (a, b) from program 'printf "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\2\0\0\0\4\0\0\0\7\0\0\0\4long\377\377"' with (format binary)
\copy b (a, b) from program 'printf "a\tb\n"' with (format binary)
select * from b;
-- What PREPARE made.
prepare listed(int, text[], numeric(3,1)) as select $1, $2, $3;
prepare without as select 1;
select name, statement, parameter_types, from_sql, prepare_time <= now() from pg_prepared_statements where name in ('listed', 'without') order by 1;
select parameter_types[1] = 'int4'::regtype from pg_prepared_statements where name = 'listed';
deallocate listed;
select name from pg_prepared_statements where name in ('listed', 'without');
deallocate all;
select count(*) from pg_prepared_statements;
prepare subquery (int) as select $1;
execute subquery((select 1));
execute subquery(now());
deallocate subquery;
