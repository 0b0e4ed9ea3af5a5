//! The size of a population, stored in the server, so that later commands find it there.

use super::scale::Scale;
use crate::error::{Error, Result};
use tokio_postgres::Client;

/// The scale of the population that is loaded or being loaded. `None` if there is none.
pub async fn stored(client: &Client) -> Result<Option<Scale>> {
    let rows = match client.query("select name, value from bench_setting", &[]).await {
        Ok(rows) => rows,
        Err(error) if error.code().is_some_and(|code| code.code() == "42P01") => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut found = std::collections::HashMap::new();
    for row in &rows {
        let (name, value): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        found.insert(name, value);
    }
    if found.is_empty() {
        return Ok(None);
    }
    let number = |name: &str| {
        let text = found.get(name).ok_or_else(|| Error::other(format!("bench_setting has no {name}")))?;
        text.parse::<i64>().map_err(|_| Error::other(format!("bench_setting: {name} is {text}")))
    };
    Ok(Some(Scale {
        customers: number("customers")?,
        days: number("days")?,
        market_days: number("market_days")?,
        news_bytes: number("news_bytes")?,
        seed: number("seed")?.cast_unsigned(),
    }))
}

/// The scale of a complete population. Errors: the load is missing or incomplete.
pub async fn loaded(client: &Client) -> Result<Scale> {
    let scale = stored(client).await?.ok_or_else(|| Error::other("nothing is loaded here: run `tpce init` first"))?;
    let done = client.query("select value from bench_setting where name = 'loaded'", &[]).await?;
    match done.is_empty() {
        true => Err(Error::other("the load was not finished: run `tpce init` again")),
        false => Ok(scale),
    }
}

/// Stores a scale in the server.
pub async fn store(client: &Client, scale: &Scale) -> Result<()> {
    let values = [
        ("customers", scale.customers),
        ("days", scale.days),
        ("market_days", scale.market_days),
        ("news_bytes", scale.news_bytes),
        ("seed", scale.seed.cast_signed()),
    ];
    let rows: Vec<String> = values.iter().map(|(name, value)| format!("('{name}', '{value}')")).collect();
    Ok(client.batch_execute(&format!("insert into bench_setting values {}", rows.join(", "))).await?)
}

/// Records that the load is complete.
pub async fn mark_loaded(client: &Client) -> Result<()> {
    Ok(client.batch_execute("insert into bench_setting values ('loaded', 'yes') on conflict do nothing").await?)
}

/// Records whether a run left brokers' totals out, for the checks.
pub async fn note_broker_mode(client: &Client, omitted: bool) -> Result<()> {
    match omitted {
        true => {
            let sql = "insert into bench_setting values ('broker_totals', 'omitted') on conflict do nothing";
            Ok(client.batch_execute(sql).await?)
        }
        false => Ok(()),
    }
}

/// Whether a run left brokers' totals out.
pub async fn broker_totals_omitted(client: &Client) -> Result<bool> {
    let rows = client.query("select value from bench_setting where name = 'broker_totals'", &[]).await?;
    Ok(!rows.is_empty())
}
