//! Hints for errors about unknown names: columns with similar names, and tables that cannot be seen from the position.

use super::binder::Binder;
use super::from::parts;
use super::scope::{Scope, ScopeColumn, ScopeRelation};
use datafusion::logical_expr::Expr;
use sql_error::{Result, SqlError, state};
use std::cell::RefCell;
use syntax::ast::FromItem;

/// Names with more differences than this are not similar.
const MOST_CHANGES: usize = 3;

/// A relation of the current queries that the current expression cannot see.
pub struct Unseen {
    name: String,
    /// The table's name, if the relation has an alias.
    table: Option<String>,
    columns: Vec<String>,
}

impl Unseen {
    /// An invisible relation with this name and these columns.
    pub fn new(name: &str, columns: impl Iterator<Item = String>) -> Unseen {
        Unseen { name: name.to_string(), table: None, columns: columns.collect() }
    }
    fn of(relation: &ScopeRelation) -> Unseen {
        let table = relation.table.as_ref().map(|table| table.name.clone());
        let columns = relation.columns.iter().map(|column| column.name.clone());
        Unseen { table, ..Unseen::new(&relation.name, columns) }
    }
}

/// The invisible relations of the current queries, outermost first.
pub type AllUnseen = RefCell<Vec<Unseen>>;

impl Binder<'_> {
    /// Binds a part of the query that cannot see `relations`.
    pub(super) fn beside<T>(&self, relations: &[ScopeRelation], bind: impl FnOnce() -> T) -> T {
        self.not_seeing(relations.iter().map(Unseen::of), bind)
    }

    /// Binds the FROM of an UPDATE or DELETE, which cannot see the written table. Errors: 42P10 for a LATERAL reference
    /// to it.
    pub(super) fn beside_written<T>(
        &self,
        written: &ScopeRelation,
        from: &[FromItem],
        bind: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let lateral = |item: &FromItem| matches!(item, FromItem::Query { lateral: true, .. });
        let any = |item: &FromItem| {
            let (first, joins) = parts(item);
            lateral(first) || joins.iter().any(|join| lateral(&join.right))
        };
        self.beside(std::slice::from_ref(written), bind).map_err(|error| {
            let name = &written.name;
            let table = format!("table \"{name}\", but it cannot be referenced from this part of the query.");
            let about = error.fields().hint.as_ref().is_some_and(|hint| hint.ends_with(&table));
            if !about || !from.iter().any(any) {
                return error;
            }
            let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
            let invalid = SqlError::new(state::INVALID_COLUMN_REFERENCE, message).hint(format!(
                "There is an entry for table \"{name}\", but it cannot be referenced from this part of the query."
            ));
            match error.fields().position {
                Some(position) => invalid.at(position),
                None => invalid,
            }
        })
    }

    /// Records relations that the rest of the query cannot see, because an alias stands for all of them.
    pub(super) fn hide(&self, relations: &[ScopeRelation]) {
        // The alias of USING does not count in PostgreSQL: its columns belong to other relations.
        let mut seen: Vec<&Expr> = Vec::new();
        for relation in relations {
            let own = |column: &ScopeColumn| matches!(column.expr, Expr::Column(_)) && !seen.contains(&&column.expr);
            if relation.columns.iter().all(own) {
                self.hidden.borrow_mut().push(Unseen::of(relation));
            }
            seen.extend(relation.columns.iter().map(|column| &column.expr));
        }
    }

    /// Binds a SELECT and then forgets the hidden names of its relations.
    pub(super) fn hiding<T>(&self, bind: impl FnOnce() -> T) -> T {
        let before = self.hidden.borrow().len();
        let bound = bind();
        self.hidden.borrow_mut().truncate(before);
        bound
    }

    /// Binds a part of the query that cannot see some relations.
    pub(super) fn not_seeing<T>(&self, relations: impl Iterator<Item = Unseen>, bind: impl FnOnce() -> T) -> T {
        let before = self.unseen.borrow().len();
        self.unseen.borrow_mut().extend(relations);
        let bound = bind();
        self.unseen.borrow_mut().truncate(before);
        bound
    }

    /// Adds hints to an error about an unknown column, which may be qualified.
    pub(super) fn explain_name(
        &self,
        error: SqlError,
        scope: &Scope<'_>,
        relation: Option<&str>,
        column: &str,
    ) -> SqlError {
        if error.fields().hint.is_some() {
            return error;
        }
        match (error.state(), relation) {
            (state::UNDEFINED_TABLE, Some(relation)) => self.explain_relation(error, scope, relation),
            (state::UNDEFINED_COLUMN, _) => self.explain_column(error, scope, relation, column),
            _ => error,
        }
    }

    fn explain_relation(&self, error: SqlError, scope: &Scope<'_>, name: &str) -> SqlError {
        let mut around = Some(scope);
        let mut found = None;
        while let (Some(here), None) = (around, &found) {
            found = here.relations.iter().find(|relation| relation.name == name).map(|relation| relation.name.clone());
            around = here.parent;
        }
        let (unseen, hidden) = (self.unseen.borrow(), self.hidden.borrow());
        let all = || unseen.iter().chain(hidden.iter()).rev();
        let hidden = || all().find(|one| one.name == name || one.table.as_deref() == Some(name));
        let Some(entry) = found.or_else(|| hidden().map(|one| one.name.clone())) else { return error };
        let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
        SqlError::new(state::UNDEFINED_TABLE, message).hint(format!(
            "There is an entry for table \"{entry}\", but it cannot be referenced from this part of the query."
        ))
    }

    fn explain_column(&self, error: SqlError, scope: &Scope<'_>, relation: Option<&str>, column: &str) -> SqlError {
        let mut search = Search { relation, column, changes: MOST_CHANGES + 1, found: Vec::new(), exact: None };
        let mut around = Some(scope);
        while let Some(here) = around {
            for relation in &here.relations {
                search.look_at(&relation.name, relation.columns.iter().map(|column| column.name.as_str()));
            }
            around = here.parent;
        }
        for one in self.unseen.borrow().iter().rev().chain(self.hidden.borrow().iter().rev()) {
            search.look_at(&one.name, one.columns.iter().map(String::as_str));
        }
        if let Some(table) = &search.exact {
            return error.hint(format!(
                "There is a column named \"{column}\" in table \"{table}\", but it cannot be referenced from this part of the query."
            ));
        }
        match search.found.as_slice() {
            [one] => error.hint(format!("Perhaps you meant to reference the column \"{one}\".")),
            [one, other] => {
                error.hint(format!("Perhaps you meant to reference the column \"{one}\" or the column \"{other}\"."))
            }
            _ => error,
        }
    }
}

/// Searches for one or two columns with the most similar names.
struct Search<'n> {
    relation: Option<&'n str>,
    column: &'n str,
    /// Number of differences of the columns found.
    changes: usize,
    found: Vec<String>,
    /// An invisible relation that has exactly this column.
    exact: Option<String>,
}

impl Search<'_> {
    fn look_at<'c>(&mut self, name: &str, columns: impl Iterator<Item = &'c str>) {
        if self.exact.is_some() {
            return;
        }
        let of_relation = self.relation.map_or(0, |relation| changes(relation, name));
        if of_relation > self.changes {
            return;
        }
        for column in columns {
            let of_column = changes(self.column, column);
            if of_column == 0 && of_relation == 0 {
                self.exact = Some(name.to_string());
                return;
            }
            // More than half of the letters must agree.
            if of_column > self.column.chars().count() / 2 {
                continue;
            }
            let found = format!("{name}.{column}");
            match (of_column + of_relation).cmp(&self.changes) {
                std::cmp::Ordering::Less => {
                    self.changes = of_column + of_relation;
                    self.found = vec![found];
                }
                std::cmp::Ordering::Equal if self.found.len() == 2 => {
                    // Too many names are equally similar: only closer ones are worth a hint.
                    self.found.clear();
                    self.changes = (of_column + of_relation).saturating_sub(1);
                }
                std::cmp::Ordering::Equal if !self.found.is_empty() || self.changes <= MOST_CHANGES => {
                    self.found.push(found);
                }
                _ => {}
            }
        }
    }
}

/// The number of letters to insert, delete or replace between two names (Levenshtein distance).
fn changes(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.chars().enumerate() {
        let mut last = row + 1;
        let mut next = vec![last];
        for (pair, other) in before.windows(2).zip(&to) {
            let [diagonal, above] = pair else { continue };
            last = (diagonal + usize::from(letter != *other)).min(above + 1).min(last + 1);
            next.push(last);
        }
        before = next;
    }
    before.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn changes_are_counted() {
        assert_eq!(changes("", ""), 0);
        assert_eq!(changes("name", "name"), 0);
        assert_eq!(changes("nam", "name"), 1);
        assert_eq!(changes("kitten", "sitting"), 3);
        assert_eq!(changes("", "abc"), 3);
    }
}
