//! ALTER INDEX, and ALTER TABLE of an index: its name, parameters and statistics targets.

use super::DdlContext;
use super::alter_column::statistics_target;
use super::alter_relation::cannot_be_performed;
use super::names::Chosen;
use super::storage_parameter::{self, Of};
use catalog::{ColumnId, IndexDescriptor, TableDescriptor};
use sql_error::{Result, SqlError, state};
use syntax::ast::{AlterColumn, AlterTable, AlterTableAction, AlterTableKind, ColumnReference};

/// Runs the actions on the index at this position of its table. Errors: 42501, 42809, and those of the actions.
pub(super) async fn alter(
    context: &DdlContext,
    alter: &AlterTable,
    table: &TableDescriptor,
    position: usize,
) -> Result<()> {
    match alter.actions.as_slice() {
        [AlterTableAction { kind: AlterTableKind::Rename(new), .. }] => {
            return rename(context, table, position, &new.value).await;
        }
        [AlterTableAction { kind: AlterTableKind::SetSchema(_), .. }] => {
            let name = table.indexes.get(position).map_or("", |index| index.name.as_str());
            let message = format!("cannot change schema of relation \"{name}\"");
            return Err(
                SqlError::new(state::WRONG_OBJECT_TYPE, message).detail("This operation is not supported for indexes.")
            );
        }
        _ => {}
    }
    context.must_own(table)?;
    storage_parameter::alter_index(context, table, position, |index| {
        alter.actions.iter().try_for_each(|action| match &action.kind {
            // The parser refuses other tablespaces than that of every index.
            AlterTableKind::Tablespace(_) => Ok(()),
            AlterTableKind::SetOptions(options) => {
                let parameters = syntax::options::parameters(options)?;
                storage_parameter::set(Of::Index, &mut index.parameters, &parameters)
            }
            AlterTableKind::ResetOptions(options) => {
                storage_parameter::reset(&mut index.parameters, &syntax::options::names_to_reset(options)?);
                Ok(())
            }
            AlterTableKind::AlterColumn(column, AlterColumn::SetStatistics(value)) => {
                set_statistics(context, table, index, column, *value)
            }
            other => Err(cannot_be_performed(Some(other), &index.name, "indexes")),
        })
    })
    .await
}

async fn rename(context: &DdlContext, table: &TableDescriptor, position: usize, new: &str) -> Result<()> {
    context.lock(table).await?;
    context.may_create_in(&*context.schema(&table.schema)?)?;
    Chosen::default().claim_relation(context, &table.schema, new)?;
    let mut changed = table.clone();
    changed.version += 1;
    if let Some(index) = changed.indexes.get_mut(position) {
        index.name = new.to_string();
    }
    let mut writer = context.writer();
    writer.put_table(&changed).await?;
    writer.flush().await
}

/// The number of a column of an index, from 1, by its name.
fn number_of(table: &TableDescriptor, index: &IndexDescriptor, name: &str) -> Option<usize> {
    let is_column = |id: ColumnId| table.column(id).is_some_and(|column| column.name == name);
    let is_key = |(key, expression): (&catalog::IndexColumn, Option<&catalog::IndexExpression>)| match expression {
        Some(expression) => expression.name == name,
        None => is_column(key.column),
    };
    let found = index.parts().position(is_key);
    let included = || index.include.iter().position(|id| is_column(*id)).map(|at| index.columns.len() + at);
    found.or_else(included).map(|at| at + 1)
}

/// SET STATISTICS of a column of an index. Errors: 42703, and 0A000 if it is a plain column of the table.
fn set_statistics(
    context: &DdlContext,
    table: &TableDescriptor,
    index: &mut IndexDescriptor,
    column: &ColumnReference,
    value: i32,
) -> Result<()> {
    let target = statistics_target(context, value)?;
    let missing = |column: String| {
        let message = format!("column {column} of relation \"{}\" does not exist", index.name);
        SqlError::new(state::UNDEFINED_COLUMN, message)
    };
    let number = match column {
        ColumnReference::Number(number, _) => usize::try_from(*number).unwrap_or_default(),
        ColumnReference::Name(name) => {
            number_of(table, index, &name.value).ok_or_else(|| missing(format!("\"{}\"", name.value)))?
        }
    };
    let refused = |what: &str, column: ColumnId| {
        let column = table.column(column).map_or("", |column| column.name.as_str());
        let message = format!("cannot alter statistics on {what} column \"{column}\" of index \"{}\"", index.name);
        SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
    };
    let at = number.saturating_sub(1);
    let Some(key) = index.columns.get(at) else {
        return Err(match index.include.get(at - index.columns.len()) {
            Some(column) => refused("included", *column),
            None => missing(format!("number {number}")),
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
