//! DROP, COMMENT ON, and ALTER of objects of any kind. Knows no objects.

use super::database;
use crate::drop_absent::{AbsentObject, DropAbsent};
use crate::names::role_name;
use crate::role_statement::{DatabaseChange, DatabaseStatement};
use crate::statement::{Comment, CommentOn, StatementKind};
use grammar::Span;
use grammar::tree::{
    self as ast, AlterType, Ident, Name, NamedKind, ObjectChange, ObjectReference as O, OfTableKind, ParameterMode,
    PlainKind, RoutineKind, RoutineReference, TypeBase, TypeName,
};
use sql_error::{Result, SqlError, state};

/// DROP. Kinds of objects that cannot exist here have a kind of their own. Errors: 0A000.
pub(super) fn drop(drop: ast::Drop) -> Result<StatementKind> {
    let Some(first) = drop.objects.first() else { return Err(SqlError::internal("a DROP of nothing")) };
    match first {
        O::Plain(PlainKind::Database, name) => {
            let (name, if_exists, force) = (name.value.clone(), drop.if_exists, drop.force);
            return Ok(database::kind(DatabaseStatement::Drop { name, if_exists, force }));
        }
        O::Named(NamedKind::Index, _) if drop.concurrently => {
            let refused = |what: &str| {
                let message = format!("DROP INDEX CONCURRENTLY does not support {what}");
                Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message))
            };
            if drop.objects.len() > 1 {
                return refused("dropping multiple objects");
            }
            if drop.cascade {
                return refused("CASCADE");
            }
        }
        _ => {}
    }
    let exists = matches!(
        first,
        O::Named(NamedKind::Table | NamedKind::View | NamedKind::Index | NamedKind::Sequence, _)
            | O::Plain(PlainKind::Schema, _)
            | O::Routine(RoutineKind::Function, _)
            | O::Type(_)
    );
    if exists {
        return Ok(StatementKind::Sql(Box::new(ast::Statement::Drop(Box::new(drop)))));
    }
    let postfix = |object: &O| matches!(object, O::Operator(_, Some(_), None));
    if !drop.if_exists && drop.objects.iter().any(postfix) {
        return Err(SqlError::syntax("postfix operators are not supported"));
    }
    let kind = first.words();
    let objects = drop.objects.into_iter().map(absent).collect();
    Ok(StatementKind::DropAbsent(Box::new(DropAbsent { kind, if_exists: drop.if_exists, objects })))
}

/// An object of a kind that cannot exist here.
fn absent(object: O) -> AbsentObject {
    let unnamed = || Name { parts: Vec::new(), span: Span::NONE };
    let named = |name| AbsentObject { name, arguments: None, on: None, of: None };
    match object {
        O::Named(_, name) | O::Column(name) => named(name),
        O::Plain(_, name) => named(plain(name)),
        O::OfTable(_, name, table) => AbsentObject { on: Some(table), ..named(plain(name)) },
        O::Type(data_type) | O::Domain(data_type) => named(type_name(data_type)),
        O::DomainConstraint(name, _) => named(plain(name)),
        O::Routine(kind, routine) => {
            let arguments = arguments(kind, &routine);
            AbsentObject { arguments, ..named(routine.name) }
        }
        O::Operator(operator, left, right) => {
            let mut parts = operator.schema;
            parts.push(Ident { value: operator.sign, span: operator.span });
            let arguments = Some(left.into_iter().chain(right).collect());
            AbsentObject { arguments, ..named(Name { parts, span: operator.span }) }
        }
        O::OperatorClass(name, method) | O::OperatorFamily(name, method) => {
            AbsentObject { of: Some(method.value), ..named(name) }
        }
        O::Cast(from, to) => AbsentObject { arguments: Some(vec![from, to]), ..named(unnamed()) },
        O::Transform(data_type, language) => {
            AbsentObject { arguments: Some(vec![data_type]), of: Some(language.value), ..named(unnamed()) }
        }
        O::LargeObject(digits, span) => named(plain(Ident { value: digits, span })),
        O::UserMapping(role, server) => {
            let name = Ident { value: role_name(&role), span: role.span };
            AbsentObject { of: Some(server.value), ..named(plain(name)) }
        }
    }
}

fn plain(name: Ident) -> Name {
    let span = name.span;
    Name { parts: vec![name], span }
}

/// The types of the arguments that tell a routine from others of its name.
fn arguments(kind: RoutineKind, routine: &RoutineReference) -> Option<Vec<TypeName>> {
    let parameters = routine.parameters.as_ref()?.iter().chain(&routine.ordered);
    let counts = |mode| kind == RoutineKind::Procedure || mode != Some(ParameterMode::Out);
    Some(parameters.filter(|one| counts(one.mode)).map(|one| one.data_type.clone()).collect())
}

/// The name of a type. Types with a grammar of their own have their name in the catalog.
fn type_name(data_type: TypeName) -> Name {
    let Some(name) = data_type.base.catalog_name() else {
        return match data_type.base {
            TypeBase::Named(name) | TypeBase::OfColumn(name) => name,
            _ => Name { parts: Vec::new(), span: data_type.span },
        };
    };
    let part = |value: &str| Ident { value: value.into(), span: data_type.span };
    Name { parts: vec![part("pg_catalog"), part(name)], span: data_type.span }
}

/// ALTER of an object: its name, owner or schema. Errors: 0A000 for other objects and other changes.
pub(super) fn alter(alter: ast::AlterObject) -> Result<StatementKind> {
    use ObjectChange as C;
    match (&alter.object, &alter.change) {
        (O::Plain(PlainKind::Database, name), C::Rename(new)) => {
            return Ok(database::change(name.value.clone(), DatabaseChange::Rename(new.value.clone())));
        }
        (O::Plain(PlainKind::Database, name), C::Owner(owner)) => {
            return Ok(database::change(name.value.clone(), DatabaseChange::Owner(role_name(owner))));
        }
        (O::LargeObject(digits, _), C::Owner(owner)) => {
            return Ok(StatementKind::AlterLargeObject { oid: large_object(digits)?, owner: role_name(owner) });
        }
        (O::Plain(PlainKind::Schema | PlainKind::Role, _), C::Rename(_) | C::Owner(_))
        | (O::Type(_), C::Rename(_) | C::Owner(_) | C::Schema(_)) => {}
        (object, _) => return Err(SqlError::unsupported(format!("ALTER {}", object.words()))),
    }
    Ok(StatementKind::Sql(Box::new(ast::Statement::AlterObject(Box::new(alter)))))
}

/// Errors: 0A000 for changes of attributes, and for properties of base types.
pub(super) fn check_alter_type(actions: &[AlterType]) -> Result<()> {
    for action in actions {
        match action {
            AlterType::AddValue { .. } | AlterType::RenameValue(..) => {}
            AlterType::SetOptions(_) => return Err(SqlError::unsupported("ALTER TYPE SET")),
            _ => return Err(SqlError::unsupported("ALTER TYPE of an attribute")),
        }
    }
    Ok(())
}

/// COMMENT ON. Errors: 0A000 for objects of other kinds, 42601 for a column without its relation.
pub(super) fn comment(comment: ast::Comment) -> Result<StatementKind> {
    let on = match comment.object {
        O::Named(NamedKind::Table, name) => CommentOn::Relation("table", name),
        O::Named(NamedKind::View, name) => CommentOn::Relation("view", name),
        O::Named(NamedKind::Sequence, name) => CommentOn::Relation("sequence", name),
        O::Named(NamedKind::Index, name) => CommentOn::Relation("index", name),
        O::Column(mut name) => match name.parts.pop() {
            Some(column) if !name.parts.is_empty() => CommentOn::Column(name, column.value),
            _ => return Err(SqlError::syntax("column name must be qualified")),
        },
        O::OfTable(OfTableKind::Constraint, name, table) => CommentOn::Constraint(table, name.value),
        O::DomainConstraint(..) => return Err(SqlError::unsupported("COMMENT ON a domain's constraint")),
        O::LargeObject(digits, _) => CommentOn::LargeObject(large_object(&digits)?),
        O::Plain(PlainKind::Schema, name) => CommentOn::Schema(name.value),
        O::Plain(PlainKind::Database, name) => CommentOn::Database(name.value),
        O::Plain(PlainKind::Role, name) => CommentOn::Role(name.value),
        O::Type(data_type) if !data_type.array_bounds.is_empty() || data_type.set_of => {
            return Err(SqlError::unsupported("COMMENT ON an array type"));
        }
        O::Type(TypeName { base: TypeBase::Named(name), modifiers, .. }) if !modifiers.is_empty() => {
            let name = name.parts.last().map_or("", |name| name.value.as_str());
            return Err(SqlError::syntax(format!("type modifier is not allowed for type \"{name}\"")));
        }
        O::Type(data_type) => CommentOn::Type(type_name(data_type)),
        O::Routine(kind, routine) if kind != RoutineKind::Routine => {
            let word = match kind {
                RoutineKind::Procedure => "procedure",
                RoutineKind::Aggregate => "aggregate",
                _ => "function",
            };
            let Some(types) = arguments(kind, &routine) else {
                return Err(SqlError::unsupported(format!("COMMENT ON a {word} without its arguments")));
            };
            CommentOn::Function(word, routine.name, types)
        }
        object => return Err(SqlError::unsupported(format!("COMMENT ON {}", object.words()))),
    };
    // An empty comment removes the comment.
    let text = comment.text.filter(|text| !text.is_empty());
    Ok(StatementKind::Comment(Box::new(Comment { on, text })))
}

/// The OID of a large object. PostgreSQL reads a negative number as the OID with the same bits. Errors: 22003, 22P02.
pub(super) fn large_object(digits: &str) -> Result<types::Oid> {
    if let Ok(oid) = digits.parse::<u32>() {
        return Ok(oid);
    }
    if let Ok(negative) = digits.parse::<i32>() {
        return Ok(negative.cast_unsigned());
    }
    let whole = digits.trim_start_matches('-').bytes().all(|digit| digit.is_ascii_digit());
    Err(match whole {
        true => {
            let message = format!("value \"{digits}\" is out of range for type oid");
            SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, message)
        }
        false => {
            let message = format!("invalid input syntax for type oid: \"{digits}\"");
            SqlError::new(state::INVALID_TEXT_REPRESENTATION, message)
        }
    })
}
