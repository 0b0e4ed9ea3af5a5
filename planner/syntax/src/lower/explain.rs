//! EXPLAIN and its options. Knows no plans.

use crate::options::{required, truth};
use crate::source::Source;
use crate::statement::{Explain, ExplainFormat, StatementKind};
use grammar::tree as ast;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;

/// EXPLAIN. Errors: 42601, 22023, and 0A000 for facts that are not recorded.
pub(super) fn explain(source: &Arc<Source>, explain: ast::Explain) -> Result<StatementKind> {
    let statement = super::statement(source, *explain.statement, explain.span)?;
    let (mut analyze, mut verbose) = (false, false);
    let (mut costs, mut timing, mut summary, mut format) = (true, None, None, ExplainFormat::Text);
    let (mut wal, mut settings) = (false, false);
    for item in &explain.options {
        match item.name.value.as_str() {
            "analyze" => analyze = truth(item)?,
            "verbose" => verbose = truth(item)?,
            "costs" => costs = truth(item)?,
            "timing" => timing = Some(truth(item)?),
            "summary" => summary = Some(truth(item)?),
            // No blocks are counted. PostgreSQL, too, shows only counts other than zero.
            "buffers" => drop(truth(item)?),
            "settings" => settings = truth(item)?,
            "wal" => wal = truth(item)?,
            "format" => {
                let text = required(item)?;
                format = ExplainFormat::named(&text).ok_or_else(|| {
                    let message = format!("unrecognized value for EXPLAIN option \"format\": \"{text}\"");
                    source.error(SqlError::new(state::INVALID_PARAMETER_VALUE, message), item.span)
                })?;
            }
            other => {
                let message = format!("unrecognized EXPLAIN option \"{other}\"");
                return Err(source.error(SqlError::syntax(message), item.span));
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
