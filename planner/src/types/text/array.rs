//! Array literals: `{a,"b c",NULL}`.

use crate::error::{Result, SqlError, state};

/// The elements of an array literal, unquoted; `None` for NULL.
/// Errors: 22P02 for malformed text; 0A000 for more than one dimension or explicit bounds.
pub fn split_array(text: &str) -> Result<Vec<Option<String>>> {
    let malformed =
        || SqlError::new(state::INVALID_TEXT_REPRESENTATION, format!("malformed array literal: \"{text}\""));
    let trimmed = text.trim();
    if trimmed.starts_with('[') {
        return Err(SqlError::unsupported("an array with explicit bounds"));
    }
    let body = trimmed.strip_prefix('{').and_then(|body| body.strip_suffix('}')).ok_or_else(malformed)?;
    let mut elements = Vec::new();
    if body.trim().is_empty() {
        return Ok(elements);
    }
    let mut chars = body.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
        let mut element = String::new();
        let mut quoted = false;
        // Length up to the last character that counts: white space after an element does not.
        let mut kept = 0;
        loop {
            match chars.next() {
                None => {
                    element.truncate(kept);
                    push(&mut elements, element, quoted).ok_or_else(malformed)?;
                    return Ok(elements);
                }
                Some(',') => break,
                Some('"') if !quoted && element.is_empty() => {
                    quoted = true;
                    loop {
                        match chars.next().ok_or_else(malformed)? {
                            '"' => break,
                            '\\' => element.push(chars.next().ok_or_else(malformed)?),
                            c => element.push(c),
                        }
                    }
                    kept = element.len();
                }
                Some('"') => return Err(malformed()),
                Some('{') => return Err(SqlError::unsupported("a multidimensional array")),
                Some('}') => return Err(malformed()),
                Some('\\') if !quoted => {
                    element.push(chars.next().ok_or_else(malformed)?);
                    kept = element.len();
                }
                Some(c) if c.is_ascii_whitespace() => {
                    if !quoted {
                        element.push(c);
                    }
                }
                Some(_) if quoted => return Err(malformed()),
                Some(c) => {
                    element.push(c);
                    kept = element.len();
                }
            }
        }
        element.truncate(kept);
        push(&mut elements, element, quoted).ok_or_else(malformed)?;
    }
}

fn push(elements: &mut Vec<Option<String>>, element: String, quoted: bool) -> Option<()> {
    if !quoted && element.is_empty() {
        return None;
    }
    elements.push((quoted || !element.eq_ignore_ascii_case("null")).then_some(element));
    Some(())
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
