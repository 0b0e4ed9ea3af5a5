//! Converts POSIX's basic regular expressions to extended ones. In basic syntax, `\(` and `\{` are operators, while
//! `+`, `?` and `|` are literals.

/// The pattern in extended syntax. A back reference stays `\1`.
pub(super) fn as_extended(pattern: &str) -> String {
    let chars: Vec<char> = pattern.chars().collect();
    let at = |place: usize| chars.get(place).copied();
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut place = 0;
    // Whether a star or an anchor here is at the start of the pattern or of a group.
    let mut first = true;
    while let Some(c) = at(place) {
        place += 1;
        let begins = std::mem::replace(&mut first, false);
        match c {
            '\\' => {
                let Some(escaped) = at(place) else {
                    out.push('\\');
                    break;
                };
                place += 1;
                match escaped {
                    '(' => {
                        out.push('(');
                        first = true;
                    }
                    ')' => out.push(')'),
                    '{' => place = bound(&chars, place, &mut out),
                    '<' => out.push_str("[[:<:]]"),
                    '>' => out.push_str("[[:>:]]"),
                    other => out.extend(['\\', other]),
                }
            }
            '[' => place = brackets(&chars, place, &mut out),
            '*' if begins || out == "^" => out.push_str("\\*"),
            '^' if !begins => out.push_str("\\^"),
            '$' if at(place).is_some() && !(at(place) == Some('\\') && at(place + 1) == Some(')')) => {
                out.push_str("\\$")
            }
            '(' | ')' | '{' | '}' | '|' | '+' | '?' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Copies a bound from behind `\{` up to `\}`. Answers the position behind it.
fn bound(chars: &[char], mut place: usize, out: &mut String) -> usize {
    out.push('{');
    while let Some(c) = chars.get(place) {
        place += 1;
        match (c, chars.get(place)) {
            ('\\', Some('}')) => {
                out.push('}');
                return place + 1;
            }
            // A brace alone does not end the bound.
            ('}', _) => out.push('{'),
            (c, _) => out.push(*c),
        }
    }
    place
}

/// Copies a bracket expression whose `[` was read. Answers the position behind it.
fn brackets(chars: &[char], start: usize, out: &mut String) -> usize {
    let mut place = start;
    place += usize::from(chars.get(place) == Some(&'^'));
    place += usize::from(chars.get(place) == Some(&']'));
    while let Some(c) = chars.get(place) {
        place += 1;
        if *c == ']' {
            break;
        }
        if let ('[', Some(kind @ (':' | '.' | '='))) = (*c, chars.get(place)) {
            place += 1;
            while let Some(c) = chars.get(place) {
                place += 1;
                if c == kind && chars.get(place) == Some(&']') {
                    place += 1;
                    break;
                }
            }
        }
    }
    out.push('[');
    out.extend(chars.get(start..place).unwrap_or_default());
    place
}

#[cfg(test)]
mod tests {
    use super::as_extended;

    #[test]
    fn what_is_bare_stands_for_itself() {
        assert_eq!(as_extended(r"a\{2\}\(b\)\1+"), r"a{2}(b)\1\+");
        assert_eq!(as_extended(r"*a^b$c$"), r"\*a\^b\$c$");
        assert_eq!(as_extended("^*a"), r"^\*a");
        assert_eq!(as_extended(r"\(*a$\)"), r"(\*a$)");
        assert_eq!(as_extended(r"[]*(]x|[[:alpha:]*]"), r"[]*(]x\|[[:alpha:]*]");
    }
}
