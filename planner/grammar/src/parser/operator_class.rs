//! CREATE OPERATOR CLASS, and operators by name.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::tree::{CreateOperatorClass, Name, ObjectReference, OperatorClassItem, Statement, TypeName};

impl Parser<'_> {
    /// An operator with the types of its operands (operator_with_argtypes). Errors: 42601.
    pub(crate) fn operator_reference(&mut self) -> Result<ObjectReference> {
        let operator = self.operator_name()?;
        let (left, right) = self.operand_types()?;
        Ok(ObjectReference::Operator(operator, left, right))
    }

    /// The types of two operands in parentheses (oper_argtypes). One of them may be NONE.
    fn operand_types(&mut self) -> Result<(Option<TypeName>, Option<TypeName>)> {
        self.expect_sign('(')?;
        let left = if self.word("none") { None } else { Some(self.type_name()?) };
        if left.is_some() && self.is_sign(')') {
            let error = SyntaxError::syntax("missing argument").at(self.here());
            return Err(error.hint("Use NONE to denote the missing argument of a unary operator."));
        }
        self.expect_sign(',')?;
        let right = if left.is_some() && self.word("none") { None } else { Some(self.type_name()?) };
        self.expect_sign(')')?;
        Ok((left, right))
    }

    /// CREATE OPERATOR CLASS, behind these words. Errors: 42601.
    pub(crate) fn create_operator_class(&mut self, start: usize) -> Result<Statement> {
        let name = self.name()?;
        let default = self.word("default");
        self.expect_words(&["for", "type"])?;
        let data_type = self.type_name()?;
        self.expect_word("using")?;
        let method = self.column_name()?;
        let family = if self.word("family") { Some(self.name()?) } else { None };
        self.expect_word("as")?;
        let items = self.list(Parser::operator_class_item)?;
        let span = self.span_since(start);
        let class = CreateOperatorClass { name, default, data_type, method, family, items, span };
        Ok(Statement::CreateOperatorClass(Box::new(class)))
    }

    /// An item of an operator class or family (opclass_item). Errors: 42601.
    fn operator_class_item(&mut self) -> Result<OperatorClassItem> {
        match self.one_word_of(&["operator", "function", "storage"]) {
            Some(0) => {
                let number = self.item_number()?;
                let operator = self.operator_name()?;
                let (left, right) = if self.is_sign('(') { self.operand_types()? } else { (None, None) };
                let order = self.operator_purpose()?;
                // PostgreSQL takes RECHECK without an effect.
                self.word("recheck");
                Ok(OperatorClassItem::Operator(number, operator, left.into_iter().chain(right).collect(), order))
            }
            Some(1) => {
                let number = self.item_number()?;
                let types = if self.is_sign('(') { self.list_in_parentheses(Parser::type_name)? } else { Vec::new() };
                Ok(OperatorClassItem::Function(number, types, self.routine_reference()?))
            }
            Some(_) => Ok(OperatorClassItem::Storage(self.type_name()?)),
            None => Err(self.error()),
        }
    }

    /// The items behind ADD or DROP of ALTER OPERATOR FAMILY. Errors: 42601.
    pub(crate) fn operator_family_items(&mut self, adds: bool) -> Result<()> {
        self.list(|parser| {
            if adds {
                return parser.operator_class_item().map(drop);
            }
            if parser.one_word_of(&["operator", "function"]).is_none() {
                return Err(parser.error());
            }
            parser.item_number()?;
            parser.list_in_parentheses(Parser::type_name).map(drop)
        })
        .map(drop)
    }

    /// FOR SEARCH or FOR ORDER BY, whose family is answered.
    fn operator_purpose(&mut self) -> Result<Option<Name>> {
        if !self.word("for") || self.word("search") {
            return Ok(None);
        }
        self.expect_words(&["order", "by"])?;
        self.name().map(Some)
    }

    /// The number of an item (Iconst).
    fn item_number(&mut self) -> Result<i64> {
        if self.is_operator("-") || self.is_operator("+") {
            return Err(self.error());
        }
        self.signed_integer().map(i64::from)
    }
}
