//! CREATE INDEX: what it says, and how it is done in a block. Outside one, see `online`.

use super::names::Chosen;
use super::{DdlContext, backfill, create_table, names};
use crate::catalog::{ColumnId, IndexColumn, IndexDescriptor, IndexState, RelationKind, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::parse::{fold, fold_name};
use crate::types::{BaseType, SqlType};
use sqlparser::ast::{CreateIndex, Expr, IndexType, OrderBySort};
use std::sync::Arc;

/// CREATE INDEX in a block: takes the table alone, then fills the index from a snapshot taken after that.
pub(super) async fn execute(context: &DdlContext, create: &CreateIndex) -> Result<String> {
    if create.concurrently {
        return Err(SqlError::new(
            state::ACTIVE_SQL_TRANSACTION,
            "CREATE INDEX CONCURRENTLY cannot run inside a transaction block",
        ));
    }
    if target(context, create)?.is_none() {
        return Ok("CREATE INDEX".into());
    }
    let mut table = context.locked_table(&create.table_name).await?;
    let index = describe(context, create, &table).await?;
    backfill::fill_index(context, &table, &index).await?;
    table.indexes.push(index);
    let mut writer = context.writer();
    writer.put_table(&table).await?;
    writer.flush().await?;
    Ok("CREATE INDEX".into())
}

/// The table, once everything about the statement is known to be supported; `None` when IF NOT EXISTS finds an
/// index of that name. Errors: 42P01, 42P07, 42809, 42501.
pub(super) fn target(context: &DdlContext, create: &CreateIndex) -> Result<Option<Arc<TableDescriptor>>> {
    // Every part is named, so that a new one does not compile before it is thought of.
    let CreateIndex {
        name,
        table_name,
        using,
        columns: _,
        unique: _,
        concurrently: _,
        r#async,
        if_not_exists,
        include: _,
        nulls_distinct,
        with,
        predicate,
        index_options,
        alter_options,
    } = create;
    match using {
        None | Some(IndexType::BTree) => {}
        Some(other) => {
            return Err(SqlError::unsupported(format!("the index method {}", other.to_string().to_lowercase())));
        }
    }
    if predicate.is_some() {
        return Err(SqlError::unsupported("a partial index"));
    }
    if *nulls_distinct == Some(false) {
        return Err(SqlError::unsupported("NULLS NOT DISTINCT"));
    }
    if *r#async || !index_options.is_empty() || !alter_options.is_empty() {
        return Err(SqlError::syntax("syntax error in CREATE INDEX"));
    }
    let Some(table) = context.find(table_name)? else { return Err(names::no_relation(table_name)) };
    if table.kind == RelationKind::View {
        let message = format!("cannot create index on relation \"{}\"", table.name);
        return Err(
            SqlError::new(state::WRONG_OBJECT_TYPE, message).detail("This operation is not supported for views.")
        );
    }
    names::expect_kind(&table, RelationKind::Table)?;
    if !context.is_owner(table.owner) {
        let message = format!("must be owner of table {}", table.name);
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
    }
    if let Some((schema, name)) = name.as_ref().map(fold_name).transpose()? {
        if schema.is_some() {
            return Err(SqlError::syntax("an index is always in the schema of its table: leave the schema out"));
        }
        if *if_not_exists && context.catalog.name_is_taken(&table.schema, &name) {
            context.notice(state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
            return Ok(None);
        }
        Chosen::default().claim_relation(context, &table.schema, &name)?;
    }
    for option in with {
        let Expr::BinaryOp { left, .. } = option else {
            return Err(SqlError::unsupported(format!("the index option {option}")));
        };
        let Expr::Identifier(key) = left.as_ref() else {
            return Err(SqlError::unsupported(format!("the index option {option}")));
        };
        create_table::known_storage_parameter(&fold(key))?;
    }
    Ok(Some(table))
}

/// The index to be.
pub(super) async fn describe(
    context: &DdlContext,
    create: &CreateIndex,
    table: &TableDescriptor,
) -> Result<IndexDescriptor> {
    for option in &create.with {
        if let Expr::BinaryOp { left, .. } = option
            && let Expr::Identifier(key) = left.as_ref()
        {
            create_table::storage_parameter(context, &fold(key))?;
        }
    }
    let columns = create.columns.iter().map(|column| key_column(table, column)).collect::<Result<Vec<_>>>()?;
    let include = include_columns(table, &create.include)?;
    let name = match create.name.as_ref().map(fold_name).transpose()? {
        Some((_, name)) => name,
        None => {
            let names: Vec<&str> =
                columns.iter().filter_map(|key| table.column(key.column).map(|column| column.name.as_str())).collect();
            Chosen::default().relation(context, &table.schema, &table.name, Some(&names.join("_")), "idx")
        }
    };
    let numbers = context.store.numbers();
    Ok(IndexDescriptor {
        oid: numbers.oid().await?,
        name,
        storage_id: context.new_storage().await?,
        columns,
        include,
        unique: create.unique,
        primary: false,
        constraint: None,
        state: IndexState::Public,
    })
}

/// Errors: 42704 for a type whose values have no order.
pub(super) fn ordered(ty: SqlType) -> Result<()> {
    if ty.base != BaseType::Json {
        return Ok(());
    }
    let message = format!("data type {} has no default operator class for access method \"btree\"", ty.name());
    Err(SqlError::new(state::UNDEFINED_OBJECT, message)
        .hint("You must specify an operator class for the index or define a default operator class for the data type."))
}

fn key_column(table: &TableDescriptor, column: &sqlparser::ast::IndexColumn) -> Result<IndexColumn> {
    if let Some(class) = &column.operator_class {
        let class = fold_name(class)?.1;
        if !class.ends_with("_ops") || class.ends_with("_pattern_ops") {
            return Err(SqlError::unsupported(format!("the operator class {class}")));
        }
    }
    let Expr::Identifier(ident) = &column.column.expr else {
        return Err(SqlError::unsupported("an index on an expression"));
    };
    let name = fold(ident);
    let found = table
        .column_named(&name)
        .ok_or_else(|| SqlError::new(state::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist")))?;
    ordered(found.ty)?;
    let options = &column.column.options;
    let descending = match &options.sort {
        None | Some(OrderBySort::Asc) => false,
        Some(OrderBySort::Desc) => true,
        Some(other) => return Err(SqlError::unsupported(format!("{other:?} in an index"))),
    };
    Ok(IndexColumn { column: found.id, descending, nulls_first: options.nulls_first.unwrap_or(descending) })
}

fn include_columns(table: &TableDescriptor, names: &[sqlparser::ast::Ident]) -> Result<Vec<ColumnId>> {
    names
        .iter()
        .map(|ident| {
            let name = fold(ident);
            table
                .column_named(&name)
                .map(|column| column.id)
                .ok_or_else(|| SqlError::new(state::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist")))
        })
        .collect()
}
