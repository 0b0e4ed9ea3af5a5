//! Functions with special syntax: EXTRACT, POSITION, SUBSTRING, TRIM, OVERLAY, COALESCE and similar, arrays.

use super::binder::Binder;
use super::computed_once::is_plain;
use super::error_position::place_of;
use super::expression::Env;
use super::literal::{literal, null};
use super::record::relation_in_brackets;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use functions::array_element::{Subscripts, subscripted};
use functions::{CastContext, TypedExpr, cast_exists, guarded_case};
use sql_error::{Result, SqlError, state};
use syntax::ast::{self, ExprKind, SpecialCall, Step, TrimSide};
use syntax::{Span, deeper};
use types::array::{ArrayValue, MOST_DIMENSIONS, too_many_dimensions};
use types::{BaseType, Datum, SqlType};

impl Binder<'_> {
    /// Binds a call whose arguments stand between words, or that has no parentheses.
    pub fn special(&self, call: &SpecialCall, env: Env<'_>) -> Result<TypedExpr> {
        let bind = |expr: &ast::Expr| self.expr(expr, env);
        match call {
            SpecialCall::Coalesce(args) => self.conditional_call("coalesce", &args.iter().collect::<Vec<_>>(), env),
            SpecialCall::Greatest(args) => self.conditional_call("greatest", &args.iter().collect::<Vec<_>>(), env),
            SpecialCall::Least(args) => self.conditional_call("least", &args.iter().collect::<Vec<_>>(), env),
            SpecialCall::NullIf(left, right) => self.conditional_call("nullif", &[left, right], env),
            SpecialCall::Grouping(args) => self.grouping(args, env),
            SpecialCall::Extract(field, source) => {
                let source = bind(source)?;
                if source.is_unknown() && source.constant().is_some() {
                    let message = "function pg_catalog.extract(unknown, unknown) is not unique";
                    return Err(SqlError::new(state::AMBIGUOUS_FUNCTION, message).hint(
                        "Could not choose a best candidate function. You might need to add explicit type casts.",
                    ));
                }
                self.resolver.syntax_function("extract", vec![TypedExpr::unknown(field.as_str()), source])
            }
            SpecialCall::Position(part, whole) => {
                let whole = bind(whole)?;
                self.resolver.syntax_function("position", vec![whole, bind(part)?])
            }
            SpecialCall::Overlay(text, replacement, from, count) => {
                let mut args = vec![bind(text)?, bind(replacement)?, bind(from)?];
                if let Some(count) = count {
                    args.push(bind(count)?);
                }
                self.resolver.syntax_function("overlay", args)
            }
            SpecialCall::Substring(text, from, count) => {
                let mut args = vec![bind(text)?];
                match from {
                    Some(from) => args.push(bind(from)?),
                    None => args.push(self.number("1")?),
                }
                if let Some(count) = count {
                    args.push(bind(count)?);
                }
                self.resolver.syntax_function("substring", args)
            }
            SpecialCall::SubstringSimilar(text, pattern, escape) => {
                let args = vec![bind(text)?, bind(pattern)?, bind(escape)?];
                self.resolver.syntax_function("substring", args)
            }
            SpecialCall::Trim(side, args) => {
                let name = match side {
                    TrimSide::Both => "btrim",
                    TrimSide::Leading => "ltrim",
                    TrimSide::Trailing => "rtrim",
                };
                self.resolver.syntax_function(name, args.iter().map(bind).collect::<Result<_>>()?)
            }
            SpecialCall::Normalize(text, form) => {
                let mut args = vec![bind(text)?];
                args.extend(form.as_ref().map(|form| self.word(form)));
                self.resolver.syntax_function("normalize", args)
            }
            SpecialCall::Treat(..) => Err(SqlError::unsupported("TREAT")),
            SpecialCall::CollationFor(value) => self.collation_for(value, env),
            SpecialCall::Current(word, precision) => self.niladic(*word, *precision),
        }
    }

    /// COLLATION FOR, and the function that it calls.
    pub(super) fn collation_for(&self, value: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        if let ExprKind::Collate { operand, .. } = &value.kind {
            // "C" is the only collation that is accepted.
            self.expr(operand, env)?;
            return Ok(TypedExpr::literal(Datum::from("\"C\""), SqlType::TEXT));
        }
        self.resolver.syntax_function("pg_collation_for", vec![self.expr(value, env)?])
    }

    /// Binds `(a, b) OVERLAPS (c, d)`.
    pub fn overlaps(&self, left: &[ast::Expr], right: &[ast::Expr], env: Env<'_>) -> Result<TypedExpr> {
        let args: Vec<TypedExpr> =
            left.iter().chain(right).map(|moment| self.expr(moment, env)).collect::<Result<_>>()?;
        // The operator calls the function by its qualified name.
        let missing = self.resolver.no_function("pg_catalog.overlaps", &args);
        self.resolver.function("overlaps", args).map_err(|error| match error.state() {
            state::UNDEFINED_FUNCTION => missing,
            state::AMBIGUOUS_FUNCTION => {
                error.reworded(|message| message.replacen("overlaps(", "pg_catalog.overlaps(", 1))
            }
            _ => error,
        })
    }

    /// Binds COALESCE, NULLIF, GREATEST and LEAST with their arguments.
    fn conditional_call(&self, name: &str, args: &[&ast::Expr], env: Env<'_>) -> Result<TypedExpr> {
        let row_functions = self.row_functions.borrow().len();
        let values: Vec<TypedExpr> = args.iter().map(|arg| self.expr(arg, env)).collect::<Result<_>>()?;
        self.check_all_collations(args)?;
        if name == "coalesce" {
            self.no_row_functions(row_functions, "COALESCE")?;
        }
        let types: Vec<SqlType> = values.iter().map(|value| value.ty).collect();
        self.conditional(name, values).map_err(|error| match name {
            "nullif" => error,
            _ => self.at_mismatch(error, args, &types),
        })
    }

    /// COALESCE, NULLIF, GREATEST or LEAST of bound arguments.
    fn conditional(&self, name: &str, mut args: Vec<TypedExpr>) -> Result<TypedExpr> {
        let upper = name.to_uppercase();
        // Types whose order differs from that of their Arrow form, or whose equal values may look different (0 and -0).
        let keyed = |ty: SqlType| {
            use BaseType as B;
            let other = matches!(ty.base, B::Numeric | B::Interval | B::Jsonb | B::Json | B::Jsonpath | B::Char);
            ty.array || other || matches!(ty.base, B::Float4 | B::Float8)
        };
        Ok(match name {
            "coalesce" => {
                let (args, ty) = self.unify(&upper, args)?;
                TypedExpr { expr: functions::coalesce(args), ty }
            }
            "greatest" | "least" if args.iter().any(|arg| keyed(arg.ty)) => self.resolver.function(name, args)?,
            "greatest" | "least" => {
                let (args, ty) = self.unify(&upper, args)?;
                let make = if name == "greatest" {
                    datafusion::functions::core::expr_fn::greatest
                } else {
                    datafusion::functions::core::expr_fn::least
                };
                TypedExpr { expr: make(args), ty }
            }
            _ => {
                let (Some(right), Some(left)) = (args.pop(), args.pop()) else {
                    return Err(SqlError::internal("NULLIF without two arguments"));
                };
                let ty = self.resolver.left_operand_type("=", &left, &right);
                let left = if left.is_unknown() { self.coerce(left, ty.plain())? } else { left };
                let equal = self.resolver.operator("=", Some(left.clone()), right)?.expr;
                let left = self.coerce(left, ty)?;
                if let Expr::BinaryExpr(BinaryExpr { left: compared, op: Operator::Eq, right }) = &equal
                    && **compared == left.expr
                    && !is_plain(&left.expr)
                {
                    // If the operand is compared unchanged, it is evaluated once.
                    let expr = datafusion::functions::core::expr_fn::nullif(left.expr, right.as_ref().clone());
                    return Ok(TypedExpr { expr, ty: left.ty });
                }
                let nothing = self.coerce(null(), left.ty)?.expr;
                TypedExpr { expr: guarded_case::case(vec![(equal, nothing)], Some(left.expr)), ty: left.ty }
            }
        })
    }

    /// Binds an array constructor `ARRAY[…]`.
    pub fn array(&self, items: &[ast::Expr], env: Env<'_>) -> Result<TypedExpr> {
        if items.is_empty() {
            return Err(SqlError::new(state::INDETERMINATE_DATATYPE, "cannot determine type of empty array")
                .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[]."));
        }
        let bound: Vec<TypedExpr> = items.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
        let types: Vec<SqlType> = bound.iter().map(|item| item.ty).collect();
        let places: Vec<&ast::Expr> = items.iter().collect();
        self.check_all_collations(&places)?;
        self.resolver.array(bound).map_err(|error| self.at_mismatch(error, &places, &types))
    }

    /// Binds `ARRAY[…]::type[]`. Each element is cast separately, so no common type is needed. `None` if it is not an
    /// array constructor. Errors: 42846, those of the casts.
    pub fn array_as(&self, expr: &ast::Expr, to: SqlType, env: Env<'_>) -> Result<Option<TypedExpr>> {
        let ExprKind::Array(items) = &expr.kind else { return Ok(None) };
        if !to.array || to.is_vector() || to.element().row_of().is_some() {
            return Ok(None);
        }
        if items.is_empty() {
            return self.empty_array(to).map(Some);
        }
        let mut bound = Vec::with_capacity(items.len());
        for item in items {
            bound.push(match deeper(|| self.array_as(item, to, env))? {
                Some(array) => array,
                None => self.expr(item, env)?,
            });
        }
        // Arrays as elements give an array with one more dimension.
        let element = if bound.iter().any(|item| item.ty.array) { to } else { to.element() };
        let cast = |(item, typed): (&ast::Expr, TypedExpr)| {
            let cast = self.resolver.cast(typed, element, CastContext::Explicit);
            cast.map_err(|error| self.at(error, place_of(item)))
        };
        let elements = items.iter().zip(bound).map(cast).collect::<Result<_>>()?;
        self.resolver.array(elements).map(Some)
    }

    /// Binds an empty constructor `ARRAY[]::type[]`.
    pub fn empty_array(&self, ty: SqlType) -> Result<TypedExpr> {
        Ok(TypedExpr { expr: Expr::Literal(ArrayValue::datum_of(&[], ty.element())?, None), ty })
    }

    /// Binds fields and elements of a value: `(x).a`, `a[i]`, `a[i:j]`.
    pub fn access(&self, operand: &ast::Expr, steps: &[Step], env: Env<'_>) -> Result<TypedExpr> {
        let mut steps = steps;
        let relation = match steps {
            [Step::Field(_), ..] => relation_in_brackets(operand, env.scope),
            _ => None,
        };
        let mut value = match (relation, steps) {
            // `(t).column` equals `t.column`.
            (Some(relation), [Step::Field(column), rest @ ..]) => {
                steps = rest;
                let found = env.scope.qualified(None, &relation, &column.value).or_else(|error| {
                    let called = error.state() == state::UNDEFINED_COLUMN;
                    let found = called.then(|| self.function_as_field(operand.clone(), column, env)).flatten();
                    found.ok_or(error)
                });
                found.map_err(|error| self.explain_name(error, env.scope, Some(&relation), &column.value))?
            }
            _ => self.expr(operand, env)?,
        };
        while let Some(first) = steps.first() {
            match first {
                Step::Field(field) => {
                    value = self.field(value, &field.value)?;
                    steps = steps.get(1..).unwrap_or_default();
                }
                Step::All(_) => {
                    let message = "row expansion via \"*\" is not supported here";
                    return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
                }
                Step::Element(_) | Step::Slice(..) => {
                    let is_subscript = |step: &Step| matches!(step, Step::Element(_) | Step::Slice(..));
                    let count = steps.iter().take_while(|step| is_subscript(step)).count();
                    let (subscripts, rest) = steps.split_at(count);
                    value = self.element(value, subscripts, env)?;
                    steps = rest;
                }
            }
        }
        Ok(value)
    }

    /// An element or a slice of an array, a jsonb or a name.
    fn element(&self, value: TypedExpr, subscripts: &[Step], env: Env<'_>) -> Result<TypedExpr> {
        if value.ty.plain() == SqlType::JSONB {
            let mut args = vec![value];
            args.extend(self.jsonb_subscripts(subscripts, env)?.0);
            return self.resolver.function("jsonb_extract_path", args);
        }
        if value.ty.plain() == SqlType::NAME {
            return self.letter_of_name(value, subscripts, env);
        }
        if !value.ty.array {
            let message = format!("cannot subscript type {} because it does not support subscripting", value.ty.name());
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        let subscripts = self.array_subscripts(subscripts, env)?;
        Ok(subscripted(value, subscripts))
    }

    /// Binds the subscripts of an array. Errors: 42804, 54000.
    pub fn array_subscripts(&self, subscripts: &[Step], env: Env<'_>) -> Result<Vec<Subscripts>> {
        if subscripts.len() > MOST_DIMENSIONS {
            return Err(too_many_dimensions(subscripts.len()));
        }
        let int4 = |index: &ast::Expr| -> Result<TypedExpr> {
            let typed = self.expr(index, env)?;
            // Any type with an assignment cast to integer is accepted: a wider number, an OID.
            if !typed.is_unknown() && !cast_exists(typed.ty, SqlType::INT4, CastContext::Assignment) {
                let message = "array subscript must have type integer";
                return Err(self.at(SqlError::new(state::DATATYPE_MISMATCH, message), place_of(index)));
            }
            self.resolver.cast(typed, SqlType::INT4, CastContext::Assignment)
        };
        let bound = |index: &Option<ast::Expr>| index.as_ref().map(int4).transpose();
        subscripts
            .iter()
            .map(|subscript| match subscript {
                Step::Element(index) => Ok(Subscripts::Place(int4(index)?)),
                Step::Slice(lower, upper) => Ok(Subscripts::Part(bound(lower)?, bound(upper)?)),
                Step::Field(_) | Step::All(_) => Err(SqlError::unsupported("a field of an element")),
            })
            .collect()
    }

    /// Binds the subscripts of a jsonb as text. Also tells whether the first one is a number. Errors: 0A000, 42804.
    pub fn jsonb_subscripts(&self, subscripts: &[Step], env: Env<'_>) -> Result<(Vec<TypedExpr>, bool)> {
        let mut path = Vec::with_capacity(subscripts.len());
        let mut number = false;
        for (at, subscript) in subscripts.iter().enumerate() {
            let index = match subscript {
                Step::Element(index) => index,
                Step::Slice(lower, upper) => {
                    let error = SqlError::new(state::DATATYPE_MISMATCH, "jsonb subscript does not support slices");
                    let bound = upper.as_ref().or(lower.as_ref());
                    return Err(self.at(error, bound.map_or(Span::NONE, place_of)));
                }
                Step::Field(_) | Step::All(_) => return Err(SqlError::unsupported("a field of an element")),
            };
            let typed = self.expr(index, env)?;
            let whole = matches!(typed.ty.plain(), SqlType::INT2 | SqlType::INT4);
            if !whole && !typed.is_unknown() && !typed.ty.is_string() {
                let message = format!("subscript type {} is not supported", typed.ty.name());
                let error = SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("jsonb subscript must be coercible to either integer or text.");
                return Err(self.at(error, place_of(index)));
            }
            number |= at == 0 && whole;
            path.push(self.resolver.cast(typed, SqlType::TEXT, CastContext::Assignment)?);
        }
        Ok((path, number))
    }

    /// Binds `name[i]`: a name is an array of 64 elements of type "char", counted from 0.
    fn letter_of_name(&self, name: TypedExpr, subscripts: &[Step], env: Env<'_>) -> Result<TypedExpr> {
        let [Step::Element(index)] = subscripts else {
            return Err(SqlError::unsupported("a slice of a name"));
        };
        let index = self.resolver.cast(self.expr(index, env)?, SqlType::INT4, CastContext::Assignment)?;
        let text = self.resolver.cast(name, SqlType::TEXT, CastContext::Implicit)?;
        let one = |value: i32| literal(Datum::Int32(Some(value)), SqlType::INT4);
        let from = self.resolver.operator("+", Some(index), one(1))?;
        let letter = self.resolver.function("substr", vec![text, from, one(1)])?;
        self.resolver.cast(letter, SqlType::of(BaseType::SingleChar), CastContext::Explicit)
    }
}

/// Whether an array constructor has no elements at any depth.
pub fn without_elements(items: &[ast::Expr]) -> bool {
    deeper(|| items.iter().all(|item| matches!(&item.kind, ExprKind::Array(inner) if without_elements(inner))))
}
