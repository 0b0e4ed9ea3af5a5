//! [`Query`]: SELECT, VALUES and TABLE with WITH, set operations, ORDER BY and LIMIT (manual, SELECT).

use super::{Alias, Expr, ExprKind, Ident, Name, Operator, RelationName, Statement};
use crate::span::Span;

/// A query with all its clauses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    /// WITH.
    pub with: Option<With>,
    /// The query without the other clauses.
    pub body: QueryBody,
    /// ORDER BY.
    pub order_by: Vec<SortItem>,
    /// LIMIT or FETCH FIRST. `None` also for LIMIT ALL.
    pub limit: Option<Limit>,
    /// OFFSET.
    pub offset: Option<Expr>,
    /// FOR UPDATE and its kin, in order.
    pub locks: Vec<LockClause>,
    /// AS OF SYSTEM TIME, PercoSQL's own clause.
    pub as_of: Option<Expr>,
    /// Its place.
    pub span: Span,
}

/// A query without WITH, ORDER BY and the clauses behind it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QueryBody {
    /// SELECT.
    Select(Box<Select>),
    /// VALUES: rows, each with at least one value, and the place of VALUES.
    Values(Vec<Vec<Expr>>, Span),
    /// TABLE name.
    Table(RelationName, Span),
    /// UNION, INTERSECT or EXCEPT.
    Set(SetOperation),
    /// A query in parentheses, with clauses of its own.
    Nested(Box<Query>),
}

/// A chain of one set operation, from left to right: `a UNION ALL b UNION ALL c` has three arms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SetOperation {
    /// The operation.
    pub operator: SetOperator,
    /// Whether ALL was written.
    pub all: bool,
    /// The queries, at least two.
    pub arms: Vec<QueryBody>,
    /// The places of the operators: one fewer than the arms.
    pub operators: Vec<Span>,
}

/// The set operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SetOperator {
    Union,
    Intersect,
    Except,
}

/// SELECT without the clauses of [`Query`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Select {
    /// DISTINCT.
    pub distinct: Option<Distinct>,
    /// The select list. May be empty.
    pub targets: Vec<Target>,
    /// INTO.
    pub into: Option<Into>,
    /// FROM: its items, separated by commas.
    pub from: Vec<FromItem>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY.
    pub group_by: Option<GroupBy>,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW.
    pub windows: Vec<NamedWindow>,
    /// Its place.
    pub span: Span,
}

impl Select {
    /// `TABLE name`, which stands at `span`, as the SELECT that it means.
    pub fn whole_table(relation: &RelationName, span: Span) -> Select {
        let all = Expr { kind: ExprKind::Star(Vec::new()), span };
        let place = relation.name.span;
        let table = FromItem::Table { relation: relation.clone(), alias: None, sample: None, span: place };
        Select {
            distinct: None,
            targets: vec![Target { value: all, label: None }],
            into: None,
            from: vec![table],
            filter: None,
            group_by: None,
            having: None,
            windows: Vec::new(),
            span,
        }
    }
}

/// DISTINCT.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Distinct {
    /// The expressions of ON. Empty without ON.
    pub on: Vec<Expr>,
    /// The place of DISTINCT.
    pub span: Span,
}

/// An item of a select list or of RETURNING.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The value, or [`ExprKind::Star`](super::ExprKind::Star).
    pub value: Expr,
    /// The label, with or without AS.
    pub label: Option<Ident>,
}

/// The table of SELECT INTO.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Into {
    /// The kind of table.
    pub persistence: Persistence,
    /// Its name.
    pub name: Name,
    /// The place of INTO.
    pub span: Span,
}

/// How long a table lives, and whether it is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Persistence {
    #[default]
    Permanent,
    Temporary,
    Unlogged,
}

/// An item of FROM, of UPDATE's FROM or of DELETE's USING.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
// Most items are tables, so a box around them would cost more than it saves.
#[allow(clippy::large_enum_variant)]
pub enum FromItem {
    /// A table, view, or query of WITH.
    Table {
        /// Its name.
        relation: RelationName,
        /// Its alias.
        alias: Option<Alias>,
        /// TABLESAMPLE.
        sample: Option<Sample>,
        /// Its place.
        span: Span,
    },
    /// A query.
    Query {
        /// Whether LATERAL was written.
        lateral: bool,
        /// The query.
        query: Box<Query>,
        /// Its alias. A missing one is the binder's error.
        alias: Option<Alias>,
        /// Its place, from the parenthesis on.
        span: Span,
    },
    /// A function, or ROWS FROM several.
    Function {
        /// Whether LATERAL was written.
        lateral: bool,
        /// Whether ROWS FROM was written.
        rows_from: bool,
        /// The functions: [`ExprKind::Call`](super::ExprKind::Call), `Special` or `Cast`. One unless ROWS FROM was
        /// written.
        functions: Vec<RowsFunction>,
        /// Whether WITH ORDINALITY was written.
        ordinality: bool,
        /// The alias. Its `definitions` are those of a single function.
        alias: Option<Alias>,
        /// Its place.
        span: Span,
    },
    /// A join.
    Join(Box<Join>),
}

/// A function in ROWS FROM.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowsFunction {
    /// The call.
    pub call: Expr,
    /// AS (name type, …).
    pub definitions: Vec<super::ColumnDefinition>,
}

/// A join of two items.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Join {
    /// The item before JOIN.
    pub left: FromItem,
    /// The kind of join.
    pub kind: JoinKind,
    /// The item behind JOIN.
    pub right: FromItem,
    /// The condition.
    pub condition: JoinCondition,
    /// The alias of a join in parentheses.
    pub alias: Option<Alias>,
    /// Its place.
    pub span: Span,
}

/// The kinds of joins. CROSS JOIN is an inner one without a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum JoinKind {
    Cross,
    Inner,
    Left,
    Right,
    Full,
}

/// The condition of a join.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JoinCondition {
    /// That of CROSS JOIN.
    None,
    /// NATURAL.
    Natural,
    /// ON.
    On(Expr),
    /// USING: the columns, and the alias behind AS.
    Using(Vec<Ident>, Option<Ident>),
}

/// TABLESAMPLE method (arguments) [REPEATABLE (seed)].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// The method.
    pub method: Name,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// The seed.
    pub seed: Option<Expr>,
    /// The place of the method.
    pub span: Span,
}

/// GROUP BY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupBy {
    /// Whether DISTINCT was written.
    pub distinct: bool,
    /// The items, at least one.
    pub items: Vec<GroupItem>,
}

/// An item of GROUP BY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupItem {
    /// `()`.
    Empty(Span),
    /// An expression. A row without ROW is a set of several.
    Expr(Expr),
    /// ROLLUP (…).
    Rollup(Vec<Expr>, Span),
    /// CUBE (…).
    Cube(Vec<Expr>, Span),
    /// GROUPING SETS (…).
    Sets(Vec<GroupItem>, Span),
}

/// A window of the WINDOW clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedWindow {
    /// Its name.
    pub name: Ident,
    /// Its definition.
    pub spec: WindowSpec,
}

/// A definition of a window in parentheses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowSpec {
    /// The window that it extends.
    pub base: Option<Ident>,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<SortItem>,
    /// The frame.
    pub frame: Option<WindowFrame>,
    /// Its place.
    pub span: Span,
}

/// The frame of a window.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowFrame {
    /// RANGE, ROWS or GROUPS.
    pub units: FrameUnits,
    /// The first row.
    pub start: FrameBound,
    /// The last row. `None` unless BETWEEN was written.
    pub end: Option<FrameBound>,
    /// EXCLUDE. `None` also for EXCLUDE NO OTHERS.
    pub exclude: Option<FrameExclusion>,
    /// Its place.
    pub span: Span,
}

/// The unit of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FrameUnits {
    Range,
    Rows,
    Groups,
}

/// A bound of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Box<Expr>),
    CurrentRow,
    Following(Box<Expr>),
    UnboundedFollowing,
}

/// The rows that a frame leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum FrameExclusion {
    CurrentRow,
    Group,
    Ties,
}

/// An item of ORDER BY.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortItem {
    /// The value.
    pub value: Expr,
    /// The direction.
    pub direction: Option<SortDirection>,
    /// NULLS FIRST (true) or LAST (false).
    pub nulls_first: Option<bool>,
}

/// The direction of a sort.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SortDirection {
    /// ASC.
    Ascending,
    /// DESC.
    Descending,
    /// USING operator.
    Using(Operator),
}

/// LIMIT or FETCH FIRST.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// The number of rows.
    pub count: Expr,
    /// Whether WITH TIES was written.
    pub with_ties: bool,
    /// The place of LIMIT or FETCH.
    pub span: Span,
}

/// FOR UPDATE and its kin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LockClause {
    /// The strength of the row locks.
    pub strength: LockStrength,
    /// The tables in OF. Empty means all.
    pub of: Vec<Name>,
    /// The treatment of rows that others have locked.
    pub wait: LockWait,
    /// Its place.
    pub span: Span,
}

/// The strengths of row locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum LockStrength {
    KeyShare,
    Share,
    NoKeyUpdate,
    Update,
}

/// The treatments of a locked row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum LockWait {
    #[default]
    Wait,
    NoWait,
    SkipLocked,
}

/// WITH.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct With {
    /// Whether RECURSIVE was written.
    pub recursive: bool,
    /// The queries.
    pub queries: Vec<CommonTable>,
    /// Its place.
    pub span: Span,
}

/// A query of WITH.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommonTable {
    /// Its name.
    pub name: Ident,
    /// The names of its columns.
    pub columns: Vec<Ident>,
    /// MATERIALIZED (true) or NOT MATERIALIZED (false).
    pub materialized: Option<bool>,
    /// The query, or an INSERT, UPDATE, DELETE or MERGE.
    pub statement: Box<Statement>,
    /// SEARCH.
    pub search: Option<Search>,
    /// CYCLE.
    pub cycle: Option<Cycle>,
    /// Its place.
    pub span: Span,
}

/// SEARCH of a recursive query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Search {
    /// BREADTH FIRST if true, DEPTH FIRST if false.
    pub breadth_first: bool,
    /// The columns that give the order.
    pub columns: Vec<Ident>,
    /// The column that is added.
    pub sequence: Ident,
    /// Its place.
    pub span: Span,
}

/// CYCLE of a recursive query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cycle {
    /// The columns that tell a cycle.
    pub columns: Vec<Ident>,
    /// The column that marks a row of a cycle.
    pub mark: Ident,
    /// The values of TO and DEFAULT. `None` for true and false.
    pub values: Option<Box<(Expr, Expr)>>,
    /// The column of the path.
    pub path: Ident,
    /// Its place.
    pub span: Span,
}
