//! The contract suite over Google's emulator, and tests of what is particular to this engine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::contract::{Cell, ClassRange, Family, TimestampRange};
use crate::testing::contract::{self, bytes, everything, scan};
use crate::testing::{CountingTimestamps, Emulator, MemoryOptions, MemoryStore, Proxy};
use futures::executor::block_on;
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// An emulator, a runtime for the connections, and fresh tables.
pub(crate) struct Bench {
    pub(crate) runtime: tokio::runtime::Runtime,
    emulator: Emulator,
    tables: AtomicU64,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Bench { runtime, emulator: Emulator::start().unwrap(), tables: AtomicU64::new(0) }
    }

    pub(crate) fn options(&self) -> BigtableOptions {
        BigtableOptions { emulator: Some(self.emulator.address().to_owned()), ..BigtableOptions::default() }
    }

    pub(crate) fn env(&self) -> EnvRef {
        crate::SystemEnv::new(self.runtime.handle().clone())
    }

    fn address(&self) -> BigtableAddress {
        let table = self.tables.fetch_add(1, Ordering::Relaxed);
        format!("bigtable://p/i/t{table}").parse().unwrap()
    }

    /// A new table, and its store with these options, through a proxy in front of the emulator.
    pub(crate) fn store_behind_proxy(&self, options: BigtableOptions) -> (Proxy, Arc<BigtableStore>) {
        let (address, env) = (self.address(), self.env());
        self.runtime.block_on(async {
            init_store(address.clone(), self.options(), env.clone()).await.unwrap();
            let proxy = Proxy::start(self.emulator.address()).await.unwrap();
            let options = BigtableOptions { emulator: Some(proxy.address().to_owned()), ..options };
            let store = BigtableStore::open(address, options, env).await.unwrap();
            (proxy, store)
        })
    }

    pub(crate) fn store(&self) -> Arc<BigtableStore> {
        let (address, env) = (self.address(), self.env());
        self.runtime.block_on(async {
            let made = init_store(address.clone(), self.options(), env.clone()).await.unwrap();
            assert_eq!(made, Initialized::Made);
            BigtableStore::open(address, self.options(), env).await.unwrap()
        })
    }
}

#[test]
fn honours_the_contract() {
    let bench = Bench::new();
    contract::check_all(&|| bench.store());
}

#[test]
fn nodes_that_open_a_new_table_together_all_find_it_theirs() {
    let bench = Bench::new();
    for _ in 0..8 {
        let (address, env) = (bench.address(), bench.env());
        bench.runtime.block_on(async {
            init_store(address.clone(), bench.options(), env.clone()).await.unwrap();
            let nodes = (0..8).map(|_| {
                let (address, options, env) = (address.clone(), bench.options(), env.clone());
                BigtableStore::open(address, options, env)
            });
            for node in futures::future::join_all(nodes).await {
                node.unwrap();
            }
        });
    }
}

#[test]
fn a_store_is_made_once_and_only_ours_is_opened() {
    let bench = Bench::new();
    let (address, env) = (bench.address(), bench.env());
    bench.runtime.block_on(async {
        let open = || BigtableStore::open(address.clone(), bench.options(), env.clone());
        let missing = open().await.err().unwrap();
        assert!(matches!(&missing, StoreError::Format(text) if text.contains("init-store")), "{missing}");
        let init = || init_store(address.clone(), bench.options(), env.clone());
        assert_eq!(init().await.unwrap(), Initialized::Made);
        assert_eq!(init().await.unwrap(), Initialized::Found);
        let store = open().await.unwrap();
        store.put_meta(FORMAT_NAME, bytes("percosql 9")).await.unwrap();
        assert!(matches!(open().await.err().unwrap(), StoreError::Format(_)));
    });
}

#[test]
fn a_table_that_would_lose_versions_is_not_opened() {
    use admin::modify_column_families_request::{Modification, modification::Mod};
    use googleapis_tonic_google_bigtable_admin_v2::google::bigtable::admin::v2 as admin;
    let bench = Bench::new();
    let (address, env) = (bench.address(), bench.env());
    bench.runtime.block_on(async {
        init_store(address.clone(), bench.options(), env.clone()).await.unwrap();
        let client = Client::new(address.clone(), bench.options(), env.clone()).await.unwrap();
        let change = async |id: &str, change: Mod| {
            let modifications = vec![Modification { id: id.to_owned(), update_mask: None, r#mod: Some(change) }];
            let name = client.address.table_name();
            let request = admin::ModifyColumnFamiliesRequest { name, modifications, ignore_warnings: true };
            client.admin().modify_column_families(request).await.unwrap();
        };
        let open = async || BigtableStore::open(address.clone(), bench.options(), env.clone()).await;
        open().await.unwrap();
        for rule in [admin::gc_rule::Rule::MaxNumVersions(1), admin::gc_rule::Rule::MaxAge(Default::default())] {
            let gc_rule = Some(admin::GcRule { rule: Some(rule) });
            change("w", Mod::Update(admin::ColumnFamily { gc_rule, ..Default::default() })).await;
            let refused = open().await.err().unwrap();
            assert!(matches!(&refused, StoreError::Format(text) if text.contains("family w")), "{refused}");
            let never = Some(admin::GcRule::default());
            change("w", Mod::Update(admin::ColumnFamily { gc_rule: never, ..Default::default() })).await;
            open().await.unwrap();
        }
        change("r", Mod::Drop(true)).await;
        let refused = open().await.err().unwrap();
        assert!(matches!(&refused, StoreError::Format(text) if text.contains("init-store")), "{refused}");
        init_store(address.clone(), bench.options(), env.clone()).await.unwrap();
        open().await.unwrap();
    });
}

#[test]
fn reads_and_writes_are_few_calls() {
    let bench = Bench::new();
    let store = bench.store();
    let calls = |work: &dyn Fn()| {
        let before = store.calls();
        work();
        let after = store.calls();
        (after.reads - before.reads, after.checks - before.checks, after.writes - before.writes)
    };
    let set = |number: u64| RowMutation {
        key: bytes(&format!("k{number:04}")),
        mutations: vec![Mutation::Set { family: Family::Write, timestamp: Timestamp(number), value: bytes("v") }],
    };
    assert_eq!(calls(&|| block_on(store.mutate_rows((0..1000).map(set).collect())).unwrap()), (0, 0, 1));
    let keys: Vec<Bytes> = (0..1000).map(|number| set(number).key).collect();
    assert_eq!(calls(&|| assert_eq!(block_on(store.read(&keys, &everything())).unwrap().len(), 1000)), (1, 0, 0));
    let all = || assert_eq!(scan(&*store, RowRange::all(), everything(), ScanOptions::default()).len(), 1000);
    assert_eq!(calls(&all), (1, 0, 0));
    let free =
        Condition::NoCell { family: Family::Lock, range: TimestampRange::ALL, class: ClassRange::ANY, except: None };
    let check = || block_on(store.check_and_mutate(bytes("k"), vec![free.clone()], set(1).mutations)).unwrap();
    assert_eq!(calls(&|| assert!(check())), (0, 1, 0));
    assert_eq!(calls(&|| assert!(block_on(store.read(&keys, &ReadFilter::new())).unwrap().is_empty())), (0, 0, 0));
}

#[test]
fn large_values_and_rows_pass() {
    let bench = Bench::new();
    let store = bench.store();
    let value = Bytes::from(vec![7; 9 << 20]);
    let set = |at| Mutation::Set { family: Family::Data, timestamp: Timestamp(at), value: value.clone() };
    let row = RowMutation { key: bytes("k"), mutations: vec![set(1), set(2)] };
    block_on(store.mutate_rows(vec![row])).unwrap();
    let rows = block_on(store.read(&[bytes("k")], &everything())).unwrap();
    let cell = |at| Cell { family: Family::Data, timestamp: Timestamp(at), value: value.clone() };
    assert_eq!(rows, [Row { key: bytes("k"), cells: smallvec::smallvec![cell(2), cell(1)] }]);
}

/// A step that is applied to both engines.
#[derive(Clone, Debug)]
enum Step {
    Mutate(Vec<RowMutation>),
    Check(Bytes, Vec<Condition>, Vec<Mutation>),
    Delete(RowRange),
    Read(Vec<Bytes>, ReadFilter),
    Scan(RowRange, ReadFilter, ScanOptions),
}

fn key() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', 254, 255]), 0..3).prop_map(Bytes::from)
}

fn family() -> impl Strategy<Value = Family> {
    prop::sample::select(Family::ALL.to_vec())
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    prop_oneof![(0u64..6).prop_map(Timestamp), Just(Timestamp::MAX), Just(Timestamp(1_767_225_600_000_000))]
}

fn times() -> impl Strategy<Value = TimestampRange> {
    prop_oneof![
        Just(TimestampRange::ALL),
        timestamp().prop_map(TimestampRange::at),
        timestamp().prop_map(TimestampRange::after),
        (timestamp(), timestamp()).prop_map(|(from, to)| TimestampRange { from, to }),
    ]
}

fn value() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(prop::sample::select(vec![0u8, 1, 2, 4, 255]), 0..3).prop_map(Bytes::from)
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        3 => (family(), timestamp(), value())
            .prop_map(|(family, timestamp, value)| Mutation::Set { family, timestamp, value }),
        1 => (family(), times()).prop_map(|(family, range)| Mutation::Delete { family, range }),
    ]
}

fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    prop::collection::vec(mutation(), 0..4)
}

fn absence() -> impl Strategy<Value = Condition> {
    let class = (0u8..=5, 0u8..=5).prop_map(|(from, to)| match to {
        5 => ClassRange { from, to: 255 },
        _ => ClassRange { from, to },
    });
    (family(), times(), prop_oneof![Just(ClassRange::ANY), class], prop::option::of(timestamp()))
        .prop_map(|(family, range, class, except)| Condition::NoCell { family, range, class, except })
}

fn conditions() -> impl Strategy<Value = Vec<Condition>> {
    prop_oneof![
        prop::collection::vec(absence(), 0..4),
        (family(), timestamp(), value()).prop_map(|(family, timestamp, value)| vec![Condition::CellEquals {
            family,
            timestamp,
            value
        }]),
    ]
}

fn rows() -> impl Strategy<Value = RowRange> {
    (key(), prop::option::of(key())).prop_map(|(start, end)| RowRange { start, end })
}

fn filter() -> impl Strategy<Value = ReadFilter> {
    let family = |family| {
        prop::option::of((times(), prop_oneof![1usize..3, Just(usize::MAX)]))
            .prop_map(move |wanted| wanted.map(|(range, cells)| (family, range, cells)))
    };
    Family::ALL.map(family).prop_map(|wanted| {
        wanted
            .into_iter()
            .flatten()
            .fold(ReadFilter::new(), |all, (family, range, cells)| all.with(family, range, cells))
    })
}

fn step() -> impl Strategy<Value = Step> {
    let change = (key(), mutations()).prop_map(|(key, mutations)| RowMutation { key, mutations });
    let options = (1usize..5, prop::option::of(0usize..6)).prop_map(|(batch_rows, limit)| ScanOptions {
        reverse: false,
        batch_rows,
        limit,
        cached: true,
    });
    prop_oneof![
        4 => prop::collection::vec(change, 1..4).prop_map(Step::Mutate),
        4 => (key(), conditions(), mutations()).prop_map(|(key, checks, then)| Step::Check(key, checks, then)),
        1 => rows().prop_map(Step::Delete),
        2 => (prop::collection::vec(key(), 0..4), filter()).prop_map(|(keys, filter)| Step::Read(keys, filter)),
        2 => (rows(), filter(), options).prop_map(|(range, filter, options)| Step::Scan(range, filter, options)),
    ]
}

fn run(store: &dyn Store, step: Step) -> String {
    match step {
        Step::Mutate(rows) => format!("{:?}", block_on(store.mutate_rows(rows))),
        Step::Check(key, checks, then) => format!("{:?}", block_on(store.check_and_mutate(key, checks, then))),
        Step::Delete(range) => format!("{:?}", block_on(store.delete_range(range))),
        Step::Read(keys, filter) => format!("{:?}", block_on(store.read(&keys, &filter))),
        Step::Scan(range, filter, options) => format!("{:?}", scan(store, range, filter, options)),
    }
}

#[test]
fn does_what_the_memory_engine_does() {
    let bench = Bench::new();
    let config = ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in prop::collection::vec(step(), 1..40))| {
        let options = MemoryOptions { atomic: false, reverse: false, ..MemoryOptions::default() };
        let memory = MemoryStore::with_options(Arc::new(CountingTimestamps::after(Timestamp(1))), options);
        let bigtable = bench.store();
        for step in steps {
            let expected = run(&*memory, step.clone());
            prop_assert_eq!(run(&*bigtable, step.clone()), expected, "{:?}", step);
        }
        let all = |store: &dyn Store| scan(store, RowRange::all(), everything(), ScanOptions::default());
        prop_assert_eq!(all(&*bigtable), all(&*memory));
    });
}
