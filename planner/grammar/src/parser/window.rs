//! Windows and their frames (window_specification).

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::span::Span;
use crate::tree::{FrameBound, FrameExclusion, FrameUnits, NamedWindow, WindowFrame, WindowSpec};

impl Parser<'_> {
    /// A window definition in parentheses. Errors: 42601.
    pub fn window_spec(&mut self) -> Result<WindowSpec> {
        let start = self.mark();
        self.expect_sign('(')?;
        // These words are names only if they are quoted.
        let clause = ["partition", "range", "rows", "groups"].iter().any(|word| self.is_word(word));
        let base = if !clause && self.is_column_name_at(0) { Some(self.column_name()?) } else { None };
        let mut partition_by = Vec::new();
        if self.word("partition") {
            self.expect_word("by")?;
            partition_by = self.list(Parser::expr)?;
        }
        let mut order_by = Vec::new();
        if self.word("order") {
            self.expect_word("by")?;
            order_by = self.sort_items()?;
        }
        let frame = self.optional_frame()?;
        self.expect_sign(')')?;
        Ok(WindowSpec { base, partition_by, order_by, frame, span: self.span_since(start) })
    }

    /// A window of the WINDOW clause. Errors: 42601.
    pub(super) fn named_window(&mut self) -> Result<NamedWindow> {
        let name = self.column_name()?;
        self.expect_word("as")?;
        Ok(NamedWindow { name, spec: self.window_spec()? })
    }

    fn optional_frame(&mut self) -> Result<Option<WindowFrame>> {
        let start = self.mark();
        let units = match self.one_word_of(&["range", "rows", "groups"]) {
            Some(0) => FrameUnits::Range,
            Some(1) => FrameUnits::Rows,
            Some(_) => FrameUnits::Groups,
            None => return Ok(None),
        };
        let (first, end) = if self.word("between") {
            if self.is_word("between") {
                // No column may be called so here.
                return Err(self.error());
            }
            let (first, first_span) = self.frame_bound()?;
            self.expect_word("and")?;
            let (end, end_span) = self.frame_bound()?;
            check_frame(&first, first_span, &end, end_span)?;
            (first, Some(end))
        } else {
            let (first, span) = self.frame_bound()?;
            match first {
                FrameBound::UnboundedFollowing => {
                    return Err(wrong_frame("frame start cannot be UNBOUNDED FOLLOWING", span));
                }
                FrameBound::Following(_) => {
                    let message = "frame starting from following row cannot end with current row";
                    return Err(wrong_frame(message, span));
                }
                _ => (first, None),
            }
        };
        let exclude = self.optional_exclusion()?;
        Ok(Some(WindowFrame { units, start: first, end, exclude, span: self.span_since(start) }))
    }

    fn frame_bound(&mut self) -> Result<(FrameBound, Span)> {
        let start = self.mark();
        let bound = match () {
            () if self.words(&["unbounded", "preceding"]) => FrameBound::UnboundedPreceding,
            () if self.words(&["unbounded", "following"]) => FrameBound::UnboundedFollowing,
            () if self.words(&["current", "row"]) => FrameBound::CurrentRow,
            () => {
                let offset = Box::new(self.expr()?);
                match self.one_word_of(&["preceding", "following"]) {
                    Some(0) => FrameBound::Preceding(offset),
                    Some(_) => FrameBound::Following(offset),
                    None => return Err(self.error()),
                }
            }
        };
        Ok((bound, self.span_since(start)))
    }

    fn optional_exclusion(&mut self) -> Result<Option<FrameExclusion>> {
        if !self.word("exclude") {
            return Ok(None);
        }
        match self.one_word_of(&["current", "group", "ties", "no"]) {
            Some(0) => self.expect_word("row").map(|()| Some(FrameExclusion::CurrentRow)),
            Some(1) => Ok(Some(FrameExclusion::Group)),
            Some(2) => Ok(Some(FrameExclusion::Ties)),
            Some(_) => self.expect_word("others").map(|()| None),
            None => Err(self.error()),
        }
    }
}

/// The errors of BETWEEN's bounds.
fn check_frame(start: &FrameBound, start_span: Span, end: &FrameBound, end_span: Span) -> Result<()> {
    match (start, end) {
        (FrameBound::UnboundedFollowing, _) => {
            Err(wrong_frame("frame start cannot be UNBOUNDED FOLLOWING", start_span))
        }
        (_, FrameBound::UnboundedPreceding) => Err(wrong_frame("frame end cannot be UNBOUNDED PRECEDING", end_span)),
        (FrameBound::CurrentRow, FrameBound::Preceding(_)) => {
            Err(wrong_frame("frame starting from current row cannot have preceding rows", end_span))
        }
        (FrameBound::Following(_), FrameBound::Preceding(_) | FrameBound::CurrentRow) => {
            Err(wrong_frame("frame starting from following row cannot have preceding rows", end_span))
        }
        _ => Ok(()),
    }
}

fn wrong_frame(message: &str, span: Span) -> SyntaxError {
    SyntaxError::new("42P20", message).at(span)
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check(include_str!("cases/window.sql"));
    }
}
