//! CREATE POLICY and ALTER POLICY.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::token::TokenKind;
use crate::tree::{AlterPolicy, CreatePolicy, Expr, Ident, Name, RoleSpec, Statement};

impl Parser<'_> {
    /// CREATE POLICY, behind these words. Errors: 42601, 42939.
    pub(crate) fn create_policy(&mut self, start: usize) -> Result<Statement> {
        let name = self.column_name()?;
        self.expect_word("on")?;
        let table = self.qualified_name()?;
        let permissive = !self.word("as") || self.is_permissive()?;
        let command = if self.word("for") { self.policy_command()? } else { "all".to_owned() };
        let (roles, using, check) = self.policy_clauses()?;
        let span = self.span_since(start);
        let policy = CreatePolicy { name, table, permissive, command, roles, using, check, span };
        Ok(Statement::CreatePolicy(Box::new(policy)))
    }

    /// The word behind AS. It is no keyword.
    fn is_permissive(&mut self) -> Result<bool> {
        if !self.is_plain_word() {
            return Err(self.error());
        }
        let word = self.take_ident()?;
        match word.value.as_str() {
            "permissive" => Ok(true),
            "restrictive" => Ok(false),
            other => Err(SyntaxError::syntax(format!("unrecognized row security option \"{other}\""))
                .at(word.span)
                .hint("Only PERMISSIVE or RESTRICTIVE policies are supported currently.")),
        }
    }

    /// Whether the next token is a name but no keyword (IDENT).
    pub(crate) fn is_plain_word(&self) -> bool {
        matches!(self.peek().kind, TokenKind::Name { keyword: None, .. })
    }

    fn policy_command(&mut self) -> Result<String> {
        const COMMANDS: [&str; 5] = ["all", "select", "insert", "update", "delete"];
        let command = self.one_word_of(&COMMANDS).and_then(|at| COMMANDS.get(at));
        command.map(|word| (*word).to_owned()).ok_or_else(|| self.error())
    }

    /// TO, USING and WITH CHECK, as far as they are there.
    fn policy_clauses(&mut self) -> Result<(Vec<RoleSpec>, Option<Expr>, Option<Expr>)> {
        let roles = if self.word("to") { self.roles()? } else { Vec::new() };
        let using = if self.word("using") { Some(self.expr_in_parentheses()?) } else { None };
        let check = if self.word("with") {
            self.expect_word("check")?;
            Some(self.expr_in_parentheses()?)
        } else {
            None
        };
        Ok((roles, using, check))
    }

    /// An expression in parentheses that belong to the clause.
    pub(crate) fn expr_in_parentheses(&mut self) -> Result<Expr> {
        self.expect_sign('(')?;
        let expr = self.expr()?;
        self.expect_sign(')')?;
        Ok(expr)
    }

    /// ALTER POLICY with clauses, behind the table's name. Errors: 42601, 42939.
    pub(crate) fn alter_policy(&mut self, start: usize, name: Ident, table: Name) -> Result<Statement> {
        let (roles, using, check) = self.policy_clauses()?;
        let span = self.span_since(start);
        Ok(Statement::AlterPolicy(Box::new(AlterPolicy { name, table, roles, using, check, span })))
    }
}
