-- DISTINCT in aggregates of two arguments: the pairs are told apart, and taken in the order of ORDER BY first, of the other arguments then.
create table pair (a varchar, t text, c char(5), n numeric, i int, j json, jb jsonb, ar int[], f float8, s int2);
insert into pair values
    ('b', 'x', 'p', 1.0, 1, '{"a": 1}', '[1]', '{1,2}', 1, 1),
    ('a', 'y', 'q', 1.00, 2, '{}', '[2]', '{3}', 2, 1),
    ('a', 'y', 'q', 1, 2, '{}', '[2]', '{3}', 2, 1),
    (null, 'z', null, null, null, null, null, null, null, null);
select string_agg(distinct a, ',' order by a) from pair;
select string_agg(distinct a, ',') from pair;
select string_agg(distinct a::text, ',' order by a) from pair;
select string_agg(distinct a, ',' order by a::text) from pair;
select string_agg(distinct a::text, ',' order by a::text desc) from pair;
select string_agg(distinct a, t order by t, a) from pair;
select string_agg(distinct a, ',' order by ',') from pair;
select string_agg(distinct c, ',' order by c) from pair;
select string_agg(distinct a, d) from (values ('y', '-'), ('x', ''), ('y', '+'), ('x', null)) s (a, d);
select string_agg(distinct a, d order by d desc) from (values ('y', '-'), ('x', ''), ('y', '+'), ('x', null)) s (a, d);
select string_agg(distinct a, d) from (values ('\x02'::bytea, '\x'::bytea), ('\x01', null), ('\x02', '\x99')) s (a, d);
select string_agg(distinct a, d) from (values (null, '-'), (null, '+')) s (a, d);
select json_object_agg(distinct t, a) from pair;
select json_object_agg(distinct t, n) from pair;
select json_object_agg(distinct i, ar order by ar desc, i) from pair where i is not null;
select jsonb_object_agg(distinct i, ar) from pair where i is not null;
select json_object_agg(distinct t, j) from pair;
select json_object_agg(distinct j, t) from pair;
select jsonb_object_agg(distinct t, jb order by jb) from pair;
select json_object_agg(distinct t, a order by a nulls first, t desc) from pair;
select json_object_agg(distinct t, jb order by jb desc) from pair;
select json_object_agg(distinct 'a', 'b'), jsonb_object_agg(distinct 'a', null) from pair;
select json_object_agg(distinct a, t) from pair;
select json_object_agg(distinct i, t order by 1) from pair;
select json_object_agg(distinct a, t) over () from pair;
select i, json_object_agg(distinct t, f) filter (where f > 1) from pair group by i order by i;
select json_object_agg(distinct k, v) from (values (1, 'b'), (1, 'a'), (2, 'c'), (1, 'b')) s (k, v);
select corr(distinct i, f), covar_pop(distinct i, f), covar_samp(distinct s, f), regr_count(distinct i, f), regr_count(distinct n, 1) from pair;
select regr_slope(distinct f, i order by i), regr_intercept(distinct f, i order by i desc, f), regr_r2(distinct f, i) from pair;
select regr_avgx(distinct y, x), regr_avgy(distinct y, x), regr_sxx(distinct y, x), regr_syy(distinct y, x), regr_sxy(distinct y, x)
    from (values (1.5, 2), (1.5, 2), (2.25, 7), (3, 1), (null, 4), (5, null)) s (y, x);
select corr(distinct i, f order by n) from pair;
select corr(distinct '1', f) from pair;
select regr_count(distinct i, f) over () from pair;
select regr_count(distinct t, f) from pair;
select s, regr_count(distinct f, i), string_agg(distinct t, '+') from pair group by s order by s;
select array_agg(distinct xmin) from pair;
select array_agg(distinct j) from pair;
select array_agg(distinct j order by i) from pair;
-- Of many rows, in the several parts of a plan.
select i % 3, regr_count(distinct i % 7, i % 5), length(string_agg(distinct (i % 11)::text, ',' order by (i % 11)::text)),
    json_object_agg(distinct i % 4, i % 2 order by i % 4 desc) from generate_series(1, 20000) i group by 1 order by 1;
