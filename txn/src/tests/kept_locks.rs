//! Tests of the locks of several nodes, kept at the oracle's node, under faults of the network and deaths of nodes.

use super::election::World;
use super::harness;
use super::row_locks::{beside, count_up};
use crate::locks::{Acquired, LockAgent, LockFailure, LockMode, LockName, LockWait, Locker, WantedLock};
use crate::{Oracle, TransactionStore, TransactionStoreOptions};
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::StoreRef;
use storage::testing::Faults;

const FOREVER: LockWait = LockWait::For(None);
const SECOND: Duration = Duration::from_secs(1);
/// A mode that excludes itself.
const ALONE: LockMode = LockMode::new(1, 0b11);

struct Node {
    oracle: Arc<Oracle>,
    agent: Arc<LockAgent>,
}

async fn node(world: &World, name: &str) -> Node {
    node_over(world, name, &world.memory).await
}

async fn node_over(world: &World, name: &str, store: &StoreRef) -> Node {
    let oracle = loop {
        // A node that cannot find the oracle tries again.
        match world.try_join(name, false, store, &world.env).await {
            Ok(oracle) => break oracle,
            Err(_) => world.env.sleep(SECOND).await,
        }
    };
    let agent = LockAgent::start(oracle.clone(), world.env.clone(), world.env.random());
    Node { oracle, agent }
}

async fn take(locker: &Locker, name: &str, wait: LockWait) -> Result<bool, LockFailure> {
    locker.acquire(LockName::new(1, name.as_bytes()), ALONE, &Bytes::copy_from_slice(name.as_bytes()), wait).await
}

fn give(locker: &Locker, name: &str) {
    locker.release(LockName::new(1, name.as_bytes()), ALONE);
}

#[test]
fn nodes_wait_for_each_other_and_circles_are_found() {
    World::run(1, |world| async move {
        let (first, second) = (node(&world, "first").await, node(&world, "second").await);
        let (one, two) = (first.agent.locker(1), second.agent.locker(2));
        assert_eq!(take(&one, "a", FOREVER).await, Ok(true));
        assert_eq!(take(&one, "a", FOREVER).await, Ok(false), "it has it");
        assert_eq!(take(&two, "b", FOREVER).await, Ok(true));
        assert_eq!(take(&two, "a", LockWait::No).await, Err(LockFailure::Held));
        let timeout = LockWait::For(Some(Duration::from_millis(50)));
        assert_eq!(take(&two, "a", timeout).await, Err(LockFailure::TimedOut));
        let waits = beside(&world.sim, {
            let one = one.clone();
            async move { take(&one, "b", FOREVER).await }
        });
        world.env.sleep(Duration::from_millis(10)).await;
        let seen = second.agent.seen().await.unwrap();
        assert_eq!(seen.named.len(), 2);
        assert_eq!((seen.waiting[0].label, &seen.waiting[0].blocked_by[..]), (1, &[2][..]));
        let Err(LockFailure::Deadlock(circle)) = take(&two, "a", FOREVER).await else { panic!("no deadlock") };
        assert_eq!(circle.len(), 2);
        drop(two);
        assert_eq!(waits.await, Ok(Ok(true)));
    });
}

#[test]
fn what_was_given_back_can_be_had_elsewhere_once_it_is_said_to_be() {
    World::run(7, |world| async move {
        let (first, second) = (node(&world, "first").await, node(&world, "second").await);
        let (one, two) = (first.agent.locker(1), second.agent.locker(2));
        for _ in 0..50 {
            assert_eq!(take(&two, "a", FOREVER).await, Ok(true));
            give(&two, "a");
            two.has_given_back().await;
            assert_eq!(take(&one, "a", LockWait::No).await, Ok(true));
            give(&one, "a");
            one.has_given_back().await;
        }
        // A node that the keeper does not answer still answers its client after a while.
        assert_eq!(take(&two, "a", FOREVER).await, Ok(true));
        world.network.cut_off.lock().insert("second".to_owned());
        give(&two, "a");
        let before = world.env.monotonic();
        two.has_given_back().await;
        assert!(world.env.monotonic() - before <= SECOND);
    });
}

#[test]
fn a_silent_node_loses_its_locks_when_its_lease_is_over() {
    World::run(2, |world| async move {
        let (first, second) = (node(&world, "first").await, node(&world, "second").await);
        let (one, two) = (first.agent.locker(1), second.agent.locker(2));
        assert_eq!(take(&two, "a", FOREVER).await, Ok(true));
        world.env.sleep(20 * SECOND).await;
        assert!(take(&one, "a", LockWait::No).await.is_err(), "it gave signs of life");
        world.network.cut_off.lock().insert("second".to_owned());
        let before = world.env.monotonic();
        assert_eq!(take(&one, "a", FOREVER).await, Ok(true));
        let waited = world.env.monotonic() - before;
        assert!(waited > 4 * SECOND && waited < 8 * SECOND, "{waited:?}");
        assert!(two.confirm().await.is_err(), "it knows without being told");
        world.network.cut_off.lock().clear();
        world.env.sleep(2 * SECOND).await;
        assert!(two.has_lost_locks());
        give(&two, "a");
        assert!(!two.has_lost_locks() && two.confirm().await.is_ok());
        assert_eq!(take(&two, "a", LockWait::No).await, Err(LockFailure::Held));
        give(&one, "a");
        assert_eq!(take(&two, "a", FOREVER).await, Ok(true));
    });
}

fn wanted(name: &str) -> WantedLock {
    let tag = Bytes::copy_from_slice(name.as_bytes());
    WantedLock { name: LockName::new(1, name.as_bytes()), mode: ALONE, tag }
}

/// Waits for a second, and then gives up.
async fn wait_in_vain(world: &World, work: impl Future) {
    let work = std::pin::pin!(work);
    let ended = futures::future::select(work, world.env.sleep(SECOND)).await;
    assert!(matches!(ended, futures::future::Either::Right(_)), "it did not wait");
}

#[test]
fn many_who_stop_waiting_at_once_leave_nothing_locked() {
    World::run(5, |world| async move {
        let (first, second) = (node(&world, "first").await, node(&world, "second").await);
        let one = first.agent.locker(1);
        assert_eq!(take(&one, "hot", FOREVER).await, Ok(true));
        let lockers: Vec<_> = (0..50).map(|label| second.agent.locker(label)).collect();
        let acquired = Acquired::new(usize::MAX);
        let all = lockers.iter().enumerate().map(|(at, locker)| {
            locker.acquire_all(vec![wanted(&format!("own {at}")), wanted("hot")], FOREVER, &acquired, 1, || None)
        });
        wait_in_vain(&world, futures::future::join_all(all)).await;
        world.env.sleep(SECOND).await;
        for at in 0..50 {
            assert_eq!(take(&one, &format!("own {at}"), LockWait::No).await, Ok(true), "{at}");
        }
        // None of them is still in a queue.
        give(&one, "hot");
        one.has_given_back().await;
        world.env.sleep(SECOND).await;
        assert_eq!(take(&one, "hot", LockWait::No).await, Ok(true));
    });
}

#[test]
fn what_was_had_before_the_wait_that_was_broken_off_is_given_back() {
    World::run(6, |world| async move {
        let (first, second) = (node(&world, "first").await, node(&world, "second").await);
        let (one, two) = (first.agent.locker(1), second.agent.locker(2));
        assert_eq!(take(&one, "hot", FOREVER).await, Ok(true));
        // More names than one request holds.
        let many = (0..3000).map(|at| wanted(&at.to_string())).chain([wanted("hot")]).collect();
        let acquired = Acquired::new(usize::MAX);
        wait_in_vain(&world, two.acquire_all(many, FOREVER, &acquired, 1, || None)).await;
        assert_eq!(take(&one, "0", LockWait::No).await, Err(LockFailure::Held), "it has it until it is given back");
        acquired.release_from(&two, 0);
        world.env.sleep(SECOND).await;
        for at in [0, 1000, 1500, 2047, 2999] {
            assert_eq!(take(&one, &at.to_string(), LockWait::No).await, Ok(true), "{at}");
        }
    });
}

#[test]
fn who_has_waited_long_asks_the_next_keeper() {
    World::run(8, |world| async move {
        let (first, second) = (node(&world, "first").await, node(&world, "second").await);
        let third = node(&world, "third").await;
        let (two, three) = (second.agent.locker(2), third.agent.locker(3));
        assert_eq!(take(&two, "a", FOREVER).await, Ok(true));
        let waits = beside(&world.sim, async move { take(&three, "a", FOREVER).await });
        world.env.sleep(120 * SECOND).await;
        first.oracle.leave().await.unwrap();
        world.env.sleep(10 * SECOND).await;
        give(&two, "a");
        assert_eq!(waits.await, Ok(Ok(true)));
    });
}

#[test]
fn locks_outlive_who_keeps_them() {
    for in_order in [false, true] {
        World::run(3, move |world| async move {
            let (faulty, store) = world.faulty();
            let (first, second) = (node_over(&world, "first", &store).await, node(&world, "second").await);
            let third = node(&world, "third").await;
            let (one, two, three) = (first.agent.locker(1), second.agent.locker(2), third.agent.locker(3));
            for (locker, name) in [(&one, "a"), (&two, "b"), (&three, "c")] {
                assert_eq!(take(locker, name, FOREVER).await, Ok(true));
            }
            let waits = beside(&world.sim, {
                let three = three.clone();
                async move { take(&three, "b", FOREVER).await }
            });
            world.env.sleep(SECOND).await;
            let before = world.env.monotonic();
            match in_order {
                true => first.oracle.leave().await.unwrap(),
                false => {
                    faulty.set_faults(Faults { lost_writes: 1000, lost_reads: 1000, ..Faults::default() });
                    // A node that holds something comes late.
                    world.network.cut_off.lock().extend(["first".to_owned(), "third".to_owned()]);
                    let heals = world.clone();
                    let later = async move {
                        heals.env.sleep(7 * SECOND).await;
                        heals.network.cut_off.lock().remove("third");
                    };
                    world.env.spawn("heals", Box::pin(later));
                }
            }
            // The locks of the dead node are free, those of the others are not, and waiters keep waiting.
            assert_eq!(take(&two, "a", FOREVER).await, Ok(true));
            let waited = world.env.monotonic() - before;
            // The sum of a lease of 3 s, the time for which the row must be unchanged, and the interval of looks.
            assert!(waited < if in_order { SECOND } else { 8 * SECOND }, "{waited:?}");
            assert_eq!(take(&two, "c", LockWait::No).await, Err(LockFailure::Held));
            assert!(two.confirm().await.is_ok() && three.confirm().await.is_ok());
            give(&two, "b");
            assert_eq!(waits.await, Ok(Ok(true)));
        });
    }
}

#[test]
fn nobody_waits_for_a_new_keeper_where_nothing_was_held() {
    World::run(4, |world| async move {
        let (first, second) = (node(&world, "first").await, node(&world, "second").await);
        let two = second.agent.locker(2);
        world.env.sleep(SECOND).await;
        first.oracle.leave().await.unwrap();
        let before = world.env.monotonic();
        assert!(!second.oracle.timestamp().await.unwrap().locked);
        assert_eq!(take(&two, "a", LockWait::No).await, Ok(true));
        assert!(world.env.monotonic() - before < SECOND);
    });
}

/// A lock stays held by one locker that is sure to have it at its end.
struct Held {
    name: usize,
    from: Duration,
    until: Duration,
    who: (usize, usize),
}

/// Under loss, delay, repetition and partitions, two lockers may hold one name at the same time. At most one of them
/// is sure of it in the end.
#[test]
fn who_is_sure_of_a_lock_has_had_it_alone() {
    const NAMES: [&str; 3] = ["a", "b", "c"];
    let mut sure = 0;
    for seed in 0..18 {
        let total = Arc::new(AtomicU64::new(0));
        let count = total.clone();
        World::run(seed, move |world| async move {
            world.network.lost.store(seed % 3 * 40, Ordering::SeqCst);
            world.network.repeated.store(seed % 2 * 100, Ordering::SeqCst);
            world.network.delay.store([2_000, 100_000, 1_500_000][(seed / 3 % 3) as usize], Ordering::SeqCst);
            let all: Arc<Mutex<Vec<Held>>> = Arc::default();
            for number in 0..3usize {
                let (faulty, store) = world.faulty();
                let name = number.to_string();
                let node = node_over(&world, &name, &store).await;
                for person in 0..3usize {
                    let (agent, all, count) = (node.agent.clone(), all.clone(), count.clone());
                    let (env, world) = (world.env.clone(), world.clone());
                    let person = async move {
                        let mut locker = agent.locker(1);
                        loop {
                            let env = &world.env;
                            let at = (env.random() % 3) as usize;
                            let wait = match env.random() % 3 {
                                0 => LockWait::No,
                                1 => LockWait::For(Some(Duration::from_millis(env.random() % 2000))),
                                _ => LockWait::For(Some(20 * SECOND)),
                            };
                            if take(&locker, NAMES[at], wait).await == Ok(true) {
                                let from = env.monotonic();
                                env.sleep(Duration::from_millis(env.random() % 3000)).await;
                                if locker.confirm().await.is_ok() {
                                    let held = Held { name: at, from, until: env.monotonic(), who: (number, person) };
                                    all.lock().push(held);
                                    count.fetch_add(1, Ordering::SeqCst);
                                }
                                give(&locker, NAMES[at]);
                            }
                            if env.random() % 10 == 0 {
                                locker = agent.locker(1);
                            }
                            env.sleep(Duration::from_millis(env.random() % 200)).await;
                        }
                    };
                    env.spawn("person", Box::pin(person));
                }
                let (env, world) = (world.env.clone(), world.clone());
                let trouble = async move {
                    // Kept, because the node lives.
                    let _node = node;
                    loop {
                        world.env.sleep(Duration::from_millis(world.env.random() % 20_000)).await;
                        world.network.cut_off.lock().insert(name.clone());
                        faulty.set_faults(Faults { lost_writes: 1000, lost_reads: 1000, ..Faults::default() });
                        world.env.sleep(Duration::from_millis(world.env.random() % 12_000)).await;
                        world.network.cut_off.lock().remove(&name);
                        faulty.set_faults(Faults::default());
                    }
                };
                env.spawn("trouble", Box::pin(trouble));
            }
            world.env.sleep(60 * SECOND).await;
            let all = all.lock();
            for (at, one) in all.iter().enumerate() {
                let meets = |other: &&Held| other.name == one.name && other.from < one.until && one.from < other.until;
                if let Some(other) = all.iter().skip(at + 1).find(meets) {
                    let times = (one.from, one.until, other.from, other.until);
                    panic!("seed {seed}: {:?} and {:?} both had {}: {times:?}", one.who, other.who, NAMES[one.name]);
                }
            }
        });
        sure += total.load(Ordering::SeqCst);
    }
    // Somebody has a lock most of the time.
    assert!(sure > 300, "{sure}");
}

/// Many clients on two nodes increment the same few rows at both levels. No count is lost, and no client is refused
/// at READ COMMITTED. Yet commits at snapshot level look for locks only if there are some.
#[test]
fn counts_of_two_nodes_are_never_lost() {
    for seed in 0..30 {
        World::run(seed, move |world| async move {
            world.network.delay.store(seed % 4 * 30, Ordering::SeqCst);
            let mut nodes = Vec::new();
            for name in ["first", "second"] {
                let raw = world.memory.clone();
                // A transaction that is granted a row may meet the locks of a commit that did not look, and that is
                // about to give way.
                let options = TransactionStoreOptions { lock_wait: SECOND, ..harness::options(harness::Path::ByRow) };
                let oracle = world.join(name).await;
                let store =
                    TransactionStore::open(raw.clone(), oracle, world.env.clone(), options.clone()).await.unwrap();
                nodes.push(harness::World { env: world.sim.clone(), raw, memory: None, network: None, store, options });
            }
            for row in ["a", "b"] {
                nodes[0].set(row, "0").await;
            }
            let done = Arc::new(AtomicU64::new(0));
            let tasks: Vec<_> = (0..8u64)
                .map(|number| {
                    let node = &nodes[(number / 2 % 2) as usize];
                    beside(&world.sim, count_up(node.clone(), number, done.clone()))
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            let mut sum = 0;
            for row in ["a", "b"] {
                sum += nodes[1].value(row).await.unwrap().parse::<u64>().unwrap();
            }
            assert_eq!(sum, done.load(Ordering::SeqCst), "seed {seed}");
            world.env.sleep(SECOND).await;
            assert_eq!(nodes[0].store.locks().held(), 0);
            assert!(!nodes[1].store.oracle().timestamp().await.unwrap().locked);
        });
    }
}
