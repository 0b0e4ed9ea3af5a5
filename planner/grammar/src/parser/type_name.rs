//! Types. Each of the SQL standard's has a grammar of its own, all others are names with modifiers.

use super::Parser;
use crate::error::{INVALID_PARAMETER_VALUE, Result, SyntaxError};
use crate::span::Span;
use crate::token::TokenKind;
use crate::tree::{Expr, ExprKind, IntervalFields, Literal, Name, TypeBase, TypeName};

impl Parser<'_> {
    /// A type (Typename). Errors: 42601, and 22023 for the precision of FLOAT.
    pub fn type_name(&mut self) -> Result<TypeName> {
        self.type_of(false)
    }

    /// A type of a function's argument or result, which may be `table.column%TYPE` (func_type). Errors: as above.
    pub fn function_type(&mut self) -> Result<TypeName> {
        self.type_of(true)
    }

    fn type_of(&mut self, of_columns: bool) -> Result<TypeName> {
        let start = self.mark();
        let set_of = self.word("setof");
        let (base, modifiers) = match self.standard_type()? {
            Some(found) => found,
            None => {
                let at = self.mark();
                let first = self.function_name_word()?;
                let name = self.name_behind(first, at)?;
                if of_columns && name.parts.len() > 1 && self.operator("%") {
                    self.expect_word("type")?;
                    let (base, span) = (TypeBase::OfColumn(name), self.span_since(start));
                    return Ok(TypeName { base, modifiers: Vec::new(), array_bounds: Vec::new(), set_of, span });
                }
                (TypeBase::Named(name), self.optional_modifiers()?)
            }
        };
        let array_bounds = self.array_bounds()?;
        Ok(TypeName { base, modifiers, array_bounds, set_of, span: self.span_since(start) })
    }

    /// Whether the next tokens begin a type of the standard that a string may follow (ConstTypename, ConstInterval).
    pub(super) fn is_constant_type(&self) -> bool {
        let TokenKind::Name { value, quoted: false, .. } = &self.peek().kind else { return false };
        let next = self.peek_at(1);
        let string = matches!(next.kind, TokenKind::String(_));
        let bracket = next.kind == TokenKind::Sign('(');
        match value.as_str() {
            "int" | "integer" | "smallint" | "bigint" | "real" | "boolean" => string,
            "float" | "dec" | "decimal" | "numeric" | "varchar" | "interval" => string || bracket,
            "double" => self.is_word_at(1, "precision"),
            "bit" | "char" | "character" | "nchar" => string || bracket || self.is_word_at(1, "varying"),
            "national" => self.is_word_at(1, "char") || self.is_word_at(1, "character"),
            "time" | "timestamp" => string || bracket || self.is_word_at(1, "without") || self.is_with_time_at(1),
            _ => false,
        }
    }

    /// A type of the standard before a string, and the string (AexprConst). Its span ends where the constant does.
    pub(super) fn constant_of_type(&mut self) -> Result<Expr> {
        let start = self.mark();
        let place = self.here();
        let interval = self.is_word("interval");
        let (mut base, mut modifiers) = match () {
            () if interval => {
                self.skip();
                (TypeBase::Interval(None), self.optional_precision()?)
            }
            () => match self.standard_type()? {
                Some(found) => found,
                None => return Err(self.error()),
            },
        };
        let span = place.to(self.before());
        let operand = self.string_constant()?;
        if interval && modifiers.is_empty() {
            let (fields, precision) = self.interval_fields()?;
            (base, modifiers) = (TypeBase::Interval(fields), precision);
        }
        let data_type = TypeName { base, modifiers, array_bounds: Vec::new(), set_of: false, span };
        Ok(self.constant_cast(operand, data_type, start))
    }

    /// A type of the standard, if one is next (SimpleTypename without GenericType).
    fn standard_type(&mut self) -> Result<Option<(TypeBase, Vec<Expr>)>> {
        let TokenKind::Name { value, quoted: false, .. } = &self.peek().kind else { return Ok(None) };
        let base = match value.as_str() {
            "int" | "integer" => TypeBase::Integer,
            "smallint" => TypeBase::SmallInt,
            "bigint" => TypeBase::BigInt,
            "real" => TypeBase::Real,
            "boolean" => TypeBase::Boolean,
            "float" => TypeBase::DoublePrecision,
            "double" if self.is_word_at(1, "precision") => TypeBase::DoublePrecision,
            "dec" | "decimal" | "numeric" => TypeBase::Numeric,
            "bit" => TypeBase::Bit,
            "char" | "character" | "nchar" | "national" => TypeBase::Char,
            "varchar" => TypeBase::VarChar,
            "time" => TypeBase::Time(false),
            "timestamp" => TypeBase::Timestamp(false),
            "interval" => TypeBase::Interval(None),
            _ => return Ok(None),
        };
        let (float, national) = (value == "float", value == "national");
        self.skip();
        Ok(Some(match base {
            TypeBase::DoublePrecision if float => (self.float_of_bits()?, Vec::new()),
            TypeBase::DoublePrecision => {
                self.skip();
                (base, Vec::new())
            }
            TypeBase::Numeric => (base, self.optional_modifiers()?),
            TypeBase::Bit => {
                let base = if self.word("varying") { TypeBase::BitVarying } else { base };
                (base, self.optional_modifiers()?)
            }
            TypeBase::Char => {
                if national && !self.word("char") {
                    self.expect_word("character")?;
                }
                let base = if self.word("varying") { TypeBase::VarChar } else { base };
                (base, self.optional_precision()?)
            }
            TypeBase::VarChar => (base, self.optional_precision()?),
            TypeBase::Time(_) => {
                let precision = self.optional_precision()?;
                (TypeBase::Time(self.time_zone()?), precision)
            }
            TypeBase::Timestamp(_) => {
                let precision = self.optional_precision()?;
                (TypeBase::Timestamp(self.time_zone()?), precision)
            }
            TypeBase::Interval(_) if self.is_sign('(') => (base, self.optional_precision()?),
            TypeBase::Interval(_) => {
                let (fields, precision) = self.interval_fields()?;
                (TypeBase::Interval(fields), precision)
            }
            _ => (base, Vec::new()),
        }))
    }

    fn float_of_bits(&mut self) -> Result<TypeBase> {
        if !self.sign('(') {
            return Ok(TypeBase::DoublePrecision);
        }
        let place = self.here();
        let bits = self.small_integer()?;
        self.expect_sign(')')?;
        let wrong = |message| Err(SyntaxError::new(INVALID_PARAMETER_VALUE, message).at(place));
        match bits {
            ..1 => wrong("precision for type float must be at least 1 bit"),
            1..=24 => Ok(TypeBase::Real),
            25..=53 => Ok(TypeBase::DoublePrecision),
            54.. => wrong("precision for type float must be less than 54 bits"),
        }
    }

    /// Any expressions in parentheses (opt_type_modifiers).
    fn optional_modifiers(&mut self) -> Result<Vec<Expr>> {
        if self.is_sign('(') { self.list_in_parentheses(Parser::expr) } else { Ok(Vec::new()) }
    }

    /// A whole number in parentheses.
    fn optional_precision(&mut self) -> Result<Vec<Expr>> {
        if !self.sign('(') {
            return Ok(Vec::new());
        }
        let span = self.here();
        let value = self.small_integer()?;
        self.expect_sign(')')?;
        Ok(vec![Expr { kind: ExprKind::Literal(Literal::Integer(value.to_string())), span }])
    }

    /// A whole number within 32 bits, without a sign (Iconst).
    pub(super) fn small_integer(&mut self) -> Result<i32> {
        let TokenKind::Integer(digits) = &self.peek().kind else { return Err(self.error()) };
        let Ok(value) = digits.parse() else { return Err(self.error()) };
        self.skip();
        Ok(value)
    }

    /// Whether a later token is the WITH of WITH TIME ZONE. PostgreSQL's lexer decides by the next word.
    fn is_with_time_at(&self, offset: usize) -> bool {
        self.is_word_at(offset, "with")
            && (self.is_word_at(offset + 1, "time") || self.is_word_at(offset + 1, "ordinality"))
    }

    /// Whether WITH TIME ZONE comes (opt_timezone).
    fn time_zone(&mut self) -> Result<bool> {
        let with = self.is_with_time_at(0);
        if with || self.is_word("without") {
            self.skip();
            self.expect_words(&["time", "zone"])?;
        }
        Ok(with)
    }

    /// The fields of an INTERVAL, and the precision of its seconds (opt_interval).
    fn interval_fields(&mut self) -> Result<(Option<IntervalFields>, Vec<Expr>)> {
        use IntervalFields::*;
        const FIELDS: [&str; 6] = ["year", "month", "day", "hour", "minute", "second"];
        let Some(first) = self.one_word_of(&FIELDS) else { return Ok((None, Vec::new())) };
        let more: &[(&str, IntervalFields)] = match first {
            0 => &[("month", YearToMonth)],
            2 => &[("hour", DayToHour), ("minute", DayToMinute), ("second", DayToSecond)],
            3 => &[("minute", HourToMinute), ("second", HourToSecond)],
            4 => &[("second", MinuteToSecond)],
            _ => &[],
        };
        let alone = [Year, Month, Day, Hour, Minute, Second].get(first).copied();
        let fields = if !more.is_empty() && self.word("to") {
            match more.iter().find(|(word, _)| self.is_word(word)) {
                Some((_, fields)) => {
                    self.skip();
                    Some(*fields)
                }
                None => return Err(self.error()),
            }
        } else {
            alone
        };
        let seconds = matches!(fields, Some(Second | DayToSecond | HourToSecond | MinuteToSecond));
        let precision = if seconds { self.optional_precision()? } else { Vec::new() };
        Ok((fields, precision))
    }

    /// The bounds of an array (opt_array_bounds, ARRAY).
    fn array_bounds(&mut self) -> Result<Vec<Option<i32>>> {
        let mut bounds = Vec::new();
        let word = self.word("array");
        if word && !self.is_sign('[') {
            return Ok(vec![None]);
        }
        while self.sign('[') {
            let bound = if !word && self.is_sign(']') { None } else { Some(self.small_integer()?) };
            self.expect_sign(']')?;
            bounds.push(bound);
            if word {
                break;
            }
        }
        Ok(bounds)
    }

    /// A type that is a name with modifiers before a string.
    pub(super) fn named_type(name: Name, modifiers: Vec<Expr>, span: Span) -> TypeName {
        TypeName { base: TypeBase::Named(name), modifiers, array_bounds: Vec::new(), set_of: false, span }
    }
}
