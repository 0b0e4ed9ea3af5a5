//! CREATE TYPE.

use super::Parser;
use super::object::check_relation;
use crate::error::Result;
use crate::tree::{
    ColumnDefinition, CreateType, Define, DefineKind, Name, Statement, TypeBase, TypeDefinition, TypeName,
};

impl Parser<'_> {
    /// CREATE TYPE behind TYPE (DefineStmt). Errors: 42601.
    pub(crate) fn create_type(&mut self, start: usize) -> Result<Statement> {
        let name = self.name()?;
        if self.is_sign('(') {
            let options = self.definition()?;
            let span = self.span_since(start);
            return Ok(Statement::Define(Box::new(Define {
                kind: DefineKind::Type,
                or_replace: false,
                if_not_exists: false,
                name,
                routine: None,
                options,
                from: None,
                span,
            })));
        }
        let definition = match () {
            () if !self.word("as") => TypeDefinition::Shell,
            () if self.word("enum") => {
                self.expect_sign('(')?;
                let labels = if self.is_sign(')') { Vec::new() } else { self.list(Parser::enum_label)? };
                self.expect_sign(')')?;
                TypeDefinition::Enum(labels)
            }
            () if self.word("range") => TypeDefinition::Range(self.definition()?),
            () => {
                self.expect_sign('(')?;
                let attributes = if self.is_sign(')') { Vec::new() } else { self.list(Parser::attribute)? };
                self.expect_sign(')')?;
                check_relation(&name)?;
                TypeDefinition::Composite(attributes)
            }
        };
        let span = self.span_since(start);
        Ok(Statement::CreateType(Box::new(CreateType { name, definition, span })))
    }

    fn enum_label(&mut self) -> Result<(String, crate::Span)> {
        let label = self.expect_string()?;
        Ok((label, self.before()))
    }

    /// An attribute of a composite type (TableFuncElement). Errors: 42601.
    pub(crate) fn attribute(&mut self) -> Result<ColumnDefinition> {
        let name = self.column_name()?;
        let data_type = self.type_name()?;
        Ok(ColumnDefinition { name, data_type, collation: self.optional_collation()? })
    }

    /// A type by its name alone (any_name). Errors: 42601.
    pub(crate) fn type_by_name(&mut self) -> Result<TypeName> {
        let name: Name = self.name()?;
        let span = name.span;
        Ok(TypeName {
            base: TypeBase::Named(name),
            modifiers: Vec::new(),
            array_bounds: Vec::new(),
            set_of: false,
            span,
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/type_definition.sql"));
    }
}
