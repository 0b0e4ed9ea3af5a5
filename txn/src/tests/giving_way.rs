//! Tests of which transaction gives way when commits over rows wait for each other.

use super::harness::*;
use super::nodes::*;
use crate::*;
use std::time::Duration;
use storage::{Env, Family};

#[test]
fn of_two_that_wait_for_each_other_the_one_that_began_first_goes_on() {
    let options = TransactionStoreOptions { lock_wait: 30 * SECOND, ..options(Path::ByRow) };
    over_rows_with(options, |world, hooked| async move {
        let other = other_node(&world).await;
        for slow_one_is_older in [true, false] {
            // It holds `p` when it comes to `s`, which the other one holds by then.
            hooked.slow_down(|call| if call.locks("s") { SECOND / 2 } else { Duration::ZERO });
            let (slow, fast) = (world.begin(), other.begin());
            let order = if slow_one_is_older { [&slow, &fast] } else { [&fast, &slow] };
            for transaction in order {
                transaction.snapshot_ts().await.unwrap();
            }
            slow.write(vec![put("p", "slow"), put("s", "slow")]).await.unwrap();
            fast.write(vec![put("p", "fast"), put("s", "fast")]).await.unwrap();
            let began = world.env.monotonic();
            let fast_after = async {
                world.env.sleep(SECOND / 4).await;
                fast.commit().await
            };
            let (slow, fast) = futures::future::join(slow.commit(), fast_after).await;
            let took = world.env.monotonic() - began;
            assert!(took < 10 * SECOND, "nobody waits until it has no more patience: {took:?}");
            let (winner, loser, value) = match slow_one_is_older {
                true => (slow, fast, "slow"),
                false => (fast, slow, "fast"),
            };
            winner.unwrap();
            let kind = conflict_kind(loser);
            assert!(matches!(kind, Some(ConflictKind::RolledBack | ConflictKind::Write)), "{kind:?}");
            hooked.clear();
            world.settle().await;
            assert_eq!(other.value("p").await.as_deref(), Some(value));
            assert_eq!(other.value("s").await.as_deref(), Some(value));
            assert!(world.dump().iter().all(|row| row.newest(Family::Lock).is_none()));
        }
    });
}

#[test]
fn who_has_to_give_way_waits_for_an_end_and_may_go_on() {
    let options = TransactionStoreOptions { lock_wait: 30 * SECOND, ..options(Path::ByRow) };
    over_rows_with(options, |world, hooked| async move {
        let other = other_node(&world).await;
        // The older one is refused in the end. After that nothing blocks the younger one.
        hooked.slow_down(|call| if call.locks("s") { SECOND } else { Duration::ZERO });
        let (older, younger) = (world.begin(), other.begin());
        older.snapshot_ts().await.unwrap();
        other.set("s", "newer").await;
        younger.snapshot_ts().await.unwrap();
        older.write(vec![put("p", "older"), put("s", "older")]).await.unwrap();
        younger.write(vec![put("p", "younger")]).await.unwrap();
        let younger_after = async {
            world.env.sleep(SECOND / 4).await;
            younger.commit().await
        };
        let (older, younger) = futures::future::join(older.commit(), younger_after).await;
        assert_eq!(conflict_kind(older), Some(ConflictKind::Write));
        younger.unwrap();
        hooked.clear();
        world.settle().await;
        assert_eq!(other.value("p").await.as_deref(), Some("younger"));
    });
}

#[test]
fn a_large_transaction_gives_way_to_none_that_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let options = TransactionStoreOptions {
        spill_dir: Some(folder.path().to_owned()),
        early_prewrite_bytes: 0,
        lock_wait: 30 * SECOND,
        ..options(Path::ByRow)
    };
    over_rows_with(options, |world, _hooked| async move {
        let in_memory = TransactionStoreOptions { spill_dir: None, ..world.options.clone() };
        let other = other_node_with(&world, in_memory, Duration::ZERO).await;
        let small = other.begin();
        small.snapshot_ts().await.unwrap();
        let large = world.begin();
        large.write(vec![put("a", "large"), put("b", "large")]).await.unwrap();
        assert_eq!(row(&world, "a").family(Family::Lock).count(), 1, "locked at once");
        small.write(vec![put("a", "small"), put("c", "small")]).await.unwrap();
        let commit_after = async {
            world.env.sleep(SECOND).await;
            // The small transaction holds the row, and waits.
            large.write(vec![put("c", "large")]).await.unwrap();
            large.commit().await
        };
        let (small, large) = futures::future::join(small.commit(), commit_after).await;
        large.unwrap();
        assert!(conflict_kind(small).is_some(), "it began earlier, and loses little");
        world.settle().await;
        for name in ["a", "b", "c"] {
            assert_eq!(other.value(name).await.as_deref(), Some("large"));
        }
        assert!(world.dump().iter().all(|row| row.newest(Family::Lock).is_none()));
    });
}
