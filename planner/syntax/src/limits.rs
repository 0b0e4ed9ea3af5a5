//! Limits on the depth and length of a statement, so that no walk over its tree overflows the stack.

use super::source::{Source, too_large};
use super::tokens::word_at;
use sql_error::{Result, SqlError, state};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The greatest nesting depth of parentheses.
pub const DEPTH: usize = 96;
/// The greatest total cost of the open parentheses and the operators in them. The tree of `a + b + c …` is as deep
/// as it is long.
const COST: usize = 4_096;
const OPERATOR: usize = 16;
/// The cost of AND and OR. Their chains become balanced trees, so an operand in a long chain lies no deeper.
const JUNCTION: usize = 4;
/// The cost of a join, a set operation or a further item of FROM. A plan's depth grows with their number.
const RELATION: usize = 32;
/// The cost of a further UNION of the same kind. Chains of them become balanced trees, and one node of the plan.
const UNION: usize = 2;
/// The greatest number of tokens in a statement.
const TOKENS: usize = 2_000_000;

/// Words that are operators or begin one.
const OPERATORS: [&str; 17] = [
    "at", "between", "collate", "explain", "ilike", "in", "is", "isnull", "like", "not", "notnull", "operator",
    "overlaps", "regexp", "rlike", "similar", "xor",
];

/// An open nesting level: parentheses or CASE.
#[derive(Default)]
struct Level {
    /// The cost of the operators since the last separator.
    operators: usize,
    /// The part of that cost that the next AND or OR ends.
    ending: usize,
    /// The cost of the relations so far. A separator does not reduce the depth that they cause.
    relations: usize,
    /// The set operation, while it repeats: whether it is UNION ALL.
    union: Option<bool>,
    /// Whether the position is in FROM, whose items are joined.
    from: bool,
    /// Whether END closes the level.
    case: bool,
}

impl Level {
    fn cost(&self) -> usize {
        self.operators + self.relations
    }

    /// Begins a sibling of the preceding expression.
    fn separate(&mut self) {
        (self.operators, self.ending) = (0, 0);
    }

    fn operator(&mut self, cost: usize) {
        self.operators += cost;
        self.ending += cost;
    }

    fn junction(&mut self) {
        self.operators -= std::mem::take(&mut self.ending);
        self.operators += JUNCTION;
    }

    fn set_operation(&mut self, union: Option<bool>) {
        self.separate();
        self.from = false;
        self.relations += if union.is_some() && union == self.union { UNION } else { RELATION };
        self.union = union;
    }

    /// Counts an unquoted word. `all` tells whether ALL follows it. `distinct` tells whether DISTINCT precedes it, as
    /// in IS DISTINCT FROM.
    fn word(&mut self, word: &str, all: bool, distinct: bool) {
        let is = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
        if is(&["and", "or"]) {
            self.junction();
        } else if is(&["union"]) {
            self.set_operation(Some(all));
        } else if is(&["except", "intersect"]) {
            self.set_operation(None);
        } else if is(&["join"]) {
            self.relations += RELATION;
        } else if is(&["from"]) && !distinct {
            self.from = true;
        } else if is(&["select", "where", "group", "order", "having", "window", "limit", "set", "returning"]) {
            self.from = false;
        } else if is(&["when", "then", "else"]) && self.case {
            self.separate();
        } else if is(&OPERATORS) {
            self.operator(OPERATOR);
        }
    }
}

/// Refuses a statement that is too deep (54001) or too long (54000).
pub fn check(source: &Source, tokens: &[TokenWithSpan]) -> Result<()> {
    if tokens.len() > TOKENS {
        return Err(too_large(format!("a statement may have at most {TOKENS} words and signs")));
    }
    let mut levels = vec![Level::default()];
    // The cost of all levels except the last.
    let mut below = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        let unquoted = match &token.token {
            Token::Word(word) if word.quote_style.is_none() => Some(word.value.as_str()),
            _ => None,
        };
        let says = |word: &str| unquoted.is_some_and(|found| found.eq_ignore_ascii_case(word));
        let brackets = matches!(token.token, Token::LParen | Token::LBracket);
        if brackets || says("case") {
            below += levels.last().map_or(0, Level::cost);
            levels.push(Level { operators: OPERATOR, case: !brackets, ..Level::default() });
        } else if matches!(token.token, Token::RParen | Token::RBracket) {
            // A CASE that is a name has no END.
            while levels.len() > 1 {
                let case = levels.pop().is_some_and(|closed| closed.case);
                below -= levels.last().map_or(0, Level::cost);
                if !case {
                    break;
                }
            }
        } else if says("end") && levels.len() > 1 && levels.last().is_some_and(|last| last.case) {
            levels.pop();
            below -= levels.last().map_or(0, Level::cost);
        }
        let Some(level) = levels.last_mut() else { continue };
        match &token.token {
            Token::Comma => {
                level.separate();
                level.relations += if level.from { RELATION } else { 0 };
            }
            Token::Word(_) => {
                let all = word_at(tokens, at + 1, &["all"]);
                let distinct = at.checked_sub(1).is_some_and(|before| word_at(tokens, before, &["distinct"]));
                level.word(unquoted.unwrap_or_default(), all, distinct);
            }
            Token::LParen | Token::LBracket | Token::RParen | Token::RBracket => {}
            Token::Period | Token::Placeholder(_) | Token::Number(..) | Token::SingleQuotedString(_) => {}
            Token::SemiColon | Token::Colon | Token::EOF | Token::Whitespace(_) => {}
            Token::Eq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq | Token::Neq => level.operator(JUNCTION),
            _ => level.operator(OPERATOR),
        }
        if levels.len() > DEPTH || below + levels.last().map_or(0, Level::cost) > COST {
            let error = SqlError::new(state::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .hint(format!("Brackets may be {DEPTH} deep and about {} operators in a row.", COST / OPERATOR));
            return Err(source.error(error, token.span));
        }
    }
    Ok(())
}
