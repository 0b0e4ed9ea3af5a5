//! Tests of the election: all nodes have one oracle, whatever the store, the network and the clocks do.

use super::hooked::AheadEnv;
use crate::locks::{LockReply, LockRequest};
use crate::{Oracle, OracleNode, OracleReading, OracleRequest, OracleTransport, TxnError};
use futures::StreamExt;
use futures::future::join_all;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::testing::{CountingTimestamps, Faults, FaultyStore, MemoryOptions, MemoryStore, SimEnv};
use storage::{BoxFuture, EnvRef, StoreError, StoreRef, Timestamp};

/// A network that delays, loses and repeats messages between nodes.
pub(crate) struct Network {
    env: EnvRef,
    nodes: Mutex<HashMap<String, Weak<Oracle>>>,
    calls: AtomicU64,
    /// Lost requests, and lost answers, in thousandths.
    pub(crate) lost: AtomicU64,
    /// The longest delay each way, in microseconds.
    pub(crate) delay: AtomicU64,
    /// Requests about locks that arrive twice, in thousandths.
    pub(crate) repeated: AtomicU64,
    /// Nodes without any connection.
    pub(crate) cut_off: Mutex<BTreeSet<String>>,
    /// If not zero, the timestamp that all answers are made from.
    lie: AtomicU64,
}

/// The connection of a node, by its name, to the others.
struct Link(Arc<Network>, String);

impl Network {
    fn reaches(&self, from: &str, to: &str) -> bool {
        let cut_off = self.cut_off.lock();
        !cut_off.contains(from) && !cut_off.contains(to)
    }

    async fn way(&self) -> Result<(), String> {
        let delay = self.delay.load(Ordering::SeqCst);
        if delay > 0 {
            self.env.sleep(Duration::from_micros(self.env.random() % delay)).await;
        }
        match self.env.random() % 1000 < self.lost.load(Ordering::SeqCst) {
            true => Err("lost".to_owned()),
            false => Ok(()),
        }
    }
}

impl OracleTransport for Link {
    fn ask(&self, address: &str, request: OracleRequest) -> BoxFuture<'static, Result<OracleReading, String>> {
        let network = self.0.clone();
        let (from, address) = (self.1.clone(), address.to_owned());
        Box::pin(async move {
            network.calls.fetch_add(1, Ordering::SeqCst);
            let (sender, receiver) = futures::channel::oneshot::channel();
            // A task of its own: the request arrives even when nobody awaits its answer any more.
            let arrives = network.clone();
            network.env.clone().spawn(
                "call",
                Box::pin(async move {
                    let Ok(()) = arrives.way().await else { return };
                    let node = arrives.nodes.lock().get(&address).and_then(Weak::upgrade);
                    let Some(node) = node.filter(|_| arrives.reaches(&from, &address)) else { return };
                    let mut answer = node.serve(request).await;
                    drop(node);
                    let lie = arrives.lie.load(Ordering::SeqCst);
                    if let (Ok(reading), true) = (&mut answer, lie > 0) {
                        reading.timestamp = Timestamp(lie);
                    }
                    let Ok(()) = arrives.way().await else { return };
                    let _ = sender.send(answer);
                }),
            );
            receiver.await.unwrap_or_else(|_| Err("lost".to_owned()))
        })
    }

    fn ask_for_locks(&self, address: &str, request: LockRequest) -> BoxFuture<'static, Result<LockReply, String>> {
        let network = self.0.clone();
        let (from, address) = (self.1.clone(), address.to_owned());
        Box::pin(async move {
            let (sender, mut receiver) = futures::channel::mpsc::unbounded();
            let repeated = network.env.random() % 1000 < network.repeated.load(Ordering::SeqCst);
            for _ in 0..1 + u8::from(repeated) {
                let (arrives, sender, request) = (network.clone(), sender.clone(), request.clone());
                let (from, address) = (from.clone(), address.clone());
                let call = async move {
                    let Ok(()) = arrives.way().await else { return };
                    let node = arrives.nodes.lock().get(&address).and_then(Weak::upgrade);
                    let Some(node) = node.filter(|_| arrives.reaches(&from, &address)) else { return };
                    let answer = node.serve_locks(request).await;
                    drop(node);
                    let Ok(()) = arrives.way().await else { return };
                    if arrives.reaches(&from, &address) {
                        let _ = sender.unbounded_send(answer);
                    }
                };
                network.env.spawn("call", Box::pin(call));
            }
            drop(sender);
            receiver.next().await.unwrap_or_else(|| Err("lost".to_owned()))
        })
    }
}

/// The store, network and clocks that nodes share.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) sim: Arc<SimEnv>,
    pub(crate) env: EnvRef,
    pub(crate) memory: StoreRef,
    pub(crate) network: Arc<Network>,
}

impl World {
    fn new(seed: u64) -> World {
        let sim = SimEnv::new(seed);
        let env: EnvRef = sim.clone();
        let options = MemoryOptions { atomic: false, ..MemoryOptions::default() };
        let memory = MemoryStore::with_options(Arc::new(CountingTimestamps::after(Timestamp(1))), options);
        let network = Network {
            env: env.clone(),
            nodes: Mutex::default(),
            calls: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            delay: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            cut_off: Mutex::default(),
            lie: AtomicU64::new(0),
        };
        World { sim, env, memory, network: Arc::new(network) }
    }

    pub(crate) fn faulty(&self) -> (Arc<FaultyStore>, StoreRef) {
        let faulty = FaultyStore::new(self.memory.clone(), self.env.clone(), Faults::default());
        (faulty.clone(), faulty)
    }

    pub(crate) async fn try_join(
        &self,
        name: &str,
        alone: bool,
        store: &StoreRef,
        env: &EnvRef,
    ) -> Result<Arc<Oracle>, TxnError> {
        let address = (!alone).then(|| name.to_owned());
        let node = OracleNode { name: name.to_owned(), address };
        let oracle = Oracle::join(store, env, node, Arc::new(Link(self.network.clone(), name.to_owned()))).await?;
        self.network.nodes.lock().insert(name.to_owned(), Arc::downgrade(&oracle));
        Ok(oracle)
    }

    pub(crate) async fn join(&self, name: &str) -> Arc<Oracle> {
        self.try_join(name, false, &self.memory, &self.env).await.unwrap()
    }

    /// Runs a test in its own world.
    pub(crate) fn run<Work: Future<Output = ()> + Send + 'static>(seed: u64, test: impl FnOnce(World) -> Work) {
        let world = World::new(seed);
        let sim = world.sim.clone();
        sim.block_on(test(world)).unwrap();
    }
}

async fn take(oracle: &Oracle) -> Timestamp {
    oracle.timestamp().await.unwrap().timestamp
}

fn in_use(answer: Result<Arc<Oracle>, TxnError>) -> bool {
    matches!(answer, Err(TxnError::Store(StoreError::InUse(name))) if name == "first")
}

#[test]
fn the_first_node_is_the_oracle_and_gives_it_free() {
    World::run(1, |world| async move {
        let first = world.join("first").await;
        let second = world.join("second").await;
        assert!(first.is_holder() && !second.is_holder());
        let mut last = Timestamp::ZERO;
        for _ in 0..100 {
            for oracle in [&first, &second] {
                let next = take(oracle).await;
                assert!(next > last);
                last = next;
            }
            world.env.sleep(Duration::from_millis(99)).await;
        }
        // The clock continues by itself from another node's last answer.
        let drift = second.physical_now().abs_diff(world.env.now_micros());
        assert!(drift < 1000, "{drift}");
        let before = world.env.monotonic();
        first.leave().await.unwrap();
        assert!(first.timestamp().await.is_err());
        assert!(take(&second).await > last);
        assert!(world.env.monotonic() - before < Duration::from_millis(100));
        assert!(second.is_holder() && first.failure().is_none());
    });
}

#[test]
fn a_dead_holder_is_waited_for_as_long_as_its_lease() {
    World::run(2, |world| async move {
        let first = world.join("first").await;
        let second = world.join("second").await;
        let last = take(&second).await;
        world.env.sleep(Duration::from_secs(20)).await;
        drop(first);
        let before = world.env.monotonic();
        assert!(take(&second).await > last);
        let waited = world.env.monotonic() - before;
        assert!(waited > Duration::from_millis(2900) && waited < Duration::from_secs(5), "{waited:?}");
    });
}

#[test]
fn nodes_that_could_not_ask_each_other_do_not_share() {
    World::run(3, |world| async move {
        let alone = world.try_join("first", true, &world.memory, &world.env).await.unwrap();
        assert!(in_use(world.try_join("second", false, &world.memory, &world.env).await));
        assert!(in_use(world.try_join("second", true, &world.memory, &world.env).await));
        drop(alone);
        let shared = world.join("first").await;
        take(&shared).await;
        assert!(in_use(world.try_join("second", true, &world.memory, &world.env).await));
        world.join("second").await;
    });
}

#[test]
fn a_node_alone_that_lost_its_lease_stops() {
    World::run(4, |world| async move {
        let (faulty, cut_off) = world.faulty();
        let alone = world.try_join("first", true, &cut_off, &world.env).await.unwrap();
        faulty.set_faults(Faults { lost_writes: 1000, ..Faults::default() });
        world.env.sleep(Duration::from_secs(4)).await;
        assert!(!alone.is_holder());
        let second = world.try_join("second", true, &world.memory, &world.env).await.unwrap();
        faulty.set_faults(Faults::default());
        assert!(alone.timestamp().await.is_err());
        assert!(alone.failure().unwrap().contains("second"));
        take(&second).await;
    });
}

#[test]
fn who_cannot_renew_stops_before_another_begins_and_asks_it_then() {
    World::run(5, |world| async move {
        let (faulty, cut_off) = world.faulty();
        let first = world.try_join("first", false, &cut_off, &world.env).await.unwrap();
        let second = world.join("second").await;
        let mut last = take(&second).await;
        faulty.set_faults(Faults { lost_writes: 1000, ..Faults::default() });
        for _ in 0..100 {
            assert!(!(first.is_holder() && second.is_holder()));
            world.env.sleep(Duration::from_millis(50)).await;
            for oracle in [&first, &second] {
                let next = take(oracle).await;
                assert!(next > last);
                last = next;
            }
        }
        assert!(second.is_holder() && !first.is_holder());
        faulty.set_faults(Faults::default());
        world.env.sleep(Duration::from_secs(1)).await;
        assert!(take(&first).await > last);
        assert_eq!(first.failure(), None);
    });
}

#[test]
fn what_waits_is_asked_for_in_one_call_and_nothing_is_kept() {
    World::run(6, |world| async move {
        let first = world.join("first").await;
        let second = world.join("second").await;
        world.network.delay.store(1000, Ordering::SeqCst);
        let all = join_all((0..1000).map(|_| take(&second))).await;
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 1000);
        // The first request is sent alone, and those that came meanwhile together.
        let calls = world.network.calls.load(Ordering::SeqCst);
        assert!(calls <= 2, "{calls}");
        let between = take(&first).await;
        assert!(between > *all.iter().max().unwrap() && take(&second).await > between);
    });
}

#[test]
fn who_waits_for_a_timestamp_is_told_after_half_a_minute_that_there_is_none() {
    World::run(9, |world| async move {
        let _first = world.join("first").await;
        let second = world.join("second").await;
        take(&second).await;
        world.network.lost.store(1000, Ordering::SeqCst);
        let before = world.env.monotonic();
        let (early, late) = futures::join!(second.timestamp(), async {
            world.env.sleep(Duration::from_secs(20)).await;
            second.timestamp().await
        });
        for error in [early.unwrap_err(), late.unwrap_err()] {
            assert!(error.to_string().contains("no timestamp could be had for 30 s"), "{error}");
        }
        let waited = world.env.monotonic() - before;
        assert!(waited >= Duration::from_secs(50) && waited < Duration::from_secs(53), "{waited:?}");
        world.network.lost.store(0, Ordering::SeqCst);
        take(&second).await;
    });
}

#[test]
fn a_node_stops_when_timestamps_go_backwards() {
    World::run(7, |world| async move {
        let _first = world.join("first").await;
        let second = world.join("second").await;
        take(&second).await;
        world.network.lie.store(5, Ordering::SeqCst);
        let error = second.timestamp().await.unwrap_err();
        assert!(error.to_string().contains("backwards"), "{error}");
        world.network.lie.store(0, Ordering::SeqCst);
        assert!(second.timestamp().await.is_err());
        assert!(second.failure().unwrap().contains("backwards"));
    });
}

#[test]
fn a_successor_whose_clock_is_behind_goes_on_from_the_mark() {
    World::run(8, |world| async move {
        let ahead: EnvRef = Arc::new(AheadEnv { inner: world.env.clone(), ahead: Duration::from_secs(60) });
        let first = world.try_join("first", false, &world.memory, &ahead).await.unwrap();
        let second = world.join("second").await;
        take(&second).await;
        let last = take(&first).await;
        let (told, own) = (second.physical_now(), world.env.now_micros());
        assert!(told > own + 59_000_000, "{told} {own}");
        drop(first);
        let reading = second.timestamp().await.unwrap();
        assert!(reading.timestamp > last && reading.physical_micros >= told);
        assert!(reading.timestamp.0 <= reading.physical_micros + 1_000_000);
    });
}

#[test]
fn a_successor_that_was_told_nothing_begins_above_the_mark() {
    World::run(9, |world| async move {
        let ahead: EnvRef = Arc::new(AheadEnv { inner: world.env.clone(), ahead: Duration::from_secs(60) });
        let first = world.try_join("first", false, &world.memory, &ahead).await.unwrap();
        let second = world.join("second").await;
        let last = take(&first).await;
        drop(first);
        assert!(take(&second).await > last);
    });
}

/// Under all faults, a timestamp requested after another was received is greater, on all nodes.
#[test]
fn timestamps_follow_the_order_of_requests_under_faults() {
    let mut taken = 0;
    for seed in 0..120 {
        let total = Arc::new(AtomicU64::new(0));
        let count = total.clone();
        World::run(seed, |world| async move {
            world.network.lost.store(seed % 3 * 60, Ordering::SeqCst);
            world.network.delay.store([10_000, 300_000, 2_500_000][(seed / 3 % 3) as usize], Ordering::SeqCst);
            let newest = Arc::new(AtomicU64::new(0));
            let all = Arc::new(Mutex::new(BTreeSet::new()));
            let mut nodes: Vec<Arc<Mutex<Option<Arc<Oracle>>>>> = Vec::new();
            for number in 0..3u64 {
                let (faulty, store) = world.faulty();
                faulty.set_faults(Faults {
                    lost_writes: 100,
                    lost_answers: 100,
                    unknown_writes: 50,
                    lost_reads: 50,
                    delay: Duration::from_millis([0, 100, 1500][(seed / 9 % 3) as usize]),
                });
                let slot = Arc::new(Mutex::new(None));
                nodes.push(slot.clone());
                // The node's life, and its next life.
                let life = world.clone();
                world.env.spawn(
                    "node",
                    Box::pin(async move {
                        loop {
                            let joined = life.try_join(&number.to_string(), false, &store, &life.env).await;
                            if let Ok(oracle) = joined {
                                *slot.lock() = Some(oracle.clone());
                                life.env.sleep(Duration::from_millis(life.env.random() % 30_000)).await;
                                if life.env.random() % 2 == 0 {
                                    let _ = oracle.leave().await;
                                }
                                slot.lock().take();
                            }
                            life.env.sleep(Duration::from_millis(life.env.random() % 500)).await;
                        }
                    }),
                );
            }
            for slot in nodes.iter().chain(&nodes) {
                let (slot, env, newest, all, count) =
                    (slot.clone(), world.env.clone(), newest.clone(), all.clone(), count.clone());
                world.env.spawn(
                    "client",
                    Box::pin(async move {
                        loop {
                            let oracle = slot.lock().clone();
                            let Some(oracle) = oracle else {
                                env.sleep(Duration::from_millis(50)).await;
                                continue;
                            };
                            let floor = newest.load(Ordering::SeqCst);
                            match oracle.timestamp().await {
                                Ok(reading) => {
                                    let next = reading.timestamp.0;
                                    assert!(next > floor, "{next} after {floor}");
                                    assert!(all.lock().insert(next), "{next} twice");
                                    newest.fetch_max(next, Ordering::SeqCst);
                                    count.fetch_add(1, Ordering::SeqCst);
                                }
                                Err(_) => assert_eq!(oracle.failure(), None),
                            }
                            drop(oracle);
                            env.sleep(Duration::from_millis(env.random() % 100)).await;
                        }
                    }),
                );
            }
            for _ in 0..600 {
                world.env.sleep(Duration::from_millis(100)).await;
                let holders = nodes.iter().filter(|slot| slot.lock().as_ref().is_some_and(|oracle| oracle.is_holder()));
                assert!(holders.count() <= 1);
            }
        });
        taken += total.load(Ordering::SeqCst);
    }
    // There is an oracle most of the time.
    assert!(taken > 100_000, "{taken}");
}
