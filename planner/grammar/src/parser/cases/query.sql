select 1 union all ‸distinct select 2
select 1 union ‸with a as (select 1) select 2
values ‸1
table only t
table t *
table t ‸x
select (select 1) union‸
select ((select 1) union select 2) + 1, ((((select 1))))
select 1 intersect select 2 union all select 3 except select 4
(select 1‸
(select 1)‸)
(‸)
((select 1) ‸foo)
(‸insert into t values (1))
(select 1) ‸into x
(select 1) ‸where a
select 1 union‸
select 1 union all‸
select 1 union distinct select 2
select 1 union values (1) union table t union all (select 3)
select 1 union all (select 2 union all select 3) intersect all select 4
select 1 intersect‸
select 1 into x union select 2
select 1 union select 2 into x
table‸
table t ‸where a
table a.b
values‸
values (‸)
values (1), ‸
values (1), (2) union values (3)
values (1) ‸where a
values (default)
