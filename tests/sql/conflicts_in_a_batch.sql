-- ON CONFLICT: rows of one statement that meet each other; and keys that columns and indexes carry.
create table u (k int primary key, v int unique, w int);
insert into u values (1, 1, 0);
insert into u values (1, 30, 1), (1, 31, 1) on conflict (k) do update set v = 3 where u.w = 5;
insert into u values (1, 30, 1), (1, 31, 1) on conflict (k) do update set v = 3;
insert into u values (1, 30, 1), (1, 31, 5) on conflict (k) do update set w = excluded.w where excluded.w = 5 returning *;
insert into u values (1, 5, 1), (2, 1, 2) on conflict (k) do update set v = excluded.v;
select * from u order by k;
insert into u values (7, 70, 0), (7, 71, 0) on conflict (k) do update set v = excluded.v;
insert into u values (50, 500, 0);
insert into u values (50, 10, 1), (50, 11, 2) on conflict (k) do update set k = 51 returning *;
select * from u order by k;
insert into u select 1, g, g from generate_series(100, 140) g on conflict (k) do update set w = excluded.w where excluded.w = 130;
insert into u select 1 + g % 2, 200 + g, g from generate_series(1, 60) g on conflict (k) do update set w = 0 where false;
insert into u select g, 1000 + g, 1 from generate_series(1, 60) g on conflict (k) do update set w = u.w + 1 returning k % 10 = 0 as tenth;
select count(*), sum(w) from u;
insert into u values (1, 1001, 0), (99, 500, 9) on conflict do nothing returning k;
-- A column that a key includes.
create table p (a int, b int, c int, unique (a) include (c), primary key (b) include (c));
create table ch (a int references p (a) on delete cascade, b int references p (b));
insert into p values (1, 10, 0), (2, 20, 0);
insert into ch values (1, 10);
alter table p drop column c;
insert into p values (1, 11, 0);
alter table p drop column c cascade;
select * from p order by 1, 2;
insert into p values (1, 10);
select count(*) from p;
select count(*) from pg_constraint where conrelid in ('p'::regclass, 'ch'::regclass);
-- A key that refers to itself gets another type.
create table itself (c timestamp unique references itself (c));
insert into itself values (null);
alter table itself alter c type text using 'B';
insert into itself values ('B'), ('C');
