//! Writes queries.

use super::expression::{Place, expr};
use super::name::always_quoted;
use super::writer::{Print, Writer};
use crate::tree::{
    CommonTable, Distinct, Expr, ExprKind, FrameBound, FrameExclusion, FrameUnits, GroupItem, Ident, Limit, LockClause,
    LockStrength, LockWait, NamedWindow, Persistence, Query, QueryBody, Select, SetOperation, SetOperator,
    SortDirection, SortItem, Target, WindowFrame, WindowSpec, With,
};

impl Print for Query {
    fn print(&self, out: &mut Writer) {
        out.deeper(|out| {
            out.optional(&self.with).node(&self.body).list_clause("ORDER BY", &self.order_by);
            out.optional(&self.limit).clause("OFFSET", &self.offset).sequence(&self.locks);
            out.clause("AS OF SYSTEM TIME", &self.as_of);
        });
    }
}

impl Print for QueryBody {
    fn print(&self, out: &mut Writer) {
        out.deeper(|out| {
            match self {
                QueryBody::Select(select) => out.node(select),
                QueryBody::Values(rows, _) => out.word("VALUES").each(rows, |out, row| {
                    out.enclosed(row);
                }),
                QueryBody::Table(relation, _) => out.word("TABLE").node(relation),
                QueryBody::Set(operation) => out.node(operation),
                QueryBody::Nested(query) => out.open().node(query).close(),
            };
        });
    }
}

impl Print for SetOperation {
    fn print(&self, out: &mut Writer) {
        for (at, arm) in self.arms.iter().enumerate() {
            if at > 0 {
                out.word(match self.operator {
                    SetOperator::Union => "UNION",
                    SetOperator::Intersect => "INTERSECT",
                    SetOperator::Except => "EXCEPT",
                });
                out.word_if(self.all, "ALL");
            }
            if self.needs_parentheses(at, arm) {
                out.open().node(arm).close();
            } else {
                arm.print(out);
            }
        }
    }
}

impl SetOperation {
    /// Whether an arm would else be read in another way. INTERSECT binds more tightly, and all others to the left.
    fn needs_parentheses(&self, at: usize, arm: &QueryBody) -> bool {
        let QueryBody::Set(inner) = arm else { return false };
        let tighter = |operator| operator == SetOperator::Intersect;
        match (tighter(inner.operator), tighter(self.operator)) {
            (true, false) => false,
            (false, true) => true,
            _ => at > 0 || (inner.operator, inner.all) == (self.operator, self.all),
        }
    }
}

impl Print for Select {
    fn print(&self, out: &mut Writer) {
        out.word("SELECT").optional(&self.distinct);
        out.list(&self.targets);
        if let Some(into) = &self.into {
            // TABLE lets a table be called `temporary`.
            out.word("INTO").word(match into.persistence {
                Persistence::Permanent => "TABLE",
                Persistence::Temporary => "TEMPORARY TABLE",
                Persistence::Unlogged => "UNLOGGED TABLE",
            });
            out.node(&into.name);
        }
        out.list_clause("FROM", &self.from).clause("WHERE", &self.filter);
        if let Some(group_by) = &self.group_by {
            out.word("GROUP BY").word_if(group_by.distinct, "DISTINCT").list(&group_by.items);
        }
        out.clause("HAVING", &self.having).list_clause("WINDOW", &self.windows);
    }
}

impl Print for Distinct {
    fn print(&self, out: &mut Writer) {
        out.word("DISTINCT");
        if !self.on.is_empty() {
            out.word("ON").enclosed(&self.on);
        }
    }
}

impl Print for Target {
    fn print(&self, out: &mut Writer) {
        out.node(&self.value).clause("AS", &self.label);
    }
}

impl Print for GroupItem {
    fn print(&self, out: &mut Writer) {
        match self {
            GroupItem::Empty(_) => out.word("()"),
            GroupItem::Expr(value) => out.node(value),
            GroupItem::Rollup(values, _) => out.word("ROLLUP").enclosed(values),
            GroupItem::Cube(values, _) => out.word("CUBE").enclosed(values),
            GroupItem::Sets(items, _) => out.word("GROUPING SETS").deeper(|out| {
                out.enclosed(items);
            }),
        };
    }
}

impl Print for NamedWindow {
    fn print(&self, out: &mut Writer) {
        out.node(&self.name).word("AS").node(&self.spec);
    }
}

impl Print for WindowSpec {
    fn print(&self, out: &mut Writer) {
        out.open();
        match &self.base {
            // Words that begin a clause of their own.
            Some(base) if matches!(base.value.as_str(), "partition" | "range" | "rows" | "groups") => {
                out.word(&always_quoted(&base.value));
            }
            base => {
                out.optional(base);
            }
        }
        out.list_clause("PARTITION BY", &self.partition_by).list_clause("ORDER BY", &self.order_by);
        out.optional(&self.frame).close();
    }
}

impl Print for WindowFrame {
    fn print(&self, out: &mut Writer) {
        out.word(match self.units {
            FrameUnits::Range => "RANGE",
            FrameUnits::Rows => "ROWS",
            FrameUnits::Groups => "GROUPS",
        });
        match &self.end {
            Some(end) => out.word("BETWEEN").node(&self.start).word("AND").node(end),
            None => out.node(&self.start),
        };
        match self.exclude {
            Some(FrameExclusion::CurrentRow) => out.word("EXCLUDE CURRENT ROW"),
            Some(FrameExclusion::Group) => out.word("EXCLUDE GROUP"),
            Some(FrameExclusion::Ties) => out.word("EXCLUDE TIES"),
            None => out,
        };
    }
}

impl Print for FrameBound {
    fn print(&self, out: &mut Writer) {
        match self {
            FrameBound::UnboundedPreceding => out.word("UNBOUNDED PRECEDING"),
            FrameBound::Preceding(distance) => {
                word_or_else(distance, &["unbounded", "current"], out);
                out.word("PRECEDING")
            }
            FrameBound::CurrentRow => out.word("CURRENT ROW"),
            FrameBound::Following(distance) => {
                word_or_else(distance, &["unbounded", "current"], out);
                out.word("FOLLOWING")
            }
            FrameBound::UnboundedFollowing => out.word("UNBOUNDED FOLLOWING"),
        };
    }
}

/// Writes an expression. A column of one of these names is quoted: the grammar takes it for a word.
fn word_or_else(value: &Expr, words: &[&str], out: &mut Writer) {
    match &value.kind {
        ExprKind::Column(parts) => match parts.as_slice() {
            [Ident { value, .. }] if words.contains(&value.as_str()) => {
                out.word(&always_quoted(value));
            }
            _ => value.print(out),
        },
        _ => value.print(out),
    }
}

impl Print for SortItem {
    fn print(&self, out: &mut Writer) {
        out.node(&self.value);
        match &self.direction {
            Some(SortDirection::Ascending) => out.word("ASC"),
            Some(SortDirection::Descending) => out.word("DESC"),
            Some(SortDirection::Using(operator)) => out.word("USING").node(operator),
            None => out,
        };
        out.choice(self.nulls_first, "NULLS FIRST", "NULLS LAST");
    }
}

impl Print for Limit {
    fn print(&self, out: &mut Writer) {
        if self.with_ties {
            out.word("FETCH FIRST");
            match &self.count.kind {
                ExprKind::Column(_) => word_or_else(&self.count, &["rows"], out),
                _ => expr(&self.count, Place::PRIMARY, out),
            }
            out.word("ROWS WITH TIES");
        } else {
            out.word("LIMIT").node(&self.count);
        }
    }
}

impl Print for LockClause {
    fn print(&self, out: &mut Writer) {
        out.word(match self.strength {
            LockStrength::KeyShare => "FOR KEY SHARE",
            LockStrength::Share => "FOR SHARE",
            LockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
            LockStrength::Update => "FOR UPDATE",
        });
        out.list_clause("OF", &self.of);
        match self.wait {
            LockWait::Wait => out,
            LockWait::NoWait => out.word("NOWAIT"),
            LockWait::SkipLocked => out.word("SKIP LOCKED"),
        };
    }
}

impl Print for With {
    fn print(&self, out: &mut Writer) {
        out.word("WITH").word_if(self.recursive, "RECURSIVE").list(&self.queries);
    }
}

impl Print for CommonTable {
    fn print(&self, out: &mut Writer) {
        out.node(&self.name).enclosed_if_any(&self.columns).word("AS");
        out.choice(self.materialized, "MATERIALIZED", "NOT MATERIALIZED").open().node(&self.statement).close();
        if let Some(search) = &self.search {
            out.word("SEARCH").either(search.breadth_first, "BREADTH", "DEPTH");
            out.word("FIRST BY").list(&search.columns).word("SET").node(&search.sequence);
        }
        if let Some(cycle) = &self.cycle {
            out.word("CYCLE").list(&cycle.columns).word("SET").node(&cycle.mark);
            if let Some(values) = &cycle.values {
                out.word("TO").node(&values.0).word("DEFAULT").node(&values.1);
            }
            out.word("USING").node(&cycle.path);
        }
    }
}
