//! [`DropAbsent`]: DROP of kinds of objects that cannot exist here. PostgreSQL, too, answers that the named object does not
//! exist.

use grammar::tree as ast;

/// A DROP of objects of a kind that cannot exist here.
#[derive(Clone, Debug)]
pub struct DropAbsent {
    /// The kind in capitals, as in the command tag.
    pub kind: &'static str,
    /// Whether IF EXISTS was written.
    pub if_exists: bool,
    /// The objects that it names.
    pub objects: Vec<AbsentObject>,
}

/// An object named in a DROP.
#[derive(Clone, Debug)]
pub struct AbsentObject {
    /// The name of the object. Without parts for a kind that has no name.
    pub name: ast::Name,
    /// The types of its arguments, if the kind has arguments.
    pub arguments: Option<Vec<ast::TypeName>>,
    /// The relation that it belongs to, for a rule, policy or trigger.
    pub on: Option<ast::Name>,
    /// Its access method, language or server.
    pub of: Option<String>,
}
