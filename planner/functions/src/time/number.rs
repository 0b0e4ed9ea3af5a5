//! to_char of numbers (manual, 9.8, table 9.31).

use super::number_template::{Kind, Node, Sign, Template, parse};
use crate::kernel::{Kernel, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Float4, Float8, Int4, Int8, Numeric, Text, binary};
use sql_error::{Result, SqlError, state};
use types::SqlType;
use types::numeric::Numeric as Number;

/// Decimal digits that a float keeps.
const FLOAT8_DIGITS: usize = 15;
const FLOAT4_DIGITS: usize = 6;

/// The digits of a number, ready for layout.
struct Digits {
    /// Digits and point without a sign; `#` if they do not fit.
    text: String,
    negative: bool,
    /// Unused positions before the first digit.
    blanks: usize,
}

/// Splits a number's text by the positions of a template.
fn digits(text: &str, template: &Template) -> Digits {
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let before = text.find('.').unwrap_or(text.len());
    if before > template.before {
        let mut hidden = "#".repeat(template.before + template.after + 1);
        hidden.replace_range(template.before..=template.before, ".");
        return Digits { text: hidden, negative, blanks: 0 };
    }
    Digits { text: text.to_string(), negative, blanks: template.before - before }
}

/// Writes `1.50e+03`, with a leading space unless it is negative.
fn scientific(mantissa: &str, exponent: i64) -> String {
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ('-', mantissa),
        None => (' ', mantissa),
    };
    let e = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{mantissa}e{e}{:02}", exponent.abs())
}

fn hidden_scientific(template: &Template) -> String {
    let mut hidden = format!(" {}", "#".repeat(template.before + template.after + 5));
    let point = template.before + 1;
    hidden.replace_range(point..=point, ".");
    hidden
}

/// A numeric in scientific notation with `places` decimal places. The exponent is that of the number before rounding,
/// so that 9.99 may become 10.0.
fn numeric_scientific(value: &Number, places: usize) -> Result<String> {
    let text = value.abs().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.trim_start_matches('0');
    let exponent = if whole.is_empty() {
        let zeros = fraction.len() - fraction.trim_start_matches('0').len();
        if zeros == fraction.len() { 0 } else { -(zeros as i64) - 1 }
    } else {
        whole.len() as i64 - 1
    };
    // The rounding position: `places` digits behind the mantissa's point.
    let last = places as i64 - exponent;
    let rounded = value.round(last).abs().to_string();
    let (whole, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let mut digits = format!("{whole}{fraction}");
    if last < 0 {
        digits.truncate(digits.len().saturating_sub(last.unsigned_abs() as usize));
    }
    let digits = format!("{:0>width$}", digits.trim_start_matches('0'), width = places + 1);
    let (whole, fraction) = digits.split_at_checked(digits.len() - places).unwrap_or((&digits, ""));
    let point = if places > 0 { "." } else { "" };
    let sign = if value.signum() < 0 { "-" } else { "" };
    Ok(scientific(&format!("{sign}{whole}{point}{fraction}"), exponent))
}

fn roman(number: i64) -> String {
    const PARTS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..=3999).contains(&number) {
        return "#".repeat(15);
    }
    let mut out = String::new();
    let mut left = number;
    for (value, letters) in PARTS {
        while left >= value {
            out.push_str(letters);
            left -= value;
        }
    }
    out
}

/// Writes digits into a template, node by node.
struct Writer<'a> {
    template: &'a Template,
    number: &'a [u8],
    /// Position in the number's text.
    at: usize,
    negative: bool,
    blanks: usize,
    sign_written: bool,
    sign_after: bool,
    /// The last digit or point to show, if trailing zeros are suppressed.
    last: Option<usize>,
    count: usize,
    current: usize,
    started: bool,
    /// The end of the output: positions beyond the number's end show nothing, nor do later nodes.
    end: Option<usize>,
    out: String,
}

impl<'a> Writer<'a> {
    fn new(template: &'a Template, digits: &'a Digits) -> Self {
        let number = digits.text.as_bytes();
        let own_sign = template.plus || template.minus;
        let sign_written = if own_sign {
            !template.plus || template.minus
        } else {
            !digits.negative && template.fill && template.sign.is_none()
        };
        let sign_after = match template.sign {
            Some(Sign::Before(place)) => !own_sign && place == template.before,
            Some(Sign::After) => true,
            None => false,
        };
        let mut last = None;
        if template.fill && template.point {
            last = number.iter().position(|byte| *byte == b'.').map(|point| {
                let digit = number.iter().rposition(|byte| *byte != b'0').unwrap_or(point);
                digit.max(point)
            });
            if let Some(place) = last
                && template.zero_end > digits.blanks
            {
                let zero = (number.len() - 1).min(template.zero_end - digits.blanks);
                last = Some(place.max(zero));
            }
        }
        let mut count = (template.before + template.after) as i64 - 1;
        if !sign_written && digits.blanks == 0 {
            count += 1;
        }
        Writer {
            template,
            number,
            at: 0,
            negative: digits.negative,
            blanks: digits.blanks,
            sign_written,
            sign_after,
            last,
            count: count.max(0) as usize,
            current: 0,
            started: false,
            end: None,
            out: String::new(),
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.number.get(at).copied()
    }

    /// Whether the point is the last character to show.
    fn ends_in_point(&self) -> bool {
        self.last.is_some_and(|last| self.byte(last) == Some(b'.'))
    }

    /// Whether a zero before the point is omitted.
    fn bare_point(&self) -> bool {
        self.template.zero.is_none() && self.at == 0 && self.byte(0) == Some(b'0') && self.template.after != 0
    }

    fn sign(&mut self) {
        let zero_here = self.template.zero == Some(self.current);
        if self.sign_written
            || !(self.current >= self.blanks || zero_here)
            || self.bare_point() && !self.ends_in_point()
        {
            return;
        }
        if self.template.sign.is_some() {
            if !self.sign_after {
                self.out.push(if self.negative { '-' } else { '+' });
                self.sign_written = true;
            }
        } else if self.template.brackets && (self.negative || !self.template.fill) {
            self.out.push(if self.negative { '<' } else { ' ' });
            self.sign_written = true;
        } else {
            if self.negative {
                self.out.push('-');
            } else if !self.template.fill {
                self.out.push(' ');
            }
            self.sign_written = true;
        }
    }

    /// Writes a position for a digit (`9`, `0`) or the point.
    fn digit(&mut self, kind: Kind) {
        self.started = false;
        self.sign();
        let zero = self.template.zero;
        if self.current < self.blanks && zero.is_none_or(|zero| zero > self.current) {
            if !self.template.fill {
                self.out.push(' ');
            }
        } else if self.current < self.blanks {
            self.out.push('0');
            self.started = true;
        } else {
            if self.byte(self.at) == Some(b'.') {
                if !self.ends_in_point() || self.template.fill {
                    self.out.push('.');
                }
            } else if self.last.is_some_and(|last| self.at > last) && kind != Kind::Zero {
                // Only suppressed zeros are left.
            } else if self.bare_point() {
                if !self.template.fill {
                    self.out.push(' ');
                } else if self.ends_in_point() {
                    self.out.push('0');
                }
            } else if let Some(byte) = self.byte(self.at) {
                self.out.push(char::from(byte));
                self.started = true;
            } else {
                self.end.get_or_insert(self.out.len());
            }
            if self.at < self.number.len() {
                self.at += 1;
            }
        }
        let mut end = self.count + usize::from(self.blanks > 0) + usize::from(self.template.point);
        if self.last == Some(self.at) {
            end = self.current;
        }
        if self.current + 1 == end {
            if self.sign_written && self.template.brackets && (self.negative || !self.template.fill) {
                self.out.push(if self.negative { '>' } else { ' ' });
            } else if self.sign_after {
                self.out.push(if self.negative { '-' } else { '+' });
            }
        }
        self.current += 1;
    }

    fn group(&mut self) {
        if self.started {
            self.out.push(',');
        } else if !self.template.fill {
            self.out.push(' ');
        }
    }

    fn node(&mut self, node: &Node) {
        let fill = self.template.fill;
        match node {
            Node::Text(text) => self.out.push_str(text),
            Node::Pattern(kind) => match kind {
                Kind::Nine | Kind::Zero | Kind::Point => self.digit(*kind),
                Kind::Group => self.group(),
                // The currency symbol of the locale C.
                Kind::Currency => self.out.push(' '),
                Kind::Ordinal(upper) => {
                    if self.byte(0) != Some(b'#') && !self.negative && !self.template.point {
                        self.out.push_str(ordinal(self.number, *upper));
                    }
                }
                Kind::Minus if self.negative => self.out.push('-'),
                Kind::Plus if !self.negative => self.out.push('+'),
                Kind::Minus | Kind::Plus if fill => {}
                Kind::Minus | Kind::Plus => self.out.push(' '),
                Kind::Either => self.out.push(if self.negative { '-' } else { '+' }),
                Kind::Roman(_) | Kind::Other => {}
            },
        }
    }
}

fn ordinal(number: &[u8], upper: bool) -> &'static str {
    let digit = |back: usize| number.len().checked_sub(back).and_then(|at| number.get(at)).copied();
    let ending = match (digit(2), digit(1)) {
        (Some(b'1'), _) => ("TH", "th"),
        (_, Some(b'1')) => ("ST", "st"),
        (_, Some(b'2')) => ("ND", "nd"),
        (_, Some(b'3')) => ("RD", "rd"),
        _ => ("TH", "th"),
    };
    if upper { ending.0 } else { ending.1 }
}

/// Writes the digits by the template.
fn lay_out(template: &Template, digits: &Digits) -> String {
    let mut writer = Writer::new(template, digits);
    for node in &template.nodes {
        writer.node(node);
    }
    if let Some(end) = writer.end {
        writer.out.truncate(end);
    }
    writer.out
}

/// Writes a Roman numeral among the other nodes.
fn in_roman(template: &Template, number: &str) -> String {
    let mut out = String::new();
    for node in &template.nodes {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Pattern(Kind::Roman(upper)) => {
                let number = if *upper { number.to_string() } else { number.to_lowercase() };
                out += &if template.fill { number } else { format!("{number:>15}") };
            }
            // A Roman numeral shows no sign.
            Node::Pattern(Kind::Either) => break,
            Node::Pattern(Kind::Minus | Kind::Plus | Kind::Group) if template.fill => {}
            Node::Pattern(Kind::Minus | Kind::Plus | Kind::Group | Kind::Currency) => out.push(' '),
            Node::Pattern(_) => {}
        }
    }
    out
}

fn power_of_ten(power: usize) -> Result<Number> {
    Number::parse(&format!("1{}", "0".repeat(power)))
}

fn format_numeric(value: &Number, pattern: &str) -> Result<String> {
    let mut template = parse(pattern)?;
    if template.roman {
        let number = if value.is_finite() { value.round(0).to_i64("integer")? } else { value.to_i64("integer")? };
        if i32::try_from(number).is_err() {
            return Err(SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range"));
        }
        return Ok(in_roman(&template, &roman(number)));
    }
    if template.scientific {
        return if value.is_finite() {
            numeric_scientific(value, template.after)
        } else {
            Ok(hidden_scientific(&template))
        };
    }
    let value = if template.shift > 0 {
        template.before += template.shift;
        value.mul(&power_of_ten(template.shift)?)
    } else {
        value.clone()
    };
    let shown = value.round(template.after as i64).to_string();
    Ok(lay_out(&template, &digits(&shown, &template)))
}

fn format_float(value: f64, kept: usize, pattern: &str) -> Result<String> {
    let mut template = parse(pattern)?;
    if template.roman {
        return Ok(in_roman(&template, &roman(value.round_ties_even() as i64)));
    }
    if template.scientific {
        if !value.is_finite() {
            return Ok(hidden_scientific(&template));
        }
        let shown = format!("{value:.*e}", template.after);
        let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
        return Ok(scientific(mantissa, exponent.parse().unwrap_or(0)));
    }
    let mut value = value;
    if template.shift > 0 {
        template.before += template.shift;
        value *= 10f64.powi(template.shift as i32);
    }
    let shown = |places: usize, value: f64| match value {
        _ if value.is_nan() => "NaN".to_string(),
        f64::INFINITY => "Infinity".to_string(),
        f64::NEG_INFINITY => "-Infinity".to_string(),
        value => format!("{value:.places$}"),
    };
    let whole = shown(0, value.abs()).len();
    if whole >= kept {
        template.after = 0;
    } else if whole + template.after > kept {
        template.after = kept - whole;
    }
    Ok(lay_out(&template, &digits(&shown(template.after, value), &template)))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    let make =
        |ty: SqlType, kernel: Kernel| ScalarFunction::new("to_char", &[ty, text], text, Stability::Immutable, kernel);
    let integer = |v: i64, p: &str, name: &str, fits: fn(i64) -> bool| {
        let shift = parse(p)?.shift;
        let shifted =
            10i64.checked_pow(shift as u32).filter(|power| fits(*power)).and_then(|power| v.checked_mul(power));
        if shifted.is_none_or(|shifted| !fits(shifted)) {
            return Err(crate::cast_kernel::out_of_range(name));
        }
        // PostgreSQL converts an integer to float8 here.
        if name == "integer" && parse(p)?.scientific {
            return format_float(v as f64, FLOAT8_DIGITS, p);
        }
        format_numeric(&Number::from(v), p)
    };
    vec![
        make(
            SqlType::INT4,
            binary::<Int4, Text, Text, _>(move |v: i32, p: &str| {
                integer(i64::from(v), p, "integer", |v| i32::try_from(v).is_ok())
            }),
        ),
        make(SqlType::INT8, binary::<Int8, Text, Text, _>(move |v: i64, p: &str| integer(v, p, "bigint", |_| true))),
        make(SqlType::NUMERIC, binary::<Numeric, Text, Text, _>(|v: Number, p: &str| format_numeric(&v, p))),
        make(
            SqlType::FLOAT4,
            binary::<Float4, Text, Text, _>(|v: f32, p: &str| format_float(f64::from(v), FLOAT4_DIGITS, p)),
        ),
        make(SqlType::FLOAT8, binary::<Float8, Text, Text, _>(|v: f64, p: &str| format_float(v, FLOAT8_DIGITS, p))),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn as_postgresql_formats() {
        // Checked against PostgreSQL 15.
        for (value, pattern, text) in [
            ("125", "999", " 125"),
            ("-125", "999", "-125"),
            ("12", "9990999.9", "    0012.0"),
            ("0.1", "0.9", " 0.1"),
            ("1485", "9,999", " 1,485"),
            ("-485", "999MI", "485-"),
            ("485", "FM999", "485"),
            ("485", "S999", "+485"),
            ("-485", "999S", "485-"),
            ("-485", "999PR", "<485>"),
            ("1234567.891", "FM9,999,999.00", "1,234,567.89"),
            ("1234.5", "999", " ###"),
            ("0", "999", "   0"),
            ("12.5", "FM999.999", "12.5"),
            ("-0.1", "99.99", "  -.10"),
            ("485", "PL999", "+ 485"),
            ("-485", "PL999", " -485"),
            ("485", "SG999", "+485"),
            ("-485", "9SG99", "4-85"),
            ("485", "L999", "  485"),
            ("485", "RN", "        CDLXXXV"),
            ("5.2", "FMRN", "V"),
            ("3999", "rn", "      mmmcmxcix"),
            ("4000", "RN", "###############"),
            ("482", "999th", " 482nd"),
            ("-3", "9th", "-3"),
            ("485", "\"Good number:\"999", "Good number: 485"),
            ("485.8", "\"Pre:\"999\" Post:\" .999", "Pre: 485 Post: .800"),
            ("12", "99V999", " 12000"),
            ("12.45", "99V9", " 125"),
            ("0.0004859", "9.99EEEE", " 4.86e-04"),
            ("-1234567890123.0", "9.9999EEEE", "-1.2346e+12"),
            ("9.999", "9.99EEEE", " 10.00e+00"),
            ("0.09999", "9.9EEEE", " 10.0e-02"),
            ("9.5", "9EEEE", " 10e+00"),
            ("-995", "9.9EEEE", "-10.0e+02"),
            ("99999999999999.5", "9.9EEEE", " 10.0e+13"),
            ("25", "9EEEE", " 3e+01"),
            ("0.5", "9.99EEEE", " 5.00e-01"),
            ("0", "9.99eeee", " 0.00e+00"),
            ("0", "FM9.9", "0."),
            ("1.5", "x9y", "x 2y"),
            ("1.5", "999 999", "       2"),
            ("1234567", "9 999 999", " 1 234 567"),
            ("12", "\\\"9", "\" #"),
            ("100", "99.9", " ##.#"),
            ("-100", "99.9", "-##.#"),
            ("0.5", ".9", " .#"),
            ("0.5", "FM.9", ".#"),
            ("0", "FM0.9", "0."),
            ("0.1", "FM9.99", ".1"),
            ("-5", "\"x\"9", "x-5"),
            ("5", "\"x\"S9", "x+5"),
            ("-12", "<99>", "<-12>"),
            ("12", "FM99S", "12+"),
            ("NaN", "999", " NaN"),
        ] {
            assert_eq!(format_numeric(&Number::parse(value).unwrap(), pattern).unwrap(), text, "{value} {pattern}");
        }
        for (value, pattern, text) in [
            (f64::NAN, "999", " NaN"),
            (f64::INFINITY, "9.99EEEE", " #.######"),
            (12_345_678_901.5, "99999999999.9999999999", " 12345678901.5000"),
            (1.5, "9.9", " 1.5"),
            (-0.5, "9.9", " -.5"),
            (25.0, "9EEEE", " 2e+01"),
            (99.95, "9.9EEEE", " 1.0e+02"),
        ] {
            assert_eq!(format_float(value, FLOAT8_DIGITS, pattern).unwrap(), text, "{value} {pattern}");
        }
        for pattern in ["9EEEE9", "S9S", "9PR9", "9.9.9", "9V9.9", "S9MI", "MI9S"] {
            assert_eq!(parse(pattern).err().unwrap().state(), "42601", "{pattern}");
        }
    }
}
