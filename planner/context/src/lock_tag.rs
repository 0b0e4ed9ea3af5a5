//! Lock tags: a kind and numbers that describe a lock's name to other servers. Must not know what the numbers mean.

use bytes::{BufMut, Bytes, BytesMut};

/// Encodes a kind and numbers as a tag.
pub fn of(kind: u8, numbers: &[u32]) -> Bytes {
    let mut tag = BytesMut::with_capacity(1 + 4 * numbers.len());
    tag.put_u8(kind);
    numbers.iter().for_each(|number| tag.put_u32(*number));
    tag.freeze()
}

/// Decodes a tag of this kind. `None` for another kind.
pub fn numbers<const COUNT: usize>(tag: &[u8], kind: u8) -> Option<[u32; COUNT]> {
    let (first, rest) = tag.split_first()?;
    let (chunks, []) = rest.as_chunks::<4>() else { return None };
    let numbers: Vec<u32> = chunks.iter().map(|bytes| u32::from_be_bytes(*bytes)).collect();
    if *first == kind { numbers.try_into().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_as_it_was_written() {
        assert_eq!(numbers(&of(3, &[7, u32::MAX]), 3), Some([7, u32::MAX]));
        assert_eq!(numbers::<2>(&of(3, &[7, 8]), 4), None);
        assert_eq!(numbers::<3>(&of(3, &[7, 8]), 3), None);
        assert_eq!(numbers::<1>(&[3, 0, 0, 0], 3), None);
    }
}
