//! [`TableStatistics`]: the stored statistics of a table's rows, from ANALYZE. They are hints: no result depends on
//! them.

use super::ColumnId;
use serde::{Deserialize, Serialize};
use types::SqlType;

/// Statistics of a table's rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableStatistics {
    /// A number that identifies these statistics.
    pub number: u64,
    /// Approximate number of rows.
    pub rows: f64,
    /// Time of gathering, in µs since 1970.
    pub gathered: i64,
    /// Whether the server gathered them on its own.
    #[serde(default)]
    pub automatic: bool,
    /// Statistics of columns whose values have an order.
    pub columns: Vec<ColumnStatistics>,
}

impl PartialEq for TableStatistics {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

/// Statistics of a column's values (`pg_stats`, manual, 54.27).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// Id of the column.
    pub column: ColumnId,
    /// Its type at that time. The statistics do not apply to another type.
    pub ty: SqlType,
    /// Share of rows with NULL, 0 to 1.
    pub null_fraction: f64,
    /// Average bytes of a value that is not NULL.
    pub width: f64,
    /// Number of distinct values. A negative number is a multiple of the number of rows.
    pub distinct: f64,
    /// The most common values and the share of rows with each, most common first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub common: Vec<(StoredValue, f64)>,
    /// Values that divide all others, in order, into parts of equally many rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<StoredValue>,
}

/// A value of a column in statistics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredValue {
    /// The bytes of an ascending key. Their order is the order of values.
    #[serde(with = "in_base64")]
    pub key: Vec<u8>,
    /// The text form of the value.
    pub text: String,
}

impl TableStatistics {
    /// The statistics of a column with this type. `None` if there are none.
    pub fn column(&self, id: ColumnId, ty: SqlType) -> Option<&ColumnStatistics> {
        self.columns.iter().find(|column| column.column == id && column.ty == ty)
    }
}

impl ColumnStatistics {
    /// Number of distinct values among `rows` rows, at least one.
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
