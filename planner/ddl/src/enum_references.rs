//! Finds and renames references to an enum or its labels in the texts of views and stored expressions. Must not know
//! why the enum changes.

use super::enumeration::type_named;
use super::{DdlContext, canonical, evaluate};
use binder::{bind_stored_view, catalog_type};
use catalog::TableDescriptor;
use executor::Slots;
use sql_error::{Result, SqlError, state};
use std::ops::{ControlFlow, Range};
use syntax::ast::{ColumnDefinition, Expr, ExprKind, FromItem, Literal, Name, TypeBase, TypeName};
use syntax::names::quote;
use syntax::visit::{Visit, Visitor};
use syntax::{Span, StatementKind, parse, parse_expression};
use types::enumeration::EnumDescriptor;

/// The stored texts of a relation.
#[derive(Clone, Copy)]
enum Text<'a> {
    /// The query of a view.
    Query,
    /// The DEFAULT of a column of this type, or the value of its older rows.
    Default(&'a catalog::ColumnDescriptor),
    /// An expression over the table's columns.
    Expression,
}

/// The parts of a text that may be about enums.
#[derive(Default)]
struct Said {
    /// The names of types in casts, constants and lists of column definitions.
    types: Vec<Name>,
    /// The strings and their places.
    strings: Vec<(String, Span)>,
}

impl Said {
    fn note(&mut self, ty: &TypeName) {
        if let TypeBase::Named(name) = &ty.base {
            self.types.push(name.clone());
        }
    }
    fn note_columns(&mut self, columns: &[ColumnDefinition]) {
        columns.iter().for_each(|column| self.note(&column.data_type));
    }
}

impl Visitor for Said {
    type Break = ();
    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match &expr.kind {
            ExprKind::Cast { data_type, .. } => self.note(data_type),
            ExprKind::Literal(Literal::String(text)) => self.strings.push((text.clone(), expr.span)),
            _ => {}
        }
        ControlFlow::Continue(())
    }
    fn pre_visit_from(&mut self, item: &FromItem) -> ControlFlow<()> {
        if let FromItem::Function { functions, alias, .. } = item {
            functions.iter().for_each(|function| self.note_columns(&function.definitions));
            alias.iter().for_each(|alias| self.note_columns(&alias.definitions));
        }
        ControlFlow::Continue(())
    }
}

/// What a text says. Errors: as of a statement.
fn said(text: &str, of: Text<'_>) -> Result<Said> {
    let mut said = Said::default();
    match of {
        Text::Query => match parse(text)?.into_iter().next().map(|statement| statement.kind) {
            Some(StatementKind::Sql(tree)) => {
                let _ = tree.visit(&mut said);
            }
            _ => return Err(SqlError::internal("a view of something that is no query")),
        },
        Text::Default(_) | Text::Expression => {
            let _ = parse_expression(text)?.0.visit(&mut said);
        }
    }
    Ok(said)
}

/// The bytes of a place in a text.
fn bytes(span: Span) -> Range<usize> {
    let byte = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
    byte(span.start)..byte(span.end)
}

/// The enums that a text names, each with its byte range in the text.
fn named(context: &DdlContext, text: &str, of: Text<'_>) -> Result<Vec<(&'static EnumDescriptor, Range<usize>)>> {
    let path = context.settings.search_path();
    let mut found: Vec<(&'static EnumDescriptor, Range<usize>)> = Vec::new();
    for name in said(text, of)?.types {
        let Ok(ty) = catalog_type(&type_named(&name), &context.catalog, path, false) else { continue };
        let place = bytes(name.span);
        if let Some(labels) = ty.as_enum()
            && !found.iter().any(|(_, other)| *other == place)
        {
            found.push((labels.descriptor(), place));
        }
    }
    found.sort_by_key(|(_, place)| place.start);
    Ok(found)
}

/// Replaces ranges of a text. They must be in order.
fn with(text: &str, places: impl DoubleEndedIterator<Item = (Range<usize>, String)>) -> String {
    let mut new = text.to_string();
    for (place, name) in places.rev() {
        if new.get(place.clone()).is_some() {
            new.replace_range(place, &name);
        }
    }
    new
}

/// A view's query with schema-qualified enum names, independent of search_path.
pub(super) fn with_schemas(context: &DdlContext, query: &str) -> Result<String> {
    let found = named(context, query, Text::Query)?;
    Ok(with(query, found.into_iter().map(|(ty, place)| (place, super::enumeration::qualified(ty)))))
}

/// Whether the query of a view names an enum.
pub(super) fn view_names(context: &DdlContext, query: &str, ty: &EnumDescriptor) -> bool {
    named(context, query, Text::Query).is_ok_and(|found| found.iter().any(|(other, _)| other.oid == ty.oid))
}

/// Whether a stored expression names an enum.
pub(super) fn expression_names(context: &DdlContext, text: &str, ty: &EnumDescriptor) -> bool {
    named(context, text, Text::Expression).is_ok_and(|found| found.iter().any(|(other, _)| other.oid == ty.oid))
}

/// A change of an enum's names.
#[derive(Clone, Copy)]
pub(super) enum Renaming<'a> {
    /// The enum gets this name.
    Type(&'a EnumDescriptor, &'a str),
    /// The first label becomes the second.
    Label(&'a EnumDescriptor, &'a str, &'a str),
}

/// The relations whose texts name the enum or label, with the texts changed. Errors: as in a statement.
pub(super) fn renamed(context: &DdlContext, renaming: Renaming<'_>) -> Result<Vec<TableDescriptor>> {
    let mut changed = Vec::new();
    for relation in context.catalog.user_relations() {
        let mut new = TableDescriptor::clone(relation);
        rename(context, relation, &mut new, renaming)?;
        if new != **relation {
            new.version += 1;
            changed.push(new);
        }
    }
    Ok(changed)
}

/// Changes the texts of a relation. Some may already have been changed otherwise. Errors: as in a statement.
pub(super) fn rename(
    context: &DdlContext,
    relation: &TableDescriptor,
    new: &mut TableDescriptor,
    renaming: Renaming<'_>,
) -> Result<()> {
    let text = |stored: &mut String, of: Text<'_>| -> Result<()> {
        if let Some(text) = renamed_text(context, relation, stored, of, renaming)? {
            *stored = text;
        }
        Ok(())
    };
    if let Some(view) = &mut new.view {
        text(&mut view.query, Text::Query)?;
    }
    for (column, old) in new.columns.iter_mut().zip(&relation.columns).filter(|(column, _)| !column.dropped) {
        column.default.iter_mut().chain(&mut column.missing).try_for_each(|stored| text(stored, Text::Default(old)))?;
        column.generated.iter_mut().try_for_each(|stored| text(stored, Text::Expression))?;
    }
    new.checks.iter_mut().try_for_each(|check| text(&mut check.expression, Text::Expression))?;
    for index in &mut new.indexes {
        index.expressions.iter_mut().try_for_each(|key| text(&mut key.text, Text::Expression))?;
        index.predicate.iter_mut().try_for_each(|stored| text(stored, Text::Expression))?;
    }
    Ok(())
}

fn renamed_text(
    context: &DdlContext,
    relation: &TableDescriptor,
    stored: &str,
    of: Text<'_>,
    renaming: Renaming<'_>,
) -> Result<Option<String>> {
    match renaming {
        Renaming::Type(ty, name) => {
            if !stored.contains(&ty.name) {
                return Ok(None);
            }
            let found: Vec<_> =
                named(context, stored, of)?.into_iter().filter(|(other, _)| other.oid == ty.oid).collect();
            let places = found.into_iter().map(|(_, place)| (place, name.to_string()));
            Ok(Some(with(stored, places)))
        }
        Renaming::Label(ty, from, to) => relabelled(context, relation, stored, of, (ty, from, to)),
    }
}

/// Finds the literals of the enum by substituting an unknown label: exactly these literals become unreadable.
fn relabelled(
    context: &DdlContext,
    relation: &TableDescriptor,
    stored: &str,
    of: Text<'_>,
    (ty, from, to): (&EnumDescriptor, &str, &str),
) -> Result<Option<String>> {
    if !stored.contains(&from.replace('\'', "''")) {
        return Ok(None);
    }
    let twin = |other: &EnumDescriptor| {
        other.oid != ty.oid && other.name == ty.name && other.labels.iter().any(|label| label.name == from)
    };
    if context.catalog.enums().any(twin) {
        return Err(SqlError::unsupported("renaming a label that an enum of the same name has too"));
    }
    let mut nowhere = from.to_string();
    while ty.labels.iter().any(|label| label.name == nowhere) {
        nowhere.push('?');
    }
    let mut places = Vec::new();
    for (text, span) in said(stored, of)?.strings {
        let (Some(probe), Some(new)) = (replaced(&text, from, &nowhere), replaced(&text, from, to)) else { continue };
        let place = bytes(span);
        let probe = with(stored, std::iter::once((place.clone(), canonical::literal(&probe))));
        if reads_label(context, relation, &probe, of, (ty, &nowhere)) {
            places.push((place, canonical::literal(&new)));
        }
    }
    places.sort_by_key(|(place, _)| place.start);
    Ok((!places.is_empty()).then(|| with(stored, places.into_iter())))
}

/// A literal's text with another label: the whole text, or elements of an array.
fn replaced(text: &str, from: &str, to: &str) -> Option<String> {
    if text == from {
        return Some(to.to_string());
    }
    if !text.starts_with('{') {
        return None;
    }
    let quoted = |label: &str| format!("\"{}\"", label.replace('\\', "\\\\").replace('"', "\\\""));
    let (old, new) = (quoted(from), quoted(to));
    let mut shown = String::new();
    let mut element = String::new();
    let (mut inside, mut found) = (false, false);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                element.push(character);
                element.extend(characters.next());
            }
            '"' => {
                inside = !inside;
                element.push(character);
            }
            '{' | '}' | ',' if !inside => {
                let plain = element.trim();
                if plain == old || plain == from && !plain.is_empty() {
                    shown.push_str(&new);
                    found = true;
                } else {
                    shown.push_str(&element);
                }
                element.clear();
                shown.push(character);
            }
            other => element.push(other),
        }
    }
    shown.push_str(&element);
    found.then_some(shown)
}

/// Whether reading a text fails because of an unknown label.
fn reads_label(
    context: &DdlContext,
    relation: &TableDescriptor,
    text: &str,
    of: Text<'_>,
    (ty, label): (&EnumDescriptor, &str),
) -> bool {
    let slots = Slots::new();
    let read = match (of, &relation.view) {
        (Text::Query, Some(view)) => {
            let probe = catalog::ViewDescriptor { query: text.to_string(), ..view.clone() };
            evaluate::bound_unchecked(context, &slots, |bind| bind_stored_view(&probe, bind))
        }
        (Text::Query, None) => Ok(()),
        (Text::Default(column), _) => evaluate::validate_default(context, &column.name, column.ty, text),
        (Text::Expression, _) => evaluate::stored(context, relation, text, "expression").map(|_| ()),
    };
    read.is_err_and(|error| {
        let message = &error.fields().message;
        error.state() == state::INVALID_TEXT_REPRESENTATION
            && *message == format!("invalid input value for enum {}: \"{label}\"", quote(&ty.name))
    })
}
