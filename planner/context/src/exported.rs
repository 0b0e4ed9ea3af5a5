//! Names of exported snapshots (PostgreSQL's manual, chapter 9.27.5). A snapshot is a timestamp and its name contains
//! it. Any server of the store can import it while old versions are kept.

use sql_error::{Result, SqlError, state};
use storage::Timestamp;

/// The name of the snapshot at a timestamp, in PostgreSQL's form.
pub fn name(at: Timestamp) -> String {
    format!("{:08X}-{:08X}-1", at.0 >> 32, at.0 & 0xffff_ffff)
}

/// The timestamp in a snapshot's name. Errors: 22023.
pub fn parse(name: &str) -> Result<Timestamp> {
    let parts: Vec<&str> = name.split('-').collect();
    let hexadecimal = |text: &str| {
        let right = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte));
        right.then(|| u64::from_str_radix(text, 16).ok()).flatten()
    };
    match parts[..] {
        [high, low, "1"] => match (hexadecimal(high), hexadecimal(low)) {
            (Some(high), Some(low)) => Ok(Timestamp(high << 32 | low)),
            _ => Err(unknown(name)),
        },
        _ => Err(unknown(name)),
    }
}

/// The error for a snapshot that does not exist.
pub fn unknown(name: &str) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, format!("invalid snapshot identifier: \"{name}\""))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written() {
        for at in [0, 1, 1_767_225_600_000_000, u64::MAX] {
            assert_eq!(parse(&name(Timestamp(at))).unwrap(), Timestamp(at));
        }
        for wrong in ["", "x", "00000003-0000001B", "00000003-0000001b-1", "+0000003-0000001B-1", "00000003-0000001B-2"]
        {
            assert_eq!(parse(wrong).unwrap_err().state(), "22023", "{wrong}");
        }
    }
}
