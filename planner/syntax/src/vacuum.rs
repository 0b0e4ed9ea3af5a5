//! VACUUM and ANALYZE. Knows no tables.

use super::cursor::Cursor;
use super::statement::{AnalyzedTable, StatementKind, VacuumOptions};
use sql_error::{Result, SqlError, state};
use sqlparser::tokenizer::Token;

/// VACUUM, after that word.
pub fn vacuum(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let options = options(cursor, true)?;
    Ok(StatementKind::Vacuum { options, tables: tables(cursor)? })
}

/// ANALYZE, after that word.
pub fn analyze(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let options = options(cursor, false)?;
    Ok(StatementKind::Analyze { options, tables: tables(cursor)? })
}

/// The options in parentheses, or the old keywords in their order. Options without an effect here are
/// validated as in PostgreSQL.
fn options(cursor: &mut Cursor<'_>, vacuum: bool) -> Result<VacuumOptions> {
    if cursor.sign(&Token::LParen) {
        return in_brackets(cursor, vacuum);
    }
    let mut options = VacuumOptions::default();
    if vacuum {
        cursor.word("full");
        cursor.word("freeze");
    }
    options.verbose = cursor.word("verbose");
    if vacuum {
        options.analyze = cursor.word("analyze") || cursor.word("analyse");
    }
    Ok(options)
}

fn in_brackets(cursor: &mut Cursor<'_>, vacuum: bool) -> Result<VacuumOptions> {
    let mut options = VacuumOptions::default();
    let (mut full, mut workers) = (false, None);
    loop {
        let place = cursor.error().fields().position;
        let at = |error: SqlError| match place {
            Some(place) => error.at(place),
            None => error,
        };
        let name = cursor.name()?;
        let boolean = |cursor: &mut Cursor<'_>| cursor.boolean(&name);
        match (name.as_str(), vacuum) {
            ("analyze" | "analyse", true) => options.analyze = boolean(cursor)?,
            ("verbose", _) => options.verbose = boolean(cursor)?,
            ("full", true) => full = boolean(cursor)?,
            ("freeze" | "disable_page_skipping" | "process_toast" | "truncate", true) | ("skip_locked", _) => {
                boolean(cursor)?;
            }
            ("index_cleanup", true) => {
                if !cursor.word("auto") {
                    boolean(cursor)?;
                }
            }
            ("parallel", true) => {
                if matches!(cursor.peek().map(|next| &next.token), Some(Token::Comma | Token::RParen)) {
                    return Err(at(SqlError::syntax("parallel option requires a value between 0 and 1024")));
                }
                let count = cursor.integer().ok_or_else(|| SqlError::syntax("parallel requires an integer value"))?;
                if !(0..=1024).contains(&count) {
                    return Err(at(SqlError::syntax("parallel workers for vacuum must be between 0 and 1024")));
                }
                workers = Some(count);
            }
            _ => {
                let statement = if vacuum { "VACUUM" } else { "ANALYZE" };
                return Err(at(SqlError::syntax(format!("unrecognized {statement} option \"{name}\""))));
            }
        }
        if cursor.sign(&Token::RParen) {
            break;
        }
        cursor.expect_sign(&Token::Comma)?;
    }
    if full && workers.is_some_and(|workers| workers > 0) {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "VACUUM FULL cannot be performed in parallel"));
    }
    Ok(options)
}

fn tables(cursor: &mut Cursor<'_>) -> Result<Vec<AnalyzedTable>> {
    let mut tables = Vec::new();
    while cursor.peek().is_some() {
        tables.push(AnalyzedTable { name: cursor.object_name()?, columns: cursor.names_in_brackets()? });
        if !cursor.sign(&Token::Comma) {
            break;
        }
    }
    Ok(tables)
}
