//! The table and its families: `percosql init-store` makes them, and opening the store checks them.

use super::address::BigtableAddress;
use super::client::{BigtableOptions, Client};
use super::proto;
use crate::contract::Family;
use crate::env::EnvRef;
use crate::error::{Result, StoreError};
use googleapis_tonic_google_bigtable_admin_v2::google::bigtable::admin::v2 as admin;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tonic::{Code, Status};

/// Time limit for making a table.
const LIMIT: Duration = Duration::from_secs(120);

/// The result of [`init_store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialized {
    /// The table did not exist and was made.
    Made,
    /// The table existed with all families.
    Found,
    /// The table existed, and missing families were added.
    Completed,
}

/// Makes the table and its families if they are missing. No family gets a rule of garbage collection, because such a
/// rule would destroy versions that are still read; `txn` collects them itself. Errors: a family has such a rule, or
/// the caller may not make tables.
pub async fn init_store(address: BigtableAddress, options: BigtableOptions, env: EnvRef) -> Result<Initialized> {
    let client = Client::new(address, options, env).await?;
    match make(&client).await {
        Ok(()) => Ok(Initialized::Made),
        Err(StoreError::InUse(_)) => complete(&client).await,
        Err(error) => Err(error),
    }
}

fn families() -> HashMap<String, admin::ColumnFamily> {
    Family::ALL.into_iter().map(|name| (proto::family_name(name).to_owned(), family())).collect()
}

/// A family with an empty rule of garbage collection, under which nothing is collected. The rule is sent explicitly,
/// because old emulators crash without one.
fn family() -> admin::ColumnFamily {
    admin::ColumnFamily { gc_rule: Some(admin::GcRule::default()), ..admin::ColumnFamily::default() }
}

/// Makes the table. Errors: `StoreError::InUse` if it exists.
async fn make(client: &Arc<Client>) -> Result<()> {
    let request = admin::CreateTableRequest {
        parent: client.address.instance_name(),
        table_id: client.address.table.clone(),
        table: Some(admin::Table { column_families: families(), ..admin::Table::default() }),
        initial_splits: Vec::new(),
    };
    client.calls.other();
    let answer = client
        .call_within(LIMIT, "making the table", &request, async |request| {
            match client.admin().create_table(request).await {
                Err(status) if status.code() == Code::AlreadyExists => Ok(false),
                other => other.map(|_| true),
            }
        })
        .await?;
    match answer.value {
        true => Ok(()),
        false => Err(StoreError::InUse(client.address.to_string())),
    }
}

/// The names of missing families. Errors: a family has a rule of garbage collection.
async fn missing_families(client: &Arc<Client>) -> Result<Vec<&'static str>> {
    let request =
        admin::GetTableRequest { name: client.address.table_name(), view: admin::table::View::SchemaView as i32 };
    let get = async |request| client.admin().get_table(request).await;
    let table = client.call("looking at the table", &request, get).await?.value.into_inner();
    for family in Family::ALL {
        let name = proto::family_name(family);
        let rule = table.column_families.get(name).and_then(|family| family.gc_rule.as_ref());
        if rule.is_some_and(|rule| rule.rule.is_some()) {
            return Err(StoreError::Format(format!(
                "family {name} of {} has a garbage-collection rule, which would destroy versions that \
                 transactions still read; remove it with `cbt setgcpolicy {} {name} never`",
                client.address, client.address.table
            )));
        }
    }
    let names = Family::ALL.into_iter().map(proto::family_name);
    Ok(names.filter(|name| !table.column_families.contains_key(*name)).collect())
}

/// Checks that the table is usable. Anybody with the right to change families may have added a rule since the table
/// was made. Errors: a family is missing or has a rule, or the right `bigtable.tables.get` is missing.
pub(super) async fn check(client: &Arc<Client>) -> Result<()> {
    let missing = missing_families(client).await?;
    if missing.is_empty() {
        return Ok(());
    }
    let (names, address) = (missing.join(", "), &client.address);
    Err(StoreError::Format(format!("{address} lacks the families {names}; `percosql init-store {address}` adds them")))
}

async fn complete(client: &Arc<Client>) -> Result<Initialized> {
    let modifications: Vec<_> = missing_families(client)
        .await?
        .into_iter()
        .map(|name| admin::modify_column_families_request::Modification {
            id: name.to_owned(),
            update_mask: None,
            r#mod: Some(admin::modify_column_families_request::modification::Mod::Create(family())),
        })
        .collect();
    if modifications.is_empty() {
        return Ok(Initialized::Found);
    }
    let request =
        admin::ModifyColumnFamiliesRequest { name: client.address.table_name(), modifications, ignore_warnings: false };
    let modify = async |request| -> std::result::Result<(), Status> {
        client.admin().modify_column_families(request).await.map(|_| ())
    };
    client.call_within(LIMIT, "adding families", &request, modify).await?;
    Ok(Initialized::Completed)
}
