//! Large commits beside each other and beside small ones, on one log.

use super::harness::*;
use crate::*;
use std::time::Duration;
use storage::{Env, RowRange, Strings};

#[test]
fn large_commits_beside_each_other_wait_in_order_and_are_made_once() {
    on_paths(&[Path::InBulk], |world| async move {
        // The first to start has the most rows.
        let begin = |(name, rows): (&'static str, usize)| {
            let transaction = world.begin();
            async move {
                let writes = (0..rows).map(|row| put(&format!("{name}{row}"), "1")).collect();
                transaction.write(writes).await.unwrap();
                transaction.commit().await
            }
        };
        let all = [("a", 40), ("b", 30), ("c", 2), ("d", 1)].map(begin);
        let committed = futures::future::join_all(all).await;
        let mut timestamps: Vec<_> = committed.into_iter().map(|commit| commit.unwrap()).collect();
        timestamps.sort();
        timestamps.dedup();
        assert_eq!(timestamps.len(), 4);
        assert_eq!(world.store.appointments.missed(), 0);
        assert_eq!(world.value("a39").await, Some("1".to_owned()));
    });
}

#[test]
fn a_large_commit_that_is_late_is_made_again() {
    on_paths(&[Path::InBulk], |world| async move {
        world.store.fail_points().set(failpoint::AFTER_PREWRITE, FailAction::Wait);
        let large = world.begin();
        large.write(vec![put("a", "1"), put("b", "1")]).await.unwrap();
        let (commit, ()) = futures::future::join(large.commit(), async {
            // Other commits get later timestamps meanwhile.
            world.env.sleep(Duration::from_secs(3)).await;
            world.store.oracle().timestamp().await.unwrap();
            world.store.fail_points().clear(failpoint::AFTER_PREWRITE);
        })
        .await;
        assert!(commit.is_ok());
        assert_eq!(world.store.appointments.missed(), 1);
        assert_eq!(world.value("b").await, Some("1".to_owned()));
    });
}

/// Puts rows with one value as packed rows.
async fn put_rows(transaction: &Transaction, keys: &[&str], value: &'static str) {
    let strings = |list: &[&str]| Strings::copied(list.iter().map(|string| string.as_bytes())).unwrap();
    let puts = Puts::new(strings(keys), strings(&vec![value; keys.len()]), LockStrength::Update).unwrap();
    transaction.put(puts).await.unwrap();
}

const ROWS: [&str; 6] = ["p0", "p1", "p3", "p5", "p7", "p9"];

#[test]
fn rows_put_together_are_committed_like_others() {
    on_paths(&PATHS, |world| async move {
        let before = world.begin();
        assert_eq!(get(&before, "p3").await, None);
        let large = world.begin();
        large.write(vec![put("o", "0"), put("q5", "0")]).await.unwrap();
        put_rows(&large, &ROWS, "1").await;
        put_rows(&large, &["r0", "r1"], "1").await;
        put_rows(&large, &["s0", "s1"], "1").await;
        // One row behind the others, one among them, and one of them.
        large.write(vec![put("t", "2"), put("r0a", "2"), put("s1", "2")]).await.unwrap();
        large.commit().await.unwrap();
        let expected =
            [("o", "0"), ("q5", "0"), ("r0", "1"), ("r0a", "2"), ("r1", "1"), ("s0", "1"), ("s1", "2"), ("t", "2")];
        for (key, value) in ROWS.iter().map(|key| (*key, "1")).chain(expected) {
            assert_eq!(world.value(key).await.as_deref(), Some(value), "{key}");
        }
        assert_eq!(get(&before, "p5").await, None);
        let world = world.reopen().await;
        assert_eq!(world.value("p9").await.as_deref(), Some("1"));
    });
}

#[test]
fn rows_put_together_meet_what_others_have_written_since() {
    on_paths(&PATHS, |world| async move {
        for taken in ["p0", "p5", "p9"] {
            let large = world.begin();
            assert_eq!(get(&large, "a").await, None);
            world.set(taken, "theirs").await;
            put_rows(&large, &ROWS, "mine").await;
            assert!(matches!(large.commit().await, Err(TxnError::Conflict(_))), "{taken}");
            world.settle().await;
            for key in ROWS {
                assert_ne!(world.value(key).await.as_deref(), Some("mine"), "{key}");
            }
        }
        // Rows written since at other keys are no conflict.
        let large = world.begin();
        assert_eq!(get(&large, "a").await, None);
        world.set("p4", "theirs").await;
        put_rows(&large, &ROWS, "mine").await;
        large.commit().await.unwrap();
        assert_eq!(world.value("p5").await.as_deref(), Some("mine"));
    });
}

#[test]
fn rows_put_together_are_claimed() {
    on_paths(&[Path::InBulk], |world| async move {
        world.store.fail_points().set(failpoint::AFTER_PREWRITE, FailAction::Wait);
        let large = world.begin();
        put_rows(&large, &ROWS, "mine").await;
        large.write(vec![put("z", "mine")]).await.unwrap();
        let (committed, ()) = futures::future::join(large.commit(), async {
            world.env.sleep(Duration::from_secs(1)).await;
            let (small, other) = (world.begin(), world.begin());
            small.write(vec![put("p5", "theirs")]).await.unwrap();
            put_rows(&other, &["p2", "p3", "p4"], "theirs").await;
            for refused in [small, other] {
                assert!(matches!(refused.commit().await, Err(TxnError::Conflict(_))));
            }
            // It is late, so its cells are prepared again. Its keys stay claimed.
            world.env.sleep(Duration::from_secs(3)).await;
            world.store.oracle().timestamp().await.unwrap();
            world.store.fail_points().clear(failpoint::AFTER_PREWRITE);
        })
        .await;
        assert!(committed.is_ok() && world.store.appointments.missed() == 1, "{committed:?}");
        assert_eq!(world.value("p5").await.as_deref(), Some("mine"));
    });
}

#[test]
fn rows_put_together_that_nobody_knows_are_committed() {
    on_paths(&PATHS, |world| async move {
        let large = world.begin();
        large.made(RowRange::prefix("p"));
        large.write(vec![put("a", "1")]).await.unwrap();
        put_rows(&large, &ROWS, "1").await;
        put_rows(&large, &["q0", "q1"], "2").await;
        large.commit().await.unwrap();
        for (key, value) in ROWS.iter().map(|key| (*key, "1")).chain([("a", "1"), ("q0", "2"), ("q1", "2")]) {
            assert_eq!(world.value(key).await.as_deref(), Some(value), "{key}");
        }
    });
}
