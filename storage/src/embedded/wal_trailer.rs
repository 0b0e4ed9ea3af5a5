//! [`Mark`]: the end of a log record, which tells the record's number and the log's state.
//!
//! Several records are written while earlier ones are synced. After a power loss any sectors of unsynced records may
//! be missing, so an intact record may lie behind a hole. The mark tells such a hole, which was never acknowledged,
//! from damage to synced records. RocksDB keeps marks in the log only.

/// The identity of a record, and the state of the log when it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Counts the records of a process, from 1.
    pub number: u64,
    /// The last record that was synced before this one was written. Less than `number`.
    pub synced: u64,
    /// A random number of the writing process. It tells its logs from those of other processes, which also count from
    /// 1. Zero means unknown.
    pub process: u32,
}

/// Ends a mark. It is never zero, so the last sector of a record never looks like a missing one.
const END: [u8; 4] = *b"mark";
/// Size of a mark in bytes.
const BYTES: usize = 24;
/// Size of an old mark, without a process.
const OLD_BYTES: usize = 20;
/// RocksDB's bytes before data for the log alone (`kTypeLogData`): the tag and the length.
const BEFORE: [u8; 2] = [3, BYTES as u8];
const OLD_BEFORE: [u8; 2] = [3, OLD_BYTES as u8];

impl Mark {
    /// How many bytes at the end of a record [`Mark::at_end_of`] needs.
    pub const REACH: usize = BEFORE.len() + BYTES;

    /// The bytes of the mark, which must come last in a write batch.
    pub fn encode(self) -> [u8; BYTES] {
        debug_assert!(self.synced < self.number, "no record is synced before it is written");
        let mut bytes = [0; BYTES];
        let (number, rest) = bytes.split_at_mut(8);
        let (synced, rest) = rest.split_at_mut(8);
        let (process, end) = rest.split_at_mut(4);
        number.copy_from_slice(&self.number.to_be_bytes());
        synced.copy_from_slice(&self.synced.to_be_bytes());
        process.copy_from_slice(&self.process.to_be_bytes());
        end.copy_from_slice(&END);
        bytes
    }

    /// The mark at the end of a record. `None` for records written before marks existed.
    pub fn at_end_of(record: &[u8]) -> Option<Mark> {
        let record = record.strip_suffix(&END)?;
        let told = |bytes: usize, before: [u8; 2]| {
            let (_, reach) = record.split_at_checked(record.len().checked_sub(before.len() + bytes - END.len())?)?;
            reach.strip_prefix(&before)
        };
        let bytes = told(BYTES, BEFORE).or_else(|| told(OLD_BYTES, OLD_BEFORE))?;
        let (number, rest) = bytes.split_first_chunk::<8>()?;
        let (synced, process) = rest.split_first_chunk::<8>()?;
        let process = process.try_into().map_or(0, u32::from_be_bytes);
        Some(Mark { number: u64::from_be_bytes(*number), synced: u64::from_be_bytes(*synced), process })
    }

    /// Whether both marks certainly come from the same process.
    pub fn is_of_process_of(self, other: Mark) -> bool {
        self.process != 0 && self.process == other.process
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_at_the_end_of_a_batch_and_nowhere_else() {
        let mark = Mark { number: 0x0102_0304_0506_0708, synced: 0x0102_0304_0506_0000, process: 0x1122_3344 };
        let mut batch = rocksdb::WriteBatch::default();
        batch.put(b"key", b"value");
        assert_eq!(Mark::at_end_of(batch.data()), None);
        batch.put_log_data(mark.encode());
        assert_eq!(Mark::at_end_of(batch.data()), Some(mark));
        let end = batch.data().len();
        assert_eq!(Mark::at_end_of(&batch.data()[end - Mark::REACH..]), Some(mark));
        assert_eq!(Mark::at_end_of(&batch.data()[end - Mark::REACH + 1..]), None);
        batch.put(b"key", b"value");
        assert_eq!(Mark::at_end_of(batch.data()), None);
        // Marks as they were before they named a process.
        let old = [&[0; 9][..], &[3, 20], &7_u64.to_be_bytes(), &5_u64.to_be_bytes(), b"mark"].concat();
        assert_eq!(Mark::at_end_of(&old), Some(Mark { number: 7, synced: 5, process: 0 }));
    }
}
