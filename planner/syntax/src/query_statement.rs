//! Statements around a query: CREATE TABLE AS, CREATE VIEW, EXPLAIN and DECLARE, and the directions of
//! FETCH. Knows no objects.

use super::statement::Statement;
use grammar::tree as ast;

/// CREATE TABLE AS or SELECT INTO.
#[derive(Clone, Debug)]
pub struct CreateTableAs {
    /// The name of the table.
    pub name: ast::Name,
    /// Whether IF NOT EXISTS was written.
    pub if_not_exists: bool,
    /// The names of its first columns. The others take the query's names.
    pub columns: Vec<String>,
    /// The query that fills the table.
    pub query: Statement,
    /// Whether the table is filled (WITH DATA).
    pub with_data: bool,
    /// Whether it was written SELECT INTO.
    pub into: bool,
    /// TEMPORARY or UNLOGGED.
    pub persistence: ast::Persistence,
    /// The other clauses of the table.
    pub storage: ast::TableStorage,
}

/// A CREATE VIEW statement.
#[derive(Clone, Debug)]
pub struct CreateView {
    /// Whether OR REPLACE was written.
    pub or_replace: bool,
    /// The name of the view.
    pub name: ast::Name,
    /// The names of its first columns. The others take the query's names.
    pub columns: Vec<String>,
    /// The query of the view.
    pub query: Statement,
    /// Whether TEMPORARY was written.
    pub temporary: bool,
    /// WITH (…): folded names and values. WITH CHECK OPTION is the last one, `check_option`.
    pub options: Vec<(String, Option<String>)>,
    /// Whether RECURSIVE was written.
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
    /// The format of this lower-case name.
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

/// A parsed EXPLAIN statement.
#[derive(Clone, Debug)]
pub struct Explain {
    /// Whether the statement runs and EXPLAIN shows its figures.
    pub analyze: bool,
    /// Whether the output columns of every node are shown.
    pub verbose: bool,
    /// Whether estimated costs are shown (PostgreSQL's default: true).
    pub costs: bool,
    /// Whether times are shown. `None` means as ANALYZE says.
    pub timing: Option<bool>,
    /// Whether planning and execution time are shown at the end. `None` means as ANALYZE says.
    pub summary: Option<bool>,
    /// The format of the output.
    pub format: ExplainFormat,
    /// The statement to explain.
    pub statement: Statement,
}

/// A DECLARE … CURSOR statement.
#[derive(Clone, Debug)]
pub struct DeclareCursor {
    /// The name of the cursor.
    pub name: String,
    /// Whether BINARY was written.
    pub binary: bool,
    /// SCROLL (true), NO SCROLL (false), or neither.
    pub scroll: Option<bool>,
    /// Whether WITH HOLD was written.
    pub hold: bool,
    /// Whether INSENSITIVE was written.
    pub insensitive: bool,
    /// The query of the cursor.
    pub query: Statement,
}

/// The rows that FETCH returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchDirection {
    /// This many rows forward, or backward if negative. `None` means all forward.
    Relative(Option<i64>),
    /// All rows before the position, backward.
    BackwardAll,
    /// The row at this distance from the position.
    RelativeRow(i64),
    /// The row with this number. A negative number counts from the end.
    Absolute(i64),
}
