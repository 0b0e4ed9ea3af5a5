//! A database in memory for tests of plans: one table with rows, transactions, contexts.

use crate::catalog::{
    Catalog, ColumnDescriptor, IndexColumn, IndexDescriptor, IndexState, RelationKind, TableDescriptor,
};
use crate::encoding::{IndexEncoder, RowEncoder, TableKey};
use crate::execution::StatementContext;
use crate::plan::{Engine, EngineOptions};
use crate::session::shared::SessionShared;
use crate::settings::Settings;
use crate::types::{Datum, SqlType};
use datafusion::arrow::array::{ArrayRef, Int32Array, StringArray};
use std::sync::Arc;
use storage::SystemEnv;
use storage::testing::MemoryStore;
use txn::{
    LockStrength, Oracle, Transaction, TransactionOptions, TransactionStore, TransactionStoreOptions, Write, WriteKind,
};

/// A store with the table `t (id int4 primary key, a int4, b text)`. It has an index on `a` and a unique index on `b`.
pub struct World {
    pub store: Arc<TransactionStore>,
    pub table: Arc<TableDescriptor>,
    pub engine: Arc<Engine>,
}

fn column(id: i16, name: &str, ty: SqlType, not_null: bool) -> ColumnDescriptor {
    ColumnDescriptor {
        id,
        name: name.into(),
        ty,
        not_null,
        default: None,
        identity: None,
        missing: None,
        dropped: false,
        ..Default::default()
    }
}

fn index(oid: u32, name: &str, columns: &[i16], unique: bool, primary: bool) -> IndexDescriptor {
    IndexDescriptor {
        oid,
        name: name.into(),
        storage_id: u64::from(oid),
        columns: columns.iter().map(|column| IndexColumn { column: *column, ..Default::default() }).collect(),
        include: vec![],
        unique,
        primary,
        constraint: None,
        state: IndexState::Public,
        ..Default::default()
    }
}

/// The table of [`World`].
pub fn table() -> TableDescriptor {
    TableDescriptor {
        oid: 100,
        schema_oid: 1,
        schema: "public".into(),
        name: "t".into(),
        kind: RelationKind::Table,
        version: 1,
        storage_id: 1000,
        columns: vec![
            column(1, "id", SqlType::INT4, true),
            column(2, "a", SqlType::INT4, false),
            column(3, "b", SqlType::TEXT, false),
        ],
        indexes: vec![
            IndexDescriptor { storage_id: 1000, ..index(1000, "t_pkey", &[1], true, true) },
            index(1001, "t_a_idx", &[2], false, false),
            index(1002, "t_b_key", &[3], true, false),
        ],
        checks: vec![],
        sequence: None,
        view: None,
        foreign_keys: Vec::new(),
        comments: Vec::new(),
        owner: 10,
        ..Default::default()
    }
}

impl World {
    /// A store with rows `(i, i % 10, 'row i')` for i in 0..rows; every seventh `a` is NULL.
    pub async fn new(rows: i32) -> World {
        let env = SystemEnv::new(tokio::runtime::Handle::current());
        let oracle = Oracle::new(env.clone());
        let memory = MemoryStore::new(oracle.clone());
        let store = TransactionStore::open(memory, oracle, env, TransactionStoreOptions::default()).await.unwrap();
        let world =
            World { store, table: Arc::new(table()), engine: Engine::new(EngineOptions::default(), vec![]).unwrap() };
        let transaction = world.begin();
        world.insert(&transaction, 0, rows).await;
        transaction.commit().await.unwrap();
        world
    }

    /// The same store, with an engine that scans every table in parallel.
    pub fn with_partitions(self, partitions: usize) -> World {
        let options = EngineOptions { partitions, parallel_bytes: 0, ..EngineOptions::default() };
        World { engine: Engine::new(options, vec![]).unwrap(), ..self }
    }

    /// Begins a transaction in this store.
    pub fn begin(&self) -> Arc<Transaction> {
        self.store.begin(TransactionOptions::default())
    }

    /// Writes the rows `from..to` with their index entries.
    pub async fn insert(&self, transaction: &Arc<Transaction>, from: i32, to: i32) {
        let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(from..to));
        let a: ArrayRef = Arc::new((from..to).map(|i| (i % 7 != 0).then_some(i % 10)).collect::<Int32Array>());
        let b: ArrayRef = Arc::new(StringArray::from_iter_values((from..to).map(|i| format!("row {i:06}"))));
        let columns = [ids, a, b];
        let (key, row) = (TableKey::new(&self.table).unwrap(), RowEncoder::new(&self.table));
        let mut writes = vec![];
        for position in 0..(to - from) as usize {
            let (mut row_key, mut value) = (vec![], vec![]);
            key.encode(&columns, position, &mut row_key).unwrap();
            row.encode(&columns, position, &mut value).unwrap();
            for index in self.table.secondary_indexes() {
                let encoder = IndexEncoder::new(&self.table, index).unwrap();
                let entry = encoder.encode(&columns, position, &row_key).unwrap();
                writes.push(put(entry.key, entry.value));
            }
            writes.push(put(row_key, value));
        }
        transaction.write(writes).await.unwrap();
    }

    /// A context for one statement with these parameters.
    pub fn context(&self, transaction: &Arc<Transaction>, parameters: Vec<Datum>) -> Arc<StatementContext> {
        self.context_at(transaction, parameters, 1_000_000)
    }

    /// A context for one statement, with a transaction time.
    pub fn context_at(
        &self,
        transaction: &Arc<Transaction>,
        parameters: Vec<Datum>,
        time: i64,
    ) -> Arc<StatementContext> {
        Arc::new(StatementContext {
            parameters,
            transaction: Arc::clone(transaction),
            command: transaction.command(),
            catalog: Arc::new(Catalog::default()),
            settings: Arc::new(Settings::default()),
            session: Arc::new(SessionShared::default()),
            transaction_time: time,
            statement_time: time,
            held: Default::default(),
            for_reference: false,
            view_rows: Default::default(),
        })
    }
}

fn put(key: impl Into<bytes::Bytes>, value: impl Into<bytes::Bytes>) -> Write {
    Write { key: key.into(), kind: WriteKind::Put(value.into()), strength: LockStrength::Update }
}
