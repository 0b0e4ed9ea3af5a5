//! Tests of the path that COMMIT chooses by the amount of writes.

use super::harness::*;
use crate::*;
use storage::testing::SimEnv;

/// The fail point that a commit passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    OneBatch,
    /// Two phases, or cells prepared beside the log. Both pass the fail point behind their first step.
    InSteps,
}

/// The path of a commit of `rows` rows with values of `bytes` bytes.
fn way(options: TransactionStoreOptions, rows: usize, bytes: usize) -> Way {
    let env = SimEnv::new(1);
    let for_world = env.clone();
    let commit = async move {
        let world = World::with(for_world, Path::OnePhase, options).await;
        world.store.fail_points().set(failpoint::AFTER_PREWRITE, FailAction::Error);
        let transaction = world.begin();
        let value = "x".repeat(bytes);
        transaction.write((0..rows).map(|row| put(&format!("k{row}"), &value)).collect()).await.unwrap();
        match transaction.commit().await {
            Ok(_) => Way::OneBatch,
            Err(_) => Way::InSteps,
        }
    };
    env.block_on(commit).unwrap()
}

#[test]
fn many_writes_are_no_batch_however_short_they_are() {
    let at_most = |writes| TransactionStoreOptions { one_phase_limit_writes: writes, ..options(Path::OnePhase) };
    assert_eq!(way(at_most(100), 100, 1), Way::OneBatch);
    assert_eq!(way(at_most(100), 101, 1), Way::InSteps);
    // A batch holds each of its writes several times while it passes the committer, the log and a memtable, at some
    // hundred bytes each. The limit keeps a batch below a hundred megabytes.
    assert!(TransactionStoreOptions::default().one_phase_limit_writes <= 1 << 17);
}

#[test]
fn few_long_writes_are_no_batch_either() {
    let at_most = |bytes| TransactionStoreOptions { one_phase_limit_bytes: bytes, ..options(Path::OnePhase) };
    assert_eq!(way(at_most(10_000), 9, 1_000), Way::OneBatch);
    assert_eq!(way(at_most(10_000), 10, 1_000), Way::InSteps);
}

#[test]
fn what_is_made_beside_the_log_is_so_from_some_bytes_on() {
    let from = |bytes| TransactionStoreOptions { bulk_from_bytes: bytes, ..options(Path::OnePhase) };
    assert_eq!(way(from(10_000), 9, 1_000), Way::OneBatch);
    assert_eq!(way(from(10_000), 10, 1_000), Way::InSteps);
}
