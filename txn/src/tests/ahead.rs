//! Commits that readers push ahead of the oracle, on a store that changes one row at a time.

use super::harness::*;
use super::nodes::*;
use crate::*;
use std::sync::atomic::Ordering;
use storage::Family;

/// Readers push a commit ahead of the oracle. The commit validates only when the oracle has caught up. A change that
/// is locked after the validation must not get a timestamp below the commit.
#[test]
fn a_commit_that_was_pushed_ahead_of_the_oracle_validates_when_the_oracle_is_there() {
    for serializable in [false, true] {
        over_rows(move |world, hooked| async move {
            world.set("descriptor", "1").await;
            let other = other_node(&world).await;
            let times = hooked.at_commits("row", move |before| {
                let other = other.clone();
                async move {
                    match before {
                        // The second reader that pushes pushes further ahead.
                        0 | 1 => assert_eq!(other.value("row").await, None),
                        2 => drop(other.set("descriptor", "2").await),
                        _ => {}
                    }
                }
            });
            let isolation = if serializable { Isolation::Serializable } else { Isolation::Snapshot };
            let writer = world.store.begin(TransactionOptions { isolation, ..TransactionOptions::default() });
            if serializable {
                assert_eq!(get(&writer, "descriptor").await.as_deref(), Some("1"));
            } else {
                writer.require_unchanged(key("descriptor"));
            }
            writer.write(vec![put("row", "of version 1")]).await.unwrap();
            let committed = writer.commit().await;
            hooked.clear();
            assert_eq!(times.load(Ordering::SeqCst), 3);
            let changed = row(&world, "descriptor").newest(Family::Write).unwrap().timestamp;
            assert!(committed.unwrap() < changed, "what depends on version 1 is not above version 2");
        });
    }
}
