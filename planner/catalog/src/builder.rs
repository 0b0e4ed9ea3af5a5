//! [`CatalogBuilder`] makes a [`Catalog`] from descriptors. [`TableBuilder`] makes a table's descriptor. The store,
//! CREATE TABLE and tests use them.

use super::system::{System, SystemCatalog};
use super::{
    Catalog, CheckDescriptor, ColumnDescriptor, ColumnId, DatabaseDescriptor, IndexColumn, IndexDescriptor, IndexState,
    Named, RelationKind, RoleDescriptor, SchemaDescriptor, Sequences, StorageId, TableDescriptor, predefined,
};
use std::sync::Arc;
use types::enumeration::{EnumDescriptor, EnumType};
use types::{BaseType, Oid, SqlType};

/// OID of the superuser `postgres`, as in PostgreSQL.
pub const SUPERUSER_OID: Oid = 10;
/// OID of the database `postgres`, as in PostgreSQL 15.
pub const POSTGRES_DATABASE_OID: Oid = 5;
/// OID of the schema `public`, as in PostgreSQL.
pub const PUBLIC_SCHEMA_OID: Oid = 2200;

/// Collects the contents of a catalog.
#[derive(Debug)]
pub struct CatalogBuilder {
    catalog: Catalog,
}

impl CatalogBuilder {
    /// Database and superuser `postgres`, the schemas `public`, `pg_catalog`, `information_schema`
    /// and `percosql`.
    pub fn new(system: &'static dyn SystemCatalog) -> Self {
        let postgres = DatabaseDescriptor {
            oid: POSTGRES_DATABASE_OID,
            name: "postgres".into(),
            owner: SUPERUSER_OID,
            ..Default::default()
        };
        Self::empty(Arc::new(postgres.clone()), system).database(postgres).role(Self::superuser()).schema(
            SchemaDescriptor {
                oid: PUBLIC_SCHEMA_OID,
                name: "public".into(),
                // As PostgreSQL has it from 15 on.
                owner: predefined::DATABASE_OWNER,
                comment: None,
                ..Default::default()
            },
        )
    }
    /// Only the built-in schemas and roles: what the store starts from.
    pub(super) fn empty(database: Arc<DatabaseDescriptor>, system: &'static dyn SystemCatalog) -> Self {
        let mut builder =
            CatalogBuilder { catalog: Catalog { version: 1, database, system: System(system), ..Catalog::default() } };
        for (oid, name) in crate::SYSTEM_SCHEMAS {
            builder = builder.schema(SchemaDescriptor {
                oid,
                name: name.into(),
                owner: SUPERUSER_OID,
                comment: None,
                ..Default::default()
            });
        }
        predefined::roles().fold(builder, Self::role)
    }
    /// The superuser `postgres` of a new store.
    pub(super) fn superuser() -> RoleDescriptor {
        RoleDescriptor {
            oid: SUPERUSER_OID,
            name: "postgres".into(),
            superuser: true,
            login: true,
            create_database: true,
            create_role: true,
            replication: true,
            bypass_rls: true,
            password: None,
            comment: None,
            ..Default::default()
        }
    }
    /// Sets the catalog's version.
    #[must_use]
    pub fn version(mut self, version: u64) -> Self {
        self.catalog.version = version;
        self
    }
    /// Sets the sequences' values. A store's catalog has them; a test's catalog may not.
    #[must_use]
    pub fn sequences(mut self, sequences: Arc<Sequences>) -> Self {
        self.catalog.sequences = Some(sequences);
        self
    }
    /// Adds a database of the cluster.
    #[must_use]
    pub fn database(mut self, database: DatabaseDescriptor) -> Self {
        self.catalog.databases.push(Arc::new(database));
        self.catalog.databases.sort_by_key(|database| database.oid);
        self
    }
    /// Adds a role. It replaces a built-in role of the same OID that was altered.
    #[must_use]
    pub fn role(mut self, role: RoleDescriptor) -> Self {
        self.catalog.roles.retain(|other| other.oid != role.oid);
        self.catalog.roles.push(Arc::new(role));
        self.catalog.roles.sort_by_key(|role| role.oid);
        self
    }
    /// Adds a schema of the database.
    #[must_use]
    pub fn schema(mut self, schema: SchemaDescriptor) -> Self {
        self.catalog.schemas.insert(schema.oid, Arc::new(schema));
        self
    }
    /// Adds an enum. This must precede tables with columns of its type.
    #[must_use]
    pub fn enumeration(mut self, enumeration: EnumDescriptor) -> Self {
        self.catalog.enums.insert(enumeration.oid, EnumType::new(&enumeration));
        self
    }
    /// Adds a table or sequence, with its indexes.
    #[must_use]
    pub fn table(mut self, table: impl Into<Arc<TableDescriptor>>) -> Self {
        let mut table = table.into();
        // Columns of an enum type store only its OID.
        if table.columns.iter().any(|column| matches!(column.ty.base, BaseType::Enum(_))) {
            for column in &mut Arc::make_mut(&mut table).columns {
                if let BaseType::Enum(stored) = &mut column.ty.base
                    && let Some(known) = self.catalog.enums.get(&stored.descriptor().oid)
                {
                    *stored = *known;
                }
            }
        }
        let names = self.catalog.names.entry(table.schema.clone()).or_default();
        names.insert(table.name.clone(), Named::Relation(table.oid));
        if table.kind != RelationKind::View {
            self.catalog.storage.insert(table.storage_id, (table.oid, 0));
        }
        for (position, index) in table.indexes.iter().enumerate() {
            names.insert(index.name.clone(), Named::Index { table: table.oid, position });
            self.catalog.indexes.insert(index.oid, (table.oid, position));
            self.catalog.storage.insert(index.storage_id, (table.oid, position));
        }
        for key in &table.foreign_keys {
            let children = self.catalog.referencing.entry(key.parent).or_default();
            if !children.contains(&table.oid) {
                children.push(table.oid);
            }
        }
        self.catalog.relations.insert(table.oid, table);
        self
    }
    /// Builds the immutable catalog.
    pub fn build(self) -> Catalog {
        self.catalog
    }
}

/// Builds the descriptor of a table. OIDs and storage ids of indexes follow the table's.
#[derive(Debug)]
pub struct TableBuilder {
    table: TableDescriptor,
}

impl TableBuilder {
    /// A table `public.name` without columns. Its storage id equals its OID.
    pub fn new(oid: Oid, name: &str) -> Self {
        TableBuilder {
            table: TableDescriptor {
                oid,
                schema_oid: PUBLIC_SCHEMA_OID,
                schema: "public".into(),
                name: name.into(),
                kind: RelationKind::Table,
                version: 1,
                storage_id: StorageId::from(oid),
                columns: Vec::new(),
                indexes: Vec::new(),
                checks: Vec::new(),
                sequence: None,
                view: None,
                foreign_keys: Vec::new(),
                comments: Vec::new(),
                owner: SUPERUSER_OID,
                ..Default::default()
            },
        }
    }
    /// Adds a nullable column.
    #[must_use]
    pub fn column(mut self, name: &str, ty: SqlType) -> Self {
        let id = ColumnId::try_from(self.table.columns.len() + 1).unwrap_or(ColumnId::MAX);
        self.table.columns.push(ColumnDescriptor {
            id,
            name: name.into(),
            ty,
            not_null: false,
            default: None,
            identity: None,
            missing: None,
            dropped: false,
            ..Default::default()
        });
        self
    }
    /// Makes the last column NOT NULL.
    #[must_use]
    pub fn not_null(mut self) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.not_null = true;
        }
        self
    }
    /// Sets the default of the last column.
    #[must_use]
    pub fn default_value(mut self, sql: &str) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.default = Some(sql.into());
        }
        self
    }
    /// Adds a CHECK constraint.
    #[must_use]
    pub fn check(mut self, name: &str, expression: &str) -> Self {
        let oid = self.table.oid + 100 + self.count();
        self.table.checks.push(CheckDescriptor {
            oid,
            name: name.into(),
            expression: expression.into(),
            not_valid: false,
            no_inherit: false,
        });
        self
    }
    /// Adds the primary key over these columns, named `<table>_pkey`. Unknown names are ignored.
    #[must_use]
    pub fn primary_key(mut self, columns: &[&str]) -> Self {
        let name = format!("{}_pkey", self.table.name);
        let mut index = self.index_over(&name, columns, &[], true);
        index.primary = true;
        index.constraint = Some(index.oid + 100);
        index.storage_id = self.table.storage_id;
        for key in &index.columns {
            if let Some(column) = self.table.columns.iter_mut().find(|column| column.id == key.column) {
                column.not_null = true;
            }
        }
        self.table.indexes.insert(0, index);
        self
    }
    /// Adds an index over these columns.
    #[must_use]
    pub fn index(mut self, name: &str, columns: &[&str], include: &[&str], unique: bool) -> Self {
        let index = self.index_over(name, columns, include, unique);
        self.table.indexes.push(index);
        self
    }
    /// Builds the descriptor of the table.
    pub fn build(self) -> TableDescriptor {
        self.table
    }

    fn count(&self) -> Oid {
        Oid::try_from(self.table.indexes.len() + self.table.checks.len() + 1).unwrap_or(Oid::MAX)
    }
    fn index_over(&self, name: &str, columns: &[&str], include: &[&str], unique: bool) -> IndexDescriptor {
        let oid = self.table.oid + self.count();
        let ids = |names: &[&str]| -> Vec<ColumnId> {
            names.iter().filter_map(|name| Some(self.table.column_named(name)?.id)).collect()
        };
        IndexDescriptor {
            oid,
            name: name.into(),
            storage_id: StorageId::from(oid),
            columns: ids(columns).into_iter().map(|column| IndexColumn { column, ..Default::default() }).collect(),
            include: ids(include),
            unique,
            primary: false,
            constraint: None,
            state: IndexState::Public,
            ..Default::default()
        }
    }
}
