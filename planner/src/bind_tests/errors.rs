//! Rejected statements and their error messages.

use super::Bench;
use crate::execution::Slots;

#[tokio::test]
async fn errors_are_worded_and_placed_as_postgresql_does() {
    let bench = Bench::new().await;
    let mut wrong = Vec::new();
    for (sql, state, message, position) in [
        ("select * from nowhere", "42P01", "relation \"nowhere\" does not exist", Some(15)),
        ("select * from s.nowhere", "42P01", "relation \"s.nowhere\" does not exist", Some(15)),
        ("select nope from t", "42703", "column \"nope\" does not exist", Some(8)),
        ("select t.nope from t", "42703", "column t.nope does not exist", Some(8)),
        ("select x.id from t", "42P01", "missing FROM-clause entry for table \"x\"", Some(8)),
        ("select id from t, u", "42702", "column reference \"id\" is ambiguous", Some(8)),
        (
            "select id from t group by a",
            "42803",
            "column \"t.id\" must appear in the GROUP BY clause or be used in an aggregate function",
            None,
        ),
        ("select id from t where count(*) > 1", "42803", "aggregate functions are not allowed in WHERE", Some(24)),
        ("select sum(max(id)) from t", "42803", "aggregate function calls cannot be nested", Some(12)),
        ("select foo(1)", "42883", "function foo(integer) does not exist", Some(8)),
        ("select 1 + true", "42883", "operator does not exist: integer + boolean", None),
        ("select id from t where id", "42804", "argument of WHERE must be type boolean, not type integer", Some(24)),
        ("select 'x'::int4", "22P02", "invalid input syntax for type integer: \"x\"", None),
        ("select id = 'x' from t", "22P02", "invalid input syntax for type integer: \"x\"", None),
        ("select 1 union select 'x'", "22P02", "invalid input syntax for type integer: \"x\"", None),
        ("select 1 union select true", "42804", "UNION types integer and boolean cannot be matched", None),
        ("select 1 union select 1, 2", "42601", "each UNION query must have the same number of columns", None),
        (
            "select case when true then 1 else true end",
            "42804",
            "CASE types boolean and integer cannot be matched",
            None,
        ),
        ("select id from t order by 2", "42P10", "ORDER BY position 2 is not in select list", Some(27)),
        (
            "select distinct a from t order by id",
            "42P10",
            "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
            None,
        ),
        ("select 1::nosuchtype", "42704", "type \"nosuchtype\" does not exist", None),
        ("select (select 1, 2)", "42601", "subquery must return only one column", None),
        ("select * from t join t on true", "42712", "table name \"t\" specified more than once", None),
        ("select row_number() from t", "42809", "window function row_number requires an OVER clause", Some(8)),
        (
            "select id from t where row_number() over () = 1",
            "42P20",
            "window functions are not allowed in WHERE",
            Some(24),
        ),
        ("select sum(id) over w from t", "42704", "window \"w\" does not exist", Some(21)),
        ("select (row(1)).f2", "42703", "could not identify column \"f2\" in record data type", None),
        ("select b collate \"de_DE\" from t", "0A000", "the collation \"de_DE\" is not supported", None),
        (
            "insert into t (id, nope) values (1, 2)",
            "42703",
            "column \"nope\" of relation \"t\" does not exist",
            Some(20),
        ),
        ("insert into t values (1, 2, 'x', 4)", "42601", "INSERT has more expressions than target columns", None),
        ("insert into t (id, a) values (1)", "42601", "INSERT has more target columns than expressions", None),
        ("insert into t (id, id) values (1, 2)", "42701", "column \"id\" specified more than once", Some(20)),
        (
            "insert into t (id) values (true)",
            "42804",
            "column \"id\" is of type integer but expression is of type boolean",
            Some(28),
        ),
        (
            "insert into t values (1) on conflict (a) do nothing",
            "42P10",
            "there is no unique or exclusion constraint matching the ON CONFLICT specification",
            None,
        ),
        (
            "insert into t values (1) on conflict do update set a = 1",
            "42601",
            "ON CONFLICT DO UPDATE requires inference specification or constraint name",
            None,
        ),
        ("update t set nope = 1", "42703", "column \"nope\" of relation \"t\" does not exist", Some(14)),
        ("update t set a = 1, a = 2", "42601", "multiple assignments to same column \"a\"", None),
        ("delete from t returning count(*)", "42803", "aggregate functions are not allowed in RETURNING", Some(25)),
        (
            "with w as (select 1), w as (select 2) select 1",
            "42712",
            "WITH query name \"w\" specified more than once",
            None,
        ),
        ("select from t where", "42601", "syntax error at end of input", Some(20)),
    ] {
        let answer = match bench.bind(sql, &Slots::new()) {
            Ok(_) => "was bound".to_string(),
            Err(error) => {
                let fields = error.fields();
                let placed = position.is_none() || fields.position == position;
                if fields.state == state && fields.message == message && placed {
                    continue;
                }
                format!("{} {} at {:?}", fields.state, fields.message, fields.position)
            }
        };
        wrong.push(format!("{sql}\n  expected: {state} {message} at {position:?}\n  answered: {answer}"));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
