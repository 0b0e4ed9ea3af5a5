-- Conditions on each column of a table of 1,000: planned in time that grows with their number, and no deep tree.
select 'create table wide (' || string_agg(format('c%s int', g), ', ' order by g) || ')' from generate_series(1, 1000) g \gexec
select 'insert into wide select ' || string_agg('s', ', ') || ' from generate_series(0, 2) s' from generate_series(1, 1000) \gexec
select 'select count(*) from wide where ' || string_agg(format('c%s >= 1', g), ' and ' order by g) from generate_series(1, 1000) g \gexec
select 'select count(*) from wide where ' || string_agg(format('c%s > 1', g), ' or ' order by g) from generate_series(1, 1000) g \gexec
select 'update wide set ' || string_agg(format('c%s = c%s + 1', g, g), ', ' order by g) from generate_series(1, 1000) g \gexec
select 'select count(*) from wide where ' || string_agg(format('c%s between 1 and 2', g), ' and ' order by g) from generate_series(1, 500) g \gexec
select sum(c1), sum(c1000) from wide;
drop table wide;
