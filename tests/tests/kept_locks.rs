//! Locks of three servers over one Bigtable table. The server that is the oracle holds them, and the tests also kill
//! it.

use percosql_tests::{Bigtable, Server};
use std::time::{Duration, Instant};
use tokio_postgres::Client;

const LOCK: i64 = 42;
/// Time limit of a lock or a job while the oracle dies. It covers the lease, reclaimed locks and a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

async fn at_read_committed(server: &Server) -> Client {
    let client = server.connect().await;
    let level = "set session characteristics as transaction isolation level read committed";
    client.batch_execute(level).await.expect("a level");
    client
}

async fn flag(client: &Client, sql: &str) -> bool {
    client.query_one(sql, &[]).await.expect(sql).get(0)
}

/// Takes jobs until none is left. Answers the number of finished jobs. A job that fails because the oracle died is
/// repeated.
async fn work(client: Client, worker: i32) -> i64 {
    let mut done = 0;
    // The worker's server may have been killed.
    while !client.is_closed() {
        let next = "begin; select id from jobs order by id for update skip locked limit 1";
        let taken = client.simple_query(next).await;
        let job = taken.ok().and_then(|messages| {
            messages.into_iter().find_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0).map(str::to_owned)),
                _ => None,
            })
        });
        if let Some(Some(id)) = &job {
            let finish = format!(
                "insert into done values ({id}, {worker}); delete from jobs where id = {id}; select pg_sleep(0.01); commit"
            );
            match client.batch_execute(&finish).await {
                Ok(()) => done += 1,
                Err(error) => eprintln!("worker {worker}, job {id}: {error:?}"),
            }
        }
        // Ends a failed block, or one that found no job.
        let _ = client.batch_execute("rollback").await;
        if job.is_none()
            && let Ok(row) = client.query_one("select count(*) from jobs", &[]).await
            && row.get::<_, i64>(0) == 0
        {
            break;
        }
    }
    done
}

#[tokio::test(flavor = "multi_thread")]
async fn each_job_is_done_once_though_the_keeper_of_locks_dies() {
    const JOBS: i64 = 300;
    let bigtable = Bigtable::start();
    let table = bigtable.table();
    // The first server to start becomes the oracle.
    let mut servers = [table.node(), table.node(), table.node()];
    let setup = at_read_committed(&servers[1]).await;
    setup
        .batch_execute(&format!(
            "create table jobs (id int8 primary key); create table done (id int8, worker int4);
             insert into jobs select generate_series(1, {JOBS})"
        ))
        .await
        .expect("set up");
    let holder = at_read_committed(&servers[2]).await;
    holder.batch_execute(&format!("select pg_advisory_lock({LOCK})")).await.expect("an advisory lock");
    let tries = format!("select pg_try_advisory_lock({LOCK})");
    assert!(!flag(&setup, &tries).await);
    let mut workers = Vec::new();
    for worker in 0..6i32 {
        let client = at_read_committed(&servers[1 + worker as usize % 2]).await;
        workers.push(tokio::spawn(work(client, worker)));
    }
    // Some workers run on the server that dies.
    for worker in 6..8i32 {
        let client = at_read_committed(&servers[0]).await;
        tokio::spawn(tokio::time::timeout(LIMIT, work(client, worker)));
    }
    let jobs_left = async |client: &Client| -> i64 {
        client.query_one("select count(*) from jobs", &[]).await.expect("the jobs").get(0)
    };
    let begin = Instant::now();
    while jobs_left(&setup).await > JOBS * 2 / 3 {
        assert!(begin.elapsed() < LIMIT, "{}", servers[1].log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    servers[0].kill9();
    let killed = Instant::now();
    assert!(!flag(&setup, &tries).await, "it is held by a session of a server that lives");
    println!("a lock was answered for {:?} after the death", killed.elapsed());
    for worker in workers {
        tokio::time::timeout(LIMIT, worker).await.expect("in time").expect("a worker");
    }
    let twice = "select id, array_agg(worker)::text from done group by id having count(*) > 1";
    let twice = setup.query(twice, &[]).await.expect("jobs done twice");
    let twice: Vec<(i64, String)> = twice.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(twice, []);
    let row = setup.query_one("select count(*), count(distinct id), (select count(*) from jobs) from done", &[]);
    let row = row.await.expect("counts");
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1), row.get::<_, i64>(2)), (JOBS, JOBS, 0));
    // Every server reports the holder of the lock.
    for client in [&setup, &holder] {
        let seen = format!("select count(*) = 1 from pg_locks where objid = {LOCK} and granted");
        assert!(flag(client, &seen).await);
    }
    assert!(flag(&holder, &format!("select pg_advisory_unlock({LOCK})")).await);
    assert!(flag(&setup, &tries).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_server_loses_its_locks_and_says_so() {
    let bigtable = Bigtable::start();
    let table = bigtable.table();
    let servers = [table.node(), table.node()];
    let (other, paused) = (at_read_committed(&servers[0]).await, at_read_committed(&servers[1]).await);
    let idle = at_read_committed(&servers[1]).await;
    other
        .batch_execute("create table t (a int primary key, b int); insert into t values (1, 1)")
        .await
        .expect("a table");
    paused.batch_execute("begin; lock table t in share mode").await.expect("a table lock");
    idle.batch_execute(&format!("select pg_advisory_lock({LOCK})")).await.expect("an advisory lock");
    servers[1].signal(libc::SIGSTOP);
    let begin = Instant::now();
    other.batch_execute("update t set b = 2").await.expect("whoever is silent keeps nobody waiting");
    other.batch_execute(&format!("select pg_advisory_lock({LOCK})")).await.expect("the advisory lock");
    assert!(begin.elapsed() > Duration::from_secs(2) && begin.elapsed() < LIMIT, "{:?}", begin.elapsed());
    servers[1].signal(libc::SIGCONT);
    let error = paused.batch_execute("commit").await.expect_err("its table was written meanwhile");
    assert_eq!(error.code().map(|code| code.code()), Some("40001"), "{error:?}");
    let error = idle.batch_execute("select 1").await.expect_err("its lock is another's");
    assert_eq!(error.code().map(|code| code.code()), Some("57P01"), "{error:?}");
    assert!(flag(&other, &format!("select pg_advisory_unlock({LOCK})")).await);
    paused.batch_execute("begin; lock table t in share mode; commit").await.expect("it goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_was_told_is_free_is_free_on_every_server() {
    let bigtable = Bigtable::start();
    let table = bigtable.table();
    let servers = [table.node(), table.node(), table.node()];
    let (one, two) = (at_read_committed(&servers[1]).await, at_read_committed(&servers[2]).await);
    one.batch_execute("create table t (a int primary key, b int); insert into t values (1, 1)").await.expect("a table");
    let (lock, unlock) = (format!("select pg_try_advisory_lock({LOCK})"), format!("select pg_advisory_unlock({LOCK})"));
    for round in 0..30 {
        for (from, to) in [(&one, &two), (&two, &one)] {
            assert!(flag(from, &lock).await, "round {round}");
            assert!(flag(from, &unlock).await, "round {round}");
            assert!(flag(to, &lock).await, "round {round}: it was given back");
            assert!(flag(to, &unlock).await, "round {round}");
            from.batch_execute("begin; select from t for update; commit").await.expect("a row lock");
            to.batch_execute("begin; select from t for update nowait; rollback").await.expect("the row is free");
        }
    }
}
