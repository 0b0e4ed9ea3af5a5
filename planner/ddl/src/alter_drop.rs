//! ALTER TABLE … DROP COLUMN and DROP CONSTRAINT.

use super::alter_table::no_column;
use super::create_table::Making;
use super::dependents::{self, Object};
use super::names::has_constraint;
use super::{backfill, canonical, referenced, sequence_defaults};
use catalog::{ColumnDescriptor, ColumnId, IndexDescriptor};
use sql_error::{Result, SqlError, state};

impl Making<'_> {
    pub(super) async fn drop_column(&mut self, name: &str, if_exists: bool, cascade: bool) -> Result<()> {
        let Some(id) = self.table.column_named(name).map(|column| column.id) else {
            if if_exists {
                let message = format!("column \"{name}\" of relation \"{}\" does not exist, skipping", self.table.name);
                self.context.notice(state::SUCCESSFUL_COMPLETION, message);
                return Ok(());
            }
            return Err(no_column(&self.table, name, "drop"));
        };
        let generated = self.generated_from(name)?;
        if !generated.is_empty() {
            let table = self.context.shown_name(&self.table);
            let line =
                |other: &String| format!("column {other} of table {table} depends on column {name} of table {table}");
            if !cascade {
                let lines: Vec<String> = generated.iter().map(line).collect();
                return Err(super::drop::dependent(format!("column {name} of table {table}"), &lines.join("\n")));
            }
            let gone: Vec<String> = generated.iter().map(|other| format!("column {other} of table {table}")).collect();
            super::drop::report_cascade(self.context, &gone);
            for other in &generated {
                Box::pin(self.drop_column(other, false, true)).await?;
            }
        }
        let referring = self.referring_to(id);
        let shown = format!("column {name} of table {}", self.context.shown_name(&self.table));
        let dependents = dependents::of(self.context, &[Object::Column(self.table.oid, id)], true)?;
        let taken = self.taking_from(id);
        if !(cascade || referring.is_empty() && dependents.is_empty() && taken.is_empty()) {
            let mut lines = referenced::lines_of_column(self.context, &self.table, &referring, (id, &shown));
            lines.extend(dependents::lines(self.context, &dependents));
            lines.extend(sequence_defaults::lines(self.context, &taken));
            return Err(super::drop::dependent(shown, &lines.join("\n")));
        }
        let mut gone = self.let_go_silently(referring).await?;
        gone.extend(self.remove_defaults(taken).await?);
        gone.extend(dependents::remove_silently(self.context, &mut self.writer, &dependents).await?);
        super::drop::report_cascade(self.context, &gone);
        self.remove_column(id, name).await
    }

    /// Removes a column that nothing outside the table needs, with all constraints and indexes of the table over it.
    pub(super) async fn remove_column(&mut self, id: ColumnId, name: &str) -> Result<()> {
        let key = |index: &IndexDescriptor| index.columns.iter().any(|key| key.column == id);
        let over = |index: &IndexDescriptor| key(index) || index.include.contains(&id);
        if self.table.primary_key().is_some_and(over) {
            let before = self.table.clone();
            self.table
                .indexes
                .extract_if(.., |index| index.primary)
                .for_each(|index| self.chosen.free_relation(&index.name));
            backfill::rewrite(self, &before, backfill::RowChange::None).await?;
        }
        self.table.foreign_keys.retain(|key| !key.columns.contains(&id));
        // Constraints over the column are dropped, even if they cover other columns too.
        let mut checks = Vec::new();
        for check in std::mem::take(&mut self.table.checks) {
            if !check_columns(&check.expression)?.iter().any(|column| column == name) {
                checks.push(check);
            }
        }
        self.table.checks = checks;
        let uses = |index: &IndexDescriptor| -> Result<bool> {
            let texts = index.expressions.iter().map(|expression| &expression.text).chain(&index.predicate);
            for text in texts {
                if super::alter_column::named(text)?.iter().any(|column| column == name) {
                    return Ok(true);
                }
            }
            Ok(over(index))
        };
        let mut indexes = Vec::new();
        for index in std::mem::take(&mut self.table.indexes) {
            if uses(&index)? {
                self.chosen.free_relation(&index.name);
                self.writer.drop_storage(index.storage_id)?;
            } else {
                indexes.push(index);
            }
        }
        self.table.indexes = indexes;
        if let Some(sequence) = self.context.catalog.owned_sequence(self.table.oid, id) {
            if sequence.schema_oid == self.schema.oid {
                self.chosen.free_relation(&sequence.name);
            }
            self.writer.remove_table(&sequence).await?;
        }
        if let Some(column) = self.table.columns.iter_mut().find(|column| column.id == id) {
            *column = ColumnDescriptor {
                name: format!("........pg.dropped.{id}........"),
                not_null: false,
                default: None,
                identity: None,
                missing: None,
                generated: None,
                acl: Vec::new(),
                dropped: true,
                ..column.clone()
            };
        }
        Ok(())
    }

    pub(super) async fn drop_constraint(&mut self, name: &str, if_exists: bool, cascade: bool) -> Result<()> {
        if !has_constraint(&self.table, name) {
            let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", self.table.name);
            if if_exists {
                self.context.notice(state::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
        }
        self.table.checks.retain(|check| check.name != name);
        self.table.foreign_keys.retain(|key| key.name != name);
        let position = self.table.indexes.iter().position(|index| index.constraint.is_some() && index.name == name);
        if let Some(position) = position {
            if let Some(index) = self.table.indexes.get(position) {
                let referring = self.referring_by(index.oid);
                let what = format!("constraint {name} on table {}", self.context.shown_name(&self.table));
                let key = Object::Key(self.table.oid, index.constraint.unwrap_or_default());
                let views = dependents::of(self.context, &[key], true)?;
                if !(cascade || referring.is_empty() && views.is_empty()) {
                    let mut lines = dependents::lines(self.context, &views);
                    lines.extend(referenced::lines(self.context, &referring, |_| format!("index {name}")));
                    return Err(super::drop::dependent(what, &lines.join("\n")));
                }
                let mut gone = dependents::remove_silently(self.context, &mut self.writer, &views).await?;
                gone.extend(self.let_go_silently(referring).await?);
                super::drop::report_cascade(self.context, &gone);
            }
            let before = self.table.clone();
            let index = self.table.indexes.remove(position);
            self.chosen.free_relation(&index.name);
            if index.primary {
                backfill::rewrite(self, &before, backfill::RowChange::None).await?;
            } else {
                self.writer.drop_storage(index.storage_id)?;
            }
        }
        Ok(())
    }
}

/// The columns that a stored CHECK names.
fn check_columns(expression: &str) -> Result<Vec<String>> {
    canonical::referenced(&syntax::parse_expression(expression)?.0)
}
