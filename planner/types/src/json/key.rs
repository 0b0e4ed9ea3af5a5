//! Sort keys of jsonb: their byte order is PostgreSQL's order of jsonb. The order is null, strings, numbers, booleans,
//! arrays, objects. Longer arrays and objects follow shorter ones. As in PostgreSQL, an empty array precedes
//! everything.

use super::parse::{Node, Value, parse};
use crate::numeric::{Numeric, key_of};
use sql_error::Result;

/// The sort key of a jsonb. Errors: 22P02 if the text is not JSON.
pub fn key(text: &str) -> Result<Vec<u8>> {
    let node = parse(text)?;
    let mut out = Vec::with_capacity(text.len() + 8);
    match &node.value {
        Value::Array(elements) if elements.is_empty() => out.push(0),
        _ => push(&node, &mut out)?,
    }
    Ok(out)
}

fn push_text(text: &str, out: &mut Vec<u8>) {
    // A jsonb string cannot contain a zero byte.
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn push(node: &Node<'_>, out: &mut Vec<u8>) -> Result<()> {
    match &node.value {
        Value::Null => out.push(1),
        Value::String(text) => {
            out.push(2);
            push_text(text, out);
        }
        Value::Number(digits) => {
            out.push(3);
            out.extend_from_slice(key_of(&Numeric::parse(digits)?.to_bytes()));
        }
        Value::Bool(value) => out.extend_from_slice(&[4, u8::from(*value)]),
        Value::Array(elements) => {
            out.push(5);
            out.extend_from_slice(&(elements.len() as u32).to_be_bytes());
            for element in elements {
                push(element, out)?;
            }
        }
        Value::Object(pairs) => {
            out.push(6);
            out.extend_from_slice(&(pairs.len() as u32).to_be_bytes());
            for (key, value) in pairs {
                push_text(key, out);
                push(value, out)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::key;

    #[test]
    fn values_are_ordered_as_postgresql_orders_them() {
        let sorted = [
            "[]",
            "null",
            "\"a\"",
            "\"b\"",
            "-1",
            "2",
            "10",
            "false",
            "true",
            "[1]",
            "[2]",
            "[0, 0]",
            "{}",
            "{\"a\": 1}",
        ];
        for pair in sorted.windows(2) {
            let [a, b] = pair else { continue };
            assert!(key(a).unwrap() < key(b).unwrap(), "{a} {b}");
        }
        assert_eq!(key("1.0").unwrap(), key("1.00").unwrap());
    }
}
