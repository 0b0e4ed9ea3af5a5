//! The upkeep of a database: VACUUM, ANALYZE, CLUSTER, REINDEX, CHECK, LOAD, DISCARD.

use super::Parser;
use crate::error::Result;
use crate::tree::{Check, Cluster, Discard, Ident, Name, OptionItem, Reindex, ReindexKind, Statement, Vacuum};

impl Parser<'_> {
    /// VACUUM, behind that word. Errors: 42601.
    pub(crate) fn vacuum(&mut self, start: usize) -> Result<Statement> {
        let options = if self.is_sign('(') {
            self.utility_options()?
        } else {
            let words = ["full", "freeze", "verbose"].iter();
            let mut options: Vec<OptionItem> = words.filter_map(|word| self.word_option(word)).collect();
            options.extend(self.analyze_option());
            options
        };
        self.vacuum_of(start, true, options)
    }

    /// ANALYZE, behind that word. Errors: 42601.
    pub(crate) fn analyze(&mut self, start: usize) -> Result<Statement> {
        let options = match self.is_sign('(') {
            true => self.utility_options()?,
            false => self.word_option("verbose").into_iter().collect(),
        };
        self.vacuum_of(start, false, options)
    }

    fn vacuum_of(&mut self, start: usize, vacuum: bool, options: Vec<OptionItem>) -> Result<Statement> {
        let table = |parser: &mut Self| Ok((parser.qualified_name()?, parser.optional_columns()?));
        let tables = if self.is_column_name_at(0) { self.list(table)? } else { Vec::new() };
        Ok(Statement::Vacuum(Box::new(Vacuum { vacuum, options, tables, span: self.span_since(start) })))
    }

    /// CLUSTER, behind that word. Errors: 42601.
    pub(crate) fn cluster(&mut self) -> Result<Statement> {
        let listed = self.is_sign('(');
        let options = if listed { self.utility_options()? } else { self.word_option("verbose").into_iter().collect() };
        if !listed && !self.is_column_name_at(0) {
            return Ok(Statement::Cluster(Box::new(Cluster { options, table: None, index: None })));
        }
        let mut table = self.qualified_name()?;
        let mut index = None;
        if !listed && table.parts.len() == 1 && self.word("on") {
            // The order before release 8.3: the index comes first.
            index = table.parts.pop();
            table = self.qualified_name()?;
        } else if self.word("using") {
            index = Some(self.column_name()?);
        }
        Ok(Statement::Cluster(Box::new(Cluster { options, table: Some(table), index })))
    }

    /// REINDEX, behind that word. Errors: 42601.
    pub(crate) fn reindex(&mut self, start: usize) -> Result<Statement> {
        let mut options = if self.is_sign('(') { self.utility_options()? } else { Vec::new() };
        let kind = match self.one_word_of(&["index", "table", "schema", "database", "system"]) {
            Some(0) => ReindexKind::Index,
            Some(1) => ReindexKind::Table,
            Some(2) => ReindexKind::Schema,
            Some(3) => ReindexKind::Database,
            Some(_) => ReindexKind::System,
            None => return Err(self.error()),
        };
        options.extend(self.word_option("concurrently"));
        let name = match kind {
            ReindexKind::Index | ReindexKind::Table => self.qualified_name()?,
            _ => plain(self.column_name()?),
        };
        let span = self.span_since(start);
        Ok(Statement::Reindex(Box::new(Reindex { options, kind, name: Some(name), span })))
    }

    /// CHECK INDEX or CHECK TABLE, behind CHECK. It is PercoSQL's own. Errors: 42601 at CHECK for anything else.
    pub(crate) fn check(&mut self, start: usize) -> Result<Statement> {
        let Some(kind) = self.one_word_of(&["index", "table"]) else {
            self.back_to(start);
            return Err(self.error());
        };
        Ok(Statement::Check(Check { index: kind == 0, name: self.qualified_name()? }))
    }

    /// LOAD, behind that word. Errors: 42601.
    pub(crate) fn load(&mut self) -> Result<Statement> {
        Ok(Statement::Load(self.expect_string()?))
    }

    /// DISCARD, behind that word. Errors: 42601.
    pub(crate) fn discard(&mut self) -> Result<Statement> {
        Ok(Statement::Discard(match self.one_word_of(&["all", "plans", "sequences", "temp", "temporary"]) {
            Some(0) => Discard::All,
            Some(1) => Discard::Plans,
            Some(2) => Discard::Sequences,
            Some(_) => Discard::Temporary,
            None => return Err(self.error()),
        }))
    }
}

fn plain(name: Ident) -> Name {
    let span = name.span;
    Name { parts: vec![name], span }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/upkeep.sql"));
    }
}
