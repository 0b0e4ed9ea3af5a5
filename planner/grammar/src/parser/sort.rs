//! The items of ORDER BY (sortby).

use super::Parser;
use crate::error::Result;
use crate::tree::{SortDirection, SortItem};

impl Parser<'_> {
    /// The items behind ORDER BY. Errors: 42601.
    pub fn sort_items(&mut self) -> Result<Vec<SortItem>> {
        self.list(Parser::sort_item)
    }

    fn sort_item(&mut self) -> Result<SortItem> {
        let value = self.expr()?;
        let direction = match self.one_word_of(&["asc", "desc", "using"]) {
            Some(0) => Some(SortDirection::Ascending),
            Some(1) => Some(SortDirection::Descending),
            Some(_) => Some(SortDirection::Using(self.any_operator()?)),
            None => None,
        };
        Ok(SortItem { value, direction, nulls_first: self.optional_nulls_order() })
    }

    /// NULLS FIRST (true) or NULLS LAST (false), if it is next.
    pub(crate) fn optional_nulls_order(&mut self) -> Option<bool> {
        if self.words(&["nulls", "first"]) {
            Some(true)
        } else if self.words(&["nulls", "last"]) {
            Some(false)
        } else {
            None
        }
    }
}
