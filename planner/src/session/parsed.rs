//! [`ParsedStatements`]: statements that clients prepare again and again, by their texts, so that they are parsed once.
//! What a text says does not depend on the session; its plan does.

use super::dispatch::is_planned;
use super::statement::Statement;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Weak};

/// Bytes of all texts, at most. What is kept of them takes some ten times as much.
const KEPT_BYTES: u64 = 2 << 20;
/// Longer texts hardly come again.
const MOST_BYTES: usize = 8 << 10;
/// What a statement takes beside its text, about, in bytes of text.
const STATEMENT_BYTES: u64 = 128;

#[derive(Clone)]
struct TextBytes;

impl Weighter<String, Arc<Statement>> for TextBytes {
    fn weight(&self, text: &String, _: &Arc<Statement>) -> u64 {
        STATEMENT_BYTES + text.len() as u64
    }
}

/// See the head of the module.
pub struct ParsedStatements {
    kept: Cache<String, Arc<Statement>, TextBytes>,
    /// Those of long texts that somebody holds, by the hashes of the texts.
    held: Mutex<HashMap<u64, Weak<Statement>>>,
}

/// Tells long texts apart, together with a comparison.
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
    /// The one statement of a text, when it is known.
    pub fn find(&self, text: &str) -> Option<Arc<Statement>> {
        if text.len() <= MOST_BYTES {
            return self.kept.get(text);
        }
        let held = self.held.lock().get(&hash(text))?.upgrade()?;
        (held.source.text() == text).then_some(held)
    }

    /// Keeps what a text was found to say, if that is one statement with a plan.
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
