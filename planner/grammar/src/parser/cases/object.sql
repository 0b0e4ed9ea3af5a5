alter procedural language l rename to m
alter language l owner to m
alter language l ‸set schema m
alter ‸trusted language l owner to m
alter trigger t on x rename to y
alter trigger t on x depends on extension y
alter trigger t on x no depends on extension y
alter trigger t on x ‸owner to y
alter trigger t on ‸a.b.c.d rename to y ## 42601 improper qualified name (too many dotted names): a.b.c.d
alter trigger if ‸exists t on x rename to y
alter rule r on x rename to y
alter rule r on x ‸owner to y
alter event trigger e enable
alter event trigger e enable replica
alter event trigger e enable always
alter event trigger e disable
alter event trigger e disable ‸always
alter event trigger e owner to x
alter event trigger e rename to x
alter statistics s set statistics 10
alter statistics if exists s set statistics -10
alter statistics if exists s ‸rename to x
alter statistics s rename to x
alter statistics s set schema x
alter statistics s owner to x
alter statistics s set statistics ‸default
alter text search parser p rename to x
alter text search parser p ‸owner to x
alter text search parser p set schema x
alter text search dictionary p owner to x
alter text search dictionary p set ‸(a = 1)
alter text search configuration p add ‸nonsense
alter text search configuration p owner to x
alter text search template p ‸owner to x
alter text search template p set schema x
alter tablespace t set (a = 1)
alter tablespace t reset (a)
alter tablespace t rename to x
alter tablespace t owner to x
alter large object 1 owner to x
alter large object -1.5 owner to x
alter large object 1 ‸rename to x
alter ‸access method a rename to x
alter ‸cast (int as text) owner to x
alter ‸constraint a on b rename to c
alter ‸nonsense
alter procedure f rename to x
alter routine f() owner to x
alter function f(int) rename to a‸.b
alter function f(int) set schema a‸.b
alter function f reset all stable
alter aggregate f ‸rename to x
alter aggregate f(*) rename to x
alter aggregate f(*) owner to x
alter aggregate f(*) set schema x
drop table a, b.c cascade
drop table if exists if restrict
drop index concurrently a
drop index concurrently if exists a, b cascade
drop index concurrently‸
drop index if exists ‸concurrently a
drop table ‸concurrently a
drop foreign table a
drop foreign data wrapper a, b
drop materialized view a
drop sequence a.b.c.d.e
drop collation a, b
drop statistics a, b cascade
drop text search parser a, b
drop text search ‸x
drop access method a, b
drop event trigger a, b
drop extension a‸.b
drop procedural language a, b
drop publication a, b
drop schema a, b cascade
drop server a, b
drop server if exists a
drop policy p on t
drop policy if exists p on a.b cascade
drop policy p‸, q on t
drop policy p‸
drop type int, text[]
drop type if exists setof a
drop domain a.b
drop cast (int as text) cascade
drop cast if exists (int as text)
drop function f, g(int), h() cascade
drop procedure if exists f(out int)
drop routine f
drop operator + (int, int), a.- (none, int) cascade
drop operator if exists + (int‸) ## 42601 missing argument # Use NONE to denote the missing argument of a unary operator.
drop operator + (int, none)
drop operator + (none, ‸none)
drop operator + (‸)
drop operator +‸
drop operator if.+ (int, int)
drop operator operator‸(a.+) (int, int)
drop operator class a.b using c cascade
drop operator class if exists a.b using c‸, d
drop operator family if exists a.b using c
drop transform for int language sql
drop transform if exists for int language sql cascade
drop subscription s cascade
drop subscription if exists s
drop subscription s‸, t
drop tablespace t
drop tablespace if exists t
drop tablespace t ‸cascade
drop database d
drop database if exists d
drop database d with (force)
drop database d (force, force)
drop database if exists d with (force)
drop database d with (‸)
drop database d with‸
drop database d‸, e
drop database d ‸cascade
drop conversion c
drop ‸nonsense x
drop‸
drop ‸column a
drop ‸constraint a on b
drop trigger t on a.b.c.d
drop aggregate if exists f(int)
drop table a,‸
comment on table t is 'x'
comment on table t is null
comment on table t is ‸1
comment on table t‸
comment on column a is 'x'
comment on column a.b.c.d.e is 'x'
comment on database d is 'x'
comment on role d is 'x'
comment on ‸user d is 'x'
comment on subscription d is 'x'
comment on tablespace d is 'x'
comment on type int is 'x'
comment on domain a.b is 'x'
comment on aggregate f(*) is 'x'
comment on aggregate f ‸is 'x'
comment on function f is 'x'
comment on function f(int, out text) is 'x'
comment on operator + (int, int) is 'x'
comment on operator class c using m is 'x'
comment on operator family c using m is 'x'
comment on constraint c on t is 'x'
comment on constraint c on domain d is 'x'
comment on constraint c on domain is 'x'
comment on constraint c on domain.x is 'x'
comment on constraint c on domain int is 'x'
comment on trigger t on x is 'x'
comment on policy t on x is 'x'
comment on rule t on x is 'x'
comment on rule t ‸is 'x'
comment on procedure p is 'x'
comment on routine p(int) is 'x'
comment on transform for int language x is 'x'
comment on large object 1 is 'x'
comment on large object -1.5 is 'x'
comment on cast (int as text) is 'x'
comment on access method a is 'x'
comment on event trigger a is 'x'
comment on extension a is 'x'
comment on procedural language a is 'x'
comment on foreign data wrapper a is 'x'
comment on foreign table a is 'x'
comment on server a is 'x'
comment on text search configuration a is 'x'
comment on statistics a.b is 'x'
comment on collation a.b is 'x'
comment on conversion a.b is 'x'
comment on materialized view a.b is 'x'
comment on ‸nonsense a is 'x'
comment on text ‸nonsense a is 'x'
comment on ‸group g is 'x'
comment on constraint c on domain a is ‸1
alter text search dictionary p (a = 1) ## 0A000 ALTER TEXT SEARCH DICTIONARY is not supported
alter text search configuration p drop mapping if exists for a ## 0A000 ALTER TEXT SEARCH CONFIGURATION is not supported
alter server s version '1' ## 0A000 ALTER SERVER is not supported
alter foreign data wrapper w no handler ## 0A000 ALTER FOREIGN DATA WRAPPER is not supported
