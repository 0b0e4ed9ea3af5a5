//! System views: `pg_catalog`, `information_schema` and `percosql`, computed from the catalog and the transaction at
//! each read. Each view has a file. OIDs are fixed, and they are PostgreSQL's where it has the view.
//!
//! Must not know how plans run: a view returns rows, and `execution::system_view` does the rest.

mod asked;
mod builtin_views;
mod definition;
pub mod deparse;
pub mod describe;
mod empty;
pub mod functions;
pub mod object_names;
mod percosql_contention;
mod percosql_memory;
mod percosql_plan_cache;
mod percosql_sequences;
mod percosql_tablets;
mod pg_am;
mod pg_attrdef;
mod pg_attribute;
mod pg_auth_members;
mod pg_authid;
mod pg_class;
mod pg_collation;
mod pg_constraint;
mod pg_cursors;
mod pg_database;
mod pg_db_role_setting;
mod pg_default_acl;
mod pg_depend;
mod pg_description;
mod pg_enum;
mod pg_extension;
mod pg_group;
mod pg_index;
mod pg_indexes;
mod pg_language;
mod pg_largeobject;
mod pg_locks;
mod pg_namespace;
mod pg_prepared_statements;
mod pg_rewrite;
mod pg_roles;
mod pg_sequence;
mod pg_sequences;
mod pg_settings;
mod pg_shadow;
mod pg_stat_activity;
mod pg_stat_ssl;
mod pg_stat_tables;
mod pg_stat_wal;
mod pg_stats;
mod pg_tables;
mod pg_tablespace;
mod pg_trigger;
mod pg_type;
mod pg_user;
mod pg_views;
pub mod present;
mod privileges;
pub mod row_functions;
mod schema_check_constraints;
mod schema_columns;
mod schema_constraint_column_usage;
mod schema_facts;
mod schema_key_column_usage;
mod schema_privileges;
mod schema_referential_constraints;
mod schema_schemata;
mod schema_sequences;
mod schema_table_constraints;
mod schema_tables;
mod schema_type_privileges;
mod schema_usage;
mod schema_views;
mod system_catalog;
#[cfg(test)]
mod tests;
mod view_definition;
mod visible;
mod zones;

pub use percosql_sequences::OID as SEQUENCES;
pub use visible::{closed_kind, is_readable};

pub use ::builtin;
pub use catalog::{OWN_SCHEMA, PG_CATALOG, SYSTEM_SCHEMAS};
pub use system_catalog::SystemViews;

pub use context::system_view::{Asked, AskedKey, Found, IndexedRows, SystemView};
use definition::Definition;
pub use pg_trigger::{OF_A_KEY, trigger_name};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use types::Oid;

/// Whether PostgreSQL has functions of this name, and none of them is here.
pub fn is_missing_function(name: &str) -> bool {
    builtin::functions_named(name) > 0 && !present::functions().any(|function| function.name == name)
}

/// A function that a client calls by its OID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledFunction {
    /// The name without its schema.
    pub name: &'static str,
    /// The OIDs of the argument types.
    pub arguments: Vec<Oid>,
    /// Whether it is an ordinary function that returns a single value.
    pub is_plain: bool,
}

impl CalledFunction {
    /// The query for its result, with parameters as arguments.
    pub fn query(&self) -> String {
        let parameters: Vec<String> = (1..=self.arguments.len()).map(|number| format!("${number}")).collect();
        format!("SELECT {PG_CATALOG}.{}({})", syntax::names::quote(self.name), parameters.join(", "))
    }
}

/// The function with this OID, if it is supported.
pub fn called_by_oid(oid: Oid) -> Option<CalledFunction> {
    let function = present::functions().find(|function| function.oid == oid)?;
    let is_plain = function.kind == "f" && !function.rows;
    Some(CalledFunction { name: function.name, arguments: function.arguments.clone(), is_plain })
}

/// The views that have rows.
static FILLED: &[&Definition] = &[
    &percosql_sequences::VIEW,
    &percosql_contention::VIEW,
    &percosql_memory::VIEW,
    &percosql_plan_cache::VIEW,
    &percosql_tablets::VIEW,
    &pg_am::VIEW,
    &pg_attrdef::VIEW,
    &pg_attribute::VIEW,
    &pg_auth_members::VIEW,
    &pg_authid::VIEW,
    &schema_privileges::TABLES,
    &schema_privileges::GRANTS,
    &schema_privileges::COLUMNS,
    &schema_privileges::ENABLED,
    &schema_privileges::APPLICABLE,
    &schema_privileges::ADMINISTRABLE,
    &schema_privileges::COLUMN_GRANTS,
    &schema_type_privileges::TYPES,
    &schema_type_privileges::TYPE_GRANTS,
    &schema_type_privileges::USAGE,
    &schema_type_privileges::USAGE_GRANTS,
    &schema_usage::CONSTRAINT_TABLES,
    &schema_usage::COLUMN_TYPES,
    &schema_usage::GENERATED,
    &schema_usage::DATA_TYPES,
    &schema_usage::ELEMENTS,
    &schema_usage::COLLATION_NAMES,
    &schema_usage::COLLATION_SETS,
    &schema_facts::IMPLEMENTATION,
    &schema_facts::SIZING,
    &schema_facts::PARTS,
    &builtin_views::CASTS_VIEW,
    &pg_class::VIEW,
    &pg_collation::VIEW,
    &pg_constraint::VIEW,
    &pg_cursors::VIEW,
    &pg_database::VIEW,
    &pg_db_role_setting::VIEW,
    &pg_default_acl::VIEW,
    &pg_depend::VIEW,
    &pg_description::SHARED,
    &pg_description::VIEW,
    &pg_enum::VIEW,
    &pg_extension::VIEW,
    &pg_extension::AVAILABLE,
    &pg_extension::VERSIONS,
    &pg_group::VIEW,
    &pg_index::VIEW,
    &pg_indexes::VIEW,
    &pg_language::VIEW,
    &pg_largeobject::VIEW,
    &pg_largeobject::METADATA,
    &pg_locks::VIEW,
    &pg_namespace::VIEW,
    &builtin_views::FUNCTIONS_VIEW,
    &builtin_views::AGGREGATES_VIEW,
    &builtin_views::OPERATORS_VIEW,
    &builtin_views::CLASSES_VIEW,
    &builtin_views::FAMILIES_VIEW,
    &builtin_views::FAMILY_OPERATORS_VIEW,
    &builtin_views::FAMILY_FUNCTIONS_VIEW,
    &pg_prepared_statements::VIEW,
    &pg_rewrite::VIEW,
    &pg_roles::VIEW,
    &pg_sequence::VIEW,
    &pg_sequences::VIEW,
    &pg_settings::VIEW,
    &pg_shadow::VIEW,
    &pg_stat_activity::VIEW,
    &pg_stat_ssl::TLS,
    &pg_stat_ssl::GSSAPI,
    &pg_stat_wal::VIEW,
    &pg_stat_tables::ALL,
    &pg_stat_tables::ALL_INDEXES,
    &pg_stat_tables::USER_INDEXES,
    &pg_stat_tables::USER,
    &pg_stats::VIEW,
    &pg_tables::VIEW,
    &pg_tablespace::VIEW,
    &pg_trigger::VIEW,
    &pg_type::VIEW,
    &pg_user::VIEW,
    &pg_views::VIEW,
    &schema_check_constraints::VIEW,
    &schema_columns::VIEW,
    &schema_constraint_column_usage::VIEW,
    &schema_key_column_usage::VIEW,
    &schema_referential_constraints::VIEW,
    &schema_schemata::VIEW,
    &schema_sequences::VIEW,
    &schema_table_constraints::VIEW,
    &schema_tables::VIEW,
    &schema_facts::CATALOG_NAME,
    &schema_facts::CHARACTER_SETS,
    &schema_views::COLUMN_USAGE,
    &schema_views::TABLE_USAGE,
    &schema_views::VIEW,
    &zones::NAMES,
    &zones::ABBREVIATIONS_VIEW,
];

/// All views, by name and by OID.
struct Views {
    all: Vec<Arc<dyn SystemView>>,
    by_name: HashMap<String, HashMap<String, usize>>,
    by_oid: HashMap<Oid, usize>,
}

static VIEWS: LazyLock<Views> = LazyLock::new(|| {
    let mut views = Views { all: Vec::new(), by_name: HashMap::new(), by_oid: HashMap::new() };
    for view in FILLED.iter().copied().chain(empty::VIEWS.iter()).filter_map(Definition::view) {
        let (place, descriptor) = (views.all.len(), Arc::clone(view.descriptor()));
        views.by_name.entry(descriptor.schema.clone()).or_default().insert(descriptor.name.clone(), place);
        views.by_oid.insert(descriptor.oid, place);
        views.all.push(Arc::new(view));
    }
    views
});

/// Every system view, with or without rows.
pub fn views() -> impl Iterator<Item = &'static Arc<dyn SystemView>> {
    VIEWS.all.iter()
}

/// The system view with this name.
pub fn view(schema: &str, name: &str) -> Option<&'static Arc<dyn SystemView>> {
    VIEWS.all.get(*VIEWS.by_name.get(schema)?.get(name)?)
}

/// The system view with this OID.
pub fn view_by_oid(oid: Oid) -> Option<&'static Arc<dyn SystemView>> {
    VIEWS.all.get(*VIEWS.by_oid.get(&oid)?)
}
