//! Every statement of the repository's scripts is printed and read again: the tree stays, and so does the text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod scripts;

use percosql_grammar::parse;

/// What is wrong with the text that the trees of a text are printed as.
fn wrong(text: &str) -> Option<String> {
    let trees = parse(text).ok()?;
    for tree in &trees {
        let printed = tree.statement.to_string();
        let again = match parse(&printed) {
            Ok(again) => again,
            Err(error) => {
                let at = error.fields().span.map_or(0, |span| span.start as usize);
                return Some(format!("{printed}\n  {error}, before: {}", printed.get(at..).unwrap_or("")));
            }
        };
        if again.len() != 1 || again[0].statement != tree.statement {
            return Some(format!("{printed}\n  is another tree"));
        }
        let second = again[0].statement.to_string();
        if second != printed {
            return Some(format!("{printed}\n  then is {second}"));
        }
    }
    None
}

#[test]
fn printed_statements_of_scripts_are_read_again() {
    let mut read = 0;
    let mut refused = Vec::new();
    let mut faults = Vec::new();
    for piece in scripts::pieces() {
        match parse(&piece.text) {
            Ok(_) => {
                read += 1;
                faults.extend(wrong(&piece.text).map(|fault| format!("{}: {}\n  {fault}", piece.place, piece.text)));
            }
            Err(error) => refused.push(format!("{}: {}\n  {error}", piece.place, piece.text)),
        }
    }
    if let Ok(path) = std::env::var("REFUSED_STATEMENTS") {
        std::fs::write(path, refused.join("\n")).unwrap();
    }
    assert!(faults.is_empty(), "{} wrong:\n{}", faults.len(), faults.join("\n"));
    // The scripts hold mistakes on purpose.
    assert!(refused.len() * 20 < read, "{} of {read} are refused", refused.len());
    assert!(read > 15_000, "only {read} statements");
}

#[test]
fn statements_of_every_kind_are_read_again() {
    let kinds = include_str!("data/kinds.sql").lines();
    let accepted = include_str!("data/accepted.sql").split("\n----\n");
    let faults: Vec<String> = kinds.chain(accepted).filter_map(wrong).collect();
    assert!(faults.is_empty(), "{} wrong:\n{}", faults.len(), faults.join("\n"));
}

/// Long chains, and what they begin and end with.
#[test]
fn long_chains_are_read_again() {
    let chain = |first: &str, link: &str, last: &str| format!("{first}{}{last}", link.repeat(3_000));
    let texts = [
        chain("SELECT a", " + a", ""),
        chain("SELECT a", " AND a", ""),
        chain("SELECT a", " OR b AND c", ""),
        chain("SELECT 1", " UNION ALL SELECT 1", ""),
        format!("SELECT 1{}", " UNION SELECT 1 EXCEPT SELECT 1".repeat(1_000)),
        chain("SELECT * FROM a", " CROSS JOIN a", ""),
        chain("SELECT ", "NOT ", "a"),
        chain("SELECT ", "- ", "-a"),
        chain("SELECT a", "::INTEGER", ""),
        format!("SELECT {}a{}", "f(".repeat(1_000), ")".repeat(1_000)),
        format!("SELECT {}a - b{}", "1 - (".repeat(1_000), ")".repeat(1_000)),
    ];
    for text in texts {
        let trees = parse(&text).unwrap();
        let printed = trees[0].statement.to_string();
        assert_eq!(printed, text);
        assert!(parse(&printed).unwrap()[0].statement == trees[0].statement);
    }
}
