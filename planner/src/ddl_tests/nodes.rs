//! Several servers over a store that changes one row at a time. Definitions of one are immediately visible to the
//! others, and no server writes with a replaced descriptor.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::online::{STATES, until_stopped};
use crate::catalog::NodeOptions;
use crate::ddl::online::point;
use crate::plan::EngineOptions;
use crate::session::Database;
use crate::session::tests::{Client, LIMIT, connect};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use storage::{EnvRef, StoreRef, SystemEnv};
use txn::{FailAction, Oracle, TransactionStore, TransactionStoreOptions};

/// The time after which a silent server counts as dead, in tests in which one dies. It tolerates a busy machine.
const SILENCE: Duration = Duration::from_secs(6);

/// A store and its servers, with one oracle.
#[derive(Clone)]
struct World {
    store: StoreRef,
    oracle: Arc<Oracle>,
    /// The time without a sign of life after which a server counts as dead.
    dead_after: Duration,
}

impl World {
    /// A world in which no server counts as dead, however slow the machine.
    async fn new() -> World {
        World::where_silence_is_death(Duration::from_secs(60)).await
    }
    async fn where_silence_is_death(dead_after: Duration) -> World {
        let env: EnvRef = SystemEnv::current().unwrap();
        let oracle = Oracle::new(env.clone());
        World { store: test_store::open_by_row(&oracle, &env).await, oracle, dead_after }
    }
    async fn start(&self) -> Arc<Database> {
        let env = SystemEnv::current().unwrap();
        let options = TransactionStoreOptions::default();
        let transactions =
            TransactionStore::open(self.store.clone(), self.oracle.clone(), env.clone(), options).await.unwrap();
        let nodes = NodeOptions {
            rest: Duration::from_millis(50),
            short_rest: Duration::from_millis(5),
            lease: Duration::from_millis(1000),
            margin: Duration::from_millis(200),
            dead_after: self.dead_after,
            forget_after: self.dead_after * 10,
            linger: Duration::from_millis(100),
        };
        Database::open_node(transactions, env, EngineOptions::default(), nodes).await.unwrap()
    }
}

/// Three servers over one store, each with a client.
async fn three() -> (Vec<Arc<Database>>, Vec<Client>) {
    three_of(World::new().await).await
}

async fn three_of(world: World) -> (Vec<Arc<Database>>, Vec<Client>) {
    let databases = vec![world.start().await, world.start().await, world.start().await];
    let clients = clients(&databases).await;
    (databases, clients)
}

async fn clients(databases: &[Arc<Database>]) -> Vec<Client> {
    let mut clients = Vec::new();
    for database in databases {
        clients.push(connect(database).await);
    }
    clients
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_start_together_on_an_empty_store_make_one_database() {
    for _ in 0..8 {
        let world = World::new().await;
        let starting: Vec<_> = (0..4)
            .map(|_| {
                let world = world.clone();
                tokio::spawn(async move { world.start().await })
            })
            .collect();
        let mut databases = Vec::new();
        for server in starting {
            databases.push(server.await.unwrap());
        }
        let mut c = clients(&databases).await;
        c[0].run("create table t(id int primary key)").await;
        c[1].run("insert into t values (1)").await;
        assert_eq!(c[2].rows("select id from t").await, ["1"]);
        assert_eq!(c[3].value("select count(*) from pg_database").await, "3");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_one_defines_the_others_see_at_once() {
    let (databases, mut c) = three().await;
    for round in 0..4 {
        let (maker, others) = (round % 3, [(round + 1) % 3, (round + 2) % 3]);
        c[maker].run(&format!("create table t{round}(id int primary key, v text)")).await;
        c[others[0]].run(&format!("insert into t{round} values (1, 'x')")).await;
        assert_eq!(c[others[1]].rows(&format!("select * from t{round}")).await, ["1|x"]);
        c[others[1]].run(&format!("alter table t{round} add w int default 7")).await;
        assert_eq!(c[maker].rows(&format!("select * from t{round}")).await, ["1|x|7"]);
        c[others[0]].run(&format!("alter table t{round} drop v")).await;
        assert_eq!(c[maker].state(&format!("select v from t{round}")).await, "42703");
        c[maker].run(&format!("truncate t{round}")).await;
        assert_eq!(c[others[0]].rows(&format!("select * from t{round}")).await, Vec::<String>::new());
        c[others[1]].run(&format!("drop table t{round}")).await;
        assert_eq!(c[maker].state(&format!("select * from t{round}")).await, "42P01");
        // Every other round waits until all servers are idle again.
        tokio::time::sleep(Duration::from_millis(400 * (round as u64 % 2))).await;
    }
    // Definitions of roles and databases.
    c[0].run("create role r login password 'x'").await;
    assert!(databases[1].authentication("r").await.unwrap().role.is_some());
    assert!(databases[2].any_password().await.unwrap());
    c[1].run("create database d").await;
    assert_eq!(c[2].rows("select datname from pg_database where datname = 'd'").await, ["d"]);
    c[2].run("drop role r").await;
    assert!(databases[0].authentication("r").await.unwrap().role.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_calm_node_reads_no_version() {
    let (databases, mut c) = three().await;
    c[0].run("create table t(id int primary key)").await;
    c[1].run("insert into t values (1)").await;
    for database in &databases {
        let nodes = database.catalog().nodes().unwrap();
        let begin = Instant::now();
        loop {
            let calm = nodes.is_calm();
            let reader = database.transactions().begin(Default::default());
            database.catalog().snapshot(&reader, 5).await.unwrap();
            // A slow machine may leave the idle state in between, so the check repeats.
            if calm && nodes.others() == 2 && reader.stats().keys_read == 0 {
                break;
            }
            assert!(begin.elapsed() < LIMIT, "{} others, calm: {calm}", nodes.others());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    // A transaction that began before a definition reads the old state.
    c[2].run("begin").await;
    assert_eq!(c[2].rows("select * from t").await, ["1"]);
    c[0].run("alter table t add v int default 3").await;
    assert_eq!(c[1].rows("select * from t").await, ["1|3"]);
    assert_eq!(c[2].rows("select * from t").await, ["1"]);
    c[2].run("insert into t values (2)").await;
    assert_eq!(c[2].state("commit").await, "40001");
    assert_eq!(c[2].rows("select * from t").await, ["1|3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn definitions_wait_for_the_writers_of_other_nodes() {
    let (databases, mut c) = three().await;
    c[0].run("create table t(id int primary key, v int)").await;
    c[1].run("begin").await;
    c[1].run("insert into t values (1, 1)").await;
    let mut definer = connect(&databases[0]).await;
    let altering = tokio::spawn(async move { definer.tag("alter table t add w int default 5").await });
    databases[1].catalog().locks().until_waiting(1).await;
    databases[2].catalog().locks().until_exclusive().await;
    assert!(!altering.is_finished());
    // No other transaction intervenes.
    let mut late = connect(&databases[2]).await;
    let writing = tokio::spawn(async move { late.again("insert into t values (2, 2)").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!writing.is_finished());
    c[1].run("commit").await;
    assert_eq!(altering.await.unwrap(), "ALTER TABLE");
    assert_eq!(writing.await.unwrap().unwrap(), "INSERT 0 1");
    assert_eq!(c[2].rows("select * from t order by id").await, ["1|1|5", "2|2|5"]);
    // The wait has a limit.
    c[1].run("begin").await;
    c[1].run("insert into t values (3, 3)").await;
    c[2].run("set lock_timeout = '100ms'").await;
    assert_eq!(c[2].state("alter table t drop w").await, "55P03");
    c[1].run("commit").await;
    c[2].run("set lock_timeout = 0").await;
    c[2].again("alter table t drop w").await.unwrap();
    assert_eq!(c[0].rows("select count(*) from t").await, ["3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_nodes_define_one_table_side_by_side_and_others_write() {
    let (databases, mut c) = three().await;
    c[0].run("create table t(id int primary key, v int)").await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (mut client, stop) = (connect(&databases[2]).await, stop.clone());
        tokio::spawn(async move {
            let mut written = 0;
            while !stop.load(Ordering::SeqCst) {
                written += 1;
                client.again(&format!("insert into t(id, v) values ({written}, 1)")).await.unwrap();
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            written
        })
    };
    let definers: Vec<_> = (0..2)
        .map(|node| {
            let database = databases[node].clone();
            tokio::spawn(async move {
                let mut client = connect(&database).await;
                for round in 0..4 {
                    client.again(&format!("alter table t add n{node}_{round} int default {round}")).await.unwrap();
                }
            })
        })
        .collect();
    for definer in definers {
        definer.await.unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    let written = writer.await.unwrap();
    assert_eq!(c[1].value("select count(*) from t where n0_3 = 3 and n1_2 = 2").await, written.to_string());
    assert_eq!(
        c[0].rows("select count(*) from pg_attribute where attrelid = 't'::regclass and attnum > 0").await,
        ["10"]
    );
    assert_eq!(c[1].rows("check table t").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_index_built_on_one_node_while_others_write_is_complete() {
    const ROWS: u32 = 800;
    let (databases, mut c) = three().await;
    c[0].run("create table t(id int primary key, k int, v text)").await;
    c[0].run(&format!("insert into t select g, g, 'v' || g from generate_series(1, {ROWS}) g")).await;
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let writers: Vec<_> = (0..3_u32)
        .map(|node| {
            let (database, stop, done) = (databases[node as usize].clone(), stop.clone(), done.clone());
            tokio::spawn(async move {
                let mut client = connect(&database).await;
                let mut round = 0_u32;
                while !stop.load(Ordering::SeqCst) {
                    round += 1;
                    let id = (round * 7919 + node * 104_729) % ROWS + 1;
                    let fresh = ROWS + (node + 1) * 100_000 + round;
                    let sql = match round % 4 {
                        0 => format!("update t set k = k + 30000 where id = {id}"),
                        1 => format!("delete from t where id = {id}"),
                        2 => format!("insert into t values ({fresh}, {fresh}, 'new')"),
                        _ => {
                            format!("insert into t values ({id}, -{fresh}, 'c') on conflict (id) do update set v = 'u'")
                        }
                    };
                    client.again(&sql).await.unwrap();
                    done.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            })
        })
        .collect();
    // Two nodes build at the same time, then a third one builds a unique index.
    let builds: Vec<_> = ["create index n1 on t(k)", "create index n2 on t(v, k)"]
        .into_iter()
        .enumerate()
        .map(|(node, sql)| {
            let database = databases[node].clone();
            tokio::spawn(async move { connect(&database).await.tag(sql).await })
        })
        .collect();
    let before = done.load(Ordering::SeqCst);
    for build in builds {
        assert_eq!(build.await.unwrap(), "CREATE INDEX");
    }
    assert!(done.load(Ordering::SeqCst) > before);
    assert_eq!(c[2].tag("create unique index n3 on t(id, k)").await, "CREATE INDEX");
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    for client in &mut c {
        assert_eq!(client.rows(STATES).await, ["t|t|n1", "t|t|n2", "t|t|n3"]);
    }
    assert_eq!(c[1].rows("check table t").await, Vec::<String>::new());
    let count = c[0].value("select count(*) from t").await;
    assert_eq!(c[2].value("select count(*) from t where k > -100000000").await, count);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_build_whose_node_dies_is_finished_by_another() {
    for name in [point::DELETE_ONLY, point::WRITE_ONLY, point::FILLED] {
        let world = World::where_silence_is_death(SILENCE).await;
        let dying = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let mut databases = vec![world.start().await, world.start().await];
        let mut c = clients(&databases).await;
        c[0].run("create table t(id int primary key, k int)").await;
        c[0].run("insert into t select g, g from generate_series(1, 300) g").await;
        // A server in its own runtime, which ends with all its tasks, like kill -9.
        let of_dying = world.clone();
        let started = dying.spawn(async move {
            let database = of_dying.start().await;
            database.transactions().fail_points().set(name, FailAction::Stop);
            let mut client = connect(&database).await;
            tokio::spawn(async move { client.run("create unique index n on t(k)").await });
            database
        });
        databases.push(started.await.unwrap());
        let ready = if name == point::DELETE_ONLY { "f|f|n" } else { "f|t|n" };
        until_stopped(&databases[2], name).await;
        c[0].until(STATES, &[ready]).await;
        c[1].again("update t set k = k + 1000 where id < 10").await.unwrap();
        assert_eq!(c[0].rows(STATES).await, [ready], "nobody else goes on while the builder lives");
        dying.shutdown_background();
        c[1].until(STATES, &["t|t|n"]).await;
        assert_eq!(c[0].rows("check table t").await, Vec::<String>::new(), "{name}");
        assert_eq!(c[0].state("insert into t values (1000, 1005)").await, "23505");
        // The other servers continue to define objects without it.
        c[1].run("alter table t add v int").await;
        assert_eq!(c[0].rows("select * from t where k = 1005").await, ["5|1005|NULL"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn values_of_sequences_are_given_out_once_and_setval_counts_everywhere() {
    let (databases, mut c) = three().await;
    c[0].run("create sequence s").await;
    let takers: Vec<_> = databases
        .iter()
        .map(|database| {
            let database = database.clone();
            tokio::spawn(async move {
                let mut client = connect(&database).await;
                let mut values = Vec::new();
                for _ in 0..60 {
                    values.push(client.value("select nextval('s')").await.parse::<i64>().unwrap());
                }
                values
            })
        })
        .collect();
    let mut all = Vec::new();
    for taker in takers {
        let values = taker.await.unwrap();
        assert!(values.is_sorted());
        all.extend(values);
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
    // All nodes have reserved values. None of these is used after setval.
    for round in 1..4 {
        let base = round * 1_000_000;
        c[round % 3].run(&format!("select setval('s', {base})")).await;
        for client in &mut c {
            let value: usize = client.value("select nextval('s')").await.parse().unwrap();
            assert!(value > base && value < base + 100_000, "{value}");
        }
    }
    c[1].run("alter sequence s restart with 5").await;
    for client in &mut c {
        let value: usize = client.value("select nextval('s')").await.parse().unwrap();
        assert!(value < 100_000, "{value}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_that_was_silent_commits_nothing_it_had_begun() {
    let (databases, mut c) = three_of(World::where_silence_is_death(SILENCE).await).await;
    c[0].run("create table t(id int primary key, v int)").await;
    c[0].run("insert into t values (1, 1)").await;
    let mut definer = connect(&databases[2]).await;
    for client in [&mut c[2], &mut definer] {
        client.run("begin").await;
    }
    c[2].run("insert into t values (2, 2)").await;
    definer.run("create table u(x int)").await;
    databases[2].catalog().nodes().unwrap().fall_silent();
    // The others wait until it counts as dead, then continue with definitions.
    c[0].run("alter table t add w int default 5").await;
    c[1].run("insert into t values (3, 3, 3)").await;
    assert_eq!(c[2].state("commit").await, "40001");
    assert_eq!(definer.state("commit").await, "40001");
    assert_eq!(c[0].rows("select * from t order by id").await, ["1|1|5", "3|3|3"]);
    assert_eq!(c[1].rows("check table t").await, Vec::<String>::new());
    // Its new transactions read the store, and they do not commit before it has joined again.
    assert_eq!(c[2].rows("select * from t order by id").await, ["1|1|5", "3|3|3"]);
}
