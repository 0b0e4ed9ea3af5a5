create trigger a before insert or ‸insert on t execute function f() ## 42601 duplicate trigger events specified at or near "insert"
create trigger a before insert or update of a or update ‸on t execute function f() ## 42601 duplicate trigger events specified at or near "on"
create trigger a before insert or update of a, b on t execute function f()
create trigger a before update or update of a, b ‸on t execute function f() ## 42601 duplicate trigger events specified at or near "on"
create trigger a before insert or delete or ‸insert ## 42601 duplicate trigger events specified at or near "insert"
create trigger a before insert on ‸t.a.b.c execute function f() ## 42601 improper qualified name (too many dotted names): t.a.b.c
create trigger a after truncate on t referencing old table as o new table n for each row when (a = b) execute procedure f(1, 007, 1.5, 'x', abc, SELECT, "Abc", 99999999999)
create trigger a after truncate on t execute procedure f(, 1)
create trigger a after truncate on t execute procedure f(1,‸)
create trigger a after truncate on t execute procedure f(‸-1)
create trigger a instead of truncate on t for row execute procedure f(‸0x1) ## 42601 trailing junk after numeric literal at or near "0x1"
create trigger a after truncate on t referencing old ‸o execute procedure f()
create trigger a after truncate on t referencing ‸execute procedure f()
create trigger a after truncate on t ‸from x execute procedure f()
create trigger a after truncate on t ‸deferrable execute procedure f()
create constraint trigger a after insert on t from x deferrable initially deferred for each row execute function f()
create constraint trigger a after insert on t from x initially deferred ‸not deferrable for each row execute function f() ## 42601 constraint declared INITIALLY DEFERRED must be DEFERRABLE
create constraint trigger a after insert on t from x deferrable ‸not deferrable for each row execute function f() ## 42601 conflicting constraint properties
create constraint trigger a after insert on t from x initially immediate ‸initially deferred for each row execute function f() ## 42601 conflicting constraint properties
create constraint trigger a after insert on t from x not valid for each row execute function f() ## 0A000 TRIGGER constraints cannot be marked NOT VALID
create constraint trigger a after insert on t from x no inherit deferrable for each row execute function f() ## 0A000 TRIGGER constraints cannot be marked NO INHERIT
create constraint trigger a after insert on t from x for ‸row execute function f()
create constraint trigger a after insert on t from x ‸execute function f()
create constraint trigger a ‸before insert on t for each row execute function f()
create or replace constraint trigger a after insert on t for each row execute function f() ## 0A000 CREATE OR REPLACE CONSTRAINT TRIGGER is not supported
create or replace constraint trigger a after insert on t not valid for each row execute function f() ## 0A000 CREATE OR REPLACE CONSTRAINT TRIGGER is not supported
create or replace constraint trigger a after insert on t for each row execute function f(‸
create constraint trigger a after insert on t not ‸execute
create event trigger a on select when tag in ('a', 'b') and x in ('c') execute function f()
create event trigger a on "x y" execute procedure a.f()
create event trigger a on x execute procedure a.f(‸1)
create event trigger a on x when tag ‸= 'a' execute procedure a.f()
create policy p on t
create policy p on t as permissive for all to public, current_user using (true) with check (false)
create policy p on t as restrictive for ‸truncate
create policy p on t as ‸nonsense ## 42601 unrecognized row security option "nonsense" # Only PERMISSIVE or RESTRICTIVE policies are supported currently.
create policy p on t as "restrictive"
create policy p on t as ‸select
create policy p on t as ‸all
create policy p on t to ‸none ## 42939 role name "none" is reserved
create policy p on ‸a.b.c.d ## 42601 improper qualified name (too many dotted names): a.b.c.d
create policy p on a.b[1]‸
create policy p on a.*‸
alter policy p on t
alter policy if exists p on t‸
alter policy if exists p on t rename to x
alter policy p on t to a using (true) with check (true)
alter policy p on t rename to x
alter policy p on t ‸for all
create rule r as on select to t do nothing
create rule r as on select to t where a do instead nothing
create or replace rule "R" as on update to t do also (insert into a values (1); ; notify x; select 1)
create rule r as on update to t do (select 1) union select 2
create rule r as on update to t do ((select 1) union select 2)
create rule r as on update to t do (select 1) order by 1
create rule r as on update to t do ()
create rule r as on update to t do (;)
create rule r as on update to t do (delete from t) ‸union select 1
create rule r as on update to t do ‸merge into t using s on true when matched then do nothing
create rule r as on update to t do with a as (select 1) ‸merge into t using s on true when matched then do nothing
create rule r as on update to t do ‸create table a ()
create rule r as on ‸truncate to t do nothing
create rule r as on update to t do (‸merge into t using s on true when matched then do nothing)
create rule r as on update to t do (select 1; select 2) ‸union select 3
create rule r as on update to t do with a as (select 1) (select 2)
create rule r as on update to t do (‸nothing)
create cast (int as text) with function f
create cast (int as text) with function f(int) as implicit
create cast (int as text) without function as assignment
create cast (int as text) with inout as ‸x
create cast (int as text)‸
create cast (int as setof text) with inout
create statistics ‸on a from t
create statistics if not exists ‸on a from t
create statistics if not exists s on a, b from t
create statistics s (mcv, "X") on a, (a + 1), f(a), coalesce(a, b), current_date from t, u as x
create statistics s on a.b ‸from t
create statistics s on a.b(1) from t
create statistics s on a ‸+ 1 from t
create statistics s on a from only t
create statistics s (‸) on a from only t
create statistics s on left(a, 1) from t
create extension e
create extension if not exists e with schema s version '1' cascade
create extension e version ‸select
create extension e version ‸1
create extension e ‸from '1' ## 0A000 CREATE EXTENSION ... FROM is no longer supported
create extension e cascade ‸from x y ## 0A000 CREATE EXTENSION ... FROM is no longer supported
create trigger a before insert ‸t on t execute function f()
create trigger a ‸insert on t execute function f()
create trigger before before insert on t execute function f()
create trigger a‸.b before insert on t execute function f()
create trigger a instead ‸insert on t execute function f()
create trigger a before insert on t for ‸execute function f()
create trigger a before insert on t for each statement execute function f()
create trigger a before insert on t when ‸a = b execute function f()
create trigger a before insert on t execute ‸f()
create trigger a before insert on t execute function f‸
create trigger a before insert on t execute function a.f(a‸.b)
create trigger a before update of ‸on t execute function f()
create trigger a before insert or ‸on t execute function f()
create or replace trigger a before insert or update or delete or truncate on t execute function f()
create constraint trigger a after insert on t not deferrable initially immediate for each row when (true) execute function f()
create constraint trigger a after insert on t deferrable deferrable for each row execute function f()
create constraint trigger a after insert on t initially ‸for each row execute function f()
create event trigger a on ddl_command_start execute function f()
create event trigger a on x when tag in (‸) execute function f()
create event trigger a on x when tag in ('a') ‸or x in ('b') execute function f()
create event trigger a‸.b on x execute function f()
create policy p on t using ‸true
create policy p on t with ‸(true)
create policy p on t to‸
create policy p on t using (true) ‸to a
create policy p on t for select to a, b using (a = 1)
alter policy p on t ‸as permissive
alter policy p on t rename to a‸.b
create rule r ‸on update to t do nothing
create rule r as on update to t do instead‸
create rule r as on update to t where ‸do nothing
create rule r as on update to ‸a.b.c.d do nothing ## 42601 improper qualified name (too many dotted names): a.b.c.d
create rule r as on insert to t do also (insert into a values (1);)
create rule r as on insert to t do instead values (1), (2)
create rule r as on insert to t do instead (values (1)) limit 1
create rule r as on insert to t do instead update t set a = 1 where b = 2 returning *
create rule r as on delete to t do instead notify a, 'b'
create rule r as on delete to t do instead (notify a; delete from x)
create rule r as on delete to t do instead (notify a) ‸union select 1
create rule r as on delete to t do instead ((select 1)) except (select 2)
create rule r as on delete to t do instead ((select 1); (select 2))
create rule r as on delete to t do instead (select 1;) ‸union select 2
create rule r as on delete to t do instead ‸listen a
create trigger a after truncate on t referencing old row o execute procedure f() ## 0A000 ROW variable naming in the REFERENCING clause is not supported # Use OLD TABLE or NEW TABLE for naming transition tables.
create rule r as on delete to t do instead (select 1‸
