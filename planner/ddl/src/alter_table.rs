//! ALTER TABLE and ALTER INDEX.

use super::alter_passes::Part;
use super::alter_relation::cannot_be_performed;
use super::create_table::{Constraint, Making, table_constraint};
use super::names::{Chosen, has_constraint};
use super::{DdlContext, backfill, canonical, evaluate, owner};
use catalog::{ColumnId, RelationKind, TableDescriptor, TriggerState};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    AlterColumnOperation, AlterIndexOperation, AlterTable, AlterTableOperation, ColumnDef, DropBehavior, Ident,
    ObjectName, RenameTableNameKind,
};
use syntax::{fold, fold_name};

pub(super) async fn execute(context: &DdlContext, alter: &AlterTable) -> Result<String> {
    if alter.location.is_some() || alter.on_cluster.is_some() || alter.table_type.is_some() {
        return Err(SqlError::syntax("syntax error in ALTER TABLE"));
    }
    let renames = |operation: &AlterTableOperation| {
        matches!(
            operation,
            AlterTableOperation::RenameTable { .. }
                | AlterTableOperation::RenameColumn { .. }
                | AlterTableOperation::RenameConstraint { .. }
        )
    };
    if alter.operations.len() > 1 && alter.operations.iter().any(renames) {
        return Err(SqlError::syntax("RENAME stands alone in ALTER TABLE"));
    }
    let Some(found) = context.find(&alter.name)? else {
        if alter.if_exists {
            let name = fold_name(&alter.name)?.1;
            context.notice(state::SUCCESSFUL_COMPLETION, format!("relation \"{name}\" does not exist, skipping"));
            return Ok("ALTER TABLE".into());
        }
        return rename_index(context, alter).await;
    };
    if found.kind == RelationKind::Sequence {
        return alter_sequence(context, &found, alter).await;
    }
    if found.kind == RelationKind::View {
        super::view::alter_view(context, &found, alter).await?;
        return Ok("ALTER TABLE".into());
    }
    let table = context.locked_table(&alter.name).await?;
    if !alter.operations.iter().all(renames) {
        context.must_be_idle(&table, "ALTER TABLE")?;
    }
    let schema = context.schema(&table.schema)?;
    let mut making = Making::of(context, &schema, table, Chosen::default());
    let parts: Vec<Part<'_>> = alter.operations.iter().map(Part::Sql).collect();
    making.alter_by_passes(&parts).await?;
    making.store().await?;
    making.validate_rows().await?;
    Ok("ALTER TABLE".into())
}

/// ALTER INDEX … RENAME TO.
pub(super) async fn alter_index(
    context: &DdlContext,
    name: &ObjectName,
    operation: &AlterIndexOperation,
) -> Result<String> {
    let AlterIndexOperation::RenameIndex { index_name } = operation;
    rename_index_to(context, name, &fold_name(index_name)?.1).await?;
    Ok("ALTER INDEX".into())
}

/// Renames any relation, which PostgreSQL permits in ALTER INDEX.
pub(super) async fn rename_relation(context: &DdlContext, name: &ObjectName, new: &str) -> Result<()> {
    let to = RenameTableNameKind::To(ObjectName::from(vec![Ident::with_quote('"', new)]));
    let rename = AlterTable {
        name: name.clone(),
        if_exists: false,
        only: false,
        operations: vec![AlterTableOperation::RenameTable { table_name: to }],
        location: None,
        on_cluster: None,
        table_type: None,
        end_token: AttachedToken::empty(),
    };
    execute(context, &rename).await.map(drop)
}

/// Renames an index, which PostgreSQL permits in ALTER TABLE.
async fn rename_index(context: &DdlContext, alter: &AlterTable) -> Result<String> {
    if let [AlterTableOperation::RenameTable { table_name: RenameTableNameKind::To(new) }] = alter.operations.as_slice()
    {
        rename_index_to(context, &alter.name, &fold_name(new)?.1).await?;
        return Ok("ALTER TABLE".into());
    }
    if context.names_index(&alter.name) {
        return Err(cannot_be_performed(alter.operations.first(), &fold_name(&alter.name)?.1, "indexes"));
    }
    Err(context.no_relation(&alter.name))
}

pub(super) async fn rename_index_to(context: &DdlContext, name: &ObjectName, new: &str) -> Result<()> {
    let (schema, old) = fold_name(name)?;
    let path = context.settings.search_path();
    let Some((table, position)) = context.catalog.index_named(schema.as_deref(), &old, path) else {
        return Err(context.no_relation(name));
    };
    context.lock(&table).await?;
    context.may_create_in(&*context.schema(&table.schema)?)?;
    Chosen::default().claim_relation(context, &table.schema, new)?;
    let mut table = TableDescriptor::clone(&table);
    table.version += 1;
    if let Some(index) = table.indexes.get_mut(position) {
        index.name = new.to_string();
    }
    let mut writer = context.writer();
    writer.put_table(&table).await?;
    writer.flush().await
}

async fn alter_sequence(context: &DdlContext, sequence: &TableDescriptor, alter: &AlterTable) -> Result<String> {
    if let [AlterTableOperation::RenameTable { table_name: RenameTableNameKind::To(name) }] =
        alter.operations.as_slice()
    {
        super::sequence::rename(context, sequence, &fold_name(name)?.1).await?;
        return Ok("ALTER TABLE".into());
    }
    let [AlterTableOperation::OwnerTo { new_owner }] = alter.operations.as_slice() else {
        return Err(cannot_be_performed(alter.operations.first(), &sequence.name, "sequences"));
    };
    super::sequence::change_owner(context, sequence, owner::role_of(context, new_owner)?).await?;
    Ok("ALTER TABLE".into())
}

/// 42703, or 0A000 for a system column. `verb` names the attempted change.
pub(super) fn no_column(table: &TableDescriptor, name: &str, verb: &str) -> SqlError {
    if syntax::is_system_column(name) {
        return SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("cannot {verb} system column \"{name}\""));
    }
    let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
    SqlError::new(state::UNDEFINED_COLUMN, message)
}

/// 42601 for an action that only other databases have.
fn foreign(word: &str) -> SqlError {
    SqlError::syntax(format!("syntax error at or near \"{word}\"")).about(word)
}

impl Making<'_> {
    pub(super) async fn alter(&mut self, operation: &AlterTableOperation) -> Result<()> {
        match operation {
            AlterTableOperation::AddConstraint { constraint, not_valid } => {
                let constraint = table_constraint(constraint)?;
                if *not_valid && !matches!(constraint, Constraint::Foreign { .. } | Constraint::Check { .. }) {
                    let kind = if matches!(constraint, Constraint::Primary { .. }) { "PRIMARY KEY" } else { "UNIQUE" };
                    return Err(SqlError::new(
                        state::FEATURE_NOT_SUPPORTED,
                        format!("{kind} constraints cannot be marked NOT VALID"),
                    ));
                }
                if let Constraint::Primary { columns, .. } = &constraint
                    && let Some(name) = columns.iter().find(|name| self.table.column_named(name).is_none())
                {
                    // NOT NULL of the columns comes first.
                    return Err(no_column(&self.table, name, "use"));
                }
                self.add_to_existing(&[constraint], *not_valid).await
            }
            AlterTableOperation::DropColumn { column_names, if_exists, drop_behavior, has_column_keyword: _ } => {
                for name in column_names {
                    let cascade = *drop_behavior == Some(DropBehavior::Cascade);
                    self.drop_column(name, *if_exists, cascade).await?;
                }
                Ok(())
            }
            AlterTableOperation::DropConstraint { if_exists, name, drop_behavior } => {
                self.drop_constraint(name, *if_exists, *drop_behavior == Some(DropBehavior::Cascade)).await
            }
            AlterTableOperation::ValidateConstraint { name } => self.validate_constraint(&fold(name)).await,
            AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
                self.rename_column(&fold(old_column_name), &fold(new_column_name))
            }
            AlterTableOperation::RenameConstraint { old_name, new_name } => {
                self.rename_constraint(&fold(old_name), &fold(new_name))
            }
            AlterTableOperation::RenameTable { table_name: RenameTableNameKind::To(name) } => {
                let (schema, name) = fold_name(name)?;
                if schema.is_some() {
                    return Err(SqlError::syntax("syntax error at or near \".\""));
                }
                self.context.may_create_in(&self.schema)?;
                self.chosen.claim_relation(self.context, &self.schema.name, &name)?;
                self.table.name = name;
                Ok(())
            }
            AlterTableOperation::AlterColumn { column_name, op } => self.alter_column(&fold(column_name), op).await,
            AlterTableOperation::EnableTrigger { name } => self.set_triggers(name, TriggerState::Origin, false).await,
            AlterTableOperation::DisableTrigger { name } => {
                self.set_triggers(name, TriggerState::Disabled, false).await
            }
            AlterTableOperation::EnableAlwaysTrigger { name } => {
                self.set_triggers(name, TriggerState::Always, true).await
            }
            AlterTableOperation::EnableReplicaTrigger { name } => {
                self.set_triggers(name, TriggerState::Replica, true).await
            }
            AlterTableOperation::OwnerTo { new_owner } => self.change_owner(new_owner).await,
            // No policies exist, so these actions have no effect.
            AlterTableOperation::DisableRowLevelSecurity | AlterTableOperation::NoForceRowLevelSecurity => Ok(()),
            AlterTableOperation::ModifyColumn { .. } => Err(foreign("modify")),
            AlterTableOperation::ChangeColumn { .. } => Err(foreign("change")),
            other => Err(SqlError::unsupported(format!("ALTER TABLE {other}"))),
        }
    }

    /// Adds constraints to a table that may have rows, and checks the rows. Errors have no position: PostgreSQL finds
    /// them after it has read the statement.
    pub(super) async fn add_to_existing(&mut self, constraints: &[Constraint<'_>], not_valid: bool) -> Result<()> {
        self.add_each(constraints, not_valid).await.map_err(SqlError::of_values)
    }

    async fn add_each(&mut self, constraints: &[Constraint<'_>], not_valid: bool) -> Result<()> {
        for constraint in constraints {
            match constraint {
                Constraint::Primary { name, columns, include, deferred: deferred @ Some(_), parameters } => {
                    if self.table.declared_primary_key().is_some() {
                        return Err(self.another_key());
                    }
                    let index = self.constraint_index(*name, columns, include, true, *deferred, parameters).await?;
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
                Constraint::Unique { name, columns, include, nulls_not_distinct, deferred, parameters } => {
                    let mut index =
                        self.constraint_index(*name, columns, include, false, *deferred, parameters).await?;
                    index.nulls_not_distinct = *nulls_not_distinct;
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
                Constraint::Foreign { name, key, column } => {
                    let key = self.foreign_key(*name, key, column.as_deref()).await?;
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
        definition: &'c ColumnDef,
    ) -> Result<Vec<Constraint<'c>>> {
        let name = fold(&definition.name);
        if self.table.column_named(&name).is_some() {
            let message = format!("column \"{name}\" of relation \"{}\" already exists", self.table.name);
            if if_not_exists {
                self.context.notice(state::DUPLICATE_COLUMN, format!("{message}, skipping"));
                return Ok(Vec::new());
            }
            return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
        }
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

    async fn alter_column(&mut self, name: &str, operation: &AlterColumnOperation) -> Result<()> {
        let Some(column) = self.table.column_named(name).cloned() else {
            return Err(no_column(&self.table, name, "alter"));
        };
        let mut changed = column.clone();
        match operation {
            AlterColumnOperation::SetDefault { value } => {
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
            AlterColumnOperation::DropDefault => {
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
            AlterColumnOperation::SetNotNull => {
                if !column.not_null {
                    backfill::validate_not_null(self.context, &self.table, column.id).await?;
                }
                changed.not_null = true;
            }
            AlterColumnOperation::DropNotNull => {
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
                if column.identity.is_some() {
                    let message =
                        format!("column \"{name}\" of relation \"{}\" is an identity column", self.table.name);
                    return Err(SqlError::syntax(message));
                }
                changed.not_null = false;
            }
            other => return Err(SqlError::unsupported(format!("ALTER COLUMN {other}"))),
        }
        if let Some(place) = self.table.columns.iter_mut().find(|other| other.id == changed.id) {
            *place = changed;
        }
        Ok(())
    }
}
