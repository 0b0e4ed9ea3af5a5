//! [`SortedRun`]: an immutable, sorted part of a transaction's buffer in a temporary file. The operating system
//! removes the file when the process ends, however it ends.

use crate::buffer::Version;
use crate::error::{Result, TxnError};
use crate::lock::LockStrength;
use crate::transaction::WriteKind;
use crate::version_table::Entry;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::Path;
use storage::{RowRange, StoreError};

/// A block is closed when it holds this many bytes. A look-up reads one block and walks over its entries.
const BLOCK_BYTES: usize = 8 * 1024;
/// How many bytes of blocks a range reads at once.
const READ_AHEAD: usize = 64 * 1024;
/// Bits of the bloom filter per key: about one false positive in a hundred.
const FILTER_BITS_PER_KEY: usize = 10;
const FILTER_PROBES: u64 = 7;

struct Block {
    first_key: Bytes,
    offset: u64,
    length: usize,
}

/// A sorted run of entries in a temporary file.
pub(crate) struct SortedRun {
    file: File,
    blocks: Vec<Block>,
    filter: Vec<u64>,
    /// The block of the last look-up, by its number. Look-ups come in key order, as a scan gives the keys.
    last: Mutex<Option<(usize, Bytes)>>,
}

impl SortedRun {
    /// Writes `entries`, in key order, to a file in `folder`.
    pub(crate) fn write<'a>(folder: &Path, entries: impl ExactSizeIterator<Item = Entry<'a>>) -> Result<SortedRun> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(spill)?;
        let file = tempfile::tempfile_in(folder).map_err(spill)?;
        let words = (entries.len() * FILTER_BITS_PER_KEY).div_ceil(64).max(1);
        let mut run = SortedRun { file, blocks: Vec::new(), filter: vec![0; words], last: Mutex::new(None) };
        let mut offset = 0;
        let mut block = BytesMut::with_capacity(BLOCK_BYTES * 2);
        let mut first_key = Bytes::new();
        let mut out = BufWriter::with_capacity(1 << 20, run.file.try_clone().map_err(spill)?);
        let mut close = |block: &mut BytesMut, first_key: &Bytes, blocks: &mut Vec<Block>| -> Result<()> {
            out.write_all(block).map_err(spill)?;
            blocks.push(Block { first_key: first_key.clone(), offset, length: block.len() });
            offset += block.len() as u64;
            block.clear();
            Ok(())
        };
        for entry in entries {
            let key = entry.key();
            if block.is_empty() {
                first_key = Bytes::copy_from_slice(key);
            }
            entry.with_versions(|versions| encode(&mut block, key, versions));
            set(&mut run.filter, key);
            if block.len() >= BLOCK_BYTES {
                close(&mut block, &first_key, &mut run.blocks)?;
            }
        }
        if !block.is_empty() {
            close(&mut block, &first_key, &mut run.blocks)?;
        }
        out.flush().map_err(spill)?;
        Ok(run)
    }

    /// The memory of the index and the filter, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        BLOCK_BYTES + self.filter.len() * 8 + self.blocks.iter().map(|block| block.first_key.len() + 48).sum::<usize>()
    }

    /// Appends the versions of `key` to `found`.
    pub(crate) fn get(&self, key: &[u8], found: &mut Vec<Version>) -> Result<()> {
        if !is_set(&self.filter, key) {
            return Ok(());
        }
        let after = self.blocks.partition_point(|block| block.first_key <= key);
        let Some(at) = after.checked_sub(1) else { return Ok(()) };
        let Some(block) = self.blocks.get(at) else { return Ok(()) };
        let mut last = self.last.lock();
        let bytes = match &*last {
            Some((number, bytes)) if *number == at => bytes.clone(),
            _ => {
                let bytes = self.read(block.offset, block.length)?;
                *last = Some((at, bytes.clone()));
                bytes
            }
        };
        drop(last);
        find(bytes, key, found).ok_or_else(damaged)
    }

    /// The entries in `range`, in key order.
    pub(crate) fn range(&self, range: &RowRange, reverse: bool) -> Range<'_> {
        let first = self.blocks.partition_point(|block| block.first_key <= range.start).saturating_sub(1);
        let last = match &range.end {
            Some(end) => self.blocks.partition_point(|block| block.first_key < *end),
            None => self.blocks.len(),
        };
        Range { run: self, range: range.clone(), reverse, first, last: last.max(first), blocks: 1, entries: None }
    }

    fn read(&self, offset: u64, length: usize) -> Result<Bytes> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset).map_err(spill)?;
        Ok(Bytes::from(bytes))
    }
}

/// The entries of a run in a range, in key order. It reads one block first and then more at a time, because many ranges end
/// early.
pub(crate) struct Range<'a> {
    run: &'a SortedRun,
    range: RowRange,
    reverse: bool,
    /// The blocks that are left.
    first: usize,
    last: usize,
    /// How many blocks to read next.
    blocks: usize,
    entries: Option<Entries>,
}

/// The entries of some blocks.
enum Entries {
    /// In the order of their bytes.
    Forward(Bytes),
    /// Decoded, the next one last.
    Backward(Vec<(Bytes, Vec<Version>)>),
}

impl Range<'_> {
    fn more(&mut self) -> Result<Option<Entries>> {
        let count = self.blocks.min(self.last - self.first);
        self.blocks = (self.blocks * 2).min(READ_AHEAD / BLOCK_BYTES);
        let part = match self.reverse {
            true => self.last - count..self.last,
            false => self.first..self.first + count,
        };
        let Some(blocks) = self.run.blocks.get(part) else { return Ok(None) };
        let Some(block) = blocks.first() else { return Ok(None) };
        let mut bytes = self.run.read(block.offset, blocks.iter().map(|block| block.length).sum())?;
        if self.reverse {
            self.last -= count;
            let mut entries = decode(bytes).ok_or_else(damaged)?;
            entries.retain(|(key, _)| self.range.contains(key));
            return Ok(Some(Entries::Backward(entries)));
        }
        self.first += count;
        skip_to(&mut bytes, &self.range.start).ok_or_else(damaged)?;
        Ok(Some(Entries::Forward(bytes)))
    }
}

impl Iterator for Range<'_> {
    type Item = Result<(Bytes, Vec<Version>)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match &mut self.entries {
                Some(Entries::Forward(bytes)) if bytes.has_remaining() => {
                    let Some((key, versions)) = entry(bytes) else { return Some(Err(damaged())) };
                    if self.range.end.as_ref().is_some_and(|end| key >= *end) {
                        (self.first, self.entries) = (self.last, None);
                        return None;
                    }
                    return Some(Ok((key, versions)));
                }
                Some(Entries::Backward(entries)) if !entries.is_empty() => return entries.pop().map(Ok),
                _ => match self.more() {
                    Ok(Some(entries)) => self.entries = Some(entries),
                    Ok(None) => return None,
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }
}

fn damaged() -> TxnError {
    TxnError::Spill("damaged temporary file".into())
}

fn spill(error: std::io::Error) -> TxnError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            StoreError::DiskFull(format!("no room for what a transaction has written: {error}")).into()
        }
        _ => TxnError::Spill(error.to_string()),
    }
}

fn hash(key: &[u8]) -> u64 {
    // FNV-1a, then a finaliser: good enough for a filter, and the same on every machine.
    let mut hash = key
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^ (hash >> 29)
}

fn probes(key: &[u8], words: usize) -> impl Iterator<Item = (usize, u64)> {
    let hash = hash(key);
    let (a, b) = (hash, hash.rotate_left(32) | 1);
    (0..FILTER_PROBES).map(move |probe| {
        let bit = a.wrapping_add(probe.wrapping_mul(b)) % (words as u64 * 64);
        ((bit / 64) as usize, 1 << (bit % 64))
    })
}

fn set(filter: &mut [u64], key: &[u8]) {
    for (word, bit) in probes(key, filter.len()) {
        if let Some(word) = filter.get_mut(word) {
            *word |= bit;
        }
    }
}

fn is_set(filter: &[u64], key: &[u8]) -> bool {
    probes(key, filter.len()).all(|(word, bit)| filter.get(word).is_some_and(|word| word & bit != 0))
}

fn encode(out: &mut BytesMut, key: &[u8], versions: &[Version]) {
    out.put_u32(key.len() as u32);
    out.put_slice(key);
    out.put_u32(versions.len() as u32);
    for version in versions {
        out.put_u32(version.command);
        out.put_u8(version.strength as u8);
        match &version.kind {
            WriteKind::Put(value) => {
                out.put_u8(b'P');
                out.put_u32(value.len() as u32);
                out.put_slice(value);
            }
            WriteKind::Delete => out.put_u8(b'D'),
            WriteKind::Lock => out.put_u8(b'L'),
        }
    }
}

/// Appends the versions of `key` in a block to `found`. `None` if the block is damaged.
fn find(mut bytes: Bytes, key: &[u8], found: &mut Vec<Version>) -> Option<()> {
    skip_to(&mut bytes, key)?;
    if bytes.has_remaining() {
        let (here, versions) = entry(&mut bytes)?;
        if here == key {
            found.extend(versions);
        }
    }
    Some(())
}

/// Steps over the entries before `key`, without copies of them. `None` if the block is damaged.
fn skip_to(bytes: &mut Bytes, key: &[u8]) -> Option<()> {
    let mut rest = bytes.as_ref();
    loop {
        let at = bytes.len() - rest.len();
        if rest.is_empty() {
            bytes.advance(at);
            return Some(());
        }
        let length = rest.try_get_u32().ok()? as usize;
        if rest.get(..length)? >= key {
            bytes.advance(at);
            return Some(());
        }
        rest.advance(length);
        for _ in 0..rest.try_get_u32().ok()? {
            rest.try_get_u32().ok()?;
            rest.try_get_u8().ok()?;
            if rest.try_get_u8().ok()? == b'P' {
                let length = rest.try_get_u32().ok()? as usize;
                rest = rest.get(length..)?;
            }
        }
    }
}

fn decode(mut bytes: Bytes) -> Option<Vec<(Bytes, Vec<Version>)>> {
    let mut entries = Vec::new();
    while bytes.has_remaining() {
        entries.push(entry(&mut bytes)?);
    }
    Some(entries)
}

fn entry(bytes: &mut Bytes) -> Option<(Bytes, Vec<Version>)> {
    let length = bytes.try_get_u32().ok()? as usize;
    let key = take(bytes, length)?;
    let count = bytes.try_get_u32().ok()?;
    // No more versions than bytes can hold, in case the count is damaged.
    let mut versions = Vec::with_capacity((count as usize).min(bytes.len()));
    for _ in 0..count {
        versions.push(version(bytes)?);
    }
    Some((key, versions))
}

fn version(bytes: &mut Bytes) -> Option<Version> {
    let command = bytes.try_get_u32().ok()?;
    let strength = LockStrength::from_class(bytes.try_get_u8().ok()?)?;
    let kind = match bytes.try_get_u8().ok()? {
        b'P' => {
            let length = bytes.try_get_u32().ok()? as usize;
            WriteKind::Put(take(bytes, length)?)
        }
        b'D' => WriteKind::Delete,
        b'L' => WriteKind::Lock,
        _ => return None,
    };
    Some(Version { command, strength, kind })
}

fn take(bytes: &mut Bytes, length: usize) -> Option<Bytes> {
    (bytes.len() >= length).then(|| bytes.split_to(length))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// A run of many blocks, in which every even number is a key, and what it holds.
    fn many_blocks() -> (SortedRun, Vec<(Bytes, Vec<Version>)>) {
        let folder = tempfile::tempdir().unwrap();
        let model: Vec<(Bytes, Vec<Version>)> = (0..20_000_u32)
            .map(|number| {
                let kind = match number % 3 {
                    0 => WriteKind::Put(Bytes::from(vec![b'v'; number as usize % 50])),
                    1 => WriteKind::Delete,
                    _ => WriteKind::Lock,
                };
                let version = Version { command: number, strength: LockStrength::Update, kind };
                (Bytes::from((2 * number).to_be_bytes().to_vec()), vec![version; 1 + number as usize % 2])
            })
            .collect();
        let mut table = crate::version_table::VersionTable::default();
        for (key, versions) in &model {
            table.versions_of(key.clone()).extend(versions.iter().cloned());
        }
        let run = SortedRun::write(folder.path(), table.iter()).unwrap();
        assert!(run.blocks.len() > 40, "{}", run.blocks.len());
        (run, model)
    }

    #[test]
    fn every_key_is_found_and_no_other() {
        let (run, model) = many_blocks();
        // In order, and then each far from the last one.
        for step in [1, 7_919] {
            for at in (0..model.len()).map(|at| at * step % model.len()) {
                let (key, versions) = &model[at];
                let mut found = Vec::new();
                run.get(key, &mut found).unwrap();
                assert_eq!(&found, versions);
            }
        }
        for number in [1_u32, 777, 39_999, 50_000] {
            let mut found = Vec::new();
            run.get(&number.to_be_bytes(), &mut found).unwrap();
            assert_eq!(found, []);
        }
    }

    #[test]
    fn a_range_is_what_lies_in_it_both_ways() {
        let (run, model) = many_blocks();
        let key = |number: u32| Bytes::from(number.to_be_bytes().to_vec());
        for (from, to) in
            [(0, 40_000), (0, 1), (3, 3), (3, 4), (1_001, 1_003), (999, 20_001), (39_998, 60_000), (50_000, 60_000)]
        {
            let range = RowRange { start: key(from), end: Some(key(to)) };
            let mut expected: Vec<_> = model.iter().filter(|(key, _)| range.contains(key)).cloned().collect();
            assert_eq!(run.range(&range, false).collect::<Result<Vec<_>>>().unwrap(), expected, "{from}..{to}");
            expected.reverse();
            assert_eq!(run.range(&range, true).collect::<Result<Vec<_>>>().unwrap(), expected, "{from}..{to}");
        }
        let all = RowRange { start: Bytes::new(), end: None };
        assert_eq!(run.range(&all, false).count(), model.len());
    }

    #[test]
    fn a_full_disk_is_told_from_other_errors() {
        let full = spill(std::io::Error::from_raw_os_error(28));
        assert!(matches!(full, TxnError::Store(StoreError::DiskFull(_))), "{full:?}");
        let other = spill(std::io::Error::from_raw_os_error(5));
        assert!(matches!(other, TxnError::Spill(_)), "{other:?}");
    }
}
