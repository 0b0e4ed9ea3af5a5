//! How deep and long a statement may be, so that nothing that walks its tree overflows the stack.

use super::source::{Source, too_large};
use crate::error::{Result, SqlError, state};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// How deep brackets may be nested.
pub const DEPTH: usize = 96;
/// How many operators may follow one another between commas: the tree of `a + b + c …` is as deep as it is long.
const CHAIN: usize = 2_000;
/// How many tokens a statement may have.
const TOKENS: usize = 2_000_000;

/// Refuses with 54001 what is too deep and with 54000 what is too long.
pub fn check(source: &Source, tokens: &[TokenWithSpan]) -> Result<()> {
    if tokens.len() > TOKENS {
        return Err(too_large(format!("a statement may have at most {TOKENS} words and signs")));
    }
    let mut chains = vec![0_usize];
    // NOT, unary minus and CASE nest without brackets.
    let mut prefixes = 0_usize;
    for token in tokens {
        let mut prefix = false;
        match &token.token {
            Token::LParen | Token::LBracket => chains.push(0),
            Token::RParen | Token::RBracket if chains.len() > 1 => {
                chains.pop();
            }
            Token::Comma => {
                if let Some(chain) = chains.last_mut() {
                    *chain = 0;
                }
            }
            Token::Word(word) if word.quote_style.is_none() => {
                let value = word.value.as_str();
                if ["AND", "OR", "UNION", "EXCEPT", "INTERSECT", "JOIN"].iter().any(|w| value.eq_ignore_ascii_case(w)) {
                    count(&mut chains);
                } else if ["NOT", "CASE", "EXPLAIN"].iter().any(|w| value.eq_ignore_ascii_case(w)) {
                    prefix = true;
                    count(&mut chains);
                }
            }
            Token::Plus | Token::Minus | Token::Tilde | Token::AtSign => {
                prefix = true;
                count(&mut chains);
            }
            Token::Mul | Token::Div | Token::Mod | Token::StringConcat | Token::Caret | Token::DoubleColon => {
                count(&mut chains);
            }
            _ => {}
        }
        prefixes = if prefix { prefixes + 1 } else { 0 };
        let too_deep = chains.len() > DEPTH || prefixes > DEPTH || chains.last().is_some_and(|chain| *chain > CHAIN);
        if too_deep {
            let error = SqlError::new(state::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .hint(format!("Brackets may be {DEPTH} deep and operators {CHAIN} in a row."));
            return Err(source.error(error, token.span));
        }
    }
    Ok(())
}

fn count(chains: &mut [usize]) {
    if let Some(chain) = chains.last_mut() {
        *chain += 1;
    }
}
