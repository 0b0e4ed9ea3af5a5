//! Statements that sqlparser does not read: VACUUM, CHECK, DISCARD, PREPARE, EXPLAIN, cursors and others.

use super::cursor::Cursor;
use super::statement::{
    DeclareCursor, Discard, FetchDirection, Reindex, ReindexKind, StatementKind, TableLockMode, TypeChange,
};
use super::{
    alter_setting, alter_table, comment, copy, create_schema, database, drop_absent, grant, parse_one, sequence,
    settings, table_as, transaction, vacuum, view, with_parser,
};
use sql_error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::tokenizer::Token;

/// Parses one of these statements. `None` for a statement that sqlparser reads.
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
    if let Some(kind) = database::parse(cursor)? {
        return Ok(Some(kind));
    }
    if let Some(kind) = drop_absent::parse(cursor)? {
        cursor.end()?;
        return Ok(Some(kind));
    }
    let kind = if cursor.word("vacuum") {
        vacuum::vacuum(cursor)?
    } else if cursor.word("analyze") || cursor.word("analyse") {
        vacuum::analyze(cursor)?
    } else if cursor.words(&["check", "index"]) {
        StatementKind::CheckIndex(cursor.object_name()?)
    } else if cursor.words(&["check", "table"]) {
        StatementKind::CheckTable(cursor.object_name()?)
    } else if cursor.words(&["alter", "sequence"]) {
        StatementKind::AlterSequence(Box::new(sequence::alter(cursor)?))
    } else if cursor.words(&["comment", "on"]) {
        StatementKind::Comment(Box::new(comment::comment(cursor)?))
    } else if cursor.words(&["alter", "large", "object"]) {
        let oid = large_object(cursor)?;
        cursor.expect_word("owner")?;
        cursor.expect_word("to")?;
        StatementKind::AlterLargeObject { oid, owner: cursor.name()? }
    } else if let Some(kind) = alter_type(cursor)? {
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
        StatementKind::Deallocate(if cursor.word("all") { None } else { Some(cursor.plain_name()?) })
    } else if cursor.word("explain") {
        super::explain::explain(cursor)?
    } else if cursor.word("declare") {
        declare(cursor)?
    } else if cursor.word("fetch") {
        fetch(cursor, false)?
    } else if cursor.word("move") {
        fetch(cursor, true)?
    } else if cursor.word("close") {
        StatementKind::CloseCursor(if cursor.word("all") { None } else { Some(cursor.plain_name()?) })
    } else if cursor.word("listen") {
        StatementKind::Listen(cursor.plain_name()?)
    } else if cursor.word("notify") {
        let channel = cursor.plain_name()?;
        let payload = match cursor.sign(&Token::Comma) {
            true => cursor.string().ok_or_else(|| cursor.error())?,
            false => String::new(),
        };
        StatementKind::Notify { channel, payload }
    } else if cursor.word("unlisten") {
        StatementKind::Unlisten(if cursor.sign(&Token::Mul) { None } else { Some(cursor.plain_name()?) })
    } else if cursor.word("checkpoint") {
        StatementKind::Checkpoint
    } else {
        refuse(cursor)?;
        return Ok(None);
    };
    cursor.end()?;
    Ok(Some(kind))
}

/// Refuses unsupported statements of PostgreSQL that sqlparser would misread or call a syntax error. Errors: 0A000.
fn refuse(cursor: &mut Cursor<'_>) -> Result<()> {
    const REFUSED: &[&[&str]] = &[
        &["alter", "conversion"],
        &["alter", "domain"],
        &["alter", "event", "trigger"],
        &["alter", "foreign"],
        &["alter", "function"],
        &["alter", "language"],
        &["alter", "materialized", "view"],
        &["alter", "procedure"],
        &["alter", "publication"],
        &["alter", "routine"],
        &["alter", "rule"],
        &["alter", "server"],
        &["alter", "statistics"],
        &["alter", "subscription"],
        &["alter", "tablespace"],
        &["alter", "text", "search"],
        &["alter", "trigger"],
        &["alter", "user", "mapping"],
        &["alter", "system"],
        &["alter", "extension"],
        &["call"],
        &["cluster"],
        &["create", "access", "method"],
        &["create", "aggregate"],
        &["create", "cast"],
        &["create", "conversion"],
        &["create", "domain"],
        &["create", "event", "trigger"],
        &["create", "foreign"],
        &["create", "function"],
        &["create", "language"],
        &["create", "materialized", "view"],
        &["create", "operator"],
        &["create", "or", "replace", "aggregate"],
        &["create", "or", "replace", "function"],
        &["create", "or", "replace", "procedure"],
        &["create", "or", "replace", "rule"],
        &["create", "or", "replace", "transform"],
        &["create", "or", "replace", "trigger"],
        &["create", "or"],
        &["create", "policy"],
        &["create", "procedure"],
        &["create", "publication"],
        &["create", "rule"],
        &["create", "server"],
        &["create", "statistics"],
        &["create", "subscription"],
        &["create", "tablespace"],
        &["create", "text", "search"],
        &["create", "transform"],
        &["create", "trigger"],
        &["create", "user", "mapping", "for"],
        &["do"],
        &["drop", "access", "method"],
        &["drop", "cast"],
        &["drop", "conversion"],
        &["drop", "language"],
        &["drop", "operator"],
        &["drop", "routine"],
        &["drop", "text", "search"],
        &["drop", "transform"],
        &["drop", "user", "mapping", "for"],
        &["import"],
        &["load"],
        &["refresh"],
        &["security"],
    ];
    let mark = cursor.mark();
    for kind in ["role", "user", "group"] {
        if cursor.words(&["create", kind, "if"]) && cursor.at_word("not") {
            return Err(cursor.error());
        }
        cursor.back_to(mark);
    }
    for words in REFUSED {
        if cursor.words(words) {
            let name = words.join(" ").to_uppercase();
            cursor.back_to(mark);
            return Err(SqlError::unsupported(name));
        }
    }
    Ok(())
}

/// The OID of a large object. Errors: 42601, 22003.
pub(super) fn large_object(cursor: &mut Cursor<'_>) -> Result<types::Oid> {
    let error = cursor.error();
    let Some(Token::Number(digits, _)) = cursor.next().map(|token| &token.token) else { return Err(error) };
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(error);
    }
    digits.parse().map_err(|_| {
        let message = format!("value \"{digits}\" is out of range for type oid");
        SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, message)
    })
}

/// ALTER TYPE … OWNER TO and SET SCHEMA. Errors for attributes. `None`, with nothing read, for another ALTER.
fn alter_type(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    if cursor.words(&["alter", "type"])
        && let Ok(name) = cursor.object_name()
    {
        if ["add", "alter", "drop", "rename"].iter().any(|action| cursor.words(&[action, "attribute"])) {
            return Err(SqlError::unsupported("ALTER TYPE of an attribute"));
        }
        if cursor.words(&["owner", "to"]) {
            return Ok(Some(StatementKind::AlterType { name, change: TypeChange::Owner(cursor.name()?) }));
        }
        if cursor.words(&["set", "schema"]) {
            return Ok(Some(StatementKind::AlterType { name, change: TypeChange::Schema(cursor.name()?) }));
        }
    }
    cursor.back_to(mark);
    Ok(None)
}

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

fn reindex(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let mut concurrently = false;
    if cursor.sign(&Token::LParen) {
        loop {
            match cursor.name()?.as_str() {
                "concurrently" => concurrently = cursor.boolean("concurrently")?,
                "verbose" => drop(cursor.boolean("verbose")?),
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

/// The types in `(int, text)`. Errors: 42601.
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
    let name = cursor.plain_name()?;
    let has_types = cursor.peek().is_some_and(|token| token.token == Token::LParen);
    let types = if has_types { types_in_brackets(cursor)? } else { Vec::new() };
    if has_types && types.is_empty() {
        return Err(cursor.error());
    }
    cursor.expect_word("as")?;
    let tokens = required(cursor)?;
    let statement = Box::new(parse_one(cursor.source, tokens)?);
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
        _ => return Err(tokens.first().map_or_else(|| cursor.error(), |first| cursor.source.syntax_error_at(first))),
    }
    Ok(StatementKind::Prepare { name, types, statement })
}

pub(super) fn required<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [sqlparser::tokenizer::TokenWithSpan]> {
    if cursor.peek().is_none() {
        return Err(cursor.error());
    }
    Ok(cursor.take_rest())
}

fn execute(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let name = cursor.plain_name()?;
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

fn declare(cursor: &mut Cursor<'_>) -> Result<StatementKind> {
    let name = cursor.plain_name()?;
    let (mut binary, mut scroll, mut no_scroll, mut insensitive, mut asensitive) = (false, false, false, false, false);
    loop {
        match () {
            () if cursor.word("binary") => binary = true,
            () if cursor.words(&["no", "scroll"]) => no_scroll = true,
            () if cursor.word("scroll") => scroll = true,
            () if cursor.word("insensitive") => insensitive = true,
            () if cursor.word("asensitive") => asensitive = true,
            () => break,
        }
    }
    cursor.expect_word("cursor")?;
    let hold = cursor.words(&["with", "hold"]);
    if !hold {
        cursor.words(&["without", "hold"]);
    }
    cursor.expect_word("for")?;
    let tokens = required(cursor)?;
    let query = parse_one(cursor.source, tokens)?;
    if let Some(target) = table_as::select_into_target(&query) {
        return Err(cursor.source.error(SqlError::syntax(table_as::INTO_NOT_HERE), target));
    }
    let is_query = matches!(&query.kind, StatementKind::Sql(tree) if matches!(tree.as_ref(), ast::Statement::Query(_)));
    if let Some(first) = tokens.first().filter(|_| !is_query) {
        return Err(cursor.source.syntax_error_at(first));
    }
    for (both, names) in
        [(scroll && no_scroll, "SCROLL and NO SCROLL"), (insensitive && asensitive, "ASENSITIVE and INSENSITIVE")]
    {
        if both {
            let message = format!("cannot specify both {names}");
            return Err(SqlError::new(state::INVALID_CURSOR_DEFINITION, message));
        }
    }
    let scroll = if scroll { Some(true) } else { no_scroll.then_some(false) };
    Ok(StatementKind::DeclareCursor(Box::new(DeclareCursor { name, binary, scroll, hold, insensitive, query })))
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
        // The single word was the cursor's name.
        cursor.back_to(mark);
        return Ok(StatementKind::Fetch { cursor: cursor.plain_name()?, direction: D::Relative(Some(1)), only_move });
    }
    Ok(StatementKind::Fetch { cursor: cursor.plain_name()?, direction, only_move })
}
