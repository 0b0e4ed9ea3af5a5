-- Typical mistakes: one a line. `record.py` asks PostgreSQL about them.
selec 1
  from where
select 1 +
select 1 + + 
select * from
select * from t where
select * from t where a =
select * from t where a = = b
select a, from t
select ,a from t
select a b c from t
select a as from t
select a as b c from t
select 1 from t t t
select * form t
select * from t wher a
select * from t order a
select * from t group a
select * from t order by
select * from t group by
select * from t order by a desc asc
select * from t limit
select * from t limit 1, 2
select * from t limit 1 limit 2
select * from t offset 1 offset 2
select * from t limit 1 order by a
select * from t fetch first row with ties
select * from t fetch first row
select * from t for
select * from t for update of
select * from t having
select * from t where a where b
select * from t join u
select * from t left u
select * from t join u on
select * from t join u using
select * from t join u using a
select * from t join u using ()
select * from t natural join u on a
select * from t cross join u on a
select * from t outer join u on a
select * from (select 1)
select * from (values (1))
select * from (t)
select * from (t) x
select * from lateral t
select * from f(1
select * from f(1) as a (b int, c)
select (1
select 1)
select ((1)
select (1))
select ()
select [1]
select a[
select a[]
select a[1
select a[1:2:3]
select array
select array[1
select array(1)
select f(
select f(a,
select f(,a)
select f(a b)
select f(distinct)
select f(*, a)
select f(a, *)
select f(variadic a, b)
select f(a =>)
select count(distinct *)
select f(a) over
select f(a) over (
select f(a) over (order a)
select f(a) over (partition a)
select f(a) over (rows)
select f(a) over (rows between 1 preceding)
select f(a) over (rows unbounded following)
select f(a) over (rows 1 following)
select f(a) over (rows between unbounded following and current row)
select f(a) over (rows between current row and unbounded preceding)
select f(a) over (rows between current row and 1 preceding)
select f(a) over (rows between 1 following and current row)
select f(a) filter (a)
select f(a) within group (a)
select f(distinct a) within group (order by b)
select f(a order by b) within group (order by c)
select f(variadic a) within group (order by b)
select case
select case end
select case when a end
select case when a then end
select case a then b end
select case when a then b
select case when a then b else end
select cast(a)
select cast(a int)
select cast(a as)
select cast(a as select)
select a::
select a::1
select a::int::
select a::"x
select a between 1
select a between 1 and
select a between 1 or 2
select a between b collate "C" || c and d
select a in ()
select a in 1
select a in (1,)
select a not 1
select a is not
select a is 1
select a is distinct b
select a is distinct from
select a like b escape
select a similar b
select not
select a or or b
select a = b = c
select a < b < c
select a <> b != c
select a = any b
select a = any
select a = any ()
select a ilike any
select a between 1 and 2 between 3 and 4
select a like b like c
select exists 1
select exists (1)
select (a, b).c
select (a, b) overlaps c
select (a, b) overlaps (c, d, e)
select (a, b, c) overlaps (d, e)
select row(1) overlaps row(2)
select a overlaps b
select a collate 'C'
select a at time 'x'
select a at time zone
select interval 1
select interval '1' day to year
select interval '1' year to day
select interval(3) '1' year
select timestamp with time zone
select timestamp(-1) '1'
select int 1
select numeric(10 '1'
select float(0) '1'
select float(54) '1'
select a::float(0)
select a::float(60)
select a::time(x)
select extract(a)
select extract(year a)
select extract(select from a)
select extract(from a)
select position(a, b)
select position(a in b in c)
select substring(a from)
select substring(a from b from c)
select overlay(a placing b)
select trim(both)
select trim(from)
select trim(left from a)
select coalesce()
select nullif(a)
select nullif(a, b, c)
select greatest()
select grouping()
select grouping(*)
select treat(a, b)
select normalize(a, b)
select collation a
select current_date()
select current_time(a)
select current_user()
select user()
select *.a
select a.*.b
select * as x
select a.1
select a..b
select .a
select 1a
select 1.5.5
select 1e
select 1_000
select 0x
select 0b12
select $
select $a
select $1a
select 99999999999999999999 limit
select 'a
select 'a' 'b'
select e'\'
select e'\u12'
select e'\uD800'
select e'\U00110000'
select e'\u0000'
select u&'\zzzz'
select u&'\D800'
select u&'a' uescape 'ab'
select u&'a' uescape '0'
select u&'a' uescape
select b'10
select x'
select $$a
select $a$b$$
select "a
select ""
select u&""
select /* a
select /* /* */
  from
select #
select @
select a !
select a @@ 
select ~
select !
select a ? 
select a \ b
select {a}
select `a`
select a;; b
select 1; selec 2
select 1 union
select 1 union all
select 1 union order by 1
select 1 order by 1 union select 2
select 1 limit 1 union select 2
select 1 union select 2 order by 1 union select 3
(select 1
(select 1 order by 1) order by 2
(select 1 limit 1) limit 2
(select 1 offset 1) offset 2
select 1 intersect
select 1 except all
union select 1
values
values ()
values 1
values (1), 
values (1) 2
table
table 1
table (t)
with
with a
with a as
with a as select 1 select 2
with a as () select 1
with a as (select 1)
with a as (select 1), select 2
with a as (select 1) (with b as (select 2) select * from b)
with a as (select 1) create table t (a int)
with recursive
with a as (create table t ()) select 1
with a as materialized select 1
with a as (select 1) search depth by x set y select 1
with a as (select 1) cycle x set m to 1 using p select 1
select into
select a into
select a into t u
(select 1) into t
insert
insert into
insert into t
insert t values (1)
insert into t values
insert into t values 1
insert into t values ()
insert into t (a)
insert into t () values (1)
insert into t (a, ) values (1)
insert into t (a b) values (1)
insert into t (a) default values
insert into t overriding values (1)
insert into t overriding system value default values
insert into t (a) overriding user value default values
insert into t x values (1)
insert into t values (1) on conflict
insert into t values (1) on conflict do
insert into t values (1) on conflict a do nothing
insert into t values (1) on conflict do update set a = 1 where
insert into t values (1) on conflict (a) do update
insert into t values (1) on conflict on constraint do nothing
insert into t values (1) returning
insert into t values (1) returning a b c
insert into only t values (1)
update
update t
update t set
update t set a
update t set a =
update t set a = 1,
update t set a == 1
update t set () = (1)
update t set a = 1 where
update t set a = 1 from
update t x y set a = 1
update t where a set b = 1
update t set a = 1 where current c
update t set a = 1 limit 1
delete
delete t
delete from
delete from t where
delete from t using
delete from t a b
delete from t order by a
delete from t limit 1
delete * from t
merge
merge into t
merge into t using
merge into t using u
merge into t using u on
merge into t using u on a
merge into t using u on a when
merge into t using u on a when matched
merge into t using u on a when matched then
merge into t using u on a when matched then insert values (1)
merge into t using u on a when not matched then update set a = 1
merge into t using u on a when not matched then delete
merge into t using u on a when not matched by source then delete
merge into t using u on a when matched then update
merge into t using u on a when not matched then insert
merge into t using u on a when not matched then insert (a) select 1
merge into t using u on a when not matched then insert values (1), (2)
merge into t using u on a when matched then delete returning *
merge t using u on a when matched then delete
copy
copy t
copy t from
copy t from file
copy t to
copy t from stdin (
copy t from stdin ()
copy t (a from stdin
copy (select 1) from stdin
copy select 1 to stdout
copy t to stdout where a
copy t from stdin with (format)  x
copy t from program cat
truncate
truncate table
truncate t restart
truncate t continue
create
create table
create table t
create table t (
create table t (a)
create table t (a int
create table t (a int,)
create table t (a int b text)
create table t (a int, primary key)
create table t (a int primary)
create table t (a int not)
create table t (a int default)
create table t (a int default a and b)
create table t (a int check)
create table t (a int check a > 0)
create table t (a int references)
create table t (a int references u (a, b) on delete)
create table t (a int references u match partial)
create table t (a int references u on update set null (a))
create table t (foreign key a references u)
create table t (foreign key (a))
create table t (a int, foreign key (a) references u on update set default (a))
create table t (constraint)
create table t (constraint x)
create table t (unique)
create table t (unique ())
create table t (check (a) , )
create table t (exclude (a))
create table t (exclude using gist (a with))
create table t (like)
create table t (like u including)
create table t (like u including x)
create table t (a int generated)
create table t (a int generated always)
create table t (a int generated always as)
create table t (a int generated by default as (1) stored)
create table t (a int generated always as (1))
create table t (a int generated always as identity (x))
create table t (a int) inherits
create table t (a int) inherits ()
create table t (a int) partition by
create table t (a int) partition by range
create table t partition of u
create table t partition of u for values
create table t partition of u for values in
create table t partition of u for values in ()
create table t partition of u for values from (1)
create table t partition of u for values with (modulus 1)
create table t partition of u for values with (x 1, remainder 2)
create table t partition of u for values with (modulus 1, modulus 2)
create table t partition of u for values with ()
create table t (a int) on commit
create table t (a int) on commit x
create table t (a int) with
create table t (a int) with ()
create table t (a int) with oids
create table t (a int) tablespace
create table if exists t (a int)
create table if not t (a int)
create table t (a int) as select 1
create table t as
create table t as insert into u values (1)
create table t as select 1 with
create table t as select 1 with no
create or replace table t (a int)
create temp unlogged table t (a int)
create table select (a int)
create table t (select int)
create table a.b.c.d (a int)
create table t (a int check (a > 0) no inherit no inherit)
create table t (check (a) deferrable)
create table t (check (a) initially deferred)
create table t (unique (a) no inherit)
create table t (unique (a) not valid)
create table t (unique (a) not deferrable initially deferred)
create table t (foreign key (a) references u no inherit)
create view
create view v
create view v as
create view v as insert into t values (1)
create view v as select 1 with
create view v as select 1 with check
create view v () as select 1
create recursive view v as select 1
create recursive view v (a) as select 1 with check option
create materialized view v
create or replace materialized view v as select 1
create temp materialized view v as select 1
create index
create index on
create index on t
create index on t ()
create index on t (a
create index on t a
create index on t (a + 1)
create index on t (a) where
create index on t (a) include
create index if not exists on t (a)
create index x y on t (a)
create unique on t (a)
create index on t using (a)
create sequence
create sequence s increment
create sequence s start x
create sequence s no
create sequence s owned t
create sequence if exists s
create schema
create schema if not exists s create table t ()
create schema s drop table t
create statistics x on from t
create statistics on a from t
create statistics x on a
create type
create type t as
create type t as enum
create type t as enum (a)
create type t as enum ('a',)
create type t as (a)
create type t as (a int not null)
create type t as range
create type t ()
create domain d
create domain d as
create domain d int default
create domain d int check
create function
create function f
create function f() returns
create function f( returns int as 'x'
create function f(a) returns table
create function f(a int,) returns int as 'x'
create function f() returns int as
create function f() returns int as x
create function f() returns int language
create function f(a int default) returns int as 'x'
create function f() returns table () as 'x'
create function f() returns int begin select 1; end
create function f() returns int immutable immutable_
create function f() returns int return
create procedure p
create procedure p() returns int as 'x'
create aggregate a
create aggregate a (int)
create aggregate a ()
create operator
create operator + 
create operator x (function = f)
create cast (int as text)
create cast (int) with function f
create cast int as text without function
create trigger
create trigger x
create trigger x before on t execute function f()
create trigger x before insert t execute function f()
create trigger x before insert on t
create trigger x before insert on t execute f()
create trigger x before insert on t execute function f
create trigger x before insert on t for each execute function f()
create trigger x before insert on t when a execute function f()
create trigger x before insert or insert on t execute function f()
create trigger x before insert, update on t execute function f()
create trigger x before select on t execute function f()
create constraint trigger x before insert on t for each row execute function f()
create constraint trigger x after insert on t execute function f()
create trigger x after insert on t deferrable execute function f()
create constraint trigger x after insert on t not valid for each row execute function f()
create constraint trigger x after insert on t not deferrable initially deferred for each row execute function f()
create event trigger x
create event trigger x on y when execute function f()
create policy p
create policy p on t for x
create policy p on t as x
create policy p on t using a
create rule r
create rule r as on insert to t
create rule r as insert to t do nothing
create rule r as on insert to t do
create rule r as on x to t do nothing
create extension
create extension x version
create extension x from '1'
create publication
create publication p for
create publication p for table
create publication p for tables
create publication p for t
create publication p for all
create publication p for all tables, table t
create publication p for tables in schema a (b)
create publication p for table t, tables in schema x where (a)
create subscription s
create subscription s connection 'x'
create subscription s connection x publication p
create role
create role r password
create role r password x
create role r connection
create role r x
create role none
create role public
create role current_user
create user
create database
create database d owner
create database d with x
create assertion a check (true)
create unique table t ()
create foo
alter
alter table
alter table t
alter table t add
alter table t add column
alter table t add a
alter table t add column if not exists
alter table t drop
alter table t drop if exists
alter table t drop a b
alter table t alter
alter table t alter a
alter table t alter a set
alter table t alter a type
alter table t alter a int
alter table t alter a set default
alter table t alter a set not
alter table t alter a drop
alter table t alter a set statistics x
alter table t alter a set storage
alter table t modify a int
alter table t rename
alter table t rename to
alter table t rename a
alter table t rename a b
alter table t rename column to b
alter table t rename to u, rename to v
alter table t add check
alter table t add constraint
alter table t drop constraint
alter table t enable
alter table t enable trigger
alter table t disable row level
alter table t owner
alter table t owner x
alter table t set
alter table t set schema
alter table t attach partition
alter table t attach partition u
alter table t detach partition u x
alter table t add a int drop b
alter table t alter constraint c not valid
alter table t alter constraint c no inherit
alter index i
alter index i alter column 99999999999 set statistics 1
alter view v
alter sequence s
alter type t
alter type t add
alter type t add value
alter type t add value a
alter type t add value 'a' before
alter type t rename value 'a'
alter type t rename attribute a
alter domain d
alter domain d add
alter domain d set
alter domain d set default
alter domain d rename constraint a
alter function f
alter function f()
alter function f() rename
alter function f(a int default 1) immutable
alter aggregate a rename to b
alter operator + rename to -
alter operator + (int) owner to x
alter role r set
alter role r rename
alter database d rename
alter system
alter system set
alter system set time zone 'x' 
alter default privileges
alter default privileges grant select on t to a
alter schema s
alter schema s set schema x
alter extension e
alter extension e update to
alter collation c
alter statistics s
alter trigger t on u
alter policy p
alter rule r on t
alter language l
alter large object x owner to y
alter event trigger x
alter publication p
alter publication p add
alter subscription s
alter foo
drop
drop table
drop table if exists
drop table if t
drop table t u
drop table t,
drop table t cascade restrict
drop index on t
drop function
drop function f(
drop function f(a int default 1)
drop aggregate a
drop aggregate a()
drop operator
drop operator +
drop operator + (int)
drop operator + ()
drop cast (int)
drop trigger t
drop rule r
drop policy p
drop schema
drop database
drop database a, b
drop database d cascade
drop role
drop role a cascade
drop owned
drop owned a
drop user none
drop foo
drop view v w
drop type t as
reassign owned by a
comment
comment on
comment on t is 'x'
comment on table t
comment on table t is
comment on table t is x
comment on trigger t is 'x'
comment on constraint c is 'x'
comment on operator + is 'x'
comment on function is 'x'
grant
grant select
grant select on
grant select on t
grant select on t to
grant select on to a
grant select, on t to a
grant a b to c
grant select from t to a
grant all on all tables to a
grant select on t to a with admin option
grant a to b with grant option
grant select on function f to
revoke
revoke select on t
revoke select on t to a
revoke grant option on t from a
revoke a
begin foo
begin isolation level
begin isolation level x
begin read
start
start transaction isolation level serializable serializable
commit foo
commit and
commit and chain and chain
rollback to
savepoint
savepoint 1
release
prepare transaction
prepare transaction x
commit prepared
set
set a
set a =
set a to
set a = 1 2
set a = (1)
set a 1
set time zone
set time zone interval '1' day
set time zone interval '1' second(3)
set time zone interval(3) '1' hour
set transaction
set transaction isolation level
set session characteristics
set session characteristics as transaction
set constraints
set constraints all
set constraints a
set role
set names 1
set local
set catalog 'x'
set schema a
set session authorization
set a from
set xml option
reset
reset a b
show
show a b
show all a
prepare
prepare p
prepare p as
prepare p as create table t ()
prepare p () as select 1
execute
execute p(
execute p()
deallocate
deallocate prepare all x
declare
declare c
declare c cursor
declare c cursor for
declare c cursor for insert into t values (1)
declare c cursor with for select 1
declare c for select 1
fetch
fetch 5 6 from c
fetch absolute from c
fetch x y
fetch first from
move
close
close a b
listen
listen a.b
unlisten
notify
notify a 'x'
notify a, x
lock
lock t in mode
lock t in share
lock t in x mode
lock t nowait nowait
discard
discard x
explain
explain foo
explain (analyze select 1
explain () select 1
explain analyze
explain verbose analyze select 1
explain create view v as select 1
explain vacuum
vacuum (
vacuum ()
vacuum (full) verbose t
vacuum t (
vacuum freeze full t
vacuum verbose full
analyze t (
analyze (x
cluster x on
cluster t using
reindex
reindex t
reindex table
reindex index
reindex table concurrently
reindex (verbose table t
load
load x
checkpoint x
call
call p
call p() over ()
do
do x
refresh
refresh materialized
refresh view v
refresh materialized view
end transaction foo
abort foo
select a from t where a in (select 1
foo
123
'abc'
(
)
;;x
a = 1
