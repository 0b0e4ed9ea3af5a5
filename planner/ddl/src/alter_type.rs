//! ALTER TABLE … ALTER COLUMN … TYPE: converts all columns with new types together, from the
//! state before the statement.

use super::alter_column::named;
use super::backfill::{self, RowChange};
use super::create_table::Making;
use super::evaluate::{self, Converted};
use super::{canonical, sequence};
use binder::catalog_type;
use catalog::{ColumnDescriptor, ColumnId, RelationKind, TableDescriptor};
use datafusion::arrow::array::ArrayRef;
use sql_error::{Result, SqlError, state};
use syntax::ast::{AlterColumn, AlterTableKind, ColumnReference, Expr, ExprKind, Literal, Name};
use syntax::parse_expression;
use types::{BaseType, SqlType};

/// A column that is to have another type.
pub(super) struct Retyped<'a> {
    /// The column as it was.
    column: ColumnDescriptor,
    ty: SqlType,
    dimensions: i16,
    collation: Option<&'a Name>,
    /// Computes the new values. `None` if the old ones stay valid.
    converted: Option<Converted>,
}

/// The live columns of `table`, for rows in the form of `before`.
pub(super) fn converted(
    table: &TableDescriptor,
    before: &TableDescriptor,
    retyped: &[Retyped<'_>],
    columns: &[ArrayRef],
    rows: usize,
) -> Result<Vec<ArrayRef>> {
    let values = |live: &ColumnDescriptor| {
        let mut changes = retyped.iter().filter(|change| change.column.id == live.id);
        if let Some(converted) = changes.find_map(|change| change.converted.as_ref()) {
            return converted.values(columns, rows);
        }
        let at = before.live_columns().position(|old| old.id == live.id);
        let kept = at.and_then(|at| columns.get(at)).cloned();
        kept.ok_or_else(|| SqlError::internal("a column that was not there before"))
    };
    table.live_columns().map(values).collect()
}

impl Making<'_> {
    /// Prepares the change of a column's type, over the table as it was before the statement. `others` are those
    /// prepared earlier. Errors: 42703, 42704, 42804, 0A000.
    pub(super) fn retyped<'a>(&self, others: &[Retyped<'_>], action: &'a AlterTableKind) -> Result<Retyped<'a>> {
        let AlterTableKind::AlterColumn(ColumnReference::Name(name), AlterColumn::Type { data_type, collation, using }) =
            action
        else {
            return Err(SqlError::internal("an action of ALTER TABLE that changes no type"));
        };
        let (name, using) = (&name.value, using.as_ref());
        let column = self.live_column(name)?;
        let changed = |other: &Retyped<'_>| other.column.id == column.id && other.column.ty != other.ty;
        if others.iter().any(changed) {
            let message = format!("cannot alter type of column \"{name}\" twice");
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        let path = self.context.settings.search_path();
        // PostgreSQL no longer has the statement's text here.
        let ty = catalog_type(data_type, &self.context.catalog, path, false).map_err(SqlError::of_values)?;
        if ty.row_of().is_some() {
            return Err(SqlError::unsupported("columns of the type of a table's rows"));
        }
        let collation = collation.as_ref();
        if let Some(collation) = collation {
            super::type_name::collation(collation, ty)?;
        }
        if ty.is_pseudo() {
            let message = format!("column \"{name}\" has pseudo-type {}", ty.name());
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        if let BaseType::Enum(labels) = ty.base {
            super::enumeration::may_use(self.context, labels.descriptor())?;
        }
        if column.identity.is_some() && !ty.is_integer() {
            let message = "identity column type must be smallint, integer, or bigint";
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
        let same = column.ty == ty && using.is_none();
        if column.generated.is_some() && using.is_some() {
            let message = "cannot specify USING when altering type of generated column";
            return Err(SqlError::new(state::INVALID_COLUMN_DEFINITION, message)
                .detail(format!("Column \"{name}\" is a generated column.")));
        }
        let converted = match same {
            true => None,
            false => Some(Converted::new(self.context, &self.table, &column, ty, using)?),
        };
        Ok(Retyped { column, ty, dimensions: super::type_name::dimensions(data_type), collation, converted })
    }

    /// Sets the columns' new types and converts the values of the rows, which have the form of `before`.
    pub(super) async fn change_types(&mut self, before: &TableDescriptor, retyped: &[Retyped<'_>]) -> Result<()> {
        let mut anew = false;
        for change in retyped {
            anew |= self.change_type(change).await?;
        }
        if !anew {
            return Ok(());
        }
        for change in retyped {
            self.keys_fit(change.column.id)?;
        }
        // Constraints over the columns must still be valid.
        for check in &self.table.checks {
            evaluate::validate_check_text(self.context, &self.table, &check.expression)?;
        }
        for change in retyped {
            self.retype_indexes(&change.column.name)?;
        }
        let stored = backfill::has_rows(self.context, before.storage_id).await?;
        // Even without conversion the form of keys changes.
        backfill::rewrite(self, before, RowChange::Converted(retyped)).await?;
        if stored {
            for check in self.table.checks.iter().filter(|check| !check.not_valid) {
                let names = named(&check.expression)?;
                if retyped.iter().any(|change| names.contains(&change.column.name)) {
                    evaluate::validate_check(self.context, &self.table, check).await?;
                }
            }
        }
        let of_them = |id: &ColumnId| retyped.iter().any(|change| change.column.id == *id);
        let keys: Vec<_> =
            self.table.foreign_keys.iter().filter(|key| key.columns.iter().any(of_them)).map(|key| key.oid).collect();
        self.unvalidated.extend(keys);
        // FOREIGN KEYs of other tables must find the values in their new form.
        for (child, key) in self.context.catalog.referencing(self.table.oid) {
            if key.referenced.iter().any(of_them) {
                self.hold_child(&child).await?;
                self.unvalidated.push(key.oid);
            }
        }
        Ok(())
    }

    /// Sets a column's new type in the descriptor. Returns whether the rows must be rewritten.
    async fn change_type(&mut self, change: &Retyped<'_>) -> Result<bool> {
        let ty = change.ty;
        let column = self.live_column(&change.column.name)?;
        self.held_type(&column)?;
        // An omitted clause means the default.
        let named_collation = change.collation;
        let collation = named_collation.map_or(Ok(None), |collation| super::type_name::collation(collation, ty))?;
        if change.converted.is_none() {
            self.replace_column(ColumnDescriptor { collation, ..column });
            return Ok(false);
        }
        // The storage is that of the new type.
        let mut changed = ColumnDescriptor {
            ty,
            missing: None,
            dimensions: change.dimensions,
            collation,
            storage: None,
            ..column.clone()
        };
        if let Some(default) = column.default.as_ref().filter(|_| column.identity.is_none()) {
            changed.default = Some(self.recast_default(&column.name, default, column.ty, ty)?);
        }
        self.replace_column(changed);
        if column.identity.is_some() {
            self.retype_sequence(column.id, ty).await?;
        }
        let uses = |index: &&catalog::IndexDescriptor| index.columns.iter().any(|key| key.column == column.id);
        if self.table.indexes.iter().any(|index| uses(&index)) {
            super::create_index::ordered(ty)?;
        }
        for index in &mut self.table.indexes {
            for key in index.columns.iter_mut().filter(|key| key.column == column.id) {
                if let Some(name) = pg_catalog::present::operator_class_name(key.class) {
                    key.class = super::create_index::operator_class(name, ty)?;
                }
            }
        }
        Ok(true)
    }

    /// Updates the types of index expressions over a column. Errors: as in a statement.
    fn retype_indexes(&mut self, name: &str) -> Result<()> {
        let table = self.table.clone();
        for index in &mut self.table.indexes {
            for expression in &mut index.expressions {
                if named(&expression.text)?.iter().any(|other| other == name) {
                    let typed = evaluate::stored(self.context, &table, &expression.text, "index expression")?.0;
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

    /// Errors: 0A000 for a column whose type another object relies on.
    fn held_type(&self, column: &ColumnDescriptor) -> Result<()> {
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
        Ok(())
    }

    /// Checks the FOREIGN KEYs from and to a column with a new type. Errors: 42804.
    fn keys_fit(&self, id: ColumnId) -> Result<()> {
        let Some(column) = self.table.column(id) else { return Ok(()) };
        let (context, name, ty) = (self.context, &column.name, column.ty);
        // This table counts in its changed state.
        let as_it_is = |table: &TableDescriptor, id: ColumnId| {
            let table = if table.oid == self.table.oid { &self.table } else { table };
            table.column(id).cloned()
        };
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
            let own = at.and_then(|at| key.columns.get(at)).and_then(|own| as_it_is(&child, *own));
            if let Some(own) = own.filter(|own| !super::foreign_key::comparable(own.ty, ty)) {
                return Err(incompatible(&key.name, (&own.name, own.ty), (name, ty)));
            }
        }
        for key in self.table.foreign_keys.iter().filter(|key| key.columns.contains(&column.id)) {
            let parent = context.catalog.relation_by_oid(key.parent);
            let at = key.columns.iter().position(|id| *id == column.id);
            let other = at.and_then(|at| key.referenced.get(at)).copied();
            if let (Some(parent), Some(other)) = (parent, other)
                && let Some(referenced) = as_it_is(&parent, other)
                && !super::foreign_key::comparable(ty, referenced.ty)
            {
                return Err(incompatible(&key.name, (name, ty), (&referenced.name, referenced.ty)));
            }
        }
        Ok(())
    }

    /// Converts a column's default to a new type. Errors: 42804.
    fn recast_default(&mut self, name: &str, default: &str, from: SqlType, to: SqlType) -> Result<String> {
        if default.starts_with("nextval(") && to.is_integer() {
            return Ok(default.to_string());
        }
        let text = format!("CAST(CAST({default} AS {}) AS {})", from.format(), to.format());
        let fits = |text: &str| evaluate::validate_default(self.context, name, to, text);
        if fits(default).is_ok() && !canonical::is_constant(default) {
            return Ok(default.to_string());
        }
        // A constant keeps the form that a constant of the new type has.
        let (expr, _) = parse_expression(default)?;
        // A number has its own type, whatever the column's type was.
        let number = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(Literal::Integer(_) | Literal::Decimal(_)));
        let numeric = match &expr.kind {
            ExprKind::Unary { operand, .. } => number(operand),
            _ => number(&expr),
        };
        if numeric && fits(default).is_ok() {
            return Ok(default.to_string());
        }
        let stripped = match &expr.kind {
            ExprKind::Cast { operand, .. } => operand.as_ref().clone(),
            _ => expr.clone(),
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
        let stored = self.writer.stored(owned.oid).await?;
        let mut changed = stored.unwrap_or_else(|| TableDescriptor::clone(&owned));
        let Some(parameters) = &changed.sequence else { return Ok(()) };
        changed.sequence = Some(sequence::retyped(parameters, ty)?);
        changed.version += 1;
        self.writer.put_table(&changed).await
    }
}

/// Whether assignment can convert values of one type to another.
fn assignable(making: &Making<'_>, name: &str, from: SqlType, to: SqlType) -> bool {
    let text = format!("CAST(NULL AS {})", from.format());
    evaluate::validate_default(making.context, name, to, &text).is_ok()
}
