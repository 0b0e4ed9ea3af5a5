//! Conditions C10, C13, C14 and C16, which compare the ledger of a run with the tables.

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::tpce::ledger::Record;
use crate::tpce::population::{Account, Population};
use std::collections::{HashMap, HashSet};
use tokio_postgres::{Client, SimpleQueryMessage};

type Row = Vec<String>;

/// The rows of a query as text. NULL is the empty string.
async fn rows(client: &Client, sql: &str) -> Result<Vec<Row>> {
    let messages = client.simple_query(sql).await?;
    let fields = |row: &tokio_postgres::SimpleQueryRow| {
        (0..row.len()).map(|place| row.get(place).unwrap_or_default().to_string()).collect()
    };
    Ok(messages
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(fields(row)),
            _ => None,
        })
        .collect())
}

fn number(row: &Row, place: usize) -> Result<i64> {
    let text = row.get(place).map_or("", String::as_str);
    text.parse().map_err(|_| Error::other(format!("{text} is no integer")))
}

fn cents(row: &Row, place: usize) -> Result<i64> {
    let text = row.get(place).map_or("", String::as_str);
    Decimal::parse(text).map(|value| value.at(2)).ok_or_else(|| Error::other(format!("{text} is no amount")))
}

/// C10: each balance is the loaded balance plus the cash of the trades since.
pub async fn balances(client: &Client, population: &Population) -> Result<Vec<String>> {
    let sql = format!(
        "select ca_id, ca_bal, coalesce(booked, 0) from customer_account
        left join (select t_ca_id, sum(ct_amt) as booked from cash_transaction join trade on t_id = ct_t_id
            where ct_t_id > {} group by t_ca_id) since on t_ca_id = ca_id",
        population.scale.last_trade_id()
    );
    let mut faults = Vec::new();
    for row in rows(client, &sql).await? {
        let (id, balance, booked) = (number(&row, 0)?, cents(&row, 1)?, cents(&row, 2)?);
        let opening = population.opening_balance(Account::of_id(id));
        if balance != opening + booked {
            let shown = |units: i64| crate::decimal::cents(units);
            faults.push(format!(
                "account {id}: {} instead of {} and {}",
                shown(balance),
                shown(opening),
                shown(booked)
            ));
        }
    }
    Ok(faults)
}

/// C13: the volumes and last prices match the ticker.
pub async fn ticker(client: &Client, record: &Record) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for row in rows(client, "select lt_s_symb, lt_vol, lt_price from last_trade").await? {
        let symbol = row.first().cloned().unwrap_or_default();
        if record.unknown_feeds.contains(&symbol) {
            continue;
        }
        let (volume, price) = (number(&row, 1)?, cents(&row, 2)?);
        let before = record.volumes.get(&symbol).copied().unwrap_or(0);
        let (fed, last) = record.fed.get(&symbol).copied().unwrap_or((0, price));
        if volume != before + fed || price != last {
            faults.push(format!(
                "{symbol}: volume {volume}, price {price}, but {before} before, {fed} told, last price {last}"
            ));
        }
    }
    Ok(faults)
}

/// The ids as lists for IN, with at most 5,000 ids per list.
fn lists(ids: &HashSet<i64>) -> Vec<String> {
    let mut sorted: Vec<i64> = ids.iter().copied().collect();
    sorted.sort_unstable();
    sorted.chunks(5000).map(|chunk| chunk.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")).collect()
}

/// C14: the numbers of new and of completed trades match the acknowledgements, and rolled-back orders left no rows. If
/// the answer to a COMMIT was lost, both outcomes are accepted.
pub async fn counts(client: &Client, record: &Record) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut compare = |what: &str, before: i64, now: i64, acknowledged: usize, unknown: usize| {
        let new = now - before;
        let least = acknowledged as i64;
        if !(least..=least + unknown as i64).contains(&new) {
            faults
                .push(format!("{new} {what} are new, {acknowledged} were acknowledged, of {unknown} it is not known"));
        }
    };
    let count = |rows: Vec<Row>| number(rows.first().unwrap_or(&Vec::new()), 0);
    let trades = count(rows(client, "select count(*) from trade").await?)?;
    compare("trades", record.trades_before, trades, record.ordered.len(), record.unknown_orders);
    let completed = count(rows(client, "select count(*) from trade where t_st_id = 'CMPT'").await?)?;
    let (acknowledged, unknown) = (record.completed.len(), record.unknown_results.len());
    compare("completed trades", record.completed_before, completed, acknowledged, unknown);
    for list in lists(&record.rolled_back) {
        for (table, column) in [("trade", "t_id"), ("trade_history", "th_t_id"), ("trade_request", "tr_t_id")] {
            for row in rows(client, &format!("select {column} from {table} where {column} in ({list})")).await? {
                faults.push(format!("{} was rolled back and is in {table}", row.join(" ")));
            }
        }
    }
    Ok(faults)
}

/// C16: every acknowledged order and result is there. No result is there without a request.
pub async fn durable(client: &Client, record: &Record, population: &Population) -> Result<Vec<String>> {
    let sql = format!("select t_id, t_st_id from trade where t_id > {}", population.scale.last_trade_id());
    let mut states: HashMap<i64, String> = HashMap::new();
    for row in rows(client, &sql).await? {
        states.insert(number(&row, 0)?, row.get(1).cloned().unwrap_or_default());
    }
    let mut faults = Vec::new();
    for id in &record.completed {
        let state = states.get(id).map_or("not there", String::as_str);
        if state != "CMPT" {
            faults.push(format!("trade {id} was acknowledged as completed and is {state}"));
        }
    }
    for id in record.ordered.iter().filter(|id| !states.contains_key(id)) {
        faults.push(format!("trade {id} was acknowledged and is not there"));
    }
    Ok(faults)
}
