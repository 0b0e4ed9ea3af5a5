update only t as x set a = 1, b[1] = 2, (c, d.e) = row(1,2), (f) = (select 1) from y join z on true where current of cur returning *
update t set set ‸a = 1
update t x set a = 1
update t as set set a = 1
update t set a = 1 where current of‸
update t set a = 1 where current
update t set (‸) = 1
update t set a.* = 1
update t set a.*.b ‸= 1 ## 42601 improper use of "*" at or near "="
update t x‸(a) set a = 1
delete from only t x using a, b where current of c returning 1 a, 2 as b
delete ‸t
delete from t ‸set where true
update t set a = 1,‸
update t set a‸
update t set (a)‸
update t set (a) =‸
update t set a ‸:= 1
update t set a = default, b = (default)
update t set (a, b) = (default, 1)
update t set (a, b) = 1 + 2
update t set a = 1 ‸b = 2
update t‸
update t x ‸y set a = 1
update t as x‸(a) set a = 1
update t set a = 1 from‸
update t set a = 1 ‸limit 1
update t * set a = 1
update only (t) set a = 1
update t set a = 1 where current of x ‸and b
update t set a = 1 where (current ‸of x)
update t set a = 1 where current of "X" returning 1
update t set a = 1 where current of ‸left
update t set a.b.c = 1, d[1].e = 2
update t set t.a = 1 from lateral (select 1) x, y
delete from t returning‸
delete from t as x ‸(a)
delete from t as x where a
delete from t using‸
delete from t where‸
delete from t x ‸y
delete from t ‸limit 1
with a as (select 1) delete from t using a
with a as (select 1) update t set a = 1
update ‸a.b.c.d set x = 1 ## 42601 improper qualified name (too many dotted names): a.b.c.d
