//! Functions with special syntax: EXTRACT, POSITION, SUBSTRING, TRIM, OVERLAY, COALESCE and similar, arrays.

use super::binder::Binder;
use super::computed_once::is_plain;
use super::expression::Env;
use super::literal::{literal, null};
use super::record::relation_in_brackets;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use functions::array_element::{Subscripts, subscripted};
use functions::{CastContext, TypedExpr, cast_exists, guarded_case};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, AccessExpr, CeilFloorKind, DateTimeField, Spanned, Subscript, TrimWhereField};
use sqlparser::tokenizer::Span;
use syntax::fold;
use types::array::{ArrayValue, MOST_DIMENSIONS, too_many_dimensions};
use types::{BaseType, Datum, SqlType};

impl Binder<'_> {
    /// Binds EXTRACT, CEIL, FLOOR, POSITION, SUBSTRING, TRIM and OVERLAY as calls.
    pub fn special_syntax(&self, expr: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        use ast::Expr as E;
        let bind = |expr: &ast::Expr| self.expr(expr, env);
        match expr {
            E::Extract { field, expr, .. } => {
                let field = field_name(field);
                let source = bind(expr)?;
                if source.is_unknown() && source.constant().is_some() {
                    let message = "function pg_catalog.extract(unknown, unknown) is not unique";
                    let error = SqlError::new(state::AMBIGUOUS_FUNCTION, message)
                        .hint("Could not choose a best candidate function. You might need to add explicit type casts.");
                    return Err(self.at_call(error, "extract", expr.span()));
                }
                let found = self.resolver.syntax_function("extract", vec![TypedExpr::unknown(field), source]);
                found.map_err(|error| self.at_call(error, "extract", expr.span()))
            }
            E::Ceil { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                let found = self.resolver.function("ceil", vec![bind(expr)?]);
                found.map_err(|error| self.at_call(error, "ceil", expr.span()))
            }
            E::Floor { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                let found = self.resolver.function("floor", vec![bind(expr)?]);
                found.map_err(|error| self.at_call(error, "floor", expr.span()))
            }
            E::Position { expr, r#in } => {
                let whole = bind(r#in)?;
                let found = self.resolver.syntax_function("position", vec![whole, bind(expr)?]);
                found.map_err(|error| self.at_call(error, "position", expr.span()))
            }
            E::Substring { expr, substring_from, substring_for, special, shorthand } => {
                let text = bind(expr)?;
                let mut args = vec![text];
                match (substring_from, substring_for) {
                    (Some(from), Some(length)) => args.extend([bind(from)?, bind(length)?]),
                    (Some(from), None) => args.push(bind(from)?),
                    (None, Some(length)) => args.extend([self.number("1")?, bind(length)?]),
                    (None, None) => {}
                }
                // Written without keywords, it is an ordinary call, and errors show the name as written.
                let written = if *shorthand { "substr" } else { "substring" };
                let words = !*special && (substring_from.is_some() || substring_for.is_some());
                let found = match words {
                    true => self.resolver.syntax_function(written, args),
                    false => self.resolver.function(written, args),
                };
                found.map_err(|error| self.at_call(error, written, expr.span()))
            }
            E::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    None | Some(TrimWhereField::Both) => "btrim",
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                };
                let mut args = vec![bind(expr)?];
                if let Some(what) = trim_what {
                    args.push(bind(what)?);
                }
                for characters in trim_characters.iter().flatten() {
                    args.push(bind(characters)?);
                }
                let first = trim_what.as_deref().unwrap_or(expr).span();
                self.resolver.syntax_function(name, args).map_err(|error| self.at_call(error, "trim", first))
            }
            E::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let mut args = vec![bind(expr)?, bind(overlay_what)?, bind(overlay_from)?];
                if let Some(length) = overlay_for {
                    args.push(bind(length)?);
                }
                let found = self.resolver.syntax_function("overlay", args);
                found.map_err(|error| self.at_call(error, "overlay", expr.span()))
            }
            other => Err(SqlError::unsupported(format!("the expression {other}"))),
        }
    }

    /// Binds `normalize(x, NFC)`, whose form is a keyword. `None` for other calls.
    pub fn normalize(&self, function: &ast::Function, env: Env<'_>) -> Result<Option<TypedExpr>> {
        use ast::{FunctionArg, FunctionArgExpr, FunctionArguments};
        let FunctionArguments::List(list) = &function.args else { return Ok(None) };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(text)), FunctionArg::Unnamed(FunctionArgExpr::Expr(form))] =
            list.args.as_slice()
        else {
            return Ok(None);
        };
        let word = match form {
            ast::Expr::Identifier(word) => word.value.to_ascii_uppercase(),
            other => other.to_string(),
        };
        if !["NFC", "NFD", "NFKC", "NFKD"].contains(&word.as_str()) {
            let error = SqlError::syntax(format!("syntax error at or near \"{form}\""));
            return Err(self.at(error, form.span()));
        }
        self.resolver.function("normalize", vec![self.expr(text, env)?, self.word(&word)]).map(Some)
    }

    /// Binds `(a, b) OVERLAPS (c, d)`.
    pub fn overlaps(&self, left: &ast::Expr, right: &ast::Expr, env: Env<'_>) -> Result<TypedExpr> {
        let mut args = Vec::with_capacity(4);
        for (side, period) in [("left", left), ("right", right)] {
            let ends = match period {
                ast::Expr::Tuple(ends) => ends.as_slice(),
                _ => &[],
            };
            let [start, end] = ends else {
                let message = format!("wrong number of parameters on {side} side of OVERLAPS expression");
                return Err(SqlError::syntax(message));
            };
            args.extend([self.expr(start, env)?, self.expr(end, env)?]);
        }
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

    /// Binds COALESCE, NULLIF, GREATEST, LEAST. `None` for other names.
    pub fn conditional(&self, name: &str, mut args: Vec<TypedExpr>) -> Result<Option<TypedExpr>> {
        let upper = name.to_uppercase();
        if args.is_empty() {
            return Err(SqlError::syntax("syntax error at or near \")\""));
        }
        // Types whose order differs from that of their Arrow form, or whose equal values may look different (0 and -0).
        let keyed = |ty: SqlType| {
            use BaseType as B;
            let other = matches!(ty.base, B::Numeric | B::Interval | B::Jsonb | B::Json | B::Jsonpath | B::Char);
            ty.array || other || matches!(ty.base, B::Float4 | B::Float8)
        };
        let typed = match name {
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
            "nullif" => {
                let near = if args.len() < 2 { ")" } else { "," };
                let (Some(right), Some(left), true) = (args.pop(), args.pop(), args.is_empty()) else {
                    return Err(SqlError::syntax(format!("syntax error at or near \"{near}\"")));
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
                    return Ok(Some(TypedExpr { expr, ty: left.ty }));
                }
                let nothing = self.coerce(null(), left.ty)?.expr;
                TypedExpr { expr: guarded_case::case(vec![(equal, nothing)], Some(left.expr)), ty: left.ty }
            }
            _ => return Ok(None),
        };
        Ok(Some(typed))
    }

    /// Binds an array constructor `ARRAY[…]`.
    pub fn array(&self, items: &[ast::Expr], env: Env<'_>) -> Result<TypedExpr> {
        if items.is_empty() {
            return Err(SqlError::new(state::INDETERMINATE_DATATYPE, "cannot determine type of empty array")
                .about("array")
                .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[]."));
        }
        self.all_named_or_bare(items)?;
        let bound: Vec<TypedExpr> = items.iter().map(|item| self.expr(item, env)).collect::<Result<_>>()?;
        let types: Vec<SqlType> = bound.iter().map(|item| item.ty).collect();
        let places: Vec<&ast::Expr> = items.iter().collect();
        self.check_all_collations(&places)?;
        self.resolver.array(bound).map_err(|error| self.at_mismatch(error, &places, &types))
    }

    /// Checks nested arrays: either all or none may omit the word ARRAY. Errors: 42601.
    fn all_named_or_bare(&self, items: &[ast::Expr]) -> Result<()> {
        let bare = |item: &ast::Expr| matches!(item, ast::Expr::Array(inner) if !inner.named);
        let Some(other) = items.iter().find(|item| bare(item) != items.first().is_some_and(bare)) else {
            return Ok(());
        };
        let text = other.to_string();
        let near = if bare(other) { "[" } else { text.split(['[', '(', ' ']).next().unwrap_or_default() };
        Err(self.at(SqlError::syntax(format!("syntax error at or near \"{near}\"")), other.span()))
    }

    /// Binds `ARRAY[…]::type[]`. Each element is cast separately, so no common type is needed. `None` if it is not an
    /// array constructor. Errors: 42846, those of the casts.
    pub fn array_as(&self, expr: &ast::Expr, to: SqlType, env: Env<'_>) -> Result<Option<TypedExpr>> {
        let mut inner = expr;
        while let ast::Expr::Nested(nested) = inner {
            inner = nested;
        }
        let ast::Expr::Array(ast::Array { elem: items, .. }) = inner else { return Ok(None) };
        if !to.array || to.is_vector() || to.element().row_of().is_some() {
            return Ok(None);
        }
        if items.is_empty() {
            return self.empty_array(to).map(Some);
        }
        self.all_named_or_bare(items)?;
        let mut bound = Vec::with_capacity(items.len());
        for item in items {
            bound.push(match self.array_as(item, to, env)? {
                Some(array) => array,
                None => self.expr(item, env)?,
            });
        }
        // Arrays as elements give an array with one more dimension.
        let element = if bound.iter().any(|item| item.ty.array) { to } else { to.element() };
        let cast = |(item, typed): (&ast::Expr, TypedExpr)| {
            let error =
                |error: SqlError| if error.fields().position.is_some() { error } else { self.at(error, item.span()) };
            self.resolver.cast(typed, element, CastContext::Explicit).map_err(error)
        };
        let elements = items.iter().zip(bound).map(cast).collect::<Result<_>>()?;
        self.resolver.array(elements).map(Some)
    }

    /// Binds an empty constructor `ARRAY[]::type[]`.
    pub fn empty_array(&self, ty: SqlType) -> Result<TypedExpr> {
        Ok(TypedExpr { expr: Expr::Literal(ArrayValue::datum_of(&[], ty.element())?, None), ty })
    }

    /// Binds subscripts `a[i]`, `a[i:j]`.
    pub fn access(&self, root: &ast::Expr, chain: &[AccessExpr], env: Env<'_>) -> Result<TypedExpr> {
        // In `table.column[1]`, the names before the subscripts are one reference.
        let mut names = match root {
            ast::Expr::Identifier(ident) => vec![ident.clone()],
            _ => Vec::new(),
        };
        let mut chain = chain;
        while let ([AccessExpr::Dot(ast::Expr::Identifier(ident)), rest @ ..], false) = (chain, names.is_empty()) {
            names.push(ident.clone());
            chain = rest;
        }
        let mut root = match (names.len(), chain) {
            // `(t).column` equals `t.column`.
            (0, [AccessExpr::Dot(ast::Expr::Identifier(column)), rest @ ..])
                if relation_in_brackets(root, env.scope).is_some() =>
            {
                chain = rest;
                let relation = relation_in_brackets(root, env.scope).unwrap_or_default();
                let found = env.scope.qualified(None, &relation, &fold(column)).or_else(|error| {
                    let called = error.state() == state::UNDEFINED_COLUMN;
                    let found = called.then(|| self.function_as_field(root.clone(), column, env)).flatten();
                    found.ok_or(error)
                });
                found.map_err(|error| self.explain_name(error, env.scope, Some(&relation), &fold(column)))?
            }
            (0 | 1, _) => self.expr(root, env)?,
            _ => self.expr(&ast::Expr::CompoundIdentifier(names), env)?,
        };
        while let [AccessExpr::Dot(ast::Expr::Identifier(field)), rest @ ..] = chain {
            root = self.field(root, &fold(field))?;
            chain = rest;
        }
        if chain.is_empty() {
            return Ok(root);
        }
        let mut subscripts = Vec::new();
        for access in chain {
            match access {
                AccessExpr::Subscript(subscript) => subscripts.push(subscript),
                AccessExpr::Dot(_) => return Err(SqlError::unsupported("a field of an element")),
            }
        }
        if root.ty.plain() == SqlType::JSONB {
            let mut args = vec![root];
            args.extend(self.jsonb_subscripts(&subscripts, env)?.0);
            return self.resolver.function("jsonb_extract_path", args);
        }
        if root.ty.plain() == SqlType::NAME {
            return self.letter_of_name(root, &subscripts, env);
        }
        if !root.ty.array {
            let message = format!("cannot subscript type {} because it does not support subscripting", root.ty.name());
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        let subscripts = self.array_subscripts(&subscripts, env)?;
        Ok(subscripted(root, subscripts))
    }

    /// Binds the subscripts of an array. Errors: 42804, 54000.
    pub fn array_subscripts(&self, subscripts: &[&Subscript], env: Env<'_>) -> Result<Vec<Subscripts>> {
        if subscripts.len() > MOST_DIMENSIONS {
            return Err(too_many_dimensions(subscripts.len()));
        }
        let int4 = |index: &ast::Expr| -> Result<TypedExpr> {
            let typed = self.expr(index, env)?;
            // Any type with an assignment cast to integer is accepted: a wider number, an OID.
            if !typed.is_unknown() && !cast_exists(typed.ty, SqlType::INT4, CastContext::Assignment) {
                let message = "array subscript must have type integer";
                return Err(self.at(SqlError::new(state::DATATYPE_MISMATCH, message), index.span()));
            }
            self.resolver.cast(typed, SqlType::INT4, CastContext::Assignment)
        };
        let bound = |index: &Option<ast::Expr>| index.as_ref().map(int4).transpose();
        subscripts
            .iter()
            .map(|subscript| match subscript {
                Subscript::Index { index } => Ok(Subscripts::Place(int4(index)?)),
                Subscript::Slice { lower_bound, upper_bound, stride: None } => {
                    Ok(Subscripts::Part(bound(lower_bound)?, bound(upper_bound)?))
                }
                Subscript::Slice { .. } => Err(SqlError::syntax("syntax error at or near \":\"")),
            })
            .collect()
    }

    /// Binds the subscripts of a jsonb as text. Also tells whether the first one is a number. Errors: 0A000, 42804.
    pub fn jsonb_subscripts(&self, subscripts: &[&Subscript], env: Env<'_>) -> Result<(Vec<TypedExpr>, bool)> {
        let mut steps = Vec::with_capacity(subscripts.len());
        let mut number = false;
        for (at, subscript) in subscripts.iter().enumerate() {
            let index = match subscript {
                Subscript::Index { index } => index,
                Subscript::Slice { lower_bound, upper_bound, .. } => {
                    let error = SqlError::new(state::DATATYPE_MISMATCH, "jsonb subscript does not support slices");
                    let bound = upper_bound.as_ref().or(lower_bound.as_ref());
                    return Err(self.at(error, bound.map_or_else(Span::empty, Spanned::span)));
                }
            };
            let typed = self.expr(index, env)?;
            let whole = matches!(typed.ty.plain(), SqlType::INT2 | SqlType::INT4);
            if !whole && !typed.is_unknown() && !typed.ty.is_string() {
                let message = format!("subscript type {} is not supported", typed.ty.name());
                let error = SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("jsonb subscript must be coercible to either integer or text.");
                return Err(self.at(error, index.span()));
            }
            number |= at == 0 && whole;
            steps.push(self.resolver.cast(typed, SqlType::TEXT, CastContext::Assignment)?);
        }
        Ok((steps, number))
    }

    /// Binds `name[i]`: a name is an array of 64 elements of type "char", counted from 0.
    fn letter_of_name(&self, name: TypedExpr, subscripts: &[&Subscript], env: Env<'_>) -> Result<TypedExpr> {
        let [Subscript::Index { index }] = subscripts else {
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

/// The argument of `ALL (…)`, which is parsed as a call.
pub fn all_of(expr: &ast::Expr) -> Option<&ast::Expr> {
    use ast::{FunctionArg, FunctionArgExpr, FunctionArguments, ObjectNamePart};
    let ast::Expr::Function(function) = expr else { return None };
    let [ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))]
            if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("all") =>
        {
            Some(argument)
        }
        _ => None,
    }
}

/// Whether an array constructor has no elements at any depth.
pub fn without_elements(array: &ast::Array) -> bool {
    array.elem.iter().all(|item| matches!(item, ast::Expr::Array(inner) if without_elements(inner)))
}

/// The name of EXTRACT's field.
pub fn field_name(field: &DateTimeField) -> String {
    match field {
        DateTimeField::Custom(ident) => ident.value.to_ascii_lowercase(),
        other => other.to_string().to_ascii_lowercase(),
    }
}
