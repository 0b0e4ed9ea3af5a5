//! CREATE, told apart by the words behind it.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::keyword::Keyword;
use crate::tree::{Persistence, RoleWord, Statement};

impl Parser<'_> {
    /// CREATE, behind that word. Errors: 42601, 0A000.
    pub(crate) fn create(&mut self, start: usize) -> Result<Statement> {
        if self.word("or") {
            self.expect_word("replace")?;
            return self.create_or_replace(start);
        }
        if let Some(persistence) = self.optional_persistence()? {
            return self.create_persistent(start, persistence);
        }
        let Some(word) = self.keyword().map(Keyword::name) else { return Err(self.error()) };
        self.skip();
        match word {
            "table" => self.create_table(start, Persistence::Permanent),
            "sequence" => self.create_sequence(start, Persistence::Permanent),
            "index" => self.create_index(start, false),
            "schema" => self.create_schema(start),
            "type" => self.create_type(start),
            "domain" => self.create_domain(start),
            "database" => self.create_database(start),
            "role" => self.create_role(start, RoleWord::Role),
            "user" if self.words(&["mapping", "for"]) || self.words(&["mapping", "if"]) => refuse("USER MAPPING"),
            "user" => self.create_role(start, RoleWord::User),
            "group" => self.create_role(start, RoleWord::Group),
            "cast" => self.create_cast(start),
            "statistics" => self.create_statistics(start),
            "extension" => self.create_extension(start),
            "publication" => self.create_publication(start),
            "subscription" => self.create_subscription(start),
            "collation" => self.create_collation(start),
            "operator" => self.create_operator(start),
            "policy" => self.create_policy(start),
            "conversion" | "server" | "tablespace" => refuse(&word.to_uppercase()),
            "assertion" => {
                Err(SyntaxError::new(crate::error::FEATURE_NOT_SUPPORTED, "CREATE ASSERTION is not yet implemented"))
            }
            "unique" => {
                self.expect_word("index")?;
                self.create_index(start, true)
            }
            "materialized" => {
                self.expect_word("view")?;
                self.create_materialized_view(start, Persistence::Permanent)
            }
            "event" => {
                self.expect_word("trigger")?;
                self.create_event_trigger(start)
            }
            "text" => {
                self.expect_word("search")?;
                self.create_text_search(start)
            }
            "default" => {
                self.expect_word("conversion")?;
                refuse("CONVERSION")
            }
            "access" => {
                self.expect_word("method")?;
                refuse("ACCESS METHOD")
            }
            "foreign" if self.word("table") => refuse("FOREIGN TABLE"),
            "foreign" => {
                self.expect_words(&["data", "wrapper"])?;
                refuse("FOREIGN DATA WRAPPER")
            }
            _ => {
                self.back_to(start + 1);
                self.create_replaceable(start, false)
            }
        }
    }

    /// TEMPORARY or UNLOGGED before a kind of relation (OptTemp). `None` without one of them. Errors: 42601.
    pub(crate) fn optional_persistence(&mut self) -> Result<Option<Persistence>> {
        if self.word("unlogged") {
            return Ok(Some(Persistence::Unlogged));
        }
        let scoped = self.one_word_of(&["local", "global"]).is_some();
        match self.one_word_of(&["temporary", "temp"]) {
            Some(_) => Ok(Some(Persistence::Temporary)),
            None if scoped => Err(self.error()),
            None => Ok(None),
        }
    }

    fn create_persistent(&mut self, start: usize, persistence: Persistence) -> Result<Statement> {
        match () {
            () if self.word("table") => self.create_table(start, persistence),
            () if self.word("sequence") => self.create_sequence(start, persistence),
            () if persistence == Persistence::Unlogged && self.word("materialized") => {
                self.expect_word("view")?;
                self.create_materialized_view(start, persistence)
            }
            () => self.create_persistent_view(start, persistence, false),
        }
    }

    /// \[RECURSIVE\] VIEW of a persistence.
    fn create_persistent_view(&mut self, start: usize, persistence: Persistence, replace: bool) -> Result<Statement> {
        let recursive = self.word("recursive");
        self.expect_word("view")?;
        let temporary = persistence == Persistence::Temporary;
        let view = self.create_view(start, replace, temporary, recursive)?;
        if persistence == Persistence::Unlogged {
            return Err(SyntaxError::syntax("views cannot be unlogged because they do not have storage"));
        }
        Ok(view)
    }

    fn create_or_replace(&mut self, start: usize) -> Result<Statement> {
        match self.optional_persistence()? {
            Some(persistence) => self.create_persistent_view(start, persistence, true),
            None if self.word("transform") => refuse("TRANSFORM"),
            None => self.create_replaceable(start, true),
        }
    }

    /// The kinds of objects that OR REPLACE may stand before.
    fn create_replaceable(&mut self, start: usize, replace: bool) -> Result<Statement> {
        match () {
            () if self.word("view") => self.create_view(start, replace, false, false),
            () if self.word("recursive") => {
                self.expect_word("view")?;
                self.create_view(start, replace, false, true)
            }
            () if self.word("function") => self.create_function(start, replace, false),
            () if self.word("procedure") => self.create_function(start, replace, true),
            () if self.word("aggregate") => self.create_aggregate(start, replace),
            () if self.word("trigger") => self.create_trigger(start, replace, false),
            () if self.word("constraint") => {
                self.expect_word("trigger")?;
                self.create_trigger(start, replace, true)
            }
            () if self.word("rule") => self.create_rule(start, replace),
            () if self.word("transform") => refuse("TRANSFORM"),
            () => {
                self.word("trusted");
                self.word("procedural");
                self.expect_word("language")?;
                refuse("LANGUAGE")
            }
        }
    }
}

fn refuse(what: &str) -> Result<Statement> {
    Err(SyntaxError::unsupported(format!("CREATE {what}")))
}
