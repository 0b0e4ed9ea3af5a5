//! Indexes against tables after random writes.

use super::*;

/// A small generator, so that a failure can be repeated with its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn statement(random: &mut Random) -> String {
    let mut id = || random.below(30);
    let (a, b, c) = (id(), id(), id());
    let value = |x: u64| if x.is_multiple_of(7) { "NULL".to_string() } else { x.to_string() };
    match random.below(9) {
        0 | 1 => format!("INSERT INTO t VALUES ({a}, {}, {}, 'n{c}')", value(b), value(c)),
        2 => format!("INSERT INTO t VALUES ({a}, {}, {c}, 'd') ON CONFLICT DO NOTHING", value(b)),
        3 => format!(
            "INSERT INTO t VALUES ({a}, {}, 1, 'u') ON CONFLICT (a) DO UPDATE SET c = t.c + 1, b = excluded.b",
            value(b)
        ),
        4 => format!("UPDATE t SET b = {} WHERE a = {a}", value(b)),
        5 => format!("UPDATE t SET c = c + 1, d = 'p{b}' WHERE a < {a}"),
        6 => format!("UPDATE t SET a = {b} WHERE a = {a}"),
        7 => format!("UPDATE t SET a = 29 - a WHERE c > {c}"),
        _ => format!("DELETE FROM t WHERE a = {a} OR b = {b}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn indexes_agree_with_their_table_after_random_writes() {
    for seed in 1..=12u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut c = client().await;
        c.run("CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE, c int, d text)").await;
        c.run("CREATE INDEX t_c ON t (c DESC) INCLUDE (d); CREATE INDEX t_dc ON t (d, c)").await;
        for step in 0..120 {
            let block = random.below(4) == 0;
            if block {
                c.run("BEGIN").await;
                for _ in 0..3 {
                    c.run("SAVEPOINT s").await;
                    let _ = c.try_run_with(&statement(&mut random), "").await;
                    if c.status() == TransactionStatus::Failed || random.below(4) == 0 {
                        c.run("ROLLBACK TO s").await;
                    }
                }
                c.run(if random.below(3) == 0 { "ROLLBACK" } else { "COMMIT" }).await;
            } else {
                let sql = statement(&mut random);
                if let Err(error) = c.try_run_with(&sql, "").await {
                    assert!(["23505", "21000"].contains(&error.state()), "seed {seed} step {step} {sql}: {error:?}");
                }
            }
            if step % 20 == 19 {
                check(&mut c, &format!("seed {seed} step {step}")).await;
            }
        }
    }
}

/// Every index must hold exactly the entries that the table's rows require.
async fn check(c: &mut Client, at: &str) {
    use crate::encoding::{IndexEntry, RowDecoder, table_prefix};
    use futures::TryStreamExt;
    use storage::RowRange;
    use txn::{OwnWrites, TxnScanOptions};
    let database = c.session.database.clone();
    let transaction = database.transactions().begin(TransactionOptions::default());
    let catalog = database.catalog().snapshot(&transaction, c.session.shared.database_oid).await.unwrap();
    let table = catalog.relation(None, "t", &["public".into()]).unwrap();
    let scan = |storage| {
        let range = RowRange::prefix(table_prefix(storage));
        let pairs = transaction.scan(range, TxnScanOptions::default(), OwnWrites::All);
        async move { pairs.try_concat().await.unwrap() }
    };
    let ids: Vec<_> = table.live_columns().map(|column| column.id).collect();
    let rows = scan(table.storage_id).await;
    let mut decoder = RowDecoder::new(&table, &ids, false).unwrap();
    for (key, value) in &rows {
        decoder.push(key, value).unwrap();
    }
    let columns = decoder.finish().unwrap();
    for index in table.secondary_indexes() {
        let mut wanted: Vec<(Vec<u8>, Vec<u8>)> = (0..rows.len())
            .map(|row| IndexEntry::encode(&table, index, &columns, row, &rows[row].0).unwrap())
            .map(|entry| (entry.key, entry.value))
            .collect();
        wanted.sort();
        let found: Vec<(Vec<u8>, Vec<u8>)> =
            scan(index.storage_id).await.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
        assert_eq!(found, wanted, "{at}: index {}", index.name);
    }
    transaction.rollback().await;
}
