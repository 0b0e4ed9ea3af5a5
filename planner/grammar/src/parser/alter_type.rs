//! ALTER TYPE.

use super::Parser;
use crate::error::Result;
use crate::tree::{AlterObject, AlterType, ColumnDefinition, ObjectChange, ObjectReference, Statement, TypeName};

impl Parser<'_> {
    /// ALTER TYPE behind TYPE (AlterEnumStmt, AlterCompositeTypeStmt, AlterTypeStmt). Errors: 42601.
    pub(crate) fn alter_type(&mut self, start: usize) -> Result<Statement> {
        let name = self.type_by_name()?;
        if let Some(change) = self.change_of_object()? {
            return Ok(self.altered(start, ObjectReference::Type(name), change));
        }
        let action = match () {
            () if self.word("rename") => match self.one_word_of(&["value", "attribute"]) {
                Some(0) => {
                    let old = self.expect_string()?;
                    self.expect_word("to")?;
                    AlterType::RenameValue(old, self.expect_string()?)
                }
                Some(_) => {
                    let old = self.column_name()?;
                    self.expect_word("to")?;
                    let new = self.column_name()?;
                    AlterType::RenameAttribute(old, new, self.cascade())
                }
                None => return Err(self.error()),
            },
            () if self.word("set") => AlterType::SetOptions(self.operator_definition()?),
            () if self.words(&["add", "value"]) => self.add_value()?,
            () => return Ok(alter(name, self.list(Parser::alter_attribute)?)),
        };
        Ok(alter(name, vec![action]))
    }

    fn add_value(&mut self) -> Result<AlterType> {
        let if_not_exists = self.word("if");
        if if_not_exists {
            self.expect_words(&["not", "exists"])?;
        }
        let label = self.expect_string()?;
        let neighbour = match self.one_word_of(&["before", "after"]) {
            Some(at) => Some((at == 0, self.expect_string()?)),
            None => None,
        };
        Ok(AlterType::AddValue { if_not_exists, label, neighbour })
    }

    /// An action about an attribute (alter_type_cmd).
    fn alter_attribute(&mut self) -> Result<AlterType> {
        let Some(at) = self.one_word_of(&["add", "drop", "alter"]) else { return Err(self.error()) };
        self.expect_word("attribute")?;
        Ok(match at {
            0 => {
                let attribute = self.attribute()?;
                AlterType::AddAttribute(attribute, self.cascade())
            }
            1 => {
                let if_exists = self.if_exists();
                let name = self.column_name()?;
                AlterType::DropAttribute(if_exists, name, self.cascade())
            }
            _ => {
                let name = self.column_name()?;
                if self.word("set") {
                    self.expect_word("data")?;
                }
                self.expect_word("type")?;
                let data_type = self.type_name()?;
                let collation = self.optional_collation()?;
                AlterType::AlterAttribute(ColumnDefinition { name, data_type, collation }, self.cascade())
            }
        })
    }

    /// RENAME TO, OWNER TO or SET SCHEMA, if it is next. Errors: 42601.
    pub(crate) fn change_of_object(&mut self) -> Result<Option<ObjectChange>> {
        Ok(Some(match () {
            () if self.words(&["rename", "to"]) => ObjectChange::Rename(self.column_name()?),
            () if self.words(&["set", "schema"]) => ObjectChange::Schema(self.column_name()?),
            () if self.word("owner") => {
                self.expect_word("to")?;
                ObjectChange::Owner(self.role()?)
            }
            () => return Ok(None),
        }))
    }

    /// The change of an object, as a statement since `start`.
    pub(crate) fn altered(&self, start: usize, object: ObjectReference, change: ObjectChange) -> Statement {
        let span = self.span_since(start);
        Statement::AlterObject(Box::new(AlterObject { object, if_exists: false, change, span }))
    }
}

fn alter(name: TypeName, actions: Vec<AlterType>) -> Statement {
    Statement::AlterType(Box::new((name, actions)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/alter_type.sql"));
    }
}
