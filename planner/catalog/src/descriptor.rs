//! Descriptors: what the catalog knows of a table, its columns, indexes and constraints.
//! Plain data, stored as JSON in catalog rows.

use super::acl::Acl;
use super::changes::Changes;
use super::constraint::{CheckDescriptor, Deferral, ForeignKeyDescriptor};
use super::statistics::TableStatistics;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use types::record::{RecordType, RowOf};
use types::{BaseType, Oid, SqlType};

/// Identity of a column within its table; never reused. Equals PostgreSQL's attnum: from 1.
pub type ColumnId = i16;

/// Prefix of the rows of a table or index in the store; a new one at TRUNCATE and rewrites.
pub type StorageId = u64;

/// What kind of relation a descriptor describes (`pg_class.relkind`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RelationKind {
    /// `r`
    #[default]
    Table,
    /// `S`
    Sequence,
    /// `v`: a system view, computed (pg_catalog, information_schema, percosql).
    SystemView,
    /// `v`: a view that a user made: a query with a name.
    View,
}

/// How long a relation is there (`pg_class.relpersistence`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Persistence {
    /// `p`
    #[default]
    Permanent,
    /// `u`: UNLOGGED was said; it is as durable as any other.
    Unlogged,
    /// `t`: until the session that made it ends.
    Temporary,
}

impl Persistence {
    /// Whether it is [`Persistence::Permanent`].
    pub fn is_permanent(&self) -> bool {
        *self == Persistence::Permanent
    }
    /// `pg_class.relpersistence`.
    pub fn code(self) -> &'static str {
        match self {
            Persistence::Permanent => "p",
            Persistence::Unlogged => "u",
            Persistence::Temporary => "t",
        }
    }
}

/// What becomes of a temporary table at COMMIT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnCommit {
    /// Nothing.
    #[default]
    PreserveRows,
    /// Its rows go.
    DeleteRows,
    /// It goes.
    Drop,
}

impl OnCommit {
    /// Whether it is [`OnCommit::PreserveRows`].
    pub fn is_preserve(&self) -> bool {
        *self == OnCommit::PreserveRows
    }
}

/// What of a row replication would tell of: there is none, so it is shown alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplicaIdentity {
    /// The primary key.
    #[default]
    Default,
    /// All columns.
    Full,
    /// Nothing.
    Nothing,
    /// The columns of an index, by its OID.
    Index(Oid),
}

impl ReplicaIdentity {
    /// Whether it is [`ReplicaIdentity::Default`].
    pub fn is_default(&self) -> bool {
        *self == ReplicaIdentity::Default
    }
}

/// Storage parameters: names and values as they were given. They steer nothing, but for a table's `autovacuum_enabled`.
pub type StoredParameters = Vec<(String, String)>;

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnDescriptor {
    /// Identity, attnum.
    pub id: ColumnId,
    /// Name.
    pub name: String,
    /// Type with modifier.
    pub ty: SqlType,
    /// NOT NULL.
    pub not_null: bool,
    /// DEFAULT, as SQL text in canonical form.
    pub default: Option<String>,
    /// `GENERATED {ALWAYS|BY DEFAULT} AS IDENTITY`.
    pub identity: Option<Identity>,
    /// Value of rows that were written before the column was added: SQL text of a constant.
    pub missing: Option<String>,
    /// Dropped: keeps its place so that ids are not reused; never shown.
    pub dropped: bool,
    /// `GENERATED ALWAYS AS (…) STORED`: the expression, as SQL text in canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    /// What was granted on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acl: Acl,
    /// SET STATISTICS (`attstattarget`); none for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<i16>,
    /// SET STORAGE (`attstorage`); none for the type's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// COLLATE; none for the default. All of them are the order of bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<String>,
    /// SET (…) of it (`attoptions`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: StoredParameters,
    /// Dimensions of an array as they were declared (`attndims`): they say nothing of its values.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dimensions: i16,
}

// Serde asks by reference.
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

/// Kind of an identity column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Identity {
    /// `GENERATED ALWAYS`
    Always,
    /// `GENERATED BY DEFAULT`
    ByDefault,
}

/// A column of an index key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexColumn {
    /// Column of the table; 0 for the next of [`IndexDescriptor::expressions`].
    pub column: ColumnId,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST. PostgreSQL's default: last when ascending, first when descending.
    pub nulls_first: bool,
    /// COLLATE of the key, where it is not the column's; 0 for none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub collation: Oid,
    /// The operator class, where it is not that of the type; 0 for none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub class: Oid,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_none(oid: &Oid) -> bool {
    *oid == 0
}

/// An expression of an index key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexExpression {
    /// SQL text in canonical form.
    pub text: String,
    /// Type of its values.
    pub ty: SqlType,
    /// Name of the column in pg_attribute.
    pub name: String,
    /// SET STATISTICS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics: Option<i16>,
}

/// How far an index is (F1's states; docs/protocol.md, section 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexState {
    /// Writers remove entries, nobody adds or reads.
    DeleteOnly,
    /// Writers maintain it, nobody reads.
    WriteOnly,
    /// Maintained and read.
    #[default]
    Public,
    /// On its way out: as `DeleteOnly`.
    Dropping,
}

impl IndexState {
    /// Whether writers add entries.
    pub fn is_maintained(self) -> bool {
        matches!(self, IndexState::WriteOnly | IndexState::Public)
    }
}

/// An index, the primary key's included: the primary key is the table's own rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IndexDescriptor {
    /// OID in pg_class.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Rows of the index; of the primary key: the table's own `storage_id`.
    pub storage_id: StorageId,
    /// Key columns in order.
    pub columns: Vec<IndexColumn>,
    /// INCLUDE columns.
    pub include: Vec<ColumnId>,
    /// UNIQUE.
    pub unique: bool,
    /// The table's primary key.
    pub primary: bool,
    /// OID of the constraint it belongs to (PRIMARY KEY or UNIQUE), if any.
    pub constraint: Option<Oid>,
    /// How far it is.
    pub state: IndexState,
    /// The expressions among its key columns, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expressions: Vec<IndexExpression>,
    /// WHERE: only rows for which it is true have entries. SQL text in canonical form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    /// NULLS NOT DISTINCT: a unique index takes NULLs for equal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nulls_not_distinct: bool,
    /// Of a UNIQUE or PRIMARY KEY constraint that is DEFERRABLE. Its entries are those of an index that is not unique, and a
    /// table's primary key in the sense of `primary` it is not: rows may share a key for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferral: Option<Deferral>,
    /// WITH (…).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: StoredParameters,
}

impl IndexDescriptor {
    /// Its expressions and its predicate, as SQL text.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.expressions.iter().map(|expression| expression.text.as_str()).chain(self.predicate.as_deref())
    }
    /// Whether it is unique, if only from the end of a statement or transaction on.
    pub fn is_declared_unique(&self) -> bool {
        self.unique || self.deferral.is_some()
    }
    /// Whether it is a PRIMARY KEY.
    pub fn is_declared_primary(&self) -> bool {
        self.primary || self.deferral.is_some_and(|deferral| deferral.primary)
    }
    /// Whether its entries need more than the values of columns: expressions or a predicate.
    pub fn is_computed(&self) -> bool {
        self.predicate.is_some() || !self.expressions.is_empty()
    }
    /// Its key columns, each with its expression if it is one.
    pub fn parts(&self) -> impl Iterator<Item = (&IndexColumn, Option<&IndexExpression>)> {
        let mut expressions = self.expressions.iter();
        self.columns.iter().map(move |key| (key, if key.column == 0 { expressions.next() } else { None }))
    }
}

/// A sequence's parameters (its value is a row of its own).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequenceDescriptor {
    /// Type: int2, int4 or int8.
    pub ty: SqlType,
    /// START.
    pub start: i64,
    /// INCREMENT.
    pub increment: i64,
    /// MINVALUE.
    pub min: i64,
    /// MAXVALUE.
    pub max: i64,
    /// CACHE.
    pub cache: i64,
    /// CYCLE.
    pub cycle: bool,
    /// Owning table and column (serial, identity): dropped with it.
    pub owned_by: Option<(Oid, ColumnId)>,
}

/// A relation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableDescriptor {
    /// OID in pg_class.
    pub oid: Oid,
    /// OID of the schema.
    pub schema_oid: Oid,
    /// Name of the schema.
    pub schema: String,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: RelationKind,
    /// Grows with every change of the descriptor.
    pub version: u64,
    /// Rows of the table.
    pub storage_id: StorageId,
    /// Columns in order of id, dropped ones included.
    pub columns: Vec<ColumnDescriptor>,
    /// Indexes; the primary key first, when there is one. Without one, rows are keyed by a
    /// hidden row number.
    pub indexes: Vec<IndexDescriptor>,
    /// CHECK constraints.
    pub checks: Vec<CheckDescriptor>,
    /// Sequence parameters, when `kind` is `Sequence`.
    pub sequence: Option<SequenceDescriptor>,
    /// The query, when `kind` is `View`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewDescriptor>,
    /// FOREIGN KEYs of this table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKeyDescriptor>,
    /// What COMMENT ON said of it and its parts, some of which may have gone since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<(CommentOf, String)>,
    /// OID of the owning role.
    pub owner: Oid,
    /// How long it is there.
    #[serde(default, skip_serializing_if = "Persistence::is_permanent")]
    pub persistence: Persistence,
    /// What becomes of it at COMMIT.
    #[serde(default, skip_serializing_if = "OnCommit::is_preserve")]
    pub on_commit: OnCommit,
    /// What was granted on it; none before the first GRANT or REVOKE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
    /// WITH (…) of a table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: StoredParameters,
    /// REPLICA IDENTITY.
    #[serde(default, skip_serializing_if = "ReplicaIdentity::is_default")]
    pub replica_identity: ReplicaIdentity,
    /// What ANALYZE found out; a row of its own, so that who writes to the table need not care.
    #[serde(skip)]
    pub statistics: Option<Arc<TableStatistics>>,
    /// Rows written since, by this server.
    #[serde(skip)]
    pub changes: Changes,
}

/// What of a relation a comment is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommentOf {
    /// The relation itself.
    Relation,
    /// A column.
    Column(ColumnId),
    /// An index, by its OID in pg_class.
    Index(Oid),
    /// A constraint, by its OID in pg_constraint.
    Constraint(Oid),
}

/// A relation that a view's query names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewRelation {
    /// The schema, where the query writes it.
    pub schema: Option<String>,
    /// The name as the query writes it, folded.
    pub name: String,
    /// What it named when the view was made.
    pub oid: Oid,
    /// The columns it had then, by the names they had then: the query sees these and no others.
    /// None of a relation of the system, which is seen as it is.
    pub columns: Vec<(ColumnId, String)>,
    /// Those that the query needs.
    pub used: Vec<ColumnId>,
}

/// What a view is. Its query stays as it was written; what its names mean stands beside it, so that
/// nothing changes when a relation or column below is renamed, or a search_path is another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewDescriptor {
    /// OID of its rule `_RETURN` in pg_rewrite.
    pub rule: Oid,
    /// The query.
    pub query: String,
    /// The relations it names, each name once.
    pub relations: Vec<ViewRelation>,
    /// The PRIMARY KEYs, by the OIDs of their constraints, that its GROUP BY relies on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Oid>,
    /// WITH CHECK OPTION.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_option: Option<CheckOption>,
    /// WITH (security_barrier): shown and kept, and without effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_barrier: Option<bool>,
    /// WITH (security_invoker): the privileges of who asks count, not those of the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_invoker: Option<bool>,
}

/// WITH CHECK OPTION of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckOption {
    /// New rows must be rows of the view itself.
    Local,
    /// And of the views below.
    Cascaded,
}

impl ViewDescriptor {
    /// `pg_class.reloptions`.
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
    /// The columns that are not dropped.
    pub fn live_columns(&self) -> impl Iterator<Item = &ColumnDescriptor> {
        self.columns.iter().filter(|column| !column.dropped)
    }
    /// The type of its rows.
    pub fn row_type(&self) -> SqlType {
        let row_of = RowOf { relation: self.oid, schema: self.schema.clone(), name: self.name.clone() };
        let fields = self.live_columns().map(|column| (column.name.clone(), column.ty)).collect();
        SqlType::of(BaseType::Record(RecordType::of_relation(row_of, fields)))
    }
    /// The column with this id.
    pub fn column(&self, id: ColumnId) -> Option<&ColumnDescriptor> {
        self.columns.iter().find(|column| column.id == id)
    }
    /// The live column with this name.
    pub fn column_named(&self, name: &str) -> Option<&ColumnDescriptor> {
        self.live_columns().find(|column| column.name == name)
    }
    /// The primary key.
    pub fn primary_key(&self) -> Option<&IndexDescriptor> {
        self.indexes.iter().find(|index| index.primary)
    }
    /// The PRIMARY KEY, deferrable or not.
    pub fn declared_primary_key(&self) -> Option<&IndexDescriptor> {
        self.indexes.iter().find(|index| index.is_declared_primary())
    }
    /// Indexes other than the primary key.
    pub fn secondary_indexes(&self) -> impl Iterator<Item = &IndexDescriptor> {
        self.indexes.iter().filter(|index| !index.primary)
    }
}

/// A schema (`pg_namespace`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchemaDescriptor {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// Owner.
    pub owner: Oid,
    /// COMMENT ON; empty when it was taken away, `None` when none was ever given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Of a schema of temporary tables, where several servers serve the store: the server of its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u64>,
    /// What was granted on it; none before the first GRANT or REVOKE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
}

/// Settings that sessions begin with: names and values as they were given.
pub type StoredSettings = Vec<(String, String)>;

/// That a role is a member of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The other.
    pub role: Oid,
    /// Who granted it.
    pub grantor: Oid,
    /// WITH ADMIN OPTION.
    pub admin: bool,
}

/// A role (`pg_authid`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleDescriptor {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// SUPERUSER.
    pub superuser: bool,
    /// LOGIN.
    pub login: bool,
    /// CREATEDB.
    pub create_database: bool,
    /// CREATEROLE.
    pub create_role: bool,
    /// SCRAM-SHA-256 verifier as PostgreSQL stores it
    /// (`SCRAM-SHA-256$iterations:salt$stored_key:server_key`).
    pub password: Option<String>,
    /// COMMENT ON; empty when it was taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The roles that it is a member of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub member_of: Vec<Membership>,
    /// NOINHERIT.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_inherit: bool,
    /// REPLICATION: shown, for there is none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replication: bool,
    /// BYPASSRLS: shown, for there are no policies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bypass_rls: bool,
    /// CONNECTION LIMIT; none for any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_limit: Option<u32>,
    /// VALID UNTIL, of its password, as a datum of timestamptz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<i64>,
    /// ALTER ROLE … SET, by database; 0 for every one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<(Oid, StoredSettings)>,
    /// Of the first superuser, who is always there: ALTER ROLE ALL SET.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_of_all: StoredSettings,
}

impl RoleDescriptor {
    /// ALTER ROLE … SET, of every database.
    pub fn everywhere(&self) -> Option<&StoredSettings> {
        self.settings.iter().find(|(database, _)| *database == 0).map(|(_, settings)| settings)
    }
    /// INHERIT: it has the privileges of the roles that it is a member of.
    pub fn inherits(&self) -> bool {
        !self.no_inherit
    }
}
