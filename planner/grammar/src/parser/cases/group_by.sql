select 1 group by ()
select 1 group by rollup(a) ‸+ 1
select 1 group by rollup, cube
select 1 group by "rollup"(a)
select 1 group by grouping sets ((), a, (a, b), cube(a), grouping sets (rollup(b)))
select 1 group by grouping
select 1 group by grouping(a)
select 1 group by rollup(‸)
select 1 group by rollup((a,b), c)
select 1 group by all a
select 1 group by distinct a, b
select 1 group by distinct‸
select 1 group by rollup(a) ‸b
select 1 group by‸
select 1 group by a,‸
select 1 group by (), ()
select 1 group by (a, b), (c)
select 1 group by grouping sets‸
select 1 group by grouping sets (‸)
select 1 group by grouping sets (a) ‸+ 1
select 1 group by cube(a), rollup(b, c), rollup.x, cube
select 1 group by rollup (‸select 1)
select 1 from t group by a ‸where b
select 1 where a = 1 group by b having c limit 3
