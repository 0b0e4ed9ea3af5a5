//! [`Node`]: an expression with resolved names and types and with all implicit casts, as PostgreSQL keeps it.
//! [`Query`]: a query of such expressions. Both serve only for printing.

use super::types::{Ty, oid};
use syntax::ast::LockStrength;

/// An expression with resolved names and types.
#[derive(Clone, Debug)]
pub enum Node {
    /// A constant in the text form of its type. `None` is NULL.
    Const(Ty, Option<String>),
    /// A column of a relation of a query, or of the only table.
    Column {
        /// The index of the relation. `None` for an unqualified name.
        relation: Option<usize>,
        /// The present name of the column.
        name: String,
        ty: Ty,
    },
    /// An operator with one or two operands.
    Operator { name: String, operands: Vec<Node>, ty: Ty },
    /// `IS DISTINCT FROM` of two operands.
    Distinct(Box<[Node; 2]>),
    /// `left operator ANY (right)`, or ALL.
    AnyAll { name: String, left: Box<Node>, right: Box<Node>, all: bool },
    /// The operands of AND or OR.
    Junction { or: bool, parts: Vec<Node> },
    /// NOT of a condition.
    Not(Box<Node>),
    /// `IS [NOT] NULL` of an expression.
    NullTest { arg: Box<Node>, negated: bool },
    /// `IS TRUE` and its kin.
    TruthTest { arg: Box<Node>, words: &'static str },
    /// A cast, explicit or implicit. `call` tells whether a function performs it.
    Cast { arg: Box<Node>, ty: Ty, implicit: bool, call: bool },
    /// A call of a function.
    Call(Call),
    /// CURRENT_DATE and its kin.
    Keyword { text: String, ty: Ty },
    /// CASE with its branches.
    Case { operand: Option<Box<Node>>, whens: Vec<(Node, Node)>, otherwise: Box<Node>, ty: Ty },
    /// COALESCE, GREATEST, LEAST or NULLIF.
    Listed { word: &'static str, args: Vec<Node>, ty: Ty },
    /// `ARRAY[…]` of these items.
    Array { items: Vec<Node>, ty: Ty },
    /// `ROW(…)` of these items.
    Row(Vec<Node>),
    /// A comparison of rows.
    RowCompare { name: String, left: Vec<Node>, right: Vec<Node> },
    /// `a[1]` or `a[1:2]`, with a place for each dimension.
    Subscript { arg: Box<Node>, places: Vec<Place>, ty: Ty },
    /// An expression with COLLATE.
    Collate { arg: Box<Node>, name: String },
    /// `GROUPING(…)` of these expressions.
    Grouping(Vec<Node>),
    /// A subquery within an expression.
    Sub(Sub),
}

/// A subscript of one dimension.
#[derive(Clone, Debug)]
pub enum Place {
    /// A single element of the array.
    At(Node),
    /// A slice from a lower to an upper bound.
    Part(Option<Node>, Option<Node>),
}

/// A call of a function, an aggregate or a window function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of the function.
    pub name: String,
    /// The arguments of the call.
    pub args: Vec<Node>,
    /// The names of the last arguments, if they are named.
    pub names: Vec<String>,
    /// Whether the last argument is VARIADIC.
    pub variadic: bool,
    /// Whether the argument is `*`, as in `count(*)`.
    pub star: bool,
    /// Whether DISTINCT was written.
    pub distinct: bool,
    /// The sort keys of ORDER BY among the arguments, or of WITHIN GROUP.
    pub order_by: Vec<Sort>,
    /// Whether `order_by` belongs to WITHIN GROUP.
    pub within_group: bool,
    /// The condition of the FILTER clause.
    pub filter: Option<Box<Node>>,
    /// The window of the OVER clause.
    pub over: Option<Box<Window>>,
    /// The type of the result.
    pub ty: Ty,
    /// The standard's syntax, if it replaces that of a call.
    pub syntax: Option<Syntax>,
}

/// Functions with a syntax of their own in the standard.
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
    SubstringSimilar,
    CollationFor,
    TrimBoth,
    TrimLeading,
    TrimTrailing,
}

impl Syntax {
    /// Whether it is written between its operands, in parentheses.
    pub fn looks_like_an_operator(self) -> bool {
        matches!(self, Syntax::AtTimeZone | Syntax::Overlaps | Syntax::Normalized)
    }
}

impl Call {
    /// A call with arguments alone.
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

/// A sort key with its direction.
#[derive(Clone, Debug)]
pub struct Sort {
    /// The key of the sort.
    pub key: Key,
    /// Whether DESC was written.
    pub descending: bool,
    /// NULLS FIRST or LAST, if it is not the default of the direction.
    pub nulls: Option<&'static str>,
}

/// An expression in ORDER BY, GROUP BY or PARTITION BY.
#[derive(Clone, Debug)]
pub struct Key {
    /// The expression of the key.
    pub node: Node,
    /// Its number in the select list, if the number is shown.
    pub number: Option<usize>,
}

/// A window in OVER or WINDOW.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// The name of a window in WINDOW.
    pub name: Option<String>,
    /// The window that it extends.
    pub base: Option<String>,
    /// The keys of PARTITION BY.
    pub partition_by: Vec<Key>,
    /// The keys of ORDER BY.
    pub order_by: Vec<Sort>,
    /// The frame clause, as words and expressions.
    pub frame: Vec<FramePart>,
}

/// A part of a frame clause.
#[derive(Clone, Debug)]
pub enum FramePart {
    /// Words of the grammar.
    Words(&'static str),
    /// An offset before PRECEDING or FOLLOWING.
    Offset(Node),
}

/// A subquery in an expression.
#[derive(Clone, Debug)]
pub struct Sub {
    /// The use of its rows.
    pub kind: SubKind,
    /// The expressions compared with its rows.
    pub left: Vec<Node>,
    /// The operator of that comparison.
    pub operator: String,
    /// The query within the expression.
    pub query: Box<Query>,
    /// The type of the result.
    pub ty: Ty,
}

/// The use of a subquery's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SubKind {
    Exists,
    Any,
    All,
    Value,
    Array,
}

/// A query with its clauses.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// The queries of WITH.
    pub with: Vec<Common>,
    /// Whether it is WITH RECURSIVE.
    pub recursive: bool,
    /// The SELECT, VALUES or set operation.
    pub body: Body,
    /// Names and types of its columns.
    pub columns: Vec<(String, Ty)>,
    /// The keys of ORDER BY.
    pub order_by: Vec<Sort>,
    /// The expression of the OFFSET clause.
    pub offset: Option<Node>,
    /// The expression of the LIMIT clause.
    pub limit: Option<Node>,
    /// Whether it is FETCH FIRST … WITH TIES.
    pub with_ties: bool,
    /// The clauses FOR UPDATE and its kin.
    pub locks: Vec<Lock>,
    /// The indexes of this query's own relations in the list of all, in creation order.
    pub relations: Vec<usize>,
}

/// A lock on the rows of a relation.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    /// The index of the relation in the list of all.
    pub relation: usize,
    /// The strength of the lock.
    pub strength: LockStrength,
    /// The behaviour for rows that are locked already.
    pub wait: Wait,
}

/// The behaviour for rows that are locked already: wait, SKIP LOCKED or NOWAIT.
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
    /// The name of the query.
    pub name: String,
    /// The names given to its columns.
    pub aliases: Vec<String>,
    /// MATERIALIZED (true) or NOT MATERIALIZED (false).
    pub materialized: Option<bool>,
    /// The query in the WITH clause.
    pub query: Query,
}

/// The body of a query.
#[derive(Clone, Debug, Default)]
pub enum Body {
    /// The initial value, before analysis.
    #[default]
    Empty,
    /// SELECT with all its clauses.
    Select(Box<Select>),
    /// VALUES, as rows of expressions.
    Values(Vec<Vec<Node>>),
    /// UNION, INTERSECT or EXCEPT.
    Set {
        /// The word of the operation.
        words: &'static str,
        all: bool,
        left: Box<SetArm>,
        right: Box<SetArm>,
    },
}

/// An operand of a set operation.
#[derive(Clone, Debug)]
pub enum SetArm {
    /// A query, with its own clauses.
    Query(Box<Query>),
    /// Another set operation with its operands.
    Set { words: &'static str, all: bool, left: Box<SetArm>, right: Box<SetArm> },
}

/// The clauses of a SELECT.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// Whether it is SELECT DISTINCT.
    pub distinct: bool,
    /// The keys of DISTINCT ON.
    pub distinct_on: Vec<Key>,
    /// The select list, without items that only ORDER BY needs.
    pub items: Vec<Node>,
    /// The items of FROM.
    pub from: Vec<From>,
    /// The condition of the WHERE clause.
    pub filter: Option<Node>,
    /// The items of GROUP BY.
    pub group_by: Vec<Group>,
    /// Whether it is GROUP BY DISTINCT.
    pub group_distinct: bool,
    /// The condition of the HAVING clause.
    pub having: Option<Node>,
    /// The named windows of WINDOW.
    pub windows: Vec<(String, Window)>,
}

/// An item of GROUP BY.
#[derive(Clone, Debug)]
pub enum Group {
    /// A single expression to group by.
    Key(Key),
    /// ROLLUP or CUBE with its sets of expressions.
    Sets(&'static str, Vec<Vec<Key>>),
    /// GROUPING SETS with its items.
    Nested(Vec<Group>),
    /// A set of several expressions, or an empty one.
    Set(Vec<Key>),
}

/// An item of FROM.
#[derive(Clone, Debug)]
pub enum From {
    /// A relation, by its index in the list of all.
    Relation(usize),
    /// A join of two items.
    Join(Box<Join>),
}

/// A join of two items of FROM.
#[derive(Clone, Debug)]
pub struct Join {
    /// `JOIN`, `LEFT JOIN` and their kin.
    pub words: &'static str,
    /// The item left of JOIN.
    pub left: From,
    /// The item right of JOIN.
    pub right: From,
    /// The condition of the ON clause.
    pub on: Option<Node>,
    /// The columns of USING.
    pub using: Vec<String>,
    /// The alias of USING.
    pub using_alias: Option<String>,
    /// The alias of the join, with those of its columns.
    pub alias: Option<(String, Vec<String>)>,
}

/// A relation of a query.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The kind of relation.
    pub kind: RelationKind,
    /// The name that the query uses. `None` for a join without one.
    pub name: Option<String>,
    /// The name to print, before it is made unique.
    pub printed: Option<String>,
    /// Whether that name was written as an alias.
    pub aliased: bool,
    /// The column aliases to print. Empty if none are needed.
    pub aliases: Vec<String>,
    /// Whether it is LATERAL.
    pub lateral: bool,
    /// The columns, by the names that the query uses.
    pub columns: Vec<(String, Node)>,
}

/// The kind of a relation in a query.
#[derive(Clone, Debug)]
pub enum RelationKind {
    /// A table or view.
    Table {
        /// The name to print, qualified if necessary.
        shown: String,
        /// The name without its schema.
        name: String,
    },
    /// A WITH query of this name.
    Common(String),
    /// A subquery in FROM.
    Query(Box<Query>),
    /// A function, whether it has WITH ORDINALITY, and the types in its column definition list.
    Function { call: Node, ordinality: bool, defined: Vec<Ty> },
    /// A join with its own columns.
    Join,
}

impl Node {
    /// NULL or a string whose type is not known yet.
    pub fn unknown(text: Option<&str>) -> Node {
        Node::Const(Ty::of(oid::UNKNOWN), text.map(str::to_string))
    }

    /// The type of the expression.
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
