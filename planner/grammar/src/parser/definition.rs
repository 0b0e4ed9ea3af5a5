//! Objects that a list of options defines ([`Define`]): aggregates, operators, collations, and those of text search.

use super::Parser;
use crate::error::Result;
use crate::token::TokenKind;
use crate::tree::{Define, DefineKind, Ident, Name, OptionItem, Statement};

impl Parser<'_> {
    /// CREATE AGGREGATE of either style, behind these words. Errors: 42601, 0A000.
    pub(crate) fn create_aggregate(&mut self, start: usize, or_replace: bool) -> Result<Statement> {
        let mark = self.mark();
        let name = self.routine_name()?;
        let is_old =
            matches!(self.peek_at(1).kind, TokenKind::Name { keyword: None, .. }) && self.is_operator_at(2, "=");
        let (routine, options) = if is_old && self.is_sign('(') {
            (None, self.old_aggregate_definition()?)
        } else {
            let routine = self.aggregate_parameters(name.clone(), mark)?;
            (Some(routine), self.definition()?)
        };
        let define = Define { or_replace, routine, options, ..define(DefineKind::Aggregate, name) };
        Ok(self.defined(define, start))
    }

    /// `(name = value, …)`, whose names are no keywords (old_aggr_definition).
    fn old_aggregate_definition(&mut self) -> Result<Vec<OptionItem>> {
        self.list_in_parentheses(|parser| {
            let start = parser.mark();
            if !parser.is_plain_word() {
                return Err(parser.error());
            }
            let name = parser.take_ident()?;
            if !parser.operator("=") {
                return Err(parser.error());
            }
            let value = Some(parser.option_value()?);
            Ok(OptionItem { namespace: None, name, value, span: parser.span_since(start) })
        })
    }

    /// CREATE OPERATOR, OPERATOR CLASS or OPERATOR FAMILY, behind CREATE OPERATOR. Errors: 42601.
    pub(crate) fn create_operator(&mut self, start: usize) -> Result<Statement> {
        // `class.+` is an operator of a schema.
        if !self.is_sign_at(1, '.') {
            if self.word("class") {
                return self.create_operator_class(start);
            }
            if self.word("family") {
                let name = self.name()?;
                self.expect_word("using")?;
                return Ok(Statement::CreateOperatorFamily(name, self.column_name()?));
            }
        }
        let operator = self.operator_name()?;
        let mut parts = operator.schema;
        parts.push(Ident { value: operator.sign, span: operator.span });
        let name = Name { parts, span: operator.span };
        let options = self.definition()?;
        let define = Define { options, ..define(DefineKind::Operator, name) };
        Ok(self.defined(define, start))
    }

    /// CREATE COLLATION, behind these words. Errors: 42601.
    pub(crate) fn create_collation(&mut self, start: usize) -> Result<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.name()?;
        let from = if self.word("from") { Some(self.name()?) } else { None };
        let options = if from.is_some() { Vec::new() } else { self.definition()? };
        let define = Define { if_not_exists, options, from, ..define(DefineKind::Collation, name) };
        Ok(self.defined(define, start))
    }

    /// CREATE TEXT SEARCH …, behind these three words. Errors: 42601.
    pub(crate) fn create_text_search(&mut self, start: usize) -> Result<Statement> {
        let kind = match self.one_word_of(&["parser", "dictionary", "template", "configuration"]) {
            Some(0) => DefineKind::TextSearchParser,
            Some(1) => DefineKind::TextSearchDictionary,
            Some(2) => DefineKind::TextSearchTemplate,
            Some(_) => DefineKind::TextSearchConfiguration,
            None => return Err(self.error()),
        };
        let name = self.name()?;
        let options = self.definition()?;
        let define = Define { options, ..define(kind, name) };
        Ok(self.defined(define, start))
    }

    /// The statement of a definition, with its place.
    fn defined(&self, define: Define, start: usize) -> Statement {
        Statement::Define(Box::new(Define { span: self.span_since(start), ..define }))
    }
}

/// A definition with nothing but a name.
fn define(kind: DefineKind, name: Name) -> Define {
    Define {
        kind,
        or_replace: false,
        if_not_exists: false,
        span: name.span,
        name,
        routine: None,
        options: Vec::new(),
        from: None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/definition.sql"));
    }
}
