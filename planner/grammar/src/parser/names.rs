//! Names. PostgreSQL sorts its keywords by what they may name (manual, appendix C).

use super::Parser;
use super::object::check_relation;
use crate::error::Result;
use crate::keyword::{Category, Keyword};
use crate::span::Span;
use crate::token::TokenKind;
use crate::tree::{Ident, Name, RelationName, RoleKind, RoleSpec};

impl Parser<'_> {
    /// Whether a later token can be a name, as far as its keyword's category is one of these.
    fn is_name_at(&self, offset: usize, categories: &[Category]) -> bool {
        match &self.peek_at(offset).kind {
            TokenKind::Name { keyword: Some(_), .. } if self.is_pair_at(offset) => false,
            TokenKind::Name { keyword: Some(keyword), .. } => categories.contains(&keyword.category()),
            TokenKind::Name { .. } => true,
            _ => false,
        }
    }

    /// Whether words such as NULLS FIRST stand here. PostgreSQL's lexer reads their first one as no name.
    pub(crate) fn is_pair_at(&self, offset: usize) -> bool {
        let followers: &[&str] = match self.keyword_at(offset).map(Keyword::name) {
            Some("nulls") => &["first", "last"],
            Some("with") => &["time", "ordinality"],
            Some("not") => &["between", "in", "like", "ilike", "similar"],
            _ => return false,
        };
        followers.iter().any(|word| self.is_word_at(offset + 1, word))
    }

    /// Takes the next token, which is a name.
    pub(crate) fn take_ident(&mut self) -> Result<Ident> {
        let token = self.peek();
        let TokenKind::Name { value, .. } = &token.kind else { return Err(self.error()) };
        let ident = Ident { value: value.clone(), span: token.span };
        self.skip();
        Ok(ident)
    }

    fn ident_of(&mut self, categories: &[Category]) -> Result<Ident> {
        if self.is_name_at(0, categories) { self.take_ident() } else { Err(self.error()) }
    }

    /// Whether a later token can name a column or table (ColId).
    pub fn is_column_name_at(&self, offset: usize) -> bool {
        self.is_name_at(offset, &[Category::Unreserved, Category::ColumnName])
    }

    /// The name of a column, table or most other objects (ColId). Errors: 42601.
    pub fn column_name(&mut self) -> Result<Ident> {
        self.ident_of(&[Category::Unreserved, Category::ColumnName])
    }

    /// Whether a later token can name a function or type (type_function_name).
    pub fn is_function_name_at(&self, offset: usize) -> bool {
        self.is_name_at(offset, &[Category::Unreserved, Category::TypeOrFunctionName])
    }

    /// The name of a function or type (type_function_name). Errors: 42601.
    pub fn function_name_word(&mut self) -> Result<Ident> {
        self.ident_of(&[Category::Unreserved, Category::TypeOrFunctionName])
    }

    /// A word that is not reserved (NonReservedWord). Errors: 42601.
    pub fn non_reserved_word(&mut self) -> Result<Ident> {
        self.ident_of(&[Category::Unreserved, Category::ColumnName, Category::TypeOrFunctionName])
    }

    /// Any word: a label behind AS, or a name behind a point (ColLabel). Errors: 42601.
    pub fn label(&mut self) -> Result<Ident> {
        if self.is_pair_at(0) { Err(self.error()) } else { self.take_ident() }
    }

    /// Whether the next token can be a label without AS (BareColLabel).
    pub fn is_bare_label(&self) -> bool {
        match &self.peek().kind {
            TokenKind::Name { keyword: Some(keyword), .. } => keyword.is_bare_label() && !self.is_pair_at(0),
            TokenKind::Name { .. } => true,
            _ => false,
        }
    }

    /// A name that may be qualified (any_name, qualified_name). Errors: 42601.
    pub fn name(&mut self) -> Result<Name> {
        let start = self.mark();
        let first = self.column_name()?;
        self.name_behind(first, start)
    }

    /// The rest of a name whose first part was read since `start`.
    pub(crate) fn name_behind(&mut self, first: Ident, start: usize) -> Result<Name> {
        let mut parts = vec![first];
        while self.sign('.') {
            parts.push(self.label()?);
        }
        Ok(Name { parts, span: self.span_since(start) })
    }

    /// The name of a relation: at most three parts (qualified_name). Errors: 42601.
    pub fn qualified_name(&mut self) -> Result<Name> {
        let name = self.name_without_elements()?;
        check_relation(&name)?;
        Ok(name)
    }

    /// Names in parentheses. Empty, with nothing read, without a parenthesis. Errors: 42601.
    pub fn optional_columns(&mut self) -> Result<Vec<Ident>> {
        if self.is_sign('(') { self.list_in_parentheses(Parser::column_name) } else { Ok(Vec::new()) }
    }

    /// A table with ONLY and `*` (relation_expr). Errors: 42601.
    pub fn relation_name(&mut self) -> Result<RelationName> {
        if self.word("only") {
            let brackets = self.sign('(');
            let name = self.qualified_name()?;
            if brackets {
                self.expect_sign(')')?;
            }
            return Ok(RelationName { name, only: true });
        }
        let name = self.qualified_name()?;
        self.operator("*");
        Ok(RelationName { name, only: false })
    }

    /// A role (RoleSpec). Errors: 42601, and 42939 for the name `none`.
    pub fn role(&mut self) -> Result<RoleSpec> {
        let start = self.mark();
        let kind = match () {
            () if self.word("current_role") => RoleKind::CurrentRole,
            () if self.word("current_user") => RoleKind::CurrentUser,
            () if self.word("session_user") => RoleKind::SessionUser,
            () => {
                let name = self.non_reserved_word()?;
                match name.value.as_str() {
                    "public" => RoleKind::Public,
                    "none" => {
                        let error = crate::SyntaxError::new("42939", "role name \"none\" is reserved");
                        return Err(error.at(name.span));
                    }
                    _ => RoleKind::Named(name.value),
                }
            }
        };
        Ok(RoleSpec { kind, span: self.span_since(start) })
    }

    /// Roles between commas. Errors: 42601.
    pub fn roles(&mut self) -> Result<Vec<RoleSpec>> {
        self.list(Parser::role)
    }

    /// RESTRICT, CASCADE or neither. Answers whether it is CASCADE.
    pub fn cascade(&mut self) -> bool {
        !self.word("restrict") && self.word("cascade")
    }

    /// IF EXISTS.
    pub fn if_exists(&mut self) -> bool {
        self.words(&["if", "exists"])
    }

    /// IF NOT EXISTS. IF alone is a name. Errors: 42601.
    pub fn if_not_exists(&mut self) -> Result<bool> {
        let found = self.words(&["if", "not"]);
        if found {
            self.expect_word("exists")?;
        }
        Ok(found)
    }

    /// A whole number with an optional sign (SignedIconst), within 32 bits. Errors: 42601.
    pub fn signed_integer(&mut self) -> Result<i32> {
        let mark = self.mark();
        let negative = self.operator("-");
        if !negative {
            self.operator("+");
        }
        let TokenKind::Integer(digits) = &self.peek().kind else { return Err(self.error()) };
        let text = if negative { format!("-{digits}") } else { digits.clone() };
        let Ok(value) = text.parse() else {
            // PostgreSQL's lexer takes such a number for one with a fraction.
            let error = self.error();
            self.back_to(mark);
            return Err(error);
        };
        self.skip();
        Ok(value)
    }

    /// A number as written, with its sign (NumericOnly). Errors: 42601.
    pub fn signed_number(&mut self) -> Result<(String, Span)> {
        let start = self.mark();
        let sign = if self.operator("-") { "-" } else { "" };
        if sign.is_empty() {
            self.operator("+");
        }
        let (TokenKind::Integer(digits) | TokenKind::Decimal(digits)) = &self.peek().kind else {
            return Err(self.error());
        };
        let text = format!("{sign}{digits}");
        self.skip();
        Ok((text, self.span_since(start)))
    }
}
