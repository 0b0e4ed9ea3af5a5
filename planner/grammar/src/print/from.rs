//! Writes the items of FROM.

use super::writer::{Print, Writer};
use crate::tree::{FromItem, Join, JoinCondition, JoinKind, RowsFunction, Sample};

impl Print for FromItem {
    fn print(&self, out: &mut Writer) {
        out.deeper(|out| item(self, out));
    }
}

fn item(item: &FromItem, out: &mut Writer) {
    match item {
        FromItem::Table { relation, alias, sample, .. } => {
            out.node(relation).optional(alias).optional(sample);
        }
        FromItem::Query { lateral, query, alias, .. } => {
            out.word_if(*lateral, "LATERAL").open().node(query).close().optional(alias);
        }
        FromItem::Function { lateral, rows_from, functions, ordinality, alias, .. } => {
            out.word_if(*lateral, "LATERAL");
            if *rows_from {
                out.word("ROWS FROM").enclosed(functions);
            } else {
                out.list(functions);
            }
            out.word_if(*ordinality, "WITH ORDINALITY").optional(alias);
        }
        FromItem::Join(join) if join.alias.is_some() => {
            out.open();
            self::join(join, out);
            out.close().optional(&join.alias);
        }
        FromItem::Join(join) => self::join(join, out),
    }
}

fn join(join: &Join, out: &mut Writer) {
    out.node(&join.left).word_if(matches!(join.condition, JoinCondition::Natural), "NATURAL");
    out.word(match join.kind {
        JoinKind::Cross => "CROSS JOIN",
        JoinKind::Inner => "JOIN",
        JoinKind::Left => "LEFT JOIN",
        JoinKind::Right => "RIGHT JOIN",
        JoinKind::Full => "FULL JOIN",
    });
    match &join.right {
        // Joins associate to the left.
        FromItem::Join(right) if right.alias.is_none() => out.open().node(&join.right).close(),
        right => out.node(right),
    };
    match &join.condition {
        JoinCondition::None | JoinCondition::Natural => out,
        JoinCondition::On(condition) => out.word("ON").node(condition),
        JoinCondition::Using(columns, alias) => out.word("USING").enclosed(columns).clause("AS", alias),
    };
}

impl Print for RowsFunction {
    fn print(&self, out: &mut Writer) {
        out.node(&self.call);
        if !self.definitions.is_empty() {
            out.word("AS").enclosed(&self.definitions);
        }
    }
}

impl Print for Sample {
    fn print(&self, out: &mut Writer) {
        out.word("TABLESAMPLE").node(&self.method).enclosed(&self.arguments);
        if let Some(seed) = &self.seed {
            out.word("REPEATABLE").open().node(seed).close();
        }
    }
}
