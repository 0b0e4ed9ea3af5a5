//! [`OutputColumn`]: the columns of a result.

use types::{Oid, SqlType};

/// A column of a result, as RowDescription describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputColumn {
    /// The column's name. Names may repeat.
    pub name: String,
    /// The column's type with its modifier.
    pub ty: SqlType,
    /// The OID of the table that the column comes from unchanged, else 0.
    pub table_oid: Oid,
    /// The column's number in that table, else 0.
    pub attnum: i16,
}

impl OutputColumn {
    /// A column that comes from no table.
    pub fn computed(name: impl Into<String>, ty: SqlType) -> Self {
        OutputColumn { name: name.into(), ty, table_oid: 0, attnum: 0 }
    }
}
