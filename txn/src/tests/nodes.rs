//! Several nodes over the same rows, where calls of the first are hooked. Also plants cells into rows.

use super::harness::*;
use super::hooked::{AheadEnv, HookedStore};
use crate::write::ROLLBACK;
use crate::*;
use bytes::Bytes;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use storage::testing::SimEnv;
use storage::{Cell, Family, Mutation, Row, RowMutation, Timestamp};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Runs a test on a node over rows whose calls can be hooked.
pub(crate) fn over_rows<Work: Future<Output = ()> + Send + 'static>(test: impl Fn(World, Arc<HookedStore>) -> Work) {
    over_rows_with(options(Path::ByRow), test);
}

pub(crate) fn over_rows_with<Work: Future<Output = ()> + Send + 'static>(
    options: TransactionStoreOptions,
    test: impl Fn(World, Arc<HookedStore>) -> Work,
) {
    for path in [Path::ByRow, Path::Bigtable] {
        let env = SimEnv::new(1);
        let (for_world, options) = (env.clone(), options.clone());
        let (world, hooked) = env.block_on(async move { World::hooked(for_world, path, options).await }).unwrap();
        env.block_on(test(world, hooked)).unwrap();
    }
}

/// Another node over the same rows, with the same oracle.
pub(crate) async fn other_node(world: &World) -> World {
    other_node_with(world, world.options.clone(), Duration::ZERO).await
}

/// Another node whose calls take as long.
pub(crate) async fn other_over(world: &World, hooked: &Arc<HookedStore>) -> World {
    let (raw, oracle, env) = (hooked.clone(), world.store.oracle().clone(), world.env.clone());
    let store = TransactionStore::open(raw, oracle, env, world.options.clone()).await.unwrap();
    World { store, ..world.clone() }
}

pub(crate) async fn other_node_with(world: &World, options: TransactionStoreOptions, ahead: Duration) -> World {
    let env = Arc::new(AheadEnv { inner: world.env.clone(), ahead });
    let store =
        TransactionStore::open(world.raw.clone(), world.store.oracle().clone(), env, options.clone()).await.unwrap();
    World { store, options, ..world.clone() }
}

pub(crate) async fn now(world: &World) -> Timestamp {
    world.store.oracle().timestamp().await.unwrap().timestamp
}

pub(crate) async fn plant(world: &World, name: &str, family: Family, timestamp: Timestamp, value: Bytes) {
    let row = RowMutation { key: key(name), mutations: vec![Mutation::Set { family, timestamp, value }] };
    world.raw.mutate_rows(vec![row]).await.unwrap();
}

pub(crate) fn row(world: &World, name: &str) -> Row {
    let found = world.dump().into_iter().find(|row| row.key == name);
    found.unwrap_or(Row { key: key(name), cells: Default::default() })
}

pub(crate) fn lock_at(world: &World, name: &str, start_ts: Timestamp) -> Option<Cell> {
    row(world, name).family(Family::Lock).find(|cell| cell.timestamp == start_ts).cloned()
}

pub(crate) fn rolled_back(world: &World, name: &str, start_ts: Timestamp) -> bool {
    row(world, name).family(Family::Rollback).any(|cell| cell.timestamp == start_ts && ROLLBACK.contains(&cell.value))
}
