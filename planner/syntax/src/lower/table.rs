//! Checks of CREATE TABLE, ALTER TABLE and CREATE INDEX that need no catalog: tablespaces, access methods, compression,
//! numbers of columns. Knows no tables.

use super::sequence;
use crate::options::names_to_reset;
use crate::source::Source;
use grammar::tree::{
    AlterColumn, AlterTable, AlterTableKind, Column, ColumnConstraintKind, ColumnReference, CreateIndex, CreateTable,
    Ident, IndexClauses, RelationKind, TableConstraint, TableConstraintKind, TableElement, TableStorage,
};
use sql_error::{Result, SqlError, state};

/// Access methods of indexes.
const INDEX_METHODS: [&str; 6] = ["btree", "hash", "gist", "gin", "brin", "spgist"];

/// Checks the name of a tablespace: only the default one exists. Errors: 42704, 22023.
pub(super) fn tablespace(name: &str) -> Result<()> {
    match name {
        "pg_default" => Ok(()),
        "pg_global" => Err(SqlError::new(
            state::INVALID_PARAMETER_VALUE,
            "only shared relations can be placed in pg_global tablespace",
        )),
        other => Err(SqlError::new(state::UNDEFINED_OBJECT, format!("tablespace \"{other}\" does not exist"))),
    }
}

fn optional_tablespace(name: &Option<Ident>) -> Result<()> {
    name.as_ref().map_or(Ok(()), |name| tablespace(&name.value))
}

fn no_method(name: &str) -> SqlError {
    SqlError::new(state::UNDEFINED_OBJECT, format!("access method \"{name}\" does not exist"))
}

fn table_method(name: &str) -> Result<()> {
    match name {
        "heap" => Ok(()),
        other if INDEX_METHODS.contains(&other) => {
            let message = format!("access method \"{other}\" is not of type TABLE");
            Err(SqlError::new(state::WRONG_OBJECT_TYPE, message))
        }
        other => Err(no_method(other)),
    }
}

fn compression(name: &str) -> Result<()> {
    match name {
        "pglz" | "default" => Ok(()),
        "lz4" => Err(SqlError::unsupported("COMPRESSION lz4")),
        other => Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("invalid compression method \"{other}\""))),
    }
}

/// Errors: 42704, 42809, 22023 for another access method or tablespace.
pub(super) fn check_storage(storage: &TableStorage) -> Result<()> {
    if let Some(method) = &storage.method {
        table_method(&method.value)?;
    }
    optional_tablespace(&storage.tablespace)
}

/// Checks a CREATE TABLE. Errors: as above, 0A000, and those of options of sequences.
pub(super) fn create(source: &Source, create: &CreateTable) -> Result<()> {
    if create.partition_of.is_some() {
        return Err(SqlError::unsupported("PARTITION OF"));
    }
    for element in &create.elements {
        match element {
            TableElement::Column(column) => check_column(source, column)?,
            TableElement::Constraint(constraint) => check_constraint(constraint)?,
            TableElement::Like(_) => {}
        }
    }
    check_storage(&create.storage)
}

fn check_column(source: &Source, column: &Column) -> Result<()> {
    if let Some(method) = &column.compression {
        compression(&method.value)?;
    }
    for constraint in &column.constraints {
        match &constraint.kind {
            ColumnConstraintKind::Identity { options, .. } => sequence::check(source, options)?,
            ColumnConstraintKind::Unique(index) | ColumnConstraintKind::PrimaryKey(index) => check_clauses(index)?,
            _ => {}
        }
    }
    Ok(())
}

fn check_clauses(index: &IndexClauses) -> Result<()> {
    optional_tablespace(&index.tablespace)
}

fn check_constraint(constraint: &TableConstraint) -> Result<()> {
    match &constraint.kind {
        TableConstraintKind::Unique(_, index)
        | TableConstraintKind::PrimaryKey(_, index)
        | TableConstraintKind::Exclude { index, .. } => check_clauses(index),
        _ => Ok(()),
    }
}

/// Checks a CREATE INDEX. Errors: 0A000, 42704, 22023.
pub(super) fn create_index(create: &CreateIndex) -> Result<()> {
    if let Some(method) = create.method.as_ref().map(|method| method.value.as_str()).filter(|name| *name != "btree") {
        return Err(match INDEX_METHODS.contains(&method) {
            true => SqlError::unsupported(format!("the index access method \"{method}\"")),
            false => no_method(method),
        });
    }
    optional_tablespace(&create.tablespace)
}

/// Checks an ALTER TABLE or one of its kin. Errors: as above, 42601.
pub(super) fn alter(source: &Source, alter: &AlterTable) -> Result<()> {
    match alter.kind {
        RelationKind::MaterializedView => return Err(SqlError::unsupported("ALTER MATERIALIZED VIEW")),
        RelationKind::ForeignTable => return Err(SqlError::unsupported("ALTER FOREIGN TABLE")),
        _ => {}
    }
    alter.actions.iter().try_for_each(|action| check_action(source, alter.kind, &action.kind))
}

fn check_action(source: &Source, kind: RelationKind, action: &AlterTableKind) -> Result<()> {
    use AlterTableKind as K;
    let refused = |words: &str| Err(SqlError::unsupported(format!("ALTER TABLE {words}")));
    match action {
        K::Logged(_) if kind == RelationKind::Sequence => Err(SqlError::unsupported("ALTER SEQUENCE SET LOGGED")),
        K::Tablespace(name) => tablespace(&name.value),
        K::AccessMethod(name) => table_method(&name.value),
        K::Inherit(_) => refused("INHERIT"),
        K::NoInherit(_) => refused("NO INHERIT"),
        K::OfType(_) => refused("OF"),
        K::NotOf => refused("NOT OF"),
        K::AttachPartition(..) => refused("ATTACH PARTITION"),
        K::DetachPartition(..) => refused("DETACH PARTITION"),
        K::ResetOptions(items) => names_to_reset(items).map(|_| ()),
        K::AddColumn { column, .. } => check_column(source, column),
        K::AddConstraint(constraint) => check_constraint(constraint),
        K::SequenceOptions(options) => sequence::check(source, options),
        K::AlterColumn(column, change) => {
            if let ColumnReference::Number(number, span) = column {
                if kind != RelationKind::Index {
                    let message = "cannot refer to non-index column by number";
                    return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
                }
                if !(1..=32767).contains(number) {
                    let message = "column number must be in range from 1 to 32767";
                    return Err(source.error(SqlError::new(state::INVALID_PARAMETER_VALUE, message), *span));
                }
            }
            match change {
                AlterColumn::SetCompression(method) => compression(&method.value),
                AlterColumn::ResetOptions(items) => names_to_reset(items).map(|_| ()),
                AlterColumn::AddIdentity { options, .. } | AlterColumn::SetIdentity { options, .. } => {
                    sequence::check(source, options)
                }
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}
