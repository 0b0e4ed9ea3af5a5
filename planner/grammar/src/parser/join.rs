//! Joins (joined_table).

use super::Parser;
use crate::error::Result;
use crate::tree::{FromItem, Join, JoinCondition, JoinKind};

/// The words that may begin a join.
const JOIN_WORDS: [&str; 7] = ["join", "inner", "left", "right", "full", "cross", "natural"];

impl Parser<'_> {
    /// Whether a join is next.
    pub(super) fn is_join(&self) -> bool {
        JOIN_WORDS.iter().any(|word| self.is_word(word))
    }

    /// The joins behind an item read since `start`. They bind to the left, but an item that still waits for its ON takes
    /// further joins first: `a JOIN b JOIN c ON x ON y`.
    pub(super) fn joins(&mut self, first: FromItem, start: usize) -> Result<FromItem> {
        let (mut left, mut start) = (first, start);
        let mut waiting: Vec<(FromItem, JoinKind, usize)> = Vec::new();
        let mut levels = 0;
        loop {
            if self.is_join() {
                let (kind, natural) = self.join_words()?;
                self.one_level_more(&mut levels)?;
                if natural || kind == JoinKind::Cross {
                    let right = self.joined_item()?;
                    let condition = if natural { JoinCondition::Natural } else { JoinCondition::None };
                    left = self.join(left, kind, right, condition, start);
                } else {
                    waiting.push((left, kind, start));
                    start = self.mark();
                    left = self.joined_item()?;
                }
            } else if let Some((outer, kind, outer_start)) = waiting.pop() {
                let condition = self.join_condition()?;
                left = self.join(outer, kind, left, condition, outer_start);
                start = outer_start;
            } else {
                return Ok(left);
            }
        }
    }

    fn join(&self, left: FromItem, kind: JoinKind, right: FromItem, by: JoinCondition, start: usize) -> FromItem {
        let span = self.span_since(start);
        FromItem::Join(Box::new(Join { left, kind, right, condition: by, alias: None, span }))
    }

    /// The words up to JOIN. Answers the kind, and whether NATURAL was among them.
    fn join_words(&mut self) -> Result<(JoinKind, bool)> {
        if self.word("cross") {
            self.expect_word("join")?;
            return Ok((JoinKind::Cross, false));
        }
        let natural = self.word("natural");
        let kind = match self.one_word_of(&["left", "right", "full", "inner"]) {
            Some(0) => JoinKind::Left,
            Some(1) => JoinKind::Right,
            Some(2) => JoinKind::Full,
            _ => {
                self.expect_word("join")?;
                return Ok((JoinKind::Inner, natural));
            }
        };
        self.word("outer");
        self.expect_word("join")?;
        Ok((kind, natural))
    }

    fn join_condition(&mut self) -> Result<JoinCondition> {
        if self.word("on") {
            return self.expr().map(JoinCondition::On);
        }
        if !self.word("using") {
            return Err(self.error());
        }
        let columns = self.list_in_parentheses(Parser::column_name)?;
        let named = self.is_word("as") && !self.is_as_of();
        let alias = if named && self.word("as") { Some(self.column_name()?) } else { None };
        Ok(JoinCondition::Using(columns, alias))
    }
}
