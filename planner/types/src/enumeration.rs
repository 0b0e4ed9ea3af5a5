//! Enums: types whose values are labels, ordered as they were declared.
//!
//! A value is an Int64, the position of its label. Positions grow in the order of labels and never change. So stored
//! values stay valid while labels are added or renamed. A type must be small and `Copy`. So each distinct definition is
//! kept for the life of the process.

use crate::Oid;
use crate::keyword::quote;
use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sql_error::{Result, SqlError, state};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

/// Distance between the positions of consecutively declared labels.
const GAP: i64 = 1 << 32;

/// A label of an enum.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EnumLabel {
    /// OID of the label in pg_enum.
    pub oid: Oid,
    /// The value that stands for the label in rows.
    pub place: i64,
    /// Name of the label.
    pub name: String,
    /// `start_ts` of the transaction that added the label. `None` if it was declared by CREATE TYPE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_by: Option<u64>,
    /// The current transaction added the label. It may be rolled back, so no row may store it yet.
    #[serde(skip)]
    pub uncommitted: bool,
}

impl EnumLabel {
    /// A label that CREATE TYPE declares.
    pub fn new(oid: Oid, place: i64, name: String) -> Self {
        EnumLabel { oid, place, name, added_by: None, uncommitted: false }
    }

    /// The label's `enumsortorder` in pg_enum: from 1, with fractions for labels that were added between others.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    pub fn sort_order(&self) -> f32 {
        (self.place as f64 / GAP as f64 + 1.0) as f32
    }
}

/// An enum's descriptor in the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EnumDescriptor {
    /// OID of the type in pg_type.
    pub oid: Oid,
    /// OID of its array type in pg_type.
    pub array_oid: Oid,
    /// OID of the schema that contains it.
    pub schema_oid: Oid,
    /// Name of the schema that contains it.
    pub schema: String,
    /// Name of the type within its schema.
    pub name: String,
    /// OID of the role that owns it.
    pub owner: Oid,
    /// Labels, sorted by position.
    pub labels: Vec<EnumLabel>,
    /// The text of COMMENT ON. It is empty once the comment was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Privileges on the type. `None` before the first GRANT or REVOKE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<crate::acl::Acl>,
}

impl EnumDescriptor {
    /// The position of a new label at index `at`. Errors: 54000 if there is no room between its neighbours.
    pub fn new_place(&self, at: usize) -> Result<i64> {
        let place = |at: usize| self.labels.get(at).map(|label| label.place);
        let before = at.checked_sub(1).and_then(place);
        let full =
            || SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, format!("no room for another label in \"{}\"", self.name));
        match (before, place(at)) {
            (None, None) => Ok(0),
            (Some(last), None) => last.checked_add(GAP).ok_or_else(full),
            (None, Some(first)) => first.checked_sub(GAP).ok_or_else(full),
            (Some(before), Some(after)) => {
                let between = before + (after - before) / 2;
                if between > before { Ok(between) } else { Err(full()) }
            }
        }
    }
}

static SEEN: LazyLock<Mutex<HashSet<&'static EnumDescriptor>>> = LazyLock::new(Mutex::default);

/// A reference to an enum's definition. Two are equal if their OIDs are, whatever their labels.
#[derive(Clone, Copy)]
pub struct EnumType(&'static EnumDescriptor);

impl EnumType {
    /// The type for a definition, which is kept for the life of the process.
    pub fn new(descriptor: &EnumDescriptor) -> Self {
        let mut seen = SEEN.lock();
        if let Some(known) = seen.get(descriptor) {
            return EnumType(known);
        }
        let kept: &'static EnumDescriptor = Box::leak(Box::new(descriptor.clone()));
        seen.insert(kept);
        EnumType(kept)
    }
    /// The enum's definition, with its labels.
    pub fn descriptor(self) -> &'static EnumDescriptor {
        self.0
    }
    /// The value of a label. Errors: 22P02.
    pub fn value(self, label: &str) -> Result<i64> {
        let found = self.0.labels.iter().find(|known| known.name == label).ok_or_else(|| {
            let message = format!("invalid input value for enum {}: \"{label}\"", quote(&self.0.name));
            SqlError::new(state::INVALID_TEXT_REPRESENTATION, message)
        })?;
        self.usable(found)
    }
    /// The value of a label. Errors: 55P04 if the current transaction added the label.
    pub fn usable(self, label: &EnumLabel) -> Result<i64> {
        if !label.uncommitted {
            return Ok(label.place);
        }
        let message = format!("unsafe use of new value \"{}\" of enum type {}", label.name, quote(&self.0.name));
        Err(SqlError::new("55P04", message).hint("New enum values must be committed before they can be used."))
    }
    /// The label of a value. Errors: XX001 if no label has this value.
    pub fn label(self, value: i64) -> Result<&'static str> {
        let at = self.0.labels.binary_search_by_key(&value, |label| label.place).ok();
        at.and_then(|at| self.0.labels.get(at)).map(|label| label.name.as_str()).ok_or_else(|| {
            SqlError::new(state::DATA_CORRUPTED, format!("invalid internal value for enum {}: {value}", self.0.name))
        })
    }
}

impl fmt::Debug for EnumType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.name)
    }
}
impl PartialEq for EnumType {
    fn eq(&self, other: &Self) -> bool {
        self.0.oid == other.0.oid
    }
}
impl Eq for EnumType {}
impl Hash for EnumType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.oid.hash(state);
    }
}
impl PartialOrd for EnumType {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for EnumType {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.oid.cmp(&other.0.oid)
    }
}
impl Serialize for EnumType {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.0.oid)
    }
}
/// Only the OID is serialized. The reader replaces it by the definition.
impl<'de> Deserialize<'de> for EnumType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let oid = Oid::deserialize(deserializer)?;
        Ok(EnumType::new(&EnumDescriptor {
            oid,
            array_oid: 0,
            schema_oid: 0,
            schema: String::new(),
            name: format!("type {oid}"),
            owner: 0,
            labels: Vec::new(),
            comment: None,
            acl: None,
        }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_places() {
        let mut mood = EnumDescriptor {
            oid: 1,
            array_oid: 2,
            schema_oid: 3,
            schema: "public".into(),
            name: "mood".into(),
            owner: 10,
            labels: Vec::new(),
            comment: None,
            acl: None,
        };
        for (at, name) in [(0, "sad"), (1, "happy"), (1, "ok"), (0, "awful")] {
            let place = mood.new_place(at).unwrap();
            mood.labels.insert(at, EnumLabel::new(0, place, name.into()));
        }
        let ty = EnumType::new(&mood);
        let values: Vec<i64> = ["awful", "sad", "ok", "happy"].iter().map(|label| ty.value(label).unwrap()).collect();
        assert!(values.is_sorted());
        assert_eq!(ty.label(values[2]).unwrap(), "ok");
        assert_eq!(ty.value("none").unwrap_err().state(), state::INVALID_TEXT_REPRESENTATION);
        assert_eq!(ty.label(7).unwrap_err().state(), state::DATA_CORRUPTED);
        while let Ok(place) = mood.new_place(1) {
            mood.labels.insert(1, EnumLabel::new(0, place, "x".into()));
        }
        assert!(mood.labels.windows(2).all(|pair| pair[0].place < pair[1].place));
    }
}
