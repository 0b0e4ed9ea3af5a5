-- COMMENT ON.
create table t (a int primary key, b text check (length(b) > 0), c int unique);
create index t_b on t (b);
create view v as select a, b from t;
create sequence s;
create schema n;
create role r;
comment on table t is 'the table''s comment';
comment on column t.a is 'its key';
comment on column public.t.b is E'two\nlines';
comment on column v.a is 'of a view';
comment on view v is 'a view';
comment on index t_b is 'an index';
comment on index t_pkey is 'index of the key';
comment on constraint t_pkey on t is 'the key';
comment on constraint t_b_check on t is 'not empty';
comment on sequence s is 'numbers';
comment on schema n is 'a schema';
comment on role r is 'a role';
comment on database postgres is 'a database';
select obj_description('t'::regclass), obj_description('t'::regclass, 'pg_class'), obj_description('t'::regclass, 'pg_type');
select col_description('t'::regclass, 1), col_description('t'::regclass, 2), col_description('t'::regclass, 3), col_description('t'::regclass, 0);
select obj_description(oid, 'pg_constraint') from pg_constraint where conrelid = 't'::regclass order by conname;
select shobj_description(oid, 'pg_database') from pg_database where datname = 'postgres';
select shobj_description(oid, 'pg_authid') from pg_roles where rolname = 'r';
select c.relname, d.objsubid, d.description from pg_description d join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
  where c.relname in ('t', 'v', 't_b', 't_pkey', 's') order by 1, 2;
\d+ t
\d+ v
\dv+
\dn+ n
\dd
comment on table t is null;
comment on column t.a is '';
comment on schema public is null;
select obj_description('t'::regclass), col_description('t'::regclass, 1), obj_description('public'::regnamespace, 'pg_namespace');
comment on table nosuch is 'x';
comment on table v is 'x';
comment on view t is 'x';
comment on index t is 'x';
comment on index nosuch is 'x';
comment on sequence t is 'x';
comment on column t.nosuch is 'x';
comment on column nosuch.a is 'x';
comment on column a is 'x';
comment on constraint nosuch on t is 'x';
comment on schema nosuch is 'x';
comment on database nosuch is 'x';
comment on role nosuch is 'x';
comment on table t is 5;
begin;
comment on table t is 'rolled back';
select obj_description('t'::regclass);
rollback;
select obj_description('t'::regclass);
alter table t rename column c to cc;
comment on column t.cc is 'stays';
alter table t rename column cc to d;
select col_description('t'::regclass, 3);
alter table t drop column d;
select count(*) from pg_description where objoid = 't'::regclass;
drop view v;
drop role r;
drop schema n;
-- Types and functions.
create type feeling as enum ('sad');
comment on type feeling is 'how it is';
select obj_description('feeling'::regtype, 'pg_type');
comment on type feeling is null;
select obj_description('feeling'::regtype, 'pg_type');
comment on type nosuch is 'x';
comment on function nosuch() is 'x';
comment on function nosuch(int, text[], feeling) is 'x';
comment on function upper(int) is 'x';
comment on aggregate nosuch(int) is 'x';
comment on procedure nosuch(int) is 'x';
comment on function f(nosuch) is 'x';
drop function nosuch();
drop function nosuch(int, numeric(3,2));
drop function nosuch;
drop function if exists nosuch(), other(text), bare;
drop type feeling;
