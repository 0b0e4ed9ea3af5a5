//! COPY, with the options of PostgreSQL 9 and of earlier releases.

use super::table_as::into_of;
use super::{inner, query, values};
use crate::copy::{Copy, CopyColumns, CopyCondition, CopyFormat, CopyHeader, CopyOptions, CopyTarget};
use crate::options::{required, text_of, truth};
use crate::source::Source;
use crate::statement::StatementKind;
use grammar::tree::{self as ast, CopyPeer, OptionItem, OptionValue};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::encoding::{Encoding, canonical};

#[derive(Default)]
struct Given {
    format: Option<CopyFormat>,
    freeze: Option<bool>,
    delimiter: Option<String>,
    null: Option<String>,
    header: Option<CopyHeader>,
    quote: Option<String>,
    escape: Option<String>,
    force_quote: Option<CopyColumns>,
    force_not_null: Option<CopyColumns>,
    force_null: Option<CopyColumns>,
    encoding: Option<Encoding>,
}

/// COPY. Errors: 0A000 for a file or a program, and those of its options.
pub(super) fn copy(source: &Arc<Source>, copy: ast::Copy) -> Result<StatementKind> {
    let target = match copy.target {
        ast::CopyTarget::Table(name, columns) => CopyTarget::Table { name, columns: values(columns) },
        ast::CopyTarget::Statement(tree) => {
            if into_of(&tree).is_some() {
                return Err(not_supported("COPY (SELECT INTO) is not supported"));
            }
            if matches!(tree.as_ref(), ast::Statement::Merge(_)) {
                return Err(not_supported("MERGE not supported in COPY"));
            }
            CopyTarget::Query(Box::new(inner(source, *tree)?))
        }
    };
    match copy.peer {
        CopyPeer::Client => {}
        CopyPeer::Program(_) => return Err(SqlError::unsupported("COPY with a PROGRAM")),
        CopyPeer::File(_) => {
            return Err(SqlError::unsupported("COPY with a file of the server")
                .hint("Use psql's \\copy, or COPY with STDIN or STDOUT."));
        }
    }
    let mut given = Given::default();
    copy.options.iter().try_for_each(|item| option(source, item, &mut given))?;
    let condition = match copy.filter {
        Some(expr) => {
            query::check_parts(source, &expr)?;
            Some(CopyCondition { expr, source: Arc::clone(source) })
        }
        None => None,
    };
    let options = finish(given, copy.from)?;
    Ok(StatementKind::Copy(Box::new(Copy { target, from: copy.from, options, condition })))
}

/// The column list of an option.
fn columns(item: &OptionItem) -> Result<CopyColumns> {
    match &item.value {
        Some(OptionValue::Star) => Ok(CopyColumns::All),
        Some(OptionValue::List(names)) => Ok(CopyColumns::Some(names.iter().map(text_of).collect())),
        _ => {
            let message = format!("argument to option \"{}\" must be a list of column names", item.name.value);
            Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message))
        }
    }
}

fn once<T>(slot: &mut Option<T>, value: T) -> Result<()> {
    if slot.replace(value).is_some() {
        return Err(SqlError::syntax("conflicting or redundant options"));
    }
    Ok(())
}

fn format_named(name: &str) -> Result<CopyFormat> {
    match name {
        "text" => Ok(CopyFormat::Text),
        "csv" => Ok(CopyFormat::Csv),
        "binary" => Ok(CopyFormat::Binary),
        other => Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("COPY format \"{other}\" not recognized"))),
    }
}

fn header(item: &OptionItem) -> Result<CopyHeader> {
    if item.value.as_ref().is_some_and(|value| text_of(value).eq_ignore_ascii_case("match")) {
        return Ok(CopyHeader::Match);
    }
    match truth(item) {
        Ok(true) => Ok(CopyHeader::Yes),
        Ok(false) => Ok(CopyHeader::No),
        Err(_) => Err(SqlError::syntax("header requires a Boolean value or \"match\"")),
    }
}

/// Reads an option. Its errors point at the option's name, except those of a missing or non-Boolean value.
fn option(source: &Source, item: &OptionItem, given: &mut Given) -> Result<()> {
    let noted = match item.name.value.as_str() {
        "format" => {
            let format = required(item)?;
            format_named(&format).and_then(|format| once(&mut given.format, format))
        }
        "freeze" => {
            let freeze = truth(item)?;
            once(&mut given.freeze, freeze)
        }
        "delimiter" => once(&mut given.delimiter, required(item)?),
        "null" => once(&mut given.null, required(item)?),
        "header" => {
            let header = header(item)?;
            once(&mut given.header, header)
        }
        "quote" => once(&mut given.quote, required(item)?),
        "escape" => once(&mut given.escape, required(item)?),
        "force_quote" => columns(item).and_then(|columns| once(&mut given.force_quote, columns)),
        "force_not_null" => columns(item).and_then(|columns| once(&mut given.force_not_null, columns)),
        "force_null" => columns(item).and_then(|columns| once(&mut given.force_null, columns)),
        "encoding" => {
            let named = required(item)?;
            encoding(&named).and_then(|encoding| once(&mut given.encoding, encoding))
        }
        other => Err(SqlError::syntax(format!("option \"{other}\" not recognized"))),
    };
    noted.map_err(|error| source.error(error, item.span))
}

fn encoding(name: &str) -> Result<Encoding> {
    Encoding::named(name).ok_or_else(|| match canonical(name) {
        Some(known) => SqlError::unsupported(format!("the encoding \"{known}\"")),
        None => {
            let message = "argument to option \"encoding\" must be a valid encoding name";
            SqlError::new(state::INVALID_PARAMETER_VALUE, message)
        }
    })
}

fn one_byte(text: &str, what: &str) -> Result<u8> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(not_supported(format!("COPY {what} must be a single one-byte character"))),
    }
}

fn not_supported(message: impl Into<String>) -> SqlError {
    SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
}

/// Fills in defaults and checks the options, in PostgreSQL's order.
fn finish(given: Given, from: bool) -> Result<CopyOptions> {
    let invalid = |message: &str| SqlError::new(state::INVALID_PARAMETER_VALUE, message);
    let format = given.format.unwrap_or(CopyFormat::Text);
    let csv = format == CopyFormat::Csv;
    if format == CopyFormat::Binary {
        if given.delimiter.is_some() {
            return Err(SqlError::syntax("cannot specify DELIMITER in BINARY mode"));
        }
        if given.null.is_some() {
            return Err(SqlError::syntax("cannot specify NULL in BINARY mode"));
        }
        if given.header.is_some_and(|header| header != CopyHeader::No) {
            return Err(not_supported("cannot specify HEADER in BINARY mode"));
        }
    }
    if given.header == Some(CopyHeader::Match) && !from {
        return Err(not_supported("cannot use \"match\" with HEADER in COPY TO"));
    }
    let delimiter = match &given.delimiter {
        Some(text) => one_byte(text, "delimiter")?,
        None if csv => b',',
        None => b'\t',
    };
    if matches!(delimiter, b'\n' | b'\r') {
        return Err(invalid("COPY delimiter cannot be newline or carriage return"));
    }
    let null = given.null.unwrap_or_else(|| if csv { String::new() } else { "\\N".into() });
    if null.contains(['\n', '\r']) {
        return Err(invalid("COPY null representation cannot use newline or carriage return"));
    }
    if !csv && b"\\.abcdefghijklmnopqrstuvwxyz0123456789".contains(&delimiter) {
        return Err(invalid(&format!("COPY delimiter cannot be \"{}\"", char::from(delimiter))));
    }
    let only_in_csv = |given: bool, what: &str| {
        if given && !csv {
            return Err(not_supported(format!("COPY {what} available only in CSV mode")));
        }
        Ok(())
    };
    only_in_csv(given.quote.is_some(), "quote")?;
    let quote = given.quote.map_or(Ok(b'"'), |text| one_byte(&text, "quote"))?;
    if csv && quote == delimiter {
        return Err(invalid("COPY delimiter and quote must be different"));
    }
    only_in_csv(given.escape.is_some(), "escape")?;
    let escape = given.escape.map_or(Ok(quote), |text| one_byte(&text, "escape"))?;
    let forced = [
        (given.force_quote.is_some(), "force quote", false),
        (given.force_not_null.is_some(), "force not null", true),
        (given.force_null.is_some(), "force null", true),
    ];
    for (given, what, for_from) in forced {
        only_in_csv(given, what)?;
        if given && from != for_from {
            let direction = if for_from { "FROM" } else { "TO" };
            return Err(not_supported(format!("COPY {what} only available using COPY {direction}")));
        }
    }
    if null.as_bytes().contains(&delimiter) {
        return Err(not_supported("COPY delimiter must not appear in the NULL specification"));
    }
    if csv && null.as_bytes().contains(&quote) {
        return Err(not_supported("CSV quote character must not appear in the NULL specification"));
    }
    let none = || CopyColumns::Some(Vec::new());
    Ok(CopyOptions {
        format,
        freeze: given.freeze.unwrap_or(false),
        delimiter,
        null,
        header: given.header.unwrap_or(CopyHeader::No),
        quote,
        escape,
        force_quote: given.force_quote.unwrap_or_else(none),
        force_not_null: given.force_not_null.unwrap_or_else(none),
        force_null: given.force_null.unwrap_or_else(none),
        encoding: given.encoding,
    })
}
