//! Random queries.

use super::{Choices, made};
use percosql_grammar::Span;
use percosql_grammar::tree::{
    CommonTable, Cycle, Distinct, ExprKind, GroupBy, GroupItem, Limit, LockClause, LockStrength, LockWait, NamedWindow,
    Query, QueryBody, Search, Select, SetOperation, SetOperator, SortDirection, SortItem, Statement, Target, With,
};

impl Choices {
    pub fn query(&mut self) -> Query {
        if self.is_deep() {
            return Query { body: self.simple_body(), ..empty_query() };
        }
        self.deeper(|choices| {
            let body = if choices.rarely() { choices.set_operation() } else { choices.simple_body() };
            let order_by = if choices.rarely() { choices.sort_items() } else { Vec::new() };
            let with_ties = !order_by.is_empty() && choices.flag();
            let limit = choices.option(|choices| Limit { count: choices.expr(), with_ties, span: Span::NONE });
            // Rows that are skipped and ties exclude each other.
            let locks = if with_ties || !choices.rarely() { Vec::new() } else { choices.list(1, Choices::lock) };
            let with = choices.option(Choices::with);
            let offset = choices.option(Choices::expr);
            Query { with, body, order_by, limit, offset, locks, as_of: None, span: Span::NONE }
        })
    }

    fn simple_body(&mut self) -> QueryBody {
        match self.below(8) {
            6 => QueryBody::Values(self.list(1, |choices| choices.exprs(1)), Span::NONE),
            7 => QueryBody::Table(self.relation(), Span::NONE),
            _ => QueryBody::Select(Box::new(self.select())),
        }
    }

    fn arm(&mut self) -> QueryBody {
        match self.below(4) {
            3 if !self.is_deep() => QueryBody::Nested(Box::new(self.query())),
            _ => self.simple_body(),
        }
    }

    /// A set operation: an arm may be another one only if it binds more tightly, or is the first and differs.
    fn set_operation(&mut self) -> QueryBody {
        let operator = self.one_of(&[SetOperator::Union, SetOperator::Intersect, SetOperator::Except]);
        let mut set = self.flat_operation(operator);
        if self.flag() {
            let at = self.below(set.arms.len());
            let inner = if at == 0 && operator != SetOperator::Intersect && self.flag() {
                let mut inner = self.flat_operation(SetOperator::Union);
                inner.all = operator == SetOperator::Union && !set.all;
                Some(inner)
            } else if operator != SetOperator::Intersect {
                Some(self.flat_operation(SetOperator::Intersect))
            } else if at == 0 {
                let mut inner = self.flat_operation(SetOperator::Intersect);
                inner.all = !set.all;
                Some(inner)
            } else {
                None
            };
            if let Some(inner) = inner.filter(|inner| (inner.operator, inner.all) != (set.operator, set.all)) {
                set.arms[at] = QueryBody::Set(inner);
            }
        }
        QueryBody::Set(set)
    }

    fn flat_operation(&mut self, operator: SetOperator) -> SetOperation {
        let arms = self.list(2, Choices::arm);
        let operators = vec![Span::NONE; arms.len() - 1];
        SetOperation { operator, all: self.flag(), arms, operators }
    }

    fn select(&mut self) -> Select {
        let distinct = self.option(|choices| {
            let on = if choices.flag() { choices.exprs(1) } else { Vec::new() };
            Distinct { on, span: Span::NONE }
        });
        let targets = self.list(usize::from(distinct.is_some()), Choices::target);
        let windows = |choices: &mut Self| {
            choices.list(1, |choices| NamedWindow { name: choices.ident(), spec: choices.window_spec() })
        };
        Select {
            distinct,
            targets,
            into: None,
            from: if self.flag() { self.list(1, Choices::joined) } else { Vec::new() },
            filter: self.option(Choices::expr),
            group_by: self
                .option(|choices| GroupBy { distinct: choices.rarely(), items: choices.list(1, Choices::group_item) }),
            having: self.option(Choices::expr),
            windows: if self.rarely() { windows(self) } else { Vec::new() },
            span: Span::NONE,
        }
    }

    fn target(&mut self) -> Target {
        match self.below(8) {
            6 => Target { value: made(ExprKind::Star(Vec::new())), label: None },
            7 => Target { value: made(ExprKind::Star(self.idents(1))), label: None },
            _ => Target { value: self.expr(), label: self.option(Choices::ident) },
        }
    }

    fn group_item(&mut self) -> GroupItem {
        match self.below(8) {
            3 => GroupItem::Empty(Span::NONE),
            4 => GroupItem::Rollup(self.exprs(1), Span::NONE),
            5 => GroupItem::Cube(self.exprs(1), Span::NONE),
            6 if !self.is_deep() => {
                let items = self.deeper(|choices| choices.list(1, Choices::group_item));
                GroupItem::Sets(items, Span::NONE)
            }
            _ => GroupItem::Expr(self.expr()),
        }
    }

    pub fn sort_items(&mut self) -> Vec<SortItem> {
        self.list(1, |choices| SortItem {
            value: choices.expr(),
            direction: match choices.below(6) {
                3 => Some(SortDirection::Ascending),
                4 => Some(SortDirection::Descending),
                5 => Some(SortDirection::Using(choices.operator())),
                _ => None,
            },
            nulls_first: choices.maybe(),
        })
    }

    fn lock(&mut self) -> LockClause {
        use LockStrength::*;
        let strength = self.one_of(&[Update, NoKeyUpdate, Share, KeyShare]);
        let of = if self.flag() { self.list(1, Choices::name) } else { Vec::new() };
        let wait = self.one_of(&[LockWait::Wait, LockWait::NoWait, LockWait::SkipLocked]);
        LockClause { strength, of, wait, span: Span::NONE }
    }

    fn with(&mut self) -> With {
        With { recursive: self.flag(), queries: self.list(1, Choices::common_table), span: Span::NONE }
    }

    fn common_table(&mut self) -> CommonTable {
        let search = self.option(|choices| Search {
            breadth_first: choices.flag(),
            columns: choices.idents(1),
            sequence: choices.ident(),
            span: Span::NONE,
        });
        let cycle = self.option(|choices| Cycle {
            columns: choices.idents(1),
            mark: choices.ident(),
            values: None,
            path: choices.ident(),
            span: Span::NONE,
        });
        CommonTable {
            name: self.ident(),
            columns: if self.rarely() { self.idents(1) } else { Vec::new() },
            materialized: self.maybe(),
            statement: Box::new(Statement::Query(Box::new(self.query()))),
            search,
            cycle,
            span: Span::NONE,
        }
    }
}

fn empty_query() -> Query {
    Query {
        with: None,
        body: QueryBody::Values(Vec::new(), Span::NONE),
        order_by: Vec::new(),
        limit: None,
        offset: None,
        locks: Vec::new(),
        as_of: None,
        span: Span::NONE,
    }
}
