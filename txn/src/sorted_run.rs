//! [`SortedRun`]: an immutable, sorted part of a transaction's buffer in a temporary file. The operating system
//! removes the file when the process ends, however it ends.

use crate::buffer::Version;
use crate::error::{Result, TxnError};
use crate::lock::LockStrength;
use crate::transaction::WriteKind;
use crate::version_table::Entry;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::Path;
use storage::{RowRange, StoreError};

/// A block is closed when it holds this many bytes.
const BLOCK_BYTES: usize = 32 * 1024;
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
}

impl SortedRun {
    /// Writes `entries`, in key order, to a file in `folder`.
    pub(crate) fn write<'a>(folder: &Path, entries: impl ExactSizeIterator<Item = Entry<'a>>) -> Result<SortedRun> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(spill)?;
        let file = tempfile::tempfile_in(folder).map_err(spill)?;
        let words = (entries.len() * FILTER_BITS_PER_KEY).div_ceil(64).max(1);
        let mut run = SortedRun { file, blocks: Vec::new(), filter: vec![0; words] };
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
        self.filter.len() * 8 + self.blocks.iter().map(|block| block.first_key.len() + 48).sum::<usize>()
    }

    /// Appends the versions of `key` to `found`.
    pub(crate) fn get(&self, key: &[u8], found: &mut Vec<Version>) -> Result<()> {
        if !is_set(&self.filter, key) {
            return Ok(());
        }
        let after = self.blocks.partition_point(|block| block.first_key <= key);
        let Some(block) = after.checked_sub(1).and_then(|at| self.blocks.get(at)) else { return Ok(()) };
        for (entry_key, versions) in self.read(block)? {
            if entry_key == key {
                found.extend(versions);
                break;
            }
        }
        Ok(())
    }

    /// The entries in `range`, in key order.
    pub(crate) fn range<'a>(
        &'a self,
        range: &RowRange,
        reverse: bool,
    ) -> impl Iterator<Item = Result<(Bytes, Vec<Version>)>> + use<'a> {
        let first = self.blocks.partition_point(|block| block.first_key <= range.start).saturating_sub(1);
        let last = match &range.end {
            Some(end) => self.blocks.partition_point(|block| block.first_key < *end),
            None => self.blocks.len(),
        };
        let blocks = self.blocks.get(first..last.max(first)).unwrap_or_default();
        let range = range.clone();
        let order: Box<dyn Iterator<Item = &'a Block>> =
            if reverse { Box::new(blocks.iter().rev()) } else { Box::new(blocks.iter()) };
        order.flat_map(move |block| match self.read(block) {
            Ok(mut entries) => {
                entries.retain(|(key, _)| range.contains(key));
                if reverse {
                    entries.reverse();
                }
                entries.into_iter().map(Ok).collect::<Vec<_>>()
            }
            Err(error) => vec![Err(error)],
        })
    }

    fn read(&self, block: &Block) -> Result<Vec<(Bytes, Vec<Version>)>> {
        let mut bytes = vec![0; block.length];
        self.file.read_exact_at(&mut bytes, block.offset).map_err(spill)?;
        decode(Bytes::from(bytes)).ok_or_else(|| TxnError::Spill("damaged temporary file".into()))
    }
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

fn decode(mut bytes: Bytes) -> Option<Vec<(Bytes, Vec<Version>)>> {
    let mut entries = Vec::new();
    while bytes.has_remaining() {
        let length = bytes.try_get_u32().ok()? as usize;
        let key = take(&mut bytes, length)?;
        let count = bytes.try_get_u32().ok()?;
        let mut versions = Vec::new();
        for _ in 0..count {
            let command = bytes.try_get_u32().ok()?;
            let strength = LockStrength::from_class(bytes.try_get_u8().ok()?)?;
            let kind = match bytes.try_get_u8().ok()? {
                b'P' => {
                    let length = bytes.try_get_u32().ok()? as usize;
                    WriteKind::Put(take(&mut bytes, length)?)
                }
                b'D' => WriteKind::Delete,
                b'L' => WriteKind::Lock,
                _ => return None,
            };
            versions.push(Version { command, strength, kind });
        }
        entries.push((key, versions));
    }
    Some(entries)
}

fn take(bytes: &mut Bytes, length: usize) -> Option<Bytes> {
    (bytes.len() >= length).then(|| bytes.split_to(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_errors() {
        let full = spill(std::io::Error::from_raw_os_error(28));
        assert!(matches!(full, TxnError::Store(StoreError::DiskFull(_))), "{full:?}");
        let other = spill(std::io::Error::from_raw_os_error(5));
        assert!(matches!(other, TxnError::Spill(_)), "{other:?}");
    }
}
