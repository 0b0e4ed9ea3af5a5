//! Properties of indexes and of their only access method, last values of sequences, and names of types.

use super::super::pg_am::BTREE;
use super::{Arguments, function, null, some_bool, some_oid, some_text, type_name};
use catalog::ReplicaIdentity;
use catalog::acl::{Kind, SELECT, USAGE};
use catalog::sequences::sequence_table;
use executor::StatementContext;
use functions::{ScalarFunction, wait};
use sql_error::{Result, SqlError, state};
use types::array::ArrayValue;
use types::{Datum, Oid, SqlType};

/// Every function of this file.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, oid, int4, boolean) = (SqlType::TEXT, SqlType::OID, SqlType::INT4, SqlType::BOOL);
    vec![
        function("pg_indexam_has_property", &[oid, text], boolean, |_, arguments| {
            let known = ["can_order", "can_unique", "can_multi_col", "can_exclude", "can_include"];
            let property = property(arguments, 1);
            if arguments.oid(0) == Some(BTREE) && known.contains(&property.as_str()) {
                some_bool(true)
            } else {
                Ok(None)
            }
        }),
        function("pg_index_has_property", &[SqlType::REGCLASS, text], boolean, |context, arguments| {
            let known = ["clusterable", "index_scan", "bitmap_scan", "backward_scan"];
            let index = context.catalog.index(arguments.oid(0).unwrap_or(0));
            let property = property(arguments, 1);
            if index.is_some() && known.contains(&property.as_str()) { some_bool(true) } else { Ok(None) }
        }),
        function("pg_index_column_has_property", &[SqlType::REGCLASS, int4, text], boolean, |context, arguments| {
            let (index, place) = (arguments.oid(0).unwrap_or(0), arguments.integer(1).unwrap_or(0));
            Ok(of_column(context, index, place, &property(arguments, 2)).map(|holds| Datum::Boolean(Some(holds))))
        }),
        function("pg_sequence_last_value", &[SqlType::REGCLASS], SqlType::INT8, last_value),
        function("pg_get_replica_identity_index", &[SqlType::REGCLASS], SqlType::REGCLASS, identifying_index),
        // Collations have no versions here.
        null("pg_collation_actual_version", &[oid], text),
        function("oidvectortypes", &[SqlType::OIDVECTOR], text, |context, arguments| {
            let Some(array) = arguments.0.first().map(ArrayValue::of).transpose()?.flatten() else { return Ok(None) };
            let mut names = Vec::with_capacity(array.len());
            for at in 0..array.len() {
                if let Datum::Int64(Some(ty)) = Datum::try_from_array(array.elements(), at)? {
                    names.push(type_name(context, Oid::try_from(ty).unwrap_or(0)));
                }
            }
            some_text(names.join(", "))
        }),
    ]
}

/// The name of a property, in lower case.
fn property(arguments: &Arguments, at: usize) -> String {
    arguments.text(at).unwrap_or_default().to_ascii_lowercase()
}

/// Whether a column of an index has a property. `None` if the property does not apply.
fn of_column(context: &StatementContext, index: Oid, place: i64, property: &str) -> Option<bool> {
    let (table, position) = context.catalog.index(index)?;
    let index = table.indexes.get(position)?;
    let place = usize::try_from(place).ok()?.checked_sub(1)?;
    let Some(key) = index.columns.get(place) else {
        // An included column can be read, and has no other property.
        let included = place < index.columns.len() + index.include.len();
        return match property {
            "orderable" | "distance_orderable" if included => Some(false),
            "returnable" if included => Some(true),
            _ => None,
        };
    };
    Some(match property {
        "asc" => !key.descending,
        "desc" => key.descending,
        "nulls_first" => key.nulls_first,
        "nulls_last" => !key.nulls_first,
        "orderable" | "returnable" | "search_array" | "search_nulls" => true,
        "distance_orderable" => false,
        _ => return None,
    })
}

/// The index that identifies a table's rows for replication. Errors: 42P01.
fn identifying_index(context: &StatementContext, arguments: &Arguments) -> Result<Option<Datum>> {
    let oid = arguments.oid(0).unwrap_or(0);
    let Some(table) = context.catalog.relation_by_oid(oid) else {
        return Err(SqlError::new(state::UNDEFINED_TABLE, format!("could not open relation with OID {oid}")));
    };
    let index = match table.replica_identity {
        ReplicaIdentity::Default => table.declared_primary_key().map(|index| index.oid),
        ReplicaIdentity::Index(oid) => Some(oid).filter(|oid| context.catalog.index(*oid).is_some()),
        ReplicaIdentity::Full | ReplicaIdentity::Nothing => None,
    };
    index.map_or(Ok(None), some_oid)
}

/// The last value of a sequence, as `pg_sequences` shows it. Errors: 42809, 42P01.
fn last_value(context: &StatementContext, arguments: &Arguments) -> Result<Option<Datum>> {
    let found = sequence_table(context, arguments.oid(0).unwrap_or(0))?;
    let (kind, rights) = (Kind::Sequence, SELECT | USAGE);
    if context.catalog.rights(context.role(), kind, found.owner, found.acl.as_ref(), rights) == 0 {
        let message = format!("permission denied for sequence {}", found.name);
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
    }
    let stored = wait(context.catalog.sequences()?.stored(&context.transaction, &found))?;
    Ok(Some(Datum::Int64(stored.is_called.then_some(stored.last_value))))
}
