//! Rewrites the tokens of a statement before sqlparser reads them. Syntax of PostgreSQL that sqlparser lacks is
//! expressed differently or recorded in [`Extras`].

use super::cursor::{Cursor, is_word};
use super::source::Source;
use super::statement::{CONFLICT_TARGET, ConflictTarget, Extras, LockStrength, Overriding, RowLock};
use super::tokens::{follows, sign_at, word};
use super::with_parser;
use sql_error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};
use std::sync::Arc;

/// Rewrites the tokens of one statement.
pub fn rewrite(source: &Source, tokens: &mut Vec<TokenWithSpan>, extras: &mut Extras) -> Result<()> {
    table_command(tokens);
    roles(tokens)?;
    index_method(source, tokens)?;
    drop_index_concurrently(tokens)?;
    super::shape_tokens::statement(tokens);
    let expressions = super::expression_tokens::has_expressions(tokens);
    let mut at = 0;
    while at < tokens.len() {
        sql_error::interrupt::step()?;
        if follows(tokens, at, &["for", "read", "only"]) && expressions {
            // This is the default behaviour of a query.
            tokens.drain(at..at + 3);
            continue;
        } else if follows(tokens, at, &["for"]) {
            super::select_tokens::locks_before_counts(tokens, at);
            if super::select_tokens::locks_nothing(tokens, at) {
                continue;
            }
            lock_clause(tokens, at, extras)?;
        } else if follows(tokens, at, &["overriding", "system", "value"]) {
            extras.overriding = Some(Overriding::System);
            tokens.drain(at..at + 3);
            continue;
        } else if follows(tokens, at, &["overriding", "user", "value"]) {
            extras.overriding = Some(Overriding::User);
            tokens.drain(at..at + 3);
            continue;
        } else if follows(tokens, at, &["then", "insert", "default", "values"]) {
            // In MERGE sqlparser requires VALUES here.
            if let (Some(default), Some(values)) = (tokens.get(at + 2).cloned(), tokens.get(at + 3).cloned()) {
                let sign = |token| TokenWithSpan { token, span: default.span };
                let row = [values, sign(Token::LParen), default.clone(), sign(Token::RParen)];
                tokens.splice(at + 2..at + 4, row);
            }
        } else if follows(tokens, at, &["foreign", "key"]) || follows(tokens, at, &["references"]) {
            super::foreign_key_tokens::rewrite(source, tokens, at)?;
        } else if follows(tokens, at, &["where", "current", "of"]) {
            current_of(source, tokens, at)?;
        } else if follows(tokens, at, &["interval"]) {
            interval_precision(tokens, at);
        } else if follows(tokens, at, &["national"])
            || follows(tokens, at, &["nchar", "varying"])
            || follows(tokens, at, &["nchar"]) && string_at(tokens, at + 1)
        {
            national(tokens, at);
        }
        if expressions {
            super::shape_tokens::at(tokens, at);
            super::expression_tokens::rewrite(tokens, at);
            super::word_tokens::rewrite(source, tokens, at)?;
            super::select_tokens::rewrite(source, tokens, at)?;
            super::label_tokens::window(tokens, at);
            super::label_tokens::label(tokens, at);
            super::label_tokens::check(source, tokens, at)?;
            super::from_tokens::rewrite(tokens, at);
        } else {
            super::expression_tokens::between(tokens, at);
        }
        super::operator_tokens::rewrite(tokens, at);
        super::collate_tokens::rewrite(tokens, at);
        super::bracket_tokens::rewrite(tokens, at);
        super::group_by::rewrite(tokens, at);
        at += 1;
    }
    Ok(())
}

fn string_at(tokens: &[TokenWithSpan], at: usize) -> bool {
    let token = tokens.get(at).map(|token| &token.token);
    matches!(token, Some(Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_)))
}

/// `NATIONAL CHARACTER` and `NCHAR VARYING` become CHARACTER and CHARACTER VARYING, because there is one character set.
/// A word after a parenthesis or comma is a column's name, unless only a type can stand there.
fn national(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let of_column = at
        .checked_sub(1)
        .and_then(|before| tokens.get(before))
        .is_none_or(|before| matches!(before.token, Token::LParen | Token::Comma) && !follows(tokens, 0, &["prepare"]));
    let named = ["character", "char"].iter().any(|word| follows(tokens, at + 1, &[word]));
    if follows(tokens, at, &["national"]) && named && !of_column {
        tokens.remove(at);
    } else if let Some(token) = tokens.get_mut(at)
        && is_word(token, "nchar")
    {
        *token = word(Keyword::CHARACTER, "CHARACTER", token);
    }
}

/// `WHERE CURRENT OF c` becomes a call of this function: `WHERE current_of('c')`.
pub const CURRENT_OF: &str = "\u{1}current of";

/// Rewrites WHERE CURRENT OF at `at`. Errors: 42601 unless it is the whole condition of an UPDATE or DELETE.
fn current_of(source: &Source, tokens: &mut Vec<TokenWithSpan>, at: usize) -> Result<()> {
    let wrong = |token: Option<&TokenWithSpan>| source.syntax_error_at(token.unwrap_or(&TokenWithSpan::new_eof()));
    let writes = |token: &TokenWithSpan| is_word(token, "update") || is_word(token, "delete");
    if !tokens.iter().take(at).any(writes) {
        return Err(wrong(tokens.get(at + 2)));
    }
    let name = match tokens.get(at + 3).map(|token| &token.token) {
        Some(Token::Word(word)) => super::names::fold_text(&word.value, word.quote_style.is_some()),
        Some(Token::Placeholder(_)) => return Err(SqlError::unsupported("WHERE CURRENT OF a parameter")),
        _ => return Err(wrong(tokens.get(at + 3))),
    };
    let ends = |token: &TokenWithSpan| {
        is_word(token, "returning") || matches!(token.token, Token::RParen | Token::SemiColon | Token::EOF)
    };
    if let Some(behind) = tokens.get(at + 4).filter(|token| !ends(token)) {
        return Err(wrong(Some(behind)));
    }
    let Some(span) = tokens.get(at + 3).map(|token| token.span) else { return Ok(()) };
    let function = Word { value: CURRENT_OF.into(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
    let call = [Token::Word(function), Token::LParen, Token::SingleQuotedString(name), Token::RParen];
    tokens.splice(at + 1..at + 4, call.map(|token| TokenWithSpan { token, span }));
    Ok(())
}

/// `TABLE t` becomes `SELECT * FROM t`, as a command and after the table of an INSERT. There sqlparser would take
/// TABLE for an alias.
fn table_command(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    if follows(tokens, 0, &["insert", "into"]) {
        at = 3;
        while sign_at(tokens, at, &Token::Period) {
            at += 2;
        }
    }
    let Some(first) = tokens.get(at).cloned().filter(|token| is_word(token, "table")) else { return };
    let select = word(Keyword::SELECT, "SELECT", &first);
    let star = TokenWithSpan::wrap(Token::Mul);
    let from = word(Keyword::FROM, "FROM", &first);
    tokens.splice(at..=at, [select, star, from]);
}

/// `CREATE USER` becomes `CREATE ROLE … LOGIN`. `ALTER USER` and `DROP USER` become those of roles.
/// ENCRYPTED has no effect.
fn roles(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    let user = ["create", "alter", "drop"].iter().find(|verb| follows(tokens, 0, &[verb, "user"]));
    let group = ["create", "alter", "drop"].iter().any(|verb| follows(tokens, 0, &[verb, "group"]));
    let role = ["create", "alter"].iter().any(|verb| follows(tokens, 0, &[verb, "role"]));
    if user.is_none() && !role && !group {
        return Ok(());
    }
    if let Some(second) = tokens.get_mut(1) {
        *second = word(Keyword::ROLE, "ROLE", second);
    }
    let mut at = 2;
    while at < tokens.len() {
        if follows(tokens, at, &["encrypted", "password"]) {
            tokens.remove(at);
        }
        // sqlparser reads no sign here.
        if follows(tokens, at, &["connection", "limit"])
            && tokens.get(at + 2).is_some_and(|token| token.token == Token::Minus)
            && let Some(Token::Number(number, _)) = tokens.get(at + 3).map(|token| &token.token)
        {
            if number != "1" {
                let message = format!("invalid connection limit: -{number}");
                return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
            }
            let none = TokenWithSpan::wrap(Token::Number(u32::MAX.to_string(), false));
            tokens.splice(at + 2..at + 4, [none]);
        }
        at += 1;
    }
    let mut named = 2;
    if follows(tokens, 2, &["if", "not", "exists"]) {
        named = 5;
    }
    if user == Some(&"create") && !tokens.iter().any(|token| is_word(token, "login") || is_word(token, "nologin")) {
        let Some(like) = tokens.get(named).cloned() else { return Ok(()) };
        let mut after = named + 1;
        if tokens.get(after).is_some_and(|token| is_word(token, "with")) {
            after += 1;
        }
        tokens.insert(after, word(Keyword::LOGIN, "LOGIN", &like));
    }
    Ok(())
}

/// Removes `USING btree` from CREATE INDEX, and refuses other methods. CONCURRENTLY has no effect here: an index
/// build never blocks reads.
fn index_method(source: &Source, tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    let index = follows(tokens, 0, &["create", "index"]) || follows(tokens, 0, &["create", "unique", "index"]);
    if !index {
        return Ok(());
    }
    if let Some(at) = tokens.iter().position(|token| is_word(token, "using"))
        && let Some(method) = tokens.get(at + 1)
    {
        if !is_word(method, "btree") {
            let name = source.slice(method.span.start, method.span.end);
            let name = super::names::fold_text(name.trim_matches('"'), name.starts_with('"'));
            if ["hash", "gist", "gin", "brin", "spgist"].contains(&name.as_str()) {
                return Err(SqlError::unsupported(format!("the index access method \"{name}\"")));
            }
            let message = format!("access method \"{name}\" does not exist");
            return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
        }
        tokens.drain(at..at + 2);
    }
    Ok(())
}

/// DROP INDEX CONCURRENTLY becomes DROP INDEX, which does not block readers either. Errors: 0A000 for drops that
/// PostgreSQL does not do concurrently.
fn drop_index_concurrently(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    if !follows(tokens, 0, &["drop", "index", "concurrently"]) {
        return Ok(());
    }
    let refused = |what: &str| {
        let message = format!("DROP INDEX CONCURRENTLY does not support {what}");
        Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message))
    };
    if tokens.iter().any(|token| token.token == Token::Comma) {
        return refused("dropping multiple objects");
    }
    if tokens.last().is_some_and(|last| is_word(last, "cascade")) {
        return refused("CASCADE");
    }
    tokens.remove(2);
    Ok(())
}

/// Records a `FOR …` clause, and replaces it by `FOR UPDATE OF` with the number of the record.
fn lock_clause(tokens: &mut Vec<TokenWithSpan>, at: usize, extras: &mut Extras) -> Result<()> {
    let (words, strength): (usize, _) = if follows(tokens, at + 1, &["no", "key", "update"]) {
        (3, LockStrength::NoKeyUpdate)
    } else if follows(tokens, at + 1, &["key", "share"]) {
        (2, LockStrength::KeyShare)
    } else if follows(tokens, at + 1, &["update"]) {
        (1, LockStrength::Update)
    } else if follows(tokens, at + 1, &["share"]) {
        (1, LockStrength::Share)
    } else {
        return Ok(());
    };
    let Some(like) = tokens.get(at + words).cloned() else { return Ok(()) };
    let mut of = Vec::new();
    let mut end = at + 1 + words;
    if follows(tokens, end, &["of"]) {
        loop {
            let Some(Token::Word(name)) = tokens.get(end + 1).map(|token| &token.token) else { return Ok(()) };
            of.push(if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() });
            end += 2;
            match tokens.get(end).map(|token| &token.token) {
                Some(Token::Comma) => {}
                Some(Token::Period) => {
                    let word = strength_words(strength);
                    let message = format!("{word} must specify unqualified relation names");
                    return Err(SqlError::syntax(message));
                }
                _ => break,
            }
        }
    }
    let mut number = word(Keyword::NoKeyword, &format!("{}{}", RowLock::MARK, extras.locks.len()), &like);
    if let Token::Word(name) = &mut number.token {
        name.quote_style = Some('"');
    }
    let clause = [word(Keyword::UPDATE, "UPDATE", &like), word(Keyword::OF, "OF", &like), number];
    tokens.splice(at + 1..end, clause);
    extras.locks.push(RowLock { strength, of });
    Ok(())
}

/// The words of a lock strength.
pub fn strength_words(strength: LockStrength) -> &'static str {
    match strength {
        LockStrength::KeyShare => "FOR KEY SHARE",
        LockStrength::Share => "FOR SHARE",
        LockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
        LockStrength::Update => "FOR UPDATE",
    }
}

/// `interval(3) '…'` becomes `CAST('…' AS interval(3))`.
fn interval_precision(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let Some([interval, open, digits, close, text]) = tokens.get(at..at + 5).and_then(|slice| slice.first_chunk::<5>())
    else {
        return;
    };
    let matches = open.token == Token::LParen
        && close.token == Token::RParen
        && matches!(digits.token, Token::Number(..))
        && matches!(text.token, Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_));
    if matches {
        let cast = word(Keyword::CAST, "CAST", interval);
        let as_type = word(Keyword::AS, "AS", interval);
        let [interval, open, digits, close, text] = [interval, open, digits, close, text].map(Clone::clone);
        let end = close.clone();
        tokens.splice(at..at + 5, [cast, open.clone(), text, as_type, interval, open, digits, close, end]);
    }
}

/// Removes from ON CONFLICT what sqlparser cannot read there: expressions, operator classes and WHERE.
pub fn conflict_targets(source: &Arc<Source>, tokens: &mut Vec<TokenWithSpan>, extras: &mut Extras) -> Result<()> {
    let mut at = 0;
    while at + 2 < tokens.len() {
        at += 1;
        if !follows(tokens, at - 1, &["on", "conflict"]) {
            continue;
        }
        let from = at + 1;
        let mut cursor = Cursor::new(source, tokens);
        cursor.back_to(from);
        if cursor.peek().is_none_or(|token| token.token != Token::LParen) {
            continue;
        }
        let Ok(inside) = cursor.bracketed() else { continue };
        let names = inside.iter().enumerate().all(|(at, token)| match token.token {
            Token::Comma => at % 2 == 1,
            Token::Word(_) => at % 2 == 0,
            _ => false,
        });
        let condition = cursor.word("where");
        if names && !condition {
            continue;
        }
        let items = with_parser(source, inside, |parser| {
            let mut items = vec![parser.parse_create_index_expr()?];
            while parser.consume_token(&Token::Comma) {
                items.push(parser.parse_create_index_expr()?);
            }
            Ok(items)
        })?;
        let decorated =
            |given: &dyn Fn(&ast::OrderByOptions) -> bool| items.iter().any(|item| given(&item.column.options));
        for (given, what) in [
            (decorated(&|options| options.sort.is_some()), "ASC/DESC"),
            (decorated(&|options| options.nulls_first.is_some()), "NULLS FIRST/LAST"),
        ] {
            if given {
                let message = format!("{what} is not allowed in ON CONFLICT clause");
                let error = SqlError::new(state::INVALID_COLUMN_REFERENCE, message);
                let open = tokens.get(from).map_or_else(Span::empty, |token| token.span);
                return Err(source.error(error, open));
            }
        }
        let items = items.into_iter().map(|item| item.column.expr).collect();
        let mut predicate = None;
        if condition {
            let begun = cursor.mark();
            let mut depth = 0_usize;
            while let Some(token) = cursor.peek() {
                match token.token {
                    Token::LParen => depth += 1,
                    Token::RParen => depth = depth.saturating_sub(1),
                    _ if depth == 0 && is_word(token, "do") => break,
                    _ => {}
                }
                cursor.next();
            }
            let condition = tokens.get(begun..cursor.mark()).unwrap_or_default();
            predicate = Some(with_parser(source, condition, |parser| parser.parse_expr())?);
        }
        let end = cursor.mark();
        let name = format!("{CONFLICT_TARGET}{}", extras.conflict_targets.len());
        extras.conflict_targets.push(ConflictTarget { items, predicate });
        let ident = sqlparser::tokenizer::Word { value: name, quote_style: Some('"'), keyword: Keyword::NoKeyword };
        let replaced = [Token::LParen, Token::Word(ident), Token::RParen].map(TokenWithSpan::wrap);
        tokens.splice(from..end, replaced);
    }
    Ok(())
}
