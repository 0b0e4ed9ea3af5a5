//! [`Admission`]: validates the requests of one group, in order. A request whose conditions hold adds its
//! changes to the group.

use super::conflict_index::{Known, RecentCommits};
use super::group::Group;
use super::key_reservations::{Claim, Claims};
use super::recent_writes::{RecentWrites, Since, contains};
use super::{Answer, Change, Request, VersionReader};
use crate::bulk::{ClaimedKey, ClaimedKeys, ClaimedRun, PreparedCommit};
use crate::contract::{
    ClassRange, CommitBatch, CommitCondition, Condition, FailedCondition, Family, Mutation, ReadCondition, RowMutation,
    Stamp, TimestampRange,
};
use crate::error::{Result, StoreError};
use crate::timestamp::{Timestamp, TimestampSource};
use bytes::Bytes;
use std::collections::HashMap;

/// Validates one group of requests. See the module documentation.
pub struct Admission<'a, R> {
    reader: R,
    recent: &'a mut RecentCommits,
    writes: &'a mut RecentWrites,
    claims: &'a mut Claims,
    timestamps: &'a dyn TimestampSource,
    /// The newest commit timestamp before the group.
    visible: Timestamp,
    admitted: Admitted,
}

/// The result of validating a group.
#[derive(Default)]
pub struct Admitted {
    /// The changes to write.
    pub group: Group,
    /// The newest commit timestamp taken. `None` if no request publishes.
    pub newest: Option<Timestamp>,
    /// Set if the committer must stop: the reason why it can admit nothing more.
    pub failure: Option<StoreError>,
}

impl<'a, R: VersionReader> Admission<'a, R> {
    /// Validates against `recent` and against the cells that `reader` finds. `visible` is the newest
    /// commit timestamp so far.
    pub fn new(
        reader: R,
        (recent, writes, claims): (&'a mut RecentCommits, &'a mut RecentWrites, &'a mut Claims),
        timestamps: &'a dyn TimestampSource,
        visible: Timestamp,
    ) -> Self {
        Admission { reader, recent, writes, claims, timestamps, visible, admitted: Admitted::default() }
    }

    /// Ends the validation and answers the admitted group.
    pub fn finish(self) -> Admitted {
        self.admitted
    }

    /// Validates one request and adds its changes to the group. An error or a failed condition
    /// leaves the group unchanged.
    pub fn admit(&mut self, request: &Request) -> Answer {
        if let Some(failure) = &self.admitted.failure {
            return Err(failure.clone());
        }
        request.check_limits()?;
        match request {
            Request::Commit(batch) => self.admit_commit(batch),
            Request::Rows { conditions, rows } => self.admit_rows(conditions, rows),
            Request::RemoveRange(range) => {
                self.recent.forget_range(range);
                self.admitted.group.push(Change::RemoveRange(range.clone()));
                Ok(Ok(self.last()))
            }
            Request::Claim(keys) => self.admit_claim(keys),
            Request::Prepared(_) => Err(StoreError::Unsupported("a prepared commit in a group".to_owned())),
        }
    }

    /// Validates a commit of prepared cells and takes its timestamp. The group must contain nothing else.
    pub fn admit_prepared(&mut self, commit: &PreparedCommit) -> Answer {
        if let Some(failed) = self.failed(&commit.batch, Some(&commit.claim))? {
            return Ok(Err(failed));
        }
        if commit.timestamp <= self.last() || !self.timestamps.take_at(commit.timestamp) {
            return Ok(Err(FailedCondition::Passed));
        }
        self.admitted.newest = Some(commit.timestamp);
        Ok(Ok(commit.timestamp))
    }

    fn admit_claim(&mut self, asked: &ClaimedKeys) -> Answer {
        for (number, key) in asked.keys.iter().enumerate() {
            if let Some(failed) = self.not_free(asked, number, key)? {
                return Ok(Err(failed));
            }
        }
        if let Some(run) = &asked.run
            && !self.is_nothing_since(asked, run)
        {
            for (number, key) in (asked.keys.len()..).zip(run.keys.list()) {
                let key = ClaimedKey { key, none_after: run.none_after, conflicts: run.conflicts, class: run.class };
                if let Some(failed) = self.not_free(asked, number, &key)? {
                    return Ok(Err(failed));
                }
            }
        }
        if let Some(failed) = self.not_held(&asked.row_conditions)? {
            return Ok(Err(failed));
        }
        self.claims.note(&asked.claim, &asked.keys);
        if let Some(run) = &asked.run {
            self.claims.note_run(&asked.claim, run);
        }
        Ok(Ok(self.last()))
    }

    /// Whether a run can be claimed without looking at its keys: nothing was written since, and nobody else claims
    /// anything. This is the common case for a load, whose own rows are not written yet.
    fn is_nothing_since(&self, asked: &ClaimedKeys, run: &ClaimedRun) -> bool {
        let from = TimestampRange::after(run.none_after).from;
        asked.families.into_iter().all(|family| self.recent.is_nothing_from(family, from))
            && self.claims.is_alone(&asked.claim)
    }

    /// The condition that keeps the key with this index from being claimed, if any.
    fn not_free(&mut self, asked: &ClaimedKeys, number: usize, key: &ClaimedKey) -> Result<Option<FailedCondition>> {
        let range = TimestampRange::after(key.none_after);
        for (place, family) in asked.families.into_iter().enumerate() {
            if let Some(found) = self.first(&key.key, family, range, key.conflicts, None)? {
                return Ok(Some(FailedCondition::Newer { index: 2 * number + place, found }));
            }
        }
        let claimed = self.claims.conflict(&key.key, key.conflicts, Some(&asked.claim));
        Ok(claimed.then_some(FailedCondition::Claimed { index: 2 * number }))
    }

    /// The newest commit timestamp, the group's own commits included.
    fn last(&self) -> Timestamp {
        self.admitted.newest.unwrap_or(self.visible)
    }

    /// The first of these conditions that fails.
    fn newer(&mut self, conditions: &[CommitCondition], own: Option<&Claim>) -> Result<Option<FailedCondition>> {
        for (index, condition) in conditions.iter().enumerate() {
            let range = TimestampRange::after(condition.none_after);
            if let Some(found) = self.first(&condition.key, condition.family, range, condition.class, None)? {
                return Ok(Some(FailedCondition::Newer { index, found }));
            }
            if self.claims.conflict(&condition.key, condition.class, own) {
                return Ok(Some(FailedCondition::Claimed { index }));
            }
        }
        Ok(None)
    }

    /// The first of these conditions that fails.
    fn not_held(&mut self, conditions: &[(Bytes, Condition)]) -> Result<Option<FailedCondition>> {
        for (index, (key, condition)) in conditions.iter().enumerate() {
            if !self.holds(key, condition)? {
                return Ok(Some(FailedCondition::Row { index }));
            }
        }
        Ok(None)
    }

    /// The first condition of a batch that fails. The claim `own` is ignored.
    fn failed(&mut self, batch: &CommitBatch, own: Option<&Claim>) -> Result<Option<FailedCondition>> {
        if let Some(failed) = self.newer(&batch.conditions, own)? {
            return Ok(Some(failed));
        }
        if let Some(failed) = self.not_held(&batch.row_conditions)? {
            return Ok(Some(failed));
        }
        match &batch.reads {
            Some(reads) => self.written_since(reads),
            None => Ok(None),
        }
    }

    fn admit_commit(&mut self, batch: &CommitBatch) -> Answer {
        if let Some(failed) = self.failed(batch, None)? {
            return Ok(Err(failed));
        }
        let last = self.last();
        let stamp = if batch.publishes {
            let taken = self.timestamps.take(1);
            if taken <= last {
                let failure = StoreError::ReadOnly(format!("the oracle gave out {taken} after {last}"));
                self.admitted.failure = Some(failure.clone());
                return Err(failure);
            }
            self.admitted.newest = Some(taken);
            taken
        } else {
            last
        };
        for cell in &batch.cells {
            let timestamp = match cell.stamp {
                Stamp::AtCommit => stamp,
                Stamp::At(timestamp) => timestamp,
            };
            let (key, family) = (cell.key.clone(), cell.family);
            let change = match cell.value.clone() {
                Some(value) => Change::Set { key, family, timestamp, value },
                None => Change::Remove { key, family, timestamp },
            };
            if batch.private {
                self.admitted.group.push(change);
            } else {
                self.add(change, last);
            }
        }
        Ok(Ok(stamp))
    }

    fn admit_rows(&mut self, conditions: &[Condition], rows: &[RowMutation]) -> Answer {
        if let Some(row) = rows.first() {
            for (index, condition) in conditions.iter().enumerate() {
                if !self.holds(&row.key, condition)? {
                    return Ok(Err(FailedCondition::Row { index }));
                }
            }
        }
        // Every step that can fail comes before the first change.
        let mut decided = Vec::new();
        // The index of each row's first change, because a row may occur twice.
        let mut begins: HashMap<&Bytes, usize> = HashMap::with_capacity(rows.len());
        for row in rows {
            let begin = *begins.entry(&row.key).or_insert(decided.len());
            for mutation in &row.mutations {
                self.decide(&row.key, mutation, begin, &mut decided)?;
            }
        }
        let last = self.last();
        for change in decided {
            self.add(change, last);
        }
        Ok(Ok(self.last()))
    }

    /// Turns a mutation into changes of single cells. `decided[begin..]` holds the row's changes so far.
    fn decide(&mut self, key: &Bytes, mutation: &Mutation, begin: usize, decided: &mut Vec<Change>) -> Result<()> {
        let remove = |family, timestamp| Change::Remove { key: key.clone(), family, timestamp };
        match mutation {
            Mutation::Set { family, timestamp, value } => decided.push(Change::Set {
                key: key.clone(),
                family: *family,
                timestamp: *timestamp,
                value: value.clone(),
            }),
            Mutation::Delete { family, range } if range.from == range.to => {
                decided.push(remove(*family, range.from));
            }
            Mutation::Delete { family, range } => {
                let mut found = Vec::new();
                self.admitted.group.versions(&mut self.reader, key, *family, *range, &mut |timestamp, _| {
                    found.push(timestamp);
                    true
                })?;
                for change in decided.get(begin..).unwrap_or_default() {
                    match change {
                        Change::Set { key: other, family: of, timestamp, .. }
                            if other == key && of == family && range.contains(*timestamp) =>
                        {
                            found.push(*timestamp);
                        }
                        _ => {}
                    }
                }
                decided.extend(found.into_iter().map(|timestamp| remove(*family, timestamp)));
            }
        }
        Ok(())
    }

    /// A write or lock in the ranges of `reads` since they were read, if there is one.
    fn written_since(&mut self, reads: &ReadCondition) -> Result<Option<FailedCondition>> {
        match self.writes.since(reads.none_after, &reads.ranges) {
            Since::Nothing => {}
            Since::Written(key, found) => return Ok(Some(FailedCondition::Read { key, found, locked: false })),
            Since::Forgotten => return Ok(Some(FailedCondition::Forgotten)),
        }
        let Some((class, except)) = reads.locks else { return Ok(None) };
        let counts = |timestamp, value: &[u8]| class.contains(value) && Some(timestamp) != except;
        let lock = |key: &[u8], found| FailedCondition::Read { key: Bytes::copy_from_slice(key), found, locked: true };
        for change in self.admitted.group.changes() {
            if let Change::Set { key, family: Family::Lock, timestamp, value } = change
                && counts(*timestamp, value)
                && contains(&reads.ranges, key)
            {
                return Ok(Some(lock(key, *timestamp)));
            }
        }
        let mut held = None;
        for range in reads.ranges.iter() {
            self.reader.rows(range, Family::Lock, &mut |key, timestamp, value| {
                if counts(timestamp, value) {
                    held = Some(lock(key, timestamp));
                }
                held.is_none()
            })?;
            if held.is_some() {
                break;
            }
        }
        Ok(held)
    }

    /// Adds a change. `after` is the newest commit timestamp before it.
    fn add(&mut self, change: Change, after: Timestamp) {
        match &change {
            Change::Set { key, family, timestamp, value } => {
                self.recent.note(key, *family, value.first().copied().unwrap_or(0), *timestamp);
                if *family == Family::Write {
                    self.writes.note(key, *timestamp, after);
                }
            }
            Change::Remove { key, family, timestamp } => self.recent.forget(key, *family, *timestamp),
            Change::RemoveRange(range) => self.recent.forget_range(range),
        }
        self.admitted.group.push(change);
    }

    fn holds(&mut self, key: &Bytes, condition: &Condition) -> Result<bool> {
        match condition {
            Condition::NoCell { family, range, class, except } => {
                Ok(self.first(key, *family, *range, *class, *except)?.is_none())
            }
            Condition::CellEquals { family, timestamp, value } => {
                let (mut equal, range) = (false, TimestampRange::at(*timestamp));
                self.admitted.group.versions(&mut self.reader, key, *family, range, &mut |_, found| {
                    equal = found == &value[..];
                    false
                })?;
                Ok(equal)
            }
        }
    }

    /// A cell of these classes and versions other than `except`, if there is one.
    fn first(
        &mut self,
        key: &Bytes,
        family: Family,
        range: TimestampRange,
        class: ClassRange,
        except: Option<Timestamp>,
    ) -> Result<Option<Timestamp>> {
        match self.recent.newest_from(key, family, range.from, class) {
            Known::Newest(found) if found <= range.to && Some(found) != except => return Ok(Some(found)),
            Known::None => return Ok(None),
            // Only the newest cell of a class is remembered, so the store must be asked.
            Known::Newest(_) | Known::AskStore => {}
        }
        let mut first = None;
        self.admitted.group.versions(&mut self.reader, key, family, range, &mut |timestamp, value| {
            if class.contains(value) && Some(timestamp) != except {
                first = Some(timestamp);
            }
            first.is_none()
        })?;
        Ok(first)
    }
}
