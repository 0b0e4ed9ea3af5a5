//! FORMAT JSON, YAML and XML: the members of a plan's nodes, written in PostgreSQL's layout. Must not know operators.

use crate::parse::ExplainFormat;
use std::fmt::Write;

/// Member names and their values, in output order.
pub type Members = Vec<(&'static str, Value)>;

/// The value of a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string, quoted on output.
    Text(String),
    /// A number, in its final text form.
    Number(String),
    /// A Boolean, `true` or `false`.
    Truth(bool),
    /// A list of strings.
    List(Vec<String>),
    /// A nested object with its members.
    Object(Members),
    /// A list of objects, with the XML name of each element.
    Objects(&'static str, Vec<Members>),
}

impl Value {
    /// The value as FORMAT TEXT shows it after its name.
    pub fn plain(&self) -> String {
        match self {
            Value::Text(text) | Value::Number(text) => text.clone(),
            Value::Truth(truth) => truth.to_string(),
            Value::List(items) => items.join(", "),
            Value::Object(_) | Value::Objects(..) => String::new(),
        }
    }
}

/// Formats one statement's members as JSON, YAML or XML.
pub fn write(members: &Members, format: ExplainFormat) -> String {
    match format {
        ExplainFormat::Text => String::new(),
        ExplainFormat::Json => {
            let mut out = "[\n".to_string();
            json_object(members, 1, &mut out);
            out.push_str("\n]");
            out
        }
        ExplainFormat::Yaml => {
            let mut out = String::new();
            yaml_item(members, 0, &mut out);
            out.trim_end_matches('\n').to_string()
        }
        ExplainFormat::Xml => {
            let mut out = "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n".to_string();
            xml_object("Query", members, 1, &mut out);
            out.push_str("</explain>");
            out
        }
    }
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Writes a string in double quotes, as JSON and YAML require.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn json_object(members: &Members, depth: usize, out: &mut String) {
    indent(depth, out);
    json_members(members, depth, out);
}

fn json_members(members: &Members, depth: usize, out: &mut String) {
    out.push_str("{\n");
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push_str(",\n");
        }
        indent(depth + 1, out);
        quoted(name, out);
        out.push_str(": ");
        json_value(value, depth + 1, out);
    }
    out.push('\n');
    indent(depth, out);
    out.push('}');
}

fn json_value(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Text(text) => quoted(text, out),
        Value::Number(number) => out.push_str(number),
        Value::Truth(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                quoted(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => json_members(members, depth, out),
        Value::Objects(_, objects) => {
            out.push('[');
            for (at, members) in objects.iter().enumerate() {
                out.push_str(if at > 0 { ",\n" } else { "\n" });
                json_object(members, depth + 1, out);
            }
            out.push('\n');
            indent(depth, out);
            out.push(']');
        }
    }
}

/// Writes an object as an item of a YAML list.
fn yaml_item(members: &Members, depth: usize, out: &mut String) {
    for (at, (name, value)) in members.iter().enumerate() {
        indent(depth, out);
        out.push_str(if at == 0 { "- " } else { "  " });
        yaml_member(name, value, depth + 1, out);
    }
}

fn yaml_member(name: &str, value: &Value, depth: usize, out: &mut String) {
    out.push_str(name);
    out.push_str(": ");
    match value {
        Value::Text(text) => quoted(text, out),
        Value::Number(number) => out.push_str(number),
        Value::Truth(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::List(items) => {
            for item in items {
                out.push('\n');
                indent(depth + 1, out);
                out.push_str("- ");
                quoted(item, out);
            }
        }
        Value::Object(members) => {
            out.push('\n');
            for (name, value) in members {
                indent(depth + 1, out);
                yaml_member(name, value, depth + 1, out);
            }
            return;
        }
        Value::Objects(_, objects) => {
            out.push('\n');
            for members in objects {
                yaml_item(members, depth + 1, out);
            }
            return;
        }
    }
    out.push('\n');
}

fn xml_object(tag: &str, members: &Members, depth: usize, out: &mut String) {
    indent(depth, out);
    out.push_str(&format!("<{tag}>\n"));
    for (name, value) in members {
        xml_value(&name.replace(' ', "-"), value, depth + 1, out);
    }
    indent(depth, out);
    out.push_str(&format!("</{tag}>\n"));
}

fn xml_text(tag: &str, text: &str, depth: usize, out: &mut String) {
    indent(depth, out);
    out.push_str(&format!("<{tag}>"));
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#x0d;"),
            other => out.push(other),
        }
    }
    out.push_str(&format!("</{tag}>\n"));
}

fn xml_value(tag: &str, value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Text(_) | Value::Number(_) | Value::Truth(_) => xml_text(tag, &value.plain(), depth, out),
        Value::Object(members) => xml_object(tag, members, depth, out),
        Value::List(items) => {
            indent(depth, out);
            out.push_str(&format!("<{tag}>\n"));
            items.iter().for_each(|item| xml_text("Item", item, depth + 1, out));
            indent(depth, out);
            out.push_str(&format!("</{tag}>\n"));
        }
        Value::Objects(each, objects) => {
            indent(depth, out);
            out.push_str(&format!("<{tag}>\n"));
            objects.iter().for_each(|members| xml_object(each, members, depth + 1, out));
            indent(depth, out);
            out.push_str(&format!("</{tag}>\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Members {
        let below = vec![("Node Type", Value::Text("Seq Scan".into())), ("Filter", Value::Text("(a < 'x\"y')".into()))];
        let plan = vec![
            ("Node Type", Value::Text("Sort".into())),
            ("Parallel Aware", Value::Truth(false)),
            ("Plan Rows", Value::Number("3".into())),
            ("Sort Key", Value::List(vec!["a".into(), "b DESC".into()])),
            ("Plans", Value::Objects("Plan", vec![below])),
        ];
        vec![("Plan", Value::Object(plan)), ("Triggers", Value::Objects("Trigger", vec![]))]
    }

    #[test]
    fn json_is_laid_out_as_in_postgresql() {
        let expected = r#"[
  {
    "Plan": {
      "Node Type": "Sort",
      "Parallel Aware": false,
      "Plan Rows": 3,
      "Sort Key": ["a", "b DESC"],
      "Plans": [
        {
          "Node Type": "Seq Scan",
          "Filter": "(a < 'x\"y')"
        }
      ]
    },
    "Triggers": [
    ]
  }
]"#;
        assert_eq!(write(&example(), ExplainFormat::Json), expected);
    }

    #[test]
    fn yaml_is_laid_out_as_in_postgresql() {
        let expected = "- Plan: \n    Node Type: \"Sort\"\n    Parallel Aware: false\n    Plan Rows: 3\n    Sort Key: \n      \
                        - \"a\"\n      - \"b DESC\"\n    Plans: \n      - Node Type: \"Seq Scan\"\n        Filter: \"(a < \
                        'x\\\"y')\"\n  Triggers: ";
        assert_eq!(write(&example(), ExplainFormat::Yaml), expected);
    }

    #[test]
    fn xml_is_laid_out_as_in_postgresql() {
        let text = write(&example(), ExplainFormat::Xml);
        assert!(
            text.starts_with("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  <Query>\n    <Plan>\n")
        );
        assert!(
            text.contains("      <Sort-Key>\n        <Item>a</Item>\n        <Item>b DESC</Item>\n      </Sort-Key>\n")
        );
        assert!(text.contains("          <Filter>(a &lt; 'x\"y')</Filter>\n"));
        assert!(text.ends_with("    <Triggers>\n    </Triggers>\n  </Query>\n</explain>"));
    }
}
