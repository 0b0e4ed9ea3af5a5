-- 42601 22 syntax error at or near "*"
select * from only t *
----
-- 0A000 0 CHECK constraints cannot be marked DEFERRABLE
create table c (a int, check (a > 0) deferrable)
----
-- 42601 49 syntax error at or near "end"
select * from pg_class a join pg_class b using (end) limit 0
----
-- 42601 17 syntax error at or near "'1 day'"
select interval('1 day')
----
-- 42601 51 syntax error at or near "all"
create table r (a int, unique nulls not distinct (all))
----
-- 42601 32 syntax error at or near "using"
copy (select 1, 'a') to stdout using delimiters '|'
----
-- 42601 18 syntax error at or near "table"
grant select (a, table) on t to postgres
----
-- 42P20 36 frame start cannot be UNBOUNDED FOLLOWING
select sum(1) over (groups between unbounded following and 1 preceding)
----
-- 42601 23 syntax error at or near "("
select current_catalog()
----
-- 42601 78 syntax error at or near "["
select substring((select 'abcdef') for 2), array_agg((select 1) order by 1), [1, 2]
----
-- 42601 31 syntax error at or near "::"
create index on bracketless (a::text)
----
-- 42601 6 syntax error at or near "user"
copy user from stdin
----
-- 42601 13 syntax error at or near "user"
create view user as select 1
----
-- 42601 18 syntax error at or near "'1 day'"
select interval ('1 day')
----
-- 42601 23 syntax error at or near "insert"
create view broken as insert into t values (9)
----
-- 42601 14 syntax error at or near "<"
select 1 < 2 < 3
----
-- 42601 20 syntax error at or near "["
select array[1,2,3][1]
----
-- 42601 28 syntax error at or near "user"
alter table if exists only user add b int
----
-- 42601 14 syntax error at or near "'b'"
select $$a$$
'b'
----
-- 42601 19 syntax error at or near "left"
create temp table left (a int)
----
-- 42601 20 syntax error at or near "left"
select sum(a) over left from t window left as (order by a)
----
-- 42601 12 syntax error at or near "$$b$$"
select 'a'
$$b$$
----
-- 42601 17 syntax error at or near ")"
select greatest()
----
-- 22023 27 precision for type float must be less than 54 bits
create table pst (a float(54))
----
-- 42601 17 syntax error at or near "modify"
alter table lkt modify a int
----
-- 42P20 65 frame starting from following row cannot have preceding rows
select id, sum(i) over (order by i rows between 1 following and 1 preceding) from w order by id
----
-- 42601 8 syntax error at or near "end"
select end(1)
----
-- 42601 6 syntax error at or near "select"
with select as (select 1) select 1
----
-- 42601 8 trailing junk after numeric literal at or near "123abc"
select 123abc
----
-- 42601 1 syntax error at or near ":"
:on
----
-- 42601 25 syntax error at or near "select"
alter table t rename to select
----
-- 42601 8 syntax error at or near "any"
select any(array[1])
----
-- 42601 23 syntax error at or near "*"
select count(distinct *) from labelled
----
-- 42601 14 syntax error at end of input
select 1 from
----
-- 42601 34 syntax error at or near "user"
alter table t rename column a to user
----
-- 42601 25 syntax error at or near "user"
create table word_user (user int)
----
-- 42601 20 syntax error at or near ","
select position('a','b')
----
-- 42601 40 syntax error at or near "table"
create table r (a int, foreign key (a, table) references t)
----
-- 42P20 61 frame starting from following row cannot have preceding rows
select sum(g) over (order by g rows between 1 following and 1 preceding) from generate_series(1, 2) g
----
-- 42601 14 syntax error at or near "="
select 1 = 2 = 3
----
-- 42601 15 subquery in FROM must have an alias
-- hint: For example, FROM (SELECT ...) [AS] foo.
select * from (select 1)
----
-- 42601 15 syntax error at or near ","
select count(*, 1) from a
----
-- 42601 37 syntax error at or near "comment"
create table wp2 (a int, unique (a) comment 'x')
----
-- 42601 17 syntax error at or near "."
select row(1, 2).f1
----
-- 42P20 61 frame starting from following row cannot have preceding rows
select sum(a) over (order by a rows between 1 following and current row) from placed
----
-- 42601 9 syntax error at or near "begin"
explain begin
----
-- 42939 13 role name "none" is reserved
create role none
----
-- 42601 13 syntax error at or near "user"
alter table user add b int
----
-- 42601 22 syntax error at or near "order"
update lkt set a = 1 order by a
----
-- 42601 0 WITH TIES cannot be specified without ORDER BY clause
select a from tied fetch first 1 rows with ties
----
-- 42601 37 syntax error at or near "table"
create table r (a int, primary key (table))
----
-- 42601 91 syntax error at or near "where"
insert into t1 (id, v) values (2, default), (3, 'x') returning *, id + 1 as nxt, upper(v) where false
----
-- 42601 14 syntax error at or near "user"
create index user on t (a)
----
-- 42601 13 syntax error at or near "'10:00'"
select time('10:00')
----
-- 42601 14 syntax error at or near "="
select 1 < 2 = 3
----
-- 42601 30 syntax error at or near "-"
create index on bracketless (-a)
----
-- 42601 28 multiple LIMIT clauses not allowed
((select 1 limit 2)) limit 3
----
-- 42601 20 syntax error at or near "nonsense"
create sequence s5 nonsense 1
----
-- 42601 11 syntax error at or near "all"
savepoint all
----
-- 42601 20 syntax error at or near "table"
create index on t (table)
----
-- 42601 25 syntax error at or near "left"
create table word_left (left int)
----
-- 42601 30 syntax error at or near ")"
select greatest(1), greatest()
----
-- 42601 0 WITH TIES cannot be specified without ORDER BY clause
select x from tied fetch first 1 rows with ties for share
----
-- 42601 20 syntax error at or near ")"
select position('a')
----
-- 42601 16 syntax error at or near "NOT"
CREATE ROLE IF NOT EXISTS giver
----
-- 42939 13 role name "public" is reserved
CREATE ROLE public
----
-- 42601 29 syntax error at or near "array"
select count(*) from t join array on true
----
-- 42601 60 syntax error at or near "returning"
merge into t using s on t.a = s.k when matched then delete returning *
----
-- 42601 20 syntax error at or near "("
select current_role()
----
-- 42P20 68 frame starting from following row cannot have preceding rows
select id, sum(pay) over (order by id rows between 1 following and 1 preceding) from w
----
-- 42601 41 syntax error at or near "FETCH"
SELECT b FROM beside ORDER BY 1 LIMIT 1 FETCH FIRST 2 ROWS WITH TIES
----
-- 42601 17 syntax error at or near "all"
select distinct all 1
----
-- 42601 41 multiple LIMIT clauses not allowed
select * from ((select 1 limit 1) limit 1) q
----
-- 42601 14 syntax error at or near "'bar'"
select 'foo' 'bar'
----
-- 42601 19 subquery in FROM must have an alias
-- hint: For example, FROM (SELECT ...) [AS] foo.
select * from ep, (select 1)
----
-- 42601 14 syntax error at or near "'b'"
select $$a$$ 'b'
----
-- 42601 18 syntax error at or near "*"
select count(all *) from (values (1)) v(a)
----
-- 42601 6 syntax error at or near "table"
show table
----
-- 42601 23 syntax error at or near "*"
select count(distinct *) from (values (1)) v(a)
----
-- 42601 17 syntax error at or near "user"
create sequence user
----
-- 42601 13 syntax error at or near "user"
delete from user
----
-- 42601 53 syntax error at or near "where"
delete from t1 where id = 104 returning *, 1 as one where 1
----
-- 42P20 53 frame end cannot be UNBOUNDED PRECEDING
select sum(1) over (range between 'a' preceding and unbounded preceding)
----
-- 0A000 0 CHECK constraints cannot be marked DEFERRABLE
alter table t add constraint c check (a > 0) not valid deferrable
----
-- 42601 15 subquery in FROM must have an alias
-- hint: For example, FROM (SELECT ...) [AS] foo.
select * from (select 1) and
----
-- 42601 22 syntax error at or near "other"
insert into labelled other values (1)
----
-- 42601 32 syntax error at or near "user"
create table r (a int, unique (user))
----
-- 42601 17 syntax error at or near "user"
create table r (user) as select 1
----
-- 42601 22 syntax error at or near ","
select current_time(0,1)
----
-- 42601 15 syntax error at end of input
select * from 
----
-- 42P20 50 frame starting from current row cannot have preceding rows
select sum(1) over (rows between current row and 'a' preceding)
----
-- 42601 12 syntax error at or near "table"
drop table table
----
-- 42601 13 syntax error at or near "form"
select a, * form labelled
----
-- 42601 27 syntax error at or near "to"
select interval '1' month to year
----
-- 42601 32 syntax error at or near "+"
create index on bracketless (a + 1)
----
-- 42601 8 syntax error at or near "user"
update user set a = 1
----
-- 42601 11 syntax error at or near "end"
select 1::end
----
-- 42601 25 syntax error at or near "("
create table srl (id int(3))
----
-- 42601 23 syntax error at or near "'foo'"
select normalize('a', 'foo')
----
-- 42601 13 syntax error at or near "json"
select x is json from (values ('{}')) v(x)
----
-- 42601 15 subquery in FROM must have an alias
-- hint: For example, FROM (SELECT ...) [AS] foo.
select * from (select num from t1) order by 1
----
-- 0A000 0 UNIQUE constraints cannot be marked NOT VALID
alter table nv add constraint u unique (a) not valid
----
-- 42601 14 syntax error at or near ")"
select 1 in ()
----
-- 42601 39 syntax error at or near "["
select array_remove(array[1, 2, 3], 1)[2:]
----
-- 42601 10 syntax error at or near "with"
select 1 with
----
-- 42601 68 syntax error at or near "("
CREATE TABLE behind_2 (x int REFERENCES behind_p ON DELETE CASCADE (x))
----
-- 42601 27 syntax error at or near "all"
select * from pg_class as all limit 0
----
-- 42601 17 syntax error at or near ")"
select grouping() from sales group by region
----
-- 42601 67 syntax error at or near ")"
select a, b, count(*) from t group by grouping sets(cube((a, b), ()))
----
-- 42601 10 syntax error at or near "form"
select * form labelled
----
-- 42601 13 syntax error at or near "user"
insert into user values (1)
----
-- 42601 19 syntax error at or near "order"
select 1, 2 as a, order by 1
----
-- 42601 22 syntax error at or near "update"
declare c cursor for update placed set a = 1
----
-- 42601 9 syntax error at or near "some"
execute some(0, 1)
----
-- 42601 15 syntax error at or near "order"
create schema order
----
-- 42601 18 syntax error at or near ")"
select localtime()
----
-- 42601 24 syntax error at or near "insert"
create table broken as insert into t values (1)
----
-- 42601 7 syntax error at or near "create"
copy (create table z (a int)) to stdout
----
-- 42601 34 syntax error at or near "exclude"
select sum(id) over (order by id exclude current row) from excluded_rows
----
-- 42601 56 constraint declared INITIALLY DEFERRED must be DEFERRABLE
alter table d alter constraint d_p_fkey not deferrable initially deferred
----
-- 0A000 50 a column list with SET NULL is only supported for ON DELETE actions
CREATE TABLE behind_2 (x int REFERENCES behind_p ON UPDATE SET NULL (x))
----
-- 42601 28 syntax error at or near ","
CREATE INDEX ON indexed ((a, b))
----
-- 42601 13 syntax error at or near "'x'"
select 1 as 'x'
----
-- 42601 17 syntax error at or near "all"
select 1 offset all
----
-- 42601 11 syntax error at end of input
drop table
----
-- 42601 25 syntax error at or near "SCHEMA"
ALTER INDEX i1_pkey SET SCHEMA public
----
-- 42601 9 syntax error at or near "all"
declare all cursor for select 1
----
-- 42601 7 syntax error at or near ")"
copy () to stdout
----
-- 42601 1 syntax error at or near ":"
:always
----
-- 42939 13 SESSION_USER cannot be used as a role name here
CREATE ROLE session_user
----
-- 42601 20 syntax error at or near "array"
select array[[1,2],array[]::int[]]
----
-- 42601 8 syntax error at or near "analyse"
select analyse from (select 1 as "analyse") s
----
-- 42601 38 syntax error at end of input
create table r with (fillfactor = 50)
----
-- 42601 9 syntax error at or near "drop"
explain drop table pt
----
-- 42601 12 syntax error at or near "table"
analyze t (table)
----
-- 42601 31 syntax error at or near "of"
select * from c where current of nothing
----
-- 42601 55 syntax error at or near ")"
select a, b, count(*) from t group by rollup((a, b), ())
----
-- 42601 19 syntax error at or near "select"
insert into t (a, select) values (1, 2)
----
-- 42601 37 syntax error at or near "user"
alter table t drop column if exists user
----
-- 42601 60 syntax error at or near ")"
select region, count(*) from sales group by grouping sets ()
----
-- 42601 25 syntax error at or near "comment"
create table wp2 (a int comment 'x')
----
-- 42601 23 syntax error at end of input
select a from ep where
----
-- 42601 12 syntax error at or near "$$b$$"
select 'a' $$b$$
----
-- 42601 28 syntax error at or near "array"
create table if not exists array (a int)
----
-- 42939 13 CURRENT_USER cannot be used as a role name here
CREATE ROLE current_user
----
-- 42601 13 syntax error at or near "user"
update only user set a = 1
----
-- 0A000 36 MATCH PARTIAL not yet implemented
create table x (a int references p match partial)
----
-- 42601 15 VALUES in FROM must have an alias
-- hint: For example, FROM (VALUES ...) [AS] foo.
select * from (values (1))
----
-- 42601 25 syntax error at or near "storage"
create table st (a text storage plain)
----
-- 42601 21 syntax error at or near ")"
select distinct on () 1
----
-- 0A000 0 CHECK constraints cannot be marked DEFERRABLE
create table c (a int, constraint n check (a > 0) initially deferred)
----
-- 42P20 67 frame starting from following row cannot have preceding rows
select id, sum(id) over (order by id rows between 1 following and 1 preceding exclude current row) from excluded_rows
----
-- 42601 13 syntax error at or near "as"
select 40 ! as "40 factorial"
----
-- 42601 16 syntax error at or near ")"
select nullif(1)
----
-- 42601 5 syntax error at or near "user"
set user.x = 1
----
-- 42601 17 syntax error at or near "from"
copy (select 1) from stdin
----
-- 42601 20 syntax error at or near "all"
select sum(a) over all from t window all as (order by a)
----
-- 42601 15 syntax error at or near "array"
select * from array
----
-- 42601 38 cannot use DISTINCT with WITHIN GROUP
SELECT percentile_cont(DISTINCT 0.5) WITHIN GROUP (ORDER BY a) FROM placed_groups
----
-- 42601 16 syntax error at or near "index"
explain create index on pt (a)
----
-- 42601 25 syntax error at or near "x"
comment on large object x is 'said'
----
-- 42601 8 trailing junk after numeric literal at or near "1.5x"
select 1.5x
----
-- 42601 8 trailing junk after numeric literal at or near "1_000"
select 1_000
----
-- 42601 49 syntax error at or near "table"
insert into t (a, b) values (1, 2) on conflict (table) do nothing
----
-- 42601 18 syntax error at or near "*"
select count(all *) from labelled
----
-- 42601 15 syntax error at or near ","
select count(*, 1) from labelled
----
-- 42601 17 syntax error at or near ")"
select coalesce()
----
-- 42601 29 syntax error at or near "' and two'"
select 'one' /* not here */
' and two'
----
-- 42601 12 syntax error at or near "("
select user()
----
-- 42601 13 syntax error at or near "select"
create role select
----
-- 42P20 61 frame end cannot be UNBOUNDED PRECEDING
select sum(a) over (order by a rows between current row and unbounded preceding) from placed
----
-- 42601 46 syntax error at or near "and"
create table restricted (a bool default true and false)
----
-- 42P20 82 frame starting from current row cannot have preceding rows
select max(a) filter (where a > 0) over (order by a rows between current row and 1 preceding) from placed
----
-- 42601 9 syntax error at or near "all"
prepare all as select 1
----
-- 42601 20 syntax error at or near "*"
delete from only t *
----
-- 42601 36 syntax error at or near "nosuch"
create table bad (like p including nosuch)
----
-- 42601 20 syntax error at or near "create"
prepare defines as create table labels (a int)
----
-- 42601 22 syntax error at end of input
drop aggregate nosuch
----
-- 42601 28 syntax error at or near "table"
alter table t alter column table set default 1
----
-- 42601 14 syntax error at or near "user"
create table user (a int)
----
-- 42P20 45 frame start cannot be UNBOUNDED FOLLOWING
select sum(a) over (order by a rows between unbounded following and current row) from placed
----
-- 42601 18 syntax error at or near "."
select lower('X').y
----
-- 42601 21 syntax error at or near ")"
insert into t (table) values (1)
----
-- 42601 19 syntax error at end of input
create table twice
----
-- 42601 15 syntax error at or near "user"
create schema user
----
-- 42601 16 syntax error at or near "table"
create view w (table) as select 1
----
-- 42601 11 syntax error at or near "select"
set local select to 1
----
-- 42601 19 syntax error at or near "2"
select array[[1], 2]::int[]
----
-- 42601 37 syntax error at or near "user"
create table r (a int references t (user))
----
-- 42601 0 WITH TIES cannot be specified without ORDER BY clause
select id from e fetch first 2 rows with ties
----
-- 42601 22 syntax error at or near "insert"
declare d cursor for insert into t values (99, 'x') returning a
----
-- 42601 19 WHERE clause not allowed with COPY TO
copy cw to stdout where a = 1
----
-- 42601 18 syntax error at or near "'2020-01-01'"
select timestamp('2020-01-01')
----
-- 42601 13 syntax error at or near "user"
create role user
----
-- 42601 19 syntax error at or near ","
select nullif(1, 2, 3)
----
-- 42601 21 syntax error at or near "collate"
select position('a' collate "C" in 'b')
----
-- 42601 20 syntax error at or near "("
select session_user()
----
-- 42601 20 syntax error at or near "("
select current_date()
----
-- 42601 44 syntax error at or near ")"
select a, b, count(*) from t group by cube()
----
-- 42601 41 syntax error at or near "and"
update c set b = 'q' where current of s and a = 1
----
-- 22023 32 column number must be in range from 1 to 32767
alter index rid_e alter column 0 set statistics 5
----
-- 42939 13 CURRENT_USER cannot be used as a role name here
create role current_user
----
-- 42601 27 syntax error at or near "table"
alter table t drop column table
----
-- 42P20 38 frame starting from following row cannot end with current row
select sum(x) over (order by x range 2 following) from (values (1)) v(x)
----
-- 42601 16 syntax error at or near "'abc'"
select varchar('abc')
----
-- 42601 8 trailing junk after numeric literal at or near "0x1F"
select 0x1F
----
-- 42601 11 syntax error at end of input
select 1 +
----
-- 42601 10 syntax error at or near "as"
select * as x from labelled
----
-- 42601 20 syntax error at or near "user"
select sum(a) over user from t window user as (order by a)
----
-- 42P20 50 frame starting from following row cannot have preceding rows
select sum(1) over (rows between 1 following and current row) from held
----
-- 42601 28 multiple OFFSET clauses not allowed
(select 1 offset 1) offset 2
----
-- 42601 16 syntax error at or near "user"
insert into t (user) values (1)
----
-- 0A000 69 a column list with SET NULL is only supported for ON DELETE actions
create table bad (a int, b int, foreign key (a, b) references users on update set null (a))
----
-- 42P20 51 frame starting from following row cannot have preceding rows
select sum(1) over (range between 1 following and current row)
----
-- 42601 14 syntax error at or near "user"
create table user as select 1
----
-- 42601 22 UESCAPE must be followed by a simple string literal at or near "+"
select U&'x' uescape +
----
-- 42601 9 syntax error at or near "some"
prepare some(int, int) as select count(*) from t where n in (select id from t offset $1 limit $2)
----
-- 42601 1 multiple WITH clauses not allowed
with a as (select 1) (with b as (select 2) select * from b)
----
-- 42601 7 syntax error at or near "user"
table user
----
-- 42601 32 multiple ORDER BY clauses not allowed
(select 1 order by 1) order by 1
----
-- 42601 30 syntax error at or near "rename"
alter role all in database x rename to y
----
-- 42601 37 syntax error at or near "order"
select rank() over (partition by a, order by b) from (values (1, 2)) as t(a, b)
----
-- 42601 22 syntax error at end of input
grant select on ep to
----
-- 42601 16 syntax error at or near ")"
select nullif(1), nullif(1,2,3)
----
-- 42601 27 syntax error at or near "schema"
alter index s2.t_pkey set schema public
----
-- 42601 20 syntax error at or near "null"
select array[[1,2],null]
----
-- 42601 29 invalid Unicode escape character at or near "'+'"
select U&'ab +0061' uescape '+'
----
-- 42601 37 syntax error at end of input
create table r tablespace pg_default
----
-- 42601 26 multiple LIMIT clauses not allowed
(select 1 limit 1) limit 1
----
-- 0A000 0 CHECK constraints cannot be marked DEFERRABLE
alter table t add check (a > 0) deferrable
----
-- 42601 10 LIMIT #,# syntax is not supported
-- hint: Use separate LIMIT and OFFSET clauses.
select 1 limit 1, 2
----
-- 42601 22 syntax error at or near "user"
drop table if exists user
----
-- 42601 43 syntax error at or near "in"
create table restricted (a bool default 1 in (1, 2))
----
-- 42601 24 syntax error at or near "user"
create or replace view user as select 1
----
-- 42601 1 syntax error at or near "selec"
selec 1
----
-- 42601 34 syntax error at or near "nosuch"
alter table rid replica identity nosuch
----
-- 42601 36 syntax error at or near "nulls"
select id, first_value(pay) ignore nulls over (order by id) from w
----
-- 42601 13 syntax error at or near "all"
create role all
----
-- 42601 18 syntax error at or near "'x'"
select 1::float8 'x'
----
-- 42601 15 syntax error at or near "*"
update only t * set a = 1
----
-- 42601 53 syntax error at or near ")"
select a, b, count(*) from t group by cube((a, b), ())
----
-- 42601 28 syntax error at or near "collate"
select position('a' in 'b' collate "C")
----
-- 42601 30 syntax error at or near ","
select 1 where 1 in (1, null), 1
----
-- 42601 18 syntax error at end of input
select numeric(3)
----
-- 42601 13 syntax error at end of input
create table
----
-- 42601 21 syntax error at or near "user"
truncate table only user
----
-- 42601 1 syntax error at or near ":"
:replica
----
-- 42601 7 syntax error at or near "table"
reset table
----
-- 42601 20 syntax error at or near "create"
prepare defines as create table other (a int)
----
-- 42939 25 role name "public" is reserved
ALTER ROLE rd RENAME TO public
----
-- 42601 18 syntax error at or near "foo"
alter sequence s foo
----
-- 42601 14 syntax error at or near "end"
create table end (a int)
----
-- 42601 16 syntax error at or near "["
select array[1,[2]]
----
-- 42601 49 syntax error at or near "into"
insert into labelled (a) values (3) returning * into nothing
----
-- 42601 20 syntax error at or near "("
select current_user()
----
-- 42601 17 syntax error at or near "LIMIT"
delete from lkt LIMIT 5
----
-- 42601 27 syntax error at or near "select"
create table word_select (select int)
----
-- 42601 12 syntax error at or near "user"
drop table user
----
-- 42601 5 syntax error at or near "table"
set table = 1
----
-- 42601 34 syntax error at or near "."
alter sequence sc.t2 rename to sc.k
----
-- 42601 38 syntax error at end of input
create temp table if not exists twice
----
-- 42601 11 syntax error at or near "user"
drop view user
----
-- 42601 10 syntax error at or near "user"
truncate user
----
-- 42601 17 syntax error at or near ")"
select greatest(), least()
----
-- 42601 34 syntax error at or near "user"
create unique index concurrently user on t (a)
----
-- 42601 17 syntax error at or near "from"
select distinct from zero
----
-- 42601 9 syntax error at or near "table"
copy t (table) to stdout
----
-- 42939 13 role name "none" is reserved
CREATE ROLE "none"
----
-- 42601 3 syntax error at or near "from"
  from where
----
-- 42601 14 syntax error at end of input
select 1 + + 
----
-- 42601 14 syntax error at end of input
select * from
----
-- 42601 22 syntax error at end of input
select * from t where
----
-- 42601 26 syntax error at end of input
select * from t where a =
----
-- 42601 27 syntax error at or near "="
select * from t where a = = b
----
-- 42601 11 syntax error at or near "from"
select a, from t
----
-- 42601 8 syntax error at or near ","
select ,a from t
----
-- 42601 12 syntax error at or near "c"
select a b c from t
----
-- 42601 18 syntax error at or near "t"
select a as from t
----
-- 42601 15 syntax error at or near "c"
select a as b c from t
----
-- 42601 19 syntax error at or near "t"
select 1 from t t t
----
-- 42601 10 syntax error at or near "form"
select * form t
----
-- 42601 22 syntax error at or near "a"
select * from t wher a
----
-- 42601 23 syntax error at or near "a"
select * from t order a
----
-- 42601 23 syntax error at or near "a"
select * from t group a
----
-- 42601 25 syntax error at end of input
select * from t order by
----
-- 42601 25 syntax error at end of input
select * from t group by
----
-- 42601 33 syntax error at or near "asc"
select * from t order by a desc asc
----
-- 42601 22 syntax error at end of input
select * from t limit
----
-- 42601 17 LIMIT #,# syntax is not supported
-- hint: Use separate LIMIT and OFFSET clauses.
select * from t limit 1, 2
----
-- 42601 25 syntax error at or near "limit"
select * from t limit 1 limit 2
----
-- 42601 26 syntax error at or near "offset"
select * from t offset 1 offset 2
----
-- 42601 25 syntax error at or near "order"
select * from t limit 1 order by a
----
-- 42601 0 WITH TIES cannot be specified without ORDER BY clause
select * from t fetch first row with ties
----
-- 42601 32 syntax error at end of input
select * from t fetch first row
----
-- 42601 20 syntax error at end of input
select * from t for
----
-- 42601 30 syntax error at end of input
select * from t for update of
----
-- 42601 23 syntax error at end of input
select * from t having
----
-- 42601 25 syntax error at or near "where"
select * from t where a where b
----
-- 42601 23 syntax error at end of input
select * from t join u
----
-- 42601 22 syntax error at or near "u"
select * from t left u
----
-- 42601 26 syntax error at end of input
select * from t join u on
----
-- 42601 29 syntax error at end of input
select * from t join u using
----
-- 42601 30 syntax error at or near "a"
select * from t join u using a
----
-- 42601 31 syntax error at or near ")"
select * from t join u using ()
----
-- 42601 32 syntax error at or near "on"
select * from t natural join u on a
----
-- 42601 30 syntax error at or near "on"
select * from t cross join u on a
----
-- 42601 17 syntax error at or near "outer"
select * from t outer join u on a
----
-- 42601 17 syntax error at or near ")"
select * from (t)
----
-- 42601 17 syntax error at or near ")"
select * from (t) x
----
-- 42601 24 syntax error at end of input
select * from lateral t
----
-- 42601 18 syntax error at end of input
select * from f(1
----
-- 42601 34 syntax error at or near ")"
select * from f(1) as a (b int, c)
----
-- 42601 10 syntax error at end of input
select (1
----
-- 42601 9 syntax error at or near ")"
select 1)
----
-- 42601 12 syntax error at end of input
select ((1)
----
-- 42601 11 syntax error at or near ")"
select (1))
----
-- 42601 9 syntax error at or near ")"
select ()
----
-- 42601 8 syntax error at or near "["
select [1]
----
-- 42601 10 syntax error at end of input
select a[
----
-- 42601 10 syntax error at or near "]"
select a[]
----
-- 42601 11 syntax error at end of input
select a[1
----
-- 42601 13 syntax error at or near ":"
select a[1:2:3]
----
-- 42601 13 syntax error at end of input
select array
----
-- 42601 15 syntax error at end of input
select array[1
----
-- 42601 14 syntax error at or near "1"
select array(1)
----
-- 42601 10 syntax error at end of input
select f(
----
-- 42601 12 syntax error at end of input
select f(a,
----
-- 42601 10 syntax error at or near ","
select f(,a)
----
-- 42601 12 syntax error at or near "b"
select f(a b)
----
-- 42601 18 syntax error at or near ")"
select f(distinct)
----
-- 42601 11 syntax error at or near ","
select f(*, a)
----
-- 42601 13 syntax error at or near "*"
select f(a, *)
----
-- 42601 20 syntax error at or near ","
select f(variadic a, b)
----
-- 42601 14 syntax error at or near ")"
select f(a =>)
----
-- 42601 23 syntax error at or near "*"
select count(distinct *)
----
-- 42601 17 syntax error at end of input
select f(a) over
----
-- 42601 19 syntax error at end of input
select f(a) over (
----
-- 42601 25 syntax error at or near "a"
select f(a) over (order a)
----
-- 42601 29 syntax error at or near "a"
select f(a) over (partition a)
----
-- 42601 23 syntax error at or near ")"
select f(a) over (rows)
----
-- 42601 43 syntax error at or near ")"
select f(a) over (rows between 1 preceding)
----
-- 42P20 24 frame start cannot be UNBOUNDED FOLLOWING
select f(a) over (rows unbounded following)
----
-- 42P20 24 frame starting from following row cannot end with current row
select f(a) over (rows 1 following)
----
-- 42P20 32 frame start cannot be UNBOUNDED FOLLOWING
select f(a) over (rows between unbounded following and current row)
----
-- 42P20 48 frame end cannot be UNBOUNDED PRECEDING
select f(a) over (rows between current row and unbounded preceding)
----
-- 42P20 48 frame starting from current row cannot have preceding rows
select f(a) over (rows between current row and 1 preceding)
----
-- 42P20 48 frame starting from following row cannot have preceding rows
select f(a) over (rows between 1 following and current row)
----
-- 42601 21 syntax error at or near "a"
select f(a) filter (a)
----
-- 42601 27 syntax error at or near "a"
select f(a) within group (a)
----
-- 42601 22 cannot use DISTINCT with WITHIN GROUP
select f(distinct a) within group (order by b)
----
-- 42601 24 cannot use multiple ORDER BY clauses with WITHIN GROUP
select f(a order by b) within group (order by c)
----
-- 42601 22 cannot use VARIADIC with WITHIN GROUP
select f(variadic a) within group (order by b)
----
-- 42601 12 syntax error at end of input
select case
----
-- 42601 13 syntax error at or near "end"
select case end
----
-- 42601 20 syntax error at or near "end"
select case when a end
----
-- 42601 25 syntax error at or near "end"
select case when a then end
----
-- 42601 15 syntax error at or near "then"
select case a then b end
----
-- 42601 26 syntax error at end of input
select case when a then b
----
-- 42601 32 syntax error at or near "end"
select case when a then b else end
----
-- 42601 14 syntax error at or near ")"
select cast(a)
----
-- 42601 15 syntax error at or near "int"
select cast(a int)
----
-- 42601 17 syntax error at or near ")"
select cast(a as)
----
-- 42601 18 syntax error at or near "select"
select cast(a as select)
----
-- 42601 11 syntax error at end of input
select a::
----
-- 42601 11 syntax error at or near "1"
select a::1
----
-- 42601 16 syntax error at end of input
select a::int::
----
-- 42601 11 unterminated quoted identifier at or near ""x"
select a::"x
----
-- 42601 19 syntax error at end of input
select a between 1
----
-- 42601 23 syntax error at end of input
select a between 1 and
----
-- 42601 20 syntax error at or near "or"
select a between 1 or 2
----
-- 42601 20 syntax error at or near "collate"
select a between b collate "C" || c and d
----
-- 42601 14 syntax error at or near ")"
select a in ()
----
-- 42601 13 syntax error at or near "1"
select a in 1
----
-- 42601 16 syntax error at or near ")"
select a in (1,)
----
-- 42601 14 syntax error at or near "1"
select a not 1
----
-- 42601 16 syntax error at end of input
select a is not
----
-- 42601 13 syntax error at or near "1"
select a is 1
----
-- 42601 22 syntax error at or near "b"
select a is distinct b
----
-- 42601 26 syntax error at end of input
select a is distinct from
----
-- 42601 23 syntax error at end of input
select a like b escape
----
-- 42601 18 syntax error at or near "b"
select a similar b
----
-- 42601 11 syntax error at end of input
select not
----
-- 42601 13 syntax error at or near "or"
select a or or b
----
-- 42601 14 syntax error at or near "="
select a = b = c
----
-- 42601 14 syntax error at or near "<"
select a < b < c
----
-- 42601 15 syntax error at or near "!="
select a <> b != c
----
-- 42601 16 syntax error at or near "b"
select a = any b
----
-- 42601 15 syntax error at end of input
select a = any
----
-- 42601 17 syntax error at or near ")"
select a = any ()
----
-- 42601 19 syntax error at end of input
select a ilike any
----
-- 42601 26 syntax error at or near "between"
select a between 1 and 2 between 3 and 4
----
-- 42601 17 syntax error at or near "like"
select a like b like c
----
-- 42601 15 syntax error at or near "1"
select exists 1
----
-- 42601 16 syntax error at or near "1"
select exists (1)
----
-- 42601 14 syntax error at or near "."
select (a, b).c
----
-- 42601 24 syntax error at or near "c"
select (a, b) overlaps c
----
-- 42601 24 wrong number of parameters on right side of OVERLAPS expression
select (a, b) overlaps (c, d, e)
----
-- 42601 8 wrong number of parameters on left side of OVERLAPS expression
select (a, b, c) overlaps (d, e)
----
-- 42601 8 wrong number of parameters on left side of OVERLAPS expression
select row(1) overlaps row(2)
----
-- 42601 10 syntax error at or near "overlaps"
select a overlaps b
----
-- 42601 18 syntax error at or near "'C'"
select a collate 'C'
----
-- 42601 18 syntax error at or near "'x'"
select a at time 'x'
----
-- 42601 22 syntax error at end of input
select a at time zone
----
-- 42601 17 syntax error at or near "1"
select interval 1
----
-- 42601 28 syntax error at or near "year"
select interval '1' day to year
----
-- 42601 29 syntax error at or near "day"
select interval '1' year to day
----
-- 42601 24 syntax error at or near "year"
select interval(3) '1' year
----
-- 42601 32 syntax error at end of input
select timestamp with time zone
----
-- 42601 18 syntax error at or near "-"
select timestamp(-1) '1'
----
-- 42601 12 syntax error at or near "1"
select int 1
----
-- 42601 19 syntax error at or near "'1'"
select numeric(10 '1'
----
-- 22023 14 precision for type float must be at least 1 bit
select float(0) '1'
----
-- 22023 14 precision for type float must be less than 54 bits
select float(54) '1'
----
-- 22023 17 precision for type float must be at least 1 bit
select a::float(0)
----
-- 22023 17 precision for type float must be less than 54 bits
select a::float(60)
----
-- 42601 16 syntax error at or near "x"
select a::time(x)
----
-- 42601 17 syntax error at or near ")"
select extract(a)
----
-- 42601 21 syntax error at or near "a"
select extract(year a)
----
-- 42601 16 syntax error at or near "select"
select extract(select from a)
----
-- 42601 16 syntax error at or near "from"
select extract(from a)
----
-- 42601 18 syntax error at or near ","
select position(a, b)
----
-- 42601 24 syntax error at or near "in"
select position(a in b in c)
----
-- 42601 24 syntax error at or near ")"
select substring(a from)
----
-- 42601 27 syntax error at or near "from"
select substring(a from b from c)
----
-- 42601 27 syntax error at or near ")"
select overlay(a placing b)
----
-- 42601 17 syntax error at or near ")"
select trim(both)
----
-- 42601 17 syntax error at or near ")"
select trim(from)
----
-- 42601 18 syntax error at or near "from"
select trim(left from a)
----
-- 42601 16 syntax error at or near ")"
select nullif(a)
----
-- 42601 19 syntax error at or near ","
select nullif(a, b, c)
----
-- 42601 17 syntax error at or near ")"
select grouping()
----
-- 42601 17 syntax error at or near "*"
select grouping(*)
----
-- 42601 15 syntax error at or near ","
select treat(a, b)
----
-- 42601 21 syntax error at or near "b"
select normalize(a, b)
----
-- 42601 18 syntax error at or near "a"
select collation a
----
-- 42601 21 syntax error at or near "a"
select current_time(a)
----
-- 42601 9 syntax error at or near "."
select *.a
----
-- 42601 13 improper use of "*" at end of input
select a.*.b
----
-- 42601 10 syntax error at or near "as"
select * as x
----
-- 42601 9 syntax error at or near ".1"
select a.1
----
-- 42601 9 syntax error at or near ".."
select a..b
----
-- 42601 8 syntax error at or near "."
select .a
----
-- 42601 8 trailing junk after numeric literal at or near "1a"
select 1a
----
-- 42601 11 syntax error at or near ".5"
select 1.5.5
----
-- 42601 8 trailing junk after numeric literal at or near "1e"
select 1e
----
-- 42601 8 trailing junk after numeric literal at or near "0x"
select 0x
----
-- 42601 8 trailing junk after numeric literal at or near "0b12"
select 0b12
----
-- 42601 8 syntax error at or near "$"
select $
----
-- 42601 8 syntax error at or near "$"
select $a
----
-- 42601 8 trailing junk after parameter at or near "$1a"
select $1a
----
-- 42601 34 syntax error at end of input
select 99999999999999999999 limit
----
-- 42601 8 unterminated quoted string at or near "'a"
select 'a
----
-- 42601 12 syntax error at or near "'b'"
select 'a' 'b'
----
-- 42601 8 unterminated quoted string at or near "e'\'"
select e'\'
----
-- 22025 10 invalid Unicode escape
-- hint: Unicode escapes must be \uXXXX or \UXXXXXXXX.
select e'\u12'
----
-- 42601 16 invalid Unicode surrogate pair at or near "'"
select e'\uD800'
----
-- 42601 10 invalid Unicode escape value at or near "\U00110000"
select e'\U00110000'
----
-- 42601 10 invalid Unicode escape value at or near "\u0000"
select e'\u0000'
----
-- 42601 11 invalid Unicode escape
-- hint: Unicode escapes must be \XXXX or \+XXXXXX.
select u&'\zzzz'
----
-- 42601 16 invalid Unicode surrogate pair
select u&'\D800'
----
-- 42601 22 invalid Unicode escape character at or near "'ab'"
select u&'a' uescape 'ab'
----
-- 42601 22 invalid Unicode escape character at or near "'0'"
select u&'a' uescape '0'
----
-- 42601 21 UESCAPE must be followed by a simple string literal at end of input
select u&'a' uescape
----
-- 42601 8 unterminated bit string literal at or near "b'10"
select b'10
----
-- 42601 8 unterminated hexadecimal string literal at or near "x'"
select x'
----
-- 42601 8 unterminated dollar-quoted string at or near "$$a"
select $$a
----
-- 42601 8 unterminated dollar-quoted string at or near "$a$b$$"
select $a$b$$
----
-- 42601 8 unterminated quoted identifier at or near ""a"
select "a
----
-- 42601 8 zero-length delimited identifier at or near """"
select ""
----
-- 42601 8 zero-length delimited identifier at or near "u&"""
select u&""
----
-- 42601 8 unterminated /* comment at or near "/* a"
select /* a
----
-- 42601 8 unterminated /* comment at or near "/* /* */"
select /* /* */
----
-- 42601 3 syntax error at or near "from"
  from
----
-- 42601 9 syntax error at end of input
select #
----
-- 42601 9 syntax error at end of input
select @
----
-- 42601 11 syntax error at end of input
select a !
----
-- 42601 13 syntax error at end of input
select a @@ 
----
-- 42601 9 syntax error at end of input
select ~
----
-- 42601 9 syntax error at end of input
select !
----
-- 42601 12 syntax error at end of input
select a ? 
----
-- 42601 10 syntax error at or near "\"
select a \ b
----
-- 42601 8 syntax error at or near "{"
select {a}
----
-- 42601 11 syntax error at end of input
select `a`
----
-- 42601 12 syntax error at or near "b"
select a;; b
----
-- 42601 11 syntax error at or near "selec"
select 1; selec 2
----
-- 42601 15 syntax error at end of input
select 1 union
----
-- 42601 19 syntax error at end of input
select 1 union all
----
-- 42601 16 syntax error at or near "order"
select 1 union order by 1
----
-- 42601 21 syntax error at or near "union"
select 1 order by 1 union select 2
----
-- 42601 18 syntax error at or near "union"
select 1 limit 1 union select 2
----
-- 42601 36 syntax error at or near "union"
select 1 union select 2 order by 1 union select 3
----
-- 42601 10 syntax error at end of input
(select 1
----
-- 42601 32 multiple ORDER BY clauses not allowed
(select 1 order by 1) order by 2
----
-- 42601 26 multiple LIMIT clauses not allowed
(select 1 limit 1) limit 2
----
-- 42601 19 syntax error at end of input
select 1 intersect
----
-- 42601 20 syntax error at end of input
select 1 except all
----
-- 42601 1 syntax error at or near "union"
union select 1
----
-- 42601 7 syntax error at end of input
values
----
-- 42601 9 syntax error at or near ")"
values ()
----
-- 42601 8 syntax error at or near "1"
values 1
----
-- 42601 13 syntax error at end of input
values (1), 
----
-- 42601 12 syntax error at or near "2"
values (1) 2
----
-- 42601 6 syntax error at end of input
table
----
-- 42601 7 syntax error at or near "1"
table 1
----
-- 42601 7 syntax error at or near "("
table (t)
----
-- 42601 5 syntax error at end of input
with
----
-- 42601 7 syntax error at end of input
with a
----
-- 42601 10 syntax error at end of input
with a as
----
-- 42601 11 syntax error at or near "select"
with a as select 1 select 2
----
-- 42601 12 syntax error at or near ")"
with a as () select 1
----
-- 42601 21 syntax error at end of input
with a as (select 1)
----
-- 42601 23 syntax error at or near "select"
with a as (select 1), select 2
----
-- 42601 22 syntax error at or near "create"
with a as (select 1) create table t (a int)
----
-- 42601 15 syntax error at end of input
with recursive
----
-- 42601 12 syntax error at or near "create"
with a as (create table t ()) select 1
----
-- 42601 24 syntax error at or near "select"
with a as materialized select 1
----
-- 42601 35 syntax error at or near "by"
with a as (select 1) search depth by x set y select 1
----
-- 42601 41 syntax error at or near "using"
with a as (select 1) cycle x set m to 1 using p select 1
----
-- 42601 12 syntax error at end of input
select into
----
-- 42601 14 syntax error at end of input
select a into
----
-- 42601 17 syntax error at or near "u"
select a into t u
----
-- 42601 12 syntax error at or near "into"
(select 1) into t
----
-- 42601 7 syntax error at end of input
insert
----
-- 42601 12 syntax error at end of input
insert into
----
-- 42601 14 syntax error at end of input
insert into t
----
-- 42601 8 syntax error at or near "t"
insert t values (1)
----
-- 42601 21 syntax error at end of input
insert into t values
----
-- 42601 22 syntax error at or near "1"
insert into t values 1
----
-- 42601 23 syntax error at or near ")"
insert into t values ()
----
-- 42601 18 syntax error at end of input
insert into t (a)
----
-- 42601 16 syntax error at or near ")"
insert into t () values (1)
----
-- 42601 19 syntax error at or near ")"
insert into t (a, ) values (1)
----
-- 42601 18 syntax error at or near "b"
insert into t (a b) values (1)
----
-- 42601 19 syntax error at or near "default"
insert into t (a) default values
----
-- 42601 26 syntax error at or near "values"
insert into t overriding values (1)
----
-- 42601 39 syntax error at or near "default"
insert into t overriding system value default values
----
-- 42601 41 syntax error at or near "default"
insert into t (a) overriding user value default values
----
-- 42601 15 syntax error at or near "x"
insert into t x values (1)
----
-- 42601 37 syntax error at end of input
insert into t values (1) on conflict
----
-- 42601 40 syntax error at end of input
insert into t values (1) on conflict do
----
-- 42601 38 syntax error at or near "a"
insert into t values (1) on conflict a do nothing
----
-- 42601 63 syntax error at end of input
insert into t values (1) on conflict do update set a = 1 where
----
-- 42601 51 syntax error at end of input
insert into t values (1) on conflict (a) do update
----
-- 42601 52 syntax error at or near "do"
insert into t values (1) on conflict on constraint do nothing
----
-- 42601 35 syntax error at end of input
insert into t values (1) returning
----
-- 42601 40 syntax error at or near "c"
insert into t values (1) returning a b c
----
-- 42601 13 syntax error at or near "only"
insert into only t values (1)
----
-- 42601 7 syntax error at end of input
update
----
-- 42601 9 syntax error at end of input
update t
----
-- 42601 13 syntax error at end of input
update t set
----
-- 42601 15 syntax error at end of input
update t set a
----
-- 42601 17 syntax error at end of input
update t set a =
----
-- 42601 20 syntax error at end of input
update t set a = 1,
----
-- 42601 16 syntax error at or near "=="
update t set a == 1
----
-- 42601 15 syntax error at or near ")"
update t set () = (1)
----
-- 42601 25 syntax error at end of input
update t set a = 1 where
----
-- 42601 24 syntax error at end of input
update t set a = 1 from
----
-- 42601 12 syntax error at or near "y"
update t x y set a = 1
----
-- 42601 10 syntax error at or near "where"
update t where a set b = 1
----
-- 42601 34 syntax error at or near "c"
update t set a = 1 where current c
----
-- 42601 20 syntax error at or near "limit"
update t set a = 1 limit 1
----
-- 42601 7 syntax error at end of input
delete
----
-- 42601 8 syntax error at or near "t"
delete t
----
-- 42601 12 syntax error at end of input
delete from
----
-- 42601 20 syntax error at end of input
delete from t where
----
-- 42601 20 syntax error at end of input
delete from t using
----
-- 42601 17 syntax error at or near "b"
delete from t a b
----
-- 42601 15 syntax error at or near "order"
delete from t order by a
----
-- 42601 15 syntax error at or near "limit"
delete from t limit 1
----
-- 42601 8 syntax error at or near "*"
delete * from t
----
-- 42601 6 syntax error at end of input
merge
----
-- 42601 13 syntax error at end of input
merge into t
----
-- 42601 19 syntax error at end of input
merge into t using
----
-- 42601 21 syntax error at end of input
merge into t using u
----
-- 42601 24 syntax error at end of input
merge into t using u on
----
-- 42601 26 syntax error at end of input
merge into t using u on a
----
-- 42601 31 syntax error at end of input
merge into t using u on a when
----
-- 42601 39 syntax error at end of input
merge into t using u on a when matched
----
-- 42601 44 syntax error at end of input
merge into t using u on a when matched then
----
-- 42601 45 syntax error at or near "insert"
merge into t using u on a when matched then insert values (1)
----
-- 42601 49 syntax error at or near "update"
merge into t using u on a when not matched then update set a = 1
----
-- 42601 49 syntax error at or near "delete"
merge into t using u on a when not matched then delete
----
-- 42601 44 syntax error at or near "by"
merge into t using u on a when not matched by source then delete
----
-- 42601 51 syntax error at end of input
merge into t using u on a when matched then update
----
-- 42601 55 syntax error at end of input
merge into t using u on a when not matched then insert
----
-- 42601 60 syntax error at or near "select"
merge into t using u on a when not matched then insert (a) select 1
----
-- 42601 66 syntax error at or near ","
merge into t using u on a when not matched then insert values (1), (2)
----
-- 42601 52 syntax error at or near "returning"
merge into t using u on a when matched then delete returning *
----
-- 42601 7 syntax error at or near "t"
merge t using u on a when matched then delete
----
-- 42601 5 syntax error at end of input
copy
----
-- 42601 7 syntax error at end of input
copy t
----
-- 42601 12 syntax error at end of input
copy t from
----
-- 42601 13 syntax error at or near "file"
copy t from file
----
-- 42601 10 syntax error at end of input
copy t to
----
-- 42601 20 syntax error at end of input
copy t from stdin (
----
-- 42601 20 syntax error at or near ")"
copy t from stdin ()
----
-- 42601 11 syntax error at or near "from"
copy t (a from stdin
----
-- 42601 6 syntax error at or near "select"
copy select 1 to stdout
----
-- 42601 18 WHERE clause not allowed with COPY TO
copy t to stdout where a
----
-- 42601 34 syntax error at or near "x"
copy t from stdin with (format)  x
----
-- 42601 21 syntax error at or near "cat"
copy t from program cat
----
-- 42601 9 syntax error at end of input
truncate
----
-- 42601 15 syntax error at end of input
truncate table
----
-- 42601 19 syntax error at end of input
truncate t restart
----
-- 42601 20 syntax error at end of input
truncate t continue
----
-- 42601 7 syntax error at end of input
create
----
-- 42601 15 syntax error at end of input
create table t
----
-- 42601 17 syntax error at end of input
create table t (
----
-- 42601 19 syntax error at end of input
create table t (a)
----
-- 42601 22 syntax error at end of input
create table t (a int
----
-- 42601 23 syntax error at or near ")"
create table t (a int,)
----
-- 42601 23 syntax error at or near "b"
create table t (a int b text)
----
-- 42601 35 syntax error at or near ")"
create table t (a int, primary key)
----
-- 42601 30 syntax error at or near ")"
create table t (a int primary)
----
-- 42601 26 syntax error at or near ")"
create table t (a int not)
----
-- 42601 30 syntax error at or near ")"
create table t (a int default)
----
-- 42601 33 syntax error at or near "and"
create table t (a int default a and b)
----
-- 42601 28 syntax error at or near ")"
create table t (a int check)
----
-- 42601 29 syntax error at or near "a"
create table t (a int check a > 0)
----
-- 42601 33 syntax error at or near ")"
create table t (a int references)
----
-- 42601 52 syntax error at or near ")"
create table t (a int references u (a, b) on delete)
----
-- 0A000 36 MATCH PARTIAL not yet implemented
create table t (a int references u match partial)
----
-- 0A000 36 a column list with SET NULL is only supported for ON DELETE actions
create table t (a int references u on update set null (a))
----
-- 42601 29 syntax error at or near "a"
create table t (foreign key a references u)
----
-- 42601 32 syntax error at or near ")"
create table t (foreign key (a))
----
-- 0A000 53 a column list with SET DEFAULT is only supported for ON DELETE actions
create table t (a int, foreign key (a) references u on update set default (a))
----
-- 42601 27 syntax error at or near ")"
create table t (constraint)
----
-- 42601 29 syntax error at or near ")"
create table t (constraint x)
----
-- 42601 23 syntax error at or near ")"
create table t (unique)
----
-- 42601 25 syntax error at or near ")"
create table t (unique ())
----
-- 42601 29 syntax error at or near ")"
create table t (check (a) , )
----
-- 42601 27 syntax error at or near ")"
create table t (exclude (a))
----
-- 42601 43 syntax error at or near ")"
create table t (exclude using gist (a with))
----
-- 42601 21 syntax error at or near ")"
create table t (like)
----
-- 42601 33 syntax error at or near ")"
create table t (like u including)
----
-- 42601 34 syntax error at or near "x"
create table t (like u including x)
----
-- 42601 32 syntax error at or near ")"
create table t (a int generated)
----
-- 42601 39 syntax error at or near ")"
create table t (a int generated always)
----
-- 42601 42 syntax error at or near ")"
create table t (a int generated always as)
----
-- 42601 33 for a generated column, GENERATED ALWAYS must be specified
create table t (a int generated by default as (1) stored)
----
-- 42601 46 syntax error at or near ")"
create table t (a int generated always as (1))
----
-- 42601 53 syntax error at or near "x"
create table t (a int generated always as identity (x))
----
-- 42601 32 syntax error at end of input
create table t (a int) inherits
----
-- 42601 34 syntax error at or near ")"
create table t (a int) inherits ()
----
-- 42601 36 syntax error at end of input
create table t (a int) partition by
----
-- 42601 42 syntax error at end of input
create table t (a int) partition by range
----
-- 42601 30 syntax error at end of input
create table t partition of u
----
-- 42601 41 syntax error at end of input
create table t partition of u for values
----
-- 42601 44 syntax error at end of input
create table t partition of u for values in
----
-- 42601 46 syntax error at or near ")"
create table t partition of u for values in ()
----
-- 42601 50 syntax error at end of input
create table t partition of u for values from (1)
----
-- 42601 0 remainder for hash partition must be specified
create table t partition of u for values with (modulus 1)
----
-- 42601 48 unrecognized hash partition bound specification "x"
create table t partition of u for values with (x 1, remainder 2)
----
-- 42710 59 modulus for hash partition provided more than once
create table t partition of u for values with (modulus 1, modulus 2)
----
-- 42601 48 syntax error at or near ")"
create table t partition of u for values with ()
----
-- 42601 33 syntax error at end of input
create table t (a int) on commit
----
-- 42601 34 syntax error at or near "x"
create table t (a int) on commit x
----
-- 42601 28 syntax error at end of input
create table t (a int) with
----
-- 42601 30 syntax error at or near ")"
create table t (a int) with ()
----
-- 42601 29 syntax error at or near "oids"
create table t (a int) with oids
----
-- 42601 34 syntax error at end of input
create table t (a int) tablespace
----
-- 42601 17 syntax error at or near "exists"
create table if exists t (a int)
----
-- 42601 21 syntax error at or near "t"
create table if not t (a int)
----
-- 42601 24 syntax error at or near "as"
create table t (a int) as select 1
----
-- 42601 18 syntax error at end of input
create table t as
----
-- 42601 19 syntax error at or near "insert"
create table t as insert into u values (1)
----
-- 42601 32 syntax error at end of input
create table t as select 1 with
----
-- 42601 35 syntax error at end of input
create table t as select 1 with no
----
-- 42601 19 syntax error at or near "table"
create or replace table t (a int)
----
-- 42601 13 syntax error at or near "unlogged"
create temp unlogged table t (a int)
----
-- 42601 14 syntax error at or near "select"
create table select (a int)
----
-- 42601 17 syntax error at or near "select"
create table t (select int)
----
-- 42601 14 improper qualified name (too many dotted names): a.b.c.d
create table a.b.c.d (a int)
----
-- 42601 48 syntax error at or near "no"
create table t (a int check (a > 0) no inherit no inherit)
----
-- 0A000 0 CHECK constraints cannot be marked DEFERRABLE
create table t (check (a) deferrable)
----
-- 0A000 0 CHECK constraints cannot be marked DEFERRABLE
create table t (check (a) initially deferred)
----
-- 0A000 0 UNIQUE constraints cannot be marked NO INHERIT
create table t (unique (a) no inherit)
----
-- 0A000 0 UNIQUE constraints cannot be marked NOT VALID
create table t (unique (a) not valid)
----
-- 42601 43 constraint declared INITIALLY DEFERRED must be DEFERRABLE
create table t (unique (a) not deferrable initially deferred)
----
-- 0A000 0 FOREIGN KEY constraints cannot be marked NO INHERIT
create table t (foreign key (a) references u no inherit)
----
-- 42601 12 syntax error at end of input
create view
----
-- 42601 14 syntax error at end of input
create view v
----
-- 42601 17 syntax error at end of input
create view v as
----
-- 42601 18 syntax error at or near "insert"
create view v as insert into t values (1)
----
-- 42601 31 syntax error at end of input
create view v as select 1 with
----
-- 42601 37 syntax error at end of input
create view v as select 1 with check
----
-- 42601 16 syntax error at or near ")"
create view v () as select 1
----
-- 42601 25 syntax error at or near "as"
create recursive view v as select 1
----
-- 0A000 41 WITH CHECK OPTION not supported on recursive views
create recursive view v (a) as select 1 with check option
----
-- 42601 27 syntax error at end of input
create materialized view v
----
-- 42601 19 syntax error at or near "materialized"
create or replace materialized view v as select 1
----
-- 42601 13 syntax error at or near "materialized"
create temp materialized view v as select 1
----
-- 42601 13 syntax error at end of input
create index
----
-- 42601 16 syntax error at end of input
create index on
----
-- 42601 18 syntax error at end of input
create index on t
----
-- 42601 20 syntax error at or near ")"
create index on t ()
----
-- 42601 21 syntax error at end of input
create index on t (a
----
-- 42601 19 syntax error at or near "a"
create index on t a
----
-- 42601 22 syntax error at or near "+"
create index on t (a + 1)
----
-- 42601 28 syntax error at end of input
create index on t (a) where
----
-- 42601 30 syntax error at end of input
create index on t (a) include
----
-- 42601 28 syntax error at or near "on"
create index if not exists on t (a)
----
-- 42601 16 syntax error at or near "y"
create index x y on t (a)
----
-- 42601 15 syntax error at or near "on"
create unique on t (a)
----
-- 42601 25 syntax error at or near "("
create index on t using (a)
----
-- 42601 16 syntax error at end of input
create sequence
----
-- 42601 28 syntax error at end of input
create sequence s increment
----
-- 42601 25 syntax error at or near "x"
create sequence s start x
----
-- 42601 21 syntax error at end of input
create sequence s no
----
-- 42601 25 syntax error at or near "t"
create sequence s owned t
----
-- 42601 20 syntax error at or near "exists"
create sequence if exists s
----
-- 42601 14 syntax error at end of input
create schema
----
-- 0A000 31 CREATE SCHEMA IF NOT EXISTS cannot include schema elements
create schema if not exists s create table t ()
----
-- 42601 17 syntax error at or near "drop"
create schema s drop table t
----
-- 42601 24 syntax error at or near "from"
create statistics x on from t
----
-- 42601 19 syntax error at or near "on"
create statistics on a from t
----
-- 42601 25 syntax error at end of input
create statistics x on a
----
-- 42601 12 syntax error at end of input
create type
----
-- 42601 17 syntax error at end of input
create type t as
----
-- 42601 22 syntax error at end of input
create type t as enum
----
-- 42601 24 syntax error at or near "a"
create type t as enum (a)
----
-- 42601 28 syntax error at or near ")"
create type t as enum ('a',)
----
-- 42601 20 syntax error at or near ")"
create type t as (a)
----
-- 42601 25 syntax error at or near "not"
create type t as (a int not null)
----
-- 42601 23 syntax error at end of input
create type t as range
----
-- 42601 16 syntax error at or near ")"
create type t ()
----
-- 42601 16 syntax error at end of input
create domain d
----
-- 42601 19 syntax error at end of input
create domain d as
----
-- 42601 28 syntax error at end of input
create domain d int default
----
-- 42601 26 syntax error at end of input
create domain d int check
----
-- 42601 16 syntax error at end of input
create function
----
-- 42601 18 syntax error at end of input
create function f
----
-- 42601 28 syntax error at end of input
create function f() returns
----
-- 42601 32 syntax error at or near "as"
create function f( returns int as 'x'
----
-- 42601 35 syntax error at end of input
create function f(a) returns table
----
-- 42601 25 syntax error at or near ")"
create function f(a int,) returns int as 'x'
----
-- 42601 35 syntax error at end of input
create function f() returns int as
----
-- 42601 36 syntax error at or near "x"
create function f() returns int as x
----
-- 42601 41 syntax error at end of input
create function f() returns int language
----
-- 42601 32 syntax error at or near ")"
create function f(a int default) returns int as 'x'
----
-- 42601 36 syntax error at or near ")"
create function f() returns table () as 'x'
----
-- 42601 39 syntax error at or near "select"
create function f() returns int begin select 1; end
----
-- 42601 43 syntax error at or near "immutable_"
create function f() returns int immutable immutable_
----
-- 42601 39 syntax error at end of input
create function f() returns int return
----
-- 42601 19 syntax error at end of input
create procedure p
----
-- 42601 30 syntax error at or near "int"
create procedure p() returns int as 'x'
----
-- 42601 19 syntax error at end of input
create aggregate a
----
-- 42601 25 syntax error at end of input
create aggregate a (int)
----
-- 42601 21 syntax error at or near ")"
create aggregate a ()
----
-- 42601 16 syntax error at end of input
create operator
----
-- 42601 19 syntax error at end of input
create operator + 
----
-- 42601 19 syntax error at or near "("
create operator x (function = f)
----
-- 42601 26 syntax error at end of input
create cast (int as text)
----
-- 42601 17 syntax error at or near ")"
create cast (int) with function f
----
-- 42601 13 syntax error at or near "int"
create cast int as text without function
----
-- 42601 15 syntax error at end of input
create trigger
----
-- 42601 17 syntax error at end of input
create trigger x
----
-- 42601 25 syntax error at or near "on"
create trigger x before on t execute function f()
----
-- 42601 32 syntax error at or near "t"
create trigger x before insert t execute function f()
----
-- 42601 36 syntax error at end of input
create trigger x before insert on t
----
-- 42601 45 syntax error at or near "f"
create trigger x before insert on t execute f()
----
-- 42601 55 syntax error at end of input
create trigger x before insert on t execute function f
----
-- 42601 46 syntax error at or near "execute"
create trigger x before insert on t for each execute function f()
----
-- 42601 42 syntax error at or near "a"
create trigger x before insert on t when a execute function f()
----
-- 42601 35 duplicate trigger events specified at or near "insert"
create trigger x before insert or insert on t execute function f()
----
-- 42601 31 syntax error at or near ","
create trigger x before insert, update on t execute function f()
----
-- 42601 25 syntax error at or near "select"
create trigger x before select on t execute function f()
----
-- 42601 29 syntax error at or near "before"
create constraint trigger x before insert on t for each row execute function f()
----
-- 42601 47 syntax error at or near "execute"
create constraint trigger x after insert on t execute function f()
----
-- 42601 36 syntax error at or near "deferrable"
create trigger x after insert on t deferrable execute function f()
----
-- 0A000 0 TRIGGER constraints cannot be marked NOT VALID
create constraint trigger x after insert on t not valid for each row execute function f()
----
-- 42601 62 constraint declared INITIALLY DEFERRED must be DEFERRABLE
create constraint trigger x after insert on t not deferrable initially deferred for each row execute function f()
----
-- 42601 23 syntax error at end of input
create event trigger x
----
-- 42601 42 syntax error at or near "function"
create event trigger x on y when execute function f()
----
-- 42601 16 syntax error at end of input
create policy p
----
-- 42601 26 syntax error at or near "x"
create policy p on t for x
----
-- 42601 25 unrecognized row security option "x"
-- hint: Only PERMISSIVE or RESTRICTIVE policies are supported currently.
create policy p on t as x
----
-- 42601 28 syntax error at or near "a"
create policy p on t using a
----
-- 42601 14 syntax error at end of input
create rule r
----
-- 42601 32 syntax error at end of input
create rule r as on insert to t
----
-- 42601 18 syntax error at or near "insert"
create rule r as insert to t do nothing
----
-- 42601 35 syntax error at end of input
create rule r as on insert to t do
----
-- 42601 21 syntax error at or near "x"
create rule r as on x to t do nothing
----
-- 42601 17 syntax error at end of input
create extension
----
-- 42601 27 syntax error at end of input
create extension x version
----
-- 0A000 20 CREATE EXTENSION ... FROM is no longer supported
create extension x from '1'
----
-- 42601 19 syntax error at end of input
create publication
----
-- 42601 25 syntax error at end of input
create publication p for
----
-- 42601 31 syntax error at end of input
create publication p for table
----
-- 42601 26 invalid publication object list
-- detail: One of TABLE or TABLES IN SCHEMA must be specified before a standalone table or schema name.
create publication p for tables
----
-- 42601 26 invalid publication object list
-- detail: One of TABLE or TABLES IN SCHEMA must be specified before a standalone table or schema name.
create publication p for t
----
-- 42601 29 syntax error at end of input
create publication p for all
----
-- 42601 36 syntax error at or near ","
create publication p for all tables, table t
----
-- 42601 45 syntax error at or near "("
create publication p for tables in schema a (b)
----
-- 42601 54 syntax error at or near "where"
create publication p for table t, tables in schema x where (a)
----
-- 42601 22 syntax error at end of input
create subscription s
----
-- 42601 37 syntax error at end of input
create subscription s connection 'x'
----
-- 42601 34 syntax error at or near "x"
create subscription s connection x publication p
----
-- 42601 12 syntax error at end of input
create role
----
-- 42601 23 syntax error at end of input
create role r password
----
-- 42601 24 syntax error at or near "x"
create role r password x
----
-- 42601 25 syntax error at end of input
create role r connection
----
-- 42601 15 unrecognized role option "x"
create role r x
----
-- 42939 13 role name "public" is reserved
create role public
----
-- 42601 12 syntax error at end of input
create user
----
-- 42601 16 syntax error at end of input
create database
----
-- 42601 24 syntax error at end of input
create database d owner
----
-- 42601 25 syntax error at end of input
create database d with x
----
-- 0A000 0 CREATE ASSERTION is not yet implemented
create assertion a check (true)
----
-- 42601 15 syntax error at or near "table"
create unique table t ()
----
-- 42601 8 syntax error at or near "foo"
create foo
----
-- 42601 6 syntax error at end of input
alter
----
-- 42601 12 syntax error at end of input
alter table
----
-- 42601 14 syntax error at end of input
alter table t
----
-- 42601 18 syntax error at end of input
alter table t add
----
-- 42601 25 syntax error at end of input
alter table t add column
----
-- 42601 20 syntax error at end of input
alter table t add a
----
-- 42601 39 syntax error at end of input
alter table t add column if not exists
----
-- 42601 19 syntax error at end of input
alter table t drop
----
-- 42601 29 syntax error at end of input
alter table t drop if exists
----
-- 42601 22 syntax error at or near "b"
alter table t drop a b
----
-- 42601 20 syntax error at end of input
alter table t alter
----
-- 42601 22 syntax error at end of input
alter table t alter a
----
-- 42601 26 syntax error at end of input
alter table t alter a set
----
-- 42601 27 syntax error at end of input
alter table t alter a type
----
-- 42601 23 syntax error at or near "int"
alter table t alter a int
----
-- 42601 34 syntax error at end of input
alter table t alter a set default
----
-- 42601 30 syntax error at end of input
alter table t alter a set not
----
-- 42601 27 syntax error at end of input
alter table t alter a drop
----
-- 42601 38 syntax error at or near "x"
alter table t alter a set statistics x
----
-- 42601 34 syntax error at end of input
alter table t alter a set storage
----
-- 42601 15 syntax error at or near "modify"
alter table t modify a int
----
-- 42601 21 syntax error at end of input
alter table t rename
----
-- 42601 24 syntax error at end of input
alter table t rename to
----
-- 42601 23 syntax error at end of input
alter table t rename a
----
-- 42601 24 syntax error at or near "b"
alter table t rename a b
----
-- 42601 29 syntax error at or near "to"
alter table t rename column to b
----
-- 42601 26 syntax error at or near ","
alter table t rename to u, rename to v
----
-- 42601 24 syntax error at end of input
alter table t add check
----
-- 42601 29 syntax error at end of input
alter table t add constraint
----
-- 42601 30 syntax error at end of input
alter table t drop constraint
----
-- 42601 21 syntax error at end of input
alter table t enable
----
-- 42601 29 syntax error at end of input
alter table t enable trigger
----
-- 42601 32 syntax error at end of input
alter table t disable row level
----
-- 42601 20 syntax error at end of input
alter table t owner
----
-- 42601 21 syntax error at or near "x"
alter table t owner x
----
-- 42601 18 syntax error at end of input
alter table t set
----
-- 42601 25 syntax error at end of input
alter table t set schema
----
-- 42601 31 syntax error at end of input
alter table t attach partition
----
-- 42601 33 syntax error at end of input
alter table t attach partition u
----
-- 42601 34 syntax error at or near "x"
alter table t detach partition u x
----
-- 42601 25 syntax error at or near "drop"
alter table t add a int drop b
----
-- 0A000 0 FOREIGN KEY constraints cannot be marked NOT VALID
alter table t alter constraint c not valid
----
-- 0A000 0 FOREIGN KEY constraints cannot be marked NO INHERIT
alter table t alter constraint c no inherit
----
-- 42601 14 syntax error at end of input
alter index i
----
-- 42601 28 syntax error at or near "99999999999"
alter index i alter column 99999999999 set statistics 1
----
-- 42601 13 syntax error at end of input
alter view v
----
-- 42601 17 syntax error at end of input
alter sequence s
----
-- 42601 13 syntax error at end of input
alter type t
----
-- 42601 17 syntax error at end of input
alter type t add
----
-- 42601 23 syntax error at end of input
alter type t add value
----
-- 42601 24 syntax error at or near "a"
alter type t add value a
----
-- 42601 34 syntax error at end of input
alter type t add value 'a' before
----
-- 42601 30 syntax error at end of input
alter type t rename value 'a'
----
-- 42601 32 syntax error at end of input
alter type t rename attribute a
----
-- 42601 15 syntax error at end of input
alter domain d
----
-- 42601 19 syntax error at end of input
alter domain d add
----
-- 42601 19 syntax error at end of input
alter domain d set
----
-- 42601 27 syntax error at end of input
alter domain d set default
----
-- 42601 35 syntax error at end of input
alter domain d rename constraint a
----
-- 42601 17 syntax error at end of input
alter function f
----
-- 42601 19 syntax error at end of input
alter function f()
----
-- 42601 26 syntax error at end of input
alter function f() rename
----
-- 42601 24 syntax error at or near "default"
alter function f(a int default 1) immutable
----
-- 42601 19 syntax error at or near "rename"
alter aggregate a rename to b
----
-- 42601 18 syntax error at or near "rename"
alter operator + rename to -
----
-- 42601 22 missing argument
-- hint: Use NONE to denote the missing argument of a unary operator.
alter operator + (int) owner to x
----
-- 42601 17 syntax error at end of input
alter role r set
----
-- 42601 20 syntax error at end of input
alter role r rename
----
-- 42601 24 syntax error at end of input
alter database d rename
----
-- 42601 13 syntax error at end of input
alter system
----
-- 42601 17 syntax error at end of input
alter system set
----
-- 42601 23 syntax error at or near "zone"
alter system set time zone 'x' 
----
-- 42601 25 syntax error at end of input
alter default privileges
----
-- 42601 42 syntax error at or near "t"
alter default privileges grant select on t to a
----
-- 42601 15 syntax error at end of input
alter schema s
----
-- 42601 16 syntax error at or near "set"
alter schema s set schema x
----
-- 42601 18 syntax error at end of input
alter extension e
----
-- 42601 28 syntax error at end of input
alter extension e update to
----
-- 42601 18 syntax error at end of input
alter collation c
----
-- 42601 19 syntax error at end of input
alter statistics s
----
-- 42601 21 syntax error at end of input
alter trigger t on u
----
-- 42601 15 syntax error at end of input
alter policy p
----
-- 42601 18 syntax error at end of input
alter rule r on t
----
-- 42601 17 syntax error at end of input
alter language l
----
-- 42601 20 syntax error at or near "x"
alter large object x owner to y
----
-- 42601 22 syntax error at end of input
alter event trigger x
----
-- 42601 20 syntax error at end of input
alter publication p
----
-- 42601 24 syntax error at end of input
alter publication p add
----
-- 42601 21 syntax error at end of input
alter subscription s
----
-- 42601 7 syntax error at or near "foo"
alter foo
----
-- 42601 5 syntax error at end of input
drop
----
-- 42601 21 syntax error at end of input
drop table if exists
----
-- 42601 15 syntax error at or near "t"
drop table if t
----
-- 42601 14 syntax error at or near "u"
drop table t u
----
-- 42601 14 syntax error at end of input
drop table t,
----
-- 42601 22 syntax error at or near "restrict"
drop table t cascade restrict
----
-- 42601 12 syntax error at or near "on"
drop index on t
----
-- 42601 14 syntax error at end of input
drop function
----
-- 42601 17 syntax error at end of input
drop function f(
----
-- 42601 23 syntax error at or near "default"
drop function f(a int default 1)
----
-- 42601 17 syntax error at end of input
drop aggregate a
----
-- 42601 18 syntax error at or near ")"
drop aggregate a()
----
-- 42601 14 syntax error at end of input
drop operator
----
-- 42601 16 syntax error at end of input
drop operator +
----
-- 42601 21 missing argument
-- hint: Use NONE to denote the missing argument of a unary operator.
drop operator + (int)
----
-- 42601 18 syntax error at or near ")"
drop operator + ()
----
-- 42601 15 syntax error at or near ")"
drop cast (int)
----
-- 42601 15 syntax error at end of input
drop trigger t
----
-- 42601 12 syntax error at end of input
drop rule r
----
-- 42601 14 syntax error at end of input
drop policy p
----
-- 42601 12 syntax error at end of input
drop schema
----
-- 42601 14 syntax error at end of input
drop database
----
-- 42601 16 syntax error at or near ","
drop database a, b
----
-- 42601 17 syntax error at or near "cascade"
drop database d cascade
----
-- 42601 10 syntax error at end of input
drop role
----
-- 42601 13 syntax error at or near "cascade"
drop role a cascade
----
-- 42601 11 syntax error at end of input
drop owned
----
-- 42601 12 syntax error at or near "a"
drop owned a
----
-- 42939 11 role name "none" is reserved
drop user none
----
-- 42601 6 syntax error at or near "foo"
drop foo
----
-- 42601 13 syntax error at or near "w"
drop view v w
----
-- 42601 13 syntax error at or near "as"
drop type t as
----
-- 42601 20 syntax error at end of input
reassign owned by a
----
-- 42601 8 syntax error at end of input
comment
----
-- 42601 11 syntax error at end of input
comment on
----
-- 42601 12 syntax error at or near "t"
comment on t is 'x'
----
-- 42601 19 syntax error at end of input
comment on table t
----
-- 42601 22 syntax error at end of input
comment on table t is
----
-- 42601 23 syntax error at or near "x"
comment on table t is x
----
-- 42601 22 syntax error at or near "is"
comment on trigger t is 'x'
----
-- 42601 25 syntax error at or near "is"
comment on constraint c is 'x'
----
-- 42601 23 syntax error at or near "is"
comment on operator + is 'x'
----
-- 42601 24 syntax error at or near "'x'"
comment on function is 'x'
----
-- 42601 6 syntax error at end of input
grant
----
-- 42601 13 syntax error at end of input
grant select
----
-- 42601 16 syntax error at end of input
grant select on
----
-- 42601 18 syntax error at end of input
grant select on t
----
-- 42601 21 syntax error at end of input
grant select on t to
----
-- 42601 17 syntax error at or near "to"
grant select on to a
----
-- 42601 15 syntax error at or near "on"
grant select, on t to a
----
-- 42601 9 syntax error at or near "b"
grant a b to c
----
-- 42601 14 syntax error at or near "from"
grant select from t to a
----
-- 42601 25 syntax error at or near "to"
grant all on all tables to a
----
-- 42601 29 syntax error at or near "admin"
grant select on t to a with admin option
----
-- 42601 19 syntax error at or near "grant"
grant a to b with grant option
----
-- 42601 30 syntax error at end of input
grant select on function f to
----
-- 42601 7 syntax error at end of input
revoke
----
-- 42601 19 syntax error at end of input
revoke select on t
----
-- 42601 20 syntax error at or near "to"
revoke select on t to a
----
-- 42601 21 syntax error at or near "on"
revoke grant option on t from a
----
-- 42601 9 syntax error at end of input
revoke a
----
-- 42601 7 syntax error at or near "foo"
begin foo
----
-- 42601 22 syntax error at end of input
begin isolation level
----
-- 42601 23 syntax error at or near "x"
begin isolation level x
----
-- 42601 11 syntax error at end of input
begin read
----
-- 42601 6 syntax error at end of input
start
----
-- 42601 48 syntax error at or near "serializable"
start transaction isolation level serializable serializable
----
-- 42601 8 syntax error at or near "foo"
commit foo
----
-- 42601 11 syntax error at end of input
commit and
----
-- 42601 18 syntax error at or near "and"
commit and chain and chain
----
-- 42601 12 syntax error at end of input
rollback to
----
-- 42601 10 syntax error at end of input
savepoint
----
-- 42601 11 syntax error at or near "1"
savepoint 1
----
-- 42601 8 syntax error at end of input
release
----
-- 42601 20 syntax error at end of input
prepare transaction
----
-- 42601 21 syntax error at or near "x"
prepare transaction x
----
-- 42601 16 syntax error at end of input
commit prepared
----
-- 42601 4 syntax error at end of input
set
----
-- 42601 6 syntax error at end of input
set a
----
-- 42601 8 syntax error at end of input
set a =
----
-- 42601 9 syntax error at end of input
set a to
----
-- 42601 11 syntax error at or near "2"
set a = 1 2
----
-- 42601 9 syntax error at or near "("
set a = (1)
----
-- 42601 7 syntax error at or near "1"
set a 1
----
-- 42601 14 syntax error at end of input
set time zone
----
-- 42601 28 time zone interval must be HOUR or HOUR TO MINUTE
set time zone interval '1' day
----
-- 42601 28 time zone interval must be HOUR or HOUR TO MINUTE
set time zone interval '1' second(3)
----
-- 42601 31 syntax error at or near "hour"
set time zone interval(3) '1' hour
----
-- 42601 16 syntax error at end of input
set transaction
----
-- 42601 32 syntax error at end of input
set transaction isolation level
----
-- 42601 28 syntax error at end of input
set session characteristics
----
-- 42601 43 syntax error at end of input
set session characteristics as transaction
----
-- 42601 16 syntax error at end of input
set constraints
----
-- 42601 20 syntax error at end of input
set constraints all
----
-- 42601 18 syntax error at end of input
set constraints a
----
-- 42601 9 syntax error at end of input
set role
----
-- 42601 11 syntax error at or near "1"
set names 1
----
-- 42601 10 syntax error at end of input
set local
----
-- 0A000 13 current database cannot be changed
set catalog 'x'
----
-- 42601 12 syntax error at or near "a"
set schema a
----
-- 42601 26 syntax error at end of input
set session authorization
----
-- 42601 11 syntax error at end of input
set a from
----
-- 42601 15 syntax error at end of input
set xml option
----
-- 42601 6 syntax error at end of input
reset
----
-- 42601 9 syntax error at or near "b"
reset a b
----
-- 42601 5 syntax error at end of input
show
----
-- 42601 8 syntax error at or near "b"
show a b
----
-- 42601 10 syntax error at or near "a"
show all a
----
-- 42601 8 syntax error at end of input
prepare
----
-- 42601 10 syntax error at end of input
prepare p
----
-- 42601 13 syntax error at end of input
prepare p as
----
-- 42601 14 syntax error at or near "create"
prepare p as create table t ()
----
-- 42601 12 syntax error at or near ")"
prepare p () as select 1
----
-- 42601 8 syntax error at end of input
execute
----
-- 42601 11 syntax error at end of input
execute p(
----
-- 42601 11 syntax error at or near ")"
execute p()
----
-- 42601 11 syntax error at end of input
deallocate
----
-- 42601 24 syntax error at or near "x"
deallocate prepare all x
----
-- 42601 8 syntax error at end of input
declare
----
-- 42601 10 syntax error at end of input
declare c
----
-- 42601 17 syntax error at end of input
declare c cursor
----
-- 42601 21 syntax error at end of input
declare c cursor for
----
-- 42601 22 syntax error at or near "insert"
declare c cursor for insert into t values (1)
----
-- 42601 23 syntax error at or near "for"
declare c cursor with for select 1
----
-- 42601 11 syntax error at or near "for"
declare c for select 1
----
-- 42601 6 syntax error at end of input
fetch
----
-- 42601 9 syntax error at or near "6"
fetch 5 6 from c
----
-- 42601 16 syntax error at or near "from"
fetch absolute from c
----
-- 42601 9 syntax error at or near "y"
fetch x y
----
-- 42601 17 syntax error at end of input
fetch first from
----
-- 42601 5 syntax error at end of input
move
----
-- 42601 6 syntax error at end of input
close
----
-- 42601 9 syntax error at or near "b"
close a b
----
-- 42601 7 syntax error at end of input
listen
----
-- 42601 9 syntax error at or near "."
listen a.b
----
-- 42601 9 syntax error at end of input
unlisten
----
-- 42601 7 syntax error at end of input
notify
----
-- 42601 10 syntax error at or near "'x'"
notify a 'x'
----
-- 42601 11 syntax error at or near "x"
notify a, x
----
-- 42601 5 syntax error at end of input
lock
----
-- 42601 11 syntax error at or near "mode"
lock t in mode
----
-- 42601 16 syntax error at end of input
lock t in share
----
-- 42601 11 syntax error at or near "x"
lock t in x mode
----
-- 42601 15 syntax error at or near "nowait"
lock t nowait nowait
----
-- 42601 8 syntax error at end of input
discard
----
-- 42601 9 syntax error at or near "x"
discard x
----
-- 42601 8 syntax error at end of input
explain
----
-- 42601 9 syntax error at or near "foo"
explain foo
----
-- 42601 18 syntax error at or near "select"
explain (analyze select 1
----
-- 42601 10 syntax error at or near ")"
explain () select 1
----
-- 42601 16 syntax error at end of input
explain analyze
----
-- 42601 17 syntax error at or near "analyze"
explain verbose analyze select 1
----
-- 42601 16 syntax error at or near "view"
explain create view v as select 1
----
-- 42601 9 syntax error at or near "vacuum"
explain vacuum
----
-- 42601 9 syntax error at end of input
vacuum (
----
-- 42601 9 syntax error at or near ")"
vacuum ()
----
-- 42601 15 syntax error at or near "verbose"
vacuum (full) verbose t
----
-- 42601 11 syntax error at end of input
vacuum t (
----
-- 42601 15 syntax error at or near "full"
vacuum freeze full t
----
-- 42601 16 syntax error at or near "full"
vacuum verbose full
----
-- 42601 12 syntax error at end of input
analyze t (
----
-- 42601 11 syntax error at end of input
analyze (x
----
-- 42601 13 syntax error at end of input
cluster x on
----
-- 42601 16 syntax error at end of input
cluster t using
----
-- 42601 8 syntax error at end of input
reindex
----
-- 42601 9 syntax error at or near "t"
reindex t
----
-- 42601 14 syntax error at end of input
reindex table
----
-- 42601 14 syntax error at end of input
reindex index
----
-- 42601 27 syntax error at end of input
reindex table concurrently
----
-- 42601 18 syntax error at or near "table"
reindex (verbose table t
----
-- 42601 5 syntax error at end of input
load
----
-- 42601 6 syntax error at or near "x"
load x
----
-- 42601 12 syntax error at or near "x"
checkpoint x
----
-- 42601 5 syntax error at end of input
call
----
-- 42601 7 syntax error at end of input
call p
----
-- 42601 10 syntax error at or near "over"
call p() over ()
----
-- 42601 3 syntax error at end of input
do
----
-- 42601 4 syntax error at or near "x"
do x
----
-- 42601 8 syntax error at end of input
refresh
----
-- 42601 21 syntax error at end of input
refresh materialized
----
-- 42601 9 syntax error at or near "view"
refresh view v
----
-- 42601 26 syntax error at end of input
refresh materialized view
----
-- 42601 17 syntax error at or near "foo"
end transaction foo
----
-- 42601 7 syntax error at or near "foo"
abort foo
----
-- 42601 37 syntax error at end of input
select a from t where a in (select 1
----
-- 42601 1 syntax error at or near "foo"
foo
----
-- 42601 1 syntax error at or near "123"
123
----
-- 42601 1 syntax error at or near "'abc'"
'abc'
----
-- 42601 2 syntax error at end of input
(
----
-- 42601 1 syntax error at or near ")"
)
----
-- 42601 3 syntax error at or near "x"
;;x
----
-- 42601 1 syntax error at or near "a"
a = 1
----
-- 42601 42 syntax error at or near "."
select table_name information_schema from.view_table_usage where view_schema = 'app'
----
-- 42601 31 syntax error at or near "where"
select * from current_date as where d d is null
----
-- 42601 117 syntax error at end of input
insert into big values (1, 'abcde', 'x', 1.005), (2, '', 'abc', 9999.994), ( (9223372036854775807, null, null, null)
----
-- 42601 10 syntax error at or near "extension"
comment  extension e is 'x'
----
-- 42601 63 syntax error at or near "where"
select * from wn_ia where id in (select wn_ic.id from wn_ib,  where wn_ib.id > wn_ia.v)
----
-- 42601 37 syntax error at or near "("
delete from t1 returning count count(*)
----
-- 42601 46 syntax error at or near "."
select o.id, p.pid from fo o join fp p on o. .b = p.b order by 1, 2
----
-- 42601 24 syntax error at or near "1"
explain select verbose 1
----
-- 42601 2 syntax error at or near "view"
 view t
----
-- 42601 8 syntax error at or near "select"
select select name, name, 'p' from a union all select name, coalesce(name, 'n'), name from c order by 1, 2, 3
----
-- 42601 10 syntax error at end of input
reset ab.
----
-- 42601 15 syntax error at or near "["
select array[][]
----
-- 42601 39 syntax error at or near "::"
select '{"reading": 1.230e-5}'::json, ::jsonb
----
-- 42601 8 syntax error at or near "select"
select select last_value from pairs
----
-- 42601 59 syntax error at or near "COLLATE"
CREATE INDEX ON indexed (b text_pattern_ops, b text_ops,  COLLATE "default")
----
-- 42601 25 syntax error at or near "1"
insert into t (select 1 1)
----
-- 42601 8 syntax error at or near "create"
create create sequence sq
----
-- 42601 45 syntax error at or near "*"
with a as (with b as (select 1) select from * b) select * from a
----
-- 42601 75 syntax error at or near "in"
select column_name, column_default from information_schema.columns where  in ('q', 'r') order by table_name, 1
----
-- 42601 24 syntax error at or near "c"
drop operator class if c exists using btree
----
-- 42601 33 syntax error at or near "="
set default_statistics_target = = 10
----
-- 42601 49 syntax error at or near ")"
select h.b from held * as h join held* k using () order by 1
----
-- 42601 24 syntax error at or near "definer"
alter procedure p(int) definer security
----
-- 42601 1 syntax error at or near "c"
c select || '|' from l join r using (c) order by 1
----
-- 42601 66 syntax error at or near "b"
create table t (a int check (a > 0), b int constraint x check (b b > 0) no inherit, c int unique, d int primary key, e int unique nulls not distinct, f int unique nulls distinct, g int unique with (fillfactor = 70) using index tablespace s)
----
-- 42601 71 syntax error at or near "t"
merge into t using s on t.a = s.k when not matched then insert values t.a)
----
-- 42601 50 syntax error at or near "1"
insert into t (a) overriding system value values 1()
----
-- 42601 27 syntax error at or near "::"
select '192.168.0.0/24':: ::cidr
----
-- 42601 111 syntax error at or near "where"
select * from ( (select id, row_number() over (partition by dep order by pay desc nulls last) as rn from w) s where rn = 1 order by id
----
-- 42601 27 syntax error at or near "a"
prepare p as update set t a = $1
----
-- 42601 32 syntax error at or near "'z'"
insert into v values ('x', 'y' 'z', 'w  ') returning *, d || '|'
----
-- 42601 8 syntax error at or near "select"
select select table_name from information_schema.view_table_usage where view_schema = 'app'
----
-- 42601 20 syntax error at or near ")"
select pg_sleep(0::)bytea
----
-- 42601 2 syntax error at or near "count"
 count(*) >= 0 from pg_stat_user_tables
----
-- 42601 28 syntax error at or near "'x'"
comment on access method m 'x' is
----
-- 42601 35 syntax error at end of input
CREATE INDEX ON indexed ( ((null))
----
-- 42601 26 syntax error at or near "a"
alter database d set set a to default
----
-- 42601 40 syntax error at or near "'[1, 15, -10]'"
select jsonb_path_query('[1, 15, -10]' '[1, 15, -10]', '$[*].abs()'), jsonb_path_query('[1,2,3]', '$.size()'), jsonb_path_query('{"x":"2"}', '$.x.double() * 3')
----
-- 42601 2 syntax error at or near "sequence"
 sequence os owner to ro
----
-- 42601 18 syntax error at or near "="
update t set a = = 1
----
-- 42601 19 syntax error at or near "stdin"
copy t from stdin stdin freeze header
----
-- 42601 6 syntax error at or near "DROP"
DROP DROP TYPE i1
----
-- 42601 17 syntax error at or near "level"
set transaction level isolation serializable
----
-- 42601 34 syntax error at or near "'x'"
create collation c (locale = 'x' 'x', provider = icu, deterministic = false)
----
-- 42601 16 syntax error at or near "*"
select count(* *) from z where x between '-0' and '0'
----
-- 42601 42 syntax error at or near "("
select setval('s', 42, false), nextval's'()
----
-- 42601 34 syntax error at or near ","
select a, t.a, s.t.a, d.s.t.a, t.,* s.t.*, "T"."A b", "select", "A""b"
----
-- 42601 20 syntax error at or near "level"
begin transaction  level serializable, read only, deferrable
----
-- 42601 25 syntax error at or near "rb"
GRANT pg_write_all_data rb TO
----
-- 42601 2 syntax error at or near "given"
 given as select 1 as one
----
-- 42601 2 syntax error at or near "from"
 from t where current of c
----
-- 42601 15 syntax error at or near "where"
select i from where asg t = 5
----
-- 42601 42 syntax error at or near "("
select percentile_cont(x) within group ( (order by y) from (values (0.5, 1), (0.5, 2)) t(x, y) group by x
----
-- 42601 27 syntax error at or near "v"
alter materialized view v v depends on extension x
----
-- 42601 18 syntax error at or near "class"
alter operator c class using btree owner to x
----
-- 42601 22 syntax error at or near "@"
comment on operator s@. (none, int) is 'x'
----
-- 42601 17 syntax error at or near "select"
create view tv2 select as * from p
----
-- 42601 12 syntax error at or near "r"
comment on r role is 'a role'
----
-- 42601 14 syntax error at or near "'abc'"
select 'abc' 'abc'::bytea
----
-- 42601 19 syntax error at or near "tablespace"
grant create on t tablespace to a
----
-- 42601 31 syntax error at or near "using"
drop operator class if exists using c btree
----
-- 42601 8 syntax error at or near "select"
select select to_char(now(), 'YYYY')::int >= 2020
----
-- 42601 54 syntax error at or near "descid"
select id from (select id, v from ordered order by v descid , limit 9) q order by id limit 3
----
-- 42601 25 syntax error at or near "'ab%'"
select 'abc'::like name 'ab%'
----
-- 42601 15 syntax error at or near ")"
select (count*), sum(n) from large where not exists (select from small where id = small_id)
----
-- 42601 13 syntax error at or near "into"
insert into into stock values (1, 1) on conflict (id) do update set note = (select max(what) from log where log.id = stock.id) returning *
----
-- 42601 38 syntax error at end of input
select f3(functional) functional from
----
-- 42601 33 syntax error at or near "default"
insert into r.b values (default default, 2) returning *
----
-- 42601 3 syntax error at or near "verbose"
 (verbose, concurrently off, tablespace x) schema s
----
-- 42601 21 syntax error at or near "("
select id, sum(id)  (order by t range between '1 month' preceding and '1 day 12 hours' following) from framed order by id
----
-- 42601 1 syntax error at or near "from"
from delete information_schema.tables
----
-- 42601 36 syntax error at or near ","
select cardinality(array[[1,2],[3, ,4]])
----
-- 42601 13 syntax error at or near "g"
table alter g add column c text generated always as (a::text || '!') stored
----
-- 42601 27 syntax error at or near ")"
drop operator + (intnone ,)
----
-- 42601 2 syntax error at or near "pg_current_xact_id"
 pg_current_xact_id()::text <> ''
----
-- 42601 36 syntax error at or near "over"
select distinct on (c) c, max( (a) over (partition by c order by a) from wf order by c, 2 desc limit 2
----
-- 42601 9 syntax error at or near "d"
insert  d values (4, 4) on conflict do nothing
----
-- 42601 91 syntax error at or near "from"
insert into stock values (1, 1) on conflict (id) do update set note = (select max( (what) from log where log.id = stock.id) returning *
----
-- 42601 82 syntax error at or near "name"
insert into p values (1, 'c') on conflict on constraint p_pkey do update set set name = 'c' returning name
----
-- 42601 179 syntax error at or near ")"
select regr_avgx(distinct y, x), regr_avgy(distinct y, x), regr_sxx(distinct y, x), regr_syy(distinct y, x), regr_sxy(distinct y, x)
    from (values (1.5, 2), (1.5, 2), (2.257 ,), (3, 1), (null, 4), (5, null)) s (y, x)
----
-- 42601 27 syntax error at or near ")"
insert into t values (11, )1; begin; insert into t values (12, 1); rollback; select a from t where a in (11, 12)
----
-- 42601 14 syntax error at or near "::"
select '3'xid:: = any (array[3, 4]), '3'::xid = all (array[3, 4])
----
-- 42601 29 syntax error at or near "."
select distinct on (r.b) r r.b, l.a from pk1 l join pk2 r on l.k = r.k order by r.b, l.a desc
----
-- 42601 2 syntax error at or near "sequence"
 sequence st_s
----
-- 42601 17 syntax error at or near "current_user"
alter role role current_user password 'x'
----
-- 42601 22 syntax error at or near "nowait"
lock t in row share  nowait
----
-- 42601 67 syntax error at or near ")"
create trigger x instead of update on v for row execute function f)
----
-- 42601 72 syntax error at or near "select"
select o.id from o where id in (select x.oid from p x where x.v > (avg select(v) from p y where y.oid = x.oid)) order by 1
----
-- 42601 45 syntax error at or near "="
create table t as select * from t where a = = 1
----
-- 42601 33 syntax error at or near "n"
select sum(id) over (order by n n range between -1 preceding and current row) from framed
----
-- 42601 61 syntax error at or near "check"
create table t (a int primary key, b text default 'none', c check int (c >= 0), d int not null default 7, unique (b, c))
----
-- 42601 23 syntax error at or near "("
select extract extract(epoch from timestamptz '2001-02-16 20:38:40.12-08')
----
-- 42601 1 syntax error at or near "text"
text alter search configuration c rename to d
----
-- 42601 18 syntax error at or near "t"
alter sequence t t minvalue 100 maxvalue 1
----
-- 42601 41 syntax error at or near "text"
alter extension e add cast (int as text text)
----
-- 42601 14 syntax error at or near "3"
select 2 ^ 3 3, pg_typeof(2 ^ 3), |/ 40, pg_typeof(|/ 40)
----
-- 42601 27 syntax error at or near "select"
create view tv2 as select select * from p
----
-- 42601 17 syntax error at or near ")"
select x, count*) from (values ('{{1.0}}'::numeric[]), ('{{1.00}}'), ('{1.0}')) v(x) group by x order by x
----
-- 42601 11 syntax error at or near "select"
with a as select 1) delete from t using a where true
----
-- 42601 1 syntax error at or near "m"
m select[1::int8][2::int2] from md where id = 1
----
-- 42601 1 syntax error at or near "a"
a select, generate_series(1, a) from t1 order by 1, 2
----
-- 42601 31 syntax error at or near ","
create view counted as select , count(*) as c from li group by lo
----
-- 42601 16 syntax error at or near "for"
select id from for l update of nosuch
----
-- 42601 17 syntax error at or near "select"
create view va  select x, z from a
----
-- 42601 87 syntax error at or near "from"
create or replace temporary recursive view s.v (a) as values (1) union all select a + from 1 v
----
-- 42601 31 syntax error at or near ","
create table t (a int primary , b text not null default 'x', c numeric(10,2))
----
-- 42601 136 syntax error at or near "and"
create view w56 as select coalesce(b, d, 'x') as co, nullif(a, 0), greatest(a, 1) from p where b in ('x', 'y') and d in ('x', 'y') and and a between 1 and 5
----
-- 42601 39 syntax error at or near ")"
select has_column_privilege('t', 'a', )'select'
----
-- 42601 46 syntax error at or near "do"
insert into p values (1, 'c') on conflict do do update set name = 'q'
----
-- 42601 13 syntax error at or near "with"
copy t from with stdin
----
-- 42601 1 syntax error at or near "database"
database reindex d
----
-- 42601 1 syntax error at or near "role"
role create "A" connection limit -1
----
-- 42601 120 syntax error at or near "oj_a"
select oj_a.i, count(s), count(s.*), json_agg(s), s is null from oj_a left join (select * from oj_b) s using (i) group oj_a by.i, s order by 1
----
-- 42601 2 syntax error at or near "5"
 5 from c
----
-- 42601 21 syntax error at or near "ctid"
alter table  rename ctid to x
----
-- 42601 34 syntax error at or near "+"
select interval '1 day' interval + '1 hour'
----
-- 42601 80 syntax error at or near "to"
with recursive q as (select 1 as n union all select 2 from q) cycle n set c to to 1 default 'x' using p select * from q
----
-- 42601 9 syntax error at or near "fk2"
insert  fk2 values (1, null)
----
-- 42601 76 syntax error at or near "in"
create publication p for table only t (a, b) where (a > 1), s.u, tables in in schema x, current_schema
----
-- 42601 29 syntax error at or near ","
select a from t order by a, , b asc, c desc, d nulls first, e desc nulls last, f using <, g using operator(pg_catalog.>) nulls last, 1
----
-- 42601 7 syntax error at or near "alter"
alter alter schema z_s2 owner to postgres
----
-- 42601 37 syntax error at or near "interval"
select (date '2020-01-01', interval interval '1 day') overlaps (date '2020-01-01', null::date)
----
-- 42601 82 syntax error at or near "."
select pg_catalog.substr('abc', 2), pg_catalog.substring('abc', 2, 1)pg_catalog ,.ceil(1.5), pg_catalog.floor(1.5)
----
-- 42601 48 syntax error at or near "notnull"
select a is null, a is not null, a isnull, a a notnull, a is true, a is not true, a is false, a is not false, a is unknown, a is not unknown, (a is null) is true, a is null is not null
----
-- 42601 16 syntax error at or near "t"
create table t t of s.u
----
-- 42601 36 syntax error at or near ")"
select '(1,2)'::point, point(1, 2+ ) point(3, 4)
----
-- 42601 10 syntax error at or near "*"
select * * from t order by a
----
-- 42601 26 syntax error at or near "'x'"
alter role current_user  'x'
----
-- 42601 16 syntax error at or near "t"
alter type add t value if not exists 'b' before 'a'
----
-- 42601 17 syntax error at or near "="
update  set pay = '{25000,25000,27000,27000}' where name = 'Carol' returning pay
----
-- 42601 27 syntax error at or near "'x'"
comment on routine r(is ) 'x'
----
-- 42601 8 syntax error at or near "create"
create create view no3 as select count(*) from t for share
----
-- 42601 35 syntax error at or near "'%s'"
prepare pq2 as select format('%s' '%s', $1)
----
-- 42601 53 syntax error at or near "s"
select a from t for share skip locked for key share s of.x
----
-- 42601 18 syntax error at or near ")"
update t set (a, ) = c
----
-- 42601 19 syntax error at or near ")"
alter routine rint) parallel restricted
----
-- 42601 26 syntax error at or near "ro"
alter sequence os owner  ro
----
-- 42601 1 syntax error at or near "from"
from delete t
----
-- 42601 8 syntax error at or near "CREATE"
CREATE CREATE DATABASE opted OWNER postgres
----
-- 42601 7 syntax error at or near "fetch"
fetch fetch forward 5 from c
----
-- 42601 52 syntax error at or near ")"
alter function f(a int, out b text, variadic c int[)] owner to x
----
-- 42601 2 syntax error at or near "on"
 on column t.a is 'its key'
----
-- 42601 29 syntax error at or near ","
create table pk (a int,  int, primary key (a, b))
----
-- 42601 179 syntax error at or near "a"
select a || b || c, a || (b || c), a # b, # a, @ a, @ @ a, ~ a, a ~ b, a !~* b, a -> b ->> c, a @> b, a <-> b, a && b, a ? b, |/ 25, ||/ 27, @ a + b, (@ a) + b, @ (a || b), (@ a a) || b
----
-- 42601 48 syntax error at or near ","
create table if not exists fresh as values (1, , 'a'), (2, 'b')
----
-- 42601 56 syntax error at or near ","
insert into gv (id, x) overriding system value values (,9 5) returning *
----
-- 42601 48 syntax error at or near "id"
update doc set b = jsonb_set(b, '{age}', '37') id where = 1 returning b
----
-- 42601 42 syntax error at or near "."
select o.id from vz.other o join vz.v on .os = v.secret
----
-- 42601 67 syntax error at or near "reader"
alter default privileges for role owner1 revoke select on tables  reader
----
-- 42601 28 syntax error at end of input
alter group g add user ab ,
----
-- 42601 9 syntax error at or near "analyse"
analyse analyse verbose t
----
-- 42601 105 syntax error at or near "("
alter table t alter a type int, alter b set data type text collate "C" using b::text, alter c type int  (c + 1)
----
-- 42601 23 syntax error at or near "uncommitted"
begin isolation level uncommitted read
----
-- 42601 1 syntax error at or near "forward"
forward fetch all in c
----
-- 42601 12 syntax error at or near "1"
with w as (1 select as one) (table w) union all table w
----
-- 42601 33 syntax error at or near ","
insert into t (a, b) values (1, , default), (2, null)
----
-- 42601 14 syntax error at or near "on"
alter policy on p t rename to q
----
-- 42601 114 syntax error at or near "by"
select o.id from o where id in (select x.oid from p x where x.v > (select avg(v) from p y where y.oid = x.oid))  by 1
----
-- 42601 64 syntax error at end of input
create view v05 as select j.a, t.b, u.c from t join u  (a) as j
----
-- 42601 40 syntax error at or near "nextval"
CREATE TABLE s6 (a int DEFAULT nextval nextval('s1'))
----
-- 42601 9 syntax error at or near "classed_too"
CREATE  classed_too (LIKE classed INCLUDING INDEXES)
----
-- 42601 68 syntax error at or near "f"
create trigger x instead of update on v for row execute function f f()
----
-- 42601 19 syntax error at or near "table"
create temp table table t as table u with data
----
-- 42601 83 trailing junk after numeric literal at or near "5cycle"
with recursive q(n, p) as (select 1, 1 union all select n + 1, p from q where n < 5cycle ) n set c using path select * from q
----
-- 42601 11 syntax error at or near "transaction"
show show transaction isolation level
----
-- 42601 45 syntax error at or near "current_user"
create schema if not exists authorization s current_user
----
-- 42601 87 syntax error at or near "x"
create table if not exists t (a, b) using heap with (fillfactor = 10) on commit drop  x as values (1, 2) with no data
----
-- 42601 33 syntax error at or near "1"
insert into part (a, b, c, y)  (1, '', 1, 1)
----
-- 42601 32 syntax error at or near "to"
alter subscription s rename to to t
----
-- 42601 24 syntax error at or near ","
insert into f1 values (,1 10), (2, 20), (3, null)
----
-- 42601 16 syntax error at or near "a"
select a  lo_a a order by a desc
----
-- 42601 16 syntax error at or near "order"
select a from  order by a fetch first $1 rows with ties for share
----
-- 42601 15 syntax error at or near "."
select a.idx ,.w from a left join lateral (select w from b where b.a_id = a.id union all select -a.id) x on true order by 1, 2
----
-- 42601 40 subquery in FROM must have an alias
-- hint: For example, FROM (SELECT ...) [AS] foo.
select x.a, l.y, z.a from t x, lateral (select x.a+1) ) l(y) full join t z on l.y=z.a order by 1,2,3
----
-- 42601 23 syntax error at or near "."
CREATE TABLE sx.te (a .en DEFAULT 'q', b int, CHECK (a <> 'r'))
----
-- 42601 9 syntax error at or near "on"
 select on t to a
----
-- 42601 31 syntax error at or near "regclass"
select pg_table_is_visible('t'regclass)
----
-- 42601 15 syntax error at or near "2"
alter index x 2 alter set statistics -1
----
-- 42601 18 syntax error at or near "1"
create view v as 1 select with local check option
----
-- 42601 28 syntax error at or near "all"
deallocate prepare prepare all
----
-- 42601 14 syntax error at or near "("
insert into  (a, b) values (1, default), (2, null)
----
-- 42601 11 syntax error at or near "time"
show time time zone
----
-- 42601 2 syntax error at or near "a"
 a is null is
----
-- 42601 13 syntax error at or near "into"
insert into into part (a, b, c, y) values (1, '', 1, 1)
----
-- 42601 1 syntax error at or near "not"
not select null::boolean
----
-- 42601 30 syntax error at or near "key"
create table q.a (id serial  key, x int)
----
-- 42601 38 syntax error at or near "from"
select corr(distinct i, f order by n from pair
----
-- 42601 21 syntax error at or near "text"
create domain s s.d text collate "C" default 'x' not null constraint c check (value > 'a') null check (value is not null)
----
-- 42601 6 syntax error at or near "nosuch"
drop nosuch table
----
-- 42601 1 syntax error at or near "1"
1 select = all ((select 1) union all (select 1))
----
-- 42601 17 syntax error at or near "from"
select y.k from from wn_t0 s left join wn_t2 y on 3 = y.a where 3 = y.a order by 1
----
-- 42601 17 syntax error at or near "*"
select acount ,(*) from nothing group by a, ()
----
-- 42601 25 syntax error at or near "null"
select null = null,  is null, null || null
----
-- 42601 8 syntax error at or near "select"
select select name + 1 from item
----
-- 42601 1 syntax error at or near "on"
on comment schema s is e'a\\b'
----
-- 42601 2 syntax error at or near "publication"
 publication p
----
-- 42601 60 syntax error at or near "5"
create view ww as select x as k, y as l, z from w where x  5
----
-- 42601 54 syntax error at or near ","
select current_role, current_user, usersession_user ,, current_catalog, current_schema, current_schema(), current_schemas(true)
----
-- 42601 27 syntax error at or near "is"
comment on extension e is is 'x'
----
-- 42601 2 syntax error at or near "publication"
 publication p, q
----
-- 42601 2 syntax error at or near "row"
 row(1)::t1
----
-- 42601 25 syntax error at or near "c"
explain declare declare c cursor for select 1
----
-- 42601 8 syntax error at or near "create"
create create view v as select 1 with local check option
----
-- 42601 49 syntax error at or near "'b'"
insert into keyed values ('{1,2}', 'a'), ('{1}' 'b'), ('{}', 'c'), ('{1,2,3}', 'd')
----
-- 42601 83 syntax error at or near "."
select a.g, b.w from a left join b on b.a_id = a.id and b.w <> 'p' order by a.id, .id
----
-- 42601 31 syntax error at or near ","
CREATE TABLE numbered (a int, , b text[], c varchar(5)[], d numeric(5, 2)[])
----
-- 42601 47 syntax error at or near "<"
select stddev(d), variance(f) from a id where < 3
----
-- 42601 22 syntax error at or near ")"
insert into gv (idx ,) overriding system value values (9, 5) returning *
----
-- 42601 18 syntax error at or near "x"
select t.* as as x
----
-- 42601 43 syntax error at or near "with"
select a from t order by a fetch first 5  with ties
----
-- 42601 29 syntax error at or near ","
create table t as execute p(,1 'a') with no data
----
-- 42601 17 syntax error at or near "moving"
execute execute moving(20, 'moved ')
----
-- 42601 33 syntax error at end of input
select '"Mixed"'::regclasstext::
----
-- 42601 41 syntax error at or near ")"
select id, (select 1 where o.k is null) ) from o order by id
----
-- 42601 7 syntax error at or near "on"
grant on create schema z_s to z_adm
----
-- 42601 148 syntax error at or near ")"
select 'é' like '_', char_length('é'), translate('é', 'é', 'x'), strpos('aé', 'é'), position('é' in 'aé'), reverse('éa'), left('éa', 1), ascii('é',) lpad('é', 3, 'è')
----
-- 42601 22 trailing junk after numeric literal at or near "2array"
select array_prepend(2array ,[[1]])
----
-- 42601 12 syntax error at or near "is"
select a a is
----
-- 42601 25 syntax error at or near "'yxTomxx'"
select trim(both 'xyz'  'yxTomxx')
----
-- 42601 7 syntax error at or near "create"
table create one (name text, pay int[])
----
-- 42601 42 syntax error at or near "owner"
alter operator class c using btree owner owner to x
----
-- 42601 8 syntax error at or near "select"
select select a from t order by a fetch first (a + 1) rows with ties
----
-- 42601 70 syntax error at or near ")"
select json_agg(x order by x desc) from (values (1), (2), (null)) vx()
----
-- 42601 55 syntax error at or near "2"
insert into t values (1, 10, 'one', 1.50, '{1,2,3}'), 2(, 20, 'two', 2.25, '{4,5}'), (3, null, null, null, null)
----
-- 42601 10 syntax error at or near ")"
select fa) within group (order by b), f(a) within group (order by b desc, c) filter (where d > 1), f() over (), f() over w, f() over (w), f(a) filter (where b) over (partition by c order by d), f(*) over (order by a rows 1 preceding)
----
-- 42601 142 syntax error at or near ")"
select date_bin('15 minutes', timestamp '2020-02-11 15:44:17', timestamp '2001-01-01'), date_bin('1 day', timestamptz '2020-02-11 15:44:17', ), date_bin('7 days', date '2020-02-11', '2001-01-01')
----
-- 42601 14 syntax error at or near "value"
alter type t value add 'c' after 'b'
----
-- 42601 10 syntax error at or near "*"
select * * from aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggghhhhh
----
-- 42601 158 syntax error at or near "("
select date '2020-01-01' - '2019-12-01', timestamp '2020-01-01' - '2019-12-01', timestamp '2020-01-01' + '1 day', '1 day' + timestamp ,'2020-01-01' pg_typeof(timestamp '2020-01-01' - '2019-12-01')
----
-- 42601 21 syntax error at or near "1"
alter domain d set  1
----
-- 42601 17 syntax error at or near "b"
update t set (a b) = 1
----
-- 42601 6 syntax error at or near "rest"
drop rest table
----
-- 42601 35 syntax error at or near ")"
select regexp_match('aa','(a*)*') ); select regexp_match('aaa','x*'); select regexp_match('a{','a{'); select regexp_match('abc','(|b)c')
----
-- 42601 16 syntax error at or near "("
select sum(id) ( overorder by n range between -1 preceding and current row) from framed
----
-- 42601 34 syntax error at or near "'permanent'"
insert into public.t ( values10, 'permanent')
----
-- 42601 1 syntax error at or near "role"
role create r1
----
-- 42601 2 syntax error at or near "sequence"
 sequence t start 0
----
-- 42601 8 syntax error at or near "program"
copy t program from 'cat' where a > 1
----
-- 42601 66 syntax error at or near "where"
select table_name from information_schema.view_table_usage where where view_schema = 'app'
----
-- 42601 76 syntax error at or near ">"
alter table def add constraint c75 check (a & 3 = 1 and a | 1 > 0 and a << > 2 1)
----
-- 42601 30 syntax error at or near ","
create collation c (locale = , provider = icu, deterministic = false)
----
-- 42601 25 syntax error at or near "id"
create table identified id( int primary key, a int not null)
----
-- 42601 2 syntax error at or near "subscription"
 subscription s enable
----
-- 42601 13 syntax error at or near "into"
insert into into pk values (1, null)
----
-- 42601 17 syntax error at or near "c"
declare explain c cursor for select 1
----
-- 42601 54 syntax error at or near "="
select o.id, p.pid from fo o full join fp p on o.a = = p.b and o.b <= 3 order by 1, 2
----
-- 42601 17 syntax error at or near "transaction"
set local local transaction read only
----
-- 42601 20 syntax error at or near "from"
select k, count()* from f1 group by (1) order by (1)
----
-- 42601 26 syntax error at or near "100"
alter sequence  minvalue 100 maxvalue 1
----
-- 42601 25 syntax error at or near "x"
alter sequence s owner  x
----
-- 42601 33 syntax error at or near "'{{1.0}}'"
select x, count(*) from (values '{{1.0}}'(::numeric[]), ('{{1.00}}'), ('{1.0}')) v(x) group by x order by x
----
-- 42601 105 syntax error at or near "regclass"
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' AND conrelid = 'behind'regclass:: ORDER BY 1
----
-- 42601 14 syntax error at or near ","
select (row1(,'b'::text)).*
----
-- 42601 8 syntax error at or near "q"
with q q as (select 1 as x) select * from q for update of q
----
-- 42601 13 syntax error at or near "("
copy c from ( stdinescape 'a')
----
-- 42601 1 syntax error at or near "plainto_tsquery"
plainto_tsquery select('english', 'The Fat Rats')
----
-- 42601 31 syntax error at or near "key"
select * from e where id = 1  key share skip locked
----
-- 42601 26 syntax error at or near "p"
comment on publication p p is 'x'
----
-- 42601 35 syntax error at or near ","
select x from (values (1, 2), (2, , 2), (3, null)) v(x, y) where x in (nullif(x, y), 5) order by x
----
-- 42601 11 syntax error at or near "1"
(select 1 1) order by 1
----
-- 42601 2 syntax error at or near "1"
 1 offset 'x'
----
-- 42601 26 syntax error at or near "to"
alter statistics  rename to t
----
-- 42601 7 syntax error at or near "to"
grant to a b
----
-- 42601 48 syntax error at or near "b"
select id, count(*) over (partition by a <> 0  b / a > 4) from ratio order by id
----
-- 42601 68 syntax error at or near "."
select o.v from fo o where o.m < case when o.a = o.m then o.f else .of end union select p.v from fp p where 1 < p.m order by 1
----
-- 42601 151 syntax error at or near ","
create table v (
  id int primary key, b bool, i2 int2, i8 int8, f4 float4, f8 float8, n numeric(20,6), t text, vc varchar(10), c char(4),
  y bytea, , d date, ts timestamp, tz timestamptz, u uuid)
----
-- 42601 1 syntax error at or near "text"
text drop search parser p
----
-- 42601 1 syntax error at or near "event"
event alter trigger x enable
----
-- 42601 31 syntax error at or near ","
insert into o (x) values (1), ,(2),(3) returning id
----
-- 42601 12 syntax error at or near "format"
explain ( (format text, format json, costs off) select 1
----
-- 42601 89 syntax error at or near "y"
create type t as range (subtype = int4, subtype_opclass = x, multirange_type_name = s.y y)
----
-- 42601 72 syntax error at or near "1"
select o.id, p.pid from fo o join fp p on o.b = p.a and o.b = 2 order  1, 2
----
-- 42601 21 syntax error at or near "select"
with recursive q as select 1 as n union select 2 from q union select 3) cycle n set c using p select * from q
----
-- 42601 21 syntax error at or near "values"
insert into w (x, y values (1, 'ww') on conflict on constraint t_pkey do nothing
----
-- 42601 38 syntax error at end of input
select array_prepend( (2, array[[1]])
----
-- 42601 33 syntax error at or near "s1"
rollback to savepoint savepoint s1
----
-- 42601 8 syntax error at or near "select"
select select * from ctas
----
-- 42601 23 syntax error at or near "is"
comment on collation  is 'x'
----
-- 42601 9 syntax error at or near "s6"
CREATE  s6 (a int DEFAULT nextval('s1'))
----
-- 42601 19 syntax error at or near "50"
execute ins(7, 50 50)
----
-- 42601 7 syntax error at or near "p"
alter p publication add table t, tables in schema s
----
-- 42601 55 syntax error at or near "update"
select region from sales group by rollup (regionfor ) update
----
-- 42601 20 syntax error at or near ")"
select o.c, count*() filter (where o.v in (select s1.c from fo s1 where s1.a <> s1.a)), avg(o.a), count(*) from fo o group by o.c having max(o.m) is not null order by 1, 2, 3, 4
----
-- 42601 14 syntax error at or near ","
select la.a, , lb.a from la left join lb on la.b is not distinct from lb.b order by 1, 2
----
-- 42601 44 syntax error at or near "c"
grant execute on all routines in schema a  c
----
-- 42601 21 syntax error at or near "("
alter domain d add  (value > 0)
----
-- 42601 32 syntax error at or near "]"
select * from unnest(array['a',]'b') with ordinality as u(x, n)
----
-- 42601 9 syntax error at or near "text"
comment text on search template t is 'x'
----
-- 42601 54 syntax error at end of input
(select 1) union all ((select 2) union all (select 3)
----
-- 42601 109 syntax error at or near "<"
select o.v from fo o where o.m < case when o.a = o.m then o.f else o.f end union select p.v from fp p where < 1 p.m order by 1
----
-- 42601 89 syntax error at or near "c"
with a as (insert into t values (1) returning *), b as (update t set a = 1 returning a) c as (delete from t returning 1) select 1
----
-- 42601 37 syntax error at or near "select"
explain create materialized view v  select 1
----
-- 42601 64 syntax error at or near "10"
alter table typed_parent alter column id type bigint using id  10
----
-- 42601 82 syntax error at or near "collate"
select a collate "C", a collate pg_catalog."default", (a || b) collate "C", a  b collate "C", a collate "C" collate "D", -a collate "C", (a collate "C")::text, a < b collate "C"
----
-- 42601 20 syntax error at or near "keyed"
insert into values keyed ('{1,2}', 'a'), ('{1}', 'b'), ('{}', 'c'), ('{1,2,3}', 'd')
----
-- 42601 10 syntax error at or near "generate_series"
select * generate_series from(1.0, 2.0, 0.25)
----
-- 42601 13 syntax error at or near "*"
select from * nosuch_seq
----
-- 42601 78 syntax error at or near "("
select greatest(1, 2.5, '3'), least(1, null, -4), greatest('a','b') pg_typeof(greatest(1,2::int8))
----
-- 42601 18 syntax error at or near "by_index_a"
drop index index by_index_a
----
-- 42601 82 syntax error at or near "="
select id from listed where b like any (select left(b, 1) || '%' from listed  id = 1) order by id
----
-- 42601 15 syntax error at or near "grant"
alter default grant privileges usage on schemas to a
----
-- 42601 23 syntax error at or near "committed"
begin isolation level committed read
----
-- 42601 153 syntax error at or near ")"
select a collate "C", a collate pg_catalog."default", (a || b) collate "C", a || b collate "C", a collate "C" collate "D", -a collate "C", a collate "C")::text, a < b collate "C"
----
-- 42601 21 syntax error at or near "left"
select a.id, x.w  a left join lateral (select w from b where b.a_id = a.id union all select -a.id) x on true order by 1, 2
----
-- 42601 28 syntax error at or near "t"
select t.id, p. from trade t left join place p on p.area = t.area and p.number = 4 where account = 5 order by at, t.id limit 12
----
-- 42601 16 syntax error at or near "partition"
alter table t  partition u concurrently
----
-- 42601 1 syntax error at or near "into"
into insert o (x) values (1),(2),(3) returning id
----
-- 42601 42 syntax error at or near "bigint"
alter table typed_parent alter column id bigint type using id + 10
----
-- 42601 14 syntax error at or near "::"
select power(::numeric, 4.5)
----
-- 42601 5 syntax error at or near "="
set = session_replication_role replica
----
-- 42601 20 syntax error at or near ")"
cluster (verbosex ,) s.t using i
----
-- 42601 1 syntax error at or near "verbose"
verbose explain select 1
----
-- 42601 49 syntax error at or near ")"
insert into part (a, b, c, y) values (1, '', 1, )1
----
-- 42601 40 syntax error at or near "in"
select a in (1, 2, 3), a not in (1)a , in (select 1), a not in (select b from c), (a, b) in ((1, 2), (3, 4)), a in ((select 1), 2), a in (((select 1))), a in (((1))), (a in (1)) in (true)
----
-- 42601 8 syntax error at or near "select"
select select timestamp '4714-11-24 BC' at time zone interval '1 hour'
----
-- 42601 41 syntax error at or near "key"
create table q.a (id serial primary key key, x int)
----
-- 42601 17 syntax error at or near "("
select trim trim(both 'xyz' from 'yxTomxx')
----
-- 42601 90 syntax error at or near "public"
alter default privileges for role a, current_user in schema b, c grant all on sequences  public with grant option
----
-- 42601 13 syntax error at or near "*"
select from * t where a == b
----
-- 42601 13 syntax error at or near "if"
table alter if exists t detach partition u finalize
----
-- 42601 21 syntax error at or near "z_s2"
alter schema schema z_s2 owner to postgres
----
-- 42601 16 syntax error at or near "("
drop aggregate (aint), s.b(*), c(int order by text)
----
-- 42601 12 syntax error at or near "in"
select a a in
----
-- 42601 34 syntax error at or near "1"
select id, m[1][2], m[2][3], m[1 1], m[3][1], m[0][1], m[1][2][3], t[2][1], b[0], b[2], b[3], b[-1] from md order by id
----
-- 42601 19 syntax error at or near "'postgres'"
select 'postgres' 'postgres'::regrole::oid, 'postgres'::regrole::text, 'postgres'::regrole::regproc
----
-- 42601 19 syntax error at or near "is"
comment on index  is 'x'
----
-- 42601 50 syntax error at or near "'{25000,25000,27000,27000}'"
update sal set pay = '{25000,25000,27000,27000}' '{25000,25000,27000,27000}' where name = 'Carol' returning pay
----
-- 42601 32 syntax error at or near "select"
insert into t overriding user  select 1
----
-- 42601 17 syntax error at or near ","
select '(1,2)'::,point point(1, 2) + point(3, 4)
----
-- 42601 31 syntax error at or near "with"
copy t to program 'gzip' with with (format 'binary')
----
-- 42601 14 syntax error at or near "on"
grant all (a on t to b
----
-- 42601 9 syntax error at or near "explain"
explain explain (analyze) (select 1)
----
-- 42601 8 syntax error at or near "1"
set a  1
----
-- 42601 45 syntax error at or near "for"
declare c asensitive scroll cursor without  for (select 1)
----
-- 42601 21 syntax error at or near ","
select 1 <> 2, 1 != , 1 is distinct from null, null is distinct from null, 1 is not distinct from 1
----
-- 42601 2 syntax error at or near "sequence"
 sequence t cache 0
----
-- 42601 12 syntax error at or near "foreign"
drop table foreign t
----
-- 42601 55 syntax error at or near "t_pkey"
insert into w (x, y) values (1, 'ww') on conflict on  t_pkey do nothing
----
-- 42601 89 syntax error at or near "'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz'"
select 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz' 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz'::name
----
-- 42601 28 syntax error at or near "isolation"
show transaction isolation isolation level
----
-- 42601 2 syntax error at or near "h"
 h(int) as select count(*) from wn_t0 having $1 > 5
----
-- 42601 2 syntax error at or near "view"
 view uvg, uvc, uv
----
-- 42601 15 syntax error at or near "7"
insert into t 7 select, 8 fetch first 1 rows only returning *
----
-- 42601 8 syntax error at or near "select"
select select a from t offset 5 row fetch first 10 rows only
----
-- 42601 23 syntax error at or near "as"
create cast (int[] as as text) with inout
----
-- 42601 28 syntax error at or near "schema"
alter table if exists s.t  schema x
----
-- 42601 27 syntax error at or near "'1.1'"
alter extension e update  '1.1'
----
-- 42601 12 syntax error at or near "from"
fetch -5 c from
----
-- 42601 100 syntax error at or near ")"
select jsonb_agg(to_jsonb(a) || jsonb_build_object('bs', (select coalesce(jsonb_agg(b order by k), ) from lo_b b where b.i = a.i)) order by a.i) from lo_a a
----
-- 42601 14 syntax error at or near "value"
alter type t value add if not exists 'b' before 'a'
----
-- 42601 32 syntax error at or near "1"
insert into t (a, b) values (1 1, default), (2, null)
----
-- 42601 36 syntax error at or near "("
select id, lag(pay, 1, 'x') over ( (order by id) from w
----
-- 42601 36 syntax error at or near "$"
prepare pq2 as select format('%s', $ $1)
----
-- 42601 100 syntax error at or near "o"
select o.id, (((o.m in (case when o.b > o.b then o.b else o.n end, 2.5, 1)) is not false and (o.n  o.m) < o.n)) as p from fo o order by 1
----
-- 42601 33 syntax error at or near ")"
select coalesce(a, b), greatesta), least(a, b, c), nullif(a, b), coalesce(a and b, c), grouping(a, b), treat(a as t), collation for (a), normalize(a), normalize(a, nfc), normalize(a || b, nfkd)
----
-- 42601 37 syntax error at or near "to"
alter operator family f using btree to rename g
----
-- 42601 15 syntax error at or near "="
update v set  = n from (values (1, 'from')) x(k, n) where x.k = v.a returning v.*, n
----
-- 42601 9 syntax error at or near "t"
create  t (a int) without oids
----
-- 42601 9 syntax error at or near "cast"
comment cast on (int as text) is 'x'
----
-- 42601 12 syntax error at or near "on"
comment on on view v is 'x'
----
-- 42601 16 syntax error at or near "a"
update p set a a = a + 10 where a < 3
----
-- 42601 31 syntax error at or near "u"
create table if not exists t  u (a with options not null, b default 1, primary key (a)) with (fillfactor = 10)
----
-- 42601 43 syntax error at or near "select"
update vz.v set secret = 'q' where exists select 1 from vz.other o where o.s = v.secret)
----
-- 42601 32 syntax error at or near "double"
prepare p (int, text[], double double precision) as insert into t values ($1, $2)
----
-- 42601 22 syntax error at or near "table"
alter extension  add table t
----
-- 42601 2 syntax error at or near "a"
 a.b
----
-- 42601 46 syntax error at or near "rngtypid"
select count(*) from pg_range where rngtypid rngtypid = 'int4range'::regtype
----
-- 42601 25 syntax error at or near "from"
select constraint_name, from constraint_type information_schema.table_constraints where table_schema = 'app' and constraint_type <> 'CHECK' order by 1
----
-- 42601 24 syntax error at or near "to"
alter database d a set to default
----
-- 42601 21 syntax error at or near "("
update d set (a, b) ( =(default), 7) where b = 3
----
-- 42601 38 syntax error at or near "6"
select set_bit(b'101010101010101010' 6, 0)
----
-- 42601 14 syntax error at or near "a"
grant select a, b), insert (c), update, delete, truncate, references (d), trigger on t to a granted by current_user
----
-- 42601 14 syntax error at or near "array"
select array array[], 1
----
-- 42601 30 syntax error at or near "default"
create table t partition of  default
----
-- 42601 11 syntax error at or near "in"
lock t in in row exclusive mode
----
-- 42601 55 syntax error at or near "check"
create table pr (product_no integer, name text, price check numeric (price > 0), discounted numeric, constraint valid_discount check (price > discounted))
----
-- 42601 44 syntax error at or near "id"
select id, min(id) over (order by m , rows id between 1 preceding and 1 following) from wz order by id
----
-- 42601 2 syntax error at or near "routine"
 routine r
----
-- 42601 17 syntax error at or near "constraint"
alter table def constraint add c84 check (jb @> '{"a": 1}' and jb['x'] is null and j ->> 0 is null)
----
-- 42601 11 syntax error at or near "interval"
set  zone interval '90' minute; show timezone
----
-- 42601 14 syntax error at or near "null"
select (null null::t1).c
----
-- 42601 2 syntax error at or near "usename"
 usename, usesuper from pg_user where usename = 'postgres'
----
-- 42601 27 syntax error at end of input
create table wn_ibid( int)
----
-- 42601 31 syntax error at or near "v"
explain refresh materialized  v
----
-- 42601 10 syntax error at or near ","
select o.,id p.pid from fo o full join fp p on o.b = p.a order by 1, 2
----
-- 42601 38 syntax error at or near "p"
create temp table if not exists t as p execute
----
-- 42601 59 syntax error at or near "asked"
select count(*), sum(i.id), count(a.n) from items i left  asked a on a.n = i.kind - 1 where i.id <= 900
----
-- 42601 130 syntax error at or near "order"
with d as (delete from log returning what) select what, count(*) from d where what in (select what from d) group by rollup (what order by 1
----
-- 42601 24 syntax error at or near "owner"
alter type z_s.e owner owner to z_plain
----
-- 42601 6 syntax error at or near "authorization"
set  authorization a
----
-- 42601 8 syntax error at or near "gv"
INSERT gv INTO VALUES (1, DEFAULT)
----
-- 42601 49 syntax error at or near "a"
select * from lk where a like 'ab%' order by by a
----
-- 42601 66 syntax error at or near "id"
prepare shifted(int) as select id, lag(id, $1) over (order by by id), lead(id, $1, -1) over (order by id), ntile($1) over (order by id), nth_value(id, $1) over (order by id) from framed order by id
----
-- 42601 23 syntax error at or near "*"
select 1 count having(*) = 1
----
-- 42601 2 syntax error at or near "*"
 * from (a join b on c) as x
----
-- 42601 29 syntax error at or near "jsonb"
create table keyed (k jsonb jsonb primary key, v int)
----
-- 42601 44 syntax error at or near "]"
select array_agg(x) from (values ('{}'::int][)) v(x)
----
-- 42601 25 invalid publication object list
-- detail: One of TABLE or TABLES IN SCHEMA must be specified before a standalone table or schema name.
alter publication p set t table (a)
----
-- 42601 14 syntax error at or near "as"
create view  as select * from low where id > 1
----
-- 42601 1 syntax error at or near "work"
work commit and chain
----
-- 42601 28 syntax error at or near "primary"
create table keyed ( jsonb primary key, v int)
----
-- 42601 50 syntax error at or near "on"
alter default privileges in schema nosuch grant  on tables to other
----
-- 42601 6 syntax error at or near "s"
drop s statistics, t
----
-- 42601 20 syntax error at or near "for"
create policy p on for t update with check (true)
----
-- 42601 106 syntax error at or near ")"
select '"Some One"'::regrole, '"Some One"'::regrole::text, to_regrole('"Some One"'), to_regrole'Some One')
----
-- 42601 31 syntax error at or near "conflict"
insert into p values (1, 'c') conflict on on constraint p_pkey do update set name = 'c' returning name
----
-- 42601 47 syntax error at or near "1.0"
select * from generate_series generate_series(1.0, 2.0, 0.25)
----
-- 42601 1 syntax error at or near "into"
into insert too_long (b, d) values ('x', 'y')
----
-- 42601 15 syntax error at or near "order"
select * from order clock by t
----
-- 42601 136 syntax error at or near ")"
select ('{"a": {"b": 5}}'::jsonb)['a']['b'], ('[1,2]'::jsonb)[1], ('{"a":1}'::jsonb)['zz'], ('[1,2]'::jsonb)['-1'], ('{"1":2}'::jsonb) )[1]
----
-- 42601 19 syntax error at or near "]"
select array[1.0, ]2.00 = array[1, 2]
----
-- 42601 39 syntax error at or near "a"
create subscription s connection 'x'  a, b with (enabled = false, slot_name = none)
----
-- 42601 1 syntax error at or near "unique"
unique create index ue_lower on ue (lower(e))
----
-- 42601 19 syntax error at or near "="
update child set  = null where n = 3
----
-- 42601 76 syntax error at or near "x"
with recursive a as (select 1 union all select 2) search depth first by by x, y set o select 1
----
-- 42601 48 syntax error at or near "ties"
select a from t order by a fetch first -1 rows ties with
----
-- 42601 23 syntax error at or near "'numbers'"
comment on sequence s 'numbers' is
----
-- 42601 74 syntax error at or near ">"
alter table def add constraint c07 check (a not between 1 and 10 and b > > 1)
----
-- 42601 1 syntax error at or near "isolation"
isolation begin level read committed
----
-- 42601 32 syntax error at or near "lsn"
alter subscription s skip (lsn lsn = '0/1')
----
-- 42601 7 syntax error at or near "alter"
alter alter table def add constraint c70 check (row(a, b) is not null)
----
-- 42601 63 syntax error at or near "not"
delete from o where id not in (select oid from p oid where is not null) returning id
----
-- 42601 7 syntax error at or near "("
grant ( inserta, b) on pt to view_owner
----
-- 42601 74 syntax error at or near "regclass"
select tgfoid::regproc, tgenabled from pg_trigger where tgrelid = 'child'regclass and tgconstrrelid = 'parent'::regclass order by 1
----
-- 42601 1 syntax error at or near "round"
round select(-2.5)
----
-- 42601 12 syntax error at or near ","
drop table ,d c
----
-- 42601 65 syntax error at or near ")"
alter table g add column c text generated always as (a::text || )'!' stored
----
-- 42601 14 syntax error at or near "as"
create type  as (a int, b text collate "C")
----
-- 42601 22 syntax error at end of input
select lo_get( (4999)
----
-- 42601 18 syntax error at or near "="
update placed  c = array['x', 'y']::text[]
----
-- 42601 20 syntax error at end of input
alter database d  a
----
-- 42601 24 syntax error at or near "2.5"
select power(2.5, -2.5 2.5)
----
-- 42601 168 syntax error at or near "collate"
select a collate "C", a collate pg_catalog."default", (a || b) collate "C", a || b collate "C", a collate "C" collate "D", -a collate "C", (a collate "C")::text, a  b collate "C"
----
-- 42601 8 syntax error at or near "delete"
delete delete from parent
----
-- 42601 26 syntax error at or near "g"
select distinct on (a, g g) a, b, generate_series(1, 2) g from (values (3, 2), (3, 1), (1, 1), (1, 4)) t(a, b) order by a, g, b desc
----
-- 42601 32 syntax error at or near "="
select 1 = '1', 1 = '1.5''a' , = 'b', '1' < '2'
----
-- 42601 71 syntax error at or near ")"
select array_agg(x order by x desc), array_agg(distinct x), array_aggx) filter (where x[1] = 1) from (values (array[[1,2]]), (array[[3,4]]), ('{{1,2}}')) v(x)
----
-- 42601 52 syntax error at or near ")"
select h.b from held * as h join held* k using (a) ) order by 1
----
-- 42601 7 syntax error at or near "t"
alter t type set schema s
----
-- 42601 58 syntax error at or near "1"
select a + 1, count(*) from sets group by rollup (a, + a 1) having a + 1 > 1 order by 1, 2
----
-- 42601 18 syntax error at or near ","
drop operator + (,int none)
----
-- 42601 41 syntax error at or near "text"
create table if not exists s.t ( int, b text)
----
-- 42601 12 syntax error at or near "merged"
table drop merged
----
-- 42601 29 syntax error at or near ","
select array(select arrayid[, id * 2] from t order by id)
----
-- 42601 110 syntax error at or near "1"
select o.id from fo o where o.c in (select s1.t from fo s1 where (s1.m >= s1.n) and s1.b <> o.a) order by by 1
----
-- 42601 28 syntax error at or near "1"
insert into con ( values1, 1), (1, 2)
----
-- 42601 11 syntax error at or near "b"
revoke a  b
----
-- 42601 25 syntax error at or near "("
copy c from stdin escape( 'a')
----
-- 42601 15 syntax error at or near "t"
prepare p as  t set a = $1
----
-- 42601 7 syntax error at or near "current_user"
alter current_user role password 'x'
----
-- 42601 1 syntax error at or near "publication"
publication create p
----
-- 42601 15 syntax error at or near "as"
create table  as execute p
----
-- 42601 98 syntax error at or near "by"
select o.id from fo o where o.c in (select s1.t from fo s1 where (s1.m >= s1.n) and s1.b <> o.a) by order 1
----
-- 42601 13 syntax error at or near "("
insert into ( ox) values (1),(2),(3) returning id
----
-- 42601 19 syntax error at or near "0"
alter sequence t  0
----
-- 42601 51 syntax error at or near "not"
create constraint trigger x after update on t not not deferrable initially immediate for each row execute function f()
----
-- 42601 63 syntax error at or near ")"
create rule r as on delete to t do also insert into u values ()1
----
-- 42601 21 syntax error at or near ")"
SELECT setval('ts', )5
----
-- 42601 58 syntax error at or near "("
select greatest(1, 2.5, '3'), least(1, null, -4) greatest('a','b'), pg_typeof(greatest(1,2::int8))
----
-- 42601 18 syntax error at end of input
drop table loli ,
----
-- 42601 10 syntax error at or near "*"
select * * from ctas
----
-- 42601 15 syntax error at or near "p"
insert into p p values (3)
----
-- 42601 1 syntax error at or near "ROLE"
ROLE CREATE rb LOGIN
----
-- 42601 33 syntax error at or near "a"
alter table def rename column a a to "A b"
----
-- 42601 46 syntax error at or near ")"
create view w47 as select b, d, grouping(bd ,), count(*) from p group by grouping sets ((b), (b, d), ())
----
-- 42601 24 syntax error at or near "values"
insert into mdk values values ('{{1,2}}', 'again')
----
-- 42601 1 syntax error at or near "extract"
extract select(epoch from date '2020-01-01')
----
-- 42601 41 syntax error at end of input
select (row('int4'::regtype::text)::text
----
-- 42601 51 syntax error at or near "."
select o.id, p.pid from fo o full join fp p on o. .a = p.b and o.b <= 3 order by 1, 2
----
-- 42601 20 syntax error at or near "s"
insert into values s (5, 'dup', 1), (5, 'dup2', 2)
----
-- 42601 18 syntax error at or near "a"
drop owned by by a, session_user cascade
----
-- 42601 8 syntax error at or near "select"
select select * from t order by a
----
-- 42601 29 syntax error at or near "zone"
select 'infinity':: at time zone 'bar', 'infinity'::timestamp at time zone interval '1 mon', '-infinity'::timestamptz at time zone 'bar', 'infinity'::timestamptz at time zone interval '1 mon'
----
-- 42601 22 syntax error at or near "functional"
select f3(functional functional) from functional
----
-- 42601 18 syntax error at or near ")"
analyze s.t (ab ,), u
----
-- 42601 50 syntax error at or near ")"
select array_ndims(array[[1,2]] || array[[3,4]]) ), cardinality('{{}}'::int[])
----
-- 42601 17 syntax error at or near "d"
update uv set d d = 1
----
-- 42601 56 syntax error at or near ")"
create table identified (id int primary key, a int not )
----
-- 42601 18 syntax error at or near "twice"
create view view twice as select a, b, a as aa from below
----
-- 42601 8 syntax error at or near ","
select ,id rank() over (order by tz), sum(i) over (order by tz) from w order by id
----
-- 42601 34 syntax error at or near "max"
select max(id) from a having max max(id) > 1000
----
-- 42601 13 syntax error at end of input
select ( (1)
----
-- 42601 24 syntax error at or near "f"
drop function function f, s.g(int, text), h()
----
-- 42601 12 syntax error at or near "as"
(with a as as (select 1) select * from a) union select 2
----
-- 42601 8 syntax error at or near "classed"
ALTER  classed ADD UNIQUE USING INDEX classed_a
----
-- 42601 109 syntax error at or near "all"
select a.id, b.id from a left join b on b.id = any (select c.id from b c where c.a_id = a.id) and b.w > all all (select 1) order by 1, 2
----
-- 42601 151 syntax error at or near "("
create table x (a date default '01/02/2020', b timestamptz default '01/02/2020 03:04', c date check (c <> '03/02/2020'),
    d bool generated always  (a = '01/02/2020') stored)
----
-- 42601 63 syntax error at or near ")"
select a and b and c or d or e and not f, not not a, (a or b) ) and (c or d), not (a and b), (a and b) and c, a and (b and c), (a or b) or c
----
-- 42601 57 syntax error at or near "rollup"
select a from t group by "cube" (a), "rollup" (b), cube rollup
----
-- 42601 8 syntax error at or near "to"
grant  to alice
----
-- 42601 18 syntax error at end of input
set session  z_cr
----
-- 42601 100 syntax error at or near "]"
select array[1, 2], array[]::int[], array[[1, 2], [3, 4]], array[array[1], array[2]], array[[[1]] ]], array(select 1), (array[1, 2])[1], array[(1), (2)], array[[]], array(values (1))
----
-- 42601 8 syntax error at or near "v"
insert v into (b) values ('no key')
----
-- 42601 8 syntax error at or near "select"
select select @ -5.0
----
-- 42601 12 syntax error at or near "select"
select id, select( count(*) from u where u.t_id = t.id) from t order by id
----
-- 42601 8 syntax error at or near "on"
grant  on t to a
----
-- 42601 26 syntax error at or near "over"
select id, ntile( (null) over (order by id) from w
----
-- 42601 31 syntax error at or near "with"
create temp table t as table  with data
----
-- 42601 15 syntax error at or near "zone"
set time zone zone -5
----
-- 42601 123 syntax error at or near "order"
select o.v from fo o where o.m < case when o.a = o.m then o.f else o.f end union select p.v from fp p where 1 < p.m order order by 1
----
-- 42601 3 syntax error at or near "selectselect"
( selectselect 1 limit 0)
----
-- 42601 65 syntax error at or near "','"
copy s.t (a, b) from 'file' with (format csv, headerdelimiter , ',', null '', quote '"', escape '\', force_not_null (a, b), encoding 'utf8', freeze false)
----
-- 42601 16 syntax error at or near "a"
alter table t  a to b
----
-- 42601 36 syntax error at or near "="
select * from l a join l b on aid. = b.id - 1 order by 1
----
-- 42601 21 syntax error at or near "to"
alter table  rename to u
----
-- 42601 22 syntax error at or near "c"
insert into ident ( (c) values (1) returning *
----
-- 42601 61 syntax error at end of input
select * from ( (a cross join b) cross join (c cross join d)
----
-- 42601 1 syntax error at or near "domain"
domain drop if exists d
----
-- 42601 60 syntax error at or near "preceding"
select x, count(*) over (order by x range range between 10 preceding and 10 following) from (values (-9223372036854775808::int8), (-9223372036854775805), (9223372036854775800), (9223372036854775807)) v(x)
----
-- 42601 15 syntax error at or near "("
drop cast if  (s.t as int) cascade
----
-- 42601 22 syntax error at or near "t"
create index on expr t ((a || ' ' || b))
----
-- 42601 32 syntax error at or near "select"
select (with a as ( (select 1) select * from a)
----
-- 42601 42 syntax error at or near "u"
alter table t detach partition partition u
----
-- 42601 25 syntax error at or near "'b'"
select jsonb '{"a":1}'  'b'
----
-- 42601 8 syntax error at or near "on"
grant  on pt to pq_a
----
-- 42601 37 syntax error at or near "a"
select count(*), sum(i.id), count(a a.n) from items i left join asked a on a.n = i.kind - 1 where i.id <= 900
----
-- 42601 12 syntax error at or near ","
select (1, , 'a') >= (1, 'A')
----
-- 42601 29 syntax error at or near "index"
alter table con add unique  index con_b
----
-- 42601 23 syntax error at or near "5"
fetch forward forward 5 from c
----
-- 42601 36 syntax error at or near "x"
select * from v1 where a > 0 and x x::int > 7
----
-- 42601 2 syntax error at or near "role"
 role r in database d set x from current
----
-- 42601 27 syntax error at or near ")"
select array_removenull, 1)
----
-- 42601 12 syntax error at or near "s"
comment on s type.t is 'x'
----
-- 42601 8 syntax error at or near "twice"
create twice view as select a, b, a as aa from below
----
-- 42601 2 syntax error at or near "n"
 n, n2, rank() over (order by n::text), rank() over (order by n + n2) from w order by id
----
-- 42601 1 syntax error at or near "procedure"
procedure alter p rename to q
----
-- 42601 55 syntax error at or near "deferredvalidate"
alter table t alter constraint x deferrable initially deferredvalidate , constraint y, drop constraint z cascade, drop constraint if exists w
----
-- 42601 16 syntax error at or near "constraint"
alter domain d constraint add c check (value > 0) not valid
----
-- 42601 47 syntax error at or near ","
select array_agg(x) from (values (1), (null), , (3)) v(x)
----
-- 42601 2 syntax error at or near "admin"
 admin option for a, b from c granted by current_user cascade
----
-- 42601 75 syntax error at or near "where"
select pg_describe_object('pg_attrdef'::regclass, oid, 0) pg_attrdef from where adrelid='t'::regclass
----
-- 42601 12 syntax error at or near "nosuch"
comment on nosuch schema is 'x'
----
-- 42601 37 syntax error at or near "primary"
create table parent (id int primary primary key)
----
-- 42601 118 syntax error at or near ")"
with recursive w1(c1) as (with w2(c2) as (select 1) select c2 + 1 from w2 union all select c1 + 1 from w1 where c1 < ) select * from w1
----
-- 42601 38 syntax error at end of input
alter table products add column  text
----
-- 42601 10 syntax error at or near "add"
 table i add primary key (a) deferrable
----
-- 42601 58 syntax error at or near "$"
prepare by_mood(mood) as select id from person where m = $order 1 by id
----
-- 42601 31 syntax error at or near "0"
select * from t where 'true'  0
----
-- 42601 36 syntax error at or near "*"
select (with a as (select 1 select * from a)
----
-- 42601 19 syntax error at or near "stdin"
copy t from stdin stdin using delimiters ','
----
-- 42601 10 syntax error at or near "nosuch"
reindex  nosuch
----
-- 42601 29 syntax error at or near "from"
select json_object_agg(k, v from (values (null, 1)) t(k, v)
----
-- 42601 42 syntax error at or near "a"
grant execute on function f(int), sg. to a
----
-- 42601 28 syntax error at or near "u"
alter trigger t on depends u on extension x
----
-- 42601 25 syntax error at or near ","
insert into fk2 values (,1 null)
----
-- 42601 21 syntax error at or near "'ab%'"
select 'abc':: like 'ab%'
----
-- 42601 15 syntax error at or near "("
select mod mod(null, 2)
----
-- 42601 60 syntax error at or near ")"
alter subscription s refresh publication with (copy_data = )true
----
-- 42601 9 syntax error at or near "="
select  = all (select 'x'::text)
----
-- 42601 25 syntax error at or near "partition"
alter table if exists t partition detach u finalize
----
-- 42601 43 syntax error at or near "y"
select y.k from wn_t0 s left join wn_t2 y y on 3 = y.a where 3 = y.a order by 1
----
-- 42601 1 syntax error at or near "@"
@ select -5.0
----
-- 42601 37 trailing junk after numeric literal at or near "1select"
create table t as with a as (select 1select ) * from a
----
-- 42601 19 syntax error at or near "in"
fetch prior prior in c
----
-- 42601 8 syntax error at or near "SELECT"
SELECT SELECT enum_last(NULL::e)
----
-- 42601 14 syntax error at or near "insert"
copy (insert insert into t values (1) returning *) to stdout
----
-- 42601 25 syntax error at or near ","
select t1, '(1,2)'::t1, , row(1, 2)::t1 from t1 order by a
----
-- 42601 53 syntax error at or near "::"
select '{1,2}'::_int4 as a, array['a']::_text as b, ::'{}'_int2 as c, '{x}'::_name as d, pg_typeof('{1}'::_numeric)
----
-- 42601 17 syntax error at or near "t"
explain delete  t
----
-- 42601 1 syntax error at or near "t"
t update set (a, b) = 1
----
-- 42601 13 syntax error at or near "into"
insert into into t values (1) returning *, a + 1 as b, t.*
----
-- 42601 40 syntax error at or near "t"
create unique index if not exists t_a  t (a)
----
-- 42601 24 unrecognized role option "pqc"
create role connection pqc limit -2
----
-- 42601 1 syntax error at or near "placed"
placed update set c = array['x', 'y']::text[]
----
-- 42601 127 syntax error at or near "1"
select indexname, indexdef from pg_indexes where tablename = 't' and indexname in ('test1_id', 'mm', 'un', 'inc') order by by 1
----
-- 42601 62 syntax error at or near "for"
select a from t order by a fetch first $1 rows with ties for for share
----
-- 42601 2 syntax error at or near "ins"
 ins(7, 50)
----
-- 42601 31 syntax error at or near "."
select id, (select 1 where o. .k is null) from o order by id
----
-- 42601 19 syntax error at or near "over"
select id, (rank) over (order by y), sum(i) over (order by y) from w order by id
----
-- 42601 16 syntax error at or near "union"
select 1 union union (select 2 union select 3)
----
-- 42601 179 syntax error at or near ")"
select a, count(*) over (order by b, a rows between unbounded preceding and current row), count(*) over (order by b, a range between unbounded preceding and current row), count*() over (order by b, a) from wf order by a
----
-- 42601 57 syntax error at or near "where"
create view ww as select x as k, y as l, z from w where where x > 5
----
-- 42601 31 syntax error at or near ")"
select * from (a join b on c) ) as x
----
-- 42601 2 syntax error at or near "first"
 first c
----
-- 42601 39 syntax error at or near ")"
create table t (a int) inherits (u, s.)
----
-- 42601 23 syntax error at or near "having"
select max(id) a from having max(id) > 1000
----
-- 42601 1 syntax error at or near "all"
all grant on t to public
----
-- 42601 18 syntax error at or near "set"
alter view v set set (security_barrier = true)
----
-- 42601 18 syntax error at or near "enable"
alter  trigger x enable replica
----
-- 42601 2 syntax error at or near "view"
 view v reset (security_barrier)
----
-- 42601 16 syntax error at or near "from"
select count(* from pg_range where rngtypid = 'int4range'::regtype
----
-- 42601 89 syntax error at or near ">"
create aggregate a (basetype = int, sfunc = f, stype = int, sortop = operator(pg_catalog>), x = none, y = setof int)
----
-- 42601 24 syntax error at or near "force"
drop database d (force force, force)
----
-- 42601 30 syntax error at or near "f"
comment on operator family f f using btree is 'x'
----
-- 42601 1 syntax error at or near "type"
type drop _pqmood
----
-- 42601 35 syntax error at or near ")"
select plainto_tsquery('english', )'The Fat Rats'
----
-- 42601 29 syntax error at or near ","
drop aggregate a(int), s.b(*,) c(int order by text)
----
-- 42601 17 subquery in FROM must have an alias
-- hint: For example, FROM (SELECT ...) [AS] foo.
select u.y from (select 1 as y) ) t
----
-- 42601 22 syntax error at or near "*"
select p.nm, count( (*) from pkt p join t2 on true group by p.id order by 1
----
-- 42601 14 syntax error at or near "template"
create text  template t (lexize = f)
----
-- 42601 25 syntax error at or near "n"
select * from sized  by n
----
-- 42601 11 syntax error at or near "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggghhhhh"
select *  aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggghhhhh
----
-- 42601 2 syntax error at or near "work"
 work and chain
----
-- 42601 10 syntax error at or near "aggregate"
comment  aggregate a(int, text) is 'x'
----
-- 42601 17 syntax error at or near "constraint"
alter table def constraint add c13 check (a not in (1, 2))
----
-- 42601 43 syntax error at or near "="
create publication p for all tables with (= publish 'insert')
----
-- 42601 18 syntax error at or near ","
update d set (a, , b) = ((default), 7) where b = 3
----
-- 42601 51 syntax error at or near "b"
select o.v from fo o where o.a = (select min(s1.b b) from fp s1 where s1.z) except select p.v from fp p where (p.b >= p.m or p.b >= (p.m - p.m)) order by 1
----
-- 42601 186 syntax error at or near "distinct"
select (1, null) is distinct from (1, null), (1, null) is not distinct from (1, null), (1, 2) is distinct from (1, null), row(1) is not distinct from row(1), row(1, 2, 'x') is distinct distinct from row(1, 2, 'y')
----
-- 42601 1 syntax error at or near "view"
view drop t
----
-- 42601 25 syntax error at or near "select"
select m, count(*) from select( max(k) over (order by d) m from w1) q group by m order by m
----
-- 42601 30 syntax error at or near "::"
select '"Mixed"'::regclass:: ::text
----
-- 42601 36 syntax error at or near ")"
insert into t1 (id, u) values (11, )1 on conflict on constraint t1_pkey do nothing returning id
----
-- 42601 9 syntax error at or near "session"
set set session session authorization a
----
-- 42601 91 syntax error at or near ")"
create table p (no int primary key, name text default 'none', price numeric(10,2) default )9.99
----
-- 42601 22 syntax error at or near "<"
select name, now() - < prepare_time interval '1 hour' from pg_prepared_statements
----
-- 42601 37 syntax error at or near "null"
select json_populate_recordset(null null::t1, '[{"a": 1}, {"b": "c"}]')
----
-- 42601 163 syntax error at or near "v"
select count(*) over (order by x range between 'infinity' preceding and 'infinity' following)
  from (values ('-infinity'::float8), ('infinity'), (2), ('nan')) v v(x)
----
-- 42601 58 syntax error at or near "transaction"
begin isolation level repeatable read; select 1; set set transaction snapshot 'x'; rollback
----
-- 42601 7 syntax error at or near "s"
alter s sequence rename to t
----
-- 42601 8 syntax error at or near "z_evil"
create z_evil role login in group z_super
----
-- 42601 19 syntax error at or near "."
comment on column .ta is 'its key'
----
-- 42601 13 syntax error at or near "t"
table alter t set schema public
----
-- 42601 11 syntax error at or near "by"
reassign  by r1b to postgres
----
-- 42601 20 syntax error at or near "is"
comment on column  is 'x'
----
-- 42601 74 syntax error at or near ")"
grant select (a, b), insert (c), update, delete, truncate, references (d,) trigger on t to a granted by current_user
----
-- 42601 44 syntax error at or near "*"
select generate_series(1, a) as g, count( (*) from t group by generate_series(1, a) order by 1
----
-- 42601 2 syntax error at or near "type"
 type t add value 'c' after 'b'
----
-- 42601 17 syntax error at or near "d"
drop database d d (force, force)
----
-- 42601 21 syntax error at or near "c"
create text search  c (parser = default)
----
-- 42601 8 syntax error at or near "f"
create f function(int, double precision, setof text) returns setof s.t language plpgsql stable called on null input security invoker not leakproof as 'x'
----
-- 42601 75 syntax error at or near "1"
create view w28 as select a from p where a in (select a from q where q.x  1)
----
-- 42601 45 syntax error at or near "a"
select a, count(*) from nothing group by by a, ()
----
-- 42601 17 syntax error at or near "a"
alter role all  a.b = on
----
-- 42601 27 syntax error at or near "s"
drop subscription  exists s
----
-- 42601 27 syntax error at or near "extension"
alter index x no depends  extension y
----
-- 42601 30 syntax error at or near "="
select id from far where d = = t order by id
----
-- 42601 83 syntax error at or near ")"
select regr_sxx(y, x) from (values (1::float8, 1e200::float8), (2, -1e200)) v (y, )
----
-- 42601 25 syntax error at or near "x"
alter collation c owner x to
----
-- 42601 9 syntax error at or near "reindex"
reindex reindex table nosuch
----
-- 42601 16 syntax error at or near "not"
alter domain d not drop null
----
-- 42601 72 syntax error at or near ","
select power(2, 10), power(2.0, 3), 2 ^ 3, 2.0 ^ 0.5, 2::float8 ^ 0.5, , power(0, 0), power(0, -1)
----
-- 42601 2 syntax error at or near "role"
 role r1
----
-- 42601 29 syntax error at or near "'a '"
select name 'a' = name name 'a ' as same, name 'abc'
----
-- 42601 35 syntax error at or near "if"
alter domain d drop constraint if if exists c cascade
----
-- 42601 16 syntax error at or near "id"
insert into t1 id, u) values (11, 1) on conflict on constraint t1_pkey do nothing returning id
----
-- 42601 8 syntax error at or near ","
select , 'it''s', e'a\nb\\c\'', E'\x41\101\u0041', u&'\0041', U&'!0041' uescape '!', n'abc', $$a'b$$, $x$a$$b$x$, b'101', x'1F', B'', ''
----
-- 42601 2 syntax error at or near "collation"
 collation c from pg_catalog."x"
----
-- 42601 5 syntax error at or near "'b'"
set 'b' role
----
-- 42601 8 syntax error at or near "grant"
create grant on schema z_s to z_adm
----
-- 42601 78 syntax error at or near ")"
select id, sum(pay) over (order by id rows between  preceding and 1 following) from w order by id
----
-- 42601 61 syntax error at or near "<="
update arr set i = i || 10, t = array_append(t, 'z') where  <= 2 returning id, i, t
----
-- 42601 167 syntax error at or near "="
select case when exists (select 1 from c where c.sid = s.id and c.id > 2) then n else 'none' end, count(*) from s group by case when exists (select 1 from c where c. = s.id and c.id > 2) then n else 'none' end order by 1
----
-- 42601 72 syntax error at or near "2"
select array[[1,2],[3,4]], array[array[1,2], array[3,4]], array[[[1],[]2],[[3],[4]]]
----
-- 42601 64 syntax error at or near ","
select count(*) from sales group by cube (id, region, product, , year, amount, n), cube (id, region, product, year, amount, n), cube (id)
----
-- 42601 27 syntax error at or near "role"
alter default privileges  role owner1 revoke select on tables from reader
----
-- 42601 8 syntax error at or near "create"
create create table t (a int, check (a > 0), constraint x check (a > 1) no inherit, constraint y check (a > 2) not valid)
----
-- 42601 8 syntax error at or near ","
select ,x (select k from (select count(*) c, 'k' k from u where u.t_id = n.x) q) from n order by 1
----
-- 42601 11 syntax error at or near "names"
set names names default
----
-- 42601 42 syntax error at or near "null"
select * from current_date as d where d  null
----
-- 42601 13 syntax error at or near "table"
insert into table t u
----
-- 42601 113 syntax error at or near "["
select quote_literal('ab'::char(4)), quote_nullable('a'::char(3)), quote_nullable(null::char(3)), quote_literal([array'a'::char(3)]), format('%L', 'a'::char(3))
----
-- 42601 26 syntax error at or near "with"
drop database if exists  with (force)
----
-- 42601 9 syntax error at or near "v_agg"
delete  v_agg
----
-- 42601 34 syntax error at or near "*"
select h.b from held * as h join *held k using (a) order by 1
----
-- 42601 65 syntax error at or near "true"
with recursive a as (select 1 union all select 2) cycle n set m true to default false using p select 1
----
-- 42601 24 syntax error at or near "select"
delete from held using select( x from seen where x = held.a) s
----
-- 42601 17 syntax error at or near "r"
alter routine r r(int) parallel restricted
----
-- 42601 8 syntax error at or near "insert"
insert insert into t values (1) on conflict on constraint x do update set (a, b) = (select 1, 2)
----
-- 42601 86 syntax error at or near "0"
select id from compared where b between symmetric 10 and 3 and a between symmetric 0 0 and 6 or t = 'b' order by id
----
-- 42601 16 syntax error at or near "partition"
alter index x  partition y
----
-- 42601 32 syntax error at or near "force"
drop database if exists d with force)
----
-- 42601 8 syntax error at or near "select"
select select @ '1'
----
-- 42601 16 syntax error at or near "b"
update v set b b = (select max(b) from w where w.x = v.a) where a = 71 returning b
----
-- 42601 101 syntax error at or near "("
create view w47 as select b, d, grouping(b, d), count(*) from p group by grouping sets ((b), (b, d) ())
----
-- 42601 16 syntax error at or near "absolute"
fetch absolute absolute -99 from c
----
-- 42601 53 syntax error at or near ")"
insert into keyed values ('{1,2}', 'a'), ('{1}''b' ,), ('{}', 'c'), ('{1,2,3}', 'd')
----
-- 42601 2 syntax error at or near "on"
 on publication p is 'x'
----
-- 42601 20 syntax error at or near ")"
select array[1,2,3])[4]
----
-- 42601 26 syntax error at or near "a"
select a from lo_a order a by a desc
----
-- 42601 25 syntax error at or near "from"
fetch backward backward from c
----
-- 42601 45 syntax error at or near "WHERE"
SELECT datname, usename, state, query FROM  WHERE pid = pg_backend_pid()
----
-- 42601 12 syntax error at or near "on"
comment on on table t is 'x'
----
-- 42601 52 syntax error at or near "="
create operator + (leftarg = int, rightarg = int,  = f, commutator = +, negator = operator(s.-), hashes, merges)
----
-- 42601 79 syntax error at or near "b"
create text search dictionary d (template = simple, stopwords = 'x', a = 1, b b = s.c)
----
-- 42601 30 syntax error at or near "from"
select id from l where a is  from 10 order by 1 nulls first
----
-- 42601 24 syntax error at or near "t"
comment on text search t template is 'x'
----
-- 42601 33 syntax error at or near "'x'"
update placed set c = array['x' 'x', 'y']::text[]
----
-- 42601 1 syntax error at or near "on"
on comment trigger x on s.t is 'x'
----
-- 42601 32 syntax error at or near ","
insert into colwritten values (, 2, 'x')
----
-- 42601 76 syntax error at or near "1"
create text search dictionary d (template = simple, stopwords = 'x', a = = 1, b = s.c)
----
-- 42601 102 syntax error at or near "is"
select count(*) from goods g, sales s, days d where g.id = s.goods and d.day = s.day + 1 and kind is is null
----
-- 42601 8 syntax error at or near "products"
alter  products alter column qty type bigint
----
-- 42601 176 syntax error at end of input
select enum_first( (null::mood), enum_last(null::mood), enum_range(null::mood), enum_range('ok'::mood, null), enum_range(null, 'ok'::mood), enum_range('sad'::mood, 'ok'::mood)
----
-- 42601 11 syntax error at or near "default"
set time  default
----
-- 42601 107 syntax error at or near "$"
prepare r(int, int) as select count(*), sum(i.id) from asked a join items i on i.kind = a.kind where i.id $ between1 and $2 and a.n = 2
----
-- 42601 61 syntax error at or near "a"
create view v05 as select j.a, t.b, u.c from t join u using a) as j
----
-- 42601 107 syntax error at or near ","
create table t (a int) partition by list (a) using heap with (fillfactor = 70, toast.autovacuum_enabled = ,false x) tablespace y
----
-- 42601 41 syntax error at or near "."
select * from l a join l b on a.id = b. .id - 1 order by 1
----
-- 42601 45 syntax error at or near "2"
insert into parent values (1, 'm@x', 'S1'), 2(, 'n@x', 'S2')
----
-- 42601 12 syntax error at or near "select"
prepare p  select 1
----
-- 42601 95 syntax error at or near "'r'"
select column_name, column_default from information_schema.columns where table_schema in ('q' 'r') order by table_name, 1
----
-- 42601 61 syntax error at or near "."
create publication p for table only t (a, b) where (a > 1), .su, tables in schema x, current_schema
----
-- 42601 72 syntax error at or near "returning"
update span set i = i + interval '1 us', y = y * 2 where i '2 hours' = returning *
----
-- 42601 9 syntax error at or near "cps"
create  cps
----
-- 42601 12 syntax error at or near "for"
declare c  for select 1
----
-- 42601 1 syntax error at or near "function"
function alter f(int) immutable strict cost 5
----
-- 42601 73 syntax error at or near "generate_series"
create view x34 as select p.a from p cross join lateral generate_series generate_series(1, p.a) as g(i) where g.i > 1
----
-- 42601 31 syntax error at or near "2"
(select 1 limit 1) union all (2 select order by 1 limit 1)
----
-- 42601 31 syntax error at or near "current_role"
grant a, b to c, current_role current_role with admin option granted by d
----
