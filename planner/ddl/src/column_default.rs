//! The stored form of column DEFAULTs. A `nextval` names its sequence independently of search_path.

use super::create_table::Making;
use super::names::expect_kind;
use super::{canonical, enumeration, evaluate};
use catalog::RelationKind;
use functions::{CastContext, cast_exists};
use sql_error::Result;
use syntax::ast::{Expr, ExprKind, Name};
use syntax::{Span, fold_name};
use types::SqlType;

impl Making<'_> {
    /// The stored form of a DEFAULT, after checking that it fits the column.
    pub(super) fn default(&mut self, column: &str, expr: &Expr, ty: &SqlType) -> Result<Option<String>> {
        let stored = match canonical::default_text(&enumeration::with_schemas(self.context, expr), ty)? {
            Some(stored) => Some(self.next_value(&stored)?.unwrap_or(stored)),
            None => None,
        };
        let numbered = cast_exists(SqlType::INT8, *ty, CastContext::Assignment);
        let own = |stored: &&String| numbered && self.is_default(stored);
        if let Some(stored) = stored.as_ref().filter(|stored| !own(stored)) {
            // A value that is too long for the column fails when it is used.
            if let Some(fixed) = evaluate::new_default(self.context, column, ty.plain(), stored)? {
                return Ok(Some(fixed));
            }
        }
        Ok(stored)
    }

    /// `nextval('name')` with the sequence named independently of search_path. It locks the sequence against being
    /// dropped. `None` for other defaults. Errors: 42P01, 42809.
    pub(super) fn next_value(&mut self, stored: &str) -> Result<Option<String>> {
        let literal = stored.strip_prefix("nextval('").and_then(|rest| {
            rest.strip_suffix("'::regclass)")
                .or_else(|| rest.strip_suffix("'::REGCLASS)"))
                .or_else(|| rest.strip_suffix("'::text)"))
                .or_else(|| rest.strip_suffix("')"))
        });
        let Some(text) = literal.filter(|text| !text.contains('\'')) else { return Ok(None) };
        let ExprKind::Column(parts) = syntax::parse_expression(text)?.0.kind else { return Ok(None) };
        let name = Name { parts, span: Span::NONE };
        let Some(found) = self.context.find(&name)? else {
            return self.made_here(&name)?.map(Some).ok_or_else(|| self.context.no_relation(&name));
        };
        expect_kind(&found, RelationKind::Sequence)?;
        self.writer.hold_table(found.oid);
        Ok(Some(canonical::next_value_text(&found.schema, &found.name)))
    }

    /// The default that uses a sequence of this name, if this statement created the sequence for an earlier column. The
    /// catalog does not know it yet.
    fn made_here(&self, name: &Name) -> Result<Option<String>> {
        let (schema, name) = fold_name(name)?;
        let text = canonical::next_value_text(schema.as_deref().unwrap_or(&self.schema.name), &name);
        Ok(self.is_default(&text).then_some(text))
    }

    fn is_default(&self, stored: &str) -> bool {
        self.table.columns.iter().any(|column| column.default.as_deref() == Some(stored))
    }
}
