-- The whole row of a LATERAL subquery that aggregates without groups: there is one whether or not there is something to aggregate.
create table t (a int, b int);
insert into t values (1, 1), (1, 2), (2, 3);
select l.x, s from (values (1), (2)) l (x) left join lateral (select count(*) as c, sum(b) as d from t where a = l.x) s on l.x = 1 order by 1;
select l.x, s is null, s.c, s from (values (1), (2)) l (x)
    left join lateral (select count(*) as c, sum(b) as d from t where a = l.x) s on s.c < 2 order by 1;
select l.x, s from (values (1), (3)) l (x) left join lateral (select sum(b) as d from t where a = l.x) s on s.d is null order by 1;
select l.x, s, s is null, s.d from (values (1), (3)) l (x)
    left join lateral (select sum(b) as d, count(*) as c from t where a = l.x) s on true order by 1;
select l.x, s, s.d from (values (1), (3)) l (x) left join lateral (select sum(b) as d, count(*) as c from t where a = l.x) s on s.c = 0 order by 1;
select l.x, to_json(s), s is not distinct from null from (values (1), (3), (4)) l (x)
    left join lateral (select max(b) as d from t where a = l.x) s on s.d is null and l.x < 4 order by 1;
select l.x, s from (values (1), (3)) l (x) left join lateral (select sum(b) as d from t where a = l.x having count(*) > 0) s on s.d is null order by 1;
select l.x, s, count(*) over () from (values (1), (3)) l (x)
    left join lateral (select sum(b) as d from (select b from t where a = l.x) i) s on coalesce(s.d, 0) < 1 order by 1;
