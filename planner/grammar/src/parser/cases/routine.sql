drop function a.b[1]‸
drop function a.*‸
drop function a.b.c.d.e
drop function left‸.x
drop function left
drop function int
drop function int.x
drop function int‸()
create function int‸() returns int
create function int.x() returns int
create function f(a b ‸c) returns int
create function f(a in int, out b int, in out c int, inout d int, variadic e int[], f out int)
create function f(in a ‸out int)
create function f(double double precision, double precision, national ‸int, precision int)
create function f(double double)
create function f(setof ‸setof)
create function f(setof ‸setof int)
create function f(a.b%type, x setof a.b%type) returns setof a.b.c%type
create function f(a‸%type)
create function f(a.b[]‸%type)
create function f(int‸.b%type)
create function f(a int default 1, b int = 2)
drop function f(a int ‸= 2)
drop aggregate f(a int, variadic b int order by variadic c ‸text) ## 0A000 an ordered-set aggregate with a VARIADIC direct argument must have one VARIADIC aggregated argument of the same data type
drop aggregate f(a int, variadic b int order by variadic c int), g(*), h(order by int), i(int order by a int, b int)
drop aggregate f‸
drop aggregate f(‸)
drop aggregate f(a int ‸default 1)
create aggregate f(basetype = int, sfunc = g)
create aggregate f("basetype" = int, sfunc = g)
create aggregate f(type ‸= int, sfunc = g)
create aggregate f(basetype = int, ‸type = g)
create aggregate f(basetype = int, sfunc‸)
create aggregate f(int)‸
create aggregate f(int) (sfunc = 1, stype)
create function f(out a int) returns table (b int) ## 42601 OUT and INOUT arguments aren't allowed in TABLE functions
create function f(a int) returns table (b‸)
create function f(a int) returns table (‸)
create function f(a int) returns table (b int, ‸int c)
create function f(a int) returns table (b a.b%type, ‸int int)
create procedure f() returns ‸int
create procedure f() returns null on null input
create function f() language sql returns ‸int
create function f() returns int as 'a', 'b' language 'c' window transform for type int, for type text cost -1 rows +1.5 support a.b parallel safe not leakproof leakproof external security definer security invoker stable
create function f() begin atomic end
create function f() begin atomic select 1; ; return 1; create table t (a int); end
create function f() begin atomic ‸begin; end
create function f() begin atomic select case when true then 1 else 2 end; end
create function f() return 1
create function f() begin atomic return 1; end ‸language sql
create function f() return 1 ‸language sql
create function f() begin ‸select 1; end
create function f() parallel ‸select
create function f() set a = 1 set search_path from current reset all set schema 'x' set time zone local
alter function f‸
alter function f set schema x
alter function f set schema 'x'
alter function f(int) stable restrict
alter function f(int) stable ‸cascade
alter function f(int) depends on extension x
alter function f(int) no depends on extension x
alter function f(int ‸default 1) no depends on extension x
alter function f(int) ‸language sql
alter aggregate f(int) ‸stable
alter aggregate f(int) ‸depends on extension x
do‸
do language 'a' 'x'
call f‸
call f()
call f(1, variadic a order by 1)
call coalesce‸(1)
call ‸current_date
call collation ‸for (x)
call f() ‸over ()
call f() ‸filter (where true)
call a.b.c(distinct 1)
call f(*)
create or replace procedure s.p(inout a int default 1, out b text) language plpgsql as $$begin end$$
create function f(int, text[], variadic "any") returns trigger language plpgsql security definer set search_path = a, b as 'x'
create function f(a int[3], b numeric(1, 2), c timestamp with time zone, d setof int) returns setof record cost 1 rows 2
create function f ‸returns int
create function f() as ‸1
create function f() as 'a', 'b'‸, 'c'
create function f() language ‸select
create function f() called on null input strict called on ‸input
create function f() security ‸x
create function f() external ‸x
create function f() support‸
create function f() transform for ‸int
create function f() rows ‸x
create function f() not ‸strict
create function f(variadic a int[] default null) returns int
create function f(a default 1) returns int
create function f(a int = ‸) returns int
create function f(in out ‸in int)
create function f(out‸) returns int
create function f(inout ‸inout int) returns int
create function f(a variadic int[]) returns int
create function f(‸,) returns int
create function f(a int,‸) returns int
create function f(a.b ‸c) returns int
create function f(a int) returns setof‸
create function f() returns table (a int) language sql begin atomic insert into t values (1) returning a; end
create function f() returns int return case when true then 1 end
create function f() begin atomic with a as (select 1) select 2; update t set a = 1; delete from t; end
create function f() begin atomic create function g() begin atomic select 1; end; end
create function f() begin atomic end ‸select 1
create function f() begin atomic return‸; end
create function f() begin atomic commit; end
create function f() begin atomic end ‸and chain; end
create function f() returns a.b.c returns null on null input
drop function f(a, b c, out d e, variadic f g[])
drop aggregate a.b(int, text), c(*)
drop aggregate a(* ‸int)
drop aggregate a(order by‸)
drop aggregate a(int order ‸int)
create aggregate a.b(x int, y int) (sfunc = f, stype = int, initcond = '0', parallel = safe)
create or replace aggregate a(*) (sfunc = f)
create aggregate a(order by int) (sfunc = f)
create aggregate a(int order by variadic text[]) (sfunc = f)
create aggregate a(basetype = any, sfunc = f)
create aggregate a(‸) (sfunc = f)
create aggregate a(basetype = int‸
alter function f(int) immutable strict cost 1 rows 2 parallel safe reset a set b to c
alter procedure f set schema 'x' restrict
alter routine f rename ‸x
alter function f owner ‸x
alter function f no ‸x
alter function f stable ‸rename to x
alter function f(int) returns null on null input
alter procedure p() external security definer
alter routine r not leakproof
create function f() begin atomic end; end
create function f() begin atomic select 1 end‸
create function f() begin atomic select case when a then case b when 1 then 2 end end; end; select 1
create function f() begin atomic select 1; select 2‸
do 'x' ‸'y' ## 42601 conflicting or redundant options
do language a ## 42601 no inline code specified
