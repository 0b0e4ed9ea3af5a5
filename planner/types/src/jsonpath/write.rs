//! Writes paths in the form that PostgreSQL prints.

use super::{Item, Node, Path, Step};
use crate::json::quote;
use std::fmt;

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.strict {
            out.write_str("strict ")?;
        }
        write(&self.root, true, out)
    }
}

/// Writes an item. `brackets` says whether to put operators in parentheses.
fn write(item: &Item, brackets: bool, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let outer = item.node.priority();
    let operand = |inner: &Item, out: &mut fmt::Formatter<'_>| write(inner, inner.node.priority() <= outer, out);
    let open = |out: &mut fmt::Formatter<'_>| if brackets { out.write_str("(") } else { Ok(()) };
    let close = |out: &mut fmt::Formatter<'_>| if brackets { out.write_str(")") } else { Ok(()) };
    match &item.node {
        Node::Null => out.write_str("null")?,
        Node::Bool(value) => write!(out, "{value}")?,
        Node::Number(digits) if item.steps.is_empty() => out.write_str(digits)?,
        Node::Number(digits) => write!(out, "({digits})")?,
        Node::String(text) => out.write_str(&quote(text))?,
        Node::Variable(name) => write!(out, "${}", quote(name))?,
        Node::Root => out.write_str("$")?,
        Node::Current => out.write_str("@")?,
        Node::Last => out.write_str("last")?,
        Node::Binary(operator, left, right) => {
            open(out)?;
            operand(left, out)?;
            write!(out, " {} ", operator.symbol())?;
            operand(right, out)?;
            close(out)?;
        }
        Node::StartsWith(left, right) => {
            open(out)?;
            operand(left, out)?;
            out.write_str(" starts with ")?;
            operand(right, out)?;
            close(out)?;
        }
        Node::LikeRegex(left, pattern, flags) => {
            open(out)?;
            operand(left, out)?;
            write!(out, " like_regex {}", quote(pattern))?;
            let letters: String = [
                (flags.insensitive, 'i'),
                (flags.dot_all, 's'),
                (flags.lines, 'm'),
                (flags.expanded, 'x'),
                (flags.literal, 'q'),
            ]
            .into_iter()
            .filter_map(|(set, letter)| set.then_some(letter))
            .collect();
            if !letters.is_empty() {
                write!(out, " flag \"{letters}\"")?;
            }
            close(out)?;
        }
        Node::Sign(negative, inner) => {
            open(out)?;
            out.write_str(if *negative { "-" } else { "+" })?;
            operand(inner, out)?;
            close(out)?;
        }
        Node::Not(inner) => {
            out.write_str("!(")?;
            write(inner, false, out)?;
            out.write_str(")")?;
        }
        Node::IsUnknown(inner) => {
            out.write_str("(")?;
            write(inner, false, out)?;
            out.write_str(") is unknown")?;
        }
        Node::Exists(inner) => {
            out.write_str("exists (")?;
            write(inner, false, out)?;
            out.write_str(")")?;
        }
    }
    item.steps.iter().try_for_each(|step| write_step(step, out))
}

fn write_step(step: &Step, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match step {
        Step::Key(key) => write!(out, ".{}", quote(key)),
        Step::AnyKey => out.write_str(".*"),
        Step::AnyElement => out.write_str("[*]"),
        Step::Elements(subscripts) => {
            out.write_str("[")?;
            for (at, (from, to)) in subscripts.iter().enumerate() {
                if at > 0 {
                    out.write_str(",")?;
                }
                write(from, false, out)?;
                if let Some(to) = to {
                    out.write_str(" to ")?;
                    write(to, false, out)?;
                }
            }
            out.write_str("]")
        }
        Step::Levels(0, u32::MAX) => out.write_str(".**"),
        Step::Levels(first, last) => {
            let level = |level: u32| if level == u32::MAX { "last".to_string() } else { level.to_string() };
            if first == last {
                write!(out, ".**{{{}}}", level(*first))
            } else {
                write!(out, ".**{{{} to {}}}", level(*first), level(*last))
            }
        }
        Step::Method(method) => write!(out, ".{}()", method.name()),
        Step::Datetime(None) => out.write_str(".datetime()"),
        Step::Datetime(Some(template)) => write!(out, ".datetime({})", quote(template)),
        Step::Filter(inner) => {
            out.write_str("?(")?;
            write(inner, false, out)?;
            out.write_str(")")
        }
    }
}
