//! The actions of ALTER TABLE: dispatch, new columns and constraints, names, and the simple properties of columns.

use super::alter_relation::words;
use super::create_table::{Constraint, Making, table_constraint};
use super::names::has_constraint;
use super::storage_parameter::{self, Of};
use super::{alter_column, backfill, canonical, evaluate, foreign_key};
use catalog::{ColumnId, TableDescriptor, TriggerState};
use sql_error::{Result, SqlError, state};
use syntax::ast::{
    AlterColumn, AlterTableKind, Column, ColumnReference, Ident, OptionItem, TableConstraint, TableConstraintKind,
    TriggerSwitch,
};
use syntax::options::{names_to_reset, parameters};

/// 42703, or 0A000 for a system column. `verb` names the attempted change.
pub(super) fn no_column(table: &TableDescriptor, name: &str, verb: &str) -> SqlError {
    if syntax::is_system_column(name) {
        return SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("cannot {verb} system column \"{name}\""));
    }
    let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
    SqlError::new(state::UNDEFINED_COLUMN, message)
}

impl Making<'_> {
    /// Runs one action, new columns and types left out.
    pub(super) async fn act(&mut self, action: &AlterTableKind) -> Result<()> {
        match action {
            AlterTableKind::AddConstraint(constraint) => self.add_constraint(constraint).await,
            AlterTableKind::DropColumn { if_exists, name, cascade } => {
                self.drop_column(&name.value, *if_exists, *cascade).await
            }
            AlterTableKind::DropConstraint { if_exists, name, cascade } => {
                self.drop_constraint(&name.value, *if_exists, *cascade).await
            }
            AlterTableKind::AlterConstraint(name, deferral) => self.alter_constraint(&name.value, *deferral),
            AlterTableKind::ValidateConstraint(name) => self.validate_constraint(&name.value).await,
            AlterTableKind::AlterColumn(ColumnReference::Name(name), change) => {
                self.alter_column(&name.value, change).await
            }
            AlterTableKind::AlterColumn(ColumnReference::Number(..), _) => {
                Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "cannot refer to non-index column by number"))
            }
            AlterTableKind::RenameColumn(old, new) => self.rename_column(&old.value, &new.value),
            AlterTableKind::RenameConstraint(old, new) => self.rename_constraint(&old.value, &new.value),
            AlterTableKind::Rename(name) => self.rename(name),
            AlterTableKind::Trigger(switch, choice) => {
                let wanted = match switch {
                    TriggerSwitch::Disable => TriggerState::Disabled,
                    TriggerSwitch::Enable => TriggerState::Origin,
                    TriggerSwitch::EnableReplica => TriggerState::Replica,
                    TriggerSwitch::EnableAlways => TriggerState::Always,
                };
                self.set_triggers(choice, wanted).await
            }
            AlterTableKind::Owner(role) => self.change_owner(role).await,
            // No policies exist, so these actions have no effect.
            AlterTableKind::RowSecurity(false) | AlterTableKind::ForceRowSecurity(false) => Ok(()),
            AlterTableKind::RowSecurity(true) => Err(SqlError::unsupported("ALTER TABLE ENABLE ROW LEVEL SECURITY")),
            AlterTableKind::ForceRowSecurity(true) => {
                Err(SqlError::unsupported("ALTER TABLE FORCE ROW LEVEL SECURITY"))
            }
            // The parser refuses other methods and tablespaces than those of every table.
            AlterTableKind::AccessMethod(_) | AlterTableKind::Tablespace(_) => Ok(()),
            AlterTableKind::Cluster(None) | AlterTableKind::WithoutOids => Ok(()),
            AlterTableKind::Cluster(Some(index)) => self.cluster_on(&index.value),
            AlterTableKind::Logged(logged) => self.set_logged(*logged),
            AlterTableKind::SetOptions(options) => {
                storage_parameter::set(Of::Table, &mut self.table.parameters, &parameters(options)?)
            }
            AlterTableKind::ResetOptions(options) => {
                storage_parameter::reset(&mut self.table.parameters, &names_to_reset(options)?);
                Ok(())
            }
            AlterTableKind::ReplicaIdentity(identity) => self.set_replica_identity(identity),
            AlterTableKind::AddColumn { .. } | AlterTableKind::SetSchema(_) | AlterTableKind::SequenceOptions(_) => {
                Err(SqlError::internal("an action of ALTER TABLE outside of its turn"))
            }
            AlterTableKind::Rule(..)
            | AlterTableKind::Inherit(_)
            | AlterTableKind::NoInherit(_)
            | AlterTableKind::OfType(_)
            | AlterTableKind::NotOf
            | AlterTableKind::AttachPartition(..)
            | AlterTableKind::DetachPartition(..) => {
                Err(SqlError::unsupported(format!("ALTER TABLE {}", words(action))))
            }
        }
    }

    /// ADD of a constraint.
    async fn add_constraint(&mut self, constraint: &TableConstraint) -> Result<()> {
        if let TableConstraintKind::UsingIndex(primary, index) = &constraint.kind {
            let name = constraint.name.as_ref().map(|name| name.value.as_str());
            let deferred = foreign_key::deferred(constraint.deferral);
            let added = self.add_using_index(name, &index.value, *primary, deferred).await;
            return added.map_err(|error| error.about_part(constraint.span));
        }
        let not_valid = constraint.not_valid;
        let constraint = table_constraint(constraint)?;
        if let Constraint::Primary { columns, .. } = &constraint
            && let Some(name) = columns.iter().find(|name| self.table.column_named(name).is_none())
        {
            // NOT NULL of the columns comes first.
            return Err(no_column(&self.table, name, "use"));
        }
        self.add_to_existing(&[constraint], not_valid).await
    }

    /// RENAME TO of the table itself.
    fn rename(&mut self, name: &Ident) -> Result<()> {
        self.context.may_create_in(&self.schema)?;
        self.chosen.claim_relation(self.context, &self.schema.name, &name.value)?;
        self.table.name.clone_from(&name.value);
        Ok(())
    }

    fn cluster_on(&self, index: &str) -> Result<()> {
        if !self.table.indexes.iter().any(|other| other.name == index) {
            let message = format!("index \"{index}\" for table \"{}\" does not exist", self.table.name);
            return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
        }
        self.context.notice(state::SUCCESSFUL_COMPLETION, "CLUSTER ON has no effect");
        Ok(())
    }

    /// Adds constraints to a table that may have rows, and checks the rows. Errors have no position: PostgreSQL finds
    /// them after it has read the statement.
    pub(super) async fn add_to_existing(&mut self, constraints: &[Constraint<'_>], not_valid: bool) -> Result<()> {
        self.add_each(constraints, not_valid).await.map_err(SqlError::of_values)
    }

    async fn add_each(&mut self, constraints: &[Constraint<'_>], not_valid: bool) -> Result<()> {
        for constraint in constraints {
            match constraint {
                Constraint::Primary { deferred: Some(_), .. } => {
                    if self.table.declared_primary_key().is_some() {
                        return Err(self.another_key());
                    }
                    let index = self.constraint_index(constraint).await?;
                    for id in index.columns.iter().map(|key| key.column) {
                        backfill::validate_not_null(self.context, &self.table, id).await?;
                        if let Some(column) = self.table.columns.iter_mut().find(|column| column.id == id) {
                            column.not_null = true;
                        }
                    }
                    backfill::fill_index(self.context, &self.table, &index).await?;
                    self.add_deferrable(index);
                }
                Constraint::Primary { .. } => {
                    let before = self.table.clone();
                    self.add_constraints(std::slice::from_ref(constraint)).await?;
                    backfill::rewrite(self, &before, backfill::RowChange::None).await?;
                }
                Constraint::Unique { .. } => {
                    let index = self.constraint_index(constraint).await?;
                    backfill::fill_index(self.context, &self.table, &index).await?;
                    match index.deferral {
                        Some(_) => self.add_deferrable(index),
                        None => self.table.indexes.push(index),
                    }
                }
                Constraint::Check { name, expr, no_inherit } => {
                    let mut check = self.check(*name, expr, *no_inherit).await?;
                    check.not_valid = not_valid;
                    if !not_valid {
                        evaluate::validate_check(self.context, &self.table, &check).await?;
                    }
                    self.table.checks.push(check);
                }
                Constraint::Foreign { name, columns, references, deferral } => {
                    let key = self.foreign_key(*name, columns, references, *deferral).await?;
                    self.add_foreign_key(key, not_valid);
                }
            }
        }
        Ok(())
    }

    /// Adds a column to a table that may have rows. Returns its constraints, which run in a later pass.
    pub(super) async fn add_column_to_existing<'c>(
        &mut self,
        if_not_exists: bool,
        definition: &'c Column,
    ) -> Result<Vec<Constraint<'c>>> {
        let name = &definition.name.value;
        if self.table.column_named(name).is_some() {
            let message = format!("column \"{name}\" of relation \"{}\" already exists", self.table.name);
            if if_not_exists {
                self.context.notice(state::DUPLICATE_COLUMN, format!("{message}, skipping"));
                return Ok(Vec::new());
            }
            return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
        }
        alter_column::note_compression(self.context, std::iter::once(definition));
        let before = self.table.clone();
        let constraints = self.add_column(definition).await?;
        if let Some(id) = self.table.columns.last().map(|column| column.id) {
            self.validate_generated(id)?;
        }
        if backfill::has_rows(self.context, before.storage_id).await? {
            self.fill_new_column(&before).await?;
        }
        Ok(constraints)
    }

    /// Gives existing rows a value of the last added column. A constant default is stored with the column. Any other
    /// default rewrites the rows.
    async fn fill_new_column(&mut self, before: &TableDescriptor) -> Result<()> {
        let Some(column) = self.table.columns.last_mut() else { return Ok(()) };
        if column.generated.is_some() {
            let column = column.clone();
            backfill::rewrite(self, before, backfill::RowChange::Generated(column.ty)).await?;
            if column.not_null {
                backfill::validate_not_null(self.context, &self.table, column.id).await?;
            }
            return Ok(());
        }
        match column.default.clone() {
            Some(default) if canonical::is_constant(&default) => {
                // The default is evaluated once: its errors appear now, and readers need no privileges for it.
                let added = evaluate::AddedDefault::new(self.context, &self.context.catalog, column)?;
                let value = added.values(1)?;
                column.missing = match value.is_null(0) {
                    true if column.not_null => return Err(backfill::contains_null(before, &column.name)),
                    true => None,
                    false => Some(evaluate::constant(column.ty, value.as_ref())?),
                };
                Ok(())
            }
            Some(_) => {
                // The new column's sequence is stored first, so that its default finds it.
                let column = column.clone();
                self.writer.flush().await?;
                let store = &self.context.store;
                let database = self.context.catalog.database().oid;
                let catalog = store.snapshot(&self.context.transaction, database).await?;
                let added = evaluate::AddedDefault::new(self.context, &catalog, &column)?;
                backfill::rewrite(self, before, backfill::RowChange::Added(&added)).await
            }
            None if column.not_null => Err(backfill::contains_null(before, &column.name)),
            None => Ok(()),
        }
    }

    fn rename_column(&mut self, old: &str, new: &str) -> Result<()> {
        let Some(id) = self.table.column_named(old).map(|column| column.id) else {
            let error = SqlError::new(state::UNDEFINED_COLUMN, format!("column \"{old}\" does not exist"));
            return Err(match syntax::is_system_column(old) {
                true => no_column(&self.table, old, "rename"),
                false => error,
            });
        };
        super::names::no_system_column(new)?;
        if self.table.column_named(new).is_some() {
            let message = format!("column \"{new}\" of relation \"{}\" already exists", self.table.name);
            return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
        }
        for check in &mut self.table.checks {
            check.expression = canonical::rename_column(&check.expression, old, new)?;
        }
        for column in &mut self.table.columns {
            if let Some(text) = &mut column.generated {
                *text = canonical::rename_in(text, old, new)?;
            }
        }
        for index in &mut self.table.indexes {
            for expression in &mut index.expressions {
                expression.text = canonical::rename_in(&expression.text, old, new)?;
            }
            if let Some(text) = &mut index.predicate {
                *text = canonical::rename_column(text, old, new)?;
            }
        }
        if let Some(column) = self.table.columns.iter_mut().find(|column| column.id == id) {
            column.name = new.to_string();
        }
        Ok(())
    }

    fn rename_constraint(&mut self, old: &str, new: &str) -> Result<()> {
        if !has_constraint(&self.table, old) {
            let message = format!("constraint \"{old}\" for table \"{}\" does not exist", self.table.name);
            return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
        }
        let of_index = self.table.indexes.iter().any(|index| index.constraint.is_some() && index.name == old);
        if of_index {
            self.chosen.claim_relation(self.context, &self.schema.name, new)?;
        }
        self.chosen.claim_constraint(&self.table, new)?;
        if let Some(check) = self.table.checks.iter_mut().find(|check| check.name == old) {
            check.name = new.to_string();
            return Ok(());
        }
        if let Some(key) = self.table.foreign_keys.iter_mut().find(|key| key.name == old) {
            key.name = new.to_string();
            return Ok(());
        }
        if let Some(index) = self.table.indexes.iter_mut().find(|index| index.constraint.is_some() && index.name == old)
        {
            index.name = new.to_string();
        }
        Ok(())
    }

    /// Runs a change of a column, that of its type left out.
    async fn alter_column(&mut self, name: &str, change: &AlterColumn) -> Result<()> {
        match change {
            AlterColumn::SetDefault(_)
            | AlterColumn::DropDefault
            | AlterColumn::SetNotNull
            | AlterColumn::DropNotNull => self.set_property(name, change).await,
            AlterColumn::DropExpression(if_exists) => self.drop_expression(name, *if_exists),
            AlterColumn::SetStatistics(value) => self.set_statistics(name, *value),
            AlterColumn::SetOptions(options) => self.set_column_options(name, options),
            AlterColumn::ResetOptions(options) => {
                let mut column = self.live_column(name)?;
                storage_parameter::reset(&mut column.parameters, &names_to_reset(options)?);
                self.replace_column(column);
                Ok(())
            }
            AlterColumn::SetStorage(storage) => self.set_storage(name, &storage.value),
            AlterColumn::SetCompression(_) => self.set_compression(name),
            AlterColumn::AddIdentity { always, options } => self.add_identity(name, *always, options).await,
            AlterColumn::SetIdentity { always, options } => self.change_identity(name, *always, options).await,
            AlterColumn::DropIdentity(if_exists) => self.drop_identity(name, *if_exists).await,
            AlterColumn::Type { .. } => Err(SqlError::internal("SET TYPE outside of its turn")),
        }
    }

    fn set_column_options(&mut self, name: &str, options: &[OptionItem]) -> Result<()> {
        let mut column = self.live_column(name)?;
        storage_parameter::set(Of::Column, &mut column.parameters, &parameters(options)?)?;
        self.replace_column(column);
        Ok(())
    }

    /// SET and DROP of a default or of NOT NULL.
    async fn set_property(&mut self, name: &str, change: &AlterColumn) -> Result<()> {
        let Some(column) = self.table.column_named(name).cloned() else {
            return Err(no_column(&self.table, name, "alter"));
        };
        let mut changed = column.clone();
        match change {
            AlterColumn::SetDefault(value) => {
                if column.identity.is_some() {
                    let message =
                        format!("column \"{name}\" of relation \"{}\" is an identity column", self.table.name);
                    return Err(SqlError::syntax(message));
                }
                if column.generated.is_some() {
                    let message =
                        format!("column \"{name}\" of relation \"{}\" is a generated column", self.table.name);
                    return Err(SqlError::syntax(message));
                }
                // PostgreSQL no longer has the statement's text here.
                changed.default = self.default(name, value, &column.ty).map_err(SqlError::of_values)?;
            }
            AlterColumn::DropDefault => {
                if column.identity.is_some() {
                    let message =
                        format!("column \"{name}\" of relation \"{}\" is an identity column", self.table.name);
                    return Err(
                        SqlError::syntax(message).hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.")
                    );
                }
                if column.generated.is_some() {
                    let message =
                        format!("column \"{name}\" of relation \"{}\" is a generated column", self.table.name);
                    return Err(
                        SqlError::syntax(message).hint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.")
                    );
                }
                changed.default = None;
            }
            AlterColumn::SetNotNull => {
                if !column.not_null {
                    backfill::validate_not_null(self.context, &self.table, column.id).await?;
                }
                changed.not_null = true;
            }
            AlterColumn::DropNotNull => {
                if column.identity.is_some() {
                    let message =
                        format!("column \"{name}\" of relation \"{}\" is an identity column", self.table.name);
                    return Err(SqlError::syntax(message));
                }
                let in_key = |id: ColumnId| {
                    self.table.declared_primary_key().is_some_and(|key| key.columns.iter().any(|key| key.column == id))
                };
                if in_key(column.id) {
                    let message = format!("column \"{name}\" is in a primary key");
                    return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
                }
                changed.not_null = false;
            }
            _ => return Err(SqlError::internal("another change of a column")),
        }
        if let Some(place) = self.table.columns.iter_mut().find(|other| other.id == changed.id) {
            *place = changed;
        }
        Ok(())
    }
}
