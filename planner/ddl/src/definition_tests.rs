//! Tests of DDL over the engine in memory: the state of the catalog inside the transaction, after
//! COMMIT and after ROLLBACK.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use catalog::builder::POSTGRES_DATABASE_OID;
use executor::StatementContext;
use std::sync::Arc;
use storage::{EnvRef, StoreRef, SystemEnv};
use syntax::StatementKind;
use txn::{Oracle, TransactionOptions, TransactionStore, TransactionStoreOptions};
use types::Datum;

pub struct World {
    pub store: Arc<CatalogStore>,
    memory: StoreRef,
}

/// One transaction of one session.
pub struct Client {
    pub world: Arc<World>,
    pub transaction: Arc<Transaction>,
    locks: Arc<HeldLocks>,
    pub session: Arc<SessionShared>,
}

impl World {
    pub async fn new() -> Arc<World> {
        World::with(TransactionStoreOptions::default()).await
    }
    pub(super) async fn with(options: TransactionStoreOptions) -> Arc<World> {
        let env: EnvRef = SystemEnv::new(tokio::runtime::Handle::current());
        let oracle = Oracle::new(env.clone());
        let memory = test_store::open(&oracle, &env).await;
        let transactions = TransactionStore::open(memory.clone(), oracle, env.clone(), options).await.unwrap();
        let store = CatalogStore::open(transactions, env, pg_catalog::SystemViews::get()).await.unwrap();
        Arc::new(World { store, memory })
    }
    /// A new server over the same rows.
    async fn reopen(&self) -> Arc<World> {
        let env = SystemEnv::new(tokio::runtime::Handle::current());
        let oracle = self.store.transactions().oracle().clone();
        let options = TransactionStoreOptions::default();
        let transactions = TransactionStore::open(self.memory.clone(), oracle, env.clone(), options).await.unwrap();
        let store = CatalogStore::open(transactions, env, pg_catalog::SystemViews::get()).await.unwrap();
        Arc::new(World { store, memory: self.memory.clone() })
    }
    pub fn begin(self: &Arc<Self>) -> Client {
        Client {
            world: Arc::clone(self),
            transaction: self.store.transactions().begin(TransactionOptions::default()),
            locks: self.store.locks().begin(),
            session: Arc::new(SessionShared::default()),
        }
    }
    /// Runs statements, each in its own transaction.
    pub async fn run(self: &Arc<Self>, sql: &str) -> Result<String> {
        let client = self.begin();
        let tag = client.run(sql).await?;
        client.commit().await?;
        Ok(tag)
    }
    pub async fn catalog(self: &Arc<Self>) -> Arc<Catalog> {
        self.begin().catalog().await
    }
}

impl Client {
    pub async fn catalog(&self) -> Arc<Catalog> {
        self.world.store.snapshot(&self.transaction, POSTGRES_DATABASE_OID).await.unwrap()
    }
    pub async fn run(&self, sql: &str) -> Result<String> {
        let mut tag = String::new();
        for statement in syntax::parse(sql)? {
            let context = DdlContext {
                store: Arc::clone(&self.world.store),
                transaction: Arc::clone(&self.transaction),
                catalog: self.catalog().await,
                locks: Arc::clone(&self.locks),
                settings: self.session.settings(),
                session: Arc::clone(&self.session),
                user: 10,
                transaction_time: 0,
                renewable: false,
                repeatable: false,
                stale: AtomicBool::new(false),
            };
            tag = match &statement.kind {
                StatementKind::Sql(tree) => execute(&context, tree).await?,
                StatementKind::Database(statement) => database(&context, statement).await?,
                StatementKind::CreateSchema(create) => schema::create(&context, create).await?,
                _ => panic!("not DDL: {sql}"),
            };
            self.transaction.advance_command();
        }
        Ok(tag)
    }
    pub fn locks(&self) -> &Arc<HeldLocks> {
        &self.locks
    }
    pub async fn commit(self) -> Result<()> {
        self.transaction.commit().await?;
        Ok(())
    }
    pub async fn context(&self) -> StatementContext {
        StatementContext {
            parameters: Vec::new(),
            transaction: Arc::clone(&self.transaction),
            command: self.transaction.command(),
            catalog: self.catalog().await,
            settings: self.session.settings(),
            session: Arc::clone(&self.session),
            transaction_time: 0,
            statement_time: 0,
            held: Default::default(),
            for_reference: false,
            view_rows: Default::default(),
        }
    }
}

fn path() -> Vec<String> {
    vec!["public".to_string()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn create_table_makes_what_postgresql_makes() {
    let world = World::new().await;
    let sql = "create table t(a serial primary key, b varchar(10) default 'x' not null, c numeric(10,2) check (c>0), \
               d timestamptz default now(), e int generated always as identity, unique(b,c), constraint big check (c < 9 and a > 1))";
    assert_eq!(world.run(sql).await.unwrap(), "CREATE TABLE");
    let catalog = world.catalog().await;
    let table = catalog.relation(None, "t", &path()).unwrap();
    assert!(table.oid >= 16_384 && table.storage_id >= 1000);
    let defaults: Vec<_> = table.columns.iter().map(|column| column.default.clone()).collect();
    assert_eq!(defaults[0].as_deref(), Some("nextval('public.t_a_seq'::regclass)"));
    assert_eq!(defaults[1].as_deref(), Some("'x'::character varying"));
    assert_eq!(defaults[3].as_deref(), Some("now()"));
    assert!(table.columns[0].not_null && table.columns[1].not_null && table.columns[4].not_null);
    let names: Vec<_> = table.indexes.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(names, ["t_pkey", "t_b_c_key"]);
    assert_eq!(table.indexes[0].storage_id, table.storage_id);
    let checks: Vec<_> = table.checks.iter().map(|check| (check.name.as_str(), check.expression.as_str())).collect();
    assert_eq!(checks, [("t_c_check", "(c > 0)"), ("big", "((c < 9) AND (a > 1))")]);
    assert_eq!(catalog.owned_sequence(table.oid, 1).unwrap().name, "t_a_seq");
    assert_eq!(catalog.owned_sequence(table.oid, 5).unwrap().name, "t_e_seq");
    assert_eq!(world.run("create table if not exists t(a int)").await.unwrap(), "CREATE TABLE");
    assert_eq!(world.run("create table t(a int)").await.unwrap_err().state(), state_of("duplicate"));
}

fn state_of(what: &str) -> &'static str {
    match what {
        "duplicate" => sql_error::state::DUPLICATE_TABLE,
        _ => panic!("{what}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ddl_is_seen_inside_its_transaction_and_gone_after_rollback() {
    let world = World::new().await;
    let client = world.begin();
    client.run("create table t(a int primary key); create index t_i on t(a desc)").await.unwrap();
    assert!(client.catalog().await.relation(None, "t", &path()).is_some());
    assert!(client.catalog().await.index_named(None, "t_i", &path()).is_some());
    assert!(world.catalog().await.relation(None, "t", &path()).is_none());
    client.transaction.rollback().await;
    drop(client);
    assert!(world.catalog().await.relation(None, "t", &path()).is_none());
    world.run("create table t(b int)").await.unwrap();
    assert!(world.catalog().await.relation(None, "t", &path()).unwrap().column_named("b").is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rollback_to_a_savepoint_shows_the_catalog_of_before() {
    let world = World::new().await;
    let client = world.begin();
    client.run("create table t(a int)").await.unwrap();
    let savepoint = client.transaction.command();
    client.run("create table u(a int)").await.unwrap();
    let with_both = client.catalog().await;
    client.transaction.rollback_to(savepoint).await.unwrap();
    client.run("create table v(a int)").await.unwrap();
    let catalog = client.catalog().await;
    assert_ne!(catalog.version(), with_both.version());
    assert!(catalog.relation(None, "t", &path()).is_some());
    assert!(catalog.relation(None, "u", &path()).is_none());
    assert!(catalog.relation(None, "v", &path()).is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oids_and_storage_ids_stay_and_are_never_given_twice() {
    let world = World::new().await;
    world.run("create table t(a int primary key, b int unique)").await.unwrap();
    let before = world.catalog().await.relation(None, "t", &path()).unwrap();
    let world = world.reopen().await;
    let after = world.catalog().await.relation(None, "t", &path()).unwrap();
    assert_eq!(before, after);
    world.run("create table u(a int primary key, b int unique)").await.unwrap();
    let other = world.catalog().await.relation(None, "u", &path()).unwrap();
    assert!(other.oid > before.indexes[1].oid);
    assert!(other.storage_id > before.indexes[1].storage_id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn truncate_takes_new_storage_ids_and_restarts_sequences() {
    let world = World::new().await;
    world.run("create table t(a serial primary key, b int unique); create table u(a int)").await.unwrap();
    let before = world.catalog().await;
    let client = world.begin();
    let sequences = client.catalog().await.sequences().unwrap().clone();
    let context = client.context().await;
    let sequence = before.relation(None, "t_a_seq", &path()).unwrap().oid;
    assert_eq!(sequences.next_value(&context, sequence).unwrap(), 1);
    assert_eq!(sequences.next_value(&context, sequence).unwrap(), 2);
    client.run("truncate t, u restart identity").await.unwrap();
    let context = client.context().await;
    assert_eq!(sequences.next_value(&context, sequence).unwrap(), 1);
    let old = before.relation(None, "t", &path()).unwrap();
    let new = client.catalog().await.relation(None, "t", &path()).unwrap();
    assert_eq!(new.oid, old.oid);
    assert_ne!(new.storage_id, old.storage_id);
    assert_eq!(new.indexes[0].storage_id, new.storage_id);
    assert_ne!(new.indexes[1].storage_id, old.indexes[1].storage_id);
    client.transaction.rollback().await;
    drop(client);
    // After the rollback the old rows are back, and the sequence is where it was.
    let client = world.begin();
    assert_eq!(client.catalog().await.relation(None, "t", &path()).unwrap(), old);
    assert_eq!(sequences.next_value(&client.context().await, sequence).unwrap(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drop_needs_cascade_where_something_depends() {
    let world = World::new().await;
    world.run("create schema s; create table s.t(a serial); create table s.u(a int)").await.unwrap();
    assert_eq!(world.run("drop schema s").await.unwrap_err().state(), "2BP01");
    assert_eq!(world.run("drop sequence s.t_a_seq").await.unwrap_err().state(), "2BP01");
    assert_eq!(world.run("drop table nothing").await.unwrap_err().state(), "42P01");
    assert_eq!(world.run("drop table if exists nothing, s.u").await.unwrap(), "DROP TABLE");
    assert!(world.catalog().await.relation(Some("s"), "u", &path()).is_none());
    world.run("drop schema s cascade").await.unwrap();
    let catalog = world.catalog().await;
    assert!(catalog.schema("s").is_none());
    assert_eq!(catalog.user_relations().count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alter_table_changes_the_descriptor() {
    let world = World::new().await;
    world.run("create table t(a int, b int, check (a > b)); alter table t add primary key (a)").await.unwrap();
    world.run("alter table t add column c text default 'x' not null, rename column b to \"B b\"").await.unwrap_err();
    world
        .run("alter table t add column c text default 'x' not null; alter table t rename column b to \"B b\"")
        .await
        .unwrap();
    world.run("alter table t rename to u; alter table u alter column c drop default").await.unwrap();
    let catalog = world.catalog().await;
    let table = catalog.relation(None, "u", &path()).unwrap();
    assert_eq!(table.checks[0].expression, "(a > \"B b\")");
    assert_eq!(table.primary_key().unwrap().name, "t_pkey");
    assert_eq!(table.column_named("c").unwrap().default, None);
    world.run("alter table u drop column \"B b\"").await.unwrap();
    let table = world.catalog().await.relation(None, "u", &path()).unwrap();
    assert_eq!(table.live_columns().map(|column| column.id).collect::<Vec<_>>(), [1, 3]);
    assert!(table.checks.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn databases_have_their_own_schemas() {
    let world = World::new().await;
    world.run("create table t(a int)").await.unwrap();
    world.run("create database other").await.unwrap();
    assert_eq!(world.run("create database other").await.unwrap_err().state(), "42P04");
    let client = world.begin();
    let other = world.store.database_named(&client.transaction, "other").await.unwrap();
    let catalog = world.store.snapshot(&client.transaction, other.oid).await.unwrap();
    assert!(catalog.schema("public").is_some());
    assert!(catalog.relation(None, "t", &path()).is_none());
    drop(client);
    world.run("drop database other").await.unwrap();
    assert!(world.catalog().await.databases().iter().all(|database| database.name != "other"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_keep_verifiers_and_never_passwords() {
    let world = World::new().await;
    world.run("create role alice login password 'secret'").await.unwrap();
    let alice = world.catalog().await.role("alice").unwrap();
    assert!(alice.login && !alice.superuser);
    assert!(scram::is_verifier(alice.password.as_deref().unwrap()));
    assert_eq!(world.run("create role alice").await.unwrap_err().state(), "42710");
    world.run("alter role alice superuser password null").await.unwrap();
    let alice = world.catalog().await.role("alice").unwrap();
    assert!(alice.superuser && alice.password.is_none());
    for empty in [String::new(), scram::verifier("", b"salt")] {
        world.run("alter role alice password 'secret'").await.unwrap();
        world.run(&format!("alter role alice password '{empty}'")).await.unwrap();
        assert!(world.catalog().await.role("alice").unwrap().password.is_none(), "{empty:?}");
    }
    world.run("drop role alice").await.unwrap();
    assert!(world.catalog().await.role("alice").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_supported_is_refused_by_name() {
    let world = World::new().await;
    world.run("create table p(a int primary key, b int)").await.unwrap();
    for sql in [
        "create table t(a int references p match partial)",
        "create table t(a xml)",
        "create table t(a int) partition by range (a)",
        "create index on p using gin (a)",
    ] {
        let error = world.run(sql).await.expect_err(sql);
        assert_eq!(error.state(), "0A000", "{sql}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sequences_never_give_a_value_twice() {
    let world = World::new().await;
    world.run("create sequence s").await.unwrap();
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let world = Arc::clone(&world);
        tasks.push(tokio::spawn(async move {
            let client = world.begin();
            let context = client.context().await;
            let oid = context.catalog.relation(None, "s", &path()).unwrap().oid;
            let sequences = context.catalog.sequences().unwrap();
            (0..500).map(|_| sequences.next_value(&context, oid).unwrap()).collect::<Vec<_>>()
        }));
    }
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4000);
    // A new server continues above all values that were returned.
    let world = world.reopen().await;
    let client = world.begin();
    let context = client.context().await;
    let oid = context.catalog.relation(None, "s", &path()).unwrap().oid;
    let next = context.catalog.sequences().unwrap().next_value(&context, oid).unwrap();
    assert!(next > 4000 && next <= 4000 + 4096 + 1, "{next}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sequences_have_limits_and_a_memory_for_each_session() {
    let world = World::new().await;
    world
        .run("create sequence s as smallint minvalue 2 maxvalue 3 start 3; create sequence d increment -5 maxvalue 0")
        .await
        .unwrap();
    let client = world.begin();
    let context = client.context().await;
    let oid = |name: &str| context.catalog.relation(None, name, &path()).unwrap().oid;
    let sequences = context.catalog.sequences().unwrap();
    assert_eq!(sequences.current_value(&context, oid("s")).unwrap_err().state(), "55000");
    assert_eq!(sequences.last_value(&context).unwrap_err().state(), "55000");
    assert_eq!(sequences.next_value(&context, oid("s")).unwrap(), 3);
    assert_eq!(sequences.next_value(&context, oid("s")).unwrap_err().state(), "2200H");
    assert_eq!(sequences.current_value(&context, oid("s")).unwrap(), 3);
    assert_eq!(sequences.next_value(&context, oid("d")).unwrap(), 0);
    assert_eq!(sequences.next_value(&context, oid("d")).unwrap(), -5);
    assert_eq!(sequences.last_value(&context).unwrap(), -5);
    assert_eq!(sequences.set_value(&context, oid("d"), -50, true).unwrap(), -50);
    assert_eq!(sequences.next_value(&context, oid("d")).unwrap(), -55);
    assert_eq!(sequences.set_value(&context, oid("s"), 9, true).unwrap_err().state(), "22003");
    assert_eq!(world.run("create sequence x minvalue 5 maxvalue 4").await.unwrap_err().state(), "22023");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sequence_of_this_transaction_is_served_from_it() {
    let world = World::new().await;
    let client = world.begin();
    client.run("create sequence s start 7").await.unwrap();
    let context = client.context().await;
    let oid = context.catalog.relation(None, "s", &path()).unwrap().oid;
    let sequences = Arc::clone(context.catalog.sequences().unwrap());
    assert_eq!(sequences.next_value(&context, oid).unwrap(), 7);
    assert_eq!(sequences.next_value(&context, oid).unwrap(), 8);
    drop(context);
    client.commit().await.unwrap();
    let client = world.begin();
    assert_eq!(sequences.next_value(&client.context().await, oid).unwrap(), 9);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ddl_waits_for_writers_and_notices_circles() {
    use std::time::Duration;
    let world = World::new().await;
    let (a, b) = (world.store.locks().begin(), world.store.locks().begin());
    a.shared(1, 1, None).await.unwrap();
    b.shared(1, 1, None).await.unwrap();
    b.shared(2, 1, None).await.unwrap();
    let error = b.exclusive(1, Some(Duration::from_millis(20))).await.unwrap_err();
    assert_eq!(error.state(), "55P03");
    // a waits for b on 2. b would wait for a on 1.
    let waiting = tokio::spawn(async move {
        let result = a.exclusive(2, None).await;
        (a, result)
    });
    world.store.locks().until_waiting(1).await;
    assert_eq!(b.exclusive(1, None).await.unwrap_err().state(), "40P01");
    drop(b);
    waiting.await.unwrap().1.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_view_can_be_read() {
    let world = World::new().await;
    world.run("create table t(a serial primary key, b text check (b <> ''), unique (b)); create index on t(b desc) include (a)").await.unwrap();
    let client = world.begin();
    let context = client.context().await;
    for view in pg_catalog::views() {
        let asked = pg_catalog::Asked::everything(view.descriptor());
        let found = view.rows(&context, &asked).await;
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", view.descriptor().name));
        assert_eq!(found.rows.num_columns(), view.descriptor().columns.len());
    }
}

/// A view restricted to a column's value returns all its rows with this value.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_find_the_same_rows_by_every_column() {
    let world = World::new().await;
    for sql in [
        "create type mood as enum ('sad', 'glad')",
        "create table t(a serial primary key, b text check (b <> ''), m mood, unique (b))",
        "create index on t(b desc) include (a)",
        "create table child(a int default 7 references t, c int generated always as (a * 2) stored)",
        "create table \"_t\"(a mood[], primary key (a))",
        "create schema other",
        "create table other.t(x int)",
    ] {
        world.run(sql).await.unwrap();
    }
    let client = world.begin();
    let context = client.context().await;
    for view in pg_catalog::views().filter(|view| view.is_of_catalog()) {
        let name = &view.descriptor().name;
        let mut asked = pg_catalog::Asked::everything(view.descriptor());
        let whole = view.rows(&context, &asked).await.unwrap().rows;
        for column in 0..whole.num_columns() {
            let values: Vec<_> =
                (0..whole.num_rows()).map(|row| Datum::try_from_array(whole.column(column), row).unwrap()).collect();
            if !matches!(values.first(), Some(Datum::Int64(_) | Datum::Utf8(_) | Datum::Int16(_) | Datum::Boolean(_))) {
                continue;
            }
            let mut different: Vec<&Datum> = Vec::new();
            for value in values.iter().rev().filter(|value| !value.is_null()) {
                if different.len() < 12 && !different.contains(&value) {
                    different.push(value);
                }
            }
            for value in different {
                asked.keys = vec![pg_catalog::AskedKey { column, values: [value.clone()].into() }];
                let found = view.rows(&context, &asked).await.unwrap().rows;
                let places = values.iter().enumerate().filter(|(_, other)| *other == value);
                let places: datafusion::arrow::array::UInt32Array = places.map(|(row, _)| row as u32).collect();
                let expected = datafusion::arrow::compute::take_record_batch(&whole, &places).unwrap();
                let column = &view.descriptor().columns[column].name;
                assert_eq!(found.columns(), expected.columns(), "{name}.{column} = {value}");
            }
        }
    }
}
