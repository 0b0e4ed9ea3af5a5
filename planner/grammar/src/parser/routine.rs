//! [`Parameter`]s and [`RoutineReference`]s: functions by name and arguments.

use super::Parser;
use crate::error::{FEATURE_NOT_SUPPORTED, Result, SyntaxError};
use crate::keyword::{Category, Keyword};
use crate::tree::{Ident, Name, Parameter, ParameterMode, RoutineReference};

/// The keywords that begin a type but may not name one.
const TYPE_WORDS: [&str; 19] = [
    "bigint",
    "bit",
    "boolean",
    "char",
    "character",
    "dec",
    "decimal",
    "float",
    "int",
    "integer",
    "interval",
    "national",
    "nchar",
    "numeric",
    "real",
    "smallint",
    "time",
    "timestamp",
    "varchar",
];

impl Parser<'_> {
    /// The parameters of a function in parentheses (func_args_with_defaults). Errors: 42601.
    pub fn parameters(&mut self) -> Result<Vec<Parameter>> {
        self.parameters_with(true)
    }

    fn parameters_with(&mut self, defaults: bool) -> Result<Vec<Parameter>> {
        self.expect_sign('(')?;
        if self.sign(')') {
            return Ok(Vec::new());
        }
        let parameters = self.list(|parser| parser.parameter(defaults))?;
        self.expect_sign(')')?;
        Ok(parameters)
    }

    /// A parameter (func_arg, func_arg_with_default). Its mode stands before or behind its name.
    fn parameter(&mut self, defaults: bool) -> Result<Parameter> {
        let start = self.mark();
        let mut mode = self.parameter_mode();
        let mut name = None;
        if self.is_function_name_at(0) && (self.is_type_at(1) || mode.is_none() && self.is_mode_at(1)) {
            name = Some(self.take_ident()?);
            mode = mode.or_else(|| self.parameter_mode());
        }
        let data_type = self.function_type()?;
        let has_default = defaults && (self.word("default") || self.operator("="));
        let default = if has_default { Some(self.expr()?) } else { None };
        Ok(Parameter { mode, name, data_type, default, span: self.span_since(start) })
    }

    fn is_mode_at(&self, offset: usize) -> bool {
        ["in", "out", "inout", "variadic"].iter().any(|word| self.is_word_at(offset, word))
    }

    fn parameter_mode(&mut self) -> Option<ParameterMode> {
        Some(match self.one_word_of(&["in", "out", "inout", "variadic"])? {
            0 if self.word("out") => ParameterMode::InOut,
            0 => ParameterMode::In,
            1 => ParameterMode::Out,
            2 => ParameterMode::InOut,
            _ => ParameterMode::Variadic,
        })
    }

    /// Whether a type may begin at a later token. A word before it is the name of a parameter or column.
    fn is_type_at(&self, offset: usize) -> bool {
        self.is_function_name_at(offset)
            || self
                .keyword_at(offset)
                .is_some_and(|keyword| keyword.name() == "setof" || TYPE_WORDS.contains(&keyword.name()))
    }

    /// The name of a function (func_name). Errors: 42601.
    pub(crate) fn routine_name(&mut self) -> Result<Name> {
        let qualified = self.is_qualified();
        if self.is_function_name_at(0) && !(qualified && self.is_column_name_at(0)) {
            let word = self.take_ident()?;
            return Ok(Name { span: word.span, parts: vec![word] });
        }
        if self.is_column_name_at(0) && !qualified {
            self.skip();
            return Err(self.error());
        }
        self.name_without_elements()
    }

    /// Whether the next token is the first part of a name of several.
    fn is_qualified(&self) -> bool {
        self.is_sign_at(1, '.') || self.is_sign_at(1, '[')
    }

    /// A name whose grammar has elements and `.*` in it, which no name has. Errors: 42601 behind the name.
    pub(crate) fn name_without_elements(&mut self) -> Result<Name> {
        let start = self.mark();
        let mut parts = vec![self.column_name()?];
        let mut more = false;
        while self.sign('.') {
            if self.operator("*") { more = true } else { parts.push(self.label()?) }
        }
        // PostgreSQL reads stars and brackets before it finds that no name has any.
        if more || self.is_sign('[') {
            self.indirection()?;
            return Err(self.error());
        }
        Ok(Name { parts, span: self.span_since(start) })
    }

    /// A function with optional argument types (function_with_argtypes). Errors: 42601.
    pub fn routine_reference(&mut self) -> Result<RoutineReference> {
        let start = self.mark();
        // A word such as `int` names a function without a list only.
        let lonely = self.keyword().is_some_and(is_column_word) && !self.is_qualified();
        let name = if lonely { self.single_name()? } else { self.routine_name()? };
        let parameters = if lonely || !self.is_sign('(') { None } else { Some(self.parameters_with(false)?) };
        Ok(RoutineReference { name, parameters, ordered: Vec::new(), span: self.span_since(start) })
    }

    fn single_name(&mut self) -> Result<Name> {
        let word = self.take_ident()?;
        if self.is_sign('(') {
            return Err(self.error());
        }
        Ok(Name { span: word.span, parts: vec![word] })
    }

    /// An aggregate with its argument types (aggregate_with_argtypes). Errors: 42601, 0A000.
    pub(crate) fn aggregate_reference(&mut self) -> Result<RoutineReference> {
        let start = self.mark();
        let name = self.routine_name()?;
        self.aggregate_parameters(name, start)
    }

    /// The arguments of an aggregate whose name was read (aggr_args). Errors: 42601, 0A000.
    pub(crate) fn aggregate_parameters(&mut self, name: Name, start: usize) -> Result<RoutineReference> {
        self.expect_sign('(')?;
        let mut parameters = Vec::new();
        let mut ordered = Vec::new();
        if !self.operator("*") {
            if !self.is_word("order") {
                parameters = self.list(|parser| parser.parameter(false))?;
            }
            if self.word("order") {
                self.expect_word("by")?;
                ordered = self.list(|parser| parser.parameter(false))?;
            }
        }
        self.expect_sign(')')?;
        check_ordered(&parameters, &ordered)?;
        Ok(RoutineReference { name, parameters: Some(parameters), ordered, span: self.span_since(start) })
    }

    /// A word that is not reserved, or a string (NonReservedWord_or_Sconst). Errors: 42601.
    pub(crate) fn word_or_string(&mut self) -> Result<Ident> {
        let span = self.here();
        match self.string() {
            Some(value) => Ok(Ident { value, span }),
            None => self.non_reserved_word(),
        }
    }
}

fn is_column_word(keyword: Keyword) -> bool {
    keyword.category() == Category::ColumnName
}

/// VARIADIC before ORDER BY needs the same behind it.
fn check_ordered(direct: &[Parameter], ordered: &[Parameter]) -> Result<()> {
    let (Some(last), Some(first)) = (direct.last(), ordered.first()) else { return Ok(()) };
    let variadic = Some(ParameterMode::Variadic);
    if last.mode != variadic || ordered.len() == 1 && first.mode == variadic && first.data_type == last.data_type {
        return Ok(());
    }
    let message = "an ordered-set aggregate with a VARIADIC direct argument must have one VARIADIC aggregated \
                   argument of the same data type";
    Err(SyntaxError::new(FEATURE_NOT_SUPPORTED, message).at(first.data_type.span))
}
