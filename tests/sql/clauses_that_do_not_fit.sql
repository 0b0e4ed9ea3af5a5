-- Clauses that the grammar takes and that do not fit what they stand with.
create table fits (a int primary key, b text);
insert into fits values (1, 'x'), (2, 'y');
(select a from fits for update) union all select 1;
(select a from fits order by a limit 1 for share) intersect select 1;
select a from fits order by b fetch first null rows with ties;
with recursive s as (select 1 as z) merge into fits using s on a = z when matched then delete;
create type feeling as enum ('good', 'bad');
drop type feeling(5);
comment on type feeling(3) is 'a length';
drop operator @@@@ (int, none);
select 'good'::feeling;
drop type feeling;
drop table fits;
