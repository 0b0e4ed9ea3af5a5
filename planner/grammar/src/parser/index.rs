//! CREATE INDEX, and the keys of indexes and partitioned tables.

use super::Parser;
use crate::error::Result;
use crate::tree::{CreateIndex, Expr, ExprKind, Ident, IndexKey, Name, RelationName, Statement};

impl Parser<'_> {
    /// CREATE INDEX behind INDEX (IndexStmt). Errors: 42601.
    pub(crate) fn create_index(&mut self, start: usize, unique: bool) -> Result<Statement> {
        let concurrently = self.word("concurrently");
        let if_not_exists = self.if_not_exists()?;
        let named = if_not_exists || !self.is_word("on");
        let name = if named { Some(self.column_name()?) } else { None };
        self.expect_word("on")?;
        let table: RelationName = self.relation_name()?;
        let method = self.access_method()?;
        let keys = self.list_in_parentheses(Parser::index_key)?;
        let include = if self.word("include") { self.list_in_parentheses(Parser::index_key)? } else { Vec::new() };
        let nulls_not_distinct = self.nulls_not_distinct()?;
        let options = self.optional_storage_options()?;
        let tablespace = self.tablespace()?;
        let predicate = if self.word("where") { Some(self.expr()?) } else { None };
        let span = self.span_since(start);
        Ok(Statement::CreateIndex(Box::new(CreateIndex {
            unique,
            concurrently,
            if_not_exists,
            name,
            table,
            method,
            keys,
            include,
            nulls_not_distinct,
            options,
            tablespace,
            predicate,
            span,
        })))
    }

    /// A key of an index (index_elem). Errors: 42601.
    pub fn index_key(&mut self) -> Result<IndexKey> {
        let start = self.mark();
        let mut key = self.partition_key()?;
        if key.class.is_some() && self.is_sign('(') {
            key.class_options = self.storage_options()?;
        }
        key.descending = self.one_word_of(&["asc", "desc"]).map(|at| at == 1);
        if self.is_order_of_nulls() {
            self.skip();
            key.nulls_first = Some(self.is_word("first"));
            self.skip();
        }
        key.span = self.span_since(start);
        Ok(key)
    }

    /// A key of PARTITION BY (part_elem). Errors: 42601.
    pub(crate) fn partition_key(&mut self) -> Result<IndexKey> {
        let start = self.mark();
        let value = self.key_value()?;
        let collation = self.optional_collation()?;
        // NULLS may name an operator class unless FIRST or LAST stands behind it.
        let named = self.is_column_name_at(0) && !self.is_order_of_nulls();
        let class = if named { Some(self.name()?) } else { None };
        let span = self.span_since(start);
        Ok(IndexKey { value, collation, class, class_options: Vec::new(), descending: None, nulls_first: None, span })
    }

    fn is_order_of_nulls(&self) -> bool {
        self.is_word("nulls") && (self.is_word_at(1, "first") || self.is_word_at(1, "last"))
    }

    /// A column, a call of a function, or an expression in parentheses.
    fn key_value(&mut self) -> Result<Expr> {
        if self.sign('(') {
            let value = self.expr()?;
            self.expect_sign(')')?;
            return Ok(value);
        }
        if self.is_order_of_nulls() {
            return Err(self.error());
        }
        if self.is_column_name_at(0) && !self.is_sign_at(1, '(') && !self.is_sign_at(1, '.') {
            let column = self.column_name()?;
            let span = column.span;
            return Ok(Expr { kind: ExprKind::Column(vec![column]), span });
        }
        self.call_without_window()
    }

    /// COLLATE and a name, if it is next (opt_collate). Errors: 42601.
    pub(crate) fn optional_collation(&mut self) -> Result<Option<Name>> {
        if self.word("collate") { self.name().map(Some) } else { Ok(None) }
    }

    /// USING and an access method, if it is next (access_method_clause). Errors: 42601.
    pub(crate) fn access_method(&mut self) -> Result<Option<Ident>> {
        if self.word("using") { self.column_name().map(Some) } else { Ok(None) }
    }

    /// TABLESPACE and a name, if it is next (OptTableSpace). Errors: 42601.
    pub(crate) fn tablespace(&mut self) -> Result<Option<Ident>> {
        if self.word("tablespace") { self.column_name().map(Some) } else { Ok(None) }
    }

    /// NULLS \[NOT\] DISTINCT, if it is next (opt_unique_null_treatment). Errors: 42601.
    pub(crate) fn nulls_not_distinct(&mut self) -> Result<bool> {
        if self.is_order_of_nulls() || !self.word("nulls") {
            return Ok(false);
        }
        let not = self.word("not");
        self.expect_word("distinct")?;
        Ok(not)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/index.sql"));
    }
}
