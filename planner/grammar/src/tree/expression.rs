//! [`Expr`]: a scalar expression (manual, chapter 4.2).

use super::{Ident, Name, Query, SortItem, TypeName, WindowSpec};
use crate::span::Span;

/// An expression and its place. Parentheses leave no trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The whole text of the expression, without parentheses around it.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// A column, or a field of one: `a`, `t.a`, `s.t.a`. Never empty.
    Column(Vec<Ident>),
    /// `*` (no names) or `t.*`: in select lists, `count(*)`'s own form aside.
    Star(Vec<Ident>),
    /// A constant.
    Literal(Literal),
    /// `$n`.
    Parameter(u32),
    /// DEFAULT as the value of a column in INSERT and UPDATE.
    Default,
    /// Operands joined by AND, at least two. `a AND b AND c` is one node.
    And(Vec<Expr>),
    /// Operands joined by OR, at least two.
    Or(Vec<Expr>),
    /// NOT.
    Not(Box<Expr>),
    /// A sign before its operand.
    Unary {
        /// The operator.
        op: Operator,
        /// The operand.
        operand: Box<Expr>,
    },
    /// A sign between its operands.
    Binary {
        /// The operator.
        op: Operator,
        /// The operand before it.
        left: Box<Expr>,
        /// The operand behind it.
        right: Box<Expr>,
    },
    /// IS \[NOT\] NULL, ISNULL, NOTNULL.
    IsNull {
        /// The operand.
        operand: Box<Expr>,
        /// Whether NOT was written.
        negated: bool,
    },
    /// IS \[NOT\] TRUE, FALSE or UNKNOWN.
    IsTruth {
        /// The operand.
        operand: Box<Expr>,
        /// The truth value. `None` for UNKNOWN.
        truth: Option<bool>,
        /// Whether NOT was written.
        negated: bool,
    },
    /// IS \[NOT\] DISTINCT FROM.
    IsDistinct {
        /// The operand before it.
        left: Box<Expr>,
        /// The operand behind it.
        right: Box<Expr>,
        /// Whether NOT was written.
        negated: bool,
        /// The place of IS.
        at: Span,
    },
    /// IS \[NOT\] \[form\] NORMALIZED.
    IsNormalized {
        /// The operand.
        operand: Box<Expr>,
        /// NFC, NFD, NFKC or NFKD, in upper case.
        form: Option<String>,
        /// Whether NOT was written.
        negated: bool,
        /// The place of IS.
        at: Span,
    },
    /// \[NOT\] BETWEEN.
    Between {
        /// The value.
        operand: Box<Expr>,
        /// The lower bound.
        low: Box<Expr>,
        /// The upper bound.
        high: Box<Expr>,
        /// Whether SYMMETRIC was written.
        symmetric: bool,
        /// Whether NOT was written.
        negated: bool,
        /// The place of BETWEEN, or of NOT before it.
        at: Span,
    },
    /// \[NOT\] IN (values).
    InList {
        /// The value.
        operand: Box<Expr>,
        /// The list, never empty.
        list: Vec<Expr>,
        /// Whether NOT was written.
        negated: bool,
        /// The place of IN, or of NOT before it.
        at: Span,
    },
    /// \[NOT\] IN (query).
    InQuery {
        /// The value.
        operand: Box<Expr>,
        /// The query.
        query: Box<Query>,
        /// Whether NOT was written.
        negated: bool,
        /// The place of IN, or of NOT before it.
        at: Span,
    },
    /// \[NOT\] LIKE, ILIKE or SIMILAR TO.
    Like {
        /// The kind of pattern.
        kind: LikeKind,
        /// The text.
        operand: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The character behind ESCAPE.
        escape: Option<Box<Expr>>,
        /// Whether NOT was written.
        negated: bool,
        /// The place of the word, or of NOT before it.
        at: Span,
    },
    /// `x operator ANY (array or query)` and ALL. LIKE and ILIKE are `~~`, `~~*`, `!~~`, `!~~*`.
    Quantified {
        /// The operand before the operator.
        left: Box<Expr>,
        /// The operator.
        op: Operator,
        /// ALL if true; ANY or SOME if false.
        all: bool,
        /// The values.
        right: Quantity,
    },
    /// A cast of any form.
    Cast {
        /// The value.
        operand: Box<Expr>,
        /// The type.
        data_type: TypeName,
        /// How it was written.
        form: CastForm,
        /// The place of `::` or CAST. That of the type for a constant.
        at: Span,
    },
    /// COLLATE.
    Collate {
        /// The operand.
        operand: Box<Expr>,
        /// The name of the collation.
        collation: Name,
        /// The place of COLLATE.
        at: Span,
    },
    /// AT TIME ZONE.
    AtTimeZone {
        /// The time.
        operand: Box<Expr>,
        /// The zone.
        zone: Box<Expr>,
        /// The place of AT.
        at: Span,
    },
    /// (a, b) OVERLAPS (c, d).
    Overlaps {
        /// The fields of the row before it: two, or else the binder says so.
        left: Vec<Expr>,
        /// The fields of the row behind it.
        right: Vec<Expr>,
        /// The place of OVERLAPS.
        at: Span,
    },
    /// CASE.
    Case {
        /// The value that is compared.
        operand: Option<Box<Expr>>,
        /// WHEN and THEN, at least one.
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// A call of a function by name.
    Call(Box<Call>),
    /// A call with a grammar of its own.
    Special(Box<SpecialCall>),
    /// A row of values.
    Row {
        /// The fields.
        fields: Vec<Expr>,
        /// Whether ROW was written. Without it there are at least two fields.
        explicit: bool,
    },
    /// ARRAY[…]. A list in brackets within it is one too.
    Array(Vec<Expr>),
    /// ARRAY(query).
    ArrayQuery(Box<Query>),
    /// A query in parentheses as a value.
    Query(Box<Query>),
    /// EXISTS (query).
    Exists(Box<Query>),
    /// Fields and elements of a value that is no plain column: `(x).a`, `x[1]`, `t.a[2:3].b`.
    Path {
        /// The value.
        operand: Box<Expr>,
        /// The steps from it, at least one.
        steps: Vec<Step>,
    },
    /// WHERE CURRENT OF this cursor.
    CurrentOf(Ident),
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// NULL.
    Null,
    /// TRUE or FALSE.
    Boolean(bool),
    /// A whole number in its digits, of any length.
    Integer(String),
    /// A number with a point or an exponent, as written.
    Decimal(String),
    /// A string, decoded.
    String(String),
    /// `B'…'`: the digits.
    Bits(String),
    /// `X'…'`: the digits.
    HexBits(String),
}

/// An operator by its sign.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operator {
    /// The schema in OPERATOR(schema.sign). Empty without one.
    pub schema: Vec<Ident>,
    /// The sign, such as `<=` or `||`.
    pub sign: String,
    /// Its place.
    pub span: Span,
}

/// The kind of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum LikeKind {
    Like,
    ILike,
    SimilarTo,
}

/// The values behind ANY and ALL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// The elements of an array.
    Array(Box<Expr>),
    /// The rows of a query.
    Query(Box<Query>),
}

/// How a cast was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastForm {
    /// CAST(x AS type).
    Cast,
    /// x::type.
    DoubleColon,
    /// type 'x', for a string alone.
    Constant,
}

/// A step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `.name`.
    Field(Ident),
    /// `.*`.
    All(Span),
    /// `[i]`.
    Element(Expr),
    /// `[i:j]`. A missing bound is that of the array.
    Slice(Option<Expr>, Option<Expr>),
}

/// A call of a function by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The function's name.
    pub name: Name,
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// Whether the last argument has VARIADIC before it.
    pub variadic: bool,
    /// Whether the arguments are `*`.
    pub star: bool,
    /// Whether DISTINCT stands before the arguments. ALL leaves no trace.
    pub distinct: bool,
    /// ORDER BY within the parentheses.
    pub order_by: Vec<SortItem>,
    /// WITHIN GROUP (ORDER BY …).
    pub within_group: Vec<SortItem>,
    /// FILTER (WHERE …).
    pub filter: Option<Box<Expr>>,
    /// OVER.
    pub over: Option<Over>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// The name before `=>` or `:=`.
    pub name: Option<Ident>,
    /// The value.
    pub value: Expr,
}

/// The window of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    /// OVER name.
    Named(Ident),
    /// OVER (…).
    Spec(WindowSpec),
}

/// A call whose arguments stand between words, or that has no parentheses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SpecialCall {
    /// COALESCE.
    Coalesce(Vec<Expr>),
    /// GREATEST.
    Greatest(Vec<Expr>),
    /// LEAST.
    Least(Vec<Expr>),
    /// NULLIF.
    NullIf(Expr, Expr),
    /// GROUPING.
    Grouping(Vec<Expr>),
    /// EXTRACT(field FROM x): the field in lower case.
    Extract(String, Expr),
    /// POSITION(x IN y).
    Position(Expr, Expr),
    /// OVERLAY(x PLACING y FROM z [FOR n]).
    Overlay(Expr, Expr, Expr, Option<Expr>),
    /// SUBSTRING(x [FROM y] [FOR z]). At least one of both.
    Substring(Expr, Option<Expr>, Option<Expr>),
    /// SUBSTRING(x SIMILAR y ESCAPE z).
    SubstringSimilar(Expr, Expr, Expr),
    /// TRIM(\[side\] \[characters\] \[FROM\] x, …): the arguments as those of `btrim`, the text first.
    Trim(TrimSide, Vec<Expr>),
    /// NORMALIZE(x [, form]): the form in upper case.
    Normalize(Expr, Option<String>),
    /// TREAT(x AS type).
    Treat(Expr, TypeName),
    /// COLLATION FOR (x).
    CollationFor(Expr),
    /// CURRENT_DATE and its kin, with the precision in parentheses.
    Current(CurrentValue, Option<i32>),
}

/// The side of TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TrimSide {
    Both,
    Leading,
    Trailing,
}

/// The values that need no parentheses (manual, chapters 9.9.5 and 9.26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CurrentValue {
    Date,
    Time,
    Timestamp,
    LocalTime,
    LocalTimestamp,
    Role,
    /// CURRENT_USER.
    User,
    /// USER.
    PlainUser,
    SessionUser,
    Catalog,
    Schema,
}
