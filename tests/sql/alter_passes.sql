-- ALTER TABLE of several parts: they have their turns by what they are, not as they are written.
create table passes (a int primary key, b int, c text);
insert into passes values (1, 10, 'x'), (2, 20, 'y');
alter table passes add column b text, drop column b;
select * from passes order by a;
alter table passes alter b type int using length(c) * 10, alter c type int using a * 100, drop column nosuch;
alter table passes alter b type int using length(c) * 10, alter c type int using a * 100;
select * from passes order by a;
\d passes
alter table passes drop constraint passes_pkey, add primary key (c);
\d passes
alter table passes add column e int generated always as (a + 1) stored, alter a type bigint;
select * from passes order by a;
alter table passes alter a type text using e || 'e', drop column e;
select * from passes order by a;
\d passes
alter table passes add column f int not null default 7, alter f drop default;
alter table passes add constraint fu unique (f, a), add column f int not null default 7;
alter table passes alter f set default 1, alter f set default 2, alter f drop default, alter f set not null, alter f drop not null;
\d passes
alter table passes add check (g > f), add column g int check (g > 7), add column h int references passes (c);
alter table passes alter f type int, alter f type bigint;
alter table passes alter nosuch type int, drop column f;
\d passes
drop table passes;
create table numbered (a int generated always as identity, b serial, c text);
insert into numbered (c) values ('x'), ('y');
alter table numbered alter a restart with 50, alter a set increment by 5;
insert into numbered (c) values ('z') returning *;
insert into numbered (c) values ('z') returning *;
alter table numbered alter a set generated always set generated always;
alter table numbered drop column b, add column b serial;
insert into numbered (c) values ('q') returning *;
\d numbered
\ds
drop table numbered;
create table selves (a int primary key, b int references selves);
insert into selves values (1, 1), (2, 1);
alter table selves alter a type bigint, alter b type bigint;
alter table selves alter a type text;
alter table selves alter a type text, alter b type text;
\d selves
insert into selves values ('3', '1'), ('4', '5');
drop table selves;
