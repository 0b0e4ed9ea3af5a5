-- Dates and times in what is kept: what a constant meant when it was written, under the settings of who wrote it.
create table m (d date, ts timestamp, tz timestamptz, t time, txt text);
create view v as select 'now'::timestamptz as a, 'today'::date as b, date 'tomorrow' as c, 'now'::text as d, 'now'::text::date as e,
    timestamp 'now' as f, 'now'::time as g, '{now,today}'::date[] as i, d > 'yesterday' as j, 'now'::timestamptz(0) as k,
    coalesce(d, 'today') as l, case when d = 'today' then txt else 'today' end as m, array['now', d] as n,
    d in ('today', 'tomorrow') as o, (select timestamp 'today 12:00') as p, 'epoch'::timestamp as q, 'infinity'::date as r,
    'today' as s from m where tz < 'now' or tz is null;
select regexp_replace(pg_get_viewdef('v'), '\.\d+', '.N', 'g') ~ '\d' as digits,
    regexp_replace(pg_get_viewdef('v'), '\d+(\.\d+)?', 'N', 'g') as text;
insert into m values (current_date, null, null, null, 'x');
select a <= now(), b = current_date, c = current_date + 1, d, e = current_date, f <= localtimestamp, i = array[current_date, current_date],
    j, l = current_date, m, n = array[current_date, current_date], o, p = current_date + time '12:00', q, r, s from v;
select a = a2 from (select a from v) x, lateral (select a as a2 from v) y;
alter table m add check (d > 'yesterday'), add constraint c2 check (tz < 'now'::timestamptz + interval '1 day' or txt = 'now');
select conname, regexp_replace(pg_get_constraintdef(oid), '\d+-\d+-\d+[^'']*', 'TIME', 'g') from pg_constraint
    where conrelid = 'm'::regclass order by 1;
create index m_i on m (t) where d > 'today';
create index m_j on m ((d > 'today'));
create index m_k on m (t) where tz > 'now';
select regexp_replace(pg_get_indexdef(indexrelid), '\d+-\d+-\d+[^'']*', 'TIME', 'g') from pg_index
    where indrelid = 'm'::regclass order by indexrelid;
create table n (a timestamptz default 'now'::timestamptz + interval '1 day', b text default 'now'::timestamp::date::text,
    c date default 'today', d bool generated always as (c > 'yesterday') stored, e timestamp(0) default 'now');
select attname, regexp_replace(pg_get_expr(adbin, adrelid), '\d+-\d+-\d+[^'']*', 'TIME', 'g')
    from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum where adrelid = 'n'::regclass order by attnum;
insert into n default values;
select a > now(), b = current_date::text, c = current_date, d from n;
alter table n add f bool generated always as (c = 'today' and e < 'tomorrow') stored;
select f from n;
-- Of who reads it nothing counts.
set datestyle = 'SQL, DMY';
set timezone = 'Asia/Kolkata';
create view w as select '01/02/2020'::date as a, '01/02/2020 03:04'::timestamptz as b, timestamp '01/02/2020 10:00' as c,
    '{01/02/2020}'::date[] as d, '10:00'::timetz as e, $$03/04/2020$$::date as f, E'05/06/2020'::date as g,
    date_part('day', timestamp '01/02/2020') as h, '01/02/2020' as i, '04/05/2020'::text::date as j;
select * from w;
create table x (a date default '01/02/2020', b timestamptz default '01/02/2020 03:04', c date check (c <> '03/02/2020'),
    d bool generated always as (a = '01/02/2020') stored);
create unique index on x (a) where b > '02/02/2020 03:04';
set datestyle = 'ISO, MDY';
set timezone = 'America/New_York';
select * from w;
select pg_get_viewdef('w');
insert into x default values;
insert into x (b, c) values (null, '2020-02-03');
insert into x (a, b, c) values ('2020-02-01', '2020-03-01', '2020-03-02') returning *;
insert into x (a, b, c) values ('2020-02-01', '2020-03-01', '2020-03-02') returning *;
insert into x (a, b, c) values ('2020-02-01', '2020-02-01', '2020-03-02') returning *;
select * from x;
\d x
-- A view over such, and one that is written anew.
create view over_w as select a, b, '01/02/2020'::date = a as same from w;
select * from over_w;
set datestyle = 'German';
select * from over_w;
select pg_get_viewdef('over_w');
reset datestyle;
create or replace view over_w as select a, b, '02/01/2020'::date = a as same from w;
select * from over_w;
-- Names of columns are taken from what was written.
create view named as select date '01/02/2020', timestamp '01/02/2020';
select * from named;
create view grouped as select date_trunc('day', ts - (timestamp '01/02/2020' - '01/01/2020')) as g, count(*) from m
    group by date_trunc('day', ts - (timestamp '01/02/2020' - '01/01/2020'));
select * from grouped;
-- A constant that is none says so as ever.
create view wrong as select 'nowhere'::date;
create view wrong as select date '13/13/2020' as a;
alter table m add check (d > 'never');
