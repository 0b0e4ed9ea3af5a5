//! Writes calls of functions.

use super::expression::{Place, expr};
use super::level::Level;
use super::name::{function_name, is_plain};
use super::writer::{Print, Writer};
use crate::keyword::Keyword;
use crate::tree::{Argument, Call, CurrentValue, Expr, Over, SpecialCall, TrimSide};

impl Print for Call {
    fn print(&self, out: &mut Writer) {
        function_name(&self.name, out);
        out.tie("(");
        if self.star {
            out.word("*");
        }
        out.word_if(self.distinct, "DISTINCT");
        for (at, argument) in self.arguments.iter().enumerate() {
            if at > 0 {
                out.sign(",");
            }
            out.word_if(self.variadic && at + 1 == self.arguments.len(), "VARIADIC").node(argument);
        }
        out.list_clause("ORDER BY", &self.order_by).close();
        if !self.within_group.is_empty() {
            out.word("WITHIN GROUP").open().word("ORDER BY").list(&self.within_group).close();
        }
        if let Some(filter) = &self.filter {
            out.word("FILTER").open().word("WHERE").node(filter).close();
        }
        match &self.over {
            Some(Over::Named(name)) => out.word("OVER").node(name),
            Some(Over::Spec(spec)) => out.word("OVER").node(spec),
            None => out,
        };
    }
}

impl Print for Argument {
    fn print(&self, out: &mut Writer) {
        if let Some(name) = &self.name {
            out.node(name).word("=>");
        }
        self.value.print(out);
    }
}

impl Print for SpecialCall {
    fn print(&self, out: &mut Writer) {
        let function = |out: &mut Writer, name: &str, arguments: &[Expr]| {
            out.word(name).arguments(arguments);
        };
        match self {
            SpecialCall::Coalesce(arguments) => function(out, "COALESCE", arguments),
            SpecialCall::Greatest(arguments) => function(out, "GREATEST", arguments),
            SpecialCall::Least(arguments) => function(out, "LEAST", arguments),
            SpecialCall::Grouping(arguments) => function(out, "GROUPING", arguments),
            SpecialCall::NullIf(left, right) => {
                out.word("NULLIF").tie("(").node(left).sign(",").node(right).close();
            }
            SpecialCall::Extract(field, value) => {
                out.word("EXTRACT").tie("(");
                extract_field(field, out);
                out.word("FROM").node(value).close();
            }
            SpecialCall::Position(part, whole) => {
                expr(part, Place::RESTRICTED, out.word("POSITION").tie("("));
                expr(whole, Place::RESTRICTED, out.word("IN"));
                out.close();
            }
            SpecialCall::Overlay(text, replacement, from, count) => {
                out.word("OVERLAY").tie("(").node(text).word("PLACING").node(replacement).word("FROM").node(from);
                out.clause("FOR", count).close();
            }
            SpecialCall::Substring(text, from, count) => {
                out.word("SUBSTRING").tie("(").node(text).clause("FROM", from).clause("FOR", count).close();
            }
            SpecialCall::SubstringSimilar(text, pattern, escape) => {
                // SIMILAR and ESCAPE would otherwise belong to the operand of a looser operator.
                let operand = Place::at_least(Level::MATCH.above());
                expr(text, operand, out.word("SUBSTRING").tie("("));
                expr(pattern, operand, out.word("SIMILAR"));
                out.word("ESCAPE").node(escape).close();
            }
            SpecialCall::Trim(side, arguments) => {
                trim(*side, arguments, out);
            }
            SpecialCall::Normalize(value, form) => {
                out.word("NORMALIZE").tie("(").node(value);
                if let Some(form) = form {
                    out.sign(",").word(form);
                }
                out.close();
            }
            SpecialCall::Treat(value, data_type) => {
                out.word("TREAT").tie("(").node(value).word("AS").node(data_type).close();
            }
            SpecialCall::CollationFor(value) => {
                out.word("COLLATION FOR").open().node(value).close();
            }
            SpecialCall::Current(value, precision) => {
                out.word(current(*value));
                if let Some(precision) = precision {
                    out.sign(&format!("({precision})"));
                }
            }
        }
    }
}

/// Writes the field of EXTRACT: a word, or else a string.
fn extract_field(field: &str, out: &mut Writer) {
    let word = match Keyword::named(field) {
        Some(_) => matches!(field, "year" | "month" | "day" | "hour" | "minute" | "second"),
        None => is_plain(field),
    };
    if word {
        out.word(field);
    } else {
        out.string(field);
    }
}

fn trim(side: TrimSide, arguments: &[Expr], out: &mut Writer) {
    out.word("TRIM").tie("(").word(match side {
        TrimSide::Both => "BOTH",
        TrimSide::Leading => "LEADING",
        TrimSide::Trailing => "TRAILING",
    });
    match arguments {
        [text, characters] => out.node(characters).word("FROM").node(text),
        _ => out.word("FROM").list(arguments),
    };
    out.close();
}

fn current(value: CurrentValue) -> &'static str {
    match value {
        CurrentValue::Date => "CURRENT_DATE",
        CurrentValue::Time => "CURRENT_TIME",
        CurrentValue::Timestamp => "CURRENT_TIMESTAMP",
        CurrentValue::LocalTime => "LOCALTIME",
        CurrentValue::LocalTimestamp => "LOCALTIMESTAMP",
        CurrentValue::Role => "CURRENT_ROLE",
        CurrentValue::User => "CURRENT_USER",
        CurrentValue::PlainUser => "USER",
        CurrentValue::SessionUser => "SESSION_USER",
        CurrentValue::Catalog => "CURRENT_CATALOG",
        CurrentValue::Schema => "CURRENT_SCHEMA",
    }
}
