//! CREATE RULE.

use super::Parser;
use crate::error::Result;
use crate::tree::{CreateRule, Statement};

impl Parser<'_> {
    /// CREATE RULE, behind these words. Errors: 42601.
    pub(crate) fn create_rule(&mut self, start: usize, or_replace: bool) -> Result<Statement> {
        const EVENTS: [&str; 4] = ["select", "update", "delete", "insert"];
        let name = self.column_name()?;
        self.expect_words(&["as", "on"])?;
        let event = self.one_word_of(&EVENTS).and_then(|at| EVENTS.get(at));
        let Some(event) = event.map(|word| (*word).to_owned()) else { return Err(self.error()) };
        self.expect_word("to")?;
        let table = self.qualified_name()?;
        let condition = if self.word("where") { Some(self.expr()?) } else { None };
        self.expect_word("do")?;
        let instead = self.one_word_of(&["instead", "also"]) == Some(0);
        let commands = self.rule_commands()?;
        let span = self.span_since(start);
        let rule = CreateRule { or_replace, name, event, table, condition, instead, commands, span };
        Ok(Statement::CreateRule(Box::new(rule)))
    }

    /// NOTHING, a command, or commands in parentheses (RuleActionList).
    fn rule_commands(&mut self) -> Result<Vec<Statement>> {
        if self.word("nothing") {
            return Ok(Vec::new());
        }
        let start = self.mark();
        if !self.sign('(') {
            return Ok(vec![self.rule_command()?]);
        }
        let mut commands = Vec::new();
        let mut lists = false;
        loop {
            if !self.is_sign(';') && !self.is_sign(')') {
                commands.push(self.rule_command()?);
            }
            if !self.sign(';') {
                break;
            }
            lists = true;
        }
        self.expect_sign(')')?;
        // The parentheses may belong to a query that goes on, such as `(SELECT 1) UNION SELECT 2`.
        let goes_on = !self.at_end() && !self.is_sign(';');
        if goes_on && !lists && matches!(commands.as_slice(), [Statement::Query(_)]) {
            self.back_to(start);
            return Ok(vec![self.rule_command()?]);
        }
        Ok(commands)
    }

    /// A command of a rule (RuleActionStmt).
    fn rule_command(&mut self) -> Result<Statement> {
        if self.is_word("notify") {
            return self.statement();
        }
        if self.is_word("merge") {
            return Err(self.error());
        }
        let start = self.mark();
        let command = self.query_or_write()?;
        if matches!(command, Statement::Merge(_)) {
            self.back_to(start);
            self.optional_with()?;
            return Err(self.error());
        }
        Ok(command)
    }
}
