//! CREATE INDEX: takes the table alone, then fills the index from a snapshot taken after that.

use super::names::Chosen;
use super::{DdlContext, backfill, create_table, names};
use crate::catalog::{ColumnId, IndexColumn, IndexDescriptor, IndexState, RelationKind, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::parse::{fold, fold_name};
use sqlparser::ast::{CreateIndex, Expr, IndexType, OrderBySort};

/// CREATE INDEX.
pub(super) async fn execute(context: &DdlContext, create: &CreateIndex) -> Result<String> {
    match &create.using {
        None | Some(IndexType::BTree) => {}
        Some(other) => {
            return Err(SqlError::unsupported(format!("the index method {}", other.to_string().to_lowercase())));
        }
    }
    if create.predicate.is_some() {
        return Err(SqlError::unsupported("a partial index"));
    }
    if create.concurrently {
        return Err(SqlError::unsupported("CREATE INDEX CONCURRENTLY"));
    }
    if create.nulls_distinct == Some(false) {
        return Err(SqlError::unsupported("NULLS NOT DISTINCT"));
    }
    if create.r#async || !create.index_options.is_empty() || !create.alter_options.is_empty() {
        return Err(SqlError::syntax("syntax error in CREATE INDEX"));
    }
    let Some(table) = context.find(&create.table_name)? else { return Err(names::no_relation(&create.table_name)) };
    names::expect_kind(&table, RelationKind::Table)?;
    let mut chosen = Chosen::default();
    let given = create.name.as_ref().map(fold_name).transpose()?;
    if let Some((schema, name)) = &given {
        if schema.is_some() {
            return Err(SqlError::syntax("an index is always in the schema of its table: leave the schema out"));
        }
        if create.if_not_exists && context.catalog.name_is_taken(&table.schema, name) {
            context.notice(state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
            return Ok("CREATE INDEX".into());
        }
        chosen.claim_relation(context, &table.schema, name)?;
    }
    for option in &create.with {
        if let Expr::BinaryOp { left, .. } = option
            && let Expr::Identifier(key) = left.as_ref()
        {
            create_table::storage_parameter(context, &fold(key))?;
        } else {
            return Err(SqlError::unsupported(format!("the index option {option}")));
        }
    }
    let mut table = context.locked_table(&create.table_name).await?;
    let columns = create.columns.iter().map(|column| key_column(&table, column)).collect::<Result<Vec<_>>>()?;
    let include = include_columns(&table, &create.include)?;
    let name = match given {
        Some((_, name)) => name,
        None => {
            let names: Vec<&str> =
                columns.iter().filter_map(|key| table.column(key.column).map(|column| column.name.as_str())).collect();
            chosen.relation(context, &table.schema, &table.name, Some(&names.join("_")), "idx")
        }
    };
    let numbers = context.store.numbers();
    let index = IndexDescriptor {
        oid: numbers.oid().await?,
        name,
        storage_id: numbers.storage_id().await?,
        columns,
        include,
        unique: create.unique,
        primary: false,
        constraint: None,
        state: IndexState::Public,
    };
    backfill::fill_index(context, &table, &index).await?;
    table.indexes.push(index);
    let mut writer = context.writer();
    writer.put_table(&table).await?;
    writer.flush().await?;
    Ok("CREATE INDEX".into())
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
