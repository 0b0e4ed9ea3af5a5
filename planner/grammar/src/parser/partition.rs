//! PARTITION BY, and the bounds of partitions.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::span::Span;
use crate::tree::{Ident, PartitionBound, PartitionBy};

impl Parser<'_> {
    /// PARTITION BY, if it is next (OptPartitionSpec). Errors: 42601.
    pub(crate) fn optional_partition_by(&mut self) -> Result<Option<PartitionBy>> {
        let start = self.mark();
        if !self.word("partition") {
            return Ok(None);
        }
        self.expect_word("by")?;
        let strategy = self.column_name()?;
        let keys = self.list_in_parentheses(Parser::partition_key)?;
        Ok(Some(PartitionBy { strategy, keys, span: self.span_since(start) }))
    }

    /// FOR VALUES or DEFAULT (PartitionBoundSpec). Errors: 42601; 42710 for a bound that is said twice.
    pub(crate) fn partition_bound(&mut self) -> Result<PartitionBound> {
        if self.word("default") {
            return Ok(PartitionBound::Default);
        }
        self.expect_words(&["for", "values"])?;
        match self.one_word_of(&["in", "from", "with"]) {
            Some(0) => Ok(PartitionBound::In(self.bound_values()?)),
            Some(1) => {
                let from = self.bound_values()?;
                self.expect_word("to")?;
                Ok(PartitionBound::FromTo(from, self.bound_values()?))
            }
            Some(_) => hash_bound(self.list_in_parentheses(Parser::hash_number)?),
            None => Err(self.error()),
        }
    }

    fn bound_values(&mut self) -> Result<Vec<crate::tree::Expr>> {
        self.expect_sign('(')?;
        let values = self.exprs()?;
        self.expect_sign(')')?;
        Ok(values)
    }

    /// MODULUS or REMAINDER with its number (hash_partbound_elem).
    fn hash_number(&mut self) -> Result<(Ident, i64, Span)> {
        let start = self.mark();
        let name = self.non_reserved_word()?;
        let value = self.unsigned_integer()?;
        Ok((name, value.into(), self.span_since(start)))
    }
}

/// The bound of a hash partition.
fn hash_bound(numbers: Vec<(Ident, i64, Span)>) -> Result<PartitionBound> {
    let mut modulus = None;
    let mut remainder = None;
    for (name, value, span) in numbers {
        let target = match name.value.as_str() {
            "modulus" => &mut modulus,
            "remainder" => &mut remainder,
            other => {
                let message = format!("unrecognized hash partition bound specification \"{other}\"");
                return Err(SyntaxError::syntax(message).at(span));
            }
        };
        if target.replace(value).is_some() {
            let message = format!("{} for hash partition provided more than once", name.value);
            return Err(SyntaxError::new("42710", message).at(span));
        }
    }
    match (modulus, remainder) {
        (None, _) => Err(SyntaxError::syntax("modulus for hash partition must be specified")),
        (_, None) => Err(SyntaxError::syntax("remainder for hash partition must be specified")),
        (Some(modulus), Some(remainder)) => Ok(PartitionBound::Hash(modulus, remainder)),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/partition.sql"));
    }
}
