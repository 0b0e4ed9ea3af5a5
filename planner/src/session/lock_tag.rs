//! Tags: what others are told a locked name is, as a kind and numbers.

use bytes::{BufMut, Bytes, BytesMut};

/// The tag of these numbers.
pub fn of(kind: u8, numbers: &[u32]) -> Bytes {
    let mut tag = BytesMut::with_capacity(1 + 4 * numbers.len());
    tag.put_u8(kind);
    numbers.iter().for_each(|number| tag.put_u32(*number));
    tag.freeze()
}

/// The numbers of a tag; `None` when it is of something else.
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
