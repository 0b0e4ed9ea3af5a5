//! The table and columns of a COPY.

use crate::catalog::{ColumnDescriptor, RelationKind, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::execution::StatementContext;
use crate::parse::ast::Name;
use crate::parse::copy::CopyColumns;
use crate::parse::fold_name;
use std::sync::Arc;

/// A table and the columns to copy.
pub struct CopyTable {
    /// The definition of the table.
    pub table: Arc<TableDescriptor>,
    /// The columns, in the order of the data.
    pub columns: Vec<ColumnDescriptor>,
}

impl CopyTable {
    /// Finds the table. `from` tells that the COPY reads data into it. Errors: 42P01, and 42809 if it is not a table.
    pub fn table(context: &StatementContext, name: &Name, from: bool) -> Result<Arc<TableDescriptor>> {
        let (schema, relation) = fold_name(name)?;
        let table = context
            .catalog
            .relation(schema.as_deref(), &relation, context.settings.search_path())
            .ok_or_else(|| context.catalog.no_relation(schema.as_deref(), &relation, context.settings.search_path()))?;
        if table.kind == RelationKind::Sequence {
            return Err(SqlError::new(
                state::WRONG_OBJECT_TYPE,
                format!("cannot copy to or from sequence \"{}\"", table.name),
            ));
        }
        if table.kind == RelationKind::View {
            let (what, hint) = if from {
                ("to", "To enable copying to a view, provide an INSTEAD OF INSERT trigger.")
            } else {
                ("from", "Try the COPY (SELECT ...) TO variant.")
            };
            let message = format!("cannot copy {what} view \"{}\"", table.name);
            return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message).hint(hint));
        }
        Ok(table)
    }

    /// Selects the named columns, or all if none is named. Errors: 42703, 42701, and 42P10 for a generated column.
    pub fn of(table: Arc<TableDescriptor>, columns: &[String]) -> Result<CopyTable> {
        let columns = if columns.is_empty() {
            table.live_columns().filter(|column| column.generated.is_none()).cloned().collect()
        } else {
            let mut found: Vec<ColumnDescriptor> = Vec::new();
            for name in columns {
                let column = table.column_named(name).ok_or_else(|| {
                    SqlError::new(
                        state::UNDEFINED_COLUMN,
                        format!("column \"{name}\" of relation \"{}\" does not exist", table.name),
                    )
                })?;
                if column.generated.is_some() {
                    let message = format!("column \"{name}\" is a generated column");
                    return Err(SqlError::new(state::INVALID_COLUMN_REFERENCE, message)
                        .detail("Generated columns cannot be used in COPY."));
                }
                if found.iter().any(|other| other.id == column.id) {
                    return Err(SqlError::new(
                        state::DUPLICATE_COLUMN,
                        format!("column \"{name}\" specified more than once"),
                    ));
                }
                found.push(column.clone());
            }
            found
        };
        Ok(CopyTable { table, columns })
    }

    /// The columns as SQL: `"a", "b"`.
    pub fn column_list(&self) -> String {
        self.columns.iter().map(|column| quoted(&column.name)).collect::<Vec<_>>().join(", ")
    }
    /// The table as SQL: `"public"."t"`.
    pub fn qualified_name(&self) -> String {
        format!("{}.{}", quoted(&self.table.schema), quoted(&self.table.name))
    }
}

/// Puts an identifier in quotes.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// For each column whether an option names it. Errors: 42703, and 42P10 for a column that is not copied.
pub fn chosen(
    option: &CopyColumns,
    what: &str,
    names: &[String],
    table: Option<&TableDescriptor>,
) -> Result<Vec<bool>> {
    match option {
        CopyColumns::All => Ok(vec![true; names.len()]),
        CopyColumns::Some(some) => {
            if let Some(unknown) = some.iter().find(|name| !names.contains(name)) {
                let message = match table {
                    Some(table) if table.column_named(unknown).is_none() => {
                        Some(format!("column \"{unknown}\" of relation \"{}\" does not exist", table.name))
                    }
                    Some(_) => None,
                    None => Some(format!("column \"{unknown}\" does not exist")),
                };
                if let Some(message) = message {
                    return Err(SqlError::new(state::UNDEFINED_COLUMN, message));
                }
                return Err(SqlError::new(
                    state::INVALID_COLUMN_REFERENCE,
                    format!("{what} column \"{unknown}\" not referenced by COPY"),
                ));
            }
            Ok(names.iter().map(|name| some.contains(name)).collect())
        }
    }
}
