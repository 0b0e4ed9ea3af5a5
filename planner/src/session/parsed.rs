//! [`ParsedStatements`]: statements that clients prepare again and again, by their texts, so that they are parsed once. Must not
//! know plans: what a text means depends on the session, what it says does not.

use super::dispatch::is_planned;
use super::statement::Statement;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;

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
pub struct ParsedStatements(Cache<String, Arc<Statement>, TextBytes>);

impl Default for ParsedStatements {
    fn default() -> Self {
        let most = usize::try_from(KEPT_BYTES / STATEMENT_BYTES).unwrap_or(usize::MAX);
        ParsedStatements(Cache::with_weighter(most, KEPT_BYTES, TextBytes))
    }
}

impl ParsedStatements {
    /// The one statement of a text, when it is known.
    pub fn find(&self, text: &str) -> Option<Arc<Statement>> {
        self.0.get(text)
    }

    /// Keeps what a text was found to say, if that is one statement with a plan.
    pub fn keep(&self, text: &str, statements: &[Arc<Statement>]) {
        if let [only] = statements
            && text.len() <= MOST_BYTES
            && is_planned(&only.kind)
        {
            self.0.insert(text.to_owned(), only.clone());
        }
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
        assert!(kept.0.weight() <= KEPT_BYTES && kept.0.len() > 1000, "{}", kept.0.len());
    }
}
