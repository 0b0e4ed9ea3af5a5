//! Objects of any kind: how statements name them, DROP, and COMMENT ON.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::keyword::Keyword;
use crate::tree::{
    Comment, Drop, Name, NamedKind, ObjectReference, OfTableKind, PlainKind, RoutineKind, Statement, TypeBase, TypeName,
};

/// A kind of object, as the words before its name say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Named(NamedKind),
    Plain(PlainKind),
    OfTable(OfTableKind),
    Routine(RoutineKind),
    Operator,
    OperatorClass,
    OperatorFamily,
    Type,
    Domain,
    Cast,
    Transform,
    Column,
    LargeObject,
}

impl Parser<'_> {
    /// The words of a kind of object, as far as `allows` has it. Errors: 42601.
    pub(crate) fn object_kind(&mut self, allows: impl Fn(ObjectKind) -> bool) -> Result<ObjectKind> {
        let start = self.mark();
        let Some(word) = self.keyword().map(Keyword::name) else { return Err(self.error()) };
        let first = kind_of_word(word).filter(|(kind, _)| allows(*kind));
        let Some((kind, rest)) = first else { return Err(self.error()) };
        self.skip();
        self.expect_words(rest)?;
        let kind = match kind {
            ObjectKind::Named(NamedKind::ForeignTable) if self.word("data") => {
                self.expect_word("wrapper")?;
                ObjectKind::Plain(PlainKind::ForeignDataWrapper)
            }
            ObjectKind::Named(NamedKind::ForeignTable) => {
                self.expect_word("table")?;
                kind
            }
            ObjectKind::Named(NamedKind::TextSearchParser) => {
                ObjectKind::Named(match self.one_word_of(&["parser", "dictionary", "template", "configuration"]) {
                    Some(0) => NamedKind::TextSearchParser,
                    Some(1) => NamedKind::TextSearchDictionary,
                    Some(2) => NamedKind::TextSearchTemplate,
                    Some(_) => NamedKind::TextSearchConfiguration,
                    None => return Err(self.error()),
                })
            }
            // `class.+` is an operator of a schema.
            ObjectKind::Operator if !self.is_sign_at(1, '.') => match self.one_word_of(&["class", "family"]) {
                Some(0) => ObjectKind::OperatorClass,
                Some(_) => ObjectKind::OperatorFamily,
                None => kind,
            },
            _ => kind,
        };
        if allows(kind) {
            return Ok(kind);
        }
        self.back_to(start);
        Err(self.error())
    }

    /// The object of a kind, behind its words. Errors: 42601.
    pub(crate) fn object(&mut self, kind: ObjectKind) -> Result<ObjectReference> {
        Ok(match kind {
            ObjectKind::Named(kind) => ObjectReference::Named(kind, self.name()?),
            ObjectKind::Plain(kind) => ObjectReference::Plain(kind, self.column_name()?),
            ObjectKind::OfTable(kind) => {
                let name = self.column_name()?;
                self.expect_word("on")?;
                // DOMAIN may be a table's name too.
                if kind == OfTableKind::Constraint && self.is_word("domain") && self.is_column_name_at(1) {
                    self.skip();
                    let domain = type_named(self.name()?);
                    return Ok(ObjectReference::DomainConstraint(name, domain));
                }
                ObjectReference::OfTable(kind, name, self.name()?)
            }
            ObjectKind::Routine(RoutineKind::Aggregate) => {
                ObjectReference::Routine(RoutineKind::Aggregate, self.aggregate_reference()?)
            }
            ObjectKind::Routine(kind) => ObjectReference::Routine(kind, self.routine_reference()?),
            ObjectKind::Operator => self.operator_reference()?,
            ObjectKind::OperatorClass | ObjectKind::OperatorFamily => {
                let name = self.name()?;
                self.expect_word("using")?;
                let method = self.column_name()?;
                match kind {
                    ObjectKind::OperatorClass => ObjectReference::OperatorClass(name, method),
                    _ => ObjectReference::OperatorFamily(name, method),
                }
            }
            ObjectKind::Type => ObjectReference::Type(self.type_name()?),
            ObjectKind::Domain => ObjectReference::Domain(self.type_name()?),
            ObjectKind::Cast => {
                let (source, target) = self.cast_types()?;
                ObjectReference::Cast(source, target)
            }
            ObjectKind::Transform => {
                self.expect_word("for")?;
                let data_type = self.type_name()?;
                self.expect_word("language")?;
                ObjectReference::Transform(data_type, self.column_name()?)
            }
            ObjectKind::Column => ObjectReference::Column(self.name()?),
            ObjectKind::LargeObject => {
                let (number, span) = self.signed_number()?;
                ObjectReference::LargeObject(number, span)
            }
        })
    }

    /// DROP of all but roles, behind that word. Errors: 42601.
    pub(crate) fn drop(&mut self, start: usize) -> Result<Statement> {
        use ObjectKind::{Cast, Column, LargeObject, Named, OfTable, OperatorClass, OperatorFamily, Plain, Transform};
        let kind = self.object_kind(|kind| {
            !matches!(kind, Column | LargeObject | OfTable(OfTableKind::Constraint) | Plain(PlainKind::Role))
        })?;
        let concurrently = kind == Named(NamedKind::Index) && self.word("concurrently");
        let if_exists = match kind {
            // Behind these no name may be IF.
            Cast | Transform if self.word("if") => self.expect_word("exists").map(|()| true)?,
            _ => self.if_exists(),
        };
        let mut objects = vec![self.object(kind)?];
        // Of some kinds a statement drops one alone.
        let alone = matches!(
            kind,
            OfTable(_)
                | Cast
                | OperatorClass
                | OperatorFamily
                | Transform
                | Plain(PlainKind::Subscription | PlainKind::Tablespace | PlainKind::Database)
        );
        while !alone && self.sign(',') {
            objects.push(self.object(kind)?);
        }
        let force = kind == Plain(PlainKind::Database) && self.force()?;
        let restricts = !matches!(kind, Plain(PlainKind::Tablespace | PlainKind::Database));
        let cascade = restricts && self.cascade();
        let span = self.span_since(start);
        Ok(Statement::Drop(Box::new(Drop { objects, if_exists, cascade, concurrently, force, span })))
    }

    /// \[WITH\] (FORCE, …) behind a database.
    fn force(&mut self) -> Result<bool> {
        if !self.word("with") && !self.is_sign('(') {
            return Ok(false);
        }
        self.list_in_parentheses(|parser| parser.expect_word("force"))?;
        Ok(true)
    }

    /// COMMENT ON, behind these words. Errors: 42601.
    pub(crate) fn comment(&mut self, start: usize) -> Result<Statement> {
        let kind = self.object_kind(|_| true)?;
        let object = self.object(kind)?;
        self.expect_word("is")?;
        let text = if self.word("null") { None } else { Some(self.expect_string()?) };
        let span = self.span_since(start);
        Ok(Statement::Comment(Box::new(Comment { object, text, span })))
    }
}

/// A table's name has at most three parts.
pub(crate) fn check_relation(name: &Name) -> Result<()> {
    if name.parts.len() <= 3 {
        return Ok(());
    }
    let parts: Vec<&str> = name.parts.iter().map(|part| part.value.as_str()).collect();
    let message = format!("improper qualified name (too many dotted names): {}", parts.join("."));
    Err(SyntaxError::syntax(message).at(name.span))
}

fn type_named(name: Name) -> TypeName {
    let span = name.span;
    TypeName { base: TypeBase::Named(name), modifiers: Vec::new(), array_bounds: Vec::new(), set_of: false, span }
}

/// The kind of object that a word begins, and the words that follow. A word of several kinds answers the first.
fn kind_of_word(word: &str) -> Option<(ObjectKind, &'static [&'static str])> {
    use ObjectKind::{Named, OfTable, Plain, Routine};
    Some(match word {
        "access" => (Plain(PlainKind::AccessMethod), &["method"]),
        "aggregate" => (Routine(RoutineKind::Aggregate), &[]),
        "cast" => (ObjectKind::Cast, &[]),
        "collation" => (Named(NamedKind::Collation), &[]),
        "column" => (ObjectKind::Column, &[]),
        "constraint" => (OfTable(OfTableKind::Constraint), &[]),
        "conversion" => (Named(NamedKind::Conversion), &[]),
        "database" => (Plain(PlainKind::Database), &[]),
        "domain" => (ObjectKind::Domain, &[]),
        "event" => (Plain(PlainKind::EventTrigger), &["trigger"]),
        "extension" => (Plain(PlainKind::Extension), &[]),
        "foreign" => (Named(NamedKind::ForeignTable), &[]),
        "function" => (Routine(RoutineKind::Function), &[]),
        "index" => (Named(NamedKind::Index), &[]),
        "language" => (Plain(PlainKind::Language), &[]),
        "large" => (ObjectKind::LargeObject, &["object"]),
        "materialized" => (Named(NamedKind::MaterializedView), &["view"]),
        "operator" => (ObjectKind::Operator, &[]),
        "policy" => (OfTable(OfTableKind::Policy), &[]),
        "procedural" => (Plain(PlainKind::Language), &["language"]),
        "procedure" => (Routine(RoutineKind::Procedure), &[]),
        "publication" => (Plain(PlainKind::Publication), &[]),
        "role" => (Plain(PlainKind::Role), &[]),
        "routine" => (Routine(RoutineKind::Routine), &[]),
        "rule" => (OfTable(OfTableKind::Rule), &[]),
        "schema" => (Plain(PlainKind::Schema), &[]),
        "sequence" => (Named(NamedKind::Sequence), &[]),
        "server" => (Plain(PlainKind::Server), &[]),
        "statistics" => (Named(NamedKind::Statistics), &[]),
        "subscription" => (Plain(PlainKind::Subscription), &[]),
        "table" => (Named(NamedKind::Table), &[]),
        "tablespace" => (Plain(PlainKind::Tablespace), &[]),
        "text" => (Named(NamedKind::TextSearchParser), &["search"]),
        "transform" => (ObjectKind::Transform, &[]),
        "trigger" => (OfTable(OfTableKind::Trigger), &[]),
        "type" => (ObjectKind::Type, &[]),
        "view" => (Named(NamedKind::View), &[]),
        _ => return None,
    })
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::super::cases;
    use crate::tree::{NamedKind, ObjectReference, OfTableKind, PlainKind, RoutineKind, Statement};

    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        cases::check_statements(include_str!("cases/object.sql"));
    }

    #[test]
    fn objects_are_of_their_kinds() {
        let object = |text: &str| match cases::only(&format!("comment on {text} is null")) {
            Statement::Comment(comment) => comment.object,
            other => panic!("{other:?}"),
        };
        use ObjectReference::{
            Cast, Column, DomainConstraint, LargeObject, Named, OfTable, Operator, OperatorClass, OperatorFamily,
            Plain, Routine,
        };
        assert!(matches!(object("foreign table a"), Named(NamedKind::ForeignTable, _)));
        assert!(matches!(object("foreign data wrapper a"), Plain(PlainKind::ForeignDataWrapper, _)));
        assert!(matches!(object("text search template a"), Named(NamedKind::TextSearchTemplate, _)));
        assert!(matches!(object("procedural language a"), Plain(PlainKind::Language, _)));
        assert!(matches!(object("procedure a"), Routine(RoutineKind::Procedure, it) if it.parameters.is_none()));
        assert!(
            matches!(object("aggregate a(*)"), Routine(RoutineKind::Aggregate, it) if it.parameters == Some(Vec::new()))
        );
        assert!(matches!(object("operator class.+ (none, a)"), Operator(it, None, Some(_)) if it.schema.len() == 1));
        assert!(matches!(object("operator - (a, none)"), Operator(_, Some(_), None)));
        assert!(matches!(object("operator class a using b"), OperatorClass(..)));
        assert!(matches!(object("operator family a using b"), OperatorFamily(..)));
        assert!(matches!(object("constraint a on domain b"), DomainConstraint(..)));
        assert!(matches!(object("constraint a on domain"), OfTable(OfTableKind::Constraint, ..)));
        assert!(matches!(object("rule a on b.c"), OfTable(OfTableKind::Rule, _, it) if it.parts.len() == 2));
        assert!(matches!(object("large object -1"), LargeObject(it, _) if it == "-1"));
        assert!(matches!(object("column a.b.c"), Column(it) if it.parts.len() == 3));
        assert!(matches!(object("cast (a as b)"), Cast(..)));
    }

    #[test]
    fn drop_has_its_words() {
        let drop = |text: &str| match cases::only(text) {
            Statement::Drop(drop) => (drop.objects.len(), drop.if_exists, drop.cascade, drop.concurrently, drop.force),
            other => panic!("{other:?}"),
        };
        assert_eq!(drop("drop index concurrently if exists a, b cascade"), (2, true, true, true, false));
        assert_eq!(drop("drop table a, b restrict"), (2, false, false, false, false));
        assert_eq!(drop("drop database a with (force)"), (1, false, false, false, true));
        assert_eq!(drop("drop policy if exists a on b"), (1, true, false, false, false));
    }
}
