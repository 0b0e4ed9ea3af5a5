//! BEGIN, COMMIT, ROLLBACK, savepoints and transaction modes.

use super::cursor::Cursor;
use super::statement::{Isolation, StatementKind, TransactionModes};
use sql_error::{Result, SqlError, state};
use sqlparser::tokenizer::Token;

/// Parses a statement of transaction control. `None` for any other.
pub fn parse(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let kind = if cursor.word("begin") {
        noise(cursor);
        StatementKind::Begin(modes(cursor)?)
    } else if cursor.words(&["start", "transaction"]) {
        StatementKind::Begin(modes(cursor)?)
    } else if cursor.words(&["commit", "prepared"]) || cursor.words(&["rollback", "prepared"]) {
        let message = "prepared transactions are disabled";
        return Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
    } else if cursor.word("commit") || cursor.word("end") {
        noise(cursor);
        StatementKind::Commit { chain: chain(cursor)? }
    } else if cursor.word("abort") {
        noise(cursor);
        StatementKind::Rollback { chain: chain(cursor)? }
    } else if cursor.word("rollback") {
        noise(cursor);
        if cursor.word("to") {
            cursor.word("savepoint");
            StatementKind::RollbackTo(cursor.plain_name()?)
        } else {
            StatementKind::Rollback { chain: chain(cursor)? }
        }
    } else if cursor.word("savepoint") {
        StatementKind::Savepoint(cursor.plain_name()?)
    } else if cursor.word("release") {
        cursor.word("savepoint");
        StatementKind::Release(cursor.plain_name()?)
    } else if cursor.words(&["prepare", "transaction"]) {
        let message = "prepared transactions are disabled";
        return Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
            .hint("Set max_prepared_transactions to a nonzero value."));
    } else {
        return Ok(None);
    };
    cursor.end()?;
    Ok(Some(kind))
}

fn noise(cursor: &mut Cursor<'_>) {
    if !cursor.word("work") {
        cursor.word("transaction");
    }
}

fn chain(cursor: &mut Cursor<'_>) -> Result<bool> {
    if !cursor.word("and") {
        return Ok(false);
    }
    let chain = !cursor.word("no");
    cursor.expect_word("chain")?;
    Ok(chain)
}

/// Parses modes up to the end of the statement, with or without commas.
pub fn modes(cursor: &mut Cursor<'_>) -> Result<TransactionModes> {
    let mut modes = TransactionModes::default();
    let mut comma = false;
    loop {
        if cursor.words(&["isolation", "level"]) {
            modes.isolation = Some(isolation(cursor)?);
        } else if cursor.words(&["read", "only"]) {
            modes.read_only = Some(true);
        } else if cursor.words(&["read", "write"]) {
            modes.read_only = Some(false);
        } else if cursor.words(&["not", "deferrable"]) {
            modes.deferrable = Some(false);
        } else if cursor.word("deferrable") {
            modes.deferrable = Some(true);
        } else if comma {
            return Err(cursor.error());
        } else {
            return Ok(modes);
        }
        comma = cursor.sign(&Token::Comma);
    }
}

fn isolation(cursor: &mut Cursor<'_>) -> Result<Isolation> {
    if cursor.word("serializable") {
        Ok(Isolation::Serializable)
    } else if cursor.words(&["repeatable", "read"]) {
        Ok(Isolation::RepeatableRead)
    } else if cursor.words(&["read", "committed"]) {
        Ok(Isolation::ReadCommitted)
    } else if cursor.words(&["read", "uncommitted"]) {
        Ok(Isolation::ReadUncommitted)
    } else {
        Err(cursor.error())
    }
}
