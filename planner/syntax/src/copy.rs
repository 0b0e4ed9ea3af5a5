//! COPY, with the options of PostgreSQL 9 and of earlier releases.

use super::cursor::{Cursor, OptionValue, is_word};
use super::source::Source;
use super::statement::{Statement, StatementKind};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, ObjectName};
use sqlparser::tokenizer::{Span, Token};
use std::sync::Arc;
use types::encoding::{Encoding, canonical};

/// A parsed COPY statement.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The table or query to copy.
    pub target: CopyTarget,
    /// FROM STDIN (true) or TO STDOUT (false).
    pub from: bool,
    /// The options, with defaults filled in.
    pub options: CopyOptions,
    /// The WHERE clause of COPY FROM.
    pub condition: Option<CopyCondition>,
}

/// The WHERE clause of COPY FROM, which selects the rows to insert.
#[derive(Clone, Debug)]
pub struct CopyCondition {
    /// The condition as an expression.
    pub expr: ast::Expr,
    /// The text that contains the condition.
    pub source: Arc<Source>,
}

/// The table or query of a COPY.
#[derive(Clone, Debug)]
pub enum CopyTarget {
    /// A table with the columns to copy.
    Table {
        /// The name of the table.
        name: ObjectName,
        /// The folded names of the columns. Empty means all.
        columns: Vec<String>,
    },
    /// A query, for COPY TO.
    Query(Box<Statement>),
}

/// The value of the option FORMAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CopyFormat {
    Text,
    Csv,
    Binary,
}

/// The value of the option HEADER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CopyHeader {
    No,
    Yes,
    /// MATCH: the names in the header must be those of the columns.
    Match,
}

/// The columns named by an option of csv.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyColumns {
    /// `*`, that is all columns.
    All,
    /// The columns with these folded names.
    Some(Vec<String>),
}

/// The options of a COPY, with defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyOptions {
    /// The value of FORMAT.
    pub format: CopyFormat,
    /// Whether FREEZE is on. It has no effect here.
    pub freeze: bool,
    /// The value of DELIMITER, one byte.
    pub delimiter: u8,
    /// The value of NULL: the text that stands for NULL.
    pub null: String,
    /// The value of HEADER.
    pub header: CopyHeader,
    /// The value of QUOTE, one byte.
    pub quote: u8,
    /// The value of ESCAPE, one byte.
    pub escape: u8,
    /// The columns in FORCE_QUOTE.
    pub force_quote: CopyColumns,
    /// The columns in FORCE_NOT_NULL.
    pub force_not_null: CopyColumns,
    /// The columns in FORCE_NULL.
    pub force_null: CopyColumns,
    /// The value of ENCODING. `None` means the client's encoding.
    pub encoding: Option<Encoding>,
}

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

/// Parses COPY. `None` for any other statement.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    if !cursor.word("copy") {
        return Ok(None);
    }
    let mut binary = false;
    let target = if cursor.peek().is_some_and(|token| token.token == Token::LParen) {
        CopyTarget::Query(Box::new(query(cursor)?))
    } else {
        binary = cursor.at_word("binary")
            && cursor.rest().get(1).is_some_and(|next| matches!(next.token, Token::Word(_)))
            && !cursor.rest().get(1).is_some_and(|next| is_word(next, "from") || is_word(next, "to"))
            && cursor.word("binary");
        let name = cursor.object_name()?;
        let columns =
            if cursor.peek().is_some_and(|token| token.token == Token::LParen) { names(cursor)? } else { Vec::new() };
        CopyTarget::Table { name, columns }
    };
    let of_query = matches!(target, CopyTarget::Query(_));
    let from = !of_query && cursor.word("from");
    if !from {
        cursor.expect_word("to")?;
    }
    if cursor.word("program") {
        return Err(SqlError::unsupported("COPY with a PROGRAM"));
    }
    if cursor.string().is_some() {
        return Err(SqlError::unsupported("COPY with a file of the server")
            .hint("Use psql's \\copy, or COPY with STDIN or STDOUT."));
    }
    if !cursor.word("stdin") && !cursor.word("stdout") {
        return Err(cursor.error());
    }
    let mut given = Given::default();
    if binary {
        given.format = Some(CopyFormat::Binary);
    }
    let delimiters = cursor.mark();
    if !of_query {
        cursor.word("using");
    }
    if cursor.at_word("delimiters") {
        // The position of DELIMITERS before release 7.3.
        old_option(cursor, &mut given)?;
    } else {
        cursor.back_to(delimiters);
    }
    cursor.word("with");
    if cursor.sign(&Token::LParen) {
        loop {
            option(cursor, &mut given)?;
            if cursor.sign(&Token::RParen) {
                break;
            }
            cursor.expect_sign(&Token::Comma)?;
        }
    } else {
        while cursor.peek().is_some() && !cursor.at_word("where") {
            old_option(cursor, &mut given)?;
        }
    }
    let condition = condition(cursor, from)?;
    cursor.end()?;
    let options = finish(given, from)?;
    Ok(Some(StatementKind::Copy(Box::new(Copy { target, from, options, condition }))))
}

/// The query in parentheses. Errors: 42601, and 0A000 for a statement that neither is a query nor writes rows.
fn query(cursor: &mut Cursor<'_>) -> Result<Statement> {
    let mut inside = Cursor::new(cursor.source, cursor.rest());
    inside.expect_sign(&Token::LParen)?;
    let begins = inside.error();
    let tokens = cursor.bracketed()?;
    if tokens.is_empty() {
        return Err(begins);
    }
    let statement = super::parse_one(cursor.source, tokens)?;
    match &statement.kind {
        StatementKind::Sql(tree) => match tree.as_ref() {
            ast::Statement::Query(_)
            | ast::Statement::Insert(_)
            | ast::Statement::Update(_)
            | ast::Statement::Delete(_) => Ok(statement),
            _ => Err(begins),
        },
        StatementKind::CreateTableAs(create) if create.into => {
            Err(not_supported("COPY (SELECT INTO) is not supported"))
        }
        _ => Err(begins),
    }
}

fn condition(cursor: &mut Cursor<'_>, from: bool) -> Result<Option<CopyCondition>> {
    let Some(word) = cursor.peek().filter(|token| is_word(token, "where")) else { return Ok(None) };
    cursor.next();
    let source = Arc::clone(cursor.source);
    if !from {
        return Err(source.error(SqlError::syntax("WHERE clause not allowed with COPY TO"), word.span));
    }
    let expr = super::expression(&source, cursor.take_rest().to_vec())?;
    Ok(Some(CopyCondition { expr, source }))
}

fn names(cursor: &mut Cursor<'_>) -> Result<Vec<String>> {
    cursor.expect_sign(&Token::LParen)?;
    let mut names = vec![cursor.name()?];
    while cursor.sign(&Token::Comma) {
        names.push(cursor.name()?);
    }
    cursor.expect_sign(&Token::RParen)?;
    Ok(names)
}

/// The column list of an option.
fn columns(cursor: &mut Cursor<'_>, option: &str) -> Result<CopyColumns> {
    if cursor.sign(&Token::Mul) {
        return Ok(CopyColumns::All);
    }
    if cursor.peek().is_some_and(|token| token.token == Token::LParen) {
        return Ok(CopyColumns::Some(names(cursor)?));
    }
    cursor.option_value()?;
    let message = format!("argument to option \"{option}\" must be a list of column names");
    Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message))
}

fn text(cursor: &mut Cursor<'_>) -> Result<String> {
    cursor.string().ok_or_else(|| cursor.error())
}

/// The text value of an option.
fn parameter(cursor: &mut Cursor<'_>, option: &str) -> Result<String> {
    match cursor.option_value()? {
        OptionValue::Text(text) | OptionValue::Number(text) => Ok(text),
        OptionValue::None => Err(SqlError::syntax(format!("{option} requires a parameter"))),
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

/// Parses an option in parentheses. Its errors point at the option's name, except those of a
/// missing or non-Boolean value.
fn option(cursor: &mut Cursor<'_>, given: &mut Given) -> Result<()> {
    let place = cursor.peek().map_or_else(Span::empty, |token| token.span);
    let source = Arc::clone(cursor.source);
    let at_name = |error: SqlError| source.error(error, place);
    let name = cursor.name()?;
    match name.as_str() {
        "format" => {
            let format = parameter(cursor, &name)?;
            format_named(&format).and_then(|format| once(&mut given.format, format)).map_err(at_name)
        }
        "freeze" => {
            let freeze = cursor.boolean(&name)?;
            once(&mut given.freeze, freeze).map_err(at_name)
        }
        "delimiter" => once(&mut given.delimiter, parameter(cursor, &name)?).map_err(at_name),
        "null" => once(&mut given.null, parameter(cursor, &name)?).map_err(at_name),
        "header" => {
            let header = match cursor.option_value()? {
                OptionValue::Text(text) if text.eq_ignore_ascii_case("match") => CopyHeader::Match,
                value => match value.truth(&name) {
                    Ok(true) => CopyHeader::Yes,
                    Ok(false) => CopyHeader::No,
                    Err(_) => return Err(SqlError::syntax("header requires a Boolean value or \"match\"")),
                },
            };
            once(&mut given.header, header).map_err(at_name)
        }
        "quote" => once(&mut given.quote, parameter(cursor, &name)?).map_err(at_name),
        "escape" => once(&mut given.escape, parameter(cursor, &name)?).map_err(at_name),
        "force_quote" => {
            columns(cursor, &name).and_then(|columns| once(&mut given.force_quote, columns)).map_err(at_name)
        }
        "force_not_null" => {
            columns(cursor, &name).and_then(|columns| once(&mut given.force_not_null, columns)).map_err(at_name)
        }
        "force_null" => {
            columns(cursor, &name).and_then(|columns| once(&mut given.force_null, columns)).map_err(at_name)
        }
        "encoding" => {
            let named = parameter(cursor, &name)?;
            encoding(&named).and_then(|encoding| once(&mut given.encoding, encoding)).map_err(at_name)
        }
        other => Err(at_name(SqlError::syntax(format!("option \"{other}\" not recognized")))),
    }
}

/// Parses an option in the syntax before release 9.0.
fn old_option(cursor: &mut Cursor<'_>, given: &mut Given) -> Result<()> {
    let place = cursor.peek().map_or_else(Span::empty, |token| token.span);
    let source = Arc::clone(cursor.source);
    let noted = if cursor.word("binary") {
        once(&mut given.format, CopyFormat::Binary)
    } else if cursor.word("freeze") {
        once(&mut given.freeze, true)
    } else if cursor.word("csv") {
        once(&mut given.format, CopyFormat::Csv)
    } else if cursor.word("header") {
        once(&mut given.header, CopyHeader::Yes)
    } else if cursor.word("delimiter") || cursor.word("delimiters") {
        cursor.word("as");
        once(&mut given.delimiter, text(cursor)?)
    } else if cursor.word("null") {
        cursor.word("as");
        once(&mut given.null, text(cursor)?)
    } else if cursor.word("quote") {
        cursor.word("as");
        once(&mut given.quote, text(cursor)?)
    } else if cursor.word("escape") {
        cursor.word("as");
        once(&mut given.escape, text(cursor)?)
    } else if cursor.words(&["force", "quote"]) {
        once(&mut given.force_quote, bare_columns(cursor)?)
    } else if cursor.words(&["force", "not", "null"]) {
        once(&mut given.force_not_null, bare_columns(cursor)?)
    } else if cursor.words(&["force", "null"]) {
        once(&mut given.force_null, bare_columns(cursor)?)
    } else if cursor.word("encoding") {
        encoding(&text(cursor)?).and_then(|encoding| once(&mut given.encoding, encoding))
    } else {
        return Err(cursor.error());
    };
    noted.map_err(|error| source.error(error, place))
}

fn bare_columns(cursor: &mut Cursor<'_>) -> Result<CopyColumns> {
    if cursor.sign(&Token::Mul) {
        return Ok(CopyColumns::All);
    }
    let mut names = vec![cursor.name()?];
    while cursor.sign(&Token::Comma) {
        names.push(cursor.name()?);
    }
    Ok(CopyColumns::Some(names))
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
