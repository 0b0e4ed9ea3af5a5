//! `information_schema.columns`.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::deparse::Context;
use super::pg_type::type_facts;
use super::visible::Visible;
use super::{PG_CATALOG, describe};
use catalog::{Identity, RelationKind};
use executor::StatementContext;
use sql_error::Result;
use types::interval::Restriction;
use types::{BaseType, Datum, SqlType, numeric_modifier};

pub(super) const VIEW: Definition = Definition {
    oid: 13295,
    name: "information_schema.columns",
    columns: "table_catalog name, table_schema name, table_name name, column_name name, ordinal_position int4, \
              column_default varchar, is_nullable varchar, data_type varchar, character_maximum_length int4, \
              character_octet_length int4, numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, \
              datetime_precision int4, interval_type varchar, interval_precision int4, character_set_catalog name, \
              character_set_schema name, character_set_name name, collation_catalog name, collation_schema name, \
              collation_name name, domain_catalog name, domain_schema name, domain_name name, udt_catalog name, \
              udt_schema name, udt_name name, scope_catalog name, scope_schema name, scope_name name, \
              maximum_cardinality int4, dtd_identifier name, is_self_referencing varchar, is_identity varchar, \
              identity_generation varchar, identity_start varchar, identity_increment varchar, identity_maximum \
              varchar, identity_minimum varchar, identity_cycle varchar, is_generated varchar, generation_expression \
              varchar, is_updatable varchar",
    fill: Fill::Now(rows),
};

/// The precision, radix and scale of a numeric type.
fn numbers(ty: &SqlType) -> (Option<i32>, Option<i32>, Option<i32>) {
    match ty.base {
        BaseType::Int2 => (Some(16), Some(2), Some(0)),
        BaseType::Int4 => (Some(32), Some(2), Some(0)),
        BaseType::Int8 => (Some(64), Some(2), Some(0)),
        BaseType::Float4 => (Some(24), Some(2), None),
        BaseType::Float8 => (Some(53), Some(2), None),
        BaseType::Numeric if ty.modifier >= 0 => {
            let (precision, scale) = numeric_modifier(ty.modifier);
            (Some(precision), Some(10), Some(scale))
        }
        BaseType::Numeric => (None, Some(10), None),
        _ => (None, None, None),
    }
}

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Name("table_name"), RelationKey::SchemaName("table_schema")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let reader = Context::of_statement(context);
    let database = &context.catalog.database().name;
    let shows_value = rows.reads("column_default") || rows.reads("generation_expression");
    let visible = Visible::new(context);
    for table in rows.relations(context, &KEYS) {
        if table.kind == RelationKind::Sequence {
            continue;
        }
        for column in table.live_columns().filter(|column| visible.column(&table, column)) {
            let position = i32::from(column.id);
            let ty = column.ty;
            let changes =
                rows.reads("is_updatable") && binder::events(&context.catalog, &table, Some(column.id)) & 20 == 20;
            let updatable = if changes { "YES" } else { "NO" };
            let own = match ty.base {
                BaseType::Enum(own) => Some(own.descriptor()),
                _ => None,
            };
            let udt_name = match own {
                Some(own) if ty.array => format!("_{}", own.name),
                Some(own) => own.name.clone(),
                None => type_facts(&ty).name.to_string(),
            };
            let length = match ty.base {
                BaseType::Varchar | BaseType::Char if ty.modifier >= 4 && !ty.array => Some(ty.modifier - 4),
                _ => None,
            };
            let octets = length.map(|length| length.saturating_mul(4)).or(if ty.is_string() && ty != SqlType::NAME {
                Some(1 << 30)
            } else {
                None
            });
            let (precision, radix, scale) = if ty.array { (None, None, None) } else { numbers(&ty) };
            let digits = match ty.base {
                _ if ty.array => None,
                BaseType::Timestamp | BaseType::Timestamptz | BaseType::Time | BaseType::Timetz => {
                    Some(if ty.modifier < 0 { 6 } else { ty.modifier })
                }
                BaseType::Interval => Some(Restriction::of_modifier(ty.modifier).digits()),
                BaseType::Date => Some(0),
                _ => None,
            };
            let fields = Restriction::of_modifier(ty.modifier).field_names();
            let fields = (ty.base == BaseType::Interval && !ty.array && !fields.is_empty()).then_some(fields);
            let is_shown = shows_value && column.identity.is_none();
            let shown = is_shown.then(|| describe::column_value(&reader, &table, column)).flatten();
            let (default, generated) = if column.generated.is_some() { (None, shown) } else { (shown, None) };
            let sequence = column.identity.and_then(|_| context.catalog.owned_sequence(table.oid, column.id));
            let parameters = sequence.as_ref().and_then(|sequence| sequence.sequence.as_ref());
            // The default collation is not shown.
            let own_collation = if type_facts(&ty).collation == 950 { Some("C") } else { None };
            let collation = column.collation.as_deref().or(own_collation);
            let number = |value: Option<i64>| value::optional(value.map(|value| value.to_string()).as_deref());
            rows.add([
                ("table_catalog", value::text(&context.catalog.database().name)),
                ("table_schema", value::text(&table.schema)),
                ("table_name", value::text(&table.name)),
                ("column_name", value::text(&column.name)),
                ("ordinal_position", Datum::from(position)),
                ("column_default", value::optional(default.as_deref())),
                ("is_nullable", value::text(if column.not_null { "NO" } else { "YES" })),
                ("data_type", value::text(if ty.array { "ARRAY".to_string() } else { shown_type(ty) })),
                ("character_maximum_length", Datum::Int32(length)),
                ("character_octet_length", Datum::Int32(octets)),
                ("numeric_precision", Datum::Int32(precision)),
                ("numeric_precision_radix", Datum::Int32(radix)),
                ("numeric_scale", Datum::Int32(scale)),
                ("datetime_precision", Datum::Int32(digits)),
                ("interval_type", value::optional(fields.as_deref())),
                ("collation_catalog", value::optional(collation.map(|_| database.as_str()))),
                ("collation_schema", value::optional(collation.map(|_| PG_CATALOG))),
                ("collation_name", value::optional(collation)),
                ("udt_catalog", value::text(&context.catalog.database().name)),
                ("udt_schema", value::text(own.map_or(PG_CATALOG, |own| own.schema.as_str()))),
                ("udt_name", value::text(udt_name)),
                ("dtd_identifier", value::text(position.to_string())),
                ("is_self_referencing", value::text("NO")),
                ("is_identity", value::text(if column.identity.is_some() { "YES" } else { "NO" })),
                (
                    "identity_generation",
                    value::optional(column.identity.map(|identity| match identity {
                        Identity::Always => "ALWAYS",
                        Identity::ByDefault => "BY DEFAULT",
                    })),
                ),
                ("identity_start", number(parameters.map(|sequence| sequence.start))),
                ("identity_increment", number(parameters.map(|sequence| sequence.increment))),
                ("identity_maximum", number(parameters.map(|sequence| sequence.max))),
                ("identity_minimum", number(parameters.map(|sequence| sequence.min))),
                ("identity_cycle", value::text(if parameters.is_some_and(|found| found.cycle) { "YES" } else { "NO" })),
                ("is_generated", value::text(if column.generated.is_some() { "ALWAYS" } else { "NEVER" })),
                ("generation_expression", value::optional(generated.as_deref())),
                ("is_updatable", value::text(updatable)),
            ])?;
        }
    }
    Ok(())
}

/// The name of a type in the standard's views.
pub(super) fn shown_type(ty: SqlType) -> String {
    match ty.base {
        BaseType::Enum(_) => "USER-DEFINED".to_string(),
        _ => ty.name(),
    }
}
