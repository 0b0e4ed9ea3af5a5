//! The types of system columns: `tid`, a row's position in its table, and the numbers of transactions and commands
//! (`xid`, `cid`, `xid8`).

use sql_error::{Result, SqlError, state};

/// Bits of the number within a block.
const OFFSETS: u32 = 16;
/// The bit that is inverted in an xid8, so that signed order is the order of unsigned numbers.
const HIGHEST: u64 = 1 << 63;

/// Packs a block and a row number into the value of a tid.
pub fn tid(block: u32, number: u16) -> i64 {
    i64::from(block) << OFFSETS | i64::from(number)
}

fn parts(tid: i64) -> (u32, u16) {
    ((tid >> OFFSETS) as u32, tid as u16)
}

/// Parses a tid such as `(0,1)`. Errors: 22P02.
pub fn read_tid(text: &str) -> Result<i64> {
    let wrong = || {
        let message = format!("invalid input syntax for type tid: \"{text}\"");
        SqlError::new(state::INVALID_TEXT_REPRESENTATION, message)
    };
    // PostgreSQL ignores the text before and behind the parentheses.
    let (_, inside) = text.split_once('(').ok_or_else(wrong)?;
    let (block, rest) = inside.split_once(',').ok_or_else(wrong)?;
    let (number, _) = rest.split_once(')').ok_or_else(wrong)?;
    let whole = |text: &str| text.trim_start().parse::<i64>().map_err(|_| wrong());
    let block = whole(block)?;
    // A negative block is read as its unsigned counterpart.
    let block =
        u32::try_from(block).or_else(|_| i32::try_from(block).map(|block| block as u32)).map_err(|_| wrong())?;
    Ok(tid(block, u16::try_from(whole(number)?).map_err(|_| wrong())?))
}

/// Writes a tid such as `(0,1)`.
pub fn write_tid(value: i64, out: &mut Vec<u8>) {
    let (block, number) = parts(value);
    out.extend_from_slice(format!("({block},{number})").as_bytes());
}

/// Encodes a tid in the binary wire format.
pub fn wire_of_tid(value: i64) -> [u8; 6] {
    let (block, number) = parts(value);
    let ([a, b, c, d], [e, f]) = (block.to_be_bytes(), number.to_be_bytes());
    [a, b, c, d, e, f]
}

/// Decodes a tid from the binary wire format.
pub fn tid_of_wire([a, b, c, d, e, f]: [u8; 6]) -> i64 {
    tid(u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f]))
}

/// The transaction number of an xid8 value.
pub fn xid8_number(value: i64) -> u64 {
    value as u64 ^ HIGHEST
}

/// The xid8 value of a transaction number.
pub fn xid8_value(number: u64) -> i64 {
    (number ^ HIGHEST) as i64
}

/// Reads a number as C's `strtoul` does, which PostgreSQL uses for these types. A prefix selects base 8 or 16. No
/// digits give 0, and an overflow gives the largest number.
pub fn read_number(text: &str) -> u64 {
    let text = text.trim_start();
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = match hex {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_hexdigit()) => (rest, 16),
        _ if digits.starts_with('0') => (digits, 8),
        _ => (digits, 10),
    };
    let mut number = 0u64;
    for digit in digits.chars().map_while(|c| c.to_digit(radix)) {
        match number.checked_mul(u64::from(radix)).and_then(|number| number.checked_add(u64::from(digit))) {
            Some(larger) => number = larger,
            None => return u64::MAX,
        }
    }
    if negative { number.wrapping_neg() } else { number }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn places_and_numbers_as_in_postgresql() {
        for (text, printed) in
            [("(0,1)", "(0,1)"), (" (4294967295,65535) ", "(4294967295,65535)"), ("(-1,0)", "(4294967295,0)")]
        {
            let mut out = Vec::new();
            let value = read_tid(text).unwrap();
            write_tid(value, &mut out);
            assert_eq!(out, printed.as_bytes());
            assert_eq!(tid_of_wire(wire_of_tid(value)), value);
        }
        for text in ["", "0,1", "(0)", "(a,1)", "(0,65536)", "(4294967296,0)"] {
            assert_eq!(read_tid(text).unwrap_err().state(), "22P02", "{text}");
        }
        assert!(read_tid("(0,9)").unwrap() < read_tid("(1,0)").unwrap());
        for (text, number) in
            [("12", 12), (" 7x", 7), ("x", 0), ("010", 8), ("0x1f", 31), ("0x", 0), ("99999999999999999999", u64::MAX)]
        {
            assert_eq!(read_number(text), number, "{text}");
        }
        assert!(xid8_value(u64::MAX) > xid8_value(1) && xid8_number(xid8_value(5)) == 5);
    }
}
