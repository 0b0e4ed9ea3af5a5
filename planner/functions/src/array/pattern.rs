//! Pattern operators with ANY and ALL, such as `text LIKE ANY (patterns)`.

use crate::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::typed::{Bool, List, SqlWrite, Text};
use crate::{CastContext, Resolver, TypedExpr, registry};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Scalar, StringArray};
use datafusion::arrow::compute::{ilike, like};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::{Ctype, SqlType};

/// Whether the operator matches a text with a pattern.
pub(super) fn is_pattern(symbol: &str) -> bool {
    matches!(symbol, "~~" | "!~~" | "~~*" | "!~~*" | "~" | "!~" | "~*" | "!~*")
}

/// `left symbol ANY (array)`, or `ALL`. Errors: 42883, 42809.
pub(super) fn quantified(
    resolver: &Resolver<'_>,
    symbol: &str,
    left: TypedExpr,
    array: TypedExpr,
    all: bool,
) -> Result<TypedExpr> {
    let texts = SqlType::TEXT.array_of();
    if !array.is_unknown() && !array.ty.array {
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side"));
    }
    if !Resolver::stringlike(left.ty) || !(array.is_unknown() || Resolver::stringlike(array.ty.element())) {
        return Err(crate::operator::no_operator(symbol, Some(left.ty), array.ty.element()));
    }
    let left = resolver.cast(left, SqlType::TEXT, CastContext::Implicit)?;
    let array = resolver.cast(array, texts, CastContext::Implicit)?;
    let negated = symbol.starts_with('!');
    let insensitive = symbol.ends_with('*');
    let regular = !symbol.contains("~~");
    let name = match (regular, insensitive) {
        (true, true) => "texticregexeq",
        (true, false) => "textregexeq",
        (false, _) => "texticlike",
    };
    // Arrow's ILIKE uses Unicode case folding.
    let by_function = regular || insensitive && resolver.ctype() != Ctype::Unicode;
    let matcher = registry::kernel_named(name).ok_or_else(|| SqlError::internal("a matching function is missing"))?;
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let (values, lists) = (call.column::<Text>(0)?, call.column::<List>(1)?);
        let types = [SqlType::TEXT, SqlType::TEXT];
        let mut builder = Bool::builder(call.rows);
        for row in 0..call.rows {
            let answer = match (values.get(row)?, lists.get(row)?) {
                (_, None) => None,
                (None, Some(patterns)) => patterns.is_empty().then_some(all),
                (Some(value), Some(patterns)) => {
                    let text: ArrayRef = Arc::new(StringArray::from(vec![value]));
                    let matched: BooleanArray = if by_function {
                        let arguments = [text, Arc::clone(patterns.elements())];
                        let nested = call.nested(&arguments, &types, SqlType::BOOL);
                        let count = patterns.len();
                        matcher(&nested.with_rows(count))?.as_boolean().clone()
                    } else if insensitive {
                        ilike(&Scalar::new(text), patterns.elements())?
                    } else {
                        like(&Scalar::new(text), patterns.elements())?
                    };
                    combine(matched.iter().map(|matched| matched.map(|matched| matched != negated)), all)
                }
            };
            Bool::append(&mut builder, answer)?;
        }
        Ok(Bool::finish(builder))
    });
    let name = format!("{symbol} {}", if all { "all" } else { "any" });
    Ok(KernelFunction::new(name, vec![SqlType::TEXT, texts], SqlType::BOOL, Stability::Immutable, kernel, None)
        .with_ctype(resolver.ctype())
        .call(vec![left.expr, array.expr]))
}

/// ANY is true if one answer is true. ALL is false if one is false. Otherwise a NULL makes the result NULL.
fn combine(answers: impl Iterator<Item = Option<bool>>, all: bool) -> Option<bool> {
    let mut result = Some(all);
    for answer in answers {
        match answer {
            Some(holds) if holds != all => return Some(!all),
            None => result = None,
            _ => {}
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::combine;

    #[test]
    fn answers_are_of_three_values() {
        let of = |answers: &[Option<bool>], all| combine(answers.iter().copied(), all);
        assert_eq!(of(&[Some(false), None, Some(true)], false), Some(true));
        assert_eq!(of(&[Some(false), None], false), None);
        assert_eq!(of(&[], false), Some(false));
        assert_eq!(of(&[Some(true), None], true), None);
        assert_eq!(of(&[None, Some(false)], true), Some(false));
    }
}
