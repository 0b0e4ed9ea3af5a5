//! Writes lists of options.

use super::name::{is_plain, quoted};
use super::writer::{Print, Writer};
use crate::keyword::{Category, Keyword};
use crate::tree::{Name, OptionItem, OptionValue, SequenceOption};
use std::borrow::Cow;

/// Writes `(name = value, …)`, as of storage parameters.
pub(super) fn equated(options: &[OptionItem], out: &mut Writer) {
    out.open().each(options, |out, option| {
        if let Some(namespace) = &option.namespace {
            out.word(&label(&namespace.value)).tie(".");
        }
        out.word(&label(&option.name.value));
        if let Some(value) = &option.value {
            equated_value(value, out.word("="));
        }
    });
    out.close();
}

/// Writes `WITH (name = value, …)`, if there are options.
pub(super) fn with(options: &[OptionItem], out: &mut Writer) {
    if !options.is_empty() {
        equated(options, out.word("WITH"));
    }
}

/// Writes `(name value, …)`, as of EXPLAIN and COPY.
pub(super) fn plain(options: &[OptionItem], out: &mut Writer) {
    out.open().each(options, |out, option| {
        out.word(&utility_name(&option.name.value));
        if let Some(value) = &option.value {
            plain_value(value, out);
        }
    });
    out.close();
}

/// Writes `(name value, …)` if there are options.
pub(super) fn plain_if_any(options: &[OptionItem], out: &mut Writer) {
    if !options.is_empty() {
        plain(options, out);
    }
}

/// A name where any keyword may stand.
pub(super) fn label(name: &str) -> Cow<'_, str> {
    if is_plain(name) { Cow::Borrowed(name) } else { quoted(name) }
}

/// The name of an option of EXPLAIN and its kin. ANALYZE is the only reserved word among them.
fn utility_name(name: &str) -> Cow<'_, str> {
    let reserved = Keyword::named(name).is_some_and(|keyword| keyword.category() == Category::Reserved);
    if is_plain(name) && (!reserved || name == "analyze") { Cow::Owned(name.to_uppercase()) } else { quoted(name) }
}

fn equated_value(value: &OptionValue, out: &mut Writer) {
    match value {
        OptionValue::Word(word) => {
            let reserved = Keyword::named(word).is_some_and(|keyword| keyword.category() == Category::Reserved);
            out.word(&if reserved || word == "none" { Cow::Borrowed(word.as_str()) } else { quoted(word) });
        }
        value => other_value(value, out, equated_value),
    }
}

/// Writes a value where TRUE, FALSE and ON are the only reserved words.
pub(super) fn plain_value(value: &OptionValue, out: &mut Writer) {
    match value {
        OptionValue::Word(word) if matches!(word.as_str(), "true" | "false" | "on") => {
            out.word(&word.to_uppercase());
        }
        OptionValue::Word(word) => {
            out.name(word);
        }
        value => other_value(value, out, plain_value),
    }
}

fn other_value(value: &OptionValue, out: &mut Writer, item: fn(&OptionValue, &mut Writer)) {
    match value {
        OptionValue::Word(word) => out.name(word),
        OptionValue::String(text) => out.string(text),
        OptionValue::Number(number) => out.word(number),
        OptionValue::Type(data_type) => out.node(data_type),
        OptionValue::Operator(operator) => out.node(operator),
        OptionValue::Star => out.word("*"),
        OptionValue::List(values) => out.open().each(values, |out, value| item(value, out)).close(),
    };
}

impl Print for SequenceOption {
    fn print(&self, out: &mut Writer) {
        let named = |out: &mut Writer, word: &str, name: &Name| {
            out.word(word).node(name);
        };
        match self {
            SequenceOption::As(data_type) => {
                out.word("AS").node(data_type);
            }
            SequenceOption::Cache(number, _) => {
                out.word("CACHE").word(number);
            }
            SequenceOption::Cycle(cycle, _) => {
                out.either(*cycle, "CYCLE", "NO CYCLE");
            }
            SequenceOption::Increment(number, _) => {
                out.word("INCREMENT BY").word(number);
            }
            SequenceOption::MaxValue(Some(number), _) => {
                out.word("MAXVALUE").word(number);
            }
            SequenceOption::MaxValue(None, _) => {
                out.word("NO MAXVALUE");
            }
            SequenceOption::MinValue(Some(number), _) => {
                out.word("MINVALUE").word(number);
            }
            SequenceOption::MinValue(None, _) => {
                out.word("NO MINVALUE");
            }
            SequenceOption::OwnedBy(name, _) => named(out, "OWNED BY", name),
            SequenceOption::SequenceName(name, _) => named(out, "SEQUENCE NAME", name),
            SequenceOption::Start(number, _) => {
                out.word("START WITH").word(number);
            }
            SequenceOption::Logged(logged, _) => {
                out.either(*logged, "LOGGED", "UNLOGGED");
            }
            SequenceOption::Restart(Some(number), _) => {
                out.word("RESTART WITH").word(number);
            }
            SequenceOption::Restart(None, _) => {
                out.word("RESTART");
            }
        }
    }
}
