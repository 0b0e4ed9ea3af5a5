//! [`walk`]: finds the intact records of a RocksDB log or manifest, and classifies any damage.
//!
//! The format is RocksDB's log_format.h: blocks of 32 KiB that hold fragments. A fragment is a masked CRC-32C over
//! type and payload, a length of two bytes, a type, and the payload.

use super::wal_trailer::Mark;
use smallvec::SmallVec;

const BLOCK: usize = 32 << 10;
const HEADER: usize = 7;
/// The unit that a disk writes whole or not at all, in bytes.
const SECTOR: usize = 512;
const FULL: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;
/// RocksDB's other record types: compression type, sizes of user timestamps, predecessor.
const OTHERS: [u8; 3] = [9, 10, 130];

/// The result of a walk over a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every record is intact.
    Intact,
    /// Intact up to this offset, behind which there are only zeroes, written ahead of the log.
    Ended(usize),
    /// The record at this offset was not written completely. Neither it nor any later one was acknowledged.
    Torn(usize),
    /// Damage at the first offset, and an intact record at the second.
    Damaged(usize, usize),
    /// Damage at this offset, of a kind that no interrupted write leaves.
    Changed(usize),
}

/// The contents of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    pub verdict: Verdict,
    /// The marks of the first record, and of the last one before the verdict's offset. `None` without
    /// a record or mark.
    pub first: Option<Mark>,
    pub last: Option<Mark>,
    /// The greatest number up to which an intact record says that the log was synced, records behind
    /// the verdict's offset included.
    pub synced: u64,
}

/// Walks a log checksum by checksum. `before`: the mark of the last intact record in earlier logs.
pub fn walk(content: &[u8], before: Option<Mark>) -> Walk {
    let (mut offset, mut first, mut last, mut records, mut synced) = (0, None, None, 0_u64, 0);
    let stopped = loop {
        if offset >= content.len() {
            break None;
        }
        if is_trailer(content, offset) {
            offset = (offset / BLOCK + 1) * BLOCK;
            continue;
        }
        match fragment(content, offset) {
            Some((kind, payload)) if OTHERS.contains(&kind) => offset += HEADER + payload.len(),
            _ => match record(content, offset) {
                Ok((end, mark)) => {
                    if records == 0 {
                        first = mark;
                    }
                    synced = synced.max(mark.map_or(0, |mark: Mark| mark.synced));
                    (offset, last, records) = (end, mark, records + 1);
                }
                Err(damage) => break Some(damage),
            },
        }
    };
    let verdict = match stopped {
        None => Verdict::Intact,
        Some(_) if content.get(offset..).is_some_and(is_zero) => Verdict::Ended(offset),
        Some(damage) => {
            let last = if records == 0 { Last::Before(before) } else { Last::Here(last) };
            judge(content, offset, damage, last, &mut synced)
        }
    };
    Walk { verdict, first, last, synced }
}

/// The last intact record before damage.
#[derive(Clone, Copy)]
enum Last {
    /// It is in the same log. It may have a mark.
    Here(Option<Mark>),
    /// The log begins with the damage, so it is the last record of earlier logs, if there is one.
    Before(Option<Mark>),
}

impl Last {
    /// The number of the last intact record before damage, in the count of the later record `behind`. `None` if it
    /// cannot be told. A log that does not certainly continue earlier ones is its process's first, and counts from 1.
    fn number(self, behind: Mark) -> Option<u64> {
        match self {
            Last::Here(last) => last.map(|last| last.number),
            Last::Before(last) => {
                Some(last.filter(|last| behind.is_of_process_of(*last)).map_or(0, |last| last.number))
            }
        }
    }
}

/// Judges damage in the record that begins at `begin`, behind the record `last`.
///
/// An intact record behind the damage contradicts a crash, unless it says that the damaged record was not yet synced.
/// A record that is not intact proves nothing.
fn judge(content: &[u8], begin: usize, damage: usize, last: Last, synced: &mut u64) -> Verdict {
    let interrupted = is_interrupted(content, damage);
    let mut at = damage;
    while let Some(next) = next_record(content, at) {
        match record(content, next) {
            Ok((end, mark)) => match (mark.and_then(|mark| last.number(mark)), mark) {
                (Some(last), Some(mark)) if interrupted && mark.synced <= last => {
                    *synced = (*synced).max(mark.synced);
                    at = end - 1;
                }
                _ => return Verdict::Damaged(damage, next),
            },
            Err(_) => at = next,
        }
    }
    if interrupted { Verdict::Torn(begin) } else { Verdict::Changed(damage) }
}

const MASK: u32 = 0xa282_ead8;

fn checksum(kind: u8, payload: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&[kind]), payload)
}

fn masked_checksum(kind: u8, payload: &[u8]) -> u32 {
    checksum(kind, payload).rotate_right(15).wrapping_add(MASK)
}

/// CRC-32C table: the contribution of each byte.
const STEPS: [u32; 256] = {
    let mut steps = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut step, mut bit) = (byte as u32, 0);
        while bit < 8 {
            step = if step & 1 == 1 { (step >> 1) ^ 0x82f6_3b78 } else { step >> 1 };
            bit += 1;
        }
        steps[byte] = step;
        byte += 1;
    }
    steps
};

/// Whether a single flipped bit in a fragment or its checksum explains the mismatch. (A bit's contribution to a
/// checksum depends only on the number of bytes behind it.)
fn is_off_by_a_bit(kind: u8, payload: &[u8], stored: u32) -> bool {
    if (masked_checksum(kind, payload) ^ stored).count_ones() == 1 {
        return true;
    }
    let difference = checksum(kind, payload) ^ stored.wrapping_sub(MASK).rotate_left(15);
    let step = |byte: u32| STEPS.get(byte as usize & 255).copied().unwrap_or_default();
    let mut bits: [u32; 8] = std::array::from_fn(|bit| step(1 << bit));
    for _ in 0..=payload.len() {
        if bits.contains(&difference) {
            return true;
        }
        bits = bits.map(|bit| (bit >> 8) ^ step(bit));
    }
    false
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// The end of the block that contains `offset`, or of the log.
fn end_of_block(content: &[u8], offset: usize) -> usize {
    ((offset / BLOCK + 1) * BLOCK).min(content.len())
}

/// The fragment header at `offset`, and the rest of its block.
fn header(content: &[u8], offset: usize) -> Option<([u8; HEADER], &[u8])> {
    let (header, behind) = content.get(offset..end_of_block(content, offset))?.split_first_chunk::<HEADER>()?;
    Some((*header, behind))
}

/// Type and payload of the intact fragment at `offset`.
fn fragment(content: &[u8], offset: usize) -> Option<(u8, &[u8])> {
    let ([c0, c1, c2, c3, low, high, kind], behind) = header(content, offset)?;
    let payload = behind.get(..usize::from(u16::from_le_bytes([low, high])))?;
    if !(FULL..=LAST).contains(&kind) && !OTHERS.contains(&kind) {
        return None;
    }
    (masked_checksum(kind, payload) == u32::from_le_bytes([c0, c1, c2, c3])).then_some((kind, payload))
}

/// End and mark of the intact record that begins at `offset`. `Err` holds the offset of the damage.
fn record(content: &[u8], mut offset: usize) -> Result<(usize, Option<Mark>), usize> {
    let (mut begun, mut tail) = (false, SmallVec::<[u8; 2 * Mark::REACH]>::new());
    loop {
        if begun && is_trailer(content, offset) {
            offset = (offset / BLOCK + 1) * BLOCK;
        }
        let Some((kind, payload)) = fragment(content, offset) else { return Err(offset.min(content.len())) };
        if (kind == FULL || kind == FIRST) == begun || OTHERS.contains(&kind) {
            return Err(offset);
        }
        tail.extend_from_slice(payload.get(payload.len().saturating_sub(Mark::REACH)..).unwrap_or_default());
        tail.drain(..tail.len().saturating_sub(Mark::REACH));
        offset += HEADER + payload.len();
        begun = true;
        if kind == FULL || kind == LAST {
            return Ok((offset, Mark::at_end_of(&tail)));
        }
    }
}

/// Whether a crash may have interrupted the write at `offset`. Then the log ends before the record does, or a sector
/// never arrived and reads as zeroes.
fn is_interrupted(content: &[u8], offset: usize) -> bool {
    let block_end = end_of_block(content, offset);
    let Some(([c0, c1, c2, c3, low, high, kind], behind)) = header(content, offset) else {
        return block_end == content.len();
    };
    let stored = u32::from_le_bytes([c0, c1, c2, c3]);
    let length = u16::from_le_bytes([low, high]);
    // If a bit of the length was flipped, the payload of the right length matches its checksum.
    let whole = |length: u16| {
        behind
            .get(..usize::from(length))
            .is_some_and(|payload| (FULL..=LAST).any(|kind| masked_checksum(kind, payload) == stored))
    };
    if whole(length) || (0..u16::BITS).any(|bit| whole(length ^ (1 << bit))) {
        return false;
    }
    // The record may contain zeroes itself. A single flipped bit is no missing sector.
    let payload = behind.get(..usize::from(length));
    if payload.is_some_and(|payload| is_off_by_a_bit(kind, payload, stored)) {
        return false;
    }
    let end = offset + HEADER + usize::from(length);
    // The record was added to a sector that was already being written. Then only a part of
    // the record's share arrived.
    let is_end = kind == FULL || kind == LAST;
    let goes_on = (kind == FIRST || kind == MIDDLE) && end == block_end;
    let ends_in_zeroes =
        payload.and_then(|payload| payload.split_last_chunk::<4>()).is_some_and(|(_, end)| is_zero(end));
    if (is_end || goes_on) && ends_in_zeroes {
        return true;
    }
    // The next block, where the record goes on, did not arrive either.
    if goes_on && content.get(end..(end + SECTOR).min(content.len())).is_some_and(is_zero) {
        return true;
    }
    // Only a part of the header may have arrived.
    let end_of_sector = (((offset + HEADER) / SECTOR + 1) * SECTOR).min(block_end);
    if kind == 0 && content.get(offset + HEADER..end_of_sector).is_some_and(is_zero) {
        return true;
    }
    let mut begin = offset;
    while begin < end.min(block_end) {
        // The last sector is checked whole, with what follows the record. A record never ends with zeroes,
        // because of its mark.
        let end = ((begin / SECTOR + 1) * SECTOR).min(content.len());
        if content.get(begin..end).is_some_and(is_zero) {
            return true;
        }
        begin = end;
    }
    end > block_end && block_end == content.len()
}

fn is_trailer(content: &[u8], offset: usize) -> bool {
    let left = BLOCK - offset % BLOCK;
    left < HEADER && content.get(offset..end_of_block(content, offset)).is_some_and(is_zero)
}

/// The offset of the first intact fragment behind `damage` that starts a record. Continuing fragments do not count,
/// because pages of one interrupted write may reach the disk in any order.
fn next_record(content: &[u8], damage: usize) -> Option<usize> {
    let mut offset = damage + 1;
    while offset < content.len() {
        match fragment(content, offset) {
            Some((kind, _)) if kind == FULL || kind == FIRST || OTHERS.contains(&kind) => return Some(offset),
            Some((_, payload)) => offset += HEADER + payload.len(),
            None => offset += 1,
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
pub mod tests {
    use super::*;

    /// The mark that ends a record.
    fn mark(number: u64, synced: u64, process: u32) -> Vec<u8> {
        let mut batch = rocksdb::WriteBatch::default();
        let empty = batch.data().len();
        batch.put_log_data(Mark { number, synced, process }.encode());
        batch.data()[empty..].to_vec()
    }

    /// Writes logs as RocksDB does.
    #[derive(Clone, Default)]
    pub struct Log {
        pub bytes: Vec<u8>,
        /// The number of the newest record.
        pub newest: u64,
        /// The process that the marks name.
        pub process: u32,
    }

    impl Log {
        fn push(&mut self, kind: u8, payload: &[u8]) {
            self.bytes.extend(masked_checksum(kind, payload).to_le_bytes());
            self.bytes.extend((payload.len() as u16).to_le_bytes());
            self.bytes.push(kind);
            self.bytes.extend(payload);
        }
        /// Appends a record in as many fragments as it takes.
        fn record(&mut self, mut payload: &[u8]) {
            let mut kind = [FULL, FIRST];
            loop {
                let left = BLOCK - self.bytes.len() % BLOCK;
                if left < HEADER {
                    self.bytes.resize(self.bytes.len() + left, 0);
                    continue;
                }
                if payload.len() <= left - HEADER {
                    return self.push(kind[0], payload);
                }
                let (now, later) = payload.split_at(left - HEADER);
                self.push(kind[1], now);
                (payload, kind) = (later, [LAST, MIDDLE]);
            }
        }
        /// Appends the next record, with a mark that says that records up to `synced` were synced.
        pub fn marked(&mut self, length: usize, synced: u64) {
            self.newest += 1;
            let mut payload: Vec<u8> = (0..length).map(|at| 1 + (at % 251) as u8).collect();
            payload.extend(mark(self.newest, synced, self.process));
            self.record(&payload);
        }
        fn verdict(&self) -> Verdict {
            walk(&self.bytes, None).verdict
        }
        /// A copy of the log in which a sector never arrived.
        fn without(&self, sector: usize) -> Log {
            let mut log = self.clone();
            let end = ((sector + 1) * SECTOR).min(log.bytes.len());
            log.bytes[sector * SECTOR..end].fill(0);
            log
        }
    }

    #[test]
    fn damage_is_told_from_a_torn_end() {
        let payload: Vec<u8> = (1..=100).collect();
        for ahead in [0, 5000] {
            let mut log = Log::default();
            (0..10).for_each(|_| log.record(&payload));
            let end = log.bytes.len();
            log.bytes.resize(end + ahead, 0);
            assert_eq!(log.verdict(), if ahead == 0 { Verdict::Intact } else { Verdict::Ended(end) });
            for bit in 0..9 * 107 * 8 {
                let mut flipped = log.clone();
                flipped.bytes[bit / 8] ^= 1 << (bit % 8);
                let record = bit / 8 / 107 * 107;
                assert!(matches!(flipped.verdict(), Verdict::Damaged(at, _) if at == record), "bit {bit}");
            }
            for bit in 9 * 107 * 8..end * 8 {
                let mut flipped = log.clone();
                flipped.bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(flipped.verdict(), Verdict::Changed(9 * 107), "bit {bit}");
            }
        }
        let mut log = Log::default();
        (0..10).for_each(|_| log.record(&payload));
        for length in 9 * 107 + 1..log.bytes.len() {
            assert_eq!(walk(&log.bytes[..length], None).verdict, Verdict::Torn(9 * 107), "cut at {length}");
        }
    }

    #[test]
    fn a_hole_in_one_interrupted_write_is_a_torn_end() {
        let mut log = Log::default();
        log.record(&[1; 10]);
        let begin = log.bytes.len();
        log.record(&vec![2; 2 * BLOCK]);
        assert_eq!(log.verdict(), Verdict::Intact);
        log.bytes[BLOCK..BLOCK + 4096].fill(0);
        assert_eq!(log.verdict(), Verdict::Torn(begin));
        log.record(&[3; 10]);
        assert!(matches!(log.verdict(), Verdict::Damaged(BLOCK, _)), "without marks nothing tells it from damage");
    }

    #[test]
    fn a_record_that_ends_early_is_torn_wherever_it_ends() {
        let mut log = Log::default();
        log.marked(10, 0);
        let begin = log.bytes.len();
        log.marked(2 * BLOCK + 1000, 0);
        for length in
            (begin + 1..log.bytes.len()).step_by(331).chain([BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 3])
        {
            assert_eq!(walk(&log.bytes[..length], None).verdict, Verdict::Torn(begin), "cut at {length}");
        }
    }

    /// Ten records and zeroes. The sixth was written after the sync of the first five.
    fn half_synced() -> (Log, Vec<usize>) {
        let mut log = Log::default();
        let mut ends = Vec::new();
        for number in 1..=10 {
            log.marked(if number % 3 == 0 { 40_000 } else { 700 }, if number < 6 { 0 } else { 5 });
            ends.push(log.bytes.len());
        }
        log.bytes.resize(log.bytes.len() + 4 * SECTOR, 0);
        (log, ends)
    }

    #[test]
    fn a_hole_behind_what_was_synced_ends_the_log_and_one_before_is_damage() {
        let (log, ends) = half_synced();
        let walked = walk(&log.bytes, None);
        assert_eq!(walked.verdict, Verdict::Ended(ends[9]));
        assert_eq!(walked.first, Some(Mark { number: 1, synced: 0, process: 0 }));
        assert_eq!(walked.last, Some(Mark { number: 10, synced: 5, process: 0 }));
        for sector in 0..ends[9].div_ceil(SECTOR) {
            let verdict = log.without(sector).verdict();
            // The first record that has a part in the sector.
            let hit = ends.iter().position(|end| *end > sector * SECTOR).unwrap();
            if sector * SECTOR < ends[4] {
                assert!(matches!(verdict, Verdict::Damaged(..)), "sector {sector}: {verdict:?}");
                continue;
            }
            let begin = ends[hit - 1];
            assert!(
                matches!(verdict, Verdict::Torn(at) | Verdict::Ended(at) if at == begin),
                "sector {sector}: {verdict:?}, not {begin}"
            );
            // Further sectors behind it may be missing too.
            for more in [sector + 1, sector + 2, (sector + ends[9] / SECTOR) / 2, ends[9] / SECTOR] {
                let verdict = log.without(sector).without(more).verdict();
                let torn = matches!(verdict, Verdict::Torn(at) | Verdict::Ended(at) if at == begin);
                assert!(torn, "sectors {sector} and {more}: {verdict:?}, not {begin}");
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_no_hole_whether_it_was_synced_or_not() {
        let (log, ends) = half_synced();
        for bit in (0..ends[9] * 8).step_by(1009).chain(ends[8] * 8..ends[8] * 8 + 64) {
            let mut flipped = log.clone();
            flipped.bytes[bit / 8] ^= 1 << (bit % 8);
            let verdict = flipped.verdict();
            assert!(matches!(verdict, Verdict::Damaged(..) | Verdict::Changed(_)), "bit {bit}: {verdict:?}");
        }
    }

    #[test]
    fn a_flipped_bit_is_told_from_a_sector_that_did_not_arrive_in_a_record_that_holds_zeroes() {
        let mut log = Log::default();
        log.marked(10, 0);
        let begin = log.bytes.len();
        let mut payload = vec![0; 3000];
        payload.extend(mark(2, 1, 0));
        log.record(&payload);
        let end = log.bytes.len();
        log.bytes.resize(end + 5000, 0);
        for bit in begin * 8..end * 8 {
            let mut flipped = log.clone();
            flipped.bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(flipped.verdict(), Verdict::Changed(begin), "bit {bit}");
        }
        log.bytes[end - 15..end].fill(0);
        assert_eq!(log.verdict(), Verdict::Torn(begin), "its end did not arrive, nor a part of a sector");
    }

    #[test]
    fn what_is_said_behind_a_hole_is_heard() {
        let mut log = Log { newest: 5, ..Log::default() };
        log.marked(600, 3);
        log.marked(2000, 3);
        log.marked(600, 6);
        let walked = walk(&log.without(3).bytes, None);
        assert!(matches!(walked.verdict, Verdict::Torn(_)));
        assert_eq!((walked.last, walked.synced), (Some(Mark { number: 6, synced: 3, process: 0 }), 6));
    }

    #[test]
    fn a_hole_at_the_beginning_is_told_by_what_follows() {
        for synced in [0, 1] {
            let mut log = Log::default();
            log.marked(2000, 0);
            log.marked(2000, 0);
            log.marked(2000, synced);
            let verdict = log.without(1).verdict();
            match synced {
                0 => assert_eq!(verdict, Verdict::Torn(0)),
                _ => assert!(matches!(verdict, Verdict::Damaged(0, _)), "{verdict:?}"),
            }
        }
    }

    #[test]
    fn a_hole_at_the_beginning_of_a_later_log_is_told_by_the_logs_before() {
        for (process, synced, torn) in [(7, 10, true), (7, 11, false), (8, 0, true), (8, 1, false), (0, 1, false)] {
            let mut log = Log { newest: if process == 7 { 10 } else { 0 }, process, ..Log::default() };
            (0..3).for_each(|_| log.marked(2000, synced.min(log.newest)));
            let before = Some(Mark { number: 10, synced: 3, process: 7 });
            let walked = walk(&log.without(1).bytes, before);
            match torn {
                true => assert_eq!((walked.verdict, walked.synced), (Verdict::Torn(0), synced), "{process}"),
                false => assert!(matches!(walked.verdict, Verdict::Damaged(0, _)), "{process}: {walked:?}"),
            }
        }
    }

    #[test]
    fn a_part_of_a_sector_that_did_not_arrive_is_no_damage_in_any_fragment() {
        let mut log = Log::default();
        log.marked(700, 0);
        let begin = log.bytes.len();
        // A first, a middle and a last fragment.
        log.marked(2 * BLOCK, 1);
        let end = log.bytes.len();
        log.marked(700, 1);
        for block in [BLOCK, 2 * BLOCK] {
            for missing in (4..SECTOR).step_by(7) {
                let mut torn = log.clone();
                torn.bytes[block - missing..block].fill(0);
                assert_eq!(torn.verdict(), Verdict::Torn(begin), "{missing} bytes before {block}");
            }
            for missing in 1..SECTOR {
                // The records behind it are missing too.
                let mut torn = log.clone();
                torn.bytes[block - missing..end].fill(0);
                assert_eq!(torn.verdict(), Verdict::Torn(begin), "{missing} bytes before {block}, and the rest");
            }
        }
        for there in 1..HEADER {
            let mut torn = log.clone();
            torn.bytes[begin + there..BLOCK - SECTOR].fill(0);
            assert_eq!(torn.verdict(), Verdict::Torn(begin), "{there} bytes of its header");
        }
        // Missing parts of a synced record are damage.
        log.marked(700, 2);
        for missing in (4..SECTOR).step_by(7) {
            let mut torn = log.clone();
            torn.bytes[BLOCK - missing..BLOCK].fill(0);
            assert!(matches!(torn.verdict(), Verdict::Damaged(..)), "{missing}");
        }
    }

    #[test]
    fn a_hole_before_a_record_without_a_mark_is_damage() {
        let (mut log, ends) = half_synced();
        log.bytes.truncate(ends[9]);
        log.record(&[7; 100]);
        let verdict = log.without(ends[6] / SECTOR + 1).verdict();
        assert!(matches!(verdict, Verdict::Damaged(_, next) if next == ends[9]), "{verdict:?}");
    }
}
