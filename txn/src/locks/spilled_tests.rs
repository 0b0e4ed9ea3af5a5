//! Compares spilled locks with listed ones: the same rows are free, and the same waits end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::call::{Taken, WantedLock};
use super::locker::Acquired;
use super::*;
use crate::LockStrength::{self, *};
use crate::buffer::Buffer;
use crate::transaction::CommandNumber;
use bytes::Bytes;
use futures::FutureExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use storage::testing::SimEnv;

const FOREVER: LockWait = LockWait::For(None);

fn wanted(row: &str, strength: LockStrength) -> WantedLock {
    let tag = Bytes::copy_from_slice(row.as_bytes());
    WantedLock { name: LockName::row(&tag), mode: LockMode::of_row(strength), tag }
}

/// A transaction with its own locker.
struct Holder {
    locker: Arc<Locker>,
    acquired: Acquired,
    folder: Arc<Path>,
}

impl Holder {
    fn new(table: &Arc<LockTable>, label: i32, most_listed: usize, folder: &Path) -> Holder {
        Holder { locker: table.locker(label), acquired: Acquired::new(most_listed), folder: folder.into() }
    }

    /// Locks rows for `command`. Each run of the buffer holds one row.
    async fn take(
        &self,
        rows: &[(&str, LockStrength)],
        wait: LockWait,
        command: CommandNumber,
    ) -> Result<Vec<Taken>, LockFailure> {
        let rows = rows.iter().map(|(row, strength)| wanted(row, *strength)).collect();
        let spill = || Some(Buffer::new(0, Some(self.folder.clone())));
        match self.locker.acquire_all(rows, wait, &self.acquired, command, spill).await {
            (taken, None) => Ok(taken),
            (_, Some(failure)) => Err(failure),
        }
    }

    fn try_take(&self, row: &str, strength: LockStrength, command: CommandNumber) -> bool {
        let taken = self.take(&[(row, strength)], LockWait::No, command).now_or_never().expect("no wait");
        taken.unwrap() != [Taken::Held]
    }

    fn roll_back_to(&self, command: CommandNumber) {
        self.acquired.release_from(&self.locker, command);
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn whatever_is_done_the_same_rows_are_free() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 1..=25 {
        let mut random = Random(seed);
        let tables = [LockTable::new(SimEnv::new(1)), LockTable::new(SimEnv::new(1))];
        let most = [usize::MAX, random.below(4) as usize];
        let holders: Vec<[Holder; 2]> = (1..=3)
            .map(|label| [0, 1].map(|side| Holder::new(&tables[side], label, most[side], folder.path())))
            .collect();
        let mut commands = [1; 3];
        for step in 0..120 {
            let who = random.below(3) as usize;
            let row = ["a", "b", "c", "d", "e"][random.below(5) as usize];
            let strength = [KeyShare, Share, NoKeyUpdate, Update][random.below(4) as usize];
            let back = random.below(u64::from(commands[who])) as CommandNumber + 1;
            let what = random.below(20);
            let answers = holders[who].each_ref().map(|holder| match what {
                0 => {
                    holder.acquired.release_rows(&holder.locker);
                    true
                }
                1 | 2 => {
                    holder.roll_back_to(back);
                    true
                }
                _ => holder.try_take(row, strength, commands[who]),
            });
            assert_eq!(answers[0], answers[1], "seed {seed} step {step}: {who} takes {row} {strength:?}");
            // Numbers of rolled-back commands are not used again.
            commands[who] += u32::from(what <= 2 || random.below(3) == 0);
        }
        for pair in &holders {
            pair.iter().for_each(|holder| holder.roll_back_to(0));
        }
        assert_eq!(tables.each_ref().map(|table| table.held()), [0, 0], "seed {seed}");
    }
}

#[test]
fn a_spilled_row_is_waited_for_until_it_is_given_back() {
    let (env, folder) = (SimEnv::new(1), tempfile::tempdir().unwrap());
    let table = LockTable::new(env.clone());
    let (one, two) = (Holder::new(&table, 1, 0, folder.path()), Holder::new(&table, 2, 0, folder.path()));
    env.clone()
        .block_on(async move {
            one.take(&[("a", Update), ("b", KeyShare)], FOREVER, 1).await.unwrap();
            one.take(&[("c", Update)], FOREVER, 2).await.unwrap();
            assert_eq!(table.held(), 0, "no memory a row");
            let short = LockWait::For(Some(Duration::from_millis(5)));
            assert_eq!(two.take(&[("a", KeyShare)], short, 1).await, Err(LockFailure::TimedOut));
            assert_eq!(two.take(&[("b", NoKeyUpdate)], FOREVER, 1).await, Ok(vec![Taken::Newly]), "they go together");
            let mut waits = Box::pin(two.take(&[("c", Share)], FOREVER, 2));
            assert!(waits.as_mut().now_or_never().is_none());
            let waiting = table.waiting();
            assert_eq!((waiting[0].label, &waiting[0].blocked_by[..]), (2, &[1][..]));
            one.roll_back_to(2);
            assert_eq!(waits.await, Ok(vec![Taken::Newly]));
            let mut waits = Box::pin(two.take(&[("a", Share)], FOREVER, 3));
            assert!(waits.as_mut().now_or_never().is_none());
            let circle = one.take(&[("c", Update)], FOREVER, 3).await;
            assert!(matches!(&circle, Err(LockFailure::Deadlock(members)) if members.len() == 2), "{circle:?}");
            one.roll_back_to(0);
            assert_eq!(waits.await, Ok(vec![Taken::Newly]));
            two.roll_back_to(0);
            assert_eq!(table.held(), 0);
        })
        .unwrap();
}

#[test]
fn a_full_disk_is_told_and_the_row_stays_locked() {
    let folder = tempfile::tempdir().unwrap();
    let table = LockTable::new(SimEnv::new(1));
    let file = folder.path().join("no folder");
    std::fs::write(&file, "").unwrap();
    let (one, two) = (Holder::new(&table, 1, 0, &file), Holder::new(&table, 2, 0, folder.path()));
    let failed = one.take(&[("a", Update)], FOREVER, 1).now_or_never().unwrap();
    assert_eq!(failed, Err(LockFailure::NotSpilled { full: false }));
    assert!(!two.try_take("a", KeyShare, 1));
    one.roll_back_to(0);
    assert!(two.try_take("a", KeyShare, 1));
}
