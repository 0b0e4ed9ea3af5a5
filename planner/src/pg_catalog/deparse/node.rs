//! [`Node`]: an expression as PostgreSQL keeps it once its names and types are known, with every cast that nobody wrote;
//! and [`Query`], a query of such. Only made to be printed.

use super::types::{Ty, oid};
use crate::parse::LockStrength;

/// An expression.
#[derive(Clone, Debug)]
pub enum Node {
    /// A constant in the text form of its type; `None` for NULL.
    Const(Ty, Option<String>),
    /// A column: of a relation of a query, by its number, or of the only table there is.
    Column {
        /// Which relation; `None` for a name that stands alone.
        relation: Option<usize>,
        /// Its name today.
        name: String,
        ty: Ty,
    },
    /// An operator of one or two operands.
    Operator { name: String, operands: Vec<Node>, ty: Ty },
    /// `IS DISTINCT FROM`.
    Distinct(Box<[Node; 2]>),
    /// `left operator ANY (right)`, or ALL.
    AnyAll { name: String, left: Box<Node>, right: Box<Node>, all: bool },
    /// What AND or OR joins.
    Junction { or: bool, parts: Vec<Node> },
    /// NOT.
    Not(Box<Node>),
    /// `IS [NOT] NULL`.
    NullTest { arg: Box<Node>, negated: bool },
    /// `IS TRUE` and its kin.
    TruthTest { arg: Box<Node>, words: &'static str },
    /// A cast, written or not; `call`: a function does it.
    Cast { arg: Box<Node>, ty: Ty, implicit: bool, call: bool },
    /// A function's call.
    Call(Call),
    /// CURRENT_DATE and its kin.
    Keyword { text: String, ty: Ty },
    /// CASE.
    Case { operand: Option<Box<Node>>, whens: Vec<(Node, Node)>, otherwise: Box<Node>, ty: Ty },
    /// COALESCE, GREATEST, LEAST, NULLIF.
    Listed { word: &'static str, args: Vec<Node>, ty: Ty },
    /// `ARRAY[…]`.
    Array { items: Vec<Node>, ty: Ty },
    /// `ROW(…)`.
    Row(Vec<Node>),
    /// Rows compared by their order.
    RowCompare { name: String, left: Vec<Node>, right: Vec<Node> },
    /// `a[1]`, `a[1:2]`: an upper bound alone is a place.
    Subscript { arg: Box<Node>, places: Vec<Place>, ty: Ty },
    /// COLLATE.
    Collate { arg: Box<Node>, name: String },
    /// `GROUPING(…)`.
    Grouping(Vec<Node>),
    /// A subquery.
    Sub(Sub),
}

/// A subscript.
#[derive(Clone, Debug)]
pub enum Place {
    /// One element.
    At(Node),
    /// From one to another.
    Part(Option<Node>, Option<Node>),
}

/// A call of a function, an aggregate or a window function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Node>,
    /// Names of the last arguments, where they are given by name.
    pub names: Vec<String>,
    /// Whether the last argument is VARIADIC.
    pub variadic: bool,
    /// `count(*)`.
    pub star: bool,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY among the arguments, or WITHIN GROUP.
    pub order_by: Vec<Sort>,
    /// WITHIN GROUP.
    pub within_group: bool,
    /// FILTER.
    pub filter: Option<Box<Node>>,
    /// OVER.
    pub over: Option<Box<Window>>,
    /// The type of the result.
    pub ty: Ty,
    /// The words of the standard it was written with, in place of a call.
    pub syntax: Option<Syntax>,
}

/// Functions that the standard has words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Syntax {
    AtTimeZone,
    Overlaps,
    Extract,
    Normalized,
    Normalize,
    Overlay,
    Position,
    Substring,
    TrimBoth,
    TrimLeading,
    TrimTrailing,
}

impl Syntax {
    /// Whether it is written between its operands, in brackets.
    pub fn looks_like_an_operator(self) -> bool {
        matches!(self, Syntax::AtTimeZone | Syntax::Overlaps | Syntax::Normalized)
    }
}

impl Call {
    /// A plain call.
    pub fn new(name: &str, args: Vec<Node>, ty: Ty) -> Call {
        Call {
            name: name.to_string(),
            args,
            names: Vec::new(),
            variadic: false,
            star: false,
            distinct: false,
            order_by: Vec::new(),
            within_group: false,
            filter: None,
            over: None,
            ty,
            syntax: None,
        }
    }
}

/// What rows are sorted by.
#[derive(Clone, Debug)]
pub struct Sort {
    /// The key.
    pub key: Key,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST or LAST where it is not what the direction says.
    pub nulls: Option<&'static str>,
}

/// An expression that rows are sorted or grouped by.
#[derive(Clone, Debug)]
pub struct Key {
    /// The expression.
    pub node: Node,
    /// Its place in the select list, where that is what is shown.
    pub number: Option<usize>,
}

/// A window, as OVER or WINDOW says it.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// The window of WINDOW that it is.
    pub name: Option<String>,
    /// The window that it begins with.
    pub base: Option<String>,
    /// PARTITION BY.
    pub partition_by: Vec<Key>,
    /// ORDER BY.
    pub order_by: Vec<Sort>,
    /// `ROWS BETWEEN`, its bounds and what is excluded, in parts of text and expressions.
    pub frame: Vec<FramePart>,
}

/// A part of a frame clause.
#[derive(Clone, Debug)]
pub enum FramePart {
    /// Words.
    Words(&'static str),
    /// An offset.
    Offset(Node),
}

/// A subquery in an expression.
#[derive(Clone, Debug)]
pub struct Sub {
    /// What it is for.
    pub kind: SubKind,
    /// What is compared with its rows.
    pub left: Vec<Node>,
    /// By this operator.
    pub operator: String,
    /// The query.
    pub query: Box<Query>,
    /// The type of the value.
    pub ty: Ty,
}

/// What a subquery is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SubKind {
    Exists,
    Any,
    All,
    Value,
    Array,
}

/// A query.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// WITH.
    pub with: Vec<Common>,
    /// WITH RECURSIVE.
    pub recursive: bool,
    /// What it selects from what.
    pub body: Body,
    /// Names and types of its columns.
    pub columns: Vec<(String, Ty)>,
    /// ORDER BY.
    pub order_by: Vec<Sort>,
    /// OFFSET.
    pub offset: Option<Node>,
    /// LIMIT.
    pub limit: Option<Node>,
    /// FETCH FIRST … WITH TIES.
    pub with_ties: bool,
    /// FOR UPDATE and its kin.
    pub locks: Vec<Lock>,
    /// The relations of this query alone, in the order of their making: places in the list of all.
    pub relations: Vec<usize>,
}

/// The rows of a relation, locked.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    /// The relation's place in the list of all.
    pub relation: usize,
    /// How.
    pub strength: LockStrength,
    /// What happens where they are locked already: waiting, SKIP LOCKED, NOWAIT.
    pub wait: Wait,
}

/// What happens where a row is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Wait {
    Block,
    Skip,
    Error,
}

/// A query of WITH.
#[derive(Clone, Debug)]
pub struct Common {
    /// Its name.
    pub name: String,
    /// The names given to its columns.
    pub aliases: Vec<String>,
    /// MATERIALIZED or NOT.
    pub materialized: Option<bool>,
    /// The query.
    pub query: Query,
}

/// The body of a query.
#[derive(Clone, Debug, Default)]
pub enum Body {
    /// Nothing yet.
    #[default]
    Empty,
    /// SELECT.
    Select(Box<Select>),
    /// VALUES.
    Values(Vec<Vec<Node>>),
    /// UNION and its kin.
    Set {
        /// UNION, INTERSECT, EXCEPT.
        words: &'static str,
        all: bool,
        left: Box<SetArm>,
        right: Box<SetArm>,
    },
}

/// A side of a set operation.
#[derive(Clone, Debug)]
pub enum SetArm {
    /// A query that stands for itself.
    Query(Box<Query>),
    /// Another operation.
    Set { words: &'static str, all: bool, left: Box<SetArm>, right: Box<SetArm> },
}

/// SELECT.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// DISTINCT.
    pub distinct: bool,
    /// DISTINCT ON.
    pub distinct_on: Vec<Key>,
    /// The select list, without what only ORDER BY needs.
    pub items: Vec<Node>,
    /// FROM.
    pub from: Vec<From>,
    /// WHERE.
    pub filter: Option<Node>,
    /// GROUP BY.
    pub group_by: Vec<Group>,
    /// GROUP BY DISTINCT.
    pub group_distinct: bool,
    /// HAVING.
    pub having: Option<Node>,
    /// WINDOW.
    pub windows: Vec<(String, Window)>,
}

/// An item of GROUP BY.
#[derive(Clone, Debug)]
pub enum Group {
    /// By an expression.
    Key(Key),
    /// ROLLUP, CUBE: sets of expressions.
    Sets(&'static str, Vec<Vec<Key>>),
    /// GROUPING SETS.
    Nested(Vec<Group>),
    /// A set of several, or of none.
    Set(Vec<Key>),
}

/// An item of FROM.
#[derive(Clone, Debug)]
pub enum From {
    /// A relation, by its place in the list of all.
    Relation(usize),
    /// A join.
    Join(Box<Join>),
}

/// A join.
#[derive(Clone, Debug)]
pub struct Join {
    /// `JOIN`, `LEFT JOIN` and their kin.
    pub words: &'static str,
    /// What is on the left.
    pub left: From,
    /// What is on the right.
    pub right: From,
    /// ON.
    pub on: Option<Node>,
    /// USING.
    pub using: Vec<String>,
    /// The alias of USING.
    pub using_alias: Option<String>,
    /// The alias of the whole.
    pub alias: Option<(String, Vec<String>)>,
}

/// A relation of a query.
#[derive(Clone, Debug)]
pub struct Relation {
    /// What it is.
    pub kind: RelationKind,
    /// The name that the query calls it by; `None` of a join without one.
    pub name: Option<String>,
    /// The name it is shown by, before it is made unique.
    pub printed: Option<String>,
    /// Whether that name was written.
    pub aliased: bool,
    /// Its columns' names, as shown behind the alias; none where they need not be.
    pub aliases: Vec<String>,
    /// LATERAL.
    pub lateral: bool,
    /// The columns: by the name that the query knows, what they are.
    pub columns: Vec<(String, Node)>,
}

/// What a relation is.
#[derive(Clone, Debug)]
pub enum RelationKind {
    /// A table or view: its name as shown.
    Table {
        /// With its schema where that is needed.
        shown: String,
        /// Its own name.
        name: String,
    },
    /// A query of WITH.
    Common(String),
    /// A subquery.
    Query(Box<Query>),
    /// A function, WITH ORDINALITY, and the types of the columns that were defined for it.
    Function { call: Node, ordinality: bool, defined: Vec<Ty> },
    /// The columns of a join.
    Join,
}

impl Node {
    /// NULL, true or a string that has no type yet.
    pub fn unknown(text: Option<&str>) -> Node {
        Node::Const(Ty::of(oid::UNKNOWN), text.map(str::to_string))
    }

    /// The type.
    pub fn ty(&self) -> Ty {
        match self {
            Node::Const(ty, _)
            | Node::Column { ty, .. }
            | Node::Operator { ty, .. }
            | Node::Cast { ty, .. }
            | Node::Keyword { ty, .. }
            | Node::Case { ty, .. }
            | Node::Listed { ty, .. }
            | Node::Array { ty, .. }
            | Node::Subscript { ty, .. } => *ty,
            Node::Call(call) => call.ty,
            Node::Sub(sub) => sub.ty,
            Node::Distinct(_)
            | Node::AnyAll { .. }
            | Node::Junction { .. }
            | Node::Not(_)
            | Node::NullTest { .. }
            | Node::TruthTest { .. }
            | Node::RowCompare { .. } => Ty::of(oid::BOOL),
            Node::Row(_) => Ty::of(oid::RECORD),
            Node::Collate { arg, .. } => arg.ty(),
            Node::Grouping(_) => Ty::of(oid::INT4),
        }
    }
}
