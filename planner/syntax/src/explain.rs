//! EXPLAIN and its options. Knows no plans.

use super::cursor::{Cursor, OptionValue};
use super::query_statement::{Explain, ExplainFormat};
use super::statement::StatementKind;
use super::tokens::word_at;
use super::{parse_one, utility::required};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::Statement as S;
use sqlparser::tokenizer::{Span, Token};

/// An option in parentheses: its name, value and position.
struct Given {
    name: String,
    value: OptionValue,
    place: Span,
}

/// Parses the text after the word EXPLAIN. Errors: 42601, 22023, and 0A000 for facts that are not recorded.
pub fn explain(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let mut given = Vec::new();
    let (mut analyze, mut verbose) = (false, false);
    // Parentheses around a query do not enclose options.
    let first = cursor.rest().iter().position(|token| token.token != Token::LParen).unwrap_or(0);
    let query = word_at(cursor.rest(), first, &["select", "values", "with", "table"]);
    if !query && cursor.sign(&Token::LParen) {
        loop {
            let place = cursor.peek().map_or_else(Span::empty, |token| token.span);
            let name = cursor.name()?;
            given.push(Given { name, value: cursor.option_value()?, place });
            if cursor.sign(&Token::RParen) {
                break;
            }
            cursor.expect_sign(&Token::Comma)?;
        }
    } else {
        analyze = cursor.word("analyze") || cursor.word("analyse");
        verbose = cursor.word("verbose");
    }
    let begins = cursor.error();
    let statement = parse_one(cursor.source, required(cursor)?)?;
    let explained = match &statement.kind {
        StatementKind::Sql(tree) => {
            matches!(tree.as_ref(), S::Query(_) | S::Insert(_) | S::Update(_) | S::Delete(_) | S::Merge(_))
        }
        StatementKind::Execute { .. } | StatementKind::DeclareCursor(_) | StatementKind::CreateTableAs(_) => true,
        _ => false,
    };
    if !explained {
        return Err(begins);
    }
    let (mut costs, mut timing, mut summary, mut format) = (true, None, None, ExplainFormat::Text);
    let (mut wal, mut settings) = (false, false);
    for Given { name, value, place } in given {
        let truth = |value: OptionValue| value.truth(&name);
        match name.as_str() {
            "analyze" | "analyse" => analyze = truth(value)?,
            "verbose" => verbose = truth(value)?,
            "costs" => costs = truth(value)?,
            "timing" => timing = Some(truth(value)?),
            "summary" => summary = Some(truth(value)?),
            // No blocks are counted. PostgreSQL, too, shows only counts other than zero.
            "buffers" => drop(truth(value)?),
            "settings" => settings = truth(value)?,
            "wal" => wal = truth(value)?,
            "format" => {
                let text = match value {
                    OptionValue::None => return Err(SqlError::syntax("format requires a parameter")),
                    OptionValue::Text(text) | OptionValue::Number(text) => text,
                };
                format = ExplainFormat::named(&text).ok_or_else(|| {
                    let message = format!("unrecognized value for EXPLAIN option \"format\": \"{text}\"");
                    cursor.source.error(SqlError::new(state::INVALID_PARAMETER_VALUE, message), place)
                })?;
            }
            other => {
                let message = format!("unrecognized EXPLAIN option \"{other}\"");
                return Err(cursor.source.error(SqlError::syntax(message), place));
            }
        }
    }
    for (asked, name) in [(wal, "WAL"), (timing == Some(true), "TIMING")] {
        if asked && !analyze {
            let message = format!("EXPLAIN option {name} requires ANALYZE");
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
    }
    for (asked, name) in [(wal, "WAL"), (settings, "SETTINGS")] {
        if asked {
            return Err(SqlError::unsupported(format!("EXPLAIN option {name}")));
        }
    }
    Ok(StatementKind::Explain(Box::new(Explain { analyze, verbose, costs, timing, summary, format, statement })))
}
