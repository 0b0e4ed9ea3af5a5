//! The population keeps its guarantees: the same bytes every time, the expected row counts, and an existing row for
//! every reference.

use super::*;
use crate::tpce::scale::tiny;
use crate::tpce::schema::{FOREIGN_KEYS, TABLES};
use std::collections::{BTreeMap, HashSet};

fn all(population: &Population) -> BTreeMap<&'static str, String> {
    let mut tables: BTreeMap<&'static str, String> = BTreeMap::new();
    for job in population.jobs() {
        population.produce(job, &mut |part| {
            part.tables.iter().for_each(|rows| tables.entry(rows.table).or_default().push_str(&rows.text));
            true
        });
    }
    tables
}

/// The indexes of some columns within a table.
fn places(table: &str, columns: &str) -> Vec<usize> {
    let body = TABLES.iter().find(|known| known.name == table).unwrap().columns;
    let all: Vec<&str> = body.split(',').filter_map(|column| column.split_whitespace().next()).collect();
    let names: Vec<&str> = all.into_iter().filter(|name| name.contains('_')).collect();
    columns.split(", ").map(|column| names.iter().position(|name| *name == column).unwrap()).collect()
}

fn keys<'a>(text: &'a str, places: &[usize]) -> Vec<Vec<&'a str>> {
    let row = |line: &'a str| {
        let fields: Vec<&str> = line.split('\t').collect();
        places.iter().map(|place| fields[*place]).collect()
    };
    text.lines().map(row).collect()
}

#[test]
fn every_table_has_the_expected_rows_and_the_same_bytes() {
    let population = Population::new(tiny());
    let tables = all(&population);
    assert_eq!(tables, all(&Population::new(tiny())));
    let count = |table: &str| tables.get(table).map_or(0, |text| text.lines().count()) as i64;
    for (table, expected) in population.scale.fixed_counts() {
        assert_eq!(count(table), expected, "{table}");
    }
    let about = |table: &str, expected: f64| {
        let ratio = count(table) as f64 / expected;
        assert!((0.9..1.1).contains(&ratio), "{table}: {} instead of {expected}", count(table));
    };
    about("account_permission", 1.42 * 500.0);
    about("watch_item", 100.0 * 100.0);
    about("trade_history", 2.4 * population.scale.trades() as f64);
    about("cash_transaction", 0.92 * population.scale.trades() as f64);
    assert_eq!(tables.len(), 32, "all but trade_request");
}

#[test]
fn foreign_keys_and_primary_keys_hold() {
    let tables = all(&Population::new(tiny()));
    for (table, columns, other, their_columns) in FOREIGN_KEYS {
        let Some(text) = tables.get(table) else { continue };
        let there: HashSet<Vec<&str>> = keys(&tables[other], &places(other, their_columns)).into_iter().collect();
        for key in keys(text, &places(table, columns)) {
            assert!(there.contains(&key), "{table}({columns}) {key:?} is not in {other}");
        }
    }
    for (table, text) in &tables {
        let body = TABLES.iter().find(|known| known.name == *table).unwrap().columns;
        let columns = match body.split_once("primary key (") {
            Some((_, rest)) => rest.split(')').next().unwrap(),
            None => body.split(' ').next().unwrap(),
        };
        let all = keys(text, &places(table, columns));
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{table}({columns})");
    }
}

#[test]
fn a_full_unit_has_five_thousand_accounts_and_three_tiers() {
    let population = Population::new(Scale { customers: 2000, ..tiny() });
    for unit in 0..2 {
        let customers = unit * 1000..(unit + 1) * 1000;
        assert_eq!(customers.clone().map(|customer| population.accounts_of(customer)).sum::<i64>(), 5000);
        let tier = |wanted: i64| customers.clone().filter(|customer| population.tier(*customer) == wanted).count();
        assert_eq!([tier(1), tier(2), tier(3)], [200, 600, 200]);
    }
    let account = Account { customer: 1234, number: 3 };
    assert_eq!(Account::of_id(account.id()), account);
}

#[test]
fn every_industry_has_a_company() {
    let population = Population::new(tiny());
    let industries: HashSet<i64> = (0..500).map(|company| population.industry_of(company)).collect();
    assert_eq!(industries.len(), 102);
}

#[test]
fn busy_customers_are_picked_more_often() {
    let population = Population::new(Scale { customers: 1000, ..tiny() });
    let mut stream = population.scale.stream(99, 0);
    let mut picks = [0; 4];
    for _ in 0..30_000 {
        picks[population.tier(population.pick_customer(&mut stream)) as usize] += 1;
    }
    for (tier, share) in [(1, 0.1), (2, 0.6), (3, 0.3)] {
        assert!((f64::from(picks[tier]) / 30_000.0 - share).abs() < 0.02, "{picks:?}");
    }
}

#[test]
fn sums_of_lots_are_the_sums_of_trades() {
    let tables = all(&Population::new(tiny()));
    let mut sums: BTreeMap<(String, String), i64> = BTreeMap::new();
    for row in keys(&tables["trade"], &places("trade", "t_ca_id, t_s_symb, t_tt_id, t_qty")) {
        let quantity: i64 = row[3].parse().unwrap();
        let sign = if TRADE_TYPES.iter().any(|kind| kind.id == row[2] && kind.is_sell) { -1 } else { 1 };
        *sums.entry((row[0].into(), row[1].into())).or_default() += sign * quantity;
    }
    sums.retain(|_, sum| *sum != 0);
    let held: BTreeMap<(String, String), i64> = keys(&tables["holding_summary"], &[0, 1, 2])
        .into_iter()
        .map(|row| ((row[0].into(), row[1].into()), row[2].parse().unwrap()))
        .collect();
    assert_eq!(held, sums);
}
