//! Queries: arms, set operations, and what may stand around them (SelectStmt).

use super::{MOST_DEPTH, Parser};
use crate::error::{Result, STATEMENT_TOO_COMPLEX, SyntaxError};
use crate::span::Span;
use crate::tree::{Expr, Query, QueryBody, SetOperation, SetOperator, With};

/// An arm of a set operation, with the value of AS OF SYSTEM TIME behind its FROM.
type Arm = (QueryBody, Option<Expr>);

impl Parser<'_> {
    /// A query (SelectStmt), in parentheses or not. Parentheses around a query leave no trace, unless it is an arm of a
    /// set operation. Errors: 42601.
    pub fn query(&mut self) -> Result<Query> {
        self.deeper(|parser| {
            let start = parser.mark();
            let with = parser.optional_with()?;
            parser.query_behind_with(with, start)
        })
    }

    /// A query in parentheses (select_with_parens). Errors: 42601.
    pub(crate) fn query_in_parentheses(&mut self) -> Result<Query> {
        self.expect_sign('(')?;
        let query = self.query()?;
        self.expect_sign(')')?;
        Ok(query)
    }

    /// The rest of a query whose WITH was read since `start`. Errors: 42601.
    pub(crate) fn query_behind_with(&mut self, with: Option<With>, start: usize) -> Result<Query> {
        let first = self.arm()?;
        self.query_behind_arm(with, first, start)
    }

    /// The rest of a query whose first arm was read since `start_mark`: set operations, ORDER BY, LIMIT and locks. All
    /// of them may be missing. Errors: 42601.
    pub(crate) fn query_continued(&mut self, first: QueryBody, start_mark: usize) -> Result<Query> {
        self.query_behind_arm(None, (first, None), start_mark)
    }

    /// Whether the next word begins a query: SELECT, VALUES with its parenthesis, WITH or TABLE.
    pub(crate) fn starts_query(&self) -> bool {
        self.starts_query_at(0)
    }

    /// The same for a later token.
    pub(crate) fn starts_query_at(&self, offset: usize) -> bool {
        ["select", "with", "table"].iter().any(|word| self.is_word_at(offset, word))
            || (self.is_word_at(offset, "values") && self.is_sign_at(offset + 1, '('))
    }

    /// Whether the next word goes on with a query in parentheses.
    pub(crate) fn continues_query(&self) -> bool {
        const WORDS: [&str; 8] = ["union", "intersect", "except", "order", "limit", "offset", "fetch", "for"];
        WORDS.iter().any(|word| self.is_word(word))
    }

    fn query_behind_arm(&mut self, with: Option<With>, first: Arm, start: usize) -> Result<Query> {
        let (body, as_of) = self.set_operations(first)?;
        let mut clauses = self.query_clauses()?;
        if let Some(as_of) = as_of {
            clauses.read_at(as_of)?;
        }
        let mut query = match body {
            QueryBody::Nested(query) => *query,
            body => plain_query(body, Span::NONE),
        };
        clauses.add_to(&mut query)?;
        if let Some(with) = with {
            if query.with.is_some() {
                return Err(SyntaxError::syntax("multiple WITH clauses not allowed").at(with.span));
            }
            query.with = Some(with);
        }
        query.span = self.span_since(start);
        Ok(query)
    }

    fn arm(&mut self) -> Result<Arm> {
        let start = self.mark();
        if self.is_sign('(') {
            return Ok((QueryBody::Nested(Box::new(self.query_in_parentheses()?)), None));
        }
        if self.word("values") {
            let span = self.before();
            let rows = self.list(|parser| parser.list_in_parentheses(Parser::expr))?;
            return Ok((QueryBody::Values(rows, span), None));
        }
        if self.word("table") {
            let table = QueryBody::Table(self.relation_name()?, self.span_since(start));
            return Ok((table, self.optional_as_of()?));
        }
        let (select, as_of) = self.select()?;
        Ok((QueryBody::Select(Box::new(select)), as_of))
    }

    /// The set operations behind an arm. UNION and EXCEPT bind alike, INTERSECT binds tighter.
    fn set_operations(&mut self, first: Arm) -> Result<Arm> {
        let mut left = self.intersections(first)?;
        let mut levels = 0;
        while let Some(operator) = self.one_word_of(&["union", "except"]) {
            let operator = if operator == 0 { SetOperator::Union } else { SetOperator::Except };
            let at = self.before();
            let all = self.set_quantifier();
            let arm = self.arm()?;
            let right = self.intersections(arm)?;
            left = self.set_operation(left, (operator, all, at), right, &mut levels)?;
        }
        Ok(left)
    }

    fn intersections(&mut self, first: Arm) -> Result<Arm> {
        let mut left = first;
        let mut levels = 0;
        while self.word("intersect") {
            let at = self.before();
            let all = self.set_quantifier();
            let right = self.arm()?;
            left = self.set_operation(left, (SetOperator::Intersect, all, at), right, &mut levels)?;
        }
        Ok(left)
    }

    /// Joins two arms. A left operand of the same operation takes the right one as a further arm.
    fn set_operation(&self, left: Arm, by: (SetOperator, bool, Span), right: Arm, levels: &mut usize) -> Result<Arm> {
        let (operator, all, at) = by;
        let right = settled(right);
        let mut set = match settled(left) {
            QueryBody::Set(set) if set.operator == operator && set.all == all => set,
            left => {
                self.one_level_more(levels)?;
                SetOperation { operator, all, arms: vec![left], operators: Vec::new() }
            }
        };
        set.arms.push(right);
        set.operators.push(at);
        Ok((QueryBody::Set(set), None))
    }

    /// ALL, DISTINCT or neither. Answers whether it is ALL.
    pub(crate) fn set_quantifier(&mut self) -> bool {
        self.one_word_of(&["all", "distinct"]) == Some(0)
    }

    /// Counts a level of a tree that a loop builds. Such a tree is limited like brackets. Errors: 54001.
    pub(crate) fn one_level_more(&self, levels: &mut usize) -> Result<()> {
        *levels += 1;
        if self.depth + *levels > MOST_DEPTH {
            let error = SyntaxError::new(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded");
            return Err(error.at(self.before()));
        }
        Ok(())
    }
}

/// An arm among others: its time becomes that of a query of its own.
fn settled((body, as_of): Arm) -> QueryBody {
    let Some(as_of) = as_of else { return body };
    let span = match &body {
        QueryBody::Select(select) => select.span.to(as_of.span),
        _ => as_of.span,
    };
    let mut query = plain_query(body, span);
    query.as_of = Some(as_of);
    QueryBody::Nested(Box::new(query))
}

fn plain_query(body: QueryBody, span: Span) -> Query {
    Query { with: None, body, order_by: Vec::new(), limit: None, offset: None, locks: Vec::new(), as_of: None, span }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::super::cases::{check, statement};
    use crate::tree::{Query, QueryBody, SetOperator, Statement};
    use std::time::{Duration, Instant};

    fn query(text: &str) -> Query {
        match statement(text).unwrap_or_else(|error| panic!("{text}: {error}")) {
            Statement::Query(query) => *query,
            other => panic!("{other:?}"),
        }
    }

    /// The set operations of a body as a text: `(A u B u C)`, in upper case with ALL.
    fn shape(body: &QueryBody) -> String {
        match body {
            QueryBody::Set(set) => {
                assert_eq!(set.operators.len() + 1, set.arms.len());
                let sign = match set.operator {
                    SetOperator::Union => "u",
                    SetOperator::Intersect => "i",
                    SetOperator::Except => "e",
                };
                let sign = if set.all { sign.to_uppercase() } else { sign.to_owned() };
                format!("({})", set.arms.iter().map(shape).collect::<Vec<_>>().join(&sign))
            }
            QueryBody::Nested(query) => format!("[{}]", shape(&query.body)),
            _ => "q".to_owned(),
        }
    }

    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        check(include_str!("cases/query.sql"));
    }

    #[test]
    fn set_operations_bind_as_in_postgresql() {
        for (text, expected) in [
            ("@ union all @ union all @", "(qUqUq)"),
            ("@ union @ union distinct @", "(ququq)"),
            ("@ union @ union all @", "((quq)Uq)"),
            ("@ except @ except @ union @", "((qeqeq)uq)"),
            ("@ union @ intersect @ intersect @ union @", "(qu(qiqiq)uq)"),
            ("@ intersect @ union @ intersect all @", "((qiq)u(qIq))"),
            ("(@ union @) union @", "([(quq)]uq)"),
            ("@ union (@ union @)", "(qu[(quq)])"),
            ("((@)) union (((@)))", "([q]u[q])"),
            ("(((@ union @)))", "(quq)"),
        ] {
            assert_eq!(shape(&query(&text.replace('@', "select 1")).body), expected, "{text}");
        }
    }

    #[test]
    fn clauses_around_parentheses_are_those_of_the_query() {
        let found = query("with a as (select 1) (((select 1 for share)) limit 2) order by 1 for update");
        assert!(found.with.is_some() && matches!(found.body, QueryBody::Select(_)));
        assert_eq!((found.order_by.len(), found.limit.is_some(), found.locks.len()), (1, true, 2));
        let text = " ((select 1) limit 2) ";
        let span = query(text).span;
        assert_eq!((span.start, span.end), (1, 21));
    }

    #[test]
    fn a_time_may_stand_behind_from_or_at_the_end() {
        for text in [
            "select a from t as of system time '-1s' where b order by c",
            "select a from t x join u as of system time 1 on true",
            "select a from t x as of system time 1",
            "select 1 as of system time 1",
            "select a from t where b limit 1 as of system time '1'",
            "(select a from t) as of system time 1",
            "table t as of system time 1",
            "select 1 union select 2 order by 1 as of system time 1",
        ] {
            if text.contains(" join ") {
                assert!(statement(text).is_err(), "{text}");
            } else {
                assert!(query(text).as_of.is_some(), "{text}");
            }
        }
        let found = query("select a from t as of system time 1 union select 2");
        assert!(found.as_of.is_none());
        assert_eq!(shape(&found.body), "([q]uq)");
        assert!(statement("select a from t as of system time 1 where b as of system time 2").is_err());
        assert!(statement("select a from t as of").is_ok());
    }

    #[test]
    fn deep_and_long_queries_are_read_quickly() {
        let start = Instant::now();
        let select = "select 1";
        let Ok(Statement::Query(long)) = statement(&format!("{select}{}", " union all select 1".repeat(3_000))) else {
            panic!()
        };
        assert!(matches!(long.body, QueryBody::Set(set) if set.arms.len() == 3_001));
        let mixed = " union select 1 union all select 1".repeat(1_500);
        assert!(statement(&format!("{select}{mixed}")).is_ok());
        for (open, close, times) in [("(", ")", 1_000), ("select (", ")", 500), ("select * from (", ") x", 500)] {
            assert!(statement(&format!("{}{select}{}", open.repeat(times), close.repeat(times))).is_ok(), "{open}");
        }
        let nested = |inner: &str, times: usize| {
            statement(&format!("select * from {}{inner}{} x", "(".repeat(times), ")".repeat(times)))
        };
        assert!(nested(select, 1_000).is_ok());
        assert!(nested("a join b on true", 1_000).is_ok());
        let joins = format!("select * from {}(select 1) x{}", "(".repeat(500), " cross join t)".repeat(500));
        assert!(statement(&joins).is_ok());
        assert!(statement(&format!("select * from t{}", " join t on true".repeat(300))).is_ok());
        assert!(statement(&format!("select * from t{}{}", " join t".repeat(300), " on true".repeat(300))).is_ok());
        for deep in ["(", "select * from (", "select (", "with a as (", "values ((("] {
            assert_eq!(statement(&deep.repeat(20_000)).unwrap_err().fields().state, "54001", "{deep}");
        }
        for long in [" union select 1 union all select 1", " intersect select 1 intersect all select 1"] {
            let found = statement(&format!("{select}{}", long.repeat(10_000)));
            assert_eq!(found.unwrap_err().fields().state, "54001", "{long}");
        }
        let found = statement(&format!("select * from t{}", " cross join t".repeat(20_000)));
        assert_eq!(found.unwrap_err().fields().state, "54001");
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
