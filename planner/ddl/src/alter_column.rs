//! ALTER TABLE … ALTER COLUMN: types, generated and identity columns, statistics targets and storage.

use super::create_table::Making;
use super::evaluate;
use super::fixed_times::fixed_expression;
use super::{DdlContext, canonical, sequence, sequence_defaults};
use binder::{bind_generated, is_immutable};
use catalog::{ColumnDescriptor, ColumnId, Identity, TableDescriptor};
use context::notice::Notice;
use executor::Slots;
use sql_error::{Result, SqlError, state};
use syntax::ast::{Column, SequenceOption};
use syntax::parse_expression;

/// The notice for COMPRESSION.
const COMPRESSION_IGNORED: &str = "COMPRESSION has no effect";

fn not_in_state(message: String) -> SqlError {
    SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

/// A target of SET STATISTICS in its stored form: `None` means that of the settings. Errors: 22023.
pub(super) fn statistics_target(context: &DdlContext, value: i32) -> Result<Option<i16>> {
    if value < -1 {
        let message = format!("statistics target {value} is too low");
        return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
    }
    if value > 10_000 {
        let lowered = Notice::warning(state::INVALID_PARAMETER_VALUE, "lowering statistics target to 10000");
        context.session.notify(lowered);
    }
    Ok(i16::try_from(value.min(10_000)).ok().filter(|value| *value >= 0))
}

/// Tells the client that COMPRESSION of new columns has no effect.
pub(super) fn note_compression<'c>(context: &DdlContext, mut columns: impl Iterator<Item = &'c Column>) {
    if columns.any(|column| column.compression.is_some()) {
        context.notice(state::SUCCESSFUL_COMPLETION, COMPRESSION_IGNORED);
    }
}

/// The columns that a stored expression names.
pub(super) fn named(stored: &str) -> Result<Vec<String>> {
    canonical::referenced(&parse_expression(stored)?.0)
}

impl Making<'_> {
    /// A live column by name. Errors: 42703.
    pub(super) fn live_column(&self, name: &str) -> Result<ColumnDescriptor> {
        self.table.column_named(name).cloned().ok_or_else(|| {
            if syntax::is_system_column(name) {
                let message = format!("cannot alter system column \"{name}\"");
                return SqlError::new(state::FEATURE_NOT_SUPPORTED, message);
            }
            let message = format!("column \"{name}\" of relation \"{}\" does not exist", self.table.name);
            SqlError::new(state::UNDEFINED_COLUMN, message)
        })
    }
    /// Replaces the column with the same id.
    pub(super) fn replace_column(&mut self, column: ColumnDescriptor) {
        if let Some(place) = self.table.columns.iter_mut().find(|other| other.id == column.id) {
            *place = column;
        }
    }

    /// Validates the expression of a generated column, once all columns exist. Errors: 42703, 42P17, 42804, and
    /// as in a statement.
    pub(super) fn validate_generated(&mut self, id: ColumnId) -> Result<()> {
        let Some(column) = self.table.column(id) else { return Ok(()) };
        let Some(text) = &column.generated else { return Ok(()) };
        for name in named(text)? {
            if let Some(other) = self.table.column_named(&name).filter(|other| other.generated.is_some()) {
                let message = format!("cannot use generated column \"{}\" in column generation expression", other.name);
                return Err(SqlError::new("42P17", message)
                    .detail("A generated column cannot reference another generated column."));
            }
        }
        let slots = Slots::new();
        let (bound, fixed) = fixed_expression(text, "column generation expression", |expr, source| {
            evaluate::bound(self.context, &self.context.catalog, &slots, |bind| {
                bind_generated(expr, source, &self.table, column, bind)
            })
        })?;
        if !is_immutable(&bound) {
            return Err(SqlError::new("42P17", "generation expression is not immutable"));
        }
        if fixed.is_some() {
            self.replace_column(ColumnDescriptor { generated: fixed, ..column.clone() });
        }
        Ok(())
    }

    /// The names of generated columns that depend on a column.
    pub(super) fn generated_from(&self, name: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for column in self.table.live_columns() {
            if let Some(text) = &column.generated
                && named(text)?.iter().any(|other| other == name)
            {
                found.push(column.name.clone());
            }
        }
        Ok(found)
    }

    /// SET STATISTICS. Errors: 22023.
    pub(super) fn set_statistics(&mut self, name: &str, value: i32) -> Result<()> {
        let column = self.live_column(name)?;
        let statistics = statistics_target(self.context, value)?;
        self.replace_column(ColumnDescriptor { statistics, ..column });
        Ok(())
    }

    /// SET STORAGE. Errors: 22023, 0A000.
    pub(super) fn set_storage(&mut self, name: &str, storage: &str) -> Result<()> {
        let code = match storage.to_ascii_lowercase().as_str() {
            "plain" => "p",
            "external" => "e",
            "extended" => "x",
            "main" => "m",
            _ => {
                let message = format!("invalid storage type \"{storage}\"");
                return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
            }
        };
        let column = self.live_column(name)?;
        if column.ty.length() != -1 && code != "p" {
            let message = format!("column data type {} can only have storage PLAIN", column.ty.name());
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        self.replace_column(ColumnDescriptor { storage: Some(code.to_string()), ..column });
        Ok(())
    }

    /// SET COMPRESSION. Errors: 42703.
    pub(super) fn set_compression(&self, name: &str) -> Result<()> {
        self.live_column(name)?;
        self.context.notice(state::SUCCESSFUL_COMPLETION, COMPRESSION_IGNORED);
        Ok(())
    }

    pub(super) fn drop_expression(&mut self, name: &str, if_exists: bool) -> Result<()> {
        let column = self.live_column(name)?;
        if column.generated.is_none() {
            let message =
                format!("column \"{name}\" of relation \"{}\" is not a stored generated column", self.table.name);
            if if_exists {
                self.context.notice(state::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(not_in_state(message));
        }
        self.replace_column(ColumnDescriptor { generated: None, ..column });
        Ok(())
    }

    fn no_identity(&self, name: &str) -> String {
        format!("column \"{name}\" of relation \"{}\" is not an identity column", self.table.name)
    }

    pub(super) async fn drop_identity(&mut self, name: &str, if_exists: bool) -> Result<()> {
        let column = self.live_column(name)?;
        if column.identity.is_none() {
            let message = self.no_identity(name);
            if if_exists {
                self.context.notice(state::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(not_in_state(message));
        }
        if let Some(owned) = self.context.catalog.owned_sequence(self.table.oid, column.id) {
            let taken = self.taking_from(column.id);
            if !taken.is_empty() {
                let what = format!("sequence {}", self.context.shown_name(&owned));
                let lines = sequence_defaults::lines(self.context, &taken);
                return Err(super::drop::dependent(what, &lines.join("\n")));
            }
            self.writer.remove_table(&owned).await?;
        }
        self.replace_column(ColumnDescriptor { identity: None, default: None, ..column });
        Ok(())
    }

    /// ADD GENERATED … AS IDENTITY. Errors: 55000, 22023.
    pub(super) async fn add_identity(&mut self, name: &str, always: bool, options: &[SequenceOption]) -> Result<()> {
        let column = self.live_column(name)?;
        let of = |what: &str| format!("column \"{name}\" of relation \"{}\" {what}", self.table.name);
        if !column.ty.is_integer() {
            let message = "identity column type must be smallint, integer, or bigint";
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
        if !column.not_null {
            return Err(not_in_state(of("must be declared NOT NULL before identity can be added")));
        }
        if column.identity.is_some() {
            return Err(not_in_state(of("is already an identity column")));
        }
        if column.default.is_some() {
            return Err(not_in_state(of("already has a default value")));
        }
        let default = self.own_sequence(name, column.id, column.ty, options).await?;
        let identity = Some(if always { Identity::Always } else { Identity::ByDefault });
        self.replace_column(ColumnDescriptor { identity, default: Some(default), ..column });
        Ok(())
    }

    /// SET GENERATED, SET of the sequence's options, RESTART. Errors: 55000.
    pub(super) async fn change_identity(
        &mut self,
        name: &str,
        always: Option<bool>,
        options: &[SequenceOption],
    ) -> Result<()> {
        let column = self.live_column(name)?;
        if column.identity.is_none() {
            return Err(not_in_state(self.no_identity(name)));
        }
        if !options.is_empty() {
            let owned = match self.context.catalog.owned_sequence(self.table.oid, column.id) {
                Some(owned) => Some(owned),
                // This statement created the sequence.
                None => {
                    self.writer.flush().await?;
                    let (transaction, database) = (&self.context.transaction, self.context.catalog.database().oid);
                    self.context.store.snapshot(transaction, database).await?.owned_sequence(self.table.oid, column.id)
                }
            };
            let owned = owned.ok_or_else(|| SqlError::internal("an identity column without its sequence"))?;
            let restart = sequence::restart_of(options)?;
            let changes = sequence::Changes { options, restart, data_type: None };
            // Other parts of the statement may have changed the sequence.
            self.writer.flush().await?;
            let stored = self.writer.stored(owned.oid).await?;
            let mut owned = stored.unwrap_or_else(|| TableDescriptor::clone(&owned));
            sequence::change(self.context, &mut self.writer, &mut owned, &changes).await?;
        }
        if let Some(always) = always {
            let identity = Some(if always { Identity::Always } else { Identity::ByDefault });
            self.replace_column(ColumnDescriptor { identity, ..column });
        }
        Ok(())
    }
}
