//! Checks RocksDB's logs before RocksDB reads them: a log damaged in its middle must be reported, never opened
//! as a shorter history.
//!
//! RocksDB's mode TolerateCorruptedTailRecords is too lenient. It treats a record that seems to reach beyond the last
//! block as the torn end of a crash. It treats a record with the type byte of a recycled log as the end of the log.
//! One flipped bit turns synced commits into either.
//!
//! So [`check`] walks each log, checksum by checksum (`log_walk.rs` knows the format). Memtables bound the
//! logs' size. The rules:
//!
//! - Damage before an intact record is reported, with one exception. The log is cut off there if a sector reads as
//!   zeroes, and the intact record says that the damaged one was not yet synced. Then the machine lost power before
//!   the sync of both, and neither was acknowledged.
//! - A write that a crash interrupted at the end of the log is cut off: the file ends too early, or
//!   a sector never arrived.
//! - A last record that is complete but does not match its checksum was changed later, and is reported.
//! - A log may begin with a missing sector. Earlier logs of the same process tell the number of the record before.
//! - Zeroes at the end of a log were written ahead of it, and are cut off. If a newer log follows, its first record
//!   must have the next number.

use super::wal_reader::{Verdict, Walk, walk};
use super::wal_trailer::Mark;
use crate::error::{Result, StoreError};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// The logs in a directory of RocksDB with their numbers, oldest first.
pub fn logs(directory: &Path) -> std::io::Result<Vec<(u64, PathBuf)>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        if let (Some(number), Some(true)) = (number, path.extension().map(|extension| extension == "log")) {
            logs.push((number, path));
        }
    }
    logs.sort();
    Ok(logs)
}

fn failed(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Io(format!("{}: {error}", path.display()))
}

/// Checks the logs and the manifest in a directory of RocksDB. Cuts off the zeroes ahead of the logs, and
/// unacknowledged records. Errors: `Corrupted`, `Io`.
pub fn check(directory: &Path) -> Result<()> {
    if !directory.exists() {
        return Ok(());
    }
    check_manifest(directory)?;
    // The logs to cut, with their new lengths.
    let mut ends = Vec::new();
    // The end of history, if it lies before the end of the newest log.
    let mut torn: Option<(PathBuf, usize)> = None;
    // The newest record so far, the log before, and whether zeroes follow that record.
    let (mut newest, mut before, mut zeroes): (Option<Mark>, Option<(PathBuf, usize)>, bool) = (None, None, false);
    for (_, path) in logs(directory).map_err(|error| failed(directory, &error))? {
        let content = fs::read(&path).map_err(|error| failed(&path, &error))?;
        let Walk { verdict, first, last, synced } = walk(&content, newest);
        let length = kept_bytes(&path, &content, verdict)?;
        if length > 0 {
            if torn.is_some() || !goes_on(newest, first, zeroes) {
                if is_behind(newest, first, synced) {
                    torn = torn.or(before.clone());
                    ends.push((path, 0));
                    continue;
                }
                if let (Some((earlier, offset)), true) = (torn.as_ref().or(before.as_ref()), torn.is_some() || zeroes) {
                    return Err(damaged(earlier, *offset, "and a later log does not go on from there"));
                }
            }
            (newest, zeroes) = (last, false);
        }
        if matches!(verdict, Verdict::Torn(_)) {
            tracing::warn!(log = %path.display(), offset = length, "cutting off a write that a crash interrupted");
            torn = torn.or_else(|| Some((path.clone(), length)));
        }
        zeroes |= matches!(verdict, Verdict::Ended(_));
        before = Some((path.clone(), length));
        if length < content.len() {
            ends.push((path, length));
        }
    }
    // The newest first: if the start is interrupted here, no log remains behind a cut one.
    for (path, offset) in ends.into_iter().rev() {
        let file = OpenOptions::new().write(true).open(&path).map_err(|error| failed(&path, &error))?;
        file.set_len(offset as u64).and_then(|()| file.sync_all()).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Whether a log that begins with `first` may follow one that ends with `newest`, with or without `zeroes`
/// behind it. Without zeroes the two may belong to two processes. Each process counts from 1 and cuts off what
/// the one before left unfinished.
fn goes_on(newest: Option<Mark>, first: Option<Mark>, zeroes: bool) -> bool {
    let (Some(first), next) = (first, newest.map_or(1, |newest| newest.number + 1)) else { return !zeroes };
    first.number == next || (!zeroes && (newest.is_none() || first.number < next))
}

/// Whether the process that wrote `newest` to an earlier log also wrote this log, while no record behind `newest` was
/// synced. (Another process counts from 1.)
fn is_behind(newest: Option<Mark>, first: Option<Mark>, synced: u64) -> bool {
    let (Some(newest), Some(first)) = (newest, first) else { return false };
    first.number > newest.number && synced <= newest.number
}

/// How many bytes of a log or a manifest to keep. Errors: it is damaged.
fn kept_bytes(path: &Path, content: &[u8], verdict: Verdict) -> Result<usize> {
    match verdict {
        Verdict::Intact => Ok(content.len()),
        Verdict::Torn(offset) | Verdict::Ended(offset) => Ok(offset),
        Verdict::Damaged(offset, next) => {
            Err(damaged(path, offset, &format!("and an intact record follows at {next}")))
        }
        Verdict::Changed(offset) => Err(damaged(path, offset, "in a record that was written whole")),
    }
}

fn damaged(path: &Path, offset: usize, more: &str) -> StoreError {
    StoreError::Corrupted(format!("{} is damaged at byte {offset}, {more}", path.display()))
}

fn check_manifest(directory: &Path) -> Result<()> {
    let Ok(current) = fs::read_to_string(directory.join("CURRENT")) else {
        // Either the store is new, or RocksDB will report the missing file.
        return Ok(());
    };
    let path = directory.join(current.trim_end());
    let content =
        fs::read(&path).map_err(|error| StoreError::Corrupted(format!("manifest {}: {error}", path.display())))?;
    kept_bytes(&path, &content, walk(&content, None).verdict).map(|_| ())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::super::wal_reader::tests::Log;
    use super::*;

    /// A log of records `first` to `last`, with zeroes behind. Each record says that those up
    /// to `synced` were synced.
    fn log(first: u64, last: u64, synced: u64) -> Vec<u8> {
        let mut log = Log { newest: first - 1, ..Log::default() };
        (first..=last).for_each(|number| log.marked(1000, synced.min(number - 1)));
        log.bytes.resize(log.bytes.len() + 3000, 0);
        log.bytes
    }

    /// Checks logs and answers their new lengths.
    fn checked(logs: &[&[u8]]) -> Result<Vec<usize>> {
        let folder = tempfile::tempdir().unwrap();
        let path = |number: usize| folder.path().join(format!("{number:06}.log"));
        // In the order of numbers, not of names.
        let numbers: Vec<usize> = (0..logs.len()).map(|at| 999_999 + at).collect();
        numbers.iter().zip(logs).for_each(|(number, log)| fs::write(path(*number), log).unwrap());
        check(folder.path())?;
        Ok(numbers.iter().map(|number| fs::metadata(path(*number)).unwrap().len() as usize).collect())
    }

    fn is_refused(logs: &[&[u8]]) -> bool {
        matches!(checked(logs), Err(StoreError::Corrupted(_)))
    }

    const RECORD: usize = 1000 + Mark::REACH + 7;

    #[test]
    fn zeroes_ahead_are_cut_off_where_the_next_log_goes_on() {
        assert_eq!(checked(&[&log(1, 3, 0)]).unwrap(), [3 * RECORD]);
        assert_eq!(checked(&[&log(1, 3, 0), &log(4, 5, 3)]).unwrap(), [3 * RECORD, 2 * RECORD]);
        assert_eq!(checked(&[&log(1, 3, 0), &[0; 9000], &log(4, 5, 3)]).unwrap(), [3 * RECORD, 0, 2 * RECORD]);
        assert_eq!(checked(&[&[0; 9000], &log(1, 1, 0)]).unwrap(), [0, RECORD]);
        for (first, second) in
            [(log(1, 3, 0), log(5, 6, 4)), (log(1, 3, 0), log(1, 2, 0)), (vec![0; 9000], log(2, 3, 0))]
        {
            assert!(is_refused(&[&first, &second]), "records between them are missing");
            assert!(is_refused(&[&first, &[0; 100], &second]));
        }
        // The missing record and all that follow it were not synced.
        let lost = log(1, 3, 0);
        for lost in [&lost[..], &lost[..3 * RECORD]] {
            assert_eq!(checked(&[lost, &log(5, 6, 3), &log(7, 7, 3)]).unwrap(), [3 * RECORD, 0, 0]);
        }
        // Two undamaged logs may belong to two processes.
        let whole = &log(1, 3, 0)[..3 * RECORD];
        assert_eq!(checked(&[whole, &log(1, 1, 0)]).unwrap(), [3 * RECORD, RECORD]);
    }

    #[test]
    fn a_later_log_may_begin_with_what_was_not_synced() {
        let of = |process, first: u64, synced: &[u64], hole: bool| {
            let mut log = Log { newest: first - 1, process, ..Log::default() };
            synced.iter().for_each(|synced| log.marked(1000, *synced));
            if hole {
                log.bytes[512..1024].fill(0);
            }
            log.bytes
        };
        let earlier = of(7, 1, &[0, 0, 1, 2, 3], false);
        assert_eq!(checked(&[&earlier, &of(7, 6, &[3, 4, 5], true)]).unwrap(), [5 * RECORD, 0]);
        assert!(is_refused(&[&earlier, &of(7, 6, &[5, 5, 6], true)]), "it was synced");
        assert!(is_refused(&[&earlier, &of(8, 6, &[3, 4, 5], true)]), "another process begins with 1");
        assert_eq!(checked(&[&earlier, &of(8, 1, &[0, 0, 0], true)]).unwrap(), [5 * RECORD, 0]);
        // Behind it nothing counts.
        let last = of(7, 9, &[5], false);
        assert_eq!(checked(&[&earlier, &of(7, 6, &[3, 4, 5], true), &last]).unwrap(), [5 * RECORD, 0, 0]);
        assert!(is_refused(&[&earlier, &of(7, 6, &[3, 4, 5], true), &of(7, 9, &[6], false)]));
    }

    #[test]
    fn a_later_log_goes_with_a_hole_in_an_earlier_one_unless_that_was_synced() {
        let mut torn = log(1, 5, 2);
        torn[7 * 512..8 * 512].fill(0);
        assert_eq!(checked(&[&torn]).unwrap(), [3 * RECORD]);
        assert_eq!(checked(&[&torn, &log(6, 8, 3), &log(9, 9, 3)]).unwrap(), [3 * RECORD, 0, 0]);
        assert!(is_refused(&[&torn, &log(6, 8, 4)]), "what is missing was synced");
        assert!(is_refused(&[&torn, &log(6, 8, 3), &log(9, 9, 4)]));
        assert!(is_refused(&[&torn, &log(1, 2, 0)]), "another process found it whole");
        let mut torn_too = Log { newest: 5, ..Log::default() };
        [3, 3, 6].into_iter().for_each(|synced| torn_too.marked(2000, synced));
        torn_too.bytes[5 * 512..6 * 512].fill(0);
        assert!(is_refused(&[&torn, &torn_too.bytes]), "what stands behind its own hole says so");
        let mut flipped = log(6, 8, 3);
        flipped[RECORD + 50] ^= 1;
        assert!(is_refused(&[&torn, &flipped]));
    }
}
