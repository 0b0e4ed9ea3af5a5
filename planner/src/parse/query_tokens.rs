//! Changes to the tokens of a statement before sqlparser reads them: what PostgreSQL's grammar has and sqlparser's has
//! not is either said in other words or noted in [`Extras`].

use super::cursor::is_word;
use super::source::Source;
use super::statement::{Extras, LockStrength, Overriding};
use super::tokens::{closing, follows, word};
use crate::error::{Result, SqlError};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Rewrites the tokens of one statement.
pub fn rewrite(source: &Source, tokens: &mut Vec<TokenWithSpan>, extras: &mut Extras) -> Result<()> {
    table_command(tokens);
    roles(tokens);
    index_method(source, tokens)?;
    drop_index_concurrently(tokens);
    let expressions = super::expression_tokens::has_expressions(tokens);
    let mut at = 0;
    while at < tokens.len() {
        if follows(tokens, at, &["for"]) {
            lock_clause(tokens, at, extras);
        } else if follows(tokens, at, &["overriding", "system", "value"]) {
            extras.overriding = Some(Overriding::System);
            tokens.drain(at..at + 3);
            continue;
        } else if follows(tokens, at, &["overriding", "user", "value"]) {
            extras.overriding = Some(Overriding::User);
            tokens.drain(at..at + 3);
            continue;
        } else if follows(tokens, at, &["where", "current", "of"]) {
            return Err(SqlError::unsupported("WHERE CURRENT OF"));
        } else if follows(tokens, at, &["interval"]) {
            interval_precision(tokens, at);
        } else if follows(tokens, at, &["on", "conflict"]) {
            conflict_target(tokens, at + 2)?;
        }
        if expressions {
            super::expression_tokens::rewrite(tokens, at);
        }
        super::group_by::rewrite(tokens, at);
        at += 1;
    }
    Ok(())
}

/// `TABLE t` is `SELECT * FROM t`.
fn table_command(tokens: &mut Vec<TokenWithSpan>) {
    let Some(first) = tokens.first().cloned() else { return };
    if is_word(&first, "table") {
        let select = word(Keyword::SELECT, "SELECT", &first);
        let star = TokenWithSpan { token: Token::Mul, span: first.span };
        let from = word(Keyword::FROM, "FROM", &first);
        tokens.splice(0..1, [select, star, from]);
    }
}

/// `CREATE USER` is `CREATE ROLE … LOGIN`; `ALTER USER` and `DROP USER` are those of roles; ENCRYPTED says nothing.
fn roles(tokens: &mut Vec<TokenWithSpan>) {
    let user = ["create", "alter", "drop"].iter().find(|verb| follows(tokens, 0, &[verb, "user"]));
    let group = ["create", "alter", "drop"].iter().any(|verb| follows(tokens, 0, &[verb, "group"]));
    let role = ["create", "alter"].iter().any(|verb| follows(tokens, 0, &[verb, "role"]));
    if user.is_none() && !role && !group {
        return;
    }
    if let Some(second) = tokens.get_mut(1) {
        *second = word(Keyword::ROLE, "ROLE", second);
    }
    let mut at = 2;
    while at < tokens.len() {
        if follows(tokens, at, &["encrypted", "password"]) {
            tokens.remove(at);
        }
        at += 1;
    }
    let mut named = 2;
    if follows(tokens, 2, &["if", "not", "exists"]) {
        named = 5;
    }
    if user == Some(&"create") && !tokens.iter().any(|token| is_word(token, "login") || is_word(token, "nologin")) {
        let Some(like) = tokens.get(named).cloned() else { return };
        let mut after = named + 1;
        if tokens.get(after).is_some_and(|token| is_word(token, "with")) {
            after += 1;
        }
        tokens.insert(after, word(Keyword::LOGIN, "LOGIN", &like));
    }
}

/// `CREATE INDEX … USING btree` is what we have; other methods are refused. CONCURRENTLY says nothing here: building an
/// index never blocks reads.
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
            return Err(SqlError::unsupported(format!("the index access method \"{name}\"")));
        }
        tokens.drain(at..at + 2);
    }
    Ok(())
}

fn drop_index_concurrently(tokens: &mut Vec<TokenWithSpan>) {
    if follows(tokens, 0, &["drop", "index", "concurrently"]) {
        tokens.remove(2);
    }
}

/// Notes the strength of `FOR …` and leaves `FOR UPDATE` or `FOR SHARE`, which sqlparser knows.
fn lock_clause(tokens: &mut Vec<TokenWithSpan>, at: usize, extras: &mut Extras) {
    let (words, strength): (usize, _) = if follows(tokens, at + 1, &["no", "key", "update"]) {
        (2, LockStrength::NoKeyUpdate)
    } else if follows(tokens, at + 1, &["key", "share"]) {
        (1, LockStrength::KeyShare)
    } else if follows(tokens, at + 1, &["update"]) {
        (0, LockStrength::Update)
    } else if follows(tokens, at + 1, &["share"]) {
        (0, LockStrength::Share)
    } else {
        return;
    };
    tokens.drain(at + 1..at + 1 + words);
    extras.locks.push(strength);
}

/// `interval(3) '…'` is `CAST('…' AS interval(3))`.
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

/// `ON CONFLICT (a) WHERE …` names a partial index: there are none.
fn conflict_target(tokens: &[TokenWithSpan], at: usize) -> Result<()> {
    if closing(tokens, at).is_some_and(|close| follows(tokens, close + 1, &["where"])) {
        return Err(SqlError::unsupported("ON CONFLICT on a partial index"));
    }
    Ok(())
}
