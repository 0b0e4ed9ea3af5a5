insert into t (select 1)
insert into t (a) (select 1)
insert into t (a, b.c, d[1], e[1:2], f.*) overriding user value values (default, 1)
insert into t (a.*.b‸) values (1) ## 42601 improper use of "*" at or near ")"
insert into t default values
insert into t as x default values returning *
insert into t ‸x default values
insert into t overriding system value select 1
insert into t overriding system value ‸default values
insert into t (values) values (1)
insert into t (values (1))
insert into t ((select 1) union select 2)
insert into t ((‸a)) values (1)
insert into t (‸) values ()
insert into t values (‸)
insert into t values (1) on conflict do nothing
insert into t values (1) on conflict do update‸
insert into t values (1) on conflict do update set a = 1 where b returning a
insert into t values (1) on conflict (a, (b+1), lower(c) collate "C" text_ops) where x do update set (a, b) = (1, 2), c = default
insert into t values (1) on conflict on constraint x do nothing
insert into t values (1) on conflict on constraint x ‸where a do nothing
insert into t select * from a on conflict do nothing
insert into t select * from a join b on conflict ‸do nothing
insert into t select on conflict do nothing
insert into t (a) select returning a
insert into ‸only t values (1)
insert into t ‸* values (1)
insert into t (a) ‸default values
insert into t (a.b.c[1].d) select 1
insert into t select 1 returning *, a as b
insert into t (with a as (select 1) select 1)
insert into t with a as (select 1) select 1
with a as (select 1) insert into t with b as (select 1) select 1
insert into t table x
insert into t select * from x as ‸on conflict do nothing
insert into t (select) ‸values (1)
insert into t (table‸) values (1)
insert into t (a[‸]) values (1)
insert into t (a[:], b[1:], c[:2]) values (1)
insert into t (a[1:2‸:3]) values (1)
insert into t (a‸.1) values (1)
insert into t (a.‸) values (1)
insert into t (a‸
insert into t (a)‸
insert into t‸
insert into‸
insert ‸t values (1)
insert into t values (1), (2) on conflict (a) where b do nothing ‸where c
insert into t values (1) on conflict (‸) do nothing
insert into t values (1) on conflict ‸a do nothing
insert into t values (1) on‸
insert into t values (1) on conflict do‸
insert into t values (1) on conflict do update set‸
insert into t values (1) returning‸
insert into t values (1) ‸overriding user value
insert into t overriding ‸value values (1)
insert into t as values (‸1)
insert into t as values values (1)
insert into ‸a.b.c.d values (1) ## 42601 improper qualified name (too many dotted names): a.b.c.d
