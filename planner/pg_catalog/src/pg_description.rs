//! `pg_description` and `pg_shdescription`: the comments of COMMENT ON, and PostgreSQL's comments on its own objects.

use super::definition::{Definition, Fill, Rows, value};
use super::{pg_extension, pg_largeobject};
use catalog::{Catalog, CommentOf};
use context::large_object::LargeObjects;
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::Result;
use types::{Datum, Oid};

pub(super) const VIEW: Definition = Definition {
    oid: 2609,
    name: "pg_catalog.pg_description",
    columns: "objoid oid=0, classoid oid=0, objsubid int4=0, description text=",
    fill: Fill::Later(rows),
};

pub(super) const SHARED: Definition = Definition {
    oid: 2396,
    name: "pg_catalog.pg_shdescription",
    columns: "objoid oid=0, classoid oid=0, description text=",
    fill: Fill::Now(shared),
};

const PG_CLASS: Oid = 1259;
const PG_CONSTRAINT: Oid = 2606;
const PG_TYPE: Oid = 1247;
const PG_NAMESPACE: Oid = 2615;
const PG_DATABASE: Oid = 1262;
const PG_AUTHID: Oid = 1260;

/// A comment: catalog, object, column and text.
struct Comment {
    class: Oid,
    object: Oid,
    column: i32,
    text: String,
}

/// All comments, or those on objects with one OID.
fn comments(catalog: &Catalog, only: Option<Oid>) -> Vec<Comment> {
    let mut all = Vec::new();
    let mut add = |class, object, column, text: &str| {
        if !text.is_empty() && only.is_none_or(|only| only == object) {
            all.push(Comment { class, object, column, text: text.to_string() });
        }
    };
    let relations: Vec<_> = match only {
        None => catalog.user_relations().cloned().collect(),
        Some(object) => super::asked::relations_of_object(catalog, object),
    };
    for table in &relations {
        for (of, text) in &table.comments {
            match of {
                CommentOf::Relation => add(PG_CLASS, table.oid, 0, text),
                CommentOf::Column(id) if table.column(*id).is_some_and(|column| !column.dropped) => {
                    add(PG_CLASS, table.oid, i32::from(*id), text);
                }
                CommentOf::Index(oid) if table.indexes.iter().any(|index| index.oid == *oid) => {
                    add(PG_CLASS, *oid, 0, text);
                }
                CommentOf::Constraint(oid)
                    if table.checks.iter().any(|check| check.oid == *oid)
                        || table.foreign_keys.iter().any(|key| key.oid == *oid)
                        || table.indexes.iter().any(|index| index.constraint == Some(*oid)) =>
                {
                    add(PG_CONSTRAINT, *oid, 0, text);
                }
                _ => {}
            }
        }
    }
    add(pg_extension::CLASS, pg_extension::PLPGSQL, 0, pg_extension::COMMENT);
    for ty in catalog.enums() {
        add(PG_TYPE, ty.oid, 0, ty.comment.as_deref().unwrap_or_default());
    }
    for schema in catalog.schemas() {
        let given = match schema.name.as_str() {
            "pg_catalog" => "system catalog schema",
            "public" if schema.oid == catalog::builder::PUBLIC_SCHEMA_OID => "standard public schema",
            _ => "",
        };
        add(PG_NAMESPACE, schema.oid, 0, schema.comment.as_deref().unwrap_or(given));
    }
    for database in catalog.databases() {
        let given = match database.name.as_str() {
            "postgres" => "default administrative connection database",
            "template1" => "default template for new databases",
            "template0" => "unmodifiable empty database",
            _ => "",
        };
        add(PG_DATABASE, database.oid, 0, database.comment.as_deref().unwrap_or(given));
    }
    for role in catalog.roles() {
        add(PG_AUTHID, role.oid, 0, role.comment.as_deref().unwrap_or_default());
    }
    all
}

/// The comment on an object of a catalog, or on its column. `None` as the catalog means any. `shared` selects objects
/// that belong to no database.
pub(super) fn comment(
    catalog: &Catalog,
    class: Option<&str>,
    object: Oid,
    column: i32,
    shared: bool,
) -> Option<String> {
    let class = match class {
        None => None,
        Some("pg_class") => Some(PG_CLASS),
        Some("pg_constraint") => Some(PG_CONSTRAINT),
        Some("pg_type") => Some(PG_TYPE),
        Some("pg_namespace") => Some(PG_NAMESPACE),
        Some("pg_database") => Some(PG_DATABASE),
        Some("pg_authid") => Some(PG_AUTHID),
        Some("pg_extension") => Some(pg_extension::CLASS),
        Some(_) => return None,
    };
    comments(catalog, Some(object))
        .into_iter()
        .find(|comment| {
            comment.object == object
                && comment.column == column
                && class.is_none_or(|class| class == comment.class)
                && is_shared(comment) == shared
        })
        .map(|comment| comment.text)
}

fn is_shared(comment: &Comment) -> bool {
    comment.class == PG_DATABASE || comment.class == PG_AUTHID
}

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    let object = rows.asked("objoid").filter(|objects| objects.len() == 1);
    let object = object.and_then(|objects| objects.iter().find_map(super::asked::oid_of));
    Box::pin(async move {
        let mut all = comments(&context.catalog, object);
        for (object, of) in LargeObjects::of(context).before(context).all().await? {
            let text = of.comment.map(|text| Comment { class: pg_largeobject::CLASS, object, column: 0, text });
            all.extend(text);
        }
        for comment in all.iter().filter(|comment| !is_shared(comment)) {
            rows.add([
                ("objoid", value::oid(comment.object)),
                ("classoid", value::oid(comment.class)),
                ("objsubid", Datum::from(comment.column)),
                ("description", value::text(&comment.text)),
            ])?;
        }
        Ok(())
    })
}

fn shared(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for comment in comments(&context.catalog, None).iter().filter(|comment| is_shared(comment)) {
        rows.add([
            ("objoid", value::oid(comment.object)),
            ("classoid", value::oid(comment.class)),
            ("description", value::text(&comment.text)),
        ])?;
    }
    Ok(())
}
