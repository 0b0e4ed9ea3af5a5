//! Storage parameters of tables, indexes and columns. They are validated, stored and shown as in PostgreSQL, and have
//! no effect here.

use super::DdlContext;
use catalog::{IndexDescriptor, StoredParameters, TableDescriptor};
use settings::value::boolean;
use sql_error::{Result, SqlError, state};
use syntax::ast::OptionItem;
use syntax::options::Parameters;

/// The permitted values of a parameter.
#[derive(Clone, Copy)]
enum Kind {
    Boolean,
    Integer(i64, i64),
    Real(f64, f64),
    Cleanup,
}

const INT_MAX: i64 = i32::MAX as i64;

/// The kind of object that has a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Table,
    Index,
    Column,
}

/// Parameters of tables (manual, CREATE TABLE). The flag marks those that TOAST tables have too.
const TABLE: &[(&str, Kind, bool)] = &[
    ("autovacuum_enabled", Kind::Boolean, true),
    ("user_catalog_table", Kind::Boolean, false),
    ("vacuum_truncate", Kind::Boolean, true),
    ("vacuum_index_cleanup", Kind::Cleanup, true),
    ("fillfactor", Kind::Integer(10, 100), false),
    ("autovacuum_vacuum_threshold", Kind::Integer(0, INT_MAX), true),
    ("autovacuum_vacuum_insert_threshold", Kind::Integer(-1, INT_MAX), true),
    ("autovacuum_analyze_threshold", Kind::Integer(0, INT_MAX), false),
    ("autovacuum_vacuum_cost_limit", Kind::Integer(1, 10_000), true),
    ("autovacuum_freeze_min_age", Kind::Integer(0, 1_000_000_000), true),
    ("autovacuum_multixact_freeze_min_age", Kind::Integer(0, 1_000_000_000), true),
    ("autovacuum_freeze_max_age", Kind::Integer(100_000, 2_000_000_000), true),
    ("autovacuum_multixact_freeze_max_age", Kind::Integer(10_000, 2_000_000_000), true),
    ("autovacuum_freeze_table_age", Kind::Integer(0, 2_000_000_000), true),
    ("autovacuum_multixact_freeze_table_age", Kind::Integer(0, 2_000_000_000), true),
    ("log_autovacuum_min_duration", Kind::Integer(-1, INT_MAX), true),
    ("toast_tuple_target", Kind::Integer(128, 8160), false),
    ("parallel_workers", Kind::Integer(0, 1024), false),
    ("autovacuum_vacuum_cost_delay", Kind::Real(0.0, 100.0), true),
    ("autovacuum_vacuum_scale_factor", Kind::Real(0.0, 100.0), true),
    ("autovacuum_vacuum_insert_scale_factor", Kind::Real(0.0, 100.0), true),
    ("autovacuum_analyze_scale_factor", Kind::Real(0.0, 100.0), false),
];

/// Parameters of B-trees (manual, CREATE INDEX).
const INDEX: &[(&str, Kind, bool)] = &[
    ("fillfactor", Kind::Integer(10, 100), false),
    ("deduplicate_items", Kind::Boolean, false),
    ("vacuum_cleanup_index_scale_factor", Kind::Real(0.0, 1e10), false),
];

/// Parameters of columns (manual, ALTER TABLE).
const COLUMN: &[(&str, Kind, bool)] =
    &[("n_distinct", Kind::Real(-1.0, f64::MAX), false), ("n_distinct_inherited", Kind::Real(-1.0, f64::MAX), false)];

fn invalid(message: String) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// Looks up a parameter. Errors: 22023.
fn known(of: Of, name: &str) -> Result<Kind> {
    let all = match of {
        Of::Table => TABLE,
        Of::Index => INDEX,
        Of::Column => COLUMN,
    };
    let (plain, toast) = match name.split_once('.') {
        None => (name, false),
        Some(("toast", rest)) if of == Of::Table => (rest, true),
        Some((space, _)) => return Err(invalid(format!("unrecognized parameter namespace \"{space}\""))),
    };
    let found = all.iter().find(|(known, _, of_toast)| *known == plain && (*of_toast || !toast));
    found.map(|(_, kind, _)| *kind).ok_or_else(|| invalid(format!("unrecognized parameter \"{plain}\"")))
}

/// Validates a value. Errors: 22023.
fn hold(name: &str, kind: Kind, value: &str) -> Result<()> {
    let wrong = |kind: &str| invalid(format!("invalid value for {kind} option \"{name}\": {value}"));
    let beyond = |least: String, most: String| {
        invalid(format!("value {value} out of bounds for option \"{name}\""))
            .detail(format!("Valid values are between \"{least}\" and \"{most}\"."))
    };
    match kind {
        Kind::Boolean => boolean(value).map(|_| ()).ok_or_else(|| wrong("boolean")),
        Kind::Integer(least, most) => {
            let number: i64 = value.trim().parse().map_err(|_| wrong("integer"))?;
            if (least..=most).contains(&number) { Ok(()) } else { Err(beyond(least.to_string(), most.to_string())) }
        }
        Kind::Real(least, most) => {
            let number: f64 = value.trim().parse().map_err(|_| wrong("floating point"))?;
            if (least..=most).contains(&number) {
                Ok(())
            } else {
                Err(beyond(format!("{least:.6}"), format!("{most:.6}")))
            }
        }
        Kind::Cleanup if value.eq_ignore_ascii_case("auto") || boolean(value).is_some() => Ok(()),
        Kind::Cleanup => Err(invalid(format!("invalid value for enum option \"{name}\": {value}"))
            .detail("Valid values are \"on\", \"off\", and \"auto\".")),
    }
}

/// SET (…): changes stored parameters. Errors: 22023.
pub(super) fn set(of: Of, stored: &mut StoredParameters, given: &[(String, Option<String>)]) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for (name, value) in given {
        let kind = known(of, name)?;
        let plain = name.strip_prefix("toast.").unwrap_or(name);
        if seen.contains(&name.as_str()) {
            return Err(invalid(format!("parameter \"{plain}\" specified more than once")));
        }
        seen.push(name);
        let value = value.as_deref().unwrap_or("true");
        hold(plain, kind, value)?;
        stored.retain(|(other, _)| other != name);
        stored.push((name.clone(), value.to_string()));
    }
    Ok(())
}

/// Stored parameters in the form in which statements write them.
pub(super) fn given(stored: &StoredParameters) -> Parameters {
    stored.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect()
}

/// RESET (…). As in PostgreSQL an unknown name is ignored.
pub(super) fn reset(stored: &mut StoredParameters, names: &[String]) {
    stored.retain(|(name, _)| !names.contains(name));
}

/// WITH (…) of CREATE TABLE. Errors: 22023, 0A000.
pub(super) fn of_new_table(options: &[OptionItem]) -> Result<StoredParameters> {
    let mut parameters = syntax::options::parameters(options)?;
    // The old parameter `oids` is refused if true, and ignored if false.
    if let Some(at) = parameters.iter().position(|(name, _)| name == "oids") {
        let (_, value) = parameters.remove(at);
        if boolean(value.as_deref().unwrap_or("true")) != Some(false) {
            let message = "tables declared WITH OIDS are not supported";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
    }
    let mut stored = Vec::new();
    set(Of::Table, &mut stored, &parameters)?;
    Ok(stored)
}

/// Changes the parameters of an index, and no entries. Errors: those of the change.
pub(super) async fn alter_index(
    context: &DdlContext,
    table: &TableDescriptor,
    position: usize,
    change: impl Fn(&mut IndexDescriptor) -> Result<()>,
) -> Result<()> {
    context.lock(table).await?;
    let mut changed = table.clone();
    changed.version += 1;
    if let Some(index) = changed.indexes.get_mut(position) {
        change(index)?;
    }
    let mut writer = context.writer();
    writer.put_table(&changed).await?;
    writer.flush().await
}
