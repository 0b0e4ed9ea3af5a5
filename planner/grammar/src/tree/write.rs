//! INSERT, UPDATE, DELETE and MERGE.

use super::{Alias, Expr, FromItem, Ident, Name, Query, RelationName, Step, Target, With};
use crate::span::Span;

/// INSERT.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Insert {
    /// WITH.
    pub with: Option<With>,
    /// The table.
    pub table: Name,
    /// The name behind AS.
    pub alias: Option<Ident>,
    /// The columns. Empty without a list.
    pub columns: Vec<ColumnTarget>,
    /// OVERRIDING … VALUE.
    pub overriding: Option<Overriding>,
    /// The rows. `None` for DEFAULT VALUES.
    pub source: Option<Box<Query>>,
    /// ON CONFLICT.
    pub conflict: Option<OnConflict>,
    /// RETURNING.
    pub returning: Vec<Target>,
    /// Its place.
    pub span: Span,
}

/// OVERRIDING SYSTEM VALUE or OVERRIDING USER VALUE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Overriding {
    System,
    User,
}

/// A column, or a part of one, that is written: `a`, `a[1]`, `a.b`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnTarget {
    /// The column.
    pub column: Ident,
    /// The steps to the part.
    pub steps: Vec<Step>,
    /// Its place.
    pub span: Span,
}

/// ON CONFLICT.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OnConflict {
    /// The index that the rows conflict in. `None` for any.
    pub target: Option<ConflictTarget>,
    /// What to do. `None` for DO NOTHING.
    pub update: Option<ConflictUpdate>,
    /// The place of ON CONFLICT.
    pub span: Span,
}

/// The index of ON CONFLICT.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConflictTarget {
    /// ON CONSTRAINT.
    Constraint(Ident),
    /// Columns and expressions, with the predicate of a partial index.
    Index {
        /// The keys.
        keys: Vec<super::IndexKey>,
        /// WHERE.
        predicate: Option<Expr>,
    },
}

/// DO UPDATE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConflictUpdate {
    /// SET.
    pub assignments: Vec<Assignment>,
    /// WHERE.
    pub filter: Option<Expr>,
}

/// An assignment of SET.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Assignment {
    /// `column = value`.
    One(ColumnTarget, Expr),
    /// `(columns) = row or query`.
    Several(Vec<ColumnTarget>, Expr),
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// WITH.
    pub with: Option<With>,
    /// The table.
    pub table: RelationName,
    /// Its alias.
    pub alias: Option<Alias>,
    /// SET.
    pub assignments: Vec<Assignment>,
    /// FROM.
    pub from: Vec<FromItem>,
    /// WHERE, maybe CURRENT OF.
    pub filter: Option<Expr>,
    /// RETURNING.
    pub returning: Vec<Target>,
    /// Its place.
    pub span: Span,
}

/// DELETE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Delete {
    /// WITH.
    pub with: Option<With>,
    /// The table.
    pub table: RelationName,
    /// Its alias.
    pub alias: Option<Alias>,
    /// USING.
    pub using: Vec<FromItem>,
    /// WHERE, maybe CURRENT OF.
    pub filter: Option<Expr>,
    /// RETURNING.
    pub returning: Vec<Target>,
    /// Its place.
    pub span: Span,
}

/// MERGE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Merge {
    /// WITH.
    pub with: Option<With>,
    /// The table.
    pub table: RelationName,
    /// Its alias.
    pub alias: Option<Alias>,
    /// USING.
    pub source: FromItem,
    /// ON.
    pub on: Expr,
    /// The WHEN clauses, in order.
    pub clauses: Vec<MergeClause>,
    /// Its place.
    pub span: Span,
}

/// WHEN \[NOT\] MATCHED of MERGE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MergeClause {
    /// Whether MATCHED was written without NOT.
    pub matched: bool,
    /// AND.
    pub condition: Option<Expr>,
    /// THEN.
    pub action: MergeAction,
    /// Its place.
    pub span: Span,
}

/// The action of a WHEN clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MergeAction {
    /// DO NOTHING.
    Nothing,
    /// UPDATE SET.
    Update(Vec<Assignment>),
    /// DELETE.
    Delete,
    /// INSERT.
    Insert {
        /// The columns. Empty without a list.
        columns: Vec<ColumnTarget>,
        /// OVERRIDING … VALUE.
        overriding: Option<Overriding>,
        /// The values. `None` for DEFAULT VALUES.
        values: Option<Vec<Expr>>,
    },
}
