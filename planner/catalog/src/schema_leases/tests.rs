//! Decisions based on other nodes' rows, without a store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::row::{Answer, NodeRow, Wish};
use super::state::{Calm, OwnWish, State, Verdict};
use super::*;

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn row(node: u64, beat: u64, wishes: &[(u64, Wish)], answers: &[(u64, u64, bool)]) -> (bytes::Bytes, NodeRow) {
    let answers = answers.iter().map(|(node, wish, granted)| Answer { node: *node, wish: *wish, granted: *granted });
    let row = NodeRow { node, beat, wishes: wishes.iter().cloned().collect(), answers: answers.collect() };
    (serde_json::to_vec(&row).unwrap().into(), row)
}

/// A node beats: it writes its row and processes those of others.
fn look(state: &mut State, others: &[(bytes::Bytes, NodeRow)], now: u64) -> super::state::Seen {
    let own = state.next_row();
    let value: bytes::Bytes = serde_json::to_vec(&own).unwrap().into();
    state.stored = Some(value.clone());
    let mut rows = others.to_vec();
    rows.push((value, own.clone()));
    state.look(&own, rows, at(now), at(now), &NodeOptions::default())
}

fn wish(state: &mut State, wish: Wish) -> u64 {
    let number = state.next_wish;
    state.next_wish += 1;
    state.wishes.insert(number, OwnWish { wish, told: None });
    number
}

#[test]
fn a_calm_node_knows_the_catalog_for_one_lease_and_no_snapshot_before_it() {
    let mut state = State::new(2);
    assert!(look(&mut state, &[], 1000).may_be_calm);
    state.calm = Some(Calm { read_at: Timestamp(500), stamp: vec![7] });
    assert_eq!(state.stamp_at(Timestamp(500), at(1001)), Some(vec![7]));
    assert_eq!(state.stamp_at(Timestamp(499), at(1001)), None);
    assert_eq!(state.stamp_at(Timestamp(500), at(2999)), Some(vec![7]));
    assert_eq!(state.stamp_at(Timestamp(500), at(3000)), None);
    // If the look is in time, the cached catalog stays valid. If it is late, the catalog must be read again.
    assert!(!look(&mut state, &[], 2000).may_be_calm);
    assert_eq!(state.stamp_at(Timestamp(500), at(3999)), Some(vec![7]));
    assert!(look(&mut state, &[], 4000).may_be_calm);
    assert_eq!(state.stamp_at(Timestamp(500), at(4000)), None);
}

#[test]
fn a_wish_of_another_node_ends_the_calm_before_it_is_answered() {
    let mut state = State::new(2);
    look(&mut state, &[], 0);
    state.calm = Some(Calm { read_at: Timestamp(1), stamp: vec![7] });
    let seen = look(&mut state, &[row(1, 1, &[(4, Wish::Definition)], &[])], 100);
    assert_eq!(seen.begun, [((1, 4), Wish::Definition)]);
    assert_eq!(state.stamp_at(Timestamp(9), at(101)), None);
    assert!(!seen.may_be_calm);
    assert!(look(&mut state, &[row(1, 2, &[], &[])], 200).may_be_calm);
}

#[test]
fn a_node_whose_row_was_taken_away_is_certain_of_nothing() {
    let mut state = State::new(2);
    look(&mut state, &[], 0);
    state.calm = Some(Calm { read_at: Timestamp(1), stamp: vec![7] });
    let own = state.next_row();
    let seen = state.look(&own, Vec::new(), at(100), at(100), &NodeOptions::default());
    assert!(!seen.may_be_calm);
    assert_eq!(state.stamp_at(Timestamp(9), at(101)), None);
    assert!(!state.is_first(at(101)));
}

#[test]
fn a_wish_is_granted_by_every_answer_or_by_silence_longer_than_a_lease() {
    let options = NodeOptions::default();
    let mut state = State::new(2);
    let quiet = [row(1, 1, &[], &[]), row(3, 1, &[], &[])];
    look(&mut state, &quiet, 0);
    let number = wish(&mut state, Wish::Definition);
    assert_eq!(state.verdict(number, at(5000), &options), Verdict::Waiting, "nobody was told");
    look(&mut state, &quiet, 100);
    assert_eq!(state.verdict(number, at(100), &options), Verdict::Waiting);
    look(&mut state, &[row(1, 2, &[], &[(2, number, true)]), row(3, 1, &[], &[])], 200);
    assert_eq!(state.verdict(number, at(2599), &options), Verdict::Waiting);
    assert_eq!(state.verdict(number, at(2600), &options), Verdict::Granted, "3 said nothing since it was told");
    // A live node that has not answered yet is awaited.
    look(&mut state, &[row(1, 3, &[], &[(2, number, true)]), row(3, 2, &[], &[])], 2500);
    assert_eq!(state.verdict(number, at(2600), &options), Verdict::Waiting);
    look(&mut state, &[row(1, 3, &[], &[(2, number, true)]), row(3, 3, &[], &[(2, number, true)])], 2600);
    assert_eq!(state.verdict(number, at(2600), &options), Verdict::Granted);
    look(&mut state, &[row(1, 3, &[], &[(2, number, false)])], 2700);
    assert_eq!(state.verdict(number, at(2700), &options), Verdict::Refused);
}

#[test]
fn a_lock_is_not_granted_by_silence() {
    let options = NodeOptions::default();
    let mut state = State::new(2);
    let silent = [row(1, 1, &[], &[])];
    look(&mut state, &silent, 0);
    let number = wish(&mut state, Wish::Table { owner: 1, oid: 7 });
    look(&mut state, &silent, 100);
    assert_eq!(state.verdict(number, at(50_000), &options), Verdict::Waiting);
    look(&mut state, &[], 6200);
    assert_eq!(state.verdict(number, at(6200), &options), Verdict::Granted);
}

#[test]
fn who_joins_is_trusted_when_what_others_wish_is_seen_to() {
    let mut state = State::new(2);
    let other = [row(1, 1, &[(4, Wish::Table { owner: 1, oid: 7 })], &[])];
    assert_eq!(look(&mut state, &other, 0).begun.len(), 1);
    let (stop, _stopped) = futures::channel::oneshot::channel();
    state.grants.insert((1, 4), super::state::Grant { answer: None, _stop: stop });
    look(&mut state, &other, 10);
    assert_eq!(state.trusted, None);
    state.grants.get_mut(&(1, 4)).unwrap().answer = Some(true);
    look(&mut state, &other, 20);
    assert_eq!(state.trusted, Some(2));
}

#[test]
fn of_two_nodes_that_want_one_table_the_first_gets_it() {
    let options = NodeOptions::default();
    let (mut first, mut second) = (State::new(1), State::new(2));
    let of_first = wish(&mut first, Wish::Table { owner: 9, oid: 77 });
    let of_second = wish(&mut second, Wish::Table { owner: 9, oid: 77 });
    let other = wish(&mut second, Wish::Table { owner: 8, oid: 78 });
    let rows = |state: &mut State| {
        let row = state.next_row();
        (serde_json::to_vec(&row).unwrap().into(), row)
    };
    let (row_of_first, row_of_second) = (rows(&mut first), rows(&mut second));
    look(&mut first, &[row_of_second], 0);
    look(&mut second, &[row_of_first], 0);
    assert_eq!(first.verdict(of_first, at(10), &options), Verdict::Waiting);
    assert_eq!(second.verdict(of_second, at(10), &options), Verdict::Refused);
    assert_eq!(second.verdict(other, at(10), &options), Verdict::Waiting);
}

/// Looks at each rest from one moment to another.
fn look_from(state: &mut State, others: &[(bytes::Bytes, NodeRow)], from: u64, to: u64) {
    for now in (from..=to).step_by(250) {
        look(state, others, now);
    }
}

#[test]
fn a_silent_node_is_given_up_when_it_is_in_the_way_and_one_that_went_is_noticed() {
    let (options, mut state) = (NodeOptions::default(), State::new(2));
    let silent = row(1, 1, &[(1, Wish::Table { owner: 1, oid: 7 })], &[]);
    let rows = std::slice::from_ref(&silent);
    look_from(&mut state, rows, 0, 5750);
    assert_eq!(state.lost(true, &options), []);
    look(&mut state, rows, 6000);
    assert_eq!(state.lost(true, &options), [(1, silent.0.clone())], "a transaction here waits for its lock");
    assert_eq!(state.lost(false, &options), [], "nobody waits for it");
    // It does not answer a lock request of this node.
    let number = wish(&mut state, Wish::Definition);
    look(&mut state, rows, 6250);
    assert_eq!(state.lost(false, &options), []);
    state.wishes.remove(&number);
    wish(&mut state, Wish::Table { owner: 1, oid: 8 });
    look(&mut state, rows, 6500);
    assert_eq!(state.lost(false, &options), [(1, silent.0.clone())]);
    assert!(!state.is_first(at(6500)));
    assert_eq!(look(&mut state, &[], 6600).gone, 1);
    assert!(state.grants.is_empty() && state.is_first(at(6600)));
}

#[test]
fn a_node_in_nobodys_way_is_forgotten_much_later() {
    let (options, mut state) = (NodeOptions::default(), State::new(2));
    let silent = [row(1, 1, &[(1, Wish::Definition)], &[])];
    look_from(&mut state, &silent, 0, 59_750);
    assert_eq!(state.lost(true, &options), []);
    look(&mut state, &silent, 60_000);
    assert_eq!(state.lost(true, &options).len(), 1);
}

#[test]
fn who_could_not_look_does_not_take_others_for_dead() {
    let (options, mut state) = (NodeOptions::default(), State::new(2));
    let rows = [row(1, 1, &[(1, Wish::Table { owner: 1, oid: 7 })], &[])];
    look_from(&mut state, &rows, 0, 1000);
    // The store, or this node, was stalled, and the other one with it.
    look(&mut state, &rows, 11_000);
    assert_eq!(state.lost(true, &options), []);
    look_from(&mut state, &rows, 11_250, 15_250);
    assert_eq!(state.lost(true, &options), []);
    look_from(&mut state, &rows, 15_500, 15_750);
    assert_eq!(state.lost(true, &options).len(), 1);
}

#[test]
fn beats_are_short_after_something_new_and_not_while_nothing_happens() {
    let mut state = State::new(2);
    let quiet = [row(1, 1, &[], &[])];
    look_from(&mut state, &quiet, 0, 2000);
    assert!(!state.is_busy(at(2000)));
    look(&mut state, &[row(1, 2, &[(4, Wish::Definition)], &[])], 2250);
    assert!(state.is_busy(at(2250)) && state.is_busy(at(3249)));
    // The wish is still there, and nothing is new.
    look(&mut state, &[row(1, 3, &[(4, Wish::Definition)], &[])], 3000);
    assert!(!state.is_busy(at(3250)));
    wish(&mut state, Wish::Definition);
    look(&mut state, &[row(1, 4, &[(4, Wish::Definition)], &[])], 3500);
    assert!(state.is_busy(at(3500)));
}

#[tokio::test]
async fn a_row_that_speaks_of_hundreds_of_tables_is_changed_and_removed() {
    let env: EnvRef = storage::SystemEnv::current().unwrap();
    let rows = NodeRows { store: test_store::open_by_row(&txn::Oracle::new(env.clone()), &env).await };
    let wish = |at: u32| (u64::from(at), Wish::Table { owner: 1, oid: 16_384 + at });
    let answer = |at: u32| (7, u64::from(at), true);
    let (_, long) = row(1, 1, &(0..500).map(wish).collect::<Vec<_>>(), &(0..500).map(answer).collect::<Vec<_>>());
    let first = rows.write(None, &long).await.unwrap().unwrap();
    assert!(first.len() > 20 << 10);
    let second = rows.write(Some(&first), &NodeRow { beat: 2, ..long.clone() }).await.unwrap().unwrap();
    assert_eq!(rows.write(Some(&first), &long).await.unwrap(), None, "it is another by now");
    assert!(!rows.remove(1, &first).await.unwrap());
    assert_eq!(rows.read_one(1).await.unwrap(), Some(second.clone()));
    assert!(rows.remove(1, &second).await.unwrap());
    assert_eq!(rows.read_one(1).await.unwrap(), None);
    assert!(rows.write(None, &long).await.unwrap().is_some());
}

#[tokio::test]
async fn a_row_without_a_digest_can_be_removed() {
    let env: EnvRef = storage::SystemEnv::current().unwrap();
    let store = test_store::open_by_row(&txn::Oracle::new(env.clone()), &env).await;
    let (value, _) = row(1, 1, &[(4, Wish::Definition)], &[]);
    let set = storage::Mutation::Set { family: storage::Family::Data, timestamp: Timestamp(1), value: value.clone() };
    storage::Store::check_and_mutate(store.as_ref(), keys::node(1), Vec::new(), vec![set]).await.unwrap();
    let rows = NodeRows { store };
    assert_eq!(rows.read_one(1).await.unwrap(), Some(value.clone()));
    assert!(rows.remove(1, &value).await.unwrap());
    assert_eq!(rows.read_one(1).await.unwrap(), None);
}
