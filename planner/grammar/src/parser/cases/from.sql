select * from ‸(values (1)) ## 42601 VALUES in FROM must have an alias # For example, FROM (VALUES ...) [AS] foo.
select * from ‸(select 1) ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from ‸((select 1)) ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from lateral ‸(select 1) ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from ‸((values (1) limit 1)) ## 42601 VALUES in FROM must have an alias # For example, FROM (VALUES ...) [AS] foo.
select * from (t‸)
select * from ((select 1) x‸)
select * from ((a join b on true))
select * from ((a join b on true) x‸)
select * from ((a join b on true) x join c on true) y
select * from left‸
select * from left(1)
select * from left‸.x(1)
select * from current_date
select * from current_date join b on true
select * from values
select * from values ‸(1)
select * from coalesce(1,2) x(a)
select * from grouping‸(1)
select * from cast(1 as int)
select * from xmltable
select * from int‸(1)
select * from rows
select * from rows from (f())
select * from t x(a, b ‸int)
select * from t x(a ‸int)
select * from f() x(a, b ‸int)
select * from f() x(a int, b‸)
select * from f() as (a int collate "C")
select * from f() with ordinality as (a int)
select * from ‸(select 1) union select 2 ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from a join b join c on x on y
select * from a join b‸
select * from a join b cross join c on x
select * from a natural left join b ‸using (x)
select * from a join b using (x) as y
select * from a join b using (x) as y‸(z)
select * from t tablesample system (1) repeatable (2)
select * from t tablesample system (1) ‸x
select * from only (t) x
select * from only t ‸*
select * from (((select 1) union (select 2))) x
select * from ((select 1) x natural join ((select 2) order by 1) y)
select * from lateral f(1) as x, lateral (values (1)) y(a), lateral rows from (f(1) as (a int), g()) with ordinality z
select * from lateral t‸
select * from lateral (‸a join b on true)
select * from a.f(1), "b".g(2) h
select * from ‸a.b.c.d ## 42601 improper qualified name (too many dotted names): a.b.c.d
select * from a.b.c.d.e(1)
select * from a.b x (c, d) tablesample bernoulli (1)
select * from t tablesample pg_catalog.system (1)
select * from t as‸
select * from t as ‸select
select * from t left outer join u on a = b right join v using (c) full outer join w on true inner join z on true
select * from t ‸outer join u on true
select * from t join ‸on true
select * from collation for (1)
select * from current_schema, current_schema()
select * from rows from‸
select * from rows from (‸)
select * from rows x
select * from f() as‸
select * from f() x(‸)
select * from f() x(a‸
select * from f() x(a int‸
select * from f() ‸(a int)
select * from f() as (‸)
select * from f() as x (a int, b text collate "C")
select * from f() as x (a, b)
select * from t x(‸)
select * from t as ‸(a int)
select * from cast(1 as int) with ordinality
select * from f() with ordinality ‸with ordinality
select * from f() ‸with
select * from t natural join u ‸on true
select * from t natural ‸x
select * from lateral current_date
select * from lateral ‸lateral (select 1) x
select * from lateral a.b‸
select * from lateral a.b ‸x
select * from lateral left‸
select * from lateral values ‸(1)
select * from lateral coalesce‸
select * from lateral‸
select * from lateral ‸only t
select * from coalesce
select * from position.x(1)
select * from "left"
select * from "left"(1)
select * from time‸(1)
select * from user
select * from user‸.x
select * from ‸select
select * from (select 1) as x (a ‸int)
select * from (select 1) as x (a)
select * from (a join b on true) x (c, d)
select * from (a join b on true) as x
select * from ((a‸))
select * from (a‸, b)
select * from (a join b on true‸, c)
select * from (values‸)
select * from (values join b on true)
select * from ((values (1)) union (select 1)) x
select * from (table t) x
select * from (with a as (select 1) select 1) x
select * from ((select 1) for update) x
select * from ((select 1) limit 1) x
select * from ((select 1) fetch first row only) x
select * from (((select 1) x join y on true) join z on true)
select * from (((a join b on true)) c join d on true)
select * from ((select 1) order by 1 ‸union select 2) x
select * from ((select 1)‸
select * from ((select 1) x‸
select * from (‸
select * from (‸(select 1) join b on true) ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from (‸((select 1)) join b on true) ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from (select 1) x ‸tablesample system (1)
select * from t x tablesample‸
select * from t tablesample system‸
select * from t tablesample system (‸)
select * from t tablesample left (1)
select * from t join u using (‸)
select * from t join u using ‸a
select * from t join u‸
select * from t join u‸, v
select * from t left ‸u
select * from t cross ‸u
select * from t inner join u on true ‸x
select * from a.b.c x, ‸d.e.f.g ## 42601 improper qualified name (too many dotted names): d.e.f.g
select * from only‸
select * from only (t‸
select * from only (‸(t))
select * from t x, (select 1) y, lateral (select 2) z
select * from ‸nulls first
select * from t ‸nulls first
select * from t tablesample a.b.c.d (1)
select * from ((t‸)
select * from (select 1) x, lateral ((select 2)) y, ((values (1)) order by 1) z
select * from t, u left join v on true, lateral f(t.a) with ordinality as w(a, b)
select * from f(variadic a) as (a int[], b varchar(10), c a.b.c)
select * from rows from (f(1), g(2) as (a int)) as x(a, b, c)
select * from rows from (f(1), g(2) as (a int)) as x(a int)
select * from f(1) x join g(2) y using (a, b)
select * from ((((((select 1))))) x join y on true)
select * from ((((((select 1))))) union select 2) x
select * from ((((((a join b on true))))) join y on true)
select * from (((((a join b on true) x‸)))))
select * from (f(1) x join g() on true)
select * from (lateral f(1) x join only (t) y on true)
select * from (lateral f(1) x‸)
select * from ‸(select 1) 5 ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from ‸(select 1) ) ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from ((select 1) ‸5)
select * from ((select 1)‸, b)
select * from ((select 1) ‸where)
select * from ((select 1) ‸where) x
select * from (((select 1)) ‸5)
select * from lateral ‸(select 1) 5 ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from t join ‸(select 1) 5 ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from (t join ‸(select 1)) ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from (t join ‸(select 1) on true) ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from ((select 1) as‸)
select * from ((‸(select 1) join t on true) 5) ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
select * from t where a in (select * from ((select 1) ‸+
select * from ((values (1)) ‸5)
select * from (‸(values (1)) cross join t) ## 42601 VALUES in FROM must have an alias # For example, FROM (VALUES ...) [AS] foo.
select * from ((values (1)) ‸on)
select * from t.*‸
select * from t[1]‸
select * from a.*.b‸
select * from a.b[1] ‸x
select * from cast ‸user (1 as int)
