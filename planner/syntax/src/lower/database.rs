//! CREATE DATABASE and ALTER DATABASE. Knows no databases, and only the syntax of options.

use crate::options::text_of;
use crate::role_statement::{DatabaseChange, DatabaseOption, DatabaseStatement, DatabaseValue};
use crate::source::Source;
use crate::statement::StatementKind;
use grammar::tree::{self as ast, DatabaseAction, OptionItem, OptionValue};

/// CREATE DATABASE, or ALTER DATABASE with options.
pub(super) fn statement(source: &Source, statement: ast::DatabaseStatement) -> StatementKind {
    let name = statement.name.value;
    let altered = |name, change| DatabaseStatement::Alter { name, change };
    kind(match statement.action {
        DatabaseAction::Create(items) => DatabaseStatement::Create { name, options: options(source, items) },
        DatabaseAction::Alter(items) => altered(name, DatabaseChange::Options(options(source, items))),
        DatabaseAction::Tablespace(tablespace) => altered(name, DatabaseChange::Tablespace(tablespace.value)),
        DatabaseAction::RefreshCollation => altered(name, DatabaseChange::RefreshCollation),
    })
}

/// Another change of a database.
pub(super) fn change(name: String, change: DatabaseChange) -> StatementKind {
    kind(DatabaseStatement::Alter { name, change })
}

pub(super) fn kind(statement: DatabaseStatement) -> StatementKind {
    StatementKind::Database(Box::new(statement))
}

fn options(source: &Source, items: Vec<OptionItem>) -> Vec<DatabaseOption> {
    let option = |item: OptionItem| DatabaseOption {
        position: source.start(item.span),
        value: item.value.map(|value| match value {
            OptionValue::Number(number) => DatabaseValue::Number(number),
            other => DatabaseValue::Text(text_of(&other)),
        }),
        name: item.name.value,
    };
    items.into_iter().map(option).collect()
}
