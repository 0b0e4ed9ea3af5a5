//! Rows as values: records.
//!
//! A value stands as bytes: the key of all fields ([`crate::packed::KeyEncoder`]), then the fields as rows keep them, then the
//! key's length. So byte order is the order of records, and equal records are equal keys, as with numeric. The fields' names
//! and types are of the type, not of the value. Types are small numbers that are copied everywhere, so the definition behind
//! one lives as long as the process: one for each different list of fields that was ever seen.

use super::{Oid, SqlType};
use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

/// The relation whose rows are of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowOf {
    /// OID of the relation, in pg_class.
    pub relation: Oid,
    /// Name of its schema.
    pub schema: String,
    /// Its name, which is the type's.
    pub name: String,
}

impl RowOf {
    /// OID in pg_type.
    pub fn oid(&self) -> Oid {
        row_type_oids(self.relation).0
    }
}

/// Between a relation's OID and that of the type of its rows, and of their arrays. What users make is numbered from
/// 16384, what the system has lies below, and functions of ours above both.
const ROWS_FROM: Oid = 0x2000_0000;
const ARRAYS_FROM: Oid = 0x4000_0000;

/// OIDs in pg_type of the type of a relation's rows, and of the type of their arrays.
pub fn row_type_oids(relation: Oid) -> (Oid, Oid) {
    (relation | ROWS_FROM, relation | ARRAYS_FROM)
}

/// The relation whose rows' type, or arrays' type (`true`), has this OID.
pub fn relation_of_type(oid: Oid) -> Option<(Oid, bool)> {
    match oid & !(ROWS_FROM - 1) {
        ROWS_FROM => Some((oid ^ ROWS_FROM, false)),
        ARRAYS_FROM => Some((oid ^ ARRAYS_FROM, true)),
        _ => None,
    }
}

/// The fields of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordFields {
    /// Names and types, in order.
    pub fields: Vec<(String, SqlType)>,
    /// Whether any record is meant: `record` as the name of a type.
    pub any: bool,
    /// Of rows of a relation: which.
    pub row_of: Option<RowOf>,
}

static SEEN: LazyLock<Mutex<HashSet<&'static RecordFields>>> = LazyLock::new(Mutex::default);

/// A record as a type refers to it.
#[derive(Clone, Copy)]
pub struct RecordType(&'static RecordFields);

impl RecordType {
    /// The type of records of these fields.
    pub fn new(fields: Vec<(String, SqlType)>) -> Self {
        Self::known(RecordFields { fields, any: false, row_of: None })
    }
    /// The type of a relation's rows.
    pub fn of_relation(row_of: RowOf, fields: Vec<(String, SqlType)>) -> Self {
        Self::known(RecordFields { fields, any: false, row_of: Some(row_of) })
    }
    /// Any record.
    pub fn any() -> Self {
        Self::known(RecordFields { fields: Vec::new(), any: true, row_of: None })
    }
    fn known(fields: RecordFields) -> Self {
        let mut seen = SEEN.lock();
        if let Some(known) = seen.get(&fields) {
            return RecordType(known);
        }
        let kept: &'static RecordFields = Box::leak(Box::new(fields));
        seen.insert(kept);
        RecordType(kept)
    }
    /// Names and types, in order.
    pub fn fields(self) -> &'static [(String, SqlType)] {
        &self.0.fields
    }
    /// The types, in order.
    pub fn types(self) -> impl Iterator<Item = SqlType> {
        self.0.fields.iter().map(|(_, ty)| *ty)
    }
    /// Whether any record is meant.
    pub fn is_any(self) -> bool {
        self.0.any
    }
    /// The relation whose rows these are.
    pub fn row_of(self) -> Option<&'static RowOf> {
        self.0.row_of.as_ref()
    }
    /// The place and type of the first field of this name.
    pub fn field(self, name: &str) -> Option<(usize, SqlType)> {
        let found = self.0.fields.iter().position(|(known, _)| known == name)?;
        self.0.fields.get(found).map(|(_, ty)| (found, *ty))
    }
    /// Whether values of both have the same bytes: their fields are of the same types.
    pub fn same_fields(self, other: RecordType) -> bool {
        let same = |(left, right): (SqlType, SqlType)| {
            left.array == right.array
                && match (left.base, right.base) {
                    (super::BaseType::Record(left), super::BaseType::Record(right)) => left.same_fields(right),
                    // A bare string stands as text.
                    (super::BaseType::Unknown, super::BaseType::Text | super::BaseType::Varchar)
                    | (super::BaseType::Text | super::BaseType::Varchar, super::BaseType::Unknown) => true,
                    (left, right) => left == right,
                }
        };
        self.0.fields.len() == other.0.fields.len() && self.types().zip(other.types()).all(same)
    }
}

impl fmt::Debug for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record{:?}", self.0.fields)
    }
}
impl PartialEq for RecordType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for RecordType {}
impl Hash for RecordType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}
impl PartialOrd for RecordType {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for RecordType {
    fn cmp(&self, other: &Self) -> Ordering {
        std::ptr::from_ref(self.0).cmp(&std::ptr::from_ref(other.0))
    }
}
impl Serialize for RecordType {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("a pseudo-type is not stored"))
    }
}
impl<'de> Deserialize<'de> for RecordType {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom("a pseudo-type is not stored"))
    }
}
