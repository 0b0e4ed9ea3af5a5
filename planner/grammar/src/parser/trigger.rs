//! CREATE TRIGGER and CREATE EVENT TRIGGER.

use super::Parser;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::token::TokenKind;
use crate::tree::{
    CreateEventTrigger, CreateTrigger, Deferral, Expr, Ident, Name, Statement, TriggerEvent, TriggerTiming,
};

impl Parser<'_> {
    /// CREATE \[CONSTRAINT\] TRIGGER, behind these words. Errors: 42601, 0A000.
    pub(crate) fn create_trigger(&mut self, start: usize, or_replace: bool, constraint: bool) -> Result<Statement> {
        let name = self.column_name()?;
        let timing = if constraint {
            self.expect_word("after")?;
            TriggerTiming::After
        } else {
            self.trigger_timing()?
        };
        let events = self.trigger_events()?;
        self.expect_word("on")?;
        let table = self.qualified_name()?;
        let mut from = None;
        let mut attributes = Attributes::default();
        let mut transitions = Vec::new();
        let mut names_row = false;
        let for_each_row = if constraint {
            from = if self.word("from") { Some(self.qualified_name()?) } else { None };
            attributes = self.trigger_attributes()?;
            self.expect_words(&["for", "each", "row"])?;
            true
        } else {
            (transitions, names_row) = self.transitions()?;
            self.for_each_row()?
        };
        let condition = self.trigger_condition()?;
        let function = self.trigger_function()?;
        let arguments = self.trigger_arguments()?;
        if constraint {
            attributes.check(or_replace)?;
        }
        if names_row {
            let message = "ROW variable naming in the REFERENCING clause is not supported";
            let error = SyntaxError::new(FEATURE_NOT_SUPPORTED, message);
            return Err(error.hint("Use OLD TABLE or NEW TABLE for naming transition tables."));
        }
        let deferral = attributes.deferral;
        let span = self.span_since(start);
        Ok(Statement::CreateTrigger(Box::new(CreateTrigger {
            or_replace,
            constraint,
            name,
            timing,
            events,
            table,
            from,
            deferral,
            transitions,
            for_each_row,
            condition,
            function,
            arguments,
            span,
        })))
    }

    fn trigger_timing(&mut self) -> Result<TriggerTiming> {
        match self.one_word_of(&["before", "after", "instead"]) {
            Some(0) => Ok(TriggerTiming::Before),
            Some(1) => Ok(TriggerTiming::After),
            Some(_) => self.expect_word("of").map(|()| TriggerTiming::InsteadOf),
            None => Err(self.error()),
        }
    }

    /// Events between OR (TriggerEvents). None twice.
    fn trigger_events(&mut self) -> Result<Vec<TriggerEvent>> {
        let mut events: Vec<TriggerEvent> = Vec::new();
        loop {
            let event = match self.one_word_of(&["insert", "delete", "update", "truncate"]) {
                Some(0) => TriggerEvent::Insert,
                Some(1) => TriggerEvent::Delete,
                Some(2) if self.word("of") => TriggerEvent::Update(self.list(Parser::column_name)?),
                Some(2) => TriggerEvent::Update(Vec::new()),
                Some(_) => TriggerEvent::Truncate,
                None => return Err(self.error()),
            };
            let kind = std::mem::discriminant(&event);
            if events.iter().any(|other| std::mem::discriminant(other) == kind) {
                return Err(self.duplicate_event(&event));
            }
            events.push(event);
            if !self.word("or") {
                return Ok(events);
            }
        }
    }

    /// PostgreSQL's parser points at the last token it saw. Behind UPDATE that is the next one.
    fn duplicate_event(&self, event: &TriggerEvent) -> SyntaxError {
        let at = if matches!(event, TriggerEvent::Update(_)) { self.here() } else { self.before() };
        let message = "duplicate trigger events specified";
        let message = match self.slice(at) {
            "" => format!("{message} at end of input"),
            text => format!("{message} at or near \"{text}\""),
        };
        SyntaxError::syntax(message).at(at)
    }

    /// REFERENCING, if it is next, and whether it names a ROW.
    fn transitions(&mut self) -> Result<(Vec<(bool, Ident)>, bool)> {
        let mut transitions = Vec::new();
        let mut names_row = false;
        if !self.word("referencing") {
            return Ok((transitions, false));
        }
        while let Some(new) = self.one_word_of(&["old", "new"]) {
            let is_row = self.word("row");
            names_row |= is_row;
            if !is_row {
                self.expect_word("table")?;
            }
            self.word("as");
            transitions.push((new == 1, self.column_name()?));
        }
        if transitions.is_empty() { Err(self.error()) } else { Ok((transitions, names_row)) }
    }

    /// FOR \[EACH\] ROW (true) or STATEMENT, if it is next.
    fn for_each_row(&mut self) -> Result<bool> {
        if !self.word("for") {
            return Ok(false);
        }
        self.word("each");
        match self.one_word_of(&["row", "statement"]) {
            Some(word) => Ok(word == 0),
            None => Err(self.error()),
        }
    }

    /// WHEN, if it is next.
    fn trigger_condition(&mut self) -> Result<Option<Expr>> {
        if self.word("when") { self.expr_in_parentheses().map(Some) } else { Ok(None) }
    }

    /// EXECUTE FUNCTION and its name.
    fn trigger_function(&mut self) -> Result<Name> {
        self.expect_word("execute")?;
        if !self.word("function") {
            self.expect_word("procedure")?;
        }
        self.routine_name()
    }

    /// The arguments of a trigger's function (TriggerFuncArgs). A comma before the first is in PostgreSQL's grammar.
    fn trigger_arguments(&mut self) -> Result<Vec<String>> {
        self.expect_sign('(')?;
        let mut arguments = Vec::new();
        if !self.is_sign(',') && !self.is_sign(')') {
            arguments.push(self.trigger_argument()?);
        }
        while self.sign(',') {
            arguments.push(self.trigger_argument()?);
        }
        self.expect_sign(')')?;
        Ok(arguments)
    }

    fn trigger_argument(&mut self) -> Result<String> {
        let argument = match &self.peek().kind {
            TokenKind::Integer(digits) => digits.parse::<i32>().map_or_else(|_| digits.clone(), |it| it.to_string()),
            TokenKind::Decimal(text) | TokenKind::String(text) | TokenKind::Name { value: text, .. } => text.clone(),
            _ => return Err(self.error()),
        };
        self.skip();
        Ok(argument)
    }

    /// The attributes of a constraint trigger (ConstraintAttributeSpec).
    fn trigger_attributes(&mut self) -> Result<Attributes> {
        let mut attributes = Attributes::default();
        loop {
            let start = self.mark();
            let (place, value) = match () {
                () if self.word("deferrable") => (&mut attributes.deferral.deferrable, true),
                () if self.words(&["not", "deferrable"]) => (&mut attributes.deferral.deferrable, false),
                () if self.words(&["initially", "deferred"]) => (&mut attributes.deferral.deferred, true),
                () if self.words(&["initially", "immediate"]) => (&mut attributes.deferral.deferred, false),
                () if self.words(&["not", "valid"]) => (&mut attributes.not_valid, true),
                () if self.words(&["no", "inherit"]) => (&mut attributes.no_inherit, true),
                () if self.one_word_of(&["not", "initially", "no"]).is_some() => return Err(self.error()),
                () => return Ok(attributes),
            };
            let conflicts = place.replace(value).is_some_and(|before| before != value);
            let span = self.span_since(start);
            if attributes.deferral == (Deferral { deferrable: Some(false), deferred: Some(true) }) {
                return Err(SyntaxError::syntax("constraint declared INITIALLY DEFERRED must be DEFERRABLE").at(span));
            }
            if conflicts {
                return Err(SyntaxError::syntax("conflicting constraint properties").at(span));
            }
        }
    }

    /// CREATE EVENT TRIGGER, behind these words. Errors: 42601.
    pub(crate) fn create_event_trigger(&mut self, start: usize) -> Result<Statement> {
        let name = self.column_name()?;
        self.expect_word("on")?;
        let event = self.label()?;
        let mut filters = Vec::new();
        if self.word("when") {
            filters.push(self.event_filter()?);
            while self.word("and") {
                filters.push(self.event_filter()?);
            }
        }
        let function = self.trigger_function()?;
        self.expect_sign('(')?;
        self.expect_sign(')')?;
        let span = self.span_since(start);
        let trigger = CreateEventTrigger { name, event, filters, function, span };
        Ok(Statement::CreateEventTrigger(Box::new(trigger)))
    }

    fn event_filter(&mut self) -> Result<(Ident, Vec<String>)> {
        let variable = self.column_name()?;
        self.expect_word("in")?;
        Ok((variable, self.list_in_parentheses(Parser::expect_string)?))
    }
}

/// The attributes of a constraint trigger, as far as they were written.
#[derive(Default)]
struct Attributes {
    deferral: Deferral,
    not_valid: Option<bool>,
    no_inherit: Option<bool>,
}

impl Attributes {
    /// The errors of a constraint trigger that PostgreSQL reports once it was read.
    fn check(&self, or_replace: bool) -> Result<()> {
        let message = match self {
            _ if or_replace => "CREATE OR REPLACE CONSTRAINT TRIGGER is not supported",
            Attributes { not_valid: Some(_), .. } => "TRIGGER constraints cannot be marked NOT VALID",
            Attributes { no_inherit: Some(_), .. } => "TRIGGER constraints cannot be marked NO INHERIT",
            _ => return Ok(()),
        };
        Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, message))
    }
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use crate::tree::Statement;

    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        super::super::cases::check_statements(include_str!("cases/trigger.sql"));
    }

    #[test]
    fn rules_have_their_commands() {
        let commands =
            |text: &str| match super::super::cases::only(&format!("create rule r as on update to t do {text}")) {
                Statement::CreateRule(rule) => rule.commands.len(),
                other => panic!("{other:?}"),
            };
        assert_eq!(commands("nothing"), 0);
        assert_eq!(commands("(;)"), 0);
        assert_eq!(commands("(select 1; ; notify a)"), 2);
        assert_eq!(commands("(select 1)"), 1);
        assert_eq!(commands("instead (select 1) union select 2"), 1);
    }

    #[test]
    fn arguments_are_strings() {
        let text = "create trigger a before insert on t execute function f(007, 1.50, 'x', Select, 99999999999)";
        let Statement::CreateTrigger(trigger) = super::super::cases::only(text) else { panic!("no trigger") };
        assert_eq!(trigger.arguments, ["7", "1.50", "x", "select", "99999999999"]);
    }
}
