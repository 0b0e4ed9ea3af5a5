-- Labels without AS that are words of the grammar.
create table labelled (a int, b text, "end" int);
insert into labelled values (1, 'x', 5);
select 1 between, 2;
select 1 is, 2 in, 3 like, 4 ilike, 5 similar, 6 and, 7 or, 8 not, 9 at, 10 collate;
select 1 end, 2 case, 3 when, 4 then, 5 else, 6 values, 7 view, 8 lateral, 9 analyze, 10 "select";
select 1 select, 2 asc, 3 desc, 4 all, 5 any, 6 some, 7 both, 8 using, 9 only, 10 natural, 11 table;
select a end, b is from labelled;
select case when a = 1 then 'one' else 'other' end from labelled;
select case when a = 1 then 'one' else 'other' end end from labelled;
select case a when 1 then 2 end between, 5 end from labelled order by 1 desc, 2 asc;
select "end" end from labelled;
select (select 1 end), a in (1, 2), a between 0 and 2, b is null and true from labelled;
select a is, not a = 1 not from labelled;
insert into labelled values (2, 'y', 6) returning a between, b end;
update labelled set b = 'z' where a = 2 returning a is, b like;
delete from labelled where a = 2 returning a not;
select sum(a) over (order by a desc), array_agg(a order by b asc) from labelled;
select a from labelled union all select 1 end order by 1;
create view labelled_view as select a between, b end from labelled;
select * from labelled_view;
select 1 from;
select 1 with;
select 1 as between, 2 as end;

-- What may not be there.
select * form labelled;
select a, * form labelled;
select * as x from labelled;
select count(*, 1) from labelled;
select count(distinct *) from labelled;
select count(all *) from labelled;
select coalesce();
select greatest(1), greatest();
select nullif(1);
select nullif(1, 2, 3);
select nullif((1), coalesce(2, 3)), 2 * a, a * a from labelled;
insert into labelled other values (1);
insert into labelled (a) values (3) returning * into nothing;
select 'one'
' and two' as a;
select 'one' /* not here */
' and two';
select 'one' -- but here
' and two' as b;
prepare defines as create table labels (a int);
drop view labelled_view;
drop table labelled;
