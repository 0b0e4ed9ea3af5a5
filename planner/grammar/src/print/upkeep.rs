//! Writes statements about the upkeep of a database.

use super::option;
use super::write::tables_with_columns;
use super::writer::{Print, Writer};
use crate::tree::{Check, Cluster, Explain, LockTable, Reindex, ReindexKind, Vacuum};

impl Print for Explain {
    fn print(&self, out: &mut Writer) {
        option::plain_if_any(&self.options, out.word("EXPLAIN"));
        out.node(&self.statement);
    }
}

impl Print for Vacuum {
    fn print(&self, out: &mut Writer) {
        option::plain_if_any(&self.options, out.either(self.vacuum, "VACUUM", "ANALYZE"));
        tables_with_columns(&self.tables, out);
    }
}

impl Print for Cluster {
    fn print(&self, out: &mut Writer) {
        out.word("CLUSTER");
        if self.table.is_none() && !self.options.is_empty() {
            // VERBOSE is the only option without a table, and takes no parentheses there.
            out.word("VERBOSE");
        } else {
            option::plain_if_any(&self.options, out);
        }
        out.optional(&self.table).clause("USING", &self.index);
    }
}

impl Print for Reindex {
    fn print(&self, out: &mut Writer) {
        option::plain_if_any(&self.options, out.word("REINDEX"));
        out.word(match self.kind {
            ReindexKind::Index => "INDEX",
            ReindexKind::Table => "TABLE",
            ReindexKind::Schema => "SCHEMA",
            ReindexKind::Database => "DATABASE",
            ReindexKind::System => "SYSTEM",
        });
        out.optional(&self.name);
    }
}

impl Print for LockTable {
    fn print(&self, out: &mut Writer) {
        out.word("LOCK TABLE").list(&self.tables).word("IN").word(self.mode.words());
        out.word("MODE").word_if(self.nowait, "NOWAIT");
    }
}

impl Print for Check {
    fn print(&self, out: &mut Writer) {
        out.either(self.index, "CHECK INDEX", "CHECK TABLE").node(&self.name);
    }
}
