-- Columns of the system catalogs that clients seldom ask for.
select name, setting, unit, vartype, context, min_val, max_val, enumvals, boot_val, reset_val from pg_settings where name in ('work_mem', 'lock_timeout', 'enable_seqscan', 'random_page_cost', 'IntervalStyle', 'from_collapse_limit') order by 1;
create table cd_p (a int, b varchar(5), c bigint, d int[], primary key (a, b), unique (c), unique (d));
create table cd_c (x bigint, y text, z smallint, w int[], foreign key (x, y) references cd_p, foreign key (z) references cd_p (c), foreign key (w) references cd_p (d));
select conname, conkey, confkey, conpfeqop::regoperator[], conppeqop::regoperator[], conffeqop::regoperator[] from pg_constraint where conrelid in ('cd_p'::regclass, 'cd_c'::regclass) order by 1;
drop table cd_c, cd_p;

-- Columns keep their numbers when one before them goes.
CREATE TABLE numbered (a int, b text[], c varchar(5)[], d numeric(5, 2)[]);
ALTER TABLE numbered DROP a;
SELECT column_name, ordinal_position, dtd_identifier FROM information_schema.columns WHERE table_name = 'numbered' ORDER BY 2;
SELECT dtd_identifier FROM information_schema.data_type_privileges WHERE object_name = 'numbered' ORDER BY 1;
SELECT * FROM information_schema.element_types WHERE object_name = 'numbered' ORDER BY dtd_identifier;
CREATE TABLE referred (a int PRIMARY KEY);
CREATE TABLE referring (a int REFERENCES referred);
SELECT tablename, hastriggers FROM pg_tables WHERE tablename IN ('numbered', 'referred', 'referring') ORDER BY 1;

-- What an index says beside its columns.
CREATE TABLE indexed (a int, b text, c varchar(9), lower text);
CREATE INDEX ON indexed (b COLLATE "C" DESC, c COLLATE "POSIX" varchar_pattern_ops NULLS FIRST);
CREATE INDEX ON indexed (b text_pattern_ops, b text_ops, b COLLATE "default");
CREATE INDEX ON indexed ((b || 'x') COLLATE "C" text_pattern_ops);
CREATE INDEX ON indexed (a, a) INCLUDE (a, b);
CREATE INDEX ON indexed (lower(b), lower, lower(c));
SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'indexed' ORDER BY 1;
SELECT indexrelid::regclass, indcollation, indkey FROM pg_index WHERE indrelid = 'indexed'::regclass ORDER BY indexrelid::regclass::text;
SELECT attrelid::regclass, attnum, attname FROM pg_attribute
WHERE attrelid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'indexed'::regclass) ORDER BY attrelid::regclass::text, attnum;
CREATE INDEX ON indexed (a COLLATE "C");
CREATE INDEX ON indexed ((a + 1) COLLATE "C");
CREATE INDEX ON indexed ((a, b));
CREATE INDEX ON indexed ((row(a, b)));
CREATE INDEX ON indexed ((null));
CREATE INDEX ON indexed (('a'));

-- Views over tables that lose columns, and what sqlparser reads as calls.
CREATE TABLE losing (a int, b int, c int);
CREATE VIEW lasting AS SELECT a + 1 AS s FROM losing;
CREATE VIEW lasting_too AS SELECT y.p, y.r FROM losing y (p, q, r);
ALTER TABLE losing DROP COLUMN b;
SELECT pg_get_viewdef('lasting'), pg_get_viewdef('lasting_too');
CREATE VIEW grouped_sets AS SELECT a, c, count(*) FROM losing GROUP BY GROUPING SETS ((), (a), ROLLUP (c, (a, c)), CUBE (a), GROUPING SETS ((a), c));
SELECT pg_get_viewdef('grouped_sets');
CREATE VIEW several AS SELECT * FROM unnest(ARRAY[1], ARRAY['a']) u (p, q);
CREATE VIEW several_too AS SELECT * FROM unnest(ARRAY[1], ARRAY['a']) WITH ORDINALITY AS x (a, b, c);
SELECT pg_get_viewdef('several'), pg_get_viewdef('several_too');
