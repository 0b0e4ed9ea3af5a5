//! Tests of the oracle's guarantees.

use crate::Oracle;
use std::time::Duration;
use storage::testing::{MemoryStore, SimEnv};
use storage::{Env, StoreRef, Timestamp, TimestampSource};

#[test]
fn timestamps_increase_strictly_whatever_the_wall_clock_does() {
    let env = SimEnv::new(1);
    let oracle = Oracle::new(env.clone());
    let mut last = Timestamp::ZERO;
    for jump in [0i64, 5_000_000, -3_600_000_000, 1, -1, 7_200_000_000] {
        env.jump_wall_clock(jump);
        for count in [1, 1, 3, 100] {
            let first = oracle.take(count);
            assert!(first > last);
            last = Timestamp(first.0 + count - 1);
        }
    }
}

#[test]
fn a_timestamp_is_a_time() {
    let env = SimEnv::new(1);
    let oracle = Oracle::new(env.clone());
    oracle.take(1);
    env.advance(Duration::from_secs(100));
    assert_eq!(oracle.take(1), Timestamp(env.now_micros()));
}

#[test]
fn it_waits_rather_than_run_a_second_ahead_of_its_clock() {
    let env = SimEnv::new(1);
    let oracle = Oracle::new(env.clone());
    let start = env.now_micros();
    oracle.take(1_000_000);
    let waiting = oracle.clone();
    let reading = env.block_on(async move { waiting.timestamp().await }).unwrap().unwrap();
    assert!(reading.timestamp.0 <= reading.physical_micros + 1_000_000);
    let waiting = oracle.clone();
    let env_after = env.clone();
    let later = async move {
        for _ in 0..10 {
            waiting.timestamp().await.unwrap();
        }
        env_after.now_micros()
    };
    assert!(env.block_on(later).unwrap() > start);
}

#[test]
fn a_restart_never_repeats_a_timestamp_even_with_the_clock_turned_back() {
    let env = SimEnv::new(1);
    let oracle = Oracle::new(env.clone());
    let store: StoreRef = MemoryStore::new(oracle.clone());
    let for_work = env.clone();
    let work = async move {
        let env = for_work;
        oracle.attach(&store, Timestamp::ZERO).await.unwrap();
        let mut last = Timestamp::ZERO;
        for turned_back in [0, 10, 3_600_000_000] {
            env.jump_wall_clock(-turned_back);
            let oracle = Oracle::new(env.clone());
            oracle.attach(&store, Timestamp::ZERO).await.unwrap();
            for _ in 0..100 {
                let reading = oracle.timestamp().await.unwrap();
                assert!(reading.timestamp > last);
                assert!(reading.timestamp.0 <= reading.physical_micros + 1_000_000);
                last = reading.timestamp;
                env.sleep(Duration::from_millis(50)).await;
            }
        }
    };
    env.block_on(work).unwrap();
}

#[test]
fn it_starts_above_the_greatest_recovered_commit() {
    // Ahead of the clock by less than the room kept for a burst, by less than a second, and by more.
    for ahead_micros in [300_000, 700_000, 30_000_000] {
        let env = SimEnv::new(1);
        let oracle = Oracle::new(env.clone());
        let store: StoreRef = MemoryStore::new(oracle.clone());
        let recovered = Timestamp(env.now_micros() + ahead_micros);
        let attached = oracle.clone();
        env.block_on(async move { attached.attach(&store, recovered).await }).unwrap().unwrap();
        assert!(oracle.take(1) > recovered, "{ahead_micros}");
    }
}
