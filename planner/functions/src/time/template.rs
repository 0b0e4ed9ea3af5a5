//! Parses the templates of dates and times (manual, 9.8, table 9.29) that to_char writes and to_date reads.

/// A part of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A pattern: its name as written, and its modifiers.
    Pattern {
        name: &'static str,
        /// The modifier `FM`, before the pattern.
        fill: bool,
        /// The modifier `TM`, before the pattern.
        translated: bool,
        /// The modifier `TH` (true) or `th`, behind the pattern.
        ordinal: Option<bool>,
    },
    /// A quoted character, which stands for itself.
    Literal(&'a str),
    /// An unquoted character that is neither part of a pattern nor a separator.
    Bare(&'a str),
    /// A space or another separator.
    Separator(&'a str),
}

/// All patterns. A longer pattern precedes its prefixes.
const PATTERNS: [&str; 104] = [
    "A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "CC", "DAY", "DDD", "DD", "DY", "Day", "Dy", "D", "FF1", "FF2", "FF3",
    "FF4", "FF5", "FF6", "FX", "HH24", "HH12", "HH", "IDDD", "ID", "IW", "IYYY", "IYY", "IY", "I", "J", "MI", "MM",
    "MONTH", "MON", "MS", "Month", "Mon", "OF", "P.M.", "PM", "Q", "RM", "SSSSS", "SSSS", "SS", "TZH", "TZM", "TZ",
    "US", "WW", "W", "Y,YYY", "YYYY", "YYY", "YY", "Y", "a.d.", "a.m.", "ad", "am", "b.c.", "bc", "cc", "day", "ddd",
    "dd", "dy", "d", "ff1", "ff2", "ff3", "ff4", "ff5", "ff6", "fx", "hh24", "hh12", "hh", "iddd", "id", "iw", "iyyy",
    "iyy", "iy", "i", "j", "mi", "mm", "month", "mon", "ms", "p.m.", "pm", "q", "rm", "sssss", "ssss", "ss", "tz",
    "us", "ww", "w",
];
const YEARS: [&str; 5] = ["y,yyy", "yyyy", "yyy", "yy", "y"];

/// Whether a pattern reads digits.
pub(super) fn is_number(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    !matches!(
        upper.as_str(),
        "A.D."
            | "A.M."
            | "AD"
            | "AM"
            | "B.C."
            | "BC"
            | "DAY"
            | "DY"
            | "FX"
            | "MONTH"
            | "MON"
            | "OF"
            | "P.M."
            | "PM"
            | "RM"
            | "TZ"
    )
}

/// The parts of a template.
pub(super) fn parse(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    let after = |text: &str, length: usize| -> usize { text.get(..length).map_or(text.len(), str::len) };
    while !rest.is_empty() {
        let (mut fill, mut translated) = (false, false);
        let modifier = rest.get(..2).unwrap_or_default();
        match modifier {
            "FM" | "fm" => fill = true,
            "TM" | "tm" => translated = true,
            _ => {}
        }
        if fill || translated {
            rest = rest.get(2..).unwrap_or_default();
        }
        if let Some(name) = PATTERNS.iter().chain(&YEARS).find(|name| rest.starts_with(**name)) {
            rest = rest.get(name.len()..).unwrap_or_default();
            let mut ordinal = None;
            for (suffix, upper) in [("TH", true), ("th", false)] {
                if let Some(tail) = rest.strip_prefix(suffix) {
                    (rest, ordinal) = (tail, Some(upper));
                    break;
                }
            }
            rest = rest.strip_prefix("SP").unwrap_or(rest);
            parts.push(Part::Pattern { name, fill, translated, ordinal });
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        if c == '"' {
            rest = rest.get(1..).unwrap_or_default();
            while let Some(c) = rest.chars().next() {
                let mut length = c.len_utf8();
                if c == '"' {
                    rest = rest.get(1..).unwrap_or_default();
                    break;
                }
                if c == '\\' && rest.len() > 1 {
                    rest = rest.get(1..).unwrap_or_default();
                    length = rest.chars().next().map_or(0, char::len_utf8);
                }
                let length = after(rest, length);
                let (literal, tail) = rest.split_at(length);
                parts.push(Part::Literal(literal));
                rest = tail;
            }
            continue;
        }
        // Outside quotes, a backslash is special only before a quote.
        if c == '\\' && rest.get(1..2) == Some("\"") {
            rest = rest.get(1..).unwrap_or_default();
        }
        let length = rest.chars().next().map_or(0, char::len_utf8);
        let (text, tail) = rest.split_at(after(rest, length));
        let separator = c.is_ascii_punctuation() || c.is_ascii_whitespace();
        parts.push(if separator { Part::Separator(text) } else { Part::Bare(text) });
        rest = tail;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_taken_apart() {
        let plain = |name| Part::Pattern { name, fill: false, translated: false, ordinal: None };
        assert_eq!(parse("YYYYMM"), [plain("YYYY"), plain("MM")]);
        assert_eq!(
            parse("FMDDTH-\"a\\\"\"x"),
            [
                Part::Pattern { name: "DD", fill: true, translated: false, ordinal: Some(true) },
                Part::Separator("-"),
                Part::Literal("a"),
                Part::Literal("\""),
                Part::Bare("x"),
            ]
        );
        assert_eq!(parse("\\\"é"), [Part::Separator("\""), Part::Bare("é")]);
    }
}
