-- Aggregates of queries further out with subqueries in their arguments, and aggregates without columns before IN and its kin.
create table t (a int, b int);
insert into t values (1, 1), (1, 2), (2, 3);
select (select (select sum((select t.a + 0)) from (values (1)) q (z)) from (values (2)) r (w)) from t;
select (select (select sum((select t.a + r.w)) from (values (1)) q (z)) from (values (2)) r (w)) from t;
select (select (select max((select t.b + v.k from (values (1)) v (k))) from (values (1)) q (z)) from (values (2)) r (w)) from t
    group by a order by 1;
select (select (select count(*) filter (where exists (select from t u where u.a = t.b)) from (values (1)) q (z)) from (values (2)) r (w))
    from t;
select (select (select sum((select t.a)) + w from (values (1)) q (z)) from (values (2)) r (w)) + sum(a), count(*) from t;
select (select (select (select sum((select t.a * 2)) from (values (1)) p (y)) from (values (1)) q (z)) from (values (2)) r (w)) from t;
select (select (select string_agg((select t.a::text || t.b), ',' order by t.b desc) from (values (1)) q (z)) from (values (2)) r (w)) from t;
select a, (select (select sum((select t.b)) from (values (1)) q (z)) from (values (2)) r (w) where w = t.a + 1) from t group by a order by a;
select (select w from (values (2)) r (w) where exists (select from (values (1)) q (z) having sum((select t.a)) > w)) from t;
select count(*) in (select 3) from t;
select sum(1) in (select 3 union select 4) from t;
select sum(1) not in (select b from t) from t;
select count(1) in (select count(*) from t u) from t group by a;
select sum(1) = any (select 3), max('x'::text) in (select 'x'), sum(2) > all (select b from t) from t;
select (sum(1), count(*)) in (select 3, 3) from t;
select a in (select sum(1) from t) from t;
select a, sum(1) in (select t.a + 1) from t group by a order by 1;
select a from t group by a having sum(1) in (select 2) order by 1;
select a from t group by a having sum(1) not in (select u.a from t u where u.a = t.a) order by 1;
select sum(1) in (select count(*) from t u where u.a = 1) or count(*) = 3 from t;
