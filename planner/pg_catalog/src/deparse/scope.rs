//! [`Scope`]: the names visible to an expression of a query.

use super::Analysis;
use super::node::Node;

/// A relation that is visible in a scope.
#[derive(Clone, Debug)]
pub struct Item {
    /// The index of the relation in the list of all.
    pub relation: usize,
    /// Whether its name can qualify columns.
    pub qualified: bool,
    /// Whether its columns can be named without qualification.
    pub bare: bool,
}

/// The names of a query and of its outer queries.
#[derive(Clone, Debug, Default)]
pub struct Scope<'s> {
    /// The relations visible in the query itself.
    pub items: Vec<Item>,
    /// The scope of the outer query.
    pub outer: Option<&'s Scope<'s>>,
}

impl<'s> Scope<'s> {
    /// An empty scope within another.
    pub fn within(outer: Option<&'s Scope<'s>>) -> Scope<'s> {
        Scope { items: Vec::new(), outer }
    }

    /// Resolves an unqualified column. `None` if it is unknown or ambiguous.
    pub fn column(&self, analysis: &Analysis<'_>, name: &str) -> Option<Node> {
        let relations = analysis.relations.borrow();
        let mut found = None;
        for item in self.items.iter().filter(|item| item.bare) {
            for (_, node) in relations.get(item.relation)?.columns.iter().filter(|(known, _)| known == name) {
                if found.is_some() {
                    return None;
                }
                found = Some(node.clone());
            }
        }
        drop(relations);
        found.or_else(|| self.outer?.column(analysis, name))
    }

    /// Resolves the name of a relation to its index.
    pub fn relation(&self, analysis: &Analysis<'_>, name: &str) -> Option<usize> {
        let relations = analysis.relations.borrow();
        let named = |item: &&Item| {
            item.qualified
                && relations.get(item.relation).is_some_and(|relation| relation.name.as_deref() == Some(name))
        };
        let mut found = self.items.iter().filter(named);
        match (found.next(), found.next()) {
            (Some(item), None) => Some(item.relation),
            (None, _) => self.outer?.relation(analysis, name),
            _ => None,
        }
    }

    /// Resolves a qualified column.
    pub fn qualified(&self, analysis: &Analysis<'_>, schema: Option<&str>, name: &str, column: &str) -> Option<Node> {
        let at = self.relation(analysis, name)?;
        let relations = analysis.relations.borrow();
        let relation = relations.get(at)?;
        if schema.is_some() && relation.aliased {
            return None;
        }
        let mut found = relation.columns.iter().filter(|(known, _)| known == column);
        match (found.next(), found.next()) {
            (Some((_, node)), None) => Some(node.clone()),
            _ => None,
        }
    }
}
