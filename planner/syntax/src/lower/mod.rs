//! From the grammar's trees to [`StatementKind`]s: fills in defaults, checks options, and refuses what PercoSQL lacks. One
//! file per group of statements. Knows no objects.

mod copy;
mod cursor;
mod database;
mod explain;
mod grant;
mod object;
mod query;
mod refused;
mod schema;
mod sequence;
mod settings;
mod table;
mod table_as;
mod transaction;
mod upkeep;
mod view;

pub(crate) use query::check_expression;
pub use query::{StrengthWords, strength_words};
pub use table_as::INTO_NOT_HERE;

use super::precision;
use super::source::Source;
use super::statement::{Statement, StatementKind};
use grammar::Span;
use grammar::tree::{self as ast, RoleOptionKind};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;

/// The statement of a tree that stands at a place of a text. Errors: 0A000 and those of its options.
pub(crate) fn statement(source: &Arc<Source>, tree: ast::Statement, span: Span) -> Result<Statement> {
    let reduced = precision::reduced(source, &tree);
    let text = source.slice(span).into();
    let kind = kind(source, tree, span)?;
    Ok(Statement { kind, text, source: Arc::clone(source), reduced, alone: true })
}

/// The statement of a tree that knows its place.
fn inner(source: &Arc<Source>, tree: ast::Statement) -> Result<Statement> {
    let span = place(&tree);
    statement(source, tree, span)
}

/// The place of a statement that may stand in another one.
fn place(tree: &ast::Statement) -> Span {
    use ast::Statement as S;
    match tree {
        S::Query(query) => query.span,
        S::Insert(insert) => insert.span,
        S::Update(update) => update.span,
        S::Delete(delete) => delete.span,
        S::Merge(merge) => merge.span,
        S::Execute(execute) => execute.span,
        S::CreateTable(create) => create.span,
        S::CreateTableAs(create) => create.span,
        S::CreateView(create) => create.span,
        S::CreateIndex(create) => create.span,
        S::CreateSequence(create) => create.span,
        S::CreateTrigger(create) => create.span,
        S::Grant(grant) => grant.span,
        _ => Span::NONE,
    }
}

fn kind(source: &Arc<Source>, tree: ast::Statement, span: Span) -> Result<StatementKind> {
    use ast::Statement as S;
    let sql = |tree| Ok(StatementKind::Sql(Box::new(tree)));
    match tree {
        S::Query(query) => table_as::query(source, query, span),
        S::Insert(_) | S::Update(_) | S::Delete(_) | S::Merge(_) => {
            query::check(source, &tree)?;
            sql(tree)
        }
        S::CreateTable(create) => {
            query::check_parts(source, create.as_ref())?;
            table::create(source, &create)?;
            sql(S::CreateTable(create))
        }
        S::CreateIndex(create) => {
            query::check_parts(source, create.as_ref())?;
            table::create_index(&create)?;
            sql(S::CreateIndex(create))
        }
        S::AlterTable(alter) => {
            query::check_parts(source, alter.as_ref())?;
            table::alter(source, &alter)?;
            sql(S::AlterTable(alter))
        }
        S::CreateSequence(create) => {
            sequence::check(source, &create.options)?;
            sql(S::CreateSequence(create))
        }
        S::AlterType(alter) => {
            object::check_alter_type(&alter.1)?;
            sql(S::AlterType(alter))
        }
        S::Drop(drop) => object::drop(*drop),
        S::AlterObject(alter) => object::alter(*alter),
        S::Comment(comment) => object::comment(*comment),
        S::Role(role) => role_statement(*role),
        S::Truncate(_) | S::CreateType(_) | S::DropRole(_) | S::CreateExtension(_) => sql(tree),
        S::Copy(copy) => copy::copy(source, *copy),
        S::CreateTableAs(create) => table_as::create(source, *create),
        S::CreateView(create) => view::create(source, *create),
        S::CreateSchema(create) => schema::create(source, *create),
        S::Grant(grant) => grant::privileges(*grant),
        S::GrantRole(grant) => Ok(grant::roles(&grant)),
        S::DefaultPrivileges(alter) => Ok(grant::default_privileges(*alter)),
        S::Owned(owned) => Ok(grant::owned(&owned)),
        S::AlterSetting(alter) => settings::alter(*alter),
        S::Database(statement) => Ok(database::statement(source, *statement)),
        S::Transaction(transaction) => transaction::transaction(transaction),
        S::SetConstraints(ast::SetConstraints { names, deferred }) => {
            Ok(StatementKind::SetConstraints { names, deferred })
        }
        S::Setting(setting) => settings::setting(setting),
        S::Prepare(prepare) => cursor::prepare(source, *prepare),
        S::Execute(execute) => cursor::execute(source, *execute),
        S::Deallocate(name) => Ok(StatementKind::Deallocate(name.map(|name| name.value))),
        S::DeclareCursor(declare) => cursor::declare(source, *declare),
        S::Fetch(fetch) => Ok(cursor::fetch(fetch)),
        S::Close(name) => Ok(StatementKind::CloseCursor(name.map(|name| name.value))),
        S::Listen(channel) => Ok(StatementKind::Listen(channel.value)),
        S::Unlisten(channel) => Ok(StatementKind::Unlisten(channel.map(|channel| channel.value))),
        S::Notify(ast::Notify { channel, payload }) => {
            Ok(StatementKind::Notify { channel: channel.value, payload: payload.unwrap_or_default() })
        }
        S::LockTable(lock) => Ok(upkeep::lock(*lock)),
        S::Discard(what) => Ok(StatementKind::Discard(what)),
        S::Explain(explain) => explain::explain(source, *explain),
        S::Vacuum(vacuum) => upkeep::vacuum(source, *vacuum),
        S::Reindex(reindex) => upkeep::reindex(source, *reindex),
        S::Checkpoint => Ok(StatementKind::Checkpoint),
        S::Check(ast::Check { index: true, name }) => Ok(StatementKind::CheckIndex(name)),
        S::Check(ast::Check { index: false, name }) => Ok(StatementKind::CheckTable(name)),
        tree => Err(SqlError::unsupported(refused::words(&tree))),
    }
}

/// CREATE ROLE and ALTER ROLE. ALTER GROUP with members is a GRANT. Errors: 22023.
fn role_statement(mut role: ast::RoleStatement) -> Result<StatementKind> {
    if let Some((add, members)) = role.members.take() {
        return Ok(grant::members(&role.role, add, &members));
    }
    for option in &role.options {
        if let RoleOptionKind::ConnectionLimit(limit) = option.kind
            && limit < -1
        {
            let message = format!("invalid connection limit: {limit}");
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
    }
    Ok(StatementKind::Sql(Box::new(ast::Statement::Role(Box::new(role)))))
}

/// The values of names.
fn values(names: Vec<ast::Ident>) -> Vec<String> {
    names.into_iter().map(|name| name.value).collect()
}
