//! COMMENT ON. Knows no objects.

use super::cursor::Cursor;
use super::statement::{Comment, CommentOn};
use sql_error::{Result, SqlError};

/// Parses COMMENT ON, after these words.
pub fn comment(cursor: &mut Cursor<'_>) -> Result<Comment> {
    let on = if cursor.word("table") {
        CommentOn::Relation("table", cursor.object_name()?)
    } else if cursor.word("view") {
        CommentOn::Relation("view", cursor.object_name()?)
    } else if cursor.word("sequence") {
        CommentOn::Relation("sequence", cursor.object_name()?)
    } else if cursor.word("index") {
        CommentOn::Relation("index", cursor.object_name()?)
    } else if cursor.word("column") {
        let mut parts = cursor.object_name()?.0;
        let column = match parts.pop() {
            Some(sqlparser::ast::ObjectNamePart::Identifier(ident)) => super::fold(&ident),
            _ => return Err(cursor.error()),
        };
        if parts.is_empty() {
            return Err(SqlError::syntax("column name must be qualified"));
        }
        CommentOn::Column(sqlparser::ast::ObjectName(parts), column)
    } else if cursor.word("constraint") {
        let name = cursor.name()?;
        cursor.expect_word("on")?;
        if cursor.at_word("domain") {
            return Err(SqlError::unsupported("COMMENT ON a domain's constraint"));
        }
        CommentOn::Constraint(cursor.object_name()?, name)
    } else if cursor.words(&["large", "object"]) {
        CommentOn::LargeObject(super::utility::large_object(cursor)?)
    } else if cursor.word("schema") {
        CommentOn::Schema(cursor.name()?)
    } else if cursor.word("database") {
        CommentOn::Database(cursor.name()?)
    } else if cursor.word("role") {
        CommentOn::Role(cursor.name()?)
    } else if cursor.word("type") {
        CommentOn::Type(cursor.object_name()?)
    } else if let Some(word) = ["function", "procedure", "aggregate"].into_iter().find(|word| cursor.word(word)) {
        let name = cursor.object_name()?;
        CommentOn::Function(word, name, super::utility::types_in_brackets(cursor)?)
    } else {
        let what = cursor.name()?;
        return Err(SqlError::unsupported(format!("COMMENT ON {}", what.to_uppercase())));
    };
    cursor.expect_word("is")?;
    let text = match cursor.string() {
        Some(text) => Some(text),
        None => {
            cursor.expect_word("null")?;
            None
        }
    };
    // An empty comment removes the comment.
    Ok(Comment { on, text: text.filter(|text| !text.is_empty()) })
}
