//! ALTER TABLE, VIEW, SEQUENCE and INDEX, for statements with actions that sqlparser does not know.

use super::alter_column::statistics_target;
use super::alter_passes::Part;
use super::create_table::{Constraint, Making};
use super::names::{Chosen, has_constraint};
use super::storage_parameter::{self, Of, given};
use super::{DdlContext, backfill, names, sequence};
use binder::canonical;
use catalog::{
    ColumnId, IndexDescriptor, IndexState, Persistence, RelationKind, ReplicaIdentity, TableDescriptor, is_temporary,
};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{AlterColumnOperation, AlterTableOperation};
use sqlparser::tokenizer::Span;
use syntax::{AlterAction, AlterRelation, ReplicaIdentityClause, fold_name};
use types::Oid;

/// Runs ALTER TABLE, VIEW, SEQUENCE or INDEX.
pub async fn alter(context: &DdlContext, alter: &AlterRelation) -> Result<String> {
    let tag = format!("ALTER {}", alter.kind.to_uppercase());
    let found = context.find(&alter.name)?;
    if alter.kind == "index" || found.is_none() {
        let (schema, name) = fold_name(&alter.name)?;
        let path = context.settings.search_path();
        let index = context.catalog.index_named(schema.as_deref(), &name, path);
        if index.is_some() && (alter.kind == "index" || alter.kind == "table") {
            if let [AlterAction::RenameIndex(new)] = alter.actions.as_slice() {
                super::alter_table::rename_index_to(context, &alter.name, new).await?;
                return Ok(tag);
            }
            if let Some((table, position)) = index {
                alter_index(context, alter, &table, position).await?;
            }
            return Ok(tag);
        }
        if found.is_none() && alter.if_exists {
            context.notice(state::SUCCESSFUL_COMPLETION, format!("relation \"{name}\" does not exist, skipping"));
            return Ok(tag);
        }
    }
    let Some(found) = found else { return Err(context.no_relation_of(&alter.name, alter.kind)) };
    if let [AlterAction::SetSchema(schema)] = alter.actions.as_slice() {
        let fits = match alter.kind {
            "view" => found.kind == RelationKind::View,
            "sequence" => found.kind == RelationKind::Sequence,
            "index" => false,
            _ => true,
        };
        if !fits {
            let article = if alter.kind == "index" { "an" } else { "a" };
            let message = format!("\"{}\" is not {article} {}", found.name, alter.kind);
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        set_schema(context, &found, schema).await?;
        return Ok(tag);
    }
    if alter.actions.iter().any(|action| matches!(action, AlterAction::SetSchema(_))) {
        return Err(SqlError::syntax("SET SCHEMA stands alone in ALTER TABLE"));
    }
    if let ("index", [AlterAction::RenameIndex(new)]) = (alter.kind, alter.actions.as_slice()) {
        super::alter_table::rename_relation(context, &alter.name, new).await?;
        return Ok(tag);
    }
    if alter.kind == "index" {
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{}\" is not an index", found.name)));
    }
    if alter.kind == "view" {
        super::view::alter_options(context, &found, &alter.actions).await?;
        return Ok(tag);
    }
    if alter.kind != "table" {
        return Err(SqlError::unsupported(format!("this ALTER {}", alter.kind.to_uppercase())));
    }
    if found.kind != RelationKind::Table {
        let message = format!("ALTER TABLE action cannot be performed on relation \"{}\"", found.name);
        names::expect_kind(&found, RelationKind::Table).map_err(|error| match found.kind {
            RelationKind::SystemView => error,
            _ => SqlError::new(state::WRONG_OBJECT_TYPE, message),
        })?;
    }
    let renames = |action: &AlterAction| {
        matches!(action, AlterAction::Sql(operation) if matches!(
            operation.as_ref(),
            AlterTableOperation::RenameTable { .. }
                | AlterTableOperation::RenameColumn { .. }
                | AlterTableOperation::RenameConstraint { .. }
        ))
    };
    if alter.actions.iter().any(renames) {
        return Err(SqlError::syntax("RENAME stands alone in ALTER TABLE"));
    }
    let table = context.locked_table(&alter.name).await?;
    context.must_be_idle(&table, "ALTER TABLE")?;
    let schema = context.schema(&table.schema)?;
    let mut making = Making::of(context, &schema, table, Chosen::default());
    let parts: Vec<Part<'_>> = alter.actions.iter().map(Part::of).collect();
    making.alter_by_passes(&parts).await?;
    making.store().await?;
    making.validate_rows().await?;
    Ok(tag)
}

/// 42809: the action is for tables, and the relation is something else.
pub(super) fn cannot_be_performed(action: Option<&AlterTableOperation>, name: &str, kind: &str) -> SqlError {
    let words = match action {
        Some(AlterTableOperation::AlterColumn { op: AlterColumnOperation::SetDataType { .. }, .. }) => {
            "ALTER COLUMN ... SET DATA TYPE".to_string()
        }
        Some(AlterTableOperation::AlterColumn { op, .. }) => {
            let text = op.to_string();
            format!("ALTER COLUMN ... {}", text.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        }
        Some(AlterTableOperation::AddConstraint { .. }) => "ADD CONSTRAINT".to_string(),
        Some(other) => other.to_string().split_whitespace().take(2).collect::<Vec<_>>().join(" "),
        None => String::new(),
    };
    let message = format!("ALTER action {words} cannot be performed on relation \"{name}\"");
    SqlError::new(state::WRONG_OBJECT_TYPE, message).detail(format!("This operation is not supported for {kind}."))
}

/// The actions on an index, none of which has an effect.
async fn alter_index(
    context: &DdlContext,
    alter: &AlterRelation,
    table: &TableDescriptor,
    position: usize,
) -> Result<()> {
    context.must_own(table)?;
    storage_parameter::alter_index(context, table, position, |index| {
        alter.actions.iter().try_for_each(|action| match action {
            AlterAction::Nothing => Ok(()),
            AlterAction::SetParameters(parameters) => {
                storage_parameter::set(Of::Index, &mut index.parameters, parameters)
            }
            AlterAction::ResetParameters(names) => {
                storage_parameter::reset(&mut index.parameters, names);
                Ok(())
            }
            AlterAction::SetIndexStatistics(number, value) => {
                index_statistics(context, table, index, usize::from(*number), *value)
            }
            _ => Err(SqlError::unsupported("this ALTER INDEX")),
        })
    })
    .await
}

/// SET STATISTICS of a column of an index. Errors: 42703, and 0A000 if it is a plain column of the table.
fn index_statistics(
    context: &DdlContext,
    table: &TableDescriptor,
    index: &mut IndexDescriptor,
    number: usize,
    value: i64,
) -> Result<()> {
    let target = statistics_target(context, value)?;
    let refused = |what: &str, column: ColumnId| {
        let column = table.column(column).map_or("", |column| column.name.as_str());
        let message = format!("cannot alter statistics on {what} column \"{column}\" of index \"{}\"", index.name);
        SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
    };
    let at = number.saturating_sub(1);
    let Some(key) = index.columns.get(at) else {
        return Err(match index.include.get(at - index.columns.len()) {
            Some(column) => refused("included", *column),
            None => {
                let message = format!("column number {number} of relation \"{}\" does not exist", index.name);
                SqlError::new(state::UNDEFINED_COLUMN, message)
            }
        });
    };
    if key.column != 0 {
        return Err(refused("non-expression", key.column).hint("Alter statistics on table column instead."));
    }
    let before = index.columns.iter().take(at).filter(|key| key.column == 0).count();
    if let Some(expression) = index.expressions.get_mut(before) {
        expression.statistics = target;
    }
    Ok(())
}

/// SET SCHEMA: moves the table with its indexes and the sequences that its columns own.
async fn set_schema(context: &DdlContext, relation: &TableDescriptor, name: &str) -> Result<()> {
    if relation.kind == RelationKind::SystemView {
        names::expect_kind(relation, RelationKind::Table)?;
    }
    if let Some(owned) = relation.sequence.as_ref().and_then(|sequence| sequence.owned_by) {
        let table = context.catalog.relation_by_oid(owned.0).map(|table| table.name.clone()).unwrap_or_default();
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "cannot move an owned sequence into another schema")
            .detail(format!("Sequence \"{}\" is linked to table \"{table}\".", relation.name)));
    }
    let new = context.schema(name)?;
    context.lock(relation).await?;
    if new.oid == relation.schema_oid {
        return Ok(());
    }
    if is_temporary(&new.name) || is_temporary(&relation.schema) {
        let message = "cannot move objects into or out of temporary schemas";
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
    }
    if pg_catalog::SYSTEM_SCHEMAS.iter().any(|(oid, _)| *oid == new.oid) {
        let message = format!("permission denied to create \"{}.{}\"", new.name, relation.name);
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message)
            .detail("System catalog modifications are currently disallowed."));
    }
    context.may_create_in(&new)?;
    let owned: Vec<_> = context
        .catalog
        .user_relations()
        .filter(|other| {
            let owner = other.sequence.as_ref().and_then(|sequence| sequence.owned_by);
            owner.is_some_and(|(table, _)| table == relation.oid)
        })
        .cloned()
        .collect();
    let moved: Vec<&TableDescriptor> = std::iter::once(relation).chain(owned.iter().map(AsRef::as_ref)).collect();
    for table in &moved {
        let indexes = table.indexes.iter().map(|index| &index.name);
        for taken in std::iter::once(&table.name).chain(indexes) {
            if context.catalog.name_is_taken(&new.name, taken) {
                let message = format!("relation \"{taken}\" already exists in schema \"{}\"", new.name);
                return Err(SqlError::new(state::DUPLICATE_TABLE, message));
            }
        }
    }
    let sequences = moved.iter().filter(|table| table.sequence.is_some());
    let text = |schema: &str, table: &TableDescriptor| canonical::next_value_text(schema, &table.name);
    let texts: Vec<(String, String)> =
        sequences.map(|table| (text(&table.schema, table), text(&new.name, table))).collect();
    let mut writer = context.writer();
    for table in &moved {
        let mut changed = sequence::with_defaults(table, &texts).unwrap_or_else(|| TableDescriptor::clone(table));
        changed.version = table.version + 1;
        changed.schema_oid = new.oid;
        changed.schema.clone_from(&new.name);
        if table.oid != relation.oid {
            context.take_alone(table).await?;
        }
        writer.put_table(&changed).await?;
    }
    for table in context.catalog.user_relations() {
        if moved.iter().any(|other| other.oid == table.oid) {
            continue;
        }
        if let Some(changed) = sequence::with_defaults(table, &texts) {
            context.take_alone(table).await?;
            writer.put_table(&changed).await?;
        }
    }
    writer.flush().await
}

impl Making<'_> {
    pub(super) async fn act(&mut self, action: &AlterAction) -> Result<()> {
        match action {
            AlterAction::Sql(operation) => self.alter(operation).await,
            AlterAction::Nothing => Ok(()),
            AlterAction::SetSchema(_) => Err(SqlError::internal("SET SCHEMA among other actions")),
            AlterAction::SetParameters(parameters) => {
                storage_parameter::set(Of::Table, &mut self.table.parameters, parameters)
            }
            AlterAction::ResetParameters(names) => {
                storage_parameter::reset(&mut self.table.parameters, names);
                Ok(())
            }
            AlterAction::SetColumnParameters(column, parameters) => {
                let mut column = self.live_column(column)?;
                storage_parameter::set(Of::Column, &mut column.parameters, parameters)?;
                self.replace_column(column);
                Ok(())
            }
            AlterAction::ResetColumnParameters(column, names) => {
                let mut column = self.live_column(column)?;
                storage_parameter::reset(&mut column.parameters, names);
                self.replace_column(column);
                Ok(())
            }
            AlterAction::SetType { .. } => Err(SqlError::internal("SET TYPE outside of its turn")),
            AlterAction::ViewOptions(_)
            | AlterAction::ResetViewOptions(_)
            | AlterAction::RenameIndex(_)
            | AlterAction::SetIndexStatistics(..) => {
                Err(SqlError::internal("an action of a view or an index among those of a table"))
            }
            AlterAction::SetLogged(logged) => self.set_logged(*logged),
            AlterAction::ClusterOn(index) => {
                if !self.table.indexes.iter().any(|other| other.name == *index) {
                    let message = format!("index \"{index}\" for table \"{}\" does not exist", self.table.name);
                    return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
                }
                self.context.notice(state::SUCCESSFUL_COMPLETION, "CLUSTER ON has no effect");
                Ok(())
            }
            AlterAction::AlterConstraint { name, deferrable, deferred } => {
                self.alter_constraint(name, *deferrable, *deferred)
            }
            AlterAction::AddUsingIndex { name, index, primary, deferred } => {
                let words: &[&str] = match (name, primary) {
                    (Some(_), _) => &["constraint"],
                    (None, true) => &["primary", "key"],
                    (None, false) => &["unique"],
                };
                let added = self.add_using_index(name.as_deref(), index, *primary, *deferred).await;
                added.map_err(|error| error.about_words(words, Span::empty(), 0))
            }
            AlterAction::SetStatistics(column, value) => self.set_statistics(column, *value),
            AlterAction::ReplicaIdentity(clause) => self.set_replica_identity(clause),
            AlterAction::SetStorage(column, storage) => self.set_storage(column, storage),
            AlterAction::SetCompression(column) => {
                self.live_column(column)?;
                self.context.notice(state::SUCCESSFUL_COMPLETION, "COMPRESSION has no effect");
                Ok(())
            }
            AlterAction::DropExpression(column, if_exists) => self.drop_expression(column, *if_exists),
            AlterAction::DropIdentity(column, if_exists) => self.drop_identity(column, *if_exists).await,
            AlterAction::AddIdentity { name, always, sequence, options } => {
                self.add_identity(name, *always, sequence.as_ref(), options).await
            }
            AlterAction::ChangeIdentity { name, always, restart, options } => {
                self.change_identity(name, *always, *restart, options).await
            }
        }
    }

    /// REPLICA IDENTITY. Errors: 42704, 42809, 0A000.
    fn set_replica_identity(&mut self, clause: &ReplicaIdentityClause) -> Result<()> {
        self.table.replica_identity = match clause {
            ReplicaIdentityClause::Default => ReplicaIdentity::Default,
            ReplicaIdentityClause::Full => ReplicaIdentity::Full,
            ReplicaIdentityClause::Nothing => ReplicaIdentity::Nothing,
            ReplicaIdentityClause::Index(name) => ReplicaIdentity::Index(self.identifying_index(name)?),
        };
        Ok(())
    }

    /// An index of the table that always identifies rows.
    fn identifying_index(&self, name: &str) -> Result<Oid> {
        let table = &self.table;
        let Some(index) = table.indexes.iter().find(|index| index.name == name) else {
            let taken = self.context.catalog.name_is_taken(&table.schema, name);
            return Err(match taken {
                true => {
                    let message = format!("\"{name}\" is not an index for table \"{}\"", table.name);
                    SqlError::new(state::WRONG_OBJECT_TYPE, message)
                }
                false => {
                    let message = format!("index \"{name}\" for table \"{}\" does not exist", table.name);
                    SqlError::new(state::UNDEFINED_OBJECT, message)
                }
            });
        };
        let unfit = |sqlstate, kind: &str| {
            SqlError::new(sqlstate, format!("cannot use {kind} index \"{name}\" as replica identity"))
        };
        if !index.is_declared_unique() {
            return Err(unfit(state::WRONG_OBJECT_TYPE, "non-unique"));
        }
        for (is, kind) in [
            (index.deferral.is_some(), "non-immediate"),
            (!index.expressions.is_empty(), "expression"),
            (index.predicate.is_some(), "partial"),
        ] {
            if is {
                return Err(unfit(state::FEATURE_NOT_SUPPORTED, kind));
            }
        }
        let columns = index.columns.iter().filter_map(|key| table.column(key.column));
        if let Some(column) = columns.into_iter().find(|column| !column.not_null) {
            let message = format!(
                "index \"{name}\" cannot be used as replica identity because column \"{}\" is nullable",
                column.name
            );
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        Ok(index.oid)
    }

    /// SET LOGGED, SET UNLOGGED. Errors: 42P16.
    fn set_logged(&mut self, logged: bool) -> Result<()> {
        let name = &self.table.name;
        if self.table.persistence == Persistence::Temporary {
            let message = format!("cannot change logged status of table \"{name}\" because it is temporary");
            return Err(
                SqlError::new(state::INVALID_TABLE_DEFINITION, message).table(&self.table.schema, &self.table.name)
            );
        }
        let other = |oid| self.context.catalog.relation_by_oid(oid);
        if logged {
            let unlogged = self.table.foreign_keys.iter().filter_map(|key| other(key.parent));
            if let Some(parent) =
                unlogged.into_iter().find(|table| table.oid != self.table.oid && !table.persistence.is_permanent())
            {
                let message = format!(
                    "could not change table \"{name}\" to logged because it references unlogged table \"{}\"",
                    parent.name
                );
                return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
            }
        } else if let Some((child, _)) = self
            .context
            .catalog
            .referencing(self.table.oid)
            .into_iter()
            .find(|(child, _)| child.oid != self.table.oid && child.persistence.is_permanent())
        {
            let message = format!(
                "could not change table \"{name}\" to unlogged because it is referenced by logged table \"{}\"",
                child.name
            );
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        self.table.persistence = if logged { Persistence::Permanent } else { Persistence::Unlogged };
        Ok(())
    }

    /// ALTER CONSTRAINT. Errors: 42704, 42809, 42601.
    fn alter_constraint(&mut self, name: &str, deferrable: Option<bool>, deferred: Option<bool>) -> Result<()> {
        if deferred == Some(true) && deferrable == Some(false) {
            let message = "constraint declared INITIALLY DEFERRED must be DEFERRABLE";
            return Err(SqlError::syntax(message).about_words(&["initially", "deferred"], Span::empty(), 0));
        }
        let table = self.table.name.clone();
        let known = has_constraint(&self.table, name);
        let Some(key) = self.table.foreign_keys.iter_mut().find(|key| key.name == name) else {
            let (code, what) = match known {
                true => (state::WRONG_OBJECT_TYPE, "is not a foreign key constraint"),
                false => (state::UNDEFINED_OBJECT, "does not exist"),
            };
            return Err(SqlError::new(code, format!("constraint \"{name}\" of relation \"{table}\" {what}")));
        };
        // An omitted clause means the default, as for a new constraint.
        key.deferred = deferred.unwrap_or(false);
        key.deferrable = deferrable.unwrap_or(key.deferred);
        Ok(())
    }

    /// ADD CONSTRAINT … USING INDEX. Errors: 42704, 42809, 55000.
    async fn add_using_index(
        &mut self,
        name: Option<&str>,
        index: &str,
        primary: bool,
        deferred: Option<bool>,
    ) -> Result<()> {
        let Some(position) = self.table.indexes.iter().position(|other| other.name == *index) else {
            let message = format!("index \"{index}\" does not exist");
            return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
        };
        let Some(found) = self.table.indexes.get(position).cloned() else { return Ok(()) };
        let wrong = |message: String| {
            SqlError::new(state::WRONG_OBJECT_TYPE, message)
                .detail("Cannot create a primary key or unique constraint using such an index.")
        };
        if found.constraint.is_some() {
            let message = format!("index \"{index}\" is already associated with a constraint");
            return Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        if found.state != IndexState::Public {
            let message = format!("index \"{index}\" is not valid");
            return Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        if !found.unique {
            return Err(wrong(format!("\"{index}\" is not a unique index")));
        }
        if !found.expressions.is_empty() {
            return Err(wrong(format!("index \"{index}\" contains expressions")));
        }
        if found.predicate.is_some() {
            return Err(wrong(format!("\"{index}\" is a partial index")));
        }
        if let Some(at) = found.columns.iter().position(|key| key.descending || key.nulls_first || key.class != 0) {
            return Err(wrong(format!(
                "index \"{index}\" column number {} does not have default sorting behavior",
                at + 1
            )));
        }
        let name = name.unwrap_or(index).to_string();
        if name != *index {
            let message =
                format!("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{index}\" to \"{name}\"");
            self.context.notice(state::SUCCESSFUL_COMPLETION, message);
            self.chosen.claim_relation(self.context, &self.schema.name, &name)?;
        }
        self.chosen.claim_constraint(&self.table, &name)?;
        if deferred.is_some() {
            return self.add_deferrable_using(&found, position, name, primary, deferred).await;
        }
        if !primary {
            let oid = self.context.store.numbers().oid().await?;
            if let Some(index) = self.table.indexes.get_mut(position) {
                index.constraint = Some(oid);
                index.name = name;
            }
            return Ok(());
        }
        // A primary key is the rows themselves, stored in its order. So the index is no longer needed.
        if found.nulls_not_distinct {
            return Err(wrong(format!("index \"{index}\" takes nulls for equal")));
        }
        self.writer.drop_storage(found.storage_id)?;
        self.table.indexes.remove(position);
        let column = |id| self.table.column(id).map(|column| column.name.clone());
        let columns: Vec<String> = found.columns.iter().filter_map(|key| column(key.column)).collect();
        let include: Vec<String> = found.include.iter().filter_map(|id| column(*id)).collect();
        let before = self.table.clone();
        // The statement has claimed the name already.
        self.chosen = Chosen::default();
        let parameters = given(&found.parameters);
        let constraint = Constraint::Primary { name: None, columns, include, deferred: None, parameters };
        self.add_constraints(std::slice::from_ref(&constraint)).await?;
        if let Some(index) = self.table.indexes.iter_mut().find(|index| index.primary) {
            index.name = name;
            index.oid = found.oid;
        }
        backfill::rewrite(self, &before, backfill::RowChange::None).await
    }
    /// The same for a deferrable constraint. It needs the entries of a non-unique index, so the index is built again.
    async fn add_deferrable_using(
        &mut self,
        found: &IndexDescriptor,
        position: usize,
        name: String,
        primary: bool,
        deferred: Option<bool>,
    ) -> Result<()> {
        if found.nulls_not_distinct {
            return Err(SqlError::unsupported("a deferrable constraint USING INDEX with NULLS NOT DISTINCT"));
        }
        self.writer.drop_storage(found.storage_id)?;
        self.table.indexes.remove(position);
        self.chosen = Chosen::default();
        let column = |id| self.table.column(id).map(|column| column.name.clone());
        let columns: Vec<String> = found.columns.iter().filter_map(|key| column(key.column)).collect();
        let include: Vec<String> = found.include.iter().filter_map(|id| column(*id)).collect();
        let before: Vec<_> = self.table.indexes.iter().map(|index| index.oid).collect();
        let parameters = given(&found.parameters);
        let constraint = match primary {
            true => Constraint::Primary { name: None, columns, include, deferred, parameters },
            false => {
                Constraint::Unique { name: None, columns, include, nulls_not_distinct: false, deferred, parameters }
            }
        };
        self.add_to_existing(std::slice::from_ref(&constraint), false).await?;
        if let Some(index) = self.table.indexes.iter_mut().find(|index| !before.contains(&index.oid)) {
            index.name = name;
            index.oid = found.oid;
        }
        Ok(())
    }
}
