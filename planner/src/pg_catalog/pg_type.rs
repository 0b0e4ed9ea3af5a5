//! `pg_type`: PostgreSQL's rows of supported types, user-defined enums, and the row types of relations.

use super::asked::RelationKey;
use super::builtin::{Row, TYPES};
use super::definition::{Definition, Fill, Rows, value};
use super::present;
use crate::catalog::RelationKind;
use crate::error::Result;
use crate::execution::StatementContext;
use crate::types::record::row_type_oids;
use crate::types::{BaseType, Datum, Oid, SqlType};
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(super) const VIEW: Definition = Definition {
    oid: 1247,
    name: "pg_catalog.pg_type",
    columns: "oid oid=0, typname name=, typnamespace oid=0, typowner oid=0, typlen int2=0, typbyval bool=f, typtype \
              char=, typcategory char=, typispreferred bool=f, typisdefined bool=f, typdelim char=, typrelid oid=0, \
              typsubscript regproc=0, typelem oid=0, typarray oid=0, typinput regproc=0, typoutput regproc=0, \
              typreceive regproc=0, typsend regproc=0, typmodin regproc=0, typmodout regproc=0, typanalyze regproc=0, \
              typalign char=, typstorage char=, typnotnull bool=f, typbasetype oid=0, typtypmod int4=0, typndims \
              int4=0, typcollation oid=0, typdefaultbin text, typdefault text, typacl text[]",
    fill: Fill::Partly(rows, fixed),
};

/// The facts in PostgreSQL's catalog about a type, beyond [`SqlType`].
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeFacts {
    /// The type's name, `typname`.
    pub name: &'static str,
    /// Whether values are passed by value, `typbyval`.
    pub by_value: bool,
    /// The alignment of values, `typalign`.
    pub align: &'static str,
    /// The storage strategy of values, `typstorage`.
    pub storage: &'static str,
    /// The OID of the default collation, `typcollation`.
    pub collation: Oid,
}

static TABLE: LazyLock<BTreeMap<Oid, TypeFacts>> = LazyLock::new(|| TYPES.rows.iter().filter_map(facts_of).collect());

fn facts_of(row: &Row) -> Option<(Oid, TypeFacts)> {
    let facts = TypeFacts {
        name: row.field(1)?,
        by_value: row.field(3)? == "t",
        align: row.field(18)?,
        storage: row.field(19)?,
        collation: row.oid(20),
    };
    Some((row.oid(0), facts))
}

/// The facts about a type.
pub(super) fn type_facts(ty: &SqlType) -> TypeFacts {
    if let (BaseType::Enum(_), false) = (ty.base, ty.array) {
        // PostgreSQL stores an enum's value as a number.
        return TypeFacts { name: "enum", by_value: true, storage: "p", ..UNKNOWN };
    }
    TABLE.get(&ty.oid()).copied().unwrap_or(UNKNOWN)
}

const UNKNOWN: TypeFacts = TypeFacts { name: "unknown", by_value: false, align: "i", storage: "x", collation: 0 };

/// Adds the rows of user-defined enums and their array types.
fn enum_rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for ty in context.catalog.enums() {
        for array in [false, true] {
            let [input, output, receive, send] = if array { [750, 751, 2400, 2401] } else { [3506, 3507, 3532, 3533] };
            rows.add([
                ("oid", value::oid(if array { ty.array_oid } else { ty.oid })),
                ("typname", value::text(if array { format!("_{}", ty.name) } else { ty.name.clone() })),
                ("typnamespace", value::oid(ty.schema_oid)),
                ("typowner", value::oid(ty.owner)),
                ("typlen", Datum::from(if array { -1_i16 } else { 4 })),
                ("typbyval", Datum::from(!array)),
                ("typtype", value::text(if array { "b" } else { "e" })),
                ("typcategory", value::text(if array { "A" } else { "E" })),
                ("typispreferred", Datum::from(false)),
                ("typisdefined", Datum::from(true)),
                ("typdelim", value::text(",")),
                ("typsubscript", value::oid(if array { 6179 } else { 0 })),
                ("typelem", value::oid(if array { ty.oid } else { 0 })),
                ("typarray", value::oid(if array { 0 } else { ty.array_oid })),
                ("typinput", value::oid(input)),
                ("typoutput", value::oid(output)),
                ("typreceive", value::oid(receive)),
                ("typsend", value::oid(send)),
                ("typalign", value::text("i")),
                ("typstorage", value::text(if array { "x" } else { "p" })),
                ("typtypmod", Datum::from(-1)),
                ("typcollation", value::oid(0)),
                ("typacl", super::privileges::shown(&context.catalog, ty.acl.as_ref().filter(|_| !array))),
            ])?;
        }
    }
    Ok(())
}

/// Adds the row types of relations and their array types.
fn row_type_rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let keys = [
        RelationKey::RowType("oid"),
        RelationKey::RowType("typelem"),
        RelationKey::RowType("typarray"),
        RelationKey::Oid("typrelid"),
        RelationKey::RowTypeName("typname"),
        RelationKey::Schema("typnamespace"),
    ];
    let relations = rows.relations(context, &keys);
    for relation in relations.iter().filter(|relation| relation.kind != RelationKind::Sequence) {
        let (oid, array_oid) = row_type_oids(relation.oid);
        for array in [false, true] {
            let [input, output, receive, send] = if array { [750, 751, 2400, 2401] } else { [2290, 2291, 2402, 2403] };
            rows.add([
                ("oid", value::oid(if array { array_oid } else { oid })),
                ("typname", value::text(if array { format!("_{}", relation.name) } else { relation.name.clone() })),
                ("typnamespace", value::oid(relation.schema_oid)),
                ("typowner", value::oid(relation.owner)),
                ("typlen", Datum::from(-1_i16)),
                ("typtype", value::text(if array { "b" } else { "c" })),
                ("typcategory", value::text(if array { "A" } else { "C" })),
                ("typisdefined", Datum::from(true)),
                ("typdelim", value::text(",")),
                ("typrelid", value::oid(if array { 0 } else { relation.oid })),
                ("typsubscript", value::oid(if array { 6179 } else { 0 })),
                ("typelem", value::oid(if array { oid } else { 0 })),
                ("typarray", value::oid(if array { 0 } else { array_oid })),
                ("typinput", value::oid(input)),
                ("typoutput", value::oid(output)),
                ("typreceive", value::oid(receive)),
                ("typsend", value::oid(send)),
                ("typalign", value::text("d")),
                ("typstorage", value::text("x")),
                ("typtypmod", Datum::from(-1)),
            ])?;
        }
    }
    Ok(())
}

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    enum_rows(context, rows)?;
    row_type_rows(context, rows)
}

fn fixed(rows: &mut Rows) -> Result<()> {
    let beside = [("typnamespace", "11"), ("typowner", "10"), ("typisdefined", "t"), ("typtypmod", "-1")];
    for row in present::types() {
        rows.add_fact(&TYPES, row, &beside)?;
    }
    Ok(())
}
