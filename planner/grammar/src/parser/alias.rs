//! Aliases of FROM's items, and the columns that a function's alias defines (alias_clause, func_alias_clause).

use super::Parser;
use crate::error::Result;
use crate::tree::{Alias, ColumnDefinition};

impl Parser<'_> {
    /// An alias of a table, if there is one. Errors: 42601.
    pub fn optional_alias(&mut self) -> Result<Option<Alias>> {
        let start = self.mark();
        let Some(name) = self.optional_alias_name(&[])? else { return Ok(None) };
        let columns = self.optional_columns()?;
        Ok(Some(Alias { name: Some(name), columns, definitions: Vec::new(), span: self.span_since(start) }))
    }

    /// The alias of a table that is written to, if there is one. It has no columns, and SET needs AS (relation_expr_opt_alias). Errors: 42601.
    pub(super) fn optional_target_alias(&mut self) -> Result<Option<Alias>> {
        let start = self.mark();
        let Some(name) = self.optional_alias_name(&["set"])? else { return Ok(None) };
        let (columns, definitions) = (Vec::new(), Vec::new());
        Ok(Some(Alias { name: Some(name), columns, definitions, span: self.span_since(start) }))
    }

    /// Whether an alias is next.
    pub(super) fn is_alias(&self) -> bool {
        self.is_word("as") || self.is_column_name_at(0)
    }

    /// The name of an alias, with or without AS. Without it, it is none of these words.
    fn optional_alias_name(&mut self, except: &[&str]) -> Result<Option<crate::tree::Ident>> {
        if self.is_as_of() {
            return Ok(None);
        }
        if self.word("as") {
            return self.column_name().map(Some);
        }
        let found = self.is_column_name_at(0) && !except.iter().any(|word| self.is_word(word));
        if found { self.take_ident().map(Some) } else { Ok(None) }
    }

    /// The alias of a function, maybe with definitions of columns. Errors: 42601.
    pub(super) fn optional_function_alias(&mut self) -> Result<Option<Alias>> {
        let start = self.mark();
        if self.is_word("as") && self.is_sign_at(1, '(') {
            self.skip();
            let definitions = self.column_definitions()?;
            let span = self.span_since(start);
            return Ok(Some(Alias { name: None, columns: Vec::new(), definitions, span }));
        }
        let Some(name) = self.optional_alias_name(&[])? else { return Ok(None) };
        let (mut columns, mut definitions) = (Vec::new(), Vec::new());
        // The token behind the first column tells whether types follow.
        if self.is_sign('(') && !self.is_sign_at(2, ',') && !self.is_sign_at(2, ')') {
            definitions = self.column_definitions()?;
        } else {
            columns = self.optional_columns()?;
        }
        Ok(Some(Alias { name: Some(name), columns, definitions, span: self.span_since(start) }))
    }

    /// Columns with their types in parentheses. Errors: 42601.
    pub(super) fn column_definitions(&mut self) -> Result<Vec<ColumnDefinition>> {
        self.list_in_parentheses(Parser::column_definition)
    }

    /// A column with its type and collation (TableFuncElement). Errors: 42601.
    pub(crate) fn column_definition(&mut self) -> Result<ColumnDefinition> {
        let name = self.column_name()?;
        let data_type = self.type_name()?;
        let collation = if self.word("collate") { Some(self.name()?) } else { None };
        Ok(ColumnDefinition { name, data_type, collation })
    }
}
