select distinct ‸from t
select distinct on (‸) a
select all from t
select all
select into x from t
select 1 into temp
select 1 into temp from x
select 1 into temp x
select 1 into local ‸x
select 1 into local
select 1 into table x
select 1 into temp table x
select 1 from t ‸into x
select a, ‸from t
select *, * from t
select * ‸as x from t
select * ‸x from t
select t.* as x from t
select t.* x from t
select t.*.a ‸from t ## 42601 improper use of "*" at or near "from"
select a b ‸c
select a ‸over
select a as over
select a, b ‸filter
select 1 from‸
select 1 where‸
select 1 from t,‸
select 1 into strict ‸x
select distinct on (a) ‸from t
select distinct on ‸a from t
select a ‸nulls first
select a nulls
select 1 group ‸a
select 1 having‸
select
select 1 ‸2
select 1,‸
select ‸,
select * ‸* from t
select a.* b‸.*
select 1 as‸
select 1 as ‸2
select 1 as select
select 1 select
select 1 where a ‸where b
select 1 from t ‸from u
select 1 where a ‸from t
select all ‸distinct 1
select distinct ‸all 1
select distinct‸
select distinct on (a) b, * from t
select 1 into‸
select 1 into temp table‸
select 1 into temporary x
select 1 into local temp x
select 1 into global temporary table x
select 1 into local temporary‸
select 1 into unlogged x
select 1 into unlogged table x
select 1 into unlogged
select 1 into unlogged from x
select 1 into temp.x
select 1 into table temp
select 1 into table ‸table
select 1 into x‸, y
select 1 into x‸(a)
select a as ‸nulls first
select 1 into ‸a.b.c.d ## 42601 improper qualified name (too many dotted names): a.b.c.d
select a from t as x‸.y
select a ‸nulls last
select a.* ‸nulls first from t
select row from t
