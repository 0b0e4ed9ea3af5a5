//! Cursors: DECLARE, FETCH, MOVE, CLOSE.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::tree::{DeclareCursor, Fetch, FetchDirection, Statement};

/// 42P11: a cursor cannot have both of two properties.
const INVALID_CURSOR_DEFINITION: &str = "42P11";

impl Parser<'_> {
    /// DECLARE, behind that word. Errors: 42601, 42P11.
    pub(crate) fn declare_cursor(&mut self) -> Result<Statement> {
        let name = self.column_name()?;
        let (mut binary, mut scroll, mut insensitive) = (false, [false; 2], [false; 2]);
        let [yes, no] = &mut scroll;
        let [not_seen, seen] = &mut insensitive;
        loop {
            match () {
                () if self.word("binary") => binary = true,
                () if self.word("scroll") => *yes = true,
                () if self.word("insensitive") => *not_seen = true,
                () if self.word("asensitive") => *seen = true,
                () if self.word("no") => {
                    self.expect_word("scroll")?;
                    *no = true;
                }
                () => break,
            }
        }
        self.expect_word("cursor")?;
        let with = self.one_word_of(&["with", "without"]);
        if with.is_some() {
            self.expect_word("hold")?;
        }
        self.expect_word("for")?;
        let start = self.mark();
        let query = Box::new(self.query()?);
        Ok(Statement::DeclareCursor(Box::new(DeclareCursor {
            name,
            binary,
            scroll: either(scroll, "SCROLL and NO SCROLL")?,
            insensitive: either(insensitive, "ASENSITIVE and INSENSITIVE")?,
            hold: with == Some(0),
            query,
            span: self.span_since(start),
        })))
    }

    /// FETCH or MOVE, behind that word. Errors: 42601.
    pub(crate) fn fetch(&mut self, only_move: bool) -> Result<Statement> {
        let direction = self.fetch_direction()?;
        self.one_word_of(&["from", "in"]);
        let cursor = self.column_name()?;
        Ok(Statement::Fetch(Fetch { only_move, cursor, direction }))
    }

    fn fetch_direction(&mut self) -> Result<FetchDirection> {
        use FetchDirection as D;
        if self.is_signed_number() {
            return Ok(D::Forward(Some(self.signed_integer()?.into())));
        }
        if self.word("all") {
            return Ok(D::Forward(None));
        }
        // Each of these words may be the cursor's own name.
        let counts = self.counts_at(1);
        let named = self.is_column_name_at(1) || self.is_word_at(1, "from") || self.is_word_at(1, "in");
        let all = self.is_word_at(1, "all");
        Ok(match () {
            () if named && self.word("next") => D::Forward(Some(1)),
            () if named && self.word("prior") => D::Backward(Some(1)),
            () if named && self.word("first") => D::Absolute(1),
            () if named && self.word("last") => D::Absolute(-1),
            () if counts && self.word("absolute") => D::Absolute(self.signed_integer()?.into()),
            () if counts && self.word("relative") => D::Relative(self.signed_integer()?.into()),
            () if (counts || named || all) && self.word("forward") => D::Forward(self.fetch_count()?),
            () if (counts || named || all) && self.word("backward") => D::Backward(self.fetch_count()?),
            () => D::Forward(Some(1)),
        })
    }

    /// The number behind FORWARD or BACKWARD. `None` for ALL.
    fn fetch_count(&mut self) -> Result<Option<i64>> {
        if self.word("all") {
            return Ok(None);
        }
        if self.counts_at(0) { Ok(Some(self.signed_integer()?.into())) } else { Ok(Some(1)) }
    }

    fn counts_at(&self, offset: usize) -> bool {
        use crate::token::TokenKind::{Decimal, Integer};
        let number = matches!(self.peek_at(offset).kind, Integer(_) | Decimal(_));
        number || self.is_operator_at(offset, "-") || self.is_operator_at(offset, "+")
    }

    /// CLOSE, behind that word. Errors: 42601.
    pub(crate) fn close(&mut self) -> Result<Statement> {
        Ok(Statement::Close(if self.word("all") { None } else { Some(self.column_name()?) }))
    }
}

/// Which of two opposite properties was written.
fn either(written: [bool; 2], names: &str) -> Result<Option<bool>> {
    match written {
        [true, true] => Err(SyntaxError::new(INVALID_CURSOR_DEFINITION, format!("cannot specify both {names}"))),
        [false, false] => Ok(None),
        [first, _] => Ok(Some(first)),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/cursor.sql"));
    }

    #[test]
    fn tells_directions_from_names() {
        use crate::tree::{Fetch, FetchDirection as D, Ident, Statement};
        let cases = [
            ("FETCH c", "c", D::Forward(Some(1))),
            ("FETCH next", "next", D::Forward(Some(1))),
            ("FETCH NEXT next", "next", D::Forward(Some(1))),
            ("FETCH PRIOR FROM c", "c", D::Backward(Some(1))),
            ("FETCH FIRST IN c", "c", D::Absolute(1)),
            ("FETCH LAST c", "c", D::Absolute(-1)),
            ("FETCH ABSOLUTE -3 c", "c", D::Absolute(-3)),
            ("FETCH RELATIVE 0 FROM c", "c", D::Relative(0)),
            ("FETCH -2 c", "c", D::Forward(Some(-2))),
            ("FETCH ALL c", "c", D::Forward(None)),
            ("FETCH FORWARD ALL c", "c", D::Forward(None)),
            ("FETCH FORWARD 5 c", "c", D::Forward(Some(5))),
            ("FETCH BACKWARD c", "c", D::Backward(Some(1))),
            ("FETCH BACKWARD ALL c", "c", D::Backward(None)),
            ("FETCH backward", "backward", D::Forward(Some(1))),
        ];
        for (text, cursor, direction) in cases {
            let fetch = |only_move| Statement::Fetch(Fetch { only_move, cursor: Ident::new(cursor), direction });
            assert_eq!(super::super::cases::only(text), fetch(false), "{text}");
            assert_eq!(super::super::cases::only(&text.replace("FETCH", "MOVE")), fetch(true), "{text}");
        }
    }
}
