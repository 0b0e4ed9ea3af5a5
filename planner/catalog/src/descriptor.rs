//! Descriptors of tables with their columns, indexes and constraints. They are plain data, stored as JSON in catalog
//! rows.

use super::acl::Acl;
use super::changes::Changes;
use super::constraint::{CheckDescriptor, Deferral, ForeignKeyDescriptor};
use super::statistics::TableStatistics;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use types::record::{RecordType, RowOf};
use types::{BaseType, Oid, SqlType};

/// Identity of a column within its table, never reused. It equals PostgreSQL's attnum, from 1.
pub type ColumnId = i16;

/// Prefix of a table's or index's rows in the store. TRUNCATE and rewrites assign a new one.
pub type StorageId = u64;

/// The kind of a relation (`pg_class.relkind`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RelationKind {
    /// A table, `r` in pg_class.
    #[default]
    Table,
    /// A sequence, `S` in pg_class.
    Sequence,
    /// A system view (`v`), whose rows are computed: pg_catalog, information_schema, percosql.
    SystemView,
    /// A view (`v`) that a user created: a named query.
    View,
}

/// Lifetime of a relation (`pg_class.relpersistence`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Persistence {
    /// Permanent, `p` in pg_class.
    #[default]
    Permanent,
    /// UNLOGGED, `u` in pg_class. It is as durable as any other table.
    Unlogged,
    /// Temporary (`t`): it exists until the end of its session.
    Temporary,
}

impl Persistence {
    /// Whether it is [`Persistence::Permanent`].
    pub fn is_permanent(&self) -> bool {
        *self == Persistence::Permanent
    }
    /// The letter in `pg_class.relpersistence`.
    pub fn code(self) -> &'static str {
        match self {
            Persistence::Permanent => "p",
            Persistence::Unlogged => "u",
            Persistence::Temporary => "t",
        }
    }
}

/// The effect of COMMIT on a temporary table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnCommit {
    /// COMMIT keeps the rows.
    #[default]
    PreserveRows,
    /// COMMIT deletes the rows.
    DeleteRows,
    /// COMMIT drops the table.
    Drop,
}

impl OnCommit {
    /// Whether it is [`OnCommit::PreserveRows`].
    pub fn is_preserve(&self) -> bool {
        *self == OnCommit::PreserveRows
    }
}

/// The columns that identify a row for replication. It is only shown, as there is no replication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplicaIdentity {
    /// The primary key's columns.
    #[default]
    Default,
    /// All columns of the row.
    Full,
    /// No columns at all.
    Nothing,
    /// The columns of the index with this OID.
    Index(Oid),
}

impl ReplicaIdentity {
    /// Whether it is [`ReplicaIdentity::Default`].
    pub fn is_default(&self) -> bool {
        *self == ReplicaIdentity::Default
    }
}

/// Storage parameters: names and values as given. Only a table's `autovacuum_enabled` has an effect.
pub type StoredParameters = Vec<(String, String)>;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnDescriptor {
    /// Identity within the table, equal to attnum.
    pub id: ColumnId,
    /// Name of the column.
    pub name: String,
    /// Type with its modifier.
    pub ty: SqlType,
    /// Whether the column is NOT NULL.
    pub not_null: bool,
    /// DEFAULT, as SQL text in canonical form.
    pub default: Option<String>,
    /// The kind of identity column, if it is one.
    pub identity: Option<Identity>,
    /// Value of rows that were written before the column was added: SQL text of a constant.
    pub missing: Option<String>,
    /// Whether the column was dropped. It stays, hidden, so that ids are not reused.
    pub dropped: bool,
    /// The expression of GENERATED ALWAYS AS (…) STORED, as SQL text in canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    /// Privileges on the column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acl: Acl,
    /// SET STATISTICS (`attstattarget`). `None` means the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<i16>,
    /// SET STORAGE (`attstorage`). `None` means the type's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// COLLATE. `None` means the default. All collations are the order of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<String>,
    /// Options of the column (`attoptions`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: StoredParameters,
    /// Declared dimensions of an array (`attndims`). They do not restrict its values.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dimensions: i16,
}

// Serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(value: &i16) -> bool {
    *value == 0
}

impl Default for ColumnDescriptor {
    fn default() -> Self {
        ColumnDescriptor {
            id: 0,
            name: String::new(),
            ty: SqlType::UNKNOWN,
            not_null: false,
            default: None,
            identity: None,
            missing: None,
            dropped: false,
            generated: None,
            acl: Vec::new(),
            statistics: None,
            storage: None,
            collation: None,
            parameters: Vec::new(),
            dimensions: 0,
        }
    }
}

/// The kind of an identity column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Identity {
    /// Declared as `GENERATED ALWAYS AS IDENTITY`.
    Always,
    /// Declared as `GENERATED BY DEFAULT AS IDENTITY`.
    ByDefault,
}

/// A column of an index key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexColumn {
    /// Column of the table. 0 means the next of [`IndexDescriptor::expressions`].
    pub column: ColumnId,
    /// Whether the key descends (DESC).
    pub descending: bool,
    /// Whether NULLs come first. By default, NULLs are last when ascending and first when descending.
    pub nulls_first: bool,
    /// OID of the key's collation, if it differs from the column's. Otherwise 0.
    #[serde(default, skip_serializing_if = "is_none")]
    pub collation: Oid,
    /// OID of the operator class, if it is not the type's default. Otherwise 0.
    #[serde(default, skip_serializing_if = "is_none")]
    pub class: Oid,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_none(oid: &Oid) -> bool {
    *oid == 0
}

/// An expression in an index key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexExpression {
    /// SQL text in canonical form.
    pub text: String,
    /// Type of the expression.
    pub ty: SqlType,
    /// Name of the column in pg_attribute.
    pub name: String,
    /// SET STATISTICS. `None` means the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<i16>,
}

/// The progress of an index build (F1's states; docs/protocol.md, section 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexState {
    /// Writers remove entries, but do not add any. Readers ignore the index.
    DeleteOnly,
    /// Writers maintain the index. Readers ignore it.
    WriteOnly,
    /// Writers maintain the index, and readers use it.
    #[default]
    Public,
    /// The index is being dropped. Writers treat it as `DeleteOnly`.
    Dropping,
}

impl IndexState {
    /// Whether writers add entries in this state.
    pub fn is_maintained(self) -> bool {
        matches!(self, IndexState::WriteOnly | IndexState::Public)
    }
}

/// An index. The primary key is one too: its entries are the table's own rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IndexDescriptor {
    /// Its OID in pg_class.
    pub oid: Oid,
    /// Name of the index.
    pub name: String,
    /// Prefix of the index's entries. The primary key has the table's `storage_id`.
    pub storage_id: StorageId,
    /// Key columns in order.
    pub columns: Vec<IndexColumn>,
    /// Columns of the INCLUDE clause.
    pub include: Vec<ColumnId>,
    /// Whether it is UNIQUE and checked at once.
    pub unique: bool,
    /// Whether it is the table's primary key.
    pub primary: bool,
    /// OID of the constraint it belongs to (PRIMARY KEY or UNIQUE), if any.
    pub constraint: Option<Oid>,
    /// Progress of the index build.
    pub state: IndexState,
    /// The expressions among its key columns, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expressions: Vec<IndexExpression>,
    /// The condition of a partial index (WHERE), as SQL text in canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    /// NULLS NOT DISTINCT: a unique index treats NULLs as equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nulls_not_distinct: bool,
    /// Set if the index belongs to a DEFERRABLE constraint UNIQUE or PRIMARY KEY. Rows may temporarily share a key. So
    /// its entries are those of a non-unique index, and `primary` is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferral: Option<Deferral>,
    /// Storage parameters of WITH (…).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: StoredParameters,
}

impl IndexDescriptor {
    /// The SQL texts of its expressions and its condition.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.expressions.iter().map(|expression| expression.text.as_str()).chain(self.predicate.as_deref())
    }
    /// Whether it is declared unique, even if that is checked only at the end of a statement or transaction.
    pub fn is_declared_unique(&self) -> bool {
        self.unique || self.deferral.is_some()
    }
    /// Whether it belongs to a PRIMARY KEY.
    pub fn is_declared_primary(&self) -> bool {
        self.primary || self.deferral.is_some_and(|deferral| deferral.primary)
    }
    /// Whether its entries depend on more than column values: it has expressions or a condition.
    pub fn is_computed(&self) -> bool {
        self.predicate.is_some() || !self.expressions.is_empty()
    }
    /// Its key columns, each with its expression if it is one.
    pub fn parts(&self) -> impl Iterator<Item = (&IndexColumn, Option<&IndexExpression>)> {
        let mut expressions = self.expressions.iter();
        self.columns.iter().map(move |key| (key, if key.column == 0 { expressions.next() } else { None }))
    }
}

/// Parameters of a sequence. Its value is stored in a row of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequenceDescriptor {
    /// Type: int2, int4 or int8.
    pub ty: SqlType,
    /// START value of the sequence.
    pub start: i64,
    /// INCREMENT of the sequence.
    pub increment: i64,
    /// MINVALUE of the sequence.
    pub min: i64,
    /// MAXVALUE of the sequence.
    pub max: i64,
    /// CACHE of the sequence.
    pub cache: i64,
    /// Whether it has CYCLE.
    pub cycle: bool,
    /// The column that owns the sequence (serial, identity). The sequence is dropped with it.
    pub owned_by: Option<(Oid, ColumnId)>,
}

/// A relation: table, sequence or view.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableDescriptor {
    /// Its OID in pg_class.
    pub oid: Oid,
    /// OID of the schema that contains it.
    pub schema_oid: Oid,
    /// Name of the schema that contains it.
    pub schema: String,
    /// Name of the relation.
    pub name: String,
    /// Kind of the relation.
    pub kind: RelationKind,
    /// It grows with every change of the descriptor.
    pub version: u64,
    /// Prefix of the table's rows in the store.
    pub storage_id: StorageId,
    /// Columns ordered by id, including dropped ones.
    pub columns: Vec<ColumnDescriptor>,
    /// Indexes, with the primary key first if there is one. Without one, rows are keyed by a hidden row number.
    pub indexes: Vec<IndexDescriptor>,
    /// CHECK constraints of the table.
    pub checks: Vec<CheckDescriptor>,
    /// Parameters of the sequence, if `kind` is `Sequence`.
    pub sequence: Option<SequenceDescriptor>,
    /// The view's query, if `kind` is `View`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewDescriptor>,
    /// FOREIGN KEYs of this table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKeyDescriptor>,
    /// Texts of COMMENT ON for the relation and its parts, some of which may have been dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<(CommentOf, String)>,
    /// OID of the owning role.
    pub owner: Oid,
    /// Lifetime of the relation.
    #[serde(default, skip_serializing_if = "Persistence::is_permanent")]
    pub persistence: Persistence,
    /// The effect of COMMIT on a temporary table.
    #[serde(default, skip_serializing_if = "OnCommit::is_preserve")]
    pub on_commit: OnCommit,
    /// Privileges on the relation. `None` before the first GRANT or REVOKE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
    /// Storage parameters of the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: StoredParameters,
    /// REPLICA IDENTITY of the table.
    #[serde(default, skip_serializing_if = "ReplicaIdentity::is_default")]
    pub replica_identity: ReplicaIdentity,
    /// Statistics of ANALYZE. They have a row of their own, so that writers of the table do not conflict with them.
    #[serde(skip)]
    pub statistics: Option<Arc<TableStatistics>>,
    /// Rows that this server has written since the statistics were gathered.
    #[serde(skip)]
    pub changes: Changes,
}

/// The part of a relation that a comment describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommentOf {
    /// The relation as a whole.
    Relation,
    /// A column, by its id.
    Column(ColumnId),
    /// An index, by its OID in pg_class.
    Index(Oid),
    /// A constraint, by its OID in pg_constraint.
    Constraint(Oid),
}

/// A relation that a view's query refers to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewRelation {
    /// The schema, if the query contains it.
    pub schema: Option<String>,
    /// The name as the query contains it, in folded case.
    pub name: String,
    /// OID of the relation when the view was created.
    pub oid: Oid,
    /// Its columns at that time, with their names of that time. The query can see only these. Empty for system
    /// relations, which are seen as they are.
    pub columns: Vec<(ColumnId, String)>,
    /// The columns that the query needs.
    pub used: Vec<ColumnId>,
}

/// A view's query as it was written, with the meaning of its names at that time. Renaming a relation or column below,
/// or another search_path, thus does not change the view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewDescriptor {
    /// OID of its rule `_RETURN` in pg_rewrite.
    pub rule: Oid,
    /// SQL text of the query.
    pub query: String,
    /// The relations it refers to; each name occurs once.
    pub relations: Vec<ViewRelation>,
    /// OIDs of the PRIMARY KEY constraints that its GROUP BY relies on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Oid>,
    /// The clause WITH CHECK OPTION, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_option: Option<CheckOption>,
    /// WITH (security_barrier). It is stored and shown, but has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_barrier: Option<bool>,
    /// WITH (security_invoker): privileges of the querying role count, not the owner's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_invoker: Option<bool>,
}

/// The kind of WITH CHECK OPTION of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckOption {
    /// New rows must satisfy the view's own condition.
    Local,
    /// New rows must satisfy the conditions of the view and of the views below.
    Cascaded,
}

impl ViewDescriptor {
    /// The options in `pg_class.reloptions`.
    pub fn options(&self) -> Vec<String> {
        let flag = |name: &str, value: Option<bool>| value.map(|value| format!("{name}={value}"));
        let check = self.check_option.map(|option| match option {
            CheckOption::Local => "check_option=local".to_string(),
            CheckOption::Cascaded => "check_option=cascaded".to_string(),
        });
        let barrier = flag("security_barrier", self.security_barrier);
        [barrier, flag("security_invoker", self.security_invoker), check].into_iter().flatten().collect()
    }
}

impl TableDescriptor {
    /// The columns that are not dropped, in order.
    pub fn live_columns(&self) -> impl Iterator<Item = &ColumnDescriptor> {
        self.columns.iter().filter(|column| !column.dropped)
    }
    /// The composite type of its rows.
    pub fn row_type(&self) -> SqlType {
        let row_of = RowOf { relation: self.oid, schema: self.schema.clone(), name: self.name.clone() };
        let fields = self.live_columns().map(|column| (column.name.clone(), column.ty)).collect();
        SqlType::of(BaseType::Record(RecordType::of_relation(row_of, fields)))
    }
    /// The column with this id, dropped or not.
    pub fn column(&self, id: ColumnId) -> Option<&ColumnDescriptor> {
        self.columns.iter().find(|column| column.id == id)
    }
    /// The live column with this name.
    pub fn column_named(&self, name: &str) -> Option<&ColumnDescriptor> {
        self.live_columns().find(|column| column.name == name)
    }
    /// The primary key, unless it is deferrable.
    pub fn primary_key(&self) -> Option<&IndexDescriptor> {
        self.indexes.iter().find(|index| index.primary)
    }
    /// The PRIMARY KEY, deferrable or not.
    pub fn declared_primary_key(&self) -> Option<&IndexDescriptor> {
        self.indexes.iter().find(|index| index.is_declared_primary())
    }
    /// All indexes except the primary key.
    pub fn secondary_indexes(&self) -> impl Iterator<Item = &IndexDescriptor> {
        self.indexes.iter().filter(|index| !index.primary)
    }
}

/// A schema (`pg_namespace`) of a database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchemaDescriptor {
    /// Its OID in pg_namespace.
    pub oid: Oid,
    /// Name of the schema.
    pub name: String,
    /// OID of the owning role.
    pub owner: Oid,
    /// The text of COMMENT ON. It is empty once the comment was removed, and `None` if there never was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// For a schema of temporary tables with several servers: the server of its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u64>,
    /// Privileges on the schema. `None` before the first GRANT or REVOKE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
}

/// Initial settings of sessions: names and values as given.
pub type StoredSettings = Vec<(String, String)>;

/// The membership of a role in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// OID of the role that it is a member of.
    pub role: Oid,
    /// OID of the role that granted the membership.
    pub grantor: Oid,
    /// Whether it has WITH ADMIN OPTION.
    pub admin: bool,
}

/// A role (`pg_authid`) of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleDescriptor {
    /// Its OID in pg_authid.
    pub oid: Oid,
    /// Name of the role.
    pub name: String,
    /// Whether it has SUPERUSER.
    pub superuser: bool,
    /// Whether it has LOGIN.
    pub login: bool,
    /// Whether it has CREATEDB.
    pub create_database: bool,
    /// Whether it has CREATEROLE.
    pub create_role: bool,
    /// SCRAM-SHA-256 verifier, as PostgreSQL stores it (`SCRAM-SHA-256$iterations:salt$stored_key:server_key`).
    pub password: Option<String>,
    /// The text of COMMENT ON. It is empty once the comment was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Its memberships in other roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member_of: Vec<Membership>,
    /// Whether it has NOINHERIT.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_inherit: bool,
    /// REPLICATION. It is only shown, as there is no replication.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replication: bool,
    /// BYPASSRLS. It is only shown, as there are no policies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bypass_rls: bool,
    /// CONNECTION LIMIT. `None` means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_limit: Option<u32>,
    /// VALID UNTIL of its password, as a timestamptz in microseconds since 2000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<i64>,
    /// Settings of ALTER ROLE … SET, by database OID. 0 means all databases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<(Oid, StoredSettings)>,
    /// Settings of ALTER ROLE ALL SET. The superuser created first stores them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_of_all: StoredSettings,
}

impl RoleDescriptor {
    /// Settings of ALTER ROLE … SET for all databases.
    pub fn everywhere(&self) -> Option<&StoredSettings> {
        self.settings.iter().find(|(database, _)| *database == 0).map(|(_, settings)| settings)
    }
    /// INHERIT: whether it has the privileges of the roles that it is a member of.
    pub fn inherits(&self) -> bool {
        !self.no_inherit
    }
}
