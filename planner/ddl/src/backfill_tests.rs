//! Tests of index builds and rewrites over rows, and of CHECK INDEX.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::check::{check_index, check_table};
use super::definition_tests::{Client, World};
use bytes::Bytes;
use catalog::encoding::{IndexEncoder, RowEncoder, TableKey};
use catalog::{CatalogStore, TableDescriptor, builder::POSTGRES_DATABASE_OID, keys};
use datafusion::arrow::array::{ArrayRef, Int32Array, StringArray};
use std::sync::Arc;
use syntax::ast::Name;
use txn::{LockStrength, Write, WriteKind};

fn path() -> Vec<String> {
    vec!["public".to_string()]
}

fn name(text: &str) -> Name {
    Name::new(text)
}

fn put(key: Vec<u8>, value: Vec<u8>) -> Write {
    Write { key: key.into(), kind: WriteKind::Put(value.into()), strength: LockStrength::Update }
}

/// Writes rows (a int, b text) in the client's transaction, as INSERT would.
async fn insert(client: &Client, table: &TableDescriptor, rows: &[(Option<i32>, Option<&str>)]) {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(rows.iter().map(|row| row.0).collect::<Vec<_>>())),
        Arc::new(StringArray::from(rows.iter().map(|row| row.1).collect::<Vec<_>>())),
    ];
    let (key, encoder) = (TableKey::new(table).unwrap(), RowEncoder::new(table));
    let mut writes = Vec::new();
    for row in 0..rows.len() {
        let (mut row_key, mut value) = (Vec::new(), Vec::new());
        if key.has_primary_key() {
            key.encode(&columns, row, &mut row_key).unwrap();
        } else {
            let number = client.world.store.numbers().rows(1).await.unwrap().start;
            key.encode_number(number, &mut row_key);
        }
        encoder.encode(&columns, row, &mut value).unwrap();
        for index in table.secondary_indexes() {
            let entry = IndexEncoder::new(table, index).unwrap().encode(&columns, row, &row_key).unwrap();
            writes.push(put(entry.key.to_vec(), entry.value.to_vec()));
        }
        writes.push(put(row_key, value));
    }
    client.transaction.write(writes).await.unwrap();
    client.transaction.require_unchanged(CatalogStore::fence_key(POSTGRES_DATABASE_OID, table.oid, table.version));
}

async fn table(world: &Arc<World>, name: &str) -> Arc<TableDescriptor> {
    world.catalog().await.relation(None, name, &path()).unwrap()
}

async fn filled(definition: &str, rows: &[(Option<i32>, Option<&str>)]) -> Arc<World> {
    let world = World::new().await;
    world.run(&format!("create table t({definition})")).await.unwrap();
    let client = world.begin();
    insert(&client, &*table(&world, "t").await, rows).await;
    client.commit().await.unwrap();
    world
}

async fn entries(world: &Arc<World>, storage_id: u64) -> usize {
    catalog::store::scan_all(&world.begin().transaction, keys::rows_of(storage_id)).await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_over_rows_is_filled_and_agrees_with_them() {
    let world =
        filled("a int primary key, b text", &[(Some(1), Some("x")), (Some(2), None), (Some(3), Some("x"))]).await;
    let error = world.run("create unique index u on t(b)").await.unwrap_err();
    assert_eq!(error.state(), "23505");
    assert_eq!(error.fields().message, "could not create unique index \"u\"");
    assert_eq!(error.fields().detail.as_deref(), Some("Key (b)=(x) is duplicated."));
    world.run("create index i on t(b desc) include (a); create unique index v on t(b, a)").await.unwrap();
    let t = table(&world, "t").await;
    assert_eq!(entries(&world, t.indexes[1].storage_id).await, 3);
    let context = world.begin().context().await;
    assert_eq!(check_index(&context, &name("i")).await.unwrap(), []);
    assert_eq!(check_table(&context, &name("t")).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_index_finds_what_is_missing_and_what_is_too_much() {
    let world = filled("a int primary key, b text", &[(Some(1), Some("x")), (Some(2), Some("y"))]).await;
    world.run("create index i on t(b)").await.unwrap();
    let t = table(&world, "t").await;
    let client = world.begin();
    let pairs = catalog::store::scan_all(&client.transaction, keys::rows_of(t.indexes[1].storage_id)).await.unwrap();
    let delete = |key: &Bytes| Write { key: key.clone(), kind: WriteKind::Delete, strength: LockStrength::Update };
    client.transaction.write(vec![delete(&pairs[0].0)]).await.unwrap();
    let rows = catalog::store::scan_all(&client.transaction, keys::rows_of(t.storage_id)).await.unwrap();
    client.transaction.write(vec![delete(&rows[1].0)]).await.unwrap();
    client.transaction.advance_command();
    let problems = check_index(&client.context().await, &name("i")).await.unwrap();
    let found: Vec<_> = problems.iter().map(|problem| problem.problem).collect();
    assert_eq!(found, ["a row has no entry in the index", "an entry of the index points at no row"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adding_a_primary_key_rewrites_the_rows_under_it() {
    let world = filled("a int, b text unique", &[(Some(3), Some("x")), (Some(1), Some("y")), (Some(2), None)]).await;
    let before = table(&world, "t").await;
    world.run("alter table t add primary key (a)").await.unwrap();
    let after = table(&world, "t").await;
    assert_ne!(before.storage_id, after.storage_id);
    assert!(after.columns[0].not_null);
    assert_eq!(entries(&world, after.storage_id).await, 3);
    let context = world.begin().context().await;
    assert_eq!(check_table(&context, &name("t")).await.unwrap(), []);
    // The table returns to hidden row numbers.
    world.run("alter table t drop constraint t_pkey").await.unwrap();
    let context = world.begin().context().await;
    assert_eq!(check_table(&context, &name("t")).await.unwrap(), []);
    assert_eq!(entries(&world, table(&world, "t").await.storage_id).await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_primary_key_needs_values_and_no_two_alike() {
    let world = filled("a int, b text", &[(Some(1), Some("x")), (None, Some("y"))]).await;
    let error = world.run("alter table t add primary key (a)").await.unwrap_err();
    assert_eq!(error.state(), "23502");
    let world = filled("a int, b text", &[(Some(1), Some("x")), (Some(1), Some("y"))]).await;
    let error = world.run("alter table t add primary key (a)").await.unwrap_err();
    assert_eq!(error.fields().message, "could not create unique index \"t_pkey\"");
    assert_eq!(error.fields().detail.as_deref(), Some("Key (a)=(1) is duplicated."));
    assert_eq!(world.run("alter table t alter column b set not null").await.unwrap(), "ALTER TABLE");
    let error = world.run("alter table t add column c int not null").await.unwrap_err();
    assert_eq!(error.state(), "23502");
    world.run("alter table t add column c int not null default 7").await.unwrap();
    assert_eq!(table(&world, "t").await.column_named("c").unwrap().missing.as_deref(), Some("'7'::integer"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_constraints_and_columns_are_checked_against_the_rows() {
    let world = filled("a int, b text", &[(Some(1), Some("x")), (None, Some("y"))]).await;
    world.run("alter table t add constraint positive check (a > 0)").await.unwrap();
    let error = world.run("alter table t add constraint small check (b < 'y')").await.unwrap_err();
    assert_eq!(error.state(), "23514");
    assert_eq!(error.fields().message, "check constraint \"small\" of relation \"t\" is violated by some row");
    assert_eq!(world.run("alter table t add check (a + 1)").await.unwrap_err().state(), "42804");
    assert_eq!(world.run("alter table t alter column a set default 'x'").await.unwrap_err().state(), "22P02");
    let before = table(&world, "t").await;
    world.run("alter table t add column c int default 1 + 1 not null").await.unwrap();
    let after = table(&world, "t").await;
    assert_ne!(before.storage_id, after.storage_id);
    assert_eq!(entries(&world, after.storage_id).await, 2);
    world.run("create index i on t(c)").await.unwrap();
    assert_eq!(check_table(&world.begin().context().await, &name("t")).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_storage_is_removed_when_nobody_can_read_it() {
    let world = filled("a int, b text", &[(Some(1), Some("x"))]).await;
    let old = table(&world, "t").await;
    let reader = world.begin();
    reader.transaction.snapshot_ts().await.unwrap();
    world.run("drop table t").await.unwrap();
    let mut seen = std::collections::HashMap::new();
    assert_eq!(world.store.remove_dropped(&mut seen).await.unwrap(), 0);
    let rows = catalog::store::scan_all(&reader.transaction, keys::rows_of(old.storage_id)).await.unwrap();
    assert_eq!(rows.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_value_of_a_sequence_that_was_restarted_is_removed() {
    if std::env::var("PERCOSQL_TEST_STORE").is_ok_and(|store| !store.is_empty()) {
        // With several servers on the store, the safe point advances on its own schedule.
        return;
    }
    let history = std::time::Duration::ZERO;
    let world = World::with(txn::TransactionStoreOptions { history, ..Default::default() }).await;
    world.run("create table t(id serial)").await.unwrap();
    let old = table(&world, "t_id_seq").await;
    let stored = async |storage_id| {
        let reader = world.begin();
        reader.transaction.get(&keys::sequence(storage_id), txn::OwnWrites::All).await.unwrap().is_some()
    };
    world.run("truncate t restart identity").await.unwrap();
    assert!(stored(old.storage_id).await);
    let mut seen = std::collections::HashMap::new();
    let begun = std::time::Instant::now();
    while stored(old.storage_id).await {
        world.store.remove_dropped(&mut seen).await.unwrap();
        assert!(begun.elapsed() < std::time::Duration::from_secs(60));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(stored(table(&world, "t_id_seq").await.storage_id).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_misses_no_row_of_writers_that_were_there_first_or_came_too_late() {
    let world = filled("a int primary key, b text", &[(Some(1), Some("x"))]).await;
    let t = table(&world, "t").await;
    // A writer holds the table. CREATE INDEX waits for it and then sees its rows.
    let writer = world.begin();
    writer.locks().shared(t.oid, t.version, None).await.unwrap();
    insert(&writer, &t, &[(Some(2), Some("y"))]).await;
    // Another transaction took its snapshot before the index exists, and writes after.
    let late = world.begin();
    late.transaction.snapshot_ts().await.unwrap();
    let builder = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.run("create index i on t(b)").await })
    };
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!builder.is_finished());
    writer.commit().await.unwrap();
    builder.await.unwrap().unwrap();
    insert(&late, &t, &[(Some(3), Some("z"))]).await;
    let error = late.commit().await.unwrap_err();
    assert_eq!(error.state(), "40001");
    let client = world.begin();
    assert_eq!(check_index(&client.context().await, &name("i")).await.unwrap(), []);
    assert_eq!(entries(&world, table(&world, "t").await.indexes[1].storage_id).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_built_in_a_block_sees_the_blocks_own_rows_or_conflicts() {
    let world = filled("a int primary key, b text", &[(Some(1), Some("x"))]).await;
    let t = table(&world, "t").await;
    let client = world.begin();
    insert(&client, &t, &[(Some(2), Some("y"))]).await;
    client.transaction.advance_command();
    client.run("create index i on t(b)").await.unwrap();
    assert_eq!(check_index(&client.context().await, &name("i")).await.unwrap(), []);
    client.commit().await.unwrap();
    // Another transaction commits a row between this block's snapshot and its CREATE INDEX.
    let t = table(&world, "t").await;
    let client = world.begin();
    client.run("create table other(a int)").await.unwrap();
    let writer = world.begin();
    insert(&writer, &t, &[(Some(3), Some("z"))]).await;
    writer.commit().await.unwrap();
    assert_eq!(client.run("create index j on t(b)").await.unwrap_err().state(), "40001");
}
