//! `information_schema.constraint_table_usage`, `column_udt_usage`, `data_type_privileges`, `collations` and
//! `collation_character_set_applicability`: dependencies between objects.

use super::PG_CATALOG;
use super::definition::{Definition, Fill, Rows, value};
use super::object_names::COLLATIONS;
use super::pg_type::type_facts;
use super::visible::Visible;
use catalog::builder::SUPERUSER_OID;
use catalog::{ColumnDescriptor, RelationKind};
use executor::StatementContext;
use sql_error::Result;
use types::{BaseType, Datum};

pub(super) const CONSTRAINT_TABLES: Definition = Definition {
    oid: 13305,
    name: "information_schema.constraint_table_usage",
    columns: "table_catalog name, table_schema name, table_name name, constraint_catalog name, constraint_schema name, \
              constraint_name name",
    fill: Fill::Now(constraint_tables),
};

pub(super) const COLUMN_TYPES: Definition = Definition {
    oid: 13290,
    name: "information_schema.column_udt_usage",
    columns: "udt_catalog name, udt_schema name, udt_name name, table_catalog name, table_schema name, table_name name, \
              column_name name",
    fill: Fill::Now(column_types),
};

/// Columns, with the generated columns that are computed from them.
pub(super) const GENERATED: Definition = Definition {
    oid: 13275,
    name: "information_schema.column_column_usage",
    columns: "table_catalog name, table_schema name, table_name name, column_name name, dependent_column name",
    fill: Fill::Now(|context, rows| {
        let visible = Visible::new(context);
        for table in context.catalog.user_relations().filter(|table| visible.owns(table.owner)) {
            for generated in table.live_columns() {
                let Some(text) = &generated.generated else { continue };
                let used = binder::canonical::referenced(&syntax::parse_expression(text)?.0)?;
                for column in table.live_columns().filter(|column| used.contains(&column.name)) {
                    rows.add([
                        ("table_catalog", value::text(&context.catalog.database().name)),
                        ("table_schema", value::text(&table.schema)),
                        ("table_name", value::text(&table.name)),
                        ("column_name", value::text(&column.name)),
                        ("dependent_column", value::text(&generated.name)),
                    ])?;
                }
            }
        }
        Ok(())
    }),
};

pub(super) const DATA_TYPES: Definition = Definition {
    oid: 13488,
    name: "information_schema.data_type_privileges",
    columns: "object_catalog name, object_schema name, object_name name, object_type varchar, dtd_identifier name",
    fill: Fill::Now(data_types),
};

pub(super) const COLLATION_NAMES: Definition = Definition {
    oid: 13265,
    name: "information_schema.collations",
    columns: "collation_catalog name, collation_schema name, collation_name name, pad_attribute varchar",
    fill: Fill::Now(|context, rows| {
        for (_, name) in &COLLATIONS {
            let pad = ("pad_attribute", value::text("NO PAD"));
            let [catalog, schema, name] = collation(context, name);
            rows.add([catalog, schema, name, pad])?;
        }
        Ok(())
    }),
};

pub(super) const COLLATION_SETS: Definition = Definition {
    oid: 13270,
    name: "information_schema.collation_character_set_applicability",
    columns: "collation_catalog name, collation_schema name, collation_name name, character_set_catalog name, \
              character_set_schema name, character_set_name name",
    fill: Fill::Now(|context, rows| {
        for (_, name) in &COLLATIONS {
            let [catalog, schema, name] = collation(context, name);
            rows.add([catalog, schema, name, ("character_set_name", value::text("UTF8"))])?;
        }
        Ok(())
    }),
};

pub(super) const ELEMENTS: Definition = Definition {
    oid: 13493,
    name: "information_schema.element_types",
    columns: "object_catalog name, object_schema name, object_name name, object_type varchar, collection_type_identifier \
              name, data_type varchar, character_maximum_length int4, character_octet_length int4, \
              character_set_catalog name, character_set_schema name, character_set_name name, collation_catalog name, \
              collation_schema name, collation_name name, numeric_precision int4, numeric_precision_radix int4, \
              numeric_scale int4, datetime_precision int4, interval_type varchar, interval_precision int4, \
              domain_default varchar, udt_catalog name, udt_schema name, udt_name name, scope_catalog name, \
              scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name",
    fill: Fill::Now(elements),
};

fn collation(context: &StatementContext, name: &str) -> [(&'static str, Datum); 3] {
    [
        ("collation_catalog", value::text(&context.catalog.database().name)),
        ("collation_schema", value::text(PG_CATALOG)),
        ("collation_name", value::text(name)),
    ]
}

fn constraint_tables(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let database = value::text(&context.catalog.database().name);
    let visible = Visible::new(context);
    for table in context.catalog.user_relations() {
        let keys = table.indexes.iter().filter(|index| index.constraint.is_some());
        let keys = keys.map(|index| (&index.name, Some(table.clone())));
        let foreign = table.foreign_keys.iter().map(|key| (&key.name, context.catalog.relation_by_oid(key.parent)));
        for (name, used) in keys.chain(foreign) {
            let Some(used) = used.filter(|used| visible.owns(used.owner)) else { continue };
            rows.add([
                ("table_catalog", database.clone()),
                ("table_schema", value::text(&used.schema)),
                ("table_name", value::text(&used.name)),
                ("constraint_catalog", database.clone()),
                ("constraint_schema", value::text(&table.schema)),
                ("constraint_name", value::text(name)),
            ])?;
        }
    }
    Ok(())
}

/// Schema and name of a column's type.
pub(super) fn type_of(column: &ColumnDescriptor) -> (String, String) {
    match column.ty.base {
        BaseType::Enum(own) => {
            let own = own.descriptor();
            (own.schema.clone(), if column.ty.array { format!("_{}", own.name) } else { own.name.clone() })
        }
        _ => (PG_CATALOG.to_string(), type_facts(&column.ty).name.to_string()),
    }
}

fn column_types(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let visible = Visible::new(context);
    let database = value::text(&context.catalog.database().name);
    for table in context.catalog.relations().iter().filter(|table| table.kind != RelationKind::Sequence) {
        for column in table.live_columns() {
            // For an array its element type counts.
            let owner = match column.ty.base {
                BaseType::Enum(own) => own.descriptor().owner,
                _ => SUPERUSER_OID,
            };
            if !visible.owns(owner) {
                continue;
            }
            let (schema, name) = type_of(column);
            rows.add([
                ("udt_catalog", database.clone()),
                ("udt_schema", value::text(schema)),
                ("udt_name", value::text(name)),
                ("table_catalog", database.clone()),
                ("table_schema", value::text(&table.schema)),
                ("table_name", value::text(&table.name)),
                ("column_name", value::text(&column.name)),
            ])?;
        }
    }
    Ok(())
}

/// The element types of array columns.
fn elements(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let visible = Visible::new(context);
    let database = value::text(&context.catalog.database().name);
    for table in context.catalog.relations().iter().filter(|table| table.kind != RelationKind::Sequence) {
        for column in table.live_columns().filter(|column| column.ty.array && visible.column(table, column)) {
            let element = ColumnDescriptor { ty: column.ty.element(), ..column.clone() };
            let (schema, name) = type_of(&element);
            let position = column.id;
            let own_collation = (type_facts(&element.ty).collation == 950).then_some("C");
            let collated = column.collation.as_deref().or(own_collation);
            rows.add([
                ("object_catalog", database.clone()),
                ("object_schema", value::text(&table.schema)),
                ("object_name", value::text(&table.name)),
                ("object_type", value::text("TABLE")),
                ("collection_type_identifier", value::text(position.to_string())),
                ("data_type", value::text(super::schema_columns::shown_type(element.ty.plain()))),
                ("collation_catalog", collated.map_or_else(|| value::optional(None), |_| database.clone())),
                ("collation_schema", value::optional(collated.map(|_| PG_CATALOG))),
                ("collation_name", value::optional(collated)),
                ("udt_catalog", database.clone()),
                ("udt_schema", value::text(schema)),
                ("udt_name", value::text(name)),
                ("dtd_identifier", value::text(format!("a{position}"))),
            ])?;
        }
    }
    Ok(())
}

fn data_types(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let visible = Visible::new(context);
    for table in context.catalog.relations().iter().filter(|table| table.kind != RelationKind::Sequence) {
        let columns = table.live_columns().filter(|column| visible.column(table, column));
        for position in columns.map(|column| column.id) {
            rows.add([
                ("object_catalog", value::text(&context.catalog.database().name)),
                ("object_schema", value::text(&table.schema)),
                ("object_name", value::text(&table.name)),
                ("object_type", value::text("TABLE")),
                ("dtd_identifier", value::text(position.to_string())),
            ])?;
        }
    }
    Ok(())
}
