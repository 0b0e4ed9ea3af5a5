//! CREATE SCHEMA. Knows no schemas.

use super::inner;
use crate::names::role_name;
use crate::source::Source;
use crate::statement::{CreateSchema, StatementKind};
use grammar::tree as ast;
use sql_error::Result;
use std::sync::Arc;

/// CREATE SCHEMA with its elements in the order in which PostgreSQL creates them.
pub(super) fn create(source: &Arc<Source>, create: ast::CreateSchema) -> Result<StatementKind> {
    let mut elements = Vec::with_capacity(create.elements.len());
    for element in create.elements {
        let mut element = inner(source, element)?;
        element.alone = false;
        elements.push(element);
    }
    elements.sort_by_key(|element| match &element.kind {
        StatementKind::Sql(tree) => match tree.as_ref() {
            ast::Statement::CreateSequence(_) => 0,
            ast::Statement::CreateTable(_) => 1,
            ast::Statement::CreateIndex(_) => 3,
            _ => 4,
        },
        StatementKind::CreateView(_) => 2,
        _ => 4,
    });
    Ok(StatementKind::CreateSchema(Box::new(CreateSchema {
        name: create.name.map(|name| name.value),
        owner: create.owner.as_ref().map(role_name),
        if_not_exists: create.if_not_exists,
        elements,
    })))
}
