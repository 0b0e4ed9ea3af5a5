//! Tests of the walks.

use std::ops::ControlFlow;

use super::{Visit, VisitMut, Visitor, VisitorMut, visit_expressions, visit_expressions_mut};
use crate::parse;
use crate::tree::{Expr, ExprKind, FromItem, Ident, Literal, Name, Query, Select, Statement};

fn statement(text: &str) -> Statement {
    let mut parsed = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    parsed.remove(0).statement
}

/// The numbers in the order of the walk.
fn numbers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let _ = visit_expressions(&statement(text), |expr| -> ControlFlow<()> {
        if let ExprKind::Literal(Literal::Integer(digits)) = &expr.kind {
            found.push(digits.clone());
        }
        ControlFlow::Continue(())
    });
    found
}

/// Checks that both walks reach the numbers from 1 to `count`, in order.
#[track_caller]
fn reaches(text: &str, count: usize) {
    let expected: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    assert_eq!(numbers(text), expected, "{text}");
    let mut tree = statement(text);
    let _ = visit_expressions_mut(&mut tree, |expr| -> ControlFlow<()> {
        if let ExprKind::Literal(literal @ Literal::Integer(_)) = &mut expr.kind {
            *literal = Literal::Null;
        }
        ControlFlow::Continue(())
    });
    let mut rest = 0;
    let _ = visit_expressions(&tree, |expr| -> ControlFlow<()> {
        rest += usize::from(matches!(expr.kind, ExprKind::Literal(Literal::Integer(_))));
        ControlFlow::Continue(())
    });
    assert_eq!(rest, 0, "{text}");
}

#[test]
fn expressions_of_every_kind() {
    reaches("SELECT a.b, (1 AND 2 AND 3 OR 4) AND NOT 5, @ 6 + 7, 8 IS NULL, 9 IS NOT TRUE", 9);
    reaches("SELECT 1 IS DISTINCT FROM 2, 3 IS NFC NORMALIZED, 4 BETWEEN 5 AND 6, 7 IN (8, 9)", 9);
    reaches("SELECT 1 IN (SELECT 2), 3 LIKE 4 ESCAPE 5, 6 = ANY (7), 8 <> ALL (SELECT 9)", 9);
    reaches("SELECT CAST(1 AS varchar(80)), 2::numeric(80), date 'x', 3 COLLATE \"C\", 4 AT TIME ZONE 5", 5);
    reaches("SELECT (1, 2) OVERLAPS (3, 4), CASE 5 WHEN 6 THEN 7 ELSE 8 END, CASE WHEN 9 THEN 10 END", 10);
    reaches("SELECT ROW(1, 2), (3, 4), ARRAY[5, 6], ARRAY(SELECT 7), (SELECT 8), EXISTS (SELECT 9)", 9);
    reaches("SELECT (f(1)).x[2][3:4][:5], ARRAY[[6], [7]]", 7);
    reaches("SELECT f(1, x => 2, VARIADIC 3), agg(DISTINCT 4 ORDER BY 5) FILTER (WHERE 6)", 6);
    reaches("SELECT agg(1) WITHIN GROUP (ORDER BY 2), agg(*) OVER w, agg(3) OVER (PARTITION BY 4 ORDER BY 5)", 5);
    reaches("SELECT agg(1) OVER (ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING), agg(4) OVER (RANGE 5 PRECEDING)", 5);
}

#[test]
fn special_calls() {
    reaches("SELECT COALESCE(1, 2), GREATEST(3, 4), LEAST(5, 6), NULLIF(7, 8)", 8);
    reaches("SELECT EXTRACT(year FROM 1), POSITION(2 IN 3), OVERLAY(4 PLACING 5 FROM 6 FOR 7)", 7);
    reaches("SELECT SUBSTRING(1 FROM 2 FOR 3), SUBSTRING(4 SIMILAR 5 ESCAPE 6), TRIM(BOTH FROM 7)", 7);
    reaches("SELECT NORMALIZE(1, NFC), TREAT(2 AS a), COLLATION FOR (3), CURRENT_TIMESTAMP(80)", 3);
    reaches("SELECT GROUPING(1, 2) GROUP BY 3", 3);
}

#[test]
fn clauses_of_queries() {
    reaches(
        "WITH a AS (SELECT 1), b AS (INSERT INTO t VALUES (2) RETURNING 3) \
         SELECT DISTINCT ON (4) 5 FROM f(6), (SELECT 7) q, ROWS FROM (g(8), h(9)) WHERE 10 \
         GROUP BY 11, (), ROLLUP (12, 13), CUBE (14), GROUPING SETS ((15), ROLLUP (16)) HAVING 17 \
         WINDOW w AS (ORDER BY 18) ORDER BY 19 DESC LIMIT 20 OFFSET 21",
        21,
    );
    reaches("VALUES (1, 2), (3, 4) UNION ALL SELECT 5 EXCEPT (SELECT 6 LIMIT 7)", 7);
    reaches("SELECT 1 FROM a JOIN (b CROSS JOIN f(2)) ON 3 JOIN c TABLESAMPLE system (4) REPEATABLE (5) ON 6", 6);
    reaches("WITH RECURSIVE a AS (SELECT 1) CYCLE x SET y TO 2 DEFAULT 3 USING z SELECT 4", 4);
}

#[test]
fn writes() {
    reaches(
        "INSERT INTO t (a[1], b) VALUES (2, DEFAULT) ON CONFLICT (a, (b + 3)) WHERE 4 DO UPDATE SET a = 5, \
         (b, c) = (6, 7) WHERE 8 RETURNING 9",
        9,
    );
    reaches("UPDATE t SET a[1] = 2 FROM f(3) WHERE 4 RETURNING 5", 5);
    reaches("WITH x AS (SELECT 1) DELETE FROM t USING f(2) WHERE 3 RETURNING 4", 4);
    reaches(
        "MERGE INTO t USING (SELECT 1) s ON 2 WHEN MATCHED AND 3 THEN UPDATE SET a = 4 WHEN MATCHED THEN DELETE \
         WHEN NOT MATCHED AND 5 THEN INSERT (a[6]) VALUES (7) WHEN NOT MATCHED THEN DO NOTHING",
        7,
    );
}

#[test]
fn other_statements() {
    reaches("CREATE TABLE t (a varchar(80) DEFAULT 1 CHECK (2), b int GENERATED ALWAYS AS (3) STORED, CHECK (4))", 4);
    reaches("CREATE TABLE t (a int, EXCLUDE USING gist ((1) WITH =) WHERE (2)) PARTITION BY RANGE ((3))", 3);
    reaches("CREATE TABLE t PARTITION OF p FOR VALUES FROM (1) TO (2)", 2);
    reaches("CREATE TABLE t AS SELECT 1", 1);
    reaches("CREATE VIEW v AS SELECT 1", 1);
    reaches("CREATE INDEX ON t (a, (1)) WHERE 2", 2);
    reaches("CREATE SCHEMA s CREATE VIEW v AS SELECT 1 CREATE TABLE t (a int DEFAULT 2)", 2);
    reaches("ALTER TABLE t ADD a int DEFAULT 1, ALTER a SET DEFAULT 2, ALTER a TYPE int USING 3, ADD CHECK (4)", 4);
    reaches("CREATE DOMAIN d AS int CHECK (1)", 1);
    reaches("ALTER DOMAIN d SET DEFAULT 1", 1);
    reaches("CREATE FUNCTION f(a int DEFAULT 1) RETURNS int RETURN 2", 2);
    reaches("CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; RETURN 2; END", 2);
    reaches("CALL p(1)", 1);
    reaches("CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW WHEN (1) EXECUTE FUNCTION f()", 1);
    reaches("CREATE POLICY p ON t USING (1) WITH CHECK (2)", 2);
    reaches("CREATE RULE r AS ON INSERT TO t WHERE 1 DO INSTEAD SELECT 2", 2);
    reaches("CREATE STATISTICS s ON (1), (2) FROM t", 2);
    reaches("CREATE PUBLICATION p FOR TABLE t WHERE (1)", 1);
    reaches("PREPARE p AS SELECT 1", 1);
    reaches("EXECUTE p (1, 2)", 2);
    reaches("DECLARE c CURSOR FOR SELECT 1", 1);
    reaches("EXPLAIN SELECT 1", 1);
    reaches("COPY (SELECT 1) TO STDOUT", 1);
    reaches("COPY t FROM STDIN WHERE 1", 1);
}

/// Records the calls.
#[derive(Default)]
struct Log(Vec<String>);

impl Visitor for Log {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0.push(format!("+{expr}"));
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0.push(format!("-{expr}"));
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0.push("+query".into());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0.push("-query".into());
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.0.push("select".into());
        ControlFlow::Continue(())
    }

    fn pre_visit_from(&mut self, _: &FromItem) -> ControlFlow<()> {
        self.0.push("+from".into());
        ControlFlow::Continue(())
    }

    fn post_visit_from(&mut self, _: &FromItem) -> ControlFlow<()> {
        self.0.push("-from".into());
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &Name) -> ControlFlow<()> {
        self.0.push(format!("relation {name}"));
        ControlFlow::Continue(())
    }
}

fn log(text: &str) -> String {
    let mut log = Log::default();
    assert_eq!(Visit::visit(&statement(text), &mut log), ControlFlow::Continue(()));
    log.0.join(", ")
}

#[test]
fn the_order_of_calls() {
    assert_eq!(
        log("SELECT f(a) FROM s.t JOIN u ON b"),
        "+query, select, +f(a), +a, -a, -f(a), +from, +from, relation s.t, -from, +from, relation u, -from, +b, -b, \
         -from, -query"
    );
    assert_eq!(log("TABLE t"), "+query, relation t, -query");
    assert_eq!(log("INSERT INTO t TABLE u"), "relation t, +query, relation u, -query");
    assert_eq!(log("DELETE FROM t USING u"), "relation t, +from, relation u, -from");
    assert_eq!(log("UPDATE t SET a = b"), "relation t, +b, -b");
    assert_eq!(
        log("MERGE INTO t USING u ON a WHEN MATCHED THEN DELETE"),
        "relation t, +from, relation u, -from, +a, -a"
    );
    assert_eq!(log("CREATE TABLE t PARTITION OF p FOR VALUES IN (a)"), "+a, -a");
    assert_eq!(log("CREATE TABLE t (LIKE u)"), "");
    assert_eq!(log("COPY t TO STDOUT"), "");
}

#[test]
fn a_break_ends_the_walk() {
    let mut seen = 0;
    let found = visit_expressions(&statement("SELECT 1, 2 + 3, 4"), |expr| {
        seen += 1;
        match &expr.kind {
            ExprKind::Binary { .. } => ControlFlow::Break(expr.to_string()),
            _ => ControlFlow::Continue(()),
        }
    });
    assert_eq!(found, ControlFlow::Break("2 + 3".to_owned()));
    assert_eq!(seen, 2);
}

#[test]
fn changes_are_walked_through() {
    /// Qualifies relations, replaces calls by their first argument, and numbers.
    struct Change;

    impl VisitorMut for Change {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let ExprKind::Call(call) = &mut expr.kind
                && let Some(first) = call.arguments.pop()
            {
                *expr = first.value;
            }
            ControlFlow::Continue(())
        }

        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if let ExprKind::Column(names) = &mut expr.kind {
                names.insert(0, Ident::new("x"));
            }
            ControlFlow::Continue(())
        }

        fn pre_visit_relation(&mut self, name: &mut Name) -> ControlFlow<()> {
            name.parts.insert(0, Ident::new("s"));
            ControlFlow::Continue(())
        }

        fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
            select.having = None;
            ControlFlow::Continue(())
        }

        fn pre_visit_from(&mut self, item: &mut FromItem) -> ControlFlow<()> {
            if let FromItem::Table { alias, .. } = item {
                *alias = None;
            }
            ControlFlow::Continue(())
        }

        fn post_visit_from(&mut self, item: &mut FromItem) -> ControlFlow<()> {
            if let FromItem::Table { relation, .. } = item {
                relation.only = true;
            }
            ControlFlow::Continue(())
        }

        fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            query.limit = None;
            ControlFlow::Continue(())
        }

        fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            query.offset = None;
            ControlFlow::Continue(())
        }
    }

    let mut tree = statement("SELECT f(a + b) FROM t AS u HAVING c LIMIT 1 OFFSET 2");
    assert_eq!(VisitMut::visit(&mut tree, &mut Change), ControlFlow::Continue(()));
    assert_eq!(tree.to_string(), "SELECT x.a + x.b FROM ONLY s.t");
}

#[test]
fn deep_trees() {
    std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(|| {
            let mut text = String::from("SELECT 1");
            for _ in 0..4_000 {
                text.push_str(" + 1");
            }
            let mut tree = statement(&text);
            let mut count = 0;
            let _ = visit_expressions(&tree, |_| -> ControlFlow<()> {
                count += 1;
                ControlFlow::Continue(())
            });
            assert_eq!(count, 8_001);
            let _ = visit_expressions_mut(&mut tree, |_| -> ControlFlow<()> {
                count += 1;
                ControlFlow::Continue(())
            });
            assert_eq!(count, 16_002);
        })
        .and_then(|thread| thread.join().map_err(|_| std::io::Error::other("the thread ended")))
        .unwrap_or_else(|error| panic!("{error}"));
}
