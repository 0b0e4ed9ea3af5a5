//! VACUUM, ANALYZE, REINDEX, LOCK TABLE and DISCARD. Knows no tables.

use super::table::tablespace;
use super::values;
use crate::options::{required, text_of, truth};
use crate::source::Source;
use crate::statement::{AnalyzedTable, Reindex, StatementKind, VacuumOptions};
use grammar::tree::{self as ast, OptionItem, OptionValue};
use sql_error::{Result, SqlError, state};

/// VACUUM and ANALYZE. Errors: 42601, 0A000.
pub(super) fn vacuum(source: &Source, vacuum: ast::Vacuum) -> Result<StatementKind> {
    let options = vacuum_options(source, &vacuum.options, vacuum.vacuum)?;
    let table = |(name, columns)| AnalyzedTable { name, columns: values(columns) };
    let tables = vacuum.tables.into_iter().map(table).collect();
    Ok(match vacuum.vacuum {
        true => StatementKind::Vacuum { options, tables },
        false => StatementKind::Analyze { options, tables },
    })
}

/// Options without an effect here are checked as in PostgreSQL.
fn vacuum_options(source: &Source, items: &[OptionItem], vacuum: bool) -> Result<VacuumOptions> {
    let mut options = VacuumOptions::default();
    let (mut full, mut workers) = (false, 0);
    for item in items {
        let at = |message: String| source.error(SqlError::syntax(message), item.span);
        match (item.name.value.as_str(), vacuum) {
            ("analyze", true) => options.analyze = truth(item)?,
            ("verbose", _) => options.verbose = truth(item)?,
            ("full", true) => full = truth(item)?,
            ("freeze" | "disable_page_skipping" | "process_toast" | "truncate", true) | ("skip_locked", _) => {
                truth(item)?;
            }
            ("index_cleanup", true) => {
                if item.value.as_ref().is_none_or(|value| !text_of(value).eq_ignore_ascii_case("auto")) {
                    truth(item)?;
                }
            }
            ("parallel", true) => {
                workers = match &item.value {
                    None => return Err(at("parallel option requires a value between 0 and 1024".into())),
                    Some(OptionValue::Number(number)) => number.parse::<i32>().ok(),
                    Some(_) => None,
                }
                .ok_or_else(|| SqlError::syntax("parallel requires an integer value"))?;
                if !(0..=1024).contains(&workers) {
                    return Err(at("parallel workers for vacuum must be between 0 and 1024".into()));
                }
            }
            (name, _) => {
                let statement = if vacuum { "VACUUM" } else { "ANALYZE" };
                return Err(at(format!("unrecognized {statement} option \"{name}\"")));
            }
        }
    }
    if full && workers > 0 {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "VACUUM FULL cannot be performed in parallel"));
    }
    Ok(options)
}

/// REINDEX. Errors: 42601, and those of a tablespace.
pub(super) fn reindex(source: &Source, reindex: ast::Reindex) -> Result<StatementKind> {
    let mut concurrently = false;
    for item in &reindex.options {
        match item.name.value.as_str() {
            "concurrently" => concurrently = truth(item)?,
            "verbose" => drop(truth(item)?),
            "tablespace" => tablespace(&required(item)?)?,
            other => {
                let error = SqlError::syntax(format!("unrecognized REINDEX option \"{other}\""));
                return Err(source.error(error, item.span));
            }
        }
    }
    Ok(StatementKind::Reindex(Reindex { kind: reindex.kind, name: reindex.name, concurrently }))
}

/// LOCK TABLE.
pub(super) fn lock(lock: ast::LockTable) -> StatementKind {
    let tables = lock.tables.into_iter().map(|table| table.name).collect();
    StatementKind::LockTable { tables, mode: lock.mode, nowait: lock.nowait }
}
