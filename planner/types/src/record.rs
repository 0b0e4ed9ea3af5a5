//! Rows as values: records.
//!
//! A value is bytes: the sort key of all fields ([`crate::packed::KeyEncoder`]), the fields as rows store them, then
//! the key's length. So byte order is the order of records, and equal records have equal keys, as with numeric. The
//! type has the names and types of the fields; the value has not. A type must be small and `Copy`. So each distinct
//! list of fields is kept for the life of the process.

use super::{Oid, SqlType};
use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

/// The relation whose row type a record is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowOf {
    /// OID of the relation in pg_class.
    pub relation: Oid,
    /// Name of the relation's schema.
    pub schema: String,
    /// Name of the relation, which is also the type's.
    pub name: String,
}

impl RowOf {
    /// OID of the row type in pg_type.
    pub fn oid(&self) -> Oid {
        row_type_oids(self.relation).0
    }
}

/// Bits that are set in a relation's OID to give the OIDs of its row type and of the array type. Objects of users are
/// numbered from 16384, system objects lie below, and our own functions lie above these bits.
const ROWS_FROM: Oid = 0x2000_0000;
const ARRAYS_FROM: Oid = 0x4000_0000;

/// OIDs in pg_type of a relation's row type, and of its array type.
pub fn row_type_oids(relation: Oid) -> (Oid, Oid) {
    (relation | ROWS_FROM, relation | ARRAYS_FROM)
}

/// The relation whose row type (`false`) or array type (`true`) has this OID.
pub fn relation_of_type(oid: Oid) -> Option<(Oid, bool)> {
    match oid & !(ROWS_FROM - 1) {
        ROWS_FROM => Some((oid ^ ROWS_FROM, false)),
        ARRAYS_FROM => Some((oid ^ ARRAYS_FROM, true)),
        _ => None,
    }
}

/// The definition of a record type: its fields and origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordFields {
    /// Names and types of the fields, in order.
    pub fields: Vec<(String, SqlType)>,
    /// Whether the type is the pseudo-type `record`, which takes any fields.
    pub any: bool,
    /// The relation, if the record is its row type.
    pub row_of: Option<RowOf>,
}

static SEEN: LazyLock<Mutex<HashSet<&'static RecordFields>>> = LazyLock::new(Mutex::default);

/// A reference to the definition of a record type.
#[derive(Clone, Copy)]
pub struct RecordType(&'static RecordFields);

impl RecordType {
    /// The type of records of these fields.
    pub fn new(fields: Vec<(String, SqlType)>) -> Self {
        Self::known(RecordFields { fields, any: false, row_of: None })
    }
    /// The row type of a relation.
    pub fn of_relation(row_of: RowOf, fields: Vec<(String, SqlType)>) -> Self {
        Self::known(RecordFields { fields, any: false, row_of: Some(row_of) })
    }
    /// The pseudo-type `record`, without known fields.
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
    /// Names and types of the fields, in order.
    pub fn fields(self) -> &'static [(String, SqlType)] {
        &self.0.fields
    }
    /// Types of the fields, in order.
    pub fn types(self) -> impl Iterator<Item = SqlType> {
        self.0.fields.iter().map(|(_, ty)| *ty)
    }
    /// Whether this is the pseudo-type `record`.
    pub fn is_any(self) -> bool {
        self.0.any
    }
    /// The relation whose row type this is.
    pub fn row_of(self) -> Option<&'static RowOf> {
        self.0.row_of.as_ref()
    }
    /// Position and type of the first field with this name.
    pub fn field(self, name: &str) -> Option<(usize, SqlType)> {
        let found = self.0.fields.iter().position(|(known, _)| known == name)?;
        self.0.fields.get(found).map(|(_, ty)| (found, *ty))
    }
    /// Whether both types encode values to the same bytes: their fields have the same types.
    pub fn same_fields(self, other: RecordType) -> bool {
        let same = |(left, right): (SqlType, SqlType)| {
            left.array == right.array
                && match (left.base, right.base) {
                    (super::BaseType::Record(left), super::BaseType::Record(right)) => left.same_fields(right),
                    // A literal of unknown type is stored as text.
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
