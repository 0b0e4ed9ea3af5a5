//! Writes trees as text that the parser reads back to the same tree.
//!
//! Every node that stands alone is [`Display`](std::fmt::Display). The text is one line, but for line ends within
//! strings. Names are quoted and expressions are in parentheses only where the grammar needs it.

mod expression;
mod from;
mod function;
mod function_call;
mod level;
mod name;
mod object;
mod option;
mod privilege;
mod publication;
mod query;
mod role;
mod routine;
mod session;
mod statement;
mod table;
mod table_change;
mod type_definition;
mod type_name;
mod upkeep;
mod view;
mod write;
mod writer;

pub use name::quoted;

use writer::Writer;

/// Gives these types the text that the writer makes of them.
macro_rules! display {
    ($($node:ty),* $(,)?) => {
        $(impl std::fmt::Display for $node {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&Writer::text_of(self))
            }
        })*
    };
}

use crate::tree;

display!(
    tree::Alias,
    tree::AlterDomain,
    tree::AlterTableAction,
    tree::Assignment,
    tree::Call,
    tree::Column,
    tree::ColumnConstraint,
    tree::ColumnDefinition,
    tree::ColumnTarget,
    tree::CommonTable,
    tree::Expr,
    tree::FromItem,
    tree::FunctionOption,
    tree::GroupItem,
    tree::Ident,
    tree::IndexKey,
    tree::Literal,
    tree::LockClause,
    tree::MergeClause,
    tree::Name,
    tree::ObjectReference,
    tree::Operator,
    tree::Parameter,
    tree::PartitionBound,
    tree::PartitionBy,
    tree::Query,
    tree::QueryBody,
    tree::RelationName,
    tree::RoleOption,
    tree::RoleSpec,
    tree::Select,
    tree::SequenceOption,
    tree::SettingValue,
    tree::SortItem,
    tree::SpecialCall,
    tree::Statement,
    tree::TableConstraint,
    tree::TableElement,
    tree::Target,
    tree::TypeName,
    tree::WindowSpec,
    tree::With,
);
