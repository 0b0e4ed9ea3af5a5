//! ALTER of functions, operators and all other objects that are no relation, type, role or database.

use super::Parser;
use super::object::ObjectKind;
use crate::error::{Result, SyntaxError};
use crate::tree::{
    AlterFunction, AlterObject, NamedKind, ObjectChange, ObjectReference, OfTableKind, PlainKind, RoutineKind,
    Statement, TriggerSwitch,
};

impl Parser<'_> {
    /// ALTER of an object that has no file of its own, behind ALTER. Errors: 42601, 0A000.
    pub(crate) fn alter_object(&mut self, start: usize) -> Result<Statement> {
        let kind = self.object_kind(is_altered)?;
        let policy = kind == ObjectKind::OfTable(OfTableKind::Policy);
        let statistics = kind == ObjectKind::Named(NamedKind::Statistics);
        let if_exists = (policy || statistics) && self.if_exists();
        let object = self.object(kind)?;
        if let ObjectReference::OfTable(_, _, table) = &object {
            super::object::check_relation(table)?;
        }
        let done = match &object {
            ObjectReference::OfTable(OfTableKind::Policy, name, table) if !if_exists && !self.is_word("rename") => {
                return self.alter_policy(start, name.clone(), table.clone());
            }
            ObjectReference::Plain(PlainKind::Publication, name) => self.alter_publication(start, name)?,
            ObjectReference::Plain(PlainKind::Subscription, name) => self.alter_subscription(start, name)?,
            ObjectReference::Routine(kind, function) if *kind != RoutineKind::Aggregate && !self.is_change() => {
                let options = self.function_options(false)?;
                if options.is_empty() {
                    return Err(self.error());
                }
                self.word("restrict");
                let (kind, function) = (*kind, function.clone());
                Some(Statement::AlterFunction(Box::new(AlterFunction { kind, function, options })))
            }
            _ => None,
        };
        if let Some(statement) = done {
            return Ok(statement);
        }
        let change = match self.own_change(&object)? {
            Some(change) => change,
            None => self.shared_change(&object, if_exists)?,
        };
        let span = self.span_since(start);
        Ok(Statement::AlterObject(Box::new(AlterObject { object, if_exists, change, span })))
    }

    /// Whether the next words change a function as they change other objects. SET SCHEMA 'x' is a setting.
    fn is_change(&self) -> bool {
        ["rename", "owner", "no", "depends"].iter().any(|word| self.is_word(word))
            || self.are_words(&["set", "schema"]) && self.is_column_name_at(2)
    }

    /// RENAME TO, OWNER TO, SET SCHEMA and \[NO\] DEPENDS ON EXTENSION, as far as the object has them.
    fn shared_change(&mut self, object: &ObjectReference, if_exists: bool) -> Result<ObjectChange> {
        let is_statistics = matches!(object, ObjectReference::Named(NamedKind::Statistics, _));
        if is_statistics && if_exists {
            self.expect_word("set")?;
            return Err(self.error());
        }
        if renames(object) && self.word("rename") {
            self.expect_word("to")?;
            return self.column_name().map(ObjectChange::Rename);
        }
        if has_owner(object) && self.word("owner") {
            self.expect_word("to")?;
            return self.role().map(ObjectChange::Owner);
        }
        if has_schema(object) && self.word("set") {
            self.expect_word("schema")?;
            return self.column_name().map(ObjectChange::Schema);
        }
        if depends(object) && (self.is_word("no") || self.is_word("depends")) {
            let no = self.word("no");
            self.expect_words(&["depends", "on", "extension"])?;
            return Ok(ObjectChange::DependsOnExtension(no, self.column_name()?));
        }
        Err(self.error())
    }

    /// A change that the object's kind alone has. `None` if the words of another change come.
    fn own_change(&mut self, object: &ObjectReference) -> Result<Option<ObjectChange>> {
        Ok(match object {
            ObjectReference::Named(NamedKind::Collation, _) if self.word("refresh") => {
                self.expect_word("version")?;
                Some(ObjectChange::RefreshVersion)
            }
            ObjectReference::Named(NamedKind::Statistics, _) if self.words(&["set", "statistics"]) => {
                Some(ObjectChange::SetStatistics(self.signed_integer()?))
            }
            ObjectReference::Named(NamedKind::TextSearchDictionary, _) if self.is_sign('(') => {
                return Err(SyntaxError::unsupported("ALTER TEXT SEARCH DICTIONARY"));
            }
            ObjectReference::Named(NamedKind::TextSearchConfiguration, _)
                if self.one_word_of(&["add", "alter", "drop"]).is_some() =>
            {
                self.expect_word("mapping")?;
                return Err(SyntaxError::unsupported("ALTER TEXT SEARCH CONFIGURATION"));
            }
            ObjectReference::OperatorFamily(..) => match self.one_word_of(&["add", "drop"]) {
                Some(word) => {
                    self.operator_family_items(word == 0)?;
                    return Err(SyntaxError::unsupported("ALTER OPERATOR FAMILY"));
                }
                None => None,
            },
            ObjectReference::Operator(..) if self.is_word("set") && self.is_sign_at(1, '(') => {
                self.skip();
                Some(ObjectChange::SetOptions(self.operator_definition()?))
            }
            ObjectReference::Plain(PlainKind::Tablespace, _) => match self.one_word_of(&["set", "reset"]) {
                Some(0) => Some(ObjectChange::SetOptions(self.storage_options()?)),
                Some(_) => Some(ObjectChange::ResetOptions(self.storage_options()?)),
                None => None,
            },
            ObjectReference::Plain(PlainKind::EventTrigger, _) => self.event_trigger_switch().map(ObjectChange::Switch),
            ObjectReference::Plain(PlainKind::Extension, _) => self.extension_change()?,
            ObjectReference::Plain(PlainKind::ForeignDataWrapper, _) if !self.is_change() => {
                return Err(SyntaxError::unsupported("ALTER FOREIGN DATA WRAPPER"));
            }
            ObjectReference::Plain(PlainKind::Server, _) if !self.is_change() => {
                return Err(SyntaxError::unsupported("ALTER SERVER"));
            }
            _ => None,
        })
    }

    /// ENABLE \[REPLICA | ALWAYS\] or DISABLE.
    fn event_trigger_switch(&mut self) -> Option<TriggerSwitch> {
        if self.word("disable") {
            return Some(TriggerSwitch::Disable);
        }
        if !self.word("enable") {
            return None;
        }
        Some(match self.one_word_of(&["replica", "always"]) {
            Some(0) => TriggerSwitch::EnableReplica,
            Some(_) => TriggerSwitch::EnableAlways,
            None => TriggerSwitch::Enable,
        })
    }

    /// UPDATE, ADD and DROP of an extension.
    fn extension_change(&mut self) -> Result<Option<ObjectChange>> {
        let Some(word) = self.one_word_of(&["update", "add", "drop"]) else { return Ok(None) };
        if word == 0 {
            let version = if self.word("to") { Some(self.word_or_string()?.value) } else { None };
            let again = self.here();
            if version.is_some() && self.word("to") {
                self.word_or_string()?;
                return Err(SyntaxError::syntax("conflicting or redundant options").at(again));
            }
            return Ok(Some(ObjectChange::UpdateExtension(version)));
        }
        let kind = self.object_kind(|kind| {
            !matches!(kind, ObjectKind::OfTable(_) | ObjectKind::Column | ObjectKind::LargeObject)
        })?;
        Ok(Some(ObjectChange::ExtensionMember(word == 1, Box::new(self.object(kind)?))))
    }
}

/// Whether ALTER of this kind belongs here.
fn is_altered(kind: ObjectKind) -> bool {
    match kind {
        ObjectKind::Named(kind) => !matches!(
            kind,
            NamedKind::Table | NamedKind::View | NamedKind::MaterializedView | NamedKind::Index | NamedKind::Sequence
        ),
        ObjectKind::Plain(kind) => !matches!(kind, PlainKind::AccessMethod | PlainKind::Database | PlainKind::Role),
        ObjectKind::OfTable(kind) => kind != OfTableKind::Constraint,
        ObjectKind::Type | ObjectKind::Domain | ObjectKind::Cast | ObjectKind::Transform | ObjectKind::Column => false,
        ObjectKind::Routine(_)
        | ObjectKind::Operator
        | ObjectKind::OperatorClass
        | ObjectKind::OperatorFamily
        | ObjectKind::LargeObject => true,
    }
}

fn renames(object: &ObjectReference) -> bool {
    !matches!(
        object,
        ObjectReference::Plain(PlainKind::Extension, _)
            | ObjectReference::Operator(..)
            | ObjectReference::LargeObject(..)
    )
}

fn has_owner(object: &ObjectReference) -> bool {
    !matches!(
        object,
        ObjectReference::Plain(PlainKind::Extension, _)
            | ObjectReference::OfTable(..)
            | ObjectReference::Named(NamedKind::TextSearchParser | NamedKind::TextSearchTemplate, _)
    )
}

fn has_schema(object: &ObjectReference) -> bool {
    match object {
        ObjectReference::Plain(kind, _) => *kind == PlainKind::Extension,
        ObjectReference::OfTable(..) | ObjectReference::LargeObject(..) => false,
        _ => true,
    }
}

fn depends(object: &ObjectReference) -> bool {
    match object {
        ObjectReference::Routine(kind, _) => *kind != RoutineKind::Aggregate,
        ObjectReference::OfTable(kind, ..) => *kind == OfTableKind::Trigger,
        _ => false,
    }
}
