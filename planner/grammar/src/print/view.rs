//! Writes CREATE VIEW, REFRESH, CREATE SEQUENCE, CREATE SCHEMA and CREATE STATISTICS.

use super::option;
use super::table::column_or_call;
use super::writer::{Print, Writer};
use crate::tree::{CheckOption, CreateSchema, CreateSequence, CreateStatistics, CreateView, Refresh};

impl Print for CreateView {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE").word_if(self.or_replace, "OR REPLACE").word_if(self.temporary, "TEMPORARY");
        out.word_if(self.recursive, "RECURSIVE").word("VIEW").node(&self.name).enclosed_if_any(&self.columns);
        option::with(&self.options, out);
        out.word("AS").node(&self.query);
        match self.check_option {
            Some(CheckOption::Local) => out.word("WITH LOCAL CHECK OPTION"),
            Some(CheckOption::Cascaded) => out.word("WITH CASCADED CHECK OPTION"),
            None => out,
        };
    }
}

impl Print for Refresh {
    fn print(&self, out: &mut Writer) {
        out.word("REFRESH MATERIALIZED VIEW").word_if(self.concurrently, "CONCURRENTLY").node(&self.name);
        out.word_if(!self.with_data, "WITH NO DATA");
    }
}

impl Print for CreateSequence {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE").node(&self.persistence).word("SEQUENCE").word_if(self.if_not_exists, "IF NOT EXISTS");
        out.node(&self.name).sequence(&self.options);
    }
}

impl Print for CreateSchema {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE SCHEMA").word_if(self.if_not_exists, "IF NOT EXISTS").optional(&self.name);
        out.clause("AUTHORIZATION", &self.owner).sequence(&self.elements);
    }
}

impl Print for CreateStatistics {
    fn print(&self, out: &mut Writer) {
        out.word("CREATE STATISTICS").word_if(self.if_not_exists, "IF NOT EXISTS").optional(&self.name);
        out.enclosed_if_any(&self.kinds).word("ON").each(&self.items, |out, item| column_or_call(item, out));
        out.word("FROM").list(&self.from);
    }
}
