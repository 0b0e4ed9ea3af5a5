-- What the catalog says of what needs what, and of the triggers of FOREIGN KEYs.
create schema sd;
create type dm as enum ('a');
create table sd.dt (a int primary key, b serial, c dm default 'a', d int generated always as identity,
  e int generated always as (a + 1) stored, f varchar(5) unique, constraint ck check (a > 0 and f <> ''));
create index on sd.dt (f, a);
create index on sd.dt (lower(f)) where a > 1;
create unique index on sd.dt (b) include (f);
create table sd.du (x int references sd.dt (a) on delete cascade on update set null deferrable initially deferred, y varchar(3) default 'x',
  z varchar(5) references sd.dt (f));
create view sd.dv as select a, f from sd.dt where b = 1;
create view sd.dw as select dv.a, x from sd.dv, sd.du;
create sequence sd.s1;
alter sequence sd.s1 owned by sd.du.x;
with named as (
  select 'pg_class'::regclass as class, oid, oid::regclass::text as name from pg_class where relnamespace = 'sd'::regnamespace
  union all select 'pg_constraint'::regclass, oid, conname::text from pg_constraint where connamespace = 'sd'::regnamespace
  union all select 'pg_type'::regclass, oid, typname::text from pg_type where typname in ('dm', '_dm')
  union all select 'pg_namespace'::regclass, oid, nspname::text from pg_namespace where nspname in ('sd', 'public')
  union all select 'pg_rewrite'::regclass, r.oid, c.relname || ' rule' from pg_rewrite r join pg_class c on c.oid = ev_class and relnamespace = 'sd'::regnamespace
  union all select 'pg_attrdef'::regclass, d.oid, c.relname || ' default ' || adnum from pg_attrdef d join pg_class c on c.oid = adrelid and relnamespace = 'sd'::regnamespace
  union all select 'pg_trigger'::regclass, t.oid, c.relname || ' ' || p.conname || ' trigger ' || tgtype from pg_trigger t join pg_class c on c.oid = tgrelid join pg_constraint p on p.oid = tgconstraint)
select o.class, o.name, objsubid, r.class, r.name, refobjsubid, deptype from pg_depend
  join named o on o.class = classid and o.oid = objid join named r on r.class = refclassid and r.oid = refobjid
  where o.name <> 'dt default 3'
  order by o.class::text, o.name, objsubid, r.class::text, r.name, refobjsubid, deptype;
select tgname = 'RI_ConstraintTrigger_' || case when tgtype in (9, 17) and tgrelid = confrelid then 'a' else 'c' end || '_' || t.oid as named,
  tgrelid::regclass, conname, tgfoid, tgtype, tgenabled, tgisinternal, tgconstrrelid::regclass, tgconstrindid::regclass, tgdeferrable,
  tginitdeferred, tgnargs, tgattr, tgqual is null as unconditional
  from pg_trigger t join pg_constraint c on c.oid = tgconstraint order by 3, 2, 4;
select * from pg_language where lanname <> 'plpgsql' order by oid;
select trigger_name from information_schema.triggers;
\d sd.dt
\d sd.du
drop schema sd cascade;
select count(*) from pg_trigger;
drop type dm;
