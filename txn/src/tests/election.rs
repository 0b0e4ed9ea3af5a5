//! One node at a time, whatever the store and the clocks do.

use crate::lease::NodeLease;
use crate::{Oracle, TxnError};
use std::sync::Arc;
use std::time::Duration;
use storage::testing::{CountingTimestamps, Faults, FaultyStore, MemoryOptions, MemoryStore, SimEnv};
use storage::{EnvRef, StoreError, StoreRef, Timestamp};

struct Nodes {
    sim: Arc<SimEnv>,
    env: EnvRef,
    memory: StoreRef,
}

impl Nodes {
    fn new(seed: u64) -> Nodes {
        let sim = SimEnv::new(seed);
        let options = MemoryOptions { atomic: false, ..MemoryOptions::default() };
        let memory = MemoryStore::with_options(Arc::new(CountingTimestamps::after(Timestamp(1))), options);
        Nodes { env: sim.clone(), sim, memory }
    }

    fn faulty(&self) -> (Arc<FaultyStore>, StoreRef) {
        let faulty = FaultyStore::new(self.memory.clone(), self.env.clone(), Faults::default());
        (faulty.clone(), faulty)
    }
}

fn refused(answer: Result<Arc<NodeLease>, TxnError>) -> bool {
    matches!(answer, Err(TxnError::Store(StoreError::InUse(name))) if name == "first")
}

#[test]
fn a_living_holder_keeps_it_and_gives_it_free() {
    let Nodes { sim, env, memory } = Nodes::new(1);
    let work = async move {
        let first = NodeLease::acquire(&memory, &env, "first").await.unwrap();
        assert!(refused(NodeLease::acquire(&memory, &env, "second").await));
        env.sleep(Duration::from_secs(60)).await;
        first.check().unwrap();
        first.release().await.unwrap();
        assert!(first.check().is_err());
        let before = env.monotonic();
        let second = NodeLease::acquire(&memory, &env, "second").await.unwrap();
        assert_eq!(env.monotonic(), before);
        second.check().unwrap();
        first.release().await.unwrap();
        second.check().unwrap();
    };
    sim.block_on(work).unwrap();
}

#[test]
fn a_dead_holder_is_waited_for() {
    let Nodes { sim, env, memory } = Nodes::new(2);
    let work = async move {
        drop(NodeLease::acquire(&memory, &env, "first").await.unwrap());
        let before = env.monotonic();
        let second = NodeLease::acquire(&memory, &env, "second").await.unwrap();
        assert!(env.monotonic() - before >= Duration::from_secs(6));
        second.check().unwrap();
    };
    sim.block_on(work).unwrap();
}

#[test]
fn who_cannot_renew_stops_before_another_begins_and_for_good() {
    let nodes = Nodes::new(3);
    let (faulty, cut_off) = nodes.faulty();
    let Nodes { sim, env, memory } = nodes;
    let work = async move {
        let first = NodeLease::acquire(&cut_off, &env, "first").await.unwrap();
        let oracle = Oracle::new(env.clone());
        oracle.hold(first.clone());
        oracle.timestamp().await.unwrap();
        for cut_off_for in [2, 20] {
            faulty.set_faults(Faults { lost_writes: 1000, ..Faults::default() });
            env.sleep(Duration::from_secs(cut_off_for)).await;
            assert_eq!(first.check().is_ok(), cut_off_for == 2);
            assert_eq!(oracle.timestamp().await.is_ok(), cut_off_for == 2);
            // Nobody wanted it: it is good again.
            faulty.set_faults(Faults::default());
            env.sleep(Duration::from_secs(2)).await;
            oracle.timestamp().await.unwrap();
        }
        faulty.set_faults(Faults { lost_writes: 1000, ..Faults::default() });
        let second = NodeLease::acquire(&memory, &env, "second").await.unwrap();
        second.check().unwrap();
        assert!(oracle.timestamp().await.is_err());
        assert_eq!(first.lost(), None);
        faulty.set_faults(Faults::default());
        env.sleep(Duration::from_secs(2)).await;
        assert!(first.lost().unwrap().contains("second"));
        assert!(oracle.timestamp().await.is_err());
        second.check().unwrap();
    };
    sim.block_on(work).unwrap();
}

#[test]
fn there_is_never_more_than_one_holder_under_faults() {
    for seed in 0..200 {
        let nodes = Nodes::new(seed);
        let stores: Vec<StoreRef> = (0..3)
            .map(|_| {
                let (faulty, store) = nodes.faulty();
                let delay = Duration::from_secs(seed % 4 * 2);
                faulty.set_faults(Faults {
                    lost_writes: 200,
                    lost_answers: 200,
                    unknown_writes: 100,
                    lost_reads: 100,
                    delay,
                });
                store
            })
            .collect();
        let Nodes { sim, env, .. } = nodes;
        let work = async move {
            let holders = Arc::new(parking_lot::Mutex::new(Vec::<Arc<NodeLease>>::new()));
            for (number, store) in stores.into_iter().enumerate() {
                let (holders, env) = (holders.clone(), env.clone());
                let for_task = env.clone();
                env.spawn(
                    "node",
                    Box::pin(async move {
                        loop {
                            if let Ok(lease) = NodeLease::acquire(&store, &for_task, &number.to_string()).await {
                                holders.lock().push(lease);
                            }
                            for_task.sleep(Duration::from_millis(for_task.random() % 9000)).await;
                        }
                    }),
                );
            }
            for _ in 0..2000 {
                env.sleep(Duration::from_millis(50)).await;
                let holding = holders.lock().iter().filter(|lease| lease.check().is_ok()).count();
                assert!(holding <= 1, "{holding} holders");
                // Now and then one stops without a word.
                if env.random() % 200 == 0 {
                    holders.lock().clear();
                }
            }
        };
        sim.block_on(work).unwrap();
    }
}
