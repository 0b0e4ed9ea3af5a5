-- ON DELETE SET NULL and SET DEFAULT of some columns; tables with something put off to COMMIT.
create table users (tenant int, id int, primary key (tenant, id));
create table posts (tenant int not null, id int primary key, author int default 7, foreign key (tenant, author) references users on delete set null (author));
insert into users values (1, 1), (1, 2), (1, 7);
insert into posts values (1, 1, 1), (1, 2, 2);
delete from users where id = 1;
select * from posts order by id;
select conname, confdeltype, confdelsetcols, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'posts'::regclass and contype = 'f';
alter table posts drop constraint posts_tenant_author_fkey, add constraint k foreign key (tenant, author) references users on update cascade on delete set default (author) not valid;
delete from users where id = 2;
select * from posts order by id;
update users set tenant = 2;
select * from posts order by id;
select pg_get_constraintdef(oid) from pg_constraint where conname = 'k';
create table bad (a int, b int, foreign key (a, b) references users on delete set null (c));
create table bad (a int, b int, c int, foreign key (a, b) references users on delete set null (c));
create table bad (a int, b int, foreign key (a, b) references users on update set null (a));
alter table posts rename column author to writer;
select pg_get_constraintdef(oid) from pg_constraint where conname = 'k';
create table p (a int primary key);
create table c (a int references p deferrable initially deferred);
insert into p values (1);
insert into c values (1);
begin;
insert into c values (2);
alter table c add column x int;
rollback;
begin;
insert into c values (2);
truncate c;
rollback;
begin;
insert into c values (2);
drop table c;
rollback;
begin;
delete from p;
alter table p add column x int;
rollback;
begin;
insert into c values (2);
set constraints all immediate;
rollback;
begin;
insert into c values (1);
set constraints all immediate;
alter table c add column y int;
commit;
select * from c order by a;

-- The same behind a column.
CREATE TABLE behind_p (a int PRIMARY KEY, b int UNIQUE);
CREATE TABLE behind (
    x int CONSTRAINT kx REFERENCES public.behind_p (b) MATCH FULL ON DELETE SET NULL (x) ON UPDATE CASCADE NOT NULL,
    y int DEFAULT 1 REFERENCES behind_p ON DELETE SET DEFAULT (y) DEFERRABLE, z int
);
ALTER TABLE behind ADD COLUMN w int REFERENCES behind_p ON DELETE SET NULL (w), ADD v int REFERENCES behind_p;
ALTER TABLE behind ADD COLUMN IF NOT EXISTS w int REFERENCES behind_p ON DELETE SET NULL (w);
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' AND conrelid = 'behind'::regclass ORDER BY 1;
INSERT INTO behind_p VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO behind VALUES (1, 2, 0, 3, 1);
DELETE FROM behind_p WHERE a = 3;
DELETE FROM behind_p WHERE a = 2;
SELECT * FROM behind;
CREATE TABLE behind_2 (x int, y int REFERENCES behind_p ON DELETE SET NULL (x));
CREATE TABLE behind_2 (x int REFERENCES behind_p ON UPDATE SET NULL (x));
CREATE TABLE behind_2 (x int REFERENCES behind_p ON DELETE CASCADE (x));
CREATE TABLE behind_2 (x int REFERENCES behind_p ON DELETE SET NULL (nope));
