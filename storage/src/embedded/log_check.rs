//! Checks RocksDB's logs before RocksDB reads them: a log damaged in its middle must be reported, never
//! opened as a shorter history.
//!
//! RocksDB's mode TolerateCorruptedTailRecords takes a record that seems to reach beyond the last block for
//! the torn end of a crash, and a record whose type byte became that of a recycled log for the end of the log.
//! One flipped bit makes either out of synced commits. So every log is walked here, checksum by checksum
//! (logs are bounded by the size of the memtables): where the first damage is followed by the start of
//! another intact record, the store is corrupted; where nothing follows, it may be the write that a crash
//! interrupted, which nobody was told of, and which is cut off. Such a write shows it: the file ends before the
//! record does, or a sector of it never arrived and reads as zeroes. A last record that is all there and yet
//! does not match its checksum was changed later, and is reported. (After a power failure, a hole before
//! an intact record can also come from commits that nobody was told of: several groups are written while the one before is synced,
//! and with `synchronous_commit = off` none waits. It is reported all the same: here nothing tells it from damage.)
//!
//! The format is RocksDB's log_format.h: blocks of 32 KiB; fragments of a masked CRC-32C over type and
//! payload, a length of two bytes, a type, the payload. The manifest has it too.

use crate::error::{Result, StoreError};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

const BLOCK: usize = 32 << 10;
const HEADER: usize = 7;
/// What a disk writes whole or not at all.
const SECTOR: usize = 512;
const FULL: u8 = 1;
const FIRST: u8 = 2;
const LAST: u8 = 4;
/// What RocksDB writes besides: compression type, sizes of user timestamps, predecessor.
const OTHERS: [u8; 3] = [9, 10, 130];

/// What a walk over a log found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Every fragment is intact.
    Intact,
    /// From this offset on nothing can be read, and nothing intact begins behind.
    Torn(usize),
    /// Damage at the first offset, an intact record at the second.
    Damaged(usize, usize),
    /// Damage at this offset that no interrupted write leaves.
    Changed(usize),
}

/// Checks the logs and the manifest in a directory of RocksDB; cuts off the torn end of the newest log.
/// Errors: `Corrupted`, `Io`.
pub fn check(directory: &Path) -> Result<()> {
    let failed = |path: &Path, error: std::io::Error| StoreError::Io(format!("{}: {error}", path.display()));
    if !directory.exists() {
        return Ok(());
    }
    check_manifest(directory)?;
    let mut logs: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| failed(directory, error))? {
        let path = entry.map_err(|error| failed(directory, error))?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        if let (Some(number), Some(true)) = (number, path.extension().map(|extension| extension == "log")) {
            logs.push((number, path));
        }
    }
    logs.sort();
    let mut torn: Option<(PathBuf, usize)> = None;
    for (_, path) in logs {
        let content = fs::read(&path).map_err(|error| failed(&path, error))?;
        let verdict = walk(&content);
        let begins = match verdict {
            Verdict::Torn(offset) => offset > 0,
            Verdict::Intact | Verdict::Damaged(..) | Verdict::Changed(_) => !content.is_empty(),
        };
        if let (Some((earlier, offset)), true) = (&torn, begins) {
            return Err(damaged(earlier, *offset, "and a later log is not empty"));
        }
        match verdict {
            Verdict::Intact => {}
            Verdict::Torn(offset) if torn.is_none() => torn = Some((path, offset)),
            Verdict::Torn(_) => {}
            Verdict::Damaged(offset, next) => {
                return Err(damaged(&path, offset, &format!("and an intact record follows at {next}")));
            }
            Verdict::Changed(offset) => return Err(damaged(&path, offset, CHANGED)),
        }
    }
    if let Some((path, offset)) = torn {
        let file = OpenOptions::new().write(true).open(&path).map_err(|error| failed(&path, error))?;
        tracing::warn!(log = %path.display(), offset, "cutting off a write that a crash interrupted");
        file.set_len(offset as u64).and_then(|()| file.sync_all()).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

const CHANGED: &str = "in a record that was written whole";

fn damaged(path: &Path, offset: usize, more: &str) -> StoreError {
    StoreError::Corrupted(format!("{} is damaged at byte {offset}, {more}", path.display()))
}

fn check_manifest(directory: &Path) -> Result<()> {
    let Ok(current) = fs::read_to_string(directory.join("CURRENT")) else {
        // A new store, or RocksDB will say what is missing.
        return Ok(());
    };
    let path = directory.join(current.trim_end());
    let content =
        fs::read(&path).map_err(|error| StoreError::Corrupted(format!("manifest {}: {error}", path.display())))?;
    match walk(&content) {
        Verdict::Damaged(offset, next) => {
            Err(damaged(&path, offset, &format!("and an intact record follows at {next}")))
        }
        Verdict::Changed(offset) => Err(damaged(&path, offset, CHANGED)),
        Verdict::Intact | Verdict::Torn(_) => Ok(()),
    }
}

fn masked_checksum(kind: u8, payload: &[u8]) -> u32 {
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&[kind]), payload);
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Type and length with header of the intact fragment at `offset`.
fn fragment(content: &[u8], offset: usize) -> Option<(u8, usize)> {
    let block_end = (offset / BLOCK + 1).checked_mul(BLOCK)?.min(content.len());
    let block = content.get(offset..block_end)?;
    let (header, behind) = block.split_first_chunk::<HEADER>()?;
    let [c0, c1, c2, c3, low, high, kind] = *header;
    let length = usize::from(u16::from_le_bytes([low, high]));
    let payload = behind.get(..length)?;
    if !(FULL..=LAST).contains(&kind) && !OTHERS.contains(&kind) {
        return None;
    }
    (masked_checksum(kind, payload) == u32::from_le_bytes([c0, c1, c2, c3])).then_some((kind, HEADER + length))
}

/// Whether the damage at `offset`, behind which no record starts, may be a write that a crash interrupted.
fn is_interrupted(content: &[u8], offset: usize) -> bool {
    let mut begin = offset;
    while begin < content.len() {
        let end = ((begin / SECTOR + 1) * SECTOR).min(content.len());
        if content.get(begin..end).is_some_and(|sector| sector.iter().all(|byte| *byte == 0)) {
            return true;
        }
        begin = end;
    }
    let block_end = ((offset / BLOCK + 1) * BLOCK).min(content.len());
    let Some((header, behind)) = content.get(offset..block_end).and_then(|block| block.split_first_chunk::<HEADER>())
    else {
        return true;
    };
    let [c0, c1, c2, c3, low, high, _] = *header;
    let reaches_beyond = usize::from(u16::from_le_bytes([low, high])) > behind.len();
    // The length itself may be what changed: then the rest matches its checksum.
    let stored = u32::from_le_bytes([c0, c1, c2, c3]);
    reaches_beyond && block_end == content.len() && !(FULL..=LAST).any(|kind| masked_checksum(kind, behind) == stored)
}

fn is_trailer(content: &[u8], offset: usize) -> bool {
    let left = BLOCK - offset % BLOCK;
    left < HEADER && content.get(offset..).is_some_and(|rest| rest.iter().take(left).all(|byte| *byte == 0))
}

fn walk(content: &[u8]) -> Verdict {
    let mut offset = 0;
    while offset < content.len() {
        match fragment(content, offset) {
            Some((_, length)) => offset += length,
            None if is_trailer(content, offset) => offset = (offset / BLOCK + 1) * BLOCK,
            None => break,
        }
    }
    if offset >= content.len() {
        return Verdict::Intact;
    }
    match next_record(content, offset) {
        Some(next) => Verdict::Damaged(offset, next),
        None if is_interrupted(content, offset) => Verdict::Torn(offset),
        None => Verdict::Changed(offset),
    }
}

/// The offset of the first intact fragment behind `damage` that starts a record. Fragments that
/// continue one do not count: pages of one interrupted write may reach the disk in any order.
fn next_record(content: &[u8], damage: usize) -> Option<usize> {
    let starts = |offset: &usize| matches!(fragment(content, *offset), Some((kind, _)) if kind == FULL || kind == FIRST || OTHERS.contains(&kind));
    let block_end = ((damage / BLOCK + 1) * BLOCK).min(content.len());
    if let Some(found) = (damage + 1..block_end).find(starts) {
        return Some(found);
    }
    // Fragments never cross a block, so the following ones are walked from their starts.
    let mut block = block_end;
    while block < content.len() {
        let mut offset = block;
        while let Some((_, length)) = fragment(content, offset) {
            if starts(&offset) {
                return Some(offset);
            }
            offset += length;
            if offset / BLOCK != block / BLOCK {
                break;
            }
        }
        block += BLOCK;
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn push(log: &mut Vec<u8>, kind: u8, payload: &[u8]) {
        log.extend(masked_checksum(kind, payload).to_le_bytes());
        log.extend((payload.len() as u16).to_le_bytes());
        log.push(kind);
        log.extend(payload);
    }

    #[test]
    fn damage_is_told_from_a_torn_end() {
        let payload: Vec<u8> = (1..=100).collect();
        let mut log = Vec::new();
        for _ in 0..10 {
            push(&mut log, FULL, &payload);
        }
        assert_eq!(walk(&log), Verdict::Intact);
        assert_eq!(walk(&log[..log.len() - 1]), Verdict::Torn(9 * 107));
        for bit in 0..9 * 107 * 8 {
            let mut flipped = log.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let record = bit / 8 / 107 * 107;
            assert!(matches!(walk(&flipped), Verdict::Damaged(at, _) if at == record), "bit {bit}");
        }
        for bit in 9 * 107 * 8..log.len() * 8 {
            let mut flipped = log.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(walk(&flipped), Verdict::Changed(9 * 107), "bit {bit}");
        }
        for length in 9 * 107 + 1..log.len() {
            assert_eq!(walk(&log[..length]), Verdict::Torn(9 * 107), "cut at {length}");
        }
    }

    #[test]
    fn a_hole_in_one_interrupted_write_is_a_torn_end() {
        let mut log = Vec::new();
        push(&mut log, FULL, &[1; 10]);
        let begin = log.len();
        push(&mut log, FIRST, &vec![2; BLOCK - begin - HEADER]);
        push(&mut log, 3, &vec![2; BLOCK - HEADER]);
        push(&mut log, LAST, &[2; 100]);
        assert_eq!(walk(&log), Verdict::Intact);
        log[BLOCK..BLOCK + 4096].fill(0);
        assert_eq!(walk(&log), Verdict::Torn(BLOCK));
        push(&mut log, FULL, &[3; 10]);
        assert!(matches!(walk(&log), Verdict::Damaged(BLOCK, _)));
    }
}
