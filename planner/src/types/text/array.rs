//! Array literals: `{a,"b c",NULL}`.

use crate::error::{Result, SqlError, state};

/// The elements of an array literal, unquoted; `None` for NULL.
/// Errors: 22P02 for malformed text; 0A000 for more than one dimension or explicit bounds.
pub fn split_array(text: &str) -> Result<Vec<Option<String>>> {
    let malformed = |detail: &str| {
        SqlError::new(state::INVALID_TEXT_REPRESENTATION, format!("malformed array literal: \"{text}\"")).detail(detail)
    };
    let end = || malformed("Unexpected end of input.");
    let trimmed = text.trim();
    if let Some(bounds) = trimmed.strip_prefix('[') {
        if !bounds.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
            return Err(malformed("\"[\" must introduce explicitly-specified array dimensions."));
        }
        return Err(SqlError::unsupported("an array with explicit bounds"));
    }
    let Some(body) = trimmed.strip_prefix('{') else {
        return Err(malformed("Array value must start with \"{\" or dimension information."));
    };
    let mut elements = Vec::new();
    let mut chars = body.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
        let mut element = String::new();
        let mut quoted = false;
        // Length up to the last character that counts: white space after an element does not.
        let mut kept = 0;
        let last = loop {
            match chars.next().ok_or_else(end)? {
                ',' if !quoted && element.is_empty() => return Err(malformed("Unexpected \",\" character.")),
                ',' => break false,
                '}' if !quoted && element.is_empty() && !elements.is_empty() => {
                    return Err(malformed("Unexpected \"}\" character."));
                }
                '}' => break true,
                '"' if !quoted && element.is_empty() => {
                    quoted = true;
                    loop {
                        match chars.next().ok_or_else(end)? {
                            '"' => break,
                            '\\' => element.push(chars.next().ok_or_else(end)?),
                            c => element.push(c),
                        }
                    }
                    kept = element.len();
                }
                '{' if !quoted && element.is_empty() => return Err(SqlError::unsupported("a multidimensional array")),
                '{' => return Err(malformed("Unexpected \"{\" character.")),
                '\\' if !quoted => {
                    element.push(chars.next().ok_or_else(end)?);
                    kept = element.len();
                }
                c if c.is_ascii_whitespace() => {
                    if !quoted {
                        element.push(c);
                    }
                }
                '"' => return Err(malformed("Unexpected array element.")),
                _ if quoted => return Err(malformed("Unexpected array element.")),
                c => {
                    element.push(c);
                    kept = element.len();
                }
            }
        };
        element.truncate(kept);
        // Nothing at all between the braces is an array without elements.
        if quoted || !element.is_empty() {
            elements.push((quoted || !element.eq_ignore_ascii_case("null")).then_some(element));
        }
        if last {
            break;
        }
    }
    if chars.any(|c| !c.is_ascii_whitespace()) {
        return Err(malformed("Junk after closing right brace."));
    }
    Ok(elements)
}

/// Appends an element as `array_out` writes it, quoted where needed.
pub(super) fn write_element(element: &[u8], out: &mut Vec<u8>) {
    let quote = element.is_empty()
        || element.eq_ignore_ascii_case(b"null")
        || element.iter().any(|byte| {
            matches!(byte, b'"' | b'\\' | b'{' | b'}' | b',') || byte.is_ascii_whitespace() || *byte == 0x0b
        });
    if !quote {
        out.extend_from_slice(element);
        return;
    }
    out.push(b'"');
    for byte in element {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn literals_split() {
        let some = |texts: &[&str]| texts.iter().map(|text| Some((*text).to_string())).collect::<Vec<_>>();
        assert_eq!(split_array("{}").unwrap(), vec![]);
        assert_eq!(split_array("{1,2,3}").unwrap(), some(&["1", "2", "3"]));
        assert_eq!(split_array(r#"{ a b , "c,d" , "e\"f" }"#).unwrap(), some(&["a b", "c,d", "e\"f"]));
        assert_eq!(split_array(r#"{NULL,"NULL",""}"#).unwrap(), vec![None, Some("NULL".into()), Some(String::new())]);
        for bad in ["", "1,2", "{1,2", "{1,}", "{,1}", "{\"a}", "{a\"b\"}"] {
            assert_eq!(split_array(bad).unwrap_err().state(), state::INVALID_TEXT_REPRESENTATION, "{bad}");
        }
        assert_eq!(split_array("{{1},{2}}").unwrap_err().state(), state::FEATURE_NOT_SUPPORTED);
    }
}
