//! Names: [`Ident`], [`Name`] and [`RelationName`].

use crate::span::Span;

/// A single name, folded to lower case unless it was quoted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The folded name.
    pub value: String,
    /// Its place.
    pub span: Span,
}

impl Ident {
    /// A name that no text says.
    pub fn new(value: impl Into<String>) -> Self {
        Ident { value: value.into(), span: Span::NONE }
    }
}

/// A name that may be qualified: `name`, `schema.name` or `database.schema.name`. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The parts, the name itself last.
    pub parts: Vec<Ident>,
    /// The place of the whole.
    pub span: Span,
}

impl Name {
    /// An unqualified name that no text says.
    pub fn new(value: impl Into<String>) -> Self {
        Name { parts: vec![Ident::new(value)], span: Span::NONE }
    }
}

/// The name of a table in a query or write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RelationName {
    /// Its name.
    pub name: Name,
    /// Whether ONLY was written: its heirs are left out.
    pub only: bool,
}

/// `[AS] name (columns)` behind an item of FROM.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alias {
    /// The name. `None` only for `AS (a int, b text)` behind a function.
    pub name: Option<Ident>,
    /// The names of the columns.
    pub columns: Vec<Ident>,
    /// The names and types of the columns of a function that returns records. Then `columns` is empty.
    pub definitions: Vec<ColumnDefinition>,
    /// The place of the whole.
    pub span: Span,
}

/// A column with its type: of a function's rows, or of a composite type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnDefinition {
    /// The name.
    pub name: Ident,
    /// The type.
    pub data_type: super::TypeName,
    /// The collation behind COLLATE.
    pub collation: Option<Name>,
}
