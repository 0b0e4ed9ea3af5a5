//! Publications and subscriptions.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::span::Span;
use crate::tree::{
    Expr, Ident, OptionItem, Publication, PublicationAction, PublicationObject, RelationName, Statement, Subscription,
    SubscriptionAction,
};

/// What the words before an object of a publication say about it.
#[derive(Clone, Copy, PartialEq)]
enum Word {
    Table,
    Schema,
}

/// A name without TABLE or TABLES IN SCHEMA before it. It is of the kind of the object before it.
struct Bare {
    /// `None` for CURRENT_SCHEMA.
    relation: Option<RelationName>,
    columns: Vec<Ident>,
    filter: Option<Expr>,
    /// Whether ONLY or `*` was written.
    extended: bool,
    span: Span,
}

impl Parser<'_> {
    /// CREATE PUBLICATION, behind these words. Errors: 42601.
    pub(crate) fn create_publication(&mut self, start: usize) -> Result<Statement> {
        let name = self.column_name()?;
        let mut all_tables = false;
        let mut objects = Vec::new();
        let mut wrong = None;
        if self.word("for") {
            if self.word("all") {
                self.expect_word("tables")?;
                all_tables = true;
            } else {
                (objects, wrong) = self.publication_objects()?;
            }
        }
        let options = self.with_definition()?;
        // PostgreSQL checks the list once the statement was read.
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let span = self.span_since(start);
        let publication = Publication { name, all_tables, objects, action: None, options, span };
        Ok(Statement::Publication(Box::new(publication)))
    }

    /// ALTER PUBLICATION with ADD, SET or DROP, behind the name. `None` if another word comes. Errors: 42601.
    pub(crate) fn alter_publication(&mut self, start: usize, name: &Ident) -> Result<Option<Statement>> {
        let action = match self.one_word_of(&["add", "set", "drop"]) {
            Some(0) => PublicationAction::Add,
            Some(1) if self.is_sign('(') => PublicationAction::SetOptions,
            Some(1) => PublicationAction::Set,
            Some(_) => PublicationAction::Drop,
            None => return Ok(None),
        };
        let mut objects = Vec::new();
        let mut options = Vec::new();
        if action == PublicationAction::SetOptions {
            options = self.definition()?;
        } else {
            let wrong;
            (objects, wrong) = self.publication_objects()?;
            if let Some(wrong) = wrong {
                return Err(wrong);
            }
        }
        let (name, action, span) = (name.clone(), Some(action), self.span_since(start));
        let publication = Publication { name, all_tables: false, objects, action, options, span };
        Ok(Some(Statement::Publication(Box::new(publication))))
    }

    /// The objects of a publication, and what is wrong with their list (pub_obj_list).
    fn publication_objects(&mut self) -> Result<(Vec<PublicationObject>, Option<SyntaxError>)> {
        let mut last = None;
        let mut wrong = None;
        let objects = self.list(|parser| {
            if parser.word("table") {
                last = Some(Word::Table);
                let relation = parser.relation_name()?;
                let columns = parser.optional_columns()?;
                return Ok(PublicationObject::Table(relation, columns, parser.publication_filter()?));
            }
            if parser.words(&["tables", "in"]) {
                parser.expect_word("schema")?;
                last = Some(Word::Schema);
                let schema = if parser.word("current_schema") { None } else { Some(parser.column_name()?) };
                return Ok(PublicationObject::Schema(schema));
            }
            let bare = parser.bare_object()?;
            let (object, error) = of_kind(bare, last);
            wrong = wrong.take().or(error);
            Ok(object)
        })?;
        Ok((objects, wrong))
    }

    fn bare_object(&mut self) -> Result<Bare> {
        let start = self.mark();
        if self.word("current_schema") {
            let span = self.span_since(start);
            return Ok(Bare { relation: None, columns: Vec::new(), filter: None, extended: false, span });
        }
        let relation = self.relation_name()?;
        let span = self.span_since(start);
        let extended = relation.only || !relation.name.span.is_at(span);
        let columns = self.optional_columns()?;
        let filter = self.publication_filter()?;
        Ok(Bare { relation: Some(relation), columns, filter, extended, span })
    }

    fn publication_filter(&mut self) -> Result<Option<Expr>> {
        if self.word("where") { self.expr_in_parentheses().map(Some) } else { Ok(None) }
    }

    /// WITH and a list of options, if it is next (opt_definition). Errors: 42601.
    fn with_definition(&mut self) -> Result<Vec<OptionItem>> {
        if self.word("with") { self.definition() } else { Ok(Vec::new()) }
    }

    /// CREATE SUBSCRIPTION, behind these words. Errors: 42601.
    pub(crate) fn create_subscription(&mut self, start: usize) -> Result<Statement> {
        let name = self.column_name()?;
        self.expect_word("connection")?;
        let connection = Some(self.expect_string()?);
        self.expect_word("publication")?;
        let publications = self.list(Parser::column_name)?;
        let options = self.with_definition()?;
        let (action, span) = (SubscriptionAction::Create, self.span_since(start));
        let subscription = Subscription { name, action, connection, publications, options, span };
        Ok(Statement::Subscription(Box::new(subscription)))
    }

    /// ALTER SUBSCRIPTION, behind the name. `None` if the words of other objects come. Errors: 42601.
    pub(crate) fn alter_subscription(&mut self, start: usize, name: &Ident) -> Result<Option<Statement>> {
        let mut connection = None;
        let mut publications = Vec::new();
        let mut options = Vec::new();
        let word = self.one_word_of(&["connection", "refresh", "enable", "disable", "skip", "set", "add", "drop"]);
        let action = match word {
            Some(0) => {
                connection = Some(self.expect_string()?);
                SubscriptionAction::Connection
            }
            Some(1) => {
                self.expect_word("publication")?;
                options = self.with_definition()?;
                SubscriptionAction::Refresh
            }
            Some(2) => SubscriptionAction::Enable,
            Some(3) => SubscriptionAction::Disable,
            Some(4) => {
                options = self.definition()?;
                SubscriptionAction::Skip
            }
            Some(5) if self.is_sign('(') => {
                options = self.definition()?;
                SubscriptionAction::SetOptions
            }
            Some(change) => {
                self.expect_word("publication")?;
                publications = self.list(Parser::column_name)?;
                options = self.with_definition()?;
                match change {
                    5 => SubscriptionAction::SetPublication,
                    6 => SubscriptionAction::AddPublication,
                    _ => SubscriptionAction::DropPublication,
                }
            }
            None => return Ok(None),
        };
        let (name, span) = (name.clone(), self.span_since(start));
        let subscription = Subscription { name, action, connection, publications, options, span };
        Ok(Some(Statement::Subscription(Box::new(subscription))))
    }
}

/// The object that a bare name is behind others, and why it is none.
fn of_kind(bare: Bare, kind: Option<Word>) -> (PublicationObject, Option<SyntaxError>) {
    // PostgreSQL has no place for a name with ONLY or `*`, and points at the text's first character.
    let at = if bare.extended { Span { start: 0, end: 1 } } else { bare.span };
    let is_table = kind == Some(Word::Table);
    let is_plain = !bare.extended && bare.relation.as_ref().is_none_or(|it| it.name.parts.len() == 1);
    let message = match kind {
        None => "invalid publication object list",
        Some(Word::Table) if bare.relation.is_none() => "invalid table name",
        Some(Word::Schema) if bare.filter.is_some() => "WHERE clause not allowed for schema",
        Some(Word::Schema) if !bare.columns.is_empty() => "column specification not allowed for schema",
        Some(Word::Schema) if !is_plain => "invalid schema name",
        _ => "",
    };
    let mut error = (!message.is_empty()).then(|| SyntaxError::syntax(message).at(at));
    if kind.is_none() {
        let detail = "One of TABLE or TABLES IN SCHEMA must be specified before a standalone table or schema name.";
        error = error.map(|error| error.detail(detail));
    }
    let object = match bare.relation {
        Some(relation) if is_table => PublicationObject::Table(relation, bare.columns, bare.filter),
        relation => PublicationObject::Schema(relation.and_then(|it| it.name.parts.into_iter().next())),
    };
    (object, error)
}
