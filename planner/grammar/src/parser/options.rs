//! Lists of options: `(fillfactor = 70)`, `(ANALYZE, VERBOSE off)`.

use super::Parser;
use crate::error::Result;
use crate::keyword::Category;
use crate::token::TokenKind;
use crate::tree::{OptionItem, OptionValue, TypeBase, TypeName};

impl Parser<'_> {
    /// `(name [= value], …)` as of storage parameters (reloptions). Errors: 42601.
    pub fn storage_options(&mut self) -> Result<Vec<OptionItem>> {
        self.list_in_parentheses(|parser| {
            let start = parser.mark();
            let first = parser.label()?;
            let (namespace, name) = if parser.sign('.') { (Some(first), parser.label()?) } else { (None, first) };
            let value = parser.optional_value()?;
            Ok(OptionItem { namespace, name, value, span: parser.span_since(start) })
        })
    }

    /// WITH and storage parameters, if WITH is next (opt_reloptions). Errors: 42601.
    pub(crate) fn optional_storage_options(&mut self) -> Result<Vec<OptionItem>> {
        if self.plain_with() { self.storage_options() } else { Ok(Vec::new()) }
    }

    /// Takes WITH, if it is next. WITH TIME and WITH ORDINALITY are other words to PostgreSQL.
    pub(crate) fn plain_with(&mut self) -> bool {
        !self.is_word_at(1, "time") && !self.is_word_at(1, "ordinality") && self.word("with")
    }

    /// `(name [= value], …)` as of CREATE AGGREGATE (definition). Errors: 42601.
    pub fn definition(&mut self) -> Result<Vec<OptionItem>> {
        self.list_in_parentheses(|parser| {
            let start = parser.mark();
            let name = parser.label()?;
            let value = parser.optional_value()?;
            Ok(OptionItem { namespace: None, name, value, span: parser.span_since(start) })
        })
    }

    /// `(name = value, …)` as of ALTER OPERATOR and ALTER TYPE (operator_def_list). NONE is the word
    /// `none`. Errors: 42601.
    pub(crate) fn operator_definition(&mut self) -> Result<Vec<OptionItem>> {
        self.list_in_parentheses(|parser| {
            let start = parser.mark();
            let name = parser.label()?;
            if !parser.operator("=") {
                return Err(parser.error());
            }
            let value = Some(parser.option_value()?);
            Ok(OptionItem { namespace: None, name, value, span: parser.span_since(start) })
        })
    }

    /// `(name [value], …)` as of EXPLAIN and VACUUM (utility_option_list). Errors: 42601.
    pub fn utility_options(&mut self) -> Result<Vec<OptionItem>> {
        self.list_in_parentheses(|parser| {
            let start = parser.mark();
            // ANALYSE is another spelling of ANALYZE, and both are reserved.
            let analyze = parser.is_word("analyze") || parser.is_word("analyse");
            let mut name = if analyze { parser.label()? } else { parser.non_reserved_word()? };
            if analyze {
                name.value = "analyze".into();
            }
            let value = parser.utility_value()?;
            Ok(OptionItem { namespace: None, name, value, span: parser.span_since(start) })
        })
    }

    /// The value of a utility's option, if there is one (utility_option_arg).
    fn utility_value(&mut self) -> Result<Option<OptionValue>> {
        Ok(match &self.peek().kind {
            TokenKind::Sign(',' | ')') => None,
            TokenKind::String(_) | TokenKind::Name { .. } => Some(self.option_word()?),
            _ => Some(OptionValue::Number(self.signed_number()?.0)),
        })
    }

    fn optional_value(&mut self) -> Result<Option<OptionValue>> {
        if self.operator("=") { self.option_value().map(Some) } else { Ok(None) }
    }

    /// The value of an option behind `=` (def_arg). Errors: 42601.
    pub(crate) fn option_value(&mut self) -> Result<OptionValue> {
        let number = |kind: &TokenKind| matches!(kind, TokenKind::Integer(_) | TokenKind::Decimal(_));
        Ok(match &self.peek().kind {
            TokenKind::String(_) => OptionValue::String(self.expect_string()?),
            kind if number(kind) => OptionValue::Number(self.signed_number()?.0),
            TokenKind::Operator(sign) if (sign == "-" || sign == "+") && number(&self.peek_at(1).kind) => {
                OptionValue::Number(self.signed_number()?.0)
            }
            TokenKind::Operator(_) => OptionValue::Operator(self.any_operator()?),
            TokenKind::Name { .. } if self.is_word("operator") && self.is_sign_at(1, '(') => {
                OptionValue::Operator(self.any_operator()?)
            }
            TokenKind::Name { keyword, .. } => {
                let reserved = keyword.is_some_and(|keyword| keyword.category() == Category::Reserved);
                if reserved || self.is_word("none") || self.is_lone_type() {
                    OptionValue::Word(self.label()?.value)
                } else {
                    word_or_type(self.function_type()?)
                }
            }
            _ => return Err(self.error()),
        })
    }

    /// Whether the next token is the name of a type that ends a value.
    fn is_lone_type(&self) -> bool {
        self.is_function_name_at(0) && (self.is_sign_at(1, ',') || self.is_sign_at(1, ')'))
    }
}

/// A type's name of one part is a word: PostgreSQL cannot tell them apart.
fn word_or_type(data_type: TypeName) -> OptionValue {
    match &data_type {
        TypeName { base: TypeBase::Named(name), modifiers, array_bounds, set_of: false, .. }
            if modifiers.is_empty() && array_bounds.is_empty() =>
        {
            match name.parts.as_slice() {
                [word] => OptionValue::Word(word.value.clone()),
                _ => OptionValue::Type(data_type),
            }
        }
        _ => OptionValue::Type(data_type),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/options.sql"));
    }

    #[test]
    #[allow(clippy::unwrap_used)]
    fn values_keep_what_was_written() {
        let mut parser = super::Parser::new(
            "(a = 70, b = -1.5, c = 'x', d = true, e = \"Plain\", f = none, g = *, h, i = a.b, j = int[])",
        )
        .unwrap();
        let options = parser.definition().unwrap();
        let values: Vec<String> = options.iter().map(|option| format!("{:?}", option.value)).collect();
        let starts = [
            "Some(Number(\"70\"))",
            "Some(Number(\"-1.5\"))",
            "Some(String(\"x\"))",
            "Some(Word(\"true\"))",
            "Some(Word(\"Plain\"))",
            "Some(Word(\"none\"))",
            "Some(Operator(",
            "None",
            "Some(Type(",
            "Some(Type(",
        ];
        assert_eq!(values.len(), starts.len());
        assert!(values.iter().zip(starts).all(|(value, start)| value.starts_with(start)), "{values:?}");
    }
}
