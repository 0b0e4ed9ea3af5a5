//! [`BulkLoad`] and [`BulkCommit`] of the memory engine: prepared cells stay in the blocks that they came in.

use super::{MemoryStore, set_block};
use crate::bulk::{BulkCommit, BulkLoad, CellBlock, ClaimedKeys, Medium, PreparedCells, PreparedCommit};
use crate::committer::Request;
use crate::contract::{FailedCondition, Family};
use crate::env::BoxFuture;
use crate::error::Result;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use futures::FutureExt;
use std::sync::Arc;

impl BulkLoad for MemoryStore {
    fn load(&self, timestamp: Timestamp, block: CellBlock) -> BoxFuture<'_, Result<()>> {
        set_block(&mut self.rows.write(), Family::Write, timestamp, &block);
        std::future::ready(Ok(())).boxed()
    }
}

impl BulkCommit for MemoryStore {
    fn claim(&self, keys: ClaimedKeys) -> BoxFuture<'_, Result<std::result::Result<(), FailedCondition>>> {
        async move { Ok(self.request(Request::Claim(keys)).await?.map(|_| ())) }.boxed()
    }

    fn prepare(
        &self,
        family: Family,
        timestamp: Timestamp,
        block: CellBlock,
    ) -> BoxFuture<'_, Result<Vec<PreparedCells>>> {
        let ends = block.ends().map(|(first, last)| (Bytes::copy_from_slice(first), Bytes::copy_from_slice(last)));
        let prepared =
            ends.map(|ends| PreparedCells { family, timestamp, ends, medium: Arc::new(Medium::Block(block)) });
        std::future::ready(Ok(prepared.into_iter().collect())).boxed()
    }

    fn commit_prepared(
        &self,
        commit: PreparedCommit,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.request(Request::Prepared(commit)).boxed()
    }
}
