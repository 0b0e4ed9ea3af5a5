//! CREATE FUNCTION and CREATE PROCEDURE with their clauses, DO, and CALL.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::keyword::Keyword;
use crate::tree::{
    AtomicStatement, CallStatement, ColumnDefinition, CreateFunction, Do, FunctionOption, Parameter, ParameterMode,
    SqlBody, Statement, TypeName, Volatility,
};

impl Parser<'_> {
    /// CREATE FUNCTION or CREATE PROCEDURE, behind these words. Errors: 42601.
    pub(crate) fn create_function(&mut self, start: usize, or_replace: bool, procedure: bool) -> Result<Statement> {
        let name = self.routine_name()?;
        let parameters = self.parameters()?;
        let mut returns = None;
        let mut returns_table = Vec::new();
        // RETURNS NULL ON NULL INPUT is a clause like others.
        if !procedure && self.is_word("returns") && !self.is_word_at(1, "null") {
            self.skip();
            if self.word("table") {
                returns_table = self.list_in_parentheses(Parser::table_function_column)?;
            } else {
                returns = Some(self.function_type()?);
            }
        }
        let options = self.function_options(true)?;
        let body = self.sql_body()?;
        if !returns_table.is_empty() && parameters.iter().any(is_result) {
            return Err(SyntaxError::syntax("OUT and INOUT arguments aren't allowed in TABLE functions"));
        }
        let span = self.span_since(start);
        Ok(Statement::CreateFunction(Box::new(CreateFunction {
            or_replace,
            procedure,
            name,
            parameters,
            returns,
            returns_table,
            options,
            body,
            span,
        })))
    }

    /// A column of RETURNS TABLE (table_func_column).
    fn table_function_column(&mut self) -> Result<ColumnDefinition> {
        let name = self.function_name_word()?;
        Ok(ColumnDefinition { name, data_type: self.function_type()?, collation: None })
    }

    /// The clauses of a function, until another word comes. ALTER has fewer than CREATE. Errors: 42601.
    pub(crate) fn function_options(&mut self, creates: bool) -> Result<Vec<FunctionOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.function_option(creates)? {
            options.push(option);
        }
        Ok(options)
    }

    fn function_option(&mut self, creates: bool) -> Result<Option<FunctionOption>> {
        let start = self.mark();
        let Some(word) = self.keyword().map(Keyword::name) else { return Ok(None) };
        match word {
            "as" | "language" | "transform" | "window" if !creates => return Ok(None),
            "as" | "language" | "transform" | "window" | "called" | "returns" | "strict" | "immutable" | "stable"
            | "volatile" | "external" | "security" | "leakproof" | "not" | "cost" | "rows" | "support" | "parallel" => {
                self.skip();
            }
            "set" | "reset" => {
                let change = self.setting_change()?;
                return Ok(change.map(|change| FunctionOption::Setting(change, self.span_since(start))));
            }
            _ => return Ok(None),
        }
        if word == "external" {
            self.expect_word("security")?;
        }
        Ok(Some(match word {
            "as" => {
                let mut source = vec![self.expect_string()?];
                if self.sign(',') {
                    source.push(self.expect_string()?);
                }
                FunctionOption::As(source, self.span_since(start))
            }
            "language" => FunctionOption::Language(self.word_or_string()?),
            "transform" => {
                let types = self.list(Parser::transform_type)?;
                FunctionOption::Transform(types, self.span_since(start))
            }
            "window" => FunctionOption::Window(self.span_since(start)),
            "called" => {
                self.expect_words(&["on", "null", "input"])?;
                FunctionOption::Strict(false, self.span_since(start))
            }
            "returns" => {
                self.expect_words(&["null", "on", "null", "input"])?;
                FunctionOption::Strict(true, self.span_since(start))
            }
            "strict" => FunctionOption::Strict(true, self.span_since(start)),
            "immutable" => FunctionOption::Volatility(Volatility::Immutable, self.span_since(start)),
            "stable" => FunctionOption::Volatility(Volatility::Stable, self.span_since(start)),
            "volatile" => FunctionOption::Volatility(Volatility::Volatile, self.span_since(start)),
            "external" | "security" => {
                let definer = self.word("definer");
                if !definer {
                    self.expect_word("invoker")?;
                }
                FunctionOption::SecurityDefiner(definer, self.span_since(start))
            }
            "leakproof" => FunctionOption::Leakproof(true, self.span_since(start)),
            "not" => {
                self.expect_word("leakproof")?;
                FunctionOption::Leakproof(false, self.span_since(start))
            }
            "cost" => FunctionOption::Cost(self.signed_number()?.0, self.span_since(start)),
            "rows" => FunctionOption::Rows(self.signed_number()?.0, self.span_since(start)),
            "support" => FunctionOption::Support(self.name()?, self.span_since(start)),
            _ => FunctionOption::Parallel(self.column_name()?),
        }))
    }

    fn transform_type(&mut self) -> Result<TypeName> {
        self.expect_words(&["for", "type"])?;
        self.type_name()
    }

    /// RETURN or BEGIN ATOMIC, if it is next (opt_routine_body).
    fn sql_body(&mut self) -> Result<Option<SqlBody>> {
        if self.word("return") {
            return Ok(Some(SqlBody::Return(self.expr()?)));
        }
        if !self.word("begin") {
            return Ok(None);
        }
        self.expect_word("atomic")?;
        let mut statements = Vec::new();
        loop {
            while self.sign(';') {}
            if self.word("end") {
                return Ok(Some(SqlBody::Atomic(statements)));
            }
            statements.push(self.deeper(Parser::atomic_statement)?);
            if !self.is_sign(';') {
                return Err(self.error());
            }
        }
    }

    fn atomic_statement(&mut self) -> Result<AtomicStatement> {
        if self.word("return") {
            return Ok(AtomicStatement::Return(self.expr()?));
        }
        // BEGIN and END are statements only outside.
        if self.is_word("begin") {
            return Err(self.error());
        }
        Ok(AtomicStatement::Statement(Box::new(self.statement()?)))
    }

    /// DO, behind this word. Errors: 42601.
    pub(crate) fn do_block(&mut self, start: usize) -> Result<Statement> {
        let mut source = None;
        let mut language = None;
        let mut first_redundant = None;
        loop {
            let at = self.here();
            let redundant = if let Some(text) = self.string() {
                source.replace(text).is_some()
            } else if self.word("language") {
                let word = self.word_or_string()?;
                language.replace(word).is_some()
            } else {
                break;
            };
            if redundant {
                first_redundant.get_or_insert(at);
            }
        }
        // PostgreSQL checks the options once the statement was read.
        if !(self.at_end() || self.is_sign(';')) || source.is_none() && language.is_none() {
            return Err(self.error());
        }
        if let Some(at) = first_redundant {
            return Err(SyntaxError::syntax("conflicting or redundant options").at(at));
        }
        let source = source.ok_or_else(|| SyntaxError::syntax("no inline code specified"))?;
        Ok(Statement::Do(Box::new(Do { source, language, span: self.span_since(start) })))
    }

    /// CALL, behind this word. Errors: 42601.
    pub(crate) fn call_statement(&mut self, _start: usize) -> Result<Statement> {
        let mark = self.mark();
        // The calls with a grammar of their own are none of procedures.
        self.routine_name()?;
        if !self.is_sign('(') {
            return Err(self.error());
        }
        self.back_to(mark);
        Ok(Statement::Call(Box::new(CallStatement { call: self.call_without_window()? })))
    }
}

fn is_result(parameter: &Parameter) -> bool {
    matches!(parameter.mode, Some(ParameterMode::Out | ParameterMode::InOut))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::super::cases;
    use crate::tree::{AtomicStatement, CreateFunction, FunctionOption, ParameterMode, SqlBody, Statement, TypeBase};

    #[test]
    fn accepts_and_refuses_what_postgresql_does() {
        cases::check_statements(include_str!("cases/routine.sql"));
    }

    fn function(text: &str) -> CreateFunction {
        match cases::only(text) {
            Statement::CreateFunction(function) => *function,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn parameters_have_modes_names_and_types() {
        let text = "create function f(a, b c, in d, e in out f, variadic g h[], double precision, inout i j = 1)";
        let found: Vec<_> = function(text)
            .parameters
            .into_iter()
            .map(|it| {
                let base = match it.data_type.base {
                    TypeBase::Named(name) => name.parts.into_iter().map(|part| part.value).collect(),
                    other => format!("{other:?}"),
                };
                let name = it.name.map(|name| name.value).unwrap_or_default();
                (
                    it.mode,
                    name,
                    base,
                    it.default.is_some(),
                    text[it.span.start as usize..it.span.end as usize].to_owned(),
                )
            })
            .collect();
        let expected = [
            (None, "", "a", false, "a"),
            (None, "b", "c", false, "b c"),
            (Some(ParameterMode::In), "", "d", false, "in d"),
            (Some(ParameterMode::InOut), "e", "f", false, "e in out f"),
            (Some(ParameterMode::Variadic), "g", "h", false, "variadic g h[]"),
            (None, "", "DoublePrecision", false, "double precision"),
            (Some(ParameterMode::InOut), "i", "j", true, "inout i j = 1"),
        ];
        let expected = expected.map(|(a, b, c, d, e)| (a, b.to_owned(), c.to_owned(), d, e.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn types_of_columns_and_null_on_null_input() {
        let found = function("create function f() returns setof a.b%type returns null on null input");
        let returns = found.returns.unwrap();
        assert!(matches!(returns.base, TypeBase::OfColumn(name) if name.parts.len() == 2));
        assert!(returns.set_of);
        assert!(matches!(found.options.as_slice(), [FunctionOption::Strict(true, _)]));
    }

    #[test]
    fn bodies_are_statements() {
        let text = "create function f() begin atomic select case when a then 1 end; ; return 2; end";
        let Some(SqlBody::Atomic(statements)) = function(text).body else { panic!("no body") };
        assert!(matches!(
            statements.as_slice(),
            [AtomicStatement::Statement(query), AtomicStatement::Return(_)] if matches!(**query, Statement::Query(_))
        ));
    }

    #[test]
    fn bodies_within_bodies_are_deep() {
        let text = "create function f() begin atomic ".repeat(4_000);
        let error = crate::parse(&text).unwrap_err();
        assert_eq!(error.fields().message, "syntax error at end of input");
        let whole = format!("{text}{}", "end; ".repeat(4_000));
        assert_eq!(crate::parse(&whole).unwrap().len(), 1);
        let error = crate::parse(&text.repeat(2)).unwrap_err();
        assert_eq!(error.fields().state, crate::error::STATEMENT_TOO_COMPLEX);
    }
}
