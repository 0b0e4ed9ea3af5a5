//! [`TableStatistics`]: what ANALYZE found out about a table's rows, as it is stored. Hints: no answer depends on them.

use super::ColumnId;
use serde::{Deserialize, Serialize};
use types::SqlType;

/// What is known of a table's rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableStatistics {
    /// No other statistics have this number.
    pub number: u64,
    /// Rows, about.
    pub rows: f64,
    /// When they were gathered, in µs since 1970.
    pub gathered: i64,
    /// Whether the server did it by itself.
    #[serde(default)]
    pub automatic: bool,
    /// Of the columns whose values can be put in order.
    pub columns: Vec<ColumnStatistics>,
}

impl PartialEq for TableStatistics {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

/// What is known of a column's values (`pg_stats`, manual chapter 54.27).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// The column.
    pub column: ColumnId,
    /// Its type then: of another one nothing is known.
    pub ty: SqlType,
    /// Share of rows that have NULL, 0 to 1.
    pub null_fraction: f64,
    /// Bytes of a value that is not NULL, on average.
    pub width: f64,
    /// How many different values there are; below zero: so many times as many as rows.
    pub distinct: f64,
    /// The most common values and the share of rows that have each, most common first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub common: Vec<(StoredValue, f64)>,
    /// Values that cut all others, in order, into parts of as many rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<StoredValue>,
}

/// A value of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredValue {
    /// As it lies in an ascending key: the order of these bytes is the values'.
    #[serde(with = "in_base64")]
    pub key: Vec<u8>,
    /// As a person reads it.
    pub text: String,
}

impl TableStatistics {
    /// What is known of a column that has this type.
    pub fn column(&self, id: ColumnId, ty: SqlType) -> Option<&ColumnStatistics> {
        self.columns.iter().find(|column| column.column == id && column.ty == ty)
    }
}

impl ColumnStatistics {
    /// How many different values there are among so many rows; at least one.
    pub fn distinct_among(&self, rows: f64) -> f64 {
        let distinct = if self.distinct < 0.0 { -self.distinct * rows } else { self.distinct };
        distinct.max(1.0)
    }
}

mod in_base64 {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD_NO_PAD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD_NO_PAD.decode(text).map_err(serde::de::Error::custom)
    }
}
