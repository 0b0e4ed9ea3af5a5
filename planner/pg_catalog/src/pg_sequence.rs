//! `pg_sequence`: parameters of sequences.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 2224,
    name: "pg_catalog.pg_sequence",
    columns: "seqrelid oid=0, seqtypid oid=0, seqstart int8=0, seqincrement int8=0, seqmax int8=0, seqmin int8=0, \
              seqcache int8=0, seqcycle bool=f",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 1] = [RelationKey::Oid("seqrelid")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in &rows.user_relations(context, &KEYS) {
        let Some(sequence) = &table.sequence else { continue };
        rows.add([
            ("seqrelid", value::oid(table.oid)),
            ("seqtypid", value::oid(sequence.ty.oid())),
            ("seqstart", Datum::from(sequence.start)),
            ("seqincrement", Datum::from(sequence.increment)),
            ("seqmax", Datum::from(sequence.max)),
            ("seqmin", Datum::from(sequence.min)),
            ("seqcache", Datum::from(sequence.cache)),
            ("seqcycle", Datum::from(sequence.cycle)),
        ])?;
    }
    Ok(())
}
