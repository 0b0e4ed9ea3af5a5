//! Formats and parses sizes: pg_size_pretty of numeric, pg_size_bytes.

use super::kernel::Stability;
use super::registry::ScalarFunction;
use super::typed::{Int8, Numeric, Text, unary};
use sql_error::{Result, SqlError, state};
use types::SqlType;
use types::numeric::Numeric as Number;

/// Units, and their sizes as powers of two.
const UNITS: [(&str, u32); 6] = [("bytes", 0), ("kB", 10), ("MB", 20), ("GB", 30), ("TB", 40), ("PB", 50)];
/// From this amount of a unit on, the next one is used.
const LIMIT: i64 = 10 * 1024;

fn pretty(size: &Number) -> Result<String> {
    let half_up = |value: &Number| -> Result<Number> {
        // Half of the previous unit, rounded away from zero.
        let one = Number::from(if value.signum() < 0 { -1 } else { 1 });
        value.add(&one).div_whole(&Number::from(2))
    };
    let below = |value: &Number, limit: i64| value.abs() < Number::from(limit);
    if !size.is_finite() {
        return Ok(format!("{size} PB"));
    }
    if below(size, LIMIT) {
        return Ok(format!("{size} bytes"));
    }
    // Keep one bit more than the unit, for rounding.
    let mut value = size.div_whole(&Number::from(512))?;
    for (at, (name, _)) in UNITS.iter().enumerate().skip(1) {
        if at + 1 == UNITS.len() || below(&value, LIMIT * 2 - 1) {
            return Ok(format!("{} {name}", half_up(&value)?));
        }
        value = value.div_whole(&Number::from(1024))?;
    }
    Ok(format!("{size} bytes"))
}

/// Parses a size such as `10 MB` in bytes. Errors: 22023, 22003.
fn bytes(text: &str) -> Result<i64> {
    let wrong = || SqlError::new(state::INVALID_PARAMETER_VALUE, format!("invalid size: \"{text}\""));
    let trimmed = text.trim();
    let sign = usize::from(trimmed.starts_with(['+', '-']));
    let digits = |from: usize| {
        let rest = trimmed.get(from..).unwrap_or_default();
        from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let mut end = digits(sign);
    if trimmed.get(end..).is_some_and(|rest| rest.starts_with('.')) {
        end = digits(end + 1);
    }
    if !trimmed.get(..end).unwrap_or_default().bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    if let Some(exponent) = trimmed.get(end..).and_then(|rest| rest.strip_prefix(['e', 'E'])) {
        let from = trimmed.len() - exponent.len() + usize::from(exponent.starts_with(['+', '-']));
        let after = digits(from);
        if after > from {
            end = after;
        }
    }
    let number = Number::parse(trimmed.get(..end).unwrap_or_default()).map_err(|_| wrong())?;
    let unit = trimmed.get(end..).unwrap_or_default().trim();
    if unit.is_empty() {
        return number.to_i64("bigint");
    }
    let power = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, power)| *power);
    let power = power.ok_or_else(|| {
        wrong()
            .detail(format!("Invalid size unit: \"{unit}\"."))
            .hint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".")
    })?;
    number.mul(&Number::from(1i64 << power)).to_i64("bigint")
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let immutable = Stability::Immutable;
    vec![
        ScalarFunction::new(
            "pg_size_pretty",
            &[SqlType::NUMERIC],
            SqlType::TEXT,
            immutable,
            unary::<Numeric, Text, _>(|size: Number| pretty(&size)),
        ),
        ScalarFunction::new("pg_size_bytes", &[SqlType::TEXT], SqlType::INT8, immutable, unary::<Text, Int8, _>(bytes)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_in_postgresql() {
        // Checked against PostgreSQL 15.
        for (size, text) in [
            ("1e15", "909 TB"),
            ("10239", "10239 bytes"),
            ("10240", "10 kB"),
            ("-1", "-1 bytes"),
            ("1.5", "1.5 bytes"),
            ("1e20", "88818 PB"),
        ] {
            assert_eq!(pretty(&Number::parse(size).unwrap()).unwrap(), text, "{size}");
        }
        for (text, size) in [
            ("10 MB", 10_485_760),
            ("1.5GB", 1_610_612_736),
            (" 7 ", 7),
            ("1e3 kB", 1_024_000),
            ("-1tb", -1_099_511_627_776),
        ] {
            assert_eq!(bytes(text).unwrap(), size, "{text}");
        }
        for text in ["1 foo", "x", "1 EB", "", "."] {
            assert_eq!(bytes(text).unwrap_err().state(), "22023", "{text}");
        }
    }
}
