//! Texts with their trees, and texts with their errors. PostgreSQL 15 said the errors.

use super::{error, expr, of_type, short, whole};
use crate::parser::Parser;
use crate::tree::{ExprKind, QueryBody};

#[track_caller]
fn mean(cases: &[(&str, &str)]) {
    for (text, tree) in cases {
        assert_eq!(short(&expr(text)), *tree, "{text}");
    }
}

#[test]
fn operators_bind_as_in_postgresql() {
    mean(&[
        ("a or b and not c = d", "(or a (and b (not (= c d))))"),
        ("a and b and c or d or e", "(or (and a b c) d e)"),
        ("(a and b) and c", "(and a b c)"),
        ("a and (b and c)", "(and a (and b c))"),
        ("a + b * c ^ d ^ e - f", "(- (+ a (* b (^ (^ c d) e))) f)"),
        ("a || b + c || d", "(|| (|| a (+ b c)) d)"),
        ("a -> b ->> c = d", "(= (->> (-> a b) c) d)"),
        ("a = b is null", "(null? (= a b))"),
        ("a < b is not true < c", "(< (not-Some(true)? (< a b)) c)"),
        ("not a is unknown", "(not (None? a))"),
        ("a + not b = c and d", "(and (+ a (not (= b c))) d)"),
        ("a * @ b + c || d", "(|| (* a (@ (+ b c))) d)"),
        ("@ a || b", "(|| (@ a) b)"),
        ("not not a", "(not (not a))"),
        ("- a ^ b", "(^ (- a) b)"),
        ("- a :: int", "(- (cast a Integer))"),
        ("-5 ^ 2", "(^ -5 2)"),
        ("-5::int", "(- (cast 5 Integer))"),
        ("- - 5.5 - -(3)", "(- 5.5 -3)"),
        ("+5 - +a", "(- (+ 5) (+ a))"),
        ("a operator(s.t.+) b * c", "(s.t.+ a (* b c))"),
        ("operator(pg_catalog.-) 5", "(pg_catalog.- 5)"),
        ("a != b", "(<> a b)"),
        ("a at time zone b at time zone c collate d.e", "(at (at a b) (collate c d.e))"),
        ("a between b + 1 and c and d", "(and (between a (+ b 1) c) d)"),
        ("a not between symmetric b and c || d", "(not-between-symmetric a b (|| c d))"),
        ("a = b between c and d", "(= a (between b c d))"),
        ("a in (1) = b in (2, 3)", "(= (in a [1]) (in b [2 3]))"),
    ]);
    assert_eq!(error("a in (1) = b = c", false), "42601 14 syntax error at or near \"=\"");
}

#[test]
fn predicates_mean_what_they_say() {
    mean(&[
        ("a isnull is not null notnull", "(not-null? (not-null? (null? a)))"),
        ("a is distinct from b + c", "(distinct a (+ b c))"),
        ("a is not distinct from b and c", "(and (not-distinct a b) c)"),
        ("a is nfkc normalized", "(normalized NFKC a)"),
        ("a is not normalized", "(not-normalized - a)"),
        ("a in (1) in (2, b)", "(in (in a [1]) [2 b])"),
        ("a not in (select 1)", "(not-in a query)"),
        ("a in ((select 1))", "(in a query)"),
        ("a in ((select 1), 2)", "(in a [query 2])"),
        ("a in ((select 1) union select 2)", "(in a query)"),
        ("a in ((1, 2))", "(in a [[1 2]])"),
        ("a like b || c escape d || e", "(Like a (|| b c) (|| d e))"),
        ("a not ilike b", "(not-ILike a b)"),
        ("a similar to b escape null and c", "(and (SimilarTo a b null) c)"),
        ("a like not b like c escape d", "(Like a (not (Like b c d)))"),
        ("a = any (b)", "(= any a b)"),
        ("a + b <= all ((select 1)) and c", "(and (<= all (+ a b) query) c)"),
        ("a not like some (b)", "(!~~ any a b)"),
        ("a ilike all ((select 1) + 1)", "(~~* all a (+ query 1))"),
        ("a operator(s.=) any (array[1])", "(s.= any a array[1])"),
        ("(a, b) overlaps row(c, d) and e", "(and (overlaps [a b] [c d]) e)"),
        ("1 + (a, b) overlaps (c, d)", "(+ 1 (overlaps [a b] [c d]))"),
        ("not like(a, b)", "(not (like a b))"),
    ]);
}

#[test]
fn operands_are_told_apart() {
    mean(&[
        ("a.b.c", "a.b.c"),
        ("a.b.*", "a.b.*"),
        ("a.b[1].c[:2][d:].*", "(path a.b [1] .c [:2] [d:] .*)"),
        ("$1.a[1]", "(path $1 .a [1])"),
        ("(a).b", "(path a .b)"),
        ("((a).b).*", "(path (path a .b) .*)"),
        ("(select 1).a", "(path query .a)"),
        ("((select 1))[1]", "(path query [1])"),
        ("((select 1) + 1)", "(+ query 1)"),
        ("((((select 1) limit 1) union (select 2))) + (((3)))", "(+ query 3)"),
        ("((select 1), ((2)))", "[query 2]"),
        ("(((a, b)), c)", "[[a b] c]"),
        ("row()", "row[]"),
        ("row(a)", "row[a]"),
        ("(values (1))", "query"),
        ("(values)", "values"),
        ("null = true", "(= null true)"),
        ("b'01' || x'1f'", "(|| b'01' x'1f')"),
        ("case when a then b end", "(case - a:b -)"),
        ("case a when 1 then b when 2 then c else d end", "(case a 1:b 2:c d)"),
        ("array[]", "array[]"),
        ("array[[1, 2], [3]]", "array[array[1 2] array[3]]"),
        ("array(select 1)", "array-query"),
        ("exists ((select 1))", "exists"),
        ("default + 1", "(+ default 1)"),
        ("coalesce = time and interval", "(and (= coalesce time) interval)"),
    ]);
}

#[test]
fn calls_are_told_apart() {
    mean(&[
        ("f()", "(f)"),
        ("s.f(a, b => 1, c := 2)", "(s.f a b=>1 c=>2)"),
        ("count(*)", "(count *)"),
        ("f(distinct a order by b, c) filter (where d) over w", "(f distinct a order:b order:c filter:d over)"),
        ("f(all a)", "(f a)"),
        ("f(a, variadic b)", "(f variadic a b)"),
        ("f(a) within group (order by b) over (partition by c)", "(f a within:b over)"),
        ("left(a, 1)", "(left a 1)"),
        ("coalesce(a, b)", "(coalesce a b)"),
        ("greatest(a) + least(b)", "(+ (greatest a) (least b))"),
        ("nullif(a, b)", "(nullif a b)"),
        ("grouping(a, b)", "(grouping a b)"),
        ("extract(Year from a)", "(extract year a)"),
        ("extract('EPOCH' from a)", "(extract epoch a)"),
        ("position(a || b in c)", "(position (|| a b) c)"),
        ("substring(a from b for c)", "(substring a b c)"),
        ("substring(a for c from b)", "(substring a b c)"),
        ("substring(a for c)", "(substring a - c)"),
        ("substring(a || b similar c escape d)", "(similar (|| a b) c d)"),
        ("substring(a similar to b)", "(substring (SimilarTo a b))"),
        ("substring(a, b, c)", "(substring a b c)"),
        ("substring()", "(substring)"),
        ("overlay(a placing b from c for d)", "(overlay a b c d)"),
        ("overlay(a, b)", "(overlay a b)"),
        ("trim(a)", "(trim Both a)"),
        ("trim(leading a from b, c)", "(trim Leading b c a)"),
        ("trim(trailing from a)", "(trim Trailing a)"),
        ("normalize(a, nfd)", "(normalize NFD a)"),
        ("treat(a as int)", "(treat a Integer)"),
        ("collation for (a)", "(collation-for a)"),
        ("current_time(3) = localtime", "(= (Time 3) LocalTime)"),
        ("current_schema || current_schema()", "(|| Schema (current_schema))"),
        ("cast(a as text)", "(cast a text)"),
        ("f(1, 2) 'x'", "(cast 'x' f(1 2))"),
    ]);
    assert_eq!(error("substring(a or b similar c escape d)", false), "42601 26 syntax error at or near \"c\"");
}

#[test]
fn types_and_their_constants() {
    mean(&[
        ("date '2000-01-01'", "(cast '2000-01-01' date)"),
        ("s.t 'x'", "(cast 'x' s.t)"),
        ("interval '1' year to month", "(cast '1' Interval(Some(YearToMonth)))"),
        ("interval '1' second(3)", "(cast '1' Interval(Some(Second))(3))"),
        ("interval(3) '1'", "(cast '1' Interval(None)(3))"),
        ("time(3) with time zone '1'", "(cast '1' Time(true)(3))"),
        ("timestamp without time zone '1'", "(cast '1' Timestamp(false))"),
        ("double precision '1'", "(cast '1' DoublePrecision)"),
        ("bit varying(3) '1'", "(cast '1' BitVarying(3))"),
        ("national character varying(3) '1'", "(cast '1' VarChar(3))"),
        ("\"char\" 'x'", "(cast 'x' char)"),
        ("a::float(24)::float(25)::float", "(cast (cast (cast a Real) DoublePrecision) DoublePrecision)"),
        ("a::setof s.t(1, 2)[3][]", "(cast a setof s.t(1 2)[3][])"),
        ("a::int array + b::int array[4]", "(+ (cast a Integer[]) (cast b Integer[4]))"),
        ("a::dec(3, 2)::nchar::bool", "(cast (cast (cast a Numeric(3 2)) Char) bool)"),
        ("a::s.t % type", "(% (cast a s.t) type)"),
    ]);
    let of_column = whole("setof a.b%type", Parser::function_type).unwrap();
    assert_eq!(of_type(&of_column), "setof a.b%type");
}

#[test]
fn errors_are_those_of_postgresql() {
    for (text, message) in [
        ("a < b < c", "42601 7 syntax error at or near \"<\""),
        ("a = b + c = d", "42601 11 syntax error at or near \"=\""),
        ("a is distinct from b is null", "42601 22 syntax error at or near \"is\""),
        ("a like b not like c", "42601 10 syntax error at or near \"not\""),
        ("a is not like b", "42601 6 syntax error at or near \"not\""),
        ("a between b is null and c", "42601 16 syntax error at or near \"null\""),
        ("x = any (1, 2)", "42601 11 syntax error at or near \",\""),
        ("x similar to any (y)", "42601 14 syntax error at or near \"any\""),
        ("x in ()", "42601 7 syntax error at or near \")\""),
        ("< 1", "42601 1 syntax error at or near \"<\""),
        ("a and", "42601 6 syntax error at end of input"),
        ("a.*.b + 1", "42601 7 improper use of \"*\" at or near \"+\""),
        ("a.*(1)", "42601 4 syntax error at or near \"(\""),
        ("array[1][1]", "42601 9 syntax error at or near \"[\""),
        ("f(x).a", "42601 5 syntax error at or near \".\""),
        ("left.x", "42601 5 syntax error at or near \".\""),
        ("none(1)", "42601 5 syntax error at or near \"(\""),
        ("nulls first", "42601 1 syntax error at or near \"nulls\""),
        ("row(1) overlaps (3, 4)", "42601 1 wrong number of parameters on left side of OVERLAPS expression"),
        ("(1, 2) overlaps (3, 4, 5)", "42601 17 wrong number of parameters on right side of OVERLAPS expression"),
        ("f(a => 1) 'x'", "42601 3 type modifier cannot have parameter name"),
        ("f(1 order by 2) 'x'", "42601 5 type modifier cannot have ORDER BY"),
        ("f(distinct 1) within group (order by 1)", "42601 15 cannot use DISTINCT with WITHIN GROUP"),
        ("((select 1) 2)", "42601 13 syntax error at or near \"2\""),
        ("x::float(0)", "22023 10 precision for type float must be at least 1 bit"),
        ("x::float(54)", "22023 10 precision for type float must be less than 54 bits"),
        ("x::int array[3][4]", "42601 16 syntax error at or near \"[\""),
        ("x::interval(3) second", "42601 16 syntax error at or near \"second\""),
        ("unique (select 1)", "0A000 1 UNIQUE predicate is not yet implemented"),
        ("xmlconcat(a)", "0A000 1 XMLCONCAT is not supported"),
        ("a is document", "0A000 3 IS DOCUMENT is not supported"),
    ] {
        assert_eq!(error(text, false), message, "{text}");
    }
    for (text, message) in [
        ("a not in (1)", "42601 3 syntax error at or near \"not\""),
        ("a and b", "42601 3 syntax error at or near \"and\""),
        ("a is null", "42601 6 syntax error at or near \"null\""),
        ("a = any (b)", "42601 5 syntax error at or near \"any\""),
        ("default", "42601 1 syntax error at or near \"default\""),
    ] {
        assert_eq!(error(text, true), message, "{text}");
    }
}

/// A word behind an item of a select list is a label where it cannot be an operator.
#[test]
fn operators_may_be_labels() {
    for (text, label) in [
        ("select 1 and", Some("and")),
        ("select 1 + 1 is from t", Some("is")),
        ("select 1 at, 2", Some("at")),
        ("select 1 not", Some("not")),
        ("select 1 at time zone 'x'", None),
    ] {
        let query = whole(text, Parser::query).unwrap();
        let QueryBody::Select(select) = query.body else { panic!("{text}") };
        assert_eq!(select.targets[0].label.as_ref().map(|label| label.value.as_str()), label, "{text}");
    }
    for text in ["select 1 + 1 at", "select 1 or 1 and", "select 1 like b escape", "select 1 where a and"] {
        assert!(whole(text, Parser::query).is_err(), "{text}");
    }
}

#[test]
fn spans_are_whole_expressions() {
    for (text, place) in
        [("  (a) + (b) ", "(a) + (b)"), (" ((a + b))", "a + b"), ("(- 5)", "- 5"), ("((a)).b", "((a)).b")]
    {
        let span = expr(text).span;
        assert_eq!(&text[span.start as usize..span.end as usize], place, "{text}");
    }
    let ExprKind::Between { at, .. } = expr("a not between 1 and 2").kind else { panic!() };
    assert_eq!((at.start, at.end), (2, 5));
}
