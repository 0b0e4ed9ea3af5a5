//! The catalog: stored descriptors of all named objects, and an immutable [`Catalog`] as one transaction sees it.

pub mod acl;
pub mod builder;
mod changes;
mod constraint;
mod database;
pub mod descriptor;
mod difference;
mod dropped;
pub mod encoding;
pub mod id_allocator;
pub mod keys;
mod known;
pub mod login_secret;
pub mod metadata_lock;
pub mod parts;
pub mod predefined;
pub mod schema_leases;
pub mod sequences;
mod statistics;
pub mod store;
pub mod system;
mod value_share;
mod versions;
pub mod writer;

pub use builder::{CatalogBuilder, TableBuilder};
pub use changes::Changes;
pub use constraint::*;
pub use database::*;
pub use descriptor::*;
pub use difference::Difference;
pub use metadata_lock::{HeldLocks, LockMode, LockTarget, TableLocks};
pub use schema_leases::{NodeOptions, Nodes};
pub use sequences::{SequenceMemory, Sequences};
pub use statistics::{ColumnStatistics, StoredValue, TableStatistics};
pub use store::CatalogStore;
pub use store::parse;
use system::System;
pub use system::{NoSystem, OWN_SCHEMA, PG_CATALOG, SYSTEM_SCHEMAS, SystemCatalog};
pub use value_share::Constant;
pub use writer::changed_meanwhile;
pub use writer::{CatalogWriter, Change};

use sql_error::{Missing, Result, SqlError, state};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use types::enumeration::{EnumDescriptor, EnumType};
use types::keyword::quote;
use types::record::{RowOf, relation_of_type};
use types::{BaseType, Oid, SqlType};

/// Whether a schema holds a session's temporary tables.
pub fn is_temporary(schema: &str) -> bool {
    schema.starts_with("pg_temp_")
}

/// The schema that a name refers to. `pg_temp` is the session's own, wherever it is on the path.
pub fn said_schema<'a>(schema: &'a str, search_path: &'a [String]) -> &'a str {
    let own = search_path.iter().find(|name| schema == "pg_temp" && is_temporary(name));
    own.map_or(schema, String::as_str)
}

/// The object behind a name in a schema. Tables, sequences and indexes share one name space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Relation(Oid),
    Index { table: Oid, position: usize },
}

/// All named objects of one database in one snapshot. It is immutable and shared.
#[derive(Debug, Default)]
pub struct Catalog {
    version: u64,
    system: System,
    database: Arc<DatabaseDescriptor>,
    databases: Vec<Arc<DatabaseDescriptor>>,
    roles: Vec<Arc<RoleDescriptor>>,
    schemas: BTreeMap<Oid, Arc<SchemaDescriptor>>,
    relations: BTreeMap<Oid, Arc<TableDescriptor>>,
    /// Objects by schema, then by name.
    names: HashMap<String, HashMap<String, Named>>,
    indexes: HashMap<Oid, (Oid, usize)>,
    storage: HashMap<StorageId, (Oid, usize)>,
    /// For each table: the tables whose FOREIGN KEYs refer to it.
    referencing: HashMap<Oid, Vec<Oid>>,
    sequences: Option<Arc<Sequences>>,
    enums: BTreeMap<Oid, EnumType>,
    /// Relations by the OIDs of their constraints, triggers, defaults and rules. Computed on first use.
    parts: OnceLock<HashMap<Oid, Vec<Oid>>>,
}

/// The error 3F000 for a missing schema.
pub fn no_schema(name: &str) -> SqlError {
    let missing = Missing::Schema(name.to_string());
    SqlError::new(state::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist")).missing(missing)
}

impl Catalog {
    /// An empty builder: database `postgres`, role `postgres` and the built-in schemas are there already.
    pub fn builder(system: &'static dyn SystemCatalog) -> CatalogBuilder {
        CatalogBuilder::new(system)
    }
    /// The relations and names that every database has.
    pub fn system(&self) -> &'static dyn SystemCatalog {
        self.system.0
    }
    /// Changes whenever a descriptor changes. Within this process, equal versions are equal catalogs.
    pub fn version(&self) -> u64 {
        self.version
    }
    /// The database of this catalog.
    pub fn database(&self) -> &DatabaseDescriptor {
        &self.database
    }
    /// Looks a relation up: in `schema` if given, otherwise along `search_path` (pg_catalog implicitly first, as in
    /// PostgreSQL). Names must be folded.
    pub fn relation(&self, schema: Option<&str>, name: &str, search_path: &[String]) -> Option<Arc<TableDescriptor>> {
        self.along_path(schema, search_path, |schema| self.relation_in(schema, name))
    }
    /// The relation with this OID. For indexes, see [`Catalog::index`].
    pub fn relation_by_oid(&self, oid: Oid) -> Option<Arc<TableDescriptor>> {
        match self.relations.get(&oid) {
            Some(table) => Some(Arc::clone(table)),
            None => self.system.0.relation_by_oid(oid),
        }
    }
    /// The table of the index with this OID, and the index's position in `indexes`.
    pub fn index(&self, oid: Oid) -> Option<(Arc<TableDescriptor>, usize)> {
        let (table, position) = self.indexes.get(&oid)?;
        Some((self.relation_by_oid(*table)?, *position))
    }
    /// Looks an index up by name, as [`Catalog::relation`] does.
    pub fn index_named(
        &self,
        schema: Option<&str>,
        name: &str,
        search_path: &[String],
    ) -> Option<(Arc<TableDescriptor>, usize)> {
        self.along_path(schema, search_path, |schema| match self.names.get(schema)?.get(name)? {
            Named::Index { table, position } => Some((self.relation_by_oid(*table)?, *position)),
            Named::Relation(_) => None,
        })
    }
    /// The table (or index) that owns a storage id, to name keys in messages.
    pub fn by_storage_id(&self, storage_id: StorageId) -> Option<(Arc<TableDescriptor>, usize)> {
        let (table, position) = self.storage.get(&storage_id)?;
        Some((self.relation_by_oid(*table)?, *position))
    }
    /// All enums, ordered by OID.
    pub fn enums(&self) -> impl Iterator<Item = &'static EnumDescriptor> {
        self.enums.values().map(|ty| ty.descriptor())
    }
    /// Looks an enum up: in `schema` if given, otherwise along `search_path`.
    pub fn enum_named(&self, schema: Option<&str>, name: &str, search_path: &[String]) -> Option<EnumType> {
        self.along_path(schema, search_path, |schema| {
            self.enums.values().find(|ty| ty.descriptor().schema == schema && ty.descriptor().name == name).copied()
        })
    }
    /// The type with this OID: built-in, an enum, a row type, or an array of these.
    pub fn type_by_oid(&self, oid: Oid) -> Option<SqlType> {
        if let Some(ty) = SqlType::from_oid(oid) {
            return Some(ty);
        }
        if let Some((relation, array)) = relation_of_type(oid) {
            let relation = self.relation_by_oid(relation).filter(|relation| relation.kind != RelationKind::Sequence)?;
            return Some(if array { relation.row_type().array_of() } else { relation.row_type() });
        }
        let found = self.enums.values().find(|ty| ty.descriptor().oid == oid || ty.descriptor().array_oid == oid)?;
        let ty = SqlType::of(BaseType::Enum(*found));
        Some(if found.descriptor().oid == oid { ty } else { ty.array_of() })
    }
    /// The current form of a type: an enum's labels may have changed since it was resolved.
    pub fn current_type(&self, ty: SqlType) -> SqlType {
        match ty.base {
            BaseType::Enum(old) => match self.enums.get(&old.descriptor().oid) {
                Some(new) => SqlType { base: BaseType::Enum(*new), ..ty },
                None => ty,
            },
            _ => ty,
        }
    }
    /// A type's name with its modifier. It includes the schema unless the type is found along `search_path`.
    pub fn type_name(&self, ty: SqlType, search_path: &[String]) -> String {
        let (schema, name, visible) = match ty.base {
            BaseType::Enum(own) => {
                let descriptor = own.descriptor();
                let found = self.enum_named(None, &descriptor.name, search_path);
                (&descriptor.schema, &descriptor.name, found == Some(own))
            }
            BaseType::Record(record) => {
                let Some(RowOf { relation, schema, name }) = record.row_of() else { return ty.format() };
                let found = self.relation(None, name, search_path);
                (schema, name, found.is_some_and(|found| found.oid == *relation))
            }
            _ => return ty.format(),
        };
        let name = if visible { quote(name) } else { format!("{}.{}", quote(schema), quote(name)) };
        if ty.array { format!("{name}[]") } else { name }
    }
    /// All relations for listings, including system views, ordered by OID.
    pub fn relations(&self) -> Vec<Arc<TableDescriptor>> {
        let mut all: Vec<_> = self.system.0.relations();
        all.retain(|view| view.schema != OWN_SCHEMA);
        all.extend(self.relations.values().cloned());
        all.sort_by_key(|table| table.oid);
        all
    }
    /// All relations of users, ordered by OID.
    pub fn user_relations(&self) -> impl ExactSizeIterator<Item = &Arc<TableDescriptor>> {
        self.relations.values()
    }
    /// The users' relations with this name in any schema, and the tables of indexes with it.
    pub fn user_relations_named(&self, name: &str) -> impl Iterator<Item = Arc<TableDescriptor>> {
        let named = self.names.values().filter_map(|names| names.get(name)).map(|named| match named {
            Named::Relation(oid) | Named::Index { table: oid, .. } => oid,
        });
        named.filter_map(|oid| self.relations.get(oid).cloned())
    }
    /// The relations with a constraint, trigger, default or rule that has this OID.
    pub fn relations_with(&self, part: Oid) -> impl Iterator<Item = &Arc<TableDescriptor>> {
        let parts = self.parts.get_or_init(|| {
            let mut parts: HashMap<Oid, Vec<Oid>> = HashMap::new();
            for table in self.relations.values() {
                for part in parts::parts(table) {
                    parts.entry(part).or_default().push(table.oid);
                }
            }
            parts
        });
        parts.get(&part).into_iter().flatten().filter_map(|oid| self.relations.get(oid))
    }
    /// The values of sequences. Errors: XX000 if this catalog was not read from a store.
    pub fn sequences(&self) -> Result<&Arc<Sequences>> {
        self.sequences.as_ref().ok_or_else(|| SqlError::internal("this catalog has no sequences"))
    }
    /// All schemas for listings, ordered by OID.
    pub fn schemas(&self) -> Vec<Arc<SchemaDescriptor>> {
        self.schemas.values().filter(|schema| schema.name != OWN_SCHEMA).cloned().collect()
    }
    /// The schema with this name.
    pub fn schema(&self, name: &str) -> Option<Arc<SchemaDescriptor>> {
        self.schemas.values().find(|schema| schema.name == name).cloned()
    }
    /// The schema with this OID.
    pub fn schema_by_oid(&self, oid: Oid) -> Option<Arc<SchemaDescriptor>> {
        self.schemas.get(&oid).cloned()
    }
    /// All databases of the cluster.
    pub fn databases(&self) -> Vec<Arc<DatabaseDescriptor>> {
        self.databases.clone()
    }
    /// All roles of the cluster.
    pub fn roles(&self) -> Vec<Arc<RoleDescriptor>> {
        self.roles.clone()
    }
    /// The role with this name.
    pub fn role(&self, name: &str) -> Option<Arc<RoleDescriptor>> {
        self.roles.iter().find(|role| role.name == name).cloned()
    }
    /// The role with this OID.
    pub fn role_by_oid(&self, oid: Oid) -> Option<Arc<RoleDescriptor>> {
        self.roles.iter().find(|role| role.oid == oid).cloned()
    }
    /// Whether a table, sequence, view or index in this schema has this name.
    pub fn name_is_taken(&self, schema: &str, name: &str) -> bool {
        self.names.get(schema).is_some_and(|names| names.contains_key(name))
            || self.system.0.relation(schema, name).is_some()
    }
    /// The sequence that a column owns (serial or identity).
    pub fn owned_sequence(&self, table: Oid, column: ColumnId) -> Option<Arc<TableDescriptor>> {
        self.relations
            .values()
            .find(|relation| {
                relation.sequence.as_ref().is_some_and(|sequence| sequence.owned_by == Some((table, column)))
            })
            .cloned()
    }
    /// The error for a name without a relation: 42P01, or 42809 if it is an index.
    pub fn no_relation(&self, schema: Option<&str>, name: &str, search_path: &[String]) -> SqlError {
        if self.index_named(schema, name, search_path).is_some() {
            return SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{name}\" is an index"));
        }
        let shown = schema.map_or_else(|| name.to_string(), |schema| format!("{schema}.{name}"));
        let missing = Missing::Relation(schema.map(str::to_string), name.to_string());
        SqlError::new(state::UNDEFINED_TABLE, format!("relation \"{shown}\" does not exist")).missing(missing)
    }
    /// The FOREIGN KEYs that refer to a table, with their tables, oldest first.
    pub fn referencing(&self, table: Oid) -> Vec<(Arc<TableDescriptor>, ForeignKeyDescriptor)> {
        let children = self.referencing.get(&table).into_iter().flatten();
        let mut keys: Vec<_> = children
            .filter_map(|child| self.relations.get(child))
            .flat_map(|child| child.foreign_keys.iter().map(move |key| (Arc::clone(child), key.clone())))
            .filter(|(_, key)| key.parent == table)
            .collect();
        keys.sort_by_key(|(_, key)| key.oid);
        keys
    }
    /// Whether any FOREIGN KEY refers to a table.
    pub fn is_referenced(&self, table: Oid) -> bool {
        self.referencing.contains_key(&table) && !self.referencing(table).is_empty()
    }
    /// The FOREIGN KEY with this OID of a table.
    pub fn foreign_key(&self, table: Oid, oid: Oid) -> Option<(Arc<TableDescriptor>, ForeignKeyDescriptor)> {
        let child = self.relations.get(&table)?;
        let key = child.foreign_keys.iter().find(|key| key.oid == oid)?;
        Some((Arc::clone(child), key.clone()))
    }
    /// The existing schemas of `search_path` in order, with pg_catalog first unless it is named:
    /// `current_schemas(true)`.
    pub fn effective_path<'a>(&self, search_path: &'a [String]) -> Vec<&'a str> {
        let mut path = Vec::with_capacity(search_path.len() + 1);
        let (first, search_path) = match search_path {
            [first, rest @ ..] if is_temporary(first) => (Some(first), rest),
            path => (None, path),
        };
        path.extend(first.map(String::as_str).filter(|name| self.schema(name).is_some()));
        if !search_path.iter().any(|schema| schema == PG_CATALOG) {
            path.push(PG_CATALOG);
        }
        path.extend(search_path.iter().map(String::as_str).filter(|name| self.schema(name).is_some()));
        path
    }

    fn relation_in(&self, schema: &str, name: &str) -> Option<Arc<TableDescriptor>> {
        if let Some(Named::Relation(oid)) = self.names.get(schema).and_then(|names| names.get(name)) {
            return self.relations.get(oid).cloned();
        }
        self.system.0.relation(schema, name)
    }
    fn along_path<T>(&self, schema: Option<&str>, path: &[String], find: impl Fn(&str) -> Option<T>) -> Option<T> {
        if let Some(schema) = schema {
            return find(said_schema(schema, path));
        }
        // Temporary tables hide even system tables.
        let (first, path) = match path {
            [first, rest @ ..] if is_temporary(first) => (Some(first), rest),
            path => (None, path),
        };
        if let Some(found) = first.and_then(|schema| find(schema)) {
            return Some(found);
        }
        if !path.iter().any(|schema| schema == PG_CATALOG)
            && let Some(found) = find(PG_CATALOG)
        {
            return Some(found);
        }
        path.iter().find_map(|schema| find(schema))
    }
}
