//! `information_schema.views`, `view_table_usage` and `view_column_usage`.

use super::definition::{Definition, Fill, Rows, value};
use super::deparse::Context;
use super::describe;
use super::view_definition::{Layout, view_definition};
use super::visible::{ON_COLUMNS, ON_TABLES, Visible};
use catalog::CheckOption;
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 13483,
    name: "information_schema.views",
    columns: "table_catalog name, table_schema name, table_name name, view_definition varchar, check_option varchar, \
              is_updatable varchar, is_insertable_into varchar, is_trigger_updatable varchar, is_trigger_deletable \
              varchar, is_trigger_insertable_into varchar",
    fill: Fill::Now(rows),
};

pub(super) const TABLE_USAGE: Definition = Definition {
    oid: 13478,
    name: "information_schema.view_table_usage",
    columns: "view_catalog name, view_schema name, view_name name, table_catalog name, table_schema name, table_name name",
    fill: Fill::Now(table_usage),
};

pub(super) const COLUMN_USAGE: Definition = Definition {
    oid: 13468,
    name: "information_schema.view_column_usage",
    columns: "view_catalog name, view_schema name, view_name name, table_catalog name, table_schema name, table_name \
              name, column_name name",
    fill: Fill::Now(column_usage),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let reader = Context::of_statement(context);
    let visible = Visible::new(context);
    for view in context.catalog.relations().iter().filter(|table| describe::relation_kind(table) == "v") {
        if !visible.table(view, ON_TABLES, ON_COLUMNS) {
            continue;
        }
        let events = binder::events(&context.catalog, view, None);
        let owned = visible.owns(view.owner);
        let definition = owned.then(|| view_definition(&reader, view, Layout::PLAIN)).flatten();
        rows.add([
            ("table_catalog", value::text(&context.catalog.database().name)),
            ("table_schema", value::text(&view.schema)),
            ("table_name", value::text(&view.name)),
            ("view_definition", value::optional(definition.as_deref())),
            (
                "check_option",
                value::text(match view.view.as_ref().and_then(|view| view.check_option) {
                    None => "NONE",
                    Some(CheckOption::Local) => "LOCAL",
                    Some(CheckOption::Cascaded) => "CASCADED",
                }),
            ),
            ("is_updatable", value::text(if events & 20 == 20 { "YES" } else { "NO" })),
            ("is_insertable_into", value::text(if events & 8 == 8 { "YES" } else { "NO" })),
            ("is_trigger_updatable", value::text("NO")),
            ("is_trigger_deletable", value::text("NO")),
            ("is_trigger_insertable_into", value::text("NO")),
        ])?;
    }
    Ok(())
}

fn table_usage(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let visible = Visible::new(context);
    let database = &context.catalog.database().name;
    for view in context.catalog.user_relations() {
        let Some(stored) = &view.view else { continue };
        let mut seen = Vec::new();
        for relation in &stored.relations {
            let table = context.catalog.relation_by_oid(relation.oid).filter(|table| visible.owns(table.owner));
            let Some(table) = table else { continue };
            if seen.contains(&table.oid) {
                continue;
            }
            seen.push(table.oid);
            rows.add([
                ("view_catalog", value::text(database)),
                ("view_schema", value::text(&view.schema)),
                ("view_name", value::text(&view.name)),
                ("table_catalog", value::text(database)),
                ("table_schema", value::text(&table.schema)),
                ("table_name", value::text(&table.name)),
            ])?;
        }
    }
    Ok(())
}

fn column_usage(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let visible = Visible::new(context);
    let database = &context.catalog.database().name;
    for view in context.catalog.user_relations() {
        let Some(stored) = &view.view else { continue };
        let mut seen = Vec::new();
        for relation in &stored.relations {
            let table = context.catalog.relation_by_oid(relation.oid).filter(|table| visible.owns(table.owner));
            let Some(table) = table else { continue };
            for id in &relation.used {
                let Some(column) = table.column(*id).filter(|_| !seen.contains(&(table.oid, *id))) else { continue };
                seen.push((table.oid, *id));
                rows.add([
                    ("view_catalog", value::text(database)),
                    ("view_schema", value::text(&view.schema)),
                    ("view_name", value::text(&view.name)),
                    ("table_catalog", value::text(database)),
                    ("table_schema", value::text(&table.schema)),
                    ("table_name", value::text(&table.name)),
                    ("column_name", value::text(&column.name)),
                ])?;
            }
        }
    }
    Ok(())
}
