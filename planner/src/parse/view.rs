//! CREATE VIEW and ALTER VIEW. Knows no views.

use super::cursor::{Cursor, is_word};
use super::statement::{CreateView, StatementKind};
use super::tokens::bare_word;
use super::{parse_one, with_parser};
use crate::error::{Result, SqlError};
use crate::parse::names::quote;
use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::TokenWithSpan;

/// CREATE VIEW; `None`, and nothing read, for another CREATE.
pub fn create(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    if !cursor.word("create") {
        return Ok(None);
    }
    let or_replace = cursor.words(&["or", "replace"]);
    let temporary = cursor.word("temp") || cursor.word("temporary");
    let recursive = cursor.word("recursive");
    if !cursor.word("view") {
        cursor.back_to(mark);
        return Ok(None);
    }
    let name = cursor.object_name()?;
    let columns = cursor.names_in_brackets()?;
    if recursive && columns.is_empty() {
        return Err(cursor.error());
    }
    if cursor.word("with") {
        return Err(SqlError::unsupported("CREATE VIEW WITH (…)"));
    }
    cursor.expect_word("as")?;
    let tokens = cursor.take_rest();
    if ends_with_check_option(tokens) {
        return Err(SqlError::unsupported("WITH CHECK OPTION"));
    }
    if tokens.is_empty() {
        return Err(cursor.error());
    }
    let mut query = parse_one(cursor.source, tokens)?;
    if !matches!(&query.kind, StatementKind::Sql(tree) if matches!(tree.as_ref(), ast::Statement::Query(_))) {
        return Err(cursor.source.syntax_error_at(tokens.first().unwrap_or(&TokenWithSpan::new_eof())));
    }
    if recursive {
        let name = crate::parse::fold_name(&name)?.1;
        let list = columns.iter().map(|column| quote(column)).collect::<Vec<_>>().join(", ");
        let text = format!("WITH RECURSIVE {0} ({list}) AS ({1}) SELECT {list} FROM {0}", quote(&name), query.text);
        query = super::parse(&text)?.into_iter().next().ok_or_else(|| cursor.error())?;
    }
    Ok(Some(StatementKind::CreateView(Box::new(CreateView { or_replace, name, columns, query, temporary }))))
}

/// Whether the last words are WITH [LOCAL | CASCADED] CHECK OPTION.
fn ends_with_check_option(tokens: &[TokenWithSpan]) -> bool {
    let Some([rest @ .., check, option]) = Some(tokens) else { return false };
    is_word(check, "check") && is_word(option, "option") && {
        let before = match rest {
            [before @ .., last] if is_word(last, "local") || is_word(last, "cascaded") => before,
            rest => rest,
        };
        before.last().is_some_and(|token| is_word(token, "with"))
    }
}

/// ALTER VIEW: what ALTER TABLE says of a view. `None`, and nothing read, for another ALTER.
pub fn alter(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    if !cursor.words(&["alter", "view"]) {
        return Ok(None);
    }
    let mut tokens = vec![bare_word(Keyword::ALTER, "ALTER"), bare_word(Keyword::TABLE, "TABLE")];
    tokens.extend(cursor.take_rest().iter().cloned());
    let tree = with_parser(cursor.source, &tokens, |parser| parser.parse_statement())?;
    Ok(Some(StatementKind::AlterView(Box::new(tree))))
}
