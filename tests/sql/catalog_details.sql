-- Columns of the system catalogs that clients seldom ask for.
select name, setting, unit, vartype, context, min_val, max_val, enumvals, boot_val, reset_val from pg_settings where name in ('work_mem', 'lock_timeout', 'enable_seqscan', 'random_page_cost', 'IntervalStyle', 'from_collapse_limit') order by 1;
create table cd_p (a int, b varchar(5), c bigint, d int[], primary key (a, b), unique (c), unique (d));
create table cd_c (x bigint, y text, z smallint, w int[], foreign key (x, y) references cd_p, foreign key (z) references cd_p (c), foreign key (w) references cd_p (d));
select conname, conkey, confkey, conpfeqop::regoperator[], conppeqop::regoperator[], conffeqop::regoperator[] from pg_constraint where conrelid in ('cd_p'::regclass, 'cd_c'::regclass) order by 1;
drop table cd_c, cd_p;
