//! `tpce check`: conditions C1 to C16, which hold after the load and after every run. It changes no data.

mod acknowledged;
mod conditions;
mod structure;

use super::ledger::Record;
use super::population::Population;
use super::setting;
use crate::error::{Error, Result};
use crate::session::connect;
use conditions::CONDITIONS;
use std::path::Path;
use std::time::Instant;
use tokio_postgres::{Client, Config, SimpleQueryMessage};

/// Violating rows to show per condition, at most.
const SHOWN: usize = 10;

/// The result of a condition.
enum Verdict {
    Holds,
    Fails(Vec<String>),
    Skipped(&'static str),
}

/// Formats a row as text.
fn shown(message: &SimpleQueryMessage) -> Option<String> {
    match message {
        SimpleQueryMessage::Row(row) => {
            let field = |place: usize| format!("{} {}", row.columns()[place].name(), row.get(place).unwrap_or("null"));
            Some((0..row.len()).map(field).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}

/// The rows that the statements return, at most as many as are shown.
async fn offending<S: AsRef<str>>(client: &Client, statements: &[S]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for statement in statements {
        let sql = format!("{} limit {}", statement.as_ref(), SHOWN + 1);
        let answer = client.simple_query(&sql).await;
        let rows = answer.map_err(|error| Error::other(format!("{}: {sql}", Error::from(error))))?;
        all.extend(rows.iter().filter_map(shown));
    }
    Ok(all)
}

#[allow(clippy::print_stdout)]
fn say(name: &str, says: &str, verdict: &Result<Verdict>, begin: Instant) -> bool {
    let took = begin.elapsed().as_secs_f64();
    match verdict {
        Ok(Verdict::Holds) => println!("{name:<4} holds    {says} ({took:.2} s)"),
        Ok(Verdict::Skipped(why)) => println!("{name:<4} skipped  {says}: {why}"),
        Ok(Verdict::Fails(rows)) => {
            println!("{name:<4} FAILS    {says} ({took:.2} s)");
            rows.iter().take(SHOWN).for_each(|row| println!("       {row}"));
            if rows.len() > SHOWN {
                println!("       and more");
            }
        }
        Err(error) => println!("{name:<4} FAILS    {says}: it could not be checked: {error}"),
    }
    matches!(verdict, Ok(Verdict::Holds | Verdict::Skipped(_)))
}

fn verdict(rows: Vec<String>) -> Verdict {
    if rows.is_empty() { Verdict::Holds } else { Verdict::Fails(rows) }
}

/// Checks all conditions. Errors: a condition is violated.
pub async fn check(config: &Config, ledger: Option<&Path>) -> Result<()> {
    let client = connect(config).await?;
    let population = Population::new(setting::loaded(&client).await?);
    let omitted = setting::broker_totals_omitted(&client).await?;
    let record = ledger.map(Record::read).transpose()?;
    let mut failed = Vec::new();
    for number in 1..=16 {
        let name = format!("C{number}");
        let begin = Instant::now();
        let (says, result) = match CONDITIONS.iter().find(|condition| condition.name == name) {
            Some(condition) if omitted && number <= 2 => {
                (condition.says, Ok(Verdict::Skipped("a run left brokers' totals out")))
            }
            Some(condition) => (condition.says, offending(&client, condition.statements).await.map(verdict)),
            None => {
                let says = BY_HAND.iter().find(|(known, _)| *known == name).map_or("", |(_, says)| says);
                (says, by_hand(&name, &client, &population, record.as_ref()).await)
            }
        };
        if !say(&name, says, &result, begin) {
            failed.push(name);
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Error::other(format!("{} of 16 conditions failed: {}", failed.len(), failed.join(", ")))),
    }
}

/// The conditions that need more than one statement.
const BY_HAND: [(&str, &str); 5] = [
    ("C10", "a balance is that of the load and the cash of all trades since"),
    ("C13", "a security's volume and last price are what the ticker told"),
    ("C14", "as many orders and results are there as were acknowledged, and nothing of those rolled back"),
    ("C15", "foreign keys and primary keys hold, indexes agree with their tables"),
    ("C16", "every order and result that was acknowledged is there"),
];

async fn by_hand(name: &str, client: &Client, population: &Population, record: Option<&Record>) -> Result<Verdict> {
    if name == "C10" {
        return Ok(verdict(acknowledged::balances(client, population).await?));
    }
    if name == "C15" {
        let mut faults = offending(client, &structure::foreign_keys()).await?;
        faults.extend(offending(client, &structure::primary_keys()).await?);
        let version: String = client.query_one("select version()", &[]).await?.try_get(0)?;
        faults.extend(structure::indexes(client, version.contains("PercoSQL")).await?);
        return Ok(verdict(faults));
    }
    let Some(record) = record else { return Ok(Verdict::Skipped("no ledger was named")) };
    if !record.ended && name != "C16" {
        return Ok(Verdict::Skipped("the run did not come to its end"));
    }
    Ok(verdict(match name {
        "C13" => acknowledged::ticker(client, record).await?,
        "C14" => acknowledged::counts(client, record).await?,
        _ => acknowledged::durable(client, record, population).await?,
    }))
}
