‸with a as (select 1) (with b as (select 2) select 1) ## 42601 multiple WITH clauses not allowed
with recursive a(b, c) as not materialized (select 1) search depth first by x, y set z cycle a, b set c to 1 default 0 using p select 1
with a as (select 1) search breadth first by x set z select 1
with a as (select 1) cycle x set c using p select 1
with a as (select 1) cycle x set c to 'a' default 'b'‸||'c' using p select 1
with a as (select 1) cycle x set c to interval '1 day' default ‸-1 using p select 1
with a as (select 1) cycle x set c to ‸(1) default 1 using p select 1
with a as (select 1) cycle x set c to int '1' default x 'y' using p select 1
with time as (select 1) select 1
with a as (insert into t values (1) returning *), b as (update t set a=1), c as (delete from t), d as ((select 1)), e as (merge into t using s on true when matched then do nothing) table a
with a as ‸select 1 select 1
with a as (‸) select 1
with a as (‸truncate t) select 1
with a as (select 1)‸
with a (b ‸c) as (select 1) select 1
with a as (select 1) values (1)
with recursive as (select 1) select 1
with recursive recursive as (select 1) select 1
with recursive (a) as (select 1) select 1
with recursive‸
with a as (select 1) ‸truncate t
(with a as (select 1) ‸insert into t values (1))
with a as (select 1) (select 1)
with a as (select 1) (select 1) union select 2
(with a as (select 1) select 1) order by 1
with a as materialized (select 1) select 1
with a as not ‸(select 1) select 1
with a as (select 1), ‸select 1
with a as (select 1) ‸b as (select 2) select 1
with a as (select 1) search depth ‸by x set z select 1
with a as (select 1) search ‸first by x set z select 1
with a as (select 1) search depth first by x set ‸select select 1
with a as (select 1) cycle x set c to true default false using p select 1
with a as (select 1) cycle x set c to a ‸default b using p select 1
with a as (select 1) cycle x set c to null ‸using p select 1
with a as (select 1) cycle x set c to f('x') 'y' default 1.5 using p select 1
with a as (select 1) cycle x set c to b'1' default x'1' using p select 1
with a as (select 1) cycle x set c to ‸$1 default 1 using p select 1
with a as (select 1) cycle x set c to 1‸::int default 1 using p select 1
with a as (select 1) cycle x set c to interval(2) '1' default interval '1' hour using p select 1
with a as (select 1) cycle x set c using p ‸search depth first by x set z select 1
with a(‸) as (select 1) select 1
with ‸left as (select 1) select 1
with a as (select 1) cycle x set c to ‸case when a then b end default 1 using p select 1
with a as (select 1) cycle x set c to f(x) ‸default 1 using p select 1
