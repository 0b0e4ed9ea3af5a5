//! Parses the templates of to_char and to_number (manual, 9.8, table 9.31).

use sql_error::{Result, SqlError};

/// The position of `S` in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Before the point, behind this many digits.
    Before(usize),
    After,
}

/// A pattern that writes output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nine,
    Zero,
    Point,
    Group,
    Currency,
    /// The ordinal suffix `th` (false) or `TH` (true).
    Ordinal(bool),
    /// A minus sign, `MI`.
    Minus,
    /// A plus sign, `PL`.
    Plus,
    /// A plus or minus sign, `SG`.
    Either,
    /// A Roman numeral: `RN` (true) or `rn`.
    Roman(bool),
    /// A pattern that applies to the whole template: FM, S, PR, V, EEEE.
    Other,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Pattern(Kind),
    Text(String),
}

/// A parsed template with its global options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Template {
    pub nodes: Vec<Node>,
    /// Number of digits before and behind the point.
    pub before: usize,
    pub after: usize,
    pub point: bool,
    /// `FM`: omit padding and trailing zeros.
    pub fill: bool,
    /// Number of digits before the first `0` that is before the point.
    pub zero: Option<usize>,
    /// Number of digits up to the last `0`.
    pub zero_end: usize,
    pub sign: Option<Sign>,
    pub plus: bool,
    pub minus: bool,
    pub brackets: bool,
    /// Number of digits behind `V`.
    pub shift: usize,
    /// Whether the template has `V`.
    pub shifting: bool,
    /// `B`: write spaces for a zero before the point.
    pub blank: bool,
    /// Whether the number is written in Roman numerals.
    pub roman: bool,
    pub scientific: bool,
}

fn wrong(message: &str) -> SqlError {
    SqlError::syntax(message)
}

const PATTERNS: [&str; 20] =
    ["EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "SP", "TH", ",", ".", "0", "9", "B", "C", "D", "G", "L", "S", "V"];

/// Parses a template. Errors: 42601.
pub(super) fn parse(text: &str) -> Result<Template> {
    let mut template = Template::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let found = PATTERNS.iter().find(|pattern| {
            let given = rest.get(..pattern.len());
            given.is_some_and(|given| given == **pattern || given == pattern.to_ascii_lowercase())
        });
        if let Some(pattern) = found {
            let upper = rest.starts_with(*pattern);
            rest = rest.get(pattern.len()..).unwrap_or_default();
            let kind = template.pattern(pattern, upper)?;
            template.nodes.push(Node::Pattern(kind));
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c == '"' {
            let mut literal = String::new();
            let mut chars = rest.chars();
            while let Some(c) = chars.next() {
                match c {
                    '"' => break,
                    '\\' => literal.extend(chars.next()),
                    c => literal.push(c),
                }
            }
            rest = chars.as_str();
            template.nodes.push(Node::Text(literal));
            continue;
        }
        // Outside quotes, a backslash is special only before a quote.
        let c = match rest.strip_prefix('"') {
            Some(tail) if c == '\\' => {
                rest = tail;
                '"'
            }
            _ => c,
        };
        template.nodes.push(Node::Text(c.to_string()));
    }
    Ok(template)
}

impl Template {
    fn digit(&mut self, zero: bool) -> Result<()> {
        if self.brackets {
            return Err(wrong(&format!("\"{}\" must be ahead of \"PR\"", if zero { 0 } else { 9 })));
        }
        if zero {
            if self.zero.is_none() && !self.point {
                self.zero = Some(self.before);
            }
            if self.point {
                self.after += 1
            } else {
                self.before += 1
            }
            self.zero_end = self.before + self.after;
        } else if self.shifting {
            self.shift += 1;
        } else if self.point {
            self.after += 1;
        } else {
            self.before += 1;
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &str, upper: bool) -> Result<Kind> {
        if self.scientific && pattern != "EEEE" {
            return Err(wrong("\"EEEE\" must be the last pattern used"));
        }
        Ok(match pattern {
            "9" => {
                self.digit(false)?;
                Kind::Nine
            }
            "0" => {
                self.digit(true)?;
                Kind::Zero
            }
            "." | "D" => {
                if self.point {
                    return Err(wrong("multiple decimal points"));
                }
                if self.shifting {
                    return Err(wrong("cannot use \"V\" and decimal point together"));
                }
                self.point = true;
                Kind::Point
            }
            "," | "G" => Kind::Group,
            "L" => Kind::Currency,
            "TH" => Kind::Ordinal(upper),
            "FM" => {
                self.fill = true;
                Kind::Other
            }
            "S" => {
                if self.sign.is_some() {
                    return Err(wrong("cannot use \"S\" twice"));
                }
                if self.plus || self.minus || self.brackets {
                    return Err(wrong("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"));
                }
                self.sign = Some(if self.point { Sign::After } else { Sign::Before(self.before) });
                Kind::Other
            }
            "MI" | "PL" | "SG" => {
                if self.sign.is_some() {
                    return Err(wrong(&format!("cannot use \"S\" and \"{pattern}\" together")));
                }
                self.minus |= pattern != "PL";
                self.plus |= pattern != "MI";
                match pattern {
                    "MI" => Kind::Minus,
                    "PL" => Kind::Plus,
                    _ => Kind::Either,
                }
            }
            "PR" => {
                if self.sign.is_some() || self.plus || self.minus {
                    return Err(wrong("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together"));
                }
                self.brackets = true;
                Kind::Other
            }
            "RN" => {
                self.roman = true;
                Kind::Roman(upper)
            }
            "V" => {
                if self.point {
                    return Err(wrong("cannot use \"V\" and decimal point together"));
                }
                self.shifting = true;
                Kind::Other
            }
            "EEEE" => {
                if self.scientific {
                    return Err(wrong("cannot use \"EEEE\" twice"));
                }
                let others = self.blank || self.fill || self.sign.is_some() || self.brackets || self.minus || self.plus;
                if others || self.roman || self.shifting {
                    return Err(wrong("\"EEEE\" is incompatible with other formats")
                        .detail("\"EEEE\" may only be used together with digit and decimal point patterns."));
                }
                self.scientific = true;
                Kind::Other
            }
            "B" => {
                // `B` is effective only before the digits.
                self.blank |= self.before == 0 && self.after == 0;
                Kind::Other
            }
            // C and SP have no effect.
            _ => Kind::Other,
        })
    }
}
