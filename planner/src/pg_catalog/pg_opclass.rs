//! `pg_opclass`: the operator class of each type in an index.

use super::definition::{Definition, Fill, Rows, value};
use super::pg_am::BTREE;
use crate::error::Result;
use crate::execution::StatementContext;
use crate::types::{Datum, Oid, SqlType};

/// `pg_catalog.pg_opclass`.
pub(super) const VIEW: Definition = Definition {
    oid: 2616,
    name: "pg_catalog.pg_opclass",
    columns: "oid oid=0, opcmethod oid=0, opcname name=, opcnamespace oid=0, opcowner oid=0, opcfamily oid=0, \
              opcintype oid=0, opcdefault bool=f, opckeytype oid=0",
    fill: Fill::Now(rows),
};

/// OID, name, family, input type, whether it is the type's default, key type.
const CLASSES: [(Oid, &str, Oid, Oid, bool, Oid); 21] = [
    (10_003, "bool_ops", 424, 16, true, 0),
    (10_004, "bpchar_ops", 426, 1042, true, 0),
    (10_006, "bytea_ops", 428, 17, true, 0),
    (10_007, "char_ops", 429, 18, true, 0),
    (10_012, "float4_ops", 1970, 700, true, 0),
    (10_088, "jsonb_ops", 4033, 3802, true, 0),
    (10_022, "interval_ops", 1982, 1186, true, 0),
    (10_038, "time_ops", 1996, 1083, true, 0),
    (10_041, "timetz_ops", 2000, 1266, true, 0),
    (10_028, "name_ops", 1994, 19, true, 2275),
    (10_065, "uuid_ops", 2968, 2950, true, 0),
    (1978, "int4_ops", 1976, 23, true, 0),
    (1979, "int2_ops", 1976, 21, true, 0),
    (1981, "oid_ops", 1989, 26, true, 0),
    (3122, "date_ops", 434, 1082, true, 0),
    (3123, "float8_ops", 1970, 701, true, 0),
    (3124, "int8_ops", 1976, 20, true, 0),
    (3125, "numeric_ops", 1988, 1700, true, 0),
    (3126, "text_ops", 1994, 25, true, 0),
    (3127, "timestamptz_ops", 434, 1184, true, 0),
    (3128, "timestamp_ops", 434, 1114, true, 0),
];

/// The class that an index over a column of this type has; 0 when there is none.
pub(super) fn operator_class(ty: &SqlType) -> Oid {
    // varchar is compared as text.
    let oid = if ty.plain() == SqlType::VARCHAR { SqlType::TEXT.oid() } else { ty.oid() };
    CLASSES.iter().find(|class| class.3 == oid).map_or(0, |class| class.0)
}

fn rows(_context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for (oid, name, family, input, default, key) in CLASSES {
        rows.add([
            ("oid", value::oid(oid)),
            ("opcmethod", value::oid(BTREE)),
            ("opcname", value::text(name)),
            ("opcnamespace", value::oid(11)),
            ("opcowner", value::oid(10)),
            ("opcfamily", value::oid(family)),
            ("opcintype", value::oid(input)),
            ("opcdefault", Datum::from(default)),
            ("opckeytype", value::oid(key)),
        ])?;
    }
    Ok(())
}
