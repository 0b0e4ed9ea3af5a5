//! Queries and their expected rows.

use super::{Bench, check};
use crate::execution::Slots;
use crate::types::Datum;

#[tokio::test]
async fn expressions() {
    check(&[
        ("select 1, 1.5, 'x', true, null", "1|1.5|x|t|~"),
        ("select 1 + 2 * 3, 7 / 2, -7 % 3, 2.5 * 2", "7|3|-1|5.0"),
        ("select 2147483647 + 1", "22003 integer out of range"),
        ("select -2147483648, 9223372036854775807", "-2147483648|9223372036854775807"),
        ("select '1' + 1", "2"),
        ("select 1 where null", ""),
        ("select 1 is null, null is null, (1, null) is null", "f|t|f"),
        ("select null is true, true is not false, null is unknown", "f|t|t"),
        ("select 1 is distinct from null, null is not distinct from null", "t|t"),
        ("select 3 between 1 and 5, 3 not between 1 and 2", "t|t"),
        ("select 2 in (1, 2, 3), 4 not in (1, 2), 1 in (null, 2)", "t|t|~"),
        ("select 'abc' like 'a%', 'abc' not like '_b', 'ABC' ilike 'a%'", "t|t|t"),
        ("select 'a%c' like 'a!%c' escape '!', 'abc' like 'a!%c' escape '!'", "t|f"),
        ("select 'abc' ~ '^a', 'abc' !~ 'z', 'abc' OPERATOR(pg_catalog.~) 'b' COLLATE pg_catalog.default", "t|t|t"),
        ("select case when 1 > 2 then 'a' else 'b' end, case 3 when 3 then 1.5 when 4 then 2 end", "b|1.5"),
        ("select coalesce(null, 2), nullif(1, 1), greatest(1, 3, 2), least(2.5, 1)", "2|~|3|1"),
        ("select '12'::int4 + 1, cast('1.50' as numeric(10,1)), date '2024-02-29' + 1", "13|1.5|2024-03-01"),
        ("select 'abc' || 1, 'a' || null", "abc1|~"),
        ("select substring('hello' from 2 for 3), position('l' in 'hello'), trim(both 'x' from 'xxaxx')", "ell|3|a"),
        ("select upper('abc'), length('héllo'), abs(-5)", "ABC|5|5"),
        ("select extract(year from date '2024-02-29')", "2024"),
        ("select (1, 2) = (1, 2), (1, 2) < (1, 3), (2, 1) in ((1, 1), (2, 1))", "t|t|t"),
        ("select array[1, 2, 3], (array[1, 2])[1], (array[1, 2])[-1]", "{1,2,3}|1|~"),
        ("select 2 = any(array[1, 2]), 2 = all(array[2, 2]), 3 > any('{1,5}'::int[])", "t|t|t"),
        ("select not true or true and false", "f"),
        ("select int8(5), text('x')", "5|x"),
        ("select 'select'::varchar(3), 'ab'::char(4) || '|'", "sel|ab|"),
    ])
    .await;
}

#[tokio::test]
async fn reading_tables() {
    check(&[
        ("select * from t order by id", "1|10|one; 2|20|two; 3|~|three; 4|20|~"),
        ("select t.b, x.a from t as x join t on t.id = x.id where x.a = 20 order by x.id", "two|20; ~|20"),
        ("select id from t where a is null", "3"),
        ("select id as k from t order by k desc limit 2", "4; 3"),
        ("select id from t order by a, id", "1; 2; 4; 3"),
        ("select id from t order by a desc nulls last, 1 desc", "4; 2; 1; 3"),
        ("select id from t order by id limit 2 offset 1", "2; 3"),
        ("select a + 1 as x from t order by a + 1 nulls first, id", "~; 11; 21; 21"),
        ("select p, q from t as v(p, q) where p = 1", "1|10"),
        ("table f", "1|t; 2|f; 3|~"),
        ("select f.* from f where ok", "1|t"),
        ("select count(*) from t, u", "16"),
        ("select distinct a from t order by a", "10; 20; ~"),
        ("select distinct on (a) a, id from t order by a, id desc", "10|1; 20|4; ~|3"),
        ("select x from n order by x, c", "1.0; 1.00; 2; ~"),
        ("select c, length(c) from n where c = 'a' order by x", "a   |1; a   |1"),
    ])
    .await;
}

#[tokio::test]
async fn joins() {
    check(&[
        ("select t.id, u.name from t left join u on u.t_id = t.id order by 1, 2", "1|x; 1|y; 2|x; 3|~; 4|~"),
        ("select t.id, u.id from t right join u on u.t_id = t.id order by 2", "1|1; 1|2; 2|3; ~|4"),
        ("select t.id, u.id from t full join u on u.t_id = t.id order by 1, 2", "1|1; 1|2; 2|3; 3|~; 4|~; ~|4"),
        ("select id, a, name from t join u using (id) order by id", "1|10|x; 2|20|y; 3|~|x; 4|20|z"),
        ("select * from t natural join f order by 1", "1|10|one|t; 2|20|two|f; 3|~|three|~"),
        ("select id from t full join f using (id) order by id", "1; 2; 3; 4"),
        ("select t.id, f.id from t cross join f where t.id = 1 order by 2", "1|1; 1|2; 1|3"),
        ("select t.id, s.total from t, lateral (select sum(amount) as total from u where u.t_id = t.id) s order by 1", "1|3.75; 2|10.00; 3|~; 4|~"),
        ("select a.id, b.id from t a join t b on a.a = b.a and a.id < b.id", "2|4"),
        ("select g from generate_series(1, 3) as g", "1; 2; 3"),
        ("select * from generate_series(10, 1, -4) s(n)", "10; 6; 2"),
        ("select t.id, g from t, generate_series(1, t.id) g where t.id < 3 order by 1, 2", "1|1; 2|1; 2|2"),
        ("select x from unnest(array['a', 'b']) as x", "a; b"),
        ("select generate_series(1, 3)", "1; 2; 3"),
        ("select id, generate_series(1, id) * 2 from t where id < 3 order by 1, 2", "1|2; 2|2; 2|4"),
        ("select unnest(array[1, 2]), unnest(array['a'])", "1|a; 2|~"),
        ("select t.id, o.n from t cross join lateral (select t.id + 1) as o(n) where o.n > 3 order by 1", "3|4; 4|5"),
        ("select t.id, s.n from t left join lateral (select nullif(t.id, 2) as n) s on true order by 1", "1|1; 2|~; 3|3; 4|4"),
        ("select t.id, f.ok, u.name from t, f join u on f.id = u.id where t.id = f.id order by 1", "1|t|x; 2|f|y; 3|~|x"),
        ("select * from (values (1, 'a'), (2, 'b')) v(n, s) where n > 1", "2|b"),
        ("select count(*) from n a join n b on a.x = b.x", "5"),
    ])
    .await;
}

#[tokio::test]
async fn groups() {
    check(&[
        ("select count(*), count(a), sum(a), min(b), max(id) from t", "4|3|50|one|4"),
        ("select a, count(*) from t group by a order by a", "10|1; 20|2; ~|1"),
        ("select a, count(*) from t group by 1 having count(*) > 1", "20|2"),
        ("select a * 2 as d, sum(id) from t group by d order by d", "20|1; 40|6; ~|3"),
        ("select a + 1, count(*) from t group by a order by a", "11|1; 21|2; ~|1"),
        ("select avg(a), sum(amount) from t join u on t.id = u.t_id", "13.3333333333333333|13.75"),
        ("select count(*) filter (where a > 10), count(distinct a) from t", "2|2"),
        ("select string_agg(b, ',' order by id desc) from t", "three,two,one"),
        ("select array_agg(id order by id) from t", "{1,2,3,4}"),
        ("select bool_and(ok), bool_or(ok) from f", "f|t"),
        (
            "select t.*, count(u.id) from t left join u on u.t_id = t.id group by t.id order by t.id",
            "1|10|one|2; 2|20|two|1; 3|~|three|0; 4|20|~|0",
        ),
        ("select x, count(*) from n group by x order by x", "1.0|2; 2|1; ~|1"),
        ("select distinct x from n order by x", "1.0; 2; ~"),
        ("select c, count(*) from n group by c order by c", "a   |2; b   |1; ~|1"),
        ("select count(*) from t having false", ""),
        ("select sum(count(*)) over () from t group by a", "4; 4; 4"),
        ("select max(a) + min(a) from t where id > 100", "~"),
    ])
    .await;
}

/// Deep statements are rejected before they overflow a stack. The deepest accepted ones run on the server's threads.
#[test]
fn the_deepest_statements_run() {
    let run = || {
        let sum = format!("select 1{}", " + 1".repeat(250));
        let junction = format!("select count(*) from t where id = 1{}", " or id = 1 + 0 * id".repeat(1000));
        let brackets = format!("select {}1{}", "(".repeat(90), ")".repeat(90));
        let list = format!("select 1 in ({})", vec!["2"; 5_000].join(", "));
        let functions = format!("select {}1{}", "abs(".repeat(80), ")".repeat(80));
        let cases = [
            (sum.as_str(), "251"),
            (junction.as_str(), "1"),
            (brackets.as_str(), "1"),
            (list.as_str(), "f"),
            (functions.as_str(), "1"),
        ];
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(check(&cases));
    };
    std::thread::Builder::new().stack_size(16 << 20).spawn(run).unwrap().join().unwrap();
}

#[tokio::test]
async fn windows() {
    check(&[
        ("select id, row_number() over (order by id desc) from t order by id", "1|4; 2|3; 3|2; 4|1"),
        (
            "select id, rank() over (order by a), sum(id) over (partition by a) from t order by id",
            "1|1|1; 2|2|6; 3|4|3; 4|2|6",
        ),
        ("select id, sum(id) over w from t window w as (order by id) order by id", "1|1; 2|3; 3|6; 4|10"),
        (
            "select id, sum(id) over (order by id rows between 1 preceding and 1 following) from t order by 1",
            "1|3; 2|6; 3|9; 4|7",
        ),
        (
            "select id, lag(id) over (order by id), lead(id, 1, 0) over (order by id) from t order by 1",
            "1|~|2; 2|1|3; 3|2|4; 4|3|0",
        ),
        ("select id, count(*) over () from t where a = 20 order by id", "2|2; 4|2"),
        ("select id, first_value(b) over (order by id) from t order by 1", "1|one; 2|one; 3|one; 4|one"),
    ])
    .await;
}

#[tokio::test]
async fn set_operations_and_with() {
    check(&[
        ("select 1 union select 2 union select 1 order by 1", "1; 2"),
        ("select 1 as x union all select 1 order by x", "1; 1"),
        ("select 1 union select 2.5 order by 1", "1; 2.5"),
        ("select id from t intersect select id from f order by 1", "1; 2; 3"),
        ("select id from t except select id from f", "4"),
        ("select a from t intersect all select a from t where id > 1 order by 1", "20; 20; ~"),
        ("select a from t except all select 20 order by 1", "10; 20; ~"),
        ("select 'a' union select null order by 1", "a; ~"),
        ("values (1, 'a'), (2, null) order by 1 desc", "2|~; 1|a"),
        ("with w as (select id from t where a = 20) select w.id, v.id from w, w v order by 1, 2", "2|2; 2|4; 4|2; 4|4"),
        ("with w(n) as (values (1), (2)), x as (select n + 1 as m from w) select * from x order by 1", "2; 3"),
        ("with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select sum(n) from r", "15"),
        ("select x from n union select 1 order by 1", "1.0; 2; ~"),
        ("(select 1 limit 1) union all (select 2)", "1; 2"),
    ])
    .await;
}

#[tokio::test]
async fn subqueries() {
    check(&[
        ("select (select max(id) from t), (select b from t where id = 1)", "4|one"),
        ("select (select id from t)", "21000 more than one row returned by a subquery used as an expression"),
        ("select (select id from t where id > 100)", "~"),
        ("select id from t where id in (select t_id from u) order by 1", "1; 2"),
        ("select id from t where id not in (select t_id from u)", ""),
        ("select id from t where id not in (select t_id from u where t_id is not null) order by 1", "3; 4"),
        ("select id from t where exists (select 1 from u where u.t_id = t.id) order by 1", "1; 2"),
        ("select id from t where not exists (select 1 from u where u.t_id = t.id) order by 1", "3; 4"),
        ("select id, (select count(*) from u where u.t_id = t.id) from t order by 1", "1|2; 2|1; 3|0; 4|0"),
        ("select id, (select name from u where u.id = t.id) from t order by 1", "1|x; 2|y; 3|x; 4|z"),
        (
            "select id, (select name from u where u.t_id = t.id) from t",
            "21000 more than one row returned by a subquery used as an expression",
        ),
        ("select exists (select 1 from t), exists (select 1 from t where id > 9)", "t|f"),
        ("select id, exists (select 1 from u where u.t_id = t.id) from t order by 1", "1|t; 2|t; 3|f; 4|f"),
        ("select id, id in (select t_id from u) from t order by 1", "1|t; 2|t; 3|~; 4|~"),
        ("select id from t where id > all (select t_id from u where t_id is not null) order by 1", "3; 4"),
        ("select id from t where id >= any (select t_id from u) order by 1", "1; 2; 3; 4"),
        ("select id from t where a > (select avg(a) from t) order by 1", "2; 4"),
        ("select id from t where (id, a) in (select t_id, 10 from u)", "1"),
        ("select array(select id from t order by id)", "{1,2,3,4}"),
        ("select id from t where a = 10 or exists (select 1 from f where f.id = t.id and not ok) order by 1", "1; 2"),
    ])
    .await;
}

#[tokio::test]
async fn parameters_take_their_types_from_where_they_stand() {
    let bench = Bench::new().await;
    for (sql, types, values, expected) in [
        ("select $1", "text", vec![Datum::from("x")], "x"),
        ("select id from t where id = $1", "integer", vec![Datum::Int32(Some(2))], "2"),
        (
            "select id from t where b = $1 or $1 is null order by id limit $2",
            "text, bigint",
            vec![Datum::from("one"), Datum::Int64(Some(5))],
            "1",
        ),
        ("select $1::int8 + 1, $2 || 'x'", "bigint, text", vec![Datum::Int64(Some(1)), Datum::from("y")], "2|yx"),
        (
            "select id from t where id in ($1, $2) order by id offset $3",
            "integer, integer, bigint",
            vec![Datum::Int32(Some(1)), Datum::Int32(Some(2)), Datum::Int64(Some(1))],
            "2",
        ),
        (
            "select id from t where id between $1 and $2 order by 1",
            "integer, integer",
            vec![Datum::Int32(Some(2)), Datum::Int32(Some(3))],
            "2; 3",
        ),
    ] {
        let bound = bench.bind(sql, &Slots::new()).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let names: Vec<String> = bound.parameters.iter().map(|ty| ty.name()).collect();
        assert_eq!(names.join(", "), types, "{sql}");
        let (columns, batch) = bench.batch_with(sql, values).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(bench.text(&columns, &batch), expected, "{sql}");
    }
}

#[tokio::test]
async fn column_names_and_types() {
    let bench = Bench::new().await;
    for (sql, expected) in [
        ("select 1, 'x', 1.5, id + 1 from t", "?column? integer, ?column? text, ?column? numeric, ?column? integer"),
        ("select count(*), sum(id), sum(amount), avg(id) from u", "count bigint, sum bigint, sum numeric, avg numeric"),
        (
            "select id::int8, cast('x' as varchar(3)), '1'::numeric(5,2), true from t",
            "id bigint, varchar character varying(3), numeric numeric(5,2), ?column? boolean",
        ),
        (
            "select case when true then id else 0 end, coalesce(a, 1), (select b from t), exists (select 1) from t",
            "case integer, coalesce integer, b text, exists boolean",
        ),
        ("select t.*, t.id as k from t", "id integer, a integer, b text, k integer"),
        ("select name, amount from u", "name character varying(8), amount numeric(10,2)"),
        (
            "select extract(year from now()), current_user, current_database()",
            "extract numeric, current_user name, current_database name",
        ),
        ("values (1, 'a')", "column1 integer, column2 text"),
        ("select array[1,2], upper('a'), (array['a'])[1]", "array integer[], upper text, array text"),
    ] {
        assert_eq!(bench.columns(sql), expected, "{sql}");
    }
}
