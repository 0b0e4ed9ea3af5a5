-- Values of regtype and its kin in rows, rows that a CHECK refuses and missing values of columns: they are written as names.
select row('int4'::regtype, 'lower(text)'::regprocedure, '+(int4,int4)'::regoperator)::text;
select (row('int4'::regtype)::text)::text;
create table kinds (kind regtype primary key, n int check (n > 0));
insert into kinds values ('int4', 1);
insert into kinds values ('text', -1);
insert into kinds values ('text', null);
insert into kinds values (null, 1);
alter table kinds add other regtype default 'text';
select * from kinds;
insert into kinds values ('bool', 2) returning *;
select kinds::text from kinds order by n;
alter table kinds add third regproc default 'pg_backend_pid';
select * from kinds order by n;
drop table kinds;
