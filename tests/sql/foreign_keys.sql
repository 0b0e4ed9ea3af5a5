-- FOREIGN KEYs: what may be declared, what is refused, what follows, what depends on them.
create schema fk;
set search_path = fk;
create table p (a int primary key, b text unique, c int, d int, unique (c, d));
insert into p values (1, 'one', 1, 1), (2, 'two', 1, 2), (3, 'three', 2, 1), (4, null, null, 5);
create table c1 (i int primary key, a int references p);
insert into c1 values (1, 1), (2, null), (3, 3);
insert into c1 values (4, 9);
insert into c1 values (4, 1), (5, 10), (6, 11);
update c1 set a = 9 where i = 1;
update c1 set a = 2 where i = 1;
update c1 set i = 7 where i = 1;
delete from p where a = 3;
update p set a = 30 where a = 3;
update p set b = 'drei' where a = 3;
update p set a = a where a = 3;
delete from p where a = 1;
delete from p where a in (4);
select * from p order by a;
select * from c1 order by i;
create table tree (id int primary key, parent int references tree);
insert into tree values (2, 1), (1, null), (3, 2);
insert into tree values (4, 5);
insert into tree values (5, 5);
delete from tree where id = 1;
delete from tree where id in (1, 2, 3);
delete from tree where id = 5;
select * from tree;
-- Declarations.
create table x (a int references nosuch);
create table x (a int references p (nosuch));
create table x (a int, foreign key (nosuch) references p);
create table x (a int references p (c));
create table x (a int references p (d, c));
create table x (a int, b int, foreign key (a, b) references p);
create table x (a int, b int, foreign key (a, b) references p (c));
create table x (a int, b int, foreign key (a, b) references p (c, c));
create table x (a text references p);
create table x (a int references p (b));
create table x (a numeric references p);
create table x (a date references p);
create view v as select a from p;
create table x (a int references v);
drop view v;
create table keyless (a int);
create table x (a int references keyless);
create table x (a int references keyless (a));
create table x (a int references p match partial);
create table x (a int constraint same references p, b int constraint same references p);
create table x (a int references p not deferrable initially deferred);
create table x (a bigint references p, b smallint references p, c varchar(3) references p (b), e int, f int, foreign key (f, e) references p (d, c), constraint named foreign key (e) references p on delete cascade on update set null);
\d x
\d p
select conname, contype, condeferrable, condeferred, convalidated, conrelid::regclass, confrelid::regclass, conindid::regclass, confupdtype, confdeltype, confmatchtype, conkey, confkey from pg_constraint where conrelid in ('x'::regclass, 'c1'::regclass) order by conname;
select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'x'::regclass order by conname;
select constraint_name, unique_constraint_schema, unique_constraint_name, match_option, update_rule, delete_rule from information_schema.referential_constraints order by 1;
select constraint_name, constraint_type, is_deferrable, initially_deferred from information_schema.table_constraints where constraint_type = 'FOREIGN KEY' order by 1;
select constraint_name, table_name, column_name, ordinal_position, position_in_unique_constraint from information_schema.key_column_usage where table_name in ('x', 'c1') order by 1, 4;
select table_name, column_name, constraint_name from information_schema.constraint_column_usage where constraint_name like 'x%' order by 3, 2;
insert into x values (1, 2, 'one', 1, 2);
insert into x values (1, 2, 'one', 1, 3);
insert into x values (1, 2, 'nay', 1, 2);
insert into x values (100000000000, 2, 'one', 1, 2);
insert into x values (1, 9, 'one', 1, 2);
insert into x values (1, 2, null, null, 77);
insert into x values (1, 2, null, 1, null);
drop table x;
drop table c1;
-- MATCH FULL.
create table m (a int, b int, foreign key (a, b) references p (c, d) match full);
\d m
insert into m values (1, 1), (null, null);
insert into m values (1, null);
insert into m values (null, 1);
insert into m values (7, 7);
update m set a = null where a = 1;
update m set a = null, b = null where a = 1;
insert into m values (1, 1);
delete from p where c = 1 and d = 1;
update p set c = 5 where a = 1;
update p set c = 1 where a = 1;
drop table m;
-- Actions.
create table casc (i int primary key, a int references p on delete cascade on update cascade);
create table nul (i int, a int references casc on delete set null on update set null);
create table def (i int, a int default 99 references casc on delete set default on update set default);
create table rest (i int, a int references p on delete restrict on update restrict);
insert into casc values (1, 1), (2, 2), (3, 2), (99, null);
insert into nul values (1, 1), (2, 2), (3, null);
insert into def values (1, 1), (2, 2), (3, 3);
insert into rest values (1, 3);
update p set a = a + 10 where a < 3;
select * from casc order by i;
delete from p where a = 12;
select * from casc order by i;
select * from nul order by i;
select * from def order by i;
delete from p where a = 3;
update p set a = 31 where a = 3;
delete from casc where i = 99;
delete from casc where i = 1;
select * from nul order by i;
select * from def order by i;
update casc set i = 100 where i = 99;
delete from p where a = 11 returning a, b;
\d casc
\d rest
create table cycle1 (a int primary key, b int);
create table cycle2 (a int primary key, b int references cycle1 on delete cascade);
alter table cycle1 add foreign key (b) references cycle2 on delete cascade;
insert into cycle1 values (1, null), (2, null);
insert into cycle2 values (1, 1), (2, 2);
update cycle1 set b = 3 - a;
delete from cycle1 where a = 1;
select * from cycle1;
select * from cycle2;
create table holder (a int not null references cycle1 on delete set null);
insert into cycle1 values (5, null);
insert into holder values (5);
delete from cycle1 where a = 5;
create table chain (id int primary key, up int references chain on delete cascade on update cascade);
insert into chain values (1, null), (2, 1), (3, 2), (4, 3), (5, null);
update chain set id = 20 where id = 2;
select * from chain order by id;
delete from chain where id = 1;
select * from chain order by id;
-- What depends on them.
drop table p;
alter table p drop constraint p_pkey;
truncate p;
truncate cycle1;
truncate cycle1, cycle2, holder;
create table by_index (a int, b int);
create unique index by_index_a on by_index (a);
create table uses_index (a int references by_index (a));
drop index by_index_a;
drop index by_index_a cascade;
create unique index by_index_a on by_index (a);
alter table uses_index add constraint again foreign key (a) references by_index (a);
alter table by_index drop column a;
alter table by_index drop column a cascade;
\d uses_index
drop table by_index, uses_index;
truncate cycle1 cascade;
drop table casc;
drop table casc, nul, def;
drop table rest;
create table last (a int references p, b int references p);
drop table p cascade;
insert into last values (77, 77);
\d last
-- ALTER TABLE.
create table q (a int primary key);
insert into q values (1), (2);
create table r (a int, b int);
insert into r values (1, 1), (2, 3), (null, 4);
alter table r add foreign key (a) references q;
alter table r add constraint rb foreign key (b) references q;
alter table r add constraint rb foreign key (b) references q not valid;
\d r
insert into r values (1, 5);
alter table r validate constraint rb;
delete from r where b > 2;
alter table r validate constraint rb;
alter table r validate constraint rb;
alter table r validate constraint nosuch;
alter table r add constraint rb foreign key (b) references q;
alter table r rename constraint rb to renamed;
alter table q rename to qq;
alter table qq rename column a to aa;
insert into r values (1, 5);
\d r
alter table r drop constraint renamed;
alter table r drop constraint renamed;
insert into r values (1, 5);
alter table r add column c int references qq;
alter table r add column d int default 7 references qq;
alter table r add column e int default 1 references qq on delete cascade;
insert into r (c) values (8);
delete from qq where aa = 1;
alter table r drop column a;
\d r
delete from qq where aa = 1;
select * from r;
create table same (like r including all);
\d same
-- Deferred.
create table d (i int primary key, a int references qq deferrable, b int references qq deferrable initially deferred);
\d d
begin;
insert into d values (1, null, 50);
insert into qq values (50);
commit;
begin;
insert into d values (2, null, 51);
commit;
select * from d;
begin;
insert into d values (2, 51, null);
rollback;
begin;
set constraints all deferred;
insert into d values (2, 51, 51);
update d set a = 50, b = 50 where i = 2;
commit;
begin;
delete from qq where aa = 50;
insert into qq values (50);
commit;
begin;
set constraints d_a_fkey deferred;
delete from qq where aa = 50;
set constraints d_a_fkey immediate;
commit;
begin;
set constraints d_b_fkey immediate;
delete from d where a = 50;
insert into d values (3, null, 52);
commit;
begin;
insert into d values (4, null, 60);
savepoint s;
insert into d values (5, null, 61);
rollback to s;
delete from d where i = 4;
commit;
begin;
set constraints nosuch deferred;
rollback;
begin;
set constraints r_c_fkey deferred;
rollback;
set constraints all deferred;
insert into d values (6, null, 70);
select * from d order by i;
prepare ins(int, int) as insert into d (i, b) values ($1, $2);
execute ins(7, 50);
execute ins(8, 71);
copy d (i, b) from stdin;
10	50
11	72
\.
copy d (i, a) from stdin;
12	50
13	72
\.
copy d (i, b) from stdin;
14	50
15	\N
\.
select * from d order by i;
insert into d (i, b) values (15, 71) on conflict (i) do update set b = excluded.b;
insert into d (i, b) values (15, 50) on conflict (i) do update set b = excluded.b;
insert into d (i, a) values (16, 71) on conflict do nothing;
insert into d (i, a) values (15, 71) on conflict do nothing;
update d set a = 2 from qq where d.b = qq.aa and d.i = 15;
select * from d order by i;
-- Keys of other types.
create table t1 (n numeric primary key, f float8 unique, s char(5) unique, t timestamptz unique, u uuid unique, dd date unique);
insert into t1 values (1.50, 2, 'ab', '2024-01-01 00:00+00', '00000000-0000-0000-0000-000000000001', '2024-02-29');
create table t2 (n numeric references t1, f float8 references t1 (f), s char(5) references t1 (s), t timestamptz references t1 (t), u uuid references t1 (u), dd date references t1 (dd), i int references t1);
insert into t2 values (1.5, 2, 'ab', '2024-01-01 01:00+01', '00000000-0000-0000-0000-000000000001', '2024-02-29', null);
insert into t2 (n) values (1.51);
insert into t2 (f) values (2.5);
insert into t2 (s) values ('abc');
insert into t2 (t) values ('2024-01-01 01:00+00');
insert into t2 (u) values ('00000000-0000-0000-0000-000000000002');
insert into t2 (dd) values ('2024-02-28');
insert into t2 (i) values (1);
update t1 set n = 1.500;
delete from t1;
drop schema fk cascade;
-- Indexes that FOREIGN KEYs refer to, several at once and of the table itself.
create table fki (a int, b int, c int, up int);
create unique index fki_a on fki (a);
create unique index fki_b on fki (b);
create unique index fki_c on fki (c);
create table fki_child (a int references fki (a), b int references fki (b));
alter table fki add foreign key (up) references fki (c);
drop index fki_a, fki_b;
drop index fki_c;
drop index fki_c, fki_a cascade;
insert into fki_child values (1, null);
insert into fki_child values (1, 1);
insert into fki values (1, 1, 1, 5);
drop index fki_b cascade;
insert into fki_child values (1, 1);
drop table fki_child, fki;
