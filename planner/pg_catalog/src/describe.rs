//! Definitions of objects as SQL text, as `pg_get_indexdef`, `pg_get_constraintdef`, `pg_get_expr` and `format_type`
//! print them. Pure functions of the catalog.

use super::deparse::{self, Context};
use binder::canonical;
use catalog::{
    Catalog, CheckDescriptor, ColumnDescriptor, ColumnId, Deferral, ForeignKeyDescriptor, IndexDescriptor,
    ReferentialAction, RelationKind, TableDescriptor, said_schema,
};
use syntax::{ast::ExprKind, names::quote, parse_expression};
use types::enumeration::EnumType;
use types::{BaseType, Oid, SqlType};

/// PostgreSQL's number of the encoding UTF8.
pub const UTF8: i32 = 6;
/// The first OID of PostgreSQL's system views, such as those of `information_schema`.
const FIRST_VIEW: Oid = 12_000;

/// `pg_class.relkind`. PostgreSQL's catalogs are tables there, so they are shown as tables.
pub fn relation_kind(table: &TableDescriptor) -> &'static str {
    match table.kind {
        RelationKind::Table => "r",
        RelationKind::Sequence => "S",
        RelationKind::SystemView if table.oid < FIRST_VIEW => "r",
        RelationKind::SystemView | RelationKind::View => "v",
    }
}

/// A role's name, as `pg_get_userbyid` prints it.
pub fn role_name(catalog: &Catalog, oid: Oid) -> String {
    catalog.role_by_oid(oid).map_or_else(|| format!("unknown (OID={oid})"), |role| role.name.clone())
}

pub use catalog::parts::{default_oid, trigger_oid};

/// The constraint name of a NOT NULL in `information_schema`.
pub fn not_null_name(table: &TableDescriptor, column: ColumnId) -> String {
    format!("{}_{}_{column}_not_null", table.schema_oid, table.oid)
}

/// The columns that a CHECK names.
pub fn check_columns(table: &TableDescriptor, check: &CheckDescriptor) -> Vec<ColumnId> {
    named_columns(table, &check.expression)
}

/// The columns that a stored expression names.
pub fn named_columns(table: &TableDescriptor, stored: &str) -> Vec<ColumnId> {
    let Ok((expr, _)) = parse_expression(stored) else { return Vec::new() };
    let names = canonical::referenced(&expr).unwrap_or_default();
    names.iter().filter_map(|name| table.column_named(name)).map(|column| column.id).collect()
}

/// `format_type`: the name of a type with its modifier. Unknown OIDs give PostgreSQL's `???`.
pub fn format_type(oid: Oid, modifier: Option<i32>) -> String {
    let Some(ty) = SqlType::from_oid(oid) else {
        if let Some(name) = super::builtin::type_name(oid) {
            // bit, bit varying and their arrays.
            return match modifier.filter(|modifier| *modifier >= 0 && (1560..=1563).contains(&oid)) {
                Some(length) => match name.strip_suffix("[]") {
                    Some(element) => format!("{element}({length})[]"),
                    None => format!("{name}({length})"),
                },
                None => name,
            };
        }
        return if oid == 0 { "-".into() } else { "???".into() };
    };
    match modifier {
        // With a modifier of -1, bpchar is not "character", which would mean character(1).
        Some(-1) if ty.base == BaseType::Char => {
            if ty.array {
                "bpchar[]".into()
            } else {
                "bpchar".into()
            }
        }
        Some(modifier) if modifier >= 0 => ty.with_modifier(modifier).format(),
        _ => ty.name(),
    }
}

/// Makes the names of an index's columns distinct: repetitions get a number.
pub fn each_once<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    numbered(names, "")
}

/// Makes the names of a relation's columns in FROM distinct: repetitions get `_` and a number.
pub fn each_alias<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    numbered(names, "_")
}

fn numbered<'n>(names: impl Iterator<Item = &'n str>, between: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        let mut unique = name.to_string();
        let mut number = 0;
        while all.contains(&unique) {
            number += 1;
            unique = format!("{name}{between}{number}");
        }
        all.push(unique);
    }
    all
}

/// A column of an index as its definition shows it.
fn key_text(
    context: &Context<'_>,
    table: &TableDescriptor,
    index: &IndexDescriptor,
    position: usize,
    with_order: bool,
    pretty: bool,
) -> String {
    let included = position.checked_sub(index.columns.len()).and_then(|position| index.include.get(position));
    let id = index.columns.get(position).map(|key| key.column).or(included.copied());
    let expression = index.parts().nth(position).and_then(|(_, expression)| expression);
    let mut text = match expression {
        // An expression has parentheses, unless it is a call.
        Some(expression) => match deparse::index_key(context, table, &expression.text, pretty) {
            Some((text, true)) => text,
            Some((text, false)) => format!("({text})"),
            None => {
                let text = if pretty { pretty_expression(&expression.text) } else { expression.text.clone() };
                let call = parse_expression(&expression.text)
                    .is_ok_and(|(expr, _)| matches!(expr.kind, ExprKind::Call(_) | ExprKind::Special(_)));
                if call { text } else { format!("({text})") }
            }
        },
        None => id.and_then(|id| table.column(id)).map(|column| quote(&column.name)).unwrap_or_default(),
    };
    if let Some(key) = index.columns.get(position).filter(|_| with_order) {
        if let Some(name) = super::object_names::collation_name(key.collation) {
            text.push_str(&format!(" COLLATE {}", quote(name)));
        }
        if let Some(name) = super::present::operator_class_name(key.class) {
            text.push_str(&format!(" {name}"));
        }
        text.push_str(match (key.descending, key.nulls_first) {
            (false, false) => "",
            (false, true) => " NULLS FIRST",
            (true, true) => " DESC",
            (true, false) => " DESC NULLS LAST",
        });
    }
    text
}

fn column_list(
    context: &Context<'_>,
    table: &TableDescriptor,
    index: &IndexDescriptor,
    with_order: bool,
    pretty: bool,
) -> String {
    let key = |position, with_order| key_text(context, table, index, position, with_order, pretty);
    let keys: Vec<String> = (0..index.columns.len()).map(|position| key(position, with_order)).collect();
    let include: Vec<String> =
        (index.columns.len()..index.columns.len() + index.include.len()).map(|position| key(position, false)).collect();
    let mut text = format!("({})", keys.join(", "));
    if !include.is_empty() {
        text = format!("{text} INCLUDE ({})", include.join(", "));
    }
    text
}

/// `pg_get_indexdef(oid)`: the CREATE INDEX of an index.
pub fn index_definition(
    context: &Context<'_>,
    table: &TableDescriptor,
    index: &IndexDescriptor,
    with_schema: bool,
    pretty: bool,
) -> String {
    let unique = if index.is_declared_unique() { "UNIQUE " } else { "" };
    let schema = if with_schema { format!("{}.", quote(&table.schema)) } else { String::new() };
    let list = column_list(context, table, index, true, pretty);
    let nulls = if index.nulls_not_distinct { " NULLS NOT DISTINCT" } else { "" };
    let condition = index.predicate.as_ref().map(|text| format!(" WHERE {}", condition(context, table, text, pretty)));
    let condition = condition.unwrap_or_default();
    let (name, of) = (quote(&index.name), quote(&table.name));
    let with: Vec<String> =
        index.parameters.iter().map(|(name, value)| format!("{name}={}", parameter(value))).collect();
    let with = if with.is_empty() { String::new() } else { format!(" WITH ({})", with.join(", ")) };
    format!("CREATE {unique}INDEX {name} ON {schema}{of} USING btree {list}{nulls}{with}{condition}")
}

/// The value of a storage parameter. A word needs no quotes.
fn parameter(value: &str) -> String {
    if quote(value) == value { value.to_string() } else { canonical::literal(value) }
}

/// `pg_get_indexdef(oid, column, pretty)`: one column of an index, from 1.
pub fn index_column(
    context: &Context<'_>,
    table: &TableDescriptor,
    index: &IndexDescriptor,
    column: i32,
    pretty: bool,
) -> Option<String> {
    let position = usize::try_from(column).ok()?.checked_sub(1)?;
    (position < index.columns.len() + index.include.len())
        .then(|| key_text(context, table, index, position, false, pretty))
}

/// The definition of a FOREIGN KEY, as `pg_get_constraintdef` prints it.
fn foreign_key_definition(
    catalog: &Catalog,
    table: &TableDescriptor,
    key: &ForeignKeyDescriptor,
    search_path: &[String],
) -> Option<String> {
    let list = |table: &TableDescriptor, ids: &[ColumnId]| {
        let names: Vec<String> =
            ids.iter().filter_map(|id| table.column(*id)).map(|column| quote(&column.name)).collect();
        names.join(", ")
    };
    let parent = catalog.relation_by_oid(key.parent)?;
    let mut text = format!(
        "FOREIGN KEY ({}) REFERENCES {}({})",
        list(table, &key.columns),
        relation_name(catalog, key.parent, search_path)?,
        list(&parent, &key.referenced)
    );
    if key.match_full {
        text.push_str(" MATCH FULL");
    }
    for (event, action) in [("UPDATE", key.on_update), ("DELETE", key.on_delete)] {
        if action != ReferentialAction::NoAction {
            text.push_str(&format!(" ON {event} {}", action.words()));
            if event == "DELETE" && !key.set_columns.is_empty() {
                text.push_str(&format!(" ({})", list(table, &key.set_columns)));
            }
        }
    }
    for (is, words) in
        [(key.deferrable, " DEFERRABLE"), (key.deferred, " INITIALLY DEFERRED"), (key.not_valid, " NOT VALID")]
    {
        if is {
            text.push_str(words);
        }
    }
    Some(text)
}

/// `pg_get_constraintdef(oid, pretty)`: the definition of a constraint.
pub fn constraint_definition(context: &Context<'_>, oid: Oid, pretty: bool) -> Option<String> {
    for table in context.catalog.relations_with(oid) {
        if let Some(index) = table.indexes.iter().find(|index| index.constraint == Some(oid)) {
            let kind = match (index.is_declared_primary(), index.nulls_not_distinct) {
                (true, _) => "PRIMARY KEY",
                (false, true) => "UNIQUE NULLS NOT DISTINCT",
                (false, false) => "UNIQUE",
            };
            let deferral = match index.deferral {
                None => "",
                Some(Deferral { deferred: false, .. }) => " DEFERRABLE",
                Some(Deferral { deferred: true, .. }) => " DEFERRABLE INITIALLY DEFERRED",
            };
            return Some(format!("{kind} {}{deferral}", column_list(context, table, index, false, pretty)));
        }
        if let Some(key) = table.foreign_keys.iter().find(|key| key.oid == oid) {
            return foreign_key_definition(context.catalog, table, key, context.search_path);
        }
        if let Some(check) = table.checks.iter().find(|check| check.oid == oid) {
            return Some(check_definition(context, table, check, pretty));
        }
    }
    None
}

/// The definition of a CHECK, as `pg_get_constraintdef` prints it.
pub fn check_definition(
    context: &Context<'_>,
    table: &TableDescriptor,
    check: &CheckDescriptor,
    pretty: bool,
) -> String {
    let no_inherit = if check.no_inherit { " NO INHERIT" } else { "" };
    let not_valid = if check.not_valid { " NOT VALID" } else { "" };
    format!("CHECK ({}){no_inherit}{not_valid}", condition(context, table, &check.expression, pretty))
}

/// Prints a stored condition.
fn condition(context: &Context<'_>, table: &TableDescriptor, stored: &str, pretty: bool) -> String {
    deparse::expression(context, Some(table), stored, Some(SqlType::BOOL), pretty).unwrap_or_else(|| {
        let shown = shown_default(stored, context.catalog, context.search_path);
        if pretty { pretty_expression(&shown) } else { shown }
    })
}

/// The default or generation expression of a column, as `pg_get_expr` prints it.
pub fn column_value(context: &Context<'_>, table: &TableDescriptor, column: &ColumnDescriptor) -> Option<String> {
    let stored = column.default.as_ref().or(column.generated.as_ref())?;
    let shown = deparse::expression(context, Some(table), stored, Some(column.ty), false);
    Some(shown.unwrap_or_else(|| shown_default(stored, context.catalog, context.search_path)))
}

/// `pg_get_expr`: prints a stored expression of a table.
pub fn stored_expression(context: &Context<'_>, table: Option<&TableDescriptor>, stored: &str, pretty: bool) -> String {
    // A default or generation expression has the type of its column.
    let column = table
        .into_iter()
        .flat_map(TableDescriptor::live_columns)
        .find(|column| column.default.as_deref() == Some(stored) || column.generated.as_deref() == Some(stored));
    deparse::expression(context, table, stored, column.map(|column| column.ty), pretty).unwrap_or_else(|| {
        let shown = shown_default(stored, context.catalog, context.search_path);
        if pretty && stored.starts_with('(') { pretty_expression(&shown) } else { shown }
    })
}

/// A stored expression without the parentheses that PostgreSQL's pretty printing omits.
pub fn pretty_expression(stored: &str) -> String {
    parse_expression(stored).map_or_else(|_| stored.to_string(), |(expr, _)| canonical::pretty(&expr))
}

/// A stored default as `pg_get_expr` shows it: schemas on the search path are omitted.
pub fn shown_default(stored: &str, catalog: &Catalog, search_path: &[String]) -> String {
    let Some(rest) = stored.strip_prefix("nextval('") else { return without_schemas(stored, catalog, search_path) };
    for schema in catalog.effective_path(search_path) {
        let prefix = format!("{}.", quote(schema));
        let Some(name) = rest.strip_prefix(prefix.as_str()) else { continue };
        // Only if the unqualified name resolves to the same sequence.
        let bare = name.split('\'').next().unwrap_or_default().trim_matches('"');
        let found = catalog.relation(None, bare, search_path);
        if found.is_some_and(|found| found.schema == schema) {
            return format!("nextval('{name}");
        }
    }
    stored.to_string()
}

/// A stored expression in which enums on the search path are unqualified.
fn without_schemas(stored: &str, catalog: &Catalog, search_path: &[String]) -> String {
    let mut shown = stored.to_string();
    for ty in catalog.enums() {
        let name = catalog.type_name(SqlType::of(BaseType::Enum(EnumType::new(ty))), search_path);
        shown = shown.replace(&format!("::{}.{}", quote(&ty.schema), quote(&ty.name)), &format!("::{name}"));
    }
    shown
}

/// A relation's name as regclass prints it: qualified unless visible.
pub fn relation_name(catalog: &Catalog, oid: Oid, search_path: &[String]) -> Option<String> {
    let (schema, name) = match catalog.relation_by_oid(oid) {
        Some(table) => (table.schema.clone(), table.name.clone()),
        None => {
            let (table, position) = catalog.index(oid)?;
            (table.schema.clone(), table.indexes.get(position)?.name.clone())
        }
    };
    if relation_is_visible(catalog, oid, search_path) == Some(true) {
        return Some(quote(&name));
    }
    Some(format!("{}.{}", quote(&schema), quote(&name)))
}

/// `pg_table_is_visible`. `None` if the relation does not exist.
pub fn relation_is_visible(catalog: &Catalog, oid: Oid, search_path: &[String]) -> Option<bool> {
    let (schema, name) = match catalog.relation_by_oid(oid) {
        Some(table) => (table.schema.clone(), table.name.clone()),
        None => {
            let (table, position) = catalog.index(oid)?;
            (table.schema.clone(), table.indexes.get(position)?.name.clone())
        }
    };
    let first = catalog.effective_path(search_path).into_iter().find(|schema| catalog.name_is_taken(schema, &name));
    Some(first == Some(schema.as_str()))
}

/// The OID of a table, sequence, view or index by the name that regclass reads.
pub fn relation_oid(catalog: &Catalog, schema: Option<&str>, name: &str, search_path: &[String]) -> Option<Oid> {
    let find = |schema: &str| -> Option<Oid> {
        let one = [schema.to_string()];
        match catalog.relation(Some(schema), name, &one) {
            Some(table) => Some(table.oid),
            None => {
                let (table, position) = catalog.index_named(Some(schema), name, &one)?;
                Some(table.indexes.get(position)?.oid)
            }
        }
    };
    match schema {
        Some(schema) => find(said_schema(schema, search_path)),
        None => catalog.effective_path(search_path).into_iter().find_map(find),
    }
}

/// `pg_get_serial_sequence`: the sequence of a column, qualified. The session's own temporary schema is `pg_temp`.
pub fn serial_sequence(catalog: &Catalog, table: Oid, column: ColumnId, own: Option<&str>) -> Option<String> {
    let sequence = catalog.owned_sequence(table, column)?;
    let schema = if own == Some(sequence.schema.as_str()) { "pg_temp" } else { &sequence.schema };
    Some(format!("{}.{}", quote(schema), quote(&sequence.name)))
}
