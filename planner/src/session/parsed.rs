//! [`ParsedStatements`] caches parsed statements by text, because clients prepare the same texts again and again. Must
//! not know plans: those depend on the session, and the parsed form does not.

use super::dispatch::is_planned;
use super::statement::Statement;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Weak};

/// The greatest size of all cached texts in bytes. Their parsed statements take some ten times as much.
const KEPT_BYTES: u64 = 2 << 20;
/// The greatest size of a cached text in bytes. Longer texts hardly recur.
const MOST_BYTES: usize = 8 << 10;
/// The approximate overhead of a statement, in bytes of text.
const STATEMENT_BYTES: u64 = 128;

#[derive(Clone)]
struct TextBytes;

impl Weighter<String, Arc<Statement>> for TextBytes {
    fn weight(&self, text: &String, _: &Arc<Statement>) -> u64 {
        STATEMENT_BYTES + text.len() as u64
    }
}

/// The cache of parsed statements.
pub struct ParsedStatements {
    kept: Cache<String, Arc<Statement>, TextBytes>,
    /// Statements of longer texts that a session still uses, by the hash of the text.
    held: Mutex<HashMap<u64, Weak<Statement>>>,
}

/// Hashes a long text. [`ParsedStatements::find`] compares the texts afterwards.
fn hash(text: &str) -> u64 {
    foldhash::fast::FixedState::default().hash_one(text)
}

impl Default for ParsedStatements {
    fn default() -> Self {
        let most = usize::try_from(KEPT_BYTES / STATEMENT_BYTES).unwrap_or(usize::MAX);
        ParsedStatements { kept: Cache::with_weighter(most, KEPT_BYTES, TextBytes), held: Mutex::default() }
    }
}

impl ParsedStatements {
    /// The single statement of a text, if it is cached.
    pub fn find(&self, text: &str) -> Option<Arc<Statement>> {
        if text.len() <= MOST_BYTES {
            return self.kept.get(text);
        }
        let held = self.held.lock().get(&hash(text))?.upgrade()?;
        (held.source.text() == text).then_some(held)
    }

    /// Caches the result of parsing a text, if that is a single statement with a plan.
    pub fn keep(&self, text: &str, statements: &[Arc<Statement>]) {
        let [only] = statements else { return };
        if !is_planned(&only.kind) {
            return;
        }
        if text.len() <= MOST_BYTES {
            self.kept.insert(text.to_owned(), only.clone());
            return;
        }
        let mut held = self.held.lock();
        held.retain(|_, statement| statement.strong_count() > 0);
        held.insert(hash(text), Arc::downgrade(only));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::parse::parse;

    fn keep(kept: &ParsedStatements, text: &str) {
        let statements: Vec<_> = parse(text).unwrap().into_iter().map(Arc::new).collect();
        kept.keep(text, &statements);
    }

    #[test]
    fn single_statements_with_plans_are_kept() {
        let kept = ParsedStatements::default();
        for text in ["select a from t where b = $1", "insert into t values ($1)"] {
            keep(&kept, text);
            assert!(kept.find(text).is_some(), "{text}");
        }
        let long = format!("select '{}'", "x".repeat(MOST_BYTES));
        for text in ["select 1; select 2", "set timezone to utc", "", &long] {
            keep(&kept, text);
            assert!(kept.find(text).is_none(), "{text}");
        }
    }

    #[test]
    fn their_number_is_bounded() {
        let kept = ParsedStatements::default();
        for number in 0..30_000 {
            let text = format!("select {number}");
            let statements = [Arc::new(parse("select 1").unwrap().remove(0))];
            kept.keep(&text, &statements);
        }
        assert!(kept.kept.weight() <= KEPT_BYTES && kept.kept.len() > 1000, "{}", kept.kept.len());
    }
}
