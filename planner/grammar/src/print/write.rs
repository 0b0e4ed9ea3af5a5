//! Writes INSERT, UPDATE, DELETE, MERGE and COPY.

use super::expression::steps;
use super::option;
use super::writer::{Print, Writer};
use crate::tree::{
    Assignment, ColumnTarget, ConflictTarget, Copy, CopyPeer, CopyTarget, Delete, Ident, Insert, Merge, MergeAction,
    MergeClause, OnConflict, Overriding, Truncate, Update,
};

impl Print for Insert {
    fn print(&self, out: &mut Writer) {
        out.optional(&self.with).word("INSERT INTO").node(&self.table).clause("AS", &self.alias);
        out.enclosed_if_any(&self.columns).optional(&self.overriding);
        match &self.source {
            Some(query) => out.node(query),
            None => out.word("DEFAULT VALUES"),
        };
        out.optional(&self.conflict).list_clause("RETURNING", &self.returning);
    }
}

impl Print for Overriding {
    fn print(&self, out: &mut Writer) {
        out.either(*self == Overriding::System, "OVERRIDING SYSTEM VALUE", "OVERRIDING USER VALUE");
    }
}

impl Print for ColumnTarget {
    fn print(&self, out: &mut Writer) {
        out.node(&self.column);
        steps(&self.steps, out);
    }
}

impl Print for OnConflict {
    fn print(&self, out: &mut Writer) {
        out.word("ON CONFLICT");
        match &self.target {
            Some(ConflictTarget::Constraint(name)) => out.word("ON CONSTRAINT").node(name),
            Some(ConflictTarget::Index { keys, predicate }) => out.enclosed(keys).clause("WHERE", predicate),
            None => out,
        };
        match &self.update {
            Some(update) => {
                out.word("DO UPDATE SET").list(&update.assignments).clause("WHERE", &update.filter);
            }
            None => {
                out.word("DO NOTHING");
            }
        }
    }
}

impl Print for Assignment {
    fn print(&self, out: &mut Writer) {
        match self {
            Assignment::One(column, value) => out.node(column).word("=").node(value),
            Assignment::Several(columns, value) => out.enclosed(columns).word("=").node(value),
        };
    }
}

impl Print for Update {
    fn print(&self, out: &mut Writer) {
        out.optional(&self.with).word("UPDATE").node(&self.table).optional(&self.alias);
        out.word("SET").list(&self.assignments).list_clause("FROM", &self.from).clause("WHERE", &self.filter);
        out.list_clause("RETURNING", &self.returning);
    }
}

impl Print for Delete {
    fn print(&self, out: &mut Writer) {
        out.optional(&self.with).word("DELETE FROM").node(&self.table).optional(&self.alias);
        out.list_clause("USING", &self.using).clause("WHERE", &self.filter).list_clause("RETURNING", &self.returning);
    }
}

impl Print for Merge {
    fn print(&self, out: &mut Writer) {
        out.optional(&self.with).word("MERGE INTO").node(&self.table).optional(&self.alias);
        out.word("USING").node(&self.source).word("ON").node(&self.on).sequence(&self.clauses);
    }
}

impl Print for MergeClause {
    fn print(&self, out: &mut Writer) {
        out.either(self.matched, "WHEN MATCHED", "WHEN NOT MATCHED").clause("AND", &self.condition).word("THEN");
        match &self.action {
            MergeAction::Nothing => out.word("DO NOTHING"),
            MergeAction::Update(assignments) => out.word("UPDATE SET").list(assignments),
            MergeAction::Delete => out.word("DELETE"),
            MergeAction::Insert { columns, overriding, values } => {
                out.word("INSERT").enclosed_if_any(columns).optional(overriding);
                match values {
                    Some(values) => out.word("VALUES").enclosed(values),
                    None => out.word("DEFAULT VALUES"),
                }
            }
        };
    }
}

impl Print for Copy {
    fn print(&self, out: &mut Writer) {
        out.word("COPY");
        match &self.target {
            CopyTarget::Table(name, columns) => out.node(name).enclosed_if_any(columns),
            CopyTarget::Statement(statement) => out.open().node(statement).close(),
        };
        out.either(self.from, "FROM", "TO");
        match &self.peer {
            CopyPeer::Client => out.either(self.from, "STDIN", "STDOUT"),
            CopyPeer::File(path) => out.string(path),
            CopyPeer::Program(command) => out.word("PROGRAM").string(command),
        };
        if !self.options.is_empty() {
            out.word("WITH");
            option::plain(&self.options, out);
        }
        out.clause("WHERE", &self.filter);
    }
}

impl Print for Truncate {
    fn print(&self, out: &mut Writer) {
        out.word("TRUNCATE TABLE").list(&self.tables).word_if(self.restart_identity, "RESTART IDENTITY");
        out.word_if(self.cascade, "CASCADE");
    }
}

/// Writes tables with their columns, as of VACUUM.
pub(super) fn tables_with_columns(tables: &[(crate::tree::Name, Vec<Ident>)], out: &mut Writer) {
    out.each(tables, |out, (name, columns)| {
        out.node(name).enclosed_if_any(columns);
    });
}
