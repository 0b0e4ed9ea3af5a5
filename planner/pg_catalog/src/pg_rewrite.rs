//! `pg_rewrite`: the rule of each view.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 2618,
    name: "pg_catalog.pg_rewrite",
    columns: "oid oid=0, rulename name=, ev_class oid=0, ev_type char=, ev_enabled char=, is_instead bool=f, ev_qual \
              text=, ev_action text=",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Oid("ev_class"), RelationKey::Part("oid")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in &rows.user_relations(context, &KEYS) {
        let Some(view) = &table.view else { continue };
        rows.add([
            ("oid", value::oid(view.rule)),
            ("rulename", value::text("_RETURN")),
            ("ev_class", value::oid(table.oid)),
            ("ev_type", value::text("1")),
            ("ev_enabled", value::text("O")),
            ("is_instead", Datum::from(true)),
        ])?;
    }
    Ok(())
}
