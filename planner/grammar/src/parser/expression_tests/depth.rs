//! Long and deep expressions.

use super::whole;
use crate::parser::Parser;
use crate::tree::{Expr, ExprKind};

/// Runs on the stack of a server's thread.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

fn parsed(text: &str) -> Expr {
    whole(text, Parser::expr).unwrap_or_else(|error| panic!("{error}: {} bytes", text.len()))
}

#[test]
fn long_and_deep_expressions_are_read_and_dropped() {
    on_small_stack(|| {
        let texts = [
            vec!["a = 1"; 3_000].join(" or "),
            vec!["a = 1"; 3_000].join(" and "),
            format!("case {} end", "when a then b ".repeat(1_000)),
            format!("{}1{}", "array[".repeat(200), "]".repeat(200)),
            format!("array{}1{}", "[".repeat(200), "]".repeat(200)),
            "not ".repeat(1_000) + "a",
            vec!["a"; 4_000].join(" || "),
            format!("{}a{}", "(".repeat(4_000), ")".repeat(4_000)),
            format!("{}a{}", "f(".repeat(1_600), ")".repeat(1_600)),
            format!("{}a{}", "(1 + ".repeat(4_000), ")".repeat(4_000)),
            format!("{}a{}", "a[".repeat(1_600), "]".repeat(1_600)),
            format!("{}a{}", "case when ".repeat(1_600), " then 1 end".repeat(1_600)),
            format!("{}a{}", "(select ".repeat(800), ")".repeat(800)),
            format!("{}a{}", "(select from (select ".repeat(400), ") x)".repeat(400)),
            format!("(select * from {}a{})", "(select * from ".repeat(800), ") x".repeat(800)),
            format!("{}select 1{}", "(".repeat(4_000), ")".repeat(4_000)),
            format!("{}select 1{}", "(".repeat(2_000), ") + 1".repeat(1_000) + &")".repeat(1_000)),
            format!("{}a{}", "a in (".repeat(4_000), ")".repeat(4_000)),
            format!("(select 1{})", " union select 1 union all select 1".repeat(2_000)),
            format!("(select * from t{})", " cross join t".repeat(4_500)),
        ];
        for text in texts {
            drop(parsed(&text));
        }
    });
}

#[test]
fn too_deep_expressions_are_an_error() {
    on_small_stack(|| {
        for text in [
            "(".repeat(100_000),
            "f(".repeat(100_000),
            "array[".repeat(100_000),
            format!("array{}", "[".repeat(100_000)),
            "case ".repeat(100_000),
            "(select ".repeat(100_000),
            "((select 1) + ".repeat(100_000),
            "not ".repeat(100_000) + "a",
            vec!["a"; 100_000].join(" + "),
            "a between a[".repeat(100_000),
            "a::t(".repeat(100_000),
            format!("a{}", "::int".repeat(100_000)),
            format!("a{}", " is null".repeat(100_000)),
        ] {
            let error = whole(&text, Parser::expr).expect_err("too deep");
            assert_eq!(error.fields().state, "54001", "{:.40}", text);
        }
    });
}

#[test]
fn chains_of_and_are_one_node() {
    let ExprKind::And(operands) = parsed(&vec!["(a or b)"; 10_000].join(" and ")).kind else { panic!() };
    assert_eq!(operands.len(), 10_000);
}
