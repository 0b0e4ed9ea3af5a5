//! Changes of rows: conditional ones of one row, unconditional ones of many, and removals of ranges.

use super::client::Client;
use super::limits;
use super::proto::{self, Predicate};
use super::read::{RowStream, Wanted};
use super::retry::{self, Verdict};
use crate::contract::{Condition, Mutation, RowMutation, RowRange};
use crate::error::{Result, StoreError};
use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use googleapis_tonic_google_bigtable_admin_v2::google::bigtable::admin::v2 as admin;
use googleapis_tonic_google_bigtable_v2::google::bigtable::v2 as bt;
use std::sync::Arc;
use std::time::Duration;
use tonic::{Code, Status};

/// Concurrent `MutateRows` calls of one request.
const CALLS_AT_A_TIME: usize = 8;
/// Time limit for dropping a range. The administration answers only when it is done.
const DROP_LIMIT: Duration = Duration::from_secs(120);
/// How many rows at a time are read and removed when a range is removed row by row.
const REMOVED_ROWS: usize = 2_000;

/// Changes one row if the conditions hold.
pub async fn check_and_mutate(
    client: &Arc<Client>,
    key: &[u8],
    conditions: &[Condition],
    mutations: &[Mutation],
) -> Result<bool> {
    limits::check_row(key, mutations)?;
    let row_key = proto::row_key(key);
    let (filter, when_found) = match proto::predicate(conditions)? {
        Predicate::Always => {
            let row = RowMutation { key: Bytes::copy_from_slice(key), mutations: mutations.to_vec() };
            mutate_rows(client, vec![row]).await?;
            return Ok(true);
        }
        Predicate::WhenFound(filter) => (filter, true),
        Predicate::UnlessFound(filter) => (filter, false),
    };
    let mutations = proto::mutations(mutations);
    if mutations.is_empty() {
        // Bigtable refuses a change without effect, so the row is only read. Reading a row is atomic too.
        let mut rows = RowStream::new(client.clone(), Wanted::Keys(vec![row_key]), filter, None);
        return Ok(rows.next().await?.is_some() == when_found);
    }
    let (true_mutations, false_mutations) = if when_found { (mutations, Vec::new()) } else { (Vec::new(), mutations) };
    let request = bt::CheckAndMutateRowRequest {
        table_name: client.address.table_name(),
        app_profile_id: client.address.app_profile.clone(),
        row_key,
        predicate_filter: Some(filter),
        true_mutations,
        false_mutations,
        ..bt::CheckAndMutateRowRequest::default()
    };
    client.calls.check();
    let answer = client
        .call("changing a row conditionally", &request, async |request| {
            client.data().check_and_mutate_row(request).await
        })
        .await?;
    let held = answer.value.into_inner().predicate_matched == when_found;
    if !held && answer.repeated {
        let why = "the answer to a conditional change was lost, and its repetition found the condition not met";
        return Err(StoreError::Undetermined(why.to_owned()));
    }
    Ok(held)
}

/// Changes rows unconditionally, each on its own.
pub async fn mutate_rows(client: &Arc<Client>, rows: Vec<RowMutation>) -> Result<()> {
    let entry = |row: RowMutation| bt::mutate_rows_request::Entry {
        row_key: proto::row_key(&row.key),
        mutations: proto::mutations(&row.mutations),
        idempotency: None,
    };
    let batches: Vec<Vec<bt::mutate_rows_request::Entry>> = limits::batches(rows)?
        .into_iter()
        .map(|batch| batch.into_iter().map(entry).filter(|entry| !entry.mutations.is_empty()).collect())
        .collect();
    let calls = batches.into_iter().filter(|batch| !batch.is_empty()).map(|batch| mutate_entries(client, batch));
    stream::iter(calls).buffer_unordered(CALLS_AT_A_TIME).try_collect::<Vec<()>>().await.map(|_| ())
}

/// Sends one request's rows, by Bigtable's keys, until each was changed.
pub async fn mutate_entries(client: &Arc<Client>, mut left: Vec<bt::mutate_rows_request::Entry>) -> Result<()> {
    let limit = client.options.attempt;
    let mut attempts = client.attempts(limit);
    client.calls.write();
    loop {
        let status = match client.limited(limit, attempt(client, &mut left)).await {
            Ok(None) => return Ok(()),
            Ok(Some(status)) | Err(status) => status,
        };
        client.before_next("changing rows", &status, &mut attempts).await?;
    }
}

/// Makes one attempt. Removes the changed rows from `left`, and answers the error of the others, if any.
async fn attempt(
    client: &Arc<Client>,
    left: &mut Vec<bt::mutate_rows_request::Entry>,
) -> std::result::Result<Option<Status>, Status> {
    let request = bt::MutateRowsRequest {
        table_name: client.address.table_name(),
        app_profile_id: client.address.app_profile.clone(),
        entries: left.clone(),
        ..bt::MutateRowsRequest::default()
    };
    let mut answers = client.data().mutate_rows(client.request(request).await?).await?.into_inner();
    let mut done = vec![false; left.len()];
    let mut failed: Option<Status> = None;
    let broken = loop {
        let message = match answers.message().await {
            Ok(Some(message)) => message,
            Ok(None) => break None,
            Err(status) => break Some(status),
        };
        for entry in message.entries {
            let at = usize::try_from(entry.index).unwrap_or(usize::MAX);
            let status = entry.status.unwrap_or_default();
            match Code::from(status.code) {
                Code::Ok => done.iter_mut().skip(at).take(1).for_each(|done| *done = true),
                // A permanent refusal takes precedence over other errors.
                code if failed.as_ref().is_none_or(|failed| retry::verdict(failed) != Verdict::Refused) => {
                    failed = Some(Status::new(code, status.message));
                }
                _ => {}
            }
        }
    };
    let mut rows = done.iter();
    left.retain(|_| rows.next() != Some(&true));
    match (left.is_empty(), failed, broken) {
        (true, _, _) => Ok(None),
        (false, Some(status), _) | (false, None, Some(status)) => Ok(Some(status)),
        (false, None, None) => Ok(Some(Status::unavailable("rows without an answer"))),
    }
}

/// Removes every row of a range: by a drop if the range is a prefix, else row by row.
pub async fn delete_range(client: &Arc<Client>, range: &RowRange) -> Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    if let Some(prefix) = proto::prefix_of(range) {
        match drop_prefix(client, prefix).await {
            Ok(()) => return Ok(()),
            // Without the right, or after too many drops an hour, the rows are removed like others.
            Err(error) => tracing::info!(%error, "a range of rows is removed row by row"),
        }
    }
    let (start, end) = proto::bounds(range);
    let mut rows = RowStream::new(client.clone(), Wanted::Range(start, end), proto::keys_only(), None);
    loop {
        let mut entries = Vec::new();
        while entries.len() < REMOVED_ROWS {
            let Some(row) = rows.next().await? else { break };
            entries.push(bt::mutate_rows_request::Entry {
                row_key: row.row_key,
                mutations: vec![proto::delete_row()],
                idempotency: None,
            });
        }
        if entries.is_empty() {
            return Ok(());
        }
        mutate_entries(client, entries).await?;
    }
}

async fn drop_prefix(client: &Arc<Client>, prefix: Bytes) -> Result<()> {
    let request = admin::DropRowRangeRequest {
        name: client.address.table_name(),
        target: Some(admin::drop_row_range_request::Target::RowKeyPrefix(prefix)),
    };
    client.calls.other();
    client
        .call_within(DROP_LIMIT, "dropping a range of rows", &request, async |request| {
            client.admin().drop_row_range(request).await
        })
        .await?;
    Ok(())
}
