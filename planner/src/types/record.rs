//! Rows as values: records.
//!
//! A value stands as bytes: the key of all fields ([`crate::encoding::KeyEncoder`]), then the fields as rows keep them, then the
//! key's length. So byte order is the order of records, and equal records are equal keys, as with numeric. The fields' names
//! and types are of the type, not of the value. Types are small numbers that are copied everywhere, so the definition behind
//! one lives as long as the process: one for each different list of fields that was ever seen.

use super::SqlType;
use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

/// The fields of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordFields {
    /// Names and types, in order.
    pub fields: Vec<(String, SqlType)>,
    /// Whether any record is meant: `record` as the name of a type.
    pub any: bool,
}

static SEEN: LazyLock<Mutex<HashSet<&'static RecordFields>>> = LazyLock::new(Mutex::default);

/// A record as a type refers to it.
#[derive(Clone, Copy)]
pub struct RecordType(&'static RecordFields);

impl RecordType {
    /// The type of records of these fields.
    pub fn new(fields: Vec<(String, SqlType)>) -> Self {
        Self::known(RecordFields { fields, any: false })
    }
    /// Any record.
    pub fn any() -> Self {
        Self::known(RecordFields { fields: Vec::new(), any: true })
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
