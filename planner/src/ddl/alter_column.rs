//! ALTER TABLE … ALTER COLUMN: types, generated and identity columns, what statistics and storage say.

use super::backfill::{self, RowChange};
use super::create_table::Making;
use super::evaluate::{self, Converted};
use super::{DdlContext, canonical, sequence, taken_defaults};
use crate::bind::{bind_generated, is_immutable};
use crate::catalog::{ColumnDescriptor, ColumnId, Identity, RelationKind, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::execution::Slots;
use crate::parse::parse_expression;
use crate::session::Notice;
use crate::types::SqlType;
use sqlparser::ast::{DataType, Expr, ObjectName, SequenceOptions, Value};

/// 55000.
fn not_in_state(message: String) -> SqlError {
    SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

/// A target of SET STATISTICS, as it is kept: `None` for that of the settings. Errors: 22023.
pub(super) fn statistics_target(context: &DdlContext, value: i64) -> Result<Option<i16>> {
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

/// The columns that a stored expression names.
pub(super) fn named(stored: &str) -> Result<Vec<String>> {
    canonical::referenced(&parse_expression(stored)?.0)
}

impl Making<'_> {
    /// A live column by name. Errors: 42703.
    pub(super) fn live_column(&self, name: &str) -> Result<ColumnDescriptor> {
        self.table.column_named(name).cloned().ok_or_else(|| {
            let message = format!("column \"{name}\" of relation \"{}\" does not exist", self.table.name);
            SqlError::new(state::UNDEFINED_COLUMN, message)
        })
    }
    /// Puts a column in the place of the one with its id.
    pub(super) fn replace_column(&mut self, column: ColumnDescriptor) {
        if let Some(place) = self.table.columns.iter_mut().find(|other| other.id == column.id) {
            *place = column;
        }
    }

    /// Holds the expression of a generated column to the rules, once all columns are there. Errors: 42703, 42P17, 42804
    /// and as in a statement.
    pub(super) fn validate_generated(&self, id: ColumnId) -> Result<()> {
        let Some(column) = self.table.column(id) else { return Ok(()) };
        let Some(text) = &column.generated else { return Ok(()) };
        for name in named(text)? {
            if let Some(other) = self.table.column_named(&name).filter(|other| other.generated.is_some()) {
                let message = format!("cannot use generated column \"{}\" in column generation expression", other.name);
                return Err(SqlError::new("42P17", message)
                    .detail("A generated column cannot reference another generated column."));
            }
        }
        let (expr, source) = parse_expression(text)?;
        let slots = Slots::new();
        let bound = evaluate::bound(self.context, &self.context.catalog, &slots, |bind| {
            bind_generated(&expr, &source, &self.table, column, bind)
        })?;
        if !is_immutable(&bound) {
            return Err(SqlError::new("42P17", "generation expression is not immutable"));
        }
        Ok(())
    }

    /// The names of generated columns that need a column.
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

    /// ALTER COLUMN … TYPE.
    pub(super) async fn alter_type(
        &mut self,
        name: &str,
        data_type: &DataType,
        collation: Option<&ObjectName>,
        using: Option<&Expr>,
    ) -> Result<()> {
        let column = self.live_column(name)?;
        let path = self.context.settings.search_path();
        let ty = crate::bind::catalog_type(data_type, &self.context.catalog, path, false)?;
        if ty.row_of().is_some() {
            return Err(SqlError::unsupported("columns of the type of a table's rows"));
        }
        if ty.is_pseudo() {
            let message = format!("column \"{name}\" has pseudo-type {}", ty.name());
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        if let crate::types::BaseType::Enum(labels) = ty.base {
            super::enumeration::may_use(self.context, labels.descriptor())?;
        }
        self.held_type(&column, ty)?;
        // What is not said is the default.
        let collation = collation.map_or(Ok(None), |collation| super::type_name::collation(collation, ty))?;
        if column.identity.is_some() && !ty.is_integer() {
            let message = "identity column type must be smallint, integer, or bigint";
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
        if column.ty == ty && using.is_none() {
            self.replace_column(ColumnDescriptor { collation, ..column });
            return Ok(());
        }
        if column.generated.is_some() && using.is_some() {
            return Err(SqlError::new(
                state::INVALID_COLUMN_DEFINITION,
                "cannot specify USING when altering type of generated column",
            )
            .detail(format!("Column \"{name}\" is a generated column.")));
        }
        let converted = Converted::new(self.context, &self.table, &column, ty, using)?;
        let before = self.table.clone();
        let dimensions = super::type_name::dimensions(data_type);
        // How it is stored is the new type's.
        let mut changed =
            ColumnDescriptor { ty, missing: None, dimensions, collation, storage: None, ..column.clone() };
        if let Some(default) = column.default.as_ref().filter(|_| column.identity.is_none()) {
            changed.default = Some(self.recast_default(name, default, column.ty, ty)?);
        }
        self.replace_column(changed);
        if column.identity.is_some() {
            self.retype_sequence(column.id, ty).await?;
        }
        let uses = |index: &&crate::catalog::IndexDescriptor| index.columns.iter().any(|key| key.column == column.id);
        if self.table.indexes.iter().any(|index| uses(&index)) {
            super::create_index::ordered(ty)?;
        }
        for index in &mut self.table.indexes {
            for key in index.columns.iter_mut().filter(|key| key.column == column.id) {
                if let Some(name) = crate::pg_catalog::present::operator_class_name(key.class) {
                    key.class = super::create_index::operator_class(name, ty)?;
                }
            }
        }
        // What else is said of the column must still be sayable.
        for check in &self.table.checks {
            evaluate::validate_check_text(self.context, &self.table, &check.expression)?;
        }
        self.retype_indexes(name)?;
        let position = before.live_columns().position(|other| other.id == column.id);
        let position = position.ok_or_else(|| SqlError::internal("a column without position"))?;
        let stored = backfill::has_rows(self.context, before.storage_id).await?;
        if stored {
            backfill::rewrite(self, &before, RowChange::Converted(position, &converted)).await?;
            for check in self.table.checks.iter().filter(|check| !check.not_valid) {
                if named(&check.expression)?.iter().any(|other| other == name) {
                    evaluate::validate_check(self.context, &self.table, check).await?;
                }
            }
        } else {
            // Nothing is to be converted, but keys have another form from now on.
            backfill::rewrite(self, &before, RowChange::None).await?;
        }
        let keys: Vec<_> =
            self.table.foreign_keys.iter().filter(|key| key.columns.contains(&column.id)).map(|key| key.oid).collect();
        self.unvalidated.extend(keys);
        // What refers to the column has to find its values in their new form.
        for (child, key) in self.context.catalog.referencing(self.table.oid) {
            if key.referenced.contains(&column.id) {
                self.hold_child(&child).await?;
                self.unvalidated.push(key.oid);
            }
        }
        Ok(())
    }

    /// Gives the expressions of indexes over a column the types that they have now. Errors: as in a statement.
    fn retype_indexes(&mut self, name: &str) -> Result<()> {
        let table = self.table.clone();
        for index in &mut self.table.indexes {
            for expression in &mut index.expressions {
                if named(&expression.text)?.iter().any(|other| other == name) {
                    let typed = evaluate::stored(self.context, &table, &expression.text, "index expression")?;
                    super::create_index::ordered(typed.ty)?;
                    expression.ty = typed.ty;
                }
            }
            if let Some(predicate) = &index.predicate {
                evaluate::stored(self.context, &table, predicate, "index predicate")?;
            }
        }
        Ok(())
    }

    /// Errors for a column whose type something else relies on: 0A000.
    fn held_type(&self, column: &ColumnDescriptor, ty: SqlType) -> Result<()> {
        let (context, name) = (self.context, &column.name);
        for view in context.catalog.user_relations().filter(|relation| relation.kind == RelationKind::View) {
            let used = view.view.as_ref().is_some_and(|view| {
                view.relations.iter().any(|named| named.oid == self.table.oid && named.used.contains(&column.id))
            });
            if used {
                return Err(SqlError::new(
                    state::FEATURE_NOT_SUPPORTED,
                    "cannot alter type of a column used by a view or rule",
                )
                .detail(format!("rule _RETURN on view {} depends on column \"{name}\"", context.shown_name(view))));
            }
        }
        if let Some(generated) = self.generated_from(name)?.first() {
            return Err(SqlError::new(
                state::FEATURE_NOT_SUPPORTED,
                "cannot alter type of a column used by a generated column",
            )
            .detail(format!("Column \"{name}\" is used by generated column \"{generated}\".")));
        }
        let incompatible = |key: &str, own: (&str, SqlType), other: (&str, SqlType)| {
            let message = format!("foreign key constraint \"{key}\" cannot be implemented");
            SqlError::new(state::DATATYPE_MISMATCH, message).detail(format!(
                "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
                own.0,
                other.0,
                own.1.plain().format(),
                other.1.plain().format()
            ))
        };
        for (child, key) in context.catalog.referencing(self.table.oid) {
            let at = key.referenced.iter().position(|id| *id == column.id);
            let own = at.and_then(|at| key.columns.get(at)).and_then(|own| child.column(*own));
            if let Some(own) = own {
                let own_type = if child.oid == self.table.oid && own.id == column.id { ty } else { own.ty };
                if !super::foreign_key::comparable(own_type, ty) {
                    return Err(incompatible(&key.name, (&own.name, own_type), (name, ty)));
                }
            }
        }
        for key in self.table.foreign_keys.iter().filter(|key| key.columns.contains(&column.id)) {
            let parent = context.catalog.relation_by_oid(key.parent);
            let at = key.columns.iter().position(|id| *id == column.id);
            let other = at.and_then(|at| key.referenced.get(at)).copied();
            if let (Some(parent), Some(other)) = (parent, other)
                && let Some(referenced) = parent.column(other)
            {
                let itself = parent.oid == self.table.oid && other == column.id;
                let referenced_type = if itself { ty } else { referenced.ty };
                if !super::foreign_key::comparable(ty, referenced_type) {
                    return Err(incompatible(&key.name, (name, ty), (&referenced.name, referenced_type)));
                }
            }
        }
        Ok(())
    }

    /// A default of another type of its column. Errors: 42804.
    fn recast_default(&mut self, name: &str, default: &str, from: SqlType, to: SqlType) -> Result<String> {
        if default.starts_with("nextval(") && to.is_integer() {
            return Ok(default.to_string());
        }
        let text = format!("CAST(CAST({default} AS {}) AS {})", from.format(), to.format());
        let fits = |text: &str| evaluate::validate_default(self.context, name, to, text);
        if fits(default).is_ok() && !canonical::is_constant(default) {
            return Ok(default.to_string());
        }
        // A constant keeps the form that one of the new type has.
        let (expr, _) = parse_expression(default)?;
        // A number has a type of its own, whatever the column's was.
        let number = |expr: &Expr| matches!(expr, Expr::Value(value) if matches!(value.value, Value::Number(..)));
        let numeric = match &expr {
            Expr::UnaryOp { expr, .. } => number(expr),
            other => number(other),
        };
        if numeric && fits(default).is_ok() {
            return Ok(default.to_string());
        }
        let stripped = match &expr {
            Expr::Cast { expr, .. } => expr.as_ref().clone(),
            other => other.clone(),
        };
        if let Ok(Some(text)) = canonical::default_text(&stripped, &to)
            && fits(&text).is_ok()
            && assignable(self, name, from, to)
        {
            return Ok(text);
        }
        if assignable(self, name, from, to) && fits(&text).is_ok() {
            return Ok(text);
        }
        let message = format!("default for column \"{name}\" cannot be cast automatically to type {}", to.format());
        Err(SqlError::new(state::DATATYPE_MISMATCH, message))
    }

    async fn retype_sequence(&mut self, column: ColumnId, ty: SqlType) -> Result<()> {
        let Some(owned) = self.context.catalog.owned_sequence(self.table.oid, column) else { return Ok(()) };
        let mut changed = TableDescriptor::clone(&owned);
        let Some(parameters) = &owned.sequence else { return Ok(()) };
        changed.sequence = Some(sequence::retyped(parameters, ty)?);
        changed.version += 1;
        self.writer.put_table(&changed).await
    }

    /// SET STATISTICS. Errors: 22023.
    pub(super) fn set_statistics(&mut self, name: &str, value: i64) -> Result<()> {
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

    /// DROP EXPRESSION.
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

    /// DROP IDENTITY.
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
                let lines = taken_defaults::lines(self.context, &taken);
                return Err(super::drop::dependent(what, &lines.join("\n")));
            }
            self.writer.remove_table(&owned).await?;
        }
        self.replace_column(ColumnDescriptor { identity: None, default: None, ..column });
        Ok(())
    }

    /// ADD GENERATED … AS IDENTITY. Errors: 55000, 22023.
    pub(super) async fn add_identity(
        &mut self,
        name: &str,
        always: bool,
        given: Option<&ObjectName>,
        options: &[SequenceOptions],
    ) -> Result<()> {
        let column = self.live_column(name)?;
        let of = |what: &str| format!("column \"{name}\" of relation \"{}\" {what}", self.table.name);
        if !column.not_null {
            return Err(not_in_state(of("must be declared NOT NULL before identity can be added")));
        }
        if column.identity.is_some() {
            return Err(not_in_state(of("is already an identity column")));
        }
        if column.default.is_some() {
            return Err(not_in_state(of("already has a default value")));
        }
        if !column.ty.is_integer() {
            let message = "identity column type must be smallint, integer, or bigint";
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
        let default = self.own_sequence(name, column.id, column.ty, given, options).await?;
        let identity = Some(if always { Identity::Always } else { Identity::ByDefault });
        self.replace_column(ColumnDescriptor { identity, default: Some(default), ..column });
        Ok(())
    }

    /// SET GENERATED, SET of the sequence's options, RESTART. Errors: 55000.
    pub(super) async fn change_identity(
        &mut self,
        name: &str,
        always: Option<bool>,
        restart: Option<Option<i64>>,
        options: &[SequenceOptions],
    ) -> Result<()> {
        let column = self.live_column(name)?;
        if column.identity.is_none() {
            return Err(not_in_state(self.no_identity(name)));
        }
        if restart.is_some() || !options.is_empty() {
            let owned = match self.context.catalog.owned_sequence(self.table.oid, column.id) {
                Some(owned) => Some(owned),
                // Made by this statement.
                None => {
                    self.writer.flush().await?;
                    let (transaction, database) = (&self.context.transaction, self.context.catalog.database().oid);
                    self.context.store.snapshot(transaction, database).await?.owned_sequence(self.table.oid, column.id)
                }
            };
            let owned = owned.ok_or_else(|| SqlError::internal("an identity column without its sequence"))?;
            let changes = sequence::Changes { options, restart, data_type: None };
            let mut owned = TableDescriptor::clone(&owned);
            sequence::change(self.context, &mut self.writer, &mut owned, &changes).await?;
        }
        if let Some(always) = always {
            let identity = Some(if always { Identity::Always } else { Identity::ByDefault });
            self.replace_column(ColumnDescriptor { identity, ..column });
        }
        Ok(())
    }
}

/// Whether values of a type become those of another by assignment.
fn assignable(making: &Making<'_>, name: &str, from: SqlType, to: SqlType) -> bool {
    let text = format!("CAST(NULL AS {})", from.format());
    evaluate::validate_default(making.context, name, to, &text).is_ok()
}
