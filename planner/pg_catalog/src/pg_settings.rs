//! `pg_settings`: the run-time parameters of the session.

use super::definition::{Definition, Fill, Rows, value};
use context::private_settings::sees_private;
use executor::StatementContext;
use settings::category::category;
use settings::registry::{self, Changeable, Kind};
use settings::value::{in_base_unit, shown};
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 12104,
    name: "pg_catalog.pg_settings",
    columns: "name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, \
              vartype text, source text, min_val text, max_val text, enumvals text[], boot_val text, reset_val text, \
              sourcefile text, sourceline int4, pending_restart bool",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let private = sees_private(&context.catalog, context.role());
    for (definition, setting) in context.settings.all() {
        if !private && registry::is_private(definition.name) {
            continue;
        }
        let (setting, unit) = in_base_unit(definition, &setting);
        let (default, _) = in_base_unit(definition, definition.default);
        let (kind, bounds, words) = match definition.kind {
            Kind::Bool | Kind::OnlyBool(_) => ("bool", None, Vec::new()),
            Kind::Int { min, max, .. } => ("integer", Some((min.to_string(), max.to_string())), Vec::new()),
            Kind::Real { min, max } => ("real", Some((shown(min), shown(max))), Vec::new()),
            Kind::Enum(words) => ("enum", None, words.to_vec()),
            Kind::Partial(words, refused) => ("enum", None, [words, refused].concat()),
            Kind::Text | Kind::Special => (plain_kind(definition.default), None, Vec::new()),
        };
        let changeable = match definition.changeable {
            Changeable::Always => "user",
            Changeable::BySuperuser => "superuser",
            Changeable::Never => "internal",
            Changeable::AtServerStart => "postmaster",
            Changeable::ByConfiguration => "sighup",
            Changeable::AtConnection => "backend",
        };
        let (min, max) = bounds.unzip();
        let source = match setting == default {
            true => "default",
            false if definition.changeable.by_session() => "session",
            false => "override",
        };
        rows.add([
            ("name", value::text(definition.name)),
            ("setting", value::text(&setting)),
            ("unit", value::optional(unit)),
            ("category", value::text(category(definition.name))),
            ("short_desc", value::text(definition.description)),
            ("context", value::text(changeable)),
            ("vartype", value::text(kind)),
            ("min_val", value::optional(min.as_deref())),
            ("max_val", value::optional(max.as_deref())),
            (
                "enumvals",
                match words.is_empty() {
                    true => Datum::Null,
                    false => value::texts(words.into_iter().map(str::to_string)),
                },
            ),
            ("reset_val", value::text(if definition.changeable.by_session() { &default } else { &setting })),
            ("boot_val", value::text(&default)),
            ("source", value::text(source)),
            ("pending_restart", Datum::from(false)),
        ])?;
    }
    Ok(())
}

/// The type of a setting without rules of its own, derived from its default.
fn plain_kind(default: &str) -> &'static str {
    match default {
        "on" | "off" => "bool",
        number if number.parse::<i64>().is_ok() => "integer",
        _ => "string",
    }
}
