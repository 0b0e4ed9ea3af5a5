//! Online CREATE INDEX over the engine in memory: with concurrent writers, crashes and duplicates.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::ddl::online::point;
use crate::session::Database;
use crate::session::tests::{Client, LIMIT, connect};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use storage::SystemEnv;
use storage::testing::MemoryStore;
use txn::{FailAction, Oracle, TransactionStore, TransactionStoreOptions};

/// Waits until a build reaches the point at which it dies. Its state is visible earlier, but cancelling the statement
/// then would also remove the index.
pub(super) async fn until_stopped(database: &Database, name: &str) {
    let begin = Instant::now();
    while !database.transactions().fail_points().has_stopped(name) {
        assert!(begin.elapsed() < LIMIT, "nobody came to {name}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A store whose servers start and stop.
struct World {
    memory: Arc<MemoryStore>,
    oracle: Arc<Oracle>,
}

impl World {
    fn new() -> World {
        let oracle = Oracle::new(SystemEnv::current().unwrap());
        World { memory: MemoryStore::new(oracle.clone()), oracle }
    }
    async fn start(&self) -> Arc<Database> {
        let env = SystemEnv::current().unwrap();
        let options = TransactionStoreOptions::default();
        let transactions =
            TransactionStore::open(self.memory.clone(), self.oracle.clone(), env.clone(), options).await.unwrap();
        Database::open(transactions, env).await.unwrap()
    }
}

/// The indexes whose names begin with n, and their states.
pub(super) const STATES: &str = "select i.indisvalid, i.indisready, c.relname from pg_index i join pg_class c on c.oid = i.indexrelid \
                      where c.relname like 'n%' order by 3";

async fn fill(client: &mut Client, rows: u32) {
    client.run("create table t(id int primary key, k int, v text, w int)").await;
    client.run(&format!("insert into t select g, g, 'v' || g, 0 from generate_series(1, {rows}) g")).await;
}

/// Changes rows in every way until told to stop. Returns the number of successful statements.
async fn write(database: Arc<Database>, writer: u32, rows: u32, stop: Arc<AtomicBool>, done: Arc<AtomicU64>) {
    let mut client = connect(&database).await;
    let mut round = 0_u32;
    while !stop.load(Ordering::SeqCst) {
        round += 1;
        let id = (round * 7919 + writer * 104_729) % rows + 1;
        let fresh = rows + writer * 1_000_000 + round;
        let sql = match round % 7 {
            0 => format!("update t set k = k + 3000000, v = 'x' where id = {id}"),
            1 => format!("delete from t where id = {id}"),
            2 => format!("insert into t values ({fresh}, {fresh}, 'new', 1)"),
            3 => format!("update t set w = w + 1 where id between {id} and {id} + 3"),
            4 => format!("update t set id = {fresh} where id = {id}"),
            5 => format!(
                "begin; delete from t where id = {id}; insert into t values ({id}, {id} + 5000000, 'again', 2); commit"
            ),
            _ => format!(
                "insert into t values ({id}, {id} + 6000000, 'c', 3) on conflict (id) do update set k = t.k + 7000000"
            ),
        };
        match client.again(&sql).await {
            Err(error) if error.state() != "23505" => panic!("{sql}: {error}"),
            _ => {}
        }
        done.fetch_add(1, Ordering::SeqCst);
        // The engine in memory has a single lock, which the build needs now and then.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_go_on_while_indexes_are_built() {
    const ROWS: u32 = 3_000;
    let database = World::new().start().await;
    let mut client = connect(&database).await;
    fill(&mut client, ROWS).await;
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let writers: Vec<_> =
        (0..4).map(|writer| tokio::spawn(write(database.clone(), writer, ROWS, stop.clone(), done.clone()))).collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut others = Vec::new();
    // Two concurrent builds on one table, then a unique one.
    for sql in ["create index n1 on t(k desc, v) include (w)", "create index concurrently n2 on t(v)"] {
        let mut client = connect(&database).await;
        others.push(tokio::spawn(async move { client.tag(sql).await }));
    }
    let before = done.load(Ordering::SeqCst);
    for other in others {
        assert_eq!(other.await.unwrap(), "CREATE INDEX");
    }
    let meanwhile = done.load(Ordering::SeqCst) - before;
    assert!(meanwhile > 0, "{meanwhile} statements beside the builds");
    assert_eq!(client.tag("create unique index n3 on t(id, k) include (v)").await, "CREATE INDEX");
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(client.rows(STATES).await, ["t|t|n1", "t|t|n2", "t|t|n3"]);
    assert_eq!(client.rows("check table t").await, Vec::<String>::new());
    let count = client.value("select count(*) from t").await;
    assert_eq!(client.value("select count(*) from t where k > -1").await, count);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_at_any_state_is_resumed_at_the_next_start() {
    for name in [point::DELETE_ONLY, point::WRITE_ONLY, point::BATCH, point::FILLED] {
        let world = World::new();
        let database = world.start().await;
        let mut client = connect(&database).await;
        fill(&mut client, 1500).await;
        database.transactions().fail_points().set(name, FailAction::Stop);
        let mut other = connect(&database).await;
        let build = tokio::spawn(async move { other.run("create unique index n on t(k)").await });
        let ready = if name == point::DELETE_ONLY { "f|f|n" } else { "f|t|n" };
        client.until(STATES, &[ready]).await;
        client.again("update t set k = k + 10000 where id < 10").await.unwrap();
        client.again("delete from t where id > 1400").await.unwrap();
        client.again("insert into t values (2000, 2000, 'x', 0)").await.unwrap();
        until_stopped(&database, name).await;
        // The process dies.
        build.abort();
        let database = world.start().await;
        let mut client = connect(&database).await;
        client.until(STATES, &["t|t|n"]).await;
        assert_eq!(client.rows("check table t").await, Vec::<String>::new(), "{name}");
        assert_eq!(client.state("insert into t values (3000, 2000, 'y', 0)").await, "23505");
        assert_eq!(client.rows("select id from t where k = 10005").await, ["5"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicates_leave_no_unique_index() {
    let world = World::new();
    let database = world.start().await;
    let mut client = connect(&database).await;
    fill(&mut client, 1200).await;
    client.run("update t set k = 7 where id = 1100").await;
    let error = client.error("create unique index n on t(k)").await;
    assert_eq!(error.state(), "23505");
    assert_eq!(error.fields().message, "could not create unique index \"n\"");
    assert_eq!(error.fields().detail.as_deref(), Some("Key (k)=(7) is duplicated."));
    assert_eq!(client.rows(STATES).await, Vec::<String>::new());
    client.run("update t set k = 1100 where id = 1100").await;
    assert_eq!(client.tag("create unique index n on t(k)").await, "CREATE INDEX");
    // A crash during the removal does not restore the index.
    client.run("drop index n").await;
    client.run("update t set k = 7 where id = 1100").await;
    database.transactions().fail_points().set(point::DROPPING, FailAction::Stop);
    let mut other = connect(&database).await;
    let build = tokio::spawn(async move { other.state("create unique index n on t(k)").await });
    until_stopped(&database, point::DROPPING).await;
    build.abort();
    let database = world.start().await;
    let mut client = connect(&database).await;
    client.until(STATES, &[]).await;
    client.run("create index n on t(k)").await;
    assert_eq!(client.rows("check table t").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_is_not_filled_yet_does_not_take_another_rows_entry() {
    let world = World::new();
    let database = world.start().await;
    let mut client = connect(&database).await;
    fill(&mut client, 600).await;
    database.transactions().fail_points().set(point::WRITE_ONLY, FailAction::Stop);
    let mut other = connect(&database).await;
    let build = tokio::spawn(async move { other.run("create unique index n on t(k) include (v)").await });
    client.until(STATES, &["f|t|n"]).await;
    // Both rows have the key 5, and only the new one has an entry. Changes of the old row must not touch it.
    client.run("insert into t values (9000, 5, 'new', 0)").await;
    client.run("update t set v = 'changed' where id = 5").await;
    client.run("insert into t values (9001, 6, 'new', 0)").await;
    client.run("update t set k = 60000 where id = 6").await;
    client.run("insert into t values (9002, 7, 'new', 0)").await;
    client.run("delete from t where id = 7").await;
    until_stopped(&database, point::WRITE_ONLY).await;
    build.abort();
    let database = world.start().await;
    let mut client = connect(&database).await;
    client.until(STATES, &[]).await;
    client.run("delete from t where id = 5").await;
    client.run("create unique index n on t(k) include (v)").await;
    assert_eq!(client.rows("check table t").await, Vec::<String>::new());
    assert_eq!(client.rows("select id from t where k in (5, 6, 7) order by 1").await, ["9000", "9001", "9002"]);

    // Without the duplicate the index becomes public, with every entry.
    client.run("drop index n").await;
    database.transactions().fail_points().set(point::WRITE_ONLY, FailAction::Stop);
    let mut other = connect(&database).await;
    let build = tokio::spawn(async move { other.run("create unique index n on t(k)").await });
    client.until(STATES, &["f|t|n"]).await;
    client.run("insert into t values (9100, 8, 'new', 0)").await;
    client.run("update t set k = 80000 where id = 8").await;
    client.run("insert into t values (0, 9, 'new', 0)").await;
    client.run("delete from t where id = 9").await;
    until_stopped(&database, point::WRITE_ONLY).await;
    build.abort();
    let database = world.start().await;
    let mut client = connect(&database).await;
    client.until(STATES, &["t|t|n"]).await;
    assert_eq!(client.rows("check table t").await, Vec::<String>::new());
    assert_eq!(client.rows("select id from t where k in (8, 9) order by 1").await, ["0", "9100"]);
}

/// Begins a build that has its snapshot and has loaded nothing yet.
async fn half_a_build(
    database: &Arc<Database>,
    sql: &'static str,
) -> tokio::task::JoinHandle<crate::error::Result<String>> {
    database.transactions().fail_points().set(point::BATCH, FailAction::Wait);
    let mut other = connect(database).await;
    let build = tokio::spawn(async move { other.again(sql).await });
    until_stopped(database, point::BATCH).await;
    build
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_beside_a_load_lies_above_it() {
    let database = World::new().start().await;
    let mut client = connect(&database).await;
    fill(&mut client, 900).await;
    // The writer checks before row 5 has its entry.
    let build = half_a_build(&database, "create unique index n on t(k)").await;
    client.run("insert into t values (9000, 5, 'twice', 0)").await;
    database.transactions().fail_points().clear(point::BATCH);
    assert_eq!(build.await.unwrap().unwrap_err().state(), "23505");
    assert_eq!(client.rows(STATES).await, Vec::<String>::new());

    client.run("delete from t where id = 9000").await;
    let build = half_a_build(&database, "create unique index n on t(k)").await;
    client.run("update t set k = 70000 where id = 7").await;
    client.run("delete from t where id = 8").await;
    client.run("insert into t values (9001, 8, 'once', 0), (9002, 7, 'once', 0)").await;
    client.run("update t set id = 9003 where id = 9").await;
    database.transactions().fail_points().clear(point::BATCH);
    build.await.unwrap().unwrap();
    assert_eq!(client.rows(STATES).await, ["t|t|n"]);
    assert_eq!(client.rows("check table t").await, Vec::<String>::new());
    assert_eq!(
        client.rows("select id from t where k in (7, 8, 9, 70000) order by 1").await,
        ["7", "9001", "9002", "9003"]
    );
    assert_eq!(client.state("insert into t values (9004, 700, 'twice', 0)").await, "23505");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_wrote_by_an_older_version_is_waited_for_and_who_comes_late_does_not_commit() {
    let database = World::new().start().await;
    let mut client = connect(&database).await;
    fill(&mut client, 100).await;
    let (mut early, mut late) = (connect(&database).await, connect(&database).await);
    early.run("begin").await;
    early.run("insert into t values (1000, 1000, 'early', 0)").await;
    late.run("begin").await;
    late.run("select count(*) from t").await;
    let mut other = connect(&database).await;
    let build = tokio::spawn(async move { other.tag("create index n on t(k)").await });
    client.until(STATES, &["f|f|n"]).await;
    database.catalog().locks().until_waiting(1).await;
    assert!(!build.is_finished());
    // Others are not blocked meanwhile.
    client.run("delete from t where id = 3").await;
    early.run("commit").await;
    assert_eq!(build.await.unwrap(), "CREATE INDEX");
    late.run("insert into t values (1001, 1001, 'late', 0)").await;
    assert_eq!(late.state("commit").await, "40001");
    assert_eq!(client.rows("check table t").await, Vec::<String>::new());
    assert_eq!(client.rows("select id from t where k >= 1000").await, ["1000"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_ends_before_its_table_is_dropped_and_stops_when_nobody_waits_for_it() {
    let database = World::new().start().await;
    let mut client = connect(&database).await;
    fill(&mut client, 100).await;
    let mut holder = connect(&database).await;
    holder.run("begin").await;
    holder.run("update t set w = 1 where id = 1").await;
    let (mut builder, mut dropper) = (connect(&database).await, connect(&database).await);
    let build = tokio::spawn(async move { builder.tag("create index n on t(k)").await });
    client.until(STATES, &["f|f|n"]).await;
    let drop = tokio::spawn(async move { dropper.again("drop table t").await });
    // One waits for writers of the old version, the other for any writer.
    database.catalog().locks().until_waiting(1).await;
    while database.transactions().locks().waiting().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(!drop.is_finished() && !build.is_finished());
    // The holder would wait for the build, which waits for the holder.
    assert_eq!(holder.state("alter table t add y int").await, "40P01");
    holder.run("rollback").await;
    assert_eq!(build.await.unwrap(), "CREATE INDEX");
    assert_eq!(drop.await.unwrap().unwrap(), "DROP TABLE");
    assert_eq!(client.state("select * from t").await, "42P01");

    // A cancelled statement leaves nothing.
    fill(&mut client, 100).await;
    holder.run("begin").await;
    holder.run("update t set w = 1 where id = 1").await;
    let mut builder = connect(&database).await;
    builder.run("set lock_timeout = '50ms'").await;
    let build = tokio::spawn(async move { builder.state("create index n on t(k)").await });
    assert_eq!(build.await.unwrap(), "55P03");
    holder.run("commit").await;
    client.until(STATES, &[]).await;
    let mut builder = connect(&database).await;
    holder.run("begin").await;
    holder.run("update t set w = 2 where id = 1").await;
    let build = tokio::spawn(async move { builder.run("create index n on t(k)").await });
    client.until(STATES, &["f|f|n"]).await;
    build.abort();
    assert!(build.await.unwrap_err().is_cancelled());
    holder.run("commit").await;
    client.until(STATES, &[]).await;
    assert_eq!(client.rows("check table t").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_block_an_index_is_part_of_the_transaction() {
    let database = World::new().start().await;
    let mut client = connect(&database).await;
    fill(&mut client, 10).await;
    assert_eq!(client.state("begin; create index concurrently n on t(k)").await, "25001");
    client.run("rollback").await;
    assert_eq!(client.state("select 1; create index concurrently n on t(k)").await, "25001");
    assert_eq!(client.state("create index n on t(k); select 1/0").await, "22012");
    assert_eq!(client.rows(STATES).await, Vec::<String>::new());
    client.run("begin").await;
    client.run("create index n on t(k)").await;
    assert_eq!(client.rows(STATES).await, ["t|t|n"]);
    client.run("rollback").await;
    assert_eq!(client.rows(STATES).await, Vec::<String>::new());
    assert_eq!(client.state("create index n on t(nosuch)").await, "42703");
    assert_eq!(client.state("create index n on nosuch(k)").await, "42P01");
    client.run("create index concurrently if not exists n on t(k)").await;
    client.run("create index if not exists n on t(v)").await;
    assert_eq!(client.notices(), ["42P07 relation \"n\" already exists, skipping"]);
    assert_eq!(client.state("create index n on t(v)").await, "42P07");
}
