//! FOREIGN KEYs of CREATE TABLE and ALTER TABLE: resolves their references, and validates existing rows.

use super::create_table::Making;
use catalog::{
    ColumnId, ForeignKeyDescriptor, IndexDescriptor, IndexState, OnCommit, Persistence, ReferentialAction,
    RelationKind, TableDescriptor,
};
use executor::StatementContext;
use functions::{CastContext, cast_exists};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast::{Deferral, ForeignAction, ForeignMatch, Ident, Name, References};
use syntax::fold_name;
use types::{BaseType, SqlType};

fn action(action: ForeignAction) -> ReferentialAction {
    match action {
        ForeignAction::NoAction => ReferentialAction::NoAction,
        ForeignAction::Restrict => ReferentialAction::Restrict,
        ForeignAction::Cascade => ReferentialAction::Cascade,
        ForeignAction::SetNull => ReferentialAction::SetNull,
        ForeignAction::SetDefault => ReferentialAction::SetDefault,
    }
}

/// Whether a constraint is DEFERRABLE, and whether it is INITIALLY DEFERRED, which implies it.
pub(super) fn deferral(given: Deferral) -> (bool, bool) {
    let deferred = given.deferred == Some(true);
    (given.deferrable.unwrap_or(deferred), deferred)
}

/// Whether a DEFERRABLE constraint is INITIALLY DEFERRED. `None` if it is not DEFERRABLE.
pub(super) fn deferred(given: Deferral) -> Option<bool> {
    let (deferrable, deferred) = deferral(given);
    deferrable.then_some(deferred)
}

/// Whether values of a type can be compared with those of a referenced column through its index.
pub(super) fn comparable(own: SqlType, referenced: SqlType) -> bool {
    let moment = |ty: SqlType| matches!(ty.base, BaseType::Date | BaseType::Timestamp | BaseType::Timestamptz);
    let float = |ty: SqlType| matches!(ty.base, BaseType::Float4 | BaseType::Float8);
    let family = |own: SqlType, other: SqlType| {
        (own.is_integer() && other.is_integer()) || (moment(own) && moment(other)) || (float(own) && float(other))
    };
    own.plain() == referenced.plain()
        || (!own.array && !referenced.array && family(own, referenced))
        || cast_exists(own, referenced, CastContext::Implicit)
}

/// 55000: the referenced key is deferrable, so it may be duplicated for a while.
fn is_deferrable(what: &str, table: &TableDescriptor) -> SqlError {
    let message = format!("cannot use a deferrable {what} for referenced table \"{}\"", table.name);
    SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(state::INVALID_FOREIGN_KEY, message)
}

impl Making<'_> {
    /// Whether a name means the table being defined.
    fn is_itself(&self, name: &Name) -> Result<bool> {
        let (schema, name) = fold_name(name)?;
        if name != self.table.name {
            return Ok(false);
        }
        let catalog = &self.context.catalog;
        Ok(match schema {
            Some(schema) => schema == self.table.schema,
            None => catalog
                .effective_path(self.context.settings.search_path())
                .into_iter()
                .find(|schema| *schema == self.table.schema || catalog.relation(Some(schema), &name, &[]).is_some())
                .is_some_and(|schema| schema == self.table.schema),
        })
    }

    /// Locks the referenced table and returns it in its changed state.
    async fn parent(&mut self, name: &Name) -> Result<TableDescriptor> {
        if self.is_itself(name)? {
            return Ok(self.table.clone());
        }
        let Some(found) = self.context.find(name)? else { return Err(self.context.no_relation(name)) };
        if found.kind == RelationKind::SystemView {
            let message = format!("permission denied: \"{}\" is a system catalog", found.name);
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
        }
        if found.kind != RelationKind::Table {
            let message = format!("referenced relation \"{}\" is not a table", found.name);
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
        }
        self.context.may(&found, catalog::acl::REFERENCES)?;
        self.context.take_alone(&found).await?;
        // Later writers of the referenced table must know the FOREIGN KEY.
        let parent = self.parents.entry(found.oid).or_insert_with(|| {
            let mut parent = TableDescriptor::clone(&found);
            parent.version += 1;
            parent
        });
        Ok(parent.clone())
    }

    /// Resolves a FOREIGN KEY over these columns, which the caller adds.
    pub(super) async fn foreign_key(
        &mut self,
        name: Option<&Ident>,
        given: &[String],
        references: &References,
        deferral: Deferral,
    ) -> Result<ForeignKeyDescriptor> {
        if references.matching == ForeignMatch::Partial {
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "MATCH PARTIAL not yet implemented"));
        }
        let (deferrable, deferred) = self::deferral(deferral);
        let parent = self.parent(&references.table).await?;
        let wrong = match (self.table.persistence, parent.persistence) {
            (Persistence::Permanent, Persistence::Permanent) => None,
            (Persistence::Permanent, _) => Some("permanent tables may reference only permanent tables"),
            (Persistence::Unlogged, Persistence::Temporary) => {
                Some("unlogged tables may reference only permanent or unlogged tables")
            }
            (Persistence::Unlogged, _) | (Persistence::Temporary, Persistence::Temporary) => None,
            (Persistence::Temporary, _) => Some("temporary tables may reference only temporary tables"),
        };
        if let Some(wrong) = wrong {
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, format!("constraints on {wrong}")));
        }
        if parent.on_commit == OnCommit::DeleteRows && self.table.on_commit != OnCommit::DeleteRows {
            let message = "unsupported ON COMMIT and foreign key combination";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message).detail(format!(
                "Table \"{}\" references \"{}\", but they do not have the same ON COMMIT setting.",
                self.table.name, parent.name
            )));
        }
        let columns = column_ids(&self.table, given)?;
        let names: Vec<String> = references.on_delete_columns.iter().map(|column| column.value.clone()).collect();
        let set_columns = column_ids(&self.table, &names)?;
        if let Some(at) = set_columns.iter().position(|id| !columns.contains(id)) {
            let name = names.get(at).cloned().unwrap_or_default();
            let message = format!("column \"{name}\" referenced in ON DELETE SET action must be part of foreign key");
            return Err(SqlError::new(state::INVALID_COLUMN_REFERENCE, message));
        }
        if columns.iter().any(|id| self.table.column(*id).is_some_and(|column| column.generated.is_some())) {
            use ReferentialAction::{Cascade, SetDefault, SetNull};
            let refused = |what: &str| {
                let message = format!("invalid {what} action for foreign key constraint containing generated column");
                Err(SqlError::syntax(message))
            };
            if matches!(action(references.on_update), SetNull | SetDefault | Cascade) {
                return refused("ON UPDATE");
            }
            if matches!(action(references.on_delete), SetNull | SetDefault) {
                return refused("ON DELETE");
            }
        }
        let (referenced, index) = if references.columns.is_empty() {
            let primary = parent.declared_primary_key().ok_or_else(|| {
                let message = format!("there is no primary key for referenced table \"{}\"", parent.name);
                SqlError::new(state::UNDEFINED_OBJECT, message)
            })?;
            if primary.deferral.is_some() {
                return Err(is_deferrable("primary key", &parent));
            }
            (primary.columns.iter().map(|key| key.column).collect(), primary.oid)
        } else {
            let names: Vec<String> = references.columns.iter().map(|column| column.value.clone()).collect();
            let referenced = column_ids(&parent, &names)?;
            let index = unique_index(&parent, &referenced)?.oid;
            (referenced, index)
        };
        if columns.len() != referenced.len() {
            return Err(invalid("number of referencing and referenced columns for foreign key disagree"));
        }
        let name = match name {
            Some(name) => {
                self.chosen.claim_constraint(&self.table, &name.value)?;
                name.value.clone()
            }
            None => self.chosen.constraint(&self.table, Some(&given.join("_")), "fkey"),
        };
        for (own, other) in columns.iter().zip(&referenced) {
            let (Some(own), Some(other)) = (self.table.column(*own), parent.column(*other)) else { continue };
            if !comparable(own.ty, other.ty) {
                let message = format!("foreign key constraint \"{name}\" cannot be implemented");
                return Err(SqlError::new(state::DATATYPE_MISMATCH, message).detail(format!(
                    "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
                    own.name,
                    other.name,
                    own.ty.format(),
                    other.ty.format()
                )));
            }
        }
        Ok(ForeignKeyDescriptor {
            oid: self.context.store.numbers().oid().await?,
            name,
            columns,
            parent: parent.oid,
            referenced,
            index,
            on_update: action(references.on_update),
            on_delete: action(references.on_delete),
            match_full: references.matching == ForeignMatch::Full,
            deferrable,
            deferred,
            not_valid: false,
            set_columns,
            triggers: Default::default(),
        })
    }

    /// Adds a FOREIGN KEY to a table that may have rows. They are validated at the end of the statement.
    pub(super) fn add_foreign_key(&mut self, mut key: ForeignKeyDescriptor, not_valid: bool) {
        key.not_valid = not_valid;
        if !not_valid {
            self.unvalidated.push(key.oid);
        }
        self.table.foreign_keys.push(key);
    }

    /// Adds a deferrable unique constraint to a table that may have rows. They are validated at the
    /// end of the statement.
    pub(super) fn add_deferrable(&mut self, index: IndexDescriptor) {
        self.unvalidated.extend(index.constraint);
        self.table.indexes.push(index);
    }

    /// Locks the rows of a table that refers to this one.
    pub(super) async fn hold_child(&self, child: &TableDescriptor) -> Result<()> {
        if child.oid != self.table.oid {
            self.context.take_alone(child).await?;
        }
        Ok(())
    }

    pub(super) async fn validate_constraint(&mut self, name: &str) -> Result<()> {
        let Some(position) = self.table.foreign_keys.iter().position(|key| key.name == name) else {
            if let Some(position) = self.table.checks.iter().position(|check| check.name == name) {
                let Some(check) = self.table.checks.get_mut(position) else { return Ok(()) };
                if std::mem::take(&mut check.not_valid) {
                    let check = check.clone();
                    super::evaluate::validate_check(self.context, &self.table, &check).await?;
                }
                return Ok(());
            }
            if super::names::has_constraint(&self.table, name) {
                let message = format!(
                    "constraint \"{name}\" of relation \"{}\" is not a foreign key or check constraint",
                    self.table.name
                );
                return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
            }
            let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", self.table.name);
            return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
        };
        let Some(key) = self.table.foreign_keys.get_mut(position) else { return Ok(()) };
        if !std::mem::take(&mut key.not_valid) {
            return Ok(());
        }
        let key = key.clone();
        if key.parent != self.table.oid
            && let Some(parent) = self.context.catalog.relation_by_oid(key.parent)
        {
            self.context.take_alone(&parent).await?;
        }
        self.unvalidated.push(key.oid);
        Ok(())
    }

    /// Validates the rows of tables with new constraints. The definitions must be stored before. Errors: 23503.
    pub(super) async fn validate_rows(&self) -> Result<()> {
        if self.unvalidated.is_empty() {
            return Ok(());
        }
        let context = self.context;
        context.transaction.advance_command();
        let database = context.catalog.database().oid;
        let catalog = context.store.snapshot(&context.transaction, database).await?;
        let now = context.session.database()?.now();
        let statement = Arc::new(StatementContext {
            parameters: Vec::new(),
            // It sees commits made before the tables were locked.
            transaction: context.transaction.for_newest().await?,
            command: context.transaction.command(),
            catalog: catalog.clone(),
            settings: context.settings.clone(),
            session: context.session.clone(),
            transaction_time: now,
            statement_time: now,
            held: Default::default(),
            for_reference: false,
            view_rows: Default::default(),
        });
        let upper = context.session.database()?.upper();
        let upper = upper.ok_or_else(|| SqlError::internal("a server without plans"))?;
        for oid in &self.unvalidated {
            if let Some(table) = catalog.relation_by_oid(self.table.oid)
                && let Some(index) = table.indexes.iter().find(|index| index.constraint == Some(*oid))
            {
                upper.validate_unique(&statement, &table, index).await?;
            }
            let referring = catalog.referencing(self.table.oid).into_iter().find(|(_, key)| key.oid == *oid);
            if let Some((child, key)) = catalog.foreign_key(self.table.oid, *oid).or(referring) {
                upper.validate_references(&statement, &child, &key).await?;
            }
        }
        Ok(())
    }
}

fn column_ids(table: &TableDescriptor, names: &[String]) -> Result<Vec<ColumnId>> {
    let id = |name: &String| {
        table.column_named(name).map(|column| column.id).ok_or_else(|| {
            if syntax::is_system_column(name) {
                let message = "system columns cannot be used in foreign keys";
                return SqlError::new(state::FEATURE_NOT_SUPPORTED, message);
            }
            let message = format!("column \"{name}\" referenced in foreign key constraint does not exist");
            SqlError::new(state::UNDEFINED_COLUMN, message)
        })
    };
    names.iter().map(id).collect()
}

/// The unique index over exactly these columns, in any order. Errors: 42830.
fn unique_index<'t>(table: &'t TableDescriptor, columns: &[ColumnId]) -> Result<&'t IndexDescriptor> {
    let twice = |(position, id): (usize, &ColumnId)| columns.iter().skip(position + 1).any(|other| other == id);
    if columns.iter().enumerate().any(twice) {
        return Err(invalid("foreign key referenced-columns list must not contain duplicates"));
    }
    let matches = |index: &&IndexDescriptor| {
        index.is_declared_unique()
            && index.state == IndexState::Public
            && !index.is_computed()
            && index.columns.len() == columns.len()
            && index.columns.iter().all(|key| columns.contains(&key.column))
    };
    let mut found: Vec<&IndexDescriptor> = table.indexes.iter().filter(matches).collect();
    found.sort_by_key(|index| index.deferral.is_some());
    if found.first().is_some_and(|index| index.deferral.is_some()) {
        return Err(is_deferrable("unique constraint", table));
    }
    found.first().copied().ok_or_else(|| {
        invalid(format!("there is no unique constraint matching given keys for referenced table \"{}\"", table.name))
    })
}
