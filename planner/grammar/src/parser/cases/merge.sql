merge into t using s on a = b when matched and x then update set a = 1 when matched then delete when not matched then insert (a, b.c) overriding system value values (1, default) when not matched and z then insert default values when not matched then do nothing
merge into only t as a using (select 1) x join y on true on true when matched then do nothing
merge into t using s on true‸
merge into t using s on true when matched then ‸insert values (1)
merge into t using s on true when not matched then ‸update set a = 1
merge into t using s on true when not matched then insert values (1)‸, (2)
merge into t using s on true when not matched then insert overriding user value values (1)
merge into t using s on true when not matched then insert (a) ‸default values
merge into t using s on true when matched then update set a = 1 ‸returning 1
merge into t using s on true when not matched ‸by source then delete
merge ‸t using s on true when matched then delete
with a as (select 1) merge into t using a on true when matched then delete
merge into t using s on true when matched and ‸then delete
merge into t using s on true when matched then‸
merge into t using s on true when matched then do‸
merge into t using s on true when not ‸then do nothing
merge into t using s on true when not matched then ‸delete
merge into t using s on true when not matched then insert‸
merge into t using s on true when not matched then insert ‸select 1
merge into t using s on true when not matched then insert overriding user value ‸default values
merge into t as x using ‸(select 1) on true when matched then delete ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
merge into t x using s y on true when matched then delete
merge into t ‸set using s on true when matched then delete
merge into t using s‸, u on true when matched then delete
merge into t using s ‸when matched then delete
merge into t using s on true when matched then update set (a, b) = (1, 2), c.d = default when matched then do nothing
merge into t using s on true when matched then update set a = 1 ‸where b
merge into a.b as c using d.e f on c.x = f.x when matched then delete when not matched and true then insert (a) values (1)
merge into t using ‸(select 1) 5 ## 42601 subquery in FROM must have an alias # For example, FROM (SELECT ...) [AS] foo.
