-- Joins of catalogs whose keys reach views beneath other joins: nothing is left out that belongs to the result.
set client_min_messages = warning;
create schema cj;
set search_path = cj;
create table one (id int primary key, a text default 'x', b int check (b > 0));
create table two (id int primary key, one_id int references one, c text);
create table three (x int);
create index two_c on two (c);
comment on column one.a is 'a comment';
create view seen as select id, a from one;
create type mood as enum ('low', 'high');
-- An inner join above outer joins.
select c.relname, a.attname, pg_get_expr(d.adbin, d.adrelid) from pg_attribute a
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  join pg_class c on c.oid = a.attrelid where c.relname in ('one', 'three') and c.relnamespace = 'cj'::regnamespace
  and a.attnum > 0 order by 1, 2;
select c.relname, a.attname, s.description from pg_description s
  right join pg_attribute a on s.objoid = a.attrelid and s.objsubid = a.attnum and s.classoid = 'pg_class'::regclass
  join pg_class c on c.oid = a.attrelid where c.relname = 'one' and c.relnamespace = 'cj'::regnamespace and a.attnum > 0 order by 1, 2;
-- The key is a column that an outer join may have made NULL.
select n.nspname, c.relname, i.indisunique from pg_namespace n
  join (pg_class c left join pg_index i on i.indexrelid = c.oid) on c.relnamespace = n.oid where n.nspname = 'cj' order by 2;
select x.relname, count(i.indexrelid) from pg_class x left join (pg_index i join pg_class ic on ic.oid = i.indexrelid) on i.indrelid = x.oid
  where x.relname in ('one', 'two', 'three') and x.relnamespace = 'cj'::regnamespace group by 1 order by 1;
select c.relname, r.conname from (pg_constraint r full join pg_class c on c.oid = r.conrelid)
  join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'cj' order by 1, 2;
-- Semi and anti joins beneath.
select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'cj'
  and exists (select from pg_index i where i.indrelid = c.oid) order by 1;
select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'cj'
  and not exists (select from pg_index i where i.indrelid = c.oid) and c.relkind in ('r', 'v') order by 1;
select t.typname from pg_type t join pg_namespace n on n.oid = t.typnamespace where n.nspname = 'cj'
  and not exists (select 1 from pg_type el where el.oid = t.typelem and el.typarray = t.oid) order by 1;
-- Groups beneath.
select c.relname, g.count from pg_class c join (select attrelid, count(*) from pg_attribute where attnum > 0 group by attrelid) g
  on g.attrelid = c.oid where c.relnamespace = 'cj'::regnamespace and c.relkind = 'r' order by 1;
select c.relname, g.count from pg_class c
  join (select a.attrelid, count(d.oid) from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attnum > 0 group by a.attrelid) g on g.attrelid = c.oid
  where c.relnamespace = 'cj'::regnamespace and c.relkind = 'r' order by 1;
-- A row that comes first or last only.
select c.relname, a.attname from pg_class c
  join (select attrelid, attname from pg_attribute where attnum > 0 order by attrelid desc, attnum limit 3) a on a.attrelid = c.oid
  where c.relname = 'one' and c.relnamespace = 'cj'::regnamespace;
-- Scalar subqueries over catalogs.
select c.relname, (select n.nspname from pg_namespace n where n.oid = c.relnamespace),
  (select count(*) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0),
  (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum = 2)
  from pg_class c where c.relnamespace = 'cj'::regnamespace and c.relkind in ('r', 'v') order by 1;
select a.attname, (select b.attnum from pg_attribute b where b.attrelid = a.attrelid and b.attname = a.attname) = a.attnum
  from pg_attribute a where a.attrelid = 'one'::regclass and a.attnum > 0 order by 1;
-- Rows of a view that one of several conditions names.
with w as materialized (select c.relname, c.reltype, array[c.reltype, null, 23] as many, array[]::oid[] as none, null::oid[] as unknown
  from pg_class c where c.relnamespace = 'cj'::regnamespace and c.relkind = 'r')
select w.relname, t.typname from w join pg_type t on t.oid = w.reltype or t.oid = any (w.many) order by 1, 2;
with w as materialized (select c.relname, c.reltype, array[c.reltype, null, 23] as many, array[]::oid[] as none, null::oid[] as unknown
  from pg_class c where c.relnamespace = 'cj'::regnamespace and c.relkind = 'r')
select w.relname, t.typname from w join pg_type t
  on t.oid = any (w.many) and t.typname <> w.relname or w.relname = 'one' and t.oid = w.reltype or t.oid = any (w.none) or t.oid = any (w.unknown)
  order by 1, 2;
with w as materialized (select c.relname, array[c.oid] as many from pg_class c where c.relnamespace = 'cj'::regnamespace and c.relkind = 'r')
select w.relname, a.attname, t.typname from w join (pg_attribute a join pg_type t on t.oid = a.atttypid) on a.attrelid = any (w.many)
  where a.attnum > 0 order by 1, 2;
-- Another column decides, or more keys than are looked up.
with w as materialized (select c.relname, c.oid, c.reltype from pg_class c where c.relnamespace = 'cj'::regnamespace and c.relkind = 'r')
select w.relname, t.typname from w join pg_type t on t.oid = w.reltype or t.typrelid = w.oid order by 1, 2;
with w as materialized (select g::oid as a, array[23, g]::oid[] as many from generate_series(16, 5016) g)
select count(*), min(t.typname) from w join pg_type t on t.typtype = 'b' and t.oid < 30 and (t.oid = w.a or t.oid = any (w.many));
-- A left join has every row.
with w as materialized (select c.relname, array[c.reltype, 0::oid] as many, c.reltype from pg_class c
  where c.relnamespace = 'cj'::regnamespace and c.relkind in ('r', 'v', 'i'))
select w.relname, t.typname from w left join pg_type t on t.oid = any (w.many) or t.oid = w.reltype order by 1, 2;
-- Keys reach a view beneath functions that give several rows.
select c.relname, k.n, k.key from (select i.indrelid, u.key, u.n from pg_index i, unnest(i.indkey) with ordinality u(key, n)) k
  join pg_class c on c.oid = k.indrelid where c.relnamespace = 'cj'::regnamespace order by 1, 2, 3;
select c.relname, k.n from pg_class c left join (select i.indrelid, u.n from pg_index i left join unnest(i.indkey) with ordinality u(key, n) on u.key > 1) k
  on c.oid = k.indrelid where c.relnamespace = 'cj'::regnamespace and c.relkind = 'r' order by 1, 2;
-- Subqueries behind a CASE.
select t.typname, case when t.typtype = 'c' then (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
    join pg_class c on a.attrelid = c.oid where a.attnum > 0 and c.reltype = t.oid) end,
  case when t.typtype = 'c' then null when t.typelem = 0 then 'no' else (select e.typname from pg_type e where e.oid = t.typelem) end
  from pg_type t where t.typnamespace = 'cj'::regnamespace order by 1;
select case when exists (select 1 from pg_class c where c.reltype = t.oid) then (select count(*) from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0) else -1 end
  from pg_type t where t.typnamespace = 'cj'::regnamespace order by 1;
select case when random() >= 0 then (select n.nspname from pg_namespace n where n.oid = t.typnamespace) end from pg_type t where t.typname = 'one';
select relname from pg_class where relname ~ '^(one)$' and relnamespace = 'cj'::regnamespace;
select relname from pg_class where relname ~ '^(o.e)$' and relnamespace = 'cj'::regnamespace;
select relname from pg_class where relname operator(pg_catalog.~) '^(two)$' collate pg_catalog.default and relnamespace = 'cj'::regnamespace;
select count(*) from one where a ~ '^x$';
insert into one values (1, 'x', 1), (2, E'x\n', 1), (3, 'xx', 1);
select id from one where a ~ '^x$' order by 1;
create index one_a on one (a);
select id from one where a ~ '^(x)$' order by 1;
reset search_path;
drop schema cj cascade;
