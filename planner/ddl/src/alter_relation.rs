//! ALTER TABLE and ALTER INDEX: finds the relation and runs the actions. Other kinds of relations that ALTER TABLE names
//! are left to their modules.

use super::create_table::{Constraint, Making};
use super::names::{Chosen, has_constraint};
use super::storage_parameter::given;
use super::{DdlContext, alter_index, backfill, foreign_key, names, sequence, view};
use binder::canonical;
use catalog::{IndexDescriptor, IndexState, Persistence, RelationKind, ReplicaIdentity, TableDescriptor, is_temporary};
use sql_error::{Result, SqlError, state};
use syntax::ast::{self, AlterColumn, AlterTable, AlterTableAction, AlterTableKind, Deferral, TriggerSwitch};
use syntax::{Span, fold_name};
use types::Oid;

/// Runs ALTER TABLE or ALTER INDEX. Returns its command tag.
pub(super) async fn alter(context: &DdlContext, alter: &AlterTable) -> Result<String> {
    let of_index = alter.kind == ast::RelationKind::Index;
    let tag = if of_index { "ALTER INDEX" } else { "ALTER TABLE" }.to_string();
    let name = &alter.relation.name;
    let found = context.find(name)?;
    if of_index || found.is_none() {
        let (schema, relation) = fold_name(name)?;
        let path = context.settings.search_path();
        if let Some((table, position)) = context.catalog.index_named(schema.as_deref(), &relation, path) {
            alter_index::alter(context, alter, &table, position).await?;
            return Ok(tag);
        }
        if found.is_none() && alter.if_exists {
            context.notice(state::SUCCESSFUL_COMPLETION, format!("relation \"{relation}\" does not exist, skipping"));
            return Ok(tag);
        }
    }
    let Some(found) = found else { return Err(context.no_relation(name)) };
    let action = match alter.actions.as_slice() {
        [action] => Some(&action.kind),
        _ => None,
    };
    // ALTER INDEX may rename any relation.
    if of_index && !matches!(action, Some(AlterTableKind::Rename(_))) {
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{}\" is not an index", found.name)));
    }
    match (found.kind, action) {
        (_, Some(AlterTableKind::SetSchema(schema))) => set_schema(context, &found, &schema.value).await?,
        (RelationKind::Sequence, _) => sequence::alter(context, alter).await.map(drop)?,
        (RelationKind::View, _) => view::alter(context, alter).await.map(drop)?,
        (RelationKind::Table | RelationKind::SystemView, _) => of_table(context, alter).await?,
    }
    Ok(tag)
}

async fn of_table(context: &DdlContext, alter: &AlterTable) -> Result<()> {
    let table = context.locked_table(&alter.relation.name).await?;
    let renames = |action: &AlterTableAction| {
        use AlterTableKind::{Rename, RenameColumn, RenameConstraint};
        matches!(action.kind, Rename(_) | RenameColumn(..) | RenameConstraint(..))
    };
    if !alter.actions.iter().all(renames) {
        context.must_be_idle(&table, "ALTER TABLE")?;
    }
    let schema = context.schema(&table.schema)?;
    let mut making = Making::of(context, &schema, table, Chosen::default());
    making.alter_by_passes(&alter.actions).await?;
    making.store().await?;
    making.validate_rows().await
}

/// 42809: the action is for tables, and the relation is something else.
pub(super) fn cannot_be_performed(action: Option<&AlterTableKind>, name: &str, kind: &str) -> SqlError {
    let message = match action {
        Some(AlterTableKind::RenameColumn(..) | AlterTableKind::RenameConstraint(..)) => {
            format!("cannot rename columns of relation \"{name}\"")
        }
        action => {
            let words = action.map_or("", words);
            format!("ALTER action {words} cannot be performed on relation \"{name}\"")
        }
    };
    SqlError::new(state::WRONG_OBJECT_TYPE, message).detail(format!("This operation is not supported for {kind}."))
}

/// The words for an action, as in PostgreSQL's errors.
pub(super) fn words(action: &AlterTableKind) -> &'static str {
    use AlterTableKind as K;
    use TriggerSwitch as S;
    match action {
        K::AddColumn { .. } => "ADD COLUMN",
        K::DropColumn { .. } => "DROP COLUMN",
        K::AlterColumn(_, change) => words_of_column(change),
        K::AddConstraint(_) => "ADD CONSTRAINT",
        K::AlterConstraint(..) => "ALTER CONSTRAINT",
        K::ValidateConstraint(_) => "VALIDATE CONSTRAINT",
        K::DropConstraint { .. } => "DROP CONSTRAINT",
        K::Trigger(S::Disable, ast::TriggerChoice::All) => "DISABLE TRIGGER ALL",
        K::Trigger(S::Disable, ast::TriggerChoice::User) => "DISABLE TRIGGER USER",
        K::Trigger(S::Disable, _) => "DISABLE TRIGGER",
        K::Trigger(S::Enable, ast::TriggerChoice::All) => "ENABLE TRIGGER ALL",
        K::Trigger(S::Enable, ast::TriggerChoice::User) => "ENABLE TRIGGER USER",
        K::Trigger(S::Enable, _) => "ENABLE TRIGGER",
        K::Trigger(S::EnableReplica, _) => "ENABLE REPLICA TRIGGER",
        K::Trigger(S::EnableAlways, _) => "ENABLE ALWAYS TRIGGER",
        K::Rule(S::Disable, _) => "DISABLE RULE",
        K::Rule(S::Enable, _) => "ENABLE RULE",
        K::Rule(S::EnableReplica, _) => "ENABLE REPLICA RULE",
        K::Rule(S::EnableAlways, _) => "ENABLE ALWAYS RULE",
        K::RowSecurity(true) => "ENABLE ROW SECURITY",
        K::RowSecurity(false) => "DISABLE ROW SECURITY",
        K::ForceRowSecurity(true) => "FORCE ROW SECURITY",
        K::ForceRowSecurity(false) => "NO FORCE ROW SECURITY",
        K::Cluster(Some(_)) => "CLUSTER ON",
        K::Cluster(None) => "SET WITHOUT CLUSTER",
        K::WithoutOids => "SET WITHOUT OIDS",
        K::AccessMethod(_) => "SET ACCESS METHOD",
        K::Tablespace(_) => "SET TABLESPACE",
        K::Logged(true) => "SET LOGGED",
        K::Logged(false) => "SET UNLOGGED",
        K::SetOptions(_) | K::SequenceOptions(_) => "SET",
        K::ResetOptions(_) => "RESET",
        K::Inherit(_) => "INHERIT",
        K::NoInherit(_) => "NO INHERIT",
        K::OfType(_) => "OF",
        K::NotOf => "NOT OF",
        K::Owner(_) => "OWNER TO",
        K::ReplicaIdentity(_) => "REPLICA IDENTITY",
        K::AttachPartition(..) => "ATTACH PARTITION",
        K::DetachPartition(_, Some(ast::Detach::Finalize)) => "DETACH PARTITION ... FINALIZE",
        K::DetachPartition(..) => "DETACH PARTITION",
        K::RenameColumn(..) => "RENAME COLUMN",
        K::RenameConstraint(..) => "RENAME CONSTRAINT",
        K::Rename(_) => "RENAME TO",
        K::SetSchema(_) => "SET SCHEMA",
    }
}

fn words_of_column(change: &AlterColumn) -> &'static str {
    match change {
        AlterColumn::SetDefault(_) | AlterColumn::DropDefault => "ALTER COLUMN ... SET DEFAULT",
        AlterColumn::SetNotNull => "ALTER COLUMN ... SET NOT NULL",
        AlterColumn::DropNotNull => "ALTER COLUMN ... DROP NOT NULL",
        AlterColumn::DropExpression(_) => "ALTER COLUMN ... DROP EXPRESSION",
        AlterColumn::SetStatistics(_) => "ALTER COLUMN ... SET STATISTICS",
        AlterColumn::SetOptions(_) | AlterColumn::SetIdentity { .. } => "ALTER COLUMN ... SET",
        AlterColumn::ResetOptions(_) => "ALTER COLUMN ... RESET",
        AlterColumn::SetStorage(_) => "ALTER COLUMN ... SET STORAGE",
        AlterColumn::SetCompression(_) => "ALTER COLUMN ... SET COMPRESSION",
        AlterColumn::AddIdentity { .. } => "ALTER COLUMN ... ADD IDENTITY",
        AlterColumn::DropIdentity(_) => "ALTER COLUMN ... DROP IDENTITY",
        AlterColumn::Type { .. } => "ALTER COLUMN ... SET DATA TYPE",
    }
}

/// SET SCHEMA: moves the table with its indexes and the sequences that its columns own.
pub(super) async fn set_schema(context: &DdlContext, relation: &TableDescriptor, name: &str) -> Result<()> {
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
    /// REPLICA IDENTITY. Errors: 42704, 42809, 0A000.
    pub(super) fn set_replica_identity(&mut self, written: &ast::ReplicaIdentity) -> Result<()> {
        self.table.replica_identity = match written {
            ast::ReplicaIdentity::Default => ReplicaIdentity::Default,
            ast::ReplicaIdentity::Full => ReplicaIdentity::Full,
            ast::ReplicaIdentity::Nothing => ReplicaIdentity::Nothing,
            ast::ReplicaIdentity::Index(name) => ReplicaIdentity::Index(self.identifying_index(&name.value)?),
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
    pub(super) fn set_logged(&mut self, logged: bool) -> Result<()> {
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

    /// ALTER CONSTRAINT. Errors: 42704, 42809.
    pub(super) fn alter_constraint(&mut self, name: &str, deferral: Deferral) -> Result<()> {
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
        (key.deferrable, key.deferred) = foreign_key::deferral(deferral);
        Ok(())
    }

    /// ADD CONSTRAINT … USING INDEX. Errors: 42704, 42809, 55000.
    pub(super) async fn add_using_index(
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
        let span = Span::NONE;
        let constraint = Constraint::Primary { name: None, columns, include, deferred: None, parameters, span };
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
        let span = Span::NONE;
        let constraint = match primary {
            true => Constraint::Primary { name: None, columns, include, deferred, parameters, span },
            false => Constraint::Unique {
                name: None,
                columns,
                include,
                nulls_not_distinct: false,
                deferred,
                parameters,
                span,
            },
        };
        self.add_to_existing(std::slice::from_ref(&constraint), false).await?;
        if let Some(index) = self.table.indexes.iter_mut().find(|index| !before.contains(&index.oid)) {
            index.name = name;
            index.oid = found.oid;
        }
        Ok(())
    }
}
