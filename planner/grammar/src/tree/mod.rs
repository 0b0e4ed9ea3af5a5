//! The syntax tree of PostgreSQL's grammar. It knows no names and no types: it says what was written.

mod alter_table;
mod expression;
mod function;
mod name;
mod object;
mod option;
mod privilege;
mod query;
mod statement;
mod table;
mod type_name;
mod utility;
mod write;

pub use alter_table::*;
pub use expression::*;
pub use function::*;
pub use name::*;
pub use object::*;
pub use option::*;
pub use privilege::*;
pub use query::*;
pub use statement::*;
pub use table::*;
pub use type_name::*;
pub use utility::*;
pub use write::*;
