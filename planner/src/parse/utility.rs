//! Statements that are not left to sqlparser: VACUUM, CHECK, DISCARD, PREPARE, EXPLAIN, cursors and the like.

use super::cursor::Cursor;
use super::statement::{
    DeclareCursor, Discard, Explain, FetchDirection, Reindex, ReindexKind, StatementKind, TableLockMode,
};
use super::{
    alter_setting, alter_table, comment, copy, create_schema, grant, parse_one, sequence, settings, table_as,
    transaction, view, with_parser,
};
use crate::error::{Result, SqlError, state};
use sqlparser::ast::{self, ObjectName};
use sqlparser::tokenizer::Token;

/// Parses one of these statements; None when it is for sqlparser.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    if let Some(kind) = transaction::parse(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = settings::parse(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = copy::parse(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = view::create(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = table_as::create(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = grant::parse(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = create_schema::create(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = alter_table::alter(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = view::alter(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = alter_setting::parse(cursor)? {
        return Ok(Some(kind));
    }
    let kind = if cursor.word("vacuum") {
        vacuum(cursor)?
    } else if cursor.word("analyze") || cursor.word("analyse") {
        analyze(cursor)?
    } else if cursor.words(&["check", "index"]) {
        StatementKind::CheckIndex(cursor.object_name()?)
    } else if cursor.words(&["check", "table"]) {
        StatementKind::CheckTable(cursor.object_name()?)
    } else if cursor.words(&["alter", "sequence"]) {
        StatementKind::AlterSequence(Box::new(sequence::alter(cursor)?))
    } else if cursor.words(&["comment", "on"]) {
        StatementKind::Comment(Box::new(comment::comment(cursor)?))
    } else if let Some(kind) = alter_type_owner(cursor)? {
        kind
    } else if cursor.word("reindex") {
        reindex(cursor)?
    } else if cursor.word("lock") {
        lock(cursor)?
    } else if cursor.word("discard") {
        discard(cursor)?
    } else if cursor.word("prepare") {
        prepare(cursor)?
    } else if cursor.word("execute") {
        execute(cursor)?
    } else if cursor.word("deallocate") {
        cursor.word("prepare");
        StatementKind::Deallocate(if cursor.word("all") { None } else { Some(cursor.name()?) })
    } else if cursor.word("explain") {
        explain(cursor)?
    } else if cursor.word("declare") {
        declare(cursor)?
    } else if cursor.word("fetch") {
        fetch(cursor, false)?
    } else if cursor.word("move") {
        fetch(cursor, true)?
    } else if cursor.word("close") {
        StatementKind::CloseCursor(if cursor.word("all") { None } else { Some(cursor.name()?) })
    } else if cursor.word("listen") {
        StatementKind::Listen(cursor.name()?)
    } else if cursor.word("notify") {
        let channel = cursor.name()?;
        let payload = match cursor.sign(&Token::Comma) {
            true => cursor.string().ok_or_else(|| cursor.error())?,
            false => String::new(),
        };
        StatementKind::Notify { channel, payload }
    } else if cursor.word("unlisten") {
        StatementKind::Unlisten(if cursor.sign(&Token::Mul) { None } else { Some(cursor.name()?) })
    } else if cursor.word("checkpoint") {
        StatementKind::Checkpoint
    } else {
        refuse(cursor)?;
        return Ok(None);
    };
    cursor.end()?;
    Ok(Some(kind))
}

/// What PostgreSQL has and we have not, where sqlparser would call it a syntax error or take it for something else.
fn refuse(cursor: &mut Cursor<'_>) -> Result<()> {
    const REFUSED: &[&[&str]] = &[
        &["alter", "function"],
        &["alter", "system"],
        &["alter", "extension"],
        &["call"],
        &["cluster"],
        &["create", "aggregate"],
        &["create", "cast"],
        &["create", "domain"],
        &["create", "event"],
        &["create", "foreign"],
        &["create", "function"],
        &["create", "language"],
        &["create", "materialized"],
        &["create", "operator"],
        &["create", "or"],
        &["create", "policy"],
        &["create", "procedure"],
        &["create", "publication"],
        &["create", "rule"],
        &["create", "server"],
        &["create", "statistics"],
        &["create", "subscription"],
        &["create", "tablespace"],
        &["create", "trigger"],
        &["do"],
        &["import"],
        &["load"],
        &["refresh"],
        &["security"],
    ];
    let mark = cursor.mark();
    for words in REFUSED {
        if cursor.words(words) {
            let name = words.join(" ").to_uppercase();
            cursor.back_to(mark);
            return Err(SqlError::unsupported(name));
        }
    }
    Ok(())
}

/// Option names of VACUUM and ANALYZE that mean nothing here and whose absence changes no answer.
const VACUUM_OPTIONS: &[&str] = &[
    "full",
    "freeze",
    "verbose",
    "disable_page_skipping",
    "skip_locked",
    "index_cleanup",
    "process_toast",
    "process_main",
    "truncate",
    "parallel",
    "buffer_usage_limit",
];

fn options(cursor: &mut Cursor<'_>, statement: &str) -> Result<bool> {
    let mut analyze = false;
    if cursor.sign(&Token::LParen) {
        loop {
            let name = cursor.name()?;
            if name == "analyze" || name == "analyse" {
                analyze = cursor.boolean()?;
            } else if VACUUM_OPTIONS.contains(&name.as_str()) {
                if !cursor.word("auto") {
                    cursor.boolean()?;
                }
            } else {
                return Err(SqlError::syntax(format!("unrecognized {statement} option \"{name}\"")));
            }
            if cursor.sign(&Token::RParen) {
                return Ok(analyze);
            }
            cursor.expect_sign(&Token::Comma)?;
        }
    }
    while cursor.word("full") || cursor.word("freeze") || cursor.word("verbose") {}
    Ok(cursor.word("analyze") || cursor.word("analyse"))
}

fn tables(cursor: &mut Cursor<'_>) -> Result<Vec<ObjectName>> {
    let mut tables = Vec::new();
    while cursor.peek().is_some() {
        tables.push(cursor.object_name()?);
        if cursor.peek().is_some_and(|token| token.token == Token::LParen) {
            cursor.bracketed()?;
        }
        if !cursor.sign(&Token::Comma) {
            break;
        }
    }
    Ok(tables)
}

fn vacuum(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let analyze = options(cursor, "VACUUM")?;
    Ok(StatementKind::Vacuum { analyze, tables: tables(cursor)? })
}

fn analyze(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    options(cursor, "ANALYZE")?;
    Ok(StatementKind::Analyze { tables: tables(cursor)? })
}

/// ALTER TYPE … OWNER TO; `None`, and nothing read, for another ALTER.
fn alter_type_owner(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    if cursor.words(&["alter", "type"])
        && let Ok(name) = cursor.object_name()
        && cursor.words(&["owner", "to"])
    {
        return Ok(Some(StatementKind::AlterTypeOwner { name, owner: cursor.name()? }));
    }
    cursor.back_to(mark);
    Ok(None)
}

/// LOCK.
fn lock(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    cursor.word("table");
    let mut tables = Vec::new();
    loop {
        cursor.word("only");
        tables.push(cursor.object_name()?);
        cursor.sign(&Token::Mul);
        if !cursor.sign(&Token::Comma) {
            break;
        }
    }
    let mut mode = TableLockMode::AccessExclusive;
    if cursor.word("in") {
        let named = |mode: &TableLockMode, cursor: &mut Cursor<'_>| {
            let words = mode.words().to_lowercase();
            cursor.words(&words.split(' ').chain(["mode"]).collect::<Vec<_>>())
        };
        mode = TableLockMode::ALL.into_iter().find(|mode| named(mode, cursor)).ok_or_else(|| cursor.error())?;
    }
    let nowait = cursor.word("nowait");
    Ok(StatementKind::LockTable { tables, mode, nowait })
}

/// REINDEX.
fn reindex(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let mut concurrently = false;
    if cursor.sign(&Token::LParen) {
        loop {
            match cursor.name()?.as_str() {
                "concurrently" => concurrently = cursor.boolean()?,
                "verbose" => drop(cursor.boolean()?),
                "tablespace" => super::table_clauses::tablespace(cursor)?,
                other => return Err(SqlError::syntax(format!("unrecognized REINDEX option \"{other}\""))),
            }
            if cursor.sign(&Token::RParen) {
                break;
            }
            cursor.expect_sign(&Token::Comma)?;
        }
    }
    let kinds = [
        ("index", ReindexKind::Index),
        ("table", ReindexKind::Table),
        ("schema", ReindexKind::Schema),
        ("database", ReindexKind::Database),
        ("system", ReindexKind::System),
    ];
    let kind = kinds.into_iter().find(|(word, _)| cursor.word(word)).ok_or_else(|| cursor.error())?.1;
    concurrently |= cursor.word("concurrently");
    let name = if cursor.peek().is_some() { Some(cursor.object_name()?) } else { None };
    if name.is_none() && !matches!(kind, ReindexKind::Database | ReindexKind::System) {
        return Err(cursor.error());
    }
    Ok(StatementKind::Reindex(Reindex { kind, name, concurrently }))
}

fn discard(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let what = if cursor.word("all") {
        Discard::All
    } else if cursor.word("plans") {
        Discard::Plans
    } else if cursor.word("sequences") {
        Discard::Sequences
    } else if cursor.word("temp") || cursor.word("temporary") {
        Discard::Temporary
    } else {
        return Err(cursor.error());
    };
    Ok(StatementKind::Discard(what))
}

/// `(int, text)`.
pub fn types_in_brackets(cursor: &mut Cursor<'_>) -> Result<Vec<ast::DataType>> {
    let tokens = cursor.bracketed()?;
    if tokens.iter().all(|token| token.token == Token::EOF) {
        return Ok(Vec::new());
    }
    with_parser(cursor.source, tokens, |parser| {
        let mut types = vec![parser.parse_data_type()?];
        while parser.consume_token(&Token::Comma) {
            types.push(parser.parse_data_type()?);
        }
        Ok(types)
    })
}

fn prepare(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let name = cursor.name()?;
    let has_types = cursor.peek().is_some_and(|token| token.token == Token::LParen);
    let types = if has_types { types_in_brackets(cursor)? } else { Vec::new() };
    if has_types && types.is_empty() {
        return Err(cursor.error());
    }
    cursor.expect_word("as")?;
    let statement = Box::new(parse_one(cursor.source, required(cursor)?)?);
    match &statement.kind {
        StatementKind::Sql(tree)
            if matches!(
                tree.as_ref(),
                ast::Statement::Query(_)
                    | ast::Statement::Insert(_)
                    | ast::Statement::Update(_)
                    | ast::Statement::Delete(_)
                    | ast::Statement::Merge(_)
            ) => {}
        _ => return Err(SqlError::syntax("only SELECT, INSERT, UPDATE, DELETE and VALUES can be prepared")),
    }
    Ok(StatementKind::Prepare { name, types, statement })
}

fn required<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [sqlparser::tokenizer::TokenWithSpan]> {
    if cursor.peek().is_none() {
        return Err(cursor.error());
    }
    Ok(cursor.take_rest())
}

fn execute(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let name = cursor.name()?;
    let mut parameters = Vec::new();
    if cursor.peek().is_some_and(|token| token.token == Token::LParen) {
        let tokens = cursor.bracketed()?;
        if !tokens.is_empty() {
            parameters = with_parser(cursor.source, tokens, |parser| {
                let mut list = vec![parser.parse_expr()?];
                while parser.consume_token(&Token::Comma) {
                    list.push(parser.parse_expr()?);
                }
                Ok(list)
            })?;
        }
    }
    Ok(StatementKind::Execute { name, parameters })
}

fn explain(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let (mut analyze, mut verbose, mut costs, mut timing, mut summary) = (false, false, true, true, None);
    let mut format = "text".to_string();
    let mark = cursor.mark();
    let listed =
        cursor.sign(&Token::LParen) && !["select", "values", "with", "table"].iter().any(|w| cursor.at_word(w));
    if listed && cursor.peek().is_none_or(|token| token.token != Token::LParen) {
        loop {
            let name = cursor.name()?;
            match name.as_str() {
                "analyze" | "analyse" => analyze = cursor.boolean()?,
                "verbose" => verbose = cursor.boolean()?,
                "costs" => costs = cursor.boolean()?,
                "timing" => timing = cursor.boolean()?,
                "summary" => summary = Some(cursor.boolean()?),
                // What they would add (settings, buffer and log counts) is not kept.
                "buffers" | "settings" | "wal" => {
                    if cursor.boolean()? && name != "buffers" {
                        return Err(SqlError::unsupported(format!("EXPLAIN option {}", name.to_uppercase())));
                    }
                }
                "format" => {
                    format = match cursor.string() {
                        Some(text) => text.to_ascii_lowercase(),
                        None => cursor.name()?,
                    };
                    if !["text", "json"].contains(&format.as_str()) {
                        return Err(SqlError::unsupported(format!("EXPLAIN in format {format}")));
                    }
                }
                other => {
                    return Err(SqlError::new(state::SYNTAX_ERROR, format!("unrecognized EXPLAIN option \"{other}\"")));
                }
            }
            if cursor.sign(&Token::RParen) {
                break;
            }
            cursor.expect_sign(&Token::Comma)?;
        }
    } else {
        cursor.back_to(mark);
        analyze = cursor.word("analyze") || cursor.word("analyse");
        verbose = cursor.word("verbose");
    }
    let statement = parse_one(cursor.source, required(cursor)?)?;
    if !matches!(
        &statement.kind,
        StatementKind::Sql(_)
            | StatementKind::Execute { .. }
            | StatementKind::DeclareCursor(_)
            | StatementKind::CreateTableAs(_)
    ) {
        return Err(cursor
            .source
            .syntax_error_at(cursor.peek().unwrap_or(&sqlparser::tokenizer::TokenWithSpan::new_eof())));
    }
    Ok(StatementKind::Explain(Box::new(Explain { analyze, verbose, costs, timing, summary, format, statement })))
}

fn declare(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let name = cursor.name()?;
    let (mut binary, mut scroll, mut hold) = (false, None, false);
    loop {
        if cursor.word("binary") {
            binary = true;
        } else if cursor.words(&["no", "scroll"]) {
            scroll = Some(false);
        } else if cursor.word("scroll") {
            scroll = Some(true);
        } else if !cursor.word("insensitive") && !cursor.word("asensitive") {
            break;
        }
    }
    cursor.expect_word("cursor")?;
    if cursor.words(&["with", "hold"]) {
        hold = true;
    } else {
        cursor.words(&["without", "hold"]);
    }
    cursor.expect_word("for")?;
    let query = parse_one(cursor.source, required(cursor)?)?;
    Ok(StatementKind::DeclareCursor(Box::new(DeclareCursor { name, binary, scroll, hold, query })))
}

fn fetch(cursor: &mut Cursor<'_>, only_move: bool) -> Result<StatementKind> {
    use FetchDirection as D;
    let mark = cursor.mark();
    let direction = if cursor.word("next") {
        D::Relative(Some(1))
    } else if cursor.word("prior") {
        D::Relative(Some(-1))
    } else if cursor.word("first") {
        D::Absolute(1)
    } else if cursor.word("last") {
        D::Absolute(-1)
    } else if cursor.word("absolute") {
        D::Absolute(cursor.integer().ok_or_else(|| cursor.error())?)
    } else if cursor.word("relative") {
        D::RelativeRow(cursor.integer().ok_or_else(|| cursor.error())?)
    } else if cursor.word("all") {
        D::Relative(None)
    } else if cursor.word("forward") {
        if cursor.word("all") { D::Relative(None) } else { D::Relative(Some(cursor.integer().unwrap_or(1))) }
    } else if cursor.word("backward") {
        if cursor.word("all") {
            D::BackwardAll
        } else {
            D::Relative(Some(cursor.integer().unwrap_or(1).saturating_neg()))
        }
    } else if let Some(count) = cursor.integer() {
        D::Relative(Some(count))
    } else {
        D::Relative(Some(1))
    };
    let noise = cursor.word("from") || cursor.word("in");
    if cursor.peek().is_none() && !noise {
        // The only word was the cursor's name.
        cursor.back_to(mark);
        return Ok(StatementKind::Fetch { cursor: cursor.name()?, direction: D::Relative(Some(1)), only_move });
    }
    Ok(StatementKind::Fetch { cursor: cursor.name()?, direction, only_move })
}
