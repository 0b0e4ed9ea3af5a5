//! Random trees are printed and read again: the tree stays.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod random;

use percosql_grammar::tree::Statement;
use percosql_grammar::{Parser, parse};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, proptest};
use random::Choices;

/// How many trees of each kind are made.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000)
}

fn choices() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..160)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expressions_are_read_again(bytes in choices()) {
        let tree = Choices::new(bytes).expr();
        let text = tree.to_string();
        let mut parser = Parser::new(&text).unwrap();
        let read = parser.expr();
        prop_assert!(read.is_ok(), "{text}\n{read:?}\n{tree:?}");
        prop_assert!(parser.at_end(), "{text}\nbehind it stands {:?}\n{tree:?}", parser.peek());
        let read = read.unwrap();
        prop_assert!(read == tree, "{text}\nis read as {read}\n{read:?}\n{tree:?}");
    }

    #[test]
    fn restricted_expressions_are_read_again(bytes in choices()) {
        let tree = Choices::new(bytes).expr();
        // In parentheses any expression is taken. The printer finds out whether it needs them.
        let text = format!("CREATE TABLE t (a int DEFAULT ({tree}) NOT NULL, b int DEFAULT 1 + ({tree}))");
        let read = parse(&text);
        prop_assert!(read.is_ok(), "{text}\n{read:?}\n{tree:?}");
        let read = read.unwrap();
        let printed = read[0].statement.to_string();
        let again = parse(&printed);
        prop_assert!(again.is_ok(), "{printed}\n{again:?}");
        prop_assert!(again.unwrap() == read, "{text}\nis read as {printed}");
    }

    #[test]
    fn queries_are_read_again(bytes in choices()) {
        let tree = Statement::Query(Box::new(Choices::new(bytes).query()));
        let text = tree.to_string();
        let read = parse(&text);
        prop_assert!(read.is_ok(), "{text}\n{read:?}\n{tree:?}");
        let read = read.unwrap();
        prop_assert!(read.len() == 1 && read[0].statement == tree, "{text}\nis read as {}\n{tree:?}", read[0].statement);
    }
}
