//! Statements around a query: CREATE TABLE AS, CREATE VIEW, EXPLAIN, DECLARE; and the directions of FETCH. Knows no objects.

use super::statement::{Statement, TableClauses};
use sqlparser::ast;

/// CREATE TABLE AS, SELECT INTO.
#[derive(Clone, Debug)]
pub struct CreateTableAs {
    /// The table.
    pub name: ast::ObjectName,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Names of its first columns; the others have the query's.
    pub columns: Vec<String>,
    /// The query.
    pub query: Statement,
    /// Whether it is filled.
    pub with_data: bool,
    /// Whether it was written SELECT INTO.
    pub into: bool,
    /// TEMPORARY and the like.
    pub clauses: TableClauses,
}

/// CREATE VIEW.
#[derive(Clone, Debug)]
pub struct CreateView {
    /// OR REPLACE.
    pub or_replace: bool,
    /// Which.
    pub name: ast::ObjectName,
    /// Names of its first columns; the others have the query's.
    pub columns: Vec<String>,
    /// The query.
    pub query: Statement,
    /// TEMPORARY.
    pub temporary: bool,
    /// WITH (…): names, folded, and values; WITH CHECK OPTION is the last one, `check_option`.
    pub options: Vec<(String, Option<String>)>,
    /// RECURSIVE.
    pub recursive: bool,
}

/// The formats of EXPLAIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ExplainFormat {
    #[default]
    Text,
    Json,
    Yaml,
    Xml,
}

impl ExplainFormat {
    /// The format of a name, in lower case.
    pub fn named(name: &str) -> Option<ExplainFormat> {
        match name {
            "text" => Some(ExplainFormat::Text),
            "json" => Some(ExplainFormat::Json),
            "yaml" => Some(ExplainFormat::Yaml),
            "xml" => Some(ExplainFormat::Xml),
            _ => None,
        }
    }
}

/// EXPLAIN.
#[derive(Clone, Debug)]
pub struct Explain {
    /// Run it and say what happened.
    pub analyze: bool,
    /// Output columns of every node.
    pub verbose: bool,
    /// Estimated costs (PostgreSQL's default: true).
    pub costs: bool,
    /// Times; None: as ANALYZE says.
    pub timing: Option<bool>,
    /// Planning and execution time at the end; None: as ANALYZE says.
    pub summary: Option<bool>,
    /// FORMAT.
    pub format: ExplainFormat,
    /// What is explained.
    pub statement: Statement,
}

/// DECLARE … CURSOR.
#[derive(Clone, Debug)]
pub struct DeclareCursor {
    /// Name.
    pub name: String,
    /// BINARY.
    pub binary: bool,
    /// SCROLL (true), NO SCROLL (false), or neither.
    pub scroll: Option<bool>,
    /// WITH HOLD.
    pub hold: bool,
    /// INSENSITIVE.
    pub insensitive: bool,
    /// The query.
    pub query: Statement,
}

/// Which rows FETCH takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchDirection {
    /// So many forward; None for all. Negative: backward.
    Relative(Option<i64>),
    /// All backward.
    BackwardAll,
    /// The row so many away from here.
    RelativeRow(i64),
    /// The row of that number.
    Absolute(i64),
}
