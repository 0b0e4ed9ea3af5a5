//! [`StatementMemory`] accounts for the memory of statements that sessions keep by name. A statement with
//! several names counts once.

use super::statement::Statement;
use crate::error::{Result, SqlError, state};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The approximate bytes of a statement without its text: its plan and the descriptions of its columns.
const STATEMENT_BYTES: usize = 12 << 10;
/// Bytes for each byte of text: in the text, the trees and the plan. Measured with one long constant.
const TEXT_FACTOR: usize = 12;
/// The approximate bytes of a token in the tree and in the plan.
const TOKEN_BYTES: usize = 256;

/// The approximate bytes of a kept statement.
fn bytes_of(statement: &Statement) -> usize {
    let (own, whole) = (statement.text.len(), statement.source.text().len().max(1));
    let tokens = statement.source.tokens_read().saturating_mul(own) / whole;
    // The statement also keeps the text of its neighbours alive, but not their trees.
    STATEMENT_BYTES + own * TEXT_FACTOR + tokens * TOKEN_BYTES + whole.saturating_sub(own)
}

/// The kept statements of one session or of all.
#[derive(Debug)]
pub struct StatementMemory {
    limit: usize,
    kept: Mutex<KeptStatements>,
}

#[derive(Debug, Default)]
struct KeptStatements {
    bytes: usize,
    /// The number of names and the bytes of each statement, by its address.
    statements: HashMap<usize, (usize, usize)>,
}

impl StatementMemory {
    /// An account with a limit in bytes.
    pub fn new(limit: usize) -> Arc<StatementMemory> {
        Arc::new(StatementMemory { limit, kept: Mutex::default() })
    }

    /// The bytes of all kept statements.
    pub fn used(&self) -> usize {
        self.kept.lock().bytes
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Counts a statement until the result is dropped. Errors: 53200.
    pub fn keep(self: &Arc<Self>, statement: &Arc<Statement>) -> Result<Kept> {
        let address = Arc::as_ptr(statement).addr();
        let mut kept = self.kept.lock();
        if let Some((count, _)) = kept.statements.get_mut(&address) {
            *count += 1;
        } else {
            let bytes = bytes_of(statement);
            if kept.bytes.saturating_add(bytes) > self.limit {
                let held = kept.bytes >> 20;
                return Err(SqlError::new(state::OUT_OF_MEMORY, "out of memory")
                    .detail(format!("Prepared statements take {held} MB of {} MB.", self.limit >> 20))
                    .hint("Close or DEALLOCATE what is not needed any more."));
            }
            kept.bytes += bytes;
            kept.statements.insert(address, (1, bytes));
        }
        Ok(Kept { memory: Arc::clone(self), statement: Arc::clone(statement) })
    }
}

/// A counted statement. It owns the statement, so that no other gets its address.
#[derive(Debug)]
pub struct Kept {
    memory: Arc<StatementMemory>,
    statement: Arc<Statement>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        let address = Arc::as_ptr(&self.statement).addr();
        let mut kept = self.memory.kept.lock();
        let Some((count, bytes)) = kept.statements.get_mut(&address) else { return };
        *count -= 1;
        let gone = if *count == 0 { Some(*bytes) } else { None };
        if let Some(bytes) = gone {
            kept.statements.remove(&address);
            kept.bytes -= bytes;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::parse::parse;

    fn statement(sql: &str) -> Arc<Statement> {
        Arc::new(parse(sql).unwrap().remove(0))
    }

    #[test]
    fn a_statement_counts_once_and_until_its_last_name_goes() {
        let memory = StatementMemory::new(1 << 20);
        let (one, other) = (statement("select 1"), statement("select 2"));
        let first = memory.keep(&one).unwrap();
        let bytes = memory.used();
        assert!(bytes >= STATEMENT_BYTES);
        let second = memory.keep(&one).unwrap();
        assert_eq!(memory.used(), bytes);
        let third = memory.keep(&other).unwrap();
        assert_eq!(memory.used(), 2 * bytes);
        drop((first, third));
        assert_eq!(memory.used(), bytes);
        drop(second);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn long_texts_are_refused_where_there_is_no_room() {
        let memory = StatementMemory::new(1 << 20);
        let long = statement(&format!("select {}1", "1,".repeat(8000)));
        assert_eq!(memory.keep(&long).unwrap_err().state(), "53200");
        let kept: Vec<Kept> =
            (0..200).map_while(|number| memory.keep(&statement(&format!("select {number}"))).ok()).collect();
        assert!((50..200).contains(&kept.len()), "{}", kept.len());
    }
}
