//! FOREIGN KEYs between transactions of different isolation levels: for every type of key, no reference dangles.

use super::*;

/// Key types with two values each, and another spelling of the first. All but the first two types are looked up by SQL.
const KEYS: [(&str, &str, &str, &str); 11] = [
    ("int", "1", "2", "1"),
    ("text", "'a'", "'b'", "'a'"),
    ("numeric", "1", "2", "1.00"),
    ("char(5)", "'a'", "'b'", "'a '"),
    ("float4", "1.5", "2.5", "1.5"),
    ("float8", "0", "2", "'-0'"),
    ("time", "'01:02'", "'01:03'", "'01:02'"),
    ("timetz", "'01:02+00'", "'01:03+00'", "'01:02+00'"),
    ("interval", "'1 day'", "'2 days'", "'24 hours'"),
    ("mood", "'sad'", "'glad'", "'sad'"),
    ("int[]", "'{1}'", "'{2}'", "'{1}'"),
];

const LEVELS: [&str; 3] = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];

/// One transaction removes a key, while another that began later refers to it and commits. Returns
/// the first one's error.
async fn take_away(
    one: &mut Client,
    two: &mut Client,
    levels: (&str, &str),
    refers: &str,
    taken: &str,
) -> Option<&'static str> {
    one.run(&format!("BEGIN ISOLATION LEVEL {}; SELECT * FROM c", levels.0)).await;
    two.run(&format!("BEGIN ISOLATION LEVEL {}; {refers}; COMMIT", levels.1)).await;
    let failed = match one.try_run_with(taken, "").await {
        Ok(_) => one.try_run_with("COMMIT", "").await.err(),
        Err(error) => Some(error),
    };
    one.run("ROLLBACK").await;
    failed.map(|error| error.state())
}

async fn dangling(client: &mut Client) -> String {
    client.value("SELECT count(*) FROM c WHERE a IS NOT NULL AND NOT EXISTS (SELECT 1 FROM p WHERE p.a = c.a)").await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_pair_of_levels_leaves_a_row_dangling_whatever_the_type_of_its_key() {
    let database = database().await;
    let (mut one, mut two) = (connect(&database).await, connect(&database).await);
    one.run("CREATE TYPE mood AS ENUM ('sad', 'glad')").await;
    for (ty, first, second, written) in KEYS {
        one.run(&format!("CREATE TABLE p (a {ty} PRIMARY KEY); INSERT INTO p VALUES ({first})")).await;
        one.run(&format!("CREATE TABLE c (i int, a {ty} REFERENCES p)")).await;
        let update = format!("UPDATE p SET a = {second}");
        for taken in ["DELETE FROM p", update.as_str()] {
            for (at, by) in LEVELS.iter().flat_map(|at| LEVELS.map(|by| (*at, by))) {
                let refers = format!("INSERT INTO c VALUES (1, {written})");
                let failed = take_away(&mut one, &mut two, (at, by), &refers, taken).await;
                assert_eq!(failed, Some("23503"), "{ty}: {taken} at {at}, a row at {by}");
                assert_eq!(dangling(&mut one).await, "0");
                one.run("DELETE FROM c").await;
            }
        }
        one.run("DROP TABLE c, p").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_older_snapshot_takes_away_is_followed_by_all_rows_or_not_taken() {
    let database = database().await;
    let (mut one, mut two) = (connect(&database).await, connect(&database).await);
    for action in ["RESTRICT", "NO ACTION DEFERRABLE INITIALLY DEFERRED", "CASCADE", "SET NULL", "SET DEFAULT"] {
        let follows = matches!(action, "CASCADE" | "SET NULL" | "SET DEFAULT");
        one.run("CREATE TABLE p (n int, a numeric, v int, PRIMARY KEY (n, a))").await;
        one.run("INSERT INTO p VALUES (1, 1.5), (9, 9)").await;
        one.run("CREATE TABLE c (i int, n int DEFAULT 9, a numeric DEFAULT 9)").await;
        let (deleted, updated) = match action {
            "NO ACTION DEFERRABLE INITIALLY DEFERRED" => ("NO ACTION", action),
            _ => (action, action),
        };
        one.run(&format!(
            "ALTER TABLE c ADD FOREIGN KEY (n, a) REFERENCES p ON DELETE {deleted} ON UPDATE {updated}; INSERT INTO c VALUES (0)"
        ))
        .await;
        for taken in ["DELETE FROM p WHERE n = 1", "UPDATE p SET a = 2 WHERE n = 1"] {
            for (at, by) in LEVELS.iter().flat_map(|at| LEVELS.map(|by| (*at, by))) {
                for refers in ["INSERT INTO c VALUES (1, 1, 1.50)", "UPDATE c SET (n, a) = (1, 1.5)"] {
                    let failed = take_away(&mut one, &mut two, (at, by), refers, taken).await;
                    // As in PostgreSQL, cascading writes must not change rows that the snapshot does not show.
                    let expected = match (follows, at) {
                        // Without row locks READ COMMITTED has one snapshot too.
                        (true, "READ COMMITTED") if database.transactions().can_lock_rows() => None,
                        (true, _) => Some("40001"),
                        (false, _) => Some("23503"),
                    };
                    assert_eq!(failed, expected, "{action}: {taken} at {at}, {refers} at {by}");
                    assert_eq!(dangling(&mut one).await, "0");
                    one.run("DELETE FROM c; DELETE FROM p WHERE n = 1").await;
                    one.run("INSERT INTO c VALUES (0); INSERT INTO p VALUES (1, 1.5)").await;
                }
            }
        }
        one.run("DROP TABLE c, p").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_only_locked_with_key_share_at_read_committed_may_be_deleted() {
    let database = database().await;
    // Without row locks there is no READ COMMITTED.
    if !database.transactions().can_lock_rows() {
        return;
    }
    let (mut one, mut two) = (connect(&database).await, connect(&database).await);
    one.run("CREATE TABLE p (a numeric PRIMARY KEY); INSERT INTO p VALUES (1)").await;
    one.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM p").await;
    two.run("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT * FROM p FOR KEY SHARE; COMMIT").await;
    one.run("DELETE FROM p; COMMIT").await;
}
