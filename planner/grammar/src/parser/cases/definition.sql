create publication p
create publication p with (a = 1, b)
create publication p for all tables with (a)
create publication p for table t, a.b (c, d) where (x > 1), only y, only (z), w *, tables in schema s, u, current_schema
create publication p for ‸t ## 42601 invalid publication object list
create publication p for ‸current_schema ## 42601 invalid publication object list
create publication p for table t, ‸current_schema ## 42601 invalid table name
create publication p for tables in schema s, ‸a.b ## 42601 invalid schema name
create publication p for tables in schema s, ‸a (b) ## 42601 column specification not allowed for schema
create publication p for tables in schema s, ‸a where (true) ## 42601 WHERE clause not allowed for schema
‸create publication p for tables in schema s, only a ## 42601 invalid schema name
‸create publication p for tables in schema s, a * ## 42601 invalid schema name
‸create publication p for tables in schema s, a * (b) where (true) ## 42601 WHERE clause not allowed for schema
create publication p for tables in schema s ‸(a)
create publication p for tables in schema current_schema, table ‸current_schema
create publication p for table t where ‸true
create publication p for table only t (a) where (true), ‸a.b.c.d ## 42601 improper qualified name (too many dotted names): a.b.c.d
create publication p for table ‸a.b.c.d ## 42601 improper qualified name (too many dotted names): a.b.c.d
create publication p for all tables‸, table t
create publication p for tables in schema s, ‸a.b where (true) ## 42601 WHERE clause not allowed for schema
create publication p for table t, a.b[1]‸
create publication p for table t, a.*‸
create publication p for table t (‸)
create publication p for tables in schema a‸.b
alter publication p set (a = 1)
alter publication p add table t
alter publication p set table t, tables in schema s
alter publication p drop ‸t ## 42601 invalid publication object list
alter publication p add ‸(t)
alter publication p set ‸t ## 42601 invalid publication object list
alter publication p owner to x
alter publication p rename to y
alter publication p drop table t ‸with (x)
create subscription s connection 'x' publication a, b with (c = d)
create subscription s ‸publication a
create subscription s connection 'x' publication a‸.b
alter subscription s set (a)
alter subscription s connection 'x'
alter subscription s refresh publication with (a)
alter subscription s add publication a, b with (c)
alter subscription s drop publication a
alter subscription s set publication a
alter subscription s enable
alter subscription s disable
alter subscription s skip (lsn = 1)
alter subscription s skip‸
alter subscription s owner to a
alter subscription s rename to a
alter subscription s set ‸schema a
create collation c from d
create collation if not exists a.c from x."C"
create collation c (locale = 'x')
create collation c‸
create collation c (‸)
create or replace ‸collation c from d
create text search parser p (start = f)
create text search configuration p (copy = pg_catalog.english)
create text search template p‸
create text search ‸x p
create operator + (leftarg = int, rightarg = int, procedure = f, hashes)
create operator a.b.<> (leftarg = none)
create operator ‸=> (leftarg = none)
create operator class.+ (leftarg = int)
create operator class c default for type int using btree family f as operator 1 <, operator 2 a.<= (int, none) for search, operator 3 = for order by x.y, function 1 f(int), function 2 (int, text) a.f(int), storage int
create operator class c for type int using btree as operator 1 < recheck
create operator class c for type int using btree as operator 1 < (int‸) ## 42601 missing argument # Use NONE to denote the missing argument of a unary operator.
create operator class c for type int using btree as operator 1 < (none, ‸none)
create operator class c for type int using btree as operator ‸99999999999 <
create operator class c for type int using btree as operator ‸-1 <
create operator class c for type int using btree as function 1 (‸)  f
create operator class c for type int using btree as function 1 f
create operator class c for type int using btree‸
create operator family f using btree
alter operator family f using btree drop ‸nonsense
alter operator class f using btree ‸add operator 1 <
alter operator + (int, int) set (restrict = none, join = f)
alter operator + (int, int) set (restrict‸)
alter operator + (int, int) set (‸)
alter operator + (int‸) set (restrict = x) ## 42601 missing argument # Use NONE to denote the missing argument of a unary operator.
alter operator + ‸set (restrict = x)
alter operator + (none, int) owner to a
alter operator + (none, int) set schema a
alter operator + (none, int) ‸rename to a
alter operator class c using btree rename to d
alter operator class c using btree owner to d
alter operator class c using btree set schema d
alter collation c refresh version
alter collation c refresh‸
alter collation c set schema d
alter conversion c rename to d
alter schema s rename to d
alter schema s owner to d
alter schema s ‸set schema d
alter extension e update
alter extension e update to ‸1
alter extension e add table t
alter extension e drop function f(int)
alter extension e add database t
alter extension e add role t
alter extension e add ‸trigger t on x
alter extension e add ‸policy t on x
alter extension e add ‸column t.a
alter extension e add ‸constraint x on y
alter extension e add ‸large object 1
alter extension e add cast (int as text)
alter extension e add domain int
alter extension e add type int[]
alter extension e add transform for int language x
alter extension e add operator + (int, int)
alter extension e add operator class x using y
alter extension e add aggregate x(*)
alter extension e add subscription x
alter extension e add tablespace x
alter extension e add event trigger x
alter extension e set schema x
alter extension e ‸owner to x
alter extension e ‸rename to x
alter publication p add tables in schema a, b, table c
alter publication p drop tables in schema a ‸with (x)
alter publication p ‸enable
alter publication p set ‸tables ## 42601 invalid publication object list
create publication p for ‸tables a ## 42601 invalid publication object list
create publication p for all‸
create publication p for table‸
create publication p for tables in schema a ‸where (true)
‸create publication p for only t ## 42601 invalid publication object list
create publication p for table t, only (u) (a) where (b)
create subscription s connection ‸x publication a
create subscription s connection 'x' publication a with‸
alter subscription s refresh‸
alter subscription s add ‸a
alter subscription s enable ‸x
alter subscription s connection‸
alter extension e add‸
alter extension e add foreign data wrapper x
alter extension e add procedural language x
alter extension e add text search parser x
alter extension e drop materialized view x
alter extension e update ‸x
create collation c from‸
create collation if ‸exists c from d
create text search dictionary d (template = simple, stopwords = 'x')
create text ‸parser p (a)
create operator family f‸
create operator a.b ‸(leftarg = int)
create operator === (procedure = f, leftarg = int, commutator = operator(a.===), negator = !==, restrict = eqsel)
create operator family.+ (leftarg = int)
create operator class c for type int using btree as storage‸
create operator class c for type int using btree as operator ‸< 1
create operator class c for ‸int using btree as storage int
create operator class c for type int using btree as operator 1 < for‸
create operator class c for type int using btree as ‸nonsense 1
create statistics a.b (ndistinct, dependencies) on a, b from s.t
create statistics s ‸from t
create statistics s on ‸from t
create statistics s on a‸
create statistics s on coalesce from t
create statistics s on a, (b) from t ‸where true
create cast (int as text) with function f(int) as assignment
create cast (int‸, text) without function
create cast (int as text) without‸
create extension "x-y" schema a‸.b
create extension if ‸exists a
alter operator * (int, numeric) owner to current_user
alter operator a.b.+ (int[], none) set schema c
alter operator + (int, int) set (join = none, restrict = a.b)
create extension e schema a ‸schema b ## 42601 conflicting or redundant options
alter extension e update to '1' ‸to b ## 42601 conflicting or redundant options
create statistics s on a from (select 1) x ## 0A000 only a single relation is allowed in CREATE STATISTICS
alter operator family f using btree add operator 1 < ## 0A000 ALTER OPERATOR FAMILY is not supported
alter operator family f using btree drop operator 1 (int, ‸)
alter operator family f using btree drop operator 1 (int, int), function 2 (int) ## 0A000 ALTER OPERATOR FAMILY is not supported
