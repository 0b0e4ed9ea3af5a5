//! `pg_index`: indexes.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::object_names::collation_oid;
use super::pg_type::type_facts;
use super::present::operator_class;
use catalog::{IndexColumn, IndexState, ReplicaIdentity};
use executor::StatementContext;
use sql_error::Result;
use types::{Datum, Oid, SqlType};

pub(super) const VIEW: Definition = Definition {
    oid: 2610,
    name: "pg_catalog.pg_index",
    columns: "indexrelid oid=0, indrelid oid=0, indnatts int2=0, indnkeyatts int2=0, indisunique bool=f, \
              indnullsnotdistinct bool=f, indisprimary bool=f, indisexclusion bool=f, indimmediate bool=f, \
              indisclustered bool=f, indisvalid bool=f, indcheckxmin bool=f, indisready bool=f, indislive bool=f, \
              indisreplident bool=f, indkey int2vector, indcollation oidvector, indclass oidvector, indoption int2vector, indexprs \
              text, indpred text",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Oid("indexrelid"), RelationKey::Oid("indrelid")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in &rows.user_relations(context, &KEYS) {
        for index in &table.indexes {
            let keys = index.columns.iter().map(|key| key.column).chain(index.include.iter().copied());
            let types: Vec<_> = index
                .parts()
                .filter_map(|(key, expression)| match expression {
                    Some(expression) => Some(expression.ty),
                    None => table.column(key.column).map(|column| column.ty),
                })
                .collect();
            let given = |value: Oid, own: Oid| if value == 0 { own } else { value };
            let collation = |key: &IndexColumn, ty: &SqlType| {
                let column = table.column(key.column).and_then(|column| column.collation.as_deref());
                given(key.collation, column.map_or_else(|| type_facts(ty).collation, collation_oid))
            };
            let collations = index.columns.iter().zip(&types).map(|(key, ty)| collation(key, ty));
            let classes = index.columns.iter().zip(&types).map(|(key, ty)| given(key.class, operator_class(ty)));
            let texts: Vec<&str> = index.expressions.iter().map(|expression| expression.text.as_str()).collect();
            let expressions = (!texts.is_empty()).then(|| texts.join(", "));
            let options = index.columns.iter().map(|key| i16::from(key.descending) | (i16::from(key.nulls_first) << 1));
            let valid = index.state == IndexState::Public;
            rows.add([
                ("indexrelid", value::oid(index.oid)),
                ("indrelid", value::oid(table.oid)),
                ("indnatts", value::count(index.columns.len() + index.include.len())),
                ("indnkeyatts", value::count(index.columns.len())),
                ("indisunique", Datum::from(index.is_declared_unique())),
                ("indnullsnotdistinct", Datum::from(index.nulls_not_distinct)),
                ("indexprs", value::optional(expressions.as_deref())),
                ("indpred", value::optional(index.predicate.as_deref())),
                ("indisprimary", Datum::from(index.is_declared_primary())),
                ("indimmediate", Datum::from(index.deferral.is_none())),
                ("indisvalid", Datum::from(valid)),
                ("indisreplident", Datum::from(table.replica_identity == ReplicaIdentity::Index(index.oid))),
                ("indisready", Datum::from(index.state.is_maintained())),
                ("indislive", Datum::from(true)),
                ("indkey", value::int2_vector(keys)),
                ("indcollation", value::oid_vector(collations)),
                ("indclass", value::oid_vector(classes)),
                ("indoption", value::int2_vector(options)),
            ])?;
        }
    }
    Ok(())
}
