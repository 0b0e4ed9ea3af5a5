//! [`Keyword`]: PostgreSQL's keywords, and what each may name without quotes (manual, appendix C).

mod table;

use table::KEYWORDS;

/// The uses of a keyword as a name without quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Anything.
    Unreserved,
    /// A column or table, but no function or type.
    ColumnName,
    /// A function or type, but no column or table.
    TypeOrFunctionName,
    /// Nothing but a label.
    Reserved,
}

#[derive(Debug)]
struct Entry {
    name: &'static str,
    category: Category,
    bare_label: bool,
}

/// A keyword.
#[derive(Clone, Copy, Debug)]
pub struct Keyword(&'static Entry);

impl PartialEq for Keyword {
    fn eq(&self, other: &Keyword) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Keyword {}

impl Keyword {
    /// The keyword of this name in lower case.
    pub fn named(name: &str) -> Option<Keyword> {
        let at = KEYWORDS.binary_search_by(|entry| entry.name.cmp(name)).ok()?;
        KEYWORDS.get(at).map(Keyword)
    }

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Its uses as a name.
    pub fn category(self) -> Category {
        self.0.category
    }

    /// Whether it may be a column's label without AS.
    pub fn is_bare_label(self) -> bool {
        self.0.bare_label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_complete() {
        assert!(KEYWORDS.is_sorted_by(|one, other| one.name < other.name));
        let count = |category, bare| {
            KEYWORDS.iter().filter(|entry| (entry.category, entry.bare_label) == (category, bare)).count()
        };
        let categories = [Category::Unreserved, Category::ColumnName, Category::TypeOrFunctionName, Category::Reserved];
        assert_eq!(categories.map(|category| count(category, true)), [298, 48, 20, 55]);
        assert_eq!(categories.map(|category| count(category, false)), [11, 3, 3, 22]);
    }

    #[test]
    fn keywords_are_found_by_their_name_in_lower_case() {
        let select = Keyword::named("select");
        assert_eq!(select.map(|select| (select.name(), select.category())), Some(("select", Category::Reserved)));
        assert_eq!(select.map(Keyword::is_bare_label), Some(true));
        assert_eq!(Keyword::named("year").map(Keyword::is_bare_label), Some(false));
        assert_eq!(Keyword::named("abort"), Keyword::named("abort"));
        assert_ne!(Keyword::named("abort"), Keyword::named("zone"));
        assert_eq!([Keyword::named("SELECT"), Keyword::named("users"), Keyword::named("")], [None, None, None]);
    }
}
