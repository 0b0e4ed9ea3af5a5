//! Dependencies: the views that read a relation or column. DROP refuses because of them, or with CASCADE drops them.

use super::{DdlContext, drop};
use catalog::{CatalogWriter, ColumnId, TableDescriptor};
use sql_error::Result;
use std::sync::Arc;
use types::Oid;

/// An object that can be dropped and that views may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// A schema with its contents.
    Schema(Oid),
    Relation(Oid),
    Column(Oid, ColumnId),
    /// A PRIMARY KEY, by the OIDs of its table and constraint.
    Key(Oid, Oid),
}

/// A relation that must be dropped together with another object.
pub(super) struct Dependent {
    /// The relation to be dropped.
    pub relation: Arc<TableDescriptor>,
    /// The object that it depends on, for messages.
    because_of: String,
}

impl Dependent {
    /// A relation that the statement names itself.
    pub(super) fn of(relation: Arc<TableDescriptor>) -> Dependent {
        Dependent { relation, because_of: String::new() }
    }
}

/// Collects dependents in PostgreSQL's order: depth first, newest first, an object after those that depend on it.
/// Reports list them in reverse.
struct Search<'a> {
    context: &'a DdlContext,
    seen: Vec<Oid>,
    found: Vec<Dependent>,
    given: Vec<Oid>,
}

impl Search<'_> {
    fn describe(&self, object: Object) -> String {
        let relation = |oid: Oid| match self.context.catalog.relation_by_oid(oid) {
            Some(table) => format!("{} {}", drop::kind_word(&table), self.context.shown_name(&table)),
            None => format!("relation {oid}"),
        };
        match object {
            Object::Schema(oid) => {
                let schema = self.context.catalog.schema_by_oid(oid);
                format!("schema {}", schema.map(|schema| schema.name.clone()).unwrap_or_default())
            }
            Object::Relation(oid) => relation(oid),
            Object::Column(oid, id) => {
                let table = self.context.catalog.relation_by_oid(oid);
                let name = table.as_ref().and_then(|table| table.column(id)).map(|column| column.name.clone());
                format!("column {} of {}", name.unwrap_or_default(), relation(oid))
            }
            Object::Key(oid, key) => {
                let table = self.context.catalog.relation_by_oid(oid);
                let index = table.iter().flat_map(|table| &table.indexes).find(|index| index.constraint == Some(key));
                let name = index.map(|index| syntax::names::quote(&index.name)).unwrap_or_default();
                format!("constraint {name} on {}", relation(oid))
            }
        }
    }

    /// The relations that directly depend on an object, newest first.
    fn direct(&self, object: Object) -> Vec<Arc<TableDescriptor>> {
        let needs = |relation: &TableDescriptor| match object {
            // Sequences that columns own are dropped with their tables and not reported.
            Object::Schema(schema) => {
                relation.schema_oid == schema
                    && relation.sequence.as_ref().is_none_or(|sequence| sequence.owned_by.is_none())
            }
            Object::Relation(oid) => {
                relation.view.as_ref().is_some_and(|view| view.relations.iter().any(|named| named.oid == oid))
            }
            Object::Column(oid, id) => relation
                .view
                .as_ref()
                .is_some_and(|view| view.relations.iter().any(|named| named.oid == oid && named.used.contains(&id))),
            Object::Key(_, key) => relation.view.as_ref().is_some_and(|view| view.keys.contains(&key)),
        };
        let mut direct: Vec<Arc<TableDescriptor>> =
            self.context.catalog.user_relations().filter(|relation| needs(relation)).cloned().collect();
        direct.sort_by_key(|relation| std::cmp::Reverse(relation.oid));
        direct
    }

    fn search(&mut self, object: Object) {
        for relation in self.direct(object) {
            if self.seen.contains(&relation.oid) {
                continue;
            }
            self.seen.push(relation.oid);
            self.search(Object::Relation(relation.oid));
            if !self.given.contains(&relation.oid) {
                let because_of = self.describe(object);
                self.found.push(Dependent { relation, because_of });
            }
        }
    }
}

/// The relations that depend on objects to be dropped, in the order in which PostgreSQL names them.
/// Errors: 2BP01, unless `cascade`.
pub(super) fn of(context: &DdlContext, objects: &[Object], cascade: bool) -> Result<Vec<Dependent>> {
    let given = objects.iter().filter_map(|object| match object {
        Object::Relation(oid) => Some(*oid),
        _ => None,
    });
    let given: Vec<Oid> = given.collect();
    let mut search = Search { context, seen: Vec::new(), found: Vec::new(), given };
    for object in objects {
        search.search(*object);
    }
    search.found.reverse();
    if search.found.is_empty() || cascade {
        return Ok(search.found);
    }
    let lines = lines(context, &search.found);
    let error = match objects {
        [only] => drop::dependent(search.describe(*only), &lines.join("\n")),
        _ => drop::dependent_of_several(&lines.join("\n")),
    };
    Err(error)
}

/// The detail lines of a 2BP01.
pub(super) fn lines(context: &DdlContext, dependents: &[Dependent]) -> Vec<String> {
    let line = |dependent: &Dependent| {
        let relation = &dependent.relation;
        let name = context.shown_name(relation);
        format!("{} {name} depends on {}", drop::kind_word(relation), dependent.because_of)
    };
    dependents.iter().map(line).collect()
}

impl Dependent {
    /// The object that it depends on, as messages name it.
    pub(super) fn because_of(&self) -> &str {
        &self.because_of
    }
}

/// Drops dependents and notifies the client.
pub(super) async fn remove(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    dependents: &[Dependent],
) -> Result<()> {
    let lines = remove_silently(context, writer, dependents).await?;
    drop::report_cascade(context, &lines);
    Ok(())
}

/// Drops dependents. Returns their descriptions.
pub(super) async fn remove_silently(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    dependents: &[Dependent],
) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for Dependent { relation, .. } in dependents {
        lines.push(format!("{} {}", drop::kind_word(relation), context.shown_name(relation)));
        context.take_alone(relation).await?;
        writer.remove_table(relation).await?;
        for sequence in drop::owned_sequences(context, relation) {
            writer.remove_table(&sequence).await?;
        }
    }
    Ok(lines)
}
