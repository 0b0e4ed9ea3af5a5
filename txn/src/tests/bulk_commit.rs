//! Large commits beside each other, and beside small ones, on one log.

use super::harness::*;
use crate::*;
use std::time::Duration;
use storage::Env;

#[test]
fn large_commits_beside_each_other_wait_in_order_and_are_made_once() {
    on_paths(&[Path::InBulk], |world| async move {
        // Who comes first has most to do.
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
            // Others are given later timestamps meanwhile.
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
