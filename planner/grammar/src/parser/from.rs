//! The items of FROM (table_ref). Joins stand in `join`.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::tree::{FromItem, Query, QueryBody, RowsFunction, Sample};

/// What a pair of parentheses in FROM holds.
enum Bracketed {
    Query(Box<Query>),
    Join(Box<FromItem>),
}

/// Words that call a function without parentheses.
const VALUES: [&str; 10] = [
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtime",
    "localtimestamp",
    "session_user",
    "user",
];

/// Keywords that call a function with a grammar of its own, although they name none.
const CALLS: [&str; 18] = [
    "coalesce",
    "extract",
    "greatest",
    "least",
    "normalize",
    "nullif",
    "overlay",
    "position",
    "substring",
    "treat",
    "trim",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlparse",
    "xmlpi",
    "xmlroot",
];

impl Parser<'_> {
    /// The items of FROM, the word not included. Errors: 42601.
    pub fn from_items(&mut self) -> Result<Vec<FromItem>> {
        self.list(Parser::from_item)
    }

    /// One item of FROM, with its joins. Errors: 42601.
    pub fn from_item(&mut self) -> Result<FromItem> {
        let start = self.mark();
        let first = self.joined_item()?;
        self.joins(first, start)
    }

    /// One item of FROM without the joins behind it.
    pub(super) fn joined_item(&mut self) -> Result<FromItem> {
        let start = self.mark();
        if self.is_sign('(') {
            return match self.bracketed()? {
                Bracketed::Query(query) => self.query_item(*query, false, start),
                Bracketed::Join(item) => self.aliased_join(*item),
            };
        }
        if self.word("lateral") {
            if self.is_sign('(') {
                let parenthesis = self.mark();
                let query = self.query_in_parentheses()?;
                return self.query_item(query, true, parenthesis);
            }
            return self.function_item(true, start);
        }
        if self.is_function_item()? {
            return self.function_item(false, start);
        }
        let relation = self.relation_name()?;
        let alias = self.optional_alias()?;
        let sample = self.optional_sample()?;
        Ok(FromItem::Table { relation, alias, sample, span: self.span_since(start) })
    }

    /// Parentheses of any depth. Each is read once: what it holds shows behind the inner ones.
    fn bracketed(&mut self) -> Result<Bracketed> {
        self.deeper(|parser| {
            parser.expect_sign('(')?;
            let start = parser.mark();
            let first = if parser.starts_query() {
                let query = parser.query()?;
                parser.expect_sign(')')?;
                return Ok(Bracketed::Query(Box::new(query)));
            } else if parser.is_sign('(') {
                match parser.bracketed()? {
                    Bracketed::Query(query) if parser.is_sign(')') || parser.continues_query() => {
                        let query = parser.query_continued(QueryBody::Nested(query), start)?;
                        parser.expect_sign(')')?;
                        return Ok(Bracketed::Query(Box::new(query)));
                    }
                    // Within parentheses a missing alias is an error of its own only before a join.
                    Bracketed::Query(_) if !parser.is_alias() && !parser.is_join() => return Err(parser.error()),
                    Bracketed::Query(query) => parser.query_item(*query, false, start)?,
                    Bracketed::Join(item) if parser.sign(')') => return Ok(Bracketed::Join(item)),
                    Bracketed::Join(item) => parser.aliased_join(*item)?,
                }
            } else {
                parser.joined_item()?
            };
            if !parser.is_join() {
                return Err(parser.error());
            }
            let item = parser.joins(first, start)?;
            parser.expect_sign(')')?;
            Ok(Bracketed::Join(Box::new(item)))
        })
    }

    /// The alias of a query whose parenthesis stands at `start`. Errors: 42601 without one.
    fn query_item(&mut self, query: Query, lateral: bool, start: usize) -> Result<FromItem> {
        let span = self.span_since(start);
        let Some(alias) = self.optional_alias()? else {
            let (what, example) = match query.body {
                QueryBody::Values(..) => ("VALUES", "VALUES"),
                _ => ("subquery", "SELECT"),
            };
            let error = SyntaxError::syntax(format!("{what} in FROM must have an alias"));
            return Err(error.hint(format!("For example, FROM ({example} ...) [AS] foo.")).at(span));
        };
        let span = self.span_since(start);
        Ok(FromItem::Query { lateral, query: Box::new(query), alias: Some(alias), span })
    }

    /// The alias of a join in parentheses, if there is one.
    fn aliased_join(&mut self, item: FromItem) -> Result<FromItem> {
        let alias = self.optional_alias()?;
        Ok(match item {
            FromItem::Join(mut join) if alias.is_some() => {
                join.alias = alias;
                FromItem::Join(join)
            }
            item => item,
        })
    }

    /// Whether a function is next. Errors: 42601 for a word that begins no item.
    fn is_function_item(&self) -> Result<bool> {
        if self.are_words(&["rows", "from"]) || VALUES.iter().any(|word| self.is_word(word)) {
            return Ok(true);
        }
        if self.is_word("xmltable") && self.is_sign_at(1, '(') {
            return Err(SyntaxError::unsupported("XMLTABLE").at(self.here()));
        }
        if self.is_sign_at(1, '(') {
            let special = CALLS.iter().chain(&["cast"]).any(|word| self.is_word(word));
            return Ok(special || self.is_function_name_at(0));
        }
        if self.is_function_name_at(0) && !self.is_column_name_at(0) {
            if self.is_word("current_schema") || self.are_words(&["collation", "for"]) {
                return Ok(true);
            }
            // The name of a function alone: its parenthesis is missing.
            return Err(self.error_at(self.peek_at(1)));
        }
        if self.is_word("cast") {
            return Err(self.error_at(self.peek_at(1)));
        }
        if !self.is_column_name_at(0) {
            return Ok(false);
        }
        let mut behind = 1;
        while self.is_sign_at(behind, '.') {
            behind += 2;
        }
        Ok(behind > 1 && self.is_sign_at(behind, '('))
    }

    /// A function, or ROWS FROM several.
    fn function_item(&mut self, lateral: bool, start: usize) -> Result<FromItem> {
        if !self.is_function_item()? {
            // Behind LATERAL a name is that of a function.
            if !self.is_column_name_at(0) {
                return Err(self.error());
            }
            self.name()?;
            return Err(self.error());
        }
        let rows_from = self.words(&["rows", "from"]);
        let functions = if rows_from {
            self.list_in_parentheses(Parser::rows_function)?
        } else {
            vec![RowsFunction { call: self.call_without_window()?, definitions: Vec::new() }]
        };
        let ordinality = self.words(&["with", "ordinality"]);
        let alias = self.optional_function_alias()?;
        Ok(FromItem::Function { lateral, rows_from, functions, ordinality, alias, span: self.span_since(start) })
    }

    fn rows_function(&mut self) -> Result<RowsFunction> {
        let call = self.call_without_window()?;
        let definitions = if self.word("as") { self.column_definitions()? } else { Vec::new() };
        Ok(RowsFunction { call, definitions })
    }

    fn optional_sample(&mut self) -> Result<Option<Sample>> {
        if !self.word("tablesample") {
            return Ok(None);
        }
        let start = self.mark();
        let method = if self.is_column_name_at(0) && self.is_sign_at(1, '.') {
            self.name()?
        } else {
            let word = self.function_name_word()?;
            crate::tree::Name { span: word.span, parts: vec![word] }
        };
        let span = self.span_since(start);
        let arguments = self.list_in_parentheses(Parser::expr)?;
        let mut seed = None;
        if self.word("repeatable") {
            self.expect_sign('(')?;
            seed = Some(self.expr()?);
            self.expect_sign(')')?;
        }
        Ok(Some(Sample { method, arguments, seed, span }))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check(include_str!("cases/from.sql"));
    }
}
