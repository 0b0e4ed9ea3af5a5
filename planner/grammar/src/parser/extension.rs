//! CREATE EXTENSION, CREATE CAST and CREATE STATISTICS.

use super::Parser;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::tree::{
    CastMethod, CreateCast, CreateExtension, CreateStatistics, Expr, ExprKind, FromItem, Ident, RelationName,
    Statement, TypeName,
};

impl Parser<'_> {
    /// CREATE EXTENSION, behind these words. Errors: 42601, 0A000.
    pub(crate) fn create_extension(&mut self, start: usize) -> Result<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.column_name()?;
        self.word("with");
        let mut schema: Option<Ident> = None;
        let mut version: Option<String> = None;
        let mut cascade = false;
        loop {
            let at = self.here();
            let redundant = match self.one_word_of(&["schema", "version", "from", "cascade"]) {
                Some(0) => {
                    let word = self.column_name()?;
                    schema.replace(word).is_some()
                }
                Some(1) => {
                    let word = self.word_or_string()?;
                    version.replace(word.value).is_some()
                }
                Some(2) => {
                    self.word_or_string()?;
                    let error =
                        SyntaxError::new(FEATURE_NOT_SUPPORTED, "CREATE EXTENSION ... FROM is no longer supported");
                    return Err(error.at(at));
                }
                Some(_) => std::mem::replace(&mut cascade, true),
                None => break,
            };
            if redundant {
                return Err(SyntaxError::syntax("conflicting or redundant options").at(at));
            }
        }
        let span = self.span_since(start);
        let extension = CreateExtension { if_not_exists, name, schema, version, cascade, span };
        Ok(Statement::CreateExtension(Box::new(extension)))
    }

    /// CREATE CAST, behind these words. Errors: 42601.
    pub(crate) fn create_cast(&mut self, start: usize) -> Result<Statement> {
        let (source, target) = self.cast_types()?;
        let method = if self.word("without") {
            self.expect_word("function")?;
            CastMethod::WithoutFunction
        } else {
            self.expect_word("with")?;
            match self.one_word_of(&["function", "inout"]) {
                Some(0) => CastMethod::Function(self.routine_reference()?),
                Some(_) => CastMethod::InOut,
                None => return Err(self.error()),
            }
        };
        let implicit = if self.word("as") {
            let word = self.one_word_of(&["implicit", "assignment"]);
            Some(word.ok_or_else(|| self.error())? == 0)
        } else {
            None
        };
        let span = self.span_since(start);
        Ok(Statement::CreateCast(Box::new(CreateCast { source, target, method, implicit, span })))
    }

    /// `(type AS type)`. Errors: 42601.
    pub(crate) fn cast_types(&mut self) -> Result<(TypeName, TypeName)> {
        self.expect_sign('(')?;
        let source = self.type_name()?;
        self.expect_word("as")?;
        let target = self.type_name()?;
        self.expect_sign(')')?;
        Ok((source, target))
    }

    /// CREATE STATISTICS, behind these words. Errors: 42601, 0A000.
    pub(crate) fn create_statistics(&mut self, start: usize) -> Result<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = Some(self.name()?);
        let kinds = self.optional_columns()?;
        self.expect_word("on")?;
        let items = self.list(Parser::statistics_item)?;
        self.expect_word("from")?;
        let from = self.from_items()?;
        let from = from.into_iter().map(plain_relation).collect::<Result<Vec<RelationName>>>()?;
        let span = self.span_since(start);
        let statistics = CreateStatistics { if_not_exists, name, kinds, items, from, span };
        Ok(Statement::CreateStatistics(Box::new(statistics)))
    }

    /// A column, a call, or an expression in parentheses (stats_param).
    fn statistics_item(&mut self) -> Result<Expr> {
        if self.is_sign('(') {
            return self.expr_in_parentheses();
        }
        if self.is_column_name_at(0) && !self.is_sign_at(1, '(') && !self.is_sign_at(1, '.') {
            let column = self.take_ident()?;
            return Ok(Expr { span: column.span, kind: ExprKind::Column(vec![column]) });
        }
        self.call_without_window()
    }
}

/// PostgreSQL's grammar takes any item, and its analysis a table alone.
fn plain_relation(item: FromItem) -> Result<RelationName> {
    match item {
        FromItem::Table { relation, sample: None, .. } => Ok(relation),
        _ => Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, "only a single relation is allowed in CREATE STATISTICS")),
    }
}
