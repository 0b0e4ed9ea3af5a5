//! Dates and times in stored texts. A literal is stored as the value that it had when it was written, under its
//! writer's settings. PostgreSQL likewise keeps the value and not the text.

use super::canonical;
use super::evaluate::constant_text;
use functions::times_read::{ReadTime, times_read};
use sql_error::{Result, SqlError};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use syntax::ast::{CastForm, Expr, ExprKind, Literal};
use syntax::source::Source;
use syntax::visit::{Visit, visit_expressions};
use syntax::{Span, Statement, StatementKind, parse, parse_expression};
use types::datetime::Reading;

/// Binds a stored expression. Returns the result of `bind`, and a new text to store if the old one depends on
/// time or settings. `what` names it in messages. Errors: those of `bind`, and 0A000 if the new text would still
/// depend on the time.
pub(super) fn fixed_expression<T>(
    stored: &str,
    what: &str,
    bind: impl Fn(&Expr, &Source) -> Result<T>,
) -> Result<(T, Option<String>)> {
    fixed(stored, what, |text| {
        let (expr, source) = parse_expression(text)?;
        let (bound, times) = times_read(|| bind(&expr, &source));
        Ok((bound?, with_times(text, &expr, &source, &times)?))
    })
}

/// The text of a query to store, if it differs.
pub(super) fn fixed_query<T>(
    stored: &str,
    what: &str,
    bind: impl Fn(&Statement) -> Result<T>,
) -> Result<Option<String>> {
    let fixed = fixed(stored, what, |text| {
        let statement = parse(text)?.into_iter().next();
        let statement = statement.ok_or_else(|| SqlError::internal("a query that is not there"))?;
        let (bound, times) = times_read(|| bind(&statement));
        let StatementKind::Sql(tree) = &statement.kind else {
            return Err(SqlError::internal("a stored query that is none"));
        };
        Ok((bound?, with_times(text, &**tree, &statement.source, &times)?))
    });
    Ok(fixed?.1)
}

fn fixed<T>(
    stored: &str,
    what: &str,
    read: impl Fn(&str) -> Result<(T, Option<String>)>,
) -> Result<(T, Option<String>)> {
    let (answer, moving) = Reading::asks_for_now(|| read(stored));
    let (bound, text) = answer?;
    let Some(text) = text else {
        return if moving { Err(super::evaluate::moving(what)) } else { Ok((bound, None)) };
    };
    // The stored text must not depend on the time of reading.
    match Reading::asks_for_now(|| read(&text)) {
        (answer, false) => Ok((answer?.0, Some(text))),
        (_, true) => Err(super::evaluate::moving(what)),
    }
}

/// A string in a text.
struct Said {
    /// Its bytes.
    bytes: Range<usize>,
    /// The decoded string.
    value: String,
    /// The positions that it may be known by: its own, and that of the type before it.
    positions: Vec<Option<usize>>,
}

/// The strings of a tree, in the order of the text.
fn strings(tree: &impl Visit, source: &Source) -> Vec<Said> {
    let mut found: BTreeMap<u32, Said> = BTreeMap::new();
    let mut note = |string: &Expr, whole: Span| {
        if let ExprKind::Literal(Literal::String(value)) = &string.kind
            && let (Ok(start), Ok(end)) = (usize::try_from(string.span.start), usize::try_from(string.span.end))
        {
            let new = || Said { bytes: start..end, value: value.clone(), positions: Vec::new() };
            let said = found.entry(string.span.start).or_insert_with(new);
            said.positions.push(source.start(whole));
        }
    };
    let _ = visit_expressions(tree, |expr| {
        match &expr.kind {
            ExprKind::Cast { operand, form: CastForm::Constant, .. } => note(operand, expr.span),
            _ => note(expr, expr.span),
        }
        ControlFlow::<()>::Continue(())
    });
    found.into_values().collect()
}

/// A text whose date and time literals do not depend on settings. `None` if nothing changes.
fn with_times(text: &str, tree: &impl Visit, source: &Source, times: &[ReadTime]) -> Result<Option<String>> {
    if times.is_empty() {
        return Ok(None);
    }
    let mut new = text.to_string();
    for said in strings(tree, source).into_iter().rev() {
        let mut fixed = Vec::new();
        let reads = |time: &&ReadTime| said.positions.contains(&Some(time.position)) && time.text == said.value;
        for time in times.iter().filter(reads) {
            let form = constant_text(time.ty, time.value.to_array()?.as_ref())?;
            if !fixed.contains(&form) {
                fixed.push(form);
            }
        }
        // A literal that was read as two different values is kept: the next reading decides.
        if let [form] = fixed.as_slice()
            && *form != said.value
            && new.get(said.bytes.clone()).is_some_and(|old| old.ends_with(['\'', '$']))
        {
            new.replace_range(said.bytes, &canonical::literal(form));
        }
    }
    Ok((new != text).then_some(new))
}
