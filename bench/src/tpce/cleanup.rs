//! `tpce cleanup`: drops the objects that `init` created.

use super::schema::{OWN, SEQUENCE, TABLES};
use crate::error::Result;
use crate::session::connect;
use tokio_postgres::Config;

/// Drops the tables. Tables that refer to others come first.
pub async fn drop_all(config: &Config) -> Result<()> {
    let client = connect(config).await?;
    for table in TABLES.iter().rev().chain(OWN.iter().rev()) {
        client.batch_execute(&format!("drop table if exists {} cascade", table.name)).await?;
    }
    Ok(client.batch_execute(&format!("drop sequence if exists {SEQUENCE}")).await?)
}
