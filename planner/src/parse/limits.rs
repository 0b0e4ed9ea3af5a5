//! How deep and long a statement may be, so that nothing that walks its tree overflows the stack.

use super::source::{Source, too_large};
use crate::error::{Result, SqlError, state};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// How deep brackets may be nested.
pub const DEPTH: usize = 96;
/// What all open brackets and the operators in a row within them may cost together: the tree of `a + b + c …` is as deep
/// as it is long.
const COST: usize = 4_096;
const OPERATOR: usize = 16;
/// AND and OR are made balanced trees, and what stands between two of them is no deeper for standing in a long row.
const JUNCTION: usize = 4;
const RELATION: usize = 32;
/// How many tokens a statement may have.
const TOKENS: usize = 2_000_000;

/// Refuses with 54001 what is too deep and with 54000 what is too long.
pub fn check(source: &Source, tokens: &[TokenWithSpan]) -> Result<()> {
    if tokens.len() > TOKENS {
        return Err(too_large(format!("a statement may have at most {TOKENS} words and signs")));
    }
    // Of each open bracket the costs, and those of them that the next AND or OR ends.
    let mut levels = vec![(0_usize, 0_usize)];
    let mut total = 0_usize;
    for token in tokens {
        let (mut cost, mut ends) = (0, false);
        match &token.token {
            Token::LParen | Token::LBracket => {
                levels.push((0, 0));
                cost = OPERATOR;
            }
            Token::RParen | Token::RBracket if levels.len() > 1 => {
                total -= levels.pop().map_or(0, |(level, _)| level);
            }
            Token::Comma => {
                if let Some(level) = levels.last_mut() {
                    total -= level.0;
                    *level = (0, 0);
                }
            }
            Token::Word(word) if word.quote_style.is_none() => {
                let is = |words: &[&str]| words.iter().any(|w| word.value.eq_ignore_ascii_case(w));
                if is(&["AND", "OR"]) {
                    if let Some((level, ending)) = levels.last_mut() {
                        let ended = std::mem::take(ending);
                        *level -= ended;
                        total -= ended;
                    }
                    cost = JUNCTION;
                } else if is(&["UNION", "EXCEPT", "INTERSECT", "JOIN"]) {
                    cost = RELATION;
                } else if is(&["NOT", "CASE", "EXPLAIN", "IS", "LIKE", "ILIKE", "IN", "BETWEEN", "COLLATE"]) {
                    cost = OPERATOR;
                }
            }
            Token::Period | Token::Placeholder(_) | Token::Number(..) | Token::SingleQuotedString(_) => {}
            Token::SemiColon | Token::Colon | Token::EOF | Token::Whitespace(_) => {}
            Token::RParen | Token::RBracket => {}
            Token::Eq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq | Token::Neq => {
                (cost, ends) = (JUNCTION, true)
            }
            _ => (cost, ends) = (OPERATOR, true),
        }
        if let Some((level, ending)) = levels.last_mut() {
            *level += cost;
            *ending += if ends { cost } else { 0 };
            total += cost;
        }
        if levels.len() > DEPTH || total > COST {
            let error = SqlError::new(state::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .hint(format!("Brackets may be {DEPTH} deep and about {} operators in a row.", COST / OPERATOR));
            return Err(source.error(error, token.span));
        }
    }
    Ok(())
}
