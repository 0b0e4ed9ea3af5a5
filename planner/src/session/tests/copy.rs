//! COPY in both directions.

use super::*;
use test_store;

#[tokio::test(flavor = "multi_thread")]
async fn text_in_and_out() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b text, c int DEFAULT 7)").await;
    let replies = c.try_run_with("COPY t (a, b) FROM STDIN", "1\tone\\ttab\n2\t\\N\n3\t\n\\.\n").await.unwrap();
    assert_eq!(replies[0].tag, "COPY 3");
    assert_eq!(c.rows("SELECT a, b, c FROM t ORDER BY a").await, ["1|one\ttab|7", "2|NULL|7", "3||7"]);
    let reply = c.run("COPY (SELECT a, b FROM t ORDER BY a) TO STDOUT").await;
    assert_eq!((reply.tag.as_str(), reply.rows[0][0].as_str()), ("COPY 3", "1\tone\\ttab\n2\t\\N\n3\t\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn csv_in_and_out() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int, b text, c numeric(6,2))").await;
    let data = "a,b,c\n1,\"x, \"\"y\"\"\",1.5\n2,,\n3,\"\",2\n";
    let replies = c.try_run_with("COPY t FROM STDIN WITH (FORMAT csv, HEADER)", data).await.unwrap();
    assert_eq!(replies[0].tag, "COPY 3");
    let reply = c.run("COPY t TO STDOUT WITH (FORMAT csv, HEADER)").await;
    assert_eq!(reply.rows[0][0], "a,b,c\n1,\"x, \"\"y\"\"\",1.50\n2,,\n3,\"\",2.00\n");
    let reply = c.run("COPY t (b) TO STDOUT WITH (FORMAT csv, FORCE_QUOTE *, DELIMITER ';')").await;
    assert_eq!(reply.rows[0][0], "\"x, \"\"y\"\"\"\n\n\"\"\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_say_where() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b text)").await;
    let mut fails = async |data: &str| {
        let error = c.try_run_with("COPY t FROM STDIN", data).await.unwrap_err();
        (error.state(), error.fields().message.clone(), error.fields().context.clone().unwrap_or_default())
    };
    let (state, _, context) = fails("1\tx\ny\tz\n").await;
    assert_eq!((state, context.as_str()), ("22P02", "COPY t, line 2, column a: \"y\""));
    let (state, message, context) = fails("1\n").await;
    assert_eq!(
        (state, message.as_str(), context.as_str()),
        ("22P04", "missing data for column \"b\"", "COPY t, line 1: \"1\"")
    );
    let (state, message, _) = fails("1\tx\ty\n").await;
    assert_eq!((state, message.as_str()), ("22P04", "extra data after last expected column"));
    assert_eq!(fails("1\tx\n1\ty\n").await.0, "23505");
    assert_eq!(c.value("SELECT count(*) FROM t").await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_rows_in_one_transaction() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b text); CREATE INDEX ON t (b)").await;
    let data: String = (0..30_000).map(|row| format!("{row}\ttext {}\n", row % 100)).collect();
    let replies = c.try_run_with("BEGIN; TRUNCATE t; COPY t FROM STDIN WITH (FREEZE on); COMMIT", &data).await.unwrap();
    assert_eq!(replies[2].tag, "COPY 30000");
    assert_eq!(c.value("SELECT count(*) FROM t WHERE b = 'text 7'").await, "300");
}

/// The keys of three writers that take turns: each sends its own range in order, `turn` rows at a time.
fn streams(rows: usize, turn: usize) -> Vec<usize> {
    let stretch = |stream: usize| (0..rows).map(move |row| stream * 100_000 + row).collect::<Vec<_>>();
    let stretches: Vec<Vec<usize>> = [1, 0, 2].map(stretch).into();
    (0..rows)
        .step_by(turn)
        .flat_map(|at| stretches.iter().flat_map(move |keys| keys[at..].iter().take(turn)))
        .copied()
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_several_streams() {
    // At READ COMMITTED each key is looked up by itself.
    for level in ["read committed", "repeatable read"] {
        several_streams(level).await;
    }
}

async fn several_streams(level: &str) {
    let mut c = client().await;
    c.run(&format!("SET default_transaction_isolation = '{level}'")).await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int)").await;
    c.run("INSERT INTO t VALUES (299000, -1), (290000, -2)").await;
    let lines = |keys: &[usize]| keys.iter().map(|key| format!("{key}\t{}\n", key % 7)).collect::<String>();
    // Long, short and single-row runs. A batch is shorter than the first. Bigtable needs a call for each row, so it
    // gets fewer.
    let sizes = if test_store::is_bigtable() {
        [(3000, 3000), (700, 100), (60, 1)]
    } else {
        [(30_000, 9000), (6000, 700), (600, 1)]
    };
    for (rows, turn) in sizes {
        let keys = streams(rows, turn);
        assert_eq!(keys.len(), 3 * rows);
        let copied = c.try_run_with("BEGIN; COPY t FROM STDIN", &lines(&keys)).await.unwrap();
        assert_eq!(copied[1].tag, format!("COPY {}", 3 * rows));
        let seen = "SELECT count(*), sum(a), sum(b) FILTER (WHERE b >= 0), min(a), max(a) FROM t";
        let (sum, sevenths) = (keys.iter().sum::<usize>() + 589_000, keys.iter().map(|key| key % 7).sum::<usize>());
        let wanted = format!("{}|{sum}|{sevenths}|0|299000", 3 * rows + 2);
        assert_eq!(c.rows(seen).await, [wanted.as_str()]);
        c.run("COMMIT").await;
        assert_eq!(c.rows(seen).await, [wanted.as_str()]);
        assert_eq!(
            c.rows("SELECT a FROM t WHERE b >= 0 ORDER BY a DESC OFFSET 3 LIMIT 1").await,
            [(200_000 + rows - 4).to_string()]
        );
        c.run("DELETE FROM t WHERE b >= 0").await;
    }
    // Duplicates are found within a batch, in another batch, and in the stored rows.
    let keys = streams(3000, 700);
    for (line, twice) in
        [(900, 100_650), (1500, 100_010), (1500, 20), (8000, 100_010), (8000, 299_000), (20, 290_000), (705, 699)]
    {
        let mut keys = keys.clone();
        keys.insert(line, twice);
        let error = c.try_run_with("COPY t FROM STDIN", &lines(&keys)).await.unwrap_err();
        assert_eq!(error.state(), "23505");
        let last = keys.iter().rposition(|key| *key == twice).unwrap();
        let context = error.fields().context.clone().unwrap_or_default();
        assert_eq!(context, format!("COPY t, line {}", last + 1), "{twice}");
        assert_eq!(c.value("SELECT count(*) FROM t").await, "2");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn giving_up_leaves_nothing() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY)").await;
    let statement = c.session.parse("COPY t FROM STDIN").unwrap().remove(0);
    let prepared = c.session.prepare(statement, &[]).await.unwrap();
    let Outcome::CopyIn(mut copy) = c.session.execute(&prepared, Vec::new()).await.unwrap() else { panic!() };
    copy.data("1\n2\n".into()).await.unwrap();
    let error = copy.fail("the client had enough").await;
    assert_eq!(error.state(), "57014");
    c.session.fail().await;
    assert_eq!(c.value("SELECT count(*) FROM t").await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_refused() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int)").await;
    assert_eq!(c.state("COPY u FROM STDIN").await, "42P01");
    assert_eq!(c.state("COPY t (b) FROM STDIN").await, "42703");
    assert_eq!(c.state("COPY t (a, a) FROM STDIN").await, "42701");
    assert_eq!(c.state("COPY t FROM '/tmp/x'").await, "0A000");
    assert_eq!(c.state("COPY t TO PROGRAM 'cat'").await, "0A000");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_after_another_writes_to_the_table_as_it_is_now() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int, b text DEFAULT 'x')").await;
    let copy = "COPY t (a) FROM STDIN";
    for data in ["1\n2\n", "3\n"] {
        c.try_run_with(copy, data).await.unwrap();
    }
    c.run("ALTER TABLE t ALTER b SET DEFAULT 'y'").await;
    c.try_run_with(copy, "4\n").await.unwrap();
    assert_eq!(c.try_run_with(copy, "z\n").await.unwrap_err().state(), "22P02");
    c.try_run_with(copy, "5\n").await.unwrap();
    c.try_run_with("COPY t FROM STDIN", "6\tz\n").await.unwrap();
    c.run("ALTER TABLE t ADD CHECK (a < 9)").await;
    assert_eq!(c.try_run_with(copy, "10\n").await.unwrap_err().state(), "23514");
    c.try_run_with(copy, "7\n").await.unwrap();
    assert_eq!(c.rows("SELECT a, b FROM t ORDER BY a").await, ["1|x", "2|x", "3|x", "4|y", "5|y", "6|z", "7|y"]);
}
