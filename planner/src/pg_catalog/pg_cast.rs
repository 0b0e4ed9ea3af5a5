//! `pg_cast`: the casts between types, generated from what the resolver accepts. Their OIDs are
//! made of the two types.

use super::definition::{Definition, Fill, Rows, value};
use crate::error::Result;
use crate::execution::StatementContext;
use crate::functions::{CastContext, cast_exists};
use crate::types::{BaseType, Oid, SqlType};

/// `pg_catalog.pg_cast`.
pub(super) const VIEW: Definition = Definition {
    oid: 2605,
    name: "pg_catalog.pg_cast",
    columns: "oid oid=0, castsource oid=0, casttarget oid=0, castfunc oid=0, castcontext char=, castmethod char=",
    fill: Fill::Now(rows),
};

/// OIDs of casts begin here: below those that are given out, so that pg_dump takes them for what every server has.
const FIRST_OID: Oid = 12_000;

fn rows(_context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let types =
        || (0..).zip(SqlType::ALL_BASES).filter(|(_, base)| !matches!(base, BaseType::Unknown | BaseType::Void));
    for (from_number, from) in types() {
        for (to_number, to) in types().filter(|(_, to)| *to != from) {
            let (from, to) = (SqlType::of(from), SqlType::of(to));
            let context = if cast_exists(from, to, CastContext::Implicit) {
                "i"
            } else if cast_exists(from, to, CastContext::Assignment) {
                "a"
            } else if cast_exists(from, to, CastContext::Explicit) {
                "e"
            } else {
                continue;
            };
            let oid: Oid = FIRST_OID + from_number * 64 + to_number;
            rows.add([
                ("oid", value::oid(oid)),
                ("castsource", value::oid(from.oid())),
                ("casttarget", value::oid(to.oid())),
                ("castcontext", value::text(context)),
                ("castmethod", value::text(if from.arrow() == to.arrow() { "b" } else { "f" })),
            ])?;
        }
    }
    Ok(())
}
