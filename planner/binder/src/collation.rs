//! COLLATE: the collations that exist. All of them order strings by bytes. Only explicit collations of operands are
//! known.

use super::binder::Binder;
use builtin::collations::COLLATIONS;
use sql_error::{Result, SqlError, state};
use syntax::ast::{Expr, ExprKind, Name};
use syntax::{Span, deeper, fold_name};
use types::{BaseType, SqlType};

/// Looks up a collation. Errors: 42704; 0A000 for the order of a language.
pub fn collation_named(name: &Name) -> Result<&'static str> {
    let (schema, plain) = fold_name(name)?;
    let here = schema.as_deref().is_none_or(|schema| schema == "pg_catalog");
    // Names of the locale outside the catalog, and variants that PostgreSQL accepts.
    let known = if ["C.UTF-8", "C.utf8"].contains(&plain.as_str()) { "C.utf8" } else { plain.as_str() };
    let found = COLLATIONS.iter().find(|(_, collation)| here && *collation == known);
    found.map(|(_, collation)| *collation).ok_or_else(|| {
        // Collations that PostgreSQL may have from the operating system or ICU.
        let mut letters = plain.chars();
        let locale = plain.ends_with("-x-icu")
            || letters.by_ref().take(2).all(|letter| letter.is_ascii_lowercase())
                && letters.next() == Some('_')
                && letters.take(2).filter(char::is_ascii_uppercase).count() == 2;
        if here && locale {
            return SqlError::unsupported(format!("the collation \"{plain}\""));
        }
        let shown = schema.map_or_else(|| plain.clone(), |schema| format!("{schema}.{plain}"));
        SqlError::new(state::UNDEFINED_OBJECT, format!("collation \"{shown}\" for encoding \"UTF8\" does not exist"))
    })
}

/// The explicit collation of an expression, and the place of its COLLATE.
fn explicit(expr: &Expr) -> Option<(&'static str, Span)> {
    match &expr.kind {
        ExprKind::Collate { collation, at, .. } => Some((collation_named(collation).ok()?, *at)),
        ExprKind::Cast { operand, .. } => deeper(|| explicit(operand)),
        ExprKind::Binary { op, left, right } if op.sign == "||" => {
            deeper(|| explicit(left)).or_else(|| deeper(|| explicit(right)))
        }
        _ => None,
    }
}

impl Binder<'_> {
    /// Checks the explicit collations of two operands. Errors: 42P21 if they differ.
    pub fn check_collations(&self, left: &Expr, right: &Expr) -> Result<()> {
        let (Some((one, _)), Some((other, place))) = (explicit(left), explicit(right)) else { return Ok(()) };
        if one == other {
            return Ok(());
        }
        let message = format!("collation mismatch between explicit collations \"{one}\" and \"{other}\"");
        Err(self.at(SqlError::new("42P21", message), place))
    }

    /// Checks the explicit collations of all operands or arguments. Errors: 42P21 if they differ.
    pub fn check_all_collations(&self, operands: &[&Expr]) -> Result<()> {
        let Some(first) = operands.iter().find(|operand| explicit(operand).is_some()) else { return Ok(()) };
        operands.iter().try_for_each(|operand| self.check_collations(first, operand))
    }
}

/// Checks that collations apply to a type. Errors: 42804.
pub fn check_collatable(ty: SqlType) -> Result<()> {
    use BaseType::{Char, Name, Text, Unknown, Varchar};
    if matches!(ty.base, Text | Varchar | Char | Name | Unknown) {
        return Ok(());
    }
    let message = format!("collations are not supported by type {}", ty.name());
    Err(SqlError::new(state::DATATYPE_MISMATCH, message))
}
