//! CREATE TABLE and CREATE TABLE AS.

use super::Parser;
use crate::error::Result;
use crate::tree::{
    CreateTable, CreateTableAs, Like, LikeOption, Name, OnCommit, Persistence, Statement, TableElement, TableStorage,
};

impl Parser<'_> {
    /// CREATE TABLE or CREATE TABLE AS behind TABLE (CreateStmt, CreateAsStmt). Errors: 42601.
    pub(crate) fn create_table(&mut self, start: usize, persistence: Persistence) -> Result<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.qualified_name()?;
        // A name in the parentheses that no type follows is one of CREATE TABLE AS.
        let names = self.is_column_name_at(1) && (self.is_sign_at(2, ',') || self.is_sign_at(2, ')'));
        if self.is_word("of") || self.is_word("partition") || self.is_sign('(') && !names {
            self.table_behind(start, persistence, if_not_exists, name)
        } else {
            self.table_as(start, persistence, if_not_exists, name)
        }
    }

    /// CREATE TABLE behind TABLE, CREATE TABLE AS left out. Errors: 42601.
    pub(crate) fn create_plain_table(&mut self, start: usize, persistence: Persistence) -> Result<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.qualified_name()?;
        self.table_behind(start, persistence, if_not_exists, name)
    }

    /// CREATE TABLE behind the name.
    fn table_behind(
        &mut self,
        start: usize,
        persistence: Persistence,
        if_not_exists: bool,
        name: Name,
    ) -> Result<Statement> {
        let mut of_type = None;
        let mut partition_of = None;
        let mut inherits = Vec::new();
        let elements;
        if self.word("of") {
            of_type = Some(self.name()?);
            elements = self.typed_elements()?;
        } else if self.word("partition") {
            self.expect_word("of")?;
            let parent = self.qualified_name()?;
            elements = self.typed_elements()?;
            partition_of = Some((parent, self.partition_bound()?));
        } else {
            self.expect_sign('(')?;
            elements = if self.is_sign(')') { Vec::new() } else { self.list(Parser::table_element)? };
            self.expect_sign(')')?;
            if self.word("inherits") {
                inherits = self.list_in_parentheses(Parser::qualified_name)?;
            }
        }
        let partition_by = self.optional_partition_by()?;
        let storage = self.table_storage()?;
        let span = self.span_since(start);
        Ok(Statement::CreateTable(Box::new(CreateTable {
            persistence,
            if_not_exists,
            name,
            elements,
            of_type,
            partition_of,
            inherits,
            partition_by,
            storage,
            span,
        })))
    }

    /// CREATE TABLE AS behind the name.
    fn table_as(
        &mut self,
        start: usize,
        persistence: Persistence,
        if_not_exists: bool,
        name: Name,
    ) -> Result<Statement> {
        let columns = self.optional_columns()?;
        let storage = self.table_storage()?;
        self.expect_word("as")?;
        let behind = self.mark();
        let source =
            if self.word("execute") { self.execute(behind)? } else { Statement::Query(Box::new(self.query()?)) };
        let with_data = self.with_data()?;
        Ok(Statement::CreateTableAs(Box::new(CreateTableAs {
            persistence,
            materialized_view: false,
            if_not_exists,
            name,
            columns,
            storage,
            source: Box::new(source),
            with_data,
            span: self.span_since(start),
        })))
    }

    /// WITH \[NO\] DATA: false for NO (opt_with_data). Errors: 42601.
    pub(crate) fn with_data(&mut self) -> Result<bool> {
        if !self.plain_with() {
            return Ok(true);
        }
        let without = self.word("no");
        self.expect_word("data")?;
        Ok(!without)
    }

    /// The clauses of a table's storage (table_access_method_clause to OptTableSpace).
    fn table_storage(&mut self) -> Result<TableStorage> {
        let method = self.access_method()?;
        let options = self.optional_storage_options()?;
        if options.is_empty() && self.word("without") {
            self.expect_word("oids")?;
        }
        let mut on_commit = None;
        if self.word("on") {
            self.expect_word("commit")?;
            on_commit = Some(match self.one_word_of(&["drop", "delete", "preserve"]) {
                Some(0) => OnCommit::Drop,
                Some(at) => {
                    self.expect_word("rows")?;
                    if at == 1 { OnCommit::DeleteRows } else { OnCommit::PreserveRows }
                }
                None => return Err(self.error()),
            });
        }
        Ok(TableStorage { method, options, on_commit, tablespace: self.tablespace()? })
    }

    /// The elements of a typed table or a partition, if there are any (OptTypedTableElementList).
    fn typed_elements(&mut self) -> Result<Vec<TableElement>> {
        if !self.is_sign('(') {
            return Ok(Vec::new());
        }
        self.list_in_parentheses(|parser| {
            if parser.is_table_constraint() {
                parser.table_constraint().map(TableElement::Constraint)
            } else {
                parser.column_without_type().map(TableElement::Column)
            }
        })
    }

    /// An element of a table (TableElement).
    fn table_element(&mut self) -> Result<TableElement> {
        if self.is_word("like") {
            self.like_element().map(TableElement::Like)
        } else if self.is_table_constraint() {
            self.table_constraint().map(TableElement::Constraint)
        } else {
            self.column().map(TableElement::Column)
        }
    }

    /// LIKE (TableLikeClause).
    fn like_element(&mut self) -> Result<Like> {
        const OPTIONS: [(&str, LikeOption); 10] = [
            ("comments", LikeOption::Comments),
            ("compression", LikeOption::Compression),
            ("constraints", LikeOption::Constraints),
            ("defaults", LikeOption::Defaults),
            ("generated", LikeOption::Generated),
            ("identity", LikeOption::Identity),
            ("indexes", LikeOption::Indexes),
            ("statistics", LikeOption::Statistics),
            ("storage", LikeOption::Storage),
            ("all", LikeOption::All),
        ];
        let start = self.mark();
        self.skip();
        let table = self.qualified_name()?;
        let mut options = Vec::new();
        while let Some(at) = self.one_word_of(&["including", "excluding"]) {
            let Some((word, option)) = OPTIONS.iter().find(|(word, _)| self.is_word(word)) else {
                return Err(self.error());
            };
            self.word(word);
            options.push((*option, at == 0));
        }
        Ok(Like { table, options, span: self.span_since(start) })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/create_table.sql"));
    }
}
