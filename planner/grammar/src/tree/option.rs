//! [`OptionItem`]: `name = value` in lists of options, and the options of sequences.

use super::{Ident, Name, TypeName};
use crate::span::Span;

/// An option of a list, such as `fillfactor = 70` or `ANALYZE`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OptionItem {
    /// The name before a point, as in `toast.autovacuum_enabled`.
    pub namespace: Option<Ident>,
    /// The name.
    pub name: Ident,
    /// The value. A missing one means true for a Boolean.
    pub value: Option<OptionValue>,
    /// Its place.
    pub span: Span,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OptionValue {
    /// A word, folded, or a type's name of one part.
    Word(String),
    /// A string.
    String(String),
    /// A number as written, with its sign.
    Number(String),
    /// A type's name that is no word.
    Type(TypeName),
    /// An operator's sign.
    Operator(super::Operator),
    /// `*`.
    Star,
    /// A list of words or strings in parentheses.
    List(Vec<OptionValue>),
}

/// An option of CREATE SEQUENCE, ALTER SEQUENCE and identity columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SequenceOption {
    /// AS.
    As(TypeName),
    /// CACHE.
    Cache(String, Span),
    /// CYCLE (true) or NO CYCLE (false).
    Cycle(bool, Span),
    /// INCREMENT \[BY\].
    Increment(String, Span),
    /// MAXVALUE. `None` for NO MAXVALUE.
    MaxValue(Option<String>, Span),
    /// MINVALUE. `None` for NO MINVALUE.
    MinValue(Option<String>, Span),
    /// OWNED BY. NONE is a name.
    OwnedBy(Name, Span),
    /// SEQUENCE NAME.
    SequenceName(Name, Span),
    /// START \[WITH\].
    Start(String, Span),
    /// LOGGED (true) or UNLOGGED (false). PostgreSQL has it for pg_dump alone.
    Logged(bool, Span),
    /// RESTART [\[WITH\] n].
    Restart(Option<String>, Span),
}

/// A role in a statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoleSpec {
    /// Which role.
    pub kind: RoleKind,
    /// Its place.
    pub span: Span,
}

/// The role that a statement names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RoleKind {
    Named(String),
    CurrentRole,
    CurrentUser,
    SessionUser,
    Public,
}
