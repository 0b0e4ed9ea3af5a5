//! [`struct@Copy`]: a COPY statement with its options.

use super::source::Source;
use super::statement::Statement;
use grammar::tree as ast;
use std::sync::Arc;
use types::encoding::Encoding;

/// A parsed COPY statement.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The table or query to copy.
    pub target: CopyTarget,
    /// FROM STDIN (true) or TO STDOUT (false).
    pub from: bool,
    /// The options, with defaults filled in.
    pub options: CopyOptions,
    /// The WHERE clause of COPY FROM.
    pub condition: Option<CopyCondition>,
}

/// The WHERE clause of COPY FROM, which selects the rows to insert.
#[derive(Clone, Debug)]
pub struct CopyCondition {
    /// The condition as an expression.
    pub expr: ast::Expr,
    /// The text that contains the condition.
    pub source: Arc<Source>,
}

/// The table or query of a COPY.
#[derive(Clone, Debug)]
pub enum CopyTarget {
    /// A table with the columns to copy.
    Table {
        /// The name of the table.
        name: ast::Name,
        /// The folded names of the columns. Empty means all.
        columns: Vec<String>,
    },
    /// A query, for COPY TO.
    Query(Box<Statement>),
}

/// The value of the option FORMAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CopyFormat {
    Text,
    Csv,
    Binary,
}

/// The value of the option HEADER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CopyHeader {
    No,
    Yes,
    /// MATCH: the names in the header must be those of the columns.
    Match,
}

/// The columns named by an option of csv.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyColumns {
    /// `*`, that is all columns.
    All,
    /// The columns with these folded names.
    Some(Vec<String>),
}

/// The options of a COPY, with defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyOptions {
    /// The value of FORMAT.
    pub format: CopyFormat,
    /// Whether FREEZE is on. It has no effect here.
    pub freeze: bool,
    /// The value of DELIMITER, one byte.
    pub delimiter: u8,
    /// The value of NULL: the text that stands for NULL.
    pub null: String,
    /// The value of HEADER.
    pub header: CopyHeader,
    /// The value of QUOTE, one byte.
    pub quote: u8,
    /// The value of ESCAPE, one byte.
    pub escape: u8,
    /// The columns in FORCE_QUOTE.
    pub force_quote: CopyColumns,
    /// The columns in FORCE_NOT_NULL.
    pub force_not_null: CopyColumns,
    /// The columns in FORCE_NULL.
    pub force_null: CopyColumns,
    /// The value of ENCODING. `None` means the client's encoding.
    pub encoding: Option<Encoding>,
}
