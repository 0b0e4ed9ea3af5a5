//! ALTER TABLE, for statements with actions that sqlparser does not know. Each action becomes ours or
//! sqlparser's. Knows no tables.

use super::cursor::{Cursor, is_word};
use super::statement::{AlterAction, AlterRelation, ReplicaIdentityClause, StatementKind, TableClauses};
use super::tokens::{bare_word, between_commas};
use super::with_parser;
use sql_error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

/// ALTER TABLE, VIEW, SEQUENCE or INDEX with at least one of our actions. Otherwise `None`, with nothing read.
pub fn alter(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    let found = read(cursor)?;
    if found.is_none() {
        cursor.back_to(mark);
    }
    Ok(found)
}

fn read(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    if !cursor.word("alter") {
        return Ok(None);
    }
    let kinds = ["table", "view", "sequence", "index"];
    let Some(kind) = kinds.into_iter().find(|kind| cursor.word(kind)) else { return Ok(None) };
    let if_exists = cursor.words(&["if", "exists"]);
    cursor.word("only");
    let Ok(name) = cursor.object_name() else { return Ok(None) };
    cursor.sign(&Token::Mul);
    let rest = cursor.take_rest();
    let mut own = Vec::new();
    for tokens in between_commas(rest) {
        let mut action = Cursor::new(cursor.source, tokens);
        let found = one(&mut action, kind)?;
        if found.is_some() {
            action.end()?;
        }
        own.push((found, tokens));
    }
    let of_table = kind == "table" || kind == "view";
    if own.iter().all(|(found, _)| found.is_none()) || !of_table && own.iter().any(|(found, _)| found.is_none()) {
        return Ok(None);
    }
    let mut actions = Vec::with_capacity(own.len());
    for (found, tokens) in own {
        match found {
            Some(action) => actions.push(action),
            None => {
                // sqlparser reads the action alone, so the relation's name does not matter.
                let mut statement = vec![
                    bare_word(Keyword::ALTER, "ALTER"),
                    bare_word(Keyword::TABLE, "TABLE"),
                    bare_word(Keyword::NoKeyword, "t"),
                ];
                statement.extend_from_slice(tokens);
                let mut clauses = TableClauses::default();
                super::sequence::reorder(cursor.source, &mut statement, &mut clauses)?;
                if !clauses.sequence_names.is_empty() {
                    return Err(SqlError::unsupported("SEQUENCE NAME of a new column among such actions"));
                }
                let tree = with_parser(cursor.source, &statement, |parser| parser.parse_statement())?;
                let ast::Statement::AlterTable(alter) = tree else { return Err(cursor.error()) };
                actions.extend(alter.operations.into_iter().map(|operation| AlterAction::Sql(Box::new(operation))));
            }
        }
    }
    Ok(Some(StatementKind::AlterRelation(Box::new(AlterRelation { kind, if_exists, name, actions }))))
}

/// Parses one of our actions. `None` if it is not ours.
fn one(cursor: &mut Cursor<'_>, kind: &str) -> Result<Option<AlterAction>> {
    if kind != "index" && cursor.words(&["set", "schema"]) {
        return Ok(Some(AlterAction::SetSchema(cursor.name()?)));
    }
    if kind == "sequence" || kind == "view" {
        if kind == "sequence" && (cursor.words(&["set", "logged"]) || cursor.words(&["set", "unlogged"])) {
            return Err(SqlError::unsupported("ALTER SEQUENCE SET LOGGED"));
        }
        if kind == "view" {
            if cursor.at_word("set") && cursor.rest().get(1).is_some_and(|next| next.token == Token::LParen) {
                cursor.word("set");
                return Ok(Some(AlterAction::ViewOptions(super::view::options(cursor)?)));
            }
            if cursor.word("reset") {
                return Ok(Some(AlterAction::ResetViewOptions(names_to_reset(cursor)?)));
            }
        }
        return Ok(None);
    }
    if cursor.words(&["set", "tablespace"]) {
        super::table_clauses::tablespace(cursor)?;
        return Ok(Some(AlterAction::Nothing));
    }
    if kind == "index" {
        if cursor.words(&["rename", "to"]) {
            return Ok(Some(AlterAction::RenameIndex(cursor.name()?)));
        }
        if let Some(action) = parameters(cursor)? {
            return Ok(Some(action));
        }
        if cursor.word("set") || cursor.word("reset") {
            return Err(cursor.error());
        }
        if cursor.words(&["alter", "column"]) || cursor.word("alter") {
            return index_statistics(cursor).map(Some);
        }
        return Ok(None);
    }
    if let Some(action) = parameters(cursor)? {
        return Ok(Some(action));
    }
    if cursor.words(&["set", "logged"]) {
        return Ok(Some(AlterAction::SetLogged(true)));
    }
    if cursor.words(&["set", "unlogged"]) {
        return Ok(Some(AlterAction::SetLogged(false)));
    }
    if cursor.words(&["set", "without", "oids"]) {
        return Ok(Some(AlterAction::Nothing));
    }
    if cursor.words(&["set", "without", "cluster"]) {
        return Ok(Some(AlterAction::Nothing));
    }
    if cursor.words(&["cluster", "on"]) {
        return Ok(Some(AlterAction::ClusterOn(cursor.name()?)));
    }
    if cursor.words(&["replica", "identity"]) {
        let clause = if cursor.word("default") {
            ReplicaIdentityClause::Default
        } else if cursor.word("full") {
            ReplicaIdentityClause::Full
        } else if cursor.word("nothing") {
            ReplicaIdentityClause::Nothing
        } else if cursor.words(&["using", "index"]) {
            ReplicaIdentityClause::Index(cursor.name()?)
        } else {
            return Err(cursor.error());
        };
        return Ok(Some(AlterAction::ReplicaIdentity(clause)));
    }
    for words in [
        &["inherit"][..],
        &["no", "inherit"],
        &["of"],
        &["not", "of"],
        &["attach", "partition"],
        &["detach", "partition"],
    ] {
        if cursor.words(words) {
            return Err(SqlError::unsupported(format!("ALTER TABLE {}", words.join(" ").to_uppercase())));
        }
    }
    if cursor.words(&["set", "access", "method"]) {
        return match cursor.name()?.as_str() {
            "heap" => Ok(Some(AlterAction::Nothing)),
            other => Err(SqlError::new(state::UNDEFINED_OBJECT, format!("access method \"{other}\" does not exist"))),
        };
    }
    if cursor.words(&["alter", "constraint"]) {
        return alter_constraint(cursor).map(Some);
    }
    if cursor.word("add") {
        return add(cursor);
    }
    if cursor.word("alter") {
        return column(cursor);
    }
    Ok(None)
}

/// `[COLUMN] n SET STATISTICS m` of an index. Errors: 22023.
fn index_statistics(cursor: &mut Cursor<'_>) -> Result<AlterAction> {
    let place = cursor.peek().map_or_else(Span::empty, |token| token.span);
    let Some(number) = cursor.integer() else { return Err(cursor.error()) };
    let number = u16::try_from(number).ok().filter(|number| (1..=32767).contains(number)).ok_or_else(|| {
        let message = "column number must be in range from 1 to 32767";
        cursor.source.error(SqlError::new(state::INVALID_PARAMETER_VALUE, message), place)
    })?;
    if !cursor.words(&["set", "statistics"]) {
        return Err(cursor.error());
    }
    let value = cursor.integer().ok_or_else(|| cursor.error())?;
    Ok(AlterAction::SetIndexStatistics(number, value))
}

/// SET (…) or RESET (…). `None`, with nothing read, for anything else.
fn parameters(cursor: &mut Cursor<'_>) -> Result<Option<AlterAction>> {
    let bracket = cursor.rest().get(1).is_some_and(|next| next.token == Token::LParen);
    if bracket && cursor.word("set") {
        return Ok(Some(AlterAction::SetParameters(super::view::options(cursor)?)));
    }
    if bracket && cursor.word("reset") {
        return Ok(Some(AlterAction::ResetParameters(names_to_reset(cursor)?)));
    }
    Ok(None)
}

/// The names in the parentheses of RESET. Errors: 42601 for values.
fn names_to_reset(cursor: &mut Cursor<'_>) -> Result<Vec<String>> {
    let options = super::view::options(cursor)?;
    if options.iter().any(|(_, value)| value.is_some()) {
        return Err(SqlError::syntax("RESET must not include values for parameters"));
    }
    Ok(options.into_iter().map(|(name, _)| name).collect())
}

fn alter_constraint(cursor: &mut Cursor<'_>) -> Result<AlterAction> {
    let name = cursor.name()?;
    let (deferrable, deferred) = deferral(cursor)?;
    Ok(AlterAction::AlterConstraint { name, deferrable, deferred })
}

/// `[NOT] DEFERRABLE` and `INITIALLY …`, up to the end of the action.
fn deferral(cursor: &mut Cursor<'_>) -> Result<(Option<bool>, Option<bool>)> {
    let (mut deferrable, mut deferred) = (None, None);
    while cursor.peek().is_some() {
        if cursor.words(&["not", "deferrable"]) {
            deferrable = Some(false);
        } else if cursor.word("deferrable") {
            deferrable = Some(true);
        } else if cursor.words(&["initially", "deferred"]) {
            deferred = Some(true);
        } else if cursor.words(&["initially", "immediate"]) {
            deferred = Some(false);
        } else {
            return Err(cursor.error());
        }
    }
    Ok((deferrable, deferred))
}

/// ADD [CONSTRAINT name] {UNIQUE | PRIMARY KEY} USING INDEX.
fn add(cursor: &mut Cursor<'_>) -> Result<Option<AlterAction>> {
    let name = if cursor.word("constraint") { Some(cursor.name()?) } else { None };
    let primary = cursor.words(&["primary", "key"]);
    if !primary && !cursor.word("unique") || !cursor.words(&["using", "index"]) {
        return Ok(None);
    }
    let index = cursor.name()?;
    let (deferrable, deferred) = deferral(cursor)?;
    if deferred == Some(true) && deferrable == Some(false) {
        let message = "constraint declared INITIALLY DEFERRED must be DEFERRABLE";
        return Err(SqlError::syntax(message).about_words(&["initially", "deferred"], Span::empty(), 0));
    }
    let deferred = (deferrable == Some(true) || deferred == Some(true)).then_some(deferred == Some(true));
    Ok(Some(AlterAction::AddUsingIndex { name, index, primary, deferred }))
}

/// `[SET DATA] TYPE … COLLATE … [USING …]`. `None`, with nothing read, if there is no COLLATE.
fn collated_type(cursor: &mut Cursor<'_>, name: &str) -> Result<Option<AlterAction>> {
    let mark = cursor.mark();
    if !cursor.words(&["set", "data", "type"]) && !cursor.word("type") {
        return Ok(None);
    }
    let rest = cursor.rest();
    let stops = |_, token: &TokenWithSpan| is_word(token, "collate") || is_word(token, "using");
    let at = super::tokens::end_of(rest, 0, stops).unwrap_or(rest.len());
    if !rest.get(at).is_some_and(|token| is_word(token, "collate")) {
        cursor.back_to(mark);
        return Ok(None);
    }
    let source = cursor.source;
    let data_type = with_parser(source, rest.get(..at).unwrap_or_default(), |parser| parser.parse_data_type())?;
    cursor.back_to(cursor.mark() + at + 1);
    let collation = cursor.object_name()?;
    let using = match cursor.word("using") {
        true => Some(Box::new(super::expression(source, cursor.take_rest().to_vec())?)),
        false => None,
    };
    Ok(Some(AlterAction::SetType { name: name.to_string(), data_type, collation, using }))
}

/// `ALTER [COLUMN] name …`, after the ALTER.
fn column(cursor: &mut Cursor<'_>) -> Result<Option<AlterAction>> {
    cursor.word("column");
    if cursor.integer().is_some() {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "cannot refer to non-index column by number"));
    }
    let Ok(name) = cursor.name() else { return Ok(None) };
    let missing_ok = |cursor: &mut Cursor<'_>| cursor.words(&["if", "exists"]);
    if cursor.words(&["set", "statistics"]) {
        let value = cursor.integer().ok_or_else(|| cursor.error())?;
        return Ok(Some(AlterAction::SetStatistics(name, value)));
    }
    if cursor.words(&["set", "storage"]) {
        return Ok(Some(AlterAction::SetStorage(name, cursor.name()?)));
    }
    if cursor.words(&["set", "compression"]) {
        return match cursor.name()?.as_str() {
            "pglz" | "default" => Ok(Some(AlterAction::SetCompression(name))),
            "lz4" => Err(SqlError::unsupported("COMPRESSION lz4")),
            other => {
                Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("invalid compression method \"{other}\"")))
            }
        };
    }
    let bracket = cursor.rest().get(1).is_some_and(|next| next.token == Token::LParen);
    if bracket && cursor.word("set") {
        return Ok(Some(AlterAction::SetColumnParameters(name, super::view::options(cursor)?)));
    }
    if bracket && cursor.word("reset") {
        return Ok(Some(AlterAction::ResetColumnParameters(name, names_to_reset(cursor)?)));
    }
    if let Some(action) = collated_type(cursor, &name)? {
        return Ok(Some(action));
    }
    if cursor.words(&["drop", "expression"]) {
        return Ok(Some(AlterAction::DropExpression(name, missing_ok(cursor))));
    }
    if cursor.words(&["drop", "identity"]) {
        return Ok(Some(AlterAction::DropIdentity(name, missing_ok(cursor))));
    }
    if cursor.words(&["add", "generated"]) {
        let always = cursor.word("always");
        if !always && !cursor.words(&["by", "default"]) {
            return Err(cursor.error());
        }
        if !cursor.words(&["as", "identity"]) {
            return Err(cursor.error());
        }
        let (sequence, options) = if cursor.peek().is_some() {
            let (name, rest) = super::sequence::sequence_name(cursor.source, cursor.bracketed()?)?;
            (name, super::sequence::options(cursor.source, &rest)?)
        } else {
            (None, Vec::new())
        };
        return Ok(Some(AlterAction::AddIdentity { name, always, sequence, options }));
    }
    let mut generated = None;
    let mut restart = None;
    let mut clauses: Vec<TokenWithSpan> = Vec::new();
    let begun = cursor.mark();
    loop {
        if generated.is_some() && cursor.words(&["set", "generated"]) || restart.is_some() && cursor.word("restart") {
            return Err(SqlError::syntax("conflicting or redundant options"));
        }
        if cursor.words(&["set", "generated"]) {
            let always = cursor.word("always");
            if !always && !cursor.words(&["by", "default"]) {
                return Err(cursor.error());
            }
            generated = Some(always);
        } else if cursor.word("restart") {
            cursor.word("with");
            restart = Some(cursor.integer());
        } else if ["increment", "minvalue", "maxvalue", "start", "cache", "cycle", "no"]
            .iter()
            .any(|word| cursor.rest().get(1).is_some_and(|next| is_word(next, word)))
            && cursor.word("set")
        {
            while let Some(token) = cursor.peek().filter(|token| !is_word(token, "set") && !is_word(token, "restart")) {
                clauses.push(token.clone());
                cursor.next();
            }
        } else {
            break;
        }
    }
    if cursor.mark() == begun {
        return Ok(None);
    }
    cursor.end()?;
    let options = super::sequence::options(cursor.source, &clauses)?;
    Ok(Some(AlterAction::ChangeIdentity { name, always: generated, restart, options }))
}
