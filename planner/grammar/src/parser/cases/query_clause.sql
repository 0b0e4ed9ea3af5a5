select 1 ‸limit 1,2 ## 42601 LIMIT #,# syntax is not supported # Use separate LIMIT and OFFSET clauses.
select 1 ‸limit 1,2 foo ## 42601 LIMIT #,# syntax is not supported # Use separate LIMIT and OFFSET clauses.
(select 1 order by 1) order by ‸2 ## 42601 multiple ORDER BY clauses not allowed
(select 1 limit 1) limit ‸2 ## 42601 multiple LIMIT clauses not allowed
(select 1 offset 1) offset ‸2 ## 42601 multiple OFFSET clauses not allowed
select 1 fetch first 1 row with ties ## 42601 WITH TIES cannot be specified without ORDER BY clause
select 1 order by 1 fetch first 1 row with ties for update skip locked ## 42601 SKIP LOCKED and WITH TIES options cannot be used together
(select 1 order by 1 fetch first 1 row with ties) limit ‸2 ## 42601 multiple LIMIT clauses not allowed
(select 1 order by 1 fetch first 1 row with ties) offset 2 ## 42601 multiple limit options not allowed
(select 1 for update skip locked) order by 1 fetch first row with ties ## 42601 SKIP LOCKED and WITH TIES options cannot be used together
select 1 for update limit 1 ‸for update
select 1 limit 1 for update ‸limit 2
select 1 for read only limit 1
select 1 for read only ‸for update
select 1 for update of a.b, c nowait
select 1 limit 1 ‸limit 2
select 1 offset 1 ‸offset 2
select 1 offset 1 limit 1
select 1 offset 1 rows fetch next row only
select 1 offset 1+1 ‸rows
select 1 offset +1 rows
select 1 offset + a ‸rows
select 1 offset (1+1) rows
select 1 offset a row
select 1 fetch first -1 rows only
select 1 fetch first 1‸+1 rows only
select 1 fetch first row‸
select 1 fetch first ‸all rows only
select 1 limit‸
select 1 order by a using < nulls last
select 1 order by a using operator(x.<)
select 1 order by a using ‸like
select 1 order by 1 ‸union select 2
values (1), (2,3) order by 1
select 1 for‸
select 1 for update of‸
select 1 for update skip‸
select 1 for no key ‸share
select 1 fetch next 2 rows with ties ## 42601 WITH TIES cannot be specified without ORDER BY clause
select 1 order by 1 fetch first (1+1) row with ties
select 1 fetch ‸1 rows only
select 1 limit 1 ‸fetch first row only
select 1 limit 1 offset‸
select 1 offset (select 1) + 1 ‸rows
select 1 offset (1)+(2) ‸rows
(select 1) union select 2 order by 1
((select 1) order by 1) limit 1
((((select 1) limit 1)) order by 1) for update
(values (1)) order by 1 limit 1
select 1 for update nowait ‸skip locked
select 1 for update of t for share of u skip locked limit 1
select 1 limit 1 for update ‸offset 1
select 1 offset 1 for update ‸limit 1
select 1 order by 1 for update ‸order by 1
select 1 limit all offset 1
select 1 ‸limit all, 2 ## 42601 LIMIT #,# syntax is not supported # Use separate LIMIT and OFFSET clauses.
select 1 limit 1, ‸all
select 1 limit (1)
select 1 limit 1::int
select 1 limit null
select 1 fetch first $1 rows only
select 1 fetch first 1.5 row only
select 1 fetch first + 1 rows only
select 1 fetch first - ‸a rows only
select 1 fetch first f(x) rows only
select 1 fetch first (1) ‸+ 1 rows only
select 1 fetch first a.b[1] rows only
select 1 fetch first a‸::int rows only
select 1 fetch first rows rows only
select 1 fetch first row row only
select 1 fetch first row(1) row only
select 1 fetch first rows only
select 1 fetch first 1 ‸only
select 1 fetch first 1 rows‸
select 1 fetch first 1 rows with‸
select 1 fetch first 1 rows with ‸tie
select 1 offset a::int ‸row
select 1 offset -1 row
select 1 offset - (1) ‸row
select 1 offset (- a) row
select 1 offset -1
select 1 offset a.b row
select 1 offset case when a then 1 end rows
select 1 offset int '1' rows
select 1 offset row(1) rows
select 1 offset (1, 2) rows
select 1 offset not a ‸rows
select 1 offset row
select 1 offset rows
select 1 offset rows rows
select 1 offset exists (select 1) rows
select 1 offset array[1] rows
select 1 offset (a).b rows
select 1 offset (select 1) rows
select 1 offset cast(1 as int) rows
select 1 offset 1 row ‸rows
select 1 offset 1 row for update
select 1 order by a ‸nulls
select 1 order by a nulls first, b desc nulls last, c asc
select 1 order by nulls
select 1 order by nulls nulls first
select 1 order by ‸nulls first
select 1 order by a using‸
select 1 order by a using < ‸desc
select 1 order by a asc ‸desc
select 1 order by‸
select 1 order ‸a
select 1 union (select 2) limit 1
select 1 union ‸order by 1
table t order by 1 limit 1 for update
select 1 for update of ‸a.b.c.d ## 42601 improper qualified name (too many dotted names): a.b.c.d
select 1 offset default ‸rows
select 1 offset +a
select 1 offset +1 + 2
select 1 offset 1 = 2
select 1 offset not a
select 1 offset (1) + 2
select 1 offset (select 1) + 1
select 1 offset a.b * 2 limit 3
select 1 fetch first ‸default rows only
select 1 offset @ 1 ‸rows
select 1 order by a collate "C" desc nulls first, b using operator(pg_catalog.>) nulls last
select ((((1)))), ((((select 1)))), ((((select 1)) + 1)), (((select 1) union select 2) limit 1)
