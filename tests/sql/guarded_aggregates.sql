-- AND and OR guard what stands on their right, also within aggregates, groups and windows.
create table ratio (id int primary key, a int, b int, t text);
insert into ratio values (1, 0, 10, 'x'), (2, 5, 10, '7'), (3, 2, 10, '12'), (4, null, 10, null), (5, 5, 10, '7');
select count(*) filter (where a <> 0 and b / a > 1), count(*) filter (where a = 0 or b / a > 4) from ratio;
select bool_or(a <> 0 and b / a > 4), bool_and(a = 0 or b / a > 1), every(a is null or a = 0 or b / a > 1) from ratio;
select array_agg(a <> 0 and b / a > 4 order by id), array_agg(id order by a <> 0 and b / a > 4 desc nulls last, id) from ratio;
select sum(case when a <> 0 and b / a > 1 then 1 else 0 end), string_agg(t, ',' order by id) filter (where t ~ '^[0-9]+$' and t::int > 6) from ratio;
select a <> 0 and b / a > 4 as k, count(*) from ratio group by 1 order by 1 nulls first;
select a = 0 or b / a > 4 as k, count(*), sum(b) from ratio group by a = 0 or b / a > 4 having a = 0 or b / a > 4 order by 1 nulls first;
select a <> 0 and b / a > 4 as k, count(*) from ratio group by rollup (a <> 0 and b / a > 4) order by 1 nulls first, 2;
select id, count(*) over (partition by a <> 0 and b / a > 4) from ratio order by id;
select id, count(*) filter (where a <> 0 and b / a > 4) over (order by id), bool_or(a <> 0 and b / a > 4) over (order by id), row_number() over (order by a <> 0 and b / a > 4, id) from ratio order by id;
select id, lag(a <> 0 and b / a > 4) over (order by id), sum(count(*) filter (where a <> 0 and b / a > 4)) over (order by id) from ratio group by id order by id;
select count(distinct a <> 0 and b / a > 4), min(case when a <> 0 and b / a > 1 then b / a end) from ratio;
select r.id, (select count(*) filter (where i.a <> 0 and i.b / i.a > 1) from ratio i where i.id <= r.id) from ratio r order by id;
select count(*) filter (where t ~ '^[0-9]+$' and t::int > 6), percentile_disc(0.5) within group (order by a <> 0 and b / a > 4) from ratio;
select count(*) filter (where a = 0 and b / a > 1) from ratio;
select distinct a <> 0 and b / a > 4 from ratio order by 1;
